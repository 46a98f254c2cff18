/*
 * test/unit/rowsite.h: sessions that lock rows and commit, for tests: their requests are dispatched as a backend's
 * would be.
 */
#ifndef ROWSITE_H
#define ROWSITE_H

#include "enginekit.h"

#include "kitlog.h"
#include "rpc/dispatch.h"

#define SESSIONS 3

typedef struct Site
{
	Kit			kit;
	WcGetCache *getcache;
	WcEpochs   *epochs;
	WcApplier  *applier;
	WcLockTable *locktable;
	WcIntake   *intake;
	KitLog		log;
	_Atomic uint64_t generation;
	_Atomic uint64_t writes;
	atomic_bool cancel;
	WcDispatch	sessions[SESSIONS];
	uint64_t	lengths[SESSIONS];	/* of their batches */
	WcBuf		batches[SESSIONS];
	WcFrameReader requests[SESSIONS];
} Site;

/* Three sessions at a table "t" with rows a, b, c, each {f:q=1}. */
extern int	site_set_up(void **state);
extern int	site_tear_down(void **state);

/* The session's next request, to be filled in. */
extern WcBuf *site_message(Site *site, int session);

/* Dispatches it: the type and the payload of the answer (0: none), which is the session's until
 * the next; site_ask fails if it is an error. */
extern WcSlice site_answer(Site *site, int session, uint8_t type, uint8_t *answer);
extern WcSlice site_ask(Site *site, int session, uint8_t type);

/* A request of one number, and its answer's; 0: it has none. */
extern uint64_t site_ask_number(Site *site, int session, uint8_t type, uint64_t number);

/* Collects a put; the next call of site_write appends it to a session's batch. */
extern void site_put(Site *site, const char *row, const char *value);
extern void site_write(Site *site, int session);
extern void site_write_ops(Site *site, int session, WcSlice ops);	/* these, on any thread */

/* PRECOMMIT of transaction session + 1, and its commit in the log, unless another transaction has locked a row: *holder
 * (0: none).  snapshot: the number of the snapshot since which the rows must be unchanged; 0: none.  On any thread.  False:
 * err has the reason. */
extern bool site_try_commit(Site *site, int session, uint64_t snapshot, uint64_t *holder, WcError *err);

/* The same, which must not fail; returns the holder. */
extern uint64_t site_commit_since(Site *site, int session, uint64_t snapshot);
extern uint64_t site_commit(Site *site, int session);

/* ABORT. */
extern void site_end(Site *site, int session);

/*
 * Locks one-letter rows, for transaction session + 1; what came of it as text, until the next:
 * "a b! c+ d- e* | 7": b has changed, c is there, d is gone, e was written, the next one is transaction 7's.
 */
extern const char *site_lock_with(Site *site, int session, WcLockMessage *m, const char *letters);
extern const char *site_lock(Site *site, int session, const char *letters);

/* How many rows that transaction has locked one by one. */
extern uint64_t site_locks_of(Site *site, int session);

/* Changed since a snapshot of that number? */
extern const char *site_lock_since(Site *site, int session, uint64_t snapshot, const char *letters);

#endif
