/*
 * engine/engine.c: opening and closing the store.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/catalog/catalog.h"
#include "engine/rocks/image.h"
#include "engine/statsfile.h"
#include "engine/storage.h"
#include "engine/store/state.h"
#include "engine/upkeep.h"
#include "engine/work.h"
#include "engine/write/mark.h"

/* Of the directory beside the store's. */
#define SPILL_SUFFIX ".spill"

/* --- opening --------------------------------------------------------------*/

/*
 * The families' options depend on the catalog, which is in the database: so the
 * catalog is read first, by opening only its column family, for reading.
 */
static WcStatus
read_catalog(WcEngine *engine, const char *path, const rocksdb_options_t *options, bool *fresh, WcError *err)
{
	const char *name = "default";
	rocksdb_column_family_handle_t *meta = NULL;
	rocksdb_t  *db;
	char	   *error = NULL;
	WcStatus	status;

	db = rocksdb_open_for_read_only_column_families(options, path, 1, &name, &options, &meta, 0, &error);
	status = wc_rocks_status(error, "open its database", err);
	if (status != WC_OK)
		return status;
	status = wc_catalog_load(engine, db, meta, fresh, err);
	rocksdb_column_family_handle_destroy(meta);
	rocksdb_close(db);
	return status;
}

/* The column families to open: the catalog's, one for each store, and orphans, which a crash between the steps of a
 * change of the catalog has left. */
typedef struct Opening
{
	size_t		n;
	size_t		nstores;		/* entries 1 .. nstores are stores, orphans follow */
	char	  **names;
	const rocksdb_options_t **options;
	rocksdb_column_family_handle_t **handles;
	WcStore   **stores;
} Opening;

static void
opening_free(Opening *o)
{
	for (size_t i = 0; i < o->n; i++)
	{
		free(o->names[i]);
		if (i > 0 && i <= o->nstores)
			rocksdb_options_destroy((rocksdb_options_t *) o->options[i]);
	}
	free(o->names);
	free(o->options);
	free(o->handles);
	free(o->stores);
}

static bool
opening_add(Opening *o, const char *name, const rocksdb_options_t *options, WcStore *store)
{
	char	   *copy = strdup(name);

	if (copy == NULL)
		return false;
	o->names[o->n] = copy;
	o->options[o->n] = options;
	o->stores[o->n++] = store;
	return true;
}

static bool
name_listed(char **list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
	{
		if (strcmp(list[i], name) == 0)
			return true;
	}
	return false;
}

static WcStatus
opening_stores(WcEngine *engine, Opening *o, char **list, size_t nlist, WcError *err) WC_UNCHECKED
{
	WcCatalog  *catalog = &engine->catalog;
	char		name[WC_CF_NAME_MAX];

	for (size_t t = 0; t < catalog->ntables; t++)
	{
		for (uint32_t f = 0; f < catalog->tables[t]->desc.nfamilies; f++)
		{
			WcStore    *store = catalog->tables[t]->stores[f];
			rocksdb_options_t *options;

			wc_store_cf_name(store, name, sizeof(name));
			if (!name_listed(list, nlist, name))
			{
				const WcTableDesc *desc = &catalog->tables[t]->desc;

				wc_error(err, WC_CORRUPT, "storage of family \"%.*s\" of stored table \"%.*s\" is missing",
						 (int) desc->families[f].name.len, (const char *) desc->families[f].name.data,
						 (int) desc->name.len, (const char *) desc->name.data);
				wc_error_detail(err, "The catalog names a column family \"%s\".", name);
				return WC_CORRUPT;
			}
			options = wc_store_options(store);
			if (!opening_add(o, name, options, store))
			{
				rocksdb_options_destroy(options);
				return wc_error(err, WC_NO_MEMORY, "out of memory while opening the store");
			}
			o->nstores++;
		}
	}
	return WC_OK;
}

