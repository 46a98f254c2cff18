/*
 * engine/forget/compact.c: RocksDB's background compactions run the matcher.
 */
#include <stdlib.h>

#include "engine/forget/compact.h"
#include "engine/rocks/cellkey.h"
#include "engine/store/state.h"
#include "read/cell/matcher.h"
#include "read/cell/packedrow.h"

/*
 * When RocksDB compacts on its own is nobody's decision, so it must not show at
 * once: what was written in the last minute decides about nothing then.
 */
#define SETTLED_US (60 * WC_USEC_PER_SEC)

struct WcCompaction
{
	atomic_uint refs;
	pthread_mutex_t mutex;		/* guards the rest */
	WcStore    *store;			/* NULL: gone */
	int64_t		memstore_from;
	int64_t		memstore_until;
	int64_t		clock_offset_us;
	WcHistory	history;		/* has a mutex of its own */
};

static WcCompaction *
compaction_create(WcStore *store)
{
	WcCompaction *c = calloc(1, sizeof(WcCompaction));

	if (c == NULL)
		return NULL;
	atomic_init(&c->refs, 1);
	pthread_mutex_init(&c->mutex, NULL);
	wc_history_init(&c->history);
	c->store = store;
	c->memstore_from = INT64_MAX;
	c->memstore_until = INT64_MIN;
	return c;
}

static void
compaction_unref(void *state)
{
	WcCompaction *c = state;

	if (atomic_fetch_sub(&c->refs, 1) != 1)
		return;
	pthread_mutex_destroy(&c->mutex);
	wc_history_free(&c->history);
	free(c);
}

WcHistory *
wc_compaction_history(WcCompaction *c)
{
	return &c->history;
}

static void
compaction_detach(WcCompaction *c)
{
	pthread_mutex_lock(&c->mutex);
	c->store = NULL;
	pthread_mutex_unlock(&c->mutex);
	compaction_unref(c);
}

void
wc_compaction_set_memstore(WcCompaction *c, int64_t from_ts, int64_t until_ts)
{
	pthread_mutex_lock(&c->mutex);
	c->memstore_from = from_ts;
	c->memstore_until = until_ts;
	pthread_mutex_unlock(&c->mutex);
}

void
wc_compaction_memstore(WcCompaction *c, int64_t *from_ts, int64_t *until_ts)
{
	pthread_mutex_lock(&c->mutex);
	*from_ts = c->memstore_from;
	*until_ts = c->memstore_until;
	pthread_mutex_unlock(&c->mutex);
}

void
wc_compaction_set_clock_offset(WcCompaction *c, int64_t offset_us)
{
	pthread_mutex_lock(&c->mutex);
	c->clock_offset_us = offset_us;
	pthread_mutex_unlock(&c->mutex);
}

/* --- the filter -----------------------------------------------------------
 *
 * One for each compaction (and thread), which sees keys in ascending order.
 * What it cannot read, or has no memory for, it keeps: readers will complain.
 */
typedef struct Filter
{
	WcCompaction *compaction;	/* a reference */
	uint8_t		packing;
	int64_t		seen_until;		/* whatever it drops was not there later */
	int64_t		forgotten;		/* it may drop what is needed to see earlier times */
	int64_t		horizon_ts;		/* until then everything is seen by all */
	bool		asked;			/* for more than was granted */
	int64_t		memstore_from;
	int64_t		memstore_until;
	WcMatcher  *matcher;

	/* packing cell: where in which row it is */
	WcBuf		row;			/* escaped, with terminator */
	WcBuf		skipped;		/* the column of which nothing more is kept: likewise */
	bool		skipping;
	WcBuf		scratch;

	/* packing row: the value, taken apart and put together again */
	WcCell	   *cells;
	size_t		cells_cap;
	WcBuf		value;
} Filter;

static void
filter_destroy(void *state)
{
	Filter	   *f = state;

	if (f->forgotten > 0)
	{
		pthread_mutex_lock(&f->compaction->mutex);
		if (f->compaction->store != NULL)
			wc_history_dropped(f->compaction->store);
		pthread_mutex_unlock(&f->compaction->mutex);
	}
	compaction_unref(f->compaction);
	if (f->matcher)
		wc_matcher_free(f->matcher);
	wc_buf_free(&f->row);
	wc_buf_free(&f->skipped);
	wc_buf_free(&f->scratch);
	wc_buf_free(&f->value);
	free(f->cells);
	free(f);
}

static const char *
filter_name(void *state)
{
	return "widecol.matcher";
}

