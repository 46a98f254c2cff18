/*
 * fdw/scan/knownranges.c: the ranges of a scan whose conditions have known values, for EXPLAIN.
 */
#include "postgres.h"

#include "nodes/primnodes.h"
#include "utils/builtins.h"

#include "fdw/condition/bound.h"
#include "fdw/scan/knownranges.h"

/* Of more ranges than this, some are left out. */
#define RANGES_SHOWN 6

/* '\x80000001' */
static char *
row_text(WcSlice row)
{
	char	   *text = palloc(row.len * 2 + 5);

	memcpy(text, "'\\x", 3);
	if (row.len > 0)
		hex_encode((const char *) row.data, row.len, text + 3);
	memcpy(text + 3 + row.len * 2, "'", 2);
	return text;
}

/* A row, or ['from', 'to') with brackets as for PostgreSQL's ranges. */
static char *
range_text(const WcRange *range)
{
	if (range->start.len > 0 && range->start_inclusive && range->stop_inclusive && wc_slice_eq(range->start, range->stop))
		return row_text(range->start);
	return psprintf("%s%s, %s%s",
					range->start.len > 0 && range->start_inclusive ? "[" : "(",
					range->start.len > 0 ? row_text(range->start) : "unbounded",
					range->stop.len > 0 ? row_text(range->stop) : "unbounded",
					range->stop.len > 0 && range->stop_inclusive ? "]" : ")");
}

static bool
known_values(const List *exprs, Datum *values, bool *nulls)
{
	int			i = 0;
	ListCell   *lc;

	foreach(lc, exprs)
	{
		const Const *value = lfirst(lc);

		if (!IsA(value, Const))
			return false;
		values[i] = value->constvalue;
		nulls[i++] = value->constisnull;
	}
	return true;
}

static List *
texts_of(const WcBounds *bounds)
{
	List	   *texts = NIL;

	for (uint32 i = 0; i < bounds->nranges; i++)
	{
		if (bounds->nranges > RANGES_SHOWN && i == RANGES_SHOWN / 2)
		{
			texts = lappend(texts, psprintf("... %u more", bounds->nranges - RANGES_SHOWN / 2 - 1));
			i = bounds->nranges - 1;
		}
		texts = lappend(texts, range_text(&bounds->ranges[i]));
	}
	return texts;
}

bool
wc_known_ranges(WcRelation *wrel, const WcScanPlan *plan, WcKnownRanges *out)
{
	List	   *exprs = wc_key_conds_exprs(plan->conds);
	Datum	   *values = palloc(sizeof(Datum) * (list_length(exprs) + 1));
	bool	   *nulls = palloc(sizeof(bool) * (list_length(exprs) + 1));
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		scratch = WC_BUF_INIT;
	WcBounds	bounds;

	memset(out, 0, sizeof(*out));
	if (!known_values(exprs, values, nulls))
		return false;
	PG_TRY();
	{
		wc_bounds_compute(wrel, plan->conds, values, nulls, &arena, &scratch, &bounds);
		out->empty = bounds.empty;
		out->nranges = bounds.nranges;
		out->texts = texts_of(&bounds);
	}
	PG_FINALLY();
	{
		wc_arena_free(&arena);
		wc_buf_free(&scratch);
	}
	PG_END_TRY();
	return true;
}
