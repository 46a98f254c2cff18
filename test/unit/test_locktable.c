/*
 * test/unit/test_locktable.c: row locks: modes, sharing, subtransactions, whole tables; from many threads.
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
#include "rpc/lock/locktable.h"

#define S(literal) wc_slice(literal, sizeof(literal) - 1)

/* With claims and places in flight, of which there are none. */
static WcLockTable *
make_table(void)
{
	static WcClaims *claims;
	static WcFlight *flight;
	WcLockTable *table;

	if (claims == NULL)
	{
		claims = wc_claims_init(calloc(1, wc_claims_size(1)), 42, 1);
		flight = wc_flight_init(calloc(1, wc_flight_size(1) + 64), 1, 1);
	}
	table = wc_locktable_create(claims, flight);
	assert_non_null(table);
	return table;
}

static WcLockRequest
request_of(uint32_t table_id, WcRowLockMode mode, uint64_t xid, uint32_t subid)
{
	WcLockRequest request = {.table_id = table_id,.mode = mode,.enough = mode,.xid = xid,.subid = subid};

	return request;
}

static WcLockHolder
try_lock(WcLockTable *table, WcLockOwner *owner, const WcLockRequest *request, WcSlice row)
{
	WcLockHolder holder = {UINT64_MAX, true, true, true};
	WcError		err;

	assert_int_equal(wc_lock_acquire(table, owner, request, row, &holder, &err), WC_OK);
	return holder;
}

static uint64_t
lock_in(WcLockTable *table, WcLockOwner *owner, uint64_t xid, WcRowLockMode mode, WcSlice row)
{
	WcLockRequest request = request_of(1, mode, xid, 1);

	return try_lock(table, owner, &request, row).xid;
}

static uint64_t
acquire(WcLockTable *table, WcLockOwner *owner, uint64_t xid, uint32_t table_id, WcSlice row)
{
	WcLockRequest request = request_of(table_id, WC_LOCK_EXCLUSIVE, xid, 1);

	return try_lock(table, owner, &request, row).xid;
}

static bool
acquire_table(WcLockTable *table, WcLockOwner *owner, uint64_t xid, uint32_t table_id)
{
	WcLockRequest request = request_of(table_id, WC_LOCK_EXCLUSIVE, xid, 0);
	bool		got;
	WcError		err;

	assert_int_equal(wc_lock_acquire_table(table, owner, &request, &got, &err), WC_OK);
	return got;
}

/* Locks rows first .. last - 1, of 4 bytes each, of which nobody has any. */
static void
acquire_range(WcLockTable *table, WcLockOwner *owner, uint64_t xid, uint32_t table_id, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i < last; i++)
		assert_int_equal(acquire(table, owner, xid, table_id, wc_slice(&i, sizeof(i))), 0);
}

static uint64_t
acquire_number(WcLockTable *table, WcLockOwner *owner, uint64_t xid, uint32_t table_id, uint32_t i)
{
	return acquire(table, owner, xid, table_id, wc_slice(&i, sizeof(i)));
}

/* A lock that may be given back is none of a transaction whose end others wait for. */
static void
until_it_is_kept_it_is_brief(void **state)
{
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1);
	WcLockOwner *b = wc_lock_enter(table, 2);
	WcLockRequest request = request_of(1, WC_LOCK_EXCLUSIVE, 1, 1);

	(void) state;
	request.brief = true;
	assert_int_equal(lock_in(table, a, 1, WC_LOCK_EXCLUSIVE, S("old")), 0);
	assert_true(try_lock(table, a, &request, S("row")).added);
	assert_true(lock_in(table, b, 2, WC_LOCK_SHARE, S("row")) == (1 | WC_HOLDER_BRIEF));
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_SHARE, S("old")), 1);
	wc_lock_give_back(table, a, 1, S("row"));
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_SHARE, S("row")), 0);
	assert_int_equal(lock_in(table, a, 1, WC_LOCK_EXCLUSIVE, S("row")), 2);

	assert_true(try_lock(table, a, &request, S("kept")).added);
	wc_lock_keep(a);
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_SHARE, S("kept")), 1);
	assert_true(try_lock(table, a, &request, S("last")).added);
	wc_lock_leave(table, a);
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_SHARE, S("last")), 1);

	wc_lock_release(table, b, 0);
	wc_lock_leave(table, b);
	assert_true(wc_lock_release_of(table, 1, 0, true));
	wc_locktable_free(table);
}

