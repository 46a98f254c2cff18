/*
 * test/unit/test_unapplied.c: rows that are taken over from commits that are not applied yet; from many threads.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "claimsite.h"
#include "wire/shared/unapplied.h"

/* Process n has the transaction 100 + n. */
static bool
hold(Site *site, uint32_t process, uint64_t behind, WcSlice row)
{
	return claim_for(site, process, 100 + process, WC_LOCK_EXCLUSIVE, row, behind);
}

/* The transaction of a process ends, visibly, and is not applied. */
static uint16_t
commit(Site *site, uint32_t process)
{
	uint16_t	place = take_place(site, 100 + process);
	WcClaim		claim;

	for (uint32_t i = 0; i < wc_claims_nheld(site->claims, process); i++)
		wc_claims_promote(site->claims, process, i, place, 100 + process, &claim);
	wc_flight_ended(site->flight, place, 100 + process, 1);
	wc_claims_drop_all(site->claims, process);
	return place;
}

/* Process 0 has committed a change of the row. */
static uint16_t
leave_row(Site *site)
{
	assert_true(hold(site, 0, 0, S("row")));
	return commit(site, 0);
}

static void
apply(Site *site, uint32_t process, uint16_t place)
{
	assert_true(wc_flight_free(site->flight, place, 100 + process));
}

static uint64_t
ended(Site *site, WcSlice row)
{
	return wc_claims_ended(site->claims, site->flight, 1, row);
}

static bool
is_quiet(Site *site, WcSlice row)
{
	return wc_claims_is_quiet(site->claims, site->flight, 1, row);
}

/* --- claims -------------------------------------------------------------------------- */

static void
a_row_is_taken_over_from_a_commit(void **state)
{
	Site	   *site = *state;
	uint16_t	first,
				second;

	assert_true(hold(site, 0, 0, S("row")));
	assert_false(hold(site, 1, 100, S("row")));	/* the transaction runs */
	first = commit(site, 0);
	assert_false(hold(site, 1, 0, S("row")));
	assert_false(hold(site, 1, 105, S("row")));
	assert_true(hold(site, 1, 100, S("row")));
	assert_true(claimsite_added);
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 101);
	unlock_as(site, 7);
	assert_int_equal(ended(site, S("row")), 0);

	/* commits are applied in order */
	second = commit(site, 1);
	assert_int_equal(ended(site, S("row")), 101);
	apply(site, 0, first);
	assert_int_equal(ended(site, S("row")), 101);
	assert_true(hold(site, 2, 101, S("row")));
	apply(site, 1, second);
	wc_claims_drop_all(site->claims, 2);
	assert_true(is_quiet(site, S("row")));
}

static void
nobody_reads_the_row_until_the_commit_is_applied(void **state)
{
	Site	   *site = *state;
	uint16_t	place;

	assert_true(hold(site, 0, 0, S("row")));
	assert_true(is_quiet(site, S("row")));
	place = commit(site, 0);
	assert_true(hold(site, 1, 100, S("row")));
	assert_false(is_quiet(site, S("row")));
	apply(site, 0, place);
	assert_false(is_quiet(site, S("row")));
	wc_claims_settle(site->claims, 1);
	assert_true(is_quiet(site, S("row")));
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 101);
	unlock_as(site, 7);
	assert_true(hold(site, 1, 0, S("row")));
	assert_false(claimsite_added);
	wc_claims_drop_all(site->claims, 1);
	assert_true(hold(site, 2, 0, S("row")));
}

/* A lock in a mode that goes with the process's has the row read: as long as it would miss the commit, the commit is in its way. */
static void
the_commit_keeps_others_from_the_row_that_the_process_would_let_in(void **state)
{
	Site	   *site = *state;
	uint16_t	place = leave_row(site);

	assert_true(claim_for(site, 1, 101, WC_LOCK_SHARE, S("row"), 100));
	assert_true(wc_claims_has_process(site->claims, site->flight, 1, S("row")));
	assert_int_equal(lock_as(site, 7, WC_LOCK_SHARE, S("row")), 100);
	unlock_as(site, 7);
	apply(site, 0, place);
	assert_int_equal(lock_as(site, 7, WC_LOCK_SHARE, S("row")), 0);
	unlock_as(site, 7);
}

