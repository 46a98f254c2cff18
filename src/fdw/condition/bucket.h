/*
 * fdw/condition/bucket.h: the buckets of a salted key that rows can be in, given conditions on the key.
 */
#ifndef WC_FDW_CONDITION_BUCKET_H
#define WC_FDW_CONDITION_BUCKET_H

#include "postgres.h"

#include "fdw/condition/rangeset.h"
#include "rowkey/rowkey.h"

/* If there are more combinations of contents than this, wc_buckets_find tries none of them. */
#define WC_BUCKET_COMBINATIONS_MAX 1000

/* The contents that one part of the key can have. */
typedef struct WcPartChoice
{
	bool		known;			/* the part has one of these contents; false: any */
	uint32		n;
	const WcSlice *contents;
} WcPartChoice;

/* Bounds of the timestamp whose minute is the salt, in minutes as wc_salt_minute counts them. */
typedef struct WcMinutes
{
	int64		first;			/* PG_INT64_MIN: no bound */
	int64		last;			/* PG_INT64_MAX: no bound */
} WcMinutes;

extern void wc_minutes_init(WcMinutes *minutes);

/* Narrows the bounds by "part op value" if part is that timestamp; does nothing for any other part, or without
 * a salt. fit and content are the value's. */
extern void wc_minutes_limit(WcMinutes *minutes, const WcSalt *salt, int part, WcKeyOp op, WcFit fit, WcSlice content);

/* Adds the buckets that keys whose parts are among these choices can be in. */
extern void wc_buckets_find(const WcSalt *salt, const WcPartChoice *choices, uint32 nparts,
							const WcMinutes *minutes, WcBucketSet *buckets);

/* Adds the ranges to set, split at the buckets' first rows. nranges 0 is the whole table.  The bytes of new
 * bounds are static. */
extern void wc_buckets_part(const WcSalt *salt, const WcRange *ranges, uint32 nranges, WcRangeSet *set);

#endif
