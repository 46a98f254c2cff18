/*
 * fdw/relation/hstore.c: the type hstore of PostgreSQL's extension hstore.
 *
 * widecol calls the type's functions and takes their results for an hstore or a jsonb.  So the name alone is not enough:
 * any role may make a type hstore and a function hstore(text[], text[]).  Membership in the extension is not enough
 * either: its owner may add objects to it.  Only superusers can make C functions and base types.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_language.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "fdw/relation/hstore.h"

#define NAME "hstore"

static bool
is_the_type(Oid type, Oid extension)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Form_pg_type form;
	bool		is;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_type) GETSTRUCT(tuple);
	is = form->typtype == TYPTYPE_BASE && strcmp(NameStr(form->typname), NAME) == 0;
	ReleaseSysCache(tuple);
	return is && getExtensionOfObject(TypeRelationId, type) == extension;
}

/* Is it a C function of the extension, of these types? */
static bool
is_function(Form_pg_proc proc, Oid extension, int nargs, Oid argument, Oid result)
{
	if (proc->prolang != ClanguageId || proc->prorettype != result || proc->proretset || proc->pronargs != nargs)
		return false;
	for (int i = 0; i < nargs; i++)
	{
		if (proc->proargtypes.values[i] != argument)
			return false;
	}
	return getExtensionOfObject(ProcedureRelationId, proc->oid) == extension;
}

static Oid
find_from_arrays(Oid type, Oid extension)
{
	CatCList   *list = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(NAME));
	Oid			found = InvalidOid;

	for (int i = 0; i < list->n_members && !OidIsValid(found); i++)
	{
		Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(&list->members[i]->tuple);

		if (is_function(proc, extension, 2, TEXTARRAYOID, type))
			found = proc->oid;
	}
	ReleaseCatCacheList(list);
	return found;
}

static Oid
find_to_jsonb(Oid type, Oid extension)
{
	HeapTuple	tuple = SearchSysCache2(CASTSOURCETARGET, ObjectIdGetDatum(type), ObjectIdGetDatum(JSONBOID));
	Oid			function;
	bool		is;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	function = ((Form_pg_cast) GETSTRUCT(tuple))->castfunc;
	ReleaseSysCache(tuple);
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	is = is_function((Form_pg_proc) GETSTRUCT(tuple), extension, 1, type, JSONBOID);
	ReleaseSysCache(tuple);
	return is ? function : InvalidOid;
}

bool
wc_hstore_find(Oid type, WcHstore *hstore)
{
	Oid			extension = get_extension_oid(NAME, true);

	if (!OidIsValid(extension) || !is_the_type(type, extension))
		return false;
	hstore->from_arrays = find_from_arrays(type, extension);
	hstore->to_jsonb = find_to_jsonb(type, extension);
	return OidIsValid(hstore->from_arrays) && OidIsValid(hstore->to_jsonb);
}

void
wc_hstore_get(Oid type, WcHstore *hstore)
{
	if (!wc_hstore_find(type, hstore))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("the functions of extension \"%s\" that make type %s and change it to jsonb do not exist",
						NAME, format_type_be(type))));
}

bool
wc_hstore_is_function(Oid function, Oid type, const char *symbol)
{
	Oid			extension = get_extension_oid(NAME, true);
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		is = false;
	Datum		source;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		return false;
	source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
	if (!isnull && ((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
		is = strcmp(TextDatumGetCString(source), symbol) == 0;
	ReleaseSysCache(tuple);
	return is && OidIsValid(extension) && getExtensionOfObject(ProcedureRelationId, function) == extension &&
		is_the_type(type, extension);
}

Oid
wc_hstore_member_operator(Oid type)
{
	CatCList   *list = SearchSysCacheList3(OPERNAMENSP, CStringGetDatum("->"), ObjectIdGetDatum(type),
										   ObjectIdGetDatum(TEXTOID));
	Oid			found = InvalidOid;

	for (int i = 0; i < list->n_members && !OidIsValid(found); i++)
	{
		Form_pg_operator op = (Form_pg_operator) GETSTRUCT(&list->members[i]->tuple);

		if (wc_hstore_is_function(op->oprcode, type, "hstore_fetchval"))
			found = op->oid;
	}
	ReleaseCatCacheList(list);
	return found;
}
