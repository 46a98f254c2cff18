/*
 * engine/store/counts.c: counters of the engine, and of each store.
 */
#include "engine/store/counts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/store/state.h"

static inline void
add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static inline uint64_t
get(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline void
set(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, n, memory_order_relaxed);
}

/* --- stores ------------------------------------------------------------------*/

/* Threads take turns, once each. */
static unsigned
my_shard(void)
{
	static atomic_uint next;
	static _Thread_local unsigned mine;	/* from 1; 0: none yet */

	if (mine == 0)
		mine = 1 + atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % WC_COUNT_SHARDS;
	return mine - 1;
}

void
wc_storecounts_read(WcStoreCounts *counts, const WcReadCounts *news)
{
	const uint64_t *numbers = (const uint64_t *) news;
	_Atomic uint64_t *to = counts->read[my_shard()];

	for (size_t i = 0; i < WC_READ_NUMBERS; i++)
	{
		if (numbers[i] > 0)
			add(&to[i], numbers[i]);
	}
}

void
wc_storecounts_written(WcStoreCounts *counts, const WcWriteCounts *news)
{
	add(&counts->cells_written, news->cells);
	add(&counts->deletes, news->deletes);
	add(&counts->bytes_written, news->bytes);
}

void
wc_storecounts_get(const WcStoreCounts *counts, WcFamilyStatistics *to)
{
	WcReadCounts sum = {0};
	uint64_t   *numbers = (uint64_t *) &sum;

	for (size_t shard = 0; shard < WC_COUNT_SHARDS; shard++)
	{
		for (size_t i = 0; i < WC_READ_NUMBERS; i++)
			numbers[i] += get(&counts->read[shard][i]);
	}
	to->reads = sum.reads;
	to->rows_examined = sum.rows_examined;
	to->rows_returned = sum.rows_returned;
	to->cells_examined = sum.cells_examined;
	to->cells_returned = sum.cells_returned;
	to->cells_written = get(&counts->cells_written);
	to->deletes = get(&counts->deletes);
	to->bytes_written = get(&counts->bytes_written);
	to->flushes = get(&counts->flushes);
	to->flush_us = get(&counts->flush_us);
	to->compactions = get(&counts->compactions);
	to->compaction_us = get(&counts->compaction_us);
}

/* When a store was last flushed and compacted is no count. */
void
wc_storecounts_reset(WcStoreCounts *counts)
{
	for (size_t shard = 0; shard < WC_COUNT_SHARDS; shard++)
	{
		for (size_t i = 0; i < WC_READ_NUMBERS; i++)
			set(&counts->read[shard][i], 0);
	}
	set(&counts->cells_written, 0);
	set(&counts->deletes, 0);
	set(&counts->bytes_written, 0);
	set(&counts->flushes, 0);
	set(&counts->compactions, 0);
}

void
wc_storecounts_set(WcStoreCounts *counts, const WcFamilyStatistics *from)
{
	const WcReadCounts sum = {
		.reads = from->reads,.rows_examined = from->rows_examined,.rows_returned = from->rows_returned,
		.cells_examined = from->cells_examined,.cells_returned = from->cells_returned
	};

	wc_storecounts_reset(counts);
	wc_storecounts_read(counts, &sum);
	set(&counts->cells_written, from->cells_written);
	set(&counts->deletes, from->deletes);
	set(&counts->bytes_written, from->bytes_written);
	set(&counts->flushes, from->flushes);
	set(&counts->flush_us, from->flush_us);
	set(&counts->compactions, from->compactions);
	set(&counts->compaction_us, from->compaction_us);
}

/* --- the engine --------------------------------------------------------------*/

void
wc_counts_init(WcEngineCounts *counts)
{
	pthread_mutex_init(&counts->mutex, NULL);
	counts->started_us = (uint64_t) wc_clock_wall_us();
	set(&counts->reset_us, counts->started_us);
}

void
wc_counts_free(WcEngineCounts *counts)
{
	pthread_mutex_destroy(&counts->mutex);
}

