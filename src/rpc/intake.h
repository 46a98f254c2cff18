/*
 * rpc/intake.h: from the log to the store.
 *
 * The follower (the engine's main thread) hands in what the log says, record by record.  A
 * transaction's BATCHes are gathered (pending.h); at its commit they go to the applier, which
 * does not make the follower wait.  Row locks of a transaction that commits are given up when the log has said how it ended, and what it
 * wrote has been applied: so who gets them next sees it.
 *
 * All functions are the follower's, but for wc_intake_aborted.
 */
#ifndef WC_RPC_INTAKE_H
#define WC_RPC_INTAKE_H

#include "model/logrecord.h"
#include "rpc/applier.h"
#include "rpc/locktable.h"
#include "rpc/rpc.h"

typedef struct WcIntake WcIntake;

/* log: of a server that follows the log.  The applier is started with wc_intake_applied. */
extern WcStatus wc_intake_create(WcEngine *engine, WcLockTable *locktable, const WcLogOptions *log,
									WcIntake **intake, WcError *err) WC_WARN_UNUSED;

/* The applier must have been stopped. */
extern void wc_intake_free(WcIntake *intake);

/* Where commits go from now on. */
extern void wc_intake_begin(WcIntake *intake, WcApplier *applier);

/* For wc_applier_start. */
extern WcApplied wc_intake_applied(WcIntake *intake);

/* A session thread: the transaction was aborted before it could be committed.  Gives its locks
 * up. */
extern void wc_intake_aborted(WcIntake *intake, uint64_t xid);

/* --- what the log says -------------------------------------------------------- */

/* Loads what the store's last mark carries; *read_from: where reading begins (0: there is none). */
extern WcStatus wc_intake_load(WcIntake *intake, uint64_t *read_from, WcError *err) WC_WARN_UNUSED;

/* position: the end of the record. */
extern WcStatus wc_intake_batch(WcIntake *intake, const WcLogRecord *batch, uint64_t position, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_intake_commit(WcIntake *intake, uint64_t xid, uint64_t position, int64_t time_us,
									WcError *err) WC_WARN_UNUSED;
extern void wc_intake_abort(WcIntake *intake, uint64_t xid);

/* No transaction before this one runs, or ever will; prepared ones count as running. */
extern void wc_intake_running(WcIntake *intake, uint64_t oldest_xid);

extern WcStatus wc_intake_step(WcIntake *intake, const WcLogRecord *step, uint64_t position, WcError *err) WC_WARN_UNUSED;

/* --- steps that are made here -------------------------------------------------- */

/* Any thread (a WcStepLog): has the step written into the log, and waits until it has been
 * applied. */
extern WcStatus wc_intake_log_step(void *intake, WcSlice step, const atomic_bool *cancel, WcError *err);

/* As wc_server_next_step and wc_server_step_written. */
extern bool wc_intake_next_step(WcIntake *intake, WcSlice *step);
extern void wc_intake_step_written(WcIntake *intake, uint64_t position);

/* Steps that wait to be written fail from now on, as do all that come. */
extern void wc_intake_stop(WcIntake *intake);

/* Hands in a mark at the position up to which the log has been read. */
extern WcStatus wc_intake_mark(WcIntake *intake, uint64_t read_from, WcError *err) WC_WARN_UNUSED;

#endif
