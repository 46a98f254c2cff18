/*
 * client/foreign/families.c: families written as JSON.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "base/limits.h"
#include "client/client.h"
#include "client/foreign/families.h"

typedef enum WcAttribute
{
	WC_ATTR_VERSIONS,
	WC_ATTR_MIN_VERSIONS,
	WC_ATTR_TTL,
	WC_ATTR_KEEP_DELETED_CELLS,
	WC_ATTR_BLOOMFILTER,
	WC_ATTR_COMPRESSION,
	WC_ATTR_BLOCKSIZE,
	WC_ATTR_BLOCKCACHE,
	WC_ATTR_IN_MEMORY,
	WC_ATTR_PACKING,
	WC_ATTR_COUNT
} WcAttribute;

static const char *const attribute_names[WC_ATTR_COUNT] = {
	"versions", "min_versions", "ttl", "keep_deleted_cells", "bloomfilter",
	"compression", "blocksize", "blockcache", "in_memory", "packing"
};

static const char *const keep_deleted_names[] = {"false", "true", "ttl", NULL};
static const char *const bloomfilter_names[] = {"none", "row", "rowcol", NULL};
static const char *const compression_names[] = {"none", "snappy", "lz4", "zstd", NULL};
static const char *const packing_names[] = {"auto", "row", "cell", NULL};

const char *
wc_keep_deleted_name(uint8 keep_deleted)
{
	return keep_deleted_names[keep_deleted];
}

const char *
wc_bloomfilter_name(uint8 bloomfilter)
{
	return bloomfilter_names[bloomfilter];
}

const char *
wc_compression_name(uint8 compression)
{
	return compression_names[compression];
}

const char *
wc_packing_name(uint8 packing)
{
	return packing_names[packing];
}

static void pg_attribute_noreturn()
bad_attribute(const char *family, WcAttribute attr, const char *expected)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for attribute \"%s\" of family \"%s\"",
					attribute_names[attr], family),
			 errdetail("Expected %s.", expected)));
}

/* The member's value, a whole number from min to max. */
static int64
number_value(const JsonbValue *v, const char *family, WcAttribute attr,
			 int64 min, int64 max)
{
	char		expected[96];

	snprintf(expected, sizeof(expected),
			 "a whole number from " INT64_FORMAT " to " INT64_FORMAT, min, max);
	if (v->type == jbvNumeric)
	{
		Datum		num = NumericGetDatum(v->val.numeric);
		Datum		whole = DirectFunctionCall2(numeric_trunc, num, Int32GetDatum(0));

		if (DatumGetBool(DirectFunctionCall2(numeric_eq, num, whole)) &&
			DatumGetBool(DirectFunctionCall2(numeric_ge, num, NumericGetDatum(int64_to_numeric(min)))) &&
			DatumGetBool(DirectFunctionCall2(numeric_le, num, NumericGetDatum(int64_to_numeric(max)))))
			return DatumGetInt64(DirectFunctionCall1(numeric_int8, num));
	}
	bad_attribute(family, attr, expected);
}

static char *
string_value(const JsonbValue *v)
{
	return pnstrdup(v->val.string.val, v->val.string.len);
}

/* The index of the value in names; booleans stand for "true" and "false". */
static uint8
enum_value(const JsonbValue *v, const char *family, WcAttribute attr,
		   const char *const *names)
{
	StringInfoData expected;
	const char *given = NULL;

	if (v->type == jbvString)
		given = string_value(v);
	else if (v->type == jbvBool)
		given = v->val.boolean ? "true" : "false";

	for (uint8 i = 0; given && names[i]; i++)
		if (pg_strcasecmp(given, names[i]) == 0)
			return i;

	initStringInfo(&expected);
	appendStringInfoString(&expected, "one of ");
	for (int i = 0; names[i]; i++)
		appendStringInfo(&expected, "%s\"%s\"", i > 0 ? ", " : "", names[i]);
	bad_attribute(family, attr, expected.data);
}