/* A counter, and its place among the engine's numbers. */
typedef struct Counter
{
	size_t		counter;		/* offset in WcEngineCounts */
	size_t		number;			/* offset in WcEngineStatistics */
} Counter;

#define COUNTER(name) {offsetof(WcEngineCounts, name), offsetof(WcEngineStatistics, name)}

static const Counter counters[] = {
	COUNTER(commits), COUNTER(operations), COUNTER(steps), COUNTER(flushes), COUNTER(flushed_bytes), COUNTER(compactions),
	COUNTER(compacted_bytes), COUNTER(stalls), COUNTER(requests), COUNTER(blocks_hit), COUNTER(blocks_read),
	COUNTER(batches), COUNTER(logged_bytes), COUNTER(get_hits), COUNTER(get_misses), COUNTER(reset_us)
};

#define NCOUNTERS (sizeof(counters) / sizeof(counters[0]))

static _Atomic uint64_t *
counter_at(WcEngineCounts *counts, size_t i)
{
	return (_Atomic uint64_t *) ((char *) counts + counters[i].counter);
}

void
wc_counts_reset(WcEngineCounts *counts, int64_t now_us)
{
	for (size_t i = 0; i < NCOUNTERS; i++)
		set(counter_at(counts, i), 0);
	set(&counts->reset_us, (uint64_t) now_us);
}

void
wc_counts_get(const WcEngineCounts *counts, WcEngineStatistics *to)
{
	for (size_t i = 0; i < NCOUNTERS; i++)
		*(uint64_t *) ((char *) to + counters[i].number) = get(counter_at((WcEngineCounts *) counts, i));
	to->started_us = counts->started_us;
	to->applied_us = get(&counts->applied_us);
}

void
wc_counts_set(WcEngineCounts *counts, const WcEngineStatistics *from)
{
	for (size_t i = 0; i < NCOUNTERS; i++)
		set(counter_at(counts, i), *(const uint64_t *) ((const char *) from + counters[i].number));
}

void
wc_counts_add_use(WcEngineCounts *counts, const WcUseCounts *use)
{
	add(&counts->requests, use->requests);
	add(&counts->blocks_hit, use->blocks_hit);
	add(&counts->blocks_read, use->blocks_read);
	add(&counts->batches, use->batches);
	add(&counts->logged_bytes, use->logged_bytes);
	add(&counts->get_hits, use->get_hits);
	add(&counts->get_misses, use->get_misses);
}

void
wc_counts_commit(WcEngineCounts *counts, uint64_t operations, int64_t time_us)
{
	add(&counts->commits, 1);
	add(&counts->operations, operations);
	set(&counts->applied_us, (uint64_t) time_us);
}

void
wc_counts_step(WcEngineCounts *counts)
{
	add(&counts->steps, 1);
}

/* --- RocksDB's work, counted on its threads -----------------------------------------*/

/* With the mutex held: the entry of a thread, or a free one (NULL: there is none). */
static WcRocksRunning *
entry_of(WcEngineCounts *counts, uint64_t thread) WC_REQUIRES(counts->mutex)
{
	WcRocksRunning *free_one = NULL;

	for (size_t i = 0; i < WC_ROCKS_RUNNING_MAX; i++)
	{
		WcRocksRunning *r = &counts->running[i];

		if (r->thread == thread)
			return r;
		if (r->thread == 0 && free_one == NULL)
			free_one = r;
	}
	return free_one;
}

static void
note_begin(WcEngineCounts *counts, const WcRocksJob *job)
{
	WcRocksRunning *r;

	pthread_mutex_lock(&counts->mutex);
	r = entry_of(counts, job->thread);
	if (r != NULL)
	{
		*r = (WcRocksRunning) {
			.thread = job->thread,.flush = job->flush,.since_us = (uint64_t) wc_clock_wall_us(),.bytes = job->bytes
		};
		snprintf(r->family, sizeof(r->family), "%s", job->family);
	}
	pthread_mutex_unlock(&counts->mutex);
}

