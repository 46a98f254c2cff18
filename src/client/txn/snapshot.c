/*
 * client/txn/snapshot.c: the engine's snapshot that stands for a PostgreSQL snapshot.
 *
 * Under READ COMMITTED an engine's snapshot, by its number, belongs to one PostgreSQL
 * snapshot, identified by its address: the snapshot of a statement, which functions that are not
 * volatile read by as well, or of a cursor.  A PostgreSQL snapshot may be used again as long
 * as it is registered or active.  The functions here register it as well, so that no other
 * snapshot gets the address.  Above READ COMMITTED, one number serves the whole
 * transaction.
 *
 * When the last query that has a PostgreSQL snapshot registered ends (statement.c reports
 * this), the registration made here ends too: PostgreSQL may change the snapshot's command id next.
 * If the snapshot is still active (a rule's queries, the statements of an SQL function and the
 * calls in an expression of PL/pgSQL follow each other with one snapshot), the engine's snapshot
 * lingers: it is found again by a tag in PostgreSQL's snapshot.  Only the last one lingers, so
 * that they do not accumulate, and only while a statement runs.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/transam.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "replication/walsender.h"
#include "storage/predicate.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "channel/flight.h"
#include "client/txn/txn.h"

/* So often a reader tries to get the same state of heap tables and stored tables; after the first of these attempts it
 * keeps commits from beginning. */
#define ATTEMPTS_BESIDE_COMMITS 5
#define ATTEMPTS_MAX 1000

struct WcClientSnapshot
{
	WcClientSnapshot *next;
	uint64		number;
	Snapshot	key;			/* NULL: the transaction's, or exported and its query has ended */
	bool		whole;			/* the snapshot of the whole transaction */
	bool		exported;		/* kept to the end of the transaction, for other sessions */
	bool		taken;			/* known to stand for a state */
	bool		early;			/* of before the engine's start: nothing stored may be read by it */
	uint64		sent_elsewhere; /* wc_sent_elsewhere, when the snapshot was made */
};

static WcClientSnapshot newest; /* number 0; shared, never freed */
static WcClientSnapshot *snapshots; /* in TopTransactionContext */
static WcClientSnapshot *lingering; /* not in the list `snapshots`; its key is not registered */
static uint64 last_number;
static bool import_failed;		/* the transaction's snapshot was imported, and the exporting session does not share it */
static uint64 leaders_mark;		/* in a parallel worker: the mark of the query's snapshot */

uint64
wc_snapshot_sent_elsewhere(const WcClientSnapshot *snapshot)
{
	return snapshot->sent_elsewhere;
}

uint64
wc_snapshot_last(void)
{
	return last_number;
}

uint64
wc_snapshot_number(const WcClientSnapshot *snapshot)
{
	return snapshot->number;
}

WcClientSnapshot *
wc_snapshot_newest(void)
{
	return &newest;
}

bool
wc_snapshots_any(void)
{
	return snapshots != NULL || lingering != NULL;
}

/* --- releasing ---------------------------------------------------------------*/

static void
drop_lingering(void)
{
	WcClientSnapshot *s = lingering;

	if (s == NULL)
		return;
	lingering = NULL;
	wc_driver()->snapshot_release(s->number);
	pfree(s);
}

/* From now on the snapshot is found by the field speculativeToken, which CopySnapshot copies, and which
 * PostgreSQL uses for dirty snapshots only. */
static void
linger(WcClientSnapshot *s)
{
	drop_lingering();
	s->key->speculativeToken = (uint32) s->number;
	lingering = s;
}

/* No other code has the snapshot registered any more.  Removes the entry from the list, except an
 * exported one; the entry lingers if the snapshot is active and may_linger. */
static void
give_up(WcClientSnapshot **link, bool may_linger)
{
	WcClientSnapshot *s = *link;
	Snapshot	key = s->key;

	if (s->exported)
		s->key = NULL;
	else
	{
		*link = s->next;
		if (may_linger && key->active_count > 0)
			linger(s);
		else
		{
			wc_driver()->snapshot_release(s->number);
			pfree(s);
		}
	}
	UnregisterSnapshotFromOwner(key, TopTransactionResourceOwner);
}

static bool
is_unused(const WcClientSnapshot *s)
{
	return s->key != NULL && s->key->regd_count == 1 && s->key->active_count == 0;
}

/* Releases snapshots whose PostgreSQL snapshot can no longer be used. */
static void
give_up_dead(void)
{
	WcClientSnapshot **link = &snapshots;

	while (*link != NULL)
	{
		WcClientSnapshot *s = *link;

		if (is_unused(s))
			give_up(link, false);
		if (*link == s)
			link = &s->next;
	}
}

