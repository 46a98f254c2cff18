/*
 * fdw/scan/explain.c: EXPLAIN of a scan.
 */
#include "postgres.h"

#include "commands/explain.h"
#include "foreign/foreign.h"
#include "nodes/makefuncs.h"
#include "nodes/plannodes.h"
#include "utils/guc.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "fdw/condition/filter.h"
#include "fdw/fdw.h"
#include "fdw/plan/mapkeys.h"
#include "fdw/plan/private.h"
#include "fdw/scan/explainrange.h"
#include "fdw/scan/grouped.h"
#include "fdw/row/reader.h"
#include "fdw/scan/scan.h"
#include "fdw/scan/scanstate.h"

/* Adds the plan nodes above target to *ancestors, nearest first; false: not below plan. */
static bool
find_ancestors(Plan *plan, Plan *target, List **ancestors)
{
	List	   *children = NIL;
	ListCell   *lc;

	if (plan == NULL)
		return false;
	if (plan == target)
		return true;
	if (IsA(plan, Append))
		children = ((Append *) plan)->appendplans;
	else if (IsA(plan, MergeAppend))
		children = ((MergeAppend *) plan)->mergeplans;
	else if (IsA(plan, SubqueryScan))
		children = list_make1(((SubqueryScan *) plan)->subplan);
	else if (IsA(plan, CustomScan))
		children = ((CustomScan *) plan)->custom_plans;
	children = lappend(list_copy(children), plan->lefttree);
	children = lappend(children, plan->righttree);
	foreach(lc, children)
	{
		if (find_ancestors(lfirst(lc), target, ancestors))
		{
			*ancestors = lappend(*ancestors, plan);
			return true;
		}
	}
	return false;
}

static void
explain_range(const WcExplained *shown, ExplainState *es)
{
	ListCell   *lc;

	if (shown->plan->conds == NIL)
		return;
	if (!shown->simple)
	{
		List	   *conds = NIL;

		foreach(lc, shown->plan->conds)
			conds = lappend(conds, wc_explained_cond(shown, lfirst(lc)));
		ExplainPropertyList("Key Conditions", conds, es);
		if (shown->ranges != NIL)
			ExplainPropertyList("Ranges", shown->ranges, es);
	}
	else if (shown->pinned && shown->raw)
		ExplainPropertyText("Row", psprintf("(%s)", (char *) linitial(shown->start.values)), es);
	else if (shown->pinned)
	{
		StringInfoData s;

		initStringInfo(&s);
		foreach(lc, shown->prefix)
			appendStringInfo(&s, "%s%s", s.len > 0 ? ", " : "(", (char *) lfirst(lc));
		appendStringInfoChar(&s, ')');
		ExplainPropertyText("Row", s.data, es);
	}
	else
	{
		ExplainPropertyText("Start Row", wc_explained_end(shown, &shown->start, "greatest"), es);
		ExplainPropertyText("Stop Row", wc_explained_end(shown, &shown->stop, "least"), es);
	}
}

static void
explain_buckets(const WcExplained *shown, ExplainState *es)
{
	uint32		all = shown->wrel->key_layout.salt.buckets;
	const char *merged = shown->plan->merged ? ", merged" : "";

	switch (shown->spread)
	{
		case WC_UNSALTED:
			return;
		case WC_ONE_BUCKET:
			ExplainPropertyText("Buckets", psprintf("1 of %u%s", all, merged), es);
			return;
		case WC_SOME_BUCKETS:
			ExplainPropertyText("Buckets", psprintf("some of %u%s", all, merged), es);
			return;
		case WC_ALL_BUCKETS:
			ExplainPropertyText("Buckets", psprintf("%u of %u%s", all, all, merged), es);
			return;
	}
}

static void
explain_cells(const WcExplained *shown, ExplainState *es)
{
	List	   *conds = NIL;
	ListCell   *lc;

	foreach(lc, shown->plan->cell_conds)
		conds = lappend(conds, wc_explained_cond(shown, lfirst(lc)));
	if (conds != NIL)
		ExplainPropertyList("Cell Conditions", conds, es);
}

/* The conditions that HBase tests before it sends a row. */
static void
explain_hbase_filter(const WcExplained *shown, const ForeignScan *fscan, ExplainState *es)
{
	List	   *sent = NIL;
	ListCell   *lc;

	foreach(lc, shown->plan->filters)
	{
		if (wc_filter_is_of_bytes(shown->wrel, wc_scan_varno(fscan), lfirst(lc)))
			sent = lappend(sent, lfirst(lc));
	}
	if (sent != NIL)
		ExplainPropertyText("HBase Filter", wc_explained_deparse(shown, (Node *) make_ands_explicit(sent)), es);
}

