/*
 * fdw/scan/explain.c: a scan in words that people know.
 *
 * Start and stop row are shown as the conditions' values: most are known only
 * when the scan runs, and encoded keys are not for people.  Where the ranges are
 * not that simple (row comparisons over parts of mixed order, conditions on
 * parts and on the raw key at once), the conditions themselves are shown.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/explain.h"
#include "foreign/foreign.h"
#include "nodes/makefuncs.h"
#include "nodes/plannodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "fdw/condition/keycond.h"
#include "fdw/condition/like.h"
#include "fdw/condition/qual.h"
#include "fdw/fdw.h"
#include "fdw/plan/mapkeys.h"
#include "fdw/plan/private.h"
#include "fdw/scan/knownranges.h"
#include "fdw/scan/reader.h"
#include "fdw/scan/scan.h"

#define UNKNOWN_COUNT (-1)

/* One end of the ranges. */
typedef struct End
{
	List	   *values;			/* char *, on the first part that is not pinned */
	bool		exclusive;
} End;

/* Over which buckets of a salted key one range behind the salt goes. */
typedef enum Spread
{
	UNSALTED,
	ONE_BUCKET,
	SOME_BUCKETS,				/* known when it runs */
	ALL_BUCKETS
} Spread;

typedef struct Shown
{
	WcRelation *wrel;
	const WcScanPlan *plan;
	List	   *context;		/* for deparsing */
	bool		useprefix;

	List	   *prefix;			/* char *, values of the pinned parts */
	bool		raw;			/* the ends are raw keys */
	End			start;
	End			stop;
	bool		simple;			/* start and stop say it all */
	bool		pinned;			/* the whole key is */
	double		nranges;		/* or UNKNOWN_COUNT */
	Spread		spread;
	bool		empty;			/* no row can satisfy the conditions */
	List	   *ranges;			/* char *, when simple is not and the values are known */
} Shown;

/* --- expressions -------------------------------------------------------------- */

/* Adds the plan nodes above target to *ancestors, nearest first; false: not below plan. */
static bool
find_ancestors(Plan *plan, Plan *target, List **ancestors)
{
	List	   *children = NIL;
	ListCell   *lc;

	if (plan == NULL)
		return false;
	if (plan == target)
		return true;
	if (IsA(plan, Append))
		children = ((Append *) plan)->appendplans;
	else if (IsA(plan, MergeAppend))
		children = ((MergeAppend *) plan)->mergeplans;
	else if (IsA(plan, SubqueryScan))
		children = list_make1(((SubqueryScan *) plan)->subplan);
	else if (IsA(plan, CustomScan))
		children = ((CustomScan *) plan)->custom_plans;
	children = lappend(list_copy(children), plan->lefttree);
	children = lappend(children, plan->righttree);
	foreach(lc, children)
	{
		if (find_ancestors(lfirst(lc), target, ancestors))
		{
			*ancestors = lappend(*ancestors, plan);
			return true;
		}
	}
	return false;
}

static char *
deparse(const Shown *shown, Node *expr)
{
	return deparse_expression(expr, shown->context, shown->useprefix, false);
}

/* How many values an array has; UNKNOWN_COUNT before it is evaluated. */
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
	return UNKNOWN_COUNT;
}

/* The prefix that a LIKE pattern means, as a literal. */
static char *
like_prefix_text(const Shown *shown, Node *pattern)
{
	char	   *s;
	char	   *prefix;
	size_t		len;

	if (!IsA(pattern, Const) || ((Const *) pattern)->constisnull)
		return deparse(shown, pattern);
	s = TextDatumGetCString(((Const *) pattern)->constvalue);
	prefix = palloc(strlen(s) + 1);
	if (wc_like_prefix(s, strlen(s), prefix, &len) == WC_LIKE_EQUAL)
		return quote_literal_cstr(s);
	prefix[len] = '\0';
	return psprintf("%s*", quote_literal_cstr(prefix));
}

static const char *
op_name(WcKeyOp op)
{
	static const char *const names[] = {"=", "<", "<=", ">", ">=", "^@"};

	return names[op];
}

static char *cond_text(const Shown *shown, const WcKeyCond *cond);

/* Of more arms of an OR than these some are left out. */
#define ARMS_SHOWN 6

