/*
 * fdw/dump/dump.c: widecol.dump as a foreign table.
 *
 * A scan gives the namespaces, then the stored tables, then the cells that no foreign table
 * brings back.  Families that no foreign table maps are read raw, so that delete markers and
 * masked cells come too; of the others, the visible versions that no column shows, and those
 * with more to them than columns show.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "foreign/fdwapi.h"
#include "miscadmin.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "base/clock.h"
#include "client/catalog/owner.h"
#include "client/client.h"
#include "client/foreign/families.h"
#include "client/foreign/foreign.h"
#include "client/foreign/ttl.h"
#include "compat.h"
#include "fdw/convert/convert.h"
#include "fdw/dump/dump.h"
#include "fdw/fdw.h"
#include "fdw/relation/systemcolumn.h"

/* --- planning ------------------------------------------------------------------- */

static void
get_rel_size(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	wc_system_columns_check(root, baserel);
	baserel->rows = 1000;
}

static void
get_paths(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	add_path(baserel, (Path *) wc_make_foreign_path(root, baserel, baserel->rows, 0, baserel->rows, NIL,
													baserel->lateral_relids, NIL));
}

static ForeignScan *
get_plan(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid, ForeignPath *best_path,
		 List *tlist, List *scan_clauses, Plan *outer_plan)
{
	return make_foreignscan(tlist, extract_actual_clauses(scan_clauses, false), baserel->relid, NIL, NIL, NIL, NIL,
							outer_plan);
}

/* --- scan ------------------------------------------------------------------------ */

/* The part of a stored table that is being read. */
typedef enum Pass
{
	PASS_NONE,
	PASS_UNMAPPED,				/* families that no foreign table maps, raw */
	PASS_REST,					/* the others */
	PASS_DONE
} Pass;

typedef struct DumpScan
{
	MemoryContext context;		/* of the scan */
	MemoryContext table_context;
	Oid			server;			/* of widecol.dump */
	Snapshot	pg_snapshot;
	WcClientSnapshot *snapshot;
	int64		now_us;

	List	   *namespaces;		/* WcClientNamespace *; "default" if it has properties */
	List	   *tables;			/* WcTableDesc * */
	int			namespace_no;
	int			described;		/* of tables, those that rows of kind table have been given of */
	int			table_no;		/* of tables, the one whose cells are being read */

	Pass		pass;
	WcShown    *shown;
	WcClientScan *scan;			/* NULL: none is open */
	WcColumn   *columns;		/* of the scan */
	WcSlice		row;			/* the current one; empty: none */
	uint32		family;			/* of the cell before in this row */
	WcBuf		qualifier;		/* likewise */
	int			version;		/* likewise: how many of its column have been before it */
	bool		first_cell;
} DumpScan;

static void
free_buffer(void *arg)
{
	wc_buf_free(arg);
}

/*
 * The stored tables, locked, so that they and their cells stay until the dump has read them.  Foreign tables
 * come before names, as everywhere (client/README).
 */
static List *
lock_tables(void)
{
	for (;;)
	{
		uint64		generation = wc_client_catalog_generation();
		List	   *tables = wc_client_list_tables();
		ListCell   *lc;

		foreach(lc, wc_foreign_all())
		{
			const WcForeignTable *table = lfirst(lc);

			if (!OidIsValid(table->server))
				LockRelationOid(table->relid, AccessShareLock);
		}
		foreach(lc, tables)
			wc_client_lock_table(wc_client_table_fullname(lfirst(lc)), AccessShareLock);
		if (wc_client_catalog_generation() == generation)
			return tables;
		/* while this session waited, tables may have been made, changed or dropped */
	}
}

static void
start(DumpScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->context);
	ListCell   *lc;

	foreach(lc, wc_client_list_namespaces())
	{
		WcClientNamespace *ns = lfirst(lc);

		if (ns->properties != NULL || strcmp(ns->name, WC_NAMESPACE_DEFAULT) != 0)
			scan->namespaces = lappend(scan->namespaces, ns);
	}
	scan->tables = lock_tables();
	MemoryContextSwitchTo(old);
}

