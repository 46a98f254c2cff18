/*
 * read/scan/skip.c: rows that a filter is sure to reject, without looking at them.
 *
 * The filter gives each part limits that the contents of all accepted rows keep: those of the arms of an AND together;
 * of an OR, what is in the limits of some arm.
 */
#include "read/scan/skip.h"

#include <stdlib.h>
#include <string.h>

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
	bool		none;			/* no content satisfies them */
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

/* Of a comparison with constants. */
static Limits
limits_of_leaf(const WcFilterNode *node)
{
	Limits		limits = {.limited = true};
	WcInterval *i = &limits.interval;

	switch (node->kind)
	{
		case WC_FILTER_EQ:
			limit_lo(i, node->values[0], true);
			limit_hi(i, node->values[0], true);
			limits.listed = true;
			limits.nvalues = 1;
			limits.values = node->values;
			break;
		case WC_FILTER_LT:
		case WC_FILTER_LE:
			limit_hi(i, node->values[0], node->kind == WC_FILTER_LE);
			break;
		case WC_FILTER_GT:
		case WC_FILTER_GE:
			limit_lo(i, node->values[0], node->kind == WC_FILTER_GE);
			break;
		case WC_FILTER_PREFIX:
			limits.begun = true;
			limits.prefix = node->values[0];
			break;
		case WC_FILTER_IN:
			limits.none = node->n == 0;
			limits.listed = node->n > 0;
			limits.nvalues = node->n;
			limits.values = node->values;
			break;
		default:
			limits.limited = false;
			break;
	}
	return limits;
}

/* Both hold.  Of two lists, or prefixes, one is enough. */
static void
limit(Limits *limits, const Limits *more)
{
	WcInterval *i = &limits->interval;
	int			c;

	if (more->interval.has_lo)
		limit_lo(i, more->interval.lo, more->interval.lo_inclusive);
	if (more->interval.has_hi)
		limit_hi(i, more->interval.hi, more->interval.hi_inclusive);
	if (more->listed && (!limits->listed || more->nvalues < limits->nvalues))
	{
		limits->listed = true;
		limits->nvalues = more->nvalues;
		limits->values = more->values;
	}
	if (more->begun)
	{
		limits->begun = true;
		limits->prefix = more->prefix;
	}
	limits->limited |= more->limited;
	c = i->has_lo && i->has_hi ? wc_slice_cmp(i->lo, i->hi) : -1;
	limits->none |= more->none || c > 0 || (c == 0 && !(i->lo_inclusive && i->hi_inclusive));
}

/* One of them holds; the lists are for the caller to put together. */
static void
widen(Limits *limits, const Limits *other)
{
	WcInterval *i = &limits->interval;
	const WcInterval *o = &other->interval;
	int			c;

	c = i->has_lo && o->has_lo ? wc_slice_cmp(o->lo, i->lo) : 0;
	i->has_lo &= o->has_lo;
	i->lo_inclusive = (c >= 0 && i->lo_inclusive) || (c <= 0 && o->lo_inclusive);
	i->lo = c < 0 ? o->lo : i->lo;
	c = i->has_hi && o->has_hi ? wc_slice_cmp(o->hi, i->hi) : 0;
	i->has_hi &= o->has_hi;
	i->hi_inclusive = (c <= 0 && i->hi_inclusive) || (c >= 0 && o->hi_inclusive);
	i->hi = c > 0 ? o->hi : i->hi;
	limits->listed &= other->listed;
	limits->limited = limits->listed || i->has_lo || i->has_hi;
}

/* The prefix as an interval; false: no memory. */
static bool
limit_to_prefix(WcArena *arena, Limits *limits)
{
	WcSlice		end = limits->prefix;
	uint8_t    *room;

	limits->begun = false;
	limit_lo(&limits->interval, end, true);
	while (end.len > 0 && end.data[end.len - 1] == 0xFF)
		end.len--;
	if (end.len == 0)
		return true;
	room = wc_arena_alloc(arena, end.len);
	if (room == NULL)
		return false;
	memcpy(room, end.data, end.len);
	room[end.len - 1]++;
	limit_hi(&limits->interval, wc_slice(room, end.len), false);
	return true;
}

/* A filter and a part of the key, whose limits are looked for. */
typedef struct Finding
{
	WcArena    *arena;
	const WcFilter *filter;
	uint32_t	part;
} Finding;

static bool find_limits(const Finding *f, uint32_t *at, Limits *limits);