static void
one_holder_a_row(void **state)
{
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2);

	(void) state;
	assert_int_equal(acquire(table, a, UINT64_C(5000000001), 1, S("row")), 0);
	assert_int_equal(acquire(table, a, UINT64_C(5000000001), 1, S("row")), 0);
	assert_int_equal(a->nlocks, 1);

	/* the whole 64 bits come back, and asking takes nothing */
	assert_int_equal(acquire(table, b, 7, 1, S("row")), UINT64_C(5000000001));
	assert_int_equal(b->nlocks, 0);

	/* another table's row of that key, and rows that are nearly that one */
	assert_int_equal(acquire(table, b, 7, 2, S("row")), 0);
	assert_int_equal(acquire(table, b, 7, 1, S("ro")), 0);
	assert_int_equal(acquire(table, b, 7, 1, S("row\0")), 0);
	assert_int_equal(b->nlocks, 3);
	assert_int_equal(b->bytes, 3 + 2 + 4);

	wc_lock_release(table, a, 0);
	assert_int_equal(a->nlocks, 0);
	assert_int_equal(acquire(table, b, 7, 1, S("row")), 0);
	assert_int_equal(acquire(table, a, 8, 2, S("row")), 7);
	wc_lock_release(table, b, 0);
	assert_int_equal(b->nlocks, 0);
	assert_int_equal(b->bytes, 0);
	assert_int_equal(acquire(table, a, 8, 2, S("row")), 0);
	wc_lock_release(table, a, 0);
	wc_lock_release(table, a, 0);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_locktable_free(table);
}

/* PostgreSQL's table of conflicting row-level locks. */
static void
modes_conflict_as_heaps_do(void **state)
{
	static const bool conflict[5][5] = {
		{0},
		{0, false, false, false, true}, /* KEY SHARE */
		{0, false, false, true, true},	/* SHARE */
		{0, false, true, true, true},	/* NO KEY UPDATE */
		{0, true, true, true, true} /* UPDATE */
	};
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2);

	(void) state;
	for (WcRowLockMode has = WC_LOCK_KEY_SHARE; has <= WC_LOCK_EXCLUSIVE; has++)
	{
		for (WcRowLockMode wants = WC_LOCK_KEY_SHARE; wants <= WC_LOCK_EXCLUSIVE; wants++)
		{
			assert_int_equal(wc_lockmode_conflicts(has, wants), conflict[has][wants]);
			assert_int_equal(lock_in(table, a, 1, has, S("row")), 0);
			assert_int_equal(lock_in(table, b, 2, wants, S("row")), conflict[has][wants] ? 1 : 0);
			wc_lock_release(table, a, 0);
			wc_lock_release(table, b, 0);
		}
	}
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_locktable_free(table);
}

/* Several owners share a row; one that needs a stronger mode gets one of the others as the holder. */
static void
holders_share_a_row(void **state)
{
	WcLockRequest update = request_of(1, WC_LOCK_NO_KEY_UPDATE, 4, 1);
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2),
			   *c = wc_lock_enter(table, 3),
			   *d = wc_lock_enter(table, 4);
	WcLockHolder holder;

	(void) state;
	assert_int_equal(lock_in(table, a, 1, WC_LOCK_SHARE, S("row")), 0);
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_KEY_SHARE, S("row")), 0);
	assert_int_equal(lock_in(table, c, 3, WC_LOCK_SHARE, S("row")), 0);
	assert_int_not_equal(lock_in(table, d, 4, WC_LOCK_EXCLUSIVE, S("row")), 0);

	/* the one that has it in KEY SHARE does not hinder this */
	holder = try_lock(table, d, &update, S("row"));
	assert_true(holder.xid == 1 || holder.xid == 3);
	assert_false(holder.has_weaker);
	wc_lock_release(table, a, 0);
	assert_int_equal(try_lock(table, d, &update, S("row")).xid, 3);

	/* a stronger mode, which the other holders prevent until they release the row */
	update.xid = 3;
	assert_int_equal(lock_in(table, d, 4, WC_LOCK_SHARE, S("row")), 0);
	holder = try_lock(table, c, &update, S("row"));
	assert_int_equal(holder.xid, 4);
	assert_true(holder.has_weaker);
	assert_false(holder.held);
	wc_lock_release(table, d, 0);
	holder = try_lock(table, c, &update, S("row"));
	assert_int_equal(holder.xid, 0);
	assert_false(holder.held);
	assert_int_equal(c->nlocks, 2);
	assert_int_equal(lock_in(table, c, 3, WC_LOCK_SHARE, S("row")), 0);
	assert_int_equal(c->nlocks, 2);
	assert_true(try_lock(table, c, &update, S("row")).held);
	assert_int_equal(lock_in(table, d, 4, WC_LOCK_SHARE, S("row")), 3);
	assert_int_equal(lock_in(table, c, 3, WC_LOCK_EXCLUSIVE, S("row")), 2);
	wc_lock_release(table, b, 0);
	assert_int_equal(lock_in(table, c, 3, WC_LOCK_EXCLUSIVE, S("row")), 0);
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_KEY_SHARE, S("row")), 3);
	wc_lock_release(table, c, 0);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_lock_leave(table, c);
	wc_lock_leave(table, d);
	wc_locktable_free(table);
}

