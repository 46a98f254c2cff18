/*
 * test/unit/test_modify.c: MODIFY: one change to all rows of a scan, in a session.
 */
#include "kitlog.h"

#include <stdio.h>
#include <stdlib.h>

#include "rowkey/keycheck.h"
#include "rpc/modify.h"

/* Several blocks, several chunks. */
#define ROWS 20000

typedef struct Site
{
	Kit			kit;
	KitLog		log;			/* the lock table looks for transactions in flight there */
	WcGetCache *getcache;
	WcEpochs   *epochs;
	WcLockTable *locktable;
	atomic_bool cancel;
	WcSession	session;
	uint64_t	bytes_max;		/* of the batch */
	WcBuf		stream;			/* the batch as the backend has it */
	int			ntaken;			/* chunks that came before the last bytes of changes */
	WcScanStats stats;			/* of the last change */
	bool		helped;			/* a second thread reads, too */
	int			nsplits;		/* of scans */
	atomic_bool over;			/* it is to end */
	char		stopped_at[32]; /* the row that another transaction had, or had changed */
} Site;

/* Rows first .. last - 1 get the value "new" in f:q; those without f:q in f:bare. */
typedef struct Change
{
	int			first;
	int			last;
	uint32_t	key_length;		/* of keys that can be read; 0: of all */
	bool		spoilt;			/* items that make no sense */
	bool		no_items;		/* for rows with f:q */
	uint32_t	table;			/* 0: the kit's */
	bool		serializable;
	bool		locked_first;	/* the one row */
	WcModifyKind kind;			/* of the items; rows with f:q are those that have members */
	bool		key_only;		/* with a kind: a scan that does not tell values */
	WcSnapshot *snapshot;		/* NULL: the newest */
} Change;

static void
row_key(char *key, size_t size, int i)
{
	snprintf(key, size, "r%07d", i);
}

static void
put_rows(Site *site, int from, int to, uint32_t cid)
{
	site->kit.cid = cid;
	for (int i = from; i < to; i++)
	{
		char		key[16];

		row_key(key, sizeof(key), i);
		kit_put(&site->kit, key, 1, "q", KIT_LATEST, "old");
	}
}

/* What the kit has collected goes into the session's batch. */
static void
write(Site *site)
{
	wc_session_write(&site->session, site->stream.len, wc_buf_slice(&site->kit.ops), site->bytes_max);
	assert_false(site->session.txn_failed);
	wc_buf_append_slice(&site->stream, wc_buf_slice(&site->kit.ops));
	wc_buf_reset(&site->kit.ops, SIZE_MAX);
	wc_batch_init(&site->kit.builder, &site->kit.ops);
}

static void
site_open(Site *site, uint8_t packing, int rows)
{
	kit_open(&site->kit);
	kitlog_open(&site->log, &site->kit);
	site->locktable = wc_locktable_create(site->log.options.claims, site->log.options.flight);
	atomic_init(&site->cancel, false);
	site->getcache = kit_getcache(0, 1);
	assert_ok(&site->kit, wc_epochs_create(site->kit.engine, site->getcache, &site->epochs, &site->kit.err));
	wc_session_init(&site->session, site->kit.engine, site->epochs, site->locktable, &site->cancel);
	site->session.database = KIT_DATABASE;
	site->bytes_max = 1 << 30;
	kit_create(&site->kit, "t", packing, 1);
	put_rows(site, 0, rows, 0);
	kit_commit(&site->kit);
}

static void
site_close(Site *site)
{
	wc_session_free(&site->session);
	wc_buf_free(&site->stream);
	wc_locktable_free(site->locktable);
	wc_epochs_free(site->epochs);
	kitlog_close(&site->log);
	free(site->getcache);
	kit_close(&site->kit);
}

static WcReadPoint
read_point(Site *site, uint32_t cid)
{
	WcReadPoint at = {
		.txn = wc_session_txn(&site->session),.cid = cid,.database = KIT_DATABASE,.cancel = &site->cancel
	};

	return at;
}

