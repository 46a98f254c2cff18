/*
 * rpc/lock/lockrelease.c: releases locks.
 */
#include "rpc/lock/locktablestate.h"

#include <assert.h>
#include <stdlib.h>

/* After so many released locks the thread unlocks the mutex for a moment, so that other threads get it. */
#define SLICE			256

/* Drops the lock that *place, in the share's list, points to. */
static void
drop_lock(WcLockTable *table, WcLockPart *part, WcLock **place, WcLockOwner *owner) WC_REQUIRES(part->mutex)
{
	WcLock	   *lock = *place;
	WcLockShare *share = lock->share;
	WcLock	  **link = wc_lock_bucket(part, lock->hash);

	while (*link != lock)
		link = &(*link)->next;
	*link = lock->next;
	part->nlocks--;
	*place = lock->older;
	share->nlocks--;
	owner->nlocks--;
	owner->bytes -= lock->row_len;
	wc_claims_uncount(table->claims, lock->hash);
	free(lock);
}

/* Drops the share's locks with this subid or a greater one.  Locks the mutex, unlocks it now and then for a moment, and
 * returns with it locked. */
static void
drop_locks(WcLockTable *table, WcLockPart *part, WcLockShare *share, WcLockOwner *owner, uint32_t subid) WC_ACQUIRES(part->mutex)
{
	pthread_mutex_lock(&part->mutex);
	for (uint64_t n = 1; share->locks != NULL && share->locks->subid >= subid; n++)
	{
		drop_lock(table, part, &share->locks, owner);
		if (n % SLICE == 0)
		{
			pthread_mutex_unlock(&part->mutex);
			pthread_mutex_lock(&part->mutex);
		}
	}
}

void
wc_lock_drop_rows(WcLockTable *table, WcLockPart *part, WcLockShare *share, WcLockOwner *owner)
{
	drop_locks(table, part, share, owner, 0);
	pthread_mutex_unlock(&part->mutex);
}

void
wc_lock_stop_wanting(WcLockTable *table, WcLockOwner *owner, uint32_t subid)
{
	uint64_t	hash = wc_claims_hash_table(table->claims, owner->wants);
	WcLockPart *part = wc_lock_part(table, hash);
	WcTableLocks *t;

	if (!owner->wanting)
		return;
	pthread_mutex_lock(&part->mutex);
	t = wc_lock_find_table(part, hash, owner->wants);
	if (t == NULL || t->wanting != owner)
		owner->wanting = false;
	else if (t->wanting_subid >= subid)
	{
		t->wanting = NULL;
		owner->wanting = false;
		wc_claims_open_table(table->claims, t->id);
		wc_lock_drop_table_if_empty(part, hash, t);
	}
	pthread_mutex_unlock(&part->mutex);
}

/* Removes the share that *link points to: the owner has no lock in its table any more.  With the part's mutex
 * locked. */
static void
remove_share(WcLockTable *table, WcLockPart *part, uint64_t table_hash, WcLockShare **link) WC_REQUIRES(part->mutex)
{
	WcLockShare *share = *link;

	*share->link_here = share->next_here;
	if (share->next_here != NULL)
		share->next_here->link_here = share->link_here;
	if (share->whole)
		wc_claims_open_table(table->claims, share->table->id);
	wc_lock_drop_table_if_empty(part, table_hash, share->table);
	*link = share->next;
	free(share);
}

void
wc_lock_release(WcLockTable *table, WcLockOwner *owner, uint32_t subid)
{
	WcLockShare **link = &owner->shares;

	while (*link != NULL)
	{
		WcLockShare *share = *link;
		uint64_t	hash = wc_claims_hash_table(table->claims, share->table->id);
		WcLockPart *part = wc_lock_part(table, hash);
		bool		over;

		drop_locks(table, part, share, owner, subid);
		over = share->whole ? share->subid >= subid : share->locks == NULL;
		if (over)
			remove_share(table, part, hash, link);
		else
			link = &share->next;
		pthread_mutex_unlock(&part->mutex);
	}
	wc_lock_stop_wanting(table, owner, subid);
}

/* Only the thread that is in the owner changes the lists of its locks. */
void
wc_lock_keep(WcLockOwner *owner)
{
	if (!owner->brief)
		return;
	for (const WcLockShare *share = owner->shares; share != NULL; share = share->next)
	{
		for (WcLock *lock = share->locks; lock != NULL && atomic_load_explicit(&lock->brief, memory_order_relaxed); lock = lock->older)
			atomic_store_explicit(&lock->brief, false, memory_order_relaxed);
	}
	owner->brief = false;
}

void
wc_lock_give_back(WcLockTable *table, WcLockOwner *owner, uint32_t table_id, WcSlice row)
{
	WcLockRequest request = {.table_id = table_id};
	WcLockWork	w;
	WcLock	  **place;
	WcLockShare **link = &owner->shares;

	wc_lock_begin(&w, table, owner, &request);
	assert(w.share != NULL);
	place = &w.share->locks;
	while (*place != NULL && !wc_slice_eq(wc_slice((*place)->row, (*place)->row_len), row))
		place = &(*place)->older;
	assert(*place != NULL || w.share->whole);
	if (*place != NULL)
		drop_lock(table, w.part, place, owner);
	if (w.share->locks == NULL && !w.share->whole)
	{
		while (*link != w.share)
			link = &(*link)->next;
		remove_share(table, w.part, w.table_hash, link);
	}
	pthread_mutex_unlock(&w.part->mutex);
}
