/*
 * engine/write/familywriter.c: writes a commit's changes of one family of one table.
 */
#include <stdlib.h>

#include "engine/rocks/cellkey.h"
#include "engine/source/cellsource_store.h"
#include "engine/store/rangewatch.h"
#include "engine/store/state.h"
#include "engine/source/storedrow.h"
#include "engine/write/familywriter.h"
#include "engine/write/rowfinder.h"
#include "engine/write/tally.h"
#include "read/cell/matcher.h"
#include "read/cell/packedrow.h"
#include "read/cell/quote.h"

/* Most bytes of a packed row and of one of its cells, besides qualifiers and values. */
#define ROW_HEAD_MAX (2 + WC_VARINT_MAX + 16)
#define CELL_HEAD_MAX (1 + 16 + 3 * WC_VARINT_MAX)

struct WcFamilyWriter
{
	WcFamilyWriterOptions options;
	WcResolver *resolver;
	WcMatcher  *matcher;		/* packing row: decides which cells a row keeps */
	WcSlice		row;
	WcBuf		key;
	WcBuf		value;
	WcBuf		first;			/* the row's first possible key, and a key behind all of them */
	WcBuf		behind;
	WcTally		tally;
	bool		large_rows;		/* it has put one beyond WC_PACKED_ROW_LARGE */
	WcWriteCounts written;
	WcScanRenewal *renewal;		/* NULL: none (yet) */

	WcRowFinder finder;
	WcGone		gone;
	WcCellSource *source;		/* packing cell: the store; packing row: this row's old cells */

	/* The row's stored cells, and its new ones. */
	bool		looked_up;
	WcRowForm	form;			/* packing cell */
	WcPackedRow old;			/* packing row */
	WcCell	   *old_cells;
	size_t		nold;
	size_t		old_cap;
	WcCell	   *new_cells;
	size_t		new_cap;
};

static WcStatus
writer_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for the changes of a row");
}

static WcStatus
cells_room(WcCell **cells, size_t *cap, size_t n, WcError *err)
{
	WcCell	   *more;

	if (n <= *cap)
		return WC_OK;
	more = realloc(*cells, n * sizeof(WcCell));
	if (more == NULL)
		return writer_memory(err);
	*cells = more;
	*cap = n;
	return WC_OK;
}

static WcStatus
old_cells_room(WcFamilyWriter *w, size_t n, WcError *err)
{
	return cells_room(&w->old_cells, &w->old_cap, n, err);
}

static WcStatus
new_cells_room(WcFamilyWriter *w, size_t n, WcError *err)
{
	return cells_room(&w->new_cells, &w->new_cap, n, err);
}

/* Both have the same coordinates. */
static bool
is_written_again(const WcCell *old, const WcCell *add)
{
	return old->ts == add->ts && old->type == add->type && wc_slice_eq(old->qualifier, add->qualifier);
}

static void
put(WcFamilyWriter *w, WcSlice key, WcSlice value)
{
	wc_sink_put(w->options.sink, w->options.store->cf, key, value);
	if (w->renewal != NULL)
		wc_scanrenewal_take(w->renewal, key, &value);
	w->written.bytes += key.len + value.len;
}

/* --- packing cell ---------------------------------------------------------*/

/* How the row is stored; unless it is not, w->source stands in it. */
static WcStatus
find_row(WcFamilyWriter *w, WcError *err)
{
	WcStatus	status = WC_OK;
	WcCell		cell;

	if (w->looked_up)
		return WC_OK;
	w->form = WC_FORM_NONE;
	w->looked_up = wc_rowfinder_in_gap(&w->finder, w->row);
	if (w->looked_up)
		return WC_OK;
	if (w->source == NULL)
	{
		WcSourceOptions options = {.point = true,.fill_cache = true};

		status = wc_cellsource_get(w->options.store, &options, &w->source, err);
	}
	if (status == WC_OK)
		status = w->source->ops->seek_row(w->source, w->row, true, err);
	if (status == WC_OK)
		w->form = wc_cellsource_get_form(w->source);
	if (w->form == WC_FORM_HEADLESS)
	{
		/* when all its cells are gone RocksDB may have them still, or not */
		status = w->source->ops->next_cell(w->source, &cell, err);
		if (status == WC_END)
			w->form = WC_FORM_NONE;
	}
	if (status == WC_END)
		status = wc_rowfinder_missed(&w->finder, w->row, err);
	w->looked_up = status == WC_OK;
	return status;
}

