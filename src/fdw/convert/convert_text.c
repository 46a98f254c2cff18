/*
 * fdw/convert/convert_text.c: encodings that are made from a value's text form, and bytea.
 *
 * `text` is the form itself, `reversed` and `reversed_domain` turn it round, the
 * hashes hash it.  text, varchar and char are their own form, so `ordered` and
 * `binary` come here for them too.  In a key the form is brought to one that all
 * equal values share: char without its trailing blanks, numeric without trailing
 * zeros, no negative zero.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "common/md5.h"
#include "common/sha1.h"
#include "common/shortest_dec.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/pg_locale.h"

#include "fdw/convert/convert_internal.h"
#include "rowkey/murmur3.h"

/* --- the form ------------------------------------------------------------------ */

bool
wc_textual_is(Oid type)
{
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

static WcSlice
form_of_float(const WcCodec *codec, Datum value, char *buf)
{
	double		v = codec->spec.type == FLOAT4OID ? (double) DatumGetFloat4(value) : DatumGetFloat8(value);

	if (isnan(v))
		return wc_slice_cstr("NaN");
	if (isinf(v))
		return wc_slice_cstr(v < 0 ? "-Infinity" : "Infinity");
	if (v == 0 && codec->spec.as_key)
		return wc_slice_cstr("0");
	if (codec->spec.type == FLOAT4OID)
		return wc_slice(buf, float_to_shortest_decimal_buf(DatumGetFloat4(value), buf));
	return wc_slice(buf, double_to_shortest_decimal_buf(v, buf));
}

static WcSlice
form_of_numeric(const WcCodec *codec, Datum value)
{
	Numeric		num = DatumGetNumeric(value);

	/* numeric_normalize knows nothing of NaN */
	if (numeric_is_nan(num))
		return wc_slice_cstr("NaN");
	return wc_slice_cstr(numeric_normalize(num));
}

static WcSlice
form_of_bytea(Datum value)
{
	bytea	   *b = DatumGetByteaPP(value);
	size_t		len = VARSIZE_ANY_EXHDR(b);
	char	   *form;

	if (len > (MaxAllocSize - 3) / 2)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("bytea value of %zu bytes is too long for encoding \"text\"", len)));
	form = palloc(len * 2 + 3);
	form[0] = '\\';
	form[1] = 'x';
	hex_encode(VARDATA_ANY(b), len, form + 2);
	return wc_slice(form, len * 2 + 2);
}

/* Has the form of a timestamp its zone?  In keys it is left out, as it was in cells once. */
static bool
has_zone(const WcCodec *codec)
{
	return codec->spec.type == TIMESTAMPTZOID && !codec->spec.as_key;
}

/*
 * The text form, in UTF-8.  It is in buf (WC_FORM_MAX bytes), in the value itself
 * or palloc'd.
 */
static WcSlice
form_of(WcCodec *codec, Datum value, char *buf)
{
	char	   *s;
	int			level;

	switch (codec->spec.type)
	{
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			{
				text	   *t = DatumGetTextPP(value);
				const char *data = VARDATA_ANY(t);
				size_t		len = VARSIZE_ANY_EXHDR(t);

				if (codec->spec.type == BPCHAROID && codec->spec.as_key)
				{
					while (len > 0 && data[len - 1] == ' ')
						len--;
				}
				return wc_text_to_utf8(data, len);
			}
		case FLOAT4OID:
		case FLOAT8OID:
			return form_of_float(codec, value, buf);
		case DATEOID:
			wc_form_of_date(buf, value);
			return wc_slice_cstr(buf);
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			wc_form_of_timestamp(buf, value, has_zone(codec));
			return wc_slice_cstr(buf);
		case BYTEAOID:
			return form_of_bytea(value);
		case NUMERICOID:
			if (codec->spec.as_key)
				return form_of_numeric(codec, value);
			/* FALLTHROUGH */
		default:
			if (codec->nested != NULL)
				codec->guards = wc_nested_guards(codec->nested);
			level = wc_form_guard(codec->guards);
			s = codec->nested != NULL ? wc_nested_out(codec->nested, value) : OutputFunctionCall(&codec->out_fn, value);
			wc_form_unguard(level);
			return wc_text_to_utf8(s, strlen(s));
	}
}

