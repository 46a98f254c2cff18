/*
 * hbase/gateway/connection.c: calls of a gateway, over a socket that does not block (HTTP: http/).
 *
 * A connection has one call at a time.  A call waits for its answer, with one exception: the answer to a request that a
 * scan has sent ahead (wc_hbase_ahead_send) is received later, or by the connection's next call.  A wait for an answer also
 * handles interrupts.  An interrupt ends the call and closes the connection, because the answer would still arrive on it.
 */
#include "hbase/gateway/http.h"

#include <netdb.h>
#include <netinet/in.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "base/clock.h"
#include "compat.h"
#include "thrift/idl.h"
#include "thrift/request.h"

/* Bytes of one read. */
#define PIECE (64 * 1024)

/* The buffer of an answer is kept for the next answer up to this size, in bytes. */
#define KEPT (256 * 1024)

/* Bytes of a request that a gateway with transport framed takes, unless it is set up otherwise. */
#define FRAME_DEFAULT (2 * 1024 * 1024)

/* A call is tried on at most so many connections, each opened after the one before was lost; the session
 * waits before the third try, and longer before each later try: three seconds in all. */
#define TRIES 6
#define PAUSE_MS 50

/* Of the latch, the postmaster's death, and the socket. */
#define WAIT_EVENTS 3

#define MS_PER_SEC INT64CONST(1000)

/*
 * The first wait for an answer is a receive that blocks for at most so long: one system call less than to wait for the socket
 * and then to receive.  A signal ends the receive (which the system would begin again if it had no such limit); an interrupt
 * that comes just before the receive, or without a signal, is taken when the time is over.
 */
#define BLOCK_US 20000

static int64
now_ms(void)
{
	return wc_clock_monotonic_us() / 1000;
}

void
wc_hbase_disconnect(WcHBaseServer *server)
{
	WcHBaseConnection *c = &server->connection;

	if (c->wait != NULL)
	{
		FreeWaitEventSet(c->wait);
		c->wait = NULL;
	}
	if (c->socket != PGINVALID_SOCKET)
	{
		close(c->socket);
		ReleaseExternalFD();
		c->socket = PGINVALID_SOCKET;
	}
	wc_hbase_http_close(c);
	c->checked = false;
	c->busy = false;
	if (c->ahead != NULL)
	{
		c->ahead->arrived = true;
		c->ahead->status = WC_END;
		c->ahead = NULL;
	}
	wc_buf_reset(&c->in, KEPT);
}

/* --- waiting ----------------------------------------------------------------*/

static WcStatus
take_interrupts(WcError *err)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool raised = false;

	if (!INTERRUPTS_PENDING_CONDITION())
		return WC_OK;
	PG_TRY();
	{
		CHECK_FOR_INTERRUPTS();
	}
	PG_CATCH();
	{
		wc_hbase_keep_error(context);
		raised = true;
	}
	PG_END_TRY();
	return raised ? wc_error(err, WC_CANCELLED, "call of HBase was interrupted") : WC_OK;
}

/* The connection's set of events to wait for, with these events of the socket: it is made once, since making it costs as
 * much as the wait. */
