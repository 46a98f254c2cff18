/*
 * engine/forget/pass.c: deleting what a store need not keep, by ordinary writes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/forget/compact.h"
#include "engine/forget/pass.h"
#include "engine/rocks/cellkey.h"
#include "engine/store/state.h"
#include "engine/store/watch.h"
#include "read/cell/packedrow.h"

/* Most key-values a step looks at (it ends with the row, though), and the most
 * it changes. */
#define STEP_KEYS 16384

typedef struct Step
{
	const WcPass *pass;
	WcEngine   *engine;
	WcMatcher  *matcher;
	rocksdb_readoptions_t *options;
	rocksdb_iterator_t *it;
	rocksdb_writebatch_t *batch;
	int64_t		seen_until;		/* whatever it deletes was not there later */
	int64_t		forgotten;		/* what it has deleted is needed to see earlier times */
	WcBuf		resume;			/* key to go on at */
	WcBuf		row;			/* packing cell: prefix of the current row */
	WcBuf		skipped;		/* packing cell: prefix of a column of which nothing more stays */
	bool		skipping;
	WcBuf		scratch;
	WcBuf		value;
	WcCell	   *cells;
	size_t		cells_cap;
} Step;

static bool
is_cancelled(const atomic_bool *cancel)
{
	return cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed);
}

static WcStatus
pass_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for a compaction");
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
	WcSlice		key;

	key.data = (const uint8_t *) rocksdb_iter_key(it, &key.len);
	return key;
}

static WcSlice
iterator_value(rocksdb_iterator_t *it)
{
	WcSlice		value;

	value.data = (const uint8_t *) rocksdb_iter_value(it, &value.len);
	return value;
}

static rocksdb_readoptions_t *
read_options(bool memtables_only)
{
	rocksdb_readoptions_t *options = rocksdb_readoptions_create();

	rocksdb_readoptions_set_total_order_seek(options, 1);
	rocksdb_readoptions_set_fill_cache(options, 0);
	if (memtables_only)
		rocksdb_readoptions_set_read_tier(options, WC_READ_TIER_MEMTABLE);
	return options;
}

static WcStatus
take_cell(WcSlice key, WcSlice value, size_t row, WcBuf *scratch, WcCell *cell, WcError *err)
{
	WcStatus	status = wc_cellkey_decode_rest(wc_slice(key.data + row, key.len - row), scratch, cell, err);

	cell->row = wc_slice(NULL, 0);
	cell->family = 0;
	return status == WC_OK ? wc_cellvalue_decode(value, cell, err) : status;
}

static void
note_needed(Step *s, int64_t ts)
{
	if (ts > s->forgotten)
		s->forgotten = ts;
}

static void
delete_key(Step *s, WcSlice key)
{
	wc_rocks_batch_delete(s->batch, s->pass->store->cf, (const char *) key.data, key.len);
}

static void
delete_cell(Step *s, WcSlice key, const WcCell *cell)
{
	/* of a marker, too: what it masks may be where this pass does not look */
	note_needed(s, wc_matcher_drop(s->matcher, cell));
	delete_key(s, key);
}

/* Sets the column of which nothing more stays. */
static WcStatus
skip_column(Step *s, WcSlice key, size_t column, WcError *err)
{
	wc_buf_reset(&s->skipped, SIZE_MAX);
	wc_buf_append(&s->skipped, key.data, column);
	s->skipping = true;
	return s->skipped.failed ? pass_memory(err) : WC_OK;
}

/* --- packing cell ---------------------------------------------------------*/

static WcStatus
step_cell(Step *s, WcSlice key, WcSlice value, WcError *err)
{
	size_t		row = wc_cellkey_row_prefix(key);
	size_t		column = wc_cellkey_column_prefix(key);
	uint32_t	colno;
	WcCell		cell;
	WcStatus	status = take_cell(key, value, row, &s->scratch, &cell, err);

	if (status != WC_OK)
		return status;
	if (cell.seq < s->pass->from_ts || cell.seq > s->pass->until_ts)
		return WC_OK;
	if (s->skipping && wc_slice_eq(wc_buf_slice(&s->skipped), wc_slice(key.data, column)))
	{
		delete_cell(s, key, &cell);
		return WC_OK;
	}
	s->skipping = false;
	switch (wc_matcher_match(s->matcher, &cell, &colno))
	{
		case WC_MATCH_INCLUDE:
			return WC_OK;
		case WC_MATCH_INCLUDE_NEXT_COLUMN:
			return skip_column(s, key, column, err);
		case WC_MATCH_NEXT_COLUMN:
			delete_cell(s, key, &cell);
			return skip_column(s, key, column, err);
		case WC_MATCH_FAILED:
			return pass_memory(err);
		default:
			delete_cell(s, key, &cell);
			return WC_OK;
	}
}

