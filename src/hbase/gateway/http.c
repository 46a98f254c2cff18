/*
 * hbase/gateway/http.c: calls of a gateway over HTTP, by libcurl.
 *
 * libcurl never waits here: its "multi" interface says which sockets it waits for and until when, and wait.c waits
 * for these and for interrupts.
 */
#include "hbase/gateway/http.h"

#include <sys/socket.h>
#include <unistd.h>

#include "storage/fd.h"

#include "base/clock.h"
#include "hbase/gateway/httpwait.h"

/* Statuses of HTTP. */
#define HTTP_OK 200
#define HTTP_UNAUTHORIZED 401
#define HTTP_FORBIDDEN 403
#define HTTP_PROXY_UNAUTHORIZED 407
#define HTTP_BAD_GATEWAY 502
#define HTTP_UNAVAILABLE 503
#define HTTP_GATEWAY_TIMEOUT 504

#define MS_PER_SEC INT64CONST(1000)

struct WcHBaseHttp
{
	CURL	   *easy;
	WcHBaseHttpWait wait;
	struct curl_slist *headers;
	WcHBaseConnection *connection;	/* gets the answer */

	/* the call */
	WcSlice		request;
	size_t		sent;			/* bytes of the request that libcurl has taken */
	size_t		dropped;		/* bytes that have come and are no part of a message */
	bool		answered;		/* the header of an answer has come since it has */
	bool		done;			/* libcurl has ended the transfer ... */
	CURLcode	code;			/* ... so */
	WcStatus	status;			/* of the answer's body; WC_END: the message is not complete */
	WcSlice		message;
	WcError    *err;
	char		problem[CURL_ERROR_SIZE];	/* libcurl's words */
	char		refusal[CURL_ERROR_SIZE];	/* Kerberos's words */
};

/* --- what libcurl calls: nothing here raises an error ----------------------------*/

/* The next bytes of the request. */
static size_t
on_read(char *to, size_t size, size_t n, void *arg)
{
	WcHBaseHttp *http = arg;
	size_t		len = Min(size * n, http->request.len - http->sent);

	if (len > 0)
		memcpy(to, http->request.data + http->sent, len);
	http->sent += len;
	http->answered = false;
	http->connection->sent = true;
	return len;
}

/*
 * libcurl wants to send the request again.  It may do so when an answer has refused the request (401, before the client has
 * sent its token).  It may not when the connection was lost, because the gateway may have executed the request.
 */
static int
on_seek(void *arg, curl_off_t offset, int origin)
{
	WcHBaseHttp *http = arg;

	if (!http->answered || origin != SEEK_SET || offset < 0 || (uint64) offset > http->request.len)
		return CURL_SEEKFUNC_FAIL;
	http->sent = (size_t) offset;
	return CURL_SEEKFUNC_OK;
}

/* Counts bytes that are not kept.  When there are too many, the result is 0, which ends the transfer: the deadline does not end it
 * while bytes come. */
static size_t
pass_over(WcHBaseHttp *http, size_t n)
{
	http->dropped += n;
	if (http->dropped <= WC_HBASE_HTTP_PAGE_MAX)
		return n;
	http->status = wc_error(http->err, WC_CORRUPT, "answer of HBase has %zu bytes of headers and pages of HTTP; the limit is %d",
							http->dropped, WC_HBASE_HTTP_PAGE_MAX);
	return 0;
}

static size_t
on_header(char *line, size_t size, size_t n, void *arg)
{
	WcHBaseHttp *http = arg;

	http->answered = true;
	return pass_over(http, size * n);
}

