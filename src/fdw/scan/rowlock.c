/*
 * fdw/scan/rowlock.c: locks rows of a foreign table for the statement that reads them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "fdw/fdw.h"
#include "fdw/relation/rowerror.h"
#include "fdw/scan/rowlock.h"
#include "fdw/scan/tidlog.h"

/* --- one row --------------------------------------------------------------------- */

void
wc_rowlocker_init(WcRowLocker *locker, WcRelation *wrel, WcRowLockMode mode, LockWaitPolicy wait_policy,
				  CommandId cid, MemoryContext context)
{
	locker->wrel = wrel;
	locker->mode = mode;
	locker->wait_policy = wait_policy;
	locker->cid = cid;
	locker->skips_rewritten = false;
	locker->reader = NULL;
	locker->context = context;
}

static WcRowLockRequest
request_of(const WcRowLocker *locker, WcClientSnapshot *snapshot)
{
	WcRowLockRequest request = {
		.table = locker->wrel->desc,
		.mode = locker->mode,
		.wait_policy = locker->wait_policy,
		.snapshot = snapshot,
		.seen = true,
		.may_change = locker->mode == WC_LOCK_KEY_SHARE,
		.nfamilies = locker->wrel->nfamilies,
		.families = locker->wrel->families
	};

	return request;
}

static WcReader *
reader_of(WcRowLocker *locker)
{
	if (locker->reader == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(locker->context);

		locker->reader = wc_rowid_reader(locker->wrel);
		MemoryContextSwitchTo(old);
	}
	return locker->reader;
}

void
wc_rowlocker_lock_rows(WcRowLocker *locker, WcClientSnapshot *snapshot, WcRowLock *locks, int n)
{
	WcRowLockRequest request = request_of(locker, snapshot);

	wc_client_lock_rows(&request, locks, n);
}

WcLockOutcome
wc_rowlocker_look(WcRowLocker *locker, const WcRowLock *lock, const WcRowId *id, Datum *values, bool *isnull)
{
	WcClientSnapshot *newest;

	if (!lock->locked || lock->rewritten)
		return WC_ROW_SKIPPED;
	if (!lock->changed)
		return WC_ROW_SAME;
	if (lock->gone)
	{
		if (IsolationUsesXactSnapshot())
			wc_rowerror_changed(locker->wrel, id->row);
		return WC_ROW_GONE;
	}
	newest = wc_client_snapshot(NULL);
	if (locker->mode == WC_LOCK_KEY_SHARE && !lock->waited)
	{
		/* the lock did not wait, so the changes keep the key: only a deletion of the row matters */
		if (wc_rowid_read(locker->wrel, reader_of(locker), id, newest, locker->cid, values, isnull))
			return WC_ROW_SAME;
	}
	else if (!IsolationUsesXactSnapshot() &&
			 wc_rowid_read(locker->wrel, reader_of(locker), id, newest, locker->cid, values, isnull))
		return WC_ROW_CHANGED;
	if (IsolationUsesXactSnapshot())
		wc_rowerror_changed(locker->wrel, id->row);
	return WC_ROW_GONE;
}

WcLockOutcome
wc_rowlocker_lock(WcRowLocker *locker, WcClientSnapshot *snapshot, const WcRowId *id, Datum *values, bool *isnull)
{
	WcRowLockRequest request = request_of(locker, snapshot);
	WcRowLock	lock = {.row = id->row};

	/* the row may come from a cursor, or the query may call functions: later commands of the transaction may have run */
	request.tell_rewritten = locker->skips_rewritten && locker->cid < GetCurrentCommandId(false);
	request.cid = locker->cid;
	wc_client_lock_rows(&request, &lock, 1);
	if (!lock.locked && locker->wait_policy == LockWaitError)
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("could not obtain lock on row in relation \"%s\"", locker->wrel->relname)));
	return wc_rowlocker_look(locker, &lock, id, values, isnull);
}

/* --- the scans of running statements that lock rows --------------------------------- */

/* A scan that locks rows, or whose rows a LockRows node locks. */
typedef struct Entry
{
	MemoryContextCallback callback;
	const EState *estate;
	Index		rti;
	WcScanMark *mark;			/* NULL: the scan locks the rows itself */
	struct Entry *next;
} Entry;

static Entry *entries;

static void
forget(void *arg)
{
	Entry	  **link = &entries;

	while (*link != NULL && *link != arg)
		link = &(*link)->next;
	if (*link != NULL)
		*link = (*link)->next;
}

