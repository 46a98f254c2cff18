/*
 * wire/message/message.c: payloads of messages.
 */
#include "wire/message/message.h"

#include <stdio.h>

static WcStatus
message_done(const WcDecoder *d, const char *what, WcError *err)
{
	if (!wc_decoder_done(d))
		return wc_error(err, WC_CORRUPT, "a message makes no sense: %s", what);
	return WC_OK;
}

void
wc_message_hello_encode(WcBuf *out, const WcHelloMessage *m)
{
	wc_buf_append_u32(out, m->version);
	wc_buf_append_u32(out, m->database);
}

WcStatus
wc_message_hello_decode(WcSlice in, WcHelloMessage *m, WcError *err)
{
	WcDecoder	d = wc_decoder(in);

	m->version = wc_decode_u32(&d);
	m->database = wc_decode_u32(&d);
	return message_done(&d, "HELLO", err);
}

void
wc_message_open_encode(WcBuf *out, const WcOpenMessage *m, const WcScan *scan)
{
	wc_buf_append_varint(out, m->scan_no);
	wc_buf_append_varint(out, m->snapshot);
	wc_buf_append_varint(out, m->epoch);
	wc_buf_append_varint(out, m->cid);
	wc_buf_append_varint(out, (uint64_t) m->clock_offset_us);
	wc_buf_append_varint(out, m->target);
	wc_scan_encode(out, scan);
}

WcStatus
wc_message_open_decode(WcSlice in, WcOpenMessage *m, WcError *err)
{
	WcDecoder	d = wc_decoder(in);

	m->scan_no = (uint32_t) wc_decode_varint_max(&d, WC_SCANNERS_MAX - 1);
	m->snapshot = wc_decode_varint(&d);
	m->epoch = wc_decode_varint(&d);
	m->cid = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	m->clock_offset_us = (int64_t) wc_decode_varint_max(&d, INT64_MAX);
	m->target = (uint32_t) wc_decode_varint_max(&d, WC_MESSAGE_MAX);
	if (d.failed)
		return message_done(&d, "OPEN", err);
	m->scan = wc_slice(d.p, (size_t) (d.end - d.p));
	return WC_OK;
}

void
wc_message_next_encode(WcBuf *out, const WcNextMessage *m)
{
	wc_buf_append_varint(out, m->scan_no);
	wc_buf_append_varint(out, m->target);
}

WcStatus
wc_message_next_decode(WcSlice in, WcNextMessage *m, WcError *err)
{
	WcDecoder	d = wc_decoder(in);

	m->scan_no = (uint32_t) wc_decode_varint_max(&d, WC_SCANNERS_MAX - 1);
	m->target = (uint32_t) wc_decode_varint_max(&d, WC_MESSAGE_MAX);
	return message_done(&d, "NEXT", err);
}

void
wc_scan_report_encode(WcBuf *out, const WcScanReport *report)
{
	uint64_t	numbers[WC_SCAN_REPORT_SIZE / sizeof(uint64_t)];

	memcpy(numbers, report, sizeof(numbers));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		wc_buf_append_u64(out, numbers[i]);
}

WcStatus
wc_scan_report_take(WcSlice *in, WcScanReport *report, WcError *err)
{
	uint64_t	numbers[WC_SCAN_REPORT_SIZE / sizeof(uint64_t)];

	if (in->len < WC_SCAN_REPORT_SIZE)
		return wc_error(err, WC_CORRUPT, "a message makes no sense: the end of a scan without its figures");
	in->len -= WC_SCAN_REPORT_SIZE;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		numbers[i] = wc_load_u64(in->data + in->len + i * sizeof(uint64_t));
	memcpy(report, numbers, sizeof(numbers));
	return WC_OK;
}

void
wc_message_batch_encode(WcBuf *out, const WcBatchMessage *m)
{
	wc_buf_append_varint(out, m->bytes_max);
	wc_buf_append_varint(out, m->at);
}

