/*
 * test/unit/test_rangeraces.c: the cache of ranges (wire/shared/rangecache.h) at random, and with readers in other threads.
 */
#include "rangekit.h"

#include <pthread.h>
#include <sched.h>

/* --- at random ---------------------------------------------------------------------*/

#define KEYS	150
#define MODELS	3
#define SHAPES	2
#define HISTORY 16				/* epochs that can be looked up */

typedef struct Value
{
	bool		present;
	uint32_t	version;
	int64_t		expires;		/* from then on it is not seen */
} Value;

typedef struct Model
{
	WcSlice		keys[KEYS];		/* ascending */
	uint8_t		room[KEYS][24];
	Value		values[HISTORY][MODELS][KEYS];	/* of an epoch modulo HISTORY, and a table */
	int64_t		now_us;
	const WcRangeQuery *query;	/* that is being answered, */
	int			table;
	int			shape;
	int			nwritten;		/* written rows that were asked for */
} Model;

static const uint32_t MODEL_TABLES[MODELS] = {TABLE, SHARING, OTHER};
static const char *const MODEL_SHAPES[SHAPES] = {"all", "even"};

static WcSlice
random_key(uint8_t *room)
{
	WcSlice		key = random_bytes(room, 18, "ab\0\xff", 4);

	return key.len > 0 ? key : wc_slice("b", 1);
}

static void
make_keys(Model *m)
{
	for (int i = 0; i < KEYS;)
	{
		WcSlice		key = random_key(m->room[i]);
		bool		is_new = true;

		for (int k = 0; k < i; k++)
			is_new = is_new && !wc_slice_eq(m->keys[k], key);
		if (is_new)
			m->keys[i++] = key;
	}
	qsort(m->keys, KEYS, sizeof(WcSlice), wc_slice_compare);
}

/* A key of the model, or any other. */
static WcSlice
random_bound(const Model *m, uint8_t *room)
{
	return below(2) == 0 ? m->keys[below(KEYS)] : random_key(room);
}

/* Appends the row's bytes, if the shape has it. */
static bool
append_row(const Model *m, const Value *v, uint32_t table, int shape, int k, WcBuf *out)
{
	uint32_t	fill = v->version % 50 == 0 ? 5000 : v->version * 37 % 90;
	uint8_t    *to;

	if (!v->present || v->expires <= m->now_us || (shape == 1 && v->version % 2 == 1))
		return false;
	wc_buf_append_slice(out, m->keys[k]);
	wc_buf_append(out, &table, sizeof(table));
	wc_buf_append(out, &shape, sizeof(shape));
	wc_buf_append(out, &v->version, sizeof(v->version));
	to = wc_buf_reserve(out, fill);
	assert_non_null(to);
	memset(to, (int) v->version, fill);
	out->len += fill;
	return true;
}

static void
expect(const Model *m, const WcRangeQuery *q, int table, int shape, WcBuf *out)
{
	const Value *values = m->values[(q->epoch == UINT64_MAX ? epoch : q->epoch) % HISTORY][table];
	uint64_t	n = 0;

	for (int i = 0; i < KEYS && (q->row_limit == 0 || n < q->row_limit); i++)
	{
		int			k = q->reversed ? KEYS - 1 - i : i;

		if (wc_range_contains(q->range, m->keys[k]))
			n += append_row(m, &values[k], q->table_id, shape, k, out);
	}
}

/* Sometimes it is known what has become of a row. */
static bool
tell_written(void *arg, WcSlice key, WcBuf *out, uint32_t *n)
{
	Model	   *m = arg;
	const Value *values = m->values[(m->query->epoch == UINT64_MAX ? epoch : m->query->epoch) % HISTORY][m->table];
	int			k = 0;

	while (k < KEYS && !wc_slice_eq(m->keys[k], key))
		k++;
	assert_true(k < KEYS);
	m->nwritten++;
	if (below(8) == 0)
		return false;
	*n = append_row(m, &values[k], m->query->table_id, m->shape, k, out);
	return true;
}

static void
begin_epoch(Model *m)
{
	memcpy(m->values[(epoch + 1) % HISTORY], m->values[epoch % HISTORY], sizeof(m->values[0]));
	epoch++;
}

