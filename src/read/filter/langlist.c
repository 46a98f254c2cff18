/*
 * read/filter/langlist.c: filters of filters: AND and OR (HBase's FilterListWithAND and FilterListWithOR), SKIP, WHILE.
 */
#include "read/filter/langstate.h"

bool
wc_langlist_is_hinting(const WcLangState *s)
{
	switch (s->node->kind)
	{
		case WC_LANG_COLUMN_PREFIX:
		case WC_LANG_COLUMN_PREFIXES:
		case WC_LANG_COLUMN_RANGE:
		case WC_LANG_TIMESTAMPS:
		case WC_LANG_FUZZY_ROW:
		case WC_LANG_ROW_RANGES:
			return true;
		default:
			return false;
	}
}

/* The order of places in a scan: backwards HBase takes it the other way round, in a row too. */
static int
compare_places(const WcLangState *s, uint32_t a_place, WcSlice a, uint32_t b_place, WcSlice b)
{
	int			c = a_place != b_place ? (a_place > b_place) - (a_place < b_place) : wc_slice_cmp(a, b);

	return s->reversed ? -c : c;
}

/* --- AND -------------------------------------------------------------------------------------- */

/* How far a code goes beyond its cell: 0 to the next, 1 to the next column, 2 to the next row. */
static int
step(WcLangCode code)
{
	switch (code)
	{
		case WC_LANG_INCLUDE_NEXT_COLUMN:
		case WC_LANG_NEXT_COLUMN:
			return 1;
		case WC_LANG_INCLUDE_NEXT_ROW:
		case WC_LANG_NEXT_ROW:
			return 2;
		default:
			return 0;
	}
}

static WcLangCode
code_of(bool includes, int steps)
{
	static const WcLangCode codes[2][3] = {
		{WC_LANG_SKIPPED, WC_LANG_NEXT_COLUMN, WC_LANG_NEXT_ROW},
		{WC_LANG_INCLUDE, WC_LANG_INCLUDE_NEXT_COLUMN, WC_LANG_INCLUDE_NEXT_ROW}
	};

	return codes[includes][steps];
}

/* Both have to include, and the farther step is taken. */
static WcLangCode
merge_and(WcLangCode a, WcLangCode b)
{
	if (a == WC_LANG_SEEK || b == WC_LANG_SEEK)
		return WC_LANG_SEEK;
	if (b == WC_LANG_NEXT_ROW)
		return b;
	return code_of(wc_lang_includes(a) && wc_lang_includes(b), step(a) > step(b) ? step(a) : step(b));
}

static WcLangCode
list_and(WcLangFilter *f, WcLangState *s, const WcLangCell *cell)
{
	WcLangCode	code = WC_LANG_INCLUDE;
	bool		hinted = false;
	uint32_t	i;

	for (i = 0; i < s->n; i++)
		s->children[i].hinted = false;
	for (i = 0; i < s->n && wc_lang_includes(code); i++)
	{
		WcLangState *child = &s->children[i];

		if (wc_langstate_all_remaining(child))
		{
			code = WC_LANG_NEXT_ROW;
			continue;
		}
		code = merge_and(code, wc_langstate_cell(f, child, cell));
		child->hinted = code == WC_LANG_SEEK;
		hinted |= child->hinted;
	}

	/* children that give hints are called nevertheless */
	for (; i < s->n; i++)
	{
		WcLangState *child = &s->children[i];

		child->hinted = wc_langlist_is_hinting(child) && wc_langstate_cell(f, child, cell) == WC_LANG_SEEK;
		hinted |= child->hinted;
	}
	return hinted ? WC_LANG_SEEK : code;
}

static bool
list_and_hint(WcLangFilter *f, WcLangState *s, const WcLangCell *cell, WcLangHint *hint)
{
	bool		any = false;

	for (uint32_t i = 0; i < s->n; i++)
	{
		WcLangState *child = &s->children[i];
		WcLangHint	h;

		if (!child->hinted || wc_langstate_all_remaining(child) || !wc_langstate_hint(f, child, cell, &h))
			continue;
		if (!any || compare_places(s, hint->place, hint->qualifier, h.place, h.qualifier) < 0)
			*hint = h;
		any = true;
	}
	return any;
}

/* --- OR --------------------------------------------------------------------------------------- */

/* One that includes is enough, and the shorter step is taken. */
static WcLangCode
merge_or(WcLangCode a, WcLangCode b)
{
	if (a == WC_LANG_SEEK && b == WC_LANG_SEEK)
		return a;
	if (a == WC_LANG_INCLUDE || b == WC_LANG_INCLUDE)
		return WC_LANG_INCLUDE;
	return code_of(wc_lang_includes(a) || wc_lang_includes(b), step(a) < step(b) ? step(a) : step(b));
}

