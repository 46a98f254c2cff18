/*
 * client/session/readtime.c: the setting widecol.read_timestamp.
 *
 * The setting's text is stored as an unambiguous time, with zone UTC, whichever
 * time zone the session had when it was set.
 */
#include "postgres.h"

#include "common/int.h"
#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "utils/datetime.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "client/client.h"
#include "client/settings.h"
#include "compat.h"

#define EPOCH_SHIFT ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

char	   *wc_read_timestamp_text;
static int64 read_timestamp_us = WC_TS_LATEST;

int64
wc_client_read_timestamp(void)
{
	return read_timestamp_us;
}

/* A number, in microseconds since 1970; false: the text is no number. */
static bool
parse_number(const char *s, int64 *us, bool *fits)
{
	size_t		digits = strspn(s, "0123456789");
	char	   *end;

	if (digits == 0 || s[digits] != '\0')
		return false;
	errno = 0;
	*us = strtoll(s, &end, 10);
	*fits = errno == 0 && *us < WC_TS_LATEST;
	return true;
}

/* A time as timestamptz reads it, but no special values such as infinity. */
static bool
parse_time(const char *s, int64 *us)
{
	char		work[MAXDATELEN + MAXDATEFIELDS];
	char	   *field[MAXDATEFIELDS];
	int			ftype[MAXDATEFIELDS];
	int			nf;
	int			dtype;
	int			tz;
	fsec_t		fsec;
	struct pg_tm tm;
	TimestampTz time;

	if (ParseDateTime(s, work, sizeof(work), field, ftype, MAXDATEFIELDS, &nf) != 0 ||
		wc_decode_datetime(field, ftype, nf, &dtype, &tm, &fsec, &tz) != 0 ||
		dtype != DTK_DATE || tm2timestamp(&tm, fsec, &tz, &time) != 0)
		return false;
	return !pg_add_s64_overflow(time, EPOCH_SHIFT, us);
}

/* The time as text; NULL: out of memory. */
static char *
canonical(int64 us, const char *given)
{
	struct pg_tm tm;
	fsec_t		fsec;
	char		text[MAXDATELEN + 8];

	if (timestamp2tm(us - EPOCH_SHIFT, NULL, &tm, &fsec, NULL, NULL) != 0)
		return wc_guc_strdup(given);	/* a number outside the range of timestamptz */
	EncodeDateTime(&tm, fsec, false, 0, NULL, USE_ISO_DATES, text);
	strlcat(text, "+00", sizeof(text));
	return wc_guc_strdup(text);
}

/* Parses the setting; false: it is invalid, and the error's detail has been set. */
static bool
parse(const char *value, int64 *us)
{
	bool		fits = true;

	if (!parse_number(value, us, &fits) && !parse_time(value, us))
	{
		GUC_check_errdetail("It is a time, such as \"2026-01-02 03:04:05+00\", or a number of microseconds since 1970; "
							"empty for now.");
		return false;
	}
	if (!fits || *us < 0)
	{
		GUC_check_errdetail("Times of cells are from 1970-01-01 00:00:00+00 on, and fit a bigint of microseconds.");
		return false;
	}
	return true;
}

bool
wc_read_timestamp_check(char **value, void **extra, GucSource source)
{
	bool		off = (*value)[0] == '\0' || strcmp(*value, "0") == 0;
	int64		us = WC_TS_LATEST;
	int64	   *result;
	char	   *text;

	if (!off && !parse(*value, &us))
		return false;
	result = wc_guc_malloc(sizeof(int64));
	text = off ? wc_guc_strdup("") : canonical(us, *value);
	if (result == NULL || text == NULL)
	{
		wc_guc_free(result);
		wc_guc_free(text);
		return false;
	}
	*result = us;
	*extra = result;
	wc_guc_free(*value);
	*value = text;
	return true;
}

void
wc_read_timestamp_assign(const char *value, void *extra)
{
	read_timestamp_us = *(int64 *) extra;
}
