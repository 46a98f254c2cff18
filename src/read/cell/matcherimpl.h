/*
 * read/cell/matcherimpl.h: the struct of a matcher, for matcher.c and matchersave.c.
 */
#ifndef WC_READ_CELL_MATCHERIMPL_H
#define WC_READ_CELL_MATCHERIMPL_H

#include "base/buf.h"
#include "read/cell/columntracker.h"
#include "read/cell/deletetracker.h"
#include "read/cell/matcher.h"

/* Timestamps of puts of a column that are remembered, for wc_matcher_drop. */
#define WC_PUTS_REMEMBERED 16

struct WcMatcher
{
	WcMatcherOptions o;
	int64_t		oldest_ts;		/* older cells have expired by the family's TTL */
	uint32_t	versions;		/* the limit for puts of a column */
	int64_t		valid_until_us;	/* reads: when the first cell that is not over will be */
	WcColumnTracker columns;
	WcDeleteTracker deletes;	/* markers that mask */

	/* the current column */
	bool		in_column;
	bool		wanted;
	bool		over;			/* its puts are done with, family markers may still come */
	bool		has_last;
	uint8_t		last_type;		/* of the last cell included */
	int64_t		last_ts;
	uint32_t	colno;
	uint32_t	count;			/* of puts */
	WcBuf		qualifier;

	/* compaction: puts of the current column that count, and those that did once */
	uint64_t	nputs;
	int64_t		newest_put;
	int64_t		puts[WC_PUTS_REMEMBERED];	/* ring of their timestamps */

	/* KEEP_DELETED_CELLS ttl: expired markers, whose masked cells are dropped */
	int64_t		family_marker;	/* the newest of the row; 0: none */
	int64_t		column_marker;	/* the last one of the column; 0: none */
};

/* matcher.c.  False: memory is out. */
extern bool wc_matcher_start_column(WcMatcher *matcher, WcSlice qualifier) __attribute__((warn_unused_result));

#endif
