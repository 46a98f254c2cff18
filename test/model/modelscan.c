/*
 * test/model/modelscan.c: random scans, their results, and the expected results.
 */
#include "modelscan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES(literal) {(const uint8_t *) literal, sizeof(literal) - 1}
#define TEXT_MAX (1 << 16)

const WcSlice model_rows[MODEL_ROWS] = {
	BYTES("\0"), BYTES("\0\0"), BYTES("\0\xff"), BYTES("\x01"), BYTES("a"), BYTES("a\0"),
	BYTES("a\0\x01"), BYTES("a\x01"), BYTES("ab"), BYTES("b"), BYTES("\xff"), BYTES("\xff\xff")
};

const WcSlice model_columns[MODEL_COLUMNS] = {
	BYTES(""), BYTES("\0"), BYTES("a"), BYTES("a\0b"), BYTES("ab"), BYTES("b")
};

uint64_t	model_cells_compared;

/* Bytes of rows that packing cell keeps as one key-value: all, none, and those of few cells, which grow
 * beyond that and shrink. */
static const size_t together_max[] = {0, 60, 1, 30, 120};

static uint64_t sequence_seed;

unsigned
model_sequences(unsigned n)
{
	const char *given = getenv("WC_MODEL_SEQUENCES");
	const char *part = getenv("WC_MODEL_PART");

	if (given != NULL)
		return (unsigned) strtoul(given, NULL, 10);
	return part != NULL ? n / (unsigned) strtoul(part, NULL, 10) + 1 : n;
}

uint64_t
model_sequence_seed(unsigned i)
{
	const char *given = getenv("WC_SEED");
	uint64_t	first = given ? strtoull(given, NULL, 10) : 1;

	sequence_seed = first + i * UINT64_C(0x9E3779B97F4A7C15);
	random_state = ~sequence_seed | 1;
	kit_row_together_max = together_max[i % (sizeof(together_max) / sizeof(together_max[0]))];
	return sequence_seed;
}

/* --- text -----------------------------------------------------------------*/

typedef struct Text
{
	char		data[TEXT_MAX];
	size_t		len;
} Text;

static void add(Text *t, const char *format,...) WC_PRINTF(2, 3);

static void
add(Text *t, const char *format,...)
{
	va_list		args;

	va_start(args, format);
	t->len += (size_t) vsnprintf(t->data + t->len, sizeof(t->data) - t->len, format, args);
	va_end(args);
	assert_true(t->len < sizeof(t->data));
}

static void
add_cell(Text *t, const WcScan *scan, int family, int column, int64_t ts, uint8_t type, const char *value)
{
	add(t, " %c:%d", family == 0 ? 'f' : 'g', column);
	if (scan->want_ts)
		add(t, "@%" PRId64 "/%u", ts, type);
	add(t, "=%s", scan->key_only ? "" : value);
}

static int
number_of(const WcSlice *list, int n, WcSlice s)
{
	for (int i = 0; i < n; i++)
	{
		if (wc_slice_eq(list[i], s))
			return i;
	}
	fail_msg("the engine gives a row or column that was never written");
	return -1;
}

/* --- random scans ---------------------------------------------------------*/

/* Ascending, disjoint, none empty when there are several. */
static void
random_ranges(ModelScan *m)
{
	bool		points = below(3) == 0;
	uint32_t	most = below(4);
	int			at = 0;

	m->scan.ranges = m->ranges;
	for (uint32_t i = 0; i < most; i++)
	{
		WcRange    *r = &m->ranges[m->scan.nranges];
		int			from = at + (int) below(4);
		int			to = points ? from : from + (int) below(5);

		if (to >= MODEL_ROWS)
			break;
		r->start = model_rows[from];
		r->stop = model_rows[to];
		r->start_inclusive = points || below(2) == 0;
		r->stop_inclusive = points || below(2) == 0;
		if (!points && i == 0 && below(4) == 0)
			r->start = wc_slice(NULL, 0);
		if (!points && i + 1 == most && below(4) == 0)
			r->stop = wc_slice(NULL, 0);
		at = to + 1;
		if (most == 1 || !wc_range_is_empty(r))
			m->scan.nranges++;
		if (r->stop.len == 0)
			break;
	}
}

