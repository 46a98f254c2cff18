/*
 * test/unit/enginekit.c: an engine in a directory of its own, for tests.
 */
#include "enginekit.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "engine/store/state.h"
#include "rpc/lock/epochs.h"

/* Scans of a few rows walk over several chunks of the scan cache. */
#define SCAN_CHUNK_BYTES 200

static const char *const status_names[WC_STATUS_COUNT] = {
	[WC_OK] = "ok",
	[WC_END] = "end",
	[WC_INVALID] = "invalid argument",
	[WC_TOO_LARGE] = "too large",
	[WC_NO_NAMESPACE] = "no such namespace",
	[WC_NO_TABLE] = "no such table",
	[WC_NO_FAMILY] = "no such family",
	[WC_EXISTS] = "exists already",
	[WC_DUPLICATE_ROW] = "duplicate row",
	[WC_IN_USE] = "in use",
	[WC_BAD_DATA] = "bad data",
	[WC_CANCELLED] = "cancelled",
	[WC_CONFLICT] = "conflict",
	[WC_STALE] = "stale descriptor",
	[WC_CORRUPT] = "corrupt",
	[WC_IO] = "input/output error",
	[WC_NO_SPACE] = "no space",
	[WC_NO_FILES] = "too many open files",
	[WC_NO_MEMORY] = "out of memory",
	[WC_SHUTDOWN] = "shutting down",
	[WC_UNSUPPORTED] = "unsupported",
	[WC_INTERNAL] = "internal error",
};

_Atomic int64_t kit_now = 1000000;

/*
 * RocksDB frees a file's index when the last reference goes, which it counts with
 * atomics that ThreadSanitizer does not see (RocksDB is not built with it).  Both
 * sides of such a report, the read and the free, are inside RocksDB and about its
 * own memory; only this destructor is named, so that nothing of ours is hidden.
 */
const char *__tsan_default_suppressions(void);

const char *
__tsan_default_suppressions(void)
{
	return "race:rocksdb::BinarySearchIndexReader::~BinarySearchIndexReader\n";
}

uint64_t	kit_txn_memory;
size_t		kit_row_together_max;

static int64_t
kit_clock(void)
{
	return kit_now;
}

WcGetCache *
kit_getcache(uint64_t bytes, int readers)
{
	size_t		size = (wc_getcache_size(bytes, (uint32_t) readers) + 63) & ~(size_t) 63;
	void	   *memory = aligned_alloc(64, size);

	assert_non_null(memory);
	memset(memory, 0, size);
	return wc_getcache_init(memory, bytes, (uint32_t) readers);
}

void
kit_get(KitGet *get, uint32_t table, WcSlice row)
{
	get->range = (WcRange) {row, row, true, true};
	wc_scan_init(&get->scan, table);
	get->scan.nranges = 1;
	get->scan.ranges = &get->range;
}

bool
kit_find_kept(WcGetCache *cache, const KitGet *get, WcSlice bytes, WcBuf *found)
{
	wc_buf_reset(found, SIZE_MAX);
	return wc_getcache_find(cache, wc_getcache_epoch(cache), get->scan.table_id, get->range.start, bytes, kit_now,
							found) == WC_GET_FOUND;
}

WcSlice
kit_s(const char *s)
{
	return wc_slice_cstr(s);
}

const char *
kit_key(int i)
{
	static char keys[2][16];
	static int	turn;

	turn = !turn;
	snprintf(keys[turn], sizeof(keys[turn]), "r%03d", i);
	return keys[turn];
}

static void
run(const char *format, const char *a, const char *b)
{
	char		command[256];

	snprintf(command, sizeof(command), format, a, b);
	assert_int_equal(system(command), 0);
}