static void
make_items(WcBuf *ops, const char *qualifier, WcSlice *items)
{
	WcBatchBuilder b;
	WcDecoder	d;
	WcOp		op;

	wc_batch_init(&b, ops);
	assert_int_equal(wc_batch_row_begin(&b, 1, 0, kit_s("r"), 0, NULL, 0, NULL), WC_OK);
	assert_int_equal(wc_batch_put(&b, 1, kit_s(qualifier), KIT_LATEST, 0, kit_s("new"), NULL), WC_OK);
	assert_int_equal(wc_batch_row_end(&b, NULL), WC_OK);
	d = wc_decoder(wc_buf_slice(ops));
	assert_int_equal(wc_batch_next_op(&d, &op, NULL), WC_OK);
	*items = op.items;
}

static void
encode_scan(WcBuf *out, uint32_t table, const Change *change)
{
	WcColumn	column = {.family = 1,.kind = WC_COLUMN_EXACT,.qualifier = kit_s("q")};
	WcRange		range = {.start_inclusive = true};
	char		first[16];
	char		last[16];
	WcScan		scan;

	row_key(first, sizeof(first), change->first);
	row_key(last, sizeof(last), change->last);
	range.start = kit_s(first);
	range.stop = kit_s(last);
	if (change->locked_first && change->last == change->first + 1)
	{
		range.stop = range.start;
		range.stop_inclusive = true;
	}
	wc_scan_init(&scan, table);
	scan.nranges = 1;
	scan.ranges = &range;
	scan.rows_by_existence = true;
	scan.ncolumns = 1;
	scan.columns = &column;
	scan.key_only = change->kind == WC_MODIFY_ITEMS || change->key_only;
	wc_scan_encode(out, &scan);
}

/* A backend gets the next bytes. */
static WcStatus
take(void *arg, uint64_t at, WcSlice bytes, WcError *err)
{
	Site	   *site = arg;

	assert_int_equal(at, site->stream.len);
	assert_true(bytes.len >= WC_CHANGES_CHUNK);
	wc_buf_append_slice(&site->stream, bytes);
	site->ntaken++;
	return WC_OK;
}

/* Whatever the change has come to, session and backend have the same batch. */
static void
agree(Site *site, uint64_t before, WcStatus status, const WcModifyResult *result)
{
	WcError		err;
	WcTxn	   *copy;

	if (status == WC_OK && (result->outcome == WC_MODIFY_DONE || result->outcome == WC_MODIFY_BLOCKED))
	{
		wc_buf_append_slice(&site->stream, result->changes);
		assert_int_equal(result->length, site->stream.len);
	}
	else
	{
		site->stream.len = before;
		wc_session_write(&site->session, before, wc_slice(NULL, 0), site->bytes_max);
	}
	assert_int_equal(wc_session_length(&site->session), site->stream.len);
	assert_ok(&site->kit, wc_txn_create(KIT_DATABASE, 1 << 30, &copy, &err));
	assert_ok(&site->kit, wc_txn_append(copy, 0, wc_buf_slice(&site->stream), &err));
	assert_int_equal(wc_txn_count(copy), wc_txn_count(site->session.txn));
	for (size_t i = 0, n; i < (wc_txn_entries(copy, &n), n); i++)
	{
		const WcTxnEntry *a = &wc_txn_entries(copy, &n)[i];
		const WcTxnEntry *b = &wc_txn_entries(site->session.txn, &n)[i];

		assert_true(wc_slice_eq(wc_slice(a->bytes, a->len), wc_slice(b->bytes, b->len)));
	}
	wc_txn_destroy(copy);
}

typedef struct Help
{
	Site	   *site;
	bool		(*work) (void *arg);
	void	   *arg;
} Help;

static void *
helper_main(void *arg)
{
	Help	   *help = arg;

	while (!atomic_load(&help->site->over))
		(void) help->work(help->arg);
	return NULL;
}

