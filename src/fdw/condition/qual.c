/*
 * fdw/condition/qual.c: the clauses of a query that become start and stop rows.
 *
 * match.c finds the condition that each clause puts on the key by itself.  This file takes those on leading parts of
 * the key.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "client/settings.h"
#include "compat.h"
#include "fdw/condition/filter.h"
#include "fdw/condition/match.h"
#include "fdw/condition/qual.h"
#include "fdw/relation/recordtype.h"

static bool
is_pinning(const WcKeyCond *cond)
{
	return cond->kind == WC_COND_ANY || (cond->kind == WC_COND_OP && cond->op == WC_KEY_EQ);
}

/* Estimated number of values that a pinning condition allows. */
static double
pinned_values(PlannerInfo *root, const WcKeyCond *cond)
{
	return cond->kind == WC_COND_OP ? 1 : Max(wc_estimate_array_length(root, linitial(cond->values)), 1);
}

/*
 * The conditions of an arm on leading parts, given the common conditions, which hold in every row; NIL: none, so that
 * the arm does not limit the rows.
 */
static List *
leading_conds(PlannerInfo *root, const WcRelation *wrel, const List *common, List *arm, double *nranges, bool *point)
{
	List	   *taken = NIL;
	bool		pinned = true;
	ListCell   *lc;

	*nranges = 1;
	*point = false;
	for (int part = 0; part < wrel->nkeys && pinned; part++)
	{
		pinned = false;
		foreach(lc, common)
			pinned |= ((WcKeyCond *) lfirst(lc))->part == part && is_pinning(lfirst(lc));
		foreach(lc, arm)
		{
			WcKeyCond  *cond = lfirst(lc);

			if (cond->part != part)
				continue;
			taken = lappend(taken, cond);
			if (is_pinning(cond) && !pinned)
				*nranges *= pinned_values(root, cond);
			pinned |= is_pinning(cond);
		}
	}
	*point = wrel->nkeys > 0 && pinned;
	foreach(lc, arm)
	{
		WcKeyCond  *cond = lfirst(lc);

		if (cond->part != WC_COND_RAW_KEY)
			continue;
		taken = lappend(taken, cond);
		if (is_pinning(cond))
		{
			*nranges = pinned_values(root, cond);
			*point = true;
		}
	}
	return taken;
}

/* Takes an OR if each of its arms has conditions on leading parts. */
static void
take_or(PlannerInfo *root, const WcRelation *wrel, WcQuals *out, const List *common, WcKeyCond *or, void *clause)
{
	double		nranges = 0;
	bool		point = true;
	List	   *arms = NIL;
	ListCell   *lc;

	foreach(lc, or->arms)
	{
		double		arm_ranges;
		bool		arm_point;
		List	   *arm = leading_conds(root, wrel, common, lfirst(lc), &arm_ranges, &arm_point);
		ListCell   *la;

		if (arm == NIL)
			return;
		or->exact &= list_length(arm) == list_length(lfirst(lc));
		foreach(la, arm)
			or->exact &= ((WcKeyCond *) lfirst(la))->exact;
		arms = lappend(arms, arm);
		nranges += arm_ranges;
		point &= arm_point;
	}
	or->arms = arms;
	out->conds = lappend(out->conds, or);
	out->pushed = lappend(out->pushed, clause);
	if (or->exact)
		out->exact = lappend(out->exact, clause);
	out->nranges *= nranges;
	out->point |= point;
}

/* Takes the conditions on one part.  Returns whether one of them pins it to single values. */
static bool
take_part(PlannerInfo *root, WcQuals *out, WcKeyCond **found, List *clauses, int part)
{
	double		nranges = -1;
	int			i = 0;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		WcKeyCond  *cond = found[i++];

		if (cond == NULL || cond->part != part)
			continue;
		out->conds = lappend(out->conds, cond);
		out->pushed = lappend(out->pushed, lfirst(lc));
		if (cond->exact)
			out->exact = lappend(out->exact, lfirst(lc));
		if (is_pinning(cond))
		{
			double		n = pinned_values(root, cond);

			nranges = nranges < 0 ? n : Min(nranges, n);
			if (cond->kind == WC_COND_OP && part >= 0)
				out->equal = bms_add_member(out->equal, part);
		}
	}
	if (nranges < 0)
		return false;
	out->nranges *= nranges;
	return true;
}

static bool
has_cond(WcKeyCond **found, int nfound, int part)
{
	for (int i = 0; i < nfound; i++)
	{
		if (found[i] != NULL && found[i]->part == part)
			return true;
	}
	return false;
}

