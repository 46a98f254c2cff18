/*
 * read/txn/txnview.c: views: a transaction's row operations row by row, as one scanner sees them.
 */
#include <stdlib.h>

#include "read/txn/txnstate.h"

struct WcTxnView
{
	WcTxn	   *txn;
	WcTxnViewLink link;
	uint32_t	table_id;
	uint32_t	cid;
	bool		reversed;
	uint64_t	void_before;	/* operations that begin before it are void */
	size_t		nruns;
	WcTxnRun  **runs;			/* references */

	/* Of each run: the part that is the table's, and the place between those
	 * entries where the view stands. */
	size_t	   *lo;
	size_t	   *hi;
	size_t	   *at;

	const WcTxnEntry **found;	/* of the current row */
	size_t		found_cap;
	uint32_t	passed_cid;		/* least cid among those that were passed over for their cids */
};

/* Compares table and row only; prefix: the row's. */
static int
compare_row(const WcTxnEntry *a, uint32_t table_id, uint64_t prefix, WcSlice row)
{
	if (a->table_id != table_id)
		return a->table_id < table_id ? -1 : 1;
	if (a->prefix != prefix)
		return a->prefix < prefix ? -1 : 1;
	return wc_slice_cmp(wc_txnentry_row(a), row);
}

/* The first entry of the run that is not before (behind, when after) the row. */
static size_t
run_bound(const WcTxnRun *run, size_t lo, size_t hi, uint32_t table_id, WcSlice row, bool after)
{
	uint64_t	prefix = wc_txnentry_prefix(row);

	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;
		int			c = compare_row(&run->entries[mid], table_id, prefix, row);

		if (c < 0 || (c == 0 && after))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The first entry of tables greater than table_id. */
static size_t
run_table_end(const WcTxnRun *run, uint32_t table_id)
{
	size_t		lo = 0,
				hi = run->n;

	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;

		if (run->entries[mid].table_id <= table_id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Where the last visible operation that emptied the table stands. */
static WcStatus
find_void(const WcTxn *txn, uint32_t table_id, uint32_t cid, uint64_t *void_before, WcError *err)
{
	*void_before = 0;
	for (size_t i = 0; i < wc_txn_ncatalog(txn); i++)
	{
		WcOp		op;
		uint64_t	offset;
		WcStatus	status = wc_txn_catalog_op(txn, i, &op, &offset, err);

		if (status != WC_OK)
			return status;
		if ((op.kind == WC_OP_TRUNCATE_TABLE || op.kind == WC_OP_DROP_TABLE) &&
			op.table_id == table_id && op.cid < cid)
			*void_before = offset;
	}
	return WC_OK;
}

/*
 * The run's part in the bounds (NULL: the table's): a statement that looks up row after row must not step over all
 * operations that it has written itself and may not see.  False: it is empty.
 */
static bool
run_part(const WcTxnRun *run, uint32_t table_id, const WcRange *bounds, size_t *lo, size_t *hi)
{
	if (bounds == NULL)
	{
		*lo = run_bound(run, 0, run->n, table_id, wc_slice(NULL, 0), false);
		*hi = run_table_end(run, table_id);
		return *lo < *hi;
	}
	*lo = run_bound(run, 0, run->n, table_id, bounds->start, bounds->start.len > 0 && !bounds->start_inclusive);
	if (*lo == run->n || run->entries[*lo].table_id != table_id)
		return false;
	if (bounds->stop.len > 0)
	{
		uint64_t	prefix = wc_txnentry_prefix(bounds->stop);
		int			c = compare_row(&run->entries[*lo], table_id, prefix, bounds->stop);

		/* mostly, in a run that does not have the one row that is wanted */
		if (c > 0 || (c == 0 && !bounds->stop_inclusive))
			return false;
		*hi = run_bound(run, *lo, run->n, table_id, bounds->stop, bounds->stop_inclusive);
	}
	else
		*hi = run_table_end(run, table_id);
	return true;
}

WcStatus
wc_txnview_open(WcTxn *txn, uint32_t table_id, uint32_t cid, const WcRange *bounds, bool reversed,
				WcTxnView **view, WcError *err)
{
	WcTxnView  *v;
	size_t	   *places;
	WcStatus	status = wc_txn_load(txn, err);

	if (status == WC_OK)
		status = wc_txn_index_tail(txn, err);
	if (status != WC_OK)
		return status;
	v = calloc(1, sizeof(WcTxnView));
	if (v == NULL)
		return wc_txnrun_memory(err);
	v->txn = txn;
	v->table_id = table_id;
	v->cid = cid;
	v->reversed = reversed;
	status = find_void(txn, table_id, cid, &v->void_before, err);
	v->runs = malloc((txn->nruns + 1) * sizeof(WcTxnRun *));
	places = malloc((txn->nruns + 1) * 3 * sizeof(size_t));
	if (status == WC_OK && (v->runs == NULL || places == NULL))
		status = wc_txnrun_memory(err);
	if (status != WC_OK)
	{
		free(v->runs);
		free(places);
		free(v);
		return status;
	}
	v->lo = places;
	v->hi = places + txn->nruns;
	v->at = places + 2 * txn->nruns;
	for (size_t i = 0; i < txn->nruns; i++)
	{
		WcTxnRun   *run = txn->runs[i];

		if (!run_part(run, table_id, bounds, &v->lo[v->nruns], &v->hi[v->nruns]))
			continue;
		run->refs++;
		v->runs[v->nruns++] = run;
	}
	wc_txnbytes_view_opened(&txn->bytes, &v->link);
	wc_txnview_seek(v, wc_slice(NULL, 0), true);
	*view = v;
	return WC_OK;
}

void
wc_txnview_close(WcTxnView *view)
{
	if (view == NULL)
		return;
	for (size_t i = 0; i < view->nruns; i++)
		wc_txnrun_unref(view->runs[i]);
	wc_txnbytes_view_closed(&view->txn->bytes, &view->link);
	free(view->runs);
	free(view->lo);
	free(view->found);
	free(view);
}

void
wc_txnview_seek(WcTxnView *view, WcSlice row, bool inclusive)
{
	for (size_t i = 0; i < view->nruns; i++)
	{
		if (row.len == 0)
			view->at[i] = view->reversed ? view->hi[i] : view->lo[i];
		else
			view->at[i] = run_bound(view->runs[i], view->lo[i], view->hi[i], view->table_id, row,
									view->reversed == inclusive);
	}
}

/* The next row in any run, wanted or not. */
static bool
nearest_row(const WcTxnView *view, WcSlice *row)
{
	bool		found = false;

	for (size_t i = 0; i < view->nruns; i++)
	{
		WcSlice		candidate;

		if (view->at[i] == (view->reversed ? view->lo[i] : view->hi[i]))
			continue;
		candidate = wc_txnentry_row(&view->runs[i]->entries[view->at[i] - view->reversed]);
		if (!found || (view->reversed ? wc_slice_cmp(candidate, *row) > 0 : wc_slice_cmp(candidate, *row) < 0))
			*row = candidate;
		found = true;
	}
	return found;
}

static WcStatus
collect(WcTxnView *view, const WcTxnEntry *entry, size_t *n, WcError *err)
{
	if (entry->offset < view->void_before)
		return WC_OK;
	if (entry->cid >= view->cid)
	{
		if (entry->cid < view->passed_cid)
			view->passed_cid = entry->cid;
		return WC_OK;
	}
	if (*n == view->found_cap)
	{
		size_t		cap = view->found_cap ? 2 * view->found_cap : 16;
		const WcTxnEntry **found = realloc(view->found, cap * sizeof(*found));

		if (found == NULL)
			return wc_txnrun_memory(err);
		view->found = found;
		view->found_cap = cap;
	}
	view->found[(*n)++] = entry;
	return WC_OK;
}

/* The end of the row's entries, of which `at` is the first, in a run.  Most rows have few. */
static size_t
row_end(const WcTxnView *view, const WcTxnRun *run, size_t at, size_t hi, WcSlice row)
{
	size_t		n = 0;

	while (at < hi && n++ < 8 && wc_slice_eq(wc_txnentry_row(&run->entries[at]), row))
		at++;
	return n > 8 ? run_bound(run, at, hi, view->table_id, row, true) : at;
}

/* The start of the row's entries, behind the last of which `at` is. */
static size_t
row_start(const WcTxnView *view, const WcTxnRun *run, size_t lo, size_t at, WcSlice row)
{
	size_t		n = 0;

	while (at > lo && n++ < 8 && wc_slice_eq(wc_txnentry_row(&run->entries[at - 1]), row))
		at--;
	return n > 8 ? run_bound(run, lo, at, view->table_id, row, false) : at;
}

/* The first of a row's entries that does not begin before the offset. */
static size_t
offset_bound(const WcTxnRun *run, size_t lo, size_t hi, uint64_t offset)
{
	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;

		if (run->entries[mid].offset < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Collects the row's entries of one run, from the offset on, and steps over all of them. */
static WcStatus
take_run(WcTxnView *view, size_t i, WcSlice row, uint64_t offset, size_t *n, WcError *err)
{
	const WcTxnRun *run = view->runs[i];
	size_t		from = view->at[i];
	size_t		to = view->at[i];

	if (view->reversed)
		view->at[i] = from = row_start(view, run, view->lo[i], to, row);
	else
		view->at[i] = to = row_end(view, run, from, view->hi[i], row);
	for (from = offset_bound(run, from, to, offset); from < to; from++)
	{
		WcStatus	status = collect(view, &run->entries[from], n, err);

		if (status != WC_OK)
			return status;
	}
	return WC_OK;
}

WcStatus
wc_txnview_row(const WcTxnView *view, WcSlice *row)
{
	return nearest_row(view, row) ? WC_OK : WC_END;
}

WcStatus
wc_txnview_take(WcTxnView *view, WcSlice row, uint64_t offset, const WcTxnEntry *const **entries, size_t *n,
				uint32_t *passed_cid, WcError *err)
{
	*n = 0;
	view->passed_cid = UINT32_MAX;

	/* older runs hold older operations, so this is their order */
	for (size_t i = 0; i < view->nruns; i++)
	{
		WcStatus	status = take_run(view, i, row, offset, n, err);

		if (status != WC_OK)
			return status;
	}
	*entries = (const WcTxnEntry *const *) view->found;
	*passed_cid = view->passed_cid;
	return WC_OK;
}

uint64_t
wc_txnview_void_before(const WcTxnView *view)
{
	return view->void_before;
}

uint64_t
wc_txnview_upto(const WcTxnView *view)
{
	return view->link.upto;
}
