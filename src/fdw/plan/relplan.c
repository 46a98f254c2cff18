/*
 * fdw/plan/relplan.c: the size of a relation that is to be scanned, and its conditions.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "foreign/fdwapi.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"

#include "client/settings.h"
#include "compat.h"
#include "fdw/fdw.h"
#include "fdw/plan/relplan.h"
#include "fdw/relation/systemcolumn.h"

/*
 * PostgreSQL lets UPDATE fetch the old row as a record without a type.  If the query also names the whole row, a join
 * would find this record in its place and refuse it: so the record gets the table's type.
 */
static void
type_whole_row(PlannerInfo *root, RelOptInfo *rel, Oid reltype)
{
	List	   *exprs = list_copy(rel->reltarget->exprs);
	ListCell   *lc;

	foreach(lc, root->processed_tlist)
		exprs = lappend(exprs, lfirst_node(TargetEntry, lc)->expr);
	foreach(lc, exprs)
	{
		Var		   *var = lfirst(lc);

		if (IsA(var, Var) && var->varno == rel->relid && var->varattno == InvalidAttrNumber &&
			var->vartype == RECORDOID)
			var->vartype = reltype;
	}
	list_free(exprs);
}

void
widecolGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	WcRelPlan  *plan = palloc0(sizeof(WcRelPlan));
	Relation	rel = table_open(foreigntableid, NoLock);
	double		selectivity;

	wc_system_columns_check(root, baserel);
	/* PostgreSQL does not report the end of planning: hold the relation until its memory is freed */
	plan->wrel = wc_relation_hold(rel);
	if (root->parse->resultRelation == baserel->relid)
		type_whole_row(root, baserel, rel->rd_rel->reltype);
	table_close(rel, NoLock);
	baserel->fdw_private = plan;
	baserel->rel_parallel_workers = plan->wrel->parallel_workers;

	wc_quals_find(root, baserel, plan->wrel, baserel->baserestrictinfo, &plan->quals);
	if (plan->quals.point && baserel->tuples < 0 && plan->wrel->layout == WC_LAYOUT_ROW)
	{
		/* a Get: the size of the table is not needed */
		plan->size.rows = plan->quals.nranges;
		plan->size.bytes = plan->quals.nranges * baserel->reltarget->width;
		baserel->tuples = plan->size.rows;
		baserel->rows = plan->size.rows;
		return;
	}
	wc_cost_rel_size(baserel, plan->wrel, plan->quals.point, &plan->size);
	if (!plan->size.analyzed)
		wc_cost_key_rows(root, plan->wrel, &plan->size, &plan->quals);
	baserel->tuples = plan->size.rows;
	if (plan->quals.rows >= 0)
	{
		selectivity = clauselist_selectivity(root, plan->quals.unranged, 0, JOIN_INNER, NULL);
		baserel->rows = wc_cost_clamp_rows(plan->wrel, &plan->quals, plan->quals.rows * selectivity);
		return;
	}
	selectivity = clauselist_selectivity(root, baserel->baserestrictinfo, 0, JOIN_INNER, NULL);
	baserel->rows = wc_cost_clamp_rows(plan->wrel, &plan->quals, plan->size.rows * selectivity);
}

/* --- for the nodes above -----------------------------------------------------*/

WcRelation *
wc_plan_member(const RelOptInfo *rel)
{
	if (!IS_SIMPLE_REL(rel) || rel->fdwroutine == NULL || rel->fdw_private == NULL ||
		rel->fdwroutine->GetForeignRelSize != widecolGetForeignRelSize)
		return NULL;
	return ((WcRelPlan *) rel->fdw_private)->wrel;
}

WcRelation *
wc_plan_relation(const RelOptInfo *rel)
{
	return rel->reloptkind == RELOPT_BASEREL ? wc_plan_member(rel) : NULL;
}

