/*
 * engine/source/cellsource_get.c: the cells of single rows.
 *
 * Rows are read by their keys with RocksDB's Get.  If the source knows the next rows, it gets a few at once, since
 * RocksDB then does some of the work once instead of for each row.  In packing "cell" the Get reads the row's head; the
 * cells of a row that is apart come from another source.
 */
#include <stdlib.h>

#include "engine/source/cellsource_store.h"
#include "engine/source/storedrow.h"
#include "engine/store/state.h"

/* At most so many rows are got at once; and the size up to which a row counts as small: while all rows are small, the
 * number of rows grows. */
#define GETS_MAX 8
#define GETS_VALUE_MAX (64 * 1024)

/* Rows that have been got before they were asked for. */
typedef struct Gets
{
	const WcRange *points;		/* all that are likely to be asked for */
	uint32_t	npoints;
	uint32_t	at;				/* of points: the first that may still be asked for */
	uint32_t	first;			/* index, in points, of the first row that has been got */
	uint32_t	n;				/* number of rows that have been got */
	uint32_t	size;			/* number of rows to get the next time */
	rocksdb_pinnableslice_t *values[GETS_MAX];	/* NULL: there is no such row, or it is taken */
	char	   *errors[GETS_MAX];
} Gets;

typedef struct GetSource
{
	WcCellSource base;
	WcStore    *store;
	rocksdb_t  *db;
	rocksdb_readoptions_t *ro;
	WcBuf		key;			/* packing cell: the key to get */
	Gets		gets;

	/* the current row */
	WcRowForm	form;			/* WC_FORM_NONE: there is no current row */
	WcBuf		row;
	bool		found;			/* the row's key has a value: */
	WcSlice		value;
	rocksdb_pinnableslice_t *pin;	/* as Get has returned it; NULL: it is in recent */
	WcBuf		recent;			/* the value that was written last */
	WcStoredRow stored;

	/* packing cell: cells of rows that are apart */
	WcSourceOptions options;
	WcCellSource *apart;		/* NULL: not needed so far */
	bool		in_apart;		/* it stands in the current row */
} GetSource;

/* --- Gets -------------------------------------------------------------*/

