/*
 * thrift/answer.h: answers of HBase's gateway (Thrift2).
 *
 * The message is complete (thrift/incoming.h) and is not trusted: bytes that do not match thrift/idl.h
 * are WC_CORRUPT.  Slices point into the message.
 */
#ifndef WC_THRIFT_ANSWER_H
#define WC_THRIFT_ANSWER_H

#include "base/arena.h"
#include "thrift/reader.h"

typedef enum WcAnswerKind
{
	WC_ANSWER_RESULT,			/* the result follows */
	WC_ANSWER_NOTHING,			/* success, without a result */
	WC_ANSWER_IO_ERROR,			/* TIOError */
	WC_ANSWER_ILLEGAL,			/* TIllegalArgument */
	WC_ANSWER_FAILED			/* the gateway could not run the call, or an undeclared exception was raised */
} WcAnswerKind;

typedef struct WcAnswer
{
	WcThriftReader r;
	WcAnswerKind kind;
	WcThriftField result;		/* RESULT: the result's field, whose value is read next */
	WcSlice		message;		/* of an error; may be empty */
	bool		can_retry;		/* IO_ERROR: a retry may succeed; a hint of the gateway */
} WcAnswer;

/* Opens the answer to the call of this method and number. */
extern WcStatus wc_answer_open(WcAnswer *a, WcThriftProtocol protocol, WcSlice message, const char *method,
							   int32_t number, WcError *err) WC_WARN_UNUSED;

/* WC_OK: all that was read so far is valid; else the error. */
extern WcStatus wc_answer_status(const WcAnswer *a, WcError *err) WC_WARN_UNUSED;

/* --- rows -------------------------------------------------------------------*/
typedef struct WcThriftCell
{
	WcSlice		family;
	WcSlice		qualifier;
	WcSlice		value;
	int64_t		ts;				/* HBase's */
	uint8_t		type;			/* HBase's code; Put if the field is absent */
} WcThriftCell;

/*
 * The number of rows; of a get: 1, and the row need not exist.  The caller then calls, for each row, wc_answer_row,
 * wc_answer_cell for each cell, and wc_answer_row_end.
 */
extern uint32_t wc_answer_rows(WcAnswer *a);

/* *ncells cells follow.  A get's row that does not exist has neither key nor cells. */
extern void wc_answer_row(WcAnswer *a, WcSlice *row, uint32_t *ncells);
extern void wc_answer_cell(WcAnswer *a, WcThriftCell *cell);

/* *partial: the next answer has more cells of the row. */
extern void wc_answer_row_end(WcAnswer *a, bool *partial);

/* --- tables -----------------------------------------------------------------*/
typedef struct WcThriftFamily
{
	WcSlice		name;
	int32_t		blocksize;
	int32_t		bloomfilter;	/* TBloomFilterType */
	int32_t		compression;	/* TCompressionAlgorithm */
	int32_t		keep_deleted;	/* TKeepDeletedCells */
	int32_t		versions;
	int32_t		min_versions;
	int32_t		ttl;			/* seconds; INT32_MAX: for ever */
	bool		blockcache;
	bool		in_memory;
	WcSlice		all;			/* all fields as the gateway wrote them, in the answer's protocol */
} WcThriftFamily;

typedef struct WcThriftTable
{
	WcSlice		ns;				/* "default" if the field is absent */
	WcSlice		name;
	uint32_t	nfamilies;
	WcThriftFamily *families;	/* in the arena */
} WcThriftTable;

/* Reads one table, or a list of tables (*n of them, in the arena). */
extern WcStatus wc_answer_table(WcAnswer *a, WcArena *arena, WcThriftTable *table, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_answer_tables(WcAnswer *a, WcArena *arena, WcThriftTable **tables, uint32_t *n,
								 WcError *err) WC_WARN_UNUSED;

/* --- others -----------------------------------------------------------------*/
extern WcStatus wc_answer_names(WcAnswer *a, WcArena *arena, WcSlice **names, uint32_t *n, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_answer_number(WcAnswer *a, int32_t *number, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_answer_bool(WcAnswer *a, bool *value, WcError *err) WC_WARN_UNUSED;

/* Of REGIONS: the first keys of the table's regions (*n of them, in the arena), in no order; empty: of the first one.  A
 * region with replicas counts once. */
extern WcStatus wc_answer_regions(WcAnswer *a, WcArena *arena, WcSlice **starts, uint32_t *n, WcError *err) WC_WARN_UNUSED;

/* Of increment and append: the newest version of the changed column. */
extern WcStatus wc_answer_changed_cell(WcAnswer *a, WcThriftCell *cell, WcError *err) WC_WARN_UNUSED;

#endif
