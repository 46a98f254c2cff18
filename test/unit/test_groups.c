/*
 * test/unit/test_groups.c: scans that return groups of rows: the groups, combined, are those of the rows that the same
 * scan returns.
 */
#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "rowkey/keycheck.h"

#define GROUPS_MAX 64
#define ROWS 400

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

/* A group: the number of values in column "n", their sum, the least and the greatest. */
typedef struct Total
{
	char		group[16];
	long		rows;
	long		values;
	long		sum;
	long		min;
	long		max;
} Total;

typedef struct Totals
{
	int			n;
	Total		totals[GROUPS_MAX];
	long		undecided;		/* rows, and the sum of their digits' lengths */
	long		undecided_bytes;
	int			parts;			/* groups that came */
} Totals;

static Total *
find_total(Totals *t, const char *group)
{
	for (int i = 0; i < t->n; i++)
	{
		if (strcmp(t->totals[i].group, group) == 0)
			return &t->totals[i];
	}
	assert_true(t->n < GROUPS_MAX);
	snprintf(t->totals[t->n].group, sizeof(t->totals[0].group), "%s", group);
	return &t->totals[t->n++];
}

static void
add_total(Totals *t, const char *group, long rows, long values, long sum, long min, long max)
{
	Total	   *total = find_total(t, group);

	if (values > 0 && (total->values == 0 || min < total->min))
		total->min = min;
	if (values > 0 && (total->values == 0 || max > total->max))
		total->max = max;
	total->rows += rows;
	total->values += values;
	total->sum += sum;
}

static int
compare_totals(const void *a, const void *b)
{
	return strcmp(((const Total *) a)->group, ((const Total *) b)->group);
}

static void
assert_same(Totals *a, Totals *b)
{
	qsort(a->totals, (size_t) a->n, sizeof(Total), compare_totals);
	qsort(b->totals, (size_t) b->n, sizeof(Total), compare_totals);
	assert_int_equal(a->n, b->n);
	for (int i = 0; i < a->n; i++)
	{
		assert_string_equal(a->totals[i].group, b->totals[i].group);
		assert_int_equal(a->totals[i].rows, b->totals[i].rows);
		assert_int_equal(a->totals[i].values, b->totals[i].values);
		assert_int_equal(a->totals[i].sum, b->totals[i].sum);
		assert_int_equal(a->totals[i].min, b->totals[i].min);
		assert_int_equal(a->totals[i].max, b->totals[i].max);
	}
	assert_int_equal(a->undecided, b->undecided);
	assert_int_equal(a->undecided_bytes, b->undecided_bytes);
}

/* --- the scan ---------------------------------------------------------------------- */

enum
{
	COLUMN_N,
	COLUMN_G,
	COLUMN_FILTERED,
	NCOLUMNS
};

enum
{
	STATE_ROWS,
	STATE_VALUES,
	STATE_SUM,
	STATE_MIN,
	STATE_MAX,
	NSTATES
};

/* Keys are a letter, and the rest. */
typedef struct Case
{
	WcColumn	columns[NCOLUMNS];
	WcKeyCheck	check;
	WcPartShape shapes[2];
	WcContentCheck contents[2];
	WcBuf		keys;
	WcAggregate aggregates[NSTATES];
	WcGroupColumn group;
	WcAggregation aggregation;
	WcFilterColumn filter_column;
	WcFilterNode node;
	WcSlice		value;
	WcFilter	filter;
	WcScan		scan;
} Case;

