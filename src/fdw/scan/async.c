/*
 * fdw/scan/async.c: scans below an asynchronous Append.
 *
 * The gain: the scans of all partitions are opened before the first wait.
 *
 * Scans of the embedded engine have no socket.  A session has one thread in the engine, which answers requests in their
 * order.  So taking rows from any partition that has some would gain nothing: rows arrive in the order of the
 * partitions, those of partitions that are not asynchronous first.  A row of an asynchronous scan costs PostgreSQL
 * more, so plan.c makes only scans asynchronous that have few rows, all of which are wanted.  A pretended wait
 * costs as much as opening a scan.  So a scan that ends fulfils the request of the next scan, and the opening of the
 * last scan fulfils the request of the first.
 *
 * Scans of an HBase cluster wait for sockets, and rows are taken from whichever has some.  This file waits for the
 * sockets of all of them, since PostgreSQL's own wait knows no time at which to end, and handles interrupts only since
 * 15.13.  If other wrappers' scans have requests as well, the sockets are added to PostgreSQL's wait.
 */
#include "postgres.h"

#include "executor/execAsync.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

#include "base/clock.h"
#include "compat.h"
#include "fdw/fdw.h"
#include "fdw/plan/plan.h"
#include "fdw/scan/scan.h"

bool
widecolIsForeignPathAsyncCapable(ForeignPath *path)
{
	return wc_plan_path_suits_async(path);
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

static bool
is_ready(const AsyncRequest *areq, WcClientWait *wait)
{
	return wc_scan_state_ready(castNode(ForeignScanState, areq->requestee), wait);
}

/* Gives a row, or the end, to a request that is pending.  current: PostgreSQL has called for this scan, and measures it. */
static void
respond(AsyncRequest *areq, bool current)
{
	Instrumentation *instrument = areq->requestee->instrument;

	areq->callback_pending = false;
	if (instrument != NULL && !current)
		InstrStartNode(instrument);
	give_row(areq);
	ExecAsyncResponse(areq);
	if (instrument != NULL && current)
		InstrUpdateTupleCount(instrument, TupIsNull(areq->result) ? 0.0 : 1.0);
	else if (instrument != NULL)
		InstrStopNode(instrument, TupIsNull(areq->result) ? 0.0 : 1.0);
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
		WcClientWait wait;

		if (!areq->callback_pending || !is_ours(areq) || !is_ready(areq, &wait))
			continue;
		if (areq == asked)
		{
			areq->callback_pending = false;
			give_row(areq);
			return;				/* PostgreSQL takes this answer */
		}
		respond(areq, false);
	}
}

/* --- waiting for sockets ------------------------------------------------------- */

/* The next pending request behind number `after`; -1: none. */
static int
next_pending(const AppendState *append, int after)
{
	int			i = after;

	while ((i = bms_next_member(append->as_valid_asyncplans, i)) >= 0 && !append->as_asyncrequests[i]->callback_pending)
		;
	return i;
}

static bool
all_ours(const AppendState *append)
{
	for (int i = next_pending(append, -1); i >= 0; i = next_pending(append, i))
	{
		if (!is_ours(append->as_asyncrequests[i]))
			return false;
	}
	return true;
}

/* Waits once: for a socket of these, for the latch, and until the first of their times. */
static void
await_sockets(const WcClientWait *waits, int n)
{
	WaitEventSet *set = wc_wait_event_set(n + 2);
	int64		until_ms = waits[0].until_ms;
	WaitEvent	event;

	AddWaitEventToSet(set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	for (int i = 0; i < n; i++)
	{
		AddWaitEventToSet(set, WL_SOCKET_READABLE, waits[i].socket, NULL, NULL);
		until_ms = Min(until_ms, waits[i].until_ms);
	}
	(void) WaitEventSetWait(set, Max(until_ms - wc_clock_monotonic_us() / 1000, 0), &event, 1, PG_WAIT_EXTENSION);
	FreeWaitEventSet(set);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* Waits until some of the scans have rows, and responds to their requests.  All pending requests are ours.  current:
 * PostgreSQL has called for this one. */
static void
await_scans(AppendState *append, const AsyncRequest *current)
{
	WcClientWait *waits = palloc(sizeof(WcClientWait) * append->as_nasyncplans);
	bool		responded = false;

	while (!responded)
	{
		int			n = 0;

		for (int i = next_pending(append, -1); i >= 0; i = next_pending(append, i))
		{
			int			same = 0;

			if (is_ready(append->as_asyncrequests[i], &waits[n]))
			{
				respond(append->as_asyncrequests[i], append->as_asyncrequests[i] == current);
				responded = true;
				continue;
			}
			while (waits[same].socket != waits[n].socket)
				same++;
			n += same == n;
		}
		if (!responded)
			await_sockets(waits, n);
	}
	pfree(waits);
}

/* --- the functions that PostgreSQL calls --------------------------------------- */

void
widecolForeignAsyncRequest(AsyncRequest *areq)
{
	AppendState *append = castNode(AppendState, areq->requestor);
	bool		first = wc_scan_state_open_ahead(castNode(ForeignScanState, areq->requestee));
	WcClientWait wait;

	if (!is_ready(areq, &wait) || first)
	{
		ExecAsyncRequestPending(areq);
		if (first && bms_next_member(append->as_valid_asyncplans, areq->request_index) < 0)
			fulfil_next(append, -1, areq);
		return;
	}
	give_row(areq);
	if (TupIsNull(areq->result))
		fulfil_next(append, areq->request_index, areq);
}

/*
 * Called for each scan with a pending request, in the order of the scans.  So before the last of them, all were found
 * not to be ready.
 */
void
widecolForeignAsyncConfigureWait(AsyncRequest *areq)
{
	AppendState *append = castNode(AppendState, areq->requestor);
	WcClientWait wait;

	(void) wc_scan_state_open_ahead(castNode(ForeignScanState, areq->requestee));
	if (!append->as_syncdone || append->as_nasyncresults > 0)
		return;
	if (!is_ready(areq, &wait))
	{
		if (all_ours(append))
		{
			if (next_pending(append, areq->request_index) < 0)
				await_scans(append, areq);
		}
		else if (wait.own)
			AddWaitEventToSet(append->as_eventset, WL_SOCKET_READABLE, wait.socket, NULL, areq);
		return;
	}
	respond(areq, true);
}

/* Called when the socket that was added to PostgreSQL's wait is readable. */
void
widecolForeignAsyncNotify(AsyncRequest *areq)
{
	WcClientWait wait;

	if (is_ready(areq, &wait))
		give_row(areq);
	else
		ExecAsyncRequestPending(areq);
}
