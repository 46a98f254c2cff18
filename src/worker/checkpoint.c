/*
 * worker/checkpoint.c: checkpoints of the engine.
 *
 * Its course:
 *
 *    follow      the log is read up to its end, at least up to the redo pointer
 *    mark        the applier writes the mark, in order with commits
 *    build       a thread syncs RocksDB's log, and builds the image
 *    install     a thread gives the image its name, and removes old ones
 *    done        the slot moves; BARRIER; the checkpointer may go on
 *
 * Only with the mark on disk may the slot move, and only behind the image may the
 * checkpointer go on.
 */
#include "worker/checkpoint.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "storage/sinvaladt.h"
#include "utils/timestamp.h"

#include "base/log.h"
#include "channel/flight.h"
#include "channel/keeplog.h"
#include "channel/rmgr.h"
#include "compat.h"
#include "worker/backup.h"
#include "worker/feed.h"
#include "worker/slot.h"
#include "worker/task.h"

/* So much log is read at most before there is another mark; less if PostgreSQL keeps little log for a slot. */
#define MARK_EVERY_BYTES (UINT64CONST(256) * 1024 * 1024)
#define MARK_EVERY_LEAST_BYTES (UINT64CONST(1) * 1024 * 1024)

/* After a failure, the next attempt. */
#define RETRY_MS 5000

/* The checkpointer is let go on again and again, should it wait although there is its image. */
#define RELEASE_AGAIN_MS 1000

/* The number of images that are kept, and for how many seconds older ones are kept: a backup may be copying
 * them. */
#define IMAGES_KEPT 2
#define IMAGE_SECONDS 60

typedef enum Phase
{
	IDLE,
	MARK,
	BUILD,
	INSTALL
} Phase;

static struct
{
	WcEngine   *engine;
	WcServer   *server;
	Phase		phase;
	bool		image;			/* the checkpoint under way makes one */
	XLogRecPtr	at;				/* its mark */
	XLogRecPtr	redo;			/* that it was begun for; 0: none */
	XLogRecPtr	barrier;		/* likewise */
	XLogRecPtr	last_mark;		/* of the last one that was completed */
	XLogRecPtr	redo_done;		/* the last redo pointer for which there is an image */
	bool		ready;			/* an image was made since the start */
	bool		keep_old;		/* a backup is under way */
	TimestampTz retry_at;		/* after a failure; 0: none */
	TimestampTz released_at;	/* when the checkpointer was let go on last */
	WcTask		task;
	WcStatus	status;			/* of the task */
	WcError		err;
} checkpoint;

/* --- PostgreSQL's checkpointer -------------------------------------------------- */

void
wc_checkpoint_delay(void)
{
	wc_my_lxid = GetNextLocalTransactionId();
	pg_memory_barrier();
	MyProc->delayChkptFlags |= DELAY_CHKPT_START;
}

void
wc_checkpoint_release(void)
{
	MyProc->delayChkptFlags &= ~DELAY_CHKPT_START;
	wc_my_lxid = InvalidLocalTransactionId;
}

/* The checkpointer that waits for the old number goes on; the next one waits for the new number. */
static void
let_checkpointer_go_on(void)
{
	wc_my_lxid = GetNextLocalTransactionId();
	checkpoint.released_at = GetCurrentTimestamp();
}

/*
 * There is an image for this redo pointer.  A checkpoint with a newer one waits for its own image.  If one has begun just now,
 * it may go on, too, but then backups are refused until there is its image.
 */
static void
release(XLogRecPtr redo)
{
	if (GetRedoRecPtr() != redo)
		return;
	let_checkpointer_go_on();
	if (GetRedoRecPtr() != redo)
		wc_backup_refuse();
}

static uint64
mark_every(void)
{
	return Min(MARK_EVERY_BYTES, Max(wc_keeplog_limit() / 4, MARK_EVERY_LEAST_BYTES));
}

