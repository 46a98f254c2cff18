/*
 * fdw/condition/bound.c: row ranges from conditions and their current values.
 *
 * Conditions on one part become a set of contents: points (from = and IN) or intervals.  The points of the leading
 * parts are combined; for each combination, the intervals of the next part give the ranges.  A condition that cannot be
 * converted, or that would make too many ranges, is left out, and the result is not `exact`.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "client/client.h"
#include "fdw/condition/bound.h"
#include "fdw/condition/bucket.h"
#include "fdw/condition/like.h"
#include "fdw/condition/qual.h"
#include "fdw/condition/rangeset.h"
#include "fdw/condition/rawbound.h"
#include "rowkey/range.h"

/* The greatest number of ranges, as a multiple of that of combinations. */
#define RANGES_PER_COMBINATION 3

#define NEAR_USECS (2 * USECS_PER_DAY)

typedef struct Intervals
{
	int			n;
	WcInterval	interval[WC_INTERVALS_MAX];
} Intervals;

/* A row comparison with its values: (part, ...) op (content, ...). */
typedef struct RowBound
{
	WcKeyOp		op;
	int			nvalues;
	int			nusable;		/* values before the first NULL */
	WcFit	   *fits;
	WcSlice    *contents;
} RowBound;

/* The bounds that the conditions put on one part. */
typedef struct PartBounds
{
	bool		pinned;			/* the content is one of points */
	uint32		npoints;
	WcSlice    *points;			/* ascending, distinct */
	List	   *intervals;		/* Intervals *, all must hold */
	List	   *rows;			/* RowBound *, all must hold */
} PartBounds;

typedef struct Bounds
{
	WcRelation *wrel;
	WcArena    *arena;
	WcBuf	   *scratch;
	bool		exact;
	uint32		most_ranges;	/* of one combination of conditions */
	bool		nothing;		/* a condition is never true; add_all() sets this and the next fields anew */
	int			nparts;			/* leading parts that ranges are made from */
	PartBounds *parts;
	WcSlice    *equal;			/* contents of the current combination */
	WcMinutes	minutes;		/* bounds of the timestamp whose minute is the salt */
} Bounds;

/* --- helpers ------------------------------------------------------------------- */

static void
check(WcStatus status, const WcError *err)
{
	if (status != WC_OK)
		wc_raise(err);
}

/* The buckets of rows with the first nequal parts of the current combination. */
static void
find_buckets(Bounds *b, int nequal, WcBucketSet *buckets)
{
	const WcKeyLayout *layout = &b->wrel->key_layout;
	WcPartChoice *choices = palloc(sizeof(WcPartChoice) * layout->nparts);

	for (uint32 i = 0; i < layout->nparts; i++)
	{
		if ((int) i < nequal)
			choices[i] = (WcPartChoice) {true, 1, &b->equal[i]};
		else
			choices[i] = (WcPartChoice) {b->parts[i].pinned, b->parts[i].npoints, b->parts[i].points};
	}
	memset(buckets, 0, sizeof(*buckets));
	wc_buckets_find(&layout->salt, choices, layout->nparts, &b->minutes, buckets);
	pfree(choices);
}

/* Adds the rows that have the first nequal parts of the current combination and the next part in the interval
 * (NULL: any). */
static void
add_rows(Bounds *b, WcRangeSet *set, int nequal, const WcInterval *next)
{
	const WcSalt *salt = &b->wrel->key_layout.salt;
	WcKeyRange	found;
	WcBucketSet buckets;
	WcError		err;

	check(wc_rowkey_range(&b->wrel->key_layout, b->equal, nequal, next, b->arena, &found, &err), &err);
	if (found.empty)
		return;
	b->exact &= found.exact;
	if (salt->buckets > 0)
		find_buckets(b, nequal, &buckets);
	if (salt->buckets == 0 ||
		(found.range.start.len == 0 && found.range.stop.len == 0 && wc_bucketset_count(&buckets) == salt->buckets))
	{
		wc_rangeset_add(set, &found.range);
		return;
	}
	for (uint32 i = 0; i < salt->buckets; i++)
	{
		WcRange		range;

		if (!wc_bucketset_contains(&buckets, i))
			continue;
		check(wc_salt_range(&found.range, i, b->arena, &range, &err), &err);
		wc_rangeset_add(set, &range);
	}
}

