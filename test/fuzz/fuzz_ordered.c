/*
 * test/fuzz/fuzz_ordered.c: bytes whose order is that of the values (rowkey/ordered.h).
 *
 * The first byte is the kind, the second tells whether descending; the rest are the bytes.
 */
#include "fuzz.h"
#include "rowkey/ordered.h"

static bool
recode_numeric(WcSlice in, WcBuf *out)
{
	WcBuf		digits = WC_BUF_INIT;
	WcNumeric	v;
	bool		good = wc_ordered_read_numeric(in, &digits, &v);
	bool		plain = wc_ordered_is_plain_numeric(in);

	if (good)
	{
		HOLDS(v.ndigits == 0 || (v.digits[0] != '0' && v.digits[v.ndigits - 1] != '0'));
		HOLDS(plain == (v.ndigits == 0 || (v.exponent >= -100 && v.exponent <= 100)));
		wc_ordered_append_numeric(out, &v);
	}
	else
		HOLDS(!plain);
	wc_buf_free(&digits);
	return good;
}

static bool
recode_escaped(WcSlice in, bool desc, WcBuf *out)
{
	WcBuf		content = WC_BUF_INIT;
	size_t		used;
	bool		good = wc_ordered_read_escaped(in, desc, &content, &used);

	if (good)
	{
		HOLDS(used <= in.len && content.len + 2 <= used);
		wc_ordered_append_escaped(out, wc_buf_slice(&content), desc, true);
		wc_buf_append(out, in.data + used, in.len - used);
	}
	wc_buf_free(&content);
	return good;
}

static bool
recode_float(WcSlice in, WcBuf *out)
{
	uint8_t		bytes[8];
	float		f;
	double		d;

	if (in.len == 4 && wc_ordered_load_f32(in.data, &f))
		wc_ordered_store_f32(bytes, f);
	else if (in.len == 8 && wc_ordered_load_f64(in.data, &d))
		wc_ordered_store_f64(bytes, d);
	else
		return false;
	wc_buf_append(out, bytes, in.len);
	return true;
}

static bool
recode(WcSlice in, WcBuf *out)
{
	WcSlice		bytes;

	if (in.len < 2)
		return false;
	bytes = wc_slice(in.data + 2, in.len - 2);
	wc_buf_append(out, in.data, 2);
	switch (in.data[0])
	{
		case 0:
			return recode_numeric(bytes, out);
		case 1:
			return recode_escaped(bytes, in.data[1] != 0, out);
		case 2:
			return recode_float(bytes, out);
		default:
			return false;
	}
}

FUZZ_TARGET(ordered)
{
	wc_fuzz_recode(in, recode, true);
}
