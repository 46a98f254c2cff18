/*
 * engine/store/families.c: column families that no table has yet, and that none has any more.
 */
#include "engine/store/families.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "engine/store/state.h"

/* One call of RocksDB drops at most so many column families: a thread that wants to make one of the same name waits
 * for the end of the call. */
#define DROPPED_AT_ONCE 64

/* After a failure it is tried again so much later. */
#define PAUSE_S 1

void
wc_families_init(WcFamilies *f, WcEngine *engine)
{
	pthread_condattr_t attr;

	f->engine = engine;
	pthread_mutex_init(&f->making, NULL);
	pthread_mutex_init(&f->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&f->changed, &attr);
	pthread_condattr_destroy(&attr);
}

static void
forget_list(WcStore *list)
{
	WcStore    *next;

	for (; list != NULL; list = next)
	{
		next = list->next;
		wc_store_unref(list);
	}
}

/* Takes the next altered store, with its reference; NULL: there is none. */
static WcStore *
next_altered(WcFamilies *f) WC_REQUIRES(f->mutex)
{
	WcStore    *store = f->altered;

	if (store == NULL)
		return NULL;
	f->altered = store->next_altered;
	store->altered = false;
	return store;
}

void
wc_families_free(WcFamilies *f) WC_UNCHECKED
{
	forget_list(f->made);
	forget_list(f->dropped);
	for (WcStore *store; (store = next_altered(f)) != NULL;)
		wc_store_unref(store);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->mutex);
	pthread_mutex_destroy(&f->making);
}

/* --- lists; with the mutex held --------------------------------------------*/

static void
add(WcStore **list, WcStore *store)
{
	store->next = *list;
	*list = store;
}

static void
take_out(WcStore **list, WcStore *store)
{
	while (*list != store)
		list = &(*list)->next;
	*list = store->next;
	store->next = NULL;
}

/* The one that has the same name. */
static WcStore *
find(WcStore *list, const WcStore *like)
{
	for (; list != NULL; list = list->next)
	{
		if (list->table_id == like->table_id && list->family_id == like->family_id && list->generation == like->generation)
			return list;
	}
	return NULL;
}

/* The stores to drop next. */
static size_t
choose(const WcFamilies *f, WcStore **chosen, size_t most) WC_REQUIRES(f->mutex)
{
	size_t		n = 0;

	for (WcStore *store = f->dropped; store != NULL && n < most; store = store->next)
	{
		if (store->dropped_at <= f->synced)
			chosen[n++] = store;
	}
	return n;
}

static bool
can_drop(const WcFamilies *f) WC_REQUIRES(f->mutex)
{
	WcStore    *store;

	return choose(f, &store, 1) > 0;
}

/* --- making -----------------------------------------------------------------*/

/* A request to make column families in RocksDB. */
typedef struct Request
{
	char		(*names)[WC_CF_NAME_MAX];
	const char **pointers;
	rocksdb_options_t **options;
	rocksdb_column_family_handle_t **handles;
} Request;

static void
request_free(Request *r, size_t n)
{
	for (size_t i = 0; r->options != NULL && i < n; i++)
	{
		if (r->options[i] != NULL)
			rocksdb_options_destroy(r->options[i]);
	}
	free(r->names);
	free(r->pointers);
	free(r->options);
	free(r->handles);
}