static WcFit
encode(Bounds *b, int part, Oid type, Datum value, WcSlice *content)
{
	WcCodec    *codec = &b->wrel->columns[b->wrel->keys[part]].codec;
	WcFit		fit;

	wc_buf_reset(b->scratch, WC_ROW_MAX);
	fit = wc_codec_encode_bound(codec, type, value, b->scratch);
	if (b->scratch->failed)
		wc_codec_check_out(codec, b->scratch);
	*content = wc_rangeset_keep(b->arena, wc_buf_slice(b->scratch));
	return fit;
}

static bool
interval_contains(const WcInterval *i, WcSlice content)
{
	int			c;

	if (i->is_prefix)
		return wc_slice_starts_with(content, i->lo);
	if (i->has_lo && ((c = wc_slice_cmp(content, i->lo)) < 0 || (c == 0 && !i->lo_inclusive)))
		return false;
	if (i->has_hi && ((c = wc_slice_cmp(content, i->hi)) > 0 || (c == 0 && !i->hi_inclusive)))
		return false;
	return true;
}

/* --- conditions ---------------------------------------------------------------- */

/* Limits the part to those of these contents that earlier conditions allow. */
static void
pin_part(PartBounds *part, WcSlice *points, uint32 npoints)
{
	uint32		kept = 0;

	qsort(points, npoints, sizeof(WcSlice), wc_slice_compare);
	for (uint32 i = 0; i < npoints; i++)
	{
		if (kept > 0 && wc_slice_eq(points[kept - 1], points[i]))
			continue;
		if (part->pinned &&
			bsearch(&points[i], part->points, part->npoints, sizeof(WcSlice), wc_slice_compare) == NULL)
			continue;
		points[kept++] = points[i];
	}
	part->pinned = true;
	part->points = points;
	part->npoints = kept;
}

static void
bound_part(Bounds *b, int part, WcKeyOp op, WcFit fit, WcSlice content)
{
	PartBounds *bounds = &b->parts[part];
	WcPartOrder order = b->wrel->columns[b->wrel->keys[part]].codec.order;
	Intervals  *intervals;

	if (op == WC_KEY_EQ && fit == WC_FIT_EXACT)
	{
		WcSlice    *point = palloc(sizeof(WcSlice));

		*point = content;
		pin_part(bounds, point, 1);
		return;
	}
	wc_minutes_limit(&b->minutes, &b->wrel->key_layout.salt, part, op, fit, content);
	intervals = palloc(sizeof(Intervals));
	intervals->n = wc_interval_of_op(order, op, fit, content, intervals->interval);
	if (intervals->n == 0)
		b->nothing = true;
	else if (intervals->n < 0)
		b->exact = false;
	else
		bounds->intervals = lappend(bounds->intervals, intervals);
}

/* part = ANY (array) */
static void
bound_any(Bounds *b, int part, Oid type, Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *elems;
	bool	   *nulls;
	int			nelems;
	WcSlice    *points;
	uint32		npoints = 0;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign, &elems, &nulls, &nelems);
	points = palloc(sizeof(WcSlice) * (nelems + 1));
	for (int i = 0; i < nelems; i++)
	{
		WcFit		fit;

		CHECK_FOR_INTERRUPTS();
		if (nulls[i])
			continue;
		fit = encode(b, part, type, elems[i], &points[npoints]);
		if (fit == WC_FIT_UNKNOWN)
		{
			b->exact = false;
			return;
		}
		if (fit == WC_FIT_EXACT)
			npoints++;
	}
	pin_part(&b->parts[part], points, npoints);
}

static void
bound_row(Bounds *b, const WcKeyCond *cond, const Datum *values, const bool *nulls)
{
	RowBound   *row = palloc0(sizeof(RowBound));

	row->op = cond->op;
	row->nvalues = list_length(cond->values);
	row->fits = palloc(sizeof(WcFit) * row->nvalues);
	row->contents = palloc(sizeof(WcSlice) * row->nvalues);
	while (row->nusable < row->nvalues && !nulls[row->nusable])
	{
		int			i = row->nusable++;

		row->fits[i] = encode(b, cond->part + i, list_nth_oid(cond->types, i), values[i], &row->contents[i]);
	}
	if (row->nusable > 0)
		wc_minutes_limit(&b->minutes, &b->wrel->key_layout.salt, cond->part, cond->op, row->fits[0], row->contents[0]);
	b->parts[cond->part].rows = lappend(b->parts[cond->part].rows, row);
}

