/*
 * engine/write/scanrenewal.h: a commit that changes many rows renews the chunks of the scan cache that have them.
 *
 * A commit drops each chunk that has one of its rows (engine/store/scancache.h).  If it changes many rows of the chunk,
 * the next scan would read all of the chunk's rows from RocksDB again.  So such a commit makes a new chunk of the dropped
 * one and of its own key-values, and adds it after its write.
 *
 * One thread, with the engine's write mutex locked from the first call to the last.
 */
#ifndef WC_ENGINE_WRITE_SCANRENEWAL_H
#define WC_ENGINE_WRITE_SCANRENEWAL_H

#include "engine/store/scancache.h"

/* Of one commit and one store. */
typedef struct WcScanRenewal
{
	WcScanCache *cache;
	WcScanChunk *chunk;			/* the one whose rows are being written, taken out of the cache; NULL: none */
	bool		lost;			/* it cannot be renewed */
	WcBuf		changes;		/* of its key-values */
	uint32_t	nchanges;
	WcScanCopy	copy;
	WcScanChunk **chunks;		/* the new ones */
	uint32_t	nchunks;
	uint32_t	room;
} WcScanRenewal;

/* NULL: out of memory. */
extern WcScanRenewal *wc_scanrenewal_create(WcScanCache *cache);

/* Drops the new chunks that have not been added. */
extern void wc_scanrenewal_free(WcScanRenewal *renewal);

/* In place of wc_scancache_written.  The keys ascend from call to call. */
extern void wc_scanrenewal_written(WcScanRenewal *renewal, WcSlice from, WcSlice to);

/* A key-value that the commit writes, of those between `from` and `to` of the last call of wc_scanrenewal_written; the keys
 * ascend.  value NULL: the key is deleted. */
extern void wc_scanrenewal_take(WcScanRenewal *renewal, WcSlice key, const WcSlice *value);

/* The commit has been written, and these snapshots show it. */
extern void wc_scanrenewal_add(WcScanRenewal *renewal, const WcSnapshot *snapshot);

#endif
