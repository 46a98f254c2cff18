/*
 * test/unit/tempengine.h: an engine in a directory of its own, for tests.
 */
#ifndef WC_TEST_TEMPENGINE_H
#define WC_TEST_TEMPENGINE_H

#include "engine/engine.h"

/* What the engine's clock says; tests set it. */
extern int64_t wc_tempengine_now;

/* An open engine over an empty directory below TMPDIR; fails the test otherwise. */
extern WcEngine *wc_tempengine_open(void);

/* Closes it and opens the same directory again. */
extern WcEngine *wc_tempengine_reopen(WcEngine *engine);

/* Closes it and removes the directory. */
extern void wc_tempengine_remove(WcEngine *engine);

#endif