/*
 * The limit of a date or timestamp part that no row beyond satisfies `part op instant`: two days off, of which one is for
 * the time zone and the other for hours that it skips or repeats.
 */
static Timestamp
near_limit(WcKeyOp op, TimestampTz instant)
{
	if (TIMESTAMP_NOT_FINITE(instant))
		return instant;
	if (op == WC_KEY_GT || op == WC_KEY_GE)
		return instant < MIN_TIMESTAMP + NEAR_USECS ? DT_NOBEGIN : instant - NEAR_USECS;
	return instant >= END_TIMESTAMP - NEAR_USECS ? DT_NOEND : instant + NEAR_USECS;
}

static void
bound_cond(Bounds *b, const WcKeyCond *cond, const Datum *values, const bool *nulls)
{
	Oid			type = linitial_oid(cond->types);
	Datum		value = values[0];
	WcKeyOp		op = cond->op;
	Oid			key_type = b->wrel->columns[b->wrel->keys[cond->part]].codec.spec.type;
	WcSlice		content;
	WcFit		fit;

	if (cond->kind == WC_COND_ROW)
	{
		bound_row(b, cond, values, nulls);
		return;
	}
	if (nulls[0])
	{
		b->nothing = true;		/* the operators are strict */
		return;
	}
	if (cond->kind == WC_COND_ANY)
	{
		bound_any(b, cond->part, type, value);
		return;
	}
	if (cond->kind == WC_COND_LIKE)
	{
		value = wc_like_value(value, &op, &b->exact);
		if (key_type == BPCHAROID)
			type = BPCHAROID;	/* leaves out blanks at the end, as the key does */
	}
	if (type == TIMESTAMPTZOID && key_type != type)
	{
		value = TimestampGetDatum(near_limit(op, DatumGetTimestampTz(value)));
		type = TIMESTAMPOID;
	}
	fit = encode(b, cond->part, type, value, &content);
	bound_part(b, cond->part, op, fit, content);
}

/* --- ranges -------------------------------------------------------------------- */

/* Adds the rows that satisfy a row comparison that begins at this part. */
static void
add_row_comparison(Bounds *b, WcRangeSet *set, int part, const RowBound *row)
{
	WcKeyOp		strict = row->op == WC_KEY_LE ? WC_KEY_LT : row->op == WC_KEY_GE ? WC_KEY_GT : row->op;

	/* (x > a) or (x = a and y > b) or ...; an arm with a NULL is not true */
	for (int i = 0; i < row->nusable; i++)
	{
		WcPartOrder order = b->wrel->columns[b->wrel->keys[part + i]].codec.order;
		WcInterval	intervals[WC_INTERVALS_MAX];
		int			n = wc_interval_of_op(order, i + 1 == row->nvalues ? row->op : strict,
										  row->fits[i], row->contents[i], intervals);

		if (n < 0)
		{
			b->exact = false;
			add_rows(b, set, part + i, NULL);
			return;
		}
		for (int k = 0; k < n; k++)
			add_rows(b, set, part + i, &intervals[k]);
		if (row->fits[i] != WC_FIT_EXACT)
			return;
		b->equal[part + i] = row->contents[i];
	}
}

/* Adds the rows of the current combination, which has contents for the parts before `part`. */
static void
add_combination(Bounds *b, WcRangeSet *set, int part)
{
	PartBounds *bounds = &b->parts[part];
	WcRangeSet	own = {NULL, 0, 0};
	ListCell   *lc;

	if (part == b->nparts)
	{
		add_rows(b, set, part, NULL);
		return;
	}
	if (bounds->pinned)
	{
		for (uint32 i = 0; i < bounds->npoints; i++)
		{
			b->equal[part] = bounds->points[i];
			add_combination(b, &own, part + 1);
		}
	}
	else if (bounds->intervals == NIL)
		add_rows(b, &own, part, NULL);
	else
	{
		bool		first = true;

		foreach(lc, bounds->intervals)
		{
			Intervals  *intervals = lfirst(lc);
			WcRangeSet	one = {NULL, 0, 0};

			for (int i = 0; i < intervals->n; i++)
				add_rows(b, &one, part, &intervals->interval[i]);
			if (first)
				own = one;
			else
				wc_rangeset_intersect(b->arena, &own, &one);
			first = false;
		}
	}
	foreach(lc, bounds->rows)
	{
		WcRangeSet	one = {NULL, 0, 0};

		add_row_comparison(b, &one, part, lfirst(lc));
		wc_rangeset_intersect(b->arena, &own, &one);
	}
	for (uint32 i = 0; i < own.n; i++)
		wc_rangeset_add(set, &own.ranges[i]);
}

