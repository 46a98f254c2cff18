/*
 * engine/rocks/rocks.c: the edges of RocksDB's C API, smoothed in one place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "engine/rocks/cellkey.h"
#include "engine/rocks/rocks.h"
#include "engine/rocks/rocksplus.h"

#define BLOOM_BITS_PER_KEY 10

/* A memtable's own bloom filter is this part of the write buffer. */
#define LEVEL0_FILES 4			/* that start a compaction, ... */
#define LEVEL0_SLOWDOWN 30		/* ... slow down writes, ... */
#define LEVEL0_STOP 50			/* ... and stop them */
#define SKIPPED_VERSIONS 32		/* of a key, before an iterator seeks the next key */

/*
 * A memtable allocates a bloom filter and a block of its arena with its first write, and both count against the budget
 * of all memtables.  With many families the budget would be spent on nearly empty memtables, and each write would flush
 * one.  So the more families there are, the less each memtable allocates: all filters together, and all first blocks
 * together, take about a sixteenth of the budget each.
 */
#define MEMTABLE_BLOOM_MAX (UINT64_C(128) << 10)
#define MEMTABLE_BLOOM_MIN (UINT64_C(1) << 10)
#define ARENA_BLOCK_MAX (UINT64_C(64) << 10)
#define ARENA_BLOCK_MIN (UINT64_C(4) << 10)
#define BUDGET_PART 16

#define MEMTABLE_BYTES_MIN (UINT64_C(4) << 20)

/* The capacity of the cache follows the lent bytes in steps of about so many: each change locks the whole cache. */
#define LENT_STEP (UINT64_C(1) << 20)

/* More files than there can be. */
#define NO_TRIGGER (1 << 30)
#define MEMTABLE_BYTES_MAX (UINT64_C(64) << 20)

/* --- errors ---------------------------------------------------------------*/

typedef struct RocksPrefix
{
	const char *prefix;
	WcStatus	status;
} RocksPrefix;

/* The first that fits counts, so the longer come first. */
static const RocksPrefix rocks_prefixes[] = {
	{"IO error: No space left on device", WC_NO_SPACE},
	{"IO error: Space limit reached", WC_NO_SPACE},
	{"IO error: Max allowed space", WC_NO_SPACE},
	{"IO error: Memory limit", WC_NO_MEMORY},
	{"IO error", WC_IO},
	{"Corruption", WC_CORRUPT},
	{"Operation aborted: Memory limit", WC_NO_MEMORY},
	{"Shutdown in progress", WC_SHUTDOWN},
	{"Not implemented", WC_UNSUPPORTED},
	{"Resource busy", WC_CONFLICT},
	{"Operation timed out", WC_IO},
	{"NotFound", WC_INTERNAL},
	{"Invalid argument", WC_INTERNAL},
};

static const char *
rocks_hint(WcStatus status)
{
	switch (status)
	{
		case WC_NO_SPACE:
			return "Free space on the disk of widecol.data_directory: writing goes on by itself then.";
		case WC_NO_FILES:
			return wc_file_limit_hint();
		case WC_IO:
			return "Look at the disk of widecol.data_directory and at the server's log.  Writing goes on by itself when "
				"the disk can be written to again.";
		case WC_CORRUPT:
			return "A file in widecol.data_directory is damaged: restore it, or save what can be read of the stored "
				"table and make the table anew.";
		case WC_NO_MEMORY:
			return "Give the server more memory, or let it take less: widecol.block_cache_size, widecol.write_buffer_size.";
		default:
			return "Look at the server's log, and restart the server if this comes again.";
	}
}

WcStatus
wc_rocks_text_status(const char *text, const char *what, WcError *err)
{
	WcStatus	status = WC_INTERNAL;

	for (size_t i = 0; i < sizeof(rocks_prefixes) / sizeof(rocks_prefixes[0]); i++)
	{
		if (strncmp(text, rocks_prefixes[i].prefix, strlen(rocks_prefixes[i].prefix)) == 0)
		{
			status = rocks_prefixes[i].status;
			break;
		}
	}
	/* errno's text ends up in the middle of an IO error */
	if (status == WC_IO && strstr(text, "No space left on device") != NULL)
		status = WC_NO_SPACE;
	if (status == WC_IO && strstr(text, "Too many open files") != NULL)
		status = WC_NO_FILES;
	wc_error(err, status, "storage engine could not %s", what);
	wc_error_detail(err, "RocksDB said: %s.", text);
	wc_error_hint(err, "%s", rocks_hint(status));
	return status;
}

