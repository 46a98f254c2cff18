/*
 * shell/value/javabytes.c: values as Java's org.apache.hadoop.hbase.util.Bytes writes them.
 *
 * to_bytes writes, to_long and its like read; both use the codecs of encoding `binary`,
 * which is the same format.  to_string_binary is HBase's shell's way to print bytes,
 * to_bytes_binary reads it.  Unlike Java's, readers take exactly the bytes of the type.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/printable.h"
#include "fdw/convert/convert.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_to_bytes);
PG_FUNCTION_INFO_V1(widecol_from_bytes);
PG_FUNCTION_INFO_V1(widecol_to_string_binary);
PG_FUNCTION_INFO_V1(widecol_to_bytes_binary);

/* Of bytes in a message. */
#define SHOWN_MAX 128

/* The codec of a function's one type, set up at its first call in a query. */
static WcCodec *
codec_of(FmgrInfo *flinfo, Oid type)
{
	MemoryContext old;
	WcCodecSpec spec = {
		.column = "value",
		.type = type,
		.typmod = -1,
		.encoding = type == TEXTOID ? WC_ENCODING_TEXT : WC_ENCODING_BINARY,
	};

	if (flinfo->fn_extra != NULL)
		return flinfo->fn_extra;
	old = MemoryContextSwitchTo(flinfo->fn_mcxt);
	flinfo->fn_extra = palloc0(sizeof(WcCodec));
	wc_codec_init(flinfo->fn_extra, &spec);
	MemoryContextSwitchTo(old);
	return flinfo->fn_extra;
}

/* to_bytes(value): Bytes.toBytes(value) */
Datum
widecol_to_bytes(PG_FUNCTION_ARGS)
{
	Oid		   *types;
	int			n;
	WcBuf		out;
	Datum volatile result = (Datum) 0;

	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &n);
	wc_buf_init(&out, WC_VALUE_MAX);
	PG_TRY();
	{
		wc_codec_encode(codec_of(fcinfo->flinfo, types[0]), PG_GETARG_DATUM(0), &out);
		result = wc_bytea_datum(wc_buf_slice(&out));
	}
	PG_FINALLY();
	{
		wc_buf_free(&out);
	}
	PG_END_TRY();
	return result;
}

/* to_long(bytes), to_int(bytes) ...: Bytes.toLong(bytes) ..., by the type that is returned */
Datum
widecol_from_bytes(PG_FUNCTION_ARGS)
{
	Oid			type = get_func_rettype(fcinfo->flinfo->fn_oid);
	WcCodec    *codec = codec_of(fcinfo->flinfo, type);
	WcSlice		bytes = wc_arg_bytes(fcinfo, 0);
	char		shown[SHOWN_MAX];
	Datum		value;

	codec->problem = NULL;
	if (!codec->decode(codec, bytes, &value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("bytes \"%s\" are no %s", wc_printable(shown, sizeof(shown), bytes), format_type_be(type)),
				 codec->problem ? errdetail("Of %zu %s: %s.", bytes.len, wc_bytes_word(bytes.len), codec->problem) :
				 codec->width > 0 ? errdetail("Found %zu %s, expected %d.", bytes.len, wc_bytes_word(bytes.len), codec->width) :
				 errdetail("Found %zu %s, expected %s.", bytes.len, wc_bytes_word(bytes.len), codec->expected)));
	return value;
}

/* to_string_binary(bytes): printable ASCII as it is, the rest as \xHH */
Datum
widecol_to_string_binary(PG_FUNCTION_ARGS)
{
	WcSlice		bytes = wc_arg_bytes(fcinfo, 0);
	size_t		size = WC_PRINTABLE_SIZE(bytes.len);
	char	   *text;

	if (size > MaxAllocSize / 2)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("text of the bytes would be too long"),
				 errdetail("There are %zu bytes; the limit is %zu.", bytes.len, (size_t) MaxAllocSize / 8)));
	text = palloc(Max(size, 8));
	PG_RETURN_TEXT_P(cstring_to_text(wc_printable(text, Max(size, 8), bytes)));
}

/* to_bytes_binary(text): \xHH is a byte, the rest its bytes in UTF-8 */
Datum
widecol_to_bytes_binary(PG_FUNCTION_ARGS)
{
	char	   *text = wc_arg_cstring(fcinfo, 0);

	return wc_bytea_datum(wc_unescape(text, psprintf("text \"%s\"", text)));
}
