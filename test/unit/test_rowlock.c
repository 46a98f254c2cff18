/*
 * test/unit/test_rowlock.c: sessions lock rows, and learn whether the rows have changed.
 */
#include "rowsite.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mangle.h"
#include "mangle.h"
#include "rpc/log/intake.h"
#include "rpc/session/rowlock.h"
#include "rpc/lock/rowstamps.h"

/* --- LOCK and UNLOCK ----------------------------------------------------------------- */

static void
rows_are_locked_up_to_one_that_is_not_free(void **state)
{
	WcLockMessage shared = {.mode = WC_LOCK_SHARE};
	WcLockMessage update = {.mode = WC_LOCK_NO_KEY_UPDATE};
	Site	   *site = *state;

	assert_string_equal(site_lock(site, 0, "ab"), "a b");
	assert_string_equal(site_lock(site, 1, "dcbae"), "d c | 1");
	assert_string_equal(site_lock(site, 2, "e"), "e");
	assert_string_equal(site_lock(site, 2, "c"), " | 2");
	site_end(site, 0);
	assert_string_equal(site_lock(site, 1, "bae"), "b a | 3");
	site_end(site, 1);
	site_end(site, 2);

	assert_string_equal(site_lock_with(site, 0, &shared, "a"), "a");
	assert_string_equal(site_lock_with(site, 1, &shared, "a"), "a");
	assert_string_equal(site_lock_with(site, 1, &update, "a"), " | 1 weaker");
	site_end(site, 0);
	assert_string_equal(site_lock_with(site, 2, &update, "a"), " | 2");
}

static void
a_subtransaction_unlocks(void **state)
{
	WcLockMessage inner = {.subid = 3};
	Site	   *site = *state;

	assert_string_equal(site_lock(site, 0, "a"), "a");
	assert_string_equal(site_lock_with(site, 0, &inner, "b"), "b");
	assert_int_equal(site_ask_number(site, 0, WC_MSG_UNLOCK, 4), 0);
	assert_string_equal(site_lock(site, 1, "b"), " | 1");
	assert_int_equal(site_ask_number(site, 0, WC_MSG_UNLOCK, 2), 0);
	assert_string_equal(site_lock(site, 1, "b"), "b");
	assert_string_equal(site_lock(site, 1, "a"), " | 1");

	/* no subtransaction has these */
	assert_int_equal(site_ask_number(site, 0, WC_MSG_UNLOCK, 0), 0);
	assert_int_equal(site_ask_number(site, 0, WC_MSG_UNLOCK, UINT64_MAX), 0);
	(void) site_message(site, 0);
	(void) site_ask(site, 0, WC_MSG_UNLOCK);
	assert_string_equal(site_lock(site, 1, "a"), " | 1");
}

static void
what_has_changed_since_the_snapshot_is_said(void **state)
{
	uint32_t	other_family = 2;
	WcLockMessage of_g = {.snapshot = 1,.nfamilies = 1,.families = &other_family};
	Site	   *site = *state;

	assert_string_equal(site_lock_since(site, 0, 1, "z"), "z");
	site_put(site, "a", "2");
	kit_delete(&site->kit, WC_DELETE_FAMILY, "b", 1, "", KIT_LATEST);
	site_put(site, "d", "1");
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	assert_string_equal(site_lock_since(site, 0, 1, "abcde"), "a! b!- c d! e");

	/* the row that is gone is not locked; one that was locked before stays locked */
	assert_string_equal(site_lock(site, 1, "b"), "b");
	site_end(site, 1);
	assert_string_equal(site_lock_with(site, 0, &of_g, "abcde"), "a b c d e");
	assert_string_equal(site_lock(site, 0, "abcde"), "a b c d e");
	assert_string_equal(site_lock_since(site, 0, 1, "b"), "b!");
	assert_string_equal(site_lock(site, 1, "b"), " | 1");
	assert_string_equal(site_lock_since(site, 0, 2, "abcde"), "a b c d e");

	/* own writes are no change, also in a table that other transactions cannot see */
	site_put(site, "e", "1");
	kit_create(&site->kit, "new", WC_PACKING_CELL, 1);
	site_put(site, "a", "1");
	site_write(site, 0);
	assert_string_equal(site_lock_since(site, 0, 1, "a"), "a");
	site->kit.table--;
	assert_string_equal(site_lock_since(site, 0, 2, "ae"), "a e");
	assert_string_equal(site_lock_since(site, 0, 1, "ae"), "a! e");
}