static void
remember(EState *estate, Index rti, WcScanMark *mark)
{
	Entry	   *entry = MemoryContextAllocZero(estate->es_query_cxt, sizeof(Entry));

	entry->estate = estate;
	entry->rti = rti;
	entry->mark = mark;
	entry->callback.func = forget;
	entry->callback.arg = entry;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &entry->callback);
	entry->next = entries;
	entries = entry;
}

static Entry *
find(const EState *estate, Index rti)
{
	for (Entry *entry = entries; entry != NULL; entry = entry->next)
	{
		if (entry->estate == estate && entry->rti == rti)
			return entry;
	}
	return NULL;
}

bool
wc_scan_locks(const EState *estate, Index rti)
{
	const Entry *entry = find(estate, rti);

	return entry != NULL && entry->mark == NULL;
}

static Index
scan_rti(const ForeignScanState *node)
{
	return castNode(ForeignScan, node->ss.ps.plan)->scan.scanrelid;
}

/* --- a scan that locks the rows it returns ------------------------------------------ */

/* The greatest number of rows that one request locks. */
#define AHEAD_MAX 1024

struct WcScanLock
{
	WcRowLocker locker;
	bool		ahead;
	ExprState  *conditions;		/* the node's own, which the executor does not test; NULL: none */
	ExprState  *whole;			/* these and the gate's, for a row that has changed; NULL: none */
	WcRowLock	locks[AHEAD_MAX];	/* locks of the next rows, in their order */
	int			nlocks;
	int			next;
};

WcScanLock *
wc_scan_lock_create(ForeignScanState *node, WcRelation *wrel, WcRowLockMode mode, ExprState *whole)
{
	EState	   *estate = node->ss.ps.state;
	WcScanLock *lock;

	if (estate->es_epq_active != NULL)
		return NULL;
	lock = MemoryContextAllocZero(estate->es_query_cxt, sizeof(WcScanLock));
	wc_rowlocker_init(&lock->locker, wrel, mode, LockWaitBlock, estate->es_snapshot->curcid, estate->es_query_cxt);

	/* A row is locked when it satisfies the conditions.  The executor would test them after that, and thus twice. */
	lock->conditions = node->ss.ps.qual;
	lock->whole = whole;
	node->ss.ps.qual = NULL;
	lock->ahead = whole == NULL && wrel->layout == WC_LAYOUT_ROW;

	/* the conditions may use it, and the executor sets it in rows that the scan has returned */
	node->ss.ss_ScanTupleSlot->tts_tableOid = RelationGetRelid(node->ss.ss_currentRelation);
	remember(estate, scan_rti(node), NULL);
	return lock;
}

void
wc_scan_lock_restart(WcScanLock *lock)
{
	lock->nlocks = lock->next = 0;
}

bool
wc_scan_lock_may_take(const WcScanLock *lock)
{
	return lock->ahead && wc_client_takes(lock->locker.wrel->desc);
}

void
wc_scan_lock_taken(WcScanLock *lock)
{
	lock->locks[0] = (WcRowLock) {.locked = true};
	lock->nlocks = 1;
	lock->next = 0;
}

/* The lock of the scan's last row. */
static const WcRowLock *
next_lock(WcScanLock *lock, bool sure, const WcReader *reader, WcClientScan *scan, WcClientSnapshot *snapshot)
{
	WcRowLockRequest request;
	WcSlice		rows[AHEAD_MAX];
	int			n = 1;

	if (lock->next < lock->nlocks)
		return &lock->locks[lock->next++];
	request = request_of(&lock->locker, snapshot);
	lock->nlocks = lock->next = 0;
	if (lock->ahead && sure)
		n = wc_client_rows_ahead(scan, rows, AHEAD_MAX);
	else
		rows[0] = wc_reader_row(reader);
	memset(lock->locks, 0, n * sizeof(WcRowLock));
	for (int i = 0; i < n; i++)
		lock->locks[i].row = rows[i];
	wc_client_lock_rows(&request, lock->locks, n);
	lock->nlocks = n;
	return &lock->locks[lock->next++];
}

static bool
satisfies(ForeignScanState *node, ExprState *conditions, TupleTableSlot *slot)
{
	ExprContext *econtext = node->ss.ps.ps_ExprContext;

	econtext->ecxt_scantuple = slot;
	return ExecQual(conditions, econtext);
}

/* As the executor does, which counts the rows that do not satisfy them. */
static bool
satisfies_own(ForeignScanState *node, ExprState *conditions, TupleTableSlot *slot)
{
	if (satisfies(node, conditions, slot))
		return true;
	InstrCountFiltered1(node, 1);
	return false;
}