static void
note_mark(XLogRecPtr at)
{
	checkpoint.last_mark = at;
	atomic_store(&wc_following()->marked, at);
}

/* --- steps ----------------------------------------------------------------------- */

static void
build_task(void *arg)
{
	checkpoint.status = wc_engine_sync(checkpoint.engine, &checkpoint.err);
	if (checkpoint.status == WC_OK && checkpoint.image)
		checkpoint.status = wc_engine_image_build(checkpoint.engine, &checkpoint.err);
}

static void
install_task(void *arg)
{
	WcError		err;

	checkpoint.status = wc_engine_image_install(checkpoint.engine, checkpoint.at, &checkpoint.err);
	if (checkpoint.status == WC_OK && !checkpoint.keep_old &&
		wc_engine_images_prune(checkpoint.engine, IMAGES_KEPT, IMAGE_SECONDS, &err) != WC_OK)
		wc_log(WC_LOG_WARNING, "%s", err.message);
}

/* Nothing may hang that waits for the image; but a backup would not be complete. */
static void
fail(const WcError *err)
{
	ereport(LOG,
			(errmsg("checkpoint of the stored tables failed: %s", err->message),
			 err->detail[0] != '\0' ? errdetail("%s", err->detail) : 0));
	if (checkpoint.redo != InvalidXLogRecPtr || checkpoint.barrier != InvalidXLogRecPtr)
		wc_backup_refuse();
	if (checkpoint.barrier != InvalidXLogRecPtr)
		atomic_store(&wc_following()->barrier_done, checkpoint.barrier);
	checkpoint.phase = IDLE;
	checkpoint.retry_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), RETRY_MS);
	let_checkpointer_go_on();
}

static void
done(void)
{
	checkpoint.phase = IDLE;
	note_mark(checkpoint.at);
	wc_slot_advance(checkpoint.at);
	if (!checkpoint.image)
		return;
	checkpoint.ready = true;
	atomic_store(&wc_following()->image_position, checkpoint.at);
	if (checkpoint.barrier != InvalidXLogRecPtr)
		atomic_store(&wc_following()->barrier_done, checkpoint.barrier);
	if (checkpoint.redo != InvalidXLogRecPtr)
	{
		if (!RecoveryInProgress())
		{
			WcLogRecord barrier = {.kind = WC_RECORD_BARRIER,.redo = checkpoint.redo};

			(void) wc_record_write(&barrier);	/* before the checkpoint's record, which is not written yet */
		}
		checkpoint.redo_done = checkpoint.redo;
		release(checkpoint.redo);
	}
	wc_backup_allow(checkpoint.at);
}

static void
begin(XLogRecPtr redo, XLogRecPtr barrier, bool image)
{
	WcError		err;

	/* The redo pointer may lie after the header of a page that has not been written yet. */
	if (redo != InvalidXLogRecPtr && !RecoveryInProgress() && GetFlushRecPtr(NULL) < redo)
		XLogFlush(Min(redo, GetXLogInsertEndRecPtr()));
	checkpoint.redo = redo;
	checkpoint.barrier = barrier;
	if (!wc_feed_run_to_end() && wc_server_stalled(checkpoint.server, &err))
	{
		fail(&err);
		return;
	}
	checkpoint.image = image;
	checkpoint.at = wc_feed_position();
	checkpoint.retry_at = 0;
	if (image && checkpoint.ready && checkpoint.at == atomic_load(&wc_following()->image_position))
		done();					/* nothing has been read since: it is there */
	else if (wc_server_log_mark(checkpoint.server, checkpoint.at, &err) != WC_OK)
		fail(&err);
	else
		checkpoint.phase = MARK;
}

/* --- the whole ------------------------------------------------------------------- */

void
wc_checkpoint_start(WcEngine *engine, WcServer *server, XLogRecPtr read_from)
{
	memset(&checkpoint, 0, sizeof(checkpoint));
	checkpoint.engine = engine;
	checkpoint.server = server;
	note_mark(read_from);
}