/* The run of WcScanHelpers, with one helper. */
static void
run(void *arg, bool (*work) (void *work_arg), void *work_arg)
{
	Help		help = {arg, work, work_arg};
	pthread_t	thread;

	atomic_store(&help.site->over, false);
	assert_int_equal(pthread_create(&thread, NULL, helper_main, &help), 0);
	while (work(work_arg))
		;
	atomic_store(&help.site->over, true);
	pthread_join(thread, NULL);
}

/* The split of WcScanHelpers. */
static WcStatus
split(void *arg, uint32_t table_id, const WcRange *range, const uint32_t *families, uint32_t nfamilies, uint32_t nparts,
	  WcBuf *out, WcError *err)
{
	Site	   *site = arg;
	WcSplitRequest request = {
		.table_id = table_id,.range = *range,.nfamilies = nfamilies,.families = families,.nparts = nparts,.bytes_min = 1
	};

	site->nsplits++;
	return wc_engine_split(site->kit.engine, &request, NULL, out, err);
}

/* Command cid changes rows. */
static WcStatus
change_rows(Site *site, uint32_t cid, Change change, WcModifyResult *result)
{
	WcPartShape shape = {.kind = WC_PART_FIXED,.length = change.key_length};
	WcContentCheck content = {.kind = WC_CONTENT_ANY};
	WcKeyCheck	check = {.layout = {.nparts = change.key_length > 0 ? 1 : 0,.parts = &shape},.contents = &content};
	WcModifyMessage m = {.write_cid = cid,.owner = 7,.xid = 7,.subid = 1,.mode = WC_LOCK_NO_KEY_UPDATE};
	WcBuf		keys = WC_BUF_INIT,
				items = WC_BUF_INIT,
				items_bare = WC_BUF_INIT,
				scan = WC_BUF_INIT;
	WcModifySink sink = {.take = take,.arg = site};
	WcScanHelpers helpers = {split, run, site, 100, 0};
	uint64_t	before = site->stream.len;
	WcArena		arena = WC_ARENA_INIT;
	WcReadPoint at;
	WcStatus	status;

	wc_keycheck_encode(&keys, &check);
	m.serializable = change.serializable;
	m.first = change.locked_first;
	m.kind = (uint8_t) change.kind;
	m.keys = wc_buf_slice(&keys);
	make_items(&items, "q", &m.items);
	make_items(&items_bare, "bare", &m.items_bare);
	if (change.no_items)
		m.items.len = 0;
	if (change.spoilt)
		m.items.len--;
	encode_scan(&scan, change.table ? change.table : site->kit.table, &change);
	m.scan = wc_buf_slice(&scan);

	assert_ok(&site->kit, wc_session_begin_write(&site->session, site->bytes_max, &site->kit.err));
	at = read_point(site, cid);
	at.snapshot = change.snapshot;
	status = wc_modify_rows(&site->session, &m, &at, &sink, site->helped ? &helpers : NULL, &arena, result, &site->stats,
							&site->kit.err);
	agree(site, before, status, result);
	wc_buf_free(&sink.ops);
	wc_buf_free(&keys);
	wc_buf_free(&items);
	wc_buf_free(&items_bare);
	wc_buf_free(&scan);
	site->stopped_at[0] = '\0';
	if (status == WC_OK && result->outcome >= WC_MODIFY_BLOCKED)
		snprintf(site->stopped_at, sizeof(site->stopped_at), "%.*s", (int) result->row.len, (const char *) result->row.data);
	wc_arena_free(&arena);
	return status;
}

static WcModifyResult
change(Site *site, uint32_t cid, Change what)
{
	WcModifyResult result;

	assert_ok(&site->kit, change_rows(site, cid, what, &result));
	return result;
}

