/*
 * read/txn/resolvestate.c: the cells of a row before an operation, and the markers that its clears and deletes
 * of versions become.
 */
#include <assert.h>

#include "read/txn/resolver.h"

/* --- the state before the operation ---------------------------------------
 *
 * A walk merges the stored cells of the row with the cells of the transaction's earlier operations, which are sorted
 * before.
 */
typedef struct Walk
{
	WcResolver *r;
	WcCellSource *base;
	WcCell		base_cell;
	bool		base_valid;
	const WcCell *own;			/* cells of the transaction: first n */
	size_t		n;
	size_t		at;
} Walk;

static WcStatus
walk_base_next(Walk *w, WcError *err)
{
	WcStatus	status;

	w->base_valid = false;
	if (w->base == NULL)
		return WC_OK;
	status = w->base->ops->next_cell(w->base, &w->base_cell, err);
	w->base_valid = status == WC_OK;
	if (w->base_valid && w->base_cell.ts > w->r->stored_ts)
		w->r->stored_ts = w->base_cell.ts;
	return status == WC_END ? WC_OK : status;
}

static WcStatus
walk_open(Walk *w, WcResolver *r, size_t n, WcError *err)
{
	WcStatus	status = r->options.base(r->options.arg, r->row, &w->base, err);

	r->based = true;
	if (status != WC_OK)
		return status;
	w->r = r;
	w->own = r->cells.data;
	w->n = n;
	w->at = 0;
	if (r->matcher == NULL)
	{
		WcMatcherOptions options = {
			.mode = WC_MATCH_READ,.attrs = r->options.attrs,.now_us = r->options.now_us,
			.versions = WC_VERSIONS_MAX,.ts_min = 0,.ts_max = WC_TS_LATEST,
			.dated_until_ts = INT64_MAX,.earliest_put_ts = INT64_MIN
		};

		/* every version that is not masked; callers count to VERSIONS */
		options.attrs.versions = WC_VERSIONS_MAX;
		status = wc_matcher_create(&options, &r->matcher, err);
		if (status != WC_OK)
			return status;
	}
	wc_matcher_start_row(r->matcher);
	return walk_base_next(w, err);
}

/* The next cell (not stepping over it): NULL at the end. */
static const WcCell *
walk_cell(const Walk *w)
{
	const WcCell *own = w->at < w->n ? &w->own[w->at] : NULL;

	if (!w->base_valid)
		return own;
	if (own == NULL || wc_coordinates_cmp(&w->base_cell, own) < 0)
		return &w->base_cell;
	return own;
}

static WcStatus
walk_step(Walk *w, const WcCell *cell, WcError *err)
{
	if (cell == &w->base_cell)
		return walk_base_next(w, err);
	w->at++;

	/* the transaction's cell replaces a stored one of the same coordinates */
	if (w->base_valid && wc_coordinates_cmp(&w->base_cell, cell) == 0)
		return walk_base_next(w, err);
	return WC_OK;
}

/* To the first cell at or (after) behind the column. */
static WcStatus
walk_seek(Walk *w, WcSlice qualifier, bool after, WcError *err)
{
	size_t		lo = w->at,
				hi = w->n;

	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;
		int			c = wc_slice_cmp(w->own[mid].qualifier, qualifier);

		if (c < 0 || (c == 0 && after))
			lo = mid + 1;
		else
			hi = mid;
	}
	w->at = lo;
	if (w->base_valid)
	{
		int			c = wc_slice_cmp(w->base_cell.qualifier, qualifier);
		WcStatus	status;

		if (c > 0 || (c == 0 && !after))
			return WC_OK;
		status = w->base->ops->seek_column(w->base, qualifier, after, err);
		if (status != WC_OK && status != WC_END)
			return status;
		return walk_base_next(w, err);
	}
	return WC_OK;
}

/*
 * Reads the column the walk stands in: its versions that are not masked go to
 * r->versions, its qualifier to *qualifier (copied: valid until the next one).
 */
