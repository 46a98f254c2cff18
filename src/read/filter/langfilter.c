/*
 * read/filter/langfilter.c: filters in HBase's language: made and freed; their decisions about rows.
 */
#include "read/filter/langfilter.h"

#include "base/limits.h"
#include "read/filter/langstate.h"

/* --- rows -------------------------------------------------------------------------------------- */

static void
reset(WcLangState *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		reset(&s->children[i]);
	s->filter_row = s->node->kind == WC_LANG_PREFIX;
	s->found = s->matched = false;
	if (s->node->kind != WC_LANG_PAGE)
		s->count = 0;
	s->stamps.len = 0;
	s->hinted = s->included = s->remembers = false;
}

static void
restart(WcLangState *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		restart(&s->children[i]);
	s->done = false;
	s->count = 0;
}

static bool row_key(WcLangFilter *f, WcLangState *s, WcSlice row);

static bool
and_row_key(WcLangFilter *f, WcLangState *s, WcSlice row)
{
	bool		rejected = false;
	bool		hinting = false;

	for (uint32_t i = 0; i < s->n; i++)
	{
		if (wc_langstate_all_remaining(&s->children[i]))
			return true;
		if (row_key(f, &s->children[i], row))
			rejected = true;
		else if (wc_langlist_is_hinting(&s->children[i]))
			hinting = true;
	}
	return rejected && !hinting;
}

static bool
or_row_key(WcLangFilter *f, WcLangState *s, WcSlice row)
{
	bool		rejected = true;

	for (uint32_t i = 0; i < s->n; i++)
	{
		if (!wc_langstate_all_remaining(&s->children[i]) && !row_key(f, &s->children[i], row))
			rejected = false;
	}
	return rejected;
}

static bool
prefix_row_key(WcLangState *s, WcSlice row)
{
	WcSlice		prefix = s->node->value;
	int			c;

	if (s->done || row.len < prefix.len)
		return true;
	c = wc_slice_cmp(wc_slice(row.data, prefix.len), prefix);
	s->done = s->reversed ? c < 0 : c > 0;
	s->filter_row = c != 0;
	return s->filter_row;
}

static bool
stop_row_key(WcLangState *s, WcSlice row)
{
	int			c;

	if (s->done)
		return true;
	c = wc_slice_cmp(row, s->node->value);
	s->done = s->reversed ? c < 0 : c > 0;
	return s->done;
}

/* Behind the last range nothing is returned any more.  That is no reason to reject the row: cells decide about it. */
static void
note_row_ranges(WcLangState *s, WcSlice row)
{
	bool		behind = true;

	for (uint32_t i = 0; i < s->node->n; i += 2)
	{
		WcSlice		start = s->node->texts[i];
		WcSlice		stop = s->node->texts[i + 1];
		int			c = s->reversed ? wc_slice_cmp(start, row) : wc_slice_cmp(row, stop);
		bool		bound = s->reversed || stop.len > 0;
		bool		included = s->node->inclusive[s->reversed ? i : i + 1];

		behind = behind && bound && (c > 0 || (c == 0 && !included));
	}
	s->done |= behind;
}

/* Does the filter reject the row by its key?  SKIP does not ask the filter that it wraps. */
static bool
row_key(WcLangFilter *f, WcLangState *s, WcSlice row)
{
	bool		rejects;

	switch (s->node->kind)
	{
		case WC_LANG_AND:
			return and_row_key(f, s, row);
		case WC_LANG_OR:
			return or_row_key(f, s, row);
		case WC_LANG_WHILE:
			if (wc_langstate_all_remaining(s))
				return true;
			rejects = row_key(f, &s->children[0], row);
			s->done |= rejects;
			return rejects;
		case WC_LANG_PREFIX:
			return prefix_row_key(s, row);
		case WC_LANG_INCLUSIVE_STOP:
			return stop_row_key(s, row);
		case WC_LANG_ROW_RANGES:
			note_row_ranges(s, row);
			return false;
		case WC_LANG_ROW:
			s->filter_row |= wc_langstate_rejects(f, s, row);
			return s->filter_row;
		case WC_LANG_COLUMN_COUNT:
		case WC_LANG_PAGE:
			return wc_langstate_all_remaining(s);
		default:
			return false;
	}
}