/* How many rows have which value, as the session sees them. */
static void
assert_rows(Site *site, int old, int new)
{
	WcReadPoint at = read_point(site, 1000);
	WcScanner  *scanner;
	WcBuf		block = WC_BUF_INIT;
	WcBlockReader r;
	WcStatus	status = WC_OK;
	WcScan		scan;
	int			nold = 0;
	int			nnew = 0;

	wc_scan_init(&scan, site->kit.table);
	assert_ok(&site->kit, wc_scanner_open(wc_engine_storage(site->kit.engine), &scan, &at, &scanner, &site->kit.err));
	while (status == WC_OK)
	{
		WcBlockEntry entry;
		WcSlice		row;
		WcCell		cell;
		uint32_t	colno;

		wc_buf_reset(&block, SIZE_MAX);
		status = wc_scanner_next(scanner, &block, WC_BLOCK_MAX, 0, &site->kit.err);
		assert_true(status == WC_OK || status == WC_END);
		assert_ok(&site->kit, wc_block_open(&r, wc_buf_slice(&block), &site->kit.err));
		while ((entry = wc_block_next(&r, &row, &cell, &colno)) != WC_BLOCK_DONE)
		{
			assert_int_not_equal(entry, WC_BLOCK_CORRUPT);
			if (entry == WC_BLOCK_CELL)
				*(wc_slice_eq(cell.value, kit_s("new")) ? &nnew : &nold) += 1;
		}
	}
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	assert_int_equal(nold, old);
	assert_int_equal(nnew, new);
}

static void
end_transaction(Site *site)
{
	wc_session_end_transaction(&site->session);
	site->stream.len = 0;
}

static void
commit(Site *site)
{
	WcCommit	commit = {
		.position = wc_engine_applied_position(site->kit.engine) + 1,.time_us = atomic_load(&kit_now)
	};
	WcTxn	   *txn = wc_session_txn(&site->session);

	if (txn != NULL)
		assert_ok(&site->kit, wc_engine_apply(site->kit.engine, &commit, txn, &site->kit.commit_ts, &site->kit.err));
	end_transaction(site);
}

static void
a_range_is_changed_where_it_is(void **state)
{
	static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

	for (int p = 0; p < 4; p++)
	{
		Site		site = {.helped = p / 2 == 1};
		WcModifyResult result;

		site_open(&site, packings[p % 2], ROWS);
		result = change(&site, 5, (Change) {.first = 10,.last = ROWS - 10,.key_length = 8});
		assert_int_equal(result.outcome, WC_MODIFY_DONE);
		assert_int_equal(result.rows, ROWS - 20);
		assert_true(site.ntaken > 0);
		assert_int_equal(site.nsplits, site.helped);
		assert_int_equal(site.stats.rows_returned, ROWS - 20);
		assert_int_equal(wc_txn_count(site.session.txn), ROWS - 20);
		assert_rows(&site, 20, ROWS - 20);

		/* operations like any others: a savepoint cuts between them */
		wc_session_write(&site.session, 100 * (result.length / result.rows), wc_slice(NULL, 0), site.bytes_max);
		assert_rows(&site, ROWS - 100, 100);
		commit(&site);
		assert_rows(&site, ROWS - 100, 100);
		site_close(&site);
	}
}

/* Rows in which the scan finds nothing get the other items, if any. */
static void
rows_without_the_column_are_told_apart(void **state)
{
	Site		site = {0};
	WcModifyResult result;

	site_open(&site, WC_PACKING_ROW, 3);
	kit_put(&site.kit, "r0000001x", 2, "other", KIT_LATEST, "v");
	kit_commit(&site.kit);
	result = change(&site, 5, (Change) {.first = 0,.last = 2,.no_items = true});
	assert_int_equal(result.rows, 3);
	assert_int_equal(wc_txn_count(site.session.txn), 1);
	change(&site, 6, (Change) {.first = 1,.last = 3});
	commit(&site);
	assert_string_equal(kit_scan(&site.kit, false),
						"r0000000{f:q=old} r0000001{f:q=new} r0000001x{f:bare=new g:other=v} r0000002{f:q=new}");
	site_close(&site);
}

/* Rows that the session's transaction has locked. */
static uint64_t
nlocks(Site *site)
{
	WcLockOwner *owner = wc_lock_enter(site->locktable, 7);
	uint64_t	n = owner->nlocks;

	wc_lock_leave(site->locktable, owner);
	return n;
}

