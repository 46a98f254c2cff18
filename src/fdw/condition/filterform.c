/*
 * fdw/condition/filterform.c: where a column's values are, and the comparisons that the bytes of cells, and of parts of
 * the row key, decide in the engine.
 *
 * Other programs may have written the cells.  So a cell may hold any of several forms of one value (the text 1.50 for
 * 1.5), or a value that is rounded when it is read.  From a form, the engine knows the value that our own decoding
 * would make of the bytes, or knows that it does not know it (model/filter.h).
 *
 * A part of the key has only one form, and its codec determines the comparisons that it decides.  A key check
 * (keycontent.h) determines whether there is a value at all; where it cannot, no comparison is decided.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/lsyscache.h"

#include "fdw/condition/filter.h"
#include "fdw/relation/keycontent.h"

/* Numbers of decimal digits that fit the integer types in any case. */
#define INT2_DIGITS 4
#define INT4_DIGITS 9
#define INT8_DIGITS 18

static WcForm
decided(WcFilterForm form, int width, bool order)
{
	WcForm		f = {.column = {.form = (uint8) form,.width = (uint32) width}};

	f.equality = true;
	f.order = order;
	return f;
}

/* Text whose bytes are in the database's encoding. */
static WcForm
form_of_text(const WcCodec *codec, bool plain)
{
	WcForm		f = decided(codec->spec.type == BPCHAROID ? WC_FORM_TRIMMED : WC_FORM_BYTES, 0, plain);

	f.prefix = plain && codec->spec.type != BPCHAROID;
	if (codec->spec.type == VARCHAROID && codec->spec.typmod >= (int32) VARHDRSZ)
		f.column.most = (uint32) codec->spec.typmod - VARHDRSZ;
	if (codec->spec.type == BPCHAROID && !plain)
		f.equality = false;		/* reversed text has the blanks at its start */
	return f;
}

/* Decimal text of integers and of numeric. */
static WcForm
form_of_decimal(const WcCodec *codec, const WcForm *unknown)
{
	WcForm		f = decided(WC_FORM_DECIMAL, 0, true);
	int32		typmod = codec->spec.typmod - (int32) VARHDRSZ;
	int			precision;
	int			scale;

	switch (codec->spec.type)
	{
		case INT2OID:
			f.column.most = INT2_DIGITS;
			return f;
		case INT4OID:
			f.column.most = INT4_DIGITS;
			return f;
		case INT8OID:
			f.column.most = INT8_DIGITS;
			return f;
		default:
			break;
	}
	f.column.scale = PG_UINT32_MAX;
	if (typmod < 0)
		return f;

	/* when they are read, other values are rounded to this typmod, or refused */
	precision = (typmod >> 16) & 0xFFFF;
	scale = ((typmod & 0x7FF) ^ 1024) - 1024;
	if (scale < 0 || precision <= scale)
		return *unknown;
	f.column.most = (uint32) (precision - scale);
	f.column.scale = (uint32) scale;
	return f;
}

static WcForm
form_of_binary(const WcCodec *codec, const WcForm *unknown)
{
	switch (codec->spec.type)
	{
		case BOOLOID:
			return decided(WC_FORM_BOOL, 1, true);
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return decided(WC_FORM_SIGNED, codec->width, true);
		case FLOAT4OID:
		case FLOAT8OID:
			return decided(WC_FORM_FLOAT, codec->width, true);
		case UUIDOID:
			return decided(WC_FORM_BYTES, codec->width, true);
		case BYTEAOID:
			return decided(WC_FORM_BYTES, 0, true);
		default:
			return *unknown;
	}
}

static WcForm
form_of_ordered(const WcCodec *codec, const WcForm *unknown)
{
	/* reading rounds to the typmod */
	if (codec->spec.type == NUMERICOID && codec->spec.typmod >= (int32) VARHDRSZ)
		return *unknown;
	return decided(WC_FORM_BYTES, codec->width, true);
}

static WcForm
form_of_form(const WcCodec *codec, const WcForm *unknown)
{
	switch (codec->spec.type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
			return form_of_decimal(codec, unknown);
		case DATEOID:
			return decided(WC_FORM_DATE, 0, true);
		case TIMESTAMPOID:
			return decided(WC_FORM_TIMESTAMP, 0, true);
		case TIMESTAMPTZOID:
			return decided(WC_FORM_TIMESTAMPTZ, 0, true);
		default:
			/* a label of an enum has one form */
			return get_typtype(codec->spec.type) == TYPTYPE_ENUM ? decided(WC_FORM_BYTES, 0, false) : *unknown;
	}
}

WcForm
wc_form_of_cell(const WcCodec *codec)
{
	WcForm		unknown = {.column = {.form = WC_FORM_BYTES,.width = (uint32) codec->width}};
	Oid			type = codec->spec.type;
	bool		text = type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
	bool		same_bytes = wc_bytes_are_same();

	switch (codec->spec.encoding)
	{
		case WC_ENCODING_ORDERED:
		case WC_ENCODING_BINARY:
		case WC_ENCODING_TEXT:
			if (text)
				return same_bytes ? form_of_text(codec, true) : unknown;
			if (codec->spec.encoding == WC_ENCODING_ORDERED)
				return form_of_ordered(codec, &unknown);
			if (codec->spec.encoding == WC_ENCODING_BINARY)
				return form_of_binary(codec, &unknown);
			return same_bytes ? form_of_form(codec, &unknown) : unknown;
		case WC_ENCODING_REVERSED:
		case WC_ENCODING_REVERSED_DOMAIN:
			return text && same_bytes ? form_of_text(codec, false) : unknown;
		default:
			return unknown;
	}
}

static WcForm
form_of_part(const WcRelColumn *column)
{
	const WcCodec *codec = &column->codec;
	WcForm		f = {.column = {.form = WC_FORM_BYTES,.in_key = true}};

	if (!wc_keycontent_tells(column))
		return f;
	f.equality = codec->equality_exact;
	f.order = codec->order != WC_ORDER_NONE;
	f.prefix = codec->prefix_exact;
	if (codec->order == WC_ORDER_SIGNED)
		f.column.form = WC_FORM_SIGNED;
	if (codec->order == WC_ORDER_FLOAT)
		f.column.form = WC_FORM_FLOAT;
	if (f.column.form != WC_FORM_BYTES)
		f.column.width = (uint32) codec->width;
	return f;
}

WcCodec *
wc_filter_codec(WcRelation *wrel, int att)
{
	WcRelColumn *column = &wrel->columns[att];

	if (column->role == WC_ROLE_KEY && column->hashed)
		return &column->original;
	return column->role == WC_ROLE_VALUE || column->role == WC_ROLE_KEY ? &column->codec : NULL;
}

bool
wc_filter_in_key(const WcRelation *wrel, int att)
{
	return wrel->columns[att].role == WC_ROLE_KEY && !wrel->columns[att].hashed;
}

WcForm
wc_form_of_column(const WcRelation *wrel, int att)
{
	if (wrel->columns[att].role == WC_ROLE_TIMESTAMP)
		return decided(WC_FORM_WRITTEN, sizeof(int64), true);
	if (wc_filter_in_key(wrel, att))
		return form_of_part(&wrel->columns[att]);
	return wc_form_of_cell(wc_filter_codec(unconstify(WcRelation *, wrel), att));
}
