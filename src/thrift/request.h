/*
 * thrift/request.h: calls of HBase's gateway (Thrift2), as messages.
 *
 * Each function appends one message to the writer's buffer; its answer has the same number.
 */
#ifndef WC_THRIFT_REQUEST_H
#define WC_THRIFT_REQUEST_H

#include "thrift/writer.h"

/* Methods, as messages name them. */
#define WC_METHOD_SERVER_TYPE "getThriftServerType"
#define WC_METHOD_SCAN "getScannerResults"
#define WC_METHOD_TABLE "getTableDescriptor"
#define WC_METHOD_TABLES "getTableDescriptorsByNamespace"
#define WC_METHOD_NAMESPACES "listNamespaces"

/* A column, or (whole) all of a family. */
typedef struct WcThriftColumn
{
	WcSlice		family;
	bool		whole;
	WcSlice		qualifier;
} WcThriftColumn;

/* A TScan whose first rows are requested.  Timestamps are HBase's: milliseconds, as a rule. */
typedef struct WcThriftScan
{
	WcSlice		table;			/* "[namespace:]name" */
	WcSlice		start;			/* inclusive, empty: none; of a reversed scan the greatest row */
	WcSlice		stop;			/* exclusive, empty: none */
	const WcThriftColumn *columns;	/* none: all columns */
	uint32_t	ncolumns;
	int32_t		versions;
	bool		timed;			/* only cells in [ts_min, ts_max) */
	int64_t		ts_min;
	int64_t		ts_max;
	bool		reversed;
	bool		raw;			/* delete markers and masked cells, too */
	WcSlice		filter;			/* thrift/hbasefilter.h; empty: none */
} WcThriftScan;

extern void wc_request_server_type(WcThriftWriter *w, int32_t number);
extern void wc_request_scan(WcThriftWriter *w, int32_t number, const WcThriftScan *scan, int32_t rows);
extern void wc_request_table(WcThriftWriter *w, int32_t number, WcSlice ns, WcSlice name);
extern void wc_request_tables(WcThriftWriter *w, int32_t number, WcSlice ns);
extern void wc_request_namespaces(WcThriftWriter *w, int32_t number);

#endif
