/*
 * rpc/log/applier.h: commits, one after another.
 *
 * One thread applies commits, in the order in which they were posted; of those that are waiting, small ones of different
 * rows with one write (wc_engine_apply_group).  The follower posts the commits and does not wait.  They are durable in
 * the log, so the applier tries again if applying fails (on a full disk, for example), until it succeeds.
 *
 * A session's thread that waits for its next request yields its processor again and again, so it may give it to the
 * applier just before the request comes.  While fewer sessions are busy than there are processors, the applier therefore gives
 * way after each commit of a group, and after each answer.
 *
 * When nothing is posted, the applier answers Gets of rows that it has just written (rpc/lock/answers.h).  It also releases
 * kept snapshots of epochs soon after their last reader has left.
 */
#ifndef WC_RPC_LOG_APPLIER_H
#define WC_RPC_LOG_APPLIER_H

#include "engine/engine.h"
#include "rpc/lock/epochs.h"
#include "rpc/log/pending.h"
#include "wire/wait/busy.h"

typedef struct WcApplier WcApplier;

/*
 * Called by the applier's thread.  begin: a posted commit is about to be applied; also before each further attempt.  fn:
 * it has been applied: its row locks can be released, and its place in flight freed.
 */
typedef struct WcApplied
{
	void		(*begin) (void *arg, uint64_t xid);
	void		(*fn) (void *arg, uint64_t xid, uint16_t place, uint64_t position);
	void	   *arg;
} WcApplied;

typedef struct WcApplierOptions
{
	WcEngine   *engine;
	WcEpochs   *epochs;
	_Atomic uint64_t *catalog_generation;	/* set to a greater number whenever the engine's grows */
	_Atomic uint64_t *writes;	/* grows by the operations of each commit */
	WcApplied	applied;
	int			cores;			/* processors there are to run on */
	WcBusy	   *busy;			/* number of busy sessions; NULL: not known */
} WcApplierOptions;

extern WcStatus wc_applier_start(const WcApplierOptions *options, WcApplier **applier, WcError *err) WC_WARN_UNUSED;

/* Ends the thread, after all posted commits; no more may be posted. */
extern void wc_applier_stop(WcApplier *applier);

/* Ends all waits for steps, also later ones: while nothing can be applied, they would last as long as that. */
extern void wc_applier_end_steps(WcApplier *applier);

/* --- one thread, the follower's --------------------------------------------- */

/* The number of commits that are posted and not applied yet, and the bytes of their batches. */
extern void wc_applier_backlog(WcApplier *applier, uint64_t *commits, uint64_t *bytes);

/* The commit time of the oldest of them; 0: there is none. */
extern int64_t wc_applier_waiting_us(WcApplier *applier);

/*
 * Posts a commit with its transaction, which the applier owns from now on.  place: the commit's place in flight, for
 * `applied`.  WC_NO_MEMORY: nothing was posted, and the caller still owns txn.
 */
extern WcStatus wc_applier_post(WcApplier *applier, const WcCommit *commit, WcTxn *txn, uint16_t place,
								WcError *err) WC_WARN_UNUSED;

/* As wc_applier_post, but the applier's thread makes the transaction of the batch when its turn comes.  The applier takes
 * the batch's memory over: the caller's batch is empty afterwards. */
extern WcStatus wc_applier_post_batch(WcApplier *applier, const WcCommit *commit, WcPendingBatch *batch, WcError *err) WC_WARN_UNUSED;

/* Posts a mark (wc_engine_mark); copies `pending`. */
extern WcStatus wc_applier_post_mark(WcApplier *applier, uint64_t read_from, const WcPendingMark *pending, WcError *err) WC_WARN_UNUSED;

/* Hands in a step (model/step.h), which it copies, and the position behind its record. */
extern WcStatus wc_applier_post_step(WcApplier *applier, WcSlice step, uint64_t position, WcError *err) WC_WARN_UNUSED;

/* Any thread: waits until the step at this position has been applied.  False: it has not been, because the applier stops,
 * waits have been ended, or cancel (may be NULL) was set. */
extern bool wc_applier_await_step(WcApplier *applier, uint64_t position, const atomic_bool *cancel);

/* The position of the last mark that has been written. */
extern uint64_t wc_applier_marked(const WcApplier *applier);

/* True: applying fails at the moment, and *why has the reason. */
extern bool wc_applier_stalled(WcApplier *applier, WcError *why);

#endif