static long
http_status(const WcHBaseHttp *http)
{
	long		status = 0;

	(void) curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* Bytes of an answer.  Those of a refusal are for people: they are dropped. */
static size_t
on_write(char *from, size_t size, size_t n, void *arg)
{
	WcHBaseHttp *http = arg;
	WcHBaseConnection *c = http->connection;
	size_t		used;

	n *= size;
	if (http_status(http) != HTTP_OK)
		return pass_over(http, n);
	if (http->status == WC_OK && n > 0)
		http->status = wc_error(http->err, WC_CORRUPT, "answer of HBase has bytes behind its message");
	if (http->status != WC_END)
		return http->status == WC_OK ? n : 0;
	wc_buf_append(&c->in, from, n);
	http->status = wc_buf_status(&c->in, "answer of HBase", http->err);
	if (http->status == WC_OK)
		http->status = wc_thrift_arrived(&c->incoming, wc_buf_slice(&c->in), &http->message, &used, http->err);
	if (http->status == WC_TOO_LARGE)
		wc_error_hint(http->err, "Option \"fetch_size\" of the server bounds the rows of an answer.");
	if (http->status == WC_OK && used != c->in.len)
		http->status = wc_error(http->err, WC_CORRUPT, "answer of HBase has bytes behind its message");
	return http->status == WC_OK || http->status == WC_END ? n : 0;
}

/* Of what libcurl tells, only why Kerberos does not work is of use: an exchange goes on without it. */
static int
on_debug(CURL *easy, curl_infotype type, char *text, size_t len, void *arg)
{
	WcHBaseHttp *http = arg;

	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' ' || text[len - 1] == '.'))
		len--;
	if (type == CURLINFO_TEXT && len > 4 && memcmp(text, "gss_", 4) == 0)
		snprintf(http->refusal, sizeof(http->refusal), "%.*s", (int) Min(len, sizeof(http->refusal) - 1), text);
	return 0;
}

static curl_socket_t
on_open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	int			s = socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->protocol);

	if (s < 0)
		return CURL_SOCKET_BAD;
	ReserveExternalFD();
	return s;
}

static int
on_close_socket(void *arg, curl_socket_t s)
{
	ReleaseExternalFD();
	return close(s);
}

/* --- opening --------------------------------------------------------------------*/

/* "scheme://host:port/path"; NULL: *why. */
static char *
make_url(const WcServerOptions *options, const char **why)
{
	CURLU	   *url = curl_url();
	char		port[16];
	char		host[512];
	char	   *made = NULL;
	CURLUcode	code = CURLUE_OUT_OF_MEMORY;

	snprintf(port, sizeof(port), "%d", options->port);
	/* an address of IPv6 */
	snprintf(host, sizeof(host), strchr(options->host, ':') != NULL ? "[%s]" : "%s", options->host);
	if (url != NULL)
		code = curl_url_set(url, CURLUPART_SCHEME, options->tls ? "https" : "http", 0);
	if (code == CURLUE_OK)
		code = curl_url_set(url, CURLUPART_HOST, host, 0);
	if (code == CURLUE_OK)
		code = curl_url_set(url, CURLUPART_PORT, port, 0);
	if (code == CURLUE_OK)
		code = curl_url_set(url, CURLUPART_PATH, options->path, 0);
	if (code == CURLUE_OK)
		code = curl_url_get(url, CURLUPART_URL, &made, 0);
	curl_url_cleanup(url);
	*why = curl_url_strerror(code);
	return code == CURLUE_OK ? made : NULL;
}

static bool
add_header(WcHBaseHttp *http, const char *line)
{
	struct curl_slist *headers = curl_slist_append(http->headers, line);

	if (headers != NULL)
		http->headers = headers;
	return headers != NULL;
}

static bool
add_headers(WcHBaseHttp *http, const WcUserOptions *user)
{
	char		line[1024];

	/* "Expect:": no question before a large request */
	if (!add_header(http, "Content-Type: application/x-thrift") || !add_header(http, "Accept: application/x-thrift") ||
		!add_header(http, "Expect:"))
		return false;
	if (user->user == NULL)
		return true;
	snprintf(line, sizeof(line), "doAs: %s", user->user);
	return add_header(http, line);
}