WcEngineOptions
kit_options(const Kit *kit)
{
	return (WcEngineOptions) {
		.path = kit->dir,.record = kit->record,.cluster = 7,.may_create = true,.directory_mode = 0700,
		.block_cache_bytes = 8 << 20,.write_buffer_bytes = 16 << 20,
		.max_open_files = -1,.max_background_jobs = 2,.clock_us = kit->clock_us,.txn_memory = kit->txn_memory,
		.row_together_max = kit->row_together_max
	};
}

static void
open_engine(Kit *kit)
{
	WcEngineOptions options = kit_options(kit);

	assert_ok(kit, wc_engine_open(&options, &kit->engine, &kit->err));
	assert_ok(kit, wc_txn_create(KIT_DATABASE, 1 << 30, &kit->txn, &kit->err));
	wc_txn_spill_into(kit->txn, wc_engine_spill(kit->engine));
	kit->engine->scanmemory.chunk_bytes = SCAN_CHUNK_BYTES;
}

void
kit_open(Kit *kit)
{
	kit_open_at(kit, kit_clock);
}

void
kit_open_at(Kit *kit, int64_t (*clock_us) (void))
{
	memset(kit, 0, sizeof(*kit));
	kit->clock_us = clock_us;
	kit->txn_memory = kit_txn_memory;
	kit->row_together_max = kit_row_together_max;
	snprintf(kit->dir, sizeof(kit->dir), "/tmp/wc_test_XXXXXX");
	assert_non_null(mkdtemp(kit->dir));
	snprintf(kit->record, sizeof(kit->record), "%s.store", kit->dir);
	wc_batch_init(&kit->builder, &kit->ops);
	kit->cid = 1;
	open_engine(kit);
}

WcEpochs *
kit_open_with_epochs(Kit *kit, WcGetCache *cache)
{
	WcEpochs   *epochs;

	kit_open(kit);
	assert_ok(kit, wc_epochs_create(kit->engine, cache, &epochs, &kit->err));
	kit_create(kit, "t", WC_PACKING_ROW, 1);
	kit_commit(kit);
	return epochs;
}

static void
close_engine(Kit *kit)
{
	wc_txn_destroy(kit->txn);
	wc_engine_close(kit->engine);
}

void
kit_close(Kit *kit)
{
	close_engine(kit);
	wc_buf_free(&kit->ops);
	run("rm -rf %s %s", kit->dir, kit->record);
}

void
kit_reopen(Kit *kit)
{
	close_engine(kit);
	open_engine(kit);
}

/* Names, sizes and times of the store's files. */
static void
files_text(const Kit *kit, char *text, size_t size)
{
	char		command[128];
	FILE	   *f;
	size_t		n;

	snprintf(command, sizeof(command), "ls -l --time-style=full-iso %s", kit->dir);
	f = popen(command, "r");
	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	pclose(f);
}

/* A crash leaves the files of one moment: so copies again if RocksDB's threads
 * changed anything meanwhile.  And it leaves the same file OWNER, which says by its
 * inode that it is no copy. */
void
kit_crash_with(Kit *kit, void (*change) (const char *dir))
{
	static char before[1 << 16];
	static char after[1 << 16];
	char		copy[64];
	char		command[256];
	bool		good = false;

	snprintf(copy, sizeof(copy), "/tmp/wc_test_XXXXXX");
	assert_non_null(mkdtemp(copy));
	snprintf(command, sizeof(command), "cp -r %s/. %s 2>/dev/null", kit->dir, copy);
	while (!good)
	{
		run("rm -rf %s%s/*", copy, "");
		files_text(kit, before, sizeof(before));
		good = system(command) == 0;
		files_text(kit, after, sizeof(after));
		good = good && strcmp(before, after) == 0;
	}
	if (change != NULL)
		change(copy);
	close_engine(kit);
	run("find %s -mindepth 1 ! -name OWNER -delete%s", kit->dir, "");
	run("cp -r %s/. %s", copy, kit->dir);
	run("rm -rf %s%s", copy, "");
	open_engine(kit);
}

void
kit_crash(Kit *kit)
{
	kit_crash_with(kit, NULL);
}

