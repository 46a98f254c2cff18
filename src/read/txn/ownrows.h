/*
 * read/txn/ownrows.h: rows that an open transaction has written often, resolved so far.
 *
 * A transaction that writes a row repeatedly, and reads it in between, would resolve all its operations on the row each
 * time: n updates would cost n * n.  So the result for a family of such a row is kept, and the next reader continues with
 * the operations that came since.  Kept rows belong to the transaction: one thread.
 */
#ifndef WC_READ_TXN_OWNROWS_H
#define WC_READ_TXN_OWNROWS_H

#include "read/txn/resolve.h"
#include "read/txn/txn.h"

typedef struct WcOwnRow WcOwnRow;
typedef struct WcOwnRows WcOwnRows;	/* NULL: none */

/* A row with fewer operations is resolved again each time. */
#define WC_OWNROW_OPS_MIN 8

/* Rows that are kept at most; those that come together in one place replace each other. */
#define WC_OWNROWS_MAX 64

/* The parameters of a read that the resolved row depends on. */
typedef struct WcOwnRowReader
{
	uint32_t	table_id;
	uint32_t	family;
	const WcFamilyAttrs *attrs; /* of the family */
	uint64_t	moment;			/* the snapshot's (read/storage.h) */
	bool		hidden;			/* stored cells do not count */
	uint32_t	cid;			/* operations of smaller commands are seen ... */
	uint64_t	void_before;	/* ... from this offset on ... */
	uint64_t	upto;			/* ... by a view that looks at so much (wc_txnview_upto) */
	int64_t		ts;				/* for cells without one: greater than that of any stored one */
	int64_t		now_us;			/* these two: as in WcResolverOptions */
	void	   *arg;
} WcOwnRowReader;

/*
 * The row as it was kept, if this reader can go on with it: it is the caller's now, until
 * wc_ownrows_give.  Else NULL.
 */
extern WcOwnRow *wc_ownrows_take(WcTxn *txn, const WcOwnRowReader *reader, WcSlice row);

/* A new one, of which nothing is resolved yet; it is the caller's. */
extern WcStatus wc_ownrow_create(WcTxn *txn, const WcOwnRowReader *reader, const WcResolverOptions *options, WcSlice row,
								 WcOwnRow **own, WcError *err) WC_WARN_UNUSED;

/* Keeps the row, or frees it if it is of no use any more; NULL is allowed. */
extern void wc_ownrows_give(WcTxn *txn, WcOwnRow *own);
extern void wc_ownrow_free(WcOwnRow *own);

extern WcSlice wc_ownrow_row(const WcOwnRow *own);	/* lives as long as it does */
extern uint64_t wc_ownrow_next(const WcOwnRow *own);	/* offset from which on operations are missing */

/* Resolves n more operations (all that the reader sees from wc_ownrow_next on; passed_cid
 * as wc_txnview_take says it), then gives the cells of the row.  resolved->n is 0 when
 * nothing is of this family. */
extern WcStatus wc_ownrow_resolve(WcOwnRow *own, const WcTxnEntry *const *entries, size_t n,
								  uint32_t passed_cid, WcResolved *resolved, WcError *err) WC_WARN_UNUSED;

/* --- for txn.c ---------------------------------------------------------------*/

/* Operations from this offset on are gone. */
extern void wc_ownrows_cut(WcTxn *txn, uint64_t offset);
extern void wc_ownrows_free(WcOwnRows *rows);

#endif
