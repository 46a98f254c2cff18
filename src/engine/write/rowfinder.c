/*
 * engine/write/rowfinder.c: finds the stored cells of the rows of a commit, one row after the other.
 */
#include "engine/write/rowfinder.h"

#include "engine/rocks/cellkey.h"
#include "engine/store/state.h"

/* After so many rows in turn that are not stored, one seek finds the next stored row.  After a useless seek, wait for
 * twice as many rows before the next. */
#define MISSES_MIN 2
#define MISSES_MAX 1024
#define GAP_WORTH 8

/* After so many rows that a Get has found, an iterator walks from row to row; it may skip so many stored rows to the
 * next wanted one, each at a tenth of the cost of a Get.  If a walk has found fewer than WALK_WORTH rows, wait for twice
 * as many rows before the next. */
#define HITS_MIN 8
#define HITS_MAX 4096
#define WALK_STEPS 4
#define WALK_WORTH 16

void
wc_rowfinder_init(WcRowFinder *finder, WcStore *store, bool empty)
{
	*finder = (WcRowFinder) {
		.store = store,.empty = empty,.misses_budget = MISSES_MIN,.hits_budget = HITS_MIN
	};
	wc_buf_init(&finder->gap_end, 0);
	wc_buf_init(&finder->key, 0);
	wc_buf_init(&finder->recent, 0);
}

void
wc_rowfinder_let_go(WcRowFinder *finder)
{
	if (finder->pinned)
		rocksdb_pinnableslice_destroy(finder->pinned);
	finder->pinned = NULL;
}

void
wc_rowfinder_free(WcRowFinder *finder)
{
	wc_rowfinder_let_go(finder);
	if (finder->iterator)
		rocksdb_iter_destroy(finder->iterator);
	if (finder->total_order)
		rocksdb_readoptions_destroy(finder->total_order);
	wc_buf_free(&finder->gap_end);
	wc_buf_free(&finder->key);
	wc_buf_free(&finder->recent);
}

/* --- gaps -------------------------------------------------------------------------- */

bool
wc_rowfinder_in_gap(WcRowFinder *finder, WcSlice row)
{
	if (finder->empty)
		return true;
	if (!finder->gap)
		return false;
	if (finder->gap_unbounded || wc_slice_cmp(row, wc_buf_slice(&finder->gap_end)) < 0)
	{
		finder->gap_rows++;
		return true;
	}
	finder->gap = false;
	if (finder->gap_rows < GAP_WORTH)
		finder->misses_budget = finder->misses_budget < MISSES_MAX ? 2 * finder->misses_budget : MISSES_MAX;
	else
		finder->misses_budget = MISSES_MIN;
	return false;
}

/* From the last row asked for to *next (NULL: the end) nothing is stored. */
static WcStatus
set_gap(WcRowFinder *finder, const WcSlice *next, WcError *err)
{
	finder->gap = true;
	finder->gap_rows = 0;
	finder->gap_unbounded = next == NULL;
	wc_buf_reset(&finder->gap_end, SIZE_MAX);
	if (next)
		wc_buf_append_slice(&finder->gap_end, *next);
	return wc_buf_status(&finder->gap_end, "row key", err);
}

/* --- the iterator ------------------------------------------------------------------- */

static const rocksdb_readoptions_t *
iterator_options(WcRowFinder *finder)
{
	if (finder->store->packing == WC_PACKING_ROW)
		return finder->store->engine->read_options;
	finder->total_order = rocksdb_readoptions_create();
	rocksdb_readoptions_set_total_order_seek(finder->total_order, 1);
	return finder->total_order;
}

/* To the row, or the next one that is stored. */
static WcStatus
seek(WcRowFinder *finder, WcSlice row, WcError *err)
{
	WcSlice		key = row;

	if (finder->iterator == NULL)
		finder->iterator = wc_rocks_create_iterator(finder->store->engine->db, iterator_options(finder),
													finder->store->cf);
	if (finder->store->packing == WC_PACKING_CELL)
	{
		wc_buf_reset(&finder->key, SIZE_MAX);
		wc_cellkey_append_row(&finder->key, row);
		if (finder->key.failed)
			return wc_buf_status(&finder->key, "row key", err);
		key = wc_buf_slice(&finder->key);
	}
	wc_rocks_iter_seek(finder->iterator, (const char *) key.data, key.len);
	return WC_OK;
}

/* Where it is; false: behind the last row, or it has failed. */
static bool
iterator_row(const WcRowFinder *finder, WcSlice *row)
{
	if (!rocksdb_iter_valid(finder->iterator))
		return false;
	row->data = (const uint8_t *) rocksdb_iter_key(finder->iterator, &row->len);
	return true;
}

