/*
 * test/unit/rangefillkit.h: an engine, and a session's thread that keeps the rows of ranges that were asked for (rpc/lock/rangefill.h).
 */
#ifndef WC_TEST_RANGEFILLKIT_H
#define WC_TEST_RANGEFILLKIT_H

#include "rpckit.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "model/cellblock.h"
#include "random.h"
#include "rpc/lock/epochs.h"
#include "rpc/lock/rangefill.h"

#define CACHE_BYTES (8 << 20)

typedef struct Place
{
	Kit			kit;
	WcGetCache *getcache;
	WcRangeCache *cache;
	WcEpochs   *epochs;
	WcRangeFill fill;
	WcBuf		block;
	WcBuf		answer;
	int64_t		valid_from_us;	/* these two: of the answer */
	int64_t		valid_until_us;
	WcBuf		found;
	WcBuf		shape;
} Place;

/* A Scan of one range, which is not copied. */
typedef struct Range
{
	WcRange		range;
	WcScan		scan;
	char		keys[2][16];
} Range;

/* Keys of several lengths, each valid for a few calls; one thread. */
static inline const char *
key_of(int i)
{
	static char keys[4][16];
	static int	turn;

	turn = (turn + 1) % 4;
	snprintf(keys[turn], sizeof(keys[turn]), "r%05d%.*s", i, i % 4, "xyz");
	return keys[turn];
}

/* One engine for all tests. */
static Place place;

static inline int
set_up_all(void **state)
{
	Place	   *p = &place;

	kit_open(&p->kit);
	p->getcache = kit_getcache(1 << 20, 1);
	p->cache = make_rangecache(CACHE_BYTES);
	assert_ok(&p->kit, wc_epochs_create(p->kit.engine, p->getcache, &p->epochs, &p->kit.err));
	assert_true(wc_epochs_use_ranges(p->epochs, p->cache));
	return seed(state);
}

static inline int
tear_down_all(void **state)
{
	Place	   *p = &place;

	(void) state;
	wc_rangefill_free(&p->fill);
	wc_epochs_free(p->epochs);
	kit_close(&p->kit);
	free(p->getcache);
	free(p->cache);
	wc_buf_free(&p->block);
	wc_buf_free(&p->answer);
	wc_buf_free(&p->found);
	wc_buf_free(&p->shape);
	return 0;
}

/* A test has a table of its own, and nothing is kept when it begins. */
static inline int
set_up(void **state)
{
	static int	n;
	char		name[16];

	snprintf(name, sizeof(name), "test%d", n++);
	kit_create(&place.kit, name, WC_PACKING_ROW, 1);
	kit_commit(&place.kit);
	wc_rangecache_reset(place.cache);
	wc_rangefill_free(&place.fill);
	wc_rangefill_init(&place.fill, place.kit.engine, wc_epochs_ranges(place.epochs), place.getcache);
	*state = &place;
	return 0;
}

static inline void
load(Place *p, int from, int to, const char *value)
{
	for (int i = from; i < to; i++)
		kit_put(&p->kit, key_of(i), 1, "a", KIT_LATEST, value);
	kit_commit(&p->kit);
}

static inline void
fill_with(char *value, size_t size, char c)
{
	memset(value, c, size - 1);
	value[size - 1] = '\0';
}

/* From start up to stop, which does not belong to it; "": without a bound. */
static inline Range *
range_of(Place *p, Range *r, const char *start, const char *stop)
{
	r->range = (WcRange) {kit_s(start), kit_s(stop), true, false};
	wc_scan_init(&r->scan, p->kit.table);
	r->scan.nranges = 1;
	r->scan.ranges = &r->range;
	return r;
}

static inline Range *
rows(Place *p, Range *r, int from, int to)
{
	snprintf(r->keys[0], sizeof(r->keys[0]), "%s", key_of(from));
	snprintf(r->keys[1], sizeof(r->keys[1]), "%s", key_of(to));
	return range_of(p, r, r->keys[0], r->keys[1]);
}