static void
random_columns(ModelScan *m)
{
	m->scan.columns = m->columns;
	m->scan.ncolumns = below(3) == 0 ? 0 : below(6);
	for (uint32_t i = 0; i < m->scan.ncolumns; i++)
	{
		WcColumn   *c = &m->columns[i];
		uint32_t	kind = below(8);

		c->family = 1 + below(MODEL_FAMILIES);
		c->kind = (uint8_t) (kind > 3 ? WC_COLUMN_EXACT : kind);
		c->qualifier = model_columns[below(MODEL_COLUMNS)];
		if (c->kind == WC_COLUMN_RANGE && below(3) > 0)
			c->stop = model_columns[below(MODEL_COLUMNS)];
	}
}

/* Cuts the ranges where the first byte of rows changes, as merging wants it. */
static void
cut_ranges(ModelScan *m)
{
	static const WcSlice cuts[] = {BYTES("\x01"), BYTES("a"), BYTES("b"), BYTES("\xff")};
	WcRange		whole[MODEL_ROWS];
	uint32_t	n = m->scan.nranges;

	memcpy(whole, m->ranges, sizeof(whole));
	m->scan.nranges = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		for (int c = 0; c < 4; c++)
		{
			WcRange		piece = whole[i];

			if (!wc_range_before_start(&whole[i], cuts[c]) && !wc_range_behind_stop(&whole[i], cuts[c]))
			{
				piece.stop = whole[i].start = cuts[c];
				piece.stop_inclusive = false;
				whole[i].start_inclusive = true;
				if (!wc_range_is_empty(&piece))
					m->ranges[m->scan.nranges++] = piece;
			}
		}
		if (n == 1 || !wc_range_is_empty(&whole[i]))
			m->ranges[m->scan.nranges++] = whole[i];
	}
}

void
model_random_scan(ModelScan *m, uint32_t table_id)
{
	WcScan	   *scan = &m->scan;

	memset(m, 0, sizeof(*m));
	wc_scan_init(scan, table_id);
	random_ranges(m);
	random_columns(m);
	scan->merged = below(3) == 0;
	if (scan->merged)
		cut_ranges(m);
	scan->reversed = below(2) == 0;
	scan->key_only = below(6) == 0;
	if (below(2) == 0)
	{
		scan->rows_by_existence = true;
		scan->families = m->families;
		if (below(2) == 0)
			m->families[scan->nfamilies++] = 1 + below(MODEL_FAMILIES);
	}
	if (below(4) == 0)
		scan->row_limit = 1 + below(4);
	if (below(4) == 0)
		scan->row_offset = below(5);
	scan->count_cells = !scan->rows_by_existence && below(2) == 0;
	if (below(5) == 0)
		scan->column_limit = 1 + below(3);
	if (below(5) == 0)
		scan->column_offset = below(3);
}

/* --- the model's answer ---------------------------------------------------*/

static bool
wants(const WcScan *scan, int family, int column)
{
	WcSlice		q = model_columns[column];

	for (uint32_t i = 0; i < scan->ncolumns; i++)
	{
		const WcColumn *c = &scan->columns[i];

		if (c->family != (uint32_t) family + 1)
			continue;
		switch (c->kind)
		{
			case WC_COLUMN_EXACT:
				if (wc_slice_eq(c->qualifier, q))
					return true;
				break;
			case WC_COLUMN_FAMILY:
				return true;
			case WC_COLUMN_PREFIX:
				if (wc_slice_starts_with(q, c->qualifier))
					return true;
				break;
			default:
				if (wc_slice_cmp(q, c->qualifier) >= 0 && (c->stop.len == 0 || wc_slice_cmp(q, c->stop) < 0))
					return true;
				break;
		}
	}
	return scan->ncolumns == 0 && !scan->rows_by_existence;
}

