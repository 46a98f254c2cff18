/*
 * fdw/write/modify.c: PostgreSQL's callbacks for INSERT, UPDATE, DELETE, COPY, TRUNCATE.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "access/xact.h"
#include "commands/defrem.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "foreign/foreign.h"
#include "nodes/makefuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "client/catalog/owner.h"
#include "client/foreign/foreign.h"
#include "fdw/fdw.h"
#include "fdw/relation/recordtype.h"
#include "fdw/relation/rowerror.h"
#include "fdw/relation/systemcolumn.h"
#include "fdw/statement/quiet.h"
#include "fdw/statement/runend.h"
#include "fdw/write/absent.h"
#include "fdw/write/later.h"
#include "fdw/write/modify.h"
#include "fdw/write/restoring.h"
#include "fdw/write/returning.h"

/* --- planning ---------------------------------------------------------------*/

#define WHOLEROW "wholerow"		/* PostgreSQL uses this name, too */

/* Children of one parent may have different key columns.  So the name contains all properties of the Var: equal
 * names mean equal Vars. */
static const char *
junk_name(char *buf, size_t size, const WcRelColumn *col)
{
	snprintf(buf, size, "widecol_%d_%u_%d_%u", col->attnum, col->type, col->typmod, col->collation);
	return buf;
}

/*
 * Does the DELETE need the old row?  PostgreSQL adds it for triggers, but only for the very table that has them; then
 * it expects it for all tables of the tree.
 */
static bool
needs_whole_row(PlannerInfo *root, Index rtindex)
{
	Index		target = root->parse->resultRelation;

	return root->parse->returningList != NIL ||
		(rtindex != target && wc_tree_has_triggers(planner_rt_fetch(target, root)->relid, true, root, root->planner_cxt));
}

/*
 * A DELETE gets the identifying columns.  An UPDATE gets the whole old row from
 * PostgreSQL anyway.
 */
void
widecolAddForeignUpdateTargets(PlannerInfo *root, Index rtindex, RangeTblEntry *target_rte,
							   Relation target_relation)
{
	WcRelation *wrel;
	char		name[NAMEDATALEN];

	if (root->parse->commandType != CMD_DELETE)
		return;
	wrel = wc_relation_open(target_relation);
	for (int i = 0; i < wrel->natts; i++)
	{
		const WcRelColumn *col = &wrel->columns[i];

		if (wc_relation_identifies(wrel, i))
			add_row_identity_var(root,
								 makeVar(rtindex, col->attnum, col->type, col->typmod, col->collation, 0),
								 rtindex, junk_name(name, sizeof(name), col));
	}
	wc_relation_close(wrel);
	if (needs_whole_row(root, rtindex))
		add_row_identity_var(root, makeVar(rtindex, InvalidAttrNumber, RECORDOID, -1, InvalidOid, 0),
							 rtindex, WHOLEROW);
}

/* Of returned rows PostgreSQL would take system columns from memory that holds something else. */
static void
refuse_system_columns(List *returning, Index rtindex, Oid relid)
{
	Bitmapset  *used = NULL;

	pull_varattnos((Node *) returning, rtindex, &used);
	wc_system_columns_refuse(used, relid);
}

/* The plan node itself has all that the executor needs. */
List *
widecolPlanForeignModify(PlannerInfo *root, ModifyTable *plan, Index resultRelation, int subplan_index)
{
	if (plan->returningLists != NIL)
		refuse_system_columns(list_nth_node(List, plan->returningLists, subplan_index), resultRelation,
							  planner_rt_fetch(resultRelation, root)->relid);
	return NIL;
}

static bool
has_cell_columns(Relation rel, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (get_attnum(RelationGetRelid(rel), names[i]) == InvalidAttrNumber)
			return false;
	return true;
}

