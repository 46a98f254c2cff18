/*
 * client/state.h: what the files of client/ tell each other about the
 * transaction.  Nobody else includes it.
 */
#ifndef WC_CLIENT_STATE_H
#define WC_CLIENT_STATE_H

#include "client/driver.h"

/* xact.c: connects. */
extern void wc_xact_join(void);

/* snapshot.c: the driver's number for it, 0 for the newest state. */
extern uint64 wc_snapshot_number(const WcClientSnapshot *snapshot);
extern void wc_snapshots_subxact_end(SubTransactionId subid, SubTransactionId parent, bool commit);
extern void wc_snapshots_forget(void);	/* end of the transaction */

/* mutator.c: the batch.  A mark is a place in it that it can be cut back to. */
typedef struct WcBatchMark
{
	uint64		nops;			/* operations before it */
	uint64		sent;			/* of them, already with the driver when it was taken */
	size_t		offset;			/* in the buffer then */
	uint64		bytes;			/* of all operations before it */
} WcBatchMark;

extern void wc_batch_mark(WcBatchMark *mark);
extern void wc_batch_cut(const WcBatchMark *mark);	/* never fails */
extern void wc_batch_send(void);	/* the driver gets all of it */
extern bool wc_batch_empty(void);
extern void wc_batch_forget(void);	/* end of the transaction; never fails */
extern void wc_batch_forget_locks(void);	/* locks may have been released */

/* rowlock.c: has the transaction locked rows? */
extern bool wc_rows_locked(void);
extern void wc_rows_forget(void);	/* end of the transaction; never fails */

/* mutator.c: the writer's lock on the table, once a transaction. */
extern void wc_lock_for_writing(const WcTableDesc *table);

/* The builder, for operations that concern no rows. */
extern WcBatchBuilder *wc_batch_builder(void);

/* table.c: own catalog changes were made or undone. */
extern void wc_catalog_changed(void);

/* Is the table of this name still the one with this id?  Perhaps a round trip. */
extern bool wc_table_is_current(const WcTableDesc *table);

#endif
