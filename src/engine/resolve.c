/*
 * engine/resolve.c: from operations to cells.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/coding.h"
#include "engine/matcher.h"
#include "engine/resolve.h"

/* Beyond so many comparisons a put takes a new timestamp without looking
 * whether a marker really covers it. */
#define COVER_CHECKS_MAX 4096

/* A marker without a timestamp of its own: later puts must not fall under it. */
typedef struct Mark
{
	bool		family;			/* every column; else qualifier */
	bool		exact;			/* ts alone; else up to ts */
	WcSlice		qualifier;
	int64_t		ts;
} Mark;

/* A column whose state an operation asks for. */
typedef struct Target
{
	WcSlice		qualifier;
	bool		prefix;			/* all that start with it */
	uint32_t	ndeletes;		/* newest versions to delete */
	uint32_t	nfound;			/* of them, so far */
} Target;

#define ARRAY(type) struct { type *data; size_t n; size_t cap; }

struct WcResolver
{
	WcResolverOptions options;
	WcMatcher  *matcher;		/* finds visible cells; made when first needed */

	WcSlice		row;
	int64_t		ts;				/* for cells without one */
	bool		sorted;			/* the cells before op_start are in order, none twice */
	size_t		op_start;		/* cells from here on are the current operation's puts */
	ARRAY(WcCell) cells;
	ARRAY(WcCell) room;			/* for sorting */
	ARRAY(Mark) marks;

	/* Of the current operation. */
	ARRAY(WcItem) deletes;		/* what is not a put */
	ARRAY(WcCell) markers;		/* what they come to */
	ARRAY(Target) targets;
	ARRAY(WcSlice) puts;		/* qualifiers put, sorted */
	ARRAY(WcSlice) excepts;		/* qualifiers a CLEAR_FAMILY leaves, sorted */
	bool		clear_family;
	ARRAY(int64_t) versions;	/* of the current column: timestamps not masked, newest first */
	WcArena		names;			/* qualifiers of markers that no item names; goes with the row */
};

/* Room for one more; false: out of memory. */
static bool
array_room(void **data, size_t n, size_t *cap, size_t size)
{
	size_t		new_cap = *cap ? 2 * *cap : 16;
	void	   *p;

	if (n < *cap)
		return true;
	p = realloc(*data, new_cap * size);
	if (p == NULL)
		return false;
	*data = p;
	*cap = new_cap;
	return true;
}

static WcStatus
resolve_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for the changes of a row");
}

/* Appends value to an array of r, or returns WC_NO_MEMORY from the function. */
#define PUSH(array, value) \
	do { \
		void	   *data_ = (array).data; \
		bool		good_ = array_room(&data_, (array).n, &(array).cap, sizeof(*(array).data)); \
		(array).data = data_; \
		if (!good_) \
			return resolve_memory(err); \
		(array).data[(array).n++] = (value); \
	} while (0)

WcStatus
wc_resolver_create(const WcResolverOptions *options, WcResolver **resolver, WcError *err)
{
	*resolver = calloc(1, sizeof(WcResolver));
	if (*resolver == NULL)
		return resolve_memory(err);
	(*resolver)->options = *options;
	return WC_OK;
}

void
wc_resolver_free(WcResolver *r)
{
	if (r == NULL)
		return;
	if (r->matcher)
		wc_matcher_free(r->matcher);
	free(r->cells.data);
	free(r->room.data);
	free(r->marks.data);
	free(r->deletes.data);
	free(r->markers.data);
	free(r->targets.data);
	free(r->puts.data);
	free(r->excepts.data);
	free(r->versions.data);
	wc_arena_free(&r->names);
	free(r);
}

void
wc_resolver_start(WcResolver *r, WcSlice row, int64_t ts)
{
	r->row = row;
	r->ts = ts;
	r->cells.n = 0;
	r->op_start = 0;
	r->sorted = true;
	r->marks.n = 0;
	r->deletes.n = 0;
	if (r->names.total > 0)
		wc_arena_reset(&r->names);
}

/* --- cells in order -------------------------------------------------------*/

