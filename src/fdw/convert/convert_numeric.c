/*
 * fdw/convert/convert_numeric.c: numeric, `ordered` and `binary`.
 *
 * PostgreSQL keeps the inside of numeric to itself, so both ways go through its
 * text: digits in, digits out.  Small numbers in cells are made of an int64.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "fdw/convert/convert_internal.h"
#include "rowkey/ordered.h"

/* More unscaled bytes than any numeric needs: 131072 digits before the point and 16383 after it are 61,233
 * bytes. */
#define UNSCALED_MAX 61440

#define LIMB_BASE 1000000000
#define LIMB_DIGITS 9

/* --- ordered ------------------------------------------------------------------ */

/*
 * Takes a plain decimal apart: sign, digits without leading and trailing zeros
 * (in place, s is overwritten), and the exponent of 0.ddd.
 */
static void
take_apart(char *s, WcNumeric *n)
{
	char	   *to;
	char	   *digits;
	int			before = 0;		/* digits before the point */
	bool		point = false;
	size_t		zeros = 0;

	n->class_ = WC_NUMERIC_FINITE;
	n->negative = *s == '-';
	if (n->negative)
		s++;
	digits = to = s;
	for (; *s != '\0'; s++)
	{
		if (*s == '.')
			point = true;
		else
		{
			before += !point;
			*to++ = *s;
		}
	}
	n->ndigits = to - digits;
	while (zeros < n->ndigits && digits[zeros] == '0')
		zeros++;
	n->digits = digits + zeros;
	n->ndigits -= zeros;
	n->exponent = before - (int) zeros;
	while (n->ndigits > 0 && n->digits[n->ndigits - 1] == '0')
		n->ndigits--;
	if (n->ndigits == 0)
	{
		n->exponent = 0;
		n->negative = false;
	}
}

static void
encode_ordered(WcCodec *codec, Datum value, WcBuf *out)
{
	Numeric		num = DatumGetNumeric(value);
	WcNumeric	n = {WC_NUMERIC_FINITE, false, 0, NULL, 0};
	char	   *s = NULL;

	if (numeric_is_nan(num))
		n.class_ = WC_NUMERIC_NAN;
	else
	{
		s = numeric_normalize(num);
		if (numeric_is_inf(num))
			n.class_ = *s == '-' ? WC_NUMERIC_MINUS_INFINITY : WC_NUMERIC_INFINITY;
		else
			take_apart(s, &n);
	}
	wc_ordered_append_numeric(out, &n);
	if (s != NULL)
		pfree(s);
}

static bool
decode_ordered(WcCodec *codec, WcSlice bytes, Datum *value)
{
	WcBuf		digits = WC_BUF_INIT;
	WcNumeric	n;
	char	   *s = NULL;
	bool		ok;

	ok = wc_ordered_read_numeric(bytes, &digits, &n);
	if (ok)
	{
		switch (n.class_)
		{
			case WC_NUMERIC_MINUS_INFINITY:
				s = pstrdup("-Infinity");
				break;
			case WC_NUMERIC_INFINITY:
				s = pstrdup("Infinity");
				break;
			case WC_NUMERIC_NAN:
				s = pstrdup("NaN");
				break;
			case WC_NUMERIC_FINITE:
				s = n.ndigits == 0 ? pstrdup("0") :
					psprintf("%s0.%.*se%d", n.negative ? "-" : "", (int) n.ndigits, n.digits, n.exponent);
				break;
		}
	}
	wc_buf_free(&digits);
	return ok && wc_codec_parse(codec, s, value);
}

/* --- binary: BigDecimal --------------------------------------------------------
 *
 * int32 scale, then the unscaled value in two's complement with no more bytes
 * than it needs, as BigInteger.toByteArray gives it.
 */

/* The number that ndigits decimal digits are, as big-endian bytes; *nbytes of
 * them without leading zeros (none for zero). */
