/*
 * rpc/session/rowlock.c: a session locks rows, and learns whether they have changed.
 */
#include "rpc/session/rowlock.h"

#include <inttypes.h>

#include "read/cell/quote.h"

/* --- has a row changed? ------------------------------------------------------------ */

/* A Get of one row. */
typedef struct RowScan
{
	WcScan		scan;
	WcRange		range;
	WcColumn	columns[WC_FAMILIES_MAX];
} RowScan;

static void
init_scan(RowScan *r, uint32_t table_id, WcSlice row)
{
	wc_scan_init(&r->scan, table_id);
	r->range = (WcRange) {.start = row,.stop = row,.start_inclusive = true,.stop_inclusive = true};
	r->scan.nranges = 1;
	r->scan.ranges = &r->range;
}

/* Reads the next block of both scanners.  *same: the blocks are equal, so the rows are equal so far.  *end: these were the
 * last blocks. */
static WcStatus
compare_blocks(WcScanner *a, WcScanner *b, WcBuf *buf, bool *same, bool *end, WcError *err)
{
	WcStatus	status;
	WcStatus	other;
	size_t		middle;

	wc_buf_reset(buf, 2 * WC_BLOCK_MAX);
	status = wc_scanner_next(a, buf, WC_BLOCK_MAX, 0, err);
	if (status != WC_OK && status != WC_END)
		return status;
	middle = buf->len;
	other = wc_scanner_next(b, buf, WC_BLOCK_MAX, 0, err);
	if (other != WC_OK && other != WC_END)
		return other;
	if (buf->failed)
		return wc_buf_status(buf, "row", err);
	*same = status == other &&
		wc_slice_eq(wc_slice(buf->data, middle), wc_slice(buf->data + middle, buf->len - middle));
	*end = status == WC_END;
	return WC_OK;
}

static WcStatus
compare(WcSession *s, const RowScan *r, const WcReadPoint *then, bool *changed, WcError *err)
{
	WcStorage  *storage = wc_engine_storage(s->engine);
	WcReadPoint at = *then;
	WcScanner  *before = NULL;
	WcScanner  *now = NULL;
	WcBuf		buf = WC_BUF_INIT;
	bool		same = true;
	bool		end = false;
	WcStatus	status;

	at.txn = NULL;
	status = wc_scanner_open(storage, &r->scan, &at, &before, err);
	at.snapshot = NULL;
	if (status == WC_OK)
		status = wc_scanner_open(storage, &r->scan, &at, &now, err);
	while (status == WC_OK && same && !end)
		status = compare_blocks(before, now, &buf, &same, &end, err);
	*changed = !same;
	wc_scanner_close(before);
	wc_scanner_close(now);
	wc_buf_free(&buf);
	return status;
}

/* False: no transaction has written to the row since the snapshot. */
static bool
perhaps_changed(const WcSession *s, uint32_t table_id, WcSlice row, const WcReadPoint *then)
{
	return wc_rowstamps_perhaps_since(wc_epochs_stamps(s->epochs), table_id, row, wc_snapshot_last_ts(then->snapshot));
}

WcStatus
wc_rowlock_changed(WcSession *s, uint32_t table_id, const uint32_t *families, uint32_t nfamilies,
				   WcSlice row, const WcReadPoint *then, bool *changed, WcError *err)
{
	WcStorage  *storage = wc_engine_storage(s->engine);
	RowScan		r;

	*changed = false;
	if (!perhaps_changed(s, table_id, row, then))
		return WC_OK;
	if (!storage->ops->is_committed(storage, table_id))
		return WC_OK;			/* no other transaction knows the table */

	init_scan(&r, table_id, row);
	r.scan.versions = WC_VERSIONS_MAX;
	r.scan.want_ts = true;
	/* a transaction that has changed the catalog may have families that the snapshot lacks: compare all families */
	if (s->txn == NULL || wc_txn_ncatalog(s->txn) == 0)
	{
		for (uint32_t i = 0; i < nfamilies; i++)
			r.columns[i] = (WcColumn) {.family = families[i],.kind = WC_COLUMN_FAMILY};
		r.scan.columns = r.columns;
		r.scan.ncolumns = nfamilies;
	}
	return compare(s, &r, then, changed, err);
}