static void
make_case(Case *c, const Kit *kit)
{
	static const char *const names[] = {"n", "g", "x"};
	WcFilterColumn n = {.column = COLUMN_N,.form = WC_FORM_DECIMAL,.most = 9};

	memset(c, 0, sizeof(*c));
	wc_buf_init(&c->keys, 0);
	wc_scan_init(&c->scan, kit->table);
	for (int i = 0; i < NCOLUMNS; i++)
		c->columns[i] = (WcColumn) {.family = i == COLUMN_FILTERED ? 2 : 1,.qualifier = kit_s(names[i])};
	c->scan.columns = c->columns;
	c->scan.ncolumns = NCOLUMNS;
	c->scan.rows_by_existence = true;

	c->shapes[0] = (WcPartShape) {.kind = WC_PART_FIXED,.length = 1};
	c->shapes[1] = (WcPartShape) {.kind = WC_PART_REST};
	c->check = (WcKeyCheck) {.layout = {.nparts = 2,.parts = c->shapes},.contents = c->contents};
	wc_keycheck_encode(&c->keys, &c->check);

	for (int i = 0; i < NSTATES; i++)
		c->aggregates[i].column = n;
	c->aggregates[STATE_ROWS].kind = WC_AGGREGATE_ROWS;
	c->aggregates[STATE_VALUES].kind = WC_AGGREGATE_VALUES;
	c->aggregates[STATE_SUM].kind = WC_AGGREGATE_SUM;
	c->aggregates[STATE_MIN].kind = WC_AGGREGATE_MIN;
	c->aggregates[STATE_MAX].kind = WC_AGGREGATE_MAX;
	c->aggregation = (WcAggregation) {
		.naggregates = NSTATES,.aggregates = c->aggregates,.groups = &c->group,.keys = wc_buf_slice(&c->keys)
	};
	c->group.column = COLUMN_G;

	c->filter_column = (WcFilterColumn) {.column = COLUMN_FILTERED,.form = WC_FORM_DECIMAL,.most = 9};
	c->value = kit_s("");
	c->filter = (WcFilter) {
		.shown = COLUMN_FILTERED,.ncolumns = 1,.columns = &c->filter_column,.nnodes = 1,.nodes = &c->node
	};
	c->node = (WcFilterNode) {.kind = WC_FILTER_IS_NULL};
}

static long
number(WcSlice s)
{
	char		text[32];

	assert_true(s.len < sizeof(text));
	memcpy(text, s.data, s.len);
	text[s.len] = '\0';
	return strtol(text, NULL, 10);
}

/* A row, or a group, as it comes. */
typedef struct Line
{
	char		row[32];
	bool		undecided;
	WcSlice		cells[NSTATES + 1];
} Line;

static bool
understood(WcSlice n)
{
	size_t		digits = n.len > 0 && n.data[0] == '-' ? 1 : 0;

	for (size_t i = digits; i < n.len; i++)
	{
		if (n.data[i] < '0' || n.data[i] > '9')
			return false;
	}
	return n.len > digits && n.len - digits <= 9;
}

static const char *
group_name(const Case *c, const Line *line, WcSlice cell, char *name)
{
	if (c->aggregation.ngroups == 0)
		return "all";
	if (c->group.in_key)
		snprintf(name, 16, "%c", line->row[0]);
	else
		snprintf(name, 16, "%.*s", cell.data == NULL ? 4 : (int) cell.len, cell.data == NULL ? "NULL" : (const char *) cell.data);
	return name;
}

static void
take_line(const Case *c, const Line *line, Totals *t)
{
	const WcSlice *cells = line->cells;
	char		name[16];
	bool		grouped = c->scan.aggregation != NULL && !line->undecided;
	bool		present = cells[COLUMN_N].data != NULL;

	if (grouped)
	{
		WcDecoder	rows = wc_decoder(cells[STATE_ROWS]);
		WcDecoder	values = wc_decoder(cells[STATE_VALUES]);
		WcDecoder	sum = wc_decoder(cells[STATE_SUM]);
		long		nvalues = cells[STATE_VALUES].data == NULL ? 0 : (long) wc_decode_varint(&values);

		assert_true((nvalues > 0) == (cells[STATE_SUM].data != NULL));
		if (nvalues > 0)
		{
			assert_int_equal(wc_decode_varint(&sum), nvalues);
			(void) wc_decode_u64(&sum);
		}
		add_total(t, group_name(c, line, cells[NSTATES], name), (long) wc_decode_varint(&rows), nvalues,
				  nvalues > 0 ? (long) wc_decode_u64(&sum) : 0,
				  nvalues > 0 ? number(cells[STATE_MIN]) : 0, nvalues > 0 ? number(cells[STATE_MAX]) : 0);
		t->parts++;
	}
	else if (line->undecided || (present && !understood(cells[COLUMN_N])))
	{
		t->undecided++;
		t->undecided_bytes += (long) cells[COLUMN_N].len;
	}
	else
	{
		long		n = present ? number(cells[COLUMN_N]) : 0;

		add_total(t, group_name(c, line, cells[COLUMN_G], name), 1, present, n, n, n);
	}
}

