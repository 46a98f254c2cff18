/*
 * test/unit/test_wire.c: frames in pieces; every message, encoded and decoded.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "mangle.h"
#include "wire/message/frame.h"
#include "wire/message/message.h"
#include "wire/shared/words.h"

#define RING 256

typedef struct Pair
{
	WcRing		ring;
	uint8_t		data[RING];
	WcRingEnd	w;
	WcRingEnd	r;
} Pair;

static void
pair_init(Pair *p)
{
	wc_ring_init(&p->ring);
	p->w = wc_ring_end(&p->ring, p->data, RING);
	p->r = wc_ring_end(&p->ring, p->data, RING);
}

/* --- frames -----------------------------------------------------------------*/

static void
make_frame(WcBuf *buf, uint8_t type, uint8_t flags, uint64_t id, size_t payload)
{
	WcError		err;

	wc_frame_begin(buf);
	for (size_t i = 0; i < payload; i++)
		wc_buf_append_u8(buf, (uint8_t) (i * 7 + id));
	assert_int_equal(wc_frame_finish(buf, type, flags, id, &err), WC_OK);
}

static void
assert_frame(const WcFrameReader *r, uint8_t type, uint8_t flags, uint64_t id, size_t payload)
{
	assert_int_equal(r->header.type, type);
	assert_int_equal(r->header.flags, flags);
	assert_int_equal(r->header.id, id);
	assert_int_equal(r->header.length, payload);
	assert_int_equal(r->body.len, payload);
	assert_false(r->dropped);
	for (size_t i = 0; i < payload; i++)
		assert_int_equal(r->body.data[i], (uint8_t) (i * 7 + id));
}

/* Whatever the pieces, the same frames come out: also those larger than the ring. */
static void
frames_arrive_in_pieces_of_any_size(void **state)
{
	static const size_t payloads[] = {0, 1, 15, RING - 16, RING, 3 * RING + 5};

	for (size_t piece = 1; piece <= 40; piece++)
	{
		Pair		p;
		WcFrameReader reader;
		WcBuf		frame = WC_BUF_INIT;
		WcError		err;

		pair_init(&p);
		wc_frame_reader_init(&reader);
		for (size_t f = 0; f < sizeof(payloads) / sizeof(payloads[0]); f++)
		{
			size_t		sent = 0;
			WcStatus	status = WC_END;

			make_frame(&frame, WC_MSG_BLOCK, 1, f + 1, payloads[f]);
			while (status == WC_END)
			{
				size_t		n = piece < frame.len - sent ? piece : frame.len - sent;

				assert_true(n > 0);
				sent += wc_ring_write(&p.w, frame.data + sent, n);
				wc_ring_publish(&p.w);
				status = wc_frame_read(&reader, &p.r, &err);
				assert_int_equal(wc_frame_in_part(&reader), status == WC_END);
			}
			assert_int_equal(status, WC_OK);
			assert_int_equal(sent, frame.len);
			assert_frame(&reader, WC_MSG_BLOCK, 1, f + 1, payloads[f]);
		}
		assert_int_equal(wc_frame_read(&reader, &p.r, &err), WC_END);
		wc_frame_reader_free(&reader);
		wc_buf_free(&frame);
	}
}

static void
several_frames_lie_in_the_ring_at_once(void **state)
{
	Pair		p;
	WcFrameReader reader;
	WcBuf		frame = WC_BUF_INIT;
	WcError		err;

	pair_init(&p);
	wc_frame_reader_init(&reader);
	for (uint64_t id = 1; id <= 3; id++)
	{
		make_frame(&frame, WC_MSG_CLOSE, 0, id, id * 10);
		assert_int_equal(wc_ring_write(&p.w, frame.data, frame.len), frame.len);
	}
	wc_ring_publish(&p.w);
	for (uint64_t id = 1; id <= 3; id++)
	{
		assert_int_equal(wc_frame_read(&reader, &p.r, &err), WC_OK);
		assert_frame(&reader, WC_MSG_CLOSE, 0, id, id * 10);
	}
	assert_int_equal(wc_frame_read(&reader, &p.r, &err), WC_END);
	wc_frame_reader_free(&reader);
	wc_buf_free(&frame);
}

/* The backend takes a payload away by exchanging buffers. */
static void
a_payload_may_be_taken_away(void **state)
{
	Pair		p;
	WcFrameReader reader;
	WcBuf		frame = WC_BUF_INIT,
				taken = WC_BUF_INIT,
				swap;
	WcError		err;

	pair_init(&p);
	wc_frame_reader_init(&reader);
	for (uint64_t id = 1; id <= 2; id++)
	{
		make_frame(&frame, WC_MSG_BLOCK, 0, id, 50);
		wc_ring_write(&p.w, frame.data, frame.len);
	}
	wc_ring_publish(&p.w);
	assert_int_equal(wc_frame_read(&reader, &p.r, &err), WC_OK);
	swap = taken;
	taken = reader.body;
	reader.body = swap;
	assert_int_equal(wc_frame_read(&reader, &p.r, &err), WC_OK);
	assert_frame(&reader, WC_MSG_BLOCK, 0, 2, 50);
	assert_int_equal(taken.len, 50);
	assert_int_equal(taken.data[0], 1);
	wc_frame_reader_free(&reader);
	wc_buf_free(&frame);
	wc_buf_free(&taken);
}

