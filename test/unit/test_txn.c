/*
 * test/unit/test_txn.c: open transactions: reads of own writes, rollbacks, and commits that store what the transaction
 * has read.
 */
#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>

#include "random.h"
#include "read/txn/txnstate.h"

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
	assert_ok(&kit, wc_txn_append(txn, 0, wc_buf_slice(&kit.ops), &kit.err));
	assert_int_equal(wc_txn_append(txn, kit.ops.len, wc_buf_slice(&kit.ops), &kit.err), WC_TOO_LARGE);
	assert_non_null(strstr(kit.err.message, "1000"));
	assert_int_equal(wc_txn_count(txn), 1);

	/* rolled-back operations make room */
	assert_ok(&kit, wc_txn_append(txn, 0, wc_buf_slice(&kit.ops), &kit.err));
	assert_int_equal(wc_txn_count(txn), 1);
	wc_txn_limit(txn, 999999);
	assert_ok(&kit, wc_txn_append(txn, kit.ops.len, wc_buf_slice(&kit.ops), &kit.err));
	assert_int_equal(wc_txn_length(txn), 2 * kit.ops.len);
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

/* A command does not see its own writes; an open scan does not see later ones. */
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
	uint64_t	savepoint;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_commit(&kit);
	kit_put(&kit, "a", 1, "x", KIT_LATEST, "1");
	kit_put(&kit, "b", 1, "x", KIT_LATEST, "1");
	kit.cid = 2;
	assert_ok(&kit, kit_send(&kit));
	savepoint = wc_txn_length(kit.txn);
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
		assert_ok(&kit, wc_txn_cut(kit.txn, savepoint, &kit.err));
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

/* Whatever a ROLLBACK TO takes away, in memory or in the file, is not counted any more. */
static void
test_counters_after_a_rollback(void **state)
{
	Kit			kit;
	const WcTxnTable *tables;
	uint64_t	savepoint;
	size_t		n;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_commit(&kit);
	kit_put(&kit, "a", 1, "x", KIT_LATEST, "1");
	assert_ok(&kit, kit_send(&kit));
	savepoint = wc_txn_length(kit.txn);
	for (int i = 0; i < 20; i++)
	{
		kit_put(&kit, "b", 1, "x", KIT_LATEST, "gone");
		assert_ok(&kit, kit_send(&kit));
	}
	assert_int_equal(wc_txn_nrows(kit.txn), 21);
	assert_ok(&kit, wc_txn_cut(kit.txn, savepoint, &kit.err));
	assert_int_equal(wc_txn_nrows(kit.txn), 1);
	tables = wc_txn_tables(kit.txn, &n);
	assert_int_equal(n, 1);
	assert_int_equal(tables[0].nops, 1);
	assert_int_equal(tables[0].bytes, savepoint);
	kit_close(&kit);
}

/* --- rolled-back operations take no memory -------------------------------- */

#define LOOP_BYTES		600000
#define LOOP_LIMIT		1000000

/* What the transaction's operations take. */
static size_t
held(const WcTxn *txn)
{
	size_t		n = 0;

	for (const WcTxnChunk *chunk = txn->bytes.last; chunk; chunk = chunk->before)
		n += chunk->cap;
	for (const WcTxnChunk *chunk = txn->bytes.cut; chunk; chunk = chunk->before)
		n += chunk->cap;
	return n;
}

/* Appends operations at the offset, until there are LOOP_BYTES more. */
static WcStatus
write_much(Kit *kit, WcTxn *txn, uint64_t at)
{
	char		value[1000];
	WcStatus	status;

	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	while (kit->ops.len < LOOP_BYTES)
		kit_put(kit, "much", 1, "x", KIT_LATEST, value);
	status = wc_txn_append(txn, at, wc_buf_slice(&kit->ops), &kit->err);
	wc_buf_reset(&kit->ops, SIZE_MAX);
	return status;
}

static WcScanner *
open_scan(Kit *kit, WcTxn *txn)
{
	WcReadPoint at = kit_point(kit, true);
	WcScanner  *scanner;
	WcScan		scan;

	at.txn = txn;
	wc_scan_init(&scan, kit->table);
	assert_ok(kit, wc_scanner_open(wc_engine_storage(kit->engine), &scan, &at, &scanner, &kit->err));
	return scanner;
}