/* The row's stored cells from the first one on; *src NULL: there are none. */
static WcStatus
cell_base(void *arg, WcSlice row, WcCellSource **src, WcError *err)
{
	WcFamilyWriter *w = arg;
	WcStatus	status = find_row(w, err);

	*src = NULL;
	if (status != WC_OK || w->form == WC_FORM_NONE)
		return status;
	*src = w->source;
	return w->source->ops->seek_row(w->source, row, true, err);
}

/* Of a row that is together. */
static WcStatus
read_old(WcFamilyWriter *w, WcError *err)
{
	WcCellSource *src;
	WcStatus	status = cell_base(w, w->row, &src, err);

	if (status == WC_OK)
		status = old_cells_room(w, src->ops->packed_row(src)->ncells, err);
	while (status == WC_OK)
	{
		WcCell		cell;

		status = src->ops->next_cell(src, &cell, err);
		if (status == WC_OK)
			w->old_cells[w->nold++] = cell;
	}
	return status == WC_END ? WC_OK : status;
}

/* All cells, old and new, in order.  A new cell replaces an old one of the same coordinates. */
static size_t
merge_all(WcFamilyWriter *w, const WcResolved *resolved)
{
	size_t		i = 0,
				j = 0,
				n = 0;

	while (i < w->nold || j < resolved->n)
	{
		const WcCell *old = i < w->nold ? &w->old_cells[i] : NULL;
		const WcCell *add = j < resolved->n ? &resolved->cells[j] : NULL;

		if (old && add && is_written_again(old, add))
			i++;
		else if (add == NULL || (old && wc_cell_cmp(old, add) < 0))
			w->new_cells[n++] = w->old_cells[i++];
		else
			w->new_cells[n++] = resolved->cells[j++];
	}
	return n;
}

static WcStatus
put_cells(WcFamilyWriter *w, const WcCell *cells, size_t n, WcError *err)
{
	for (size_t i = 0; i < n; i++)
	{
		wc_buf_reset(&w->key, SIZE_MAX);
		wc_buf_reset(&w->value, WC_BLOCK_MAX);
		wc_cellkey_append_cell(&w->key, &cells[i]);
		wc_cellvalue_append(&w->value, &cells[i]);
		if (w->key.failed || w->value.failed)
			return writer_memory(err);
		put(w, wc_buf_slice(&w->key), wc_buf_slice(&w->value));
	}
	return WC_OK;
}

/* Puts the row's head with all its cells, or, when they are too many, that they are apart. */
static WcStatus
put_head(WcFamilyWriter *w, const WcCell *cells, size_t n, bool *apart, WcError *err)
{
	wc_buf_reset(&w->key, SIZE_MAX);
	wc_buf_reset(&w->value, WC_BLOCK_MAX);
	wc_cellkey_append_row(&w->key, w->row);
	*apart = *apart || !wc_storedrow_append(&w->value, cells, n, w->options.family->attrs.versions,
											  w->options.store->engine->row_together_max);
	if (*apart)
		wc_buf_append_u8(&w->value, WC_ROWHEAD_APART);
	if (w->key.failed || w->value.failed)
		return writer_memory(err);
	put(w, wc_buf_slice(&w->key), wc_buf_slice(&w->value));
	return WC_OK;
}

