/*
 * client/foreign/serveroption.c: options of a foreign server and of its user mappings.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/syscache.h"

#include "base/limits.h"
#include "client/foreign/serveroption.h"

/* In the order of option_index. */
static const char *const server_option_names[] = {
	"engine", "host", "port", "transport", "protocol", "connect_timeout", "timeout", "fetch_size", "connections",
	"timestamps", "isolation", "catalog_age", "path", "tls", "tls_ca", "write_mode",
	"atomic_in_transaction", "create"
};

typedef enum ServerOption
{
	OPTION_ENGINE,
	OPTION_HOST,
	OPTION_PORT,
	OPTION_TRANSPORT,
	OPTION_PROTOCOL,
	OPTION_CONNECT_TIMEOUT,
	OPTION_TIMEOUT,
	OPTION_FETCH_SIZE,
	OPTION_CONNECTIONS,
	OPTION_TIMESTAMPS,
	OPTION_ISOLATION,
	OPTION_CATALOG_AGE,
	OPTION_PATH,
	OPTION_TLS,
	OPTION_TLS_CA,
	OPTION_WRITE_MODE,
	OPTION_ATOMIC_IN_TRANSACTION,
	OPTION_CREATE
} ServerOption;

/* In the order of UserOption. */
static const char *const user_option_names[] = {"user", "kerberos", "tls_cert", "tls_key"};

typedef enum UserOption
{
	USER_OPTION_USER,
	USER_OPTION_KERBEROS,
	USER_OPTION_TLS_CERT,
	USER_OPTION_TLS_KEY
} UserOption;

/* One day. */
#define SECONDS_MAX 86400

/* The index of the option's name; raises an error if it is none of these names, or was seen before. */
static int
find_option(const DefElem *def, const char *const *names, int n, const char *of, uint32 *seen)
{
	StringInfoData list;

	for (int i = 0; i < n; i++)
	{
		if (strcmp(def->defname, names[i]) != 0)
			continue;
		if (*seen & (1u << i))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("option \"%s\" is given more than once", def->defname)));
		*seen |= 1u << i;
		return i;
	}
	initStringInfo(&list);
	for (int i = 0; i < n; i++)
		appendStringInfo(&list, "%s%s", i > 0 ? ", " : "", names[i]);
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("invalid option \"%s\" for a widecol %s", def->defname, of),
			 errhint("Valid options are: %s.", list.data)));
}

static void pg_attribute_noreturn()
bad_value(DefElem *def, const char *valid)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"", def->defname, defGetString(def)),
			 errhint("Valid values are: %s.", valid)));
}

/* The option's value is one of two words; true for the second. */
static bool
choice(DefElem *def, const char *first, const char *second)
{
	char	   *value = defGetString(def);

	if (strcmp(value, first) == 0)
		return false;
	if (strcmp(value, second) != 0)
		bad_value(def, psprintf("%s, %s", first, second));
	return true;
}

/* The option's value, which is printable ASCII or UTF-8, and not empty. */
static char *
words(DefElem *def, const char *valid)
{
	char	   *value = defGetString(def);

	for (const char *c = value; *c != '\0'; c++)
	{
		if ((unsigned char) *c < ' ' || *c == 0x7F)
			bad_value(def, valid);
	}
	if (value[0] == '\0')
		bad_value(def, valid);
	return value;
}

static char *
file_name(DefElem *def)
{
	char	   *value = words(def, "names of files");

	if (!is_absolute_path(value))
		bad_value(def, "absolute names of files");
	return value;
}

static void
set_transport(DefElem *def, WcServerOptions *out)
{
	char	   *value = defGetString(def);

	out->framed = strcmp(value, "framed") == 0;
	out->http = strcmp(value, "http") == 0;
	if (!out->framed && !out->http && strcmp(value, "buffered") != 0)
		bad_value(def, "buffered, framed, http");
}

