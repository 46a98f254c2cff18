/*
 * engine/forget/sift.c: finds the key-values that a step deletes in its range.
 */
#include "engine/forget/sift.h"

#include <stdlib.h>

#include "engine/forget/history.h"
#include "engine/rocks/cellkey.h"
#include "engine/rocks/rocks.h"
#include "engine/store/state.h"
#include "engine/source/storedrow.h"
#include "read/cell/matcher.h"
#include "read/cell/packedrow.h"
#include "read/cell/quote.h"

typedef struct Sifter
{
	const WcSift *sift;
	const WcStep *step;
	WcStore    *store;
	WcSifted   *out;
	WcMatcher  *matcher;
	rocksdb_readoptions_t *options;
	rocksdb_iterator_t *it;
	WcGone		gone;
	WcBuf		row;			/* packing cell: prefix of the current row */
	bool		from_start;		/* it was entered by its first key */
	bool		row_noted;		/* a change of it was noted */
	bool		together;		/* its cells are in its head; keys of cells after the head are left over, and gone */
	bool		apart;			/* its head says that its cells are key-values of their own */
	uint32_t	versions;		/* of the family */
	bool		collecting;		/* the cells that stay are few enough so far to be put together; they are: */
	WcArena		arena;
	WcCell	   *kept;
	WcSlice    *kept_keys;
	size_t		nkept;
	size_t		kept_cap;
	size_t		kept_bytes;
	size_t		row_keys;		/* of the current row, from its start or the step's */
	uint64_t	rows;			/* that were entered */
	bool		too_wide;		/* planning a major step: the current row is */
	size_t		bytes;			/* that the batch takes, about */
	WcBuf		scratch;
	WcBuf		changed_row;
	WcBuf		value;			/* a row that is together */
	WcCell	   *cells;
	size_t		cells_cap;
} Sifter;

static WcStatus
sift_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for a compaction");
}

/* The status is of wc_gone_unpack. */
static WcStatus
row_error(const WcStore *store, WcSlice key, WcStatus status, WcError *err)
{
	char		name[WC_STORE_TEXT_MAX];
	char		quoted[WC_QUOTE_MAX];
	WcBuf		row = WC_BUF_INIT;

	if (status == WC_NO_MEMORY)
		return sift_memory(err);
	wc_error(err, WC_CORRUPT, "the value of a row of %s is damaged", wc_store_text(store, name, sizeof(name)));
	if (wc_sift_row(store, key, &row, NULL) == WC_OK)
		wc_error_detail(err, "The row is %s.", wc_quote(quoted, sizeof(quoted), wc_buf_slice(&row)));
	wc_buf_free(&row);
	return WC_CORRUPT;
}

static WcStatus
check_cancel(const atomic_bool *cancel, WcError *err)
{
	if (cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed))
		return wc_error(err, WC_CANCELLED, "compaction was cancelled");
	return WC_OK;
}

static WcStatus
iterator_status(const WcStore *store, rocksdb_iterator_t *it, WcError *err)
{
	char	   *error = NULL;

	rocksdb_iter_get_error(it, &error);
	return wc_store_status(store, error, "read", err);
}

static WcSlice
iterator_key(rocksdb_iterator_t *it)
{
	size_t		len;
	const char *key = rocksdb_iter_key(it, &len);

	return wc_slice(key, len);
}

static WcSlice
iterator_value(rocksdb_iterator_t *it)
{
	size_t		len;
	const char *value = rocksdb_iter_value(it, &len);

	return wc_slice(value, len);
}

static WcStatus
take_cell(WcSlice key, WcSlice value, size_t row, WcBuf *scratch, WcCell *cell, WcError *err)
{
	WcStatus	status = wc_cellkey_decode_rest(wc_slice(key.data + row, key.len - row), scratch, cell, err);

	cell->row = wc_slice(NULL, 0);
	cell->family = 0;
	return status == WC_OK ? wc_cellvalue_decode(value, cell, err) : status;
}

/* --- what goes --------------------------------------------------------------*/

