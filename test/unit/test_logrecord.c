/*
 * test/unit/test_logrecord.c: widecol's records in PostgreSQL's log.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "mangle.h"
#include "model/cell.h"
#include "model/logrecord.h"

#define STORE 0x5f3c9a1e

static const uint8_t kinds[] = {WC_RECORD_BATCH, WC_RECORD_STEP, WC_RECORD_TICK, WC_RECORD_BARRIER, WC_RECORD_GENESIS};

/* One of each kind. */
static WcLogRecord
example(uint8_t kind)
{
	WcLogRecord r = {.kind = kind,.store = STORE};

	switch (kind)
	{
		case WC_RECORD_BATCH:
			r.place = 2;
			r.database = 5;
			r.xid = 745;
			r.bytes = wc_slice_cstr("abc");
			break;
		case WC_RECORD_STEP:
			r.bytes = wc_slice_cstr("a step");
			break;
		case WC_RECORD_TICK:
			r.time_us = 1700000000000000;
			break;
		case WC_RECORD_BARRIER:
			r.redo = 0x0123456789abcdef;
			break;
	}
	return r;
}

/* The whole record, as PostgreSQL puts it together; the caller frees it. */
static WcBuf
encoded(const WcLogRecord *r)
{
	WcBuf		buf = WC_BUF_INIT;
	uint8_t		head[WC_RECORD_HEAD_MAX];
	size_t		len = 0;
	WcError		err;

	assert_int_equal(wc_logrecord_encode(r, head, &len, &err), WC_OK);
	assert_in_range(len, 5, WC_RECORD_HEAD_MAX);
	wc_buf_append(&buf, head, len);
	wc_buf_append_slice(&buf, r->bytes);
	assert_false(buf.failed);
	return buf;
}

static void
bytes_are_as_specified(void **state)
{
	static const char bytes[] = "\x01\x5f\x3c\x9a\x1e" "\x00" "\x00\x02" "\x00\x00\x00\x05"
		"\x00\x00\x00\x00\x00\x00\x02\xe9" "\x00\x00\x00\x00\x00\x00\x00\x00" "abc";
	WcLogRecord r = example(WC_RECORD_BATCH);
	WcBuf		buf = encoded(&r);

	(void) state;
	assert_int_equal(buf.len, sizeof(bytes) - 1);
	assert_memory_equal(buf.data, bytes, buf.len);
	wc_buf_free(&buf);
}

static void
assert_same(const WcLogRecord *a, const WcLogRecord *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->store, b->store);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->place, b->place);
	assert_int_equal(a->database, b->database);
	assert_true(a->xid == b->xid);
	assert_true(a->at == b->at);
	assert_true(a->time_us == b->time_us);
	assert_true(a->redo == b->redo);
	assert_true(wc_slice_eq(a->bytes, b->bytes));
}

static void
assert_comes_back(const WcLogRecord *r)
{
	WcBuf		buf = encoded(r);
	WcLogRecord back;
	WcError		err;

	assert_int_equal(wc_logrecord_decode(r->kind, wc_buf_slice(&buf), &back, &err), WC_OK);
	assert_same(r, &back);
	wc_buf_free(&buf);
}

static void
what_is_written_is_read(void **state)
{
	uint8_t    *bytes = calloc(1, WC_STEP_MAX);
	WcLogRecord r;

	(void) state;
	for (size_t i = 0; i < sizeof(kinds); i++)
	{
		r = example(kinds[i]);
		assert_comes_back(&r);
	}

	/* the greatest and the least values */
	r = (WcLogRecord) {
		.kind = WC_RECORD_BATCH,.store = UINT32_MAX,.flags = WC_RECORD_CATALOG,.place = WC_RECORD_NO_PLACE,
			.database = UINT32_MAX,.xid = (UINT64_C(1) << 60) - 1,.at = INT64_MAX - WC_BATCH_CHUNK,
			.bytes = wc_slice(bytes, WC_BATCH_CHUNK)
	};
	assert_comes_back(&r);
	r = (WcLogRecord) {.kind = WC_RECORD_BATCH,.store = 1,.database = 1,.xid = 3};
	assert_comes_back(&r);
	r = (WcLogRecord) {.kind = WC_RECORD_STEP,.store = 1,.bytes = wc_slice(bytes, WC_STEP_MAX)};
	assert_comes_back(&r);
	r = (WcLogRecord) {.kind = WC_RECORD_STEP,.store = 1};
	assert_comes_back(&r);
	r = (WcLogRecord) {.kind = WC_RECORD_TICK,.store = 1};
	assert_comes_back(&r);
	r.time_us = WC_TS_LATEST - 1;
	assert_comes_back(&r);
	free(bytes);
}

static void
assert_refused(const WcLogRecord *r)
{
	uint8_t		head[WC_RECORD_HEAD_MAX];
	size_t		len;
	WcError		err;

	assert_int_not_equal(wc_logrecord_encode(r, head, &len, &err), WC_OK);
}

