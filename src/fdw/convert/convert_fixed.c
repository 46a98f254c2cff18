/*
 * fdw/convert/convert_fixed.c: values of fixed width, `ordered` and `binary`.
 *
 * As part of a key, `binary` with desc is "the type's maximum - v", which is the
 * inverse of the ordered bytes: so there the ordered functions are used.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "utils/date.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "fdw/convert/convert_internal.h"
#include "rowkey/ordered.h"

#define USECS_PER_MSEC INT64CONST(1000)
#define MSECS_PER_DAY INT64CONST(86400000)
#define EPOCH_DAYS (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define EPOCH_MSECS (EPOCH_DAYS * MSECS_PER_DAY)

static inline uint8_t *
room(WcBuf *out, size_t n)
{
	uint8_t    *p = wc_buf_reserve(out, n);

	if (p != NULL)
		out->len += n;
	return p;
}

/* --- bool -------------------------------------------------------------------- */

static void
encode_bool_ordered(WcCodec *codec, Datum value, WcBuf *out)
{
	uint8_t		byte;

	wc_ordered_store_bool(&byte, DatumGetBool(value));
	wc_buf_append_u8(out, byte);
}

static bool
decode_bool_ordered(WcCodec *codec, WcSlice bytes, Datum *value)
{
	bool		v;

	if (bytes.len != 1 || !wc_ordered_load_bool(bytes.data, &v))
		return false;
	*value = BoolGetDatum(v);
	return true;
}

static void
encode_bool_binary(WcCodec *codec, Datum value, WcBuf *out)
{
	wc_buf_append_u8(out, DatumGetBool(value) ? 0xFF : 0);
}

/* Any byte but zero is true to HBase; in a key there is only one of them. */
static bool
decode_bool_binary(WcCodec *codec, WcSlice bytes, Datum *value)
{
	if (bytes.len != 1 || (codec->spec.as_key && bytes.data[0] != 0 && bytes.data[0] != 0xFF))
		return false;
	*value = BoolGetDatum(bytes.data[0] != 0);
	return true;
}

/* --- integers ---------------------------------------------------------------- */

