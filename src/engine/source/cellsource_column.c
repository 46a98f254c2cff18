/*
 * engine/source/cellsource_column.c: a few named columns of single rows, in a family of
 * packing "cell" whose bloom filters are made of row and column.
 *
 * Each column is sought separately, in the prefix of which the bloom filters are made, so that files and memtables
 * without the column are not read.  The column without a name is always sought, too: it has the family's markers.
 */
#include <stdlib.h>

#include "engine/rocks/cellkey.h"
#include "engine/source/cellsource_store.h"

typedef struct ColumnSource
{
	WcCellSource base;
	WcStore    *store;
	rocksdb_readoptions_t *ro;
	rocksdb_iterator_t *it;
	WcGone		gone;
	const atomic_bool *cancel;
	uint32_t	npassed;		/* cells that are gone */
	WcSlice    *columns;		/* ascending, distinct, the one without a name first */
	size_t		ncolumns;
	size_t		column;			/* the current one; ncolumns: no more cells */
	bool		given;			/* the iterator is on the cell given last, not on the next */
	WcBuf		row;			/* the current row */
	size_t		row_prefix;		/* length of the row's part of prefix */
	WcBuf		prefix;			/* of the current column's keys */
	WcBuf		qualifier;		/* the last cell's, when it needs unescaping */
} ColumnSource;

/* Is the iterator on a cell of the current column? */
static bool
in_column(const ColumnSource *s)
{
	return rocksdb_iter_valid(s->it) && wc_slice_starts_with(wc_source_key(s->it), wc_buf_slice(&s->prefix));
}

/* Moves to the first cell of the current column, or of the next column that has a cell. */
static WcStatus
find_column(ColumnSource *s, WcError *err)
{
	WcStatus	status;

	s->given = false;
	for (; s->column < s->ncolumns; s->column++)
	{
		wc_buf_reset(&s->prefix, SIZE_MAX);
		wc_cellkey_append_column(&s->prefix, wc_buf_slice(&s->row), s->columns[s->column]);
		if (s->prefix.failed)
			return wc_buf_status(&s->prefix, "row key", err);
		s->base.seeks++;
		wc_rocks_iter_seek(s->it, (const char *) s->prefix.data, s->prefix.len);
		if (in_column(s))
			return WC_OK;
		status = wc_source_iter_status(s->store, s->it, err);
		if (status != WC_OK)
			return status;
	}
	return WC_OK;
}

static WcStatus
column_seek_row(WcCellSource *src, WcSlice row, bool inclusive, WcError *err)
{
	ColumnSource *s = (ColumnSource *) src;
	WcStatus	status;

	s->column = s->ncolumns;
	if (!inclusive || row.len == 0)
		return WC_END;			/* single rows are asked for by name */
	if (row.data != s->row.data)
	{
		wc_buf_reset(&s->row, SIZE_MAX);
		wc_buf_append_slice(&s->row, row);
	}
	wc_buf_reset(&s->prefix, SIZE_MAX);
	wc_cellkey_append_row(&s->prefix, wc_buf_slice(&s->row));
	if (s->row.failed || s->prefix.failed)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	s->row_prefix = s->prefix.len;
	src->row = wc_buf_slice(&s->row);
	s->column = 0;
	status = find_column(s, err);
	return status == WC_OK && s->column == s->ncolumns ? WC_END : status;
}

static WcStatus
column_next_row(WcCellSource *src, WcError *err)
{
	((ColumnSource *) src)->column = ((ColumnSource *) src)->ncolumns;
	return WC_END;
}

/* Behind the cell that was given last. */
static WcStatus
step(ColumnSource *s, WcError *err)
{
	WcStatus	status;

	s->given = false;
	wc_rocks_iter_next(s->it);
	if (in_column(s))
		return WC_OK;
	status = wc_source_iter_status(s->store, s->it, err);
	if (status != WC_OK)
		return status;
	s->column++;
	return find_column(s, err);
}