WcStatus
wc_rowlock_exists(WcSession *s, uint32_t table_id, const uint32_t *families, uint32_t nfamilies,
				  WcSlice row, const WcReadPoint *then, bool *exists, WcError *err)
{
	RowScan		r;

	init_scan(&r, table_id, row);
	r.scan.rows_by_existence = true;
	r.scan.nfamilies = nfamilies;
	r.scan.families = (uint32_t *) families;
	r.scan.row_limit = 1;
	return wc_rowlock_gives(s, &r.scan, then, exists, err);
}

WcStatus
wc_rowlock_gives(WcSession *s, const WcScan *get, const WcReadPoint *then, bool *gives, WcError *err)
{
	WcReadPoint at = *then;
	WcScanner  *scanner;
	WcBuf		block = WC_BUF_INIT;
	WcBlockReader reader;
	WcSlice		found;
	WcCell		cell;
	uint32_t	colno;
	WcStatus	status;

	at.snapshot = NULL;
	status = wc_scanner_open(wc_engine_storage(s->engine), get, &at, &scanner, err);
	if (status != WC_OK)
		return status;
	status = wc_scanner_next(scanner, &block, WC_BLOCK_FIRST, 0, err);
	if (status == WC_END)
		status = WC_OK;
	if (status == WC_OK)
		status = wc_block_open(&reader, wc_buf_slice(&block), err);
	if (status == WC_OK)
		*gives = wc_block_next(&reader, &found, &cell, &colno) == WC_BLOCK_ROW;
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	return status;
}

/* Has the row, which is locked, changed?  If it is gone, its lock is released: there is nothing to protect. */
static WcStatus
look_at_change(WcSession *s, WcLockOwner *owner, const WcLockMessage *m, WcSlice row, const WcReadPoint *then, bool added,
			   uint8_t *said, WcError *err)
{
	bool		changed = false;
	bool		exists = true;
	WcStatus	status;

	*said = 0;
	if (then->snapshot == NULL)
		return WC_OK;
	status = wc_rowlock_changed(s, m->table_id, m->families, m->nfamilies, row, then, &changed, err);
	if (status == WC_OK && changed && added && !m->only_absent)
		status = wc_rowlock_exists(s, m->table_id, m->families, m->nfamilies, row, then, &exists, err);
	if (status == WC_OK && !exists)
		wc_lock_give_back(s->locktable, owner, m->table_id, row);
	*said = (uint8_t) ((changed ? WC_LOCKED_CHANGED : 0) | (exists ? 0 : WC_LOCKED_GONE));
	return status;
}

/* Has the transaction written the row in this command or a later one? */
static WcStatus
is_rewritten(WcSession *s, uint32_t table_id, WcSlice row, uint32_t cid, bool *rewritten, WcError *err)
{
	WcRange		range = {.start = row,.stop = row,.start_inclusive = true,.stop_inclusive = true};
	const WcTxnEntry *const *entries;
	uint32_t	passed_cid = UINT32_MAX;
	WcTxnView  *view;
	size_t		n;
	WcStatus	status;

	*rewritten = false;
	if (s->txn == NULL)
		return WC_OK;
	status = wc_txnview_open(s->txn, table_id, cid, &range, false, &view, err);
	if (status != WC_OK)
		return status;
	status = wc_txnview_take(view, row, 0, &entries, &n, &passed_cid, err);
	*rewritten = passed_cid != UINT32_MAX;
	wc_txnview_close(view);
	return status;
}

/*
 * Locks the row unless it exists.  Another transaction that has locked it in a mode weaker than EXCLUSIVE neither makes nor
 * deletes it: so if the row exists, the caller need not wait for that transaction.
 */
