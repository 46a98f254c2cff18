/*
 * test/unit/test_matcher.c: the matcher: visible cells, and cells that compactions keep.
 *
 * Every rule of read/README for the matcher, over cells in memory.  A test gives a family and a list of cells as
 * text, and compares the result as text: "qualifier@timestamp" for a put, followed by the marker's name for a
 * marker.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/store/internal.h"
#include "mangle.h"
#include "model/cellblock.h"
#include "read/scan/storescan.h"

#define CELLS_MAX 64
#define NOW 1000

static WcMatcherOptions
options(WcMatchMode mode, uint32_t family_versions)
{
	WcMatcherOptions o = {
		.mode = mode,
		.attrs = {.versions = family_versions},
		.now_us = NOW,
		.versions = WC_VERSIONS_MAX,
		.ts_max = WC_TS_LATEST,
		.dated_until_ts = INT64_MAX,
		.earliest_put_ts = INT64_MIN
	};

	return o;
}

static int
cmp_cells(const void *a, const void *b)
{
	return wc_cell_cmp(a, b);
}

static const char *const type_suffix[] = {
	[WC_PUT] = "", [WC_DELETE] = "D", [WC_DELETE_FAMILY_VERSION] = "FV",
	[WC_DELETE_COLUMN] = "DC", [WC_DELETE_FAMILY] = "DF"
};

static uint8_t
type_of(const char *suffix)
{
	for (uint8_t type = WC_PUT; type <= WC_DELETE_FAMILY; type += 2)
	{
		if (type_suffix[type] && strcmp(suffix, type_suffix[type]) == 0)
			return type;
	}
	fail_msg("no cell type %s", suffix);
	return 0;
}

/*
 * "q@10 q@9DC @5DF q@8+3 q@7!99": a put, a DeleteColumn, a DeleteFamily, a put
 * with cell TTL 3, a put written at 99.  In any order.  text is cut up.
 */
static size_t
parse(char *text, WcCell *cells)
{
	size_t		n = 0;
	char	   *save = NULL;

	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
	{
		WcCell	   *c = &cells[n++];
		char	   *at = strchr(word, '@');
		char	   *end;

		assert_non_null(at);
		assert_true(n <= CELLS_MAX);
		memset(c, 0, sizeof(*c));
		c->qualifier = wc_slice(word, (size_t) (at - word));
		c->ts = c->seq = strtoll(at + 1, &end, 10);
		if (*end == '+')
			c->ttl_us = strtoll(end + 1, &end, 10);
		if (*end == '!')
			c->seq = strtoll(end + 1, &end, 10);
		c->type = type_of(end);
	}
	qsort(cells, n, sizeof(WcCell), cmp_cells);
	return n;
}

/* What comes out, as text. */
static void
run(const WcMatcherOptions *o, const char *cells_text, char *out, size_t size)
{
	char	   *text = strdup(cells_text);
	WcCell		cells[CELLS_MAX];
	size_t		n = parse(text, cells);
	WcCellSource *src;
	WcStoreScan *scan;
	WcCell		c;
	WcError		err;
	uint32_t	colno;
	size_t		used = 0;
	WcStatus	status;

	out[0] = '\0';
	assert_int_equal(wc_cellsource_memory(1, wc_slice_cstr("row"), cells, n, false, &src, &err), WC_OK);
	assert_int_equal(wc_storescan_open(src, o, NULL, &scan, &err), WC_OK);
	status = wc_storescan_seek(scan, wc_slice(NULL, 0), true, &err);
	assert_int_equal(status, n > 0 ? WC_OK : WC_END);
	while (status == WC_OK && (status = wc_storescan_next(scan, &c, &colno, &err)) == WC_OK)
	{
		used += (size_t) snprintf(out + used, size - used, "%s%.*s@%lld%s", used > 0 ? " " : "",
								  (int) c.qualifier.len, (const char *) c.qualifier.data,
								  (long long) c.ts, type_suffix[c.type]);
		if (colno != WC_NO_COLUMN)
			used += (size_t) snprintf(out + used, size - used, "#%u", colno);
		assert_true(used < size);
	}
	assert_int_equal(status, WC_END);
	wc_storescan_close(scan);
	free(text);
}

static WcMatcher *
create(const WcMatcherOptions *o)
{
	WcMatcher  *m;

	assert_int_equal(wc_matcher_create(o, &m, NULL), WC_OK);
	return m;
}