static void
read_all(Kit *kit, const Case *c, bool own, bool shared, size_t bytes, Totals *t)
{
	WcReadPoint at = kit_point(kit, own);
	WcScanner  *scanner;
	WcBuf		block = WC_BUF_INIT;
	WcArena		arena = WC_ARENA_INIT;
	WcStatus	status = WC_OK;
	Line		line = {.row = ""};

	memset(t, 0, sizeof(*t));
	assert_ok(kit, wc_scanner_open(wc_engine_storage(kit->engine), &c->scan, &at, &scanner, &kit->err));
	if (shared)
		kit_share(kit, scanner, &c->scan, 1 + below(20));
	while (status == WC_OK)
	{
		WcBlockReader r;
		WcSlice		row;
		WcCell		cell;
		uint32_t	colno;
		WcBlockEntry entry;

		block.len = 0;
		status = wc_scanner_next(scanner, &block, bytes, 0, &kit->err);
		assert_true(status == WC_OK || status == WC_END);
		assert_true(block.len < bytes + WC_GROUPS_BYTES_MAX);
		assert_ok(kit, wc_block_open(&r, wc_buf_slice(&block), &kit->err));
		while ((entry = wc_block_next(&r, &row, &cell, &colno)) != WC_BLOCK_DONE)
		{
			assert_int_not_equal(entry, WC_BLOCK_CORRUPT);
			if (entry == WC_BLOCK_CELL)
			{
				if (colno <= NSTATES)
					line.cells[colno] = wc_arena_copy(&arena, cell.value);
				continue;
			}
			if (line.row[0] != '\0')
				take_line(c, &line, t);
			/* groups that are ordered come in the order of rows */
			if (c->scan.aggregation != NULL && c->aggregation.ordered)
				assert_true(line.row[0] <= (char) row.data[0]);
			memset(&line, 0, sizeof(line));
			snprintf(line.row, sizeof(line.row), "%.*s", (int) row.len, (const char *) row.data);
			line.undecided = r.undecided;
		}
	}
	if (line.row[0] != '\0')
		take_line(c, &line, t);
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	wc_arena_free(&arena);
}

/* --- rows -------------------------------------------------------------------------- */

static void
put_row(Kit *kit, int i)
{
	char		row[16];
	char		value[32];

	snprintf(row, sizeof(row), "%c%03d", 'a' + i * 7 / ROWS, i);
	snprintf(value, sizeof(value), below(20) == 0 ? "%d.5" : "%d", (int) below(2000000) - 1000000);
	kit_put(kit, row, 1, "", KIT_LATEST, "");
	if (below(4) != 0)
		kit_put(kit, row, 1, "n", below(3) == 0 ? 5 : KIT_LATEST, value);
	snprintf(value, sizeof(value), "g%d", (int) below(6));
	if (below(5) != 0)
		kit_put(kit, row, 1, "g", KIT_LATEST, value);
	if (below(3) == 0)
		kit_put(kit, row, 2, "x", KIT_LATEST, below(4) == 0 ? "odd" : "7");
	if (below(10) == 0)
		kit_delete(kit, WC_DELETE_FAMILY, row, below(2) + 1, "", KIT_LATEST);
}