ForeignPath *
wc_plan_own_path(Path *path, const RelOptInfo *rel)
{
	while (IsA(path, ProjectionPath))
		path = ((ProjectionPath *) path)->subpath;
	if (!IsA(path, ForeignPath) || path->parent != rel || path->param_info != NULL)
		return NULL;
	return IsA(((ForeignPath *) path)->fdw_private, IntList) ? (ForeignPath *) path : NULL;
}

const WcQuals *
wc_plan_quals(const RelOptInfo *rel)
{
	return &((WcRelPlan *) rel->fdw_private)->quals;
}

bool
wc_plan_decides_rows(const RelOptInfo *rel)
{
	const WcQuals *quals = &((WcRelPlan *) rel->fdw_private)->quals;

	return quals->local == NIL && !quals->mixed_types;
}

bool
wc_plan_may_stand_below(const PlannerInfo *root, const RelOptInfo *rel, const WcRelation *wrel)
{
	const Query *query = root->parse;

	return wc_enable_pushdown && wrel->layout == WC_LAYOUT_ROW && query->commandType == CMD_SELECT &&
		query->groupingSets == NIL && query->rowMarks == NIL && root->rowMarks == NIL && !query->hasTargetSRFs &&
		!root->hasPseudoConstantQuals && bms_is_empty(rel->lateral_relids) && !wc_plan_quals(rel)->point;
}

List *
wc_plan_all_columns(PlannerInfo *root, Index relid)
{
	Relation	rel = table_open(planner_rt_fetch(relid, root)->relid, NoLock);
	TupleDesc	tupdesc = RelationGetDescr(rel);
	List	   *tlist = NIL;

	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(tupdesc, i);
		Expr	   *expr = att->attisdropped ?
		(Expr *) makeNullConst(INT4OID, -1, InvalidOid) :
		(Expr *) makeVar(relid, att->attnum, att->atttypid, att->atttypmod, att->attcollation, 0);

		tlist = lappend(tlist, makeTargetEntry(expr, (AttrNumber) (i + 1), pstrdup(NameStr(att->attname)), false));
	}
	table_close(rel, NoLock);
	return tlist;
}

List *
wc_plan_add_column(List *scan_tlist, Expr *expr)
{
	return lappend(scan_tlist, makeTargetEntry(expr, (AttrNumber) (list_length(scan_tlist) + 1), NULL, false));
}

void
wc_plan_add_grouping(PlannerInfo *root, RelOptInfo *output_rel, Path *rows, AggSplit split, double ngroups,
					 const GroupPathExtraData *extra)
{
	List	   *clause = wc_group_clause(root);
	bool		grouped = root->parse->groupClause != NIL;	/* clause may be empty nevertheless */
	bool		sortable = !grouped || (extra->flags & GROUPING_CAN_USE_SORT) != 0;
	bool		partial = DO_AGGSPLIT_SKIPFINAL(split);
	AggStrategy strategy = grouped ? AGG_SORTED : AGG_PLAIN;
	AggClauseCosts costs;
	Path	   *path;

	/* of groups that cannot be sorted there are no pathkeys */
	if (!sortable || !pathkeys_contained_in(root->group_pathkeys, rows->pathkeys))
	{
		if (grouped && (extra->flags & GROUPING_CAN_USE_HASH) != 0)
			strategy = AGG_HASHED;
		else if (sortable)
			rows = (Path *) create_sort_path(root, output_rel, rows, root->group_pathkeys, -1);
		else
			return;
	}
	if (ngroups == 0)
		ngroups = grouped ? estimate_num_groups(root, get_sortgrouplist_exprs(clause, root->processed_tlist), rows->rows, NULL, NULL) : 1;
	MemSet(&costs, 0, sizeof(costs));
	get_agg_clause_costs(root, split, &costs);
	path = (Path *) create_agg_path(root, output_rel, rows, output_rel->reltarget, strategy, split, clause,
									partial ? NIL : (List *) extra->havingQual, &costs, ngroups);
	if (partial)
		add_partial_path(output_rel, path);
	else
		add_path(output_rel, path);
}