static WcStatus
finish_cells(WcFamilyWriter *w, const WcResolved *resolved, WcError *err)
{
	const WcCell *cells = resolved->cells;
	size_t		n = resolved->n;
	WcCellSource *stored = NULL;
	bool		apart;
	WcStatus	status;

	if (w->options.sink == NULL || n == 0)
		return WC_OK;
	status = find_row(w, err);
	if (status == WC_OK && w->form != WC_FORM_NONE && wc_tally_looks_at(&w->tally, w->row))
	{
		status = cell_base(w, w->row, &stored, err);
		if (status == WC_OK)
			status = wc_tally_superseded(&w->tally, stored, resolved, err);
	}
	if (status == WC_OK && w->form == WC_FORM_TOGETHER)
	{
		status = read_old(w, err);
		if (status == WC_OK)
			status = new_cells_room(w, w->nold + n, err);
		if (status != WC_OK)
			return status;
		n = merge_all(w, resolved);
		cells = w->new_cells;
	}
	apart = w->form == WC_FORM_APART || w->form == WC_FORM_HEADLESS;
	if (status == WC_OK && w->form != WC_FORM_APART)
		status = put_head(w, cells, n, &apart, err);
	return status == WC_OK && apart ? put_cells(w, cells, n, err) : status;
}

/* --- packing row ----------------------------------------------------------*/

static void
forget_row(WcFamilyWriter *w)
{
	if (w->options.family->attrs.packing == WC_PACKING_ROW && w->source)
	{
		wc_cellsource_close(w->source);
		w->source = NULL;
	}
	wc_rowfinder_let_go(&w->finder);
	w->nold = 0;
	w->looked_up = false;
}

static WcStatus
decode_old(WcFamilyWriter *w, WcSlice value, WcError *err)
{
	WcCell		cell;
	WcStatus	status = wc_packedrow_open(&w->old, value, err);

	if (status != WC_OK)
		return status;
	status = old_cells_room(w, w->old.ncells, err);
	if (status != WC_OK)
		return status;
	while (wc_packedrow_next(&w->old, &cell))
	{
		if (wc_gone_is(&w->gone, &cell))
			continue;
		cell.row = w->row;
		cell.family = w->options.family->id;
		w->old_cells[w->nold++] = cell;
	}
	return wc_packedrow_status(&w->old, w->row, err);
}

/* Reads the row's stored cells, once. */
static WcStatus
look_up(WcFamilyWriter *w, WcError *err)
{
	WcSlice		value;
	bool		found;
	WcStatus	status;

	if (w->looked_up)
		return WC_OK;
	status = wc_rowfinder_find(&w->finder, w->row, &found, &value, err);
	if (status == WC_OK && found)
		status = decode_old(w, value, err);
	w->looked_up = status == WC_OK;
	if (!w->looked_up)
		w->nold = 0;
	return status;
}

static WcStatus
packed_base(void *arg, WcSlice row, WcCellSource **src, WcError *err)
{
	WcFamilyWriter *w = arg;
	WcStatus	status = look_up(w, err);

	*src = NULL;
	if (status != WC_OK || w->nold == 0)
		return status;
	if (w->source == NULL)
		status = wc_cellsource_memory(w->options.family->id, w->row, w->old_cells, w->nold, false, &w->source, err);
	if (status == WC_OK)
		status = w->source->ops->seek_row(w->source, row, true, err);
	if (status == WC_OK)
		*src = w->source;
	return status;
}

/* Both have one put a column at most: of each column the newer stays. */
static size_t
merge_simple(WcFamilyWriter *w, const WcResolved *resolved)
{
	const WcCell *old = w->old_cells;
	const WcCell *old_end = old + w->nold;
	const WcCell *add = resolved->cells;
	const WcCell *add_end = add + resolved->n;
	size_t		n = 0;

	while (old < old_end && add < add_end)
	{
		int			c = wc_slice_cmp(old->qualifier, add->qualifier);

		if (c < 0)
			w->new_cells[n++] = *old++;
		else if (c > 0)
			w->new_cells[n++] = *add++;
		else
		{
			w->new_cells[n++] = add->ts >= old->ts ? *add : *old;
			old++;
			add++;
		}
	}
	while (old < old_end)
		w->new_cells[n++] = *old++;
	while (add < add_end)
		w->new_cells[n++] = *add++;
	return n;
}

