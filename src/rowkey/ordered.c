/*
 * rowkey/ordered.c: bytes whose order is the order of the values.
 */
#include "rowkey/ordered.h"

#define SIGN32 UINT32_C(0x80000000)
#define SIGN64 UINT64_C(0x8000000000000000)
#define NAN32 UINT32_C(0x7FC00000)
#define NAN64 UINT64_C(0x7FF8000000000000)
#define INF32 UINT32_C(0x7F800000)
#define INF64 UINT64_C(0x7FF0000000000000)

void
wc_ordered_store_bool(uint8_t *p, bool v)
{
	*p = v ? 1 : 0;
}

bool
wc_ordered_load_bool(const uint8_t *p, bool *v)
{
	if (*p > 1)
		return false;
	*v = *p == 1;
	return true;
}

/*
 * Positive floats get their sign bit set, negative ones are inverted: then
 * unsigned order is numeric order, and the positive NaN is the greatest.
 */
void
wc_ordered_store_f32(uint8_t *p, float v)
{
	uint32_t	bits;

	memcpy(&bits, &v, 4);
	if (v != v)
		bits = NAN32;
	else if (v == 0)
		bits = 0;
	wc_store_u32(p, (bits & SIGN32) ? ~bits : bits | SIGN32);
}

void
wc_ordered_store_f64(uint8_t *p, double v)
{
	uint64_t	bits;

	memcpy(&bits, &v, 8);
	if (v != v)
		bits = NAN64;
	else if (v == 0)
		bits = 0;
	wc_store_u64(p, (bits & SIGN64) ? ~bits : bits | SIGN64);
}

bool
wc_ordered_load_f32(const uint8_t *p, float *v)
{
	uint32_t	bits = wc_load_u32(p);

	bits = (bits & SIGN32) ? bits ^ SIGN32 : ~bits;
	if (bits == SIGN32 || ((bits & ~SIGN32) > INF32 && bits != NAN32))
		return false;
	memcpy(v, &bits, 4);
	return true;
}

bool
wc_ordered_load_f64(const uint8_t *p, double *v)
{
	uint64_t	bits = wc_load_u64(p);

	bits = (bits & SIGN64) ? bits ^ SIGN64 : ~bits;
	if (bits == SIGN64 || ((bits & ~SIGN64) > INF64 && bits != NAN64))
		return false;
	memcpy(v, &bits, 8);
	return true;
}

void
wc_ordered_invert(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t) ~p[i];
}

void
wc_ordered_append_escaped(WcBuf *out, WcSlice s, bool desc, bool terminate)
{
	size_t		zeros = 0;
	size_t		n;
	uint8_t    *p;
	uint8_t    *start;

	for (size_t i = 0; i < s.len; i++)
		zeros += s.data[i] == 0;
	n = s.len + zeros + (terminate ? 2 : 0);
	start = p = wc_buf_reserve(out, n);
	if (p == NULL)
		return;
	if (zeros == 0 && s.len > 0)
	{
		memcpy(p, s.data, s.len);
		p += s.len;
	}
	else
	{
		for (size_t i = 0; i < s.len; i++)
		{
			*p++ = s.data[i];
			if (s.data[i] == 0)
				*p++ = 0xFF;
		}
	}
	if (terminate)
	{
		*p++ = 0;
		*p++ = 0;
	}
	if (desc)
		wc_ordered_invert(start, n);
	out->len += n;
}

bool
wc_ordered_read_escaped(WcSlice in, bool desc, WcBuf *out, size_t *used)
{
	uint8_t		flip = desc ? 0xFF : 0;
	const uint8_t *p = in.data;
	const uint8_t *end = in.data + in.len;
	size_t		before = out->len;

	while (p < end)
	{
		const uint8_t *zero = memchr(p, flip, (size_t) (end - p));
		size_t		run;

		if (zero == NULL || end - zero < 2)
			break;
		run = (size_t) (zero - p);
		wc_buf_append(out, p, run);
		if (out->failed)
			break;
		if (desc)
			wc_ordered_invert(out->data + out->len - run, run);
		p = zero + 2;
		if ((zero[1] ^ flip) == 0)
		{
			*used = (size_t) (p - in.data);
			return true;
		}
		if ((zero[1] ^ flip) != 0xFF)
			break;
		wc_buf_append_u8(out, 0);
		if (out->failed)
			break;
	}
	if (!out->failed)
		out->len = before;
	return false;
}