void
wc_snapshots_query_end(Snapshot snapshot, bool top)
{
	WcClientSnapshot **link = &snapshots;

	while (*link != NULL)
	{
		WcClientSnapshot *s = *link;

		/* the query's own registration is still there */
		if (s->key != NULL && s->key->regd_count == (s->key == snapshot ? 2 : 1) &&
			(top || s->key == snapshot || s->key->active_count == 0))
			give_up(link, !top);
		if (*link == s)
			link = &s->next;
	}
	if (top)
		drop_lingering();
}

void
wc_snapshots_subxact_start(void)
{
	give_up_dead();
}

void
wc_snapshots_subxact_abort(void)
{
	drop_lingering();
}

void
wc_snapshots_forget(void)
{
	/* The driver forgets the snapshots at the end of the transaction, which also frees their memory. */
	for (WcClientSnapshot *s = snapshots; s; s = s->next)
	{
		if (s->key != NULL)
			UnregisterSnapshotFromOwner(s->key, TopTransactionResourceOwner);
	}
	snapshots = NULL;
	lingering = NULL;
	import_failed = false;
}

/* --- finding -----------------------------------------------------------------*/

static void
keep(WcClientSnapshot *s, Snapshot key)
{
	s->key = key;
	s->next = snapshots;
	snapshots = s;
}

static WcClientSnapshot *
find(Snapshot snapshot, bool whole)
{
	for (WcClientSnapshot *s = snapshots; s; s = s->next)
	{
		if (whole ? s->whole : s->key == snapshot)
			return s;
	}
	if (whole || lingering == NULL || lingering->key != snapshot ||
		snapshot->speculativeToken != (uint32) lingering->number)
		return NULL;
	keep(lingering, RegisterSnapshotOnOwner(snapshot, TopTransactionResourceOwner));
	lingering = NULL;
	return snapshots;
}

/*
 * A hash of the bounds and of the transactions in progress: two snapshots that show the same state have
 * the same mark, in every process.  A process's own transaction is not in its own snapshot, but is in the
 * snapshot that it exports.  Exported snapshots have different marks from those of queries with workers,
 * because exported snapshots are kept, while such queries, whose snapshots may show the same state, end.
 */
static uint64
mark_of(Snapshot snapshot, bool exported)
{
	TransactionId own = GetTopTransactionIdIfAny();
	uint64		mark = hash_combine64(hash_bytes_uint32_extended(snapshot->xmin, 0), hash_bytes_uint32_extended(snapshot->xmax, 0));
	uint64		sum = 0;

	for (uint32 i = 0; i < snapshot->xcnt; i++)
	{
		sum += hash_bytes_uint32_extended(snapshot->xip[i], 0);
		if (snapshot->xip[i] == own)
			own = InvalidTransactionId;
	}
	if (TransactionIdIsValid(own) && TransactionIdPrecedes(own, snapshot->xmax))
		sum += hash_bytes_uint32_extended(own, 0);
	if (snapshot->takenDuringRecovery)
	{
		for (int32 i = 0; i < snapshot->subxcnt; i++)
			sum += hash_bytes_uint32_extended(snapshot->subxip[i], 0);
	}
	mark = hash_combine64(mark, sum + exported);
	return mark != 0 ? mark : 1;
}

/* A parallel worker reads by its leader's snapshot.  False: the snapshot is the worker's own, that of a
 * volatile function. */
static bool
enter_leaders(uint64 number, Snapshot snapshot)
{
	uint64		mark = mark_of(snapshot, false);

	if (wc_driver()->snapshot_enter_marked(number, (uint32) (MyProc->lockGroupLeader - ProcGlobal->allProcs), mark))
		return true;
	if (mark == leaders_mark || IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stored tables cannot be read in this parallel worker"),
				 errdetail("The engine was not ready when its leader began the query."),
				 errhint("Run the query again.")));
	return false;
}

static WcClientSnapshot *
allocate(bool whole)
{
	WcClientSnapshot *s = MemoryContextAllocZero(TopTransactionContext, sizeof(WcClientSnapshot));

	if ((uint32) ++last_number == 0)
		last_number++;			/* 0 is no tag */
	s->number = last_number;
	s->whole = whole;
	s->sent_elsewhere = wc_sent_elsewhere();
	return s;
}

static void
keep_registered(WcClientSnapshot *s, Snapshot snapshot)
{
	keep(s, s->whole ? NULL : RegisterSnapshotOnOwner(snapshot, TopTransactionResourceOwner));
}

