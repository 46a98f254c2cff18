/*
 * fdw/relation/systemcolumn.c: system columns, which rows of stored tables do not have.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/heap.h"
#include "catalog/pg_class.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/prep.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "fdw/relation/systemcolumn.h"

#define CTID_MEMBER (SelfItemPointerAttributeNumber - FirstLowInvalidHeapAttributeNumber)

void
wc_system_columns_refuse(const Bitmapset *columns, Oid relid)
{
	for (AttrNumber attnum = FirstLowInvalidHeapAttributeNumber + 1; attnum < 0; attnum++)
	{
		if (attnum != TableOidAttributeNumber && bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, columns))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot use system column \"%s\" of foreign table \"%s\"",
							NameStr(SystemAttributeDefinition(attnum)->attname), get_rel_name(relid)),
					 errdetail("Rows of stored tables have no system columns but tableoid."),
					 errhint("The columns of the row key identify a row.")));
	}
}

/* The relation whose columns the query names: the partition's or child's topmost parent. */
static const RelOptInfo *
named_rel(PlannerInfo *root, const RelOptInfo *rel)
{
	return rel->top_parent_relids == NULL ? rel : find_base_rel(root, bms_singleton_member(rel->top_parent_relids));
}

/* Is a row mark the only part of the query that uses ctid?  The planner adds ctid to the target list for it. */
static bool
only_mark_uses_ctid(PlannerInfo *root, const RelOptInfo *rel)
{
	const RelOptInfo *named = named_rel(root, rel);
	const PlanRowMark *mark = get_plan_rowmark(root->rowMarks, named->relid);
	Bitmapset  *used = NULL;
	char		name[NAMEDATALEN];
	ListCell   *lc;

	if (mark == NULL || (mark->allMarkTypes & ~(1 << ROW_MARK_COPY)) == 0)
		return false;
	/* {0} stands for the target list */
	if (!bms_equal(named->attr_needed[SelfItemPointerAttributeNumber - named->min_attr], bms_make_singleton(0)))
		return false;
	snprintf(name, sizeof(name), "ctid%u", mark->rowmarkId);
	foreach(lc, root->processed_tlist)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (!entry->resjunk || entry->resname == NULL || strcmp(entry->resname, name) != 0)
			pull_varattnos((Node *) entry->expr, named->relid, &used);
	}
	pull_varattnos(root->parse->havingQual, named->relid, &used);
	return !bms_is_member(CTID_MEMBER, used);
}

/*
 * MERGE into a parent of this table is an error like PostgreSQL's for MERGE into the table itself.  The planner has
 * added ctid to the target list for MERGE, so that the error would otherwise be about a column that nobody has named.
 */
static void
refuse_merge(PlannerInfo *root, const RelOptInfo *rel, Oid relid)
{
	if (root->parse->commandType != CMD_MERGE || !bms_is_member(rel->relid, root->all_result_relids))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot execute MERGE on relation \"%s\"", get_rel_name(relid)),
			 errdetail_relkind_not_supported(RELKIND_FOREIGN_TABLE)));
}

void
wc_system_columns_check(PlannerInfo *root, const RelOptInfo *rel)
{
	Oid			relid = planner_rt_fetch(rel->relid, root)->relid;
	Bitmapset  *used = NULL;
	Bitmapset  *filtered = NULL;
	ListCell   *lc;

	refuse_merge(root, rel, relid);
	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &used);
	foreach(lc, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid, &filtered);
	if (bms_is_member(CTID_MEMBER, used) && !bms_is_member(CTID_MEMBER, filtered) && only_mark_uses_ctid(root, rel))
		used = bms_del_member(used, CTID_MEMBER);
	wc_system_columns_refuse(bms_add_members(used, filtered), relid);
}
