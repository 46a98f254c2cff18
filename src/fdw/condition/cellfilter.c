/*
 * fdw/condition/cellfilter.c: columns and timestamps of a Scan from conditions on cells (layout 'cell') and their
 * current values.
 *
 * Families are few: each family is compared with each condition.  Qualifiers are an interval or, if there are = or IN,
 * single qualifiers of it.  Timestamps are an interval.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/limits.h"
#include "fdw/condition/cellfilter.h"
#include "fdw/condition/like.h"

typedef struct Filter
{
	const WcRelation *wrel;
	WcArena    *arena;
	bool	   *families;		/* [i]: descriptor's family i is wanted */

	bool		points;			/* only the qualifiers in point */
	uint32		npoints;
	WcSlice    *point;			/* ascending, distinct */
	WcSlice		start;			/* inclusive */
	WcSlice		stop;			/* exclusive */
	bool		stopped;		/* there is a stop */
	WcCellFilter *out;
} Filter;

/* --- values -------------------------------------------------------------------- */

/* A copy, followed by a zero byte that its length does not count. */
static WcSlice
keep(Filter *f, WcSlice s)
{
	uint8_t    *copy = wc_arena_alloc(f->arena, s.len + 1);

	if (copy == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed on a condition of %zu bytes.", s.len)));
	if (s.len > 0)
		memcpy(copy, s.data, s.len);
	copy[s.len] = 0;
	return wc_slice(copy, s.len);
}

static WcSlice
bytes_of(Filter *f, Oid type, Datum value)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	WcSlice		s = wc_slice(VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v));

	if (type != BYTEAOID)
		s = wc_text_to_utf8((const char *) s.data, s.len);
	return keep(f, s);
}

static void
array_elements(Datum array, Datum **elems, bool **nulls, int *n)
{
	ArrayType  *a = DatumGetArrayTypeP(array);
	int16		len;
	bool		byval;
	char		align;

	get_typlenbyvalalign(ARR_ELEMTYPE(a), &len, &byval, &align);
	deconstruct_array(a, ARR_ELEMTYPE(a), len, byval, align, elems, nulls, n);
}

/* --- families ------------------------------------------------------------------ */

static bool
satisfies(WcSlice name, WcKeyOp op, WcSlice value)
{
	int			c = wc_slice_cmp(name, value);

	switch (op)
	{
		case WC_KEY_EQ:
			return c == 0;
		case WC_KEY_LT:
			return c < 0;
		case WC_KEY_LE:
			return c <= 0;
		case WC_KEY_GT:
			return c > 0;
		case WC_KEY_GE:
			return c >= 0;
		case WC_KEY_PREFIX:
			return wc_slice_starts_with(name, value);
	}
	return true;
}

/* Keeps the families for which "family op value" is true with one of the values. */
static void
filter_families(Filter *f, WcKeyOp op, const WcSlice *values, int nvalues)
{
	const WcTableDesc *desc = f->wrel->desc;

	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		bool		found = false;

		for (int k = 0; k < nvalues && !found; k++)
			found = satisfies(desc->families[i].name, op, values[k]);
		f->families[i] &= found;
	}
}

/* --- qualifiers ------------------------------------------------------------------ */

static void
raise_start(Filter *f, WcSlice start)
{
	if (start.len > WC_QUALIFIER_MAX)
	{
		/* no qualifier is that long, so those after start are also after start cut to the limit */
		f->out->exact = false;
		start.len = WC_QUALIFIER_MAX;
	}
	if (wc_slice_cmp(start, f->start) > 0)
		f->start = start;
}

static void
lower_stop(Filter *f, WcSlice stop)
{
	if (stop.len > WC_QUALIFIER_MAX)
	{
		f->out->exact = false;
		return;
	}
	if (!f->stopped || wc_slice_cmp(stop, f->stop) < 0)
		f->stop = stop;
	f->stopped = true;
}

