/*
 * engine/source/storeiter.h: walks over the key-values of a store, as they are at a snapshot.
 *
 * Forward over the chunks of the store's scan cache (store/scancache.h), where it has some, and over RocksDB's iterator
 * elsewhere; it makes chunks of what RocksDB's iterator returns.  Both give the same key-values.  One thread.
 */
#ifndef WC_ENGINE_SOURCE_STOREITER_H
#define WC_ENGINE_SOURCE_STOREITER_H

#include "engine/rocks/rocks.h"
#include "engine/store/internal.h"

typedef struct WcStoreIter
{
	WcStore    *store;			/* the owner's reference */
	rocksdb_readoptions_t *ro;
	rocksdb_iterator_t *it;
	WcSlice		lower;			/* the bounds of its keys; empty: none */
	WcSlice		upper;

	bool		valid;			/* on a key-value: */
	WcSlice		key;			/* these two are valid until the next move */
	WcSlice		value;

	/* chunks */
	bool		cached;			/* chunks are used */
	bool		copies;			/* and made */
	WcSnapshot	shown;			/* last_ts and seq of the scan's snapshot, which may be released earlier */
	WcScanChunk *chunk;			/* the iterator is in it; NULL: on RocksDB's iterator */
	uint32_t	at;				/* the present key-value of the chunk */
	uint32_t	behind;			/* the first key-value of the chunk that is not wanted */
	bool		copying;
	bool		anew;			/* the next key-value begins a copy: the present one is too large */
	WcScanCopy	copy;
	WcBuf		limit;			/* start of the next chunk; empty: there is none */
} WcStoreIter;

/*
 * For one scan.  lower and upper: bounds of the keys (empty: none); they outlive the iterator.  ro: belongs to the
 * iterator now, which sets the bounds.  caches: the scan cache may be used, and each key between the bounds is wanted;
 * scans that are reversed, or have no snapshot, do not use it.
 */
extern void wc_storeiter_open(WcStoreIter *iter, WcStore *store, const WcSourceOptions *options, rocksdb_readoptions_t *ro,
							  WcSlice lower, WcSlice upper, bool caches);
extern void wc_storeiter_close(WcStoreIter *iter);	/* also if it was not opened, but zeroed */

/* These move the iterator; a key may be in the memory of the present key-value. */
extern void wc_storeiter_seek(WcStoreIter *iter, WcSlice key);	/* empty: to the first */
extern void wc_storeiter_seek_backward(WcStoreIter *iter, WcSlice key);	/* to this key or the last before; empty: to the last */
extern void wc_storeiter_prev(WcStoreIter *iter);

/* wc_storeiter_next where the key-value is not simply the next one of the chunk. */
extern void wc_storeiter_leave(WcStoreIter *iter);

static inline void
wc_storeiter_next(WcStoreIter *iter)
{
	if (iter->chunk != NULL && iter->at + 1 < iter->behind)
		wc_scanchunk_entry(iter->chunk, ++iter->at, &iter->key, &iter->value);
	else
		wc_storeiter_leave(iter);
}

/* Why is it not valid: WC_OK if it is simply at an end. */
extern WcStatus wc_storeiter_status(const WcStoreIter *iter, WcError *err) WC_WARN_UNUSED;

#endif
