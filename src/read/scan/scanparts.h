/*
 * read/scan/scanparts.h: the rest of a long scan, read by several threads.
 *
 * A scanner reads the first rows of its range alone.  If there are more, the rest of the range is divided into parts,
 * each with a scanner of its own at the same state; several threads read parts at once, and their blocks are joined in
 * the order of the scan.  All of this happens within wc_scanner_next: between its calls no other thread reads.
 */
#ifndef WC_READ_SCAN_SCANPARTS_H
#define WC_READ_SCAN_SCANPARTS_H

#include "read/scan/scannerstate.h"

/* Divides the rows after the scanner's row, if they are worth it: then s->parts is set. */
extern WcStatus wc_scanparts_begin(WcScanner *s, WcError *err) WC_WARN_UNUSED;

/* Writes rows, or groups, of the parts; sets s->in_row, and at the end of the last part s->done. */
extern WcStatus wc_scanparts_fill(WcScanner *s, WcBlockWriter *w, size_t bytes_target, WcError *err) WC_WARN_UNUSED;

/* Adds what the parts have read. */
extern void wc_scanparts_add_stats(const WcScanParts *parts, WcScanStats *stats);
extern void wc_scanparts_free(WcScanParts *parts);

#endif
