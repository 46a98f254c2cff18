/*
 * engine/store/deadruns.c: runs of dead rows in a store.
 */
#include "engine/store/deadruns.h"

#include <stdlib.h>
#include <string.h>

#include "engine/store/internal.h"

/* So many of the last writes are noted.  A longer key is not kept: its note counts as lost. */
#define NOTES			256
#define NOTE_KEY_MAX	48

/* After so many notes without a scan that finds or adds a run, writes are not noted any more. */
#define NOTES_IDLE		8192

typedef struct WcDeadNote
{
	int64_t		ts;
	uint32_t	len;
	uint8_t		key[NOTE_KEY_MAX];
} WcDeadNote;

void
wc_deadruns_init(WcDeadRuns *d) WC_UNCHECKED
{
	memset(d, 0, sizeof(*d));
	pthread_mutex_init(&d->mutex, NULL);
}

static void
free_run(WcDeadRun *run)
{
	wc_buf_free(&run->start);
	wc_buf_free(&run->end);
	memset(run, 0, sizeof(*run));
}

static void
drop_run(WcDeadRuns *d, uint32_t i) WC_REQUIRES(d->mutex)
{
	free_run(&d->runs[i]);
	d->runs[i] = d->runs[--d->nruns];
	memset(&d->runs[d->nruns], 0, sizeof(WcDeadRun));
}

static void
drop_all(WcDeadRuns *d) WC_REQUIRES(d->mutex)
{
	while (d->nruns > 0)
		drop_run(d, d->nruns - 1);
}

void
wc_deadruns_destroy(WcDeadRuns *d) WC_UNCHECKED
{
	drop_all(d);
	free(d->notes);
	pthread_mutex_destroy(&d->mutex);
}

static bool
has_row(const WcDeadRun *run, WcSlice row)
{
	return wc_slice_cmp(row, wc_buf_slice(&run->start)) >= 0 && wc_slice_cmp(row, wc_buf_slice(&run->end)) < 0;
}

/* --- writers --------------------------------------------------------------------- */

/* If the row is in the run, leaves of the run what scans meet before the row.  False: nothing is left. */
static bool
cut(WcDeadRun *run, WcSlice row)
{
	WcBuf	   *bound = run->backward ? &run->start : &run->end;

	if (!has_row(run, row))
		return true;
	wc_buf_reset(bound, SIZE_MAX);
	wc_buf_append_slice(bound, row);
	if (run->backward)
		wc_buf_append_u8(bound, 0);
	return !bound->failed && wc_slice_cmp(wc_buf_slice(&run->start), wc_buf_slice(&run->end)) < 0;
}

static void
keep_note(WcDeadRuns *d, WcSlice row, int64_t ts) WC_REQUIRES(d->mutex)
{
	WcDeadNote *note = &d->notes[d->nnotes++ % NOTES];

	if (d->nnotes > NOTES && note->ts > d->lost_ts)
		d->lost_ts = note->ts;
	*note = (WcDeadNote) {.ts = ts};
	if (row.len > NOTE_KEY_MAX)
	{
		d->lost_ts = ts;
		return;
	}
	note->len = (uint32_t) row.len;
	memcpy(note->key, row.data, row.len);
}

void
wc_deadruns_note(WcDeadRuns *d, WcSlice row, int64_t ts)
{
	if (!atomic_load(&d->active))
	{
		/* written before `active` is read again: a scan that sets `active` sees this timestamp, or is seen here */
		if (atomic_load_explicit(&d->unnoted_ts, memory_order_relaxed) != ts)
			atomic_store(&d->unnoted_ts, ts);
		if (!atomic_load(&d->active))
			return;
	}
	pthread_mutex_lock(&d->mutex);
	if (d->nnotes - d->used > NOTES_IDLE)
	{
		drop_all(d);
		atomic_store(&d->unnoted_ts, ts);
		atomic_store(&d->active, false);
	}
	else
	{
		for (uint32_t i = d->nruns; i > 0; i--)
		{
			if (!cut(&d->runs[i - 1], row))
				drop_run(d, i - 1);
		}
		keep_note(d, row, ts);
	}
	pthread_mutex_unlock(&d->mutex);
}

void
wc_deadruns_forget(WcDeadRuns *d, int64_t last_ts)
{
	pthread_mutex_lock(&d->mutex);
	drop_all(d);
	/* a scan whose snapshot has this very last_ts may have begun before */
	if (last_ts >= d->lost_ts)
		d->lost_ts = last_ts + 1;
	pthread_mutex_unlock(&d->mutex);
}

/* --- scans ------------------------------------------------------------------------ */

