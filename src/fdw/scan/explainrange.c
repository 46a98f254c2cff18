/*
 * fdw/scan/explainrange.c: the ranges of a scan, for EXPLAIN.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/plannodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "fdw/condition/keycond.h"
#include "fdw/condition/like.h"
#include "fdw/condition/qual.h"
#include "fdw/scan/explainrange.h"
#include "fdw/scan/knownranges.h"

/* --- expressions -------------------------------------------------------------- */

char *
wc_explained_deparse(const WcExplained *shown, Node *expr)
{
	return deparse_expression(expr, shown->context, shown->useprefix, false);
}

/* The number of values in an array; WC_UNKNOWN_COUNT if the number is known only at run time. */
static double
count_array(Node *expr)
{
	if (IsA(expr, Const) && !((Const *) expr)->constisnull)
	{
		ArrayType  *array = DatumGetArrayTypeP(((Const *) expr)->constvalue);

		return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	}
	if (IsA(expr, ArrayExpr) && !((ArrayExpr *) expr)->multidims)
		return list_length(((ArrayExpr *) expr)->elements);
	return WC_UNKNOWN_COUNT;
}

/* The prefix of a LIKE pattern, or the text if it has no wildcard, as a literal. */
static char *
like_prefix_text(const WcExplained *shown, Node *pattern)
{
	char	   *s;
	char	   *prefix;
	size_t		len;
	WcLike		like;

	if (!IsA(pattern, Const) || ((Const *) pattern)->constisnull)
		return wc_explained_deparse(shown, pattern);
	s = TextDatumGetCString(((Const *) pattern)->constvalue);
	prefix = palloc(strlen(s) + 1);
	like = wc_like_prefix(s, strlen(s), prefix, &len);
	prefix[len] = '\0';
	return psprintf(like == WC_LIKE_EQUAL ? "%s" : "%s*", quote_literal_cstr(prefix));
}

static const char *
op_name(WcKeyOp op)
{
	static const char *const names[] = {"=", "<", "<=", ">", ">=", "^@"};

	return names[op];
}

/* Of an OR with more arms, some arms are left out. */
#define ARMS_SHOWN 6

/* "((a = 1 AND b > 2) OR (a = 3))" */
static char *
or_text(const WcExplained *shown, const WcKeyCond *or)
{
	StringInfoData s;
	ListCell   *lc;
	ListCell   *la;

	initStringInfo(&s);
	foreach(lc, or->arms)
	{
		const char *separator = s.len > 0 ? " OR (" : "((";
		int			narms = list_length(or->arms);
		int			arm = foreach_current_index(lc);

		if (narms > ARMS_SHOWN && arm == ARMS_SHOWN / 2)
			appendStringInfo(&s, " OR ... %d more", narms - ARMS_SHOWN / 2 - 1);
		if (narms > ARMS_SHOWN && arm >= ARMS_SHOWN / 2 && arm < narms - 1)
			continue;
		foreach(la, (List *) lfirst(lc))
		{
			appendStringInfo(&s, "%s%s", separator, wc_explained_cond(shown, lfirst(la)));
			separator = " AND ";
		}
		appendStringInfoChar(&s, ')');
	}
	appendStringInfoChar(&s, ')');
	return s.data;
}

/* The name of a condition's column. */
static const char *
cond_column(const WcExplained *shown, int part)
{
	switch (part)
	{
		case WC_COND_RAW_KEY:
			return shown->wrel->raw_key >= 0 ? NameStr(shown->wrel->columns[shown->wrel->raw_key].name) : "row";
		case WC_COND_FAMILY:
			return "family";
		case WC_COND_QUALIFIER:
			return "qualifier";
		case WC_COND_TS:
			return "ts";
		default:
			return NameStr(shown->wrel->columns[shown->wrel->keys[part]].name);
	}
}

char *
wc_explained_cond(const WcExplained *shown, const WcKeyCond *cond)
{
	StringInfoData columns;
	StringInfoData values;
	int			i = 0;
	ListCell   *lc;

	if (cond->kind == WC_COND_OR)
		return or_text(shown, cond);
	initStringInfo(&columns);
	initStringInfo(&values);
	foreach(lc, cond->values)
	{
		const char *name = cond_column(shown, cond->part + i);

		appendStringInfo(&columns, "%s%s", i > 0 ? ", " : "", quote_identifier(name));
		appendStringInfo(&values, "%s%s", i > 0 ? ", " : "", wc_explained_deparse(shown, lfirst(lc)));
		i++;
	}
	switch (cond->kind)
	{
		case WC_COND_ANY:
			return psprintf("%s = ANY (%s)", columns.data, values.data);
		case WC_COND_LIKE:
			return psprintf("%s ~~ %s", columns.data, values.data);
		case WC_COND_ROW:
			return psprintf("(%s) %s (%s)", columns.data, op_name(cond->op), values.data);
		default:
			return psprintf("%s %s %s", columns.data, op_name(cond->op), values.data);
	}
}

