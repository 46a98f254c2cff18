/*
 * engine/source/deadskip.c: a cell source jumps over runs of dead rows.
 */
#include "engine/source/deadskip.h"

/* A scan that has jumped over a run makes the run longer if it meets about so many dead rows behind the run. */
#define LONGER		16

void
wc_deadskip_init(WcDeadSkip *s, WcDeadRuns *runs, const WcSourceOptions *options)
{
	*s = (WcDeadSkip) {.first = WC_BUF_INIT,.last = WC_BUF_INIT,.to = WC_BUF_INIT};
	if (!options->skip_dead || options->snapshot == NULL || options->point)
		return;
	s->runs = runs;
	s->shown.last_ts = options->snapshot->last_ts;
	s->shown.seq = options->snapshot->seq;
	s->backward = options->reversed;
}

void
wc_deadskip_free(WcDeadSkip *s)
{
	wc_deadskip_end(s);
	wc_buf_free(&s->first);
	wc_buf_free(&s->last);
	wc_buf_free(&s->to);
}

static void
set(WcBuf *buf, WcSlice row)
{
	wc_buf_reset(buf, SIZE_MAX);
	wc_buf_append_slice(buf, row);
}

void
wc_deadskip_end(WcDeadSkip *s)
{
	WcBuf	   *start = s->backward ? &s->last : &s->first;
	WcBuf	   *end = s->backward ? &s->first : &s->last;
	bool		is_run = s->runs != NULL && s->n >= WC_DEAD_ROWS_MIN;

	s->n = 0;
	if (!is_run)
		return;
	wc_buf_append_u8(end, 0);	/* behind the last dead row */
	if (!start->failed && !end->failed)
		wc_deadruns_add(s->runs, wc_buf_slice(start), wc_buf_slice(end), &s->shown, s->backward);
}

bool
wc_deadskip_row(WcDeadSkip *s, WcSlice row)
{
	bool		is_first = s->n == 0;

	set(is_first ? &s->first : &s->last, row);
	if (is_first)
		set(&s->last, row);
	s->n++;
	if (is_first && wc_deadruns_find(s->runs, row, &s->shown, s->backward, &s->to))
	{
		s->n = WC_DEAD_ROWS_MIN - LONGER;
		return true;
	}
	if (s->n == WC_DEAD_ROWS_MIN)
		wc_deadruns_watch(s->runs);
	return false;
}
