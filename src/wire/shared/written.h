/*
 * wire/shared/written.h: rows that SERIALIZABLE transactions have written lately, in memory that all processes share.
 *
 * A SERIALIZABLE transaction that reads a row must know of concurrent transactions that have written the row and whose
 * write it does not see.  A heap row names its writer; a stored row does not.  So each writer notes its rows here, when
 * the statement writes them, and each reader looks for rows of its ranges.  A writer that was rolled back does no harm:
 * PostgreSQL does not know it any more.
 *
 * The newest WC_WRITTEN_MAX notes are kept, in the order in which they were made.  A reader looks at the notes of its own
 * time only.  Before it takes its snapshot, it asks for the first note of all transactions that run and have made notes (the floor):
 * earlier notes are of transactions that its snapshot shows.  If a reader's snapshot is older than its question, it takes
 * the ids of transactions instead: each note has the greatest transaction id of all notes so far, so the reader stops at the
 * first note whose greatest id is smaller than the ids of transactions that are concurrent with it.
 *
 * Nothing here locks: functions that change the notes need a lock that excludes all others, and the functions that look
 * need one that excludes changes; wc_written_end needs none.  Ids are full transaction ids of top-level transactions.
 */
#ifndef WC_WIRE_SHARED_WRITTEN_H
#define WC_WIRE_SHARED_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/scan.h"

typedef struct WcWritten WcWritten;

#define WC_WRITTEN_MAX	16384

/* At most so many writers are found by one call of wc_written_find. */
#define WC_WRITERS_MAX	64

/* For so many processes, and so many transactions that are prepared, or about to be, at a time. */
extern size_t wc_written_size(uint32_t nprocesses, uint32_t nprepared);

/* Lays out fresh, zeroed memory of that size, aligned to 8 bytes. */
extern WcWritten *wc_written_init(void *memory, uint32_t nprocesses, uint32_t nprepared);

/* Before each note of the process's transaction; and when other processes' snapshots show the transaction as ended. */
extern void wc_written_begin(WcWritten *written, uint32_t process);
extern void wc_written_end(WcWritten *written, uint32_t process);

/* Is the transaction running, or prepared? */
typedef bool (*WcWrittenRuns) (uint64_t xid);

/* The process's transaction is about to be prepared: its notes count until it does not run any more. */
extern void wc_written_prepare(WcWritten *written, uint32_t process, uint64_t xid, WcWrittenRuns runs);

/* The number of the first note of all transactions that run; that of the next note, if none of them has made one. */
extern uint64_t wc_written_floor(const WcWritten *written, WcWrittenRuns runs);

/* Notes that the transaction writes this row of the table, or any of its rows. */
extern void wc_written_row(WcWritten *written, uint64_t xid, uint32_t table_id, WcSlice row);
extern void wc_written_table(WcWritten *written, uint64_t xid, uint32_t table_id);

/* A search for writers; at is set to WC_WRITTEN_NEWEST at first, then by wc_written_find. */
typedef struct WcWrittenSearch
{
	uint32_t	table_id;
	uint32_t	nranges;		/* 0: all rows */
	const WcRange *ranges;		/* as in WcScan */
	uint64_t	floor;			/* notes before this one are not wanted; 0: floor is not known */
	uint64_t	since;			/* nor are transactions with smaller ids; 0: floor is known */
	uint64_t	own;			/* nor is this one */
	uint64_t	at;
} WcWrittenSearch;

#define WC_WRITTEN_NEWEST	UINT64_MAX

/*
 * Finds transactions that have written rows of the ranges, perhaps also some that have not; each about once.  Returns their
 * number, and less than WC_WRITERS_MAX if there are no more.  The caller may release its lock between two calls.
 */
extern uint32_t wc_written_find(const WcWritten *written, WcWrittenSearch *search, uint64_t writers[WC_WRITERS_MAX]);

/*
 * Transactions with ids from here on have made notes of all that they have written; transactions with smaller ids may have
 * been prepared before the server's last start.  next_xid: the id that no transaction has yet, for the first call of all.  Needs
 * the lock that excludes changes; several processes may call it at once.
 */
extern uint64_t wc_written_first(WcWritten *written, uint64_t next_xid);

/* May a note that the search wants have been overwritten? */
extern bool wc_written_forgotten(const WcWritten *written, const WcWrittenSearch *search);

#endif
