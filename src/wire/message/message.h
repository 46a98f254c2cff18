/*
 * wire/message/message.h: messages between backends and the engine.
 *
 * wire/README has the table of messages; this header has their numbers and, for payloads of several parts, a struct
 * with its encoder and decoder.
 * Decoders read untrusted bytes and point into them.
 */
#ifndef WC_WIRE_MESSAGE_MESSAGE_H
#define WC_WIRE_MESSAGE_MESSAGE_H

#include "base/buf.h"
#include "base/coding.h"
#include "base/lockmode.h"
#include "model/batch.h"
#include "model/scan.h"

typedef enum WcMessageType
{
	/* requests */
	WC_MSG_HELLO = 1,
	WC_MSG_DESCRIBE = 2,
	WC_MSG_LIST_TABLES = 3,
	WC_MSG_LIST_NAMESPACES = 4,
	WC_MSG_NEW_TABLE_ID = 5,
	WC_MSG_OPEN = 6,
	WC_MSG_NEXT = 7,
	WC_MSG_CLOSE = 8,			/* no answer */
	WC_MSG_STATS = 9,
	WC_MSG_SNAPSHOT_RELEASE = 10,	/* no answer */
	WC_MSG_BATCH = 11,			/* no answer: an error is the answer to the next request */
	WC_MSG_ABORT = 14,			/* no answer */
	WC_MSG_FLUSH = 15,
	WC_MSG_COMPACT = 16,
	WC_MSG_ESTIMATE = 17,
	WC_MSG_SNAPSHOT = 18,
	WC_MSG_LOCK = 19,
	WC_MSG_SAMPLE = 21,
	WC_MSG_MODIFY = 22,
	WC_MSG_UNLOCK = 23,			/* no answer */
	WC_MSG_PRECOMMIT = 24,
	WC_MSG_ABORTED = 25,		/* no answer */
	WC_MSG_COMPACTING = 26,
	WC_MSG_CHECK_STORE = 27,
	WC_MSG_STATISTICS = 28,
	WC_MSG_PREPARE = 29,
	WC_MSG_SPLIT = 30,
	WC_MSG_TAKE = 31,
	WC_MSG_HANDED = 32,			/* no answer */

	/* answers */
	WC_MSG_OK = 64,
	WC_MSG_BLOCK = 65,
	WC_MSG_ERROR = 66,
	WC_MSG_CHANGES = 67			/* of MODIFY and PREPARE: others follow */
} WcMessageType;

/* A request in words that people know; "unknown" of a number that is none. */
extern const char *wc_message_request_name(uint8_t type);

/* Flags of BLOCK: the scanner is closed; the payload ends with WcScanReport. */
#define WC_FLAG_LAST			0x01

/* and, of an answer to TAKE: the scan has given a row, which is locked. */
#define WC_FLAG_TAKEN			0x04

/* and, of an answer to TAKE or to such a MODIFY that another transaction is in the way: the scan gives the
 * row, in the newest state that there is. */
#define WC_FLAG_THERE			0x08

/* Flags of MODIFY: the row is locked first. */
#define WC_FLAG_FIRST			0x01

/* and: the Get of the row should be answered in advance when the row has been written. */
#define WC_FLAG_AHEAD			0x02

/* Flags of the answers to LOCK, MODIFY and TAKE: rows of the table may become too large, so that the
 * transaction has to be checked (PRECOMMIT). */
#define WC_FLAG_CHECK			0x02

/* Flags of OPEN and TAKE: a Get whose answer may be kept (getcache.h). */
#define WC_FLAG_KEEP			0x01

/* Flags of LIST_TABLES: those of all databases. */
#define WC_FLAG_ALL				0x01

typedef struct WcHelloMessage
{
	uint32_t	version;		/* WC_PROTOCOL_VERSION */
	uint32_t	database;
} WcHelloMessage;

extern void wc_message_hello_encode(WcBuf *out, const WcHelloMessage *m);
extern WcStatus wc_message_hello_decode(WcSlice in, WcHelloMessage *m, WcError *err) WC_WARN_UNUSED;

