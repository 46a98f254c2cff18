/*
 * test/model/test_visibility_model.c: random cells against the documented rules.
 *
 * Puts and markers of every kind with explicit timestamps in any order, all attributes, time ranges, versions, raw
 * scans.  The model keeps every cell and decides for each one, anew for every scan, whether a rule hides it.  Nothing is
 * flushed, since forgotten cells may be visible in this model.  Packing "cell": packing "row" forgets at every
 * write.
 */
#include <stdio.h>

#include "modelscan.h"

#define SECOND		INT64_C(1000000)
#define TIMES		20			/* timestamps are so many seconds ago, and half a one */
#define OPS			60
#define CELLS_MAX	(OPS * 4)

typedef struct StoredCell
{
	int			row;
	int			family;
	int			column;			/* of the family's markers: 0, which has no name */
	int64_t		ts;
	uint8_t		type;
	int64_t		ttl_us;
	unsigned	value;
} StoredCell;

static Kit	kit;
static WcFamilyAttrs attrs;
static StoredCell stored[CELLS_MAX];
static size_t nstored;

/* --- the rules ------------------------------------------------------------*/

static bool
of_family(const StoredCell *c)
{
	return c->type == WC_DELETE_FAMILY || c->type == WC_DELETE_FAMILY_VERSION;
}

static bool
in_range(const WcScan *scan, int64_t ts)
{
	return ts >= scan->ts_min && (ts < scan->ts_max || scan->ts_max == WC_TS_LATEST);
}

static bool
past_family_ttl(const StoredCell *c)
{
	return attrs.ttl_us > 0 && c->ts < kit_now - attrs.ttl_us;
}

static bool
past_cell_ttl(const StoredCell *c)
{
	return c->ttl_us > 0 && c->ts + c->ttl_us < kit_now;
}

/* Does the marker mask the put, for this scan? */
static bool
masks(const WcScan *scan, const StoredCell *marker, const StoredCell *put)
{
	if (marker->type == WC_PUT || marker->row != put->row || marker->family != put->family)
		return false;
	if (!of_family(marker) && marker->column != put->column)
		return false;
	if (marker->ts < scan->ts_min || (attrs.keep_deleted != WC_KEEP_DELETED_FALSE && !in_range(scan, marker->ts)))
		return false;
	if (past_family_ttl(marker) && attrs.min_versions == 0)
		return false;
	if (marker->type == WC_DELETE || marker->type == WC_DELETE_FAMILY_VERSION)
		return marker->ts == put->ts;
	return marker->ts >= put->ts;
}

/* Is it a put that TTLs, markers and the time range leave? */
static bool
is_candidate(const WcScan *scan, const StoredCell *c)
{
	if (c->type != WC_PUT || past_cell_ttl(c) || !in_range(scan, c->ts) ||
		(past_family_ttl(c) && attrs.min_versions == 0))
		return false;
	for (size_t i = 0; i < nstored; i++)
	{
		if (masks(scan, &stored[i], c))
			return false;
	}
	return true;
}

/* Does the scan name columns of the family, not as a condition, and want no others? */
static bool
names_columns(const WcScan *scan, int family)
{
	bool		names = false;

	for (uint32_t i = 0; i < scan->ncolumns; i++)
	{
		const WcColumn *c = &scan->columns[i];

		if (c->family != (uint32_t) family + 1)
			continue;
		if (c->kind == WC_COLUMN_RANGE && c->stop.len > 0 && wc_slice_cmp(c->qualifier, c->stop) >= 0)
			continue;			/* an empty range */
		if (c->kind != WC_COLUMN_EXACT)
			return false;
		names = !scan->count_cells;
	}
	return names;
}

static bool
is_visible(const WcScan *scan, const StoredCell *c)
{
	uint32_t	newer = 0;
	uint32_t	expired = 0;

	if (!is_candidate(scan, c))
		return false;
	for (size_t i = 0; i < nstored; i++)
	{
		const StoredCell *o = &stored[i];

		if (o->row == c->row && o->family == c->family && o->column == c->column && o->ts > c->ts &&
			is_candidate(scan, o))
		{
			newer++;
			expired += past_family_ttl(o);
		}
	}
	if (past_family_ttl(c) && newer >= attrs.min_versions && (expired > 0 || !names_columns(scan, c->family)))
		return false;
	return newer < scan->versions && newer < attrs.versions;
}

/* Raw: puts up to the scan's versions, and markers up to the put that is one
 * too many. */
static bool
is_in_raw(const WcScan *scan, const StoredCell *c)
{
	uint32_t	puts = 0;

	if (past_cell_ttl(c) || !in_range(scan, c->ts))
		return false;
	for (size_t i = 0; i < nstored; i++)
	{
		const StoredCell *o = &stored[i];

		if (o->row == c->row && o->family == c->family && o->column == c->column && o->type == WC_PUT &&
			o->ts > c->ts && in_range(scan, o->ts) && !past_cell_ttl(o))
			puts++;
	}
	return c->type == WC_PUT ? puts < scan->versions : puts <= scan->versions;
}

static int
cmp_model_cells(const void *a, const void *b)
{
	const ModelCell *x = a;
	const ModelCell *y = b;

	if (x->column != y->column)
		return x->column - y->column;
	if (x->ts != y->ts)
		return x->ts > y->ts ? -1 : 1;
	return (int) y->type - (int) x->type;
}

