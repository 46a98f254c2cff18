/*
 * fdw/condition/bucket.h: in which buckets of a salted key the rows are that conditions let
 * through.
 */
#ifndef WC_FDW_CONDITION_BUCKET_H
#define WC_FDW_CONDITION_BUCKET_H

#include "postgres.h"

#include "fdw/condition/rangeset.h"
#include "rowkey/rowkey.h"

/* More combinations of contents than these are not tried: any bucket may be it. */
#define WC_BUCKET_COMBINATIONS_MAX 1000

/* What one part of the key can be. */
typedef struct WcPartChoice
{
	bool		known;			/* one of these contents, else anything */
	uint32		n;
	const WcSlice *contents;
} WcPartChoice;

/* What a timestamp whose minute is the salt can be: minutes, as wc_salt_minute
 * counts them. */
typedef struct WcMinutes
{
	int64		first;			/* PG_INT64_MIN: no bound */
	int64		last;			/* PG_INT64_MAX: no bound */
} WcMinutes;

extern void wc_minutes_init(WcMinutes *minutes);

/* Takes "part op value" into account, when it is on that timestamp; fit and content
 * are the value's.  Any other part, or no salt: nothing happens. */
extern void wc_minutes_limit(WcMinutes *minutes, const WcSalt *salt, int part, WcKeyOp op, WcFit fit, WcSlice content);

/* Adds the buckets that keys can be in whose parts are among these choices. */
extern void wc_buckets_find(const WcSalt *salt, const WcPartChoice *choices, uint32 nparts,
							const WcMinutes *minutes, WcBucketSet *buckets);

/* Adds the ranges to set, cut where buckets begin.  No range at all is the whole
 * table.  Bounds that are new are constants. */
extern void wc_buckets_part(const WcSalt *salt, const WcRange *ranges, uint32 nranges, WcRangeSet *set);

#endif
