/*
 * test/unit/test_ownrows.c: rows that a transaction writes and reads repeatedly: each read returns what a single read
 * would, and does not cost more each time.
 */
#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/txn/txn.h"
#include "random.h"

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

/* --- how often operations are resolved ---------------------------------------- */

#define UPDATES 500

/* One operation, then one read by the next command, as UPDATE after UPDATE has it. */
static const char *
update(Kit *kit, const char *row, const char *column, int value)
{
	char		text[16];

	snprintf(text, sizeof(text), "%d", value);
	kit_put(kit, row, 1, column, KIT_LATEST, text);
	assert_ok(kit, kit_send(kit));
	kit->cid++;
	return kit_scan(kit, true);
}

/* Both families look at each operation, and a row with few of them is resolved anew. */
#define ABOUT_ONCE(n) (4 * (n) + 2000)

static void
test_updates_of_one_row(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		char		expected[64];

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_put(&kit, "r", 1, "b", KIT_LATEST, "stored");
		kit_commit(&kit);
		for (int i = 0; i < UPDATES; i++)
		{
			snprintf(expected, sizeof(expected), "r{f:a=%d f:b=stored}", i);
			assert_string_equal(update(&kit, "r", "a", i), expected);
		}
		assert_true(wc_txn_resolved(kit.txn) < ABOUT_ONCE(UPDATES));
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), expected);
		kit_close(&kit);
	}
}

/* Others commit between any two updates, to the same row too: timestamps go on. */
static void
test_updates_between_commits(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcTxn	   *other;
		WcTxn	   *mine;
		char		expected[64];

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_commit(&kit);
		assert_ok(&kit, wc_txn_create(KIT_DATABASE, 1 << 30, &other, &kit.err));
		mine = kit.txn;
		for (int i = 0; i < UPDATES; i++)
		{
			kit_now += 10;
			kit.txn = other;
			kit_put(&kit, "r", 1, "b", KIT_LATEST, "theirs");
			kit_commit(&kit);
			kit.txn = mine;
			snprintf(expected, sizeof(expected), "r{f:a=%d f:b=theirs}", i);
			assert_string_equal(update(&kit, "r", "a", i), expected);
		}
		assert_true(wc_txn_resolved(kit.txn) < ABOUT_ONCE(UPDATES));
		wc_txn_destroy(other);
		kit_close(&kit);
	}
}

/* Each row that is gone is sought in the second family, where the transaction's rows have nothing: in both directions. */
static void
test_rows_behind_deleted_ones(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcColumn	columns[2] = {{.family = 1,.kind = WC_COLUMN_EXACT,.qualifier = kit_s("a")}, {.family = 2,.kind = WC_COLUMN_EXACT,.qualifier = kit_s("b")}};
		WcScan		scan;
		WcReadPoint at;
		char		row[16];

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < UPDATES; i++)
		{
			snprintf(row, sizeof(row), "m%03d", i);
			kit_put(&kit, row, 1, "a", KIT_LATEST, "stored");
			kit_put(&kit, row, 2, "a", KIT_LATEST, "stored");
		}
		kit_commit(&kit);
		for (int i = 0; i < UPDATES; i++)
		{
			snprintf(row, sizeof(row), "m%03d", i);
			kit_delete(&kit, WC_DELETE_FAMILY, row, 1, "", KIT_LATEST);
			kit_delete(&kit, WC_DELETE_FAMILY, row, 2, "", KIT_LATEST);
		}
		kit_commit(&kit);
		for (int i = 0; i < UPDATES; i++)
		{
			snprintf(row, sizeof(row), "%c%03d", i % 2 == 0 ? 'a' : 'z', i);
			kit_put(&kit, row, 1, "a", KIT_LATEST, "own");
		}
		assert_ok(&kit, kit_send(&kit));
		kit.cid++;
		wc_scan_init(&scan, kit.table);
		scan.rows_by_existence = true;
		scan.columns = columns;
		scan.ncolumns = 2;
		scan.row_limit = UPDATES / 2 + 1;
		for (int reversed = 0; reversed < 2; reversed++)
		{
			scan.reversed = reversed != 0;
			at = kit_point(&kit, true);
			assert_non_null(strstr(kit_scan_with(&kit, &scan, &at), reversed ? "a498{f:a=own}" : "z001{f:a=own}"));
		}
		assert_in_range(wc_txn_resolved(kit.txn), 1, 4 * ABOUT_ONCE(UPDATES));
		kit_close(&kit);
	}
}

