/*
 * hbase/scan/textfilter.c: a filter in HBase's language as one of HBase's.
 *
 * read/ evaluates the whole filter on the cells that arrive.  So HBase may get only what leaves its result as it is:
 *
 *     of cells    it decides about each cell by that cell alone: a second evaluation passes all cells that the first has passed
 *     of rows     a row passes with all of its cells, or not at all
 *
 * If the whole filter is of cells or of rows, HBase gets it.  Of another AND HBase gets the first parts, as long as they are of
 * rows, and parts that look at row keys alone: a part does not see cells that a part before it has rejected.  Nothing
 * behind a part that counts rows, or that ends the scan, is sent: this part counts rows that later parts reject.
 */
#include "hbase/scan/filter.h"

#include <stdlib.h>

#include "filterlang/filterlang.h"
#include "thrift/hbasefilter.h"

typedef struct TextFilter
{
	bool		reversed;
	bool		raw_timestamps;
} TextFilter;

/* --- what HBase can decide ----------------------------------------------------*/

/* HBase fails if a number has not 8 bytes; and its \b may know letters beyond ASCII. */
static bool
compares(const WcLangNode *node)
{
	if (node->comparator == WC_LANG_LONG)
		return false;
	if (node->comparator != WC_LANG_REGEX && node->comparator != WC_LANG_REGEX_NOCASE)
		return true;
	for (size_t i = 0; i + 1 < node->value.len; i++)
	{
		if (node->value.data[i] == '\\' && (node->value.data[i + 1] | 0x20) == 'b')
			return false;
	}
	return true;
}

static bool
all_children(const TextFilter *t, const WcLangNode *node, bool (*is) (const TextFilter *, const WcLangNode *))
{
	for (uint32 i = 0; i < node->n; i++)
	{
		if (!is(t, node->children[i]))
			return false;
	}
	return true;
}

/* Does the node look at row keys alone? */
static bool
of_keys(const TextFilter *t, const WcLangNode *node)
{
	switch (node->kind)
	{
		case WC_LANG_AND:
		case WC_LANG_OR:
			return all_children(t, node, of_keys);
		case WC_LANG_ROW:
			return compares(node);
		case WC_LANG_PREFIX:
		case WC_LANG_INCLUSIVE_STOP:
			return !t->reversed;
		default:
			return false;
	}
}

static bool
of_rows(const TextFilter *t, const WcLangNode *node)
{
	if (node->kind == WC_LANG_AND || node->kind == WC_LANG_OR)
		return all_children(t, node, of_rows);
	if (node->kind == WC_LANG_SINGLE_VALUE || node->kind == WC_LANG_SINGLE_VALUE_EXCLUDE)
		return compares(node);
	return of_keys(t, node);
}

/* HBase's timestamps are milliseconds. */
static bool
has_whole_ms(const TextFilter *t, const WcLangNode *node)
{
	for (uint32 i = 0; i < node->n && !t->raw_timestamps; i++)
	{
		if (node->times[i] % WC_HBASE_US_PER_MS != 0)
			return false;
	}
	return true;
}

/* In a reversed scan, filters that seek lose cells. */
static bool
of_cells(const TextFilter *t, const WcLangNode *node)
{
	switch (node->kind)
	{
		case WC_LANG_AND:
		case WC_LANG_OR:
			return all_children(t, node, of_cells);
		case WC_LANG_FAMILY:
		case WC_LANG_QUALIFIER:
		case WC_LANG_VALUE:
			return compares(node);
		case WC_LANG_COLUMN_VALUE:
			return compares(node) && !t->reversed;
		case WC_LANG_COLUMN_PREFIX:
		case WC_LANG_COLUMN_PREFIXES:
		case WC_LANG_COLUMN_RANGE:
			return !t->reversed;
		case WC_LANG_TIMESTAMPS:
			return has_whole_ms(t, node) && !t->reversed;
		default:
			return of_keys(t, node);
	}
}

/* Does the node, or one below it, count rows or end the scan? */
static bool
counts(const WcLangNode *node)
{
	if (node->kind == WC_LANG_PAGE || node->kind == WC_LANG_WHILE || node->kind == WC_LANG_COLUMN_COUNT)
		return true;
	for (uint32 i = 0; i < node->n && node->children != NULL; i++)
	{
		if (counts(node->children[i]))
			return true;
	}
	return false;
}

/* --- its bytes ------------------------------------------------------------------*/

static WcHBaseComparison
comparison(const WcLangNode *node)
{
	static const WcHBaseCompare ops[] = {
		[WC_LANG_LESS] = WC_HBASE_LT,[WC_LANG_LESS_OR_EQUAL] = WC_HBASE_LE,[WC_LANG_EQUAL] = WC_HBASE_EQ,
		[WC_LANG_NOT_EQUAL] = WC_HBASE_NE,[WC_LANG_GREATER_OR_EQUAL] = WC_HBASE_GE,[WC_LANG_GREATER] = WC_HBASE_GT
	};
	static const WcHBaseComparator comparators[] = {
		[WC_LANG_BINARY] = WC_HBASE_BYTES,[WC_LANG_BINARY_PREFIX] = WC_HBASE_PREFIX,[WC_LANG_REGEX] = WC_HBASE_REGEX,
		[WC_LANG_REGEX_NOCASE] = WC_HBASE_REGEX_NOCASE,[WC_LANG_SUBSTRING] = WC_HBASE_SUBSTRING_NOCASE
	};

	return (WcHBaseComparison) {.op = ops[node->op],.comparator = comparators[node->comparator],.value = node->value};
}

