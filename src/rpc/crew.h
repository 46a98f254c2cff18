/*
 * rpc/crew.h: threads that help sessions' threads with long scans.
 *
 * A helper works only while it has a processor for itself: while the sessions that are busy and the helpers that work
 * are fewer than the processors.
 */
#ifndef WC_RPC_CREW_H
#define WC_RPC_CREW_H

#include <stdbool.h>

#include "base/status.h"
#include "wire/wait/busy.h"

typedef struct WcCrew WcCrew;

/* cores: processors there are; busy: the number of busy sessions, which other threads and processes change. */
extern WcStatus wc_crew_create(int cores, WcBusy *busy, WcCrew **crew, WcError *err) WC_WARN_UNUSED;

/* Ends the helpers; no thread is in wc_crew_run. */
extern void wc_crew_free(WcCrew *crew);

/* At most so many helpers from now on (0: none); any thread. */
extern void wc_crew_limit(WcCrew *crew, int helpers);

/* Can there be helpers at all? */
extern bool wc_crew_helps(const WcCrew *crew);

/*
 * Calls work(arg) in this thread until it returns false, and meanwhile in helpers, at most until it returns false there;
 * returns when all calls have returned.  A session's thread; *window as in wc_busy_note.
 */
extern void wc_crew_run(WcCrew *crew, uint32_t *window, bool (*work) (void *arg), void *arg);

#endif
