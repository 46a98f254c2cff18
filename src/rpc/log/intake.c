/*
 * rpc/log/intake.c: from the log to the store.
 */
#include "rpc/log/intake.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/threads.h"
#include "model/batch.h"
#include "rpc/log/pending.h"
#include "rpc/session/rowlock.h"

/* A step that waits to be written into the log. */
typedef struct StepRequest
{
	struct StepRequest *next;
	WcSlice		step;
	uint64_t	position;		/* of its record; set with `done` */
	bool		taken;			/* the follower is writing the bytes */
	bool		done;
} StepRequest;

struct WcIntake
{
	WcEngine   *engine;
	WcLockTable *locktable;
	WcLogOptions log;
	WcApplier  *applier;
	WcPending  *pending;		/* only the follower uses it */
	WcMutex		mutex;			/* guards steps and stop */
	pthread_cond_t written;		/* a step is done, or stop */
	StepRequest *steps WC_GUARDED_BY(&mutex); /* in the order in which they are to be written */
	bool		stop WC_GUARDED_BY(&mutex);
	_Atomic uint64_t batches;	/* this and the next one: number of posted batches, and their bytes */
	_Atomic uint64_t bytes;
	uint64_t	nlarge;			/* families with large rows whose tables are closed; wc_intake_restore_locks uses it, then the applier */
	uint64_t	nahead;			/* families with cells that are ahead of commits; likewise */
	uint64_t	applied;		/* when it was opened, the store had all commits up to here; only the follower uses this */
};

static void
on_table(void *arg, uint32_t table_id)
{
	wc_engine_note_table_id(arg, table_id);
}