static WcStatus
lock_absent(WcSession *s, WcLockOwner *owner, const WcLockMessage *m, const WcLockRequest *request, WcSlice row, const WcReadPoint *then,
			WcLockHolder *holder, bool *exists, WcError *err)
{
	WcLockRequest least = *request;
	WcLockHolder of_all;
	WcStatus	status = wc_lock_acquire(s->locktable, owner, request, row, holder, err);

	*exists = false;
	if (status != WC_OK)
		return status;
	if (holder->xid != 0)
	{
		least.mode = least.enough = WC_LOCK_KEY_SHARE;
		wc_lock_look(s->locktable, owner, &least, row, &of_all);
		if (of_all.xid != 0)
			return WC_OK;
	}
	status = wc_rowlock_exists(s, m->table_id, m->families, m->nfamilies, row, then, exists, err);
	if (status != WC_OK || !*exists)
		return status;
	if (holder->added)
		wc_lock_give_back(s->locktable, owner, m->table_id, row);
	holder->xid = 0;
	return WC_OK;
}

static WcLockRequest
lock_request(const WcLockMessage *m)
{
	WcLockRequest request = {
		.table_id = m->table_id,.mode = m->mode,.enough = m->mode,.xid = m->xid,.subid = m->subid,
		.brief = true
	};

	return request;
}

/* Rows that are looked for with one scan. */
typedef struct Sought
{
	const WcSlice *rows;
	size_t		n;				/* at most WC_LOCK_GROUP */
	uint8_t		order[WC_LOCK_GROUP];	/* of their keys, ascending */
	uint64_t	found;			/* bit i: rows[i] exists */
} Sought;

/* Sorts the rows, which are mostly in order already. */
static void
set_order(Sought *x)
{
	for (size_t i = 0; i < x->n; i++)
	{
		size_t		at = i;

		for (; at > 0 && wc_slice_cmp(x->rows[x->order[at - 1]], x->rows[i]) > 0; at--)
			x->order[at] = x->order[at - 1];
		x->order[at] = (uint8_t) i;
	}
}

/* Marks the rows of a block, which come in the order of their keys; *at: how many of the sought rows have been passed. */
static WcStatus
mark_found(Sought *x, size_t *at, WcSlice block, WcError *err)
{
	WcBlockReader reader;
	WcBlockEntry entry;
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;
	WcStatus	status = wc_block_open(&reader, block, err);

	if (status != WC_OK)
		return status;
	while ((entry = wc_block_next(&reader, &row, &cell, &colno)) == WC_BLOCK_ROW)
	{
		for (; *at < x->n && wc_slice_cmp(x->rows[x->order[*at]], row) <= 0; ++*at)
		{
			if (wc_slice_eq(x->rows[x->order[*at]], row))
				x->found |= UINT64_C(1) << x->order[*at];
		}
	}
	return entry == WC_BLOCK_DONE ? WC_OK : wc_error(err, WC_CORRUPT, "rows that were looked for are damaged");
}

/* Which of the rows exist, as wc_rowlock_exists tells? */
static WcStatus
find_existing(WcSession *s, const WcLockMessage *m, const WcReadPoint *then, Sought *x, WcError *err)
{
	WcReadPoint at = *then;
	WcRange		ranges[WC_LOCK_GROUP];
	WcScan		scan;
	WcScanner  *scanner;
	WcBuf		block = WC_BUF_INIT;
	size_t		passed = 0;
	WcStatus	status;

	wc_scan_init(&scan, m->table_id);
	scan.rows_by_existence = true;
	scan.nfamilies = m->nfamilies;
	scan.families = (uint32_t *) m->families;
	scan.ranges = ranges;
	set_order(x);
	for (size_t i = 0; i < x->n; i++)
	{
		WcSlice		row = x->rows[x->order[i]];

		if (scan.nranges == 0 || !wc_slice_eq(ranges[scan.nranges - 1].start, row))
			ranges[scan.nranges++] = (WcRange) {.start = row,.stop = row,.start_inclusive = true,.stop_inclusive = true};
	}
	at.snapshot = NULL;
	status = wc_scanner_open(wc_engine_storage(s->engine), &scan, &at, &scanner, err);
	if (status != WC_OK)
		return status;
	do
	{
		WcStatus	marked;

		wc_buf_reset(&block, 2 * WC_BLOCK_MAX);
		status = wc_scanner_next(scanner, &block, WC_BLOCK_MAX, 0, err);
		if (status != WC_OK && status != WC_END)
			break;
		marked = mark_found(x, &passed, wc_buf_slice(&block), err);
		if (marked != WC_OK)
			status = marked;
	} while (status == WC_OK);
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	return status == WC_END ? WC_OK : status;
}

