/*
 * fdw/convert/convert_form.c: text forms that do not depend on the session.
 *
 * Stored text must not depend on DateStyle and similar settings.  The common types have their own functions
 * here.  All others go through their output and input functions.  Around these calls, the settings that the functions
 * depend on are set to fixed values, unless they have these values already.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/tupdesc.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/bytea.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/xml.h"

#include "fdw/convert/convert_internal.h"

/* --- settings ----------------------------------------------------------------- */

enum
{
	GUARD_DATE = 0x01,
	GUARD_ZONE = 0x02,
	GUARD_INTERVAL = 0x04,
	GUARD_FLOAT = 0x08,
	GUARD_BYTEA = 0x10,
	GUARD_MONEY = 0x20,
	GUARD_NAMES = 0x40,
	GUARD_ARRAY = 0x80,
	GUARD_XML = 0x100,

	/* a type of an extension may depend on any of these */
	GUARD_EXTENSION = GUARD_DATE | GUARD_ZONE | GUARD_INTERVAL | GUARD_FLOAT | GUARD_BYTEA | GUARD_ARRAY | GUARD_XML
};

static bool
date_is_set(void)
{
	return DateStyle == USE_ISO_DATES && DateOrder == DATEORDER_MDY;
}

static bool
zone_is_set(void)
{
	return session_timezone != NULL && strcmp(pg_get_timezone_name(session_timezone), "UTC") == 0;
}

static bool
interval_is_set(void)
{
	return IntervalStyle == INTSTYLE_POSTGRES;
}

static bool
float_is_set(void)
{
	return extra_float_digits == 1;
}

static bool
bytea_is_set(void)
{
	return bytea_output == BYTEA_OUTPUT_HEX;
}

static bool
array_is_set(void)
{
	return Array_nulls;
}

static bool
xml_is_set(void)
{
	return xmloption == XMLOPTION_CONTENT;
}

static bool
quote_is_set(void)
{
	return !quote_all_identifiers;
}

static bool
never_set(void)
{
	return false;
}

static const struct
{
	int			guard;
	const char *setting;
	const char *wanted;
	bool		(*is_set) (void);
}			guard_settings[] = {
	{GUARD_DATE, "DateStyle", "ISO, MDY", date_is_set},
	{GUARD_ZONE, "TimeZone", "UTC", zone_is_set},
	{GUARD_INTERVAL, "IntervalStyle", "postgres", interval_is_set},
	{GUARD_FLOAT, "extra_float_digits", "1", float_is_set},
	{GUARD_BYTEA, "bytea_output", "hex", bytea_is_set},
	{GUARD_MONEY, "lc_monetary", "C", never_set},
	{GUARD_NAMES, "search_path", "pg_catalog", never_set},
	{GUARD_NAMES, "quote_all_identifiers", "off", quote_is_set},
	{GUARD_ARRAY, "array_nulls", "on", array_is_set},
	{GUARD_XML, "xmloption", "content", xml_is_set}
};

/* The name of the function of PostgreSQL's which this function is; NULL: none. */
static char *
internal_source(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	char	   *source = NULL;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == INTERNALlanguageId)
	{
		bool		isnull;
		Datum		prosrc = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);

		source = isnull ? NULL : TextDatumGetCString(prosrc);
	}
	ReleaseSysCache(tuple);
	return source;
}

static int
guards_of_row(Oid type)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(type, -1);
	int			guards = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped)
			guards |= wc_form_guards(att->atttypid);
	}
	ReleaseTupleDesc(desc);
	return guards;
}

/* Does a type of an extension have the text forms of text (citext, say)? */
static bool
reads_as_text(Oid type)
{
	Oid			in;
	Oid			out;
	Oid			ioparam;
	bool		is_varlena;
	const char *source;

	getTypeInputInfo(type, &in, &ioparam);
	getTypeOutputInfo(type, &out, &is_varlena);
	source = internal_source(in);
	if (source == NULL || strcmp(source, "textin") != 0)
		return false;
	source = internal_source(out);
	return source != NULL && strcmp(source, "textout") == 0;
}

