/*
 * engine/source/deadskip.h: a cell source jumps over runs of dead rows, and finds them (engine/store/deadruns.h).
 *
 * One thread.
 */
#ifndef WC_ENGINE_SOURCE_DEADSKIP_H
#define WC_ENGINE_SOURCE_DEADSKIP_H

#include "engine/store/deadruns.h"
#include "engine/store/internal.h"
#include "read/cell/packedrow.h"

typedef struct WcDeadSkip
{
	WcDeadRuns *runs;			/* NULL: the source does not jump over dead rows */
	WcSnapshot	shown;			/* last_ts and seq of the scan's snapshot, which may be released earlier */
	bool		backward;
	uint32_t	n;				/* dead rows so far, one after another */
	WcBuf		first;			/* the first of them, in scan order */
	WcBuf		last;			/* the last of them */
	WcBuf		to;				/* the source goes on at this row; backward, before it */
} WcDeadSkip;

/* options: of the source. */
extern void wc_deadskip_init(WcDeadSkip *skip, WcDeadRuns *runs, const WcSourceOptions *options);
extern void wc_deadskip_free(WcDeadSkip *skip);

/* Is the row dead?  The reader is at its first cell. */
static inline bool
wc_deadskip_is_dead(const WcPackedRow *reader)
{
	WcPackedRow r;
	WcCell		cell;

	if (reader->flags & WC_PACKED_NO_MARKERS)
		return reader->ncells == 0;
	r = *reader;
	while (wc_packedrow_next(&r, &cell))
	{
		if (!wc_cell_is_marker(&cell))
			return false;
	}
	return !r.d.failed;
}

/* Does a DeleteFamily marker mask all puts of the row, or is there no cell?  The reader is at its first cell. */
static inline bool
wc_deadskip_is_masked(const WcPackedRow *reader)
{
	WcPackedRow r;
	WcCell		cell;
	int64_t		masked_upto;

	if (reader->ncells == 0)
		return true;
	if (reader->flags & WC_PACKED_NO_MARKERS)
		return false;
	r = *reader;
	if (!wc_packedrow_next(&r, &cell) || cell.type != WC_DELETE_FAMILY)
		return false;
	masked_upto = cell.ts;
	while (wc_packedrow_next(&r, &cell))
	{
		if (!wc_cell_is_marker(&cell) && cell.ts > masked_upto)
			return false;
	}
	return !r.d.failed;
}

/* The dead rows end here: the source has come to a living row or to its end, or is going to seek another row. */
extern void wc_deadskip_end(WcDeadSkip *skip);

/* The source has come to a dead row.  True: it has to go on at skip->to. */
extern bool wc_deadskip_row(WcDeadSkip *skip, WcSlice row);

#endif