static void
a_rollback_leaves_the_row_to_the_commit(void **state)
{
	Site	   *site = *state;
	uint16_t	place = leave_row(site);
	uint16_t	own;
	WcClaim		claim;

	assert_true(hold(site, 1, 100, S("row")));
	wc_claims_drop_last(site->claims, 1);
	assert_int_equal(ended(site, S("row")), 100);
	assert_false(hold(site, 2, 0, S("row")));

	assert_true(hold(site, 1, 100, S("row")));
	wc_claims_drop_all(site->claims, 1);
	assert_int_equal(ended(site, S("row")), 100);

	/* also from its commit */
	assert_true(hold(site, 1, 100, S("row")));
	own = take_place(site, 101);
	wc_claims_promote(site->claims, 1, 0, own, 101, &claim);
	wc_claims_give_back(site->claims, &claim);
	assert_int_equal(lock_as(site, 7, WC_LOCK_EXCLUSIVE, S("row")), 101);
	unlock_as(site, 7);
	wc_claims_drop_all(site->claims, 1);
	assert_int_equal(ended(site, S("row")), 100);
	apply(site, 0, place);
	assert_true(hold(site, 2, 0, S("row")));
}

/* The answer is read before the row is claimed: meanwhile others may have had it. */
static void
a_row_is_not_taken_over_from_a_commit_that_is_applied(void **state)
{
	Site	   *site = *state;
	uint16_t	place = leave_row(site);

	apply(site, 0, place);
	assert_false(hold(site, 1, 100, S("row")));
	assert_int_equal(wc_claims_nheld(site->claims, 1), 0);
	assert_true(hold(site, 1, 0, S("row")));
}

/* --- answers ------------------------------------------------------------------------- */

static WcUnapplied *
make(void)
{
	size_t		size = (wc_unapplied_size() + 63) & ~(size_t) 63;
	void	   *memory = aligned_alloc(64, size);

	assert_non_null(memory);
	return memset(memory, 0, size);
}

static void
an_answer_is_found_by_row_and_transaction(void **state)
{
	WcUnapplied *u = make();
	WcBuf		get = WC_BUF_INIT;
	WcBuf		answer = WC_BUF_INIT;
	uint32_t	follows;

	assert_false(wc_unapplied_find(u, 77, 100, &follows, &get, &answer));
	wc_unapplied_put(u, 77, 100, 3, S("the get"), S("and its answer"));
	wc_buf_append(&get, "a", 1);
	wc_buf_append(&answer, "b", 1);
	assert_false(wc_unapplied_find(u, 77, 101, &follows, &get, &answer));
	assert_false(wc_unapplied_find(u, 78, 100, &follows, &get, &answer));
	assert_false(wc_unapplied_find(u, 77 + (UINT64_C(1) << 40), 100, &follows, &get, &answer));
	assert_int_equal(get.len + answer.len, 2);
	assert_true(wc_unapplied_find(u, 77, 100, &follows, &get, &answer));
	assert_int_equal(follows, 3);
	assert_true(wc_slice_eq(wc_buf_slice(&get), S("athe get")));
	assert_true(wc_slice_eq(wc_buf_slice(&answer), S("band its answer")));

	wc_unapplied_put(u, 77, 101, 4, S(""), S(""));
	assert_false(wc_unapplied_find(u, 77, 100, &follows, &get, &answer));
	assert_true(wc_unapplied_find(u, 77, 101, &follows, &get, &answer));
	wc_buf_free(&get);
	wc_buf_free(&answer);
	free(u);
}

