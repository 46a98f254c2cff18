/*
 * test/unit/test_intakeclaims.c: what the engine tells backends of tables whose rows they claim (rpc/log/intake.h).
 */
#include "logsite.h"

#include <string.h>

static bool
go_on(void)
{
	return true;
}

/* The engine has its row locks, so backends may claim rows. */
static void
open_claims(Log *log)
{
	assert_ok(&log->kit, wc_intake_restore_locks(log->intake, go_on, &log->kit.err));
}

static bool
can_claim(Log *log, uint32_t table_id)
{
	return wc_claims_is_free(log->claims, log->flight, wc_claims_opening(log->claims), table_id, kit_s("s"), 100);
}

/* May a commit leave a row of the table that it has not read? */
static bool
is_timely(Log *log)
{
	uint16_t	place = wc_flight_take(log->flight, 200, KIT_DATABASE, false, WC_FLIGHT_NONE);
	WcClaim		claim;
	bool		first;

	assert_true(wc_claims_take(log->claims, log->flight, wc_claims_opening(log->claims), log->kit.table, kit_s("s"), 100, place, 200, &claim));
	first = wc_claims_is_first(log->claims, wc_claims_opening(log->claims), log->kit.table, kit_s("s"), &claim, 1);
	wc_claims_give_back(log->claims, &claim);
	assert_true(wc_flight_free(log->flight, place, 200));
	return first;
}

/* A commit whose rows a backend has claimed is not checked: so none of a table that has a large row are claimed. */
static void
no_row_can_be_claimed_where_one_is_large(void **state)
{
	static char value[9 << 20];
	Log		   *log = *state;
	uint32_t	other = log->kit.table;
	uint32_t	table;

	kit_create(&log->kit, "rows", WC_PACKING_ROW, 1);
	assert_int_equal(kit_apply(&log->kit), WC_OK);
	table = log->kit.table;
	open_claims(log);
	log_put(log, 300, wc_flight_take(log->flight, 300, KIT_DATABASE, false, WC_FLIGHT_NONE), "r", "small");
	log_commit(log, 300, 1000);
	wait_idle(log);
	assert_true(can_claim(log, table));

	memset(value, 'x', sizeof(value) - 1);
	kit_put(&log->kit, "r", 1, "a", WC_TS_LATEST, value);
	kit_put(&log->kit, "r", 1, "b", WC_TS_LATEST, value);
	kit_put(&log->kit, "r", 1, "c", WC_TS_LATEST, value);
	(void) log_batch(log, 301, wc_flight_take(log->flight, 301, KIT_DATABASE, false, WC_FLIGHT_NONE), 0);
	log_commit(log, 301, 1010);
	wait_idle(log);
	assert_false(can_claim(log, table));
	assert_true(can_claim(log, other));

	/* the next engine knows of the row, too */
	log_mark(log, 1020);
	start_again(log);
	assert_int_equal(log_load(log), 1020);
	open_claims(log);
	assert_false(can_claim(log, table));
	assert_true(can_claim(log, other));
}

/* Backends know a row that they have not read, but where a cell or a marker has a later timestamp than a commit may get. */
static void
tables_with_cells_ahead_are_told(void **state)
{
	Log		   *log = *state;
	uint64_t	xid = 300;
	uint64_t	position = 1000;
	int64_t		before = kit_now - 1000000;
	int64_t		later = kit_now + 1000000;

	open_claims(log);
	for (int i = 0; i < 4; i++)
	{
		assert_true(is_timely(log));
		switch (i)
		{
			case 0:
				kit_put(&log->kit, "r", 1, "a", before, "x");
				break;
			case 1:
				kit_delete(&log->kit, WC_DELETE_FAMILY, "r", 1, "", WC_TS_LATEST);
				kit_put(&log->kit, "r", 1, "a", WC_TS_LATEST, "x");	/* a microsecond behind the commit's time */
				break;
			case 2:
				kit_put(&log->kit, "r", 1, "a", WC_TS_LATEST, "y");
				break;
			case 3:
				kit_delete(&log->kit, WC_DELETE_COLUMN, "r", 1, "a", later);
				break;
		}
		(void) log_batch(log, xid, wc_flight_take(log->flight, xid, KIT_DATABASE, false, WC_FLIGHT_NONE), 0);
		log_commit(log, xid++, position += 10);
		wait_idle(log);
	}
	assert_false(is_timely(log));

	/* the next engine knows it, too, until the time has come */
	log_mark(log, position += 10);
	start_again(log);
	wc_claims_reset(log->claims);
	assert_int_equal(log_load(log), position);
	open_claims(log);
	assert_false(is_timely(log));
	kit_now = later + 1;
	log_put(log, xid, wc_flight_take(log->flight, xid, KIT_DATABASE, false, WC_FLIGHT_NONE), "r", "z");
	log_commit(log, xid, position += 10);
	wait_idle(log);
	log_mark(log, position += 10);
	start_again(log);
	wc_claims_reset(log->claims);
	assert_int_equal(log_load(log), position);
	open_claims(log);
	assert_true(is_timely(log));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_row_can_be_claimed_where_one_is_large, log_set_up, log_tear_down),
		cmocka_unit_test_setup_teardown(tables_with_cells_ahead_are_told, log_set_up, log_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
