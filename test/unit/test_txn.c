/*
 * test/unit/test_txn.c: open transactions: what they see of themselves, what
 * rolls back, and that a commit gives what they saw.
 */
#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>

#include "random.h"

static void
test_limit_says_both_numbers(void **state)
{
	Kit			kit;
	WcTxn	   *txn;
	char		value[600];

	kit_open(&kit);
	assert_ok(&kit, wc_txn_create(KIT_DATABASE, 1000, &txn, &kit.err));
	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	kit.table = 1;
	kit_put(&kit, "r", 1, "a", KIT_LATEST, value);
	assert_ok(&kit, wc_txn_append(txn, wc_buf_slice(&kit.ops), &kit.err));
	assert_int_equal(wc_txn_append(txn, wc_buf_slice(&kit.ops), &kit.err), WC_TOO_LARGE);
	assert_non_null(strstr(kit.err.message, "1000"));
	assert_int_equal(wc_txn_count(txn), 1);

	/* what is rolled back makes room */
	assert_ok(&kit, wc_txn_rollback_to(txn, 0, &kit.err));
	assert_ok(&kit, wc_txn_append(txn, wc_buf_slice(&kit.ops), &kit.err));
	wc_txn_destroy(txn);
	kit_close(&kit);
}

static void
test_append_is_all_or_nothing(void **state)
{
	Kit			kit;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_commit(&kit);
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
	assert_ok(&kit, kit_send(&kit));
	kit_put(&kit, "s", 1, "a", KIT_LATEST, "2");
	kit_put(&kit, "t", 1, "a", KIT_LATEST, "3");
	kit.ops.data[kit.ops.len / 2] = 0xee;	/* the second one's kind */
	assert_int_equal(kit_send(&kit), WC_CORRUPT);
	assert_int_equal(wc_txn_count(kit.txn), 1);
	kit.cid++;
	assert_string_equal(kit_scan(&kit, true), "r{f:a=1}");
	kit_put(&kit, "q", 1, "a", KIT_LATEST, "4");
	kit_commit(&kit);
	assert_string_equal(kit_scan(&kit, false), "q{f:a=4} r{f:a=1}");
	kit_close(&kit);
}

/* A command does not see what it writes itself; an open scan not what follows. */
static void
test_commands(void **state)
{
	Kit			kit;
	WcScanner  *scanner;
	WcScan		scan;
	WcReadPoint at;
	WcScanStats stats;
	WcBuf		block = WC_BUF_INIT;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_put(&kit, "a", 1, "x", KIT_LATEST, "1");
	kit_put(&kit, "c", 1, "x", KIT_LATEST, "1");
	kit_commit(&kit);
	kit.cid = 7;
	kit_put(&kit, "b", 1, "x", KIT_LATEST, "2");
	assert_ok(&kit, kit_send(&kit));
	assert_string_equal(kit_scan(&kit, true), "a{f:x=1} c{f:x=1}");
	kit.cid = 8;
	assert_string_equal(kit_scan(&kit, true), "a{f:x=1} b{f:x=2} c{f:x=1}");

	wc_scan_init(&scan, kit.table);
	at = kit_point(&kit, true);
	assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &scan, &at, &scanner, &kit.err));
	assert_ok(&kit, wc_scanner_next(scanner, &block, 1, 1, &kit.err));
	for (int i = 0; i < 100; i++)
	{
		char		row[8];

		snprintf(row, sizeof(row), "b%02d", i);
		kit_put(&kit, row, 1, "x", KIT_LATEST, "3");
		kit_delete(&kit, WC_DELETE_FAMILY, "c", 1, "", KIT_LATEST);
		assert_ok(&kit, kit_send(&kit));
		assert_string_equal(kit_scan(&kit, true), "a{f:x=1} b{f:x=2} c{f:x=1}");	/* makes runs */
	}
	while (wc_scanner_next(scanner, &block, 1, 1, &kit.err) == WC_OK)
		;
	wc_scanner_stats(scanner, &stats);
	assert_int_equal(stats.rows_returned, 3);
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	kit_close(&kit);
}

