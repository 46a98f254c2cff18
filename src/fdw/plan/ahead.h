/*
 * fdw/plan/ahead.h: what may be evaluated before its row is asked for.
 *
 * A nested loop that looks keys up in batches reads outer rows that perhaps nobody will
 * ask for: of a LIMIT, an EXISTS, a cursor that is not read to its end.  Nobody may see a
 * difference.  So nothing is evaluated ahead that has an effect (volatile functions, row
 * locks, writes) or that can raise an error.
 */
#ifndef WC_FDW_PLAN_AHEAD_H
#define WC_FDW_PLAN_AHEAD_H

#include "postgres.h"

#include "nodes/pathnodes.h"

typedef enum WcAhead
{
	WC_AHEAD_SAFE,				/* no effects, no errors */
	WC_AHEAD_MAY_FAIL,			/* no effects, perhaps errors */
	WC_AHEAD_NEVER
} WcAhead;

/*
 * Of the expressions, evaluated anew for each row.  MAY_FAIL is said of PostgreSQL's own
 * functions only: others may do anything before they fail.
 */
extern WcAhead wc_ahead_exprs(const PlannerInfo *root, const List *exprs);

/*
 * May rows of this path be read before they are asked for?  What PostgreSQL evaluates
 * before the first row (the input of a Sort, say) does not count.  The only errors that
 * may come are those of stored rows that cannot be decoded (wc_ahead_defers).
 */
extern bool wc_ahead_path(PlannerInfo *root, Path *path);

/*
 * Is the error that is being raised one of a stored row that cannot be decoded?  It may
 * be caught without a subtransaction: decoding holds nothing that PostgreSQL would have to
 * release.  Whoever catches it sees that it is raised again when the row is reached.
 */
extern bool wc_ahead_defers(void);

#endif
