/*
 * shell/table/snapshot.c: snapshots of stored tables.
 *
 * A snapshot is a stored table of the namespace "snapshot" that is disabled: its descriptor says
 * of which table it is and when it was taken.  It is a copy, cell by cell, with delete markers
 * and all versions that are stored: as any write it is in PostgreSQL's log, so that standbys
 * and backups have it, and belongs to the transaction.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "base/clock.h"
#include "client/catalog/owner.h"
#include "client/foreign/foreign.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_snapshot);
PG_FUNCTION_INFO_V1(widecol_clone_snapshot);
PG_FUNCTION_INFO_V1(widecol_restore_snapshot);
PG_FUNCTION_INFO_V1(widecol_delete_snapshot);
PG_FUNCTION_INFO_V1(widecol_list_snapshots);

#define SNAPSHOT_NAMESPACE "snapshot"

/* Rows with more than this are copied in several operations. */
#define COPY_OPERATION (1024 * 1024)

static char *
name_of(const char *snapshot)
{
	return psprintf(SNAPSHOT_NAMESPACE ":%s", snapshot);
}

/* One that the caller may use. */
static WcTableDesc *
open_snapshot(const char *snapshot)
{
	WcTableDesc *desc = wc_client_table(name_of(snapshot), true);

	if (desc == NULL || desc->origin.len == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("snapshot \"%s\" does not exist", snapshot),
				 errhint("widecol.list_snapshots lists those there are.")));
	wc_owner_require(desc, NULL);
	wc_client_lock_table(name_of(snapshot), AccessShareLock);
	return wc_client_table(name_of(snapshot), false);
}

/* --- copying -------------------------------------------------------------------- */

typedef struct Copy
{
	WcScan		scan;
	const WcTableDesc *from;
	const WcTableDesc *to;
	WcBatchBuilder *batch;		/* NULL: no operation is open */
} Copy;

static void
end_operation(Copy *c)
{
	WcError		err;

	if (c->batch == NULL)
		return;
	if (wc_batch_row_end(c->batch, &err) != WC_OK)
		wc_client_write_failed(&err);
	c->batch = NULL;
	wc_client_write_done();
}

static void
copy_cell(Copy *c, WcSlice row, const WcCell *cell)
{
	const WcFamilyDesc *from = wc_table_desc_family_by_id(c->from, cell->family);
	const WcFamilyDesc *to = from ? wc_table_desc_family(c->to, from->name) : NULL;
	WcError		err;
	WcStatus	status;

	if (to == NULL)
		elog(ERROR, "cell of unknown family %u", cell->family);
	if (c->batch == NULL)
	{
		c->batch = wc_client_write(c->to);
		if (wc_batch_row_begin(c->batch, c->to->id, GetCurrentCommandId(true), row, 0, NULL, 0, &err) != WC_OK)
			wc_client_write_failed(&err);
	}
	if (cell->type == WC_PUT)
		status = wc_batch_put(c->batch, to->id, cell->qualifier, cell->ts, cell->ttl_us, cell->value, &err);
	else
		status = wc_batch_delete(c->batch, (WcCellType) cell->type, to->id, cell->qualifier, cell->ts, &err);
	if (status != WC_OK)
		wc_client_write_failed(&err);
	if (c->batch->buf->len - c->batch->op_start > COPY_OPERATION)
		end_operation(c);
}

/*
 * Copies everything that is stored of a table, as the statement sees it; of a snapshot, which never changes,
 * everything, also if it was taken after this transaction's snapshot. `to` is empty, and has the families of
 * `from`.
 */
static void
copy_cells(const WcTableDesc *from, const WcTableDesc *to)
{
	bool		newest = from->origin.len > 0;
	Snapshot	snapshot = GetActiveSnapshot();
	Copy		c = {.from = from,.to = to};
	WcClientScan *rows;
	WcSlice		row;
	WcCell		cell;
	uint32		colno;

	wc_scan_init(&c.scan, from->id);
	c.scan.raw = true;
	c.scan.versions = WC_VERSIONS_MAX;
	c.scan.want_ts = true;
	rows = wc_client_scan_open(&c.scan, wc_client_snapshot(newest ? NULL : snapshot),
							   newest ? GetCurrentCommandId(true) + 1 : snapshot->curcid, 0, CurrentMemoryContext);
	while (wc_client_next_row(rows, &row))
	{
		CHECK_FOR_INTERRUPTS();
		while (wc_client_next_cell(rows, &cell, &colno))
			copy_cell(&c, row, &cell);
		end_operation(&c);
	}
	wc_client_scan_close(rows);
}

/* A new stored table like another, with its cells, under the name that desc has. */
static WcTableDesc *
make_copy(const WcTableDesc *from, WcTableDesc *desc)
{
	WcTableDesc *made;

	/* forgotten cells are not copied */
	for (uint32 i = 0; i < desc->nfamilies; i++)
		desc->families[i].history_from_us = wc_clock_wall_us();
	wc_client_create_table(desc);
	made = wc_client_table(wc_client_table_fullname(desc), false);
	copy_cells(from, made);
	return made;
}

/* --- functions ------------------------------------------------------------------- */

