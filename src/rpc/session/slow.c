/*
 * rpc/session/slow.c: requests that took long, for the server's log.
 */
#include "rpc/session/slow.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/log.h"

/* ' of stored table "namespace:name"', or nothing. */
static const char *
table_text(const WcSlowLog *log, uint32_t table_id, char *text, size_t size)
{
	char		name[2 * WC_NAME_MAX + 2];
	WcTableDesc desc = {0};
	WcSlice		names[2];
	WcBuf		buf = WC_BUF_INIT;

	text[0] = '\0';
	if (table_id == 0)
		return text;
	wc_engine_table_name(log->engine, table_id, &buf, names);
	desc.ns = names[0];
	desc.name = names[1];
	if (desc.name.len > 0)
		snprintf(text, size, " of stored table \"%s\"", wc_table_desc_fullname(&desc, name, sizeof(name)));
	wc_buf_free(&buf);
	return text;
}

void
wc_slow_note(const WcSlowLog *log, const char *request, uint32_t table_id, int64_t spent_us,
			 uint64_t rows_examined, uint64_t rows_returned)
{
	int64_t		limit = log->limit != NULL ? atomic_load_explicit(log->limit, memory_order_relaxed) : -1;
	char		text[2 * WC_NAME_MAX + 32];

	if (limit < 0 || spent_us < limit)
		return;
	wc_log(WC_LOG_INFO, "slow %s%s by process %" PRIu32 ": %" PRId64 ".%03" PRId64 " ms, rows examined %" PRIu64 ", rows returned %" PRIu64,
		   request, table_text(log, table_id, text, sizeof(text)), log->pid, spent_us / 1000, spent_us % 1000,
		   rows_examined, rows_returned);
}
