/*
 * test/unit/test_processclaims.c: rows that statements claim, beside the engine's row locks and claims of commits; from many
 * threads.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/limits.h"
#include "claimsite.h"

/* Processes 0 and 1 have the transactions 100 and 101. */
static bool
hold(Site *site, uint32_t process, WcRowLockMode mode, WcSlice row)
{
	return claim_for(site, process, 100 + process, mode, row, 0);
}

static bool
commit_claims(Site *site, WcSlice row, uint16_t place, uint64_t xid)
{
	WcClaim		claim;

	return wc_claims_take(site->claims, site->flight, OPENING, 1, row, 1, place, xid, &claim);
}

static bool
is_quiet(Site *site, WcSlice row)
{
	return wc_claims_is_quiet(site->claims, site->flight, 1, row);
}

static void
it_lasts_until_the_transaction_ends(void **state)
{
	Site	   *site = *state;

	assert_true(hold(site, 0, WC_LOCK_NO_KEY_UPDATE, S("row")));
	assert_true(claimsite_added);
	assert_true(hold(site, 0, WC_LOCK_NO_KEY_UPDATE, S("row")));
	assert_false(claimsite_added);
	assert_false(hold(site, 1, WC_LOCK_KEY_SHARE, S("row")));
	assert_true(hold(site, 1, WC_LOCK_EXCLUSIVE, S("other")));
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 100);
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("other")), 101);

	wc_claims_drop_all(site->claims, 0);
	assert_int_equal(wc_claims_nheld(site->claims, 0), 0);
	assert_true(hold(site, 1, WC_LOCK_NO_KEY_UPDATE, S("row")));
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 101);

	/* the process's next transaction has none of the rows */
	assert_true(claim_for(site, 0, 200, WC_LOCK_EXCLUSIVE, S("third"), 0));
	wc_claims_drop_all(site->claims, 1);
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 0);
	unlock_as(site, 7);
}

static void
it_conflicts_as_row_locks_do(void **state)
{
	Site	   *site = *state;

	assert_true(hold(site, 0, WC_LOCK_NO_KEY_UPDATE, S("row")));
	assert_int_equal(lock_as(site, 7, WC_LOCK_SHARE, S("row")), 100);
	assert_int_equal(lock_as(site, 7, WC_LOCK_NO_KEY_UPDATE, S("row")), 100);
	assert_int_equal(lock_as(site, 7, WC_LOCK_KEY_SHARE, S("row")), 0);

	/* the engine has a lock of the row now, so that the stronger mode is for the engine, too */
	assert_false(hold(site, 0, WC_LOCK_EXCLUSIVE, S("row")));
	assert_true(hold(site, 0, WC_LOCK_KEY_SHARE, S("row")));
	assert_int_equal(lock_as(site, 100, WC_LOCK_EXCLUSIVE, S("row")), 7);
	unlock_as(site, 7);
	assert_int_equal(lock_as(site, 100, WC_LOCK_EXCLUSIVE, S("row")), 0);
	unlock_as(site, 100);
	assert_int_equal(lock_as(site, 7, WC_LOCK_SHARE, S("row")), 100);
}

static void
the_last_row_can_be_dropped(void **state)
{
	Site	   *site = *state;

	assert_true(hold(site, 0, WC_LOCK_EXCLUSIVE, S("row")));
	assert_true(hold(site, 0, WC_LOCK_EXCLUSIVE, S("other")));
	wc_claims_drop_last(site->claims, 0);
	assert_int_equal(wc_claims_nheld(site->claims, 0), 1);
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 100);
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("other")), 0);
	unlock_as(site, 7);
	assert_true(hold(site, 1, WC_LOCK_EXCLUSIVE, S("other")));
}

/* A process that does not know yet whether it keeps the row is no transaction whose end others wait for. */
static void
until_it_is_kept_it_is_brief(void **state)
{
	Site	   *site = *state;
	bool		is_new;

	assert_true(hold(site, 0, WC_LOCK_SHARE, S("other")));
	assert_true(wc_claims_hold(site->claims, site->flight, 0, 100, 1, S("row"), WC_LOCK_NO_KEY_UPDATE, 0, &is_new));
	assert_true(is_new);
	assert_true(lock_as(site, 7, WC_LOCK_NO_KEY_UPDATE, S("row")) == (100 | WC_HOLDER_BRIEF));
	assert_int_equal(lock_as(site, 7, WC_LOCK_KEY_SHARE, S("row")), 0);
	unlock_as(site, 7);
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("other")), 100);
	assert_false(hold(site, 1, WC_LOCK_KEY_SHARE, S("row")));
	assert_true(wc_claims_hold(site->claims, site->flight, 0, 100, 1, S("row"), WC_LOCK_KEY_SHARE, 0, &is_new));
	assert_false(is_new);

	wc_claims_keep_last(site->claims, 0);
	assert_int_equal(lock_as(site, 7, WC_LOCK_NO_KEY_UPDATE, S("row")), 100);
	assert_int_equal(lock_as(site, 7, WC_LOCK_KEY_SHARE, S("row")), 0);
}

