/*
 * test/unit/test_busy.c: the number of busy sessions (wire/wait/busy.h), and how waiting depends on it (wire/wait/spin.h).
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "wire/wait/busy.h"
#include "wire/wait/spin.h"

#define SESSIONS 4

/* In the middle of window n. */
static int64_t
moment(int64_t n)
{
	return n * WC_BUSY_WINDOW_US + WC_BUSY_WINDOW_US / 2;
}

static void
note(WcBusy *busy, uint32_t *windows, int n, int64_t at)
{
	for (int i = 0; i < n; i++)
		wc_busy_note(busy, &windows[i], at, false);
}

static void
test_counted_once_a_window(void **state)
{
	WcBusy		busy = 0;
	uint32_t	windows[SESSIONS] = {0};

	(void) state;
	assert_int_equal(wc_busy_sessions(&busy, moment(0)), 0);
	note(&busy, windows, 2, moment(0));
	note(&busy, windows, 2, moment(0));
	note(&busy, windows, 3, moment(0) + 100);
	assert_int_equal(wc_busy_sessions(&busy, moment(0)), 3);
}

/* At a window's start those of the one before still count. */
static void
test_window_before(void **state)
{
	WcBusy		busy = 0;
	uint32_t	windows[SESSIONS] = {0};

	(void) state;
	note(&busy, windows, 3, moment(7));
	assert_int_equal(wc_busy_sessions(&busy, moment(8)), 3);
	note(&busy, windows, 1, moment(8));
	assert_int_equal(wc_busy_sessions(&busy, moment(8)), 3);
	note(&busy, windows, 4, moment(8));
	assert_int_equal(wc_busy_sessions(&busy, moment(8)), 4);
	note(&busy, windows, 1, moment(9));
	assert_int_equal(wc_busy_sessions(&busy, moment(9)), 4);
	note(&busy, windows, 1, moment(10));
	assert_int_equal(wc_busy_sessions(&busy, moment(10)), 1);
}

static void
test_quiet(void **state)
{
	WcBusy		busy = 0;
	uint32_t	windows[SESSIONS] = {0};

	(void) state;
	note(&busy, windows, 3, moment(7));
	assert_int_equal(wc_busy_sessions(&busy, moment(9)), 0);
	note(&busy, windows, 2, moment(20));
	assert_int_equal(wc_busy_sessions(&busy, moment(20)), 2);
}

/* A session that read the clock before others began the next window does no harm. */
static void
test_late(void **state)
{
	WcBusy		busy = 0;
	uint32_t	windows[SESSIONS] = {0};

	(void) state;
	note(&busy, windows, 2, moment(7));
	wc_busy_note(&busy, &windows[3], moment(6), false);
	assert_int_equal(wc_busy_sessions(&busy, moment(7)), 2);
	wc_busy_note(&busy, &windows[3], moment(7), false);
	assert_int_equal(wc_busy_sessions(&busy, moment(7)), 3);
}

/* Sessions that wait for the disk count half. */
static void
test_halves(void **state)
{
	WcBusy		busy = 0;
	uint32_t	windows[SESSIONS] = {0};

	(void) state;
	for (int i = 0; i < SESSIONS; i++)
	{
		wc_busy_note(&busy, &windows[i], moment(3), true);
		assert_int_equal(wc_busy_sessions(&busy, moment(3)), (i + 1) / 2);
	}
	wc_busy_note(&busy, &windows[0], moment(4), false);
	wc_busy_note(&busy, &windows[1], moment(4), true);
	assert_int_equal(wc_busy_sessions(&busy, moment(5)), 1);
	wc_busy_note(&busy, &windows[2], moment(5), true);
	assert_int_equal(wc_busy_sessions(&busy, moment(6)), 0);
}

/* More than can be counted. */
static void
test_many(void **state)
{
	WcBusy		busy = 0;

	(void) state;
	for (int i = 0; i < 70000; i++)
	{
		uint32_t	window = 0;

		wc_busy_note(&busy, &window, moment(3), i % 2 == 0);
	}
	assert_int_equal(wc_busy_sessions(&busy, moment(3)), 32767);
	assert_int_equal(wc_busy_sessions(&busy, moment(4)), 32767);
	assert_int_equal(wc_busy_sessions(&busy, moment(5)), 0);
}

/* The numbers of windows come round after more than a year. */
static void
test_wraps(void **state)
{
	const int64_t last = (INT64_C(1) << 31) - 1;
	WcBusy		busy = 0;
	uint32_t	windows[SESSIONS] = {0};

	(void) state;
	note(&busy, windows, 3, moment(last));
	assert_int_equal(wc_busy_sessions(&busy, moment(last)), 3);
	assert_int_equal(wc_busy_sessions(&busy, moment(last + 1)), 3);
	note(&busy, windows, 2, moment(last + 1));
	assert_int_equal(wc_busy_sessions(&busy, moment(last + 2)), 2);
	assert_int_equal(wc_busy_sessions(&busy, moment(last + 3)), 0);
}

static WcBusy shared;

static void *
work(void *arg)
{
	uint32_t	window = 0;

	(void) arg;
	for (int64_t n = 0; n < 2000; n++)
		wc_busy_note(&shared, &window, n * (WC_BUSY_WINDOW_US / 100), false);
	wc_busy_note(&shared, &window, moment(100), false);
	return NULL;
}

static void
test_threads(void **state)
{
	pthread_t	threads[SESSIONS];

	(void) state;
	for (int i = 0; i < SESSIONS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
	for (int i = 0; i < SESSIONS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(wc_busy_sessions(&shared, moment(100)), SESSIONS);
}

/* Where all processors are at work nobody looks more than ten times: each yield counts,
 * whether others ran in it or not. */
static void
test_spin_ends(void **state)
{
	(void) state;
	for (int i = 0; i < 100; i++)
	{
		WcSpin		s = wc_spin_from(wc_clock_monotonic_us(), WC_SPIN_US, true);
		int			yields = 1;

		/* on a machine at work the first one may take so long that it is the last for a while */
		while (wc_spin_yield(&s))
			yields++;
		assert_in_range(yields, 1, WC_SPIN_US / WC_SPIN_YIELD_US);
		assert_false(wc_spin_yield(&s));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted_once_a_window),
		cmocka_unit_test(test_window_before),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_halves),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_spin_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
