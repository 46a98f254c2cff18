/*
 * thrift/incoming.c: finds the end of a message that arrives in pieces.
 */
#include "thrift/incoming.h"

#include "base/coding.h"

void
wc_thrift_incoming(WcThriftIncoming *in, WcThriftProtocol protocol, WcThriftTransport transport, uint64_t max)
{
	memset(in, 0, sizeof(*in));
	in->protocol = protocol;
	in->transport = transport;
	in->max = max;
}

static WcStatus
too_large(const WcThriftIncoming *in, uint64_t size, WcError *err)
{
	wc_error(err, WC_TOO_LARGE, "answer is too large");
	wc_error_detail(err, "It has %llu bytes or more, the limit is %llu.", (unsigned long long) size,
					(unsigned long long) in->max);
	return WC_TOO_LARGE;
}

static WcStatus
senseless(WcError *err)
{
	return wc_error(err, WC_CORRUPT, "answer is not what Thrift's protocol says");
}

/* --- framed ---------------------------------------------------------------*/

static WcStatus
framed(WcThriftIncoming *in, WcSlice have, WcSlice *message, size_t *used, WcError *err)
{
	uint32_t	length;

	if (have.len < 4)
		return WC_END;
	length = wc_load_u32(have.data);
	if (length > in->max)
		return too_large(in, length, err);
	if (have.len - 4 < length)
		return WC_END;
	*message = wc_slice(have.data + 4, length);
	*used = 4 + (size_t) length;
	return WC_OK;
}

/* --- tokens ---------------------------------------------------------------
 * The token at `at`.  Each function returns false while the token is incomplete; `at` is not moved then.
 */
typedef struct Cursor
{
	const uint8_t *p;
	const uint8_t *end;
	bool		bad;
} Cursor;

static bool
get_u8(Cursor *c, uint8_t *v)
{
	if (c->p == c->end)
		return false;
	*v = *c->p++;
	return true;
}

static bool
get_varint(Cursor *c, uint64_t *v)
{
	*v = 0;
	for (unsigned shift = 0; shift < 70; shift += 7)
	{
		uint8_t		b;

		if (!get_u8(c, &b))
			return false;
		*v |= shift < 64 ? (uint64_t) (b & 0x7f) << shift : 0;
		if (b < 0x80)
			return true;
	}
	c->bad = true;
	return true;
}

static bool
get_u32(Cursor *c, uint64_t *v)
{
	if (c->end - c->p < 4)
		return false;
	*v = wc_load_u32(c->p);
	c->p += 4;
	return true;
}

static inline bool
is_compact(const WcThriftIncoming *in)
{
	return in->protocol == WC_THRIFT_COMPACT;
}

/* A length, or a number of elements. */
static bool
get_size(const WcThriftIncoming *in, Cursor *c, uint64_t *v)
{
	if (!(is_compact(in) ? get_varint(c, v) : get_u32(c, v)))
		return false;
	c->bad |= *v > INT32_MAX;
	return true;
}

/* Passes over n bytes, some of which may not have arrived yet. */
static void
pass(Cursor *c, uint64_t n, uint64_t *beyond)
{
	uint64_t	there = (uint64_t) (c->end - c->p);

	if (n <= there)
		c->p += n;
	else
	{
		*beyond = n - there;
		c->p = c->end;
	}
}

static void
open_level(WcThriftIncoming *in, Cursor *c, WcIncomingKind kind, uint8_t type, uint8_t second, uint64_t left)
{
	if (in->depth == WC_THRIFT_DEPTH_MAX)
	{
		c->bad = true;
		return;
	}
	in->levels[in->depth++] = (WcIncomingLevel) {.kind = kind,.type = type,.second = second,.left = left};
}

/* --- values ---------------------------------------------------------------*/

static bool
get_list(WcThriftIncoming *in, Cursor *c)
{
	uint8_t		head;
	uint8_t		type;
	uint64_t	n;

	if (!get_u8(c, &head))
		return false;
	type = is_compact(in) ? (uint8_t) wc_thrift_type_of_compact(head & 15) : head;
	if (is_compact(in) && head >> 4 < 15)
		n = head >> 4;
	else if (!get_size(in, c, &n))
		return false;
	if (n > 0)
	{
		c->bad |= !wc_thrift_type_is_known(type);
		open_level(in, c, WC_INCOMING_VALUES, type, type, n);
	}
	return true;
}

static bool
get_map(WcThriftIncoming *in, Cursor *c)
{
	uint8_t		types[2] = {0, 0};
	uint8_t		both;
	uint64_t	n;

	if (!is_compact(in))
	{
		if (!get_u8(c, &types[0]) || !get_u8(c, &types[1]) || !get_size(in, c, &n))
			return false;
	}
	else
	{
		if (!get_size(in, c, &n))
			return false;
		if (n > 0)
		{
			if (!get_u8(c, &both))
				return false;
			types[0] = (uint8_t) wc_thrift_type_of_compact(both >> 4);
			types[1] = (uint8_t) wc_thrift_type_of_compact(both & 15);
		}
	}
	if (n > 0)
	{
		c->bad |= !wc_thrift_type_is_known(types[0]) || !wc_thrift_type_is_known(types[1]);
		open_level(in, c, WC_INCOMING_PAIRS, types[0], types[1], 2 * n);
	}
	return true;
}