WcStatus
wc_intake_create(WcEngine *engine, WcLockTable *locktable, const WcLogOptions *log, WcIntake **intake, WcError *err)
{
	WcIntake *f = calloc(1, sizeof(*f));
	WcPendingTables tables = {on_table, engine};
	WcStatus	status;

	if (f == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	f->engine = engine;
	f->locktable = locktable;
	f->log = *log;
	f->applied = wc_engine_applied_position(engine);
	pthread_mutex_init(&f->mutex, NULL);
	wc_clock_cond_init(&f->written);
	status = wc_pending_create(&tables, &f->pending, err);
	if (status == WC_OK)
		*intake = f;
	else
		wc_intake_free(f);
	return status;
}

void
wc_intake_free(WcIntake *f)
{
	if (f == NULL)
		return;
	wc_pending_free(f->pending);
	pthread_cond_destroy(&f->written);
	pthread_mutex_destroy(&f->mutex);
	free(f);
}

void
wc_intake_begin(WcIntake *f, WcApplier *applier)
{
	f->applier = applier;
}

/* The transaction has ended: releases its row locks and frees its place.  place: the one that the log names; on a
 * standby the transaction has another one. */
static void
ended(WcIntake *f, uint64_t xid, uint16_t place)
{
	(void) wc_lock_release_of(f->locktable, xid, 0, true);
	wc_engine_forget(f->engine, xid);
	if (wc_flight_idle(f->log.flight))
		return;
	if (place != WC_RECORD_NO_PLACE && wc_flight_free(f->log.flight, place, xid))
		return;
	place = wc_flight_find(f->log.flight, xid);
	if (place != WC_FLIGHT_NONE)
		(void) wc_flight_free(f->log.flight, place, xid);
}

void
wc_intake_aborted(WcIntake *f, uint64_t xid)
{
	ended(f, xid, WC_RECORD_NO_PLACE);
}

static void
close_table(void *arg, uint32_t table_id)
{
	wc_claims_close_table(arg, table_id);
}

static void
note_ahead(void *arg, uint32_t table_id)
{
	wc_claims_note_ahead(arg, table_id);
}

/*
 * A backend that claims rows does not let the engine check its commit: so rows of tables with large rows cannot be claimed, as
 * long as this engine runs.  And it knows a row that it has not read, but for tables with cells that are ahead.
 */
static void
tell_backends_of_tables(WcIntake *f)
{
	wc_engine_large_tables(f->engine, &f->nlarge, close_table, f->log.claims);
	wc_engine_ahead_tables(f->engine, &f->nahead, note_ahead, f->log.claims);
}

static void
on_applied(void *arg, uint64_t xid, uint16_t place, uint64_t position)
{
	WcIntake *f = arg;

	atomic_store(f->log.applied, position);
	tell_backends_of_tables(f);
	ended(f, xid, place);
}

static void
on_begin(void *arg, uint64_t xid)
{
	WcIntake *f = arg;

	wc_flight_note(f->log.flight, xid);
}

WcApplied
wc_intake_applied(WcIntake *f)
{
	return (WcApplied) {on_begin, on_applied, f};
}

/* --- records of the log -------------------------------------------------------- */

static WcStatus
load_piece(void *arg, const WcPendingBytes *piece, WcError *err)
{
	return wc_pending_load(((WcIntake *) arg)->pending, piece, err);
}

WcStatus
wc_intake_load(WcIntake *f, uint64_t *read_from, WcError *err)
{
	return wc_engine_marked(f->engine, read_from, load_piece, f, err);
}

/* When the streams in memory are larger than the limit, a mark writes them to the store. */
WcStatus
wc_intake_batch(WcIntake *f, const WcLogRecord *batch, uint64_t position, WcError *err)
{
	WcStatus	status;

	if (batch->store != f->log.store)
		return WC_OK;			/* a record of an earlier store of the cluster */
	status = wc_pending_append(f->pending, batch, err);
	if (status == WC_OK && wc_pending_memory(f->pending) > f->log.pending_memory)
		status = wc_intake_mark(f, position, err);
	return status;
}

static void
note_posted(WcIntake *f, uint64_t bytes)
{
	atomic_fetch_add_explicit(&f->batches, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&f->bytes, bytes, memory_order_relaxed);
}

/* Posts the commit.  The WcTxn of a small transaction is made here, that of a large one by the applier.  A transaction
 * that has only locked rows has nothing to apply. */
static WcStatus
post_commit(WcIntake *f, const WcCommit *commit, WcPendingBatch *batch, WcError *err)
{
	WcTxn	   *txn = NULL;
	WcStatus	status = WC_OK;

	if (batch->npieces > 0 || batch->bytes.len > WC_BATCH_CHUNK)
	{
		uint64_t	length = wc_pendingbatch_length(batch);

		status = wc_applier_post_batch(f->applier, commit, batch, err);
		if (status == WC_OK)
			note_posted(f, length);
		return status;
	}
	status = wc_pendingbatch_txn(batch, f->engine, &txn, err);
	if (status == WC_OK && wc_txn_count(txn) == 0)
	{
		wc_txn_destroy(txn);
		ended(f, commit->xid, batch->place);
		return WC_OK;
	}
	if (status == WC_OK)
		status = wc_applier_post(f->applier, commit, txn, batch->place, err);
	if (status == WC_OK)
		note_posted(f, batch->bytes.len);
	else
		wc_txn_destroy(txn);
	return status;
}

WcStatus
wc_intake_commit(WcIntake *f, uint64_t xid, uint64_t position, int64_t time_us, WcError *err)
{
	WcCommit	commit = {.xid = xid,.position = position,.time_us = time_us};
	WcPendingBatch batch;
	WcStatus	status = WC_OK;

	if (!wc_pending_take(f->pending, xid, &batch))
	{
		ended(f, xid, WC_RECORD_NO_PLACE);	/* it may have locked rows */
		return WC_OK;
	}
	if (position > f->applied && wc_pendingbatch_length(&batch) > 0)
		status = post_commit(f, &commit, &batch, err);
	else
		ended(f, xid, batch.place);
	wc_pendingbatch_free(&batch);
	return status;
}

bool
wc_intake_has(const WcIntake *f, uint64_t xid)
{
	return wc_pending_has(f->pending, xid);
}

void
wc_intake_abort(WcIntake *f, uint64_t xid)
{
	wc_pending_drop(f->pending, xid);
	ended(f, xid, WC_RECORD_NO_PLACE);
}

/* On a promoted standby the transaction still has a place. */
static void
on_dropped(void *arg, uint64_t xid)
{
	ended(arg, xid, WC_RECORD_NO_PLACE);
}

void
wc_intake_prepare(WcIntake *f, uint64_t xid)
{
	uint16_t	place;

	if (!wc_pending_prepare(f->pending, xid, &place) || wc_flight_idle(f->log.flight))
		return;
	if (wc_flight_state(f->log.flight, place, xid) == WC_FLIGHT_FREE)
		place = wc_flight_find(f->log.flight, xid);	/* on a standby */
	if (place != WC_FLIGHT_NONE)
		wc_flight_prepared(f->log.flight, place, xid);
}

void
wc_intake_running(WcIntake *f, uint64_t next, const uint64_t *xids, size_t n)
{
	uint64_t	ndropped = wc_pending_drop_others(f->pending, next, xids, n, on_dropped, f);

	if (ndropped > 0)
		wc_log(WC_LOG_INFO, "forgot %" PRIu64 " transactions that a crash or a promotion had ended", ndropped);
}

/* --- prepared transactions of the engine before ---------------------------------- */

uint64_t
wc_intake_nprepared(const WcIntake *f)
{
	return wc_pending_nprepared(f->pending);
}

void
wc_intake_take_places(WcIntake *f, bool all)
{
	const void *node = NULL;
	const WcPendingBatch *b;

	while ((b = wc_pending_next(f->pending, &node)) != NULL)
	{
		bool		prepared = (b->flags & WC_PENDING_PREPARED) != 0;
		uint16_t	place;

		if (!prepared && !all)
			continue;
		place = wc_flight_take_once(f->log.flight, b->xid, b->database, (b->flags & WC_RECORD_CATALOG) != 0);
		if (place == WC_FLIGHT_NONE)
			wc_flight_overflow(f->log.flight, b->xid);
		else if (prepared)
			wc_flight_prepared(f->log.flight, place, b->xid);
	}
}

/* Restores row locks from a stream that comes in parts. */
typedef struct Restorer
{
	WcLockTable *locktable;
	bool		(*go_on) (void);
	uint64_t	xid;
	WcBuf		part;			/* the begin of an operation that is not complete yet, and the bytes read after it */
	size_t		size;			/* length of that operation; 0: not known yet */
} Restorer;

/* *size: the length of the complete operations at the beginning of the bytes; *next: the length of the operation after
 * them, 0 if it is not known. */
static WcStatus
whole_operations(WcSlice bytes, size_t *size, size_t *next, WcError *err)
{
	WcStatus	status = WC_OK;

	*size = *next = 0;
	while (status == WC_OK && *size < bytes.len)
	{
		status = wc_batch_op_size(wc_slice(bytes.data + *size, bytes.len - *size), next, err);
		if (*next == 0 || *next > bytes.len - *size)
			break;
		*size += *next;
		*next = 0;
	}
	return status;
}

static WcStatus
restore_part(void *arg, uint64_t at, WcSlice bytes, WcError *err)
{
	Restorer   *r = arg;
	WcStatus	status;
	size_t		whole;

	(void) at;
	if (!r->go_on())
		return wc_error(err, WC_SHUTDOWN, "the engine is stopping");
	wc_buf_append_slice(&r->part, bytes);
	if (r->part.failed)
		return wc_error(err, WC_NO_MEMORY, "out of memory for locking rows");
	if (r->part.len < r->size)
		return WC_OK;
	status = whole_operations(wc_buf_slice(&r->part), &whole, &r->size, err);
	if (status == WC_OK)
		status = wc_rowlock_restore(r->locktable, r->xid, wc_slice(r->part.data, whole), err);
	if (status != WC_OK || whole == 0)
		return status;
	r->part.len -= whole;
	memmove(r->part.data, r->part.data + whole, r->part.len);
	return WC_OK;
}

static WcStatus
restore_locks_of(WcIntake *f, const WcPendingBatch *batch, bool (*go_on) (void), WcError *err)
{
	Restorer	r = {.locktable = f->locktable,.go_on = go_on,.xid = batch->xid,.part = WC_BUF_INIT};
	WcStatus	status = wc_pendingbatch_read(batch, f->engine, restore_part, &r, err);

	if (status == WC_OK && r.part.len > 0)
		status = wc_error(err, WC_CORRUPT, "what prepared transaction %" PRIu64 " has logged ends amid an operation", batch->xid);
	wc_buf_free(&r.part);
	return status;
}

WcStatus
wc_intake_restore_locks(WcIntake *f, bool (*go_on) (void), WcError *err)
{
	const void *node = NULL;
	const WcPendingBatch *b;
	uint64_t	n = 0;
	WcStatus	status = WC_OK;

	while (status == WC_OK && (b = wc_pending_next(f->pending, &node)) != NULL)
	{
		if ((b->flags & WC_PENDING_PREPARED) == 0)
			continue;
		status = restore_locks_of(f, b, go_on, err);
		n++;
	}
	tell_backends_of_tables(f);
	if (status == WC_OK && !wc_engine_has_small_limit(f->engine))
		wc_claims_open(f->log.claims, wc_flight_generation(f->log.flight));
	if (n > 0)
		wc_log(WC_LOG_INFO, "took the row locks of %" PRIu64 " prepared transactions again", n);
	return status;
}

WcStatus
wc_intake_step(WcIntake *f, const WcLogRecord *step, uint64_t position, WcError *err)
{
	if (step->store != f->log.store || position <= f->applied)
		return WC_OK;
	return wc_applier_post_step(f->applier, step->bytes, position, err);
}

void
wc_intake_counts(const WcIntake *f, uint64_t *batches, uint64_t *bytes)
{
	*batches = atomic_load_explicit(&f->batches, memory_order_relaxed);
	*bytes = atomic_load_explicit(&f->bytes, memory_order_relaxed);
}

void
wc_intake_reset_counts(WcIntake *f)
{
	atomic_store_explicit(&f->batches, 0, memory_order_relaxed);
	atomic_store_explicit(&f->bytes, 0, memory_order_relaxed);
}

/* --- steps of this engine ------------------------------------------------------*/

static bool
is_cancelled(const atomic_bool *cancel)
{
	return cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed);
}

