/*
 * hbase/gateway/connection.h: connections with a gateway, for connection.c, call.c and ahead.c.
 */
#ifndef WC_HBASE_GATEWAY_CONNECTION_H
#define WC_HBASE_GATEWAY_CONNECTION_H

#include "hbase/gateway/gateway.h"

#include "base/clock.h"

/* The buffers of a connection are kept for the next call up to this size, in bytes. */
#define WC_HBASE_KEPT (256 * 1024)

#define WC_HBASE_MS_PER_SEC INT64CONST(1000)

static inline int64
wc_hbase_now_ms(void)
{
	return wc_clock_monotonic_us() / 1000;
}

static inline WcThriftProtocol
wc_hbase_protocol(const WcHBaseServer *server)
{
	return server->options.compact ? WC_THRIFT_COMPACT : WC_THRIFT_BINARY;
}

static inline WcThriftTransport
wc_hbase_transport(const WcHBaseServer *server)
{
	return server->options.framed ? WC_THRIFT_FRAMED : WC_THRIFT_BUFFERED;
}

/* --- connection.c: sockets ---------------------------------------------------*/

/* Tries the addresses of the server's host; each has the time of option "connect_timeout". */
extern WcStatus wc_hbase_connection_open(WcHBaseConnection *c, WcError *err) WC_WARN_UNUSED;

/* Closes a connection, also one over HTTP; never fails. */
extern void wc_hbase_connection_close(WcHBaseConnection *c);

/*
 * Waits until the connection's socket is ready; events 0: for the time alone.  WC_END: the deadline has passed, and the socket
 * is not ready: it may have become ready while the process was stopped.
 */
extern WcStatus wc_hbase_connection_wait(WcHBaseConnection *c, int events, int64 deadline, WcError *err) WC_WARN_UNUSED;

/* WC_END: the connection is lost. */
extern WcStatus wc_hbase_connection_send(WcHBaseConnection *c, WcSlice bytes, int64 deadline, WcError *err) WC_WARN_UNUSED;

/*
 * Receives the next message; WC_END: the connection is lost.  pending NULL: waits for the message; else *pending
 * tells that more of it has to arrive, and the status means nothing.
 */
extern WcStatus wc_hbase_connection_receive(WcHBaseConnection *c, int64 deadline, bool *pending, WcSlice *message,
											WcError *err) WC_WARN_UNUSED;

/* Has the gateway closed the idle connection, or sent bytes without a request? */
extern bool wc_hbase_connection_is_closed(const WcHBaseConnection *c);

/* --- exchange.c --------------------------------------------------------------*/

/* Sends a request's bytes over a connection that is ready, and opens the answer.  WC_END: the connection is lost. */
extern WcStatus wc_hbase_exchange(WcHBaseConnection *c, WcSlice bytes, const char *method, int32 number,
								  WcAnswer *answer, WcError *err) WC_WARN_UNUSED;

/* Connects unless connected.  WC_END: the new connection is lost already. */
extern WcStatus wc_hbase_get_ready(WcHBaseConnection *c, WcError *err) WC_WARN_UNUSED;

/* --- ahead.c -----------------------------------------------------------------*/

/* Waits for the answer to the request that was sent ahead on the connection, so that the connection is free.  Of failures,
 * only that of the wait is returned. */
extern WcStatus wc_hbase_ahead_settle(WcHBaseConnection *c, WcError *err) WC_WARN_UNUSED;

#endif
