/*
 * read/scan/skip.c: rows that a filter is sure to reject, without looking at them.
 *
 * Only conditions that every row must satisfy, and that are about one part, count: the arms of the AND at
 * the top of the filter.
 */
#include "read/scan/skip.h"

#include "base/limits.h"

/* A seek costs about as much as skipping so many rows. */
#define SEEK_ROWS 16

/* A skip over fewer rows was useless: after a useless skip, twice as many rows as before pass until the
 * next one is tried. */
#define WORTH_ROWS 4
#define PAUSE_MAX 1023

/* The conditions on one part. */
typedef struct Limits
{
	bool		limited;
	bool		listed;			/* one of these: */
	uint32_t	nvalues;
	const WcSlice *values;		/* ascending */
	WcInterval	interval;		/* and in this one */
	bool		begun;			/* and it starts with this: */
	WcSlice		prefix;
} Limits;

struct WcSkip
{
	const WcKeyLayout *layout;
	bool		reversed;
	Limits	   *limits;			/* [nparts] */
	WcArena		arena;			/* of the place */

	bool		found;			/* there is one: */
	WcSlice		place;			/* in the arena */
	bool		inclusive;		/* the row there may satisfy the conditions */
	uint64_t	covered;		/* rows */
	uint32_t	backoff;
	uint32_t	pause;			/* rejected rows before the next one is looked for */
};

/* --- making ------------------------------------------------------------------- */

static void
limit_lo(WcInterval *i, WcSlice value, bool inclusive)
{
	int			c = i->has_lo ? wc_slice_cmp(value, i->lo) : 1;

	if (c > 0 || (c == 0 && !inclusive))
	{
		i->has_lo = true;
		i->lo = value;
		i->lo_inclusive = inclusive;
	}
}

static void
limit_hi(WcInterval *i, WcSlice value, bool inclusive)
{
	int			c = i->has_hi ? wc_slice_cmp(value, i->hi) : -1;

	if (c < 0 || (c == 0 && !inclusive))
	{
		i->has_hi = true;
		i->hi = value;
		i->hi_inclusive = inclusive;
	}
}

/* False: it says nothing that counts here. */
static bool
add_limit(Limits *limits, const WcFilterNode *node)
{
	WcInterval *i = &limits->interval;

	switch (node->kind)
	{
		case WC_FILTER_EQ:
			limit_lo(i, node->values[0], true);
			limit_hi(i, node->values[0], true);
			return true;
		case WC_FILTER_LT:
		case WC_FILTER_LE:
			limit_hi(i, node->values[0], node->kind == WC_FILTER_LE);
			return true;
		case WC_FILTER_GT:
		case WC_FILTER_GE:
			limit_lo(i, node->values[0], node->kind == WC_FILTER_GE);
			return true;
		case WC_FILTER_PREFIX:
			limits->begun = true;
			limits->prefix = node->values[0];
			return true;
		case WC_FILTER_IN:
			if (limits->listed || node->n == 0)
				return limits->limited;
			limits->listed = true;
			limits->values = node->values;
			limits->nvalues = node->n;
			return true;
		default:
			return limits->limited;
	}
}

/* The node behind this one and all of its own. */
static uint32_t
next_node(const WcFilter *filter, uint32_t at)
{
	for (uint32_t left = 1; left > 0; left--)
	{
		const WcFilterNode *node = &filter->nodes[at++];

		if (node->kind == WC_FILTER_AND || node->kind == WC_FILTER_OR)
			left += node->n;
		else if (node->kind == WC_FILTER_NOT || node->kind == WC_FILTER_IS_TRUE)
			left++;
	}
	return at;
}

