/*
 * thrift/answer.h: what HBase's gateway (Thrift2) answers.
 *
 * The message is there as a whole (thrift/incoming.h) and is not trusted: what is not as
 * thrift/idl.h says is WC_CORRUPT.  Slices point into it.
 */
#ifndef WC_THRIFT_ANSWER_H
#define WC_THRIFT_ANSWER_H

#include "base/arena.h"
#include "thrift/reader.h"

typedef enum WcAnswerKind
{
	WC_ANSWER_RESULT,			/* what was asked for follows */
	WC_ANSWER_NOTHING,			/* it was done; there is no result */
	WC_ANSWER_IO_ERROR,			/* TIOError */
	WC_ANSWER_ILLEGAL,			/* TIllegalArgument */
	WC_ANSWER_FAILED			/* the gateway could not try, or met an exception that it does not declare */
} WcAnswerKind;

typedef struct WcAnswer
{
	WcThriftReader r;
	WcAnswerKind kind;
	WcThriftField result;		/* RESULT: its field, whose value is next */
	WcSlice		message;		/* of an error; may be empty */
	bool		can_retry;		/* IO_ERROR: the gateway thinks so; that is a hint */
} WcAnswer;

/* Opens the answer to this call. */
extern WcStatus wc_answer_open(WcAnswer *a, WcThriftProtocol protocol, WcSlice message, const char *method,
							   int32_t number, WcError *err) WC_WARN_UNUSED;

/* What was read so far was as it should be. */
extern WcStatus wc_answer_status(const WcAnswer *a, WcError *err) WC_WARN_UNUSED;

/* --- rows -------------------------------------------------------------------*/
typedef struct WcThriftCell
{
	WcSlice		family;
	WcSlice		qualifier;
	WcSlice		value;
	int64_t		ts;				/* HBase's */
	uint8_t		type;			/* HBase's code, Put when it is not said */
} WcThriftCell;

/* The number of rows; each is opened, its cells are read, and it is closed. */
extern uint32_t wc_answer_rows(WcAnswer *a);

/* *ncells cells follow.  A row that is not there has neither key nor cells. */
extern void wc_answer_row(WcAnswer *a, WcSlice *row, uint32_t *ncells);
extern void wc_answer_cell(WcAnswer *a, WcThriftCell *cell);

/* *partial: more cells of the row are to come, in another answer. */
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
} WcThriftFamily;

typedef struct WcThriftTable
{
	WcSlice		ns;				/* "default" when it is not said */
	WcSlice		name;
	uint32_t	nfamilies;
	WcThriftFamily *families;	/* in the arena */
} WcThriftTable;

/* One table, or a list of tables (*n of them in the arena). */
extern WcStatus wc_answer_table(WcAnswer *a, WcArena *arena, WcThriftTable *table, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_answer_tables(WcAnswer *a, WcArena *arena, WcThriftTable **tables, uint32_t *n,
								 WcError *err) WC_WARN_UNUSED;

/* --- others -----------------------------------------------------------------*/
extern WcStatus wc_answer_names(WcAnswer *a, WcArena *arena, WcSlice **names, uint32_t *n, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_answer_number(WcAnswer *a, int32_t *number, WcError *err) WC_WARN_UNUSED;

#endif
