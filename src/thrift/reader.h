/*
 * thrift/reader.h: reads Thrift values from a complete message.
 *
 * The bytes are not trusted.  After the first invalid value the reader is failed and returns zeros and
 * empty lists: a caller may read many values and check once (wc_thrift_failed).  Slices point into the
 * message.  Nothing is allocated.
 */
#ifndef WC_THRIFT_READER_H
#define WC_THRIFT_READER_H

#include "base/coding.h"
#include "thrift/thrift.h"

typedef struct WcThriftReader
{
	WcDecoder	d;
	WcThriftProtocol protocol;
	bool		field_is_true;	/* compact: the value of a field of type bool */
	uint32_t	depth;			/* structs that are open */
	int16_t		last[WC_THRIFT_DEPTH_MAX];
} WcThriftReader;

typedef struct WcThriftHead
{
	WcThriftMessageType type;
	WcSlice		method;
	int32_t		number;
} WcThriftHead;

typedef struct WcThriftField
{
	WcThriftType type;
	int16_t		id;
} WcThriftField;

/* Starts on a message, without the length of a frame.  Reads the message's head, and opens the struct
 * behind it. */
extern void wc_thrift_reader(WcThriftReader *r, WcThriftProtocol protocol, WcSlice message, WcThriftHead *head);

static inline bool
wc_thrift_failed(const WcThriftReader *r)
{
	return r->d.failed;
}

/* The next field of the struct that was opened last; false: there is none, and the struct is
 * closed, or the reader has failed.  The caller reads the value, or skips it. */
extern bool wc_thrift_next_field(WcThriftReader *r, WcThriftField *f);

/* The field's value; a field of another type fails the reader. */
extern bool wc_thrift_read_bool(WcThriftReader *r, WcThriftField f);
extern int8_t wc_thrift_read_byte(WcThriftReader *r, WcThriftField f);
extern int32_t wc_thrift_read_i32(WcThriftReader *r, WcThriftField f);
extern int64_t wc_thrift_read_i64(WcThriftReader *r, WcThriftField f);
extern WcSlice wc_thrift_read_bytes(WcThriftReader *r, WcThriftField f);

/* Opens a struct: its fields follow. */
extern void wc_thrift_read_struct(WcThriftReader *r, WcThriftField f);

/* The number of elements of a list of this type: at most as many as the rest of the message can
 * hold. */
extern uint32_t wc_thrift_read_list(WcThriftReader *r, WcThriftField f, WcThriftType type);

/* An element of a list. */
extern WcSlice wc_thrift_element_bytes(WcThriftReader *r);
extern void wc_thrift_element_struct(WcThriftReader *r);

/* Passes over the field's value. */
extern void wc_thrift_skip(WcThriftReader *r, WcThriftField f);

/* The bytes of the field's value, for wc_thrift_field_raw; a bool of a compact field, which is in its head, has none. */
extern WcSlice wc_thrift_read_raw(WcThriftReader *r, WcThriftField f);

/* Starts on a struct's fields, up to the end of the struct: the bytes that another reader has read. */
extern void wc_thrift_reader_of_struct(WcThriftReader *r, WcThriftProtocol protocol, WcSlice fields);

#endif