/* "((a = 1 AND b > 2) OR (a = 3))" */
static char *
or_text(const Shown *shown, const WcKeyCond *or)
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
			appendStringInfo(&s, "%s%s", separator, cond_text(shown, lfirst(la)));
			separator = " AND ";
		}
		appendStringInfoChar(&s, ')');
	}
	appendStringInfoChar(&s, ')');
	return s.data;
}

/* The name of the column that a condition is on. */
static const char *
cond_column(const Shown *shown, int part)
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

/* The condition as in SQL. */
static char *
cond_text(const Shown *shown, const WcKeyCond *cond)
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
		appendStringInfo(&values, "%s%s", i > 0 ? ", " : "", deparse(shown, lfirst(lc)));
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
add_end(End *end, char *value, bool exclusive)
{
	end->exclusive = exclusive && (end->values == NIL || end->exclusive);
	end->values = lappend(end->values, value);
}

/* A range on the part behind the pinned ones, or on the raw key. */
static void
show_range(Shown *shown, const WcKeyCond *cond, bool desc)
{
	Node	   *value = linitial(cond->values);
	bool		greater = cond->op == WC_KEY_GT || cond->op == WC_KEY_GE;
	bool		exclusive = cond->op == WC_KEY_GT || cond->op == WC_KEY_LT;
	char	   *text;

	if (cond->kind == WC_COND_LIKE || cond->op == WC_KEY_PREFIX)
	{
		text = cond->kind == WC_COND_LIKE ? like_prefix_text(shown, value) : psprintf("%s*", deparse(shown, value));
		add_end(&shown->start, text, false);
		add_end(&shown->stop, text, false);
		return;
	}
	text = deparse(shown, value);
	if (cond->op == WC_KEY_EQ)
	{
		add_end(&shown->start, text, false);
		add_end(&shown->stop, text, false);
	}
	else
		add_end(greater != desc ? &shown->start : &shown->stop, text, exclusive);
}

/* A row comparison whose parts all sort one way is one end of a range. */
static void
show_row(Shown *shown, const WcKeyCond *cond)
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
		appendStringInfo(&values, "%s%s", i > 0 ? ", " : "", deparse(shown, list_nth(cond->values, i)));
	}
	add_end(greater != desc ? &shown->start : &shown->stop, values.data,
			cond->op == WC_KEY_GT || cond->op == WC_KEY_LT);
}

/* Is this a part without conditions that the ranges go on behind? */
static bool
is_gap(const Shown *shown, int part)
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

/* Is this part pinned, and to what? */
static bool
show_pinned(Shown *shown, int part)
{
	char	   *value = NULL;
	double		n = UNKNOWN_COUNT;
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
			value = psprintf("ANY (%s)", deparse(shown, linitial(cond->values)));
			n = count_array(linitial(cond->values));
		}
		else
		{
			value = deparse(shown, linitial(cond->values));
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
	shown->nranges = n == UNKNOWN_COUNT || shown->nranges == UNKNOWN_COUNT ? UNKNOWN_COUNT : shown->nranges * n;
	return true;
}

/* How many ranges an OR makes, and whether they are all single rows; `part` is
 * the first that is not pinned besides. */
static void
show_or(Shown *shown, const WcKeyCond *or, int part)
{
	double		nranges = 0;
	bool		pinned = true;
	ListCell   *lc;
	ListCell   *la;

	foreach(lc, or->arms)
	{
		double		n = 1;
		int			parts = part;
		bool		raw = false;

		foreach(la, (List *) lfirst(lc))
		{
			WcKeyCond  *cond = lfirst(la);

			if (cond->kind == WC_COND_ANY)
				n = n == UNKNOWN_COUNT || count_array(linitial(cond->values)) == UNKNOWN_COUNT ? UNKNOWN_COUNT :
					n * count_array(linitial(cond->values));
			if (cond->kind != WC_COND_ANY && (cond->kind != WC_COND_OP || cond->op != WC_KEY_EQ))
				continue;
			raw |= cond->part == WC_COND_RAW_KEY;
			if (cond->part == parts)
				parts++;
		}
		nranges = n == UNKNOWN_COUNT || nranges == UNKNOWN_COUNT ? UNKNOWN_COUNT : nranges + n;
		pinned &= raw || (shown->wrel->nkeys > 0 && parts == shown->wrel->nkeys);
	}
	shown->simple = false;
	shown->pinned |= pinned;
	shown->nranges = nranges == UNKNOWN_COUNT || shown->nranges == UNKNOWN_COUNT ? UNKNOWN_COUNT :
		shown->nranges * nranges;
}

