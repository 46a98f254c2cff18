/*
 * client/snapshot.c: which of the engine's snapshots stands for a PostgreSQL
 * snapshot.
 *
 * The engine's snapshot is taken when the first scan that names its number is
 * opened (for a cursor: with the cursor; or it is that of the epoch which such a scan
 * has entered, gets.c), so after PostgreSQL's: what that shows as committed is in it.
 * Under READ COMMITTED a number belongs to one snapshot of the executor, told by
 * its address.  That is registered here as well, so that no other snapshot gets the
 * address while the number lives.  Above, one number serves the whole transaction.
 *
 * A subtransaction that aborts ends scan nodes without a word: how many references
 * are left is not known any more, and a cursor from outside may still hold some.
 * From then on PostgreSQL's own count decides: when nobody else has the snapshot
 * registered or active, nobody can use ours.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "client/state.h"

struct WcClientSnapshot
{
	WcClientSnapshot *next;
	uint64		number;
	Snapshot	key;			/* registered; NULL: the transaction's */
	int			refs;			/* given and not given back; too many when doubtful */
	bool		doubtful;		/* a subtransaction has aborted: refs may be too many */
	bool		taken;			/* known to be there in the engine */
};

static WcClientSnapshot newest; /* number 0; shared, never freed */
static WcClientSnapshot *snapshots; /* in TopTransactionContext */
static bool any_doubtful;
static uint64 last_number;

uint64
wc_snapshot_number(const WcClientSnapshot *snapshot)
{
	return snapshot->number;
}

static void
drop(WcClientSnapshot *s)
{
	WcClientSnapshot **link = &snapshots;

	while (*link != s)
		link = &(*link)->next;
	*link = s->next;
	wc_driver()->snapshot_release(s->number);
	if (s->key != NULL)
		UnregisterSnapshotFromOwner(s->key, TopTransactionResourceOwner);
	pfree(s);
}

/* Not in the abort itself: only after it has PostgreSQL let go of what was the
 * subtransaction's. */
static void
drop_dead(void)
{
	WcClientSnapshot *s = snapshots;

	any_doubtful = false;
	while (s)
	{
		WcClientSnapshot *next = s->next;

		if (s->doubtful && s->key->regd_count == 1 && s->key->active_count == 0)
			drop(s);
		else if (s->doubtful)
			any_doubtful = true;
		s = next;
	}
}

WcClientSnapshot *
wc_client_snapshot(Snapshot snapshot)
{
	bool		whole = IsolationUsesXactSnapshot();
	Snapshot	key = whole ? NULL : snapshot;
	WcClientSnapshot *s;

	if (snapshot == NULL)
		return &newest;
	wc_xact_join();
	if (any_doubtful)
		drop_dead();
	for (s = snapshots; s; s = s->next)
	{
		if (s->key == key)
		{
			s->refs++;
			return s;
		}
	}
	s = MemoryContextAllocZero(TopTransactionContext, sizeof(WcClientSnapshot));
	if (!whole)
		s->key = RegisterSnapshotOnOwner(snapshot, TopTransactionResourceOwner);
	s->number = ++last_number;
	/* the transaction itself keeps its own */
	s->refs = whole ? 2 : 1;
	s->next = snapshots;
	snapshots = s;
	return s;
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
wc_client_snapshot_release(WcClientSnapshot *snapshot)
{
	if (snapshot != &newest && --snapshot->refs == 0)
		drop(snapshot);
}

void
wc_snapshots_subxact_end(SubTransactionId subid, SubTransactionId parent, bool commit)
{
	if (commit)
		return;
	for (WcClientSnapshot *s = snapshots; s; s = s->next)
	{
		if (s->key != NULL)
			any_doubtful = s->doubtful = true;
	}
}

void
wc_snapshots_forget(void)
{
	/* The engine forgets them with the transaction, and so does their memory. */
	for (WcClientSnapshot *s = snapshots; s; s = s->next)
	{
		if (s->key != NULL)
			UnregisterSnapshotFromOwner(s->key, TopTransactionResourceOwner);
	}
	snapshots = NULL;
	any_doubtful = false;
}