/* A request may do with less than it would take. */
static void
less_may_be_enough(void **state)
{
	WcLockRequest write = request_of(1, WC_LOCK_EXCLUSIVE, 1, 0);
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2);

	(void) state;
	write.enough = WC_LOCK_NO_KEY_UPDATE;
	assert_int_equal(lock_in(table, a, 1, WC_LOCK_NO_KEY_UPDATE, S("updated")), 0);
	assert_int_equal(lock_in(table, a, 1, WC_LOCK_SHARE, S("shared")), 0);
	assert_int_equal(try_lock(table, a, &write, S("updated")).xid, 0);
	assert_int_equal(try_lock(table, a, &write, S("shared")).xid, 0);
	assert_int_equal(try_lock(table, a, &write, S("new")).xid, 0);
	assert_int_equal(a->nlocks, 4);
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_KEY_SHARE, S("updated")), 0);
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_KEY_SHARE, S("shared")), 1);
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_KEY_SHARE, S("new")), 1);
	wc_lock_release(table, a, 0);
	wc_lock_release(table, b, 0);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_locktable_free(table);
}

/* A subtransaction's rollback releases its locks, its stronger modes, and the locks of its committed subtransactions. */
static void
a_subtransaction_gives_back_its_locks(void **state)
{
	WcLockRequest top = request_of(1, WC_LOCK_SHARE, 10, 1);
	WcLockRequest sub = request_of(1, WC_LOCK_EXCLUSIVE, 12, 2);
	WcLockRequest subsub = request_of(2, WC_LOCK_EXCLUSIVE, 13, 3);
	WcLockRequest later = request_of(1, WC_LOCK_EXCLUSIVE, 14, 4);
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2);

	(void) state;
	assert_int_equal(try_lock(table, a, &top, S("row")).xid, 0);
	assert_int_equal(try_lock(table, a, &sub, S("row")).xid, 0);
	assert_int_equal(try_lock(table, a, &sub, S("other")).xid, 0);
	assert_int_equal(try_lock(table, a, &subsub, S("inner")).xid, 0);

	/* the holder is the subtransaction, or the whole transaction */
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_KEY_SHARE, S("row")), 12);
	assert_int_equal(acquire(table, b, 2, 2, S("inner")), 13);
	wc_lock_release(table, a, 2);
	assert_int_equal(a->nlocks, 1);
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_KEY_SHARE, S("row")), 0);
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_EXCLUSIVE, S("row")), 10);
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_EXCLUSIVE, S("other")), 0);
	assert_int_equal(acquire(table, b, 2, 2, S("inner")), 0);

	/* the next one; and one that has locked nothing */
	assert_int_equal(try_lock(table, a, &later, S("third")).xid, 0);
	wc_lock_release(table, a, 5);
	assert_int_equal(a->nlocks, 2);
	wc_lock_release(table, a, 4);
	assert_int_equal(a->nlocks, 1);
	assert_int_equal(a->bytes, 3);
	wc_lock_release(table, a, 0);
	wc_lock_release(table, b, 0);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_locktable_free(table);
}

/* Locks rows n, n + 1, ..., of 4 bytes each; returns how many. */
static size_t
acquire_group(WcLockTable *table, WcLockOwner *owner, uint64_t xid, uint32_t first, size_t n, uint64_t *added, WcLockHolder *holder)
{
	WcLockRequest request = request_of(1, WC_LOCK_EXCLUSIVE, xid, 1);
	uint32_t	numbers[WC_LOCK_GROUP];
	WcSlice		rows[WC_LOCK_GROUP];
	size_t		nlocked;
	WcError		err;

	for (size_t i = 0; i < n; i++)
	{
		numbers[i] = first + (uint32_t) i;
		rows[i] = wc_slice(&numbers[i], sizeof(numbers[i]));
	}
	assert_int_equal(wc_lock_acquire_rows(table, owner, &request, rows, n, &nlocked, added, holder, &err), WC_OK);
	return nlocked;
}

