/*
 * read/scan/langrows.c: the rows of a scan that has a filter in HBase's language.
 */
#include "read/scan/langrows.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/printable.h"
#include "read/filter/langfilter.h"

/* Of a row key in a message. */
#define SHOWN_MAX 128

/* Additional state of a family. */
struct WcLangFamily
{
	bool		closed;			/* the family is not read any more */
	bool		needed;			/* the filter needs it to decide on a row */
	bool		whole;			/* all its columns are wanted */

	/* in the row */
	bool		leaves;			/* no more cells of the family are wanted in this row */
	bool		in_column;		/* column is the one of the last visible cell */
	bool		skips;			/* nothing more is wanted of that */
	bool		seeks;			/* nothing is wanted before target */
	uint32_t	included;		/* cells of the column, for versions */
	WcBuf		column;
	WcSlice		target;			/* the filter's bytes */
	uint8_t		scratch[4];		/* of a transformed value */
};

/* A cell that the filter has let through, its bytes in WcLangRows.bytes. */
typedef struct Gathered
{
	uint32_t	family;			/* place in the lane's families */
	uint32_t	colno;
	WcCell		cell;
	size_t		at;				/* offset of the qualifier, after which is the value */
} Gathered;

struct WcLangRows
{
	WcLangFilter *filter;
	bool		gathers;
	WcBuf		bytes;
	WcBuf		cells;			/* Gathered */
	uint32_t	next;			/* to give */
};

/* --- opening ------------------------------------------------------------------------------------ */