static void
pin_qualifier(Filter *f, WcSlice *values, int nvalues)
{
	uint32		n = 0;

	qsort(values, nvalues, sizeof(WcSlice), wc_slice_compare);
	for (int i = 0; i < nvalues; i++)
	{
		bool		wanted = values[i].len <= WC_QUALIFIER_MAX &&
			(n == 0 || !wc_slice_eq(values[n - 1], values[i]));

		if (wanted && f->points)
			wanted = bsearch(&values[i], f->point, f->npoints, sizeof(WcSlice), wc_slice_compare) != NULL;
		if (wanted)
			values[n++] = values[i];
	}
	f->points = true;
	f->point = values;
	f->npoints = n;
}

static void
filter_qualifier(Filter *f, WcKeyOp op, WcSlice *values, int nvalues)
{
	WcSlice		value = nvalues > 0 ? values[0] : wc_slice(NULL, 0);
	WcSlice		behind = wc_slice(value.data, value.len + 1);	/* keep() has written a 00 there */
	WcRange		range;

	switch (op)
	{
		case WC_KEY_EQ:
			pin_qualifier(f, values, nvalues);
			break;
		case WC_KEY_LT:
			lower_stop(f, value);
			break;
		case WC_KEY_LE:
			lower_stop(f, behind);
			break;
		case WC_KEY_GT:
			raise_start(f, behind);
			break;
		case WC_KEY_GE:
			raise_start(f, value);
			break;
		case WC_KEY_PREFIX:
			if (!wc_range_of_prefix(f->arena, value, &range))
				wc_raise_no_memory();
			raise_start(f, value);
			if (range.stop.len > 0)
				lower_stop(f, range.stop);
			break;
	}
}

/* --- timestamps ------------------------------------------------------------------ */

static void
raise_ts(WcCellFilter *out, int64 ts)
{
	out->ts_min = Max(out->ts_min, ts);
}

/* Excludes timestamps greater than ts. */
static void
lower_ts(WcCellFilter *out, int64 ts)
{
	/* no cell has a timestamp greater than WC_TS_LATEST - 1 */
	if (ts < WC_TS_LATEST - 1)
		out->ts_max = Min(out->ts_max, Max(ts + 1, 0));
}

static void
filter_ts(Filter *f, WcKeyOp op, Oid type, const Datum *values, int nvalues)
{
	WcCellFilter *out = f->out;
	int64		least = PG_INT64_MAX;
	int64		greatest = PG_INT64_MIN;

	for (int i = 0; i < nvalues; i++)
	{
		int64		ts = wc_integer_of(type, values[i]);

		least = Min(least, ts);
		greatest = Max(greatest, ts);
	}
	switch (op)
	{
		case WC_KEY_EQ:
			raise_ts(out, least);
			lower_ts(out, greatest);
			out->empty |= nvalues == 0;
			out->exact &= least >= greatest;
			break;
		case WC_KEY_LT:
			out->empty |= least <= 0;
			lower_ts(out, Max(least, 1) - 1);
			break;
		case WC_KEY_LE:
			out->empty |= least < 0;
			lower_ts(out, least);
			break;
		case WC_KEY_GT:
			out->empty |= least == PG_INT64_MAX;
			raise_ts(out, Max(least, -1) == PG_INT64_MAX ? least : Max(least, -1) + 1);
			break;
		case WC_KEY_GE:
			raise_ts(out, least);
			break;
		case WC_KEY_PREFIX:
			break;
	}
}

/* --- all together ---------------------------------------------------------------- */