static uint8 *
bytes_of_digits(const char *digits, size_t ndigits, size_t *nbytes)
{
	size_t		room = ndigits * 5 / 12 + 4;	/* log(10) / log(256) is 0.41525 */
	size_t		nwords = room / 4 + 1;
	uint32	   *words = palloc0(nwords * sizeof(uint32));	/* least significant first */
	size_t		used = 0;
	uint8	   *bytes;
	size_t		n = 0;

	for (size_t i = 0; i < ndigits;)
	{
		uint64		carry = 0;
		uint32		scale = 1;

		do
		{
			carry = carry * 10 + (digits[i++] - '0');
			scale *= 10;
		} while (i < ndigits && scale < LIMB_BASE);
		for (size_t w = 0; w < used; w++)
		{
			carry += (uint64) words[w] * scale;
			words[w] = (uint32) carry;
			carry >>= 32;
		}
		if (carry > 0)
			words[used++] = (uint32) carry;
	}
	bytes = palloc(used * 4 + 1);
	for (size_t w = used; w-- > 0;)
	{
		wc_store_u32(bytes + n, words[w]);
		n += 4;
	}
	pfree(words);
	*nbytes = n;
	while (*nbytes > 0 && bytes[n - *nbytes] == 0)
		(*nbytes)--;
	memmove(bytes, bytes + n - *nbytes, *nbytes);
	return bytes;
}

/* Two's complement of a magnitude, with a sign byte where the sign needs one. */
static void
append_signed(WcBuf *out, const uint8 *bytes, size_t nbytes, bool negative)
{
	bool		power = nbytes > 0 && bytes[0] == 0x80;	/* -0x80 00 .. 00 fits without */
	uint8	   *p;
	size_t		extra;

	for (size_t i = 1; power && i < nbytes; i++)
		power = bytes[i] == 0;
	extra = nbytes == 0 || ((bytes[0] & 0x80) != 0 && !(negative && power)) ? 1 : 0;
	p = wc_buf_reserve(out, nbytes + extra);
	if (p == NULL)
		return;
	if (extra)
		p[0] = 0;
	memcpy(p + extra, bytes, nbytes);
	if (negative)
	{
		size_t		i = nbytes + extra;

		wc_ordered_invert(p, i);
		while (i > 0 && ++p[--i] == 0)
			;
	}
	out->len += nbytes + extra;
}

static void
encode_binary(WcCodec *codec, Datum value, WcBuf *out)
{
	Numeric		num = DatumGetNumeric(value);
	char	   *s;
	char	   *digits;
	char	   *to;
	size_t		scale = 0;
	bool		negative;
	bool		point = false;
	uint8	   *bytes;
	size_t		nbytes;

	if (numeric_is_nan(num) || numeric_is_inf(num))
		wc_codec_refuse(codec, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
						numeric_is_nan(num) ? "NaN" : "an infinite number");

	/* equal values have equal bytes in a key: there without trailing zeros */
	s = codec->spec.as_key ? numeric_normalize(num) :
		DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(num)));
	negative = *s == '-';
	digits = to = s + negative;
	for (char *p = digits; *p != '\0'; p++)
	{
		if (*p == '.')
			point = true;
		else
		{
			scale += point;
			*to++ = *p;
		}
	}
	bytes = bytes_of_digits(digits, to - digits, &nbytes);
	wc_buf_append_u32(out, (uint32) scale);
	append_signed(out, bytes, nbytes, negative && nbytes > 0);
	pfree(bytes);
	pfree(s);
}