/* --- writing --------------------------------------------------------------*/

void
kit_create_attrs(Kit *kit, const char *name, const WcFamilyAttrs *attrs)
{
	WcFamilyDesc families[2] = {
		{.id = 1,.name = kit_s("f"),.attrs = *attrs},
		{.id = 2,.name = kit_s("g"),.attrs = *attrs}
	};
	WcTableDesc desc = {
		.id = wc_engine_new_table_id(kit->engine),.database = KIT_DATABASE,.ns = kit_s("default"),
		.name = kit_s(name),.nfamilies = 2,.families = families,.next_family_id = 3
	};

	kit->table = desc.id;
	assert_ok(kit, wc_batch_create_table(&kit->builder, kit->cid, &desc, &kit->err));
}

void
kit_create(Kit *kit, const char *name, uint8_t packing, uint32_t versions)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;

	attrs.packing = packing;
	attrs.versions = versions;
	kit_create_attrs(kit, name, &attrs);
}

void
kit_put(Kit *kit, const char *row, uint32_t family, const char *qualifier, int64_t ts, const char *value)
{
	assert_ok(kit, wc_batch_row_begin(&kit->builder, kit->table, kit->cid, kit_s(row), 0, NULL, 0, &kit->err));
	assert_ok(kit, wc_batch_put(&kit->builder, family, kit_s(qualifier), ts, 0, kit_s(value), &kit->err));
	assert_ok(kit, wc_batch_row_end(&kit->builder, &kit->err));
}

void
kit_delete(Kit *kit, WcCellType type, const char *row, uint32_t family, const char *qualifier, int64_t ts)
{
	assert_ok(kit, wc_batch_row_begin(&kit->builder, kit->table, kit->cid, kit_s(row), 0, NULL, 0, &kit->err));
	assert_ok(kit, wc_batch_delete(&kit->builder, type, family, kit_s(qualifier), ts, &kit->err));
	assert_ok(kit, wc_batch_row_end(&kit->builder, &kit->err));
}

WcStatus
kit_send(Kit *kit)
{
	WcStatus	status = wc_txn_append(kit->txn, wc_txn_length(kit->txn), wc_buf_slice(&kit->ops), &kit->err);

	wc_buf_reset(&kit->ops, SIZE_MAX);
	return status;
}

WcStatus
kit_try_commit(Kit *kit)
{
	WcStatus	status = kit_send(kit);

	if (status == WC_OK)
		status = wc_engine_check(kit->engine, kit->txn, NULL, &kit->err);
	if (status == WC_OK)
		status = kit_apply(kit);
	wc_txn_reset(kit->txn);
	return status;
}

WcStatus
kit_apply(Kit *kit)
{
	WcCommit	commit = {.position = wc_engine_applied_position(kit->engine) + 1,.time_us = kit_now};
	WcStatus	status = kit_send(kit);

	if (status == WC_OK)
		status = wc_engine_apply(kit->engine, &commit, kit->txn, &kit->commit_ts, &kit->err);
	wc_txn_reset(kit->txn);
	return status;
}

void
kit_commit(Kit *kit)
{
	assert_ok(kit, kit_try_commit(kit));
}

static WcStatus
apply_sent(Kit *kit)
{
	WcCommit	commit = {.position = wc_engine_applied_position(kit->engine) + 1,.time_us = kit_now};

	return wc_engine_apply(kit->engine, &commit, kit->txn, &kit->commit_ts, &kit->err);
}

