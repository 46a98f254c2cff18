/*
 * test/unit/test_rowlock.c: two sessions that lock rows, say what became of them, and
 * commit; requests are dispatched as they come from backends.
 */
#include "enginekit.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mangle.h"
#include "rpc/dispatch.h"
#include "rpc/rowstamps.h"
#include "wire/segment.h"

#define SESSIONS 3

typedef struct Site
{
	Kit			kit;
	WcGetCache *getcache;
	WcEpochs   *epochs;
	WcApplier  *applier;
	WcLockTable *locktable;
	_Atomic uint64_t generation;
	_Atomic uint64_t writes;
	atomic_bool cancel;
	WcDispatch	sessions[SESSIONS];
	WcFrameReader requests[SESSIONS];
} Site;

/* The bytes are the request's, until the next. */
static WcSlice
answer_of(Site *site, int session, uint8_t type, uint8_t *answer)
{
	WcDispatch *d = &site->sessions[session];
	WcFrameReader *request = &site->requests[session];
	WcFrameHeader header;

	request->header = (WcFrameHeader) {.length = (uint32_t) request->body.len,.type = type};
	if (!wc_dispatch(d, request, false))
	{
		*answer = 0;
		return wc_slice(NULL, 0);
	}
	assert_true(d->out.len >= WC_FRAME_HEADER);
	memcpy(&header, d->out.data, sizeof(header));
	*answer = header.type;
	return wc_slice(d->out.data + WC_FRAME_HEADER, header.length);
}

static WcBuf *
message(Site *site, int session)
{
	wc_buf_reset(&site->requests[session].body, SIZE_MAX);
	return &site->requests[session].body;
}

static WcSlice
ask(Site *site, int session, uint8_t type)
{
	uint8_t		answer;
	WcSlice		payload = answer_of(site, session, type, &answer);

	if (answer == WC_MSG_ERROR)
	{
		wc_message_error_decode(payload, &site->kit.err);
		fail_msg("%s", site->kit.err.message);
	}
	return payload;
}

static uint64_t
ask_number(Site *site, int session, uint8_t type, uint64_t number)
{
	uint64_t	result = 0;
	WcSlice		payload;

	wc_message_numbers_encode(message(site, session), &number, 1);
	payload = ask(site, session, type);
	if (payload.len > 0)
		assert_ok(&site->kit, wc_message_numbers_decode(payload, &result, 1, &site->kit.err));
	return result;
}

/* What the kit has collected goes into the session's batch. */
static void
write(Site *site, int session)
{
	wc_buf_append_varint(message(site, session), 1 << 30);
	wc_buf_append_slice(&site->requests[session].body, wc_buf_slice(&site->kit.ops));
	(void) ask(site, session, WC_MSG_BATCH);
	wc_buf_reset(&site->kit.ops, SIZE_MAX);
	wc_batch_init(&site->kit.builder, &site->kit.ops);
}

static void
put(Site *site, const char *row, const char *value)
{
	kit_put(&site->kit, row, 1, "q", KIT_LATEST, value);
}

/* Who is in the way. */
static uint64_t
commit(Site *site, int session, uint64_t xid)
{
	return ask_number(site, session, WC_MSG_COMMIT, xid);
}

static void
end(Site *site, int session)
{
	(void) message(site, session);
	(void) ask(site, session, WC_MSG_ABORT);
}

static int
set_up(void **state)
{
	Site	   *site = calloc(1, sizeof(*site));

	assert_non_null(site);
	kit_open(&site->kit);
	site->getcache = kit_getcache(1 << 16, SESSIONS);
	site->locktable = wc_locktable_create();
	assert_ok(&site->kit, wc_epochs_create(site->kit.engine, site->getcache, &site->epochs, &site->kit.err));
	assert_ok(&site->kit, wc_applier_start(site->kit.engine, site->epochs, &site->generation, &site->writes, &site->applier,
										   &site->kit.err));
	for (int i = 0; i < SESSIONS; i++)
	{
		WcHelloMessage hello = {WC_PROTOCOL_VERSION, KIT_DATABASE};

		assert_ok(&site->kit, wc_dispatch_init(&site->sessions[i], site->kit.engine, site->applier, site->epochs,
											   site->locktable, &site->cancel, &site->kit.err));
		wc_frame_reader_init(&site->requests[i]);
		wc_message_hello_encode(message(site, i), &hello);
		(void) ask(site, i, WC_MSG_HELLO);
	}
	kit_create(&site->kit, "t", WC_PACKING_ROW, 3);
	put(site, "a", "1");
	put(site, "b", "1");
	put(site, "c", "1");
	write(site, 0);
	assert_int_equal(commit(site, 0, 0), 0);
	*state = site;
	return 0;
}