static void
note_needed(Sifter *s, int64_t ts)
{
	if (ts > s->out->forgotten)
		s->out->forgotten = ts;
}

static void
note_row(Sifter *s, WcSlice key)
{
	WcSifted   *out = s->out;

	if (s->row_noted)
		return;
	/* packing row has no current row: each key is a row */
	s->row_noted = s->store->packing == WC_PACKING_CELL;
	if (wc_sift_row(s->store, key, &s->changed_row, NULL) == WC_OK)
		wc_buf_append_bytes(&out->rows, wc_buf_slice(&s->changed_row));
	else
		out->rows.failed = true;
	out->nrows++;
}

static void
note_change(Sifter *s, WcSlice key, size_t bytes)
{
	s->out->changed++;
	s->bytes += bytes;
	note_row(s, key);
}

static void
delete_key(Sifter *s, WcSlice key)
{
	wc_rocks_batch_delete(s->out->batch, s->store->cf, (const char *) key.data, key.len);
	note_change(s, key, key.len);
}

/* Packing cell: does a cell go? */
static WcStatus
decide(Sifter *s, const WcCell *cell, bool *goes, WcError *err)
{
	uint32_t	colno;

	*goes = false;
	if (cell->seq <= s->step->from_ts || cell->seq > s->step->until_ts)
		return WC_OK;
	if (s->step->kind == WC_STEP_MARKERS)
		*goes = wc_cell_is_marker(cell) && wc_matcher_purges(s->matcher, cell);
	else
	{
		WcMatch		match = wc_matcher_match(s->matcher, cell, &colno);

		if (match == WC_MATCH_FAILED)
			return sift_memory(err);
		*goes = match != WC_MATCH_INCLUDE;
	}
	/* also for a marker: the cells that it masks may be outside of the step */
	if (*goes)
		note_needed(s, wc_matcher_drop(s->matcher, cell));
	return WC_OK;
}

static void
put_row(Sifter *s, WcSlice key)
{
	wc_rocks_batch_put(s->out->batch, s->store->cf, (const char *) key.data, key.len,
					   (const char *) s->value.data, s->value.len);
	note_change(s, key, key.len + s->value.len);
}

/* --- rows that become few enough cells to be together ------------------------ */

/* Half as much as commits put together, so that a row does not change back and forth. */
static size_t
together_max(const Sifter *s)
{
	return s->store->engine->row_together_max / 2;
}

static WcStatus
collect(Sifter *s, WcSlice key, const WcCell *cell, WcError *err)
{
	WcCell	   *copy;

	s->kept_bytes += cell->qualifier.len + cell->value.len;
	s->collecting = s->collecting && s->kept_bytes <= together_max(s);
	if (!s->collecting)
		return WC_OK;
	if (s->nkept == s->kept_cap)
	{
		size_t		cap = s->kept_cap > 0 ? 2 * s->kept_cap : 64;
		WcCell	   *cells = realloc(s->kept, cap * sizeof(WcCell));
		WcSlice    *keys = cells ? realloc(s->kept_keys, cap * sizeof(WcSlice)) : NULL;

		s->kept = cells ? cells : s->kept;
		s->kept_keys = keys ? keys : s->kept_keys;
		if (keys == NULL)
			return sift_memory(err);
		s->kept_cap = cap;
	}
	s->kept_keys[s->nkept] = wc_arena_copy(&s->arena, key);
	copy = &s->kept[s->nkept++];
	*copy = *cell;
	copy->qualifier = wc_arena_copy(&s->arena, cell->qualifier);
	copy->value = wc_arena_copy(&s->arena, cell->value);
	if (s->kept_keys[s->nkept - 1].len < key.len || copy->qualifier.len < cell->qualifier.len ||
		copy->value.len < cell->value.len)
		return sift_memory(err);
	return WC_OK;
}

/* Does the step end in the current row? By what the step says, not by what there is. */
static bool
ends_in_row(const Sifter *s)
{
	WcSlice		stop = s->out->cut ? wc_buf_slice(&s->out->stop) : s->step->stop;

	return wc_slice_starts_with(stop, wc_buf_slice(&s->row));
}

