/*
 * worker/follower.h: reading PostgreSQL's log.
 *
 * The engine's main thread reads the log from a position on, as far as it is on disk, or during recovery as
 * far as it has been replayed, over switches of timelines, and passes on the records that concern stored
 * tables: widecol's own, and the ends of transactions.  It never waits, and is called again when there may be
 * more.  Its memory is bounded, however large other records are.
 */
#ifndef WC_WORKER_FOLLOWER_H
#define WC_WORKER_FOLLOWER_H

#include "postgres.h"

#include "access/xlogdefs.h"

#include "model/logrecord.h"

typedef struct WcFollower WcFollower;

/*
 * Functions that get the records, in the order of the log; NULL: records of this kind are skipped.  Transactions are full
 * ids of top-level transactions, whether or not they use stored tables.  position: the record's end, where another
 * follower may begin.  A function may ereport(ERROR), which ends following.
 */
typedef struct WcFollowerOps
{
	/* BATCH, STEP, TICK, BARRIER, GENESIS.  Slices are valid during the call. */
	void		(*record) (void *arg, const WcLogRecord *r, XLogRecPtr position);

	/* The next records are of this timeline, or were copied to it when it began; called for the first one, too. */
	void		(*timeline) (void *arg, TimeLineID timeline);

	/* COMMIT and COMMIT PREPARED; time_us: microseconds since 1970. */
	void		(*commit) (void *arg, uint64 xid, int64 time_us, XLogRecPtr position);
	void		(*abort) (void *arg, uint64 xid, XLogRecPtr position);
	void		(*prepare) (void *arg, uint64 xid, XLogRecPtr position);

	/* Of the transactions before `next` these n run, or are prepared, which ascend; the ends of all
	 * others have been read. */
	void		(*running) (void *arg, uint64 next, const uint64 *xids, uint32 n, XLogRecPtr position);
} WcFollowerOps;

/*
 * Begins at a position: the end of a record.  store: the id that records must have, but for
 * GENESIS.  ops stay where they are.  Lives to the end of the process.
 */
extern WcFollower *wc_follower_start(const WcFollowerOps *ops, void *arg, uint32 store, XLogRecPtr from);

/*
 * Reads the next records, about `bytes` bytes at most.  True: the log has more.  Raises an error if the log cannot be
 * read (for example because a segment was removed), or if a record of widecol's is damaged or belongs to another store.
 * Serves interrupts.
 */
extern bool wc_follower_run(WcFollower *follower, Size bytes);

/* The position up to which the log has been read. */
extern XLogRecPtr wc_follower_position(const WcFollower *follower);

/*
 * On a standby: up to where no transaction ends that has not been read.  As
 * wc_follower_position, but goes on to the end of the record under replay when that ends no
 * transaction: its replay may wait for a query, and the query for this.
 */
extern XLogRecPtr wc_follower_nothing_ends_before(WcFollower *follower);

#endif