/* Another matcher that goes on where m stood. */
static WcMatcher *
take_over(const WcMatcherOptions *o, WcMatcher *m)
{
	WcMatcher  *next = create(o);
	WcBuf		state = WC_BUF_INIT;

	wc_matcher_save(m, &state);
	assert_false(state.failed);
	assert_int_equal(wc_matcher_restore(next, wc_buf_slice(&state), NULL), WC_OK);
	wc_buf_free(&state);
	wc_matcher_free(m);
	return next;
}

/*
 * A compaction in pieces: each cell is shown to another matcher, which gets the state of the one before.  Prints the kept
 * cells, and the results for the dropped ones.
 */
static void
run_in_pieces(const WcMatcherOptions *o, const char *cells_text, char *out, size_t size)
{
	char	   *text = strdup(cells_text);
	WcCell		cells[CELLS_MAX];
	size_t		n = parse(text, cells);
	WcMatcher  *whole = create(o);
	WcMatcher  *piece = create(o);
	size_t		used = 0;

	out[0] = '\0';
	wc_matcher_start_row(whole);
	wc_matcher_start_row(piece);
	for (size_t i = 0; i < n; i++)
	{
		uint32_t	colno;
		WcMatch		match = wc_matcher_match(piece, &cells[i], &colno);

		assert_int_equal(wc_matcher_match(whole, &cells[i], &colno), match);
		if (match == WC_MATCH_INCLUDE)
			used += (size_t) snprintf(out + used, size - used, "%s%.*s@%lld%s", used > 0 ? " " : "",
									  (int) cells[i].qualifier.len, (const char *) cells[i].qualifier.data,
									  (long long) cells[i].ts, type_suffix[cells[i].type]);
		else
			assert_int_equal(wc_matcher_drop(piece, &cells[i]), wc_matcher_drop(whole, &cells[i]));
		piece = take_over(o, piece);
	}
	wc_matcher_free(whole);
	wc_matcher_free(piece);
	free(text);
}

#define assert_match(o, cells, want) \
	do { \
		char out_[1024]; \
		run((o), (cells), out_, sizeof(out_)); \
		assert_string_equal(out_, (want)); \
		if ((o)->mode == WC_MATCH_MINOR || (o)->mode == WC_MATCH_MAJOR) \
			run_in_pieces((o), (cells), out_, sizeof(out_)); \
		assert_string_equal(out_, (want)); \
	} while (0)

/* --- section 2: what each marker masks -------------------------------------*/

static void
test_markers(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_READ, 5);

	assert_match(&o, "q@8 q@9 q@10 q@11 q@10D q@8D", "q@11 q@9");
	assert_match(&o, "q@8 q@9 q@10 r@8 q@9DC", "q@10 r@8");
	assert_match(&o, "a@8 b@9 b@10 @9DF", "b@10");
	assert_match(&o, "a@8 a@9 b@9 b@10 @9FV", "a@8 b@10");
	assert_match(&o, "a@7 a@8 a@9 b@7 b@8 @9FV @7FV", "a@8 b@8");
	/* all kinds at one timestamp, before the put */
	assert_match(&o, "q@10 @10 q@10D q@10DC @10DF @10FV", "");
	/* a marker of one column says nothing about the next */
	assert_match(&o, "a@9DC b@9 c@9D d@9", "b@9 d@9");
	/* one that is older than a put; one that has nothing to mask */
	assert_match(&o, "q@10 q@9DC", "q@10");
	assert_match(&o, "q@9DC r@9D", "");
	/* a column delete below a version delete, and the other way */
	assert_match(&o, "q@20 q@15 q@12 q@5 q@20D q@12DC", "q@15");
	assert_match(&o, "q@20 q@15 q@12 q@5 q@20DC q@12D", "");
}

/* Family markers live in the column without a name, among its puts. */
static void
test_family_markers_among_puts(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_READ, 1);
	WcColumn	column = {.kind = WC_COLUMN_EXACT, .qualifier = wc_slice_cstr("q")};
	uint32_t	colno = 3;

	assert_match(&o, "@101 @100 @100DF q0@103 q1@99", "@101 q0@103");
	assert_match(&o, "@102 @101 @90 @95DF q@95 q@96", "@102 q@96");
	assert_match(&o, "@102 @102DC @101 @95DF q@95 r@96", "r@96");
	assert_match(&o, "@102 @101FV q@101 r@100", "@102 r@100");

	/* also when that column is not asked for */
	o.ncolumns = 1;
	o.columns = &column;
	o.colnos = &colno;
	assert_match(&o, "@102 @101 @95DF q@95", "");
	assert_match(&o, "@102 @101 @95DF q@96 r@97", "q@96#3");
}

