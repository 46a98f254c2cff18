/*
 * wire/shared/getcache.h: answers to Gets, in memory that all processes share.
 *
 * A Get that was answered lately is answered again without asking the engine, as long as nothing has been
 * written to its row.  wire/README specifies the protocol; the sections below name the callers.  All accesses
 * are atomic and no function waits: a Get that cannot be looked up at once is sent to the engine, an answer
 * that cannot be stored at once is not kept.
 *
 * Epochs are numbered from 1.  Each commit begins a new epoch.  A reader in an epoch sees all commits up to this
 * epoch, and none after it.
 */
#ifndef WC_WIRE_SHARED_GETCACHE_H
#define WC_WIRE_SHARED_GETCACHE_H

#include <stdatomic.h>

#include "base/buf.h"

typedef struct WcGetCache WcGetCache;

/* Bytes of a Get and its answer together beyond which they are not kept. */
#define WC_GETCACHE_ENTRY_MAX	4072

/* Bytes of memory for nreaders readers and about `bytes` bytes of answers (0: no answers; everything else works). */
extern size_t wc_getcache_size(uint64_t bytes, uint32_t nreaders);

/* Lays out fresh, zeroed memory of that size, aligned to 64 bytes. */
extern WcGetCache *wc_getcache_init(void *memory, uint64_t bytes, uint32_t nreaders);

/* The part of the memory of which each word is only read and written as an atomic one: all but the first words. */
extern void *wc_getcache_atomics(WcGetCache *cache, size_t *len);

/* --- readers, each with a number of its own, from 0, and some places ------------- */

/* A reader can be in at most so many epochs at a time. */
#define WC_GETCACHE_PLACES	4

/*
 * Enters the current epoch with this place, which must be free; returns the epoch.  The engine keeps it readable until
 * wc_getcache_leave.  0: the reader has not entered, because a commit is being applied at this moment.
 */
extern uint64_t wc_getcache_enter(WcGetCache *cache, uint32_t reader, uint32_t place);

/* Leaves the epoch of this place; does nothing if the place is free. */
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
	WC_GET_ABSENT,				/* not found; the answer need not be kept */
	WC_GET_WANTED				/* not found; the answer should be kept: there is room, or the Get was asked for before */
} WcGetFound;

/* Fetches what wc_getcache_find will read first into the processor's cache, while the caller does something else. */
extern void wc_getcache_prefetch(const WcGetCache *cache, uint32_t table_id, WcSlice row);

/*
 * Looks for the answer to a Get of this row, as it is in this epoch at wall time now_us, and appends it to out.  get: the
 * Get's bytes, which name table and row as well.  If the answer is not found, out is as before.
 */
extern WcGetFound wc_getcache_find(WcGetCache *cache, uint64_t epoch, uint32_t table_id, WcSlice row, WcSlice get, int64_t now_us,
								   WcBuf *out);

/* The same, for a session that will not send the Get if its answer is not found: then nothing is noted of the Get. */
extern bool wc_getcache_look(WcGetCache *cache, uint64_t epoch, uint32_t table_id, WcSlice row, WcSlice get, int64_t now_us,
							 WcBuf *out);

/*
 * Looks for the longest answer to any Get of this row, in the newest state at wall time now_us; appends the Get to get, and its answer
 * to out.  The caller checks that it is a Get of this row: it may be one of a row with the same hash.  *next: 0; the next call with
 * this number looks for another Get's answer, which is not longer.  False: there is no further one.
 */
extern bool wc_getcache_find_any(WcGetCache *cache, uint32_t table_id, WcSlice row, int64_t now_us, uint32_t *next,
								 WcBuf *get, WcBuf *out);

/* Has the row certainly not been written since this epoch?  The reader is in it, or in a later one. */
extern bool wc_getcache_is_unchanged(const WcGetCache *cache, uint64_t epoch, uint32_t table_id, WcSlice row);

