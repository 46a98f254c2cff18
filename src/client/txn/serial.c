/*
 * client/txn/serial.c: SERIALIZABLE for stored tables.
 *
 * PostgreSQL finds out which transactions cannot be serialized (storage/lmgr/predicate.c); this file tells it, as heap
 * and its indexes do, what a transaction reads and writes.  A reader takes predicate locks, and a writer looks for them:
 * a lock is for a table, for a row, or for all rows with a prefix of some lengths.  The other order, a reader behind a
 * writer whose write it does not see, is found by notes of the written rows (wire/shared/written.h).  A reader locks before it
 * looks for notes, and a writer makes its note before it looks for locks, so one of them finds the other.
 *
 * Predicate locks are PostgreSQL's, of pages and tables: the page is a hash of the row or of the prefix, and the table's
 * oid is the stored table's id with the highest bit set, which is not the oid of any relation that a user sees.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/twophase.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "storage/procarray.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/hash.h"
#include "channel/flight.h"
#include "channel/shmem.h"
#include "client/txn/txn.h"
#include "compat.h"

/* A transaction that writes more rows of a table notes that it writes all of them. */
#define ROWS_MAX 64

/* The tables that the transaction writes to; of more tables, these are remembered that it wrote to last. */
#define TABLES_MAX 16

/* A scan of more ranges locks the table. */
#define RANGES_MAX 32

/* Lengths of prefixes that can be locked. */
static const uint8 lengths[] = {1, 2, 4, 8, 12, 16, 24, 32};

typedef struct Writes
{
	uint32		table_id;
	uint32		rows;			/* more than ROWS_MAX: the whole table is noted */
} Writes;

static Writes writes[TABLES_MAX];
static int	nwrites;			/* all that were begun; the i-th is at i % TABLES_MAX */
static bool noting;				/* the transaction has made notes */

/* The notes that matter to the transaction begin here; known if the transaction asked before its snapshot was taken. */
static uint64 floor_of_notes;
static bool floor_is_known;

static Relation
relation_of(uint32 table_id)
{
	static FormData_pg_class class;
	static RelationData relation;

	class.relpersistence = RELPERSISTENCE_PERMANENT;
	relation.rd_rel = &class;
	relation.rd_id = table_id | 0x80000000;
	wc_relation_database(&relation) = MyDatabaseId;
	return &relation;
}

/* Of a row (whole), or of the rows with a prefix.  (Hashes that began with 0 and 1 would take the row 'Y' for the prefix 'X'.) */
static BlockNumber
page_of(WcSlice bytes, bool whole)
{
	return (BlockNumber) (wc_hash_bytes(wc_hash_mix(whole ? 1 : 2), bytes) & 0x7fffffff);
}

static bool
is_tracked(uint32 table_id)
{
	return IsolationIsSerializable() && table_id < WC_REMOTE_TABLE;
}

/* --- reading -------------------------------------------------------------------- */

static void
lock_range(Relation relation, const WcRange *range, Snapshot snapshot)
{
	WcSlice		prefix = wc_range_common_prefix(range);

	if (wc_range_is_point(range))
	{
		PredicateLockPage(relation, page_of(range->start, true), snapshot);
		return;
	}
	for (int i = lengthof(lengths) - 1; i >= 0; i--)
	{
		if (lengths[i] <= prefix.len)
		{
			PredicateLockPage(relation, page_of(wc_slice(prefix.data, lengths[i]), false), snapshot);
			return;
		}
	}
	PredicateLockRelation(relation, snapshot);
}

static void
lock_ranges(Relation relation, const WcScan *scan, Snapshot snapshot)
{
	if (scan->nranges == 0 || scan->nranges > RANGES_MAX)
		PredicateLockRelation(relation, snapshot);
	else
	{
		for (uint32 i = 0; i < scan->nranges; i++)
			lock_range(relation, &scan->ranges[i], snapshot);
	}
}

/* next: the id of a later transaction. */
static uint64
full_xid(uint64 next, TransactionId xid)
{
	return next - (uint32) ((uint32) next - xid);
}