static void
large_answers_are_not_kept(void **state)
{
	WcUnapplied *u = make();
	char		bytes[WC_UNAPPLIED_BYTES_MAX + 1];
	WcBuf		get = WC_BUF_INIT;
	WcBuf		answer = WC_BUF_INIT;
	uint32_t	follows;

	memset(bytes, 'x', sizeof(bytes));
	for (size_t len = 0; len <= WC_UNAPPLIED_BYTES_MAX; len += len + 1 < WC_UNAPPLIED_BYTES_MAX ? WC_UNAPPLIED_BYTES_MAX / 7 : 1)
	{
		wc_unapplied_put(u, 77, 100 + len, 0, wc_slice(bytes, len), wc_slice(bytes, WC_UNAPPLIED_BYTES_MAX - len));
		assert_true(wc_unapplied_find(u, 77, 100 + len, &follows, &get, &answer));
		assert_true(wc_slice_eq(wc_buf_slice(&get), wc_slice(bytes, len)));
		assert_true(wc_slice_eq(wc_buf_slice(&answer), wc_slice(bytes, WC_UNAPPLIED_BYTES_MAX - len)));
		wc_buf_reset(&get, sizeof(bytes));
		wc_buf_reset(&answer, sizeof(bytes));
	}
	wc_unapplied_put(u, 77, 1, 0, wc_slice(bytes, 1), wc_slice(bytes, WC_UNAPPLIED_BYTES_MAX));
	assert_false(wc_unapplied_find(u, 77, 1, &follows, &get, &answer));
	wc_buf_free(&get);
	wc_buf_free(&answer);
	free(u);
}

/* --- threads ------------------------------------------------------------------------- */

/*
 * A counter in a row: sessions add 1 to it, and an applier's thread writes what they have committed, in their order.  No addition is
 * lost, in whichever way a session gets the row: from the applied state, from a commit, or with a lock of the engine.
 */
#define SESSIONS	4
#define ADDITIONS	5000
#define QUEUE		16			/* more than there are places */

typedef struct Commit
{
	uint64_t	xid;
	uint64_t	value;
	uint16_t	place;
	bool		locked;			/* with a lock of the engine */
} Commit;

typedef struct Counter
{
	Site	   *site;
	WcUnapplied *unapplied;
	_Atomic uint64_t applied;	/* the row */
	_Atomic uint64_t next_xid;
	_Atomic uint32_t taken_over;
	atomic_bool over;
	pthread_mutex_t log_mutex;
	Commit		log[QUEUE];
	uint32_t	begin,
				end;
} Counter;

typedef struct Session
{
	Counter    *counter;
	uint32_t	process;
} Session;

#define HASH 4711

static WcSlice
bytes_of(const uint64_t *value)
{
	return wc_slice((const uint8_t *) value, sizeof(*value));
}

static void
write_log(Counter *c, uint64_t xid, uint64_t value, uint16_t place, bool locked)
{
	pthread_mutex_lock(&c->log_mutex);
	assert_true(c->end - c->begin < QUEUE);
	c->log[c->end++ % QUEUE] = (Commit) {xid, value, place, locked};
	pthread_mutex_unlock(&c->log_mutex);
	wc_flight_ended(c->site->flight, place, xid, 1);
}

static uint16_t
await_place(Counter *c, uint64_t xid)
{
	uint16_t	place;

	while ((place = wc_flight_take(c->site->flight, xid, 1, false, WC_FLIGHT_NONE)) == WC_FLIGHT_NONE)
		sched_yield();
	return place;
}

/* Takes over the row, and sets *value to what the commit has left. */
static bool
take_over(Counter *c, uint32_t process, uint64_t xid, uint64_t *value)
{
	uint64_t	from = ended(c->site, S("row"));
	WcBuf		get = WC_BUF_INIT;
	WcBuf		answer = WC_BUF_INIT;
	uint32_t	follows;
	bool		is_new = false;

	if (from != 0 && wc_unapplied_find(c->unapplied, HASH, from, &follows, &get, &answer))
	{
		assert_int_equal(answer.len, sizeof(*value));
		memcpy(value, answer.data, sizeof(*value));
		(void) wc_claims_hold(c->site->claims, c->site->flight, process, xid, 1, S("row"), WC_LOCK_NO_KEY_UPDATE, from, &is_new);
	}
	wc_buf_free(&get);
	wc_buf_free(&answer);
	if (is_new)
		atomic_fetch_add(&c->taken_over, 1);
	return is_new;
}