/* --- start and stop ----------------------------------------------------------- */

static void
add_end(WcExplainedEnd *end, char *value, bool exclusive)
{
	end->exclusive = exclusive && (end->values == NIL || end->exclusive);
	end->values = lappend(end->values, value);
}

/* Shows a range on the part behind the pinned parts, or on the raw key. */
static void
show_range(WcExplained *shown, const WcKeyCond *cond, bool desc)
{
	Node	   *value = linitial(cond->values);
	bool		greater = cond->op == WC_KEY_GT || cond->op == WC_KEY_GE;
	bool		exclusive = cond->op == WC_KEY_GT || cond->op == WC_KEY_LT;
	char	   *text;

	if (cond->kind == WC_COND_LIKE || cond->op == WC_KEY_PREFIX)
	{
		text = cond->kind == WC_COND_LIKE ? like_prefix_text(shown, value) : psprintf("%s*", wc_explained_deparse(shown, value));
		add_end(&shown->start, text, false);
		add_end(&shown->stop, text, false);
		return;
	}
	text = wc_explained_deparse(shown, value);
	if (cond->op == WC_KEY_EQ)
	{
		add_end(&shown->start, text, false);
		add_end(&shown->stop, text, false);
	}
	else
		add_end(greater != desc ? &shown->start : &shown->stop, text, exclusive);
}

/* Shows a row comparison as one end of the ranges, if all its parts have the same sort order. */
static void
show_row(WcExplained *shown, const WcKeyCond *cond)
{
	bool		desc = shown->wrel->key_layout.parts[cond->part].desc;
	bool		greater = cond->op == WC_KEY_GT || cond->op == WC_KEY_GE;
	StringInfoData values;

	initStringInfo(&values);
	for (int i = 0; i < list_length(cond->values); i++)
	{
		if (shown->wrel->key_layout.parts[cond->part + i].desc != desc)
		{
			shown->simple = false;
			return;
		}
		appendStringInfo(&values, "%s%s", i > 0 ? ", " : "", wc_explained_deparse(shown, list_nth(cond->values, i)));
	}
	add_end(greater != desc ? &shown->start : &shown->stop, values.data,
			cond->op == WC_KEY_GT || cond->op == WC_KEY_LT);
}

/* Multiplies numbers of ranges. */
static double
times(double a, double b)
{
	return a == WC_UNKNOWN_COUNT || b == WC_UNKNOWN_COUNT ? WC_UNKNOWN_COUNT : a * b;
}

/* Has the part no conditions, and do the ranges use parts behind it? */
static bool
is_gap(const WcExplained *shown, int part)
{
	bool		behind = false;
	ListCell   *lc;

	if (!wc_part_is_small(shown->wrel, part))
		return false;
	foreach(lc, shown->plan->conds)
	{
		const WcKeyCond *cond = lfirst(lc);

		if (cond->part == part)
			return false;
		behind |= cond->part == part + 1;
	}
	return behind;
}

/* Shows the value of a pinned part; false: the part is not pinned. */
static bool
show_pinned(WcExplained *shown, int part)
{
	char	   *value = NULL;
	double		n = WC_UNKNOWN_COUNT;
	ListCell   *lc;

	foreach(lc, shown->plan->conds)
	{
		WcKeyCond  *cond = lfirst(lc);

		if (cond->part != part)
			continue;
		if (cond->kind == WC_COND_ROW || (cond->kind == WC_COND_OP && cond->op != WC_KEY_EQ) ||
			cond->kind == WC_COND_LIKE || value != NULL)
			shown->simple = false;
		else if (cond->kind == WC_COND_ANY)
		{
			value = psprintf("ANY (%s)", wc_explained_deparse(shown, linitial(cond->values)));
			n = count_array(linitial(cond->values));
		}
		else
		{
			value = wc_explained_deparse(shown, linitial(cond->values));
			n = 1;
		}
	}
	if (value == NULL && is_gap(shown, part))
	{
		value = pstrdup("ANY (false, true)");
		n = 2;
	}
	if (value == NULL)
	{
		shown->simple = true;
		return false;
	}
	shown->prefix = lappend(shown->prefix, value);
	shown->nranges = times(shown->nranges, n);
	return true;
}

