/*
 * fdw/statement/quiet.c: can anything look at a table while a statement writes to it?
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "client/client.h"
#include "fdw/statement/quiet.h"

/* --- triggers ---------------------------------------------------------------------- */

/* For the DELETE that is being planned, or the INSERT or COPY that runs: has a table of its tree triggers? */
static struct
{
	const void *statement;		/* NULL: not known yet */
	bool		triggers;
}			tree;

static void
forget_tree(void *arg)
{
	if (tree.statement == arg)
		tree.statement = NULL;
}

bool
wc_tree_has_triggers(Oid relid, bool foreign, void *statement, MemoryContext context)
{
	MemoryContextCallback *callback;
	ListCell   *lc;

	if (tree.statement == statement)
		return tree.triggers;
	tree.triggers = false;
	foreach(lc, find_all_inheritors(relid, NoLock, NULL))
	{
		HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(lfirst_oid(lc)));
		Form_pg_class form;

		if (!HeapTupleIsValid(tuple))
			continue;
		form = (Form_pg_class) GETSTRUCT(tuple);
		tree.triggers |= form->relhastriggers && (!foreign || form->relkind == RELKIND_FOREIGN_TABLE);
		ReleaseSysCache(tuple);
	}
	callback = MemoryContextAlloc(context, sizeof(*callback));
	callback->func = forget_tree;
	callback->arg = statement;
	MemoryContextRegisterResetCallback(context, callback);
	tree.statement = statement;
	return tree.triggers;
}

static bool
may_fire_triggers(EState *estate, const ResultRelInfo *rinfo)
{
	const ResultRelInfo *root = rinfo->ri_RootResultRelInfo;

	return rinfo->ri_TrigDesc != NULL ||
		(root != NULL && wc_tree_has_triggers(RelationGetRelid(root->ri_RelationDesc), false, estate, estate->es_query_cxt));
}

/* --- functions --------------------------------------------------------------------- */

/* Do the functions of defaults, which COPY calls, read nothing? */
static bool
defaults_are_quiet(Relation rel)
{
	for (int i = 0; i < RelationGetDescr(rel)->natts; i++)
	{
		if (!TupleDescAttr(RelationGetDescr(rel), i)->attisdropped &&
			contain_volatile_functions_not_nextval(build_column_default(rel, i + 1)))
			return false;
	}
	return true;
}

/* Rows may be routed here: the defaults are those of the table that COPY names. */
static bool
copy_is_quiet(const ResultRelInfo *rinfo)
{
	const ResultRelInfo *root = rinfo->ri_RootResultRelInfo;

	return !wc_client_copy_filters() && defaults_are_quiet(root != NULL ? root->ri_RelationDesc : rinfo->ri_RelationDesc);
}

/* Does the plan call built-in functions only?  PostgreSQL notes the others, and domains, whose checks call functions. */
static bool
plan_is_quiet(const PlannedStmt *plan)
{
	ListCell   *lc;

	foreach(lc, plan->invalItems)
	{
		const PlanInvalItem *item = lfirst_node(PlanInvalItem, lc);

		if (item->cacheId == PROCOID || item->cacheId == TYPEOID)
			return false;
	}
	return true;
}

static bool
checks_are_quiet(const TupleConstr *constr)
{
	for (int i = 0; constr != NULL && i < constr->num_check; i++)
	{
		if (contain_volatile_functions(stringToNode(constr->check[i].ccbin)))
			return false;
	}
	return true;
}

/* The command must be the whole statement, and nothing is to be done for each row behind it. */
static bool
command_is_quiet(const EState *estate, const ResultRelInfo *rinfo)
{
	const PlannedStmt *plan = estate->es_plannedstmt;

	return !plan->hasModifyingCTE && !plan->hasReturning && plan_is_quiet(plan) &&
		checks_are_quiet(RelationGetDescr(rinfo->ri_RelationDesc)->constr);
}

bool
wc_quiet_inserts(EState *estate, const ResultRelInfo *rinfo)
{
	if (rinfo->ri_WithCheckOptions != NIL || may_fire_triggers(estate, rinfo))
		return false;
	if (estate->es_plannedstmt == NULL)
		return copy_is_quiet(rinfo);
	return estate->es_plannedstmt->commandType == CMD_INSERT && command_is_quiet(estate, rinfo);
}

bool
wc_quiet_changes(EState *estate, const ResultRelInfo *rinfo)
{
	return rinfo->ri_WithCheckOptions == NIL && !may_fire_triggers(estate, rinfo) && command_is_quiet(estate, rinfo);
}