void
wc_deadruns_watch(WcDeadRuns *d)
{
	if (atomic_load(&d->active))
		return;
	pthread_mutex_lock(&d->mutex);
	if (d->notes == NULL)
		d->notes = malloc(NOTES * sizeof(WcDeadNote));
	if (d->notes != NULL && !atomic_load(&d->active))
	{
		d->nnotes = d->used = 0;
		atomic_store(&d->active, true);
	}
	pthread_mutex_unlock(&d->mutex);
}

/*
 * Does the snapshot show all that the run's snapshot showed?  RocksDB's snapshot may show more than last_ts says,
 * so the same last_ts is not enough.
 */
static bool
holds_for(const WcDeadRun *run, const WcSnapshot *snapshot)
{
	if (snapshot->last_ts > run->last_ts)
		return true;
	return snapshot->last_ts == run->last_ts && run->seq != WC_SNAPSHOT_SEQ_UNKNOWN &&
		snapshot->seq != WC_SNAPSHOT_SEQ_UNKNOWN && snapshot->seq >= run->seq;
}

bool
wc_deadruns_find(WcDeadRuns *d, WcSlice row, const WcSnapshot *snapshot, bool backward, WcBuf *to)
{
	bool		found = false;

	if (!atomic_load(&d->active))
		return false;
	pthread_mutex_lock(&d->mutex);
	for (uint32_t i = 0; i < d->nruns && !found; i++)
	{
		WcDeadRun  *run = &d->runs[i];

		found = has_row(run, row) && holds_for(run, snapshot);
		if (!found)
			continue;
		run->backward = backward;
		wc_buf_reset(to, SIZE_MAX);
		wc_buf_append_slice(to, wc_buf_slice(backward ? &run->start : &run->end));
		d->used = d->nnotes;
	}
	pthread_mutex_unlock(&d->mutex);
	return found && !to->failed;
}

/* Cuts the run at the rows that were written by commits which its snapshot may not show.  False: nothing is left, or not all of
 * these rows are known. */
static bool
cut_written(const WcDeadRuns *d, WcDeadRun *run) WC_REQUIRES(d->mutex)
{
	uint64_t	n = d->nnotes < NOTES ? d->nnotes : NOTES;

	if (run->last_ts < d->lost_ts || run->last_ts < atomic_load(&d->unnoted_ts))
		return false;
	for (uint64_t i = 0; i < n; i++)
	{
		const WcDeadNote *note = &d->notes[i];

		if (note->ts > run->last_ts && !cut(run, wc_slice(note->key, note->len)))
			return false;
	}
	return true;
}

/* Joins the run with all runs that overlap or touch it, and drops those. */
static void
absorb(WcDeadRuns *d, WcDeadRun *run) WC_REQUIRES(d->mutex)
{
	for (uint32_t i = d->nruns; i > 0; i--)
	{
		WcDeadRun  *other = &d->runs[i - 1];
		WcBuf		swap;

		if (wc_slice_cmp(wc_buf_slice(&other->start), wc_buf_slice(&run->end)) > 0 ||
			wc_slice_cmp(wc_buf_slice(&run->start), wc_buf_slice(&other->end)) > 0)
			continue;
		if (wc_slice_cmp(wc_buf_slice(&other->start), wc_buf_slice(&run->start)) < 0)
		{
			swap = run->start;
			run->start = other->start;
			other->start = swap;
		}
		if (wc_slice_cmp(wc_buf_slice(&other->end), wc_buf_slice(&run->end)) > 0)
		{
			swap = run->end;
			run->end = other->end;
			other->end = swap;
		}
		/* the joined run is valid for the snapshots for which both are */
		if (other->last_ts > run->last_ts)
		{
			run->last_ts = other->last_ts;
			run->seq = other->seq;
		}
		else if (other->last_ts == run->last_ts && other->seq > run->seq)
			run->seq = other->seq;	/* WC_SNAPSHOT_SEQ_UNKNOWN is the greatest number */
		drop_run(d, i - 1);
	}
}

void
wc_deadruns_add(WcDeadRuns *d, WcSlice start, WcSlice end, const WcSnapshot *snapshot, bool backward)
{
	WcDeadRun	run = {
		.start = WC_BUF_INIT,.end = WC_BUF_INIT,.backward = backward,.last_ts = snapshot->last_ts,.seq = snapshot->seq
	};

	wc_buf_append_slice(&run.start, start);
	wc_buf_append_slice(&run.end, end);
	pthread_mutex_lock(&d->mutex);
	if (atomic_load(&d->active) && !run.start.failed && !run.end.failed && cut_written(d, &run))
	{
		absorb(d, &run);
		if (d->nruns == WC_DEAD_RUNS_MAX)
			drop_run(d, d->replaced++ % WC_DEAD_RUNS_MAX);
		d->runs[d->nruns++] = run;
		run = (WcDeadRun) {.start = WC_BUF_INIT,.end = WC_BUF_INIT};
		d->used = d->nnotes;
	}
	pthread_mutex_unlock(&d->mutex);
	free_run(&run);
}
