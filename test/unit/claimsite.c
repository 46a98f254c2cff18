/*
 * test/unit/claimsite.c: claims of backends beside the engine's row locks.
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

#define PLACES 8
#define THREADS 4
#define ROUNDS 20000

void *
claimsite_zeroed(size_t size)
{
	size_t		rounded = (size + 63) & ~(size_t) 63;
	void	   *memory = aligned_alloc(64, rounded);

	assert_non_null(memory);
	return memset(memory, 0, rounded);
}

int
claimsite_set_up(void **state)
{
	Site	   *site = calloc(1, sizeof(*site));

	assert_non_null(site);
	site->flight = wc_flight_init(claimsite_zeroed(wc_flight_size(PLACES)), PLACES, PLACES);
	site->claims = wc_claims_init(claimsite_zeroed(wc_claims_size(PROCESSES)), 42, PROCESSES);
	wc_claims_reset(site->claims);
	wc_claims_open(site->claims, OPENING);
	site->table = wc_locktable_create(site->claims, site->flight);
	*state = site;
	return 0;
}

int
claimsite_tear_down(void **state)
{
	Site	   *site = *state;

	wc_locktable_free(site->table);
	free(site->claims);
	free(site->flight);
	free(site);
	return 0;
}

bool		claimsite_added;

bool
claim_for(Site *site, uint32_t process, uint64_t xid, WcRowLockMode mode, WcSlice row, uint64_t behind)
{
	bool		held = wc_claims_hold(site->claims, site->flight, process, xid, 1, row, mode, behind, &claimsite_added);

	if (claimsite_added)
		wc_claims_keep_last(site->claims, process);
	return held;
}

uint16_t
take_place(Site *site, uint64_t xid)
{
	uint16_t	place = wc_flight_take(site->flight, xid, 1, false, WC_FLIGHT_NONE);

	assert_int_not_equal(place, WC_FLIGHT_NONE);
	return place;
}

static uint64_t
acquire(Site *site, uint64_t xid, WcRowLockMode mode, WcSlice row, WcLockHolder *seen)
{
	WcLockRequest request = {.table_id = 1,.mode = mode,.enough = mode,.xid = xid,.subid = 1};
	WcLockOwner *owner = wc_lock_enter(site->table, xid);
	WcLockHolder holder;
	WcError		err;

	if (seen != NULL)
		wc_lock_look(site->table, owner, &request, row, seen);
	assert_int_equal(wc_lock_acquire(site->table, owner, &request, row, &holder, &err), WC_OK);
	(void) wc_lock_leave(site->table, owner);
	return holder.xid;
}

uint64_t
lock_as(Site *site, uint64_t xid, WcRowLockMode mode, WcSlice row)
{
	WcLockHolder seen;
	uint64_t	holder = acquire(site, xid, mode, row, &seen);

	assert_true(seen.xid == 0 || seen.xid == holder);
	return holder;
}

uint64_t
lock_beside_others(Site *site, uint64_t xid, WcRowLockMode mode, WcSlice row)
{
	return acquire(site, xid, mode, row, NULL);
}

bool
lock_table_as(Site *site, uint64_t xid, uint32_t table_id)
{
	WcLockRequest request = {.table_id = table_id,.mode = WC_LOCK_EXCLUSIVE,.enough = WC_LOCK_EXCLUSIVE,.xid = xid,.subid = 1};
	WcLockOwner *owner = wc_lock_enter(site->table, xid);
	WcError		err;
	bool		got;

	assert_int_equal(wc_lock_acquire_table(site->table, owner, &request, &got, &err), WC_OK);
	(void) wc_lock_leave(site->table, owner);
	return got;
}

void
unlock_as(Site *site, uint64_t xid)
{
	assert_true(wc_lock_release_of(site->table, xid, 0, true));
}

/* --- threads ----------------------------------------------------------------------- */

typedef struct ContestThread
{
	Contest    *contest;
	uint32_t	process;
	ContestClaim claim_row;
} ContestThread;

void
contest_visit(Contest *c, uint8_t row)
{
	assert_int_equal(atomic_fetch_add(&c->inside[row], 1), 0);
	atomic_fetch_add(&c->got, 1);
	sched_yield();
	assert_int_equal(atomic_fetch_sub(&c->inside[row], 1), 1);
}

static void
lock_row(Contest *c, uint32_t process, uint64_t xid, uint8_t row)
{
	if (lock_beside_others(c->site, xid, WC_LOCK_EXCLUSIVE, wc_slice(&row, 1)) == 0)
		contest_visit(c, row);
	unlock_as(c->site, xid);
}

static void *
want_rows(void *arg)
{
	const ContestThread *t = arg;

	for (int i = 0; i < ROUNDS; i++)
		t->claim_row(t->contest, t->process, atomic_fetch_add(&t->contest->next_xid, 1), (uint8_t) (i % CONTEST_ROWS));
	return NULL;
}

void
contest_run(Site *site, ContestClaim claim_row)
{
	Contest		c = {.site = site};
	ContestThread wanting[THREADS];
	pthread_t	threads[THREADS];

	atomic_init(&c.next_xid, 1000);
	for (uint32_t i = 0; i < THREADS; i++)
	{
		wanting[i] = (ContestThread) {.contest = &c,.process = i,.claim_row = i % 2 ? claim_row : lock_row};
		assert_int_equal(pthread_create(&threads[i], NULL, want_rows, &wanting[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_in_range(atomic_load(&c.got), 1, THREADS * ROUNDS);
	assert_int_equal(lock_as(site, 1, WC_LOCK_EXCLUSIVE, wc_slice("", 1)), 0);
	unlock_as(site, 1);
}
