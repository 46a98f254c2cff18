/*
 * hbase/gateway/gateway.h: servers, their gateways and tables, as the session knows them; calls of a gateway; errors.
 *
 * PostgreSQL side, main thread.  Functions that core calls back (for cells of a scan) must not raise an error: they
 * return a WcStatus, and this module keeps the error for wc_hbase_raise.
 */
#ifndef WC_HBASE_GATEWAY_GATEWAY_H
#define WC_HBASE_GATEWAY_GATEWAY_H

#include "postgres.h"

#include "utils/timestamp.h"

#include "client/driver.h"
#include "read/storage.h"
#include "thrift/answer.h"
#include "thrift/incoming.h"
#include "thrift/writer.h"

#define WC_HBASE_US_PER_MS 1000

/* The namespace of HBase's own tables. */
#define WC_HBASE_SYSTEM "hbase"

typedef struct WcHBaseHttp WcHBaseHttp;

/* A request that was sent ahead: its answer is taken later.  All zeros: no request has been sent. */
typedef struct WcHBaseAhead
{
	struct WcHBaseConnection *connection;	/* on which it was sent; NULL: no request has been sent */
	const char *method;
	int32		number;
	int64		deadline;		/* of the answer, in ms of wc_clock_monotonic_us */
	bool		arrived;		/* the fields below are set; else the answer is awaited on the connection */
	WcStatus	status;			/* WC_END: the connection was lost */
	bool		timed_out;
	WcBuf		in;				/* the answer's bytes, with the message in them */
	WcSlice		message;
	WcError		err;
} WcHBaseAhead;

/* A connection with a gateway. */
typedef struct WcHBaseConnection
{
	struct WcHBaseServer *server;
	pgsocket	socket;			/* PGINVALID_SOCKET: there is none */
	struct WaitEventSet *wait;	/* of the socket, the latch and the postmaster's death; NULL: not made yet */
	int			waits_for;		/* events of the socket in this set */
	WcHBaseHttp *http;			/* of transport http, instead of a socket; NULL: there is none */
	bool		checked;		/* it is open, and a gateway of Thrift2 has answered on the server's first connection */
	bool		busy;			/* a call has begun and not ended: bytes that arrive are useless */
	bool		sent;			/* the gateway may have done what the last call asked for */
	int64		answer_us;		/* a mean of the waits for answers */
	WcHBaseAhead *ahead;		/* the request whose answer will arrive next; NULL: none was sent ahead */
	WcBuf		out;			/* the request; that which was sent ahead, if there is one */
	WcBuf		in;				/* the received part of the answer */
	WcThriftIncoming incoming;
} WcHBaseConnection;

/* A foreign server, in this session. */
typedef struct WcHBaseServer
{
	Oid			oid;			/* hash key */
	bool		current;		/* options are those of PostgreSQL's catalog */
	WcServerOptions options;
	Oid			session_user;	/* whose user mapping was looked up */
	WcUserOptions user;			/* of this mapping */
	MemoryContext context;		/* of their strings */
	WcBuf		request;		/* the next request */
	int32		number;			/* of the last request */
	bool		timed_out;		/* the last call's answer did not come in time */
	bool		refused;		/* the last attempt to connect has failed */
	bool		lost;			/* the last call has failed because its connections were lost */
	WcHBaseConnection connection;	/* the first one, of all calls but those that are sent ahead */
	WcHBaseConnection more[WC_HBASE_CONNECTIONS_MAX - 1];	/* for requests that are sent ahead */
	int			nconnections;	/* that may be used, the first one included */
	int64		more_at;		/* when the gateway is asked again for those that it has refused, in ms of wc_clock_monotonic_us */
	uint64		generation;		/* of the session's knowledge of the cluster's tables */
	TimestampTz looked_at;		/* time of the last growth of generation */
} WcHBaseServer;

typedef struct WcHBaseFamily
{
	char	   *name;
	bool		present;		/* the table had the family at its last description ... */
	WcFamilyAttrs attrs;		/* ... with these attributes */
} WcHBaseFamily;

/* A table, for as long as the session lives. */
typedef struct WcHBaseTable
{
	uint32		id;
	WcHBaseServer *server;
	char	   *name;			/* "namespace:name" */
	bool		told_stream;	/* a notice has said that changes are sent before the commit */
	uint64		enabled_at;		/* the server's generation (plus 1) at which the table was enabled; 0: not asked yet */
	size_t		row_bytes;		/* average size of the rows received last; 0: unknown */
	double		whole_cells;	/* average cells of the rows received last that had all cells of the wanted families */
	double		whole_bytes;	/* average bytes of these rows; both are 0: unknown */
	int			nfamilies;		/* used so far: the i-th has id i + 1 */
	WcHBaseFamily *families;
} WcHBaseTable;

/* --- error.c ---------------------------------------------------------------*/

/* Functions of client/, for this module. */
extern const WcDriverHost *wc_hbase_host;

/* Sets err, and the SQLSTATE with which wc_hbase_raise will raise it. */
extern WcStatus wc_hbase_error(WcError *err, WcStatus status, int sqlstate, const char *fmt,...) WC_PRINTF(4, 5);

/* Forgets that SQLSTATE: the call that has failed was repeated, with success. */
extern void wc_hbase_error_forget(void);

