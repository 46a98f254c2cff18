/*
 * wire/message/segment.h: the shared memory of one session: header and two rings.
 *
 * A backend makes the segment, the engine's thread of the session serves it.  channel/README has the map: for each field,
 * which side may read or write it, and when.  The segment contains no pointers; the engine checks sizes when it attaches.
 */
#ifndef WC_WIRE_MESSAGE_SEGMENT_H
#define WC_WIRE_MESSAGE_SEGMENT_H

#include "base/status.h"
#include "wire/message/ring.h"

#define WC_SEGMENT_MAGIC		0x57435347	/* "WCSG" */
#define WC_PROTOCOL_VERSION		16

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
	WC_SEGMENT_GONE = 2			/* the engine does not serve it any more; gone_status and gone_text have the reason */
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
#define WC_BRIEF_SLEEP_US	20000

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
	_Atomic uint32_t backend_sleeping;	/* WcBackendSleep; set by the backend, cleared by the thread that wakes it; a futex */
	_Atomic uint32_t backend_wants; /* room in the request ring it sleeps for; 0: for an answer */
	_Atomic uint32_t backend_cpu;	/* where it waits for something brief: the processor, from 1; 0: anything else */
	_Atomic uint32_t backend_waits; /* 1: its last transaction has waited for the disk */

	/* set by the engine */
	_Alignas(64) _Atomic uint32_t engine_sleeping;	/* a futex; set by the session's thread, cleared by the process that wakes it */
	_Atomic uint32_t engine_wants;	/* room in the response ring it sleeps for; 0: for a request */
	_Atomic uint64_t working_on;	/* the request that the session thread works on */
	_Atomic uint64_t answering; /* the request whose answer the session's thread is about to send, or has begun to send */
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

/* Wakes the session thread if it sleeps: a request is in the ring, or will be soon.  Any thread, any process; cheap when
 * the session thread does not sleep. */
extern void wc_segment_wake_engine(WcSegment *segment);

/* Wakes the backend if it sleeps on the futex.  True: it sleeps on its latch, which
 * the caller has to set.  Any thread. */
extern bool wc_segment_wake_backend(WcSegment *segment) WC_WARN_UNUSED;

/* Backend: sleeps until woken, for WC_BRIEF_SLEEP_US at most; also returns when a
 * signal was handled.  The caller sets backend_sleeping to WC_BACKEND_ON_FUTEX, then checks its condition once more,
 * then calls. */
extern void wc_segment_backend_sleep(WcSegment *segment);

/* Backend, after it has read from the responses: wakes the session's thread if that sleeps for room and there is
 * enough room. */
extern void wc_segment_gave_room(WcSegment *segment, uint32_t room);

/*
 * Session's thread: sleeps until woken, or for timeout_us (negative: no limit).  The caller sets engine_sleeping, then
 * checks its condition once more, then calls; the function clears engine_sleeping.  True: it was woken.
 */
extern bool wc_segment_sleep(WcSegment *segment, int64_t timeout_us);

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
 * Session's thread: notes that it begins to send the answer to `id`.  False: this request is cancelled, and the answer
 * must be small.  A backend that cancels and then reads `answering` knows whether a large answer may be on its way,
 * which it must read: else the session's thread would wait for room.
 */
extern bool wc_segment_answer(WcSegment *segment, uint64_t id);

/* Engine: it does not serve the segment any more.  The caller then wakes the backend. */
extern void wc_segment_gone(WcSegment *segment, WcStatus status, const char *text);

#endif
