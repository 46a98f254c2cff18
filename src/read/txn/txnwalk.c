/*
 * read/txn/txnwalk.c: a transaction's row operations row by row, from memory and from the file.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "read/txn/txnstate.h"

/* Operations in order: a part of the file, or (spill NULL) those in memory. */
typedef struct Source
{
	WcSpillReader reader;
	WcTxnEntry	entry;			/* the next one */
} Source;

struct WcTxnWalk
{
	WcTxnSorted sorted;			/* in memory ... */
	size_t		at;				/* ... and the next of them */
	size_t		nsources;		/* those that have a next operation: a heap, the least is the first */
	size_t		all;			/* those to be freed */
	Source	  **heap;
	Source	   *sources;
	WcArena		row;			/* bytes of the current row's operations that are in the file */
	WcTxnEntry *copies;			/* and their entries */
	size_t		ncopies;
	size_t		copies_cap;
	const WcTxnEntry **ops;
	size_t		nops;
	size_t		ops_cap;
};

static WcStatus
walk_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for going through a transaction's changes");
}

/* --- the heap -------------------------------------------------------------------*/

/* The source at place i may be greater than those below it. */
static void
sift_down(WcTxnWalk *w, size_t i)
{
	for (;;)
	{
		size_t		least = 2 * i + 1;
		Source	   *swap;

		if (least >= w->nsources)
			return;
		if (least + 1 < w->nsources && wc_txnentry_cmp(&w->heap[least + 1]->entry, &w->heap[least]->entry) < 0)
			least++;
		if (wc_txnentry_cmp(&w->heap[i]->entry, &w->heap[least]->entry) < 0)
			return;
		swap = w->heap[i];
		w->heap[i] = w->heap[least];
		w->heap[least] = swap;
		i = least;
	}
}

/* *more: it has one. */
static WcStatus
advance(WcTxnWalk *w, Source *s, bool *more, WcError *err)
{
	WcStatus	status;

	if (s->reader.spill == NULL)
	{
		*more = w->at < w->sorted.n;
		if (*more)
			s->entry = *wc_txnsorted_at(&w->sorted, w->at++);
		return WC_OK;
	}
	status = wc_spillreader_next(&s->reader, &s->entry, err);
	*more = status == WC_OK;
	return status == WC_END ? WC_OK : status;
}

WcStatus
wc_txnwalk_open(WcTxn *txn, WcTxnWalk **walk, WcError *err)
{
	WcTxnWalk  *w = calloc(1, sizeof(*w));
	size_t		n = txn->nspills > 0 ? txn->nspills + 1 : 0;
	WcStatus	status;

	if (w == NULL)
		return walk_memory(err);
	if (n > 0)
	{
		w->sources = calloc(n, sizeof(*w->sources));
		w->heap = calloc(n, sizeof(*w->heap));
	}
	status = n > 0 && (w->sources == NULL || w->heap == NULL) ? walk_memory(err) : wc_txn_sorted(txn, &w->sorted, err);
	for (size_t i = 0; status == WC_OK && i < n; i++)
	{
		Source	   *s = &w->sources[i];
		bool		more;

		w->all++;
		s->reader = (WcSpillReader) {.txn = txn,.spill = i < txn->nspills ? &txn->spills[i] : NULL};
		status = advance(w, s, &more, err);
		if (status == WC_OK && more)
			w->heap[w->nsources++] = s;
	}
	for (size_t i = w->nsources / 2; i-- > 0;)
		sift_down(w, i);
	if (status == WC_OK)
		*walk = w;
	else
		wc_txnwalk_close(w);
	return status;
}

void
wc_txnwalk_close(WcTxnWalk *w)
{
	if (w == NULL)
		return;
	for (size_t i = 0; i < w->all; i++)
		wc_spillreader_free(&w->sources[i].reader);
	wc_arena_free(&w->row);
	free(w->sources);
	free(w->heap);
	free(w->copies);
	free(w->ops);
	free(w);
}

/* --- a row ----------------------------------------------------------------------*/

static bool
room(void **array, size_t n, size_t *cap, size_t size)
{
	size_t		wanted = *cap > 0 ? 2 * *cap : 16;
	void	   *p;

	if (n < *cap)
		return true;
	p = realloc(*array, wanted * size);
	if (p == NULL)
		return false;
	*array = p;
	*cap = wanted;
	return true;
}

/* All is in memory: the entries stay where they are. */
static WcStatus
next_in_memory(WcTxnWalk *w, WcError *err)
{
	w->nops = 0;
	while (w->at < w->sorted.n)
	{
		const WcTxnEntry *entry = wc_txnsorted_at(&w->sorted, w->at);
		void	   *ops = w->ops;

		if (w->nops > 0 && !wc_txnentry_same_row(w->ops[0], entry))
			break;
		if (!room(&ops, w->nops, &w->ops_cap, sizeof(*w->ops)))
			return walk_memory(err);
		w->ops = ops;
		w->ops[w->nops++] = entry;
		w->at++;
	}
	return w->nops > 0 ? WC_OK : WC_END;
}

/* Copies the entry and its bytes, because the next read overwrites them in the reader's buffer. */
static WcStatus
copy_entry(WcTxnWalk *w, const WcTxnEntry *entry, WcError *err)
{
	void	   *copies = w->copies;
	WcSlice		bytes = wc_arena_copy(&w->row, wc_slice(entry->bytes, entry->len));
	WcTxnEntry *copy;

	if (bytes.data == NULL || !room(&copies, w->ncopies, &w->copies_cap, sizeof(*w->copies)))
		return walk_memory(err);
	w->copies = copies;
	copy = &w->copies[w->ncopies++];
	*copy = *entry;
	copy->bytes = bytes.data;
	copy->row = bytes.data + (entry->row - entry->bytes);
	return WC_OK;
}

static WcStatus
next_merged(WcTxnWalk *w, WcError *err)
{
	WcStatus	status = WC_OK;

	w->nops = w->ncopies = 0;
	wc_arena_reset(&w->row);
	while (w->nsources > 0 && (w->ncopies == 0 || wc_txnentry_same_row(&w->copies[0], &w->heap[0]->entry)))
	{
		bool		more;

		status = copy_entry(w, &w->heap[0]->entry, err);
		if (status == WC_OK)
			status = advance(w, w->heap[0], &more, err);
		if (status != WC_OK)
			return status;
		if (!more)
			w->heap[0] = w->heap[--w->nsources];
		sift_down(w, 0);
	}
	for (; w->nops < w->ncopies; w->nops++)
	{
		void	   *ops = w->ops;

		if (!room(&ops, w->nops, &w->ops_cap, sizeof(*w->ops)))
			return walk_memory(err);
		w->ops = ops;
		w->ops[w->nops] = &w->copies[w->nops];
	}
	return w->nops > 0 ? WC_OK : WC_END;
}

WcStatus
wc_txnwalk_next(WcTxnWalk *w, const WcTxnEntry *const **ops, size_t *n, WcError *err)
{
	WcStatus	status = w->all > 0 ? next_merged(w, err) : next_in_memory(w, err);

	*ops = w->ops;
	*n = w->nops;
	return status;
}
