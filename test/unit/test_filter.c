/*
 * test/unit/test_filter.c: filters: keys sort as values do, random trees decide as SQL would, and scans return the rows
 * that satisfy the filter.
 */
#include "enginekit.h"
#include "mangle.h"
#include "random.h"

#include <stdio.h>
#include <string.h>

#include "base/coding.h"
#include "read/scan/rowfilter.h"
#include "rowkey/keycheck.h"

/* --- keys -------------------------------------------------------------------- */

static WcSlice
key_of(const WcFilterColumn *column, WcSlice bytes, uint8_t *scratch)
{
	WcSlice		key;

	if (!wc_filter_key(column, bytes, scratch, &key))
		fail_msg("no key of \"%.*s\"", (int) bytes.len, bytes.data);
	return key;
}

static void
assert_ordered(const WcFilterColumn *column, WcSlice a, WcSlice b, int expected)
{
	uint8_t		room[2][WC_FILTER_KEY_MAX];

	assert_int_equal(sign(wc_slice_cmp(key_of(column, a, room[0]), key_of(column, b, room[1]))), expected);
}

static int
pg_float_cmp(double a, double b)
{
	if (isnan(a) || isnan(b))
		return (isnan(a) != 0) - (isnan(b) != 0);
	return (a > b) - (a < b);
}

static void
numbers_sort_as_values(void **state)
{
	static const int64_t ints[] = {INT64_MIN, INT64_MIN + 1, -256, -1, 0, 1, 127, 128, 255, 256, INT64_MAX};
	static const double doubles[] = {-INFINITY, -1e300, -1.5, -1e-310, -0.0, 0.0, 1e-310, 1.5, 1e300, INFINITY, NAN, -NAN};
	const WcFilterColumn signed8 = {.form = WC_FORM_SIGNED,.width = 8};
	const WcFilterColumn float8 = {.form = WC_FORM_FLOAT,.width = 8};
	const WcFilterColumn float4 = {.form = WC_FORM_FLOAT,.width = 4};
	uint8_t		a[8],
				b[8];

	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++)
	{
		for (size_t k = 0; k < sizeof(ints) / sizeof(ints[0]); k++)
		{
			wc_store_u64(a, (uint64_t) ints[i]);
			wc_store_u64(b, (uint64_t) ints[k]);
			assert_ordered(&signed8, wc_slice(a, 8), wc_slice(b, 8), (ints[i] > ints[k]) - (ints[i] < ints[k]));
		}
	}
	for (size_t i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++)
	{
		for (size_t k = 0; k < sizeof(doubles) / sizeof(doubles[0]); k++)
		{
			float		fi = (float) doubles[i],
						fk = (float) doubles[k];
			uint64_t	image[2];
			uint32_t	small[2];

			memcpy(&image[0], &doubles[i], 8);
			memcpy(&image[1], &doubles[k], 8);
			wc_store_u64(a, image[0]);
			wc_store_u64(b, image[1]);
			assert_ordered(&float8, wc_slice(a, 8), wc_slice(b, 8), pg_float_cmp(doubles[i], doubles[k]));
			memcpy(&small[0], &fi, 4);
			memcpy(&small[1], &fk, 4);
			wc_store_u32(a, small[0]);
			wc_store_u32(b, small[1]);
			assert_ordered(&float4, wc_slice(a, 4), wc_slice(b, 4), pg_float_cmp(fi, fk));
		}
	}
}

/* Both texts of one row are equal, and smaller than those of the next. */
static void
decimals_sort_as_values(void **state)
{
	static const char *const sorted[][2] = {
		{"-123456789012345678901234567890.5", "-0123456789012345678901234567890.50"}, {"-1000", "-1000.0"},
		{"-999.99", "-00999.990"}, {"-10", "-10.00"}, {"-9", "-9"}, {"-1.51", "-1.510"}, {"-1.5", "-01.5"}, {"-1", "-1.0"},
		{"-0.01", "-0.010"}, {"-0.001", "-0.0010"}, {"0", "-0.00"}, {"0.0001", "0.00010"}, {"0.001", "00.001"}, {"0.1", "0.10"},
		{"0.12", "0.12"}, {"0.2", "0.20"}, {"1", "1.000"}, {"1.000001", "1.0000010"}, {"9", "09"}, {"10", "10.0"}, {"99", "99"},
		{"100", "100"}, {"123456789012345678901234567890", "123456789012345678901234567890.0"}
	};
	const WcFilterColumn column = {.form = WC_FORM_DECIMAL,.scale = UINT32_MAX};
	const int	n = sizeof(sorted) / sizeof(sorted[0]);

	for (int i = 0; i < 2 * n; i++)
	{
		for (int k = 0; k < 2 * n; k++)
			assert_ordered(&column, wc_slice_cstr(sorted[i / 2][i % 2]), wc_slice_cstr(sorted[k / 2][k % 2]),
						   sign(i / 2 - k / 2));
	}
}