/* By coordinates; what was written later is told by its place. */
static int
coordinates_cmp(const WcCell *a, const WcCell *b)
{
	int			c = wc_slice_cmp(a->qualifier, b->qualifier);

	if (c != 0)
		return c;
	if (a->ts != b->ts)
		return a->ts > b->ts ? -1 : 1;
	return (a->type < b->type) - (a->type > b->type);
}

static void
merge_cells(const WcCell *a, size_t na, const WcCell *b, size_t nb, WcCell *out)
{
	while (na > 0 && nb > 0)
	{
		if (coordinates_cmp(a, b) > 0)
		{
			*out++ = *b++;
			nb--;
		}
		else
		{
			*out++ = *a++;
			na--;
		}
	}
	memcpy(out, na > 0 ? a : b, (na + nb) * sizeof(WcCell));
}

static WcStatus
stable_sort(WcResolver *r, WcError *err)
{
	size_t		n = r->cells.n;

	if (r->room.cap < r->cells.cap)
	{
		WcCell	   *data = realloc(r->room.data, r->cells.cap * sizeof(WcCell));

		if (data == NULL)
			return resolve_memory(err);
		r->room.data = data;
		r->room.cap = r->cells.cap;
	}
	for (size_t width = 1; width < n; width *= 2)
	{
		WcCell	   *swap = r->cells.data;
		size_t		swap_cap = r->cells.cap;

		for (size_t i = 0; i < n; i += 2 * width)
		{
			size_t		na = n - i < width ? n - i : width;
			size_t		nb = n - i - na < width ? n - i - na : width;

			merge_cells(r->cells.data + i, na, r->cells.data + i + na, nb, r->room.data + i);
		}
		r->cells.data = r->room.data;
		r->cells.cap = r->room.cap;
		r->room.data = swap;
		r->room.cap = swap_cap;
	}
	return WC_OK;
}

/* Puts all cells in order; of equal coordinates the last written stays. */
static WcStatus
sort_cells(WcResolver *r, WcError *err)
{
	WcStatus	status;
	bool		in_order = true;
	bool		twice = false;
	size_t		n = 0;

	if (r->sorted)
		return WC_OK;
	for (size_t i = 1; i < r->cells.n && in_order; i++)
	{
		int			c = coordinates_cmp(&r->cells.data[i - 1], &r->cells.data[i]);

		in_order = c <= 0;
		twice |= c == 0;
	}
	if (!in_order)
	{
		status = stable_sort(r, err);
		if (status != WC_OK)
			return status;
	}
	for (size_t i = 0; (!in_order || twice) && i < r->cells.n; i++)
	{
		if (n > 0 && coordinates_cmp(&r->cells.data[n - 1], &r->cells.data[i]) == 0)
			n--;
		r->cells.data[n++] = r->cells.data[i];
	}
	if (!in_order || twice)
		r->cells.n = n;
	r->sorted = true;
	return WC_OK;
}

