/*
 * read/scan/scanner.h: rows that a Scan asks for, as cell blocks.
 *
 * A scanner belongs to one thread at a time.  Functions that can take long poll the
 * read point's cancel flag.
 */
#ifndef WC_READ_SCAN_SCANNER_H
#define WC_READ_SCAN_SCANNER_H

#include "base/buf.h"
#include "model/cellblock.h"
#include "read/storage.h"

typedef struct WcScanner WcScanner;

typedef struct WcScanStats
{
	uint64_t	rows_returned;
	uint64_t	rows_examined;	/* stored rows, also deleted ones */
	uint64_t	rows_filtered;	/* of a measured scan: there, but the scan's filter does not let them through */
	uint64_t	cells_returned;
	uint64_t	cells_examined;
	uint64_t	seeks;
	uint64_t	cache_hits;		/* RocksDB's blocks that were in memory */
	uint64_t	blocks_read;	/* and those that were not */
} WcScanStats;

/*
 * Threads that help to read long scans.  split appends row keys that divide a range into at most nparts parts of about
 * the same size, none of which is small: varint n, then n times bytes, ascending.  run calls work(work_arg) in this thread, and in other threads
 * at the same time if there are any to spare, in each until it returns false; it returns when all have ended.
 */
typedef struct WcScanHelpers
{
	WcStatus	(*split) (void *arg, uint32_t table_id, const WcRange *range, const uint32_t *families, uint32_t nfamilies,
						  uint32_t nparts, WcBuf *out, WcError *err);
	void		(*run) (void *arg, bool (*work) (void *work_arg), void *work_arg);
	void	   *arg;
	uint64_t	rows_alone;		/* stored rows that the scanner reads alone, > 0: only longer scans are shared */
	uint64_t	returned_part;	/* only scans that return at most one row, or group, for so many of these; 0: all scans */
} WcScanHelpers;

/* Copies the scan and the read point. WC_NO_TABLE, WC_NO_FAMILY (or WC_STALE)
 * when the table is not there (any more). */
extern WcStatus wc_scanner_open(WcStorage *storage, const WcScan *scan, const WcReadPoint *at,
								WcScanner **scanner, WcError *err) WC_WARN_UNUSED;

/*
 * Lets other threads help (scanparts.c) if the scan turns out to be long; they read only within wc_scanner_next, whose
 * rows_max must be 0 then.  scan: the encoded WcScan, which is copied.  Scans with limits or offsets, of several ranges, of first rows of prefixes, with sums of floats, with a filter in HBase's
 * language, or in a transaction that has written are not shared.  The helpers must outlive the scanner.
 */
extern WcStatus wc_scanner_share(WcScanner *scanner, WcSlice scan, const WcScanHelpers *helpers, WcError *err) WC_WARN_UNUSED;

/*
 * Appends one cell block (model/cellblock.h) to out: about bytes_target bytes, more if one cell is larger, or
 * to end with a whole row; at most rows_max rows (0: no limit).  WC_OK: there may be more blocks; WC_END: this block is
 * the last (the block has a mark, too).
 */
extern WcStatus wc_scanner_next(WcScanner *scanner, WcBuf *out, size_t bytes_target,
								uint64_t rows_max, WcError *err) WC_WARN_UNUSED;
/* Adds more to sum. */
extern void wc_scan_stats_sum(WcScanStats *sum, const WcScanStats *more);
extern void wc_scanner_stats(const WcScanner *scanner, WcScanStats *stats);

/* The same without cells examined and seeks, which take some adding up. */
extern WcScanStats wc_scanner_rows(const WcScanner *scanner);
extern uint32_t wc_scanner_table_id(const WcScanner *scanner);

/* The snapshot that the scanner has taken itself; NULL: none. */
extern WcSnapshot *wc_scanner_own_snapshot(const WcScanner *scanner);

/* The time (the engine's clock, with the read point's offset) for which the scanner has computed TTLs: at an earlier time
 * (the clock was set back) its answer may be different. */
extern int64_t wc_scanner_valid_from_us(const WcScanner *scanner);

/* The time (likewise) from which on the rows that it has returned so far may be different although nothing is written,
 * because a cell will have outlived its TTL.  INT64_MAX: none will. */
extern int64_t wc_scanner_valid_until_us(const WcScanner *scanner);
extern void wc_scanner_close(WcScanner *scanner);

#endif