/* Is the varlena of this many bytes surely no longer than the type allows? */
static bool
fits_typmod(const WcCodec *codec, size_t len)
{
	if (codec->spec.type == BPCHAROID)
		return false;			/* has to be padded */
	return codec->spec.typmod < (int32) VARHDRSZ || len <= (size_t) codec->spec.typmod - VARHDRSZ;
}

/* The way back. */
static bool
value_of(WcCodec *codec, WcSlice form, Datum *value)
{
	const char *s = (const char *) form.data;

	if (form.len > MaxAllocSize - 1 || !wc_is_utf8(form))
	{
		codec->problem = "this is not text in UTF-8";
		return false;
	}
	switch (codec->spec.type)
	{
		case TEXTOID:
		case VARCHAROID:
			if (wc_bytes_are_same() && fits_typmod(codec, form.len))
			{
				*value = PointerGetDatum(cstring_to_text_with_len(s, (int) form.len));
				return true;
			}
			break;
		case DATEOID:
			if (wc_form_to_date(s, form.len, value))
				return true;
			break;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			if (wc_form_to_timestamp(s, form.len, has_zone(codec), value) ||
				(has_zone(codec) && wc_form_to_timestamp(s, form.len, false, value)))
				return true;
			break;
		case NUMERICOID:
			if (wc_form_to_numeric(s, form.len, codec->spec.typmod, value))
				return true;
			break;
	}
	return wc_codec_parse(codec, pnstrdup(form.len > 0 ? s : "", form.len), value);
}

/* --- text ---------------------------------------------------------------------- */

static void
encode_text(WcCodec *codec, Datum value, WcBuf *out)
{
	char		buf[WC_FORM_MAX];

	wc_buf_append_slice(out, form_of(codec, value, buf));
}

static bool
decode_text(WcCodec *codec, WcSlice bytes, Datum *value)
{
	return value_of(codec, bytes, value);
}

/* --- reversed ------------------------------------------------------------------ */

static void
reverse(uint8 *to, WcSlice from)
{
	for (size_t i = 0; i < from.len; i++)
		to[i] = from.data[from.len - 1 - i];
}

/* www.apache.org <-> org.apache.www */
static void
reverse_labels(uint8 *to, WcSlice from)
{
	size_t		end = from.len;

	for (;;)
	{
		size_t		start = end;

		while (start > 0 && from.data[start - 1] != '.')
			start--;
		memcpy(to, from.data + start, end - start);
		to += end - start;
		if (start == 0)
			break;
		*to++ = '.';
		end = start - 1;
	}
}

static void
turn(const WcCodec *codec, uint8 *to, WcSlice from)
{
	if (from.len == 0)
		return;
	if (codec->spec.encoding == WC_ENCODING_REVERSED)
		reverse(to, from);
	else
		reverse_labels(to, from);
}

static void
encode_turned(WcCodec *codec, Datum value, WcBuf *out)
{
	char		buf[WC_FORM_MAX];
	WcSlice		form = form_of(codec, value, buf);
	uint8	   *p = wc_buf_reserve(out, form.len);

	if (p == NULL)
		return;
	turn(codec, p, form);
	out->len += form.len;
}

static bool
decode_turned(WcCodec *codec, WcSlice bytes, Datum *value)
{
	uint8	   *form;

	if (bytes.len > MaxAllocSize - 1)
		return false;
	form = palloc(bytes.len + 1);
	turn(codec, form, bytes);
	return value_of(codec, wc_slice(form, bytes.len), value);
}

/* --- hashes -------------------------------------------------------------------- */

