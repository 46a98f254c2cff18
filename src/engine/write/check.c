/*
 * engine/write/check.c: checks a transaction for errors before its commit.
 *
 * Goes through the operations as the commit would, for the tables and rows for which an error is possible, and
 * writes nothing.
 */
#include "engine/store/state.h"
#include "engine/write/tablewriter.h"

typedef struct Check
{
	WcEngine   *engine;
	WcTxn	   *txn;
	const atomic_bool *cancel;	/* NULL: it is never cancelled */
	uint64_t	nrows;			/* gone through so far */
	WcOverlay	overlay;
	int64_t		ts;				/* that the commit would have now */

	/* the table whose rows are being checked */
	const WcTableState *state;
	WcTableWriter *writer;		/* NULL: nothing can be wrong with any of them */
	bool		large;			/* any row may become too large */
} Check;

static WcStatus
check_catalog(Check *c, WcError *err)
{
	WcStatus	status = WC_OK;

	for (size_t i = 0; status == WC_OK && i < wc_txn_ncatalog(c->txn); i++)
	{
		WcOp		op;
		uint64_t	offset;

		status = wc_txn_catalog_op(c->txn, i, &op, &offset, err);
		if (status == WC_OK)
			status = wc_overlay_op(&c->overlay, &op, offset, c->ts, err);
	}
	return status;
}

/* --- tables ---------------------------------------------------------------*/

static bool
has_large_rows(const WcTable *table)
{
	for (uint32_t i = 0; table && i < table->desc.nfamilies; i++)
	{
		if (atomic_load(&table->stores[i]->large_rows))
			return true;
	}
	return false;
}

bool
wc_engine_has_small_limit(const WcEngine *engine)
{
	return WC_PACKED_ROW_LARGE(engine) < WC_UNCHECKED_BYTES_MAX;
}

bool
wc_engine_has_large_rows(WcEngine *engine, uint32_t table_id)
{
	WcTable    *table = wc_catalog_table(engine, table_id);
	bool		large = has_large_rows(table) || wc_engine_has_small_limit(engine);

	wc_table_unref(table);
	return large;
}

static bool
is_ahead(const WcTable *table)
{
	for (uint32_t i = 0; i < table->desc.nfamilies; i++)
	{
		if (atomic_load(&table->stores[i]->ahead))
			return true;
	}
	return false;
}

/* Calls on_table for the tables of which `is` is true, if there are more families now. */
static void
each_table(WcEngine *engine, const _Atomic uint64_t *nfamilies, uint64_t *seen, bool (*is) (const WcTable *table),
		   void (*on_table) (void *arg, uint32_t table_id), void *arg)
{
	WcCatalog  *catalog = &engine->catalog;
	uint64_t	now = atomic_load(nfamilies);

	if (now == *seen)
		return;
	*seen = now;
	pthread_rwlock_rdlock(&catalog->lock);
	for (size_t i = 0; i < catalog->ntables; i++)
	{
		if (is(catalog->tables[i]))
			on_table(arg, catalog->tables[i]->desc.id);
	}
	pthread_rwlock_unlock(&catalog->lock);
}

void
wc_engine_large_tables(WcEngine *engine, uint64_t *seen, void (*on_table) (void *arg, uint32_t table_id), void *arg)
{
	each_table(engine, &engine->nlarge, seen, has_large_rows, on_table, arg);
}

void
wc_engine_ahead_tables(WcEngine *engine, uint64_t *seen, void (*on_table) (void *arg, uint32_t table_id), void *arg)
{
	each_table(engine, &engine->nahead, seen, is_ahead, on_table, arg);
}

/* May any row that was written there be wrong? */
static bool
is_doubtful(const Check *c, const WcTxnTable *written, const WcTableState *state)
{
	return written->absent || written->bytes > WC_PACKED_ROW_LARGE(c->engine) || has_large_rows(state->base);
}

/* The tables that the transaction has written to exist, unless it has dropped them. */
static WcStatus
check_tables(Check *c, bool *doubtful, WcError *err)
{
	size_t		n;
	const WcTxnTable *tables = wc_txn_tables(c->txn, &n);

	*doubtful = false;
	for (size_t i = 0; i < n; i++)
	{
		WcTableState *state = NULL;
		WcStatus	status;

		if (tables[i].nops == 0)
			continue;
		status = wc_overlay_table(&c->overlay, tables[i].id, &state, err);
		if (status == WC_NO_TABLE && state != NULL && state->changed)
			continue;
		if (status != WC_OK)
			return status;
		*doubtful |= is_doubtful(c, &tables[i], state);
	}
	return WC_OK;
}