static void
times_sort_as_values(void **state)
{
	static const char *const sorted[] = {
		"-infinity", "0001-01-01 00:00:00", "1969-12-31 23:59:59.999999", "1970-01-01 00:00:00", "2024-02-29 12:00:00.000001",
		"2024-02-29 12:00:00.4", "2024-02-29 12:00:00.45", "2024-02-29 12:00:00.5", "9999-12-31 23:59:59", "infinity"
	};
	const WcFilterColumn plain = {.form = WC_FORM_TIMESTAMP};
	const WcFilterColumn zoned = {.form = WC_FORM_TIMESTAMPTZ};
	const int	n = sizeof(sorted) / sizeof(sorted[0]);

	for (int i = 0; i < n; i++)
	{
		for (int k = 0; k < n; k++)
		{
			char		a[64],
						b[64];

			assert_ordered(&plain, wc_slice_cstr(sorted[i]), wc_slice_cstr(sorted[k]), sign(i - k));
			snprintf(a, sizeof(a), "%s%s", sorted[i], strstr(sorted[i], "inf") ? "" : "+00");
			snprintf(b, sizeof(b), "%s%s", sorted[k], strstr(sorted[k], "inf") ? "" : "+00");
			assert_ordered(&zoned, wc_slice_cstr(a), wc_slice_cstr(b), sign(i - k));
		}
	}
	assert_ordered(&plain, wc_slice_cstr("2024-02-29 12:00:00.50"), wc_slice_cstr("2024-02-29 12:00:00.500000"), 0);
}