static void
apply(Filter *f, const WcKeyCond *cond, Datum value, bool isnull)
{
	Oid			type = linitial_oid(cond->types);
	WcKeyOp		op = cond->op;
	Datum	   *elems = &value;
	bool	   *nulls = &isnull;
	WcSlice    *values;
	int			nelems = 1;
	int			n = 0;

	if (isnull)
	{
		f->out->empty = true;	/* the operators are strict */
		return;
	}
	if (cond->kind == WC_COND_ANY)
		array_elements(value, &elems, &nulls, &nelems);
	else if (cond->kind == WC_COND_LIKE)
		value = wc_like_value(value, &op, &f->out->exact);
	for (int i = 0; i < nelems; i++)
		if (!nulls[i])
			elems[n++] = elems[i];
	if (cond->part == WC_COND_TS)
	{
		filter_ts(f, op, type, elems, n);
		return;
	}
	values = palloc(sizeof(WcSlice) * Max(n, 1));
	for (int i = 0; i < n; i++)
		values[i] = bytes_of(f, type, elems[i]);
	if (cond->part == WC_COND_FAMILY)
		filter_families(f, op, values, n);
	else
		filter_qualifier(f, op, values, n);
}

static void
add_column(Filter *f, uint32 max, WcColumnKind kind, uint32 family, WcSlice qualifier, WcSlice stop)
{
	WcCellFilter *out = f->out;

	Assert(out->ncolumns < max);
	out->columns[out->ncolumns++] = (WcColumn) {.family = family,.kind = kind,.qualifier = qualifier,.stop = stop};
}

/* Makes the columns of the wanted families; none if all columns are wanted. */
static void
make_columns(Filter *f)
{
	const WcTableDesc *desc = f->wrel->desc;
	WcSlice		none = wc_slice(NULL, 0);
	bool		whole = !f->points && f->start.len == 0 && !f->stopped;
	bool		every = whole;
	uint32		nfamilies = 0;
	uint32		max;

	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		nfamilies += f->families[i];
		every &= f->families[i];
	}
	if (f->points && (uint64) f->npoints * nfamilies > WC_COLUMNS_MAX)
	{
		f->points = false;
		f->out->exact = false;
		whole = f->start.len == 0 && !f->stopped;
	}
	max = f->points ? f->npoints * nfamilies : nfamilies;
	f->out->empty |= max == 0 || (f->stopped && wc_slice_cmp(f->start, f->stop) >= 0);
	if (every || f->out->empty)
		return;
	f->out->columns = wc_arena_alloc(f->arena, sizeof(WcColumn) * max);
	if (f->out->columns == NULL)
		wc_raise_no_memory();
	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		uint32		family = desc->families[i].id;

		if (!f->families[i])
			continue;
		if (whole)
			add_column(f, max, WC_COLUMN_FAMILY, family, none, none);
		else if (!f->points)
			add_column(f, max, WC_COLUMN_RANGE, family, f->start, f->stopped ? f->stop : none);
		else
			for (uint32 k = 0; k < f->npoints; k++)
				add_column(f, max, WC_COLUMN_EXACT, family, f->point[k], none);
	}
}

/* Drops points outside the interval. */
static void
clip_points(Filter *f)
{
	uint32		n = 0;

	for (uint32 i = 0; f->points && i < f->npoints; i++)
	{
		if (wc_slice_cmp(f->point[i], f->start) >= 0 &&
			(!f->stopped || wc_slice_cmp(f->point[i], f->stop) < 0))
			f->point[n++] = f->point[i];
	}
	f->npoints = n;
}

void
wc_cellfilter_compute(const WcRelation *wrel, const List *conds, const Datum *values, const bool *nulls,
					  WcArena *arena, WcCellFilter *out)
{
	Filter		f = {.wrel = wrel,.arena = arena,.out = out};
	int			next = 0;
	ListCell   *lc;

	memset(out, 0, sizeof(*out));
	out->exact = true;
	out->ts_max = WC_TS_LATEST;
	if (conds == NIL)
		return;
	f.families = palloc(sizeof(bool) * wrel->desc->nfamilies);
	memset(f.families, true, sizeof(bool) * wrel->desc->nfamilies);
	foreach(lc, conds)
	{
		apply(&f, lfirst(lc), values[next], nulls[next]);
		next++;
	}
	clip_points(&f);
	make_columns(&f);
	out->empty |= out->ts_min >= out->ts_max;
}
