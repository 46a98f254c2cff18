/*
 * test/unit/test_claims.c: rows that commits claim, beside the engine's row locks; from many threads.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

#include "claimsite.h"

/* The last claim that was made, and the bytes of changes of its transaction. */
static _Thread_local WcClaim made;
static uint64_t bytes = 1;

static bool
claim_in(Site *site, uint32_t table_id, WcSlice row, uint16_t place, uint64_t xid)
{
	return wc_claims_take(site->claims, site->flight, OPENING, table_id, row, bytes, place, xid, &made);
}

static bool
claim(Site *site, WcSlice row, uint16_t place, uint64_t xid)
{
	return claim_in(site, 1, row, place, xid);
}

static bool
is_free(Site *site, WcSlice row)
{
	return wc_claims_is_free(site->claims, site->flight, OPENING, 1, row, bytes);
}

static void
a_claim_lasts_as_long_as_the_place(void **state)
{
	Site	   *site = *state;
	uint16_t	a = take_place(site, 100);
	uint16_t	b = take_place(site, 101);
	WcClaim		given;

	assert_true(is_free(site, S("row")));
	assert_true(claim(site, S("row"), a, 100));
	assert_true(claim(site, S("row"), a, 100));
	assert_false(is_free(site, S("row")));
	assert_false(claim(site, S("row"), b, 101));
	assert_true(claim(site, S("other"), b, 101));

	assert_true(wc_flight_free(site->flight, a, 100));
	assert_true(is_free(site, S("row")));

	/* the next transaction with the place has no claim of the last one's */
	assert_int_equal(take_place(site, 102), a);
	assert_true(is_free(site, S("row")));
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 0);
	unlock_as(site, 7);
	assert_true(claim(site, S("row"), b, 101));
	given = made;
	assert_false(claim(site, S("row"), a, 102));
	wc_claims_give_back(site->claims, &given);
	assert_true(claim(site, S("row"), a, 102));
	wc_claims_give_back(site->claims, &given);
	assert_false(claim(site, S("row"), b, 101));
}

/* A transaction that has committed leaves its slot to small transactions, which are applied after it. */
static void
a_claim_follows_that_of_an_ended_transaction(void **state)
{
	Site	   *site = *state;
	uint16_t	a = take_place(site, 100);
	uint16_t	b = take_place(site, 101);

	assert_true(claim(site, S("row"), a, 100));
	assert_false(is_free(site, S("row")));
	wc_flight_ended(site->flight, a, 100, 1);
	assert_true(is_free(site, S("row")));

	bytes = WC_CLAIMS_FOLLOW_BYTES + 1;
	assert_false(is_free(site, S("row")));
	assert_false(claim(site, S("row"), b, 101));
	bytes = WC_CLAIMS_FOLLOW_BYTES;
	assert_true(claim(site, S("row"), b, 101));
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 101);

	/* rolled back: the earlier claim is in force until its transaction is applied */
	wc_claims_give_back(site->claims, &made);
	assert_true(wc_flight_free(site->flight, b, 101));
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 100);
	assert_true(wc_flight_free(site->flight, a, 100));
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 0);
	unlock_as(site, 7);
	bytes = 1;
}

static void
few_claims_follow_each_other(void **state)
{
	Site	   *site = *state;
	uint16_t	places[2];
	uint64_t	n = 0;

	places[0] = take_place(site, 100);
	while (claim(site, S("row"), places[n % 2], 100 + n))
	{
		assert_in_range(n, 0, 100);
		wc_flight_ended(site->flight, places[n % 2], 100 + n, 1);

		/* the one before is applied, which the next claim does not notice */
		if (n > 0)
			assert_true(wc_flight_free(site->flight, places[(n - 1) % 2], 100 + n - 1));
		n++;
		places[n % 2] = take_place(site, 100 + n);
	}
	assert_int_equal(n, 61);
}

