/*
 * test/unit/test_rowcommit.c: commits lock the rows that were written, and with a snapshot refuse to replace a row that
 * has changed.
 */
#include "rowsite.h"

#include <stdio.h>
#include <string.h>

/* --- COMMIT --------------------------------------------------------------------------- */

static void
a_commit_waits_for_who_has_its_rows(void **state)
{
	Site	   *site = *state;

	assert_string_equal(site_lock(site, 0, "b"), "b");
	site_put(site, "c", "2");
	site_put(site, "b", "2");
	site_put(site, "a", "2");
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 1);
	assert_string_equal(kit_scan(&site->kit, false), "a{f:q=1} b{f:q=1} c{f:q=1}");

	/* in the order of keys: rows that are locked stay locked */
	assert_string_equal(site_lock(site, 2, "c"), "c");
	assert_int_equal(site_commit(site, 1), 1);
	assert_string_equal(site_lock(site, 2, "a"), " | 2");
	site_end(site, 0);
	assert_int_equal(site_commit(site, 1), 3);
	site_end(site, 2);
	assert_int_equal(site_commit(site, 1), 0);
	assert_string_equal(kit_scan(&site->kit, false), "a{f:q=2} b{f:q=2} c{f:q=2}");
	assert_string_equal(site_lock(site, 2, "abc"), "a b c");
}

/* The transaction's own earlier locks do not conflict, in any mode. */
static void
a_commit_needs_no_second_lock(void **state)
{
	WcLockMessage update = {.mode = WC_LOCK_NO_KEY_UPDATE};
	WcLockMessage shared = {.mode = WC_LOCK_SHARE};
	WcLockMessage key = {.mode = WC_LOCK_KEY_SHARE};
	Site	   *site = *state;

	assert_string_equal(site_lock_with(site, 0, &update, "a"), "a");
	assert_string_equal(site_lock_with(site, 1, &key, "a"), "a");
	site_put(site, "a", "2");
	site_write(site, 0);
	assert_int_equal(site_commit(site, 0), 0);

	/* a lock that others share does not do */
	assert_string_equal(site_lock_with(site, 0, &shared, "b"), "b");
	assert_string_equal(site_lock_with(site, 1, &key, "b"), "b");
	site_put(site, "b", "2");
	site_write(site, 0);
	assert_int_equal(site_commit(site, 0), 2);
	site_end(site, 1);
	assert_int_equal(site_commit(site, 0), 0);
	assert_string_equal(kit_scan(&site->kit, false), "a{f:q=2} b{f:q=2} c{f:q=1}");
}

/* Rows of so many that a commit takes the table, if it can. */
static void
a_large_commit_takes_the_table(void **state)
{
	Site	   *site = *state;
	uint64_t	savepoint;
	char		row[16];

	for (int round = 0; round < 2; round++)
	{
		if (round == 0)
			assert_string_equal(site_lock(site, 0, "x"), "x");
		for (int i = WC_LOCK_BATCH + 1; i-- > 0;)
		{
			snprintf(row, sizeof(row), "r%05d", i);
			site_put(site, row, "1");
		}
		site_put(site, "x", "1");
		site_write(site, 1);
		if (round == 0)
		{
			assert_int_equal(site_commit(site, 1), 1);
			assert_int_equal(site_locks_of(site, 1), WC_LOCK_BATCH + 1);
			site_end(site, 0);
		}
		assert_int_equal(site_commit(site, 1), 0);
		assert_int_equal(site_locks_of(site, 1), 0);
	}

	/* rolled back: nothing to lock */
	assert_string_equal(site_lock(site, 0, "x"), "x");
	site_put(site, "y", "1");
	site_write(site, 1);
	savepoint = site->lengths[1];
	site_put(site, "x", "1");
	site_write(site, 1);
	site->lengths[1] = savepoint;
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
}

/* Which row has changed since the snapshot: the commit is refused for that, and given up. */
static const char *
refused_since(Site *site, int session, uint64_t snapshot)
{
	static char row[WC_ERROR_ROW_MAX + 1];
	WcCommitMessage m = {.xid = (uint64_t) session + 1,.length = site->lengths[session],.snapshot = snapshot};
	WcError    *err = &site->kit.err;
	uint8_t		answer;
	WcSlice		payload;

	wc_message_commit_encode(site_message(site, session), &m);
	payload = site_answer(site, session, WC_MSG_PRECOMMIT, &answer);
	assert_int_equal(answer, WC_MSG_ERROR);
	wc_message_error_decode(payload, err);
	assert_int_equal(err->status, WC_CONFLICT);
	assert_string_equal(err->message, "could not serialize access due to concurrent update");
	assert_int_equal(err->table, err->row_len > 0 ? site->kit.table : 0);
	memcpy(row, err->row, err->row_len);
	row[err->row_len] = '\0';
	site_end(site, session);
	return row;
}

