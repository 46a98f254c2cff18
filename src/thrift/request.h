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
#define WC_METHOD_PUTS "putMultiple"
#define WC_METHOD_DELETES "deleteMultiple"
#define WC_METHOD_MUTATE "mutateRow"
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

/* How much of a column or family a TDelete deletes: thrift/idl.h's TDeleteType. */
typedef enum WcThriftDelete
{
	WC_THRIFT_DELETE_VERSION,	/* a version of a column */
	WC_THRIFT_DELETE_COLUMN,	/* a column's versions up to a timestamp */
	WC_THRIFT_DELETE_FAMILY,	/* a family's cells up to a timestamp */
	WC_THRIFT_DELETE_FAMILY_VERSION,	/* a family's cells with a timestamp */
	WC_THRIFT_DELETES
} WcThriftDelete;

/* No timestamp: the region server's clock gives a put its timestamp. */
#define WC_THRIFT_NO_TS INT64_MIN

/* A cell to put, or a delete marker; a family's marker has no qualifier and no value. */
typedef struct WcThriftChange
{
	WcSlice		family;
	WcSlice		qualifier;
	WcSlice		value;
	int64_t		ts;				/* HBase's; WC_THRIFT_NO_TS only of puts */
} WcThriftChange;

/* The changes of a row: puts, and markers by their kind. */
typedef struct WcThriftRow
{
	WcSlice		row;
	const WcThriftChange *puts;
	uint32_t	nputs;
	const WcThriftChange *deletes[WC_THRIFT_DELETES];
	uint32_t	ndeletes[WC_THRIFT_DELETES];
} WcThriftRow;

/* Rows with puts alone; rows with markers of the kind alone; one row with anything, at once. */
extern void wc_request_puts(WcThriftWriter *w, int32_t number, WcSlice table, const WcThriftRow *const *rows, uint32_t n);
extern void wc_request_deletes(WcThriftWriter *w, int32_t number, WcSlice table, const WcThriftRow *const *rows, uint32_t n);
extern void wc_request_mutate(WcThriftWriter *w, int32_t number, WcSlice table, const WcThriftRow *row);

extern void wc_request_server_type(WcThriftWriter *w, int32_t number);
extern void wc_request_scan(WcThriftWriter *w, int32_t number, const WcThriftScan *scan, int32_t rows);
extern void wc_request_table(WcThriftWriter *w, int32_t number, WcSlice ns, WcSlice name);
extern void wc_request_tables(WcThriftWriter *w, int32_t number, WcSlice ns);
extern void wc_request_namespaces(WcThriftWriter *w, int32_t number);

#endif
