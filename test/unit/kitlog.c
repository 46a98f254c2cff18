/*
 * test/unit/kitlog.c: see kitlog.h.
 */
#include "kitlog.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define STORE 77
#define PLACES 8
#define FIRST_POSITION 1000

/* Between two records. */
#define RECORD_BYTES 10

void
kitlog_open(KitLog *log, Kit *kit)
{
	size_t		size = (wc_flight_size(PLACES) + 63) & ~(size_t) 63;
	void	   *flight = aligned_alloc(64, size);
	void	   *claims = calloc(1, wc_claims_size(1));

	assert_non_null(flight);
	assert_non_null(claims);
	memset(flight, 0, size);
	memset(log, 0, sizeof(*log));
	pthread_mutex_init(&log->mutex, NULL);
	log->position = FIRST_POSITION;
	log->options = (WcLogOptions) {
		.store = STORE,.pending_memory = 64 << 20,.flight = wc_flight_init(flight, PLACES, PLACES),
		.claims = wc_claims_init(claims, 42, 1),.applied = &log->applied
	};
	wc_claims_reset(log->options.claims);
	assert_ok(kit, wc_engine_begin_log(kit->engine, log->position, &kit->err));
}

void
kitlog_close(KitLog *log)
{
	pthread_mutex_destroy(&log->mutex);
	free(log->options.flight);
	free(log->options.claims);
}

static WcStatus
write_records(KitLog *log, uint64_t xid, WcSlice stream, WcError *err)
{
	WcLogRecord r = {
		.kind = WC_RECORD_BATCH,.store = STORE,.place = WC_RECORD_NO_PLACE,.database = KIT_DATABASE,.xid = xid,.bytes = stream
	};
	uint64_t	at = log->position + RECORD_BYTES;
	WcStatus	status;

	log->position = at + RECORD_BYTES;
	if (log->server != NULL)
	{
		status = wc_server_log_batch(log->server, &r, at, err);
		return status == WC_OK ? wc_server_log_commit(log->server, xid, log->position, kit_now, err) : status;
	}
	status = wc_intake_batch(log->intake, &r, at, err);
	return status == WC_OK ? wc_intake_commit(log->intake, xid, log->position, kit_now, err) : status;
}

static uint64_t
backlog_of(const KitLog *log)
{
	uint64_t	commits;
	uint64_t	bytes;

	if (log->server != NULL)
		wc_server_backlog(log->server, &commits, &bytes);
	else
		wc_applier_backlog(log->applier, &commits, &bytes);
	return commits;
}

static bool
is_stalled(const KitLog *log, WcError *why)
{
	return log->server != NULL ? wc_server_stalled(log->server, why) : wc_applier_stalled(log->applier, why);
}

bool
kitlog_commit(KitLog *log, uint64_t xid, WcSlice stream, WcError *err)
{
	bool		stalled = false;
	WcStatus	status;

	pthread_mutex_lock(&log->mutex);
	status = write_records(log, xid, stream, err);
	pthread_mutex_unlock(&log->mutex);
	while (status == WC_OK && backlog_of(log) > 0 && !(stalled = is_stalled(log, err)))
		sched_yield();
	return status == WC_OK && !stalled;
}
