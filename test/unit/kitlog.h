/*
 * test/unit/kitlog.h: PostgreSQL's log, for sessions in a test: a transaction that the engine has accepted (PRECOMMIT) is
 * logged and committed there, as a backend does, and the test plays the follower.
 */
#ifndef WC_TEST_KITLOG_H
#define WC_TEST_KITLOG_H

#include "enginekit.h"

#include <pthread.h>

#include "rpc/log/intake.h"

typedef struct KitLog
{
	WcLogOptions options;		/* for wc_server_start, or wc_intake_create */
	WcServer   *server;			/* the test sets this one, or the other two */
	WcIntake   *intake;
	WcApplier  *applier;
	_Atomic uint64_t applied;
	pthread_mutex_t mutex;		/* one thread is the follower at a time */
	uint64_t	position;		/* of the last record */
} KitLog;

/* The engine follows the log from now on. */
extern void kitlog_open(KitLog *log, Kit *kit);
extern void kitlog_close(KitLog *log);

/*
 * The transaction's stream, and its commit, are in the log; returns when the commit has been applied, and the
 * transaction's locks are released.  Any thread.  False: err has the reason.
 */
extern bool kitlog_commit(KitLog *log, uint64_t xid, WcSlice stream, WcError *err);

#endif
