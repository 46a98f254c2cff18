/*
 * test/unit/test_stream.c: a transaction's batch as a stream: pieces, savepoints, missing bytes.
 */
#include "rpckit.h"

#include <sched.h>

#include "rowkey/keycheck.h"

static void
rollback_cuts_the_batch(void **state)
{
	Site		site;
	Backend    *b;
	uint64_t	savepoint;

	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	commit(&site, b);

	put_rows(&site, 0, 4);
	send_batch(&site, b, 1 << 30);
	put_rows(&site, 4, 2);
	savepoint = b->length + site.kit.ops.len;
	put_rows(&site, 6, 2);
	send_batch(&site, b, 1 << 30);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 8);
	send_cut(b, savepoint);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 6);

	/* what comes next may begin before the end just as well */
	b->length = savepoint;
	put_rows(&site, 10, 1);
	send_batch(&site, b, 1 << 30);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 7);
	b->length = savepoint;
	put_rows(&site, 20, 2);
	send_batch(&site, b, 1 << 30);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 8);
	abort_transaction(b);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 0);

	put_rows(&site, 0, 3);
	send_batch(&site, b, 1 << 30);
	send_commit(b);
	commit_accepted(&site, b);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 3);
	site_close(&site);
}

/* The engine commits what the backend has written: all of it, to the byte. */
static void
a_commit_is_of_the_whole_batch(void **state)
{
	Site		site;
	Backend    *b;
	WcSlice		ops;

	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	commit(&site, b);

	/* pieces of one byte, and commits too early */
	put_rows(&site, 0, 2);
	ops = wc_buf_slice(&site.kit.ops);
	for (size_t i = 0; i < ops.len; i++)
	{
		send_piece(b, i, wc_slice(ops.data + i, 1), 1 << 30, false);
		if (i + 1 < ops.len && (i % 7 != 0 || i + 1 == ops.len / 2))
			continue;
		send_commit(b);
		if (i + 1 == ops.len)
			commit_accepted(&site, b);
		else
			assert_int_equal(answered_error(b, &site.kit.err), WC_CORRUPT);
	}
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 2);

	/* one piece too few, or too many */
	wc_buf_reset(&site.kit.ops, SIZE_MAX);
	b->length = 0;
	put_rows(&site, 2, 2);
	send_batch(&site, b, 1 << 30);
	b->length++;
	send_commit(b);
	assert_int_equal(answered_error(b, &site.kit.err), WC_CORRUPT);
	b->length = 0;
	send_commit(b);
	assert_int_equal(answered_error(b, &site.kit.err), WC_CORRUPT);
	send_cut(b, 0);
	send_commit(b);
	commit_accepted(&site, b);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 2);
	site_close(&site);
}

/* BATCH has no answer: its error is the answer to every later request, until it is undone. */
static void
a_failed_batch_is_remembered(void **state)
{
	Site		site;
	Backend    *b;
	uint64_t	savepoint;

	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	commit(&site, b);

	put_rows(&site, 0, 2);
	send_batch(&site, b, 200);
	savepoint = b->length;
	put_rows(&site, 2, 100);
	send_batch(&site, b, 200);
	send_open(b, site.kit.table, 0, 0, WC_BLOCK_FIRST);
	assert_int_equal(answered_error(b, &site.kit.err), WC_TOO_LARGE);
	send_commit(b);
	assert_int_equal(answered_error(b, &site.kit.err), WC_TOO_LARGE);

	/* a savepoint after the missing bytes does not bring them back */
	send_cut(b, savepoint + 1);
	send_commit(b);
	assert_int_equal(answered_error(b, &site.kit.err), WC_TOO_LARGE);

	/* one in front of it does without it */
	send_cut(b, savepoint);
	send_commit(b);
	commit_accepted(&site, b);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_FIRST).rows, 2);
	site_close(&site);
}

/* --- changes that the engine makes ------------------------------------------- */

/* Several chunks, and more than the ring holds. */
#define MANY 40000

/* All rows get f:q = "new". */
static void
send_modify(Site *site, Backend *b)
{
	WcKeyCheck	check = {0};
	WcModifyMessage m = {.cid = 1000,.write_cid = 1000,.bytes_max = 1 << 30,.owner = b->xid,.xid = b->xid,.subid = 1,.mode = WC_LOCK_EXCLUSIVE};
	WcBuf		keys = WC_BUF_INIT;
	WcScan		scan;
	WcDecoder	d;
	WcOp		op;

	wc_keycheck_encode(&keys, &check);
	kit_put(&site->kit, "any", 1, "q", KIT_LATEST, "new");
	d = wc_decoder(wc_buf_slice(&site->kit.ops));
	assert_ok(&site->kit, wc_batch_next_op(&d, &op, &site->kit.err));
	m.keys = wc_buf_slice(&keys);
	m.items = m.items_bare = op.items;
	wc_scan_init(&scan, site->kit.table);
	scan.key_only = true;
	wc_message_modify_encode(message(b), &m, &scan);
	send_frame(b, WC_MSG_MODIFY, 0);
	wc_buf_reset(&site->kit.ops, SIZE_MAX);
	wc_buf_free(&keys);
}

/* Takes what comes up to the answer, whose type it returns; the changes go to the end of the
 * stream, where they belong. */