bool
wc_scan_lock_row(WcScanLock *lock, ForeignScanState *node, bool sure, const WcReader *reader, WcClientScan *scan,
				 WcClientSnapshot *snapshot, TupleTableSlot *slot)
{
	int			natts = slot->tts_tupleDescriptor->natts;
	Datum	   *values;
	bool	   *isnull;
	WcRowId		id;

	if (!satisfies_own(node, lock->conditions, slot))
		return false;
	values = palloc((sizeof(Datum) + sizeof(bool)) * natts);
	isnull = (bool *) (values + natts);
	wc_rowid_of(reader, &id);
	switch (wc_rowlocker_look(&lock->locker, next_lock(lock, sure, reader, scan, snapshot), &id, values, isnull))
	{
		case WC_ROW_SAME:
			return true;
		case WC_ROW_CHANGED:
			ExecClearTuple(slot);
			memcpy(slot->tts_values, values, natts * sizeof(Datum));
			memcpy(slot->tts_isnull, isnull, natts * sizeof(bool));
			ExecStoreVirtualTuple(slot);
			return satisfies(node, node->fdw_recheck_quals, slot) && satisfies_own(node, lock->whole, slot);
		case WC_ROW_GONE:
		case WC_ROW_SKIPPED:
			break;
	}
	return false;
}

/* --- a scan below a LockRows node ---------------------------------------------------- */

struct WcScanMark
{
	WcRowLocker locker;
	WcClientSnapshot *snapshot; /* the scan's */
	bool		alone;			/* the statement locks rows of no other table */
	WcTidLog   *tids;
	bool		takes;			/* a Get may lock its row itself */
	WcBuf		id;				/* the id of the row being marked */
	WcBuf		taken;			/* the key of the row that the scan has locked itself; empty: none */
	MemoryContextCallback callback;
};

static void
free_id(void *arg)
{
	wc_buf_free(&((WcScanMark *) arg)->id);
	wc_buf_free(&((WcScanMark *) arg)->taken);
}

static WcRowLockMode
mode_of(RowMarkType type)
{
	switch (type)
	{
		case ROW_MARK_EXCLUSIVE:
			return WC_LOCK_EXCLUSIVE;
		case ROW_MARK_NOKEYEXCLUSIVE:
			return WC_LOCK_NO_KEY_UPDATE;
		case ROW_MARK_SHARE:
			return WC_LOCK_SHARE;
		default:
			return WC_LOCK_KEY_SHARE;
	}
}

/* Does the statement lock rows of one table only (with its children)? */
static bool
is_alone(const EState *estate)
{
	Index		prti = 0;

	for (Index i = 0; i < estate->es_range_table_size; i++)
	{
		const ExecRowMark *erm = estate->es_rowmarks[i];

		if (erm == NULL || !RowMarkRequiresRowShareLock(erm->markType))
			continue;
		if (prti != 0 && prti != erm->prti)
			return false;
		prti = erm->prti;
	}
	return true;
}

WcScanMark *
wc_scan_mark_create(ForeignScanState *node, WcRelation *wrel)
{
	EState	   *estate = node->ss.ps.state;
	ExecRowMark *erm = estate->es_rowmarks != NULL ? estate->es_rowmarks[scan_rti(node) - 1] : NULL;
	MemoryContext old;
	WcScanMark *mark;

	if (erm == NULL || erm->markType == ROW_MARK_COPY || estate->es_epq_active != NULL)
		return NULL;
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	mark = palloc0(sizeof(WcScanMark));
	wc_rowlocker_init(&mark->locker, wrel, mode_of(erm->markType), erm->waitPolicy, estate->es_snapshot->curcid,
					  estate->es_query_cxt);
	mark->locker.skips_rewritten = true;
	mark->alone = is_alone(estate);
	mark->tids = wc_tidlog_create();
	mark->takes = mark->alone && mark->locker.mode >= WC_LOCK_SHARE && mark->locker.wait_policy == LockWaitBlock &&
		node->ss.ps.plan->qual == NIL && wrel->layout == WC_LAYOUT_ROW && wc_client_takes(wrel->desc);
	wc_buf_init(&mark->id, 0);
	wc_buf_init(&mark->taken, 0);
	mark->callback.func = free_id;
	mark->callback.arg = mark;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &mark->callback);
	remember(estate, scan_rti(node), mark);
	MemoryContextSwitchTo(old);
	return mark;
}

/* Not in mode KEY SHARE, which does not wait for an update in flight. */
bool
wc_scan_mark_may_take(const WcScanMark *mark, WcRowLockMode *mode)
{
	*mode = mark->locker.mode;
	return mark->takes;
}

void
wc_scan_mark_taken(WcScanMark *mark, WcSlice row)
{
	wc_buf_reset(&mark->taken, WC_ROW_MAX);
	wc_buf_append_slice(&mark->taken, row);	/* out of memory: the row is locked again */
}

