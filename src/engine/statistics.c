/*
 * engine/statistics.c: rows of the views of statistics about the engine and about tables.
 *
 * Counters are read without a mutex.  RocksDB answers the rest; its files are listed once for all tables.  No mutex of
 * the engine is locked while RocksDB answers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "engine/store/state.h"

static WcStatus
statistics_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for statistics");
}

/* More works than this are not shown. */
#define WC_PROGRESS_MAX 1000

/* --- all stores ----------------------------------------------------------------*/

/* Pictures of the committed tables, each a reference, ascending ids. */
typedef struct Tables
{
	WcTable   **tables;
	size_t		n;
} Tables;

static WcStatus
hold_tables(WcEngine *engine, Tables *held, WcError *err)
{
	WcCatalog  *catalog = &engine->catalog;

	held->n = 0;
	pthread_rwlock_rdlock(&catalog->lock);
	held->tables = malloc((catalog->ntables + 1) * sizeof(WcTable *));
	for (size_t i = 0; held->tables != NULL && i < catalog->ntables; i++)
		held->tables[held->n++] = wc_table_ref(catalog->tables[i]);
	pthread_rwlock_unlock(&catalog->lock);
	return held->tables != NULL ? WC_OK : statistics_memory(err);
}

static void
release_tables(Tables *held)
{
	for (size_t i = 0; i < held->n; i++)
		wc_table_unref(held->tables[i]);
	free(held->tables);
}

void
wc_engine_table_name(WcEngine *engine, uint32_t table_id, WcBuf *buf, WcSlice names[2])
{
	WcTable    *table = wc_catalog_table(engine, table_id);
	size_t		ns_len;

	names[0] = names[1] = wc_slice(NULL, 0);
	if (table == NULL)
		return;
	wc_buf_reset(buf, SIZE_MAX);
	wc_buf_append_slice(buf, table->desc.ns);
	ns_len = buf->len;
	wc_buf_append_slice(buf, table->desc.name);
	if (!buf->failed)
	{
		names[0] = wc_slice(buf->data, ns_len);
		names[1] = wc_slice(buf->data + ns_len, buf->len - ns_len);
	}
	wc_table_unref(table);
}

/* --- files ----------------------------------------------------------------------*/

/* Files of one column family. */
typedef struct FamilyFiles
{
	const char *name;			/* in RocksDB's list */
	uint64_t	files;
	uint64_t	bytes;
} FamilyFiles;

static int
compare_names(const void *a, const void *b)
{
	return strcmp(((const FamilyFiles *) a)->name, ((const FamilyFiles *) b)->name);
}

/* One entry a family, by names; the names point into the list.  NULL: out of memory. */
static FamilyFiles *
files_by_family(const rocksdb_livefiles_t *list, size_t *n)
{
	int			nfiles = rocksdb_livefiles_count(list);
	FamilyFiles *all = malloc(((size_t) nfiles + 1) * sizeof(FamilyFiles));
	size_t		kept = 0;

	if (all == NULL)
		return NULL;
	for (int i = 0; i < nfiles; i++)
		all[i] = (FamilyFiles) {rocksdb_livefiles_column_family_name(list, i), 1, rocksdb_livefiles_size(list, i)};
	qsort(all, (size_t) nfiles, sizeof(FamilyFiles), compare_names);
	for (int i = 0; i < nfiles; i++)
	{
		if (kept > 0 && strcmp(all[kept - 1].name, all[i].name) == 0)
		{
			all[kept - 1].files++;
			all[kept - 1].bytes += all[i].bytes;
		}
		else
			all[kept++] = all[i];
	}
	*n = kept;
	return all;
}

/* --- tables ----------------------------------------------------------------------*/

static void
append_family(WcBuf *out, const WcTable *table, uint32_t i, const FamilyFiles *files, size_t nfiles)
{
	const WcSlice texts[WC_FAMILY_TEXTS] = {table->desc.ns, table->desc.name, table->desc.families[i].name};
	WcStore    *store = table->stores[i];
	rocksdb_t  *db = store->engine->db;
	WcFamilyStatistics s = {0};
	WcMarks		marks = wc_marks(store);
	char		name[WC_CF_NAME_MAX];
	FamilyFiles key = {.name = wc_store_cf_name(store, name, sizeof(name))};
	const FamilyFiles *own = nfiles > 0 ? bsearch(&key, files, nfiles, sizeof(*files), compare_names) : NULL;

	wc_storecounts_get(&store->counts, &s);
	s.keys = wc_rocks_property(db, store->cf, "rocksdb.estimate-num-keys");
	s.dead = marks.superseded + marks.dated;
	s.memtable_bytes = wc_rocks_property(db, store->cf, "rocksdb.cur-size-all-mem-tables");
	s.files = own != NULL ? own->files : 0;
	s.file_bytes = own != NULL ? own->bytes : 0;
	wc_statistics_append(out, texts, WC_FAMILY_TEXTS, (const uint64_t *) &s, WC_STATISTICS_NUMBERS(s));
}

