/*
 * engine/store/cellsource_packed.c: the cells of a store of packing "row".
 *
 * Two sources with one way of reading a row: one walks an iterator, one gets
 * single rows by their keys, a few at once when it knows which come next, because
 * RocksDB then does once what it does for each row otherwise.
 */
#include <stdlib.h>

#include "engine/store/cellsource_store.h"

/* Most rows that are got at once, and how large one of them may be: as long as none
 * is larger, they become more. */
#define GETS_MAX 8
#define GETS_VALUE_MAX (64 * 1024)

/* Rows that have been got before they were asked for. */
typedef struct Gets
{
	const WcRange *points;		/* all that are likely to be asked for */
	uint32_t	npoints;
	uint32_t	at;				/* of points: the first that may still be asked for */
	uint32_t	first;			/* of points: the first of those that are here */
	uint32_t	n;				/* so many are */
	uint32_t	size;			/* so many next time */
	rocksdb_pinnableslice_t *values[GETS_MAX];	/* NULL: there is no such row, or it is taken */
	char	   *errors[GETS_MAX];
} Gets;

typedef struct PackedSource
{
	WcCellSource base;
	WcStore    *store;
	rocksdb_t  *db;
	rocksdb_readoptions_t *ro;
	rocksdb_iterator_t *it;		/* scan */
	rocksdb_pinnableslice_t *pin;	/* get: the current row's value */
	WcBuf		lower;			/* bounds of the iterator, which points to them */
	WcBuf		upper;
	WcBuf		row;			/* get: the current row */
	Gets		gets;
	bool		on_row;
	WcSlice		value;			/* of the current row */
	WcPackedRow reader;
	WcGone		gone;
	WcCell	   *left;			/* of a row of which some cells are gone: the others */
	size_t		left_cap;
	WcBuf		left_value;		/* ... and they as a value */
} PackedSource;

static WcStatus
damaged_row(const PackedSource *p, WcError *err)
{
	return wc_packedrow_status(&p->reader, p->base.row, err);
}

/* The head of the value has been read: may a cell of it be gone? */
static inline bool
may_be_gone(const PackedSource *p)
{
	if (p->reader.flags & WC_PACKED_PLAIN)
		return p->reader.ts < p->gone.oldest_ts;
	return wc_gone_any(&p->gone) && (p->gone.oldest_ts > 0 || !(p->reader.flags & WC_PACKED_SIMPLE));
}

/* Reads a row without the cells that are gone; none may be left. */
static WcStatus
leave_out_gone(PackedSource *p, WcError *err)
{
	size_t		n;

	if (!wc_gone_unpack(p->value, &p->gone, &p->left, &p->left_cap, &n))
	{
		wc_decoder_fail(&p->reader.d);
		return damaged_row(p, err);
	}
	if (n == p->reader.ncells)
		return WC_OK;
	p->reader = (WcPackedRow) {.left = 0};
	if (n == 0)
		return WC_OK;
	wc_buf_reset(&p->left_value, WC_BLOCK_MAX);
	wc_packedrow_append(&p->left_value, p->left, n);
	if (p->left_value.failed)
		return wc_buf_status(&p->left_value, "row", err);
	return wc_packedrow_open(&p->reader, wc_buf_slice(&p->left_value), err);
}

/* (Re)starts reading the current row. */
static WcStatus
open_value(PackedSource *p, WcError *err)
{
	p->on_row = true;
	if (wc_packedrow_open(&p->reader, p->value, err) == WC_OK)
		return may_be_gone(p) ? leave_out_gone(p, err) : WC_OK;
	wc_decoder_fail(&p->reader.d);
	return damaged_row(p, err);
}

static WcStatus
packed_next_cell(WcCellSource *src, WcCell *cell, WcError *err)
{
	PackedSource *p = (PackedSource *) src;

	if (!wc_packedrow_next(&p->reader, cell))
		return p->reader.d.failed ? damaged_row(p, err) : WC_END;
	cell->row = src->row;
	cell->family = src->family;
	src->cells++;
	return WC_OK;
}

static WcStatus
packed_seek_column(WcCellSource *src, WcSlice qualifier, bool after, WcError *err)
{
	PackedSource *p = (PackedSource *) src;

	wc_packedrow_seek(&p->reader, qualifier, after);
	return p->reader.d.failed ? damaged_row(p, err) : WC_OK;
}

static void
forget_gets(Gets *g)
{
	for (uint32_t i = 0; i < g->n; i++)
	{
		if (g->values[i] != NULL)
			rocksdb_pinnableslice_destroy(g->values[i]);
		rocksdb_free(g->errors[i]);
	}
	g->n = 0;
}

static WcPackedRow *
packed_row(WcCellSource *src)
{
	return &((PackedSource *) src)->reader;
}

