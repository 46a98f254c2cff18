/*
 * shell/argument.c: arguments of the SQL functions, checked.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/rangetypes.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "compat.h"
#include "client/foreign/foreign.h"
#include "client/foreign/ttl.h"
#include "shell/shell.h"

void
wc_arg_not_null(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name)));
}

char *
wc_arg_cstring(FunctionCallInfo fcinfo, int argno)
{
	return text_to_cstring(PG_GETARG_TEXT_PP(argno));
}

char *
wc_arg_name(FunctionCallInfo fcinfo, int argno, const char *name)
{
	wc_arg_not_null(fcinfo, argno, name);
	return wc_arg_cstring(fcinfo, argno);
}

WcSlice
wc_arg_bytes(FunctionCallInfo fcinfo, int argno)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(argno);

	return wc_slice(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
}

Datum
wc_bytea_datum(WcSlice s)
{
	bytea	   *result = palloc(VARHDRSZ + s.len);

	SET_VARSIZE(result, VARHDRSZ + s.len);
	if (s.len > 0)
		memcpy(VARDATA(result), s.data, s.len);
	return PointerGetDatum(result);
}

WcSlice
wc_arg_row(FunctionCallInfo fcinfo, int argno)
{
	wc_arg_not_null(fcinfo, argno, "row");
	return wc_row_check(wc_arg_bytes(fcinfo, argno));
}

WcSlice
wc_row_check(WcSlice row)
{
	if (row.len == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("row key must not be empty")));
	if (row.len > WC_ROW_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row key is too long"),
				 errdetail("It has %zu bytes; the limit is %d.", row.len, WC_ROW_MAX)));
	return row;
}

int64
wc_arg_ts(FunctionCallInfo fcinfo, int argno)
{
	int64		ts;

	if (PG_ARGISNULL(argno))
		return WC_TS_LATEST;
	ts = PG_GETARG_INT64(argno);
	if (ts < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("timestamp must not be negative"),
				 errdetail("Timestamps are microseconds since 1970-01-01 UTC; this one is " INT64_FORMAT ".", ts)));
	return ts;
}

int64
wc_arg_ttl_us(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? 0 : wc_ttl_of_interval(PG_GETARG_DATUM(argno));
}

/* PostgreSQL keeps an int8range as [min, max).  An empty one has no bounds, and no cell is in it. */
void
wc_arg_time_range(FunctionCallInfo fcinfo, int argno, WcScan *scan)
{
	RangeType  *range;
	RangeBound	lower;
	RangeBound	upper;
	bool		empty;

	if (PG_ARGISNULL(argno))
		return;
	range = PG_GETARG_RANGE_P(argno);
	range_deserialize(lookup_type_cache(INT8RANGEOID, TYPECACHE_RANGE_INFO), range,
					  &lower, &upper, &empty);
	if (empty)
	{
		scan->ts_min = 0;
		scan->ts_max = 0;
		return;
	}
	if ((!lower.infinite && DatumGetInt64(lower.val) < 0) ||
		(!upper.infinite && DatumGetInt64(upper.val) <= 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time_range must not be negative")));
	scan->ts_min = lower.infinite ? 0 : DatumGetInt64(lower.val);
	scan->ts_max = upper.infinite ? WC_TS_LATEST : DatumGetInt64(upper.val);
}

WcClientStore *
wc_arg_store(FunctionCallInfo fcinfo, int argno)
{
	ForeignServer *server;
	const char *name;

	wc_arg_not_null(fcinfo, argno, "server");
	name = NameStr(*PG_GETARG_NAME(argno));
	if (strcmp(name, "widecol") == 0)
		return wc_client_embedded();
	server = wc_foreign_server(name);
	if (server == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no foreign server \"%s\" of the wrapper widecol", name)));
	return wc_client_store(server->serverid);
}

const WcFamilyDesc *
wc_family_lookup(const WcTableDesc *table, const char *family)
{
	const WcFamilyDesc *found = wc_table_desc_family(table, wc_name_to_utf8(family));
	StringInfoData list;

	if (found)
		return found;
	initStringInfo(&list);
	for (uint32 i = 0; i < table->nfamilies; i++)
		appendStringInfo(&list, "%s%s", i > 0 ? ", " : "",
						 wc_name_from_utf8(table->families[i].name));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("stored table \"%s\" has no family \"%s\"",
					wc_client_table_fullname(table), family),
			 errhint("Its families are: %s.", list.data)));
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

WcSlice
wc_unescape(const char *text, const char *what)
{
	WcSlice		utf8 = wc_name_to_utf8(text);
	uint8	   *out = palloc(utf8.len + 1);
	size_t		n = 0;

	for (size_t i = 0; i < utf8.len; i++)
	{
		if (utf8.data[i] != '\\')
		{
			out[n++] = utf8.data[i];
			continue;
		}
		if (i + 3 < utf8.len && utf8.data[i + 1] == 'x' &&
			hex_digit((char) utf8.data[i + 2]) >= 0 && hex_digit((char) utf8.data[i + 3]) >= 0)
		{
			out[n++] = (uint8) (hex_digit((char) utf8.data[i + 2]) * 16 +
								hex_digit((char) utf8.data[i + 3]));
			i += 3;
		}
		else
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid escape in %s", what),
					 errhint("Write a byte as \\xHH with two hex digits, a backslash itself as \\x5C.")));
	}
	return wc_slice(out, n);
}

static WcSlice
unescape_qualifier(const char *column, const char *qualifier)
{
	WcSlice		bytes = wc_unescape(qualifier, psprintf("column name \"%s\"", column));

	if (bytes.len > WC_QUALIFIER_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("qualifier is too long"),
				 errdetail("It has %zu bytes; the limit is %d.", bytes.len, WC_QUALIFIER_MAX)));
	return bytes;
}

WcColumnName
wc_column_parse(const WcTableDesc *table, const char *column, bool family_allowed)
{
	WcColumnName name = {0};
	const char *colon = strchr(column, ':');

	if (colon == NULL && !family_allowed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column name \"%s\" has no colon", column),
				 errhint("Write it as family:qualifier; the qualifier may be empty.")));
	name.whole_family = colon == NULL;
	if (colon)
	{
		name.family = wc_family_lookup(table, pnstrdup(column, colon - column))->id;
		name.qualifier = unescape_qualifier(column, colon + 1);
	}
	else
		name.family = wc_family_lookup(table, column)->id;
	return name;
}

WcColumnName
wc_arg_column(FunctionCallInfo fcinfo, int argno, const char *name, const WcTableDesc *table)
{
	wc_arg_not_null(fcinfo, argno, name);
	return wc_column_parse(table, wc_arg_cstring(fcinfo, argno), false);
}
