/*
 * test/unit/test_getcache.c: answers to Gets in shared memory (wire/shared/getcache.h): a lookup returns the answer that was kept,
 * and only in epochs in which it is valid.
 */
#include "enginekit.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define TABLE	7
#define NOW		1000
#define READER	0
#define READERS 8
#define LARGE	(1 << 20)

/* Room for one page's worth of answers. */
#define ONE_PAGE	20000

static WcGetCache *cache;
static WcBuf found;

static int
set_up(void **state)
{
	seed(state);
	cache = kit_getcache(LARGE, READERS);
	wc_buf_init(&found, 0);
	return 0;
}

static int
tear_down(void **state)
{
	(void) state;
	free(cache);
	wc_buf_free(&found);
	return 0;
}

static void
set_up_anew(uint64_t bytes)
{
	free(cache);
	cache = kit_getcache(bytes, READERS);
}

static void
keep(const char *row, const char *get, const char *answer)
{
	wc_getcache_add(cache, WC_GET_ASKED, wc_getcache_epoch(cache), TABLE, kit_s(row), kit_s(get), kit_s(answer), 0,
					INT64_MAX);
}

/* The answer that is found in an epoch; NULL: none. */
static const char *
find_in(uint64_t epoch, const char *row, const char *get)
{
	wc_buf_reset(&found, SIZE_MAX);
	if (wc_getcache_find(cache, epoch, TABLE, kit_s(row), kit_s(get), NOW, &found) != WC_GET_FOUND)
	{
		assert_int_equal(found.len, 0);
		return NULL;
	}
	wc_buf_append_u8(&found, '\0');
	return (const char *) found.data;
}

static const char *
find(const char *row, const char *get)
{
	return find_in(wc_getcache_epoch(cache), row, get);
}

static void
commit_to(const char *row)
{
	wc_getcache_touch_row(cache, TABLE, kit_s(row));
	wc_getcache_begin(cache);
	wc_getcache_end(cache);
}

/* --- finding answers ----------------------------------------------------------*/

static void
what_was_kept_is_found(void **state)
{
	(void) state;
	assert_null(find("row", "get"));
	keep("row", "get", "answer");
	keep("row", "another get", "");
	keep("row", "a get of many bytes that fill no word", "an answer of many bytes that fill no word");
	assert_string_equal(find("row", "get"), "answer");
	assert_string_equal(find("row", "another get"), "");
	assert_string_equal(find("row", "a get of many bytes that fill no word"), "an answer of many bytes that fill no word");
	assert_null(find("row", "ge"));
	assert_null(find("row", "get "));
	assert_null(find("rov", "get"));

	keep("row", "get", "another answer");
	assert_string_equal(find("row", "get"), "another answer");
}

/* All answers to Gets of a row, as "get=answer", one behind the other. */
static const char *
find_all(const char *row, int64_t now_us)
{
	WcBuf		get = WC_BUF_INIT;
	WcBuf		answer = WC_BUF_INIT;
	uint32_t	next = 0;

	wc_buf_reset(&found, SIZE_MAX);
	while (wc_getcache_find_any(cache, TABLE, kit_s(row), now_us, &next, &get, &answer))
	{
		wc_buf_append_slice(&found, wc_buf_slice(&get));
		wc_buf_append_u8(&found, '=');
		wc_buf_append_slice(&found, wc_buf_slice(&answer));
		wc_buf_append_u8(&found, ' ');
		get.len = answer.len = 0;
	}
	assert_int_equal(get.len, 0);
	assert_int_equal(answer.len, 0);
	wc_buf_append_u8(&found, '\0');
	wc_buf_free(&get);
	wc_buf_free(&answer);
	return (const char *) found.data;
}

