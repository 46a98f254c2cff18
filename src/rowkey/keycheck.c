/*
 * rowkey/keycheck.c: can this foreign table read that row key?
 */
#include "rowkey/keycheck.h"

#include "base/limits.h"
#include "rowkey/ordered.h"

/* The fewest bytes a part takes, encoded. */
#define PART_MIN (6 + 1 + 8 + 8)

void
wc_keycheck_encode(WcBuf *out, const WcKeyCheck *check)
{
	const WcSalt *salt = &check->layout.salt;

	wc_buf_append_bytes(out, check->layout.delimiter);
	wc_buf_append_varint(out, salt->buckets);
	wc_buf_append_u8(out, salt->kind);
	wc_buf_append_u8(out, salt->twos_complement ? 1 : 0);
	wc_buf_append_u64(out, (uint64_t) salt->per_minute);
	wc_buf_append_varint(out, check->layout.nparts);
	for (uint32_t i = 0; i < check->layout.nparts; i++)
	{
		const WcPartShape *shape = &check->layout.parts[i];
		const WcContentCheck *content = &check->contents[i];

		wc_buf_append_u8(out, shape->kind);
		wc_buf_append_u8(out, shape->order);
		wc_buf_append_u8(out, shape->desc ? 1 : 0);
		wc_buf_append_u8(out, shape->padded ? 1 : 0);
		wc_buf_append_u8(out, salt->buckets > 0 && salt->parts[i] ? 1 : 0);
		wc_buf_append_varint(out, shape->length);
		wc_buf_append_u8(out, content->kind);
		wc_buf_append_u64(out, (uint64_t) content->min);
		wc_buf_append_u64(out, (uint64_t) content->max);
	}
}

static bool
content_valid(const WcPartShape *shape, const WcContentCheck *content)
{
	switch (content->kind)
	{
		case WC_CONTENT_ANY:
		case WC_CONTENT_TEXT:
		case WC_CONTENT_NUMERIC:
			return true;
		case WC_CONTENT_TIME:
			return shape->kind == WC_PART_FIXED && shape->length == 8;
		case WC_CONTENT_BOOL:
			return shape->kind == WC_PART_FIXED && shape->length == 1;
		case WC_CONTENT_INTEGER:
		case WC_CONTENT_FLOAT:
			return shape->kind == WC_PART_FIXED && (shape->length == 4 || shape->length == 8);
		default:
			return false;
	}
}

static void
salt_decode(WcDecoder *d, WcSalt *salt)
{
	salt->buckets = (uint32_t) wc_decode_varint_max(d, WC_SALT_BUCKETS_MAX);
	salt->kind = wc_decode_u8(d);
	salt->twos_complement = wc_decode_bool(d);
	salt->per_minute = (int64_t) wc_decode_u64(d);
	if (salt->buckets > 0 && (salt->kind > WC_SALT_MINUTE || (salt->kind == WC_SALT_MINUTE && salt->per_minute <= 0)))
		wc_decoder_fail(d);
}

