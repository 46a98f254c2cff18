/*
 * engine/write/sink.c: where a commit's key-values go.
 */
#include "engine/write/sink.h"

#include <inttypes.h>
#include <sys/statvfs.h>

#include "base/file.h"
#include "engine/store/state.h"

static WcStatus
require_space(const char *directory, uint64_t bytes, WcError *err)
{
	struct statvfs disk;
	uint64_t	room;

	if (statvfs(directory, &disk) != 0)
		return wc_file_error(err, "look at the disk of directory", directory);
	room = (uint64_t) disk.f_bavail * disk.f_frsize;
	if (room >= bytes)
		return WC_OK;
	(void) wc_error(err, WC_NO_SPACE, "could not write a commit: the disk is full");
	wc_error_detail(err, "It has %" PRIu64 " bytes, and on the disk of \"%s\" %" PRIu64 " are free.", bytes, directory, room);
	wc_error_hint(err, "Free space on the disk of widecol.data_directory: writing goes on by itself then.");
	return WC_NO_SPACE;
}

WcStatus
wc_sink_init(WcSink *sink, struct WcEngine *engine, uint64_t bytes, WcError *err)
{
	WcStatus	status;

	*sink = (WcSink) {.engine = engine,.error.status = WC_OK};
	wc_recentrows_unstage(&engine->recent);
	sink->batch = rocksdb_writebatch_create();
	if (bytes < engine->spill.memory)
		return WC_OK;
	status = require_space(engine->spill.directory, bytes, err);
	if (status == WC_OK)
		status = wc_health_may_take_in(&engine->health, "write a commit", err);
	if (status != WC_OK)
		return status;
	sink->files = wc_rocksfiles_begin(engine->db, engine->spill.directory);
	return sink->files != NULL ? WC_OK : wc_error(err, WC_NO_MEMORY, "out of memory for a commit");
}

void
wc_sink_free(WcSink *sink)
{
	rocksdb_writebatch_destroy(sink->batch);
	wc_rocksfiles_free(sink->files);
}

static void
note(WcSink *sink, char *error)
{
	if (wc_rocks_status(error, "write a file of a large commit", &sink->error) == WC_OK)
		sink->error.status = WC_OK;
}

void
wc_sink_put(WcSink *sink, rocksdb_column_family_handle_t *cf, WcSlice key, WcSlice value)
{
	if (sink->files == NULL)
		wc_recentrows_stage(&sink->engine->recent, cf, key, &value);
	if (sink->files == NULL || cf == sink->engine->meta)
		wc_rocks_batch_put(sink->batch, cf, (const char *) key.data, key.len, (const char *) value.data, value.len);
	else if (sink->error.status == WC_OK)
		note(sink, wc_rocksfiles_put(sink->files, cf, (const char *) key.data, key.len, (const char *) value.data, value.len));
}

void
wc_sink_delete(WcSink *sink, rocksdb_column_family_handle_t *cf, WcSlice key)
{
	if (sink->files == NULL)
		wc_recentrows_stage(&sink->engine->recent, cf, key, NULL);
	if (sink->files == NULL || cf == sink->engine->meta)
		wc_rocks_batch_delete(sink->batch, cf, (const char *) key.data, key.len);
	else if (sink->error.status == WC_OK)
		note(sink, wc_rocksfiles_delete(sink->files, cf, (const char *) key.data, key.len));
}

WcStatus
wc_sink_status(const WcSink *sink, WcError *err)
{
	if (sink->error.status != WC_OK)
		*err = sink->error;
	return sink->error.status;
}

WcStatus
wc_sink_leave(WcSink *sink, WcError *err)
{
	if (sink->files != NULL && sink->error.status == WC_OK)
		note(sink, wc_rocksfiles_finish(sink->files));
	return wc_sink_status(sink, err);
}

/*
 * Files that RocksDB takes in are on disk at once; earlier writes are in its log, which may not be on disk.
 * After a crash no commit may be there without those before it: so the log is synced first.
 */
WcStatus
wc_sink_write(WcSink *sink, WcError *err) WC_REQUIRES(sink->engine->write_mutex)
{
	WcEngine   *engine = sink->engine;
	WcStatus	status = wc_sink_leave(sink, err);

	if (status != WC_OK)
		return status;
	wc_recentrows_begin(&engine->recent);
	if (sink->files == NULL)
		status = wc_health_write(&engine->health, engine->write_options, sink->batch, "write a commit", err);
	else
	{
		status = wc_engine_sync_locked(sink->engine, err);
		if (status == WC_OK)
			status = wc_health_take_in(&engine->health, sink->files, sink->batch, "write a commit", err);
	}
	wc_recentrows_end(&engine->recent, status == WC_OK && sink->files == NULL, rocksdb_get_latest_sequence_number(engine->db));
	return status;
}
