/*
 * fdw/write/absent.h: new rows that must not exist.
 *
 * A row is locked before it is found not to exist.  That is a request to the engine, which takes most of the time of an INSERT
 * of many rows.  So rows are kept aside until some hundred can be locked with one request: by COPY, and by an INSERT that is the
 * whole statement, if nothing can look at the table before they are sent (statement/quiet.h).  The first row of a statement is
 * locked at once: it is often the only one.
 */
#ifndef WC_FDW_WRITE_ABSENT_H
#define WC_FDW_WRITE_ABSENT_H

#include "fdw/write/modify.h"

/* Do duplicates raise an error?  Not while a dump is restored that may have written other cells of the row
 * before. */
extern bool wc_absent_is_required(const WcModify *m);

/*
 * Reads the row at m->write.key if an option requires it, and then locks the row if it does not exist; with locks,
 * locks it in any case.  False: the row exists, and the statement has ON CONFLICT DO NOTHING.
 */
extern bool wc_absent_look(WcModify *m, const Datum *values, const bool *isnull, bool locks);

/* Before a statement's second row: sets m->aside if rows may be kept aside.  Then m->write's operations go there. */
extern void wc_absent_begin(WcModify *m, const ResultRelInfo *rinfo);

/* Before the operation of a new row, whose key is m->write.key, is made: sends the rows that are kept aside if there are enough.
 * False: one of them has the key, and the statement has ON CONFLICT DO NOTHING. */
extern bool wc_absent_makes_room(WcModify *m);

/* The new row's operation has been made; slot: the row. */
extern void wc_absent_keep_aside(WcModify *m, TupleTableSlot *slot);

/* Locks the rows that are kept aside, and sends those that do not exist.  One that exists is an error, or is left out of the
 * statement's number of rows. */
extern void wc_absent_send_aside(WcModify *m);

#endif