/* A command's own writes, and later ones, not those that it sees. */
static void
own_later_writes_are_said(void **state)
{
	WcLockMessage m = {.tell_rewritten = true,.cid = 5};
	Site	   *site = *state;

	assert_string_equal(site_lock_with(site, 0, &m, "ab"), "a b");
	site->kit.cid = 4;
	site_put(site, "a", "1");
	site_put(site, "b", "1");
	site->kit.cid = 5;
	site_put(site, "c", "1");
	site->kit.cid = 7;
	site_put(site, "b", "1");
	site_write(site, 0);
	assert_string_equal(site_lock_with(site, 0, &m, "abcd"), "a b* c* d");
	m.cid = 8;
	assert_string_equal(site_lock_with(site, 0, &m, "abcd"), "a b c d");
}

/* A serializable LOCK ends at a changed row, without waiting for the transaction that has locked it. */
static void
a_change_ends_it_for_who_is_serializable(void **state)
{
	WcLockMessage m = {.snapshot = 1,.serializable = true};
	Site	   *site = *state;

	assert_string_equal(site_lock_with(site, 0, &m, "z"), "z");
	site_put(site, "b", "2");
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	assert_string_equal(site_lock(site, 1, "ab"), "a b");
	assert_string_equal(site_lock_with(site, 0, &m, "cba"), "c b!");
	assert_string_equal(site_lock_with(site, 0, &m, "abc"), " | 2");
	site_end(site, 1);
	assert_string_equal(site_lock_with(site, 0, &m, "abc"), "a b!");
}

/* Writing the same values again is a change: the timestamps differ. */
static void
the_same_value_again_is_a_change(void **state)
{
	Site	   *site = *state;

	assert_string_equal(site_lock_since(site, 0, 1, "z"), "z");
	site_put(site, "a", "1");
	kit_delete(&site->kit, WC_DELETE_FAMILY, "not there", 1, "", KIT_LATEST);
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	assert_string_equal(site_lock_since(site, 0, 1, "ab"), "a! b");
	site_end(site, 0);

	/* the same cell, with a timestamp of its own, and a row whose hash may be another's */
	kit_put(&site->kit, "b", 1, "t", 5, "same");
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	assert_string_equal(site_lock_since(site, 0, 2, "z"), "z");
	kit_put(&site->kit, "b", 1, "t", 5, "same");
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	assert_string_equal(site_lock_since(site, 0, 2, "b"), "b");
	site_end(site, 0);
	assert_string_equal(site_lock_since(site, 0, 3, "z"), "z");
	kit_put(&site->kit, "b", 1, "t", 5, "other");
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	assert_string_equal(site_lock_since(site, 0, 3, "b"), "b!");
}

/* A row of several blocks, of which the last cell changes; and a commit of so many rows
 * that the engine tells of the first and the last one only. */
static void
large_rows_and_large_commits_are_compared(void **state)
{
	static char value[WC_BLOCK_MAX];
	Site	   *site = *state;
	char		row[16];

	memset(value, 'v', sizeof(value) - 1);
	for (char q[2] = "a"; q[0] < 'g'; q[0]++)
		kit_put(&site->kit, "a", 1, q, KIT_LATEST, value);
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);

	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 1);
	for (int i = 0; i < 5000; i++)
	{
		snprintf(row, sizeof(row), "other%d", i);
		site_put(site, row, "1");
	}
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	assert_string_equal(site_lock_since(site, 0, 1, "abc"), "a b c");
	site_end(site, 0);

	/* rows between its first and its last one: one that it has written, and one that it has not */
	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 2);
	site_put(site, "b", "2");
	for (int i = 0; i < 5000; i++)
	{
		snprintf(row, sizeof(row), "other%d", i);
		site_put(site, row, "2");
	}
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	assert_string_equal(site_lock_since(site, 0, 2, "abc"), "a b! c");
	site_end(site, 0);

	(void) site_ask_number(site, 0, WC_MSG_SNAPSHOT, 3);
	kit_put(&site->kit, "a", 2, "last", KIT_LATEST, "v");
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	assert_string_equal(site_lock_since(site, 0, 3, "ab"), "a! b");
}

static void
which_rows_exist_is_said(void **state)
{
	uint32_t	f = 1;
	uint32_t	g = 2;
	WcLockMessage all = {.only_absent = true,.cid = UINT32_MAX};
	WcLockMessage of_f = {.only_absent = true,.cid = UINT32_MAX,.nfamilies = 1,.families = &f};
	WcLockMessage of_g = {.only_absent = true,.cid = UINT32_MAX,.nfamilies = 1,.families = &g};
	WcLockMessage early = {.only_absent = true,.cid = 1,.snapshot = 1};
	Site	   *site = *state;

	assert_string_equal(site_lock_with(site, 0, &all, "ad"), "a+ d");
	assert_string_equal(site_lock_with(site, 0, &of_f, "ad"), "a+ d");
	assert_string_equal(site_lock_with(site, 0, &of_g, "ad"), "a d");
	assert_string_equal(site_lock_with(site, 0, &early, "z"), "z");

	/* the newest state, and own writes of commands before */
	site_put(site, "e", "1");
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	site->kit.cid = 5;
	site_put(site, "d", "1");
	kit_delete(&site->kit, WC_DELETE_FAMILY, "b", 1, "", KIT_LATEST);
	site_write(site, 0);
	assert_string_equal(site_lock_with(site, 0, &all, "abde"), "a+ b d+ e+");
	assert_string_equal(site_lock_with(site, 0, &early, "abde"), "a+ b+ d e!+");
}