typedef struct WcOpenMessage
{
	uint32_t	scan_no;		/* below WC_SCANNERS_MAX, not open */
	uint64_t	snapshot;		/* taken when the number is new; 0: the newest state */
	uint64_t	epoch;			/* in which the snapshot reads (getcache.h); 0: it is taken now */
	uint32_t	cid;
	int64_t		clock_offset_us;
	uint32_t	target;			/* bytes the first block should have */
	WcSlice		scan;			/* an encoded WcScan */
} WcOpenMessage;

/* Encodes `scan` instead of m->scan. */
extern void wc_message_open_encode(WcBuf *out, const WcOpenMessage *m, const WcScan *scan);
extern WcStatus wc_message_open_decode(WcSlice in, WcOpenMessage *m, WcError *err) WC_WARN_UNUSED;

/* TAKE: OPEN of a Get at the newest state, of a row that is locked first. */
typedef struct WcTakeMessage
{
	uint64_t	owner;			/* these four as in LOCK */
	uint64_t	xid;
	uint32_t	subid;
	uint8_t		mode;
	WcOpenMessage open;
} WcTakeMessage;

extern void wc_message_take_encode(WcBuf *out, const WcTakeMessage *m, const WcScan *scan);
extern WcStatus wc_message_take_decode(WcSlice in, WcTakeMessage *m, WcError *err) WC_WARN_UNUSED;

typedef struct WcNextMessage
{
	uint32_t	scan_no;
	uint32_t	target;
} WcNextMessage;

extern void wc_message_next_encode(WcBuf *out, const WcNextMessage *m);
extern WcStatus wc_message_next_decode(WcSlice in, WcNextMessage *m, WcError *err) WC_WARN_UNUSED;

/* Counters for EXPLAIN ANALYZE (engine.h's WcScanStats); of fixed size, so that the last BLOCK can end with it.  Has only
 * uint64_t members, which are sent in this order. */
typedef struct WcScanReport
{
	uint64_t	rows_returned;
	uint64_t	rows_examined;
	uint64_t	cells_returned;
	uint64_t	cells_examined;
	uint64_t	seeks;
	uint64_t	cache_hits;
	uint64_t	blocks_read;
	uint64_t	rows_filtered;
} WcScanReport;

#define WC_SCAN_REPORT_SIZE sizeof(WcScanReport)
extern void wc_scan_report_encode(WcBuf *out, const WcScanReport *report);

/* The report at the end of in, which is shortened by it. */
extern WcStatus wc_scan_report_take(WcSlice *in, WcScanReport *report, WcError *err) WC_WARN_UNUSED;

typedef struct WcBatchMessage
{
	uint64_t	bytes_max;		/* most bytes that the transaction's stream may have */
	uint64_t	at;				/* cut the batch to this length, then append */
	WcSlice		bytes;
} WcBatchMessage;

/* The caller sends m->bytes after it. */
extern void wc_message_batch_encode(WcBuf *out, const WcBatchMessage *m);
extern WcStatus wc_message_batch_decode(WcSlice in, WcBatchMessage *m, WcError *err) WC_WARN_UNUSED;

typedef struct WcTableMessage	/* FLUSH, COMPACT */
{
	uint32_t	table_id;
	uint32_t	family_id;		/* 0: every family */
	bool		major;
	bool		later;			/* the answer does not wait for it */
	uint32_t	cid;
	int64_t		clock_offset_us;
} WcTableMessage;

extern void wc_message_table_encode(WcBuf *out, const WcTableMessage *m);
extern WcStatus wc_message_table_decode(WcSlice in, WcTableMessage *m, WcError *err) WC_WARN_UNUSED;

typedef struct WcEstimateMessage
{
	uint32_t	table_id;
	WcRange		range;
	uint32_t	nfamilies;		/* of these families only; 0: of all */
	const uint32_t *families;	/* decoded: in the arena */
} WcEstimateMessage;

extern void wc_message_estimate_encode(WcBuf *out, const WcEstimateMessage *m);
extern WcStatus wc_message_estimate_decode(WcSlice in, WcArena *arena, WcEstimateMessage *m, WcError *err) WC_WARN_UNUSED;

