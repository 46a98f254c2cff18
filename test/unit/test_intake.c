/*
 * test/unit/test_intake.c: from the log to the store (rpc/log/intake.h): commits without a waiting session, marks
 * (engine/write/mark.c), and an apply that fails for a while.
 */
#include "logsite.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "mangle.h"

/* --- a disk that takes nothing -------------------------------------------------------- */

static void
break_disk(Log *log)
{
	struct rlimit none = {.rlim_cur = 1,.rlim_max = log->limit.rlim_max};

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
}

static void
mend_disk(Log *log)
{
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &log->limit), 0);
}

static void
wait_stalled(Log *log, WcError *why)
{
	while (!wc_applier_stalled(log->applier, why))
		usleep(1000);
}

/* --- tests ---------------------------------------------------------------------------- */

static void
commits_are_applied_in_the_log_s_order(void **state)
{
	Log		   *log = *state;
	uint64_t	end_of_a;

	/* a transaction in two pieces, another in between, and a piece that was rolled back */
	kit_put(&log->kit, "a", 1, "q", WC_TS_LATEST, "10");
	end_of_a = log_batch(log, 10, WC_RECORD_NO_PLACE, 0);
	log_put(log, 11, WC_RECORD_NO_PLACE, "b", "11");
	kit_put(&log->kit, "c", 1, "q", WC_TS_LATEST, "no");
	(void) log_batch(log, 10, WC_RECORD_NO_PLACE, end_of_a);
	kit_put(&log->kit, "b", 1, "q", WC_TS_LATEST, "10");
	(void) log_batch(log, 10, WC_RECORD_NO_PLACE, end_of_a);
	log_put(log, 12, WC_RECORD_NO_PLACE, "d", "12");
	log_commit(log, 11, 200);
	log_commit(log, 10, 210);
	wc_intake_abort(log->intake, 12);
	log_commit(log, 12, 220);		/* of which nothing is left */
	wait_applied(log, 210);
	assert_string_equal(kit_scan(&log->kit, false), "a{f:q=10} b{f:q=10}");
	assert_int_equal(wc_engine_applied_position(log->kit.engine), 210);

	/* read once more, after a start: passed over */
	start_again(log);
	log_put(log, 11, WC_RECORD_NO_PLACE, "b", "11");
	log_commit(log, 11, 200);
	log_put(log, 13, WC_RECORD_NO_PLACE, "e", "13");
	wc_intake_running(log->intake, 14, NULL, 0);
	log_commit(log, 13, 230);
	log_put(log, 15, WC_RECORD_NO_PLACE, "f", "15");
	log_commit(log, 15, 240);
	wait_applied(log, 240);
	assert_string_equal(kit_scan(&log->kit, false), "a{f:q=10} b{f:q=10} f{f:q=15}");
}

/* Readers and other writers may go on when a commit can be seen, or will never be. */
static void
places_and_row_locks_go_with_the_commit(void **state)
{
	Log		   *log = *state;
	WcLockRequest request = {.table_id = log->kit.table,.mode = WC_LOCK_EXCLUSIVE,.enough = WC_LOCK_EXCLUSIVE,.subid = 1};
	uint16_t	places[3];

	for (uint64_t xid = 20; xid < 23; xid++)
	{
		WcLockOwner *owner = wc_lock_enter(log->locktable, xid);
		WcLockHolder holder;
		char		row[2] = {(char) ('a' + xid - 20), '\0'};

		request.xid = xid;
		assert_ok(&log->kit, wc_lock_acquire(log->locktable, owner, &request, kit_s(row), &holder, &log->kit.err));
		assert_int_equal(holder.xid, 0);
		assert_int_equal(wc_lock_leave(log->locktable, owner), xid);
		places[xid - 20] = wc_flight_take(log->flight, xid, KIT_DATABASE, false, WC_FLIGHT_NONE);
		log_put(log, xid, xid == 20 ? places[0] : WC_RECORD_NO_PLACE, row, "1");
	}
	log_commit(log, 20, 300);
	log_commit(log, 21, 310);
	wait_applied(log, 310);
	wc_intake_abort(log->intake, 22);
	wait_idle(log);
	for (uint64_t xid = 20; xid < 23; xid++)
	{
		WcLockOwner *owner = wc_lock_enter(log->locktable, xid);

		assert_int_equal(owner->nlocks, 0);
		assert_int_equal(wc_lock_leave(log->locktable, owner), 0);
	}
}

