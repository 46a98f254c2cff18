/*
 * rpc/log/applier.h: commits, one after another.
 *
 * One thread calls wc_engine_apply, in the order in which commits were handed in.
 *
 * A server that follows no log is given commits by session threads, which wait for theirs:
 * the applier takes all that wait, applies each, makes them durable with one sync, and tells
 * each its outcome.  A server that follows the log is given them by one thread, which does
 * not wait; they are durable in the log, so an apply that fails (on a full disk, say) is
 * tried again until it succeeds.
 *
 * It also sees to it that snapshots of epochs go soon after the last reader has left.
 */
#ifndef WC_RPC_LOG_APPLIER_H
#define WC_RPC_LOG_APPLIER_H

#include "engine/engine.h"
#include "rpc/lock/epochs.h"
#include "rpc/log/pending.h"

typedef struct WcApplier WcApplier;

/* Called by the applier's thread when a commit that was posted has been applied: its row locks and its place
 * in flight can be given up. */
typedef struct WcApplied
{
	void		(*fn) (void *arg, uint64_t xid, uint16_t place, uint64_t position);
	void	   *arg;
} WcApplied;

/* applied.fn may be NULL.  catalog_generation is set to a greater number than before whenever the
 * engine's grows; writes grows by the operations of each commit. */
extern WcStatus wc_applier_start(WcEngine *engine, WcEpochs *epochs, _Atomic uint64_t *catalog_generation,
								 _Atomic uint64_t *writes, WcApplied applied, WcApplier **applier,
								 WcError *err) WC_WARN_UNUSED;

/* Commits handed in before are finished first; none may come after. */
extern void wc_applier_stop(WcApplier *applier);

/*
 * Applies txn and, if sync, makes it durable.  Blocks; any session thread.  On
 * failure nothing was applied, unless *unknown is set: then it was, but may not
 * survive a crash.
 */
extern WcStatus wc_applier_commit(WcApplier *applier, uint64_t xid, WcTxn *txn, bool sync,
								  bool *unknown, WcError *err) WC_WARN_UNUSED;

/* --- following the log: one thread, the follower's -------------------------- */

/* Commits that are handed in and not applied yet, and the bytes of their batches. */
extern void wc_applier_backlog(WcApplier *applier, uint64_t *commits, uint64_t *bytes);

/* The commit time of the oldest of them; 0: there is none. */
extern int64_t wc_applier_waiting_us(WcApplier *applier);

/*
 * Hands in a commit, with its transaction, which is the applier's from now on, and the
 * position behind its record.  place: where it is in flight, for applied.  WC_NO_MEMORY:
 * nothing was handed in, and txn is still the caller's.
 */
extern WcStatus wc_applier_post(WcApplier *applier, const WcCommit *commit, WcTxn *txn, uint16_t place,
								WcError *err) WC_WARN_UNUSED;

/* As wc_applier_post, of a transaction that the applier's thread is to make when its turn comes.  The
 * batch is the applier's from then on, and what the caller has is empty. */
extern WcStatus wc_applier_post_batch(WcApplier *applier, const WcCommit *commit, WcPendingBatch *batch, WcError *err) WC_WARN_UNUSED;

/* Hands in a mark (wc_engine_mark); copies what is pending.  */
extern WcStatus wc_applier_post_mark(WcApplier *applier, uint64_t read_from, const WcPendingMark *pending, WcError *err) WC_WARN_UNUSED;

/* Hands in a step (model/step.h), which it copies, and the position behind its record. */
extern WcStatus wc_applier_post_step(WcApplier *applier, WcSlice step, uint64_t position, WcError *err) WC_WARN_UNUSED;

/* Any thread: waits until the step there has been applied.  False: not yet, and the applier
 * stops, or cancel (may be NULL) was raised. */
extern bool wc_applier_await_step(WcApplier *applier, uint64_t position, const atomic_bool *cancel);

/* The place of the last mark that has been written. */
extern uint64_t wc_applier_marked(const WcApplier *applier);

/* Why nothing is applied any more although there are commits; false: nothing is wrong. */
extern bool wc_applier_stalled(WcApplier *applier, WcError *why);

#endif
