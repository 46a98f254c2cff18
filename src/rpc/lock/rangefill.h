/*
 * rpc/lock/rangefill.h: keeps the rows of a range that a session has asked for, and rows behind them.
 *
 * Once a session's thread has sent the answer to a short range, it makes stretches (wire/shared/rangecache.h) of the answer's rows and
 * of those behind them, some rows at a time, until the session's next request comes.  If a stretch is being read then, the thread goes
 * on with it once it has answered that request.  A stretch ends before a row whose key's hash says so: then the stretches of different
 * ranges meet at the same keys.  rpc/README has the limits.
 */
#ifndef WC_RPC_LOCK_RANGEFILL_H
#define WC_RPC_LOCK_RANGEFILL_H

#include "engine/engine.h"
#include "model/scan.h"
#include "read/scan/scanner.h"
#include "rpc/lock/ranges.h"
#include "wire/shared/getcache.h"

/* A session's; only its thread uses it. */
typedef struct WcRangeFill
{
	WcEngine   *engine;
	WcRanges   *ranges;			/* NULL: nothing is kept */
	const WcGetCache *cache;	/* has the epochs */
	uint32_t	database;
	uint32_t	table_id;
	WcBuf		shape;
	WcBuf		from;			/* where the next stretch begins */
	WcBuf		upto;			/* up to this key rows are wanted; empty: up to the table's end */
	uint64_t	spacing;		/* one of so many rows, a power of two, begins a stretch */
	WcScanner  *scanner;		/* of a stretch that is being read; NULL: none is */
	uint32_t	requests;		/* that have come since it was opened */
	uint32_t	left;			/* stretches to make, at most; 0: nothing was asked for, or all has been done */
	uint64_t	epoch;			/* these three are the stretch's that is being made; or the answer's, while rows of it are left */
	int64_t		valid_from_us;
	int64_t		valid_until_us;
	size_t		given_at;		/* the next of these rows, in bytes; 0: all have been used */
	WcArena		arena;
	WcBuf		bytes;			/* blocks: the answer, or those of a stretch, or both */
	WcBuf		rows;			/* of a stretch, which are in bytes */
	WcBuf		end;
} WcRangeFill;

/* The whole answer to a Scan of one range. */
typedef struct WcRangeAnswer
{
	WcSlice		block;			/* a cell block */
	uint64_t	epoch;			/* in which it was read; 0: in none */
	int64_t		valid_from_us;	/* as of a stretch */
	int64_t		valid_until_us;
} WcRangeAnswer;

/* The other objects outlive it. */
extern void wc_rangefill_init(WcRangeFill *fill, WcEngine *engine, WcRanges *ranges, const WcGetCache *cache);
extern void wc_rangefill_free(WcRangeFill *fill);

/* The session's thread has made the answer to a Scan that is to be kept.  If it is reading a stretch that can still be kept, the answer
 * is not used: its range is kept when the session asks for it again. */
extern void wc_rangefill_asked(WcRangeFill *fill, uint32_t database, const WcScan *scan, const WcRangeAnswer *answer);

static inline bool
wc_rangefill_left(const WcRangeFill *fill)
{
	return fill->left > 0;
}

/* Makes one step of what is left: begins a stretch, or reads some of its rows, and keeps it once all are read. */
extern void wc_rangefill_next(WcRangeFill *fill);

/* To be called when a request has come after which the thread goes on with the stretch that it is reading.  The stretch is given up
 * if it has waited for many requests. */
extern void wc_rangefill_wait(WcRangeFill *fill);

/* Gives up what is left, and closes the scanner, which holds a snapshot.  To be called before the thread carries out any other request,
 * and before it sleeps. */
extern void wc_rangefill_end(WcRangeFill *fill);

#endif