static void
test_groups_are_those_of_the_rows(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		Case		c;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < ROWS; i++)
			put_row(&kit, i);
		kit_commit(&kit);
		kit_flush(&kit);
		for (int i = 0; i < ROWS / 4; i++)
			put_row(&kit, (int) below(ROWS));
		kit_commit(&kit);
		for (int i = 0; i < ROWS / 10; i++)
			put_row(&kit, (int) below(ROWS));
		assert_ok(&kit, kit_send(&kit));
		kit.cid++;

		for (int i = 0; i < 64; i++)
		{
			Totals		rows;
			Totals		groups;

			make_case(&c, &kit);
			c.aggregation.ngroups = (i & 1) != 0;
			c.group.in_key = (i & 2) != 0;
			c.group.column = c.group.in_key ? 0 : COLUMN_G;
			c.aggregation.ordered = c.group.in_key && (i & 4) != 0;
			c.scan.filter = (i & 8) != 0 ? &c.filter : NULL;
			if ((i & 16) != 0)
			{
				c.node.kind = WC_FILTER_PREFIX;
				c.filter_column.form = WC_FORM_BYTES;
				c.node.values = &c.value;
			}
			read_all(&kit, &c, (i & 32) != 0, false, WC_BLOCK_MAX, &rows);
			c.scan.aggregation = &c.aggregation;
			read_all(&kit, &c, (i & 32) != 0, false, (i & 3) == 0 ? 40 : WC_BLOCK_MAX, &groups);
			assert_same(&rows, &groups);
			/* without undecided rows in between each group comes once */
			assert_true(groups.parts >= groups.n && groups.parts <= groups.n + groups.undecided);
			/* two threads make other groups, with the same totals */
			read_all(&kit, &c, (i & 32) != 0, true, (i & 3) == 0 ? 40 : WC_BLOCK_MAX, &groups);
			assert_same(&rows, &groups);
			wc_buf_free(&c.keys);
		}
		assert_true(kit.nshared > 0);
		kit_close(&kit);
	}
}

/* Groups that are too large to be kept are sent, and begin anew. */
static void
test_many_groups_come_in_parts(void **state)
{
	static char value[1000];
	Kit			kit;
	Case		c;
	WcReadPoint at;
	WcScanner  *scanner;
	WcBuf		block = WC_BUF_INIT;
	WcStatus	status = WC_OK;
	uint64_t	rows = 0;
	int			blocks = 0;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	memset(value, 'v', sizeof(value) - 1);
	for (int i = 0; i < 4000; i++)
	{
		char		row[16];

		snprintf(row, sizeof(row), "a%04d", i);
		snprintf(value, 8, "%06d", i % 2000);
		value[6] = 'v';
		kit_put(&kit, row, 1, "g", KIT_LATEST, value);
	}
	kit_commit(&kit);
	make_case(&c, &kit);
	c.aggregation.ngroups = 1;
	c.scan.aggregation = &c.aggregation;
	at = kit_point(&kit, false);
	assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &c.scan, &at, &scanner, &kit.err));
	while (status == WC_OK)
	{
		WcBlockReader r;
		WcSlice		row;
		WcCell		cell;
		uint32_t	colno;
		WcBlockEntry entry;

		block.len = 0;
		status = wc_scanner_next(scanner, &block, WC_BLOCK_MAX, 0, &kit.err);
		assert_true(status == WC_OK || status == WC_END);
		assert_true(block.len < WC_BLOCK_MAX + WC_GROUPS_BYTES_MAX);
		blocks++;
		assert_ok(&kit, wc_block_open(&r, wc_buf_slice(&block), &kit.err));
		while ((entry = wc_block_next(&r, &row, &cell, &colno)) != WC_BLOCK_DONE)
		{
			WcDecoder	d = wc_decoder(cell.value);

			assert_int_not_equal(entry, WC_BLOCK_CORRUPT);
			if (entry == WC_BLOCK_CELL && colno == STATE_ROWS)
				rows += wc_decode_varint(&d);
		}
	}
	assert_int_equal(rows, 4000);
	assert_true(blocks > 2);
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	wc_buf_free(&c.keys);
	kit_close(&kit);
}

