/*
 * read/txn/txnruns.c: a transaction's row operations in order of their rows, all of them and in runs.
 */
#include <stdlib.h>

#include "read/txn/txnstate.h"

/* --- order ----------------------------------------------------------------*/

int
wc_txnentry_cmp(const WcTxnEntry *a, const WcTxnEntry *b)
{
	int			c;

	if (a->table_id != b->table_id)
		return a->table_id < b->table_id ? -1 : 1;
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	c = wc_slice_cmp(wc_txnentry_row(a), wc_txnentry_row(b));
	if (c != 0)
		return c;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Sorting moves these, not the entries. */
typedef struct SortKey
{
	uint64_t	prefix;
	uint32_t	table_id;
	uint32_t	at;				/* among the entries, which are in order of their offsets */
} SortKey;

static bool
key_greater(const SortKey *a, const SortKey *b, const WcTxnEntry *entries)
{
	if (a->table_id != b->table_id)
		return a->table_id > b->table_id;
	if (a->prefix != b->prefix)
		return a->prefix > b->prefix;
	return wc_slice_cmp(wc_txnentry_row(&entries[a->at]), wc_txnentry_row(&entries[b->at])) > 0;
}

static void
merge_keys(const SortKey *a, size_t na, const SortKey *b, size_t nb, SortKey *out, const WcTxnEntry *entries)
{
	while (na > 0 && nb > 0)
	{
		if (key_greater(a, b, entries))
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
	memcpy(out, na > 0 ? a : b, (na + nb) * sizeof(SortKey));
}

/* Bottom-up merge sort, which is stable; returns whichever array it ended in. */
static SortKey *
sort_keys(SortKey *keys, SortKey *room, size_t n, const WcTxnEntry *entries)
{
	for (size_t width = 1; width < n; width *= 2)
	{
		SortKey    *swap = keys;

		for (size_t i = 0; i < n; i += 2 * width)
		{
			size_t		na = n - i < width ? n - i : width;
			size_t		nb = n - i - na < width ? n - i - na : width;

			merge_keys(keys + i, na, keys + i + na, nb, room + i, entries);
		}
		keys = room;
		room = swap;
	}
	return keys;
}

static bool
in_order(const WcTxnEntry *entries, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		if (wc_txnentry_cmp(&entries[i - 1], &entries[i]) > 0)
			return false;
	}
	return true;
}

/* The order of n entries: *order is malloc'ed, NULL when they are in order. */
static WcStatus
sort_entries(const WcTxnEntry *entries, size_t n, uint32_t **order, WcError *err)
{
	SortKey    *keys;
	SortKey    *sorted;

	*order = NULL;
	if (in_order(entries, n))
		return WC_OK;
	keys = malloc(2 * n * sizeof(SortKey));
	*order = malloc(n * sizeof(uint32_t));
	if (keys == NULL || *order == NULL)
	{
		free(keys);
		free(*order);
		*order = NULL;
		return wc_error(err, WC_NO_MEMORY, "out of memory for sorting a transaction's changes");
	}
	for (size_t i = 0; i < n; i++)
		keys[i] = (SortKey) {entries[i].prefix, entries[i].table_id, (uint32_t) i};
	sorted = sort_keys(keys, keys + n, n, entries);
	for (size_t i = 0; i < n; i++)
		(*order)[i] = sorted[i].at;
	free(keys);
	return WC_OK;
}

WcStatus
wc_txn_sorted(WcTxn *txn, WcTxnSorted *sorted, WcError *err)
{
	if (txn->sorted_n != txn->nentries || txn->sorted_cuts != txn->cuts)
	{
		WcStatus	status;

		free(txn->order);
		txn->sorted_n = 0;
		status = sort_entries(txn->entries, txn->nentries, &txn->order, err);
		if (status != WC_OK)
			return status;
		txn->sorted_n = txn->nentries;
		txn->sorted_cuts = txn->cuts;
	}
	sorted->entries = txn->entries;
	sorted->order = txn->order;
	sorted->n = txn->nentries;
	return WC_OK;
}

/* --- runs -----------------------------------------------------------------*/

void
wc_txnrun_unref(WcTxnRun *run)
{
	if (--run->refs == 0)
		free(run);
}

static WcTxnRun *
run_alloc(size_t n)
{
	WcTxnRun   *run = malloc(sizeof(WcTxnRun) + n * sizeof(WcTxnEntry));

	if (run != NULL)
	{
		run->refs = 1;
		run->n = n;
	}
	return run;
}

void
wc_txn_drop_runs(WcTxn *txn, size_t n)
{
	while (txn->nruns > n)
		wc_txnrun_unref(txn->runs[--txn->nruns]);
}

WcStatus
wc_txnrun_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for reading a transaction's changes");
}