/* Rows that are there stay free, and are said to be there though others have them, unless
 * these may have made or deleted them. */
static void
only_rows_that_are_not_there_are_locked(void **state)
{
	WcLockMessage absent = {.only_absent = true,.cid = UINT32_MAX};
	WcLockMessage update = {.mode = WC_LOCK_NO_KEY_UPDATE};
	Site	   *site = *state;

	assert_string_equal(site_lock_with(site, 0, &absent, "adb"), "a+ d b+");
	assert_string_equal(site_lock(site, 1, "ab"), "a b");
	assert_string_equal(site_lock(site, 1, "d"), " | 1");
	assert_string_equal(site_lock_with(site, 2, &absent, "d"), " | 1");
	assert_string_equal(site_lock_with(site, 2, &absent, "a"), " | 2");
	site_end(site, 1);
	site_end(site, 0);

	assert_string_equal(site_lock_with(site, 0, &update, "ae"), "a e");
	assert_string_equal(site_lock_with(site, 2, &absent, "a"), "a+");
	assert_string_equal(site_lock_with(site, 2, &absent, "e"), " | 1");
	/* what the session had before it keeps */
	assert_string_equal(site_lock_with(site, 0, &absent, "ae"), "a+ e");
	assert_string_equal(site_lock(site, 1, "a"), " | 1");
	site_end(site, 0);
	assert_string_equal(site_lock(site, 1, "ae"), "a e");
}

/* Rows that are looked for together: more than one group of them, in any order, some twice. */
static void
many_rows_that_are_not_there_are_locked(void **state)
{
	WcLockMessage absent = {.only_absent = true,.cid = UINT32_MAX};
	Site	   *site = *state;
	char		letters[201];
	char		expected[1024];
	size_t		n = 0;
	size_t		nfree = 0;

	for (char c = 'a'; c <= 'z'; c++)
	{
		if (c % 3 == 0)
			site_put(site, (char[]) {c, 0}, "1");
	}
	kit_delete(&site->kit, WC_DELETE_FAMILY, "c", 1, "", KIT_LATEST);
	site_write(site, 1);
	assert_int_equal(site_commit(site, 1), 0);
	site_put(site, "e", "1");
	site_write(site, 0);
	for (size_t i = 0; i < 200; i++)
	{
		char		c = (char) ('a' + (i * 7 + i / 26) % 26);
		bool		exists = c == 'a' || c == 'b' || c == 'e' || (c % 3 == 0 && c != 'c');

		letters[i] = c;
		n += (size_t) snprintf(expected + n, sizeof(expected) - n, "%s%c%s", i > 0 ? " " : "", c, exists ? "+" : "");
	}
	letters[200] = '\0';
	assert_string_equal(site_lock_with(site, 0, &absent, letters), expected);
	for (char c = 'a'; c <= 'z'; c++)
		nfree += strstr(expected, (char[]) {c, '+', 0}) != NULL;
	assert_int_equal(site_locks_of(site, 0), 26 - nfree);

	/* up to a row that another transaction has locked */
	assert_string_equal(site_lock(site, 1, "b"), "b");
	assert_string_equal(site_lock_with(site, 2, &absent, "fbfhf"), "f+ | 2");
	assert_string_equal(site_lock_with(site, 2, &absent, "fgf"), "f+ | 1");
}

/* --- sessions at once ------------------------------------------------------------------- */

#define ROUNDS 200

static uint64_t counts[3];		/* each guarded by a row's lock alone */

typedef struct Worker
{
	Site	   *site;
	int			session;
	uint64_t	done[3];
	bool		wrong;
} Worker;

static bool
try_lock(Worker *w, const char *row)
{
	WcSlice		key = kit_s(row);
	WcLockMessage m = {
		.table_id = w->site->kit.table,.mode = WC_LOCK_NO_KEY_UPDATE,.owner = (uint64_t) w->session + 1,
		.xid = (uint64_t) w->session + 1,.subid = 1,
		.nrows = 1,.rows = &key
	};
	WcLockResult r = {.holder = 1};
	uint8_t		answer;
	WcError		err;

	while (r.holder != 0)
	{
		WcSlice		payload;

		wc_message_lock_encode(site_message(w->site, w->session), &m);
		payload = site_answer(w->site, w->session, WC_MSG_LOCK, &answer);
		if (answer != WC_MSG_OK || wc_message_locked_decode(payload, &m, &r, &err) != WC_OK)
			return false;
		sched_yield();
	}
	return true;
}

