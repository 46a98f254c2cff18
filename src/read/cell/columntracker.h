/*
 * read/cell/columntracker.h: the columns of a family that a Scan wants.
 *
 * Any mix of exact qualifiers, prefixes, ranges and the whole family; overlapping parts count once, and an
 * exact column's number is returned.  Asked with qualifiers in ascending order within a row.  One thread.
 */
#ifndef WC_READ_CELL_COLUMNTRACKER_H
#define WC_READ_CELL_COLUMNTRACKER_H

#include "base/arena.h"
#include "base/status.h"
#include "model/scan.h"
#include "read/cell/matcher.h"

typedef struct WcWantedColumn
{
	WcSlice		qualifier;
	uint32_t	colno;
	uint32_t	before;			/* for wc_packedrow_find */
	bool		filtered;		/* a filter looks at it first */
} WcWantedColumn;

typedef struct WcWantedRange
{
	WcSlice		start;
	WcSlice		stop;			/* exclusive; empty: unbounded */
} WcWantedRange;

typedef struct WcColumnTracker
{
	bool		everything;		/* and no number to tell: nothing need be asked */
	size_t		ncolumns;
	WcWantedColumn *columns;	/* ascending, distinct */
	size_t		nranges;
	WcWantedRange *ranges;		/* ascending, neither touching nor overlapping */
	size_t		column;			/* the first that is >= the qualifier asked last */
	size_t		range;			/* the first range that ends after it */
	WcArena		arena;
} WcColumnTracker;

/* columns as in WcMatcherOptions, in any order; their bytes must outlive the
 * tracker. */
extern WcStatus wc_columntracker_init(WcColumnTracker *t, const WcColumn *columns, const uint32_t *colnos,
									  uint32_t ncolumns, WcError *err) WC_WARN_UNUSED;
extern void wc_columntracker_free(WcColumnTracker *t);

static inline void
wc_columntracker_start_row(WcColumnTracker *t)
{
	t->column = 0;
	t->range = 0;
}

/* Are all wanted columns exact ones? */
static inline bool
wc_columntracker_names_all(const WcColumnTracker *t)
{
	return !t->everything && t->nranges == 0;
}

extern bool wc_columntracker_wants_slow(WcColumnTracker *t, WcSlice qualifier, uint32_t *colno);

/* Is this column wanted?  *colno: its number, or WC_NO_COLUMN. */
static inline bool
wc_columntracker_wants(WcColumnTracker *t, WcSlice qualifier, uint32_t *colno)
{
	if (t->everything)
	{
		*colno = UINT32_MAX;
		return true;
	}
	return wc_columntracker_wants_slow(t, qualifier, colno);
}

/* The first wanted column behind `qualifier`, the one asked last; *next is set
 * in any case but NONE. */
extern WcNextColumn wc_columntracker_next(const WcColumnTracker *t, WcSlice qualifier, WcSlice *next);

#endif
