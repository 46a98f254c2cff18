/*
 * client/foreign/ttl.c: a time to live as an interval of SQL.
 */
#include "postgres.h"

#include "common/int.h"
#include "datatype/timestamp.h"
#include "utils/timestamp.h"

#include "client/foreign/ttl.h"

int64
wc_ttl_of_interval(Datum interval)
{
	const Interval *ttl = DatumGetIntervalP(interval);
	int64		us;

	if (pg_mul_s64_overflow((int64) ttl->month * DAYS_PER_MONTH + ttl->day, USECS_PER_DAY, &us) ||
		pg_add_s64_overflow(us, ttl->time, &us))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("ttl is out of range"),
				 errhint("NULL means for ever.")));
	if (us <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("ttl must be greater than zero"),
				 errhint("NULL means for ever.")));
	return us;
}

Datum
wc_ttl_to_interval(int64 ttl_us)
{
	Interval   *ttl = palloc0(sizeof(Interval));

	ttl->day = (int32) (ttl_us / USECS_PER_DAY);
	ttl->time = ttl_us % USECS_PER_DAY;
	return IntervalPGetDatum(ttl);
}