static void
explain_filter(const WcExplained *shown, ForeignScanState *node, ExplainState *es)
{
	bool		embedded = wc_client_store_is_embedded(shown->wrel->store);
	List	   *filters = wc_grouped_spell_out(castNode(ForeignScan, node->ss.ps.plan), shown->plan->filters);
	WcClientScanStats stats;

	if (filters == NIL)
		return;
	if (!embedded)
		explain_hbase_filter(shown, castNode(ForeignScan, node->ss.ps.plan), es);
	ExplainPropertyText(embedded ? "Engine Filter" : "Session Filter",
						wc_explained_deparse(shown, (Node *) make_ands_explicit(filters)), es);
	if (es->analyze && wc_scan_state_stats(node, &stats) && node->ss.ps.instrument->nloops > 0)
		ExplainPropertyFloat(embedded ? "Rows Removed by Engine Filter" : "Rows Removed by Session Filter", NULL,
							 (double) stats.rows_filtered / node->ss.ps.instrument->nloops, 0, es);
}

/* The aggregate as in the query, not as a partial aggregate. */
static char *
aggregate_text(const WcExplained *shown, const Aggref *partial)
{
	Aggref	   *aggref = copyObject(unconstify(Aggref *, partial));

	aggref->aggsplit = AGGSPLIT_SIMPLE;
	return wc_explained_deparse(shown, (Node *) aggref);
}

static void
explain_groups(const WcExplained *shown, const ForeignScan *fscan, ExplainState *es)
{
	List	   *texts = NIL;
	ListCell   *lc;

	foreach(lc, fscan->fdw_scan_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (IsA(entry->expr, Aggref))
			texts = lappend(texts, aggregate_text(shown, (Aggref *) entry->expr));
	}
	if (texts != NIL)
		ExplainPropertyList("Engine Aggregate", texts, es);
	texts = NIL;
	foreach(lc, shown->plan->groups)
		texts = lappend(texts, wc_explained_deparse(shown, (Node *) list_nth_node(TargetEntry, fscan->fdw_scan_tlist, lfirst_int(lc))->expr));
	if (texts != NIL)
		ExplainPropertyList("Engine Group Key", texts, es);
}

static void
explain_distinct(const WcExplained *shown, const ForeignScan *fscan, ExplainState *es)
{
	StringInfoData names;

	if (shown->plan->distinct_parts == 0)
		return;
	initStringInfo(&names);
	for (int part = 0; part < shown->plan->distinct_parts; part++)
	{
		const WcRelColumn *column = &shown->wrel->columns[shown->wrel->keys[part]];
		Var		   *var = makeVar((int) fscan->scan.scanrelid, column->attnum, column->type, column->typmod, column->collation, 0);

		appendStringInfo(&names, "%s%s", part > 0 ? ", " : "", wc_explained_deparse(shown, (Node *) var));
	}
	ExplainPropertyText("Distinct", psprintf("first row of each (%s)", names.data), es);
}

static void
explain_row_number(const WcExplained *shown, const char *label, Expr *expr, ExplainState *es)
{
	if (expr == NULL)
		return;
	if (IsA(expr, Const))
		ExplainPropertyInteger(label, NULL, DatumGetInt64(((Const *) expr)->constvalue), es);
	else
		ExplainPropertyText(label, wc_explained_deparse(shown, (Node *) expr), es);
}

static void
explain_counters(ForeignScanState *node, bool embedded, ExplainState *es)
{
	WcClientScanStats stats;

	if (!es->analyze || !es->verbose || !wc_scan_state_stats(node, &stats))
		return;
	ExplainPropertyInteger("Rows Read", NULL, stats.rows, es);
	ExplainPropertyInteger("Rows Examined", NULL, stats.rows_examined, es);
	ExplainPropertyInteger("Cells Examined", NULL, stats.cells_examined, es);
	if (!embedded)
	{
		ExplainPropertyInteger("Calls", NULL, stats.seeks, es);
		return;
	}
	ExplainPropertyInteger("Seeks", NULL, stats.seeks, es);
	ExplainPropertyInteger("Batches", NULL, stats.batches, es);
	ExplainPropertyInteger("Cache Hits", NULL, stats.cache_hits, es);
	ExplainPropertyInteger("Blocks Read", NULL, stats.blocks_read, es);
}

