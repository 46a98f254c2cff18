/*
 * fdw/scan/scan.c: runs a scan.
 *
 * The snapshot is the statement's, taken when the executor starts.  The scan sends no request before PostgreSQL asks
 * for the first row: then the values of the conditions are evaluated, ranges computed, and the Scan opened.  A
 * rescan keeps the snapshot, and also the ranges unless one of their parameters has changed.  With the same ranges
 * the same rows arrive: from the second time on they are kept while there is room, and returned from the kept rows.
 * If not all rows were read (a LIMIT, an EXISTS), the Scan stays open behind the kept rows.
 *
 * On the inner side of a nested loop with a lookahead node, one Scan fetches the rows of the current key and of the
 * next keys (prefetch.h); a key whose rows are not fetched gets a separate Scan.
 *
 * Normally the ranges alone decide the conditions on the key.  If they do not (a bound was widened, too many ranges),
 * the scan evaluates the clauses that the executor does not evaluate: PostgreSQL has compiled them for its rechecks.
 * Then the scan also skips and counts rows itself, for an OFFSET and a LIMIT that the scan took over (limit.h).
 *
 * In a parallel query the workers and the leader may share the scan: then each process reads one part of the ranges
 * after the other, each part with a separate Scan (parallel.h).
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/dsm.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"

#include "client/settings.h"
#include "fdw/fdw.h"
#include "fdw/scan/scan.h"
#include "fdw/scan/scanstate.h"

static void
release_resources(void *arg)
{
	WcScanResources *resources = arg;

	wc_arena_free(&resources->arena);
	wc_arena_free(&resources->filter_arena);
	wc_buf_free(&resources->scratch);
}

/* May other reads at the same snapshot happen before the scan is opened?  A query with a name (a cursor) may be read
 * later. */
static bool
opens_late(const EState *estate)
{
	return list_length(estate->es_plannedstmt->rtable) > 1 || estate->es_plannedstmt->subplans != NIL ||
		(ActivePortal != NULL && ActivePortal->status == PORTAL_DEFINED && ActivePortal->name[0] != '\0');
}

/*
 * Does the client's statement read only what this scan reads?  Then it may read in the newest state, under READ COMMITTED: the scan
 * is opened once, since such a statement rescans nothing.  (A query in a function that is not volatile reads by the snapshot of the
 * statement that calls the function.)
 */
static bool
reads_alone(const WcScanState *state, const ForeignScanState *node)
{
	const EState *estate = node->ss.ps.state;

	return state->plan.alone && !IsolationUsesXactSnapshot() && state->mark == NULL && state->lock == NULL &&
		state->lookahead == NULL && ActivePortal != NULL && list_length(ActivePortal->stmts) == 1 &&
		linitial(ActivePortal->stmts) == estate->es_plannedstmt && !opens_late(estate);
}

static WcClientSnapshot *
snapshot_of(WcScanState *state, ForeignScanState *node)
{
	if (state->snapshot == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);

		state->snapshot = wc_client_snapshot(node->ss.ps.state->es_snapshot);
		MemoryContextSwitchTo(old);
	}
	return state->snapshot;
}

/* Are all rows locked, whatever their content, so that the row of a Get may be locked before it is read? */
static bool
may_take(const WcScanState *state, WcRowLockMode *mode)
{
	*mode = (WcRowLockMode) state->plan.lock_mode;
	if (state->lock != NULL)
		return wc_scan_lock_may_take(state->lock);
	return state->mark != NULL && wc_scan_mark_may_take(state->mark, mode);
}

