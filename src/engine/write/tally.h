/*
 * engine/write/tally.h: a commit's changes of a family's marks.
 *
 * The start of the family's history, and about how many key-values could go (store/marks.h).  One thread.
 */
#ifndef WC_ENGINE_WRITE_TALLY_H
#define WC_ENGINE_WRITE_TALLY_H

#include "engine/store/internal.h"
#include "read/txn/resolve.h"

typedef struct WcTally
{
	const WcFamilyAttrs *attrs;
	int64_t		ts;				/* of the commit */
	WcMarks		marks;			/* of the family, after the writes in the batch */
	bool		changed;		/* they differ from the stored marks */
} WcTally;

extern void wc_tally_init(WcTally *tally, WcStore *store, const WcFamilyAttrs *attrs, int64_t ts);

/* From now on reads as of times before `needed` lack a dropped cell.  If the cell has been visible until now, reads as
 * of any time before the commit do. */
extern void wc_tally_history(WcTally *tally, int64_t needed, bool seen_until_now);

/* A row's cells: their timestamps, markers and TTLs.  simple: wc_resolved_is_simple. */
extern void wc_tally_cells(WcTally *tally, const WcResolved *resolved, bool simple);

/*
 * In packing cell, a write does not read the stored cells; so the puts that new ones supersede are counted for some
 * rows only.  wc_tally_looks_at: is the row one of them?  (Depends on the row and the commit alone.)  For these rows the
 * caller reads the stored cells and calls:
 */
extern bool wc_tally_looks_at(const WcTally *tally, WcSlice row);
extern WcStatus wc_tally_superseded(WcTally *tally, WcCellSource *stored, const WcResolved *resolved, WcError *err) WC_WARN_UNUSED;

#endif
