/*
 * fdw/statement/runend.c: what a statement has put off is done at the end of its run.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/plannodes.h"

#include "fdw/statement/runend.h"

static dlist_head noted = DLIST_STATIC_INIT(noted);
static ExecutorRun_hook_type prev_executor_run;

void
wc_runend_note(WcRunEnd *e, const EState *estate, void (*fn) (void *arg), void *arg)
{
	e->estate = estate;
	e->fn = fn;
	e->arg = arg;
	dlist_push_tail(&noted, &e->node);
}

void
wc_runend_forget(WcRunEnd *e)
{
	dlist_delete(&e->node);
}

void
wc_runend_uncount(EState *estate)
{
	/* of a statement that a rule has added no rows are counted */
	if (!estate->es_plannedstmt->canSetTag)
		return;
	estate->es_processed--;
#if PG_VERSION_NUM >= 160000
	estate->es_total_processed--;
#endif
}

static void
on_executor_run(QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once)
{
	dlist_iter	iter;

	if (prev_executor_run)
		prev_executor_run(query, direction, count, execute_once);
	else
		standard_ExecutorRun(query, direction, count, execute_once);
	dlist_foreach(iter, &noted)
	{
		const WcRunEnd *e = dlist_container(WcRunEnd, node, iter.cur);

		if (e->estate == query->estate)
			e->fn(e->arg);
	}
}

void
wc_runend_hook_install(void)
{
	prev_executor_run = ExecutorRun_hook;
	ExecutorRun_hook = on_executor_run;
}
