/*
 * wire/message/frame.h: messages in a ring.
 *
 * A frame is a header of 16 bytes and a payload of up to WC_MESSAGE_MAX bytes,
 * which may be larger than the ring: it streams through.  Numbers in the header
 * are in the machine's byte order (both sides are the same machine).
 */
#ifndef WC_WIRE_MESSAGE_FRAME_H
#define WC_WIRE_MESSAGE_FRAME_H

#include "base/buf.h"
#include "base/limits.h"
#include "wire/message/ring.h"

typedef struct WcFrameHeader
{
	uint32_t	length;			/* of the payload */
	uint8_t		type;			/* wire/message/message.h */
	uint8_t		flags;
	uint16_t	zero;
	uint64_t	id;				/* of the request: grows; an answer repeats it */
} WcFrameHeader;

#define WC_FRAME_HEADER sizeof(WcFrameHeader)

/* Memory that a buffer keeps from one frame to the next: a chunk of a batch. */
#define WC_FRAME_KEEP (WC_BATCH_CHUNK + 64 * 1024)

/* --- building: header and payload in one buffer ---------------------------
 * begin empties buf (keeping WC_FRAME_KEEP of its memory) and leaves room for the
 * header; finish fills that in.
 */
extern void wc_frame_begin(WcBuf *buf);
extern WcStatus wc_frame_finish(WcBuf *buf, uint8_t type, uint8_t flags, uint64_t id, WcError *err) WC_WARN_UNUSED;

/* --- receiving ------------------------------------------------------------
 * The reader keeps its state between calls, so a frame that was read in part is finished later.
 */
typedef struct WcFrameReader
{
	WcFrameHeader header;
	size_t		have;			/* bytes of header and payload so far */
	bool		dropped;		/* no memory for the payload: it is read and forgotten */
	WcBuf		body;			/* the payload; may be swapped for another buffer between frames */
} WcFrameReader;

extern void wc_frame_reader_init(WcFrameReader *r);
extern void wc_frame_reader_free(WcFrameReader *r);

/*
 * Reads the bytes in the ring.  WC_OK: header and body have a whole frame (the next call begins another).  WC_END: the
 * frame is not complete yet.  WC_CORRUPT is final.  Releases the read bytes' room in each case.
 */
extern WcStatus wc_frame_read(WcFrameReader *r, WcRingEnd *in, WcError *err) WC_WARN_UNUSED;

/* Has a frame been read in part? */
static inline bool
wc_frame_in_part(const WcFrameReader *r)
{
	return r->have > 0 && (r->have < WC_FRAME_HEADER || r->have < WC_FRAME_HEADER + r->header.length);
}

#endif