static int
tear_down(void **state)
{
	Site	   *site = *state;

	for (int i = 0; i < SESSIONS; i++)
	{
		wc_dispatch_free(&site->sessions[i]);
		wc_frame_reader_free(&site->requests[i]);
	}
	wc_applier_stop(site->applier);
	wc_epochs_free(site->epochs);
	wc_locktable_free(site->locktable);
	kit_close(&site->kit);
	free(site->getcache);
	free(site);
	return 0;
}

/* Locks one-letter rows; what came of it as text: "a b! c+ d!- e* | 7": b has changed, c is
 * there, d is gone, e was written by itself, the next one is transaction 7's. */
static const char *
lock_with(Site *site, int session, WcLockMessage *m, const char *letters)
{
	static char text[256];
	WcSlice		rows[32];
	WcLockResult r;
	size_t		n = 0;

	m->table_id = site->kit.table;
	m->xid = (uint64_t) session + 1;
	if (m->subid == 0)
		m->subid = 1;
	if (m->mode == 0)
		m->mode = WC_LOCK_EXCLUSIVE;
	m->nrows = (uint32_t) strlen(letters);
	m->rows = rows;
	for (uint32_t i = 0; i < m->nrows; i++)
		rows[i] = wc_slice(letters + i, 1);
	wc_message_lock_encode(message(site, session), m);
	assert_ok(&site->kit, wc_message_locked_decode(ask(site, session, WC_MSG_LOCK), m, &r, &site->kit.err));
	text[0] = '\0';
	for (uint32_t i = 0; i < r.nlocked; i++)
		n += (size_t) snprintf(text + n, sizeof(text) - n, "%s%c%s%s%s", i > 0 ? " " : "", letters[i],
							   r.rows[i] & WC_LOCKED_CHANGED ? "!" : "", r.rows[i] & WC_LOCKED_EXISTS ? "+" : "",
							   r.rows[i] & WC_LOCKED_REWRITTEN ? "*" : r.rows[i] & WC_LOCKED_GONE ? "-" : "");
	if (r.holder != 0)
		snprintf(text + n, sizeof(text) - n, " | %d%s", (int) r.holder, r.has_weaker ? " weaker" : "");
	return text;
}

static const char *
lock(Site *site, int session, const char *letters)
{
	WcLockMessage m = {0};

	return lock_with(site, session, &m, letters);
}

/* Changed since a snapshot of that number? */
static const char *
lock_since(Site *site, int session, uint64_t snapshot, const char *letters)
{
	WcLockMessage m = {.snapshot = snapshot};

	return lock_with(site, session, &m, letters);
}

/* --- LOCK and UNLOCK ----------------------------------------------------------------- */

static void
rows_are_locked_up_to_one_that_is_not_free(void **state)
{
	WcLockMessage shared = {.mode = WC_LOCK_SHARE};
	WcLockMessage update = {.mode = WC_LOCK_NO_KEY_UPDATE};
	Site	   *site = *state;

	assert_string_equal(lock(site, 0, "ab"), "a b");
	assert_string_equal(lock(site, 1, "dcbae"), "d c | 1");
	assert_string_equal(lock(site, 2, "e"), "e");
	assert_string_equal(lock(site, 2, "c"), " | 2");
	end(site, 0);
	assert_string_equal(lock(site, 1, "bae"), "b a | 3");
	end(site, 1);
	end(site, 2);

	assert_string_equal(lock_with(site, 0, &shared, "a"), "a");
	assert_string_equal(lock_with(site, 1, &shared, "a"), "a");
	assert_string_equal(lock_with(site, 1, &update, "a"), " | 1 weaker");
	end(site, 0);
	assert_string_equal(lock_with(site, 2, &update, "a"), " | 2");
}

