/*
 * engine/source/storeiter.h: walks over the key-values of a store, as they are at a snapshot.
 *
 * Over the chunks of the store's scan cache (store/scancache.h), where it has some, and over RocksDB's iterator
 * elsewhere; it makes chunks of what RocksDB's iterator returns.  Both give the same key-values.  One thread.
 */
#ifndef WC_ENGINE_SOURCE_STOREITER_H
#define WC_ENGINE_SOURCE_STOREITER_H

#include "engine/rocks/rocks.h"
#include "engine/store/internal.h"

typedef struct WcStoreIter
{
	WcStore    *store;			/* the owner's reference */
	WcSnapshot *snapshot;		/* a reference, until RocksDB's iterator is made; NULL: it is made */
	rocksdb_readoptions_t *ro;
	rocksdb_iterator_t *it;		/* NULL: no key outside of chunks was needed yet */
	WcSlice		lower;			/* the bounds of its keys; empty: none */
	WcSlice		upper;
	bool		prefix;
	bool		fill_cache;
	bool		brief;			/* WcSourceOptions */

	bool		valid;			/* on a key-value: */
	WcSlice		key;			/* these two are valid until the next move */
	WcSlice		value;

	/* chunks */
	bool		backward;		/* the scan is reversed */
	bool		cached;			/* chunks are used */
	bool		copies;			/* and made */
	WcSnapshot	shown;			/* last_ts and seq of the scan's snapshot */
	WcScanChunk *chunk;			/* the iterator is in it; NULL: on RocksDB's iterator */
	uint32_t	at;				/* the present key-value of the chunk */
	uint32_t	behind;			/* forward: the first key-value of the chunk that is not wanted */
	uint32_t	first;			/* backward: the first key-value of the chunk that is wanted */
	bool		copying;
	bool		anew;			/* the next key-value begins a copy: the present one is too large */
	WcScanCopy	copy;
	WcScanRun	run;			/* small chunks that the iterator came to, if it makes chunks */
	WcBuf		limit;			/* start of the next chunk, backward: its end; empty: there is none */
	WcBuf		before;			/* backward: go_back's keys are before this one; empty: before none */
	WcBuf		until;			/* backward: the end of the copy; empty: to the end */
	bool		failed;			/* out of memory */
} WcStoreIter;

/*
 * For one scan.  lower and upper: bounds of the keys (empty: none); they outlive the iterator.  prefix: only keys of
 * the prefix of the store's bloom filter that lower has are wanted.  turns: a reversed scan moves forward, too.  Scans of
 * single rows, those without a snapshot, and reversed ones that turn do not use the scan cache.
 */
extern void wc_storeiter_open(WcStoreIter *iter, WcStore *store, const WcSourceOptions *options, bool prefix, bool turns,
							  WcSlice lower, WcSlice upper);
extern void wc_storeiter_close(WcStoreIter *iter);	/* also if it was not opened, but zeroed */

/* These move the iterator; a key may be in the memory of the present key-value. */
extern void wc_storeiter_seek(WcStoreIter *iter, WcSlice key);	/* empty: to the first */
extern void wc_storeiter_seek_backward(WcStoreIter *iter, WcSlice key);	/* to this key or the last before; empty: to the last */

/* wc_storeiter_next and _prev where the key-value is not simply the next one of the chunk, or the one before. */
extern void wc_storeiter_leave(WcStoreIter *iter);
extern void wc_storeiter_leave_backward(WcStoreIter *iter);

static inline void
wc_storeiter_next(WcStoreIter *iter)
{
	if (iter->chunk != NULL && iter->at + 1 < iter->behind)
		wc_scanchunk_entry(iter->chunk, ++iter->at, &iter->key, &iter->value);
	else
		wc_storeiter_leave(iter);
}

static inline void
wc_storeiter_prev(WcStoreIter *iter)
{
	if (iter->chunk != NULL && iter->at > iter->first)
		wc_scanchunk_entry(iter->chunk, --iter->at, &iter->key, &iter->value);
	else
		wc_storeiter_leave_backward(iter);
}

/* Why is it not valid: WC_OK if it is simply at an end. */
extern WcStatus wc_storeiter_status(const WcStoreIter *iter, WcError *err) WC_WARN_UNUSED;

#endif
