/*
 * client/foreign/serveroption.c: options of a foreign server.
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"

#include "base/limits.h"
#include "client/foreign/serveroption.h"

/* In the order of option_index. */
static const char *const server_option_names[] = {
	"engine", "host", "port", "transport", "protocol", "connect_timeout", "timeout", "fetch_size", "timestamps",
	"isolation", "catalog_age"
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
	OPTION_TIMESTAMPS,
	OPTION_ISOLATION,
	OPTION_CATALOG_AGE
} ServerOption;

/* One day. */
#define SECONDS_MAX 86400

static void pg_attribute_noreturn()
unknown_option(const char *name)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < lengthof(server_option_names); i++)
		appendStringInfo(&list, "%s%s", i > 0 ? ", " : "", server_option_names[i]);
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("invalid option \"%s\" for a widecol server", name),
			 errhint("Valid options are: %s.", list.data)));
}

static ServerOption
find_option(const char *name)
{
	for (int i = 0; i < lengthof(server_option_names); i++)
	{
		if (strcmp(name, server_option_names[i]) == 0)
			return (ServerOption) i;
	}
	unknown_option(name);
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
			out->host = defGetString(def);
			if (out->host[0] == '\0')
				bad_value(def, "names and addresses of a host");
			break;
		case OPTION_PORT:
			out->port = whole_number(def, 65535);
			break;
		case OPTION_TRANSPORT:
			out->framed = choice(def, "buffered", "framed");
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
		case OPTION_TIMESTAMPS:
			out->raw_timestamps = choice(def, "ms", "raw");
			break;
		case OPTION_ISOLATION:
			out->any_isolation = choice(def, "read committed", "none");
			break;
		case OPTION_CATALOG_AGE:
			out->catalog_age = whole_number(def, SECONDS_MAX);
			break;
	}
}

void
wc_server_options_parse(List *options, WcServerOptions *out)
{
	uint32		seen = 0;
	const char *of_hbase = NULL;
	ListCell   *lc;

	*out = (WcServerOptions) {
		.host = "localhost",.port = 9090,.connect_timeout = 10,.timeout = 60,.fetch_size = 1000,.catalog_age = 60
	};
	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		ServerOption option = find_option(def->defname);

		if (seen & (1u << option))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("option \"%s\" is given more than once", def->defname)));
		seen |= 1u << option;
		if (option != OPTION_ENGINE)
			of_hbase = def->defname;
		set_option(option, def, out);
	}
	if (of_hbase != NULL && out->engine != WC_ENGINE_HBASE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" of a server needs engine 'hbase'", of_hbase),
				 errhint("The embedded engine has no options here; widecol's settings are its own.")));
}

void
wc_server_options(Oid server, WcServerOptions *out)
{
	wc_server_options_parse(GetForeignServer(server)->options, out);
}