static void
a_subtransaction_unlocks(void **state)
{
	WcLockMessage inner = {.subid = 3};
	Site	   *site = *state;

	assert_string_equal(lock(site, 0, "a"), "a");
	assert_string_equal(lock_with(site, 0, &inner, "b"), "b");
	assert_int_equal(ask_number(site, 0, WC_MSG_UNLOCK, 4), 0);
	assert_string_equal(lock(site, 1, "b"), " | 1");
	assert_int_equal(ask_number(site, 0, WC_MSG_UNLOCK, 2), 0);
	assert_string_equal(lock(site, 1, "b"), "b");
	assert_string_equal(lock(site, 1, "a"), " | 1");

	/* no subtransaction has these */
	assert_int_equal(ask_number(site, 0, WC_MSG_UNLOCK, 0), 0);
	assert_int_equal(ask_number(site, 0, WC_MSG_UNLOCK, UINT64_MAX), 0);
	(void) message(site, 0);
	(void) ask(site, 0, WC_MSG_UNLOCK);
	assert_string_equal(lock(site, 1, "a"), " | 1");
}

static void
what_has_changed_since_the_snapshot_is_said(void **state)
{
	uint32_t	other_family = 2;
	WcLockMessage of_g = {.snapshot = 1,.nfamilies = 1,.families = &other_family};
	Site	   *site = *state;

	assert_string_equal(lock_since(site, 0, 1, "z"), "z");
	put(site, "a", "2");
	kit_delete(&site->kit, WC_DELETE_FAMILY, "b", 1, "", KIT_LATEST);
	put(site, "d", "1");
	write(site, 1);
	assert_int_equal(commit(site, 1, 0), 0);
	assert_string_equal(lock_since(site, 0, 1, "abcde"), "a! b!- c d! e");
	assert_string_equal(lock(site, 2, "b"), "b");
	end(site, 2);
	assert_string_equal(lock_with(site, 0, &of_g, "abcde"), "a b c d e");
	assert_string_equal(lock(site, 0, "abcde"), "a b c d e");
	assert_string_equal(lock_since(site, 0, 2, "abcde"), "a b c d e");

	/* what it writes itself is no change, also when others cannot see the table */
	put(site, "e", "1");
	kit_create(&site->kit, "new", WC_PACKING_CELL, 1);
	put(site, "a", "1");
	write(site, 0);
	assert_string_equal(lock_since(site, 0, 1, "a"), "a");
	site->kit.table--;
	assert_string_equal(lock_since(site, 0, 2, "ae"), "a e");
	assert_string_equal(lock_since(site, 0, 1, "ae"), "a! e");
}

/* A command's own writes, and later ones, not those that it sees. */
static void
own_later_writes_are_said(void **state)
{
	WcLockMessage m = {.tell_rewritten = true,.cid = 5};
	Site	   *site = *state;

	assert_string_equal(lock_with(site, 0, &m, "ab"), "a b");
	site->kit.cid = 4;
	put(site, "a", "1");
	put(site, "b", "1");
	site->kit.cid = 5;
	put(site, "c", "1");
	site->kit.cid = 7;
	put(site, "b", "1");
	write(site, 0);
	assert_string_equal(lock_with(site, 0, &m, "abcd"), "a b* c* d");
	m.cid = 8;
	assert_string_equal(lock_with(site, 0, &m, "abcd"), "a b c d");
}

/* Who must not meet a change does not wait for those who have the row. */
static void
a_change_ends_it_for_who_is_serializable(void **state)
{
	WcLockMessage m = {.snapshot = 1,.serializable = true};
	Site	   *site = *state;

	assert_string_equal(lock_with(site, 0, &m, "z"), "z");
	put(site, "b", "2");
	write(site, 1);
	assert_int_equal(commit(site, 1, 0), 0);
	assert_string_equal(lock(site, 1, "ab"), "a b");
	assert_string_equal(lock_with(site, 0, &m, "cba"), "c b!");
	assert_string_equal(lock_with(site, 0, &m, "abc"), " | 2");
	end(site, 1);
	assert_string_equal(lock_with(site, 0, &m, "abc"), "a b!");
}

