/*
 * model/step.c: a step as bytes.
 */
#include "model/step.h"

#include "base/coding.h"
#include "model/cell.h"
#include "model/descriptor.h"

#define FORMAT		1
#define FLAG_LAST	0x01

void
wc_step_encode(WcBuf *out, const WcStep *step)
{
	wc_buf_append_u8(out, FORMAT);
	wc_buf_append_u8(out, step->kind);
	wc_buf_append_u8(out, step->last ? FLAG_LAST : 0);
	wc_buf_append_u8(out, step->keep_deleted);
	wc_buf_append_u32(out, step->table_id);
	wc_buf_append_u32(out, step->family_id);
	wc_buf_append_u32(out, step->generation);
	if (step->kind == WC_STEP_EXPIRE)
	{
		wc_buf_append_u64(out, (uint64_t) step->expired_ts);
		wc_buf_append_u64(out, (uint64_t) step->oldest_ts);
		return;
	}
	wc_buf_append_u64(out, (uint64_t) step->now_us);
	wc_buf_append_u64(out, (uint64_t) step->from_ts);
	wc_buf_append_u64(out, (uint64_t) step->until_ts);
	wc_buf_append_u64(out, (uint64_t) step->dated_until_ts);
	wc_buf_append_u64(out, (uint64_t) step->earliest_put_ts);
	wc_buf_append_varint(out, step->superseded);
	wc_buf_append_varint(out, step->dated);
	wc_buf_append_bytes(out, step->start);
	wc_buf_append_bytes(out, step->stop);
	wc_buf_append_bytes(out, step->state);
}

/* Fields of all steps except EXPIRE. */
static bool
decode_range(WcDecoder *d, WcStep *step)
{
	step->now_us = (int64_t) wc_decode_u64(d);
	step->from_ts = (int64_t) wc_decode_u64(d);
	step->until_ts = (int64_t) wc_decode_u64(d);
	step->dated_until_ts = (int64_t) wc_decode_u64(d);
	step->earliest_put_ts = (int64_t) wc_decode_u64(d);
	step->superseded = wc_decode_varint(d);
	step->dated = wc_decode_varint(d);
	step->start = wc_decode_bytes(d);
	step->stop = wc_decode_bytes(d);
	step->state = wc_decode_bytes(d);
	return step->now_us >= 0 && step->from_ts >= 0 && step->until_ts >= 0 && step->dated_until_ts >= 0 &&
		(step->earliest_put_ts >= 0 || step->earliest_put_ts == INT64_MIN) &&
		(step->last || (step->superseded == 0 && step->dated == 0)) &&
		step->start.len <= WC_STEP_KEY_MAX && step->stop.len <= WC_STEP_KEY_MAX &&
		(step->stop.len == 0 || wc_slice_cmp(step->start, step->stop) < 0) &&
		(step->state.len == 0 || step->kind == WC_STEP_FLUSH || step->kind == WC_STEP_COMPACT);
}

static bool
decode_expire(WcDecoder *d, WcStep *step)
{
	step->expired_ts = (int64_t) wc_decode_u64(d);
	step->oldest_ts = (int64_t) wc_decode_u64(d);
	return step->expired_ts >= 0 && step->oldest_ts >= 0;
}

WcStatus
wc_step_decode(WcSlice bytes, WcStep *step, WcError *err)
{
	WcDecoder	d = wc_decoder(bytes);
	uint8_t		format = wc_decode_u8(&d);
	uint8_t		flags;
	bool		good;

	*step = (WcStep) {.kind = wc_decode_u8(&d)};
	flags = wc_decode_u8(&d);
	step->last = (flags & FLAG_LAST) != 0;
	step->keep_deleted = wc_decode_u8(&d);
	step->table_id = wc_decode_u32(&d);
	step->family_id = wc_decode_u32(&d);
	step->generation = wc_decode_u32(&d);
	good = format == FORMAT && step->kind >= WC_STEP_FLUSH && step->kind <= WC_STEP_EXPIRE &&
		(flags & ~FLAG_LAST) == 0 && step->keep_deleted <= WC_KEEP_DELETED_TTL;
	if (good)
		good = step->kind == WC_STEP_EXPIRE ? decode_expire(&d, step) : decode_range(&d, step);
	if (!good || !wc_decoder_done(&d))
		return wc_error(err, WC_CORRUPT, "a step of a compaction is damaged");
	return WC_OK;
}