static bool
bool_value(const JsonbValue *v, const char *family, WcAttribute attr)
{
	bool		b;

	if (v->type == jbvBool)
		return v->val.boolean;
	if (v->type == jbvString && parse_bool(string_value(v), &b))
		return b;
	bad_attribute(family, attr, "true or false");
}

static void
tell_ttl_of(void *family)
{
	errcontext("attribute \"ttl\" of family \"%s\"", (const char *) family);
}

/*
 * A time span: seconds as a number (fractions allowed), an interval's text, or "forever".
 * The result is in microseconds; 0: for ever.  A month is 30 days, as for extract(epoch).
 */
static int64
ttl_value(const JsonbValue *v, const char *family)
{
	static const char expected[] =
		"seconds as a number above 0, an interval's text above 0, or \"forever\"";
	int64		us = 0;

	if (v->type == jbvNumeric)
	{
		Datum		num = NumericGetDatum(v->val.numeric);
		double		seconds = DatumGetFloat8(DirectFunctionCall1(numeric_float8, num));

		if (!(seconds > 0 && seconds < 9.0e12))
			bad_attribute(family, WC_ATTR_TTL, expected);
		us = (int64) rint(seconds * 1e6);
		/* HBase's FOREVER is the greatest 32-bit integer */
		if (seconds == 2147483647.0)
			return 0;
	}
	else if (v->type == jbvString)
	{
		char	   *text = string_value(v);
		ErrorContextCallback callback = {
			.previous = error_context_stack,.callback = tell_ttl_of,.arg = unconstify(char *, family)
		};
		Interval   *iv;

		if (pg_strcasecmp(text, "forever") == 0)
			return 0;
		error_context_stack = &callback;
		iv = DatumGetIntervalP(DirectFunctionCall3(interval_in, CStringGetDatum(text),
												   ObjectIdGetDatum(InvalidOid),
												   Int32GetDatum(-1)));
		error_context_stack = callback.previous;
		if (fabs((double) iv->month * 30 * USECS_PER_DAY + (double) iv->day * USECS_PER_DAY +
				 (double) iv->time) > 9.0e18)
			bad_attribute(family, WC_ATTR_TTL, expected);
		us = iv->time + (iv->day + (int64) iv->month * DAYS_PER_MONTH) * USECS_PER_DAY;
	}
	if (us <= 0)
		bad_attribute(family, WC_ATTR_TTL, expected);
	return us;
}

static void
set_attribute(WcFamilySpec *spec, WcAttribute attr, const JsonbValue *v)
{
	WcFamilyAttrs *a = &spec->attrs;

	switch (attr)
	{
		case WC_ATTR_VERSIONS:
			a->versions = (uint32) number_value(v, spec->name, attr, 1, WC_VERSIONS_MAX);
			break;
		case WC_ATTR_MIN_VERSIONS:
			a->min_versions = (uint32) number_value(v, spec->name, attr, 0, WC_VERSIONS_MAX);
			break;
		case WC_ATTR_TTL:
			a->ttl_us = ttl_value(v, spec->name);
			break;
		case WC_ATTR_KEEP_DELETED_CELLS:
			a->keep_deleted = enum_value(v, spec->name, attr, keep_deleted_names);
			break;
		case WC_ATTR_BLOOMFILTER:
			a->bloomfilter = enum_value(v, spec->name, attr, bloomfilter_names);
			break;
		case WC_ATTR_COMPRESSION:
			a->compression = enum_value(v, spec->name, attr, compression_names);
			break;
		case WC_ATTR_BLOCKSIZE:
			a->blocksize = (uint32) number_value(v, spec->name, attr, 1024, 16 * 1024 * 1024);
			break;
		case WC_ATTR_BLOCKCACHE:
			a->blockcache = bool_value(v, spec->name, attr);
			break;
		case WC_ATTR_IN_MEMORY:
			a->in_memory = bool_value(v, spec->name, attr);
			break;
		case WC_ATTR_PACKING:
			a->packing = enum_value(v, spec->name, attr, packing_names);
			break;
		case WC_ATTR_COUNT:
			pg_unreachable();
	}
	spec->given |= 1u << attr;
}

