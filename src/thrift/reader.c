/*
 * thrift/reader.c: reads Thrift values from a complete message.
 */
#include "thrift/reader.h"

static inline bool
is_compact(const WcThriftReader *r)
{
	return r->protocol == WC_THRIFT_COMPACT;
}

static void
fail(WcThriftReader *r)
{
	wc_decoder_fail(&r->d);
}

static inline int64_t
unzigzag(uint64_t v)
{
	return (int64_t) (v >> 1) ^ -(int64_t) (v & 1);
}

/* --- bare values ----------------------------------------------------------*/

/* A zigzag varint in [min, max]. */
static int64_t
compact_number(WcThriftReader *r, int64_t min, int64_t max)
{
	int64_t		v = unzigzag(wc_decode_varint(&r->d));

	if (v >= min && v <= max)
		return v;
	fail(r);
	return 0;
}

static int16_t
bare_i16(WcThriftReader *r)
{
	return (int16_t) (is_compact(r) ? compact_number(r, INT16_MIN, INT16_MAX) : (int16_t) wc_decode_u16(&r->d));
}

static int32_t
bare_i32(WcThriftReader *r)
{
	return (int32_t) (is_compact(r) ? compact_number(r, INT32_MIN, INT32_MAX) : (int32_t) wc_decode_u32(&r->d));
}

static int64_t
bare_i64(WcThriftReader *r)
{
	return is_compact(r) ? unzigzag(wc_decode_varint(&r->d)) : (int64_t) wc_decode_u64(&r->d);
}

/* A length, or a number of elements that take at least a byte each: at most the number of bytes left. */
static uint32_t
size(WcThriftReader *r)
{
	uint64_t	n = is_compact(r) ? wc_decode_varint(&r->d) : wc_decode_u32(&r->d);

	if (n <= wc_decoder_left(&r->d) && n <= INT32_MAX)
		return (uint32_t) n;
	fail(r);
	return 0;
}

WcSlice
wc_thrift_element_bytes(WcThriftReader *r)
{
	uint32_t	n = size(r);

	return wc_decode_raw(&r->d, n);
}

void
wc_thrift_element_struct(WcThriftReader *r)
{
	if (r->depth == WC_THRIFT_DEPTH_MAX)
		fail(r);
	else
		r->last[r->depth++] = 0;
}

/* --- messages and fields ---------------------------------------------------*/

void
wc_thrift_reader(WcThriftReader *r, WcThriftProtocol protocol, WcSlice message, WcThriftHead *head)
{
	memset(r, 0, sizeof(*r));
	memset(head, 0, sizeof(*head));
	r->d = wc_decoder(message);
	r->protocol = protocol;
	if (is_compact(r))
	{
		uint8_t		id = wc_decode_u8(&r->d);
		uint8_t		type = wc_decode_u8(&r->d);

		if (id != WC_THRIFT_COMPACT_ID || (type & 0x1f) != WC_THRIFT_COMPACT_VERSION)
			fail(r);
		head->type = (WcThriftMessageType) (type >> 5);
		head->number = (int32_t) wc_decode_varint_max(&r->d, UINT32_MAX);
		head->method = wc_thrift_element_bytes(r);
	}
	else
	{
		uint32_t	version = wc_decode_u32(&r->d);

		if ((version & 0xffffff00u) != WC_THRIFT_BINARY_VERSION)
			fail(r);
		head->type = (WcThriftMessageType) (version & 0xff);
		head->method = wc_thrift_element_bytes(r);
		head->number = (int32_t) wc_decode_u32(&r->d);
	}
	wc_thrift_element_struct(r);
}

static void
binary_field(WcThriftReader *r, uint8_t type, WcThriftField *f)
{
	f->type = (WcThriftType) type;
	f->id = (int16_t) wc_decode_u16(&r->d);
}

static void
compact_field(WcThriftReader *r, uint8_t head, WcThriftField *f)
{
	int16_t    *last = &r->last[r->depth - 1];
	uint8_t		number = head & 15;
	int			id;

	if (head >> 4)
		id = *last + (head >> 4);
	else
		id = bare_i16(r);
	if (id > INT16_MAX)
	{
		fail(r);
		id = 0;
	}
	*last = f->id = (int16_t) id;
	f->type = wc_thrift_type_of_compact(number);
	r->field_is_true = number == WC_THRIFT_COMPACT_TRUE;
}

bool
wc_thrift_next_field(WcThriftReader *r, WcThriftField *f)
{
	uint8_t		head = wc_decode_u8(&r->d);

	f->type = WC_THRIFT_STOP;
	f->id = 0;
	if (r->d.failed || r->depth == 0)
		return false;
	if (head == WC_THRIFT_STOP)
	{
		r->depth--;
		return false;
	}
	if (is_compact(r))
		compact_field(r, head, f);
	else
		binary_field(r, head, f);
	if (!wc_thrift_type_is_known((uint8_t) f->type))
		fail(r);
	return !r->d.failed;
}

static inline void
expect(WcThriftReader *r, WcThriftField f, WcThriftType type)
{
	if (f.type != type)
		fail(r);
}

bool
wc_thrift_read_bool(WcThriftReader *r, WcThriftField f)
{
	expect(r, f, WC_THRIFT_BOOL);
	return is_compact(r) ? r->field_is_true && !r->d.failed : wc_decode_bool(&r->d);
}