/*
 * Adds details of a failed change to err, or to the kept error: `more` goes before the detail, and sqlstate
 * (0: none) replaces that of err.
 */
extern void wc_hbase_error_more(WcError *err, int sqlstate, const char *more);

/* Functions of client/ (WcDriverHost). */
extern void wc_hbase_too_large(uint64 bytes) pg_attribute_noreturn();
extern void wc_hbase_note_sending(void);

/* Keeps an error that is raised, as core's functions may be on the stack. */
extern WcStatus wc_hbase_lock_rows(uint32 lock_id, const WcSlice *rows, int nrows, WcError *err) WC_WARN_UNUSED;

/* Keeps an error of PostgreSQL that was caught below a function of core, for wc_hbase_raise. */
extern void wc_hbase_keep_error(MemoryContext context);

/* Raises the error err, which this module or core has set. */
extern void wc_hbase_raise(const WcError *err) pg_attribute_noreturn();

/* Set err: WC_IO.  hint NULL: the one that names "host" and "port". */
extern WcStatus wc_hbase_cannot_connect(WcHBaseServer *server, const char *why, const char *hint, WcError *err);
extern WcStatus wc_hbase_timed_out(WcHBaseServer *server, const char *option, int seconds, WcError *err);

/* --- call.c ----------------------------------------------------------------*/

/* Begins a request: sets *w to its writer, and *number to the request's number. */
extern void wc_hbase_begin(WcHBaseServer *server, WcThriftWriter *w, int32 *number);

/*
 * Sends the written request, and waits for its answer, interruptibly; sends the request again after a lost
 * connection.  So the call must be one that only reads.  answer's slices point into the server's
 * connection.in, which the caller may take over.
 */
extern WcStatus wc_hbase_call(WcHBaseServer *server, const char *method, int32 number, WcAnswer *answer,
							  WcError *err) WC_WARN_UNUSED;

/*
 * Sends the written request once, and waits for its answer, interruptibly.  *sent: HBase may have done what an
 * error says that it has not answered.
 */
extern WcStatus wc_hbase_send(WcHBaseServer *server, const char *method, int32 number, WcAnswer *answer, bool *sent,
							  WcError *err) WC_WARN_UNUSED;
extern void wc_hbase_disconnect(WcHBaseServer *server); /* closes all connections; never fails */

/* --- ahead.c ---------------------------------------------------------------*/

/*
 * Requests that are sent ahead: over the server's first connection while it is free, and over its other ones.  Any other
 * call waits for the answer on the first connection, and keeps it in the request's WcHBaseAhead, which must not move.  The
 * request must be one that only reads.
 *
 * wc_hbase_ahead_free returns a connection that awaits no answer; NULL: there is none.
 * wc_hbase_ahead_send sends the written request over it, and does not wait for the answer.  a->connection stays NULL if it
 * could not be sent, because a connection was lost or refused; then the caller makes an ordinary call.
 *
 * wc_hbase_ahead_arrived receives the bytes that are there, without waiting.  True: wc_hbase_ahead_take would not wait,
 * because the whole answer is there, or because the time for it is over.
 * wc_hbase_ahead_take waits, interruptibly, opens the answer, and moves its bytes to *bytes; WC_END: the connection
 * is lost.  Then, and after wc_hbase_ahead_drop, *a is zero again.  wc_hbase_ahead_drop never fails; it closes the
 * connection if the answer is still to come.
 */
extern WcHBaseConnection *wc_hbase_ahead_free(WcHBaseServer *server);
extern WcStatus wc_hbase_ahead_send(WcHBaseConnection *c, const char *method, int32 number, WcHBaseAhead *a,
									WcError *err) WC_WARN_UNUSED;
extern bool wc_hbase_ahead_arrived(WcHBaseAhead *a);
extern WcStatus wc_hbase_ahead_take(WcHBaseAhead *a, WcAnswer *answer, WcBuf *bytes, WcError *err) WC_WARN_UNUSED;
extern void wc_hbase_ahead_drop(WcHBaseAhead *a);

/* --- server.c --------------------------------------------------------------*/
extern void wc_hbase_servers_init(void);	/* once a session, before all others */
extern WcHBaseServer *wc_hbase_server(Oid server);
extern WcHBaseTable *wc_hbase_table(WcHBaseServer *server, WcSlice ns, WcSlice name);	/* adds a new one */
extern WcHBaseTable *wc_hbase_table_by_id(uint32 id);
extern uint32 wc_hbase_lock_id(uint32 table_id);	/* that of WcDriverKept (client/driver.h) */
extern uint32 wc_hbase_family_id(WcHBaseTable *table, WcSlice name);	/* adds a new one; sets present */

/* Descriptions of the server's tables are outdated: they are read again. */
extern void wc_hbase_doubt(WcHBaseServer *server);

/* 0A000 in a transaction whose isolation level HBase lacks, unless the server's option allows it; verb: what
 * the table cannot be. */
extern void wc_hbase_require_isolation(const WcHBaseTable *table, const char *verb);

/* --- exception.c -----------------------------------------------------------*/

/* Sets err from an answer that is not a result; name: the table or namespace of the call. */
extern WcStatus wc_hbase_check(WcHBaseServer *server, const char *name, const WcAnswer *answer, WcError *err) WC_WARN_UNUSED;

#endif
