/*
 * engine/store/gone.c: cells that are not there any more, and the compaction filter that
 * drops them.
 */
#include "engine/store/gone.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/buf.h"
#include "engine/rocks/cellkey.h"
#include "read/cell/packedrow.h"

WcStatus
wc_gone_unpack(WcSlice value, const WcGone *gone, WcCell **cells, size_t *cap, size_t *n)
{
	WcPackedRow row;
	WcCell		cell;

	*n = 0;
	if (wc_packedrow_open(&row, value, NULL) != WC_OK)
		return WC_CORRUPT;
	if (row.ncells > *cap)
	{
		WcCell	   *p = realloc(*cells, row.ncells * sizeof(WcCell));

		if (p == NULL)
			return WC_NO_MEMORY;
		*cells = p;
		*cap = row.ncells;
	}
	while (wc_packedrow_next(&row, &cell))
	{
		cell.row = wc_slice(NULL, 0);
		cell.family = 0;
		if (!wc_gone_is(gone, &cell))
			(*cells)[(*n)++] = cell;
	}
	return wc_packedrow_status(&row, wc_slice(NULL, 0), NULL);
}

/* --- the filter -----------------------------------------------------------
 *
 * RocksDB makes one for each compaction (and thread).  The filter keeps a value that it cannot read, or has no memory
 * for: readers report the error.
 */
struct WcGoneFilter
{
	atomic_uint refs;
	uint8_t		packing;
	_Atomic int64_t oldest_ts;
	_Atomic int64_t oldest_until_ts;
	_Atomic int64_t expired_ts;
};

typedef struct Filter
{
	WcGone		gone;
	uint8_t		packing;
	WcBuf		scratch;		/* a cell that is apart */
	WcCell	   *cells;			/* a row that is together: the value, taken apart and put together again */
	size_t		cells_cap;
	WcBuf		value;
} Filter;

static void
filter_destroy(void *state)
{
	Filter	   *f = state;

	wc_buf_free(&f->scratch);
	wc_buf_free(&f->value);
	free(f->cells);
	free(f);
}

static const char *
filter_name(void *state)
{
	return "widecol.gone";
}

static bool
drop_cell(Filter *f, WcSlice key, WcSlice value)
{
	size_t		row = wc_cellkey_row_prefix(key);
	WcCell		cell;

	return wc_cellkey_decode_rest(wc_slice(key.data + row, key.len - row), &f->scratch, &cell, NULL) == WC_OK &&
		wc_cellvalue_decode(value, &cell, NULL) == WC_OK && wc_gone_is(&f->gone, &cell);
}

/* Is the row to be dropped? *changed: it is not, but its value is now f->value. */
static bool
drop_row(Filter *f, WcSlice value, bool *changed)
{
	WcPackedRow row;
	size_t		n;

	if (wc_packedrow_open(&row, value, NULL) != WC_OK ||
		wc_gone_unpack(value, &f->gone, &f->cells, &f->cells_cap, &n) != WC_OK || n == row.ncells)
		return false;
	if (n == 0)
		return true;
	wc_buf_reset(&f->value, WC_BLOCK_MAX);
	wc_packedrow_append(&f->value, f->cells, n);
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

	if (f->packing == WC_PACKING_CELL && !wc_cellkey_is_head(wc_slice(key, key_len)))
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

WcGoneFilter *
wc_gonefilter_create(uint8_t packing)
{
	WcGoneFilter *g = calloc(1, sizeof(*g));

	if (g == NULL)
		return NULL;
	atomic_init(&g->refs, 1);
	g->packing = packing;
	return g;
}

void
wc_gonefilter_unref(WcGoneFilter *g)
{
	if (g != NULL && atomic_fetch_sub(&g->refs, 1) == 1)
		free(g);
}

void
wc_gonefilter_set(WcGoneFilter *g, const WcGone *gone)
{
	atomic_store(&g->oldest_ts, gone->oldest_ts);
	atomic_store(&g->oldest_until_ts, gone->oldest_until_ts);
	atomic_store(&g->expired_ts, gone->expired_ts);
}

static void
factory_destroy(void *state)
{
	wc_gonefilter_unref(state);
}

static const char *
factory_name(void *state)
{
	return "widecol.gone";
}

/* NULL: no filter, everything is kept. */
static rocksdb_compactionfilter_t *
factory_create_filter(void *state, rocksdb_compactionfiltercontext_t *context)
{
	WcGoneFilter *g = state;
	WcGone		gone = {
		.oldest_ts = atomic_load(&g->oldest_ts),.oldest_until_ts = atomic_load(&g->oldest_until_ts),
		.expired_ts = atomic_load(&g->expired_ts)
	};
	Filter	   *f;

	if (!wc_gone_any(&gone))
		return NULL;
	f = calloc(1, sizeof(*f));
	if (f == NULL)
		return NULL;
	f->gone = gone;
	f->packing = g->packing;
	return rocksdb_compactionfilter_create(f, filter_destroy, filter_key_value, filter_name);
}

rocksdb_compactionfilterfactory_t *
wc_gonefilter_factory(WcGoneFilter *g)
{
	atomic_fetch_add(&g->refs, 1);
	return rocksdb_compactionfilterfactory_create(g, factory_destroy, factory_create_filter, factory_name);
}