WcStatus
wc_skip_create(WcArena *arena, const WcFilter *filter, const WcKeyLayout *layout, bool reversed,
			   WcSkip **skip, WcError *err)
{
	bool		and = filter->nodes[0].kind == WC_FILTER_AND;
	bool		useful = false;
	WcSkip	   *s = wc_arena_alloc_zero(arena, sizeof(WcSkip));
	Limits	   *limits = wc_arena_alloc_zero(arena, (layout->nparts + 1) * sizeof(Limits));

	*skip = NULL;
	if (s == NULL || limits == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a filter");
	s->layout = layout;
	s->reversed = reversed;
	s->limits = limits;
	for (uint32_t at = and ? 1 : 0; at < filter->nnodes; at = next_node(filter, at))
	{
		const WcFilterNode *node = &filter->nodes[at];
		const WcFilterColumn *column = wc_filter_kind_has_column(node->kind) ? &filter->columns[node->column] : NULL;

		if (column == NULL || !column->in_key || column->form != WC_FORM_BYTES)
			continue;
		limits[column->column].limited = add_limit(&limits[column->column], node);
		useful |= limits[column->column].limited;
	}
	if (useful)
		*skip = s;
	return WC_OK;
}

void
wc_skip_free(WcSkip *s)
{
	if (s != NULL)
		wc_arena_free(&s->arena);
}

/* --- where the next rows are ----------------------------------------------------- */

/* The index of the value in the list that is next to the content, in the order of contents or in reverse; nvalues: there
 * is none.  *here: the list has the content. */
static uint32_t
find_value(const Limits *limits, WcSlice content, bool up, bool *here)
{
	uint32_t	lo = 0;
	uint32_t	hi = limits->nvalues;

	while (lo < hi)
	{
		uint32_t	mid = lo + (hi - lo) / 2;

		if (wc_slice_cmp(limits->values[mid], content) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*here = lo < limits->nvalues && wc_slice_eq(limits->values[lo], content);
	if (up || *here)
		return lo;
	return lo > 0 ? lo - 1 : limits->nvalues;
}

static bool
is_inside(const WcInterval *i, WcSlice content)
{
	int			c;

	if (i->is_prefix)
		return wc_slice_starts_with(content, i->lo);
	c = i->has_lo ? wc_slice_cmp(content, i->lo) : 1;

	if (c < 0 || (c == 0 && !i->lo_inclusive))
		return false;
	c = i->has_hi ? wc_slice_cmp(content, i->hi) : -1;
	return c < 0 || (c == 0 && i->hi_inclusive);
}

/* The rows with the parts before this one and this one in the interval (NULL: any). */
static WcStatus
find_range(WcSkip *s, WcSlice row, const WcSlice *parts, uint32_t part, const WcInterval *interval,
		   WcKeyRange *out, WcError *err)
{
	WcRange		behind;
	WcStatus	status = wc_rowkey_range(s->layout, parts, part, interval, &s->arena, out, err);

	if (status != WC_OK || out->empty || s->layout->salt.buckets == 0)
		return status;
	behind = out->range;
	return wc_salt_range(&behind, row.data[0], &s->arena, &out->range, err);
}

static void
set_place(WcSkip *s, WcSlice row, WcSlice place, bool inclusive)
{
	s->place = place;
	s->inclusive = inclusive;
	/* no place, if it has no end, or is not after the row */
	s->found = place.len > 0 && wc_skip_before(s, row);
}

/* To the rows that may satisfy the conditions on this part, or, when these are behind
 * us, to those with the next part before it. */
static WcStatus
find_place(WcSkip *s, WcSlice row, const WcSlice *parts, uint32_t part, const WcInterval *interval, WcError *err)
{
	WcKeyRange	found = {.empty = true};
	WcRange    *r = &found.range;
	WcStatus	status = WC_OK;

	if (interval != NULL)
		status = find_range(s, row, parts, part, interval, &found, err);
	if (status != WC_OK)
		return status;
	if (!found.empty && (s->reversed ? wc_range_behind_stop(r, row) : wc_range_before_start(r, row)))
	{
		set_place(s, row, s->reversed ? r->stop : r->start, s->reversed ? r->stop_inclusive : r->start_inclusive);
		return WC_OK;
	}
	if (part == 0 || (!found.empty && wc_range_contains(r, row)))
		return WC_OK;
	status = find_range(s, row, parts, part, NULL, &found, err);
	if (status == WC_OK && !found.empty)
		set_place(s, row, s->reversed ? r->start : r->stop, s->reversed ? !r->start_inclusive : !r->stop_inclusive);
	return status;
}

/* --- rows --------------------------------------------------------------------- */

/* Contents that the conditions allow, those next to this one, which they do not; or more.
 * *none: there are no more in scan order. */
static WcInterval
next_contents(const WcSkip *s, uint32_t part, WcSlice content, bool *none)
{
	const WcPartShape *shape = &s->layout->parts[part];
	const Limits *limits = &s->limits[part];
	WcInterval	interval = limits->interval;
	bool		up = shape->desc == s->reversed;
	bool		here = true;
	uint32_t	at = 0;

	*none = false;
	if (limits->listed)
		at = find_value(limits, content, up, &here);
	if (!here)
	{
		uint32_t	first = 0;
		uint32_t	last = limits->nvalues - 1;

		/* with a delimiter contents are in another order than keys */
		*none = at == limits->nvalues && shape->kind != WC_PART_DELIMITED;
		if (shape->kind != WC_PART_DELIMITED && !*none)
			*(up ? &first : &last) = at;
		limit_lo(&interval, limits->values[first], true);
		limit_hi(&interval, limits->values[last], true);
		return interval;
	}
	if (is_inside(&interval, content))
		interval = (WcInterval) {.is_prefix = true,.lo = limits->prefix};
	return interval;
}

static bool
is_allowed(const Limits *limits, WcSlice content)
{
	bool		here = true;

	if (limits->listed)
		(void) find_value(limits, content, true, &here);
	return here && is_inside(&limits->interval, content) &&
		(!limits->begun || wc_slice_starts_with(content, limits->prefix));
}

static void
back_off(WcSkip *s)
{
	s->backoff = 2 * s->backoff + 1;
	if (s->backoff > PAUSE_MAX)
		s->backoff = PAUSE_MAX;
	s->pause = s->backoff;
}

WcStatus
wc_skip_rejected(WcSkip *s, WcSlice row, const WcSlice *parts, WcError *err)
{
	WcStatus	status = WC_OK;
	uint32_t	part = 0;

	if (s->pause > 0)
	{
		s->pause--;
		return WC_OK;
	}
	wc_arena_reset(&s->arena);
	s->covered = 0;
	while (part < s->layout->nparts && (!s->limits[part].limited || is_allowed(&s->limits[part], parts[part])))
		part++;
	if (part < s->layout->nparts)
	{
		bool		none;
		WcInterval	interval = next_contents(s, part, parts[part], &none);

		status = find_place(s, row, parts, part, none ? NULL : &interval, err);
	}
	if (!s->found)
		back_off(s);
	return status;
}

bool
wc_skip_before(const WcSkip *s, WcSlice row)
{
	int			c = wc_slice_cmp(row, s->place);

	return (s->reversed ? c > 0 : c < 0) || (c == 0 && !s->inclusive);
}

bool
wc_skip_covers(WcSkip *s, WcSlice row)
{
	if (!s->found)
		return false;
	if (wc_skip_before(s, row))
	{
		s->covered++;
		return true;
	}
	s->found = false;
	if (s->covered < WORTH_ROWS)
		back_off(s);
	else
		s->backoff = 0;
	return false;
}

bool
wc_skip_due(const WcSkip *s, WcSlice *row, bool *inclusive)
{
	*row = s->place;
	*inclusive = s->inclusive;
	return s->found && s->covered >= SEEK_ROWS;
}