/* Keeps the part's points that are inside its intervals; false: the part is pinned and has no point left. */
static bool
settle_points(PartBounds *bounds)
{
	uint32		kept = 0;
	ListCell   *lc;

	for (uint32 i = 0; i < bounds->npoints; i++)
	{
		bool		inside = true;

		foreach(lc, bounds->intervals)
		{
			Intervals  *intervals = lfirst(lc);
			bool		any = false;

			for (int k = 0; k < intervals->n; k++)
				any |= interval_contains(&intervals->interval[k], bounds->points[i]);
			inside &= any;
		}
		if (inside)
			bounds->points[kept++] = bounds->points[i];
	}
	bounds->npoints = kept;
	return !bounds->pinned || kept > 0;
}

/* Returns how many ranges one range of the parts after the salt becomes: one for each bucket, or 1 if the
 * pinned parts determine the bucket of each range. */
static uint32
count_buckets(Bounds *b)
{
	const WcSalt *salt = &b->wrel->key_layout.salt;
	WcBucketSet buckets;
	bool		leading = true;
	bool		known = true;

	for (int part = 0; salt->buckets > 0 && part < b->wrel->nkeys; part++)
	{
		leading &= b->parts[part].pinned;
		known &= leading || !salt->parts[part];
	}
	if (salt->buckets == 0 || known)
		return 1;
	find_buckets(b, 0, &buckets);
	return wc_bucketset_count(&buckets);
}

/* Pins a free part of two values to both of them if the next part has a condition. */
static void
fill_gap(Bounds *b, int part)
{
	WcCodec    *codec = &b->wrel->columns[b->wrel->keys[part]].codec;
	PartBounds *bounds = &b->parts[part];
	PartBounds *behind = &b->parts[part + 1];
	WcSlice    *points;

	if (bounds->pinned || bounds->intervals != NIL || bounds->rows != NIL || !wc_part_is_small(b->wrel, part) ||
		!(behind->pinned || behind->intervals != NIL || behind->rows != NIL))
		return;
	points = palloc(sizeof(WcSlice) * 2);
	for (int i = 0; i < 2; i++)
	{
		wc_buf_reset(b->scratch, WC_ROW_MAX);
		wc_codec_encode(codec, BoolGetDatum(i == 1), b->scratch);
		points[i] = wc_rangeset_keep(b->arena, wc_buf_slice(b->scratch));
	}
	pin_part(bounds, points, 2);
}

/* Sets nparts, the number of leading parts that ranges are made from.  Conditions on parts after the first one
 * that is not pinned are there only to find the buckets. */
static void
settle_parts(Bounds *b)
{
	uint64		nranges;

	for (int part = 0; part + 1 < b->wrel->nkeys; part++)
		fill_gap(b, part);
	for (int part = 0; part < b->wrel->nkeys; part++)
		b->nothing |= !settle_points(&b->parts[part]);
	nranges = count_buckets(b);
	for (b->nparts = 0; b->nparts < b->wrel->nkeys; b->nparts++)
	{
		PartBounds *bounds = &b->parts[b->nparts];

		if (!bounds->pinned)
		{
			if (bounds->intervals != NIL || bounds->rows != NIL)
				b->nparts++;
			return;
		}
		nranges *= Max(bounds->npoints, 1);
		if (nranges > b->most_ranges)
		{
			b->exact = false;
			return;
		}
	}
}

/* --- all together -------------------------------------------------------------- */

