/*
 * read/scan/langrows.h: the rows of a scan that has a filter in HBase's language.  As langcells.h.
 */
#ifndef WC_READ_SCAN_LANGROWS_H
#define WC_READ_SCAN_LANGROWS_H

#include "read/scan/langcells.h"

/* To the next row that the filter lets through; WC_END: none.  *paused, if may_pause: it has rejected many rows, and
 * goes on when it is called again. */
extern WcStatus wc_langrows_next_row(WcScanner *s, bool may_pause, bool *paused, WcError *err) WC_WARN_UNUSED;

#endif