WcStatus
wc_message_batch_decode(WcSlice in, WcBatchMessage *m, WcError *err)
{
	WcDecoder	d = wc_decoder(in);

	m->bytes_max = wc_decode_varint(&d);
	m->at = wc_decode_varint(&d);
	m->bytes = wc_decode_raw(&d, wc_decoder_left(&d));
	return message_done(&d, "batch", err);
}

void
wc_message_table_encode(WcBuf *out, const WcTableMessage *m)
{
	wc_buf_append_varint(out, m->table_id);
	wc_buf_append_varint(out, m->family_id);
	wc_buf_append_u8(out, (uint8_t) ((m->major ? 1 : 0) | (m->later ? 2 : 0)));
	wc_buf_append_varint(out, m->cid);
	wc_buf_append_varint(out, (uint64_t) m->clock_offset_us);
}

WcStatus
wc_message_table_decode(WcSlice in, WcTableMessage *m, WcError *err)
{
	WcDecoder	d = wc_decoder(in);
	uint8_t		flags;

	m->table_id = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	m->family_id = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	flags = wc_decode_u8(&d);
	if ((flags & ~3) != 0)
		wc_decoder_fail(&d);
	m->major = (flags & 1) != 0;
	m->later = (flags & 2) != 0;
	m->cid = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	m->clock_offset_us = (int64_t) wc_decode_varint_max(&d, INT64_MAX);
	return message_done(&d, "FLUSH or COMPACT", err);
}

void
wc_message_estimate_encode(WcBuf *out, const WcEstimateMessage *m)
{
	wc_buf_append_varint(out, m->table_id);
	wc_buf_append_u8(out, (uint8_t) ((m->range.start_inclusive ? 1 : 0) | (m->range.stop_inclusive ? 2 : 0)));
	wc_buf_append_bytes(out, m->range.start);
	wc_buf_append_bytes(out, m->range.stop);
	wc_buf_append_varint(out, m->nfamilies);
	for (uint32_t i = 0; i < m->nfamilies; i++)
		wc_buf_append_varint(out, m->families[i]);
}

