/*
 * engine/statsfile.h: counters over a restart.
 *
 * When the engine is closed in order its counters go to a file, and the next engine takes them over
 * and removes the file.  So after a crash they begin anew, as PostgreSQL's statistics do.  A file that
 * cannot be read, or is of another store or another build, is logged and given up: counters are not
 * worth a start that fails.
 */
#ifndef WC_ENGINE_STATSFILE_H
#define WC_ENGINE_STATSFILE_H

#include "engine/engine.h"

/* The engine is open, or is about to be closed, and nobody counts. */
extern void wc_statsfile_take(WcEngine *engine, const char *path);
extern void wc_statsfile_leave(WcEngine *engine, const char *path);

#endif
