/*
 * fdw/write/rowread.h: reads of rows that writes need.
 */
#ifndef WC_FDW_WRITE_ROWREAD_H
#define WC_FDW_WRITE_ROWREAD_H

#include "postgres.h"

#include "client/client.h"
#include "fdw/relation/relation.h"

/*
 * The newest visible cells of these columns of one row (ncolumns 0: all columns of the mapped families), with
 * timestamps; at a snapshot with own writes below cid, or (snapshot NULL) in the newest state with all writes of this
 * transaction.  Returns an array of *ncells; all of it is in CurrentMemoryContext. family and qualifier are always set.
 */
extern WcCell *wc_rowread_cells(const WcRelation *wrel, WcSlice row, const WcColumn *columns, int ncolumns,
								WcClientSnapshot *snapshot, CommandId cid, int *ncells);

/*
 * Looks up times to live of cells.  When a second cell of a family of one row is asked for, the rest of the family is read,
 * without values, and the next cells are found there if they are asked for in order.  So n cells of a row take no n requests.
 */
typedef struct WcTtlReader WcTtlReader;

/* Own writes below cid are seen. */
extern WcTtlReader *wc_ttlreader_create(const WcRelation *wrel, CommandId cid, MemoryContext context);

/* The time to live of one version of a cell of a row that is locked, in microseconds; 0: none.  False: the cell does not
 * exist any more. */
extern bool wc_ttlreader_find(WcTtlReader *reader, WcSlice row, uint32 family, WcSlice qualifier, int64 ts, int64 *ttl_us);

/*
 * The timestamps of a column's versions as of now, own writes included; newest first.  Also of those that are hidden because the
 * family keeps fewer, or fewer expired ones: they would be visible if the newer ones were deleted.  *nupto_own: so many up to the
 * last one that the transaction has written without a timestamp; it gets another timestamp at the commit, so only WC_ITEM_DELETE of
 * the newest version deletes it.
 */
extern int64 *wc_rowread_versions(const WcRelation *wrel, WcSlice row, uint32 family, WcSlice qualifier, int *nversions,
								  int *nupto_own);

#endif
