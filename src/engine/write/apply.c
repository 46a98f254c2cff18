/*
 * engine/write/apply.c: the one entry for writes: a transaction's batch, or those of several small transactions,
 * become one atomic write.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "base/log.h"
#include "engine/catalog/catalog.h"
#include "engine/store/state.h"
#include "engine/store/watch.h"
#include "engine/write/tablewriter.h"

/* A commit with more operations than this tells the write watch its timestamp with ranges of rows. */
#define WATCHED_ROWS_MAX	1000

/* A transaction with more bytes is written alone. */
#define GROUPED_BYTES_MAX	8192

/* Bits for the rows of a group, by their hashes: two rows seldom share a bit. */
#define ROW_BITS	4096

/* Facts to be noted about a store besides its rows. */
typedef struct Noted
{
	struct Noted *next;
	WcStore    *store;			/* a reference */
	bool		marked;			/* its marks change: */
	WcMarks		before;
	WcMarks		marks;
	bool		large_rows;
	WcWriteCounts written;
	WcScanRenewal *renewal;		/* NULL: none */
} Noted;

/* A commit on its way. */
typedef struct Apply
{
	WcEngine   *engine;
	WcTxn	   *txn;
	uint64_t	xid;
	uint64_t	position;
	int64_t		ts;
	int64_t		now_us;			/* for TTLs */
	int64_t		last_ts;
	WcSink	   *sink;			/* of the group */
	WcOverlay	overlay;
	WcCatalogChange change;
	Noted	   *noted;			/* in the overlay's arena */
	bool		alone;			/* in its group */
	bool		many_rows;		/* the write watch gets ranges */
	bool		whole_table;	/* with many_rows: it does not get the rows of the present table, too */
	uint32_t	range_table;	/* with many_rows: its first and last row so far, empty before the first */
	WcBuf		first;
	WcBuf		last;
	bool		put;			/* all of it is in the group's write */
	bool		begun;			/* the watch's begin has been called since */
	uint64_t	nvoid;			/* operations that were void, as a whole or in part */
	char		why[WC_ERROR_TEXT_MAX]; /* the first of them was */
	bool		given_up;		/* the row is damaged, and its other operations are void, too (pass_damage) */

	/* the table whose rows are being applied */
	WcTableState *state;
	WcTableWriter *writer;		/* NULL: the table has been dropped */
} Apply;

/*
 * An operation that passed the check may fail when the commit is applied: an earlier commit may have dropped
 * its table, for example.  Then the operation is void, on every store that applies the same commits, and the
 * rest of the commit is applied.  Failures of the machine remain errors.
 */
static WcStatus
pass_over(Apply *a, WcStatus status, const WcError *err)
{
	switch (status)
	{
		case WC_INVALID:
		case WC_TOO_LARGE:
		case WC_NO_NAMESPACE:
		case WC_NO_TABLE:
		case WC_NO_FAMILY:
		case WC_EXISTS:
		case WC_DUPLICATE_ROW:
		case WC_IN_USE:
		case WC_STALE:
			if (a->nvoid++ == 0)
				memcpy(a->why, err->message, sizeof(a->why));
			return WC_OK;
		default:
			return status;
	}
}

/*
 * A commit that changes a damaged row cannot be applied, nor can the commits behind it, of any table.  If the file
 * does not come back, the administrator has to give the change up (widecol.accept_damage).
 */
static WcStatus
pass_damage(Apply *a, WcStatus status, WcError *err)
{
	if (status != WC_CORRUPT || a->state == NULL)
		return pass_over(a, status, err);
	if (!wc_engine_accepts_damage(a->engine, a->state->id, err))
		return status;
	if (a->nvoid++ == 0)
		memcpy(a->why, err->message, sizeof(a->why));
	a->given_up = true;
	return WC_OK;
}

/* --- tables ---------------------------------------------------------------*/