static bool
try_put(Worker *w, const char *row)
{
	WcBuf		ops = WC_BUF_INIT;
	WcBatchBuilder b;
	bool		good;

	wc_batch_init(&b, &ops);
	good = wc_batch_row_begin(&b, w->site->kit.table, 1, kit_s(row), 0, NULL, 0, NULL) == WC_OK &&
		wc_batch_put(&b, 1, kit_s("q"), KIT_LATEST, 0, kit_s("2"), NULL) == WC_OK &&
		wc_batch_row_end(&b, NULL) == WC_OK;
	site_write_ops(w->site, w->session, wc_buf_slice(&ops));
	wc_buf_free(&ops);
	return good;
}

/* Some transactions lock the rows that they write, some do not; all commit. */
static void *
worker_main(void *arg)
{
	static const char *const rows[] = {"a", "b", "c"};
	Worker	   *w = arg;

	for (int round = 0; round < ROUNDS && !w->wrong; round++)
	{
		int			row = (round * (w->session + 1)) % 3;
		uint64_t	holder = 1;
		WcError		err;

		if (round % 2 == 0)
		{
			w->wrong |= !try_lock(w, rows[row]);
			counts[row]++;
			w->done[row]++;
		}
		else
		{
			row = 1;
			w->wrong |= !try_put(w, "c");
		}
		w->wrong |= !try_put(w, rows[row]);
		while (holder != 0 && !w->wrong)
			w->wrong |= !site_try_commit(w->site, w->session, 0, &holder, &err);
	}
	return NULL;
}

static void
sessions_take_turns(void **state)
{
	Site	   *site = *state;
	Worker		workers[SESSIONS] = {0};
	pthread_t	threads[SESSIONS];

	memset(counts, 0, sizeof(counts));
	for (int i = 0; i < SESSIONS; i++)
	{
		workers[i].site = site;
		workers[i].session = i;
		assert_int_equal(pthread_create(&threads[i], NULL, worker_main, &workers[i]), 0);
	}
	for (int i = 0; i < SESSIONS; i++)
		pthread_join(threads[i], NULL);
	for (int row = 0; row < 3; row++)
	{
		uint64_t	done = 0;

		for (int i = 0; i < SESSIONS; i++)
		{
			assert_false(workers[i].wrong);
			done += workers[i].done[row];
		}
		assert_int_equal(counts[row], done);
	}
	assert_string_equal(kit_scan(&site->kit, false), "a{f:q=2} b{f:q=2} c{f:q=2}");
	assert_string_equal(site_lock(site, 0, "abc"), "a b c");
}

/* --- hostile requests ------------------------------------------------------------------- */

typedef struct Hostile
{
	Site	   *site;
	uint8_t		type;
} Hostile;

static void
send_mangled(WcSlice bytes, void *arg)
{
	Hostile    *h = arg;
	uint8_t		answer;

	wc_buf_append_slice(site_message(h->site, 2), bytes);
	(void) site_answer(h->site, 2, h->type, &answer);
	site_end(h->site, 2);
}

/* Whatever comes is refused or done; nothing is held by it afterwards. */
static void
nonsense_locks_nothing(void **state)
{
	uint32_t	families[] = {1, 2};
	WcSlice		rows[] = {kit_s("a"), kit_s("b")};
	WcLockMessage m = {
		.mode = WC_LOCK_SHARE,.only_absent = true,.owner = 4,.xid = 5,.subid = 1,.snapshot = 3,.cid = 2,.nfamilies = 2,
		.families = families,.nrows = 2,.rows = rows
	};
	Site	   *site = *state;
	Hostile		h = {site, WC_MSG_LOCK};
	WcBuf		whole = WC_BUF_INIT;
	WcCommitMessage commit_message = {.xid = 300,.snapshot = 2};
	uint64_t	subid = 300;

	m.table_id = site->kit.table;
	wc_message_lock_encode(&whole, &m);
	wc_mangle_prefixes(wc_buf_slice(&whole), send_mangled, &h);
	wc_mangle_randomly(wc_buf_slice(&whole), 2000, send_mangled, &h);
	wc_buf_reset(&whole, SIZE_MAX);
	wc_message_numbers_encode(&whole, &subid, 1);
	h.type = WC_MSG_UNLOCK;
	wc_mangle_randomly(wc_buf_slice(&whole), 100, send_mangled, &h);
	wc_buf_reset(&whole, SIZE_MAX);
	wc_message_commit_encode(&whole, &commit_message);
	h.type = WC_MSG_PRECOMMIT;
	wc_mangle_prefixes(wc_buf_slice(&whole), send_mangled, &h);
	wc_mangle_randomly(wc_buf_slice(&whole), 100, send_mangled, &h);
	wc_buf_free(&whole);
	assert_string_equal(site_lock(site, 0, "ab"), "a b");
	assert_string_equal(kit_scan(&site->kit, false), "a{f:q=1} b{f:q=1} c{f:q=1}");
}

