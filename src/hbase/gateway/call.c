/*
 * hbase/gateway/call.c: calls of a gateway.
 *
 * A connection has one call at a time.  A call waits for its answer, with one exception: the answer to a request that a
 * scan has sent ahead (ahead.c) is received later, or by the connection's next call.  A wait for an answer also
 * handles interrupts.  An interrupt ends the call and closes the connection, because the answer would still arrive on it.
 */
#include "hbase/gateway/connection.h"

/* Bytes of a request that a gateway with transport framed takes, unless it is set up otherwise. */
#define FRAME_DEFAULT (2 * 1024 * 1024)

/* A call is tried on at most so many connections, each opened after the one before was lost; the session
 * waits before the third try, and longer before each later try: three seconds in all. */
#define TRIES 6
#define PAUSE_MS 50

void
wc_hbase_begin(WcHBaseServer *server, WcThriftWriter *w, int32 *number)
{
	wc_buf_reset(&server->request, WC_HBASE_KEPT);
	wc_thrift_writer(w, &server->request, wc_hbase_protocol(server), wc_hbase_transport(server));
	*number = ++server->number;
}

static WcStatus
try_call(WcHBaseServer *server, const char *method, int32 number, WcAnswer *answer, WcError *err)
{
	WcStatus	status = wc_hbase_get_ready(&server->connection, err);

	if (status == WC_OK)
		status = wc_hbase_exchange(&server->connection, wc_buf_slice(&server->request), method, number, answer, err);
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
		status = wc_hbase_exchange(c, wc_buf_slice(&server->request), method, number, answer, err);
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