/* Are these one condition on the raw key, or comparisons that bound it? */
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
show_conds(Shown *shown)
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
				add_end(&shown->start, psprintf("ANY (%s)", deparse(shown, linitial(cond->values))), false);
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

/* "(1, 'a') inclusive" */
static char *
end_text(const Shown *shown, const End *end, const char *combine)
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

static char *
scan_text(const Shown *shown)
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
		if (shown->nranges != UNKNOWN_COUNT)
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

/* What the conditions tell of a part that the salt follows from. */
static Spread
part_spread(const Shown *shown, int part)
{
	bool		minute = shown->wrel->key_layout.salt.kind == WC_SALT_MINUTE;
	Spread		spread = is_gap(shown, part) ? SOME_BUCKETS : ALL_BUCKETS;
	ListCell   *lc;

	foreach(lc, shown->plan->conds)
	{
		const WcKeyCond *cond = lfirst(lc);

		if (cond->part == part && cond->kind == WC_COND_OP && cond->op == WC_KEY_EQ)
			return ONE_BUCKET;
		/* of ORs and raw keys who knows */
		if (cond->part == WC_COND_NO_PART || cond->part == WC_COND_RAW_KEY ||
			(cond->part == part && (minute || cond->kind == WC_COND_ANY)))
			spread = SOME_BUCKETS;
	}
	return spread;
}

static void
show_buckets(Shown *shown)
{
	const WcSalt *salt = &shown->wrel->key_layout.salt;
	bool		known = true;

	if (salt->buckets == 0)
		return;
	shown->spread = ONE_BUCKET;
	for (int part = 0; part < shown->wrel->nkeys; part++)
	{
		if (!salt->parts[part])
			continue;
		shown->spread = Max(shown->spread, part_spread(shown, part));
		known &= part < list_length(shown->prefix);
	}
	/* with the parts that make the salt each range has its bucket */
	if (known || shown->pinned || shown->plan->conds == NIL || shown->nranges == UNKNOWN_COUNT)
		return;
	if (shown->spread == ALL_BUCKETS)
		shown->nranges *= salt->buckets;
	else if (shown->spread == SOME_BUCKETS && !shown->raw)
		shown->nranges = UNKNOWN_COUNT;
}

static void
explain_buckets(const Shown *shown, ExplainState *es)
{
	uint32		all = shown->wrel->key_layout.salt.buckets;
	const char *merged = shown->plan->merged ? ", merged" : "";

	switch (shown->spread)
	{
		case UNSALTED:
			return;
		case ONE_BUCKET:
			ExplainPropertyText("Buckets", psprintf("1 of %u%s", all, merged), es);
			return;
		case SOME_BUCKETS:
			ExplainPropertyText("Buckets", psprintf("some of %u%s", all, merged), es);
			return;
		case ALL_BUCKETS:
			ExplainPropertyText("Buckets", psprintf("%u of %u%s", all, all, merged), es);
			return;
	}
}

/* Finds that nothing will be read, and the ranges that start and stop do not tell. */
static void
show_known(Shown *shown)
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

/* --- the callback --------------------------------------------------------------- */

static void
explain_range(const Shown *shown, ExplainState *es)
{
	ListCell   *lc;

	if (shown->plan->conds == NIL)
		return;
	if (!shown->simple)
	{
		List	   *conds = NIL;

		foreach(lc, shown->plan->conds)
			conds = lappend(conds, cond_text(shown, lfirst(lc)));
		ExplainPropertyList("Key Conditions", conds, es);
		if (shown->ranges != NIL)
			ExplainPropertyList("Ranges", shown->ranges, es);
	}
	else if (shown->pinned && shown->raw)
		ExplainPropertyText("Row", psprintf("(%s)", (char *) linitial(shown->start.values)), es);
	else if (shown->pinned)
	{
		StringInfoData s;

		initStringInfo(&s);
		foreach(lc, shown->prefix)
			appendStringInfo(&s, "%s%s", s.len > 0 ? ", " : "(", (char *) lfirst(lc));
		appendStringInfoChar(&s, ')');
		ExplainPropertyText("Row", s.data, es);
	}
	else
	{
		ExplainPropertyText("Start Row", end_text(shown, &shown->start, "greatest"), es);
		ExplainPropertyText("Stop Row", end_text(shown, &shown->stop, "least"), es);
	}
}

