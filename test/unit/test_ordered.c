/*
 * test/unit/test_ordered.c: order-preserving bytes, as rowkey/README specifies them.
 *
 * The order of the bytes is the order of the values, reading returns the written value, and readers refuse
 * bytes that no writer makes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <stdio.h>

#include "random.h"
#include "rowkey/ordered.h"

static int
cmp_bytes(const void *a, const void *b, size_t n)
{
	return sign(memcmp(a, b, n));
}

/* --- ordered ------------------------------------------------------------------- */

static void
test_ints(void **test_state)
{
	for (int i = 0; i < 50000; i++)
	{
		int64_t		a = random_int();
		int64_t		b = random_int();
		uint8_t		x[8];
		uint8_t		y[8];

		wc_ordered_store_i64(x, a);
		wc_ordered_store_i64(y, b);
		assert_int_equal(cmp_bytes(x, y, 8), (a > b) - (a < b));
		assert_true(wc_ordered_load_i64(x) == a);

		wc_ordered_store_i32(x, (int32_t) a);
		wc_ordered_store_i32(y, (int32_t) b);
		assert_int_equal(cmp_bytes(x, y, 4), ((int32_t) a > (int32_t) b) - ((int32_t) a < (int32_t) b));
		assert_int_equal(wc_ordered_load_i32(x), (int32_t) a);

		wc_ordered_store_i16(x, (int16_t) a);
		wc_ordered_store_i16(y, (int16_t) b);
		assert_int_equal(cmp_bytes(x, y, 2), ((int16_t) a > (int16_t) b) - ((int16_t) a < (int16_t) b));
		assert_int_equal(wc_ordered_load_i16(x), (int16_t) a);
	}
}

static void
test_int_bytes(void **test_state)
{
	uint8_t		x[8];

	wc_ordered_store_i32(x, 1);
	assert_memory_equal(x, "\x80\x00\x00\x01", 4);
	wc_ordered_store_i32(x, -1);
	assert_memory_equal(x, "\x7F\xFF\xFF\xFF", 4);
	wc_ordered_store_i16(x, INT16_MIN);
	assert_memory_equal(x, "\x00\x00", 2);
	wc_ordered_store_f64(x, 1.0);
	assert_memory_equal(x, "\xBF\xF0\x00\x00\x00\x00\x00\x00", 8);
	wc_ordered_store_f64(x, -1.0);
	assert_memory_equal(x, "\x40\x0F\xFF\xFF\xFF\xFF\xFF\xFF", 8);
}

static double
random_float(void)
{
	static const double edges[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, -NAN, DBL_MIN, -DBL_MIN,
		DBL_MAX, -DBL_MAX, DBL_EPSILON, 5e-324, -5e-324, FLT_MAX, -FLT_MAX, FLT_MIN, 1e-45};
	uint64_t	bits = next_random();
	double		v;

	if (below(2) == 0)
		return edges[below(sizeof(edges) / sizeof(edges[0]))];
	memcpy(&v, &bits, 8);
	return v;
}

static void
test_floats(void **test_state)
{
	for (int i = 0; i < 50000; i++)
	{
		double		a = random_float();
		double		b = random_float();
		float		fa;
		float		fb;
		uint8_t		x[8];
		uint8_t		y[8];
		double		back;
		float		fback;

		wc_ordered_store_f64(x, a);
		wc_ordered_store_f64(y, b);
		assert_int_equal(cmp_bytes(x, y, 8), cmp_float(a, b));
		assert_true(wc_ordered_load_f64(x, &back));
		assert_int_equal(cmp_float(a, back), 0);

		fa = fabs(a) <= (double) FLT_MAX || !isfinite(a) ? (float) a : (float) i;
		fb = fabs(b) <= (double) FLT_MAX || !isfinite(b) ? (float) b : (float) -i;
		wc_ordered_store_f32(x, fa);
		wc_ordered_store_f32(y, fb);
		assert_int_equal(cmp_bytes(x, y, 4), cmp_float((double) fa, (double) fb));
		assert_true(wc_ordered_load_f32(x, &fback));
		assert_int_equal(cmp_float((double) fa, (double) fback), 0);
	}
}

/* A reader must refuse what no writer makes: two keys must not be one value. */
static void
test_foreign_bytes_are_refused(void **test_state)
{
	float		f;
	double		d;
	bool		b;

	assert_false(wc_ordered_load_f32((const uint8_t *) "\x7F\xFF\xFF\xFF", &f));	/* -0 */
	assert_false(wc_ordered_load_f32((const uint8_t *) "\xFF\xC0\x00\x01", &f));	/* another NaN */
	assert_false(wc_ordered_load_f32((const uint8_t *) "\x00\x3F\xFF\xFF", &f));	/* -NaN */
	assert_false(wc_ordered_load_f64((const uint8_t *) "\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", &d));
	assert_false(wc_ordered_load_f64((const uint8_t *) "\xFF\xF8\x00\x00\x00\x00\x00\x01", &d));
	assert_false(wc_ordered_load_bool((const uint8_t *) "\x02", &b));
	assert_true(wc_ordered_load_bool((const uint8_t *) "\x01", &b));
	assert_true(b);
}

