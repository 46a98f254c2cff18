/*
 * read/scan/scanlane.c: walks the rows of a scanner.
 *
 * A lane walks the rows of all families through its ranges.  Several lanes are merged by the bytes of their rows after
 * the first byte: each lane is at its next row, and a heap gives the lane with the first row.
 */
#include "read/scan/scanparts.h"

/* Takes what moving a family's scan said. */
static inline WcStatus
settle(WcFamilyScan *f, WcStatus status)
{
	f->on_row = status == WC_OK;
	return status == WC_END ? WC_OK : status;
}

/* Is row before the lane's range, in scan order?  And: after it? */
static inline bool
before_range(const WcScanner *s, const WcScanLane *lane, WcSlice row)
{
	return wc_range_is_left(&lane->ranges[lane->range], row, !s->scan.reversed);
}

static inline bool
behind_range(const WcScanner *s, const WcScanLane *lane, WcSlice row)
{
	return wc_range_is_left(&lane->ranges[lane->range], row, s->scan.reversed);
}

/*
 * To the first row of the current range.  moved: the families stand where the
 * ranges before have left them, so that one which is at or behind the start
 * already, or at its end, stays.
 */
static WcStatus
enter_range(WcScanner *s, WcScanLane *lane, bool moved, WcError *err)
{
	const WcRange *r = &lane->ranges[lane->range];
	WcSlice		row = s->scan.reversed ? r->stop : r->start;
	bool		inclusive = s->scan.reversed ? r->stop_inclusive : r->start_inclusive;
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; i < s->nfamilies && status == WC_OK; i++)
	{
		WcFamilyScan *f = &lane->families[i];

		if (moved && (!f->on_row || !before_range(s, lane, wc_storescan_row(f->scan))))
			continue;
		status = settle(f, wc_storescan_seek(f->scan, row, inclusive, err));
	}
	return status;
}

/* Families that are on the lane's row go to their next one. */
static WcStatus
leave_row(WcScanner *s, WcScanLane *lane, WcError *err)
{
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; i < s->nfamilies && status == WC_OK; i++)
	{
		WcFamilyScan *f = &lane->families[i];

		if (f->here)
			status = settle(f, wc_storescan_next_row(f->scan, err));
		f->here = false;
	}
	return status;
}

/*
 * Families that are among the rows with the prefix of the lane's row go behind them: step by step, and with a seek if there are
 * many.
 */
static WcStatus
leave_prefix(WcScanner *s, WcScanLane *lane, WcError *err)
{
	WcStatus	status = WC_OK;
	uint32_t	most = 0;
	bool		sought = false;

	for (uint32_t i = 0; i < s->nfamilies && status == WC_OK; i++)
	{
		WcFamilyScan *f = &lane->families[i];
		uint32_t	steps = 0;
		WcSlice		row;
		bool		inclusive;

		f->here = false;
		while (status == WC_OK && f->on_row && wc_distinct_covers(s->distinct, wc_storescan_row(f->scan)))
		{
			if (steps < wc_distinct_steps(s->distinct))
			{
				status = settle(f, wc_storescan_next_row(f->scan, err));
				steps++;
				continue;
			}
			sought = true;
			if (wc_distinct_behind(s->distinct, &row, &inclusive))
				status = settle(f, wc_storescan_seek(f->scan, row, inclusive, err));
			else
				f->on_row = false;
		}
		most = steps > most ? steps : most;
	}
	/* the first step left the lane's row, which is counted, and the last one may have left the prefix */
	s->stats.rows_examined += sought ? most : most > 1 ? most - 1 : 0;
	wc_distinct_left(s->distinct, sought);
	return status;
}

/* Moves the families that are before a row to the row, or after it: no row before is wanted. */
static WcStatus
skip_rows(WcScanner *s, WcScanLane *lane, WcSlice row, bool inclusive, WcError *err)
{
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; i < s->nfamilies && status == WC_OK; i++)
	{
		WcFamilyScan *f = &lane->families[i];

		f->here = false;
		if (f->on_row && wc_skip_before(lane->skip, wc_storescan_row(f->scan)))
			status = settle(f, wc_storescan_seek(f->scan, row, inclusive, err));
	}
	return status;
}

/* The first of the families' rows, in scan order; false: there is none. */
static bool
first_row(WcScanner *s, WcScanLane *lane)
{
	bool		found = false;

	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		const WcFamilyScan *f = &lane->families[i];
		WcSlice		row;
		int			c;

		if (!f->on_row)
			continue;
		row = wc_storescan_row(f->scan);
		c = found ? wc_slice_cmp(row, lane->row) : 0;
		if (!found || (s->scan.reversed ? c > 0 : c < 0))
			lane->row = row;
		found = true;
	}
	return found;
}

static inline void
start_family(WcFamilyScan *f, bool here)
{
	f->here = here;
	f->drained = !here || !f->wanted;
	f->seen = f->has_cell = false;
	f->skipped = f->given = 0;
}

/* The lane has found its row: which families have it? */
static void
start_row(WcScanner *s, WcScanLane *lane)
{
	for (uint32_t i = 0; i < s->nfamilies; i++)
	{
		WcFamilyScan *f = &lane->families[i];

		start_family(f, f->on_row && (s->nfamilies == 1 || wc_slice_eq(wc_storescan_row(f->scan), lane->row)));
	}
}

