/*
 * client/snapshot.c: which of the engine's snapshots stands for a PostgreSQL
 * snapshot.
 *
 * The engine's snapshot is taken when the first scan that names its number is
 * opened (for a cursor: with the cursor), so after PostgreSQL's: what PostgreSQL's shows as committed is in it.
 * Under READ COMMITTED a number belongs to one snapshot of the executor, told by
 * its address, which is its own as long as the scan nodes that hold references
 * live.  Above, one number serves the whole transaction.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "client/state.h"

struct WcClientSnapshot
{
	WcClientSnapshot *next;
	uint64		number;
	Snapshot	key;			/* NULL: the transaction's */
	int			refs;
	SubTransactionId subid;		/* goes with its abort */
	bool		taken;			/* known to be there in the engine */
};

static WcClientSnapshot newest; /* number 0; shared, never freed */
static WcClientSnapshot *snapshots; /* in TopTransactionContext */
static uint64 last_number;

uint64
wc_snapshot_number(const WcClientSnapshot *snapshot)
{
	return snapshot->number;
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
	for (s = snapshots; s; s = s->next)
	{
		if (s->key == key)
		{
			s->refs++;
			return s;
		}
	}
	s = MemoryContextAlloc(TopTransactionContext, sizeof(WcClientSnapshot));
	s->number = ++last_number;
	s->key = key;
	s->subid = whole ? TopSubTransactionId : GetCurrentSubTransactionId();
	/* the transaction itself keeps its own */
	s->refs = whole ? 2 : 1;
	s->taken = false;
	s->next = snapshots;
	snapshots = s;
	return s;
}

static void
drop(WcClientSnapshot *s)
{
	WcClientSnapshot **link = &snapshots;

	while (*link != s)
		link = &(*link)->next;
	*link = s->next;
	wc_driver()->snapshot_release(s->number);
	pfree(s);
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
	WcClientSnapshot *s = snapshots;

	while (s)
	{
		WcClientSnapshot *next = s->next;

		if (s->subid == subid)
		{
			if (commit)
				s->subid = parent;
			else
				drop(s);		/* whoever held it is gone */
		}
		s = next;
	}
}

void
wc_snapshots_forget(void)
{
	snapshots = NULL;			/* their memory goes with the transaction's */
}
