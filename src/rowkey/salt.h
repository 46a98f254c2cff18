/*
 * rowkey/salt.h: one byte in front of a key, that spreads keys over buckets.
 *
 * The salt follows from parts of the key, so a key of known parts has one place, and rows that differ in those
 * parts lie in different buckets.  The README defines its computation, which never changes: salts are stored.
 * Any thread.
 */
#ifndef WC_ROWKEY_SALT_H
#define WC_ROWKEY_SALT_H

#include "base/arena.h"
#include "base/limits.h"
#include "base/status.h"
#include "model/scan.h"

#define WC_MINUTES_OF_HOUR 60

typedef enum WcSaltKind
{
	WC_SALT_HASH,				/* of the contents of some parts */
	WC_SALT_MINUTE				/* of the hour: of one part, which is a timestamp */
} WcSaltKind;

typedef struct WcSalt
{
	uint32_t	buckets;		/* 0: there is no salt */
	uint8_t		kind;			/* WcSaltKind */
	const bool *parts;			/* [nparts]: the salt follows from it; MINUTE: one */

	/* MINUTE: the part's content is a big-endian int8 that is 0 at a full hour */
	bool		twos_complement;	/* else its sign bit is inverted */
	int64_t		per_minute;		/* its units */
} WcSalt;

/* The bucket of a key with these contents of its parts (only parts that make the salt are read); false: the
 * key has no bucket, since its timestamp is infinite. */
extern bool wc_salt_bucket(const WcSalt *salt, const WcSlice *contents, uint32_t nparts,
						   uint32_t *bucket) WC_WARN_UNUSED;

/* MINUTE: the timestamp's minute, counted from an hour's beginning; false: it is
 * infinite, or no timestamp. */
extern bool wc_salt_minute(const WcSalt *salt, WcSlice content, int64_t *minute) WC_WARN_UNUSED;

/* --- sets of buckets ---------------------------------------------------------- */

typedef struct WcBucketSet
{
	uint64_t	bits[WC_SALT_BUCKETS_MAX / 64];
} WcBucketSet;

static inline void
wc_bucketset_add(WcBucketSet *set, uint32_t bucket)
{
	set->bits[bucket / 64] |= UINT64_C(1) << (bucket % 64);
}

static inline bool
wc_bucketset_contains(const WcBucketSet *set, uint32_t bucket)
{
	return (set->bits[bucket / 64] >> (bucket % 64)) & 1;
}

extern uint32_t wc_bucketset_count(const WcBucketSet *set);

/* Adds every bucket there is; and those of the minutes first .. last (none when
 * first is behind last). */
extern void wc_bucketset_add_all(WcBucketSet *set, const WcSalt *salt);
extern void wc_bucketset_add_minutes(WcBucketSet *set, const WcSalt *salt, int64_t first, int64_t last);

/* --- ranges ------------------------------------------------------------------- */

/* The rows of one bucket whose keys behind the salt are in the range `behind`;
 * its bytes are in the arena.  WC_NO_MEMORY is the only failure. */
extern WcStatus wc_salt_range(const WcRange *behind, uint32_t bucket, WcArena *arena,
							  WcRange *out, WcError *err) WC_WARN_UNUSED;

#endif
