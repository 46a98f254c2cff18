/*
 * engine/write/apply.c: the one entry for writes: a transaction's batch becomes one
 * atomic write.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/catalog/catalog.h"
#include "engine/store/state.h"
#include "engine/store/watch.h"
#include "engine/write/familywriter.h"
#include "read/cell/quote.h"
#include "read/txn/txn.h"

/* Of the rows of a commit with more operations than this, the watch is not told one
 * by one. */
#define WATCHED_ROWS_MAX	1000

/* A store whose marks it changes. */
typedef struct Marked
{
	struct Marked *next;
	WcStore    *store;			/* a reference */
	WcMarks		before;
	WcMarks		marks;
} Marked;

/* A commit on its way. */
typedef struct Apply
{
	WcEngine   *engine;
	const WcTxn *txn;
	uint64_t	position;
	int64_t		ts;
	int64_t		last_ts;
	rocksdb_writebatch_t *batch;
	WcOverlay	overlay;
	WcCatalogChange change;
	Marked	   *marked;			/* in the overlay's arena */
	bool		many_rows;		/* the watch is told of tables, not of rows */
	bool		begun;			/* it has been told that the commit begins */

	/* The table whose rows are being applied. */
	WcTableState *state;
	WcTable    *table;			/* a reference */
	WcFamilyWriter *writers[WC_FAMILIES_MAX];	/* NULL until a row needs it */
	bool		started[WC_FAMILIES_MAX];	/* in the current row */
	uint32_t	touched[WC_FAMILIES_MAX];	/* those that are started */
	uint32_t	ntouched;
} Apply;

/* --- tables ---------------------------------------------------------------*/

