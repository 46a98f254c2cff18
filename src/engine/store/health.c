/*
 * engine/store/health.c: whether the store takes writes, and getting it to take them again.
 */
#include "engine/store/health.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "engine/store/state.h"

/* The pause before the first attempt to resume; each next one is twice as long. */
#define PAUSE_FIRST_MS 50
#define PAUSE_MAX_MS 3000

/* Resuming is given up when RocksDB has not flushed and not compacted for so long, though it has not ended; the
 * shorter time is that of the store's end. */
#define STUCK_MS 10000
#define STUCK_AT_END_MS 1000
#define LOOK_MS 100

/* So much must fit on the disk before that: the store is read until it is closed, and might not be opened again. */
#define ROOM_BYTES (4 * 1024 * 1024)

#define LARGE_BATCH (256 * 1024)

/* The catalog never has it. */
#define NO_KEY "none"

void
wc_health_init(WcHealth *h, WcEngine *engine)
{
	pthread_condattr_t attr;

	h->engine = engine;
	pthread_mutex_init(&h->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&h->changed, &attr);
	pthread_condattr_destroy(&attr);
}

void
wc_health_free(WcHealth *h)
{
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->mutex);
}

/* --- reports of RocksDB, on any thread ------------------------------------ */

/* Keeps the text without its trailing full stop. */
static void
keep_text(WcHealth *h, WcRocksWork work, const char *family, const char *text) WC_REQUIRES(h->mutex)
{
	size_t		len;

	h->work = work;
	snprintf(h->family, sizeof(h->family), "%s", family);
	snprintf(h->text, sizeof(h->text), "%s", text);
	for (len = strlen(h->text); len > 0 && (h->text[len - 1] == '.' || h->text[len - 1] == ' '); len--)
		h->text[len - 1] = '\0';
}

static void
trouble(void *arg, WcRocksHarm harm, WcRocksWork work, const char *family, const char *text)
{
	WcHealth   *h = arg;

	pthread_mutex_lock(&h->mutex);
	if (harm == WC_ROCKS_FAMILY)
		snprintf(h->damaged, sizeof(h->damaged), "%s", family);
	else
	{
		/* later errors follow from the one that has stopped writing */
		if (!h->stopped || (harm == WC_ROCKS_LOST && !h->lost))
			keep_text(h, work, family, text);
		h->stopped = true;
		h->lost |= harm == WC_ROCKS_LOST;
		h->count++;
	}
	pthread_cond_signal(&h->changed);
	pthread_mutex_unlock(&h->mutex);
	if (harm == WC_ROCKS_LOST)
		wc_log(WC_LOG_ERROR, "storage engine takes no writes until it starts again: %s", text);
}

void
wc_health_watch(WcHealth *h, rocksdb_options_t *options)
{
	wc_rocksplus_watch(options, trouble, h);
}

/* --- telling --------------------------------------------------------------*/

/* The text returned may be in buf. */
static const char *
work_text(WcHealth *h, WcRocksWork work, const char *family, char *buf, size_t size)
{
	char		name[WC_STORE_TEXT_MAX];

	switch (work)
	{
		case WC_ROCKS_LOG:
			return "writing its log";
		case WC_ROCKS_MEMTABLE:
			return "writing to memory";
		case WC_ROCKS_MANIFEST:
			return "writing its list of files";
		case WC_ROCKS_FLUSH:
		case WC_ROCKS_COMPACTION:
			break;
	}
	snprintf(buf, size, "%s %s", work == WC_ROCKS_FLUSH ? "flushing" : "compacting",
			 wc_store_cf_text(h->engine, family, name, sizeof(name)));
	return buf;
}

static WcStatus
stopped_status(WcHealth *h, const char *what, WcError *err)
{
	char		buf[WC_STORE_TEXT_MAX + 16];
	char		family[WC_CF_NAME_MAX];
	char		text[WC_ERROR_TEXT_MAX];
	WcRocksWork work;
	WcStatus	status;
	bool		lost;

	pthread_mutex_lock(&h->mutex);
	work = h->work;
	lost = h->lost;
	memcpy(family, h->family, sizeof(family));
	memcpy(text, h->text, sizeof(text));
	pthread_mutex_unlock(&h->mutex);

	status = wc_rocks_text_status(text, what, err);
	wc_error_detail(err, "Nothing can be written since %s failed: %s.", work_text(h, work, family, buf, sizeof(buf)), text);
	if (lost)
		wc_error_hint(err, "The widecol engine starts again by itself; try again then.");
	return status;
}