/* Locks some of the rows, those that do not exist, up to the first one that another transaction has locked: *n of them. */
static WcStatus
lock_absent_rows(WcSession *s, WcLockOwner *owner, const WcLockMessage *m, uint32_t from, const WcReadPoint *then, uint8_t *said,
				 uint32_t *n, WcError *err)
{
	WcLockRequest request = lock_request(m);
	Sought		x = {.rows = m->rows + from};
	size_t		most = m->nrows - from < WC_LOCK_GROUP ? m->nrows - from : WC_LOCK_GROUP;
	WcLockHolder holder;
	uint64_t	added;
	WcStatus	status = wc_lock_acquire_rows(s->locktable, owner, &request, x.rows, most, &x.n, &added, &holder, err);

	*n = (uint32_t) x.n;
	if (status == WC_OK && x.n > 0)
		status = find_existing(s, m, then, &x, err);
	for (size_t i = 0; i < x.n && status == WC_OK; i++)
	{
		bool		exists = (x.found >> i & 1) != 0;

		if (exists && (added >> i & 1) != 0)
			wc_lock_give_back(s->locktable, owner, m->table_id, x.rows[i]);
		status = look_at_change(s, owner, m, x.rows[i], then, false, &said[i], err);
		said[i] |= exists ? WC_LOCKED_EXISTS : 0;
	}
	wc_lock_keep(owner);
	return status;
}

/* Locks one row.  *holder: a transaction that has locked it in a conflicting mode; *said: the row's byte of the answer. */
static WcStatus
lock_row(WcSession *s, WcLockOwner *owner, const WcLockMessage *m, WcSlice row, const WcReadPoint *then, WcLockHolder *holder,
		 uint8_t *said, WcError *err)
{
	WcLockRequest request = lock_request(m);
	bool		exists = false;
	bool		rewritten = false;
	WcStatus	status;

	*said = 0;
	if (m->only_absent)
		status = lock_absent(s, owner, m, &request, row, then, holder, &exists, err);
	else
		status = wc_lock_acquire(s->locktable, owner, &request, row, holder, err);
	if (status == WC_OK && (holder->xid == 0 || m->serializable))
		status = look_at_change(s, owner, m, row, then, holder->added, said, err);
	if (status == WC_OK && m->tell_rewritten)
		status = is_rewritten(s, m->table_id, row, m->cid, &rewritten, err);
	*said |= (uint8_t) ((exists ? WC_LOCKED_EXISTS : 0) | (rewritten ? WC_LOCKED_REWRITTEN : 0));
	return status;
}

