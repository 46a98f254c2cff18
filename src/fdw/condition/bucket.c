/*
 * fdw/condition/bucket.c: the buckets of a salted key that rows can be in, given conditions on the key.
 */
#include "postgres.h"

#include "fdw/condition/bucket.h"

/* --- minutes --------------------------------------------------------------------- */

void
wc_minutes_init(WcMinutes *minutes)
{
	minutes->first = PG_INT64_MIN;
	minutes->last = PG_INT64_MAX;
}

void
wc_minutes_limit(WcMinutes *minutes, const WcSalt *salt, int part, WcKeyOp op, WcFit fit, WcSlice content)
{
	int64_t		minute;

	if (salt->buckets == 0 || salt->kind != WC_SALT_MINUTE || !salt->parts[part] ||
		(fit != WC_FIT_EXACT && fit != WC_FIT_ABOVE) || !wc_salt_minute(salt, content, &minute))
		return;
	if (op == WC_KEY_GT || op == WC_KEY_GE)
		minutes->first = Max(minutes->first, minute);
	else if (op == WC_KEY_LT || op == WC_KEY_LE)
		minutes->last = Min(minutes->last, minute);
}

/* --- buckets --------------------------------------------------------------------- */

/* Adds the buckets of all combinations of contents of the parts from this one on. */
static void
add_combinations(const WcSalt *salt, const WcPartChoice *choices, uint32 nparts, uint32 part,
				 WcSlice *contents, WcBucketSet *buckets)
{
	uint32		bucket;

	while (part < nparts && !salt->parts[part])
		part++;
	if (part == nparts)
	{
		/* infinity has no minute, so no row has such a key */
		if (wc_salt_bucket(salt, contents, nparts, &bucket))
			wc_bucketset_add(buckets, bucket);
		return;
	}
	for (uint32 i = 0; i < choices[part].n; i++)
	{
		contents[part] = choices[part].contents[i];
		add_combinations(salt, choices, nparts, part + 1, contents, buckets);
	}
}

void
wc_buckets_find(const WcSalt *salt, const WcPartChoice *choices, uint32 nparts,
				const WcMinutes *minutes, WcBucketSet *buckets)
{
	double		ncombinations = 1;
	bool		known = true;
	WcSlice    *contents;

	for (uint32 i = 0; i < nparts; i++)
	{
		if (!salt->parts[i])
			continue;
		known &= choices[i].known;
		ncombinations *= choices[i].n;
	}
	if (known && ncombinations <= WC_BUCKET_COMBINATIONS_MAX)
	{
		contents = palloc0(sizeof(WcSlice) * nparts);
		add_combinations(salt, choices, nparts, 0, contents, buckets);
		pfree(contents);
	}
	else if (minutes->first != PG_INT64_MIN && minutes->last != PG_INT64_MAX)
		wc_bucketset_add_minutes(buckets, salt, minutes->first, minutes->last);
	else
		wc_bucketset_add_all(buckets, salt);
}

/* --- ranges ---------------------------------------------------------------------- */

/* The first row of the bucket. */
static WcSlice
first_row(uint32 bucket)
{
	static uint8 bytes[WC_SALT_BUCKETS_MAX];

	bytes[bucket] = (uint8) bucket;
	return wc_slice(&bytes[bucket], 1);
}

void
wc_buckets_part(const WcSalt *salt, const WcRange *ranges, uint32 nranges, WcRangeSet *set)
{
	static const WcRange everything = {{NULL, 0}, {NULL, 0}, true, true};
	uint32		n = nranges > 0 ? nranges : 1;

	for (uint32 i = 0; i < n; i++)
	{
		WcRange		rest = nranges > 0 ? ranges[i] : everything;
		uint32		bucket = rest.start.len > 0 ? rest.start.data[0] + 1 : 1;

		/* after the last bucket there is no key, so nothing to split */
		for (; bucket <= salt->buckets && bucket < WC_SALT_BUCKETS_MAX; bucket++)
		{
			WcRange		piece = rest;

			if (wc_range_behind_stop(&rest, first_row(bucket)))
				break;
			piece.stop = rest.start = first_row(bucket);
			piece.stop_inclusive = false;
			rest.start_inclusive = true;
			if (!wc_range_is_empty(&piece))
				wc_rangeset_add(set, &piece);
		}
		wc_rangeset_add(set, &rest);
	}
}