/* Counts a Get whose answer the reader has found, or has not found. */
extern void wc_getcache_count(WcGetCache *cache, uint32_t reader, bool found);

/* The sums of all readers' counters since wc_getcache_reset_counts.  Any process. */
extern void wc_getcache_counts(const WcGetCache *cache, uint64_t *hits, uint64_t *misses);
extern void wc_getcache_reset_counts(WcGetCache *cache);

/* --- the engine ------------------------------------------------------------- */

/* Forgets all answers; before any other call of a newly started engine. */
extern void wc_getcache_reset(WcGetCache *cache);

/* The current epoch; and: is this one the current epoch, and has no commit begun since? */
extern uint64_t wc_getcache_epoch(const WcGetCache *cache);
extern bool wc_getcache_is_now(const WcGetCache *cache, uint64_t epoch);

/* Is any reader in this epoch?  Is this reader?  wc_getcache_epochs_read returns the number of places that are in use,
 * and their epochs in no order, some perhaps several times; `epochs` has room for wc_getcache_places elements. */
extern bool wc_getcache_is_read(const WcGetCache *cache, uint64_t epoch);
extern bool wc_getcache_reads(const WcGetCache *cache, uint32_t reader, uint64_t epoch);
extern uint32_t wc_getcache_epochs_read(const WcGetCache *cache, uint64_t *epochs);
extern uint32_t wc_getcache_places(const WcGetCache *cache);

/* Is there room for answers of this row that no answer has used before? */
extern bool wc_getcache_has_room(const WcGetCache *cache, uint32_t table_id, WcSlice row);

/* Is an answer to this Get kept that is valid in this epoch?  It may be about to be overwritten. */
extern bool wc_getcache_has(const WcGetCache *cache, uint64_t epoch, uint32_t table_id, WcSlice row, WcSlice get);

/* Why an answer is kept. */
typedef enum WcGetOrigin
{
	WC_GET_ASKED,				/* a session has asked for it */
	WC_GET_AHEAD,				/* the row was written, and sessions may ask for it (rpc/lock/answers.h): with values, */
	WC_GET_AHEAD_KEY_ONLY,		/* or without */
	WC_GET_LEFT					/* the commit that has written the row has left it: not kept in a page that has been full, but for
								 * an older answer to the same Get */
} WcGetOrigin;

/* Keeps an answer that was read in an epoch.  It is valid while the row is not written, from wall time valid_from_us on (a clock may
 * be set back) and before valid_until_us (INT64_MAX: for ever).  Any thread. */
extern void wc_getcache_add(WcGetCache *cache, WcGetOrigin origin, uint64_t epoch, uint32_t table_id, WcSlice row,
							WcSlice get, WcSlice answer, int64_t valid_from_us, int64_t valid_until_us);

/* How many answers of this origin (not WC_GET_ASKED) have been found, each counted once, from an arbitrary number on, modulo
 * 2^32.  Tables share the counters, by their ids.  Any thread. */
extern uint32_t wc_getcache_found_ahead(const WcGetCache *cache, uint32_t table_id, WcGetOrigin origin);

/*
 * Called for each commit, one commit at a time: first touch for everything that the commit may change; then begin, before
 * any reader can see the commit; then end, when all new readers see it (or it has failed).
 */
extern void wc_getcache_touch_row(WcGetCache *cache, uint32_t table_id, WcSlice row);
extern void wc_getcache_touch_table(WcGetCache *cache, uint32_t table_id);
extern void wc_getcache_begin(WcGetCache *cache);
extern void wc_getcache_end(WcGetCache *cache);

/*
 * Is it better to touch each row of a commit with nrows rows than its table?  Touching a table makes all its answers invalid, but
 * costs nothing; a row shares its stamp with rows of other tables.  Yes if the table has answers, and the rows have at
 * most a twelfth of the stamps.
 */
extern bool wc_getcache_wants_rows(const WcGetCache *cache, uint32_t table_id, uint64_t nrows);

#endif
