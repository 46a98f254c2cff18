/*
 * fdw/write/absent.c: new rows that must not exist: duplicates are errors, or are left out.
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "executor/tuptable.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "client/catalog/owner.h"
#include "client/foreign/foreign.h"
#include "fdw/relation/rowerror.h"
#include "fdw/statement/quiet.h"
#include "fdw/statement/runend.h"
#include "fdw/write/absent.h"
#include "fdw/write/rowread.h"

bool
wc_absent_is_required(const WcModify *m)
{
	/* any role can make the settings of a session that restores a dump: they let only the owner replace rows */
	return m->policies || (m->wrel->duplicates_fail && !(m->shared && wc_owner_is_mine(m->wrel->desc)));
}

/* --- one row ----------------------------------------------------------------------- */

/* Short hashes may be equal for different originals: a row at this key must have the same originals. */
static void
check_originals(WcModify *m, const Datum *values, const bool *isnull)
{
	WcColumn   *columns = palloc0(sizeof(WcColumn) * m->nputs);
	int			ncolumns = 0;
	int			ncells;
	WcCell	   *cells;
	WcBuf	   *scratch = &m->old.bytes;

	for (int i = 0; i < m->nputs; i++)
	{
		const WcRelColumn *col = &m->wrel->columns[m->puts[i].index];

		if (col->role == WC_ROLE_KEY && col->codec.shape.length < WC_HASH_TRUSTED)
		{
			columns[ncolumns].family = m->puts[i].family;
			columns[ncolumns].kind = WC_COLUMN_EXACT;
			columns[ncolumns++].qualifier = m->puts[i].qualifier;
		}
	}
	cells = wc_rowread_cells(m->wrel, wc_buf_slice(&m->write.key), columns, ncolumns, NULL, 0, &ncells);
	for (int c = 0; c < ncells; c++)
	{
		for (int i = 0; i < m->nputs; i++)
		{
			const WcPutColumn *put = &m->puts[i];

			if (put->family != cells[c].family || !wc_slice_eq(put->qualifier, cells[c].qualifier))
				continue;
			wc_buf_reset(scratch, WC_ROW_MAX);
			wc_codec_encode(put->codec, values[put->index], scratch);
			if (!wc_slice_eq(wc_buf_slice(scratch), cells[c].value))
			{
				const char *key = wc_rowerror_key(m->wrel, values, isnull);

				ereport(ERROR,
						(errcode(ERRCODE_UNIQUE_VIOLATION),
						 errmsg("the hash of column \"%s\" of foreign table \"%s\" is that of another row",
								NameStr(m->wrel->columns[put->index].name), m->wrel->relname),
						 key != NULL ? errdetail("Key %s meets a row with another original value.", key) : 0,
						 errhint("Lengthen the hash with the column option length.")));
			}
		}
	}
}

/* Locks rows; if only_absent, only those that do not exist, which the locks tell. */
static void
lock_new(WcModify *m, bool only_absent, WcRowLock *locks, int n)
{
	WcRowLockRequest request = {
		.table = m->wrel->desc,
		.mode = WC_LOCK_EXCLUSIVE,
		.wait_policy = LockWaitBlock,
		.snapshot = m->pg_snapshot != NULL && IsolationUsesXactSnapshot() ? wc_modify_snapshot(m) : NULL,
		.may_change = true,
		.nfamilies = m->wrel->nfamilies,
		.families = m->wrel->families,
		.only_absent = only_absent
	};

	wc_client_lock_rows(&request, locks, n);
}

static void pg_attribute_noreturn()
refuse_duplicate(const WcModify *m, WcSlice row, const Datum *values, const bool *isnull)
{
	wc_client_check_readers(m->wrel->desc, row);
	wc_rowerror_duplicate(m->wrel, values, isnull);
}

bool
wc_absent_look(WcModify *m, const Datum *values, const bool *isnull, bool locks)
{
	WcRowLock	lock = {.row = wc_buf_slice(&m->write.key)};

	if (wc_absent_is_required(m) || m->do_nothing)
	{
		lock_new(m, true, &lock, 1);
		if (lock.exists && m->do_nothing && lock.changed && IsolationUsesXactSnapshot())
			wc_rowerror_changed(m->wrel, lock.row);
		if (lock.exists && m->do_nothing)
			return false;
		if (lock.exists)
			refuse_duplicate(m, lock.row, values, isnull);
	}
	else if (locks)
	{
		lock_new(m, false, &lock, 1);
		if (lock.changed && IsolationUsesXactSnapshot())
			wc_rowerror_changed(m->wrel, lock.row);
	}
	if (m->short_hash)
		check_originals(m, values, isnull);
	return true;
}

/* --- rows that are kept aside ------------------------------------------------------- */

/* The rows are sent when their operations have so many bytes, or when there are so many. */
#define BYTES_MAX (256 * 1024)
#define ROWS_MAX 256
#define PLACES (2 * ROWS_MAX)

typedef struct WcAsideRows
{
	WcRunEnd	end;
	WcModify   *m;
	const ResultRelInfo *rinfo;
	MemoryContext context;		/* of keys and tuples */
	WcBuf		ops;
	WcBatchBuilder builder;		/* of ops */
	int			n;
	WcSlice		keys[ROWS_MAX];
	MinimalTuple tuples[ROWS_MAX];	/* for errors */
	uint16		places[PLACES]; /* a hash table of keys, from 1; 0: free */
} WcAsideRows;