/* Of a transaction that others see as ended, and of no other, a process waits until it is applied. */
static void
an_ended_transaction_is_known(void **state)
{
	Site	   *site = *state;
	uint16_t	place = take_place(site, 50);

	assert_true(commit_claims(site, S("row"), place, 50));
	assert_int_equal(wc_claims_ended(site->claims, site->flight, 1, S("row")), 0);
	wc_flight_ended(site->flight, place, 50, 1);
	assert_int_equal(wc_claims_ended(site->claims, site->flight, 1, S("row")), 50);
	assert_int_equal(wc_claims_ended(site->claims, site->flight, 1, S("other")), 0);
	assert_true(wc_flight_free(site->flight, place, 50));
	assert_int_equal(wc_claims_ended(site->claims, site->flight, 1, S("row")), 0);

	assert_true(hold(site, 0, WC_LOCK_EXCLUSIVE, S("row")));
	assert_int_equal(wc_claims_ended(site->claims, site->flight, 1, S("row")), 0);
}

static uint64_t
locked_by(Site *site, WcRowLockMode mode, WcSlice row, uint64_t except)
{
	return wc_claims_locked_by(site->claims, site->flight, 1, row, mode, except);
}

/* The transaction that a process has to wait for, if the engine has no part in the row's locks. */
static void
the_holder_is_known_without_the_engine(void **state)
{
	Site	   *site = *state;
	uint16_t	place = take_place(site, 50);
	bool		is_new;

	assert_int_equal(locked_by(site, WC_LOCK_EXCLUSIVE, S("row"), 101), 0);
	assert_true(wc_claims_hold(site->claims, site->flight, 0, 100, 1, S("row"), WC_LOCK_NO_KEY_UPDATE, 0, &is_new));
	assert_true(locked_by(site, WC_LOCK_EXCLUSIVE, S("row"), 101) == (100 | WC_HOLDER_BRIEF));
	wc_claims_keep_last(site->claims, 0);
	assert_int_equal(locked_by(site, WC_LOCK_EXCLUSIVE, S("row"), 101), 100);
	assert_int_equal(locked_by(site, WC_LOCK_KEY_SHARE, S("row"), 101), 0);
	assert_int_equal(locked_by(site, WC_LOCK_EXCLUSIVE, S("other"), 101), 0);
	assert_int_equal(locked_by(site, WC_LOCK_EXCLUSIVE, S("row"), 100), 0);

	/* the engine may have others waiting, or a lock of another holder */
	assert_int_equal(lock_as(site, 7, WC_LOCK_KEY_SHARE, S("row")), 0);
	assert_int_equal(locked_by(site, WC_LOCK_EXCLUSIVE, S("row"), 101), 0);
	unlock_as(site, 7);
	assert_int_equal(locked_by(site, WC_LOCK_EXCLUSIVE, S("row"), 101), 100);

	/* nobody can claim the row when the holder has ended */
	wc_claims_shut(site->claims);
	assert_int_equal(locked_by(site, WC_LOCK_EXCLUSIVE, S("row"), 101), 0);
	wc_claims_open(site->claims, OPENING);
	assert_int_equal(locked_by(site, WC_LOCK_EXCLUSIVE, S("row"), 101), 100);
	wc_claims_drop_all(site->claims, 0);
	assert_int_equal(locked_by(site, WC_LOCK_EXCLUSIVE, S("row"), 101), 0);

	assert_true(commit_claims(site, S("row"), place, 50));
	assert_int_equal(locked_by(site, WC_LOCK_EXCLUSIVE, S("row"), 101), 50);
	assert_true(wc_flight_free(site->flight, place, 50));
	assert_int_equal(locked_by(site, WC_LOCK_EXCLUSIVE, S("row"), 101), 0);
}

/* A row that shares the slot of row "row". */
static uint64_t
row_that_shares(Site *site)
{
	uint64_t	n = 0;

	assert_true(hold(site, 1, WC_LOCK_EXCLUSIVE, S("row")));
	while (wc_claims_is_free(site->claims, site->flight, OPENING, 1, wc_slice(&n, sizeof(n)), 1))
		n++;
	wc_claims_drop_all(site->claims, 1);
	return n;
}