/* The iterator is behind a row that is not stored. */
static WcStatus
set_gap_to_iterator(WcRowFinder *finder, WcError *err)
{
	char	   *error = NULL;
	WcSlice		next;
	WcStatus	status = WC_OK;

	if (iterator_row(finder, &next))
	{
		if (finder->store->packing == WC_PACKING_CELL)
		{
			wc_buf_reset(&finder->key, SIZE_MAX);
			status = wc_cellkey_row(next, &finder->key, err);
			next = wc_buf_slice(&finder->key);
		}
		return status == WC_OK ? set_gap(finder, &next, err) : status;
	}
	rocksdb_iter_get_error(finder->iterator, &error);
	status = wc_store_status(finder->store, error, "read", err);
	return status == WC_OK ? set_gap(finder, NULL, err) : status;
}

WcStatus
wc_rowfinder_missed(WcRowFinder *finder, WcSlice row, WcError *err)
{
	WcStatus	status;

	if (++finder->misses < finder->misses_budget)
		return WC_OK;
	finder->misses = 0;
	status = seek(finder, row, err);
	if (status == WC_OK)
		status = set_gap_to_iterator(finder, err);
	return status == WC_CORRUPT ? WC_OK : status;	/* the next row is damaged, not this one */
}

static void
stop_walking(WcRowFinder *finder)
{
	if (finder->hits < WALK_WORTH)
		finder->hits_budget = finder->hits_budget < HITS_MAX ? 2 * finder->hits_budget : HITS_MAX;
	else
		finder->hits_budget = HITS_MIN;
	finder->walking = false;
	finder->hits = 0;
}

/* Walks to the row; ends the walk if the row is not near. */
static WcStatus
walk(WcRowFinder *finder, WcSlice row, bool *found, WcSlice *value, WcError *err)
{
	WcSlice		at;
	int			order = -1;

	for (int i = 0; i <= WALK_STEPS && order < 0; i++)
	{
		if (i > 0)
			wc_rocks_iter_next(finder->iterator);
		if (!iterator_row(finder, &at))
		{
			WcStatus	status = set_gap_to_iterator(finder, err);

			if (status != WC_CORRUPT)
				return status;
			order = -1;			/* damaged rows before this one: a Get tells whether it is one of them */
			break;
		}
		order = wc_slice_cmp(at, row);
	}
	if (order < 0)
		stop_walking(finder);
	if (order > 0)
		return set_gap_to_iterator(finder, err);
	*found = order == 0;
	if (*found)
	{
		finder->hits++;
		value->data = (const uint8_t *) rocksdb_iter_value(finder->iterator, &value->len);
	}
	return WC_OK;
}

static WcStatus
get(WcRowFinder *finder, WcSlice row, bool *found, WcSlice *value, WcError *err)
{
	WcStore    *store = finder->store;
	char	   *error = NULL;
	WcStatus	status;

	wc_buf_reset(&finder->recent, WC_RECENTROWS_BYTES);
	if (wc_recentrows_find(&store->engine->recent, store->cf, row, UINT64_MAX, &finder->recent))
	{
		*found = true;
		*value = wc_buf_slice(&finder->recent);
		finder->misses = 0;
		return WC_OK;
	}
	finder->pinned = wc_rocks_get_pinned(store->engine->db, store->engine->read_options, store->cf,
										 (const char *) row.data, row.len, &error);
	status = wc_store_status(store, error, "read", err);
	if (status != WC_OK)
		return status;
	if (finder->pinned == NULL)
		return wc_rowfinder_missed(finder, row, err);
	*found = true;
	value->data = (const uint8_t *) rocksdb_pinnableslice_value(finder->pinned, &value->len);
	finder->misses = 0;
	if (++finder->hits >= finder->hits_budget)
	{
		finder->walking = true;
		finder->hits = 0;
		status = seek(finder, row, err);
	}
	return status;
}

WcStatus
wc_rowfinder_find(WcRowFinder *finder, WcSlice row, bool *found, WcSlice *value, WcError *err)
{
	WcStatus	status;

	*found = false;
	wc_rowfinder_let_go(finder);
	if (wc_rowfinder_in_gap(finder, row))
		return WC_OK;
	if (finder->walking)
	{
		status = walk(finder, row, found, value, err);
		if (status != WC_OK || *found || finder->walking)
			return status;
	}
	return get(finder, row, found, value, err);
}
