/*
 * fdw/convert/convert.c: setting up codecs, and their errors.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "base/limits.h"
#include "base/printable.h"
#include "fdw/convert/convert_internal.h"

/* Of bytes that messages show, at most so many characters. */
#define SHOWN_MAX 200

/* --- setting up ----------------------------------------------------------------- */

/* The encoding that DEFAULT means for this type. */
static WcEncoding
default_encoding(Oid type, bool as_key)
{
	if (as_key)
		return WC_ENCODING_ORDERED;
	switch (getBaseType(type))
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case UUIDOID:
		case BYTEAOID:
			return WC_ENCODING_BINARY;
		default:
			return WC_ENCODING_TEXT;
	}
}

/* Domains and the default encoding looked through. */
static WcCodecSpec
resolve(const WcCodecSpec *spec)
{
	WcCodecSpec r = *spec;

	r.type = getBaseTypeAndTypmod(spec->type, &r.typmod);
	if (r.encoding == WC_ENCODING_DEFAULT)
		r.encoding = default_encoding(r.type, r.as_key);
	return r;
}

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* Is content the text form, or made of it (no zero bytes in it, then)? */
static bool
is_form(const WcCodecSpec *spec)
{
	switch (spec->encoding)
	{
		case WC_ENCODING_TEXT:
		case WC_ENCODING_REVERSED:
		case WC_ENCODING_REVERSED_DOMAIN:
			return true;
		default:
			return wc_textual_is(spec->type);
	}
}

/* Does the encoding know the type at all?  NULL, or why not. */
static const char *
type_problem(const WcCodecSpec *spec)
{
	const char *name = wc_encoding_name(spec->encoding);

	switch (spec->encoding)
	{
		case WC_ENCODING_ORDERED:
		case WC_ENCODING_BINARY:
			if (wc_fixed_is(spec->type) || wc_textual_is(spec->type) ||
				spec->type == NUMERICOID || spec->type == BYTEAOID)
				return NULL;
			return psprintf("encoding \"%s\" does not know type %s, encoding \"text\" does",
							name, format_type_be(spec->type));
		case WC_ENCODING_REVERSED:
			if (wc_textual_is(spec->type) || is_integer(spec->type))
				return NULL;
			return psprintf("encoding \"%s\" is for text and integers, not for type %s",
							name, format_type_be(spec->type));
		case WC_ENCODING_REVERSED_DOMAIN:
			if (wc_textual_is(spec->type))
				return NULL;
			return psprintf("encoding \"%s\" is for text, not for type %s", name, format_type_be(spec->type));
		default:
			return NULL;
	}
}

static const char *
length_problem(const WcCodecSpec *spec)
{
	int			most = WC_ROW_MAX;

	if (spec->length == 0)
		return NULL;
	if (wc_encoding_is_hash(spec->encoding))
		most = wc_encoding_hash_size(spec->encoding);
	else if (!is_form(spec) && spec->type != BYTEAOID)
		return psprintf("option \"length\" is for text, bytea and hashes, not for type %s with encoding \"%s\"",
						format_type_be(spec->type), wc_encoding_name(spec->encoding));
	if (spec->length < 1 || spec->length > most)
		return psprintf("length %d is not between 1 and %d", spec->length, most);
	return NULL;
}

static const char *
key_problem(const WcCodecSpec *spec)
{
	if (OidIsValid(spec->collation) && !get_collation_isdeterministic(spec->collation))
		return "a key column cannot have a nondeterministic collation";
	if (spec->desc && spec->encoding == WC_ENCODING_BINARY &&
		(spec->type == FLOAT4OID || spec->type == FLOAT8OID || spec->type == NUMERICOID))
		return psprintf("encoding \"binary\" of type %s cannot be descending, encoding \"ordered\" can",
						format_type_be(spec->type));
	return length_problem(spec);
}

static const char *
problem_of(const WcCodecSpec *resolved)
{
	const char *problem = type_problem(resolved);

	if (problem == NULL && resolved->as_key)
		problem = key_problem(resolved);
	if (problem == NULL && !resolved->as_key && wc_encoding_is_hash(resolved->encoding))
		problem = psprintf("encoding \"%s\" is for key columns", wc_encoding_name(resolved->encoding));
	return problem;
}

/* How content is laid into the key. */
static void
shape_part(WcCodec *codec)
{
	const WcCodecSpec *spec = &codec->spec;
	WcPartShape *shape = &codec->shape;

	/* a number of varying width says itself where it ends; looking for a delimiter in it would not do */
	bool		opaque = spec->type == NUMERICOID && !is_form(spec);

	shape->order = (uint8_t) codec->order;
	shape->desc = spec->desc;
	if (codec->width > 0 || spec->length > 0)
	{
		shape->kind = WC_PART_FIXED;
		shape->length = (uint32_t) (codec->width > 0 ? codec->width : spec->length);
		shape->padded = codec->width == 0 && is_form(spec);
	}
	else if (spec->is_last && !spec->desc)
		shape->kind = WC_PART_REST;
	else if (spec->delimited && !spec->is_last && !spec->desc && !opaque)
		shape->kind = WC_PART_DELIMITED;
	else
		shape->kind = WC_PART_ESCAPED;
}

