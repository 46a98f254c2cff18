/*
 * client/foreign/serveroption.h: options of a foreign server and of its user mappings.
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
	bool		framed;			/* transport 'framed'; neither framed nor http: 'buffered' */
	bool		http;			/* transport 'http' */
	bool		compact;		/* protocol 'compact', else 'binary' */
	char	   *path;			/* of http, with the slash before it */
	bool		tls;			/* http over TLS */
	char	   *tls_ca;			/* file of certificates that are trusted; NULL: those that the system trusts */
	int			connect_timeout;	/* seconds */
	int			timeout;		/* longest wait for an answer, in seconds */
	int			fetch_size;		/* most rows of an answer */
	int			connections;	/* most connections of a session */
	bool		raw_timestamps; /* timestamps 'raw': timestamps are passed unchanged; else they are milliseconds */
	bool		any_isolation;	/* isolation 'none': REPEATABLE READ and above are not refused */
	bool		stream;			/* write_mode 'stream': changes are sent before the commit */
	bool		create;			/* CREATE FOREIGN TABLE makes the table if it does not exist */
	bool		atomic_in_transaction;	/* counters are changed at once in transaction blocks, too */
	int			catalog_age;	/* seconds for which descriptions of tables are cached */
} WcServerOptions;

/* Options of a user mapping.  They are for transport 'http'. */
typedef struct WcUserOptions
{
	char	   *user;			/* for whom the gateway is to work (header doAs); NULL: for this client */
	bool		kerberos;		/* the client identifies itself by Kerberos (SPNEGO) */
	char	   *tls_cert;		/* files of the client's certificate and of its key; NULL: none */
	char	   *tls_key;
} WcUserOptions;

/* Parses the options; raises an error for a wrong one.  Strings in *out point into the options. */
extern void wc_server_options_parse(List *options, WcServerOptions *out);

/* The options of a server. */
extern void wc_server_options(Oid server, WcServerOptions *out);

/* Raises an error for a wrong option of a user mapping, or (42501) if the current user may not set such options. */
extern void wc_user_options_check(List *options);

/* The options of the user's mapping, else of the mapping for PUBLIC; none if there is no mapping. */
extern void wc_user_options(Oid server, Oid user, WcUserOptions *out);

#endif