/* What is not in a form has no key. */
static void
other_bytes_decide_nothing(void **state)
{
	static const struct
	{
		WcFilterColumn column;
		const char *bytes;
	}			wrong[] = {
		{{.form = WC_FORM_BYTES,.width = 4}, "abc"}, {{.form = WC_FORM_BYTES,.most = 3}, "abcd"},
		{{.form = WC_FORM_SIGNED,.width = 4}, "abcde"}, {{.form = WC_FORM_FLOAT,.width = 8}, "1.5"},
		{{.form = WC_FORM_BOOL,.width = 1}, ""}, {{.form = WC_FORM_BOOL,.width = 1}, "no"},
		{{.form = WC_FORM_DECIMAL,.scale = 2}, ""}, {{.form = WC_FORM_DECIMAL,.scale = 2}, "-"},
		{{.form = WC_FORM_DECIMAL,.scale = 2}, "+1"}, {{.form = WC_FORM_DECIMAL,.scale = 2}, " 1"},
		{{.form = WC_FORM_DECIMAL,.scale = 2}, "1."}, {{.form = WC_FORM_DECIMAL,.scale = 2}, ".5"},
		{{.form = WC_FORM_DECIMAL,.scale = 2}, "1e3"}, {{.form = WC_FORM_DECIMAL,.scale = 2}, "NaN"},
		{{.form = WC_FORM_DECIMAL,.scale = 2}, "1.234"}, {{.form = WC_FORM_DECIMAL,.scale = 2}, "1.2.3"},
		{{.form = WC_FORM_DECIMAL,.most = 3}, "1000"}, {{.form = WC_FORM_DECIMAL}, "1.0"},
		{{.form = WC_FORM_DECIMAL}, "12345678901234567890123456789012345678901234567890123456789012"},
		{{.form = WC_FORM_DATE}, "2024-1-5"}, {{.form = WC_FORM_DATE}, "2023-02-29"}, {{.form = WC_FORM_DATE}, "2024-13-01"},
		{{.form = WC_FORM_DATE}, "2024-00-10"}, {{.form = WC_FORM_DATE}, "0044-03-15 BC"}, {{.form = WC_FORM_DATE}, "20240-01-01"},
		{{.form = WC_FORM_DATE}, "now"}, {{.form = WC_FORM_DATE}, ""}, {{.form = WC_FORM_TIMESTAMP}, "2024-01-01"},
		{{.form = WC_FORM_TIMESTAMP}, "2024-01-01 24:00:00"}, {{.form = WC_FORM_TIMESTAMP}, "2024-01-01 00:00:60"},
		{{.form = WC_FORM_TIMESTAMP}, "2024-01-01 00:00:00."}, {{.form = WC_FORM_TIMESTAMP}, "2024-01-01 00:00:00.1234567"},
		{{.form = WC_FORM_TIMESTAMP}, "2024-01-01T00:00:00"}, {{.form = WC_FORM_TIMESTAMP}, "2024-01-01 00:00:00+00"},
		{{.form = WC_FORM_TIMESTAMPTZ}, "2024-01-01 00:00:00"}, {{.form = WC_FORM_TIMESTAMPTZ}, "2024-01-01 00:00:00+01"},
		{{.form = WC_FORM_TIMESTAMPTZ}, "+00"}
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
	{
		uint8_t		scratch[WC_FILTER_KEY_MAX];
		WcSlice		key;

		if (wc_filter_key(&wrong[i].column, wc_slice_cstr(wrong[i].bytes), scratch, &key))
			fail_msg("\"%s\" has a key", wrong[i].bytes);
	}
}

static void
some_bytes_are_equal(void **state)
{
	const WcFilterColumn trimmed = {.form = WC_FORM_TRIMMED};
	const WcFilterColumn boolean = {.form = WC_FORM_BOOL,.width = 1};

	assert_ordered(&trimmed, wc_slice_cstr("a  "), wc_slice_cstr("a"), 0);
	assert_ordered(&trimmed, wc_slice_cstr("   "), wc_slice_cstr(""), 0);
	assert_ordered(&boolean, wc_slice("\1", 1), wc_slice("\377", 1), 0);
	assert_ordered(&boolean, wc_slice("\0", 1), wc_slice("\377", 1), -1);
}

/* --- random trees ---------------------------------------------------------------
 *
 * Rows have up to six columns a .. f, of one letter each: A .. F, or "??", which is no
 * value.  Columns are of one byte, so that this one is undecided.  Some of the first ones
 * may be parts of the row key.
 */
#define COLUMNS 6
#define NODES 60

typedef struct Tree
{
	WcFilter	filter;
	WcFilterColumn columns[COLUMNS];
	WcFilterNode nodes[NODES];
	WcSlice		values[NODES * 3];
	uint32_t	nvalues;
} Tree;

static char letters[] = "ABCDEF";

static void
random_node(Tree *tree, int depth)
{
	WcFilterNode *node = &tree->nodes[tree->filter.nnodes++];
	uint32_t	kind = below(depth > 0 && tree->filter.nnodes < NODES - 20 ? WC_FILTER_KIND_LAST + 4 : WC_FILTER_KIND_LAST + 1);
	uint32_t	first;

	memset(node, 0, sizeof(*node));
	if (depth == 0 && kind < WC_FILTER_UNKNOWN)
		kind += WC_FILTER_UNKNOWN;
	if (kind > WC_FILTER_KIND_LAST)
		kind = below(2);
	node->kind = (uint8_t) kind;
	node->column = below(COLUMNS);
	node->n = below(3);
	node->values = &tree->values[tree->nvalues];
	first = below(4);
	for (uint32_t i = 0; i < wc_filter_nvalues(node); i++)
		tree->values[tree->nvalues++] = wc_slice(&letters[first + i], kind == WC_FILTER_IN ? 1 : below(2) ? 1 : below(2));
	if (kind == WC_FILTER_NOT || kind == WC_FILTER_IS_TRUE)
		random_node(tree, depth - 1);
	for (uint32_t i = 0; kind <= WC_FILTER_OR && i < node->n; i++)
		random_node(tree, depth - 1);
}

static void
random_tree(Tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	tree->filter.ncolumns = COLUMNS;
	tree->filter.columns = tree->columns;
	tree->filter.nodes = tree->nodes;
	for (uint32_t i = 0; i < COLUMNS; i++)
		tree->columns[i] = (WcFilterColumn) {.column = i,.width = 1};
	random_node(tree, 3);
}

/* false, unknown, true as text: another way than the engine's. */
static const char *
naive(const WcFilterNode **at, const char *row)
{
	const WcFilterNode *node = (*at)++;
	const char *all = "";
	bool		ts = false,
				fs = false,
				us = false;
	uint8_t		c = (uint8_t) row[node->column];
	bool		holds = false;

	switch (node->kind)
	{
		case WC_FILTER_AND:
		case WC_FILTER_OR:
			for (uint32_t i = 0; i < node->n; i++)
			{
				all = naive(at, row);
				ts |= *all == 't';
				fs |= *all == 'f';
				us |= *all == 'u';
			}
			if (node->kind == WC_FILTER_AND)
				return fs ? "f" : us ? "u" : "t";
			return ts ? "t" : us ? "u" : "f";
		case WC_FILTER_NOT:
			all = naive(at, row);
			return *all == 'u' ? "u" : *all == 't' ? "f" : "t";
		case WC_FILTER_IS_TRUE:
			return *naive(at, row) == 't' ? "t" : "f";
		case WC_FILTER_UNKNOWN:
			return "u";
		case WC_FILTER_IS_NULL:
			return c == ' ' ? "t" : "f";
		default:
			break;
	}
	if (c == ' ')
		return "u";
	for (uint32_t i = 0; i < wc_filter_nvalues(node); i++)
	{
		bool		none = node->values[i].len == 0;
		int			than = none ? 1 : c - node->values[i].data[0];

		holds |= (node->kind == WC_FILTER_EQ && than == 0) || (node->kind == WC_FILTER_LT && than < 0) ||
			(node->kind == WC_FILTER_LE && than <= 0) || (node->kind == WC_FILTER_GT && than > 0) ||
			(node->kind == WC_FILTER_GE && than >= 0) || (node->kind == WC_FILTER_PREFIX && (none || than == 0)) ||
			(node->kind == WC_FILTER_IN && than == 0);
	}
	return holds ? "t" : "f";
}

static bool
naive_passes(const Tree *tree, const char *row)
{
	const WcFilterNode *at = tree->nodes;
	bool		passes = *naive(&at, row) == 't';

	assert_true(at == tree->nodes + tree->filter.nnodes);
	return passes;
}

/* ' ': no cell, '?': what is no value. */
static void
random_row(char *row, bool wrong)
{
	for (int i = 0; i < COLUMNS; i++)
		row[i] = below(4) == 0 ? ' ' : wrong && below(12) == 0 ? '?' : letters[below(6)];
	row[COLUMNS] = '\0';
}

static void
all_columns(WcScan *scan, WcColumn *columns)
{
	scan->ncolumns = COLUMNS;
	scan->columns = columns;
	scan->rows_by_existence = true;
	for (int i = 0; i < COLUMNS; i++)
		columns[i] = (WcColumn) {.family = i < 3 ? 1 : 2,.qualifier = wc_slice("abcdef" + i, 1)};
}

static void
trees_decide_as_sql(void **state)
{
	for (int round = 0; round < 400; round++)
	{
		WcArena		arena = WC_ARENA_INIT;
		WcBuf		bytes = WC_BUF_INIT;
		WcColumn	columns[COLUMNS];
		WcScan		scan,
					back;
		WcRowFilter *filter;
		Tree		tree;

		random_tree(&tree);
		wc_scan_init(&scan, 1);
		all_columns(&scan, columns);
		tree.filter.shown = below(COLUMNS + 1);
		scan.filter = &tree.filter;
		assert_int_equal(wc_scan_check(&scan, NULL), WC_OK);
		wc_scan_encode(&bytes, &scan);
		assert_int_equal(wc_scan_decode(wc_buf_slice(&bytes), &arena, &back, NULL), WC_OK);
		assert_int_equal(back.filter->shown, tree.filter.shown);
		assert_int_equal(wc_rowfilter_create(&arena, &back, &filter, NULL), WC_OK);
		for (int r = 0; r < 50; r++)
		{
			char		row[COLUMNS + 1];
			bool		enough;

			random_row(row, true);
			enough = wc_rowfilter_start_row(filter, wc_slice_cstr("r"));
			for (uint32_t i = 0; i < COLUMNS && !enough; i++)
			{
				if (row[i] != ' ')
					enough = wc_rowfilter_cell(filter, i, row[i] == '?' ? wc_slice_cstr("??") : wc_slice(&row[i], 1), 0);
				/* an older version changes nothing */
				if (row[i] != ' ' && !enough)
					enough = wc_rowfilter_cell(filter, i, wc_slice_cstr("A"), 0);
			}
			if (strchr(row, '?') != NULL)
				assert_int_equal(wc_rowfilter_verdict(filter), WC_FILTER_UNDECIDED);
			else
				assert_int_equal(wc_rowfilter_verdict(filter), naive_passes(&tree, row) ? WC_FILTER_PASSES : WC_FILTER_REJECTS);
		}
		wc_buf_free(&bytes);
		wc_arena_free(&arena);
	}
}

/* --- row keys ----------------------------------------------------------------------- */

#define PARTS_MAX 3

typedef struct Keys
{
	WcKeyCheck	check;
	WcPartShape shapes[PARTS_MAX];
	WcContentCheck contents[PARTS_MAX];
	bool		salting[PARTS_MAX];
} Keys;

/* The first columns of the tree become parts of a key of some layout. */
static void
put_in_key(Tree *tree, Keys *keys, WcBuf *bytes)
{
	WcKeyLayout *layout = &keys->check.layout;

	memset(keys, 0, sizeof(*keys));
	keys->check.contents = keys->contents;
	layout->nparts = below(PARTS_MAX) + 1;
	layout->parts = keys->shapes;
	layout->delimiter = wc_slice_cstr(below(2) ? "" : "|");
	layout->salt.parts = keys->salting;
	layout->salt.buckets = below(3) == 0 ? 5 : 0;
	keys->salting[below(layout->nparts)] = true;
	for (uint32_t i = 0; i < layout->nparts; i++)
	{
		WcPartShape *shape = &keys->shapes[i];
		uint32_t	kind = below(4);

		if (kind == WC_PART_DELIMITED && (i + 1 == layout->nparts || layout->delimiter.len == 0))
			kind = WC_PART_ESCAPED;
		if (kind == WC_PART_REST && i + 1 < layout->nparts)
			kind = WC_PART_FIXED;
		shape->kind = (uint8_t) kind;
		shape->length = 2;
		shape->padded = true;
		shape->desc = kind <= WC_PART_ESCAPED && below(2) != 0;
		tree->columns[i] = (WcFilterColumn) {.in_key = true,.column = i,.width = 1};
	}
	wc_keycheck_encode(bytes, &keys->check);
	tree->filter.keys = wc_buf_slice(bytes);
}

/* wrong: the key is cut, or goes on. */
static WcSlice
key_of_row(const Keys *keys, const char *row, bool wrong, WcBuf *out)
{
	WcSlice		parts[PARTS_MAX];

	for (uint32_t i = 0; i < keys->check.layout.nparts; i++)
		parts[i] = row[i] == '?' ? wc_slice_cstr("??") : wc_slice(&row[i], 1);
	out->len = 0;
	assert_int_equal(wc_rowkey_compose(&keys->check.layout, parts, out, NULL, NULL), WC_OK);
	if (wrong && keys->shapes[keys->check.layout.nparts - 1].kind != WC_PART_REST)
		wc_buf_append_u8(out, 0);
	else if (wrong)
		out->len = 0;
	return wc_buf_slice(out);
}

/* Is something that must hold about the key alone, and not true? */
static bool
key_rejects(const Tree *tree, const char *row, uint32_t nparts)
{
	const WcFilterNode *at = tree->nodes;
	uint32_t	n = at->kind == WC_FILTER_AND ? at->n : 1;
	bool		rejects = false;

	at += at->kind == WC_FILTER_AND;
	for (uint32_t i = 0; i < n; i++)
	{
		const WcFilterNode *node = at;
		bool		holds = *naive(&at, row) == 't';
		bool		of_key = true;

		for (; node < at; node++)
			of_key &= !wc_filter_kind_has_column(node->kind) || node->column < nparts;
		rejects |= of_key && !holds;
	}
	return rejects;
}

static WcFilterVerdict
expected_verdict(const Tree *tree, const char *row, uint32_t nparts, bool wrong_key)
{
	const char *unknown = strrchr(row, '?');

	if (wrong_key || memchr(row, '?', nparts) != NULL)
		return WC_FILTER_UNDECIDED;
	if (key_rejects(tree, row, nparts))
		return WC_FILTER_REJECTS;
	if (unknown != NULL)
		return WC_FILTER_UNDECIDED;
	return naive_passes(tree, row) ? WC_FILTER_PASSES : WC_FILTER_REJECTS;
}

static void
keys_decide_as_sql(void **state)
{
	int			decided_by_key = 0;

	for (int round = 0; round < 1000; round++)
	{
		WcArena		arena = WC_ARENA_INIT;
		WcBuf		bytes = WC_BUF_INIT;
		WcBuf		key = WC_BUF_INIT;
		WcColumn	columns[COLUMNS];
		WcScan		scan,
					back;
		WcRowFilter *filter;
		Tree		tree;
		Keys		keys;
		WcBuf		check = WC_BUF_INIT;
		uint32_t	nparts;

		random_tree(&tree);
		put_in_key(&tree, &keys, &check);
		nparts = keys.check.layout.nparts;
		wc_scan_init(&scan, 1);
		all_columns(&scan, columns);
		scan.filter = &tree.filter;
		assert_int_equal(wc_scan_check(&scan, NULL), WC_OK);
		wc_scan_encode(&bytes, &scan);
		assert_int_equal(wc_scan_decode(wc_buf_slice(&bytes), &arena, &back, NULL), WC_OK);
		assert_int_equal(wc_rowfilter_create(&arena, &back, &filter, NULL), WC_OK);
		for (int r = 0; r < 50; r++)
		{
			char		row[COLUMNS + 1];
			bool		wrong = below(20) == 0;
			bool		enough;

			random_row(row, true);
			for (uint32_t i = 0; i < nparts; i++)
				row[i] = row[i] == ' ' ? 'C' : row[i];
			enough = wc_rowfilter_start_row(filter, key_of_row(&keys, row, wrong, &key));
			decided_by_key += enough && wc_rowfilter_verdict(filter) == WC_FILTER_REJECTS;
			for (uint32_t i = nparts; i < COLUMNS && !enough; i++)
			{
				if (row[i] != ' ')
					enough = wc_rowfilter_cell(filter, i, row[i] == '?' ? wc_slice_cstr("??") : wc_slice(&row[i], 1), 0);
			}
			assert_int_equal(wc_rowfilter_verdict(filter), expected_verdict(&tree, row, nparts, wrong));
		}
		wc_rowfilter_free(filter);
		wc_buf_free(&bytes);
		wc_buf_free(&check);
		wc_buf_free(&key);
		wc_arena_free(&arena);
	}
	assert_true(decided_by_key > 1000);
}

/* --- bytes ------------------------------------------------------------------------- */

/* Whatever comes is refused, or is a filter that can be asked. */
static void
read_scan(WcSlice bytes, void *arg)
{
	WcArena		arena = WC_ARENA_INIT;
	int		   *good = arg;
	WcScan		scan;

	if (wc_scan_decode(bytes, &arena, &scan, NULL) == WC_OK && scan.filter != NULL)
	{
		WcRowFilter *filter;

		if (wc_rowfilter_create(&arena, &scan, &filter, NULL) == WC_OK)
		{
			wc_rowfilter_start_row(filter, wc_slice_cstr("ABCDEF"));
			for (uint32_t i = 0; i < scan.ncolumns; i++)
				wc_rowfilter_cell(filter, i, wc_slice_cstr("12"), 0);
			(void) wc_rowfilter_verdict(filter);
			(*good)++;
		}
		wc_rowfilter_free(filter);
	}
	wc_arena_free(&arena);
}

static void
any_bytes_are_survived(void **state)
{
	int			good = 0;

	for (int round = 0; round < 40; round++)
	{
		WcColumn	columns[COLUMNS];
		WcBuf		bytes = WC_BUF_INIT;
		WcBuf		check = WC_BUF_INIT;
		WcScan		scan;
		Tree		tree;
		Keys		keys;

		random_tree(&tree);
		if (round % 2 == 0)
			put_in_key(&tree, &keys, &check);
		for (int i = 0; i < COLUMNS; i++)
			tree.columns[i].width = below(3);
		wc_scan_init(&scan, 1);
		all_columns(&scan, columns);
		scan.filter = &tree.filter;
		wc_scan_encode(&bytes, &scan);
		wc_mangle_prefixes(wc_buf_slice(&bytes), read_scan, &good);
		assert_int_equal(good, 1);
		wc_mangle_randomly(wc_buf_slice(&bytes), 500, read_scan, &good);
		good = 0;
		wc_buf_free(&bytes);
		wc_buf_free(&check);
	}
}

/* --- scans ------------------------------------------------------------------------- */

/* What a row with these cells looks like when the first `shown` columns are. */
static void
append_row(char *text, size_t size, int number, const char *row, uint32_t shown, uint32_t owed)
{
	size_t		len = strlen(text);
	const char *separator = "";
	bool		undecided = strchr(row, '?') != NULL;

	len += (size_t) snprintf(text + len, size - len, "%sr%03d", len > 0 ? " " : "", number);
	if (owed > 0)
		len += (size_t) snprintf(text + len, size - len, "+%u", owed);
	len += (size_t) snprintf(text + len, size - len, "{");
	for (uint32_t i = 0; i < (undecided ? COLUMNS : shown); i++)
	{
		if (row[i] == ' ')
			continue;
		len += (size_t) snprintf(text + len, size - len, "%s%c:%c=%s%c", separator, i < 3 ? 'f' : 'g', "abcdef"[i],
								 row[i] == '?' ? "?" : "", row[i]);
		separator = " ";
	}
	snprintf(text + len, size - len, "}");
}

#define ROWS 120

static void
put_row(Kit *kit, int number, const char *row)
{
	char		key[16];

	snprintf(key, sizeof(key), "r%03d", number);
	kit_delete(kit, WC_DELETE_FAMILY, key, 1, "", KIT_LATEST);
	kit_delete(kit, WC_DELETE_FAMILY, key, 2, "", KIT_LATEST);
	kit_put(kit, key, 1, "z", KIT_LATEST, "exists");
	for (int i = 0; i < COLUMNS; i++)
	{
		char		qualifier[2] = {"abcdef"[i], '\0'};
		char		value[3] = {row[i], row[i] == '?' ? '?' : '\0', '\0'};

		if (row[i] != ' ')
			kit_put(kit, key, i < 3 ? 1 : 2, qualifier, KIT_LATEST, value);
	}
}

static void
check_scans(Kit *kit, char rows[ROWS][COLUMNS + 1], bool own)
{
	static char expected[1 << 16];

	for (int round = 0; round < 60; round++)
	{
		WcReadPoint at = kit_point(kit, own);
		WcColumn	columns[COLUMNS];
		uint32_t	limit = below(2) ? 0 : below(9) + 1;
		uint32_t	to_skip = below(2) ? 0 : below(20);
		uint32_t	decided = 0;
		WcScan		scan;
		Tree		tree;

		random_tree(&tree);
		wc_scan_init(&scan, kit->table);
		all_columns(&scan, columns);
		tree.filter.shown = below(COLUMNS + 1);
		scan.filter = &tree.filter;
		scan.reversed = below(3) == 0;
		scan.row_limit = limit;
		scan.row_offset = to_skip;
		scan.batch_rows = below(2) ? 0 : 2;
		expected[0] = '\0';
		for (int i = 0; i < ROWS && (limit == 0 || decided < limit); i++)
		{
			int			n = scan.reversed ? ROWS - 1 - i : i;
			bool		undecided = strchr(rows[n], '?') != NULL;

			if (!undecided && !naive_passes(&tree, rows[n]))
				continue;
			if (!undecided && to_skip > 0)
			{
				to_skip--;
				continue;
			}
			append_row(expected, sizeof(expected), n, rows[n], tree.filter.shown, to_skip);
			decided += !undecided;
			if (limit > 0)
				limit += to_skip;
			to_skip = 0;
		}
		assert_string_equal(kit_scan_with(kit, &scan, &at), expected);
	}
}

static void
scans_give_what_passes(void **state)
{
	static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

	for (int p = 0; p < 2; p++)
	{
		char		rows[ROWS][COLUMNS + 1];
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", packings[p], 1);
		for (int i = 0; i < ROWS; i++)
		{
			random_row(rows[i], true);
			put_row(&kit, i, rows[i]);
		}
		kit_commit(&kit);
		check_scans(&kit, rows, false);

		/* with writes of an open transaction */
		for (int i = 0; i < ROWS; i += (int) below(4) + 1)
		{
			random_row(rows[i], true);
			put_row(&kit, i, rows[i]);
		}
		assert_ok(&kit, kit_send(&kit));
		kit.cid++;
		check_scans(&kit, rows, true);
		kit_close(&kit);
	}
}

/* Rows that fit into no block, and rows of which only the filter's column is large. */
static void
large_rows_are_read_twice(void **state)
{
	static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};
	static char large[100001];

	memset(large, 'x', sizeof(large) - 1);
	for (int p = 0; p < 2; p++)
	{
		WcReadPoint at;
		WcColumn	columns[] = {{.family = 1,.qualifier = wc_slice_cstr("a")}, {.family = 1,.qualifier = wc_slice_cstr("k")},
		{.family = 2,.qualifier = wc_slice_cstr("z")}};
		WcFilterColumn filtered = {.column = 2,.width = 1};
		WcSlice		value = wc_slice_cstr("1");
		WcFilterNode node = {.kind = WC_FILTER_EQ,.values = &value};
		WcFilter	filter = {.shown = 2,.ncolumns = 1,.columns = &filtered,.nnodes = 1,.nodes = &node};
		WcScan		scan;
		WcScanner  *scanner;
		WcScanStats stats;
		WcBuf		block = WC_BUF_INIT;
		WcStatus	status;
		size_t		bytes = 0;
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", packings[p], 1);
		for (int i = 0; i < 6; i++)
		{
			char		row[] = {'r', (char) ('0' + i), '\0'};

			kit_put(&kit, row, 1, "a", KIT_LATEST, large);
			kit_put(&kit, row, 1, "k", KIT_LATEST, large);
			kit_put(&kit, row, 2, "z", KIT_LATEST, i % 2 ? "1" : i == 4 ? "22" : "0");
		}
		kit_commit(&kit);
		wc_scan_init(&scan, kit.table);
		scan.ncolumns = 3;
		scan.columns = columns;
		scan.rows_by_existence = true;
		scan.filter = &filter;
		scan.measured = true;
		at = kit_point(&kit, false);
		assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &scan, &at, &scanner, &kit.err));
		do
		{
			block.len = 0;
			status = wc_scanner_next(scanner, &block, 1000, 0, &kit.err);
			bytes += block.len;
			assert_true(block.len < 2 * sizeof(large));
		} while (status == WC_OK);
		assert_int_equal(status, WC_END);
		wc_scanner_stats(scanner, &stats);
		assert_int_equal(stats.rows_returned, 4);
		assert_int_equal(stats.rows_filtered, 2);
		assert_int_equal(stats.cells_returned, 9);
		assert_true(bytes > 8 * (sizeof(large) - 1) && bytes < 8 * sizeof(large) + 1000);
		wc_scanner_close(scanner);
		wc_buf_free(&block);
		kit_close(&kit);
	}
}