WcStatus
wc_langrows_create(WcScanner *s, WcError *err)
{
	WcStatus	status;

	if (s->scan.filter_text.len == 0)
		return WC_OK;
	s->lang = wc_arena_alloc_zero(&s->arena, sizeof(*s->lang));
	if (s->lang == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a filter");
	wc_buf_init(&s->lang->bytes, WC_FILTER_ROW_MAX);
	status = wc_langfilter_create(&s->arena, s->scan.filter_text, s->scan.reversed, &s->lang->filter, err);
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
wc_langrows_family(WcScanner *s, WcFamilyScan *f, WcError *err)
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
wc_langrows_free(WcScanner *s)
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

bool
wc_langrows_gathers(const WcScanner *s)
{
	return s->lang != NULL && s->lang->gathers;
}

/* --- cells -------------------------------------------------------------------------------------- */

static WcLangCell
lang_cell(const WcScanner *s, const WcFamilyScan *f, const WcCell *cell)
{
	return (WcLangCell) {
		.row = s->lane->row,.place = f->place,.family = f->family->name,.qualifier = cell->qualifier,
		.value = cell->value,.ts = cell->ts
	};
}

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

/* A comparison has failed: sets the error's place; f NULL: the row's key. */
static WcStatus
name_place(const WcScanner *s, const WcFamilyScan *f, WcStatus status, WcError *err)
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
	WcLangCell	cell = lang_cell(s, f, &f->cell);
	WcLangCode	code;
	WcStatus	status = wc_langfilter_cell(s->lang->filter, &cell, &code, err);

	*given = false;
	if (status != WC_OK)
		return name_place(s, f, status, err);
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
wc_langrows_next_cell(WcScanner *s, WcFamilyScan *f, WcError *err)
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

/* --- rows --------------------------------------------------------------------------------------- */

/* The row's cells that the filter has let through, behind one another. */
static WcStatus
gather(WcScanner *s, uint32_t family, WcError *err)
{
	WcLangRows *lang = s->lang;
	WcFamilyScan *f = &s->lane->families[family];
	char		shown[SHOWN_MAX];

	for (;;)
	{
		WcStatus	status = wc_scanner_advance(s, f, err);
		Gathered	g = {.family = family,.colno = f->colno,.cell = f->cell,.at = lang->bytes.len};

		if (status != WC_OK || !f->has_cell)
			return status;
		f->has_cell = false;
		f->given++;
		wc_buf_append_slice(&lang->bytes, f->cell.qualifier);
		wc_buf_append_slice(&lang->bytes, f->cell.value);
		wc_buf_append(&lang->cells, &g, sizeof(g));
		if (lang->cells.failed)
			return wc_buf_status(&lang->cells, "cells of a row", err);
		if (!lang->bytes.failed)
			continue;
		if (lang->bytes.wanted <= WC_FILTER_ROW_MAX)
			return wc_buf_status(&lang->bytes, "cells of a row", err);
		wc_error(err, WC_TOO_LARGE, "row \"%s\" is too large for a filter that decides on whole rows",
				 wc_printable(shown, sizeof(shown), s->lane->row));
		wc_error_detail(err, "It lets through more than %d bytes of the row.", WC_FILTER_ROW_MAX);
		return WC_TOO_LARGE;
	}
}

static WcStatus
gather_families(WcScanner *s, bool needed, WcError *err)
{
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; i < s->nfamilies && status == WC_OK; i++)
	{
		const WcFamilyScan *f = &s->lane->families[i];

		if (f->here && f->lang->needed == needed)
			status = gather(s, i, err);
	}
	return status;
}

static inline uint32_t
ngathered(const WcScanner *s)
{
	return (uint32_t) (s->lang->cells.len / sizeof(Gathered));
}

/* A gathered cell with its bytes where they are now. */
static WcCell
gathered_cell(const WcScanner *s, const Gathered *g)
{
	WcCell		cell = g->cell;
	const uint8_t *bytes = s->lang->bytes.data + g->at;

	cell.row = s->lane->row;
	cell.qualifier = wc_slice(bytes, g->cell.qualifier.len);
	cell.value = wc_slice(bytes + g->cell.qualifier.len, g->cell.value.len);
	return cell;
}

/* Drops the cells that the filter does not keep. */
static void
drop_cells(WcScanner *s)
{
	Gathered   *cells = (Gathered *) s->lang->cells.data;
	uint32_t	n = 0;

	for (uint32_t i = 0; i < ngathered(s); i++)
	{
		WcCell		cell = gathered_cell(s, &cells[i]);
		WcLangCell	shown = lang_cell(s, &s->lane->families[cells[i].family], &cell);

		if (wc_langfilter_keeps(s->lang->filter, &shown))
			cells[n++] = cells[i];
	}
	s->lang->cells.len = n * sizeof(Gathered);
}

static int
compare_gathered(const void *a, const void *b)
{
	const Gathered *x = a;
	const Gathered *y = b;

	if (x->family != y->family)
		return (x->family > y->family) - (x->family < y->family);
	return (x->at > y->at) - (x->at < y->at);
}

/* All that is returned of the row; *exists: something is. */
static WcStatus
gather_row(WcScanner *s, bool *exists, WcError *err)
{
	WcLangRows *lang = s->lang;
	WcStatus	status;

	*exists = false;
	lang->next = 0;
	wc_buf_reset(&lang->bytes, WC_BLOCK_MAX);
	wc_buf_reset(&lang->cells, WC_BLOCK_MAX);
	status = gather_families(s, true, err);
	if (status != WC_OK || ngathered(s) == 0)
		return status;
	if (wc_langfilter_decides_rows(lang->filter))
		drop_cells(s);
	/* of a row without a cell left HBase does not ask whether it is rejected */
	if (ngathered(s) > 0 && wc_langfilter_row(lang->filter))
		return WC_OK;
	status = gather_families(s, false, err);
	if (status != WC_OK)
		return status;
	*exists = ngathered(s) > 0;
	if (*exists)
		qsort(lang->cells.data, ngathered(s), sizeof(Gathered), compare_gathered);
	return WC_OK;
}

/* Is there a cell to return?  Then the first one is the current one. */
static WcStatus
find_cell(WcScanner *s, bool *exists, WcError *err)
{
	WcStatus	status = WC_OK;

	*exists = false;
	for (s->family = 0; s->family < s->nfamilies && status == WC_OK && !*exists; s->family += !*exists)
	{
		WcFamilyScan *f = &s->lane->families[s->family];

		status = wc_scanner_advance(s, f, err);
		*exists = f->has_cell;
	}
	return status;
}

/* Shows the filter the cells of a row that it has rejected by its key: one of them may end the scan. */
static WcStatus
show_rejected(WcScanner *s, WcError *err)
{
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; i < s->nfamilies && status == WC_OK; i++)
	{
		WcFamilyScan *f = &s->lane->families[i];

		if (!f->here || !f->lang->needed)
			continue;
		do
		{
			f->given += f->has_cell;
			f->has_cell = false;
			status = wc_scanner_advance(s, f, err);
		} while (status == WC_OK && f->has_cell);
	}
	return status;
}

