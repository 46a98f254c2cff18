/*
 * engine/forget/history.h: the start of a family's history.
 *
 * A read as of time t sees cells up to t.  It is right only if nothing that was
 * there at t has been forgotten since: superseded versions that storage dropped,
 * deleted cells that a later marker hides.  So each store knows the time up to
 * which it may have forgotten (marks.h); earlier reads are refused (engine/README,
 * "Reading as of a time").  Any thread.
 */
#ifndef WC_ENGINE_FORGET_HISTORY_H
#define WC_ENGINE_FORGET_HISTORY_H

#include "engine/store/store.h"
#include "model/cell.h"

/*
 * The time before which dropping a cell is to be noted, when it is needed to see times
 * before ts (0: it is not).  A delete of a single version shows an older one, which storage
 * may have dropped or may drop later: so where there were such deletes (single), what is
 * dropped may have been seen until now.
 */
static inline int64_t
wc_history_needed(bool single, int64_t ts, int64_t now)
{
	return ts > 0 && single && now > ts ? now : ts;
}

/* The time to which writing this delete marker makes a family forget: 0 when
 * reads of earlier times still see what it deletes.  *single is set if it
 * deletes a single version. */
extern int64_t wc_history_of_marker(const WcFamilyAttrs *attrs, const WcCell *marker, int64_t commit_ts, bool *single);

/* Does the store, as the snapshot sees it, remember the time as_of?  WC_INVALID
 * if not. */
extern WcStatus wc_history_check(WcStore *store, const WcTableDesc *table, const WcFamilyDesc *family,
								 const WcSnapshot *snapshot, int64_t as_of, WcError *err) WC_WARN_UNUSED;

/* Have cells of that time been removed for all readers, snapshots too?  To be asked after cells have been
 * read. */
extern WcStatus wc_history_recheck(WcStore *store, const WcTableDesc *table, const WcFamilyDesc *family,
								   int64_t as_of, WcError *err) WC_WARN_UNUSED;

#endif
