/*
 * read/cell/deletetracker.c: which puts are masked.
 */
#include "read/cell/deletetracker.h"

#include <stdlib.h>

void
wc_deletetracker_free(WcDeleteTracker *t)
{
	free(t->stamps);
	t->stamps = NULL;
	t->nstamps = t->capacity = 0;
}

static bool
add_stamp(WcDeleteTracker *t, int64_t ts)
{
	if (t->nstamps == t->capacity)
	{
		size_t		capacity = t->capacity ? 2 * t->capacity : 8;
		int64_t    *stamps = realloc(t->stamps, capacity * sizeof(int64_t));

		if (stamps == NULL)
			return false;
		t->stamps = stamps;
		t->capacity = capacity;
	}
	t->stamps[t->nstamps++] = ts;
	return true;
}

bool
wc_deletetracker_add(WcDeleteTracker *t, const WcCell *marker)
{
	switch (marker->type)
	{
		case WC_DELETE_FAMILY:
			if (!t->has_family || marker->ts > t->family_ts)
			{
				t->has_family = true;
				t->family_ts = marker->ts;
			}
			return true;
		case WC_DELETE_FAMILY_VERSION:
			return add_stamp(t, marker->ts);
		case WC_DELETE_COLUMN:
			if (!t->has_column || marker->ts > t->column_ts)
			{
				t->has_column = true;
				t->column_ts = marker->ts;
			}
			return true;
		default:
			/* In cell order: puts at the timestamp of the one before are behind us. */
			t->has_version = true;
			t->version_ts = marker->ts;
			return true;
	}
}

static bool
has_stamp(const WcDeleteTracker *t, int64_t ts)
{
	size_t		low = 0;
	size_t		high = t->nstamps;

	while (low < high)
	{
		size_t		mid = low + (high - low) / 2;

		if (t->stamps[mid] == ts)
			return true;
		if (t->stamps[mid] > ts)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

WcMasked
wc_deletetracker_masks_slow(const WcDeleteTracker *t, int64_t ts)
{
	if (t->has_family && ts <= t->family_ts)
		return WC_MASKED_COLUMN;
	if (t->has_column && ts <= t->column_ts)
		return WC_MASKED_COLUMN;
	if (t->has_version && ts == t->version_ts)
		return WC_MASKED_VERSION;
	if (t->nstamps > 0 && has_stamp(t, ts))
		return WC_MASKED_VERSION;
	return WC_NOT_MASKED;
}
