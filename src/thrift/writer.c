/*
 * thrift/writer.c: Thrift values as bytes, in either protocol.
 */
#include "thrift/writer.h"

#include "base/coding.h"

static const uint8_t compact_types[WC_THRIFT_TYPES] = {
	[WC_THRIFT_BOOL] = WC_THRIFT_COMPACT_TRUE,
	[WC_THRIFT_BYTE] = 3,
	[WC_THRIFT_I16] = 4,
	[WC_THRIFT_I32] = 5,
	[WC_THRIFT_I64] = 6,
	[WC_THRIFT_DOUBLE] = 7,
	[WC_THRIFT_STRING] = 8,
	[WC_THRIFT_LIST] = 9,
	[WC_THRIFT_SET] = 10,
	[WC_THRIFT_MAP] = 11,
	[WC_THRIFT_STRUCT] = 12
};

WcThriftType
wc_thrift_type_of_compact(uint8_t number)
{
	static const uint8_t types[WC_THRIFT_COMPACT_TYPES] = {
		WC_THRIFT_STOP, WC_THRIFT_BOOL, WC_THRIFT_BOOL, WC_THRIFT_BYTE, WC_THRIFT_I16, WC_THRIFT_I32, WC_THRIFT_I64,
		WC_THRIFT_DOUBLE, WC_THRIFT_STRING, WC_THRIFT_LIST, WC_THRIFT_SET, WC_THRIFT_MAP, WC_THRIFT_STRUCT
	};

	return number < WC_THRIFT_COMPACT_TYPES ? types[number] : WC_THRIFT_STOP;
}

bool
wc_thrift_type_is_known(uint8_t type)
{
	return type < WC_THRIFT_TYPES && compact_types[type] != 0;
}

void
wc_thrift_writer(WcThriftWriter *w, WcBuf *out, WcThriftProtocol protocol, WcThriftTransport transport)
{
	memset(w, 0, sizeof(*w));
	w->out = out;
	w->protocol = protocol;
	w->transport = transport;
}

static inline bool
is_compact(const WcThriftWriter *w)
{
	return w->protocol == WC_THRIFT_COMPACT;
}

static inline uint64_t
zigzag(int64_t v)
{
	return ((uint64_t) v << 1) ^ (uint64_t) (v >> 63);
}

/* --- bare values ----------------------------------------------------------*/

void
wc_thrift_i32(WcThriftWriter *w, int32_t value)
{
	if (is_compact(w))
		wc_buf_append_varint(w->out, zigzag(value));
	else
		wc_buf_append_u32(w->out, (uint32_t) value);
}

/* A length or a number of elements. */
static void
put_size(WcThriftWriter *w, size_t n)
{
	if (is_compact(w))
		wc_buf_append_varint(w->out, n);
	else
		wc_buf_append_u32(w->out, (uint32_t) n);
}

void
wc_thrift_bytes(WcThriftWriter *w, WcSlice value)
{
	put_size(w, value.len);
	wc_buf_append_slice(w->out, value);
}

/* --- structs and messages --------------------------------------------------*/

void
wc_thrift_begin_struct(WcThriftWriter *w)
{
	if (w->depth == WC_THRIFT_DEPTH_MAX)
		w->out->failed = true;
	else
		w->last[w->depth++] = 0;
}

void
wc_thrift_end_struct(WcThriftWriter *w)
{
	wc_buf_append_u8(w->out, WC_THRIFT_STOP);
	if (w->depth > 0)
		w->depth--;
}

void
wc_thrift_begin_message(WcThriftWriter *w, WcThriftMessageType type, const char *method, int32_t number)
{
	WcSlice		name = wc_slice_cstr(method);

	w->depth = 0;
	w->frame = w->out->len;
	if (w->transport == WC_THRIFT_FRAMED)
		wc_buf_append_u32(w->out, 0);
	if (is_compact(w))
	{
		wc_buf_append_u8(w->out, WC_THRIFT_COMPACT_ID);
		wc_buf_append_u8(w->out, (uint8_t) (type << 5 | WC_THRIFT_COMPACT_VERSION));
		wc_buf_append_varint(w->out, (uint32_t) number);
		wc_thrift_bytes(w, name);
	}
	else
	{
		wc_buf_append_u32(w->out, WC_THRIFT_BINARY_VERSION | type);
		wc_thrift_bytes(w, name);
		wc_buf_append_u32(w->out, (uint32_t) number);
	}
	wc_thrift_begin_struct(w);
}

