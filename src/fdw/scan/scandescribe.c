/*
 * fdw/scan/scandescribe.c: describes the Scan of a foreign scan: evaluates the conditions' values, makes ranges and
 * filter of them, and prepares the reader of the wanted columns.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"

#include "fdw/plan/mapkeys.h"
#include "fdw/plan/warn.h"
#include "fdw/relation/keycontent.h"
#include "fdw/scan/scan.h"
#include "fdw/scan/scanstate.h"

static void
prepare_values(WcScanState *state, ForeignScanState *node, List *exprs)
{
	int			i = 0;
	ListCell   *lc;

	state->nvalues = list_length(exprs);
	if (state->nvalues == 0)
		return;
	state->exprs = palloc0(state->nvalues * (sizeof(ExprState *) + sizeof(Datum) + sizeof(bool)));
	state->values = (Datum *) (state->exprs + state->nvalues);
	state->nulls = (bool *) (state->values + state->nvalues);
	foreach(lc, exprs)
	{
		Expr	   *expr = lfirst(lc);

		if (IsA(expr, Const))
		{
			state->values[i] = ((Const *) expr)->constvalue;
			state->nulls[i] = ((Const *) expr)->constisnull;
		}
		else
			state->exprs[i] = ExecInitExpr(expr, &node->ss.ps);
		i++;
	}
}

static void
prepare_filter(WcScanState *state, ForeignScanState *node, Index relid)
{
	List	   *deciding = NIL;
	Bitmapset  *attrs = NULL;
	int			x = -1;

	state->filter.exact = true;
	if (state->plan.filters == NIL)
		return;
	state->plan.filters = wc_grouped_spell_out(castNode(ForeignScan, node->ss.ps.plan), state->plan.filters);
	while ((x = bms_next_member(state->plan.deciding, x)) >= 0)
		deciding = lappend(deciding, list_nth(state->plan.filters, x));
	state->maker = wc_filter_maker_create(state->resources.wrel, relid, state->plan.filters, deciding, state->lenient,
										  &node->ss.ps);
	pull_varattnos((Node *) state->plan.filters, relid, &attrs);
	x = -1;
	while ((x = bms_next_member(attrs, x)) >= 0)
		state->filter_attrs = bms_add_member(state->filter_attrs, x + FirstLowInvalidHeapAttributeNumber - 1);
}

static bool
add_params(Node *node, Bitmapset **params)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*params = bms_add_member(*params, ((Param *) node)->paramid);
	return expression_tree_walker(node, add_params, params);
}

/* The key's parts, for the engine. */
static WcSlice
encode_keys(const WcRelation *wrel, WcBuf *scratch)
{
	uint8	   *copy;

	wc_buf_reset(scratch, WC_FILTER_BYTES_MAX);
	wc_keycontent_encode_parts(wrel, NULL, scratch);
	copy = palloc(scratch->len);
	memcpy(copy, scratch->data, scratch->len);
	return wc_slice(copy, scratch->len);
}

void
wc_scan_prepare_conditions(WcScanState *state, ForeignScanState *node)
{
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);

	/* behind these are the values of filters, limits and direct modifications */
	prepare_values(state, node, list_copy_head(plan->fdw_exprs, state->plan.nvalues));
	prepare_filter(state, node, wc_scan_varno(plan));
	if (!state->plan.grouped)
		state->placed = wc_scan_placed_members(plan, state->resources.wrel);
	if (state->plan.distinct_parts > 0)
		state->distinct_keys = encode_keys(state->resources.wrel, &state->resources.scratch);
	state->nkeyvalues = list_length(wc_key_conds_exprs(state->plan.conds));
	if (plan->scan.plan.allParam == NULL)
		return;
	(void) add_params((Node *) state->plan.filters, &state->filter_params);
	(void) add_params((Node *) plan->fdw_exprs, &state->params);
	(void) add_params((Node *) plan->fdw_recheck_quals, &state->params);
	/* rows that the gate hides are not kept for rescans */
	(void) add_params((Node *) list_copy_head(plan->scan.plan.qual, state->plan.nbarriers), &state->params);
}

List *
wc_scan_placed_members(const ForeignScan *plan, WcRelation *wrel)
{
	List	   *placed = NIL;

	for (int place = wrel->natts; place < list_length(plan->fdw_scan_tlist); place++)
	{
		WcPlacedMember *p = palloc0(sizeof(WcPlacedMember));
		const TargetEntry *entry = list_nth_node(TargetEntry, plan->fdw_scan_tlist, place);

		p->place = place;
		if (!wc_member_match_text(wrel, plan->scan.scanrelid, (Node *) entry->expr, &p->member))
			elog(ERROR, "the tuple of a scan of foreign table \"%s\" has an expression that is no member of a map", wrel->relname);
		placed = lappend(placed, p);
	}
	return placed;
}

static void
make_filter(WcScanState *state, ExprContext *econtext)
{
	if (state->maker == NULL || state->filter_known)
		return;
	wc_arena_reset(&state->resources.filter_arena);
	wc_filter_make(state->maker, econtext, &state->resources.filter_arena, &state->resources.scratch, &state->filter);
	state->filter_known = true;
}