/* Is key of another row than the one before?  Then that is the row now. */
static WcStatus
enter_row(Step *s, WcSlice key, bool *entered, WcError *err)
{
	size_t		row = wc_cellkey_row_prefix(key);

	*entered = !wc_slice_eq(wc_buf_slice(&s->row), wc_slice(key.data, row));
	if (row == 0)
		return wc_error(err, WC_CORRUPT, "a stored key is damaged");
	if (!*entered)
		return WC_OK;
	wc_buf_reset(&s->row, SIZE_MAX);
	wc_buf_append(&s->row, key.data, row);
	wc_matcher_start_row(s->matcher);
	s->skipping = false;
	return s->row.failed ? pass_memory(err) : WC_OK;
}

/* --- packing row ----------------------------------------------------------*/

static WcStatus
step_row(Step *s, WcSlice key, WcSlice value, WcError *err)
{
	size_t		n;
	size_t		kept;
	int64_t		needed;

	if (!wc_compaction_decode(value, &s->cells, &s->cells_cap, &n))
		return wc_error(err, WC_CORRUPT, "a stored row is damaged");
	kept = wc_compaction_keep(s->matcher, s->cells, n, &needed);
	if (kept == SIZE_MAX)
		return pass_memory(err);
	if (kept == n)
		return WC_OK;
	note_needed(s, needed);
	if (kept == 0)
	{
		delete_key(s, key);
		return WC_OK;
	}
	wc_buf_reset(&s->value, WC_BLOCK_MAX);
	wc_packedrow_append(&s->value, s->cells, kept);
	if (s->value.failed)
		return pass_memory(err);
	wc_rocks_batch_put(s->batch, s->pass->store->cf, (const char *) key.data, key.len,
							  (const char *) s->value.data, s->value.len);
	return WC_OK;
}

/* --- steps ----------------------------------------------------------------*/

/* One step; *done: it came to the end.  The write mutex is held. */
static WcStatus
run_step(Step *s, bool *done, WcError *err)
{
	bool		cells = s->pass->store->packing == WC_PACKING_CELL;
	WcStatus	status = WC_OK;
	size_t		keys = 0;

	wc_rocks_iter_seek(s->it, (const char *) s->resume.data, s->resume.len);
	for (; status == WC_OK && rocksdb_iter_valid(s->it); wc_rocks_iter_next(s->it))
	{
		WcSlice		key = iterator_key(s->it);
		bool		new_row = true;

		if (cells)
			status = enter_row(s, key, &new_row, err);
		if (status == WC_OK && new_row && keys >= STEP_KEYS)
		{
			wc_buf_reset(&s->resume, SIZE_MAX);
			wc_buf_append_slice(&s->resume, key);
			wc_buf_reset(&s->row, SIZE_MAX);	/* it is entered again */
			*done = false;
			return s->resume.failed ? pass_memory(err) : WC_OK;
		}
		keys++;
		if (status == WC_OK && cells)
			status = step_cell(s, key, iterator_value(s->it), err);
		else if (status == WC_OK)
			status = step_row(s, key, iterator_value(s->it), err);
	}
	*done = true;
	return status == WC_OK ? iterator_status(s->pass->store, s->it, err) : status;
}

static WcStatus
write_step(Step *s, WcError *err)
{
	char		name[WC_STORE_TEXT_MAX];
	char		what[WC_STORE_TEXT_MAX + 32];
	WcStatus	status;

	if (rocksdb_writebatch_count(s->batch) == 0)
		return WC_OK;
	s->forgotten = wc_history_needed(wc_compaction_history(s->pass->store->compaction), s->forgotten, s->seen_until);
	wc_history_forget(s->pass->store, s->forgotten, false, s->batch);
	wc_watch_table(s->engine, s->pass->store->table_id, 0);
	wc_watch_begin(s->engine);
	snprintf(what, sizeof(what), "compact %s", wc_store_text(s->pass->store, name, sizeof(name)));
	status = wc_health_write(&s->engine->health, s->engine->write_options, s->batch, what, err);
	wc_watch_end(s->engine);
	wc_snapshot_drop_idle(s->engine);
	if (status == WC_OK)
		wc_history_forgotten(s->pass->store, s->forgotten);
	return status;
}

