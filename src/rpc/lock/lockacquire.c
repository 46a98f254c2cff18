/*
 * rpc/lock/lockacquire.c: locks rows and whole tables.
 */
#include "rpc/lock/locktablestate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

/* --- tables and shares: with the part's mutex locked ------------------------------- */

static bool
make_table(WcLockWork *w) WC_REQUIRES(w->part->mutex)
{
	WcTableLocks **chain = wc_lock_chain(w->part, w->table_hash);

	if (w->here != NULL)
		return true;
	w->here = calloc(1, sizeof(WcTableLocks));
	if (w->here == NULL)
		return false;
	w->here->id = w->request->table_id;
	w->here->next = *chain;
	*chain = w->here;
	return true;
}

static bool
make_share(WcLockWork *w) WC_REQUIRES(w->part->mutex)
{
	if (w->share != NULL)
		return true;
	if (!make_table(w))
		return false;
	w->share = calloc(1, sizeof(WcLockShare));
	if (w->share == NULL)
		return false;
	w->share->owner = w->owner;
	w->share->table = w->here;
	w->share->look_at = WC_ROW_LOCKS_TABLE;
	w->share->xid = w->request->xid;
	w->share->subid = w->request->subid;
	w->share->next_here = w->here->shares;
	w->share->link_here = &w->here->shares;
	if (w->share->next_here != NULL)
		w->share->next_here->link_here = &w->share->next_here;
	w->here->shares = w->share;
	w->share->next = w->owner->shares;
	w->owner->shares = w->share;
	return true;
}

/* The transaction to name as the holder of the lock. */
static uint64_t
holder_of(const WcLock *lock)
{
	return lock->xid | (atomic_load_explicit(&lock->brief, memory_order_relaxed) ? WC_HOLDER_BRIEF : 0);
}

/* --- a whole table: with the part's mutex locked ----------------------------------- */

/* Another transaction that has claimed a row of the table; 0: there is none. */
static uint64_t
claimant(const WcLockWork *w)
{
	return wc_claims_holder_in(w->table->claims, w->table->flight, w->request->table_id, w->owner->xid);
}

/* True if no other owner has locks in the table or waits for the whole table. */
static bool
is_alone(const WcLockWork *w) WC_REQUIRES(w->part->mutex)
{
	const WcLockShare *first = w->here ? w->here->shares : NULL;

	if (w->here != NULL && w->here->wanting != NULL && w->here->wanting != w->owner)
		return false;
	return first == NULL || (first == w->share && first->next_here == NULL);
}

/* Closes the table to claims, before its whole is locked.  False: a row is claimed, and the table is open again. */
static bool
shut_out_claims(const WcLockWork *w)
{
	wc_claims_close_table(w->table->claims, w->request->table_id);
	if (claimant(w) == 0)
		return true;
	wc_claims_open_table(w->table->claims, w->request->table_id);
	return false;
}

/* The transaction of the youngest lock of another owner in the table; 0: there is none. */
static uint64_t
another(const WcLockWork *w) WC_REQUIRES(w->part->mutex)
{
	const WcLockShare *other = w->here ? w->here->shares : NULL;

	if (other != NULL && other == w->share)
		other = other->next_here;
	if (other == NULL)
		return 0;
	return other->whole || other->locks == NULL ? other->xid : holder_of(other->locks);
}

/* Makes the share a lock of the whole table.  The caller drops its row locks afterwards (drop_rows), when it has unlocked
 * the mutex. */
static void
take_whole(WcLockWork *w) WC_REQUIRES(w->part->mutex)
{
	w->share->whole = true;
	if (w->here->wanting == w->owner)
	{
		w->here->wanting = NULL;
		w->owner->wanting = false;
		wc_claims_open_table(w->table->claims, w->here->id);
	}
}

static WcStatus
no_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for locking a row");
}

/* Locks the whole table if no other transaction has a lock in it or waits for it: *got. */
static WcStatus
try_whole(WcLockWork *w, bool *got, WcError *err) WC_REQUIRES(w->part->mutex)
{
	*got = is_alone(w) && shut_out_claims(w);
	if (!*got)
		return WC_OK;
	if (make_share(w))
	{
		take_whole(w);
		return WC_OK;
	}
	wc_claims_open_table(w->table->claims, w->request->table_id);
	*got = false;
	return no_memory(err);
}

/* --- a row: with the part's mutex locked ------------------------------------------- */