static void
explain_cells(const Shown *shown, ExplainState *es)
{
	List	   *conds = NIL;
	ListCell   *lc;

	foreach(lc, shown->plan->cell_conds)
		conds = lappend(conds, cond_text(shown, lfirst(lc)));
	if (conds != NIL)
		ExplainPropertyList("Cell Conditions", conds, es);
}

static void
explain_filter(const Shown *shown, ForeignScanState *node, ExplainState *es)
{
	bool		embedded = wc_client_store_is_embedded(shown->wrel->store);
	WcClientScanStats stats;

	if (shown->plan->filters == NIL)
		return;
	ExplainPropertyText(embedded ? "Engine Filter" : "Session Filter", deparse(shown, (Node *) make_ands_explicit(shown->plan->filters)), es);
	if (es->analyze && wc_scan_state_stats(node, &stats) && node->ss.ps.instrument->nloops > 0)
		ExplainPropertyFloat(embedded ? "Rows Removed by Engine Filter" : "Rows Removed by Session Filter", NULL,
							 (double) stats.rows_filtered / node->ss.ps.instrument->nloops, 0, es);
}

/* The aggregate as in the query: not as a part of one. */
static char *
aggregate_text(const Shown *shown, const Aggref *partial)
{
	Aggref	   *aggref = copyObject(unconstify(Aggref *, partial));

	aggref->aggsplit = AGGSPLIT_SIMPLE;
	return deparse(shown, (Node *) aggref);
}

static void
explain_groups(const Shown *shown, const ForeignScan *fscan, ExplainState *es)
{
	List	   *texts = NIL;
	ListCell   *lc;

	foreach(lc, fscan->fdw_scan_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (IsA(entry->expr, Aggref))
			texts = lappend(texts, aggregate_text(shown, (Aggref *) entry->expr));
	}
	if (texts != NIL)
		ExplainPropertyList("Engine Aggregate", texts, es);
	texts = NIL;
	foreach(lc, shown->plan->groups)
		texts = lappend(texts, deparse(shown, (Node *) list_nth_node(TargetEntry, fscan->fdw_scan_tlist, lfirst_int(lc))->expr));
	if (texts != NIL)
		ExplainPropertyList("Engine Group Key", texts, es);
}

static void
explain_row_number(const Shown *shown, const char *label, Expr *expr, ExplainState *es)
{
	if (expr == NULL)
		return;
	if (IsA(expr, Const))
		ExplainPropertyInteger(label, NULL, DatumGetInt64(((Const *) expr)->constvalue), es);
	else
		ExplainPropertyText(label, deparse(shown, (Node *) expr), es);
}

static void
explain_counters(ForeignScanState *node, ExplainState *es)
{
	WcClientScanStats stats;

	if (!es->analyze || !es->verbose || !wc_scan_state_stats(node, &stats))
		return;
	ExplainPropertyInteger("Rows Read", NULL, stats.rows, es);
	ExplainPropertyInteger("Rows Examined", NULL, stats.rows_examined, es);
	ExplainPropertyInteger("Cells Examined", NULL, stats.cells_examined, es);
	ExplainPropertyInteger("Seeks", NULL, stats.seeks, es);
	ExplainPropertyInteger("Batches", NULL, stats.batches, es);
	ExplainPropertyInteger("Cache Hits", NULL, stats.cache_hits, es);
	ExplainPropertyInteger("Blocks Read", NULL, stats.blocks_read, es);
}

