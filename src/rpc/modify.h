/*
 * rpc/modify.h: one change to all rows of a scan, without their leaving the
 * engine.
 */
#ifndef WC_RPC_MODIFY_H
#define WC_RPC_MODIFY_H

#include "base/arena.h"
#include "read/scan/scanner.h"
#include "rpc/session/session.h"
#include "wire/message/message.h"

/* Where operations go. */
typedef struct WcModifySink
{
	/* They have been appended to the session's batch, at an offset.  An error ends the
	 * change. */
	WcStatus	(*take) (void *arg, uint64_t at, WcSlice bytes, WcError *err);
	void	   *arg;
	WcBuf		ops;			/* in the end, those that take has not been given; the caller's to free */
} WcModifySink;

/*
 * Scans at the read point, locks each row, and appends an operation with the message's items to the session's batch; the
 * scan does not see these operations.  A row that has changed since the read point's snapshot is read again in the
 * newest state, unless the message forbids it; then the function ends.  If another transaction has locked a row, the
 * function ends with outcome BLOCKED.  After an error, and all outcomes but DONE and BLOCKED, the caller must cut the
 * batch back; rows may have been locked.  The result's changes are the sink's ops; its report is not set, but stats are.
 * The arena gets decoded values, and the result's row.  Helpers (NULL: none) share a long scan.
 */
extern WcStatus wc_modify_rows(WcSession *s, const WcModifyMessage *m, const WcReadPoint *at, WcModifySink *sink,
							   const WcScanHelpers *helpers, WcArena *arena, WcModifyResult *result, WcScanStats *stats,
							   WcError *err) WC_WARN_UNUSED;

#endif