static void
a_mark_carries_what_is_under_way(void **state)
{
	static char large[3 << 20];
	Log		   *log = *state;
	uint64_t	end_of_it;

	assert_int_equal(log_load(log), 100);
	memset(large, 'x', sizeof(large) - 1);
	kit_put(&log->kit, "a", 1, "q", WC_TS_LATEST, large);
	(void) log_batch(log, 30, WC_RECORD_NO_PLACE, 0);
	kit_put(&log->kit, "b", 1, "q", WC_TS_LATEST, "31");
	end_of_it = log_batch(log, 31, 5, 0);
	log_put(log, 32, WC_RECORD_NO_PLACE, "c", "32");
	log_commit(log, 32, 400);
	log_mark(log, 400);
	start_again(log);
	assert_int_equal(log_load(log), 400);

	kit_put(&log->kit, "b", 1, "r", WC_TS_LATEST, "31");
	(void) log_batch(log, 31, 5, end_of_it);
	log_commit(log, 31, 410);
	wait_applied(log, 410);
	assert_string_equal(kit_scan(&log->kit, false), "b{f:q=31 f:r=31} c{f:q=32}");

	/* the next mark has it no more */
	log_mark(log, 410);
	start_again(log);
	assert_int_equal(log_load(log), 410);
	log_commit(log, 31, 420);
	log_commit(log, 30, 430);
	wait_applied(log, 430);
	kit_delete(&log->kit, WC_DELETE_COLUMN, "b", 1, "q", WC_TS_LATEST);
	(void) log_batch(log, 33, WC_RECORD_NO_PLACE, 0);
	log_commit(log, 33, 440);
	wait_applied(log, 440);
	assert_int_equal(strncmp(kit_scan(&log->kit, false), "a{f:q=xxxx", 10), 0);

	/* and of none, when nothing is under way */
	log_mark(log, 440);
	start_again(log);
	assert_int_equal(log_load(log), 440);
	log_commit(log, 30, 450);
	assert_int_equal(wc_engine_applied_position(log->kit.engine), 440);
}

static uint64_t
has_row(Log *log, uint64_t xid, const char *row)
{
	WcLockRequest request = {
		.table_id = log->kit.table,.mode = WC_LOCK_NO_KEY_UPDATE,.enough = WC_LOCK_NO_KEY_UPDATE,.xid = xid,.subid = 1
	};
	WcLockOwner *owner = wc_lock_enter(log->locktable, xid);
	WcLockHolder holder;

	wc_lock_look(log->locktable, owner, &request, kit_s(row), &holder);
	(void) wc_lock_leave(log->locktable, owner);
	return holder.xid;
}

static void
lock_op(Log *log, WcRowLockMode mode, const char *row)
{
	WcBatchBuilder b;

	wc_batch_init(&b, &log->kit.ops);
	assert_ok(&log->kit, wc_batch_lock(&b, log->kit.table, mode, kit_s(row), &log->kit.err));
}

/* How often wc_intake_restore_locks may still go on. */
static int	goes_on = INT_MAX;

static bool
go_on(void)
{
	return goes_on-- > 0;
}

/* As PREPARE TRANSACTION: a row that is put, and one that is only locked. */
static void
prepare(Log *log, uint64_t xid, uint16_t place, const char *row, const char *locked)
{
	kit_put(&log->kit, row, 1, "q", WC_TS_LATEST, "prepared");
	lock_op(log, WC_LOCK_EXCLUSIVE, row);
	lock_op(log, WC_LOCK_SHARE, locked);
	(void) log_batch(log, xid, place, 0);
	wc_intake_prepare(log->intake, xid);
}

