/*
 * hbase/gateway/connection.c: connections with a gateway, over sockets (HTTP: http.c).
 */
#include "hbase/gateway/connection.h"

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

#include "base/cpu.h"
#include "compat.h"
#include "hbase/gateway/http.h"

/* Bytes of one read. */
#define PIECE (64 * 1024)

/* Of the latch, the postmaster's death, and the socket. */
#define WAIT_EVENTS 3

/*
 * The first wait for an answer is a receive that blocks for at most so long: one system call less than to wait for the socket
 * and then to receive.  A signal ends the receive (which the system would begin again if it had no such limit); an interrupt
 * that comes just before the receive, or without a signal, is taken when the time is over.
 */
#define BLOCK_US 20000

/*
 * Before that it looks for the answer again and again while answers have come within POLL_US (longer ones count as
 * ANSWER_MAX_US), since the system takes long to wake a process on a processor that sleeps.  Only while nobody else wants the
 * processor: each look gives way, and after GIVEN_MAX looks between which others have run, for GIVEN_US or longer, it blocks.
 */
#define POLL_US 1000
#define ANSWER_MAX_US 4000
#define GIVEN_US 3
#define GIVEN_MAX 8

void
wc_hbase_connection_close(WcHBaseConnection *c)
{
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
	wc_buf_reset(&c->in, WC_HBASE_KEPT);
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

WcStatus
wc_hbase_connection_wait(WcHBaseConnection *c, int events, int64 deadline, WcError *err)
{
	for (;;)
	{
		WcStatus	status = take_interrupts(err);
		long		left = (long) Max(Min(deadline - wc_hbase_now_ms(), 3600 * WC_HBASE_MS_PER_SEC), 0);
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
connect_address(WcHBaseConnection *c, const struct addrinfo *address, WcError *err)
{
	int64		deadline = wc_hbase_now_ms() + c->server->options.connect_timeout * WC_HBASE_MS_PER_SEC;
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
		status = wc_hbase_connection_wait(c, WL_SOCKET_WRITEABLE, deadline, err);
		failure = ETIMEDOUT;
		if (status == WC_OK && getsockopt(c->socket, SOL_SOCKET, SO_ERROR, &failure, &len) == 0 && failure == 0)
			return connected(c);
	}
	wc_hbase_connection_close(c);
	errno = failure;
	return status == WC_CANCELLED ? status : WC_END;
}

WcStatus
wc_hbase_connection_open(WcHBaseConnection *c, WcError *err)
{
	WcHBaseServer *server = c->server;
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *addresses = NULL;
	WcStatus	status = WC_END;
	char		port[16];
	int			failure;

	snprintf(port, sizeof(port), "%d", server->options.port);
	failure = getaddrinfo(server->options.host, port, &hints, &addresses);
	if (failure != 0)
		return wc_hbase_cannot_connect(server, gai_strerror(failure), NULL, err);
	for (struct addrinfo *a = addresses; a != NULL && status == WC_END; a = a->ai_next)
		status = connect_address(c, a, err);
	failure = errno;
	freeaddrinfo(addresses);
	if (status == WC_END)
		return wc_hbase_cannot_connect(server, strerror(failure), NULL, err);
	return status;
}

/* --- bytes -----------------------------------------------------------------*/

/* Waits until the socket is ready, for as long as the server's option allows. */
static WcStatus
await_gateway(WcHBaseConnection *c, int events, int64 deadline, WcError *err)
{
	WcStatus	status = wc_hbase_connection_wait(c, events, deadline, err);

	return status == WC_END ? wc_hbase_timed_out(c->server, "timeout", c->server->options.timeout, err) : status;
}

WcStatus
wc_hbase_connection_send(WcHBaseConnection *c, WcSlice bytes, int64 deadline, WcError *err)
{
	size_t		done = 0;
	WcStatus	interrupted = take_interrupts(err);	/* a gateway that answers at once is never waited for */

	if (interrupted != WC_OK)
		return interrupted;
	while (done < bytes.len)
	{
		ssize_t		n = send(c->socket, bytes.data + done, bytes.len - done, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0)
			done += (size_t) n;
		else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		{
			WcStatus	status = await_gateway(c, WL_SOCKET_WRITEABLE, deadline, err);

			if (status != WC_OK)
				return status;
		}
		else if (errno != EINTR)
			return WC_END;
	}
	return WC_OK;
}

/* As recv: -1 and EAGAIN if nothing has arrived in the time. */
static ssize_t
poll_answer(WcHBaseConnection *c, uint8_t *room, int64 began_us)
{
	int64		until = c->answer_us <= POLL_US ? began_us + 2 * c->answer_us : began_us;
	int64		last = began_us;
	int			given = 0;

	while (last < until && given < GIVEN_MAX && !InterruptPending)
	{
		ssize_t		n = recv(c->socket, room, PIECE, MSG_DONTWAIT);
		int64		now;

		if (n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
			return n;
		wc_cpu_give_way();
		now = wc_clock_monotonic_us();
		given += now - last >= GIVEN_US;
		last = now;
	}
	errno = EAGAIN;
	return -1;
}

/* The first bytes of an answer, for which it waits a while.  As recv. */
static ssize_t
receive_first(WcHBaseConnection *c, uint8_t *room)
{
	int64		began_us = wc_clock_monotonic_us();
	ssize_t		n = poll_answer(c, room, began_us);

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		n = recv(c->socket, room, PIECE, 0);
	if (n > 0)
		c->answer_us += (Min(wc_clock_monotonic_us() - began_us, ANSWER_MAX_US) - c->answer_us) / 4;
	return n;
}

WcStatus
wc_hbase_connection_receive(WcHBaseConnection *c, int64 deadline, bool *pending, WcSlice *message, WcError *err)
{
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
		n = block ? receive_first(c, room) : recv(c->socket, room, PIECE, MSG_DONTWAIT);
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
			status = await_gateway(c, WL_SOCKET_READABLE, deadline, err);
			if (status != WC_OK)
				return status;
		}
		else
			return WC_END;
	}
}

bool
wc_hbase_connection_is_closed(const WcHBaseConnection *c)
{
	uint8		byte;

	return c->socket != PGINVALID_SOCKET &&
		(recv(c->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
		 (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR));
}