static uint8_t
take_changes(Backend *b, WcBuf *stream, int *nframes)
{
	WcChangesMessage m;
	WcError		err;

	for (*nframes = 0; answer(b) == WC_MSG_CHANGES; *nframes += 1)
	{
		assert_int_equal(wc_message_changes_decode(wc_buf_slice(&b->reader.body), &m, &err), WC_OK);
		assert_int_equal(m.at, stream->len);
		wc_buf_append_slice(stream, m.bytes);
	}
	return b->reader.header.type;
}

static int
new_values(Site *site)
{
	int			n = 0;
	WcBuf		block = WC_BUF_INIT;
	WcReadPoint at = kit_point(&site->kit, false);
	WcScanner  *scanner;
	WcScan		scan;
	WcStatus	status = WC_OK;

	wc_scan_init(&scan, site->kit.table);
	assert_ok(&site->kit, wc_scanner_open(wc_engine_storage(site->kit.engine), &scan, &at, &scanner, &site->kit.err));
	while (status == WC_OK)
	{
		WcBlockReader r;
		WcBlockEntry entry;
		WcSlice		row;
		WcCell		cell;
		uint32_t	colno;

		wc_buf_reset(&block, SIZE_MAX);
		status = wc_scanner_next(scanner, &block, WC_BLOCK_MAX, 0, &site->kit.err);
		assert_int_equal(wc_block_open(&r, wc_buf_slice(&block), &site->kit.err), WC_OK);
		while ((entry = wc_block_next(&r, &row, &cell, &colno)) != WC_BLOCK_DONE)
			n += entry == WC_BLOCK_CELL && wc_slice_eq(cell.value, kit_s("new"));
	}
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	return n;
}

static void
open_with_rows(Site *site, Backend **b)
{
	site_open(site, 10);
	*b = connect_backend(site);
	kit_create(&site->kit, "t", WC_PACKING_ROW, 1);
	put_rows(site, 0, MANY);
	commit(site, *b);
}

/* The CHANGES that a backend receives are the whole batch: another session that gets only these has the same state. */
static void
changes_come_to_the_backend(void **state)
{
	Site		site;
	Backend    *b;
	Backend    *other;
	WcBuf		stream = WC_BUF_INIT;
	WcModifyResult result;
	int			nframes;

	open_with_rows(&site, &b);
	put_rows(&site, MANY, 1);
	wc_buf_append_slice(&stream, wc_buf_slice(&site.kit.ops));
	send_batch(&site, b, 1 << 30);
	send_modify(&site, b);
	assert_int_equal(take_changes(b, &stream, &nframes), WC_MSG_OK);
	assert_true(nframes > 2);
	assert_int_equal(wc_message_modified_decode(wc_buf_slice(&b->reader.body), &result, &site.kit.err), WC_OK);
	assert_int_equal(result.outcome, WC_MODIFY_DONE);
	assert_int_equal(result.rows, MANY + 1);
	wc_buf_append_slice(&stream, result.changes);
	assert_int_equal(result.length, stream.len);
	abort_transaction(b);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_MAX).rows, MANY);
	assert_int_equal(new_values(&site), 0);

	other = connect_backend(&site);
	send_piece(other, 0, wc_buf_slice(&stream), 1 << 30, true);
	send_commit(other);
	commit_accepted(&site, other);
	assert_int_equal(new_values(&site), MANY + 1);

	/* the engine has them as well: nothing is sent to it again */
	other->length = stream.len = 0;
	put_rows(&site, 0, 1);
	commit(&site, other);
	send_modify(&site, b);
	assert_int_equal(take_changes(b, &stream, &nframes), WC_MSG_OK);
	assert_int_equal(wc_message_modified_decode(wc_buf_slice(&b->reader.body), &result, &site.kit.err), WC_OK);
	wc_buf_append_slice(&stream, result.changes);
	b->batch.len = 0;
	wc_buf_append_slice(&b->batch, wc_buf_slice(&stream));
	b->length = result.length;
	send_commit(b);
	commit_accepted(&site, b);
	assert_int_equal(new_values(&site), MANY + 1);
	wc_buf_free(&stream);
	site_close(&site);
}

/* The ring is full, and nobody reads: the engine waits, and stops when it is told to. */
static void
changes_can_be_given_up(void **state)
{
	Site		site;
	Backend    *b;
	WcBuf		stream = WC_BUF_INIT;
	int			nframes;

	open_with_rows(&site, &b);
	send_modify(&site, b);
	while (wc_ring_available(&b->in) < WC_RESPONSE_RING)
		sched_yield();
	wc_segment_cancel_one(b->segment, b->last_id);
	assert_int_equal(take_changes(b, &stream, &nframes), WC_MSG_ERROR);
	wc_message_error_decode(wc_buf_slice(&b->reader.body), &site.kit.err);
	assert_int_equal(site.kit.err.status, WC_CANCELLED);
	assert_in_range(nframes, 1, 2);

	/* the received bytes are void: the next piece begins before them */
	put_rows(&site, MANY, 1);
	commit(&site, b);
	assert_int_equal(new_values(&site), 0);
	assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_MAX).rows, MANY + 1);

	/* and a backend that ends then leaves no thread behind */
	send_modify(&site, b);
	while (wc_ring_available(&b->in) < WC_RESPONSE_RING)
		sched_yield();
	leave(b);
	await_sessions(&site, 0);
	assert_int_equal(new_values(&site), 0);
	wc_buf_free(&stream);
	site_close(&site);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rollback_cuts_the_batch),
		cmocka_unit_test(a_commit_is_of_the_whole_batch),
		cmocka_unit_test(a_failed_batch_is_remembered),
		cmocka_unit_test(changes_come_to_the_backend),
		cmocka_unit_test(changes_can_be_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