static void
prepared_transactions_survive_the_engine(void **state)
{
	static const uint64_t running[] = {60, 62};
	Log		   *log = *state;
	uint16_t	place = wc_flight_take(log->flight, 60, KIT_DATABASE, false, 3);

	prepare(log, 60, place, "a", "b");
	assert_int_equal(wc_flight_state(log->flight, place, 60), WC_FLIGHT_PREPARED);
	log_put(log, 61, WC_RECORD_NO_PLACE, "c", "crashed");
	log_mark(log, 700);
	prepare(log, 62, WC_RECORD_NO_PLACE, "d", "b");
	assert_int_equal(wc_intake_nprepared(log->intake), 2);

	/* another server: shared memory is new */
	start_again(log);
	assert_true(wc_flight_free(log->flight, place, 60));
	assert_int_equal(log_load(log), 700);
	assert_int_equal(wc_intake_nprepared(log->intake), 1);
	prepare(log, 62, WC_RECORD_NO_PLACE, "d", "b");	/* behind the mark, so it is read once more */
	wc_intake_running(log->intake, 63, running, 2);
	wc_intake_take_places(log->intake, false);
	assert_ok(&log->kit, wc_intake_restore_locks(log->intake, go_on, &log->kit.err));
	assert_int_equal(wc_flight_count(log->flight), 2);
	assert_int_equal(wc_flight_state(log->flight, wc_flight_find(log->flight, 60), 60), WC_FLIGHT_PREPARED);
	assert_int_equal(has_row(log, 70, "a"), 60);
	assert_int_not_equal(has_row(log, 70, "b"), 0);
	assert_int_equal(has_row(log, 70, "c"), 0);
	assert_int_equal(has_row(log, 70, "d"), 62);

	/* another engine alone: the places are there */
	log_mark(log, 710);
	start_again(log);
	assert_int_equal(log_load(log), 710);
	wc_intake_take_places(log->intake, false);
	assert_ok(&log->kit, wc_intake_restore_locks(log->intake, go_on, &log->kit.err));
	assert_int_equal(wc_flight_count(log->flight), 2);
	assert_string_equal(kit_scan(&log->kit, false), "");

	log_commit(log, 60, 720);
	wait_applied(log, 720);
	wc_intake_abort(log->intake, 62);
	wait_idle(log);
	for (const char *row = "abcd"; *row != '\0'; row++)
	{
		char		name[2] = {*row, '\0'};

		assert_int_equal(has_row(log, 70, name), 0);
	}
	assert_int_equal(wc_intake_nprepared(log->intake), 0);
	assert_string_equal(kit_scan(&log->kit, false), "a{f:q=prepared}");
}

/* A standby that starts has no places for what its log began before. */
static void
a_standby_gets_places_for_all_that_is_under_way(void **state)
{
	Log		   *log = *state;

	log_put(log, 80, WC_RECORD_NO_PLACE, "a", "80");
	log_mark(log, 800);
	start_again(log);
	assert_int_equal(log_load(log), 800);
	wc_intake_take_places(log->intake, false);
	assert_true(wc_flight_idle(log->flight));
	wc_intake_take_places(log->intake, true);
	wc_intake_take_places(log->intake, true);
	assert_int_equal(wc_flight_count(log->flight), 1);
	log_commit(log, 80, 810);
	wait_idle(log);
	assert_string_equal(kit_scan(&log->kit, false), "a{f:q=80}");
}

/* It has nothing to apply. */
static void
a_transaction_that_has_only_locked_may_be_prepared(void **state)
{
	Log		   *log = *state;

	lock_op(log, WC_LOCK_EXCLUSIVE, "");
	(void) log_batch(log, 90, WC_RECORD_NO_PLACE, 0);
	wc_intake_prepare(log->intake, 90);
	wc_intake_take_places(log->intake, false);
	assert_ok(&log->kit, wc_intake_restore_locks(log->intake, go_on, &log->kit.err));
	assert_int_equal(has_row(log, 91, "any"), 90);
	log_commit(log, 90, 900);
	assert_int_equal(has_row(log, 91, "any"), 0);
	assert_true(wc_flight_idle(log->flight));
	assert_int_equal(wc_engine_applied_position(log->kit.engine), 101);
}

