/*
 * rpc/request.h: the functions that carry out requests, called by dispatch.c.
 *
 * Each decodes the request's body, does the work, and appends the payload of the answer to d->out.  After an error
 * dispatch.c replaces this payload.  In the session's thread.
 */
#ifndef WC_RPC_REQUEST_H
#define WC_RPC_REQUEST_H

#include "rpc/dispatch.h"

/* An answer's frame besides its payload; dispatch.c sets it to { WC_MSG_OK, 0 } before the call. */
typedef struct WcAnswer
{
	uint8_t		type;			/* WC_MSG_... */
	uint8_t		flags;			/* WC_FLAG_... */
} WcAnswer;

/* --- requestscan.c: rows and cells are read ------------------------------------------- */

extern WcStatus wc_request_open(WcDispatch *d, const WcFrameHeader *header, WcSlice body, WcAnswer *answer, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_request_take(WcDispatch *d, const WcFrameHeader *header, WcSlice body, WcAnswer *answer,
								WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_request_next(WcDispatch *d, WcSlice body, WcAnswer *answer, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_request_stats(WcDispatch *d, WcSlice body, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_request_snapshot(WcDispatch *d, WcSlice body, WcError *err) WC_WARN_UNUSED;

/* The state that a request of the session reads: this snapshot (NULL: the newest state), and the transaction's own
 * writes by commands before cid. */
extern WcReadPoint wc_request_read_point(WcDispatch *d, WcSnapshot *snapshot, uint32_t cid, int64_t clock_offset_us);

extern WcScanReport wc_request_report(const WcScanStats *stats);

/* The crew's helpers, for a scan of this request; returned_part: theirs.  The dispatch must have a crew. */
extern WcScanHelpers wc_request_helpers(WcDispatch *d, uint64_t returned_part);

/* --- requestwrite.c: rows are written and locked, transactions end ---------------------- */

extern WcStatus wc_request_modify(WcDispatch *d, const WcFrameHeader *header, WcSlice body, WcAnswer *answer, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_request_lock(WcDispatch *d, WcSlice body, WcAnswer *answer, WcError *err) WC_WARN_UNUSED;

/* PRECOMMIT and PREPARE. */
extern WcStatus wc_request_precommit(WcDispatch *d, const WcFrameHeader *header, WcSlice body, WcError *err) WC_WARN_UNUSED;

/* HANDED and BATCH, which have no answer. */
extern void wc_request_hand_over(WcDispatch *d, uint64_t xid);
extern void wc_request_take_batch(WcDispatch *d, WcSlice body);

/* --- requesttable.c: tables as a whole, and the engine ---------------------------------- */

extern WcStatus wc_request_describe(WcDispatch *d, WcSlice body, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_request_new_table_id(WcDispatch *d) WC_WARN_UNUSED;

/* FLUSH and COMPACT, by the type of the request. */
extern WcStatus wc_request_table_work(WcDispatch *d, uint8_t type, WcSlice body, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_request_compacting(WcDispatch *d, WcSlice body, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_request_check_store(WcDispatch *d, WcSlice body, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_request_estimate(WcDispatch *d, WcSlice body, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_request_split(WcDispatch *d, WcSlice body, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_request_sample(WcDispatch *d, WcSlice body, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_request_statistics(WcDispatch *d, WcSlice body, WcError *err) WC_WARN_UNUSED;

#endif