static void
test_updates_of_a_wide_row(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		char		column[16];
		char		last[32];

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_commit(&kit);
		for (int i = 0; i < UPDATES; i++)
		{
			/* neither from left to right nor from right to left */
			snprintf(column, sizeof(column), "c%03d", (i * 7) % UPDATES);
			snprintf(last, sizeof(last), "f:%s=%d", column, i);
			assert_non_null(strstr(update(&kit, "r", column, i), last));
		}
		assert_true(wc_txn_resolved(kit.txn) < ABOUT_ONCE(UPDATES));
		kit_close(&kit);
	}
}

/* Every second update goes back to a savepoint; now and then some more do. */
static void
test_updates_and_savepoints(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		char		expected[64];

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_commit(&kit);
		(void) update(&kit, "r", "b", 0);
		for (int i = 0; i < UPDATES; i++)
		{
			uint64_t	savepoint;

			(void) update(&kit, "r", "a", i);
			snprintf(expected, sizeof(expected), "r{f:a=%d f:b=0}", i);
			savepoint = wc_txn_length(kit.txn);
			for (int j = i % 20 == 0 ? 20 : 1; j > 0; j--)
				(void) update(&kit, "r", j % 2 == 0 ? "b" : "c", -j);
			assert_ok(&kit, wc_txn_cut(kit.txn, savepoint, &kit.err));
			kit.cid++;
			assert_string_equal(kit_scan(&kit, true), expected);
		}
		assert_true(wc_txn_resolved(kit.txn) < ABOUT_ONCE(3 * UPDATES));
		kit_close(&kit);
	}
}

/* --- own rows in reads ----------------------------------------------------------- */

/* The operations of the transaction, to make another one of. */
typedef struct Shadow
{
	Kit		   *kit;
	WcBuf		ops[600];
	size_t		nops;
	bool		dated;			/* some operations have timestamps of their own */
} Shadow;

static void
random_op(Shadow *s)
{
	static const char *const rows[] = {"q", "r"};
	static const char *const columns[] = {"", "a", "ab", "b"};
	static const WcCellType markers[] = {WC_DELETE, WC_DELETE_COLUMN, WC_DELETE_FAMILY};
	Kit		   *kit = s->kit;
	const char *column = columns[below(4)];
	int64_t		ts = s->dated && below(8) == 0 ? (int64_t) (kit_now - 5 + below(10)) : KIT_LATEST;
	uint32_t	kind = below(12);
	char		value[16];

	snprintf(value, sizeof(value), "%u", below(1000));
	assert_ok(kit, wc_batch_row_begin(&kit->builder, kit->table, kit->cid, kit_s(rows[below(8) == 0]), 0, NULL, 0, &kit->err));
	if (kind == 0)
	{
		WcCellType	type = markers[below(3)];

		assert_ok(kit, wc_batch_delete(&kit->builder, type, 1, kit_s(type == WC_DELETE_FAMILY ? "" : column), ts, &kit->err));
	}
	else if (kind == 1)
		assert_ok(kit, wc_batch_clear_column(&kit->builder, 1, kit_s(column), &kit->err));
	else if (kind == 2)
		assert_ok(kit, wc_batch_clear_prefix(&kit->builder, 1, kit_s("a"), &kit->err));
	else
		assert_ok(kit, wc_batch_put(&kit->builder, 1 + (below(6) == 0), kit_s(column), ts, 0, kit_s(value), &kit->err));
	assert_ok(kit, wc_batch_row_end(&kit->builder, &kit->err));
	wc_buf_append_slice(&s->ops[s->nops++], wc_buf_slice(&kit->ops));
	assert_ok(kit, kit_send(kit));
}

static void
rollback(Shadow *s, size_t nops)
{
	uint64_t	length = 0;

	while (s->nops > nops)
		wc_buf_free(&s->ops[--s->nops]);
	for (size_t i = 0; i < nops; i++)
		length += s->ops[i].len;
	assert_ok(s->kit, wc_txn_cut(s->kit->txn, length, &s->kit->err));
}

/* Sees the transaction the same as one that has the same operations and reads for the
 * first time? */
