/*
 * base/touch.h: touches memory before it is needed.
 *
 * The system gives shared memory to its processes page by page, when a process first touches the page.  This takes longer
 * than to read or write the page.  So the toucher's thread touches all pages while processors are idle; the threads that use
 * the memory afterwards do not wait for pages.
 */
#ifndef WC_BASE_TOUCH_H
#define WC_BASE_TOUCH_H

#include "base/status.h"

typedef struct WcToucher WcToucher;

/*
 * Begins to touch the memory, which other threads and processes may use meanwhile, by atomic accesses: its bytes stay as they are.
 * It must be aligned to 8 bytes, and stay until wc_toucher_stop.
 */
extern WcStatus wc_toucher_start(void *memory, size_t len, WcToucher **toucher, WcError *err) WC_WARN_UNUSED;

/* Ends it, whether all memory has been touched or not.  NULL is allowed. */
extern void wc_toucher_stop(WcToucher *toucher);

#endif
