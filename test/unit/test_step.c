/*
 * test/unit/test_step.c: steps as bytes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "mangle.h"
#include "model/descriptor.h"
#include "model/step.h"

#define S(literal) wc_slice(literal, sizeof(literal) - 1)

static const WcStep flush = {
	.kind = WC_STEP_FLUSH,.last = true,.table_id = 7,.family_id = 1,.generation = 1,
	.now_us = 10,.from_ts = 5,.until_ts = 9,.dated_until_ts = 9,.earliest_put_ts = INT64_MIN
};

/* A step of each kind, with all that it may have. */
static WcStep
sample(uint8_t kind)
{
	WcStep		step = {
		.kind = kind,.keep_deleted = WC_KEEP_DELETED_TTL,.last = kind % 2 == 0,
		.table_id = UINT32_MAX,.family_id = 300,.generation = 70000
	};

	if (kind == WC_STEP_EXPIRE)
	{
		step.expired_ts = INT64_MAX;
		step.oldest_ts = 12345;
		return step;
	}
	step.now_us = INT64_MAX - 1;
	step.from_ts = 3;
	step.until_ts = INT64_MAX;
	step.dated_until_ts = 4;
	step.earliest_put_ts = kind == WC_STEP_MAJOR ? 0 : INT64_MAX;
	step.superseded = step.last ? UINT64_MAX : 0;
	step.dated = step.last ? 300 : 0;
	step.start = S("a\0b");
	step.stop = S("a\0c");
	if (kind == WC_STEP_FLUSH || kind == WC_STEP_COMPACT)
		step.state = S("what it knows");
	return step;
}

static void
assert_same_step(const WcStep *a, const WcStep *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->keep_deleted, b->keep_deleted);
	assert_int_equal(a->last, b->last);
	assert_int_equal(a->table_id, b->table_id);
	assert_int_equal(a->family_id, b->family_id);
	assert_int_equal(a->generation, b->generation);
	assert_int_equal(a->expired_ts, b->expired_ts);
	assert_int_equal(a->oldest_ts, b->oldest_ts);
	assert_int_equal(a->now_us, b->now_us);
	assert_int_equal(a->from_ts, b->from_ts);
	assert_int_equal(a->until_ts, b->until_ts);
	assert_int_equal(a->dated_until_ts, b->dated_until_ts);
	assert_int_equal(a->earliest_put_ts, b->earliest_put_ts);
	assert_int_equal(a->superseded, b->superseded);
	assert_int_equal(a->dated, b->dated);
	assert_true(wc_slice_eq(a->start, b->start));
	assert_true(wc_slice_eq(a->stop, b->stop));
	assert_true(wc_slice_eq(a->state, b->state));
}

static void
steps_come_back_as_they_went(void **state)
{
	for (uint8_t kind = WC_STEP_FLUSH; kind <= WC_STEP_EXPIRE; kind++)
	{
		WcStep		step = sample(kind);
		WcBuf		buf = WC_BUF_INIT;
		WcStep		read;

		wc_step_encode(&buf, &step);
		assert_false(buf.failed);
		assert_int_equal(wc_step_decode(wc_buf_slice(&buf), &read, NULL), WC_OK);
		assert_same_step(&read, &step);
		wc_buf_free(&buf);
	}
}

/* The example of model/README. */
static void
bytes_are_those_of_the_readme(void **state)
{
	static const uint8_t bytes[] = {
		1, 1, 1, 0, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 1,
		0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 9,
		0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
	};
	WcBuf		buf = WC_BUF_INIT;

	wc_step_encode(&buf, &flush);
	assert_int_equal(buf.len, sizeof(bytes));
	assert_memory_equal(buf.data, bytes, sizeof(bytes));
	wc_buf_free(&buf);
}

static WcStatus
read_back(const WcStep *step)
{
	WcBuf		buf = WC_BUF_INIT;
	WcStep		read;
	WcStatus	status;

	wc_step_encode(&buf, step);
	status = wc_step_decode(wc_buf_slice(&buf), &read, NULL);
	wc_buf_free(&buf);
	return status;
}

#define assert_refused(field, value) \
	do { \
		WcStep bad = flush; \
		bad.field = (value); \
		assert_int_equal(read_back(&bad), WC_CORRUPT); \
	} while (0)

static void
what_makes_no_sense_is_refused(void **state)
{
	WcStep		step = flush;

	assert_int_equal(read_back(&step), WC_OK);
	assert_refused(kind, 0);
	assert_refused(kind, WC_STEP_EXPIRE + 1);
	assert_refused(keep_deleted, WC_KEEP_DELETED_TTL + 1);
	assert_refused(now_us, -1);
	assert_refused(from_ts, -1);
	assert_refused(until_ts, -1);
	assert_refused(dated_until_ts, -1);
	assert_refused(earliest_put_ts, -1);

	/* a range that is none; counters that go down before the end; a state in a row that is whole */
	step.start = S("b");
	step.stop = S("b");
	assert_int_equal(read_back(&step), WC_CORRUPT);
	step.stop = S("c");
	assert_int_equal(read_back(&step), WC_OK);
	step.last = false;
	assert_int_equal(read_back(&step), WC_OK);
	step.superseded = 1;
	assert_int_equal(read_back(&step), WC_CORRUPT);
	step.superseded = 0;
	step.kind = WC_STEP_MAJOR;
	step.state = S("s");
	assert_int_equal(read_back(&step), WC_CORRUPT);
}

static void
read_any(WcSlice bytes, void *arg)
{
	WcStep		step;
	unsigned   *good = arg;

	if (wc_step_decode(bytes, &step, NULL) != WC_OK)
		return;
	++*good;
	(void) wc_mangle_touch(step.start);
	(void) wc_mangle_touch(step.stop);
	(void) wc_mangle_touch(step.state);
}

static void
any_bytes_are_survived(void **state)
{
	for (uint8_t kind = WC_STEP_FLUSH; kind <= WC_STEP_EXPIRE; kind++)
	{
		WcStep		step = sample(kind);
		WcBuf		buf = WC_BUF_INIT;
		unsigned	good = 0;

		wc_step_encode(&buf, &step);
		wc_mangle_prefixes(wc_buf_slice(&buf), read_any, &good);
		assert_int_equal(good, 1);
		wc_mangle_randomly(wc_buf_slice(&buf), 20000, read_any, &good);
		wc_buf_free(&buf);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_come_back_as_they_went),
		cmocka_unit_test(bytes_are_those_of_the_readme),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(any_bytes_are_survived)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