static WcStatus
prepare_wait(WcHBaseConnection *c, int events, WcError *err)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool raised = false;

	if (c->wait != NULL && c->waits_for == events)
		return WC_OK;
	PG_TRY();
	{
		if (c->wait == NULL)
		{
			c->wait = wc_wait_event_set_kept(WAIT_EVENTS);
			AddWaitEventToSet(c->wait, events, c->socket, NULL, NULL);
			AddWaitEventToSet(c->wait, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
			AddWaitEventToSet(c->wait, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
		}
		else
			ModifyWaitEvent(c->wait, 0, events, NULL);
		c->waits_for = events;
	}
	PG_CATCH();
	{
		wc_hbase_keep_error(context);
		raised = true;
	}
	PG_END_TRY();
	if (raised && c->wait != NULL)
	{
		FreeWaitEventSet(c->wait);
		c->wait = NULL;
	}
	return raised ? wc_error(err, WC_CANCELLED, "cannot wait for HBase") : WC_OK;
}

/*
 * Waits until the connection's socket is ready; events 0: for the time alone.  WC_END: the deadline has passed, and the socket
 * is not ready: it may have become ready while the process was stopped.
 */
static WcStatus
await_until(WcHBaseConnection *c, int events, int64 deadline, WcError *err)
{
	for (;;)
	{
		WcStatus	status = take_interrupts(err);
		long		left = (long) Max(Min(deadline - now_ms(), 3600 * MS_PER_SEC), 0);
		WaitEvent	event = {0};
		int			n;

		if (status == WC_OK && events != 0)
			status = prepare_wait(c, events, err);
		if (status != WC_OK)
			return status;
		if (events != 0)
			n = WaitEventSetWait(c->wait, left, &event, 1, PG_WAIT_EXTENSION);
		else
		{
			event.events = WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | WL_TIMEOUT, left, PG_WAIT_EXTENSION);
			n = (event.events & WL_LATCH_SET) != 0;
		}
		if (n > 0 && (event.events & WL_LATCH_SET) != 0)
			ResetLatch(MyLatch);
		else if (n > 0)
			return WC_OK;
		else if (left <= 0)
			return WC_END;
	}
}

static WcThriftProtocol
protocol_of(const WcHBaseServer *server)
{
	return server->options.compact ? WC_THRIFT_COMPACT : WC_THRIFT_BINARY;
}

static WcThriftTransport
transport_of(const WcHBaseServer *server)
{
	return server->options.framed ? WC_THRIFT_FRAMED : WC_THRIFT_BUFFERED;
}

/* --- connecting --------------------------------------------------------------*/

/* From here on a receive may block.  (If the socket refused this, no receive would block: slower, and right.) */
static WcStatus
connected(WcHBaseConnection *c)
{
	(void) fcntl(c->socket, F_SETFL, fcntl(c->socket, F_GETFL) & ~O_NONBLOCK);
	return WC_OK;
}

/* Connects to one address.  WC_END: no connection, errno has the reason; try the next address. */
static WcStatus
connect_address(WcHBaseServer *server, const struct addrinfo *address, int64 deadline, WcError *err)
{
	WcHBaseConnection *c = &server->connection;
	WcStatus	status = WC_OK;
	int			failure = 0;
	socklen_t	len = sizeof(failure);
	int			one = 1;
	struct timeval block_time = {.tv_usec = BLOCK_US};

	c->socket = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->socket < 0)
	{
		c->socket = PGINVALID_SOCKET;
		return WC_END;
	}
	ReserveExternalFD();
	(void) setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	(void) setsockopt(c->socket, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	(void) setsockopt(c->socket, SOL_SOCKET, SO_RCVTIMEO, &block_time, sizeof(block_time));
	if (connect(c->socket, address->ai_addr, address->ai_addrlen) == 0)
		return connected(c);
	failure = errno;
	if (failure == EINPROGRESS || failure == EINTR)
	{
		status = await_until(c, WL_SOCKET_WRITEABLE, deadline, err);
		failure = ETIMEDOUT;
		if (status == WC_OK && getsockopt(c->socket, SOL_SOCKET, SO_ERROR, &failure, &len) == 0 && failure == 0)
			return connected(c);
	}
	wc_hbase_disconnect(server);
	errno = failure;
	return status == WC_CANCELLED ? status : WC_END;
}

static WcStatus
connect_gateway(WcHBaseServer *server, WcError *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *addresses = NULL;
	int64		deadline = now_ms() + server->options.connect_timeout * MS_PER_SEC;
	WcStatus	status = WC_END;
	char		port[16];
	int			failure;

	snprintf(port, sizeof(port), "%d", server->options.port);
	failure = getaddrinfo(server->options.host, port, &hints, &addresses);
	if (failure != 0)
		return wc_hbase_cannot_connect(server, gai_strerror(failure), NULL, err);
	for (struct addrinfo *a = addresses; a != NULL && status == WC_END; a = a->ai_next)
		status = connect_address(server, a, deadline, err);
	failure = errno;
	freeaddrinfo(addresses);
	if (status == WC_END)
		return wc_hbase_cannot_connect(server, strerror(failure), NULL, err);
	return status;
}