/* Commits in the log are applied in order, although the disk refuses writes for a while. */
static void
an_apply_that_fails_is_tried_again(void **state)
{
	Log		   *log = *state;
	WcError		why;
	uint64_t	commits;
	uint64_t	bytes;

	break_disk(log);
	for (uint64_t xid = 40; xid < 44; xid++)
	{
		char		value[8];

		snprintf(value, sizeof(value), "%d", (int) xid);
		log_put(log, xid, WC_RECORD_NO_PLACE, "a", value);
		log_commit(log, xid, 500 + xid);
	}
	assert_ok(&log->kit, wc_intake_mark(log->intake, 543, &log->kit.err));
	wait_stalled(log, &why);
	assert_int_equal(why.status, WC_IO);
	assert_non_null(strstr(why.message, "could not write a commit to stored table \"t\""));
	wc_applier_backlog(log->applier, &commits, &bytes);
	assert_int_equal(commits, 4);
	assert_true(bytes > 0);
	assert_string_equal(kit_scan(&log->kit, false), "");
	mend_disk(log);
	wait_applied(log, 543);
	while (wc_applier_marked(log->applier) != 543)
		usleep(1000);
	assert_string_equal(kit_scan(&log->kit, false), "a{f:q=43}");
	assert_false(wc_applier_stalled(log->applier, &why));
	wc_applier_backlog(log->applier, &commits, &bytes);
	assert_int_equal(commits, 0);
}

/* Commits that were not applied are still in the log, and are read again from the last mark. */
static void
a_stop_does_not_wait_for_the_disk(void **state)
{
	Log		   *log = *state;
	WcError		why;

	log_mark(log, 600);
	break_disk(log);
	log_put(log, 50, WC_RECORD_NO_PLACE, "a", "50");
	log_commit(log, 50, 610);
	wait_stalled(log, &why);
	log_put(log, 51, WC_RECORD_NO_PLACE, "b", "51");
	log_commit(log, 51, 620);
	assert_ok(&log->kit, wc_intake_mark(log->intake, 620, &log->kit.err));
	stop_engine(log);
	mend_disk(log);
	kit_reopen(&log->kit);
	start_engine(log);
	assert_int_equal(log_load(log), 600);
	assert_string_equal(kit_scan(&log->kit, false), "");
	log_put(log, 50, WC_RECORD_NO_PLACE, "a", "50");
	log_commit(log, 50, 610);
	log_put(log, 51, WC_RECORD_NO_PLACE, "b", "51");
	log_commit(log, 51, 620);
	wait_applied(log, 620);
	assert_string_equal(kit_scan(&log->kit, false), "a{f:q=50} b{f:q=51}");
}

/* --- large transactions ----------------------------------------------------------------- */

#define XIDS 6
#define ROWS 12
#define OPS_MAX 200
#define RECORDS_MAX 4000

/* What a transaction has written, as its stream has it. */
typedef struct Model
{
	struct
	{
		uint64_t	begins;
		int			row;
		unsigned	value;
	}			ops[OPS_MAX];
	int			nops;
	uint64_t	end;
	bool		open;
} Model;

/* A record of the log. */
typedef struct Record
{
	uint64_t	position;
	uint64_t	xid;
	uint64_t	at;
	char		kind;			/* Batch, Commit, Abort */
	uint32_t	len;
	uint8_t		bytes[256];
} Record;

static Record records[RECORDS_MAX];
static int	nrecords;
static Model models[XIDS];
static unsigned rows[ROWS];		/* 0: there is none */
static uint64_t last_position;

