/*
 * model/logrecord.c: widecol's records in PostgreSQL's log.
 */
#include "model/logrecord.h"

#include <inttypes.h>

#include "base/coding.h"
#include "base/limits.h"
#include "model/cell.h"

#define FORMAT 1

/* PostgreSQL's first id of an ordinary transaction; and wire/shared/flight.h has 60 bits for one. */
#define XID_FIRST	3
#define XID_END		(UINT64_C(1) << 60)

const char *
wc_logrecord_kind_name(uint8_t kind)
{
	switch ((WcRecordKind) kind)
	{
		case WC_RECORD_BATCH:
			return "BATCH";
		case WC_RECORD_STEP:
			return "STEP";
		case WC_RECORD_TICK:
			return "TICK";
		case WC_RECORD_BARRIER:
			return "BARRIER";
		case WC_RECORD_GENESIS:
			return "GENESIS";
	}
	return NULL;
}

static WcStatus
check_batch(const WcLogRecord *r, WcError *err)
{
	if ((r->flags & ~WC_RECORD_CATALOG) != 0)
		return wc_error(err, WC_CORRUPT, "log record BATCH has unknown flags %02x", r->flags);
	if (r->database == 0)
		return wc_error(err, WC_CORRUPT, "log record BATCH is of no database");
	if (r->xid < XID_FIRST || r->xid >= XID_END)
		return wc_error(err, WC_CORRUPT, "log record BATCH is of transaction %" PRIu64 ", which cannot be", r->xid);
	if (r->bytes.len > WC_BATCH_CHUNK)
		return wc_error(err, WC_CORRUPT, "log record BATCH has %zu bytes of its transaction (limit %d)", r->bytes.len,
						WC_BATCH_CHUNK);
	if (r->at > (uint64_t) INT64_MAX - WC_BATCH_CHUNK)
		return wc_error(err, WC_CORRUPT, "log record BATCH begins at byte %" PRIu64 " of its transaction, which cannot be",
						r->at);
	return WC_OK;
}

static WcStatus
check(const WcLogRecord *r, WcError *err)
{
	if (r->store == 0)
		return wc_error(err, WC_CORRUPT, "log record %s is of no store", wc_logrecord_kind_name(r->kind));
	if (r->kind == WC_RECORD_BATCH)
		return check_batch(r, err);
	if (r->kind == WC_RECORD_STEP && r->bytes.len > WC_STEP_MAX)
		return wc_error(err, WC_CORRUPT, "log record STEP has %zu bytes (limit %d)", r->bytes.len, WC_STEP_MAX);
	if (r->kind == WC_RECORD_TICK && (r->time_us < 0 || r->time_us == WC_TS_LATEST))
		return wc_error(err, WC_CORRUPT, "log record TICK has time %" PRId64 ", which cannot be", r->time_us);
	if (r->kind == WC_RECORD_BARRIER && r->redo == 0)
		return wc_error(err, WC_CORRUPT, "log record BARRIER has no redo pointer");
	return WC_OK;
}

WcStatus
wc_logrecord_encode(const WcLogRecord *r, uint8_t head[WC_RECORD_HEAD_MAX], size_t *len, WcError *err)
{
	uint8_t    *p = head;
	WcStatus	status;

	if (wc_logrecord_kind_name(r->kind) == NULL)
		return wc_error(err, WC_INTERNAL, "there is no log record of kind %02x", r->kind);
	status = check(r, err);
	if (status != WC_OK)
		return status;
	*p++ = FORMAT;
	wc_store_u32(p, r->store);
	p += 4;
	switch ((WcRecordKind) r->kind)
	{
		case WC_RECORD_BATCH:
			*p++ = r->flags;
			wc_store_u16(p, r->place);
			wc_store_u32(p + 2, r->database);
			wc_store_u64(p + 6, r->xid);
			wc_store_u64(p + 14, r->at);
			p += 22;
			break;
		case WC_RECORD_TICK:
			wc_store_u64(p, (uint64_t) r->time_us);
			p += 8;
			break;
		case WC_RECORD_BARRIER:
			wc_store_u64(p, r->redo);
			p += 8;
			break;
		case WC_RECORD_STEP:
		case WC_RECORD_GENESIS:
			break;
	}
	*len = (size_t) (p - head);
	return WC_OK;
}

static void
decode_body(WcDecoder *d, WcLogRecord *r)
{
	switch ((WcRecordKind) r->kind)
	{
		case WC_RECORD_BATCH:
			r->flags = wc_decode_u8(d);
			r->place = wc_decode_u16(d);
			r->database = wc_decode_u32(d);
			r->xid = wc_decode_u64(d);
			r->at = wc_decode_u64(d);
			r->bytes = wc_decode_raw(d, wc_decoder_left(d));
			break;
		case WC_RECORD_STEP:
			r->bytes = wc_decode_raw(d, wc_decoder_left(d));
			break;
		case WC_RECORD_TICK:
			r->time_us = (int64_t) wc_decode_u64(d);
			break;
		case WC_RECORD_BARRIER:
			r->redo = wc_decode_u64(d);
			break;
		case WC_RECORD_GENESIS:
			break;
	}
}

WcStatus
wc_logrecord_decode(uint8_t kind, WcSlice bytes, WcLogRecord *r, WcError *err)
{
	WcDecoder	d = wc_decoder(bytes);
	uint8_t		format;

	*r = (WcLogRecord) {.kind = kind};
	if (wc_logrecord_kind_name(kind) == NULL)
		return wc_error(err, WC_UNSUPPORTED, "log record of widecol has kind %02x, which this version does not know", kind);
	format = wc_decode_u8(&d);
	if (!d.failed && format != FORMAT)
		return wc_error(err, WC_UNSUPPORTED, "log record %s has format %u, this version reads format %d",
						wc_logrecord_kind_name(kind), format, FORMAT);
	r->store = wc_decode_u32(&d);
	decode_body(&d, r);
	if (!wc_decoder_done(&d))
		return wc_error(err, WC_CORRUPT, "log record %s is malformed", wc_logrecord_kind_name(kind));
	return check(r, err);
}