static WcClientSnapshot *
make(Snapshot snapshot, bool whole)
{
	WcClientSnapshot *s = allocate(whole);

	s->taken = IsParallelWorker() && enter_leaders(s->number, snapshot);
	if (!s->taken)
	{
		wc_following_await(snapshot, MyDatabaseId);
		s->taken = wc_driver()->snapshot_enter(s->number, false);
	}
	keep_registered(s, snapshot);
	return s;
}

static WcClientSnapshot *
find_or_make(Snapshot snapshot)
{
	bool		whole = IsolationUsesXactSnapshot();
	WcClientSnapshot *s;

	if (snapshots != NULL)
		give_up_dead();
	s = find(snapshot, whole);
	return s != NULL ? s : make(snapshot, whole);
}

WcClientSnapshot *
wc_client_snapshot(Snapshot snapshot)
{
	if (snapshot == NULL)
	{
		wc_following_await_all(MyDatabaseId);
		return &newest;
	}
	wc_xact_join();
	if (import_failed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stored tables cannot be read by the imported snapshot"),
				 errdetail("The engine was not ready when it was exported, or too many snapshots of the session were in use.")));
	return find_or_make(snapshot);
}

void
wc_client_snapshot_take(WcClientSnapshot *snapshot)
{
	if (snapshot == &newest || snapshot->taken)
		return;
	wc_driver()->snapshot_take(snapshot->number);
	snapshot->taken = true;
}

void
wc_snapshot_check(const WcClientSnapshot *snapshot)
{
	if (!snapshot->early)
		return;
	wc_driver()->snapshot_take(snapshot->number);	/* tells why the engine does not start, if it does not */
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("stored tables cannot be read by the snapshot of this statement"),
			 errdetail("The engine was not ready when PostgreSQL took the snapshot."),
			 errhint("Run the %s again.", snapshot->whole ? "transaction" : "statement")));
}

/* --- for statement.c -----------------------------------------------------------*/

/* Enters an epoch without a connection; waits while a commit is being written. */
static WcClientSnapshot *
enter(Snapshot snapshot)
{
	WcClientSnapshot *s = find_or_make(snapshot);

	s->taken = s->taken || wc_driver()->snapshot_enter(s->number, true);
	return s;
}

bool
wc_snapshot_of_transaction_taken(void)
{
	WcClientSnapshot *s = find(NULL, true);

	return import_failed || (s != NULL && s->taken);
}

uint64
wc_snapshot_of_transaction(void)
{
	WcClientSnapshot *s = IsolationUsesXactSnapshot() ? find(NULL, true) : NULL;

	return s != NULL ? s->number : 0;
}

void
wc_snapshot_enter(Snapshot snapshot)
{
	(void) enter(snapshot);
}

/* --- one state of heap tables and stored tables ----------------------------------- */

/*
 * The contents of PostgreSQL's snapshot become those of another one.  xmin stays: PostgreSQL has the snapshot in a heap
 * that is ordered by it, and an older xmin is right, too.  The arrays are in the current memory context, unless the
 * snapshot has room for them.
 */
static void
set_contents(Snapshot to, const SnapshotData *from)
{
	uint32		n = from->xcnt + from->subxcnt;

	if (to->xip == NULL || n > to->xcnt + Max(to->subxcnt, 0))
		to->xip = palloc(Max(n, 1) * sizeof(TransactionId));
	memcpy(to->xip, from->xip, from->xcnt * sizeof(TransactionId));
	to->subxip = to->xip + from->xcnt;
	memcpy(to->subxip, from->subxip, from->subxcnt * sizeof(TransactionId));
	to->xcnt = from->xcnt;
	to->subxcnt = from->subxcnt;
	to->suboverflowed = from->suboverflowed;
	to->takenDuringRecovery = from->takenDuringRecovery;
	to->xmax = from->xmax;
}

/*
 * Under SERIALIZABLE the transaction begins anew for PostgreSQL's conflict detection: it has read nothing yet.  If it is
 * DEFERRABLE, PostgreSQL waits for a safe snapshot again; not may_wait: conflicts are detected instead.
 */
