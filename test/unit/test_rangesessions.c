/*
 * test/unit/test_rangesessions.c: ranges that are found while sessions ask and rows are written are what the engine would answer.
 */
#include "rangefillkit.h"

#include "rpc/dispatch.h"

/* --- sessions --------------------------------------------------------------------- */

/* What a backend sends that may share the answer; receives the answer. */
static Count
ask_engine(Backend *b, const Range *r)
{
	WcOpenMessage m = {.cid = 1000,.target = WC_BLOCK_MAX};
	Count		count = {0};

	wc_message_open_encode(message(b), &m, &r->scan);
	send_frame(b, WC_MSG_OPEN, WC_FLAG_KEEP);
	(void) answer(b);
	count_block(b, &count);
	assert_true(count.last);
	return count;
}

static bool
site_finds(Site *site, const Range *r, WcBuf *out)
{
	WcBuf		shape = WC_BUF_INIT;
	WcRangeQuery query = {.table_id = r->scan.table_id,.range = &r->range,.reversed = r->scan.reversed,
		.row_limit = r->scan.row_limit,.epoch = UINT64_MAX,.now_us = kit_now
	};
	bool		found;

	wc_scan_shape_encode(&shape, &r->scan);
	query.shape = wc_buf_slice(&shape);
	wc_buf_reset(out, SIZE_MAX);
	found = wc_rangecache_find(site->rangecache, &query, out);
	wc_buf_free(&shape);
	return found;
}

static void
await_found(Site *site, const Range *r, WcBuf *out)
{
	int64_t		until = wc_clock_monotonic_us() + PATIENCE_S * WC_USEC_PER_SEC;

	while (!site_finds(site, r, out))
	{
		if (wc_clock_monotonic_us() > until)
			fail_msg("the range is not kept");
		sched_yield();
	}
}

static void
a_session_keeps_the_range_that_it_was_asked_for(void **state)
{
	Site		site;
	Backend    *b;
	Range		r;
	WcBuf		out = WC_BUF_INIT;

	(void) state;
	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	put_rows(&site, 0, 500);
	commit(&site, b);
	r.range = (WcRange) {kit_s("r0000100"), kit_s("r0000400"), true, false};
	wc_scan_init(&r.scan, site.kit.table);
	r.scan.nranges = 1;
	r.scan.ranges = &r.range;
	for (int round = 0; round < 3; round++)
	{
		assert_false(site_finds(&site, &r, &out));
		assert_int_equal(ask_engine(b, &r).rows, 300);
		await_found(&site, &r, &out);
		if (round == 0)
		{
			/* the bytes of the block that the session has got, which has a head in front and a report behind it */
			WcSlice		block = wc_buf_slice(&b->reader.body);
			WcScanReport report;

			assert_ok(&site.kit, wc_scan_report_take(&block, &report, &site.kit.err));
			assert_true(wc_slice_eq(wc_buf_slice(&out), wc_slice(block.data + 1, block.len - 1)));
		}
		put_rows(&site, 200, 1);
		commit(&site, b);
	}

	/* the thread goes on with requests, and ends, in the midst of it */
	for (int i = 0; i < 8; i++)
	{
		assert_int_equal(ask_engine(b, &r).rows, 300);
		if (i % 2 == 0)
			assert_int_equal(scan_all(b, site.kit.table, 0, WC_BLOCK_MAX).rows, 500);
		put_rows(&site, 100 + i * 30, 1);
		commit(&site, b);
	}
	(void) ask_engine(b, &r);
	leave(b);
	await_sessions(&site, 0);
	wc_buf_free(&out);
	site_close(&site);
}

/* The session's thread dispatches a request with this body, and has made the answer. */
static void
dispatch(WcDispatch *d, uint8_t type, uint8_t flags, const WcBuf *body)
{
	WcFrameReader request = {.header = {.length = (uint32_t) body->len,.type = type,.flags = flags},.body = *body};
	WcFrameHeader header;

	if (!wc_dispatch(d, &request, false))
		return;
	memcpy(&header, d->out.data, sizeof(header));
	assert_int_not_equal(header.type, WC_MSG_ERROR);
}

/* A session asks for the range, and the first rows of a stretch are read. */
static void
dispatch_range(Place *p, WcDispatch *d, const Range *r)
{
	WcOpenMessage m = {.cid = 1000,.target = WC_BLOCK_MAX};
	WcBuf		body = WC_BUF_INIT;

	wc_message_open_encode(&body, &m, &r->scan);
	dispatch(d, WC_MSG_OPEN, WC_FLAG_KEEP, &body);
	wc_buf_free(&body);
	for (int i = 0; i < 2; i++)
		wc_rangefill_next(&d->rangefill);
	assert_true(wc_rangefill_left(&d->rangefill));
	assert_false(finds(p, r));
}

