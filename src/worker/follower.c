/*
 * worker/follower.c: reading PostgreSQL's log.
 */
#include "postgres.h"

#include <fcntl.h>

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogrecovery.h"
#include "access/xlogreader.h"
#include "access/xlogutils.h"
#include "catalog/pg_control.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/standbydefs.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "channel/rmgr.h"
#include "worker/follower.h"

/* Interrupts are served once in so many records. */
#define INTERRUPT_RECORDS 256

/* The reader keeps memory for the largest record that it has read; above this size it is replaced by a new
 * reader. */
#define READER_MEMORY_MAX (4 * 1024 * 1024)

#define UNIX_EPOCH_US ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

/* What the reader's page_read works with. */
typedef struct Pages
{
	ReadLocalXLogPageNoWaitPrivate local;	/* first: PostgreSQL's function takes it for all */
	XLogRecPtr	upto;			/* read so far and no further; 0: as far as PostgreSQL's function reads */
	TimeLineID	timeline;		/* of upto */
} Pages;

struct WcFollower
{
	const WcFollowerOps *ops;
	void	   *arg;
	uint32		store;
	XLogReaderState *reader;
	Pages		pages;
	XLogRecPtr	position;		/* end of the last record read */
	TimeLineID	timeline;		/* of the file with its end; 0: none was read */
	uint64		xid;			/* the greatest full id met so far: ids in the log are near it */
	MemoryContext context;
};

/* --- the reader ---------------------------------------------------------------- */

/* A position at the start of a page is before the page's header. */
static XLogRecPtr
behind_page_header(XLogRecPtr position)
{
	if (position % XLOG_BLCKSZ != 0)
		return position;
	return position + (XLogSegmentOffset(position, wal_segment_size) == 0 ? SizeOfXLogLongPHD : SizeOfXLogShortPHD);
}

static int
read_page(XLogReaderState *reader, XLogRecPtr page, int len, XLogRecPtr record, char *buf)
{
	const Pages *pages = reader->private_data;
	WALReadError problem;

	if (pages->upto == 0)
		return read_local_xlog_page_no_wait(reader, page, len, record, buf);
	if (page + len > pages->upto || !WALRead(reader, buf, page, XLOG_BLCKSZ, pages->timeline, &problem))
		return -1;
	return (int) Min(XLOG_BLCKSZ, pages->upto - page);
}

/*
 * Opens a segment without its time of access being kept: otherwise reads would change the file's inode all the time, and some
 * file systems write a changed inode with each flush of the log.
 */
static void
open_segment(XLogReaderState *reader, XLogSegNo segment, TimeLineID *timeline)
{
	char		path[MAXPGPATH];

	XLogFilePath(path, *timeline, segment, reader->segcxt.ws_segsize);
	reader->seg.ws_file = BasicOpenFile(path, O_RDONLY | PG_BINARY | O_NOATIME);
	if (reader->seg.ws_file < 0)
		wal_segment_open(reader, segment, timeline);	/* which says why, or may open it */
}

static void
begin_reading(WcFollower *f)
{
	if (f->reader != NULL)
		XLogReaderFree(f->reader);
	f->reader = XLogReaderAllocate(wal_segment_size, NULL,
								   XL_ROUTINE(.page_read = &read_page,
											  .segment_open = &open_segment,
											  .segment_close = &wal_segment_close),
								   &f->pages);
	if (f->reader == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory for reading the log")));
	XLogBeginRead(f->reader, behind_page_header(f->position));
}

WcFollower *
wc_follower_start(const WcFollowerOps *ops, void *arg, uint32 store, XLogRecPtr from)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "widecol follower", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	WcFollower *f = palloc0(sizeof(WcFollower));

	f->ops = ops;
	f->arg = arg;
	f->store = store;
	f->position = from;
	f->xid = U64FromFullTransactionId(ReadNextFullTransactionId());
	f->context = context;
	begin_reading(f);
	MemoryContextSwitchTo(before);
	return f;
}

XLogRecPtr
wc_follower_position(const WcFollower *f)
{
	return f->position;
}

/* --- records ------------------------------------------------------------------- */