static CURLcode
set_callbacks(WcHBaseHttp *http)
{
	CURL	   *easy = http->easy;
	CURLcode	code = CURLE_OK;

	code |= curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
	code |= curl_easy_setopt(easy, CURLOPT_READDATA, http);
	code |= curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
	code |= curl_easy_setopt(easy, CURLOPT_SEEKDATA, http);
	code |= curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	code |= curl_easy_setopt(easy, CURLOPT_HEADERDATA, http);
	code |= curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_write);
	code |= curl_easy_setopt(easy, CURLOPT_WRITEDATA, http);
	code |= curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
	code |= curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
	code |= curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, http->problem);
	return code;
}

static CURLcode
set_kerberos(WcHBaseHttp *http)
{
	CURL	   *easy = http->easy;
	CURLcode	code = CURLE_OK;

	code |= curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_NEGOTIATE);
	code |= curl_easy_setopt(easy, CURLOPT_USERPWD, ":");	/* the name is the ticket's */
	code |= curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_debug);
	code |= curl_easy_setopt(easy, CURLOPT_DEBUGDATA, http);
	code |= curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
	return code;
}

static CURLcode
set_tls(CURL *easy, const WcServerOptions *options, const WcUserOptions *user)
{
	CURLcode	code = curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);

	if (options->tls_ca != NULL)
	{
		/* these, and not those that the system trusts */
		code |= curl_easy_setopt(easy, CURLOPT_CAINFO, options->tls_ca);
		code |= curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
	if (user->tls_cert != NULL)
	{
		code |= curl_easy_setopt(easy, CURLOPT_SSLCERT, user->tls_cert);
		code |= curl_easy_setopt(easy, CURLOPT_SSLKEY, user->tls_key);
		code |= curl_easy_setopt(easy, CURLOPT_KEYPASSWD, "");	/* libcurl cannot ask for a password */
	}
	return code;
}

/* code is a sum of bits: setting an option fails only when memory is out, or libcurl lacks the option. */
static CURLcode
set_options(WcHBaseServer *server, WcHBaseHttp *http, const char *url)
{
	CURL	   *easy = http->easy;
	CURLcode	code = set_callbacks(http);

	code |= curl_easy_setopt(easy, CURLOPT_URL, url);
	code |= curl_easy_setopt(easy, CURLOPT_POST, 1L);
	code |= curl_easy_setopt(easy, CURLOPT_HTTPHEADER, http->headers);
	code |= curl_easy_setopt(easy, CURLOPT_USERAGENT, "widecol");
	/* one call at a time on a connection */
	code |= curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1);
	code |= curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long) (server->options.connect_timeout * MS_PER_SEC));
	code |= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
	code |= curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);	/* do not wait for a resolver's thread */
#endif
	code |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	if (server->user.kerberos)
		code |= set_kerberos(http);
	if (server->options.tls)
		code |= set_tls(easy, &server->options, &server->user);
	return code;
}

WcStatus
wc_hbase_http_open(WcHBaseConnection *c, WcError *err)
{
	WcHBaseServer *server = c->server;
	WcHBaseHttp *http = calloc(1, sizeof(WcHBaseHttp));
	const char *why;
	char	   *url = make_url(&server->options, &why);
	WcStatus	status = WC_OK;

	if (url == NULL)
	{
		free(http);
		return wc_hbase_cannot_connect(server, why, "Options \"host\" and \"path\" of the server must be parts of a URL.", err);
	}
	c->http = http;
	if (http != NULL)
	{
		http->connection = c;
		http->easy = curl_easy_init();
	}
	if (http == NULL || http->easy == NULL || !wc_hbase_http_wait_open(&http->wait) || !add_headers(http, &server->user) ||
		set_options(server, http, url) != CURLE_OK)
		status = wc_error(err, WC_NO_MEMORY, "out of memory for a connection with HBase");
	curl_free(url);
	if (status != WC_OK)
		wc_hbase_http_close(c);
	return status;
}

