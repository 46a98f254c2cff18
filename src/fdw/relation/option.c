/*
 * fdw/relation/option.c: names and values of options, and the validator.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "postmaster/bgworker_internals.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "client/client.h"
#include "client/foreign/families.h"
#include "client/foreign/serveroption.h"
#include "fdw/relation/option.h"

PG_FUNCTION_INFO_V1(widecol_validator);

typedef enum WcTableOption
{
	WC_TABLE_OPTION_TABLE,
	WC_TABLE_OPTION_LAYOUT,
	WC_TABLE_OPTION_FAMILY,
	WC_TABLE_OPTION_FAMILIES,
	WC_TABLE_OPTION_DELIMITER,
	WC_TABLE_OPTION_SALT_BUCKETS,
	WC_TABLE_OPTION_SALT_BY,
	WC_TABLE_OPTION_ON_DUPLICATE,
	WC_TABLE_OPTION_VERSIONS,
	WC_TABLE_OPTION_RAW,
	WC_TABLE_OPTION_FETCH_SIZE,
	WC_TABLE_OPTION_PARALLEL_WORKERS,
	WC_TABLE_OPTION_WRITE_MODE,
	WC_TABLE_OPTION_COUNT
} WcTableOption;

static const char *const table_option_names[WC_TABLE_OPTION_COUNT] = {
	"table", "layout", "family", "families", "delimiter", "salt_buckets", "salt_by", "on_duplicate",
	"versions", "raw", "fetch_size", "parallel_workers", "write_mode"
};

typedef enum WcColumnOption
{
	WC_COLUMN_OPTION_ROWKEY,
	WC_COLUMN_OPTION_SORT,
	WC_COLUMN_OPTION_ENCODING,
	WC_COLUMN_OPTION_LENGTH,
	WC_COLUMN_OPTION_FAMILY,
	WC_COLUMN_OPTION_QUALIFIER,
	WC_COLUMN_OPTION_QUALIFIER_PREFIX,
	WC_COLUMN_OPTION_ATTRIBUTE,
	WC_COLUMN_OPTION_VERSIONS,
	WC_COLUMN_OPTION_LABELS,
	WC_COLUMN_OPTION_COUNT
} WcColumnOption;

static const char *const column_option_names[WC_COLUMN_OPTION_COUNT] = {
	"rowkey", "sort", "encoding", "length", "family", "qualifier",
	"qualifier_prefix", "attribute", "versions", "labels"
};

typedef enum WcImportOption
{
	WC_IMPORT_OPTION_LAYOUT,
	WC_IMPORT_OPTION_KEY_TYPE,
	WC_IMPORT_OPTION_COUNT
} WcImportOption;

static const char *const import_option_names[WC_IMPORT_OPTION_COUNT] = {"layout", "key_type"};

/* The position of name among the valid ones, or an error that lists them. */
static int
find_option(const char *name, const char *const *valid, int nvalid, const char *context)
{
	StringInfoData list;

	for (int i = 0; i < nvalid; i++)
		if (strcmp(name, valid[i]) == 0)
			return i;

	initStringInfo(&list);
	for (int i = 0; i < nvalid; i++)
		appendStringInfo(&list, "%s%s", i > 0 ? ", " : "", valid[i]);
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("invalid option \"%s\" for a widecol %s", name, context),
			 nvalid > 0 ? errhint("Valid options are: %s.", list.data) :
			 errhint("There are no valid options here.")));
	return -1;					/* not reached */
}

/* seen is a bit set of positions. */
static void
once_only(const char *name, int option, uint32 *seen)
{
	if (*seen & (1u << option))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("option \"%s\" is given more than once", name)));
	*seen |= 1u << option;
}

static void pg_attribute_noreturn()
bad_value(const char *option, const char *value, const char *valid)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"", option, value),
			 errhint("Valid values are: %s.", valid)));
}

static void pg_attribute_noreturn()
contradiction(const char *message, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s", message),
			 errhint("%s", hint)));
}

/* One of two words; true for the second. */
static bool
choice(DefElem *def, const char *first, const char *second)
{
	char	   *value = defGetString(def);

	if (strcmp(value, first) == 0)
		return false;
	if (strcmp(value, second) != 0)
		bad_value(def->defname, value, psprintf("%s, %s", first, second));
	return true;
}