WcStatus
wc_health_check(WcHealth *h, const char *what, WcError *err)
{
	bool		stopped;

	pthread_mutex_lock(&h->mutex);
	stopped = h->stopped;
	pthread_mutex_unlock(&h->mutex);
	return stopped ? stopped_status(h, what, err) : WC_OK;
}

/* RocksDB has taken no write, though it should: it was resumed too early. */
static void
note_refusal(WcHealth *h, WcStatus status, const char *text)
{
	if (status != WC_IO && status != WC_NO_SPACE && status != WC_NO_FILES)
		return;
	pthread_mutex_lock(&h->mutex);
	if (!h->stopped)
	{
		h->stopped = true;
		h->count++;
		keep_text(h, WC_ROCKS_LOG, "", text);
		pthread_cond_signal(&h->changed);
	}
	pthread_mutex_unlock(&h->mutex);
}

/*
 * A write that runs out of memory in the middle ends all writing until the store is opened
 * again.  So a large write does not begin if there is no memory for the copy of its batch in the memtables.
 */
static bool
has_memory_for(const rocksdb_writebatch_t *batch)
{
	size_t		size;
	void	   *volatile p;		/* or the compiler leaves both calls out */

	(void) rocksdb_writebatch_data((rocksdb_writebatch_t *) batch, &size);
	if (size < LARGE_BATCH)
		return true;
	p = malloc(size + size / 2);
	free(p);
	return p != NULL;
}

WcStatus
wc_health_write(WcHealth *h, const rocksdb_writeoptions_t *options, rocksdb_writebatch_t *batch, const char *what,
				WcError *err)
{
	WcStatus	status = wc_health_check(h, what, err);
	char	   *error;
	bool		thrown;

	if (status != WC_OK)
		return status;
	if (rocksdb_writebatch_count(batch) == 0 || !has_memory_for(batch))
		return wc_rocks_text_status("Operation aborted: Memory limit reached", what, err);
	error = wc_rocks_write(h->engine->db, options, batch, &thrown);
	if (thrown)
		trouble(h, WC_ROCKS_LOST, WC_ROCKS_MEMTABLE, "", error);
	if (error == NULL)
		return WC_OK;
	status = wc_rocks_text_status(error, what, err);
	note_refusal(h, status, error);
	rocksdb_free(error);
	return status;
}

/*
 * After it was resumed, RocksDB 7.8 reserves no numbers for files that it is to take in, and reports no error: its
 * assertions end the process then.
 */
static bool
cannot_take_in(const WcHealth *h) WC_REQUIRES(h->mutex)
{
	return h->resumed && !wc_rocksplus_takes_in_when_resumed();
}

static bool
begin_change(WcHealth *h, bool takes_in)
{
	bool		begun;

	pthread_mutex_lock(&h->mutex);
	begun = !h->stopped && !(takes_in && cannot_take_in(h));
	if (begun)
		h->changes++;
	pthread_mutex_unlock(&h->mutex);
	return begun;
}

WcStatus
wc_health_begin_change(WcHealth *h, const char *what, WcError *err)
{
	return begin_change(h, false) ? WC_OK : stopped_status(h, what, err);
}

void
wc_health_end_change(WcHealth *h)
{
	pthread_mutex_lock(&h->mutex);
	h->changes--;
	pthread_cond_broadcast(&h->changed);
	pthread_mutex_unlock(&h->mutex);
}

WcStatus
wc_health_may_take_in(WcHealth *h, const char *what, WcError *err)
{
	bool		cannot;

	pthread_mutex_lock(&h->mutex);
	cannot = cannot_take_in(h) && !h->stopped;
	if (cannot)
		h->stopped = h->lost = true;
	pthread_mutex_unlock(&h->mutex);
	if (cannot)
		wc_log(WC_LOG_INFO, "storage engine takes no writes until it starts again: RocksDB was resumed, and cannot take in the "
			   "files of a large commit");
	return wc_health_check(h, what, err);
}