/* Members of a map: of values that differ, for rows that have members. */
static void
members_that_differ_are_put(void **state)
{
	static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

	for (int p = 0; p < 2; p++)
	{
		Site		site = {0};
		WcSnapshot *then;
		WcModifyResult result;

		site_open(&site, packings[p], 2);
		then = wc_snapshot_take(site.kit.engine);
		kit_put(&site.kit, "r0000001", 1, "q", KIT_LATEST, "new");
		kit_put(&site.kit, "r0000002", 1, "other", KIT_LATEST, "v");
		kit_put(&site.kit, "r0000003", 1, "", KIT_LATEST, "");
		kit_put(&site.kit, "r0000004", 1, "", KIT_LATEST, "v");
		kit_put(&site.kit, "r0000005", 2, "q", KIT_LATEST, "v");
		kit_commit(&site.kit);
		result = change(&site, 5, (Change) {.first = 0,.last = 100,.kind = WC_MODIFY_MEMBERS_MARKED});
		assert_int_equal(result.outcome, WC_MODIFY_DONE);
		assert_int_equal(result.rows, 6);
		assert_int_equal(wc_txn_count(site.session.txn), 3);
		assert_int_equal(nlocks(&site), 6);

		/* of the row that the batch has changed nothing differs any more */
		result = change(&site, 6, (Change) {.first = 0,.last = 1,.locked_first = true,.kind = WC_MODIFY_MEMBERS_MARKED});
		assert_int_equal(result.rows, 1);
		assert_int_equal(wc_txn_count(site.session.txn), 3);

		/* without a mark, any cell of the family is a member */
		change(&site, 6, (Change) {.first = 3,.last = 4,.kind = WC_MODIFY_MEMBERS});
		assert_int_equal(wc_txn_count(site.session.txn), 4);
		commit(&site);
		assert_string_equal(kit_scan(&site.kit, false),
							"r0000000{f:q=new} r0000001{f:q=new} r0000002{f:other=v f:q=new} r0000003{f:= f:q=new} "
							"r0000004{f:=v f:q=new} r0000005{g:q=v}");

		/* a row that another transaction has changed since the snapshot is compared in its newest state */
		kit_put(&site.kit, "r0000001", 1, "q", KIT_LATEST, "newer");
		kit_commit(&site.kit);
		result = change(&site, 7, (Change) {.first = 0,.last = 2,.snapshot = then,.kind = WC_MODIFY_MEMBERS});
		assert_int_equal(result.rows, 2);
		assert_int_equal(wc_txn_count(site.session.txn), 1);
		wc_snapshot_release(site.kit.engine, then);
		end_transaction(&site);

		assert_int_equal(change_rows(&site, 8, (Change) {.first = 0,.last = 2,.kind = WC_MODIFY_MEMBERS,.key_only = true}, &result),
						 WC_INVALID);
		assert_int_equal(change_rows(&site, 8, (Change) {.first = 0,.last = 2,.kind = WC_MODIFY_MEMBERS,.no_items = true}, &result),
						 WC_INVALID);
		site_close(&site);
	}
}

static void
whole_or_not_at_all(bool helped)
{
	Site		site = {.helped = helped};
	WcModifyResult result;

	site_open(&site, WC_PACKING_ROW, ROWS);

	/* operations before it stay; the last key is one byte too long */
	put_rows(&site, ROWS, ROWS + 1, 0);
	kit_put(&site.kit, "r0019999x", 1, "q", KIT_LATEST, "old");
	write(&site);
	result = change(&site, 5, (Change) {.first = 0,.last = ROWS,.key_length = 8});
	assert_int_equal(result.outcome, WC_MODIFY_UNREADABLE);
	assert_int_equal(wc_txn_count(site.session.txn), 2);
	assert_rows(&site, ROWS + 2, 0);

	assert_int_equal(change_rows(&site, 5, (Change) {.first = 0,.last = ROWS,.spoilt = true}, &result), WC_CORRUPT);
	assert_int_equal(change_rows(&site, 5, (Change) {.first = 0,.last = ROWS,.table = 99}, &result), WC_NO_TABLE);
	atomic_store(&site.cancel, true);
	assert_int_equal(change_rows(&site, 5, (Change) {.first = 0,.last = ROWS}, &result), WC_CANCELLED);
	atomic_store(&site.cancel, false);
	assert_int_equal(wc_txn_count(site.session.txn), 2);
	assert_rows(&site, ROWS + 2, 0);
	end_transaction(&site);

	/* what the batch may hold */
	site.bytes_max = 300000;
	put_rows(&site, ROWS, ROWS + 1, 0);
	write(&site);
	result = change(&site, 5, (Change) {.first = 0,.last = ROWS});
	assert_int_equal(result.outcome, WC_MODIFY_TOO_LARGE);
	assert_true(result.length > 300000);
	assert_int_equal(wc_txn_count(site.session.txn), 1);
	commit(&site);
	assert_rows(&site, ROWS + 1, 0);
	site_close(&site);
}