typedef struct WcSplitMessage
{
	WcEstimateMessage range;
	uint32_t	nparts;
} WcSplitMessage;

extern void wc_message_split_encode(WcBuf *out, const WcSplitMessage *m);
extern WcStatus wc_message_split_decode(WcSlice in, WcArena *arena, WcSplitMessage *m, WcError *err) WC_WARN_UNUSED;

typedef struct WcSampleMessage
{
	uint32_t	table_id;
	WcRange		range;			/* start inclusive, stop exclusive */
	uint32_t	nranges;
	uint64_t	range_rows;
	uint64_t	seed;
} WcSampleMessage;

extern void wc_message_sample_encode(WcBuf *out, const WcSampleMessage *m);
extern WcStatus wc_message_sample_decode(WcSlice in, WcSampleMessage *m, WcError *err) WC_WARN_UNUSED;

typedef struct WcLockMessage
{
	uint32_t	table_id;
	uint8_t		mode;			/* WcRowLockMode */
	bool		only_absent;	/* rows that exist are not locked, and are reported */
	bool		serializable;	/* the first row that has changed since the snapshot ends it */
	bool		tell_rewritten; /* report rows that own commands from cid on have written */
	uint64_t	owner;			/* PostgreSQL's full id of the transaction, not 0 */
	uint64_t	xid;			/* and of the subtransaction, if it is one: others wait for that */
	uint32_t	subid;			/* its SubTransactionId */
	uint64_t	snapshot;		/* report rows that have changed since; 0: do not check */
	uint64_t	epoch;			/* as in OPEN */
	uint32_t	cid;			/* own writes that make a row be there, or not, as in OPEN */
	int64_t		clock_offset_us;
	uint32_t	nfamilies;		/* only cells of these families count; 0: of all */
	const uint32_t *families;	/* decoded: in the arena */
	uint32_t	nrows;			/* 1 .. WC_LOCK_BATCH */
	const WcSlice *rows;		/* each 1 .. WC_ROW_MAX bytes; decoded: in the arena */
} WcLockMessage;

extern void wc_message_lock_encode(WcBuf *out, const WcLockMessage *m);
extern WcStatus wc_message_lock_decode(WcSlice in, WcArena *arena, WcLockMessage *m, WcError *err) WC_WARN_UNUSED;

/* A byte for each row. */
#define WC_LOCKED_CHANGED		0x01	/* serializable: it may not be locked */
#define WC_LOCKED_EXISTS		0x02	/* if only_absent: it is not locked */
#define WC_LOCKED_GONE			0x04	/* changed, and not there any more: not locked */
#define WC_LOCKED_REWRITTEN		0x08

/* The answer. */
typedef struct WcLockResult
{
	uint32_t	nlocked;		/* number of rows, from the first on, that have a byte in the answer */
	uint64_t	holder;			/* that has the next one; 0: that was all, or the last one has changed */
	bool		has_weaker;		/* this transaction has the next one in a weaker mode */
	const uint8_t *rows;		/* nlocked bytes */
	bool		check;			/* the answer has WC_FLAG_CHECK; encoded there only */
} WcLockResult;

extern void wc_message_locked_encode(WcBuf *out, const WcLockResult *r);
/* asked: the request that is answered. */
extern WcStatus wc_message_locked_decode(WcSlice in, const WcLockMessage *asked, WcLockResult *r, WcError *err) WC_WARN_UNUSED;

/* MODIFY: the same items for each row of a scan, appended to the batch. */
typedef struct WcModifyMessage
{
	uint64_t	snapshot;		/* these as in OPEN */
	uint64_t	epoch;
	uint32_t	cid;
	int64_t		clock_offset_us;
	uint32_t	write_cid;		/* of the operations */
	uint64_t	bytes_max;		/* as in BATCH */
	uint64_t	owner;			/* these four as in LOCK */
	uint64_t	xid;
	uint32_t	subid;
	uint8_t		mode;
	bool		serializable;	/* no row may have changed since the snapshot */
	bool		first;			/* the request has WC_FLAG_FIRST; encoded there only */
	uint8_t		kind;			/* WcModifyKind, of items */
	WcSlice		keys;			/* an encoded WcKeyCheck (rowkey/keycheck.h) */
	WcSlice		items;			/* of rows that the scan returns with a cell */
	WcSlice		items_bare;		/* for rows that the scan returns without a cell */
	WcSlice		scan;			/* an encoded WcScan */
} WcModifyMessage;

