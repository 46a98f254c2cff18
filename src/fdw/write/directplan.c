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
#include "catalog/pg_type.h"
#include "foreign/fdwapi.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "client/settings.h"
#include "fdw/fdw.h"
#include "fdw/write/direct.h"

/* --- the plan's private part ------------------------------------------------------ */

static List *
encode_plan(const WcDirectPlan *plan)
{
	return list_make2(list_make2_int(plan->set_processed, plan->members), plan->columns);
}

void
wc_direct_plan_decode(const ForeignScan *scan, WcDirectPlan *plan)
{
	List	   *encoded = llast_node(List, scan->fdw_private);
	int			nexprs;

	plan->set_processed = linitial_int(linitial(encoded)) != 0;
	plan->members = lsecond_int(linitial(encoded)) != 0;
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

/* May the CHECK not hold for rows that are there?  PostgreSQL checks it of all that are written. */
static bool
may_be_broken(const ConstrCheck *check, Node *expr)
{
	return !check->ccvalid || contain_mutable_functions(expr);
}

/* Must rows be checked that get new values of these columns?  They must if a CHECK constraint or a partition's bound uses one of
 * them, or if a CHECK need not hold for the rows as they are. */
static bool
has_constraints(Relation rel, const Bitmapset *columns)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;

	for (int i = 0; constr != NULL && i < constr->num_check; i++)
	{
		Node	   *expr = stringToNode(constr->check[i].ccbin);

		if (may_be_broken(&constr->check[i], expr) || uses_any(expr, columns))
			return true;
	}
	return rel->rd_rel->relispartition && uses_any((Node *) RelationGetPartitionQual(rel), columns);
}

static bool
is_value(Node *expr)
{
	return IsA(expr, Const) && !((Const *) expr)->constisnull;
}

/* Is the column a jsonb map that has all cells of its family?  (The marker is no member.) */
static bool
is_whole_family(const WcRelation *wrel, int i)
{
	const WcRelColumn *map = &wrel->columns[i];

	if (map->role != WC_ROLE_MAP || map->hstore)
		return false;
	for (int k = 0; k < wrel->natts; k++)
	{
		if (wc_relation_has_qualifier(&wrel->columns[k]) && wrel->columns[k].family == map->family)
			return false;
	}
	return true;
}

static bool
is_column(const Node *expr, Index target, int attnum)
{
	const Var  *var = (const Var *) expr;

	return IsA(expr, Var) && var->varno == (int) target && var->varlevelsup == 0 && var->varattno == attnum;
}

/* Is this the path of a member, as jsonb_set has it: an array of one name? */
static bool
is_member_path(const Node *expr)
{
	const Const *path = (const Const *) expr;
	Datum	   *names;
	bool	   *nulls;
	int			n;

	if (!IsA(expr, Const) || path->constisnull)
		return false;
	deconstruct_array(DatumGetArrayTypeP(path->constvalue), TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls, &n);
	return n == 1 && !nulls[0];
}

/* The value of which `map || value` gives what jsonb_set(map, '{name}', ...) does, NULL included; NULL: there is none. */
static Node *
value_of_set(const FuncExpr *set)
{
	FuncExpr   *on_empty;
	const Const *create = (const Const *) lfourth(set->args);

	if (!is_member_path(lsecond(set->args)) || !IsA(create, Const) || create->constisnull || !DatumGetBool(create->constvalue))
		return NULL;
	on_empty = (FuncExpr *) copyObjectImpl(set);
	linitial(on_empty->args) = makeConst(JSONBOID, -1, InvalidOid, -1, DirectFunctionCall1(jsonb_in, CStringGetDatum("{}")),
										 false, false);
	return eval_const_expressions(NULL, (Node *) on_empty);
}

/*
 * SET map = map || value, or with jsonb_set: the members of the value are cells that the row gets, unless its map is
 * NULL.  Finds the column and the value; false: the statement has another form.  (tlist has more than attnums: junk.)
 */
static bool
collect_members(Index target, Relation rel, const WcRelation *wrel, List *tlist, List *attnums, WcDirectPlan *plan)
{
	int			i = linitial_int(attnums) - 1;
	Node	   *expr = (Node *) linitial_node(TargetEntry, tlist)->expr;
	Node	   *value = NULL;

	if (list_length(attnums) != 1 || i < 0 || !is_whole_family(wrel, i) ||
		TupleDescAttr(RelationGetDescr(rel), i)->attnotnull)
		return false;
	if (IsA(expr, OpExpr))
		set_opfuncid((OpExpr *) expr);
	if (IsA(expr, OpExpr) && ((OpExpr *) expr)->opfuncid == F_JSONB_CONCAT &&
		is_column(linitial(((OpExpr *) expr)->args), target, i + 1))
		value = lsecond(((OpExpr *) expr)->args);
	else if (IsA(expr, FuncExpr) && ((FuncExpr *) expr)->funcid == F_JSONB_SET &&
			 is_column(linitial(((FuncExpr *) expr)->args), target, i + 1))
		value = value_of_set((FuncExpr *) expr);
	if (value == NULL || !is_constant(value))
		return false;
	plan->members = true;
	plan->columns = list_make1_int(i);
	plan->exprs = list_make1(value);
	return !has_constraints(rel, bms_make_singleton(i));
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
	/* a map shows any cell; a row without values may need a marker whose place is taken */
	if (wrel->has_map)
		return collect_members(target, rel, wrel, tlist, attnums, plan);
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

	return (any_value || wrel->marker_column < 0) && !has_constraints(rel, columns);
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