/* False: another transaction has the row. */
static bool
add_with_claim(Counter *c, uint32_t process, uint64_t xid)
{
	uint64_t	value;
	uint16_t	place;
	WcClaim		claim;
	bool		is_new;

	if (wc_claims_hold(c->site->claims, c->site->flight, process, xid, 1, S("row"), WC_LOCK_NO_KEY_UPDATE, 0, &is_new))
		value = atomic_load(&c->applied);
	else if (!take_over(c, process, xid, &value))
		return false;
	wc_claims_keep_last(c->site->claims, process);
	if (xid % 5 == 0)
	{
		wc_claims_drop_all(c->site->claims, process);	/* a rollback */
		return false;
	}
	value++;
	place = await_place(c, xid);
	wc_claims_promote(c->site->claims, process, 0, place, xid, &claim);
	wc_unapplied_put(c->unapplied, HASH, xid, 0, bytes_of(&xid), bytes_of(&value));
	write_log(c, xid, value, place, false);
	wc_claims_drop_all(c->site->claims, process);
	return true;
}

static bool
add_with_lock(Counter *c, uint64_t xid)
{
	uint64_t	value;

	if (lock_beside_others(c->site, xid, WC_LOCK_EXCLUSIVE, S("row")) != 0)
	{
		unlock_as(c->site, xid);
		return false;
	}
	value = atomic_load(&c->applied) + 1;
	write_log(c, xid, value, await_place(c, xid), true);
	return true;
}

static void *
add(void *arg)
{
	const Session *s = arg;

	for (int i = 0; i < ADDITIONS;)
	{
		uint64_t	xid = atomic_fetch_add(&s->counter->next_xid, 1);
		bool		done = s->process == 0 && i % 16 == 0 ? add_with_lock(s->counter, xid) : add_with_claim(s->counter, s->process, xid);

		i += done;
		if (!done)
			sched_yield();
	}
	return NULL;
}

static void *
apply_all(void *arg)
{
	Counter    *c = arg;

	for (;;)
	{
		bool		over = atomic_load(&c->over);
		bool		found;
		Commit		commit;

		pthread_mutex_lock(&c->log_mutex);
		found = c->begin != c->end;
		if (found)
			commit = c->log[c->begin++ % QUEUE];
		pthread_mutex_unlock(&c->log_mutex);
		if (found)
		{
			atomic_store(&c->applied, commit.value);
			if (commit.locked)
				unlock_as(c->site, commit.xid);
			assert_true(wc_flight_free(c->site->flight, commit.place, commit.xid));
		}
		else if (over)
			return NULL;
		else
			sched_yield();
	}
}

static void
no_change_is_lost(void **state)
{
	Counter		c = {.site = *state,.unapplied = make()};
	Session		sessions[SESSIONS];
	pthread_t	threads[SESSIONS];
	pthread_t	applier;

	atomic_init(&c.next_xid, 1000);
	assert_int_equal(pthread_mutex_init(&c.log_mutex, NULL), 0);
	assert_int_equal(pthread_create(&applier, NULL, apply_all, &c), 0);
	for (uint32_t i = 0; i < SESSIONS; i++)
	{
		sessions[i] = (Session) {&c, i};
		assert_int_equal(pthread_create(&threads[i], NULL, add, &sessions[i]), 0);
	}
	for (int i = 0; i < SESSIONS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	atomic_store(&c.over, true);
	assert_int_equal(pthread_join(applier, NULL), 0);
	assert_int_equal(atomic_load(&c.applied), SESSIONS * ADDITIONS);
	assert_true(atomic_load(&c.taken_over) > 0);
	pthread_mutex_destroy(&c.log_mutex);
	free(c.unapplied);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_row_is_taken_over_from_a_commit, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(nobody_reads_the_row_until_the_commit_is_applied, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(the_commit_keeps_others_from_the_row_that_the_process_would_let_in, claimsite_set_up,
										claimsite_tear_down),
		cmocka_unit_test_setup_teardown(a_rollback_leaves_the_row_to_the_commit, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test_setup_teardown(a_row_is_not_taken_over_from_a_commit_that_is_applied, claimsite_set_up, claimsite_tear_down),
		cmocka_unit_test(an_answer_is_found_by_row_and_transaction),
		cmocka_unit_test(large_answers_are_not_kept),
		cmocka_unit_test_setup_teardown(no_change_is_lost, claimsite_set_up, claimsite_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