/* snapshot(name, snapshot): the table's owner calls it, and owns the snapshot */
Datum
widecol_snapshot(PG_FUNCTION_ARGS)
{
	char	   *name = wc_arg_name(fcinfo, 0, "name");
	char	   *snapshot = wc_arg_name(fcinfo, 1, "snapshot");
	WcTableDesc *from;
	WcTableDesc *desc;

	wc_client_require_writable();
	wc_owner_require_usage(wc_client_embedded());
	wc_owner_require(wc_client_table(name, false), NULL);
	wc_client_lock_table(name, AccessShareLock);
	from = wc_client_table(name, false);
	wc_owner_require(from, NULL);
	wc_require_no_snapshot(from);

	desc = wc_client_table(name, false);
	wc_client_split_name(name_of(snapshot), &desc->ns, &desc->name);
	desc->origin = wc_name_to_utf8(wc_client_table_fullname(from));
	desc->taken_us = wc_clock_wall_us();
	desc->disabled = false;
	wc_client_ensure_namespace(SNAPSHOT_NAMESPACE);
	desc = make_copy(from, desc);
	desc->disabled = true;
	wc_client_alter_table(desc);
	PG_RETURN_VOID();
}

/* clone_snapshot(snapshot, new_name): a new table, the caller's */
Datum
widecol_clone_snapshot(PG_FUNCTION_ARGS)
{
	char	   *snapshot = wc_arg_name(fcinfo, 0, "snapshot");
	char	   *new_name = wc_arg_name(fcinfo, 1, "new_name");
	WcTableDesc *from;
	WcTableDesc *desc;

	wc_client_require_writable();
	wc_owner_require_usage(wc_client_embedded());
	from = open_snapshot(snapshot);
	desc = open_snapshot(snapshot);
	wc_client_split_name(new_name, &desc->ns, &desc->name);
	desc->origin = wc_slice(NULL, 0);
	desc->disabled = false;
	desc->owner = InvalidOid;
	(void) make_copy(from, desc);
	PG_RETURN_VOID();
}

/* The table gets the families of the snapshot, and keeps the storage of those that it has. */
static void
set_families(WcTableDesc *desc, const char *name, const WcTableDesc *snapshot)
{
	WcFamilyDesc *families = palloc0(sizeof(WcFamilyDesc) * snapshot->nfamilies);

	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		if (wc_table_desc_family(snapshot, desc->families[i].name) == NULL)
			wc_family_require_unused(wc_client_embedded(), name, pnstrdup((const char *) desc->families[i].name.data, desc->families[i].name.len));
	}
	for (uint32 i = 0; i < snapshot->nfamilies; i++)
	{
		const WcFamilyDesc *wanted = &snapshot->families[i];
		const WcFamilyDesc *old = wc_table_desc_family(desc, wanted->name);

		/* one of another packing gets new storage */
		if (old != NULL && old->attrs.packing == wanted->attrs.packing)
			families[i] = *old;
		families[i].name = wanted->name;
		families[i].attrs = wanted->attrs;
	}
	desc->families = families;
	desc->nfamilies = snapshot->nfamilies;
	desc->nsplits = snapshot->nsplits;
	desc->splits = snapshot->splits;
	desc->ttl_us = snapshot->ttl_us;
}

/* restore_snapshot(snapshot, name): the table (by default the one that the snapshot was taken of) gets its
 * content of then */
Datum
widecol_restore_snapshot(PG_FUNCTION_ARGS)
{
	WcTableDesc *snapshot;
	WcTableDesc *desc;
	char	   *name;
	bool		disabled;

	wc_arg_not_null(fcinfo, 0, "snapshot");
	wc_client_require_writable();
	snapshot = open_snapshot(wc_arg_cstring(fcinfo, 0));
	name = PG_ARGISNULL(1) ? wc_name_from_utf8(snapshot->origin) : wc_arg_cstring(fcinfo, 1);
	desc = wc_owner_open(wc_client_embedded(), name, "restore", NIL, NULL);
	wc_require_no_snapshot(desc);
	disabled = desc->disabled;
	desc->disabled = false;
	set_families(desc, name, snapshot);
	wc_client_alter_table(desc);
	desc = wc_client_table(name, false);
	wc_client_truncate_table(desc);
	copy_cells(snapshot, wc_client_table(name, false));
	desc = wc_client_table(name, false);
	wc_foreign_tell_all(desc);
	if (disabled)
	{
		desc->disabled = true;
		wc_client_alter_table(desc);
	}
	PG_RETURN_VOID();
}

/* delete_snapshot(snapshot) */
Datum
widecol_delete_snapshot(PG_FUNCTION_ARGS)
{
	char	   *snapshot = wc_arg_name(fcinfo, 0, "snapshot");
	WcTableDesc *desc;
	List	   *relids;

	wc_client_require_writable();
	(void) open_snapshot(snapshot);
	desc = wc_owner_open(wc_client_embedded(), name_of(snapshot), "delete", NIL, &relids);
	if (relids != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("cannot delete snapshot \"%s\" because foreign tables map it", snapshot),
				 errdetail("One of them is %s.", wc_foreign_qualified_name(linitial_oid(relids))),
				 errhint("Drop them first.")));
	wc_client_drop_table(desc);
	PG_RETURN_VOID();
}

/* snapshot, table, taken, owner */
Datum
widecol_list_snapshots(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, wc_client_list_tables())
	{
		const WcTableDesc *desc = lfirst(lc);
		char	   *owner = wc_owner_name(desc);
		Datum		values[4] = {0};
		bool		nulls[4] = {false};

		if (desc->origin.len == 0)
			continue;
		values[0] = CStringGetTextDatum(wc_name_from_utf8(desc->name));
		values[1] = CStringGetTextDatum(wc_name_from_utf8(desc->origin));
		values[2] = TimestampTzGetDatum(desc->taken_us - (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY);
		nulls[3] = owner == NULL;
		if (owner != NULL)
			values[3] = DirectFunctionCall1(namein, CStringGetDatum(owner));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