/* What was found is sent before thousands of rows are looked at for more. */
static void
few_matches_do_not_wait(void **state)
{
	WcReadPoint at;
	WcColumn	column = {.family = 1,.qualifier = wc_slice_cstr("a")};
	WcFilterColumn filtered = {.column = 0,.width = 1};
	WcSlice		value = wc_slice_cstr("1");
	WcFilterNode node = {.kind = WC_FILTER_EQ,.values = &value};
	WcFilter	filter = {.ncolumns = 1,.columns = &filtered,.nnodes = 1,.nodes = &node};
	uint64_t	examined[3] = {0};
	WcScan		scan;
	WcScanner  *scanner;
	WcScanStats stats;
	WcBuf		block = WC_BUF_INIT;
	WcStatus	status = WC_OK;
	Kit			kit;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	for (int i = 0; i < 10000; i++)
	{
		char		row[16];

		snprintf(row, sizeof(row), "r%05d", i);
		kit_put(&kit, row, 1, "a", KIT_LATEST, i == 3 || i == 9990 ? "1" : "0");
	}
	kit_commit(&kit);
	wc_scan_init(&scan, kit.table);
	scan.ncolumns = 1;
	scan.columns = &column;
	scan.rows_by_existence = true;
	scan.filter = &filter;
	scan.measured = true;
	at = kit_point(&kit, false);
	assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &scan, &at, &scanner, &kit.err));
	for (int i = 0; i < 3 && status == WC_OK; i++)
	{
		block.len = 0;
		status = wc_scanner_next(scanner, &block, 1000, 0, &kit.err);
		wc_scanner_stats(scanner, &stats);
		examined[i] = stats.rows_examined;
		assert_true(stats.rows_returned == (i == 0 ? 1 : 2));
	}
	assert_int_equal(status, WC_END);
	assert_true(examined[0] > 3 && examined[0] < 6000);
	assert_int_equal(stats.rows_examined, 10000);
	assert_int_equal(stats.rows_filtered, 9998);
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	kit_close(&kit);
}