static void
a_change_is_whole_or_not_at_all(void **state)
{
	whole_or_not_at_all(false);
	whole_or_not_at_all(true);
}

/* Command 5 sees what command 4 did, not what command 5 does. */
static void
a_change_sees_the_batch_before_it(void **state)
{
	Site		site = {0};

	site_open(&site, WC_PACKING_CELL, 10);
	put_rows(&site, 10, 15, 4);
	put_rows(&site, 15, 20, 5);
	write(&site);
	assert_int_equal(change(&site, 5, (Change) {.first = 0,.last = 100}).rows, 15);
	assert_int_equal(change(&site, 5, (Change) {.first = 0,.last = 100}).rows, 15);
	assert_rows(&site, 5, 15);
	assert_int_equal(change(&site, 6, (Change) {.first = 0,.last = 100}).rows, 20);
	commit(&site);
	assert_rows(&site, 0, 20);
	site_close(&site);
}

/* A row whose cells do not fit into a block is one row. */
static void
a_row_of_several_blocks_is_one(void **state)
{
	Site		site = {0};
	char		qualifier[16];

	site_open(&site, WC_PACKING_CELL, 0);
	for (int i = 0; i < 60000; i++)
	{
		snprintf(qualifier, sizeof(qualifier), "q%07d", i);
		kit_put(&site.kit, i < 30000 ? "r0000001" : "r0000002", 1, qualifier, KIT_LATEST, "old");
	}
	kit_commit(&site.kit);
	put_rows(&site, 2, 3, 0);
	write(&site);
	assert_int_equal(change(&site, 5, (Change) {.first = 0,.last = 100}).rows, 2);
	assert_rows(&site, 60000, 2);
	site_close(&site);
}

/* This transaction locks a row; the one that makes changes has id 7. */
static void
lock_row(Site *site, uint64_t xid, WcRowLockMode mode, int row)
{
	WcLockOwner *owner = wc_lock_enter(site->locktable, xid);
	WcLockRequest request = {.table_id = site->kit.table,.mode = mode,.enough = mode,.xid = xid,.subid = 1};
	WcLockHolder holder;
	char		key[16];

	row_key(key, sizeof(key), row);
	assert_ok(&site->kit, wc_lock_acquire(site->locktable, owner, &request, kit_s(key), &holder, &site->kit.err));
	wc_lock_leave(site->locktable, owner);
	assert_int_equal(holder.xid, 0);
}

static void
lock_elsewhere(Site *site, WcRowLockMode mode, int row)
{
	lock_row(site, 99, mode, row);
}