void
widecolBeginForeignScan(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	WcScanState *state;
	WcRowLockMode mode;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	state = palloc0(sizeof(WcScanState));
	state->resources.callback.func = release_resources;
	state->resources.callback.arg = &state->resources;
	wc_buf_init(&state->resources.scratch, 0);
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &state->resources.callback);
	state->resources.wrel = wc_relation_hold(node->ss.ss_currentRelation);

	wc_scan_plan_decode(plan->fdw_private, plan->fdw_exprs, &state->plan);

	/* changed rows need all cells: a row that moves to another key would lose a cell that does not decode */
	state->lenient = wc_on_undecodable == WC_UNDECODABLE_NULL &&
		!list_member_int(node->ss.ps.state->es_plannedstmt->resultRelations, (int) plan->scan.scanrelid);
	wc_scan_prepare_conditions(state, node);
	state->grouped = wc_grouped_create(state->resources.wrel, &state->plan, node, &state->resources.scratch);
	state->keeps_none = state->grouped != NULL;

	state->limit = wc_limit_prepare(&state->plan, &node->ss.ps);
	state->gate = wc_scangate_create(node, &state->plan);
	node->fdw_state = state;
	if (plan->operation == CMD_SELECT)
	{
		state->mark = wc_scan_mark_create(node, state->resources.wrel);
		wc_scan_state_lock_rows(node);
		if (state->mark != NULL || state->lock != NULL)
			wc_client_rouse(state->resources.wrel->desc);
	}
	if (state->plan.lookahead >= 0 && !wc_scangate_runs_functions(state->gate))
	{
		state->lookahead = wc_lookahead_find(node->ss.ps.state, state->plan.lookahead);
		state->prefetch = wc_prefetch_create(state->resources.wrel, RelationGetDescr(node->ss.ss_currentRelation));
		state->partkeys = wc_partkeys_create(node, state->resources.wrel, state->plan.conds);
	}
	state->alone = reads_alone(state, node);
	if (opens_late(node->ss.ps.state))
		wc_client_snapshot_take(snapshot_of(state, node));
	else if (IsolationUsesXactSnapshot() || (plan->operation == CMD_SELECT && !state->alone && !may_take(state, &mode) && !wc_client_holds_rows()))
		(void) snapshot_of(state, node);
	/* else: a row that was locked before or during the read needs no snapshot, nor perhaps rows that are read alone */
}

void
wc_scan_state_lock_rows(ForeignScanState *node)
{
	WcScanState *state = node->fdw_state;

	if (state->lock == NULL && state->plan.lock_mode != 0)
		state->lock = wc_scan_lock_create(node, state->resources.wrel, (WcRowLockMode) state->plan.lock_mode,
										  wc_scangate_whole_qual(state->gate, node));
}

WcClientSnapshot *
wc_scan_state_snapshot(ForeignScanState *node)
{
	return snapshot_of(node->fdw_state, node);
}

bool
wc_scan_state_needs_no_snapshot(ForeignScanState *node, const WcScan *scan)
{
	WcScanState *state = node->fdw_state;

	return state->snapshot == NULL && state->bounds.point && scan->nranges == 1 && wc_range_is_point(&scan->ranges[0]);
}

/* Opens the Scan. */
static void
open_scan(WcScanState *state, ForeignScanState *node, WcScan *scan, uint64 rows_hint)
{
	EState	   *estate = node->ss.ps.state;
	WcClientSnapshot *snapshot = NULL;

	if (wc_scan_state_needs_no_snapshot(node, scan))
		snapshot = wc_client_snapshot_of_held(state->resources.wrel->desc, scan->ranges[0].start);
	if (snapshot == NULL)
		snapshot = snapshot_of(state, node);

	scan->measured = node->ss.ps.instrument != NULL;
	scan->batch_rows = (uint32) state->resources.wrel->fetch_size;
	state->scan = wc_client_scan_open(scan, snapshot, estate->es_snapshot->curcid, rows_hint,
									  estate->es_query_cxt);
}

/* Locks and reads the row of a Get with one request, in the newest state.  False: the row must be read at the snapshot,
 * and then locked. */
