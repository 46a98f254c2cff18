/*
 * fdw/convert/convert_node.c: what a type is made of that has enums that were renamed, or composite types, in it.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "fdw/convert/convert_node.h"

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

/* Is the type an array or a range, at any depth, whose members are of a domain? */
static bool
has_domain(Oid type)
{
	Oid			member;

	check_stack_depth();
	type = getBaseType(type);
	member = get_typtype(type) == TYPTYPE_COMPOSITE ? InvalidOid : member_of(type);
	return OidIsValid(member) && (get_typtype(member) == TYPTYPE_DOMAIN || has_domain(member));
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
		case TYPTYPE_RANGE:
			member = member_of(type);
			return get_typtype(member) == TYPTYPE_DOMAIN || has_domain(member) || wc_nested_is(member, labels);
		default:
			/* members of a domain over a simple type are read by the array's input function (convert_input.c) */
			member = member_of(type);
			return OidIsValid(member) && (has_domain(member) || wc_nested_is(member, labels));
	}
}

static WcNestedKind
kind_of(Oid type, const List *labels)
{
	if (!wc_nested_is(type, labels))
		return WC_NESTED_SCALAR;
	switch (get_typtype(type))
	{
		case TYPTYPE_ENUM:
			return WC_NESTED_ENUM;
		case TYPTYPE_COMPOSITE:
			return WC_NESTED_ROW;
		case TYPTYPE_RANGE:
			return WC_NESTED_RANGE;
		case TYPTYPE_MULTIRANGE:
			return WC_NESTED_MULTIRANGE;
		default:
			return WC_NESTED_ARRAY;
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
		case WC_NESTED_SCALAR:
		case WC_NESTED_ENUM:
			getTypeOutputInfo(node->type, &function, &is_varlena);
			fmgr_info(function, &node->out_fn);
			wc_input_init(&node->in, node->type, node->typmod);
			node->guards = wc_form_guards(node->type);
			break;
		case WC_NESTED_ARRAY:
			node->members = palloc(sizeof(WcNested *));
			node->members[0] = wc_nested_create(get_element_type(node->type), typmod, labels, as_key);
			get_typlenbyvalalign(get_element_type(node->type), &node->len, &node->byval, &node->align);
			node->guards = wc_form_guards(TEXTARRAYOID);	/* it is read and written as one */
			break;
		case WC_NESTED_RANGE:
		case WC_NESTED_MULTIRANGE:
			node->members = palloc(sizeof(WcNested *));
			node->members[0] = wc_nested_create(member_of(node->type), -1, labels, as_key);
			break;
		case WC_NESTED_ROW:
			break;
	}
	return node;
}

void
wc_nested_refresh(WcNested *node)
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
		case WC_NESTED_SCALAR:
		case WC_NESTED_ENUM:
			return node->guards;
		case WC_NESTED_ARRAY:
			return node->guards | wc_nested_guards(node->members[0]);
		case WC_NESTED_RANGE:
		case WC_NESTED_MULTIRANGE:
			return wc_nested_guards(node->members[0]);
		case WC_NESTED_ROW:
			wc_nested_refresh(node);
			for (int i = 0; i < node->tupdesc->natts; i++)
			{
				if (node->members[i] != NULL)
					guards |= wc_nested_guards(node->members[i]);
			}
			return guards;
	}
	return guards;
}
