/*
 * test/unit/test_locktable.c: row locks, alone and from many threads.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "rpc/locktable.h"

#define S(literal) wc_slice(literal, sizeof(literal) - 1)

static uint64_t
acquire(WcLockTable *table, WcLockOwner *owner, uint64_t xid, uint32_t table_id, WcSlice row)
{
	uint64_t	holder = UINT64_MAX;
	WcError		err;

	assert_int_equal(wc_lock_acquire(table, owner, xid, table_id, row, &holder, &err), WC_OK);
	return holder;
}

static void
one_holder_a_row(void **state)
{
	WcLockTable *table = wc_locktable_create();
	WcLockOwner a = {0},
				b = {0};

	(void) state;
	assert_non_null(table);
	assert_int_equal(acquire(table, &a, UINT64_C(5000000001), 1, S("row")), 0);
	assert_int_equal(acquire(table, &a, UINT64_C(5000000001), 1, S("row")), 0);
	assert_int_equal(a.nlocks, 1);

	/* the whole 64 bits come back, and asking takes nothing */
	assert_int_equal(acquire(table, &b, 7, 1, S("row")), UINT64_C(5000000001));
	assert_int_equal(b.nlocks, 0);

	/* another table's row of that key, and rows that are nearly that one */
	assert_int_equal(acquire(table, &b, 7, 2, S("row")), 0);
	assert_int_equal(acquire(table, &b, 7, 1, S("ro")), 0);
	assert_int_equal(acquire(table, &b, 7, 1, S("row\0")), 0);
	assert_int_equal(b.nlocks, 3);
	assert_int_equal(b.bytes, 3 + 2 + 4);

	wc_lock_release_all(table, &a);
	assert_int_equal(a.nlocks, 0);
	assert_int_equal(acquire(table, &b, 7, 1, S("row")), 0);
	assert_int_equal(acquire(table, &a, 8, 2, S("row")), 7);
	wc_lock_release_all(table, &b);
	assert_int_equal(acquire(table, &a, 8, 2, S("row")), 0);
	wc_lock_release_all(table, &a);
	wc_lock_release_all(table, &a);
	wc_locktable_free(table);
}

/* Rows of every length, so many that the table grows; then all are free. */
static void
many_rows(void **state)
{
	enum {N = 20000};
	WcLockTable *table = wc_locktable_create();
	WcLockOwner a = {0},
				b = {0};
	uint8_t    *row = malloc(WC_ROW_MAX);

	(void) state;
	memset(row, 'r', WC_ROW_MAX);
	for (int pass = 0; pass < 3; pass++)
	{
		for (uint32_t i = 0; i < N; i++)
		{
			uint64_t	holder;

			memcpy(row, &i, sizeof(i));
			holder = acquire(table, pass == 1 ? &b : &a, pass == 1 ? 2 : 1, 3, wc_slice(row, 4 + i % 40));
			assert_int_equal(holder, pass == 1 ? 1 : 0);
		}
		assert_int_equal(a.nlocks, N);
		assert_int_equal(b.nlocks, 0);
	}
	assert_int_equal(acquire(table, &a, 1, 3, wc_slice(row, WC_ROW_MAX)), 0);
	wc_lock_release_all(table, &a);
	for (uint32_t i = 0; i < N; i++)
	{
		memcpy(row, &i, sizeof(i));
		assert_int_equal(acquire(table, &b, 2, 3, wc_slice(row, 4 + i % 40)), 0);
	}
	wc_lock_release_all(table, &b);
	free(row);
	wc_locktable_free(table);
}

/* Over a limit nothing is locked, the error says both numbers, and what is held
 * is still held. */
