/*
 * rpc/dispatch.h: does one request of a session after the other.
 */
#ifndef WC_RPC_DISPATCH_H
#define WC_RPC_DISPATCH_H

#include "base/arena.h"
#include "rpc/crew.h"
#include "rpc/lock/neighbours.h"
#include "rpc/lock/rangefill.h"
#include "rpc/log/intake.h"
#include "rpc/session/session.h"
#include "wire/message/frame.h"
#include "wire/message/message.h"

/* Sends a frame that is not the last of an answer.  An error ends the request. */
typedef struct WcPartSender
{
	WcStatus	(*send) (void *arg, const WcBuf *frame, WcError *err);
	void	   *arg;
} WcPartSender;

/* Appends the rows of a view of statistics (model/statistics.h), as a session of a database sees it. */
typedef struct WcStatisticsSource
{
	WcStatus	(*rows) (void *arg, uint8_t view, uint32_t database, WcBuf *out, WcError *err);
	void	   *arg;
} WcStatisticsSource;

typedef struct WcDispatch
{
	WcSession	session;
	WcPartSender parts;			/* this and the next one are set before the first request */
	WcStatisticsSource statistics;
	WcCrew	   *crew;			/* helps with long scans; NULL: there is none.  window: of this session (wire/wait/busy.h) */
	uint32_t   *window;
	WcIntake   *intake;
	WcNeighbours neighbours;	/* of the row that the last request has asked for */
	WcRangeFill rangefill;		/* of the range that a request has asked for last */
	int64_t		began_us;		/* when the request began, monotonic */
	WcArena		arena;			/* of the request; reset after it */
	WcBuf		out;			/* the answer, header included */
} WcDispatch;

extern WcStatus wc_dispatch_init(WcDispatch *d, WcEngine *engine, WcIntake *intake, WcEpochs *epochs,
								 WcLockTable *locktable, const atomic_bool *cancel, WcError *err) WC_WARN_UNUSED;
extern void wc_dispatch_free(WcDispatch *d);

/*
 * Does the request.  True: the request has an answer, which is a whole frame in d->out (empty if there is no memory even
 * for an error).  cancelled: the backend does not want the answer any more; a request that changes nothing is then
 * refused at once.
 */
extern bool wc_dispatch(WcDispatch *d, const WcFrameReader *request, bool cancelled);

/* Makes an error the answer: the request was cancelled. */
extern void wc_dispatch_cancelled(WcDispatch *d, uint64_t id);

#endif