WcStatus
wc_health_take_in(WcHealth *h, WcRocksFiles *files, rocksdb_writebatch_t *batch, const char *what, WcError *err)
{
	WcStatus	status;
	char	   *error;

	if (!begin_change(h, true))
		return stopped_status(h, what, err);
	error = wc_rocksfiles_take_in(files, batch);
	wc_health_end_change(h);
	if (error == NULL)
		return WC_OK;
	status = wc_rocks_text_status(error, what, err);
	note_refusal(h, status, error);
	rocksdb_free(error);
	return status;
}

bool
wc_engine_must_restart(WcEngine *engine)
{
	bool		lost;

	pthread_mutex_lock(&engine->health.mutex);
	lost = engine->health.lost;
	pthread_mutex_unlock(&engine->health.mutex);
	return lost;
}

bool
wc_health_was_resumed(WcHealth *h)
{
	bool		resumed;

	pthread_mutex_lock(&h->mutex);
	resumed = h->resumed;
	pthread_mutex_unlock(&h->mutex);
	return resumed;
}

/* --- mending --------------------------------------------------------------*/

/* With the mutex held.  until_set: ends the pause, too; NULL: none. */
static void
pause_ms(WcHealth *h, int ms, const bool *until_set) WC_REQUIRES(h->mutex)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long) ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	while (!h->stop && (until_set == NULL || !*until_set) && pthread_cond_timedwait(&h->changed, &h->mutex, &until) != ETIMEDOUT)
		;
}

static bool
is_troubled(WcHealth *h, uint64_t count)
{
	bool		troubled;

	pthread_mutex_lock(&h->mutex);
	troubled = h->count != count || h->stop || h->lost;
	pthread_mutex_unlock(&h->mutex);
	return troubled;
}

/*
 * RocksDB aborts if it writes to a log again after a write to it has failed.  Resuming begins a new log only if there
 * is a memtable to flush.  So this function writes something into a memtable, without logging it, and flushes the
 * memtable.  If the log is still the old one, the flush fails, and resuming once more finds the memtable.  On success
 * RocksDB's message is NULL.
 *
 * A flush returns before its end once RocksDB 7.8 has been resumed.  If an error comes before
 * RocksDB's thread has begun the flush, the next attempt to resume waits for the flush for
 * ever; so this function waits for the flush's end.  count: the number of errors so far.
 */
static char *
begin_log(WcHealth *h, uint64_t count)
{
	static const struct timespec moment = {0, 1000000};
	rocksdb_writeoptions_t *unlogged = rocksdb_writeoptions_create();
	rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
	char	   *error = NULL;

	rocksdb_writeoptions_disable_WAL(unlogged, 1);
	pthread_mutex_lock(&h->engine->write_mutex);
	rocksdb_delete_cf(h->engine->db, unlogged, h->engine->meta, NO_KEY, strlen(NO_KEY), &error);
	pthread_mutex_unlock(&h->engine->write_mutex);
	if (error == NULL)
		rocksdb_flush_cf(h->engine->db, flush, h->engine->meta, &error);
	while (error == NULL && !is_troubled(h, count) &&
		   wc_rocks_property(h->engine->db, h->engine->meta, "rocksdb.num-immutable-mem-table") > 0)
		nanosleep(&moment, NULL);
	rocksdb_flushoptions_destroy(flush);
	rocksdb_writeoptions_destroy(unlogged);
	return error;
}

/*
 * An empty write shows whether RocksDB takes writes, and tells that the sequence number of begin_log's write, which is not in
 * the log, is no gap (wc_rocksplus_end_at_gaps).
 */
static char *
write_nothing(WcHealth *h)
{
	rocksdb_writebatch_t *nothing = rocksdb_writebatch_create();
	char	   *error = NULL;

	pthread_mutex_lock(&h->engine->write_mutex);
	rocksdb_write(h->engine->db, h->engine->write_options, nothing, &error);
	pthread_mutex_unlock(&h->engine->write_mutex);
	rocksdb_writebatch_destroy(nothing);
	return error;
}

