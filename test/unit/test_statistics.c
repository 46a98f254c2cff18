/*
 * test/unit/test_statistics.c: counters, and the rows of the views of statistics.
 */
#include "enginekit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/store/state.h"
#include "model/statistics.h"

/* --- rows as bytes -----------------------------------------------------------*/

static void
rows_come_back_as_they_were(void **state)
{
	const WcSlice names[WC_FAMILY_TEXTS] = {wc_slice_cstr("ns"), wc_slice_cstr(""), wc_slice_cstr("cf")};
	WcFamilyStatistics row = {.reads = 1,.rows_examined = UINT64_MAX,.compaction_us = 7};
	WcFamilyStatistics got;
	WcSlice		texts[WC_FAMILY_TEXTS];
	WcBuf		buf = WC_BUF_INIT;
	WcDecoder	d;

	for (int i = 0; i < 2; i++)
		wc_statistics_append(&buf, names, WC_FAMILY_TEXTS, (const uint64_t *) &row, WC_STATISTICS_NUMBERS(row));
	d = wc_decoder(wc_buf_slice(&buf));
	for (int i = 0; i < 2; i++)
	{
		assert_true(wc_statistics_next(&d, texts, WC_FAMILY_TEXTS, (uint64_t *) &got, WC_STATISTICS_NUMBERS(got)));
		assert_true(wc_slice_eq(texts[0], names[0]) && texts[1].len == 0 && wc_slice_eq(texts[2], names[2]));
		assert_memory_equal(&got, &row, sizeof(row));
	}
	assert_false(wc_statistics_next(&d, texts, WC_FAMILY_TEXTS, (uint64_t *) &got, WC_STATISTICS_NUMBERS(got)));
	assert_true(wc_decoder_done(&d));
	wc_buf_free(&buf);
}

/* Each beginning of a row but the empty one is an error, and nothing behind its end is read. */
static void
rows_that_end_early_are_refused(void **state)
{
	const WcSlice names[WC_SESSION_TEXTS] = {wc_slice_cstr("default"), wc_slice_cstr("t")};
	WcSessionStatistics row = {.pid = 70000,.requests = 1};
	WcSlice		texts[WC_SESSION_TEXTS];
	WcBuf		buf = WC_BUF_INIT;

	wc_statistics_append(&buf, names, WC_SESSION_TEXTS, (const uint64_t *) &row, WC_STATISTICS_NUMBERS(row));
	for (size_t len = 0; len < buf.len; len++)
	{
		uint8_t    *copy = malloc(len + 1);
		WcDecoder	d;

		memcpy(copy, buf.data, len);
		d = wc_decoder(wc_slice(copy, len));
		assert_false(wc_statistics_next(&d, texts, WC_SESSION_TEXTS, (uint64_t *) &row, WC_STATISTICS_NUMBERS(row)));
		assert_int_equal(d.failed, len > 0);
		free(copy);
	}
	wc_buf_free(&buf);
}

/* --- an engine's tables --------------------------------------------------------*/

/* The row of the table's family with this name. */
static WcFamilyStatistics
family(Kit *kit, const char *name)
{
	WcSlice		texts[WC_FAMILY_TEXTS];
	WcFamilyStatistics row;
	WcFamilyStatistics found = {0};
	WcBuf		buf = WC_BUF_INIT;
	WcDecoder	d;
	int			n = 0;

	assert_int_equal(wc_engine_table_statistics(kit->engine, KIT_DATABASE, &buf, &kit->err), WC_OK);
	d = wc_decoder(wc_buf_slice(&buf));
	while (wc_statistics_next(&d, texts, WC_FAMILY_TEXTS, (uint64_t *) &row, WC_STATISTICS_NUMBERS(row)))
	{
		if (!wc_slice_eq(texts[2], wc_slice_cstr(name)))
			continue;
		found = row;
		n++;
	}
	assert_true(wc_decoder_done(&d));
	assert_int_equal(n, 1);
	wc_buf_free(&buf);
	return found;
}

