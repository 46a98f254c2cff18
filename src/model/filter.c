/*
 * model/filter.c: filters: keys of values, rules, bytes.
 */
#include "model/filter.h"

#include "base/limits.h"

/* Least bytes of one encoded node or value: limits the memory that a corrupt count can ask for. */
#define COLUMN_BYTES_MIN	6
#define NODE_BYTES_MIN		1
#define VALUE_BYTES_MIN		1

/* --- keys: binary numbers ---------------------------------------------------- */

static bool
key_of_bool(WcSlice bytes, uint8_t *scratch, WcSlice *key)
{
	if (bytes.len != 1)
		return false;
	scratch[0] = bytes.data[0] != 0;
	*key = wc_slice(scratch, 1);
	return true;
}

static void
key_of_signed(WcSlice bytes, uint8_t *scratch, WcSlice *key)
{
	memcpy(scratch, bytes.data, bytes.len);
	scratch[0] ^= 0x80;
	*key = wc_slice(scratch, bytes.len);
}

static void
key_of_float(WcSlice bytes, uint8_t *scratch, WcSlice *key)
{
	int			bits = (int) bytes.len * 8;
	uint64_t	image = bits == 32 ? wc_load_u32(bytes.data) : wc_load_u64(bytes.data);
	uint64_t	sign = UINT64_C(1) << (bits - 1);
	uint64_t	infinity = bits == 32 ? UINT64_C(0x7F800000) : UINT64_C(0x7FF0000000000000);
	uint64_t	magnitude = image & (sign - 1);

	if (magnitude > infinity)
		image = sign | (sign - 1);
	else if (magnitude == 0)
		image = sign;
	else
		image = (image & sign) != 0 ? ~image : image | sign;
	if (bits == 32)
		wc_store_u32(scratch, (uint32_t) image);
	else
		wc_store_u64(scratch, image);
	*key = wc_slice(scratch, bytes.len);
}

/* --- keys: decimal numbers ---------------------------------------------------
 *
 * Sign (0 negative, 1 zero, 2 positive); where the point is: e + 128 of 0.ddd * 10^e;
 * the digits without zeros at either end.  Of negative ones the latter two are inverted and
 * FF stands at the end, so that of two the longer is the smaller.
 */
#define DECIMAL_DIGITS_MAX (WC_FILTER_KEY_MAX - 3)

static inline bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Digits in front of the first other character. */
static size_t
count_digits(WcSlice s)
{
	size_t		n = 0;

	while (n < s.len && is_digit(s.data[n]))
		n++;
	return n;
}

static inline WcSlice
behind(WcSlice s, size_t n)
{
	return wc_slice(s.data + n, s.len - n);
}

static bool
key_of_decimal(const WcFilterColumn *column, WcSlice s, uint8_t *scratch, WcSlice *key)
{
	bool		negative = s.len > 0 && s.data[0] == '-';
	WcSlice		whole;
	WcSlice		fraction = {NULL, 0};
	size_t		n = 0;
	int			exponent;

	if (negative)
		s = behind(s, 1);
	whole = wc_slice(s.data, count_digits(s));
	s = behind(s, whole.len);
	if (s.len > 0)
	{
		fraction = wc_slice(s.data + 1, s.len - 1);
		if (s.data[0] != '.' || fraction.len == 0 || count_digits(fraction) != fraction.len)
			return false;
	}
	if (whole.len == 0 || fraction.len > column->scale || whole.len + fraction.len > DECIMAL_DIGITS_MAX)
		return false;
	while (whole.len > 0 && whole.data[0] == '0')
		whole = behind(whole, 1);
	if (column->most > 0 && whole.len > column->most)
		return false;
	exponent = (int) whole.len;
	while (whole.len == 0 && fraction.len > 0 && fraction.data[0] == '0')
	{
		fraction = behind(fraction, 1);
		exponent--;
	}

	for (size_t i = 0; i < whole.len; i++)
		scratch[2 + n++] = whole.data[i];
	for (size_t i = 0; i < fraction.len; i++)
		scratch[2 + n++] = fraction.data[i];
	while (n > 0 && scratch[2 + n - 1] == '0')
		n--;
	scratch[0] = n == 0 ? 1 : negative ? 0 : 2;
	if (n == 0)
	{
		*key = wc_slice(scratch, 1);
		return true;
	}
	scratch[1] = (uint8_t) (exponent + 128);
	n += 2;
	for (size_t i = 1; negative && i < n; i++)
		scratch[i] = (uint8_t) ~scratch[i];
	if (negative)
		scratch[n++] = 0xFF;
	*key = wc_slice(scratch, n);
	return true;
}

