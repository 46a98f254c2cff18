/*
 * fdw/scan/async.c: scans below an asynchronous Append.
 *
 * What is gained is that the scans of all partitions are opened before the first
 * of them is waited for.  A session has one thread in the engine, which answers in
 * the order in which it was asked: so there is nothing to be gained by taking rows
 * from whichever partition has some, and rows come in the order of the partitions,
 * those of partitions that are not asynchronous first.  A row costs PostgreSQL more
 * this way, so plan.c lets it be for scans of few rows, all of which are wanted.
 *
 * There is no socket that PostgreSQL could wait for, and making it try costs as
 * much as an opening.  So a scan that has come to its end has the next one's
 * request fulfilled, and so has the opening of the last one that of the first.
 */
#include "postgres.h"

#include "executor/execAsync.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/execnodes.h"

#include "fdw/fdw.h"
#include "fdw/plan/plan.h"
#include "fdw/scan/scan.h"

bool
widecolIsForeignPathAsyncCapable(ForeignPath *path)
{
	return wc_plan_path_is_small(path);
}

static void
give_row(AsyncRequest *areq)
{
	ExecAsyncRequestDone(areq, areq->requestee->ExecProcNodeReal(areq->requestee));
}

static bool
is_ours(const AsyncRequest *areq)
{
	return castNode(ForeignScanState, areq->requestee)->fdwroutine->ForeignAsyncRequest == widecolForeignAsyncRequest;
}

/*
 * If PostgreSQL has no row to give, and none to get from scans that are not
 * asynchronous: gets it one, from the next scan behind number `after` that is
 * waited for.  asked: the request that PostgreSQL is making, and will take the
 * answer to by itself.
 */
static void
fulfil_next(AppendState *append, int after, const AsyncRequest *asked)
{
	int			i = after;

	while (append->as_syncdone && append->as_nasyncresults == 0 &&
		   (i = bms_next_member(append->as_valid_asyncplans, i)) >= 0)
	{
		AsyncRequest *areq = append->as_asyncrequests[i];
		Instrumentation *instrument = areq->requestee->instrument;

		if (!areq->callback_pending || !is_ours(areq))
			continue;
		areq->callback_pending = false;
		if (areq == asked)
		{
			give_row(areq);
			return;				/* the last one */
		}
		if (instrument != NULL)
			InstrStartNode(instrument);
		give_row(areq);
		ExecAsyncResponse(areq);
		if (instrument != NULL)
			InstrStopNode(instrument, TupIsNull(areq->result) ? 0.0 : 1.0);
	}
}

void
widecolForeignAsyncRequest(AsyncRequest *areq)
{
	AppendState *append = castNode(AppendState, areq->requestor);

	if (wc_scan_state_open_ahead(castNode(ForeignScanState, areq->requestee)))
	{
		ExecAsyncRequestPending(areq);
		if (bms_next_member(append->as_valid_asyncplans, areq->request_index) < 0)
			fulfil_next(append, -1, areq);
		return;
	}
	give_row(areq);
	if (TupIsNull(areq->result))
		fulfil_next(append, areq->request_index, areq);
}

/* Called for every scan that is waited for, in their order. */
void
widecolForeignAsyncConfigureWait(AsyncRequest *areq)
{
	AppendState *append = castNode(AppendState, areq->requestor);

	(void) wc_scan_state_open_ahead(castNode(ForeignScanState, areq->requestee));
	if (!append->as_syncdone || append->as_nasyncresults > 0)
		return;
	areq->callback_pending = false;
	give_row(areq);
	ExecAsyncResponse(areq);
	if (areq->requestee->instrument != NULL)
		InstrUpdateTupleCount(areq->requestee->instrument, TupIsNull(areq->result) ? 0.0 : 1.0);
}

/* Nothing of ours was added to what PostgreSQL waits for. */
void
widecolForeignAsyncNotify(AsyncRequest *areq)
{
	give_row(areq);
}
