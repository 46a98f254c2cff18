/*
 * test/fuzz/fuzz_filterkey.c: keys of values that a filter compares (wc_filter_key).
 *
 * The input is form, width, most, scale, a byte each; a length; a value so long; another value.
 */
#include "fuzz.h"
#include "model/filter.h"

#include <math.h>
#include <stdlib.h>

/* Digits that a double has for sure. */
#define DOUBLE_DIGITS 15

/* A number that a double holds exactly enough to be compared; false: too many digits. */
static bool
number_of(const WcFilterColumn *column, WcSlice value, double *number)
{
	char		text[DOUBLE_DIGITS + 3];
	uint32_t	f;
	int64_t		i = 0;

	switch (column->form)
	{
		case WC_FORM_SIGNED:
			for (size_t k = 0; k < value.len; k++)
				i = (int64_t) ((uint64_t) i << 8 | value.data[k]);
			i = (int64_t) ((uint64_t) i << (64 - 8 * value.len)) >> (64 - 8 * value.len);
			*number = (double) i;
			return i > INT64_MIN >> 11 && i < INT64_MAX >> 11;
		case WC_FORM_FLOAT:
			if (value.len == 4)
			{
				float		single;

				f = wc_load_u32(value.data);
				memcpy(&single, &f, 4);
				*number = single;
			}
			else
			{
				uint64_t	image = wc_load_u64(value.data);

				memcpy(number, &image, 8);
			}
			return true;
		case WC_FORM_DECIMAL:
			if (value.len > DOUBLE_DIGITS)
				return false;
			memcpy(text, value.data, value.len);
			text[value.len] = '\0';
			*number = strtod(text, NULL);
			return true;
		default:
			return false;
	}
}

/* As SQL compares: NaN are equal, and greatest. */
static int
number_cmp(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a > b) - (a < b);
}

static int
sign_of(int c)
{
	return (c > 0) - (c < 0);
}

static bool
key_of(const WcFilterColumn *column, WcSlice value, uint8_t *scratch, WcSlice *key)
{
	if (!wc_filter_key(column, value, scratch, key))
		return false;
	HOLDS(key->len <= WC_FILTER_KEY_MAX || key->len <= value.len);
	wc_fuzz_touch(*key);
	return true;
}

FUZZ_TARGET(filterkey)
{
	WcDecoder	d = wc_decoder(in);
	WcFilterColumn column = {.form = wc_decode_u8(&d)};
	WcFilter	filter = {.ncolumns = 1,.columns = &column,.nnodes = 1};
	WcFilterNode node = {.kind = WC_FILTER_UNKNOWN};
	uint8_t		scratch_a[WC_FILTER_KEY_MAX];
	uint8_t		scratch_b[WC_FILTER_KEY_MAX];
	WcSlice		a,
				b,
				key_a,
				key_b;
	double		number_a,
				number_b;

	column.width = wc_decode_u8(&d);
	column.most = wc_decode_u8(&d);
	column.scale = wc_decode_u8(&d);
	a = wc_decode_bytes(&d);
	b = wc_decode_raw(&d, wc_decoder_left(&d));
	filter.nodes = &node;
	if (d.failed || wc_filter_check(&filter, 1, NULL) != WC_OK)
		return;
	a = wc_fuzz_copy(a);
	b = wc_fuzz_copy(b);
	if (key_of(&column, a, scratch_a, &key_a) && key_of(&column, b, scratch_b, &key_b) &&
		number_of(&column, a, &number_a) && number_of(&column, b, &number_b))
		HOLDS(sign_of(wc_slice_cmp(key_a, key_b)) == number_cmp(number_a, number_b));
	wc_fuzz_free(a);
	wc_fuzz_free(b);
}
