/*
 * wire/segment.h: the memory that one session shares: header and two rings.
 *
 * A backend makes it, the engine's session thread serves it.  channel/README is
 * the map: for each field, who may touch it and when.  Nothing in it is a
 * pointer; sizes are checked when the engine attaches.
 */
#ifndef WC_WIRE_SEGMENT_H
#define WC_WIRE_SEGMENT_H

#include "base/status.h"
#include "wire/ring.h"

#define WC_SEGMENT_MAGIC		0x57435347	/* "WCSG" */
#define WC_PROTOCOL_VERSION		10

#define WC_REQUEST_RING			(64 * 1024)
#define WC_RESPONSE_RING		(128 * 1024)

/* A session thread that holds something sleeps no longer than this at a time:
 * messages that need no answer come without waking it. */
#define WC_LAZY_US				1000000

#define WC_GONE_TEXT_MAX		256

typedef enum WcSegmentState
{
	WC_SEGMENT_NEW = 0,			/* the engine has not attached it yet */
	WC_SEGMENT_SERVED = 1,
	WC_SEGMENT_GONE = 2			/* nobody serves it any more: gone_status and gone_text say why */
} WcSegmentState;

/* How a backend sleeps: briefly on the futex, which costs least, then on its latch,
 * which other things wake too. */
typedef enum WcBackendSleep
{
	WC_BACKEND_AWAKE = 0,
	WC_BACKEND_ON_LATCH = 1,
	WC_BACKEND_ON_FUTEX = 2
} WcBackendSleep;

/* How long a backend sleeps on the futex: an interrupt that comes just before waits
 * that long to be served. */
#define WC_BRIEF_SLEEP_US	5000

typedef struct WcSegment
{
	uint32_t	magic;
	uint32_t	version;
	uint32_t	request_size;
	uint32_t	response_size;

	/* set by the backend */
	_Alignas(64) _Atomic uint64_t cancel_upto;	/* requests with this id or a smaller one need no answer */
	_Atomic uint64_t cancel_one;	/* nor does this one */
	_Atomic uint64_t released_upto; /* it needs no snapshot with this number or a smaller one any more */
	_Atomic uint32_t closing;	/* the backend is going away */
	_Atomic uint32_t backend_sleeping;	/* WcBackendSleep; set by the backend, cleared by whoever wakes it; a futex */
	_Atomic uint32_t backend_wants; /* room in the request ring it sleeps for; 0: for an answer */
	_Atomic uint32_t backend_cpu;	/* where it waits for something brief: the processor, from 1; 0: anything else */

	/* set by the engine */
	_Alignas(64) _Atomic uint32_t engine_sleeping;	/* futex; set by the session thread, cleared by whoever wakes it */
	_Atomic uint32_t engine_wants;	/* room in the response ring it sleeps for; 0: for a request */
	_Atomic uint64_t working_on;	/* the request that the session thread works on */
	_Atomic uint64_t answering; /* the request whose answer it has begun to send, or is about to */
	_Atomic uint32_t state;		/* WcSegmentState */
	uint32_t	gone_status;	/* WcStatus; written before state */
	char		gone_text[WC_GONE_TEXT_MAX];

	/* Polled by the engine while it works on a request; raised by the backend
	 * (after cancel_upto or cancel_one), lowered by the session thread. */
	_Alignas(64) atomic_bool cancel;

	WcRing		requests;		/* backend to engine */
	WcRing		responses;		/* engine to backend */
} WcSegment;

/* Bytes a segment takes, rings included. */
extern size_t wc_segment_size(void);

/* Backend: lays out fresh memory, aligned to 64 bytes. */
extern void wc_segment_init(void *memory);

/* Engine: is this what wc_segment_init made, and as large as it says? */
extern WcStatus wc_segment_check(const void *memory, size_t size, WcError *err) WC_WARN_UNUSED;

/* The ends of the rings; one each a side. */
extern WcRingEnd wc_segment_requests(WcSegment *segment);
extern WcRingEnd wc_segment_responses(WcSegment *segment);

/* Wakes the session thread if it sleeps.  Any thread, any process; cheap when it
 * does not. */
extern void wc_segment_wake_engine(WcSegment *segment);

/* Wakes the backend if it sleeps on the futex.  True: it sleeps on its latch, which
 * the caller has to set.  Any thread. */
extern bool wc_segment_wake_backend(WcSegment *segment) WC_WARN_UNUSED;

/* Backend: sleeps until woken, for WC_BRIEF_SLEEP_US at most; also returns when a
 * signal was handled.  backend_sleeping must have been set to WC_BACKEND_ON_FUTEX
 * before what is waited for was looked at for the last time. */
extern void wc_segment_backend_sleep(WcSegment *segment);

/* Backend, after it has read from the responses: wakes the session thread if it
 * sleeps for room and there is enough of it. */
extern void wc_segment_gave_room(WcSegment *segment, uint32_t room);

/*
 * Session thread: sleeps until woken or timeout_us has passed (negative: no
 * limit).  engine_sleeping must have been set before what is waited for was
 * looked at for the last time; it is cleared on return.
 */
extern void wc_segment_sleep(WcSegment *segment, int64_t timeout_us);

/*
 * Backend: these requests' answers are no longer wanted; the engine stops
 * working on them as soon as it looks.  cancel_one may name the newest request
 * only: earlier ones, of scans that go on, are not disturbed.
 */
extern void wc_segment_cancel_upto(WcSegment *segment, uint64_t id);
extern void wc_segment_cancel_one(WcSegment *segment, uint64_t id);

/* Session thread: lowers the flag for request `id`, unless that is cancelled
 * already: then true. */
extern bool wc_segment_begin(WcSegment *segment, uint64_t id);

/*
 * Session thread: says that it begins to send the answer to `id`; false when that
 * is cancelled: then what is sent shall be small.  A backend that cancels and then
 * looks at `answering` knows whether a large answer may be on its way, for which
 * the session thread would wait until somebody reads it.
 */
extern bool wc_segment_answer(WcSegment *segment, uint64_t id);

/* Engine: nobody serves the segment any more. The backend is still to be woken. */
extern void wc_segment_gone(WcSegment *segment, WcStatus status, const char *text);

#endif