static void
begin_scan(ForeignScanState *node, int eflags)
{
	DumpScan   *scan;
	MemoryContextCallback *callback;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	scan = palloc0(sizeof(DumpScan));
	scan->context = AllocSetContextCreate(CurrentMemoryContext, "widecol dump", ALLOCSET_DEFAULT_SIZES);
	scan->table_context = AllocSetContextCreate(scan->context, "widecol dumped table", ALLOCSET_DEFAULT_SIZES);
	scan->server = wc_foreign_server_of(RelationGetRelid(node->ss.ss_currentRelation))->serverid;
	scan->pg_snapshot = node->ss.ps.state->es_snapshot;
	wc_buf_init(&scan->qualifier, 0);
	callback = MemoryContextAllocZero(scan->context, sizeof(*callback));
	callback->func = free_buffer;
	callback->arg = &scan->qualifier;
	MemoryContextRegisterResetCallback(scan->context, callback);
	scan->snapshot = wc_client_snapshot(scan->pg_snapshot);
	wc_client_snapshot_take(scan->snapshot);
	scan->now_us = wc_clock_wall_us();
	start(scan);
	node->fdw_state = scan;
}

static Datum
bytea_of(WcSlice s)
{
	bytea	   *result = palloc(VARHDRSZ + s.len);

	SET_VARSIZE(result, VARHDRSZ + s.len);
	if (s.len > 0)
		memcpy(VARDATA(result), s.data, s.len);
	return PointerGetDatum(result);
}

static void
set(TupleTableSlot *slot, int column, Datum value)
{
	slot->tts_values[column] = value;
	slot->tts_isnull[column] = false;
}

static void
describe(const WcTableDesc *desc, TupleTableSlot *slot)
{
	char	   *owner = wc_owner_name(desc);

	set(slot, WC_DUMP_KIND, CStringGetTextDatum("table"));
	set(slot, WC_DUMP_NAME, CStringGetTextDatum(wc_client_table_fullname(desc)));
	if (owner != NULL)
		set(slot, WC_DUMP_OWNER, DirectFunctionCall1(namein, CStringGetDatum(owner)));
	set(slot, WC_DUMP_FAMILIES, DirectFunctionCall1(jsonb_in, CStringGetDatum(wc_families_text(desc))));
	if (desc->ttl_us != 0)
		set(slot, WC_DUMP_TTL, wc_ttl_to_interval(desc->ttl_us));
	if (desc->nsplits > 0)
	{
		Datum	   *splits = palloc(sizeof(Datum) * desc->nsplits);

		for (uint32 i = 0; i < desc->nsplits; i++)
			splits[i] = bytea_of(desc->splits[i]);
		set(slot, WC_DUMP_SPLITS,
			PointerGetDatum(construct_array(splits, (int) desc->nsplits, BYTEAOID, -1, false, TYPALIGN_INT)));
	}
}

static void
close_scan(DumpScan *scan)
{
	if (scan->scan != NULL)
		wc_client_scan_close(scan->scan);
	scan->scan = NULL;
	scan->row = wc_slice(NULL, 0);
}

/* Opens the scan of the pass; false: there is nothing to read in it. */
static bool
open_pass(DumpScan *scan, const WcTableDesc *desc)
{
	WcShownFamily wanted = scan->pass == PASS_UNMAPPED ? WC_SHOWN_NOT : WC_SHOWN_PARTLY;
	WcScan		spec;

	wc_scan_init(&spec, desc->id);
	scan->columns = palloc0(sizeof(WcColumn) * desc->nfamilies);
	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		if (wc_shown_family(scan->shown, desc->families[i].id) != wanted)
			continue;
		scan->columns[spec.ncolumns].family = desc->families[i].id;
		scan->columns[spec.ncolumns++].kind = WC_COLUMN_FAMILY;
	}
	if (spec.ncolumns == 0)
		return false;
	spec.columns = scan->columns;
	spec.raw = scan->pass == PASS_UNMAPPED;
	spec.versions = WC_VERSIONS_MAX;
	spec.want_ts = true;
	scan->scan = wc_client_scan_open(&spec, scan->snapshot, scan->pg_snapshot->curcid, 0, scan->table_context);
	return true;
}

