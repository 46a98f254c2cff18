/*
 * thrift/writer.h: Thrift values as bytes, in either protocol.
 *
 * A writer appends messages to a buffer that the caller owns.  A value that does not fit fails the
 * buffer (base/buf.h), so the caller checks once, at the end.  The caller writes fields in ascending
 * order of their ids.
 */
#ifndef WC_THRIFT_WRITER_H
#define WC_THRIFT_WRITER_H

#include "thrift/thrift.h"

typedef struct WcThriftWriter
{
	WcBuf	   *out;
	WcThriftProtocol protocol;
	WcThriftTransport transport;
	size_t		frame;			/* position of the message's length */
	uint32_t	depth;			/* structs that are open */
	int16_t		last[WC_THRIFT_DEPTH_MAX];	/* compact: the id of each open struct's last field */
} WcThriftWriter;

extern void wc_thrift_writer(WcThriftWriter *w, WcBuf *out, WcThriftProtocol protocol, WcThriftTransport transport);

/* Begins a message of this type, and its struct (arguments, or a result): fields follow. */
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

/* A value as a reader of the same protocol has returned it (wc_thrift_read_raw). */
extern void wc_thrift_field_raw(WcThriftWriter *w, int16_t id, WcThriftType type, WcSlice value);

/* Elements of lists and maps. */
extern void wc_thrift_bytes(WcThriftWriter *w, WcSlice value);
extern void wc_thrift_i32(WcThriftWriter *w, int32_t value);
extern void wc_thrift_begin_struct(WcThriftWriter *w);	/* fields, then end_struct */

extern void wc_thrift_end_struct(WcThriftWriter *w);

#endif