/* An open scan keeps the chunks that it can read, and no others; they are counted. */
static void
test_memory_of_what_is_rolled_back(void **state)
{
	Kit			kit;
	WcTxn	   *txn;
	WcScanner  *early;
	WcScanner  *late;
	uint64_t	savepoint;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_commit(&kit);
	assert_ok(&kit, wc_txn_create(KIT_DATABASE, LOOP_LIMIT, &txn, &kit.err));
	kit_put(&kit, "a", 1, "x", KIT_LATEST, "1");
	savepoint = kit.ops.len;
	assert_ok(&kit, wc_txn_append(txn, 0, wc_buf_slice(&kit.ops), &kit.err));
	wc_buf_reset(&kit.ops, SIZE_MAX);
	kit.cid = 2;

	/* below an open scan, whatever other scans did meanwhile */
	early = open_scan(&kit, txn);
	for (int i = 0; i < 100; i++)
	{
		assert_ok(&kit, write_much(&kit, txn, savepoint));
		late = open_scan(&kit, txn);
		wc_scanner_close(late);
		assert_ok(&kit, wc_txn_cut(txn, savepoint, &kit.err));
		assert_true(held(txn) < 2 * WC_BATCH_CHUNK);
	}

	/* below one that was opened behind it */
	assert_ok(&kit, write_much(&kit, txn, savepoint));
	late = open_scan(&kit, txn);
	assert_int_equal(write_much(&kit, txn, savepoint), WC_TOO_LARGE);
	assert_non_null(strstr(kit.err.detail, "open cursors"));
	assert_true(held(txn) > LOOP_BYTES && held(txn) < LOOP_LIMIT);
	assert_int_equal(wc_txn_length(txn), savepoint);
	wc_scanner_close(late);
	for (int i = 0; i < 10; i++)
		assert_ok(&kit, write_much(&kit, txn, savepoint));
	assert_true(held(txn) < LOOP_LIMIT);
	wc_scanner_close(early);
	assert_ok(&kit, wc_txn_cut(txn, 0, &kit.err));
	assert_int_equal(held(txn), 0);
	wc_txn_destroy(txn);
	kit_close(&kit);
}

/* --- pieces ---------------------------------------------------------------
 *
 * The stream is cut into pieces anywhere, and rolled back to anywhere, while scans are
 * open: open scans see the operations as of their opening, and a new scan sees the same as a scan of a stream that came
 * in one piece.
 */
#define STREAM_STEPS 400
#define STREAM_OPS	2000
#define STREAM_SCANS 4

typedef struct Reading
{
	WcScanner  *scanner;
	char		seen[1 << 14];
	char		expected[1 << 14];
} Reading;

typedef struct Stream
{
	Kit		   *kit;
	WcBuf		bytes;
	size_t		ends[STREAM_OPS];	/* of operations */
	size_t		nops;
	size_t		sent;
	Reading		readings[STREAM_SCANS];
} Stream;

/* Adds the next block's rows to those seen; false: it was the last one. */
static bool
read_on(Kit *kit, WcScanner *scanner, char *seen, size_t size)
{
	WcBuf		block = WC_BUF_INIT;
	WcStatus	status = wc_scanner_next(scanner, &block, 1, 0, &kit->err);
	WcBlockReader r;
	WcBlockEntry entry;
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;

	assert_true(status == WC_OK || status == WC_END);
	assert_ok(kit, wc_block_open(&r, wc_buf_slice(&block), &kit->err));
	while ((entry = wc_block_next(&r, &row, &cell, &colno)) != WC_BLOCK_DONE)
	{
		size_t		n = strlen(seen);

		assert_int_not_equal(entry, WC_BLOCK_CORRUPT);
		if (entry == WC_BLOCK_ROW)
			snprintf(seen + n, size - n, " %.*s", (int) row.len, (const char *) row.data);
		else
			snprintf(seen + n, size - n, ":%.*s", (int) cell.value.len, (const char *) cell.value.data);
	}
	wc_buf_free(&block);
	return status == WC_OK;
}

/* What a transaction sees that has got the stream, as far as it was sent, at once. */
static void
read_whole(Stream *s, char *text, size_t size)
{
	WcScanner  *scanner;
	WcTxn	   *fresh;

	text[0] = '\0';
	assert_ok(s->kit, wc_txn_create(KIT_DATABASE, 1 << 30, &fresh, &s->kit->err));
	assert_ok(s->kit, wc_txn_append(fresh, 0, wc_slice(s->bytes.data, s->sent), &s->kit->err));
	assert_int_equal(wc_txn_count(fresh), wc_txn_count(s->kit->txn));
	assert_int_equal(wc_txn_is_whole(fresh), wc_txn_is_whole(s->kit->txn));
	scanner = open_scan(s->kit, fresh);
	while (read_on(s->kit, scanner, text, size))
		;
	wc_scanner_close(scanner);
	wc_txn_destroy(fresh);
}