static void
compare(Shadow *s, uint32_t cid, bool reversed)
{
	static char seen[sizeof(s->kit->text)];
	Kit		   *kit = s->kit;
	WcReadPoint at = kit_point(kit, true);
	WcScan		scan;
	WcTxn	   *fresh;

	at.cid = cid;
	wc_scan_init(&scan, kit->table);
	scan.versions = 3;
	scan.reversed = reversed;
	strcpy(seen, kit_scan_with(kit, &scan, &at));
	assert_ok(kit, wc_txn_create(KIT_DATABASE, 1 << 30, &fresh, &kit->err));
	for (size_t i = 0; i < s->nops; i++)
		assert_ok(kit, wc_txn_append(fresh, wc_txn_length(fresh), wc_buf_slice(&s->ops[i]), &kit->err));
	at.txn = fresh;
	assert_string_equal(seen, kit_scan_with(kit, &scan, &at));
	wc_txn_destroy(fresh);
}

static void
commit_other(Shadow *s, WcTxn *other)
{
	Kit		   *kit = s->kit;
	WcTxn	   *mine = kit->txn;

	kit->txn = other;
	kit_put(kit, "r", 1, below(2) ? "a" : "c", KIT_LATEST, "other");
	kit_commit(kit);
	kit->txn = mine;
}

static void
random_sequence(uint8_t packing, bool dated)
{
	Shadow	   *s = calloc(1, sizeof(Shadow));
	Kit		   *kit = calloc(1, sizeof(Kit));
	WcTxn	   *other;

	assert_true(s != NULL && kit != NULL);
	s->kit = kit;
	s->dated = dated;
	kit_open(kit);
	kit_create(kit, "t", packing, 3);
	kit_put(kit, "r", 1, "ab", KIT_LATEST, "stored");
	kit_commit(kit);
	assert_ok(kit, wc_txn_create(KIT_DATABASE, 1 << 30, &other, &kit->err));
	for (int i = 0; i < 300; i++)
	{
		uint32_t	what = below(20);

		kit_now += below(3);
		if (what == 0)
			rollback(s, below((uint32_t) s->nops + 1));
		else if (what < 4 && s->nops > 0)
			rollback(s, s->nops - 1 - (s->nops > 1 && below(2)));
		else if (what == 4)
			commit_other(s, other);

		/* commands inside of a command write with later ids than what follows it */
		kit->cid += below(10) == 0 ? 3 : 1;
		random_op(s);
		if (below(10) == 0)
		{
			kit->cid -= 2;
			random_op(s);
			kit->cid += 2;
		}
		compare(s, kit->cid + 1, below(4) == 0);
		if (below(5) == 0)
			compare(s, kit->cid - below(4), false);
	}
	rollback(s, 0);
	wc_txn_destroy(other);
	kit_close(kit);
	free(kit);
	free(s);
}

static void
test_random(void **state)
{
	for (int i = 0; i < 4; i++)
		random_sequence(packings[i % 2], i >= 2);
}

/* Two scans stand on the same row: the second resolves it by itself. */
static void
test_scans_at_once(void **state)
{
	Kit			kit;
	WcReadPoint at;
	WcScanner  *scanner;
	WcScan		scan;
	WcBuf		block = WC_BUF_INIT;
	uint64_t	savepoint = 0;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_commit(&kit);
	for (int i = 0; i < 20; i++)
	{
		(void) update(&kit, "r", "a", i);
		savepoint = wc_txn_length(kit.txn);
		(void) update(&kit, "r", "b", i);
	}
	at = kit_point(&kit, true);
	wc_scan_init(&scan, kit.table);
	assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &scan, &at, &scanner, &kit.err));
	assert_int_equal(wc_scanner_next(scanner, &block, 1, 0, &kit.err), WC_OK);
	assert_string_equal(kit_scan(&kit, true), "r{f:a=19 f:b=19}");
	assert_string_equal(update(&kit, "r", "a", 20), "r{f:a=20 f:b=19}");
	assert_ok(&kit, wc_txn_cut(kit.txn, savepoint, &kit.err));
	wc_scanner_close(scanner);
	kit.cid++;
	assert_string_equal(kit_scan(&kit, true), "r{f:a=19 f:b=18}");
	wc_buf_free(&block);
	kit_close(&kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_updates_of_one_row),
		cmocka_unit_test(test_updates_between_commits),
		cmocka_unit_test(test_rows_behind_deleted_ones),
		cmocka_unit_test(test_updates_of_a_wide_row),
		cmocka_unit_test(test_updates_and_savepoints),
		cmocka_unit_test(test_scans_at_once),
		cmocka_unit_test_setup(test_random, seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
