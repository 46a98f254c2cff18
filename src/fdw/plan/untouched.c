/*
 * fdw/plan/untouched.c: maps that an UPDATE reads and leaves as they are.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "fdw/plan/untouched.h"

static Bitmapset *
add_constraint(Bitmapset *used, const char *expr)
{
	pull_varattnos(stringToNode(expr), 1, &used);
	return used;
}

/* Adds the columns that constraints and generated columns use; false: triggers may use any column. */
static bool
add_used_by_table(Oid relid, Bitmapset **used)
{
	Relation	rel = table_open(relid, NoLock);
	const TupleConstr *constr = RelationGetDescr(rel)->constr;
	bool		known = rel->trigdesc == NULL && !rel->rd_rel->relispartition;

	for (int i = 0; constr != NULL && i < constr->num_check; i++)
		*used = add_constraint(*used, constr->check[i].ccbin);
	for (int i = 0; constr != NULL && constr->has_generated_stored && i < constr->num_defval; i++)
		*used = add_constraint(*used, constr->defval[i].adbin);
	table_close(rel, NoLock);
	return known;
}

Bitmapset *
wc_untouched_maps(PlannerInfo *root, RelOptInfo *rel, const WcRelation *wrel)
{
	Query	   *query = root->parse;
	Bitmapset  *used = NULL;
	Bitmapset  *untouched = NULL;
	ListCell   *lc;

	if (!wrel->has_map || query->commandType != CMD_UPDATE || query->resultRelation != (int) rel->relid ||
		rel->reloptkind != RELOPT_BASEREL || !add_used_by_table(planner_rt_fetch(rel->relid, root)->relid, &used))
		return NULL;
	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		/* PostgreSQL adds the whole row; another such entry is a sub-SELECT that several columns are set to */
		if (!entry->resjunk || !IsA(entry->expr, Var))
			pull_varattnos((Node *) entry->expr, rel->relid, &used);
	}
	foreach(lc, root->update_colnos)
		used = bms_add_member(used, lfirst_int(lc) - FirstLowInvalidHeapAttributeNumber);
	pull_varattnos((Node *) query->returningList, rel->relid, &used);
	pull_varattnos((Node *) query->withCheckOptions, rel->relid, &used);
	pull_varattnos((Node *) query->jointree, rel->relid, &used);
	foreach(lc, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid, &used);
	foreach(lc, rel->joininfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid, &used);
	if (bms_is_member(-FirstLowInvalidHeapAttributeNumber, used))
		return NULL;
	for (int i = 0; i < wrel->natts; i++)
	{
		if ((wrel->columns[i].role == WC_ROLE_MAP || wrel->columns[i].role == WC_ROLE_PREFIX_MAP) &&
			!bms_is_member(i + 1 - FirstLowInvalidHeapAttributeNumber, used))
			untouched = bms_add_member(untouched, i);
	}
	return untouched;
}