static int
whole_number(DefElem *def, int min, int max)
{
	char	   *value = defGetString(def);
	char	   *end;
	long		n;

	errno = 0;
	n = strtol(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0' || n < min || n > max)
		bad_value(def->defname, value, psprintf("whole numbers from %d to %d", min, max));
	return (int) n;
}

static char *
family_name(DefElem *def)
{
	char	   *value = defGetString(def);
	WcError		err;

	if (wc_family_name_check(wc_text_to_utf8(value, strlen(value)), &err) != WC_OK)
		wc_raise(&err);
	return value;
}

static char *
table_name(DefElem *def)
{
	char	   *value = defGetString(def);
	WcSlice		ns;
	WcSlice		name;
	WcError		err;

	if (wc_table_name_split(wc_text_to_utf8(value, strlen(value)), &ns, &name, &err) != WC_OK)
		wc_raise(&err);
	return value;
}

static void
set_table_option(WcTableOptions *out, WcTableOption option, DefElem *def)
{
	switch (option)
	{
		case WC_TABLE_OPTION_TABLE:
			out->table = table_name(def);
			break;
		case WC_TABLE_OPTION_LAYOUT:
			if ((creating_extension || IsBinaryUpgrade) && strcmp(defGetString(def), "dump") == 0)
				out->dump = true;
			else
				out->layout = choice(def, "row", "cell") ? WC_LAYOUT_CELL : WC_LAYOUT_ROW;
			break;
		case WC_TABLE_OPTION_FAMILY:
			out->family = family_name(def);
			break;
		case WC_TABLE_OPTION_FAMILIES:
			out->families = defGetString(def);
			(void) wc_families_parse_text(out->families, false);
			break;
		case WC_TABLE_OPTION_DELIMITER:
			out->delimiter = defGetString(def);
			if (out->delimiter[0] == '\0')
				bad_value(def->defname, "", "any text that is not empty");
			break;
		case WC_TABLE_OPTION_SALT_BUCKETS:
			out->salt_buckets = whole_number(def, 1, WC_SALT_BUCKETS_MAX);
			break;
		case WC_TABLE_OPTION_SALT_BY:
			wc_salt_by_parse(defGetString(def), &out->salt_by);
			break;
		case WC_TABLE_OPTION_ON_DUPLICATE:
			out->duplicates_fail = choice(def, "replace", "error");
			break;
		case WC_TABLE_OPTION_VERSIONS:
			out->versions = whole_number(def, 1, WC_VERSIONS_MAX);
			break;
		case WC_TABLE_OPTION_RAW:
			if (!parse_bool(defGetString(def), &out->raw))
				bad_value(def->defname, defGetString(def), "true, false");
			break;
		case WC_TABLE_OPTION_FETCH_SIZE:
			out->fetch_size = whole_number(def, 1, INT_MAX);
			break;
		case WC_TABLE_OPTION_PARALLEL_WORKERS:
			out->parallel_workers = whole_number(def, 0, MAX_PARALLEL_WORKER_LIMIT);
			break;
		case WC_TABLE_OPTION_WRITE_MODE:
			out->write_mode = choice(def, "commit", "stream") ? WC_WRITE_STREAM : WC_WRITE_AT_COMMIT;
			break;
		case WC_TABLE_OPTION_COUNT:
			pg_unreachable();
	}
}

void
wc_options_parse_table(List *options, WcTableOptions *out)
{
	uint32		seen = 0;
	ListCell   *lc;

	memset(out, 0, sizeof(*out));
	out->parallel_workers = -1;
	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		int			option;

		option = find_option(def->defname, table_option_names, WC_TABLE_OPTION_COUNT, "foreign table");
		once_only(def->defname, option, &seen);
		set_table_option(out, (WcTableOption) option, def);
	}

	if (out->layout == WC_LAYOUT_ROW && (out->versions > 0 || out->raw))
		contradiction("options \"versions\" and \"raw\" of a foreign table need layout 'cell'",
					  "In layout 'row', versions are shown by a column of type widecol.version[].");
	if (out->salt_by.columns != NIL && out->salt_buckets == 0)
		contradiction("option \"salt_by\" needs option \"salt_buckets\"",
					  "salt_buckets says over how many buckets rows are spread, salt_by by which columns.");
	if (out->layout == WC_LAYOUT_CELL && (out->delimiter || out->duplicates_fail || out->salt_buckets > 0))
		contradiction("options \"delimiter\", \"salt_buckets\" and \"on_duplicate\" need layout 'row'",
					  "In layout 'cell' the row key is one column, and a row of the foreign table is a cell version.");
}

