/*
 * hbase/gateway/http.h: calls of a gateway over HTTP, for connection.c, call.c and ahead.c.
 *
 * libcurl makes the connections, with TLS, proxies and Kerberos.  A call is one POST: its body is the request, and
 * the body of the answer is the answer.
 */
#ifndef WC_HBASE_GATEWAY_HTTP_H
#define WC_HBASE_GATEWAY_HTTP_H

#include "hbase/gateway/gateway.h"

/* Prepares connections with the server's gateway; connects to nothing. */
extern WcStatus wc_hbase_http_open(WcHBaseConnection *c, WcError *err) WC_WARN_UNUSED;

/*
 * Sends bytes and waits for the answer, interruptibly.  *message points into connection.in.  WC_END: the connection
 * is lost.  After an error the caller closes.
 */
extern WcStatus wc_hbase_http_exchange(WcHBaseConnection *c, WcSlice bytes, WcSlice *message, WcError *err) WC_WARN_UNUSED;

/*
 * The same in two steps.  The first one connects, interruptibly, and sends what the socket takes; bytes and err must stay
 * until the second one has returned.  pending NULL: it waits for the answer; else, without waiting, *pending tells that more
 * of the answer has to arrive, and the status means nothing.
 */
extern WcStatus wc_hbase_http_send(WcHBaseConnection *c, WcSlice bytes, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_hbase_http_receive(WcHBaseConnection *c, int64 deadline, bool *pending, WcSlice *message) WC_WARN_UNUSED;

extern void wc_hbase_http_close(WcHBaseConnection *c);	/* never fails */

#endif