/* --- the state before the operation ---------------------------------------
 *
 * A walk merges what is stored of the row with the cells of the transaction's
 * earlier operations, which are in order then.
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
	return status == WC_END ? WC_OK : status;
}

static WcStatus
walk_open(Walk *w, WcResolver *r, size_t n, WcError *err)
{
	WcStatus	status = r->options.base(r->options.arg, r->row, &w->base, err);

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
			.horizon_ts = INT64_MAX,.earliest_put_ts = INT64_MIN
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
	if (own == NULL || coordinates_cmp(&w->base_cell, own) < 0)
		return &w->base_cell;
	return own;
}

static WcStatus
walk_step(Walk *w, const WcCell *cell, WcError *err)
{
	if (cell == &w->base_cell)
		return walk_base_next(w, err);
	w->at++;

	/* the transaction's cell replaces what is stored at the same place */
	if (w->base_valid && coordinates_cmp(&w->base_cell, cell) == 0)
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
		return resolve_memory(err);
	column = wc_buf_slice(qualifier);
	while ((cell = walk_cell(w)) != NULL && wc_slice_eq(cell->qualifier, column))
	{
		uint32_t	colno;
		WcMatch		match = wc_matcher_match(r->matcher, cell, &colno);
		WcStatus	status;

		if (match == WC_MATCH_FAILED)
			return resolve_memory(err);
		if (match == WC_MATCH_INCLUDE || match == WC_MATCH_INCLUDE_NEXT_COLUMN)
			PUSH(r->versions, cell->ts);
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
wc_resolver_exists(WcResolver *r, bool *exists, WcError *err)
{
	WcBuf		qualifier = WC_BUF_INIT;
	Walk		w;
	WcStatus	status = sort_cells(r, err);

	*exists = false;
	if (status == WC_OK)
		status = walk_open(&w, r, r->cells.n, err);
	while (status == WC_OK && !*exists && walk_cell(&w) != NULL)
	{
		status = walk_column(&w, &qualifier, err);
		*exists = status == WC_OK && r->versions.n > 0;
	}
	r->op_start = r->cells.n;
	wc_buf_free(&qualifier);
	return status;
}

/* --- operations: collecting ----------------------------------------------- */

WcStatus
wc_resolver_item(WcResolver *r, const WcItem *item, WcError *err)
{
	WcCell		cell;

	if (item->kind != WC_ITEM_PUT)
	{
		PUSH(r->deletes, *item);
		return WC_OK;
	}
	cell.row = r->row;
	cell.family = r->options.family;
	cell.type = WC_PUT;
	cell.qualifier = item->qualifier;
	cell.ts = item->ts;
	cell.ttl_us = item->ttl_us;
	cell.seq = 0;
	cell.value = item->value;
	PUSH(r->cells, cell);
	return WC_OK;
}

static WcStatus
add_marker(WcResolver *r, uint8_t type, WcSlice qualifier, int64_t ts, bool timeless, WcError *err)
{
	WcCell		cell = {
		.row = r->row,.family = r->options.family,.type = type,.qualifier = qualifier,.ts = ts,.seq = r->ts
	};

	PUSH(r->markers, cell);
	if (timeless)
	{
		Mark		mark = {
			.family = type == WC_DELETE_FAMILY || type == WC_DELETE_FAMILY_VERSION,
			.exact = type == WC_DELETE || type == WC_DELETE_FAMILY_VERSION,
			.qualifier = qualifier,.ts = ts
		};

		PUSH(r->marks, mark);
	}
	return WC_OK;
}

static int
slice_qsort_cmp(const void *a, const void *b)
{
	return wc_slice_cmp(*(const WcSlice *) a, *(const WcSlice *) b);
}

static bool
slices_have(const WcSlice *slices, size_t n, WcSlice s)
{
	return n > 0 && bsearch(&s, slices, n, sizeof(WcSlice), slice_qsort_cmp) != NULL;
}

static int
target_cmp(const void *a, const void *b)
{
	const Target *x = a;
	const Target *y = b;
	int			c = wc_slice_cmp(x->qualifier, y->qualifier);

	return c != 0 ? c : (int) y->prefix - (int) x->prefix;
}

/* What of the operation is sure at once becomes markers; the rest targets. */
static WcStatus
take_deletes(WcResolver *r, bool *state_needed, WcError *err)
{
	r->markers.n = r->targets.n = r->excepts.n = 0;
	r->clear_family = false;
	*state_needed = false;
	for (size_t i = 0; i < r->deletes.n; i++)
	{
		const WcItem *item = &r->deletes.data[i];
		bool		timeless = item->ts == WC_TS_LATEST;
		Target		target = {.qualifier = item->qualifier};
		WcDecoder	d = wc_decoder(item->except);
		WcStatus	status = WC_OK;

		switch (item->kind)
		{
			case WC_ITEM_DELETE:
				if (!timeless)
				{
					status = add_marker(r, item->kind, item->qualifier, item->ts, false, err);
					break;
				}
				target.ndeletes = 1;
				PUSH(r->targets, target);
				break;
			case WC_ITEM_DELETE_FAMILY_VERSION:
			case WC_ITEM_DELETE_COLUMN:
			case WC_ITEM_DELETE_FAMILY:
				status = add_marker(r, item->kind, item->qualifier, timeless ? r->ts : item->ts, timeless, err);
				break;
			case WC_ITEM_CLEAR_PREFIX:
				target.prefix = true;
				PUSH(r->targets, target);
				break;
			case WC_ITEM_CLEAR_COLUMN:
				PUSH(r->targets, target);
				break;
			case WC_ITEM_CLEAR_FAMILY:
				if (r->clear_family)
					return wc_error(err, WC_INVALID, "a row operation clears a family twice");
				r->clear_family = true;
				for (uint32_t j = 0; j < item->nexcept; j++)
					PUSH(r->excepts, wc_decode_bytes(&d));
				break;
			default:
				return wc_error(err, WC_CORRUPT, "a row operation has an item of unknown kind %u", item->kind);
		}
		if (status != WC_OK)
			return status;
	}
	*state_needed = r->targets.n > 0 || r->clear_family;
	return WC_OK;
}

/* Sorts what the walk looks up, and makes one target of those that are alike. */
static WcStatus
sort_targets(WcResolver *r, WcError *err)
{
	size_t		n = 0;

	r->puts.n = 0;
	for (size_t i = r->op_start; i < r->cells.n; i++)
		PUSH(r->puts, r->cells.data[i].qualifier);
	if (r->puts.n > 1)
		qsort(r->puts.data, r->puts.n, sizeof(WcSlice), slice_qsort_cmp);
	if (r->excepts.n > 1)
		qsort(r->excepts.data, r->excepts.n, sizeof(WcSlice), slice_qsort_cmp);
	if (r->targets.n > 1)
		qsort(r->targets.data, r->targets.n, sizeof(Target), target_cmp);
	for (size_t i = 0; i < r->targets.n; i++)
	{
		Target	   *t = &r->targets.data[i];

		/* deletes of versions and a clear of the same column: the clear does both */
		if (n > 0 && target_cmp(&r->targets.data[n - 1], t) == 0)
		{
			Target	   *last = &r->targets.data[n - 1];

			last->ndeletes = last->ndeletes == 0 || t->ndeletes == 0 ? 0 : last->ndeletes + t->ndeletes;
		}
		else
			r->targets.data[n++] = *t;
	}
	r->targets.n = n;
	return WC_OK;
}

/* --- operations: deciding ------------------------------------------------- */

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
		status = add_marker(r, WC_DELETE, qualifier, r->versions.data[i], true, err);
		if (status != WC_OK)
			return status;
	}
	return older ? add_marker(r, WC_DELETE_COLUMN, qualifier, r->ts, true, err) : WC_OK;
}

