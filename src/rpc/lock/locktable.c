/*
 * rpc/lock/locktable.c: which transaction has locked which rows, and how.
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
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"

#define BUCKETS_FIRST	64		/* of rows in a part */

/* After so many released locks the thread unlocks the mutex for a moment, so that other threads get it. */
#define SLICE			256

/* One owner's lock of one row. */
struct WcLock
{
	WcLock	   *next;			/* in its bucket */
	WcLock	   *older;			/* the next one in its share */
	WcLockShare *share;
	uint64_t	xid;
	uint64_t	hash;
	uint32_t	subid;
	uint32_t	row_len;
	uint8_t		mode;			/* WcRowLockMode */
	uint8_t		row[];
};

/* One owner's locks in one table: of rows, or of the whole table. */
struct WcLockShare
{
	WcLockShare *next;			/* of the owner; only the thread that is in the owner uses it */
	WcLockShare *next_here;		/* in the table */
	const WcLockOwner *owner;
	WcTableLocks *table;
	WcLock	   *locks;			/* the youngest first; with `whole` some may be left, to be released */
	uint64_t	nlocks;
	uint64_t	look_at;		/* at so many locks, try to lock the whole table instead */
	bool		whole;
	uint64_t	xid;			/* of the lock of the whole table, or of the oldest lock */
	uint32_t	subid;
};

/* A table in which some owner has locks, or which some owner waits to lock as a whole. */
struct WcTableLocks
{
	WcTableLocks *next;			/* in its chain */
	uint32_t	id;
	WcLockShare *shares;
	const WcLockOwner *wanting; /* the owner that waits for the whole table; NULL: none */
	uint64_t	wanting_xid;
	uint32_t	wanting_subid;
};

static WcLockPart *
part_of(WcLockTable *table, uint64_t table_hash)
{
	return &table->parts[table_hash % WC_LOCK_PARTS];
}

static WcTableLocks **
chain_of(WcLockPart *part, uint64_t table_hash) WC_REQUIRES(part->mutex)
{
	return &part->tables[table_hash / WC_LOCK_PARTS % WC_LOCK_CHAINS];
}

static WcLock **
bucket_of(const WcLockPart *part, uint64_t hash) WC_REQUIRES(part->mutex)
{
	return &part->buckets[hash & (part->nbuckets - 1)];
}

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

/* A lock table without shared memory has claims of its own, which stay empty. */
static WcClaims *
own_claims(void)
{
	void	   *memory = calloc(1, wc_claims_size());

	return memory ? wc_claims_init(memory, (uint64_t) wc_clock_wall_us() ^ (uint64_t) (uintptr_t) memory) : NULL;
}

WcLockTable *
wc_locktable_create(WcClaims *claims, const WcFlight *flight) WC_UNCHECKED
{
	WcLockTable *table = calloc(1, sizeof(*table));
	bool		failed = false;

	if (table == NULL)
		return NULL;
	table->claims = claims != NULL ? claims : own_claims();
	table->flight = flight;
	failed = table->claims == NULL;
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
			WcLock	  **bucket = bucket_of(part, lock->hash);

			next = lock->next;
			lock->next = *bucket;
			*bucket = lock;
		}
	}
	free(old.buckets);
}

/* --- tables and shares: with the part's mutex locked ------------------------------- */

/* One request, and the table, the part and the share to which it applies. */
typedef struct Work
{
	WcLockTable *table;
	WcLockOwner *owner;
	const WcLockRequest *request;
	uint64_t	table_hash;
	WcLockPart *part;
	WcTableLocks *here;			/* NULL: no owner has locks there */
	WcLockShare *share;			/* the owner's; NULL: none yet */
} Work;

static WcTableLocks *
find_table(WcLockPart *part, uint64_t table_hash, uint32_t id) WC_REQUIRES(part->mutex)
{
	WcTableLocks *t = *chain_of(part, table_hash);

	while (t != NULL && t->id != id)
		t = t->next;
	return t;
}

/* Locks the part's mutex, and finds the table and the owner's share. */
static void
enter(Work *w, WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request) WC_ACQUIRES(w->part->mutex)
{
	uint64_t	hash = wc_claims_hash_table(table->claims, request->table_id);

	*w = (Work) {.table = table,.owner = owner,.request = request,.table_hash = hash,.part = part_of(table, hash)};
	pthread_mutex_lock(&w->part->mutex);
	w->here = find_table(w->part, hash, request->table_id);
	w->share = w->here ? w->here->shares : NULL;
	while (w->share != NULL && w->share->owner != owner)
		w->share = w->share->next_here;
}