/* Looks for locks of the row; true: the owner has one whose mode is enough. */
static bool
look_at_row(const WcLockWork *w, uint64_t hash, WcSlice row, WcLockHolder *holder) WC_REQUIRES(w->part->mutex)
{
	for (const WcLock *lock = *wc_lock_bucket(w->part, hash); lock != NULL; lock = lock->next)
	{
		if (lock->hash != hash || lock->share->table != w->here || !wc_slice_eq(wc_slice(lock->row, lock->row_len), row))
			continue;
		if (lock->share == w->share)
		{
			if (lock->mode >= w->request->enough)
				return true;
			holder->has_weaker = true;
		}
		else if (wc_lockmode_conflicts(lock->mode, w->request->mode))
			holder->xid = holder_of(lock);
	}
	return false;
}

/* The transaction that has locked the whole table; or, for an owner without a lock or a claim in the table, the one that waits
 * to lock it; 0: there is none. */
static uint64_t
holder_of_table(const WcLockWork *w)
{
	const WcLockShare *first = w->here->shares;

	if (first != NULL && first->whole && first != w->share)
		return first->xid;
	if (w->here->wanting != NULL && w->here->wanting != w->owner && w->share == NULL &&
		!wc_claims_has_table(w->table->claims, w->request->table_id, w->owner->xid))
		return w->here->wanting_xid;
	return 0;
}

static uint64_t
claimant_of_row(const WcLockWork *w, uint64_t hash, WcSlice row)
{
	return wc_claims_holder(w->table->claims, w->table->flight, hash, w->request->table_id, row, w->request->mode, w->owner->xid);
}

/* True: the owner has a lock that is enough, or another transaction has one that conflicts. */
static bool
look(const WcLockWork *w, uint64_t hash, WcSlice row, WcLockHolder *holder) WC_REQUIRES(w->part->mutex)
{
	if (w->share != NULL && w->share->whole)
		return true;
	if (w->here != NULL && look_at_row(w, hash, row, holder))
	{
		holder->xid = 0;
		holder->held = true;
		return true;
	}
	if (w->here != NULL && holder->xid == 0)
		holder->xid = holder_of_table(w);
	if (holder->xid == 0)
		holder->xid = claimant_of_row(w, hash, row);
	if (holder->xid != 0 &&
		wc_claims_has_row(w->table->claims, w->table->flight, hash, w->request->table_id, row, w->owner->xid))
		holder->has_weaker = true;
	return holder->xid != 0;
}

/* Doubles the buckets.  If there is no memory for them, the chains just get longer. */
static void
grow(WcLockPart *part) WC_REQUIRES(part->mutex)
{
	WcLockPart	old = *part;
	WcLock	  **buckets = calloc(2 * old.nbuckets, sizeof(WcLock *));

	if (buckets == NULL)
		return;
	part->buckets = buckets;
	part->nbuckets = 2 * old.nbuckets;
	for (size_t i = 0; i < old.nbuckets; i++)
	{
		WcLock	   *next;

		for (WcLock *lock = old.buckets[i]; lock != NULL; lock = next)
		{
			WcLock	  **bucket = wc_lock_bucket(part, lock->hash);

			next = lock->next;
			lock->next = *bucket;
			*bucket = lock;
		}
	}
	free(old.buckets);
}

static WcStatus
add(WcLockWork *w, uint64_t hash, WcSlice row, WcError *err) WC_REQUIRES(w->part->mutex)
{
	WcLock	   *lock = malloc(sizeof(*lock) + row.len);
	WcLock	  **bucket;

	if (lock == NULL)
		return no_memory(err);
	lock->share = w->share;
	lock->xid = w->request->xid;
	lock->hash = hash;
	lock->subid = w->request->subid;
	lock->mode = (uint8_t) w->request->mode;
	atomic_init(&lock->brief, w->request->brief);
	lock->row_len = (uint32_t) row.len;
	memcpy(lock->row, row.data, row.len);

	if (w->part->nlocks >= w->part->nbuckets)
		grow(w->part);
	bucket = wc_lock_bucket(w->part, hash);
	lock->next = *bucket;
	*bucket = lock;
	w->part->nlocks++;

	lock->older = w->share->locks;
	w->share->locks = lock;
	w->share->nlocks++;
	w->owner->nlocks++;
	w->owner->bytes += row.len;
	w->owner->brief |= w->request->brief;
	return WC_OK;
}

