/*
 * test/model/test_history_model.c: random commits and compactions; reads as of each earlier time either return the
 * rows that were visible then, or are refused, as announced.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modelscan.h"

#define REFUSED "error: invalid argument"

static const char *
as_of(Kit *kit, int64_t time)
{
	WcReadPoint at = kit_point(kit, false);
	WcScan		scan;

	wc_scan_init(&scan, kit->table);
	scan.as_of_ts = time;
	return kit_scan_with(kit, &scan, &at);
}

/* Since when family "f" remembers, as everybody is told. */
static int64_t
history_from_us(Kit *kit)
{
	WcBuf		list = WC_BUF_INIT;
	WcArena		arena = WC_ARENA_INIT;
	WcTableDesc desc;
	WcDecoder	d;
	int64_t		from = -1;

	assert_ok(kit, wc_engine_list_tables(kit->engine, KIT_DATABASE, NULL, &list, &kit->err));
	d = wc_decoder(wc_buf_slice(&list));
	for (uint64_t n = wc_decode_varint(&d); n > 0; n--)
	{
		assert_ok(kit, wc_table_desc_decode(wc_decode_bytes(&d), &arena, &desc, &kit->err));
		if (desc.id == kit->table)
			from = desc.families[0].history_from_us;
	}
	wc_arena_free(&arena);
	wc_buf_free(&list);
	return from;
}

#define MOMENTS 60

/* What everybody saw behind each commit. */
typedef struct Moment
{
	int64_t		ts;
	char	   *seen;
} Moment;

static void
random_commit(Kit *kit)
{
	static const WcCellType markers[] = {WC_DELETE, WC_DELETE_COLUMN, WC_DELETE_FAMILY};

	for (uint32_t n = 1 + below(3); n > 0; n--)
	{
		char		row[2] = {(char) ('r' + below(3)), 0};
		char		qualifier[2] = {(char) ('a' + below(2)), 0};
		char		value[16];
		uint32_t	what = below(12);
		WcCellType	type = markers[what % 3];

		snprintf(value, sizeof(value), "%u", below(1000));
		if (what < 9)
			kit_put(kit, row, 1, qualifier, KIT_LATEST, value);
		else
			kit_delete(kit, type, row, 1, type == WC_DELETE_FAMILY ? "" : qualifier, KIT_LATEST);
	}
	kit_commit(kit);
}

/* flushing: so often that RocksDB compacts on its own, too. */
static void
random_upkeep(Kit *kit, bool flushing)
{
	WcReadPoint at = kit_point(kit, false);

	switch (flushing && below(8) > 0 ? 0 : below(12))
	{
		case 0:
		case 1:
		case 2:
			assert_ok(kit, wc_engine_flush(kit->engine, kit->table, &at, &kit->err));
			break;
		case 3:
			assert_ok(kit, wc_engine_compact(kit->engine, kit->table, false, &at, &kit->err));
			break;
		case 4:
			assert_ok(kit, wc_engine_compact(kit->engine, kit->table, true, &at, &kit->err));
			break;
		case 5:
			kit_reopen(kit);
			break;
		default:
			break;
	}
}

static unsigned nseen;			/* moments that were not refused */

/* A read as of each moment: the state of then, or the refusal that was announced. */
static void
check_moments(Kit *kit, const Moment *moments, int n)
{
	int64_t		from = history_from_us(kit);

	for (int i = 0; i < n; i++)
	{
		const char *seen = as_of(kit, moments[i].ts);

		/* a compaction may forget meanwhile */
		if (strcmp(seen, REFUSED) == 0 && (moments[i].ts < from || moments[i].ts < history_from_us(kit)))
			continue;
		assert_string_equal(seen, moments[i].seen);
		nseen++;
	}
}

static void
random_history(void)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;
	Moment		moments[MOMENTS];
	Kit			kit;
	bool		flushing = below(3) == 0;

	attrs.packing = below(2) == 0 ? WC_PACKING_ROW : WC_PACKING_CELL;
	attrs.versions = 1 + below(3);
	attrs.keep_deleted = (uint8_t) below(3);
	if (attrs.keep_deleted == WC_KEEP_DELETED_TTL || below(2) == 0)
	{
		attrs.ttl_us = 500000000;
		attrs.min_versions = below(attrs.versions + 1);
	}
	kit_now = 1000000;
	kit_open(&kit);
	kit_create_attrs(&kit, "t", &attrs);
	kit_commit(&kit);
	for (int i = 0; i < MOMENTS; i++)
	{
		/* more than the minute in which compactions decide nothing by themselves */
		kit_now += 10 + below(90000000);
		random_commit(&kit);
		/* puts behind deletes of the same commit took its next timestamps */
		kit_now = kit.commit_ts + 5;
		moments[i].ts = kit_now;
		moments[i].seen = strdup(kit_scan(&kit, false));
		random_upkeep(&kit, flushing);
		if (i % 10 == 9)
			check_moments(&kit, moments, i + 1);
	}
	for (int i = 0; i < MOMENTS; i++)
		free(moments[i].seen);
	kit_close(&kit);
}

static void
test_random_histories(void **state)
{
	unsigned	n = model_sequences(20);

	for (unsigned i = 0; i < n; i++)
	{
		model_start_sequence(i);
		random_history();
	}
	assert_true(nseen > 5 * n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_histories)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