static bool
make_table(Work *w) WC_REQUIRES(w->part->mutex)
{
	WcTableLocks **chain = chain_of(w->part, w->table_hash);

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
make_share(Work *w) WC_REQUIRES(w->part->mutex)
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
	w->here->shares = w->share;
	w->share->next = w->owner->shares;
	w->owner->shares = w->share;
	return true;
}

/* Frees the table's struct, if no owner has locks in the table or waits for it. */
static void
drop_table_if_empty(WcLockPart *part, uint64_t table_hash, WcTableLocks *t) WC_REQUIRES(part->mutex)
{
	WcTableLocks **link = chain_of(part, table_hash);

	if (t == NULL || t->shares != NULL || t->wanting != NULL)
		return;
	while (*link != t)
		link = &(*link)->next;
	*link = t->next;
	free(t);
}

/* Another transaction that has claimed a row of the table; 0: there is none. */
static uint64_t
claimant(const Work *w)
{
	if (w->table->flight == NULL)
		return 0;
	return wc_claims_holder_in(w->table->claims, w->table->flight, w->request->table_id, w->owner->xid);
}

/* True if no other owner has locks in the table or waits for the whole table. */
static bool
is_alone(const Work *w) WC_REQUIRES(w->part->mutex)
{
	const WcLockShare *first = w->here ? w->here->shares : NULL;

	if (w->here != NULL && w->here->wanting != NULL && w->here->wanting != w->owner)
		return false;
	return first == NULL || (first == w->share && first->next_here == NULL);
}

/* Closes the table to claims, before its whole is locked.  False: a row is claimed, and the table is open again. */
static bool
shut_out_claims(const Work *w)
{
	wc_claims_close_table(w->table->claims, w->request->table_id);
	if (claimant(w) == 0)
		return true;
	wc_claims_open_table(w->table->claims, w->request->table_id);
	return false;
}

/* The transaction of the youngest lock of another owner in the table; 0: there is none. */
static uint64_t
another(const Work *w) WC_REQUIRES(w->part->mutex)
{
	const WcLockShare *other = w->here ? w->here->shares : NULL;

	if (other != NULL && other == w->share)
		other = other->next_here;
	if (other == NULL)
		return 0;
	return other->whole || other->locks == NULL ? other->xid : other->locks->xid;
}

/* Makes the share a lock of the whole table.  The caller drops its row locks afterwards (drop_rows), when it has unlocked
 * the mutex. */
static void
take_whole(Work *w) WC_REQUIRES(w->part->mutex)
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
try_whole(Work *w, bool *got, WcError *err) WC_REQUIRES(w->part->mutex)
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

/* --- releasing -------------------------------------------------------------------- */

/* Drops the lock that *place, in the share's list, points to. */
static void
drop_lock(WcLockTable *table, WcLockPart *part, WcLock **place, WcLockOwner *owner) WC_REQUIRES(part->mutex)
{
	WcLock	   *lock = *place;
	WcLockShare *share = lock->share;
	WcLock	  **link = bucket_of(part, lock->hash);

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

/* Drops the row locks of a share that is a lock of the whole table. */
static void
drop_rows(WcLockTable *table, WcLockPart *part, WcLockShare *share, WcLockOwner *owner)
{
	drop_locks(table, part, share, owner, 0);
	pthread_mutex_unlock(&part->mutex);
}

/* The owner stops waiting for a whole table, if it began to wait with this subid or a greater one. */
static void
stop_wanting(WcLockTable *table, WcLockOwner *owner, uint32_t subid)
{
	uint64_t	hash = wc_claims_hash_table(table->claims, owner->wants);
	WcLockPart *part = part_of(table, hash);
	WcTableLocks *t;

	if (!owner->wanting)
		return;
	pthread_mutex_lock(&part->mutex);
	t = find_table(part, hash, owner->wants);
	if (t == NULL || t->wanting != owner)
		owner->wanting = false;
	else if (t->wanting_subid >= subid)
	{
		t->wanting = NULL;
		owner->wanting = false;
		wc_claims_open_table(table->claims, t->id);
		drop_table_if_empty(part, hash, t);
	}
	pthread_mutex_unlock(&part->mutex);
}

/* Removes the share that *link points to: the owner has no lock in its table any more.  With the part's mutex
 * locked. */
static void
remove_share(WcLockTable *table, WcLockPart *part, uint64_t table_hash, WcLockShare **link) WC_REQUIRES(part->mutex)
{
	WcLockShare *share = *link;
	WcLockShare **here = &share->table->shares;

	while (*here != share)
		here = &(*here)->next_here;
	*here = share->next_here;
	if (share->whole)
		wc_claims_open_table(table->claims, share->table->id);
	drop_table_if_empty(part, table_hash, share->table);
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
		WcLockPart *part = part_of(table, hash);
		bool		over;

		drop_locks(table, part, share, owner, subid);
		over = share->whole ? share->subid >= subid : share->locks == NULL;
		if (over)
			remove_share(table, part, hash, link);
		else
			link = &share->next;
		pthread_mutex_unlock(&part->mutex);
	}
	stop_wanting(table, owner, subid);
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
	if (table->flight == NULL)
		free(table->claims);
	free(table);
}