WcStatus
wc_rocks_status(char *text, const char *what, WcError *err)
{
	WcStatus	status;

	if (text == NULL)
		return WC_OK;

	/* Of a file NUMBER.sst that it misses it says the name of long ago. */
	for (char *p = text; (p = strstr(p, ".ldb")) != NULL;)
		memcpy(p, ".sst", 4);
	status = wc_rocks_text_status(text, what, err);
	rocksdb_free(text);
	return status;
}

/* --- prefixes for bloom filters ------------------------------------------- */

static void
prefix_destroy(void *state)
{
	(void) state;				/* there is none */
}

static char *
row_prefix_transform(void *state, const char *key, size_t len, size_t *out_len)
{
	*out_len = wc_cellkey_row_prefix(wc_slice(key, len));
	return (char *) key;
}

static unsigned char
row_prefix_in_domain(void *state, const char *key, size_t len)
{
	return wc_cellkey_row_prefix(wc_slice(key, len)) != 0;
}

static const char *
row_prefix_name(void *state)
{
	return "widecol.row";
}

static char *
column_prefix_transform(void *state, const char *key, size_t len, size_t *out_len)
{
	*out_len = wc_cellkey_column_prefix(wc_slice(key, len));
	return (char *) key;
}

static unsigned char
column_prefix_in_domain(void *state, const char *key, size_t len)
{
	return wc_cellkey_column_prefix(wc_slice(key, len)) != 0;
}

static const char *
column_prefix_name(void *state)
{
	return "widecol.rowcol";
}

static unsigned char
prefix_in_range(void *state, const char *key, size_t len)
{
	return 0;					/* RocksDB no longer asks */
}

/* --- options --------------------------------------------------------------*/

/* An option that the C API has no function for.  Frees base. */
static rocksdb_options_t *
with_option(rocksdb_options_t *base, const char *option)
{
	rocksdb_options_t *options = rocksdb_options_create();
	char	   *error = NULL;

	rocksdb_get_options_from_string(base, option, options, &error);
	if (error)
	{
		wc_log(WC_LOG_WARNING, "RocksDB does not know %s: %s", option, error);
		rocksdb_free(error);
		rocksdb_options_destroy(options);
		return base;
	}
	rocksdb_options_destroy(base);
	return options;
}

void
wc_rocks_shared_init(WcRocksShared *shared, uint64_t cache_bytes, uint64_t write_buffer_bytes) WC_UNCHECKED
{
	pthread_mutex_init(&shared->capacity_mutex, NULL);
	shared->cache = rocksdb_cache_create_lru(cache_bytes);
	shared->memory_cache = NULL;
	shared->cache_bytes = cache_bytes;
	shared->reserved_bytes = shared->lent_bytes = shared->left_bytes = 0;
	shared->write_buffer_bytes = write_buffer_bytes;
	atomic_init(&shared->families, 0);
}

void
wc_rocks_shared_free(WcRocksShared *shared)
{
	if (shared->cache)
		rocksdb_cache_destroy(shared->cache);
	if (shared->memory_cache)
		rocksdb_cache_destroy(shared->memory_cache);
	shared->cache = shared->memory_cache = NULL;
	pthread_mutex_destroy(&shared->capacity_mutex);
}

static void
set_capacity(WcRocksShared *shared) WC_REQUIRES(shared->capacity_mutex)
{
	shared->left_bytes = shared->lent_bytes;
	rocksdb_cache_set_capacity(shared->cache, shared->cache_bytes - shared->reserved_bytes - shared->left_bytes);
}

bool
wc_rocks_shared_lend(WcRocksShared *shared, uint64_t bytes)
{
	bool		fits;

	pthread_mutex_lock(&shared->capacity_mutex);
	fits = bytes <= shared->cache_bytes / WC_SCAN_MEMORY_PART - shared->lent_bytes;
	if (fits)
		shared->lent_bytes += bytes;
	if (fits && shared->lent_bytes >= shared->left_bytes + LENT_STEP)
		set_capacity(shared);
	pthread_mutex_unlock(&shared->capacity_mutex);
	return fits;
}

