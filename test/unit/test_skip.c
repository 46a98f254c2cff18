/*
 * test/unit/test_skip.c: skipped rows do not satisfy the conditions, for random keys and conditions; scans that skip
 * rows.
 */
#include "enginekit.h"
#include "random.h"

#include <stdio.h>
#include <string.h>

#include "read/scan/rowfilter.h"
#include "read/scan/skip.h"
#include "rowkey/keycheck.h"

#define PARTS_MAX 3
#define CONTENT_MAX 3
#define ROWS 400
#define NODES 40

/* --- random keys ----------------------------------------------------------------- */

static const char *const delimiters[] = {"", "", "$", "\x01", "\xFF", "ab"};
static const char letters[] = "\0\1\xFF" "abc$";

typedef struct Row
{
	uint8_t		room[PARTS_MAX][CONTENT_MAX];
	WcSlice		parts[PARTS_MAX];
	uint8_t		key[64];
	size_t		len;
} Row;

typedef struct Table
{
	WcKeyLayout layout;
	WcPartShape shapes[PARTS_MAX];
	bool		salting[PARTS_MAX];
	Row			rows[ROWS];
	int			nrows;
} Table;

static void
random_layout(Table *t)
{
	WcKeyLayout *layout = &t->layout;

	memset(t, 0, sizeof(*t));
	layout->nparts = below(PARTS_MAX) + 1;
	layout->parts = t->shapes;
	layout->delimiter = wc_slice_cstr(delimiters[below(sizeof(delimiters) / sizeof(delimiters[0]))]);
	layout->salt.parts = t->salting;
	layout->salt.buckets = below(4) == 0 ? 3 : 0;
	t->salting[below(layout->nparts)] = true;
	for (uint32_t i = 0; i < layout->nparts; i++)
	{
		WcPartShape *s = &t->shapes[i];
		uint32_t	kind = below(4);

		if (kind == WC_PART_DELIMITED && (i + 1 == layout->nparts || layout->delimiter.len == 0))
			kind = WC_PART_FIXED;
		if (kind == WC_PART_REST && i + 1 < layout->nparts)
			kind = WC_PART_ESCAPED;
		s->kind = (uint8_t) kind;
		s->length = below(CONTENT_MAX) + 1;
		s->padded = below(2) != 0;
		s->desc = kind <= WC_PART_ESCAPED && below(2) != 0;
	}
}

static WcSlice
random_content(const WcPartShape *shape, uint8_t *room)
{
	/* few, so that many rows have the same */
	WcSlice		c = random_bytes(room, below(3) == 0 ? CONTENT_MAX : 1, letters, sizeof(letters) - 1);

	if (shape->kind != WC_PART_FIXED)
		return c;
	if (!shape->padded)
	{
		for (size_t i = c.len; i < shape->length; i++)
			room[i] = 'a';
		return wc_slice(room, shape->length);
	}
	c.len = c.len < shape->length ? c.len : shape->length;
	while (c.len > 0 && room[c.len - 1] == 0)
		c.len--;
	return c;
}

static int
compare_rows(const void *a, const void *b)
{
	const Row  *ra = a;
	const Row  *rb = b;

	return wc_slice_cmp(wc_slice(ra->key, ra->len), wc_slice(rb->key, rb->len));
}

static void
random_rows(Table *t)
{
	int			kept = 0;

	while (t->nrows < ROWS)
	{
		Row		   *row = &t->rows[t->nrows];
		WcBuf		key = WC_BUF_INIT;

		for (uint32_t i = 0; i < t->layout.nparts; i++)
			row->parts[i] = random_content(&t->shapes[i], row->room[i]);
		if (wc_rowkey_compose(&t->layout, row->parts, &key, NULL, NULL) == WC_OK)
		{
			row->len = key.len;
			memcpy(row->key, key.data, key.len);
			t->nrows++;
		}
		wc_buf_free(&key);
	}
	qsort(t->rows, (size_t) t->nrows, sizeof(Row), compare_rows);
	for (int i = 0; i < t->nrows; i++)
	{
		if (kept == 0 || compare_rows(&t->rows[kept - 1], &t->rows[i]) != 0)
			t->rows[kept++] = t->rows[i];
	}
	t->nrows = kept;
	for (int i = 0; i < kept; i++)
	{
		for (uint32_t k = 0; k < t->layout.nparts; k++)
			t->rows[i].parts[k].data = t->rows[i].room[k];
	}
}