void
wc_thrift_end_message(WcThriftWriter *w)
{
	wc_thrift_end_struct(w);
	if (w->transport == WC_THRIFT_FRAMED && !w->out->failed)
		wc_store_u32(w->out->data + w->frame, (uint32_t) (w->out->len - w->frame - 4));
}

/* --- fields ---------------------------------------------------------------*/

/* number: of the type in the compact protocol. */
static void
compact_head(WcThriftWriter *w, int16_t id, uint8_t number)
{
	int16_t    *last = &w->last[w->depth > 0 ? w->depth - 1 : 0];
	int			step = id - *last;

	if (step > 0 && step <= 15)
		wc_buf_append_u8(w->out, (uint8_t) (step << 4 | number));
	else
	{
		wc_buf_append_u8(w->out, number);
		wc_buf_append_varint(w->out, zigzag(id));
	}
	*last = id;
}

static void
field(WcThriftWriter *w, int16_t id, WcThriftType type)
{
	if (is_compact(w))
	{
		compact_head(w, id, compact_types[type]);
		return;
	}
	wc_buf_append_u8(w->out, (uint8_t) type);
	wc_buf_append_u16(w->out, (uint16_t) id);
}

void
wc_thrift_field_bool(WcThriftWriter *w, int16_t id, bool value)
{
	if (is_compact(w))
	{
		compact_head(w, id, value ? WC_THRIFT_COMPACT_TRUE : WC_THRIFT_COMPACT_FALSE);
		return;
	}
	field(w, id, WC_THRIFT_BOOL);
	wc_buf_append_u8(w->out, value);
}

void
wc_thrift_field_byte(WcThriftWriter *w, int16_t id, int8_t value)
{
	field(w, id, WC_THRIFT_BYTE);
	wc_buf_append_u8(w->out, (uint8_t) value);
}

void
wc_thrift_field_i16(WcThriftWriter *w, int16_t id, int16_t value)
{
	field(w, id, WC_THRIFT_I16);
	if (is_compact(w))
		wc_buf_append_varint(w->out, zigzag(value));
	else
		wc_buf_append_u16(w->out, (uint16_t) value);
}

void
wc_thrift_field_i32(WcThriftWriter *w, int16_t id, int32_t value)
{
	field(w, id, WC_THRIFT_I32);
	wc_thrift_i32(w, value);
}

void
wc_thrift_field_i64(WcThriftWriter *w, int16_t id, int64_t value)
{
	field(w, id, WC_THRIFT_I64);
	if (is_compact(w))
		wc_buf_append_varint(w->out, zigzag(value));
	else
		wc_buf_append_u64(w->out, (uint64_t) value);
}

void
wc_thrift_field_bytes(WcThriftWriter *w, int16_t id, WcSlice value)
{
	field(w, id, WC_THRIFT_STRING);
	wc_thrift_bytes(w, value);
}

void
wc_thrift_field_struct(WcThriftWriter *w, int16_t id)
{
	field(w, id, WC_THRIFT_STRUCT);
	wc_thrift_begin_struct(w);
}

void
wc_thrift_field_list(WcThriftWriter *w, int16_t id, WcThriftType type, uint32_t n)
{
	field(w, id, WC_THRIFT_LIST);
	if (!is_compact(w))
	{
		wc_buf_append_u8(w->out, (uint8_t) type);
		wc_buf_append_u32(w->out, n);
		return;
	}
	wc_buf_append_u8(w->out, (uint8_t) ((n < 15 ? n : 15) << 4 | compact_types[type]));
	if (n >= 15)
		wc_buf_append_varint(w->out, n);
}

void
wc_thrift_field_map(WcThriftWriter *w, int16_t id, WcThriftType key, WcThriftType value, uint32_t n)
{
	field(w, id, WC_THRIFT_MAP);
	if (!is_compact(w))
	{
		wc_buf_append_u8(w->out, (uint8_t) key);
		wc_buf_append_u8(w->out, (uint8_t) value);
		wc_buf_append_u32(w->out, n);
		return;
	}
	wc_buf_append_varint(w->out, n);
	if (n > 0)
		wc_buf_append_u8(w->out, (uint8_t) (compact_types[key] << 4 | compact_types[value]));
}

void
wc_thrift_field_raw(WcThriftWriter *w, int16_t id, WcThriftType type, WcSlice value)
{
	field(w, id, type);
	wc_buf_append_slice(w->out, value);
}