void
wc_rocks_shared_give_back(WcRocksShared *shared, uint64_t bytes)
{
	pthread_mutex_lock(&shared->capacity_mutex);
	shared->lent_bytes -= bytes;
	if (shared->lent_bytes + LENT_STEP <= shared->left_bytes)
		set_capacity(shared);
	pthread_mutex_unlock(&shared->capacity_mutex);
}

uint64_t
wc_rocks_shared_lent(WcRocksShared *shared)
{
	uint64_t	bytes;

	pthread_mutex_lock(&shared->capacity_mutex);
	bytes = shared->lent_bytes;
	pthread_mutex_unlock(&shared->capacity_mutex);
	return bytes;
}

static size_t
memtable_bytes(const WcRocksShared *shared)
{
	uint64_t	bytes = shared->write_buffer_bytes / 2;

	if (bytes < MEMTABLE_BYTES_MIN)
		bytes = MEMTABLE_BYTES_MIN;
	if (bytes > MEMTABLE_BYTES_MAX)
		bytes = MEMTABLE_BYTES_MAX;
	return (size_t) bytes;
}

/* One family's share of a part of the budget. */
static uint64_t
family_share(WcRocksShared *shared, uint64_t least, uint64_t most)
{
	uint64_t	bytes = shared->write_buffer_bytes / BUDGET_PART / (atomic_load(&shared->families) + 1);

	if (bytes > most)
		return most;
	return bytes < least ? least : bytes;
}

static rocksdb_block_based_table_options_t *
table_options(rocksdb_cache_t *cache, uint32_t blocksize)
{
	rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();

	rocksdb_block_based_options_set_format_version(table, 5);
	rocksdb_block_based_options_set_block_size(table, blocksize);
	if (cache)
		rocksdb_block_based_options_set_block_cache(table, cache);
	else
		rocksdb_block_based_options_set_no_block_cache(table, 1);
	return table;
}

rocksdb_options_t *
wc_rocks_db_options(const WcRocksShared *shared, int max_open_files, int max_background_jobs)
{
	/* the manifest has the names and lengths of the log files that must exist */
	rocksdb_options_t *options = with_option(rocksdb_options_create(), "track_and_verify_wals_in_manifest=true");
	rocksdb_block_based_table_options_t *table = table_options(shared->cache, 4096);

	rocksdb_options_set_block_based_table_factory(options, table);
	rocksdb_block_based_options_destroy(table);

	/* The last write before a crash may be incomplete: the log ends before it.  The caller finds out whether
	 * it had been synced. */
	rocksdb_options_set_wal_recovery_mode(options, rocksdb_point_in_time_recovery);
	rocksdb_options_set_write_buffer_size(options, MEMTABLE_BYTES_MIN);

	/* The pieces of large transactions are written into the catalog's column family, and deleted there soon.  It has
	 * few reads: so commits do not wait for its compactions. */
	rocksdb_options_set_max_write_buffer_number(options, 4);
	rocksdb_options_set_level0_slowdown_writes_trigger(options, NO_TRIGGER);
	rocksdb_options_set_level0_stop_writes_trigger(options, NO_TRIGGER);
	rocksdb_options_set_soft_pending_compaction_bytes_limit(options, 0);
	rocksdb_options_set_hard_pending_compaction_bytes_limit(options, 0);
	rocksdb_options_set_max_open_files(options, max_open_files);

	/* For each family it would make 15 threads, to open 16 files of all families together, unless it opens all files. */
	if (max_open_files >= 0)
		rocksdb_options_set_max_file_opening_threads(options, 1);
	if (max_background_jobs > 0)
		rocksdb_options_set_max_background_jobs(options, max_background_jobs);

	/* One budget for all; and the log is kept no longer than that deserves, also
	 * for the sake of families that are hardly ever written. */
	rocksdb_options_set_db_write_buffer_size(options, (size_t) shared->write_buffer_bytes);
	rocksdb_options_set_max_total_wal_size(options, 4 * shared->write_buffer_bytes);

	rocksdb_options_set_bytes_per_sync(options, 1 << 20);
	rocksdb_options_set_wal_bytes_per_sync(options, 1 << 20);	/* so that a sync has little left to do */
	wc_rocksplus_log_to_server(options, false);
	wc_rocksplus_set_files(options);
	rocksdb_options_set_stats_dump_period_sec(options, 0);
	rocksdb_options_set_stats_persist_period_sec(options, 0);
	return options;
}