static WcStatus
request_init(Request *r, WcFamilies *f, const WcNewFamily *wanted, size_t n, WcError *err)
{
	r->names = calloc(n, sizeof(*r->names));
	r->pointers = calloc(n, sizeof(*r->pointers));
	r->options = calloc(n, sizeof(*r->options));
	r->handles = calloc(n, sizeof(*r->handles));
	if (r->names == NULL || r->pointers == NULL || r->options == NULL || r->handles == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for the families of a table");
	pthread_mutex_lock(&f->mutex);
	for (size_t i = 0; i < n; i++)
	{
		r->pointers[i] = wc_store_cf_name(wanted[i].store, r->names[i], sizeof(r->names[i]));
		r->options[i] = wc_store_options(wanted[i].store);
	}
	pthread_mutex_unlock(&f->mutex);
	return WC_OK;
}

/* "make family ..." */
static void
making_text(const WcNewFamily *wanted, char *buf, size_t size)
{
	char		text[WC_STORE_TEXT_MAX];

	snprintf(buf, size, "make %s", wc_store_text_in(wanted->store, wanted->table, text, sizeof(text)));
}

WcStatus
wc_families_create(WcFamilies *f, const WcNewFamily *wanted, size_t n, WcError *err)
{
	Request		r = {0};
	char		what[WC_STORE_TEXT_MAX + 32];
	size_t		nmade = 0;
	WcStatus	status;

	if (n == 0)
		return WC_OK;
	making_text(&wanted[0], what, sizeof(what));
	status = request_init(&r, f, wanted, n, err);
	if (status == WC_OK)
		status = wc_health_begin_change(&f->engine->health, what, err);
	if (status == WC_OK)
	{
		char	   *error = wc_rocksplus_make_families(f->engine->db, n, r.pointers, r.options, r.handles, &nmade);

		wc_health_end_change(&f->engine->health);
		for (size_t i = 0; i < nmade; i++)
			wanted[i].store->cf = r.handles[i];
		making_text(&wanted[nmade < n ? nmade : 0], what, sizeof(what));
		status = wc_rocks_status(error, what, err);
	}
	request_free(&r, n);
	return status;
}

/* --- for a transaction ------------------------------------------------------*/

/*
 * A column family of the same name, which was made for a transaction that failed, may not be dropped yet: waits for an
 * attempt to drop it.  Called with the mutex locked; unlocks it while it waits.
 */
static void
wait_for_name(WcFamilies *f, const WcStore *store) WC_REQUIRES(f->mutex)
{
	uint64_t	under_way = f->attempts + 1;

	while (find(f->dropped, store) != NULL && can_drop(f) && f->attempts <= under_way && !f->stop)
	{
		f->hurry = true;
		pthread_cond_broadcast(&f->changed);
		pthread_cond_wait(&f->changed, &f->mutex);
	}
}

/* Takes again a column family of the same name that cannot be dropped yet: it was made for a commit that could not be
 * written.  With the mutex locked. */
static bool
reuse(WcFamilies *f, const WcStore *like, uint64_t xid) WC_REQUIRES(f->mutex)
{
	WcStore    *store = find(f->dropped, like);

	if (store == NULL || store->dropped_at <= f->synced || store->packing != like->packing)
		return false;
	take_out(&f->dropped, store);
	atomic_store(&store->dropped, false);
	wc_scancache_open(&store->scancache, rocksdb_get_latest_sequence_number(f->engine->db));
	store->made_for = xid;
	add(&f->made, store);
	atomic_fetch_add(&f->nmade, 1);
	return true;
}

/* Those that are not made yet, in missing. */
static size_t
find_missing(WcFamilies *f, const WcNewFamily *wanted, size_t n, uint64_t xid, WcNewFamily *missing)
{
	size_t		nmissing = 0;

	pthread_mutex_lock(&f->mutex);
	for (size_t i = 0; i < n; i++)
	{
		if (find(f->made, wanted[i].store) != NULL || reuse(f, wanted[i].store, xid))
			continue;
		wait_for_name(f, wanted[i].store);
		missing[nmissing++] = wanted[i];
	}
	pthread_mutex_unlock(&f->mutex);
	return nmissing;
}

static void
keep_made(WcFamilies *f, const WcNewFamily *missing, size_t n, uint64_t xid)
{
	pthread_mutex_lock(&f->mutex);
	for (size_t i = 0; i < n; i++)
	{
		if (missing[i].store->cf == NULL)
			continue;
		missing[i].store->made_for = xid;
		add(&f->made, wc_store_ref(missing[i].store));
		atomic_fetch_add(&f->nmade, 1);
	}
	pthread_mutex_unlock(&f->mutex);
}

WcStatus
wc_families_make(WcFamilies *f, const WcNewFamily *wanted, size_t n, uint64_t xid, WcError *err)
{
	WcNewFamily *missing;
	size_t		nmissing;
	WcStatus	status;

	if (n == 0)
		return WC_OK;
	missing = calloc(n, sizeof(*missing));
	if (missing == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for the families of a table");
	pthread_mutex_lock(&f->making);
	nmissing = find_missing(f, wanted, n, xid, missing);
	status = wc_families_create(f, missing, nmissing, err);
	keep_made(f, missing, nmissing, xid);
	pthread_mutex_unlock(&f->making);
	free(missing);
	if (status != WC_OK)
		wc_families_give_back(f, xid);
	return status;
}

WcStore *
wc_families_take(WcFamilies *f, const WcStore *like)
{
	WcStore    *store;

	pthread_mutex_lock(&f->mutex);
	store = find(f->made, like);
	if (store != NULL)
	{
		take_out(&f->made, store);
		atomic_fetch_sub(&f->nmade, 1);
	}
	pthread_mutex_unlock(&f->mutex);
	return store;
}

void
wc_families_give_back(WcFamilies *f, uint64_t xid)
{
	WcStore    *next;

	if (atomic_load(&f->nmade) == 0)
		return;
	pthread_mutex_lock(&f->mutex);
	for (WcStore *store = f->made; store != NULL; store = next)
	{
		next = store->next;
		if (store->made_for != xid)
			continue;
		take_out(&f->made, store);
		atomic_fetch_sub(&f->nmade, 1);
		add(&f->dropped, store);
	}
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->mutex);
}

/* --- dropping ---------------------------------------------------------------*/

static void
add_dropped(WcFamilies *f, WcStore *store, uint64_t position)
{
	pthread_mutex_lock(&f->mutex);
	store->dropped_at = position;
	add(&f->dropped, wc_store_ref(store));
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->mutex);
}

