/*
 * fdw/plan/lookahead.h: nested loops that look up many keys at once.
 *
 * A nested loop over a foreign table whose key comes from the outer side costs a round trip for each outer row.  So a
 * node that reads ahead is put between the loop and its outer side: it returns its input row by row, but has read the
 * next rows, too.  The scan on the inner side asks this node for their keys and reads all of these rows with one Scan
 * (fdw/scan/prefetch.h); they are there when the loop reaches them.  PostgreSQL's nested loop still joins the rows, and
 * handles those without a match.
 */
#ifndef WC_FDW_PLAN_LOOKAHEAD_H
#define WC_FDW_PLAN_LOOKAHEAD_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* --- planning ------------------------------------------------------------------ */

/* Registers the node and installs the hook; once, from _PG_init. */
extern void wc_lookahead_install(void);

/*
 * The number by which a scan finds its node when it runs; -1: this path is not the inner side of such a join. values:
 * the expressions from which the scan makes ranges, before PostgreSQL replaces those that the outer side supplies.
 */
extern int	wc_lookahead_bind(const PlannerInfo *root, const ForeignPath *path, const List *values);

#define WC_LOOKAHEAD_NAME "Widecol Lookahead"

/* Is the path that of a lookahead node, which only reads its input ahead? */
static inline bool
wc_lookahead_is_path(const Path *path)
{
	return IsA(path, CustomPath) && strcmp(((const CustomPath *) path)->methods->CustomName, WC_LOOKAHEAD_NAME) == 0;
}

/* --- for the two files ----------------------------------------------------------- */

/* Outer rows to read at once: first one, so that a query that wants one row waits for one; then so many times
 * as many each time, up to WC_LOOKUP_KEYS_MAX. */
#define WC_LOOKAHEAD_GROWTH 8

/* The node's methods.  custom_exprs: the expressions that keys are made from; custom_private: (the node's number,
 * whether one of the expressions can raise an error). */
extern const CustomScanMethods wc_lookahead_methods;

/* --- running ------------------------------------------------------------------- */

typedef struct WcLookahead WcLookahead;

/* The node with that number; the join starts it before its inner side. */
extern WcLookahead *wc_lookahead_find(EState *estate, int number);

/* The position of the outer row that was returned last.  A position is used once, also over rescans. */
extern uint64 wc_lookahead_position(const WcLookahead *lookahead);

/*
 * The values for the outer row so many places after the one that was returned last (0: that one); false: they are not
 * known yet, or cannot be evaluated. values and nulls have room for all values; the data they point to is valid until
 * the next call.
 */
extern bool wc_lookahead_values(WcLookahead *lookahead, int ahead, Datum *values, bool *nulls);

/* The rows did not fit into memory: read less far ahead from now on. */
extern void wc_lookahead_shrink(WcLookahead *lookahead);

#endif
