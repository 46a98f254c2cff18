/*
 * client/local/connection.c: rings, waiting and interrupts on the backend's side.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/condition_variable.h"
#include "storage/latch.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "channel/channel.h"
#include "channel/flight.h"
#include "channel/servertext.h"
#include "client/client.h"
#include "client/local/connection.h"
#include "wire/wait/spin.h"

/* Longest wait for an engine that is not running: the postmaster starts the engine
 * again a second after the old one has closed its store, unless the server is stopping
 * or cannot load the engine. */
#define START_WAIT_MS 15000

/* How long the backend spins for an answer while a processor is idle: an answer of one row takes less, also if the session's
 * thread has to be woken. */
#define SPIN_ANSWER_US 60

/* Longest sleep without a wake-up: long, because the engine's threads wake the backend. */
#define SLEEP_MS 10000

/* So long a session that is to stop waits for an engine that does not read the rest of a message, or write that of an answer. */
#define PATIENCE_MS 2000

typedef struct Connection
{
	dsm_segment *dsm;			/* NULL: no connection */
	WcSegment  *segment;
	WcRingEnd	out;
	WcRingEnd	in;
	WcFrameReader reader;
	WcBuf		message;
	uint64		last_id;
	uint64		roused_id;		/* last_id when wc_connection_rouse was last called */
	uint64		received_id;	/* id of the last answer that has been received completely */
	uint64		generation;		/* the engine's generation; see wire/shared/flight.h */
	bool		ready;			/* HELLO has been answered */
	bool		sending;		/* a frame has been sent in part */
	bool		abandoning;		/* the transaction's state in the engine */
} Connection;

static Connection conn;
static WcStrayFrame stray_frame;
static char gone_text[WC_GONE_TEXT_MAX] = "the widecol engine is not running";
static WcStatus gone_status = WC_SHUTDOWN;
static int	cores;

void
wc_connection_set_stray(WcStrayFrame stray)
{
	stray_frame = stray;
}

void
wc_connection_raise_gone(void)
{
	WcError		err;

	wc_error(&err, gone_status, "%s", gone_text);
	wc_error_hint(&err, "The server starts the engine again by itself, unless it is being shut down.");
	wc_raise(&err);
}

/* Closes the connection without a message to the engine. */
static void
close_connection(void)
{
	dsm_segment *dsm = conn.dsm;

	if (dsm == NULL)
		return;
	conn.dsm = NULL;
	conn.segment = NULL;
	conn.ready = conn.sending = false;
	wc_frame_reader_free(&conn.reader);
	wc_channel_close(dsm);
}

static void
note_gone(WcStatus status, const char *text)
{
	gone_status = status;
	strlcpy(gone_text, text, sizeof(gone_text));
	close_connection();
}

/* An engine marks its segments when it ends.  One that could not is known by its successor. */
static bool
segment_gone(void)
{
	return atomic_load(&conn.segment->state) == WC_SEGMENT_GONE ||
		wc_flight_generation(wc_places()) != conn.generation;
}

static void
note_segment_gone(void)
{
	if (atomic_load(&conn.segment->state) == WC_SEGMENT_GONE)
		note_gone((WcStatus) conn.segment->gone_status, conn.segment->gone_text);
	else
		note_gone(WC_SHUTDOWN, "the widecol engine has ended");
}

/* Is there a segment whose engine has not stopped? */
static bool
attached(void)
{
	return conn.dsm != NULL && !segment_gone();
}

bool
wc_connection_live(void)
{
	return conn.ready && attached();
}

uint64
wc_connection_generation(void)
{
	return conn.generation;
}

void
wc_connection_raise_lost(void)
{
	if (conn.dsm != NULL && segment_gone())
		note_segment_gone();
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("the widecol engine that had writes, locks or snapshots of this transaction has gone"),
			 errdetail("The connection to it ended: %s.", gone_text),
			 errhint("Run the transaction again.")));
}

/* --- waiting ---------------------------------------------------------------*/

/* Has the request ring room for so many bytes (room > 0), or the response ring bytes to read? */
static bool
ready(uint32 room)
{
	if (wc_ring_available(&conn.in) > 0 || conn.in.broken)
		return true;
	return room > 0 && (wc_ring_room(&conn.out) >= room || conn.out.broken);
}

