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

typedef struct WcLaterRows
{
	WcRunEnd	end;
	WcModify   *m;
	ResultRelInfo *rinfo;
	WcRowLockMode mode;
	WcLaterChange change;
	MemoryContext context;		/* of keys */
	size_t		bytes;
	int			n;
	WcSlice		keys[ROWS_MAX];
	WcLaterRow	rows[ROWS_MAX]; /* their slots are made once */
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
	WcLaterRow	row = later->rows[i];
	WcRowId		id = {.row = later->keys[i]};
	MemoryContext old;

	MemoryContextReset(m->row_context);
	old = MemoryContextSwitchTo(m->row_context);
	row.values = palloc((sizeof(Datum) + sizeof(bool)) * natts);
	row.isnull = (bool *) (row.values + natts);
	row.outcome = wc_rowlocker_look(&m->locker, lock, &id, row.values, row.isnull);
	later->change(m, later->rinfo, &row);
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
	for (int i = 0; i < later->n; i++)
	{
		ExecClearTuple(later->rows[i].plan);
		if (later->rows[i].slot == NULL)
			continue;
		ExecClearTuple(later->rows[i].old);
		ExecClearTuple(later->rows[i].slot);
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

/* About so many bytes are copied. */
static size_t
slot_bytes(TupleTableSlot *slot)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	size_t		bytes = 0;

	slot_getallattrs(slot);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attbyval && !slot->tts_isnull[i])
			bytes += datumGetSize(slot->tts_values[i], false, att->attlen);
	}
	return bytes;
}

static void
copy_slot(WcLaterRows *later, TupleTableSlot **copy, TupleTableSlot *slot)
{
	later->bytes += slot_bytes(slot);
	if (*copy == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(later->m->context);

		*copy = MakeSingleTupleTableSlot(CreateTupleDescCopy(slot->tts_tupleDescriptor), slot->tts_ops);
		MemoryContextSwitchTo(old);
	}
	ExecCopySlot(*copy, slot);
}

void
wc_later_keep(WcModify *m, WcSlice key, TupleTableSlot *plan, TupleTableSlot *old, TupleTableSlot *slot)
{
	WcLaterRows *later = m->later;
	WcLaterRow *row = &later->rows[later->n];

	later->keys[later->n] = wc_slice(memcpy(MemoryContextAlloc(later->context, key.len), key.data, key.len), key.len);
	copy_slot(later, &row->plan, plan);
	if (slot != NULL)
	{
		copy_slot(later, &row->old, old);
		copy_slot(later, &row->slot, slot);
	}
	later->n++;
	if (later->n == ROWS_MAX || later->bytes >= BYTES_MAX)
		change_rows(later);
}