rocksdb_options_t *
wc_rocks_salvage_options(const rocksdb_options_t *options, WcRecover recover)
{
	rocksdb_options_t *lax = with_option(rocksdb_options_create_copy((rocksdb_options_t *) options),
										 "track_and_verify_wals_in_manifest=false");

	wc_rocksplus_log_to_server(lax, true);
	if (recover == WC_RECOVER_READABLE)
		rocksdb_options_set_wal_recovery_mode(lax, rocksdb_skip_any_corrupted_records_recovery);
	return lax;
}

WcStatus
wc_rocks_open_and_close(const rocksdb_options_t *options, const char *path, WcError *err)
{
	size_t		n = 0;
	char	   *error = NULL;
	char	  **names = rocksdb_list_column_families(options, path, &n, &error);
	rocksdb_column_family_handle_t **handles = NULL;
	const rocksdb_options_t **each = NULL;
	rocksdb_t  *db;
	WcStatus	status = wc_rocks_status(error, "open its database", err);

	if (status != WC_OK)
		return status;
	handles = calloc(n, sizeof(*handles));
	each = calloc(n, sizeof(*each));
	if (handles == NULL || each == NULL)
		status = wc_error(err, WC_NO_MEMORY, "out of memory while opening the store");
	for (size_t i = 0; status == WC_OK && i < n; i++)
		each[i] = options;
	if (status == WC_OK)
	{
		db = rocksdb_open_column_families(options, path, (int) n, (const char *const *) names, each, handles, &error);
		status = wc_rocks_status(error, "open its database", err);
	}
	if (status == WC_OK)
	{
		for (size_t i = 0; i < n; i++)
			rocksdb_column_family_handle_destroy(handles[i]);
		rocksdb_close(db);
	}
	free(handles);
	free(each);
	rocksdb_list_column_families_destroy(names, n);
	return status;
}

static int
rocks_compression(uint8_t compression)
{
	switch (compression)
	{
		case WC_COMPRESSION_SNAPPY:
			return rocksdb_snappy_compression;
		case WC_COMPRESSION_LZ4:
			return rocksdb_lz4_compression;
		case WC_COMPRESSION_ZSTD:
			return rocksdb_zstd_compression;
		default:
			return rocksdb_no_compression;
	}
}

/* lz4 means: for levels that are written often; the bottommost level uses ZSTD. */
static int
rocks_bottommost_compression(uint8_t compression)
{
	return rocks_compression(compression == WC_COMPRESSION_LZ4 ? WC_COMPRESSION_ZSTD : compression);
}

static rocksdb_cache_t *
family_cache(WcRocksShared *shared, const WcFamilyAttrs *attrs)
{
	if (!attrs->blockcache)
		return NULL;
	if (!attrs->in_memory)
		return shared->cache;

	/* As in HBase, a quarter of the cache is theirs alone, once there is one. */
	if (shared->memory_cache == NULL)
	{
		shared->memory_cache = rocksdb_cache_create_lru(shared->cache_bytes / 4);
		pthread_mutex_lock(&shared->capacity_mutex);
		shared->reserved_bytes = shared->cache_bytes / 4;
		set_capacity(shared);
		pthread_mutex_unlock(&shared->capacity_mutex);
	}
	return shared->memory_cache;
}

static void
set_bloom(WcRocksShared *shared, rocksdb_options_t *options, rocksdb_block_based_table_options_t *table,
		  const WcFamilyAttrs *attrs, uint8_t packing)
{
	uint64_t	bytes = family_share(shared, MEMTABLE_BLOOM_MIN, MEMTABLE_BLOOM_MAX);

	if (attrs->bloomfilter == WC_BLOOM_NONE)
		return;
	rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(BLOOM_BITS_PER_KEY));
	rocksdb_options_set_memtable_prefix_bloom_size_ratio(options, (double) bytes / (double) memtable_bytes(shared));
	if (packing == WC_PACKING_ROW)
	{
		/* the key is the row */
		rocksdb_block_based_options_set_whole_key_filtering(table, 1);
		rocksdb_options_set_memtable_whole_key_filtering(options, 1);
		return;
	}

	/* no read asks for a whole key: the timestamp is not known before */
	rocksdb_block_based_options_set_whole_key_filtering(table, 0);
	if (attrs->bloomfilter == WC_BLOOM_ROW)
		rocksdb_options_set_prefix_extractor(options,
			rocksdb_slicetransform_create(NULL, prefix_destroy, row_prefix_transform,
										  row_prefix_in_domain, prefix_in_range, row_prefix_name));
	else
		rocksdb_options_set_prefix_extractor(options,
			rocksdb_slicetransform_create(NULL, prefix_destroy, column_prefix_transform,
										  column_prefix_in_domain, prefix_in_range, column_prefix_name));
}

