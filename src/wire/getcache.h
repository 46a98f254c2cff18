/*
 * wire/getcache.h: answers to Gets, in memory that all processes share.
 *
 * A Get that was answered lately is answered again without asking the engine, as long as nothing has been
 * written to its row. wire/README specifies the protocol; each function here names its callers.  All accesses
 * are atomic and no function waits: a Get that cannot be looked up at once is sent to the engine, an answer
 * that cannot be stored at once is not kept.
 *
 * Time is counted in epochs: one more with each commit, from 1.  An epoch is
 * what a reader sees that has seen so many commits and none behind them.
 */
#ifndef WC_WIRE_GETCACHE_H
#define WC_WIRE_GETCACHE_H

#include <stdatomic.h>

#include "base/buf.h"

typedef struct WcGetCache WcGetCache;

/* Bytes of a Get and its answer together beyond which they are not kept. */
#define WC_GETCACHE_ENTRY_MAX	1992

/* Bytes of memory for nreaders readers and about `bytes` bytes of answers (0: no answers; everything else works). */
extern size_t wc_getcache_size(uint64_t bytes, uint32_t nreaders);

/* Lays out fresh, zeroed memory of that size, aligned to 64 bytes. */
extern WcGetCache *wc_getcache_init(void *memory, uint64_t bytes, uint32_t nreaders);

/* --- readers, each with a number of its own, from 0, and some places ------------- */

/* A reader can be in at most so many epochs at a time. */
#define WC_GETCACHE_PLACES	4

/*
 * The epoch that is now, which the engine will keep readable from here on until
 * wc_getcache_leave.  0: a commit is being written just now; then there is nothing to
 * leave.  The place is free.
 */
extern uint64_t wc_getcache_enter(WcGetCache *cache, uint32_t reader, uint32_t place);

/* Also when it has not entered. */
extern void wc_getcache_leave(WcGetCache *cache, uint32_t reader, uint32_t place);

/*
 * Other processes may enter the epoch of a place by its mark (not 0), while the reader is in it: then several processes
 * read the same state of the tables.  wc_getcache_enter_marked returns 0 if reader `other` has no place with the mark.
 * If the other reader leaves at the same moment, the engine may not have kept the epoch: a request that reads in it
 * fails.
 */
extern void wc_getcache_mark(WcGetCache *cache, uint32_t reader, uint32_t place, uint64_t mark);
extern uint64_t wc_getcache_enter_marked(WcGetCache *cache, uint32_t reader, uint32_t place, uint32_t other,
										 uint64_t mark);

typedef enum WcGetFound
{
	WC_GET_FOUND,
	WC_GET_ABSENT,				/* and so rarely asked for that it need not be kept */
	WC_GET_WANTED				/* absent, but it should be here: it was asked for before */
} WcGetFound;

/*
 * Appends to out the answer that the Get `get` (its bytes, which name table and row
 * as well) of a row has in an epoch, at wall time now_us; out is as before unless it
 * is found.
 */
extern WcGetFound wc_getcache_find(WcGetCache *cache, uint64_t epoch, uint32_t table_id, WcSlice row,
								   WcSlice get, int64_t now_us, WcBuf *out);

/* Counts a Get that the reader has found, or has not. */
extern void wc_getcache_count(WcGetCache *cache, uint32_t reader, bool found);

/* All that readers have counted since they were set to 0.  Any process. */
extern void wc_getcache_counts(const WcGetCache *cache, uint64_t *hits, uint64_t *misses);
extern void wc_getcache_reset_counts(WcGetCache *cache);

/* --- the engine ------------------------------------------------------------- */

/* Forgets all answers; before any other call of a newly started engine. */
extern void wc_getcache_reset(WcGetCache *cache);

/* The epoch; and has no commit begun since? */
extern uint64_t wc_getcache_epoch(const WcGetCache *cache);
extern bool wc_getcache_is_now(const WcGetCache *cache, uint64_t epoch);

/* Is any reader in that epoch?  And the epochs that they are in, in no order, perhaps one
 * several times: epochs has room for the places of all readers. */
extern bool wc_getcache_is_read(const WcGetCache *cache, uint64_t epoch);
extern bool wc_getcache_reads(const WcGetCache *cache, uint32_t reader, uint64_t epoch);
extern uint32_t wc_getcache_epochs_read(const WcGetCache *cache, uint64_t *epochs);
extern uint32_t wc_getcache_places(const WcGetCache *cache);

/* Keeps an answer that was read in an epoch.  It is valid while the row is not written, from wall time
 * valid_from_us on (a clock may be set back) and before valid_until_us (INT64_MAX: for ever).  Any thread. */
extern void wc_getcache_add(WcGetCache *cache, uint64_t epoch, uint32_t table_id, WcSlice row,
							WcSlice get, WcSlice answer, int64_t valid_from_us, int64_t valid_until_us);

/*
 * Called for each commit, one commit at a time: first touch for everything that the commit may change; then begin, before
 * any reader can see the commit; then end, when all new readers see it (or it has failed).
 */
extern void wc_getcache_touch_row(WcGetCache *cache, uint32_t table_id, WcSlice row);
extern void wc_getcache_touch_table(WcGetCache *cache, uint32_t table_id);
extern void wc_getcache_begin(WcGetCache *cache);
extern void wc_getcache_end(WcGetCache *cache);

#endif
