/*
 * test/unit/test_sample.c: ranges of a sample: disjoint, from the whole table, with weights that make sums right.
 */
#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

#define ROWS_MAX 30000
#define ROW_SIZE 48

typedef struct Rows
{
	Kit			kit;
	WcRange		range;			/* to sample; all: rows are noted only of it */
	int			n;
	char		rows[ROWS_MAX][ROW_SIZE];	/* in order */
} Rows;

/* The drawn ranges. */
typedef struct Drawn
{
	uint64_t	nranges;
	uint64_t	rows;			/* in the ranges */
	double		weighted;		/* rows they stand for */
	double		low;			/* of these, in the first fifth of the rows */
} Drawn;

static void
start(Rows *r, uint8_t packing)
{
	memset(r, 0, sizeof(*r));
	r->range.start_inclusive = true;
	kit_open(&r->kit);
	kit_create(&r->kit, "t", packing, 1);
	kit_commit(&r->kit);
}

static void
add(Rows *r, uint32_t family, const char *row, const char *value)
{
	assert_true(r->n < ROWS_MAX);
	snprintf(r->rows[r->n++], ROW_SIZE, "%s", row);
	kit_put(&r->kit, row, family, "a", KIT_LATEST, value);
}

/* len letters that do not compress well. */
static void
fill(char *value, int len, uint32_t seed)
{
	for (int i = 0; i < len; i++)
	{
		seed = seed * 1664525 + 1013904223;
		value[i] = (char) ('a' + (seed >> 24) % 26);
	}
	value[len] = 0;
}

/* Decodes and checks ranges; counts. */
static Drawn
draw(Rows *r, uint32_t nranges, uint64_t range_rows, uint64_t seed)
{
	WcSampleRequest request = {r->kit.table, r->range, nranges, range_rows, seed};
	WcBuf		out = WC_BUF_INIT;
	Drawn		drawn = {0};
	WcDecoder	d;
	WcSlice		end = {NULL, 0};
	int			i = 0;

	assert_ok(&r->kit, wc_engine_sample(r->kit.engine, &request, NULL, &out, &r->kit.err));
	d = wc_decoder(wc_buf_slice(&out));
	drawn.nranges = wc_decode_varint(&d);
	for (uint64_t n = 0; n < drawn.nranges; n++)
	{
		WcSlice		from = wc_decode_bytes(&d);
		WcSlice		to = wc_decode_bytes(&d);
		double		weight = (double) wc_decode_varint(&d) / 65536;

		assert_true(weight > 0);
		assert_true(n == 0 || (end.len > 0 && wc_slice_cmp(end, from) <= 0));
		assert_true(to.len == 0 || wc_slice_cmp(from, to) < 0);
		end = to;
		for (; i < r->n && wc_slice_cmp(kit_s(r->rows[i]), from) < 0; i++)
			;
		for (; i < r->n && (to.len == 0 || wc_slice_cmp(kit_s(r->rows[i]), to) < 0); i++)
		{
			drawn.rows++;
			drawn.weighted += weight;
			if (i < r->n / 5)
				drawn.low += weight;
		}
	}
	assert_true(wc_decoder_done(&d));
	wc_buf_free(&out);
	return drawn;
}

/* Over many draws the weights count the rows, all and those of the first fifth,
 * and few rows are read. */
static void
check_counts(Rows *r, uint32_t nranges, uint64_t range_rows)
{
	const int	draws = 60;
	Drawn		sum = {0};

	for (int i = 0; i < draws; i++)
	{
		Drawn		drawn = draw(r, nranges, range_rows, (uint64_t) i * 7919);

		assert_true(drawn.nranges <= nranges + 2);
		assert_true(drawn.nranges >= nranges / 3);
		sum.rows += drawn.rows;
		sum.weighted += drawn.weighted / draws;
		sum.low += drawn.low / draws;
	}
	assert_true(sum.rows / draws <= 3 * nranges * range_rows);
	assert_true(sum.weighted > 0.95 * r->n && sum.weighted < 1.05 * r->n);
	assert_true(sum.low > 0.9 * r->n / 5 && sum.low < 1.1 * r->n / 5);
}

static void
test_counts(void **state)
{
	EACH_PACKING(p)
	{
		Rows	   *r = malloc(sizeof(Rows));

		start(r, *p);
		for (int i = 0; i < 20000; i++)
		{
			char		row[ROW_SIZE];
			char		value[200];

			/* the first fifth is wide and far apart, the rest narrow and close */
			if (i < 4000)
				snprintf(row, sizeof(row), "a%06d", i * 97);
			else
				snprintf(row, sizeof(row), "the same for a long while %06d", i);
			fill(value, i < 4000 ? 180 : 20, (uint32_t) i);
			add(r, 1, row, value);
			if (i % 1000 == 999)
				kit_commit(&r->kit);
			if (i == 14999)
			{
				check_counts(r, 40, 5);
				kit_flush(&r->kit);
				check_counts(r, 40, 5);
			}
		}
		/* a part in files, a part in memtables */
		check_counts(r, 40, 5);
		kit_close(&r->kit);
		free(r);
	}
}