static bool
runs(uint64 xid)
{
	return TransactionIdIsInProgress(XidFromFullTransactionId(FullTransactionIdFromU64(xid)));
}

/*
 * The transaction was prepared before the server's last start, and the snapshot shows it as running.  May it have written stored
 * tables of this database?  If it has, it has a place until it is applied.
 */
static bool
may_have_written(uint64 xid)
{
	uint32		place = 0;
	WcFlightEntry entry;

	while (wc_flight_next(wc_places(), &place, &entry))
	{
		if (entry.xid == xid)
			return entry.database == 0 || entry.database == MyDatabaseId;
	}
	return !runs(xid);
}

/*
 * Transactions that were prepared before the server's last start, with ids before `first`, have no notes any more: they may have
 * written any row.  (PostgreSQL does not know any more which transactions were concurrent with them, either.)
 */
static void
meet_prepared(Relation relation, uint64 first, uint64 next, Snapshot snapshot)
{
	for (uint32 i = 0; i < snapshot->xcnt; i++)
	{
		uint64		xid = full_xid(next, snapshot->xip[i]);

		if (xid < first && may_have_written(xid))
			CheckForSerializableConflictOut(relation, (TransactionId) xid, snapshot);
	}
}

static void pg_attribute_noreturn()
forgotten(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to read/write dependencies among transactions"),
			 errdetail("Since this transaction, or one beside it, began, SERIALIZABLE transactions have written more rows of stored tables than widecol remembers (%d).",
					   WC_WRITTEN_MAX),
			 errhint("The transaction might succeed if retried.")));
}

/* Tells PostgreSQL of the transactions whose writes to these ranges the transaction does not see. */
static void
meet_writers(Relation relation, const WcScan *scan, Snapshot snapshot)
{
	uint64		next = U64FromFullTransactionId(ReadNextFullTransactionId());
	uint64		oldest = full_xid(next, TransactionXmin);
	WcWrittenSearch search = {
		.table_id = scan->table_id,.nranges = scan->nranges,.ranges = scan->ranges,
		.floor = floor_is_known ? floor_of_notes : 0,.since = floor_is_known ? 0 : oldest,
		.own = U64FromFullTransactionId(GetTopFullTransactionIdIfAny()),.at = WC_WRITTEN_NEWEST
	};
	uint64		writers[WC_WRITERS_MAX];
	uint64		first;
	uint32		n;

	do
	{
		LWLock	   *lock;
		WcWritten  *written = wc_shmem_written(&lock);
		bool		lost;

		LWLockAcquire(lock, LW_SHARED);
		first = wc_written_first(written, next);
		n = wc_written_find(written, &search, writers);
		lost = wc_written_forgotten(written, &search);
		LWLockRelease(lock);
		for (uint32 i = 0; i < n; i++)
		{
			/* else PostgreSQL, once it has only a summary of a writer, would take the writer for a concurrent one */
			if (XidInMVCCSnapshot((TransactionId) writers[i], snapshot))
				CheckForSerializableConflictOut(relation, (TransactionId) writers[i], snapshot);
		}
		if (lost)
			forgotten();
	} while (n == WC_WRITERS_MAX);
	if (max_prepared_xacts > 0 && oldest < first)
		meet_prepared(relation, first, next, snapshot);
}

void
wc_serial_begin(void)
{
	LWLock	   *lock;
	WcWritten  *written;

	if (!IsolationIsSerializable())
		return;
	written = wc_shmem_written(&lock);
	LWLockAcquire(lock, LW_SHARED);
	floor_of_notes = wc_written_floor(written, runs);
	LWLockRelease(lock);
	floor_is_known = false;
}

void
wc_serial_begun(void)
{
	floor_is_known = IsolationIsSerializable();
}

void
wc_serial_read(const WcScan *scan)
{
	Relation	relation;
	Snapshot	snapshot;

	if (likely(!is_tracked(scan->table_id)))
		return;
	relation = relation_of(scan->table_id);
	snapshot = GetTransactionSnapshot();

	/* a READ ONLY transaction may be safe without all this */
	if (!CheckForSerializableConflictOutNeeded(relation, snapshot))
		return;
	lock_ranges(relation, scan, snapshot);
	meet_writers(relation, scan, snapshot);
}

