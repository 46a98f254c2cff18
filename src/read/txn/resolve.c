/*
 * read/txn/resolve.c: from operations to cells.
 */
#include <stdlib.h>

#include "base/coding.h"
#include "read/txn/resolver.h"

/* After so many comparisons a put takes a new timestamp without a check whether a marker masks it. */
#define COVER_CHECKS_MAX 4096

/* Up to so many cells after the sorted ones are inserted one by one. */
#define FEW_CELLS 8

WcStatus
wc_resolver_create(const WcResolverOptions *options, WcResolver **resolver, WcError *err)
{
	*resolver = calloc(1, sizeof(WcResolver));
	if (*resolver == NULL)
		return wc_resolver_memory(err);
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
	r->nsorted = 0;
	r->based = false;
	r->stored_ts = INT64_MIN;
	r->marks.n = 0;
	r->deletes.n = 0;
	if (r->names.total > 0)
		wc_arena_reset(&r->names);
}

/* --- cells in order -------------------------------------------------------*/

static void
merge_cells(const WcCell *a, size_t na, const WcCell *b, size_t nb, WcCell *out)
{
	while (na > 0 && nb > 0)
	{
		if (wc_coordinates_cmp(a, b) > 0)
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
			return wc_resolver_memory(err);
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

/* Where a cell of these coordinates stands, or belongs, among the first n, which are in order. */
static size_t
cell_place(const WcResolver *r, size_t n, const WcCell *cell, bool *found)
{
	size_t		lo = 0,
				hi = n;

	*found = false;
	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;
		int			c = wc_coordinates_cmp(&r->cells.data[mid], cell);

		*found |= c == 0;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Puts a cell among the first n, which are in order; how many they are then.  There is room. */
static size_t
insert_cell(WcResolver *r, size_t n, WcCell cell)
{
	bool		found;
	size_t		at = cell_place(r, n, &cell, &found);

	if (!found)
		memmove(&r->cells.data[at + 1], &r->cells.data[at], (n - at) * sizeof(WcCell));
	r->cells.data[at] = cell;
	return n + !found;
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
	if (r->cells.n - r->nsorted <= FEW_CELLS)
	{
		n = r->nsorted;
		for (size_t i = r->nsorted; i < r->cells.n; i++)
			n = insert_cell(r, n, r->cells.data[i]);
		r->cells.n = r->nsorted = n;
		r->sorted = true;
		return WC_OK;
	}
	for (size_t i = 1; i < r->cells.n && in_order; i++)
	{
		int			c = wc_coordinates_cmp(&r->cells.data[i - 1], &r->cells.data[i]);

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
		if (n > 0 && wc_coordinates_cmp(&r->cells.data[n - 1], &r->cells.data[i]) == 0)
			n--;
		r->cells.data[n++] = r->cells.data[i];
	}
	if (!in_order || twice)
		r->cells.n = n;
	r->nsorted = r->cells.n;
	r->sorted = true;
	return WC_OK;
}

/* --- operations: collecting ----------------------------------------------- */

WcStatus
wc_resolver_item(WcResolver *r, const WcItem *item, WcError *err)
{
	WcCell		cell;

	if (item->kind != WC_ITEM_PUT)
	{
		WC_PUSH(r->deletes, *item);
		return WC_OK;
	}

	/* A put whose own TTL has ended already: no read would return it, but it would replace a put of the same timestamp. */
	if (item->ttl_us > 0 && wc_ttl_end(item->ts, item->ttl_us) <= r->options.now_us)
		return WC_OK;
	cell.row = r->row;
	cell.family = r->options.family;
	cell.type = WC_PUT;
	cell.qualifier = item->qualifier;
	cell.ts = item->ts;
	cell.ttl_us = item->ttl_us;
	cell.seq = 0;
	cell.value = item->value;
	WC_PUSH(r->cells, cell);
	return WC_OK;
}

/* Parts of the operation that do not depend on the state become markers at once; the others become targets. */
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
		WcTarget	target = {.qualifier = item->qualifier};
		WcDecoder	d = wc_decoder(item->except);
		WcStatus	status = WC_OK;

		switch (item->kind)
		{
			case WC_ITEM_DELETE:
				if (!timeless)
				{
					status = wc_resolver_add_marker(r, item->kind, item->qualifier, item->ts, false, err);
					break;
				}
				target.ndeletes = 1;
				WC_PUSH(r->targets, target);
				break;
			case WC_ITEM_DELETE_FAMILY_VERSION:
			case WC_ITEM_DELETE_COLUMN:
			case WC_ITEM_DELETE_FAMILY:
				status = wc_resolver_add_marker(r, item->kind, item->qualifier, timeless ? r->ts : item->ts, timeless, err);
				break;
			case WC_ITEM_CLEAR_PREFIX:
				target.prefix = true;
				WC_PUSH(r->targets, target);
				break;
			case WC_ITEM_CLEAR_COLUMN:
				WC_PUSH(r->targets, target);
				break;
			case WC_ITEM_CLEAR_FAMILY:
				if (r->clear_family)
					return wc_error(err, WC_CORRUPT, "a row operation clears a family twice");
				r->clear_family = true;
				for (uint32_t j = 0; j < item->nexcept; j++)
					WC_PUSH(r->excepts, wc_decode_bytes(&d));
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

/* --- operations: their end ------------------------------------------------ */

static bool
mark_covers(const WcMark *mark, int64_t ts, WcSlice qualifier)
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
			const WcMark *mark = &r->marks.data[m];

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
sort_before(WcResolver *r, WcError *err)
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
			return wc_resolver_memory(err);
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
wc_resolver_exists(WcResolver *r, bool *exists, WcError *err)
{
	WcStatus	status = sort_before(r, err);

	*exists = false;
	return status == WC_OK ? wc_resolver_find_visible(r, exists, err) : status;
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
			status = sort_before(r, err);
		if (status == WC_OK && state_needed)
			status = wc_resolver_decide(r, err);
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
		WC_PUSH(r->cells, r->markers.data[i]);
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
	return WC_OK;
}

bool
wc_resolved_is_simple(const WcResolved *resolved)
{
	bool		simple = true;

	for (size_t i = 0; i < resolved->n && simple; i++)
	{
		const WcCell *cell = &resolved->cells[i];

		simple = cell->type == WC_PUT && cell->ttl_us == 0 &&
			(i == 0 || !wc_slice_eq(cell[-1].qualifier, cell->qualifier));
	}
	return simple;
}

/* --- going on with a resolved row -------------------------------------------- */

void
wc_resolver_go_on(WcResolver *r, int64_t now_us, void *arg)
{
	r->options.arg = arg;
	if (r->matcher != NULL && r->options.now_us != now_us)
	{
		/* it has computed TTLs for the old time */
		wc_matcher_free(r->matcher);
		r->matcher = NULL;
	}
	r->options.now_us = now_us;
}

bool
wc_resolver_is_based(const WcResolver *r)
{
	return r->based;
}

bool
wc_resolver_has_marks(const WcResolver *r)
{
	return r->marks.n > 0;
}

bool
wc_resolver_retime(WcResolver *r, int64_t from, int64_t to, bool dated)
{
	int64_t		later = to - from;

	if (r->stored_ts >= from)
		return false;
	for (size_t i = 0; i < r->cells.n; i++)
	{
		WcCell	   *cell = &r->cells.data[i];

		cell->seq += later;
		if (!dated && cell->ts >= from)
			cell->ts += later;
	}
	for (size_t i = 0; i < r->marks.n; i++)
	{
		if (r->marks.data[i].ts >= from)
			r->marks.data[i].ts += later;
	}
	r->ts += later;
	return true;
}

WcStatus
wc_resolver_put(WcResolver *r, const WcItem *item, WcCell *before, bool *existed, WcError *err)
{
	WcCell		cell = {
		.row = r->row,.family = r->options.family,.type = WC_PUT,.qualifier = item->qualifier,.ts = r->ts,
		.ttl_us = item->ttl_us,.seq = r->ts,.value = item->value
	};
	size_t		at;

	if (item->kind != WC_ITEM_PUT || item->ts != WC_TS_LATEST || !r->sorted || r->marks.n > 0)
		return wc_error(err, WC_INTERNAL, "a put that depends on others was taken alone");
	at = cell_place(r, r->cells.n, &cell, existed);
	if (*existed)
	{
		*before = r->cells.data[at];
		r->cells.data[at] = cell;
		return WC_OK;
	}
	*before = cell;
	WC_PUSH(r->cells, cell);
	r->op_start = r->nsorted = insert_cell(r, r->cells.n - 1, cell);
	return WC_OK;
}

void
wc_resolver_take_back(WcResolver *r, const WcCell *before, bool existed)
{
	WcCell		cell = *before;
	bool		found;
	size_t		at;

	cell.row = r->row;
	cell.ts = cell.seq = r->ts;
	at = cell_place(r, r->cells.n, &cell, &found);
	if (existed)
		r->cells.data[at] = cell;
	else
	{
		memmove(&r->cells.data[at], &r->cells.data[at + 1], (r->cells.n - at - 1) * sizeof(WcCell));
		r->op_start = r->nsorted = --r->cells.n;
	}
}