/* Called for each statement, so it reads only the options that it needs. */
int
widecolIsForeignRelUpdatable(Relation rel)
{
	static const char *const cell[] = {"row", "family", "qualifier", "ts", "value"};
	bool		cells = false;
	bool		raw = false;
	int			events = 0;
	ListCell   *lc;

	foreach(lc, GetForeignTable(RelationGetRelid(rel))->options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "layout") == 0)
			cells = strcmp(defGetString(def), "cell") == 0;
		else if (strcmp(def->defname, "raw") == 0)
			raw = defGetBoolean(def);
	}
	if (!cells)
		return (1 << CMD_INSERT) | (1 << CMD_UPDATE) | (1 << CMD_DELETE);
	if (has_cell_columns(rel, cell, 1))
		events |= 1 << CMD_INSERT;
	if (!raw && has_cell_columns(rel, cell, 4))
		events |= 1 << CMD_DELETE;
	if (!raw && has_cell_columns(rel, cell, 5))
		events |= 1 << CMD_UPDATE;
	return events;
}

/* --- state ------------------------------------------------------------------*/

WcModify *
wc_modify_open(EState *estate, ResultRelInfo *rinfo)
{
	MemoryContext context = AllocSetContextCreate(estate->es_query_cxt, "widecol modify", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	WcModify   *m = palloc0(sizeof(WcModify));

	wc_client_require_writable();

	/* a table that is written first is also read first: by COPY, and by rows that are routed here */
	if (IsolationUsesXactSnapshot())
		wc_client_snapshot_take(wc_client_snapshot(GetTransactionSnapshot()));
	m->restoring = wc_foreign_restoring() && !wc_foreign_is_remote(RelationGetRelid(rinfo->ri_RelationDesc));
	wc_restoring_begin(rinfo->ri_RelationDesc, estate->es_plannedstmt == NULL, &m->shared, &m->cells_come);
	m->context = context;
	m->row_context = AllocSetContextCreate(context, "widecol row", ALLOCSET_DEFAULT_SIZES);
	m->wrel = wc_relation_open(rinfo->ri_RelationDesc);
	m->names_cells = wc_relation_names_cells(m->wrel);
	if (m->restoring && m->wrel->layout == WC_LAYOUT_CELL && !m->names_cells)
		wc_restoring_warn(m->wrel);
	wc_rowerror_expect(m->wrel);
	m->estate = estate;
	m->pg_snapshot = estate->es_snapshot;

	/* COPY has an executor state, but no plan and no command id in it */
	m->cid = estate->es_plannedstmt ? estate->es_output_cid : GetCurrentCommandId(true);
	wc_rowwrite_init(&m->write, m->wrel->desc);
	wc_rowwrite_init(&m->old, m->wrel->desc);
	m->write.mode = m->old.mode = m->wrel->write_mode;
	if (m->wrel->layout == WC_LAYOUT_ROW)
		wc_rowmodify_init(m);
	MemoryContextSwitchTo(old);
	m->uses = 1;
	rinfo->ri_FdwState = m;
	return m;
}

void
wc_modify_close(ResultRelInfo *rinfo)
{
	WcModify   *m = rinfo->ri_FdwState;

	if (m == NULL || --m->uses > 0)
		return;
	wc_absent_send_aside(m);
	rinfo->ri_FdwState = NULL;
	wc_relation_close(m->wrel);
	MemoryContextDelete(m->context);
}

static void
find_junk(WcModify *m, List *targetlist)
{
	WcRelation *wrel = m->wrel;
	MemoryContext old = MemoryContextSwitchTo(m->context);
	char		name[NAMEDATALEN];

	m->junk = palloc0(sizeof(AttrNumber) * wrel->natts);
	m->values = palloc0(sizeof(Datum) * wrel->natts);
	m->isnull = palloc0(sizeof(bool) * wrel->natts);
	for (int i = 0; i < wrel->natts; i++)
		if (wc_relation_identifies(wrel, i))
			m->junk[i] = ExecFindJunkAttributeInTlist(targetlist,
													  junk_name(name, sizeof(name), &wrel->columns[i]));
	m->wholerow = ExecFindJunkAttributeInTlist(targetlist, WHOLEROW);
	MemoryContextSwitchTo(old);
}

/* The statement's ON CONFLICT.  To know whether a cell is there, an INSERT in layout cell would have to read it. */
static void
set_conflict_action(WcModify *m, OnConflictAction action)
{
	m->do_nothing = action == ONCONFLICT_NOTHING;
	if (m->do_nothing && m->wrel->layout == WC_LAYOUT_CELL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("foreign table \"%s\" does not support ON CONFLICT DO NOTHING", m->wrel->relname),
				 errdetail("In layout 'cell' a cell that is inserted replaces one with the same row, column and timestamp."),
				 errhint("Insert the cells that are not there: INSERT ... SELECT ... WHERE NOT EXISTS.")));
}