/*
 * RocksDB reports errors before it records them, so that resuming may come too early and find nothing to do. count as above.
 *
 * Two new logs.  A family whose memtable was full before the error, and which was not written to since, still begins with the
 * log to which a write has failed: only a new log behind one with writes changes that.  If that log has no other write, it is
 * empty, and reading would end behind it when the store is opened again (wc_rocksplus_end_at_gaps).
 */
static bool
try_resume(WcHealth *h, uint64_t count)
{
	char	   *error = wc_rocksplus_resume(h->engine->db);

	for (int i = 0; error == NULL && i < 2; i++)
	{
		error = begin_log(h, count);
		if (error == NULL)
			error = write_nothing(h);
	}
	wc_rocksplus_set_quiet(error != NULL);
	rocksdb_free(error);
	return error == NULL;
}

/* One attempt to resume, on a thread of its own. */
typedef struct Attempt
{
	WcHealth   *h;
	uint64_t	count;
	bool		resumed;
	bool		done;			/* guarded by the mutex */
} Attempt;

static void *
attempt_main(void *arg)
{
	Attempt    *a = arg;

	a->resumed = try_resume(a->h, a->count);
	pthread_mutex_lock(&a->h->mutex);
	a->done = true;
	pthread_cond_broadcast(&a->h->changed);
	pthread_mutex_unlock(&a->h->mutex);
	return NULL;
}

static bool
works_on_files(WcHealth *h)
{
	return wc_rocks_property(h->engine->db, h->engine->meta, "rocksdb.num-running-flushes") > 0 ||
		wc_rocks_property(h->engine->db, h->engine->meta, "rocksdb.num-running-compactions") > 0;
}

static bool
disk_takes_writes(WcHealth *h)
{
	char		path[WC_PATH_MAX];
	char	   *bytes;
	bool		taken;
	WcError		err;

	if (wc_file_join(path, h->engine->spill.directory, "probe", &err) != WC_OK || (bytes = malloc(ROOM_BYTES)) == NULL)
		return false;
	memset(bytes, 'x', ROOM_BYTES - 1);
	bytes[ROOM_BYTES - 1] = '\0';
	taken = wc_file_replace_text(path, bytes, &err) == WC_OK;
	free(bytes);
	(void) unlink(path);
	return taken;
}

/* False: the attempt does not end. */
static bool
await_attempt(WcHealth *h, const Attempt *a)
{
	static const struct timespec look = {0, LOOK_MS * 1000000L};
	int			idle_ms = 0;
	bool		done;

	pthread_mutex_lock(&h->mutex);
	pause_ms(h, PAUSE_FIRST_MS, &a->done);
	for (;;)
	{
		bool		stop = h->stop;

		done = a->done;
		pthread_mutex_unlock(&h->mutex);
		if (done || (stop && idle_ms >= STUCK_AT_END_MS))
			return done;
		if (idle_ms >= STUCK_MS && disk_takes_writes(h))
			return false;
		if (idle_ms >= STUCK_MS)
			idle_ms = 0;
		nanosleep(&look, NULL);
		idle_ms = works_on_files(h) ? 0 : idle_ms + LOOK_MS;
		pthread_mutex_lock(&h->mutex);
	}
}

/*
 * RocksDB 7.8 may wait for ever while it is resumed: if the error came when a flush was scheduled and RocksDB's thread had
 * not begun it, the thread leaves the flush in its queue, and resuming waits for it.  No other thread takes it up.  Then
 * RocksDB is told that it is being closed, which ends the wait, and the store must be opened again.
 */
static bool
resumed_in_time(WcHealth *h, uint64_t count)
{
	Attempt		a = {.h = h,.count = count};
	pthread_t	thread;

	if (wc_thread_start(&thread, 0, attempt_main, &a) != 0)
		return false;
	if (!await_attempt(h, &a))
	{
		pthread_mutex_lock(&h->mutex);
		h->lost = true;
		pthread_mutex_unlock(&h->mutex);
		wc_log(WC_LOG_ERROR, "storage engine takes no writes until it starts again: RocksDB cannot be resumed");
		rocksdb_cancel_all_background_work(h->engine->db, 0);
	}
	pthread_join(thread, NULL);
	return a.resumed;
}