static WcTxnRun *
run_merge(const WcTxnRun *a, const WcTxnRun *b)
{
	WcTxnRun   *run = run_alloc(a->n + b->n);
	size_t		i = 0,
				j = 0;

	for (size_t k = 0; run && k < run->n; k++)
	{
		if (j == b->n || (i < a->n && wc_txnentry_cmp(&a->entries[i], &b->entries[j]) < 0))
			run->entries[k] = a->entries[i++];
		else
			run->entries[k] = b->entries[j++];
	}
	if (run)
		run->last = b->last;
	return run;
}

WcStatus
wc_txn_index_tail(WcTxn *txn, WcError *err)
{
	size_t		n = txn->nentries - txn->nindexed;
	const WcTxnEntry *tail = txn->entries + txn->nindexed;
	uint32_t   *order;
	WcTxnRun   *run;
	WcStatus	status;

	if (n == 0)
		return WC_OK;
	if (txn->nruns == txn->runs_cap)
	{
		size_t		cap = txn->runs_cap ? 2 * txn->runs_cap : 8;
		WcTxnRun  **runs = realloc(txn->runs, cap * sizeof(WcTxnRun *));

		if (runs == NULL)
			return wc_txnrun_memory(err);
		txn->runs = runs;
		txn->runs_cap = cap;
	}
	status = sort_entries(tail, n, &order, err);
	if (status != WC_OK)
		return status;
	run = run_alloc(n);
	for (size_t i = 0; run && i < n; i++)
		run->entries[i] = tail[order ? order[i] : i];
	if (run)
		run->last = tail[n - 1].offset;
	free(order);
	if (run == NULL)
		return wc_txnrun_memory(err);
	txn->runs[txn->nruns++] = run;
	txn->nindexed = txn->nentries;

	while (txn->nruns > 1 && txn->runs[txn->nruns - 2]->n < 2 * txn->runs[txn->nruns - 1]->n)
	{
		run = run_merge(txn->runs[txn->nruns - 2], txn->runs[txn->nruns - 1]);
		if (run == NULL)
			return wc_txnrun_memory(err);
		wc_txn_drop_runs(txn, txn->nruns - 2);
		txn->runs[txn->nruns++] = run;
	}
	return WC_OK;
}

/* The run without the operations from this offset on; NULL: out of memory. */
static WcTxnRun *
run_cut(const WcTxnRun *run, uint64_t offset)
{
	WcTxnRun   *cut;
	size_t		kept = 0;

	for (size_t i = 0; i < run->n; i++)
		kept += run->entries[i].offset < offset;
	cut = run_alloc(kept);
	if (cut == NULL)
		return NULL;
	cut->last = 0;
	kept = 0;
	for (size_t i = 0; i < run->n; i++)
	{
		if (run->entries[i].offset >= offset)
			continue;
		cut->entries[kept++] = run->entries[i];
		if (run->entries[i].offset > cut->last)
			cut->last = run->entries[i].offset;
	}
	return cut;
}

WcStatus
wc_txn_cut_runs(WcTxn *txn, uint64_t offset, WcError *err)
{
	while (txn->nruns > 0 && txn->runs[txn->nruns - 1]->last >= offset)
	{
		WcTxnRun   *last = txn->runs[txn->nruns - 1];
		WcTxnRun   *cut = run_cut(last, offset);

		if (cut == NULL)
			return wc_txnrun_memory(err);
		txn->nindexed -= last->n - cut->n;
		wc_txnrun_unref(last);
		if (cut->n > 0)
		{
			txn->runs[txn->nruns - 1] = cut;
			break;
		}
		wc_txnrun_unref(cut);
		txn->nruns--;
	}
	return WC_OK;
}
