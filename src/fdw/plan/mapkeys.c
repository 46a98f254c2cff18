/*
 * fdw/plan/mapkeys.c: the members of its maps that a query needs.
 *
 * Only the whole query shows this: the target of the relation (reltarget) has Vars, but not the expressions above that
 * use them.  So the whole query is searched, including its subqueries.  If the map is used as a whole, or in an
 * expression that is not understood, it is read whole.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "client/settings.h"
#include "compat.h"
#include "fdw/fdw.h"
#include "fdw/plan/aggregate.h"
#include "fdw/plan/mapkeys.h"
#include "fdw/plan/relplan.h"
#include "fdw/relation/hstore.h"

typedef struct Search
{
	const WcRelation *wrel;
	Index		varno;			/* in the query: of the relation, or of the table whose partition or child it is */
	int			ncolumns;
	int		   *atts;			/* [ncolumns]: of that table's columns, attnum - 1 of the relation's; -1: it has none */
	Index		levels;			/* levels of subqueries below the query that is searched */
	Bitmapset  *whole;			/* attnums of columns used as a whole; 0: the whole row */
	List	  **keys;			/* [ncolumns] */
} Search;

static inline bool
is_ours(const Search *s, const Node *node)
{
	const Var  *var = (const Var *) node;

	return node != NULL && IsA(node, Var) && var->varno == (int) s->varno && var->varlevelsup == s->levels;
}

static inline bool
is_key(const Node *node)
{
	if (node == NULL || exprType(node) != TEXTOID)
		return false;
	return IsA(node, Const) || (IsA(node, Param) && ((const Param *) node)->paramkind == PARAM_EXTERN);
}

/* Is the map of a type whose members this function shows?  InvalidOid: its subscripts do. */
static bool
shows_member(const Search *s, const Var *map, Oid function)
{
	if (map->varattno <= 0 || map->varattno > s->ncolumns || s->atts[map->varattno - 1] < 0)
		return false;
	if (s->wrel->columns[s->atts[map->varattno - 1]].hstore)
		return !OidIsValid(function) || wc_hstore_is_function(function, getBaseType(map->vartype), "hstore_fetchval");
	return map->vartype == JSONBOID &&
		(!OidIsValid(function) || function == F_JSONB_OBJECT_FIELD || function == F_JSONB_OBJECT_FIELD_TEXT);
}

/* Is the expression one member of a map of ours? */
static bool
is_member(const Search *s, Node *node, Var **map, Node **key)
{
	Oid			function = InvalidOid;
	Node	   *from = NULL;

	*key = NULL;
	if (IsA(node, OpExpr) && list_length(((OpExpr *) node)->args) == 2)
	{
		OpExpr	   *op = (OpExpr *) node;

		set_opfuncid(op);
		function = op->opfuncid;
		from = linitial(op->args);
		*key = lsecond(op->args);
	}
	else if (IsA(node, SubscriptingRef))
	{
		SubscriptingRef *ref = (SubscriptingRef *) node;

		if (ref->refassgnexpr != NULL || ref->reflowerindexpr != NIL || ref->refupperindexpr == NIL)
			return false;
		from = (Node *) ref->refexpr;
		*key = linitial(ref->refupperindexpr);
	}
	if (!is_ours(s, from) || !is_key(*key) || !shows_member(s, (Var *) from, function))
		return false;
	*map = (Var *) from;
	return true;
}

static bool
search_walker(Node *node, void *context)
{
	Search	   *s = context;
	Var		   *map;
	Node	   *key;

	if (node == NULL)
		return false;
	if (is_ours(s, node))
	{
		s->whole = bms_add_member(s->whole, Max(((Var *) node)->varattno, 0));
		return false;
	}
	if (IsA(node, Query))
	{
		s->levels++;
		(void) query_tree_walker((Query *) node, search_walker, context, QTW_IGNORE_JOINALIASES);
		s->levels--;
		return false;
	}
	if (!is_member(s, node, &map, &key))
		return expression_tree_walker(node, search_walker, context);

	s->keys[map->varattno - 1] = list_append_unique(s->keys[map->varattno - 1], key);
	if (IsA(node, SubscriptingRef))
	{
		List	   *indexes = ((SubscriptingRef *) node)->refupperindexpr;

		for (int i = 1; i < list_length(indexes); i++)
			(void) search_walker(list_nth(indexes, i), context);
	}
	return false;
}

static bool
is_map(const WcRelColumn *column)
{
	return column->role == WC_ROLE_MAP || column->role == WC_ROLE_PREFIX_MAP;
}