/* Behind the last key of a row that the step has seen all of: is it to be together? */
static void
leave_row(Sifter *s)
{
	WcSlice		head = wc_buf_slice(&s->row);

	if (head.len == 0 || s->step->kind == WC_STEP_MARKERS || !s->from_start || s->together || !s->collecting ||
		ends_in_row(s))
		return;
	wc_buf_reset(&s->value, WC_BLOCK_MAX);
	if (s->nkept == 0)
	{
		if (s->apart)
			delete_key(s, head);
	}
	else if (wc_storedrow_append(&s->value, s->kept, s->nkept, s->versions, together_max(s)) && !s->value.failed)
	{
		for (size_t i = 0; i < s->nkept; i++)
			delete_key(s, s->kept_keys[i]);
		put_row(s, head);
	}
}

/* The row of this key keeps the first `kept` of s->cells. */
static WcStatus
rewrite_row(Sifter *s, WcSlice key, size_t kept, WcError *err)
{
	if (kept == 0)
	{
		delete_key(s, key);
		return WC_OK;
	}
	wc_buf_reset(&s->value, WC_BLOCK_MAX);
	wc_packedrow_append(&s->value, s->cells, kept);
	if (s->value.failed)
		return sift_memory(err);
	put_row(s, key);
	return WC_OK;
}

/* --- packing cell ------------------------------------------------------------- */

static WcStatus
sift_cell(Sifter *s, WcSlice key, WcSlice value, WcError *err)
{
	bool		goes = false;
	WcCell		cell;
	WcStatus	status = take_cell(key, value, s->row.len, &s->scratch, &cell, err);

	if (status != WC_OK || s->together || wc_gone_is(&s->gone, &cell))
		return status;
	status = decide(s, &cell, &goes, err);
	if (status == WC_OK && goes)
		delete_key(s, key);
	else if (status == WC_OK)
		status = collect(s, key, &cell, err);
	return status;
}

static WcStatus
sift_head(Sifter *s, WcSlice key, WcSlice value, WcError *err)
{
	size_t		n;
	size_t		kept = 0;
	WcStatus	status = WC_OK;

	s->apart = wc_cellkey_is_apart(value);
	s->together = !s->apart;
	if (s->apart)
		return WC_OK;
	status = wc_gone_unpack(value, &s->gone, &s->cells, &s->cells_cap, &n);
	if (status != WC_OK)
		return row_error(s->store, key, status, err);
	for (size_t i = 0; status == WC_OK && i < n; i++)
	{
		bool		goes;

		status = decide(s, &s->cells[i], &goes, err);
		if (status == WC_OK && !goes)
			s->cells[kept++] = s->cells[i];
	}
	if (status != WC_OK || kept == n)
		return status;
	return rewrite_row(s, key, kept, err);
}

/* --- packing row -------------------------------------------------------------- */

/* Moves what the matcher keeps to the front; how many, SIZE_MAX: out of memory. */
static size_t
keep_cells(Sifter *s, size_t ncells)
{
	size_t		n = 0;

	wc_matcher_start_row(s->matcher);
	for (size_t i = 0; i < ncells; i++)
	{
		WcCell	   *cell = &s->cells[i];
		uint32_t	colno;
		WcMatch		match = wc_matcher_match(s->matcher, cell, &colno);
		int64_t		ts;

		if (match == WC_MATCH_FAILED)
			return SIZE_MAX;
		if (match == WC_MATCH_INCLUDE)
		{
			s->cells[n++] = *cell;
			continue;
		}
		ts = wc_matcher_drop(s->matcher, cell);
		if (!wc_cell_is_marker(cell))
			note_needed(s, ts);
	}
	return n;
}

/* Of a row that has been written to since, nothing is worked out. */
static bool
is_in_window(const Sifter *s, size_t ncells)
{
	for (size_t i = 0; i < ncells; i++)
	{
		if (s->cells[i].seq > s->step->until_ts)
			return false;
	}
	return true;
}

