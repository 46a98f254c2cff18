/*
 * engine/forget/history.c: since when a family remembers what it held.
 */
#include "engine/forget/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "engine/forget/compact.h"
#include "engine/forget/historykey.h"
#include "engine/store/state.h"

#define ASK_TRIES 20			/* a millisecond apart */

static WcHistory *
history_of(WcStore *store)
{
	return wc_compaction_history(store->compaction);
}

static inline void
raise_to(int64_t *value, int64_t ts)
{
	if (*value < ts)
		*value = ts;
}

void
wc_history_init(WcHistory *h)
{
	memset(h, 0, sizeof(*h));
	pthread_mutex_init(&h->mutex, NULL);
}

void
wc_history_free(WcHistory *h)
{
	pthread_mutex_destroy(&h->mutex);
}

/*
 * Filters that forget after a delete of a single version forget the present, for
 * which they cannot ask in time: whenever the store was closed, they may have until
 * then, and no snapshot kept them from it.
 */
void
wc_history_load(WcHistory *h, int64_t ts, bool single, int64_t now_us)
{
	pthread_mutex_lock(&h->mutex);
	h->stored = h->granted = ts;
	h->from = ts;
	if (single && now_us >= ts)
		h->from = h->filtered = now_us + 1;
	h->single = h->single_granted = single;
	pthread_mutex_unlock(&h->mutex);
}

/* May files of a compaction still have to take their place? */
static bool
is_compacting(WcEngine *engine)
{
	uint64_t	running;

	return rocksdb_property_int(engine->db, "rocksdb.num-running-compactions", &running) != 0 || running > 0;
}

static bool
is_installing(WcStore *store)
{
	WcHistory  *h = history_of(store);
	bool		ended;

	pthread_mutex_lock(&h->mutex);
	ended = h->ended != 0;
	pthread_mutex_unlock(&h->mutex);
	return ended;
}

/*
 * Whatever a filter dropped may have been seen until now, unless it was found gone
 * before.  A compaction counts as running until its files are in place, so if none is,
 * those whose filters ended before that was asked are.
 */
static void
note_store_installed(WcStore *store)
{
	WcHistory  *h = history_of(store);
	WcEngine   *engine = store->engine;
	bool		compacting;
	uint64_t	epoch;
	int64_t		now;

	if (!is_installing(store))
		return;
	epoch = atomic_fetch_add(&engine->install_epoch, 1);
	compacting = is_compacting(engine);
	now = wc_engine_now(engine);
	pthread_mutex_lock(&h->mutex);
	if (h->single)
	{
		raise_to(&h->from, now + 1);
		raise_to(&h->filtered, now + 1);
	}
	if (!compacting && h->ended <= epoch)
		h->ended = 0;
	pthread_mutex_unlock(&h->mutex);
}

int64_t
wc_history_from(WcStore *store)
{
	WcHistory  *h = history_of(store);
	int64_t		from;

	note_store_installed(store);
	pthread_mutex_lock(&h->mutex);
	from = h->from;
	pthread_mutex_unlock(&h->mutex);
	return from;
}

static inline int64_t
needed(const WcHistory *h, int64_t ts, int64_t seen_until)
{
	return ts > 0 && h->single && seen_until > ts ? seen_until : ts;
}

int64_t
wc_history_needed(WcHistory *h, int64_t ts, int64_t seen_until)
{
	pthread_mutex_lock(&h->mutex);
	ts = needed(h, ts, seen_until);
	pthread_mutex_unlock(&h->mutex);
	return ts;
}

/* --- writing --------------------------------------------------------------*/

/*
 * Without KEEP_DELETED_CELLS a marker hides cells from reads of earlier times
 * too.  With it, one that hides a single version does so from its own time on,
 * which is earlier than when it was deleted.
 */
int64_t
wc_history_of_marker(const WcFamilyAttrs *attrs, const WcCell *marker, int64_t commit_ts, bool *single)
{
	bool		one = marker->type == WC_DELETE || marker->type == WC_DELETE_FAMILY_VERSION;

	*single |= one;
	if (attrs->keep_deleted == WC_KEEP_DELETED_FALSE)
		return marker->ts > commit_ts ? marker->ts : commit_ts;
	return one ? commit_ts : 0;
}

void
wc_history_forget(WcStore *store, int64_t ts, bool single, rocksdb_writebatch_t *batch)
{
	WcHistory  *h = history_of(store);

	pthread_mutex_lock(&h->mutex);
	if (ts > h->stored || (single && !h->single))
		wc_historykey_put(store, ts > h->stored ? ts : h->stored, h->single || single, batch);
	raise_to(&h->from, ts);
	h->single |= single;
	pthread_mutex_unlock(&h->mutex);
}

void
wc_history_forgotten(WcStore *store, int64_t ts)
{
	WcHistory  *h = history_of(store);

	pthread_mutex_lock(&h->mutex);
	raise_to(&h->stored, ts);
	pthread_mutex_unlock(&h->mutex);
}