static void
a_stretch_waits_for_requests_of_rows_only(void **state)
{
	Place	   *p = *state;
	atomic_bool cancel = false;
	uint64_t	number = 1;
	WcBuf		none = WC_BUF_INIT;
	WcBuf		body = WC_BUF_INIT;
	WcDispatch	d;
	Range		r;
	Range		other;

	load(p, 0, 1000, "1");
	assert_ok(&p->kit, wc_dispatch_init(&d, p->kit.engine, NULL, p->epochs, NULL, &cancel, &p->kit.err));
	d.session.database = KIT_DATABASE;

	dispatch_range(p, &d, rows(p, &r, 200, 220));
	dispatch(&d, WC_MSG_LIST_NAMESPACES, 0, &none);
	assert_false(wc_rangefill_left(&d.rangefill));

	dispatch_range(p, &d, &r);
	wc_message_numbers_encode(&body, &number, 1);
	dispatch(&d, WC_MSG_SNAPSHOT_RELEASE, 0, &body);
	assert_true(wc_rangefill_left(&d.rangefill));
	dispatch_range(p, &d, rows(p, &other, 600, 620));
	while (wc_rangefill_left(&d.rangefill))
		wc_rangefill_next(&d.rangefill);
	assert_finds(p, &r);
	assert_false(finds(p, &other));

	/* the session ends */
	dispatch_range(p, &d, &other);
	wc_dispatch_free(&d);
	wc_buf_free(&body);
}

/* A row that is too large for the cache of Gets is kept as a range; a small one is not. */
static void
a_session_keeps_a_large_row(void **state)
{
	static char value[20000];
	static const char *const ROWS[] = {"large", "r0000100", "none"};
	Site		site;
	Backend    *b;
	Range		r;
	WcBuf		out = WC_BUF_INIT;

	(void) state;
	memset(value, 'v', sizeof(value) - 1);
	site_open(&site, 10);
	b = connect_backend(&site);
	kit_create(&site.kit, "t", WC_PACKING_ROW, 1);
	put_rows(&site, 0, 500);
	kit_put(&site.kit, "large", 1, "q", KIT_LATEST, value);
	commit(&site, b);
	wc_scan_init(&r.scan, site.kit.table);
	r.scan.nranges = 1;
	r.scan.ranges = &r.range;
	for (int i = 2; i >= 0; i--)
	{
		r.range = (WcRange) {kit_s(ROWS[i]), kit_s(ROWS[i]), true, true};
		assert_int_equal(ask_engine(b, &r).rows, i < 2);
		if (i == 0)
			await_found(&site, &r, &out);
		else
			assert_false(site_finds(&site, &r, &out));
	}
	assert_true(out.len > sizeof(value));

	/* until it is written */
	kit_put(&site.kit, "large", 1, "q", KIT_LATEST, "small");
	commit(&site, b);
	assert_false(site_finds(&site, &r, &out));
	leave(b);
	await_sessions(&site, 0);
	wc_buf_free(&out);
	site_close(&site);
}

/* --- at the same time --------------------------------------------------------------- */

#define ROUNDS 60
#define WRITTEN_ROWS 10
#define OTHER_ROWS	40			/* of the same commits, behind the range: so the commits take a while */

typedef struct Race
{
	Place	   *p;
	uint32_t	table;
	atomic_int	committed;		/* all written rows have at least this value */
	atomic_bool ended;
	atomic_int	nfound;
	atomic_int	nwrong;
} Race;

/* The row that commits write, of so many. */
static void
written_key(char *key, size_t size, int i)
{
	snprintf(key, size, "r%05d%.*s", i * 50, i * 50 % 4, "xyz");
}

/* The range of the written rows, found as one state of the table, has the same value in all written rows; -1: it has not. */
static int
value_in(WcSlice block)
{
	WcBlockReader reader;
	WcBlockEntry entry;
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;
	int			value = -1;
	int			n = 0;

	if (wc_block_open(&reader, block, NULL) != WC_OK)
		return -1;
	while ((entry = wc_block_next(&reader, &row, &cell, &colno)) == WC_BLOCK_ROW || entry == WC_BLOCK_CELL)
	{
		char		text[16];

		if (entry == WC_BLOCK_ROW || (cell.value.len > 0 && cell.value.data[0] == 'x'))
			continue;
		snprintf(text, sizeof(text), "%.*s", (int) cell.value.len, (const char *) cell.value.data);
		if (n > 0 && atoi(text) != value)
			return -1;
		value = atoi(text);
		n++;
	}
	return entry == WC_BLOCK_DONE && n == WRITTEN_ROWS ? value : -1;
}