static void
other_rows_of_the_slot_are_free_for_the_engine(void **state)
{
	Site	   *site = *state;
	uint64_t	n = row_that_shares(site);
	WcSlice		other = wc_slice(&n, sizeof(n));

	assert_true(hold(site, 0, WC_LOCK_EXCLUSIVE, S("row")));
	assert_false(hold(site, 1, WC_LOCK_EXCLUSIVE, other));
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, other), 0);
	assert_int_equal(lock_as(site, 8, WC_LOCK_EXCLUSIVE, S("row")), 100);
	assert_false(hold(site, 0, WC_LOCK_EXCLUSIVE, other));
	unlock_as(site, 7);

	/* the process itself can have both; the slot is its own until both are gone */
	assert_true(hold(site, 0, WC_LOCK_EXCLUSIVE, other));
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, other), 100);
	wc_claims_drop_last(site->claims, 0);
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 100);
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, other), 0);
	unlock_as(site, 7);
}

static void
it_becomes_a_claim_of_the_commit(void **state)
{
	Site	   *site = *state;
	uint64_t	n = row_that_shares(site);
	WcSlice		other = wc_slice(&n, sizeof(n));
	uint16_t	place = take_place(site, 100);
	WcClaim		claims[2];

	assert_true(hold(site, 0, WC_LOCK_NO_KEY_UPDATE, S("row")));
	assert_true(hold(site, 0, WC_LOCK_NO_KEY_UPDATE, other));
	for (int i = 0; i < 2; i++)
		wc_claims_promote(site->claims, 0, (uint32_t) i, place, 100, &claims[i]);
	assert_false(is_quiet(site, S("row")));

	/* the commit fails, and tries again */
	for (int i = 1; i >= 0; i--)
		wc_claims_give_back(site->claims, &claims[i]);
	assert_true(is_quiet(site, S("row")));
	assert_int_equal(lock_as(site, 7, WC_LOCK_SHARE, other), 100);
	for (int i = 0; i < 2; i++)
		wc_claims_promote(site->claims, 0, (uint32_t) i, place, 100, &claims[i]);
	wc_claims_drop_all(site->claims, 0);
	assert_int_equal(lock_as(site, 7, WC_LOCK_SHARE, other), 100);

	/* a statement reads the row, so it does not follow as a commit would that replaces the row */
	wc_flight_ended(site->flight, place, 100, 1);
	assert_false(hold(site, 1, WC_LOCK_NO_KEY_UPDATE, S("row")));
	assert_false(is_quiet(site, S("row")));
	assert_true(wc_flight_free(site->flight, place, 100));
	assert_true(is_quiet(site, S("row")));
	assert_true(hold(site, 1, WC_LOCK_NO_KEY_UPDATE, S("row")));
}

/* Others may lock the key of a row that was updated, also before the commit is applied. */
static void
its_mode_stays(void **state)
{
	Site	   *site = *state;
	uint16_t	place = take_place(site, 100);
	uint16_t	next = take_place(site, 101);
	WcClaim		claims[2];
	WcClaim		also;

	assert_true(hold(site, 0, WC_LOCK_NO_KEY_UPDATE, S("updated")));
	assert_true(hold(site, 0, WC_LOCK_EXCLUSIVE, S("deleted")));
	for (int i = 0; i < 2; i++)
		wc_claims_promote(site->claims, 0, (uint32_t) i, place, 100, &claims[i]);
	wc_claims_drop_all(site->claims, 0);
	assert_int_equal(lock_as(site, 7, WC_LOCK_KEY_SHARE, S("deleted")), 100);
	assert_int_equal(lock_as(site, 7, WC_LOCK_KEY_SHARE, S("updated")), 0);
	assert_int_equal(lock_as(site, 8, WC_LOCK_SHARE, S("updated")), 100);
	unlock_as(site, 7);
	assert_false(lock_table_as(site, 7, 1));

	/* the transaction also writes a row of the slot that it has not locked before */
	assert_true(wc_claims_take(site->claims, site->flight, OPENING, 1, S("updated"), 1, place, 100, &also));
	assert_int_equal(lock_as(site, 7, WC_LOCK_KEY_SHARE, S("updated")), 100);
	wc_claims_give_back(site->claims, &also);
	assert_int_equal(lock_as(site, 7, WC_LOCK_KEY_SHARE, S("updated")), 0);
	unlock_as(site, 7);

	/* a commit that replaces the row follows */
	wc_flight_ended(site->flight, place, 100, 1);
	assert_true(commit_claims(site, S("updated"), next, 101));
	assert_int_equal(lock_as(site, 7, WC_LOCK_KEY_SHARE, S("updated")), 101);
}