static void
packed_close(WcCellSource *src)
{
	PackedSource *p = (PackedSource *) src;

	forget_gets(&p->gets);
	if (p->it)
		rocksdb_iter_destroy(p->it);
	if (p->pin)
		rocksdb_pinnableslice_destroy(p->pin);
	if (p->ro)
		rocksdb_readoptions_destroy(p->ro);
	wc_buf_free(&p->lower);
	wc_buf_free(&p->upper);
	wc_buf_free(&p->row);
	wc_buf_free(&p->left_value);
	free(p->left);
	wc_store_unref(p->store);
	free(p);
}

static PackedSource *
packed_create(WcStore *store, const WcSourceOptions *options, const WcCellSourceOps *ops, WcError *err)
{
	PackedSource *p = calloc(1, sizeof(*p));

	if (p == NULL)
	{
		wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
		return NULL;
	}
	p->base.ops = ops;
	p->base.family = store->family_id;
	p->base.reversed = options->reversed;
	p->gone = wc_store_gone(store);
	p->store = wc_store_ref(store);
	p->db = wc_engine_rocks(store->engine);
	p->ro = wc_source_read_options(options);
	return p;
}

/* --- by iterator ----------------------------------------------------------*/

/* Makes the row the iterator stands on the current one. */
static WcStatus
load_row(PackedSource *p, WcError *err)
{
	const char *data;
	size_t		len;
	WcStatus	status;

	if (!rocksdb_iter_valid(p->it))
	{
		p->on_row = false;
		status = wc_source_iter_status(p->store, p->it, err);
		return status == WC_OK ? WC_END : status;
	}
	data = rocksdb_iter_key(p->it, &len);
	if (len == 0 || len > WC_ROW_MAX)
		return wc_error(err, WC_CORRUPT, "a stored key of %zu bytes is damaged", len);
	p->base.row = wc_slice(data, len);
	data = rocksdb_iter_value(p->it, &len);
	p->value = wc_slice(data, len);
	return open_value(p, err);
}

static inline void
step(PackedSource *p)
{
	if (p->base.reversed)
		wc_rocks_iter_prev(p->it);
	else
		wc_rocks_iter_next(p->it);
}

static WcStatus
scan_seek_row(WcCellSource *src, WcSlice row, bool inclusive, WcError *err)
{
	PackedSource *p = (PackedSource *) src;

	if (p->on_row && inclusive && wc_slice_eq(src->row, row))
		return open_value(p, err);
	src->seeks++;
	if (row.len == 0 && src->reversed)
		wc_rocks_iter_seek_to_last(p->it);
	else if (row.len == 0)
		wc_rocks_iter_seek_to_first(p->it);
	else if (src->reversed)
		wc_rocks_iter_seek_for_prev(p->it, (const char *) row.data, row.len);
	else
		wc_rocks_iter_seek(p->it, (const char *) row.data, row.len);
	if (!inclusive && row.len > 0 && rocksdb_iter_valid(p->it))
	{
		size_t		len;
		const char *key = rocksdb_iter_key(p->it, &len);

		if (wc_slice_eq(wc_slice(key, len), row))
			step(p);
	}
	return load_row(p, err);
}

static WcStatus
scan_next_row(WcCellSource *src, WcError *err)
{
	PackedSource *p = (PackedSource *) src;

	if (!p->on_row)
		return WC_END;
	step(p);
	return load_row(p, err);
}

static const WcCellSourceOps scan_ops = {
	.seek_row = scan_seek_row,
	.next_row = scan_next_row,
	.next_cell = packed_next_cell,
	.seek_column = packed_seek_column,
	.packed_row = packed_row,
	.close = packed_close
};

/* The first key of [start, ...), or the first behind [..., stop]: row itself,
 * or its successor, which is the row and a zero byte. */
static void
append_bound(WcBuf *buf, WcSlice row, bool behind)
{
	wc_buf_append_slice(buf, row);
	if (behind)
		wc_buf_append_u8(buf, 0);
}

WcStatus
wc_cellsource_packed_scan(WcStore *store, const WcSourceOptions *options, WcCellSource **src, WcError *err)
{
	PackedSource *p = packed_create(store, options, &scan_ops, err);
	const WcRange *bounds = options->bounds;

	*src = NULL;
	if (p == NULL)
		return WC_NO_MEMORY;
	if (bounds && bounds->start.len > 0)
		append_bound(&p->lower, bounds->start, !bounds->start_inclusive);
	if (bounds && bounds->stop.len > 0)
		append_bound(&p->upper, bounds->stop, bounds->stop_inclusive);
	if (p->lower.failed || p->upper.failed)
	{
		packed_close(&p->base);
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	}
	if (p->lower.len > 0)
		rocksdb_readoptions_set_iterate_lower_bound(p->ro, (const char *) p->lower.data, p->lower.len);
	if (p->upper.len > 0)
		rocksdb_readoptions_set_iterate_upper_bound(p->ro, (const char *) p->upper.data, p->upper.len);
	p->it = wc_rocks_create_iterator(p->db, p->ro, store->cf);
	*src = &p->base;
	return WC_OK;
}

