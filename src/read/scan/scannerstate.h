/*
 * read/scan/scannerstate.h: an open scanner, for the files that it is made of: scan*.c, langcells.c and langrows.c.
 */
#ifndef WC_READ_SCAN_SCANNERSTATE_H
#define WC_READ_SCAN_SCANNERSTATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "read/scan/distinct.h"
#include "read/scan/groups.h"
#include "read/scan/rowfilter.h"
#include "read/scan/scanner.h"
#include "read/scan/skip.h"
#include "read/scan/storescan.h"

/* After so many rejected rows in turn, the rows found before are sent. */
#define WC_REJECTED_MAX 4096

/* One of the families that are read. */
typedef struct WcFamilyScan
{
	WcStoreScan *scan;
	const WcFamilyDesc *family;
	uint32_t	place;			/* of the family in the table */
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
	uint32_t	gathered;		/* cells in the block, which may be taken back */

	uint64_t	returned;		/* cells, of all rows */

	struct WcLangFamily *lang;	/* with a filter in HBase's language (langcells.h) */
} WcFamilyScan;

/*
 * Ranges that are read one behind another.  A scanner has one lane, unless it
 * merges (WcScan.merged): then one for each first byte, with families of its own.
 */
typedef struct WcScanLane
{
	uint32_t	nranges;		/* at least 1 */
	WcRange    *ranges;			/* in scan order */
	uint32_t	range;			/* the current one */
	bool		points;			/* every range is one row */
	bool		positioned;		/* families are on rows at or behind its start */
	bool		steps;			/* one family is read, and no row is skipped: families[0] goes from row to row */
	bool		moved;			/* families[0] has left the current row already (copies_rows) */
	WcFamilyScan *families;		/* the scanner's nfamilies, in byte order of their names */
	WcSlice		row;			/* the current row */
	WcSkip	   *skip;			/* ranges of rows that the filter certainly rejects; NULL: none are known */
} WcScanLane;

/* A filter in HBase's language, and what of a row it has let through (langcells.h). */
typedef struct WcLangRows WcLangRows;

/* The parts into which a long scan is divided (scanparts.h). */
typedef struct WcScanParts WcScanParts;

struct WcScanner
{
	WcStorage  *storage;
	WcArena		arena;
	WcScan		scan;			/* a copy, in the arena */
	WcReadPoint at;				/* with a snapshot */
	WcSnapshot *own_snapshot;	/* when the read point had none */
	int64_t		now_us;			/* for TTLs */
	int64_t		provisional_after;	/* of blocks (WcBlockWriter) */
	WcTable    *table;
	uint32_t	nfamilies;		/* that are read */
	uint32_t	nlanes;			/* at least 1 */
	WcScanLane *lanes;			/* in scan order */
	WcScanLane *lane;			/* the one that the scanner's row is in */
	uint32_t	nheap;			/* merging: lanes that are on a row, a heap with the next row on top */
	WcScanLane **heap;			/* NULL: not begun yet */

	bool		done;
	bool		in_row;			/* a row is begun in the block and not finished */
	uint32_t	family;			/* within a row: the family of the next cells */
	WcRowFilter *filter;		/* or NULL */
	uint32_t	shown;			/* columns from this position on are the filter's */
	WcLangRows *lang;			/* the other kind of filter; or NULL */
	WcGroups   *groups;			/* of the rows, which are not returned; or NULL */
	WcDistinct *distinct;		/* one row of each prefix is wanted; or NULL */
	bool		taken;			/* and the lane's row is one that is wanted: it is returned, or skipped by row_offset */
	bool		values_only;	/* every wanted cell of a row is returned, as a value */
	bool		copies_rows;	/* families[0] of the lane may write rows without the scanner (wc_storescan_copy_rows) */
	bool		undecided;		/* in a row: the filter could not tell */
	WcBuf		again;			/* the key of a row that is read once more */
	uint64_t	rows_skipped;	/* for row_offset; with count_cells: cells */
	uint64_t	rows_counted;	/* for row_limit, likewise */
	WcScanHelpers helpers;		/* that share the scan after stop_after rows */
	WcSlice		shared_scan;	/* the encoded WcScan, for them */
	uint64_t	share_after;	/* stored rows, after which the rest of the scan may be shared; 0: it is not */
	WcScanParts *parts;			/* which read the rest; NULL: none */
	WcScanStats stats;			/* without those of parts */
	WcReadCounts *told;			/* the counts of each family that were reported to the storage so far; NULL: none */
};

