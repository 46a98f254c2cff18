/*
 * engine/work.c: flushes and compactions that were asked for.
 */
#include "engine/work.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/catalog/catalog.h"
#include "engine/store/files.h"
#include "engine/store/state.h"
#include "engine/write/step.h"

typedef struct Task
{
	struct Task *next;
	WcWork		work;
	uint32_t	database;
	int64_t		clock_offset_us;
	bool		running;
} Task;

struct WcWorkers
{
	WcEngine   *engine;
	WcMutex		mutex;			/* guards the rest; nothing else is locked while it is held */
	pthread_cond_t more;		/* a task waits, or stop */
	Task	   *tasks WC_GUARDED_BY(&mutex); /* the running ones and the waiting ones, oldest first */
	size_t		nwaiting WC_GUARDED_BY(&mutex);
	bool		thread_made WC_GUARDED_BY(&mutex);
	pthread_t	thread;
	atomic_bool stop;
};

/* --- doing it -------------------------------------------------------------------*/

static WcStatus
check_cancel(const WcReadPoint *at, WcError *err)
{
	if (at->cancel != NULL && atomic_load(at->cancel))
		return wc_error(err, WC_CANCELLED, "compaction was cancelled");
	return WC_OK;
}

static int64_t
clock_of(const WcStore *store, const WcReadPoint *at)
{
	return wc_engine_now_us(store->engine) + at->clock_offset_us;
}

/* The steps of a flush or a compaction. */
static WcStatus
run_pass(WcStore *store, WcRunning *running, WcPassOptions *options, WcError *err)
{
	WcPass	   *pass;
	WcStatus	status;

	wc_running_phase(running, WC_PHASE_FORGET, wc_rocks_property(store->engine->db, store->cf, "rocksdb.estimate-num-keys"));
	options->running = running;
	status = wc_pass_create(store, options, &pass, err);
	if (status == WC_OK)
		status = wc_step_apply_all(store->engine, pass, options->cancel, err);
	wc_pass_free(pass);
	return status;
}

/* As HBase's flush: cells that other cells of the memstore supersede are not written.  In packing row, writes drop such
 * cells already. */
static WcStatus
flush_store(WcStore *store, const WcReadPoint *at, WcError *err)
{
	WcMarks		marks = wc_marks(store);
	WcPassOptions options = {
		.kind = WC_STEP_FLUSH,.from_ts = marks.flushed_ts,.until_ts = store->engine->last_ts,
		.dated_until_ts = INT64_MAX,.now_us = clock_of(store, at),.cancel = at->cancel
	};
	WcRunning	running;
	WcStatus	status = wc_files_check(store, "flush", err);

	wc_running_begin(&running, store, WC_PROGRESS_FLUSH, at->pid);
	if (status == WC_OK && store->packing == WC_PACKING_CELL && options.from_ts < options.until_ts)
		status = run_pass(store, &running, &options, err);
	wc_running_phase(&running, WC_PHASE_FLUSH, 0);
	if (status == WC_OK)
		status = wc_files_flush(store, at->cancel, err);
	wc_running_end(&running);
	if (status == WC_OK)
	{
		atomic_store(&store->flushed_superseded, marks.superseded);
		atomic_store(&store->flushed_dated, marks.dated);
	}
	return status;
}