/*
 * The log has the lower half of transaction ids.  PostgreSQL guarantees that ids that are near each other in
 * the log are less than 2^31 apart.
 */
static uint64
full_xid(WcFollower *f, TransactionId xid)
{
	uint64		full = f->xid + (int64) (int32) (xid - (uint32) f->xid);

	f->xid = Max(f->xid, full);
	return full;
}

static void
take_ours(WcFollower *f)
{
	XLogReaderState *reader = f->reader;
	WcSlice		bytes = wc_slice(XLogRecGetData(reader), XLogRecGetDataLen(reader));
	WcLogRecord r;
	WcError		err;

	if (wc_logrecord_decode(XLogRecGetInfo(reader) & ~XLR_INFO_MASK, bytes, &r, &err) != WC_OK)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("could not follow the log at %X/%X: %s", LSN_FORMAT_ARGS(reader->ReadRecPtr), err.message)));
	if (r.store != f->store && r.kind != WC_RECORD_GENESIS)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the log at %X/%X is of another store than the one that is here", LSN_FORMAT_ARGS(reader->ReadRecPtr)),
				 errdetail("It is of store %08x, and here is store %08x.", r.store, f->store)));
	if (r.kind == WC_RECORD_BATCH)
		f->xid = Max(f->xid, r.xid);
	if (f->ops->record != NULL)
		f->ops->record(f->arg, &r, reader->EndRecPtr);
}

static void
take_commit(WcFollower *f, TransactionId xid, TimestampTz when)
{
	if (TransactionIdIsNormal(xid) && f->ops->commit != NULL)
		f->ops->commit(f->arg, full_xid(f, xid), when + UNIX_EPOCH_US, f->reader->EndRecPtr);
}

static void
take_abort(WcFollower *f, TransactionId xid)
{
	if (TransactionIdIsNormal(xid) && f->ops->abort != NULL)
		f->ops->abort(f->arg, full_xid(f, xid), f->reader->EndRecPtr);
}

static void
take_xact(WcFollower *f)
{
	XLogReaderState *reader = f->reader;
	uint8		info = XLogRecGetInfo(reader);
	void	   *data = XLogRecGetData(reader);

	switch (info & XLOG_XACT_OPMASK)
	{
		case XLOG_XACT_COMMIT:
			take_commit(f, XLogRecGetXid(reader), ((xl_xact_commit *) data)->xact_time);
			break;
		case XLOG_XACT_COMMIT_PREPARED:
			{
				xl_xact_parsed_commit parsed;

				ParseCommitRecord(info, data, &parsed);
				take_commit(f, parsed.twophase_xid, parsed.xact_time);
				break;
			}
		case XLOG_XACT_ABORT:
			take_abort(f, XLogRecGetXid(reader));
			break;
		case XLOG_XACT_ABORT_PREPARED:
			{
				xl_xact_parsed_abort parsed;

				ParseAbortRecord(info, data, &parsed);
				take_abort(f, parsed.twophase_xid);
				break;
			}
		case XLOG_XACT_PREPARE:
			if (f->ops->prepare != NULL)
				f->ops->prepare(f->arg, full_xid(f, ((xl_xact_prepare *) data)->xid), reader->EndRecPtr);
			break;
		default:
			break;
	}
}