static void
rows_are_locked_together(void **state)
{
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2);
	uint32_t	fifth = 5;
	uint64_t	added;
	WcLockHolder holder;

	(void) state;
	assert_int_equal(acquire_group(table, a, 1, 0, WC_LOCK_GROUP, &added, &holder), WC_LOCK_GROUP);
	assert_true(added == UINT64_MAX);
	assert_int_equal(holder.xid, 0);
	assert_int_equal(a->nlocks, WC_LOCK_GROUP);

	/* up to the first row that another owner has */
	acquire_range(table, b, 2, 1, 102, 103);
	assert_int_equal(acquire_group(table, b, 2, 100, WC_LOCK_GROUP, &added, &holder), WC_LOCK_GROUP);
	assert_true(added == ~(UINT64_C(1) << 2));
	assert_int_equal(acquire_group(table, a, 1, 60, WC_LOCK_GROUP, &added, &holder), 40);
	assert_true(added == (UINT64_C(1) << 40) - (UINT64_C(1) << 4));
	assert_int_equal(holder.xid, 2);
	assert_int_equal(a->nlocks, 100);

	/* nothing is left of an owner that gets nothing */
	wc_lock_release(table, b, 0);
	assert_int_equal(acquire_group(table, b, 2, 0, 10, &added, &holder), 0);
	assert_int_equal(holder.xid, 1);
	assert_true(b->shares == NULL);

	/* any of the rows can be given back */
	wc_lock_release(table, a, 0);
	assert_int_equal(acquire_group(table, a, 1, 0, 10, &added, &holder), 10);
	wc_lock_give_back(table, a, 1, wc_slice(&fifth, sizeof(fifth)));
	assert_int_equal(a->nlocks, 9);
	assert_int_equal(acquire_group(table, b, 2, 5, 5, &added, &holder), 1);
	wc_lock_release(table, b, 0);
	wc_lock_release(table, a, 0);

	/* amid a group the owner tries to lock the whole table, where another owner has a row */
	acquire_range(table, b, 2, 1, 500, 501);
	acquire_range(table, a, 1, 1, 1000, 1000 + WC_ROW_LOCKS_TABLE - 5);
	assert_int_equal(acquire_group(table, a, 1, 0, 10, &added, &holder), 10);
	assert_true(added == (UINT64_C(1) << 10) - 1);
	assert_int_equal(a->nlocks, WC_ROW_LOCKS_TABLE + 5);
	wc_lock_release(table, a, 0);
	wc_lock_release(table, b, 0);

	/* the whole table is locked amid a group, and then a row of it cannot be given back */
	acquire_range(table, a, 1, 1, 1000, 1000 + WC_ROW_LOCKS_TABLE - 5);
	assert_int_equal(acquire_group(table, a, 1, 0, 10, &added, &holder), 10);
	assert_int_equal(a->nlocks, 0);
	wc_lock_give_back(table, a, 1, wc_slice(&fifth, sizeof(fifth)));
	assert_int_equal(acquire_group(table, b, 2, 5, 1, &added, &holder), 0);
	assert_int_equal(holder.xid, 1);
	wc_lock_release(table, a, 0);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_locktable_free(table);
}

static uint64_t
nlocks_of(WcLockTable *table, uint64_t xid)
{
	WcLockOwner *owner = wc_lock_enter(table, xid);
	uint64_t	n = owner->nlocks;

	wc_lock_leave(table, owner);
	return n;
}

/* Any thread that knows a transaction's id can release its locks, but not while another thread is in the owner. */
static void
locks_are_the_transactions(void **state)
{
	WcLockRequest sub = request_of(1, WC_LOCK_EXCLUSIVE, 12, 2);
	WcLockTable *table = make_table();
	WcLockOwner *owner = wc_lock_enter(table, 10);

	(void) state;
	assert_int_equal(acquire(table, owner, 10, 1, S("row")), 0);
	assert_int_equal(try_lock(table, owner, &sub, S("inner")).xid, 0);
	assert_false(wc_lock_release_of(table, 10, 0, false));
	wc_lock_leave(table, owner);

	/* another thread, or session, goes on with it */
	assert_int_equal(nlocks_of(table, 10), 2);
	owner = wc_lock_enter(table, 11);
	assert_int_equal(acquire(table, owner, 11, 1, S("row")), 10);
	assert_true(wc_lock_release_of(table, 10, 2, false));
	assert_int_equal(nlocks_of(table, 10), 1);
	assert_int_equal(acquire(table, owner, 11, 1, S("inner")), 0);
	assert_int_equal(acquire(table, owner, 11, 1, S("row")), 10);
	assert_true(wc_lock_release_of(table, 10, 0, true));
	assert_int_equal(acquire(table, owner, 11, 1, S("row")), 0);

	/* of one that has nothing there is nothing to give up */
	assert_true(wc_lock_release_of(table, 10, 0, true));
	assert_int_equal(nlocks_of(table, UINT64_MAX), 0);
	wc_lock_leave(table, owner);

	/* the remaining locks are freed with the table */
	wc_locktable_free(table);
}