/* As PostgreSQL shows its own blocks: in text, those that are not 0. */
static void
explain_buffers(ForeignScanState *node, ExplainState *es)
{
	WcClientScanStats stats;

	if (!es->analyze || !es->buffers || !wc_scan_state_stats(node, &stats))
		return;
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyInteger("Engine Hit Blocks", NULL, stats.cache_hits, es);
		ExplainPropertyInteger("Engine Read Blocks", NULL, stats.blocks_read, es);
	}
	else if (stats.cache_hits > 0 || stats.blocks_read > 0)
	{
		StringInfoData s;

		initStringInfo(&s);
		if (stats.cache_hits > 0)
			appendStringInfo(&s, " hit=" UINT64_FORMAT, stats.cache_hits);
		if (stats.blocks_read > 0)
			appendStringInfo(&s, " read=" UINT64_FORMAT, stats.blocks_read);
		ExplainPropertyText("Engine Blocks", s.data + 1, es);
	}
}

/* Members of maps that only the run of the query names are shown as its expressions. */
static List *
columns_read(const Shown *shown)
{
	List	   *names = NIL;
	List	   *known = NIL;
	int			n = 0;
	Datum		values[WC_MAP_KEYS_MAX];
	bool		nulls[WC_MAP_KEYS_MAX];
	ListCell   *lc;
	ListCell   *lk;

	foreach(lc, shown->plan->map_keys)
	{
		WcMapKeys  *map = lfirst(lc);
		WcMapKeys	constant = {.att = map->att};

		n = 0;
		if (!bms_is_member(map->att, shown->plan->attrs))
			continue;			/* only rechecks read it */
		foreach(lk, map->keys)
		{
			Node	   *key = lfirst(lk);

			if (IsA(key, Const))
			{
				constant.keys = lappend(constant.keys, key);
				values[n] = ((Const *) key)->constvalue;
				nulls[n++] = ((Const *) key)->constisnull;
			}
			else
				names = lappend(names, psprintf("%s:(%s)", shown->wrel->columns[map->att].family_name,
												deparse(shown, key)));
		}
		known = list_concat(known, wc_map_keys_members(list_make1(&constant), values, nulls));
	}
	return list_concat(wc_reader_column_names(wc_reader_create(shown->wrel, shown->plan->attrs, NULL, known, NIL)), names);
}

void
widecolExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *fscan = castNode(ForeignScan, node->ss.ps.plan);
	WcRelation *wrel = wc_relation_open(node->ss.ss_currentRelation);
	WcScanPlan	plan;
	Shown		shown = {0};
	List	   *ancestors = NIL;
	List	   *columns;

	wc_scan_plan_decode(fscan->fdw_private, fscan->fdw_exprs, &plan);
	(void) find_ancestors(es->pstmt->planTree, (Plan *) fscan, &ancestors);
	shown.wrel = wrel;
	shown.plan = &plan;
	shown.context = set_deparse_context_plan(es->deparse_cxt, (Plan *) fscan, ancestors);
	shown.useprefix = list_length(es->rtable) > 1 || es->verbose;
	shown.nranges = 1;
	show_conds(&shown);
	show_buckets(&shown);
	show_known(&shown);

	if (!wc_client_store_is_embedded(wrel->store))
		ExplainPropertyText("Widecol Server", GetForeignServer(GetForeignTable(wrel->relid)->serverid)->servername, es);
	ExplainPropertyText("Widecol Table", wc_client_table_fullname(wrel->desc), es);
	ExplainPropertyText("Scan", scan_text(&shown), es);
	if (plan.ordered && !shown.empty)
		ExplainPropertyText("Order", plan.reversed ? "row key, reverse" : "row key", es);
	explain_range(&shown, es);
	explain_buckets(&shown, es);
	explain_cells(&shown, es);
	explain_filter(&shown, node, es);
	explain_groups(&shown, fscan, es);

	/* rows of a direct modification are not read, but where that turns out to be needed */
	columns = fscan->operation == CMD_SELECT ? columns_read(&shown) : NIL;
	if (columns != NIL)
		ExplainPropertyList("Columns", columns, es);
	if (plan.row_limit > 0)
		ExplainPropertyInteger("Row Limit", NULL, plan.row_limit, es);
	explain_row_number(&shown, "Row Limit", plan.limit, es);
	explain_row_number(&shown, "Row Offset", plan.offset, es);
	if (wc_client_read_timestamp() != WC_TS_LATEST)
		ExplainPropertyText("As Of", GetConfigOption("widecol.read_timestamp", false, false), es);
	explain_counters(node, es);
	explain_buffers(node, es);
	wc_relation_close(wrel);
}
