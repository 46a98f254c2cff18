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
#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "fdw/convert/convert_internal.h"

typedef enum NestedKind
{
	NESTED_SCALAR,
	NESTED_ENUM,
	NESTED_ARRAY,
	NESTED_RANGE,
	NESTED_MULTIRANGE,
	NESTED_ROW
} NestedKind;

struct WcNested
{
	NestedKind	kind;
	Oid			type;			/* no domain */
	int32		typmod;
	const List *labels;			/* WcLabel * */
	bool		as_key;
	MemoryContext context;		/* where the node was made */

	/* SCALAR, ENUM */
	Oid			ioparam;
	FmgrInfo	out_fn;
	FmgrInfo	in_fn;
	int			guards;

	/* ARRAY, RANGE, MULTIRANGE: one; ROW: [tupdesc->natts], NULL for dropped attributes */
	WcNested  **members;
	int16		len;			/* ARRAY: of the element */
	bool		byval;
	char		align;

	/* ROW: made anew when the type changes */
	MemoryContext row_context;
	uint64		identifier;		/* of the type cache's descriptor */
	TupleDesc	tupdesc;
};

/* What an array, a range or a multirange is made of, else InvalidOid. */
static Oid
member_of(Oid type)
{
	switch (get_typtype(type))
	{
		case TYPTYPE_RANGE:
			return get_range_subtype(type);
		case TYPTYPE_MULTIRANGE:
			return get_multirange_range(type);
		default:
			return get_element_type(type);
	}
}

bool
wc_nested_is(Oid type, const List *labels)
{
	Oid			member;

	type = getBaseType(type);
	switch (get_typtype(type))
	{
		case TYPTYPE_ENUM:
			return labels != NIL;
		case TYPTYPE_COMPOSITE:
			return true;
		default:
			member = member_of(type);
			return OidIsValid(member) && wc_nested_is(member, labels);
	}
}

static NestedKind
kind_of(Oid type, const List *labels)
{
	if (!wc_nested_is(type, labels))
		return NESTED_SCALAR;
	switch (get_typtype(type))
	{
		case TYPTYPE_ENUM:
			return NESTED_ENUM;
		case TYPTYPE_COMPOSITE:
			return NESTED_ROW;
		case TYPTYPE_RANGE:
			return NESTED_RANGE;
		case TYPTYPE_MULTIRANGE:
			return NESTED_MULTIRANGE;
		default:
			return NESTED_ARRAY;
	}
}

WcNested *
wc_nested_create(Oid type, int32 typmod, const List *labels, bool as_key)
{
	WcNested   *node = palloc0(sizeof(WcNested));
	Oid			function;
	bool		is_varlena;

	check_stack_depth();
	node->typmod = typmod;
	node->type = getBaseTypeAndTypmod(type, &node->typmod);
	node->kind = kind_of(node->type, labels);
	node->labels = labels;
	node->as_key = as_key;
	node->context = CurrentMemoryContext;
	switch (node->kind)
	{
		case NESTED_SCALAR:
		case NESTED_ENUM:
			getTypeOutputInfo(node->type, &function, &is_varlena);
			fmgr_info(function, &node->out_fn);
			getTypeInputInfo(node->type, &function, &node->ioparam);
			fmgr_info(function, &node->in_fn);
			node->guards = wc_form_guards(node->type);
			break;
		case NESTED_ARRAY:
			node->members = palloc(sizeof(WcNested *));
			node->members[0] = wc_nested_create(get_element_type(node->type), typmod, labels, as_key);
			get_typlenbyvalalign(get_element_type(node->type), &node->len, &node->byval, &node->align);
			break;
		case NESTED_RANGE:
		case NESTED_MULTIRANGE:
			node->members = palloc(sizeof(WcNested *));
			node->members[0] = wc_nested_create(member_of(node->type), -1, labels, as_key);
			break;
		case NESTED_ROW:
			break;
	}
	return node;
}

/* Builds the members of a row again when its type has changed. */
static void
refresh_row(WcNested *node)
{
	TypeCacheEntry *type = lookup_type_cache(node->type, TYPECACHE_TUPDESC);
	MemoryContext old;

	if (type->tupDesc == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("type %s is not composite", format_type_be(node->type))));
	if (node->row_context != NULL && node->identifier == type->tupDesc_identifier)
		return;
	if (node->row_context == NULL)
		node->row_context = AllocSetContextCreate(node->context, "widecol composite type", ALLOCSET_SMALL_SIZES);
	node->identifier = 0;
	MemoryContextReset(node->row_context);
	old = MemoryContextSwitchTo(node->row_context);
	node->tupdesc = CreateTupleDescCopy(type->tupDesc);
	node->members = palloc0(sizeof(WcNested *) * Max(node->tupdesc->natts, 1));
	for (int i = 0; i < node->tupdesc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(node->tupdesc, i);

		if (!att->attisdropped)
			node->members[i] = wc_nested_create(att->atttypid, att->atttypmod, node->labels, node->as_key);
	}
	MemoryContextSwitchTo(old);
	node->identifier = type->tupDesc_identifier;
}

