/*
 * engine/scanner.h: an open scanner, for the two files it is made of
 * (scanopen.c, scanner.c).
 */
#ifndef WC_ENGINE_SCANNER_H
#define WC_ENGINE_SCANNER_H

#include "base/arena.h"
#include "engine/internal.h"
#include "engine/storescan.h"

/* One of the families that are read. */
typedef struct WcFamilyScan
{
	WcStoreScan *scan;
	WcStore    *store;
	const WcFamilyDesc *family;
	bool		wanted;			/* its cells are returned */
	bool		existence;		/* its cells make a row exist */

	bool		on_row;			/* the scan is on a row ... */
	bool		here;			/* ... and that is the scanner's */

	/* in the scanner's row */
	bool		drained;		/* it has no more cells to return */
	bool		seen;			/* it has shown a visible cell */
	bool		has_cell;		/* the next to return is this: */
	WcCell		cell;
	uint32_t	colno;
	uint32_t	skipped;		/* cells, for column_offset */
	uint32_t	given;			/* cells, for column_limit */
} WcFamilyScan;

struct WcScanner
{
	WcEngine   *engine;
	WcArena		arena;
	WcScan		scan;			/* a copy, in the arena */
	WcReadPoint at;				/* with a snapshot */
	WcSnapshot *own_snapshot;	/* when the read point had none */
	WcTable    *table;
	uint32_t	nfamilies;
	WcFamilyScan *families;		/* in byte order of their names */
	bool		points;			/* every range is one row */

	uint32_t	nranges;		/* at least 1 */
	WcRange    *ranges;			/* in scan order */
	uint32_t	range;			/* the current one */
	bool		positioned;		/* families are on rows at or behind its start */

	bool		done;
	bool		in_row;			/* a row is begun in the block and not finished */
	uint32_t	family;			/* in a row: whose cells are next */
	WcSlice		row;
	uint64_t	rows_skipped;	/* for row_offset */
	WcScanStats stats;
};

#endif