/* Sums of 64-bit numbers are 128 bits wide; of a key part the row key of the least is given. */
static void
test_wide_sums(void **state)
{
	Kit			kit;
	Case		c;
	WcScan		copy;
	WcBuf		bytes = WC_BUF_INIT;
	WcArena		arena = WC_ARENA_INIT;
	WcReadPoint at;
	WcScanner  *scanner;
	WcBlockReader r;
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;
	WcDecoder	sum;

	EACH_PACKING(p)
	{
		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < 5; i++)
		{
			char		key[8];

			snprintf(key, sizeof(key), "a%d", i);
			kit_put(&kit, key, 1, "n", KIT_LATEST, "ABCDEFGH");
		}
		kit_commit(&kit);
		make_case(&c, &kit);
		c.aggregation.naggregates = 2;
		c.aggregates[0] = (WcAggregate) {
			.kind = WC_AGGREGATE_SUM,.column = {.column = COLUMN_N,.form = WC_FORM_SIGNED,.width = 8}
		};
		c.aggregates[1] = (WcAggregate) {.kind = WC_AGGREGATE_MAX,.column = {.in_key = true,.column = 1}};
		c.scan.aggregation = &c.aggregation;
		c.scan.ncolumns = 2;

		/* as it travels */
		bytes.len = 0;
		wc_scan_encode(&bytes, &c.scan);
		assert_ok(&kit, wc_scan_decode(wc_buf_slice(&bytes), &arena, &copy, &kit.err));
		at = kit_point(&kit, false);
		assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &copy, &at, &scanner, &kit.err));
		bytes.len = 0;
		assert_int_equal(wc_scanner_next(scanner, &bytes, WC_BLOCK_MAX, 0, &kit.err), WC_END);
		assert_ok(&kit, wc_block_open(&r, wc_buf_slice(&bytes), &kit.err));
		assert_int_equal(wc_block_next(&r, &row, &cell, &colno), WC_BLOCK_ROW);
		assert_int_equal(wc_block_next(&r, &row, &cell, &colno), WC_BLOCK_CELL);
		sum = wc_decoder(cell.value);
		assert_int_equal(wc_decode_varint(&sum), 5);
		assert_true(wc_decode_u64(&sum) == 1);
		assert_true(wc_decode_u64(&sum) == UINT64_C(0x464B50555A5F6468));
		assert_int_equal(wc_block_next(&r, &row, &cell, &colno), WC_BLOCK_CELL);
		assert_true(wc_slice_eq(cell.value, kit_s("a4")));
		assert_int_equal(wc_block_next(&r, &row, &cell, &colno), WC_BLOCK_DONE);
		wc_scanner_close(scanner);
		wc_arena_reset(&arena);
		wc_buf_free(&c.keys);
		kit_close(&kit);
	}
	wc_buf_free(&bytes);
	wc_arena_free(&arena);
}

__extension__ typedef __int128 Sum;
__extension__ typedef unsigned __int128 Unsigned;

/* Reads a scan whose only aggregate is a sum: the sum of all groups, in the units of the last place, and the number of values. */
static Sum
read_decimal_sum(Kit *kit, const Case *c, uint64_t *values, int *groups, int *undecided, int *scale)
{
	WcReadPoint at = kit_point(kit, false);
	WcBuf		bytes = WC_BUF_INIT;
	Sum			total = 0;
	WcScanner  *scanner;
	WcStatus	status;

	*values = 0;
	*groups = *undecided = *scale = 0;
	assert_ok(kit, wc_scanner_open(wc_engine_storage(kit->engine), &c->scan, &at, &scanner, &kit->err));
	do
	{
		WcBlockReader r;
		WcSlice		row;
		WcCell		cell;
		uint32_t	colno;
		WcBlockEntry entry;

		bytes.len = 0;
		status = wc_scanner_next(scanner, &bytes, WC_BLOCK_MAX, 0, &kit->err);
		assert_ok(kit, wc_block_open(&r, wc_buf_slice(&bytes), &kit->err));
		while ((entry = wc_block_next(&r, &row, &cell, &colno)) == WC_BLOCK_ROW || entry == WC_BLOCK_CELL)
		{
			WcDecoder	d = wc_decoder(cell.value);
			uint64_t	high;

			if (entry == WC_BLOCK_ROW)
				*(r.undecided ? undecided : groups) += 1;
			if (entry == WC_BLOCK_ROW || r.undecided)
				continue;
			*values += wc_decode_varint(&d);
			high = wc_decode_u64(&d);
			total += (Sum) ((Unsigned) high << 64 | wc_decode_u64(&d));
			*scale = wc_decode_u8(&d) > *scale ? d.p[-1] : *scale;
			assert_true(wc_decoder_done(&d));
		}
		assert_int_equal(entry, WC_BLOCK_DONE);
	} while (status == WC_OK);
	assert_int_equal(status, WC_END);
	wc_scanner_close(scanner);
	wc_buf_free(&bytes);
	return total;
}

