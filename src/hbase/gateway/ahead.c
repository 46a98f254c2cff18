/*
 * hbase/gateway/ahead.c: requests whose answers are taken later, so that several are on their way at a time.
 */
#include "hbase/gateway/connection.h"

#include "hbase/gateway/http.h"

/*
 * After the gateway has refused a further connection, the session asks for one again after WITHOUT_MS, and after WITHOUT_TIMES
 * the time that the refusal took: an attempt that is not answered takes all of option "connect_timeout".
 */
#define WITHOUT_MS INT64CONST(1000)
#define WITHOUT_TIMES 50

/* Gives the answer that was awaited on the connection, or its failure, to the request. */
static void
arrived(WcHBaseConnection *c, WcStatus status, WcSlice message)
{
	WcHBaseAhead *a = c->ahead;

	if (status == WC_IO)
		wc_hbase_error_forget();	/* wc_hbase_ahead_take raises it again, or a repeated call does */
	c->ahead = NULL;
	a->arrived = true;
	a->status = status;
	a->timed_out = c->server->timed_out;
	if (status == WC_OK)
	{
		a->in = c->in;
		a->message = message;
		c->in = (WcBuf) WC_BUF_INIT;
		c->busy = false;
	}
	else
		wc_hbase_connection_close(c);
}

/* As wc_hbase_connection_receive, of both kinds of connections. */
static WcStatus
receive(WcHBaseConnection *c, bool *pending, WcSlice *message)
{
	WcHBaseAhead *a = c->ahead;

	c->server->timed_out = false;
	if (c->http != NULL)
		return wc_hbase_http_receive(c, a->deadline, pending, message);
	return wc_hbase_connection_receive(c, a->deadline, pending, message, &a->err);
}

WcStatus
wc_hbase_ahead_settle(WcHBaseConnection *c, WcError *err)
{
	WcHBaseAhead *a = c->ahead;
	WcSlice		message = {0};
	WcStatus	status;

	if (a == NULL)
		return WC_OK;

	/* a long answer may have begun to arrive while nobody took it: the time for the rest begins now */
	if (wc_hbase_ahead_arrived(a) && !a->arrived && c->in.len > 0)
		a->deadline = wc_hbase_now_ms() + c->server->options.timeout * WC_HBASE_MS_PER_SEC;
	if (a->arrived)
		return WC_OK;
	status = receive(c, NULL, &message);
	if (status != WC_CANCELLED)
	{
		arrived(c, status, message);
		return WC_OK;
	}

	/* cancelled is the call that waits here; the request may be another scan's, which makes it again */
	*err = a->err;
	arrived(c, WC_END, message);
	return status;
}

static WcHBaseConnection *
connection_at(WcHBaseServer *server, int i)
{
	return i == 0 ? &server->connection : &server->more[i - 1];
}

WcHBaseConnection *
wc_hbase_ahead_free(WcHBaseServer *server)
{
	if (server->nconnections < server->options.connections && wc_hbase_now_ms() >= server->more_at)
		server->nconnections = server->options.connections;
	for (int i = 0; i < server->nconnections; i++)
	{
		WcHBaseConnection *c = connection_at(server, i);

		if (c->ahead != NULL)
			(void) wc_hbase_ahead_arrived(c->ahead);
		if (c->ahead == NULL)
			return c;
	}
	return NULL;
}

/* Opens the connection, unless it is open.  WC_END: it is lost, or no other connection than the first one can be had. */
static WcStatus
get_ready(WcHBaseConnection *c, WcError *err)
{
	WcStatus	status;

	if (wc_hbase_connection_is_closed(c))
		wc_hbase_connection_close(c);
	status = wc_hbase_get_ready(c, err);
	if (status != WC_IO || c == &c->server->connection)
		return status;
	wc_hbase_error_forget();
	return WC_END;
}

/* The gateway takes no further connection; it was asked at began_ms.  The session does without for a while. */
static void
do_without(WcHBaseConnection *c, int64 began_ms)
{
	WcHBaseServer *server = c->server;
	int64		now_ms = wc_hbase_now_ms();

	if (c == &server->connection)
		return;
	server->nconnections = (int) (c - server->more) + 1;
	server->more_at = now_ms + Max(WITHOUT_MS, WITHOUT_TIMES * (now_ms - began_ms));
}

WcStatus
wc_hbase_ahead_send(WcHBaseConnection *c, const char *method, int32 number, WcHBaseAhead *a, WcError *err)
{
	WcHBaseServer *server = c->server;
	int64		began_ms = wc_hbase_now_ms();
	int64		timeout_ms = server->options.timeout * WC_HBASE_MS_PER_SEC;
	int64		deadline;
	WcStatus	status = wc_buf_status(&server->request, "request", err);
	WcBuf		out = c->out;

	server->refused = false;
	if (status == WC_OK)
		status = get_ready(c, err);
	if (status == WC_END && server->refused)
		do_without(c, began_ms);
	if (status != WC_OK)
		return status == WC_END ? WC_OK : status;
	c->out = server->request;
	server->request = out;
	wc_buf_reset(&c->in, WC_HBASE_KEPT);
	server->timed_out = false;
	c->busy = true;
	deadline = wc_hbase_now_ms() + timeout_ms;
	if (c->http != NULL)
	{
		status = wc_hbase_http_send(c, wc_buf_slice(&c->out), &a->err); /* connects first */
		deadline = wc_hbase_now_ms() + timeout_ms;
	}
	else
		status = wc_hbase_connection_send(c, wc_buf_slice(&c->out), deadline, &a->err);
	if (status == WC_OK)
	{
		a->connection = c;
		a->method = method;
		a->number = number;
		a->deadline = deadline;
		c->ahead = a;
		return WC_OK;
	}
	wc_hbase_connection_close(c);
	if (server->refused)
		do_without(c, began_ms);
	if (status == WC_CANCELLED)
		*err = a->err;
	else
		wc_hbase_error_forget();	/* the ordinary call will meet the same, or not */
	return status == WC_CANCELLED ? status : WC_OK;
}

bool
wc_hbase_ahead_arrived(WcHBaseAhead *a)
{
	WcSlice		message = {0};
	bool		pending;
	WcStatus	status;

	if (a->arrived)
		return true;
	status = receive(a->connection, &pending, &message);
	if (pending)
		return wc_hbase_now_ms() >= a->deadline;
	arrived(a->connection, status, message);
	return true;
}

WcStatus
wc_hbase_ahead_take(WcHBaseAhead *a, WcAnswer *answer, WcBuf *bytes, WcError *err)
{
	WcHBaseServer *server = a->connection->server;
	WcStatus	status = a->arrived ? WC_OK : wc_hbase_ahead_settle(a->connection, err);

	server->lost = false;
	server->timed_out = a->timed_out;
	if (status == WC_OK)
	{
		status = a->status;
		*err = a->err;
	}
	if (status == WC_IO)
		status = a->timed_out ? wc_hbase_timed_out(server, "timeout", server->options.timeout, err) : WC_END;
	if (status == WC_OK)
		status = wc_answer_open(answer, wc_hbase_protocol(server), a->message, a->method, a->number, err);
	if (status == WC_OK)
	{
		*bytes = a->in;
		a->in = (WcBuf) WC_BUF_INIT;
	}
	wc_hbase_ahead_drop(a);
	return status;
}

void
wc_hbase_ahead_drop(WcHBaseAhead *a)
{
	if (a->connection != NULL && a->connection->ahead == a)
		wc_hbase_connection_close(a->connection);
	wc_buf_free(&a->in);
	memset(a, 0, sizeof(*a));
}