WcStatus
wc_keycheck_decode(WcSlice in, WcArena *arena, WcKeyCheck *check, WcError *err)
{
	WcDecoder	d = wc_decoder(in);
	WcPartShape *shapes;
	WcContentCheck *contents;
	bool	   *salting;
	size_t		n;

	memset(check, 0, sizeof(*check));
	check->layout.delimiter = wc_decode_bytes(&d);
	salt_decode(&d, &check->layout.salt);
	n = wc_decode_count(&d, WC_COLUMNS_MAX, PART_MIN);
	shapes = wc_arena_alloc_zero(arena, (n + 1) * sizeof(WcPartShape));
	contents = wc_arena_alloc_zero(arena, (n + 1) * sizeof(WcContentCheck));
	salting = wc_arena_alloc_zero(arena, (n + 1) * sizeof(bool));
	if (shapes == NULL || contents == NULL || salting == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for the parts of a row key");
	check->layout.nparts = (uint32_t) n;
	check->layout.parts = shapes;
	check->layout.salt.parts = salting;
	check->contents = contents;
	for (size_t i = 0; i < n; i++)
	{
		shapes[i].kind = wc_decode_u8(&d);
		shapes[i].order = wc_decode_u8(&d);
		shapes[i].desc = wc_decode_bool(&d);
		shapes[i].padded = wc_decode_bool(&d);
		salting[i] = wc_decode_bool(&d);
		if (salting[i] && check->layout.salt.buckets == 0)
			wc_decoder_fail(&d);
		shapes[i].length = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
		contents[i].kind = wc_decode_u8(&d);
		contents[i].min = (int64_t) wc_decode_u64(&d);
		contents[i].max = (int64_t) wc_decode_u64(&d);
		if (!content_valid(&shapes[i], &contents[i]))
			wc_decoder_fail(&d);
	}
	if (!wc_decoder_done(&d) || (n > 0 && wc_rowkey_layout_check(&check->layout, NULL) != WC_OK))
		return wc_error(err, WC_CORRUPT, "a message makes no sense: parts of a row key");
	return WC_OK;
}

/* --- contents ------------------------------------------------------------------- */

/* Bytes of the character at p, of which n are left; 0: none is there. */
static size_t
character(const uint8_t *p, size_t n)
{
	size_t		len;

	if (p[0] < 0x80)
		return p[0] != 0 ? 1 : 0;
	len = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
	if (p[0] < 0xC2 || p[0] > 0xF4 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
	{
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	}

	/* longer than need be, surrogates, beyond the last */
	if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
		(p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
		return 0;
	return len;
}

static bool
is_text(WcSlice s)
{
	size_t		at = 0;

	while (at < s.len)
	{
		size_t		n = character(s.data + at, s.len - at);

		if (n == 0)
			return false;
		at += n;
	}
	return true;
}

static bool
is_integer(const WcContentCheck *check, WcSlice content)
{
	int64_t		v = content.len == 4 ? wc_ordered_load_i32(content.data) : wc_ordered_load_i64(content.data);

	if (v >= check->min && v <= check->max)
		return true;
	return content.len == 4 ? v == INT32_MIN || v == INT32_MAX : v == INT64_MIN || v == INT64_MAX;
}

static bool
is_float(WcSlice content)
{
	float		f;
	double		d;

	return content.len == 4 ? wc_ordered_load_f32(content.data, &f) : wc_ordered_load_f64(content.data, &d);
}

static bool
is_time(const WcPartShape *shape, const WcContentCheck *check, WcSlice content)
{
	int64_t		ms = shape->desc ? wc_ordered_load_i64(content.data) : (int64_t) wc_load_u64(content.data);

	return ms >= check->min && ms <= check->max;
}

static bool
content_reads(const WcPartShape *shape, const WcContentCheck *check, WcSlice content)
{
	bool		yes;

	/* padding was taken off */
	if (check->kind > WC_CONTENT_TEXT && check->kind != WC_CONTENT_NUMERIC && content.len != shape->length)
		return false;
	switch (check->kind)
	{
		case WC_CONTENT_TEXT:
			return content.len <= (uint64_t) check->max && is_text(content);
		case WC_CONTENT_BOOL:
			return wc_ordered_load_bool(content.data, &yes);
		case WC_CONTENT_INTEGER:
			return is_integer(check, content);
		case WC_CONTENT_FLOAT:
			return is_float(content);
		case WC_CONTENT_TIME:
			return is_time(shape, check, content);
		case WC_CONTENT_NUMERIC:
			return content.len <= (uint64_t) check->max && wc_ordered_is_plain_numeric(content);
		default:
			return true;
	}
}

bool
wc_keycheck_reads(const WcKeyCheck *check, WcSlice row, WcBuf *scratch, WcSlice *parts)
{
	WcError		err;

	if (check->layout.nparts == 0)
		return true;
	if (wc_rowkey_split(&check->layout, row, scratch, parts, &err) != WC_OK)
		return false;
	for (uint32_t i = 0; i < check->layout.nparts; i++)
	{
		if (!content_reads(&check->layout.parts[i], &check->contents[i], parts[i]))
			return false;
	}
	return true;
}