/* Rows of every length, so many that the table grows; then all are free. */
static void
many_rows(void **state)
{
	enum {N = 20000};
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2);
	uint8_t    *row = malloc(WC_ROW_MAX);

	(void) state;
	memset(row, 'r', WC_ROW_MAX);
	for (int pass = 0; pass < 3; pass++)
	{
		for (uint32_t i = 0; i < N; i++)
		{
			uint64_t	holder;

			memcpy(row, &i, sizeof(i));
			holder = acquire(table, pass == 1 ? b : a, pass == 1 ? 2 : 1, 3, wc_slice(row, 4 + i % 40));
			assert_int_equal(holder, pass == 1 ? 1 : 0);
		}
		assert_int_equal(a->nlocks, N);
		assert_int_equal(b->nlocks, 0);
	}
	assert_int_equal(acquire(table, a, 1, 3, wc_slice(row, WC_ROW_MAX)), 0);
	wc_lock_release(table, a, 0);
	for (uint32_t i = 0; i < N; i++)
	{
		memcpy(row, &i, sizeof(i));
		assert_int_equal(acquire(table, b, 2, 3, wc_slice(row, 4 + i % 40)), 0);
	}
	wc_lock_release(table, b, 0);
	free(row);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_locktable_free(table);
}

/* --- whole tables --------------------------------------------------------------- */

static void
many_locks_become_one(void **state)
{
	WcLockRequest sub = request_of(1, WC_LOCK_EXCLUSIVE, 12, 2);
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2);

	(void) state;
	acquire_range(table, a, 1, 1, 0, WC_ROW_LOCKS_TABLE);
	assert_int_equal(a->nlocks, WC_ROW_LOCKS_TABLE);
	assert_int_equal(acquire_number(table, b, 2, 1, WC_ROW_LOCKS_TABLE + 1), 0);

	/* another is there: it goes on row by row, and looks again when there are as many more */
	acquire_range(table, a, 1, 1, WC_ROW_LOCKS_TABLE + 2, WC_ROW_LOCKS_TABLE + 4);
	assert_int_equal(a->nlocks, WC_ROW_LOCKS_TABLE + 2);
	wc_lock_release(table, b, 0);
	acquire_range(table, a, 1, 1, WC_ROW_LOCKS_TABLE + 4, 2 * WC_ROW_LOCKS_TABLE + 2);
	assert_int_equal(a->nlocks, 2 * WC_ROW_LOCKS_TABLE);
	assert_int_equal(try_lock(table, a, &sub, S("next")).xid, 0);
	assert_int_equal(a->nlocks, 0);
	assert_int_equal(a->bytes, 0);

	/* it has all rows, and others none; of another table it has nothing */
	assert_int_equal(acquire_number(table, a, 1, 1, UINT32_MAX), 0);
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_KEY_SHARE, S("any")), 1);
	assert_int_equal(acquire(table, b, 2, 2, S("any")), 0);
	assert_int_equal(a->nlocks, 0);

	/* it has the subid of the oldest lock that it replaced */
	wc_lock_release(table, a, 2);
	assert_int_equal(acquire_number(table, b, 2, 1, 5), 1);
	wc_lock_release(table, a, 1);
	assert_int_equal(acquire_number(table, b, 2, 1, 5), 0);
	wc_lock_release(table, a, 0);
	wc_lock_release(table, b, 0);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_locktable_free(table);
}

/* The locks of several transactions are restored one after the other: none may take rows that it did not have. */
static void
restored_locks_stay_row_locks(void **state)
{
	WcLockRequest request = request_of(1, WC_LOCK_EXCLUSIVE, 1, 1);
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2);

	(void) state;
	request.restored = true;
	for (uint32_t i = 0; i < WC_ROW_LOCKS_TABLE + 10; i++)
		assert_int_equal(try_lock(table, a, &request, wc_slice(&i, sizeof(i))).xid, 0);
	assert_int_equal(a->nlocks, WC_ROW_LOCKS_TABLE + 10);
	assert_int_equal(acquire_number(table, b, 2, 1, UINT32_MAX), 0);
	assert_int_equal(acquire_number(table, b, 2, 1, WC_ROW_LOCKS_TABLE + 9), 1);
	wc_lock_release(table, a, 0);
	wc_lock_release(table, b, 0);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_locktable_free(table);
}

