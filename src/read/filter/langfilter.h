/*
 * read/filter/langfilter.h: a filter in HBase's language, evaluated on rows and cells.
 *
 * A filter has state: the caller passes in the rows of a scan in order, and the cells of each row.  For a row the caller
 * calls, in this order,
 *
 *     wc_langfilter_reset            before each row, the first one too
 *     wc_langfilter_all_remaining    is the scan over?
 *     wc_langfilter_row_key          is the row rejected by its key?
 *     wc_langfilter_cell             is a visible cell returned?  Then
 *                                    wc_langfilter_transform changes the cell
 *     wc_langfilter_keeps            is a returned cell kept, when all are known?
 *     wc_langfilter_row              is the row, if it has a cell left, rejected?
 *
 * as HBase 2.6's RegionScanner and StoreScanner do (read/README).  One thread.
 */
#ifndef WC_READ_FILTER_LANGFILTER_H
#define WC_READ_FILTER_LANGFILTER_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/status.h"
#include "model/scan.h"

typedef struct WcLangFilter WcLangFilter;

/* HBase's ReturnCode. */
typedef enum WcLangCode
{
	WC_LANG_INCLUDE,			/* the cell is returned */
	WC_LANG_INCLUDE_NEXT_COLUMN,	/* and the rest of its column is skipped */
	WC_LANG_INCLUDE_NEXT_ROW,	/* and nothing more of its family in this row */
	WC_LANG_SKIPPED,			/* it is not returned */
	WC_LANG_NEXT_COLUMN,
	WC_LANG_NEXT_ROW,
	WC_LANG_SEEK				/* it is not, nor any before wc_langfilter_hint */
} WcLangCode;

/* A visible cell as a filter sees it. */
typedef struct WcLangCell
{
	WcSlice		row;
	uint32_t	place;			/* of its family in the table: families are in byte order */
	WcSlice		family;			/* the name */
	WcSlice		qualifier;
	WcSlice		value;
	int64_t		ts;
} WcLangCell;

/* Parses a text (filterlang/filterlang.h); all but regular expressions is in the arena.  cancel (or NULL) ends searches
 * for these, and must outlive the filter.  *filter is NULL when this fails. */
extern WcStatus wc_langfilter_create(WcArena *arena, WcSlice text, bool reversed, const atomic_bool *cancel,
									 WcLangFilter **filter, WcError *err) WC_WARN_UNUSED;
extern void wc_langfilter_free(WcLangFilter *filter);	/* NULL is none */

/* Does it decide on rows when all their cells are known (hasFilterRow)? */
extern bool wc_langfilter_decides_rows(const WcLangFilter *filter);

/* May a cell of a row that is rejected by its key end the scan?  Else such cells need not be shown. */
extern bool wc_langfilter_watches_cells(const WcLangFilter *filter);

/* Is the family needed to decide?  One that is not is read when the row has passed. */
extern bool wc_langfilter_needs_family(const WcLangFilter *filter, WcSlice family);

/* Takes rows out of the range that are rejected by their keys, and that nothing else depends on.  The range's bytes
 * are then the filter's, or in the arena.  False: memory is out. */
extern bool wc_langfilter_narrow(const WcLangFilter *filter, WcArena *arena, WcRange *range) WC_WARN_UNUSED;

extern void wc_langfilter_restart(WcLangFilter *filter);	/* as if it were new: for another Get */
extern void wc_langfilter_reset(WcLangFilter *filter);
extern bool wc_langfilter_all_remaining(const WcLangFilter *filter);

/* These fail where a comparator does: WC_TOO_LARGE (a regular expression's steps), WC_CANCELLED, WC_BAD_DATA (a number). */
extern WcStatus wc_langfilter_row_key(WcLangFilter *filter, WcSlice row, bool *rejects, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_langfilter_cell(WcLangFilter *filter, const WcLangCell *cell, WcLangCode *code, WcError *err) WC_WARN_UNUSED;

/* Behind WC_LANG_SEEK: the first qualifier of the cell's family that may be returned, valid as long as the
 * filter; false: there is none to tell, the next cell comes. */
extern bool wc_langfilter_hint(WcLangFilter *filter, const WcLangCell *cell, WcSlice *qualifier);

/* The value as it is returned: itself, none, or its length in scratch. */
extern WcSlice wc_langfilter_transform(WcLangFilter *filter, WcSlice value, uint8_t scratch[4]);

extern bool wc_langfilter_keeps(const WcLangFilter *filter, const WcLangCell *cell);
extern bool wc_langfilter_row(WcLangFilter *filter);

#endif