/* --- PRECOMMIT since a snapshot ------------------------------------------------------------ */

static void
put_and_commit(Site *site, int session, const char *row, const char *value)
{
	site_put(site, row, value);
	site_write(site, session);
	assert_int_equal(site_commit(site, session), 0);
}

/* One row, as it is committed. */
static const char *
get(Site *site, const char *row)
{
	WcRange		range = {.start = kit_s(row),.stop = kit_s(row),.start_inclusive = true,.stop_inclusive = true};
	WcScan		scan;

	wc_scan_init(&scan, site->kit.table);
	scan.nranges = 1;
	scan.ranges = &range;
	return kit_scan_as(&site->kit, false, &scan);
}

static void
a_commit_replaces_nothing_that_has_changed_since(void **state)
{
	Site	   *site = *state;

	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 1);
	put_and_commit(site, 1, "b", "2");
	site_put(site, "a", "3");
	site_put(site, "b", "3");
	site_put(site, "d", "3");
	site_write(site, 0);
	assert_string_equal(refused_since(site, 0, 1), "b");
	assert_string_equal(site->kit.err.detail,
						"Row \"b\" of stored table \"t\" was changed by another transaction after this one's snapshot.");
	assert_string_equal(kit_scan(&site->kit, false), "a{f:q=1} b{f:q=2} c{f:q=1}");
	assert_string_equal(site_lock(site, 2, "abd"), "a b d");
	site_end(site, 2);

	/* neither a row that was not there, nor one that is gone */
	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 2);
	site_put(site, "d", "2");
	kit_delete(&site->kit, WC_DELETE_FAMILY, "c", 1, "", KIT_LATEST);
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	site_put(site, "d", "3");
	site_write(site, 0);
	assert_string_equal(refused_since(site, 0, 2), "d");
	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 3);
	put_and_commit(site, 1, "e", "1");
	kit_delete(&site->kit, WC_DELETE_FAMILY, "e", 1, "", KIT_LATEST);
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	site_put(site, "c", "4");
	site_put(site, "e", "4");
	site_write(site, 0);
	assert_int_equal(site_commit_since(site, 0, 3), 0);
	assert_string_equal(kit_scan(&site->kit, false), "a{f:q=1} b{f:q=2} c{f:q=4} d{f:q=2} e{f:q=4}");

	/* without a snapshot the last one wins */
	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 4);
	put_and_commit(site, 1, "a", "5");
	put_and_commit(site, 0, "a", "6");
	assert_string_equal(get(site, "a"), "a{f:q=6}");
}

/* All that is written to a row counts, whichever operation comes first; families that are not
 * written do not. */
static void
a_commit_looks_at_the_families_that_it_writes(void **state)
{
	Site	   *site = *state;

	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 1);
	put_and_commit(site, 1, "b", "2");
	kit_put(&site->kit, "b", 2, "q", KIT_LATEST, "3");
	site_write(site, 0);
	assert_int_equal(site_commit_since(site, 0, 1), 0);
	assert_string_equal(get(site, "b"), "b{f:q=2 g:q=3}");

	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 2);
	put_and_commit(site, 1, "b", "4");
	kit_put(&site->kit, "b", 2, "q", KIT_LATEST, "5");
	site_put(site, "a", "5");
	site_put(site, "b", "5");
	site_write(site, 0);
	assert_string_equal(refused_since(site, 0, 2), "b");
}

static void
rows_that_were_locked_before_are_not_looked_at_again(void **state)
{
	WcLockMessage key = {.mode = WC_LOCK_KEY_SHARE,.snapshot = 2};
	Site	   *site = *state;

	/* LOCK has reported the change: the COMMIT does not check the row again */
	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 1);
	put_and_commit(site, 1, "a", "2");
	assert_string_equal(site_lock_since(site, 0, 1, "ab"), "a! b");
	site_put(site, "a", "3");
	site_put(site, "b", "3");
	site_write(site, 0);
	assert_int_equal(site_commit_since(site, 0, 1), 0);

	/* a lock that is too weak is none */
	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 2);
	put_and_commit(site, 1, "a", "4");
	assert_string_equal(site_lock_with(site, 0, &key, "a"), "a!");
	site_put(site, "a", "5");
	site_write(site, 0);
	assert_string_equal(refused_since(site, 0, 2), "a");
}

/* While a commit waits nobody changes the rows that it has got; the others are looked at when
 * it gets them. */