static void
write_some(Model *m, int table)
{
	bool		used = wc_rangecache_note(cache, MODEL_TABLES[table], epoch + 1);
	bool		whole = below(40) == 0;
	uint32_t	n = whole ? below(KEYS) : 1 + below(4) * below(2);

	if (used && whole)
		wc_rangecache_touch_table(cache, MODEL_TABLES[table], epoch + 1);
	begin_epoch(m);
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	k = below(10) == 0 ? below(KEYS) : below(KEYS / 8);
		Value	   *v = &m->values[epoch % HISTORY][table][k];

		if (used && !whole)
			wc_rangecache_touch_row(cache, MODEL_TABLES[table], m->keys[k], epoch);
		v->present = below(12) > 0;
		v->version++;
		v->expires = below(10) == 0 ? m->now_us + below(50) : INT64_MAX;
	}
}

/* What the model has from one key to another; late: then the table is written to. */
static bool
add_some(Model *m, int table, int shape, WcSlice start, WcSlice end, bool late)
{
	WcStretchRow rows[KEYS];
	size_t		lens[KEYS];
	WcStretch	s = {start, end, rows, 0, epoch, m->now_us, INT64_MAX};
	WcBuf		bytes = WC_BUF_INIT;
	size_t		at = 0;
	bool		added;

	(void) wc_rangecache_wants(cache, MODEL_TABLES[table], kit_s(MODEL_SHAPES[shape]));
	for (int k = 0; k < KEYS; k++)
	{
		const Value *v = &m->values[epoch % HISTORY][table][k];
		size_t		before = bytes.len;

		if (wc_slice_cmp(m->keys[k], start) < 0 || (end.len > 0 && wc_slice_cmp(m->keys[k], end) >= 0) ||
			!append_row(m, v, MODEL_TABLES[table], shape, k, &bytes))
			continue;
		lens[s.nrows] = bytes.len - before;
		rows[s.nrows++].key = m->keys[k];
		if (v->expires < s.valid_until_us)
			s.valid_until_us = v->expires;
	}
	for (uint32_t i = 0; i < s.nrows; i++)
	{
		rows[i].bytes = wc_slice(bytes.data + at, lens[i]);
		at += lens[i];
	}
	if (late)
		write_some(m, table);
	added = wc_rangecache_add(cache, MODEL_TABLES[table], kit_s(MODEL_SHAPES[shape]), &s, epoch);
	if (late)
		assert_false(added);
	else
		assert_true(added || bytes.len > WC_STRETCH_BYTES_MAX / 2);
	wc_buf_free(&bytes);
	return added;
}

/* Is it found?  Then it has to be what the model has. */
static bool
check(Model *m, WcRangeQuery *q, int table, int shape)
{
	WcBuf		should = WC_BUF_INIT;
	bool		is_found;

	found.len = 0;
	m->query = q;
	m->table = table;
	m->shape = shape;
	q->written_row = below(4) > 0 ? tell_written : NULL;
	q->arg = m;
	is_found = wc_rangecache_find(cache, q, &found);
	if (is_found)
	{
		expect(m, q, table, shape, &should);
		assert_int_equal(found.len, should.len);
		assert_true(wc_slice_eq(wc_buf_slice(&found), wc_buf_slice(&should)));
	}
	else
		assert_int_equal(found.len, 0);
	wc_buf_free(&should);
	return is_found;
}

/* What is covered is found. */
static void
check_covered(Model *m, int table, int shape, WcSlice row)
{
	WcRange		range = {.start = row,.start_inclusive = true};
	WcRangeQuery q = {.table_id = MODEL_TABLES[table],.shape = kit_s(MODEL_SHAPES[shape]),.range = &range,.epoch = UINT64_MAX,
		.now_us = m->now_us};
	WcBuf		end = WC_BUF_INIT;

	if (wc_rangecache_covers(cache, q.table_id, q.shape, row, q.now_us, &end))
	{
		range.stop = wc_buf_slice(&end);
		assert_true(check(m, &q, table, shape));
	}
	else
	{
		range.stop = row;
		range.stop_inclusive = true;
		(void) check(m, &q, table, shape);
	}
	wc_buf_free(&end);
}

