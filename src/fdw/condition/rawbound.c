/*
 * fdw/condition/rawbound.c: conditions on the whole key, as bytes.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "compat.h"
#include "base/limits.h"
#include "fdw/condition/like.h"
#include "fdw/condition/rawbound.h"

static WcSlice
raw_content(WcArena *arena, Oid type, Datum value)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	WcSlice		s = wc_slice(VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v));

	if (type != BYTEAOID)
		s = wc_text_to_utf8((const char *) s.data, s.len);
	return wc_rangeset_keep(arena, s);
}

static void
add_raw_point(WcRangeSet *set, WcSlice row)
{
	WcRange		range = {row, row, true, true};

	if (row.len > 0 && row.len <= WC_ROW_MAX)
		wc_rangeset_add(set, &range);
}

/* Adds the rows that satisfy "row op content". */
static void
add_raw_op(WcArena *arena, WcRangeSet *set, WcKeyOp op, WcSlice content)
{
	WcRange		range = {{NULL, 0}, {NULL, 0}, true, true};
	bool		cut = content.len > WC_ROW_MAX;

	if (op == WC_KEY_EQ)
	{
		add_raw_point(set, content);
		return;
	}
	if (op == WC_KEY_PREFIX)
	{
		if (cut)
			return;
		if (!wc_range_of_prefix(arena, content, &range))
			wc_raise_no_memory();
		wc_rangeset_add(set, &range);
		return;
	}
	/* no row key is longer than WC_ROW_MAX, so longer content lies directly after the row that it is cut to */
	if (cut)
		content.len = WC_ROW_MAX;
	if (op == WC_KEY_GT || op == WC_KEY_GE)
	{
		range.start = content;
		range.start_inclusive = content.len == 0 || (op == WC_KEY_GE && !cut);
	}
	else
	{
		/* no row key is empty */
		if (content.len == 0)
			return;
		range.stop = content;
		range.stop_inclusive = op == WC_KEY_LE || cut;
	}
	wc_rangeset_add(set, &range);
}

bool
wc_rawbound_apply(const WcKeyCond *cond, Datum value, bool isnull, WcArena *arena, WcRangeSet *set)
{
	WcRangeSet	own = {NULL, 0, 0};
	Oid			type = linitial_oid(cond->types);
	WcKeyOp		op = cond->op;
	bool		exact = true;

	if (isnull)
	{
		set->n = 0;				/* the operators are strict */
		return true;
	}
	if (cond->kind == WC_COND_ANY)
	{
		Datum	   *elems;
		bool	   *nulls;
		int			nelems;

		deconstruct_array(DatumGetArrayTypeP(value), ARR_ELEMTYPE(DatumGetArrayTypeP(value)), -1, false, TYPALIGN_INT,
						  &elems, &nulls, &nelems);
		if (nelems > WC_KEY_RANGES_MAX)
			return false;
		for (int i = 0; i < nelems; i++)
		{
			if (!nulls[i])
				add_raw_point(&own, raw_content(arena, type, elems[i]));
		}
	}
	else
	{
		if (cond->kind == WC_COND_LIKE)
			value = wc_like_value(value, &op, &exact);
		add_raw_op(arena, &own, op, raw_content(arena, type, value));
	}
	wc_rangeset_intersect(arena, set, &own);
	return exact;
}