void
kit_fail_to_commit(Kit *kit)
{
	struct rlimit limit;
	struct rlimit none;
	WcStatus	status;

	assert_ok(kit, kit_send(kit));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	none = (struct rlimit) {.rlim_cur = 1,.rlim_max = limit.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	status = apply_sent(kit);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(status, WC_IO);
}

void
kit_commit_after_failure(Kit *kit)
{
	WcStatus	status;

	do
		status = apply_sent(kit);
	while (status == WC_IO);
	assert_ok(kit, status);
	wc_txn_reset(kit->txn);
}

/* --- reading --------------------------------------------------------------*/

WcReadPoint
kit_point(Kit *kit, bool own)
{
	WcReadPoint at = {.txn = own ? kit->txn : NULL,.cid = kit->cid,.database = KIT_DATABASE};

	return at;
}

WcStatus
kit_first_block(Kit *kit, const WcScan *s, size_t bytes, uint64_t rows_max, WcBlockReader *reader, WcBuf *block, WcScanner **scanner)
{
	WcReadPoint at = kit_point(kit, false);
	WcStatus	status;

	assert_ok(kit, wc_scanner_open(wc_engine_storage(kit->engine), s, &at, scanner, &kit->err));
	status = wc_scanner_next(*scanner, block, bytes, rows_max, &kit->err);
	assert_ok(kit, wc_block_open(reader, wc_buf_slice(block), &kit->err));
	return status;
}

static void
append(Kit *kit, const char *format,...)
{
	size_t		n = strlen(kit->text);
	va_list		args;

	va_start(args, format);
	vsnprintf(kit->text + n, sizeof(kit->text) - n, format, args);
	va_end(args);
}

static void
append_block(Kit *kit, const WcScan *scan, WcSlice block, bool *in_row)
{
	WcBlockReader reader;
	WcBlockEntry entry;
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;

	assert_ok(kit, wc_block_open(&reader, block, &kit->err));
	while ((entry = wc_block_next(&reader, &row, &cell, &colno)) != WC_BLOCK_DONE)
	{
		assert_int_not_equal(entry, WC_BLOCK_CORRUPT);
		if (entry == WC_BLOCK_ROW)
		{
			append(kit, "%s%.*s", *in_row ? "} " : "", (int) row.len, (const char *) row.data);
			if (reader.owed > 0)
				append(kit, "+%" PRIu64, reader.owed);
			append(kit, "{");
			*in_row = true;
			continue;
		}
		if (colno != WC_NO_COLUMN)
		{
			cell.family = scan->columns[colno].family;
			cell.qualifier = scan->columns[colno].qualifier;
		}
		if (kit->text[strlen(kit->text) - 1] != '{')
			append(kit, " ");
		append(kit, "%c:%.*s", cell.family == 1 ? 'f' : 'g', (int) cell.qualifier.len, (const char *) cell.qualifier.data);
		if (scan->want_ts)
			append(kit, "@%" PRId64, cell.ts);
		if (scan->raw && cell.type != WC_PUT)
			append(kit, "/%s", wc_cell_type_name(cell.type));
		else
			append(kit, "=%.*s", (int) cell.value.len, (const char *) cell.value.data);
	}
}

/* --- scans that several threads read ---------------------------------------*/

typedef struct HelperWork
{
	bool		(*work) (void *arg);
	void	   *arg;
} HelperWork;

static void *
helper_main(void *arg)
{
	const HelperWork *w = arg;

	while (w->work(w->arg))
		;
	return NULL;
}

static void
helpers_run(void *arg, bool (*work) (void *work_arg), void *work_arg)
{
	HelperWork	w = {work, work_arg};
	pthread_t	helper;

	(void) arg;
	assert_int_equal(pthread_create(&helper, NULL, helper_main, &w), 0);
	helper_main(&w);
	pthread_join(helper, NULL);
}

static WcStatus
helpers_split(void *arg, uint32_t table_id, const WcRange *range, const uint32_t *families, uint32_t nfamilies,
			  uint32_t nparts, WcBuf *out, WcError *err)
{
	Kit		   *kit = arg;
	WcSplitRequest request = {
		.table_id = table_id,.range = *range,.nfamilies = nfamilies,.families = families,.nparts = nparts
	};
	size_t		start = out->len;
	WcStatus	status = wc_engine_split(kit->engine, &request, NULL, out, err);

	kit->nshared += status == WC_OK && out->data[start] > 0;
	return status;
}

void
kit_share(Kit *kit, WcScanner *scanner, const WcScan *scan, uint64_t rows_alone)
{
	WcScanHelpers helpers = {helpers_split, helpers_run, kit, rows_alone, 0};
	WcBuf		encoded = WC_BUF_INIT;

	wc_scan_encode(&encoded, scan);
	assert_ok(kit, wc_scanner_share(scanner, wc_buf_slice(&encoded), &helpers, &kit->err));
	wc_buf_free(&encoded);
}

/* --- scans as text -----------------------------------------------------------*/

static const char *
scan_in_blocks(Kit *kit, const WcScan *scan, const WcReadPoint *at, size_t bytes, bool shared)
{
	WcScanner  *scanner = NULL;
	WcBuf		block = WC_BUF_INIT;
	bool		in_row = false;
	WcStatus	status;

	kit->text[0] = '\0';
	status = wc_scanner_open(wc_engine_storage(kit->engine), scan, at, &scanner, &kit->err);
	if (status == WC_OK && shared)
		kit_share(kit, scanner, scan, 1);
	while (status == WC_OK)
	{
		wc_buf_reset(&block, SIZE_MAX);
		status = wc_scanner_next(scanner, &block, bytes, 0, &kit->err);
		if (status == WC_OK || status == WC_END)
			append_block(kit, scan, wc_buf_slice(&block), &in_row);
	}
	if (in_row)
		append(kit, "}");
	if (status != WC_END)
	{
		/* what came before the failure is no result; nor is when it was noticed */
		kit->text[0] = '\0';
		append(kit, "error: %s", status_names[status]);
	}
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	return kit->text;
}

const char *
kit_scan_in_blocks(Kit *kit, const WcScan *scan, const WcReadPoint *at, size_t bytes)
{
	char	   *alone = strdup(scan_in_blocks(kit, scan, at, bytes, false));

	/* read by two threads, it is the same */
	assert_non_null(alone);
	if (scan->aggregation == NULL && !kit->scans_once)
		assert_string_equal(scan_in_blocks(kit, scan, at, bytes, true), alone);
	free(alone);
	return kit->text;
}

const char *
kit_scan_with(Kit *kit, const WcScan *scan, const WcReadPoint *at)
{
	return kit_scan_in_blocks(kit, scan, at, WC_BLOCK_FIRST);
}

const char *
kit_scan_as(Kit *kit, bool own, const WcScan *scan)
{
	WcReadPoint at = kit_point(kit, own);

	return kit_scan_with(kit, scan, &at);
}

const char *
kit_scan(Kit *kit, bool own)
{
	WcScan		scan;

	wc_scan_init(&scan, kit->table);
	return kit_scan_as(kit, own, &scan);
}

void
kit_flush(Kit *kit)
{
	WcReadPoint at = kit_point(kit, false);

	assert_ok(kit, wc_engine_flush(kit->engine, kit->table, &at, &kit->err));
}

void
kit_compact(Kit *kit, bool major)
{
	WcReadPoint at = kit_point(kit, false);

	assert_ok(kit, wc_engine_compact(kit->engine, kit->table, major, &at, &kit->err));
}

/* --- the store --------------------------------------------------------------------- */

WcStore *
kit_store(Kit *kit, uint32_t family)
{
	WcTable    *table = wc_catalog_table(kit->engine, kit->table);
	WcStore    *store = wc_table_store(table, family);

	wc_table_unref(table);
	return store;
}

unsigned
kit_nstored(Kit *kit, uint32_t family)
{
	rocksdb_iterator_t *it = rocksdb_create_iterator_cf(kit->engine->db, kit->engine->read_options,
														kit_store(kit, family)->cf);
	unsigned	n = 0;

	for (rocksdb_iter_seek_to_first(it); rocksdb_iter_valid(it); rocksdb_iter_next(it))
		n++;
	rocksdb_iter_destroy(it);
	return n;
}