/* --- stamps ------------------------------------------------------------------------------- */

static void
stamps_never_forget_a_write(void **state)
{
	WcRowStamps *stamps = wc_rowstamps_create();
	uint32_t	unsure = 0;

	(void) state;
	assert_non_null(stamps);
	assert_false(wc_rowstamps_perhaps_since(stamps, 1, kit_s("row"), 0));
	for (uint32_t i = 0; i < 1000; i++)
		wc_rowstamps_row(stamps, 1, wc_slice(&i, sizeof(i)), 100 + i);
	for (uint32_t i = 0; i < 1000; i++)
	{
		assert_true(wc_rowstamps_perhaps_since(stamps, 1, wc_slice(&i, sizeof(i)), 99 + i));
		unsure += wc_rowstamps_perhaps_since(stamps, 1, wc_slice(&i, sizeof(i)), 100 + i);
		unsure += wc_rowstamps_perhaps_since(stamps, 2, wc_slice(&i, sizeof(i)), 0);
	}
	assert_true(unsure < 100);

	/* an older timestamp does not replace a newer one; a write that is no commit changes nothing */
	wc_rowstamps_row(stamps, 3, kit_s("row"), 5000);
	wc_rowstamps_row(stamps, 3, kit_s("row"), 50);
	wc_rowstamps_row(stamps, 3, kit_s("row"), 0);
	assert_true(wc_rowstamps_perhaps_since(stamps, 3, kit_s("row"), 4999));
	wc_rowstamps_table(stamps, 4, 0);
	assert_false(wc_rowstamps_perhaps_since(stamps, 4, kit_s("new row"), 5000));
	wc_rowstamps_table(stamps, 4, 7000);
	assert_true(wc_rowstamps_perhaps_since(stamps, 4, kit_s("new row"), 6999));
	assert_false(wc_rowstamps_perhaps_since(stamps, 4, kit_s("new row"), 7000));
	assert_false(wc_rowstamps_perhaps_since(stamps, 5, kit_s("new row"), 5000));
	wc_rowstamps_free(stamps);
	wc_rowstamps_free(NULL);
}

static void
stamps_know_ranges_of_rows(void **state)
{
	WcRowStamps *stamps = wc_rowstamps_create();
	char		row[8];

	(void) state;
	assert_non_null(stamps);
	wc_rowstamps_range(stamps, 1, kit_s("c"), kit_s("e"), 100);
	assert_false(wc_rowstamps_perhaps_since(stamps, 1, kit_s("b"), 0));
	assert_true(wc_rowstamps_perhaps_since(stamps, 1, kit_s("c"), 99));
	assert_true(wc_rowstamps_perhaps_since(stamps, 1, kit_s("cc"), 0));
	assert_true(wc_rowstamps_perhaps_since(stamps, 1, kit_s("e"), 99));
	assert_false(wc_rowstamps_perhaps_since(stamps, 1, kit_s("e"), 100));
	assert_false(wc_rowstamps_perhaps_since(stamps, 1, kit_s("e1"), 0));
	assert_false(wc_rowstamps_perhaps_since(stamps, 2, kit_s("d"), 0));

	/* a write that is no commit changes nothing */
	wc_rowstamps_range(stamps, 1, kit_s("k"), kit_s("m"), 0);
	assert_false(wc_rowstamps_perhaps_since(stamps, 1, kit_s("l"), 0));

	/* more ranges than are kept: none of them is forgotten */
	for (int i = 0; i < 100; i++)
	{
		snprintf(row, sizeof(row), "r%02d", i);
		wc_rowstamps_range(stamps, 1, kit_s(row), kit_s(row), 200 + i);
	}
	for (int i = 0; i < 100; i++)
	{
		snprintf(row, sizeof(row), "r%02d", i);
		assert_true(wc_rowstamps_perhaps_since(stamps, 1, kit_s(row), 199 + i));
	}
	assert_true(wc_rowstamps_perhaps_since(stamps, 1, kit_s("d"), 99));
	assert_false(wc_rowstamps_perhaps_since(stamps, 1, kit_s("r98"), 298));
	assert_false(wc_rowstamps_perhaps_since(stamps, 2, kit_s("d"), 0));
	wc_rowstamps_free(stamps);
}

/* --- prepared transactions ------------------------------------------------------------- */

typedef struct Listed
{
	WcBuf		ops;
	uint64_t	at;				/* of the next piece */
	int			pieces;
	int			left;			/* pieces that are taken; then it fails */
} Listed;