void
wc_store_drop(WcStore *store, uint64_t position)
{
	atomic_store(&store->dropped, true);
	wc_scancache_close(&store->scancache);
	if (store->cf != NULL)
		add_dropped(&store->engine->families, store, position);
}

void
wc_families_synced(WcFamilies *f, uint64_t position)
{
	pthread_mutex_lock(&f->mutex);
	if (position > f->synced)
	{
		f->synced = position;
		if (f->dropped != NULL)
			pthread_cond_broadcast(&f->changed);
	}
	pthread_mutex_unlock(&f->mutex);
}

/* gone[i]: that one is. */
static WcStatus
drop_chosen(WcFamilies *f, WcStore *const *chosen, size_t n, bool *gone, WcError *err)
{
	rocksdb_column_family_handle_t *handles[DROPPED_AT_ONCE];
	static const char *const what = "drop the storage of a family";
	WcStatus	status = wc_health_begin_change(&f->engine->health, what, err);
	char	   *error;

	for (size_t i = 0; i < n; i++)
	{
		handles[i] = chosen[i]->cf;
		gone[i] = false;
	}
	if (status != WC_OK)
		return status;
	error = wc_rocksplus_drop_families(f->engine->db, n, handles, gone);
	wc_health_end_change(&f->engine->health);
	return wc_rocks_status(error, what, err);
}

/* Called with the mutex locked; unlocks it meanwhile. */
static void
drop_some(WcFamilies *f) WC_REQUIRES(f->mutex)
{
	WcStore    *chosen[DROPPED_AT_ONCE];
	bool		gone[DROPPED_AT_ONCE];
	size_t		n = choose(f, chosen, DROPPED_AT_ONCE);
	WcStatus	status;
	WcError		err;

	pthread_mutex_unlock(&f->mutex);
	status = drop_chosen(f, chosen, n, gone, &err);
	if (status != WC_OK && !f->failing)
		wc_log(WC_LOG_WARNING, "%s, which is tried again later: %s", err.message, err.detail);
	pthread_mutex_lock(&f->mutex);
	for (size_t i = 0; i < n; i++)
	{
		if (gone[i])
			take_out(&f->dropped, chosen[i]);
		f->leftovers |= gone[i];
	}
	f->failing = status != WC_OK;
	f->attempts++;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->mutex);

	/* the last reference deletes files */
	for (size_t i = 0; i < n; i++)
	{
		if (gone[i])
			wc_store_unref(chosen[i]);
	}
	pthread_mutex_lock(&f->mutex);
}

/* Waits until the time is over, or there is something else to do.  Called with the mutex locked; unlocks it while it
 * waits. */
static bool
waited(WcFamilies *f) WC_REQUIRES(f->mutex)
{
	struct timespec until;
	bool		over = false;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PAUSE_S;
	while (!over && !f->hurry && !f->stop && f->altered == NULL && (f->failing || !can_drop(f)))
		over = pthread_cond_timedwait(&f->changed, &f->mutex, &until) == ETIMEDOUT;
	over |= f->hurry;
	f->hurry = false;
	return over && !f->stop;
}