static WcStatus
note_marks(Apply *a, uint32_t at, WcError *err)
{
	const WcMarks *marks = wc_familywriter_marks(a->writers[at]);
	Marked	   *m;

	if (marks == NULL)
		return WC_OK;
	m = wc_arena_alloc(&a->overlay.arena, sizeof(*m));
	if (m == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a commit");
	m->store = wc_store_ref(a->table->stores[at]);
	m->before = wc_marks(m->store);
	m->marks = *marks;
	m->next = a->marked;
	a->marked = m;
	return WC_OK;
}

static WcStatus
leave_table(Apply *a, WcStatus status, WcError *err)
{
	for (uint32_t i = 0; a->table && i < a->table->desc.nfamilies; i++)
	{
		if (status == WC_OK && a->writers[i] != NULL)
			status = note_marks(a, i, err);
		wc_familywriter_free(a->writers[i]);
		a->writers[i] = NULL;
	}
	wc_table_unref(a->table);
	a->table = NULL;
	a->state = NULL;
	return status;
}

static WcTable *
find_picture(const WcCatalogChange *change, const WcTableState *state)
{
	for (size_t i = 0; i < change->npictures; i++)
	{
		if (change->pictures[i].state == state)
			return wc_table_ref(change->pictures[i].table);
	}
	return wc_table_ref(state->base);
}

/* A dropped table has no picture: its earlier operations are void, and there
 * must be no later ones. */
static WcStatus
enter_table(Apply *a, uint32_t table_id, WcError *err)
{
	WcStatus	status = leave_table(a, WC_OK, err);

	if (status != WC_OK)
		return status;
	for (WcTableState *t = a->overlay.tables; t; t = t->next)
	{
		if (t->id == table_id)
			a->state = t;
	}
	if (a->state == NULL)
	{
		status = wc_overlay_table(&a->overlay, table_id, &a->state, err);
		if (status != WC_OK)
			return status;
	}
	if (a->state->desc != NULL)
		a->table = find_picture(&a->change, a->state);
	if (a->many_rows)
		wc_watch_table(a->engine, table_id, a->ts);
	return WC_OK;
}

/* The place of a family in the table; *skip: it is gone, and was there when the
 * operation was made. */
static WcStatus
find_family(const Apply *a, uint32_t id, uint32_t opno, uint32_t *at, bool *skip, WcError *err)
{
	const WcTableDesc *desc = &a->table->desc;
	char		name[2 * WC_NAME_MAX + 2];

	*skip = false;
	for (uint32_t i = 0; i < desc->nfamilies; i++)
	{
		if (desc->families[i].id == id)
		{
			*at = i;
			return WC_OK;
		}
	}
	for (const WcGoneFamily *gone = a->state->gone; gone; gone = gone->next)
	{
		if (gone->id == id && opno < gone->opno)
		{
			*skip = true;
			return WC_OK;
		}
	}
	return wc_error(err, WC_NO_FAMILY, "stored table \"%s\" has no family with id %" PRIu32,
					wc_table_desc_fullname(desc, name, sizeof(name)), id);
}

/* --- rows -----------------------------------------------------------------*/

static WcStatus
start_family(Apply *a, uint32_t at, WcSlice row, WcError *err)
{
	WcStatus	status;

	if (a->started[at])
		return WC_OK;
	if (a->writers[at] == NULL)
	{
		const WcStore *store = a->table->stores[at];
		const WcTable *base = a->state->base;
		WcFamilyWriterOptions options = {
			.store = a->table->stores[at],.desc = &a->table->desc,.family = &a->table->desc.families[at],
			.ts = a->ts,.batch = a->batch,
			.empty = base == NULL || wc_table_store(base, store->family_id) != store
		};

		status = wc_familywriter_create(&options, &a->writers[at], err);
		if (status != WC_OK)
			return status;
	}
	wc_familywriter_start(a->writers[at], row);
	a->started[at] = true;
	a->touched[a->ntouched++] = at;
	return WC_OK;
}

static WcStatus
check_absent(Apply *a, const WcOp *op, uint32_t opno, WcError *err)
{
	WcDecoder	d = wc_decoder(op->families);

	while (d.p < d.end)
	{
		uint32_t	id = (uint32_t) wc_decode_varint_max(&d, UINT32_MAX);
		uint32_t	at;
		bool		skip;
		bool		exists = false;
		WcStatus	status = find_family(a, id, opno, &at, &skip, err);

		if (status == WC_OK && !skip)
			status = start_family(a, at, op->row, err);
		if (status == WC_OK && !skip)
			status = wc_resolver_exists(wc_familywriter_resolver(a->writers[at]), &exists, err);
		if (status != WC_OK)
			return status;
		if (exists)
		{
			char		name[2 * WC_NAME_MAX + 2];
			char		text[WC_QUOTE_MAX];

			(void) wc_error(err, WC_DUPLICATE_ROW, "row %s already exists in stored table \"%s\"",
							wc_quote(text, sizeof(text), op->row),
							wc_table_desc_fullname(&a->table->desc, name, sizeof(name)));
			wc_error_row(err, a->table->desc.id, op->row.data, op->row.len);
			return WC_DUPLICATE_ROW;
		}
	}
	return WC_OK;
}

static WcStatus
apply_op(Apply *a, const WcTxnEntry *entry, WcError *err)
{
	WcDecoder	d = wc_decoder(wc_slice(entry->bytes, entry->len));
	uint32_t	family = 0;
	uint32_t	at = UINT32_MAX;	/* where it is; UINT32_MAX: not looked for yet */
	bool		skip = false;
	WcItem		item;
	WcOp		op;
	WcStatus	status = wc_batch_next_op(&d, &op, err);

	if (status == WC_OK && (op.flags & WC_ROW_MUST_BE_ABSENT))
		status = check_absent(a, &op, entry->opno, err);
	if (status != WC_OK)
		return status;
	d = wc_decoder(op.items);
	while ((status = wc_op_next_item(&d, &item, err)) == WC_OK)
	{
		if (at == UINT32_MAX || item.family != family)
		{
			family = item.family;
			status = find_family(a, family, entry->opno, &at, &skip, err);
			if (status == WC_OK && !skip)
				status = start_family(a, at, wc_txnentry_row(entry), err);
		}
		if (status == WC_OK && !skip)
			status = wc_resolver_item(wc_familywriter_resolver(a->writers[at]), &item, err);
		if (status != WC_OK)
			return status;
		if (skip)
			at = UINT32_MAX;
	}
	if (status != WC_END)
		return status;
	status = WC_OK;
	for (uint32_t i = 0; status == WC_OK && i < a->ntouched; i++)
		status = wc_resolver_end_op(wc_familywriter_resolver(a->writers[a->touched[i]]), err);
	return status;
}

static WcStatus
finish_row(Apply *a, WcError *err)
{
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; i < a->ntouched; i++)
	{
		if (status == WC_OK)
			status = wc_familywriter_finish(a->writers[a->touched[i]], &a->last_ts, err);
		a->started[a->touched[i]] = false;
	}
	a->ntouched = 0;
	return status;
}