static bool
take_row(WcScanState *state, ForeignScanState *node, WcScan *scan)
{
	EState	   *estate = node->ss.ps.state;
	WcRowLockMode mode;

	if (!may_take(state, &mode) || state->limit != NULL || wc_scan_gives_others(state) ||
		scan->filter != NULL || !wc_scan_state_needs_no_snapshot(node, scan))
		return false;
	scan->batch_rows = (uint32) state->resources.wrel->fetch_size;
	state->scan = wc_client_scan_take(state->resources.wrel->desc, scan, mode, estate->es_snapshot->curcid,
									  estate->es_query_cxt);
	if (state->scan == NULL)
		state->done = true;
	else if (state->lock != NULL)
		wc_scan_lock_taken(state->lock);
	else
		wc_scan_mark_taken(state->mark, scan->ranges[0].start);
	return true;
}

/* Reads without waiting for commits that have written none of the rows.  False: the rows must be read at the snapshot. */
static bool
read_quiet(WcScanState *state, ForeignScanState *node, WcScan *scan, uint64 rows_hint)
{
	EState	   *estate = node->ss.ps.state;

	if (!state->alone || state->shared != NULL || state->snapshot != NULL)
		return false;
	scan->batch_rows = (uint32) state->resources.wrel->fetch_size;
	state->scan = wc_client_scan_quiet(scan, estate->es_snapshot->curcid, rows_hint, estate->es_query_cxt);
	return state->scan != NULL;
}

static void
close_scan(WcScanState *state, ForeignScanState *node)
{
	if (state->scan == NULL)
		return;
	if (node->ss.ps.instrument != NULL)
	{
		WcClientScanStats stats;

		wc_client_scan_stats(state->scan, &stats);
		wc_client_scan_stats_add(&state->stats, &stats);
	}
	wc_client_scan_close(state->scan);
	state->scan = NULL;
	if (state->lock != NULL)
		wc_scan_lock_restart(state->lock);
}

/* Does a row that the engine could not decide satisfy the filter? */
static bool
filter_holds(void *arg, const Datum *values, const bool *isnull)
{
	ForeignScanState *node = arg;
	WcScanState *state = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	int			natts = slot->tts_tupleDescriptor->natts;

	ExecClearTuple(slot);
	memcpy(slot->tts_values, values, sizeof(Datum) * natts);
	memcpy(slot->tts_isnull, isnull, sizeof(bool) * natts);
	ExecStoreVirtualTuple(slot);
	node->ss.ps.ps_ExprContext->ecxt_scantuple = slot;
	return wc_filter_holds(state->maker, node->ss.ps.ps_ExprContext);
}

/* Fetches the rows of this key and of the next keys; false: a Scan for this key alone is as good. */
static bool
fetch(WcScanState *state, ForeignScanState *node)
{
	Datum	   *values = palloc((sizeof(Datum) + sizeof(bool)) * (state->nkeyvalues + 1));
	bool	   *nulls = (bool *) (values + state->nkeyvalues + 1);
	bool		inexact;
	bool		kept;
	WcScan		scan;

	state->fetched_to = wc_lookahead_position(state->lookahead);
	wc_prefetch_reset(state->prefetch);
	for (int ahead = 0; wc_lookahead_values(state->lookahead, ahead, values, nulls); ahead++)
	{
		if ((state->partkeys == NULL || wc_partkeys_allow(state->partkeys, values, nulls)) &&
			!wc_prefetch_add(state->prefetch, state->plan.conds, values, nulls))
			break;
		state->fetched_to++;
	}
	pfree(values);
	if (wc_prefetch_nkeys(state->prefetch) < 2)
		return false;

	inexact = wc_prefetch_inexact(state->prefetch);
	wc_scan_prepare_reading(state, node->ss.ps.state, (inexact || !state->filter.exact) && node->fdw_recheck_quals != NULL);
	wc_reader_restart(state->reader);
	wc_reader_check_types(state->reader, state->plan.mixed_types || inexact);
	wc_reader_describe(state->reader, &scan);
	scan.filter = wc_scan_placed_filter(state);
	open_scan(state, node, &scan, wc_prefetch_describe(state->prefetch, &scan));
	kept = wc_prefetch_read(state->prefetch, state->reader, state->scan, state->reader_rechecks, filter_holds, node);
	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	close_scan(state, node);
	if (!kept)
		wc_lookahead_shrink(state->lookahead);
	return kept;
}