/* Another row.  Does the filter see it?  Only where a family has it that it needs to decide. */
static bool
start_row(WcScanner *s)
{
	bool		seen = false;

	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		WcFamilyScan *f = &s->lane->families[i];
		struct WcLangFamily *l = f->lang;

		l->leaves = l->in_column = l->skips = l->seeks = false;
		f->drained |= l->closed;
		seen |= f->here && l->needed && !l->closed;
	}
	return seen;
}

/* Another Get of several: to its filter the row is the first. */
static void
restart(WcScanner *s)
{
	wc_langfilter_restart(s->lang->filter);
	for (uint32_t i = 0; i < s->nfamilies; i++)
		s->lane->families[i].lang->closed = false;
}

/* Is any family left of which the filter may let something through? */
static bool
is_over(const WcScanner *s)
{
	if (wc_langfilter_all_remaining(s->lang->filter))
		return true;
	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		const struct WcLangFamily *l = s->lane->families[i].lang;

		if (l->needed && !l->closed)
			return false;
	}
	return true;
}

/* Moves to the next stored row and passes its key to the filter; *found: the filter does not reject the key. */
static WcStatus
next_stored_row(WcScanner *s, bool *found, WcError *err)
{
	bool		rejects;
	WcStatus	status = WC_END;

	*found = false;
	if (s->lane->points)
		restart(s);
	wc_langfilter_reset(s->lang->filter);
	if (!is_over(s))
		status = wc_scanlanes_next(s, err);
	if (status != WC_OK || !start_row(s))
		return status;
	status = name_place(s, NULL, wc_langfilter_row_key(s->lang->filter, s->lane->row, &rejects, err), err);
	*found = status == WC_OK && !rejects;
	if (status != WC_OK || *found)
		return status;
	if (wc_langfilter_all_remaining(s->lang->filter))
		return s->lane->points ? WC_OK : WC_END;
	return !s->scan.reversed && wc_langfilter_watches_cells(s->lang->filter) ? show_rejected(s, err) : WC_OK;
}

WcStatus
wc_langrows_next_row(WcScanner *s, bool may_pause, bool *paused, WcError *err)
{
	*paused = false;
	for (uint32_t rejected = 0;; rejected++)
	{
		bool		exists;
		WcStatus	status;

		*paused = may_pause && rejected == WC_REJECTED_MAX;
		if (*paused)
			return WC_OK;
		status = next_stored_row(s, &exists, err);
		if (status == WC_END)
			s->done = true;
		if (status == WC_OK && exists)
			status = s->lang->gathers ? gather_row(s, &exists, err) : find_cell(s, &exists, err);
		if (status != WC_OK || exists)
			return status;
	}
}

/* --- the row's cells ------------------------------------------------------------------------------ */

bool
wc_langrows_peek(WcScanner *s, WcCell *cell, uint32_t *colno, WcFamilyScan **f)
{
	const Gathered *g = (const Gathered *) s->lang->cells.data + s->lang->next;

	if (s->lang->next == ngathered(s))
		return false;
	*cell = gathered_cell(s, g);
	*colno = g->colno;
	*f = &s->lane->families[g->family];
	return true;
}

void
wc_langrows_take(WcScanner *s)
{
	s->lang->next++;
}