/* What the engine answers, as one block. */
static inline WcSlice
answer_of(Place *p, const Range *r)
{
	WcReadPoint at = {.database = KIT_DATABASE};
	WcScanner  *scanner;
	WcStatus	status;

	wc_buf_reset(&p->answer, SIZE_MAX);
	wc_buf_append_u8(&p->answer, 0);
	status = wc_scanner_open(wc_engine_storage(p->kit.engine), &r->scan, &at, &scanner, &p->kit.err);
	while (status == WC_OK)
	{
		wc_buf_reset(&p->block, SIZE_MAX);
		status = wc_scanner_next(scanner, &p->block, WC_BLOCK_MAX, 0, &p->kit.err);
		if (status == WC_OK || status == WC_END)
			wc_buf_append(&p->answer, p->block.data + 1, p->block.len - 1);
	}
	assert_int_equal(status, WC_END);
	p->valid_from_us = wc_scanner_valid_from_us(scanner);
	p->valid_until_us = wc_scanner_valid_until_us(scanner);
	wc_scanner_close(scanner);
	return wc_buf_slice(&p->answer);
}

/* The answer, read last by answer_of; every second time in no epoch: then its rows are read again. */
static inline const WcRangeAnswer *
given(Place *p, WcSlice block)
{
	static WcRangeAnswer a;
	static int	turn;

	a = (WcRangeAnswer) {.block = block,.epoch = turn++ % 2 == 0 ? wc_getcache_epoch(p->getcache) : 0,
		.valid_from_us = p->valid_from_us,.valid_until_us = p->valid_until_us
	};
	return &a;
}

static inline bool
find_in(Place *p, const Range *r, uint64_t epoch)
{
	WcRangeQuery query = {.table_id = r->scan.table_id,.range = &r->range,.reversed = r->scan.reversed,
		.row_limit = r->scan.row_limit,.epoch = epoch,.now_us = kit_now
	};

	wc_buf_reset(&p->shape, SIZE_MAX);
	wc_scan_shape_encode(&p->shape, &r->scan);
	query.shape = wc_buf_slice(&p->shape);
	wc_buf_reset(&p->found, SIZE_MAX);
	wc_buf_append_u8(&p->found, 0);
	return wc_rangecache_find(p->cache, &query, &p->found);
}

/* Does a session find the range, in the newest state and in the present epoch?  Then it finds what the engine answers. */
static inline bool
finds(Place *p, const Range *r)
{
	bool		newest = find_in(p, r, UINT64_MAX);

	assert_true(find_in(p, r, wc_getcache_epoch(p->getcache)) == newest);
	if (!newest)
	{
		assert_int_equal(p->found.len, 1);
		return false;
	}
	assert_true(wc_slice_eq(wc_buf_slice(&p->found), answer_of(p, r)));
	return true;
}

static inline bool
finds_row(Place *p, int i)
{
	Range		r;

	rows(p, &r, i, i);
	r.range.stop_inclusive = true;
	return finds(p, &r);
}

/* How many stretches does the session's thread make that it has begun, or that are left? */
static inline int
make_all(Place *p)
{
	int			n = 0;

	for (int i = 0; wc_rangefill_left(&p->fill); i++)
	{
		uint32_t	left = p->fill.left;

		assert_true(i < 100000);
		wc_rangefill_next(&p->fill);
		n += p->fill.left < left;
	}
	return n;
}

/* A session asks for the range; how many stretches does its thread make after the answer? */
static inline int
ask_with(Place *p, const Range *r, WcSlice its_answer)
{
	wc_rangefill_asked(&p->fill, KIT_DATABASE, &r->scan, given(p, its_answer));
	return make_all(p);
}

static inline int
ask(Place *p, const Range *r)
{
	return ask_with(p, r, answer_of(p, r));
}

/* Both directions, with these limits and without one. */
static inline void
assert_all_found(Place *p, Range *r, int line)
{
	static const uint64_t limits[] = {0, 1, 2, 7, 100};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]) * 2; i++)
	{
		r->scan.reversed = i % 2 == 1;
		r->scan.row_limit = limits[i / 2];
		if (!finds(p, r))
			fail_msg("line %d: not found%s, limit %d", line, r->scan.reversed ? ", reversed" : "", (int) r->scan.row_limit);
	}
	r->scan.reversed = false;
	r->scan.row_limit = 0;
}

#define assert_finds(p, r) assert_all_found(p, r, __LINE__)

#endif