static WcStatus
sift_packed(Sifter *s, WcSlice key, WcSlice value, WcError *err)
{
	size_t		n;
	size_t		kept;
	WcStatus	status = wc_gone_unpack(value, &s->gone, &s->cells, &s->cells_cap, &n);

	if (status != WC_OK)
		return row_error(s->store, key, status, err);
	if (!is_in_window(s, n))
		return WC_OK;
	kept = keep_cells(s, n);
	if (kept == SIZE_MAX)
		return sift_memory(err);
	if (kept == n)
		return WC_OK;
	return rewrite_row(s, key, kept, err);
}

/* --- going through ----------------------------------------------------------*/

/* Packing cell: is key of another row than the one before?  Then that is the row now. */
static WcStatus
enter_row(Sifter *s, WcSlice key, bool *entered, WcError *err)
{
	size_t		row = wc_cellkey_row_prefix(key);

	if (row == 0)
		return wc_error(err, WC_CORRUPT, "a stored key is damaged");
	*entered = !wc_slice_eq(wc_buf_slice(&s->row), wc_slice(key.data, row));
	if (!*entered)
		return WC_OK;
	leave_row(s);
	wc_buf_reset(&s->row, SIZE_MAX);
	wc_buf_append(&s->row, key.data, row);
	s->from_start = s->step->start.len <= row || !wc_slice_starts_with(s->step->start, wc_buf_slice(&s->row));
	s->together = s->apart = s->row_noted = false;
	s->collecting = true;
	s->nkept = s->kept_bytes = 0;
	wc_arena_reset(&s->arena);
	wc_matcher_start_row(s->matcher);
	s->row_keys = 0;
	s->rows++;
	return s->row.failed ? sift_memory(err) : WC_OK;
}

/* Planning: is it enough? */
static bool
is_enough(const Sifter *s)
{
	return s->sift->keys_max > 0 &&
		(s->out->looked >= s->sift->keys_max || s->out->changed >= WC_STEP_CHANGES_MAX || s->bytes >= WC_STEP_BYTES_MAX);
}

/* Planning: the step ends before this key. */
static WcStatus
cut(Sifter *s, WcSlice key, bool new_row, WcError *err)
{
	s->out->cut = true;
	wc_buf_append_slice(&s->out->stop, key);
	if (!new_row && s->step->kind != WC_STEP_MARKERS)
		wc_matcher_save(s->matcher, &s->out->state);
	return s->out->stop.failed || s->out->state.failed ? sift_memory(err) : WC_OK;
}

static WcStatus
sift_key(Sifter *s, WcSlice key, bool *end, WcError *err)
{
	bool		new_row = true;
	bool		whole_rows = s->step->kind == WC_STEP_MAJOR;
	WcStatus	status = WC_OK;

	*end = s->step->stop.len > 0 && wc_slice_cmp(key, s->step->stop) >= 0;
	if (*end)
		return WC_OK;
	if (s->store->packing == WC_PACKING_CELL)
		status = enter_row(s, key, &new_row, err);
	if (status != WC_OK)
		return status;
	if (is_enough(s) && (new_row || !whole_rows))
	{
		*end = true;
		return cut(s, key, new_row, err);
	}
	if (whole_rows && !new_row && s->sift->keys_max > 0 && ++s->row_keys >= s->sift->keys_max)
	{
		*end = s->too_wide = true;
		return cut(s, wc_buf_slice(&s->row), true, err);
	}
	if (++s->out->looked % WC_CANCEL_CELLS == 0)
		status = check_cancel(s->sift->cancel, err);
	if (status != WC_OK)
		return status;
	if (s->store->packing == WC_PACKING_ROW)
		return sift_packed(s, key, iterator_value(s->it), err);
	if (key.len == s->row.len)
		return sift_head(s, key, iterator_value(s->it), err);
	return sift_cell(s, key, iterator_value(s->it), err);
}

