/*
 * engine/rocks/cellkey.c: packing "cell" as bytes.
 */
#include "engine/rocks/cellkey.h"

#include "base/coding.h"

#define ESCAPE			0x00
#define ESCAPED_ZERO	0xff	/* 00 FF: a zero byte */
#define TERMINATOR		0x01	/* 00 01: the end */
#define TERMINATOR_BYTES	2
#define BEHIND			0x02	/* 00 02: behind everything that ends here, before what goes on */

/* s with its zero bytes escaped, then 00 and last; room must be there. */
static uint8_t *
store_escaped(uint8_t *p, WcSlice s, uint8_t last)
{
	if (s.len > 0 && memchr(s.data, 0, s.len) == NULL)
	{
		memcpy(p, s.data, s.len);
		p += s.len;
	}
	else
	{
		for (size_t i = 0; i < s.len; i++)
		{
			*p++ = s.data[i];
			if (s.data[i] == ESCAPE)
				*p++ = ESCAPED_ZERO;
		}
	}
	*p++ = ESCAPE;
	*p++ = last;
	return p;
}

static inline size_t
escaped_max(WcSlice s)
{
	return 2 * s.len + 2;
}

void
wc_cellkey_append(WcBuf *out, WcSlice row, WcSlice qualifier, int64_t ts, uint8_t type)
{
	uint8_t    *p = wc_buf_reserve(out, escaped_max(row) + escaped_max(qualifier) + WC_CELLKEY_SUFFIX);
	uint8_t    *q = p;

	if (p == NULL)
		return;
	q = store_escaped(q, row, TERMINATOR);
	q = store_escaped(q, qualifier, TERMINATOR);
	wc_store_u64(q, ~(uint64_t) ts);
	q[8] = (uint8_t) ~type;
	out->len += (size_t) (q + WC_CELLKEY_SUFFIX - p);
}

void
wc_cellkey_append_cell(WcBuf *out, const WcCell *cell)
{
	wc_cellkey_append(out, cell->row, cell->qualifier, cell->ts, cell->type);
}

static void
append_escaped(WcBuf *out, WcSlice s, uint8_t last)
{
	uint8_t    *p = wc_buf_reserve(out, escaped_max(s));

	if (p != NULL)
		out->len += (size_t) (store_escaped(p, s, last) - p);
}

void
wc_cellkey_append_row(WcBuf *out, WcSlice row)
{
	append_escaped(out, row, TERMINATOR);
}

void
wc_cellkey_append_row_end(WcBuf *out, WcSlice row)
{
	append_escaped(out, row, BEHIND);
}

void
wc_cellkey_end_of_prefix(WcBuf *prefix)
{
	prefix->data[prefix->len - 1] = BEHIND;
}

void
wc_cellkey_append_column(WcBuf *out, WcSlice row, WcSlice qualifier)
{
	append_escaped(out, row, TERMINATOR);
	append_escaped(out, qualifier, TERMINATOR);
}

void
wc_cellkey_append_column_end(WcBuf *out, WcSlice row, WcSlice qualifier)
{
	append_escaped(out, row, TERMINATOR);
	append_escaped(out, qualifier, BEHIND);
}

void
wc_cellvalue_append(WcBuf *out, const WcCell *cell)
{
	uint8_t    *p = wc_buf_reserve(out, 1 + WC_VARINT_MAX + 8 + cell->value.len);
	uint8_t    *q = p;
	uint8_t		flags = 0;

	if (p == NULL)
		return;
	q++;
	if (cell->ttl_us > 0)
	{
		flags |= WC_CELLVALUE_TTL;
		q = wc_store_varint(q, (uint64_t) cell->ttl_us);
	}
	if (cell->seq != cell->ts)
	{
		flags |= WC_CELLVALUE_WRITTEN_AT;
		wc_store_u64(q, (uint64_t) cell->seq);
		q += 8;
	}
	if (cell->value.len > 0)
		memcpy(q, cell->value.data, cell->value.len);
	*p = flags;
	out->len += (size_t) (q + cell->value.len - p);
}

/*
 * The length of s up to and with its first terminator, 0 when there is none (or
 * what follows an escape is neither).  *escaped says whether zero bytes are in it.
 */