rocksdb_options_t *
wc_rocks_family_options(WcRocksShared *shared, const WcFamilyAttrs *attrs, uint8_t packing,
						rocksdb_compactionfilterfactory_t *factory)
{
	rocksdb_options_t *options = rocksdb_options_create();
	rocksdb_block_based_table_options_t *table = table_options(family_cache(shared, attrs), attrs->blocksize);

	set_bloom(shared, options, table, attrs, packing);
	rocksdb_options_set_block_based_table_factory(options, table);
	rocksdb_block_based_options_destroy(table);

	rocksdb_options_set_compression(options, rocks_compression(attrs->compression));
	rocksdb_options_set_bottommost_compression(options, rocks_bottommost_compression(attrs->compression));
	rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1);
	rocksdb_options_set_write_buffer_size(options, memtable_bytes(shared));
	rocksdb_options_set_max_write_buffer_number(options, 4);
	rocksdb_options_set_arena_block_size(options, family_share(shared, ARENA_BLOCK_MIN, ARENA_BLOCK_MAX));

	/* With RocksDB's 8, an iterator would seek at each row that was changed in as many files: that costs more than to
	 * step over the versions in all files. */
	rocksdb_options_set_max_sequential_skip_in_iterations(options, SKIPPED_VERSIONS);

	/* Scans read all files of level 0.  A compaction forgets only cells that are gone, so it may run at any time. */
	rocksdb_options_set_level0_file_num_compaction_trigger(options, LEVEL0_FILES);
	rocksdb_options_set_level0_slowdown_writes_trigger(options, LEVEL0_SLOWDOWN);
	rocksdb_options_set_level0_stop_writes_trigger(options, LEVEL0_STOP);
	if (factory)
		rocksdb_options_set_compaction_filter_factory(options, factory);
	return options;
}

static const char *
compression_option(int compression)
{
	switch (compression)
	{
		case rocksdb_snappy_compression:
			return "kSnappyCompression";
		case rocksdb_lz4_compression:
			return "kLZ4Compression";
		case rocksdb_zstd_compression:
			return "kZSTD";
		default:
			return "kNoCompression";
	}
}

WcStatus
wc_rocks_family_alter(rocksdb_t *db, rocksdb_column_family_handle_t *cf, const WcFamilyAttrs *attrs, WcError *err)
{
	static const char *const keys[] = {"compression", "bottommost_compression", "block_based_table_factory"};
	char		blocksize[64];
	const char *values[3];
	char	   *error = NULL;

	values[0] = compression_option(rocks_compression(attrs->compression));
	values[1] = compression_option(rocks_bottommost_compression(attrs->compression));
	snprintf(blocksize, sizeof(blocksize), "{block_size=%u;}", attrs->blocksize);
	values[2] = blocksize;
	rocksdb_set_options_cf(db, cf, 3, keys, values, &error);
	return wc_rocks_status(error, "change the options of a family", err);
}

uint64_t
wc_rocks_property(rocksdb_t *db, rocksdb_column_family_handle_t *cf, const char *name)
{
	uint64_t	value = 0;

	if (rocksdb_property_int_cf(db, cf, name, &value) != 0)
		return 0;
	return value;
}

/* Behind all keys but freaks, which an estimate may miss. */
static const char key_behind_all[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";

WcStatus
wc_rocks_bytes_between(rocksdb_t *db, rocksdb_column_family_handle_t *cf, WcSlice start, WcSlice stop,
					   uint64_t *bytes, WcError *err)
{
	const char *starts[1];
	const char *stops[1];
	char	   *error = NULL;

	*bytes = 0;
	if (stop.len == 0)
		stop = wc_slice(key_behind_all, sizeof(key_behind_all) - 1);

	/* the other way round, its assertions end the process */
	if (wc_slice_cmp(start, stop) >= 0)
		return WC_OK;
	starts[0] = start.len > 0 ? (const char *) start.data : "";
	stops[0] = (const char *) stop.data;
	rocksdb_approximate_sizes_cf(db, cf, 1, starts, &start.len, stops, &stop.len, bytes, &error);
	return wc_rocks_status(error, "estimate a range", err);
}