static bool
remember(WcBuf *buf, const uint8_t *data, size_t len)
{
	wc_buf_reset(buf, SIZE_MAX);
	wc_buf_append(buf, data, len);
	return !buf->failed;
}

/* The store is there.  Asks once, for all that the compaction may want. */
static bool
is_granted(Filter *f, WcStore *store, int64_t ts)
{
	WcHistory  *h = &f->compaction->history;

	if (wc_history_may_drop(h, ts, f->seen_until, &store->engine->history_wanted))
		return true;
	if (f->asked)
		return false;
	f->asked = true;
	return wc_history_ask(store, ts > f->horizon_ts ? ts : f->horizon_ts) &&
		wc_history_may_drop(h, ts, f->seen_until, &store->engine->history_wanted);
}

/* May something be dropped that is needed to see times before ts? */
static bool
may_drop(Filter *f, int64_t ts)
{
	WcCompaction *c = f->compaction;
	bool		may;

	if (ts <= f->forgotten)
		return true;
	pthread_mutex_lock(&c->mutex);
	may = c->store != NULL && is_granted(f, c->store, ts);
	pthread_mutex_unlock(&c->mutex);
	if (may)
		f->forgotten = ts;
	return may;
}

static bool
may_drop_cell(Filter *f, const WcCell *cell)
{
	return may_drop(f, wc_matcher_drop(f->matcher, cell));
}

/* Is the cell to be dropped? */
static bool
drop_cell(Filter *f, WcSlice key, WcSlice value)
{
	size_t		row = wc_cellkey_row_prefix(key);
	size_t		column = wc_cellkey_column_prefix(key);
	WcCell		cell;
	uint32_t	colno;

	if (column == 0 ||
		wc_cellkey_decode_rest(wc_slice(key.data + row, key.len - row), &f->scratch, &cell, NULL) != WC_OK ||
		wc_cellvalue_decode(value, &cell, NULL) != WC_OK)
		return false;
	if (!wc_slice_eq(wc_buf_slice(&f->row), wc_slice(key.data, row)))
	{
		if (!remember(&f->row, key.data, row))
			return false;
		f->skipping = false;
		wc_matcher_start_row(f->matcher);
	}
	cell.row = wc_slice(NULL, 0);
	cell.family = 0;
	if (cell.seq >= f->memstore_from && cell.seq <= f->memstore_until)
		return false;
	if (f->skipping && wc_slice_eq(wc_buf_slice(&f->skipped), wc_slice(key.data, column)))
		return may_drop_cell(f, &cell);
	f->skipping = false;
	switch (wc_matcher_match(f->matcher, &cell, &colno))
	{
		case WC_MATCH_INCLUDE:
		case WC_MATCH_FAILED:
			return false;
		case WC_MATCH_INCLUDE_NEXT_COLUMN:
			f->skipping = remember(&f->skipped, key.data, column);
			return false;
		case WC_MATCH_NEXT_COLUMN:
			f->skipping = remember(&f->skipped, key.data, column);
			return may_drop_cell(f, &cell);
		default:
			return may_drop_cell(f, &cell);
	}
}

size_t
wc_compaction_keep(WcMatcher *matcher, WcCell *cells, size_t ncells, int64_t *needed)
{
	WcSlice		skipped = {NULL, 0};
	bool		skipping = false;
	size_t		n = 0;

	*needed = 0;
	wc_matcher_start_row(matcher);
	for (size_t i = 0; i < ncells; i++)
	{
		uint32_t	colno;
		WcMatch		match = WC_MATCH_SKIP;
		int64_t		ts;

		if (!skipping || !wc_slice_eq(cells[i].qualifier, skipped))
		{
			match = wc_matcher_match(matcher, &cells[i], &colno);
			if (match == WC_MATCH_FAILED)
				return SIZE_MAX;
			skipping = match == WC_MATCH_NEXT_COLUMN || match == WC_MATCH_INCLUDE_NEXT_COLUMN;
			skipped = cells[i].qualifier;
		}
		if (match == WC_MATCH_INCLUDE || match == WC_MATCH_INCLUDE_NEXT_COLUMN)
		{
			cells[n++] = cells[i];
			continue;
		}
		ts = wc_matcher_drop(matcher, &cells[i]);
		if (!wc_cell_is_marker(&cells[i]) && ts > *needed)
			*needed = ts;
	}
	return n;
}

