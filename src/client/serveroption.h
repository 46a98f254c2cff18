/*
 * client/serveroption.h: options of a foreign server.
 */
#ifndef WC_CLIENT_SERVEROPTION_H
#define WC_CLIENT_SERVEROPTION_H

#include "postgres.h"

#include "nodes/pg_list.h"

typedef enum WcEngineKind
{
	WC_ENGINE_ROCKSDB,			/* the embedded one */
	WC_ENGINE_HBASE				/* an HBase cluster, by its Thrift2 gateway */
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
	int			timeout;		/* seconds, of an answer */
	int			fetch_size;		/* most rows an answer */
	bool		raw_timestamps; /* timestamps 'raw': numbers pass as they are, else they are milliseconds */
	bool		any_isolation;	/* isolation 'none': REPEATABLE READ and above are not refused */
	int			catalog_age;	/* seconds for which descriptions of tables are believed */
} WcServerOptions;

/* Raises what is wrong with them.  Strings point into the options. */
extern void wc_server_options_parse(List *options, WcServerOptions *out);

/* Those of a server. */
extern void wc_server_options(Oid server, WcServerOptions *out);

#endif
