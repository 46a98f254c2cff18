/*
 * rpc/locktable.c: which transaction has locked which row.
 *
 * A hash table in parts, each with a mutex of its own, which is held for a
 * look-up or a change and never while anything else is waited for.  An owner's
 * list of its locks is its thread's alone.
 */
#include "rpc/locktable.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"

#define PARTS			16
#define PART_BITS		4
#define BUCKETS_FIRST	64

struct WcLock
{
	WcLock	   *next;			/* in its bucket; guarded by the part's mutex */
	WcLock	   *next_of_owner;	/* the owner's thread's */

	/* not changed while it is in the table */
	const WcLockOwner *owner;
	uint64_t	xid;
	uint64_t	hash;
	uint32_t	table_id;
	uint32_t	row_len;
	uint8_t		row[];
};

typedef struct Part
{
	pthread_mutex_t mutex;
	WcLock	  **buckets;		/* a power of two of them */
	size_t		nbuckets;
	size_t		nlocks;
} Part;

struct WcLockTable
{
	uint64_t	seed;			/* so that nobody can choose keys that fall together */
	Part		parts[PARTS];
};

static uint64_t
mix(uint64_t h)
{
	h ^= h >> 33;
	h *= UINT64_C(0xff51afd7ed558ccd);
	h ^= h >> 33;
	h *= UINT64_C(0xc4ceb9fe1a85ec53);
	return h ^ h >> 33;
}

static uint64_t
hash_row(const WcLockTable *table, uint32_t table_id, WcSlice row)
{
	uint64_t	h = mix(table->seed ^ table_id);
	size_t		i = 0;

	for (; row.len - i >= 8; i += 8)
	{
		uint64_t	word;

		memcpy(&word, row.data + i, 8);
		h = mix(h ^ word);
	}
	for (; i < row.len; i++)
		h = (h ^ row.data[i]) * UINT64_C(0x100000001b3);
	return mix(h ^ row.len);
}

static Part *
part_of(WcLockTable *table, uint64_t hash)
{
	return &table->parts[hash >> (64 - PART_BITS)];
}

static WcLock **
bucket_of(const Part *part, uint64_t hash)
{
	return &part->buckets[hash & (part->nbuckets - 1)];
}

WcLockTable *
wc_locktable_create(void)
{
	WcLockTable *table = calloc(1, sizeof(*table));
	bool		failed = false;

	if (table == NULL)
		return NULL;
	table->seed = mix((uint64_t) wc_clock_wall_us() ^ (uint64_t) (uintptr_t) table);
	for (int i = 0; i < PARTS; i++)
	{
		Part	   *part = &table->parts[i];

		pthread_mutex_init(&part->mutex, NULL);
		part->nbuckets = BUCKETS_FIRST;
		part->buckets = calloc(BUCKETS_FIRST, sizeof(WcLock *));
		failed |= part->buckets == NULL;
	}
	if (failed)
	{
		wc_locktable_free(table);
		return NULL;
	}
	return table;
}

void
wc_locktable_free(WcLockTable *table)
{
	if (table == NULL)
		return;
	for (int i = 0; i < PARTS; i++)
	{
		assert(table->parts[i].nlocks == 0);
		pthread_mutex_destroy(&table->parts[i].mutex);
		free(table->parts[i].buckets);
	}
	free(table);
}

/* Twice the buckets.  Without memory for them chains get longer, no more. */
static void
grow(Part *part)
{
	Part		old = *part;
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

static WcLock *
find(const Part *part, uint64_t hash, uint32_t table_id, WcSlice row)
{
	for (WcLock *lock = *bucket_of(part, hash); lock != NULL; lock = lock->next)
	{
		if (lock->hash == hash && lock->table_id == table_id &&
			wc_slice_eq(wc_slice(lock->row, lock->row_len), row))
			return lock;
	}
	return NULL;
}

static WcStatus
check_limits(const WcLockOwner *owner, WcSlice row, WcError *err)
{
	if (owner->nlocks >= WC_ROW_LOCKS_MAX)
	{
		wc_error(err, WC_TOO_LARGE, "too many locked rows in one transaction");
		wc_error_detail(err, "It has locked %" PRIu64 " rows of stored tables; the limit is %d.",
						owner->nlocks, WC_ROW_LOCKS_MAX);
	}
	else if (owner->bytes + row.len > WC_ROW_LOCK_BYTES_MAX)
	{
		wc_error(err, WC_TOO_LARGE, "too many locked rows in one transaction");
		wc_error_detail(err, "The row keys it has locked take %" PRIu64 " bytes; the limit is %d.",
						owner->bytes + row.len, WC_ROW_LOCK_BYTES_MAX);
	}
	else
		return WC_OK;
	wc_error_hint(err, "Commit more often.");
	return WC_TOO_LARGE;
}

/* With the part's mutex held. */
static WcStatus
add(Part *part, WcLockOwner *owner, uint64_t xid, uint64_t hash, uint32_t table_id, WcSlice row, WcError *err)
{
	WcLock	   *lock;
	WcLock	  **bucket;
	WcStatus	status = check_limits(owner, row, err);

	if (status != WC_OK)
		return status;
	lock = malloc(sizeof(*lock) + row.len);
	if (lock == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for locking a row");
	lock->owner = owner;
	lock->xid = xid;
	lock->hash = hash;
	lock->table_id = table_id;
	lock->row_len = (uint32_t) row.len;
	memcpy(lock->row, row.data, row.len);

	if (part->nlocks >= part->nbuckets)
		grow(part);
	bucket = bucket_of(part, hash);
	lock->next = *bucket;
	*bucket = lock;
	part->nlocks++;

	lock->next_of_owner = owner->locks;
	owner->locks = lock;
	owner->nlocks++;
	owner->bytes += row.len;
	return WC_OK;
}

WcStatus
wc_lock_acquire(WcLockTable *table, WcLockOwner *owner, uint64_t xid, uint32_t table_id,
				WcSlice row, uint64_t *holder, WcError *err)
{
	uint64_t	hash = hash_row(table, table_id, row);
	Part	   *part = part_of(table, hash);
	WcLock	   *lock;
	WcStatus	status = WC_OK;

	assert(xid != 0);
	*holder = 0;
	pthread_mutex_lock(&part->mutex);
	lock = find(part, hash, table_id, row);
	if (lock == NULL)
		status = add(part, owner, xid, hash, table_id, row, err);
	else if (lock->owner != owner)
		*holder = lock->xid;
	pthread_mutex_unlock(&part->mutex);
	return status;
}

void
wc_lock_release_all(WcLockTable *table, WcLockOwner *owner)
{
	WcLock	   *next;

	for (WcLock *lock = owner->locks; lock != NULL; lock = next)
	{
		Part	   *part = part_of(table, lock->hash);
		WcLock	  **link;

		next = lock->next_of_owner;
		pthread_mutex_lock(&part->mutex);
		for (link = bucket_of(part, lock->hash); *link != lock; link = &(*link)->next)
			;
		*link = lock->next;
		part->nlocks--;
		pthread_mutex_unlock(&part->mutex);
		free(lock);
	}
	owner->locks = NULL;
	owner->nlocks = 0;
	owner->bytes = 0;
}
