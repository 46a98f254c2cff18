/*
 * rpc/handler.c: a session's thread: frames in, frames out, and waiting.
 *
 * Waiting is the same in both directions: the thread checks the ring repeatedly for a while (wire/wait/spin.h), then sets a
 * flag in the segment, checks once more, and sleeps.
 */
#include "rpc/handler.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "wire/wait/spin.h"

/* The thread spins for the next request if these come after so short gaps.  A longer gap counts as GAP_MAX_US. */
#define SPIN_GAP_US 600
#define GAP_MAX_US 1500

/* The thread spins for so long when the backend has woken it before it sends a request. */
#define ROUSED_US 200

static bool
ended(WcHandler *h)
{
	return atomic_load_explicit(&h->segment->closing, memory_order_seq_cst) != 0 ||
		atomic_load_explicit(&h->stop, memory_order_seq_cst);
}

static void
wake_backend(WcHandler *h)
{
	if (wc_segment_wake_backend(h->segment))
		h->wake.fn(h->wake.arg);
}

/* Does the wait end: has the ring room for n bytes or, if n is 0, bytes to read?  True also for a ring whose positions
 * are wrong: the caller finds that out. */
static bool
ready(WcHandler *h, uint32_t room)
{
	if (room == 0)
		return wc_ring_available(&h->in) > 0 || h->in.broken;
	return wc_ring_room(&h->out) >= room || h->out.broken;
}

/* How long to spin for the next request while a processor is idle: it will probably come as soon as those before it.  A
 * client that lets the session wait for longer does not notice the time that it takes to wake this thread. */
static int64_t
patience(const WcHandler *h)
{
	return h->gap_us <= SPIN_GAP_US ? 2 * h->gap_us + WC_SPIN_US : WC_SPIN_US;
}

static void
note_gap(WcHandler *h, int64_t since_us)
{
	int64_t		gap = wc_clock_monotonic_us() - since_us;

	h->gap_us += ((gap < GAP_MAX_US ? gap : GAP_MAX_US) - h->gap_us) / 4;
}

/* Spins for so long while a processor is idle; for WC_SPIN_US if none is; not at all if sessions wait for one. */
static bool
spin(WcHandler *h, uint32_t room, int64_t now, int64_t for_us)
{
	uint32_t	busy = wc_busy_sessions(h->options->busy, now);
	bool		crowded = busy >= (uint32_t) h->options->cores;
	WcSpin		s = wc_spin_from(now, crowded ? WC_SPIN_US : for_us, crowded);

	if (busy > (uint32_t) h->options->cores)
		return ready(h, room);
	while (!ready(h, room))
	{
		if (!wc_spin_yield(&s))
			return ready(h, room);
	}
	return true;
}

static void
sleep_until_ready(WcHandler *h, uint32_t room)
{
	WcSegment  *s = h->segment;

	wc_rangefill_end(&h->dispatch.rangefill);
	atomic_store(&s->engine_wants, room);
	for (;;)
	{
		wc_session_snapshots_release(&h->dispatch.session, atomic_load(&s->released_upto));
		atomic_store(&s->engine_sleeping, 1);
		if (ready(h, room) || ended(h))
			break;
		if (wc_segment_sleep(s, wc_session_holds(&h->dispatch.session) ? WC_LAZY_US : -1) && !ended(h) &&
			spin(h, room, wc_clock_monotonic_us(), ROUSED_US))
			break;
	}
	atomic_store(&s->engine_sleeping, 0);
	atomic_store(&s->engine_wants, 0);
}

/* Answers Gets in advance, and keeps the range that was asked for last, until the next request comes; true: it has come.  First the
 * thread waits a little: a session that has changed a row says at once what shall become of the change. */
static bool
work_ahead(WcHandler *h, int64_t now)
{
	WcNeighbours *n = &h->dispatch.neighbours;
	WcRangeFill *f = &h->dispatch.rangefill;

	if (!wc_neighbours_left(n) && !wc_rangefill_left(f))
		return false;
	if (spin(h, 0, now, WC_SPIN_US))
		return true;
	while (wc_neighbours_left(n) && !ready(h, 0) && !ended(h))
		wc_neighbours_next(n);
	wc_neighbours_pause(n);
	while (wc_rangefill_left(f) && !ready(h, 0) && !ended(h))
		wc_rangefill_next(f);
	return ready(h, 0);
}

static void
answer_in_order(WcHandler *h)
{
	WcNeighbours *n = &h->dispatch.neighbours;

	if (!wc_neighbours_eager(n))
		return;
	while (wc_neighbours_eager(n) && !ended(h))
		wc_neighbours_next(n);
	wc_neighbours_pause(n);
}

/* False when the session has ended. */
static bool
wait_for(WcHandler *h, uint32_t room)
{
	int64_t		since;

	if (room == 0)
		answer_in_order(h);
	if (ended(h))
		return false;
	if (ready(h, room))
		return true;
	since = wc_clock_monotonic_us();
	if (!(room == 0 && work_ahead(h, since)) && !spin(h, room, since, room == 0 ? patience(h) : WC_SPIN_US))
		sleep_until_ready(h, room);
	if (room == 0)
		note_gap(h, since);
	return !ended(h);
}

