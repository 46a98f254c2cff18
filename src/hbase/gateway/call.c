/*
 * hbase/gateway/call.c: calls of a gateway.
 *
 * A connection has one call at a time.  A call waits for its answer, with one exception: the answer to a request that a
 * scan has sent ahead (ahead.c) is received later, or by the connection's next call.  A wait for an answer also
 * handles interrupts.  An interrupt ends the call and closes the connection, because the answer would still arrive on it.
 */
#include "hbase/gateway/connection.h"

#include "hbase/gateway/http.h"
#include "thrift/idl.h"
#include "thrift/request.h"

/* Bytes of a request that a gateway with transport framed takes, unless it is set up otherwise. */
#define FRAME_DEFAULT (2 * 1024 * 1024)

/* A call is tried on at most so many connections, each opened after the one before was lost; the session
 * waits before the third try, and longer before each later try: three seconds in all. */
#define TRIES 6
#define PAUSE_MS 50

/* --- a call ------------------------------------------------------------------*/

/* Sends bytes and opens the answer; WC_END: the connection is lost. */
static WcStatus
exchange(WcHBaseConnection *c, WcSlice bytes, const char *method, int32 number, WcAnswer *answer, WcError *err)
{
	WcHBaseServer *server = c->server;
	int64		deadline = wc_hbase_now_ms() + server->options.timeout * WC_HBASE_MS_PER_SEC;
	WcSlice		message;
	WcStatus	status;

	wc_buf_reset(&c->in, WC_HBASE_KEPT);
	server->timed_out = false;
	c->busy = true;
	c->sent = c->http == NULL;
	if (c->http != NULL)
		status = wc_hbase_http_exchange(c, bytes, &message, err);
	else
	{
		status = wc_hbase_connection_send(c, bytes, deadline, err);
		if (status == WC_OK)
			status = wc_hbase_connection_receive(c, deadline, NULL, &message, err);
	}
	if (status == WC_OK)
		status = wc_answer_open(answer, wc_hbase_protocol(server), message, method, number, err);
	if (status == WC_OK)
		c->busy = false;
	else
		wc_hbase_connection_close(c);
	return status;
}

/* Refuses a gateway of Thrift1, which has other calls under the same names. */
static WcStatus
check_gateway(WcHBaseConnection *c, WcError *err)
{
	WcHBaseServer *server = c->server;
	WcBuf		request = WC_BUF_INIT;
	WcThriftWriter w;
	WcAnswer	answer;
	WcStatus	status;
	int32		type = 0;
	int32		number = ++server->number;

	wc_thrift_writer(&w, &request, wc_hbase_protocol(server), wc_hbase_transport(server));
	wc_request_server_type(&w, number);
	status = wc_buf_status(&request, "request", err);
	if (status == WC_OK)
		status = exchange(c, wc_buf_slice(&request), WC_METHOD_SERVER_TYPE, number, &answer, err);
	wc_buf_free(&request);
	if (status == WC_OK && answer.kind == WC_ANSWER_RESULT)
		status = wc_answer_number(&answer, &type, err);
	if (status == WC_OK && type == WC_TThriftServerType_TWO)
	{
		c->checked = true;
		return WC_OK;
	}
	if (status == WC_CANCELLED || status == WC_NO_MEMORY)
		return status;
	wc_hbase_connection_close(c);
	if (status == WC_IO)
		return status;
	wc_hbase_error(err, WC_IO, ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION,
				   "what answers at %s:%d is not a Thrift2 gateway of HBase with transport \"%s\" and protocol \"%s\"",
				   server->options.host, server->options.port,
				   server->options.http ? "http" : server->options.framed ? "framed" : "buffered",
				   server->options.compact ? "compact" : "binary");
	wc_error_hint(err, "Options \"transport\" and \"protocol\" of the server must be those that the gateway was started with; \"hbase thrift2\" starts one.");
	return WC_IO;
}

void
wc_hbase_begin(WcHBaseServer *server, WcThriftWriter *w, int32 *number)
{
	wc_buf_reset(&server->request, WC_HBASE_KEPT);
	wc_thrift_writer(w, &server->request, wc_hbase_protocol(server), wc_hbase_transport(server));
	*number = ++server->number;
}