/* May a map of rel be read in part?  Rows that are written or locked are needed whole. */
static bool
may_search(const PlannerInfo *root, const WcRelation *wrel)
{
	return wrel->has_map && root->parse->commandType == CMD_SELECT && root->rowMarks == NIL;
}

/* From the relation up to the table that the query names. */
static bool
find_columns(PlannerInfo *root, const RelOptInfo *rel, Search *s)
{
	s->varno = rel->relid;
	s->ncolumns = s->wrel->natts;
	s->atts = palloc(sizeof(int) * Max(s->ncolumns, 1));
	for (int i = 0; i < s->ncolumns; i++)
		s->atts[i] = i;
	while (root->append_rel_array != NULL && root->append_rel_array[s->varno] != NULL)
	{
		const AppendRelInfo *info = root->append_rel_array[s->varno];
		int			n = list_length(info->translated_vars);
		int		   *atts = palloc(sizeof(int) * Max(n, 1));

		if (planner_rt_fetch(info->parent_relid, root)->rtekind != RTE_RELATION)
			return false;
		for (int i = 0; i < n; i++)
		{
			const Var  *var = list_nth(info->translated_vars, i);
			bool		plain = var != NULL && IsA(var, Var) && var->varattno > 0 && var->varattno <= s->ncolumns;

			atts[i] = plain ? s->atts[var->varattno - 1] : -1;
		}
		s->varno = info->parent_relid;
		s->ncolumns = n;
		s->atts = atts;
	}
	return true;
}

List *
wc_map_keys_find(PlannerInfo *root, RelOptInfo *rel, const WcRelation *wrel, const Bitmapset *attrs)
{
	Search		s = {.wrel = wrel};
	List	   *found = NIL;

	if (!may_search(root, wrel) || !find_columns(root, rel, &s))
		return NIL;
	s.keys = palloc0(sizeof(List *) * Max(s.ncolumns, 1));
	(void) query_tree_walker(root->parse, search_walker, &s, QTW_IGNORE_JOINALIASES);
	(void) search_walker((Node *) root->processed_tlist, &s);
	if (bms_is_member(0, s.whole))
		return NIL;
	for (int i = 0; i < s.ncolumns; i++)
	{
		WcMapKeys  *map;

		if (s.atts[i] < 0 || !bms_is_member(s.atts[i], attrs) || !is_map(&wrel->columns[s.atts[i]]) || bms_is_member(i + 1, s.whole) ||
			s.keys[i] == NIL || list_length(s.keys[i]) > WC_MAP_KEYS_MAX)
			continue;
		map = palloc(sizeof(WcMapKeys));
		map->att = s.atts[i];
		map->keys = s.keys[i];
		found = lappend(found, map);
	}
	return found;
}

List *
wc_map_keys_members(const List *maps, const Datum *values, const bool *nulls)
{
	List	   *members = NIL;
	int			next = 0;
	ListCell   *lc;

	foreach(lc, maps)
	{
		const WcMapKeys *map = lfirst(lc);
		WcWantedMembers *wanted = palloc0(sizeof(WcWantedMembers));

		wanted->att = map->att;
		wanted->qualifiers = palloc(sizeof(WcSlice) * list_length(map->keys));
		for (int i = 0; i < list_length(map->keys); i++, next++)
		{
			char	   *key;

			if (nulls[next])
				continue;
			key = TextDatumGetCString(values[next]);
			wanted->qualifiers[wanted->nqualifiers++] = wc_text_to_utf8(key, strlen(key));
		}
		members = lappend(members, wanted);
	}
	return members;
}

/* --- places in the scan's tuple ------------------------------------------------------ */

typedef struct Uses
{
	const WcRelation *wrel;
	Index		relid;
	List	   *members;		/* expressions */
	Bitmapset  *whole;			/* columns, bit attnum - 1 */
	bool		others;			/* the whole row, or system columns */
} Uses;

static bool
uses_walker(Node *node, void *context)
{
	Uses	   *uses = context;
	const Var  *var = (const Var *) node;
	WcMember	member;

	if (node == NULL)
		return false;
	if (wc_member_match_text(uses->wrel, uses->relid, node, &member))
	{
		uses->members = list_append_unique(uses->members, node);
		return false;
	}
	if (!IsA(node, Var))
		return expression_tree_walker(node, uses_walker, context);
	if (var->varno != (int) uses->relid || var->varlevelsup != 0)
		return false;
	if (var->varattno > 0)
		uses->whole = bms_add_member(uses->whole, var->varattno - 1);
	uses->others |= var->varattno <= 0;
	return false;
}

