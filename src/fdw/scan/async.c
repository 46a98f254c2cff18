/*
 * fdw/scan/async.c: scans below an asynchronous Append.
 *
 * The gain: the scans of all partitions are opened before the first wait.  A session has one thread in the engine,
 * which answers requests in their order.  So taking rows from any partition that has some would gain nothing: rows
 * arrive in the order of the partitions, those of partitions that are not asynchronous first.  A row of an
 * asynchronous scan costs PostgreSQL more, so plan.c makes only scans asynchronous that have few rows, all of
 * which are wanted.
 *
 * PostgreSQL has no socket to wait for, and a pretended wait costs as much as opening a scan.  So a scan that
 * ends fulfils the request of the next scan, and the opening of the last scan fulfils the request of the first.
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
 * If the Append has no row to return, and its synchronous scans have ended: gets a row from the next scan behind
 * number `after` that has a pending request.  asked: the request that PostgreSQL is making now; PostgreSQL itself
 * takes the answer to it.
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
			return;				/* PostgreSQL takes this answer */
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

/* Called for each scan with a pending request, in the order of the scans. */
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

/* widecol adds nothing to PostgreSQL's wait event set, so no event leads to a call. */
void
widecolForeignAsyncNotify(AsyncRequest *areq)
{
	give_row(areq);
}