/* --- random conditions --------------------------------------------------------------- */

typedef struct Conditions
{
	WcFilter	filter;
	WcFilterColumn columns[PARTS_MAX];
	WcFilterNode nodes[NODES];
	uint8_t		room[NODES * 3][CONTENT_MAX + 1];
	WcSlice		values[NODES * 3];
} Conditions;

static int
compare_slices(const void *a, const void *b)
{
	return wc_slice_cmp(*(const WcSlice *) a, *(const WcSlice *) b);
}

/* A comparison of one part. */
static void
random_leaf(Conditions *c, uint32_t nparts)
{
	uint32_t	i = c->filter.nnodes++;
	WcFilterNode *node = &c->nodes[i];
	uint32_t	kept = 0;

	node->kind = (uint8_t) (WC_FILTER_EQ + below(WC_FILTER_IN - WC_FILTER_EQ + 1));
	node->column = below(nparts);
	node->values = &c->values[3 * i];
	node->n = 3;
	for (uint32_t k = 0; k < 3; k++)
		node->values[k] = random_bytes(c->room[3 * i + k], below(3) == 0 ? CONTENT_MAX : 1, letters, sizeof(letters) - 1);
	if (node->kind != WC_FILTER_IN)
		return;
	qsort(node->values, 3, sizeof(WcSlice), compare_slices);
	for (uint32_t k = 0; k < 3; k++)
	{
		if (kept == 0 || !wc_slice_eq(node->values[kept - 1], node->values[k]))
			node->values[kept++] = node->values[k];
	}
	node->n = kept;
}

/* A comparison, or some of them under AND, OR, NOT, IS TRUE. */
static void
random_node(Conditions *c, uint32_t nparts, int depth)
{
	uint32_t	i = c->filter.nnodes;

	if (depth == 0 || below(3) > 0 || i + 12 > NODES)
	{
		random_leaf(c, nparts);
		return;
	}
	c->filter.nnodes++;
	c->nodes[i].kind = (uint8_t) (below(2) ? WC_FILTER_OR : below(4));
	if (c->nodes[i].kind <= WC_FILTER_OR)
		c->nodes[i].n = below(10) == 0 ? 0 : below(2) + 2;
	for (uint32_t k = c->nodes[i].kind <= WC_FILTER_OR ? c->nodes[i].n : 1; k > 0; k--)
		random_node(c, nparts, depth - 1);
}

static void
random_conditions(Conditions *c, uint32_t nparts)
{
	uint32_t	n = below(5) + 1;

	memset(c, 0, sizeof(*c));
	c->filter.ncolumns = nparts;
	c->filter.columns = c->columns;
	c->filter.nodes = c->nodes;
	c->filter.nnodes = 1;
	c->nodes[0] = (WcFilterNode) {.kind = WC_FILTER_AND,.n = n};
	for (uint32_t i = 0; i < nparts; i++)
		c->columns[i] = (WcFilterColumn) {.in_key = true,.column = i};
	for (uint32_t i = 1; i <= n; i++)
		random_node(c, nparts, 2);
}

static bool
leaf_holds(const WcFilterNode *node, const Row *row)
{
	WcSlice		content = row->parts[node->column];
	int			than = wc_slice_cmp(content, node->values[0]);
	bool		one = false;

	for (uint32_t k = 0; node->kind == WC_FILTER_IN && k < node->n; k++)
		one |= wc_slice_eq(content, node->values[k]);
	return one || (node->kind == WC_FILTER_EQ && than == 0) || (node->kind == WC_FILTER_LT && than < 0) ||
		(node->kind == WC_FILTER_LE && than <= 0) || (node->kind == WC_FILTER_GT && than > 0) ||
		(node->kind == WC_FILTER_GE && than >= 0) ||
		(node->kind == WC_FILTER_PREFIX && wc_slice_starts_with(content, node->values[0]));
}

