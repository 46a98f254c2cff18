/*
 * engine/admin.c: flush, compact, major compact.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/catalog/catalog.h"
#include "engine/store/state.h"
#include "engine/write/step.h"

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

/* The steps of a flush or a compaction. */
static WcStatus
run_pass(WcStore *store, const WcPassOptions *options, WcError *err)
{
	WcPass	   *pass;
	uint64_t	changed;
	WcStatus	status = wc_pass_create(store, options, &pass, err);

	if (status == WC_OK)
		status = wc_step_apply_all(store->engine, pass, &changed, err);
	wc_pass_free(pass);
	return status;
}

/* As HBase's flush: what the memstore alone shows to be superseded is not
 * written.  A store of packing row did that when it was written to. */
static WcStatus
flush_store(WcStore *store, bool major, const WcReadPoint *at, WcError *err)
{
	WcPassOptions options = {
		.kind = WC_STEP_FLUSH,.from_ts = wc_marks(store).flushed_ts,.until_ts = store->engine->last_ts,
		.dated_until_ts = INT64_MAX,.now_us = clock_of(store, at),.cancel = at->cancel
	};
	WcStatus	status = check_writable(store, "flush", err);

	if (status == WC_OK && store->packing == WC_PACKING_CELL && options.from_ts < options.until_ts)
		status = run_pass(store, &options, err);
	return status == WC_OK ? flush_memtables(store, at, err) : status;
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

/* HBase's compactions see files, not the memstore: what has been in a flush. */
static WcStatus
compact_store(WcStore *store, bool major, const WcReadPoint *at, WcError *err)
{
	bool		cells = store->packing == WC_PACKING_CELL;
	WcMarks		marks = wc_marks(store);
	WcPassOptions options = {
		.kind = major ? WC_STEP_MAJOR : WC_STEP_COMPACT,.until_ts = cells ? marks.flushed_ts : INT64_MAX,
		.dated_until_ts = INT64_MAX,.now_us = clock_of(store, at),.cancel = at->cancel,.look_for_earliest_put = true
	};
	WcStatus	status = check_writable(store, "compact", err);

	if (major && !cells)
	{
		/* it goes through all that was counted */
		options.superseded = marks.superseded;
		options.dated = marks.dated;
	}
	if (status == WC_OK)
		status = run_pass(store, &options, err);
	if (status == WC_OK)
		status = flush_memtables(store, at, err);
	return status == WC_OK ? compact_files(store, at, err) : status;
}

WcStatus
wc_engine_compact(WcEngine *engine, uint32_t table_id, bool major, const WcReadPoint *at, WcError *err)
{
	return each_store(engine, table_id, at, major, compact_store, err);
}