static void
renew(Snapshot snapshot, bool may_wait)
{
	static SnapshotData fresh = {.snapshot_type = SNAPSHOT_MVCC};
	MemoryContext before;

	if (IsolationIsSerializable())
	{
		bool		deferrable = XactDeferrable;

		ReleasePredicateLocks(false, false);
		XactDeferrable = deferrable && may_wait;
		PG_TRY();
		{
			(void) GetSerializableTransactionSnapshot(&fresh);
		}
		PG_FINALLY();
		{
			XactDeferrable = deferrable;
		}
		PG_END_TRY();
	}
	else
		(void) GetSnapshotData(&fresh);
	set_contents(snapshot, &fresh);
	if (!IsolationUsesXactSnapshot() || GetTransactionSnapshot() == snapshot)
		return;
	before = MemoryContextSwitchTo(TopTransactionContext);
	set_contents(GetTransactionSnapshot(), &fresh);
	MemoryContextSwitchTo(before);
}

/*
 * Has nothing been read by the snapshot of the query that begins?  Its descriptor has the snapshot registered, and for
 * EXECUTE the portal, too.  The snapshot of a running query, by which a function's query reads, is registered three
 * times.  For DECLARE CURSOR and EXECUTE the snapshot is active twice.
 */
static bool
is_unread(Snapshot snapshot)
{
	return snapshot->snapshot_type == SNAPSHOT_MVCC && snapshot->copied && snapshot->regd_count <= 2 &&
		snapshot->active_count <= 2;
}

/* SERIALIZABLE: PostgreSQL knows the transaction's id, under which others find its conflicts: that is lost with the snapshot. */
static bool
is_fixed_for_conflicts(void)
{
	return IsolationIsSerializable() && TransactionIdIsValid(GetTopTransactionIdIfAny());
}

static void
forget(WcClientSnapshot *forgotten)
{
	WcClientSnapshot **link = &snapshots;

	while (*link != forgotten)
		link = &(*link)->next;
	*link = forgotten->next;
	wc_driver()->snapshot_release(forgotten->number);
	if (forgotten->key != NULL)
		UnregisterSnapshotFromOwner(forgotten->key, TopTransactionResourceOwner);
	pfree(forgotten);
}

/*
 * PostgreSQL's snapshot is taken anew, until the engine's, which is taken behind it, shows no other transactions.  Under
 * a heavy load of commits the reader asks for a moment without them.
 */
bool
wc_snapshot_enter_exactly(Snapshot snapshot)
{
	/* a walsender may have the snapshot of a replication slot; imported ones are known here (wc_snapshot_import) */
	bool		may_renew = is_unread(snapshot) && !is_fixed_for_conflicts() && !am_walsender;

	if (find(snapshot, IsolationUsesXactSnapshot()) != NULL)
		return true;			/* an earlier query, of the same rule or function, has read by it */
	for (int attempt = 1;; attempt++)
	{
		uint64		noted = wc_flight_nnoted(wc_places());
		WcClientSnapshot *s;

		if (may_renew)
		{
			wc_serial_begin();
			renew(snapshot, attempt < ATTEMPTS_BESIDE_COMMITS);
			wc_serial_begun();
		}
		s = enter(snapshot);
		if (!may_renew)
			return true;
		if (!s->taken && !wc_driver()->ready())
		{
			forget(s);
			return false;
		}
		if (!s->taken || !wc_following_is_ahead(snapshot, noted) || attempt == ATTEMPTS_MAX)
			return true;
		forget(s);
		if (attempt >= ATTEMPTS_BESIDE_COMMITS)
			wc_following_ask_for_quiet();
		CHECK_FOR_INTERRUPTS();
	}
}

void
wc_snapshot_mark_early(Snapshot snapshot)
{
	WcClientSnapshot *s;

	if (snapshots != NULL)
		give_up_dead();
	if (find(snapshot, IsolationUsesXactSnapshot()) != NULL)
		return;
	s = allocate(IsolationUsesXactSnapshot());
	s->early = true;
	keep_registered(s, snapshot);
}

bool
wc_snapshot_share(Snapshot snapshot, bool exported)
{
	WcClientSnapshot *s = enter(snapshot);

	s->exported |= exported;
	return !s->early && wc_driver()->snapshot_mark(s->number, mark_of(snapshot, exported));
}

void
wc_snapshot_import(Snapshot snapshot, uint32 process)
{
	WcClientSnapshot *s = MemoryContextAllocZero(TopTransactionContext, sizeof(WcClientSnapshot));

	s->number = ++last_number;
	s->whole = true;
	s->taken = wc_driver()->snapshot_enter_marked(s->number, process, mark_of(snapshot, true));
	import_failed = !s->taken;
	keep(s, NULL);
}

void
wc_snapshot_of_leader(Snapshot snapshot)
{
	if (leaders_mark == 0)
		leaders_mark = mark_of(snapshot, false);
}