static WcStatus
walk_column(Walk *w, WcBuf *qualifier, WcError *err)
{
	WcResolver *r = w->r;
	const WcCell *cell = walk_cell(w);
	WcSlice		column;

	r->versions.n = 0;
	wc_buf_reset(qualifier, SIZE_MAX);
	wc_buf_append_slice(qualifier, cell->qualifier);
	if (qualifier->failed)
		return wc_resolver_memory(err);
	column = wc_buf_slice(qualifier);
	while ((cell = walk_cell(w)) != NULL && wc_slice_eq(cell->qualifier, column))
	{
		uint32_t	colno;
		WcMatch		match = wc_matcher_match(r->matcher, cell, &colno);
		WcStatus	status;

		if (match == WC_MATCH_FAILED)
			return wc_resolver_memory(err);
		if (match == WC_MATCH_INCLUDE || match == WC_MATCH_INCLUDE_NEXT_COLUMN)
			WC_PUSH(r->versions, cell->ts);
		if (match == WC_MATCH_INCLUDE || match == WC_MATCH_SKIP)
			status = walk_step(w, cell, err);
		else
			status = walk_seek(w, column, true, err);
		if (status != WC_OK)
			return status;
	}
	return WC_OK;
}

WcStatus
wc_resolver_find_visible(WcResolver *r, bool *found, WcError *err)
{
	WcBuf		qualifier = WC_BUF_INIT;
	Walk		w;
	WcStatus	status = walk_open(&w, r, r->cells.n, err);

	*found = false;
	while (status == WC_OK && !*found && walk_cell(&w) != NULL)
	{
		status = walk_column(&w, &qualifier, err);
		*found = status == WC_OK && r->versions.n > 0;
	}
	wc_buf_free(&qualifier);
	return status;
}

/* --- markers -------------------------------------------------------------- */

WcStatus
wc_resolver_add_marker(WcResolver *r, uint8_t type, WcSlice qualifier, int64_t ts, bool timeless, WcError *err)
{
	WcCell		cell = {
		.row = r->row,.family = r->options.family,.type = type,.qualifier = qualifier,.ts = ts,.seq = r->ts
	};

	WC_PUSH(r->markers, cell);
	if (timeless)
	{
		WcMark		mark = {
			.family = type == WC_DELETE_FAMILY || type == WC_DELETE_FAMILY_VERSION,
			.exact = type == WC_DELETE || type == WC_DELETE_FAMILY_VERSION,
			.qualifier = qualifier,.ts = ts
		};

		WC_PUSH(r->marks, mark);
	}
	return WC_OK;
}

/* --- targets -------------------------------------------------------------- */

static bool
slices_have(const WcSlice *slices, size_t n, WcSlice s)
{
	return n > 0 && bsearch(&s, slices, n, sizeof(WcSlice), wc_slice_compare) != NULL;
}

static int
target_cmp(const void *a, const void *b)
{
	const WcTarget *x = a;
	const WcTarget *y = b;
	int			c = wc_slice_cmp(x->qualifier, y->qualifier);

	return c != 0 ? c : (int) y->prefix - (int) x->prefix;
}

/* Sorts the targets, and removes duplicates. */
static WcStatus
sort_targets(WcResolver *r, WcError *err)
{
	size_t		n = 0;

	r->puts.n = 0;
	for (size_t i = r->op_start; i < r->cells.n; i++)
		WC_PUSH(r->puts, r->cells.data[i].qualifier);
	if (r->puts.n > 1)
		qsort(r->puts.data, r->puts.n, sizeof(WcSlice), wc_slice_compare);
	if (r->excepts.n > 1)
		qsort(r->excepts.data, r->excepts.n, sizeof(WcSlice), wc_slice_compare);
	if (r->targets.n > 1)
		qsort(r->targets.data, r->targets.n, sizeof(WcTarget), target_cmp);
	for (size_t i = 0; i < r->targets.n; i++)
	{
		WcTarget	   *t = &r->targets.data[i];

		/* deletes of versions and a clear of the same column: the clear does both */
		if (n > 0 && target_cmp(&r->targets.data[n - 1], t) == 0)
		{
			WcTarget	   *last = &r->targets.data[n - 1];

			last->ndeletes = last->ndeletes == 0 || t->ndeletes == 0 ? 0 : last->ndeletes + t->ndeletes;
		}
		else
			r->targets.data[n++] = *t;
	}
	r->targets.n = n;
	return WC_OK;
}