static void
bad_headers_are_refused(void **state)
{
	WcFrameHeader bad[2] = {
		{.length = WC_MESSAGE_MAX + 1,.type = WC_MSG_OPEN,.id = 1},
		{.length = 4,.type = WC_MSG_OPEN,.zero = 1,.id = 1}
	};

	for (int i = 0; i < 2; i++)
	{
		Pair		p;
		WcFrameReader reader;
		WcError		err;

		pair_init(&p);
		wc_frame_reader_init(&reader);
		wc_ring_write(&p.w, &bad[i], sizeof(bad[i]));
		wc_ring_publish(&p.w);
		assert_int_equal(wc_frame_read(&reader, &p.r, &err), WC_CORRUPT);
		wc_frame_reader_free(&reader);
	}
}

static void
too_long_a_message_says_both_numbers(void **state)
{
	WcBuf		frame = WC_BUF_INIT;
	WcError		err;

	wc_frame_begin(&frame);
	assert_non_null(wc_buf_reserve(&frame, (size_t) WC_MESSAGE_MAX + 1));
	frame.len += (size_t) WC_MESSAGE_MAX + 1;
	assert_int_equal(wc_frame_finish(&frame, WC_MSG_BATCH, 0, 1, &err), WC_TOO_LARGE);
	assert_non_null(strstr(err.message, "272629761"));
	assert_non_null(strstr(err.message, "272629760"));
	wc_buf_free(&frame);
}

/* --- messages ---------------------------------------------------------------
 * Each reader below is given whole messages, every prefix of them and changed
 * ones; it must refuse or accept, and accepted slices must lie inside the bytes.
 */
typedef WcStatus (*Decode) (WcSlice in);

static WcStatus
decode_hello(WcSlice in)
{
	WcHelloMessage m;
	WcError		err;

	return wc_message_hello_decode(in, &m, &err);
}

static WcStatus
decode_open(WcSlice in)
{
	WcOpenMessage m;
	WcError		err;
	WcStatus	status = wc_message_open_decode(in, &m, &err);

	if (status == WC_OK)
	{
		assert_true(m.scan_no < WC_SCANNERS_MAX);
		assert_true(m.clock_offset_us >= 0);
		(void) wc_mangle_touch(m.scan);
	}
	return status;
}

static WcStatus
decode_next(WcSlice in)
{
	WcNextMessage m;
	WcError		err;

	return wc_message_next_decode(in, &m, &err);
}

static WcStatus
decode_table(WcSlice in)
{
	WcTableMessage m;
	WcError		err;

	return wc_message_table_decode(in, &m, &err);
}

static WcStatus
decode_estimate(WcSlice in)
{
	WcEstimateMessage m;
	WcArena		arena = WC_ARENA_INIT;
	WcError		err;
	WcStatus	status = wc_message_estimate_decode(in, &arena, &m, &err);

	if (status == WC_OK)
	{
		(void) wc_mangle_touch(m.range.start);
		(void) wc_mangle_touch(m.range.stop);
	}
	wc_arena_free(&arena);
	return status;
}

static WcStatus
decode_split(WcSlice in)
{
	WcSplitMessage m;
	WcArena		arena = WC_ARENA_INIT;
	WcError		err;
	WcStatus	status = wc_message_split_decode(in, &arena, &m, &err);

	if (status == WC_OK)
	{
		(void) wc_mangle_touch(m.range.range.start);
		(void) wc_mangle_touch(m.range.range.stop);
	}
	wc_arena_free(&arena);
	return status;
}

static WcStatus
decode_sample(WcSlice in)
{
	WcSampleMessage m;
	WcError		err;
	WcStatus	status = wc_message_sample_decode(in, &m, &err);

	if (status == WC_OK)
	{
		(void) wc_mangle_touch(m.range.start);
		(void) wc_mangle_touch(m.range.stop);
	}
	return status;
}

static WcStatus
decode_locked(WcSlice in)
{
	WcLockMessage asked = {.nrows = 3};
	WcLockResult r;
	WcError		err;
	WcStatus	status = wc_message_locked_decode(in, &asked, &r, &err);

	if (status == WC_OK)
		(void) wc_mangle_touch(wc_slice(r.rows, r.nlocked));
	return status;
}

