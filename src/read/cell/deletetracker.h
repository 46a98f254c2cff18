/*
 * read/cell/deletetracker.h: which puts of a row the delete markers met so far mask.
 *
 * Fed in cell order, so a marker comes before everything it masks.  A family's
 * markers last for the row, a column's for their column.  One thread.
 */
#ifndef WC_READ_CELL_DELETETRACKER_H
#define WC_READ_CELL_DELETETRACKER_H

#include "model/cell.h"

typedef struct WcDeleteTracker
{
	bool		has_family;
	bool		has_column;
	bool		has_version;
	int64_t		family_ts;		/* DeleteFamily: the latest */
	int64_t		column_ts;		/* DeleteColumn of this column: the latest */
	int64_t		version_ts;		/* Delete of this column: the last one met */
	int64_t    *stamps;			/* DeleteFamilyVersion: descending */
	size_t		nstamps;
	size_t		capacity;
} WcDeleteTracker;

typedef enum WcMasked
{
	WC_NOT_MASKED,
	WC_MASKED_VERSION,			/* this put; an older one of the column may not be */
	WC_MASKED_COLUMN			/* this put and every older one of the column */
} WcMasked;

/* A zeroed tracker is an empty one. */
extern void wc_deletetracker_free(WcDeleteTracker *t);

/* False: memory is out. */
extern bool wc_deletetracker_add(WcDeleteTracker *t, const WcCell *marker) __attribute__((warn_unused_result));

extern WcMasked wc_deletetracker_masks_slow(const WcDeleteTracker *t, int64_t ts);

static inline void
wc_deletetracker_start_column(WcDeleteTracker *t)
{
	t->has_column = false;
	t->has_version = false;
}

static inline void
wc_deletetracker_start_row(WcDeleteTracker *t)
{
	wc_deletetracker_start_column(t);
	t->has_family = false;
	t->nstamps = 0;
}

/* Which marker masks a put of the current column at ts? */
static inline WcMasked
wc_deletetracker_masks(const WcDeleteTracker *t, int64_t ts)
{
	if (!t->has_family && !t->has_column && !t->has_version && t->nstamps == 0)
		return WC_NOT_MASKED;
	return wc_deletetracker_masks_slow(t, ts);
}

#endif
