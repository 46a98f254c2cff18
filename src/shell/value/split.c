/*
 * shell/value/split.c: split points, as HBase's splitters make them.
 *
 * Keys are taken as big-endian numbers of any length; nothing here touches the
 * store.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "base/limits.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_hex_splits);
PG_FUNCTION_INFO_V1(widecol_hexstring_splits);
PG_FUNCTION_INFO_V1(widecol_uniform_splits);
PG_FUNCTION_INFO_V1(widecol_bytes_split);

static Datum
bytea_array(Datum *keys, int n)
{
	if (n == 0)
		return PointerGetDatum(construct_empty_array(BYTEAOID));
	return PointerGetDatum(construct_array(keys, n, BYTEAOID, -1, false, TYPALIGN_INT));
}

/* HBase's own splitters refuse a single region. */
static void
check_regions(int64 n, int least, uint64 keys)
{
	if (n < least || (uint64) n > keys || n > WC_SPLITS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid number of regions: " INT64_FORMAT, n),
				 errdetail("It must be at least %d and at most " UINT64_FORMAT ".",
						   least, Min(keys, (uint64) WC_SPLITS_MAX))));
}

static uint64
parse_hex(const char *text, const char *what)
{
	uint64		v = 0;
	size_t		len = strlen(text);

	if (len == 0 || len > 16 || strspn(text, "0123456789abcdefABCDEF") != len)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid hexadecimal key \"%s\" for argument \"%s\"", text, what),
				 errdetail("Expected 1 to 16 hexadecimal digits.")));
	v = strtou64(text, NULL, 16);
	return v;
}

/* lo + i * ((hi - lo) / n) for i = 1 .. n - 1, as 16 lower-case hex digits. */
Datum
widecol_hex_splits(PG_FUNCTION_ARGS)
{
	uint64		lo = parse_hex(text_to_cstring(PG_GETARG_TEXT_PP(0)), "lo");
	uint64		hi = parse_hex(text_to_cstring(PG_GETARG_TEXT_PP(1)), "hi");
	int32		n = PG_GETARG_INT32(2);
	Datum	   *keys;
	uint64		step;

	if (lo >= hi)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"lo\" must be smaller than \"hi\"")));
	check_regions(n, 1, hi - lo);
	step = (hi - lo) / n;
	keys = palloc(sizeof(Datum) * n);
	for (int32 i = 1; i < n; i++)
	{
		char		text[17];

		snprintf(text, sizeof(text), "%016" INT64_MODIFIER "x", lo + step * i);
		keys[i - 1] = wc_bytea_datum(wc_slice(text, 16));
	}
	return bytea_array(keys, n - 1);
}

/* 00000000 .. FFFFFFFF in n equal parts, as 8 lower-case hex digits. */
Datum
widecol_hexstring_splits(PG_FUNCTION_ARGS)
{
	int32		n = PG_GETARG_INT32(0);
	const uint64 range = UINT64CONST(1) << 32;
	Datum	   *keys;

	check_regions(n, 2, range);
	keys = palloc(sizeof(Datum) * n);
	for (int32 i = 1; i < n; i++)
	{
		char		text[9];

		snprintf(text, sizeof(text), "%08x", (uint32) (range / n * i));
		keys[i - 1] = wc_bytea_datum(wc_slice(text, 8));
	}
	return bytea_array(keys, n - 1);
}

/*
 * The keys between a and b, numbers of len bytes: num of them into keys, each
 * a + i * ((b - a [+ 1]) / (num + 1)).  Too close together, both get one more
 * byte.  a < b.
 */
static void
split_between(const uint8 *a, const uint8 *b, size_t len, bool inclusive, int32 num, Datum *keys)
{
	/* two bytes of room: one for inclusive's carry, one that may be added */
	uint8	   *diff = palloc0(len + 2);
	uint8	   *key = palloc0(len + 2);
	uint64		rest;
	bool		close;
	int			carry = inclusive ? 1 : 0;

	/* diff[0] is the carry's place */
	for (size_t i = len; i-- > 0;)
	{
		int			d = (int) b[i] - (int) a[i] + carry;

		carry = d < 0 ? -1 : d > 255 ? 1 : 0;
		diff[i + 1] = (uint8) (d & 0xFF);
	}
	diff[0] = (uint8) carry;

	/* divide by num + 1; an interval of zero means they are too close */
	rest = 0;
	close = true;
	for (size_t i = 0; i <= len; i++)
	{
		rest = rest * 256 + diff[i];
		diff[i] = (uint8) (rest / ((uint64) num + 1));
		rest %= (uint64) num + 1;
		close = close && diff[i] == 0;
	}
	if (close)
	{
		uint8	   *a2 = palloc0(len + 1);
		uint8	   *b2 = palloc0(len + 1);

		memcpy(a2, a, len);
		memcpy(b2, b, len);
		split_between(a2, b2, len + 1, inclusive, num, keys);
		return;
	}
	memcpy(key + 1, a, len);
	for (int32 n = 0; n < num; n++)
	{
		unsigned	c = 0;

		CHECK_FOR_INTERRUPTS();
		for (size_t i = len + 1; i-- > 0;)
		{
			c += (unsigned) key[i] + diff[i];
			key[i] = (uint8) (c & 0xFF);
			c >>= 8;
		}
		keys[n] = wc_bytea_datum(wc_slice(key + 1, len));
	}
}

/* 8 raw bytes, 00..00 to FF..FF in n equal parts. */
Datum
widecol_uniform_splits(PG_FUNCTION_ARGS)
{
	int32		n = PG_GETARG_INT32(0);
	static const uint8 first[8] = {0};
	static const uint8 last[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
	Datum	   *keys;

	check_regions(n, 2, UINT64_MAX);
	keys = palloc(sizeof(Datum) * n);
	split_between(first, last, 8, true, n - 1, keys);
	return bytea_array(keys, n - 1);
}

/* a, num keys between, b: HBase's Bytes.split. */
Datum
widecol_bytes_split(PG_FUNCTION_ARGS)
{
	WcSlice		a = wc_arg_bytes(fcinfo, 0);
	WcSlice		b = wc_arg_bytes(fcinfo, 1);
	int32		num = PG_GETARG_INT32(2);
	size_t		len = Max(a.len, b.len);
	uint8	   *a_padded = palloc0(len + 1);
	uint8	   *b_padded = palloc0(len + 1);
	Datum	   *keys;

	if (num < 1 || num > WC_SPLITS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid number of keys: %d", num),
				 errdetail("It must be from 1 to %d.", WC_SPLITS_MAX)));
	if (len > WC_ROW_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row key is too long"),
				 errdetail("It has %zu bytes; the limit is %d.", len, WC_ROW_MAX)));
	memcpy(a_padded, a.data, a.len);
	memcpy(b_padded, b.data, b.len);
	if (memcmp(a_padded, b_padded, len) >= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the first key must sort before the second")));

	keys = palloc(sizeof(Datum) * (num + 2));
	keys[0] = wc_bytea_datum(a);
	split_between(a_padded, b_padded, len, false, num, keys + 1);
	keys[num + 1] = wc_bytea_datum(b);
	return bytea_array(keys, num + 2);
}