/* --- section 3: the pipeline -----------------------------------------------*/

static void
test_versions(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_READ, 3);

	assert_match(&o, "q@1 q@2 q@3 q@4 r@1", "q@4 q@3 q@2 r@1");
	o.versions = 2;
	assert_match(&o, "q@1 q@2 q@3 q@4 r@1", "q@4 q@3 r@1");
	o.versions = 1;
	assert_match(&o, "q@1 q@2 q@3 q@4 r@1", "q@4 r@1");
	/* masked ones do not count */
	assert_match(&o, "q@1 q@2 q@3 q@4 q@4D q@3D", "q@2");
	/* one timestamp, one version */
	o.versions = 2;
	assert_match(&o, "q@5!9 q@5!8 q@4", "q@5 q@4");
}

static void
test_time_range(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_READ, 1);

	o.ts_max = 20;
	assert_match(&o, "q@10 q@20 q@30", "q@10");
	o.ts_min = 10;
	assert_match(&o, "q@9 q@10 q@20 q@30 r@9", "q@10");
	o.ts_min = 11;
	assert_match(&o, "q@9 q@10 q@20 q@30 r@15", "r@15");
	/* exactly one timestamp */
	o.attrs.versions = 3;
	o.ts_min = 20;
	o.ts_max = 21;
	assert_match(&o, "q@19 q@20 q@21", "q@20");
	/* a marker later than the range masks all the same */
	o.ts_min = 0;
	assert_match(&o, "q@19 q@20 q@25DC r@20", "r@20");
	assert_match(&o, "q@19 q@20 @25DF", "");
}

static void
test_columns(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_READ, 1);
	WcColumn	columns[] = {
		{.kind = WC_COLUMN_EXACT, .qualifier = wc_slice_cstr("b")},
		{.kind = WC_COLUMN_EXACT, .qualifier = wc_slice_cstr("e")},
		{.kind = WC_COLUMN_PREFIX, .qualifier = wc_slice_cstr("d")},
		{.kind = WC_COLUMN_RANGE, .qualifier = wc_slice_cstr("d2"), .stop = wc_slice_cstr("f")},
		{.kind = WC_COLUMN_FAMILY}
	};
	uint32_t	colnos[] = {7, 5, 9, 10, 11};

	o.columns = columns;
	o.colnos = colnos;
	o.ncolumns = 2;
	assert_match(&o, "a@1 b@1 b@2 c@1 d@1 e@1 f@1", "b@2#7 e@1#5");
	assert_match(&o, "b1@1 c@1 f@1", "");
	assert_match(&o, "a@1 b@3DC b@2 e@1", "e@1#5");
	o.ncolumns = 3;
	assert_match(&o, "a@1 b@1 c@1 d@1 da@1 db@2 e@1 e1@1 f@1", "b@1#7 d@1 da@1 db@2 e@1#5");
	/* overlapping kinds: once each, the exact one says its number */
	o.ncolumns = 4;
	assert_match(&o, "b@1 d1@1 d2@1 d3@1 e@1 e5@1 f@1", "b@1#7 d1@1 d2@1 d3@1 e@1#5 e5@1");
	/* the whole family, after columns */
	o.ncolumns = 5;
	assert_match(&o, "@1 a@1 b@1 e@1 z@1", "@1 a@1 b@1#7 e@1#5 z@1");
	/* a range without end */
	columns[3].stop = wc_slice(NULL, 0);
	o.columns = columns + 3;
	o.ncolumns = 1;
	assert_match(&o, "d1@1 d2@1 \xff@1", "d2@1 \xff@1");
	/* a range that holds nothing */
	columns[3].stop = wc_slice_cstr("a");
	assert_match(&o, "d1@1 d2@1 e@1", "");
}

/* --- section 5: TTL, MIN_VERSIONS, cell TTL --------------------------------*/

static void
test_ttl(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_READ, 3);

	o.attrs.ttl_us = 100;
	assert_match(&o, "q@899 q@900 q@950", "q@950 q@900");
	assert_match(&o, "q@899 r@950", "r@950");
	assert_match(&o, "q@5000", "q@5000");
	/* a marker ends with its time as well */
	assert_match(&o, "q@899DC q@900", "q@900");
	assert_match(&o, "@950DF q@920 r@960", "r@960");
}

