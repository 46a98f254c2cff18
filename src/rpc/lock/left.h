/*
 * rpc/lock/left.h: answers to Gets of rows, as commits have left the rows (wire/shared/unapplied.h), which are kept once the commits
 * are applied.
 *
 * A write makes the kept answers to Gets of its row invalid (wire/shared/getcache.h).  If the session that has written the row knew its
 * new answer, nobody has to read the row again.  The applier's thread, but for wc_left_create and wc_left_free.
 */
#ifndef WC_RPC_LOCK_LEFT_H
#define WC_RPC_LOCK_LEFT_H

#include "wire/shared/claims.h"
#include "wire/shared/getcache.h"
#include "wire/shared/unapplied.h"

typedef struct WcLeft WcLeft;

/* All three outlive it.  NULL: out of memory. */
extern WcLeft *wc_left_create(WcGetCache *cache, const WcClaims *claims, const WcUnapplied *unapplied);
extern void wc_left_free(WcLeft *left);	/* NULL is allowed */

/* Before a write of the row, or of any row of the table; wc_getcache_touch_row or wc_getcache_touch_table has been called.  xid: of the
 * small commit that writes the row; 0: it is a step, or a large commit. */
extern void wc_left_row(WcLeft *left, uint32_t table_id, WcSlice row, uint64_t xid);
extern void wc_left_table(WcLeft *left, uint32_t table_id);

/* The applier calls it when new readers see the write.  The function keeps the answers that the commits of this write have left.  An
 * answer takes the place of an older answer to the same Get, or a free place while the row's page has never been full (wire/README). */
extern void wc_left_keep(WcLeft *left);

/* The write has failed: it, or other writes, may be tried later. */
extern void wc_left_forget(WcLeft *left);

#endif