/* --- keys: dates and timestamps -----------------------------------------------
 *
 * As they are, fractions of a second with all six digits.  "-infinity" is less and
 * "infinity" greater than any digit already.
 */
#define DATE_LEN 10
#define SECONDS_LEN 19

/* n digits at s, or -1. */
static int
take_number(const uint8_t *s, int n)
{
	int			v = 0;

	for (int i = 0; i < n; i++)
	{
		if (!is_digit(s[i]))
			return -1;
		v = v * 10 + (s[i] - '0');
	}
	return v;
}

static bool
is_date(const uint8_t *s)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int			year = take_number(s, 4);
	int			month = take_number(s + 5, 2);
	int			day = take_number(s + 8, 2);
	bool		leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return s[4] == '-' && s[7] == '-' && year >= 1 && month >= 1 && month <= 12 && day >= 1 &&
		day <= days[month - 1] + (month == 2 && leap);
}

static inline bool
is_in(const uint8_t *s, int last)
{
	int			v = take_number(s, 2);

	return v >= 0 && v <= last;
}

static bool
is_infinity(WcSlice s)
{
	return wc_slice_eq(s, wc_slice("infinity", 8)) || wc_slice_eq(s, wc_slice("-infinity", 9));
}

static bool
key_of_date(WcSlice s, WcSlice *key)
{
	*key = s;
	return is_infinity(s) || (s.len == DATE_LEN && is_date(s.data));
}

static bool
key_of_timestamp(WcSlice s, bool utc, uint8_t *scratch, WcSlice *key)
{
	size_t		n = SECONDS_LEN;

	if (is_infinity(s))
	{
		*key = s;
		return true;
	}
	if (utc && (s.len < 3 || memcmp(s.data + s.len - 3, "+00", 3) != 0))
		return false;
	s.len -= utc ? 3 : 0;
	if (s.len < SECONDS_LEN || s.len > SECONDS_LEN + 7 || s.len == SECONDS_LEN + 1 || !is_date(s.data) ||
		s.data[10] != ' ' || s.data[13] != ':' || s.data[16] != ':' ||
		!is_in(s.data + 11, 23) || !is_in(s.data + 14, 59) || !is_in(s.data + 17, 59))
		return false;
	memcpy(scratch, s.data, SECONDS_LEN);
	scratch[n++] = '.';
	if (s.len > SECONDS_LEN)
	{
		WcSlice		fraction = behind(s, SECONDS_LEN + 1);

		if (s.data[SECONDS_LEN] != '.' || count_digits(fraction) != fraction.len)
			return false;
		memcpy(scratch + n, fraction.data, fraction.len);
		n += fraction.len;
	}
	while (n < SECONDS_LEN + 7)
		scratch[n++] = '0';
	*key = wc_slice(scratch, n);
	return true;
}

/* --- keys ---------------------------------------------------------------------- */

bool
wc_filter_key(const WcFilterColumn *column, WcSlice bytes, uint8_t scratch[WC_FILTER_KEY_MAX], WcSlice *key)
{
	if (column->width > 0 && bytes.len != column->width)
		return false;
	if (column->most > 0 && column->form != WC_FORM_DECIMAL && bytes.len > column->most)
		return false;
	switch (column->form)
	{
		case WC_FORM_BYTES:
			*key = bytes;
			return true;
		case WC_FORM_TRIMMED:
			while (bytes.len > 0 && bytes.data[bytes.len - 1] == ' ')
				bytes.len--;
			*key = bytes;
			return true;
		case WC_FORM_BOOL:
			return key_of_bool(bytes, scratch, key);
		case WC_FORM_SIGNED:
		case WC_FORM_WRITTEN:
			key_of_signed(bytes, scratch, key);
			return true;
		case WC_FORM_FLOAT:
			key_of_float(bytes, scratch, key);
			return true;
		case WC_FORM_DECIMAL:
			return key_of_decimal(column, bytes, scratch, key);
		case WC_FORM_DATE:
			return key_of_date(bytes, key);
		case WC_FORM_TIMESTAMP:
			return key_of_timestamp(bytes, false, scratch, key);
		case WC_FORM_TIMESTAMPTZ:
			return key_of_timestamp(bytes, true, scratch, key);
		default:
			return false;
	}
}

/* --- rules ----------------------------------------------------------------------- */