static WcStatus
row_matcher(WcFamilyWriter *w, WcError *err)
{
	WcMatcherOptions options = {
		.mode = WC_MATCH_MINOR,.attrs = w->options.family->attrs,.now_us = w->options.now_us,
		.versions = WC_VERSIONS_MAX,.ts_min = 0,.ts_max = WC_TS_LATEST,
		/* older snapshots have the older value */
		.dated_until_ts = INT64_MAX,.earliest_put_ts = INT64_MIN
	};

	if (w->matcher)
		return WC_OK;
	return wc_matcher_create(&options, &w->matcher, err);
}

/* All cells, old and new, in order, without those that a flush would drop. */
static WcStatus
merge_matched(WcFamilyWriter *w, const WcResolved *resolved, size_t *n, WcError *err)
{
	WcSlice		skipped = {NULL, 0};
	bool		skipping = false;
	size_t		i = 0,
				j = 0;
	WcStatus	status = row_matcher(w, err);

	*n = 0;
	if (status != WC_OK)
		return status;
	wc_matcher_start_row(w->matcher);
	while (i < w->nold || j < resolved->n)
	{
		const WcCell *old = i < w->nold ? &w->old_cells[i] : NULL;
		const WcCell *add = j < resolved->n ? &resolved->cells[j] : NULL;
		const WcCell *cell;
		uint32_t	colno;
		WcMatch		match;

		if (old && add && is_written_again(old, add))
		{
			i++;				/* written again */
			continue;
		}
		cell = add == NULL || (old && wc_cell_cmp(old, add) < 0) ? old : add;
		if (cell == old)
			i++;
		else
			j++;
		if (skipping && wc_slice_eq(cell->qualifier, skipped))
			continue;
		skipping = false;
		match = wc_matcher_match(w->matcher, cell, &colno);
		if (match == WC_MATCH_FAILED)
			return writer_memory(err);
		if (match == WC_MATCH_INCLUDE || match == WC_MATCH_INCLUDE_NEXT_COLUMN)
			w->new_cells[(*n)++] = *cell;
		if (match == WC_MATCH_DONE_ROW)
			break;
		skipping = match == WC_MATCH_NEXT_COLUMN || match == WC_MATCH_INCLUDE_NEXT_COLUMN;
		skipped = cell->qualifier;
	}
	return WC_OK;
}

static WcStatus
put_packed(WcFamilyWriter *w, const WcCell *cells, size_t n, WcError *err)
{
	const WcEngine *engine = w->options.store->engine;
	char		text[WC_QUOTE_MAX];

	wc_buf_reset(&w->value, WC_BLOCK_MAX);
	wc_packedrow_append(&w->value, cells, n);
	if (w->value.failed || w->value.len > engine->packed_row_max)
	{
		if (w->value.len <= engine->packed_row_max)
			return writer_memory(err);
		wc_error(err, WC_TOO_LARGE, "row %s of family \"%.*s\" is too large: %zu bytes, the limit of packing \"row\" is %zu",
				 wc_quote(text, sizeof(text), w->row), (int) w->options.family->name.len,
				 (const char *) w->options.family->name.data, w->value.len, engine->packed_row_max);
		wc_error_hint(err, "Rows that large need a family with packing \"cell\".");
		return WC_TOO_LARGE;
	}
	w->large_rows |= w->value.len > WC_PACKED_ROW_LARGE(engine);
	if (w->options.sink == NULL)
		return WC_OK;
	put(w, w->row, wc_buf_slice(&w->value));
	return WC_OK;
}

/* Notes in the history that some of the row's cells, old or new, are dropped; n stay, among them those that superseded
 * or deleted the others.  Reads as of times before the newest cell need the dropped ones; if some of these may have been
 * visible until now, reads as of times before now do. */
