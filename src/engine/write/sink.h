/*
 * engine/write/sink.h: collects a commit's key-values and writes them.
 *
 * For a small commit it is a batch of RocksDB.  For a large one it writes table files beside the store, which RocksDB
 * then takes in all at once: the commit's rows need no memory, and before that moment no reader sees any of them and
 * none survives a crash.  With files, the keys of a family must come in ascending order.  One thread.
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

/* For a commit of this number of bytes.  WC_NO_SPACE: the disk has less space.  This is checked before, since a failed
 * commit is tried again and again, and each attempt would make other writes to the disk fail. */
extern WcStatus wc_sink_init(WcSink *sink, struct WcEngine *engine, uint64_t bytes, WcError *err) WC_WARN_UNUSED;
extern void wc_sink_free(WcSink *sink);

/* wc_sink_status returns their errors. */
extern void wc_sink_put(WcSink *sink, rocksdb_column_family_handle_t *cf, WcSlice key, WcSlice value);
extern void wc_sink_delete(WcSink *sink, rocksdb_column_family_handle_t *cf, WcSlice key);
extern WcStatus wc_sink_status(const WcSink *sink, WcError *err) WC_WARN_UNUSED;

/* The families that have been put into so far get no further keys; gives memory back. */
extern WcStatus wc_sink_leave(WcSink *sink, WcError *err) WC_WARN_UNUSED;

/* Writes everything; after an error, nothing is written.  With the write mutex locked. */
extern WcStatus wc_sink_write(WcSink *sink, WcError *err) WC_WARN_UNUSED;

#endif