static size_t
terminated(WcSlice s, bool *escaped)
{
	const uint8_t *end = s.data + s.len;

	*escaped = false;
	for (const uint8_t *p = s.data; p != end; p++)
	{
		/* integers have many zero bytes in turn */
		if (*p != ESCAPE)
			p = memchr(p, ESCAPE, (size_t) (end - p));
		if (p == NULL || ++p == end)
			return 0;
		if (*p == TERMINATOR)
			return (size_t) (p + 1 - s.data);
		if (*p != ESCAPED_ZERO)
			return 0;
		*escaped = true;
	}
	return 0;
}

size_t
wc_cellkey_row_prefix(WcSlice key)
{
	bool		escaped;

	return terminated(key, &escaped);
}

bool
wc_cellkey_is_head(WcSlice key)
{
	return key.len > 0 && wc_cellkey_row_prefix(key) == key.len;
}

size_t
wc_cellkey_column_prefix(WcSlice key)
{
	bool		escaped;
	size_t		row = terminated(key, &escaped);
	size_t		column = 0;

	if (row > 0 && row == key.len)
		return row;
	if (row > 0)
		column = terminated(wc_slice(key.data + row, key.len - row), &escaped);
	return column > 0 ? row + column : 0;
}

/* Unescapes s (with its terminator) to p, returns the end. */
static uint8_t *
unescape(uint8_t *p, WcSlice s)
{
	for (size_t i = 0; i + 2 < s.len; i++)
	{
		*p++ = s.data[i];
		if (s.data[i] == ESCAPE)
			i++;
	}
	return p;
}

WcStatus
wc_cellkey_row(WcSlice key, WcBuf *out, WcError *err)
{
	size_t		len = wc_cellkey_row_prefix(key);
	uint8_t    *p;

	if (len == 0 && key.len >= 2 && key.data[key.len - 2] == ESCAPE && key.data[key.len - 1] == BEHIND)
		len = key.len;
	if (len == 0)
		return wc_error(err, WC_CORRUPT, "a stored key is damaged");
	p = wc_buf_reserve(out, len);
	if (p == NULL)
		return wc_buf_status(out, "row key", err);
	out->len += (size_t) (unescape(p, wc_slice(key.data, len)) - p);
	return WC_OK;
}