/* The row that the step goes on in. */
static WcStatus
go_on(Sifter *s, WcError *err)
{
	size_t		row = wc_cellkey_row_prefix(s->step->start);

	if (s->step->state.len == 0)
		return WC_OK;
	if (row == 0 || s->store->packing != WC_PACKING_CELL)
		return wc_error(err, WC_CORRUPT, "a step of a compaction goes on in a row, and its start is in none");
	wc_buf_append(&s->row, s->step->start.data, row);
	if (s->row.failed)
		return sift_memory(err);
	return wc_matcher_restore(s->matcher, s->step->state, err);
}

static WcStatus
go_through(Sifter *s, WcError *err)
{
	bool		end = false;
	WcStatus	status = go_on(s, err);

	if (status != WC_OK)
		return status;
	s->it = wc_rocks_create_iterator(wc_engine_rocks(s->store->engine), s->options, s->store->cf);
	wc_rocks_iter_seek(s->it, (const char *) s->step->start.data, s->step->start.len);
	for (; status == WC_OK && !end && rocksdb_iter_valid(s->it); wc_rocks_iter_next(s->it))
	{
		status = sift_key(s, iterator_key(s->it), &end, err);
		if (end)
			break;
	}
	if (status == WC_OK && !end)
		status = iterator_status(s->store, s->it, err);
	if (status == WC_OK)
		leave_row(s);
	rocksdb_iter_destroy(s->it);
	return status;
}

static void
start_over(WcSifted *out)
{
	WcBuf		rows = out->rows;
	WcBuf		stop = out->stop;
	WcBuf		state = out->state;

	if (out->batch)
		rocksdb_writebatch_destroy(out->batch);
	wc_buf_reset(&rows, SIZE_MAX);
	wc_buf_reset(&stop, SIZE_MAX);
	wc_buf_reset(&state, SIZE_MAX);
	*out = (WcSifted) {.batch = rocksdb_writebatch_create(),.rows = rows,.stop = stop,.state = state};
}

static rocksdb_readoptions_t *
read_options(void)
{
	rocksdb_readoptions_t *options = rocksdb_readoptions_create();

	rocksdb_readoptions_set_total_order_seek(options, 1);
	rocksdb_readoptions_set_fill_cache(options, 0);
	return options;
}

/* *wide_row, when a major step is planned: the number of a row that is too wide for a step.  The step ends before this
 * row; it is empty if the row is its first.  0: no such row. */
static WcStatus
sift_once(const WcSift *sift, WcSifted *out, uint64_t *wide_row, WcError *err)
{
	const WcStep *step = sift->step;
	WcMatcherOptions options = {
		.mode = step->kind == WC_STEP_MAJOR ? WC_MATCH_MAJOR : WC_MATCH_MINOR,
		.attrs = wc_store_attrs(sift->store),.now_us = step->now_us,
		.versions = WC_VERSIONS_MAX,.ts_min = 0,.ts_max = WC_TS_LATEST,
		.dated_until_ts = step->dated_until_ts,.earliest_put_ts = step->earliest_put_ts
	};
	Sifter		s = {.sift = sift,.step = step,.store = sift->store,.out = out,.gone = wc_store_gone(sift->store),
		.versions = options.attrs.versions};
	WcStatus	status = check_cancel(sift->cancel, err);

	start_over(out);
	if (status == WC_OK)
		status = wc_matcher_create(&options, &s.matcher, err);
	if (status != WC_OK)
		return status;
	s.options = read_options();
	status = go_through(&s, err);
	*wide_row = s.too_wide ? s.rows : 0;
	rocksdb_readoptions_destroy(s.options);
	wc_matcher_free(s.matcher);
	wc_buf_free(&s.row);
	wc_buf_free(&s.scratch);
	wc_buf_free(&s.changed_row);
	wc_buf_free(&s.value);
	wc_arena_free(&s.arena);
	free(s.cells);
	free(s.kept);
	free(s.kept_keys);
	return status;
}