static void
decimal_sums_are_exact(void **state)
{
	static const char *const added[] = {
		"1.50", "-0.25", "007", "0", "-0.00", "0.00000000000000000001", "9999999999999999.99999999999999999999", "-9999999999999999"
	};
	static const char *const not_added[] = {
		"", "-", ".5", "5.", "+1", " 1", "1 ", "1e2", "NaN", "Infinity", "10000000000000000", "0.000000000000000000001", "1.2.3", "--1"
	};
	Sum			unit = 1;
	Kit			kit;
	Case		c;
	WcRange		range;
	uint64_t	values;
	int			groups,
				undecided,
				scale;
	char		key[8];

	for (int i = 0; i < WC_SUM_SCALE; i++)
		unit *= 10;
	EACH_PACKING(p)
	{
		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (size_t i = 0; i < sizeof(added) / sizeof(*added); i++)
		{
			snprintf(key, sizeof(key), "a%zu", i);
			kit_put(&kit, key, 1, "n", KIT_LATEST, added[i]);
		}
		for (size_t i = 0; i < sizeof(not_added) / sizeof(*not_added); i++)
		{
			snprintf(key, sizeof(key), "b%zu", i);
			kit_put(&kit, key, 1, "n", KIT_LATEST, not_added[i]);
		}
		kit_commit(&kit);
		make_case(&c, &kit);
		c.aggregation.naggregates = 1;
		c.aggregates[0] = (WcAggregate) {
			.kind = WC_AGGREGATE_SUM_DECIMAL,.column = {.column = COLUMN_N,.form = WC_FORM_DECIMAL,.scale = UINT32_MAX}
		};
		c.scan.aggregation = &c.aggregation;
		c.scan.ncolumns = 1;

		/* 1.50 - 0.25 + 7 + 1 */
		assert_true(read_decimal_sum(&kit, &c, &values, &groups, &undecided, &scale) == unit * 37 / 4);
		assert_int_equal(values, sizeof(added) / sizeof(*added));
		assert_int_equal(undecided, sizeof(not_added) / sizeof(*not_added));
		assert_int_equal(scale, 20);

		/* numbers that the column's type would round, or refuse */
		c.aggregates[0].column.most = 3;
		c.aggregates[0].column.scale = 2;
		assert_true(read_decimal_sum(&kit, &c, &values, &groups, &undecided, &scale) == unit * 33 / 4);
		assert_int_equal(values, 5);
		assert_int_equal(scale, 2);
		wc_buf_free(&c.keys);

		/* more than a sum can have: several groups come */
		for (int i = 0; i < 100; i++)
		{
			snprintf(key, sizeof(key), "c%d", i);
			kit_put(&kit, key, 1, "n", KIT_LATEST, "-9999999999999999.5");
		}
		kit_commit(&kit);
		make_case(&c, &kit);
		c.aggregation.naggregates = 1;
		c.aggregates[0] = (WcAggregate) {
			.kind = WC_AGGREGATE_SUM_DECIMAL,.column = {.column = COLUMN_N,.form = WC_FORM_DECIMAL,.scale = UINT32_MAX}
		};
		range = (WcRange) {kit_s("c"), kit_s("d"), true, false};
		c.scan.nranges = 1;
		c.scan.ranges = &range;
		c.scan.aggregation = &c.aggregation;
		c.scan.ncolumns = 1;
		assert_true(read_decimal_sum(&kit, &c, &values, &groups, &undecided, &scale) == unit * -INT64_C(999999999999999950));
		assert_int_equal(values, 100);
		assert_int_equal(undecided, 0);
		assert_in_range(groups, 3, 10);
		wc_buf_free(&c.keys);
		kit_close(&kit);
	}
}