/* Values of the arms of an OR. */
typedef struct List
{
	WcSlice    *values;
	uint32_t	n;
	uint32_t	max;
} List;

static bool
append_values(WcArena *arena, List *list, const Limits *arm)
{
	if (list->n + arm->nvalues > list->max)
	{
		uint32_t	max = 2 * list->max + arm->nvalues;
		WcSlice    *values = wc_arena_alloc(arena, max * sizeof(WcSlice));

		if (values == NULL)
			return false;
		if (list->n > 0)
			memcpy(values, list->values, list->n * sizeof(WcSlice));
		list->values = values;
		list->max = max;
	}
	memcpy(list->values + list->n, arm->values, arm->nvalues * sizeof(WcSlice));
	list->n += arm->nvalues;
	return true;
}

/* Sorts the values and makes them distinct. */
static void
sort_values(List *list)
{
	uint32_t	kept = 0;

	qsort(list->values, list->n, sizeof(WcSlice), wc_slice_compare);
	for (uint32_t i = 0; i < list->n; i++)
	{
		if (kept == 0 || !wc_slice_eq(list->values[kept - 1], list->values[i]))
			list->values[kept++] = list->values[i];
	}
	list->n = kept;
}

/* The arms of an OR; false: no memory.  *at: the first arm, and then the node behind them. */
static bool
find_any(const Finding *f, uint32_t narms, uint32_t *at, Limits *limits)
{
	List		list = {0};
	bool		first = true;

	*limits = (Limits) {.limited = true,.none = true};
	for (; narms > 0; narms--)
	{
		Limits		arm;

		if (!find_limits(f, at, &arm))
			return false;
		if (arm.none)
			continue;
		if (arm.begun && !limit_to_prefix(f->arena, &arm))
			return false;
		if (first)
			*limits = arm;
		else
			widen(limits, &arm);
		first = false;
		if (limits->listed && !append_values(f->arena, &list, &arm))
			return false;
	}
	if (!limits->none && limits->listed)
	{
		sort_values(&list);
		limits->values = list.values;
		limits->nvalues = list.n;
	}
	return true;
}

/* The limits that a node and all of its own give; false: no memory.  *at: the node, and then the one behind. */
static bool
find_limits(const Finding *f, uint32_t *at, Limits *limits)
{
	const WcFilterNode *node = &f->filter->nodes[(*at)++];
	Limits		arm;

	*limits = (Limits) {0};
	switch (node->kind)
	{
		case WC_FILTER_AND:
			for (uint32_t i = 0; i < node->n; i++)
			{
				if (!find_limits(f, at, &arm))
					return false;
				limit(limits, &arm);
			}
			return true;
		case WC_FILTER_OR:
			return find_any(f, node->n, at, limits);
		case WC_FILTER_NOT:
			return find_limits(f, at, &arm);
		case WC_FILTER_IS_TRUE:
			return find_limits(f, at, limits);
		case WC_FILTER_UNKNOWN:
			*limits = (Limits) {.limited = true,.none = true};
			return true;
		default:
			break;
	}
	if (f->filter->columns[node->column].in_key && f->filter->columns[node->column].column == f->part &&
		f->filter->columns[node->column].form == WC_FORM_BYTES)
		*limits = limits_of_leaf(node);
	return true;
}

WcStatus
wc_skip_create(WcArena *arena, const WcFilter *filter, const WcKeyLayout *layout, bool reversed,
			   WcSkip **skip, WcError *err)
{
	bool		useful = false;
	WcSkip	   *s = wc_arena_alloc_zero(arena, sizeof(WcSkip));
	Limits	   *limits = wc_arena_alloc_zero(arena, (layout->nparts + 1) * sizeof(Limits));

	*skip = NULL;
	if (s == NULL || limits == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a filter");
	s->layout = layout;
	s->reversed = reversed;
	s->limits = limits;
	for (uint32_t i = 0; i < filter->ncolumns; i++)
	{
		const WcFilterColumn *column = &filter->columns[i];
		Finding		f = {arena, filter, column->column};
		uint32_t	at = 0;

		if (!column->in_key || column->form != WC_FORM_BYTES)
			continue;
		if (!find_limits(&f, &at, &limits[f.part]))
			return wc_error(err, WC_NO_MEMORY, "out of memory for a filter");
		useful |= limits[f.part].limited;
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
	if (!found.empty && wc_range_is_left(r, row, !s->reversed))
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
