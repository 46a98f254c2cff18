/*
 * fdw/plan/ahead.h: the expressions and paths that may be evaluated before their row is asked for.
 *
 * A nested loop that looks keys up in batches reads outer rows that may never be asked for: because of a LIMIT, an
 * EXISTS, a cursor that is not read to its end.  Users must not notice this.  So no expression is evaluated ahead that
 * has an effect (volatile functions, row locks, writes) or that can raise an error.
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
 * Judges expressions that are evaluated again for each row.  MAY_FAIL is returned for PostgreSQL's own functions only:
 * other functions may do anything before they fail.
 */
extern WcAhead wc_ahead_exprs(const PlannerInfo *root, const List *exprs);

/*
 * May rows of this path be read before they are asked for?  Expressions that PostgreSQL evaluates before the first row
 * (for the input of a Sort, say) do not count.  The only possible errors are those of stored rows that cannot be
 * decoded (wc_ahead_defers).
 */
extern bool wc_ahead_path(PlannerInfo *root, Path *path);

/*
 * Is the error that is being raised one of a stored row that cannot be decoded?  It may be caught without a
 * subtransaction: decoding holds nothing that PostgreSQL would have to release, and runs no function of a user's (such
 * functions may leave another user, snapshot or stack behind).  A caller that catches the error must raise it again when
 * the row is reached.
 */
extern bool wc_ahead_defers(void);

#endif
