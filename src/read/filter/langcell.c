/*
 * read/filter/langcell.c: the decisions of single filters in HBase's language about cells.
 */
#include "base/coding.h"
#include "base/limits.h"
#include "read/filter/langstate.h"

/* --- comparisons ------------------------------------------------------------------------------- */

static void
failed(WcLangFilter *f, WcStatus status)
{
	if (f->status == WC_OK)
		f->status = status;
}

static int
compare_long(WcLangFilter *f, int64_t number, WcSlice bytes)
{
	int64_t		that;

	if (bytes.len != 8)
	{
		failed(f, wc_error(f->err, WC_BAD_DATA, "comparator \"long:\" of a filter cannot compare %zu %s", bytes.len,
						   wc_bytes_word(bytes.len)));
		wc_error_detail(f->err, "It compares numbers of 8 bytes.");
		return 1;
	}
	that = (int64_t) wc_load_u64(bytes.data);
	return (number > that) - (number < that);
}

/* The comparator with the bytes: less than 0, 0, more than 0. */
static int
compare(WcLangFilter *f, WcLangState *s, WcSlice bytes)
{
	WcSlice		value = s->node->value;
	bool		found = false;
	WcStatus	status;

	switch (s->node->comparator)
	{
		case WC_LANG_BINARY:
			return wc_slice_cmp(value, bytes);
		case WC_LANG_BINARY_PREFIX:
			return wc_slice_cmp(value, wc_slice(bytes.data, value.len < bytes.len ? value.len : bytes.len));
		case WC_LANG_LONG:
			return compare_long(f, s->node->number, bytes);
		default:
			status = wc_regex_find(s->regex, bytes, f->cancel, &found, f->status == WC_OK ? f->err : NULL);
			if (status != WC_OK)
				failed(f, status);
			return found ? 0 : 1;
	}
}

bool
wc_langstate_rejects(WcLangFilter *f, WcLangState *s, WcSlice bytes)
{
	int			c = compare(f, s, bytes);

	switch (s->node->op)
	{
		case WC_LANG_LESS:
			return c <= 0;
		case WC_LANG_LESS_OR_EQUAL:
			return c < 0;
		case WC_LANG_EQUAL:
			return c != 0;
		case WC_LANG_NOT_EQUAL:
			return c == 0;
		case WC_LANG_GREATER_OR_EQUAL:
			return c > 0;
		case WC_LANG_GREATER:
			return c >= 0;
		case WC_LANG_NO_OP:
			break;
	}
	return false;
}

static bool
is_column(const WcLangState *s, const WcLangCell *cell)
{
	return wc_slice_eq(cell->family, s->node->family) && wc_slice_eq(cell->qualifier, s->node->qualifier);
}

/* --- what remains ------------------------------------------------------------------------------ */

bool
wc_langstate_all_remaining(const WcLangState *s)
{
	switch (s->node->kind)
	{
		case WC_LANG_AND:
		case WC_LANG_OR:
			for (uint32_t i = 0; i < s->n; i++)
			{
				if (wc_langstate_all_remaining(&s->children[i]) == (s->node->kind == WC_LANG_AND))
					return s->node->kind == WC_LANG_AND;
			}
			return s->node->kind == WC_LANG_OR;
		case WC_LANG_WHILE:
			return s->done || wc_langstate_all_remaining(&s->children[0]);
		case WC_LANG_PREFIX:
		case WC_LANG_INCLUSIVE_STOP:
		case WC_LANG_ROW_RANGES:
			return s->done;
		case WC_LANG_COLUMN_COUNT:
			return s->count > (uint64_t) s->node->limit;
		case WC_LANG_PAGE:
			return s->count >= (uint64_t) s->node->limit;
		default:
			return false;
	}
}

/* --- one filter each --------------------------------------------------------------------------- */

static WcLangCode
column_prefix(const WcLangState *s, const WcLangCell *cell)
{
	WcSlice		prefix = s->node->value;
	WcSlice		q = cell->qualifier;
	size_t		n = q.len < prefix.len ? q.len : prefix.len;
	int			c = wc_slice_cmp(wc_slice(q.data, n), wc_slice(prefix.data, n));

	if (c < 0 || (c == 0 && q.len < prefix.len))
		return WC_LANG_SEEK;
	return c > 0 ? WC_LANG_NEXT_ROW : WC_LANG_INCLUDE;
}

/*
 * As in HBase: only the greatest prefix that is not greater than the qualifier counts, even if a shorter one is a prefix,
 * too.
 */
