/*
 * rpc/lock/neighbours.h: answers to Gets of the rows behind one that was asked for.
 *
 * A Get that the engine has to answer costs several times as much as one whose answer shared memory has.  The block that
 * the engine reads for it has the next rows, too.  So a session's thread, once it has sent the answer, answers the
 * same Get for the next rows, while shared memory has room that no answer has used before, and until the session's
 * next request comes.  If the session asks for rows in the order of their keys, the thread reads some rows also if the next request
 * has come.  rpc/README has the limits.
 */
#ifndef WC_RPC_LOCK_NEIGHBOURS_H
#define WC_RPC_LOCK_NEIGHBOURS_H

#include "engine/engine.h"
#include "model/scan.h"
#include "read/scan/scanner.h"
#include "wire/shared/getcache.h"

/* A session's; only its thread uses it. */
typedef struct WcNeighbours
{
	WcEngine   *engine;
	WcGetCache *cache;
	uint32_t	database;
	WcBuf		asked;			/* the Get that was asked for */
	WcBuf		row;			/* its row, or the last one that was read behind it */
	WcArena		arena;
	WcScan		scan;			/* of asked; in the arena */
	WcBuf		get;			/* the Get of the last row that was read */
	uint64_t	epoch;			/* before the scanner was opened */
	WcScanner  *scanner;		/* NULL: none is open */
	WcBuf		block;
	uint32_t	left;			/* rows to read; 0: nothing was asked for, or all has been done */
	uint32_t	useless;		/* rows, one after another, whose answers were kept already or had no room */

	/* rows that are asked for in order */
	uint32_t	table_id;		/* of the last Get; 0: none */
	WcBuf		last;			/* its row */
	uint32_t	ascending;		/* Gets in turn of this table, each of a row behind the one before */
	uint32_t	enough;			/* so many such Gets are taken for an order */
	uint32_t	eager;			/* so many rows, of `left`, are read before the next request is looked at */
	uint32_t	run;			/* this was `eager` last; 0: there was none since the order began */
	uint32_t	found;			/* wc_getcache_found_ahead then */
} WcNeighbours;

/* Engine and cache outlive it. */
extern void wc_neighbours_init(WcNeighbours *n, WcEngine *engine, WcGetCache *cache);
extern void wc_neighbours_free(WcNeighbours *n);

/* The thread has the answer to a Get that is to be kept: the Scan and its bytes, which are copied, and the answer's length. */
extern void wc_neighbours_asked(WcNeighbours *n, uint32_t database, const WcScan *scan, WcSlice get, size_t answer_len);

static inline bool
wc_neighbours_left(const WcNeighbours *n)
{
	return n->left > 0;
}

/* Are rows to be read also if the session's next request has come? */
static inline bool
wc_neighbours_eager(const WcNeighbours *n)
{
	return n->left > 0 && n->eager > 0;
}

/* Reads the next row, of those that are left, and keeps the answer to its Get. */
extern void wc_neighbours_next(WcNeighbours *n);

/* Before the thread does anything else: gives back what the reading holds, a snapshot for example.  wc_neighbours_next goes on. */
extern void wc_neighbours_pause(WcNeighbours *n);

#endif