static void
free_aside(void *arg)
{
	WcAsideRows *aside = arg;

	wc_runend_forget(&aside->end);
	wc_buf_free(&aside->ops);
}

static void
at_end(void *m)
{
	wc_absent_send_aside(m);
}

void
wc_absent_begin(WcModify *m, const ResultRelInfo *rinfo)
{
	MemoryContext old;
	MemoryContextCallback *callback;
	WcAsideRows *aside;

	if (!(wc_absent_is_required(m) || m->do_nothing) || m->short_hash || m->shared ||
		wc_foreign_is_remote(RelationGetRelid(rinfo->ri_RelationDesc)) || !wc_quiet_inserts(m->estate, rinfo))
		return;
	old = MemoryContextSwitchTo(m->context);
	aside = palloc0(sizeof(WcAsideRows));
	aside->m = m;
	aside->rinfo = rinfo;
	aside->context = AllocSetContextCreate(m->context, "widecol rows aside", ALLOCSET_DEFAULT_SIZES);
	wc_buf_init(&aside->ops, 0);
	wc_runend_note(&aside->end, m->estate, at_end, m);
	callback = palloc0(sizeof(*callback));
	callback->func = free_aside;
	callback->arg = aside;
	MemoryContextRegisterResetCallback(m->context, callback);
	wc_batch_init(&aside->builder, &aside->ops);
	m->aside = aside;
	m->write.aside = &aside->builder;
	MemoryContextSwitchTo(old);
}

/* The place of this key among those of the rows that are kept aside; 0 in it: there is none. */
static uint16 *
place_of(WcAsideRows *aside, WcSlice key)
{
	uint32		i = hash_bytes(key.data, (int) key.len) % PLACES;

	while (aside->places[i] != 0 && !wc_slice_eq(aside->keys[aside->places[i] - 1], key))
		i = (i + 1) % PLACES;
	return &aside->places[i];
}

/* A row that exists: an error, or left out. */
static void
skip_duplicate(const WcAsideRows *aside, int i, const WcRowLock *lock)
{
	const WcModify *m = aside->m;
	TupleTableSlot *slot;

	if (m->do_nothing)
	{
		if (lock->changed && IsolationUsesXactSnapshot())
			wc_rowerror_changed(m->wrel, lock->row);
		wc_runend_uncount(m->estate);
		return;
	}
	slot = MakeSingleTupleTableSlot(RelationGetDescr(aside->rinfo->ri_RelationDesc), &TTSOpsMinimalTuple);
	ExecStoreMinimalTuple(aside->tuples[i], slot, false);
	slot_getallattrs(slot);
	refuse_duplicate(m, lock->row, slot->tts_values, slot->tts_isnull);
}

static void
send_row(const WcModify *m, WcSlice key, const WcOp *op)
{
	WcError		err;

	if (wc_batch_row(wc_client_write_in_mode(m->wrel->desc, m->write.mode), op->bytes, &err) != WC_OK)
		wc_client_write_failed(&err);
	wc_client_write_done();
	wc_nested_note(m->estate, m->wrel->desc->id, key);
}

void
wc_absent_send_aside(WcModify *m)
{
	WcAsideRows *aside = m->aside;
	WcRowLock  *locks;
	WcDecoder	d;
	WcError		err;
	WcOp		op;

	if (aside == NULL || aside->n == 0)
		return;
	locks = MemoryContextAllocZero(aside->context, sizeof(WcRowLock) * aside->n);
	for (int i = 0; i < aside->n; i++)
		locks[i].row = aside->keys[i];
	lock_new(m, true, locks, aside->n);
	for (int i = 0; i < aside->n; i++)
	{
		if (locks[i].exists)
			skip_duplicate(aside, i, &locks[i]);
	}
	d = wc_decoder(wc_buf_slice(&aside->ops));
	for (int i = 0; i < aside->n; i++)
	{
		if (wc_batch_next_op(&d, &op, &err) != WC_OK)
			wc_client_write_failed(&err);
		if (!locks[i].exists)
			send_row(m, aside->keys[i], &op);
	}
	aside->n = 0;
	memset(aside->places, 0, sizeof(aside->places));
	MemoryContextReset(aside->context);
	wc_buf_reset(&aside->ops, BYTES_MAX);
	wc_batch_init(&aside->builder, &aside->ops);
}

bool
wc_absent_makes_room(WcModify *m)
{
	WcAsideRows *aside = m->aside;
	bool		is_there = *place_of(aside, wc_buf_slice(&m->write.key)) != 0;

	if (is_there && m->do_nothing)
		return false;
	/* a row that is there is sent first: so the new row is found to be a duplicate */
	if (is_there || aside->n == ROWS_MAX || aside->ops.len >= BYTES_MAX)
		wc_absent_send_aside(m);
	return true;
}

void
wc_absent_keep_aside(WcModify *m, TupleTableSlot *slot)
{
	WcAsideRows *aside = m->aside;
	MemoryContext old = MemoryContextSwitchTo(aside->context);
	WcSlice		key = wc_buf_slice(&m->write.key);
	uint16	   *place = place_of(aside, key);

	aside->keys[aside->n] = wc_slice(memcpy(palloc(key.len), key.data, key.len), key.len);
	aside->tuples[aside->n++] = ExecCopySlotMinimalTuple(slot);
	*place = (uint16) aside->n;
	MemoryContextSwitchTo(old);
}
