/*
 * fdw/convert/convert_range.c: text forms of ranges and multiranges of enums that were renamed and of composite types.
 *
 * The forms are those of PostgreSQL's own output functions, except that each bound has the form that convert_nested.c gives it.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

#include "compat.h"
#include "fdw/convert/convert_internal.h"

#define BOUND_ENDS ",)]"

static void pg_attribute_noreturn()
malformed(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("malformed %s literal", what)));
}

/* --- ranges ------------------------------------------------------------------------ */

char *
wc_range_out_bounds(WcNested *bound, Oid type, Datum value)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_RANGE_INFO);
	RangeBound	lower;
	RangeBound	upper;
	bool		empty;
	StringInfoData s;

	range_deserialize(entry, DatumGetRangeTypeP(value), &lower, &upper, &empty);
	if (empty)
		return pstrdup("empty");
	initStringInfo(&s);
	appendStringInfoChar(&s, lower.inclusive ? '[' : '(');
	if (!lower.infinite)
		wc_nested_append_field(&s, wc_nested_out(bound, lower.val), "\"\\(),[]");
	appendStringInfoChar(&s, ',');
	if (!upper.infinite)
		wc_nested_append_field(&s, wc_nested_out(bound, upper.val), "\"\\(),[]");
	appendStringInfoChar(&s, upper.inclusive ? ']' : ')');
	return s.data;
}

static void
read_bound(WcNested *node, const char **at, RangeBound *bound)
{
	char	   *field = wc_nested_read_field(at, BOUND_ENDS);

	bound->infinite = field == NULL;
	if (field != NULL)
		bound->val = wc_nested_in(node, field);
}

Datum
wc_range_in_bounds(WcNested *bound, Oid type, const char *string)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_RANGE_INFO);
	RangeBound	lower = {.lower = true};
	RangeBound	upper = {.lower = false};
	const char *p = string;

	if (strcmp(string, "empty") == 0)
		return RangeTypePGetDatum(make_empty_range(entry));
	if (*p != '[' && *p != '(')
		malformed("range");
	lower.inclusive = *p++ == '[';
	read_bound(bound, &p, &lower);
	if (*p++ != ',')
		malformed("range");
	read_bound(bound, &p, &upper);
	if (*p == ',' || p[1] != '\0')
		malformed("range");
	upper.inclusive = *p == ']';
	return RangeTypePGetDatum(wc_make_range(entry, &lower, &upper));
}

/* --- multiranges ------------------------------------------------------------------- */

char *
wc_multirange_out_ranges(WcNested *range, Oid type, Datum value)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_MULTIRANGE_INFO);
	RangeType **ranges;
	int32		nranges;
	StringInfoData s;

	multirange_deserialize(entry->rngtype, DatumGetMultirangeTypeP(value), &nranges, &ranges);
	initStringInfo(&s);
	appendStringInfoChar(&s, '{');
	for (int i = 0; i < nranges; i++)
	{
		if (i > 0)
			appendStringInfoChar(&s, ',');
		appendStringInfoString(&s, wc_nested_out(range, RangeTypePGetDatum(ranges[i])));
	}
	appendStringInfoChar(&s, '}');
	return s.data;
}

/* One range of a multirange: both bounds, and the bracket behind them. */
static char *
read_range(const char **at)
{
	const char *p = *at;
	char	   *range;

	if (*p != '[' && *p != '(')
		malformed("multirange");
	p++;
	(void) wc_nested_read_field(&p, BOUND_ENDS);
	if (*p++ != ',')
		malformed("multirange");
	(void) wc_nested_read_field(&p, BOUND_ENDS);
	if (*p++ == ',')
		malformed("multirange");
	range = pnstrdup(*at, p - *at);
	*at = p;
	return range;
}

Datum
wc_multirange_in_ranges(WcNested *range, Oid type, const char *string)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_MULTIRANGE_INFO);
	RangeType **ranges = palloc(sizeof(RangeType *) * (strlen(string) / 3 + 1));	/* a range has 3 characters */
	int			nranges = 0;
	const char *p = string;

	if (*p != '{')
		malformed("multirange");
	for (p++; *p != '}'; nranges++)
	{
		if (nranges > 0 && *p++ != ',')
			malformed("multirange");
		ranges[nranges] = DatumGetRangeTypeP(wc_nested_in(range, read_range(&p)));
	}
	if (p[1] != '\0')
		malformed("multirange");
	return MultirangeTypePGetDatum(make_multirange(type, entry->rngtype, nranges, ranges));
}