/* Who comes to the same cells as before has changed them: the timestamps tell. */
static void
the_same_value_again_is_a_change(void **state)
{
	Site	   *site = *state;

	assert_string_equal(lock_since(site, 0, 1, "z"), "z");
	put(site, "a", "1");
	kit_delete(&site->kit, WC_DELETE_FAMILY, "not there", 1, "", KIT_LATEST);
	write(site, 1);
	assert_int_equal(commit(site, 1, 0), 0);
	assert_string_equal(lock_since(site, 0, 1, "ab"), "a! b");
	end(site, 0);

	/* the same cell, with a timestamp of its own, and a row whose hash may be another's */
	kit_put(&site->kit, "b", 1, "t", 5, "same");
	write(site, 1);
	assert_int_equal(commit(site, 1, 0), 0);
	assert_string_equal(lock_since(site, 0, 2, "z"), "z");
	kit_put(&site->kit, "b", 1, "t", 5, "same");
	write(site, 1);
	assert_int_equal(commit(site, 1, 0), 0);
	assert_string_equal(lock_since(site, 0, 2, "b"), "b");
	end(site, 0);
	assert_string_equal(lock_since(site, 0, 3, "z"), "z");
	kit_put(&site->kit, "b", 1, "t", 5, "other");
	write(site, 1);
	assert_int_equal(commit(site, 1, 0), 0);
	assert_string_equal(lock_since(site, 0, 3, "b"), "b!");
}

/* A row of several blocks, of which the last cell changes; and a commit of so many rows
 * that the engine tells of the table only. */
static void
large_rows_and_large_commits_are_compared(void **state)
{
	static char value[WC_BLOCK_MAX];
	Site	   *site = *state;
	char		row[16];

	memset(value, 'v', sizeof(value) - 1);
	for (char q[2] = "a"; q[0] < 'g'; q[0]++)
		kit_put(&site->kit, "a", 1, q, KIT_LATEST, value);
	write(site, 1);
	assert_int_equal(commit(site, 1, 0), 0);

	(void) ask_number(site, 0, WC_MSG_SNAPSHOT, 1);
	for (int i = 0; i < 5000; i++)
	{
		snprintf(row, sizeof(row), "other%d", i);
		put(site, row, "1");
	}
	write(site, 1);
	assert_int_equal(commit(site, 1, 0), 0);
	assert_string_equal(lock_since(site, 0, 1, "abc"), "a b c");
	end(site, 0);

	(void) ask_number(site, 0, WC_MSG_SNAPSHOT, 2);
	kit_put(&site->kit, "a", 2, "last", KIT_LATEST, "v");
	write(site, 1);
	assert_int_equal(commit(site, 1, 0), 0);
	assert_string_equal(lock_since(site, 0, 2, "ab"), "a! b");
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

	assert_string_equal(lock_with(site, 0, &all, "ad"), "a+ d");
	assert_string_equal(lock_with(site, 0, &of_f, "ad"), "a+ d");
	assert_string_equal(lock_with(site, 0, &of_g, "ad"), "a d");
	assert_string_equal(lock_with(site, 0, &early, "z"), "z");

	/* the newest state, and own writes of commands before */
	put(site, "e", "1");
	write(site, 1);
	assert_int_equal(commit(site, 1, 0), 0);
	site->kit.cid = 5;
	put(site, "d", "1");
	kit_delete(&site->kit, WC_DELETE_FAMILY, "b", 1, "", KIT_LATEST);
	write(site, 0);
	assert_string_equal(lock_with(site, 0, &all, "abde"), "a+ b d+ e+");
	assert_string_equal(lock_with(site, 0, &early, "abde"), "a+ b+ d e!+");
}

/* Rows that are there stay free, and are said to be there though others have them, unless
 * these may have made or deleted them. */
static void
only_rows_that_are_not_there_are_locked(void **state)
{
	WcLockMessage absent = {.only_absent = true,.cid = UINT32_MAX};
	WcLockMessage update = {.mode = WC_LOCK_NO_KEY_UPDATE};
	Site	   *site = *state;

	assert_string_equal(lock_with(site, 0, &absent, "adb"), "a+ d b+");
	assert_string_equal(lock(site, 1, "ab"), "a b");
	assert_string_equal(lock(site, 1, "d"), " | 1");
	assert_string_equal(lock_with(site, 2, &absent, "d"), " | 1");
	assert_string_equal(lock_with(site, 2, &absent, "a"), " | 2");
	end(site, 1);
	end(site, 0);

	assert_string_equal(lock_with(site, 0, &update, "ae"), "a e");
	assert_string_equal(lock_with(site, 2, &absent, "a"), "a+");
	assert_string_equal(lock_with(site, 2, &absent, "e"), " | 1");
	/* what the session had before it keeps */
	assert_string_equal(lock_with(site, 0, &absent, "ae"), "a+ e");
	assert_string_equal(lock(site, 1, "a"), " | 1");
	end(site, 0);
	assert_string_equal(lock(site, 1, "ae"), "a e");
}

/* --- COMMIT --------------------------------------------------------------------------- */