/* --- scanlane.c: stored rows ---------------------------------------------------*/

/* Moves to the next row that is stored, in any of the ranges: s->lane is on it.  WC_END: there is none. */
extern WcStatus wc_scanlanes_next(WcScanner *s, WcError *err) WC_WARN_UNUSED;

/* Moves back to the first cell of that row. */
extern WcStatus wc_scanlanes_again(WcScanner *s, WcError *err) WC_WARN_UNUSED;

/* --- scanrow.c: rows and their cells ---------------------------------------------*/

/* Finds the family's next cell to return: f->cell (f->has_cell); or the family is drained. */
extern WcStatus wc_scanner_advance(WcScanner *s, WcFamilyScan *f, WcError *err) WC_WARN_UNUSED;

/* Must more rows, or cells, be skipped? */
static inline bool
wc_scanner_is_skipping(const WcScanner *s)
{
	return s->rows_skipped < s->scan.row_offset;
}

/* Counts the row, or cell, that is skipped. */
static inline void
wc_scanner_skip(WcScanner *s)
{
	s->rows_skipped++;
	s->taken = true;
}

/* Are all wanted families of the row such that no cell need be read one by one (wc_storescan_plain)? */
static inline bool
wc_scanner_is_plain(const WcScanner *s)
{
	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		const WcFamilyScan *f = &s->lane->families[i];

		if (f->here && f->wanted && !wc_storescan_plain(f->scan))
			return false;
	}
	return true;
}

/* Is the column there for the filter only? */
static inline bool
wc_scanner_is_hidden(const WcScanner *s, uint32_t colno)
{
	return s->filter != NULL && !s->undecided && colno != WC_NO_COLUMN && colno >= s->shown;
}

/* rows_by_existence: does the row exist?  It does if one of some families has a visible cell. */
extern WcStatus wc_scanner_row_exists(WcScanner *s, bool *exists, WcError *err) WC_WARN_UNUSED;

/* Moves to the next row to return, without a filter; WC_END: none. */
extern WcStatus wc_scanner_next_row(WcScanner *s, WcError *err) WC_WARN_UNUSED;

/* Writes the key of a row that is not skipped, or undecided. */
extern void wc_scanner_begin_row(WcScanner *s, WcBlockWriter *w);

/* Writes the rest of the row; *full: the block is full, and the row has more cells. */
extern WcStatus wc_scanner_write_row(WcScanner *s, WcBlockWriter *w, size_t bytes_target, bool *full,
									 WcError *err) WC_WARN_UNUSED;

/* Has all been returned that the Scan's limit allows? */
static inline bool
wc_scanner_has_enough(const WcScanner *s)
{
	return s->scan.row_limit > 0 && s->rows_counted == s->scan.row_limit;
}

/* A row is finished: was it the last one that can be? */
static inline bool
wc_scanner_was_last(const WcScanner *s)
{
	return wc_scanner_has_enough(s) ||
		(s->nlanes == 1 && s->lane->points && s->lane->range + 1 == s->lane->nranges);
}

/* --- scanfilter.c --------------------------------------------------------------*/

/*
 * Moves to the next row that the filter accepts, and writes it into the block: the whole row, or only its key if the row
 * is large or undecided.  *paused: many rows were rejected, and the block is not empty.
 */
extern WcStatus wc_scanner_next_passing(WcScanner *s, WcBlockWriter *w, bool *paused, WcError *err) WC_WARN_UNUSED;

/* --- scangroups.c --------------------------------------------------------------*/

/* Fills the block with groups, and with rows that cannot be grouped; *full: the block ends within such a row. */
extern WcStatus wc_scanner_fill_groups(WcScanner *s, WcBlockWriter *w, size_t bytes_target, bool *full,
									   WcError *err) WC_WARN_UNUSED;

#endif