static const WcTxnTable *
written_table(const Check *c, uint32_t table_id)
{
	size_t		n;
	const WcTxnTable *tables = wc_txn_tables(c->txn, &n);

	while (n > 0 && tables[n - 1].id != table_id)
		n--;
	return &tables[n - 1];
}

static WcStatus
enter_table(Check *c, uint32_t table_id, WcError *err)
{
	WcTableWriterOptions options = {.ts = c->ts,.now_us = wc_engine_now_us(c->engine)};
	WcTableState *state;
	WcStatus	status = wc_overlay_table(&c->overlay, table_id, &state, err);

	wc_tablewriter_free(c->writer);
	c->writer = NULL;
	if (status == WC_NO_TABLE)
		return WC_OK;			/* dropped by the transaction */
	if (status != WC_OK || !is_doubtful(c, written_table(c, table_id), state))
		return status;
	c->state = state;
	c->large = has_large_rows(state->base);
	options.state = state;
	status = wc_overlay_picture(&c->overlay, state, &options.table, err);
	if (status != WC_OK)
		return status;
	status = wc_tablewriter_create(&options, &c->writer, err);
	wc_table_unref(options.table);
	return status;
}

/* --- rows -----------------------------------------------------------------*/

static bool
must_be_absent(const WcTxnEntry *entry)
{
	WcDecoder	d = wc_decoder(wc_slice(entry->bytes, entry->len));
	WcOp		op;

	return wc_batch_next_op(&d, &op, NULL) == WC_OK && (op.flags & WC_ROW_MUST_BE_ABSENT) != 0;
}

/* The n operations are all on one row. */
static WcStatus
check_row(Check *c, const WcTxnEntry *const *ops, size_t n, WcError *err)
{
	size_t		bytes = 0;
	bool		large;
	WcStatus	status = WC_OK;

	for (size_t i = 0; i < n; i++)
		bytes += ops[i]->len;
	large = c->large || bytes > WC_PACKED_ROW_LARGE(c->engine);
	while (!large && n > 0 && !must_be_absent(ops[n - 1]))
		n--;
	for (size_t i = 0; status == WC_OK && i < n; i++)
	{
		if (ops[i]->offset >= c->state->void_before)
			status = wc_tablewriter_op(c->writer, ops[i], err);
	}
	if (status == WC_OK && large)
	{
		int64_t		last_ts = 0;

		return wc_tablewriter_finish_row(c->writer, &last_ts, err);
	}
	wc_tablewriter_leave_row(c->writer);
	return status;
}

static bool
is_cancelled(Check *c)
{
	return c->nrows++ % WC_CANCEL_CELLS == 0 && c->cancel != NULL &&
		atomic_load_explicit(c->cancel, memory_order_relaxed);
}

static WcStatus
check_rows(Check *c, WcError *err)
{
	bool		any = false;
	uint32_t	table_id = 0;
	const WcTxnEntry *const *ops;
	size_t		n;
	WcTxnWalk  *walk = NULL;
	WcStatus	status = wc_txnwalk_open(c->txn, &walk, err);

	while (status == WC_OK && (status = wc_txnwalk_next(walk, &ops, &n, err)) == WC_OK)
	{
		if (is_cancelled(c))
			status = wc_error(err, WC_CANCELLED, "the check of a transaction was cancelled");
		else if (!any || table_id != ops[0]->table_id)
			status = enter_table(c, ops[0]->table_id, err);
		any = true;
		table_id = ops[0]->table_id;
		if (status == WC_OK && c->writer)
			status = check_row(c, ops, n, err);
	}
	wc_txnwalk_close(walk);
	return status == WC_END ? WC_OK : status;
}

WcStatus
wc_engine_check(WcEngine *engine, WcTxn *txn, const atomic_bool *cancel, WcError *err)
{
	Check		c = {.engine = engine,.txn = txn,.cancel = cancel,.ts = wc_engine_provisional_ts(engine)};
	bool		doubtful = false;
	WcStatus	status;

	if (!wc_txn_is_whole(txn))
		return wc_error(err, WC_CORRUPT, "the transaction's batch ends amid an operation");
	wc_overlay_init(&c.overlay, engine, wc_txn_database(txn), true);
	status = check_catalog(&c, err);
	if (status == WC_OK)
		status = check_tables(&c, &doubtful, err);
	if (status == WC_OK && doubtful)
		status = check_rows(&c, err);
	wc_tablewriter_free(c.writer);
	wc_overlay_free(&c.overlay);
	return status;
}