static WcStatus
delete_versions(WcResolver *r, Target *target, WcError *err)
{
	size_t		visible = r->versions.n < r->options.attrs.versions ? r->versions.n : r->options.attrs.versions;

	for (; target->nfound < target->ndeletes && target->nfound < visible; target->nfound++)
	{
		WcStatus	status = add_marker(r, WC_DELETE, target->qualifier, r->versions.data[target->nfound], true, err);

		if (status != WC_OK)
			return status;
	}
	return WC_OK;
}

static bool
is_cleared(const WcResolver *r, const Target *exact, WcSlice qualifier)
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
	Target		key = {.qualifier = wc_buf_slice(scratch)};
	Target	   *exact = NULL;

	if (status != WC_OK || r->versions.n == 0)
		return status;
	if (r->targets.n > 0)
		exact = bsearch(&key, r->targets.data, r->targets.n, sizeof(Target), target_cmp);
	if (is_cleared(r, exact, key.qualifier))
	{
		WcSlice		qualifier = wc_arena_copy(&r->names, key.qualifier);

		if (qualifier.data == NULL && qualifier.len > 0)
			return resolve_memory(err);
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
		const Target *t = &r->targets.data[i];

		status = walk_seek(w, t->qualifier, false, err);
		while (status == WC_OK && (cell = walk_cell(w)) != NULL &&
			   (t->prefix ? wc_slice_starts_with(cell->qualifier, t->qualifier)
				: wc_slice_eq(cell->qualifier, t->qualifier)))
			status = decide_column(w, scratch, err);
	}
	return status;
}

/* Makes markers of what depends on the state before the operation. */
static WcStatus
decide_by_state(WcResolver *r, WcError *err)
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
		const Target *t = &r->targets.data[i];

		if (t->nfound < t->ndeletes)
			status = add_marker(r, WC_DELETE, t->qualifier, r->ts, true, err);
	}
	return status;
}

/* --- operations: their end ------------------------------------------------ */