WcStatus
wc_filter_column_check(const WcFilterColumn *c, uint32_t ncolumns, bool has_keys, WcError *err)
{
	if (c->in_key && !has_keys)
		return wc_error(err, WC_INVALID, "a filter looks at a row key that it does not know");
	if (!c->in_key && c->column >= ncolumns)
		return wc_error(err, WC_INVALID, "a filter looks at column %u of a scan of %u", c->column + 1, ncolumns);
	if (c->form > WC_FORM_LAST)
		return wc_error(err, WC_INVALID, "a filter looks at bytes of the unknown form %u", c->form);
	if ((c->form == WC_FORM_SIGNED && c->width != 2 && c->width != 4 && c->width != 8) ||
		(c->form == WC_FORM_WRITTEN && (c->width != 8 || c->in_key)) ||
		(c->form == WC_FORM_FLOAT && c->width != 4 && c->width != 8))
		return wc_error(err, WC_INVALID, "a filter looks at numbers of %u bytes", c->width);
	return WC_OK;
}

/* Of the subtree at *at, which is left behind. */
static WcStatus
tree_check(const WcFilter *filter, uint32_t *at, int depth, WcError *err)
{
	const WcFilterNode *node = &filter->nodes[*at];
	uint32_t	children = 0;
	WcStatus	status = WC_OK;

	if (*at >= filter->nnodes)
		return wc_error(err, WC_INVALID, "a filter is not whole");
	(*at)++;
	if (depth > WC_FILTER_DEPTH_MAX)
		return wc_error(err, WC_TOO_LARGE, "a filter is nested too deeply, the limit is %d", WC_FILTER_DEPTH_MAX);
	if (node->kind > WC_FILTER_KIND_LAST)
		return wc_error(err, WC_INVALID, "a filter has a condition of the unknown kind %u", node->kind);
	if (wc_filter_kind_has_column(node->kind) && node->column >= filter->ncolumns)
		return wc_error(err, WC_INVALID, "a filter has no column %u", node->column + 1);
	if (node->kind == WC_FILTER_PREFIX && filter->columns[node->column].form != WC_FORM_BYTES)
		return wc_error(err, WC_INVALID, "a filter compares the prefix of a column that is no text");
	for (uint32_t i = 1; node->kind == WC_FILTER_IN && i < node->n; i++)
	{
		if (wc_slice_cmp(node->values[i - 1], node->values[i]) >= 0)
			return wc_error(err, WC_INVALID, "value %u of a filter's list is not behind the one before it", i + 1);
	}
	if (node->kind == WC_FILTER_AND || node->kind == WC_FILTER_OR)
		children = node->n;
	else if (node->kind == WC_FILTER_NOT || node->kind == WC_FILTER_IS_TRUE)
		children = 1;
	for (uint32_t i = 0; i < children && status == WC_OK; i++)
		status = tree_check(filter, at, depth + 1, err);
	return status;
}

WcStatus
wc_filter_check(const WcFilter *filter, uint32_t ncolumns, WcError *err)
{
	uint64_t	nvalues = 0;
	uint64_t	bytes = 0;
	uint32_t	at = 0;
	WcStatus	status = WC_OK;

	if (filter->nnodes > WC_FILTER_NODES_MAX || filter->ncolumns > WC_FILTER_NODES_MAX)
		return wc_error(err, WC_TOO_LARGE, "too many conditions in a filter: %u, the limit is %d",
						filter->nnodes, WC_FILTER_NODES_MAX);
	if (filter->nnodes == 0 || filter->ncolumns == 0 || filter->shown > ncolumns)
		return wc_error(err, WC_INVALID, "a filter is empty");
	for (uint32_t i = 0; i < filter->ncolumns && status == WC_OK; i++)
		status = wc_filter_column_check(&filter->columns[i], ncolumns, filter->keys.len > 0, err);
	for (uint32_t i = 0; i < filter->nnodes; i++)
	{
		nvalues += wc_filter_nvalues(&filter->nodes[i]);
		for (uint32_t k = 0; nvalues <= WC_FILTER_VALUES_MAX && k < wc_filter_nvalues(&filter->nodes[i]); k++)
			bytes += filter->nodes[i].values[k].len;
	}
	if (nvalues > WC_FILTER_VALUES_MAX || bytes > WC_FILTER_BYTES_MAX)
		return wc_error(err, WC_TOO_LARGE, "too many values in a filter: the limits are %d and %d bytes",
						WC_FILTER_VALUES_MAX, WC_FILTER_BYTES_MAX);
	if (status == WC_OK)
		status = tree_check(filter, &at, 1, err);
	if (status == WC_OK && at != filter->nnodes)
		status = wc_error(err, WC_INVALID, "a filter has conditions that belong to nothing");
	return status;
}

