/*
 * hbase/gateway/exchange.c: a request and its answer on one connection.
 */
#include "hbase/gateway/connection.h"

#include "hbase/gateway/http.h"
#include "thrift/idl.h"
#include "thrift/request.h"

WcStatus
wc_hbase_exchange(WcHBaseConnection *c, WcSlice bytes, const char *method, int32 number, WcAnswer *answer, WcError *err)
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
		status = wc_hbase_exchange(c, wc_buf_slice(&request), WC_METHOD_SERVER_TYPE, number, &answer, err);
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