static int
rowkey_number(DefElem *def)
{
	char	   *value = defGetString(def);
	char	   *end;
	long		n;

	if (strcmp(value, "raw") == 0)
		return WC_ROWKEY_RAW;
	errno = 0;
	n = strtol(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0' || n < 1 || n > MaxAttrNumber)
		bad_value(def->defname, value, "1 for the first part of the row key, 2 for the second and so on, or raw");
	return (int) n;
}

static char *
string_of(const JsonbValue *v)
{
	return pnstrdup(v->val.string.val, v->val.string.len);
}

static void pg_attribute_noreturn()
bad_labels(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("option \"labels\" must be a JSON object of enum labels and their stored labels"),
			 errhint("For example: {\"low\": \"lo\"}.")));
}

List *
wc_options_parse_labels(const char *json)
{
	Jsonb	   *jsonb = wc_json_of_option("labels", json);
	JsonbIterator *it;
	JsonbValue	v;
	List	   *labels = NIL;

	if (!JB_ROOT_IS_OBJECT(jsonb))
		bad_labels();
	it = JsonbIteratorInit(&jsonb->root);
	(void) JsonbIteratorNext(&it, &v, true);	/* the object itself */
	while (JsonbIteratorNext(&it, &v, true) == WJB_KEY)
	{
		WcLabel    *label = palloc(sizeof(WcLabel));

		label->label = string_of(&v);
		(void) JsonbIteratorNext(&it, &v, true);
		if (v.type != jbvString)
			bad_labels();
		label->stored = string_of(&v);
		labels = lappend(labels, label);
	}
	return labels;
}

static void
set_column_option(WcColumnOptions *out, WcColumnOption option, DefElem *def)
{
	char	   *value = defGetString(def);

	switch (option)
	{
		case WC_COLUMN_OPTION_ROWKEY:
			out->rowkey = rowkey_number(def);
			break;
		case WC_COLUMN_OPTION_SORT:
			out->desc = choice(def, "asc", "desc");
			break;
		case WC_COLUMN_OPTION_ENCODING:
			if (!wc_encoding_parse(value, &out->encoding))
				bad_value(def->defname, value, wc_encoding_list(true));
			break;
		case WC_COLUMN_OPTION_LENGTH:
			out->length = whole_number(def, 1, WC_ROW_MAX);
			break;
		case WC_COLUMN_OPTION_FAMILY:
			out->family = family_name(def);
			break;
		case WC_COLUMN_OPTION_QUALIFIER:
			out->qualifier = value;
			if (strlen(value) > WC_QUALIFIER_MAX)
				bad_value(def->defname, "...", psprintf("texts of at most %d bytes", WC_QUALIFIER_MAX));
			break;
		case WC_COLUMN_OPTION_QUALIFIER_PREFIX:
			out->qualifier_prefix = value;
			if (value[0] == '\0' || strlen(value) > WC_QUALIFIER_MAX)
				bad_value(def->defname, value[0] ? "..." : value,
						  psprintf("texts of 1 to %d bytes", WC_QUALIFIER_MAX));
			break;
		case WC_COLUMN_OPTION_ATTRIBUTE:
			out->timestamp = choice(def, "value", "timestamp");
			break;
		case WC_COLUMN_OPTION_VERSIONS:
			out->versions = whole_number(def, 1, WC_VERSIONS_MAX);
			break;
		case WC_COLUMN_OPTION_LABELS:
			out->labels = value;
			(void) wc_options_parse_labels(value);
			break;
		case WC_COLUMN_OPTION_COUNT:
			pg_unreachable();
	}
}