static int
whole_number(DefElem *def, int max)
{
	char	   *value = defGetString(def);
	char	   *end;
	long		n;

	errno = 0;
	n = strtol(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0' || n < 1 || n > max)
		bad_value(def, psprintf("whole numbers from 1 to %d", max));
	return (int) n;
}

static void
set_option(ServerOption option, DefElem *def, WcServerOptions *out)
{
	switch (option)
	{
		case OPTION_ENGINE:
			out->engine = choice(def, "rocksdb", "hbase") ? WC_ENGINE_HBASE : WC_ENGINE_ROCKSDB;
			break;
		case OPTION_HOST:
			out->host = words(def, "names and addresses of a host");
			break;
		case OPTION_PORT:
			out->port = whole_number(def, 65535);
			break;
		case OPTION_TRANSPORT:
			set_transport(def, out);
			break;
		case OPTION_PROTOCOL:
			out->compact = choice(def, "binary", "compact");
			break;
		case OPTION_CONNECT_TIMEOUT:
			out->connect_timeout = whole_number(def, SECONDS_MAX);
			break;
		case OPTION_TIMEOUT:
			out->timeout = whole_number(def, SECONDS_MAX);
			break;
		case OPTION_FETCH_SIZE:
			out->fetch_size = whole_number(def, WC_HBASE_ROWS_MAX);
			break;
		case OPTION_CONNECTIONS:
			out->connections = whole_number(def, WC_HBASE_CONNECTIONS_MAX);
			break;
		case OPTION_TIMESTAMPS:
			out->raw_timestamps = choice(def, "ms", "raw");
			break;
		case OPTION_ISOLATION:
			out->any_isolation = choice(def, "read committed", "none");
			break;
		case OPTION_CATALOG_AGE:
			out->catalog_age = whole_number(def, SECONDS_MAX);
			break;
		case OPTION_PATH:
			out->path = words(def, "paths that begin with a slash");
			if (out->path[0] != '/')
				bad_value(def, "paths that begin with a slash");
			break;
		case OPTION_TLS:
			out->tls = choice(def, "off", "on");
			break;
		case OPTION_TLS_CA:
			out->tls_ca = file_name(def);
			break;
		case OPTION_WRITE_MODE:
			out->stream = choice(def, "commit", "stream");
			break;
		case OPTION_ATOMIC_IN_TRANSACTION:
			out->atomic_in_transaction = choice(def, "off", "on");
			break;
		case OPTION_CREATE:
			out->create = choice(def, "off", "on");
			break;
	}
}

/* An option that has no effect without another one is a mistake. */
static void
require(const char *option, bool needed, const char *other)
{
	if (!needed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" needs %s", option, other)));
}

void
wc_server_options_parse(List *options, WcServerOptions *out)
{
	uint32		seen = 0;
	const char *of_hbase = NULL;
	ListCell   *lc;

	*out = (WcServerOptions) {
		.host = "localhost",.port = 9090,.path = "/",.connect_timeout = 10,.timeout = 60,.fetch_size = 1000,.connections = 4,.catalog_age = 60,
		.create = true
	};
	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		ServerOption option = find_option(def, server_option_names, lengthof(server_option_names), "server", &seen);

		if (option != OPTION_ENGINE)
			of_hbase = def->defname;
		set_option(option, def, out);
	}
	if (of_hbase != NULL && out->engine != WC_ENGINE_HBASE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" of a server needs engine 'hbase'", of_hbase),
				 errhint("The embedded engine has no options here; widecol's settings are its own.")));
	if (seen & (1u << OPTION_PATH))
		require("path", out->http, "transport 'http'");
	if (seen & (1u << OPTION_TLS))
		require("tls", out->http, "transport 'http'");
	if (seen & (1u << OPTION_TLS_CA))
		require("tls_ca", out->tls, "tls 'on'");
}

void
wc_server_options(Oid server, WcServerOptions *out)
{
	wc_server_options_parse(GetForeignServer(server)->options, out);
}

static void
parse_user_options(List *options, WcUserOptions *out)
{
	uint32		seen = 0;
	ListCell   *lc;

	*out = (WcUserOptions) {0};
	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		switch ((UserOption) find_option(def, user_option_names, lengthof(user_option_names), "user mapping", &seen))
		{
			case USER_OPTION_USER:
				out->user = words(def, "names of users");
				break;
			case USER_OPTION_KERBEROS:
				out->kerberos = choice(def, "off", "on");
				break;
			case USER_OPTION_TLS_CERT:
				out->tls_cert = file_name(def);
				break;
			case USER_OPTION_TLS_KEY:
				out->tls_key = file_name(def);
				break;
		}
	}
	if (seen & (1u << USER_OPTION_TLS_CERT))
		require("tls_cert", out->tls_key != NULL, "option \"tls_key\"");
	if (seen & (1u << USER_OPTION_TLS_KEY))
		require("tls_key", out->tls_cert != NULL, "option \"tls_cert\"");
}

/* Files and Kerberos tickets are those of PostgreSQL's operating system user, and the gateway believes "user". */
void
wc_user_options_check(List *options)
{
	WcUserOptions parsed;

	parse_user_options(options, &parsed);
	if (options != NIL && !superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only superusers may set options of a user mapping for widecol"),
				 errdetail("They let the role act with the rights of another user of HBase, or of the operating system's user that runs PostgreSQL.")));
}

void
wc_user_options(Oid server, Oid user, WcUserOptions *out)
{
	HeapTuple	tuple = SearchSysCache2(USERMAPPINGUSERSERVER, ObjectIdGetDatum(user), ObjectIdGetDatum(server));
	Datum		datum;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		tuple = SearchSysCache2(USERMAPPINGUSERSERVER, ObjectIdGetDatum(InvalidOid), ObjectIdGetDatum(server));
	*out = (WcUserOptions) {0};
	if (!HeapTupleIsValid(tuple))
		return;
	datum = SysCacheGetAttr(USERMAPPINGUSERSERVER, tuple, Anum_pg_user_mapping_umoptions, &isnull);
	if (!isnull)
		parse_user_options(untransformRelOptions(datum), out);
	ReleaseSysCache(tuple);
}
