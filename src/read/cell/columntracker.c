/*
 * read/cell/columntracker.c: which columns are wanted.
 */
#include "read/cell/columntracker.h"

#include <stdlib.h>

#include "model/cellblock.h"

static int
cmp_columns(const void *a, const void *b)
{
	const WcWantedColumn *x = a;
	const WcWantedColumn *y = b;
	int			c = wc_slice_cmp(x->qualifier, y->qualifier);

	return c != 0 ? c : (x->colno > y->colno) - (x->colno < y->colno);
}

static int
cmp_ranges(const void *a, const void *b)
{
	return wc_slice_cmp(((const WcWantedRange *) a)->start, ((const WcWantedRange *) b)->start);
}

/* One of each qualifier stays: that with the smallest number. */
static void
merge_columns(WcColumnTracker *t)
{
	size_t		n = 0;

	if (t->ncolumns > 1)
		qsort(t->columns, t->ncolumns, sizeof(WcWantedColumn), cmp_columns);
	for (size_t i = 0; i < t->ncolumns; i++)
	{
		if (n == 0 || !wc_slice_eq(t->columns[n - 1].qualifier, t->columns[i].qualifier))
			t->columns[n++] = t->columns[i];
	}
	t->ncolumns = n;
}

static void
merge_ranges(WcColumnTracker *t)
{
	size_t		n = 0;

	if (t->nranges > 1)
		qsort(t->ranges, t->nranges, sizeof(WcWantedRange), cmp_ranges);
	for (size_t i = 0; i < t->nranges; i++)
	{
		WcWantedRange *r = &t->ranges[i];
		WcWantedRange *last = n > 0 ? &t->ranges[n - 1] : NULL;

		if (last == NULL || (last->stop.len > 0 && wc_slice_cmp(last->stop, r->start) < 0))
			t->ranges[n++] = *r;
		else if (last->stop.len > 0 && (r->stop.len == 0 || wc_slice_cmp(r->stop, last->stop) > 0))
			last->stop = r->stop;
	}
	t->nranges = n;
}

/* False: memory is out. */
static bool
add_range(WcColumnTracker *t, const WcColumn *c)
{
	WcWantedRange *r = &t->ranges[t->nranges];
	WcRange		prefix;

	r->start = r->stop = wc_slice(NULL, 0);
	if (c->kind == WC_COLUMN_RANGE)
	{
		r->start = c->qualifier;
		r->stop = c->stop;
	}
	else if (c->kind == WC_COLUMN_PREFIX)
	{
		if (!wc_range_of_prefix(&t->arena, c->qualifier, &prefix))
			return false;
		r->start = prefix.start;
		r->stop = prefix.stop;
	}
	if (r->stop.len == 0 || wc_slice_cmp(r->start, r->stop) < 0)
		t->nranges++;
	return true;
}

WcStatus
wc_columntracker_init(WcColumnTracker *t, const WcColumn *columns, const uint32_t *colnos,
					  uint32_t ncolumns, WcError *err)
{
	memset(t, 0, sizeof(*t));
	if (ncolumns == 0 || (ncolumns == 1 && columns[0].kind == WC_COLUMN_FAMILY))
	{
		t->everything = true;
		return WC_OK;
	}
	t->columns = wc_arena_alloc(&t->arena, ncolumns * sizeof(WcWantedColumn));
	t->ranges = wc_arena_alloc(&t->arena, ncolumns * sizeof(WcWantedRange));
	if (t->columns == NULL || t->ranges == NULL)
		goto no_memory;
	for (uint32_t i = 0; i < ncolumns; i++)
	{
		if (columns[i].kind == WC_COLUMN_EXACT)
		{
			WcWantedColumn *wanted = &t->columns[t->ncolumns++];

			wanted->qualifier = columns[i].qualifier;
			wanted->colno = colnos ? colnos[i] : i;
			wanted->before = 0;
			wanted->filtered = false;
		}
		else if (!add_range(t, &columns[i]))
			goto no_memory;
	}
	merge_columns(t);
	merge_ranges(t);
	return WC_OK;

no_memory:
	wc_columntracker_free(t);
	return wc_error(err, WC_NO_MEMORY, "out of memory for the %u columns of a scan", ncolumns);
}

void
wc_columntracker_free(WcColumnTracker *t)
{
	wc_arena_free(&t->arena);
}

static bool
ends_before(const WcWantedRange *r, WcSlice qualifier)
{
	return r->stop.len > 0 && wc_slice_cmp(r->stop, qualifier) <= 0;
}

bool
wc_columntracker_wants_slow(WcColumnTracker *t, WcSlice qualifier, uint32_t *colno)
{
	*colno = WC_NO_COLUMN;
	while (t->column < t->ncolumns)
	{
		int			c = wc_slice_cmp(t->columns[t->column].qualifier, qualifier);

		if (c == 0)
		{
			*colno = t->columns[t->column].colno;
			return true;
		}
		if (c > 0)
			break;
		t->column++;
	}
	while (t->range < t->nranges && ends_before(&t->ranges[t->range], qualifier))
		t->range++;
	return t->range < t->nranges && wc_slice_cmp(t->ranges[t->range].start, qualifier) <= 0;
}

WcNextColumn
wc_columntracker_next(const WcColumnTracker *t, WcSlice qualifier, WcSlice *next)
{
	size_t		column = t->column;
	size_t		range = t->range;
	bool		found = false;

	*next = qualifier;
	if (t->everything)
		return WC_NEXT_COLUMN_ANY;
	while (range < t->nranges && ends_before(&t->ranges[range], qualifier))
		range++;
	if (range < t->nranges)
	{
		/* inside a range the next column there is, is the next wanted */
		if (wc_slice_cmp(t->ranges[range].start, qualifier) <= 0)
			return WC_NEXT_COLUMN_ANY;
		*next = t->ranges[range].start;
		found = true;
	}
	while (column < t->ncolumns && wc_slice_cmp(t->columns[column].qualifier, qualifier) <= 0)
		column++;
	if (column < t->ncolumns && (!found || wc_slice_cmp(t->columns[column].qualifier, *next) < 0))
	{
		*next = t->columns[column].qualifier;
		found = true;
	}
	return found ? WC_NEXT_COLUMN_AT : WC_NEXT_COLUMN_NONE;
}