/* The members, of maps that the expressions do not use otherwise; sets *maps to the maps, bit attnum - 1. */
static List *
members_alone(const WcRelation *wrel, Index relid, List *exprs, List *clauses, Bitmapset **maps)
{
	Uses		uses = {.wrel = wrel,.relid = relid};
	List	   *alone = NIL;
	ListCell   *lc;

	*maps = NULL;
	(void) uses_walker((Node *) exprs, &uses);
	(void) uses_walker((Node *) clauses, &uses);
	foreach(lc, uses.members)
	{
		WcMember	member;

		(void) wc_member_match_text(wrel, relid, lfirst(lc), &member);
		if (uses.others || bms_is_member(member.att, uses.whole))
			continue;
		alone = lappend(alone, lfirst(lc));
		*maps = bms_add_member(*maps, member.att);
	}
	return alone;
}

List *
wc_map_keys_place(PlannerInfo *root, RelOptInfo *rel, const WcRelation *wrel, List *exprs, const WcQuals *quals, WcScanPlan *plan)
{
	List	   *scan_tlist;
	List	   *members;
	Bitmapset  *maps;
	ListCell   *lc;

	/* rows that are fetched for several outer rows, and those behind a gate, have the table's columns only; a projection to
	 * set-returning functions is made in several steps, of which reltarget has the last */
	if (!wc_enable_pushdown || wrel->layout != WC_LAYOUT_ROW || !may_search(root, wrel) || root->parse->rowMarks != NIL ||
		root->parse->hasTargetSRFs || plan->lookahead >= 0 || plan->nbarriers > 0 || plan->ndecided_barriers > 0)
		return NIL;
	members = members_alone(wrel, rel->relid, exprs, extract_actual_clauses(quals->local, false), &maps);
	if (members == NIL || list_length(members) > WC_MAP_KEYS_MAX)
		return NIL;
	scan_tlist = wc_plan_all_columns(root, rel->relid);
	foreach(lc, members)
		scan_tlist = wc_plan_add_column(scan_tlist, lfirst(lc));
	plan->attrs = bms_del_members(plan->attrs, maps);
	return scan_tlist;
}

/* --- below an Agg node ----------------------------------------------------------------- */

bool
wc_map_keys_is_path(const ForeignPath *path)
{
	return IS_UPPER_REL(path->path.parent) && list_length(path->fdw_private) == 1;
}

/*
 * A path of rows with members in their places.  Without it the scan below an Agg node returns the table's columns, since
 * PostgreSQL takes arguments of aggregates apart.  To make the map and to look into it costs about as much as an operator.
 */
static Path *
make_path(PlannerInfo *root, RelOptInfo *output_rel, PathTarget *target, ForeignPath *rows, int nmembers)
{
	Cost		saved = rows->path.rows * nmembers * cpu_operator_cost;
	Cost		total = Max(rows->path.total_cost - saved, rows->path.startup_cost);
	ForeignPath *path = wc_make_foreign_upper_path(root, output_rel, target, rows->path.rows, rows->path.startup_cost, total,
												   rows->path.pathkeys, list_make1(rows));

	path->path.parallel_aware = rows->path.parallel_aware;
	path->path.parallel_workers = rows->path.parallel_workers;
	return (Path *) path;
}

void
widecolGetForeignMemberPaths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel,
							 void *extra)
{
	const GroupPathExtraData *group = extra;
	bool		partial = stage == UPPERREL_PARTIAL_GROUP_AGG;
	const WcRelation *wrel;
	List	   *above;
	ListCell   *lc;

	if (stage != UPPERREL_GROUP_AGG && !(partial && output_rel->consider_parallel))
		return;
	wrel = wc_plan_relation(input_rel);
	if (wrel == NULL || !wrel->has_map || !wc_plan_may_stand_below(root, input_rel, wrel))
		return;
	above = list_copy(output_rel->reltarget->exprs);
	if (!partial)
		above = lappend(above, group->havingQual);
	foreach(lc, partial ? input_rel->partial_pathlist : input_rel->pathlist)
	{
		ForeignPath *rows = wc_plan_own_path(lfirst(lc), input_rel);
		PathTarget *target;
		List	   *members;
		Bitmapset  *maps;

		if (rows == NULL)
			continue;
		target = wc_aggregate_input_target(root, wrel, input_rel->relid, ((Path *) lfirst(lc))->pathtarget, above);
		members = members_alone(wrel, input_rel->relid, target->exprs,
								extract_actual_clauses(wc_plan_quals(input_rel)->local, false), &maps);
		if (members != NIL)
			wc_plan_add_grouping(root, output_rel, make_path(root, output_rel, target, rows, list_length(members)),
								 partial ? AGGSPLIT_INITIAL_SERIAL : AGGSPLIT_SIMPLE, 0, group);
	}
}
