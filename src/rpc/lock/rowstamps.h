/*
 * rpc/lock/rowstamps.h: when rows were written last, approximately, in a small table.
 *
 * For each hash of a table and a row the greatest timestamp of a commit that wrote such
 * a row; a commit that writes very many rows, or changes a table, counts for all of the
 * table.  Rows that share a hash are taken for written when one of them was: never the
 * other way about.
 */
#ifndef WC_RPC_LOCK_ROWSTAMPS_H
#define WC_RPC_LOCK_ROWSTAMPS_H

#include "base/slice.h"

typedef struct WcRowStamps WcRowStamps;

/* NULL: out of memory. */
extern WcRowStamps *wc_rowstamps_create(void);
extern void wc_rowstamps_free(WcRowStamps *stamps); /* NULL is allowed */

/* A commit is about to write a row, or anything of a table; ts 0: it is no commit.  One
 * thread at a time. */
extern void wc_rowstamps_row(WcRowStamps *stamps, uint32_t table_id, WcSlice row, int64_t ts);
extern void wc_rowstamps_table(WcRowStamps *stamps, uint32_t table_id, int64_t ts);

/*
 * False: no commit with a greater timestamp than ts has written the row.  Any thread.  The function knows all commits
 * that the caller can know by a lock that was released after them.
 */
extern bool wc_rowstamps_perhaps_since(const WcRowStamps *stamps, uint32_t table_id, WcSlice row, int64_t ts);

#endif
