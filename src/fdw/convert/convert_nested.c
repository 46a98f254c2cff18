/*
 * fdw/convert/convert_nested.c: text forms of enums that were renamed, of composite types, and of
 * arrays and ranges of these.
 *
 * Stored values must keep their meaning after the type was changed.  An enum value whose label was renamed is
 * stored under its old one (WcLabel).  A composite type's form has a field for each attribute there ever was,
 * so that one that was dropped leaves its place, and lacks those that were added after it was written, which
 * are NULL.  In a key, where a value has one form, NULLs at the end are left out.
 *
 * Forms are those of PostgreSQL's own output functions otherwise.  All strings here are in
 * the database's encoding.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

#include "compat.h"
#include "fdw/convert/convert_node.h"

#define BOUND_ENDS ",)]"

/* --- enums ----------------------------------------------------------------------- */

static char *
enum_out_label(WcNested *node, Datum value)
{
	char	   *label = OutputFunctionCall(&node->out_fn, value);
	ListCell   *lc;

	foreach(lc, node->labels)
	{
		const WcLabel *l = lfirst(lc);

		if (strcmp(l->label, label) == 0)
			return pstrdup(l->stored);
	}
	return label;
}

static Datum
enum_in_label(WcNested *node, char *string)
{
	const char *label = NULL;
	bool		elsewhere = false;
	ListCell   *lc;

	foreach(lc, node->labels)
	{
		const WcLabel *l = lfirst(lc);

		if (strcmp(l->stored, string) == 0)
			label = l->label;
		elsewhere |= strcmp(l->label, string) == 0;
	}
	/* a value has one form */
	if (label == NULL && elsewhere)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("label \"%s\" of enum %s is stored under another name", string, format_type_be(node->type))));
	return wc_input_call(&node->in, label != NULL ? pstrdup(label) : string);
}

/* --- arrays ---------------------------------------------------------------------- */

static char *
array_out_members(WcNested *node, Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	Datum	   *elems;
	bool	   *nulls;
	int			nelems;
	ArrayType  *texts;

	deconstruct_array(array, ARR_ELEMTYPE(array), node->len, node->byval, node->align, &elems, &nulls, &nelems);
	for (int i = 0; i < nelems; i++)
	{
		if (!nulls[i])
			elems[i] = CStringGetTextDatum(wc_nested_out(node->members[0], elems[i]));
	}
	texts = construct_md_array(elems, nulls, ARR_NDIM(array), ARR_DIMS(array), ARR_LBOUND(array),
							   TEXTOID, -1, false, TYPALIGN_INT);
	return OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(texts));
}

static Datum
array_in_members(WcNested *node, char *string)
{
	ArrayType  *texts = DatumGetArrayTypeP(OidInputFunctionCall(F_ARRAY_IN, string, TEXTOID, -1));
	Datum	   *elems;
	bool	   *nulls;
	int			nelems;

	deconstruct_array(texts, TEXTOID, -1, false, TYPALIGN_INT, &elems, &nulls, &nelems);
	for (int i = 0; i < nelems; i++)
	{
		if (!nulls[i])
			elems[i] = wc_nested_in(node->members[0], TextDatumGetCString(elems[i]));
	}
	return PointerGetDatum(construct_md_array(elems, nulls, ARR_NDIM(texts), ARR_DIMS(texts), ARR_LBOUND(texts),
											  get_element_type(node->type), node->len, node->byval, node->align));
}

/* --- fields: members of composite types, bounds of ranges ----------------------- */

static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Appends a field, in quotes if it is empty or has a space or one of the special characters. */
static void
append_field(StringInfo s, const char *field, const char *special)
{
	bool		quote = field[0] == '\0';

	for (const char *p = field; *p != '\0' && !quote; p++)
		quote = strchr(special, *p) != NULL || is_space(*p);
	if (quote)
		appendStringInfoChar(s, '"');
	for (const char *p = field; *p != '\0'; p++)
	{
		if (*p == '"' || *p == '\\')
			appendStringInfoChar(s, *p);
		appendStringInfoChar(s, *p);
	}
	if (quote)
		appendStringInfoChar(s, '"');
}