static void
compute_bounds(WcScanState *state, ForeignScanState *node)
{
	ExprContext *econtext = node->ss.ps.ps_ExprContext;

	for (int i = 0; i < state->nvalues; i++)
	{
		if (state->exprs[i] != NULL)
			state->values[i] = ExecEvalExpr(state->exprs[i], econtext, &state->nulls[i]);
	}
	wc_arena_reset(&state->resources.arena);
	wc_bounds_compute(state->resources.wrel, state->plan.conds, state->values, state->nulls,
					  &state->resources.arena, &state->resources.scratch, &state->bounds);
	if (state->plan.merged)
		wc_bounds_by_bucket(state->resources.wrel, &state->resources.arena, &state->bounds);
	wc_cellfilter_compute(state->resources.wrel, state->plan.cell_conds, state->values + state->nkeyvalues,
						  state->nulls + state->nkeyvalues, &state->resources.arena, &state->cells);
	make_filter(state, econtext);
	state->bounds_known = true;
	state->recheck = !(state->bounds.exact && state->cells.exact && state->filter.exact) && node->fdw_recheck_quals != NULL;
}

void
wc_scan_find_bounds(WcScanState *state, ForeignScanState *node)
{
	if (!state->started && (state->shared == NULL || wc_shared_scan_first(state->shared)))
		wc_warning_raise(state->plan.warning);
	state->started = true;
	if (!state->bounds_known)
		compute_bounds(state, node);
}

void
wc_scan_prepare_reading(WcScanState *state, EState *estate, bool recheck)
{
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

	if (state->reader == NULL || (recheck && !state->reader_rechecks))
	{
		Bitmapset  *attrs = state->plan.attrs;

		if (recheck)
			attrs = bms_union(attrs, state->plan.recheck_attrs);
		state->reader = wc_reader_create(state->resources.wrel, attrs, state->filter_attrs,
										 wc_map_keys_members(state->plan.map_keys,
															 state->values + state->plan.map_values,
															 state->nulls + state->plan.map_values),
										 state->placed,
										 state->maker != NULL ? wc_filter_members(state->maker) : NIL);
		wc_reader_leave_untouched(state->reader, state->plan.untouched);
		if (state->lenient)
			wc_reader_be_lenient(state->reader);
		state->reader_rechecks = recheck;
	}
	wc_reader_set_gate(state->reader, wc_scangate_for(state->gate, recheck));
	MemoryContextSwitchTo(old);
}

WcFilter *
wc_scan_placed_filter(WcScanState *state)
{
	WcFilter   *filter;

	if (state->filter.filter == NULL)
		return NULL;
	filter = palloc(sizeof(WcFilter));
	*filter = *state->filter.filter;
	filter->columns = palloc(sizeof(WcFilterColumn) * filter->ncolumns);
	memcpy(filter->columns, state->filter.filter->columns, sizeof(WcFilterColumn) * filter->ncolumns);
	wc_reader_place_filter(state->reader, filter, wc_filter_members(state->maker));
	return filter;
}

/* May the Scan return rows of other record types? */
static bool
may_mix_types(const WcScanState *state)
{
	return state->plan.mixed_types || !state->bounds.exact;
}

bool
wc_scan_gives_others(const WcScanState *state)
{
	return state->recheck || (state->resources.wrel->constant_parts > 0 && may_mix_types(state));
}

bool
wc_scan_describe(WcScanState *state, ForeignScanState *node, WcScan *scan)
{
	if (state->plan.never)
		return false;
	wc_scan_find_bounds(state, node);
	if (state->bounds.empty || state->cells.empty || state->filter.empty)
		return false;
	wc_scan_prepare_reading(state, node->ss.ps.state, state->recheck);
	wc_reader_restart(state->reader);
	wc_reader_check_types(state->reader, may_mix_types(state));
	if (state->resources.wrel->layout == WC_LAYOUT_CELL)
		wc_reader_select(state->reader, state->cells.columns, state->cells.ncolumns);
	wc_reader_describe(state->reader, scan);
	scan->filter = wc_scan_placed_filter(state);
	/* with `lenient`, this session must decode the cells */
	state->aggregated = state->grouped != NULL && !wc_scan_gives_others(state) && !state->lenient;
	if (state->aggregated)
		scan->aggregation = wc_grouped_describe(state->grouped, state->reader);
	/* a row that is rejected here must not hide others */
	if (state->plan.distinct_parts > 0 && !wc_scan_gives_others(state))
	{
		scan->distinct_parts = (uint32) state->plan.distinct_parts;
		scan->distinct_keys = state->distinct_keys;
	}
	scan->filter_ts_min = state->cells.ts_min;
	scan->filter_ts_max = state->cells.ts_max;
	scan->nranges = state->bounds.nranges;
	scan->ranges = state->bounds.ranges;
	scan->reversed = state->plan.reversed;
	scan->merged = state->plan.merged;
	scan->measured = node->ss.ps.instrument != NULL;
	return true;
}

bool
wc_scan_state_describe(ForeignScanState *node, WcScan *scan, bool *recheck)
{
	WcScanState *state = node->fdw_state;

	if (!wc_scan_describe(state, node, scan))
		return false;
	*recheck = wc_scan_gives_others(state);
	return true;
}