static void
test_min_versions(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_READ, 4);
	WcColumn	column = {.kind = WC_COLUMN_EXACT, .qualifier = wc_slice_cstr("q")};
	uint32_t	colno = 3;

	o.attrs.ttl_us = 100;
	o.attrs.min_versions = 2;
	assert_match(&o, "q@1 q@2 q@3", "q@3 q@2");
	assert_match(&o, "q@1 q@2 q@950", "q@950 q@2");
	assert_match(&o, "q@1 q@920 q@930 q@950", "q@950 q@930 q@920");
	/* a deleted one is none of them */
	assert_match(&o, "q@1 q@2 q@3 q@3D", "q@2 q@1");
	/* nor one outside the range */
	o.ts_max = 3;
	assert_match(&o, "q@1 q@2 q@3", "q@2 q@1");
	o.ts_max = WC_TS_LATEST;
	o.versions = 1;
	assert_match(&o, "q@1 q@2 q@3", "q@3");
	/* a read of named columns shows the first expired one behind those that have not expired */
	o.versions = 4;
	assert_match(&o, "q@1 q@2 q@930 q@950", "q@950 q@930");
	o.ncolumns = 1;
	o.columns = &column;
	o.colnos = &colno;
	assert_match(&o, "q@1 q@2 q@930 q@950", "q@950#3 q@930#3 q@2#3");
	assert_match(&o, "q@1 q@2 q@950", "q@950#3 q@2#3");
	assert_match(&o, "q@1 q@2 q@3", "q@3#3 q@2#3");
	o.attrs.min_versions = 0;
	assert_match(&o, "q@1 q@2 q@950", "q@950#3");
}

static void
test_cell_ttl(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_READ, 1);

	assert_match(&o, "q@990+10", "q@990");
	assert_match(&o, "q@990+9", "");
	/* expired cells neither count nor mask */
	assert_match(&o, "q@990+9 q@980 q@970", "q@980");
	/* it can only shorten */
	o.attrs.ttl_us = 50;
	assert_match(&o, "q@940+500", "");
	o.mode = WC_MATCH_RAW;
	assert_match(&o, "q@990+9 q@940", "q@940");
}

/* --- section 6: KEEP_DELETED_CELLS -----------------------------------------*/

static void
test_keep_deleted(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_READ, 5);
	const char *cells = "c@10 c@12 c@14 c@11DC";

	assert_match(&o, cells, "c@14 c@12");
	o.ts_max = 11;
	assert_match(&o, cells, "");
	o.attrs.keep_deleted = WC_KEEP_DELETED_TRUE;
	assert_match(&o, cells, "c@10");
	o.ts_max = 12;
	assert_match(&o, cells, "");
	o.ts_max = WC_TS_LATEST;
	assert_match(&o, cells, "c@14 c@12");
	assert_match(&o, "c@10 @11DF d@11 d@12", "d@12");
	o.ts_max = 11;
	assert_match(&o, "c@10 @11DF d@10", "c@10 d@10");
	/* VERSIONS limits kept deleted cells, too */
	o.attrs.versions = 1;
	assert_match(&o, "c@8 c@10 c@11DC", "c@10");
}

/* --- section 7: raw --------------------------------------------------------*/

static void
test_raw(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_RAW, 1);

	assert_match(&o, "q@10 @10 q@10D q@10DC @10DF @10FV", "@10DF @10FV @10 q@10DC q@10D q@10");
	/* the scan's versions count, not the family's; markers do not */
	o.versions = 2;
	assert_match(&o, "q@10 q@9DC q@8 q@7D q@6 r@1", "q@10 q@9DC q@8 q@7D r@1");
	o.versions = 1;
	assert_match(&o, "q@5 q@5D", "q@5D q@5");
	assert_match(&o, "q@10 q@9 q@8DC", "q@10");
	/* the range holds for markers too */
	o.ts_min = 5;
	o.ts_max = 10;
	assert_match(&o, "q@10DC q@9D q@9 r@5DC s@4", "q@9D q@9 r@5DC");
	/* no TTL of the family */
	o.ts_min = 0;
	o.ts_max = WC_TS_LATEST;
	o.attrs.ttl_us = 1;
	assert_match(&o, "q@9D r@5", "q@9D r@5");
}

/* --- section 4: what storage forgets ---------------------------------------*/