static WcStatus
decode_lock(WcSlice in)
{
	WcArena		arena = WC_ARENA_INIT;
	WcLockMessage m;
	WcError		err;
	WcStatus	status = wc_message_lock_decode(in, &arena, &m, &err);

	if (status == WC_OK)
	{
		assert_true(m.owner != 0 && m.xid != 0 && m.subid != 0);
		assert_true(m.mode >= WC_LOCK_KEY_SHARE && m.mode <= WC_LOCK_EXCLUSIVE);
		assert_true(m.nrows >= 1 && m.nrows <= WC_LOCK_BATCH && m.nfamilies <= WC_FAMILIES_MAX);
		for (uint32_t i = 0; i < m.nrows; i++)
		{
			assert_true(m.rows[i].len >= 1 && m.rows[i].len <= WC_ROW_MAX);
			(void) wc_mangle_touch(m.rows[i]);
		}
	}
	wc_arena_free(&arena);
	return status;
}

static WcStatus
decode_name(WcSlice in)
{
	WcSlice		ns,
				name;
	WcError		err;
	WcStatus	status = wc_message_name_decode(in, &ns, &name, &err);

	if (status == WC_OK)
	{
		(void) wc_mangle_touch(ns);
		(void) wc_mangle_touch(name);
	}
	return status;
}

static WcStatus
decode_commit(WcSlice in)
{
	WcCommitMessage m;
	WcError		err;

	return wc_message_commit_decode(in, &m, &err);
}

static WcStatus
decode_numbers(WcSlice in)
{
	uint64_t	numbers[2];
	WcError		err;

	return wc_message_numbers_decode(in, numbers, 2, &err);
}

/* An ERROR is never refused: what makes no sense is itself an error. */
static WcStatus
decode_error(WcSlice in)
{
	WcError		err;

	memset(&err, 0xAA, sizeof(err));
	wc_message_error_decode(in, &err);
	assert_true(err.status > WC_END && err.status < WC_STATUS_COUNT);
	assert_true(strnlen(err.message, sizeof(err.message)) < sizeof(err.message));
	return err.status == WC_CORRUPT ? WC_CORRUPT : WC_OK;
}

typedef struct Prefixes
{
	Decode		decode;
	size_t		whole;
} Prefixes;

static void
refuse_prefix(WcSlice in, void *arg)
{
	const Prefixes *p = arg;

	assert_int_equal(p->decode(in), in.len == p->whole ? WC_OK : WC_CORRUPT);
}

static void
any_bytes(WcSlice in, void *arg)
{
	(void) ((const Prefixes *) arg)->decode(in);
}

static void
check_decoder(Decode decode, WcBuf *message)
{
	Prefixes	p = {decode, message->len};

	wc_mangle_prefixes(wc_buf_slice(message), refuse_prefix, &p);
	wc_mangle_randomly(wc_buf_slice(message), 2000, any_bytes, &p);
	wc_buf_append_u8(message, 0);
	assert_int_equal(decode(wc_buf_slice(message)), WC_CORRUPT);
	wc_buf_free(message);
}

static void
hello_goes_and_comes(void **state)
{
	WcHelloMessage m = {7, 4000000000u},
				got;
	WcBuf		buf = WC_BUF_INIT;
	WcError		err;

	wc_message_hello_encode(&buf, &m);
	assert_int_equal(wc_message_hello_decode(wc_buf_slice(&buf), &got, &err), WC_OK);
	assert_int_equal(got.version, 7);
	assert_int_equal(got.database, 4000000000u);
	check_decoder(decode_hello, &buf);
}

static void
open_carries_a_scan(void **state)
{
	WcOpenMessage m = {.scan_no = WC_SCANNERS_MAX - 1,.snapshot = UINT64_MAX,.epoch = UINT64_MAX - 1,.cid = UINT32_MAX,
		.clock_offset_us = INT64_MAX,.target = WC_BLOCK_MAX}, got;
	WcScan		scan,
				decoded;
	WcRange		range = {wc_slice_cstr("a"), wc_slice_cstr("b"), true, false};
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		buf = WC_BUF_INIT;
	WcError		err;

	wc_scan_init(&scan, 42);
	scan.nranges = 1;
	scan.ranges = &range;
	wc_message_open_encode(&buf, &m, &scan);
	assert_int_equal(wc_message_open_decode(wc_buf_slice(&buf), &got, &err), WC_OK);
	assert_int_equal(got.scan_no, m.scan_no);
	assert_true(got.snapshot == m.snapshot);
	assert_true(got.epoch == m.epoch);
	assert_int_equal(got.cid, m.cid);
	assert_true(got.clock_offset_us == m.clock_offset_us);
	assert_int_equal(got.target, m.target);
	assert_int_equal(wc_scan_decode(got.scan, &arena, &decoded, &err), WC_OK);
	assert_int_equal(decoded.table_id, 42);
	assert_true(wc_slice_eq(decoded.ranges[0].stop, range.stop));
	wc_arena_free(&arena);

	/* the scan's own decoder is tested with the model: here only the fields before it */
	wc_mangle_randomly(wc_buf_slice(&buf), 2000, any_bytes, &(Prefixes) {decode_open, 0});
	wc_buf_free(&buf);
}