/* A claim is the first of its row if no earlier commit of the row can be in flight. */
static void
the_first_claim_of_a_row_is_known(void **state)
{
	Site	   *site = *state;
	uint16_t	a = take_place(site, 100);
	uint16_t	b = take_place(site, 101);
	WcClaim		claims[2];

	assert_true(claim(site, S("row"), a, 100));
	claims[0] = made;
	assert_true(claim(site, S("row"), a, 100));
	claims[1] = made;
	assert_true(wc_claims_is_first(site->claims, OPENING, 1, S("row"), claims, 2));
	assert_false(wc_claims_is_first(site->claims, OPENING, 1, S("row"), &claims[1], 1));
	assert_false(wc_claims_is_first(site->claims, OPENING, 1, S("other"), claims, 2));

	/* the earlier commit may be applied or not */
	wc_flight_ended(site->flight, a, 100, 1);
	assert_true(claim(site, S("row"), b, 101));
	assert_false(wc_claims_is_first(site->claims, OPENING, 1, S("row"), &made, 1));
	wc_claims_give_back(site->claims, &made);
	assert_true(wc_flight_free(site->flight, a, 100));
	assert_true(claim(site, S("row"), b, 101));
	assert_true(wc_claims_is_first(site->claims, OPENING, 1, S("row"), &made, 1));
	assert_true(wc_flight_free(site->flight, b, 101));

	/* a statement has locked the row, and may have read it behind an earlier commit */
	assert_true(claim_for(site, 3, 102, WC_LOCK_NO_KEY_UPDATE, S("row"), 0));
	a = take_place(site, 102);
	wc_claims_promote(site->claims, 3, 0, a, 102, &claims[0]);
	assert_true(claim(site, S("row"), a, 102));
	claims[1] = made;
	assert_false(wc_claims_is_first(site->claims, OPENING, 1, S("row"), claims, 2));
	wc_claims_drop_all(site->claims, 3);
	assert_true(wc_flight_free(site->flight, a, 102));

	/* a table with cells that are ahead; tables share the words */
	a = take_place(site, 103);
	assert_true(claim(site, S("row"), a, 103));
	wc_claims_note_ahead(site->claims, 2);
	assert_true(wc_claims_is_first(site->claims, OPENING, 1, S("row"), &made, 1));
	wc_claims_note_ahead(site->claims, 1 + 1024);
	assert_false(wc_claims_is_first(site->claims, OPENING, 1, S("row"), &made, 1));
	assert_false(wc_claims_is_timely(site->claims, site->flight, 1, S("free")));
	assert_true(wc_claims_is_timely(site->claims, site->flight, 3, S("free")));

	/* another engine has not told yet */
	wc_claims_reset(site->claims);
	assert_false(wc_claims_is_first(site->claims, OPENING, 1, S("row"), &made, 1));
	assert_false(wc_claims_is_timely(site->claims, site->flight, 1, S("free")));
	wc_claims_open(site->claims, OPENING + 1);
	assert_false(wc_claims_is_first(site->claims, OPENING, 1, S("row"), &made, 1));
	assert_true(wc_claims_is_timely(site->claims, site->flight, 1, S("free")));
	assert_false(wc_claims_is_timely(site->claims, site->flight, 1, S("row")));
}

/* A row of another table that shares the slot of a claimed row of table 1. */
static uint64_t
row_that_shares(Site *site)
{
	for (uint64_t row = 0;; row++)
	{
		if (!wc_claims_is_free(site->claims, site->flight, OPENING, 2, wc_slice(&row, sizeof(row)), bytes))
			return row;
	}
}

/* A lock of a whole table looks for claims of this table. */
static void
a_slot_is_not_shared_by_two_tables(void **state)
{
	Site	   *site = *state;
	uint16_t	a = take_place(site, 100);
	uint16_t	b = take_place(site, 101);
	uint64_t	other;

	assert_true(claim(site, S("row"), a, 100));
	other = row_that_shares(site);
	assert_false(claim_in(site, 2, wc_slice(&other, sizeof(other)), a, 100));
	wc_flight_ended(site->flight, a, 100, 1);
	assert_false(claim_in(site, 2, wc_slice(&other, sizeof(other)), b, 101));
	assert_false(lock_table_as(site, 7, 1));
	assert_true(lock_table_as(site, 7, 2));
	unlock_as(site, 7);
}

static void
claims_and_locks_exclude_each_other(void **state)
{
	Site	   *site = *state;
	uint16_t	place = take_place(site, 100);

	/* a lock of any mode; also the transaction's own, which it need not claim */
	assert_int_equal(lock_as(site, 7, WC_LOCK_KEY_SHARE, S("row")), 0);
	assert_false(is_free(site, S("row")));
	assert_false(claim(site, S("row"), place, 100));
	assert_int_equal(lock_as(site, 100, WC_LOCK_KEY_SHARE, S("row")), 0);
	unlock_as(site, 7);
	assert_false(claim(site, S("row"), place, 100));
	unlock_as(site, 100);

	/* the failed claim has left nothing */
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 0);
	unlock_as(site, 7);

	assert_true(claim(site, S("row"), place, 100));
	assert_int_equal(lock_as(site, 7, WC_LOCK_KEY_SHARE, S("row")), 100);
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("other")), 0);
	assert_int_equal(lock_as(site, 100, WC_LOCK_EXCLUSIVE, S("row")), 0);
	unlock_as(site, 100);
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 100);
	assert_true(wc_flight_free(site->flight, place, 100));
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 0);
	unlock_as(site, 7);
}