static void
feed(Log *log, const Record *r)
{
	WcLogRecord batch = {
		.kind = WC_RECORD_BATCH,.store = STORE,.place = WC_RECORD_NO_PLACE,.database = KIT_DATABASE,.xid = r->xid,
		.at = r->at,.bytes = wc_slice(r->bytes, r->len)
	};

	if (r->kind == 'B')
		assert_ok(&log->kit, wc_intake_batch(log->intake, &batch, r->position, &log->kit.err));
	else if (r->kind == 'C')
		log_commit(log, r->xid, r->position);
	else
		wc_intake_abort(log->intake, r->xid);
}

static void
record(Log *log, char kind, uint64_t xid, uint64_t at, WcSlice bytes)
{
	Record	   *r = &records[nrecords++];

	assert_true(nrecords < RECORDS_MAX && bytes.len <= sizeof(r->bytes));
	last_position += 1 + wc_mangle_random(5);
	*r = (Record) {.position = last_position,.xid = xid,.at = at,.kind = kind,.len = (uint32_t) bytes.len};
	if (bytes.len > 0)
		memcpy(r->bytes, bytes.data, bytes.len);
	feed(log, r);
}

/* One operation more, perhaps behind a cut, in one record or in two. */
static void
write_more(Log *log, uint64_t xid, Model *m)
{
	static unsigned last_value;
	char		row[16];
	char		value[64];
	WcSlice		bytes;
	size_t		part;

	if (m->nops > 0 && wc_mangle_random(12) == 0)
	{
		m->nops = (int) wc_mangle_random((uint32_t) m->nops);
		m->end = m->ops[m->nops].begins;
	}
	if (m->nops == OPS_MAX)
		return;
	m->ops[m->nops].begins = m->end;
	m->ops[m->nops].row = (int) wc_mangle_random(ROWS);
	m->ops[m->nops].value = ++last_value;
	snprintf(row, sizeof(row), "%c", 'a' + m->ops[m->nops].row);
	snprintf(value, sizeof(value), "%u", last_value);
	kit_put(&log->kit, row, 1, "q", WC_TS_LATEST, value);
	bytes = wc_buf_slice(&log->kit.ops);
	part = wc_mangle_random((uint32_t) bytes.len + 1);
	record(log, 'B', xid, m->end, wc_slice(bytes.data, part));
	if (part < bytes.len)
		record(log, 'B', xid, m->end + part, wc_slice(bytes.data + part, bytes.len - part));
	m->end += bytes.len;
	m->nops++;
	m->open = true;
	wc_buf_reset(&log->kit.ops, SIZE_MAX);
}

static void
end_one(Log *log, uint64_t xid, Model *m, bool commits)
{
	if (commits)
		record(log, 'B', xid, m->end, wc_slice(NULL, 0));
	record(log, commits ? 'C' : 'A', xid, 0, wc_slice(NULL, 0));
	for (int i = 0; commits && i < m->nops; i++)
		rows[m->ops[i].row] = m->ops[i].value;
	*m = (Model) {0};
}

/* The log is read again from where the last mark says. */
static void
start_from_mark(Log *log)
{
	uint64_t	from;

	stop_engine(log);
	if (wc_mangle_random(2) == 0)
		kit_crash(&log->kit);
	else
		kit_reopen(&log->kit);
	start_engine(log);
	from = log_load(log);
	for (int i = 0; i < nrecords; i++)
	{
		if (records[i].position > from)
			feed(log, &records[i]);
	}
}

static void
assert_rows(Log *log)
{
	char		text[4096] = "";
	uint64_t	commits = 1;
	uint64_t	bytes;

	while (commits > 0)
	{
		wc_applier_backlog(log->applier, &commits, &bytes);
		usleep(500);
	}
	for (int i = 0; i < ROWS; i++)
	{
		size_t		len = strlen(text);

		if (rows[i] != 0)
			snprintf(text + len, sizeof(text) - len, "%s%c{f:q=%u}", len > 0 ? " " : "", 'a' + i, rows[i]);
	}
	assert_string_equal(kit_scan(&log->kit, false), text);
}