/* --- compaction filters ---------------------------------------------------*/

bool
wc_history_may_drop(WcHistory *h, int64_t ts, int64_t seen_until, atomic_bool *wanted)
{
	bool		may;

	pthread_mutex_lock(&h->mutex);
	ts = needed(h, ts, seen_until);
	may = ts <= h->granted || (h->single && h->single_granted);
	if (may)
	{
		raise_to(&h->from, ts);
		raise_to(&h->filtered, ts);
	}
	else
	{
		raise_to(&h->wanted, ts);
		atomic_store(wanted, true);
	}
	pthread_mutex_unlock(&h->mutex);
	return may;
}

void
wc_history_dropped(WcStore *store)
{
	WcHistory  *h = history_of(store);

	pthread_mutex_lock(&h->mutex);
	h->ended = atomic_load(&store->engine->install_epoch);
	pthread_mutex_unlock(&h->mutex);
	atomic_store(&store->engine->installing, true);
}

/* While compactions run, none of them need be the one: only when all are done stores
 * are looked at. */
void
wc_history_note_installed(WcEngine *engine)
{
	if (!atomic_load(&engine->installing) || is_compacting(engine))
		return;
	atomic_store(&engine->installing, false);
	pthread_rwlock_rdlock(&engine->catalog.lock);
	for (size_t t = 0; t < engine->catalog.ntables; t++)
	{
		const WcTable *table = engine->catalog.tables[t];

		for (uint32_t f = 0; f < table->desc.nfamilies; f++)
		{
			note_store_installed(table->stores[f]);
			if (is_installing(table->stores[f]))
				atomic_store(&engine->installing, true);
		}
	}
	pthread_rwlock_unlock(&engine->catalog.lock);
}

typedef enum Patience
{
	WAITS,
	DOES_NOT_WAIT				/* fails rather than wait for a compaction */
} Patience;

/* Makes the catalog say ts, for certain. */
static WcStatus
store_synced(WcStore *store, int64_t ts, bool single, Patience patience, WcError *err)
{
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();
	WcStatus	status;

	rocksdb_writeoptions_set_sync(options, 1);
	rocksdb_writeoptions_set_no_slowdown(options, patience == DOES_NOT_WAIT);
	wc_historykey_put(store, ts, single, batch);
	status = wc_health_write(&store->engine->health, options, batch, "write the catalog", err);
	rocksdb_writeoptions_destroy(options);
	rocksdb_writebatch_destroy(batch);
	return status;
}

/*
 * The write mutex is held.  The history's must not be while something is written: a
 * write may wait for a compaction, whose filter asks for it.  A store that was dropped
 * gets nothing: its key in the catalog is now that of the storage which came after it.
 */
static WcStatus
grant(WcStore *store, int64_t ts, Patience patience, WcError *err)
{
	WcHistory  *h = history_of(store);
	bool		enough;
	bool		single;
	WcStatus	status = WC_OK;

	if (wc_store_is_dropped(store))
		return WC_OK;
	pthread_mutex_lock(&h->mutex);
	raise_to(&ts, h->stored);
	single = h->single;
	enough = ts <= h->granted && single == h->single_granted;
	pthread_mutex_unlock(&h->mutex);
	if (!enough)
		status = store_synced(store, ts, single, patience, err);
	if (status != WC_OK)
		return status;
	pthread_mutex_lock(&h->mutex);
	h->stored = h->granted = ts;
	h->single_granted = single;
	pthread_mutex_unlock(&h->mutex);
	return WC_OK;
}

/*
 * Who holds the write mutex may be waiting for this very compaction, so it is only
 * tried for, a while.
 */
bool
wc_history_ask(WcStore *store, int64_t ts)
{
	static const struct timespec pause = {0, 1000000};
	pthread_mutex_t *mutex = &store->engine->write_mutex;
	bool		locked = pthread_mutex_trylock(mutex) == 0;
	bool		granted;

	for (int i = 0; !locked && i < ASK_TRIES; i++)
	{
		nanosleep(&pause, NULL);
		locked = pthread_mutex_trylock(mutex) == 0;
	}
	if (!locked)
		return false;
	granted = grant(store, ts, DOES_NOT_WAIT, NULL) == WC_OK;
	pthread_mutex_unlock(mutex);
	return granted;
}

static int64_t
wanted_of(WcStore *store)
{
	WcHistory  *h = history_of(store);
	int64_t		wanted;

	pthread_mutex_lock(&h->mutex);
	wanted = h->wanted > h->granted || h->single != h->single_granted ? h->wanted : 0;
	pthread_mutex_unlock(&h->mutex);
	return wanted;
}

