/*
 * test/unit/logsite.h: an engine that follows a log of which the test makes the records (rpc/log/intake.h).
 */
#ifndef LOGSITE_H
#define LOGSITE_H

#include "enginekit.h"

#include <sys/resource.h>

#include "rpc/log/intake.h"

#define STORE 77

typedef struct Log
{
	Kit			kit;
	WcGetCache *getcache;
	WcEpochs   *epochs;
	WcLockTable *locktable;
	WcApplier  *applier;
	WcIntake   *intake;
	WcFlight   *flight;
	WcClaims   *claims;
	_Atomic uint64_t generation;
	_Atomic uint64_t writes;
	_Atomic uint64_t applied;	/* as the intake tells other processes */
	struct rlimit limit;
	uint64_t	pending_memory;
} Log;

/* There is a table "t" with one family; the log has been applied up to 101. */
extern int	log_set_up(void **state);
extern int	log_tear_down(void **state);

/* An engine's process begins and ends.  start_again: another one, with the same store and shared memory. */
extern void start_engine(Log *log);
extern void stop_engine(Log *log);
extern void start_again(Log *log);

/* --- records of the log; positions are the test's ---------------------------------- */

/* The kit's operations, as the piece of the transaction that begins at this offset; returns where it ends. */
extern uint64_t log_batch(Log *log, uint64_t xid, uint16_t place, uint64_t at);
extern void log_put(Log *log, uint64_t xid, uint16_t place, const char *row, const char *value);
extern void log_commit(Log *log, uint64_t xid, uint64_t position);

extern void wait_applied(Log *log, uint64_t position);

/* Until all places in flight are free. */
extern void wait_idle(Log *log);

/* Reads what the store has of transactions under way; returns the position from which the log is to be read. */
extern uint64_t log_load(Log *log);

/* A mark: written, and on disk. */
extern void log_mark(Log *log, uint64_t position);

#endif