static void
answers_to_any_get_of_a_row(void **state)
{
	(void) state;
	set_up_anew(ONE_PAGE);
	assert_string_equal(find_all("row", NOW), "");
	keep("row", "all columns", "1, 2, 3");
	keep("other", "all columns", "4, 5, 6");
	wc_getcache_add(cache, WC_GET_ASKED, wc_getcache_epoch(cache), TABLE, kit_s("row"), kit_s("key"), kit_s(""), 0, NOW + 1);
	assert_string_equal(find_all("row", NOW), "all columns=1, 2, 3 key= ");
	assert_string_equal(find_all("row", NOW + 1), "all columns=1, 2, 3 ");
	assert_string_equal(find_all("other", NOW), "all columns=4, 5, 6 ");
	assert_string_equal(find_all("third", NOW), "");
	commit_to("row");
	assert_string_equal(find_all("row", NOW), "");
}

static void
rows_are_unchanged_until_they_are_written(void **state)
{
	uint64_t	before = wc_getcache_epoch(cache);
	uint64_t	then;

	(void) state;
	assert_true(wc_getcache_is_unchanged(cache, before, TABLE, kit_s("row")));
	commit_to("row");
	then = wc_getcache_epoch(cache);
	assert_false(wc_getcache_is_unchanged(cache, before, TABLE, kit_s("row")));
	assert_true(wc_getcache_is_unchanged(cache, before, TABLE, kit_s("other")));
	assert_true(wc_getcache_is_unchanged(cache, then, TABLE, kit_s("row")));

	/* from the moment on at which the write may be seen */
	wc_getcache_touch_row(cache, TABLE, kit_s("other"));
	assert_false(wc_getcache_is_unchanged(cache, then, TABLE, kit_s("other")));
	wc_getcache_touch_table(cache, TABLE);
	assert_false(wc_getcache_is_unchanged(cache, then, TABLE, kit_s("row")));
	set_up_anew(0);
	assert_false(wc_getcache_is_unchanged(cache, wc_getcache_epoch(cache), TABLE, kit_s("row")));
}

static void
a_write_ends_what_was_read_before(void **state)
{
	uint64_t	before = wc_getcache_epoch(cache);

	(void) state;
	keep("row", "get", "old");
	keep("other", "get", "of the other row");
	commit_to("row");
	assert_null(find("row", "get"));
	assert_null(find_in(before, "row", "get"));

	/* nor does an answer count that was read before and comes late */
	wc_getcache_add(cache, WC_GET_ASKED, before, TABLE, kit_s("row"), kit_s("get"), kit_s("old"), 0, INT64_MAX);
	assert_null(find("row", "get"));

	keep("row", "get", "new");
	assert_string_equal(find("row", "get"), "new");
	assert_null(find_in(before, "row", "get"));
}

static void
what_no_write_concerns_holds_before_and_after(void **state)
{
	uint64_t	before = wc_getcache_epoch(cache);

	(void) state;
	commit_to("some row");
	keep("row", "get", "answer");
	commit_to("some row");

	/* an epoch in which it was not read, but it could not have been another */
	assert_string_equal(find_in(before, "row", "get"), "answer");
	assert_string_equal(find("row", "get"), "answer");
}

static void
a_write_to_a_table_ends_all_of_its_rows(void **state)
{
	(void) state;
	keep("row", "get", "answer");
	wc_getcache_touch_table(cache, TABLE + 1);
	wc_getcache_begin(cache);
	wc_getcache_end(cache);
	assert_string_equal(find("row", "get"), "answer");
	wc_getcache_touch_table(cache, TABLE);
	wc_getcache_begin(cache);
	wc_getcache_end(cache);
	assert_null(find("row", "get"));
}

static void
an_answer_holds_until_its_time(void **state)
{
	uint64_t	epoch = wc_getcache_epoch(cache);

	(void) state;
	wc_getcache_add(cache, WC_GET_ASKED, epoch, TABLE, kit_s("row"), kit_s("get"), kit_s("answer"), 0, NOW);
	assert_null(find("row", "get"));
	wc_getcache_add(cache, WC_GET_ASKED, epoch, TABLE, kit_s("row"), kit_s("get"), kit_s("answer"), 0, NOW + 1);
	assert_string_equal(find("row", "get"), "answer");

	/* and from its time on: the clock may have been set back since */
	wc_getcache_add(cache, WC_GET_ASKED, epoch, TABLE, kit_s("row"), kit_s("get"), kit_s("answer"), NOW + 1, INT64_MAX);
	assert_null(find("row", "get"));
	wc_getcache_add(cache, WC_GET_ASKED, epoch, TABLE, kit_s("row"), kit_s("get"), kit_s("answer"), NOW, INT64_MAX);
	assert_string_equal(find("row", "get"), "answer");
}