/* Types that are not made of other types. */
static int
guards_of_scalar(Oid type)
{
	switch (type)
	{
		case DATEOID:
		case TIMESTAMPOID:
		case TIMETZOID:
			return GUARD_DATE;
		case TIMESTAMPTZOID:
			return GUARD_DATE | GUARD_ZONE;
		case INTERVALOID:
			return GUARD_INTERVAL;
		case FLOAT4OID:
		case FLOAT8OID:
		case POINTOID:
		case LSEGOID:
		case PATHOID:
		case BOXOID:
		case POLYGONOID:
		case LINEOID:
		case CIRCLEOID:
			return GUARD_FLOAT;
		case BYTEAOID:
			return GUARD_BYTEA;
		case MONEYOID:
			return GUARD_MONEY;
		case XMLOID:
			return GUARD_XML;
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGCLASSOID:
		case REGCOLLATIONOID:
		case REGTYPEOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
			return GUARD_NAMES;
		default:
			return type < FirstNormalObjectId || reads_as_text(type) ? 0 : GUARD_EXTENSION;
	}
}

int
wc_form_guards(Oid type)
{
	Oid			element;

	check_stack_depth();
	switch (get_typtype(type))
	{
		case TYPTYPE_DOMAIN:
			return wc_form_guards(getBaseType(type));
		case TYPTYPE_RANGE:
			return wc_form_guards(get_range_subtype(type));
		case TYPTYPE_MULTIRANGE:
			return wc_form_guards(get_multirange_range(type));
		case TYPTYPE_COMPOSITE:
			return guards_of_row(type);
		case TYPTYPE_ENUM:
			return 0;
		default:
			element = get_element_type(type);
			return OidIsValid(element) ? GUARD_ARRAY | wc_form_guards(element) : guards_of_scalar(type);
	}
}