/* Transactions go into the store while they are under way, and to files when they commit. */
static void
large_transactions_are_as_small_ones(void **state)
{
	Log		   *log = *state;

	stop_engine(log);
	log->pending_memory = 300;
	start_engine(log);
	assert_int_equal(log_load(log), 100);
	last_position = 200;
	while (nrecords < RECORDS_MAX - 10)
	{
		int			i = (int) wc_mangle_random(XIDS);
		uint64_t	xid = 100 + (uint64_t) i;

		if (wc_mangle_random(60) == 0 && models[i].open)
			end_one(log, xid, &models[i], wc_mangle_random(4) != 0);
		else
			write_more(log, xid, &models[i]);
		if (wc_mangle_random(300) == 0)
			start_from_mark(log);
		if (wc_mangle_random(100) == 0)
			assert_rows(log);
	}
	assert_rows(log);
	assert_true(log_load(log) > 1000);
}

/* --- a large prepared transaction --------------------------------------------------------- */

#define LARGE_ROWS 180
#define LARGE_VALUE 100003		/* so that pieces end amid operations */

/* The name of a row, and its value. */
static void
large_row(int i, char *row, char *value)
{
	snprintf(row, 8, "r%03d", i);
	memset(value, 'a' + i % 26, LARGE_VALUE);
	value[LARGE_VALUE] = '\0';
}

/* Rows, each with its lock, in records as the log has them; *at: where the next one begins. */
static void
write_large(Log *log, uint64_t xid, int from, int to, uint64_t *at, uint64_t position)
{
	static char value[LARGE_VALUE + 1];
	char		row[8];
	WcSlice		rest;

	for (int i = from; i < to; i++)
	{
		large_row(i, row, value);
		kit_put(&log->kit, row, 1, "q", WC_TS_LATEST, value);
		lock_op(log, WC_LOCK_EXCLUSIVE, row);
	}
	rest = wc_buf_slice(&log->kit.ops);
	while (rest.len > 0)
	{
		size_t		n = rest.len < WC_BATCH_CHUNK ? rest.len : WC_BATCH_CHUNK;
		WcLogRecord r = {
			.kind = WC_RECORD_BATCH,.store = STORE,.place = WC_RECORD_NO_PLACE,.database = KIT_DATABASE,.xid = xid,
			.at = *at,.bytes = wc_slice(rest.data, n)
		};

		assert_ok(&log->kit, wc_intake_batch(log->intake, &r, position, &log->kit.err));
		*at += n;
		rest = wc_slice(rest.data + n, rest.len - n);
	}
	wc_buf_reset(&log->kit.ops, SIZE_MAX);
}

static void
assert_large_locks(Log *log, uint64_t xid)
{
	static char value[LARGE_VALUE + 1];
	char		row[8];

	for (int i = 0; i < LARGE_ROWS; i++)
	{
		large_row(i, row, value);
		assert_int_equal(has_row(log, 1000, row), xid);
	}
	assert_int_equal(has_row(log, 1000, "only locked"), xid);
	assert_int_equal(has_row(log, 1000, "other"), 0);
}