static WcStatus
note_family(Apply *a, uint32_t i, WcError *err)
{
	WcFamilyNotes notes = wc_tablewriter_notes(a->writer, i);
	Noted	   *noted;

	if (notes.marks == NULL && !notes.large_rows && notes.written.cells + notes.written.deletes == 0)
		return WC_OK;
	noted = wc_arena_alloc(&a->overlay.arena, sizeof(*noted));
	if (noted == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a commit");
	noted->store = wc_store_ref(wc_tablewriter_table(a->writer)->stores[i]);
	noted->large_rows = notes.large_rows;
	noted->written = notes.written;
	noted->marked = notes.marks != NULL;
	if (noted->marked)
	{
		noted->before = wc_marks(noted->store);
		noted->marks = *notes.marks;
	}
	noted->renewal = wc_tablewriter_take_renewal(a->writer, i);
	noted->next = a->noted;
	a->noted = noted;
	return WC_OK;
}

static WcStatus
watch_range(Apply *a, WcError *err)
{
	WcStatus	status = wc_buf_status(&a->first, "row key", err);

	if (status == WC_OK)
		status = wc_buf_status(&a->last, "row key", err);
	if (status == WC_OK && a->first.len > 0)
		wc_watch_range(a->engine, a->range_table, wc_buf_slice(&a->first), wc_buf_slice(&a->last), a->ts);
	wc_buf_reset(&a->first, WC_ROW_MAX);
	wc_buf_reset(&a->last, WC_ROW_MAX);
	return status;
}

static WcStatus
leave_table(Apply *a, WcStatus status, WcError *err)
{
	uint32_t	n = a->writer ? wc_tablewriter_table(a->writer)->desc.nfamilies : 0;

	for (uint32_t i = 0; status == WC_OK && i < n; i++)
		status = note_family(a, i, err);
	if (status == WC_OK && n > 0)
		status = wc_sink_leave(a->sink, err);
	if (status == WC_OK)
		status = watch_range(a, err);
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
	WcTableWriterOptions options = {
		.state = a->state,.table = table,.ts = a->ts,.now_us = a->now_us,.sink = a->sink,
		.renews = a->alone && wc_txn_nrows(a->txn) >= a->engine->scanmemory.renewing_rows
	};
	WcStatus	status = wc_tablewriter_create(&options, &a->writer, err);

	wc_table_unref(table);
	return status;
}

/* No writer: there is no such table (any more). */
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
		status = wc_overlay_table(&a->overlay, table_id, &a->state, err);
	if (status == WC_NO_TABLE)
	{
		a->state = NULL;
		return WC_OK;
	}
	if (status != WC_OK)
		return status;
	a->whole_table = a->many_rows && !wc_watch_wants_rows(a->engine, table_id, wc_txn_nrows(a->txn));
	if (a->whole_table)
		wc_watch_table(a->engine, table_id, 0);
	return a->state->desc != NULL ? make_writer(a, err) : WC_OK;
}

/* --- rows -----------------------------------------------------------------*/

static WcStatus
finish_row(Apply *a, WcError *err)
{
	if (a->writer == NULL)
		return WC_OK;
	if (a->given_up)
	{
		wc_tablewriter_leave_row(a->writer);
		return WC_OK;
	}
	return pass_damage(a, wc_tablewriter_finish_row(a->writer, &a->last_ts, err), err);
}

/* Changes that the transaction made before it dropped or truncated the table are void. */
static WcStatus
apply_op(Apply *a, const WcTxnEntry *entry, WcError *err)
{
	if (a->state && entry->offset < a->state->void_before)
		return WC_OK;
	if (a->writer == NULL)
		return pass_over(a, wc_overlay_no_table(entry->table_id, err), err);
	if (a->given_up)
		return WC_OK;
	return pass_damage(a, wc_tablewriter_op(a->writer, entry, err), err);
}

/* Rows of a table come in their order. */
static void
extend_range(Apply *a, uint32_t table_id, WcSlice row)
{
	if (a->first.len == 0)
	{
		a->range_table = table_id;
		wc_buf_append_slice(&a->first, row);
	}
	wc_buf_reset(&a->last, WC_ROW_MAX);
	wc_buf_append_slice(&a->last, row);
}

