/*
 * client/settings.h: the settings that a session reads.
 *
 * The engine's settings are not here: the worker reads them by name, because
 * the worker is in another module (GetConfigOption returns the number in the setting's
 * base unit: kB for block_cache_size and write_buffer_size).
 */
#ifndef WC_CLIENT_SETTINGS_H
#define WC_CLIENT_SETTINGS_H

#include "postgres.h"

#include "utils/guc.h"

/* Defines all of them; called once, when the library is loaded. */
extern void wc_settings_define(void);

/* widecol.max_transaction_size in MiB: most bytes of one transaction's batch. */
extern int	wc_max_transaction_mb;

/* widecol.warn_full_scan: warn of scans of whole tables that return few rows. */
extern bool wc_warn_full_scan;

/* widecol.worker_id: the number of this cluster among clusters that generate ids together. */
#define WC_WORKER_ID_MAX 511
extern int	wc_worker_id;

/* widecol.on_undecodable: the result of reading a cell whose bytes are no value of the column's type. */
typedef enum WcOnUndecodable
{
	WC_UNDECODABLE_ERROR,
	WC_UNDECODABLE_NULL
} WcOnUndecodable;
extern int	wc_on_undecodable;

/* widecol.enable_batched_lookup: may nested loops look up many row keys at once? */
extern bool wc_enable_batched_lookup;

/* widecol.enable_pushdown: may the engine filter and limit rows? */
extern bool wc_enable_pushdown;

/* widecol.read_timestamp: the text for SHOW, "" for now.  wc_client_read_timestamp
 * (client.h) returns the time.  readtime.c */
extern char *wc_read_timestamp_text;
extern bool wc_read_timestamp_check(char **value, void **extra, GucSource source);
extern void wc_read_timestamp_assign(const char *value, void *extra);

#endif