static WcStatus
opening_init(WcEngine *engine, Opening *o, const rocksdb_options_t *options,
			 char **list, size_t nlist, WcError *err)
{
	size_t		max = nlist + 1;
	size_t		nstores;
	WcStatus	status;

	/* each store must be in the list, so max is enough for all */
	memset(o, 0, sizeof(*o));
	o->names = calloc(max, sizeof(*o->names));
	o->options = calloc(max, sizeof(*o->options));
	o->handles = calloc(max, sizeof(*o->handles));
	o->stores = calloc(max, sizeof(*o->stores));
	if (!o->names || !o->options || !o->handles || !o->stores || !opening_add(o, "default", options, NULL))
		return wc_error(err, WC_NO_MEMORY, "out of memory while opening the store");
	status = opening_stores(engine, o, list, nlist, err);
	nstores = o->n;
	for (size_t i = 0; status == WC_OK && i < nlist; i++)
	{
		if (!name_listed(o->names, nstores, list[i]) && !opening_add(o, list[i], options, NULL))
			status = wc_error(err, WC_NO_MEMORY, "out of memory while opening the store");
	}
	return status;
}

/* An orphan that cannot be dropped is one the next time again. */
static void
drop_orphans(WcEngine *engine, const Opening *o)
{
	size_t		first = 1 + o->nstores;
	size_t		n = o->n - first;
	bool	   *gone = calloc(n + 1, sizeof(*gone));
	WcError		err;

	if (n > 0 && gone != NULL &&
		wc_rocks_status(wc_rocksplus_drop_families(engine->db, n, o->handles + first, gone),
						"drop storage that belongs to no table", &err) != WC_OK)
		wc_log(WC_LOG_WARNING, "%s: %s", err.message, err.detail);
	for (size_t i = 0; i < n; i++)
	{
		if (gone != NULL && gone[i])
			wc_log(WC_LOG_INFO, "dropped storage \"%s\", which belongs to no table", o->names[first + i]);
		rocksdb_column_family_handle_destroy(o->handles[first + i]);
	}
	free(gone);
}

static WcStatus
open_database(WcEngine *engine, const char *path, const rocksdb_options_t *options,
			  char **list, size_t nlist, WcError *err)
{
	Opening		o;
	char	   *error = NULL;
	WcStatus	status = opening_init(engine, &o, options, list, nlist, err);

	if (status == WC_OK)
	{
		engine->db = rocksdb_open_column_families(options, path, (int) o.n, (const char *const *) o.names,
												  o.options, o.handles, &error);
		if (error)
			engine->db = NULL;
		status = wc_rocks_status(error, "open its database", err);
	}
	if (status == WC_OK)
	{
		engine->meta = o.handles[0];
		for (size_t i = 1; i <= o.nstores; i++)
			o.stores[i]->cf = o.handles[i];
		drop_orphans(engine, &o);
	}
	opening_free(&o);
	return status;
}

/*
 * RocksDB does not open a store whose log has gaps, if it verifies the log.  So the store is first opened with all
 * families and without the check: RocksDB then writes the readable part of the log to table files, up to the damage, or
 * (if table files have later writes already) all of it.
 */
static WcStatus
salvage(const char *path, const rocksdb_options_t *options, WcError *err)
{
	rocksdb_options_t *lax = wc_rocks_salvage_options(options, WC_RECOVER_TO_DAMAGE);
	WcStatus	status = wc_rocks_open_and_close(lax, path, err);

	rocksdb_options_destroy(lax);
	if (status != WC_CORRUPT)
		return status;
	wc_log(WC_LOG_WARNING, "%s: %s", err->message, err->detail);
	lax = wc_rocks_salvage_options(options, WC_RECOVER_READABLE);
	status = wc_rocks_open_and_close(lax, path, err);
	rocksdb_options_destroy(lax);
	return status;
}

/* Reads the catalog of an existing store; changes nothing, unless the store is being accepted (accept_store). */
static WcStatus
look_at_store(WcEngine *engine, const char *path, const rocksdb_options_t *options,
			  char ***list, size_t *nlist, bool *fresh, WcError *err)
{
	char	   *error = NULL;
	WcStatus	status = WC_OK;

	if (engine->identity.opening == WC_OPEN_ACCEPT)
		status = salvage(path, options, err);
	if (status == WC_OK)
	{
		*list = rocksdb_list_column_families(options, path, nlist, &error);
		status = wc_rocks_status(error, "open its database", err);
		if (status != WC_OK)
			*list = NULL;
	}
	if (status == WC_OK)
		status = read_catalog(engine, path, options, fresh, err);
	if (status == WC_OK)
		status = wc_identity_check_log(&engine->identity, engine->applied, err);
	return status;
}

