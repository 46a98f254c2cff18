/*
 * channel/servertext.c: core's texts, in the database's encoding.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "common/string.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"

#include "channel/servertext.h"

static const char *
escaped(const char *text)
{
	StringInfoData out;

	initStringInfo(&out);
	for (const char *c = text; *c != '\0'; c++)
	{
		if (IS_HIGHBIT_SET(*c))
			appendStringInfo(&out, "\\x%02X", (unsigned char) *c);
		else
			appendStringInfoChar(&out, *c);
	}
	return out.data;
}

/* NULL: it cannot be converted.  (PostgreSQL looks for the conversion in its catalog, so a transaction is needed.) */
static const char *
converted(const char *text, int len)
{
	Oid			proc = IsTransactionState() ? FindDefaultConversionProc(PG_UTF8, GetDatabaseEncoding()) : InvalidOid;
	Size		size = (Size) len * MAX_CONVERSION_GROWTH + 1;
	char	   *result = palloc(size);

	if (!OidIsValid(proc) ||
		pg_do_encoding_conversion_buf(proc, PG_UTF8, GetDatabaseEncoding(), (unsigned char *) unconstify(char *, text), len,
									  (unsigned char *) result, (int) size, true) != len)
		return NULL;
	return result;
}

const char *
wc_server_text(const char *text)
{
	int			len = (int) strlen(text);
	const char *result = NULL;

	if (pg_is_ascii(text) || GetDatabaseEncoding() == PG_SQL_ASCII)
		return text;
	if (pg_verify_mbstr(PG_UTF8, text, len, true))
		result = GetDatabaseEncoding() == PG_UTF8 ? text : converted(text, len);
	return result != NULL ? result : escaped(text);
}
