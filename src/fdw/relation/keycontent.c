/*
 * fdw/relation/keycontent.c: which row keys a foreign table can read, for the engine.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "mb/pg_wchar.h"
#include "utils/date.h"

#include "client/client.h"
#include "fdw/relation/keycontent.h"
#include "rowkey/keycheck.h"

/* Bytes of a number whose digits PostgreSQL is sure to take. */
#define WC_PLAIN_NUMERIC_MAX 1000

/* Text without another form: its decoder accepts all bytes that are valid and not too long. */
static bool
check_text(const WcCodec *codec, WcContentCheck *check)
{
	bool		plain = codec->spec.encoding == WC_ENCODING_ORDERED ||
	codec->spec.encoding == WC_ENCODING_BINARY || codec->spec.encoding == WC_ENCODING_TEXT;

	check->kind = WC_CONTENT_TEXT;
	check->max = codec->spec.typmod < (int32) VARHDRSZ ? WC_ROW_MAX : codec->spec.typmod - VARHDRSZ;
	return plain && GetDatabaseEncoding() == PG_UTF8;
}

static void
check_timestamp(const WcCodec *codec, WcContentCheck *check)
{
	bool		ordered = codec->spec.encoding == WC_ENCODING_ORDERED;

	check->kind = ordered ? WC_CONTENT_INTEGER : WC_CONTENT_TIME;
	check->min = ordered ? MIN_TIMESTAMP : wc_codec_msecs(MIN_TIMESTAMP);
	check->max = ordered ? END_TIMESTAMP - 1 : wc_codec_msecs(END_TIMESTAMP - 1);
}

static bool
check_part(const WcCodec *codec, WcContentCheck *check)
{
	bool		ordered = codec->spec.encoding == WC_ENCODING_ORDERED;

	check->kind = WC_CONTENT_ANY;
	switch (codec->spec.type)
	{
		case TEXTOID:
		case VARCHAROID:
			return check_text(codec, check);
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case UUIDOID:
		case BYTEAOID:
			return ordered || codec->spec.encoding == WC_ENCODING_BINARY;
		case BOOLOID:
			check->kind = WC_CONTENT_BOOL;
			return ordered;
		case FLOAT4OID:
		case FLOAT8OID:
			check->kind = WC_CONTENT_FLOAT;
			return ordered;
		case DATEOID:
			check->kind = WC_CONTENT_INTEGER;
			check->min = DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE;
			check->max = DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1;
			return ordered;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			check_timestamp(codec, check);
			return ordered || codec->spec.encoding == WC_ENCODING_BINARY;
		case NUMERICOID:
			/* a typmod rounds */
			check->kind = WC_CONTENT_NUMERIC;
			check->max = WC_PLAIN_NUMERIC_MAX;
			return ordered && codec->spec.typmod < (int32) VARHDRSZ;
		default:
			return false;
	}
}

/* contents: one a part */
static void
encode(const WcRelation *wrel, const WcContentCheck *contents, WcBuf *out)
{
	WcKeyCheck	check = {.layout = wrel->key_layout,.contents = contents};
	WcError		err;

	if (wrel->nkeys == 0)
		check.layout = (WcKeyLayout) {0};
	wc_keycheck_encode(out, &check);
	if (wc_buf_status(out, "row key", &err) != WC_OK)
		wc_raise(&err);
}

bool
wc_keycontent_tells(const WcRelColumn *column)
{
	WcContentCheck content = {0};

	return column->role == WC_ROLE_KEY && !column->hashed && check_part(&column->codec, &content);
}

bool
wc_keycontent_encode(const WcRelation *wrel, WcBuf *out)
{
	WcContentCheck *contents = palloc0(sizeof(WcContentCheck) * Max(wrel->nkeys, 1));

	for (int k = 0; k < wrel->nkeys; k++)
	{
		const WcRelColumn *col = &wrel->columns[wrel->keys[k]];

		if (col->hashed || !check_part(&col->codec, &contents[k]))
			return false;
	}
	encode(wrel, contents, out);
	return true;
}

void
wc_keycontent_encode_parts(const WcRelation *wrel, const Bitmapset *parts, WcBuf *out)
{
	WcContentCheck *contents = palloc0(sizeof(WcContentCheck) * Max(wrel->nkeys, 1));
	int			k = -1;

	while ((k = bms_next_member(parts, k)) >= 0)
		(void) check_part(&wrel->columns[wrel->keys[k]].codec, &contents[k]);
	encode(wrel, contents, out);
}
