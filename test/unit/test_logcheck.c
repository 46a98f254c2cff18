/*
 * test/unit/test_logcheck.c: comparing the log with what was applied (rpc/logcheck.h).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/batch.h"
#include "read/txn/txn.h"
#include "rpc/logcheck.h"

#define DATABASE 5
#define XID 745

/* A transaction, as the engine has it and as bytes. */
typedef struct Site
{
	WcLogCheck *check;
	WcTxn	   *txn;
	WcBuf		stream;
	WcBatchBuilder builder;
	WcError		err;
} Site;

static void
make(Site *site, bool compare, uint64_t bytes_max)
{
	memset(site, 0, sizeof(*site));
	assert_int_equal(wc_logcheck_create(compare, bytes_max, &site->check, &site->err), WC_OK);
	assert_int_equal(wc_txn_create(DATABASE, 1 << 20, &site->txn, &site->err), WC_OK);
	wc_buf_init(&site->stream, 0);
	wc_batch_init(&site->builder, &site->stream);
}

static void
end(Site *site)
{
	wc_logcheck_free(site->check);
	wc_txn_destroy(site->txn);
	wc_buf_free(&site->stream);
}

static void
put(Site *site, const char *row)
{
	WcError    *err = &site->err;

	assert_int_equal(wc_batch_row_begin(&site->builder, 7, 0, wc_slice_cstr(row), 0, NULL, 0, err), WC_OK);
	assert_int_equal(wc_batch_put(&site->builder, 1, wc_slice_cstr("q"), WC_TS_LATEST, 0, wc_slice_cstr("v"), err), WC_OK);
	assert_int_equal(wc_batch_row_end(&site->builder, err), WC_OK);
}

/* The engine gets all of it. */
static void
send(Site *site)
{
	assert_int_equal(wc_txn_append(site->txn, wc_buf_slice(&site->stream), &site->err), WC_OK);
}

static void
read_part(Site *site, uint64_t xid, size_t from, size_t to)
{
	WcLogRecord batch = {
		.kind = WC_RECORD_BATCH,.store = 1,.place = WC_RECORD_NO_PLACE,.database = DATABASE,.xid = xid,.at = from,
			.bytes = wc_slice(site->stream.data + from, to - from)
	};

	wc_logcheck_batch(site->check, &batch);
}

static bool
read_commit(Site *site, uint64_t xid)
{
	uint16_t	place;
	bool		logged = wc_logcheck_commit(site->check, xid, &place);

	assert_int_equal(place, WC_RECORD_NO_PLACE);
	return logged;
}

static WcLogCheckCounts
counts(const Site *site)
{
	WcLogCheckCounts c;

	wc_logcheck_counts(site->check, &c);
	return c;
}

static void
what_is_the_same_is_the_same(void **state)
{
	Site		site;

	(void) state;
	make(&site, true, 1000);
	put(&site, "a");
	assert_int_equal(wc_batch_drop_table(&site.builder, 1, 8, &site.err), WC_OK);
	assert_int_equal(wc_batch_drop_table(&site.builder, 1, 9, &site.err), WC_OK);
	put(&site, "b");
	put(&site, "c");
	assert_int_equal(wc_batch_drop_table(&site.builder, 2, 10, &site.err), WC_OK);
	send(&site);
	read_part(&site, XID, 0, 7);
	read_part(&site, XID, 7, site.stream.len);
	read_part(&site, XID, 30, site.stream.len);
	assert_int_equal(counts(&site).pending, 1);
	assert_int_equal(counts(&site).pending_bytes, site.stream.len);
	wc_logcheck_applied(site.check, XID, site.txn);
	(void) read_commit(&site, XID);
	assert_int_equal(counts(&site).batches, 3);
	assert_int_equal(counts(&site).commits, 1);
	assert_int_equal(counts(&site).compared, 1);
	assert_int_equal(counts(&site).differ, 0);
	assert_int_equal(counts(&site).pending, 0);

	/* of others nothing is known */
	(void) read_commit(&site, XID + 1);
	wc_logcheck_abort(site.check, XID + 2);
	assert_int_equal(counts(&site).commits, 1);
	assert_int_equal(counts(&site).aborts, 0);
	end(&site);
}

