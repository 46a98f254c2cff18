/*
 * rpc/lock/rowstamps.h: when rows were written last, approximately, in a small table.
 *
 * For each hash of a table and a row it has the greatest timestamp of a commit that wrote a row with this hash.  A commit
 * that changes a table counts for all rows of the table.  Of a commit that writes very many rows it has the first and the
 * last row: the commit counts for all rows between them.  Errors are on the safe side: a row
 * may seem to be written because another row with its hash was, but a row that was written never seems not to be.
 */
#ifndef WC_RPC_LOCK_ROWSTAMPS_H
#define WC_RPC_LOCK_ROWSTAMPS_H

#include "base/slice.h"

typedef struct WcRowStamps WcRowStamps;

/* NULL: out of memory. */
extern WcRowStamps *wc_rowstamps_create(void);
extern void wc_rowstamps_free(WcRowStamps *stamps); /* NULL is allowed */

/* A commit with this timestamp is about to write a row, any rows of a table, or any from the first to the last one; ts 0:
 * the write is no commit.  One thread at a time. */
extern void wc_rowstamps_row(WcRowStamps *stamps, uint32_t table_id, WcSlice row, int64_t ts);
extern void wc_rowstamps_table(WcRowStamps *stamps, uint32_t table_id, int64_t ts);
extern void wc_rowstamps_range(WcRowStamps *stamps, uint32_t table_id, WcSlice first, WcSlice last, int64_t ts);

/*
 * False: no commit with a greater timestamp than ts has written the row.  Any thread.  The caller has locked the row, so
 * the function knows the commits of all transactions that had locked it before.
 */
extern bool wc_rowstamps_perhaps_since(WcRowStamps *stamps, uint32_t table_id, WcSlice row, int64_t ts);

#endif