static void
a_commit_that_has_waited_looks_at_the_rest(void **state)
{
	Site	   *site = *state;

	for (int changed = 0; changed < 2; changed++)
	{
		(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 1);
		assert_string_equal(site_lock(site, 1, "b"), "b");
		site_put(site, "b", "of 0");
		site_put(site, "a", "of 0");
		site_write(site, 0);
		assert_int_equal(site_commit_since(site, 0, 1), 2);
		assert_int_equal(site_commit_since(site, 0, 1), 2);
		assert_string_equal(site_lock(site, 2, "a"), " | 1");
		if (changed)
			put_and_commit(site, 1, "b", "of 1");
		else
			site_end(site, 1);
		if (changed)
			assert_string_equal(refused_since(site, 0, 1), "b");
		else
			assert_int_equal(site_commit_since(site, 0, 1), 0);
	}
	assert_string_equal(kit_scan(&site->kit, false), "a{f:q=of 0} b{f:q=of 1} c{f:q=1}");
}

static void
put_many(Site *site, int session)
{
	char		row[16];

	for (int i = WC_LOCK_BATCH + 1; i-- > 0;)
	{
		snprintf(row, sizeof(row), "r%05d", i);
		site_put(site, row, "1");
	}
	site_write(site, session);
}

static void
a_large_commit_looks_at_its_rows(void **state)
{
	Site	   *site = *state;

	for (int locked = 0; locked < 2; locked++)
	{
		/* somebody else in the table: row by row */
		if (locked)
			assert_string_equal(site_lock(site, 2, "x"), "x");
		(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 1);
		put_and_commit(site, 1, "r00077", "2");
		put_many(site, 0);
		assert_string_equal(refused_since(site, 0, 1), "r00077");
		assert_string_equal(get(site, "r00077"), "r00077{f:q=2}");
		(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 2);
		put_and_commit(site, 1, "other", "2");
		put_many(site, 0);
		assert_int_equal(site_commit_since(site, 0, 2), 0);
		assert_string_equal(get(site, "r00077"), "r00077{f:q=1}");
	}

	/* so many that it is known of the table only that it was written */
	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 1);
	site_end(site, 2);
	put_many(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	site_put(site, "a", "2");
	site_write(site, 0);
	assert_int_equal(site_commit_since(site, 0, 1), 0);
}

/* Tables that were made since the snapshot, by others or by itself; and that it empties. */
static void
a_commit_looks_at_tables_that_others_have_filled(void **state)
{
	Site	   *site = *state;
	uint32_t	first = site->kit.table;

	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 1);
	kit_create(&site->kit, "new", WC_PACKING_CELL, 1);
	put_and_commit(site, 1, "a", "1");
	site_put(site, "b", "2");
	site_write(site, 0);
	assert_int_equal(site_commit_since(site, 0, 1), 0);
	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 1);
	put_and_commit(site, 1, "c", "1");
	site_put(site, "c", "2");
	site_write(site, 0);
	assert_string_equal(refused_since(site, 0, 1), "c");

	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 1);
	kit_create(&site->kit, "own", WC_PACKING_ROW, 1);
	site_put(site, "a", "1");
	site->kit.table = first;
	put_and_commit(site, 0, "b", "2");

	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 1);
	put_and_commit(site, 1, "a", "2");
	assert_ok(&site->kit, wc_batch_truncate_table(&site->kit.builder, site->kit.cid, first, &site->kit.err));
	site_put(site, "a", "3");
	site_write(site, 0);
	assert_int_equal(site_commit_since(site, 0, 1), 0);
	assert_string_equal(kit_scan(&site->kit, false), "a{f:q=3}");
}

/* A row key that has no room in an error is in its text, cut. */
static void
a_long_row_is_shown_in_part(void **state)
{
	static char row[WC_ERROR_ROW_MAX + 2];
	Site	   *site = *state;

	memset(row, 'r', sizeof(row) - 1);
	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 1);
	put_and_commit(site, 1, row, "2");
	site_put(site, row, "3");
	site_write(site, 0);
	assert_string_equal(refused_since(site, 0, 1), "");
	assert_non_null(strstr(site->kit.err.detail, "Row \"rrrr"));
	assert_non_null(strstr(site->kit.err.detail, "\"... of stored table \"t\""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_commit_waits_for_who_has_its_rows, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(a_commit_needs_no_second_lock, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(a_large_commit_takes_the_table, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(a_commit_replaces_nothing_that_has_changed_since, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(a_commit_looks_at_the_families_that_it_writes, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(rows_that_were_locked_before_are_not_looked_at_again, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(a_commit_that_has_waited_looks_at_the_rest, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(a_large_commit_looks_at_its_rows, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(a_commit_looks_at_tables_that_others_have_filled, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(a_long_row_is_shown_in_part, site_set_up, site_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
