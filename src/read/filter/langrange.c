/*
 * read/filter/langrange.c: which rows a filter in HBase's language is sure to reject by their keys.
 */
#include "read/filter/langfilter.h"

#include "read/filter/langstate.h"

static void
raise_start(WcRange *range, WcSlice row, bool inclusive)
{
	int			c = wc_slice_cmp(row, range->start);

	if (c < 0 || (c == 0 && inclusive))
		return;
	range->start = row;
	range->start_inclusive = inclusive;
}

static void
lower_stop(WcRange *range, WcSlice row, bool inclusive)
{
	int			c = range->stop.len == 0 ? -1 : wc_slice_cmp(row, range->stop);

	if (c > 0 || (c == 0 && inclusive))
		return;
	range->stop = row;
	range->stop_inclusive = inclusive;
}

static bool
narrow_to_prefix(WcArena *arena, WcSlice prefix, WcRange *range)
{
	WcRange		rows;

	if (!wc_range_of_prefix(arena, prefix, &rows))
		return false;
	raise_start(range, prefix, true);
	if (rows.stop.len > 0)
		lower_stop(range, rows.stop, false);
	return true;
}

static bool
narrow_to_rows(WcArena *arena, const WcLangNode *node, WcRange *range)
{
	if (node->comparator == WC_LANG_BINARY_PREFIX && node->op == WC_LANG_EQUAL)
		return narrow_to_prefix(arena, node->value, range);
	if (node->comparator != WC_LANG_BINARY)
		return true;
	if (node->op == WC_LANG_EQUAL || node->op == WC_LANG_GREATER || node->op == WC_LANG_GREATER_OR_EQUAL)
		raise_start(range, node->value, node->op != WC_LANG_GREATER);
	if (node->op == WC_LANG_EQUAL || node->op == WC_LANG_LESS || node->op == WC_LANG_LESS_OR_EQUAL)
		lower_stop(range, node->value, node->op != WC_LANG_LESS);
	return true;
}

static bool
narrow(WcArena *arena, const WcLangNode *node, WcRange *range)
{
	bool		ok = true;

	if (node->kind == WC_LANG_AND)
	{
		for (uint32_t i = 0; i < node->n && ok; i++)
			ok = narrow(arena, node->children[i], range);
		return ok;
	}
	if (node->value.len == 0)
		return true;
	if (node->kind == WC_LANG_PREFIX)
		return narrow_to_prefix(arena, node->value, range);
	return node->kind != WC_LANG_ROW || narrow_to_rows(arena, node, range);
}

bool
wc_langfilter_narrow(const WcLangFilter *f, WcArena *arena, WcRange *range)
{
	/* a row that is not shown may be the one that ends the scan */
	return f->watches_cells || narrow(arena, f->root.node, range);
}