/* Steps over a part without a condition if it has few values and the next part has a condition. */
static bool
take_gap(const WcRelation *wrel, WcQuals *out, WcKeyCond **found, int nfound, int part)
{
	if (part + 1 >= wrel->nkeys || !wc_part_is_small(wrel, part) || has_cond(found, nfound, part) ||
		!has_cond(found, nfound, part + 1))
		return false;
	out->nranges *= 2;
	return true;
}

/* --- salts ---------------------------------------------------------------------- */

/* Does one of the conditions pin this part?  *single: to one value. */
static bool
is_pinned(const List *conds, int part, bool *single)
{
	bool		pinned = false;
	ListCell   *lc;

	*single = false;
	foreach(lc, conds)
	{
		const WcKeyCond *cond = lfirst(lc);

		if (cond->part != part || !is_pinning(cond))
			continue;
		pinned = true;
		*single |= cond->kind == WC_COND_OP;
	}
	return pinned;
}

/* Can the condition determine the bucket?  A range can only if the salt is a timestamp's minute. */
static bool
tells_bucket(const WcSalt *salt, const WcKeyCond *cond)
{
	if (cond == NULL || cond->part < 0 || !salt->parts[cond->part])
		return false;
	return is_pinning(cond) || (salt->kind == WC_SALT_MINUTE && cond->kind != WC_COND_LIKE);
}

/*
 * Takes conditions on parts after the first one that is not pinned (nleading) if they determine the bucket.  They are
 * evaluated on each row as well.  Returns how many buckets rows with the same pinned parts can be in.
 */
static uint32
take_salt(const WcRelation *wrel, WcQuals *out, WcKeyCond **found, int nfound, int nleading)
{
	const WcSalt *salt = &wrel->key_layout.salt;
	List	   *conds = list_copy(out->conds);
	bool		pinned = true;

	out->one_bucket = true;
	if (salt->buckets == 0)
		return 1;
	for (int i = 0; i < nfound; i++)
	{
		if (tells_bucket(salt, found[i]) && found[i]->part > nleading)
			conds = lappend(conds, found[i]);
	}
	for (int part = 0; part < wrel->nkeys; part++)
	{
		bool		single;

		if (!salt->parts[part])
			continue;
		pinned &= is_pinned(conds, part, &single);
		out->one_bucket &= single;
	}
	/* a hash needs the contents of all its parts */
	if (pinned || salt->kind == WC_SALT_MINUTE)
		out->conds = conds;
	out->one_bucket |= salt->buckets == 1;
	return pinned ? 1 : salt->buckets;
}

/* --- ORs ------------------------------------------------------------------------- */

/* The first part that neither a clause nor a condition of the arm pins. */
static int
first_unpinned(const WcRelation *wrel, WcKeyCond **found, int nfound, const List *arm)
{
	int			part;
	bool		single;

	for (part = 0; part < wrel->nkeys; part++)
	{
		bool		pinned = is_pinned(arm, part, &single);

		for (int i = 0; i < nfound; i++)
			pinned |= found[i] != NULL && found[i]->part == part && is_pinning(found[i]);
		if (!pinned)
			break;
	}
	return part;
}

/*
 * Takes conditions on parts that the OR makes leading ones, (a = 1 AND b = 2 OR a = 3 AND b = 4) AND c = 5: each arm gets
 * ranges from them as well.  If every arm does, they need not be evaluated on each row.  nleading: the first part that is
 * not pinned outside the OR.
 */
static void
take_behind(PlannerInfo *root, const WcRelation *wrel, WcQuals *out, WcKeyCond **found, List *clauses, int nleading,
			const WcKeyCond *or)
{
	int			fewest = wrel->nkeys;
	int			most = 0;
	int			i = 0;
	ListCell   *lc;

	foreach(lc, or->arms)
	{
		int			reach = first_unpinned(wrel, found, list_length(clauses), lfirst(lc));

		fewest = Min(fewest, reach);
		most = Max(most, reach);
	}
	foreach(lc, clauses)
	{
		WcKeyCond  *cond = found[i++];

		if (fewest <= nleading || cond == NULL || cond->part <= nleading || cond->part > most)
			continue;
		if (cond->exact && cond->part <= fewest)
			out->exact = list_append_unique_ptr(out->exact, lfirst(lc));
		if (list_member_ptr(out->conds, cond))
			continue;
		out->conds = lappend(out->conds, cond);
		out->pushed = lappend(out->pushed, lfirst(lc));
		if (is_pinning(cond))
			out->nranges *= pinned_values(root, cond);
	}
}