void
widecolBeginForeignModify(ModifyTableState *mtstate, ResultRelInfo *rinfo, List *fdw_private,
						  int subplan_index, int eflags)
{
	ModifyTable *plan = castNode(ModifyTable, mtstate->ps.plan);
	WcModify   *m;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	m = wc_modify_open(mtstate->ps.state, rinfo);
	m->operation = mtstate->operation;
	set_conflict_action(m, plan->onConflictAction);
	if (mtstate->operation == CMD_DELETE)
		find_junk(m, outerPlanState(mtstate)->plan->targetlist);
	m->touched = wc_touched_open(mtstate);
	m->mtstate = mtstate;
	m->locks = mtstate->operation != CMD_INSERT && !wc_scan_locks(mtstate->ps.state, rinfo->ri_RangeTableIndex);
	if (mtstate->operation != CMD_INSERT && m->wrel->layout == WC_LAYOUT_ROW)
		m->nested = wc_nested_open(mtstate->ps.state, m->wrel->desc->id);
}

void
widecolEndForeignModify(EState *estate, ResultRelInfo *rinfo)
{
	wc_modify_close(rinfo);
}

/* COPY, and rows that are routed to a partition (which may be the target of an
 * UPDATE at the same time, and then has a state). */
void
widecolBeginForeignInsert(ModifyTableState *mtstate, ResultRelInfo *rinfo)
{
	WcModify   *m = rinfo->ri_FdwState;
	OnConflictAction action = ONCONFLICT_NONE;

	if (m != NULL)
	{
		m->uses++;
		return;
	}
	if (mtstate->ps.plan)
	{
		const ModifyTable *plan = castNode(ModifyTable, mtstate->ps.plan);

		/* of a row that is routed here the parent's list is returned */
		if (plan->returningLists != NIL)
			refuse_system_columns(linitial(plan->returningLists), mtstate->resultRelInfo->ri_RangeTableIndex,
								  RelationGetRelid(rinfo->ri_RelationDesc));
		action = plan->onConflictAction;
	}
	m = wc_modify_open(mtstate->ps.state, rinfo);
	m->operation = mtstate->operation;
	set_conflict_action(m, action);
}

void
widecolEndForeignInsert(EState *estate, ResultRelInfo *rinfo)
{
	wc_modify_close(rinfo);
}

/* --- rows -------------------------------------------------------------------*/

/* Is a condition of the rows to write a row security policy's, and not a view's? */
static bool
policies_hold(const ResultRelInfo *rinfo)
{
	ListCell   *lc;

	foreach(lc, rinfo->ri_WithCheckOptions)
	{
		if (lfirst_node(WithCheckOption, lc)->kind != WCO_VIEW_CHECK)
			return true;
	}
	return false;
}

/* PostgreSQL leaves to the wrapper the constraints of foreign tables, and the row security policies of a
 * partition's parent (those for UPDATE if an UPDATE moves a row here). */
static void
check_constraints(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot, bool insert)
{
	WcModify   *m = rinfo->ri_FdwState;
	Relation	rel = rinfo->ri_RelationDesc;

	if (rinfo->ri_WithCheckOptions != NIL)
	{
		ExecWithCheckOptions(m->operation == CMD_UPDATE ? WCO_RLS_UPDATE_CHECK : WCO_RLS_INSERT_CHECK,
							 rinfo, slot, estate);
		m->policies = policies_hold(rinfo);
	}
	if (RelationGetDescr(rel)->constr)
		ExecConstraints(rinfo, slot, estate);

	/* a routed row is in the right partition unless a trigger has changed it */
	if (rel->rd_rel->relispartition &&
		(!insert || rinfo->ri_RootResultRelInfo == NULL ||
		 (rinfo->ri_TrigDesc && rinfo->ri_TrigDesc->trig_insert_before_row)))
		ExecPartitionCheck(rinfo, slot, estate, true);
}

static MemoryContext
begin_row(WcModify *m)
{
	MemoryContextReset(m->row_context);
	return MemoryContextSwitchTo(m->row_context);
}