static WcStatus
apply_row(Apply *a, const WcTxnEntry *const *ops, size_t n, WcError *err)
{
	WcStatus	status = WC_OK;

	if (a->many_rows)
		extend_range(a, ops[0]->table_id, wc_txnentry_row(ops[0]));
	if (!a->whole_table)
		wc_watch_row(a->engine, ops[0]->table_id, wc_txnentry_row(ops[0]), a->many_rows ? 0 : a->ts, a->many_rows ? 0 : a->xid);
	a->given_up = false;
	for (size_t i = 0; status == WC_OK && i < n; i++)
		status = apply_op(a, ops[i], err);
	if (status == WC_OK)
		status = finish_row(a, err);
	return status == WC_OK ? wc_sink_status(a->sink, err) : status;
}

static WcStatus
apply_rows(Apply *a, WcError *err)
{
	bool		any = false;
	uint32_t	table_id = 0;
	const WcTxnEntry *const *ops;
	size_t		n;
	WcTxnWalk  *walk = NULL;
	WcStatus	status = wc_txnwalk_open(a->txn, &walk, err);

	a->many_rows = wc_txn_nrows(a->txn) > WATCHED_ROWS_MAX;
	while (status == WC_OK && (status = wc_txnwalk_next(walk, &ops, &n, err)) == WC_OK)
	{
		if (!any || table_id != ops[0]->table_id)
			status = enter_table(a, ops[0]->table_id, err);
		any = true;
		table_id = ops[0]->table_id;
		if (status == WC_OK)
			status = apply_row(a, ops, n, err);
	}
	if (status == WC_END)
		status = WC_OK;
	status = leave_table(a, status, err);
	wc_txnwalk_close(walk);
	return status;
}

/* --- the whole ------------------------------------------------------------*/

static WcStatus
apply_catalog(Apply *a, WcError *err)
{
	for (size_t i = 0; i < wc_txn_ncatalog(a->txn); i++)
	{
		WcOp		op;
		uint64_t	offset;
		WcStatus	status = wc_txn_catalog_op(a->txn, i, &op, &offset, err);

		if (status == WC_OK)
			status = pass_over(a, wc_overlay_op(&a->overlay, &op, offset, a->ts, err), err);
		if (status != WC_OK)
			return status;
	}
	if (wc_txn_ncatalog(a->txn) > 0)
		wc_recentrows_forget(&a->engine->recent);	/* a family may be dropped, or emptied */
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
		snprintf(err->message + len, sizeof(err->message) - len, " and %zu other%s", others, others > 1 ? "s" : "");
}

/* What goes with the rows.  The next commit of the group begins with these marks. */
static WcStatus
put_facts(Apply *a, WcError *err)
{
	WcStatus	status = wc_catalog_put(&a->change, a->sink->batch, err);

	if (status != WC_OK)
		return status;
	for (const Noted *n = a->noted; n; n = n->next)
	{
		if (n->marked)
		{
			wc_marks_put(n->store, &n->marks, a->sink->batch);
			wc_marks_done(n->store, &n->marks);
		}
		if (n->large_rows)
			wc_catalog_put_large(n->store, a->sink->batch);
	}
	a->put = true;
	return WC_OK;
}

static void
tell_void(Apply *a)
{
	if (a->nvoid == 0)
		return;
	atomic_fetch_add(&a->engine->nvoid, a->nvoid);
	wc_log(WC_LOG_WARNING, "operations of the commit at position %" PRIu64 " that are void: %" PRIu64 "; of the first: %s",
		   a->position, a->nvoid, a->why);
}

/* Puts the commit into the group's write. */
static WcStatus
stage(Apply *a, WcError *err)
{
	WcStatus	status;

	wc_overlay_init(&a->overlay, a->engine, wc_txn_database(a->txn), true);
	a->change.overlay = &a->overlay;
	status = apply_catalog(a, err);
	if (status == WC_OK)
		status = apply_rows(a, err);
	return status == WC_OK ? put_facts(a, err) : status;
}