/*
 * numeric.  A class byte; in finite numbers other than zero the exponent and pairs of digits follow, ended by
 * END; in negative ones all bytes after the class byte are inverted.
 */
enum
{
	CLASS_MINUS_INFINITY = 0x10,
	CLASS_NEGATIVE = 0x20,
	CLASS_ZERO = 0x30,
	CLASS_POSITIVE = 0x40,
	CLASS_INFINITY = 0x50,
	CLASS_NAN = 0x60
};

#define END				0x01
#define PAIR_BASE		0x02	/* a pair's byte is its value plus this */
#define EXPONENT_ZERO	0x80
#define EXPONENT_SHORT	100		/* up to so far from 0 an exponent is one byte */
#define EXPONENT_LOW	0x01	/* else one of these and four more */
#define EXPONENT_HIGH	0xFE

static uint8_t *
store_exponent(uint8_t *p, int32_t exponent)
{
	if (exponent >= -EXPONENT_SHORT && exponent <= EXPONENT_SHORT)
	{
		*p++ = (uint8_t) (EXPONENT_ZERO + exponent);
		return p;
	}
	*p++ = exponent < 0 ? EXPONENT_LOW : EXPONENT_HIGH;
	wc_ordered_store_i32(p, exponent);
	return p + 4;
}

static void
append_finite(WcBuf *out, const WcNumeric *v)
{
	size_t		most = 1 + 5 + (v->ndigits + 1) / 2 + 1;
	uint8_t    *start = wc_buf_reserve(out, most);
	uint8_t    *p = start;

	if (start == NULL)
		return;
	*p++ = v->negative ? CLASS_NEGATIVE : CLASS_POSITIVE;
	p = store_exponent(p, v->exponent);
	for (size_t i = 0; i < v->ndigits; i += 2)
	{
		int			pair = (v->digits[i] - '0') * 10;

		if (i + 1 < v->ndigits)
			pair += v->digits[i + 1] - '0';
		*p++ = (uint8_t) (pair + PAIR_BASE);
	}
	*p++ = END;
	if (v->negative)
		wc_ordered_invert(start + 1, (size_t) (p - start) - 1);
	out->len += (size_t) (p - start);
}

void
wc_ordered_append_numeric(WcBuf *out, const WcNumeric *v)
{
	switch (v->class_)
	{
		case WC_NUMERIC_MINUS_INFINITY:
			wc_buf_append_u8(out, CLASS_MINUS_INFINITY);
			break;
		case WC_NUMERIC_INFINITY:
			wc_buf_append_u8(out, CLASS_INFINITY);
			break;
		case WC_NUMERIC_NAN:
			wc_buf_append_u8(out, CLASS_NAN);
			break;
		case WC_NUMERIC_FINITE:
			if (v->ndigits == 0)
				wc_buf_append_u8(out, CLASS_ZERO);
			else
				append_finite(out, v);
			break;
	}
}

/* Reads the exponent at in[*pos]; flip is 0xFF in negative numbers. */
static bool
load_exponent(WcSlice in, size_t *pos, uint8_t flip, int32_t *exponent)
{
	uint8_t		first;
	uint8_t		raw[4];

	if (*pos >= in.len)
		return false;
	first = in.data[(*pos)++] ^ flip;
	if (first >= EXPONENT_ZERO - EXPONENT_SHORT && first <= EXPONENT_ZERO + EXPONENT_SHORT)
	{
		*exponent = (int32_t) first - EXPONENT_ZERO;
		return true;
	}
	if ((first != EXPONENT_LOW && first != EXPONENT_HIGH) || in.len - *pos < 4)
		return false;
	for (int i = 0; i < 4; i++)
		raw[i] = in.data[(*pos)++] ^ flip;
	*exponent = wc_ordered_load_i32(raw);
	return first == EXPONENT_LOW ? *exponent < -EXPONENT_SHORT : *exponent > EXPONENT_SHORT;
}