/* An open scan goes on although what follows it is rolled back. */
static void
test_rollback_under_a_scan(void **state)
{
	Kit			kit;
	WcScanner  *scanner;
	WcScan		scan;
	WcReadPoint at;
	WcScanStats stats;
	WcBuf		block = WC_BUF_INIT;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_commit(&kit);
	kit_put(&kit, "a", 1, "x", KIT_LATEST, "1");
	kit_put(&kit, "b", 1, "x", KIT_LATEST, "1");
	kit.cid = 2;
	assert_ok(&kit, kit_send(&kit));
	wc_scan_init(&scan, kit.table);
	at = kit_point(&kit, true);
	assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &scan, &at, &scanner, &kit.err));
	for (int i = 0; i < 50; i++)
	{
		kit_put(&kit, "aa", 1, "x", KIT_LATEST, "gone");
		kit_put(&kit, "c", 1, "x", KIT_LATEST, "gone");
		kit.cid++;
		assert_ok(&kit, kit_send(&kit));
		kit_scan(&kit, true);
		assert_ok(&kit, wc_txn_rollback_to(kit.txn, 2, &kit.err));
		assert_string_equal(kit_scan(&kit, true), "a{f:x=1} b{f:x=1}");
	}
	while (wc_scanner_next(scanner, &block, 1, 1, &kit.err) == WC_OK)
		;
	wc_scanner_stats(scanner, &stats);
	assert_int_equal(stats.rows_returned, 2);
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	kit_commit(&kit);
	assert_string_equal(kit_scan(&kit, false), "a{f:x=1} b{f:x=1}");
	kit_close(&kit);
}

/* --- against a model ------------------------------------------------------
 *
 * VERSIONS is 1 and no operation carries a timestamp: then the last command
 * wins, and a plain array of values says what must be seen.
 */
#define ROWS 6
#define COLUMNS 5
#define VALUE_MAX 8

typedef struct Model
{
	char		values[ROWS][2][COLUMNS][VALUE_MAX];	/* "": nothing */
} Model;

typedef struct Savepoint
{
	uint64_t	nops;
	Model		model;
} Savepoint;

/* a1 is a prefix of a10 and so on. */
static const char *const rows[ROWS] = {"a1", "a10", "a2", "b", "b1", "c"};
static const char *const columns[COLUMNS] = {"", "m", "m1", "n", "z"};

static const char *
model_text(const Model *model, bool reversed)
{
	static char text[1 << 14];

	text[0] = '\0';
	for (int i = 0; i < ROWS; i++)
	{
		int			r = reversed ? ROWS - 1 - i : i;
		bool		any = false;

		for (int f = 0; f < 2; f++)
		{
			for (int c = 0; c < COLUMNS; c++)
			{
				const char *value = model->values[r][f][c];

				if (value[0] == '\0')
					continue;
				if (!any)
					sprintf(text + strlen(text), "%s%s{", text[0] ? " " : "", rows[r]);
				sprintf(text + strlen(text), "%s%c:%s=%s", any ? " " : "", "fg"[f], columns[c], value);
				any = true;
			}
		}
		if (any)
			strcat(text, "}");
	}
	return text;
}

static void
expect(Kit *kit, const Model *model, bool own)
{
	WcReadPoint at = kit_point(kit, own);
	WcScan		scan;

	wc_scan_init(&scan, kit->table);
	scan.reversed = below(2);
	assert_string_equal(kit_scan_with(kit, &scan, &at), model_text(model, scan.reversed));
}

/* One row operation with several items, the puts in any order. */
static void
random_row_op(Kit *kit, Model *model)
{
	int			r = (int) below(ROWS);
	int			f = (int) below(2);
	uint32_t	family = (uint32_t) f + 1;
	WcBatchBuilder *b = &kit->builder;
	bool		put[COLUMNS] = {false};
	char		value[VALUE_MAX];

	assert_ok(kit, wc_batch_row_begin(b, kit->table, kit->cid, kit_s(rows[r]), 0, NULL, 0, &kit->err));
	for (uint32_t i = below(4); i > 0; i--)
	{
		int			c = (int) below(COLUMNS);

		snprintf(value, sizeof(value), "%u", below(100000));
		assert_ok(kit, wc_batch_put(b, family, kit_s(columns[c]), KIT_LATEST, 0, kit_s(value), &kit->err));
		strcpy(model->values[r][f][c], value);
		put[c] = true;
	}
	for (int c = 0; c < COLUMNS; c++)
	{
		WcSlice		except = kit_s(columns[1]);
		bool		gone = false;

		switch (c == 0 ? below(8) : 9)
		{
			case 0:
				assert_ok(kit, wc_batch_delete(b, WC_DELETE_FAMILY, family, kit_s(""), KIT_LATEST, &kit->err));
				for (int d = 0; d < COLUMNS; d++)
					if (!put[d])
						model->values[r][f][d][0] = '\0';
				break;
			case 1:
				assert_ok(kit, wc_batch_clear_family(b, family, &except, 1, &kit->err));
				for (int d = 0; d < COLUMNS; d++)
					if (!put[d] && d != 1)
						model->values[r][f][d][0] = '\0';
				break;
			case 2:
				assert_ok(kit, wc_batch_clear_prefix(b, family, kit_s("m"), &kit->err));
				for (int d = 1; d < 3; d++)
					if (!put[d])
						model->values[r][f][d][0] = '\0';
				break;
			default:
				break;
		}
		if (below(8) == 0)
		{
			assert_ok(kit, wc_batch_clear_column(b, family, kit_s(columns[c]), &kit->err));
			gone = true;
		}
		else if (below(8) == 0)
		{
			assert_ok(kit, wc_batch_delete(b, WC_DELETE_COLUMN, family, kit_s(columns[c]), KIT_LATEST, &kit->err));
			gone = true;
		}
		if (gone && !put[c])
			model->values[r][f][c][0] = '\0';
	}
	assert_ok(kit, wc_batch_row_end(b, &kit->err));
}

