/*
 * test/unit/test_split.c: row keys that divide a range: inside the range, ascending, with about the same number of rows
 * between them.
 */
#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

#define ROWS_MAX 20000
#define ROW_SIZE 48
#define PARTS 16

typedef struct Rows
{
	Kit			kit;
	int			n;
	char		rows[ROWS_MAX][ROW_SIZE];	/* in order */
} Rows;

static Rows *
start(uint8_t packing)
{
	Rows	   *r = calloc(1, sizeof(Rows));

	kit_open(&r->kit);
	kit_create(&r->kit, "t", packing, 1);
	kit_commit(&r->kit);
	return r;
}

static void
finish(Rows *r)
{
	kit_close(&r->kit);
	free(r);
}

static void
add(Rows *r, uint32_t family, const char *row, int width)
{
	char		value[200];
	uint32_t	seed = (uint32_t) r->n;

	/* letters that do not compress well */
	for (int i = 0; i < width; i++)
	{
		seed = seed * 1664525 + 1013904223;
		value[i] = (char) ('a' + (seed >> 24) % 26);
	}
	value[width] = 0;
	assert_true(r->n < ROWS_MAX);
	snprintf(r->rows[r->n++], ROW_SIZE, "%s", row);
	kit_put(&r->kit, row, family, "a", KIT_LATEST, value);
	if (r->n % 1000 == 0)
		kit_commit(&r->kit);
}

/* Splits the range, checks the points, and tells how many rows the largest part has (*largest) and
 * how many parts there are. */
static int
split(Rows *r, const char *from, const char *to, uint32_t nparts, int *largest)
{
	WcSplitRequest request = {
		.table_id = r->kit.table,.range = {kit_s(from), kit_s(to), true, false},.nparts = nparts
	};
	WcBuf		out = WC_BUF_INIT;
	WcSlice		before = kit_s(from);
	WcDecoder	d;
	int			n;
	int			i = 0;

	assert_ok(&r->kit, wc_engine_split(r->kit.engine, &request, NULL, &out, &r->kit.err));
	d = wc_decoder(wc_buf_slice(&out));
	n = (int) wc_decode_varint(&d);
	assert_true(n < (int) nparts);
	*largest = 0;
	for (int part = 0; part <= n; part++)
	{
		WcSlice		point = part < n ? wc_decode_bytes(&d) : kit_s(to);
		int			rows = 0;

		if (part < n)
		{
			assert_true(wc_slice_cmp(point, before) > 0);
			assert_true(to[0] == 0 || wc_slice_cmp(point, kit_s(to)) < 0);
		}
		for (; i < r->n && (point.len == 0 || wc_slice_cmp(kit_s(r->rows[i]), point) < 0); i++)
			rows += wc_slice_cmp(kit_s(r->rows[i]), kit_s(from)) >= 0;
		if (rows > *largest)
			*largest = rows;
		before = point;
	}
	assert_true(wc_decoder_done(&d));
	wc_buf_free(&out);
	return n + 1;
}

/* PARTS parts of a range with so many rows, none much larger than it should be. */
static void
check(Rows *r, const char *from, const char *to, int rows)
{
	int			largest;
	int			nparts = split(r, from, to, PARTS, &largest);

	if (nparts < PARTS / 2 || largest > 3 * rows / PARTS)
		fail_msg("%d rows in %d parts, the largest has %d", rows, nparts, largest);
}

/* In memtables, in files, and in both; keys that share much, and are far apart and close. */
static void
test_even(void **state)
{
	(void) state;
	EACH_PACKING(p)
	{
		Rows	   *r = start(*p);

		for (int i = 0; i < 20000; i++)
		{
			char		row[ROW_SIZE];

			if (i < 10000)
				snprintf(row, sizeof(row), "a%08d", i * 977);
			else
				snprintf(row, sizeof(row), "the same for a long while %06d", i);
			add(r, 1, row, 60);
			if (i == 11999)
			{
				check(r, "", "", 12000);
				kit_flush(&r->kit);
				check(r, "", "", 12000);
			}
		}
		check(r, "", "", 20000);
		check(r, "a", "b", 10000);
		check(r, r->rows[2000], r->rows[14000], 12000);
		finish(r);
	}
}

/* The second family has other rows than the first: which of them count is the caller's to say. */
static void
test_families(void **state)
{
	(void) state;
	EACH_PACKING(p)
	{
		Rows	   *r = start(*p);
		const uint32_t second = 2;
		WcSplitRequest request = {.table_id = r->kit.table,.range = {kit_s(""), kit_s(""), true, false},.nparts = 2};
		WcBuf		out = WC_BUF_INIT;
		WcDecoder	d;

		for (int i = 0; i < 9000; i++)
		{
			char		row[ROW_SIZE];

			snprintf(row, sizeof(row), "r%05d", i);
			add(r, i < 7000 ? 1 : 2, row, 60);
		}
		kit_flush(&r->kit);
		check(r, "", "", 9000);
		request.families = &second;
		request.nfamilies = 1;
		assert_ok(&r->kit, wc_engine_split(r->kit.engine, &request, NULL, &out, &r->kit.err));
		d = wc_decoder(wc_buf_slice(&out));
		assert_int_equal(wc_decode_varint(&d), 1);
		assert_true(wc_slice_cmp(wc_decode_bytes(&d), kit_s("r07300")) > 0);
		wc_buf_free(&out);
		finish(r);
	}
}

/* Nothing, one row, few rows, of which one is the beginning of the next. */
static void
test_few(void **state)
{
	static const char prefix[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

	(void) state;
	EACH_PACKING(p)
	{
		Rows	   *r = start(*p);
		int			largest;

		assert_int_equal(split(r, "", "", PARTS, &largest), 1);
		for (int i = 1; i <= 12; i++)
		{
			char		row[ROW_SIZE];

			snprintf(row, sizeof(row), "%.*s", i, prefix);
			add(r, 1, row, 10);
			kit_commit(&r->kit);
			assert_true(split(r, "", "", PARTS, &largest) <= i);
			assert_int_equal(split(r, "b", "", PARTS, &largest), 1);
			assert_int_equal(split(r, row, row, PARTS, &largest), 1);
		}
		assert_true(split(r, "", "", 4, &largest) >= 3);
		assert_int_equal(split(r, "", "", 1, &largest), 1);
		finish(r);
	}
}

static void
test_refused(void **state)
{
	Rows	   *r = start(WC_PACKING_CELL);
	WcSplitRequest request = {.table_id = r->kit.table,.range = {kit_s(""), kit_s(""), true, false},.nparts = 0};
	WcBuf		out = WC_BUF_INIT;
	atomic_bool cancel = true;

	(void) state;
	add(r, 1, "a", 10);
	add(r, 1, "b", 10);
	kit_commit(&r->kit);
	assert_int_equal(wc_engine_split(r->kit.engine, &request, NULL, &out, &r->kit.err), WC_INVALID);
	request.nparts = WC_PARTS_MAX + 1;
	assert_int_equal(wc_engine_split(r->kit.engine, &request, NULL, &out, &r->kit.err), WC_INVALID);
	request.nparts = 2;
	assert_int_equal(wc_engine_split(r->kit.engine, &request, &cancel, &out, &r->kit.err), WC_CANCELLED);
	request.table_id += 1000;	/* of a transaction that has not committed yet */
	assert_ok(&r->kit, wc_engine_split(r->kit.engine, &request, NULL, &out, &r->kit.err));
	assert_int_equal(out.len, 1);
	wc_buf_free(&out);
	finish(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_even),
		cmocka_unit_test(test_families),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