static WcStatus
steps(Step *s, WcError *err)
{
	WcStatus	status = WC_OK;
	bool		done = false;

	while (status == WC_OK && !done)
	{
		if (is_cancelled(s->pass->cancel))
			return wc_error(err, WC_CANCELLED, "compaction was cancelled");
		pthread_mutex_lock(&s->engine->write_mutex);
		if (wc_store_is_dropped(s->pass->store))
		{
			/* the table was truncated or dropped: nothing is left to forget */
			pthread_mutex_unlock(&s->engine->write_mutex);
			return WC_OK;
		}
		s->it = wc_rocks_create_iterator(s->engine->db, s->options, s->pass->store->cf);
		s->batch = rocksdb_writebatch_create();
		status = run_step(s, &done, err);
		if (status == WC_OK)
			status = write_step(s, err);
		rocksdb_writebatch_destroy(s->batch);
		rocksdb_iter_destroy(s->it);
		pthread_mutex_unlock(&s->engine->write_mutex);
	}
	return status;
}

WcStatus
wc_pass_run(const WcPass *pass, WcError *err)
{
	WcMatcherOptions options = {
		.mode = pass->mode,.attrs = wc_store_attrs(pass->store),.now_us = pass->now_us,
		.versions = WC_VERSIONS_MAX,.ts_min = 0,.ts_max = WC_TS_LATEST,
		/* snapshots keep what they see */
		.horizon_ts = INT64_MAX,.earliest_put_ts = INT64_MIN
	};
	Step		s = {.pass = pass,.engine = pass->store->engine};
	WcStatus	status = WC_OK;

	if (pass->mode == WC_MATCH_MAJOR && options.attrs.keep_deleted != WC_KEEP_DELETED_FALSE &&
		pass->store->packing == WC_PACKING_CELL)
		status = wc_pass_earliest_put(pass->store, pass->until_ts, pass->cancel, &options.earliest_put_ts, err);
	if (status == WC_OK)
		status = wc_matcher_create(&options, &s.matcher, err);
	if (status != WC_OK)
		return status;
	s.seen_until = options.now_us + 1;
	s.options = read_options(pass->memtables_only);
	status = steps(&s, err);
	rocksdb_readoptions_destroy(s.options);
	wc_matcher_free(s.matcher);
	wc_buf_free(&s.resume);
	wc_buf_free(&s.row);
	wc_buf_free(&s.skipped);
	wc_buf_free(&s.scratch);
	wc_buf_free(&s.value);
	free(s.cells);
	return status;
}

/* --- looking --------------------------------------------------------------*/

/* Calls take for each cell of a store (packing cell). */
static WcStatus
each_cell(WcStore *store, bool memtables_only, const atomic_bool *cancel,
		  void (*take) (const WcCell *cell, int64_t until_ts, int64_t *ts), int64_t until_ts, int64_t *ts, WcError *err)
{
	rocksdb_readoptions_t *options = read_options(memtables_only);
	rocksdb_iterator_t *it = wc_rocks_create_iterator(store->engine->db, options, store->cf);
	WcBuf		scratch = WC_BUF_INIT;
	WcStatus	status = WC_OK;
	size_t		n = 0;
	WcCell		cell;

	*ts = INT64_MAX;
	for (wc_rocks_iter_seek_to_first(it); status == WC_OK && rocksdb_iter_valid(it); wc_rocks_iter_next(it))
	{
		WcSlice		key = iterator_key(it);

		status = take_cell(key, iterator_value(it), wc_cellkey_row_prefix(key), &scratch, &cell, err);
		if (status == WC_OK)
			take(&cell, until_ts, ts);
		if (++n % WC_CANCEL_CELLS == 0 && is_cancelled(cancel))
			status = wc_error(err, WC_CANCELLED, "compaction was cancelled");
	}
	if (status == WC_OK)
		status = iterator_status(store, it, err);
	wc_buf_free(&scratch);
	rocksdb_iter_destroy(it);
	rocksdb_readoptions_destroy(options);
	return status;
}

static void
take_seq(const WcCell *cell, int64_t until_ts, int64_t *ts)
{
	if (cell->seq < *ts)
		*ts = cell->seq;
}

WcStatus
wc_pass_memtable_start(WcStore *store, int64_t *ts, WcError *err)
{
	return each_cell(store, true, NULL, take_seq, INT64_MAX, ts, err);
}

static void
take_put_ts(const WcCell *cell, int64_t until_ts, int64_t *ts)
{
	if (cell->type == WC_PUT && cell->seq <= until_ts && cell->ts < *ts)
		*ts = cell->ts;
}

WcStatus
wc_pass_earliest_put(WcStore *store, int64_t until_ts, const atomic_bool *cancel, int64_t *ts, WcError *err)
{
	return each_cell(store, false, cancel, take_put_ts, until_ts, ts, err);
}
