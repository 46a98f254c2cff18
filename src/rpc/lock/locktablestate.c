/*
 * rpc/lock/locktablestate.c: the stored tables in a lock table, and owners' shares of them: with the part's mutex locked.
 */
#include "rpc/lock/locktablestate.h"

#include <stdlib.h>

WcTableLocks *
wc_lock_find_table(WcLockPart *part, uint64_t table_hash, uint32_t id) WC_REQUIRES(part->mutex)
{
	WcTableLocks *t = *wc_lock_chain(part, table_hash);

	while (t != NULL && t->id != id)
		t = t->next;
	return t;
}

/* The owner's share of the table; NULL: none.  A table may have thousands of owners, and an owner thousands of tables: the search
 * goes through both lists at the same time, to the end of the shorter one. */
static WcLockShare *
find_share(const WcTableLocks *here, const WcLockOwner *owner)
{
	WcLockShare *in_table = here != NULL ? here->shares : NULL;
	WcLockShare *of_owner = owner->shares;

	while (in_table != NULL && of_owner != NULL)
	{
		if (in_table->owner == owner)
			return in_table;
		if (of_owner->table == here)
			return of_owner;
		in_table = in_table->next_here;
		of_owner = of_owner->next;
	}
	return NULL;
}

void
wc_lock_begin(WcLockWork *w, WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request) WC_ACQUIRES(w->part->mutex)
{
	uint64_t	hash = wc_claims_hash_table(table->claims, request->table_id);

	*w = (WcLockWork) {.table = table,.owner = owner,.request = request,.table_hash = hash,.part = wc_lock_part(table, hash)};
	pthread_mutex_lock(&w->part->mutex);
	w->here = wc_lock_find_table(w->part, hash, request->table_id);
	w->share = find_share(w->here, owner);
}

void
wc_lock_drop_table_if_empty(WcLockPart *part, uint64_t table_hash, WcTableLocks *t) WC_REQUIRES(part->mutex)
{
	WcTableLocks **link = wc_lock_chain(part, table_hash);

	if (t == NULL || t->shares != NULL || t->wanting != NULL)
		return;
	while (*link != t)
		link = &(*link)->next;
	*link = t->next;
	free(t);
}