static WcStatus
take_piece(void *arg, uint64_t at, WcSlice ops, WcError *err)
{
	Listed	   *l = arg;

	assert_int_equal(at, l->at);
	if (l->left-- == 0)
		return wc_error(err, WC_CANCELLED, "enough");
	l->at += ops.len;
	l->pieces++;
	wc_buf_append_slice(&l->ops, ops);
	return WC_OK;
}

static void
locks_are_listed_and_taken_again(void **state)
{
	WcLockMessage weak = {.mode = WC_LOCK_KEY_SHARE};
	WcLockMessage inner = {.subid = 3};
	Site	   *site = *state;
	Listed		l = {.ops = WC_BUF_INIT,.at = 100,.left = INT32_MAX};
	WcLockRequest whole = {.table_id = 99,.mode = WC_LOCK_EXCLUSIVE,.enough = WC_LOCK_EXCLUSIVE,.xid = 1,.subid = 1};
	WcLockOwner *owner;
	bool		got;

	assert_string_equal(site_lock_with(site, 0, &weak, "ab"), "a b");
	assert_string_equal(site_lock(site, 0, "b"), "b");
	assert_string_equal(site_lock_with(site, 0, &inner, "c"), "c");
	owner = wc_lock_enter(site->locktable, 1);
	assert_ok(&site->kit, wc_lock_acquire_table(site->locktable, owner, &whole, &got, &site->kit.err));
	assert_true(got);
	(void) wc_lock_leave(site->locktable, owner);
	assert_ok(&site->kit, wc_rowlock_list(&site->sessions[0].session, 1, 100, take_piece, &l, &site->kit.err));
	assert_int_equal(l.pieces, 1);
	site_end(site, 0);
	assert_string_equal(site_lock(site, 1, "abc"), "a b c");

	/* another has these rows */
	assert_int_equal(wc_rowlock_restore(site->locktable, 1, wc_buf_slice(&l.ops), &site->kit.err), WC_CORRUPT);
	assert_true(wc_lock_release_of(site->locktable, 1, 0, true));
	site_end(site, 1);

	assert_ok(&site->kit, wc_rowlock_restore(site->locktable, 1, wc_buf_slice(&l.ops), &site->kit.err));
	assert_ok(&site->kit, wc_rowlock_restore(site->locktable, 1, wc_buf_slice(&l.ops), &site->kit.err));
	assert_string_equal(site_lock_with(site, 1, &weak, "a"), "a");
	assert_string_equal(site_lock(site, 1, "a"), " | 1 weaker");
	assert_string_equal(site_lock_with(site, 1, &weak, "b"), " | 1");
	assert_string_equal(site_lock_with(site, 1, &weak, "c"), " | 1");
	assert_string_equal(site_lock(site, 1, "d"), "d");
	whole.xid = 2;
	owner = wc_lock_enter(site->locktable, 2);
	assert_ok(&site->kit, wc_lock_acquire_table(site->locktable, owner, &whole, &got, &site->kit.err));
	assert_false(got);
	(void) wc_lock_leave(site->locktable, owner);
	assert_true(wc_lock_release_of(site->locktable, 1, 0, true));
	assert_string_equal(site_lock(site, 1, "abc"), "a b c");
	wc_buf_free(&l.ops);
}

/* The list comes in pieces; an error of the taker ends it. */
static void
many_locks_are_listed_in_pieces(void **state)
{
	enum
	{
		N = 10000
	};
	Site	   *site = *state;
	Listed		l = {.ops = WC_BUF_INIT,.left = INT32_MAX};
	WcLockRequest request = {.table_id = site->kit.table,.mode = WC_LOCK_EXCLUSIVE,.enough = WC_LOCK_EXCLUSIVE,.xid = 1,.subid = 1};
	WcLockOwner *owner = wc_lock_enter(site->locktable, 1);
	WcLockHolder holder;

	for (int i = 0; i < N; i++)
	{
		char		row[64];

		snprintf(row, sizeof(row), "a row with a rather long key %d", i);
		assert_ok(&site->kit, wc_lock_acquire(site->locktable, owner, &request, kit_s(row), &holder, &site->kit.err));
	}
	(void) wc_lock_leave(site->locktable, owner);
	assert_ok(&site->kit, wc_rowlock_list(&site->sessions[0].session, 1, 0, take_piece, &l, &site->kit.err));
	assert_in_range(l.pieces, 2, 20);
	assert_true(wc_lock_release_of(site->locktable, 1, 0, true));
	assert_ok(&site->kit, wc_rowlock_restore(site->locktable, 1, wc_buf_slice(&l.ops), &site->kit.err));
	assert_int_equal(site_locks_of(site, 0), N);
	l.left = 1;
	l.at = 0;
	assert_int_equal(wc_rowlock_list(&site->sessions[0].session, 1, 0, take_piece, &l, &site->kit.err), WC_CANCELLED);
	wc_buf_free(&l.ops);
}