/* Compactions of dropped column families end soon, and leave files: deletes these.  Called with the mutex locked;
 * unlocks it meanwhile. */
static void
delete_leftovers(WcFamilies *f) WC_REQUIRES(f->mutex)
{
	WcError		err;

	f->leftovers = false;
	pthread_mutex_unlock(&f->mutex);
	if (wc_rocks_status(wc_rocksplus_delete_leftovers(f->engine->db), "delete files of dropped families", &err) != WC_OK)
		wc_log(WC_LOG_WARNING, "%s: %s", err.message, err.detail);
	pthread_mutex_lock(&f->mutex);
}

/* Syncs RocksDB's log, if no other thread has done so for long.  Called with the mutex locked; unlocks it
 * meanwhile. */
static void
sync_log(WcFamilies *f) WC_REQUIRES(f->mutex)
{
	WcError		err;
	bool		failed;

	pthread_mutex_unlock(&f->mutex);
	failed = f->sync(f->engine, &err) != WC_OK;
	if (failed && !f->failing)
		wc_log(WC_LOG_WARNING, "%s, which is tried again: %s", err.message, err.detail);
	pthread_mutex_lock(&f->mutex);
	f->failing = failed;
}

/* --- altering ---------------------------------------------------------------*/

void
wc_families_alter(WcFamilies *f, WcStore *store)
{
	pthread_mutex_lock(&f->mutex);
	if (!store->altered)
	{
		store->altered = true;
		store->next_altered = f->altered;
		f->altered = wc_store_ref(store);
		pthread_cond_broadcast(&f->changed);
	}
	pthread_mutex_unlock(&f->mutex);
}

static WcStatus
alter_options(WcFamilies *f, WcStore *store, const WcFamilyAttrs *attrs, WcError *err)
{
	WcStatus	status = wc_health_begin_change(&f->engine->health, "change the options of a family", err);

	if (status != WC_OK)
		return status;
	status = wc_rocks_family_alter(f->engine->db, store->cf, attrs, err);
	wc_health_end_change(&f->engine->health);
	return status;
}

/* Passes changed attributes to RocksDB.  Called with the mutex locked; unlocks it meanwhile.  Attributes that RocksDB
 * does not take now take effect when the store is opened the next time. */
static void
alter_one(WcFamilies *f) WC_REQUIRES(f->mutex)
{
	WcStore    *store = next_altered(f);
	WcFamilyAttrs attrs = wc_store_attrs(store);
	WcStatus	status = WC_OK;
	WcError		err;

	pthread_mutex_unlock(&f->mutex);
	if (!wc_store_is_dropped(store))
		status = alter_options(f, store, &attrs, &err);
	if (status != WC_OK && !wc_store_is_dropped(store))
		wc_log(WC_LOG_WARNING, "%s: %s", err.message, err.detail);
	wc_store_unref(store);
	pthread_mutex_lock(&f->mutex);
}

/* --- the thread -------------------------------------------------------------*/

static void *
families_main(void *arg)
{
	WcFamilies *f = arg;

	pthread_mutex_lock(&f->mutex);
	while (!f->stop)
	{
		if (f->altered != NULL)
			alter_one(f);
		else if (can_drop(f) && (!f->failing || waited(f)))
			drop_some(f);
		else if (!can_drop(f) && f->leftovers && waited(f))
			delete_leftovers(f);
		else if (f->dropped == NULL && !f->leftovers)
			pthread_cond_wait(&f->changed, &f->mutex);
		else if (!can_drop(f) && !f->leftovers && waited(f))
			sync_log(f);
	}
	pthread_mutex_unlock(&f->mutex);
	return NULL;
}

WcStatus
wc_families_start(WcFamilies *f, WcFamiliesSync sync, WcError *err)
{
	int			rc;

	f->sync = sync;
	rc = wc_thread_start(&f->thread, 0, families_main, f);
	if (rc != 0)
		return wc_error(err, WC_IO, "could not make a thread of the storage engine: %s", strerror(rc));
	f->running = true;
	return WC_OK;
}

void
wc_families_end(WcFamilies *f)
{
	if (!f->running)
		return;
	pthread_mutex_lock(&f->mutex);
	f->stop = true;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->mutex);
	pthread_join(f->thread, NULL);
	f->running = false;
}