/* A session's answer, in the newest state. */
static WcRangeAnswer
read_answer(Race *race, const WcScan *scan, WcBuf *block)
{
	WcReadPoint at = {.database = KIT_DATABASE};
	WcRangeAnswer a = {.epoch = wc_getcache_epoch(race->p->getcache)};
	WcScanner  *scanner;
	WcError		err;

	wc_buf_reset(block, SIZE_MAX);
	if (wc_scanner_open(wc_engine_storage(race->p->kit.engine), scan, &at, &scanner, &err) != WC_OK ||
		wc_scanner_next(scanner, block, WC_BLOCK_MAX, 0, &err) != WC_END)
		abort();
	a.block = wc_buf_slice(block);
	a.valid_from_us = wc_scanner_valid_from_us(scanner);
	a.valid_until_us = wc_scanner_valid_until_us(scanner);
	wc_scanner_close(scanner);
	return a;
}

static void *
fill_and_find(void *arg)
{
	Race	   *race = arg;
	WcRangeFill fill;
	WcBuf		shape = WC_BUF_INIT;
	WcBuf		out = WC_BUF_INIT;
	WcBuf		block = WC_BUF_INIT;
	WcRange		range = {.start_inclusive = true,.stop = kit_s("s")};
	WcScan		scan;
	WcRangeQuery query = {.table_id = race->table,.range = &range,.epoch = UINT64_MAX,.now_us = kit_now};

	wc_rangefill_init(&fill, race->p->kit.engine, wc_epochs_ranges(race->p->epochs), race->p->getcache);
	wc_scan_init(&scan, race->table);
	scan.nranges = 1;
	scan.ranges = &range;
	wc_scan_shape_encode(&shape, &scan);
	query.shape = wc_buf_slice(&shape);
	while (!atomic_load(&race->ended))
	{
		WcRangeAnswer its = read_answer(race, &scan, &block);

		wc_rangefill_asked(&fill, KIT_DATABASE, &scan, &its);
		while (wc_rangefill_left(&fill) && atomic_load(&race->committed) >= 0)
			wc_rangefill_next(&fill);
		for (int i = 0; i < 5; i++)
		{
			int			before = atomic_load(&race->committed);

			wc_buf_reset(&out, SIZE_MAX);
			wc_buf_append_u8(&out, 0);
			if (!wc_rangecache_find(race->p->cache, &query, &out))
				continue;
			atomic_fetch_add(&race->nfound, 1);
			if (value_in(wc_buf_slice(&out)) < before)
				atomic_fetch_add(&race->nwrong, 1);
		}
	}
	wc_rangefill_free(&fill);
	wc_buf_free(&shape);
	wc_buf_free(&out);
	wc_buf_free(&block);
	return NULL;
}

static void
put_written(Place *p, int value)
{
	for (int i = 0; i < WRITTEN_ROWS; i++)
	{
		char		key[16];
		char		text[16];

		written_key(key, sizeof(key), i);
		snprintf(text, sizeof(text), "%d", value);
		kit_put(&p->kit, key, 1, "a", KIT_LATEST, text);
	}
	for (int i = 0; i < OTHER_ROWS; i++)
	{
		char		key[16];

		snprintf(key, sizeof(key), "s%d", i);
		kit_put(&p->kit, key, 1, "a", KIT_LATEST, "x");
	}
	kit_commit(&p->kit);
}

/* While nothing is written, the sessions find the rows, sooner or later. */
static void
await_more(Race *race, int seen)
{
	int64_t		until = wc_clock_monotonic_us() + PATIENCE_S * WC_USEC_PER_SEC;

	while (atomic_load(&race->nfound) == seen)
	{
		if (wc_clock_monotonic_us() > until)
			fail_msg("the rows are not found");
		usleep(100);
	}
}

/* What is found is one state of the table, and no older than what was committed before. */
static void
sessions_find_one_state_while_rows_are_written(void **state)
{
	Place	   *p = *state;
	Race		race = {.p = p,.table = p->kit.table};
	pthread_t	threads[2];

	load(p, 0, 50 * WRITTEN_ROWS, "x");
	put_written(p, 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fill_and_find, &race), 0);
	for (int i = 1; i <= ROUNDS; i++)
	{
		int			seen = atomic_load(&race.nfound);

		put_written(p, i);
		atomic_store(&race.committed, i);
		if (i % 4 == 0)
			await_more(&race, seen);
	}
	atomic_store(&race.ended, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(race.nwrong, 0);
}

/* --- random histories ---------------------------------------------------------------- */

#define KEYS 600

