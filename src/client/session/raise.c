/*
 * client/session/raise.c: raises core's errors as PostgreSQL's.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "base/printable.h"
#include "channel/servertext.h"
#include "channel/shmem.h"
#include "client/client.h"

/* Size of the buffer for a row key in a message. */
#define SHOWN_MAX 128

/* One entry for each status, in the order of WcStatus. */
static const int sqlstates[WC_STATUS_COUNT] = {
	[WC_OK] = ERRCODE_INTERNAL_ERROR,
	[WC_END] = ERRCODE_INTERNAL_ERROR,
	[WC_INVALID] = ERRCODE_INVALID_PARAMETER_VALUE,
	[WC_TOO_LARGE] = ERRCODE_PROGRAM_LIMIT_EXCEEDED,
	[WC_NO_NAMESPACE] = ERRCODE_UNDEFINED_SCHEMA,
	[WC_NO_TABLE] = ERRCODE_UNDEFINED_TABLE,
	[WC_NO_FAMILY] = ERRCODE_UNDEFINED_COLUMN,
	[WC_EXISTS] = ERRCODE_DUPLICATE_TABLE,
	[WC_DUPLICATE_ROW] = ERRCODE_UNIQUE_VIOLATION,
	[WC_IN_USE] = ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
	[WC_BAD_DATA] = ERRCODE_INVALID_BINARY_REPRESENTATION,
	[WC_CANCELLED] = ERRCODE_QUERY_CANCELED,
	[WC_CONFLICT] = ERRCODE_T_R_SERIALIZATION_FAILURE,
	[WC_STALE] = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
	[WC_CORRUPT] = ERRCODE_DATA_CORRUPTED,
	[WC_IO] = ERRCODE_IO_ERROR,
	[WC_NO_SPACE] = ERRCODE_DISK_FULL,
	[WC_NO_FILES] = ERRCODE_INSUFFICIENT_RESOURCES,
	[WC_NO_MEMORY] = ERRCODE_OUT_OF_MEMORY,
	[WC_SHUTDOWN] = ERRCODE_ADMIN_SHUTDOWN,
	[WC_UNSUPPORTED] = ERRCODE_FEATURE_NOT_SUPPORTED,
	[WC_INTERNAL] = ERRCODE_INTERNAL_ERROR,
};

static WcRowRaiser row_raiser;

void
wc_raise_rows_by(WcRowRaiser raiser)
{
	row_raiser = raiser;
}

void
wc_raise_as(const WcError *err, int sqlstate)
{
	if (sqlstate == 0)
		sqlstate = (unsigned) err->status < WC_STATUS_COUNT ? sqlstates[err->status] : ERRCODE_INTERNAL_ERROR;
	ereport(ERROR,
			(errcode(sqlstate),
			 errmsg("%s", wc_server_text(err->message)),
			 err->detail[0] ? errdetail("%s", wc_server_text(err->detail)) : 0,
			 err->hint[0] ? errhint("%s", wc_server_text(err->hint)) : 0));
}

void
wc_raise(const WcError *err)
{
	if (err->row_len > 0 && row_raiser != NULL)
		row_raiser(err->status, err->table, wc_slice(err->row, err->row_len));
	wc_raise_as(err, 0);
}

void
wc_raise_no_memory(void)
{
	ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
}

void
wc_client_raise_changed_row(const WcTableDesc *table, WcSlice row)
{
	char		shown[SHOWN_MAX];

	/* the key may be part of an answer, and the raiser may send a request, whose answer replaces that */
	row = wc_slice(memcpy(palloc(row.len), row.data, row.len), row.len);
	if (row_raiser != NULL)
		row_raiser(WC_CONFLICT, table->id, row);
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to concurrent update"),
			 errdetail("Row \"%s\" of stored table \"%s\" was changed by another transaction after this one's snapshot.",
					   wc_printable(shown, sizeof(shown), row), wc_client_table_fullname(table))));
}

void
wc_client_require_preload(void)
{
	if (wc_shmem() == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("widecol must be loaded through shared_preload_libraries"),
				 errhint("Add widecol to shared_preload_libraries in postgresql.conf (behind a comma when others are there) and restart the server.")));
}

WcSlice
wc_name_to_utf8(const char *name)
{
	if (GetDatabaseEncoding() != PG_SQL_ASCII)
		name = pg_server_to_any(name, (int) strlen(name), PG_UTF8);
	return wc_slice_cstr(name);
}

char *
wc_name_from_utf8(WcSlice name)
{
	char	   *copy = pnstrdup((const char *) name.data, name.len);

	if (GetDatabaseEncoding() == PG_SQL_ASCII)
		return copy;
	if (!pg_verify_mbstr(PG_UTF8, copy, (int) name.len, true))
		return pstrdup(wc_server_text(copy));
	return pg_any_to_server(copy, (int) name.len, PG_UTF8);
}

char *
wc_client_table_fullname(const WcTableDesc *desc)
{
	char		name[2 * WC_NAME_MAX + 2];

	return wc_name_from_utf8(wc_slice_cstr(wc_table_desc_fullname(desc, name, sizeof(name))));
}