static void
a_new_engine_knows_nothing(void **state)
{
	uint64_t	before = wc_getcache_epoch(cache);

	(void) state;
	keep("row", "get", "answer");
	wc_getcache_begin(cache);	/* in the midst of which the old one went */
	wc_getcache_reset(cache);
	assert_true(wc_getcache_epoch(cache) > before);
	assert_true(wc_getcache_is_now(cache, wc_getcache_epoch(cache)));
	assert_null(find("row", "get"));
	assert_null(find_in(before, "row", "get"));
	keep("row", "get", "answer");
	assert_string_equal(find("row", "get"), "answer");
}

/* --- readers --------------------------------------------------------------------*/

static void
readers_are_seen_until_they_leave(void **state)
{
	uint64_t	epoch = wc_getcache_enter(cache, READER, 0);

	(void) state;
	assert_int_equal(epoch, wc_getcache_epoch(cache));
	assert_true(wc_getcache_is_read(cache, epoch));
	commit_to("row");
	assert_true(wc_getcache_is_read(cache, epoch));
	assert_false(wc_getcache_is_now(cache, epoch));
	assert_false(wc_getcache_is_read(cache, epoch + 1));
	assert_int_equal(wc_getcache_enter(cache, READERS - 1, 0), epoch + 1);
	wc_getcache_leave(cache, READER, 0);
	assert_false(wc_getcache_is_read(cache, epoch));
	assert_true(wc_getcache_is_read(cache, epoch + 1));
}

static void
nobody_enters_while_a_commit_is_written(void **state)
{
	uint64_t	epoch = wc_getcache_epoch(cache);

	(void) state;
	wc_getcache_begin(cache);
	assert_int_equal(wc_getcache_enter(cache, READER, 0), 0);
	assert_false(wc_getcache_is_read(cache, epoch));
	assert_false(wc_getcache_is_now(cache, epoch));
	wc_getcache_end(cache);
	assert_int_equal(wc_getcache_enter(cache, READER, 0), epoch + 1);
}

/* A statement inside another's has a place of its own. */
static void
a_reader_is_in_several_epochs(void **state)
{
	uint64_t	first = wc_getcache_epoch(cache);

	(void) state;
	for (uint32_t i = 0; i < WC_GETCACHE_PLACES; i++)
	{
		assert_int_equal(wc_getcache_enter(cache, READER, i), first + i);
		commit_to("row");
	}
	for (uint32_t i = 0; i < WC_GETCACHE_PLACES; i++)
		assert_true(wc_getcache_is_read(cache, first + i));
	wc_getcache_leave(cache, READER, 1);
	assert_true(wc_getcache_is_read(cache, first));
	assert_false(wc_getcache_is_read(cache, first + 1));
	assert_true(wc_getcache_is_read(cache, first + 2));
}

static void
others_enter_by_the_mark(void **state)
{
	const uint32_t other = READER + 1;
	uint64_t	epoch = wc_getcache_enter(cache, READER, 2);

	(void) state;
	assert_int_equal(wc_getcache_enter_marked(cache, other, 0, READER, 77), 0);
	wc_getcache_mark(cache, READER, 2, 77);
	commit_to("row");
	assert_int_equal(wc_getcache_enter_marked(cache, other, 0, READER, 78), 0);
	assert_int_equal(wc_getcache_enter_marked(cache, other, 0, other, 77), 0);
	assert_int_equal(wc_getcache_enter_marked(cache, other, 0, READER, 77), epoch);

	/* what the one leaves, the other still reads */
	wc_getcache_leave(cache, READER, 2);
	assert_true(wc_getcache_is_read(cache, epoch));
	assert_int_equal(wc_getcache_enter_marked(cache, other, 1, READER, 77), 0);

	/* nor has the place's next epoch the mark */
	(void) wc_getcache_enter(cache, READER, 2);
	assert_int_equal(wc_getcache_enter_marked(cache, other, 1, READER, 77), 0);
	wc_getcache_leave(cache, other, 0);
	assert_false(wc_getcache_is_read(cache, epoch));
}