WcStatus
wc_rowlock_rows(WcSession *s, const WcLockMessage *m, const WcReadPoint *then, uint8_t *said,
				WcLockResult *result, WcError *err)
{
	bool		together = m->only_absent && !m->serializable && !m->tell_rewritten;
	WcLockOwner *owner;
	WcStatus	status = wc_session_enter(s, m->owner, &owner, err);

	*result = (WcLockResult) {.rows = said};
	if (status != WC_OK)
		return status;
	while (status == WC_OK && result->nlocked < m->nrows)
	{
		uint8_t    *of_row = &said[result->nlocked];
		uint32_t	n = 0;
		WcLockHolder holder;
		bool		ends;

		if (together && m->nrows - result->nlocked > 1)
			status = lock_absent_rows(s, owner, m, result->nlocked, then, of_row, &n, err);
		result->nlocked += n;
		if (status != WC_OK || n > 0)
			continue;
		status = lock_row(s, owner, m, m->rows[result->nlocked], then, &holder, of_row, err);
		wc_lock_keep(owner);
		if (status != WC_OK)
			break;
		ends = m->serializable && (*of_row & WC_LOCKED_CHANGED) != 0;
		if (holder.xid != 0 && !ends)
		{
			result->holder = holder.xid;
			result->has_weaker = holder.has_weaker;
			break;
		}
		result->nlocked++;
		if (ends)
			break;
	}
	result->check = wc_engine_has_large_rows(s->engine, m->table_id);
	wc_session_leave(s, owner);
	return status;
}

/* --- at commit -------------------------------------------------------------------- */

/* A row that the transaction has locked in mode NO KEY UPDATE, as UPDATE does, need not be locked again; others are locked
 * in mode EXCLUSIVE. */
static WcLockRequest
commit_request(uint32_t table_id, uint64_t xid)
{
	WcLockRequest request = {
		.table_id = table_id,.mode = WC_LOCK_EXCLUSIVE,.enough = WC_LOCK_NO_KEY_UPDATE,.xid = xid
	};

	return request;
}

/* Locks each table as a whole in which the transaction has written very much, if no other transaction has locks there.
 * *rest: other tables have writes, too. */
static WcStatus
lock_tables(WcSession *s, WcLockOwner *owner, const WcTxn *txn, bool *rest, WcError *err)
{
	size_t		n;
	const WcTxnTable *tables = wc_txn_tables(txn, &n);

	*rest = false;
	for (size_t i = 0; i < n; i++)
	{
		WcLockRequest request = commit_request(tables[i].id, owner->xid);
		bool		got = tables[i].nops == 0;
		WcStatus	status = WC_OK;

		if (tables[i].nops > WC_LOCK_BATCH)
			status = wc_lock_acquire_table(s->locktable, owner, &request, &got, err);
		if (status != WC_OK)
			return status;
		*rest |= !got;
	}
	return WC_OK;
}

/* The transaction's operations on one row. */
typedef struct RowWrites
{
	const WcTxnEntry *const *ops;	/* in their order */
	size_t		n;
} RowWrites;

/* The families that are written; *nfamilies stays 0 when there are too many to tell. */
static WcStatus
families_of(const RowWrites *writes, uint32_t families[WC_FAMILIES_MAX], uint32_t *nfamilies, WcError *err)
{
	WcStatus	status = WC_OK;

	*nfamilies = 0;
	for (size_t i = 0; i < writes->n; i++)
	{
		const WcTxnEntry *entry = writes->ops[i];
		WcDecoder	d = wc_decoder(wc_slice(entry->bytes, entry->len));
		WcItem		item;
		WcOp		op;

		status = wc_batch_next_op(&d, &op, err);
		if (status != WC_OK)
			return status;
		d = wc_decoder(op.items);
		while ((status = wc_op_next_item(&d, &item, err)) == WC_OK)
		{
			uint32_t	known = 0;

			while (known < *nfamilies && families[known] != item.family)
				known++;
			if (known < *nfamilies)
				continue;
			if (*nfamilies == WC_FAMILIES_MAX)
			{
				*nfamilies = 0;
				return WC_OK;
			}
			families[(*nfamilies)++] = item.family;
		}
		if (status != WC_END)
			return status;
	}
	return WC_OK;
}