static void
start_reading(Stream *s, Reading *r)
{
	s->kit->cid++;
	read_whole(s, r->expected, sizeof(r->expected));
	r->seen[0] = '\0';
	r->scanner = open_scan(s->kit, s->kit->txn);
}

static void
finish_reading(Stream *s, Reading *r)
{
	if (r->scanner == NULL)
		return;
	while (read_on(s->kit, r->scanner, r->seen, sizeof(r->seen)))
		;
	assert_string_equal(r->seen, r->expected);
	wc_scanner_close(r->scanner);
	r->scanner = NULL;
}

/* Now and then one that is larger than a chunk. */
static void
more_ops(Stream *s)
{
	Kit		   *kit = s->kit;
	static char value[WC_BATCH_CHUNK + 100];
	char		row[16];

	for (uint32_t n = below(12); n > 0 && s->nops < STREAM_OPS; n--)
	{
		uint32_t	len = below(200) == 0 ? WC_BATCH_CHUNK : below(50) == 0 ? 20000 : 10;

		memset(value, 'a' + (int) below(26), len);
		snprintf(value + len, sizeof(value) - len, "%u", below(1000));
		snprintf(row, sizeof(row), "r%u", below(40));
		if (below(10) == 0)
			kit_delete(kit, WC_DELETE_FAMILY, row, 1, "", KIT_LATEST);
		else if (below(60) == 0)
			assert_ok(kit, wc_batch_truncate_table(&kit->builder, kit->cid, kit->table, &kit->err));
		else if (len > 10)
			kit_put(kit, row, 2, "large", KIT_LATEST, value);
		else
			kit_put(kit, row, 1, "x", KIT_LATEST, value);
		s->ends[s->nops++] = s->bytes.len + kit->ops.len;
	}
	wc_buf_append_slice(&s->bytes, wc_buf_slice(&kit->ops));
	wc_buf_reset(&kit->ops, SIZE_MAX);
}

static void
send_some(Stream *s)
{
	size_t		left = s->bytes.len - s->sent;
	size_t		n = below(3) == 0 ? left : below((uint32_t) (left < 64 ? left : below(2) ? 64 : left) + 1);

	assert_ok(s->kit, wc_txn_append(s->kit->txn, s->sent, wc_slice(s->bytes.data + s->sent, n), &s->kit->err));
	s->sent += n;
	assert_int_equal(wc_txn_length(s->kit->txn), s->sent);
}

static void
go_back(Stream *s)
{
	/* mostly not far, and mostly to where an operation ends */
	size_t		nops = s->nops - below((uint32_t) (below(8) == 0 || s->nops < 20 ? s->nops : 20) + 1);
	size_t		to = nops > 0 ? s->ends[nops - 1] : 0;

	s->nops = nops;
	s->bytes.len = to;
	if (to >= s->sent)
		return;
	if (to > 0 && below(4) == 0)
	{
		/* amid one, which goes on as it was */
		size_t		before = to - 1 - below((uint32_t) (to < 500 ? to : 500));

		assert_ok(s->kit, wc_txn_cut(s->kit->txn, before, &s->kit->err));
		assert_int_equal(wc_txn_length(s->kit->txn), before);
		s->sent = before;
	}
	else
	{
		if (below(2) == 0)
			assert_ok(s->kit, wc_txn_cut(s->kit->txn, to, &s->kit->err));
		s->sent = to;
	}
}

static void
step(Stream *s)
{
	Reading    *r = &s->readings[below(STREAM_SCANS)];
	static char seen[1 << 14];
	static char expected[1 << 14];

	more_ops(s);
	send_some(s);
	if (below(6) == 0)
		go_back(s);
	send_some(s);
	switch (below(4))
	{
		case 0:
			finish_reading(s, r);
			start_reading(s, r);
			break;
		case 1:
			if (r->scanner != NULL && !read_on(s->kit, r->scanner, r->seen, sizeof(r->seen)))
			{
				assert_string_equal(r->seen, r->expected);
				wc_scanner_close(r->scanner);
				r->scanner = NULL;
			}
			break;
		case 2:
			wc_scanner_close(r->scanner);
			r->scanner = NULL;
			break;
		default:
			s->kit->cid++;
			read_whole(s, expected, sizeof(expected));
			seen[0] = '\0';
			r = NULL;
			break;
	}
	if (r == NULL)
	{
		WcScanner  *scanner = open_scan(s->kit, s->kit->txn);

		while (read_on(s->kit, scanner, seen, sizeof(seen)))
			;
		wc_scanner_close(scanner);
		assert_string_equal(seen, expected);
	}
}