void
wc_history_grant_wanted(WcEngine *engine)
{
	WcError		err;

	if (!atomic_exchange(&engine->history_wanted, false))
		return;
	pthread_mutex_lock(&engine->write_mutex);
	pthread_rwlock_rdlock(&engine->catalog.lock);
	for (size_t t = 0; t < engine->catalog.ntables; t++)
	{
		const WcTable *table = engine->catalog.tables[t];

		for (uint32_t f = 0; f < table->desc.nfamilies; f++)
		{
			int64_t		wanted = wanted_of(table->stores[f]);

			if (wanted > 0 && grant(table->stores[f], wanted, WAITS, &err) != WC_OK)
				wc_log(WC_LOG_WARNING, "%s: %s", err.message, err.detail);
		}
	}
	pthread_rwlock_unlock(&engine->catalog.lock);
	pthread_mutex_unlock(&engine->write_mutex);
}

WcStatus
wc_history_lend(WcStore *store, int64_t ts, WcError *err)
{
	WcStatus	status;

	pthread_mutex_lock(&store->engine->write_mutex);
	status = grant(store, ts, WAITS, err);
	pthread_mutex_unlock(&store->engine->write_mutex);
	return status;
}

WcStatus
wc_history_settle(WcStore *store, WcError *err)
{
	WcHistory  *h = history_of(store);
	WcStatus	status = WC_OK;
	int64_t		from;
	bool		too_much;
	bool		single;

	pthread_mutex_lock(&store->engine->write_mutex);

	/* first it is not allowed any more, then the catalog says so */
	pthread_mutex_lock(&h->mutex);
	from = h->granted = h->from;
	too_much = from < h->stored;
	single = h->single;
	pthread_mutex_unlock(&h->mutex);
	too_much &= !wc_store_is_dropped(store);
	if (too_much)
		status = store_synced(store, from, single, WAITS, err);
	if (too_much && status == WC_OK)
	{
		pthread_mutex_lock(&h->mutex);
		h->stored = from;
		pthread_mutex_unlock(&h->mutex);
	}
	pthread_mutex_unlock(&store->engine->write_mutex);
	return status;
}

/* --- reading as of a time -------------------------------------------------*/

/* "2026-01-02 03:04:05.000006+00" */
static const char *
time_text(char *buf, size_t size, int64_t us)
{
	time_t		seconds = (time_t) (us / WC_USEC_PER_SEC);
	struct tm	tm;
	char		day[32];

	if (gmtime_r(&seconds, &tm) == NULL || strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm) == 0)
		snprintf(buf, size, "%" PRId64, us);
	else
		snprintf(buf, size, "%s.%06d+00", day, (int) (us % WC_USEC_PER_SEC));
	return buf;
}

static WcStatus
refuse(const WcTableDesc *table, const WcFamilyDesc *family, int64_t as_of, int64_t from, WcError *err)
{
	char		name[2 * WC_NAME_MAX + 2];
	char		then[64];
	char		since[64];

	wc_error(err, WC_INVALID, "stored table \"%s\" cannot be seen as of %s",
			 wc_table_desc_fullname(table, name, sizeof(name)), time_text(then, sizeof(then), as_of));
	wc_error_detail(err, "Family \"%.*s\" remembers what it held from %s on.",
					(int) family->name.len, (const char *) family->name.data, time_text(since, sizeof(since), from));
	wc_error_hint(err, "Set widecol.read_timestamp to that time or a later one.  A family remembers longer with packing "
				  "\"cell\", more versions and keep_deleted_cells \"true\".");
	return WC_INVALID;
}

WcStatus
wc_history_check(WcStore *store, const WcTableDesc *table, const WcFamilyDesc *family,
				 const WcSnapshot *snapshot, int64_t as_of, WcError *err)
{
	WcHistory  *h = history_of(store);
	int64_t		from;
	int64_t		filtered;
	int64_t		then = 0;
	WcStatus	status;

	if (as_of < family->history_from_us)
		return refuse(table, family, as_of, family->history_from_us, err);
	note_store_installed(store);
	pthread_mutex_lock(&h->mutex);
	from = h->from;
	filtered = h->filtered;
	pthread_mutex_unlock(&h->mutex);
	if (as_of >= from)
		return WC_OK;
	if (as_of < filtered)
		return refuse(table, family, as_of, from, err);

	/* what was forgotten by writes that the snapshot does not see is there */
	status = wc_historykey_read(store, snapshot, &then, err);
	if (status == WC_OK && as_of < then)
		return refuse(table, family, as_of, from, err);
	return status;
}

WcStatus
wc_history_recheck(WcStore *store, const WcTableDesc *table, const WcFamilyDesc *family, int64_t as_of, WcError *err)
{
	WcHistory  *h = history_of(store);
	int64_t		from;
	int64_t		filtered;

	note_store_installed(store);
	pthread_mutex_lock(&h->mutex);
	from = h->from;
	filtered = h->filtered;
	pthread_mutex_unlock(&h->mutex);
	return as_of < filtered ? refuse(table, family, as_of, from, err) : WC_OK;
}