/* Goes on to the next scan; false: there is none. */
static bool
next_scan(DumpScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->table_context);
	bool		found = false;

	while (!found && scan->table_no < list_length(scan->tables))
	{
		const WcTableDesc *desc = list_nth(scan->tables, scan->table_no);

		if (scan->pass == PASS_NONE)
			scan->shown = wc_shown_open(desc, scan->server, scan->pg_snapshot);
		if (++scan->pass < PASS_DONE)
			found = open_pass(scan, desc);
		else
		{
			wc_shown_close(scan->shown);
			scan->shown = NULL;
			scan->pass = PASS_NONE;
			scan->table_no++;
			MemoryContextReset(scan->table_context);
		}
	}
	MemoryContextSwitchTo(old);
	return found;
}

/* The next cell of the stored tables, shown or not; false: that was the last. */
static bool
next_cell(DumpScan *scan, WcCell *cell)
{
	uint32		colno;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (scan->scan == NULL && !next_scan(scan))
			return false;
		if (scan->row.len > 0 && wc_client_next_cell(scan->scan, cell, &colno))
		{
			if (colno != WC_NO_COLUMN)
				cell->family = scan->columns[colno].family;
			return true;
		}
		scan->first_cell = true;
		if (!wc_client_next_row(scan->scan, &scan->row))
			close_scan(scan);
	}
}

/* How many visible versions of its column were before this one? */
static int
count_version(DumpScan *scan, const WcCell *cell)
{
	if (!scan->first_cell && cell->family == scan->family && wc_slice_eq(cell->qualifier, wc_buf_slice(&scan->qualifier)))
		return ++scan->version;
	scan->first_cell = false;
	scan->family = cell->family;
	wc_buf_reset(&scan->qualifier, WC_QUALIFIER_MAX);
	wc_buf_append_slice(&scan->qualifier, cell->qualifier);
	return scan->version = 0;
}

/*
 * Does no foreign table restore this cell as it is?  Columns have no time to live; and a cell that gets the
 * restore's timestamp would be older than cells with timestamps in the future.
 */
static bool
is_wanted(DumpScan *scan, const WcCell *cell)
{
	if (scan->pass == PASS_UNMAPPED)
		return true;
	return count_version(scan, cell) >= wc_shown_versions(scan->shown, scan->row, cell->family, cell->qualifier, cell->value) ||
		cell->ttl_us != 0 || cell->ts > scan->now_us;
}

static void
give_cell(const DumpScan *scan, const WcTableDesc *desc, const WcCell *cell, TupleTableSlot *slot)
{
	const WcFamilyDesc *family = wc_table_desc_family_by_id(desc, cell->family);

	if (family == NULL)
		elog(ERROR, "cell of unknown family %u", cell->family);
	set(slot, WC_DUMP_KIND, CStringGetTextDatum(scan->pass == PASS_REST && scan->version == 0 ? "newest" : "cell"));
	set(slot, WC_DUMP_NAME, CStringGetTextDatum(wc_client_table_fullname(desc)));
	set(slot, WC_DUMP_ROW, bytea_of(scan->row));
	set(slot, WC_DUMP_FAMILY, CStringGetTextDatum(wc_text_from_utf8(family->name)));
	set(slot, WC_DUMP_QUALIFIER, bytea_of(cell->qualifier));
	set(slot, WC_DUMP_TS, Int64GetDatum(cell->ts));
	set(slot, WC_DUMP_TYPE, CStringGetTextDatum(wc_cell_type_name(cell->type)));
	if (cell->type == WC_PUT)
		set(slot, WC_DUMP_VALUE, bytea_of(cell->value));
	if (cell->ttl_us != 0)
		set(slot, WC_DUMP_TTL, wc_ttl_to_interval(cell->ttl_us));
}

