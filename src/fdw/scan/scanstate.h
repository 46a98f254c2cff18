/*
 * fdw/scan/scanstate.h: the state of a scan, for the two files that work on it (scan.c, scandescribe.c).
 */
#ifndef WC_FDW_SCAN_SCANSTATE_H
#define WC_FDW_SCAN_SCANSTATE_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "client/client.h"
#include "fdw/condition/bound.h"
#include "fdw/condition/cellfilter.h"
#include "fdw/condition/filter.h"
#include "fdw/plan/limit.h"
#include "fdw/plan/lookahead.h"
#include "fdw/plan/private.h"
#include "fdw/relation/relation.h"
#include "fdw/row/reader.h"
#include "fdw/scan/grouped.h"
#include "fdw/scan/keptrows.h"
#include "fdw/scan/parallel.h"
#include "fdw/scan/partkeys.h"
#include "fdw/scan/prefetch.h"
#include "fdw/scan/rowlock.h"
#include "fdw/scan/scangate.h"

/* Resources outside memory contexts, such as malloc'd memory: released when the scan ends, or with the query's memory
 * after an error. */
typedef struct WcScanResources
{
	MemoryContextCallback callback;
	WcRelation *wrel;
	WcArena		arena;			/* ranges */
	WcArena		filter_arena;
	WcBuf		scratch;
} WcScanResources;

typedef struct WcScanState
{
	WcScanPlan	plan;
	WcScanResources resources;
	int			nvalues;
	ExprState **exprs;			/* [nvalues]; NULL: the value is constant */
	Datum	   *values;
	bool	   *nulls;
	Bitmapset  *params;			/* parameters of the conditions, set by executor nodes above */

	bool		bounds_known;
	WcBounds	bounds;
	int			nkeyvalues;		/* the values of conditions on the key come first */
	WcCellFilter cells;
	WcFilterMaker *maker;		/* NULL: no filter */
	Bitmapset  *filter_attrs;	/* columns that the filter uses */
	Bitmapset  *filter_params;	/* parameters of the filter, set by executor nodes above */
	bool		filter_known;
	WcMadeFilter filter;
	bool		recheck;		/* the scan must evaluate fdw_recheck_quals */

	List	   *placed;			/* WcPlacedMember *, in a scan of rows */
	WcGrouped  *grouped;		/* the scan returns groups of rows; NULL: it returns rows */
	bool		aggregated;		/* the open scan's rows are groups */
	WcSlice		distinct_keys;	/* of scans that want one row of each prefix */

	WcLimit    *limit;			/* NULL: all rows are returned */
	uint64		to_skip;		/* rows of the open scan to skip before the first returned row */
	uint64		to_give;		/* rows to return, or WC_NO_LIMIT */

	WcScanGate *gate;			/* conditions that hide rows; NULL: none */
	WcReader   *reader;			/* created at the first row */
	bool		reader_rechecks;	/* the reader also reads the columns for rechecks */
	bool		lenient;		/* widecol.on_undecodable is null, for this scan */
	WcClientSnapshot *snapshot; /* the statement's; NULL: not taken yet */
	bool		alone;			/* the client's statement reads nothing else: a Get need not read at the statement's snapshot */
	WcClientScan *scan;
	bool		done;			/* no more rows */
	bool		asked;			/* below an asynchronous Append: opening was requested */

	WcKeptRows *kept;			/* rows read since the start; NULL: rows are not kept */
	uint64		next;			/* index of the next kept row */
	bool		keeps_none;		/* the rows were too many to keep */

	WcLookahead *lookahead;		/* has the next keys; NULL: no lookahead node */
	WcPrefetch *prefetch;
	WcPartKeys *partkeys;		/* NULL: any keys are looked up */
	uint64		fetched_to;		/* keys of the lookahead before this position have been fetched */
	bool		prefetched;		/* rows are returned from the prefetched rows */

	WcScanLock *lock;			/* locks rows as they are returned; NULL: no locks */
	WcScanMark *mark;			/* for a LockRows node above that locks the rows; NULL: none */

	WcSharedScan *shared;		/* state shared with other processes; NULL: not shared */

	bool		started;
	WcClientScanStats stats;	/* of closed Scans, and of workers that have ended */
} WcScanState;

/* Prepares the expressions of the conditions, when the executor starts. */
extern void wc_scan_prepare_conditions(WcScanState *state, ForeignScanState *node);

/* The members of maps that have places in the tuple of a scan of rows: List of WcPlacedMember *. */
extern List *wc_scan_placed_members(const ForeignScan *plan, WcRelation *wrel);

/* Evaluates the conditions' values and computes ranges and filter, unless they are known. */
extern void wc_scan_find_bounds(WcScanState *state, ForeignScanState *node);

/* Creates the reader, which lives as long as the query, unless an earlier scan has created it. */
extern void wc_scan_prepare_reading(WcScanState *state, EState *estate, bool recheck);

/* A copy of the filter with positions in the Scan; the filter in the arena stays unchanged, for rescans. */
extern WcFilter *wc_scan_placed_filter(WcScanState *state);

/* May the Scan return rows that are not wanted (except rows that the filter left undecided)? */
extern bool wc_scan_gives_others(const WcScanState *state);

/* Describes the Scan; false: there is nothing to read. */
extern bool wc_scan_describe(WcScanState *state, ForeignScanState *node, WcScan *scan);

#endif
