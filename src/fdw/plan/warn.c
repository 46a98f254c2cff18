/*
 * fdw/plan/warn.c: widecol.warn_full_scan: warns of queries that want few rows and read all.
 *
 * The planner knows how many rows a query wants, so the text is made when the query is planned.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "rewrite/rewriteManip.h"
#include "utils/ruleutils.h"

#include "client/settings.h"
#include "fdw/plan/warn.h"

/* A warning is a List of these String nodes. */
enum
{
	WARNING_MESSAGE,
	WARNING_DETAIL,
	WARNING_HINT
};

/*
 * A value from elsewhere in the plan (a subquery, the outer side of a join) can be named only by the finished plan: it
 * is shown as a parameter.
 */
static Node *
hide_plan(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Param) || IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
	{
		Param	   *param = makeNode(Param);

		if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXTERN)
			return copyObject(node);
		param->paramkind = PARAM_EXTERN;
		param->paramid = IsA(node, Param) ? ((Param *) node)->paramid : 0;
		param->paramtype = exprType(node);
		param->paramtypmod = exprTypmod(node);
		param->paramcollid = exprCollation(node);
		param->location = -1;
		return (Node *) param;
	}
	return expression_tree_mutator(node, hide_plan, context);
}

/* The conditions as SQL. */
static char *
conditions_text(const RelOptInfo *rel, const WcRelation *wrel, List *clauses)
{
	List	   *context = deparse_context_for(wrel->relname, wrel->relid);
	StringInfoData s;
	ListCell   *lc;

	initStringInfo(&s);
	foreach(lc, clauses)
	{
		Node	   *clause = hide_plan(lfirst(lc), NULL);

		ChangeVarNodes(clause, (int) rel->relid, 1, 0);
		appendStringInfo(&s, "%s%s", s.len > 0 ? " AND " : "", deparse_expression(clause, context, false, false));
	}
	return s.data;
}

/* The column by which rows are sorted first; NULL: the foreign table has no such column. */
static const WcRelColumn *
first_key_column(const WcRelation *wrel)
{
	if (wrel->nkeys > 0)
		return &wrel->columns[wrel->keys[0]];
	for (int i = 0; i < wrel->natts; i++)
	{
		if (wrel->columns[i].role == WC_ROLE_RAW_KEY || wrel->columns[i].role == WC_ROLE_CELL_ROW)
			return &wrel->columns[i];
	}
	return NULL;
}

static char *
hint_text(const RelOptInfo *rel, const WcRelation *wrel, List *clauses)
{
	const WcRelColumn *column = first_key_column(wrel);
	const char *what = wrel->nkeys > 1 ? "the first part of the row key" : "the row key";
	Bitmapset  *attrs = NULL;

	if (column == NULL)
		return pstrdup("A foreign table with a column for the row key could limit it.");
	pull_varattnos((Node *) clauses, rel->relid, &attrs);
	if (bms_is_member(column->attnum - FirstLowInvalidHeapAttributeNumber, attrs))
		return psprintf("The condition on \"%s\", %s, is of no use as it is: compare the column itself, "
						"with =, IN, LIKE 'x%%' or, where the order of the bytes is that of the values, with < and >.",
						NameStr(column->name), what);
	return psprintf("A condition on \"%s\", %s, would read a part of the table only.", NameStr(column->name), what);
}

List *
wc_warning_plan(RelOptInfo *rel, WcRelation *wrel, const WcQuals *quals,
				const WcTableSize *size, double rows)
{
	double		stored_rows = Max(size->rows, size->stored_rows);
	List	   *clauses;

	if (!wc_warn_full_scan || quals->conds != NIL || size->guessed || stored_rows < WC_WARN_ROWS_MIN ||
		rows > stored_rows * WC_WARN_FRACTION_MAX)
		return NIL;
	clauses = extract_actual_clauses(rel->baserestrictinfo, false);
	if (clauses == NIL)
		return NIL;
	return list_make3(makeString(psprintf("full scan of foreign table \"%s\", about %.0f rows", wrel->relname, stored_rows)),
					  makeString(psprintf("The conditions do not limit the row key: %s.", conditions_text(rel, wrel, clauses))),
					  makeString(hint_text(rel, wrel, clauses)));
}

void
wc_warning_raise(List *warning)
{
	if (warning == NIL || !wc_warn_full_scan)
		return;
	ereport(NOTICE,
			(errmsg("%s", strVal(list_nth(warning, WARNING_MESSAGE))),
			 errdetail("%s", strVal(list_nth(warning, WARNING_DETAIL))),
			 errhint("%s", strVal(list_nth(warning, WARNING_HINT)))));
}
