/*
 * client/session/settings.c: the settings that a session reads.
 */
#include "postgres.h"

#include "client/client.h"
#include "client/settings.h"

/* A hundred years: no TTL test needs more, and microseconds of it fit easily. */
#define CLOCK_OFFSET_MAX_MS		(100.0 * 365.25 * 24 * 3600 * 1000)

static double debug_clock_offset_ms = 0;
int			wc_max_transaction_mb = 4096;
int			wc_worker_id = 0;
bool		wc_warn_full_scan = false;
bool		wc_enable_pushdown = true;
int			wc_on_undecodable = WC_UNDECODABLE_ERROR;
bool		wc_enable_batched_lookup = true;

static const struct config_enum_entry on_undecodable_options[] = {
	{"error", WC_UNDECODABLE_ERROR, false},
	{"null", WC_UNDECODABLE_NULL, false},
	{NULL, 0, false}
};

void
wc_settings_define(void)
{
	DefineCustomIntVariable("widecol.max_transaction_size",
							"Sets how many bytes one transaction may write to stored tables.",
							"The engine keeps them until the transaction ends, beyond 8 MB in files.",
							&wc_max_transaction_mb, 4096, 1, 1024 * 1024,
							PGC_SUSET, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomBoolVariable("widecol.warn_full_scan",
							 "Warns of queries that read a whole large table for few of its rows.",
							 "Tables of 10000 rows and more, of which at most a tenth is expected to be wanted.",
							 &wc_warn_full_scan, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("widecol.worker_id",
							"Sets the worker in ids that widecol.snowflake_id makes.",
							"Clusters that make ids for the same tables need different ones.",
							&wc_worker_id, 0, 0, WC_WORKER_ID_MAX,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("widecol.enable_batched_lookup",
							 "Enables nested loops that look up many row keys at once.",
							 NULL,
							 &wc_enable_batched_lookup, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomRealVariable("widecol.debug_clock_offset",
							 "Sets how far ahead of the real clock this session's requests are.",
							 "For testing what time to live does.",
							 &debug_clock_offset_ms, 0, 0, CLOCK_OFFSET_MAX_MS,
							 PGC_SUSET, GUC_UNIT_MS | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomBoolVariable("widecol.enable_pushdown",
							 "Enables plans in which the engine filters and limits rows.",
							 "Conditions on the row key become ranges also without.",
							 &wc_enable_pushdown, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomEnumVariable("widecol.on_undecodable",
							 "Sets what a query does with a cell that is no value of its column.",
							 "error ends the query; null shows NULL, and warns.",
							 &wc_on_undecodable, WC_UNDECODABLE_ERROR, on_undecodable_options,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("widecol.read_timestamp",
							   "Shows stored tables as of a time, for reading only.",
							   "A timestamp with time zone, or microseconds since 1970; empty for now.",
							   &wc_read_timestamp_text, "",
							   PGC_USERSET, GUC_NOT_IN_SAMPLE,
							   wc_read_timestamp_check, wc_read_timestamp_assign, NULL);
}

int64
wc_client_clock_offset_us(void)
{
	return (int64) (debug_clock_offset_ms * 1000.0);
}