static int
at_random(uint64_t bytes, int rounds)
{
	static Model m;
	int			hits = 0;

	set_up_anew(bytes);
	memset(&m, 0, sizeof(m));
	m.now_us = NOW;
	make_keys(&m);
	for (int table = 0; table < MODELS; table++)
	{
		for (int k = 0; k < KEYS; k++)
			m.values[epoch % HISTORY][table][k] = (Value) {below(8) > 0, below(100), INT64_MAX};
	}
	while (epoch < 2 * HISTORY)
		begin_epoch(&m);
	for (int n = 0; n < rounds; n++)
	{
		int			table = below(4) == 0 ? 1 + (int) below(MODELS - 1) : 0;
		int			shape = below(4) == 0;
		uint8_t		room[3][24];
		WcRange		range = {random_bound(&m, room[0]), random_bound(&m, room[1]), below(2) == 0, below(2) == 0};
		WcRangeQuery q = {.table_id = MODEL_TABLES[table],.shape = kit_s(MODEL_SHAPES[shape]),.range = &range,
			.epoch = UINT64_MAX,.now_us = m.now_us};

		if (below(3) > 0)
		{
			uint32_t	k = below(below(2) == 0 ? KEYS : KEYS / 8);
			uint32_t	behind = k + below(20);

			range.start = m.keys[k];
			range.stop = m.keys[behind < KEYS ? behind : KEYS - 1];
		}
		if (wc_slice_cmp(range.start, range.stop) > 0 && below(20) > 0)
		{
			WcSlice		swap = range.start;

			range.start = range.stop;
			range.stop = swap;
		}
		if (below(10) == 0)
			range.start.len = 0;
		if (below(10) == 0)
			range.stop.len = 0;
		if (below(12) == 0)
		{
			write_some(&m, table);
			continue;
		}
		if (below(20) == 0)
			m.now_us += below(40) == 0 ? -20 : 3;
		q.now_us = m.now_us;
		if (below(3) == 0 && (range.stop.len == 0 || wc_slice_cmp(range.start, range.stop) < 0))
		{
			if (!add_some(&m, table, shape, range.start, range.stop, below(10) == 0))
				continue;

			/* what was added is found at once */
			range.start_inclusive = true;
			range.stop_inclusive = false;
			assert_true(check(&m, &q, table, shape));
			q.reversed = true;
			assert_true(check(&m, &q, table, shape));
			q.epoch = epoch;
			assert_true(check(&m, &q, table, shape));
			continue;
		}
		check_covered(&m, table, shape, random_bound(&m, room[2]));
		q.reversed = below(2) == 0;
		q.row_limit = below(2) == 0 ? below(10) : 0;
		if (below(2) == 0)
			q.epoch = epoch - below(HISTORY) * below(2);
		hits += check(&m, &q, table, shape);
	}
	assert_true(m.nwritten > rounds / 2000);
	return hits;
}

/* Whatever is found is what the table holds. */
static void
random_writes_and_reads(void **state)
{
	(void) state;
	assert_true(at_random(8 * MIB, 20000) > 1000);
}

/* So little memory that shapes push out one another, and stretches too. */
static void
random_writes_and_reads_in_little_room(void **state)
{
	(void) state;
	assert_true(at_random(2 * MIB, 20000) > 500);
	assert_true(at_random(MIB, 5000) > 50);
}

/* --- at once -----------------------------------------------------------------------*/

#define READERS 3

typedef struct Race
{
	_Atomic uint64_t begun;		/* the last commit that readers may see, */
	_Atomic uint64_t acknowledged;	/* and that is over; commits are numbered as the epochs that they begin */
	atomic_bool over;
	_Atomic uint64_t rounds;	/* of all readers */
	_Atomic uint64_t hits;
	_Atomic uint64_t told;		/* written rows */
} Race;

typedef struct Runner
{
	Race	   *race;
	unsigned	n;
	uint64_t	told;			/* of which commit written rows are; 0: of none yet */
} Runner;

static unsigned
next_of(unsigned *n, unsigned limit)
{
	return (*n = *n * 1103515245 + 12345) / 65536 % limit;
}

static void
start_readers(Race *race, void *(*run) (void *), Runner *runners, pthread_t *threads)
{
	for (unsigned i = 0; i < READERS; i++)
	{
		runners[i] = (Runner) {.race = race,.n = i + 1};
		assert_int_equal(pthread_create(&threads[i], NULL, run, &runners[i]), 0);
	}
}

static void
end_readers(Race *race, pthread_t *threads)
{
	race->over = true;
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	assert_true(race->hits > 0);
}

/*
 * The table has three rows, each in a stretch of its own.  A commit writes its number to the first and the last one, many times;
 * the middle one remains.
 */
#define TIMES	500
#define COMMITS 1000