static void
scan_numbers_are_bounded(void **state)
{
	WcNextMessage m = {WC_SCANNERS_MAX, 1};
	WcBuf		buf = WC_BUF_INIT;

	wc_message_next_encode(&buf, &m);
	assert_int_equal(decode_next(wc_buf_slice(&buf)), WC_CORRUPT);
	wc_buf_reset(&buf, 0);
	m.scan_no--;
	wc_message_next_encode(&buf, &m);
	check_decoder(decode_next, &buf);
}

static void
table_work_goes_and_comes(void **state)
{
	WcTableMessage m = {9, 70000, true, true, 3, 90 * WC_USEC_PER_SEC},
				got;
	WcBuf		buf = WC_BUF_INIT;
	WcError		err;

	wc_message_table_encode(&buf, &m);
	assert_int_equal(wc_message_table_decode(wc_buf_slice(&buf), &got, &err), WC_OK);
	assert_int_equal(got.table_id, 9);
	assert_int_equal(got.family_id, 70000);
	assert_true(got.major);
	assert_true(got.later);
	assert_int_equal(got.cid, 3);
	assert_int_equal(got.clock_offset_us, 90 * WC_USEC_PER_SEC);
	check_decoder(decode_table, &buf);
}

static void
estimate_goes_and_comes(void **state)
{
	const uint32_t families[] = {3, 70000};
	WcEstimateMessage m = {9, {wc_slice_cstr("aa"), wc_slice_cstr("bbb"), false, true}, 2, families},
				got;
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		buf = WC_BUF_INIT;
	WcError		err;

	wc_message_estimate_encode(&buf, &m);
	assert_int_equal(wc_message_estimate_decode(wc_buf_slice(&buf), &arena, &got, &err), WC_OK);
	assert_int_equal(got.table_id, 9);
	assert_false(got.range.start_inclusive);
	assert_true(got.range.stop_inclusive);
	assert_true(wc_slice_eq(got.range.start, m.range.start));
	assert_true(wc_slice_eq(got.range.stop, m.range.stop));
	assert_int_equal(got.nfamilies, 2);
	assert_memory_equal(got.families, families, sizeof(families));

	/* a flag that there is not */
	buf.data[1] |= 4;
	assert_int_equal(wc_message_estimate_decode(wc_buf_slice(&buf), &arena, &got, &err), WC_CORRUPT);
	buf.data[1] ^= 4;
	wc_arena_free(&arena);
	check_decoder(decode_estimate, &buf);
}

static void
split_goes_and_comes(void **state)
{
	const uint32_t families[] = {3, 70000};
	WcSplitMessage m = {{9, {wc_slice_cstr("aa"), wc_slice_cstr("bbb"), false, true}, 2, families}, 48},
				got;
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		buf = WC_BUF_INIT;
	WcError		err;

	wc_message_split_encode(&buf, &m);
	assert_int_equal(wc_message_split_decode(wc_buf_slice(&buf), &arena, &got, &err), WC_OK);
	assert_int_equal(got.range.table_id, 9);
	assert_true(wc_slice_eq(got.range.range.start, m.range.range.start));
	assert_true(wc_slice_eq(got.range.range.stop, m.range.range.stop));
	assert_int_equal(got.range.nfamilies, 2);
	assert_memory_equal(got.range.families, families, sizeof(families));
	assert_int_equal(got.nparts, 48);
	wc_arena_free(&arena);
	check_decoder(decode_split, &buf);
}

static void
sample_goes_and_comes(void **state)
{
	WcSampleMessage m = {9, {wc_slice_cstr("aa"), wc_slice_cstr("bbb"), true, false}, 300, 20, UINT64_MAX},
				got;
	WcBuf		buf = WC_BUF_INIT;
	WcError		err;

	wc_message_sample_encode(&buf, &m);
	assert_int_equal(wc_message_sample_decode(wc_buf_slice(&buf), &got, &err), WC_OK);
	assert_int_equal(got.table_id, 9);
	assert_true(wc_slice_eq(got.range.start, m.range.start));
	assert_true(wc_slice_eq(got.range.stop, m.range.stop));
	assert_int_equal(got.nranges, 300);
	assert_int_equal(got.range_rows, 20);
	assert_true(got.seed == UINT64_MAX);
	check_decoder(decode_sample, &buf);
}