void
wc_family_spec_apply(const WcFamilySpec *spec, WcFamilyAttrs *attrs)
{
	const WcFamilyAttrs *from = &spec->attrs;

#define GIVEN(attr) ((spec->given & (1u << (attr))) != 0)
	if (GIVEN(WC_ATTR_VERSIONS))
		attrs->versions = from->versions;
	if (GIVEN(WC_ATTR_MIN_VERSIONS))
		attrs->min_versions = from->min_versions;
	if (GIVEN(WC_ATTR_TTL))
	{
		attrs->ttl_us = from->ttl_us;
		attrs->ttl_inherited = false;
	}
	if (GIVEN(WC_ATTR_KEEP_DELETED_CELLS))
		attrs->keep_deleted = from->keep_deleted;
	if (GIVEN(WC_ATTR_BLOOMFILTER))
		attrs->bloomfilter = from->bloomfilter;
	if (GIVEN(WC_ATTR_COMPRESSION))
		attrs->compression = from->compression;
	if (GIVEN(WC_ATTR_BLOCKSIZE))
		attrs->blocksize = from->blocksize;
	if (GIVEN(WC_ATTR_BLOCKCACHE))
		attrs->blockcache = from->blockcache;
	if (GIVEN(WC_ATTR_IN_MEMORY))
		attrs->in_memory = from->in_memory;
	if (GIVEN(WC_ATTR_PACKING))
		attrs->packing = from->packing;
#undef GIVEN
}

static WcAttribute
find_attribute(const char *family, const char *name)
{
	StringInfoData valid;

	for (int i = 0; i < WC_ATTR_COUNT; i++)
		if (pg_strcasecmp(name, attribute_names[i]) == 0)
			return (WcAttribute) i;

	initStringInfo(&valid);
	for (int i = 0; i < WC_ATTR_COUNT; i++)
		appendStringInfo(&valid, "%s%s", i > 0 ? ", " : "", attribute_names[i]);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown attribute \"%s\" of family \"%s\"", name, family),
			 errhint("Valid attributes are: %s.", valid.data)));
}

static void pg_attribute_noreturn()
not_an_object(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("families must be a JSON object of family names and their attributes"),
			 errhint("For example: {\"cf\": {\"versions\": 3, \"ttl\": \"7 days\"}, \"d\": {}}.")));
}

static void
check_family_name(WcSlice name)
{
	WcError		err;

	if (wc_family_name_check(name, &err) != WC_OK)
		wc_raise_as(&err, ERRCODE_INVALID_NAME);
}

List *
wc_families_parse(Jsonb *families, bool drop_allowed)
{
	List	   *specs = NIL;
	WcFamilySpec *spec = NULL;
	WcAttribute attr = WC_ATTR_COUNT;
	JsonbIterator *it = JsonbIteratorInit(&families->root);
	JsonbValue	v;
	JsonbIteratorToken tok;
	int			depth = 0;

	if (!JB_ROOT_IS_OBJECT(families))
		not_an_object();

	while ((tok = JsonbIteratorNext(&it, &v, false)) != WJB_DONE)
	{
		switch (tok)
		{
			case WJB_BEGIN_OBJECT:
				if (++depth > 2)
					bad_attribute(spec->name, attr, "a single value");
				break;
			case WJB_END_OBJECT:
				depth--;
				break;
			case WJB_KEY:
				if (depth == 2)
				{
					attr = find_attribute(spec->name, string_value(&v));
					if (spec->given & (1u << attr))
						ereport(ERROR,
								(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
								 errmsg("attribute \"%s\" of family \"%s\" is given twice", attribute_names[attr], spec->name),
								 errdetail("Upper and lower case make no difference.")));
					break;
				}
				spec = palloc0(sizeof(WcFamilySpec));
				spec->name = string_value(&v);
				spec->name = unconstify(char *, (const char *) wc_name_to_utf8(spec->name).data);
				check_family_name(wc_slice_cstr(spec->name));
				specs = lappend(specs, spec);
				break;
			case WJB_VALUE:
				if (depth == 2)
					set_attribute(spec, attr, &v);
				else if (v.type == jbvNull && drop_allowed)
					spec->drop = true;
				else
					not_an_object();
				break;
			case WJB_BEGIN_ARRAY:
				if (depth < 2)
					not_an_object();
				bad_attribute(spec->name, attr, "a single value");
			default:
				not_an_object();
		}
	}
	return specs;
}

