/*
 * rowkey/salt.c: one byte in front of a key, that spreads keys over buckets.
 */
#include "rowkey/salt.h"

#include "base/coding.h"
#include "rowkey/murmur3.h"

/* The hash of each part is the seed of the next one, so that the parts need not be concatenated. */
static uint64_t
hash_parts(const WcSalt *salt, const WcSlice *contents, uint32_t nparts)
{
	uint64_t	hash = 0;

	for (uint32_t i = 0; i < nparts; i++)
	{
		uint8_t		out[WC_MURMUR3_SIZE];

		if (!salt->parts[i])
			continue;
		wc_murmur3(contents[i], (uint32_t) hash, out);
		hash = 0;
		for (int k = 7; k >= 0; k--)
			hash = hash << 8 | out[k];
	}
	return hash;
}

/* Rounds down, where C rounds towards zero. */
static int64_t
floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static uint32_t
bucket_of_minute(const WcSalt *salt, int64_t minute)
{
	int64_t		of_hour = minute - floor_div(minute, WC_MINUTES_OF_HOUR) * WC_MINUTES_OF_HOUR;

	return (uint32_t) of_hour % salt->buckets;
}

bool
wc_salt_minute(const WcSalt *salt, WcSlice content, int64_t *minute)
{
	int64_t		at;

	if (content.len != sizeof(uint64_t))
		return false;
	at = (int64_t) (wc_load_u64(content.data) ^ (salt->twos_complement ? 0 : UINT64_C(1) << 63));
	if (at == INT64_MIN || at == INT64_MAX)
		return false;
	*minute = floor_div(at, salt->per_minute);
	return true;
}

bool
wc_salt_bucket(const WcSalt *salt, const WcSlice *contents, uint32_t nparts, uint32_t *bucket)
{
	int64_t		minute;

	if (salt->kind == WC_SALT_HASH)
	{
		*bucket = (uint32_t) (hash_parts(salt, contents, nparts) % salt->buckets);
		return true;
	}
	for (uint32_t i = 0; i < nparts; i++)
	{
		if (!salt->parts[i])
			continue;
		if (!wc_salt_minute(salt, contents[i], &minute))
			return false;
		*bucket = bucket_of_minute(salt, minute);
		return true;
	}
	return false;
}

/* --- sets of buckets ---------------------------------------------------------- */

uint32_t
wc_bucketset_count(const WcBucketSet *set)
{
	uint32_t	n = 0;

	for (int i = 0; i < WC_SALT_BUCKETS_MAX / 64; i++)
		n += (uint32_t) __builtin_popcountll(set->bits[i]);
	return n;
}

void
wc_bucketset_add_all(WcBucketSet *set, const WcSalt *salt)
{
	for (uint32_t i = 0; i < salt->buckets; i++)
		wc_bucketset_add(set, i);
}

void
wc_bucketset_add_minutes(WcBucketSet *set, const WcSalt *salt, int64_t first, int64_t last)
{
	/* no overflow: minutes are far from the ends of int64, though the microseconds of which they are made are not */
	if (first > last)
		return;
	if (last - first >= WC_MINUTES_OF_HOUR)
		last = first + WC_MINUTES_OF_HOUR - 1;
	for (int64_t minute = first; minute <= last; minute++)
		wc_bucketset_add(set, bucket_of_minute(salt, minute));
}

/* --- ranges ------------------------------------------------------------------- */

/* The salt and the bytes after it, cut to WC_ROW_MAX; *cut: they were cut. */
static WcSlice
prefixed(uint32_t bucket, WcSlice behind, WcArena *arena, bool *cut)
{
	size_t		len = behind.len < WC_ROW_MAX ? behind.len : WC_ROW_MAX - 1;
	uint8_t    *p = wc_arena_alloc(arena, len + 1);

	*cut = len < behind.len;
	if (p == NULL)
		return wc_slice(NULL, 0);
	p[0] = (uint8_t) bucket;
	if (len > 0)
		memcpy(p + 1, behind.data, len);
	return wc_slice(p, len + 1);
}

WcStatus
wc_salt_range(const WcRange *behind, uint32_t bucket, WcArena *arena, WcRange *out, WcError *err)
{
	bool		cut;

	out->start = prefixed(bucket, behind->start, arena, &cut);
	/* a key that is too long for a row is cut, and its range begins right after the row with the cut key */
	out->start_inclusive = (behind->start_inclusive || behind->start.len == 0) && !cut;
	if (out->start.len == 0)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a row range");
	out->stop = wc_slice(NULL, 0);
	out->stop_inclusive = false;
	if (behind->stop.len == 0 && bucket == UINT8_MAX)
		return WC_OK;
	if (behind->stop.len == 0)
		out->stop = prefixed(bucket + 1, behind->stop, arena, &cut);
	else
	{
		out->stop = prefixed(bucket, behind->stop, arena, &cut);
		out->stop_inclusive = behind->stop_inclusive || cut;
	}
	if (out->stop.len == 0)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a row range");
	return WC_OK;
}