static void
begin_if_due(void)
{
	XLogRecPtr	redo = GetRedoRecPtr();
	XLogRecPtr	barrier = atomic_load(&wc_following()->barrier_wanted);
	bool		is_new = redo != checkpoint.redo_done;
	WcError		why;

	if (barrier <= atomic_load(&wc_following()->barrier_done))
		barrier = InvalidXLogRecPtr;
	/* A restartpoint does not wait for an image; mostly there is one, by its BARRIER. */
	if (is_new && RecoveryInProgress() && atomic_load(&wc_following()->image_position) < redo)
		wc_backup_refuse();
	if (checkpoint.retry_at != 0 && GetCurrentTimestamp() < checkpoint.retry_at)
	{
		if (is_new)
			let_checkpointer_go_on();	/* it would wait for the next attempt, and perhaps for ever */
		return;
	}
	if (wc_server_stalled(checkpoint.server, &why))
	{
		if (is_new || barrier != InvalidXLogRecPtr)
		{
			checkpoint.redo = is_new ? redo : InvalidXLogRecPtr;
			checkpoint.barrier = barrier;
			fail(&why);
		}
		return;
	}
	if (is_new || barrier != InvalidXLogRecPtr || !checkpoint.ready)
		begin(is_new ? redo : InvalidXLogRecPtr, barrier, true);
	else if (wc_feed_position() - checkpoint.last_mark > mark_every())
		begin(InvalidXLogRecPtr, InvalidXLogRecPtr, false);
	else if (TimestampDifferenceExceeds(checkpoint.released_at, GetCurrentTimestamp(), RELEASE_AGAIN_MS))
		release(redo);			/* a checkpointer may have looked for the number only after its image was made */
}

/* The step under way, if it has come to its end. */
static void
advance(void)
{
	WcError		why;

	switch (checkpoint.phase)
	{
		case IDLE:
			break;
		case MARK:
			if (wc_server_marked(checkpoint.server) < checkpoint.at)
			{
				if (wc_server_stalled(checkpoint.server, &why))
					fail(&why);
				break;
			}
			wc_task_begin(&checkpoint.task, build_task, NULL);
			checkpoint.phase = BUILD;
			break;
		case BUILD:
			if (!wc_task_is_done(&checkpoint.task))
				break;
			wc_task_join(&checkpoint.task);
			if (checkpoint.status != WC_OK)
				fail(&checkpoint.err);
			else if (!checkpoint.image)
				done();
			else
			{
				/* The image may have commits after the mark: a copy is consistent only with the log of these
				 * commits. */
				if (RecoveryInProgress())
					XLogFlush(wc_feed_position());
				checkpoint.keep_old = wc_backup_is_running();
				wc_task_begin(&checkpoint.task, install_task, NULL);
				checkpoint.phase = INSTALL;
			}
			break;
		case INSTALL:
			if (!wc_task_is_done(&checkpoint.task))
				break;
			wc_task_join(&checkpoint.task);
			if (checkpoint.status != WC_OK)
				fail(&checkpoint.err);
			else
				done();
			break;
	}
}

bool
wc_checkpoint_work(void)
{
	if (checkpoint.phase == IDLE)
		begin_if_due();
	else
		advance();
	return checkpoint.ready;
}

bool
wc_checkpoint_is_under_way(void)
{
	return checkpoint.phase != IDLE;
}

static void
drain(void)
{
	while (checkpoint.phase != IDLE)
	{
		advance();
		pg_usleep(1000);
	}
}

void
wc_checkpoint_finish(void)
{
	if (checkpoint.server == NULL)
		return;
	drain();
	/* A store that is ahead of its node makes no image, which would be ahead of its position. */
	if (!wc_feed_is_broken() && wc_engine_applied_position(checkpoint.engine) <= wc_feed_position())
		begin(InvalidXLogRecPtr, InvalidXLogRecPtr, true);	/* may fail: the log keeps the transactions that could not be applied */
	drain();
	checkpoint.server = NULL;
}