/* Rows to lock have keys, and a transaction that wants them, in a mode that there is. */
static void
locks_go_and_come(void **state)
{
	static uint8_t long_row[WC_ROW_MAX + 1];
	static WcSlice many[WC_LOCK_BATCH + 1];
	uint32_t	families[] = {3, UINT32_MAX};
	WcSlice		rows[] = {wc_slice_cstr("row"), wc_slice_cstr("other")};
	WcSlice		empty = {NULL, 0};
	WcSlice		too_long = wc_slice(long_row, sizeof(long_row));
	WcLockMessage m = {
		.table_id = UINT32_MAX,.mode = WC_LOCK_SHARE,.only_absent = true,.serializable = true,.tell_rewritten = true,.owner = UINT64_C(5000000000),.xid = UINT64_C(5000000001),.subid = 7,
		.snapshot = 11,.epoch = 12,.cid = UINT32_MAX,.clock_offset_us = 13,.nfamilies = 2,.families = families,
		.nrows = 2,.rows = rows
	},
				bad[8],
				got;
	WcLockResult r = {.nlocked = 2,.holder = UINT64_MAX,.has_weaker = true,.rows = (const uint8_t *) "\1\2"},
				back;
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		buf = WC_BUF_INIT;
	WcError		err;

	wc_message_lock_encode(&buf, &m);
	assert_int_equal(wc_message_lock_decode(wc_buf_slice(&buf), &arena, &got, &err), WC_OK);
	assert_int_equal(got.table_id, UINT32_MAX);
	assert_int_equal(got.mode, WC_LOCK_SHARE);
	assert_true(got.only_absent && got.serializable && got.tell_rewritten && got.owner == m.owner && got.xid == m.xid && got.subid == 7);
	assert_true(got.snapshot == 11 && got.epoch == 12 && got.cid == UINT32_MAX && got.clock_offset_us == 13);
	assert_true(got.nfamilies == 2 && got.families[0] == 3 && got.families[1] == UINT32_MAX);
	assert_int_equal(got.nrows, 2);
	assert_true(wc_slice_eq(got.rows[0], rows[0]) && wc_slice_eq(got.rows[1], rows[1]));
	wc_arena_free(&arena);
	check_decoder(decode_lock, &buf);

	for (size_t i = 0; i < WC_LOCK_BATCH + 1; i++)
		many[i] = rows[0];
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		bad[i] = m;
	bad[0].xid = 0;
	bad[1].owner = 0;
	bad[2].mode = 0;
	bad[3].mode = WC_LOCK_EXCLUSIVE + 1;
	bad[4].nrows = 0;
	bad[5] = (WcLockMessage) {.table_id = 1,.mode = 1,.owner = 1,.xid = 1,.subid = 1,.nrows = 1,.rows = &empty};
	bad[6] = (WcLockMessage) {.table_id = 1,.mode = 1,.owner = 1,.xid = 1,.subid = 1,.nrows = 1,.rows = &too_long};
	bad[7] = (WcLockMessage) {.table_id = 1,.mode = 1,.owner = 1,.xid = 1,.subid = 1,.nrows = WC_LOCK_BATCH + 1,.rows = many};
	buf = (WcBuf) WC_BUF_INIT;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		wc_buf_reset(&buf, SIZE_MAX);
		wc_message_lock_encode(&buf, &bad[i]);
		assert_int_equal(decode_lock(wc_buf_slice(&buf)), WC_CORRUPT);
	}

	wc_buf_reset(&buf, SIZE_MAX);
	wc_message_locked_encode(&buf, &r);
	m.nrows = 3;
	assert_int_equal(wc_message_locked_decode(wc_buf_slice(&buf), &m, &back, &err), WC_OK);
	assert_true(back.nlocked == 2 && back.holder == UINT64_MAX && back.has_weaker);
	assert_memory_equal(back.rows, "\1\2", 2);
	buf.data[buf.len - 3] = 2;	/* has_weaker */
	assert_int_equal(wc_message_locked_decode(wc_buf_slice(&buf), &m, &back, &err), WC_CORRUPT);
	buf.data[buf.len - 3] = 1;
	check_decoder(decode_locked, &buf);
}

/* The answer has a byte for each requested row, up to a row that another transaction has locked, or, if serializable, up
 * to a changed row. */
static void
an_answer_about_locks_tells_of_all_rows(void **state)
{
	static const struct
	{
		uint32_t	nlocked;
		uint64_t	holder;
		bool		serializable;
		const char *rows;
		WcStatus	status;
	}			cases[] = {
		{3, 0, false, "\1\0\1", WC_OK}, {2, 0, false, "\1\1", WC_CORRUPT}, {0, 0, true, "", WC_CORRUPT},
		{2, 0, true, "\0\1", WC_OK}, {2, 0, true, "\1\0", WC_CORRUPT}, {2, 5, true, "\1\0", WC_OK},
		{2, 5, true, "\0\1", WC_CORRUPT}, {3, 5, false, "\0\0\0", WC_CORRUPT}, {4, 0, false, "\0\0\0\0", WC_CORRUPT}
	};
	WcBuf		buf = WC_BUF_INIT;
	WcError		err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		WcLockMessage asked = {.nrows = 3,.serializable = cases[i].serializable};
		WcLockResult r = {.nlocked = cases[i].nlocked,.holder = cases[i].holder,.rows = (const uint8_t *) cases[i].rows};

		wc_buf_reset(&buf, SIZE_MAX);
		wc_message_locked_encode(&buf, &r);
		assert_int_equal(wc_message_locked_decode(wc_buf_slice(&buf), &asked, &r, &err), cases[i].status);
	}
	wc_buf_free(&buf);
}

