/*
 * rpc/lock/epochs.h: snapshots of the epochs that readers are in (wire/shared/getcache.h).
 *
 * A backend that has found answers in shared memory reads in an epoch without the engine's knowledge.  If it then sends
 * a request, the engine must read the same state: so when a commit is about to end an epoch that has readers, the
 * engine keeps a snapshot of this epoch.  Any thread.
 */
#ifndef WC_RPC_LOCK_EPOCHS_H
#define WC_RPC_LOCK_EPOCHS_H

#include "engine/engine.h"
#include "rpc/lock/answers.h"
#include "rpc/lock/left.h"
#include "rpc/lock/ranges.h"
#include "rpc/lock/rowstamps.h"
#include "wire/shared/getcache.h"

typedef struct WcEpochs WcEpochs;

/* Forgets all answers, and watches the engine's commits from now on. */
extern WcStatus wc_epochs_create(WcEngine *engine, WcGetCache *cache, WcEpochs **epochs, WcError *err) WC_WARN_UNUSED;

/* When no commit can come any more.  NULL is allowed. */
extern void wc_epochs_free(WcEpochs *epochs);

/* When rows were written last; it knows all commits since wc_epochs_create. */
extern WcRowStamps *wc_epochs_stamps(const WcEpochs *epochs);

/* The cache that it was created with. */
extern WcGetCache *wc_epochs_cache(const WcEpochs *epochs);

/* Answers will be kept: the first call has the cache's memory touched, by a thread of its own.  Any thread. */
extern void wc_epochs_use_cache(WcEpochs *epochs);

/* Commits leave answers there: they are kept when the commits are applied.  Before the first commit.  False: out of memory. */
extern bool wc_epochs_use_left(WcEpochs *epochs, const WcClaims *claims, const WcUnapplied *unapplied) WC_WARN_UNUSED;

/* Stretches of rows are kept there (wire/shared/rangecache.h): forgets them, and notes commits from now on.  Before the first commit.
 * False: out of memory. */
extern bool wc_epochs_use_ranges(WcEpochs *epochs, WcRangeCache *cache) WC_WARN_UNUSED;

/* NULL: wc_epochs_use_ranges has not been called. */
extern WcRanges *wc_epochs_ranges(const WcEpochs *epochs);

/* NULL: wc_epochs_use_left has not been called. */
extern WcLeft *wc_epochs_left(const WcEpochs *epochs);

/* They note the rows of all commits since wc_epochs_create. */
extern WcAnswers *wc_epochs_answers(const WcEpochs *epochs);

/* A reference to the snapshot of an epoch that the caller's backend is in.  WC_CONFLICT: the epoch has ended,
 * and no snapshot of it is kept. */
extern WcStatus wc_epochs_snapshot(WcEpochs *epochs, uint64_t epoch, WcSnapshot **snapshot, WcError *err) WC_WARN_UNUSED;

/* Releases snapshots of epochs without readers, as each commit does; they would hinder compactions.  True:
 * others remain. */
extern bool wc_epochs_tidy(WcEpochs *epochs);

/* When the oldest snapshot was taken that is kept because this process reads in its epoch; 0: there is none. */
extern int64_t wc_epochs_held_us(WcEpochs *epochs, uint32_t process);

/*
 * Is it worth while to answer Gets of this row in advance, for sessions that are about to write it again?  There is room
 * for the answers, or the row was probably written within the last second.  The caller has locked the row.
 */
extern bool wc_epochs_wants_ahead(WcEpochs *epochs, uint32_t table_id, WcSlice row);

/* The current epoch: the newest state has at least the commits of this epoch. */
extern uint64_t wc_epochs_current(const WcEpochs *epochs);

/* Keeps an answer that was read at the snapshot of an epoch (wc_getcache_add). */
extern void wc_epochs_keep(WcEpochs *epochs, uint64_t epoch, uint32_t table_id, WcSlice row, WcSlice get,
						   WcSlice answer, int64_t valid_from_us, int64_t valid_until_us);

#endif