static void
bad_aggregations_are_refused(void **state)
{
	Kit			kit = {.table = 1};
	Case		c;
	WcError		err;

#define CHECK(change, code) \
	do { \
		make_case(&c, &kit); \
		c.aggregation.ngroups = 1; \
		c.scan.aggregation = &c.aggregation; \
		(void) (change); \
		assert_int_equal(wc_scan_check(&c.scan, &err), code); \
		wc_buf_free(&c.keys); \
	} while (0)

	CHECK(0, WC_OK);
	CHECK(c.scan.rows_by_existence = false, WC_INVALID);
	CHECK(c.scan.row_limit = 1, WC_INVALID);
	CHECK(c.scan.row_offset = 1, WC_INVALID);
	CHECK(c.scan.versions = 2, WC_INVALID);
	CHECK(c.columns[COLUMN_N].kind = WC_COLUMN_PREFIX, WC_INVALID);
	assert_string_equal(err.message, "an aggregation looks at column 1 of a scan, which is not a single one");
	CHECK(c.group.column = NCOLUMNS, WC_INVALID);
	CHECK((c.group.in_key = true, c.aggregation.keys.len = 0), WC_INVALID);
	CHECK(c.aggregates[STATE_MIN].column.column = NCOLUMNS, WC_INVALID);
	CHECK(c.aggregates[STATE_MIN].kind = WC_AGGREGATE_KIND_LAST + 1, WC_INVALID);
	CHECK(c.aggregates[STATE_SUM].column.form = WC_FORM_BYTES, WC_INVALID);
	CHECK(c.aggregates[STATE_SUM].column.most = WC_SUM_DIGITS_MAX + 1, WC_INVALID);
	CHECK(c.aggregates[STATE_SUM].column.scale = 1, WC_INVALID);
	CHECK(c.aggregates[STATE_SUM].kind = WC_AGGREGATE_SUM_ORDERED, WC_INVALID);
	CHECK(c.aggregates[STATE_SUM].kind = WC_AGGREGATE_SUM_DECIMAL, WC_OK);
	CHECK(c.aggregates[STATE_SUM] = ((WcAggregate) {WC_AGGREGATE_SUM_DECIMAL, {.form = WC_FORM_SIGNED,.width = 8}}), WC_INVALID);
	CHECK(c.aggregates[STATE_SUM].kind = WC_AGGREGATE_SUM_DOUBLE, WC_INVALID);
	CHECK(c.aggregates[STATE_SUM] = ((WcAggregate) {WC_AGGREGATE_SUM_DOUBLE, {.form = WC_FORM_FLOAT,.width = 8}}), WC_OK);
	CHECK(c.aggregates[STATE_SUM] = ((WcAggregate) {WC_AGGREGATE_SUM_DOUBLE, {.form = WC_FORM_FLOAT,.width = 2}}), WC_INVALID);
	CHECK(c.aggregates[STATE_SUM] = ((WcAggregate) {WC_AGGREGATE_SUM_SINGLE, {.form = WC_FORM_FLOAT,.width = 8}}), WC_INVALID);
	CHECK((c.aggregation.ngroups = 0, c.aggregation.naggregates = 0), WC_INVALID);
	CHECK(c.aggregation.naggregates = WC_AGGREGATES_MAX + 1, WC_TOO_LARGE);
#undef CHECK
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups_are_those_of_the_rows),
		cmocka_unit_test(test_many_groups_come_in_parts),
		cmocka_unit_test(test_wide_sums),
		cmocka_unit_test(decimal_sums_are_exact),
		cmocka_unit_test(bad_aggregations_are_refused),
	};

	return cmocka_run_group_tests_name("groups", tests, seed, NULL);
}