static void
a_table_is_locked_if_nobody_else_is_there(void **state)
{
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2);

	(void) state;
	assert_int_equal(lock_in(table, b, 2, WC_LOCK_KEY_SHARE, S("row")), 0);
	assert_false(acquire_table(table, a, 1, 1));
	assert_null(a->shares);
	assert_true(acquire_table(table, a, 1, 2));
	assert_true(acquire_table(table, a, 1, 2));
	assert_false(acquire_table(table, b, 2, 2));
	assert_int_equal(acquire(table, b, 2, 2, S("row")), 1);
	wc_lock_release(table, b, 0);

	/* its own locks are exchanged */
	acquire_range(table, a, 1, 1, 0, 1000);
	assert_true(acquire_table(table, a, 1, 1));
	assert_int_equal(a->nlocks, 0);
	assert_int_equal(acquire_number(table, b, 2, 1, 5000), 1);
	wc_lock_release(table, a, 0);
	assert_int_equal(acquire_number(table, b, 2, 1, 5), 0);
	wc_lock_release(table, b, 0);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_locktable_free(table);
}

/* An owner with as many locks as it may have waits for the other owners in the table, and new owners wait for it: so it
 * gets the table. */
static void
limits_are_kept(void **state)
{
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2),
			   *c = wc_lock_enter(table, 3);

	(void) state;
	assert_int_equal(acquire(table, b, 2, 1, S("b's")), 0);
	acquire_range(table, a, 1, 1, 0, WC_ROW_LOCKS_MAX);
	assert_int_equal(a->nlocks, WC_ROW_LOCKS_MAX);
	assert_int_equal(acquire(table, c, 3, 1, S("c's")), 0);
	wc_lock_release(table, c, 0);

	assert_int_equal(acquire_number(table, a, 1, 1, WC_ROW_LOCKS_MAX), 2);
	assert_int_equal(a->nlocks, WC_ROW_LOCKS_MAX);
	assert_int_equal(acquire_number(table, a, 1, 1, 17), 0);

	/* an owner without locks there waits; an owner with locks continues, so that it can end */
	assert_int_equal(acquire_number(table, a, 1, 1, WC_ROW_LOCKS_MAX), 2);
	assert_int_equal(acquire(table, c, 3, 1, S("c's")), 1);
	assert_false(acquire_table(table, c, 3, 1));
	assert_int_equal(acquire(table, c, 3, 2, S("c's")), 0);
	assert_int_equal(acquire(table, b, 2, 1, S("b's too")), 0);
	wc_lock_release(table, b, 0);
	assert_int_equal(acquire(table, c, 3, 1, S("c's")), 1);
	assert_int_equal(acquire_number(table, a, 1, 1, WC_ROW_LOCKS_MAX), 0);
	assert_int_equal(a->nlocks, 0);
	assert_int_equal(acquire(table, c, 3, 1, S("c's")), 1);
	wc_lock_release(table, a, 0);
	assert_int_equal(acquire(table, c, 3, 1, S("c's")), 0);
	wc_lock_release(table, c, 0);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_lock_leave(table, c);
	wc_locktable_free(table);
}

/* SKIP LOCKED: the statement turns to another table, of which it wants all, too. */
static void
who_wants_another_table_lets_others_into_the_first(void **state)
{
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2),
			   *c = wc_lock_enter(table, 3);

	(void) state;
	assert_int_equal(acquire(table, b, 2, 1, S("b's")), 0);
	assert_int_equal(acquire(table, b, 2, 2, S("b's")), 0);
	acquire_range(table, a, 1, 1, 0, WC_ROW_LOCKS_MAX);
	assert_int_equal(acquire(table, a, 1, 1, S("next")), 2);
	assert_int_equal(acquire(table, c, 3, 1, S("c's")), 1);
	assert_int_equal(acquire(table, a, 1, 2, S("next")), 2);
	assert_int_equal(acquire(table, c, 3, 1, S("c's")), 0);
	assert_int_equal(acquire(table, c, 3, 2, S("c's")), 1);
	wc_lock_release(table, a, 0);
	assert_int_equal(acquire(table, c, 3, 2, S("c's")), 0);
	wc_lock_release(table, b, 0);
	wc_lock_release(table, c, 0);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_lock_leave(table, c);
	wc_locktable_free(table);
}

/* When the engine's locks of others have gone, the holder is the transaction that has claimed a row, not the owner that wants the
 * table: it would wait for itself. */
