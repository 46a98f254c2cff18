/*
 * hbase/filter.h: a Scan's filter as one of HBase's.
 *
 * HBase's lets through all rows that the Scan's lets through, those that it cannot decide included, and
 * perhaps more: the Scan's is decided here afterwards, in any case.
 */
#ifndef WC_HBASE_FILTER_H
#define WC_HBASE_FILTER_H

#include "hbase/rows.h"

/* Appends it; nothing, when HBase cannot decide anything of it. */
extern void wc_hbase_filter(const WcHBaseReader *reader, WcBuf *out);

#endif