static bool
is_full(const WcLockOwner *owner, WcSlice row)
{
	return owner->nlocks >= WC_ROW_LOCKS_MAX || owner->bytes + row.len > WC_ROW_LOCK_BYTES_MAX;
}

/* Shall the owner try to lock the whole table? */
static bool
is_time_to_look(WcLockWork *w, WcSlice row) WC_REQUIRES(w->part->mutex)
{
	if (w->share == NULL || w->share->nlocks < w->share->look_at)
		return is_full(w->owner, row);
	w->share->look_at += WC_ROW_LOCKS_TABLE;
	return true;
}

static WcStatus
try_acquire(WcLockWork *w, uint64_t hash, WcSlice row, WcLockHolder *holder, bool *full, WcError *err) WC_REQUIRES(w->part->mutex)
{
	WcStatus	status = WC_OK;

	if (look(w, hash, row, holder))
		return WC_OK;
	if (!w->request->restored && is_time_to_look(w, row))
	{
		bool		got;

		status = try_whole(w, &got, err);
		if (got || status != WC_OK)
			return status;
	}
	if (!w->request->restored && is_full(w->owner, row))
	{
		*full = true;
		return WC_OK;
	}

	/* Count first, then read the claim: a backend that claims the row at this moment sees the count, or its claim is
	 * seen here. */
	wc_claims_count(w->table->claims, hash);
	holder->xid = claimant_of_row(w, hash, row);
	if (holder->xid == 0)
	{
		status = make_share(w) ? add(w, hash, row, err) : no_memory(err);
		holder->added = status == WC_OK;
	}
	if (!holder->added)
		wc_claims_uncount(w->table->claims, hash);
	return status;
}

/* --- interface ------------------------------------------------------------------- */

/* Replaces the owner's row locks by locks of whole tables, where no other owner has a lock in the table. */
static void
relieve(WcLockTable *table, WcLockOwner *owner)
{
	for (WcLockShare *share = owner->shares; share != NULL; share = share->next)
	{
		WcLockRequest request = {.table_id = share->table->id};
		WcLockWork	w;
		bool		whole = false;
		WcError		err;

		wc_lock_begin(&w, table, owner, &request);
		if (share->nlocks > 0 && try_whole(&w, &whole, &err) != WC_OK)
			whole = false;
		pthread_mutex_unlock(&w.part->mutex);
		if (whole)
			wc_lock_drop_rows(table, w.part, share, owner);
	}
}

/* The owner has as many locks as it may have: it waits for the whole table. */
static WcStatus
want(WcLockWork *w, WcLockHolder *holder, WcError *err) WC_REQUIRES(w->part->mutex)
{
	WcStatus	status = WC_OK;
	bool		got = false;

	holder->xid = another(w);
	if (holder->xid == 0 && w->here != NULL && w->here->wanting != NULL && w->here->wanting != w->owner)
		holder->xid = w->here->wanting_xid;
	if (!make_table(w))
		return no_memory(err);
	if (w->here->wanting == NULL)
		wc_claims_close_table(w->table->claims, w->request->table_id);
	if (w->here->wanting == NULL || w->here->wanting == w->owner)
	{
		w->here->wanting = w->owner;
		w->here->wanting_xid = w->request->xid;
		w->here->wanting_subid = w->request->subid;
		w->owner->wanting = true;
		w->owner->wants = w->request->table_id;
	}

	/* no other owner has locks in the table: only claims can conflict, or nothing does any more */
	while (status == WC_OK && !got && holder->xid == 0)
	{
		status = try_whole(w, &got, err);
		if (!got)
			holder->xid = claimant(w);
	}
	return status;
}

WcStatus
wc_lock_acquire(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request, WcSlice row,
				WcLockHolder *holder, WcError *err)
{
	uint64_t	hash = wc_claims_hash_row(wc_claims_hash_table(table->claims, request->table_id), row);
	bool		relieved = false;

	for (;;)
	{
		WcLockWork	w;
		bool		full = false;
		bool		whole;
		WcStatus	status;

		wc_lock_begin(&w, table, owner, request);
		*holder = (WcLockHolder) {0};
		status = try_acquire(&w, hash, row, holder, &full, err);
		if (full && relieved)
			status = want(&w, holder, err);
		whole = w.share != NULL && w.share->whole && w.share->locks != NULL;
		if (status != WC_OK)
			wc_lock_drop_table_if_empty(w.part, w.table_hash, w.here);
		pthread_mutex_unlock(&w.part->mutex);
		if (whole)
			wc_lock_drop_rows(table, w.part, w.share, owner);
		if (full && !relieved)
		{
			relieved = true;
			relieve(table, owner);
			if (owner->wanting && owner->wants != request->table_id)
				wc_lock_stop_wanting(table, owner, 0);	/* it has turned to another table */
			continue;
		}
		if (owner->wanting && status == WC_OK && holder->xid == 0)
			wc_lock_stop_wanting(table, owner, 0);
		return status;
	}
}

