/*
 * rpc/lock/lockowner.c: the owners of a lock table, by the ids of their transactions.
 */
#include "rpc/lock/locktablestate.h"

#include <stdlib.h>

static WcLockOwnerPart *
owner_part(WcLockTable *table, uint64_t xid)
{
	return &table->owner_parts[wc_hash_mix(xid) % WC_LOCK_PARTS];
}

static WcLockOwner **
owner_chain(WcLockOwnerPart *part, uint64_t xid) WC_REQUIRES(part->mutex)
{
	return &part->owners[wc_hash_mix(xid) / WC_LOCK_PARTS % WC_LOCK_CHAINS];
}

/* Finds the owner, or makes it, and counts the caller as its user; the caller then locks its mutex. */
static WcLockOwner *
find_owner(WcLockOwnerPart *part, uint64_t xid, bool make)
{
	WcLockOwner **chain;
	WcLockOwner *owner;

	pthread_mutex_lock(&part->mutex);
	chain = owner_chain(part, xid);
	for (owner = *chain; owner != NULL && owner->xid != xid;)
		owner = owner->next;
	if (owner == NULL && make && (owner = calloc(1, sizeof(*owner))) != NULL)
	{
		owner->xid = xid;
		pthread_mutex_init(&owner->mutex, NULL);
		owner->next = *chain;
		*chain = owner;
	}
	if (owner != NULL)
		owner->users++;
	pthread_mutex_unlock(&part->mutex);
	return owner;
}

static bool
is_needed(const WcLockOwner *owner)
{
	return owner->shares != NULL || owner->wanting;
}

/* The last thread that leaves an owner checks whether it is still needed. */
static void
unuse_owner(WcLockOwnerPart *part, WcLockOwner *owner)
{
	WcLockOwner **link;
	bool		over;

	pthread_mutex_lock(&part->mutex);
	link = owner_chain(part, owner->xid);
	over = --owner->users == 0 && !is_needed(owner);
	while (over && *link != owner)
		link = &(*link)->next;
	if (over)
		*link = owner->next;
	pthread_mutex_unlock(&part->mutex);
	if (!over)
		return;
	pthread_mutex_destroy(&owner->mutex);
	free(owner);
}

WcLockOwner *
wc_lock_enter(WcLockTable *table, uint64_t xid) WC_UNCHECKED
{
	WcLockOwner *owner = find_owner(owner_part(table, xid), xid, true);

	if (owner != NULL)
		pthread_mutex_lock(&owner->mutex);
	return owner;
}

uint64_t
wc_lock_leave(WcLockTable *table, WcLockOwner *owner) WC_UNCHECKED
{
	uint64_t	xid = is_needed(owner) ? owner->xid : 0;

	wc_lock_keep(owner);
	pthread_mutex_unlock(&owner->mutex);
	unuse_owner(owner_part(table, owner->xid), owner);
	return xid;
}

bool
wc_lock_release_of(WcLockTable *table, uint64_t xid, uint32_t subid, bool wait) WC_UNCHECKED
{
	WcLockOwnerPart *part = owner_part(table, xid);
	WcLockOwner *owner = find_owner(part, xid, false);

	if (owner == NULL)
		return true;
	if (wait)
		pthread_mutex_lock(&owner->mutex);
	else if (pthread_mutex_trylock(&owner->mutex) != 0)
	{
		unuse_owner(part, owner);
		return false;
	}
	wc_lock_release(table, owner, subid);
	(void) wc_lock_leave(table, owner);
	return true;
}