void
wc_codec_init(WcCodec *codec, const WcCodecSpec *spec)
{
	const char *problem;

	memset(codec, 0, sizeof(*codec));
	codec->spec = resolve(spec);
	problem = problem_of(&codec->spec);
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("%s cannot be stored so: %s", wc_codec_name(spec), problem)));

	wc_input_init(&codec->in, codec->spec.type, codec->spec.typmod);
	if (is_form(&codec->spec) || wc_encoding_is_hash(codec->spec.encoding))
		wc_textual_init(codec);
	else if (codec->spec.type == NUMERICOID)
		wc_numeric_init(codec);
	else if (codec->spec.type == BYTEAOID)
		wc_bytea_init(codec);
	else
		wc_fixed_init(codec);
	if (codec->spec.as_key)
		shape_part(codec);
}

/* --- one codec for another ------------------------------------------------------- */

/* Encodings that are made from the text form; `ordered` and `binary` of a text are its form, too. */
static WcEncoding
form_encoding(const WcCodecSpec *spec)
{
	return spec->encoding == WC_ENCODING_ORDERED || spec->encoding == WC_ENCODING_BINARY ?
		WC_ENCODING_TEXT : spec->encoding;
}

bool
wc_codec_verbatim(const WcCodec *codec)
{
	if (codec->spec.type == BYTEAOID)
		return codec->spec.encoding == WC_ENCODING_ORDERED || codec->spec.encoding == WC_ENCODING_BINARY;
	return wc_textual_is(codec->spec.type) && form_encoding(&codec->spec) == WC_ENCODING_TEXT;
}

WcBytesAreValue
wc_codec_bytes_are_value(const WcCodec *codec, size_t len)
{
	const WcCodecSpec *spec = &codec->spec;

	if (!wc_codec_verbatim(codec) || spec->as_key)
		return WC_BYTES_NO;
	if (spec->type == BYTEAOID)
		return WC_BYTES_YES;
	if ((spec->type != TEXTOID && spec->type != VARCHAROID) || !wc_bytes_are_same())
		return WC_BYTES_NO;
	/* the type's modifier counts characters, of which there are not more than bytes */
	return spec->typmod < (int32) VARHDRSZ || len <= (size_t) spec->typmod - VARHDRSZ ? WC_BYTES_IF_TEXT : WC_BYTES_NO;
}

bool
wc_codec_is_text(WcSlice bytes)
{
	return wc_is_utf8(bytes);
}

/* Does PostgreSQL take a value of one type (and modifier) for one of the other as it is? */
static bool
coerces_as_is(const WcCodecSpec *old, const WcCodecSpec *new)
{
	Node	   *expr = (Node *) makeVar(1, 1, old->type, old->typmod, get_typcollation(old->type), 0);

	expr = coerce_to_target_type(NULL, expr, old->type, new->type, new->typmod,
								 COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
	if (expr != NULL)
		expr = eval_const_expressions(NULL, expr);
	while (expr != NULL && IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	return expr != NULL && IsA(expr, Var);
}

bool
wc_codec_same_bytes(const WcCodec *old, const WcCodec *new)
{
	const WcCodecSpec *o = &old->spec;
	const WcCodecSpec *n = &new->spec;
	bool		any_text = (n->type == TEXTOID || n->type == VARCHAROID) && n->typmod < 0;

	if (wc_codec_verbatim(old) && wc_codec_verbatim(new) && (n->type == BYTEAOID || any_text))
		return true;
	if (is_form(o) || wc_encoding_is_hash(o->encoding))
		return (is_form(n) || wc_encoding_is_hash(n->encoding)) && form_encoding(o) == form_encoding(n) &&
			(any_text || coerces_as_is(o, n));
	return o->type == n->type && o->encoding == n->encoding && coerces_as_is(o, n);
}

/* --- conditions ----------------------------------------------------------------- */

WcFit
wc_codec_encode_bound(WcCodec *codec, Oid value_type, Datum value, WcBuf *out)
{
	Oid			type = codec->spec.type;
	Oid			given = getBaseType(value_type);

	if (wc_fixed_is(type))
		return wc_fixed_bound(codec, given, value, out);
	if (given == NAMEOID && (type == TEXTOID || type == VARCHAROID))
	{
		/* owner = current_user */
		value = CStringGetTextDatum(NameStr(*DatumGetName(value)));
		given = TEXTOID;
	}
	if (type != given &&
		!((type == TEXTOID || type == VARCHAROID) && (given == TEXTOID || given == VARCHAROID)))
		return WC_FIT_UNKNOWN;
	if (type == NUMERICOID && codec->spec.encoding == WC_ENCODING_BINARY)
	{
		Numeric		num = DatumGetNumeric(value);

		if (numeric_is_nan(num) || numeric_is_inf(num))
			return WC_FIT_NEVER;
	}
	wc_codec_encode(codec, value, out);
	return WC_FIT_EXACT;
}

/* --- reading -------------------------------------------------------------------- */

static const char *
shown(WcSlice s)
{
	char	   *buf = palloc(SHOWN_MAX);

	return wc_printable(buf, SHOWN_MAX, s);
}

/* The detail for a value of this many bytes that does not decode. */
static const char *
expectation(const WcCodec *codec, size_t len)
{
	if (codec->width > 0 && len != (size_t) codec->width)
		return psprintf("expected %d", codec->width);
	if (codec->width > 0)
		return psprintf("they are no %s value", wc_encoding_name(codec->spec.encoding));
	return psprintf("expected %s", codec->expected);
}

static void pg_attribute_noreturn()
hidden_error(WcCodec *codec, size_t len, const WcCodecWhere *where)
{
	codec->problem = NULL;		/* it may quote the bytes */
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg(codec->spec.as_key ? "cannot decode row key part of column \"%s\" of type %s" :
					"cannot decode cell of column \"%s\" of type %s",
					codec->spec.column, format_type_be(codec->spec.type)),
			 errdetail("A row of foreign table \"%s\": found %zu %s (encoding %s), %s.", where->table,
					   len, wc_bytes_word(len), wc_encoding_name(codec->spec.encoding), expectation(codec, len)),
			 errhint("A security policy or a view uses this column to hide rows.")));
}