static void
count_store(WcStoreCounts *counts, bool flush)
{
	add(flush ? &counts->flushes : &counts->compactions, 1);
	set(flush ? &counts->flush_us : &counts->compaction_us, (uint64_t) wc_clock_wall_us());
}

static void
note_end(WcEngine *engine, const WcRocksJob *job)
{
	WcEngineCounts *counts = &engine->counts;
	WcStore    *store = NULL;
	WcRocksRunning *r;

	add(job->flush ? &counts->flushes : &counts->compactions, 1);
	add(job->flush ? &counts->flushed_bytes : &counts->compacted_bytes, job->bytes);
	pthread_mutex_lock(&counts->mutex);
	r = entry_of(counts, job->thread);
	if (r != NULL)
		r->thread = 0;
	if (counts->open)
		store = wc_store_of_cf(engine, job->family);
	if (store != NULL)
		count_store(&store->counts, job->flush);
	pthread_mutex_unlock(&counts->mutex);
	wc_store_unref(store);
}

static void
on_job(void *arg, const WcRocksJob *job)
{
	WcEngine   *engine = arg;

	if (job->begins)
		note_begin(&engine->counts, job);
	else
		note_end(engine, job);
}

static void
on_stall(void *arg, bool was, bool is)
{
	if (is && !was)
		add(&((WcEngine *) arg)->counts.stalls, 1);
}

void
wc_counts_watch(WcEngine *engine, rocksdb_options_t *options)
{
	wc_rocksplus_count(options, on_job, on_stall, engine);
}

static void
set_open(WcEngineCounts *counts, bool open)
{
	pthread_mutex_lock(&counts->mutex);
	counts->open = open;
	pthread_mutex_unlock(&counts->mutex);
}

void
wc_counts_open(WcEngineCounts *counts)
{
	set_open(counts, true);
}

void
wc_counts_close(WcEngineCounts *counts)
{
	set_open(counts, false);
}

size_t
wc_counts_running(WcEngineCounts *counts, WcRocksRunning *to)
{
	size_t		n = 0;

	pthread_mutex_lock(&counts->mutex);
	for (size_t i = 0; i < WC_ROCKS_RUNNING_MAX; i++)
	{
		if (counts->running[i].thread != 0)
			to[n++] = counts->running[i];
	}
	pthread_mutex_unlock(&counts->mutex);
	return n;
}

/* --- work that takes long -----------------------------------------------------------*/

void
wc_running_begin(WcRunning *work, WcStore *store, WcProgressKind kind, uint32_t pid)
{
	WcEngineCounts *counts = &store->engine->counts;

	memset(work, 0, sizeof(*work));
	work->store = store;
	work->kind = kind;
	work->pid = pid;
	work->since_us = (uint64_t) wc_clock_wall_us();
	pthread_mutex_lock(&counts->mutex);
	work->next = counts->works;
	work->link = &counts->works;
	if (work->next != NULL)
		work->next->link = &work->next;
	counts->works = work;
	pthread_mutex_unlock(&counts->mutex);
}

void
wc_running_end(WcRunning *work)
{
	WcEngineCounts *counts;

	if (work == NULL)
		return;
	counts = &work->store->engine->counts;
	pthread_mutex_lock(&counts->mutex);
	*work->link = work->next;
	if (work->next != NULL)
		work->next->link = work->link;
	pthread_mutex_unlock(&counts->mutex);
}

void
wc_running_phase(WcRunning *work, WcProgressPhase phase, uint64_t total)
{
	if (work == NULL)
		return;
	set(&work->done, 0);
	set(&work->total, total);
	set(&work->phase, phase);
}

void
wc_running_done(WcRunning *work, uint64_t n)
{
	if (work != NULL)
		add(&work->done, n);
}

void
wc_running_each(WcEngineCounts *counts, void (*fn) (void *arg, const WcRunning *work), void *arg)
{
	pthread_mutex_lock(&counts->mutex);
	for (const WcRunning *work = counts->works; work != NULL; work = work->next)
		fn(arg, work);
	pthread_mutex_unlock(&counts->mutex);
}