static bool
same_row(const WcTxnEntry *a, const WcTxnEntry *b)
{
	return a->table_id == b->table_id && a->prefix == b->prefix &&
		wc_slice_eq(wc_txnentry_row(a), wc_txnentry_row(b));
}

static WcStatus
apply_rows(Apply *a, WcError *err)
{
	const WcTxnEntry *before = NULL;
	WcTxnSorted sorted;
	WcStatus	status = wc_txn_sorted(a->txn, &sorted, err);

	a->many_rows = status == WC_OK && sorted.n > WATCHED_ROWS_MAX;
	for (size_t i = 0; status == WC_OK && i < sorted.n; i++)
	{
		const WcTxnEntry *entry = wc_txnsorted_at(&sorted, i);

		if (before && !same_row(before, entry))
			status = finish_row(a, err);
		if (status == WC_OK && (before == NULL || before->table_id != entry->table_id))
			status = enter_table(a, entry->table_id, err);
		if (!a->many_rows && (before == NULL || !same_row(before, entry)))
			wc_watch_row(a->engine, entry->table_id, wc_txnentry_row(entry), a->ts);
		before = entry;
		if (status != WC_OK || entry->opno < a->state->void_before)
			continue;
		if (a->table == NULL)
			status = wc_overlay_no_table(entry->table_id, err);
		else
			status = apply_op(a, entry, err);
	}
	if (status == WC_OK)
		status = finish_row(a, err);
	status = leave_table(a, status, err);
	free(sorted.order);
	return status;
}

/* --- the whole ------------------------------------------------------------*/

static WcStatus
apply_catalog(Apply *a, WcError *err)
{
	for (size_t i = 0; i < wc_txn_ncatalog(a->txn); i++)
	{
		WcOp		op;
		uint32_t	opno;
		WcStatus	status = wc_txn_catalog_op(a->txn, i, &op, &opno, err);

		if (status == WC_OK)
			status = wc_overlay_op(&a->overlay, &op, opno, a->ts, err);
		if (status != WC_OK)
			return status;
	}
	for (const WcTableState *t = a->overlay.tables; t; t = t->next)
		wc_watch_table(a->engine, t->id, a->ts);
	return wc_catalog_prepare(&a->change, &a->overlay, err);
}

/* Says in an error which stored table was to be written to, and how many others. */
static void
name_table(const Apply *a, WcError *err)
{
	const WcTableDesc *desc = NULL;
	char		name[2 * WC_NAME_MAX + 2];
	size_t		len = strlen(err->message);
	size_t		others = 0;

	for (const WcTableState *t = a->overlay.tables; t; t = t->next)
	{
		others += desc != NULL;
		if (desc == NULL)
			desc = t->desc ? t->desc : t->base ? &t->base->desc : NULL;
	}
	if (desc == NULL)
		return;
	len += (size_t) snprintf(err->message + len, sizeof(err->message) - len, " to stored table \"%s\"",
							 wc_table_desc_fullname(desc, name, sizeof(name)));
	if (others > 0 && len < sizeof(err->message))
		snprintf(err->message + len, sizeof(err->message) - len, " and %zu others", others);
}