static bool
decides(const WcScan *scan, int family)
{
	for (uint32_t i = 0; i < scan->nfamilies; i++)
	{
		if (scan->families[i] == (uint32_t) family + 1)
			return true;
	}
	return scan->nfamilies == 0;
}

static bool
in_ranges(const WcScan *scan, int row)
{
	for (uint32_t i = 0; i < scan->nranges; i++)
	{
		if (wc_range_contains(&scan->ranges[i], model_rows[row]))
			return true;
	}
	return scan->nranges == 0;
}

/* Is the nth row (or cell) that is there behind those that are skipped, and within the limit? */
static bool
in_page(const WcScan *scan, uint64_t n)
{
	return n > scan->row_offset && (scan->row_limit == 0 || n <= scan->row_offset + scan->row_limit);
}

/* One row's cells; is the row there?  *ncells counts those that are, of all rows. */
static bool
expect_row(Text *t, const WcScan *scan, int row, ModelCells cells, void *arg, uint64_t *ncells)
{
	static ModelCell list[MODEL_CELLS_MAX];
	size_t		returned = 0;
	bool		exists = false;

	for (int f = 0; f < MODEL_FAMILIES; f++)
	{
		size_t		n = cells(arg, scan, row, f, list);
		size_t		seen = 0;

		exists = exists || (n > 0 && decides(scan, f));
		for (size_t i = 0; i < n; i++)
		{
			char		value[32] = "";

			if (!wants(scan, f, list[i].column))
				continue;
			seen++;
			if (seen <= scan->column_offset ||
				(scan->column_limit > 0 && seen > scan->column_offset + scan->column_limit))
				continue;
			if (!in_page(scan, ++*ncells) && scan->count_cells)
				continue;
			if (list[i].type == WC_PUT)
				snprintf(value, sizeof(value), "v%u", list[i].value);
			add_cell(t, scan, f, list[i].column, list[i].ts, list[i].type, value);
			returned++;
		}
	}
	return scan->rows_by_existence ? exists : returned > 0;
}

/* Orders by the bytes after the first one, then by the first. */
static int
cmp_behind_first_byte(const void *a, const void *b)
{
	WcSlice		x = model_rows[*(const int *) a];
	WcSlice		y = model_rows[*(const int *) b];
	int			c = wc_slice_cmp(wc_slice(x.data + 1, x.len - 1), wc_slice(y.data + 1, y.len - 1));

	return c != 0 ? c : (int) x.data[0] - (int) y.data[0];
}

static void
expect(Text *t, const WcScan *scan, ModelCells cells, void *arg)
{
	uint64_t	there = 0;
	uint64_t	ncells = 0;
	int			order[MODEL_ROWS];

	t->len = 0;
	add(t, "%s", "");
	for (int i = 0; i < MODEL_ROWS; i++)
		order[i] = i;
	if (scan->merged && scan->nranges > 0)
		qsort(order, MODEL_ROWS, sizeof(int), cmp_behind_first_byte);
	for (int i = 0; i < MODEL_ROWS; i++)
	{
		int			row = order[scan->reversed ? MODEL_ROWS - 1 - i : i];
		size_t		start = t->len;

		if (!in_ranges(scan, row))
			continue;
		add(t, "r%d{", row);
		if (!expect_row(t, scan, row, cells, arg, &ncells) || (!in_page(scan, ++there) && !scan->count_cells))
		{
			t->len = start;
			t->data[start] = '\0';
			continue;
		}
		add(t, "} ");
	}
}

/* --- the engine's ---------------------------------------------------------*/