TupleTableSlot *
widecolExecForeignInsert(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	WcModify   *m = rinfo->ri_FdwState;
	MemoryContext old;
	bool		inserted = true;

	check_constraints(estate, rinfo, slot, true);
	slot_getallattrs(slot);
	if (m->ninserted++ == 1 && m->wrel->layout == WC_LAYOUT_ROW)
		wc_absent_begin(m, rinfo);
	old = begin_row(m);
	if (m->wrel->layout == WC_LAYOUT_ROW)
		inserted = wc_rowmodify_insert(m, slot);
	else
		wc_cellmodify_insert(m, slot);
	if (inserted && m->wrel->layout == WC_LAYOUT_ROW)
		wc_returning_show(m, rinfo, NULL, slot);
	MemoryContextSwitchTo(old);
	return inserted ? slot : NULL;
}

static void
prepare_update(WcModify *m, EState *estate, ResultRelInfo *rinfo)
{
	Bitmapset  *columns = ExecGetAllUpdatedCols(rinfo, estate);
	MemoryContext old = MemoryContextSwitchTo(m->context);
	int			bit = -1;

	while ((bit = bms_next_member(columns, bit)) >= 0)
	{
		AttrNumber	attnum = bit + FirstLowInvalidHeapAttributeNumber;

		if (attnum > 0)
			m->assigned = bms_add_member(m->assigned, attnum - 1);
	}
	m->triggers = rinfo->ri_TrigDesc && rinfo->ri_TrigDesc->trig_update_before_row;
	m->update_ready = true;
	MemoryContextSwitchTo(old);
}

static bool
sets_key(const WcModify *m)
{
	for (int i = 0; i < m->wrel->natts; i++)
	{
		if (wc_relation_identifies(m->wrel, i) && bms_is_member(i, m->assigned))
			return true;
	}
	return false;
}

/* Locks the row.  Returns the new row, made again if the old one has changed; NULL: the row is not to be
 * updated. */
static TupleTableSlot *
lock_for_update(WcModify *m, EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	TupleTableSlot *old_slot = rinfo->ri_oldTupleSlot;
	TupleTableSlot *again;

	again = wc_modify_lock(m, rinfo, old_slot->tts_values, old_slot->tts_isnull,
						   sets_key(m) ? WC_LOCK_EXCLUSIVE : WC_LOCK_NO_KEY_UPDATE, planSlot);
	if (again == NULL || again == planSlot)
		return again == NULL ? NULL : slot;
	slot = wc_modify_new_row(estate, rinfo, again);
	check_constraints(estate, rinfo, slot, false);
	slot_getallattrs(slot);
	slot_getallattrs(old_slot);
	return slot;
}

/* The row's key, by its old values. */
static WcSlice
key_of(WcModify *m, const Datum *values, const bool *isnull)
{
	wc_rowwrite_start(&m->old);
	wc_relation_encode_key(m->wrel, values, isnull, &m->old.key);
	return wc_buf_slice(&m->old.key);
}

/* The plan's row for a row that was kept and has been locked; NULL: the row is not to be changed, and was counted too early. */
static TupleTableSlot *
plan_row(WcModify *m, ResultRelInfo *rinfo, const WcLaterRow *row)
{
	TupleTableSlot *plan = NULL;

	EvalPlanQualSetSlot(&m->mtstate->mt_epqstate, row->plan);
	if (row->outcome == WC_ROW_SAME)
		plan = row->plan;
	else if (row->outcome == WC_ROW_CHANGED)
		plan = wc_modify_evaluate_again(m, rinfo, row->values, row->isnull);
	if (plan == NULL)
		wc_runend_uncount(m->estate);
	return plan;
}

static void
update_later(WcModify *m, ResultRelInfo *rinfo, const WcLaterRow *row)
{
	TupleTableSlot *plan = plan_row(m, rinfo, row);
	TupleTableSlot *old = row->old;
	TupleTableSlot *slot = row->slot;

	if (plan == NULL)
		return;
	if (plan != row->plan)
	{
		slot = wc_modify_new_row(m->estate, rinfo, plan);
		old = rinfo->ri_oldTupleSlot;
		check_constraints(m->estate, rinfo, slot, false);
	}
	slot_getallattrs(slot);
	slot_getallattrs(old);
	wc_rowupdate(m, old, slot);
}

