/*
 * read/scan/scanblock.h: rows, or groups, that a scanner reads alone, into cell blocks.
 */
#ifndef WC_READ_SCAN_SCANBLOCK_H
#define WC_READ_SCAN_SCANBLOCK_H

#include "read/scan/scannerstate.h"

/* The least size to aim at, in bytes: a block holds something, more than its own head. */
#define WC_SCANBLOCK_LEAST 2

/* As wc_scanner_next, of a scanner that no threads help. */
extern WcStatus wc_scanblock_next(WcScanner *s, WcBuf *out, size_t bytes_target, WcError *err) WC_WARN_UNUSED;

/*
 * The same in two steps.  fill begins a block in out, and writes what the scanner reads alone, which is nothing while its parts
 * read the rest (s->parts); *full: the block ends within a row.  end gets what the steps before it returned.
 */
extern WcStatus wc_scanblock_fill(WcScanner *s, WcBlockWriter *w, WcBuf *out, size_t bytes_target, uint64_t rows_max,
								  bool *full, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_scanblock_end(WcScanner *s, WcBlockWriter *w, bool full, WcStatus status, WcError *err) WC_WARN_UNUSED;

#endif
