/*
 * engine/write/sink.h: where a commit's key-values go.
 *
 * A small commit gathers a batch of RocksDB's.  A large one writes table files beside the store, which
 * RocksDB then takes in all at once: so it needs no memory for its rows, and nothing of it can be seen or
 * survives a crash before.  Keys of a family must come in ascending order then.  One thread.
 */
#ifndef WC_ENGINE_WRITE_SINK_H
#define WC_ENGINE_WRITE_SINK_H

#include "engine/rocks/rocks.h"
#include "engine/rocks/rocksplus.h"

struct WcEngine;

typedef struct WcSink
{
	struct WcEngine *engine;
	rocksdb_writebatch_t *batch;	/* the catalog's key-values; without files all */
	WcRocksFiles *files;		/* NULL: none */
	WcError		error;			/* the first one of the files; its status is WC_OK: none */
} WcSink;

/* For a commit of so many bytes.  WC_NO_SPACE: they are too many for the disk; that is found before, since
 * a commit is tried again and again, and each time everything else on the disk would fail. */
extern WcStatus wc_sink_init(WcSink *sink, struct WcEngine *engine, uint64_t bytes, WcError *err) WC_WARN_UNUSED;
extern void wc_sink_free(WcSink *sink);

/* wc_sink_status returns their errors. */
extern void wc_sink_put(WcSink *sink, rocksdb_column_family_handle_t *cf, WcSlice key, WcSlice value);
extern void wc_sink_delete(WcSink *sink, rocksdb_column_family_handle_t *cf, WcSlice key);
extern WcStatus wc_sink_status(const WcSink *sink, WcError *err) WC_WARN_UNUSED;

/* The families that have been put into so far get no further keys; gives memory back. */
extern WcStatus wc_sink_leave(WcSink *sink, WcError *err) WC_WARN_UNUSED;

/* With the write mutex held: all of it, or nothing. */
extern WcStatus wc_sink_write(WcSink *sink, WcError *err) WC_WARN_UNUSED;

#endif
