/*
 * engine/write/apply.c: the one entry for writes: a transaction's batch becomes one
 * atomic write.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/catalog/catalog.h"
#include "engine/forget/history.h"
#include "engine/store/state.h"
#include "engine/store/watch.h"
#include "engine/write/tablewriter.h"

/* Of the rows of a commit with more operations than this, the watch is not told one
 * by one. */
#define WATCHED_ROWS_MAX	1000

/* A store that forgets by it. */
typedef struct Forgetting
{
	struct Forgetting *next;
	WcStore    *store;			/* a reference */
	int64_t		ts;				/* what was before it */
	bool		single;			/* as in wc_history_of_marker */
} Forgetting;

/* A commit on its way. */
typedef struct Apply
{
	WcEngine   *engine;
	WcTxn	   *txn;
	uint64_t	position;
	int64_t		ts;
	int64_t		last_ts;
	rocksdb_writebatch_t *batch;
	WcOverlay	overlay;
	WcCatalogChange change;
	Forgetting *forgetting;		/* in the overlay's arena */
	bool		many_rows;		/* the watch is told of tables, not of rows */
	bool		begun;			/* it has been told that the commit begins */

	/* The table whose rows are being applied. */
	WcTableState *state;
	WcTableWriter *writer;		/* NULL: the table has been dropped */
} Apply;

/* --- tables ---------------------------------------------------------------*/

static WcStatus
note_history(Apply *a, uint32_t i, WcError *err)
{
	bool		single;
	int64_t		ts = wc_tablewriter_history(a->writer, i, &single);
	Forgetting *f;

	if (ts == 0)
		return WC_OK;
	f = wc_arena_alloc(&a->overlay.arena, sizeof(*f));
	if (f == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a commit");
	f->store = wc_store_ref(wc_tablewriter_table(a->writer)->stores[i]);
	f->ts = ts;
	f->single = single;
	f->next = a->forgetting;
	a->forgetting = f;
	return WC_OK;
}

static WcStatus
leave_table(Apply *a, WcStatus status, WcError *err)
{
	uint32_t	n = a->writer ? wc_tablewriter_table(a->writer)->desc.nfamilies : 0;

	for (uint32_t i = 0; status == WC_OK && i < n; i++)
		status = note_history(a, i, err);
	wc_tablewriter_free(a->writer);
	a->writer = NULL;
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

static WcStatus
make_writer(Apply *a, WcError *err)
{
	WcTable    *table = find_picture(&a->change, a->state);
	WcTableWriterOptions options = {.state = a->state,.table = table,.ts = a->ts,.batch = a->batch};
	WcStatus	status = wc_tablewriter_create(&options, &a->writer, err);

	wc_table_unref(table);
	return status;
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
	if (a->many_rows)
		wc_watch_table(a->engine, table_id, a->ts);
	return a->state->desc != NULL ? make_writer(a, err) : WC_OK;
}

/* --- rows -----------------------------------------------------------------*/

static bool
same_row(const WcTxnEntry *a, const WcTxnEntry *b)
{
	return a->table_id == b->table_id && a->prefix == b->prefix &&
		wc_slice_eq(wc_txnentry_row(a), wc_txnentry_row(b));
}

static WcStatus
finish_row(Apply *a, WcError *err)
{
	return a->writer ? wc_tablewriter_finish_row(a->writer, &a->last_ts, err) : WC_OK;
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
		if (a->writer == NULL)
			status = wc_overlay_no_table(entry->table_id, err);
		else
			status = wc_tablewriter_op(a->writer, entry, err);
	}
	if (status == WC_OK)
		status = finish_row(a, err);
	status = leave_table(a, status, err);
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
	if (a->overlay.next_table_id > 0)
		wc_catalog_note_id(&a->engine->catalog, a->overlay.next_table_id - 1);
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
	for (const Forgetting *f = a->forgetting; f; f = f->next)
		wc_history_forget(f->store, f->ts, f->single, a->batch);
	wc_engine_put_state(a->engine, a->batch, a->position, a->last_ts);
	a->begun = true;
	wc_watch_begin(a->engine);
	status = wc_health_write(&a->engine->health, a->engine->write_options, a->batch, "write a commit", err);
	if (status != WC_OK)
		name_table(a, err);
	for (const Forgetting *f = a->forgetting; f && status == WC_OK; f = f->next)
		wc_history_forgotten(f->store, f->ts);
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
	for (const Forgetting *f = a->forgetting; f; f = f->next)
		wc_store_unref(f->store);
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
	wc_history_grant_wanted(engine);
	wc_history_note_installed(engine);
	if (status == WC_OK)
		*commit_ts = a->ts;
	free(a);
	return status;
}