/* Rows that are deleted are not among those that a filter removes, whether or not a cell is
 * left to look at, and in either packing. */
static void
deleted_rows_are_not_removed(void **state)
{
	static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

	for (int p = 0; p < 2; p++)
	{
		WcReadPoint at;
		WcColumn	column = {.family = 1,.qualifier = wc_slice_cstr("a")};
		WcFilterColumn filtered = {.column = 0,.width = 1};
		WcSlice		value = wc_slice_cstr("1");
		WcFilterNode node = {.kind = WC_FILTER_EQ,.values = &value};
		WcFilter	filter = {.shown = 1,.ncolumns = 1,.columns = &filtered,.nnodes = 1,.nodes = &node};
		WcScan		scan;
		WcScanner  *scanner;
		WcScanStats stats;
		WcBuf		block = WC_BUF_INIT;
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", packings[p], 1);
		for (int i = 0; i < 6; i++)
		{
			char		row[] = {'r', (char) ('0' + i), '\0'};

			/* r0 passes, r1 and r2 do not; r2 has no cell that the filter looks at */
			if (i != 2)
				kit_put(&kit, row, 1, "a", KIT_LATEST, i == 0 ? "1" : "0");
			kit_put(&kit, row, 1, "b", KIT_LATEST, "x");
		}
		kit_commit(&kit);
		for (int i = 3; i < 6; i++)
		{
			char		row[] = {'r', (char) ('0' + i), '\0'};

			kit_delete(&kit, WC_DELETE_FAMILY, row, 1, "", KIT_LATEST);
		}
		kit_commit(&kit);
		wc_scan_init(&scan, kit.table);
		scan.ncolumns = 1;
		scan.columns = &column;
		scan.rows_by_existence = true;
		scan.filter = &filter;
		scan.measured = true;
		at = kit_point(&kit, false);
		assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &scan, &at, &scanner, &kit.err));
		assert_int_equal(wc_scanner_next(scanner, &block, 1000, 0, &kit.err), WC_END);
		wc_scanner_stats(scanner, &stats);
		assert_int_equal(stats.rows_returned, 1);
		assert_int_equal(stats.rows_filtered, 2);
		wc_scanner_close(scanner);
		wc_buf_free(&block);
		kit_close(&kit);
	}
}

