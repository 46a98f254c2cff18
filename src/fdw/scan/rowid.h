/*
 * fdw/scan/rowid.h: which row of a foreign table is meant, and reading just that one.
 *
 * In layout 'row' the row key says it; in layout 'cell' a row of the foreign table is one
 * version of a cell.
 */
#ifndef WC_FDW_SCAN_ROWID_H
#define WC_FDW_SCAN_ROWID_H

#include "postgres.h"

#include "executor/tuptable.h"

#include "fdw/scan/reader.h"

typedef struct WcRowId
{
	WcSlice		row;			/* the stored row */

	/* layout cell */
	uint32		family;
	WcSlice		qualifier;
	int64		ts;
} WcRowId;

/* Sets the id of the row that the reader gave last; valid until its next row. */
extern void wc_rowid_of(const WcReader *reader, WcRowId *id);

/* As bytes, and back (the id points into them). */
extern void wc_rowid_encode(const WcRelation *wrel, const WcRowId *id, WcBuf *out);
extern void wc_rowid_decode(const WcRelation *wrel, WcSlice bytes, WcRowId *id);

/*
 * Reads the row with all its columns; false when it is not there.  Sets values and isnull
 * (natts of them), palloc'd in CurrentMemoryContext.  Own writes of commands before cid
 * are seen.  reader: one of all columns that nobody else uses.  A round trip.
 */
extern bool wc_rowid_read(WcRelation *wrel, WcReader *reader, const WcRowId *id, WcClientSnapshot *snapshot,
						  CommandId cid, Datum *values, bool *isnull);

/* A reader of all columns, in CurrentMemoryContext. */
extern WcReader *wc_rowid_reader(WcRelation *wrel);

#endif