static bool
spin(uint32 room)
{
	int64		now = wc_clock_monotonic_us();
	uint32		busy = wc_busy_sessions(&wc_shmem()->busy, now);
	bool		crowded = busy >= (uint32) cores;
	WcSpin		s = wc_spin_from(now, crowded ? WC_SPIN_US : SPIN_ANSWER_US, crowded);

	if (busy > (uint32) cores)
		return false;
	while (!ready(room))
	{
		if (!wc_spin_yield(&s) || InterruptPending)
			return false;
	}
	return true;
}

/* Sleeps once, unless ready(room).  The backend sets backend_sleeping, checks, and sleeps, in this
 * order; the engine writes bytes and then reads the flag.  briefly: on the futex, which wakes
 * soonest; else on the latch. */
static void
sleep_once(uint32 room, bool briefly, long ms)
{
	WcSegment  *s = conn.segment;

	atomic_store(&s->backend_wants, room);
	if (briefly)
	{
		atomic_store(&s->backend_sleeping, WC_BACKEND_ON_FUTEX);
		if (!ready(room) && !segment_gone() && !InterruptPending)
			wc_segment_backend_sleep(s);
		atomic_store(&s->backend_sleeping, WC_BACKEND_AWAKE);
		atomic_store(&s->backend_wants, 0);
		return;
	}
	atomic_store(&s->backend_sleeping, WC_BACKEND_ON_LATCH);
	if (!ready(room) && !segment_gone())
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms,
						 wc_shmem_wait_event(WC_WAIT_ANSWER));
	atomic_store(&s->backend_sleeping, WC_BACKEND_AWAKE);
	atomic_store(&s->backend_wants, 0);
	ResetLatch(MyLatch);
}

