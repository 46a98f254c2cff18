/*
 * client/catalog/tablechange.c: changes of the embedded engine's tables.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"

#include "channel/shmem.h"
#include "client/catalog/catalog.h"
#include "client/foreign/foreign.h"

/* Locks the table's name and its namespace; raises an error if the namespace does not exist, or another table has the name. */
static void
require_free_name(const WcTableDesc *desc)
{
	const char *ns = wc_name_from_utf8(desc->ns);

	wc_name_lock(desc->ns, wc_slice(NULL, 0), AccessShareLock);
	wc_name_lock(desc->ns, desc->name, AccessExclusiveLock);
	if (wc_client_namespace(ns) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("namespace \"%s\" does not exist", ns),
				 errhint("Make it with widecol.create_namespace.")));
	if (wc_table_find(desc->ns, desc->name))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("stored table \"%s\" already exists", wc_client_table_fullname(desc))));
}

void
wc_client_create_table(WcTableDesc *desc)
{
	WcBatchBuilder *b;
	WcError		err;

	wc_client_require_writable();
	require_free_name(desc);
	if (!OidIsValid(desc->owner))
		desc->owner = GetUserId();
	wc_foreign_check_owners(desc);

	desc->id = wc_driver()->new_table_id();
	desc->database = MyDatabaseId;
	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		desc->families[i].id = i + 1;
		desc->families[i].generation = 1;
	}
	desc->next_family_id = desc->nfamilies + 1;
	b = wc_batch_builder();
	wc_catalog_change(wc_batch_create_table(b, GetCurrentCommandId(true), desc, &err), &err);
}

void
wc_client_alter_table(const WcTableDesc *from)
{
	WcTableDesc *desc = wc_table_copy(from);
	WcBatchBuilder *b;
	WcError		err;

	wc_client_require_writable();
	wc_name_lock(desc->ns, desc->name, AccessExclusiveLock);
	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		if (desc->families[i].id != 0)
			continue;
		desc->families[i].id = desc->next_family_id++;
		desc->families[i].generation = 1;
	}
	b = wc_batch_builder();
	wc_catalog_change(wc_batch_alter_table(b, GetCurrentCommandId(true), desc, &err), &err);

	/* the next write of this transaction checks again whether the table is disabled */
	wc_writer_locks_forget();
}

void
wc_client_rename_table(const char *old_name, const WcTableDesc *desc)
{
	WcError		err;

	wc_client_require_writable();
	wc_client_lock_table(old_name, AccessExclusiveLock);
	require_free_name(desc);
	wc_foreign_check_owners(desc);
	wc_catalog_change(wc_batch_alter_table(wc_batch_builder(), GetCurrentCommandId(true), desc, &err), &err);
	wc_writer_locks_forget();
}

void
wc_client_drop_table(const WcTableDesc *desc)
{
	WcError		err;

	wc_client_require_writable();
	wc_name_lock(desc->ns, desc->name, AccessExclusiveLock);
	wc_serial_write_table(desc->id);
	wc_catalog_change(wc_batch_drop_table(wc_batch_builder(), GetCurrentCommandId(true), desc->id, &err), &err);
}

void
wc_client_truncate_table(const WcTableDesc *desc)
{
	WcError		err;

	wc_client_require_writable();
	wc_name_lock(desc->ns, desc->name, AccessExclusiveLock);
	wc_serial_write_table(desc->id);
	wc_catalog_change(wc_batch_truncate_table(wc_batch_builder(), GetCurrentCommandId(true), desc->id, &err), &err);
}

void
wc_client_drop_database(Oid database)
{
	WcError		err;

	if (wc_shmem() == NULL)
		return;					/* without an engine there are no tables */
	if (XactReadOnly || RecoveryInProgress())
		return;					/* PostgreSQL refuses */
	wc_catalog_change(wc_batch_drop_database(wc_batch_open(), GetCurrentCommandId(true), database, &err), &err);
}
