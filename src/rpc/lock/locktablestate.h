/*
 * rpc/lock/locktablestate.h: the struct of a lock table, and functions that locktable.c, lockacquire.c, lockrelease.c
 * and lockowner.c share.
 */
#ifndef WC_RPC_LOCK_LOCKTABLESTATE_H
#define WC_RPC_LOCK_LOCKTABLESTATE_H

#include <stdatomic.h>

#include "base/hash.h"
#include "rpc/lock/locktable.h"
#include "wire/shared/claims.h"

#define WC_LOCK_PARTS	16
#define WC_LOCK_CHAINS	64		/* of tables, or of owners, in a part */

typedef struct WcLock WcLock;
typedef struct WcTableLocks WcTableLocks;

typedef struct WcLockPart
{
	WcMutex		mutex;
	WcTableLocks *tables[WC_LOCK_CHAINS] WC_GUARDED_BY(&mutex);
	WcLock	  **buckets WC_GUARDED_BY(&mutex); /* a power of two of them */
	size_t		nbuckets WC_GUARDED_BY(&mutex);
	size_t		nlocks WC_GUARDED_BY(&mutex);
} WcLockPart;

/* Owners by their ids. */
typedef struct WcLockOwnerPart
{
	WcMutex		mutex;
	WcLockOwner *owners[WC_LOCK_CHAINS] WC_GUARDED_BY(&mutex);
} WcLockOwnerPart;

struct WcLockTable
{
	WcClaims   *claims;			/* rows that backends have claimed */
	const WcFlight *flight;
	WcLockPart	parts[WC_LOCK_PARTS];
	WcLockOwnerPart owner_parts[WC_LOCK_PARTS];
};

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
	atomic_bool brief;			/* it may be given back, and so may all younger ones of the share */
	uint8_t		row[];
};

/* One owner's locks in one table: of rows, or of the whole table. */
struct WcLockShare
{
	WcLockShare *next;			/* of the owner; only the thread that is in the owner uses it */
	WcLockShare *next_here;		/* in the table's list */
	WcLockShare **link_here;	/* the pointer to this share in that list */
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

/* One request, and the table, the part and the share to which it applies. */
typedef struct WcLockWork
{
	WcLockTable *table;
	WcLockOwner *owner;
	const WcLockRequest *request;
	uint64_t	table_hash;
	WcLockPart *part;
	WcTableLocks *here;			/* NULL: no owner has locks there */
	WcLockShare *share;			/* the owner's; NULL: none yet */
} WcLockWork;

static inline WcLockPart *
wc_lock_part(WcLockTable *table, uint64_t table_hash)
{
	return &table->parts[table_hash % WC_LOCK_PARTS];
}

static inline WcTableLocks **
wc_lock_chain(WcLockPart *part, uint64_t table_hash) WC_REQUIRES(part->mutex)
{
	return &part->tables[table_hash / WC_LOCK_PARTS % WC_LOCK_CHAINS];
}

static inline WcLock **
wc_lock_bucket(const WcLockPart *part, uint64_t hash) WC_REQUIRES(part->mutex)
{
	return &part->buckets[hash & (part->nbuckets - 1)];
}

/* NULL: no owner has locks in the table, or waits to lock it as a whole. */
extern WcTableLocks *wc_lock_find_table(WcLockPart *part, uint64_t table_hash, uint32_t id) WC_REQUIRES(part->mutex);

/* Locks the part's mutex, and finds the table and the owner's share. */
extern void wc_lock_begin(WcLockWork *w, WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request)
			WC_ACQUIRES(w->part->mutex);

/* Frees the table's struct, if no owner has locks in the table or waits for it; t may be NULL. */
extern void wc_lock_drop_table_if_empty(WcLockPart *part, uint64_t table_hash, WcTableLocks *t) WC_REQUIRES(part->mutex);

/* --- of lockrelease.c ---------------------------------------------------------------- */

/* Drops the row locks of a share that is a lock of the whole table.  No mutex of a part is locked. */
extern void wc_lock_drop_rows(WcLockTable *table, WcLockPart *part, WcLockShare *share, WcLockOwner *owner);

/* The owner stops waiting for a whole table, if it began to wait with this subid or a greater one.  No mutex of a part
 * is locked. */
extern void wc_lock_stop_wanting(WcLockTable *table, WcLockOwner *owner, uint32_t subid);

#endif