static void
what_cannot_be_is_not_written(void **state)
{
	WcLogRecord r;

	(void) state;
	for (size_t i = 0; i < sizeof(kinds); i++)
	{
		r = example(kinds[i]);
		r.store = 0;
		assert_refused(&r);
	}
	r = example(WC_RECORD_BATCH);
	r.kind = 0x50;
	assert_refused(&r);
	r = example(WC_RECORD_BATCH);
	r.flags = 0x02;
	assert_refused(&r);
	r = example(WC_RECORD_BATCH);
	r.database = 0;
	assert_refused(&r);
	r = example(WC_RECORD_BATCH);
	r.xid = 2;
	assert_refused(&r);
	r.xid = UINT64_C(1) << 60;
	assert_refused(&r);
	r = example(WC_RECORD_BATCH);
	r.at = (uint64_t) INT64_MAX - WC_BATCH_CHUNK + 1;
	assert_refused(&r);
	r = example(WC_RECORD_BATCH);
	r.bytes.len = WC_BATCH_CHUNK + 1;
	assert_refused(&r);
	r = example(WC_RECORD_STEP);
	r.bytes.len = WC_STEP_MAX + 1;
	assert_refused(&r);
	r = example(WC_RECORD_TICK);
	r.time_us = -1;
	assert_refused(&r);
	r.time_us = WC_TS_LATEST;
	assert_refused(&r);
	r = example(WC_RECORD_BARRIER);
	r.redo = 0;
	assert_refused(&r);
}

static WcStatus
decode(uint8_t kind, const char *bytes, size_t len)
{
	WcLogRecord r;
	WcError		err;

	return wc_logrecord_decode(kind, wc_slice(bytes, len), &r, &err);
}

#define DECODE(kind, literal) decode(kind, literal, sizeof(literal) - 1)

static void
what_is_not_as_specified_is_refused(void **state)
{
	(void) state;
	assert_int_equal(DECODE(WC_RECORD_GENESIS, "\x01\0\0\0\1"), WC_OK);
	assert_int_equal(DECODE(WC_RECORD_GENESIS, "\x02\0\0\0\1"), WC_UNSUPPORTED);
	assert_int_equal(DECODE(WC_RECORD_GENESIS, "\x02\0\0\0\1 more"), WC_UNSUPPORTED);
	assert_int_equal(DECODE(0x50, "\x01\0\0\0\1"), WC_UNSUPPORTED);
	assert_int_equal(DECODE(0x01, "\x01\0\0\0\1"), WC_UNSUPPORTED);
	assert_int_equal(DECODE(WC_RECORD_GENESIS, ""), WC_CORRUPT);
	assert_int_equal(DECODE(WC_RECORD_GENESIS, "\x01\0\0\0\0"), WC_CORRUPT);
	assert_int_equal(DECODE(WC_RECORD_GENESIS, "\x01\0\0\0\1x"), WC_CORRUPT);
	assert_int_equal(DECODE(WC_RECORD_TICK, "\x01\0\0\0\1" "\0\0\0\0\0\0\0"), WC_CORRUPT);
	assert_int_equal(DECODE(WC_RECORD_TICK, "\x01\0\0\0\1" "\0\0\0\0\0\0\0\0\0"), WC_CORRUPT);
	assert_int_equal(DECODE(WC_RECORD_TICK, "\x01\0\0\0\1" "\xff\0\0\0\0\0\0\0"), WC_CORRUPT);
	assert_int_equal(DECODE(WC_RECORD_BARRIER, "\x01\0\0\0\1" "\0\0\0\0\0\0\0\0"), WC_CORRUPT);
}

static void
read_any(WcSlice bytes, void *arg)
{
	for (size_t i = 0; i < sizeof(kinds); i++)
	{
		WcLogRecord r;
		WcError		err;

		if (wc_logrecord_decode(kinds[i], bytes, &r, &err) == WC_OK)
		{
			WcBuf		again = encoded(&r);

			/* there is one way to write a record */
			(void) wc_mangle_touch(r.bytes);
			assert_true(wc_slice_eq(wc_buf_slice(&again), bytes));
			wc_buf_free(&again);
		}
		else
			assert_true(err.message[0] != '\0');
	}
}

static void
any_bytes_are_survived(void **state)
{
	(void) state;
	for (size_t i = 0; i < sizeof(kinds); i++)
	{
		WcLogRecord r = example(kinds[i]);
		WcBuf		buf = encoded(&r);

		wc_mangle_prefixes(wc_buf_slice(&buf), read_any, NULL);
		wc_mangle_randomly(wc_buf_slice(&buf), 20000, read_any, NULL);
		wc_buf_free(&buf);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_as_specified),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_cannot_be_is_not_written),
		cmocka_unit_test(what_is_not_as_specified_is_refused),
		cmocka_unit_test(any_bytes_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
