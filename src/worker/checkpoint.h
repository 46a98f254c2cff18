/*
 * worker/checkpoint.h: checkpoints of the engine, and PostgreSQL's, which wait for them.
 *
 * An engine's checkpoint is a mark (engine/README): from there the log would be read after a crash.  An image
 * of the store, made with it, is copied by backups.  PostgreSQL's checkpoint begins with a redo pointer, from
 * which a backup's log begins; it is not completed before there is an image as new as that.  The engine's
 * process has DELAY_CHKPT_START set under a number of a transaction of its own, for which the checkpointer
 * waits, and takes another number when the image is complete.  On a standby the BARRIER that a primary writes
 * behind its image does the same: the startup process waits at it.
 *
 * Engine's main thread.  Long work is done on another thread; only wc_checkpoint_finish waits for it.
 */
#ifndef WC_WORKER_CHECKPOINT_H
#define WC_WORKER_CHECKPOINT_H

#include "postgres.h"

#include "access/xlogdefs.h"

#include "rpc/rpc.h"

/* From here on PostgreSQL's checkpoints wait for the engine; before the store is opened. */
extern void wc_checkpoint_delay(void);

/* The checkpointer does not wait any more; called at each end of the process, also of one that could not start. */
extern void wc_checkpoint_release(void);

/* The engine has begun to follow the log.  read_from: place of its last mark. */
extern void wc_checkpoint_start(WcEngine *engine, WcServer *server, XLogRecPtr read_from);

/* Continues the running checkpoint, or begins one that is due; called repeatedly.  True: the first checkpoint with an
 * image is done. */
extern bool wc_checkpoint_work(void);

/* Is a checkpoint running? */
extern bool wc_checkpoint_is_under_way(void);

/* A checkpoint of all that has been read, at the end of the process.  Waits. */
extern void wc_checkpoint_finish(void);

#endif
