/*
 * hbase/gateway/httpwait.c: waits for what libcurl waits for, and for interrupts.
 */
#include "hbase/gateway/httpwait.h"

#include <signal.h>

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

#include "base/clock.h"
#include "compat.h"

/* Longest wait, in milliseconds. */
#define WAIT_MAX INT64CONST(3600000)

/* --- what libcurl calls -----------------------------------------------------------*/

static int
on_socket(CURL *easy, curl_socket_t s, int what, void *arg, void *of_socket)
{
	WcHBaseHttpWait *wait = arg;
	int			i = 0;

	while (i < wait->nsockets && wait->sockets[i].socket != s)
		i++;
	if (what == CURL_POLL_REMOVE || what == CURL_POLL_NONE)
	{
		if (i < wait->nsockets)
			wait->sockets[i] = wait->sockets[--wait->nsockets];
		return 0;
	}
	if (i == WC_HBASE_HTTP_SOCKETS_MAX)
		return -1;
	if (i == wait->nsockets)
		wait->nsockets++;
	wait->sockets[i].socket = s;
	wait->sockets[i].events = ((what & CURL_POLL_IN) ? WL_SOCKET_READABLE : 0) |
		((what & CURL_POLL_OUT) ? WL_SOCKET_WRITEABLE : 0);
	return 0;
}

static int
on_timer(CURLM *multi, long ms, void *arg)
{
	WcHBaseHttpWait *wait = arg;

	wait->alarm = ms < 0 ? INT64_MAX : wc_clock_monotonic_us() / 1000 + ms;
	return 0;
}

/* --- transfers ----------------------------------------------------------------------*/