static void
differences_are_found(void **state)
{
	Site		site;

	(void) state;
	make(&site, true, 1000);
	put(&site, "a");
	put(&site, "b");
	send(&site);

	/* a byte */
	wc_logcheck_applied(site.check, XID, site.txn);
	site.stream.data[site.stream.len - 1] ^= 1;
	read_part(&site, XID, 0, site.stream.len);
	(void) read_commit(&site, XID);
	assert_int_equal(counts(&site).differ, 1);
	site.stream.data[site.stream.len - 1] ^= 1;

	/* too short */
	wc_logcheck_applied(site.check, XID + 1, site.txn);
	read_part(&site, XID + 1, 0, site.stream.len / 2);
	(void) read_commit(&site, XID + 1);
	assert_int_equal(counts(&site).differ, 2);

	/* nothing in the log; nothing applied */
	wc_logcheck_applied(site.check, XID + 2, site.txn);
	(void) read_commit(&site, XID + 2);
	assert_int_equal(counts(&site).differ, 3);
	read_part(&site, XID + 3, 0, site.stream.len);
	(void) read_commit(&site, XID + 3);
	assert_int_equal(counts(&site).differ, 4);

	/* a gap */
	read_part(&site, XID + 4, 5, site.stream.len);
	assert_int_equal(counts(&site).differ, 5);
	assert_int_equal(counts(&site).compared, 4);
	end(&site);
}

static void
what_was_rolled_back_is_nothing(void **state)
{
	Site		site;

	(void) state;
	make(&site, true, 1000);
	put(&site, "a");
	send(&site);

	/* all of it by savepoint, then a commit */
	read_part(&site, XID, 0, site.stream.len);
	read_part(&site, XID, 0, 0);
	(void) read_commit(&site, XID);
	assert_int_equal(counts(&site).compared, 1);
	assert_int_equal(counts(&site).differ, 0);

	/* applied, and then failed */
	read_part(&site, XID + 1, 0, site.stream.len);
	wc_logcheck_applied(site.check, XID + 1, site.txn);
	wc_logcheck_abort(site.check, XID + 1);
	assert_int_equal(counts(&site).aborts, 1);
	(void) read_commit(&site, XID + 1);
	assert_int_equal(counts(&site).commits, 1);

	/* gone without a word */
	read_part(&site, XID + 2, 0, site.stream.len);
	read_part(&site, XID + 3, 0, site.stream.len);
	wc_logcheck_running(site.check, XID + 3);
	assert_int_equal(counts(&site).pending, 1);
	assert_int_equal(counts(&site).aborts, 2);
	end(&site);
}

static void
what_has_no_room_is_skipped(void **state)
{
	Site		site;

	(void) state;
	make(&site, true, 30);
	put(&site, "a");
	put(&site, "b");
	send(&site);
	wc_logcheck_applied(site.check, XID, site.txn);
	read_part(&site, XID, 0, 20);
	read_part(&site, XID, 20, site.stream.len);
	assert_int_equal(counts(&site).pending_bytes, 0);
	read_part(&site, XID, site.stream.len, site.stream.len);
	(void) read_commit(&site, XID);
	assert_int_equal(counts(&site).commits, 1);
	assert_int_equal(counts(&site).skipped, 1);
	assert_int_equal(counts(&site).compared, 0);
	assert_int_equal(counts(&site).differ, 0);
	end(&site);
}

static void
where_nothing_is_applied_nothing_is_compared(void **state)
{
	Site		site;

	(void) state;
	make(&site, false, 1000);
	put(&site, "a");
	read_part(&site, XID, 0, site.stream.len);
	(void) read_commit(&site, XID);
	assert_int_equal(counts(&site).commits, 1);
	assert_int_equal(counts(&site).compared, 0);
	assert_int_equal(counts(&site).differ, 0);
	end(&site);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_the_same_is_the_same),
		cmocka_unit_test(differences_are_found),
		cmocka_unit_test(what_was_rolled_back_is_nothing),
		cmocka_unit_test(what_has_no_room_is_skipped),
		cmocka_unit_test(where_nothing_is_applied_nothing_is_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
