/*
 * rpc/lock/locktable.c: a lock table, made and freed, and an owner's locks, visited.
 *
 * The lock table is a hash table in parts.  All locks of one stored table are in one part.  A thread locks the part's
 * mutex for a look-up or a change, and never waits while it has the mutex; long work (releasing many locks) is done in
 * slices.  Owners (lockowner.c) are in a second hash table, by their ids, in parts too: the mutexes of these parts are
 * locked only for a look-up.  Only the thread that is in an owner uses the owner's list of shares: it has locked the
 * owner's mutex, and may then lock a part's.
 *
 * A row is in the lock table once for each owner and mode: an owner that needs a stronger mode later adds a lock, so
 * that the subtransaction which added it can be rolled back.  A share lists its locks youngest first: those of a
 * subtransaction that is rolled back, and of its own subtransactions, are at the head.
 */
#include "rpc/lock/locktablestate.h"

#include <assert.h>
#include <stdlib.h>

#define BUCKETS_FIRST	64		/* of rows in a part */

/* A thread has the mutex locked for some hundred nanoseconds.  A thread that finds it locked spins briefly before it
 * sleeps: two sessions that change many rows of one table meet here often. */
static void
init_part_mutex(WcMutex *mutex)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

WcLockTable *
wc_locktable_create(WcClaims *claims, const WcFlight *flight) WC_UNCHECKED
{
	WcLockTable *table = calloc(1, sizeof(*table));
	bool		failed = false;

	if (table == NULL)
		return NULL;
	table->claims = claims;
	table->flight = flight;
	for (int i = 0; i < WC_LOCK_PARTS; i++)
	{
		WcLockPart *part = &table->parts[i];

		init_part_mutex(&part->mutex);
		part->nbuckets = BUCKETS_FIRST;
		part->buckets = calloc(BUCKETS_FIRST, sizeof(WcLock *));
		failed |= part->buckets == NULL;
		pthread_mutex_init(&table->owner_parts[i].mutex, NULL);
	}
	if (failed)
	{
		wc_locktable_free(table);
		return NULL;
	}
	return table;
}

void
wc_locktable_free(WcLockTable *table) WC_UNCHECKED
{
	if (table == NULL)
		return;
	for (int i = 0; i < WC_LOCK_PARTS * WC_LOCK_CHAINS; i++)
	{
		WcLockOwner *owner;

		while ((owner = table->owner_parts[i / WC_LOCK_CHAINS].owners[i % WC_LOCK_CHAINS]) != NULL)
		{
			assert(owner->users == 0);
			(void) wc_lock_release_of(table, owner->xid, 0, true);
		}
	}
	for (int i = 0; i < WC_LOCK_PARTS; i++)
	{
		assert(table->parts[i].nlocks == 0);
		for (int j = 0; j < WC_LOCK_CHAINS; j++)
			assert(table->parts[i].tables[j] == NULL);
		pthread_mutex_destroy(&table->parts[i].mutex);
		pthread_mutex_destroy(&table->owner_parts[i].mutex);
		free(table->parts[i].buckets);
	}
	free(table);
}

/* --- visiting --------------------------------------------------------------------- */

/* Only the thread that has entered the owner changes a share's locks: no mutex is needed. */
static WcStatus
visit_share(const WcLockShare *share, WcLockVisitor fn, void *arg, WcError *err)
{
	WcStatus	status = WC_OK;

	if (share->whole)
		return fn(arg, share->table->id, WC_LOCK_EXCLUSIVE, wc_slice(NULL, 0), err);
	for (const WcLock *lock = share->locks; status == WC_OK && lock != NULL; lock = lock->older)
		status = fn(arg, share->table->id, (WcRowLockMode) lock->mode, wc_slice(lock->row, lock->row_len), err);
	return status;
}

WcStatus
wc_lock_visit(const WcLockOwner *owner, WcLockVisitor fn, void *arg, WcError *err)
{
	WcStatus	status = WC_OK;

	for (const WcLockShare *share = owner->shares; status == WC_OK && share != NULL; share = share->next)
		status = visit_share(share, fn, arg, err);
	return status;
}