static void
a_commit_waits_for_who_has_its_rows(void **state)
{
	Site	   *site = *state;

	assert_string_equal(lock(site, 0, "b"), "b");
	put(site, "c", "2");
	put(site, "b", "2");
	put(site, "a", "2");
	write(site, 1);
	assert_true(commit(site, 1, 0) == 1);
	assert_string_equal(kit_scan(&site->kit, false), "a{f:q=1} b{f:q=1} c{f:q=1}");

	/* in the order of keys: what it has got it keeps, under the id that it gets */
	assert_string_equal(lock(site, 2, "c"), "c");
	assert_int_equal(commit(site, 1, 22), 1);
	assert_string_equal(lock(site, 2, "a"), " | 22");
	end(site, 0);
	assert_int_equal(commit(site, 1, 22), 3);
	end(site, 2);
	assert_int_equal(commit(site, 1, 22), 0);
	assert_string_equal(kit_scan(&site->kit, false), "a{f:q=2} b{f:q=2} c{f:q=2}");
	assert_string_equal(lock(site, 2, "abc"), "a b c");
}

/* What was locked for it before is not in its way, in whichever mode. */
static void
a_commit_needs_no_second_lock(void **state)
{
	WcLockMessage update = {.mode = WC_LOCK_NO_KEY_UPDATE};
	WcLockMessage shared = {.mode = WC_LOCK_SHARE};
	WcLockMessage key = {.mode = WC_LOCK_KEY_SHARE};
	Site	   *site = *state;

	assert_string_equal(lock_with(site, 0, &update, "a"), "a");
	assert_string_equal(lock_with(site, 1, &key, "a"), "a");
	put(site, "a", "2");
	write(site, 0);
	assert_int_equal(commit(site, 0, 1), 0);

	/* a lock that others share does not do */
	assert_string_equal(lock_with(site, 0, &shared, "b"), "b");
	assert_string_equal(lock_with(site, 1, &key, "b"), "b");
	put(site, "b", "2");
	write(site, 0);
	assert_int_equal(commit(site, 0, 1), 2);
	end(site, 1);
	assert_int_equal(commit(site, 0, 1), 0);
	assert_string_equal(kit_scan(&site->kit, false), "a{f:q=2} b{f:q=2} c{f:q=1}");
}

