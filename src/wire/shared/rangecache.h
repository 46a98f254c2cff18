/*
 * wire/shared/rangecache.h: rows of short ranges, in memory that all processes share.
 *
 * A stretch has all rows of a table from one key to another, as Scans of one shape return them: a shape is a Scan without its
 * ranges, its direction and its limit of rows.  A range that lies in stretches is read without asking the engine; rows of the
 * stretches that commits have written since are looked for elsewhere (WcRangeQuery.written_row).  wire/README specifies the memory
 * and the protocol; the sections below name the callers.  No function waits.  Epochs are those of wire/shared/getcache.h.
 */
#ifndef WC_WIRE_SHARED_RANGECACHE_H
#define WC_WIRE_SHARED_RANGECACHE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "model/scan.h"

typedef struct WcRangeCache WcRangeCache;

/* A stretch that takes more bytes is not kept; nor is one whose first or last key is longer. */
#define WC_STRETCH_BYTES_MAX	((size_t) 128 * 1024)
#define WC_STRETCH_KEY_MAX		1024

/* A range of more bytes, or without a limit of so many rows, is not read here: perhaps the session does not want most of them. */
#define WC_RANGECACHE_FOUND_MAX ((size_t) 256 * 1024)
#define WC_RANGECACHE_ROWS_MAX	1000

/* Bytes of memory for about `bytes` bytes of stretches; with less than 1 MiB none are kept. */
extern size_t wc_rangecache_size(uint64_t bytes);

/* Lays out fresh, zeroed memory of that size, aligned to 64 bytes. */
extern WcRangeCache *wc_rangecache_init(void *memory, uint64_t bytes);

/* --- sessions ------------------------------------------------------------------ */

typedef struct WcRangeQuery
{
	uint32_t	table_id;
	WcSlice		shape;			/* wc_scan_shape_encode */
	const WcRange *range;
	bool		reversed;
	uint64_t	row_limit;		/* 0: none */
	uint64_t	epoch;			/* in which the session reads; UINT64_MAX: the newest state */
	int64_t		now_us;			/* wall time */

	/*
	 * Appends the row with this key, which has been written since its stretch was kept, as a Scan of the shape returns it in the epoch:
	 * *n is 1; or 0: it returns none.  False: that is not known.  In the newest state the caller checks at the end that none of these
	 * rows has been written meanwhile.  NULL: no such row is known.
	 */
	bool		(*written_row) (void *arg, WcSlice key, WcBuf *out, uint32_t *n);
	void	   *arg;
} WcRangeQuery;

/* Appends the rows' bytes (WcStretchRow) to out, in the Scan's order.  False: some of the rows are not kept, or there is no memory for
 * them; out is as long as before. */
extern bool wc_rangecache_find(WcRangeCache *cache, const WcRangeQuery *query, WcBuf *out);

/* --- the engine: one call at a time, unless a function says otherwise --------------------- */

/* Forgets all stretches; before any other call of a newly started engine. */
extern void wc_rangecache_reset(WcRangeCache *cache);

/*
 * A session asks the engine for a range of this shape.  Is it worth while to keep the range's rows?  Yes as long as sessions find
 * stretches of the shape; now and then also if they do not.
 */
extern bool wc_rangecache_wants(WcRangeCache *cache, uint32_t table_id, WcSlice shape);

/* Is this row, or the place where it would be, in a stretch that is valid at wall time now_us, and of which no row has been written?
 * Then *end gets the key at which the stretch ends; empty: it has all rows to the end of the table. */
extern bool wc_rangecache_covers(const WcRangeCache *cache, uint32_t table_id, WcSlice shape, WcSlice row, int64_t now_us,
								 WcBuf *end);

typedef struct WcStretchRow
{
	WcSlice		key;
	WcSlice		bytes;			/* as a cell block has them (model/README): the row, then its cells */
} WcStretchRow;

typedef struct WcStretch
{
	WcSlice		start;			/* no key before it; may be empty */
	WcSlice		end;			/* the keys are before it; empty: it has all rows from start on */
	const WcStretchRow *rows;
	uint32_t	nrows;
	uint64_t	epoch;			/* the current one, before the rows were read */
	int64_t		valid_from_us;	/* these two: wall time */
	int64_t		valid_until_us; /* INT64_MAX: for ever */
} WcStretch;

/* Has no row of the table been written since this epoch?  Else wc_rangecache_add keeps no stretch of it.  May be called at any time. */
extern bool wc_rangecache_is_unwritten(const WcRangeCache *cache, uint32_t table_id, uint64_t epoch);

/*
 * Keeps the stretch, instead of those with which it overlaps; unless a row of the table has been written since its epoch.  now: the
 * current epoch.  False: it is not kept.
 */
extern bool wc_rangecache_add(WcRangeCache *cache, uint32_t table_id, WcSlice shape, const WcStretch *stretch, uint64_t now);

/*
 * For each commit, before any reader can see it: first wc_rangecache_note for each table, with the epoch that begins with the commit; if
 * it returns true, wc_rangecache_touch_row for each row of the table, or wc_rangecache_touch_table.  wc_rangecache_note may be called
 * at any time, wc_rangecache_uses too.
 */
extern bool wc_rangecache_note(WcRangeCache *cache, uint32_t table_id, uint64_t epoch);
extern bool wc_rangecache_uses(const WcRangeCache *cache, uint32_t table_id);	/* would wc_rangecache_note return true? */
extern void wc_rangecache_touch_row(WcRangeCache *cache, uint32_t table_id, WcSlice row, uint64_t epoch);
extern void wc_rangecache_touch_table(WcRangeCache *cache, uint32_t table_id, uint64_t epoch);

#endif
