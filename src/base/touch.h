/*
 * base/touch.h: touches memory before it is needed.
 *
 * The system gives shared memory to its processes page by page, when a page is first touched, which takes longer than most
 * uses of the page.  A thread that touches all pages, while processors are idle, takes that time from those who would wait.
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