static void
test_minor(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_MINOR, 2);

	assert_match(&o, "c@10 c@12 c@14 c@11DC", "c@14 c@12 c@11DC");
	assert_match(&o, "c@1 c@2 c@3 d@1", "c@3 c@2 d@1");
	assert_match(&o, "c@5 @9DF @9FV d@9", "@9DF @9FV");
	assert_match(&o, "c@5!8 c@5!7 c@4", "c@5 c@4");
	/* markers go with the rest of a column, behind VERSIONS or masked puts ... */
	assert_match(&o, "c@5 c@4 c@3 c@2DC c@1", "c@5 c@4");
	assert_match(&o, "c@5DC c@4 c@3D c@3", "c@5DC");
	/* ... but not those of the family, which other columns need */
	assert_match(&o, "@5 @4 @3 @2DF q@1", "@5 @4 @2DF");
	/* expired */
	o.attrs.ttl_us = 100;
	assert_match(&o, "c@899 c@899DC c@950 d@950+49", "c@950");
	o.attrs.min_versions = 1;
	assert_match(&o, "c@898 c@899 d@950 d@960", "c@899 d@960 d@950");
}

static void
test_minor_keep_deleted(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_MINOR, 3);

	o.attrs.keep_deleted = WC_KEEP_DELETED_TRUE;
	assert_match(&o, "c@10 c@12 c@11DC", "c@12 c@11DC c@10");
	assert_match(&o, "c@10 c@12 c@13 c@14 c@11DC", "c@14 c@13 c@12 c@11DC");
	o.attrs.keep_deleted = WC_KEEP_DELETED_TTL;
	o.attrs.ttl_us = 100;
	o.attrs.min_versions = 3;
	assert_match(&o, "c@940 c@950DC", "c@950DC c@940");
	assert_match(&o, "c@840 c@850DC", "c@850DC");
}

static void
test_major(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_MAJOR, 2);

	assert_match(&o, "c@10 c@12 c@14 c@11DC", "c@14 c@12");
	assert_match(&o, "a@1 @3DF @9FV b@9 c@5D c@4", "c@4");
	/* markers of the future too */
	assert_match(&o, "a@1 b@8000 @9000DF", "");
}

static void
test_major_keep_deleted(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_MAJOR, 2);

	o.attrs.keep_deleted = WC_KEEP_DELETED_TRUE;
	o.earliest_put_ts = 10;
	assert_match(&o, "c@10 c@12 c@11DC", "c@12 c@11DC c@10");
	/* older than every put there is */
	assert_match(&o, "c@12 c@9DC d@9D d@10", "c@12 d@10");
	o.earliest_put_ts = 1;
	assert_match(&o, "c@12 c@9DC", "c@12 c@9DC");
	/* behind VERSIONS puts */
	assert_match(&o, "c@12 c@11 c@10 c@9DC", "c@12 c@11");
	/* but not a family's: it masks other columns still */
	assert_match(&o, "@12 @11 @10 @9DF c@5", "@12 @11 @9DF c@5");
	/* mode TTL: as TRUE until the marker's time is over */
	o.attrs.keep_deleted = WC_KEEP_DELETED_TTL;
	o.attrs.ttl_us = 100;
	o.attrs.min_versions = 2;
	assert_match(&o, "c@940 c@950DC", "c@950DC c@940");
	assert_match(&o, "c@840 c@850DC d@1", "d@1");
}

/* A marker whose timestamp was given stays for a while, and does its work meanwhile. */
static void
test_major_dated_markers(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_MAJOR, 2);

	o.dated_until_ts = 50;
	assert_match(&o, "c@10 c@12 c@14 c@11!51DC d@5!50D e@60DC", "c@14 c@12 c@11DC");
	assert_match(&o, "a@1 @3!60DF b@9 c@5D c@4", "@3DF b@9 c@4");
	/* but for what VERSIONS has cut off */
	assert_match(&o, "c@5 c@4 c@3 c@2!60DC c@1", "c@5 c@4");
}

static void
restore_any(WcSlice bytes, void *arg)
{
	WcMatcherOptions o = options(WC_MATCH_MINOR, 3);
	WcMatcher  *m = create(&o);
	WcStatus	status = wc_matcher_restore(m, bytes, NULL);
	WcCell		cell = {.type = WC_PUT,.qualifier = wc_slice_cstr("q"),.ts = 5,.seq = 5};
	uint32_t	colno;

	assert_true(status == WC_OK || status == WC_CORRUPT);
	(void) wc_matcher_match(m, &cell, &colno);
	*(unsigned *) arg += status == WC_OK;
	wc_matcher_free(m);
}