static void
add_number(const char *start, const char *row, const char *end, uint64_t number)
{
	static uint64_t numbers[TIMES];
	WcStretchRow r = {kit_s(row), wc_slice(numbers, sizeof(numbers))};
	WcStretch	s = {kit_s(start), kit_s(end), &r, 1, epoch, 0, INT64_MAX};

	for (int i = 0; i < TIMES; i++)
		numbers[i] = number;
	assert_true(add_to(TABLE, SHAPE, &s));
}

/* Is this a row with the number? */
static bool
has_numbers(const uint8_t *bytes, uint64_t number)
{
	uint64_t	is[TIMES];
	uint64_t	differ = 0;

	memcpy(is, bytes, sizeof(is));
	for (int i = 0; i < TIMES; i++)
		differ |= is[i] ^ number;
	return differ == 0;
}

/* A written row, as it is in the reader's epoch, or now: then the caller checks that no commit has begun since. */
static bool
tell_number(void *arg, WcSlice key, WcBuf *out, uint32_t *n)
{
	Runner	   *r = arg;
	uint64_t	number = r->told;

	if (number == 0)
		number = r->told = r->race->begun;
	if (wc_slice_eq(key, kit_s("m")))
		return false;
	for (int i = 0; i < TIMES; i++)
		wc_buf_append(out, &number, sizeof(number));
	*n = 1;
	r->race->told++;
	return true;
}

static void *
read_rows(void *arg)
{
	Runner	   *r = arg;
	WcRange		range = {.start_inclusive = true};
	WcBuf		out = WC_BUF_INIT;

	while (!r->race->over)
	{
		WcRangeQuery q = {.table_id = TABLE,.shape = kit_s(SHAPE),.range = &range,.now_us = NOW};
		uint64_t	least = r->race->acknowledged;

		q.reversed = next_of(&r->n, 2);
		q.epoch = next_of(&r->n, 2) == 0 ? UINT64_MAX : least;
		q.written_row = next_of(&r->n, 4) > 0 ? tell_number : NULL;
		q.arg = r;
		r->told = q.epoch == UINT64_MAX ? 0 : least;
		out.len = 0;
		if (wc_rangecache_find(cache, &q, &out) && (q.epoch != UINT64_MAX || r->told == 0 || r->told == r->race->begun))
		{
			uint64_t	most = q.epoch == UINT64_MAX ? r->race->begun : least;
			uint64_t	number;

			memcpy(&number, out.data, sizeof(number));
			assert_true(number >= least && number <= most);
			assert_int_equal(out.len, 3 * TIMES * sizeof(number));
			assert_true(has_numbers(out.data, number) && has_numbers(out.data + TIMES * sizeof(number), 0) &&
						has_numbers(out.data + 2 * TIMES * sizeof(number), number));
			r->race->hits++;
		}
		if (++r->race->rounds % 16 == 0)
			sched_yield();		/* the writer's turn */
	}
	wc_buf_free(&out);
	return NULL;
}

static void
add_large(void)
{
	static uint8_t bytes[60000];
	WcStretchRow r = {kit_s("b"), wc_slice(bytes, sizeof(bytes))};
	WcStretch	s = {kit_s("b"), kit_s("c"), &r, 1, epoch, 0, INT64_MAX};

	memset(bytes, 0xFF, sizeof(bytes));
	assert_true(add_to(OTHER, SHAPE, &s));
}

static void
readers_see_one_state_and_none_that_is_over(void **state)
{
	static Race race;
	Runner		runners[READERS];
	pthread_t	threads[READERS];

	(void) state;
	set_up_anew(2 * MIB);
	race = (Race) {.begun = 1,.acknowledged = 1};
	add_number("", "a", "h", epoch);
	add_number("h", "m", "p", 0);
	add_number("p", "z", "", epoch);
	start_readers(&race, read_rows, runners, threads);
	for (int n = 0; n < COMMITS; n++)
	{
		uint64_t	rounds;

		if (wc_rangecache_note(cache, TABLE, epoch + 1))
		{
			if (n % 7 == 0)
				wc_rangecache_touch_table(cache, TABLE, epoch + 1);
			else
			{
				wc_rangecache_touch_row(cache, TABLE, kit_s("a"), epoch + 1);
				wc_rangecache_touch_row(cache, TABLE, kit_s("z"), epoch + 1);
			}
		}
		race.begun = ++epoch;
		if (n % 2 == 0)
			sched_yield();
		race.acknowledged = epoch;
		if (n % 7 == 0 || n % 4 > 0)
			add_number("p", "z", "", epoch);
		if (covering("m") == NULL)
			add_number("h", "m", "p", 0);
		if (n % 7 == 0 || n % 5 > 0)
			add_number("", "a", "h", epoch);
		if (n % 3 == 0)
			add_large();

		/* the readers get as far as to find something */
		rounds = race.rounds + n % 4;
		while (race.rounds < rounds)
			sched_yield();
	}
	end_readers(&race, threads);
	assert_true(race.told > 0);
}