WcStatus
wc_engine_table_statistics(WcEngine *engine, uint32_t database, WcBuf *out, WcError *err)
{
	const rocksdb_livefiles_t *list = rocksdb_livefiles(engine->db);
	size_t		nfiles = 0;
	FamilyFiles *files = files_by_family(list, &nfiles);
	Tables		held = {NULL, 0};
	WcStatus	status = files != NULL ? hold_tables(engine, &held, err) : statistics_memory(err);

	for (size_t t = 0; status == WC_OK && t < held.n; t++)
	{
		if (held.tables[t]->desc.database != database)
			continue;
		for (uint32_t i = 0; i < held.tables[t]->desc.nfamilies; i++)
			append_family(out, held.tables[t], i, files, nfiles);
	}
	release_tables(&held);
	free(files);
	rocksdb_livefiles_destroy(list);
	return status == WC_OK ? wc_buf_status(out, "statistics", err) : status;
}

/* --- the engine -----------------------------------------------------------------*/

static void
measure_memory(WcEngine *engine, WcEngineStatistics *to)
{
	rocksdb_memory_consumers_t *consumers = rocksdb_memory_consumers_create();
	rocksdb_memory_usage_t *usage;
	char	   *error = NULL;

	rocksdb_memory_consumers_add_db(consumers, engine->db);
	usage = rocksdb_approximate_memory_usage_create(consumers, &error);
	if (error == NULL)
	{
		to->memtable_bytes = rocksdb_approximate_memory_usage_get_mem_table_total(usage);
		to->index_bytes = rocksdb_approximate_memory_usage_get_mem_table_readers_total(usage);
		rocksdb_approximate_memory_usage_destroy(usage);
	}
	else
		rocksdb_free(error);	/* it does not fail; the numbers are 0 then */
	rocksdb_memory_consumers_destroy(consumers);
	to->cache_bytes = rocksdb_cache_get_usage(engine->shared.cache) + wc_rocks_shared_lent(&engine->shared);
	if (engine->shared.memory_cache != NULL)
		to->cache_bytes += rocksdb_cache_get_usage(engine->shared.memory_cache);
}

static void
measure_files(WcEngine *engine, WcEngineStatistics *to)
{
	const rocksdb_livefiles_t *list = rocksdb_livefiles(engine->db);
	int			n = rocksdb_livefiles_count(list);

	to->files = (uint64_t) n;
	for (int i = 0; i < n; i++)
	{
		int			level = rocksdb_livefiles_level(list, i);

		if (level >= 0 && level < WC_ROCKS_LEVELS)
			to->level_bytes[level] += rocksdb_livefiles_size(list, i);
	}
	rocksdb_livefiles_destroy(list);
}

static WcStatus
count_waiting(WcEngine *engine, WcEngineStatistics *to, WcError *err)
{
	Tables		held;
	WcStatus	status = hold_tables(engine, &held, err);

	if (status != WC_OK)
		return status;
	for (size_t t = 0; t < held.n; t++)
	{
		for (uint32_t i = 0; i < held.tables[t]->desc.nfamilies; i++)
			to->compactions_waiting += wc_rocks_property(engine->db, held.tables[t]->stores[i]->cf, "rocksdb.compaction-pending");
	}
	release_tables(&held);
	return WC_OK;
}

WcStatus
wc_engine_statistics(WcEngine *engine, WcEngineStatistics *to, WcError *why, WcError *err)
{
	wc_counts_get(&engine->counts, to);
	to->void_operations = engine->nvoid;
	wc_snapshots_count(engine, &to->snapshots, &to->snapshot_us);

	to->flushes_running = wc_rocks_property(engine->db, engine->meta, "rocksdb.num-running-flushes");
	to->compactions_running = wc_rocks_property(engine->db, engine->meta, "rocksdb.num-running-compactions");
	to->stalled = wc_rocks_property(engine->db, engine->meta, "rocksdb.is-write-stopped") > 0 ? 2 :
		wc_rocks_property(engine->db, engine->meta, "rocksdb.actual-delayed-write-rate") > 0;
	measure_memory(engine, to);
	measure_files(engine, to);

	why->message[0] = '\0';
	if (wc_health_check(&engine->health, "write", why) == WC_OK)
		why->message[0] = '\0';
	return count_waiting(engine, to, err);
}