/* --- room -----------------------------------------------------------------------*/

static void
what_is_too_large_is_not_kept(void **state)
{
	char		text[WC_GETCACHE_ENTRY_MAX + 2] = {0};

	(void) state;
	memset(text, 'x', WC_GETCACHE_ENTRY_MAX + 1 - strlen("get"));
	keep("row", "get", text);
	assert_null(find("row", "get"));
	text[WC_GETCACHE_ENTRY_MAX - strlen("get")] = '\0';
	keep("row", "get", text);
	assert_string_equal(find("row", "get"), text);
}

static void
without_memory_nothing_is_kept(void **state)
{
	(void) state;
	set_up_anew(0);
	keep("row", "get", "answer");
	assert_null(find("row", "get"));
	commit_to("row");

	/* epochs are there all the same: they are snapshots */
	assert_int_equal(wc_getcache_enter(cache, READER, 0), wc_getcache_epoch(cache));
	assert_int_equal(wc_getcache_find(cache, 1, TABLE, kit_s("row"), kit_s("get"), NOW, &found), WC_GET_ABSENT);
}

/* As a session does: adds a missing answer if it is wanted.  Returns whether it was found. */
static bool
ask(int i)
{
	char		get[32];

	snprintf(get, sizeof(get), "get number %d", i);
	wc_buf_reset(&found, SIZE_MAX);
	switch (wc_getcache_find(cache, 1, TABLE, kit_s("row"), kit_s(get), NOW, &found))
	{
		case WC_GET_FOUND:
			return true;
		case WC_GET_WANTED:
			keep("row", get, get);
			break;
		case WC_GET_ABSENT:
			break;
	}
	return false;
}

static void
what_is_asked_for_again_stays(void **state)
{
	int			hits = 0;

	(void) state;
	set_up_anew(ONE_PAGE);

	/* with room everything is kept at once */
	assert_true(wc_getcache_has_room(cache, TABLE, kit_s("any")));
	assert_false(ask(0));
	assert_true(ask(0));

	/* thousands that come once leave those alone that come often */
	for (int i = 1; i <= 5000; i++)
	{
		ask(i);
		hits += ask(-(i % 5));
	}
	assert_true(hits > 4000);
	assert_false(wc_getcache_has_room(cache, TABLE, kit_s("any")));
}

/* Finds the same as ask, and asks for nothing. */
static bool
look(int i)
{
	char		get[32];

	snprintf(get, sizeof(get), "get number %d", i);
	wc_buf_reset(&found, SIZE_MAX);
	return wc_getcache_look(cache, 1, TABLE, kit_s("row"), kit_s(get), NOW, &found);
}

static void
what_is_only_looked_for_is_not_asked_for(void **state)
{
	int			hits = 0;

	(void) state;
	set_up_anew(ONE_PAGE);
	assert_false(look(0));
	assert_false(ask(0));
	assert_true(look(0));
	assert_true(wc_slice_eq(wc_buf_slice(&found), kit_s("get number 0")));
	for (int i = 1; i <= 300; i++)
		ask(i);
	assert_false(wc_getcache_has_room(cache, TABLE, kit_s("any")));
	for (int i = 0; i < 100; i++)
	{
		look(1000 + i);
		hits += ask(1000 + i) || ask(1000 + i);
	}
	assert_true(hits < 50);		/* those that share a bit with one that was asked for */
}

/* Rows of 1 KB that need a third of the memory stay, wherever their hashes put them. */
static void
rows_that_fit_stay(void **state)
{
	char		row[16];
	char		answer[1025] = {0};
	int			n = 300;

	(void) state;
	memset(answer, 'x', sizeof(answer) - 1);
	for (int i = 0; i < n; i++)
	{
		snprintf(row, sizeof(row), "row %d", i);
		keep(row, "get", answer);
	}
	for (int i = 0; i < n; i++)
	{
		snprintf(row, sizeof(row), "row %d", i);
		assert_non_null(find(row, "get"));
	}
}