/*
 * Two shapes of a table that does not change.  The memory has not nearly room for all stretches, and one shape pushes out the
 * other.  Each row says in all its bytes which one it is, or else has all bits set.
 */
#define CHURNED 200
#define ADDS	6000

static size_t
churned_len(unsigned i)
{
	return 1 + i * 37 % 2500;
}

static void
append_churned(unsigned i, bool second, WcBuf *out)
{
	size_t		len = churned_len(i);
	uint8_t    *to = wc_buf_reserve(out, len);

	assert_non_null(to);
	memset(to, second ? (int) i : 0xFF, len);
	out->len += len;
}

static WcSlice
churned_key(unsigned i, char *room)
{
	room[0] = (char) ('0' + i / 100);
	room[1] = (char) ('0' + i / 10 % 10);
	room[2] = (char) ('0' + i % 10);
	return wc_slice(room, 3);
}

static void *
read_churned(void *arg)
{
	Runner	   *r = arg;
	WcBuf		should = WC_BUF_INIT;
	WcBuf		out = WC_BUF_INIT;

	while (!r->race->over)
	{
		bool		second = next_of(&r->n, 8) == 0;
		unsigned	first = next_of(&r->n, CHURNED - 1);
		unsigned	n = 1 + next_of(&r->n, CHURNED - first < 60 ? CHURNED - first : 60);
		char		room[2][3];
		WcRange		range = {churned_key(first, room[0]), churned_key(first + n - 1, room[1]), true, true};
		WcRangeQuery q = {.table_id = TABLE,.shape = kit_s(second ? "second" : "first"),.range = &range,.epoch = UINT64_MAX,
			.now_us = NOW};

		q.reversed = next_of(&r->n, 2);
		out.len = should.len = 0;
		if (wc_rangecache_find(cache, &q, &out))
		{
			for (unsigned i = 0; i < n; i++)
				append_churned(q.reversed ? first + n - 1 - i : first + i, second, &should);
			assert_true(wc_slice_eq(wc_buf_slice(&out), wc_buf_slice(&should)));
			r->race->hits++;
		}
		else
			assert_int_equal(out.len, 0);
	}
	wc_buf_free(&should);
	wc_buf_free(&out);
	return NULL;
}

static void
rows_come_whole(void **state)
{
	static Race race;
	Runner		runners[READERS];
	pthread_t	threads[READERS];
	WcBuf		bytes = WC_BUF_INIT;

	(void) state;
	set_up_anew(MIB);
	start_readers(&race, read_churned, runners, threads);
	for (int add = 0; add < ADDS; add++)
	{
		bool		second = add % 400 < 20;
		unsigned	first = below(CHURNED - 1);
		uint32_t	n = 1 + below(CHURNED - first < 50 ? CHURNED - first : 50);
		char		room[52][3];
		WcStretchRow rows[50];
		WcStretch	s = {churned_key(first, room[50]), churned_key(first + n, room[51]), rows, n, epoch, 0, INT64_MAX};
		size_t		at = 0;

		bytes.len = 0;
		for (uint32_t i = 0; i < n; i++)
			append_churned(first + i, second, &bytes);
		for (uint32_t i = 0; i < n; i++)
		{
			rows[i] = (WcStretchRow) {churned_key(first + i, room[i]), wc_slice(bytes.data + at, churned_len(first + i))};
			at += rows[i].bytes.len;
		}
		assert_true(add_to(TABLE, second ? "second" : "first", &s));
		if (add % 500 == 0)
			commit_to_table(TABLE);
		else if (add % 50 == 0)
			commit_to(TABLE, "100");
		else if (add % 3001 == 0)
			wc_rangecache_reset(cache);
	}
	end_readers(&race, threads);
	wc_buf_free(&bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(random_writes_and_reads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(random_writes_and_reads_in_little_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(readers_see_one_state_and_none_that_is_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_come_whole, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