/* Two families, the second with few rows, which the first does not have. */
static void
test_families(void **state)
{
	EACH_PACKING(p)
	{
		Rows	   *r = malloc(sizeof(Rows));

		start(r, *p);
		for (int i = 0; i < 12000; i++)
		{
			char		row[ROW_SIZE];
			char		value[40];

			snprintf(row, sizeof(row), "r%05d", i);
			fill(value, 30, (uint32_t) i);
			add(r, i % 10 == 3 || i < 1000 ? 2 : 1, row, value);
			if (i % 1000 == 999)
				kit_commit(&r->kit);
		}
		check_counts(r, 30, 4);
		kit_flush(&r->kit);
		check_counts(r, 30, 4);
		kit_close(&r->kit);
		free(r);
	}
}

/* As many ranges as there are chunks: all rows, each counting once. */
static void
test_all(void **state)
{
	EACH_PACKING(p)
	{
		Rows	   *r = malloc(sizeof(Rows));
		Drawn		drawn;

		start(r, *p);
		for (int i = 0; i < 120; i++)
		{
			char		row[ROW_SIZE];

			snprintf(row, sizeof(row), "r%05d", i);
			add(r, 1, row, "v");
		}
		kit_commit(&r->kit);
		drawn = draw(r, 100, 10, 1);
		assert_int_equal(drawn.nranges, 12 + 2);
		assert_int_equal(drawn.rows, 120);
		assert_int_equal(drawn.weighted, 120);
		drawn = draw(r, 4, 10, 1);
		assert_int_equal(drawn.nranges, 4 + 2);
		assert_int_equal(drawn.rows, 40);
		assert_int_equal(drawn.weighted, 120);
		kit_close(&r->kit);
		free(r);
	}
}

/* A range of the table: its rows alone. */
static void
test_range(void **state)
{
	EACH_PACKING(p)
	{
		Rows	   *r = malloc(sizeof(Rows));

		start(r, *p);
		r->range.start = kit_s("m05000");
		r->range.stop = kit_s("m15000");
		for (int i = 0; i < 18000; i++)
		{
			char		row[ROW_SIZE];
			char		value[40];

			snprintf(row, sizeof(row), "m%05d", i);
			fill(value, 30, (uint32_t) i);
			if (i >= 5000 && i < 15000)
				add(r, 1, row, value);
			else
				kit_put(&r->kit, row, 1, "a", KIT_LATEST, value);
			if (i % 1000 == 999)
				kit_commit(&r->kit);
		}
		check_counts(r, 30, 4);
		kit_flush(&r->kit);
		check_counts(r, 30, 4);
		r->range.start = kit_s("n");
		r->range.stop = kit_s("o");
		r->n = 0;
		assert_int_equal(draw(r, 10, 10, 1).nranges, 1);
		kit_close(&r->kit);
		free(r);
	}
}

/* Nothing, one row, rows that begin as others do or go on with zero bytes. */
static void
test_odd_rows(void **state)
{
	EACH_PACKING(p)
	{
		Rows	   *r = malloc(sizeof(Rows));
		static const char prefix[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
		Drawn		drawn;

		start(r, *p);
		drawn = draw(r, 100, 10, 1);
		assert_int_equal(drawn.nranges, 1);
		assert_int_equal(drawn.weighted, 0);
		for (int i = 1; i <= 40; i++)
		{
			char		row[ROW_SIZE];
			char		value[3000];

			memset(value, 'v', sizeof(value));
			value[sizeof(value) - 1] = 0;
			snprintf(row, sizeof(row), "%.*s", i, prefix);
			add(r, 1, row, value);
			if (i > 1 && i < 40)
				continue;
			kit_commit(&r->kit);
			kit_flush(&r->kit);
			drawn = draw(r, 100, 1, 1);
			assert_int_equal(drawn.rows, i);
			assert_int_equal(drawn.nranges, i + 2);
		}
		kit_close(&r->kit);
		free(r);
	}
}

static void
test_refused(void **state)
{
	Rows	   *r = malloc(sizeof(Rows));
	WcBuf		out = WC_BUF_INIT;
	WcSampleRequest request;
	atomic_bool cancel = true;

	start(r, WC_PACKING_CELL);
	add(r, 1, "a", "v");
	kit_commit(&r->kit);
	request = (WcSampleRequest) {r->kit.table, r->range, 0, 1, 1};
	assert_int_equal(wc_engine_sample(r->kit.engine, &request, NULL, &out, &r->kit.err), WC_INVALID);
	request.nranges = WC_RANGES_MAX - 1;
	assert_int_equal(wc_engine_sample(r->kit.engine, &request, NULL, &out, &r->kit.err), WC_INVALID);
	request.nranges = 1;
	assert_int_equal(wc_engine_sample(r->kit.engine, &request, &cancel, &out, &r->kit.err), WC_CANCELLED);
	request.table_id += 1000;	/* of a transaction that has not committed yet */
	assert_ok(&r->kit, wc_engine_sample(r->kit.engine, &request, NULL, &out, &r->kit.err));
	wc_buf_free(&out);
	kit_close(&r->kit);
	free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_families),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_odd_rows),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
