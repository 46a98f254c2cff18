/*
 * fdw/write/later.h: rows of a join that are changed later, after some hundred of them have been locked together.
 *
 * If the changed table is joined with others, rows are locked when they are changed (relock.c).  That is a request to the
 * engine, which takes most of the time of such an UPDATE or DELETE.  So the plan's rows are kept until their rows of the table
 * can be locked with one request, at the latest at the end of the statement's run; if nothing can look at the table before
 * (statement/quiet.h).  The first row of a statement is changed at once: it is often the only one.
 */
#ifndef WC_FDW_WRITE_LATER_H
#define WC_FDW_WRITE_LATER_H

#include "fdw/write/modify.h"

/* A kept row that has been locked.  old and slot: of an UPDATE; values, isnull: the newest state of a row that has changed.
 * All of it is valid until the function returns. */
typedef struct WcLaterRow
{
	WcLockOutcome outcome;
	TupleTableSlot *plan;
	TupleTableSlot *old;
	TupleTableSlot *slot;
	Datum	   *values;
	bool	   *isnull;
} WcLaterRow;

/* Changes the row, or not: by its outcome. */
typedef void (*WcLaterChange) (WcModify *m, ResultRelInfo *rinfo, const WcLaterRow *row);

/* Before a statement's second row: sets m->later if rows may be kept. */
extern void wc_later_begin(WcModify *m, ResultRelInfo *rinfo, WcRowLockMode mode, WcLaterChange change);

/* Keeps copies of a row of the plan; old and slot: NULL for DELETE.  key: of the row to lock.  May change this row and those that
 * were kept before. */
extern void wc_later_keep(WcModify *m, WcSlice key, TupleTableSlot *plan, TupleTableSlot *old, TupleTableSlot *slot);

#endif