/* Fetches the buckets of the hashes, their first locks, and their claims into the processor's cache: a look-up mostly
 * waits for this memory. */
static void
prefetch(const WcLockTable *table, const WcLockPart *part, const uint64_t *hashes, size_t n) WC_REQUIRES(part->mutex)
{
	for (size_t i = 0; i < n; i++)
	{
		__builtin_prefetch(wc_lock_bucket(part, hashes[i]));
		wc_claims_prefetch(table->claims, hashes[i]);
	}
	for (size_t i = 0; i < n; i++)
		__builtin_prefetch(*wc_lock_bucket(part, hashes[i]));
}

/* Can the owner lock this row without a try to lock the whole table? */
static bool
is_plain(const WcLockWork *w, WcSlice row) WC_REQUIRES(w->part->mutex)
{
	return !w->owner->wanting && !is_full(w->owner, row) && (w->share == NULL || w->share->nlocks < w->share->look_at);
}

/* Locks rows, with the part's mutex locked only once, up to the first row that is not plain, that another owner has locked,
 * or for which there is no memory; returns the number of rows before this one. */
static size_t
acquire_plain(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request, const WcSlice *rows, size_t n, uint64_t *added)
{
	uint64_t	hashes[WC_LOCK_GROUP];
	uint64_t	table_hash = wc_claims_hash_table(table->claims, request->table_id);
	WcLockHolder holder = {0};
	WcStatus	status = WC_OK;
	WcError		err;
	WcLockWork	w;
	size_t		i;

	for (i = 0; i < n; i++)
		hashes[i] = wc_claims_hash_row(table_hash, rows[i]);
	wc_lock_begin(&w, table, owner, request);
	prefetch(table, w.part, hashes, n);
	for (i = 0; i < n && is_plain(&w, rows[i]); i++)
	{
		bool		full = false;

		holder = (WcLockHolder) {0};
		status = try_acquire(&w, hashes[i], rows[i], &holder, &full, &err);
		if (status != WC_OK || holder.xid != 0)
			break;
		if (holder.added)
			*added |= UINT64_C(1) << i;
	}
	wc_lock_drop_table_if_empty(w.part, w.table_hash, w.here);
	pthread_mutex_unlock(&w.part->mutex);
	return i;
}

WcStatus
wc_lock_acquire_rows(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request, const WcSlice *rows, size_t n,
					 size_t *nlocked, uint64_t *added, WcLockHolder *holder, WcError *err)
{
	WcStatus	status = WC_OK;

	assert(n <= WC_LOCK_GROUP);
	*holder = (WcLockHolder) {0};
	*added = 0;
	*nlocked = acquire_plain(table, owner, request, rows, n, added);
	while (*nlocked < n)
	{
		status = wc_lock_acquire(table, owner, request, rows[*nlocked], holder, err);
		if (status != WC_OK || holder->xid != 0)
			break;
		*added |= (uint64_t) holder->added << *nlocked;
		++*nlocked;
	}
	return status;
}

void
wc_lock_look(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request, WcSlice row, WcLockHolder *holder)
{
	WcLockWork	w;

	wc_lock_begin(&w, table, owner, request);
	*holder = (WcLockHolder) {0};
	(void) look(&w, wc_claims_hash_row(w.table_hash, row), row, holder);
	pthread_mutex_unlock(&w.part->mutex);
}

WcStatus
wc_lock_acquire_table(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request, bool *got, WcError *err)
{
	WcLockWork	w;
	WcStatus	status = WC_OK;
	bool		whole;

	wc_lock_begin(&w, table, owner, request);
	*got = w.share != NULL && w.share->whole;
	if (!*got)
		status = try_whole(&w, got, err);
	whole = *got && w.share->locks != NULL;
	if (status != WC_OK)
		wc_lock_drop_table_if_empty(w.part, w.table_hash, w.here);
	pthread_mutex_unlock(&w.part->mutex);
	if (whole)
		wc_lock_drop_rows(table, w.part, w.share, owner);
	return status;
}
