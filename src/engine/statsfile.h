/*
 * engine/statsfile.h: counters over a restart.
 *
 * A regular shutdown writes the counters to a file; the next engine reads the file and removes it.  After a crash all
 * counters begin at 0, as PostgreSQL's statistics do.  A file that cannot be read, or belongs to another store or
 * another build, is logged and ignored: the start does not fail because of counters.
 */
#ifndef WC_ENGINE_STATSFILE_H
#define WC_ENGINE_STATSFILE_H

#include "engine/engine.h"

/* Called when the engine is open, or is about to be closed, and no other thread counts. */
extern void wc_statsfile_take(WcEngine *engine, const char *path);
extern void wc_statsfile_leave(WcEngine *engine, const char *path);

#endif