/* The directory where images and the live database are, for a new store. */
static WcStatus
make_place(const WcEngineOptions *options, WcError *err)
{
	if (mkdir(options->images, (mode_t) options->directory_mode) == 0)
		return wc_file_sync_parent(options->images, err);
	return errno == EEXIST ? WC_OK : wc_file_error(err, "make directory", options->images);
}

/*
 * Is the store there, or can it be had from an image?  A copy of a running cluster has no
 * live database, or one that is not to be trusted: then the newest image that is complete
 * takes its place, and the rest comes from the server's log.
 */
static WcStatus
find_store(WcEngine *engine, const WcEngineOptions *options, WcError *err)
{
	uint64_t	position;
	WcError		ignored;
	WcStatus	status;

	if (options->images == NULL)
		return wc_identity_check(&engine->identity, options, err);
	engine->images = strdup(options->images);
	if (engine->images == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory while opening the store");
	if (access(options->images, F_OK) == 0)
		status = wc_image_adopt_live(options->images, err);
	else
		status = WC_OK;
	if (status == WC_OK)
		status = wc_identity_check(&engine->identity, options, err);
	if (status == WC_OK && engine->identity.opening == WC_OPEN_NEW)
		status = make_place(options, err);
	if (status == WC_OK || !engine->identity.restorable ||
		wc_image_newest(options->images, &position, &ignored) != WC_OK)
		return status;
	wc_log(WC_LOG_INFO, "the stored tables begin with their image at %" PRIX64 "/%08" PRIX64 ", since %s",
		   position >> 32, position & UINT32_MAX, err->message);
	wc_identity_release(&engine->identity, false);
	status = wc_image_restore(options->images, position, err);
	return status == WC_OK ? wc_identity_check(&engine->identity, options, err) : status;
}

/* An accepted store may come from another cluster, or another time: its positions mean nothing in this cluster's log,
 * and its images would be taken for the cluster's. */
static WcStatus
forget_log(WcEngine *engine, WcError *err)
{
	WcStatus	status = wc_engine_begin_log(engine, 0, err);

	return status == WC_OK && engine->images != NULL ? wc_image_prune(engine->images, 0, 0, err) : status;
}

/* Empties the directory: its files belong to a process that has ended. */
static WcStatus
make_spill_directory(WcEngine *engine, const WcEngineOptions *options, WcError *err)
{
	size_t		len = strlen(options->path) + sizeof(SPILL_SUFFIX);
	char	   *path = malloc(len);
	WcStatus	status;

	if (path == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory while opening the store");
	snprintf(path, len, "%s" SPILL_SUFFIX, options->path);
	engine->spill = (WcTxnSpill) {path, options->txn_memory ? options->txn_memory : WC_TXN_MEMORY};
	status = wc_file_remove_directory(path, err);
	if (status == WC_OK && mkdir(path, (mode_t) options->directory_mode) != 0)
		status = wc_file_error(err, "make directory", path);
	return status;
}

const WcTxnSpill *
wc_engine_spill(const WcEngine *engine)
{
	return &engine->spill;
}

/* Does the store's log note which gaps are none?  Builds of widecol that did not note that have not made this file. */
#define FILE_GAPS_NOTED "GAPS_NOTED"

static WcStatus
end_at_gaps(const char *path, rocksdb_options_t *db_options, WcError *err)
{
	char		file[WC_PATH_MAX];
	WcStatus	status = wc_file_join(file, path, FILE_GAPS_NOTED, err);

	if (status == WC_OK && access(file, F_OK) == 0)
		wc_rocksplus_end_at_gaps(db_options);
	return status;
}

/* Called when the database is open: RocksDB has read all logs of earlier engines, and does not read them again. */
static WcStatus
note_gaps(const char *path, WcError *err)
{
	char		file[WC_PATH_MAX];
	WcStatus	status = wc_file_join(file, path, FILE_GAPS_NOTED, err);

	if (status != WC_OK || access(file, F_OK) == 0)
		return status;
	return wc_file_replace_text(file, "", err);
}

static WcStatus
open_store(WcEngine *engine, const WcEngineOptions *options, WcError *err)
{
	rocksdb_options_t *db_options = wc_rocks_db_options(&engine->shared, options->max_open_files,
														options->max_background_jobs);
	char	  **list = NULL;
	size_t		nlist = 0;
	bool		fresh = true;
	WcStatus	status = WC_OK;

	if (!wc_rocksplus_fits(db_options))
		status = wc_error(err, WC_UNSUPPORTED, "librocksdb is another version than the one that widecol was compiled with");
	else
		status = find_store(engine, options, err);
	if (status == WC_OK)
		status = end_at_gaps(options->path, db_options, err);
	wc_health_watch(&engine->health, db_options);
	wc_counts_watch(engine, db_options);

	if (status == WC_OK && engine->identity.opening == WC_OPEN_NEW)
		rocksdb_options_set_create_if_missing(db_options, 1);
	else if (status == WC_OK)
		status = look_at_store(engine, options->path, db_options, &list, &nlist, &fresh, err);
	if (status == WC_OK)
		status = wc_identity_begin(&engine->identity, options, err);
	if (status == WC_OK)
		status = open_database(engine, options->path, db_options, list, nlist, err);
	if (status == WC_OK)
		status = note_gaps(options->path, err);
	if (status == WC_OK)
		status = make_spill_directory(engine, options, err);
	if (status == WC_OK)
		status = fresh ? wc_catalog_make(engine, err) : wc_catalog_convert(engine, err);
	if (status == WC_OK && engine->identity.opening == WC_OPEN_ACCEPT)
		status = forget_log(engine, err);
	if (status == WC_OK)
		status = wc_identity_settle(&engine->identity, engine->applied, err);
	if ((status == WC_CORRUPT || status == WC_IO) && strncmp(err->detail, "RocksDB said", 12) == 0)
		wc_identity_hint(&engine->identity, err);
	engine->upkeeper = wc_upkeeper_create(engine);
	engine->workers = wc_workers_create(engine);
	if (status == WC_OK && (engine->upkeeper == NULL || engine->workers == NULL))
		status = wc_error(err, WC_NO_MEMORY, "out of memory while opening the store");
	if (status == WC_OK)
		status = wc_health_start(&engine->health, err);
	if (status == WC_OK)
		status = wc_families_start(&engine->families, wc_engine_sync, err);
	wc_counts_open(&engine->counts);
	if (list)
		rocksdb_list_column_families_destroy(list, nlist);
	rocksdb_options_destroy(db_options);
	return status;
}

/* Frees everything that has been made. */
static void
engine_free(WcEngine *engine, bool closed)
{
	WcError		ignored;

	wc_upkeeper_free(engine->upkeeper);
	wc_workers_free(engine->workers);
	wc_families_free(&engine->families);
	wc_counts_close(&engine->counts);
	wc_catalog_free(&engine->catalog);
	wc_snapshot_drop_idle(engine);
	if (engine->meta)
		rocksdb_column_family_handle_destroy(engine->meta);
	if (engine->db)
		rocksdb_close(engine->db);
	wc_identity_release(&engine->identity, closed);
	if (engine->spill.directory != NULL && wc_file_remove_directory(engine->spill.directory, &ignored) != WC_OK)
		wc_log(WC_LOG_WARNING, "%s", ignored.message);
	free((void *) engine->spill.directory);
	free(engine->images);
	free(engine->statistics);
	rocksdb_readoptions_destroy(engine->read_options);
	rocksdb_writeoptions_destroy(engine->write_options);
	wc_rocks_shared_free(&engine->shared);
	wc_health_free(&engine->health);
	wc_counts_free(&engine->counts);
	pthread_mutex_destroy(&engine->write_mutex);
	pthread_rwlock_destroy(&engine->step_lock);
	pthread_mutex_destroy(&engine->offers_mutex);
	pthread_mutex_destroy(&engine->snapshots_mutex);
	wc_recentrows_free(&engine->recent);
	free(engine);
}

WcStatus
wc_engine_open(const WcEngineOptions *options, WcEngine **engine, WcError *err)
{
	WcEngine   *e = calloc(1, sizeof(WcEngine));
	WcStatus	status;

	*engine = NULL;
	if (e == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory while opening the store");
	e->storage.ops = &wc_engine_storage_ops;
	e->identity.owner_fd = -1;
	pthread_mutex_init(&e->write_mutex, NULL);
	pthread_rwlock_init(&e->step_lock, NULL);
	pthread_mutex_init(&e->offers_mutex, NULL);
	pthread_mutex_init(&e->snapshots_mutex, NULL);
	wc_recentrows_init(&e->recent);
	wc_health_init(&e->health, e);
	wc_counts_init(&e->counts);
	wc_families_init(&e->families, e);
	wc_catalog_init(&e->catalog);
	wc_rocks_shared_init(&e->shared, options->block_cache_bytes, options->write_buffer_bytes);
	wc_scanmemory_init(&e->scanmemory, &e->shared);
	e->read_options = rocksdb_readoptions_create();
	e->write_options = rocksdb_writeoptions_create();
	e->clock_us = options->clock_us ? options->clock_us : wc_clock_wall_us;
	e->packed_row_max = options->packed_row_max ? options->packed_row_max : WC_PACKED_ROW_MAX;
	e->row_together_max = options->row_together_max ? options->row_together_max : WC_ROW_TOGETHER_MAX;
	e->statistics = options->statistics != NULL ? strdup(options->statistics) : NULL;
	if (options->statistics != NULL && e->statistics == NULL)
		status = wc_error(err, WC_NO_MEMORY, "out of memory while opening the store");
	else
		status = open_store(e, options, err);
	if (status != WC_OK)
	{
		wc_health_end(&e->health);
		engine_free(e, false);
		return status;
	}
	if (e->statistics != NULL)
		wc_statsfile_take(e, e->statistics);
	*engine = e;
	return WC_OK;
}

void
wc_engine_close(WcEngine *engine)
{
	WcError		err;
	bool		synced;

	if (engine == NULL)
		return;
	wc_upkeeper_free(engine->upkeeper);
	engine->upkeeper = NULL;
	wc_workers_free(engine->workers);
	engine->workers = NULL;
	wc_families_end(&engine->families);
	wc_health_end(&engine->health);
	synced = wc_engine_sync(engine, &err) == WC_OK;
	if (!synced)
		wc_log(WC_LOG_ERROR, "%s: %s", err.message, err.detail);
	rocksdb_cancel_all_background_work(engine->db, 1);
	if (engine->statistics != NULL)
		wc_statsfile_leave(engine, engine->statistics);
	engine_free(engine, synced);
}

/* --- counters --------------------------------------------------------------*/

void
wc_engine_accept_damage(WcEngine *engine, uint32_t table_id)
{
	atomic_store(&engine->accepts_damage, table_id);
}

uint64_t
wc_engine_void_operations(WcEngine *engine)
{
	return engine->nvoid;
}

uint64_t
wc_engine_applied_position(WcEngine *engine)
{
	return engine->applied;
}

uint32_t
wc_engine_timeline(const WcEngine *engine)
{
	return engine->timeline;
}

void
wc_engine_set_timeline(WcEngine *engine, uint32_t timeline)
{
	engine->timeline = timeline;
}

WcStatus
wc_engine_disown(WcEngine *engine, WcError *err)
{
	return wc_identity_disown(&engine->identity, err);
}

uint32_t
wc_engine_store_id(const WcEngine *engine)
{
	return engine->identity.store;
}

uint32_t
wc_engine_new_table_id(WcEngine *engine)
{
	return atomic_fetch_add(&engine->catalog.next_table_id, 1);
}

void
wc_engine_note_table_id(WcEngine *engine, uint32_t table_id)
{
	wc_catalog_note_id(&engine->catalog, table_id);
}

uint64_t
wc_engine_catalog_generation(WcEngine *engine)
{
	return engine->catalog.generation;
}

void
wc_engine_log_steps(WcEngine *engine, WcStepLog log, void *arg)
{
	pthread_rwlock_wrlock(&engine->step_lock);
	engine->step_log = log;
	engine->step_log_arg = arg;
	engine->steps_end = log == NULL;
	pthread_rwlock_unlock(&engine->step_lock);
}

WcStatus
wc_engine_begin_log(WcEngine *engine, uint64_t read_from, WcError *err)
{
	WcStatus	status = wc_mark_begin(engine, read_from, err);

	return status == WC_OK ? wc_engine_sync(engine, err) : status;
}

/* --- images ----------------------------------------------------------------*/

WcStatus
wc_engine_image_build(WcEngine *engine, WcError *err)
{
	return wc_image_build(engine->images, engine->db, err);
}

WcStatus
wc_engine_image_install(WcEngine *engine, uint64_t position, WcError *err)
{
	return wc_image_install(engine->images, position, err);
}

WcStatus
wc_engine_images_prune(WcEngine *engine, unsigned keep, int64_t min_age_s, WcError *err)
{
	return wc_image_prune(engine->images, keep, min_age_s, err);
}
