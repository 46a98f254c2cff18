/*
 * engine/forget/historykey.h: the key-value that says since when a family remembers.
 *
 * Stored with the catalog's ("Y", engine/README): the time to which a store has forgotten
 * (history.h), and whether single versions of its cells have been deleted.
 */
#ifndef WC_ENGINE_FORGET_HISTORYKEY_H
#define WC_ENGINE_FORGET_HISTORYKEY_H

#include "engine/store/internal.h"

/* First byte of the key; the table's id and the family's follow, 4 bytes each. */
#define WC_HISTORYKEY 'Y'

/* The value, taken apart; WC_CORRUPT when it is none. */
extern WcStatus wc_historykey_decode(WcSlice value, int64_t *ts, bool *single, WcError *err) WC_WARN_UNUSED;

/* Into a batch. */
extern void wc_historykey_put(const WcStore *store, int64_t ts, bool single, rocksdb_writebatch_t *batch);
extern void wc_historykey_delete(const WcStore *store, rocksdb_writebatch_t *batch);

/* The time as a snapshot sees it; 0: it was not set. */
extern WcStatus wc_historykey_read(const WcStore *store, const WcSnapshot *snapshot, int64_t *ts,
								   WcError *err) WC_WARN_UNUSED;

#endif
