/*
 * fdw/plan/lookahead.h: nested loops that look up many keys at once.
 *
 * A nested loop over a foreign table whose key comes from the outer side costs a
 * round trip for each outer row.  So a node that reads ahead is put between the
 * loop and its outer side: it hands its input on, row by row, but has the next
 * ones, too.  The scan on the inner side asks it for their keys and reads all of
 * these rows with one Scan (fdw/scan/prefetch.h); when the loop comes to them they are
 * there.  What joins, and what becomes of rows that match nothing, stays the
 * business of PostgreSQL's nested loop.
 */
#ifndef WC_FDW_PLAN_LOOKAHEAD_H
#define WC_FDW_PLAN_LOOKAHEAD_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* --- planning ------------------------------------------------------------------ */

/* widecol.enable_batched_lookup */
extern bool wc_enable_batched_lookup;

/* Registers the node and installs the hook; once, from _PG_init. */
extern void wc_lookahead_install(void);

/*
 * The number by which a scan finds its node when it runs, or -1 when this path is
 * not the inner side of such a join.  values: the expressions that the scan
 * makes ranges from, before PostgreSQL replaces what the outer side supplies.
 */
extern int	wc_lookahead_bind(const PlannerInfo *root, const ForeignPath *path, const List *values);

/* Does the path only read ahead what is below it? */
extern bool wc_lookahead_is_path(const Path *path);

/* --- running ------------------------------------------------------------------- */

typedef struct WcLookahead WcLookahead;

/* The node with that number; the join starts it before its inner side. */
extern WcLookahead *wc_lookahead_find(EState *estate, int number);

/* Of the outer row last handed on.  A number is given once, over rescans, too. */
extern uint64 wc_lookahead_position(const WcLookahead *lookahead);

/*
 * The values for the outer row so many places behind the last that was handed on
 * (0: that one); false: they are not known yet, or cannot be evaluated.  values and nulls have room for all;
 * what they point to is valid until the next call.
 */
extern bool wc_lookahead_values(WcLookahead *lookahead, int ahead, Datum *values, bool *nulls);

/* The rows did not fit into memory: read less far ahead from now on. */
extern void wc_lookahead_shrink(WcLookahead *lookahead);

#endif