static void
random_transaction(Kit *kit, Model *committed)
{
	Model		now = *committed;
	Savepoint	savepoints[8];
	int			nsavepoints = 0;

	for (uint32_t i = below(30); i > 0; i--)
	{
		for (uint32_t n = 1 + below(4); n > 0; n--)
			random_row_op(kit, &now);
		if (below(20) == 0)
		{
			assert_ok(kit, wc_batch_truncate_table(&kit->builder, kit->cid, kit->table, &kit->err));
			memset(&now, 0, sizeof(now));
		}
		kit->cid++;
		assert_ok(kit, kit_send(kit));
		if (below(3) == 0)
			expect(kit, &now, true);
		if (below(5) == 0)
			expect(kit, committed, false);
		if (below(4) == 0 && nsavepoints < 8)
		{
			savepoints[nsavepoints].nops = wc_txn_count(kit->txn);
			savepoints[nsavepoints++].model = now;
		}
		if (below(5) == 0 && nsavepoints > 0)
		{
			nsavepoints = (int) below((uint32_t) nsavepoints);
			now = savepoints[nsavepoints].model;
			assert_ok(kit, wc_txn_rollback_to(kit->txn, savepoints[nsavepoints].nops, &kit->err));
			expect(kit, &now, true);
		}
	}
	if (below(5) == 0)
	{
		wc_txn_reset(kit->txn);
		return;
	}
	kit_commit(kit);
	*committed = now;
}

static void
random_sequence(uint8_t packing, uint32_t keep_deleted, int transactions)
{
	Kit			kit;
	Model		model;
	WcFamilyAttrs attrs = wc_family_attrs_default;

	attrs.packing = packing;
	attrs.keep_deleted = (uint8_t) keep_deleted;
	kit_open(&kit);
	kit_create_attrs(&kit, "t", &attrs);
	kit_commit(&kit);
	memset(&model, 0, sizeof(model));
	for (int i = 0; i < transactions; i++)
	{
		WcReadPoint at = kit_point(&kit, false);

		random_transaction(&kit, &model);
		switch (below(12))
		{
			case 0:
				assert_ok(&kit, wc_engine_flush(kit.engine, kit.table, &at, &kit.err));
				break;
			case 1:
				assert_ok(&kit, wc_engine_compact(kit.engine, kit.table, false, &at, &kit.err));
				break;
			case 2:
				assert_ok(&kit, wc_engine_flush(kit.engine, kit.table, &at, &kit.err));
				assert_ok(&kit, wc_engine_compact(kit.engine, kit.table, true, &at, &kit.err));
				break;
			case 3:
				kit_reopen(&kit);
				break;
			case 4:
				kit_crash(&kit);
				break;
			default:
				break;
		}
		expect(&kit, &model, false);
	}
	kit_close(&kit);
}

static void
test_random_transactions(void **state)
{
	for (int i = 0; i < 2; i++)
	{
		random_sequence(WC_PACKING_ROW, WC_KEEP_DELETED_FALSE, 30);
		random_sequence(WC_PACKING_CELL, WC_KEEP_DELETED_FALSE, 30);
	}
	random_sequence(WC_PACKING_ROW, WC_KEEP_DELETED_TRUE, 30);
	random_sequence(WC_PACKING_CELL, WC_KEEP_DELETED_TRUE, 30);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit_says_both_numbers),
		cmocka_unit_test(test_append_is_all_or_nothing),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_rollback_under_a_scan),
		cmocka_unit_test_setup(test_random_transactions, seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
