/*
 * read/scan/langrows.h: the rows of a scan that has a filter in HBase's language.
 *
 * The result of such a scan depends on the order of calls of its filter.  These functions have the order of HBase's
 * RegionScanner and StoreScanner (read/README).  They are called for scans with such a filter only.  One thread.
 */
#ifndef WC_READ_SCAN_LANGROWS_H
#define WC_READ_SCAN_LANGROWS_H

#include "read/scan/scannerstate.h"

/* The filter of s->scan, when there is one, becomes s->lang, and may narrow the range of rows.  Before lanes
 * are made of that. */
extern WcStatus wc_langrows_create(WcScanner *s, WcError *err) WC_WARN_UNUSED;

/* A family that has been opened. */
extern WcStatus wc_langrows_family(WcScanner *s, WcFamilyScan *f, WcError *err) WC_WARN_UNUSED;
extern void wc_langrows_free(WcScanner *s);

/* To the next row that the filter lets through; WC_END: none.  *paused, if may_pause: it has rejected many rows, and
 * goes on when it is called again. */
extern WcStatus wc_langrows_next_row(WcScanner *s, bool may_pause, bool *paused, WcError *err) WC_WARN_UNUSED;

/* The family's next cell that the filter lets through, in f->cell and f->colno, as it is returned; WC_END:
 * no more. */
extern WcStatus wc_langrows_next_cell(WcScanner *s, WcFamilyScan *f, WcError *err) WC_WARN_UNUSED;

/* Are the row's cells at hand, since they all had to be known?  Then the next one, unless it was the last. */
extern bool wc_langrows_gathers(const WcScanner *s);
extern bool wc_langrows_peek(WcScanner *s, WcCell *cell, uint32_t *colno, WcFamilyScan **f);
extern void wc_langrows_take(WcScanner *s);

#endif