static int
compare_xids(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

/* Top-level transactions come first in the record, and all of them are there. */
static void
take_standby(WcFollower *f)
{
	XLogReaderState *reader = f->reader;
	xl_running_xacts *r = (xl_running_xacts *) XLogRecGetData(reader);
	uint64		next;
	uint64	   *xids;

	if ((XLogRecGetInfo(reader) & ~XLR_INFO_MASK) != XLOG_RUNNING_XACTS || f->ops->running == NULL)
		return;
	next = full_xid(f, r->nextXid);
	xids = palloc(Max(r->xcnt, 1) * sizeof(uint64));
	for (int i = 0; i < r->xcnt; i++)
		xids[i] = full_xid(f, r->xids[i]);
	qsort(xids, r->xcnt, sizeof(uint64), compare_xids);
	f->ops->running(f->arg, next, xids, (uint32) r->xcnt, reader->EndRecPtr);
	pfree(xids);
}

/* Checkpoints have a full id. */
static void
take_checkpoint(WcFollower *f)
{
	XLogReaderState *reader = f->reader;
	uint8		info = XLogRecGetInfo(reader) & ~XLR_INFO_MASK;
	CheckPoint	checkpoint;

	if (info != XLOG_CHECKPOINT_ONLINE && info != XLOG_CHECKPOINT_SHUTDOWN)
		return;
	memcpy(&checkpoint, XLogRecGetData(reader), sizeof(checkpoint));
	f->xid = Max(f->xid, U64FromFullTransactionId(checkpoint.nextXid));
}

static void
take(WcFollower *f)
{
	switch (XLogRecGetRmid(f->reader))
	{
		case WC_RMGR_ID:
			take_ours(f);
			break;
		case RM_XACT_ID:
			take_xact(f);
			break;
		case RM_STANDBY_ID:
			take_standby(f);
			break;
		case RM_XLOG_ID:
			take_checkpoint(f);
			break;
		default:
			break;
	}
}

static XLogRecPtr
end_of_log(void)
{
	return RecoveryInProgress() ? GetXLogReplayRecPtr(NULL) : GetFlushRecPtr(NULL);
}

/*
 * False: there is no more.  Behind the end of the log the reader would forget the page that it has, and open the
 * segment again for the next record.
 *
 * On a standby the open file may not be the segment any more: one that was incomplete is replaced when the archive has the
 * whole segment.  So what cannot be read is read once more, from a file that is opened anew.
 */
static bool
read_record(WcFollower *f, XLogRecPtr *end)
{
	char	   *problem = NULL;

	if (f->position >= *end && f->position >= (*end = end_of_log()))
		return false;
	for (int attempt = 0; attempt < 2; attempt++)
	{
		if (attempt > 0)
			begin_reading(f);
		f->pages.local.end_of_wal = false;
		if (XLogReadRecord(f->reader, &problem) != NULL)
			return true;
		if (f->pages.local.end_of_wal)
			return false;
	}
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("could not read the log behind %X/%X: %s", LSN_FORMAT_ARGS(f->position),
					problem != NULL ? problem : "there is less of it than there was")));
}

bool
wc_follower_run(WcFollower *f, Size bytes)
{
	MemoryContext before = MemoryContextSwitchTo(f->context);
	XLogRecPtr	upto = f->position + bytes;
	XLogRecPtr	end = InvalidXLogRecPtr;
	uint32		n = 0;
	bool		more;

	while ((more = read_record(f, &end)))
	{
		if (f->timeline != f->reader->seg.ws_tli)
			f->ops->timeline(f->arg, f->timeline = f->reader->seg.ws_tli);
		take(f);
		f->position = f->reader->EndRecPtr;
		if (f->reader->readRecordBufSize > READER_MEMORY_MAX)
			begin_reading(f);
		if (f->position >= upto)
			break;
		if (++n % INTERRUPT_RECORDS == 0)
			CHECK_FOR_INTERRUPTS();
	}
	MemoryContextSwitchTo(before);
	return more;
}

/* The record is read from pages that the reader forgets again. */
XLogRecPtr
wc_follower_nothing_ends_before(WcFollower *f)
{
	TimeLineID	timeline;
	XLogRecPtr	replayed = GetXLogReplayRecPtr(&timeline);
	XLogRecPtr	under_replay = GetCurrentReplayRecPtr(NULL);
	XLogRecPtr	position = f->position;
	MemoryContext before;
	char	   *problem;

	if (position != replayed || under_replay <= replayed)
		return position;
	before = MemoryContextSwitchTo(f->context);
	f->pages.upto = under_replay;
	f->pages.timeline = timeline;
	if (XLogReadRecord(f->reader, &problem) != NULL && f->reader->EndRecPtr <= under_replay &&
		XLogRecGetRmid(f->reader) != RM_XACT_ID)
		position = f->reader->EndRecPtr;
	f->pages.upto = 0;
	begin_reading(f);
	MemoryContextSwitchTo(before);
	return position;
}