/* Takes the ORs; nleading as above. */
static void
take_ors(PlannerInfo *root, const WcRelation *wrel, WcQuals *out, WcKeyCond **found, List *clauses, int nleading)
{
	List	   *common;
	int			i = 0;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		WcKeyCond  *cond = found[i++];

		if (cond != NULL && cond->kind == WC_COND_OR)
			take_behind(root, wrel, out, found, clauses, nleading, cond);
	}
	common = list_copy(out->conds);
	i = 0;
	foreach(lc, clauses)
	{
		WcKeyCond  *cond = found[i++];

		if (cond != NULL && cond->kind == WC_COND_OR)
			take_or(root, wrel, out, common, cond, lfirst(lc));
	}
}

/* Takes the conditions on cells. */
static void
take_cells(WcQuals *out, WcKeyCond **found, List *clauses)
{
	int			i = 0;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		WcKeyCond  *cond = found[i++];

		if (cond == NULL || cond->part > WC_COND_FAMILY)
			continue;
		out->cell_conds = lappend(out->cell_conds, cond);
		if (cond->exact)
		{
			out->exact = lappend(out->exact, lfirst(lc));
			out->unranged = lappend(out->unranged, lfirst(lc));
		}
	}
}

bool
wc_param_is_from_init_plan(const PlannerInfo *root, int param)
{
	for (; root != NULL; root = root->parent_root)
	{
		ListCell   *lc;

		foreach(lc, root->init_plans)
		{
			if (list_member_int(lfirst_node(SubPlan, lc)->setParam, param))
				return true;
		}
	}
	return false;
}

/* Does the expression change with each row of an outer query? */
static bool
is_correlated(Node *node, PlannerInfo *root)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		return !wc_param_is_from_init_plan(root, ((Param *) node)->paramid);
	return expression_tree_walker(node, is_correlated, root);
}

/* Does the expression read cells of rel, and not only row keys? */
static bool
looks_at_cells(const RelOptInfo *rel, const WcRelation *wrel, Node *expr)
{
	Bitmapset  *attrs = NULL;
	int			x = -1;

	pull_varattnos(expr, rel->relid, &attrs);
	while ((x = bms_next_member(attrs, x)) >= 0)
	{
		int			attnum = x + FirstLowInvalidHeapAttributeNumber;

		if (attnum > 0 && !wc_filter_in_key(wrel, attnum - 1))
			return true;
	}
	return false;
}

/*
 * Takes as filters the parts that the engine can decide of clauses that the ranges do not decide.  If the ranges are
 * the same for each row of an outer query, a filter that changes with that row is not taken: the scan keeps the rows
 * (keptrows.h) and filters them, instead of asking for them again.
 */
static void
take_filters(PlannerInfo *root, WcQuals *out, RelOptInfo *rel, WcRelation *wrel, List *clauses)
{
	bool		ranges_change = is_correlated((Node *) wc_key_conds_exprs(out->conds), root);
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		bool		exact;
		Expr	   *filter;
		Expr	   *keys;

		if (list_member_ptr(out->exact, rinfo) || rinfo->pseudoconstant ||
			!restriction_is_securely_promotable(rinfo, rel) || contain_volatile_functions((Node *) rinfo->clause))
			continue;
		filter = wc_filter_push(wrel, rel->relid, (Node *) rinfo->clause, &exact);
		if (filter == NULL || (!ranges_change && is_correlated((Node *) filter, root)))
			continue;
		/* the ranges made from this clause decide as much about the key as this filter */
		if (!exact && list_member_ptr(out->pushed, rinfo) && !looks_at_cells(rel, wrel, (Node *) filter))
			continue;
		keys = list_member_ptr(out->pushed, rinfo) || !looks_at_cells(rel, wrel, (Node *) filter) ? NULL :
			wc_filter_push_keys(wrel, rel->relid, (Node *) rinfo->clause);
		if (keys != NULL)
		{
			/* with this the engine rejects keys without looking at cells */
			out->filters = lappend(out->filters, keys);
			out->filtered = lappend(out->filtered, rinfo);
		}
		out->filters = lappend(out->filters, filter);
		out->filtered = lappend(out->filtered, rinfo);
		if (exact)
		{
			out->exact = lappend(out->exact, rinfo);
			out->unranged = lappend(out->unranged, rinfo);
		}
	}
}

/*
 * Divides the clauses into exact and local ones, each in the order of the clauses; before, exact has what could be exact.
 *
 * A cast in a filter fails in the session if the text is none of the type, and clauses that PostgreSQL evaluates before
 * the cast may exclude the row.  So if any clause is local, those with casts are, too.
 */
