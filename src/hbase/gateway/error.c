/*
 * hbase/gateway/error.c: errors, which functions of core cannot raise.
 *
 * Such a function returns a status.  This file keeps what the status and the WcError do not tell, until wc_hbase_raise.
 */
#include "hbase/gateway/gateway.h"

const WcDriverHost *wc_hbase_host;

static int	error_sqlstate;		/* of the last error set by this module; 0: none */
static ErrorData *kept_error;

WcStatus
wc_hbase_error(WcError *err, WcStatus status, int sqlstate, const char *fmt,...)
{
	char		text[WC_ERROR_TEXT_MAX];
	va_list		args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	error_sqlstate = sqlstate;
	return wc_error(err, status, "%s", text);
}

void
wc_hbase_error_forget(void)
{
	error_sqlstate = 0;
}

void
wc_hbase_keep_error(MemoryContext context)
{
	MemoryContextSwitchTo(context);
	kept_error = CopyErrorData();
	FlushErrorState();
}

void
wc_hbase_error_more(WcError *err, int sqlstate, const char *more)
{
	char		detail[WC_ERROR_TEXT_MAX];

	if (kept_error != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(kept_error->assoc_context);

		kept_error->detail = kept_error->detail != NULL ? psprintf("%s %s", more, kept_error->detail) : pstrdup(more);
		MemoryContextSwitchTo(old);
		return;
	}
	snprintf(detail, sizeof(detail), "%s%s%s", more, err->detail[0] ? " " : "", err->detail);
	wc_error_detail(err, "%s", detail);
	if (sqlstate != 0)
		error_sqlstate = sqlstate;
}

void
wc_hbase_too_large(uint64 bytes)
{
	wc_hbase_host->too_large(bytes);
}

void
wc_hbase_note_sending(void)
{
	wc_hbase_host->note_sending();
}

WcStatus
wc_hbase_lock_rows(uint32 lock_id, const WcSlice *rows, int nrows, WcError *err)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool raised = false;

	PG_TRY();
	{
		wc_hbase_host->lock_rows(lock_id, rows, nrows);
	}
	PG_CATCH();
	{
		wc_hbase_keep_error(context);
		raised = true;
	}
	PG_END_TRY();
	return raised ? wc_error(err, WC_CANCELLED, "rows could not be locked") : WC_OK;
}

void
wc_hbase_raise(const WcError *err)
{
	int			sqlstate = error_sqlstate;
	ErrorData  *kept = kept_error;

	error_sqlstate = 0;
	kept_error = NULL;
	if (kept != NULL)
		ReThrowError(kept);
	if (sqlstate == 0)
		wc_hbase_host->raise(err);
	wc_hbase_host->raise_as(err, sqlstate);
}

WcStatus
wc_hbase_cannot_connect(WcHBaseServer *server, const char *why, const char *hint, WcError *err)
{
	server->refused = true;
	wc_hbase_error(err, WC_IO, ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION,
				   "could not connect to the HBase gateway at %s:%d", server->options.host, server->options.port);
	wc_error_detail(err, "%s.", why);
	wc_error_hint(err, "%s", hint != NULL ? hint : "Options \"host\" and \"port\" of the server name a Thrift2 gateway.");
	return WC_IO;
}

WcStatus
wc_hbase_timed_out(WcHBaseServer *server, const char *option, int seconds, WcError *err)
{
	server->timed_out = true;
	wc_hbase_error(err, WC_IO, ERRCODE_CONNECTION_FAILURE, "HBase gateway at %s:%d did not answer within %d s",
				   server->options.host, server->options.port, seconds);
	wc_error_hint(err, "Option \"%s\" of the server is this limit.", option);
	return WC_IO;
}
