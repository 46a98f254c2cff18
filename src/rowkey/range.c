/*
 * rowkey/range.c: sets of row ranges.
 */
#include "rowkey/range.h"

#include <stdlib.h>

/* Where a comes to start, against b: unbounded first, inclusive before exclusive. */
static int
cmp_start(const WcRange *a, const WcRange *b)
{
	int			c = wc_slice_cmp(a->start, b->start);

	if (c != 0 || a->start.len == 0)
		return c;
	return (int) b->start_inclusive - (int) a->start_inclusive;
}

/* Where a comes to stop, against b: unbounded last, inclusive behind exclusive. */
static int
cmp_stop(const WcRange *a, const WcRange *b)
{
	int			c;

	if (a->stop.len == 0 || b->stop.len == 0)
		return (a->stop.len == 0) - (b->stop.len == 0);
	c = wc_slice_cmp(a->stop, b->stop);
	if (c != 0)
		return c;
	return (int) a->stop_inclusive - (int) b->stop_inclusive;
}

static int
cmp_range(const void *a, const void *b)
{
	return cmp_start(a, b);
}

/* Does b, which starts no earlier than a, overlap or touch it? */
static bool
touches(const WcRange *a, const WcRange *b)
{
	int			c;

	if (a->stop.len == 0 || b->start.len == 0)
		return true;
	c = wc_slice_cmp(a->stop, b->start);
	return c > 0 || (c == 0 && (a->stop_inclusive || b->start_inclusive));
}

uint32_t
wc_ranges_normalise(WcRange *ranges, uint32_t n)
{
	uint32_t	kept = 0;
	uint32_t	out = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		if (!wc_range_is_empty(&ranges[i]))
			ranges[kept++] = ranges[i];
	}
	if (kept == 0)
		return 0;
	qsort(ranges, kept, sizeof(WcRange), cmp_range);
	for (uint32_t i = 1; i < kept; i++)
	{
		WcRange    *last = &ranges[out];

		if (!touches(last, &ranges[i]))
			ranges[++out] = ranges[i];
		else if (cmp_stop(&ranges[i], last) > 0)
		{
			last->stop = ranges[i].stop;
			last->stop_inclusive = ranges[i].stop_inclusive;
		}
	}
	return out + 1;
}

WcStatus
wc_ranges_intersect(const WcRange *a, uint32_t na, const WcRange *b, uint32_t nb,
					WcArena *arena, WcRange **out, uint32_t *nout, WcError *err)
{
	WcRange    *result;
	uint32_t	n = 0;
	uint32_t	i = 0;
	uint32_t	j = 0;

	*out = NULL;
	*nout = 0;
	if (na == 0 || nb == 0)
		return WC_OK;
	/* each step below ends one range of a or b, so there are fewer results */
	result = wc_arena_alloc(arena, ((size_t) na + nb) * sizeof(WcRange));
	if (result == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for row ranges");
	while (i < na && j < nb)
	{
		const WcRange *s = cmp_start(&a[i], &b[j]) >= 0 ? &a[i] : &b[j];
		bool		a_first = cmp_stop(&a[i], &b[j]) <= 0;
		const WcRange *e = a_first ? &a[i] : &b[j];
		WcRange		r = {s->start, e->stop, s->start_inclusive, e->stop_inclusive};

		if (!wc_range_is_empty(&r))
			result[n++] = r;
		if (a_first)
			i++;
		else
			j++;
	}
	*out = result;
	*nout = n;
	return WC_OK;
}