static void
who_wants_the_table_waits_for_claims_too(void **state)
{
	void	   *memory = calloc(1, wc_claims_size(1));
	WcClaims   *claims = wc_claims_init(memory, 42, 1);
	void	   *places = calloc(1, wc_flight_size(1) + 64);
	WcFlight   *flight = wc_flight_init(places, 1, 1);
	WcLockTable *table = wc_locktable_create(claims, flight);
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2);
	bool		added;

	(void) state;
	wc_claims_reset(claims);
	wc_claims_open(claims, 5);
	assert_true(wc_claims_hold(claims, flight, 0, 3, 1, S("c's"), WC_LOCK_EXCLUSIVE, 0, &added));
	wc_claims_keep_last(claims, 0);
	assert_int_equal(acquire(table, b, 2, 1, S("b's")), 0);
	acquire_range(table, a, 1, 1, 0, WC_ROW_LOCKS_MAX);
	assert_int_equal(acquire(table, a, 1, 1, S("next")), 2);
	wc_lock_release(table, b, 0);
	assert_int_equal(acquire(table, a, 1, 1, S("next")), 3);
	wc_claims_drop_all(claims, 0);
	assert_int_equal(acquire(table, a, 1, 1, S("next")), 0);
	wc_lock_release(table, a, 0);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_locktable_free(table);
	free(memory);
	free(places);
}

/* A statement that has waited for the table, and was cancelled, or has got all it wanted. */
static void
who_does_not_want_the_table_any_more_lets_others_in(void **state)
{
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2),
			   *c = wc_lock_enter(table, 3);
	WcLockRequest sub = request_of(1, WC_LOCK_EXCLUSIVE, 12, 2);

	(void) state;
	assert_int_equal(acquire(table, b, 2, 1, S("b's")), 0);
	acquire_range(table, a, 1, 1, 0, WC_ROW_LOCKS_MAX);
	assert_int_equal(try_lock(table, a, &sub, S("next")).xid, 2);
	assert_int_equal(acquire(table, c, 3, 1, S("c's")), 12);
	wc_lock_release(table, a, 2);
	assert_int_equal(a->nlocks, WC_ROW_LOCKS_MAX);
	assert_int_equal(acquire(table, c, 3, 1, S("c's")), 0);
	wc_lock_release(table, c, 0);

	assert_int_equal(try_lock(table, a, &sub, S("next")).xid, 2);
	assert_int_equal(acquire(table, c, 3, 1, S("c's")), 12);
	assert_int_equal(acquire_number(table, a, 1, 1, 5), 0);
	assert_int_equal(acquire(table, c, 3, 1, S("c's")), 0);
	wc_lock_release(table, c, 0);

	/* with its other tables it may become light enough */
	acquire_range(table, c, 3, 2, 0, 1);
	wc_lock_release(table, b, 0);
	assert_int_equal(try_lock(table, a, &(WcLockRequest) {.table_id = 2,.mode = WC_LOCK_EXCLUSIVE,
					 .enough = WC_LOCK_EXCLUSIVE,.xid = 1,.subid = 1}, S("next")).xid, 0);
	assert_int_equal(a->nlocks, 1);
	assert_int_equal(acquire(table, c, 3, 1, S("c's")), 1);
	wc_lock_release(table, a, 0);
	wc_lock_release(table, c, 0);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
	wc_lock_leave(table, c);
	wc_locktable_free(table);
}