int
wc_nested_guards(WcNested *node)
{
	int			guards = 0;

	check_stack_depth();
	switch (node->kind)
	{
		case NESTED_SCALAR:
		case NESTED_ENUM:
			return node->guards;
		case NESTED_ARRAY:
		case NESTED_RANGE:
		case NESTED_MULTIRANGE:
			return wc_nested_guards(node->members[0]);
		case NESTED_ROW:
			refresh_row(node);
			for (int i = 0; i < node->tupdesc->natts; i++)
			{
				if (node->members[i] != NULL)
					guards |= wc_nested_guards(node->members[i]);
			}
			return guards;
	}
	return guards;
}

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
	return InputFunctionCall(&node->in_fn, label != NULL ? pstrdup(label) : string, node->ioparam, node->typmod);
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

/* --- composite types --------------------------------------------------------------- */

static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

void
wc_nested_append_field(StringInfo s, const char *field, const char *special)
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

static char *
row_out_members(WcNested *node, Datum value)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(value);
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(header),.t_data = header};
	int			natts;
	Datum	   *values;
	bool	   *nulls;
	StringInfoData s;

	refresh_row(node);
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
			wc_nested_append_field(&s, wc_nested_out(node->members[i], values[i]), "\"\\(),");
	}
	appendStringInfoChar(&s, ')');
	return s.data;
}

static void pg_attribute_noreturn()
malformed(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("malformed record literal: %s", detail)));
}

char *
wc_nested_read_field(const char **at, const char *ends)
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
			malformed("unexpected end of input");
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

static Datum
row_in_members(WcNested *node, const char *string)
{
	int			natts;
	Datum	   *values;
	bool	   *nulls;
	const char *p = string;
	int			n = 0;

	refresh_row(node);
	natts = node->tupdesc->natts;
	values = palloc0(sizeof(Datum) * Max(natts, 1));
	nulls = palloc(sizeof(bool) * Max(natts, 1));
	memset(nulls, true, sizeof(bool) * Max(natts, 1));
	while (is_space(*p))
		p++;
	if (*p != '(')
		malformed("missing left parenthesis");
	for (; *p != ')'; n++)
	{
		char	   *field;

		p++;
		if (n == 0 && *p == ')' && natts == 0)
			break;
		field = wc_nested_read_field(&p, ",)");
		if (n >= natts)
			malformed("too many columns");
		if (field == NULL || node->members[n] == NULL)
			continue;
		values[n] = wc_nested_in(node->members[n], field);
		nulls[n] = false;
	}
	p++;
	while (is_space(*p))
		p++;
	if (*p != '\0')
		malformed("junk after right parenthesis");
	return HeapTupleGetDatum(heap_form_tuple(node->tupdesc, values, nulls));
}

/* --- all of them ------------------------------------------------------------------- */

char *
wc_nested_out(WcNested *node, Datum value)
{
	check_stack_depth();
	switch (node->kind)
	{
		case NESTED_ENUM:
			return enum_out_label(node, value);
		case NESTED_ARRAY:
			return array_out_members(node, value);
		case NESTED_RANGE:
			return wc_range_out_bounds(node->members[0], node->type, value);
		case NESTED_MULTIRANGE:
			return wc_multirange_out_ranges(node->members[0], node->type, value);
		case NESTED_ROW:
			return row_out_members(node, value);
		case NESTED_SCALAR:
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
		case NESTED_ENUM:
			return enum_in_label(node, string);
		case NESTED_ARRAY:
			return array_in_members(node, string);
		case NESTED_RANGE:
			return wc_range_in_bounds(node->members[0], node->type, string);
		case NESTED_MULTIRANGE:
			return wc_multirange_in_ranges(node->members[0], node->type, string);
		case NESTED_ROW:
			return row_in_members(node, string);
		case NESTED_SCALAR:
			break;
	}
	return InputFunctionCall(&node->in_fn, string, node->ioparam, node->typmod);
}