static void
families_are_counted_apart(void **state)
{
	Kit			kit;
	WcFamilyStatistics f;
	WcFamilyStatistics g;

	kit_open(&kit);
	kit.scans_once = true;
	kit_create(&kit, "t", WC_PACKING_CELL, 3);
	kit_put(&kit, "r1", 1, "a", KIT_LATEST, "1");
	kit_put(&kit, "r1", 1, "b", KIT_LATEST, "2");
	kit_put(&kit, "r2", 2, "c", KIT_LATEST, "3");
	kit_delete(&kit, WC_DELETE_COLUMN, "r2", 1, "a", KIT_LATEST);
	kit_commit(&kit);
	f = family(&kit, "f");
	g = family(&kit, "g");
	assert_int_equal(f.cells_written, 2);
	assert_int_equal(f.deletes, 1);
	assert_int_equal(g.cells_written, 1);
	assert_int_equal(g.deletes, 0);
	assert_true(f.bytes_written > g.bytes_written && g.bytes_written > 0);
	assert_int_equal(f.reads, 0);

	assert_string_equal(kit_scan(&kit, false), "r1{f:a=1 f:b=2} r2{g:c=3}");
	f = family(&kit, "f");
	g = family(&kit, "g");
	assert_int_equal(f.reads, 1);
	assert_int_equal(f.rows_examined, 2);
	assert_int_equal(f.rows_returned, 2);
	assert_int_equal(f.cells_returned, 2);
	assert_int_equal(g.reads, 1);
	assert_int_equal(g.cells_returned, 1);

	assert_int_equal(wc_engine_reset_statistics(kit.engine, &kit.err), WC_OK);
	f = family(&kit, "f");
	assert_int_equal(f.reads + f.rows_examined + f.cells_examined + f.cells_written + f.deletes + f.bytes_written, 0);
	assert_true(f.keys > 0);
	kit_close(&kit);
}

/* --- progress ----------------------------------------------------------------*/

/* All rows: "kind pid table.family phase done/total" each. */
static const char *
progress(Kit *kit)
{
	WcSlice		texts[WC_PROGRESS_TEXTS];
	WcProgress	p;
	WcBuf		buf = WC_BUF_INIT;
	WcDecoder	d;
	int			n = 0;

	kit->text[0] = '\0';
	assert_int_equal(wc_engine_progress(kit->engine, &buf, &kit->err), WC_OK);
	d = wc_decoder(wc_buf_slice(&buf));
	while (wc_statistics_next(&d, texts, WC_PROGRESS_TEXTS, (uint64_t *) &p, WC_STATISTICS_NUMBERS(p)))
	{
		assert_int_equal(p.database, KIT_DATABASE);
		assert_true(p.since_us > 0);
		n += snprintf(kit->text + n, sizeof(kit->text) - (size_t) n, "%d %d %.*s.%.*s %d %d/%d;", (int) p.kind, (int) p.pid,
					  (int) texts[1].len, (const char *) texts[1].data, (int) texts[2].len, (const char *) texts[2].data,
					  (int) p.phase, (int) p.done, (int) p.total);
	}
	assert_true(wc_decoder_done(&d));
	wc_buf_free(&buf);
	return kit->text;
}

static void
work_shows_while_it_lasts(void **state)
{
	Kit			kit;
	WcTable    *table;
	WcRunning		first;
	WcRunning		second;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 3);
	kit_commit(&kit);
	table = wc_catalog_table(kit.engine, kit.table);
	assert_string_equal(progress(&kit), "");
	wc_running_begin(&first, table->stores[0], WC_PROGRESS_MAJOR_COMPACTION, 77);
	wc_running_phase(&first, WC_PHASE_FORGET, 1000);
	wc_running_done(&first, 300);
	wc_running_done(&first, 200);
	wc_running_begin(&second, table->stores[1], WC_PROGRESS_UPKEEP, 0);
	assert_string_equal(progress(&kit), "4 0 t.g 0 0/0;3 77 t.f 1 500/1000;");
	wc_running_phase(&first, WC_PHASE_REWRITE, 4);
	wc_running_end(&second);
	assert_string_equal(progress(&kit), "3 77 t.f 3 0/4;");
	wc_running_end(&first);
	assert_string_equal(progress(&kit), "");
	wc_table_unref(table);
	kit_close(&kit);
}

/* --- many threads ------------------------------------------------------------*/

#define THREADS 8
#define TIMES 20000

static void *
count_much(void *arg)
{
	const WcReadCounts news = {.reads = 1,.rows_examined = 3,.cells_returned = 2};

	for (int i = 0; i < TIMES; i++)
		wc_storecounts_read(arg, &news);
	return NULL;
}

static void
nothing_is_lost_between_threads(void **state)
{
	WcStoreCounts *counts = calloc(1, sizeof(*counts));
	WcFamilyStatistics sum = {0};
	pthread_t	threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_much, counts), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	wc_storecounts_get(counts, &sum);
	assert_int_equal(sum.reads, THREADS * TIMES);
	assert_int_equal(sum.rows_examined, 3 * THREADS * TIMES);
	assert_int_equal(sum.cells_returned, 2 * THREADS * TIMES);
	assert_int_equal(sum.cells_examined, 0);
	free(counts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_back_as_they_were),
		cmocka_unit_test(rows_that_end_early_are_refused),
		cmocka_unit_test(families_are_counted_apart),
		cmocka_unit_test(work_shows_while_it_lasts),
		cmocka_unit_test(nothing_is_lost_between_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
