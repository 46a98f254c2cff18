/*
 * fdw/row/rowid.h: ids of rows of a foreign table; reads a row by its id.
 *
 * In layout 'row' the id is the row key.  In layout 'cell' a row of the foreign table is one version of a cell, and the
 * id identifies the version.
 */
#ifndef WC_FDW_ROW_ROWID_H
#define WC_FDW_ROW_ROWID_H

#include "postgres.h"

#include "executor/tuptable.h"

#include "fdw/row/reader.h"

typedef struct WcRowId
{
	WcSlice		row;			/* the stored row */

	/* layout cell */
	uint32		family;
	WcSlice		qualifier;
	int64		ts;
} WcRowId;

/* Sets the id of the reader's last row; valid until the reader reads the next row. */
extern void wc_rowid_of(const WcReader *reader, WcRowId *id);

/* Encodes an id as bytes, and decodes it (the id points into the bytes). */
extern void wc_rowid_encode(const WcRelation *wrel, const WcRowId *id, WcBuf *out);
extern void wc_rowid_decode(const WcRelation *wrel, WcSlice bytes, WcRowId *id);

/*
 * Reads the row with all its columns; false when the row does not exist.  Sets natts elements of values and isnull,
 * palloc'd in CurrentMemoryContext.  The transaction's own writes of commands before cid are visible.  reader: made by
 * wc_rowid_reader, and not used elsewhere.  One round trip.
 */
extern bool wc_rowid_read(WcRelation *wrel, WcReader *reader, const WcRowId *id, WcClientSnapshot *snapshot,
						  CommandId cid, Datum *values, bool *isnull);

/* Creates a reader of all columns, in CurrentMemoryContext. */
extern WcReader *wc_rowid_reader(WcRelation *wrel);

#endif
