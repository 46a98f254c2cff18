/*
 * client/settings.h: the settings a session reads; src/widecol.c defines them.
 *
 * The engine's settings are not here: the worker asks for them by name, since
 * it is in another module (GetConfigOption gives the number in the setting's
 * base unit: kB for block_cache_size and write_buffer_size).
 */
#ifndef WC_CLIENT_SETTINGS_H
#define WC_CLIENT_SETTINGS_H

#include "postgres.h"

#include "utils/guc.h"

/* widecol.debug_clock_offset in milliseconds: how far ahead this session's
 * requests see the clock. */
extern double wc_debug_clock_offset_ms;

/* widecol.max_transaction_size in MiB: most bytes of one transaction's batch. */
extern int	wc_max_transaction_mb;

/* widecol.warn_full_scan: tell of scans of whole tables that give little. */
extern bool wc_warn_full_scan;

/* widecol.worker_id: which of the clusters that make ids together this one is. */
#define WC_WORKER_ID_MAX 511
extern int	wc_worker_id;

/* widecol.on_undecodable: what becomes of a cell that is no value of its column. */
typedef enum WcOnUndecodable
{
	WC_UNDECODABLE_ERROR,
	WC_UNDECODABLE_NULL
} WcOnUndecodable;
extern int	wc_on_undecodable;

/* widecol.enable_pushdown: may the engine filter and limit rows? */
extern bool wc_enable_pushdown;

/* widecol.read_timestamp: what SHOW says, "" for now.  wc_client_read_timestamp
 * (client.h) has the time.  readtime.c */
extern char *wc_read_timestamp_text;
extern bool wc_read_timestamp_check(char **value, void **extra, GucSource source);
extern void wc_read_timestamp_assign(const char *value, void *extra);

#endif