WcStatus
wc_hbase_get_ready(WcHBaseConnection *c, WcError *err)
{
	WcHBaseServer *server = c->server;
	WcStatus	status;

	/* an error was raised during the last call: its answer would still arrive */
	if (c->busy)
		wc_hbase_connection_close(c);
	if (c->checked)
		return WC_OK;
	status = server->options.http ? wc_hbase_http_open(c, err) : wc_hbase_connection_open(c, err);
	wc_thrift_incoming(&c->incoming, wc_hbase_protocol(server), wc_hbase_transport(server), WC_HBASE_ANSWER_MAX);
	if (status == WC_OK && c != &server->connection)
		c->checked = true;		/* the first connection has shown what answers there */
	return status == WC_OK && !c->checked ? check_gateway(c, err) : status;
}

static WcStatus
try_call(WcHBaseServer *server, const char *method, int32 number, WcAnswer *answer, WcError *err)
{
	WcStatus	status = wc_hbase_get_ready(&server->connection, err);

	if (status == WC_OK)
		status = exchange(&server->connection, wc_buf_slice(&server->request), method, number, answer, err);
	return status;
}

static WcStatus
lost(WcHBaseServer *server, const char *method, int times, WcError *err)
{
	server->lost = true;
	wc_hbase_error(err, WC_IO, ERRCODE_CONNECTION_FAILURE, "connection to the HBase gateway at %s:%d was lost",
				   server->options.host, server->options.port);
	if (server->options.framed && server->request.len > FRAME_DEFAULT)
		wc_error_detail(err, "It was lost while \"%s\" was called, with a request of %zu bytes. A gateway with transport \"framed\" closes the connection if a request is larger than its setting hbase.regionserver.thrift.framed.max_frame_size_in_mb (%d MB by default).",
						method, server->request.len, FRAME_DEFAULT / 1024 / 1024);
	else if (times > 1)
		wc_error_detail(err, "It was lost %d times while \"%s\" was called.", times, method);
	else
		wc_error_detail(err, "It was lost while \"%s\" was called.", method);
	return WC_IO;
}

/* --- calls --------------------------------------------------------------------*/

WcStatus
wc_hbase_call(WcHBaseServer *server, const char *method, int32 number, WcAnswer *answer, WcError *err)
{
	WcStatus	status = wc_buf_status(&server->request, "request", err);

	if (status != WC_OK)
		return status;
	status = wc_hbase_ahead_settle(&server->connection, err);
	if (status != WC_OK)
		return status;
	server->lost = false;
	server->refused = false;
	for (int try = 0; try < TRIES; try++)
	{
		/* the first failure may be a connection that the gateway closed while it was idle */
		if (try > 1 || server->refused)
		{
			status = wc_hbase_connection_wait(&server->connection, 0, wc_hbase_now_ms() + (PAUSE_MS << try), err);
			if (status != WC_END)
				return status;
		}
		server->refused = false;
		status = try_call(server, method, number, answer, err);
		/* a gateway that was lost during the call may be restarting */
		if (status == WC_OK)
			wc_hbase_error_forget();
		if (status != WC_END && !(server->refused && try > 0))
			return status;
	}
	if (server->refused)
		return status;
	return lost(server, method, TRIES, err);
}

WcStatus
wc_hbase_send(WcHBaseServer *server, const char *method, int32 number, WcAnswer *answer, bool *sent, WcError *err)
{
	WcHBaseConnection *c = &server->connection;
	WcStatus	status = wc_buf_status(&server->request, "request", err);

	*sent = false;
	if (status == WC_OK)
		status = wc_hbase_ahead_settle(&server->connection, err);
	if (status != WC_OK)
		return status;
	if (wc_hbase_connection_is_closed(c))
		wc_hbase_connection_close(c);
	server->lost = false;
	status = wc_hbase_get_ready(c, err);
	if (status == WC_OK)
	{
		status = exchange(c, wc_buf_slice(&server->request), method, number, answer, err);
		*sent = c->sent;
	}
	return status == WC_END ? lost(server, method, 1, err) : status;
}

void
wc_hbase_disconnect(WcHBaseServer *server)
{
	wc_hbase_connection_close(&server->connection);
	for (int i = 0; i < WC_HBASE_CONNECTIONS_MAX - 1; i++)
		wc_hbase_connection_close(&server->more[i]);
}
