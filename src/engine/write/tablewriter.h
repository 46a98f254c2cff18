/*
 * engine/write/tablewriter.h: writes a commit's changes of the rows of one table.
 *
 * Takes a transaction's row operations on the table, by row and place (wc_txnwalk_next), and
 * hands them to a writer for each family that they concern.  One thread.
 */
#ifndef WC_ENGINE_WRITE_TABLEWRITER_H
#define WC_ENGINE_WRITE_TABLEWRITER_H

#include "engine/catalog/catalog.h"
#include "engine/write/familywriter.h"
#include "read/txn/txn.h"

typedef struct WcTableWriter WcTableWriter;

typedef struct WcTableWriterOptions
{
	const WcTableState *state;	/* not dropped */
	WcTable    *table;			/* its picture; a reference is taken */
	int64_t		ts;				/* the commit timestamp */
	int64_t		now_us;			/* for TTLs */
	WcSink	   *sink;			/* NULL: nothing is put, it is only looked whether it could be */
	bool		renews;			/* chunks of the scan cache; then no other commit is in the sink */
} WcTableWriterOptions;

extern WcStatus wc_tablewriter_create(const WcTableWriterOptions *options, WcTableWriter **writer,
									  WcError *err) WC_WARN_UNUSED;
extern void wc_tablewriter_free(WcTableWriter *writer);
extern const WcTable *wc_tablewriter_table(const WcTableWriter *writer);

/*
 * The next operation: of the same row as the one before, or of the first after finish.  The
 * entry must live until then.  WC_DUPLICATE_ROW: the row must be absent, and is not; nothing
 * of the operation was taken.  WC_NO_FAMILY: items of families that are not there were left
 * out, the others taken.
 */
extern WcStatus wc_tablewriter_op(WcTableWriter *writer, const WcTxnEntry *entry, WcError *err) WC_WARN_UNUSED;

/* Puts the row into the batch; raises *last_ts to the greatest timestamp used.
 * WC_TOO_LARGE: it would become too large in some families, which it is not put into. */
extern WcStatus wc_tablewriter_finish_row(WcTableWriter *writer, int64_t *last_ts, WcError *err) WC_WARN_UNUSED;

/* In place of that: gives the row up. */
extern void wc_tablewriter_leave_row(WcTableWriter *writer);

/* As wc_familywriter_notes, of the i'th family of the table. */
extern WcFamilyNotes wc_tablewriter_notes(const WcTableWriter *writer, uint32_t i);

/* As wc_familywriter_take_renewal, of the i'th family of the table. */
extern WcScanRenewal *wc_tablewriter_take_renewal(WcTableWriter *writer, uint32_t i);

#endif