static bool
is_kept(int i)
{
	char		get[32];

	snprintf(get, sizeof(get), "get number %d", i);
	return find("row", get) != NULL;
}

static void
leave(const char *row, const char *get, const char *answer)
{
	wc_getcache_add(cache, WC_GET_LEFT, wc_getcache_epoch(cache), TABLE, kit_s(row), kit_s(get), kit_s(answer), 0,
					INT64_MAX);
}

/* What commits have left takes the place of an older answer, but of no other one. */
static void
what_is_left_pushes_nothing_out(void **state)
{
	char		row[24];
	int			nbefore = 0;
	int			n = 0;

	(void) state;
	set_up_anew(ONE_PAGE);
	for (int i = 0; i < 5000; i++)
		(void) ask(i);
	assert_false(wc_getcache_has_room(cache, TABLE, kit_s("any")));
	keep("row", "get", "answer");
	for (int i = 0; i < 5000; i++)
		nbefore += is_kept(i);
	for (int i = 0; i < 100; i++)
	{
		snprintf(row, sizeof(row), "left %d", i);
		leave(row, "get", "answer");
		assert_null(find(row, "get"));
	}
	leave("row", "get", "later!");
	assert_string_equal(find("row", "get"), "later!");
	for (int i = 0; i < 5000; i++)
		n += is_kept(i);
	assert_true(nbefore > 0);
	assert_int_equal(n, nbefore);
}

static void
a_row_that_changes_often_leaves_its_neighbours(void **state)
{
	static const char *const ANSWERS[] = {"first answer", "next answer", "last"};
	const char *neighbour = NULL;

	(void) state;
	set_up_anew(ONE_PAGE);

	/* one with a stamp of its own */
	for (int i = 0; neighbour == NULL; i++)
	{
		static char name[16];

		snprintf(name, sizeof(name), "row %d", i);
		keep(name, "get", "neighbour");
		commit_to("often");
		if (find(name, "get") != NULL)
			neighbour = name;
	}
	for (int i = 0; i < 1000; i++)
	{
		commit_to("often");
		keep("often", "get", ANSWERS[i % 3]);
		assert_string_equal(find("often", "get"), ANSWERS[i % 3]);
	}
	assert_string_equal(find(neighbour, "get"), "neighbour");
}

/* --- at random, and at once -------------------------------------------------------*/

#define ROWS	40

typedef struct Row
{
	char		name[16];
	int			version;		/* as of now; answers say it */
} Row;

static void
answer_of(char *answer, size_t size, const Row *row, int get)
{
	/* of all lengths, so that places overlap in all ways */
	int			len = snprintf(answer, size, "%s:%d:%d:", row->name, get, row->version);
	size_t		fill = (size_t) (row->version * 37 + get * 101) % 300;

	memset(answer + len, 'a' + get, fill);
	answer[(size_t) len + fill] = '\0';
}

/* Whatever is found is what the row holds now. */
static void
random_writes_and_reads(void **state)
{
	Row			rows[ROWS];
	int			hits = 0;

	(void) state;
	set_up_anew(4 * ONE_PAGE);
	for (int i = 0; i < ROWS; i++)
	{
		snprintf(rows[i].name, sizeof(rows[i].name), "row%d", i);
		rows[i].version = 0;
	}
	for (int n = 0; n < 100000; n++)
	{
		Row		   *row = &rows[below(ROWS)];
		int			which = (int) below(3);
		char		get[16];
		char		answer[512];
		const char *is;

		if (below(50) == 0)
		{
			row->version++;
			commit_to(row->name);
			continue;
		}
		snprintf(get, sizeof(get), "get%d", which);
		answer_of(answer, sizeof(answer), row, which);
		is = find(row->name, get);
		if (is != NULL)
			assert_string_equal(is, answer);
		else
			keep(row->name, get, answer);
		hits += is != NULL;
	}
	assert_true(hits > 10000);
}

