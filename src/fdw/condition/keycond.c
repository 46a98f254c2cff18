/*
 * fdw/condition/keycond.c: the expressions of conditions.
 */
#include "postgres.h"

#include "fdw/condition/keycond.h"

List *
wc_key_conds_exprs(const List *conds)
{
	List	   *exprs = NIL;
	ListCell   *lc;
	ListCell   *la;

	foreach(lc, conds)
	{
		WcKeyCond  *cond = lfirst(lc);

		exprs = list_concat(exprs, cond->values);
		foreach(la, cond->arms)
			exprs = list_concat(exprs, wc_key_conds_exprs(lfirst(la)));
	}
	return exprs;
}