/* A range of some families' rows: of ESTIMATE and SPLIT. */
static WcStatus
decode_estimated(WcDecoder *d, WcArena *arena, WcEstimateMessage *m, WcError *err)
{
	uint32_t   *families;
	uint8_t		flags;

	m->table_id = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	flags = wc_decode_u8(d);
	if ((flags & ~3) != 0)
		wc_decoder_fail(d);
	m->range.start_inclusive = (flags & 1) != 0;
	m->range.stop_inclusive = (flags & 2) != 0;
	m->range.start = wc_decode_bytes(d);
	m->range.stop = wc_decode_bytes(d);
	m->nfamilies = (uint32_t) wc_decode_count(d, WC_FAMILIES_MAX, 1);
	families = wc_arena_alloc_zero(arena, sizeof(uint32_t) * (m->nfamilies + 1));
	if (families == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a request");
	for (uint32_t i = 0; i < m->nfamilies; i++)
		families[i] = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	m->families = families;
	return WC_OK;
}

WcStatus
wc_message_estimate_decode(WcSlice in, WcArena *arena, WcEstimateMessage *m, WcError *err)
{
	WcDecoder	d = wc_decoder(in);
	WcStatus	status = decode_estimated(&d, arena, m, err);

	return status == WC_OK ? message_done(&d, "ESTIMATE", err) : status;
}

void
wc_message_split_encode(WcBuf *out, const WcSplitMessage *m)
{
	wc_message_estimate_encode(out, &m->range);
	wc_buf_append_varint(out, m->nparts);
}

WcStatus
wc_message_split_decode(WcSlice in, WcArena *arena, WcSplitMessage *m, WcError *err)
{
	WcDecoder	d = wc_decoder(in);
	WcStatus	status = decode_estimated(&d, arena, &m->range, err);

	if (status != WC_OK)
		return status;
	m->nparts = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	return message_done(&d, "SPLIT", err);
}

void
wc_message_sample_encode(WcBuf *out, const WcSampleMessage *m)
{
	wc_buf_append_varint(out, m->table_id);
	wc_buf_append_bytes(out, m->range.start);
	wc_buf_append_bytes(out, m->range.stop);
	wc_buf_append_varint(out, m->nranges);
	wc_buf_append_varint(out, m->range_rows);
	wc_buf_append_varint(out, m->seed);
}

WcStatus
wc_message_sample_decode(WcSlice in, WcSampleMessage *m, WcError *err)
{
	WcDecoder	d = wc_decoder(in);

	m->table_id = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	m->range.start = wc_decode_bytes(&d);
	m->range.stop = wc_decode_bytes(&d);
	m->range.start_inclusive = true;
	m->range.stop_inclusive = false;
	m->nranges = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	m->range_rows = wc_decode_varint(&d);
	m->seed = wc_decode_varint(&d);
	return message_done(&d, "SAMPLE", err);
}

/* The locker of LOCK, TAKE and MODIFY. */
static void
append_locker(WcBuf *out, uint64_t owner, uint64_t xid, uint32_t subid, uint8_t mode)
{
	wc_buf_append_varint(out, owner);
	wc_buf_append_varint(out, xid);
	wc_buf_append_varint(out, subid);
	wc_buf_append_u8(out, mode);
}

static void
decode_locker(WcDecoder *d, uint64_t *owner, uint64_t *xid, uint32_t *subid, uint8_t *mode)
{
	*owner = wc_decode_varint(d);
	*xid = wc_decode_varint(d);
	*subid = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	*mode = wc_decode_u8(d);
	if (*owner == 0 || *xid == 0 || *subid == 0 || *mode < WC_LOCK_KEY_SHARE || *mode > WC_LOCK_EXCLUSIVE)
		wc_decoder_fail(d);
}

void
wc_message_lock_encode(WcBuf *out, const WcLockMessage *m)
{
	wc_buf_append_varint(out, m->table_id);
	append_locker(out, m->owner, m->xid, m->subid, m->mode);
	wc_buf_append_varint(out, m->snapshot);
	wc_buf_append_varint(out, m->epoch);
	wc_buf_append_varint(out, m->cid);
	wc_buf_append_varint(out, (uint64_t) m->clock_offset_us);
	wc_buf_append_u8(out, (uint8_t) ((m->only_absent ? 1 : 0) | (m->serializable ? 2 : 0) | (m->tell_rewritten ? 4 : 0)));
	wc_buf_append_varint(out, m->nfamilies);
	for (uint32_t i = 0; i < m->nfamilies; i++)
		wc_buf_append_varint(out, m->families[i]);
	wc_buf_append_varint(out, m->nrows);
	for (uint32_t i = 0; i < m->nrows; i++)
		wc_buf_append_bytes(out, m->rows[i]);
}

static WcStatus
decode_rows(WcDecoder *d, WcArena *arena, WcLockMessage *m, WcError *err)
{
	WcSlice    *rows;

	m->nrows = (uint32_t) wc_decode_count(d, WC_LOCK_BATCH, 2);
	if (m->nrows == 0)
		wc_decoder_fail(d);
	rows = wc_arena_alloc(arena, sizeof(WcSlice) * (m->nrows + 1));
	if (rows == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for locking rows");
	for (uint32_t i = 0; i < m->nrows; i++)
	{
		rows[i] = wc_decode_bytes(d);
		if (rows[i].len == 0 || rows[i].len > WC_ROW_MAX)
			wc_decoder_fail(d);
	}
	m->rows = rows;
	return message_done(d, "LOCK", err);
}

WcStatus
wc_message_lock_decode(WcSlice in, WcArena *arena, WcLockMessage *m, WcError *err)
{
	WcDecoder	d = wc_decoder(in);
	uint32_t   *families;
	uint8_t		flags;

	m->table_id = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	decode_locker(&d, &m->owner, &m->xid, &m->subid, &m->mode);
	m->snapshot = wc_decode_varint(&d);
	m->epoch = wc_decode_varint(&d);
	m->cid = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	m->clock_offset_us = (int64_t) wc_decode_varint_max(&d, INT64_MAX);
	flags = wc_decode_u8(&d);
	m->only_absent = (flags & 1) != 0;
	m->serializable = (flags & 2) != 0;
	m->tell_rewritten = (flags & 4) != 0;
	if (flags > 7)
		wc_decoder_fail(&d);
	m->nfamilies = (uint32_t) wc_decode_count(&d, WC_FAMILIES_MAX, 1);
	families = wc_arena_alloc(arena, sizeof(uint32_t) * (m->nfamilies + 1));
	if (families == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for locking rows");
	for (uint32_t i = 0; i < m->nfamilies; i++)
		families[i] = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	m->families = families;
	return decode_rows(&d, arena, m, err);
}

void
wc_message_locked_encode(WcBuf *out, const WcLockResult *r)
{
	wc_buf_append_varint(out, r->nlocked);
	wc_buf_append_varint(out, r->holder);
	wc_buf_append_u8(out, r->has_weaker ? 1 : 0);
	wc_buf_append(out, r->rows, r->nlocked);
}

WcStatus
wc_message_locked_decode(WcSlice in, const WcLockMessage *asked, WcLockResult *r, WcError *err)
{
	WcDecoder	d = wc_decoder(in);
	WcSlice		rows;
	bool		ended;

	r->nlocked = (uint32_t) wc_decode_varint_max(&d, asked->nrows);
	r->holder = wc_decode_varint(&d);
	r->has_weaker = wc_decode_bool(&d);
	rows = wc_decode_raw(&d, r->nlocked);
	r->rows = rows.data;

	/* the holder of the next row is in the answer, if there is a next row and the engine has tried to lock it */
	ended = asked->serializable && rows.len > 0 && (rows.data[rows.len - 1] & WC_LOCKED_CHANGED) != 0;
	if ((r->holder != 0) != (r->nlocked < asked->nrows && !ended))
		wc_decoder_fail(&d);
	return message_done(&d, "an answer to LOCK", err);
}

void
wc_message_modify_encode(WcBuf *out, const WcModifyMessage *m, const WcScan *scan)
{
	wc_buf_append_varint(out, m->snapshot);
	wc_buf_append_varint(out, m->epoch);
	wc_buf_append_varint(out, m->cid);
	wc_buf_append_varint(out, (uint64_t) m->clock_offset_us);
	wc_buf_append_varint(out, m->write_cid);
	wc_buf_append_varint(out, m->bytes_max);
	append_locker(out, m->owner, m->xid, m->subid, m->mode);
	wc_buf_append_u8(out, m->serializable ? 1 : 0);
	wc_buf_append_u8(out, m->kind);
	wc_buf_append_bytes(out, m->keys);
	wc_buf_append_bytes(out, m->items);
	wc_buf_append_bytes(out, m->items_bare);
	wc_scan_encode(out, scan);
}

void
wc_message_take_encode(WcBuf *out, const WcTakeMessage *m, const WcScan *scan)
{
	append_locker(out, m->owner, m->xid, m->subid, m->mode);
	wc_message_open_encode(out, &m->open, scan);
}

WcStatus
wc_message_take_decode(WcSlice in, WcTakeMessage *m, WcError *err)
{
	WcDecoder	d = wc_decoder(in);

	decode_locker(&d, &m->owner, &m->xid, &m->subid, &m->mode);
	if (d.failed)
		return message_done(&d, "TAKE", err);
	return wc_message_open_decode(wc_slice(d.p, (size_t) (d.end - d.p)), &m->open, err);
}

WcStatus
wc_message_modify_decode(WcSlice in, WcModifyMessage *m, WcError *err)
{
	WcDecoder	d = wc_decoder(in);

	m->snapshot = wc_decode_varint(&d);
	m->epoch = wc_decode_varint(&d);
	m->cid = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	m->clock_offset_us = (int64_t) wc_decode_varint_max(&d, INT64_MAX);
	m->write_cid = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
	m->bytes_max = wc_decode_varint(&d);
	decode_locker(&d, &m->owner, &m->xid, &m->subid, &m->mode);
	m->serializable = wc_decode_bool(&d);
	m->kind = wc_decode_u8(&d);
	if (m->kind > WC_MODIFY_MEMBERS_MARKED)
		wc_decoder_fail(&d);
	m->keys = wc_decode_bytes(&d);
	m->items = wc_decode_bytes(&d);
	m->items_bare = wc_decode_bytes(&d);
	if (d.failed)
		return message_done(&d, "MODIFY", err);
	m->scan = wc_slice(d.p, (size_t) (d.end - d.p));
	return WC_OK;
}

void
wc_message_modified_encode(WcBuf *out, const WcModifyResult *r)
{
	wc_buf_append_u8(out, r->outcome);
	wc_buf_append_varint(out, r->rows);
	wc_buf_append_varint(out, r->length);
	wc_buf_append_bytes(out, r->changes);
	wc_buf_append_varint(out, r->holder);
	wc_buf_append_u8(out, r->has_weaker ? 1 : 0);
	wc_buf_append_bytes(out, r->row);
	wc_scan_report_encode(out, &r->report);
}

WcStatus
wc_message_modified_decode(WcSlice in, WcModifyResult *r, WcError *err)
{
	WcStatus	status = wc_scan_report_take(&in, &r->report, err);
	WcDecoder	d = wc_decoder(in);

	if (status != WC_OK)
		return status;
	r->outcome = wc_decode_u8(&d);
	r->rows = wc_decode_varint(&d);
	r->length = wc_decode_varint(&d);
	r->changes = wc_decode_bytes(&d);
	r->holder = wc_decode_varint(&d);
	r->has_weaker = wc_decode_bool(&d);
	r->row = wc_decode_bytes(&d);
	if (r->outcome > WC_MODIFY_CHANGED || r->changes.len > r->length || (r->outcome == WC_MODIFY_BLOCKED && r->holder == 0) ||
		(r->outcome >= WC_MODIFY_BLOCKED && r->row.len == 0))
		wc_decoder_fail(&d);
	return message_done(&d, "an answer to MODIFY", err);
}

void
wc_message_commit_encode(WcBuf *out, const WcCommitMessage *m)
{
	wc_buf_append_varint(out, m->xid);
	wc_buf_append_varint(out, m->length);
	wc_buf_append_varint(out, m->snapshot);
	wc_buf_append_varint(out, m->epoch);
}

WcStatus
wc_message_commit_decode(WcSlice in, WcCommitMessage *m, WcError *err)
{
	WcDecoder	d = wc_decoder(in);

	m->xid = wc_decode_varint(&d);
	m->length = wc_decode_varint(&d);
	m->snapshot = wc_decode_varint(&d);
	m->epoch = wc_decode_varint(&d);
	return message_done(&d, "PRECOMMIT", err);
}

void
wc_message_changes_encode(WcBuf *out, const WcChangesMessage *m)
{
	wc_buf_append_varint(out, m->at);
	wc_buf_append_slice(out, m->bytes);
}

WcStatus
wc_message_changes_decode(WcSlice in, WcChangesMessage *m, WcError *err)
{
	WcDecoder	d = wc_decoder(in);

	m->at = wc_decode_varint(&d);
	m->bytes = wc_decode_raw(&d, wc_decoder_left(&d));
	return message_done(&d, "changes", err);
}

void
wc_message_numbers_encode(WcBuf *out, const uint64_t *numbers, int n)
{
	for (int i = 0; i < n; i++)
		wc_buf_append_varint(out, numbers[i]);
}

WcStatus
wc_message_numbers_decode(WcSlice in, uint64_t *numbers, int n, WcError *err)
{
	WcDecoder	d = wc_decoder(in);

	for (int i = 0; i < n; i++)
		numbers[i] = wc_decode_varint(&d);
	return message_done(&d, "numbers", err);
}

void
wc_message_name_encode(WcBuf *out, WcSlice ns, WcSlice name)
{
	wc_buf_append_bytes(out, ns);
	wc_buf_append_bytes(out, name);
}

WcStatus
wc_message_name_decode(WcSlice in, WcSlice *ns, WcSlice *name, WcError *err)
{
	WcDecoder	d = wc_decoder(in);

	*ns = wc_decode_bytes(&d);
	*name = wc_decode_bytes(&d);
	return message_done(&d, "a table's name", err);
}

void
wc_message_error_encode(WcBuf *out, const WcError *e)
{
	wc_buf_append_u8(out, (uint8_t) e->status);
	wc_buf_append_bytes(out, wc_slice_cstr(e->message));
	wc_buf_append_bytes(out, wc_slice_cstr(e->detail));
	wc_buf_append_bytes(out, wc_slice_cstr(e->hint));
	wc_buf_append_u32(out, e->table);
	wc_buf_append_bytes(out, wc_slice(e->row, e->row_len));
}

static void
text_copy(char *to, WcSlice from)
{
	size_t		n = from.len < WC_ERROR_TEXT_MAX ? from.len : WC_ERROR_TEXT_MAX - 1;

	if (n > 0)
		memcpy(to, from.data, n);
	to[n] = '\0';
}

void
wc_message_error_decode(WcSlice in, WcError *err)
{
	WcDecoder	d = wc_decoder(in);
	uint8_t		status = wc_decode_u8(&d);
	WcSlice		message = wc_decode_bytes(&d);
	WcSlice		detail = wc_decode_bytes(&d);
	WcSlice		hint = wc_decode_bytes(&d);
	uint32_t	table = wc_decode_u32(&d);
	WcSlice		row = wc_decode_bytes(&d);

	if (!wc_decoder_done(&d) || row.len > WC_ERROR_ROW_MAX || status == WC_OK || status == WC_END || status >= WC_STATUS_COUNT)
	{
		wc_error(err, WC_CORRUPT, "a message makes no sense: ERROR");
		return;
	}
	err->status = (WcStatus) status;
	text_copy(err->message, message);
	text_copy(err->detail, detail);
	text_copy(err->hint, hint);
	err->table = 0;
	err->row_len = 0;
	wc_error_row(err, table, row.data, row.len);
}

/* --- names ------------------------------------------------------------------*/

const char *
wc_message_request_name(uint8_t type)
{
	static const char *const names[] = {
		[WC_MSG_HELLO] = "connect",[WC_MSG_DESCRIBE] = "describe",[WC_MSG_LIST_TABLES] = "list tables",
		[WC_MSG_LIST_NAMESPACES] = "list namespaces",[WC_MSG_NEW_TABLE_ID] = "new table",[WC_MSG_OPEN] = "scan",
		[WC_MSG_NEXT] = "scan",[WC_MSG_STATS] = "scan statistics",[WC_MSG_FLUSH] = "flush",
		[WC_MSG_COMPACT] = "compaction",[WC_MSG_ESTIMATE] = "estimate",
		[WC_MSG_SNAPSHOT] = "snapshot",[WC_MSG_LOCK] = "lock rows",[WC_MSG_SAMPLE] = "sample",
		[WC_MSG_MODIFY] = "modify",[WC_MSG_PRECOMMIT] = "commit",[WC_MSG_PREPARE] = "prepare",[WC_MSG_STATISTICS] = "statistics",
		[WC_MSG_COMPACTING] = "compaction state",[WC_MSG_CHECK_STORE] = "check store",[WC_MSG_SPLIT] = "split",
		[WC_MSG_TAKE] = "take",[WC_MSG_HANDED] = "hand over"
	};

	return type < sizeof(names) / sizeof(names[0]) && names[type] != NULL ? names[type] : "unknown";
}