static void
limits_are_kept(void **state)
{
	WcLockTable *table = wc_locktable_create();
	WcLockOwner a = {0},
				b = {0};
	uint8_t    *row = calloc(1, WC_ROW_MAX);
	uint64_t	holder;
	uint32_t	n;
	WcError		err;
	char		count[32];

	(void) state;
	for (n = 0; n < WC_ROW_LOCKS_MAX; n++)
		assert_int_equal(acquire(table, &a, 1, 1, wc_slice(&n, sizeof(n))), 0);
	assert_int_equal(wc_lock_acquire(table, &a, 1, 1, wc_slice(&n, sizeof(n)), &holder, &err), WC_TOO_LARGE);
	snprintf(count, sizeof(count), "%d rows", WC_ROW_LOCKS_MAX);
	assert_non_null(strstr(err.detail, count));
	snprintf(count, sizeof(count), "limit is %d", WC_ROW_LOCKS_MAX);
	assert_non_null(strstr(err.detail, count));
	assert_int_equal(acquire(table, &b, 2, 1, wc_slice(&n, sizeof(n))), 0);
	n = 17;
	assert_int_equal(acquire(table, &a, 1, 1, wc_slice(&n, sizeof(n))), 0);
	assert_int_equal(acquire(table, &b, 2, 1, wc_slice(&n, sizeof(n))), 1);
	wc_lock_release_all(table, &a);
	wc_lock_release_all(table, &b);

	for (n = 0; n < WC_ROW_LOCK_BYTES_MAX / WC_ROW_MAX; n++)
	{
		memcpy(row, &n, sizeof(n));
		assert_int_equal(acquire(table, &a, 1, 1, wc_slice(row, WC_ROW_MAX)), 0);
	}
	assert_int_equal(a.bytes, WC_ROW_LOCK_BYTES_MAX);
	assert_int_equal(wc_lock_acquire(table, &a, 1, 1, S("x"), &holder, &err), WC_TOO_LARGE);
	snprintf(count, sizeof(count), "limit is %d", WC_ROW_LOCK_BYTES_MAX);
	assert_non_null(strstr(err.detail, count));
	wc_lock_release_all(table, &a);
	free(row);
	wc_locktable_free(table);
}

/* --- threads: a counter that is not atomic a row ------------------------------ */

#define NROWS 5
#define NTHREADS 4
#define ROUNDS 3000

typedef struct Shared
{
	WcLockTable *table;
	uint64_t	holders[NROWS]; /* guarded by the row's lock alone */
	uint64_t	counts[NROWS];
} Shared;

typedef struct Worker
{
	Shared	   *shared;
	uint64_t	xid;
	uint64_t	done[NROWS];
	uint64_t	wrong;
} Worker;

static void
work_on(Worker *w, uint32_t row)
{
	Shared	   *s = w->shared;

	w->wrong += s->holders[row] != 0 && s->holders[row] != w->xid;
	s->holders[row] = w->xid;
	s->counts[row]++;
	w->done[row]++;
}

/* A transaction locks one row or two, in order, and waits by asking again. */
static void *
worker_main(void *arg)
{
	Worker	   *w = arg;
	WcLockOwner owner = {0};

	for (uint32_t round = 0; round < ROUNDS; round++)
	{
		uint32_t	first = (uint32_t) (round * w->xid) % NROWS;
		uint32_t	last = first + (round % 2 && first + 1 < NROWS ? 1 : 0);

		for (uint32_t row = first; row <= last; row++)
		{
			uint64_t	holder;
			WcError		err;

			for (;;)
			{
				if (wc_lock_acquire(w->shared->table, &owner, w->xid, 1, wc_slice(&row, sizeof(row)),
									&holder, &err) != WC_OK || holder == w->xid)
					w->wrong++;
				if (holder == 0)
					break;
				sched_yield();
			}
			work_on(w, row);
		}
		for (uint32_t row = first; row <= last; row++)
			w->shared->holders[row] = 0;
		wc_lock_release_all(w->shared->table, &owner);
	}
	return NULL;
}

static void
threads_exclude_each_other(void **state)
{
	Shared		shared = {.table = wc_locktable_create()};
	Worker		workers[NTHREADS] = {0};
	pthread_t	threads[NTHREADS];

	(void) state;
	for (int i = 0; i < NTHREADS; i++)
	{
		workers[i].shared = &shared;
		workers[i].xid = (uint64_t) i + 1;
		assert_int_equal(pthread_create(&threads[i], NULL, worker_main, &workers[i]), 0);
	}
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(threads[i], NULL);
	for (int row = 0; row < NROWS; row++)
	{
		uint64_t	done = 0;

		for (int i = 0; i < NTHREADS; i++)
		{
			assert_int_equal(workers[i].wrong, 0);
			done += workers[i].done[row];
		}
		assert_int_equal(shared.counts[row], done);
	}
	wc_locktable_free(shared.table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_holder_a_row),
		cmocka_unit_test(many_rows),
		cmocka_unit_test(limits_are_kept),
		cmocka_unit_test(threads_exclude_each_other)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