static void
settle_facts(const Apply *a, bool written)
{
	WcSnapshot	shown = {.last_ts = a->last_ts,.seq = rocksdb_get_latest_sequence_number(a->engine->db)};

	for (const Noted *n = a->noted; n; n = n->next)
	{
		if (!written && a->put && n->marked)
			wc_marks_undo(n->store, &n->before);
		if (written && n->large_rows)
			wc_store_note_large(n->store);
		if (written && n->marked)
			wc_store_note_ahead(n->store, n->marks.ahead_ts, a->last_ts);
		if (written)
			wc_storecounts_written(&n->store->counts, &n->written);
		if (written && n->renewal != NULL)
			wc_scanrenewal_add(n->renewal, &shown);
		wc_scanrenewal_free(n->renewal);
		wc_store_unref(n->store);
	}
}

/* The group has been written, or has not been; frees what stage has made. */
static void
settle(Apply *a, bool written)
{
	settle_facts(a, written);
	if (written)
	{
		/* the log's order is that of positions and of timestamps */
		assert(a->position > a->engine->applied && a->ts > a->engine->last_ts && a->last_ts >= a->ts);
		a->engine->applied = a->position;
		a->engine->last_ts = a->last_ts;
		wc_catalog_publish(&a->change, a->position);
		wc_counts_commit(&a->engine->counts, wc_txn_count(a->txn), a->now_us);
		tell_void(a);
	}
	else
		wc_catalog_undo(&a->change, a->begun ? a->position : 0);
	wc_overlay_free(&a->overlay);
	wc_buf_free(&a->first);
	wc_buf_free(&a->last);
}

static WcStatus
write_group(WcEngine *engine, WcSink *sink, Apply *group, size_t n, WcError *err) WC_REQUIRES(engine->write_mutex)
{
	WcStatus	status;

	for (size_t i = 0; i < n; i++)
		group[i].begun = true;
	wc_watch_begin(engine);
	status = wc_sink_write(sink, err);
	if (status != WC_OK)
		name_table(&group[0], err);
	return status;
}

static uint64_t
bytes_of(const Apply *group, size_t n)
{
	uint64_t	bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += wc_txn_length(group[i].txn);
	return bytes;
}

static WcStatus
check_group(const WcEngine *engine, const Apply *group, size_t n, WcError *err) WC_REQUIRES(engine->write_mutex)
{
	uint64_t	applied = engine->applied;

	for (size_t i = 0; i < n; i++)
	{
		if (group[i].position <= applied)
			return wc_error(err, WC_INVALID, "commit at position %" PRIu64 " comes after position %" PRIu64 " was applied",
							group[i].position, applied);
		if (!wc_txn_is_whole(group[i].txn))
			return wc_error(err, WC_CORRUPT, "a transaction's changes end amid an operation");
		applied = group[i].position;
	}
	return WC_OK;
}

static WcStatus
apply_locked(WcEngine *engine, Apply *group, size_t n, bool gives_way, WcError *err) WC_REQUIRES(engine->write_mutex)
{
	int64_t		last_ts = engine->last_ts;
	WcStatus	status = check_group(engine, group, n, err);
	size_t		staged = 0;
	WcSink		sink;

	if (status != WC_OK)
		return status;
	status = wc_sink_init(&sink, engine, bytes_of(group, n), err);
	for (; status == WC_OK && staged < n; staged++)
	{
		Apply	   *a = &group[staged];

		if (gives_way && staged > 0)
			wc_cpu_give_way();
		a->sink = &sink;
		a->alone = n == 1;
		if (a->ts <= last_ts)
			a->ts = last_ts + 1;
		a->last_ts = a->ts;
		status = stage(a, err);
		last_ts = a->last_ts;
	}
	if (status == WC_OK)
	{
		wc_engine_put_state(engine, sink.batch, group[n - 1].position, last_ts);
		status = write_group(engine, &sink, group, n, err);
	}
	else
		wc_watch_begin(engine);

	/* marks: each commit's are those of the one before until it has changed them */
	for (size_t i = 0; i < staged; i++)
		settle(&group[status == WC_OK ? i : staged - 1 - i], status == WC_OK);
	wc_watch_end(engine);
	wc_sink_free(&sink);
	return status;
}

