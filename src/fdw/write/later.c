/*
 * fdw/write/later.c: rows of a join that are changed later, after some hundred of them have been locked together.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "client/foreign/foreign.h"
#include "fdw/statement/quiet.h"
#include "fdw/statement/runend.h"
#include "fdw/write/later.h"

/* The rows are locked and changed when there are so many, or when they have so many bytes. */
#define ROWS_MAX 256
#define BYTES_MAX (256 * 1024)

/* Copies of a row of the plan, and of an UPDATE's old and new row. */
typedef struct Kept
{
	MinimalTuple plan;
	MinimalTuple old;
	MinimalTuple slot;
} Kept;

typedef struct WcLaterRows
{
	WcRunEnd	end;
	WcModify   *m;
	ResultRelInfo *rinfo;
	WcRowLockMode mode;
	WcLaterChange change;
	WcLaterRow	row;			/* the one that is changed now; its slots are made once */
	MemoryContext context;		/* of keys and tuples */
	size_t		bytes;			/* of the tuples */
	int			n;
	WcSlice		keys[ROWS_MAX];
	Kept		rows[ROWS_MAX];
} WcLaterRows;

static void
forget(void *arg)
{
	wc_runend_forget(&((WcLaterRows *) arg)->end);
}

static void
change_row(WcLaterRows *later, int i, const WcRowLock *lock)
{
	WcModify   *m = later->m;
	int			natts = Max(m->wrel->natts, 1);
	WcLaterRow *row = &later->row;
	WcRowId		id = {.row = later->keys[i]};
	MemoryContext old;

	MemoryContextReset(m->row_context);
	old = MemoryContextSwitchTo(m->row_context);
	ExecForceStoreMinimalTuple(later->rows[i].plan, row->plan, false);
	if (row->slot != NULL)
	{
		ExecForceStoreMinimalTuple(later->rows[i].old, row->old, false);
		ExecForceStoreMinimalTuple(later->rows[i].slot, row->slot, false);
	}
	row->values = palloc((sizeof(Datum) + sizeof(bool)) * natts);
	row->isnull = (bool *) (row->values + natts);
	row->outcome = wc_rowlocker_look(&m->locker, lock, &id, row->values, row->isnull);
	later->change(m, later->rinfo, row);
	MemoryContextSwitchTo(old);
}

static void
change_rows(void *arg)
{
	WcLaterRows *later = arg;
	WcRowLock  *locks;

	if (later->n == 0)
		return;
	locks = MemoryContextAllocZero(later->context, sizeof(WcRowLock) * later->n);
	for (int i = 0; i < later->n; i++)
		locks[i].row = later->keys[i];
	wc_rowlocker_lock_rows(wc_modify_locker(later->m, later->mode), wc_modify_snapshot(later->m), locks, later->n);
	for (int i = 0; i < later->n; i++)
		change_row(later, i, &locks[i]);
	ExecClearTuple(later->row.plan);
	if (later->row.slot != NULL)
	{
		ExecClearTuple(later->row.old);
		ExecClearTuple(later->row.slot);
	}
	later->n = 0;
	later->bytes = 0;
	MemoryContextReset(later->context);
}

void
wc_later_begin(WcModify *m, ResultRelInfo *rinfo, WcRowLockMode mode, WcLaterChange change)
{
	MemoryContextCallback *callback;
	MemoryContext old;
	WcLaterRows *later;

	if (!m->locks || m->wrel->layout != WC_LAYOUT_ROW || wc_foreign_is_remote(RelationGetRelid(rinfo->ri_RelationDesc)) ||
		!wc_quiet_changes(m->estate, rinfo))
		return;
	old = MemoryContextSwitchTo(m->context);
	later = palloc0(sizeof(WcLaterRows));
	later->m = m;
	later->rinfo = rinfo;
	later->mode = mode;
	later->change = change;
	later->context = AllocSetContextCreate(m->context, "widecol rows changed later", ALLOCSET_DEFAULT_SIZES);
	wc_runend_note(&later->end, m->estate, change_rows, later);
	callback = palloc0(sizeof(*callback));
	callback->func = forget;
	callback->arg = later;
	MemoryContextRegisterResetCallback(m->context, callback);
	m->later = later;
	MemoryContextSwitchTo(old);
}

static MinimalTuple
copy(WcLaterRows *later, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(later->context);
	MinimalTuple tuple = ExecCopySlotMinimalTuple(slot);

	later->bytes += tuple->t_len;
	MemoryContextSwitchTo(old);
	return tuple;
}

/* A slot that takes the place of this one. */
static TupleTableSlot *
make_slot(const WcLaterRows *later, const TupleTableSlot *like)
{
	MemoryContext old = MemoryContextSwitchTo(later->m->context);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(CreateTupleDescCopy(like->tts_tupleDescriptor), like->tts_ops);

	MemoryContextSwitchTo(old);
	return slot;
}

void
wc_later_keep(WcModify *m, WcSlice key, TupleTableSlot *plan, TupleTableSlot *old, TupleTableSlot *slot)
{
	WcLaterRows *later = m->later;
	Kept	   *kept = &later->rows[later->n];

	if (later->row.plan == NULL)
	{
		later->row.plan = make_slot(later, plan);
		later->row.old = old != NULL ? make_slot(later, old) : NULL;
		later->row.slot = slot != NULL ? make_slot(later, slot) : NULL;
	}
	later->keys[later->n++] = wc_slice(memcpy(MemoryContextAlloc(later->context, key.len), key.data, key.len), key.len);
	kept->plan = copy(later, plan);
	kept->old = old != NULL ? copy(later, old) : NULL;
	kept->slot = slot != NULL ? copy(later, slot) : NULL;
	if (later->n == ROWS_MAX || later->bytes >= BYTES_MAX)
		change_rows(later);
}
