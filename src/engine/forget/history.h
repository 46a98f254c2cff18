/*
 * engine/forget/history.h: the start of a family's history.
 *
 * A read as of time t returns cells up to t.  Its result is right only if no cell that was visible at t has been
 * forgotten since: for example a superseded version that was dropped, or a deleted cell that a later marker hides.  So
 * each store has the time before which cells may be missing (marks.h); reads as of earlier times are refused
 * (engine/README, "Reading as of a time").  Any thread.
 */
#ifndef WC_ENGINE_FORGET_HISTORY_H
#define WC_ENGINE_FORGET_HISTORY_H

#include "engine/store/store.h"
#include "model/cell.h"

/*
 * "History from" after a cell is dropped that reads as of times before ts need (0: no read needs it).  A delete of a
 * single version makes an older version visible, which storage may have dropped or may drop later: so if there were
 * such deletes (single), the dropped cell may have been visible until now.
 */
static inline int64_t
wc_history_needed(bool single, int64_t ts, int64_t now)
{
	return ts > 0 && single && now > ts ? now : ts;
}

/* Writing this delete marker makes reads as of earlier times than the result wrong: 0 if they still see the deleted cells.
 * *single is set if the marker deletes a single version. */
extern int64_t wc_history_of_marker(const WcFamilyAttrs *attrs, const WcCell *marker, int64_t commit_ts, bool *single);

/* Does the store, as the snapshot sees it, remember the time as_of_ts?  WC_INVALID
 * if not. */
extern WcStatus wc_history_check(WcStore *store, const WcTableDesc *table, const WcFamilyDesc *family,
								 const WcSnapshot *snapshot, int64_t as_of_ts, WcError *err) WC_WARN_UNUSED;

/* Have cells of that time been removed for all readers, snapshots too?  To be asked after cells have been
 * read. */
extern WcStatus wc_history_recheck(WcStore *store, const WcTableDesc *table, const WcFamilyDesc *family,
								   int64_t as_of_ts, WcError *err) WC_WARN_UNUSED;

#endif