static void
note_dropped(WcFamilyWriter *w, size_t n)
{
	bool		expires = w->options.family->attrs.ttl_us > 0 || n == 0;
	int64_t		newest = 1;

	for (size_t i = 0; i < w->nold; i++)
	{
		expires |= w->old_cells[i].ttl_us > 0;
		if (w->old_cells[i].ts > newest)
			newest = w->old_cells[i].ts;
	}
	for (size_t i = 0; i < n; i++)
	{
		if (w->new_cells[i].ts > newest)
			newest = w->new_cells[i].ts;
	}
	wc_tally_history(&w->tally, newest, expires);
}

/* The most bytes that the row can have, if no cell is dropped. */
static size_t
most_bytes(const WcFamilyWriter *w, const WcResolved *resolved)
{
	size_t		bytes = ROW_HEAD_MAX;

	for (size_t i = 0; i < w->nold; i++)
		bytes += CELL_HEAD_MAX + w->old_cells[i].qualifier.len + w->old_cells[i].value.len;
	for (size_t i = 0; i < resolved->n; i++)
		bytes += CELL_HEAD_MAX + resolved->cells[i].qualifier.len + resolved->cells[i].value.len;
	return bytes;
}

static void
delete(WcFamilyWriter *w, WcSlice key)
{
	wc_sink_delete(w->options.sink, w->options.store->cf, key);
	if (w->renewal != NULL)
		wc_scanrenewal_take(w->renewal, key, NULL);
}

static WcStatus
finish_packed(WcFamilyWriter *w, const WcResolved *resolved, bool simple, WcError *err)
{
	const WcFamilyAttrs *attrs = &w->options.family->attrs;
	size_t		n;
	WcStatus	status;

	if (resolved->n == 0)
		return WC_OK;
	status = look_up(w, err);
	if (status != WC_OK)
		return status;
	if (w->options.sink == NULL && most_bytes(w, resolved) <= w->options.store->engine->packed_row_max)
		return WC_OK;
	if (w->nold == 0 && simple && attrs->ttl_us == 0)
		return put_packed(w, resolved->cells, resolved->n, err);

	status = new_cells_room(w, w->nold + resolved->n, err);
	if (status != WC_OK)
		return status;
	if (simple && (w->nold == 0 || (w->old.flags & WC_PACKED_SIMPLE)) &&
		attrs->versions == 1 && attrs->ttl_us == 0)
		n = merge_simple(w, resolved);
	else
		status = merge_matched(w, resolved, &n, err);
	if (status != WC_OK)
		return status;
	if (n < w->nold + resolved->n)
		note_dropped(w, n);
	if (n > 0)
		return put_packed(w, w->new_cells, n, err);
	if (w->nold > 0 && w->options.sink)
		delete(w, w->row);
	return WC_OK;
}

/* --- the whole ------------------------------------------------------------*/

WcStatus
wc_familywriter_create(const WcFamilyWriterOptions *options, WcFamilyWriter **writer, WcError *err)
{
	WcFamilyWriter *w = calloc(1, sizeof(WcFamilyWriter));
	WcResolverOptions resolver = {
		.family = options->family->id,.attrs = options->family->attrs,.now_us = options->now_us,.arg = w
	};
	WcStatus	status;

	if (w == NULL)
		return writer_memory(err);
	w->options = *options;
	wc_tally_init(&w->tally, options->store, &options->family->attrs, options->ts);
	w->gone = wc_store_gone(options->store);
	wc_rowfinder_init(&w->finder, options->store, options->empty);
	resolver.base = options->family->attrs.packing == WC_PACKING_ROW ? packed_base : cell_base;
	status = wc_resolver_create(&resolver, &w->resolver, err);
	if (status != WC_OK)
	{
		free(w);
		return status;
	}
	*writer = w;
	return WC_OK;
}