/* Is the part pinned outside of ORs?  If so, multiplies *n by the number of its values. */
static bool
pins(const WcExplained *shown, int part, double *n)
{
	ListCell   *lc;

	foreach(lc, shown->plan->conds)
	{
		const WcKeyCond *cond = lfirst(lc);

		if (cond->part != part || (cond->kind != WC_COND_ANY && (cond->kind != WC_COND_OP || cond->op != WC_KEY_EQ)))
			continue;
		if (cond->kind == WC_COND_ANY)
			*n = times(*n, count_array(linitial(cond->values)));
		return true;
	}
	return false;
}

/* Counts the ranges of one arm of an OR; part: the first part that is not pinned outside the OR.  Returns whether all of
 * them are single rows. */
static bool
show_arm(const WcExplained *shown, const List *arm, int part, double *n)
{
	bool		raw = false;
	ListCell   *lc;

	*n = 1;
	foreach(lc, arm)
	{
		const WcKeyCond *cond = lfirst(lc);

		if (cond->kind == WC_COND_ANY)
			*n = times(*n, count_array(linitial(cond->values)));
		if (cond->kind != WC_COND_ANY && (cond->kind != WC_COND_OP || cond->op != WC_KEY_EQ))
			continue;
		raw |= cond->part == WC_COND_RAW_KEY;
		if (cond->part != part)
			continue;
		do
			part++;
		while (pins(shown, part, n));
	}
	return raw || (shown->wrel->nkeys > 0 && part == shown->wrel->nkeys);
}

/* Counts the ranges of an OR, and finds out whether all of them are single rows; part as above. */
static void
show_or(WcExplained *shown, const WcKeyCond *or, int part)
{
	double		nranges = 0;
	bool		pinned = true;
	ListCell   *lc;

	foreach(lc, or->arms)
	{
		double		n;

		pinned &= show_arm(shown, lfirst(lc), part, &n);
		nranges = n == WC_UNKNOWN_COUNT || nranges == WC_UNKNOWN_COUNT ? WC_UNKNOWN_COUNT : nranges + n;
	}
	shown->simple = false;
	shown->pinned |= pinned;
	shown->nranges = times(shown->nranges, nranges);
}

/* Are these conditions one condition on the raw key, or comparisons that bound the raw key? */
static bool
only_raw_ranges(const List *conds)
{
	ListCell   *lc;

	foreach(lc, conds)
	{
		const WcKeyCond *cond = lfirst(lc);

		if (list_length(conds) > 1 &&
			(cond->part != WC_COND_RAW_KEY || cond->kind != WC_COND_OP || cond->op == WC_KEY_EQ || cond->op == WC_KEY_PREFIX))
			return false;
	}
	return true;
}

static void
show_conds(WcExplained *shown)
{
	int			part = 0;
	bool		all_simple = true;
	ListCell   *lc;

	shown->simple = true;
	while (part < shown->wrel->nkeys && show_pinned(shown, part))
	{
		all_simple &= shown->simple;
		shown->simple = true;
		part++;
	}
	shown->simple = all_simple;
	shown->pinned = shown->wrel->nkeys > 0 && part == shown->wrel->nkeys;
	foreach(lc, shown->plan->conds)
	{
		WcKeyCond  *cond = lfirst(lc);

		if (cond->kind == WC_COND_OR)
			show_or(shown, cond, part);
		else if (cond->part == WC_COND_RAW_KEY)
		{
			if (part > 0 || !only_raw_ranges(shown->plan->conds))
				shown->simple = false;
			if (cond->kind == WC_COND_ANY || cond->op == WC_KEY_EQ)
			{
				shown->pinned = true;
				if (cond->kind == WC_COND_ANY)
					shown->nranges = count_array(linitial(cond->values));
			}
			shown->raw = true;
			if (cond->kind == WC_COND_ANY)
				add_end(&shown->start, psprintf("ANY (%s)", wc_explained_deparse(shown, linitial(cond->values))), false);
			else
				show_range(shown, cond, false);
		}
		else if (cond->part == part && cond->kind == WC_COND_ROW)
			show_row(shown, cond);
		else if (cond->part == part)
		{
			if (shown->wrel->columns[shown->wrel->keys[part]].codec.order != WC_ORDER_BYTES &&
				cond->kind == WC_COND_OP && cond->op != WC_KEY_PREFIX)
				shown->simple = false;
			else
				show_range(shown, cond, shown->wrel->key_layout.parts[part].desc);
		}
	}
}