bool
wc_compaction_decode(WcSlice value, WcCell **cells, size_t *cap, size_t *n)
{
	WcPackedRow row;

	*n = 0;
	if (wc_packedrow_open(&row, value, NULL) != WC_OK)
		return false;
	if (row.ncells > *cap)
	{
		WcCell	   *p = realloc(*cells, row.ncells * sizeof(WcCell));

		if (p == NULL)
			return false;
		*cells = p;
		*cap = row.ncells;
	}
	while (*n < *cap && wc_packedrow_next(&row, &(*cells)[*n]))
	{
		(*cells)[*n].row = wc_slice(NULL, 0);
		(*cells)[(*n)++].family = 0;
	}
	return wc_packedrow_status(&row, wc_slice(NULL, 0), NULL) == WC_OK;
}

/* 1: drop the row; *changed: its value is now f->value. */
static bool
drop_row(Filter *f, WcSlice value, bool *changed)
{
	size_t		n;
	size_t		kept;
	int64_t		needed;

	if (!wc_compaction_decode(value, &f->cells, &f->cells_cap, &n))
		return false;
	kept = wc_compaction_keep(f->matcher, f->cells, n, &needed);
	if (kept == SIZE_MAX || kept == n || !may_drop(f, needed))
		return false;
	if (kept == 0)
		return true;
	wc_buf_reset(&f->value, WC_BLOCK_MAX);
	wc_packedrow_append(&f->value, f->cells, kept);
	*changed = !f->value.failed;
	return false;
}

static unsigned char
filter_key_value(void *state, int level, const char *key, size_t key_len, const char *value, size_t value_len,
				 char **new_value, size_t *new_value_len, unsigned char *value_changed)
{
	Filter	   *f = state;
	bool		changed = false;
	bool		drop;

	if (f->packing == WC_PACKING_CELL)
		return drop_cell(f, wc_slice(key, key_len), wc_slice(value, value_len));
	drop = drop_row(f, wc_slice(value, value_len), &changed);
	if (changed)
	{
		/* RocksDB copies it and leaves it to us */
		*new_value = (char *) f->value.data;
		*new_value_len = f->value.len;
		*value_changed = 1;
	}
	return drop;
}

/* --- the factory ----------------------------------------------------------*/

static const char *
factory_name(void *state)
{
	return "widecol.matcher";
}

/* NULL: no filter, everything is kept. */
static Filter *
filter_create(WcCompaction *c, bool manual)
{
	Filter	   *f = calloc(1, sizeof(Filter));
	WcMatcherOptions options = {
		.mode = WC_MATCH_MINOR,.versions = WC_VERSIONS_MAX,.ts_min = 0,.ts_max = WC_TS_LATEST,
		.earliest_put_ts = INT64_MIN
	};

	if (f == NULL)
		return NULL;
	atomic_fetch_add(&c->refs, 1);
	f->compaction = c;
	f->packing = c->store->packing;
	f->memstore_from = c->memstore_from;
	f->memstore_until = c->memstore_until;
	options.attrs = wc_store_attrs(c->store);
	options.now_us = wc_engine_now(c->store->engine) + (manual ? c->clock_offset_us : 0);
	f->seen_until = options.now_us + 1;
	options.horizon_ts = wc_engine_horizon(c->store->engine);
	if (!manual && options.horizon_ts > options.now_us - SETTLED_US)
		options.horizon_ts = options.now_us - SETTLED_US;
	f->horizon_ts = options.horizon_ts < f->seen_until ? options.horizon_ts : f->seen_until;
	if (wc_matcher_create(&options, &f->matcher, NULL) != WC_OK)
	{
		filter_destroy(f);
		return NULL;
	}
	return f;
}

static rocksdb_compactionfilter_t *
factory_create_filter(void *state, rocksdb_compactionfiltercontext_t *context)
{
	WcCompaction *c = state;
	Filter	   *f = NULL;

	pthread_mutex_lock(&c->mutex);
	if (c->store)
		f = filter_create(c, rocksdb_compactionfiltercontext_is_manual_compaction(context));
	pthread_mutex_unlock(&c->mutex);
	if (f == NULL)
		return NULL;
	return rocksdb_compactionfilter_create(f, filter_destroy, filter_key_value, filter_name);
}

static rocksdb_compactionfilterfactory_t *
compaction_factory(WcCompaction *c)
{
	atomic_fetch_add(&c->refs, 1);
	return rocksdb_compactionfilterfactory_create(c, compaction_unref, factory_create_filter, factory_name);
}

const WcCompactionOps wc_compaction_ops = {
	.create = compaction_create,
	.detach = compaction_detach,
	.factory = compaction_factory
};