/* Rows of so many that a commit takes the table, if it can. */
static void
a_large_commit_takes_the_table(void **state)
{
	Site	   *site = *state;
	char		row[16];

	for (int round = 0; round < 2; round++)
	{
		if (round == 0)
			assert_string_equal(lock(site, 0, "x"), "x");
		for (int i = WC_LOCK_BATCH + 1; i-- > 0;)
		{
			snprintf(row, sizeof(row), "r%05d", i);
			put(site, row, "1");
		}
		put(site, "x", "1");
		write(site, 1);
		if (round == 0)
		{
			assert_int_equal(commit(site, 1, 22), 1);
			assert_int_equal(site->sessions[1].session.locks.nlocks, WC_LOCK_BATCH + 1);
			end(site, 0);
		}
		assert_int_equal(commit(site, 1, 22), 0);
		assert_int_equal(site->sessions[1].session.locks.nlocks, 0);
	}

	/* rolled back: nothing to lock */
	assert_string_equal(lock(site, 0, "x"), "x");
	put(site, "y", "1");
	put(site, "x", "1");
	write(site, 1);
	(void) ask_number(site, 1, WC_MSG_ROLLBACK_TO, 1);
	assert_int_equal(commit(site, 1, 0), 0);
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
try_number(Worker *w, uint8_t type, uint64_t number, uint64_t *result)
{
	uint8_t		answer;
	WcSlice		payload;
	WcError		err;

	wc_message_numbers_encode(message(w->site, w->session), &number, 1);
	payload = answer_of(w->site, w->session, type, &answer);
	return answer == WC_MSG_OK && wc_message_numbers_decode(payload, result, 1, &err) == WC_OK;
}

static bool
try_lock(Worker *w, const char *row)
{
	WcSlice		key = kit_s(row);
	WcLockMessage m = {
		.table_id = w->site->kit.table,.mode = WC_LOCK_NO_KEY_UPDATE,.xid = (uint64_t) w->session + 1,.subid = 1,
		.nrows = 1,.rows = &key
	};
	WcLockResult r = {.holder = 1};
	uint8_t		answer;
	WcError		err;

	while (r.holder != 0)
	{
		WcSlice		payload;

		wc_message_lock_encode(message(w->site, w->session), &m);
		payload = answer_of(w->site, w->session, WC_MSG_LOCK, &answer);
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
	uint8_t		answer;
	bool		good;

	wc_batch_init(&b, &ops);
	good = wc_batch_row_begin(&b, w->site->kit.table, 1, kit_s(row), 0, NULL, 0, NULL) == WC_OK &&
		wc_batch_put(&b, 1, kit_s("q"), KIT_LATEST, 0, kit_s("2"), NULL) == WC_OK &&
		wc_batch_row_end(&b, NULL) == WC_OK;
	wc_buf_append_varint(message(w->site, w->session), 1 << 30);
	wc_buf_append_slice(&w->site->requests[w->session].body, wc_buf_slice(&ops));
	(void) answer_of(w->site, w->session, WC_MSG_BATCH, &answer);
	wc_buf_free(&ops);
	return good;
}

/* Some lock what they write, some do not; all commit. */
static void *
worker_main(void *arg)
{
	static const char *const rows[] = {"a", "b", "c"};
	Worker	   *w = arg;

	for (int round = 0; round < ROUNDS && !w->wrong; round++)
	{
		int			row = (round * (w->session + 1)) % 3;
		uint64_t	holder = 1;
		uint64_t	xid = 0;

		if (round % 2 == 0)
		{
			w->wrong |= !try_lock(w, rows[row]);
			counts[row]++;
			w->done[row]++;
			xid = (uint64_t) w->session + 1;
		}
		else
		{
			row = 1;
			w->wrong |= !try_put(w, "c");
		}
		w->wrong |= !try_put(w, rows[row]);
		while (holder != 0 && !w->wrong)
		{
			w->wrong |= !try_number(w, WC_MSG_COMMIT, xid, &holder);
			xid = (uint64_t) w->session + 1;
		}
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
	assert_string_equal(lock(site, 0, "abc"), "a b c");
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

	wc_buf_append_slice(message(h->site, 2), bytes);
	(void) answer_of(h->site, 2, h->type, &answer);
	end(h->site, 2);
}

/* Whatever comes is refused or done; nothing is held by it afterwards. */
static void
nonsense_locks_nothing(void **state)
{
	uint32_t	families[] = {1, 2};
	WcSlice		rows[] = {kit_s("a"), kit_s("b")};
	WcLockMessage m = {
		.mode = WC_LOCK_SHARE,.only_absent = true,.xid = 5,.subid = 1,.snapshot = 3,.cid = 2,.nfamilies = 2,
		.families = families,.nrows = 2,.rows = rows
	};
	Site	   *site = *state;
	Hostile		h = {site, WC_MSG_LOCK};
	WcBuf		whole = WC_BUF_INIT;
	uint64_t	xid = 300;

	m.table_id = site->kit.table;
	wc_message_lock_encode(&whole, &m);
	wc_mangle_prefixes(wc_buf_slice(&whole), send_mangled, &h);
	wc_mangle_randomly(wc_buf_slice(&whole), 2000, send_mangled, &h);
	wc_buf_reset(&whole, SIZE_MAX);
	wc_message_numbers_encode(&whole, &xid, 1);
	h.type = WC_MSG_UNLOCK;
	wc_mangle_randomly(wc_buf_slice(&whole), 100, send_mangled, &h);
	h.type = WC_MSG_COMMIT;
	wc_mangle_randomly(wc_buf_slice(&whole), 100, send_mangled, &h);
	wc_buf_free(&whole);
	assert_string_equal(lock(site, 0, "ab"), "a b");
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

	/* an older one does not take it back; what is no commit changes nothing */
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_are_locked_up_to_one_that_is_not_free, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_subtransaction_unlocks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_has_changed_since_the_snapshot_is_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(own_later_writes_are_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_change_ends_it_for_who_is_serializable, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_same_value_again_is_a_change, set_up, tear_down),
		cmocka_unit_test_setup_teardown(large_rows_and_large_commits_are_compared, set_up, tear_down),
		cmocka_unit_test_setup_teardown(which_rows_exist_is_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_rows_that_are_not_there_are_locked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_commit_waits_for_who_has_its_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_commit_needs_no_second_lock, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_large_commit_takes_the_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sessions_take_turns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nonsense_locks_nothing, set_up, tear_down),
		cmocka_unit_test(stamps_never_forget_a_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
