/*
 * hbase/gateway/httpwait.h: waits for what libcurl waits for, and for interrupts.
 */
#ifndef WC_HBASE_GATEWAY_HTTPWAIT_H
#define WC_HBASE_GATEWAY_HTTPWAIT_H

#include "hbase/gateway/gateway.h"

#include <curl/curl.h>

/* libcurl connects to two addresses at a time, perhaps, and has a pair of sockets for a thread that looks a name up. */
#define WC_HBASE_HTTP_SOCKETS_MAX 8

typedef struct WcHBaseHttpSocket
{
	curl_socket_t socket;
	uint32		events;			/* WL_SOCKET_READABLE, WL_SOCKET_WRITEABLE */
} WcHBaseHttpSocket;

typedef struct WcHBaseHttpWait
{
	CURLM	   *multi;
	WcHBaseHttpSocket sockets[WC_HBASE_HTTP_SOCKETS_MAX];
	int			nsockets;
	int64		alarm;			/* when libcurl is to be called without an event, in ms; INT64_MAX: never */
	bool		added;			/* a transfer has begun */
} WcHBaseHttpWait;

extern bool wc_hbase_http_wait_open(WcHBaseHttpWait *wait); /* false: out of memory */
extern void wc_hbase_http_wait_close(WcHBaseHttpWait *wait);	/* also of one that is all zeros */

/* Begins a transfer; ends it (if it has begun). */
extern WcStatus wc_hbase_http_wait_add(WcHBaseHttpWait *wait, CURL *easy, WcError *err) WC_WARN_UNUSED;
extern void wc_hbase_http_wait_remove(WcHBaseHttpWait *wait, CURL *easy);

/* Has libcurl ended the transfer?  Then with *code. */
extern bool wc_hbase_http_wait_is_done(WcHBaseHttpWait *wait, CURLcode *code);

/*
 * Waits once, and lets libcurl go on.  deadline: in milliseconds of wc_clock_monotonic_us.  WC_END: it has passed, and libcurl
 * has nothing to do: an answer may have arrived while the process was stopped, or did something else.
 */
extern WcStatus wc_hbase_http_wait(WcHBaseHttpWait *wait, int64 deadline, WcError *err) WC_WARN_UNUSED;

/* Lets libcurl go on, without waiting and without taking interrupts; WC_END: nothing has happened. */
extern WcStatus wc_hbase_http_poll(WcHBaseHttpWait *wait, WcError *err) WC_WARN_UNUSED;

#endif