bool
wc_hbase_http_wait_open(WcHBaseHttpWait *wait)
{
	CURLMcode	code = CURLM_OK;

	wait->alarm = INT64_MAX;
	wait->multi = curl_multi_init();
	if (wait->multi == NULL)
		return false;
	code |= curl_multi_setopt(wait->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	code |= curl_multi_setopt(wait->multi, CURLMOPT_SOCKETDATA, wait);
	code |= curl_multi_setopt(wait->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	code |= curl_multi_setopt(wait->multi, CURLMOPT_TIMERDATA, wait);
	code |= curl_multi_setopt(wait->multi, CURLMOPT_MAXCONNECTS, 1L);
	return code == CURLM_OK;
}

void
wc_hbase_http_wait_close(WcHBaseHttpWait *wait)
{
	if (wait->multi != NULL)
		(void) curl_multi_cleanup(wait->multi);
}

/*
 * Lets libcurl go on.  It may begin a thread, to look a name up: PostgreSQL's signal handlers must not run there,
 * and a thread begins with the signals blocked that are blocked here.  If libcurl needs a Kerberos ticket, it waits here for the
 * KDC: GSS-API has no call that does not wait, and its waits go on after a signal.
 */
static CURLMcode
go_on(WcHBaseHttpWait *wait, curl_socket_t socket, int events)
{
	CURLMcode	code;
	sigset_t	all;
	sigset_t	before;
	int			running;

	sigfillset(&all);
	(void) pthread_sigmask(SIG_SETMASK, &all, &before);
	code = curl_multi_socket_action(wait->multi, socket, events, &running);
	(void) pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

static WcStatus
failed(CURLMcode code, WcError *err)
{
	if (code == CURLM_OUT_OF_MEMORY)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a call of HBase");
	return wc_error(err, WC_IO, "HTTP failed: %s", curl_multi_strerror(code));
}

WcStatus
wc_hbase_http_wait_add(WcHBaseHttpWait *wait, CURL *easy, WcError *err)
{
	CURLMcode	code = curl_multi_add_handle(wait->multi, easy);

	wait->added = code == CURLM_OK;
	if (code == CURLM_OK)
		code = go_on(wait, CURL_SOCKET_TIMEOUT, 0);
	return code == CURLM_OK ? WC_OK : failed(code, err);
}

void
wc_hbase_http_wait_remove(WcHBaseHttpWait *wait, CURL *easy)
{
	if (wait->added)
		(void) curl_multi_remove_handle(wait->multi, easy);
	wait->added = false;
}

bool
wc_hbase_http_wait_is_done(WcHBaseHttpWait *wait, CURLcode *code)
{
	CURLMsg    *message;
	int			more;

	while ((message = curl_multi_info_read(wait->multi, &more)) != NULL)
	{
		if (message->msg != CURLMSG_DONE)
			continue;
		*code = message->data.result;
		return true;
	}
	return false;
}

/* --- waiting --------------------------------------------------------------------------*/

/* Waits for the sockets, the latch, and at most `left` ms.  Returns the number of events. */
static int
wait_for_events(const WcHBaseHttpWait *wait, int64 left, WaitEvent *events)
{
	WaitEventSet *set = wc_wait_event_set(WC_HBASE_HTTP_SOCKETS_MAX + 2);
	int			n;

	/* for a latch that is set PostgreSQL returns at once, and looks at no socket */
	if (left > 0)
		AddWaitEventToSet(set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	for (int i = 0; i < wait->nsockets; i++)
		AddWaitEventToSet(set, wait->sockets[i].events, wait->sockets[i].socket, NULL, NULL);
	n = WaitEventSetWait(set, (long) left, events, WC_HBASE_HTTP_SOCKETS_MAX + 2, PG_WAIT_EXTENSION);
	FreeWaitEventSet(set);
	return n;
}

/* The same; an error that is raised is kept. */
static WcStatus
await_events(const WcHBaseHttpWait *wait, int64 left, bool interruptible, WaitEvent *events, int *n, WcError *err)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool raised = false;

	PG_TRY();
	{
		if (interruptible)
			CHECK_FOR_INTERRUPTS();
		*n = wait_for_events(wait, left, events);
	}
	PG_CATCH();
	{
		wc_hbase_keep_error(context);
		raised = true;
	}
	PG_END_TRY();
	return raised ? wc_error(err, WC_CANCELLED, "call of HBase was interrupted") : WC_OK;
}

static int
events_of(const WaitEvent *event)
{
	return ((event->events & WL_SOCKET_READABLE) ? CURL_CSELECT_IN : 0) |
		((event->events & WL_SOCKET_WRITEABLE) ? CURL_CSELECT_OUT : 0);
}

/* Waits so many milliseconds at most, and lets libcurl go on.  *happened: libcurl had something to do. */
static WcStatus
go_on_after(WcHBaseHttpWait *wait, int64 left, bool interruptible, bool *happened, WcError *err)
{
	WaitEvent	events[WC_HBASE_HTTP_SOCKETS_MAX + 2];
	int			n = 0;
	CURLMcode	code = CURLM_OK;
	WcStatus	status = await_events(wait, left, interruptible, events, &n, err);

	*happened = false;
	if (status != WC_OK)
		return status;
	for (int i = 0; i < n && code == CURLM_OK; i++)
	{
		if ((events[i].events & WL_LATCH_SET) == 0)
		{
			code = go_on(wait, events[i].fd, events_of(&events[i]));
			*happened = true;
		}
		else
			ResetLatch(MyLatch);
	}
	if (code == CURLM_OK && wc_clock_monotonic_us() / 1000 >= wait->alarm)
	{
		wait->alarm = INT64_MAX;	/* libcurl sets it again */
		code = go_on(wait, CURL_SOCKET_TIMEOUT, 0);
		*happened = true;
	}
	return code == CURLM_OK ? WC_OK : failed(code, err);
}

WcStatus
wc_hbase_http_wait(WcHBaseHttpWait *wait, int64 deadline, WcError *err)
{
	int64		now = wc_clock_monotonic_us() / 1000;
	bool		happened;
	WcStatus	status = go_on_after(wait, Max(0, Min(Min(wait->alarm, deadline) - now, WAIT_MAX)), true, &happened, err);

	return status == WC_OK && !happened && now >= deadline ? WC_END : status;
}

WcStatus
wc_hbase_http_poll(WcHBaseHttpWait *wait, WcError *err)
{
	bool		happened;
	WcStatus	status = go_on_after(wait, 0, false, &happened, err);

	return status == WC_OK && !happened ? WC_END : status;
}