/*
 * A writer and readers of two rows, which hold after each commit the number of the
 * epoch; an answer says it many times.
 */
#define TIMES	200

typedef struct Race
{
	_Atomic uint64_t acknowledged;	/* the last commit that is over */
	atomic_bool over;
	_Atomic uint64_t rounds;	/* of all readers */
	uint64_t	hits[READERS];
} Race;

typedef struct Runner
{
	Race	   *race;
	uint32_t	reader;
} Runner;

static bool
says(const WcBuf *answer, uint64_t number)
{
	uint64_t	is;

	for (size_t at = 0; at < answer->len; at += sizeof(is))
	{
		memcpy(&is, answer->data + at, sizeof(is));
		if (is != number)
			return false;
	}
	return answer->len == TIMES * sizeof(is);
}

/* Reads a row: from the cache, or else from the engine. */
static bool
read_row(uint64_t epoch, const char *row, WcBuf *answer)
{
	answer->len = 0;
	if (wc_getcache_find(cache, epoch, TABLE, kit_s(row), kit_s("get"), NOW, answer) == WC_GET_FOUND)
		return true;
	for (int i = 0; i < TIMES; i++)
		wc_buf_append(answer, &epoch, sizeof(epoch));
	wc_getcache_add(cache, WC_GET_ASKED, epoch, TABLE, kit_s(row), kit_s("get"), wc_buf_slice(answer), 0, INT64_MAX);
	return false;
}

static void *
run_reader(void *arg)
{
	const Runner *r = arg;
	WcBuf		answer = WC_BUF_INIT;

	while (!r->race->over)
	{
		uint64_t	least = r->race->acknowledged;
		uint64_t	epoch = wc_getcache_enter(cache, r->reader, 0);

		if (epoch == 0)
			continue;
		assert_true(epoch >= least);
		r->race->hits[r->reader] += read_row(epoch, "left", &answer);
		assert_true(says(&answer, epoch));
		r->race->hits[r->reader] += read_row(epoch, "right", &answer);
		assert_true(says(&answer, epoch));
		r->race->hits[r->reader] += read_row(epoch, "left", &answer);
		assert_true(says(&answer, epoch));
		wc_getcache_leave(cache, r->reader, 0);
		r->race->rounds++;
	}
	wc_buf_free(&answer);
	return NULL;
}

static void
readers_never_see_what_is_over(void **state)
{
	static Race race;
	Runner		runners[3];
	pthread_t	threads[3];

	(void) state;
	set_up_anew(ONE_PAGE);
	race.acknowledged = wc_getcache_epoch(cache);
	for (uint32_t i = 0; i < 3; i++)
	{
		runners[i] = (Runner) {.race = &race,.reader = i};
		assert_int_equal(pthread_create(&threads[i], NULL, run_reader, &runners[i]), 0);
	}
	for (int n = 0; n < 3000; n++)
	{
		uint64_t	rounds;

		wc_getcache_touch_row(cache, TABLE, kit_s("left"));
		wc_getcache_touch_row(cache, TABLE, kit_s("right"));
		wc_getcache_begin(cache);
		sched_yield();
		wc_getcache_end(cache);
		race.acknowledged = wc_getcache_epoch(cache);

		/* the readers get as far as to find something */
		rounds = race.rounds + n % 3;
		while (race.rounds < rounds)
			sched_yield();
	}
	race.over = true;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_true(race.hits[0] + race.hits[1] + race.hits[2] > 0);
}

/*
 * Answers of all lengths to Gets of one row, for which a page has not nearly room: each
 * is written over all the time, and says which Get it answers in every byte.
 */
#define GETS	12
#define ROUNDS	60000