/* Are the rows prefetched, or can they be fetched with those of other keys? */
static bool
find_prefetched(WcScanState *state, ForeignScanState *node)
{
	if (state->plan.never)
		return false;
	wc_scan_find_bounds(state, node);
	if (state->bounds.empty || state->filter.empty)
		return false;
	if (wc_prefetch_seek(state->prefetch, &state->bounds, state->recheck))
		return true;
	return wc_lookahead_position(state->lookahead) >= state->fetched_to &&
		fetch(state, node) && wc_prefetch_seek(state->prefetch, &state->bounds, state->recheck);
}

/* Makes the engine skip and count the rows, if it can; returns the probable number of rows that are read. */
static uint64
set_limits(WcScanState *state, WcScan *scan)
{
	/* a row of the foreign table is a cell */
	scan->count_cells = state->resources.wrel->layout == WC_LAYOUT_CELL;
	if (state->limit == NULL)
	{
		scan->row_limit = state->recheck ? 0 : (uint64) state->plan.row_limit;
		return (uint64) state->plan.rows_hint;
	}
	if (wc_scan_gives_others(state))
		return (uint64) state->plan.rows_hint;
	scan->row_offset = state->to_skip;
	state->to_skip = 0;
	if (state->to_give == WC_NO_LIMIT)
		return (uint64) state->plan.rows_hint;
	scan->row_limit = state->to_give;
	return state->to_give;
}

/* Opens the Scan, or finds that there is nothing to read. */
static void
start(WcScanState *state, ForeignScanState *node)
{
	WcScan		scan;
	uint64		rows_hint;

	if (state->limit != NULL)
		wc_limit_evaluate(state->limit, node->ss.ps.ps_ExprContext, &state->to_skip, &state->to_give);
	if (state->lookahead != NULL && find_prefetched(state, node))
	{
		state->prefetched = true;
		return;
	}
	if ((state->limit != NULL && state->to_give == 0) || !wc_scan_describe(state, node, &scan))
	{
		state->done = true;
		return;
	}
	if (state->shared != NULL &&
		!wc_shared_scan_take(state->shared, state->resources.wrel, &state->bounds, state->plan.reversed, &scan))
	{
		state->done = true;
		return;
	}
	rows_hint = set_limits(state, &scan);
	if (state->bounds.point)
		rows_hint = 1;
	if (!take_row(state, node, &scan) && !read_quiet(state, node, &scan, rows_hint))
		open_scan(state, node, &scan, rows_hint);
}

/* Called at the end of the open Scan: opens the Scan of the next part, if there is one. */
static void
start_next_part(WcScanState *state, ForeignScanState *node)
{
	if (state->shared == NULL)
	{
		state->done = true;
		return;
	}
	close_scan(state, node);
	start(state, node);
}

/* Does the row in the slot satisfy the clauses that the ranges or the engine should have decided? */
static bool
passes_recheck(WcScanState *state, ForeignScanState *node, TupleTableSlot *slot)
{
	ExprContext *econtext = node->ss.ps.ps_ExprContext;

	econtext->ecxt_scantuple = slot;
	if (state->recheck)
		return ExecQual(node->fdw_recheck_quals, econtext);
	return state->maker == NULL || state->prefetched || !wc_client_row_undecided(state->scan) ||
		wc_filter_holds(state->maker, econtext);
}

/* Counts a wanted row; true: OFFSET and LIMIT leave the row in the result. */
static bool
is_given(WcScanState *state)
{
	if (state->to_skip > 0)
	{
		state->to_skip--;
		return false;
	}
	if (state->to_give != WC_NO_LIMIT)
		state->done = --state->to_give == 0;
	return true;
}

static void
forget_rows(WcScanState *state)
{
	if (state->kept != NULL)
		wc_keptrows_free(state->kept);
	state->kept = NULL;
	state->next = 0;
}

static void
keep_row(WcScanState *state, TupleTableSlot *slot)
{
	if (wc_keptrows_add(state->kept, slot->tts_values, slot->tts_isnull))
		state->next++;
	else
	{
		forget_rows(state);
		state->keeps_none = true;
	}
}