/* Encodes `scan` instead of m->scan. */
extern void wc_message_modify_encode(WcBuf *out, const WcModifyMessage *m, const WcScan *scan);
extern WcStatus wc_message_modify_decode(WcSlice in, WcModifyMessage *m, WcError *err) WC_WARN_UNUSED;

typedef enum WcModifyOutcome
{
	WC_MODIFY_DONE = 0,
	/* after these the backend cuts the batch back to where it was, as after an error */
	WC_MODIFY_UNREADABLE = 1,	/* some key is not one of `keys`, or a row is undecided */
	WC_MODIFY_TOO_LARGE = 2,	/* the batch would have more than bytes_max */
	WC_MODIFY_CHANGED = 4,		/* serializable, and the row that is named has changed */
	/* but not after this one */
	WC_MODIFY_BLOCKED = 3		/* another transaction has a row; for those before it all is done */
} WcModifyOutcome;

/* The answer. */
typedef struct WcModifyResult
{
	uint8_t		outcome;		/* WcModifyOutcome */
	uint64_t	rows;			/* that were changed */
	uint64_t	length;			/* bytes of the batch now; TOO_LARGE: as many as it would have, or more */
	WcSlice		changes;		/* of these the last: those that no CHANGES has brought */
	uint64_t	holder;			/* BLOCKED: as in WcLockResult ... */
	bool		has_weaker;
	WcSlice		row;			/* ... and the row's key; CHANGED: the key */
	WcScanReport report;
	bool		check;			/* as in WcLockResult */
	bool		there;			/* BLOCKED, and locked first: the answer has WC_FLAG_THERE */
} WcModifyResult;

/* Bytes that MODIFY has appended to the batch, or that follow it (PREPARE). */
typedef struct WcChangesMessage
{
	uint64_t	at;				/* where they begin in it */
	WcSlice		bytes;
} WcChangesMessage;

extern void wc_message_changes_encode(WcBuf *out, const WcChangesMessage *m);
extern WcStatus wc_message_changes_decode(WcSlice in, WcChangesMessage *m, WcError *err) WC_WARN_UNUSED;

extern void wc_message_modified_encode(WcBuf *out, const WcModifyResult *r);
extern WcStatus wc_message_modified_decode(WcSlice in, WcModifyResult *r, WcError *err) WC_WARN_UNUSED;

typedef struct WcCommitMessage
{
	uint64_t	xid;			/* the transaction's full id; 0: it has written nothing */
	uint64_t	length;			/* bytes of its stream */
	uint64_t	snapshot;		/* no row that is written may have changed since; 0: they may */
	uint64_t	epoch;			/* as in OPEN */
} WcCommitMessage;

extern void wc_message_commit_encode(WcBuf *out, const WcCommitMessage *m);
extern WcStatus wc_message_commit_decode(WcSlice in, WcCommitMessage *m, WcError *err) WC_WARN_UNUSED;

/* Payloads that are numbers only: n varints, exactly. */
extern void wc_message_numbers_encode(WcBuf *out, const uint64_t *numbers, int n);
extern WcStatus wc_message_numbers_decode(WcSlice in, uint64_t *numbers, int n, WcError *err) WC_WARN_UNUSED;

/* DESCRIBE: namespace and table. */
extern void wc_message_name_encode(WcBuf *out, WcSlice ns, WcSlice name);
extern WcStatus wc_message_name_decode(WcSlice in, WcSlice *ns, WcSlice *name, WcError *err) WC_WARN_UNUSED;

/* ERROR.  decode sets *err to the error that was sent, or to an error about damaged bytes. */
extern void wc_message_error_encode(WcBuf *out, const WcError *e);
extern void wc_message_error_decode(WcSlice in, WcError *err);

#endif