static void
crypto_hash(pg_cryptohash_type type, WcSlice s, uint8 *digest, size_t size)
{
	pg_cryptohash_ctx *ctx = pg_cryptohash_create(type);

	if (ctx == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	if (pg_cryptohash_init(ctx) < 0 || pg_cryptohash_update(ctx, s.data, s.len) < 0 ||
		pg_cryptohash_final(ctx, digest, size) < 0)
	{
		const char *reason = pg_cryptohash_error(ctx);

		pg_cryptohash_free(ctx);
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not compute %s hash: %s", type == PG_MD5 ? "md5" : "sha1", reason)));
	}
	pg_cryptohash_free(ctx);
}

static void
encode_hash(WcCodec *codec, Datum value, WcBuf *out)
{
	char		buf[WC_FORM_MAX];
	WcSlice		form = form_of(codec, value, buf);
	uint8		digest[SHA1_DIGEST_LENGTH];

	switch (codec->spec.encoding)
	{
		case WC_ENCODING_MD5:
			crypto_hash(PG_MD5, form, digest, MD5_DIGEST_LENGTH);
			break;
		case WC_ENCODING_SHA1:
			crypto_hash(PG_SHA1, form, digest, SHA1_DIGEST_LENGTH);
			break;
		default:
			wc_murmur3(form, 0, digest);
			break;
	}
	wc_buf_append(out, digest, codec->width);
}

/* --- what bytes can decide ------------------------------------------------------ */

/* Types whose equal values have equal forms; in a key, and as a value. */
static bool
form_is_unique(Oid type, bool as_key)
{
	switch (type)
	{
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case BPCHAROID:
			return as_key;
		case BOOLOID:
		case CHAROID:
		case NAMEOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case TEXTOID:
		case VARCHAROID:
		case BYTEAOID:
		case UUIDOID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case BITOID:
		case VARBITOID:
		case MACADDROID:
		case MACADDR8OID:
		case PG_LSNOID:
			return true;
		default:
			return get_typtype(type) == TYPTYPE_ENUM;
	}
}

/* "C" compares bytes of the database's encoding; are those of UTF-8 in the same order? */
static bool
bytes_sort(void)
{
	int			encoding = GetDatabaseEncoding();

	return encoding == PG_UTF8 || encoding == PG_SQL_ASCII || encoding == PG_LATIN1;
}

void
wc_textual_init(WcCodec *codec)
{
	const WcCodecSpec *spec = &codec->spec;
	bool		deterministic = !OidIsValid(spec->collation) || get_collation_isdeterministic(spec->collation);
	bool		plain = false;	/* content is the text itself */
	Oid			function;
	bool		is_varlena;

	switch (spec->encoding)
	{
		case WC_ENCODING_MD5:
		case WC_ENCODING_SHA1:
		case WC_ENCODING_MURMUR3:
			codec->encode = encode_hash;
			codec->is_hash = true;
			codec->width = spec->length > 0 ? spec->length : wc_encoding_hash_size(spec->encoding);
			break;
		case WC_ENCODING_REVERSED:
		case WC_ENCODING_REVERSED_DOMAIN:
			codec->encode = encode_turned;
			codec->decode = decode_turned;
			break;
		default:
			codec->encode = encode_text;
			codec->decode = decode_text;
			plain = wc_textual_is(spec->type);
			break;
	}
	codec->guards = wc_form_guards(spec->type);
	if (wc_nested_is(spec->type, spec->labels))
		codec->nested = wc_nested_create(spec->type, spec->typmod, spec->labels, spec->as_key);
	getTypeOutputInfo(spec->type, &function, &is_varlena);
	fmgr_info(function, &codec->out_fn);

	codec->equality_safe = deterministic && form_is_unique(spec->type, spec->as_key);
	codec->equality_exact = codec->equality_safe && !codec->is_hash;
	codec->prefix_exact = plain && deterministic && spec->type != BPCHAROID;
	codec->order = WC_ORDER_NONE;
	if (plain && bytes_sort() && (spec->as_key || spec->type != BPCHAROID))
		codec->order = WC_ORDER_BYTES;
	codec->expected = psprintf("the text form of type %s", format_type_be(spec->type));
}

/* --- bytea --------------------------------------------------------------------- */

static void
encode_bytea(WcCodec *codec, Datum value, WcBuf *out)
{
	bytea	   *b = DatumGetByteaPP(value);

	wc_buf_append(out, VARDATA_ANY(b), VARSIZE_ANY_EXHDR(b));
}

static bool
decode_bytea(WcCodec *codec, WcSlice bytes, Datum *value)
{
	bytea	   *b;

	if (bytes.len > MaxAllocSize - VARHDRSZ)
		return false;
	b = palloc(bytes.len + VARHDRSZ);
	SET_VARSIZE(b, bytes.len + VARHDRSZ);
	if (bytes.len > 0)
		memcpy(VARDATA(b), bytes.data, bytes.len);
	*value = PointerGetDatum(b);
	return true;
}

void
wc_bytea_init(WcCodec *codec)
{
	codec->encode = encode_bytea;
	codec->decode = decode_bytea;
	codec->order = WC_ORDER_BYTES;
	codec->equality_safe = true;
	codec->equality_exact = true;
	codec->prefix_exact = true;
	codec->expected = psprintf("at most %zu bytes", (size_t) (MaxAllocSize - VARHDRSZ));
}