/* Like PostgreSQL's blocks: in format text, counts of 0 are left out. */
static void
explain_buffers(ForeignScanState *node, ExplainState *es)
{
	WcClientScanStats stats;

	if (!es->analyze || !es->buffers || !wc_scan_state_stats(node, &stats))
		return;
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyInteger("Engine Hit Blocks", NULL, stats.cache_hits, es);
		ExplainPropertyInteger("Engine Read Blocks", NULL, stats.blocks_read, es);
	}
	else if (stats.cache_hits > 0 || stats.blocks_read > 0)
	{
		StringInfoData s;

		initStringInfo(&s);
		if (stats.cache_hits > 0)
			appendStringInfo(&s, " hit=" UINT64_FORMAT, stats.cache_hits);
		if (stats.blocks_read > 0)
			appendStringInfo(&s, " read=" UINT64_FORMAT, stats.blocks_read);
		ExplainPropertyText("Engine Blocks", s.data + 1, es);
	}
}

/* Members of maps whose names are known only at run time are shown as the query's expressions. */
static List *
columns_read(const WcExplained *shown, const ForeignScan *fscan)
{
	List	   *placed = shown->plan->grouped ? NIL : wc_scan_placed_members(fscan, shown->wrel);
	List	   *names = NIL;
	List	   *known = NIL;
	int			n = 0;
	Datum		values[WC_MAP_KEYS_MAX];
	bool		nulls[WC_MAP_KEYS_MAX];
	ListCell   *lc;
	ListCell   *lk;

	foreach(lc, shown->plan->map_keys)
	{
		WcMapKeys  *map = lfirst(lc);
		WcMapKeys	constant = {.att = map->att};

		n = 0;
		if (!bms_is_member(map->att, shown->plan->attrs))
			continue;			/* only rechecks read the column */
		foreach(lk, map->keys)
		{
			Node	   *key = lfirst(lk);

			if (IsA(key, Const))
			{
				constant.keys = lappend(constant.keys, key);
				values[n] = ((Const *) key)->constvalue;
				nulls[n++] = ((Const *) key)->constisnull;
			}
			else
				names = lappend(names, psprintf("%s:(%s)", shown->wrel->columns[map->att].family_name,
												wc_explained_deparse(shown, key)));
		}
		known = list_concat(known, wc_map_keys_members(list_make1(&constant), values, nulls));
	}
	return list_concat(wc_reader_column_names(wc_reader_create(shown->wrel, shown->plan->attrs, NULL, known, placed, NIL)), names);
}

void
widecolExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *fscan = castNode(ForeignScan, node->ss.ps.plan);
	WcRelation *wrel = wc_relation_open(node->ss.ss_currentRelation);
	WcScanPlan	plan;
	WcExplained		shown = {0};
	List	   *ancestors = NIL;
	List	   *columns;

	wc_scan_plan_decode(fscan->fdw_private, fscan->fdw_exprs, &plan);
	(void) find_ancestors(es->pstmt->planTree, (Plan *) fscan, &ancestors);
	shown.wrel = wrel;
	shown.plan = &plan;
	shown.context = set_deparse_context_plan(es->deparse_cxt, (Plan *) fscan, ancestors);
	shown.useprefix = list_length(es->rtable) > 1 || es->verbose;
	wc_explained_find(&shown);

	if (!wc_client_store_is_embedded(wrel->store))
		ExplainPropertyText("Widecol Server", GetForeignServer(GetForeignTable(wrel->relid)->serverid)->servername, es);
	ExplainPropertyText("Widecol Table", wc_client_table_fullname(wrel->desc), es);
	ExplainPropertyText("Scan", wc_explained_scan(&shown), es);
	if (plan.ordered && !shown.empty)
		ExplainPropertyText("Order", plan.reversed ? "row key, reverse" : "row key", es);
	explain_range(&shown, es);
	explain_buckets(&shown, es);
	explain_cells(&shown, es);
	explain_filter(&shown, node, es);
	explain_groups(&shown, fscan, es);
	explain_distinct(&shown, fscan, es);

	/* a direct modification reads rows only if that turns out to be necessary */
	columns = fscan->operation == CMD_SELECT ? columns_read(&shown, fscan) : NIL;
	if (columns != NIL)
		ExplainPropertyList("Columns", columns, es);
	if (plan.row_limit > 0)
		ExplainPropertyInteger("Row Limit", NULL, plan.row_limit, es);
	explain_row_number(&shown, "Row Limit", plan.limit, es);
	explain_row_number(&shown, "Row Offset", plan.offset, es);
	if (wc_client_read_timestamp() != WC_TS_LATEST)
		ExplainPropertyText("As Of", GetConfigOption("widecol.read_timestamp", false, false), es);
	explain_counters(node, wc_client_store_is_embedded(wrel->store), es);
	explain_buffers(node, es);
	wc_relation_close(wrel);
}