static bool
mark_covers(const Mark *mark, int64_t ts, WcSlice qualifier)
{
	if (mark->exact ? mark->ts != ts : mark->ts < ts)
		return false;
	return mark->family || wc_slice_eq(mark->qualifier, qualifier);
}

/* Takes later timestamps until no put of this operation falls under a marker of
 * the transaction; then forgets markers that no later put can fall under. */
static void
leave_marks(WcResolver *r)
{
	size_t		nputs = r->cells.n - r->op_start;
	bool		look = r->marks.n * nputs <= COVER_CHECKS_MAX;
	size_t		n = 0;
	bool		again = nputs > 0;

	while (again)
	{
		again = false;
		for (size_t m = 0; m < r->marks.n && !again; m++)
		{
			const Mark *mark = &r->marks.data[m];

			again = !look && mark_covers(mark, r->ts, mark->qualifier);
			for (size_t i = r->op_start; look && i < r->cells.n && !again; i++)
				again = r->cells.data[i].ts == WC_TS_LATEST &&
					mark_covers(mark, r->ts, r->cells.data[i].qualifier);
			if (again)
				r->ts = mark->ts + 1;
		}
	}
	for (size_t m = 0; m < r->marks.n; m++)
	{
		if (r->marks.data[m].ts >= r->ts)
			r->marks.data[n++] = r->marks.data[m];
	}
	r->marks.n = n;
}

/* The earlier cells must be in order before the state is asked for; sorting
 * moves the puts of this operation, so they wait aside. */
static WcStatus
sort_before_op(WcResolver *r, WcError *err)
{
	size_t		nputs = r->cells.n - r->op_start;
	WcCell	   *puts = NULL;
	WcStatus	status;

	if (r->sorted)
		return WC_OK;
	if (nputs > 0)
	{
		puts = malloc(nputs * sizeof(WcCell));
		if (puts == NULL)
			return resolve_memory(err);
		memcpy(puts, r->cells.data + r->op_start, nputs * sizeof(WcCell));
	}
	r->cells.n = r->op_start;
	status = sort_cells(r, err);
	r->op_start = r->cells.n;
	if (status == WC_OK && nputs > 0)
	{
		/* there were as many before */
		memcpy(r->cells.data + r->cells.n, puts, nputs * sizeof(WcCell));
		r->cells.n += nputs;
	}
	free(puts);
	return status;
}

WcStatus
wc_resolver_end_op(WcResolver *r, WcError *err)
{
	bool		state_needed = false;
	WcStatus	status = WC_OK;

	r->markers.n = 0;
	if (r->deletes.n > 0)
	{
		status = take_deletes(r, &state_needed, err);
		if (status == WC_OK && state_needed)
			status = sort_before_op(r, err);
		if (status == WC_OK && state_needed)
			status = decide_by_state(r, err);
		r->deletes.n = 0;
	}
	if (status != WC_OK)
		return status;
	if (r->marks.n > 0)
		leave_marks(r);
	for (size_t i = r->op_start; i < r->cells.n; i++)
	{
		if (r->cells.data[i].ts == WC_TS_LATEST)
			r->cells.data[i].ts = r->ts;
		r->cells.data[i].seq = r->ts;
	}
	for (size_t i = 0; i < r->markers.n; i++)
		PUSH(r->cells, r->markers.data[i]);
	r->sorted = r->sorted && r->cells.n == r->op_start;
	r->op_start = r->cells.n;
	return WC_OK;
}

WcStatus
wc_resolver_finish(WcResolver *r, WcResolved *resolved, WcError *err)
{
	WcStatus	status = sort_cells(r, err);

	if (status != WC_OK)
		return status;
	r->op_start = r->cells.n;
	resolved->cells = r->cells.data;
	resolved->n = r->cells.n;
	resolved->last_ts = r->ts;
	resolved->simple = true;
	for (size_t i = 0; i < r->cells.n && resolved->simple; i++)
	{
		const WcCell *cell = &r->cells.data[i];

		resolved->simple = cell->type == WC_PUT && cell->ttl_us == 0 &&
			(i == 0 || !wc_slice_eq(cell[-1].qualifier, cell->qualifier));
	}
	return WC_OK;
}