#define INTEGER_FUNCTIONS(bits, bytes_, get, set) \
static void \
encode_int##bits##_ordered(WcCodec *codec, Datum value, WcBuf *out) \
{ \
	uint8_t    *p = room(out, bytes_); \
\
	if (p != NULL) \
		wc_ordered_store_i##bits(p, get(value)); \
} \
\
static bool \
decode_int##bits##_ordered(WcCodec *codec, WcSlice bytes, Datum *value) \
{ \
	if (bytes.len != bytes_) \
		return false; \
	*value = set(wc_ordered_load_i##bits(bytes.data)); \
	return true; \
} \
\
static void \
encode_int##bits##_binary(WcCodec *codec, Datum value, WcBuf *out) \
{ \
	uint8_t    *p = room(out, bytes_); \
\
	if (p != NULL) \
		wc_store_u##bits(p, (uint##bits##_t) get(value)); \
} \
\
static bool \
decode_int##bits##_binary(WcCodec *codec, WcSlice bytes, Datum *value) \
{ \
	if (bytes.len != bytes_) \
		return false; \
	*value = set((int##bits##_t) wc_load_u##bits(bytes.data)); \
	return true; \
}

INTEGER_FUNCTIONS(16, 2, DatumGetInt16, Int16GetDatum)
INTEGER_FUNCTIONS(32, 4, DatumGetInt32, Int32GetDatum)
INTEGER_FUNCTIONS(64, 8, DatumGetInt64, Int64GetDatum)

/* --- floats ------------------------------------------------------------------ */

/*
 * `binary` values keep every bit; in a key -0 is 0 and there is one NaN, so that
 * equal values have equal bytes, and reading refuses the others.
 */
#define FLOAT_FUNCTIONS(bits, bytes_, ctype, get, set) \
static void \
encode_float##bits##_ordered(WcCodec *codec, Datum value, WcBuf *out) \
{ \
	uint8_t    *p = room(out, bytes_); \
\
	if (p != NULL) \
		wc_ordered_store_f##bits(p, get(value)); \
} \
\
static bool \
decode_float##bits##_ordered(WcCodec *codec, WcSlice bytes, Datum *value) \
{ \
	ctype		v; \
\
	if (bytes.len != bytes_ || !wc_ordered_load_f##bits(bytes.data, &v)) \
		return false; \
	*value = set(v); \
	return true; \
} \
\
static void \
encode_float##bits##_binary(WcCodec *codec, Datum value, WcBuf *out) \
{ \
	uint8_t    *p = room(out, bytes_); \
	ctype		v = get(value); \
	uint##bits##_t image; \
\
	if (p == NULL) \
		return; \
	if (codec->spec.as_key && v == 0) \
		v = 0; \
	if (codec->spec.as_key && isnan(v)) \
		v = (ctype) NAN; \
	memcpy(&image, &v, bytes_); \
	if (codec->spec.as_key && isnan(v)) \
		image &= ~((uint##bits##_t) 1 << (bits - 1)); \
	wc_store_u##bits(p, image); \
} \
\
static bool \
decode_float##bits##_binary(WcCodec *codec, WcSlice bytes, Datum *value) \
{ \
	uint##bits##_t image; \
	ctype		v; \
\
	if (bytes.len != bytes_) \
		return false; \
	image = wc_load_u##bits(bytes.data); \
	memcpy(&v, &image, bytes_); \
	if (codec->spec.as_key) \
	{ \
		uint8_t		ordered[bytes_]; \
		ctype		again; \
\
		wc_store_u##bits(ordered, (image >> (bits - 1)) != 0 ? ~image : image | ((uint##bits##_t) 1 << (bits - 1))); \
		if (!wc_ordered_load_f##bits(ordered, &again)) \
			return false; \
	} \
	*value = set(v); \
	return true; \
}

FLOAT_FUNCTIONS(32, 4, float, DatumGetFloat4, Float4GetDatum)
FLOAT_FUNCTIONS(64, 8, double, DatumGetFloat8, Float8GetDatum)

/* --- uuid -------------------------------------------------------------------- */

static void
encode_uuid(WcCodec *codec, Datum value, WcBuf *out)
{
	wc_buf_append(out, DatumGetUUIDP(value)->data, UUID_LEN);
}

static bool
decode_uuid(WcCodec *codec, WcSlice bytes, Datum *value)
{
	pg_uuid_t  *uuid;

	if (bytes.len != UUID_LEN)
		return false;
	uuid = palloc(sizeof(pg_uuid_t));
	memcpy(uuid->data, bytes.data, UUID_LEN);
	*value = UUIDPGetDatum(uuid);
	return true;
}

/* --- date and timestamps ----------------------------------------------------- */

/* `ordered` holds PostgreSQL's own numbers, the infinities at both ends. */
static bool
decode_date_ordered(WcCodec *codec, WcSlice bytes, Datum *value)
{
	DateADT		date;

	if (bytes.len != 4)
		return false;
	date = wc_ordered_load_i32(bytes.data);
	if (!DATE_NOT_FINITE(date) && !IS_VALID_DATE(date))
		return false;
	*value = DateADTGetDatum(date);
	return true;
}

static bool
decode_timestamp_ordered(WcCodec *codec, WcSlice bytes, Datum *value)
{
	Timestamp	ts;

	if (bytes.len != 8)
		return false;
	ts = wc_ordered_load_i64(bytes.data);
	if (!TIMESTAMP_NOT_FINITE(ts) && !IS_VALID_TIMESTAMP(ts))
		return false;
	*value = TimestampGetDatum(ts);
	return true;
}

int64
wc_codec_msecs(Timestamp ts)
{
	int64		ms = ts / USECS_PER_MSEC;

	if (ts % USECS_PER_MSEC < 0)
		ms--;
	return ms + EPOCH_MSECS;
}

static void
append_msecs(WcCodec *codec, int64 ms, WcBuf *out)
{
	uint8_t    *p = room(out, 8);

	if (p == NULL)
		return;
	if (codec->spec.as_key && codec->spec.desc)
		wc_ordered_store_i64(p, ms);
	else
		wc_store_u64(p, (uint64) ms);
}

static int64
load_msecs(WcCodec *codec, WcSlice bytes)
{
	if (codec->spec.as_key && codec->spec.desc)
		return wc_ordered_load_i64(bytes.data);
	return (int64) wc_load_u64(bytes.data);
}

static void
encode_date_binary(WcCodec *codec, Datum value, WcBuf *out)
{
	DateADT		date = DatumGetDateADT(value);

	if (DATE_NOT_FINITE(date))
		wc_codec_refuse(codec, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, "an infinite date");
	append_msecs(codec, ((int64) date + EPOCH_DAYS) * MSECS_PER_DAY, out);
}

static bool
decode_date_binary(WcCodec *codec, WcSlice bytes, Datum *value)
{
	int64		ms;
	int64		day;

	if (bytes.len != 8)
		return false;
	ms = load_msecs(codec, bytes);
	day = ms / MSECS_PER_DAY - EPOCH_DAYS;
	if (ms % MSECS_PER_DAY != 0 || !IS_VALID_DATE(day))
		return false;
	*value = DateADTGetDatum((DateADT) day);
	return true;
}

static void
encode_timestamp_binary(WcCodec *codec, Datum value, WcBuf *out)
{
	Timestamp	ts = DatumGetTimestamp(value);

	if (TIMESTAMP_NOT_FINITE(ts))
		wc_codec_refuse(codec, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, "an infinite timestamp");
	append_msecs(codec, wc_codec_msecs(ts), out);
}

static bool
decode_timestamp_binary(WcCodec *codec, WcSlice bytes, Datum *value)
{
	int64		ms;

	if (bytes.len != 8)
		return false;
	ms = load_msecs(codec, bytes);
	if (ms < wc_codec_msecs(MIN_TIMESTAMP) || ms > wc_codec_msecs(END_TIMESTAMP - 1))
		return false;
	*value = TimestampGetDatum((ms - EPOCH_MSECS) * USECS_PER_MSEC);
	return true;
}

/* --- the table --------------------------------------------------------------- */

typedef struct FixedType
{
	Oid			type;
	int			ordered_width;
	int			binary_width;
	WcPartOrder binary_order;
	void		(*encode_ordered) (WcCodec *codec, Datum value, WcBuf *out);
	bool		(*decode_ordered) (WcCodec *codec, WcSlice bytes, Datum *value);
	void		(*encode_binary) (WcCodec *codec, Datum value, WcBuf *out);
	bool		(*decode_binary) (WcCodec *codec, WcSlice bytes, Datum *value);
} FixedType;

static const FixedType fixed_types[] = {
	{BOOLOID, 1, 1, WC_ORDER_BYTES, encode_bool_ordered, decode_bool_ordered, encode_bool_binary, decode_bool_binary},
	{INT2OID, 2, 2, WC_ORDER_SIGNED, encode_int16_ordered, decode_int16_ordered, encode_int16_binary, decode_int16_binary},
	{INT4OID, 4, 4, WC_ORDER_SIGNED, encode_int32_ordered, decode_int32_ordered, encode_int32_binary, decode_int32_binary},
	{INT8OID, 8, 8, WC_ORDER_SIGNED, encode_int64_ordered, decode_int64_ordered, encode_int64_binary, decode_int64_binary},
	{FLOAT4OID, 4, 4, WC_ORDER_FLOAT, encode_float32_ordered, decode_float32_ordered, encode_float32_binary, decode_float32_binary},
	{FLOAT8OID, 8, 8, WC_ORDER_FLOAT, encode_float64_ordered, decode_float64_ordered, encode_float64_binary, decode_float64_binary},
	{UUIDOID, UUID_LEN, UUID_LEN, WC_ORDER_BYTES, encode_uuid, decode_uuid, encode_uuid, decode_uuid},
	{DATEOID, 4, 8, WC_ORDER_SIGNED, encode_int32_ordered, decode_date_ordered, encode_date_binary, decode_date_binary},
	{TIMESTAMPOID, 8, 8, WC_ORDER_SIGNED, encode_int64_ordered, decode_timestamp_ordered, encode_timestamp_binary, decode_timestamp_binary},
	{TIMESTAMPTZOID, 8, 8, WC_ORDER_SIGNED, encode_int64_ordered, decode_timestamp_ordered, encode_timestamp_binary, decode_timestamp_binary}
};

static const FixedType *
fixed_type(Oid type)
{
	for (int i = 0; i < lengthof(fixed_types); i++)
	{
		if (fixed_types[i].type == type)
			return &fixed_types[i];
	}
	return NULL;
}

bool
wc_fixed_is(Oid type)
{
	return fixed_type(type) != NULL;
}

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_float(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

void
wc_fixed_init(WcCodec *codec)
{
	const FixedType *fixed = fixed_type(codec->spec.type);
	bool		ordered = codec->spec.encoding == WC_ENCODING_ORDERED;
	bool		descending = codec->spec.as_key && codec->spec.desc;

	Assert(fixed != NULL);
	if (ordered || (descending && is_integer(codec->spec.type)))
	{
		codec->width = fixed->ordered_width;
		codec->encode = fixed->encode_ordered;
		codec->decode = fixed->decode_ordered;
		codec->order = WC_ORDER_BYTES;
	}
	else
	{
		codec->width = fixed->binary_width;
		codec->encode = fixed->encode_binary;
		codec->decode = fixed->decode_binary;
		codec->order = descending ? WC_ORDER_BYTES : fixed->binary_order;
	}
	codec->equality_safe = true;
	if (is_float(codec->spec.type) && !ordered && !codec->spec.as_key)
	{
		/* -0 and the many NaNs */
		codec->equality_safe = false;
		codec->order = WC_ORDER_NONE;
	}
	codec->equality_exact = codec->equality_safe;
}

/* --- bounds ------------------------------------------------------------------ */

static WcFit
bound_of_integer(WcCodec *codec, int64 v, WcBuf *out)
{
	int64		min = codec->spec.type == INT2OID ? PG_INT16_MIN : codec->spec.type == INT4OID ? PG_INT32_MIN : PG_INT64_MIN;
	int64		max = codec->spec.type == INT2OID ? PG_INT16_MAX : codec->spec.type == INT4OID ? PG_INT32_MAX : PG_INT64_MAX;

	if (v < min)
		return WC_FIT_BEFORE_ALL;
	if (v > max)
		return WC_FIT_AFTER_ALL;
	if (codec->spec.type == INT2OID)
		wc_codec_encode(codec, Int16GetDatum((int16) v), out);
	else if (codec->spec.type == INT4OID)
		wc_codec_encode(codec, Int32GetDatum((int32) v), out);
	else
		wc_codec_encode(codec, Int64GetDatum(v), out);
	return WC_FIT_EXACT;
}

static WcFit
bound_of_float(WcCodec *codec, double v, WcBuf *out)
{
	float		f;

	if (codec->spec.type == FLOAT8OID)
	{
		wc_codec_encode(codec, Float8GetDatum(v), out);
		return WC_FIT_EXACT;
	}
	f = (float) v;
	if (!isnan(v) && (double) f > v)
		f = nextafterf(f, -INFINITY);
	wc_codec_encode(codec, Float4GetDatum(f), out);
	return (isnan(v) || (double) f == v) ? WC_FIT_EXACT : WC_FIT_ABOVE;
}

static WcFit
bound_of_timestamp(WcCodec *codec, Timestamp ts, WcBuf *out)
{
	if (codec->spec.encoding == WC_ENCODING_BINARY)
	{
		if (TIMESTAMP_IS_NOBEGIN(ts))
			return WC_FIT_BEFORE_ALL;
		if (TIMESTAMP_IS_NOEND(ts))
			return WC_FIT_AFTER_ALL;
	}
	wc_codec_encode(codec, TimestampGetDatum(ts), out);
	if (codec->spec.encoding == WC_ENCODING_BINARY && ts % USECS_PER_MSEC != 0)
		return WC_FIT_ABOVE;
	return WC_FIT_EXACT;
}

static WcFit
bound_of_date(WcCodec *codec, DateADT date, WcBuf *out)
{
	if (codec->spec.encoding == WC_ENCODING_BINARY)
	{
		if (DATE_IS_NOBEGIN(date))
			return WC_FIT_BEFORE_ALL;
		if (DATE_IS_NOEND(date))
			return WC_FIT_AFTER_ALL;
	}
	wc_codec_encode(codec, DateADTGetDatum(date), out);
	return WC_FIT_EXACT;
}

/* A date column against a timestamp: its day, and is it more than that day? */
static WcFit
bound_of_date_at(WcCodec *codec, Timestamp ts, WcBuf *out)
{
	int64		day;
	WcFit		fit;

	if (TIMESTAMP_IS_NOBEGIN(ts))
		return bound_of_date(codec, DATEVAL_NOBEGIN, out);
	if (TIMESTAMP_IS_NOEND(ts))
		return bound_of_date(codec, DATEVAL_NOEND, out);
	day = ts / USECS_PER_DAY;
	if (ts % USECS_PER_DAY < 0)
		day--;
	fit = bound_of_date(codec, (DateADT) day, out);
	return ts % USECS_PER_DAY == 0 ? fit : WC_FIT_ABOVE;
}

/* A timestamp column against a date: dates reach further. */
static WcFit
bound_of_timestamp_at(WcCodec *codec, DateADT date, WcBuf *out)
{
	if (DATE_IS_NOBEGIN(date))
		return bound_of_timestamp(codec, DT_NOBEGIN, out);
	if (DATE_IS_NOEND(date))
		return bound_of_timestamp(codec, DT_NOEND, out);
	if (date >= TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)
	{
		(void) bound_of_timestamp(codec, END_TIMESTAMP - 1, out);
		return WC_FIT_ABOVE;
	}
	return bound_of_timestamp(codec, (Timestamp) date * USECS_PER_DAY, out);
}

/* A timestamptz column against a date or timestamp, which the session's time zone makes an instant.  Some of them
 * (overflow < 0: before, > 0: after all finite ones) are none. */
static WcFit
bound_of_instant(WcCodec *codec, TimestampTz at, int overflow, WcBuf *out)
{
	WcFit		fit;

	if (overflow == 0)
		return bound_of_timestamp(codec, at, out);
	fit = bound_of_timestamp(codec, overflow > 0 ? END_TIMESTAMP - 1 : DT_NOBEGIN, out);
	return fit == WC_FIT_EXACT ? WC_FIT_ABOVE : fit;
}

int64
wc_integer_of(Oid type, Datum value)
{
	if (type == INT2OID)
		return DatumGetInt16(value);
	if (type == INT4OID)
		return DatumGetInt32(value);
	return DatumGetInt64(value);
}

WcFit
wc_fixed_bound(WcCodec *codec, Oid value_type, Datum value, WcBuf *out)
{
	Oid			type = codec->spec.type;
	TimestampTz at;
	int			overflow = 0;

	if (is_integer(type) && is_integer(value_type))
		return bound_of_integer(codec, wc_integer_of(value_type, value), out);
	if (is_float(type) && is_float(value_type))
		return bound_of_float(codec, value_type == FLOAT4OID ? (double) DatumGetFloat4(value) : DatumGetFloat8(value), out);
	if (type == DATEOID && value_type == DATEOID)
		return bound_of_date(codec, DatumGetDateADT(value), out);
	if (type == DATEOID && value_type == TIMESTAMPOID)
		return bound_of_date_at(codec, DatumGetTimestamp(value), out);
	if (type == TIMESTAMPOID && value_type == DATEOID)
		return bound_of_timestamp_at(codec, DatumGetDateADT(value), out);
	if ((type == TIMESTAMPOID || type == TIMESTAMPTZOID) && value_type == type)
		return bound_of_timestamp(codec, DatumGetTimestamp(value), out);
	if (type == TIMESTAMPTZOID && value_type == DATEOID)
	{
		at = date2timestamptz_opt_overflow(DatumGetDateADT(value), &overflow);
		return bound_of_instant(codec, at, overflow, out);
	}
	if (type == TIMESTAMPTZOID && value_type == TIMESTAMPOID)
	{
		at = timestamp2timestamptz_opt_overflow(DatumGetTimestamp(value), &overflow);
		return bound_of_instant(codec, at, overflow, out);
	}
	if (type != value_type)
		return WC_FIT_UNKNOWN;
	wc_codec_encode(codec, value, out);
	return WC_FIT_EXACT;
}
