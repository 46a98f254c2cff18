/*
 * worker/start.h: the engine begins to follow the log, and takes over when its node becomes a primary.
 *
 * Engine's main thread.
 */
#ifndef WC_WORKER_START_H
#define WC_WORKER_START_H

#include "postgres.h"

#include "rpc/rpc.h"

/*
 * Reads the log from the store's mark to its end, has it applied, and restores the row locks of prepared
 * transactions.  Serves interrupts while it waits.  False: err says why that is not possible.  True as well
 * if the process was told to end meanwhile.
 */
extern bool wc_start_following(WcEngine *engine, WcServer *server, WcError *err);

/*
 * To be called again and again.  A standby has been promoted: sessions lock no rows
 * (wc_following_await_promotion) before all is applied that was replayed, and what prepared transactions
 * have locked is locked here.
 */
extern void wc_start_take_over(void);

#endif
