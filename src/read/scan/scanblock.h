/*
 * read/scan/scanblock.h: rows, or groups, that a scanner reads alone, into cell blocks.
 */
#ifndef WC_READ_SCAN_SCANBLOCK_H
#define WC_READ_SCAN_SCANBLOCK_H

#include "read/scan/scannerstate.h"

/* Bytes: a block holds something at least, more than its own head. */
#define WC_SCANBLOCK_LEAST 2

/* As wc_scanner_next, of a scanner that no threads help. */
extern WcStatus wc_scanblock_next(WcScanner *s, WcBuf *out, size_t bytes_target, WcError *err) WC_WARN_UNUSED;

/*
 * The same step by step.  begin: the block is appended to out.  fill: writes what the scanner reads alone, which is nothing
 * when its parts read the rest (s->parts); *full: the block ends within a row.  end: start is where the block begins in out,
 * status what the steps before it said.
 */
extern void wc_scanblock_begin(const WcScanner *s, WcBlockWriter *w, WcBuf *out);
extern WcStatus wc_scanblock_fill(WcScanner *s, WcBlockWriter *w, size_t bytes_target, uint64_t rows_max, bool *full,
								  WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_scanblock_end(WcScanner *s, WcBlockWriter *w, size_t start, bool full, WcStatus status,
								 WcError *err) WC_WARN_UNUSED;

#endif