static void
commits_go_and_come(void **state)
{
	WcCommitMessage m = {.xid = UINT64_MAX,.length = 500,.snapshot = 300,.epoch = 7};
	WcCommitMessage got;
	WcBuf		buf = WC_BUF_INIT;
	WcError		err;

	wc_message_commit_encode(&buf, &m);
	assert_int_equal(wc_message_commit_decode(wc_buf_slice(&buf), &got, &err), WC_OK);
	assert_true(got.xid == UINT64_MAX && got.length == 500 && got.snapshot == 300 && got.epoch == 7);
	check_decoder(decode_commit, &buf);
}

static void
names_and_numbers_go_and_come(void **state)
{
	uint64_t	numbers[2] = {0, UINT64_MAX},
				got[2];
	WcSlice		ns,
				name;
	WcBuf		buf = WC_BUF_INIT;
	WcError		err;

	wc_message_numbers_encode(&buf, numbers, 2);
	assert_int_equal(wc_message_numbers_decode(wc_buf_slice(&buf), got, 2, &err), WC_OK);
	assert_true(got[0] == 0 && got[1] == UINT64_MAX);
	check_decoder(decode_numbers, &buf);

	buf = (WcBuf) WC_BUF_INIT;
	wc_message_name_encode(&buf, wc_slice_cstr("ns"), wc_slice_cstr("t"));
	assert_int_equal(wc_message_name_decode(wc_buf_slice(&buf), &ns, &name, &err), WC_OK);
	assert_true(wc_slice_eq(ns, wc_slice_cstr("ns")));
	assert_true(wc_slice_eq(name, wc_slice_cstr("t")));
	check_decoder(decode_name, &buf);
}

static void
errors_keep_their_texts(void **state)
{
	WcError		sent,
				got;
	WcBuf		buf = WC_BUF_INIT;

	wc_error(&sent, WC_DUPLICATE_ROW, "row is there");
	wc_error_detail(&sent, "It came yesterday.");
	wc_error_hint(&sent, "Look again.");
	wc_error_row(&sent, 7, (const uint8_t *) "r\0w", 3);
	wc_message_error_encode(&buf, &sent);
	wc_message_error_decode(wc_buf_slice(&buf), &got);
	assert_int_equal(got.status, WC_DUPLICATE_ROW);
	assert_string_equal(got.message, "row is there");
	assert_string_equal(got.detail, "It came yesterday.");
	assert_string_equal(got.hint, "Look again.");
	assert_int_equal(got.table, 7);
	assert_int_equal(got.row_len, 3);
	assert_memory_equal(got.row, "r\0w", 3);
	check_decoder(decode_error, &buf);
}

/* A peer may send texts longer than there is room for, or no error at all. */
static void
odd_errors_are_errors(void **state)
{
	static char text[3 * WC_ERROR_TEXT_MAX];
	WcError		got;
	WcBuf		buf = WC_BUF_INIT;

	memset(text, 'x', sizeof(text));
	wc_buf_append_u8(&buf, WC_IO);
	for (int i = 0; i < 3; i++)
		wc_buf_append_bytes(&buf, wc_slice(text, sizeof(text)));
	wc_buf_append_u32(&buf, 0);
	wc_buf_append_bytes(&buf, wc_slice(NULL, 0));
	wc_message_error_decode(wc_buf_slice(&buf), &got);
	assert_int_equal(got.status, WC_IO);
	assert_int_equal(strlen(got.message), WC_ERROR_TEXT_MAX - 1);
	assert_int_equal(got.row_len, 0);

	/* a row that is too long */
	buf.len--;
	wc_buf_append_bytes(&buf, wc_slice(text, WC_ERROR_ROW_MAX + 1));
	wc_message_error_decode(wc_buf_slice(&buf), &got);
	assert_int_equal(got.status, WC_CORRUPT);

	buf.data[0] = WC_OK;
	wc_message_error_decode(wc_buf_slice(&buf), &got);
	assert_int_equal(got.status, WC_CORRUPT);
	buf.data[0] = WC_STATUS_COUNT;
	wc_message_error_decode(wc_buf_slice(&buf), &got);
	assert_int_equal(got.status, WC_CORRUPT);
	wc_message_error_decode(wc_slice(NULL, 0), &got);
	assert_int_equal(got.status, WC_CORRUPT);
	wc_buf_free(&buf);
}