static void
claims_of_commits_do_not_follow_it(void **state)
{
	Site	   *site = *state;
	uint16_t	place = take_place(site, 101);

	assert_true(hold(site, 0, WC_LOCK_NO_KEY_UPDATE, S("row")));
	assert_false(commit_claims(site, S("row"), place, 101));
	assert_true(commit_claims(site, S("other"), place, 101));
	assert_false(hold(site, 0, WC_LOCK_NO_KEY_UPDATE, S("other")));
	wc_claims_drop_all(site->claims, 0);
	assert_true(commit_claims(site, S("row"), place, 101));
}

static void
a_row_is_quiet_without_locks_of_transactions_that_may_have_ended(void **state)
{
	Site	   *site = *state;

	assert_true(is_quiet(site, S("row")));
	assert_true(hold(site, 0, WC_LOCK_NO_KEY_UPDATE, S("row")));
	assert_true(is_quiet(site, S("row")));
	wc_claims_drop_all(site->claims, 0);
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 0);
	assert_false(is_quiet(site, S("row")));
	unlock_as(site, 7);
	assert_true(is_quiet(site, S("row")));
	assert_true(lock_table_as(site, 7, 1));
	assert_false(is_quiet(site, S("row")));
	unlock_as(site, 7);
	wc_claims_shut(site->claims);
	assert_false(is_quiet(site, S("row")));
}

static void
a_locked_table_has_no_claims(void **state)
{
	Site	   *site = *state;

	assert_true(hold(site, 0, WC_LOCK_EXCLUSIVE, S("row")));
	assert_false(lock_table_as(site, 7, 1));
	/* a table whose id has the same lower bits */
	assert_true(lock_table_as(site, 7, 257));
	unlock_as(site, 7);
	assert_true(lock_table_as(site, 100, 1));
	assert_false(hold(site, 1, WC_LOCK_EXCLUSIVE, S("other")));
	unlock_as(site, 100);
	wc_claims_drop_all(site->claims, 0);
	assert_true(lock_table_as(site, 7, 1));
	unlock_as(site, 7);
}

/* What the engine would answer to a request for the row. */
static WcLockHolder
look_as(Site *site, uint64_t xid, WcRowLockMode mode, WcSlice row)
{
	WcLockRequest request = {.table_id = 1,.mode = mode,.enough = mode,.xid = xid,.subid = 1};
	WcLockOwner *owner = wc_lock_enter(site->table, xid);
	WcLockHolder holder;

	wc_lock_look(site->table, owner, &request, row, &holder);
	(void) wc_lock_leave(site->table, owner);
	return holder;
}

/* It need not queue for the row: one that queues may wait for it. */
static void
its_transaction_has_the_row_in_a_weaker_mode(void **state)
{
	Site	   *site = *state;
	WcLockHolder holder;

	assert_true(hold(site, 0, WC_LOCK_SHARE, S("row")));
	assert_int_equal(lock_as(site, 7, WC_LOCK_SHARE, S("row")), 0);
	holder = look_as(site, 100, WC_LOCK_NO_KEY_UPDATE, S("row"));
	assert_int_equal(holder.xid, 7);
	assert_true(holder.has_weaker);
	holder = look_as(site, 101, WC_LOCK_NO_KEY_UPDATE, S("row"));
	assert_int_not_equal(holder.xid, 0);
	assert_false(holder.has_weaker);
	wc_claims_drop_all(site->claims, 0);
	holder = look_as(site, 100, WC_LOCK_NO_KEY_UPDATE, S("row"));
	assert_int_equal(holder.xid, 7);
	assert_false(holder.has_weaker);
	unlock_as(site, 7);
}

/* A transaction that wants the whole table waits for those that have claimed rows: these get other rows, as if the engine had
 * locked the rows. */