static WcFamilyAttrs
random_attrs(void)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;

	attrs.packing = below(2) == 0 ? WC_PACKING_ROW : WC_PACKING_CELL;
	attrs.versions = 1 + below(3);
	if (below(3) == 0)
		attrs.ttl_us = 1000000 * (1 + (int64_t) below(20));
	return attrs;
}

static void
random_commit(Place *p, uint32_t nrows)
{
	static char long_value[3000];

	fill_with(long_value, sizeof(long_value), 'v');
	for (; nrows > 0; nrows--)
	{
		const char *row = key_of((int) below(KEYS));
		char		qualifier[4];

		snprintf(qualifier, sizeof(qualifier), "q%u", below(4));
		if (below(4) > 0)
			kit_put(&p->kit, row, 1 + below(2), qualifier, KIT_LATEST,
					below(40) == 0 ? long_value : below(2) == 0 ? "short" : "a value of some bytes");
		else if (below(2) == 0)
			kit_delete(&p->kit, WC_DELETE_COLUMN, row, 1, qualifier, KIT_LATEST);
		else
			kit_delete(&p->kit, WC_DELETE_FAMILY, row, 1 + below(2), "", KIT_LATEST);
	}
	kit_commit(&p->kit);
}

static void
random_shape(Place *p, Range *r, WcColumn *column)
{
	range_of(p, r, "", "");
	r->scan.versions = 1 + below(2);
	r->scan.want_ts = below(2) == 0;
	r->scan.key_only = below(4) == 0;
	r->scan.rows_by_existence = below(2) == 0;
	*column = (WcColumn) {.family = 1,.kind = below(2) == 0 ? WC_COLUMN_EXACT : WC_COLUMN_FAMILY,.qualifier = kit_s("q1")};
	if (column->kind == WC_COLUMN_FAMILY)
		column->qualifier = kit_s("");
	if (r->scan.rows_by_existence || below(2) == 0)
	{
		r->scan.ncolumns = 1;
		r->scan.columns = column;
	}
	if (!r->scan.rows_by_existence && below(4) == 0)
		r->scan.column_limit = 1;
	if (!r->scan.rows_by_existence && below(4) == 0)
		r->scan.column_offset = 1;
	assert_ok(&p->kit, wc_scan_check(&r->scan, &p->kit.err));
}

/* A bound that is a key, perhaps of no row, or none. */
static WcSlice
random_bound(char key[16], int i)
{
	snprintf(key, 16, "%s%s", key_of(i), below(4) == 0 ? "-" : "");
	return kit_s(below(12) == 0 ? "" : key);
}

static void
random_range(Range *r)
{
	int			from = (int) below(KEYS);
	int			n = (int) below(below(2) == 0 ? 30 : 300);

	r->range = (WcRange) {random_bound(r->keys[0], from), random_bound(r->keys[1], from + n), below(4) > 0, below(2) == 0};
	r->scan.reversed = below(2) == 0;
	r->scan.row_limit = below(2) == 0 ? 0 : 1 + below(50);
}

/* Whatever is found is what the engine answers. */
static void
random_histories(void **state)
{
	Place	   *p = *state;
	unsigned	nfound = 0;

	for (int round = 0; round < 4; round++)
	{
		WcFamilyAttrs attrs = random_attrs();
		Range		shapes[2];
		WcColumn	columns[2];
		char		name[16];

		snprintf(name, sizeof(name), "history%d", round);
		kit_create_attrs(&p->kit, name, &attrs);
		kit_commit(&p->kit);
		random_commit(p, 500);
		for (int i = 0; i < 2; i++)
			random_shape(p, &shapes[i], &columns[i]);
		for (int step = 0; step < 30; step++)
		{
			Range	   *r = &shapes[below(2)];

			random_commit(p, 1 + below(2));
			if (below(30) == 0)
				kit_flush(&p->kit);
			kit_now += below(200000);
			random_range(r);
			wc_rangefill_asked(&p->fill, KIT_DATABASE, &r->scan, given(p, answer_of(p, r)));
			while (wc_rangefill_left(&p->fill) && below(20) > 0)
			{
				wc_rangefill_next(&p->fill);
				if (below(10) == 0)
					random_commit(p, 1);
			}
			for (int i = 0; i < 8; i++)
			{
				r = &shapes[below(2)];
				random_range(r);
				nfound += finds(p, r);
			}
		}
	}
	assert_true(nfound > 60);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_keeps_the_range_that_it_was_asked_for),
		cmocka_unit_test_setup(a_stretch_waits_for_requests_of_rows_only, set_up),
		cmocka_unit_test(a_session_keeps_a_large_row),
		cmocka_unit_test_setup(sessions_find_one_state_while_rows_are_written, set_up),
		cmocka_unit_test_setup(random_histories, set_up),
	};

	return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