static void
test_pieces(void **state)
{
	for (int round = 0; round < 4; round++)
	{
		Stream	   *s = calloc(1, sizeof(Stream));
		Kit		   *kit = calloc(1, sizeof(Kit));

		assert_true(s != NULL && kit != NULL);
		s->kit = kit;
		kit_open(kit);
		kit_create(kit, "t", round % 2 ? WC_PACKING_ROW : WC_PACKING_CELL, 1);
		kit_put(kit, "r7", 1, "x", KIT_LATEST, "stored");
		kit_commit(kit);
		for (int i = 0; i < STREAM_STEPS; i++)
			step(s);
		for (int i = 0; i < STREAM_SCANS; i++)
			finish_reading(s, &s->readings[i]);
		wc_buf_free(&s->bytes);
		kit_close(kit);
		free(kit);
		free(s);
	}
}

static void
test_pieces_that_make_no_sense(void **state)
{
	Kit			kit;
	uint8_t		head[5] = {WC_OP_ROW, 0xff, 0xff, 0xff, 0xff};
	uint8_t		unknown[6] = {99, 0, 0, 0, 1, 0};	/* a whole operation, but there is no such kind */

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_commit(&kit);
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
	assert_int_equal(wc_txn_append(kit.txn, 1, wc_buf_slice(&kit.ops), &kit.err), WC_CORRUPT);
	assert_int_equal(wc_txn_cut(kit.txn, 1, &kit.err), WC_CORRUPT);

	/* nobody waits for the end of what cannot have one */
	for (size_t i = 0; i < sizeof(head); i++)
		assert_int_equal(wc_txn_append(kit.txn, i, wc_slice(head + i, 1), &kit.err), i < 4 ? WC_OK : WC_CORRUPT);
	assert_int_equal(wc_txn_length(kit.txn), 4);
	assert_false(wc_txn_is_whole(kit.txn));
	assert_int_equal(wc_txn_count(kit.txn), 0);

	/* the piece that makes it whole is refused, and that before it stays */
	assert_ok(&kit, wc_txn_append(kit.txn, 0, wc_slice(unknown, 4), &kit.err));
	assert_int_equal(wc_txn_append(kit.txn, 4, wc_slice(unknown + 4, 2), &kit.err), WC_CORRUPT);
	assert_string_equal(kit.err.message, "batch makes no sense: unknown kind of operation");
	assert_int_equal(wc_txn_length(kit.txn), 4);
	assert_ok(&kit, wc_txn_append(kit.txn, 0, wc_buf_slice(&kit.ops), &kit.err));
	wc_buf_reset(&kit.ops, SIZE_MAX);
	kit_commit(&kit);
	assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");
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
	uint64_t	length;
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
			savepoints[nsavepoints].length = wc_txn_length(kit->txn);
			savepoints[nsavepoints++].model = now;
		}
		if (below(5) == 0 && nsavepoints > 0)
		{
			nsavepoints = (int) below((uint32_t) nsavepoints);
			now = savepoints[nsavepoints].model;
			assert_ok(kit, wc_txn_cut(kit->txn, savepoints[nsavepoints].length, &kit->err));
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

static int
small(void **state)
{
	kit_txn_memory = 200;
	return seed(state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit_says_both_numbers),
		cmocka_unit_test(test_append_is_all_or_nothing),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_rollback_under_a_scan),
		cmocka_unit_test(test_counters_after_a_rollback),
		cmocka_unit_test(test_memory_of_what_is_rolled_back),
		cmocka_unit_test_setup(test_pieces, seed),
		cmocka_unit_test(test_pieces_that_make_no_sense),
		cmocka_unit_test_setup(test_random_transactions, seed),

		/* once more with transactions that go to files soon */
		cmocka_unit_test_setup(test_append_is_all_or_nothing, small),
		cmocka_unit_test_setup(test_commands, small),
		cmocka_unit_test_setup(test_rollback_under_a_scan, small),
		cmocka_unit_test_setup(test_counters_after_a_rollback, small),
		cmocka_unit_test_setup(test_pieces, small),
		cmocka_unit_test_setup(test_random_transactions, small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
