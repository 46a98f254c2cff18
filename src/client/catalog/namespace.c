/*
 * client/catalog/namespace.c: namespaces, and changes of them.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"

#include "client/catalog/catalog.h"

List *
wc_client_list_namespaces(void)
{
	return wc_client_store_namespaces(wc_client_embedded());
}

List *
wc_client_store_namespaces(WcClientStore *store)
{
	List	   *namespaces = NIL;
	WcSlice		list;
	WcDecoder	d;

	wc_catalog_join(store);
	store->driver->list_namespaces(store->server, &list);
	d = wc_decoder(list);
	for (uint64 n = wc_decode_varint(&d); n > 0 && !d.failed; n--)
	{
		WcClientNamespace *ns = palloc0(sizeof(WcClientNamespace));
		WcSlice		properties;

		ns->name = wc_name_from_utf8(wc_decode_bytes(&d));
		properties = wc_decode_bytes(&d);
		if (properties.len > 0)
			ns->properties = wc_name_from_utf8(properties);
		namespaces = lappend(namespaces, ns);
	}
	if (!wc_decoder_done(&d))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("list of namespaces is malformed")));
	return namespaces;
}

const WcClientNamespace *
wc_client_namespace(const char *name)
{
	ListCell   *lc;

	foreach(lc, wc_client_list_namespaces())
	{
		const WcClientNamespace *ns = lfirst(lc);

		if (strcmp(ns->name, name) == 0)
			return ns;
	}
	return NULL;
}

/* --- changes ------------------------------------------------------------------- */

WcSlice
wc_client_namespace_name(const char *name)
{
	WcSlice		ns = wc_name_to_utf8(name);
	WcError		err;

	if (wc_namespace_name_check(ns, &err) != WC_OK)
		wc_raise(&err);
	return ns;
}

const WcClientNamespace *
wc_client_require_namespace(const char *name)
{
	const WcClientNamespace *ns = wc_client_namespace(name);

	if (ns == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("namespace \"%s\" does not exist", name)));
	return ns;
}

static void
create_namespace(const char *name, bool missing_only)
{
	WcSlice		ns = wc_client_namespace_name(name);
	WcError		err;

	wc_client_require_writable();
	wc_name_lock(ns, wc_slice(NULL, 0), AccessExclusiveLock);
	if (wc_client_namespace(name) != NULL)
	{
		if (missing_only)
			return;
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_SCHEMA),
				 errmsg("namespace \"%s\" already exists", name)));
	}
	wc_catalog_change(wc_batch_namespace(wc_batch_builder(), WC_OP_CREATE_NAMESPACE, GetCurrentCommandId(true),
							 MyDatabaseId, ns, &err), &err);
}

void
wc_client_create_namespace(const char *name)
{
	create_namespace(name, false);
}

void
wc_client_ensure_namespace(const char *name)
{
	if (wc_client_namespace(name) == NULL)
		create_namespace(name, true);
}

void
wc_client_drop_namespace(const char *name)
{
	WcSlice		ns = wc_client_namespace_name(name);
	ListCell   *lc;
	WcError		err;

	wc_client_require_writable();
	wc_name_lock(ns, wc_slice(NULL, 0), AccessExclusiveLock);
	if (wc_slice_eq(ns, wc_slice_cstr(WC_NAMESPACE_DEFAULT)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("namespace \"%s\" cannot be dropped", name)));
	(void) wc_client_require_namespace(name);
	foreach(lc, wc_client_list_tables())
	{
		WcTableDesc *desc = lfirst(lc);

		if (wc_slice_eq(desc->ns, ns))
			ereport(ERROR,
					(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
					 errmsg("namespace \"%s\" is not empty", name),
					 errdetail("It has stored table \"%s\".", wc_client_table_fullname(desc))));
	}
	wc_catalog_change(wc_batch_namespace(wc_batch_builder(), WC_OP_DROP_NAMESPACE, GetCurrentCommandId(true),
							 MyDatabaseId, ns, &err), &err);
}

/* Raises 22023 unless properties is an object of strings, numbers, booleans and nulls. */
static void
check_properties(const char *name, Jsonb *properties)
{
	JsonbIterator *it = JsonbIteratorInit(&properties->root);
	JsonbValue	v;

	if (!JB_ROOT_IS_OBJECT(properties))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("properties of namespace \"%s\" must be a JSON object", name),
				 errhint("For example: {\"owner\": \"sales\", \"old\": null}.")));
	(void) JsonbIteratorNext(&it, &v, true);	/* the object itself */
	while (JsonbIteratorNext(&it, &v, true) == WJB_KEY)
	{
		char	   *key = pnstrdup(v.val.string.val, v.val.string.len);

		(void) JsonbIteratorNext(&it, &v, true);
		if (!IsAJsonbScalar(&v))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("property \"%s\" of namespace \"%s\" must be a string, a number, a boolean or null", key, name)));
	}
}

void
wc_client_change_properties(const char *name, Jsonb *properties)
{
	WcSlice		ns = wc_client_namespace_name(name);
	const WcClientNamespace *old;
	Datum		new;
	char	   *text;
	WcSlice		bytes = wc_slice(NULL, 0);
	WcError		err;

	check_properties(name, properties);
	wc_client_require_writable();
	/* this mode lets other transactions make tables in the namespace at the same time */
	wc_name_lock(ns, wc_slice(NULL, 0), ShareUpdateExclusiveLock);
	old = wc_client_require_namespace(name);
	new = DirectFunctionCall1(jsonb_in, CStringGetDatum(old->properties ? old->properties : "{}"));
	new = DirectFunctionCall2(jsonb_concat, new, JsonbPGetDatum(properties));
	new = DirectFunctionCall1(jsonb_strip_nulls, new);
	if (JB_ROOT_COUNT(DatumGetJsonbP(new)) > 0)
	{
		text = DatumGetCString(DirectFunctionCall1(jsonb_out, new));
		bytes = wc_name_to_utf8(text);
	}
	wc_catalog_change(wc_batch_alter_namespace(wc_batch_builder(), GetCurrentCommandId(true), MyDatabaseId, ns, bytes, &err), &err);
}