/* Is the row rejected, behind its cells?  Those behind the one that settles it are not asked. */
static bool
filter_row(WcLangState *s)
{
	bool		rejects;

	switch (s->node->kind)
	{
		case WC_LANG_AND:
		case WC_LANG_OR:
			for (uint32_t i = 0; i < s->n; i++)
			{
				if (filter_row(&s->children[i]) == (s->node->kind == WC_LANG_AND))
					return s->node->kind == WC_LANG_AND;
			}
			return s->node->kind == WC_LANG_OR;
		case WC_LANG_WHILE:
			rejects = filter_row(&s->children[0]);
			s->done |= rejects;
			return rejects;
		case WC_LANG_PAGE:
			return ++s->count > (uint64_t) s->node->limit;
		case WC_LANG_SINGLE_VALUE:
		case WC_LANG_SINGLE_VALUE_EXCLUDE:
			return s->found ? !s->matched : s->node->flags[0];
		default:
			return s->filter_row;
	}
}

static bool
has_stamp(const WcLangState *s, int64_t ts)
{
	const int64_t *stamps = (const int64_t *) s->stamps.data;
	size_t		low = 0;
	size_t		high = s->stamps.len / sizeof(int64_t);
	size_t		n = high;

	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;

		if (stamps[middle] > ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && stamps[low] == ts;
}

/* Does the filter leave the cell in a row that passes?  SKIP and WHILE do not ask the filters that they wrap. */
static bool
keeps(const WcLangState *s, const WcLangCell *cell)
{
	switch (s->node->kind)
	{
		case WC_LANG_AND:
		case WC_LANG_OR:
			for (uint32_t i = 0; i < s->n; i++)
			{
				if (!keeps(&s->children[i], cell))
					return false;
			}
			return true;
		case WC_LANG_SINGLE_VALUE_EXCLUDE:
			return !(wc_slice_eq(cell->family, s->node->family) && wc_slice_eq(cell->qualifier, s->node->qualifier));
		case WC_LANG_DEPENDENT:
			return has_stamp(s, cell->ts);
		default:
			return true;
	}
}

static WcSlice
transform(const WcLangState *s, WcSlice value, uint8_t scratch[4])
{
	uint32_t	len = (uint32_t) value.len;

	switch (s->node->kind)
	{
		case WC_LANG_KEY_ONLY:
			if (!s->node->flags[0])
				return wc_slice(NULL, 0);
			scratch[0] = (uint8_t) (len >> 24);
			scratch[1] = (uint8_t) (len >> 16);
			scratch[2] = (uint8_t) (len >> 8);
			scratch[3] = (uint8_t) len;
			return wc_slice(scratch, 4);
		case WC_LANG_AND:
		case WC_LANG_OR:
		case WC_LANG_SKIP:
		case WC_LANG_WHILE:
			for (uint32_t i = 0; i < s->n; i++)
			{
				if (s->node->kind != WC_LANG_OR || s->children[i].included)
					value = transform(&s->children[i], value, scratch);
			}
			return value;
		default:
			return value;
	}
}

static bool
needs_family(const WcLangState *s, WcSlice family)
{
	switch (s->node->kind)
	{
		case WC_LANG_AND:
		case WC_LANG_OR:
		case WC_LANG_SKIP:
		case WC_LANG_WHILE:
			for (uint32_t i = 0; i < s->n; i++)
			{
				if (needs_family(&s->children[i], family))
					return true;
			}
			return false;
		case WC_LANG_SINGLE_VALUE:
		case WC_LANG_SINGLE_VALUE_EXCLUDE:
			return !s->node->flags[0] || wc_slice_eq(family, s->node->family);
		case WC_LANG_COLUMN_VALUE:
			return wc_slice_eq(family, s->node->family);
		default:
			return true;
	}
}

/* --- creation ------------------------------------------------------------------------------------ */

static bool
decides_rows(WcLangKind kind)
{
	return kind == WC_LANG_SINGLE_VALUE || kind == WC_LANG_SINGLE_VALUE_EXCLUDE || kind == WC_LANG_DEPENDENT ||
		kind == WC_LANG_PAGE || kind == WC_LANG_SKIP || kind == WC_LANG_WHILE;
}

static WcStatus
set_regex(WcLangState *s, WcError *err)
{
	const WcLangNode *node = s->node;

	if (node->op == WC_LANG_NO_OP)
		return WC_OK;
	switch (node->comparator)
	{
		case WC_LANG_REGEX:
			return wc_regex_create(node->value, WC_REGEX_JAVA, &s->regex, err);
		case WC_LANG_REGEX_NOCASE:
			return wc_regex_create(node->value, WC_REGEX_JAVA_NOCASE, &s->regex, err);
		case WC_LANG_SUBSTRING:
			return wc_regex_create(node->value, WC_REGEX_TEXT_NOCASE, &s->regex, err);
		default:
			return WC_OK;
	}
}

static WcStatus
set_state(WcLangFilter *f, WcArena *arena, const WcLangNode *node, bool reversed, WcLangState *s, WcError *err)
{
	bool		wraps = node->kind <= WC_LANG_WHILE;
	WcStatus	status;

	s->node = node;
	s->reversed = reversed;
	wc_buf_init(&s->stamps, WC_FILTER_ROW_MAX);
	f->decides_rows |= decides_rows(node->kind);
	f->watches_cells |= node->kind == WC_LANG_WHILE || node->kind == WC_LANG_COLUMN_COUNT;
	status = set_regex(s, err);
	if (!wraps || status != WC_OK)
		return status;
	s->children = wc_arena_alloc_zero(arena, sizeof(WcLangState) * node->n);
	if (s->children == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a filter");
	s->n = node->n;
	for (uint32_t i = 0; i < s->n; i++)
		s->children[i].node = node->children[i];
	for (uint32_t i = 0; i < s->n && status == WC_OK; i++)
		status = set_state(f, arena, node->children[i], reversed && node->kind <= WC_LANG_OR, &s->children[i], err);
	return status;
}

static void
free_state(WcLangState *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free_state(&s->children[i]);
	wc_regex_free(s->regex);
	wc_buf_free(&s->stamps);
	wc_buf_free(&s->qualifier);
}

WcStatus
wc_langfilter_create(WcArena *arena, WcSlice text, bool reversed, const atomic_bool *cancel, WcLangFilter **filter, WcError *err)
{
	WcLangFilter *f = wc_arena_alloc_zero(arena, sizeof(*f));
	WcLangNode *node;
	WcStatus	status;

	*filter = NULL;
	if (f == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a filter");
	status = wc_filterlang_parse(text, arena, &node, err);
	if (status != WC_OK)
		return status;
	f->reversed = reversed;
	f->cancel = cancel;
	status = set_state(f, arena, node, reversed, &f->root, err);
	if (status != WC_OK)
	{
		wc_langfilter_free(f);
		return status;
	}
	*filter = f;
	return WC_OK;
}

void
wc_langfilter_free(WcLangFilter *f)
{
	if (f != NULL)
		free_state(&f->root);
}

/* --- for scans ------------------------------------------------------------------------------------ */

bool
wc_langfilter_decides_rows(const WcLangFilter *f)
{
	return f->decides_rows;
}

bool
wc_langfilter_watches_cells(const WcLangFilter *f)
{
	return f->watches_cells;
}

bool
wc_langfilter_needs_family(const WcLangFilter *f, WcSlice family)
{
	return needs_family(&f->root, family);
}

void
wc_langfilter_restart(WcLangFilter *f)
{
	restart(&f->root);
}

void
wc_langfilter_reset(WcLangFilter *f)
{
	reset(&f->root);
}

bool
wc_langfilter_all_remaining(const WcLangFilter *f)
{
	return wc_langstate_all_remaining(&f->root);
}

WcStatus
wc_langfilter_row_key(WcLangFilter *f, WcSlice row, bool *rejects, WcError *err)
{
	f->status = WC_OK;
	f->err = err;
	*rejects = row_key(f, &f->root, row);
	return f->status;
}

WcStatus
wc_langfilter_cell(WcLangFilter *f, const WcLangCell *cell, WcLangCode *code, WcError *err)
{
	f->status = WC_OK;
	f->err = err;
	*code = wc_langstate_cell(f, &f->root, cell);
	return f->status;
}

bool
wc_langfilter_hint(WcLangFilter *f, const WcLangCell *cell, WcSlice *qualifier)
{
	WcLangHint	hint;

	/* in a reversed scan a hint would have to be before the cell, and is not */
	if (f->reversed || !wc_langstate_hint(f, &f->root, cell, &hint) || hint.place != cell->place)
		return false;
	*qualifier = hint.qualifier;
	return wc_slice_cmp(hint.qualifier, cell->qualifier) > 0;
}

WcSlice
wc_langfilter_transform(WcLangFilter *f, WcSlice value, uint8_t scratch[4])
{
	return transform(&f->root, value, scratch);
}

bool
wc_langfilter_keeps(const WcLangFilter *f, const WcLangCell *cell)
{
	return keeps(&f->root, cell);
}

bool
wc_langfilter_row(WcLangFilter *f)
{
	return filter_row(&f->root);
}