static bool
get_bytes(const WcThriftIncoming *in, Cursor *c, uint64_t *beyond)
{
	uint64_t	n;

	if (!get_size(in, c, &n))
		return false;
	pass(c, n, beyond);
	return true;
}

/* A number of `width` bytes; in the compact protocol a varint. */
static bool
get_number(const WcThriftIncoming *in, Cursor *c, uint64_t width, uint64_t *beyond)
{
	uint64_t	v;

	if (is_compact(in))
		return get_varint(c, &v);
	pass(c, width, beyond);
	return true;
}

/* A value's bytes; of a struct, list or map only the head: its values are a new level. */
static bool
get_value(WcThriftIncoming *in, Cursor *c, uint8_t type, bool is_field, uint64_t *beyond)
{
	switch (type)
	{
		case WC_THRIFT_BOOL:
			if (!is_compact(in) || !is_field)
				pass(c, 1, beyond);
			return true;
		case WC_THRIFT_BYTE:
			pass(c, 1, beyond);
			return true;
		case WC_THRIFT_DOUBLE:
			pass(c, 8, beyond);
			return true;
		case WC_THRIFT_I16:
			return get_number(in, c, 2, beyond);
		case WC_THRIFT_I32:
			return get_number(in, c, 4, beyond);
		case WC_THRIFT_I64:
			return get_number(in, c, 8, beyond);
		case WC_THRIFT_STRING:
			return get_bytes(in, c, beyond);
		case WC_THRIFT_STRUCT:
			open_level(in, c, WC_INCOMING_STRUCT, 0, 0, 0);
			return true;
		case WC_THRIFT_LIST:
		case WC_THRIFT_SET:
			return get_list(in, c);
		case WC_THRIFT_MAP:
			return get_map(in, c);
		default:
			c->bad = true;
			return true;
	}
}

/* A field's head, then its value; or the struct's end. */
static bool
get_field(WcThriftIncoming *in, Cursor *c, uint64_t *beyond)
{
	uint8_t		head;
	uint64_t	id;

	if (!get_u8(c, &head))
		return false;
	if (head == WC_THRIFT_STOP)
	{
		in->depth--;
		return true;
	}
	if (!is_compact(in))
	{
		if (c->end - c->p < 2)
			return false;
		c->p += 2;
		return get_value(in, c, head, true, beyond);
	}
	if (head >> 4 == 0 && !get_varint(c, &id))
		return false;
	return get_value(in, c, (uint8_t) wc_thrift_type_of_compact(head & 15), true, beyond);
}

static bool
get_head(WcThriftIncoming *in, Cursor *c)
{
	uint64_t	v;
	uint64_t	none = 0;
	uint8_t		id;
	uint8_t		type;

	if (is_compact(in))
	{
		if (!get_u8(c, &id) || !get_u8(c, &type) || !get_varint(c, &v) || !get_bytes(in, c, &none) || none > 0)
			return false;
		c->bad |= id != WC_THRIFT_COMPACT_ID || (type & 0x1f) != WC_THRIFT_COMPACT_VERSION;
	}
	else
	{
		if (!get_u32(c, &v))
			return false;
		c->bad |= (v & 0xffffff00u) != WC_THRIFT_BINARY_VERSION;
		if (!c->bad && (!get_bytes(in, c, &none) || none > 0 || !get_u32(c, &v)))
			return false;
	}
	open_level(in, c, WC_INCOMING_STRUCT, 0, 0, 0);
	return true;
}

/* One step forward in the innermost level; false: its bytes have not arrived. */
static bool
step(WcThriftIncoming *in, Cursor *c, uint64_t *beyond)
{
	WcIncomingLevel *level;
	uint8_t		type;

	if (in->depth == 0)
		return get_head(in, c);
	level = &in->levels[in->depth - 1];
	if (level->kind == WC_INCOMING_STRUCT)
		return get_field(in, c, beyond);
	if (level->left == 0)
	{
		in->depth--;
		return true;
	}
	type = level->kind == WC_INCOMING_PAIRS && level->left % 2 == 1 ? level->second : level->type;
	if (!get_value(in, c, type, false, beyond))
		return false;
	level->left--;
	return true;
}

WcStatus
wc_thrift_arrived(WcThriftIncoming *in, WcSlice have, WcSlice *message, size_t *used, WcError *err)
{
	if (in->transport == WC_THRIFT_FRAMED)
		return framed(in, have, message, used, err);
	for (;;)
	{
		Cursor		c;
		uint64_t	beyond = 0;
		bool		begun = in->depth > 0;

		if (in->at > in->max)
			return too_large(in, in->at, err);
		if (in->at > have.len)
			return WC_END;
		c = (Cursor) {have.data + in->at, have.data + have.len, false};
		if (have.len == 0 || !step(in, &c, &beyond))
			return have.len > in->max ? too_large(in, have.len, err) : WC_END;
		if (c.bad)
			return senseless(err);
		in->at = (uint64_t) (c.p - have.data) + beyond;
		if (begun && in->depth == 0)
			break;
	}
	if (in->at > in->max)
		return too_large(in, in->at, err);
	*message = wc_slice(have.data, (size_t) in->at);
	*used = (size_t) in->at;
	in->at = 0;
	return WC_OK;
}