static WcStatus
column_next_cell(WcCellSource *src, WcCell *cell, WcError *err)
{
	ColumnSource *s = (ColumnSource *) src;
	WcStatus	status = WC_OK;
	bool		gone = false;

	do
	{
		if (gone)
			status = wc_source_pass_over(&s->npassed, s->cancel, err);
		if (status == WC_OK && s->column < s->ncolumns && s->given)
			status = step(s, err);
		if (status != WC_OK)
			return status;
		if (s->column == s->ncolumns)
			return WC_END;
		status = wc_source_take_cell(src, wc_source_key(s->it), wc_source_value(s->it), s->row_prefix, &s->qualifier, cell, err);
		if (status == WC_OK)
			s->given = true;
		gone = status == WC_OK && wc_gone_is(&s->gone, cell);
	} while (gone);
	return status;
}

static WcStatus
column_seek_column(WcCellSource *src, WcSlice qualifier, bool after, WcError *err)
{
	ColumnSource *s = (ColumnSource *) src;
	size_t		column = s->column;

	while (column < s->ncolumns && wc_slice_cmp(s->columns[column], qualifier) < (after ? 1 : 0))
		column++;
	if (column == s->column)
		return WC_OK;
	s->column = column;
	return find_column(s, err);
}

static void
column_close(WcCellSource *src)
{
	ColumnSource *s = (ColumnSource *) src;

	if (s->it)
		rocksdb_iter_destroy(s->it);
	if (s->ro)
		rocksdb_readoptions_destroy(s->ro);
	wc_buf_free(&s->row);
	wc_buf_free(&s->prefix);
	wc_buf_free(&s->qualifier);
	wc_store_unref(s->store);
	free(s->columns);
	free(s);
}

static const WcCellSourceOps column_ops = {
	.seek_row = column_seek_row,
	.next_row = column_next_row,
	.next_cell = column_next_cell,
	.seek_column = column_seek_column,
	.close = column_close
};

static int
compare_columns(const void *a, const void *b)
{
	return wc_slice_cmp(*(const WcSlice *) a, *(const WcSlice *) b);
}

/* Sorts the columns and removes duplicates. */
static void
set_columns(ColumnSource *s, const WcSourceOptions *options)
{
	size_t		n = 1;

	s->columns[0] = wc_slice(NULL, 0);
	for (uint32_t i = 0; i < options->ncolumns; i++)
		s->columns[i + 1] = options->columns[i].qualifier;
	qsort(s->columns, options->ncolumns + 1, sizeof(WcSlice), compare_columns);
	for (uint32_t i = 1; i <= options->ncolumns; i++)
	{
		if (!wc_slice_eq(s->columns[i], s->columns[n - 1]))
			s->columns[n++] = s->columns[i];
	}
	s->column = s->ncolumns = n;
}

bool
wc_cellsource_column_fits(const WcStore *store, const WcSourceOptions *options)
{
	if (!options->point || store->built_filter != WC_BLOOM_ROWCOL ||
		options->ncolumns == 0 || options->ncolumns > WC_COLUMN_SEEKS_MAX)
		return false;
	for (uint32_t i = 0; i < options->ncolumns; i++)
	{
		if (options->columns[i].kind != WC_COLUMN_EXACT)
			return false;
	}
	return true;
}

WcStatus
wc_cellsource_column(WcStore *store, const WcSourceOptions *options, WcCellSource **src, WcError *err)
{
	ColumnSource *s = calloc(1, sizeof(*s));

	*src = NULL;
	if (s != NULL)
		s->columns = malloc((options->ncolumns + 1) * sizeof(WcSlice));
	if (s == NULL || s->columns == NULL)
	{
		free(s);
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	}
	s->base.ops = &column_ops;
	s->base.family = store->family_id;
	s->base.reversed = options->reversed;
	set_columns(s, options);
	s->gone = wc_store_gone(store);
	s->cancel = options->cancel;
	s->store = wc_store_ref(store);
	s->ro = wc_source_read_options(options);
	rocksdb_readoptions_set_prefix_same_as_start(s->ro, 1);
	s->it = wc_rocks_create_iterator(wc_engine_rocks(store->engine), s->ro, store->cf);
	*src = &s->base;
	return WC_OK;
}
