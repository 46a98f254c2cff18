/*
 * test/unit/claimsite.h: claims of backends beside the engine's row locks, for tests.
 */
#ifndef CLAIMSITE_H
#define CLAIMSITE_H

#include <stdatomic.h>

#include "rpc/lock/locktable.h"
#include "wire/shared/claims.h"

#define S(literal)	wc_slice(literal, sizeof(literal) - 1)
#define OPENING		3
#define PROCESSES	8

/* What processes share, and an engine's lock table over it. */
typedef struct Site
{
	WcFlight   *flight;
	WcClaims   *claims;
	WcLockTable *table;
} Site;

/* Zeroed memory as shared memory is; the caller frees it. */
extern void *claimsite_zeroed(size_t size);

/* Rows can be claimed; there are eight places in flight. */
extern int	claimsite_set_up(void **state);
extern int	claimsite_tear_down(void **state);

/* A statement of the process locks the row of table 1, behind a commit or not, and keeps it locked; claimsite_added: it was not locked before. */
extern bool claimsite_added;
extern bool claim_for(Site *site, uint32_t process, uint64_t xid, WcRowLockMode mode, WcSlice row, uint64_t behind);

extern uint16_t take_place(Site *site, uint64_t xid);

/* The engine locks a row of table 1; returns the transaction that is in the way, or 0.  lock_beside_others: while other threads
 * do so. */
extern uint64_t lock_as(Site *site, uint64_t xid, WcRowLockMode mode, WcSlice row);
extern uint64_t lock_beside_others(Site *site, uint64_t xid, WcRowLockMode mode, WcSlice row);
extern bool lock_table_as(Site *site, uint64_t xid, uint32_t table_id);
extern void unlock_as(Site *site, uint64_t xid);

/* Threads whose transactions want the same rows. */
#define CONTEST_ROWS	4

typedef struct Contest
{
	Site	   *site;
	atomic_int	inside[CONTEST_ROWS];	/* transactions that have the row */
	atomic_int	got;
	atomic_ullong next_xid;
} Contest;

/* One transaction, of a thread's process: claims the row of one byte, visits it if it gets it, and ends. */
typedef void (*ContestClaim) (Contest *c, uint32_t process, uint64_t xid, uint8_t row);

/* A transaction has the row: asserts that no other has. */
extern void contest_visit(Contest *c, uint8_t row);

/* Four threads, of which every second one locks rows by the engine, the others by claim_row; then nothing is left behind. */
extern void contest_run(Site *site, ContestClaim claim_row);

#endif