/* --- groups ---------------------------------------------------------------*/

static uint32_t
row_bit(const WcTxnEntry *entry)
{
	return (uint32_t) (wc_hash_bytes(wc_hash_mix(entry->table_id), wc_txnentry_row(entry)) % ROW_BITS);
}

static bool
has_bit(const uint64_t *rows, uint32_t bit)
{
	return (rows[bit / 64] >> bit % 64 & 1) != 0;
}

static bool
is_small(const WcTxn *txn)
{
	return wc_txn_ncatalog(txn) == 0 && wc_txn_length(txn) <= GROUPED_BYTES_MAX;
}

/* A commit reads the rows that it changes as they are before the group: so each row is changed by one commit.  False:
 * the commit changes a row of those before it. */
static bool
add_rows(uint64_t *rows, const WcTxn *txn)
{
	size_t		n;
	const WcTxnEntry *entries = wc_txn_entries(txn, &n);

	for (size_t i = 0; i < n; i++)
	{
		if (has_bit(rows, row_bit(&entries[i])))
			return false;
	}
	for (size_t i = 0; i < n; i++)
		rows[row_bit(&entries[i]) / 64] |= UINT64_C(1) << row_bit(&entries[i]) % 64;
	return true;
}

static size_t
group_size(const WcApplying *commits, size_t n)
{
	uint64_t	rows[ROW_BITS / 64] = {0};
	size_t		i = 0;

	if (n == 1 || !is_small(commits[0].txn))
		return 1;
	while (i < n && i < WC_GROUP_MAX && is_small(commits[i].txn) && add_rows(rows, commits[i].txn))
		i++;
	return i;
}

static void
begin(Apply *a, WcEngine *engine, const WcApplying *c)
{
	a->engine = engine;
	a->txn = c->txn;
	a->xid = c->commit.xid;
	a->position = c->commit.position;
	a->ts = c->commit.time_us < WC_COMMIT_TIME_MAX ? c->commit.time_us : WC_COMMIT_TIME_MAX;
	a->now_us = a->ts;
}

WcStatus
wc_engine_apply_group(WcEngine *engine, WcApplying *commits, size_t n, bool gives_way, size_t *applied, WcError *err)
{
	size_t		size = group_size(commits, n);
	Apply	   *group = calloc(size, sizeof(Apply));
	WcStatus	status = WC_OK;

	*applied = 0;
	if (group == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a commit");
	for (size_t i = 0; i < size && status == WC_OK; i++)
	{
		begin(&group[i], engine, &commits[i]);
		status = wc_engine_prepare(engine, commits[i].commit.xid, commits[i].txn, err);
	}
	if (status == WC_OK)
	{
		pthread_mutex_lock(&engine->write_mutex);
		status = apply_locked(engine, group, size, gives_way, err);
		pthread_mutex_unlock(&engine->write_mutex);
		wc_snapshot_drop_idle(engine);
	}
	for (size_t i = 0; i < size && status == WC_OK; i++)
	{
		commits[i].ts = group[i].ts;
		wc_engine_forget(engine, commits[i].commit.xid);
		++*applied;
	}
	free(group);
	return status;
}

WcStatus
wc_engine_apply(WcEngine *engine, const WcCommit *commit, WcTxn *txn, int64_t *commit_ts, WcError *err)
{
	WcApplying	applying = {.commit = *commit,.txn = txn};
	size_t		applied;
	WcStatus	status = wc_engine_apply_group(engine, &applying, 1, false, &applied, err);

	if (status == WC_OK)
		*commit_ts = applying.ts;
	return status;
}