/* --- TAKE, HANDED, and a cancel ---------------------------------------------------------- */

/* A row of one letter; what comes of it: its value, "" if it is not given, or "| 2 there". */
static const char *
take_with(Site *site, int session, uint8_t mode, uint32_t subid, const char *letter)
{
	static char text[64];
	WcTakeMessage m = {.owner = (uint64_t) session + 1,.xid = (uint64_t) session + 1,.subid = subid,.mode = mode,.open = {.cid = 100,.target = 1000}};
	WcRange		range = {.start = kit_s(letter),.stop = kit_s(letter),.start_inclusive = true,.stop_inclusive = true};
	WcDispatch *d = &site->sessions[session];
	WcFrameHeader header;
	WcScanReport report;
	WcBlockReader reader;
	WcSlice		payload;
	WcSlice		row;
	WcCell		cell;
	WcScan		scan;
	uint8_t		answer;
	uint32_t	colno;

	wc_scan_init(&scan, site->kit.table);
	scan.nranges = 1;
	scan.ranges = &range;
	wc_message_take_encode(site_message(site, session), &m, &scan);
	payload = site_answer(site, session, WC_MSG_TAKE, &answer);
	memcpy(&header, d->out.data, sizeof(header));
	text[0] = '\0';
	if (answer == WC_MSG_OK)
	{
		uint64_t	numbers[2];

		assert_ok(&site->kit, wc_message_numbers_decode(payload, numbers, 2, &site->kit.err));
		snprintf(text, sizeof(text), "| %d%s%s", (int) numbers[0], numbers[1] != 0 ? " weaker" : "",
				 header.flags & WC_FLAG_THERE ? " there" : "");
		return text;
	}
	assert_int_equal(answer, WC_MSG_BLOCK);
	assert_true((header.flags & WC_FLAG_LAST) != 0);
	assert_ok(&site->kit, wc_scan_report_take(&payload, &report, &site->kit.err));
	assert_ok(&site->kit, wc_block_open(&reader, payload, &site->kit.err));
	while (true)
	{
		switch (wc_block_next(&reader, &row, &cell, &colno))
		{
			case WC_BLOCK_ROW:
				assert_true((header.flags & WC_FLAG_TAKEN) != 0);
				break;
			case WC_BLOCK_CELL:
				snprintf(text, sizeof(text), "%.*s", (int) cell.value.len, (const char *) cell.value.data);
				break;
			default:
				if (text[0] == '\0')
					assert_true((header.flags & WC_FLAG_TAKEN) == 0);
				return text;
		}
	}
}

static const char *
take(Site *site, int session, const char *letter)
{
	return take_with(site, session, WC_LOCK_NO_KEY_UPDATE, 1, letter);
}

static void
a_row_is_taken(void **state)
{
	Site	   *site = *state;

	assert_string_equal(take(site, 0, "a"), "1");
	assert_string_equal(take(site, 0, "a"), "1");
	assert_int_equal(site_locks_of(site, 0), 1);
	assert_string_equal(take(site, 1, "a"), "| 1 there");
	assert_int_equal(site_locks_of(site, 1), 0);

	/* one that is not there is not locked; one that was locked before stays so */
	assert_string_equal(take(site, 0, "z"), "");
	assert_int_equal(site_locks_of(site, 0), 1);
	assert_string_equal(site_lock(site, 0, "y"), "y");
	assert_string_equal(take(site, 0, "y"), "");
	assert_string_equal(take(site, 1, "y"), "| 1");

	/* own writes are visible, uncommitted writes of other transactions are not */
	site_put(site, "a", "2");
	site_put(site, "x", "3");
	site_write(site, 0);
	assert_string_equal(take(site, 0, "a"), "2");
	assert_string_equal(take(site, 0, "x"), "3");
	assert_string_equal(take(site, 1, "x"), "| 1");
	assert_int_equal(site_commit(site, 0), 0);
	assert_string_equal(take(site, 1, "a"), "2");
	assert_string_equal(take(site, 1, "x"), "3");

	/* two that share a row */
	assert_string_equal(take_with(site, 0, WC_LOCK_SHARE, 1, "c"), "1");
	assert_string_equal(take_with(site, 1, WC_LOCK_SHARE, 1, "c"), "1");
	assert_string_equal(take(site, 1, "c"), "| 1 weaker there");
	site_end(site, 0);

	/* a subtransaction's rollback releases its locks */
	assert_string_equal(take_with(site, 1, WC_LOCK_EXCLUSIVE, 5, "b"), "1");
	assert_string_equal(take(site, 2, "b"), "| 2 there");
	(void) site_ask_number(site, 1, WC_MSG_UNLOCK, 5);
	assert_string_equal(take(site, 2, "b"), "1");
	assert_string_equal(take(site, 2, "a"), "| 2 there");
}

