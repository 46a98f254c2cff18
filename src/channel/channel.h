/*
 * channel/channel.h: a session's segment, on its way from backend to engine.
 *
 * The backend makes a dynamic shared memory segment (wire/message/segment.h), puts its
 * handle into its slot and wakes the engine; the engine's main thread attaches
 * it and starts a thread for it.  PostgreSQL side.
 */
#ifndef WC_CHANNEL_CHANNEL_H
#define WC_CHANNEL_CHANNEL_H

#include "postgres.h"

#include "storage/dsm.h"

#include "channel/shmem.h"
#include "wire/message/segment.h"

/* --- backend -------------------------------------------------------------- */

/*
 * Makes a segment and offers it to the engine, which must be READY.  The segment exists to the end of the process, unless
 * it is detached; in both cases the engine gets to know.  May ereport(ERROR), for example without free shared memory.
 */
extern dsm_segment *wc_channel_offer(WcShmem *shmem, WcSlot *slot);

/* Has the engine failed to attach the segment that was offered last? */
extern bool wc_channel_refused(WcSlot *slot, dsm_segment *dsm);

/* The segment in the shared memory, for both sides; and its size. */
extern WcSegment *wc_channel_segment(dsm_segment *dsm);
extern size_t wc_channel_segment_size(dsm_segment *dsm);

/* Tells the engine and gives the segment up. */
extern void wc_channel_close(dsm_segment *dsm);

/* --- engine's main thread ------------------------------------------------- */

/*
 * Takes the segment that is offered in a slot.  NULL: there is none, it has been withdrawn, or it cannot be
 * attached (then the backend is notified and the failure logged).
 */
extern dsm_segment *wc_channel_take(WcShmem *shmem, int slot);

#endif