static void
divide(RelOptInfo *rel, WcRelation *wrel, WcQuals *out)
{
	List	   *local = list_difference_ptr(out->clauses, out->exact);
	bool		any = list_difference_ptr(local, out->constants) != NIL;
	List	   *exact = NIL;
	ListCell   *lc;

	list_free(local);
	out->local = NIL;
	foreach(lc, out->clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (list_member_ptr(out->exact, rinfo) && !(any && list_member_ptr(out->filtered, rinfo) &&
													wc_member_has_cast(wrel, rel->relid, (Node *) rinfo->clause)))
			exact = lappend(exact, rinfo);
		else
			out->local = lappend(out->local, rinfo);
	}
	out->exact = exact;
}

/* Is the column never NULL?  A qualifier that is no text is NULL with widecol.on_undecodable = 'null'. */
static bool
is_never_null(RelOptInfo *rel, WcRelation *wrel, Node *expr)
{
	int			part;

	if (!wc_match_key(rel, wrel, expr, &part) && !wc_match_cell(rel, wrel, expr, &part))
		return false;
	return part != WC_COND_QUALIFIER || getBaseType(exprType(expr)) == BYTEAOID;
}

/* IS [NOT] NULL of a key or of a cell's column, which is never NULL. */
static bool
tests_key(RelOptInfo *rel, WcRelation *wrel, const RestrictInfo *rinfo, NullTestType type)
{
	const NullTest *test = (const NullTest *) rinfo->clause;

	return IsA(test, NullTest) && test->nulltesttype == type && !test->argisrow && is_never_null(rel, wrel, (Node *) test->arg);
}

void
wc_quals_find(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, List *clauses, WcQuals *out)
{
	List	   *constants = wc_recordtype_clauses(root, rel, wrel, clauses);
	WcKeyCond **found = palloc0(sizeof(WcKeyCond *) * (list_length(clauses) + list_length(constants) + 1));
	int			i = 0;
	int			part = 0;
	uint32		nbuckets;
	ListCell   *lc;

	memset(out, 0, sizeof(*out));
	clauses = list_concat_copy(clauses, constants);
	out->clauses = clauses;
	out->constants = constants;
	out->nranges = 1;
	out->rows = -1;
	foreach(lc, clauses)
	{
		found[i++] = wc_match_clause(root, rel, wrel, lfirst_node(RestrictInfo, lc));
		if (tests_key(rel, wrel, lfirst(lc), IS_NOT_NULL))
			out->exact = lappend(out->exact, lfirst(lc));
		out->never |= tests_key(rel, wrel, lfirst(lc), IS_NULL);
	}

	while (part < wrel->nkeys &&
		   (take_part(root, out, found, clauses, part) || take_gap(wrel, out, found, list_length(clauses), part)))
		part++;
	out->point = wrel->nkeys > 0 && part == wrel->nkeys;
	out->mixed_types = part < wrel->constant_parts;
	nbuckets = take_salt(wrel, out, found, list_length(clauses), part);
	if (take_part(root, out, found, clauses, WC_COND_RAW_KEY))
		out->point = true;
	take_ors(root, wrel, out, found, clauses, part);
	/* a single row is in one bucket, and ranges of raw keys are not split */
	if (!out->point && out->conds != NIL && ((WcKeyCond *) linitial(out->conds))->part != WC_COND_RAW_KEY)
		out->nranges *= nbuckets;

	if (wc_enable_pushdown)
		take_cells(out, found, clauses);
	if (wc_enable_pushdown && wrel->layout == WC_LAYOUT_ROW)
		take_filters(root, out, rel, wrel, clauses);
	divide(rel, wrel, out);
	/* no constants: the rows of the table's record type are known only with the table's size, if at all */
	out->unranged = list_concat_unique_ptr(out->unranged, list_difference_ptr(out->local, constants));
	out->outer_relids = bms_union(pull_varnos(root, (Node *) wc_key_conds_exprs(out->conds)),
								  pull_varnos(root, (Node *) wc_key_conds_exprs(out->cell_conds)));
}

void
wc_quals_unfilter_joins(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, WcQuals *quals)
{
	List	   *filters = quals->filters;
	List	   *filtered = quals->filtered;
	ListCell   *lf;
	ListCell   *lc;

	quals->filters = quals->filtered = NIL;
	forboth(lf, filters, lc, filtered)
	{
		if (bms_is_subset(pull_varnos(root, lfirst(lf)), rel->relids))
		{
			quals->filters = lappend(quals->filters, lfirst(lf));
			quals->filtered = lappend(quals->filtered, lfirst(lc));
			continue;
		}
		quals->exact = list_delete_ptr(quals->exact, lfirst(lc));
	}
	divide(rel, wrel, quals);
}