static void
nonsense_takes_nothing(void **state)
{
	WcRange		range = {.start = kit_s("a"),.stop = kit_s("c"),.start_inclusive = true};
	WcTakeMessage m = {.owner = 1,.xid = 1,.subid = 1,.mode = WC_LOCK_EXCLUSIVE,.open = {.target = 1000}};
	Site	   *site = *state;
	uint8_t		answer;
	WcScan		scan;

	wc_scan_init(&scan, site->kit.table);
	for (int i = 0; i < 4; i++)
	{
		scan.nranges = i == 0 ? 0 : 1;
		scan.ranges = &range;
		range.stop = kit_s(i == 1 ? "c" : "a");
		range.stop_inclusive = i != 1;
		m.open.snapshot = i == 2 ? 7 : 0;
		scan.table_id = i == 3 ? 12345 : site->kit.table;
		wc_message_take_encode(site_message(site, 0), &m, &scan);
		(void) site_answer(site, 0, WC_MSG_TAKE, &answer);
		assert_int_equal(answer, WC_MSG_ERROR);
	}
	site_end(site, 0);
	assert_int_equal(site_locks_of(site, 0), 0);
}

/* From then on the log says when the locks go, and the session has nothing of the transaction. */
static void
a_transaction_is_handed_over(void **state)
{
	Site	   *site = *state;

	assert_string_equal(take(site, 0, "a"), "1");
	site_put(site, "a", "2");
	site_write(site, 0);

	/* another one's id does nothing */
	(void) site_ask_number(site, 0, WC_MSG_HANDED, 9);
	assert_int_equal(wc_session_length(&site->sessions[0].session), site->lengths[0]);
	(void) site_ask_number(site, 0, WC_MSG_HANDED, 1);
	assert_int_equal(wc_session_length(&site->sessions[0].session), 0);
	site->lengths[0] = 0;
	site_end(site, 0);
	assert_string_equal(take(site, 1, "a"), "| 1 there");
	assert_true(wc_lock_release_of(site->locktable, 1, 0, false));
	assert_string_equal(take(site, 1, "a"), "1");

	/* it may come when the log has said so, or when there was nothing */
	(void) site_ask_number(site, 0, WC_MSG_HANDED, 1);
	assert_string_equal(take(site, 0, "b"), "1");
}

/* The thread looks for a message that comes without waking it as long as it has anything of a transaction. */
static void
a_batch_without_locks_is_held(void **state)
{
	Site	   *site = *state;
	const WcSession *s = &site->sessions[0].session;

	assert_false(wc_session_holds(s));
	site_put(site, "a", "1");
	site_write(site, 0);
	assert_true(wc_session_holds(s));
	(void) site_ask_number(site, 0, WC_MSG_HANDED, 1);
	assert_false(wc_session_holds(s));
	site->lengths[0] = 0;
	site_end(site, 0);
}

static void
locking_what_was_written_is_cancelled(void **state)
{
	Site	   *site = *state;
	WcSession  *s = &site->sessions[0].session;
	uint64_t	holder;

	for (int i = 0; i < 2000; i++)
	{
		char		row[16];

		snprintf(row, sizeof(row), "r%06d", i);
		site_put(site, row, "1");
	}
	site_write(site, 0);
	atomic_store(&site->cancel, true);
	assert_int_equal(wc_rowlock_commit(s, s->txn, 1, false, NULL, &site->cancel, &holder, &site->kit.err), WC_CANCELLED);
	assert_ok(&site->kit, wc_rowlock_commit(s, s->txn, 1, false, NULL, NULL, &holder, &site->kit.err));
	assert_int_equal(holder, 0);
	atomic_store(&site->cancel, false);
	site_end(site, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_are_locked_up_to_one_that_is_not_free, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(a_subtransaction_unlocks, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(what_has_changed_since_the_snapshot_is_said, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(own_later_writes_are_said, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(a_change_ends_it_for_who_is_serializable, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(the_same_value_again_is_a_change, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(large_rows_and_large_commits_are_compared, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(which_rows_exist_is_said, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(only_rows_that_are_not_there_are_locked, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(many_rows_that_are_not_there_are_locked, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(sessions_take_turns, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(nonsense_locks_nothing, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(locks_are_listed_and_taken_again, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(many_locks_are_listed_in_pieces, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(a_row_is_taken, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(nonsense_takes_nothing, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(a_transaction_is_handed_over, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(a_batch_without_locks_is_held, site_set_up, site_tear_down),
		cmocka_unit_test_setup_teardown(locking_what_was_written_is_cancelled, site_set_up, site_tear_down),
		cmocka_unit_test(stamps_never_forget_a_write),
		cmocka_unit_test(stamps_know_ranges_of_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