static WcStatus
clear_column(WcResolver *r, WcSlice qualifier, WcError *err)
{
	bool		older = false;

	if (slices_have(r->puts.data, r->puts.n, qualifier))
		return WC_OK;

	/* A marker of now does not reach versions dated later: those one by one. */
	for (size_t i = 0; i < r->versions.n; i++)
	{
		WcStatus	status;

		if (r->versions.data[i] <= r->ts)
		{
			older = true;
			break;
		}
		status = wc_resolver_add_marker(r, WC_DELETE, qualifier, r->versions.data[i], true, err);
		if (status != WC_OK)
			return status;
	}
	return older ? wc_resolver_add_marker(r, WC_DELETE_COLUMN, qualifier, r->ts, true, err) : WC_OK;
}

static WcStatus
delete_versions(WcResolver *r, WcTarget *target, WcError *err)
{
	size_t		visible = r->versions.n < r->options.attrs.versions ? r->versions.n : r->options.attrs.versions;

	for (; target->nfound < target->ndeletes && target->nfound < visible; target->nfound++)
	{
		WcStatus	status = wc_resolver_add_marker(r, WC_DELETE, target->qualifier, r->versions.data[target->nfound], true, err);

		if (status != WC_OK)
			return status;
	}
	return WC_OK;
}

static bool
is_cleared(const WcResolver *r, const WcTarget *exact, WcSlice qualifier)
{
	if (exact && exact->ndeletes == 0)
		return true;
	if (r->clear_family && !slices_have(r->excepts.data, r->excepts.n, qualifier))
		return true;
	for (size_t i = 0; i < r->targets.n; i++)
	{
		if (r->targets.data[i].prefix && wc_slice_starts_with(qualifier, r->targets.data[i].qualifier))
			return true;
	}
	return false;
}

/* Reads the column the walk stands in, and makes the markers it calls for. */
static WcStatus
decide_column(Walk *w, WcBuf *scratch, WcError *err)
{
	WcResolver *r = w->r;
	WcStatus	status = walk_column(w, scratch, err);
	WcTarget	key = {.qualifier = wc_buf_slice(scratch)};
	WcTarget	   *exact = NULL;

	if (status != WC_OK || r->versions.n == 0)
		return status;
	if (r->targets.n > 0)
		exact = bsearch(&key, r->targets.data, r->targets.n, sizeof(WcTarget), target_cmp);
	if (is_cleared(r, exact, key.qualifier))
	{
		WcSlice		qualifier = wc_arena_copy(&r->names, key.qualifier);

		if (qualifier.data == NULL && qualifier.len > 0)
			return wc_resolver_memory(err);
		return clear_column(r, qualifier, err);
	}
	return exact ? delete_versions(r, exact, err) : WC_OK;
}

static WcStatus
decide_targets(Walk *w, WcBuf *scratch, WcError *err)
{
	WcResolver *r = w->r;
	const WcCell *cell = walk_cell(w);
	WcStatus	status = WC_OK;

	/* markers of the whole family stand with the empty qualifier, first of all */
	if (cell && cell->qualifier.len == 0)
		status = decide_column(w, scratch, err);
	for (size_t i = 0; status == WC_OK && i < r->targets.n; i++)
	{
		const WcTarget *t = &r->targets.data[i];

		status = walk_seek(w, t->qualifier, false, err);
		while (status == WC_OK && (cell = walk_cell(w)) != NULL &&
			   (t->prefix ? wc_slice_starts_with(cell->qualifier, t->qualifier)
				: wc_slice_eq(cell->qualifier, t->qualifier)))
			status = decide_column(w, scratch, err);
	}
	return status;
}

/* Makes the markers that depend on the state before the operation. */
WcStatus
wc_resolver_decide(WcResolver *r, WcError *err)
{
	WcBuf		scratch = WC_BUF_INIT;
	size_t		ncells = r->cells.n;
	Walk		w;
	WcStatus	status = sort_targets(r, err);

	if (status == WC_OK)
		status = walk_open(&w, r, r->op_start, err);
	if (status == WC_OK && !r->clear_family)
		status = decide_targets(&w, &scratch, err);
	while (status == WC_OK && r->clear_family && walk_cell(&w) != NULL)
		status = decide_column(&w, &scratch, err);
	wc_buf_free(&scratch);
	assert(r->cells.n == ncells);

	/* deletes of versions that are not there: markers of now, as HBase has it */
	for (size_t i = 0; status == WC_OK && i < r->targets.n; i++)
	{
		const WcTarget *t = &r->targets.data[i];

		if (t->nfound < t->ndeletes)
			status = wc_resolver_add_marker(r, WC_DELETE, t->qualifier, r->ts, true, err);
	}
	return status;
}