/* Sends a whole frame, and waits for room if necessary; false: the session has ended. */
static bool
send_frame(WcHandler *h, const WcBuf *frame)
{
	const uint8_t *p = frame->data;
	size_t		left = frame->len;

	for (;;)
	{
		size_t		n = wc_ring_write(&h->out, p, left);

		p += n;
		left -= n;
		if (n > 0)
		{
			wc_ring_publish(&h->out);
			wake_backend(h);
		}
		if (left == 0)
			return true;
		if (h->out.broken ||
			!wait_for(h, left < WC_RESPONSE_RING / 2 ? (uint32_t) left : WC_RESPONSE_RING / 2))
			return false;
	}
}

/* Tells a backend that sleeps for room in the request ring. */
static void
gave_room(WcHandler *h)
{
	uint32_t	wants = atomic_load(&h->segment->backend_wants);

	if (wants != 0 && WC_REQUEST_RING - (h->in.seen - h->in.pos) >= wants)
		wake_backend(h);
}

/*
 * When all processors are busy, the thread does a brief request on the processor of its backend, which waits for it: the
 * two never run at the same time, and otherwise the system would move one of them between processors again and again,
 * each time at the cost of several such requests.  While a processor is free, the thread keeps away from the backend, which
 * has the processor for itself and its client.
 */
static void
place(WcHandler *h)
{
	int64_t		now = wc_clock_monotonic_us();
	int			cpu = (int) atomic_load(&h->segment->backend_cpu) - 1;
	int			wanted = h->place;

	wc_busy_note(h->options->busy, &h->window, now, atomic_load_explicit(&h->segment->backend_waits, memory_order_relaxed) != 0);
	if (wc_busy_sessions(h->options->busy, now) >= (uint32_t) h->options->cores)
		wanted = cpu;
	else if (cpu != WC_CPU_ANY)
		wanted = WC_CPU_BUT(cpu);
	else if (wanted >= 0)
		wanted = WC_CPU_ANY;
	if (wanted != h->place)
		wc_cpu_stay(wanted);
	h->place = wanted;
}

/* Changes, while more are made: the backend takes them in, or the session waits. */
static WcStatus
send_part(void *arg, const WcBuf *frame, WcError *err)
{
	WcHandler  *h = arg;

	if (!wc_segment_answer(h->segment, h->reader.header.id))
		return wc_error(err, WC_CANCELLED, "the request was cancelled");
	if (!send_frame(h, frame))
		return wc_error(err, WC_SHUTDOWN, "the session has ended");
	return WC_OK;
}

static bool
serve_request(WcHandler *h, WcError *why)
{
	uint64_t	id = h->reader.header.id;
	bool		cancelled = wc_segment_begin(h->segment, id);
	bool		answered;

	if (ended(h))
		return false;
	wc_session_snapshots_release(&h->dispatch.session, atomic_load(&h->segment->released_upto));
	place(h);
	answered = wc_dispatch(&h->dispatch, &h->reader, cancelled);
	wc_buf_reset(&h->reader.body, WC_FRAME_KEEP);
	if (!answered)
		return true;
	/* the work may have ended halfway: the backend gets the error that the engine stops */
	if (atomic_load(&h->stop))
		return false;
	if (h->dispatch.out.len == 0)
	{
		wc_error(why, WC_NO_MEMORY, "the engine is out of memory");
		return false;
	}
	if (!wc_segment_answer(h->segment, id))
		wc_dispatch_cancelled(&h->dispatch, id);
	if (!send_frame(h, &h->dispatch.out))
		return false;
	wc_buf_reset(&h->dispatch.out, WC_FRAME_KEEP);
	return true;
}

void
wc_handler_serve(WcHandler *h, WcError *why)
{
	WcStatus	status;

	why->status = WC_OK;
	h->place = WC_CPU_ANY;
	h->dispatch.parts = (WcPartSender) {send_part, h};
	h->in = wc_segment_requests(h->segment);
	h->out = wc_segment_responses(h->segment);
	wc_frame_reader_init(&h->reader);

	for (;;)
	{
		status = wc_frame_read(&h->reader, &h->in, why);
		if (status == WC_OK)
		{
			gave_room(h);
			if (!serve_request(h, why))
				break;
		}
		else if (status == WC_END)
		{
			gave_room(h);
			if (!wait_for(h, 0))
				break;
		}
		else
			break;
	}

	h->orphan->xid = h->dispatch.session.xid;
	wc_dispatch_free(&h->dispatch);
	wc_frame_reader_free(&h->reader);
}

void
wc_handler_stop(WcHandler *h)
{
	atomic_store(&h->stop, true);
	atomic_store(&h->segment->cancel, true);
	wc_segment_wake_engine(h->segment);
}
