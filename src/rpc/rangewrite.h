/*
 * rpc/rangewrite.h: one change to all rows of a scan, without their leaving the
 * engine.
 */
#ifndef WC_RPC_RANGEWRITE_H
#define WC_RPC_RANGEWRITE_H

#include "base/arena.h"
#include "rpc/session.h"
#include "wire/message.h"

/*
 * Scans at the read point, and appends for each row an operation with the
 * message's items to the session's batch; rows see the batch as it was before.
 * All or nothing: on any error, and unless the outcome is DONE, the batch is as
 * before.  result's report is not filled in: stats are.  The arena is for what is
 * decoded.
 */
extern WcStatus wc_rangewrite(WcSession *s, const WcModifyMessage *m, const WcReadPoint *at, WcArena *arena,
							  WcModifyResult *result, WcScanStats *stats, WcError *err) WC_WARN_UNUSED;

#endif