void
wc_familywriter_free(WcFamilyWriter *w)
{
	if (w == NULL)
		return;
	forget_row(w);
	wc_cellsource_close(w->source);
	wc_resolver_free(w->resolver);
	if (w->matcher)
		wc_matcher_free(w->matcher);
	wc_rowfinder_free(&w->finder);
	wc_scanrenewal_free(w->renewal);
	wc_buf_free(&w->key);
	wc_buf_free(&w->value);
	wc_buf_free(&w->first);
	wc_buf_free(&w->behind);
	free(w->old_cells);
	free(w->new_cells);
	free(w);
}

WcResolver *
wc_familywriter_resolver(WcFamilyWriter *w)
{
	return w->resolver;
}

void
wc_familywriter_start(WcFamilyWriter *w, WcSlice row)
{
	forget_row(w);
	w->row = row;
	wc_resolver_start(w->resolver, row, w->options.ts);
}

WcFamilyNotes
wc_familywriter_notes(const WcFamilyWriter *w)
{
	return (WcFamilyNotes) {w->tally.changed ? &w->tally.marks : NULL, w->large_rows, w->written};
}

WcScanRenewal *
wc_familywriter_take_renewal(WcFamilyWriter *w)
{
	WcScanRenewal *renewal = w->renewal;

	w->renewal = NULL;
	return renewal;
}

static void
count_written(WcFamilyWriter *w, const WcResolved *resolved, bool simple)
{
	size_t		markers = 0;

	for (size_t i = 0; !simple && i < resolved->n; i++)
		markers += wc_cell_is_marker(&resolved->cells[i]);
	w->written.cells += resolved->n - markers;
	w->written.deletes += markers;
}

/* Tells the readers' caches, before a reader can see it, that the row is being written. */
static WcStatus
note_write(WcFamilyWriter *w, WcError *err)
{
	WcStore    *store = w->options.store;
	WcSlice		first;

	wc_rangewatch_row(store, w->row);
	wc_deadruns_note(&store->dead, w->row, w->options.ts);
	if (!wc_scancache_note(&store->scancache, w->options.ts))
		return WC_OK;
	w->first.len = w->behind.len = 0;
	if (store->packing == WC_PACKING_ROW)
	{
		wc_buf_append_slice(&w->behind, w->row);
		wc_buf_append_u8(&w->behind, 0);
	}
	else
	{
		wc_cellkey_append_row(&w->first, w->row);
		wc_cellkey_append_row_end(&w->behind, w->row);
	}
	if (w->first.failed || w->behind.failed)
		return writer_memory(err);
	first = store->packing == WC_PACKING_ROW ? w->row : wc_buf_slice(&w->first);
	if (w->options.renews && w->renewal == NULL)
		w->renewal = wc_scanrenewal_create(&store->scancache);
	if (w->renewal != NULL)
		wc_scanrenewal_written(w->renewal, first, wc_buf_slice(&w->behind));
	else
		wc_scancache_written(&store->scancache, first, wc_buf_slice(&w->behind));
	return WC_OK;
}

WcStatus
wc_familywriter_finish(WcFamilyWriter *w, int64_t *last_ts, WcError *err)
{
	WcResolved	resolved;
	WcStatus	status = wc_resolver_finish(w->resolver, &resolved, err);
	bool		simple = status == WC_OK && wc_resolved_is_simple(&resolved);

	if (status == WC_OK && w->options.sink && resolved.n > 0)
		status = note_write(w, err);
	if (status == WC_OK)
		wc_tally_cells(&w->tally, &resolved, simple);
	if (status == WC_OK && w->options.family->attrs.packing == WC_PACKING_ROW)
		status = finish_packed(w, &resolved, simple, err);
	else if (status == WC_OK)
		status = finish_cells(w, &resolved, err);
	if (status == WC_OK)
		count_written(w, &resolved, simple);
	if (status == WC_OK && resolved.last_ts > *last_ts)
		*last_ts = resolved.last_ts;
	forget_row(w);
	return status;
}