static void put_node(const TextFilter *t, const WcLangNode *node, WcBuf *out);

/* Appends a list of n nodes, or the node, if it is one; nothing of none. */
static void
put_nodes(const TextFilter *t, bool one, WcLangNode *const *nodes, uint32 n, WcBuf *out)
{
	WcBuf	   *filters = calloc(Max(n, 1), sizeof(WcBuf));
	WcSlice    *slices = calloc(Max(n, 1), sizeof(WcSlice));

	out->failed |= filters == NULL || slices == NULL;
	for (uint32 i = 0; i < n && !out->failed; i++)
	{
		put_node(t, nodes[i], &filters[i]);
		slices[i] = wc_buf_slice(&filters[i]);
		out->failed |= filters[i].failed;
	}
	if (!out->failed && n == 1)
		wc_buf_append_slice(out, slices[0]);
	else if (!out->failed && n > 1)
		wc_hbasefilter_list(out, one, slices, n);
	for (uint32 i = 0; i < n && filters != NULL; i++)
		wc_buf_free(&filters[i]);
	free(filters);
	free(slices);
}

static void
put_timestamps(const TextFilter *t, const WcLangNode *node, WcBuf *out)
{
	int64	   *times = calloc(Max(node->n, 1), sizeof(int64));

	out->failed |= times == NULL;
	for (uint32 i = 0; i < node->n && times != NULL; i++)
		times[i] = t->raw_timestamps ? node->times[i] : node->times[i] / WC_HBASE_US_PER_MS;
	if (times != NULL)
		wc_hbasefilter_timestamps(out, times, node->n);
	free(times);
}

static void
put_node(const TextFilter *t, const WcLangNode *node, WcBuf *out)
{
	WcHBaseComparison compared = comparison(node);

	switch (node->kind)
	{
		case WC_LANG_AND:
		case WC_LANG_OR:
			put_nodes(t, node->kind == WC_LANG_OR, node->children, node->n, out);
			break;
		case WC_LANG_ROW:
			wc_hbasefilter_compare(out, WC_HBASE_ROW, &compared);
			break;
		case WC_LANG_FAMILY:
			wc_hbasefilter_compare(out, WC_HBASE_FAMILY, &compared);
			break;
		case WC_LANG_QUALIFIER:
			wc_hbasefilter_compare(out, WC_HBASE_QUALIFIER, &compared);
			break;
		case WC_LANG_VALUE:
			wc_hbasefilter_compare(out, WC_HBASE_VALUE, &compared);
			break;
		case WC_LANG_PREFIX:
			wc_hbasefilter_row_prefix(out, node->value);
			break;
		case WC_LANG_INCLUSIVE_STOP:
			wc_hbasefilter_last_row(out, node->value);
			break;
		case WC_LANG_COLUMN_PREFIX:
			wc_hbasefilter_column_prefixes(out, &node->value, 1);
			break;
		case WC_LANG_COLUMN_PREFIXES:
			wc_hbasefilter_column_prefixes(out, node->texts, node->n);
			break;
		case WC_LANG_COLUMN_RANGE:
			wc_hbasefilter_column_range(out, node->texts[0], node->flags[0], node->texts[1], node->flags[1]);
			break;
		case WC_LANG_TIMESTAMPS:
			put_timestamps(t, node, out);
			break;
		case WC_LANG_COLUMN_VALUE:
			wc_hbasefilter_column_value(out, node->family, node->qualifier, &compared);
			break;
		case WC_LANG_SINGLE_VALUE:
		case WC_LANG_SINGLE_VALUE_EXCLUDE:
			/* not HBase's own filter that excludes the column: read/ tests the column once more, and drops it then */
			wc_hbasefilter_value(out, node->family, node->qualifier, &compared, node->flags[0], node->flags[1]);
			break;
		default:
			Assert(false);		/* neither of cells nor of rows */
	}
}

WcStatus
wc_hbase_text_filter(const WcHBaseReader *reader, WcBuf *out, WcError *err)
{
	TextFilter	t = {.reversed = reader->scan->reversed,.raw_timestamps = reader->table->server->options.raw_timestamps};
	WcArena		arena = WC_ARENA_INIT;
	WcLangNode *node;
	WcStatus	status;
	uint32		n = 0;
	bool		whole = true;

	/* of a raw scan, filters see the delete markers, too */
	if (reader->scan->filter_text.len == 0 || reader->scan->raw)
		return WC_OK;
	status = wc_filterlang_parse(reader->scan->filter_text, &arena, &node, err);
	if (status == WC_OK && (of_cells(&t, node) || of_rows(&t, node)))
		put_node(&t, node, out);
	else if (status == WC_OK && node->kind == WC_LANG_AND)
	{
		for (uint32 i = 0; i < node->n && !counts(node->children[i]); i++)
		{
			WcLangNode *child = node->children[i];

			if (of_keys(&t, child) || (whole && of_rows(&t, child)))
				node->children[n++] = child;
			whole &= of_rows(&t, child);
		}
		put_nodes(&t, false, node->children, n, out);
	}
	wc_arena_free(&arena);
	return status;
}