static void
keys_are_counted_in_bytes(void **state)
{
	WcLockTable *table = make_table();
	WcLockOwner *a = wc_lock_enter(table, 1),
			   *b = wc_lock_enter(table, 2);
	uint8_t    *row = calloc(1, WC_ROW_MAX);

	(void) state;
	assert_int_equal(acquire(table, b, 2, 1, S("b's")), 0);
	for (uint32_t n = 0; n < WC_ROW_LOCK_BYTES_MAX / WC_ROW_MAX; n++)
	{
		memcpy(row, &n, sizeof(n));
		assert_int_equal(acquire(table, a, 1, 1, wc_slice(row, WC_ROW_MAX)), 0);
	}
	assert_int_equal(a->bytes, WC_ROW_LOCK_BYTES_MAX);
	assert_int_equal(acquire(table, a, 1, 1, S("x")), 2);
	wc_lock_release(table, b, 0);
	assert_int_equal(acquire(table, a, 1, 1, S("x")), 0);
	assert_int_equal(a->bytes, 0);
	wc_lock_release(table, a, 0);
	free(row);
	wc_lock_leave(table, a);
	wc_lock_leave(table, b);
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

/* Waits by asking again. */
static void
lock_firmly(Worker *w, uint32_t row, WcRowLockMode mode)
{
	WcLockRequest request = request_of(1, mode, w->xid, 1);
	WcLockHolder holder;
	WcError		err;

	for (;;)
	{
		WcLockOwner *owner = wc_lock_enter(w->shared->table, w->xid);

		if (wc_lock_acquire(w->shared->table, owner, &request, wc_slice(&row, sizeof(row)), &holder, &err) != WC_OK ||
			holder.xid == w->xid)
			w->wrong++;
		wc_lock_leave(w->shared->table, owner);
		if (holder.xid == 0)
			break;
		sched_yield();
	}
}

/* A transaction locks one row or two, in order. */
static void *
worker_main(void *arg)
{
	Worker	   *w = arg;

	for (uint32_t round = 0; round < ROUNDS; round++)
	{
		uint32_t	first = (uint32_t) (round * w->xid) % NROWS;
		uint32_t	last = first + (round % 2 && first + 1 < NROWS ? 1 : 0);

		for (uint32_t row = first; row <= last; row++)
		{
			lock_firmly(w, row, WC_LOCK_EXCLUSIVE);
			work_on(w, row);
		}
		for (uint32_t row = first; row <= last; row++)
			w->shared->holders[row] = 0;
		w->wrong += !wc_lock_release_of(w->shared->table, w->xid, 0, true);
	}
	return NULL;
}

/* Readers share a row, a writer has it alone; now and then somebody has the whole table. */
static void *
sharer_main(void *arg)
{
	Worker	   *w = arg;
	Shared	   *s = w->shared;
	WcLockRequest all = request_of(1, WC_LOCK_EXCLUSIVE, w->xid, 1);
	WcError		err;

	for (uint32_t round = 0; round < ROUNDS; round++)
	{
		uint32_t	row = (uint32_t) (round * w->xid) % NROWS;
		uint64_t	seen;
		bool		got = false;

		if (round % 16 == 0)
		{
			WcLockOwner *owner = wc_lock_enter(s->table, w->xid);

			w->wrong += wc_lock_acquire_table(s->table, owner, &all, &got, &err) != WC_OK;
			wc_lock_leave(s->table, owner);
		}
		if (got)
		{
			for (uint32_t i = 0; i < NROWS; i++)
				work_on(w, i);
			memset(s->holders, 0, sizeof(s->holders));
		}
		else if (round % 4 == 0)
		{
			lock_firmly(w, row, WC_LOCK_NO_KEY_UPDATE);
			work_on(w, row);
			s->holders[row] = 0;
		}
		else
		{
			lock_firmly(w, row, WC_LOCK_SHARE);
			seen = s->counts[row];
			sched_yield();
			w->wrong += s->counts[row] != seen;
		}
		w->wrong += !wc_lock_release_of(s->table, w->xid, 0, true);
	}
	return NULL;
}

static void
run_threads(void *(*run) (void *))
{
	Shared		shared = {.table = make_table()};
	Worker		workers[NTHREADS] = {0};
	pthread_t	threads[NTHREADS];

	for (int i = 0; i < NTHREADS; i++)
	{
		workers[i].shared = &shared;
		workers[i].xid = (uint64_t) i + 1;
		assert_int_equal(pthread_create(&threads[i], NULL, run, &workers[i]), 0);
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

static void
threads_exclude_each_other(void **state)
{
	(void) state;
	run_threads(worker_main);
}

static void
threads_share(void **state)
{
	(void) state;
	run_threads(sharer_main);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(until_it_is_kept_it_is_brief),
		cmocka_unit_test(one_holder_a_row),
		cmocka_unit_test(modes_conflict_as_heaps_do),
		cmocka_unit_test(holders_share_a_row),
		cmocka_unit_test(less_may_be_enough),
		cmocka_unit_test(a_subtransaction_gives_back_its_locks),
		cmocka_unit_test(rows_are_locked_together),
		cmocka_unit_test(locks_are_the_transactions),
		cmocka_unit_test(many_rows),
		cmocka_unit_test(many_locks_become_one),
		cmocka_unit_test(restored_locks_stay_row_locks),
		cmocka_unit_test(a_table_is_locked_if_nobody_else_is_there),
		cmocka_unit_test(limits_are_kept),
		cmocka_unit_test(who_wants_another_table_lets_others_into_the_first),
		cmocka_unit_test(who_wants_the_table_waits_for_claims_too),
		cmocka_unit_test(who_does_not_want_the_table_any_more_lets_others_in),
		cmocka_unit_test(keys_are_counted_in_bytes),
		cmocka_unit_test(threads_exclude_each_other),
		cmocka_unit_test(threads_share)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