static void pg_attribute_noreturn()
malformed_row(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("malformed record literal: %s", detail)));
}

/* Reads a field up to one of the characters in `ends`, as record_in does; NULL: there is none. */
static char *
read_field(const char **at, const char *ends)
{
	const char *p = *at;
	bool		quoted = false;
	StringInfoData s;

	if (*p != '\0' && strchr(ends, *p) != NULL)
		return NULL;
	initStringInfo(&s);
	while (quoted || *p == '\0' || strchr(ends, *p) == NULL)
	{
		if (*p == '\0' || (*p == '\\' && p[1] == '\0'))
			malformed_row("unexpected end of input");
		if (*p == '\\')
			appendStringInfoChar(&s, *++p);
		else if (*p != '"')
			appendStringInfoChar(&s, *p);
		else if (!quoted)
			quoted = true;
		else if (p[1] == '"')
			appendStringInfoChar(&s, *++p);
		else
			quoted = false;
		p++;
	}
	*at = p;
	return s.data;
}

/* --- composite types --------------------------------------------------------------- */

static char *
row_out_members(WcNested *node, Datum value)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(value);
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(header),.t_data = header};
	int			natts;
	Datum	   *values;
	bool	   *nulls;
	StringInfoData s;

	wc_nested_refresh(node);
	natts = node->tupdesc->natts;
	values = palloc(sizeof(Datum) * Max(natts, 1));
	nulls = palloc(sizeof(bool) * Max(natts, 1));
	ItemPointerSetInvalid(&tuple.t_self);
	heap_deform_tuple(&tuple, node->tupdesc, values, nulls);
	while (node->as_key && natts > 1 && (nulls[natts - 1] || node->members[natts - 1] == NULL))
		natts--;
	initStringInfo(&s);
	appendStringInfoChar(&s, '(');
	for (int i = 0; i < natts; i++)
	{
		if (i > 0)
			appendStringInfoChar(&s, ',');
		if (!nulls[i] && node->members[i] != NULL)
			append_field(&s, wc_nested_out(node->members[i], values[i]), "\"\\(),");
	}
	appendStringInfoChar(&s, ')');
	return s.data;
}

static Datum
row_in_members(WcNested *node, const char *string)
{
	int			natts;
	Datum	   *values;
	bool	   *nulls;
	const char *p = string;
	int			n = 0;

	wc_nested_refresh(node);
	natts = node->tupdesc->natts;
	values = palloc0(sizeof(Datum) * Max(natts, 1));
	nulls = palloc(sizeof(bool) * Max(natts, 1));
	memset(nulls, true, sizeof(bool) * Max(natts, 1));
	while (is_space(*p))
		p++;
	if (*p != '(')
		malformed_row("missing left parenthesis");
	for (; *p != ')'; n++)
	{
		char	   *field;

		p++;
		if (n == 0 && *p == ')' && natts == 0)
			break;
		field = read_field(&p, ",)");
		if (n >= natts)
			malformed_row("too many columns");
		if (field == NULL || node->members[n] == NULL)
			continue;
		values[n] = wc_nested_in(node->members[n], field);
		nulls[n] = false;
	}
	p++;
	while (is_space(*p))
		p++;
	if (*p != '\0')
		malformed_row("junk after right parenthesis");
	return HeapTupleGetDatum(heap_form_tuple(node->tupdesc, values, nulls));
}

/* --- ranges and multiranges -------------------------------------------------------- */

static void pg_attribute_noreturn()
malformed_range(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("malformed %s literal", what)));
}

/* bound: of the range's subtype. */
static char *
range_out_bounds(WcNested *bound, Oid type, Datum value)
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
		append_field(&s, wc_nested_out(bound, lower.val), "\"\\(),[]");
	appendStringInfoChar(&s, ',');
	if (!upper.infinite)
		append_field(&s, wc_nested_out(bound, upper.val), "\"\\(),[]");
	appendStringInfoChar(&s, upper.inclusive ? ']' : ')');
	return s.data;
}