static void
append_key(const GetSource *s, WcBuf *key, WcSlice row)
{
	if (s->store->packing == WC_PACKING_CELL)
		wc_cellkey_append_row(key, row);
	else
		wc_buf_append_slice(key, row);
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

/* Is the row one of the expected ones?  *behind: the number of expected rows from it on. */
static bool
is_expected(Gets *g, WcSlice row, uint32_t *behind)
{
	while (g->at < g->npoints && !wc_slice_eq(g->points[g->at].start, row))
		g->at++;
	*behind = g->npoints - g->at;
	return *behind > 0;
}

/* While rows are small, more of them are got the next time. */
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
static WcStatus
get_many(GetSource *s, uint32_t n, WcError *err)
{
	Gets	   *g = &s->gets;
	size_t		ends[GETS_MAX];
	const char *keys[GETS_MAX];
	size_t		lens[GETS_MAX];
	bool		small = true;

	forget_gets(g);
	wc_buf_reset(&s->key, SIZE_MAX);
	for (uint32_t i = 0; i < n; i++)
	{
		append_key(s, &s->key, g->points[g->at + i].start);
		ends[i] = s->key.len;
	}
	if (s->key.failed)
		return wc_buf_status(&s->key, "row key", err);
	for (uint32_t i = 0; i < n; i++)
	{
		size_t		start = i > 0 ? ends[i - 1] : 0;

		keys[i] = (const char *) s->key.data + start;
		lens[i] = ends[i] - start;
	}
	wc_rocks_multi_get(s->db, s->ro, s->store->cf, n, keys, lens, g->values, g->errors, !s->base.reversed);
	g->first = g->at;
	g->n = n;
	for (uint32_t i = 0; i < n; i++)
		small &= is_small(g->values[i]);
	note_small(g, small);
	return WC_OK;
}

static bool
is_here(const Gets *g)
{
	return g->at >= g->first && g->at < g->first + g->n;
}

/* Takes a value that RocksDB has returned; NULL: there is none. */
static void
take_pinned(GetSource *s, rocksdb_pinnableslice_t *pin)
{
	s->pin = pin;
	s->found = pin != NULL;
	if (s->found)
		s->value.data = (const uint8_t *) rocksdb_pinnableslice_value(pin, &s->value.len);
}

/* One that has been got. */
static void
take_got(GetSource *s, char **text)
{
	Gets	   *g = &s->gets;
	uint32_t	i = g->at - g->first;

	take_pinned(s, g->values[i]);
	*text = g->errors[i];
	g->values[i] = NULL;
	g->errors[i] = NULL;
}

/* Is the value of the key that this reader sees the one that was written last? */
static bool
is_recent(GetSource *s, WcSlice key)
{
	const WcSnapshot *snapshot = s->options.snapshot;

	if (snapshot != NULL && snapshot->seq == WC_SNAPSHOT_SEQ_UNKNOWN)
		return false;
	wc_buf_reset(&s->recent, WC_RECENTROWS_BYTES);
	s->found = wc_recentrows_find(&s->store->engine->recent, s->store->cf, key, snapshot != NULL ? snapshot->seq : UINT64_MAX,
								  &s->recent);
	s->value = wc_buf_slice(&s->recent);
	return s->found;
}

static WcStatus
get_one(GetSource *s, WcSlice row, char **text, WcError *err)
{
	WcSlice		key = row;

	if (s->store->packing == WC_PACKING_CELL)
	{
		wc_buf_reset(&s->key, SIZE_MAX);
		append_key(s, &s->key, row);
		if (s->key.failed)
			return wc_buf_status(&s->key, "row key", err);
		key = wc_buf_slice(&s->key);
	}
	if (!is_recent(s, key))
		take_pinned(s, wc_rocks_get_pinned(s->db, s->ro, s->store->cf, (const char *) key.data, key.len, text));
	note_small(&s->gets, is_small(s->pin));
	return WC_OK;
}

/* Gets the value of the row's key, if there is one. */
static WcStatus
get_value(GetSource *s, WcSlice row, WcError *err)
{
	Gets	   *g = &s->gets;
	char	   *text = NULL;
	uint32_t	behind;
	bool		expected = is_expected(g, row, &behind);
	WcStatus	status = WC_OK;

	if (expected && !is_here(g) && behind > 1 && g->size > 1)
		status = get_many(s, behind < g->size ? behind : g->size, err);
	if (status != WC_OK)
		return status;
	if (expected && is_here(g))
		take_got(s, &text);
	else
		status = get_one(s, row, &text, err);	/* one alone costs less by a Get */
	if (expected)
		g->at++;
	return status == WC_OK ? wc_store_status(s->store, text, "read", err) : status;
}

/* --- rows that are apart -------------------------------------------------------*/

/* The cells of single rows that are apart. */
static WcStatus
open_apart(WcStore *store, const WcSourceOptions *options, WcCellSource **src, WcError *err)
{
	if (wc_cellsource_column_fits(store, options))
		return wc_cellsource_column(store, options, src, err);
	return wc_cellsource_cell(store, options, src, err);
}

/* To the current row's cells; there may be none. */
static WcStatus
enter_apart(GetSource *s, WcError *err)
{
	WcStatus	status = WC_OK;
	uint64_t	seeks;

	wc_storedrow_close(&s->stored);
	if (s->apart == NULL)
		status = open_apart(s->store, &s->options, &s->apart, err);
	if (status != WC_OK)
		return status;
	seeks = s->apart->seeks;
	status = s->apart->ops->seek_row(s->apart, s->base.row, true, err);
	s->base.seeks += s->apart->seeks - seeks;
	s->in_apart = status == WC_OK;
	return status == WC_END ? WC_OK : status;
}

/* --- the source --------------------------------------------------------------- */

static void
leave_row(GetSource *s)
{
	if (s->pin)
		rocksdb_pinnableslice_destroy(s->pin);
	s->pin = NULL;
	s->found = false;
	s->form = WC_FORM_NONE;
	s->in_apart = false;
}

/* (Re)starts reading the current row. */
static WcStatus
open_row(GetSource *s, WcError *err)
{
	if (s->form != WC_FORM_TOGETHER)
		return enter_apart(s, err);
	return wc_storedrow_open(&s->stored, s->value, s->base.row, err);
}

/* The form of the row, by the value of its key. */
static WcRowForm
form_of(const GetSource *s)
{
	bool		cells = s->store->packing == WC_PACKING_CELL;

	if (!s->found)
		return cells ? WC_FORM_HEADLESS : WC_FORM_NONE;
	return cells && wc_cellkey_is_apart(s->value) ? WC_FORM_APART : WC_FORM_TOGETHER;
}

static WcStatus
get_seek_row(WcCellSource *src, WcSlice row, bool inclusive, WcError *err)
{
	GetSource  *s = (GetSource *) src;
	WcStatus	status;

	if (!inclusive || row.len == 0)
		return WC_END;
	if (s->form != WC_FORM_NONE && wc_slice_eq(src->row, row))
		return open_row(s, err);
	leave_row(s);
	src->seeks++;
	status = get_value(s, row, err);
	if (status != WC_OK)
		return status;
	s->form = form_of(s);
	if (s->form == WC_FORM_NONE)
		return WC_END;
	wc_buf_reset(&s->row, SIZE_MAX);
	wc_buf_append_slice(&s->row, row);
	if (s->row.failed)
		return wc_buf_status(&s->row, "row key", err);
	src->row = wc_buf_slice(&s->row);
	status = open_row(s, err);
	if (status == WC_OK && s->form == WC_FORM_HEADLESS && !s->in_apart)
	{
		s->form = WC_FORM_NONE;
		return WC_END;
	}
	return status;
}

static WcStatus
get_next_row(WcCellSource *src, WcError *err)
{
	leave_row((GetSource *) src);
	return WC_END;
}

static WcStatus
get_next_cell(WcCellSource *src, WcCell *cell, WcError *err)
{
	GetSource  *s = (GetSource *) src;
	WcCellSource *apart = s->in_apart ? s->apart : NULL;
	uint64_t	cells = apart ? apart->cells : 0;
	WcStatus	status;

	if (apart)
		status = apart->ops->next_cell(apart, cell, err);
	else
		status = wc_storedrow_next(&s->stored, src->row, cell, err);
	src->cells += apart ? apart->cells - cells : status == WC_OK;
	cell->row = src->row;
	cell->family = src->family;
	return status;
}

static WcStatus
get_seek_column(WcCellSource *src, WcSlice qualifier, bool after, WcError *err)
{
	GetSource  *s = (GetSource *) src;
	uint64_t	seeks;
	WcStatus	status;

	if (!s->in_apart)
		return wc_storedrow_seek(&s->stored, src->row, qualifier, after, err);
	seeks = s->apart->seeks;
	status = s->apart->ops->seek_column(s->apart, qualifier, after, err);
	src->seeks += s->apart->seeks - seeks;
	return status;
}

static WcPackedRow *
get_packed_row(WcCellSource *src)
{
	return &((GetSource *) src)->stored.reader;
}

static void
get_close(WcCellSource *src)
{
	GetSource  *s = (GetSource *) src;

	leave_row(s);
	forget_gets(&s->gets);
	wc_cellsource_close(s->apart);
	rocksdb_readoptions_destroy(s->ro);
	wc_buf_free(&s->key);
	wc_buf_free(&s->recent);
	wc_buf_free(&s->row);
	wc_storedrow_free(&s->stored);
	wc_store_unref(s->store);
	free(s);
}

static const WcCellSourceOps get_ops = {
	.seek_row = get_seek_row,
	.next_row = get_next_row,
	.next_cell = get_next_cell,
	.seek_column = get_seek_column,
	.packed_row = get_packed_row,
	.close = get_close
};

WcRowForm
wc_cellsource_get_form(const WcCellSource *src)
{
	return ((const GetSource *) src)->form;
}

WcStatus
wc_cellsource_get(WcStore *store, const WcSourceOptions *options, WcCellSource **src, WcError *err)
{
	GetSource  *s = calloc(1, sizeof(*s));

	*src = NULL;
	if (s == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	s->base.ops = &get_ops;
	s->base.family = store->family_id;
	s->base.reversed = options->reversed;
	s->store = wc_store_ref(store);
	s->db = wc_engine_rocks(store->engine);
	s->ro = wc_source_read_options(options);
	s->options = *options;
	s->options.bounds = NULL;
	s->gets = (Gets) {.points = options->points,.npoints = options->npoints,.size = 1};
	wc_storedrow_init(&s->stored, wc_store_gone(store));
	*src = &s->base;
	return WC_OK;
}
