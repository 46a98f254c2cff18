/*
 * wire/message/segment.c: layout of a session's memory, waking and cancelling.
 */
#include "wire/message/segment.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RINGS_OFFSET ((sizeof(WcSegment) + 63) & ~(size_t) 63)

_Static_assert(sizeof(_Atomic uint32_t) == 4, "a futex is a plain 32-bit word");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
			   "processes share these atomics: they must not need a lock");

size_t
wc_segment_size(void)
{
	return RINGS_OFFSET + WC_REQUEST_RING + WC_RESPONSE_RING;
}

void
wc_segment_init(void *memory)
{
	WcSegment  *s = memory;

	memset(s, 0, sizeof(*s));
	s->magic = WC_SEGMENT_MAGIC;
	s->version = WC_PROTOCOL_VERSION;
	s->request_size = WC_REQUEST_RING;
	s->response_size = WC_RESPONSE_RING;
	wc_ring_init(&s->requests);
	wc_ring_init(&s->responses);
}

WcStatus
wc_segment_check(const void *memory, size_t size, WcError *err)
{
	const WcSegment *s = memory;

	if (size < wc_segment_size())
		return wc_error(err, WC_CORRUPT, "session memory has %zu bytes instead of %zu", size, wc_segment_size());
	if (s->magic != WC_SEGMENT_MAGIC)
		return wc_error(err, WC_CORRUPT, "session memory does not start with its mark");
	if (s->version != WC_PROTOCOL_VERSION ||
		s->request_size != WC_REQUEST_RING || s->response_size != WC_RESPONSE_RING)
	{
		wc_error(err, WC_UNSUPPORTED, "the server's library and its engine are of different versions");
		wc_error_hint(err, "Restart the server after an upgrade of widecol.");
		return WC_UNSUPPORTED;
	}
	return WC_OK;
}

WcRingEnd
wc_segment_requests(WcSegment *segment)
{
	return wc_ring_end(&segment->requests, (uint8_t *) segment + RINGS_OFFSET, WC_REQUEST_RING);
}

WcRingEnd
wc_segment_responses(WcSegment *segment)
{
	return wc_ring_end(&segment->responses,
					   (uint8_t *) segment + RINGS_OFFSET + WC_REQUEST_RING, WC_RESPONSE_RING);
}

void
wc_segment_wake_engine(WcSegment *segment)
{
	if (atomic_load(&segment->engine_sleeping) != 0 &&
		atomic_exchange(&segment->engine_sleeping, 0) != 0)
		syscall(SYS_futex, &segment->engine_sleeping, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool
wc_segment_wake_backend(WcSegment *segment)
{
	if (atomic_load(&segment->backend_sleeping) == WC_BACKEND_AWAKE)
		return false;
	switch (atomic_exchange(&segment->backend_sleeping, WC_BACKEND_AWAKE))
	{
		case WC_BACKEND_ON_FUTEX:
			syscall(SYS_futex, &segment->backend_sleeping, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
			return false;
		case WC_BACKEND_ON_LATCH:
			return true;
		default:
			return false;
	}
}

void
wc_segment_backend_sleep(WcSegment *segment)
{
	const struct timespec brief = {0, WC_BRIEF_SLEEP_US * 1000};

	syscall(SYS_futex, &segment->backend_sleeping, FUTEX_WAIT, WC_BACKEND_ON_FUTEX, &brief, NULL, 0);
}

void
wc_segment_gave_room(WcSegment *segment, uint32_t room)
{
	uint32_t	wants = atomic_load(&segment->engine_wants);

	if (wants != 0 && room >= wants)
		wc_segment_wake_engine(segment);
}

bool
wc_segment_sleep(WcSegment *segment, int64_t timeout_us)
{
	struct timespec ts;

	ts.tv_sec = (time_t) (timeout_us / 1000000);
	ts.tv_nsec = (long) (timeout_us % 1000000) * 1000;

	/* after a wake-up before the call the word is 0, and the call returns at once; the caller checks its
	 * condition again, whatever the reason of the return */
	syscall(SYS_futex, &segment->engine_sleeping, FUTEX_WAIT, 1, timeout_us >= 0 ? &ts : NULL, NULL, 0);
	return atomic_exchange(&segment->engine_sleeping, 0) == 0;
}

void
wc_segment_cancel_upto(WcSegment *segment, uint64_t id)
{
	atomic_store(&segment->cancel_upto, id);
	atomic_store(&segment->cancel, true);
}

void
wc_segment_cancel_one(WcSegment *segment, uint64_t id)
{
	atomic_store(&segment->cancel_one, id);

	/* The flag cancels the present request: set it only if that is the one.  If this request has not begun yet,
	 * the session's thread finds cancel_one when it begins. */
	if (atomic_load(&segment->working_on) == id)
		atomic_store(&segment->cancel, true);
}

static bool
cancelled(WcSegment *segment, uint64_t id)
{
	return atomic_load(&segment->cancel_upto) >= id || atomic_load(&segment->cancel_one) == id;
}

bool
wc_segment_begin(WcSegment *segment, uint64_t id)
{
	/* In this order: a cancellation that comes in between is seen either here or
	 * by the raised flag. */
	atomic_store(&segment->working_on, id);
	atomic_store(&segment->cancel, false);
	return cancelled(segment, id);
}

bool
wc_segment_answer(WcSegment *segment, uint64_t id)
{
	atomic_store(&segment->answering, id);
	return !cancelled(segment, id);
}

void
wc_segment_gone(WcSegment *segment, WcStatus status, const char *text)
{
	segment->gone_status = (uint32_t) status;
	snprintf(segment->gone_text, sizeof(segment->gone_text), "%s", text);
	atomic_store(&segment->state, WC_SEGMENT_GONE);
}