/* The decimal digits of a big-endian magnitude, zero-terminated. */
static char *
digits_of_bytes(const uint8 *bytes, size_t nbytes, bool negative)
{
	size_t		nwords = nbytes / 4 + 1;
	uint32	   *words = palloc0(nwords * sizeof(uint32));	/* most significant first */
	size_t		first = 0;
	size_t		size = nbytes * 5 / 2 + LIMB_DIGITS + 2;	/* log(256) / log(10) is 2.408 */
	char	   *s = palloc(size);
	char	   *p = s + size - 1;

	for (size_t i = 0; i < nbytes; i++)
	{
		size_t		at = nwords * 4 - nbytes + i;

		words[at / 4] |= (uint32) bytes[i] << (8 * (3 - at % 4));
	}
	if (negative)
	{
		/* missing bytes on the left are sign extension */
		for (size_t at = 0; at < nwords * 4 - nbytes; at++)
			words[at / 4] |= (uint32) 0xFF << (8 * (3 - at % 4));
		for (size_t w = 0; w < nwords; w++)
			words[w] = ~words[w];
		for (size_t w = nwords; w-- > 0;)
		{
			if (++words[w] != 0)
				break;
		}
	}
	*p = '\0';
	for (;;)
	{
		uint64		rest = 0;

		while (first < nwords && words[first] == 0)
			first++;
		if (first == nwords)
			break;
		for (size_t w = first; w < nwords; w++)
		{
			rest = (rest << 32) | words[w];
			words[w] = (uint32) (rest / LIMB_BASE);
			rest %= LIMB_BASE;
		}
		for (int i = 0; i < LIMB_DIGITS; i++)
		{
			*--p = (char) ('0' + rest % 10);
			rest /= 10;
		}
	}
	pfree(words);
	while (*p == '0')
		p++;
	if (*p == '\0')
		*--p = '0';
	if (negative)
		*--p = '-';
	memmove(s, p, s + size - p);
	return s;
}

/* Does the number need its first byte? */
static bool
is_minimal(const uint8 *bytes, size_t nbytes)
{
	return nbytes == 1 || (bytes[0] != 0 && bytes[0] != 0xFF) || ((bytes[0] ^ bytes[1]) & 0x80) != 0;
}

/* At most 8 bytes, as a number in two's complement. */
static int64
signed_of_bytes(const uint8 *bytes, size_t nbytes)
{
	uint64		number = (bytes[0] & 0x80) != 0 ? PG_UINT64_MAX : 0;

	for (size_t i = 0; i < nbytes; i++)
		number = number << 8 | bytes[i];
	return (int64) number;
}

static bool
decode_binary(WcCodec *codec, WcSlice bytes, Datum *value)
{
	int32		scale;
	char	   *digits;
	char	   *s;
	size_t		len;
	bool		ok;

	if (bytes.len < 5 || bytes.len - 4 > UNSCALED_MAX)
		return false;
	scale = (int32) wc_load_u32(bytes.data);
	if (!codec->spec.as_key && bytes.len - 4 <= sizeof(int64) &&
		wc_small_numeric(signed_of_bytes(bytes.data + 4, bytes.len - 4), scale, scale, codec->spec.typmod, value))
		return true;
	digits = digits_of_bytes(bytes.data + 4, bytes.len - 4, (bytes.data[4] & 0x80) != 0);
	len = strlen(digits);

	/*
	 * Only one form of a number is ever written to a key, and a reader that took
	 * another one for it would see rows that no condition finds.
	 */
	if (codec->spec.as_key &&
		(scale < 0 || (scale > 0 && digits[len - 1] == '0') || !is_minimal(bytes.data + 4, bytes.len - 4)))
	{
		pfree(digits);
		return false;
	}
	s = psprintf("%se%lld", digits, -(long long) scale);
	ok = wc_codec_parse(codec, s, value);
	pfree(s);
	pfree(digits);
	return ok;
}

void
wc_numeric_init(WcCodec *codec)
{
	bool		ordered = codec->spec.encoding == WC_ENCODING_ORDERED;

	codec->encode = ordered ? encode_ordered : encode_binary;
	codec->decode = ordered ? decode_ordered : decode_binary;
	codec->order = ordered ? WC_ORDER_BYTES : WC_ORDER_NONE;
	codec->equality_safe = ordered || codec->spec.as_key;
	codec->equality_exact = codec->equality_safe;
	codec->expected = ordered ? "an ordered number" : "4 bytes of scale and an unscaled number";
}