/* --- locking a row: with the part's mutex locked ------------------------------------ */

/* Looks for locks of the row; true: the owner has one whose mode is enough. */
static bool
look_at_row(const Work *w, uint64_t hash, WcSlice row, WcLockHolder *holder) WC_REQUIRES(w->part->mutex)
{
	for (const WcLock *lock = *bucket_of(w->part, hash); lock != NULL; lock = lock->next)
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
			holder->xid = lock->xid;
	}
	return false;
}

/* The transaction that has locked the whole table; or, for an owner without a lock in the table, the one that waits to
 * lock it; 0: there is none. */
static uint64_t
holder_of_table(const Work *w)
{
	const WcLockShare *first = w->here->shares;

	if (first != NULL && first->whole && first != w->share)
		return first->xid;
	if (w->here->wanting != NULL && w->here->wanting != w->owner && w->share == NULL)
		return w->here->wanting_xid;
	return 0;
}

static uint64_t
claimant_of_row(const Work *w, uint64_t hash)
{
	return w->table->flight != NULL ? wc_claims_holder(w->table->claims, w->table->flight, hash, w->owner->xid) : 0;
}

/* True: the owner has a lock that is enough, or another transaction has one that conflicts. */
static bool
look(const Work *w, uint64_t hash, WcSlice row, WcLockHolder *holder) WC_REQUIRES(w->part->mutex)
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
		holder->xid = claimant_of_row(w, hash);
	return holder->xid != 0;
}

static WcStatus
add(Work *w, uint64_t hash, WcSlice row, WcError *err) WC_REQUIRES(w->part->mutex)
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
	lock->row_len = (uint32_t) row.len;
	memcpy(lock->row, row.data, row.len);

	if (w->part->nlocks >= w->part->nbuckets)
		grow(w->part);
	bucket = bucket_of(w->part, hash);
	lock->next = *bucket;
	*bucket = lock;
	w->part->nlocks++;

	lock->older = w->share->locks;
	w->share->locks = lock;
	w->share->nlocks++;
	w->owner->nlocks++;
	w->owner->bytes += row.len;
	return WC_OK;
}

static bool
is_full(const WcLockOwner *owner, WcSlice row)
{
	return owner->nlocks >= WC_ROW_LOCKS_MAX || owner->bytes + row.len > WC_ROW_LOCK_BYTES_MAX;
}

/* Shall the owner try to lock the whole table? */
static bool
is_time_to_look(Work *w, WcSlice row) WC_REQUIRES(w->part->mutex)
{
	if (w->share == NULL || w->share->nlocks < w->share->look_at)
		return is_full(w->owner, row);
	w->share->look_at += WC_ROW_LOCKS_TABLE;
	return true;
}