/* Up to a row that another transaction has all is done; from there on it goes on later. */
static void
stops_at_a_row_that_is_not_free(bool helped)
{
	Site		site = {.helped = helped};
	WcModifyResult result;

	site_open(&site, WC_PACKING_ROW, ROWS);
	lock_elsewhere(&site, WC_LOCK_KEY_SHARE, 5);
	lock_elsewhere(&site, WC_LOCK_SHARE, 15000);
	result = change(&site, 5, (Change) {.first = 0,.last = ROWS});
	assert_int_equal(result.outcome, WC_MODIFY_BLOCKED);
	assert_int_equal(result.holder, 99);
	assert_false(result.has_weaker);
	assert_string_equal(site.stopped_at, "r0015000");
	assert_int_equal(result.rows, 15000);
	assert_rows(&site, ROWS - 15000, 15000);

	assert_true(wc_lock_release_of(site.locktable, 99, 0, false));
	result = change(&site, 5, (Change) {.first = 15000,.last = ROWS});
	assert_int_equal(result.outcome, WC_MODIFY_DONE);
	assert_int_equal(result.rows, ROWS - 15000);
	assert_int_equal(wc_txn_count(site.session.txn), ROWS);
	assert_int_equal(nlocks(&site), ROWS);
	commit(&site);
	assert_int_equal(nlocks(&site), 0);
	assert_rows(&site, 0, ROWS);
	site_close(&site);
}

static void
a_change_stops_at_a_row_that_is_not_free(void **state)
{
	stops_at_a_row_that_is_not_free(false);
	stops_at_a_row_that_is_not_free(true);
}

/* A row that another transaction has changed since the snapshot is read in its newest state. */
static void
a_row_that_has_changed_is_read_again(void **state)
{
	Site		site = {0};
	WcSnapshot *then;
	WcModifyResult result;

	site_open(&site, WC_PACKING_ROW, 6);
	then = wc_snapshot_take(site.kit.engine);
	kit_delete(&site.kit, WC_DELETE_FAMILY, "r0000001", 1, "", KIT_LATEST);
	kit_delete(&site.kit, WC_DELETE_FAMILY, "r0000002", 1, "", KIT_LATEST);
	kit_put(&site.kit, "r0000002", 2, "other", KIT_LATEST, "v");
	kit_put(&site.kit, "r0000003", 1, "q", KIT_LATEST, "newer");
	put_rows(&site, 6, 7, 0);
	kit_commit(&site.kit);
	result = change(&site, 5, (Change) {.first = 0,.last = 100,.snapshot = then});
	assert_int_equal(result.outcome, WC_MODIFY_DONE);
	assert_int_equal(result.rows, 5);
	assert_int_equal(wc_txn_count(site.session.txn), 5);
	assert_int_equal(nlocks(&site), 5);	/* not of the row that is gone */
	commit(&site);
	assert_string_equal(kit_scan(&site.kit, false),
						"r0000000{f:q=new} r0000002{f:bare=new g:other=v} r0000003{f:q=new} r0000004{f:q=new} "
						"r0000005{f:q=new} r0000006{f:q=old}");

	/* a lock that the transaction had before stays */
	end_transaction(&site);
	assert_int_equal(nlocks(&site), 0);
	lock_row(&site, 7, WC_LOCK_NO_KEY_UPDATE, 1);
	result = change(&site, 5, (Change) {.first = 1,.last = 2,.snapshot = then});
	assert_int_equal(result.rows, 0);
	assert_int_equal(nlocks(&site), 1);
	end_transaction(&site);

	/* serializable: such a row ends the request */
	result = change(&site, 5, (Change) {.first = 4,.last = 100,.snapshot = then,.serializable = true});
	assert_int_equal(result.outcome, WC_MODIFY_CHANGED);
	assert_string_equal(site.stopped_at, "r0000004");
	assert_int_equal(wc_txn_count(site.session.txn), 0);
	end_transaction(&site);

	/* whichever transaction has locked it */
	lock_elsewhere(&site, WC_LOCK_EXCLUSIVE, 4);
	result = change(&site, 5, (Change) {.first = 4,.last = 100,.snapshot = then,.serializable = true});
	assert_int_equal(result.outcome, WC_MODIFY_CHANGED);
	assert_true(wc_lock_release_of(site.locktable, 99, 0, false));
	wc_snapshot_release(site.kit.engine, then);
	end_transaction(&site);
	then = wc_snapshot_take(site.kit.engine);
	result = change(&site, 5, (Change) {.first = 0,.last = 100,.snapshot = then,.serializable = true});
	assert_int_equal(result.outcome, WC_MODIFY_DONE);
	assert_int_equal(result.rows, 6);
	wc_snapshot_release(site.kit.engine, then);
	site_close(&site);
}