/* --- writing -------------------------------------------------------------------- */

static Writes *
writes_to(uint32 table_id)
{
	Writes	   *w;

	for (int i = nwrites - 1; i >= 0 && i >= nwrites - TABLES_MAX; i--)
	{
		if (writes[i % TABLES_MAX].table_id == table_id)
			return &writes[i % TABLES_MAX];
	}
	w = &writes[nwrites++ % TABLES_MAX];
	w->table_id = table_id;
	w->rows = 0;
	return w;
}

static void
note(uint32 table_id, const WcSlice *row)
{
	uint64		xid = U64FromFullTransactionId(GetTopFullTransactionId());
	LWLock	   *lock;
	WcWritten  *written = wc_shmem_written(&lock);

	noting = true;
	LWLockAcquire(lock, LW_EXCLUSIVE);
	wc_written_begin(written, wc_shmem_my_process());
	if (row != NULL)
		wc_written_row(written, xid, table_id, *row);
	else
		wc_written_table(written, xid, table_id);
	LWLockRelease(lock);
}

/* Finds the transactions that have read the row. */
static void
meet_readers(uint32 table_id, WcSlice row)
{
	Relation	relation = relation_of(table_id);

	CheckForSerializableConflictIn(relation, NULL, page_of(row, true));
	for (int i = 0; i < lengthof(lengths) && lengths[i] <= row.len; i++)
		CheckForSerializableConflictIn(relation, NULL, page_of(wc_slice(row.data, lengths[i]), false));
}

static void
write_row(uint32 table_id, WcSlice row)
{
	Writes	   *w = writes_to(table_id);

	if (w->rows > ROWS_MAX)
		return;
	if (w->rows == ROWS_MAX)
	{
		wc_serial_write_table(table_id);
		return;
	}
	w->rows++;
	note(table_id, &row);
	meet_readers(table_id, row);
}

void
wc_client_check_readers(const WcTableDesc *table, WcSlice row)
{
	if (is_tracked(table->id))
		meet_readers(table->id, row);
}

void
wc_serial_write_table(uint32 table_id)
{
	if (likely(!is_tracked(table_id)))
		return;
	writes_to(table_id)->rows = ROWS_MAX + 1;
	note(table_id, NULL);
	CheckTableForSerializableConflictIn(relation_of(table_id));
}

void
wc_serial_write_ops(WcSlice ops)
{
	WcDecoder	d = wc_decoder(ops);
	WcOp		op;

	if (likely(!IsolationIsSerializable()))
		return;
	while (wc_batch_next_op(&d, &op, NULL) == WC_OK)
	{
		if (op.kind == WC_OP_ROW)
			write_row(op.table_id, op.row);
	}
}

void
wc_serial_write_scan(const WcScan *scan)
{
	bool		points = scan->nranges > 0 && scan->nranges <= RANGES_MAX;

	if (likely(!is_tracked(scan->table_id)))
		return;
	for (uint32 i = 0; points && i < scan->nranges; i++)
		points = wc_range_is_point(&scan->ranges[i]);
	if (!points)
		wc_serial_write_table(scan->table_id);
	for (uint32 i = 0; points && i < scan->nranges; i++)
		write_row(scan->table_id, scan->ranges[i].start);
}

void
wc_serial_prepare(void)
{
	LWLock	   *lock;
	WcWritten  *written;

	if (!noting)
		return;
	written = wc_shmem_written(&lock);
	LWLockAcquire(lock, LW_EXCLUSIVE);
	wc_written_prepare(written, wc_shmem_my_process(), U64FromFullTransactionId(GetTopFullTransactionId()), runs);
	LWLockRelease(lock);
}

void
wc_serial_forget(void)
{
	LWLock	   *lock;

	if (noting)
		wc_written_end(wc_shmem_written(&lock), wc_shmem_my_process());
	nwrites = 0;
	noting = floor_is_known = false;
}