static void
assert_large_rows(Log *log)
{
	static char value[LARGE_VALUE + 1];
	char		name[8];
	WcReadPoint at = kit_point(&log->kit, false);
	WcScanner  *scanner;
	WcScan		scan;
	WcBuf		block = WC_BUF_INIT;
	WcStatus	status = WC_OK;
	int			nrows = 0;
	int			ncells = 0;

	wc_scan_init(&scan, log->kit.table);
	assert_ok(&log->kit, wc_scanner_open(wc_engine_storage(log->kit.engine), &scan, &at, &scanner, &log->kit.err));
	while (status == WC_OK)
	{
		WcBlockReader reader;
		WcBlockEntry entry;
		WcSlice		row;
		WcCell		cell;
		uint32_t	colno;

		wc_buf_reset(&block, SIZE_MAX);
		status = wc_scanner_next(scanner, &block, WC_BLOCK_FIRST, 0, &log->kit.err);
		assert_true(status == WC_OK || status == WC_END);
		assert_ok(&log->kit, wc_block_open(&reader, wc_buf_slice(&block), &log->kit.err));
		while ((entry = wc_block_next(&reader, &row, &cell, &colno)) != WC_BLOCK_DONE)
		{
			assert_int_not_equal(entry, WC_BLOCK_CORRUPT);
			large_row(entry == WC_BLOCK_ROW ? nrows++ : ncells++, name, value);
			assert_true(wc_slice_eq(entry == WC_BLOCK_ROW ? row : cell.value, kit_s(entry == WC_BLOCK_ROW ? name : value)));
		}
	}
	assert_int_equal(nrows, LARGE_ROWS);
	assert_int_equal(ncells, LARGE_ROWS);
	wc_scanner_close(scanner);
	wc_buf_free(&block);
}

/* Most of its stream is in the store alone, and its LOCK operations lie there too. */
static void
a_large_prepared_transaction_survives_the_engine(void **state)
{
	Log		   *log = *state;
	uint64_t	at = 0;

	stop_engine(log);
	log->pending_memory = WC_PENDING_MEMORY;
	start_engine(log);
	assert_int_equal(log_load(log), 100);
	write_large(log, 200, 0, LARGE_ROWS - 5, &at, 1000);
	assert_true(at > WC_PENDING_MEMORY);
	while (wc_applier_marked(log->applier) != 1000)
		usleep(1000);			/* beyond the bound a mark was made */

	/* the engine starts again before the transaction is prepared; the log after that mark is read again */
	assert_ok(&log->kit, wc_engine_sync(log->kit.engine, &log->kit.err));
	start_again(log);
	assert_int_equal(log_load(log), 1000);
	assert_int_equal(wc_intake_nprepared(log->intake), 0);
	at = 0;
	write_large(log, 200, 0, LARGE_ROWS - 5, &at, 1001);
	write_large(log, 200, LARGE_ROWS - 5, LARGE_ROWS, &at, 1002);
	lock_op(log, WC_LOCK_EXCLUSIVE, "only locked");
	(void) log_batch(log, 200, WC_RECORD_NO_PLACE, at);

	/* further ones beside it: none is refused, since an engine that refused what is in the log could not read on */
	for (uint64_t xid = 201; xid < 205; xid++)
	{
		at = 0;
		write_large(log, xid, 0, LARGE_ROWS, &at, 1003);
	}
	log_mark(log, 1010);
	wc_intake_prepare(log->intake, 200);	/* the mark has all its bytes, and does not say so */
	log_mark(log, 1020);

	for (int round = 0; round < 2; round++)
	{
		if (round == 0)
			start_again(log);
		else
		{
			stop_engine(log);
			kit_crash(&log->kit);
			start_engine(log);
		}
		assert_int_equal(log_load(log), 1020);
		assert_int_equal(wc_intake_nprepared(log->intake), 1);
		wc_intake_take_places(log->intake, false);
		goes_on = 3;			/* the engine is to stop meanwhile */
		assert_int_equal(wc_intake_restore_locks(log->intake, go_on, &log->kit.err), WC_SHUTDOWN);
		goes_on = INT_MAX;
		assert_ok(&log->kit, wc_intake_restore_locks(log->intake, go_on, &log->kit.err));
		assert_large_locks(log, 200);
	}
	assert_string_equal(kit_scan(&log->kit, false), "");
	for (uint64_t xid = 201; xid < 205; xid++)
		wc_intake_abort(log->intake, xid);
	log_commit(log, 200, 1030);
	wait_applied(log, 1030);
	assert_large_rows(log);
	wait_idle(log);
	assert_int_equal(has_row(log, 1000, "r000"), 0);
	assert_int_equal(wc_intake_nprepared(log->intake), 0);

	/* nothing of it is left behind the next mark */
	log_mark(log, 1040);
	start_again(log);
	assert_int_equal(log_load(log), 1040);
	log_commit(log, 200, 1050);
	assert_int_equal(wc_engine_applied_position(log->kit.engine), 1030);
}