void
wc_hbase_http_close(WcHBaseConnection *c)
{
	WcHBaseHttp *http = c->http;

	c->http = NULL;
	if (http == NULL)
		return;
	wc_hbase_http_wait_remove(&http->wait, http->easy);
	curl_easy_cleanup(http->easy);
	wc_hbase_http_wait_close(&http->wait);
	curl_slist_free_all(http->headers);
	free(http);
}

/* --- the end of an exchange ---------------------------------------------------------*/

static WcStatus
refused(WcHBaseConnection *c, const char *by, long status, WcError *err)
{
	const WcHBaseServer *server = c->server;
	const WcHBaseHttp *http = c->http;

	c->sent = false;			/* the call was not done */
	wc_hbase_error(err, WC_IO, ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION, "%s at %s:%d has refused this client", by,
				   server->options.host, server->options.port);
	wc_error_detail(err, "It has answered with HTTP status %ld.%s%s%s", status, http->refusal[0] ? " Kerberos: " : "",
					http->refusal, http->refusal[0] ? "." : "");
	if (!server->user.kerberos)
		wc_error_hint(err, "With option \"kerberos\" 'on' in the user mapping, the session identifies itself by Kerberos.");
	else
		wc_error_hint(err, "Option \"kerberos\" of the user mapping takes the Kerberos ticket, or keytab, of the environment in which PostgreSQL was started.");
	return WC_IO;
}

/* The answer is not Thrift's. */
static WcStatus
http_error(WcHBaseConnection *c, long status, WcError *err)
{
	WcHBaseServer *server = c->server;
	char		why[64];

	switch (status)
	{
		case HTTP_UNAUTHORIZED:
		case HTTP_FORBIDDEN:
			return refused(c, "HBase gateway", status, err);
		case HTTP_PROXY_UNAUTHORIZED:
			return refused(c, "proxy before the HBase gateway", status, err);
		case HTTP_BAD_GATEWAY:
		case HTTP_UNAVAILABLE:
		case HTTP_GATEWAY_TIMEOUT:
			/* of a proxy that has lost the gateway */
			if (c->checked)
				return WC_END;
			break;
	}
	snprintf(why, sizeof(why), "It has answered with HTTP status %ld", status);
	if (!c->checked)
		return wc_hbase_cannot_connect(server, why, "Options \"path\" and \"protocol\" of the server must be the gateway's; option \"user\" of a user mapping needs a gateway that supports proxy users.", err);
	wc_hbase_error(err, WC_IO, ERRCODE_FDW_ERROR, "HBase gateway at %s:%d has refused a call", server->options.host,
				   server->options.port);
	wc_error_detail(err, "%s.", why);
	return WC_IO;
}

static WcStatus
tls_error(WcHBaseServer *server, const char *why, WcError *err)
{
	return wc_hbase_cannot_connect(server, why, "Option \"tls_ca\" of the server names the certificates that are trusted; the gateway's must be for the server's option \"host\".", err);
}

/* The connection failed, or what came over it is not HTTP. */
static WcStatus
transfer_error(WcHBaseConnection *c, CURLcode code, WcError *err)
{
	WcHBaseServer *server = c->server;
	const WcHBaseHttp *http = c->http;
	const char *why = http->problem[0] ? http->problem : curl_easy_strerror(code);

	switch (code)
	{
		case CURLE_WRITE_ERROR:
			return http->status;	/* of on_write, which has set the error */
		case CURLE_OUT_OF_MEMORY:
			return wc_error(err, WC_NO_MEMORY, "out of memory for a call of HBase");
		case CURLE_SSL_CONNECT_ERROR:
		case CURLE_PEER_FAILED_VERIFICATION:
		case CURLE_SSL_CACERT_BADFILE:
		case CURLE_SSL_CERTPROBLEM:
		case CURLE_SSL_ISSUER_ERROR:
			return tls_error(server, why, err);
		case CURLE_RECV_ERROR:
		case CURLE_SEND_ERROR:
			/* also an end of TLS: with TLS 1.3 a missing certificate is told only now */
			if (!c->checked)
				return wc_hbase_cannot_connect(server, why, NULL, err);
			return WC_END;
		case CURLE_GOT_NOTHING:
		case CURLE_SEND_FAIL_REWIND:
		case CURLE_PARTIAL_FILE:
			return WC_END;
		case CURLE_WEIRD_SERVER_REPLY:
		case CURLE_UNSUPPORTED_PROTOCOL:
			return wc_error(err, WC_CORRUPT, "HBase gateway does not speak HTTP: %s", why);
		default:
			return wc_hbase_cannot_connect(server, why, NULL, err);
	}
}