Jsonb *
wc_json_of_option(const char *option, const char *json)
{
	MemoryContext context = CurrentMemoryContext;
	Jsonb	   *volatile jsonb = NULL;

	PG_TRY();
	{
		jsonb = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json)));
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_DATA_EXCEPTION)
			PG_RE_THROW();
		FlushErrorState();
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" is not valid JSON: \"%s\"", option, json),
				 error->detail ? errdetail("%s", error->detail) : errdetail("%s.", error->message)));
	}
	PG_END_TRY();
	return jsonb;
}

List *
wc_families_parse_text(const char *json, bool drop_allowed)
{
	return wc_families_parse(wc_json_of_option("families", json), drop_allowed);
}

/* --- writing ------------------------------------------------------------------ */

/* "ttl": 90.5, in seconds */
static void
append_ttl(StringInfo out, int64 ttl_us)
{
	if (ttl_us == 0)
		appendStringInfoString(out, "\"forever\"");
	else if (ttl_us % USECS_PER_SEC == 0)
		appendStringInfo(out, INT64_FORMAT, ttl_us / USECS_PER_SEC);
	else
		appendStringInfo(out, INT64_FORMAT ".%06d", ttl_us / USECS_PER_SEC, (int) (ttl_us % USECS_PER_SEC));
}

static void
append_attribute(StringInfo out, WcAttribute attr, const WcFamilyAttrs *a)
{
	appendStringInfo(out, "\"%s\": ", attribute_names[attr]);
	switch (attr)
	{
		case WC_ATTR_VERSIONS:
			appendStringInfo(out, "%u", a->versions);
			break;
		case WC_ATTR_MIN_VERSIONS:
			appendStringInfo(out, "%u", a->min_versions);
			break;
		case WC_ATTR_TTL:
			append_ttl(out, a->ttl_us);
			break;
		case WC_ATTR_KEEP_DELETED_CELLS:
			appendStringInfo(out, "\"%s\"", wc_keep_deleted_name(a->keep_deleted));
			break;
		case WC_ATTR_BLOOMFILTER:
			appendStringInfo(out, "\"%s\"", wc_bloomfilter_name(a->bloomfilter));
			break;
		case WC_ATTR_COMPRESSION:
			appendStringInfo(out, "\"%s\"", wc_compression_name(a->compression));
			break;
		case WC_ATTR_BLOCKSIZE:
			appendStringInfo(out, "%u", a->blocksize);
			break;
		case WC_ATTR_BLOCKCACHE:
			appendStringInfoString(out, a->blockcache ? "true" : "false");
			break;
		case WC_ATTR_IN_MEMORY:
			appendStringInfoString(out, a->in_memory ? "true" : "false");
			break;
		case WC_ATTR_PACKING:
			appendStringInfo(out, "\"%s\"", wc_packing_name(a->packing));
			break;
		case WC_ATTR_COUNT:
			pg_unreachable();
	}
}

/* The attributes in which a and b differ, one bit for each. */
static uint32
differences(const WcFamilyAttrs *a, const WcFamilyAttrs *b)
{
	uint32		found = 0;

#define DIFFER(attr, member) found |= a->member != b->member ? 1u << (attr) : 0
	DIFFER(WC_ATTR_VERSIONS, versions);
	DIFFER(WC_ATTR_MIN_VERSIONS, min_versions);
	DIFFER(WC_ATTR_TTL, ttl_us);
	DIFFER(WC_ATTR_KEEP_DELETED_CELLS, keep_deleted);
	DIFFER(WC_ATTR_BLOOMFILTER, bloomfilter);
	DIFFER(WC_ATTR_COMPRESSION, compression);
	DIFFER(WC_ATTR_BLOCKSIZE, blocksize);
	DIFFER(WC_ATTR_BLOCKCACHE, blockcache);
	DIFFER(WC_ATTR_IN_MEMORY, in_memory);
	DIFFER(WC_ATTR_PACKING, packing);
#undef DIFFER
	return found;
}