/* With the mutex locked: waits until the step has been written, or need not be written any more. */
static void
await_writing(WcIntake *f, const StepRequest *request, const atomic_bool *cancel) WC_REQUIRES(f->mutex)
{
	struct timespec until;

	while (!request->done && !f->stop && (request->taken || !is_cancelled(cancel)))
	{
		until = wc_clock_monotonic_after(WC_CANCEL_LOOK_US);
		(void) pthread_cond_timedwait(&f->written, &f->mutex, &until);
	}
}

WcStatus
wc_intake_log_step(void *arg, WcSlice step, const atomic_bool *cancel, WcError *err)
{
	WcIntake   *f = arg;
	StepRequest request = {.step = step};
	StepRequest **link = &f->steps;

	pthread_mutex_lock(&f->mutex);
	while (*link != NULL)
		link = &(*link)->next;
	*link = &request;
	f->log.step.fn(f->log.step.arg);
	await_writing(f, &request, cancel);
	for (link = &f->steps; *link != NULL; link = &(*link)->next)
	{
		if (*link == &request)
		{
			*link = request.next;
			break;
		}
	}
	pthread_mutex_unlock(&f->mutex);
	if (request.done && request.position == 0)
		return wc_error(err, WC_UNSUPPORTED, "cannot flush or compact stored tables during recovery");
	if (request.done && wc_applier_await_step(f->applier, request.position, cancel))
		return WC_OK;
	if (is_cancelled(cancel))
		return wc_error(err, WC_CANCELLED, "compaction was cancelled");
	return wc_error(err, WC_SHUTDOWN, "the engine is stopping");
}