static WcStatus
write_batch(Apply *a, WcError *err)
{
	WcStatus	status = wc_catalog_put(&a->change, a->batch, err);

	if (status != WC_OK)
		return status;
	for (const Marked *m = a->marked; m; m = m->next)
		wc_marks_put(m->store, &m->marks, a->batch);
	wc_engine_put_state(a->engine, a->batch, a->position, a->last_ts);
	a->begun = true;
	wc_watch_begin(a->engine);
	status = wc_health_write(&a->engine->health, a->engine->write_options, a->batch, "write a commit", err);
	if (status != WC_OK)
		name_table(a, err);
	for (const Marked *m = a->marked; m; m = m->next)
		wc_marks_done(m->store, status == WC_OK ? &m->marks : &m->before);
	return status;
}

static WcStatus
apply_locked(Apply *a, WcError *err)
{
	WcStatus	status;

	wc_overlay_init(&a->overlay, a->engine, wc_txn_database(a->txn), true);
	a->change.overlay = &a->overlay;
	a->batch = rocksdb_writebatch_create();
	status = apply_catalog(a, err);
	if (status == WC_OK)
		status = apply_rows(a, err);
	if (status == WC_OK)
		status = write_batch(a, err);
	if (status == WC_OK)
	{
		a->engine->applied = a->position;
		a->engine->last_ts = a->last_ts;
		wc_catalog_publish(&a->change);
	}
	else
		wc_catalog_undo(&a->change);
	if (!a->begun)
		wc_watch_begin(a->engine);
	wc_watch_end(a->engine);
	rocksdb_writebatch_destroy(a->batch);
	for (const Marked *m = a->marked; m; m = m->next)
		wc_store_unref(m->store);
	wc_overlay_free(&a->overlay);
	return status;
}

WcStatus
wc_engine_apply(WcEngine *engine, const WcCommit *commit, WcTxn *txn, int64_t *commit_ts, WcError *err)
{
	Apply	   *a = calloc(1, sizeof(Apply));
	WcStatus	status = WC_OK;

	if (a == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a commit");
	pthread_mutex_lock(&engine->write_mutex);
	a->engine = engine;
	a->txn = txn;
	a->position = commit->position ? commit->position : engine->applied + 1;
	a->ts = engine->last_ts + 1;
	if (a->ts < commit->time_us)
		a->ts = commit->time_us;
	a->last_ts = a->ts;
	if (a->position <= engine->applied)
		status = wc_error(err, WC_INVALID, "commit at position %" PRIu64 " comes after position %" PRIu64 " was applied",
						  a->position, (uint64_t) engine->applied);
	else if (a->ts >= WC_TS_LATEST - UINT32_MAX)
		status = wc_error(err, WC_INVALID, "commit time %" PRId64 " is out of range", a->ts);
	if (status == WC_OK)
		status = apply_locked(a, err);
	pthread_mutex_unlock(&engine->write_mutex);
	wc_snapshot_drop_idle(engine);
	if (status == WC_OK)
		*commit_ts = a->ts;
	free(a);
	return status;
}

WcStatus
wc_engine_drop_database(WcEngine *engine, uint32_t database, WcError *err)
{
	WcBuf		ops = WC_BUF_INIT;
	WcBatchBuilder builder;
	WcTxn	   *txn = NULL;
	WcCommit	commit = {.time_us = engine->clock_us()};
	int64_t		ts;
	WcStatus	status = wc_txn_create(database, UINT64_MAX, &txn, err);

	wc_batch_init(&builder, &ops);
	if (status == WC_OK)
		status = wc_catalog_drop_all(engine, database, &builder, err);
	if (status == WC_OK)
		status = wc_txn_append(txn, wc_buf_slice(&ops), err);
	if (status == WC_OK && builder.nops > 0)
		status = wc_engine_apply(engine, &commit, txn, &ts, err);
	wc_txn_destroy(txn);
	wc_buf_free(&ops);
	return status;
}
