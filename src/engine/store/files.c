/*
 * engine/store/files.c: having RocksDB write a store to files, and compact them.
 */
#include "engine/store/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/store/state.h"

/* Files of the lower levels that one call of RocksDB compacts at least, so that
 * a compaction can be cancelled in between. */
#define FILES_AT_ONCE 4

static WcStatus
check_cancel(const atomic_bool *cancel, WcError *err)
{
	if (cancel != NULL && atomic_load(cancel))
		return wc_error(err, WC_CANCELLED, "compaction was cancelled");
	return WC_OK;
}

WcStatus
wc_files_check(WcStore *store, const char *action, WcError *err)
{
	char		name[WC_STORE_TEXT_MAX];
	char		what[WC_STORE_TEXT_MAX + 32];

	snprintf(what, sizeof(what), "%s %s", action, wc_store_text(store, name, sizeof(name)));
	return wc_health_check(&store->engine->health, what, err);
}

/* The status of RocksDB's error; WC_OK for a store that a commit has dropped: RocksDB refuses to flush or compact
 * it, and there is no need to. */
static WcStatus
unless_gone(WcStore *store, char *error, const char *action, WcError *err)
{
	if (error == NULL)
		return WC_OK;
	if (!wc_store_is_dropped(store))
		return wc_store_status(store, error, action, err);
	rocksdb_free(error);
	return WC_OK;
}

WcStatus
wc_files_flush(WcStore *store, const atomic_bool *cancel, WcError *err)
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
		status = wc_files_check(store, "flush", err);
		if (status == WC_OK)
			status = check_cancel(cancel, err);
	}
	return status;
}

static WcStatus
compact_between(WcStore *store, WcSlice start, WcSlice stop, WcError *err)
{
	rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();
	char	   *error;

	/* rewrite the bottom level too (kForce), so that the filter sees it; do not
	 * wait for compactions of other families to end */
	rocksdb_compactoptions_set_bottommost_level_compaction(options, 2);
	rocksdb_compactoptions_set_exclusive_manual_compaction(options, 0);
	error = wc_rocksplus_compact_range(store->engine->db, store->cf, options,
									   start.len > 0 ? (const char *) start.data : NULL, start.len,
									   stop.len > 0 ? (const char *) stop.data : NULL, stop.len);
	rocksdb_compactoptions_destroy(options);
	return unless_gone(store, error, "compact", err);
}

/* RocksDB's ranges have their last key: with `next` as the last one, the file that begins there would be compacted with this part, and
 * once more with the next.  So the range ends at a key close before it. */
static WcStatus
compact_before(WcStore *store, WcSlice start, WcSlice next, WcError *err)
{
	uint8_t		greatest[32];
	WcBuf		last = WC_BUF_INIT;
	WcStatus	status;

	memset(greatest, 0xFF, sizeof(greatest));
	wc_buf_append(&last, next.data, next.len - 1);
	if (next.data[next.len - 1] > 0)
	{
		wc_buf_append_u8(&last, (uint8_t) (next.data[next.len - 1] - 1));
		wc_buf_append(&last, greatest, sizeof(greatest));
	}
	status = last.failed ? wc_error(err, WC_NO_MEMORY, "out of memory for a compaction") :
		compact_between(store, start, wc_buf_slice(&last), err);
	wc_buf_free(&last);
	return status;
}

static int
slice_cmp(const void *a, const void *b)
{
	return wc_slice_cmp(*(const WcSlice *) a, *(const WcSlice *) b);
}

static bool
is_within(WcSlice key, WcSlice start, WcSlice stop)
{
	return wc_slice_cmp(key, start) > 0 && (stop.len == 0 || wc_slice_cmp(key, stop) < 0);
}

/* Smallest keys of the store's files below level 0, those within the range, in order; they
 * point into files.  NULL: out of memory. */
static WcSlice *
file_starts(WcStore *store, const rocksdb_livefiles_t *files, WcSlice start, WcSlice stop, size_t *n)
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
		*n += is_within(starts[*n], start, stop);
	}
	if (starts && *n > 1)
		qsort(starts, *n, sizeof(WcSlice), slice_cmp);
	return starts;
}

WcStatus
wc_files_compact(WcStore *store, WcSlice start, WcSlice stop, WcBuf *rest, WcRunning *running, const atomic_bool *cancel, WcError *err)
{
	const rocksdb_livefiles_t *files = rocksdb_livefiles(store->engine->db);
	size_t		n;
	WcSlice    *starts = file_starts(store, files, start, stop, &n);
	size_t		next = start.len > 0 ? FILES_AT_ONCE - 1 : FILES_AT_ONCE;	/* a file that begins at start is none of starts */
	WcStatus	status = WC_OK;

	if (starts == NULL)
		status = wc_error(err, WC_NO_MEMORY, "out of memory for a compaction");
	wc_running_phase(running, WC_PHASE_REWRITE, n > next ? 2 + (n - next - 1) / FILES_AT_ONCE : 1);
	for (; status == WC_OK && next < n && (rest == NULL || rest->len == 0); next += FILES_AT_ONCE)
	{
		status = compact_before(store, start, starts[next], err);
		start = starts[next];
		wc_running_done(running, 1);
		if (status == WC_OK && rest != NULL)
		{
			wc_buf_append_slice(rest, start);
			status = wc_buf_status(rest, "row key", err);
		}
		if (status == WC_OK)
			status = check_cancel(cancel, err);
	}
	if (status == WC_OK && (rest == NULL || rest->len == 0))
		status = compact_between(store, start, stop, err);
	free(starts);
	rocksdb_livefiles_destroy(files);
	return status;
}