/* --- an exchange ------------------------------------------------------------------*/

/* Has the connection been made, and is the request on its way? */
static bool
is_sending(const WcHBaseHttp *http)
{
	curl_off_t	us = 0;

	return curl_easy_getinfo(http->easy, CURLINFO_PRETRANSFER_TIME_T, &us) == CURLE_OK && us > 0;
}

/* Has libcurl ended the transfer? */
static bool
is_done(WcHBaseHttp *http)
{
	http->done = http->done || wc_hbase_http_wait_is_done(&http->wait, &http->code);
	return http->done;
}

WcStatus
wc_hbase_http_send(WcHBaseConnection *c, WcSlice bytes, WcError *err)
{
	WcHBaseHttp *http = c->http;
	WcStatus	status;

	http->request = bytes;
	http->sent = http->dropped = 0;
	http->answered = false;
	http->done = false;
	http->status = WC_END;
	http->err = err;
	http->problem[0] = http->refusal[0] = '\0';
	if (curl_easy_setopt(http->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) bytes.len) != CURLE_OK)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a call of HBase");
	status = wc_hbase_http_wait_add(&http->wait, http->easy, err);
	/* libcurl ends an attempt to connect */
	while (status == WC_OK && !is_sending(http) && !is_done(http))
		status = wc_hbase_http_wait(&http->wait, INT64_MAX, err);
	return status;
}

/* WC_OK: libcurl has ended the transfer. */
static WcStatus
transfer(WcHBaseConnection *c, int64 deadline, bool *pending)
{
	WcHBaseHttp *http = c->http;
	WcStatus	status = WC_OK;

	while (status == WC_OK && !is_done(http))
		status = pending != NULL ? wc_hbase_http_poll(&http->wait, http->err) : wc_hbase_http_wait(&http->wait, deadline, http->err);
	if (pending != NULL)
	{
		*pending = status == WC_END;
		if (*pending)
			return status;
	}
	wc_hbase_http_wait_remove(&http->wait, http->easy);
	return status == WC_END ? wc_hbase_timed_out(c->server, "timeout", c->server->options.timeout, http->err) : status;
}

WcStatus
wc_hbase_http_receive(WcHBaseConnection *c, int64 deadline, bool *pending, WcSlice *message)
{
	WcHBaseHttp *http = c->http;
	WcStatus	status = transfer(c, deadline, pending);

	if (status != WC_OK)
		return status;
	if (http->code != CURLE_OK)
		return transfer_error(c, http->code, http->err);
	if (http_status(http) != HTTP_OK)
		return http_error(c, http_status(http), http->err);
	if (http->status == WC_END)
		return wc_error(http->err, WC_CORRUPT, "answer of HBase ends before its message");
	*message = http->message;
	return http->status;
}

WcStatus
wc_hbase_http_exchange(WcHBaseConnection *c, WcSlice bytes, WcSlice *message, WcError *err)
{
	WcStatus	status = wc_hbase_http_send(c, bytes, err);

	if (status != WC_OK)
		return status;
	return wc_hbase_http_receive(c, wc_clock_monotonic_us() / 1000 + c->server->options.timeout * MS_PER_SEC, NULL, message);
}