static WcLangCode
column_prefixes(WcLangState *s, const WcLangCell *cell)
{
	uint32_t	low = 0;
	uint32_t	high = s->node->n;

	if (s->node->n == 0)
		return WC_LANG_INCLUDE;
	while (low < high)
	{
		uint32_t	middle = low + (high - low) / 2;

		if (wc_slice_cmp(s->node->texts[middle], cell->qualifier) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && wc_slice_starts_with(cell->qualifier, s->node->texts[low - 1]))
		return WC_LANG_INCLUDE;
	if (low == s->node->n)
		return WC_LANG_NEXT_ROW;
	s->hint = &s->node->texts[low];
	return WC_LANG_SEEK;
}

static WcLangCode
column_page(WcLangState *s, const WcLangCell *cell)
{
	uint64_t	limit = (uint64_t) s->node->limit;
	uint64_t	offset = (uint64_t) s->node->offset;

	if (!s->node->by_qualifier)
	{
		if (s->count >= offset + limit)
			return WC_LANG_NEXT_ROW;
		return s->count++ < offset ? WC_LANG_NEXT_COLUMN : WC_LANG_INCLUDE_NEXT_COLUMN;
	}
	if (s->count >= limit)
		return WC_LANG_NEXT_ROW;
	if (s->count == 0 && wc_slice_cmp(cell->qualifier, s->node->qualifier) < 0)
		return WC_LANG_SEEK;
	s->count++;
	return WC_LANG_INCLUDE_NEXT_COLUMN;
}

static WcLangCode
timestamps(const WcLangState *s, const WcLangCell *cell)
{
	uint32_t	low = 0;
	uint32_t	high = s->node->n;

	while (low < high)
	{
		uint32_t	middle = low + (high - low) / 2;

		if (s->node->times[middle] < cell->ts)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < s->node->n && s->node->times[low] == cell->ts)
		return WC_LANG_INCLUDE;
	return low == 0 && s->node->n > 0 ? WC_LANG_NEXT_COLUMN : WC_LANG_SKIPPED;
}

static WcLangCode
column_range(const WcLangState *s, const WcLangCell *cell)
{
	WcSlice		min = s->node->texts[0];
	WcSlice		max = s->node->texts[1];
	int			c = min.len > 0 ? wc_slice_cmp(cell->qualifier, min) : 1;

	if (c < 0)
		return WC_LANG_SEEK;
	if (c == 0 && !s->node->flags[0])
		return WC_LANG_NEXT_COLUMN;
	if (max.len == 0)
		return WC_LANG_INCLUDE;
	c = wc_slice_cmp(cell->qualifier, max);
	return c < 0 || (c == 0 && s->node->flags[1]) ? WC_LANG_INCLUDE : WC_LANG_NEXT_ROW;
}

static WcLangCode
single_value(WcLangFilter *f, WcLangState *s, const WcLangCell *cell)
{
	bool		newest_only = s->node->flags[1];

	if (s->matched)
		return WC_LANG_INCLUDE;
	if (newest_only && s->found)
		return WC_LANG_NEXT_ROW;
	if (!is_column(s, cell))
		return WC_LANG_INCLUDE;
	s->found = true;
	if (wc_langstate_rejects(f, s, cell->value))
		return newest_only ? WC_LANG_NEXT_ROW : WC_LANG_INCLUDE;
	s->matched = true;
	return WC_LANG_INCLUDE;
}

static WcLangCode
dependent(WcLangFilter *f, WcLangState *s, const WcLangCell *cell)
{
	if (!is_column(s, cell))
		return WC_LANG_INCLUDE;
	if (s->node->op != WC_LANG_NO_OP && wc_langstate_rejects(f, s, cell->value))
		return WC_LANG_SKIPPED;
	wc_buf_append(&s->stamps, &cell->ts, sizeof(cell->ts));
	if (s->stamps.failed)
		failed(f, wc_buf_status(&s->stamps, "timestamps of a filter", f->err));
	return s->node->flags[0] ? WC_LANG_SKIPPED : WC_LANG_INCLUDE;
}

static WcLangCode
column_value(WcLangFilter *f, WcLangState *s, const WcLangCell *cell)
{
	if (!is_column(s, cell))
		return s->found ? WC_LANG_NEXT_ROW : WC_LANG_NEXT_COLUMN;
	s->found = true;
	return wc_langstate_rejects(f, s, cell->value) ? WC_LANG_SKIPPED : WC_LANG_INCLUDE;
}

/* The bytes that a mask fixes are those of the key, as far as the row goes. */
static bool
is_fuzzy_row(WcSlice key, WcSlice mask, WcSlice row)
{
	for (size_t i = 0; i < key.len && i < row.len; i++)
	{
		if (mask.data[i] == '0' && key.data[i] != row.data[i])
			return false;
	}
	return true;
}

static WcLangCode
fuzzy_row(WcLangState *s, const WcLangCell *cell)
{
	for (uint32_t i = 0; i < s->node->n; i += 2)
	{
		if (is_fuzzy_row(s->node->texts[i], s->node->texts[i + 1], cell->row))
			return WC_LANG_INCLUDE;
	}
	s->filter_row = true;
	return WC_LANG_NEXT_ROW;
}

static WcLangCode
row_ranges(const WcLangState *s, const WcLangCell *cell)
{
	for (uint32_t i = 0; i < s->node->n; i += 2)
	{
		WcSlice		start = s->node->texts[i];
		WcSlice		stop = s->node->texts[i + 1];
		int			c = wc_slice_cmp(cell->row, start);

		if (c < 0 || (c == 0 && !s->node->inclusive[i]))
			continue;
		c = stop.len == 0 ? -1 : wc_slice_cmp(cell->row, stop);
		if (c < 0 || (c == 0 && s->node->inclusive[i + 1]))
			return WC_LANG_INCLUDE;
	}
	return WC_LANG_NEXT_ROW;
}

/* --- all of them ------------------------------------------------------------------------------- */

WcLangCode
wc_langcell_decide(WcLangFilter *f, WcLangState *s, const WcLangCell *cell)
{
	switch (s->node->kind)
	{
		case WC_LANG_AND:
		case WC_LANG_OR:
		case WC_LANG_SKIP:
		case WC_LANG_WHILE:
			break;				/* langlist.c */
		case WC_LANG_KEY_ONLY:
		case WC_LANG_PAGE:
			return WC_LANG_INCLUDE;
		case WC_LANG_FIRST_KEY_ONLY:
			if (s->found)
				return WC_LANG_NEXT_ROW;
			s->found = true;
			return WC_LANG_INCLUDE;
		case WC_LANG_PREFIX:
		case WC_LANG_ROW:
			return s->filter_row ? WC_LANG_NEXT_ROW : WC_LANG_INCLUDE;
		case WC_LANG_INCLUSIVE_STOP:
			return s->done ? WC_LANG_NEXT_ROW : WC_LANG_INCLUDE;
		case WC_LANG_COLUMN_PREFIX:
			return column_prefix(s, cell);
		case WC_LANG_COLUMN_PREFIXES:
			return column_prefixes(s, cell);
		case WC_LANG_COLUMN_COUNT:
			s->count++;
			return wc_langstate_all_remaining(s) ? WC_LANG_NEXT_COLUMN : WC_LANG_INCLUDE_NEXT_COLUMN;
		case WC_LANG_COLUMN_PAGE:
			return column_page(s, cell);
		case WC_LANG_TIMESTAMPS:
			return timestamps(s, cell);
		case WC_LANG_FAMILY:
			return wc_langstate_rejects(f, s, cell->family) ? WC_LANG_NEXT_ROW : WC_LANG_INCLUDE;
		case WC_LANG_QUALIFIER:
			return wc_langstate_rejects(f, s, cell->qualifier) ? WC_LANG_SKIPPED : WC_LANG_INCLUDE;
		case WC_LANG_VALUE:
			return wc_langstate_rejects(f, s, cell->value) ? WC_LANG_SKIPPED : WC_LANG_INCLUDE;
		case WC_LANG_COLUMN_RANGE:
			return column_range(s, cell);
		case WC_LANG_SINGLE_VALUE:
		case WC_LANG_SINGLE_VALUE_EXCLUDE:
			return single_value(f, s, cell);
		case WC_LANG_DEPENDENT:
			return dependent(f, s, cell);
		case WC_LANG_COLUMN_VALUE:
			return column_value(f, s, cell);
		case WC_LANG_FUZZY_ROW:
			return fuzzy_row(s, cell);
		case WC_LANG_ROW_RANGES:
			return row_ranges(s, cell);
	}
	return WC_LANG_INCLUDE;
}

bool
wc_langcell_hint(const WcLangState *s, WcLangHint *hint)
{
	switch (s->node->kind)
	{
		case WC_LANG_COLUMN_PREFIX:
			hint->qualifier = s->node->value;
			return true;
		case WC_LANG_COLUMN_PREFIXES:
			if (s->hint == NULL)
				return false;
			hint->qualifier = *s->hint;
			return true;
		case WC_LANG_COLUMN_RANGE:
			hint->qualifier = s->node->texts[0];
			return true;
		case WC_LANG_COLUMN_PAGE:
			hint->qualifier = s->node->qualifier;
			return s->node->by_qualifier;
		default:
			return false;
	}
}
