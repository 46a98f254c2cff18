/*
 * thrift/request.h: calls of HBase's gateway (Thrift2), as messages.
 *
 * Each function appends one message to the writer's buffer; its answer has the same number.
 */
#ifndef WC_THRIFT_REQUEST_H
#define WC_THRIFT_REQUEST_H

#include "thrift/answer.h"
#include "thrift/writer.h"

/* Methods, as messages name them. */
#define WC_METHOD_SERVER_TYPE "getThriftServerType"
#define WC_METHOD_SCAN "getScannerResults"
#define WC_METHOD_GET "get"
#define WC_METHOD_PUTS "putMultiple"
#define WC_METHOD_DELETES "deleteMultiple"
#define WC_METHOD_MUTATE "mutateRow"
#define WC_METHOD_INCREMENT "increment"
#define WC_METHOD_APPEND "append"
#define WC_METHOD_CHECK_AND_MUTATE "checkAndMutate"
#define WC_METHOD_TABLE "getTableDescriptor"
#define WC_METHOD_TABLES "getTableDescriptorsByNamespace"
#define WC_METHOD_NAMESPACES "listNamespaces"
#define WC_METHOD_CREATE_TABLE "createTable"
#define WC_METHOD_DELETE_TABLE "deleteTable"
#define WC_METHOD_TRUNCATE_TABLE "truncateTable"
#define WC_METHOD_ENABLE_TABLE "enableTable"
#define WC_METHOD_DISABLE_TABLE "disableTable"
#define WC_METHOD_IS_TABLE_ENABLED "isTableEnabled"
#define WC_METHOD_ADD_FAMILY "addColumnFamily"
#define WC_METHOD_MODIFY_FAMILY "modifyColumnFamily"
#define WC_METHOD_DELETE_FAMILY "deleteColumnFamily"
#define WC_METHOD_REGIONS "getAllRegionLocations"
#define WC_METHOD_CREATE_NAMESPACE "createNamespace"
#define WC_METHOD_DELETE_NAMESPACE "deleteNamespace"

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
	int64_t		ttl_ms;			/* of a put's cell; 0: none */
} WcThriftChange;

/* The changes of a row: puts, ordered by ttl_ms, and markers by their kind. */
typedef struct WcThriftRow
{
	WcSlice		row;
	const WcThriftChange *puts;
	uint32_t	nputs;
	const WcThriftChange *deletes[WC_THRIFT_DELETES];
	uint32_t	ndeletes[WC_THRIFT_DELETES];
} WcThriftRow;

/* The number of puts from the i-th on that have the same time to live, which HBase has once for a TPut. */
extern uint32_t wc_thrift_puts_alike(const WcThriftRow *row, uint32_t i);

/*
 * The number of markers of the kind from the i-th on that one TDelete can have: HBase's Delete keeps only the last
 * DeleteFamily of a family.  Markers of one family are side by side.
 */
extern uint32_t wc_thrift_deletes_alike(const WcThriftRow *row, WcThriftDelete kind, uint32_t i);

/* Rows with puts alone, which are all alike; rows with markers of one kind alone, all alike; one row with anything, at once. */
extern void wc_request_puts(WcThriftWriter *w, int32_t number, WcSlice table, const WcThriftRow *const *rows, uint32_t n);
extern void wc_request_deletes(WcThriftWriter *w, int32_t number, WcSlice table, const WcThriftRow *const *rows, uint32_t n);
extern void wc_request_mutate(WcThriftWriter *w, int32_t number, WcSlice table, const WcThriftRow *row);

/*
 * One row, if the newest version of a column is `value`; an empty value: if the column has no version, or an empty
 * one.
 */
typedef struct WcThriftCondition
{
	WcSlice		family;
	WcSlice		qualifier;
	WcSlice		value;
} WcThriftCondition;

extern void wc_request_check_and_mutate(WcThriftWriter *w, int32_t number, WcSlice table, const WcThriftRow *row,
										const WcThriftCondition *condition);

/* Adds to a column's number, or bytes to its value: at once, and the answer has the result. */
extern void wc_request_increment(WcThriftWriter *w, int32_t number, WcSlice table, WcSlice row, WcSlice family,
								 WcSlice qualifier, int64_t amount);
extern void wc_request_append(WcThriftWriter *w, int32_t number, WcSlice table, WcSlice row, WcSlice family,
							  WcSlice qualifier, WcSlice value);

extern void wc_request_server_type(WcThriftWriter *w, int32_t number);
extern void wc_request_scan(WcThriftWriter *w, int32_t number, const WcThriftScan *scan, int32_t rows);

/* The row `start` alone; not reversed, not raw. */
extern void wc_request_get(WcThriftWriter *w, int32_t number, const WcThriftScan *scan);
extern void wc_request_tables(WcThriftWriter *w, int32_t number, WcSlice ns);
extern void wc_request_namespaces(WcThriftWriter *w, int32_t number);

/* Methods whose only argument is a table's name: TABLE, DELETE_TABLE, ENABLE_TABLE, DISABLE_TABLE, IS_TABLE_ENABLED. */
extern void wc_request_of_table(WcThriftWriter *w, int32_t number, const char *method, WcSlice ns, WcSlice name);

extern void wc_request_regions(WcThriftWriter *w, int32_t number, WcSlice table);	/* "[namespace:]name" */

/* The gateway misreads split points in a framed message. */
extern void wc_request_create_table(WcThriftWriter *w, int32_t number, const WcThriftTable *table, const WcSlice *splits,
									uint32_t nsplits);
extern void wc_request_truncate_table(WcThriftWriter *w, int32_t number, WcSlice ns, WcSlice name, bool keep_splits);

/*
 * method: ADD_FAMILY or MODIFY_FAMILY.  A modified family has no other attributes than those of the message:
 * family->all, if set, gives those that WcThriftFamily has no members for.  The gateway misreads some of these in a
 * framed message.
 */
extern void wc_request_family(WcThriftWriter *w, int32_t number, const char *method, WcSlice ns, WcSlice name,
							  const WcThriftFamily *family);

/* The gateway misreads the family's name in a framed message. */
extern void wc_request_delete_family(WcThriftWriter *w, int32_t number, WcSlice ns, WcSlice name, WcSlice family);

extern void wc_request_create_namespace(WcThriftWriter *w, int32_t number, WcSlice ns);
extern void wc_request_delete_namespace(WcThriftWriter *w, int32_t number, WcSlice ns);

#endif