int8_t
wc_thrift_read_byte(WcThriftReader *r, WcThriftField f)
{
	expect(r, f, WC_THRIFT_BYTE);
	return (int8_t) wc_decode_u8(&r->d);
}

int32_t
wc_thrift_read_i32(WcThriftReader *r, WcThriftField f)
{
	expect(r, f, WC_THRIFT_I32);
	return bare_i32(r);
}

int64_t
wc_thrift_read_i64(WcThriftReader *r, WcThriftField f)
{
	expect(r, f, WC_THRIFT_I64);
	return bare_i64(r);
}

WcSlice
wc_thrift_read_bytes(WcThriftReader *r, WcThriftField f)
{
	expect(r, f, WC_THRIFT_STRING);
	return wc_thrift_element_bytes(r);
}

void
wc_thrift_read_struct(WcThriftReader *r, WcThriftField f)
{
	expect(r, f, WC_THRIFT_STRUCT);
	wc_thrift_element_struct(r);
}

/* --- lists ----------------------------------------------------------------*/

/* A list's or set's head. */
static uint32_t
list_head(WcThriftReader *r, uint8_t *type)
{
	uint8_t		head = wc_decode_u8(&r->d);

	if (!is_compact(r))
	{
		*type = head;
		return size(r);
	}
	*type = (uint8_t) wc_thrift_type_of_compact(head & 15);
	if (head >> 4 == 15)
		return size(r);
	if (wc_decoder_left(&r->d) < head >> 4)
		fail(r);
	return r->d.failed ? 0 : head >> 4;
}

uint32_t
wc_thrift_read_list(WcThriftReader *r, WcThriftField f, WcThriftType type)
{
	uint8_t		found;
	uint32_t	n;

	expect(r, f, WC_THRIFT_LIST);
	n = list_head(r, &found);
	if (n > 0 && found != type)
		fail(r);
	return r->d.failed ? 0 : n;
}

/* --- skipping values --------------------------------------------------------*/

static void skip_value(WcThriftReader *r, uint8_t type, bool in_list, uint32_t depth);

static void
skip_map(WcThriftReader *r, uint32_t depth)
{
	uint8_t		key = 0;
	uint8_t		value = 0;
	uint32_t	n;

	if (is_compact(r))
	{
		n = size(r);
		if (n > 0)
		{
			uint8_t		types = wc_decode_u8(&r->d);

			key = (uint8_t) wc_thrift_type_of_compact(types >> 4);
			value = (uint8_t) wc_thrift_type_of_compact(types & 15);
		}
	}
	else
	{
		key = wc_decode_u8(&r->d);
		value = wc_decode_u8(&r->d);
		n = size(r);
	}
	for (uint32_t i = 0; i < n && !r->d.failed; i++)
	{
		skip_value(r, key, true, depth);
		skip_value(r, value, true, depth);
	}
}

/* depth: the number of values around this one. */
static void
skip_value(WcThriftReader *r, uint8_t type, bool in_list, uint32_t depth)
{
	WcThriftField f;
	uint8_t		element;
	uint32_t	n;

	if (depth == WC_THRIFT_DEPTH_MAX)
	{
		fail(r);
		return;
	}
	switch (type)
	{
		case WC_THRIFT_BOOL:
			if (!is_compact(r) || in_list)
				(void) wc_decode_u8(&r->d);
			break;
		case WC_THRIFT_BYTE:
			(void) wc_decode_u8(&r->d);
			break;
		case WC_THRIFT_I16:
			(void) bare_i16(r);
			break;
		case WC_THRIFT_I32:
			(void) bare_i32(r);
			break;
		case WC_THRIFT_I64:
			(void) bare_i64(r);
			break;
		case WC_THRIFT_DOUBLE:
			(void) wc_decode_raw(&r->d, 8);
			break;
		case WC_THRIFT_STRING:
			(void) wc_thrift_element_bytes(r);
			break;
		case WC_THRIFT_STRUCT:
			wc_thrift_element_struct(r);
			while (wc_thrift_next_field(r, &f))
				skip_value(r, (uint8_t) f.type, false, depth + 1);
			break;
		case WC_THRIFT_LIST:
		case WC_THRIFT_SET:
			n = list_head(r, &element);
			for (uint32_t i = 0; i < n && !r->d.failed; i++)
				skip_value(r, element, true, depth + 1);
			break;
		case WC_THRIFT_MAP:
			skip_map(r, depth + 1);
			break;
		default:
			fail(r);
			break;
	}
}

void
wc_thrift_skip(WcThriftReader *r, WcThriftField f)
{
	skip_value(r, (uint8_t) f.type, false, 0);
}

WcSlice
wc_thrift_read_raw(WcThriftReader *r, WcThriftField f)
{
	const uint8_t *begin = r->d.p;

	wc_thrift_skip(r, f);
	return r->d.failed ? wc_slice(NULL, 0) : wc_slice(begin, (size_t) (r->d.p - begin));
}

void
wc_thrift_reader_of_struct(WcThriftReader *r, WcThriftProtocol protocol, WcSlice fields)
{
	memset(r, 0, sizeof(*r));
	r->d = wc_decoder(fields);
	r->protocol = protocol;
	wc_thrift_element_struct(r);
}
