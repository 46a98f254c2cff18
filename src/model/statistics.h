/*
 * model/statistics.h: rows of the views of statistics, as the engine sends them.
 *
 * A view's rows are sent one after another: each is some texts (bytes), then some numbers (varints).  Their
 * count is that of the struct's members here; a struct of numbers has only uint64_t members, sent in this
 * order.  Times are microseconds since 1970, 0: none.
 */
#ifndef WC_MODEL_STATISTICS_H
#define WC_MODEL_STATISTICS_H

#include "base/coding.h"

/* Which rows are asked for. */
typedef enum WcStatisticsView
{
	WC_STATISTICS_ENGINE = 1,	/* one row: WcEngineStatistics */
	WC_STATISTICS_TABLES = 2,	/* a row a family of the session's database: WcFamilyStatistics */
	WC_STATISTICS_SESSIONS = 3, /* a row a session of any database: WcSessionStatistics */
	WC_STATISTICS_PROGRESS = 4, /* a row for each long work of any database: WcProgress */
	WC_STATISTICS_RESET = 5		/* no rows: all counters begin anew */
} WcStatisticsView;

/* Numbers in a struct that has nothing else. */
#define WC_STATISTICS_NUMBERS(type) (sizeof(type) / sizeof(uint64_t))

#define WC_STATISTICS_TEXTS_MAX	4
#define WC_STATISTICS_NUMBERS_MAX 64

#define WC_ROCKS_LEVELS	7

/* Texts: why nothing can be written to the store; empty: it can. */
#define WC_ENGINE_TEXTS 1

typedef struct WcEngineStatistics
{
	uint64_t	started_us;		/* the store was opened */
	uint64_t	reset_us;		/* since when there are counts */

	/* following the log */
	uint64_t	backlog_commits;	/* read and not applied yet */
	uint64_t	backlog_bytes;
	uint64_t	waiting_us;		/* commit time of the oldest of them */
	uint64_t	applied_us;		/* commit time of the last one that was applied */
	uint64_t	commits;		/* applied */
	uint64_t	operations;		/* of these commits: rows written, about */
	uint64_t	void_operations;
	uint64_t	batches;		/* of committed transactions, that the log has brought */
	uint64_t	logged_bytes;	/* and their bytes */
	uint64_t	steps;			/* of flushes and compactions */

	/* sessions */
	uint64_t	sessions;
	uint64_t	requests;
	uint64_t	blocks_hit;		/* of RocksDB, that sessions found in memory */
	uint64_t	blocks_read;	/* and those that they did not */
	uint64_t	get_hits;		/* of the cache of Gets */
	uint64_t	get_misses;
	uint64_t	transaction_bytes;	/* of open transactions */
	uint64_t	snapshots;		/* snapshots that have readers */
	uint64_t	snapshot_us;	/* when the oldest of them was taken */
	uint64_t	snapshot_pid;	/* the process that holds it; 0: none of the sessions */

	/* RocksDB */
	uint64_t	memtable_bytes;
	uint64_t	index_bytes;	/* indexes and filters of open files */
	uint64_t	cache_bytes;	/* of the block cache that are used */
	uint64_t	flushes;
	uint64_t	flushed_bytes;	/* of the files they made */
	uint64_t	compactions;
	uint64_t	compacted_bytes;	/* of the files they made */
	uint64_t	flushes_running;
	uint64_t	compactions_running;
	uint64_t	compactions_waiting;	/* families that wait for one */
	uint64_t	stalls;			/* times that writers had to slow down or wait */
	uint64_t	stalled;		/* now: 0 they need not, 1 they are slowed down, 2 they wait */
	uint64_t	files;
	uint64_t	level_bytes[WC_ROCKS_LEVELS];	/* of files */
} WcEngineStatistics;

/* Texts: namespace, table, family. */
#define WC_FAMILY_TEXTS 3

typedef struct WcFamilyStatistics
{
	uint64_t	reads;			/* Scans and Gets that read it */
	uint64_t	rows_examined;	/* by these, also in other families */
	uint64_t	rows_returned;
	uint64_t	cells_examined;
	uint64_t	cells_returned;
	uint64_t	cells_written;
	uint64_t	deletes;		/* delete markers written */
	uint64_t	bytes_written;	/* keys and values given to RocksDB */
	uint64_t	keys;			/* of RocksDB, estimated */
	uint64_t	dead;			/* of them superseded, or delete markers: estimated */
	uint64_t	memtable_bytes;
	uint64_t	files;
	uint64_t	file_bytes;
	uint64_t	flushes;
	uint64_t	flush_us;		/* end of the last one */
	uint64_t	compactions;
	uint64_t	compaction_us;
} WcFamilyStatistics;

/* Texts: namespace and table of the request that is worked on, or was last; empty: of none. */
#define WC_SESSION_TEXTS 2

typedef struct WcSessionStatistics
{
	uint64_t	pid;			/* the backend's */
	uint64_t	database;		/* its oid */
	uint64_t	request;		/* type (wire/message/message.h) of the request that is worked on, or was last */
	uint64_t	working;		/* 1: it is worked on */
	uint64_t	since_us;		/* when that began, or ended */
	uint64_t	scanners;		/* that are open */
	uint64_t	snapshots;		/* that it holds */
	uint64_t	snapshot_us;	/* when the oldest of them was taken */
	uint64_t	transaction_bytes;	/* that its transaction has written, as far as the engine has them */
	uint64_t	xid;			/* full id of its transaction, if that has row locks */
	uint64_t	requests;
	uint64_t	rows_examined;
	uint64_t	rows_returned;
	uint64_t	blocks_hit;
	uint64_t	blocks_read;
} WcSessionStatistics;

typedef enum WcProgressKind
{
	WC_PROGRESS_FLUSH = 1,			/* asked for */
	WC_PROGRESS_COMPACTION = 2,
	WC_PROGRESS_MAJOR_COMPACTION = 3,
	WC_PROGRESS_UPKEEP = 4,			/* forgetting by the engine itself */
	WC_PROGRESS_ROCKS_FLUSH = 5,	/* RocksDB's own */
	WC_PROGRESS_ROCKS_COMPACTION = 6
} WcProgressKind;

/* Texts: namespace, table, family. */
#define WC_PROGRESS_TEXTS 3

typedef enum WcProgressPhase
{
	WC_PHASE_FORGET = 1,		/* in key-values, of which there are about `total` */
	WC_PHASE_FLUSH = 2,			/* not counted */
	WC_PHASE_REWRITE = 3,		/* in parts of the family, one after another */
	WC_PHASE_ROCKS = 4			/* in bytes; how many are done is not known */
} WcProgressPhase;

typedef struct WcProgress
{
	uint64_t	kind;			/* WcProgressKind */
	uint64_t	pid;			/* the backend that has asked for it; 0: the engine itself */
	uint64_t	database;
	uint64_t	since_us;
	uint64_t	phase;			/* WcProgressPhase */
	uint64_t	done;			/* in the phase */
	uint64_t	total;			/* 0: not known */
} WcProgress;

/* Appends one row. */
extern void wc_statistics_append(WcBuf *out, const WcSlice *texts, size_t ntexts, const uint64_t *numbers, size_t nnumbers);

/* The next row; false: there is none, or (d->failed) the bytes are no rows.  Texts point into the input. */
extern bool wc_statistics_next(WcDecoder *d, WcSlice *texts, size_t ntexts, uint64_t *numbers, size_t nnumbers);

#endif