static void
a_locked_table_has_no_claims(void **state)
{
	Site	   *site = *state;
	uint16_t	place = take_place(site, 100);

	assert_true(claim(site, S("row"), place, 100));
	assert_false(lock_table_as(site, 7, 1));
	assert_true(lock_table_as(site, 7, 2));
	assert_false(claim_in(site, 2, S("row"), place, 100));
	assert_true(claim(site, S("second"), place, 100));
	unlock_as(site, 7);
	assert_true(claim_in(site, 2, S("row"), place, 100));

	/* its own claims are not in a transaction's way */
	assert_true(lock_table_as(site, 100, 1));
	unlock_as(site, 100);
	assert_true(wc_flight_free(site->flight, place, 100));
	assert_true(lock_table_as(site, 7, 1));
	unlock_as(site, 7);
	place = take_place(site, 101);
	assert_true(claim(site, S("row"), place, 101));
}

/* A transaction that has all the locks it may have waits for claims like for locks, and keeps new ones out. */
static void
a_wanted_table_has_no_new_claims(void **state)
{
	Site	   *site = *state;
	uint16_t	place = take_place(site, 100);
	size_t		len = WC_ROW_LOCK_BYTES_MAX / 8;
	char	   *row = calloc(1, len);

	assert_non_null(row);
	assert_true(claim(site, S("row"), place, 100));
	for (char i = 0; i < 8; i++)
	{
		row[0] = i;
		assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, wc_slice(row, len)), 0);
	}
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("more")), 100);
	assert_false(claim(site, S("new"), place, 100));
	assert_true(wc_flight_free(site->flight, place, 100));
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("more")), 0);

	/* now it has the whole table */
	assert_int_equal(lock_as(site, 8, WC_LOCK_KEY_SHARE, S("any")), 7);
	place = take_place(site, 101);
	assert_false(claim(site, S("new"), place, 101));
	unlock_as(site, 7);
	assert_true(claim(site, S("new"), place, 101));
	free(row);
}

/* An engine that has lost its locks closes claims until it has them again. */
static void
another_engine_opens_claims_anew(void **state)
{
	Site	   *site = *state;
	uint16_t	place = take_place(site, 100);

	assert_int_equal(wc_claims_opening(site->claims), OPENING);
	assert_true(claim(site, S("row"), place, 100));
	wc_claims_shut(site->claims);
	assert_int_equal(wc_claims_opening(site->claims), 0);
	assert_false(is_free(site, S("other")));
	assert_false(claim(site, S("other"), place, 100));
	wc_claims_count(site->claims, 5);
	wc_claims_close_table(site->claims, 1);
	wc_claims_reset(site->claims);
	wc_claims_open(site->claims, OPENING + 1);
	assert_false(claim(site, S("other"), place, 100));
	assert_true(wc_claims_take(site->claims, site->flight, OPENING + 1, 1, S("other"), bytes, place, 100, &made));

	/* claims of before are still valid: their commits are under way */
	assert_int_equal(lock_as(site, 7, WC_LOCK_SHARE, S("row")), 100);
}

/* --- threads ----------------------------------------------------------------------- */

static void
commit_row(Contest *c, uint32_t process, uint64_t xid, uint8_t row)
{
	uint16_t	place = wc_flight_take(c->site->flight, xid, 1, false, WC_FLIGHT_NONE);

	if (claim(c->site, wc_slice(&row, 1), place, xid))
		contest_visit(c, row);
	assert_true(wc_flight_free(c->site->flight, place, xid));
}

static void
a_row_has_one_owner(void **state)
{
	contest_run(*state, commit_row);
	assert_true(claim(*state, wc_slice("", 1), take_place(*state, 2), 2));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_claim_lasts_as_long_as_the_place, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(a_claim_follows_that_of_an_ended_transaction, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(few_claims_follow_each_other, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(the_first_claim_of_a_row_is_known, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(a_slot_is_not_shared_by_two_tables, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(claims_and_locks_exclude_each_other, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(a_locked_table_has_no_claims, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(a_wanted_table_has_no_new_claims, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(another_engine_opens_claims_anew, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(a_row_has_one_owner, claimsite_set_up, claimsite_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