/* *at: the node, and then the one behind it. */
static bool
node_holds(const Conditions *c, uint32_t *at, const Row *row)
{
	const WcFilterNode *node = &c->nodes[(*at)++];
	bool		all = true;
	bool		any = false;

	if (node->kind >= WC_FILTER_EQ)
		return leaf_holds(node, row);
	for (uint32_t k = node->kind <= WC_FILTER_OR ? node->n : 1; k > 0; k--)
	{
		bool		one = node_holds(c, at, row);

		all &= one;
		any |= one;
	}
	return node->kind == WC_FILTER_OR ? any : node->kind == WC_FILTER_NOT ? !any : all;
}

static bool
satisfies(const Conditions *c, const Row *row)
{
	uint32_t	at = 0;

	return node_holds(c, &at, row);
}

/* --- walking ---------------------------------------------------------------------------- */

/* As a scan does; how many rows were passed over. */
static int
walk(const Table *t, const Conditions *c, bool reversed)
{
	WcArena		arena = WC_ARENA_INIT;
	WcSkip	   *skip;
	int			passed_over = 0;

	assert_int_equal(wc_skip_create(&arena, &c->filter, &t->layout, reversed, &skip, NULL), WC_OK);
	for (int i = 0; skip != NULL && i < t->nrows; i++)
	{
		const Row  *row = &t->rows[reversed ? t->nrows - 1 - i : i];
		WcSlice		key = wc_slice(row->key, row->len);
		WcSlice		place;
		bool		inclusive;

		if (wc_skip_covers(skip, key))
		{
			assert_false(satisfies(c, row));
			passed_over++;
		}
		else if (!satisfies(c, row))
			assert_int_equal(wc_skip_rejected(skip, key, row->parts, NULL), WC_OK);
		if (!wc_skip_due(skip, &place, &inclusive))
			continue;
		assert_true(wc_skip_before(skip, key));
		assert_int_equal(wc_skip_before(skip, place), !inclusive);
	}
	wc_skip_free(skip);
	wc_arena_free(&arena);
	return passed_over;
}

static void
only_what_fails_is_passed_over(void **state)
{
	static Table t;
	int64_t		passed_over = 0;

	for (int round = 0; round < 150; round++)
	{
		random_layout(&t);
		random_rows(&t);
		for (int k = 0; k < 40; k++)
		{
			Conditions	c;

			random_conditions(&c, t.layout.nparts);
			passed_over += walk(&t, &c, false) + walk(&t, &c, true);
		}
	}
	assert_true(passed_over > 100000);
}

/* --- scans ------------------------------------------------------------------------------ */

/* Keys are a letter, two digits and two more. */
typedef struct Case
{
	uint8_t		part;
	uint8_t		kind;
	const char *value;
	bool		reversed;
	uint32_t	found;
	uint64_t	examined;		/* at most */
} Case;

static void
check_filter(Kit *kit, const Case *c, WcFilterNode *nodes, uint32_t nnodes, const char *last, bool own)
{
	static const WcPartShape shapes[] = {{.kind = WC_PART_FIXED,.length = 1}, {.kind = WC_PART_FIXED,.length = 2}, {.kind = WC_PART_FIXED,.length = 2}};
	static const WcContentCheck contents[3];
	const WcKeyCheck check = {.layout = {.nparts = 3,.parts = shapes},.contents = contents};
	WcBuf		keys = WC_BUF_INIT;
	WcReadPoint at = kit_point(kit, own);
	WcFilterColumn column = {.in_key = true,.column = c->part};
	WcFilter	filter = {.ncolumns = 1,.columns = &column,.nnodes = nnodes,.nodes = nodes};
	WcRange		range = {.stop = wc_slice_cstr(last),.stop_inclusive = true,.start_inclusive = true};
	WcScan		scan;
	WcScanner  *scanner;
	WcScanStats stats;
	WcBuf		block = WC_BUF_INIT;
	WcStatus	status;

	wc_keycheck_encode(&keys, &check);
	filter.keys = wc_buf_slice(&keys);
	wc_scan_init(&scan, kit->table);
	scan.rows_by_existence = true;
	scan.filter = &filter;
	scan.reversed = c->reversed;
	scan.nranges = 1;
	scan.ranges = &range;
	assert_ok(kit, wc_scanner_open(wc_engine_storage(kit->engine), &scan, &at, &scanner, &kit->err));
	do
	{
		block.len = 0;
		status = wc_scanner_next(scanner, &block, 1000, 0, &kit->err);
	} while (status == WC_OK);
	assert_int_equal(status, WC_END);
	wc_scanner_stats(scanner, &stats);
	assert_int_equal(stats.rows_returned, c->found);
	if (stats.rows_examined > c->examined)
		fail_msg("%llu rows examined for part %d %s", (unsigned long long) stats.rows_examined, c->part, c->value);
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	wc_buf_free(&keys);
}