/* The only family of a lane (lane->steps) goes to its next row.  *found: the row is in the lane's range, and is the lane's row now. */
static inline WcStatus
step(WcScanner *s, WcScanLane *lane, bool *found, WcError *err)
{
	WcFamilyScan *f = lane->families;
	WcStatus	status = settle(f, wc_storescan_next_row(f->scan, err));

	*found = false;
	f->here = false;
	if (status != WC_OK || !f->on_row)
		return status;
	lane->row = wc_storescan_row(f->scan);
	*found = !behind_range(s, lane, lane->row);
	if (*found)
		start_family(f, true);
	return WC_OK;
}

/* To the next row that is stored, in any of the lane's ranges; WC_END: none. */
static WcStatus
advance_lane(WcScanner *s, WcScanLane *lane, WcError *err)
{
	WcStatus	status = WC_OK;
	WcSlice		row;
	bool		inclusive;

	if (lane->steps && lane->positioned && !lane->moved)
	{
		bool		found;

		status = step(s, lane, &found, err);
		if (found)
			return WC_OK;
	}
	else if (!lane->positioned)
	{
		status = enter_range(s, lane, false, err);
		lane->positioned = true;
	}
	else if (lane->moved)
		lane->moved = false;
	else if (s->distinct != NULL && s->taken && !lane->points && wc_distinct_take(s->distinct, lane->row))
		status = leave_prefix(s, lane, err);
	else if (lane->skip != NULL && wc_skip_due(lane->skip, &row, &inclusive))
		status = skip_rows(s, lane, row, inclusive, err);
	else if (!lane->points)
		status = leave_row(s, lane, err);
	else
		for (uint32_t i = 0; i < s->nfamilies; i++)
			lane->families[i].on_row = false;

	while (status == WC_OK)
	{
		bool		found = first_row(s, lane);

		if (found && !behind_range(s, lane, lane->row))
		{
			start_row(s, lane);
			return WC_OK;
		}
		if ((!found && !lane->points) || lane->range + 1 == lane->nranges)
			break;
		lane->range++;
		status = enter_range(s, lane, !lane->points, err);
	}
	return status == WC_OK ? WC_END : status;
}

/* --- merging --------------------------------------------------------------*/

/* Does a's row come before b's?  Lanes are in scan order: equals keep that. */
static bool
comes_before(const WcScanner *s, const WcScanLane *a, const WcScanLane *b)
{
	int			c = wc_slice_cmp(wc_slice(a->row.data + 1, a->row.len - 1), wc_slice(b->row.data + 1, b->row.len - 1));

	if (c == 0)
		return a < b;
	return s->scan.reversed ? c > 0 : c < 0;
}

/* The lane at this place of the heap sinks to where it belongs. */
static void
sift_down(WcScanner *s, uint32_t at)
{
	WcScanLane *lane = s->heap[at];

	for (;;)
	{
		uint32_t	child = 2 * at + 1;

		if (child >= s->nheap)
			break;
		if (child + 1 < s->nheap && comes_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!comes_before(s, s->heap[child], lane))
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = lane;
}

/* Every lane to its first row. */
static WcStatus
start_merge(WcScanner *s, WcError *err)
{
	s->heap = wc_arena_alloc(&s->arena, s->nlanes * sizeof(WcScanLane *));
	if (s->heap == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	for (uint32_t i = 0; i < s->nlanes; i++)
	{
		WcStatus	status = advance_lane(s, &s->lanes[i], err);

		if (status == WC_OK)
			s->heap[s->nheap++] = &s->lanes[i];
		else if (status != WC_END)
			return status;
	}
	for (uint32_t i = s->nheap / 2; i > 0; i--)
		sift_down(s, i - 1);
	return WC_OK;
}

static WcStatus
next_merged(WcScanner *s, WcError *err)
{
	WcStatus	status;

	if (s->heap == NULL)
		status = start_merge(s, err);
	else
	{
		status = advance_lane(s, s->heap[0], err);
		if (status == WC_END)
		{
			s->heap[0] = s->heap[--s->nheap];
			status = WC_OK;
		}
		if (status == WC_OK && s->nheap > 0)
			sift_down(s, 0);
	}
	if (status != WC_OK)
		return status;
	if (s->nheap == 0)
		return WC_END;
	s->lane = s->heap[0];
	return WC_OK;
}

WcStatus
wc_scanlanes_next(WcScanner *s, WcError *err)
{
	WcStatus	status;

	s->family = 0;
	if (s->share_after > 0 && s->stats.rows_examined == s->share_after)
	{
		status = wc_scanparts_begin(s, err);
		if (status != WC_OK || s->parts != NULL)
			return status == WC_OK ? WC_END : status;
	}
	status = s->nlanes > 1 ? next_merged(s, err) : advance_lane(s, s->lane, err);
	s->stats.rows_examined += status == WC_OK;
	s->taken = false;
	return status;
}

WcStatus
wc_scanlanes_again(WcScanner *s, WcError *err)
{
	WcScanLane *lane = s->lane;
	WcStatus	status = WC_OK;

	/* the memory of the row's key becomes invalid with its family's move */
	s->again.len = 0;
	wc_buf_append_slice(&s->again, lane->row);
	if (s->again.failed)
		return wc_buf_status(&s->again, "row key", err);
	lane->row = wc_buf_slice(&s->again);
	for (uint32_t i = 0; i < s->nfamilies && status == WC_OK; i++)
	{
		WcFamilyScan *f = &lane->families[i];

		if (f->here)
			status = settle(f, wc_storescan_seek(f->scan, lane->row, true, err));
	}
	s->family = 0;
	start_row(s, lane);
	return status;
}