bool
wc_intake_next_step(WcIntake *f, WcSlice *step)
{
	bool		found;

	pthread_mutex_lock(&f->mutex);
	found = f->steps != NULL && !f->stop;
	if (found)
	{
		*step = f->steps->step;
		f->steps->taken = true;
	}
	pthread_mutex_unlock(&f->mutex);
	return found;
}

void
wc_intake_step_written(WcIntake *f, uint64_t position)
{
	pthread_mutex_lock(&f->mutex);
	if (f->steps != NULL)
	{
		StepRequest *first = f->steps;

		f->steps = first->next;
		first->next = NULL;
		first->position = position;
		first->done = true;
	}
	pthread_cond_broadcast(&f->written);
	pthread_mutex_unlock(&f->mutex);
}

void
wc_intake_stop(WcIntake *f)
{
	wc_claims_shut(f->log.claims);
	pthread_mutex_lock(&f->mutex);
	f->stop = true;
	pthread_cond_broadcast(&f->written);
	pthread_mutex_unlock(&f->mutex);
}

WcStatus
wc_intake_mark(WcIntake *f, uint64_t read_from, WcError *err)
{
	WcPendingMark mark;
	WcStatus	status = wc_pending_mark(f->pending, &mark, err);

	if (status == WC_OK)
		status = wc_applier_post_mark(f->applier, read_from, &mark, err);
	if (status == WC_OK)
		wc_pending_marked(f->pending);
	return status;
}