static WcStatus
try_acquire(Work *w, uint64_t hash, WcSlice row, WcLockHolder *holder, bool *full, WcError *err) WC_REQUIRES(w->part->mutex)
{
	WcStatus	status = WC_OK;

	if (look(w, hash, row, holder))
		return WC_OK;
	if (is_time_to_look(w, row))
	{
		bool		got;

		status = try_whole(w, &got, err);
		if (got || status != WC_OK)
			return status;
	}
	if (is_full(w->owner, row))
	{
		*full = true;
		return WC_OK;
	}

	/* Count first, then read the claim: a backend that claims the row at this moment sees the count, or its claim is
	 * seen here. */
	wc_claims_count(w->table->claims, hash);
	holder->xid = claimant_of_row(w, hash);
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

/* Replaces row locks by locks of whole tables, where no other owner is in the table.  False: that released no lock. */
static bool
relieve(WcLockTable *table, WcLockOwner *owner)
{
	uint64_t	before = owner->nlocks;

	for (WcLockShare *share = owner->shares; share != NULL; share = share->next)
	{
		WcLockRequest request = {.table_id = share->table->id};
		Work		w;
		bool		whole = false;
		WcError		err;

		enter(&w, table, owner, &request);
		if (share->nlocks > 0 && try_whole(&w, &whole, &err) != WC_OK)
			whole = false;
		pthread_mutex_unlock(&w.part->mutex);
		if (whole)
			drop_rows(table, w.part, share, owner);
	}
	return owner->nlocks < before;
}

/* The owner has as many locks as it may have: it waits for the whole table. */
static WcStatus
want(Work *w, WcLockHolder *holder, WcError *err) WC_REQUIRES(w->part->mutex)
{
	WcStatus	status = WC_OK;
	bool		got = false;

	holder->xid = another(w);
	if (holder->xid == 0 && w->here != NULL && w->here->wanting != NULL)
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
		Work		w;
		bool		full = false;
		bool		whole;
		WcStatus	status;

		enter(&w, table, owner, request);
		*holder = (WcLockHolder) {0};
		status = try_acquire(&w, hash, row, holder, &full, err);
		if (full && relieved)
			status = want(&w, holder, err);
		whole = w.share != NULL && w.share->whole && w.share->locks != NULL;
		if (status != WC_OK)
			drop_table_if_empty(w.part, w.table_hash, w.here);
		pthread_mutex_unlock(&w.part->mutex);
		if (whole)
			drop_rows(table, w.part, w.share, owner);
		if (full && !relieved)
		{
			relieved = true;
			(void) relieve(table, owner);
			continue;
		}
		if (owner->wanting && status == WC_OK && holder->xid == 0)
			stop_wanting(table, owner, 0);
		return status;
	}
}

/* Reads the buckets of the hashes, and their first locks, before they are needed: most of the time of a look is
 * waiting for these. */
static void
prefetch(const WcLockTable *table, const WcLockPart *part, const uint64_t *hashes, size_t n) WC_REQUIRES(part->mutex)
{
	for (size_t i = 0; i < n; i++)
	{
		__builtin_prefetch(bucket_of(part, hashes[i]));
		wc_claims_prefetch(table->claims, hashes[i]);
	}
	for (size_t i = 0; i < n; i++)
		__builtin_prefetch(*bucket_of(part, hashes[i]));
}

/* Can the owner lock one row more, without more than that? */
static bool
is_plain(const Work *w, WcSlice row) WC_REQUIRES(w->part->mutex)
{
	return !w->owner->wanting && !is_full(w->owner, row) && (w->share == NULL || w->share->nlocks < w->share->look_at);
}

/* Locks rows with the part's mutex locked once, as long as this is plain and no other owner has one of them; returns how
 * many. */
static size_t
acquire_plain(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request, const WcSlice *rows, size_t n, uint64_t *added)
{
	uint64_t	hashes[WC_LOCK_GROUP];
	uint64_t	table_hash = wc_claims_hash_table(table->claims, request->table_id);
	WcLockHolder holder = {0};
	WcStatus	status = WC_OK;
	WcError		err;
	Work		w;
	size_t		i;

	for (i = 0; i < n; i++)
		hashes[i] = wc_claims_hash_row(table_hash, rows[i]);
	enter(&w, table, owner, request);
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
	drop_table_if_empty(w.part, w.table_hash, w.here);
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
wc_lock_give_back(WcLockTable *table, WcLockOwner *owner, uint32_t table_id, WcSlice row)
{
	WcLockRequest request = {.table_id = table_id};
	Work		w;
	WcLock	  **place;
	WcLockShare **link = &owner->shares;

	enter(&w, table, owner, &request);
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

void
wc_lock_look(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request, WcSlice row, WcLockHolder *holder)
{
	Work		w;

	enter(&w, table, owner, request);
	*holder = (WcLockHolder) {0};
	(void) look(&w, wc_claims_hash_row(w.table_hash, row), row, holder);
	pthread_mutex_unlock(&w.part->mutex);
}

WcStatus
wc_lock_acquire_table(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request, bool *got, WcError *err)
{
	Work		w;
	WcStatus	status = WC_OK;
	bool		whole;

	enter(&w, table, owner, request);
	*got = w.share != NULL && w.share->whole;
	if (!*got)
		status = try_whole(&w, got, err);
	whole = *got && w.share->locks != NULL;
	if (status != WC_OK)
		drop_table_if_empty(w.part, w.table_hash, w.here);
	pthread_mutex_unlock(&w.part->mutex);
	if (whole)
		drop_rows(table, w.part, w.share, owner);
	return status;
}
