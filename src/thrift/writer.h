/*
 * thrift/writer.h: Thrift values as bytes, in either protocol.
 *
 * A writer appends one message after the other to a buffer that its user owns.  What does
 * not fit makes the buffer fail (base/buf.h), so a user looks once, at the end.  Fields are
 * written in ascending order of their ids.
 */
#ifndef WC_THRIFT_WRITER_H
#define WC_THRIFT_WRITER_H

#include "thrift/thrift.h"

typedef struct WcThriftWriter
{
	WcBuf	   *out;
	WcThriftProtocol protocol;
	WcThriftTransport transport;
	size_t		frame;			/* where the message's length stands */
	uint32_t	depth;			/* structs that are open */
	int16_t		last[WC_THRIFT_DEPTH_MAX];	/* compact: the last field of each */
} WcThriftWriter;

extern void wc_thrift_writer(WcThriftWriter *w, WcBuf *out, WcThriftProtocol protocol, WcThriftTransport transport);

/* A message of this type, and the struct in it (arguments, or a result): fields follow. */
extern void wc_thrift_begin_message(WcThriftWriter *w, WcThriftMessageType type, const char *method, int32_t number);
extern void wc_thrift_end_message(WcThriftWriter *w);

/* Fields of the struct that was opened last. */
extern void wc_thrift_field_bool(WcThriftWriter *w, int16_t id, bool value);
extern void wc_thrift_field_byte(WcThriftWriter *w, int16_t id, int8_t value);
extern void wc_thrift_field_i16(WcThriftWriter *w, int16_t id, int16_t value);
extern void wc_thrift_field_i32(WcThriftWriter *w, int16_t id, int32_t value);
extern void wc_thrift_field_i64(WcThriftWriter *w, int16_t id, int64_t value);
extern void wc_thrift_field_bytes(WcThriftWriter *w, int16_t id, WcSlice value);
extern void wc_thrift_field_struct(WcThriftWriter *w, int16_t id);	/* fields, then end_struct */
extern void wc_thrift_field_list(WcThriftWriter *w, int16_t id, WcThriftType type, uint32_t n); /* n elements follow */
extern void wc_thrift_field_map(WcThriftWriter *w, int16_t id, WcThriftType key, WcThriftType value, uint32_t n);

/* Elements of lists and maps. */
extern void wc_thrift_bytes(WcThriftWriter *w, WcSlice value);
extern void wc_thrift_i32(WcThriftWriter *w, int32_t value);
extern void wc_thrift_begin_struct(WcThriftWriter *w);	/* fields, then end_struct */

extern void wc_thrift_end_struct(WcThriftWriter *w);

#endif
