/*
 * thrift/incoming.h: where a message ends that arrives in pieces.
 *
 * Framed, a message says so itself.  Else its values have to be walked through: that is
 * done as they come, each byte looked at once, however small the pieces are.  So whatever
 * reads the message (thrift/reader.h) has the whole of it.  Nothing is allocated: the
 * state is as large as values may be nested.
 */
#ifndef WC_THRIFT_INCOMING_H
#define WC_THRIFT_INCOMING_H

#include "thrift/thrift.h"

typedef enum WcIncomingKind
{
	WC_INCOMING_STRUCT,			/* fields, up to the stop */
	WC_INCOMING_VALUES,			/* so many values of one type */
	WC_INCOMING_PAIRS			/* values of two types in turn */
} WcIncomingKind;

typedef struct WcIncomingLevel
{
	WcIncomingKind kind;
	uint8_t		type;
	uint8_t		second;
	uint64_t	left;			/* values to come */
} WcIncomingLevel;

typedef struct WcThriftIncoming
{
	WcThriftProtocol protocol;
	WcThriftTransport transport;
	uint64_t	max;			/* bytes that a message may have */
	uint64_t	at;				/* so many are walked through; more than have come, amid a string */
	uint32_t	depth;			/* levels; 0: the head is not read yet */
	WcIncomingLevel levels[WC_THRIFT_DEPTH_MAX];
} WcThriftIncoming;

extern void wc_thrift_incoming(WcThriftIncoming *in, WcThriftProtocol protocol, WcThriftTransport transport,
							   uint64_t max);

/*
 * have: what has come of the message, from its first byte on; more than the last time, and
 * the same bytes in front.  WC_OK: *message is all of it, without the frame's length, and
 * the next one begins behind the first *used bytes; `in` is ready for that.  WC_END: more must
 * come.  WC_TOO_LARGE, WC_CORRUPT: the stream is of no use any more.
 */
extern WcStatus wc_thrift_arrived(WcThriftIncoming *in, WcSlice have, WcSlice *message, size_t *used,
								  WcError *err) WC_WARN_UNUSED;

#endif