void
wc_scan_mark_row(WcScanMark *mark, const WcReader *reader, WcClientSnapshot *snapshot, TupleTableSlot *slot)
{
	WcRowId		id;

	mark->snapshot = snapshot;
	wc_rowid_of(reader, &id);
	wc_buf_reset(&mark->id, WC_ROW_MAX);
	wc_rowid_encode(mark->locker.wrel, &id, &mark->id);
	wc_tidlog_add(mark->tids, wc_buf_slice(&mark->id), &slot->tts_tid);
}

void
wc_scan_mark_close(WcScanMark *mark)
{
	wc_tidlog_close(mark->tids);
}

RowMarkType
widecolGetForeignRowMarkType(RangeTblEntry *rte, LockClauseStrength strength)
{
	switch (strength)
	{
		case LCS_NONE:
			return ROW_MARK_REFERENCE;
		case LCS_FORKEYSHARE:
			return ROW_MARK_KEYSHARE;
		case LCS_FORSHARE:
			return ROW_MARK_SHARE;
		case LCS_FORNOKEYUPDATE:
			return ROW_MARK_NOKEYEXCLUSIVE;
		case LCS_FORUPDATE:
			return ROW_MARK_EXCLUSIVE;
	}
	elog(ERROR, "unknown strength of a row lock: %d", (int) strength);
}

/* The mark of the scan that returned the row. */
static WcScanMark *
find_mark(const EState *estate, const ExecRowMark *erm)
{
	const Entry *entry;

	if (estate->es_epq_active != NULL)
		estate = estate->es_epq_active->parentestate;
	entry = find(estate, erm->rti);
	if (entry == NULL || entry->mark == NULL)
		elog(ERROR, "row of foreign table \"%s\" comes from no scan", RelationGetRelationName(erm->relation));
	return entry->mark;
}

static void
store_row(TupleTableSlot *slot, Relation rel, Datum *values, bool *isnull)
{
	HeapTuple	tuple = heap_form_tuple(RelationGetDescr(rel), values, isnull);

	tuple->t_tableOid = RelationGetRelid(rel);
	ExecForceStoreHeapTuple(tuple, slot, false);
	ExecMaterializeSlot(slot);
}

/* Reads a row of a table that is not locked, for EvalPlanQual. */
static void
read_again(WcScanMark *mark, const ExecRowMark *erm, const WcRowId *id, TupleTableSlot *slot, Datum *values, bool *isnull)
{
	if (wc_rowid_read(mark->locker.wrel, reader_of(&mark->locker), id, mark->snapshot, mark->locker.cid, values, isnull))
		store_row(slot, erm->relation, values, isnull);
}

/*
 * LockRows calls this for each row before returning it, and EvalPlanQual for rows of tables that are not locked.  An
 * empty slot makes LockRows skip the row.  LockRows uses the slot only when a row of this table, or of another
 * table that it locks, has changed.
 */
void
widecolRefetchForeignRow(EState *estate, ExecRowMark *erm, Datum rowid, TupleTableSlot *slot, bool *updated)
{
	WcScanMark *mark = find_mark(estate, erm);
	WcLockOutcome outcome;
	MemoryContext context;
	MemoryContext old;
	int			natts = RelationGetDescr(erm->relation)->natts;
	Datum	   *values;
	bool	   *isnull;
	WcRowId		id;

	ExecClearTuple(slot);
	context = AllocSetContextCreate(CurrentMemoryContext, "widecol locked row", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	values = palloc((sizeof(Datum) + sizeof(bool)) * Max(natts, 1));
	isnull = (bool *) (values + natts);
	wc_rowid_decode(mark->locker.wrel, wc_tidlog_get(mark->tids, (ItemPointer) DatumGetPointer(rowid)), &id);
	if (erm->markType == ROW_MARK_REFERENCE)
	{
		read_again(mark, erm, &id, slot, values, isnull);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
		return;
	}
	if (mark->taken.len > 0 && wc_slice_eq(wc_buf_slice(&mark->taken), id.row) && mark->locker.cid == GetCurrentCommandId(false))
		outcome = WC_ROW_SAME;
	else
		outcome = wc_rowlocker_lock(&mark->locker, mark->snapshot, &id, values, isnull);
	switch (outcome)
	{
		case WC_ROW_SAME:
			if (mark->alone)
				ExecStoreAllNullTuple(slot);
			else
				read_again(mark, erm, &id, slot, values, isnull);
			break;
		case WC_ROW_CHANGED:
			store_row(slot, erm->relation, values, isnull);
			*updated = true;
			break;
		case WC_ROW_GONE:
		case WC_ROW_SKIPPED:
			break;
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
