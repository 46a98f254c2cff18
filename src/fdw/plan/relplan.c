/*
 * fdw/plan/relplan.c: what planning a scan has found out about its relation.
 */
#include "postgres.h"

#include "foreign/fdwapi.h"

#include "fdw/fdw.h"
#include "fdw/plan/relplan.h"

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
wc_plan_is_point(const RelOptInfo *rel)
{
	return ((WcRelPlan *) rel->fdw_private)->quals.point;
}

bool
wc_plan_decides_rows(const RelOptInfo *rel)
{
	const WcQuals *quals = &((WcRelPlan *) rel->fdw_private)->quals;

	return quals->local == NIL && !quals->mixed_types;
}