/* The most common case, = on every part of the key, without the sets. */
static bool
compute_point(WcRelation *wrel, const List *conds, const Datum *values, const bool *nulls,
			  WcArena *arena, WcBuf *scratch, WcBounds *out)
{
	int			n = wrel->nkeys;
	WcSlice    *contents;
	size_t	   *ends;
	WcError		err;
	WcSlice		row;
	WcStatus	status;
	size_t		content_len;

	if (n == 0 || list_length(conds) != n)
		return false;
	contents = palloc(n * (sizeof(WcSlice) + sizeof(size_t)));
	ends = (size_t *) (contents + n);
	wc_buf_reset(scratch, WC_ROW_MAX);
	for (int i = 0; i < n; i++)
	{
		const WcKeyCond *cond = list_nth(conds, i);
		WcCodec    *codec = &wrel->columns[wrel->keys[i]].codec;

		if (cond->part != i || cond->kind != WC_COND_OP || cond->op != WC_KEY_EQ || nulls[i] ||
			wc_codec_encode_bound(codec, linitial_oid(cond->types), values[i], scratch) != WC_FIT_EXACT ||
			scratch->failed)
			return false;
		ends[i] = scratch->len;
	}
	content_len = scratch->len;
	for (int i = 0; i < n; i++)
	{
		size_t		start = i == 0 ? 0 : ends[i - 1];

		contents[i] = wc_arena_copy(arena, wc_slice(scratch->data + start, ends[i] - start));
		if (contents[i].data == NULL && ends[i] > start)
			return false;
	}
	status = wc_rowkey_compose(&wrel->key_layout, contents, scratch, NULL, &err);
	if (status == WC_NO_MEMORY)
		return false;
	out->exact = true;
	if (status != WC_OK)
	{
		out->empty = true;		/* such a key cannot be stored */
		return true;
	}
	row = wc_arena_copy(arena, wc_slice(scratch->data + content_len, scratch->len - content_len));
	out->ranges = wc_arena_alloc(arena, sizeof(WcRange));
	if (row.data == NULL || out->ranges == NULL)
		return false;
	out->ranges[0] = (WcRange) {row, row, true, true};
	out->nranges = 1;
	out->point = true;
	return true;
}

/* A condition and its values. */
typedef struct Given
{
	const WcKeyCond *cond;
	const Datum *values;
	const bool *nulls;
} Given;

/* Adds Givens for the conditions other than ORs; advances *next past their values. */
static int
give_conds(Given *given, int n, const List *conds, const Datum *values, const bool *nulls, int *next)
{
	ListCell   *lc;

	foreach(lc, conds)
	{
		const WcKeyCond *cond = lfirst(lc);

		if (cond->kind == WC_COND_OR)
			break;				/* ORs are last */
		given[n++] = (Given) {cond, &values[*next], &nulls[*next]};
		*next += list_length(cond->values);
	}
	return n;
}

/* Adds the rows that satisfy the conditions on parts.  Intervals, and row comparisons over parts of both orders, make several
 * ranges of each combination: if these are too many, the conditions on the last parts are left out. */
static void
add_combinations(Bounds *b, WcRangeSet *set)
{
	for (add_combination(b, set, 0); b->nparts > 0 && set->n > RANGES_PER_COMBINATION * b->most_ranges; add_combination(b, set, 0))
	{
		b->exact = false;
		b->nparts--;
		set->n = 0;
	}
}

/* Adds the rows that satisfy all of these conditions. */
static void
add_all(Bounds *b, WcRangeSet *set, const Given *given, int n)
{
	WcRangeSet	own = {NULL, 0, 0};

	b->nothing = false;
	wc_minutes_init(&b->minutes);
	b->parts = palloc0(sizeof(PartBounds) * (b->wrel->nkeys + 1));
	b->equal = palloc0(sizeof(WcSlice) * (b->wrel->nkeys + 1));
	for (int i = 0; i < n; i++)
	{
		if (given[i].cond->part != WC_COND_RAW_KEY)
			bound_cond(b, given[i].cond, given[i].values, given[i].nulls);
	}
	settle_parts(b);
	if (!b->nothing && b->wrel->nkeys > 0)
		add_combinations(b, &own);
	else if (!b->nothing)
		wc_rangeset_add(&own, &(WcRange) {{NULL, 0}, {NULL, 0}, true, true});
	for (int i = 0; i < n && !b->nothing; i++)
	{
		if (given[i].cond->part == WC_COND_RAW_KEY)
			b->exact &= wc_rawbound_apply(given[i].cond, given[i].values[0], given[i].nulls[0], b->arena, &own);
	}
	for (uint32 i = 0; i < own.n && !b->nothing; i++)
		wc_rangeset_add(set, &own.ranges[i]);
}

/* Adds the rows that satisfy one of the arms; false: these are too many ranges.  given: the ncommon conditions that hold for
 * every arm, and room for those of one arm; next: the arms' first value. */
