/*
 * hbase/scan/filter.h: a Scan's filters as one of HBase's.
 *
 * HBase's filter passes all rows that the Scan's filter passes, rows that the Scan's filter cannot decide
 * included, and perhaps more: the Scan's filter is always evaluated again on the rows that arrive.
 */
#ifndef WC_HBASE_SCAN_FILTER_H
#define WC_HBASE_SCAN_FILTER_H

#include "hbase/scan/rows.h"

/* Appends the filter; appends nothing when HBase can decide no part of it. */
extern void wc_hbase_filter(const WcHBaseReader *reader, WcBuf *out);

/* The same of the Scan's text in HBase's filter language. */
extern WcStatus wc_hbase_text_filter(const WcHBaseReader *reader, WcBuf *out, WcError *err) WC_WARN_UNUSED;

#endif