static bool
read_finite(WcSlice in, WcBuf *digits, WcNumeric *v)
{
	uint8_t		flip = v->negative ? 0xFF : 0;
	size_t		pos = 1;
	size_t		npairs;
	size_t		ndigits;
	uint8_t    *p;

	if (!load_exponent(in, &pos, flip, &v->exponent) || in.len - pos < 2 ||
		(in.data[in.len - 1] ^ flip) != END)
		return false;
	npairs = in.len - pos - 1;
	p = wc_buf_reserve(digits, npairs * 2);
	if (p == NULL)
		return false;
	for (size_t i = 0; i < npairs; i++)
	{
		int			pair = (in.data[pos + i] ^ flip) - PAIR_BASE;

		if (pair < 0 || pair > 99)
			return false;
		p[i * 2] = (uint8_t) ('0' + pair / 10);
		p[i * 2 + 1] = (uint8_t) ('0' + pair % 10);
	}
	ndigits = npairs * 2;
	if (p[0] == '0')
		return false;
	if (p[ndigits - 1] == '0')
		ndigits--;
	if (p[ndigits - 1] == '0')
		return false;
	v->digits = (const char *) p;
	v->ndigits = ndigits;
	digits->len += ndigits;
	return true;
}

bool
wc_ordered_read_numeric(WcSlice in, WcBuf *digits, WcNumeric *v)
{
	WcNumeric	n = {WC_NUMERIC_FINITE, false, 0, NULL, 0};

	if (in.len == 0)
		return false;
	switch (in.data[0])
	{
		case CLASS_MINUS_INFINITY:
			n.class_ = WC_NUMERIC_MINUS_INFINITY;
			break;
		case CLASS_INFINITY:
			n.class_ = WC_NUMERIC_INFINITY;
			break;
		case CLASS_NAN:
			n.class_ = WC_NUMERIC_NAN;
			break;
		case CLASS_ZERO:
			break;
		case CLASS_NEGATIVE:
		case CLASS_POSITIVE:
			n.negative = in.data[0] == CLASS_NEGATIVE;
			if (!read_finite(in, digits, &n))
				return false;
			*v = n;
			return true;
		default:
			return false;
	}
	if (in.len != 1)
		return false;
	*v = n;
	return true;
}

bool
wc_ordered_is_plain_numeric(WcSlice in)
{
	uint8_t		flip = in.len > 0 && in.data[0] == CLASS_NEGATIVE ? 0xFF : 0;
	uint8_t		exponent;

	if (in.len == 1)
		return in.data[0] == CLASS_MINUS_INFINITY || in.data[0] == CLASS_ZERO || in.data[0] == CLASS_INFINITY ||
			in.data[0] == CLASS_NAN;
	if (in.len < 4 || (in.data[0] != CLASS_NEGATIVE && in.data[0] != CLASS_POSITIVE) || (in.data[in.len - 1] ^ flip) != END)
		return false;
	exponent = in.data[1] ^ flip;
	if (exponent < EXPONENT_ZERO - EXPONENT_SHORT || exponent > EXPONENT_ZERO + EXPONENT_SHORT)
		return false;
	for (size_t i = 2; i < in.len - 1; i++)
	{
		int			pair = (in.data[i] ^ flip) - PAIR_BASE;

		/* no zeros in front, none behind */
		if (pair < (i == 2 ? 10 : 0) || pair > 99 || (pair == 0 && i == in.len - 2))
			return false;
	}
	return true;
}