/* --- single rows ----------------------------------------------------------*/

static void
unpin(PackedSource *p)
{
	if (p->pin)
		rocksdb_pinnableslice_destroy(p->pin);
	p->pin = NULL;
	p->on_row = false;
}

/* Is the row one of those that were expected?  *behind: how many from there on. */
static bool
is_expected(Gets *g, WcSlice row, uint32_t *behind)
{
	while (g->at < g->npoints && !wc_slice_eq(g->points[g->at].start, row))
		g->at++;
	*behind = g->npoints - g->at;
	return *behind > 0;
}

/* As long as rows are small, more of them are got next time. */
static void
note_small(Gets *g, bool small)
{
	g->size = !small ? 1 : g->size < GETS_MAX / 2 ? g->size * 2 : GETS_MAX;
}

static bool
is_small(const rocksdb_pinnableslice_t *value)
{
	size_t		len = 0;

	if (value != NULL)
		(void) rocksdb_pinnableslice_value(value, &len);
	return len <= GETS_VALUE_MAX;
}

/* Gets the n rows that are expected next. */
static void
get_many(PackedSource *p, uint32_t n)
{
	Gets	   *g = &p->gets;
	const char *keys[GETS_MAX];
	size_t		lens[GETS_MAX];
	bool		small = true;

	forget_gets(g);
	for (uint32_t i = 0; i < n; i++)
	{
		keys[i] = (const char *) g->points[g->at + i].start.data;
		lens[i] = g->points[g->at + i].start.len;
	}
	wc_rocks_multi_get(p->db, p->ro, p->store->cf, n, keys, lens, g->values, g->errors, !p->base.reversed);
	g->first = g->at;
	g->n = n;
	for (uint32_t i = 0; i < n; i++)
		small &= is_small(g->values[i]);
	note_small(g, small);
}

static bool
is_here(const Gets *g)
{
	return g->at >= g->first && g->at < g->first + g->n;
}

/* One that has been got: p->pin. */
static void
take_got(PackedSource *p, char **text)
{
	Gets	   *g = &p->gets;
	uint32_t	i = g->at - g->first;

	p->pin = g->values[i];
	*text = g->errors[i];
	g->values[i] = NULL;
	g->errors[i] = NULL;
}

/* The value of a row, if there is one: p->pin. */
static WcStatus
get_value(PackedSource *p, WcSlice row, WcError *err)
{
	Gets	   *g = &p->gets;
	char	   *text = NULL;
	uint32_t	behind;
	bool		expected = is_expected(g, row, &behind);

	if (expected && !is_here(g) && behind > 1 && g->size > 1)
		get_many(p, behind < g->size ? behind : g->size);
	if (expected && is_here(g))
		take_got(p, &text);
	else
	{
		/* one alone costs less by a Get */
		p->pin = wc_rocks_get_pinned(p->db, p->ro, p->store->cf, (const char *) row.data, row.len, &text);
		note_small(g, is_small(p->pin));
	}
	if (expected)
		g->at++;
	return wc_store_status(p->store, text, "read", err);
}

static WcStatus
get_seek_row(WcCellSource *src, WcSlice row, bool inclusive, WcError *err)
{
	PackedSource *p = (PackedSource *) src;
	const char *data;
	size_t		len;
	WcStatus	status;

	if (!inclusive || row.len == 0)
		return WC_END;
	if (p->on_row && wc_slice_eq(src->row, row))
		return open_value(p, err);
	unpin(p);
	src->seeks++;
	status = get_value(p, row, err);
	if (status != WC_OK)
		return status;
	data = rocksdb_pinnableslice_value(p->pin, &len);
	if (data == NULL)
		return WC_END;
	p->row.len = 0;
	wc_buf_append_slice(&p->row, row);
	if (p->row.failed)
		return wc_buf_status(&p->row, "row key", err);
	src->row = wc_buf_slice(&p->row);
	p->value = wc_slice(data, len);
	return open_value(p, err);
}

static WcStatus
get_next_row(WcCellSource *src, WcError *err)
{
	unpin((PackedSource *) src);
	return WC_END;
}

static const WcCellSourceOps get_ops = {
	.seek_row = get_seek_row,
	.next_row = get_next_row,
	.next_cell = packed_next_cell,
	.seek_column = packed_seek_column,
	.packed_row = packed_row,
	.close = packed_close
};

WcStatus
wc_cellsource_packed_get(WcStore *store, const WcSourceOptions *options, WcCellSource **src, WcError *err)
{
	PackedSource *p = packed_create(store, options, &get_ops, err);

	if (p != NULL)
		p->gets = (Gets) {.points = options->points,.npoints = options->npoints,.size = 1};
	*src = p ? &p->base : NULL;
	return p ? WC_OK : WC_NO_MEMORY;
}