/* Compacts the files of the whole store. */
static WcStatus
compact_files(WcStore *store, WcRunning *running, const WcReadPoint *at, WcError *err)
{
	WcSwept		swept;
	bool		taken = wc_store_take_swept(store, &swept); /* upkeep need not compact a part of the same files once more */
	WcStatus	status;

	wc_running_phase(running, WC_PHASE_FLUSH, 0);
	status = wc_files_flush(store, at->cancel, err);
	if (status == WC_OK)
		status = wc_files_compact(store, wc_slice(NULL, 0), wc_slice(NULL, 0), NULL, running, at->cancel, err);
	if (taken && status == WC_OK)
		wc_swept_free(&swept);
	else if (taken)
		wc_store_return_swept(store, &swept);
	return status;
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* HBase's compactions read files, not the memstore: only cells that have been flushed. */
static WcStatus
compact_store(WcStore *store, bool major, const WcReadPoint *at, WcError *err)
{
	bool		cells = store->packing == WC_PACKING_CELL;
	WcMarks		marks = wc_marks(store);
	WcPassOptions options = {
		.kind = major ? WC_STEP_MAJOR : WC_STEP_COMPACT,.until_ts = cells ? marks.flushed_ts : INT64_MAX,
		.dated_until_ts = INT64_MAX,.now_us = clock_of(store, at),.cancel = at->cancel,.look_for_earliest_put = true
	};
	WcRunning	running;
	WcStatus	status = wc_files_check(store, "compact", err);

	wc_running_begin(&running, store, major ? WC_PROGRESS_MAJOR_COMPACTION : WC_PROGRESS_COMPACTION, at->pid);
	if (major)
	{
		/* the pass deals with all key-values that the marks count; in packing cell with those that were flushed */
		options.superseded = cells ? smaller(atomic_exchange(&store->flushed_superseded, 0), marks.superseded) : marks.superseded;
		options.dated = cells ? smaller(atomic_exchange(&store->flushed_dated, 0), marks.dated) : marks.dated;
	}
	if (status == WC_OK)
		status = run_pass(store, &running, &options, err);
	if (status == WC_OK)
		status = compact_files(store, &running, at, err);
	wc_running_end(&running);
	return status;
}

/* To each store of a table, or one of them, that has a column family. */
static WcStatus
do_work(WcEngine *engine, const WcWork *work, const WcReadPoint *at, WcError *err)
{
	WcTable    *table;
	bool		hidden;
	WcStatus	status = wc_catalog_open_table(engine, at, work->table_id, &table, &hidden, err);

	if (status != WC_OK)
		return status;
	for (uint32_t i = 0; status == WC_OK && i < table->desc.nfamilies; i++)
	{
		WcStore    *store = table->stores[i];

		if (store->cf == NULL || (work->family_id != 0 && store->family_id != work->family_id))
			continue;
		status = check_cancel(at, err);
		if (status == WC_OK)
			status = work->kind == WC_WORK_FLUSH ? flush_store(store, at, err) :
				compact_store(store, work->kind == WC_WORK_MAJOR, at, err);
	}
	wc_table_unref(table);
	return status;
}

/* --- tasks ------------------------------------------------------------------------*/

static bool
same_work(const WcWork *a, const WcWork *b)
{
	return a->kind == b->kind && a->table_id == b->table_id && a->family_id == b->family_id;
}

static void
append(WcWorkers *w, Task *task) WC_REQUIRES(w->mutex)
{
	Task	  **end = &w->tasks;

	while (*end != NULL)
		end = &(*end)->next;
	task->next = NULL;
	*end = task;
}

static void
take_out(WcWorkers *w, Task *task) WC_REQUIRES(w->mutex)
{
	Task	  **t = &w->tasks;

	while (*t != task)
		t = &(*t)->next;
	*t = task->next;
}

WcStatus
wc_engine_work(WcEngine *engine, const WcWork *work, const WcReadPoint *at, WcError *err)
{
	WcWorkers  *w = engine->workers;
	Task		task = {.work = *work,.running = true};
	WcStatus	status;

	pthread_mutex_lock(&w->mutex);
	append(w, &task);
	pthread_mutex_unlock(&w->mutex);
	status = do_work(engine, work, at, err);
	pthread_mutex_lock(&w->mutex);
	take_out(w, &task);
	pthread_mutex_unlock(&w->mutex);
	return status;
}

WcStatus
wc_engine_flush(WcEngine *engine, uint32_t table_id, const WcReadPoint *at, WcError *err)
{
	WcWork		work = {.kind = WC_WORK_FLUSH,.table_id = table_id};

	return wc_engine_work(engine, &work, at, err);
}

WcStatus
wc_engine_compact(WcEngine *engine, uint32_t table_id, bool major, const WcReadPoint *at, WcError *err)
{
	WcWork		work = {.kind = major ? WC_WORK_MAJOR : WC_WORK_COMPACT,.table_id = table_id};

	return wc_engine_work(engine, &work, at, err);
}

void
wc_engine_compacting(WcEngine *engine, uint32_t table_id, bool *minor, bool *major)
{
	WcWorkers  *w = engine->workers;

	*minor = *major = false;
	pthread_mutex_lock(&w->mutex);
	for (const Task *t = w->tasks; t != NULL; t = t->next)
	{
		if (t->work.table_id != table_id)
			continue;
		*minor |= t->work.kind == WC_WORK_COMPACT;
		*major |= t->work.kind == WC_WORK_MAJOR;
	}
	pthread_mutex_unlock(&w->mutex);
}

/* --- the thread ---------------------------------------------------------------------*/

/* Takes the oldest waiting task; NULL: the thread must end. */
static Task *
next_task(WcWorkers *w)
{
	Task	   *task = NULL;

	pthread_mutex_lock(&w->mutex);
	while (!atomic_load(&w->stop))
	{
		for (task = w->tasks; task != NULL && task->running; task = task->next)
			;
		if (task != NULL)
			break;
		pthread_cond_wait(&w->more, &w->mutex);
	}
	if (atomic_load(&w->stop))
		task = NULL;
	if (task != NULL)
	{
		task->running = true;
		assert(w->nwaiting > 0);
		w->nwaiting--;
	}
	pthread_mutex_unlock(&w->mutex);
	return task;
}

static void *
worker_main(void *arg)
{
	static const char *const names[] = {"flush", "compaction", "major compaction"};
	WcWorkers  *w = arg;
	Task	   *task;

	while ((task = next_task(w)) != NULL)
	{
		WcReadPoint at = {
			.database = task->database,.clock_offset_us = task->clock_offset_us,.cancel = &w->stop
		};
		WcError		err;
		WcStatus	status = do_work(w->engine, &task->work, &at, &err);

		/* a table that has been dropped meanwhile needs neither; an interrupted task is not logged */
		if (status != WC_OK && status != WC_NO_TABLE && status != WC_SHUTDOWN && !atomic_load(&w->stop))
			wc_log(WC_LOG_WARNING, "a %s that nobody waits for failed: %s%s%s", names[task->work.kind], err.message,
				   err.detail[0] ? ": " : "", err.detail);
		pthread_mutex_lock(&w->mutex);
		take_out(w, task);
		pthread_mutex_unlock(&w->mutex);
		free(task);
	}
	return NULL;
}

/* With the mutex held. */
static WcStatus
make_thread(WcWorkers *w, WcError *err) WC_REQUIRES(w->mutex)
{
	int			rc;

	if (w->thread_made)
		return WC_OK;
	rc = wc_thread_start(&w->thread, 0, worker_main, w);
	if (rc != 0)
		return wc_error(err, WC_IO, "could not make the thread for compactions: %s", strerror(rc));
	w->thread_made = true;
	return WC_OK;
}

/* With the mutex held. */
static bool
waits_already(const WcWorkers *w, const WcWork *work) WC_REQUIRES(w->mutex)
{
	const Task *t = w->tasks;

	while (t != NULL && (t->running || !same_work(&t->work, work)))
		t = t->next;
	return t != NULL;
}

WcStatus
wc_engine_work_later(WcEngine *engine, const WcWork *work, const WcReadPoint *at, WcError *err)
{
	WcWorkers  *w = engine->workers;
	Task	   *task = calloc(1, sizeof(*task));
	WcStatus	status;

	if (task == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a compaction");
	task->work = *work;
	task->database = at->database;
	task->clock_offset_us = at->clock_offset_us;
	pthread_mutex_lock(&w->mutex);
	if (waits_already(w, work))
		status = WC_END;
	else if (w->nwaiting >= WC_WORKS_MAX)
		status = wc_error(err, WC_TOO_LARGE, "%zu flushes and compactions wait already, the limit is %d",
						  w->nwaiting, WC_WORKS_MAX);
	else
		status = make_thread(w, err);
	if (status == WC_OK)
	{
		append(w, task);
		w->nwaiting++;
		pthread_cond_signal(&w->more);
	}
	pthread_mutex_unlock(&w->mutex);
	if (status != WC_OK)
		free(task);
	return status == WC_END ? WC_OK : status;
}

WcWorkers *
wc_workers_create(WcEngine *engine)
{
	WcWorkers  *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->engine = engine;
	pthread_mutex_init(&w->mutex, NULL);
	pthread_cond_init(&w->more, NULL);
	return w;
}

void
wc_workers_free(WcWorkers *w)
{
	bool		made;

	if (w == NULL)
		return;
	pthread_mutex_lock(&w->mutex);
	atomic_store(&w->stop, true);
	made = w->thread_made;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->mutex);
	if (made)
	{
		/* it may be waiting for RocksDB to compact */
		rocksdb_disable_manual_compaction(w->engine->db);
		pthread_join(w->thread, NULL);
	}
	pthread_mutex_lock(&w->mutex);
	while (w->tasks != NULL)
	{
		Task	   *task = w->tasks;

		w->tasks = task->next;
		free(task);
	}
	pthread_mutex_unlock(&w->mutex);
	pthread_cond_destroy(&w->more);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}