/* Serves interrupts.  If one raises an error, cancels request id, whose answer nobody reads any more. */
static void
serve_interrupts(uint64 id)
{
	if (!INTERRUPTS_PENDING_CONDITION())
		return;
	PG_TRY();
	{
		CHECK_FOR_INTERRUPTS();
	}
	PG_CATCH();
	{
		if (conn.dsm != NULL && id == conn.last_id)
			wc_segment_cancel_one(conn.segment, id);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/* Waits until ready(room); false: the engine has stopped.  Serves interrupts, which may cancel request id. */
static bool
wait_for(uint32 room, uint64 id)
{
	for (bool briefly = true;; briefly = false)
	{
		if (ready(room) || spin(room))
			return true;
		if (segment_gone())
			return ready(room);	/* the engine may have answered before it stopped */
		sleep_once(room, briefly, SLEEP_MS);
		serve_interrupts(id);
	}
}

static bool
is_to_stop(void)
{
	return INTERRUPTS_PENDING_CONDITION() && INTERRUPTS_CAN_BE_PROCESSED() && (QueryCancelPending || ProcDiePending);
}

/*
 * The same in the midst of a message or of an answer, of which no part can be taken back.  The engine goes on with it soon, unless
 * its process is stopped, or waits for its disk: then a session that is to stop (stopping, or by an interrupt) gives the
 * connection up.  False: the connection is closed, or the engine has stopped.
 */
static bool
wait_amid(uint32 room, bool stopping)
{
	int64		since = 0;

	for (bool briefly = true;; briefly = false)
	{
		if (ready(room) || spin(room))
			return true;
		if (segment_gone())
			return ready(room);
		if (since == 0 && (stopping || is_to_stop()))
			since = wc_clock_monotonic_us();
		sleep_once(room, briefly, since == 0 ? SLEEP_MS : PATIENCE_MS / 10);
		if (since == 0 || wc_clock_monotonic_us() - since < PATIENCE_MS * INT64CONST(1000) || ready(room))
			continue;
		note_gone(WC_SHUTDOWN, "the connection to the widecol engine was given up in the midst of a message");
		if (!stopping)
			CHECK_FOR_INTERRUPTS();
		return false;
	}
}

/* --- receiving -------------------------------------------------------------*/

/* Reads one frame: 1: it is complete, 0: not yet, -1: the connection is closed. */
static int
take_frame(void)
{
	WcError		err;
	WcStatus	status = wc_frame_read(&conn.reader, &conn.in, &err);

	wc_segment_gave_room(conn.segment, (uint32) (WC_RESPONSE_RING - (conn.in.seen - conn.in.pos)));
	if (status == WC_OK)
	{
		if (conn.reader.header.type != WC_MSG_CHANGES)
			conn.received_id = conn.reader.header.id;
		return 1;
	}
	if (status == WC_END)
		return 0;
	note_gone(status, err.message);
	return -1;
}

WcFrameReader *
wc_connection_receive(uint64 id)
{
	if (conn.dsm == NULL)
		return NULL;
	for (;;)
	{
		int			taken = take_frame();

		if (taken > 0)
			return &conn.reader;
		if (taken < 0)
			return NULL;
		if (!wait_for(0, id))
		{
			note_segment_gone();
			return NULL;
		}
	}
}

/* Receives the frames that the engine has begun to send, up to the answer to request id: the engine
 * may be waiting for room. */
static void
drain(uint64 id)
{
	while (conn.dsm != NULL)
	{
		int			taken = take_frame();

		if (taken > 0)
			stray_frame(&conn.reader);
		else if (taken < 0 || (!wc_frame_in_part(&conn.reader) && conn.received_id >= id))
			return;
		else if (!wait_amid(0, true))
		{
			if (conn.dsm != NULL)
				note_segment_gone();
			return;
		}
	}
}

/* --- sending ---------------------------------------------------------------*/

WcBuf *
wc_connection_message(void)
{
	wc_frame_begin(&conn.message);
	return &conn.message;
}

/* Writes all bytes, and publishes only when the ring is full.  False when the engine
 * has stopped, or the connection is closed. */
static bool
send_bytes(const uint8 *p, size_t left)
{
	for (;;)
	{
		size_t		n = wc_ring_write(&conn.out, p, left);

		p += n;
		left -= n;
		if (left == 0)
			return true;

		/* The engine has to read these bytes, the backend the engine's answers.  When the backend
		 * is interrupted, the engine must not finish earlier requests before it reads on. */
		wc_ring_publish(&conn.out);
		wc_segment_wake_engine(conn.segment);
		if (is_to_stop())
			wc_segment_cancel_upto(conn.segment, conn.last_id - 1);
		while (ready(0))
		{
			int			taken = take_frame();

			if (taken < 0)
				return false;
			if (taken == 0)
				break;
			stray_frame(&conn.reader);
		}
		if (conn.out.broken || !wait_amid((uint32) Min(left, WC_REQUEST_RING / 2), conn.abandoning) || segment_gone())
			return false;
	}
}

/* Sends the frame in conn.message, followed by tail.  False: the engine has stopped, and
 * the connection is closed. */
static bool
send_frame(WcSlice tail, WcSend how)
{
	bool		sent;

	conn.last_id++;
	conn.sending = true;
	sent = send_bytes(conn.message.data, conn.message.len) &&
		(tail.len == 0 || send_bytes(tail.data, tail.len));
	conn.sending = false;
	if (sent)
	{
		wc_ring_publish(&conn.out);
		if (how == WC_SEND_NOW || how == WC_SEND_BRIEF)
			atomic_store(&conn.segment->backend_cpu, how == WC_SEND_BRIEF ? (uint32) (wc_cpu_here() + 1) : 0);
		if (how != WC_SEND_LAZILY)
			wc_segment_wake_engine(conn.segment);
		return true;
	}
	if (conn.dsm != NULL && segment_gone())
		note_segment_gone();
	else if (conn.dsm != NULL)
		note_gone(WC_CORRUPT, "positions of a session's ring make no sense");
	return false;
}

uint64
wc_connection_send_with(uint8 type, uint8 flags, WcSlice tail, WcSend how)
{
	WcError		err;
	WcFrameHeader header;

	if (!attached())
	{
		if (conn.dsm != NULL)
			note_segment_gone();
		wc_connection_raise_gone();
	}
	if (wc_frame_finish(&conn.message, type, flags, conn.last_id + 1, &err) != WC_OK)
		wc_raise(&err);
	if (tail.len > 0)
	{
		if (conn.message.len - WC_FRAME_HEADER + tail.len > WC_MESSAGE_MAX)
		{
			wc_error(&err, WC_TOO_LARGE, "a message of %zu bytes exceeds the limit of %d bytes",
					 conn.message.len - WC_FRAME_HEADER + tail.len, WC_MESSAGE_MAX);
			wc_raise(&err);
		}
		memcpy(&header, conn.message.data, sizeof(header));
		header.length += (uint32) tail.len;
		memcpy(conn.message.data, &header, sizeof(header));
	}
	if (!send_frame(tail, how))
		wc_connection_raise_gone();
	return conn.last_id;
}

uint64
wc_connection_send(uint8 type, uint8 flags, WcSend how)
{
	return wc_connection_send_with(type, flags, wc_slice(NULL, 0), how);
}

bool
wc_connection_try_send(uint8 type, uint8 flags)
{
	WcError		err;

	if (!wc_connection_live() || conn.sending)
		return false;
	if (wc_frame_finish(&conn.message, type, flags, conn.last_id + 1, &err) != WC_OK ||
		wc_ring_room(&conn.out) < conn.message.len)
		return false;
	conn.last_id++;
	(void) wc_ring_write(&conn.out, conn.message.data, conn.message.len);
	wc_ring_publish(&conn.out);
	return true;
}

void
wc_connection_waited(bool for_disk)
{
	if (wc_connection_live())
		atomic_store_explicit(&conn.segment->backend_waits, for_disk, memory_order_relaxed);
}

/* A statement that finds its row in shared memory sends no request, and the next one will probably find its row there, too. */
void
wc_connection_rouse(void)
{
	bool		sent = conn.last_id != conn.roused_id;

	conn.roused_id = conn.last_id;
	if (sent && wc_connection_live() && wc_busy_sessions(&wc_shmem()->busy, wc_clock_monotonic_us()) < (uint32) cores)
		wc_segment_wake_engine(conn.segment);
}

uint64
wc_connection_post(uint8 type, uint8 flags)
{
	if (!wc_connection_try_send(type, flags))
		return 0;
	wc_segment_wake_engine(conn.segment);
	return conn.last_id;
}

bool
wc_connection_release_snapshots(uint64 upto)
{
	if (!wc_connection_live())
		return false;
	if (atomic_load(&conn.segment->released_upto) < upto)
		atomic_store(&conn.segment->released_upto, upto);
	return true;
}

bool
wc_connection_answered(uint64 id)
{
	return !attached() || atomic_load(&conn.segment->working_on) > id;
}

void
wc_connection_cancel(void)
{
	if (attached())
		wc_segment_cancel_upto(conn.segment, conn.last_id);
}

void
wc_connection_give_up(uint64 id)
{
	if (!wc_connection_live())
		return;

	/* In this order: either the engine sees the cancel, or the backend sees that the engine is answering. */
	wc_segment_cancel_one(conn.segment, id);
	if (atomic_load(&conn.segment->answering) == id)
		drain(id);
}

void
wc_connection_abandon(void)
{
	uint64		answering;
	WcError		err;

	if (!wc_connection_live())
		return;

	/* In this order: the engine sees the cancel before it answers any later request. */
	wc_segment_cancel_upto(conn.segment, conn.last_id);
	answering = atomic_load(&conn.segment->answering);
	wc_frame_begin(&conn.message);
	if (conn.sending)
		note_gone(WC_SHUTDOWN, "the connection to the widecol engine was given up in the midst of a message");
	else if (wc_frame_finish(&conn.message, WC_MSG_ABORT, 0, conn.last_id + 1, &err) != WC_OK)
		note_gone(err.status, err.message);
	else
	{
		conn.abandoning = true;
		if (send_frame(wc_slice(NULL, 0), WC_SEND_NOW))
			drain(answering);
		conn.abandoning = false;
	}
}

/* --- connecting ------------------------------------------------------------*/

static void
wait_for_engine(WcShmem *shmem)
{
	int64		until = 0;

	ConditionVariablePrepareToSleep(&shmem->state_changed);
	for (;;)
	{
		uint32		state = atomic_load(&shmem->state);

		if (state == WC_ENGINE_READY)
			break;
		if (state == WC_ENGINE_FAILED)
		{
			WcError		err = shmem->start_error;

			ConditionVariableCancelSleep();
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("the widecol engine could not start: %s", wc_server_text(err.message)),
					 err.detail[0] != '\0' ? errdetail("%s", wc_server_text(err.detail)) : 0,
					 err.hint[0] != '\0' ? errhint("%s", wc_server_text(err.hint)) :
					 errhint("It is tried again within a minute, and when the server reloads its configuration.")));
		}
		if (state == WC_ENGINE_STOPPED || state == WC_ENGINE_ABSENT)
		{
			if (until == 0)
				until = wc_clock_monotonic_us() + START_WAIT_MS * INT64CONST(1000);
			else if (wc_clock_monotonic_us() > until)
			{
				ConditionVariableCancelSleep();
				note_gone(WC_SHUTDOWN, "the widecol engine is not running (the server's log says why)");
				wc_connection_raise_gone();
			}
		}
		(void) ConditionVariableTimedSleep(&shmem->state_changed, 1000, wc_shmem_wait_event(WC_WAIT_START));
	}
	ConditionVariableCancelSleep();
}