static void
test_any_state_is_survived(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_MINOR, 3);
	char		text[] = "@9FV @8FV @7DF q@20 q@19DC q@18D q@10";
	WcCell		cells[CELLS_MAX];
	size_t		n = parse(text, cells);
	WcMatcher  *m = create(&o);
	WcBuf		bytes = WC_BUF_INIT;
	unsigned	good = 0;
	uint32_t	colno;

	wc_matcher_start_row(m);
	for (size_t i = 0; i < n; i++)
		(void) wc_matcher_match(m, &cells[i], &colno);
	wc_matcher_save(m, &bytes);
	wc_mangle_prefixes(wc_buf_slice(&bytes), restore_any, &good);
	assert_int_equal(good, 1);
	wc_mangle_randomly(wc_buf_slice(&bytes), 20000, restore_any, &good);
	wc_buf_free(&bytes);
	wc_matcher_free(m);
}

/* --- whether a row is there ------------------------------------------------*/

static void
assert_exists(const char *cells_text, const char *column, bool want)
{
	WcMatcherOptions o = options(WC_MATCH_READ, 1);
	WcColumn	c = {.kind = WC_COLUMN_EXACT, .qualifier = wc_slice_cstr(column)};
	uint32_t	colno = 0;
	char	   *text = strdup(cells_text);
	WcCell		cells[CELLS_MAX];
	size_t		n = parse(text, cells);
	WcCellSource *src;
	WcStoreScan *scan;
	WcCell		cell;
	WcError		err;
	bool		exists;

	o.ncolumns = 1;
	o.columns = &c;
	o.colnos = &colno;
	assert_int_equal(wc_cellsource_memory(1, wc_slice_cstr("row"), cells, n, false, &src, &err), WC_OK);
	assert_int_equal(wc_storescan_open(src, &o, NULL, &scan, &err), WC_OK);
	assert_int_equal(wc_storescan_seek(scan, wc_slice_cstr("row"), true, &err), WC_OK);
	assert_int_equal(wc_storescan_next(scan, &cell, &colno, &err), WC_END);
	assert_int_equal(wc_storescan_exists(scan, &exists, &err), WC_OK);
	assert_int_equal(exists, want);
	assert_int_equal(wc_storescan_next(scan, &cell, &colno, &err), WC_END);
	assert_int_equal(wc_storescan_next_row(scan, &err), WC_END);
	wc_storescan_close(scan);
	free(text);
}

static void
test_exists(void **state)
{
	assert_exists("a@1 b@1", "x", true);
	assert_exists("z@1", "x", true);
	assert_exists("a@1 a@1D b@1 @1DF", "x", false);
	assert_exists("a@1 a@1DC b@1", "a", true);
}

static void
test_cancel(void **state)
{
	WcMatcherOptions o = options(WC_MATCH_READ, 1);
	WcCell		cells[2 * WC_CANCEL_CELLS];
	atomic_bool cancel = true;
	WcCellSource *src;
	WcStoreScan *scan;
	WcCell		cell;
	WcError		err;
	uint32_t	colno;
	WcStatus	status;

	memset(cells, 0, sizeof(cells));
	for (int i = 0; i < 2 * WC_CANCEL_CELLS; i++)
	{
		cells[i].qualifier = wc_slice_cstr("q");
		cells[i].type = WC_DELETE;
		cells[i].ts = 10000 - i;
	}
	assert_int_equal(wc_cellsource_memory(1, wc_slice_cstr("row"), cells, 2 * WC_CANCEL_CELLS, false, &src, &err), WC_OK);
	assert_int_equal(wc_storescan_open(src, &o, &cancel, &scan, &err), WC_OK);
	assert_int_equal(wc_storescan_seek(scan, wc_slice_cstr("row"), true, &err), WC_OK);
	status = wc_storescan_next(scan, &cell, &colno, &err);
	assert_int_equal(status, WC_CANCELLED);
	wc_storescan_close(scan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_markers),
		cmocka_unit_test(test_family_markers_among_puts),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_time_range),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_ttl),
		cmocka_unit_test(test_min_versions),
		cmocka_unit_test(test_cell_ttl),
		cmocka_unit_test(test_keep_deleted),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_minor),
		cmocka_unit_test(test_minor_keep_deleted),
		cmocka_unit_test(test_major),
		cmocka_unit_test(test_major_keep_deleted),
		cmocka_unit_test(test_major_dated_markers),
		cmocka_unit_test(test_any_state_is_survived),
		cmocka_unit_test(test_exists),
		cmocka_unit_test(test_cancel)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
