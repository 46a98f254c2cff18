/*
 * engine/admin.c: flush, compact, major compact.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/catalog/catalog.h"
#include "engine/rocks/image.h"
#include "engine/forget/compact.h"
#include "engine/forget/pass.h"
#include "engine/rocks/cellkey.h"
#include "engine/store/state.h"
#include "engine/store/watch.h"

/* Files of the lower levels that one call of RocksDB compacts at least, so that
 * a compaction can be cancelled in between. */
#define FILES_AT_ONCE 4

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
	return wc_engine_now(store->engine) + at->clock_offset_us;
}

/* Does something with each store of a table that has a column family. */
static WcStatus
each_store(WcEngine *engine, uint32_t table_id, const WcReadPoint *at, bool major,
		   WcStatus (*act) (WcStore *store, bool major, const WcReadPoint *at, WcError *err), WcError *err)
{
	WcTable    *table;
	bool		hidden;
	WcStatus	status = wc_catalog_open_table(engine, at, table_id, &table, &hidden, err);

	if (status != WC_OK)
		return status;
	for (uint32_t i = 0; status == WC_OK && i < table->desc.nfamilies; i++)
	{
		status = check_cancel(at, err);
		if (status == WC_OK && table->stores[i]->cf != NULL)
			status = act(table->stores[i], major, at, err);
	}
	wc_table_unref(table);
	return status;
}

/* The status of an error.  What a commit has dropped need be neither flushed nor compacted,
 * and RocksDB refuses it; once asked, the commit that was about to is over. */
static WcStatus
unless_gone(WcStore *store, char *error, const char *action, WcError *err)
{
	bool		gone;

	if (error == NULL)
		return WC_OK;
	pthread_mutex_lock(&store->engine->write_mutex);
	gone = wc_store_is_dropped(store);
	pthread_mutex_unlock(&store->engine->write_mutex);
	if (!gone)
		return wc_store_status(store, error, action, err);
	rocksdb_free(error);
	return WC_OK;
}

static WcStatus
check_writable(WcStore *store, const char *action, WcError *err)
{
	char		name[WC_STORE_TEXT_MAX];
	char		what[WC_STORE_TEXT_MAX + 32];

	snprintf(what, sizeof(what), "%s %s", action, wc_store_text(store, name, sizeof(name)));
	return wc_health_check(&store->engine->health, what, err);
}

/* --- flush ----------------------------------------------------------------*/

/* RocksDB's memtables of a store to files. */
static WcStatus
flush_memtables(WcStore *store, const WcReadPoint *at, WcError *err)
{
	static const struct timespec pause = {0, 2000000};
	rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
	char	   *error = NULL;
	WcStatus	status;

	rocksdb_flush_cf(store->engine->db, options, store->cf, &error);
	rocksdb_flushoptions_destroy(options);
	status = unless_gone(store, error, "flush", err);
	if (!wc_health_was_resumed(&store->engine->health))
		return status;
	while (status == WC_OK && !wc_store_is_dropped(store) &&
		   wc_rocks_property(store->engine->db, store->cf, "rocksdb.num-immutable-mem-table") > 0)
	{
		nanosleep(&pause, NULL);
		status = check_writable(store, "flush", err);
		if (status == WC_OK)
			status = check_cancel(at, err);
	}
	return status;
}

/* As HBase's flush: what the memstore alone shows to be superseded is not
 * written.  A store of packing row did that when it was written to. */
static WcStatus
flush_store(WcStore *store, bool major, const WcReadPoint *at, WcError *err)
{
	WcPass		pass = {
		.store = store,.mode = WC_MATCH_MINOR,.memtables_only = true,.from_ts = 0,
		.until_ts = store->engine->last_ts,.now_us = clock_of(store, at),.cancel = at->cancel
	};
	int64_t		from,
				until;
	WcStatus	status = check_writable(store, "flush", err);

	if (status != WC_OK)
		return status;
	if (store->packing == WC_PACKING_CELL)
	{
		wc_compaction_memstore(store->compaction, &from, &until);
		if (from <= until)
		{
			/* some of it went to files early */
			pass.memtables_only = false;
			pass.from_ts = from;
		}
		status = wc_pass_run(&pass, err);
		if (status != WC_OK)
			return status;
		wc_compaction_set_memstore(store->compaction, INT64_MAX, INT64_MIN);
	}
	return flush_memtables(store, at, err);
}

WcStatus
wc_engine_flush(WcEngine *engine, uint32_t table_id, const WcReadPoint *at, WcError *err)
{
	return each_store(engine, table_id, at, false, flush_store, err);
}

/* --- compaction -----------------------------------------------------------*/

static WcStatus
compact_between(WcStore *store, const char *start, size_t start_len, const char *stop, size_t stop_len, WcError *err)
{
	rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();
	char	   *error;

	/* rewrite the bottom level too (kForce), so that the filter sees it; do not
	 * wait for compactions of other families to end */
	rocksdb_compactoptions_set_bottommost_level_compaction(options, 2);
	rocksdb_compactoptions_set_exclusive_manual_compaction(options, 0);
	error = wc_rocksplus_compact_range(store->engine->db, store->cf, options, start, start_len, stop, stop_len);
	rocksdb_compactoptions_destroy(options);
	return unless_gone(store, error, "compact", err);
}