bool
wc_family_same_attributes(const WcFamilyAttrs *a, const WcFamilyAttrs *b)
{
	return differences(a, b) == 0;
}

bool
wc_family_is_plain(const WcFamilyDesc *family)
{
	return (differences(&family->attrs, &wc_family_attrs_default) & ~(1u << WC_ATTR_PACKING)) == 0;
}

/* "family": {the attributes whose bits are set} */
static void
append_family(StringInfo out, const WcFamilyDesc *family, uint32 attributes)
{
	bool		first = true;

	appendStringInfoString(out, out->len > 1 ? ", " : "");
	escape_json(out, wc_name_from_utf8(family->name));
	appendStringInfoString(out, ": {");
	for (int attr = 0; attr < WC_ATTR_COUNT; attr++)
	{
		if ((attributes & (1u << attr)) == 0)
			continue;
		appendStringInfoString(out, first ? "" : ", ");
		append_attribute(out, (WcAttribute) attr, &family->attrs);
		first = false;
	}
	appendStringInfoChar(out, '}');
}

char *
wc_families_text(const WcTableDesc *desc)
{
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfoChar(&out, '{');
	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		WcFamilyDesc own = desc->families[i];

		if (own.attrs.ttl_inherited)
			own.attrs.ttl_us = 0;
		append_family(&out, &own, (1u << WC_ATTR_COUNT) - 1);
	}
	appendStringInfoChar(&out, '}');
	return out.data;
}

const WcFamilySpec *
wc_family_spec_find(List *specs, WcSlice name)
{
	ListCell   *lc;

	foreach(lc, specs)
		if (wc_slice_eq(wc_slice_cstr(((WcFamilySpec *) lfirst(lc))->name), name))
			return lfirst(lc);
	return NULL;
}

/* Does the option `families`, together with the columns, make the family as it is now? */
static bool
says_the_truth(const WcFamilyDesc *family, const WcFamilyTold *told, const WcFamilySpec *spec)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;

	if (!told->maps)
		return true;
	if (spec == NULL && !told->named)
		return false;
	if (spec != NULL)
		wc_family_spec_apply(spec, &attrs);
	if (attrs.packing == WC_PACKING_AUTO)
		attrs.packing = told->packing != WC_PACKING_AUTO ? told->packing : family->attrs.packing;
	return wc_family_same_attributes(&attrs, &family->attrs);
}

char *
wc_families_tell(const char *json, const WcTableDesc *desc, const WcFamilyTold *told)
{
	List	   *specs = json ? wc_families_parse_text(json, false) : NIL;
	bool		good = true;
	StringInfoData out;
	ListCell   *lc;

	for (uint32 i = 0; i < desc->nfamilies; i++)
		good = good && says_the_truth(&desc->families[i], &told[i], wc_family_spec_find(specs, desc->families[i].name));
	foreach(lc, specs)
		good = good && wc_table_desc_family(desc, wc_slice_cstr(((WcFamilySpec *) lfirst(lc))->name)) != NULL;
	if (good)
		return NULL;

	initStringInfo(&out);
	appendStringInfoChar(&out, '{');
	for (uint32 i = 0; i < desc->nfamilies; i++)
	{
		const WcFamilyDesc *family = &desc->families[i];
		uint32		attributes = differences(&family->attrs, &wc_family_attrs_default);

		if (!told[i].maps && wc_family_spec_find(specs, family->name) == NULL)
			continue;
		if (told[i].packing == family->attrs.packing)
			attributes &= ~(1u << WC_ATTR_PACKING);
		append_family(&out, family, attributes);
	}
	appendStringInfoChar(&out, '}');
	return out.data;
}
