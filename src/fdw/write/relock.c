/*
 * fdw/write/relock.c: rows that are locked when they are changed.
 *
 * If the changed table is joined with others, only the rows of the join are changed, so the scan has locked none
 * (scan/rowlock.h).  If a row has changed since the statement's snapshot, the whole plan is evaluated again with the
 * row's newest state and the same rows of the other tables, as with heap tables (EvalPlanQual).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "executor/nodeModifyTable.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "fdw/write/modify.h"

WcRowLocker *
wc_modify_locker(WcModify *m, WcRowLockMode mode)
{
	if (m->locker.wrel == NULL)
		wc_rowlocker_init(&m->locker, m->wrel, mode, LockWaitBlock, m->pg_snapshot->curcid, m->context);
	m->locker.mode = mode;
	return &m->locker;
}

static void
find_id(WcModify *m, const Datum *values, const bool *isnull, WcRowId *id)
{
	memset(id, 0, sizeof(*id));
	if (m->wrel->layout == WC_LAYOUT_CELL)
	{
		wc_cellmodify_id(m, values, isnull, id);
		return;
	}
	wc_rowwrite_start(&m->old);
	wc_relation_encode_key(m->wrel, values, isnull, &m->old.key);
	id->row = wc_buf_slice(&m->old.key);
}

TupleTableSlot *
wc_modify_evaluate_again(WcModify *m, ResultRelInfo *rinfo, Datum *values, bool *isnull)
{
	EPQState   *epq = &m->mtstate->mt_epqstate;
	MemoryContext old = MemoryContextSwitchTo(m->mtstate->ps.state->es_query_cxt);
	HeapTuple	tuple;
	TupleTableSlot *row;
	TupleTableSlot *again;

	/* epq keeps its executor state, made in the current context, for the next row */
	EvalPlanQualBegin(epq);
	row = EvalPlanQualSlot(epq, rinfo->ri_RelationDesc, rinfo->ri_RangeTableIndex);
	tuple = heap_form_tuple(RelationGetDescr(rinfo->ri_RelationDesc), values, isnull);
	tuple->t_tableOid = RelationGetRelid(rinfo->ri_RelationDesc);
	ExecForceStoreHeapTuple(tuple, row, true);
	again = EvalPlanQual(epq, rinfo->ri_RelationDesc, rinfo->ri_RangeTableIndex, row);
	MemoryContextSwitchTo(old);
	return TupIsNull(again) ? NULL : again;
}

TupleTableSlot *
wc_modify_lock(WcModify *m, ResultRelInfo *rinfo, const Datum *values, const bool *isnull, WcRowLockMode mode,
			   TupleTableSlot *planSlot)
{
	int			natts = m->wrel->natts;
	Datum	   *new_values;
	bool	   *new_isnull;
	WcRowId		id;

	if (!m->locks)
		return planSlot;
	new_values = palloc((sizeof(Datum) + sizeof(bool)) * Max(natts, 1));
	new_isnull = (bool *) (new_values + natts);
	find_id(m, values, isnull, &id);
	switch (wc_rowlocker_lock(wc_modify_locker(m, mode), wc_modify_snapshot(m), &id, new_values, new_isnull))
	{
		case WC_ROW_SAME:
			return planSlot;
		case WC_ROW_CHANGED:
			return wc_modify_evaluate_again(m, rinfo, new_values, new_isnull);
		case WC_ROW_GONE:
		case WC_ROW_SKIPPED:
			break;
	}
	return NULL;
}

TupleTableSlot *
wc_modify_new_row(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *planSlot)
{
	Relation	rel = rinfo->ri_RelationDesc;
	HeapTuple	tuple = palloc0(sizeof(HeapTupleData));
	TupleTableSlot *slot;
	bool		isnull;
	Datum		datum = ExecGetJunkAttribute(planSlot, rinfo->ri_RowIdAttNo, &isnull);

	if (isnull)
		elog(ERROR, "wholerow is NULL");
	tuple->t_data = DatumGetHeapTupleHeader(datum);
	tuple->t_len = HeapTupleHeaderGetDatumLength(tuple->t_data);
	ItemPointerSetInvalid(&tuple->t_self);
	tuple->t_tableOid = RelationGetRelid(rel);
	ExecForceStoreHeapTuple(tuple, rinfo->ri_oldTupleSlot, false);
	slot = ExecGetUpdateNewTuple(rinfo, planSlot, rinfo->ri_oldTupleSlot);
	if (RelationGetDescr(rel)->constr != NULL && RelationGetDescr(rel)->constr->has_generated_stored)
		ExecComputeStoredGenerated(rinfo, estate, slot, CMD_UPDATE);
	return slot;
}
