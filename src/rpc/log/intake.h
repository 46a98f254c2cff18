/*
 * rpc/log/intake.h: from the log to the store.
 *
 * The follower (the engine's main thread) passes in the records of the log, one by one.  The intake gathers a
 * transaction's BATCHes (pending.h) and posts them to the applier at the transaction's commit; the follower does not
 * wait for the applier.  The row locks of a transaction are released when its end was in the log and its writes have
 * been applied: so the next owner of such a lock sees the writes.
 *
 * Only the follower calls these functions, unless a comment says otherwise.
 */
#ifndef WC_RPC_LOG_INTAKE_H
#define WC_RPC_LOG_INTAKE_H

#include "model/logrecord.h"
#include "rpc/log/applier.h"
#include "rpc/lock/locktable.h"
#include "rpc/rpc.h"

typedef struct WcIntake WcIntake;

/* Start the applier with wc_intake_applied.  Copies *log. */
extern WcStatus wc_intake_create(WcEngine *engine, WcLockTable *locktable, const WcLogOptions *log,
									WcIntake **intake, WcError *err) WC_WARN_UNUSED;

/* The applier must have been stopped. */
extern void wc_intake_free(WcIntake *intake);

/* From now on commits are posted to this applier. */
extern void wc_intake_begin(WcIntake *intake, WcApplier *applier);

/* The functions to call when a commit is applied, for wc_applier_start. */
extern WcApplied wc_intake_applied(WcIntake *intake);

/* A session's thread calls it: the transaction was aborted before its commit.  Releases its locks and frees its place. */
extern void wc_intake_aborted(WcIntake *intake, uint64_t xid);

/* --- records of the log -------------------------------------------------------- */

/* Loads the transactions in the store's last mark; *read_from: the position where reading begins (0: there is
 * no mark). */
extern WcStatus wc_intake_load(WcIntake *intake, uint64_t *read_from, WcError *err) WC_WARN_UNUSED;

/* position: the end of the record. */
extern WcStatus wc_intake_batch(WcIntake *intake, const WcLogRecord *batch, uint64_t position, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_intake_commit(WcIntake *intake, uint64_t xid, uint64_t position, int64_t time_us,
									WcError *err) WC_WARN_UNUSED;
extern void wc_intake_abort(WcIntake *intake, uint64_t xid);

/* Has a BATCH of the transaction been passed in, and neither its commit nor its abort? */
extern bool wc_intake_has(const WcIntake *intake, uint64_t xid);

/* The transaction has been prepared: its stream is kept until its commit or abort, perhaps for long. */
extern void wc_intake_prepare(WcIntake *intake, uint64_t xid);

/* Of the transactions before `next` only these n (ascending; prepared ones among them) have not ended: forgets the
 * streams of the others. */
extern void wc_intake_running(WcIntake *intake, uint64_t next, const uint64_t *xids, size_t n);

/* --- prepared transactions of the engine before ---------------------------------- */

/* Their number. */
extern uint64_t wc_intake_nprepared(const WcIntake *intake);

/* Gives prepared transactions (all: all transactions that have not ended, as on a standby that starts) a place in
 * flight, unless they have one: a reader that sees their heap rows finds the place to wait for. */
extern void wc_intake_take_places(WcIntake *intake, bool all);

/* Locks the rows that prepared transactions had locked.  Called before a session may lock rows, when all posted commits
 * and marks have been applied (wc_applier_backlog returns no bytes).  go_on is called at least once for each
 * WC_BATCH_CHUNK bytes of their streams; if it returns false, the function ends (WC_SHUTDOWN).  Afterwards rows of
 * tables without large rows can be claimed (wire/shared/claims.h). */
extern WcStatus wc_intake_restore_locks(WcIntake *intake, bool (*go_on) (void), WcError *err) WC_WARN_UNUSED;

/* --- steps ------------------------------------------------------------------------ */

extern WcStatus wc_intake_step(WcIntake *intake, const WcLogRecord *step, uint64_t position, WcError *err) WC_WARN_UNUSED;

/* Batches of committed transactions that went to the applier, and their bytes.  Any thread. */
extern void wc_intake_counts(const WcIntake *intake, uint64_t *batches, uint64_t *bytes);
extern void wc_intake_reset_counts(WcIntake *intake);

/* --- steps of this engine ------------------------------------------------------ */

/* Any thread (a WcStepLog): passes the step to the follower, which writes it into the log, and waits until the step has
 * been applied. */
extern WcStatus wc_intake_log_step(void *intake, WcSlice step, const atomic_bool *cancel, WcError *err);

/* As wc_server_next_step and wc_server_step_written. */
extern bool wc_intake_next_step(WcIntake *intake, WcSlice *step);
extern void wc_intake_step_written(WcIntake *intake, uint64_t position);

/* From now on no row can be claimed, and all steps fail that wait to be written or come later. */
extern void wc_intake_stop(WcIntake *intake);

/* Posts a mark at the position up to which the log has been read. */
extern WcStatus wc_intake_mark(WcIntake *intake, uint64_t read_from, WcError *err) WC_WARN_UNUSED;

#endif
