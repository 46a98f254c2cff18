/*
 * test/fuzz/fuzz_message.c: payloads of messages (wire/message/message.h).
 *
 * The first byte is the type; ANSWER of a type for the answers OK to it.
 */
#include "fuzz.h"
#include "wire/message/message.h"

/* Answers OK to these requests. */
#define ANSWER(request) (128 + (request))

/* A message that ends in a Scan: encoded with it, if that is one. */
static bool
recode_scan(WcSlice bytes, WcArena *arena, WcScan *scan)
{
	return wc_scan_decode(bytes, arena, scan, NULL) == WC_OK;
}

static bool
recode_open(WcSlice in, WcArena *arena, WcBuf *out)
{
	WcOpenMessage m;
	WcScan		scan;

	if (wc_message_open_decode(in, &m, NULL) != WC_OK || !recode_scan(m.scan, arena, &scan))
		return false;
	wc_message_open_encode(out, &m, &scan);
	return true;
}

static bool
recode_take(WcSlice in, WcArena *arena, WcBuf *out)
{
	WcTakeMessage m;
	WcScan		scan;

	if (wc_message_take_decode(in, &m, NULL) != WC_OK || !recode_scan(m.open.scan, arena, &scan))
		return false;
	wc_message_take_encode(out, &m, &scan);
	return true;
}

static bool
recode_modify(WcSlice in, WcArena *arena, WcBuf *out)
{
	WcModifyMessage m;
	WcScan		scan;

	if (wc_message_modify_decode(in, &m, NULL) != WC_OK || !recode_scan(m.scan, arena, &scan))
		return false;
	wc_fuzz_touch(m.items);
	wc_fuzz_touch(m.items_bare);
	wc_message_modify_encode(out, &m, &scan);
	return true;
}

/* Those of which the decoder wants an arena, or a Scan. */
static bool
recode_large(uint8_t type, WcSlice in, WcArena *arena, WcBuf *out)
{
	WcEstimateMessage estimate;
	WcSplitMessage split;
	WcLockMessage lock;

	switch (type)
	{
		case WC_MSG_OPEN:
			return recode_open(in, arena, out);
		case WC_MSG_TAKE:
			return recode_take(in, arena, out);
		case WC_MSG_MODIFY:
			return recode_modify(in, arena, out);
		case WC_MSG_ESTIMATE:
			if (wc_message_estimate_decode(in, arena, &estimate, NULL) != WC_OK)
				return false;
			wc_message_estimate_encode(out, &estimate);
			return true;
		case WC_MSG_SPLIT:
			if (wc_message_split_decode(in, arena, &split, NULL) != WC_OK)
				return false;
			wc_message_split_encode(out, &split);
			return true;
		case WC_MSG_LOCK:
			if (wc_message_lock_decode(in, arena, &lock, NULL) != WC_OK)
				return false;
			wc_message_lock_encode(out, &lock);
			return true;
		default:
			return false;
	}
}

/* An answer to LOCK; in front of it how many rows were asked for, and whether serializable. */
static bool
recode_locked(WcSlice in, WcBuf *out)
{
	WcLockMessage asked = {.nrows = 0};
	WcLockResult r;

	if (in.len < 2 || in.data[1] > 1)
		return false;
	asked.nrows = in.data[0];
	asked.serializable = in.data[1] == 1;
	if (wc_message_locked_decode(wc_slice(in.data + 2, in.len - 2), &asked, &r, NULL) != WC_OK)
		return false;
	wc_buf_append(out, in.data, 2);
	wc_message_locked_encode(out, &r);
	return true;
}

static bool
recode_modified(WcSlice in, WcBuf *out)
{
	WcModifyResult r;

	if (wc_message_modified_decode(in, &r, NULL) != WC_OK)
		return false;
	wc_fuzz_touch(r.changes);
	wc_fuzz_touch(r.row);
	wc_message_modified_encode(out, &r);
	return true;
}

static bool
recode_error(WcSlice in, WcBuf *out)
{
	WcError		err = {.status = WC_OK};

	wc_message_error_decode(in, &err);
	HOLDS(err.status > WC_END && err.status < WC_STATUS_COUNT && err.row_len <= WC_ERROR_ROW_MAX);
	wc_message_error_encode(out, &err);
	return true;
}

static bool
recode_name(WcSlice in, WcBuf *out)
{
	WcSlice		ns;
	WcSlice		name;

	if (wc_message_name_decode(in, &ns, &name, NULL) != WC_OK)
		return false;
	wc_message_name_encode(out, ns, name);
	return true;
}

static bool
recode_numbers(WcSlice in, int n, WcBuf *out)
{
	uint64_t	numbers[8];

	if (wc_message_numbers_decode(in, numbers, n, NULL) != WC_OK)
		return false;
	wc_message_numbers_encode(out, numbers, n);
	return true;
}

/* A decoder and its encoder: their struct is all that differs. */
#define RECODE(name, Type) \
	static bool \
	recode_##name(WcSlice in, WcBuf *out) \
	{ \
		Type		m; \
		if (wc_message_##name##_decode(in, &m, NULL) != WC_OK) \
			return false; \
		wc_message_##name##_encode(out, &m); \
		return true; \
	}

RECODE(hello, WcHelloMessage)
RECODE(next, WcNextMessage)
RECODE(table, WcTableMessage)
RECODE(sample, WcSampleMessage)
RECODE(commit, WcCommitMessage)
RECODE(changes, WcChangesMessage)

/* The bytes go behind it. */
static bool
recode_batch(WcSlice in, WcBuf *out)
{
	WcBatchMessage m;

	if (wc_message_batch_decode(in, &m, NULL) != WC_OK)
		return false;
	wc_message_batch_encode(out, &m);
	wc_buf_append_slice(out, m.bytes);
	return true;
}

static bool
recode_payload(uint8_t type, WcSlice in, WcArena *arena, WcBuf *out)
{
	switch (type)
	{
		case WC_MSG_HELLO:
			return recode_hello(in, out);
		case WC_MSG_DESCRIBE:
			return recode_name(in, out);
		case WC_MSG_NEXT:
			return recode_next(in, out);
		case WC_MSG_BATCH:
			return recode_batch(in, out);
		case WC_MSG_PRECOMMIT:
			return recode_commit(in, out);
		case WC_MSG_FLUSH:
			return recode_table(in, out);
		case WC_MSG_SAMPLE:
			return recode_sample(in, out);
		case WC_MSG_STATS:
			return recode_numbers(in, 1, out);
		case WC_MSG_COMPACTING:
			return recode_numbers(in, 3, out);
		case WC_MSG_CHANGES:
			return recode_changes(in, out);
		case WC_MSG_ERROR:
			return recode_error(in, out);
		case ANSWER(WC_MSG_LOCK):
			return recode_locked(in, out);
		case ANSWER(WC_MSG_MODIFY):
			return recode_modified(in, out);
		default:
			return recode_large(type, in, arena, out);
	}
}

static bool
recode(WcSlice in, WcBuf *out)
{
	WcArena		arena = WC_ARENA_INIT;
	bool		good;

	if (in.len == 0)
		return false;
	wc_buf_append_u8(out, in.data[0]);
	good = recode_payload(in.data[0], wc_slice(in.data + 1, in.len - 1), &arena, out);
	wc_arena_free(&arena);
	return good;
}

FUZZ_TARGET(message)
{
	/* another message becomes an ERROR that tells so */
	wc_fuzz_recode(in, recode, in.len > 0 && in.data[0] != WC_MSG_ERROR);
}