/* --- a call -----------------------------------------------------------------*/

/* Waits until the socket is ready, for as long as the server's option allows. */
static WcStatus
await_gateway(WcHBaseServer *server, int events, int64 deadline, WcError *err)
{
	WcStatus	status = await_until(&server->connection, events, deadline, err);

	return status == WC_END ? wc_hbase_timed_out(server, "timeout", server->options.timeout, err) : status;
}

/* WC_END: the connection is lost. */
static WcStatus
send_all(WcHBaseServer *server, WcSlice bytes, int64 deadline, WcError *err)
{
	WcHBaseConnection *c = &server->connection;
	size_t		done = 0;

	while (done < bytes.len)
	{
		ssize_t		n = send(c->socket, bytes.data + done, bytes.len - done, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0)
			done += (size_t) n;
		else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		{
			WcStatus	status = await_gateway(server, WL_SOCKET_WRITEABLE, deadline, err);

			if (status != WC_OK)
				return status;
		}
		else if (errno != EINTR)
			return WC_END;
	}
	return WC_OK;
}

/*
 * Receives the next message; WC_END: the connection is lost.  pending NULL: waits for the message; else *pending
 * tells that more of it has to arrive, and the status means nothing.
 */
static WcStatus
receive(WcHBaseServer *server, int64 deadline, bool *pending, WcSlice *message, WcError *err)
{
	WcHBaseConnection *c = &server->connection;
	bool		block = pending == NULL && c->in.len == 0;

	if (pending != NULL)
		*pending = false;
	for (;;)
	{
		size_t		used;
		WcStatus	status = wc_thrift_arrived(&c->incoming, wc_buf_slice(&c->in), message, &used, err);
		uint8_t    *room;
		ssize_t		n;

		if (status == WC_TOO_LARGE)
			wc_error_hint(err, "Option \"fetch_size\" of the server bounds the rows of an answer.");
		if (status != WC_END)
			return status;
		room = wc_buf_reserve(&c->in, PIECE);
		if (room == NULL)
			return wc_buf_status(&c->in, "answer of HBase", err);
		n = recv(c->socket, room, PIECE, block ? 0 : MSG_DONTWAIT);
		block = false;
		if (n > 0)
			c->in.len += (size_t) n;
		else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		{
			if (pending != NULL)
			{
				*pending = true;
				return WC_END;
			}
			status = await_gateway(server, WL_SOCKET_READABLE, deadline, err);
			if (status != WC_OK)
				return status;
		}
		else
			return WC_END;
	}
}

/* Sends bytes and opens the answer; WC_END: the connection is lost. */
static WcStatus
exchange(WcHBaseServer *server, WcSlice bytes, const char *method, int32 number, WcAnswer *answer, WcError *err)
{
	WcHBaseConnection *c = &server->connection;
	int64		deadline = now_ms() + server->options.timeout * MS_PER_SEC;
	WcSlice		message;
	WcStatus	status;

	wc_buf_reset(&c->in, KEPT);
	c->timed_out = false;
	c->busy = true;
	c->sent = c->http == NULL;
	if (c->http != NULL)
		status = wc_hbase_http_exchange(server, bytes, &message, err);
	else
	{
		status = send_all(server, bytes, deadline, err);
		if (status == WC_OK)
			status = receive(server, deadline, NULL, &message, err);
	}
	if (status == WC_OK)
		status = wc_answer_open(answer, protocol_of(server), message, method, number, err);
	if (status == WC_OK)
		c->busy = false;
	else
		wc_hbase_disconnect(server);
	return status;
}