/* Stores the next row in the slot, which stays empty if the row is hidden; false: no more rows. */
static bool
next_row(WcScanState *state, TupleTableSlot *slot)
{
	if (state->prefetched)
	{
		MinimalTuple tuple = wc_prefetch_next(state->prefetch, &state->bounds);

		if (tuple != NULL)
			ExecForceStoreMinimalTuple(tuple, slot, false);
		return tuple != NULL;
	}
	if (state->grouped != NULL)
	{
		if (!wc_grouped_next(state->grouped, state->reader, state->scan, state->aggregated,
							 slot->tts_values, slot->tts_isnull))
			return false;
	}
	else if (!wc_reader_next_in_place(state->reader, state->scan, slot->tts_values, slot->tts_isnull))
		return false;
	/* rows that the engine has not skipped because this row is undecided */
	if (state->limit != NULL)
		state->to_skip += wc_client_rows_owed(state->scan);
	if (wc_reader_passed(state->reader))
		ExecStoreVirtualTuple(slot);
	return true;
}

/* Locks the row, or sets its ctid for the LockRows node; false: the row has changed, and must not be
 * returned. */
static bool
lock_row(WcScanState *state, ForeignScanState *node, TupleTableSlot *slot)
{
	if (state->mark != NULL)
		wc_scan_mark_row(state->mark, state->reader, state->snapshot, slot);
	return state->lock == NULL ||
		wc_scan_lock_row(state->lock, node, !wc_scan_gives_others(state), state->reader, state->scan, state->snapshot, slot);
}

/* Called in the per-tuple memory context. */
TupleTableSlot *
widecolIterateForeignScan(ForeignScanState *node)
{
	WcScanState *state = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	if (state->kept != NULL && wc_keptrows_get(state->kept, state->next, slot->tts_values, slot->tts_isnull))
	{
		state->next++;
		return ExecStoreVirtualTuple(slot);
	}
	if (state->scan == NULL && !state->prefetched && !state->done)
		start(state, node);
	while (!state->done)
	{
		if (!next_row(state, slot))
		{
			start_next_part(state, node);
			CHECK_FOR_INTERRUPTS();
			continue;
		}
		if (!TTS_EMPTY(slot) && passes_recheck(state, node, slot) && lock_row(state, node, slot) &&
			(state->limit == NULL || is_given(state)))
		{
			if (state->kept != NULL)
				keep_row(state, slot);
			/* a Get has no second row (in layout cell, each cell is a row) */
			if (state->bounds.point && state->resources.wrel->layout == WC_LAYOUT_ROW)
				state->done = true;
			break;
		}
		ExecClearTuple(slot);
		ResetExprContext(node->ss.ps.ps_ExprContext);
		CHECK_FOR_INTERRUPTS();
	}
	return slot;
}

/* Begins to keep rows for rescans, with their columns and members. */
static WcKeptRows *
create_kept(const WcScanState *state, ForeignScanState *node)
{
	MemoryContext context = node->ss.ps.state->es_query_cxt;
	Bitmapset  *attrs = bms_copy(state->plan.attrs);
	ListCell   *lc;

	foreach(lc, state->placed)
		attrs = bms_add_member(attrs, ((WcPlacedMember *) lfirst(lc))->place);
	return wc_keptrows_create(context, node->ss.ss_ScanTupleSlot->tts_tupleDescriptor, attrs);
}

/* Memory as in widecolIterateForeignScan. */
static void
start_ahead(WcScanState *state, ForeignScanState *node)
{
	MemoryContext old = MemoryContextSwitchTo(node->ss.ps.ps_ExprContext->ecxt_per_tuple_memory);

	start(state, node);
	MemoryContextSwitchTo(old);
}

bool
wc_scan_state_open_ahead(ForeignScanState *node)
{
	WcScanState *state = node->fdw_state;
	bool		first = !state->asked;

	state->asked = true;
	if (state->scan == NULL && !state->prefetched && !state->done && state->lookahead == NULL &&
		wc_client_scans_ahead())
		start_ahead(state, node);
	return first;
}