static void
its_transaction_does_not_wait_for_one_that_wants_the_table(void **state)
{
	WcLockRequest request = {.table_id = 1,.mode = WC_LOCK_EXCLUSIVE,.enough = WC_LOCK_EXCLUSIVE,.xid = 7,.subid = 1};
	Site	   *site = *state;
	WcLockOwner *owner = wc_lock_enter(site->table, 7);
	WcLockHolder holder = {0};
	WcError		err;

	assert_true(hold(site, 0, WC_LOCK_EXCLUSIVE, S("row")));
	for (uint32_t i = 0; i <= WC_ROW_LOCKS_MAX; i++)
	{
		assert_int_equal(holder.xid, 0);
		assert_int_equal(wc_lock_acquire(site->table, owner, &request, wc_slice(&i, sizeof(i)), &holder, &err), WC_OK);
	}
	assert_int_equal(holder.xid, 100);
	(void) wc_lock_leave(site->table, owner);
	assert_int_equal(lock_as(site, 8, WC_LOCK_EXCLUSIVE, S("other")), 7);
	assert_int_equal(lock_as(site, 100, WC_LOCK_EXCLUSIVE, S("row")), 0);
	assert_int_equal(lock_as(site, 100, WC_LOCK_EXCLUSIVE, S("other")), 0);
	unlock_as(site, 100);
	unlock_as(site, 7);
}

static void
it_has_limits(void **state)
{
	Site	   *site = *state;
	char		key[WC_CLAIMS_HELD_KEY_MAX + 1];
	WcHeldRow	held;

	memset(key, 'x', sizeof(key));
	assert_false(hold(site, 0, WC_LOCK_SHARE, wc_slice(key, sizeof(key))));
	assert_true(hold(site, 0, WC_LOCK_SHARE, wc_slice(key, sizeof(key) - 1)));
	wc_claims_held(site->claims, 0, 0, &held);
	assert_int_equal(held.len, WC_CLAIMS_HELD_KEY_MAX);
	assert_int_equal(held.mode, WC_LOCK_SHARE);
	assert_int_equal(held.table_id, 1);
	assert_memory_equal(held.row, key, held.len);
	for (int i = 1; i < WC_CLAIMS_HELD_MAX; i++)
		assert_true(hold(site, 0, WC_LOCK_EXCLUSIVE, wc_slice(key, (size_t) i)));
	assert_false(hold(site, 0, WC_LOCK_EXCLUSIVE, S("more")));
	assert_int_equal(wc_claims_nheld(site->claims, 0), WC_CLAIMS_HELD_MAX);
	assert_false(hold(site, PROCESSES, WC_LOCK_EXCLUSIVE, S("more")));
	assert_int_equal(wc_claims_nheld(site->claims, PROCESSES), 0);
	wc_claims_drop_all(site->claims, PROCESSES);

	wc_claims_shut(site->claims);
	assert_false(hold(site, 1, WC_LOCK_EXCLUSIVE, S("more")));
}

/* --- threads ----------------------------------------------------------------------- */

/* Each second transaction commits: the row is its own until the place is freed. */
static void
hold_row(Contest *c, uint32_t process, uint64_t xid, uint8_t row)
{
	uint16_t	place = WC_FLIGHT_NONE;
	WcClaim		claim;
	bool		is_new;

	if (!wc_claims_hold(c->site->claims, c->site->flight, process, xid, 1, wc_slice(&row, 1), WC_LOCK_NO_KEY_UPDATE, 0, &is_new))
		return;
	if (xid % 2 == 0)
	{
		place = wc_flight_take(c->site->flight, xid, 1, false, WC_FLIGHT_NONE);
		wc_claims_promote(c->site->claims, process, 0, place, xid, &claim);
		wc_claims_drop_all(c->site->claims, process);
	}
	contest_visit(c, row);
	wc_claims_drop_all(c->site->claims, process);
	if (place != WC_FLIGHT_NONE)
		assert_true(wc_flight_free(c->site->flight, place, xid));
}

static void
a_row_has_one_owner(void **state)
{
	contest_run(*state, hold_row);
	assert_true(hold(*state, 5, WC_LOCK_EXCLUSIVE, wc_slice("", 1)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_lasts_until_the_transaction_ends, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(it_conflicts_as_row_locks_do, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(until_it_is_kept_it_is_brief, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(an_ended_transaction_is_known, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(the_holder_is_known_without_the_engine, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(the_last_row_can_be_dropped, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(other_rows_of_the_slot_are_free_for_the_engine, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(it_becomes_a_claim_of_the_commit, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(its_mode_stays, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(claims_of_commits_do_not_follow_it, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(a_row_is_quiet_without_locks_of_transactions_that_may_have_ended, claimsite_set_up,
										claimsite_tear_down),
		cmocka_unit_test_setup_teardown(a_locked_table_has_no_claims, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(its_transaction_has_the_row_in_a_weaker_mode, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(its_transaction_does_not_wait_for_one_that_wants_the_table, claimsite_set_up,
										claimsite_tear_down),
		cmocka_unit_test_setup_teardown(it_has_limits, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(a_row_has_one_owner, claimsite_set_up, claimsite_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