/* Refuses a gateway of Thrift1, which has other calls under the same names. */
static WcStatus
check_gateway(WcHBaseServer *server, WcError *err)
{
	WcHBaseConnection *c = &server->connection;
	WcBuf		request = WC_BUF_INIT;
	WcThriftWriter w;
	WcAnswer	answer;
	WcStatus	status;
	int32		type = 0;
	int32		number = ++c->number;

	wc_thrift_writer(&w, &request, protocol_of(server), transport_of(server));
	wc_request_server_type(&w, number);
	status = wc_buf_status(&request, "request", err);
	if (status == WC_OK)
		status = exchange(server, wc_buf_slice(&request), WC_METHOD_SERVER_TYPE, number, &answer, err);
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
	wc_hbase_disconnect(server);
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
	WcHBaseConnection *c = &server->connection;

	wc_buf_reset(&c->out, KEPT);
	wc_thrift_writer(w, &c->out, protocol_of(server), transport_of(server));
	*number = ++c->number;
}

/* Connects unless connected.  WC_END: the new connection is lost already. */
static WcStatus
get_ready(WcHBaseServer *server, WcError *err)
{
	WcHBaseConnection *c = &server->connection;
	WcStatus	status;

	/* an error was raised during the last call: its answer would still arrive */
	if (c->busy)
		wc_hbase_disconnect(server);
	if (c->checked)
		return WC_OK;
	status = server->options.http ? wc_hbase_http_open(server, err) : connect_gateway(server, err);
	wc_thrift_incoming(&c->incoming, protocol_of(server), transport_of(server), WC_HBASE_ANSWER_MAX);
	return status == WC_OK ? check_gateway(server, err) : status;
}

static WcStatus
try_call(WcHBaseServer *server, const char *method, int32 number, WcAnswer *answer, WcError *err)
{
	WcStatus	status = get_ready(server, err);

	if (status == WC_OK)
		status = exchange(server, wc_buf_slice(&server->connection.out), method, number, answer, err);
	return status;
}

static WcStatus
lost(WcHBaseServer *server, const char *method, int times, WcError *err)
{
	server->connection.lost = true;
	wc_hbase_error(err, WC_IO, ERRCODE_CONNECTION_FAILURE, "connection to the HBase gateway at %s:%d was lost",
				   server->options.host, server->options.port);
	if (server->options.framed && server->connection.out.len > FRAME_DEFAULT)
		wc_error_detail(err, "It was lost while \"%s\" was called, with a request of %zu bytes. A gateway with transport \"framed\" closes the connection if a request is larger than its setting hbase.regionserver.thrift.framed.max_frame_size_in_mb (%d MB by default).",
						method, server->connection.out.len, FRAME_DEFAULT / 1024 / 1024);
	else if (times > 1)
		wc_error_detail(err, "It was lost %d times while \"%s\" was called.", times, method);
	else
		wc_error_detail(err, "It was lost while \"%s\" was called.", method);
	return WC_IO;
}

/* --- requests that are sent ahead ---------------------------------------------*/

/* Gives the answer that was awaited on the connection, or its failure, to the request. */
static void
arrived(WcHBaseServer *server, WcStatus status, WcSlice message)
{
	WcHBaseConnection *c = &server->connection;
	WcHBaseAhead *a = c->ahead;

	c->ahead = NULL;
	a->arrived = true;
	a->status = status;
	a->timed_out = c->timed_out;
	if (status == WC_OK)
	{
		a->in = c->in;
		a->message = message;
		c->in = (WcBuf) WC_BUF_INIT;
		c->busy = false;
	}
	else
		wc_hbase_disconnect(server);
}

/* Waits for the answer to the request that was sent ahead, so that the connection is free.  Of failures, only that
 * of the wait is returned. */
static WcStatus
settle(WcHBaseServer *server, WcError *err)
{
	WcHBaseAhead *a = server->connection.ahead;
	WcSlice		message = {0};
	WcStatus	status;

	if (a == NULL)
		return WC_OK;
	status = receive(server, a->deadline, NULL, &message, &a->err);
	arrived(server, status, message);
	if (status != WC_CANCELLED)
		return WC_OK;
	*err = a->err;
	return status;
}

