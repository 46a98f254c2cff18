/*
 * shell/value/bytes.c: the type of arguments that are row keys and values.
 *
 * It is bytea that text may be passed for: a text is its bytes in UTF-8, as they are.  An
 * untyped literal goes through the input function, and is read as one of bytea.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_bytes_in);
PG_FUNCTION_INFO_V1(widecol_bytes_of);

Datum
widecol_bytes_in(PG_FUNCTION_ARGS)
{
	/* escapes are ASCII: they are the same in UTF-8 */
	return DirectFunctionCall1(byteain, CStringGetDatum((const char *) wc_name_to_utf8(PG_GETARG_CSTRING(0)).data));
}

Datum
widecol_bytes_of(PG_FUNCTION_ARGS)
{
	return wc_bytea_datum(wc_name_to_utf8(wc_arg_cstring(fcinfo, 0)));
}