/* What no column may ask for, whatever its type. */
static void
check_column_options(const WcColumnOptions *o, bool sort_given, bool attribute_given)
{
	bool		placed = o->family || o->qualifier || o->qualifier_prefix;

	if (o->rowkey == WC_ROWKEY_NONE)
	{
		if (sort_given || o->length > 0)
			contradiction("options \"sort\" and \"length\" are for parts of the row key",
						  "Give the column a number with the option rowkey.");
		if (wc_encoding_is_hash(o->encoding))
			contradiction(psprintf("encoding \"%s\" is for parts of the row key",
								   wc_encoding_name(o->encoding)),
						  psprintf("Valid encodings of a value are: %s.", wc_encoding_list(false)));
	}
	else
	{
		if (o->qualifier_prefix || attribute_given || o->versions > 0)
			contradiction("options \"qualifier_prefix\", \"attribute\" and \"versions\" contradict \"rowkey\"",
						  "A part of the row key is no cell.");
		if (o->rowkey == WC_ROWKEY_RAW &&
			(sort_given || o->length > 0 || o->encoding != WC_ENCODING_DEFAULT || placed))
			contradiction("rowkey 'raw' goes with no other option",
						  "It is the whole row key as it is stored.");
		if (wc_encoding_is_hash(o->encoding) && !placed)
			contradiction(psprintf("a part of the row key with encoding \"%s\" needs options \"family\" or \"qualifier\"",
								   wc_encoding_name(o->encoding)),
						  "They name the column that holds the original value.");
		if (!wc_encoding_is_hash(o->encoding) && placed)
			contradiction("options \"family\" and \"qualifier\" contradict \"rowkey\"",
						  "Only a part of the row key that is a hash has a cell, for the original value.");
	}
	if (o->labels && (o->qualifier_prefix || attribute_given || o->versions > 0 || o->rowkey == WC_ROWKEY_RAW))
		contradiction("option \"labels\" is for values and parts of the row key",
					  "It says what renamed labels of an enum are stored as.");
	if (o->qualifier && o->qualifier_prefix)
		contradiction("options \"qualifier\" and \"qualifier_prefix\" contradict each other",
					  "A column maps one qualifier, or all that start with a prefix.");
	if (o->timestamp && (o->versions > 0 || o->qualifier_prefix || o->encoding != WC_ENCODING_DEFAULT))
		contradiction("options \"versions\", \"qualifier_prefix\" and \"encoding\" contradict attribute 'timestamp'",
					  "The column shows the timestamp of one cell.");
	if (o->versions > 0 && (o->qualifier_prefix || o->encoding != WC_ENCODING_DEFAULT))
		contradiction("options \"qualifier_prefix\" and \"encoding\" contradict \"versions\"",
					  "The column shows the versions of one column, with their values as bytes.");
}

void
wc_options_parse_column(List *options, WcColumnOptions *out)
{
	uint32		seen = 0;
	ListCell   *lc;

	memset(out, 0, sizeof(*out));
	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		int			option = find_option(def->defname, column_option_names, WC_COLUMN_OPTION_COUNT, "column");

		once_only(def->defname, option, &seen);
		set_column_option(out, (WcColumnOption) option, def);
		out->any = true;
	}
	check_column_options(out, (seen & (1u << WC_COLUMN_OPTION_SORT)) != 0,
						 (seen & (1u << WC_COLUMN_OPTION_ATTRIBUTE)) != 0);
}

void
wc_options_parse_import(List *options, WcImportOptions *out)
{
	bool		text_given = false;
	uint32		seen = 0;
	ListCell   *lc;

	out->layout = WC_LAYOUT_CELL;
	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		int			option = find_option(def->defname, import_option_names, WC_IMPORT_OPTION_COUNT, "import");

		once_only(def->defname, option, &seen);
		if (option == WC_IMPORT_OPTION_LAYOUT)
			out->layout = choice(def, "row", "cell") ? WC_LAYOUT_CELL : WC_LAYOUT_ROW;
		else
			text_given = choice(def, "bytea", "text");
	}
	out->text_key = (seen & (1u << WC_IMPORT_OPTION_KEY_TYPE)) ? text_given : out->layout == WC_LAYOUT_ROW;
}

Datum
widecol_validator(PG_FUNCTION_ARGS)
{
	List	   *options = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid			catalog = PG_GETARG_OID(1);
	WcTableOptions table;
	WcColumnOptions column;
	WcServerOptions server;

	switch (catalog)
	{
		case ForeignServerRelationId:
			wc_server_options_parse(options, &server);
			break;
		case ForeignTableRelationId:
			wc_options_parse_table(options, &table);
			if (!table.dump)
				wc_client_require_preload();
			break;
		case AttributeRelationId:
			wc_options_parse_column(options, &column);
			break;
		case UserMappingRelationId:
			wc_user_options_check(options);
			break;
		case ForeignDataWrapperRelationId:
			if (options != NIL)
				(void) find_option(linitial_node(DefElem, options)->defname, NULL, 0, "foreign-data wrapper");
			break;
		default:
			break;
	}
	PG_RETURN_VOID();
}