static size_t
visible_cells(void *arg, const WcScan *scan, int row, int family, ModelCell *cells)
{
	size_t		n = 0;

	for (size_t i = 0; i < nstored; i++)
	{
		const StoredCell *c = &stored[i];

		if (c->row != row || c->family != family || !(scan->raw ? is_in_raw(scan, c) : is_visible(scan, c)))
			continue;
		cells[n++] = (ModelCell) {.column = c->column, .ts = c->ts, .type = c->type, .value = c->value};
	}
	qsort(cells, n, sizeof(ModelCell), cmp_model_cells);
	return n;
}

/* --- writes ---------------------------------------------------------------*/

static int64_t
random_time(void)
{
	return kit_now - (int64_t) below(TIMES) * SECOND + SECOND / 2;
}

static void
store(const StoredCell *cell)
{
	size_t		i;

	for (i = 0; i < nstored; i++)
	{
		const StoredCell *o = &stored[i];

		if (o->row == cell->row && o->family == cell->family && o->column == cell->column &&
			o->ts == cell->ts && o->type == cell->type)
			break;
	}
	stored[i] = *cell;
	if (i == nstored)
		nstored++;
	assert_true(nstored < CELLS_MAX);
}

static void
write_cell(const StoredCell *c)
{
	WcBatchBuilder *b = &kit.builder;
	WcSlice		qualifier = of_family(c) ? wc_slice(NULL, 0) : model_columns[c->column];
	char		value[32];

	snprintf(value, sizeof(value), "v%u", c->value);
	assert_ok(&kit, wc_batch_row_begin(b, kit.table, kit.cid, model_rows[c->row], 0, NULL, 0, &kit.err));
	if (c->type == WC_PUT)
		assert_ok(&kit, wc_batch_put(b, (uint32_t) c->family + 1, qualifier, c->ts, c->ttl_us, wc_slice_cstr(value), &kit.err));
	else
		assert_ok(&kit, wc_batch_delete(b, (WcCellType) c->type, (uint32_t) c->family + 1, qualifier, c->ts, &kit.err));
	assert_ok(&kit, wc_batch_row_end(b, &kit.err));
	/* a put that has expired already does not replace another one */
	if (c->type != WC_PUT || !past_cell_ttl(c))
		store(c);
}

static void
random_write(void)
{
	static const uint8_t markers[] = {WC_DELETE, WC_DELETE_COLUMN, WC_DELETE_FAMILY, WC_DELETE_FAMILY_VERSION};
	static unsigned last_value;
	StoredCell	c = {
		.row = (int) below(3),	/* few, so that much meets */
		.family = (int) below(MODEL_FAMILIES),
		.column = (int) below(3),
		.ts = random_time(),
		.type = below(3) == 0 ? markers[below(4)] : WC_PUT
	};

	if (of_family(&c))
		c.column = 0;
	if (c.type == WC_PUT)
	{
		c.value = ++last_value;
		if (below(6) == 0)
			c.ttl_us = (1 + (int64_t) below(TIMES)) * SECOND;
	}
	write_cell(&c);
}

/* --- reads ----------------------------------------------------------------*/

static void
random_read(bool own)
{
	WcReadPoint at = kit_point(&kit, own);
	ModelScan	m;

	model_random_scan(&m, kit.table);
	m.scan.want_ts = true;
	m.scan.versions = below(3) == 0 ? WC_VERSIONS_MAX : 1 + below(4);
	if (below(3) == 0)
		m.scan.ts_min = random_time();
	if (below(3) == 0)
	{
		m.scan.ts_max = random_time();
		if (m.scan.ts_max < m.scan.ts_min)
			m.scan.ts_max = m.scan.ts_min;
	}
	if (below(4) == 0)
	{
		m.scan.raw = true;
		for (uint32_t i = 0; i < m.scan.ncolumns; i++)
			m.columns[i] = (WcColumn) {.family = m.columns[i].family, .kind = WC_COLUMN_FAMILY};
	}
	model_check_scan(&kit, &m, &at, visible_cells, NULL);
}

static void
random_attrs(void)
{
	attrs = wc_family_attrs_default;
	attrs.packing = WC_PACKING_CELL;
	attrs.versions = 1 + below(5);
	attrs.bloomfilter = (uint8_t) below(3);
	attrs.keep_deleted = (uint8_t) below(3);
	if (below(2) == 0)
	{
		attrs.ttl_us = (1 + (int64_t) below(TIMES)) * SECOND;
		attrs.min_versions = below(attrs.versions + 1);
	}
}

static void
test_random_cells(void **state)
{
	unsigned	n = model_sequences(1500);

	kit_now = 1000000 * SECOND;
	kit_open(&kit);
	for (unsigned i = 0; i < n; i++)
	{
		char		name[32];

		model_start_sequence(i);
		random_attrs();
		nstored = 0;
		kit.cid = 1;
		snprintf(name, sizeof(name), "t%u", i);
		kit_create_attrs(&kit, name, &attrs);
		kit_commit(&kit);
		for (int k = 0; k < OPS; k++)
		{
			random_write();
			if (below(3) == 0)
			{
				/* an own read first: uncommitted operations count as well */
				kit.cid++;
				assert_ok(&kit, kit_send(&kit));
				random_read(true);
			}
			if (below(6) == 0)
				kit_commit(&kit);
		}
		kit_commit(&kit);
		for (int k = 0; k < 20; k++)
			random_read(false);
		assert_ok(&kit, wc_batch_drop_table(&kit.builder, kit.cid, kit.table, &kit.err));
		kit_commit(&kit);
	}
	assert_true(model_cells_compared > n);
	kit_close(&kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_cells)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
