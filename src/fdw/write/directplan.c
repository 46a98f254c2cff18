/*
 * fdw/write/directplan.c: which DELETE and UPDATE the engine may do by itself.
 *
 * Row by row, PostgreSQL would fetch each row, and this wrapper would write the statement's changes of it.  Here every
 * row gets the same operations (except for the marker of a row without values).  So a statement that could change rows
 * differently, or that needs to read them, is done row by row.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "foreign/fdwapi.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "client/settings.h"
#include "fdw/fdw.h"
#include "fdw/write/direct.h"

/* --- the plan's private part ------------------------------------------------------ */

static List *
encode_plan(const WcDirectPlan *plan)
{
	return list_make2(list_make1_int(plan->set_processed), plan->columns);
}

void
wc_direct_plan_decode(const ForeignScan *scan, WcDirectPlan *plan)
{
	List	   *encoded = llast_node(List, scan->fdw_private);
	int			nexprs;

	plan->set_processed = linitial_int(linitial(encoded)) != 0;
	plan->columns = lsecond(encoded);
	nexprs = list_length(plan->columns);
	plan->exprs = list_copy_tail(scan->fdw_exprs, list_length(scan->fdw_exprs) - nexprs);
}

/* --- the statement ---------------------------------------------------------------- */

/* May parts of the statement meet rows that another part changes?  Then the rows have to be noted one by one
 * (touched.h). */
static bool
has_other_changes(PlannerInfo *root)
{
	for (; root != NULL; root = root->parent_root)
	{
		if (root->parse->hasModifyingCTE)
			return true;
	}
	return false;
}

/* The scan that returns the rows to change and does no more; NULL: there is none. */
static ForeignScan *
find_scan(ModifyTable *plan, Index target, int subplan_index)
{
	Plan	   *subplan = outerPlan(plan);
	ForeignScan *scan;

	if (IsA(subplan, Result) && outerPlan(subplan) != NULL && ((Result *) subplan)->resconstantqual == NULL)
		subplan = outerPlan(subplan);
	if (IsA(subplan, Append))
	{
		Append	   *append = (Append *) subplan;

		if (subplan_index >= list_length(append->appendplans))
			return NULL;
		subplan = list_nth(append->appendplans, subplan_index);
	}
	if (!IsA(subplan, ForeignScan))
		return NULL;
	scan = (ForeignScan *) subplan;
	return scan->scan.scanrelid == target && scan->scan.plan.qual == NIL ? scan : NULL;
}

/* Does a statement trigger, perhaps of a parent, need the rows? */
static bool
wants_transition_tables(PlannerInfo *root, const ModifyTable *plan)
{
	Index		parent = plan->rootRelation > 0 ? plan->rootRelation : plan->nominalRelation;
	RangeTblEntry *rte = planner_rt_fetch(parent, root);
	Relation	rel;
	bool		wants;

	if (rte->rtekind != RTE_RELATION)
		return false;
	rel = table_open(rte->relid, NoLock);
	wants = rel->trigdesc != NULL &&
		(plan->operation == CMD_DELETE ? rel->trigdesc->trig_delete_old_table :
		 rel->trigdesc->trig_update_old_table || rel->trigdesc->trig_update_new_table);
	table_close(rel, NoLock);
	return wants;
}

/* --- UPDATE ----------------------------------------------------------------------- */

static bool
is_multiexpr(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_MULTIEXPR)
		return true;
	return expression_tree_walker(node, is_multiexpr, context);
}

/* Has the expression one value for all rows? */
static bool
is_constant(Node *expr)
{
	return !contain_var_clause(expr) && !contain_volatile_functions(expr) && !contain_subplans(expr) &&
		!is_multiexpr(expr, NULL);
}

static bool
uses_any(Node *expr, const Bitmapset *columns)
{
	Bitmapset  *attrs = NULL;
	int			x = -1;

	pull_varattnos(expr, 1, &attrs);
	while ((x = bms_next_member(attrs, x)) >= 0)
	{
		int			attnum = x + FirstLowInvalidHeapAttributeNumber;

		if (attnum == 0 || (attnum > 0 && bms_is_member(attnum - 1, columns)))
			return true;
	}
	return false;
}

/* Does a CHECK constraint or a partition's bound use columns in SET? */
static bool
has_constraints(Relation rel, const Bitmapset *columns)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;

	for (int i = 0; constr != NULL && i < constr->num_check; i++)
	{
		if (uses_any(stringToNode(constr->check[i].ccbin), columns))
			return true;
	}
	return rel->rd_rel->relispartition && uses_any((Node *) RelationGetPartitionQual(rel), columns);
}

static bool
is_value(Node *expr)
{
	return IsA(expr, Const) && !((Const *) expr)->constisnull;
}

/* Collects the columns in SET and their values; false: the rows must be read. */
static bool
collect_sets(PlannerInfo *root, Index target, Relation rel, const WcRelation *wrel, WcDirectPlan *plan)
{
	Bitmapset  *columns = NULL;
	bool		any_value = false;
	List	   *tlist;
	List	   *attnums;
	ListCell   *lc;
	ListCell   *la;

	get_translated_update_targetlist(root, target, &tlist, &attnums);
	forboth(lc, tlist, la, attnums)
	{
		Node	   *expr = (Node *) lfirst_node(TargetEntry, lc)->expr;
		int			i = lfirst_int(la) - 1;

		if (i < 0 || wrel->columns[i].role != WC_ROLE_VALUE || !is_constant(expr) ||
			(TupleDescAttr(RelationGetDescr(rel), i)->attnotnull && !is_value(expr)))
			return false;
		any_value |= is_value(expr);
		columns = bms_add_member(columns, i);
		plan->columns = lappend_int(plan->columns, i);
		plan->exprs = lappend(plan->exprs, expr);
	}

	/* a map shows any cell; a row without values may need a marker whose place is taken */
	return !wrel->has_map && (any_value || wrel->marker_column < 0) && !has_constraints(rel, columns);
}

/* --- the callback ----------------------------------------------------------------- */

static bool
fits(PlannerInfo *root, const ModifyTable *plan, Index target, WcDirectPlan *direct)
{
	Relation	rel = table_open(planner_rt_fetch(target, root)->relid, NoLock);
	WcRelation *wrel = wc_relation_open(rel);
	bool		fit = wrel->layout == WC_LAYOUT_ROW && wc_client_modifies(wrel->desc);

	for (int k = 0; k < wrel->nkeys; k++)
		fit &= !wrel->columns[wrel->keys[k]].hashed;
	if (fit && plan->operation == CMD_UPDATE)
		fit = collect_sets(root, target, rel, wrel, direct);
	wc_relation_close(wrel);
	table_close(rel, NoLock);
	return fit;
}

bool
widecolPlanDirectModify(PlannerInfo *root, ModifyTable *plan, Index resultRelation, int subplan_index)
{
	WcDirectPlan direct = {.set_processed = plan->canSetTag};
	ForeignScan *scan;

	if (!wc_enable_pushdown ||
		(plan->operation != CMD_UPDATE && plan->operation != CMD_DELETE) || plan->returningLists != NIL ||
		has_other_changes(root) || wants_transition_tables(root, plan))
		return false;
	scan = find_scan(plan, resultRelation, subplan_index);
	if (scan == NULL || !fits(root, plan, resultRelation, &direct))
		return false;
	scan->operation = plan->operation;
	scan->resultRelation = resultRelation;
	scan->fdw_private = lappend(scan->fdw_private, encode_plan(&direct));
	scan->fdw_exprs = list_concat(scan->fdw_exprs, direct.exprs);
	scan->scan.plan.async_capable = false;
	return true;
}
