/*
 * client/settings.h: the settings a session reads; src/widecol.c defines them.
 *
 * The engine's settings are not here: the worker asks for them by name, since
 * it is in another module (GetConfigOption gives the number in the setting's
 * base unit: kB for block_cache_size and write_buffer_size).
 */
#ifndef WC_CLIENT_SETTINGS_H
#define WC_CLIENT_SETTINGS_H

/* widecol.debug_clock_offset in milliseconds: how far ahead this session's
 * requests see the clock. */
extern double wc_debug_clock_offset_ms;

/* widecol.max_transaction_size in MiB: most bytes of one transaction's batch. */
extern int	wc_max_transaction_mb;

#endif
