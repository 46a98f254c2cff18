/*
 * read/scan/langcells.c: the cells that a filter in HBase's language lets through.
 */
#include "read/scan/langcells.h"

#include "base/printable.h"

/* Of a row key in a message. */
#define SHOWN_MAX 128

/* --- opening ------------------------------------------------------------------------------------ */

WcStatus
wc_langcells_create(WcScanner *s, WcError *err)
{
	WcStatus	status;

	if (s->scan.filter_text.len == 0)
		return WC_OK;
	s->lang = wc_arena_alloc_zero(&s->arena, sizeof(*s->lang));
	if (s->lang == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a filter");
	wc_buf_init(&s->lang->bytes, WC_FILTER_ROW_MAX);
	status = wc_langfilter_create(&s->arena, s->scan.filter_text, s->scan.reversed, s->at.cancel, &s->lang->filter, err);
	if (status != WC_OK)
		return status;
	s->lang->gathers = wc_langfilter_decides_rows(s->lang->filter);
	if (s->scan.nranges == 0)
		s->scan.ranges = wc_arena_alloc_zero(&s->arena, sizeof(WcRange));
	if (s->scan.ranges == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a filter");
	s->scan.nranges += s->scan.nranges == 0;
	if (s->scan.nranges == 1 && !wc_langfilter_narrow(s->lang->filter, &s->arena, &s->scan.ranges[0]))
		return wc_error(err, WC_NO_MEMORY, "out of memory for a filter");
	return WC_OK;
}

WcStatus
wc_langcells_family(WcScanner *s, WcFamilyScan *f, WcError *err)
{
	if (s->lang == NULL)
		return WC_OK;
	f->lang = wc_arena_alloc_zero(&s->arena, sizeof(*f->lang));
	if (f->lang == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a filter");
	f->lang->needed = s->scan.reversed || wc_langfilter_needs_family(s->lang->filter, f->family->name);
	f->lang->whole = s->scan.ncolumns == 0;
	for (uint32_t i = 0; i < s->scan.ncolumns; i++)
		f->lang->whole |= s->scan.columns[i].family == f->family->id && s->scan.columns[i].kind == WC_COLUMN_FAMILY;
	s->lang->gathers |= !f->lang->needed;
	return WC_OK;
}

void
wc_langcells_free(WcScanner *s)
{
	if (s->lang == NULL)
		return;
	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		if (s->lane->families[i].lang != NULL)
			wc_buf_free(&s->lane->families[i].lang->column);
	}
	wc_langfilter_free(s->lang->filter);
	wc_buf_free(&s->lang->bytes);
	wc_buf_free(&s->lang->cells);
}

/* --- cells -------------------------------------------------------------------------------------- */

/* Of how many versions the filter has to let through are returned? */
static uint32_t
versions(const WcScanner *s, const WcFamilyScan *f)
{
	uint32_t	kept = f->family->attrs.versions;

	return s->scan.raw || s->scan.versions < kept ? s->scan.versions : kept;
}

/*
 * May the rest of the column be skipped?  The column with an empty name also has the family's markers: HBase's filters
 * get its remaining cells nevertheless, unless the Scan names the column.
 */
static inline bool
may_skip(const struct WcLangFamily *l)
{
	return l->column.len > 0 || !l->whole;
}

static WcStatus
leave_column(WcFamilyScan *f, WcError *err)
{
	struct WcLangFamily *l = f->lang;

	l->skips = may_skip(l);
	return l->column.len > 0 ? wc_storescan_pass_to(f->scan, wc_buf_slice(&l->column), true, err) : WC_OK;
}

static WcStatus
seek(WcScanner *s, WcFamilyScan *f, const WcLangCell *cell, WcError *err)
{
	struct WcLangFamily *l = f->lang;

	if (!wc_langfilter_hint(s->lang->filter, cell, &l->target))
		return WC_OK;
	l->seeks = true;
	return l->column.len > 0 ? wc_storescan_pass_to(f->scan, l->target, false, err) : WC_OK;
}

/* Notes which column the visible cell is in; *wanted: nothing has been said against it. */
static WcStatus
note_column(WcFamilyScan *f, bool *wanted, WcError *err)
{
	struct WcLangFamily *l = f->lang;

	if (!l->in_column || !wc_slice_eq(f->cell.qualifier, wc_buf_slice(&l->column)))
	{
		l->in_column = true;
		l->skips = false;
		l->included = 0;
		l->column.len = 0;
		wc_buf_append_slice(&l->column, f->cell.qualifier);
		if (l->column.failed)
			return wc_buf_status(&l->column, "qualifier", err);
	}
	l->seeks = l->seeks && wc_slice_cmp(f->cell.qualifier, l->target) < 0;
	*wanted = !l->skips && !l->seeks;
	return WC_OK;
}

WcStatus
wc_langcells_name_place(const WcScanner *s, const WcFamilyScan *f, WcStatus status, WcError *err)
{
	char		table[2 * WC_NAME_MAX + 2];
	char		row[SHOWN_MAX];
	char		qualifier[SHOWN_MAX];
	const char *blank = err != NULL && err->detail[0] != '\0' ? " " : "";

	if (err == NULL || (status != WC_BAD_DATA && status != WC_TOO_LARGE))
		return status;
	wc_table_desc_fullname(&s->table->desc, table, sizeof(table));
	wc_printable(row, sizeof(row), s->lane->row);
	if (f == NULL)
		wc_error_detail(err, "%s%sThat was the key of row \"%s\" of stored table \"%s\".", err->detail, blank, row, table);
	else
		wc_error_detail(err, "%s%sThat was in row \"%s\", column \"%.*s:%s\" of stored table \"%s\".", err->detail, blank, row,
						(int) f->family->name.len, (const char *) f->family->name.data,
						wc_printable(qualifier, sizeof(qualifier), f->cell.qualifier), table);
	return status;
}

/* Passes the cell to the filter; *given: the cell is returned. */
static WcStatus
ask(WcScanner *s, WcFamilyScan *f, bool *given, WcError *err)
{
	struct WcLangFamily *l = f->lang;
	WcLangCell	cell = wc_lang_cell(s, f, &f->cell);
	WcLangCode	code;
	WcStatus	status = wc_langfilter_cell(s->lang->filter, &cell, &code, err);

	*given = false;
	if (status != WC_OK)
		return wc_langcells_name_place(s, f, status, err);
	switch (code)
	{
		case WC_LANG_INCLUDE:
		case WC_LANG_INCLUDE_NEXT_COLUMN:
		case WC_LANG_INCLUDE_NEXT_ROW:
			f->cell.value = wc_langfilter_transform(s->lang->filter, f->cell.value, l->scratch);
			*given = ++l->included <= versions(s, f);
			l->leaves = code == WC_LANG_INCLUDE_NEXT_ROW;
			l->skips = (code == WC_LANG_INCLUDE_NEXT_COLUMN || !*given) && may_skip(l);
			return WC_OK;
		case WC_LANG_SKIPPED:
			return WC_OK;
		case WC_LANG_NEXT_COLUMN:
			return leave_column(f, err);
		case WC_LANG_NEXT_ROW:
			l->leaves = true;
			return WC_OK;
		case WC_LANG_SEEK:
			return seek(s, f, &cell, err);
	}
	return WC_OK;
}

WcStatus
wc_langcells_next(WcScanner *s, WcFamilyScan *f, WcError *err)
{
	struct WcLangFamily *l = f->lang;

	for (;;)
	{
		bool		given = false;
		WcStatus	status;

		/* in HBase the family's scanner is closed, for good, when it looks at another cell then */
		if (wc_langfilter_all_remaining(s->lang->filter))
			l->closed = true;
		if (l->closed || l->leaves)
			return WC_END;
		status = wc_storescan_next(f->scan, &f->cell, &f->colno, err);
		if (status == WC_OK)
			status = note_column(f, &given, err);
		if (status != WC_OK)
			return status;
		if (given)
			status = ask(s, f, &given, err);
		if (status != WC_OK || given)
			return status;
	}
}

/* --- gathered cells ------------------------------------------------------------------------------ */

bool
wc_langcells_gathers(const WcScanner *s)
{
	return s->lang != NULL && s->lang->gathers;
}

bool
wc_langcells_peek(WcScanner *s, WcCell *cell, uint32_t *colno, WcFamilyScan **f)
{
	const WcLangGathered *g = (const WcLangGathered *) s->lang->cells.data + s->lang->next;

	if (s->lang->next == wc_langcells_gathered(s))
		return false;
	*cell = wc_lang_gathered_cell(s, g);
	*colno = g->colno;
	*f = &s->lane->families[g->family];
	return true;
}

void
wc_langcells_take(WcScanner *s)
{
	s->lang->next++;
}