static int
slice_cmp(const void *a, const void *b)
{
	return wc_slice_cmp(*(const WcSlice *) a, *(const WcSlice *) b);
}

/* Smallest keys of the store's files below level 0, in order; they point into
 * files.  NULL: out of memory. */
static WcSlice *
file_starts(WcStore *store, const rocksdb_livefiles_t *files, size_t *n)
{
	int			nfiles = rocksdb_livefiles_count(files);
	WcSlice    *starts = malloc(((size_t) nfiles + 1) * sizeof(WcSlice));
	char		name[WC_CF_NAME_MAX];

	*n = 0;
	wc_store_cf_name(store, name, sizeof(name));
	for (int i = 0; starts && i < nfiles; i++)
	{
		if (rocksdb_livefiles_level(files, i) == 0 ||
			strcmp(rocksdb_livefiles_column_family_name(files, i), name) != 0)
			continue;
		starts[*n].data = (const uint8_t *) rocksdb_livefiles_smallestkey(files, i, &starts[*n].len);
		(*n)++;
	}
	if (starts && *n > 1)
		qsort(starts, *n, sizeof(WcSlice), slice_cmp);
	return starts;
}

/* All files, some at a time. */
static WcStatus
compact_files(WcStore *store, const WcReadPoint *at, WcError *err)
{
	const rocksdb_livefiles_t *files = rocksdb_livefiles(store->engine->db);
	size_t		n;
	WcSlice    *starts = file_starts(store, files, &n);
	WcSlice		start = {NULL, 0};
	WcStatus	status = WC_OK;

	if (starts == NULL)
		status = wc_error(err, WC_NO_MEMORY, "out of memory for a compaction");
	for (size_t i = FILES_AT_ONCE; status == WC_OK && i < n; i += FILES_AT_ONCE)
	{
		status = compact_between(store, (const char *) start.data, start.len,
								 (const char *) starts[i].data, starts[i].len, err);
		start = starts[i];
		if (status == WC_OK)
			status = check_cancel(at, err);
	}
	if (status == WC_OK)
		status = compact_between(store, (const char *) start.data, start.len, NULL, 0, err);
	free(starts);
	rocksdb_livefiles_destroy(files);
	return status;
}

/*
 * HBase's compactions see files, not the memstore.  RocksDB's flush first: so
 * what is in the memtables now is remembered as the memstore, until a flush.
 */
static WcStatus
keep_memstore(WcStore *store, int64_t *files_until, WcError *err)
{
	int64_t		from,
				until,
				memtable_from;
	WcStatus	status;

	pthread_mutex_lock(&store->engine->write_mutex);
	status = wc_pass_memtable_start(store, &memtable_from, err);
	if (status == WC_OK)
	{
		wc_compaction_memstore(store->compaction, &from, &until);
		if (memtable_from < from)
			from = memtable_from;
		*files_until = store->engine->last_ts;
		if (from != INT64_MAX)
		{
			wc_compaction_set_memstore(store->compaction, from, store->engine->last_ts);
			*files_until = from - 1;
		}
	}
	pthread_mutex_unlock(&store->engine->write_mutex);
	return status;
}

/* What was over by a clock that is ahead may be gone, for all. */
static void
tell_of_other_clock(WcStore *store)
{
	pthread_mutex_lock(&store->engine->write_mutex);
	wc_watch_table(store->engine, store->table_id, 0);
	wc_watch_begin(store->engine);
	wc_watch_end(store->engine);
	pthread_mutex_unlock(&store->engine->write_mutex);
}

static WcStatus
compact_store(WcStore *store, bool major, const WcReadPoint *at, WcError *err)
{
	WcPass		pass = {
		.store = store,.mode = WC_MATCH_MAJOR,.from_ts = 0,.until_ts = INT64_MAX,.now_us = clock_of(store, at),.cancel = at->cancel
	};
	WcStatus	status = check_writable(store, "compact", err);
	WcStatus	settled;

	if (status == WC_OK && store->packing == WC_PACKING_CELL)
		status = keep_memstore(store, &pass.until_ts, err);
	if (status == WC_OK && major)
		status = wc_pass_run(&pass, err);
	if (status == WC_OK)
		status = flush_memtables(store, at, err);
	if (status == WC_OK)
		status = wc_history_lend(store, pass.now_us + 1, err);
	if (status != WC_OK)
		return status;
	wc_compaction_set_clock_offset(store->compaction, at->clock_offset_us);
	status = compact_files(store, at, err);
	if (at->clock_offset_us != 0)
		tell_of_other_clock(store);
	settled = wc_history_settle(store, status == WC_OK ? err : NULL);
	return status == WC_OK ? settled : status;
}

WcStatus
wc_engine_compact(WcEngine *engine, uint32_t table_id, bool major, const WcReadPoint *at, WcError *err)
{
	return each_store(engine, table_id, at, major, compact_store, err);
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
wc_engine_images_prune(WcEngine *engine, unsigned keep, int64_t min_age, WcError *err)
{
	return wc_image_prune(engine->images, keep, min_age, err);
}