static void
read_bound(WcNested *node, const char **at, RangeBound *bound)
{
	char	   *field = read_field(at, BOUND_ENDS);

	bound->infinite = field == NULL;
	if (field != NULL)
		bound->val = wc_nested_in(node, field);
}

static Datum
range_in_bounds(WcNested *bound, Oid type, const char *string)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_RANGE_INFO);
	RangeBound	lower = {.lower = true};
	RangeBound	upper = {.lower = false};
	const char *p = string;

	if (strcmp(string, "empty") == 0)
		return RangeTypePGetDatum(make_empty_range(entry));
	if (*p != '[' && *p != '(')
		malformed_range("range");
	lower.inclusive = *p++ == '[';
	read_bound(bound, &p, &lower);
	if (*p++ != ',')
		malformed_range("range");
	read_bound(bound, &p, &upper);
	if (*p == ',' || p[1] != '\0')
		malformed_range("range");
	upper.inclusive = *p == ']';
	return RangeTypePGetDatum(wc_make_range(entry, &lower, &upper));
}

/* range: of the multirange's ranges. */
static char *
multirange_out_ranges(WcNested *range, Oid type, Datum value)
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
		malformed_range("multirange");
	p++;
	(void) read_field(&p, BOUND_ENDS);
	if (*p++ != ',')
		malformed_range("multirange");
	(void) read_field(&p, BOUND_ENDS);
	if (*p++ == ',')
		malformed_range("multirange");
	range = pnstrdup(*at, p - *at);
	*at = p;
	return range;
}

static Datum
multirange_in_ranges(WcNested *range, Oid type, const char *string)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_MULTIRANGE_INFO);
	RangeType **ranges = palloc(sizeof(RangeType *) * (strlen(string) / 3 + 1));	/* a range has 3 characters */
	int			nranges = 0;
	const char *p = string;

	if (*p != '{')
		malformed_range("multirange");
	for (p++; *p != '}'; nranges++)
	{
		if (nranges > 0 && *p++ != ',')
			malformed_range("multirange");
		ranges[nranges] = DatumGetRangeTypeP(wc_nested_in(range, read_range(&p)));
	}
	if (p[1] != '\0')
		malformed_range("multirange");
	return MultirangeTypePGetDatum(make_multirange(type, entry->rngtype, nranges, ranges));
}

/* --- all of them ------------------------------------------------------------------- */

char *
wc_nested_out(WcNested *node, Datum value)
{
	check_stack_depth();
	switch (node->kind)
	{
		case WC_NESTED_ENUM:
			return enum_out_label(node, value);
		case WC_NESTED_ARRAY:
			return array_out_members(node, value);
		case WC_NESTED_RANGE:
			return range_out_bounds(node->members[0], node->type, value);
		case WC_NESTED_MULTIRANGE:
			return multirange_out_ranges(node->members[0], node->type, value);
		case WC_NESTED_ROW:
			return row_out_members(node, value);
		case WC_NESTED_SCALAR:
			break;
	}
	return OutputFunctionCall(&node->out_fn, value);
}

Datum
wc_nested_in(WcNested *node, char *string)
{
	check_stack_depth();
	switch (node->kind)
	{
		case WC_NESTED_ENUM:
			return enum_in_label(node, string);
		case WC_NESTED_ARRAY:
			return array_in_members(node, string);
		case WC_NESTED_RANGE:
			return range_in_bounds(node->members[0], node->type, string);
		case WC_NESTED_MULTIRANGE:
			return multirange_in_ranges(node->members[0], node->type, string);
		case WC_NESTED_ROW:
			return row_in_members(node, string);
		case WC_NESTED_SCALAR:
			break;
	}
	return wc_input_call(&node->in, string);
}
