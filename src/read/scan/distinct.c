/*
 * read/scan/distinct.c: where the rows end that begin with the same parts of the key.
 */
#include "read/scan/distinct.h"

#include "rowkey/keycheck.h"

/* A seek costs about as much as so many rows.  If the last prefixes had more, fewer rows are tried. */
#define STEPS_MAX 16

struct WcDistinct
{
	WcKeyCheck	keys;
	uint32_t	nparts;			/* that are the same */
	bool		reversed;
	uint32_t	steps;			/* 1 .. STEPS_MAX */
	WcSlice    *parts;			/* work space, as scratch */
	WcBuf		scratch;
	WcBuf		prefix;			/* with which the row begins that was taken */
	WcBuf		behind;			/* the first key behind those with the prefix */
};

WcStatus
wc_distinct_create(WcArena *arena, const WcScan *scan, WcDistinct **distinct, WcError *err)
{
	WcDistinct *d;
	WcStatus	status;

	*distinct = NULL;
	if (scan->distinct_parts == 0)
		return WC_OK;
	d = wc_arena_alloc_zero(arena, sizeof(WcDistinct));
	if (d == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	status = wc_keycheck_decode(scan->distinct_keys, arena, &d->keys, err);
	if (status != WC_OK)
		return status;
	if (scan->distinct_parts >= d->keys.layout.nparts)
		return wc_error(err, WC_INVALID, "a scan wants the first rows with the same %u parts of a row key of %u",
						scan->distinct_parts, d->keys.layout.nparts);
	d->parts = wc_arena_alloc(arena, d->keys.layout.nparts * sizeof(WcSlice));
	if (d->parts == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	d->nparts = scan->distinct_parts;
	d->reversed = scan->reversed;
	d->steps = STEPS_MAX;
	*distinct = d;
	return WC_OK;
}

void
wc_distinct_free(WcDistinct *d)
{
	if (d == NULL)
		return;
	wc_buf_free(&d->scratch);
	wc_buf_free(&d->prefix);
	wc_buf_free(&d->behind);
}

bool
wc_distinct_take(WcDistinct *d, WcSlice row)
{
	WcSlice		prefix;
	WcError		err;

	if (wc_rowkey_prefix(&d->keys.layout, row, d->nparts, &d->scratch, d->parts, &prefix, &err) != WC_OK)
		return false;
	d->prefix.len = 0;
	wc_buf_append_slice(&d->prefix, prefix);
	d->behind.len = 0;			/* has room from here on */
	return !d->prefix.failed && wc_buf_reserve(&d->behind, prefix.len) != NULL;
}

bool
wc_distinct_covers(const WcDistinct *d, WcSlice row)
{
	return wc_slice_starts_with(row, wc_buf_slice(&d->prefix));
}

uint32_t
wc_distinct_steps(const WcDistinct *d)
{
	return d->steps;
}

bool
wc_distinct_behind(WcDistinct *d, WcSlice *row, bool *inclusive)
{
	*row = wc_buf_slice(&d->prefix);
	*inclusive = !d->reversed;
	if (d->reversed)
		return true;
	while (row->len > 0 && row->data[row->len - 1] == 0xFF)
		row->len--;
	if (row->len == 0)
		return false;
	d->behind.len = 0;
	wc_buf_append_slice(&d->behind, *row);
	d->behind.data[row->len - 1]++;
	*row = wc_buf_slice(&d->behind);
	return true;
}

void
wc_distinct_left(WcDistinct *d, bool sought)
{
	if (!sought)
		d->steps = STEPS_MAX;
	else if (d->steps > 1)
		d->steps /= 2;
}