/* --- timestamps -------------------------------------------------------------------- */

/* A cell's timestamp is compared, whatever the cell holds. */
static void
timestamps_decide(void **state)
{
	WcFilterColumn column = {.form = WC_FORM_WRITTEN,.width = 8};
	uint8_t		scratch[WC_FILTER_KEY_MAX];
	WcSlice		value;
	WcFilterNode node = {.kind = WC_FILTER_GT,.values = &value};
	WcFilter	filter = {.ncolumns = 1,.columns = &column,.nnodes = 1,.nodes = &node};
	WcScan		scan = {.ncolumns = 1,.filter = &filter};
	WcArena		arena = WC_ARENA_INIT;
	WcRowFilter *made;
	WcError		err;

	assert_true(wc_filter_key(&column, wc_slice("\0\0\0\0\0\0\0\x32", 8), scratch, &value));
	assert_int_equal(wc_rowfilter_create(&arena, &scan, &made, &err), WC_OK);
	for (int64_t ts = 0; ts < 100; ts++)
	{
		(void) wc_rowfilter_start_row(made, wc_slice_cstr("r"));
		assert_true(wc_rowfilter_cell(made, 0, wc_slice_cstr("any"), ts));
		assert_int_equal(wc_rowfilter_verdict(made), ts > 50 ? WC_FILTER_PASSES : WC_FILTER_REJECTS);
	}
	wc_rowfilter_free(made);
	wc_arena_free(&arena);
}