static void
check_case(Kit *kit, const Case *c, const char *last, bool own)
{
	WcSlice		value = wc_slice_cstr(c->value);
	WcFilterNode nodes[] = {{.kind = WC_FILTER_AND,.n = 1}, {.kind = c->kind,.n = 1,.values = &value}};

	check_filter(kit, c, nodes, 2, last, own);
}

/* Two comparisons of the middle part, one of which holds. */
static void
check_or(Kit *kit, uint8_t kind, const char *value, uint8_t other_kind, const char *other, bool reversed, uint32_t found, uint64_t examined)
{
	WcSlice		values[] = {wc_slice_cstr(value), wc_slice_cstr(other)};
	WcFilterNode nodes[] = {{.kind = WC_FILTER_OR,.n = 2}, {.kind = kind,.n = 1,.values = &values[0]}, {.kind = other_kind,.n = 1,.values = &values[1]}};

	check_filter(kit, &(Case) {1, kind, value, reversed, found, examined}, nodes, 3, "z", false);
}

/* 5 letters, each with 20 * 30 rows in two families. */
static void
scans_seek(void **state)
{
	static const Case cases[] = {
		{1, WC_FILTER_EQ, "07", false, 150, 400}, {1, WC_FILTER_EQ, "07", true, 150, 400}, {1, WC_FILTER_EQ, "77", false, 0, 200},
		{1, WC_FILTER_GE, "18", false, 300, 600}, {1, WC_FILTER_LT, "02", true, 300, 600}, {1, WC_FILTER_PREFIX, "1", false, 1500, 1700},
		{1, WC_FILTER_IN, "19", true, 150, 400}, {2, WC_FILTER_EQ, "29", false, 100, 2200}, {2, WC_FILTER_LE, "00", true, 100, 2200},
		{0, WC_FILTER_EQ, "c", false, 600, 3000}
	};
	static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

	for (int p = 0; p < 2; p++)
	{
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", packings[p], 1);
		for (int i = 0; i < 5 * 20 * 30; i++)
		{
			char		key[16];

			snprintf(key, sizeof(key), "%c%02d%02d", 'a' + i / 600, i / 30 % 20, i % 30);
			kit_put(&kit, key, (uint32_t) i % 2 + 1, "q", KIT_LATEST, "v");
		}
		kit_commit(&kit);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			check_case(&kit, &cases[i], "z", false);
		check_or(&kit, WC_FILTER_EQ, "07", WC_FILTER_EQ, "15", false, 300, 700);
		check_or(&kit, WC_FILTER_EQ, "15", WC_FILTER_EQ, "07", true, 300, 700);
		check_or(&kit, WC_FILTER_EQ, "07", WC_FILTER_EQ, "07", false, 150, 400);
		check_or(&kit, WC_FILTER_EQ, "17", WC_FILTER_GT, "18", false, 300, 700);
		check_or(&kit, WC_FILTER_LT, "01", WC_FILTER_EQ, "02", true, 300, 700);

		/* what a transaction has written meanwhile; the last letter is out of the range */
		kit_put(&kit, "c9900", 1, "q", KIT_LATEST, "v");
		kit_put(&kit, "a0799", 2, "q", KIT_LATEST, "v");
		kit_delete(&kit, WC_DELETE_FAMILY, "b0703", 1, "", KIT_LATEST);
		kit_delete(&kit, WC_DELETE_FAMILY, "b0703", 2, "", KIT_LATEST);
		assert_ok(&kit, kit_send(&kit));
		kit.cid++;
		check_case(&kit, &(Case) {1, WC_FILTER_EQ, "07", false, 120, 400}, "d9999", true);
		check_case(&kit, &(Case) {1, WC_FILTER_EQ, "99", true, 1, 200}, "d9999", true);
		check_case(&kit, &(Case) {1, WC_FILTER_EQ, "07", true, 120, 400}, "d9999", false);
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_fails_is_passed_over),
		cmocka_unit_test(scans_seek),
	};

	return cmocka_run_group_tests_name("skip", tests, seed, NULL);
}