/* --- bytes ------------------------------------------------------------------------ */

void
wc_filter_column_encode(WcBuf *out, const WcFilterColumn *c)
{
	wc_buf_append_u8(out, c->in_key ? 1 : 0);
	wc_buf_append_varint(out, c->column);
	wc_buf_append_u8(out, c->form);
	wc_buf_append_varint(out, c->width);
	wc_buf_append_varint(out, c->most);
	wc_buf_append_varint(out, c->scale);
}

void
wc_filter_column_decode(WcDecoder *d, WcFilterColumn *c)
{
	c->in_key = wc_decode_bool(d);
	c->column = (uint32_t) wc_decode_varint_max(d, WC_COLUMNS_MAX);
	c->form = wc_decode_u8(d);
	c->width = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	c->most = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	c->scale = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
}

void
wc_filter_encode(WcBuf *out, const WcFilter *filter)
{
	wc_buf_append_varint(out, filter->shown);
	wc_buf_append_varint(out, filter->ncolumns);
	for (uint32_t i = 0; i < filter->ncolumns; i++)
		wc_filter_column_encode(out, &filter->columns[i]);
	wc_buf_append_varint(out, filter->nnodes);
	for (uint32_t i = 0; i < filter->nnodes; i++)
	{
		const WcFilterNode *node = &filter->nodes[i];

		wc_buf_append_u8(out, node->kind);
		if (wc_filter_kind_has_column(node->kind))
			wc_buf_append_varint(out, node->column);
		if (node->kind == WC_FILTER_AND || node->kind == WC_FILTER_OR || node->kind == WC_FILTER_IN)
			wc_buf_append_varint(out, node->n);
		for (uint32_t k = 0; k < wc_filter_nvalues(node); k++)
			wc_buf_append_bytes(out, node->values[k]);
	}
	wc_buf_append_bytes(out, filter->keys);
}

/* False: memory is out. */
static bool
node_decode(WcDecoder *d, WcArena *arena, WcFilterNode *node)
{
	uint32_t	nvalues;

	node->kind = wc_decode_u8(d);
	if (node->kind > WC_FILTER_KIND_LAST)
		wc_decoder_fail(d);
	if (wc_filter_kind_has_column(node->kind))
		node->column = (uint32_t) wc_decode_varint_max(d, WC_FILTER_NODES_MAX);
	if (node->kind == WC_FILTER_AND || node->kind == WC_FILTER_OR)
		node->n = (uint32_t) wc_decode_varint_max(d, WC_FILTER_NODES_MAX);
	if (node->kind == WC_FILTER_IN)
		node->n = (uint32_t) wc_decode_count(d, WC_FILTER_VALUES_MAX, VALUE_BYTES_MIN);
	nvalues = d->failed ? 0 : wc_filter_nvalues(node);
	node->values = wc_arena_alloc_zero(arena, (nvalues + 1) * sizeof(WcSlice));
	if (node->values == NULL)
		return false;
	for (uint32_t i = 0; i < nvalues; i++)
		node->values[i] = wc_decode_bytes(d);
	return true;
}

void
wc_filter_decode(WcDecoder *d, WcArena *arena, WcFilter **filter)
{
	WcFilter   *f = wc_arena_alloc_zero(arena, sizeof(WcFilter));

	*filter = NULL;
	if (f == NULL)
		return;
	f->shown = (uint32_t) wc_decode_varint_max(d, WC_COLUMNS_MAX);
	f->ncolumns = (uint32_t) wc_decode_count(d, WC_FILTER_NODES_MAX, COLUMN_BYTES_MIN);
	f->columns = wc_arena_alloc_zero(arena, (f->ncolumns + 1) * sizeof(WcFilterColumn));
	if (f->columns == NULL)
		return;
	for (uint32_t i = 0; i < f->ncolumns; i++)
		wc_filter_column_decode(d, &f->columns[i]);
	f->nnodes = (uint32_t) wc_decode_count(d, WC_FILTER_NODES_MAX, NODE_BYTES_MIN);
	f->nodes = wc_arena_alloc_zero(arena, (f->nnodes + 1) * sizeof(WcFilterNode));
	if (f->nodes == NULL)
		return;
	for (uint32_t i = 0; i < f->nnodes; i++)
	{
		if (!node_decode(d, arena, &f->nodes[i]))
			return;
	}
	f->keys = wc_decode_bytes(d);
	*filter = f;
}