/* --- refusals ---------------------------------------------------------------------- */

static void
bad_filters_are_refused(void **state)
{
	WcColumn	columns[COLUMNS];
	WcError		err;
	WcScan		scan;
	Tree		tree;

#define CHECK(change, code) \
	do { \
		random_tree(&tree); \
		wc_scan_init(&scan, 1); \
		all_columns(&scan, columns); \
		tree.filter.nnodes = 1; \
		tree.nodes[0] = (WcFilterNode) {.kind = WC_FILTER_EQ, .values = tree.values}; \
		scan.filter = &tree.filter; \
		(void) (change); \
		assert_int_equal(wc_scan_check(&scan, &err), code); \
	} while (0)

	CHECK(0, WC_OK);
	CHECK(scan.rows_by_existence = false, WC_INVALID);
	CHECK(scan.row_offset = 1, WC_OK);
	CHECK(scan.column_limit = 1, WC_INVALID);
	CHECK(columns[5].kind = WC_COLUMN_PREFIX, WC_INVALID);
	assert_string_equal(err.message, "a filter looks at column 6 of a scan, which is not a single one");
	CHECK(tree.filter.shown = COLUMNS + 1, WC_INVALID);
	CHECK(tree.filter.nnodes = 0, WC_INVALID);
	CHECK(tree.columns[0].column = COLUMNS, WC_INVALID);
	CHECK(tree.columns[0].in_key = true, WC_INVALID);
	assert_string_equal(err.message, "a filter looks at a row key that it does not know");
	CHECK(tree.columns[0].form = WC_FORM_LAST + 1, WC_INVALID);
	CHECK((tree.columns[0].form = WC_FORM_SIGNED, tree.columns[0].width = 3), WC_INVALID);
	CHECK((tree.columns[0].form = WC_FORM_WRITTEN, tree.columns[0].width = 4), WC_INVALID);
	CHECK((tree.columns[0].form = WC_FORM_FLOAT, tree.columns[0].width = 2), WC_INVALID);
	CHECK(tree.nodes[0].kind = WC_FILTER_KIND_LAST + 1, WC_INVALID);
	CHECK(tree.nodes[0].kind = WC_FILTER_NOT, WC_INVALID);
	assert_string_equal(err.message, "a filter is not whole");
	CHECK(tree.filter.nnodes = 2, WC_INVALID);
	CHECK(tree.nodes[0].column = COLUMNS, WC_INVALID);
	CHECK((tree.nodes[0].kind = WC_FILTER_PREFIX, tree.columns[0].form = WC_FORM_TRIMMED), WC_INVALID);
	CHECK((tree.nodes[0].kind = WC_FILTER_IN, tree.nodes[0].n = 2, tree.values[0] = tree.values[1] = wc_slice_cstr("A")),
		  WC_INVALID);
	CHECK((tree.nodes[0].kind = WC_FILTER_IN, tree.nodes[0].n = WC_FILTER_VALUES_MAX + 1), WC_TOO_LARGE);
	CHECK(tree.values[0].len = WC_FILTER_BYTES_MAX + 1, WC_TOO_LARGE);
	CHECK(tree.filter.nnodes = WC_FILTER_NODES_MAX + 1, WC_TOO_LARGE);
#undef CHECK

	tree.filter.nnodes = WC_FILTER_DEPTH_MAX;
	for (int i = 0; i < WC_FILTER_DEPTH_MAX; i++)
		tree.nodes[i] = (WcFilterNode) {.kind = i + 1 < WC_FILTER_DEPTH_MAX ? WC_FILTER_NOT : WC_FILTER_UNKNOWN};
	assert_int_equal(wc_filter_check(&tree.filter, COLUMNS, &err), WC_OK);
	tree.nodes[tree.filter.nnodes - 1].kind = WC_FILTER_NOT;
	tree.nodes[tree.filter.nnodes++] = (WcFilterNode) {.kind = WC_FILTER_UNKNOWN};
	assert_int_equal(wc_filter_check(&tree.filter, COLUMNS, &err), WC_TOO_LARGE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_sort_as_values),
		cmocka_unit_test(decimals_sort_as_values),
		cmocka_unit_test(times_sort_as_values),
		cmocka_unit_test(other_bytes_decide_nothing),
		cmocka_unit_test(some_bytes_are_equal),
		cmocka_unit_test(trees_decide_as_sql),
		cmocka_unit_test(keys_decide_as_sql),
		cmocka_unit_test(any_bytes_are_survived),
		cmocka_unit_test(scans_give_what_passes),
		cmocka_unit_test(large_rows_are_read_twice),
		cmocka_unit_test(few_matches_do_not_wait),
		cmocka_unit_test(deleted_rows_are_not_removed),
		cmocka_unit_test(timestamps_decide),
		cmocka_unit_test(bad_filters_are_refused),
	};

	return cmocka_run_group_tests_name("filter", tests, seed, NULL);
}