/* A cell of a column that was named exactly must come by its position. */
static void
take_cell(Text *t, const WcScan *scan, const WcCell *cell, uint32_t colno)
{
	uint32_t	family = cell->family;
	WcSlice		qualifier = cell->qualifier;
	char		value[32];

	if (colno != WC_NO_COLUMN)
	{
		assert_true(colno < scan->ncolumns);
		assert_int_equal(scan->columns[colno].kind, WC_COLUMN_EXACT);
		family = scan->columns[colno].family;
		qualifier = scan->columns[colno].qualifier;
	}
	for (uint32_t i = 0; i < scan->ncolumns && colno == WC_NO_COLUMN; i++)
		assert_false(scan->columns[i].kind == WC_COLUMN_EXACT && scan->columns[i].family == family &&
					 wc_slice_eq(scan->columns[i].qualifier, qualifier));
	assert_true(cell->value.len < sizeof(value));
	snprintf(value, sizeof(value), "%.*s", (int) cell->value.len, (const char *) cell->value.data);
	model_cells_compared++;
	add_cell(t, scan, (int) family - 1, number_of(model_columns, MODEL_COLUMNS, qualifier), cell->ts, cell->type, value);
}

/* open: is a row begun and not finished, before and after the block? */
static void
take_block(Kit *kit, Text *t, const WcScan *scan, WcSlice block, uint64_t rows_max, bool *open, bool last)
{
	WcBlockReader reader;
	WcBlockEntry entry;
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;
	uint64_t	nrows = 0;
	bool		in_row = *open;

	assert_ok(kit, wc_block_open(&reader, block, &kit->err));
	assert_int_equal(reader.continues, *open);
	assert_int_equal(reader.end, last);
	while ((entry = wc_block_next(&reader, &row, &cell, &colno)) != WC_BLOCK_DONE)
	{
		assert_int_not_equal(entry, WC_BLOCK_CORRUPT);
		if (entry == WC_BLOCK_CELL)
		{
			take_cell(t, scan, &cell, colno);
			continue;
		}
		if (in_row)
			add(t, "} ");
		add(t, "r%d{", number_of(model_rows, MODEL_ROWS, row));
		in_row = true;
		nrows++;
	}
	assert_true(rows_max == 0 || nrows <= rows_max);
	if (in_row && !reader.open)
		add(t, "} ");
	*open = reader.open;
}

static void
run_scan(Kit *kit, Text *t, const WcScan *scan, const WcReadPoint *at)
{
	WcScanner  *scanner;
	WcBuf		block = WC_BUF_INIT;
	bool		open = false;
	bool		shared = below(4) == 0;
	WcStatus	status;

	t->len = 0;
	add(t, "%s", "");
	assert_ok(kit, wc_scanner_open(wc_engine_storage(kit->engine), scan, at, &scanner, &kit->err));
	if (shared)
		kit_share(kit, scanner, scan, 1 + below(3));
	do
	{
		uint64_t	rows_max = !shared && below(3) == 0 ? 1 + below(3) : 0;

		wc_buf_reset(&block, SIZE_MAX);
		status = wc_scanner_next(scanner, &block, below(4) == 0 ? 4096 : below(60), rows_max, &kit->err);
		if (status != WC_OK && status != WC_END)
			fail_msg("seed %" PRIu64 ": %s (%s)", sequence_seed, kit->err.message, kit->err.detail);
		take_block(kit, t, scan, wc_buf_slice(&block), rows_max, &open, status == WC_END);
	} while (status == WC_OK);
	assert_false(open);
	wc_scanner_close(scanner);
	wc_buf_free(&block);
}

void
model_check_scan(Kit *kit, const ModelScan *m, const WcReadPoint *at, ModelCells cells, void *arg)
{
	static Text got;
	static Text want;

	run_scan(kit, &got, &m->scan, at);
	expect(&want, &m->scan, cells, arg);
	if (strcmp(got.data, want.data) != 0)
		fail_msg("WC_SEED=%" PRIu64 "\n  the engine gives %s\n  the model gives %s", sequence_seed, got.data, want.data);
}
