/*
 * test/unit/logsite.c: an engine that follows a log of which the test makes the records.
 */
#include "logsite.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLACES 8
#define TXN_MEMORY 400			/* larger transactions are in files, and are written as such */

void
start_engine(Log *log)
{
	WcLogOptions options = {
		.store = STORE,.pending_memory = log->pending_memory,.flight = log->flight,.claims = log->claims,.applied = &log->applied
	};
	WcError    *err = &log->kit.err;

	log->locktable = wc_locktable_create(log->claims, log->flight);
	assert_ok(&log->kit, wc_epochs_create(log->kit.engine, log->getcache, &log->epochs, err));
	assert_ok(&log->kit, wc_intake_create(log->kit.engine, log->locktable, &options, &log->intake, err));
	assert_ok(&log->kit, wc_applier_start(&(WcApplierOptions)
	{
		.engine = log->kit.engine,.epochs = log->epochs,
		.catalog_generation = &log->generation,.writes = &log->writes,.applied = wc_intake_applied(log->intake)
	}, &log->applier, err));
	wc_intake_begin(log->intake, log->applier);
}

void
stop_engine(Log *log)
{
	wc_applier_stop(log->applier);
	wc_intake_free(log->intake);
	wc_epochs_free(log->epochs);
	wc_locktable_free(log->locktable);
}

int
log_set_up(void **state)
{
	Log		   *log = calloc(1, sizeof(*log));
	size_t		size = (wc_flight_size(PLACES) + 63) & ~(size_t) 63;
	void	   *memory = aligned_alloc(64, size);

	assert_non_null(log);
	assert_non_null(memory);
	memset(memory, 0, size);
	log->flight = wc_flight_init(memory, PLACES, PLACES);
	log->claims = calloc(1, wc_claims_size(1));
	assert_non_null(log->claims);
	log->getcache = kit_getcache(1 << 16, 1);
	log->pending_memory = 64 << 20;
	kit_txn_memory = TXN_MEMORY;
	kit_open(&log->kit);
	assert_ok(&log->kit, wc_engine_begin_log(log->kit.engine, 100, &log->kit.err));
	kit_create(&log->kit, "t", WC_PACKING_CELL, 1);
	assert_int_equal(kit_apply(&log->kit), WC_OK);	/* at 101 */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &log->limit), 0);
	start_engine(log);
	*state = log;
	return 0;
}

int
log_tear_down(void **state)
{
	Log		   *log = *state;

	stop_engine(log);
	kit_close(&log->kit);
	free(log->getcache);
	free(log->claims);
	free(log->flight);
	free(log);
	return 0;
}

void
start_again(Log *log)
{
	stop_engine(log);
	kit_reopen(&log->kit);
	start_engine(log);
}

/* --- records of the log ------------------------------------------------------------- */

uint64_t
log_batch(Log *log, uint64_t xid, uint16_t place, uint64_t at)
{
	WcLogRecord r = {
		.kind = WC_RECORD_BATCH,.store = STORE,.place = place,.database = KIT_DATABASE,.xid = xid,.at = at,
		.bytes = wc_buf_slice(&log->kit.ops)
	};
	uint64_t	end_of_it = at + r.bytes.len;

	assert_ok(&log->kit, wc_intake_batch(log->intake, &r, 0, &log->kit.err));
	wc_buf_reset(&log->kit.ops, SIZE_MAX);
	return end_of_it;
}

void
log_put(Log *log, uint64_t xid, uint16_t place, const char *row, const char *value)
{
	kit_put(&log->kit, row, 1, "q", WC_TS_LATEST, value);
	(void) log_batch(log, xid, place, 0);
}

void
log_commit(Log *log, uint64_t xid, uint64_t position)
{
	assert_ok(&log->kit, wc_intake_commit(log->intake, xid, position, kit_now, &log->kit.err));
}

void
wait_applied(Log *log, uint64_t position)
{
	while (atomic_load(&log->applied) != position)
		usleep(1000);
}

void
wait_idle(Log *log)
{
	while (!wc_flight_idle(log->flight))
		usleep(1000);
}

uint64_t
log_load(Log *log)
{
	uint64_t	from;

	assert_ok(&log->kit, wc_intake_load(log->intake, &from, &log->kit.err));
	return from;
}

void
log_mark(Log *log, uint64_t position)
{
	assert_ok(&log->kit, wc_intake_mark(log->intake, position, &log->kit.err));
	while (wc_applier_marked(log->applier) != position)
		usleep(1000);
	assert_ok(&log->kit, wc_engine_sync(log->kit.engine, &log->kit.err));
}