/* So many first bytes are the same in both, of n at most. */
static size_t
count_common(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t		i = 0;

	while (i + 8 <= n && wc_bytes_eq_short(a + i, b + i, 8))
		i += 8;
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

WcStatus
wc_cellkey_take_row(WcTakenRow *taken, WcSlice key, WcError *err)
{
	WcBuf	   *prefix = &taken->prefix;
	WcStatus	status = WC_OK;
	size_t		known = prefix->len > TERMINATOR_BYTES ? prefix->len - TERMINATOR_BYTES : 0;
	size_t		escapes = known - taken->row.len;
	size_t		same = count_common(prefix->data, key.data, known < key.len ? known : key.len);
	const uint8_t *p;
	const uint8_t *end = key.data + key.len;
	uint8_t    *out;

	/* the same row: the memory of prefix and row does not move */
	if (known > 0 && same == known && wc_slice_starts_with(key, wc_buf_slice(prefix)))
		return WC_OK;

	/* prefix keeps its first `same` bytes, and row the bytes that these stand for; but if an escaped byte of prefix is not among them,
	 * prefix and row are made anew */
	if (same < taken->escapes_end)
		same = 0;
	prefix->len = same;
	taken->row.len = same > 0 ? same - escapes : 0;
	taken->escapes_end = same > 0 ? taken->escapes_end : 0;
	out = wc_buf_reserve(&taken->row, key.len - same);
	if (out == NULL || wc_buf_reserve(prefix, key.len - same) == NULL)
		status = wc_buf_status(out == NULL ? &taken->row : prefix, "row key", err);
	for (p = key.data + same; status == WC_OK && end - p >= TERMINATOR_BYTES; p++)
	{
		if (*p == ESCAPE && p[1] != ESCAPED_ZERO)
			break;
		*out++ = *p;
		if (*p == ESCAPE)
			taken->escapes_end = (size_t) (++p + 1 - key.data);
	}
	if (status == WC_OK && (end - p < TERMINATOR_BYTES || p[1] != TERMINATOR))
		status = wc_error(err, WC_CORRUPT, "a stored key of %zu bytes is damaged", key.len);
	if (status != WC_OK)
	{
		prefix->len = taken->row.len = taken->escapes_end = 0;
		return status;
	}
	p += TERMINATOR_BYTES;
	wc_slice_copy(prefix->data + same, wc_slice(key.data + same, (size_t) (p - key.data) - same));
	prefix->len = (size_t) (p - key.data);
	taken->row.len = (size_t) (out - taken->row.data);
	return WC_OK;
}

void
wc_cellkey_forget_row(WcTakenRow *taken)
{
	wc_buf_free(&taken->prefix);
	wc_buf_free(&taken->row);
	taken->escapes_end = 0;
}

WcStatus
wc_cellkey_unescape(WcSlice prefix, WcBuf *out, WcError *err)
{
	bool		escaped;
	uint8_t    *p;

	if (prefix.len == 0 || terminated(prefix, &escaped) != prefix.len)
		return wc_error(err, WC_CORRUPT, "a stored key is damaged");
	p = wc_buf_reserve(out, prefix.len);
	if (p == NULL)
		return wc_buf_status(out, "row key", err);
	out->len += (size_t) (unescape(p, prefix) - p);
	return WC_OK;
}

/* A terminated part of a key as a slice: of the key itself or, unescaped, of
 * scratch, where room must be. */
static WcSlice
take_part(const uint8_t *data, size_t len, bool escaped, WcBuf *scratch)
{
	uint8_t    *p;
	uint8_t    *end;

	if (!escaped)
		return wc_slice(data, len - 2);
	p = scratch->data + scratch->len;
	end = unescape(p, wc_slice(data, len));
	scratch->len += (size_t) (end - p);
	return wc_slice(p, (size_t) (end - p));
}

static bool
take_suffix(const uint8_t *p, WcCell *cell)
{
	uint64_t	ts = ~wc_load_u64(p);

	cell->ts = (int64_t) ts;
	cell->type = (uint8_t) ~p[8];
	return ts <= INT64_MAX && wc_cell_type_valid(cell->type);
}

static WcStatus
damaged_key(WcError *err)
{
	return wc_error(err, WC_CORRUPT, "a stored key is damaged");
}

WcStatus
wc_cellkey_decode(WcSlice key, WcBuf *scratch, WcCell *cell, WcError *err)
{
	bool		row_escaped;
	bool		qual_escaped = false;
	size_t		row = terminated(key, &row_escaped);
	size_t		qual = 0;

	if (row > 0)
		qual = terminated(wc_slice(key.data + row, key.len - row), &qual_escaped);
	if (qual == 0 || row + qual + WC_CELLKEY_SUFFIX != key.len ||
		!take_suffix(key.data + row + qual, cell))
		return damaged_key(err);
	if (row_escaped || qual_escaped)
	{
		scratch->len = 0;
		if (wc_buf_reserve(scratch, key.len) == NULL)
			return wc_buf_status(scratch, "row key", err);
	}
	cell->row = take_part(key.data, row, row_escaped, scratch);
	cell->qualifier = take_part(key.data + row, qual, qual_escaped, scratch);
	return WC_OK;
}

WcStatus
wc_cellkey_decode_rest(WcSlice rest, WcBuf *scratch, WcCell *cell, WcError *err)
{
	bool		escaped;
	size_t		qual = terminated(rest, &escaped);

	if (qual == 0 || qual + WC_CELLKEY_SUFFIX != rest.len || !take_suffix(rest.data + qual, cell))
		return damaged_key(err);
	if (escaped)
	{
		scratch->len = 0;
		if (wc_buf_reserve(scratch, rest.len) == NULL)
			return wc_buf_status(scratch, "row key", err);
	}
	cell->qualifier = take_part(rest.data, qual, escaped, scratch);
	return WC_OK;
}

WcStatus
wc_cellvalue_decode(WcSlice bytes, WcCell *cell, WcError *err)
{
	WcDecoder	d = wc_decoder(bytes);
	uint8_t		flags = wc_decode_u8(&d);

	cell->ttl_us = 0;
	cell->seq = cell->ts;
	if (flags != 0)
	{
		if (flags & WC_CELLVALUE_TTL)
			cell->ttl_us = (int64_t) wc_decode_varint_max(&d, INT64_MAX);
		if (flags & WC_CELLVALUE_WRITTEN_AT)
			cell->seq = (int64_t) wc_decode_u64(&d);
		if ((flags & ~(WC_CELLVALUE_TTL | WC_CELLVALUE_WRITTEN_AT)) != 0 || cell->seq < 0)
			wc_decoder_fail(&d);
	}
	if (d.failed)
		return wc_error(err, WC_CORRUPT, "a stored value is damaged");
	cell->value = wc_slice(d.p, wc_decoder_left(&d));
	return WC_OK;
}