/* Does the child's answer to an earlier cell decide this cell, too?  Then the child is not asked again, because it would
 * count the cell. */
static bool
remembered(WcLangFilter *f, WcLangState *child, const WcLangCell *cell, WcLangCode *code)
{
	WcLangCell	prev = *cell;
	WcLangHint	hint;
	int			c;

	if (!child->remembers)
		return false;
	prev.place = child->place;
	prev.qualifier = wc_buf_slice(&child->qualifier);
	switch (child->code)
	{
		case WC_LANG_SEEK:
			*code = WC_LANG_SEEK;
			if (!wc_langstate_hint(f, child, &prev, &hint))
				return false;
			/* a hint is before its column's cells */
			c = compare_places(child, cell->place, cell->qualifier, hint.place, hint.qualifier);
			return c < 0 || (c == 0 && child->reversed);
		case WC_LANG_NEXT_COLUMN:
		case WC_LANG_INCLUDE_NEXT_COLUMN:
			*code = WC_LANG_NEXT_COLUMN;
			return prev.place == cell->place && wc_slice_eq(prev.qualifier, cell->qualifier);
		default:
			*code = WC_LANG_NEXT_ROW;
			return prev.place == cell->place;
	}
}

static void
remember(WcLangFilter *f, WcLangState *child, const WcLangCell *cell, WcLangCode code)
{
	child->code = code;
	child->remembers = code != WC_LANG_INCLUDE && code != WC_LANG_SKIPPED;
	if (!child->remembers)
		return;
	child->place = cell->place;
	child->qualifier.len = 0;
	wc_buf_append_slice(&child->qualifier, cell->qualifier);
	if (child->qualifier.failed && f->status == WC_OK)
		f->status = wc_buf_status(&child->qualifier, "qualifier", f->err);
}

static WcLangCode
list_or(WcLangFilter *f, WcLangState *s, const WcLangCell *cell)
{
	WcLangCode	code = WC_LANG_SKIPPED;
	bool		any = false;

	for (uint32_t i = 0; i < s->n; i++)
	{
		WcLangState *child = &s->children[i];
		WcLangCode	its;

		child->included = false;
		if (wc_langstate_all_remaining(child))
			continue;
		if (!remembered(f, child, cell, &its))
			its = wc_langstate_cell(f, child, cell);
		remember(f, child, cell, its);
		code = any ? merge_or(code, its) : its;
		any = true;
		child->included = wc_lang_includes(its);
	}
	return code;
}

static bool
list_or_hint(WcLangFilter *f, WcLangState *s, const WcLangCell *cell, WcLangHint *hint)
{
	bool		any = false;

	for (uint32_t i = 0; i < s->n; i++)
	{
		WcLangState *child = &s->children[i];
		WcLangHint	h;

		if (wc_langstate_all_remaining(child))
			continue;
		if (!wc_langstate_hint(f, child, cell, &h))
			return false;
		if (!any || compare_places(s, hint->place, hint->qualifier, h.place, h.qualifier) > 0)
			*hint = h;
		any = true;
	}
	return any;
}

/* --- SKIP and WHILE --------------------------------------------------------------------------- */

/* *noted, once something is not just included. */
static WcLangCode
wrapped(WcLangFilter *f, WcLangState *s, const WcLangCell *cell, bool *noted)
{
	WcLangCode	code = wc_langstate_cell(f, &s->children[0], cell);

	*noted |= code != WC_LANG_INCLUDE;
	return code;
}

/* --- any filter ------------------------------------------------------------------------------- */

WcLangCode
wc_langstate_cell(WcLangFilter *f, WcLangState *s, const WcLangCell *cell)
{
	switch (s->node->kind)
	{
		case WC_LANG_AND:
			return list_and(f, s, cell);
		case WC_LANG_OR:
			return list_or(f, s, cell);
		case WC_LANG_SKIP:
			return wrapped(f, s, cell, &s->filter_row);
		case WC_LANG_WHILE:
			return wrapped(f, s, cell, &s->done);
		default:
			return wc_langcell_decide(f, s, cell);
	}
}

bool
wc_langstate_hint(WcLangFilter *f, WcLangState *s, const WcLangCell *cell, WcLangHint *hint)
{
	hint->place = cell->place;
	switch (s->node->kind)
	{
		case WC_LANG_AND:
			return list_and_hint(f, s, cell, hint);
		case WC_LANG_OR:
			return list_or_hint(f, s, cell, hint);
		default:
			return wc_langcell_hint(s, hint);
	}
}
