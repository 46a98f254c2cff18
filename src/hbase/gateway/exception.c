/*
 * hbase/gateway/exception.c: the gateway's exceptions as errors.
 *
 * An exception of HBase is a text: the name of its class, or nothing, then its message.  For a missing table
 * the text may be only the table's name, for a disabled one its name and "is disabled.".
 */
#include "hbase/gateway/gateway.h"

#include "base/printable.h"

/* At most so many bytes of the first line of an exception's text are shown. */
#define SHOWN_MAX 300

typedef struct Known
{
	const char *class;
	WcStatus	status;
	int			sqlstate;
	const char *text;			/* with the table's name */
} Known;

enum
{
	NO_TABLE,
	DISABLED
};

static const Known known[] = {
	[NO_TABLE] = {"TableNotFoundException", WC_NO_TABLE, ERRCODE_UNDEFINED_TABLE, "HBase has no table \"%s\""},
	[DISABLED] = {"TableNotEnabledException", WC_STALE, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, "table \"%s\" of HBase is disabled"},
	{"NoSuchColumnFamilyException", WC_NO_FAMILY, ERRCODE_UNDEFINED_OBJECT, "a family of table \"%s\" of HBase is not there any more"},
	{"NamespaceNotFoundException", WC_NO_NAMESPACE, ERRCODE_UNDEFINED_SCHEMA, "HBase has no namespace \"%s\""},
	{"TableExistsException", WC_EXISTS, ERRCODE_DUPLICATE_TABLE, "HBase has a table \"%s\" already"},
	{"NamespaceExistException", WC_EXISTS, ERRCODE_DUPLICATE_SCHEMA, "HBase has a namespace \"%s\" already"},
	{"Field is not a long", WC_BAD_DATA, ERRCODE_INVALID_BINARY_REPRESENTATION, "a cell of table \"%s\" of HBase is no counter of 8 bytes"},
	{"AccessDeniedException", WC_INVALID, ERRCODE_INSUFFICIENT_PRIVILEGE, "HBase denies access to table \"%s\""}
};

static bool
contains(WcSlice text, const char *part)
{
	return text.len > 0 && memmem(text.data, text.len, part, strlen(part)) != NULL;
}

/* Appends the first line of the exception's text. */
static void
add_text(const WcAnswer *answer, WcError *err)
{
	char		shown[WC_PRINTABLE_SIZE(SHOWN_MAX)];
	WcSlice		text = answer->message;
	const uint8_t *end = text.len > 0 ? memchr(text.data, '\n', text.len) : NULL;

	if (end != NULL)
		text.len = (size_t) (end - text.data);
	if (text.len > SHOWN_MAX)
		text.len = SHOWN_MAX;
	if (text.len > 0)
		wc_error_detail(err, "HBase says: %s", wc_printable(shown, sizeof(shown), text));
}

/* Is the text this table's name, and `rest`?  The gateway writes "t" for "default:t". */
static bool
is_name(WcSlice text, const char *name, const char *rest)
{
	size_t		len;

	if (strncmp(name, "default:", 8) == 0 && text.len > 0 && memchr(text.data, ':', text.len) == NULL)
		name += 8;
	len = strlen(name);
	return text.len == len + strlen(rest) && memcmp(text.data, name, len) == 0 &&
		memcmp(text.data + len, rest, strlen(rest)) == 0;
}

WcStatus
wc_hbase_check(WcHBaseServer *server, const char *name, const WcAnswer *answer, WcError *err)
{
	const Known *what = NULL;

	if (answer->kind == WC_ANSWER_RESULT)
		return WC_OK;
	if (answer->kind == WC_ANSWER_NOTHING)
		return wc_error(err, WC_CORRUPT, "HBase gateway at %s:%d has answered without a result", server->options.host,
						server->options.port);

	/* an outdated description of the table may be the cause */
	wc_hbase_doubt(server);
	for (int i = 0; i < lengthof(known) && what == NULL; i++)
	{
		if (contains(answer->message, known[i].class))
			what = &known[i];
	}
	if (what == NULL && is_name(answer->message, name, ""))
		what = &known[NO_TABLE];
	if (what == NULL && is_name(answer->message, name, " is disabled."))
		what = &known[DISABLED];
	if (what != NULL)
		wc_hbase_error(err, what->status, what->sqlstate, what->text, name);
	else
		wc_hbase_error(err, WC_IO, ERRCODE_FDW_ERROR, "HBase could not carry out a request on table \"%s\"", name);
	if (what == &known[DISABLED])
		wc_error_hint(err, "widecol.enable enables it.");
	else if (what != &known[NO_TABLE])
		add_text(answer, err);
	return err->status;
}