TupleTableSlot *
widecolExecForeignUpdate(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	WcModify   *m = rinfo->ri_FdwState;
	TupleTableSlot *old_slot = rinfo->ri_oldTupleSlot;
	MemoryContext old;

	check_constraints(estate, rinfo, slot, false);
	if (!m->update_ready)
		prepare_update(m, estate, rinfo);
	slot_getallattrs(slot);
	slot_getallattrs(old_slot);
	if (m->nchanged++ == 1 && !sets_key(m))
		wc_later_begin(m, rinfo, WC_LOCK_NO_KEY_UPDATE, update_later);
	old = begin_row(m);
	if (m->touched != NULL && !wc_touched_note(m->touched, m->wrel, old_slot->tts_tupleDescriptor,
											   old_slot->tts_values, old_slot->tts_isnull))
		slot = NULL;
	else if (m->later != NULL)
	{
		wc_later_keep(m, key_of(m, old_slot->tts_values, old_slot->tts_isnull), planSlot, old_slot, slot);
		MemoryContextSwitchTo(old);
		return slot;
	}
	else
		slot = lock_for_update(m, estate, rinfo, slot, planSlot);
	if (slot == NULL)
	{
		MemoryContextSwitchTo(old);
		return NULL;
	}
	if (m->wrel->layout == WC_LAYOUT_ROW)
		wc_rowupdate(m, old_slot, slot);
	else
		wc_cellmodify_update(m, old_slot, slot);
	if (m->wrel->layout == WC_LAYOUT_ROW)
		wc_returning_show(m, rinfo, old_slot, slot);
	MemoryContextSwitchTo(old);
	return slot;
}

/* Stores the old row in slot, for RETURNING. */
static void
store_old_row(const WcModify *m, ResultRelInfo *rinfo, TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	HeapTuple	tuple = palloc0(sizeof(HeapTupleData));
	bool		isnull;
	Datum		datum = ExecGetJunkAttribute(planSlot, m->wholerow, &isnull);

	if (isnull)
		elog(ERROR, "wholerow is NULL");
	tuple->t_data = DatumGetHeapTupleHeader(datum);
	tuple->t_len = HeapTupleHeaderGetDatumLength(tuple->t_data);
	ItemPointerSetInvalid(&tuple->t_self);
	tuple->t_tableOid = RelationGetRelid(rinfo->ri_RelationDesc);
	ExecForceStoreHeapTuple(tuple, slot, false);
}

static void
read_junk(WcModify *m, TupleTableSlot *planSlot)
{
	for (int i = 0; i < m->wrel->natts; i++)
	{
		m->isnull[i] = true;
		if (AttributeNumberIsValid(m->junk[i]))
			m->values[i] = ExecGetJunkAttribute(planSlot, m->junk[i], &m->isnull[i]);
	}
}

static void
delete_later(WcModify *m, ResultRelInfo *rinfo, const WcLaterRow *row)
{
	TupleTableSlot *plan = plan_row(m, rinfo, row);

	if (plan == NULL)
		return;
	read_junk(m, plan);
	wc_rowmodify_delete(m);
}

TupleTableSlot *
widecolExecForeignDelete(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	WcModify   *m = rinfo->ri_FdwState;
	MemoryContext old;

	if (m->nchanged++ == 1)
		wc_later_begin(m, rinfo, WC_LOCK_EXCLUSIVE, delete_later);
	old = begin_row(m);
	read_junk(m, planSlot);
	if (m->touched != NULL && !wc_touched_note(m->touched, m->wrel, RelationGetDescr(rinfo->ri_RelationDesc),
											   m->values, m->isnull))
		planSlot = NULL;
	else if (m->later != NULL)
	{
		wc_later_keep(m, key_of(m, m->values, m->isnull), planSlot, NULL, NULL);
		MemoryContextSwitchTo(old);
		return slot;
	}
	else
		planSlot = wc_modify_lock(m, rinfo, m->values, m->isnull, WC_LOCK_EXCLUSIVE, planSlot);
	if (planSlot == NULL)
	{
		MemoryContextSwitchTo(old);
		return NULL;
	}
	read_junk(m, planSlot);
	if (m->wrel->layout == WC_LAYOUT_ROW)
		wc_rowmodify_delete(m);
	else
		wc_cellmodify_delete(m);
	if (AttributeNumberIsValid(m->wholerow) && rinfo->ri_projectReturning)
		store_old_row(m, rinfo, slot, planSlot);
	MemoryContextSwitchTo(old);
	return slot;
}