static void
test_escaped(void **test_state)
{
	WcBuf		x = WC_BUF_INIT;
	WcBuf		y = WC_BUF_INIT;
	WcBuf		back = WC_BUF_INIT;

	for (int i = 0; i < 50000; i++)
	{
		bool		desc = below(2) == 0;
		uint8_t		ra[6];
		uint8_t		rb[6];
		WcSlice		a = random_bytes(ra, 6, "\0\1\xFE\xFF" "a", 5);
		WcSlice		b = random_bytes(rb, 6, "\0\1\xFE\xFF" "a", 5);
		size_t		used;
		size_t		len;
		int			expected = sign(wc_slice_cmp(a, b)) * (desc ? -1 : 1);

		wc_buf_reset(&x, 100);
		wc_buf_reset(&y, 100);
		wc_ordered_append_escaped(&x, a, desc, true);
		wc_ordered_append_escaped(&y, b, desc, true);
		len = x.len;
		/* whatever follows must not change the order */
		wc_buf_append_u8(&x, (uint8_t) next_random());
		wc_buf_append_u8(&y, (uint8_t) next_random());
		if (expected != 0)
			assert_int_equal(sign(wc_slice_cmp(wc_buf_slice(&x), wc_buf_slice(&y))), expected);

		wc_buf_reset(&back, 100);
		assert_true(wc_ordered_read_escaped(wc_buf_slice(&x), desc, &back, &used));
		assert_int_equal(used, len);
		assert_true(wc_slice_eq(wc_buf_slice(&back), a));
		for (size_t cut = 0; cut < len; cut++)
			assert_false(wc_ordered_read_escaped(wc_slice(x.data, cut), desc, &back, &used));
		assert_int_equal(back.len, a.len);
	}
	wc_buf_reset(&back, 100);
	size_t		unused;

	assert_false(wc_ordered_read_escaped(wc_slice("a\0\1b\0\0", 6), false, &back, &unused));
	wc_buf_free(&x);
	wc_buf_free(&y);
	wc_buf_free(&back);
}

/* --- numeric -------------------------------------------------------------------- */

/* m * 10^e as a WcNumeric; digits go to room. */
static WcNumeric
make_numeric(int64_t m, int e, char *room)
{
	WcNumeric	n = {WC_NUMERIC_FINITE, m < 0, 0, room, 0};
	int			len = sprintf(room, "%lld", (long long) (m < 0 ? -m : m));

	if (m == 0)
		return n;
	n.exponent = len + e;
	while (room[len - 1] == '0')
		len--;
	n.ndigits = (size_t) len;
	return n;
}

static void
test_numeric_order(void **test_state)
{
	static const int64_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
	WcBuf		x = WC_BUF_INIT;
	WcBuf		y = WC_BUF_INIT;
	WcBuf		digits = WC_BUF_INIT;

	for (int i = 0; i < 50000; i++)
	{
		int64_t		ma = (int64_t) (next_random() >> (24 + below(40))) % 1000000000 * (below(2) ? 1 : -1);
		int64_t		mb = below(3) == 0 ? ma : (int64_t) below(1000) * (below(2) ? 1 : -1);
		int			ea = (int) below(9) - 4;
		int			eb = (int) below(9) - 4;
		int64_t		va = ma * power[ea + 4];
		int64_t		vb = mb * power[eb + 4];
		char		ra[32];
		char		rb[32];
		WcNumeric	a = make_numeric(ma, ea, ra);
		WcNumeric	b = make_numeric(mb, eb, rb);
		WcNumeric	back;

		wc_buf_reset(&x, 100);
		wc_buf_reset(&y, 100);
		wc_buf_reset(&digits, 100);
		wc_ordered_append_numeric(&x, &a);
		wc_ordered_append_numeric(&y, &b);
		assert_int_equal(sign(wc_slice_cmp(wc_buf_slice(&x), wc_buf_slice(&y))), (va > vb) - (va < vb));
		if (va != vb)
			assert_false(wc_slice_starts_with(wc_buf_slice(&x), wc_buf_slice(&y)));
		assert_true(wc_ordered_read_numeric(wc_buf_slice(&x), &digits, &back));
		assert_int_equal(back.ndigits, a.ndigits);
		assert_int_equal(back.exponent, a.exponent);
		if (a.ndigits > 0)
		{
			assert_memory_equal(back.digits, a.digits, a.ndigits);
			assert_true(back.negative == a.negative);
		}
		for (size_t cut = 0; cut < x.len; cut++)
			assert_false(wc_ordered_read_numeric(wc_slice(x.data, cut), &digits, &back));
	}
	wc_buf_free(&x);
	wc_buf_free(&y);
	wc_buf_free(&digits);
}