char *
wc_explained_end(const WcExplained *shown, const WcExplainedEnd *end, const char *combine)
{
	StringInfoData s;
	ListCell   *lc;
	const char *separator = "";

	if (shown->prefix == NIL && end->values == NIL)
		return pstrdup("unbounded");
	initStringInfo(&s);
	appendStringInfoChar(&s, '(');
	foreach(lc, shown->prefix)
	{
		appendStringInfo(&s, "%s%s", separator, (char *) lfirst(lc));
		separator = ", ";
	}
	if (list_length(end->values) == 1)
		appendStringInfo(&s, "%s%s", separator, (char *) linitial(end->values));
	else if (end->values != NIL)
	{
		appendStringInfo(&s, "%s%s(", separator, combine);
		separator = "";
		foreach(lc, end->values)
		{
			appendStringInfo(&s, "%s%s", separator, (char *) lfirst(lc));
			separator = ", ";
		}
		appendStringInfoChar(&s, ')');
	}
	appendStringInfo(&s, ") %s", end->exclusive ? "exclusive" : "inclusive");
	return s.data;
}

char *
wc_explained_scan(const WcExplained *shown)
{
	StringInfoData s;

	initStringInfo(&s);
	if (shown->empty)
		return pstrdup("EMPTY SCAN");
	if (shown->plan->conds == NIL)
		appendStringInfoString(&s, "FULL SCAN");
	else if (shown->nranges == 1)
		appendStringInfoString(&s, shown->pinned ? "POINT LOOKUP" : "RANGE SCAN");
	else
	{
		appendStringInfoString(&s, shown->pinned ? "POINT LOOKUP ON" : "SKIP SCAN ON");
		if (shown->nranges != WC_UNKNOWN_COUNT)
			appendStringInfo(&s, " %.0f", shown->nranges);
		appendStringInfoString(&s, shown->pinned ? " KEYS" : " RANGES");
	}
	if (shown->plan->reversed)
		appendStringInfoString(&s, " REVERSE");
	if (shown->plan->lookahead >= 0)
		appendStringInfoString(&s, ", BATCHED");
	return s.data;
}

/* --- buckets ------------------------------------------------------------------ */

/* The buckets that the conditions on one part of the salt leave. */
static WcSpread
part_spread(const WcExplained *shown, int part)
{
	bool		minute = shown->wrel->key_layout.salt.kind == WC_SALT_MINUTE;
	WcSpread		spread = is_gap(shown, part) ? WC_SOME_BUCKETS : WC_ALL_BUCKETS;
	ListCell   *lc;

	foreach(lc, shown->plan->conds)
	{
		const WcKeyCond *cond = lfirst(lc);

		if (cond->part == part && cond->kind == WC_COND_OP && cond->op == WC_KEY_EQ)
			return WC_ONE_BUCKET;
		/* the buckets of ORs and raw keys are unknown */
		if (cond->part == WC_COND_NO_PART || cond->part == WC_COND_RAW_KEY ||
			(cond->part == part && (minute || cond->kind == WC_COND_ANY)))
			spread = WC_SOME_BUCKETS;
	}
	return spread;
}

static void
show_buckets(WcExplained *shown)
{
	const WcSalt *salt = &shown->wrel->key_layout.salt;
	bool		known = true;

	if (salt->buckets == 0)
		return;
	shown->spread = WC_ONE_BUCKET;
	for (int part = 0; part < shown->wrel->nkeys; part++)
	{
		if (!salt->parts[part])
			continue;
		shown->spread = Max(shown->spread, part_spread(shown, part));
		known &= part < list_length(shown->prefix);
	}
	/* if all parts of the salt are pinned, each range is in one bucket */
	if (known || shown->pinned || shown->plan->conds == NIL || shown->nranges == WC_UNKNOWN_COUNT)
		return;
	if (shown->spread == WC_ALL_BUCKETS)
		shown->nranges *= salt->buckets;
	else if (shown->spread == WC_SOME_BUCKETS && !shown->raw)
		shown->nranges = WC_UNKNOWN_COUNT;
}

/* Finds out whether nothing will be read, and the ranges that start and stop do not describe. */
static void
show_known(WcExplained *shown)
{
	WcKnownRanges known;

	shown->empty = shown->plan->never;
	if (shown->plan->conds == NIL || !wc_known_ranges(shown->wrel, shown->plan, &known))
		return;
	shown->empty |= known.empty;
	if (shown->simple)
		return;
	shown->ranges = known.texts;
	if (!shown->plan->merged && known.nranges > 0)
		shown->nranges = known.nranges;
}

void
wc_explained_find(WcExplained *shown)
{
	shown->nranges = 1;
	show_conds(shown);
	show_buckets(shown);
	show_known(shown);
}
