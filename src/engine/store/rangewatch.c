/*
 * engine/store/rangewatch.c: has a range of a store been written to since it was read?
 */
#include "engine/store/rangewatch.h"

#include "engine/store/state.h"

void
wc_rangewatch_begin(WcRangeWatch *w, WcStore *store, WcSlice start)
{
	w->store = store;
	w->start = start;
	w->written = w->everything = false;
	wc_buf_reset(&w->lowest, SIZE_MAX);
	w->next = store->watches;
	store->watches = w;
}

void
wc_rangewatch_end(WcRangeWatch *w)
{
	WcRangeWatch **link;

	if (w->store == NULL)
		return;
	for (link = &w->store->watches; *link != w; link = &(*link)->next)
		;
	*link = w->next;
	w->store = NULL;
}

bool
wc_rangewatch_was_written(const WcRangeWatch *w, WcSlice stop)
{
	return w->everything || (w->written && (stop.len == 0 || wc_slice_cmp(wc_buf_slice(&w->lowest), stop) <= 0));
}

void
wc_rangewatch_row(WcStore *store, WcSlice row)
{
	for (WcRangeWatch *w = store->watches; w != NULL; w = w->next)
	{
		if (wc_slice_cmp(row, w->start) < 0 || (w->written && wc_slice_cmp(row, wc_buf_slice(&w->lowest)) >= 0))
			continue;
		w->written = true;
		wc_buf_reset(&w->lowest, SIZE_MAX);
		wc_buf_append_slice(&w->lowest, row);
		w->everything |= w->lowest.failed;
	}
}

void
wc_rangewatch_store(WcStore *store)
{
	for (WcRangeWatch *w = store->watches; w != NULL; w = w->next)
		w->everything = true;
	wc_deadruns_forget(&store->dead, store->engine->last_ts);
}

void
wc_rangewatch_free(WcRangeWatch *w)
{
	wc_buf_free(&w->lowest);
}
