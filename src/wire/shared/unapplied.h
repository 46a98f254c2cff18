/*
 * wire/shared/unapplied.h: rows as commits have left them that may not be applied yet.
 *
 * At its commit a session gives the answers to Gets of rows that it has changed, if it knows them.  Another session that finds a row
 * locked by the claim of this commit (claims.h) need not wait until the commit is applied: it takes over the lock, and the answer.
 *
 * A row's answer has one place, by its hash, which rows share: the last one is kept.  All accesses are atomic, and no function waits:
 * an answer that cannot be stored or read at once is not there.
 */
#ifndef WC_WIRE_SHARED_UNAPPLIED_H
#define WC_WIRE_SHARED_UNAPPLIED_H

#include "base/buf.h"

typedef struct WcUnapplied WcUnapplied;

/* Bytes of a Get and its answer together beyond which they are not kept. */
#define WC_UNAPPLIED_BYTES_MAX	2016

/* So many commits in turn are taken over, each with few changes, before one waits: the engine learns that a row becomes large when it
 * applies the changes (as claims.c). */
#define WC_UNAPPLIED_FOLLOWS_MAX	60

/* Bytes of memory, which is zeroed at first and aligned to 64 bytes. */
extern size_t wc_unapplied_size(void);

/*
 * A transaction, before its commit record is written: the answer to this Get of a row as the transaction leaves it.  hash: the
 * row's, as for claims.  follows: this is the n-th commit in turn, of which each has taken over
 * the row from the one before.
 */
extern void wc_unapplied_put(WcUnapplied *unapplied, uint64_t hash, uint64_t xid, uint32_t follows, WcSlice get, WcSlice answer);

/*
 * Appends the Get and the answer that this transaction has put there for a row with this hash, which may be another row.  False:
 * there are none, and the buffers are as before.
 */
extern bool wc_unapplied_find(const WcUnapplied *unapplied, uint64_t hash, uint64_t xid, uint32_t *follows, WcBuf *get,
							  WcBuf *answer);

#endif