/* Waits for the engine's reaction to the offered segment: true when the engine serves it.  False: the
 * engine stopped before; try again. */
static bool
wait_for_service(WcShmem *shmem, WcSlot *slot)
{
	for (;;)
	{
		uint32		state = atomic_load(&conn.segment->state);

		if (state == WC_SEGMENT_SERVED)
			return true;
		if (state == WC_SEGMENT_GONE)
		{
			note_segment_gone();
			wc_connection_raise_gone();
		}
		if (wc_channel_refused(slot, conn.dsm))
		{
			close_connection();
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("the widecol engine could not attach a session's shared memory"),
					 errhint("The server log says why.")));
		}
		if (atomic_load(&shmem->state) != WC_ENGINE_READY || segment_gone())
		{
			close_connection();
			return false;
		}
		atomic_store(&conn.segment->backend_sleeping, WC_BACKEND_ON_LATCH);
		if (atomic_load(&conn.segment->state) == WC_SEGMENT_NEW)
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 100,
							 wc_shmem_wait_event(WC_WAIT_START));
		atomic_store(&conn.segment->backend_sleeping, WC_BACKEND_AWAKE);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

static void
say_hello(void)
{
	WcHelloMessage hello = {WC_PROTOCOL_VERSION, MyDatabaseId};
	WcFrameReader *frame;
	uint64		id;
	WcError		err;

	wc_message_hello_encode(wc_connection_message(), &hello);
	id = wc_connection_send(WC_MSG_HELLO, 0, WC_SEND_NOW);
	do
	{
		frame = wc_connection_receive(id);
		if (frame == NULL)
			wc_connection_raise_gone();
	} while (frame->header.id != id);
	if (frame->header.type == WC_MSG_OK)
		return;
	wc_message_error_decode(wc_buf_slice(&frame->body), &err);
	close_connection();
	wc_raise(&err);
}

void
wc_connection_open(void)
{
	WcShmem    *shmem;
	WcSlot	   *slot;

	if (wc_connection_live())
		return;
	wc_client_require_preload();
	close_connection();		/* the rest of a connection whose engine has stopped */

	shmem = wc_shmem();
	slot = wc_shmem_my_slot(shmem);
	if (slot == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("stored tables cannot be used in this kind of process")));
	cores = wc_cpu_count();

	/* An error before the end leaves a connection that is not ready: the next try closes it, or
	 * the exit of the backend. */
	do
	{
		wait_for_engine(shmem);
		conn.generation = wc_flight_generation(wc_places());
		conn.dsm = wc_channel_offer(shmem, slot);
		conn.segment = wc_channel_segment(conn.dsm);
		conn.out = wc_segment_requests(conn.segment);
		conn.in = wc_segment_responses(conn.segment);
		conn.last_id = conn.received_id = 0;
		conn.sending = false;
		wc_frame_reader_init(&conn.reader);
	} while (!wait_for_service(shmem, slot));
	say_hello();
	conn.ready = true;
}