/* Does the transaction empty or drop the table?  Then changes of its rows since the snapshot do not matter. */
static WcStatus
empties_table(const WcTxn *txn, uint32_t table_id, bool *empties, WcError *err)
{
	size_t		n = wc_txn_ncatalog(txn);

	*empties = false;
	for (size_t i = 0; i < n && !*empties; i++)
	{
		WcOp		op;
		uint64_t	offset;
		WcStatus	status = wc_txn_catalog_op(txn, i, &op, &offset, err);

		if (status != WC_OK)
			return status;
		*empties = (op.kind == WC_OP_TRUNCATE_TABLE || op.kind == WC_OP_DROP_TABLE) && op.table_id == table_id;
	}
	return WC_OK;
}

static WcStatus
error_changed(WcSession *s, uint32_t table_id, WcSlice row, const WcReadPoint *then, WcError *err)
{
	WcStorage  *storage = wc_engine_storage(s->engine);
	WcReadPoint at = *then;
	WcTable    *table;
	bool		hidden;
	char		name[2 * WC_NAME_MAX + 2];
	char		text[WC_QUOTE_MAX];
	WcStatus	status;

	at.txn = NULL;
	status = storage->ops->open_table(storage, &at, table_id, &table, &hidden, err);
	if (status != WC_OK)
		return status;
	(void) wc_error(err, WC_CONFLICT, "could not serialize access due to concurrent update");
	wc_error_detail(err, "Row %s of stored table \"%s\" was changed by another transaction after this one's snapshot.",
					wc_quote(text, sizeof(text), row), wc_table_desc_fullname(&table->desc, name, sizeof(name)));
	wc_error_row(err, table_id, row.data, row.len);
	storage->ops->close_table(table);
	return WC_CONFLICT;
}

/* WC_CONFLICT if the row, which has just been locked, has changed since the snapshot. */
static WcStatus
require_unchanged(WcSession *s, const WcTxn *txn, const RowWrites *writes, const WcReadPoint *then, WcError *err)
{
	uint32_t	families[WC_FAMILIES_MAX];
	uint32_t	nfamilies;
	uint32_t	table_id = writes->ops[0]->table_id;
	WcSlice		row = wc_txnentry_row(writes->ops[0]);
	bool		empties;
	bool		changed;
	WcStatus	status;

	if (!perhaps_changed(s, table_id, row, then))
		return WC_OK;
	status = empties_table(txn, table_id, &empties, err);
	if (status != WC_OK || empties)
		return status;
	status = families_of(writes, families, &nfamilies, err);
	if (status == WC_OK)
		status = wc_rowlock_changed(s, table_id, families, nfamilies, row, then, &changed, err);
	if (status == WC_OK && changed)
		status = error_changed(s, table_id, row, then, err);
	return status;
}

/* Locks the rows in the order of their keys, so that commits which have to wait for each other do not wait in a circle. */
static WcStatus
lock_rows(WcSession *s, WcLockOwner *owner, WcTxn *txn, const WcReadPoint *then, const atomic_bool *cancel,
		  uint64_t *holder, WcError *err)
{
	WcTxnWalk  *walk = NULL;
	uint64_t	nrows = 0;
	RowWrites	writes;
	WcStatus	status = wc_txnwalk_open(txn, &walk, err);

	while (status == WC_OK && *holder == 0 && (status = wc_txnwalk_next(walk, &writes.ops, &writes.n, err)) == WC_OK)
	{
		const WcTxnEntry *entry = writes.ops[0];
		WcLockRequest request = commit_request(entry->table_id, owner->xid);
		WcLockHolder in_the_way;

		if (nrows++ % WC_CANCEL_CELLS == 0 && cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed))
		{
			status = wc_error(err, WC_CANCELLED, "locking the rows of a transaction was cancelled");
			break;
		}
		status = wc_lock_acquire(s->locktable, owner, &request, wc_txnentry_row(entry), &in_the_way, err);
		if (status == WC_OK)
			*holder = in_the_way.xid;
		if (status == WC_OK && then != NULL && *holder == 0 && !in_the_way.held)
			status = require_unchanged(s, txn, &writes, then, err);
	}
	wc_txnwalk_close(walk);
	return status == WC_END ? WC_OK : status;
}