static void
decode_error(int level, WcCodec *codec, WcSlice bytes, const WcCodecWhere *where)
{
	const char *place = "";
	const char *reason;

	if (where != NULL && where->hidden)
		hidden_error(codec, bytes.len, where);
	if (where != NULL)
		place = psprintf("Row \"%s\" of foreign table \"%s\": ", shown(where->row), where->table);
	if (codec->problem != NULL)
	{
		reason = codec->problem;
		codec->problem = NULL;	/* the codec may outlive it */
	}
	else
		reason = expectation(codec, bytes.len);
	ereport(level,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg(codec->spec.as_key ? "cannot decode row key part of column \"%s\" of type %s" :
					"cannot decode cell of column \"%s\" of type %s",
					codec->spec.column, format_type_be(codec->spec.type)),
			 errdetail("%sfound %zu %s \"%s\" (encoding %s), %s.", place, bytes.len, wc_bytes_word(bytes.len), shown(bytes),
					   wc_encoding_name(codec->spec.encoding), reason)));
}

Datum
wc_codec_decode(WcCodec *codec, WcSlice bytes, const WcCodecWhere *where)
{
	Datum		value;

	Assert(!codec->is_hash);
	if (unlikely(!codec->decode(codec, bytes, &value)))
	{
		decode_error(ERROR, codec, bytes, where);
		pg_unreachable();
	}
	return value;
}

bool
wc_codec_try_decode(WcCodec *codec, WcSlice bytes, const WcCodecWhere *where, Datum *value)
{
	Assert(!codec->is_hash);
	if (likely(codec->decode(codec, bytes, value)))
		return true;
	decode_error(wc_undecodable_level(where), codec, bytes, where);
	return false;
}

/* --- errors --------------------------------------------------------------------- */

void
wc_codec_compose_error(const char *table, const char *column, const WcError *err)
{
	int			code;

	if (err->status == WC_NO_MEMORY)
		code = ERRCODE_OUT_OF_MEMORY;
	else if (err->status != WC_TOO_LARGE)
		code = ERRCODE_INVALID_PARAMETER_VALUE;
	else
		code = column == NULL ? ERRCODE_PROGRAM_LIMIT_EXCEEDED : ERRCODE_STRING_DATA_RIGHT_TRUNCATION;
	if (column == NULL)
		ereport(ERROR,
				(errcode(code),
				 errmsg("invalid row key for foreign table \"%s\": %s", table, err->message)));
	ereport(ERROR,
			(errcode(code),
			 errmsg("invalid value for key column \"%s\" of foreign table \"%s\": %s",
					column, table, err->message)));
}

void
wc_codec_split_error(const WcCodecWhere *where, const WcError *err)
{
	ereport(ERROR,
			(errcode(err->status == WC_NO_MEMORY ? ERRCODE_OUT_OF_MEMORY : ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("cannot decode row key of foreign table \"%s\": %s", where->table, err->message),
			 where->hidden ? errdetail("The row key has %zu %s.", where->row.len, wc_bytes_word(where->row.len)) :
			 errdetail("The row key is \"%s\" (%zu %s).", shown(where->row), where->row.len, wc_bytes_word(where->row.len))));
}
