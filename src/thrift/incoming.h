/*
 * thrift/incoming.h: finds the end of a message that arrives in pieces.
 *
 * A framed message begins with its length.  The values of a buffered message have to be parsed: as they
 * arrive, each byte once, however small the pieces are.  So thrift/reader.h always has the whole message.
 * Nothing is allocated: the size of the state is fixed by the greatest depth of nested values.
 */
#ifndef WC_THRIFT_INCOMING_H
#define WC_THRIFT_INCOMING_H

#include "thrift/thrift.h"

typedef enum WcIncomingKind
{
	WC_INCOMING_STRUCT,			/* fields, up to the stop */
	WC_INCOMING_VALUES,			/* `left` values of one type */
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
	uint64_t	max;			/* greatest size of a message in bytes */
	uint64_t	at;				/* bytes that are parsed; inside a string more than have arrived */
	uint32_t	depth;			/* levels; 0: the message's head is not parsed yet */
	WcIncomingLevel levels[WC_THRIFT_DEPTH_MAX];
} WcThriftIncoming;

extern void wc_thrift_incoming(WcThriftIncoming *in, WcThriftProtocol protocol, WcThriftTransport transport,
							   uint64_t max);

/*
 * have: the bytes of the message that have arrived, from its first byte on: the bytes of the last call,
 * and more.  WC_OK: *message is the whole message, without the frame's length; the next message begins
 * behind the first *used bytes, and `in` is ready for it.  WC_END: the message is incomplete.
 * WC_TOO_LARGE, WC_CORRUPT: the stream cannot be read any further.
 */
extern WcStatus wc_thrift_arrived(WcThriftIncoming *in, WcSlice have, WcSlice *message, size_t *used,
								  WcError *err) WC_WARN_UNUSED;

#endif