/* Very many rows: the table is locked, with little memory. */
static void
a_change_of_many_rows_locks_the_table(void **state)
{
	enum {MANY = WC_ROW_LOCKS_TABLE + 10};
	WcLockOwner *other;
	WcLockRequest request = {.mode = WC_LOCK_KEY_SHARE,.enough = WC_LOCK_KEY_SHARE,.xid = 99,.subid = 1};
	WcLockHolder holder;
	Site		site = {0};

	site_open(&site, WC_PACKING_ROW, MANY);
	assert_int_equal(change(&site, 5, (Change) {.first = 0,.last = MANY}).rows, MANY);
	assert_int_equal(nlocks(&site), 0);
	request.table_id = site.kit.table;
	other = wc_lock_enter(site.locktable, 99);
	assert_ok(&site.kit, wc_lock_acquire(site.locktable, other, &request, kit_s("any"), &holder, &site.kit.err));
	wc_lock_leave(site.locktable, other);
	assert_int_equal(holder.xid, 7);
	site_close(&site);
}

/* Of a Get the row may be locked before it is looked at; if it is not there, it is not kept. */
static void
a_row_is_locked_first(void **state)
{
	const Change at_1 = {.first = 1,.last = 2,.locked_first = true};
	const Change absent = {.first = 50,.last = 51,.locked_first = true};
	Site		site = {0};
	WcModifyResult result;

	site_open(&site, WC_PACKING_ROW, 3);
	result = change(&site, 5, at_1);
	assert_int_equal(result.outcome, WC_MODIFY_DONE);
	assert_int_equal(result.rows, 1);
	assert_int_equal(nlocks(&site), 1);
	assert_rows(&site, 2, 1);
	result = change(&site, 6, absent);
	assert_int_equal(result.outcome, WC_MODIFY_DONE);
	assert_int_equal(result.rows, 0);
	assert_int_equal(nlocks(&site), 1);
	assert_int_equal(wc_txn_count(site.session.txn), 1);

	/* a key that cannot be read: nothing is done, and rows that were locked before stay locked */
	result = change(&site, 7, (Change) {.first = 2,.last = 3,.locked_first = true,.key_length = 3});
	assert_int_equal(result.outcome, WC_MODIFY_UNREADABLE);
	assert_int_equal(nlocks(&site), 1);
	commit(&site);

	/* another transaction has locked the row, which may exist or not: nothing is read */
	lock_elsewhere(&site, WC_LOCK_NO_KEY_UPDATE, 1);
	lock_elsewhere(&site, WC_LOCK_EXCLUSIVE, 50);
	result = change(&site, 8, at_1);
	assert_int_equal(result.outcome, WC_MODIFY_BLOCKED);
	assert_int_equal(result.holder, 99);
	assert_string_equal(site.stopped_at, "r0000001");
	assert_true(result.there);
	result = change(&site, 8, absent);
	assert_int_equal(result.outcome, WC_MODIFY_BLOCKED);
	assert_false(result.there);
	assert_int_equal(site.stats.rows_examined, 0);
	assert_int_equal(nlocks(&site), 0);

	/* only a Get has one row */
	assert_int_equal(change_rows(&site, 9, (Change) {.first = 0,.last = 2,.locked_first = true}, &result), WC_INVALID);
	site_close(&site);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_is_changed_where_it_is),
		cmocka_unit_test(rows_without_the_column_are_told_apart),
		cmocka_unit_test(members_that_differ_are_put),
		cmocka_unit_test(a_change_is_whole_or_not_at_all),
		cmocka_unit_test(a_change_sees_the_batch_before_it),
		cmocka_unit_test(a_row_of_several_blocks_is_one),
		cmocka_unit_test(a_change_stops_at_a_row_that_is_not_free),
		cmocka_unit_test(a_row_that_has_changed_is_read_again),
		cmocka_unit_test(a_row_is_locked_first),
		cmocka_unit_test(a_change_of_many_rows_locks_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