static void
look_at_all(void)
{
	WcBuf		get = WC_BUF_INIT;
	WcBuf		answer = WC_BUF_INIT;
	uint32_t	next = 0;

	while (wc_getcache_find_any(cache, TABLE, kit_s("row"), NOW, &next, &get, &answer))
	{
		assert_int_equal(get.len, 1);
		assert_int_equal(answer.len, 200u + 120u * (get.data[0] - 'a'));
		for (size_t k = 0; k < answer.len; k++)
			assert_int_equal(answer.data[k], get.data[0]);
		get.len = answer.len = 0;
	}
	wc_buf_free(&get);
	wc_buf_free(&answer);
}

static void *
find_and_add(void *arg)
{
	unsigned	n = *(unsigned *) arg;
	WcBuf		answer = WC_BUF_INIT;

	for (int i = 0; i < ROUNDS; i++)
	{
		uint8_t		which = (uint8_t) ('a' + (n = n * 1103515245 + 12345) / 65536 % GETS);
		WcSlice		get = wc_slice(&which, 1);
		size_t		len = 200u + 120u * (which - 'a');

		answer.len = 0;
		if (i % 4 == 0)
			look_at_all();
		if (wc_getcache_find(cache, 1, TABLE, kit_s("row"), get, NOW, &answer) == WC_GET_FOUND)
		{
			assert_int_equal(answer.len, len);
			for (size_t k = 0; k < len; k++)
				assert_int_equal(answer.data[k], which);
			continue;
		}
		memset(wc_buf_reserve(&answer, len), which, len);
		wc_getcache_add(cache, WC_GET_ASKED, 1, TABLE, kit_s("row"), get, wc_slice(answer.data, len), 0, INT64_MAX);
	}
	wc_buf_free(&answer);
	return NULL;
}

static void
answers_come_whole(void **state)
{
	unsigned	seeds[3] = {1, 2, 3};
	pthread_t	threads[3];

	(void) state;
	set_up_anew(ONE_PAGE);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, find_and_add, &seeds[i]), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* The thread that begins a commit sees each reader in the epoch that the commit ends. */
typedef struct Watcher
{
	_Atomic uint64_t watched;	/* the last epoch that was ended */
	_Atomic bool was_read;		/* somebody was seen in it */
	atomic_bool over;
} Watcher;

static void *
enter_and_leave(void *arg)
{
	Watcher    *w = arg;

	while (!w->over)
	{
		uint64_t	epoch = wc_getcache_enter(cache, READER, 0);

		if (epoch == 0)
			continue;
		if (!wc_getcache_is_now(cache, epoch))
		{
			while (w->watched < epoch)
				sched_yield();
			assert_int_equal(w->watched, epoch);
			assert_true(w->was_read);
		}
		wc_getcache_leave(cache, READER, 0);
	}
	return NULL;
}

static void
a_commit_sees_who_reads(void **state)
{
	static Watcher w;
	pthread_t	thread;

	(void) state;
	assert_int_equal(pthread_create(&thread, NULL, enter_and_leave, &w), 0);
	for (int n = 0; n < ROUNDS / 4; n++)
	{
		uint64_t	epoch = wc_getcache_epoch(cache);

		wc_getcache_begin(cache);
		w.was_read = wc_getcache_is_read(cache, epoch);
		w.watched = epoch;

		/* one that is being asked about is not overtaken */
		while (w.was_read && wc_getcache_is_read(cache, epoch))
			sched_yield();
		wc_getcache_end(cache);
	}
	w.over = true;
	pthread_join(thread, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_kept_is_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_to_any_get_of_a_row, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_are_unchanged_until_they_are_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_write_ends_what_was_read_before, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_no_write_concerns_holds_before_and_after, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_write_to_a_table_ends_all_of_its_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_answer_holds_until_its_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_new_engine_knows_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(readers_are_seen_until_they_leave, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nobody_enters_while_a_commit_is_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_reader_is_in_several_epochs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(others_enter_by_the_mark, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_too_large_is_not_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_memory_nothing_is_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_asked_for_again_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_only_looked_for_is_not_asked_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_that_fit_stay, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_left_pushes_nothing_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_row_that_changes_often_leaves_its_neighbours, set_up, tear_down),
		cmocka_unit_test_setup_teardown(random_writes_and_reads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_come_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_commit_sees_who_reads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(readers_never_see_what_is_over, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