static bool
add_arms(Bounds *b, WcRangeSet *any, const WcKeyCond *or, Given *given, int ncommon,
		 const Datum *values, const bool *nulls, int next)
{
	ListCell   *lc;

	foreach(lc, or->arms)
	{
		add_all(b, any, given, give_conds(given, ncommon, lfirst(lc), values, nulls, &next));
		if (any->n > WC_KEY_RANGES_MAX)
			return false;
	}
	return true;
}

/* Removes from set the rows that satisfy none of the arms. */
static void
intersect_or(Bounds *b, WcRangeSet *set, const WcKeyCond *or, Given *given, int ncommon,
			 const Datum *values, const bool *nulls, int *next)
{
	WcRangeSet	any = {NULL, 0, 0};
	bool		fits = add_arms(b, &any, or, given, ncommon, values, nulls, *next);

	/* fewer ranges for each arm, so that all arms have some */
	if (!fits)
	{
		b->exact = false;
		b->most_ranges = Max(WC_KEY_RANGES_MAX / list_length(or->arms), 1);
		any.n = 0;
		fits = add_arms(b, &any, or, given, ncommon, values, nulls, *next);
		b->most_ranges = WC_KEY_RANGES_MAX;
	}
	if (fits && set->n + any.n <= WC_RANGES_MAX)
		wc_rangeset_intersect(b->arena, set, &any);
	else
		b->exact = false;
	*next += list_length(wc_key_conds_exprs(list_make1(unconstify(WcKeyCond *, or))));
}

static void
keep_ranges(const WcRangeSet *set, WcArena *arena, WcBounds *out)
{
	out->ranges = wc_arena_alloc(arena, sizeof(WcRange) * set->n);
	if (out->ranges == NULL)
		wc_raise_no_memory();
	memcpy(out->ranges, set->ranges, sizeof(WcRange) * set->n);
	out->nranges = set->n;
}

static void
finish(Bounds *b, WcRangeSet *set, WcBounds *out)
{
	set->n = wc_ranges_normalise(set->ranges, set->n);
	out->exact = b->exact;
	out->empty = set->n == 0;
	if (out->empty || (set->n == 1 && set->ranges[0].start.len == 0 && set->ranges[0].stop.len == 0))
		return;
	keep_ranges(set, b->arena, out);
	out->point = set->n == 1 && wc_range_is_point(&set->ranges[0]);
}

/* Returns how many conditions hold at once at most: the common ones and those of one arm. */
static int
count_given(const List *conds)
{
	int			most = 0;
	ListCell   *lc;
	ListCell   *la;

	foreach(lc, conds)
		foreach(la, ((WcKeyCond *) lfirst(lc))->arms)
			most = Max(most, list_length(lfirst(la)));
	return list_length(conds) + most;
}

void
wc_bounds_compute(WcRelation *wrel, const List *conds, const Datum *values, const bool *nulls,
				  WcArena *arena, WcBuf *scratch, WcBounds *out)
{
	Bounds		b = {.wrel = wrel,.arena = arena,.scratch = scratch,.exact = true,.most_ranges = WC_KEY_RANGES_MAX};
	WcRangeSet	set = {NULL, 0, 0};
	Given	   *given;
	int			ncommon;
	int			next = 0;
	ListCell   *lc;

	memset(out, 0, sizeof(*out));
	out->exact = true;
	if (conds == NIL || compute_point(wrel, conds, values, nulls, arena, scratch, out))
		return;

	given = palloc(sizeof(Given) * count_given(conds));
	ncommon = give_conds(given, 0, conds, values, nulls, &next);
	add_all(&b, &set, given, ncommon);
	foreach(lc, conds)
	{
		const WcKeyCond *cond = lfirst(lc);

		if (cond->kind == WC_COND_OR)
			intersect_or(&b, &set, cond, given, ncommon, values, nulls, &next);
	}
	finish(&b, &set, out);
}

void
wc_bounds_by_bucket(const WcRelation *wrel, WcArena *arena, WcBounds *bounds)
{
	WcRangeSet	set = {NULL, 0, 0};

	if (bounds->empty || wrel->key_layout.salt.buckets == 0)
		return;
	wc_buckets_part(&wrel->key_layout.salt, bounds->ranges, bounds->nranges, &set);
	keep_ranges(&set, arena, bounds);
}