static void
a_report_ends_a_block(void **state)
{
	WcScanReport sent = {1, 5, 2, UINT64_MAX, 4, 6, 7, 8},
				got;
	WcBuf		buf = WC_BUF_INIT;
	WcSlice		in;
	WcError		err;

	wc_buf_append(&buf, "block", 5);
	wc_scan_report_encode(&buf, &sent);
	in = wc_buf_slice(&buf);
	assert_int_equal(wc_scan_report_take(&in, &got, &err), WC_OK);
	assert_true(wc_slice_eq(in, wc_slice_cstr("block")));
	assert_int_equal(got.rows_returned, 1);
	assert_int_equal(got.cells_returned, 2);
	assert_true(got.cells_examined == UINT64_MAX);
	assert_int_equal(got.seeks, 4);
	assert_memory_equal(&got, &sent, sizeof(got));

	in = wc_slice(buf.data, WC_SCAN_REPORT_SIZE - 1);
	assert_int_equal(wc_scan_report_take(&in, &got, &err), WC_CORRUPT);
	wc_buf_free(&buf);
}

static void
modify_any(WcSlice in, void *arg)
{
	WcModifyMessage m;
	WcError		err;

	if (wc_message_modify_decode(in, &m, &err) != WC_OK)
		return;
	(void) wc_mangle_touch(m.keys);
	(void) wc_mangle_touch(m.items);
	(void) wc_mangle_touch(m.items_bare);
	(void) wc_mangle_touch(m.scan);
}

static WcStatus
decode_modified(WcSlice in)
{
	WcModifyResult r;
	WcError		err;

	return wc_message_modified_decode(in, &r, &err);
}

static void
changes_go_and_their_results_come(void **state)
{
	WcModifyMessage m = {.snapshot = 3,.epoch = 5,.cid = 7,.clock_offset_us = 9,.write_cid = UINT32_MAX,.bytes_max = UINT64_MAX,
		.owner = 20,.xid = 21,.subid = 22,.mode = WC_LOCK_NO_KEY_UPDATE,.serializable = true,.kind = WC_MODIFY_MEMBERS_MARKED,.keys = wc_slice_cstr("keys"),.items = wc_slice_cstr("items"),.items_bare = wc_slice_cstr("")}, got;
	WcModifyResult r = {
		.outcome = WC_MODIFY_BLOCKED,.rows = UINT64_MAX,.length = 7,.changes = wc_slice_cstr("changes"),.holder = 5,.has_weaker = true,
		.row = wc_slice_cstr("row"),.report = {.rows_returned = 4,.seeks = 7}
	};
	WcModifyResult back;
	WcScan		scan;
	WcScan		decoded;
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		buf = WC_BUF_INIT;
	WcError		err;

	wc_scan_init(&scan, 42);
	wc_message_modify_encode(&buf, &m, &scan);
	assert_int_equal(wc_message_modify_decode(wc_buf_slice(&buf), &got, &err), WC_OK);
	assert_int_equal(got.snapshot, 3);
	assert_int_equal(got.epoch, 5);
	assert_int_equal(got.cid, 7);
	assert_int_equal(got.clock_offset_us, 9);
	assert_int_equal(got.write_cid, UINT32_MAX);
	assert_true(got.bytes_max == UINT64_MAX);
	assert_true(got.owner == 20 && got.xid == 21 && got.subid == 22 && got.mode == WC_LOCK_NO_KEY_UPDATE && got.serializable);
	assert_int_equal(got.kind, WC_MODIFY_MEMBERS_MARKED);
	assert_true(wc_slice_eq(got.keys, m.keys));
	assert_true(wc_slice_eq(got.items, m.items));
	assert_int_equal(got.items_bare.len, 0);
	assert_int_equal(wc_scan_decode(got.scan, &arena, &decoded, &err), WC_OK);
	assert_int_equal(decoded.table_id, 42);
	wc_arena_free(&arena);
	wc_mangle_prefixes(wc_buf_slice(&buf), modify_any, NULL);
	wc_mangle_randomly(wc_buf_slice(&buf), 2000, modify_any, NULL);
	wc_buf_reset(&buf, 0);

	wc_message_modified_encode(&buf, &r);
	assert_int_equal(wc_message_modified_decode(wc_buf_slice(&buf), &back, &err), WC_OK);
	assert_int_equal(back.outcome, WC_MODIFY_BLOCKED);
	assert_true(back.holder == 5 && back.has_weaker && wc_slice_eq(back.row, r.row));
	assert_true(back.rows == UINT64_MAX && back.length == 7 && wc_slice_eq(back.changes, r.changes));
	assert_int_equal(back.report.rows_returned, 4);
	assert_int_equal(back.report.seeks, 7);
	buf.data[0] = WC_MODIFY_CHANGED + 1;
	assert_int_equal(decode_modified(wc_buf_slice(&buf)), WC_CORRUPT);
	buf.data[0] = WC_MODIFY_DONE;
	check_decoder(decode_modified, &buf);

	/* the row that has changed is named */
	wc_buf_reset(&buf, 0);
	r = (WcModifyResult) {.outcome = WC_MODIFY_CHANGED};
	wc_message_modified_encode(&buf, &r);
	assert_int_equal(decode_modified(wc_buf_slice(&buf)), WC_CORRUPT);
	wc_buf_free(&buf);
}

