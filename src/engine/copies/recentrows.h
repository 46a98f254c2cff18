/*
 * engine/copies/recentrows.h: the key-values that were written last, so that RocksDB need not look for them.
 *
 * The applier reads a row when it changes it, and again when it makes an answer in advance.  Rows that are changed often
 * are found here.  A key-value is here only as RocksDB has it.
 */
#ifndef WC_ENGINE_COPIES_RECENTROWS_H
#define WC_ENGINE_COPIES_RECENTROWS_H

#include <rocksdb/c.h>

#include "base/buf.h"
#include "base/threads.h"

/* So many key-values are kept at most, and of a key and its value so many bytes: 8 MiB together. */
#define WC_RECENTROWS_SLOTS		4096
#define WC_RECENTROWS_BYTES		2024

/* A write of more than this many bytes is not noted: all key-values are forgotten. */
#define WC_RECENTROWS_STAGED_MAX (256 * 1024)

struct WcRecentRow;

typedef struct WcRecentRows
{
	WcMutex		mutex;			/* locked for a copy of one key-value, or of those of one write */
	struct WcRecentRow *rows WC_GUARDED_BY(&mutex);	/* NULL: there was no memory */
	uint64_t	generation WC_GUARDED_BY(&mutex);	/* key-values of other generations are forgotten */
	uint64_t	seq WC_GUARDED_BY(&mutex);	/* RocksDB's sequence number behind the last write */
	bool		writing WC_GUARDED_BY(&mutex);	/* between wc_recentrows_begin and _end, when RocksDB may have newer values */

	WcBuf		staged;			/* the changes of the next write; the engine's write mutex guards it */
} WcRecentRows;

/* Takes no memory that is not used.  If there is none, nothing will be found. */
extern void wc_recentrows_init(WcRecentRows *recent);
extern void wc_recentrows_free(WcRecentRows *recent);

/*
 * Appends the key's value to *value.  seq: the reader's sequence number, UINT64_MAX for the newest state.  False: it is not
 * known whether there is such a key, or which value it has; *value is as before.  Any thread.
 */
extern bool wc_recentrows_find(WcRecentRows *recent, rocksdb_column_family_handle_t *cf, WcSlice key, uint64_t seq, WcBuf *value);

/*
 * All of the following with the engine's write mutex locked.
 *
 * stage notes a change of the next write; value NULL: the key is deleted.  unstage: there will be no such write.  begin is
 * called before the write, end after it; if it was not written, all key-values are forgotten.
 */
extern void wc_recentrows_stage(WcRecentRows *recent, rocksdb_column_family_handle_t *cf, WcSlice key, const WcSlice *value);
extern void wc_recentrows_unstage(WcRecentRows *recent);
extern void wc_recentrows_begin(WcRecentRows *recent);
extern void wc_recentrows_end(WcRecentRows *recent, bool written, uint64_t seq);

/* Before a write whose changes were not staged: forgets everything. */
extern void wc_recentrows_forget(WcRecentRows *recent);

#endif