static TupleTableSlot *
iterate_scan(ForeignScanState *node)
{
	DumpScan   *scan = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	WcCell		cell;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, sizeof(bool) * slot->tts_tupleDescriptor->natts);
	if (slot->tts_tupleDescriptor->natts != WC_DUMP_COLUMNS)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("widecol.dump is not the foreign table that the extension made")));
	if (scan->namespace_no < list_length(scan->namespaces))
	{
		const WcClientNamespace *ns = list_nth(scan->namespaces, scan->namespace_no++);

		set(slot, WC_DUMP_KIND, CStringGetTextDatum("namespace"));
		set(slot, WC_DUMP_NAME, CStringGetTextDatum(ns->name));
		if (ns->properties != NULL)
			set(slot, WC_DUMP_FAMILIES, DirectFunctionCall1(jsonb_in, CStringGetDatum(ns->properties)));
		return ExecStoreVirtualTuple(slot);
	}
	if (scan->described < list_length(scan->tables))
	{
		describe(list_nth(scan->tables, scan->described++), slot);
		return ExecStoreVirtualTuple(slot);
	}
	while (next_cell(scan, &cell))
	{
		const WcTableDesc *desc = list_nth(scan->tables, scan->table_no);

		if (!is_wanted(scan, &cell))
			continue;
		give_cell(scan, desc, &cell, slot);
		return ExecStoreVirtualTuple(slot);
	}
	return slot;
}

static void
stop_reading(DumpScan *scan)
{
	close_scan(scan);
	if (scan->shown != NULL)
		wc_shown_close(scan->shown);
	scan->shown = NULL;
	scan->pass = PASS_NONE;
	MemoryContextReset(scan->table_context);
}

static void
rescan(ForeignScanState *node)
{
	DumpScan   *scan = node->fdw_state;

	stop_reading(scan);
	scan->namespace_no = scan->described = scan->table_no = 0;
}

static void
end_scan(ForeignScanState *node)
{
	DumpScan   *scan = node->fdw_state;

	if (scan == NULL)
		return;
	stop_reading(scan);
	MemoryContextDelete(scan->context);
	node->fdw_state = NULL;
}

/* --- INSERT and COPY ------------------------------------------------------------- */

static void
begin(EState *estate, ResultRelInfo *rinfo)
{
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

	rinfo->ri_FdwState = wc_restore_begin(estate->es_plannedstmt ? estate->es_output_cid : GetCurrentCommandId(true));
	MemoryContextSwitchTo(old);
}

static void
begin_modify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private, int subplan_index, int eflags)
{
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		begin(mtstate->ps.state, rinfo);
}

static void
begin_insert(ModifyTableState *mtstate, ResultRelInfo *rinfo)
{
	begin(mtstate->ps.state, rinfo);
}

static TupleTableSlot *
insert(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot, TupleTableSlot *plan_slot)
{
	wc_restore_row(rinfo->ri_FdwState, slot);
	return slot;
}

static int
is_updatable(Relation rel)
{
	return 1 << CMD_INSERT;
}

FdwRoutine *
wc_dump_routine(void)
{
	static FdwRoutine routine = {.type = T_FdwRoutine};

	routine.GetForeignRelSize = get_rel_size;
	routine.GetForeignPaths = get_paths;
	routine.GetForeignPlan = get_plan;
	routine.BeginForeignScan = begin_scan;
	routine.IterateForeignScan = iterate_scan;
	routine.ReScanForeignScan = rescan;
	routine.EndForeignScan = end_scan;
	routine.BeginForeignModify = begin_modify;
	routine.BeginForeignInsert = begin_insert;
	routine.ExecForeignInsert = insert;
	routine.IsForeignRelUpdatable = is_updatable;
	return &routine;
}