WcStatus
wc_hbase_ahead_send(WcHBaseServer *server, const char *method, int32 number, WcHBaseAhead *a, WcError *err)
{
	WcHBaseConnection *c = &server->connection;
	int64		deadline = now_ms() + server->options.timeout * MS_PER_SEC;
	WcStatus	status = wc_buf_status(&c->out, "request", err);

	if (status != WC_OK || c->ahead != NULL)
		return status;
	status = get_ready(server, err);
	if (status == WC_OK && c->http != NULL)
		return WC_OK;			/* libcurl sends and receives in one */
	if (status == WC_OK)
	{
		wc_buf_reset(&c->in, KEPT);
		c->timed_out = false;
		c->busy = true;
		status = send_all(server, wc_buf_slice(&c->out), deadline, err);
		if (status != WC_OK)
			wc_hbase_disconnect(server);
	}
	if (status == WC_OK)
	{
		*a = (WcHBaseAhead) {.server = server,.method = method,.number = number,.deadline = deadline};
		c->ahead = a;
	}
	return status == WC_END ? WC_OK : status;
}

bool
wc_hbase_ahead_arrived(WcHBaseAhead *a)
{
	WcSlice		message = {0};
	bool		pending;
	WcStatus	status;

	if (a->arrived)
		return true;
	status = receive(a->server, a->deadline, &pending, &message, &a->err);
	if (pending)
		return now_ms() >= a->deadline;
	arrived(a->server, status, message);
	return true;
}

WcStatus
wc_hbase_ahead_take(WcHBaseAhead *a, WcAnswer *answer, WcBuf *bytes, WcError *err)
{
	WcHBaseServer *server = a->server;
	WcStatus	status = a->arrived ? WC_OK : settle(server, err);

	server->connection.lost = false;
	server->connection.timed_out = a->timed_out;
	if (status == WC_OK && a->status != WC_OK && a->status != WC_END)
		*err = a->err;
	if (status == WC_OK)
		status = a->status;
	if (status == WC_OK)
		status = wc_answer_open(answer, protocol_of(server), a->message, a->method, a->number, err);
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
	if (a->server != NULL && a->server->connection.ahead == a)
		wc_hbase_disconnect(a->server);
	wc_buf_free(&a->in);
	memset(a, 0, sizeof(*a));
}

/* --- calls --------------------------------------------------------------------*/

WcStatus
wc_hbase_call(WcHBaseServer *server, const char *method, int32 number, WcAnswer *answer, WcError *err)
{
	WcStatus	status = wc_buf_status(&server->connection.out, "request", err);

	if (status != WC_OK)
		return status;
	status = settle(server, err);
	if (status != WC_OK)
		return status;
	server->connection.lost = false;
	server->connection.refused = false;
	for (int try = 0; try < TRIES; try++)
	{
		/* the first failure may be a connection that the gateway closed while it was idle */
		if (try > 1 || server->connection.refused)
		{
			status = await_until(&server->connection, 0, now_ms() + (PAUSE_MS << try), err);
			if (status != WC_END)
				return status;
		}
		server->connection.refused = false;
		status = try_call(server, method, number, answer, err);
		/* a gateway that was lost during the call may be restarting */
		if (status == WC_OK)
			wc_hbase_error_forget();
		if (status != WC_END && !(server->connection.refused && try > 0))
			return status;
	}
	if (server->connection.refused)
		return status;
	return lost(server, method, TRIES, err);
}

/* Has the gateway closed the idle connection, or sent bytes without a request? */
static bool
is_closed(const WcHBaseConnection *c)
{
	uint8		byte;

	return c->socket != PGINVALID_SOCKET &&
		(recv(c->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
		 (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR));
}

WcStatus
wc_hbase_send(WcHBaseServer *server, const char *method, int32 number, WcAnswer *answer, bool *sent, WcError *err)
{
	WcHBaseConnection *c = &server->connection;
	WcStatus	status = wc_buf_status(&c->out, "request", err);

	*sent = false;
	if (status == WC_OK)
		status = settle(server, err);
	if (status != WC_OK)
		return status;
	if (is_closed(c))
		wc_hbase_disconnect(server);
	c->lost = false;
	status = get_ready(server, err);
	if (status == WC_OK)
	{
		status = exchange(server, wc_buf_slice(&c->out), method, number, answer, err);
		*sent = c->sent;
	}
	return status == WC_END ? lost(server, method, 1, err) : status;
}
