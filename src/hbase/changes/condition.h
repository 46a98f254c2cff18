/*
 * hbase/changes/condition.h: cells on which the transaction's changes depend.
 */
#ifndef WC_HBASE_CHANGES_CONDITION_H
#define WC_HBASE_CHANGES_CONDITION_H

#include "hbase/gateway/gateway.h"

/* The changes of a row are made only if a cell has this value at the commit. */
typedef struct WcHBaseCondition
{
	const char *family;
	WcSlice		qualifier;
	WcSlice		value;			/* empty: there is no cell, or an empty one */
} WcHBaseCondition;

/* That of WcDriverKept. */
extern void wc_hbase_expect(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, WcSlice value,
							uint64 bytes_max);

extern int	wc_hbase_conditions(void);	/* their number */
extern const WcHBaseCondition *wc_hbase_condition_of(uint32 table_id, WcSlice row); /* NULL: none */

/* HBase has compared the row's condition and changed the row.  When all changes are there that were sent with those of such rows, the
 * rows may be changed again without their conditions, or with new ones. */
extern void wc_hbase_condition_compared(uint32 table_id, WcSlice row);
extern void wc_hbase_conditions_spend(void);

/* Forgets those behind the first n; never fails. */
extern void wc_hbase_conditions_forget(int n);

#endif