/* A mark has it, so the applier makes it: it has nothing to apply either. */
static void
a_marked_transaction_that_has_only_locked_may_be_prepared(void **state)
{
	Log		   *log = *state;

	lock_op(log, WC_LOCK_EXCLUSIVE, "a");
	(void) log_batch(log, 210, WC_RECORD_NO_PLACE, 0);
	wc_intake_prepare(log->intake, 210);
	log_mark(log, 1100);
	start_again(log);
	assert_int_equal(log_load(log), 1100);
	wc_intake_take_places(log->intake, false);
	assert_ok(&log->kit, wc_intake_restore_locks(log->intake, go_on, &log->kit.err));
	assert_int_equal(has_row(log, 1000, "a"), 210);
	log_commit(log, 210, 1110);
	wait_applied(log, 1110);
	wait_idle(log);
	assert_int_equal(has_row(log, 1000, "a"), 0);
	assert_int_equal(wc_engine_applied_position(log->kit.engine), 101);
}

/* --- answers in advance ------------------------------------------------------------------- */

/* The applier answers the Get of a row that it has written, if the table is read. */
static void
a_row_that_was_written_is_answered(void **state)
{
	Log		   *log = *state;
	WcRange		range = {kit_s("r"), kit_s("r"), true, true};
	WcBuf		get = WC_BUF_INIT;
	WcBuf		found = WC_BUF_INIT;
	WcScan		scan;

	wc_scan_init(&scan, log->kit.table);
	scan.nranges = 1;
	scan.ranges = &range;
	wc_scan_encode(&get, &scan);
	wc_answers_asked(wc_epochs_answers(log->epochs), KIT_DATABASE, &scan, wc_buf_slice(&get), 100);
	log_put(log, 300, wc_flight_take(log->flight, 300, KIT_DATABASE, false, WC_FLIGHT_NONE), "r", "value");
	log_commit(log, 300, 1000);
	while (wc_getcache_find(log->getcache, wc_getcache_epoch(log->getcache), log->kit.table, range.start, wc_buf_slice(&get), kit_now,
							&found) != WC_GET_FOUND)
		usleep(1000);
	/* the answer may come before the commit is seen as applied */
	wait_idle(log);
	assert_int_equal(wc_engine_applied_position(log->kit.engine), 1000);
	wc_buf_free(&get);
	wc_buf_free(&found);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(commits_are_applied_in_the_log_s_order, log_set_up, log_tear_down),
		cmocka_unit_test_setup_teardown(places_and_row_locks_go_with_the_commit, log_set_up, log_tear_down),
		cmocka_unit_test_setup_teardown(a_mark_carries_what_is_under_way, log_set_up, log_tear_down),
		cmocka_unit_test_setup_teardown(prepared_transactions_survive_the_engine, log_set_up, log_tear_down),
		cmocka_unit_test_setup_teardown(a_standby_gets_places_for_all_that_is_under_way, log_set_up, log_tear_down),
		cmocka_unit_test_setup_teardown(a_transaction_that_has_only_locked_may_be_prepared, log_set_up, log_tear_down),
		cmocka_unit_test_setup_teardown(an_apply_that_fails_is_tried_again, log_set_up, log_tear_down),
		cmocka_unit_test_setup_teardown(a_stop_does_not_wait_for_the_disk, log_set_up, log_tear_down),
		cmocka_unit_test_setup_teardown(large_transactions_are_as_small_ones, log_set_up, log_tear_down),
		cmocka_unit_test_setup_teardown(a_large_prepared_transaction_survives_the_engine, log_set_up, log_tear_down),
		cmocka_unit_test_setup_teardown(a_marked_transaction_that_has_only_locked_may_be_prepared, log_set_up, log_tear_down),
		cmocka_unit_test_setup_teardown(a_row_that_was_written_is_answered, log_set_up, log_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