bool
wc_scan_state_ready(ForeignScanState *node, WcClientWait *wait)
{
	WcScanState *state = node->fdw_state;

	return state->done || state->scan == NULL || wc_client_scan_ready(state->scan, wait);
}

void
widecolReScanForeignScan(ForeignScanState *node)
{
	WcScanState *state = node->fdw_state;

	state->asked = false;
	if (bms_overlap(node->ss.ps.chgParam, state->params))
	{
		state->bounds_known = false;
		forget_rows(state);
	}
	else if (state->kept != NULL)
	{
		state->next = 0;
		return;
	}
	else if (state->started && !state->keeps_none && state->lookahead == NULL && state->lock == NULL &&
			 state->mark == NULL)
		state->kept = create_kept(state, node);
	if (bms_overlap(node->ss.ps.chgParam, state->filter_params))
	{
		state->filter_known = false;
		if (state->prefetch != NULL)
			wc_prefetch_reset(state->prefetch);
	}
	close_scan(state, node);
	state->prefetched = false;
	state->done = false;
}

void
widecolEndForeignScan(ForeignScanState *node)
{
	WcScanState *state = node->fdw_state;

	if (state == NULL)
		return;
	if (state->scan != NULL)
		wc_client_scan_close(state->scan);
	state->scan = NULL;
	if (state->mark != NULL)
		wc_scan_mark_close(state->mark);
	state->mark = NULL;
	release_resources(&state->resources);
}

/* --- shared scans (parallel.h) ------------------------------------------------- */

Size
widecolEstimateDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt)
{
	return wc_shared_scan_size();
}

static void
share(ForeignScanState *node, WcSharedScan *shared)
{
	WcScanState *state = node->fdw_state;

	state->shared = shared;
	state->keeps_none = true;	/* other processes return the other rows */
}

/* Called in the leader when the shared memory is released. */
static void
take_back(dsm_segment *seg, Datum arg)
{
	ForeignScanState *node = (ForeignScanState *) DatumGetPointer(arg);
	WcScanState *state = node->fdw_state;
	WcSharedScan *shared = state->shared;
	const WcClientScanStats *stats = shared != NULL ? wc_shared_scan_stats(shared) : NULL;

	state->shared = NULL;
	if (stats != NULL)
		wc_scan_state_count(node, stats);
}

void
widecolInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	/* without shared memory there are no workers, and the leader reads all rows */
	if (pcxt->seg == NULL)
		return;
	wc_shared_scan_init(coordinate, pcxt->nworkers + 1);
	share(node, coordinate);
	on_dsm_detach(pcxt->seg, take_back, PointerGetDatum(node));
}

void
widecolReInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	if (pcxt->seg != NULL)
		wc_shared_scan_restart(coordinate);
}

void
widecolInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc, void *coordinate)
{
	share(node, coordinate);
}

/* A worker has read its last row: closes the Scan, and adds the worker's counters. */
void
widecolShutdownForeignScan(ForeignScanState *node)
{
	WcScanState *state = node->fdw_state;

	if (!IsParallelWorker() || state == NULL || state->shared == NULL)
		return;
	close_scan(state, node);
	state->done = true;
	wc_shared_scan_count(state->shared, &state->stats);
	memset(&state->stats, 0, sizeof(state->stats));
}

/* --- counters ------------------------------------------------------------------- */

void
wc_scan_state_count(ForeignScanState *node, const WcClientScanStats *stats)
{
	WcScanState *state = node->fdw_state;

	state->started = true;
	wc_client_scan_stats_add(&state->stats, stats);
}

bool
wc_scan_state_stats(ForeignScanState *node, WcClientScanStats *stats)
{
	WcScanState *state = node->fdw_state;

	if (state == NULL || !state->started)
		return false;
	*stats = state->stats;
	if (state->scan != NULL)
	{
		WcClientScanStats current;

		wc_client_scan_stats(state->scan, &current);
		wc_client_scan_stats_add(stats, &current);
	}
	return true;
}