/* The ends, and exponents of several bytes. */
static void
test_numeric_extremes(void **test_state)
{
	static const WcNumeric ascending[] = {
		{WC_NUMERIC_MINUS_INFINITY, true, 0, NULL, 0},
		{WC_NUMERIC_FINITE, true, 131072, "9", 1},
		{WC_NUMERIC_FINITE, true, 131072, "1", 1},
		{WC_NUMERIC_FINITE, true, 101, "11", 2},
		{WC_NUMERIC_FINITE, true, 101, "1", 1},
		{WC_NUMERIC_FINITE, true, 100, "99", 2},
		{WC_NUMERIC_FINITE, true, 1, "1", 1},
		{WC_NUMERIC_FINITE, true, -100, "1", 1},
		{WC_NUMERIC_FINITE, true, -101, "9", 1},
		{WC_NUMERIC_FINITE, true, -16382, "1", 1},
		{WC_NUMERIC_FINITE, false, 0, NULL, 0},
		{WC_NUMERIC_FINITE, false, -16382, "1", 1},
		{WC_NUMERIC_FINITE, false, -101, "9", 1},
		{WC_NUMERIC_FINITE, false, -100, "1", 1},
		{WC_NUMERIC_FINITE, false, 0, "1", 1},
		{WC_NUMERIC_FINITE, false, 0, "10001", 5},
		{WC_NUMERIC_FINITE, false, 100, "99", 2},
		{WC_NUMERIC_FINITE, false, 101, "1", 1},
		{WC_NUMERIC_FINITE, false, 131072, "1", 1},
		{WC_NUMERIC_INFINITY, false, 0, NULL, 0},
		{WC_NUMERIC_NAN, false, 0, NULL, 0},
	};
	WcBuf		last = WC_BUF_INIT;
	WcBuf		here = WC_BUF_INIT;
	WcBuf		digits = WC_BUF_INIT;
	WcNumeric	back;

	for (size_t i = 0; i < sizeof(ascending) / sizeof(ascending[0]); i++)
	{
		wc_buf_reset(&here, 100);
		wc_ordered_append_numeric(&here, &ascending[i]);
		if (i > 0)
			assert_true(wc_slice_cmp(wc_buf_slice(&last), wc_buf_slice(&here)) < 0);
		wc_buf_reset(&digits, 100);
		assert_true(wc_ordered_read_numeric(wc_buf_slice(&here), &digits, &back));
		assert_int_equal(back.class_, ascending[i].class_);
		assert_int_equal(back.exponent, ascending[i].exponent);
		wc_buf_reset(&last, 100);
		wc_buf_append_slice(&last, wc_buf_slice(&here));
	}
	wc_buf_free(&last);
	wc_buf_free(&here);
	wc_buf_free(&digits);
}

/* Whatever a reader accepts is what a writer would have written. */
static void
test_numeric_is_canonical(void **test_state)
{
	WcBuf		x = WC_BUF_INIT;
	WcBuf		again = WC_BUF_INIT;
	WcBuf		digits = WC_BUF_INIT;
	int			accepted = 0;

	for (int i = 0; i < 200000; i++)
	{
		char		room[32];
		WcNumeric	n = make_numeric((int64_t) (next_random() >> 30) * (below(2) ? 1 : -1), (int) below(300) - 150, room);
		WcNumeric	back;

		wc_buf_reset(&x, 100);
		wc_buf_reset(&again, 100);
		wc_buf_reset(&digits, 100);
		wc_ordered_append_numeric(&x, &n);
		x.data[below((uint32_t) x.len)] ^= (uint8_t) (1 << below(8));
		if (!wc_ordered_read_numeric(wc_buf_slice(&x), &digits, &back))
			continue;
		accepted++;
		wc_ordered_append_numeric(&again, &back);
		assert_true(wc_slice_eq(wc_buf_slice(&x), wc_buf_slice(&again)));
	}
	assert_true(accepted > 0);
	wc_buf_free(&x);
	wc_buf_free(&again);
	wc_buf_free(&digits);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_ints, seed),
		cmocka_unit_test_setup(test_int_bytes, seed),
		cmocka_unit_test_setup(test_floats, seed),
		cmocka_unit_test_setup(test_foreign_bytes_are_refused, seed),
		cmocka_unit_test_setup(test_escaped, seed),
		cmocka_unit_test_setup(test_numeric_order, seed),
		cmocka_unit_test_setup(test_numeric_extremes, seed),
		cmocka_unit_test_setup(test_numeric_is_canonical, seed),
	};

	return cmocka_run_group_tests_name("ordered", tests, NULL, NULL);
}