static WcStatus
decode_take(WcSlice in)
{
	WcTakeMessage m;
	WcError		err;
	WcStatus	status = wc_message_take_decode(in, &m, &err);

	if (status == WC_OK)
	{
		assert_true(m.owner != 0 && m.xid != 0 && m.subid != 0);
		assert_true(m.mode >= WC_LOCK_KEY_SHARE && m.mode <= WC_LOCK_EXCLUSIVE);
		assert_true(m.open.scan_no < WC_SCANNERS_MAX);
		(void) wc_mangle_touch(m.open.scan);
	}
	return status;
}

static void
take_goes_and_comes(void **state)
{
	WcTakeMessage m = {
		.owner = 20,.xid = 21,.subid = 22,.mode = WC_LOCK_NO_KEY_UPDATE,.open = {.scan_no = 3,.cid = 7,.clock_offset_us = 9,.target = 100}
	};
	WcTakeMessage got;
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		buf = WC_BUF_INIT;
	WcScan		scan;
	WcError		err;

	(void) state;
	wc_scan_init(&scan, 42);
	wc_message_take_encode(&buf, &m, &scan);
	assert_int_equal(wc_message_take_decode(wc_buf_slice(&buf), &got, &err), WC_OK);
	assert_true(got.owner == 20 && got.xid == 21 && got.subid == 22 && got.mode == WC_LOCK_NO_KEY_UPDATE);
	assert_true(got.open.scan_no == 3 && got.open.snapshot == 0 && got.open.cid == 7 && got.open.clock_offset_us == 9 && got.open.target == 100);
	assert_int_equal(wc_scan_decode(got.open.scan, &arena, &scan, &err), WC_OK);
	assert_int_equal(scan.table_id, 42);
	wc_mangle_randomly(wc_buf_slice(&buf), 2000, any_bytes, &(Prefixes) {decode_take, 0});
	wc_arena_free(&arena);
	wc_buf_free(&buf);
}

/* Bytes of any length go into words and come out, and compare as bytes do. */
static void
bytes_go_into_words(void **state)
{
	uint8_t		bytes[24];
	uint8_t		other[24];
	WcWord		words[4];
	WcBuf		out = WC_BUF_INIT;

	(void) state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t) (200 + i * 7);
	for (size_t len = 0; len <= sizeof(bytes); len++)
	{
		uint8_t		back[sizeof(bytes)] = {0};

		for (size_t i = 0; i < 4; i++)
			wc_word_put(words + i, UINT64_MAX);
		wc_words_put(words, wc_slice(bytes, len));
		assert_true(wc_word_get(words + WC_WORDS(len)) == UINT64_MAX);
		wc_words_get(words, back, len);
		assert_memory_equal(back, bytes, len);
		assert_true(len == sizeof(back) || back[len] == 0);
		wc_buf_reset(&out, SIZE_MAX);
		assert_true(wc_words_append(words, len, &out));
		assert_true(wc_slice_eq(wc_buf_slice(&out), wc_slice(bytes, len)));
		for (size_t n = 0; n <= sizeof(other); n++)
		{
			memcpy(other, bytes, sizeof(other));
			for (size_t at = 0; at <= n; at++)
			{
				WcSlice		its = wc_slice(other, n);
				int			c = wc_slice_cmp(wc_slice(bytes, len), its);
				int			found = wc_words_cmp(words, len, its);

				assert_true((c > 0) == (found > 0) && (c < 0) == (found < 0));
				if (n == len)
					assert_true(wc_words_are(words, its) == (c == 0));
				memcpy(other, bytes, sizeof(other));
				if (at < n)
					other[at] = (uint8_t) (other[at] + (at % 2 == 0 ? 1 : 130));
			}
		}
	}
	wc_buf_free(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_go_into_words),
		cmocka_unit_test(frames_arrive_in_pieces_of_any_size),
		cmocka_unit_test(several_frames_lie_in_the_ring_at_once),
		cmocka_unit_test(a_payload_may_be_taken_away),
		cmocka_unit_test(bad_headers_are_refused),
		cmocka_unit_test(too_long_a_message_says_both_numbers),
		cmocka_unit_test(hello_goes_and_comes),
		cmocka_unit_test(take_goes_and_comes),
		cmocka_unit_test(open_carries_a_scan),
		cmocka_unit_test(scan_numbers_are_bounded),
		cmocka_unit_test(table_work_goes_and_comes),
		cmocka_unit_test(estimate_goes_and_comes),
		cmocka_unit_test(split_goes_and_comes),
		cmocka_unit_test(sample_goes_and_comes),
		cmocka_unit_test(locks_go_and_come),
		cmocka_unit_test(an_answer_about_locks_tells_of_all_rows),
		cmocka_unit_test(changes_go_and_their_results_come),
		cmocka_unit_test(commits_go_and_come),
		cmocka_unit_test(names_and_numbers_go_and_come),
		cmocka_unit_test(errors_keep_their_texts),
		cmocka_unit_test(odd_errors_are_errors),
		cmocka_unit_test(a_report_ends_a_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
