/*
 * hbase/hbase.h: what the files of hbase/ tell each other.  Nobody else includes it.
 *
 * The driver of tables in HBase clusters, reached by their Thrift2 gateways.  PostgreSQL side,
 * main thread.  What core calls back (cells of a scan) must not raise an error: such functions
 * return a WcStatus, and what is to be raised waits in this module (wc_hbase_raise).
 */
#ifndef WC_HBASE_HBASE_H
#define WC_HBASE_HBASE_H

#include "postgres.h"

#include "utils/timestamp.h"

#include "client/driver.h"
#include "thrift/answer.h"
#include "thrift/incoming.h"
#include "thrift/writer.h"

/* A connection with a gateway. */
typedef struct WcHBaseConnection
{
	pgsocket	socket;			/* PGINVALID_SOCKET: there is none */
	bool		busy;			/* a call has begun and not ended: what comes is of no use */
	bool		timed_out;		/* the last call's answer did not come in time */
	bool		lost;			/* the last call has failed since connections were lost */
	int32		number;			/* of the last call */
	WcBuf		out;			/* the request */
	WcBuf		in;				/* the answer, as far as it has come */
	WcThriftIncoming incoming;
} WcHBaseConnection;

/* A foreign server, in this session. */
typedef struct WcHBaseServer
{
	Oid			oid;			/* hash key */
	bool		current;		/* options are those of the catalog */
	WcServerOptions options;
	MemoryContext context;		/* of their strings */
	WcHBaseConnection connection;
	uint64		generation;		/* of the cluster's catalog, as far as it is known here */
	TimestampTz looked_at;		/* when that last grew */
} WcHBaseServer;

typedef struct WcHBaseFamily
{
	char	   *name;
	bool		present;		/* the table had it when it was described last */
} WcHBaseFamily;

/* A table, for as long as the session lives. */
typedef struct WcHBaseTable
{
	uint32		id;
	WcHBaseServer *server;
	char	   *name;			/* "namespace:name" */
	size_t		row_bytes;		/* of the rows that came last, on average; 0: unknown */
	int			nfamilies;		/* that were met: the i-th has id i + 1 */
	WcHBaseFamily *families;
} WcHBaseTable;

/* --- hbase.c ------------------------------------------------------------------*/
extern WcHBaseServer *wc_hbase_server(Oid server);
extern WcHBaseTable *wc_hbase_table(WcHBaseServer *server, WcSlice ns, WcSlice name);	/* made, if it is new */
extern WcHBaseTable *wc_hbase_table_by_id(uint32 id);
extern uint32 wc_hbase_family_id(WcHBaseTable *table, WcSlice name);	/* likewise, and it is present */

/* Descriptions of its tables are not believed any more. */
extern void wc_hbase_doubt(WcHBaseServer *server);

/* Sets err, and the SQLSTATE that it will be raised with. */
extern WcStatus wc_hbase_error(WcError *err, WcStatus status, int sqlstate, const char *fmt,...) pg_attribute_printf(4, 5);

/* An error of PostgreSQL, caught where core was below, is to be raised by wc_hbase_raise. */
extern void wc_hbase_keep_error(MemoryContext context);

/* Raises what err, set in this module or in core, stands for. */
extern void wc_hbase_raise(const WcError *err) pg_attribute_noreturn();

/* --- connection.c -------------------------------------------------------------*/

/* Begins a request; the connection's writer for it, and the number that it is to have. */
extern void wc_hbase_begin(WcHBaseServer *server, WcThriftWriter *w, int32 *number);

/*
 * Sends the request that was written, and waits for its answer, interruptibly; asks again when a
 * connection is lost.  So the call must be one that only reads.  answer's slices point into the
 * server's connection.in, which the caller may take away.
 */
extern WcStatus wc_hbase_call(WcHBaseServer *server, const char *method, int32 number, WcAnswer *answer,
							  WcError *err) WC_WARN_UNUSED;
extern void wc_hbase_disconnect(WcHBaseServer *server); /* never fails */

/* --- error.c ------------------------------------------------------------------*/

/* What an answer that is no result says, of a table or namespace of this name. */
extern WcStatus wc_hbase_check(WcHBaseServer *server, const char *name, const WcAnswer *answer, WcError *err) WC_WARN_UNUSED;

/* --- catalog.c ----------------------------------------------------------------*/
extern uint64 wc_hbase_catalog_generation(Oid server);
extern bool wc_hbase_describe(Oid server, WcSlice ns, WcSlice name, WcSlice *desc);
extern void wc_hbase_list_tables(Oid server, bool all_databases, WcSlice *list);
extern void wc_hbase_list_namespaces(Oid server, WcSlice *list);

/* --- scan.c -------------------------------------------------------------------*/
extern void wc_hbase_scan_open(WcDriverScan *scan, const WcDriverOpen *open);
extern bool wc_hbase_scan_next(WcDriverScan *scan);
extern void wc_hbase_scan_stats(WcDriverScan *scan);
extern void wc_hbase_scan_close(WcDriverScan *scan);

#endif