/* Called with the mutex locked; unlocks it meanwhile. */
static void
resume(WcHealth *h) WC_REQUIRES(h->mutex)
{
	char		buf[WC_STORE_TEXT_MAX + 16];
	char		family[WC_CF_NAME_MAX];
	char		text[WC_ERROR_TEXT_MAX];
	WcRocksWork work = h->work;
	int			pause = PAUSE_FIRST_MS;

	memcpy(family, h->family, sizeof(family));
	memcpy(text, h->text, sizeof(text));
	pthread_mutex_unlock(&h->mutex);
	wc_log(WC_LOG_ERROR, "storage engine takes no writes since %s failed: %s; this is tried again until it succeeds",
		   work_text(h, work, family, buf, sizeof(buf)), text);
	pthread_mutex_lock(&h->mutex);
	while (h->stopped && !h->lost && !h->stop)
	{
		uint64_t	count;
		bool		resumed;

		pause_ms(h, pause, NULL);
		pause = 2 * pause < PAUSE_MAX_MS ? 2 * pause : PAUSE_MAX_MS;
		while (h->changes > 0)
			pthread_cond_wait(&h->changed, &h->mutex);
		h->resumed = true;
		count = h->count;
		pthread_mutex_unlock(&h->mutex);
		resumed = resumed_in_time(h, count);
		pthread_mutex_lock(&h->mutex);
		if (resumed && h->count == count && !h->lost)
		{
			h->stopped = false;
			wc_log(WC_LOG_INFO, "storage engine takes writes again");
		}
	}
	wc_rocksplus_set_quiet(false);
}

/*
 * Turns compactions of the family off.  Else RocksDB would try again each second, fail each time, and at last refuse
 * writes to all families, since this one has too many files; without compactions there is no such limit.  Called with
 * the mutex locked; unlocks it meanwhile.
 */
static void
spare_damaged(WcHealth *h) WC_REQUIRES(h->mutex)
{
	static const char *const key = "disable_auto_compactions";
	static const char *const value = "true";
	char		name[WC_STORE_TEXT_MAX];
	char		family[WC_CF_NAME_MAX];
	WcStore    *store;
	char	   *error = NULL;
	WcError		err;

	memcpy(family, h->damaged, sizeof(family));
	h->damaged[0] = '\0';
	pthread_mutex_unlock(&h->mutex);
	store = wc_store_of_cf(h->engine, family);
	wc_log(WC_LOG_ERROR, "%s has a damaged file (see above) and is not compacted any more until widecol starts again: "
		   "save what can be read of it and make the table anew", wc_store_cf_text(h->engine, family, name, sizeof(name)));
	if (store != NULL)
		rocksdb_set_options_cf(h->engine->db, store->cf, 1, &key, &value, &error);
	if (wc_rocks_status(error, "stop compactions of a damaged family", &err) != WC_OK)
		wc_log(WC_LOG_ERROR, "%s: %s", err.message, err.detail);
	wc_store_unref(store);
	pthread_mutex_lock(&h->mutex);
}

static void *
mender_main(void *arg)
{
	WcHealth   *h = arg;

	pthread_mutex_lock(&h->mutex);
	while (!h->stop)
	{
		if (h->damaged[0] != '\0')
			spare_damaged(h);
		else if (h->stopped && !h->lost)
			resume(h);
		else
			pthread_cond_wait(&h->changed, &h->mutex);
	}
	pthread_mutex_unlock(&h->mutex);
	return NULL;
}

WcStatus
wc_health_start(WcHealth *h, WcError *err)
{
	int			rc = wc_thread_start(&h->mender, 0, mender_main, h);

	if (rc != 0)
		return wc_error(err, WC_IO, "could not make a thread of the storage engine: %s", strerror(rc));
	h->mending = true;
	return WC_OK;
}

void
wc_health_end(WcHealth *h)
{
	if (!h->mending)
		return;
	pthread_mutex_lock(&h->mutex);
	h->stop = true;
	pthread_cond_signal(&h->changed);
	pthread_mutex_unlock(&h->mutex);
	pthread_join(h->mender, NULL);
	h->mending = false;
}
