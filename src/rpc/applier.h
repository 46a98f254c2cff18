/*
 * rpc/applier.h: commits, one after another.
 *
 * One thread calls wc_engine_apply, in the order in which commits were handed
 * in.  It takes all that wait, applies each, makes them durable with one sync,
 * and tells each its outcome.  Session threads wait for theirs.  It also sees to it
 * that snapshots of epochs go soon after the last reader has left.
 */
#ifndef WC_RPC_APPLIER_H
#define WC_RPC_APPLIER_H

#include "engine/engine.h"
#include "rpc/epochs.h"

typedef struct WcApplier WcApplier;

/* catalog_generation is set to a greater number than before whenever the
 * engine's grows; writes grows by the operations of each commit. */
extern WcStatus wc_applier_start(WcEngine *engine, WcEpochs *epochs, _Atomic uint64_t *catalog_generation,
								 _Atomic uint64_t *writes, WcApplier **applier, WcError *err) WC_WARN_UNUSED;

/* Commits handed in before are finished first; none may come after. */
extern void wc_applier_stop(WcApplier *applier);

/*
 * Applies txn and, if sync, makes it durable.  Blocks; any session thread.  On
 * failure nothing was applied, unless *unknown is set: then it was, but may not
 * survive a crash.
 */
extern WcStatus wc_applier_commit(WcApplier *applier, uint64_t xid, WcTxn *txn, bool sync,
								  bool *unknown, WcError *err) WC_WARN_UNUSED;

#endif