WcStatus
wc_rowlock_commit(WcSession *s, WcTxn *txn, uint64_t xid, bool lasts, const WcReadPoint *then, const atomic_bool *cancel,
				  uint64_t *holder, WcError *err)
{
	WcLockOwner *owner;
	bool		rest = true;
	WcStatus	status = wc_session_enter(s, xid, &owner, err);

	*holder = 0;
	if (status != WC_OK)
		return status;
	if (!lasts)
		status = lock_tables(s, owner, txn, &rest, err);
	if (status == WC_OK && (rest || then != NULL))
		status = lock_rows(s, owner, txn, then, cancel, holder, err);
	wc_session_leave(s, owner);
	return status;
}

/* --- prepared transactions --------------------------------------------------------- */

typedef struct LockList
{
	WcBuf		ops;
	WcBatchBuilder builder;
	uint64_t	at;				/* of ops */
	WcRowLockTaker take;
	void	   *arg;
} LockList;

static WcStatus
give_list(LockList *list, WcError *err)
{
	WcStatus	status = list->take(list->arg, list->at, wc_buf_slice(&list->ops), err);

	list->at += list->ops.len;
	wc_buf_reset(&list->ops, 2 * WC_CHANGES_CHUNK);
	wc_batch_init(&list->builder, &list->ops);
	return status;
}

static WcStatus
list_lock(void *arg, uint32_t table_id, WcRowLockMode mode, WcSlice row, WcError *err)
{
	LockList   *list = arg;
	WcStatus	status = wc_batch_lock(&list->builder, table_id, mode, row, err);

	if (status == WC_OK && list->ops.len >= WC_CHANGES_CHUNK)
		status = give_list(list, err);
	return status;
}

WcStatus
wc_rowlock_list(WcSession *s, uint64_t xid, uint64_t at, WcRowLockTaker take, void *arg, WcError *err)
{
	LockList	list = {.ops = WC_BUF_INIT,.at = at,.take = take,.arg = arg};
	WcLockOwner *owner;
	WcStatus	status = wc_session_enter(s, xid, &owner, err);

	if (status != WC_OK)
		return status;
	wc_batch_init(&list.builder, &list.ops);
	status = wc_lock_visit(owner, list_lock, &list, err);
	wc_session_leave(s, owner);
	if (status == WC_OK && list.ops.len > 0)
		status = give_list(&list, err);
	wc_buf_free(&list.ops);
	return status;
}

static WcStatus
restore_lock(WcLockTable *locktable, WcLockOwner *owner, const WcOp *op, WcError *err)
{
	WcLockRequest request = {
		.table_id = op->table_id,.mode = (WcRowLockMode) op->mode,.enough = (WcRowLockMode) op->mode,.xid = owner->xid,.subid = 1,
		.restored = true
	};
	WcLockHolder holder = {0};
	bool		got = true;
	WcStatus	status;

	if (op->row.len == 0)
		status = wc_lock_acquire_table(locktable, owner, &request, &got, err);
	else
		status = wc_lock_acquire(locktable, owner, &request, op->row, &holder, err);
	if (status == WC_OK && (holder.xid != 0 || !got))
		status = wc_error(err, WC_CORRUPT, "rows that prepared transaction %" PRIu64 " has locked are locked by another one",
						  owner->xid);
	return status;
}

WcStatus
wc_rowlock_restore(WcLockTable *locktable, uint64_t xid, WcSlice batch, WcError *err)
{
	WcLockOwner *owner = wc_lock_enter(locktable, xid);
	WcDecoder	d = wc_decoder(batch);
	WcStatus	status;
	WcOp		op;

	if (owner == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for locking rows");
	while ((status = wc_batch_next_op(&d, &op, err)) == WC_OK)
	{
		if (op.kind == WC_OP_LOCK)
			status = restore_lock(locktable, owner, &op, err);
		if (status != WC_OK)
			break;
	}
	(void) wc_lock_leave(locktable, owner);
	return status == WC_END ? WC_OK : status;
}
