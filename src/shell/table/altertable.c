/*
 * shell/table/altertable.c: properties of a stored table beside its families: its name, its time to live,
 * whether it may be written to; and a new table like it.
 *
 * All of it belongs to the transaction, and takes the stored table's owner (client/catalog/owner.h),
 * unless it says otherwise.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "client/catalog/owner.h"
#include "client/foreign/foreign.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_rename_table);
PG_FUNCTION_INFO_V1(widecol_alter_table_ttl);
PG_FUNCTION_INFO_V1(widecol_clone_table_schema);
PG_FUNCTION_INFO_V1(widecol_enable);
PG_FUNCTION_INFO_V1(widecol_disable);
PG_FUNCTION_INFO_V1(widecol_is_enabled);

void
wc_require_no_snapshot(const WcTableDesc *desc)
{
	if (desc->origin.len == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("stored table \"%s\" is a snapshot", wc_client_table_fullname(desc)),
			 errhint("widecol.clone_snapshot makes a table of it that can be changed.")));
}

/* rename_table(name, new_name): foreign tables that map it go on to do so */
Datum
widecol_rename_table(PG_FUNCTION_ARGS)
{
	char	   *name = wc_arg_name(fcinfo, 0, "name");
	char	   *new_name = wc_arg_name(fcinfo, 1, "new_name");
	List	   *relids;
	ListCell   *lc;
	WcTableDesc *desc = wc_owner_open(wc_client_embedded(), name, "rename", NIL, &relids);

	wc_owner_require_usage(wc_client_embedded());
	wc_require_no_snapshot(desc);
	wc_client_split_name(new_name, &desc->ns, &desc->name);
	wc_client_rename_table(name, desc);
	foreach(lc, relids)
		wc_foreign_set_table(lfirst_oid(lc), new_name);
	PG_RETURN_VOID();
}

/* alter_table_ttl(name, ttl): of the families that have none of their own; NULL: for ever */
Datum
widecol_alter_table_ttl(PG_FUNCTION_ARGS)
{
	int64		ttl_us = wc_arg_ttl_us(fcinfo, 1);
	WcTableDesc *desc;

	wc_arg_not_null(fcinfo, 0, "name");
	desc = wc_owner_open(wc_client_embedded(), wc_arg_cstring(fcinfo, 0), "alter", NIL, NULL);
	desc->ttl_us = ttl_us;
	wc_table_desc_inherit(desc);
	wc_client_alter_table(desc);
	wc_foreign_tell_all(desc);
	PG_RETURN_VOID();
}

/* clone_table_schema(name, new_name, preserve_splits, server): an empty table like another; it takes USAGE
 * on the server, as making one and describing one do */
Datum
widecol_clone_table_schema(PG_FUNCTION_ARGS)
{
	WcClientStore *store = wc_arg_store(fcinfo, 3);
	WcTableDesc *desc;
	char	   *name = wc_arg_name(fcinfo, 0, "name");
	char	   *new_name = wc_arg_name(fcinfo, 1, "new_name");

	wc_arg_not_null(fcinfo, 2, "preserve_splits");
	wc_owner_require_usage(store);
	desc = wc_client_store_table(store, name, false);
	if (PG_GETARG_BOOL(2))
		wc_client_store_read_splits(store, desc);
	wc_client_split_name(new_name, &desc->ns, &desc->name);
	desc->owner = InvalidOid;
	desc->disabled = false;
	desc->origin = wc_slice(NULL, 0);
	if (!PG_GETARG_BOOL(2))
		desc->nsplits = 0;
	for (uint32 i = 0; i < desc->nfamilies; i++)
		desc->families[i].history_from_us = 0;
	if (wc_client_store_is_embedded(store))
		wc_client_lock_table(new_name, AccessExclusiveLock);
	wc_client_store_create_table(store, desc);
	PG_RETURN_VOID();
}

/* Waits for transactions that have written to it; readers go on. */
static void
set_disabled(FunctionCallInfo fcinfo, bool disabled)
{
	WcClientStore *store = wc_arg_store(fcinfo, 1);
	WcTableDesc *desc = wc_owner_open_name(store, wc_arg_name(fcinfo, 0, "name"));

	if (wc_client_store_table_enabled(store, desc) == !disabled)
		return;
	wc_require_no_snapshot(desc);
	wc_client_store_enable_table(store, desc, !disabled);
}

/* enable(name, server) */
Datum
widecol_enable(PG_FUNCTION_ARGS)
{
	set_disabled(fcinfo, false);
	PG_RETURN_VOID();
}

/* disable(name, server): writes to it fail from then on; in HBase, reads, too */
Datum
widecol_disable(PG_FUNCTION_ARGS)
{
	set_disabled(fcinfo, true);
	PG_RETURN_VOID();
}

/* is_enabled(name, server): all roles may call it; for a table in HBase, roles with USAGE on the server */
Datum
widecol_is_enabled(PG_FUNCTION_ARGS)
{
	WcClientStore *store = wc_arg_store(fcinfo, 1);

	if (!wc_client_store_is_embedded(store))
		wc_owner_require_usage(store);
	PG_RETURN_BOOL(wc_client_store_table_enabled(store, wc_client_store_table(store, wc_arg_cstring(fcinfo, 0), false)));
}