WcStatus
wc_sift(const WcSift *sift, WcSifted *out, WcError *err)
{
	uint64_t	wide_row = 0;
	WcStep		step = *sift->step;
	WcSift		in_front = {.store = sift->store,.step = &step,.cancel = sift->cancel};
	WcBuf		stop;
	WcStatus	status = sift_once(sift, out, &wide_row, err);

	/* A major step takes a row whole, markers and all: one too wide is left to steps of its own. */
	out->wide = status == WC_OK && wide_row == 1;
	if (status != WC_OK || wide_row <= 1)
		return status;
	stop = out->stop;
	out->stop = (WcBuf) WC_BUF_INIT;
	step.stop = wc_buf_slice(&stop);
	status = sift_once(&in_front, out, &wide_row, err);
	wc_buf_free(&out->stop);
	out->stop = stop;
	out->cut = true;
	return status;
}

void
wc_sifted_free(WcSifted *sifted)
{
	if (sifted->batch)
		rocksdb_writebatch_destroy(sifted->batch);
	sifted->batch = NULL;
	wc_buf_free(&sifted->rows);
	wc_buf_free(&sifted->stop);
	wc_buf_free(&sifted->state);
}

WcStatus
wc_sift_row(const WcStore *store, WcSlice key, WcBuf *row, WcError *err)
{
	WcStatus	status = WC_OK;

	wc_buf_reset(row, SIZE_MAX);
	if (store->packing == WC_PACKING_ROW)
		wc_buf_append_slice(row, key);
	else if (key.len > 0)
		status = wc_cellkey_row(key, row, err);
	return status == WC_OK ? wc_buf_status(row, "row key", err) : status;
}

/* --- looking ----------------------------------------------------------------*/

typedef struct Earliest
{
	WcStore    *store;
	int64_t		until_ts;
	int64_t		ts;
	WcGone		gone;
	WcBuf		scratch;
	WcCell	   *cells;			/* of a row that is together */
	size_t		cells_cap;
} Earliest;

static void
note_put(Earliest *e, const WcCell *cell)
{
	if (cell->type == WC_PUT && cell->seq <= e->until_ts && cell->ts < e->ts && !wc_gone_is(&e->gone, cell))
		e->ts = cell->ts;
}

static WcStatus
note_puts(Earliest *e, WcSlice key, WcSlice value, WcError *err)
{
	bool		packed = e->store->packing == WC_PACKING_ROW;
	size_t		row = packed ? key.len : wc_cellkey_row_prefix(key);
	size_t		n;
	WcCell		cell;
	WcStatus	status;

	if (row < key.len)
	{
		status = take_cell(key, value, row, &e->scratch, &cell, err);
		if (status == WC_OK)
			note_put(e, &cell);
		return status;
	}
	if (!packed && wc_cellkey_is_apart(value))
		return WC_OK;
	status = wc_gone_unpack(value, &e->gone, &e->cells, &e->cells_cap, &n);
	if (status != WC_OK)
		return row_error(e->store, key, status, err);
	for (size_t i = 0; i < n; i++)
		note_put(e, &e->cells[i]);
	return WC_OK;
}

WcStatus
wc_sift_earliest_put(WcStore *store, int64_t until_ts, const atomic_bool *cancel, int64_t *ts, WcError *err)
{
	rocksdb_readoptions_t *options = read_options();
	rocksdb_iterator_t *it = wc_rocks_create_iterator(wc_engine_rocks(store->engine), options, store->cf);
	Earliest	e = {.store = store,.until_ts = until_ts,.ts = INT64_MAX,.gone = wc_store_gone(store)};
	WcStatus	status = WC_OK;
	size_t		n = 0;

	for (wc_rocks_iter_seek_to_first(it); status == WC_OK && rocksdb_iter_valid(it); wc_rocks_iter_next(it))
	{
		status = note_puts(&e, iterator_key(it), iterator_value(it), err);
		if (status == WC_OK && ++n % WC_CANCEL_CELLS == 0)
			status = check_cancel(cancel, err);
	}
	if (status == WC_OK)
		status = iterator_status(store, it, err);
	*ts = e.ts;
	wc_buf_free(&e.scratch);
	free(e.cells);
	rocksdb_iter_destroy(it);
	rocksdb_readoptions_destroy(options);
	return status;
}