WcStatus
wc_engine_reset_statistics(WcEngine *engine, WcError *err)
{
	Tables		held;
	WcStatus	status = hold_tables(engine, &held, err);

	if (status != WC_OK)
		return status;
	wc_counts_reset(&engine->counts, wc_clock_wall_us());
	atomic_store(&engine->nvoid, 0);
	for (size_t t = 0; t < held.n; t++)
	{
		for (uint32_t i = 0; i < held.tables[t]->desc.nfamilies; i++)
			wc_storecounts_reset(&held.tables[t]->stores[i]->counts);
	}
	release_tables(&held);
	return WC_OK;
}

void
wc_engine_add_use(WcEngine *engine, const WcUseCounts *use)
{
	wc_counts_add_use(&engine->counts, use);
}

/* --- progress -------------------------------------------------------------------*/

/* Works on stores.  First copied, then given names: so no mutex is locked while names are looked up. */
typedef struct Works
{
	WcProgress	rows[WC_PROGRESS_MAX];
	uint32_t	tables[WC_PROGRESS_MAX];
	uint32_t	families[WC_PROGRESS_MAX];
	size_t		n;
} Works;

static void
take_work(void *arg, const WcRunning *work)
{
	Works	   *w = arg;

	if (w->n == WC_PROGRESS_MAX)
		return;
	w->rows[w->n] = (WcProgress) {
		.kind = work->kind,.pid = work->pid,.since_us = work->since_us,.phase = work->phase,.done = work->done,.total = work->total
	};
	w->tables[w->n] = work->store->table_id;
	w->families[w->n++] = work->store->family_id;
}

static void
append_progress(WcBuf *out, WcTable *table, uint32_t family, WcProgress *row)
{
	WcSlice		texts[WC_PROGRESS_TEXTS] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};

	if (table != NULL)
	{
		row->database = table->desc.database;
		texts[0] = table->desc.ns;
		texts[1] = table->desc.name;
		for (uint32_t i = 0; i < table->desc.nfamilies; i++)
		{
			if (table->desc.families[i].id == family)
				texts[2] = table->desc.families[i].name;
		}
	}
	wc_statistics_append(out, texts, WC_PROGRESS_TEXTS, (const uint64_t *) row, WC_STATISTICS_NUMBERS(*row));
}

/* RocksDB's own flushes and compactions, but those of its column family "default". */
static void
append_rocks(WcEngine *engine, const WcRocksRunning *running, size_t n, WcBuf *out)
{
	bool		flushes = wc_rocks_property(engine->db, engine->meta, "rocksdb.num-running-flushes") > 0;

	for (size_t i = 0; i < n; i++)
	{
		WcStore    *store = wc_store_of_cf(engine, running[i].family);
		WcProgress	row = {
			.kind = running[i].flush ? WC_PROGRESS_ROCKS_FLUSH : WC_PROGRESS_ROCKS_COMPACTION,.since_us = running[i].since_us,
			.phase = WC_PHASE_ROCKS,.total = running[i].bytes
		};
		WcTable    *table = store != NULL ? wc_catalog_table(engine, store->table_id) : NULL;

		/* a flush that has failed has no end */
		if (store != NULL && (flushes || !running[i].flush))
			append_progress(out, table, store->family_id, &row);
		wc_table_unref(table);
		wc_store_unref(store);
	}
}

WcStatus
wc_engine_progress(WcEngine *engine, WcBuf *out, WcError *err)
{
	Works	   *works = calloc(1, sizeof(Works));
	WcRocksRunning *running = malloc(WC_ROCKS_RUNNING_MAX * sizeof(*running));

	if (works != NULL && running != NULL)
	{
		wc_running_each(&engine->counts, take_work, works);
		for (size_t i = 0; i < works->n; i++)
		{
			WcTable    *table = wc_catalog_table(engine, works->tables[i]);

			append_progress(out, table, works->families[i], &works->rows[i]);
			wc_table_unref(table);
		}
		append_rocks(engine, running, wc_counts_running(&engine->counts, running), out);
	}
	else
		out->failed = true;
	free(works);
	free(running);
	return wc_buf_status(out, "progress", err);
}