/* --- TRUNCATE ---------------------------------------------------------------*/

static int
compare_ranges(const void *a, const void *b)
{
	return wc_slice_cmp(((const WcRange *) a)->start, ((const WcRange *) b)->start);
}

/* The ranges of the row keys that are in none of these n ranges, which the function sorts; *nothers is their number. */
static WcRange *
ranges_beside(WcRange *ranges, int n, int *nothers)
{
	WcRange    *others = palloc(sizeof(WcRange) * (n + 1));
	WcSlice		seen = {NULL, 0};	/* stop of the ranges so far */

	*nothers = 0;
	qsort(ranges, n, sizeof(WcRange), compare_ranges);
	for (int i = 0; i < n; i++)
	{
		WcRange		before = {.start = seen,.stop = ranges[i].start,.start_inclusive = true};

		/* it is empty also before 00, as of false: no row key is empty */
		if (wc_slice_cmp(seen, ranges[i].start) < 0 && !wc_range_is_empty(&before))
			others[(*nothers)++] = before;
		if (ranges[i].stop.len == 0)
			return others;		/* it goes to the table's end */
		if (wc_slice_cmp(seen, ranges[i].stop) < 0)
			seen = ranges[i].stop;
	}
	others[(*nothers)++] = (WcRange) {.start = seen,.start_inclusive = true};
	return others;
}

/*
 * Raises an error if the stored table of `truncated` has rows, or may have, that none of the foreign tables shows: they would go,
 * too.  In an embedded table they are looked for, while no other transaction uses the table; other clients of HBase could
 * write such rows meanwhile.
 */
static void
require_no_others(List *rels, WcRelation *truncated)
{
	bool		known = wc_client_store_is_embedded(truncated->store);
	WcRange    *ranges = palloc(sizeof(WcRange));
	WcRange    *others;
	int			n = 0;
	int			nothers;
	ListCell   *lc;

	foreach(lc, rels)
	{
		WcRelation *wrel = wc_relation_open(lfirst(lc));
		bool		same = wrel->desc->id == truncated->desc->id;
		bool		shows_all = same && wrel->constant_parts == 0;
		int			nmore = 0;
		WcRange    *more = same ? wc_recordtype_ranges(wrel, &nmore) : NULL;

		known &= !same || more != NULL;
		ranges = repalloc(ranges, sizeof(WcRange) * (n + nmore + 1));
		for (int i = 0; i < nmore; i++)
			ranges[n++] = more[i];
		wc_relation_close(wrel);
		if (shows_all)
			return;
	}
	others = known ? ranges_beside(ranges, n, &nothers) : NULL;
	if (known && (nothers == 0 || !wc_client_has_rows(truncated->desc, others, nothers)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot truncate foreign table \"%s\", which shows one record type only", truncated->relname),
			 known ? errdetail("Stored table \"%s\" has rows of other types.", truncated->table_name) :
			 errdetail("A part of its row key is constant: stored table \"%s\" may hold rows of other types.",
					   truncated->table_name),
			 errhint("DELETE removes the rows of this type, widecol.truncate_table all rows.")));
}

void
widecolExecForeignTruncate(List *rels, DropBehavior behavior, bool restart_seqs)
{
	List	   *done = NIL;		/* several foreign tables may map one stored table */
	List	   *relids = NIL;
	ListCell   *lc;

	foreach(lc, rels)
		relids = lappend_oid(relids, RelationGetRelid((Relation) lfirst(lc)));
	foreach(lc, rels)
	{
		WcRelation *wrel = wc_relation_open(lfirst(lc));

		if (wc_client_store_is_embedded(wrel->store))
			wc_owner_require(wrel->desc, "DELETE removes the rows that the foreign table shows.");
		if (!list_member_oid(done, (Oid) wrel->desc->id))
		{
			WcTableDesc *desc = wc_owner_open(wrel->store, wrel->table_name, "TRUNCATE", relids, NULL);

			done = lappend_oid(done, (Oid) wrel->desc->id);
			require_no_others(rels, wrel);
			wc_client_store_truncate_table(wrel->store, desc);
		}
		wc_relation_close(wrel);
	}
}
