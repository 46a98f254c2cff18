/*
 * client/foreign/serveroption.h: options of a foreign server.
 */
#ifndef WC_CLIENT_FOREIGN_SERVEROPTION_H
#define WC_CLIENT_FOREIGN_SERVEROPTION_H

#include "postgres.h"

#include "nodes/pg_list.h"

typedef enum WcEngineKind
{
	WC_ENGINE_ROCKSDB,			/* the embedded engine */
	WC_ENGINE_HBASE				/* an HBase cluster, through its Thrift2 gateway */
} WcEngineKind;

typedef struct WcServerOptions
{
	WcEngineKind engine;

	/* HBase */
	char	   *host;
	int			port;
	bool		framed;			/* transport 'framed', else 'buffered' */
	bool		compact;		/* protocol 'compact', else 'binary' */
	int			connect_timeout;	/* seconds */
	int			timeout;		/* longest wait for an answer, in seconds */
	int			fetch_size;		/* most rows of an answer */
	bool		raw_timestamps; /* timestamps 'raw': timestamps are passed unchanged; else they are milliseconds */
	bool		any_isolation;	/* isolation 'none': REPEATABLE READ and above are not refused */
	int			catalog_age;	/* seconds for which descriptions of tables are cached */
} WcServerOptions;

/* Parses the options; raises an error for a wrong one.  Strings in *out point into the options. */
extern void wc_server_options_parse(List *options, WcServerOptions *out);

/* The options of a server. */
extern void wc_server_options(Oid server, WcServerOptions *out);

#endif