int
wc_form_guard(int guards)
{
	int			level = 0;

	for (int i = 0; i < lengthof(guard_settings); i++)
	{
		if ((guards & guard_settings[i].guard) == 0 || guard_settings[i].is_set())
			continue;
		if (level == 0)
			level = NewGUCNestLevel();
		(void) set_config_option(guard_settings[i].setting, guard_settings[i].wanted,
								 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	}
	return level;
}

void
wc_form_unguard(int level)
{
	if (level > 0)
		AtEOXact_GUC(true, level);
}

/* --- date and timestamps ------------------------------------------------------ */

void
wc_form_of_date(char *buf, Datum value)
{
	DateADT		date = DatumGetDateADT(value);
	struct pg_tm tm = {0};

	if (DATE_NOT_FINITE(date))
	{
		EncodeSpecialDate(date, buf);
		return;
	}
	j2date(date + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
	EncodeDateOnly(&tm, USE_ISO_DATES, buf);
}

void
wc_form_of_timestamp(char *buf, Datum value, bool zone)
{
	Timestamp	ts = DatumGetTimestamp(value);
	struct pg_tm tm = {0};
	fsec_t		fsec;

	if (TIMESTAMP_NOT_FINITE(ts))
		EncodeSpecialTimestamp(ts, buf);
	else if (timestamp2tm(ts, NULL, &tm, &fsec, NULL, NULL) == 0)
	{
		tm.tm_isdst = 0;		/* it has a zone: UTC */
		EncodeDateTime(&tm, fsec, zone, 0, NULL, USE_ISO_DATES, buf);
	}
	else
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
}

/* n digits at s, or -1. */
static int
take_digits(const char *s, int n)
{
	int			v = 0;

	for (int i = 0; i < n; i++)
	{
		if (s[i] < '0' || s[i] > '9')
			return -1;
		v = v * 10 + (s[i] - '0');
	}
	return v;
}

/* "yyyy-mm-dd" at s. */
static bool
take_date(const char *s, DateADT *date)
{
	int			year = take_digits(s, 4);
	int			month = take_digits(s + 5, 2);
	int			day = take_digits(s + 8, 2);

	if (s[4] != '-' || s[7] != '-' || year < 1 || month < 1 || month > 12 || day < 1 ||
		day > day_tab[isleap(year)][month - 1])
		return false;
	*date = date2j(year, month, day) - POSTGRES_EPOCH_JDATE;
	return true;
}

bool
wc_form_to_date(const char *s, size_t len, Datum *value)
{
	DateADT		date;

	if (len != 10 || !take_date(s, &date))
		return false;
	*value = DateADTGetDatum(date);
	return true;
}

/* "yyyy-mm-dd hh:mm:ss[.ffffff]", followed by "+00" when it has a zone. */
bool
wc_form_to_timestamp(const char *s, size_t len, bool zone, Datum *value)
{
	DateADT		date;
	int			hour;
	int			minute;
	int			second;
	int			fraction = 0;

	if (zone)
	{
		if (len < 3 || memcmp(s + len - 3, "+00", 3) != 0)
			return false;
		len -= 3;
	}
	if (len < 19 || s[10] != ' ' || s[13] != ':' || s[16] != ':' || !take_date(s, &date))
		return false;
	hour = take_digits(s + 11, 2);
	minute = take_digits(s + 14, 2);
	second = take_digits(s + 17, 2);
	if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
		return false;
	if (len > 19)
	{
		int			ndigits = (int) len - 20;

		if (s[19] != '.' || ndigits < 1 || ndigits > 6)
			return false;
		fraction = take_digits(s + 20, ndigits);
		if (fraction < 0)
			return false;
		for (; ndigits < 6; ndigits++)
			fraction *= 10;
	}
	*value = TimestampGetDatum((Timestamp) date * USECS_PER_DAY +
							   ((hour * 60 + minute) * INT64CONST(60) + second) * USECS_PER_SEC + fraction);
	return true;
}

static const int64 powers_of_ten[WC_SMALL_DIGITS + 1] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, INT64CONST(10000000000), INT64CONST(100000000000),
	INT64CONST(1000000000000), INT64CONST(10000000000000), INT64CONST(100000000000000), INT64CONST(1000000000000000),
	INT64CONST(10000000000000000), INT64CONST(100000000000000000), INT64CONST(1000000000000000000)
};

static bool
is_below(int64 number, int64 limit)
{
	return number < limit && number > -limit;
}

/* Has unscaled / 10 ^ scale, with `shown` digits after the point, the type's scale, and no more digits than its precision? */
static bool
fits_numeric(int64 unscaled, int scale, int shown, int32 typmod)
{
	int			digits;

	if (typmod < (int32) VARHDRSZ)
		return true;
	typmod -= VARHDRSZ;
	/* the type's scale has 11 bits, the first of which is the sign */
	if (shown != ((typmod & 0x7ff) ^ 1024) - 1024)
		return false;
	digits = ((typmod >> 16) & 0xffff) - (shown - scale);
	return digits >= WC_SMALL_DIGITS || is_below(unscaled, powers_of_ten[Max(digits, 0)]);
}

bool
wc_small_numeric(int64 unscaled, int scale, int shown, int32 typmod, Datum *value)
{
	if (!is_below(unscaled, powers_of_ten[WC_SMALL_DIGITS]) || scale < 0 || scale > WC_SMALL_DIGITS ||
		!fits_numeric(unscaled, scale, shown, typmod))
		return false;
	*value = NumericGetDatum(int64_div_fast_to_numeric(unscaled, scale));
	if (shown > scale)
		*value = DirectFunctionCall2(numeric_round, *value, Int32GetDatum(shown));
	return true;
}

/* "[-]ddd[.ddd]".  Zeros at the end, behind the point, are shown but do not count: a quotient like 1.50000000000000000000 has many. */
bool
wc_form_to_numeric(const char *s, size_t len, int32 typmod, Datum *value)
{
	bool		negative = len > 0 && *s == '-';
	const char *digits = s + negative;
	const char *end = s + len;
	const char *point = NULL;
	int64		unscaled = 0;
	int			ndigits = 0;
	int			zeros = 0;
	int			shown;

	if (len > 3 * WC_SMALL_DIGITS)
		return false;
	for (const char *p = digits; p < end; p++)
	{
		if (*p == '0' && point != NULL)
			zeros++;
		else if (*p >= '0' && *p <= '9')
		{
			ndigits += zeros + 1;
			if (ndigits > WC_SMALL_DIGITS)
				return false;
			for (; zeros > 0; zeros--)
				unscaled *= 10;
			unscaled = unscaled * 10 + (*p - '0');
		}
		else if (*p == '.' && point == NULL && p > digits && p + 1 < end)
			point = p;
		else
			return false;
	}
	if (digits == end)
		return false;
	shown = point != NULL ? (int) (end - point - 1) : 0;
	return wc_small_numeric(negative ? -unscaled : unscaled, shown - zeros, shown, typmod, value);
}
