/*
 * test/unit/test_flight.c: places of transactions in flight.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "wire/shared/flight.h"

#define NPLACES 5

/* So many transactions have room. */
#define ROOM 4

static WcFlight *
make(uint32_t nplaces)
{
	size_t		size = (wc_flight_size(nplaces) + 63) & ~(size_t) 63;
	void	   *memory = aligned_alloc(64, size);

	assert_non_null(memory);
	memset(memory, 0, size);
	return wc_flight_init(memory, nplaces, ROOM);
}

static void
a_place_goes_through_its_states(void **state)
{
	WcFlight   *f = make(NPLACES);
	uint16_t	place;
	WcFlightEntry entry;
	uint32_t	next = 0;

	(void) state;
	assert_int_equal(wc_flight_nplaces(f), NPLACES);
	assert_true(wc_flight_idle(f));
	assert_false(wc_flight_next(f, &next, &entry));

	place = wc_flight_take(f, UINT64_C(0x200000007), 16384, true, 3);
	assert_int_equal(place, 3);
	assert_false(wc_flight_idle(f));
	assert_int_equal(wc_flight_count(f), 1);
	assert_int_equal(wc_flight_state(f, place, UINT64_C(0x200000007)), WC_FLIGHT_COMMITTING);
	assert_int_equal(wc_flight_state(f, place, 7), WC_FLIGHT_FREE);
	assert_int_equal(wc_flight_find(f, UINT64_C(0x200000007)), 3);
	assert_int_equal(wc_flight_find(f, 7), WC_FLIGHT_NONE);
	next = 0;
	assert_true(wc_flight_next(f, &next, &entry));
	assert_int_equal(entry.place, 3);
	assert_int_equal(entry.state, WC_FLIGHT_COMMITTING);
	assert_true(entry.catalog);
	assert_int_equal(entry.database, 16384);
	assert_true(entry.xid == UINT64_C(0x200000007));
	assert_false(wc_flight_next(f, &next, &entry));

	wc_flight_ended(f, place, UINT64_C(0x200000007), 1);
	assert_int_equal(wc_flight_state(f, place, UINT64_C(0x200000007)), WC_FLIGHT_ENDED);
	assert_false(wc_flight_free(f, place, 7));
	assert_true(wc_flight_free(f, place, UINT64_C(0x200000007)));
	assert_false(wc_flight_free(f, place, UINT64_C(0x200000007)));
	assert_true(wc_flight_idle(f));
	free(f);
}

static void
the_highest_id_has_room(void **state)
{
	WcFlight   *f = make(1);
	uint64_t	xid = (UINT64_C(1) << 60) - 1;

	(void) state;
	assert_int_equal(wc_flight_take(f, xid, UINT32_MAX, false, WC_FLIGHT_NONE), 0);
	wc_flight_prepared(f, 0, xid);
	assert_int_equal(wc_flight_state(f, 0, xid), WC_FLIGHT_PREPARED);
	assert_int_equal(wc_flight_find(f, xid), 0);
	free(f);
}

static void
a_change_that_comes_late_does_nothing(void **state)
{
	WcFlight   *f = make(NPLACES);
	uint16_t	place = wc_flight_take(f, 100, 1, false, 0);

	(void) state;
	assert_true(wc_flight_free(f, place, 100));
	wc_flight_ended(f, place, 100, 1);
	assert_int_equal(wc_flight_state(f, place, 100), WC_FLIGHT_FREE);
	assert_int_equal(wc_flight_take(f, 101, 2, false, place), place);
	wc_flight_ended(f, place, 100, 1);
	wc_flight_prepared(f, place, 100);
	assert_false(wc_flight_free(f, place, 100));
	assert_int_equal(wc_flight_state(f, place, 101), WC_FLIGHT_COMMITTING);

	/* a place that is PREPARED does not become ENDED: COMMIT PREPARED has no callback */
	wc_flight_prepared(f, place, 101);
	wc_flight_ended(f, place, 101, 1);
	assert_int_equal(wc_flight_state(f, place, 101), WC_FLIGHT_PREPARED);
	free(f);
}

static void
places_of_other_nodes_are_none(void **state)
{
	WcFlight   *f = make(NPLACES);

	(void) state;
	assert_false(wc_flight_free(f, NPLACES, 100));
	assert_false(wc_flight_free(f, WC_FLIGHT_NONE, 100));
	assert_int_equal(wc_flight_state(f, WC_FLIGHT_NONE, 100), WC_FLIGHT_FREE);
	free(f);
}

static void
when_all_are_taken_there_is_none(void **state)
{
	WcFlight   *f = make(NPLACES);
	bool		seen[NPLACES] = {false};

	(void) state;
	for (uint64_t xid = 10; xid < 10 + NPLACES; xid++)
	{
		uint16_t	place = wc_flight_take(f, xid, 1, false, 2);

		assert_in_range(place, 0, NPLACES - 1);
		assert_false(seen[place]);
		seen[place] = true;
	}
	assert_int_equal(wc_flight_take(f, 99, 1, false, 2), WC_FLIGHT_NONE);
	assert_int_equal(wc_flight_count(f), NPLACES);
	wc_flight_overflow(f, 99);
	wc_flight_overflow(f, 98);
	assert_true(wc_flight_overflowed(f));

	/* 12 is the oldest that runs */
	assert_int_equal(wc_flight_free_before(f, 12), 2);
	assert_int_equal(wc_flight_find(f, 11), WC_FLIGHT_NONE);
	assert_int_not_equal(wc_flight_find(f, 12), WC_FLIGHT_NONE);
	assert_int_equal(wc_flight_count(f), NPLACES - 2);
	assert_true(wc_flight_overflowed(f));
	assert_int_equal(wc_flight_free_before(f, 99), NPLACES - 2);
	assert_true(wc_flight_overflowed(f));
	assert_int_equal(wc_flight_free_before(f, 100), 0);
	assert_false(wc_flight_overflowed(f));
	assert_true(wc_flight_idle(f));
	free(f);
}

/* Whatever way a place takes from taken to free, also if two take it for the same transaction. */
static void
changes_of_the_catalog_are_counted(void **state)
{
	WcFlight   *f = make(2);
	uint16_t	place = wc_flight_take(f, 100, 7, true, 0);

	(void) state;
	assert_true(wc_flight_changes_catalog(f));
	assert_int_equal(wc_flight_take(f, 101, 7, false, 1), 1);
	assert_int_equal(wc_flight_take(f, 102, 7, true, 1), WC_FLIGHT_NONE);
	assert_int_equal(wc_flight_take_once(f, 100, 7, true), place);
	wc_flight_ended(f, place, 100, 1);
	assert_true(wc_flight_changes_catalog(f));
	assert_true(wc_flight_free(f, place, 100));
	assert_false(wc_flight_changes_catalog(f));
	assert_int_equal(wc_flight_take_once(f, 101, 7, true), 1);
	wc_flight_prepared(f, 1, 101);
	assert_true(wc_flight_changes_catalog(f));
	assert_int_equal(wc_flight_free_before(f, 102), 1);
	assert_false(wc_flight_changes_catalog(f));
	free(f);
}

/* The log's order is that of positions, across 2^32, too. */
static void
the_place_that_is_freed_last_is_known(void **state)
{
	const WcFlightEntry early = {.state = WC_FLIGHT_ENDED,.position = UINT32_MAX - 5,.xid = 12};
	const WcFlightEntry late = {.state = WC_FLIGHT_ENDED,.position = 10,.xid = 11};
	const WcFlightEntry committing = {.state = WC_FLIGHT_COMMITTING,.xid = 9};
	const WcFlightEntry younger = {.state = WC_FLIGHT_COMMITTING,.xid = 10};

	(void) state;
	assert_true(wc_flight_is_later(&late, &early));
	assert_false(wc_flight_is_later(&early, &late));
	assert_true(wc_flight_is_later(&committing, &late));
	assert_false(wc_flight_is_later(&late, &committing));
	assert_true(wc_flight_is_later(&younger, &committing));
	assert_false(wc_flight_is_later(&early, &early));
}

static void
generations_grow(void **state)
{
	WcFlight   *f = make(NPLACES);
	uint64_t	first = wc_flight_generation(f);

	(void) state;
	assert_true(first > 0);
	assert_true(wc_flight_new_generation(f) == first + 1);
	assert_true(wc_flight_generation(f) == first + 1);
	free(f);
}

/* Places far behind the first ones are found as long as they are taken, and new ones behind them. */
static void
far_places_are_found(void **state)
{
	WcFlight   *f = make(200);
	uint16_t	last = 0;

	(void) state;
	for (uint64_t xid = 1000; xid < 1200; xid++)
		last = wc_flight_take(f, xid, 1, false, WC_FLIGHT_NONE);
	for (uint64_t xid = 1000; xid < 1199; xid++)
		assert_true(wc_flight_free(f, wc_flight_find(f, xid), xid));
	assert_int_equal(wc_flight_find(f, 1199), last);
	assert_true(wc_flight_free(f, last, 1199));
	assert_true(wc_flight_idle(f));
	assert_int_equal(wc_flight_take(f, 1200, 1, false, last), last);
	assert_int_equal(wc_flight_find(f, 1200), last);
	free(f);
}

static WcExtent
extent_of(uint64_t number)
{
	return (WcExtent) {.tables = 1,.least = number,.greatest = number};
}

static void
what_was_written_is_known(void **state)
{
	const WcExtent all = WC_EXTENT_ALL;
	WcFlight   *f = make(NPLACES);
	WcExtent	five = extent_of(5);
	WcExtent	six = extent_of(6);
	WcExtent	from_six = {1, 6, 9};
	WcExtent	written = wc_flight_written(f, 1, &five);
	uint16_t	place;

	(void) state;
	assert_true(written.tables == 0);
	place = wc_flight_take(f, 100, 1, false, WC_FLIGHT_NONE);
	written = wc_flight_written(f, 1, &five);
	assert_memory_equal(&written, &all, sizeof(written));	/* the transaction has not said it yet */
	written = wc_flight_written(f, 2, &five);
	assert_true(written.tables == 0);	/* another database's */

	wc_flight_set_extent(f, place, 100, &five);
	written = wc_flight_written(f, 1, &five);
	assert_memory_equal(&written, &five, sizeof(written));
	written = wc_flight_written(f, 1, &six);
	assert_true(written.tables == 0);
	wc_flight_set_extent(f, wc_flight_take(f, 101, 1, false, WC_FLIGHT_NONE), 101, &from_six);
	written = wc_flight_written(f, 1, &all);
	assert_memory_equal(&written, &((WcExtent) {1, 5, 9}), sizeof(written));

	/* the next transaction in the place has not written the same */
	assert_true(wc_flight_free(f, place, 100));
	assert_int_equal(wc_flight_take(f, 102, 1, false, place), place);
	written = wc_flight_written(f, 1, &five);
	assert_memory_equal(&written, &all, sizeof(written));
	assert_true(wc_flight_free(f, place, 102));

	written = wc_flight_written(f, 1, &five);
	assert_true(written.tables == 0);
	wc_flight_overflow(f, 103);
	written = wc_flight_written(f, 1, &five);
	assert_memory_equal(&written, &all, sizeof(written));
	free(f);
}

/* --- many at once ----------------------------------------------------------------- */

#define WRITERS		3
#define COMMITS		20000

/* The log, as far as it has been written; and the transactions that snapshots see. */
typedef struct Race
{
	WcFlight   *flight;
	uint16_t	hint;			/* each writer's first */
	_Atomic uint64_t next_xid;
	_Atomic uint8_t visible[WRITERS * COMMITS + 16];	/* PostgreSQL shows it as ended */
	_Atomic uint8_t logged[WRITERS * COMMITS + 16];
	_Atomic uint8_t applied[WRITERS * COMMITS + 16];
	atomic_bool over;
} Race;

/* As a backend does. */
static void *
write_some(void *arg)
{
	Race	   *race = arg;
	uint16_t	place = race->hint;

	for (int i = 0; i < COMMITS; i++)
	{
		uint64_t	xid = atomic_fetch_add(&race->next_xid, 1);
		WcExtent	written;

		while ((place = wc_flight_take(race->flight, xid, (uint32_t) xid, false, place)) == WC_FLIGHT_NONE)
			sched_yield();
		written = extent_of(xid % 16);
		wc_flight_set_extent(race->flight, place, xid, &written);
		if (xid % 10 == 0)
		{
			assert_true(wc_flight_free(race->flight, place, xid));	/* it fails */
			continue;
		}
		atomic_store(&race->logged[xid], 1);
		atomic_store_explicit(&race->visible[xid], 1, memory_order_release);
		wc_flight_ended(race->flight, place, xid, xid);
	}
	return NULL;
}

/* As the follower does. */
static void *
follow(void *arg)
{
	Race	   *race = arg;
	bool		over;

	do
	{
		WcFlightEntry entry;
		uint32_t	next = 0;

		over = atomic_load(&race->over);
		while (wc_flight_next(race->flight, &next, &entry))
		{
			if (!atomic_load(&race->logged[entry.xid]))
				continue;
			atomic_store(&race->applied[entry.xid], 1);
			assert_true(wc_flight_free(race->flight, entry.place, entry.xid));
		}
		sched_yield();
	} while (!over);
	return NULL;
}

/* A visible transaction has a place, with its extent, or has been applied. */
static void
look_at_extents(Race *race, uint64_t xid)
{
	WcExtent	read = extent_of(xid % 16);
	WcExtent	written;

	if (!atomic_load_explicit(&race->visible[xid], memory_order_acquire))
		return;
	written = wc_flight_written(race->flight, (uint32_t) xid, &read);
	if (!wc_extents_overlap(&written, &read))
		assert_int_equal(atomic_load(&race->applied[xid]), 1);
}

/* The same with its database. */
static void
look(Race *race, uint64_t xid)
{
	WcFlightEntry entry;
	uint32_t	next = 0;

	if (!atomic_load_explicit(&race->visible[xid], memory_order_acquire))
		return;
	if (!wc_flight_idle(race->flight))
	{
		while (wc_flight_next(race->flight, &next, &entry))
		{
			if (entry.xid != xid)
				continue;

			/* the place may have been given to another between the two words */
			if (entry.database != (uint32_t) xid)
				break;
			return;
		}
	}
	assert_int_equal(atomic_load(&race->applied[xid]), 1);
}

static void *
read_on(void *arg)
{
	Race	   *race = arg;

	while (!atomic_load(&race->over))
	{
		uint64_t	last = atomic_load(&race->next_xid) - 1;

		for (uint64_t xid = last; xid > last - 8 && xid >= 3; xid--)
		{
			look(race, xid);
			look_at_extents(race, xid);
		}
		sched_yield();
	}
	return NULL;
}

static void
run_race(uint32_t nplaces, uint16_t hint)
{
	Race	   *race = calloc(1, sizeof(Race));
	pthread_t	writers[WRITERS],
				follower,
				reader;

	race->flight = make(nplaces);
	race->hint = hint;
	race->next_xid = 3;
	assert_int_equal(pthread_create(&follower, NULL, follow, race), 0);
	assert_int_equal(pthread_create(&reader, NULL, read_on, race), 0);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&writers[i], NULL, write_some, race), 0);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	atomic_store(&race->over, true);
	pthread_join(follower, NULL);
	pthread_join(reader, NULL);
	assert_true(wc_flight_idle(race->flight));
	assert_int_equal(wc_flight_count(race->flight), 0);
	free(race->flight);
	free(race);
}

static void
no_reader_misses_a_commit(void **state)
{
	(void) state;
	run_race(WRITERS * 2, WC_FLIGHT_NONE);
}

/* As after many commits at once: searches become short again each time no place is taken. */
static void
no_reader_misses_a_commit_in_a_far_place(void **state)
{
	(void) state;
	run_race(1000, 900);
}

/* As the startup process and the engine of a standby do: of two threads that take a place for one
 * transaction at once, each finds one, and one is left. */
static WcFlight *contended;
static pthread_barrier_t turn;

static void *
take_once_main(void *arg)
{
	bool		frees = arg != NULL;

	for (uint64_t xid = 3; xid < 2003; xid++)
	{
		pthread_barrier_wait(&turn);
		assert_int_not_equal(wc_flight_take_once(contended, xid, 1, false), WC_FLIGHT_NONE);
		pthread_barrier_wait(&turn);
		if (!frees)
			continue;
		assert_int_equal(wc_flight_count(contended), 1);
		assert_true(wc_flight_free(contended, wc_flight_find(contended, xid), xid));
	}
	return NULL;
}

static void
a_place_is_taken_once(void **state)
{
	WcFlightEntry entry;
	uint32_t	next = 0;
	pthread_t	other;

	(void) state;
	contended = make(NPLACES);
	assert_int_equal(wc_flight_take_once(contended, 7, 5, false), 0);
	assert_int_equal(wc_flight_take_once(contended, 7, 5, true), 0);
	assert_int_equal(wc_flight_count(contended), 1);
	assert_true(wc_flight_next(contended, &next, &entry));
	assert_true(entry.catalog);
	assert_true(wc_flight_changes_catalog(contended));
	assert_true(wc_flight_free(contended, entry.place, 7));
	assert_false(wc_flight_changes_catalog(contended));

	pthread_barrier_init(&turn, NULL, 2);
	assert_int_equal(pthread_create(&other, NULL, take_once_main, NULL), 0);
	(void) take_once_main(contended);
	pthread_join(other, NULL);
	pthread_barrier_destroy(&turn);
	assert_true(wc_flight_idle(contended));

	for (uint64_t xid = 10; xid < 10 + NPLACES; xid++)
		(void) wc_flight_take(contended, xid, 1, false, WC_FLIGHT_NONE);
	assert_int_equal(wc_flight_take_once(contended, 99, 1, false), WC_FLIGHT_NONE);
	assert_int_not_equal(wc_flight_take_once(contended, 10, 1, false), WC_FLIGHT_NONE);
	free(contended);
}

/* --- sleeping until a place is freed ---------------------------------------------------- */

#define LONG_US (60 * INT64_C(1000000))

typedef struct Sleeper
{
	WcFlight   *flight;
	uint16_t	place;
	uint64_t	xid;
	_Atomic int	began;
} Sleeper;

static void *
sleep_until_freed(void *arg)
{
	Sleeper    *s = arg;

	atomic_store(&s->began, 1);
	while (wc_flight_state(s->flight, s->place, s->xid) != WC_FLIGHT_FREE)
		wc_flight_sleep(s->flight, s->place, s->xid, LONG_US);
	return NULL;
}

/* It would be seen by the test's being stopped. */
static void
who_sleeps_is_woken(void **state)
{
	WcFlight   *f = make(NPLACES);
	Sleeper		sleepers[NPLACES];
	pthread_t	threads[NPLACES];

	(void) state;
	for (int round = 0; round < 200; round++)
	{
		for (int i = 0; i < NPLACES; i++)
		{
			uint64_t	xid = (uint64_t) round * NPLACES + i + 1;

			sleepers[i] = (Sleeper) {.flight = f,.place = wc_flight_take(f, xid, 1, false, WC_FLIGHT_NONE),.xid = xid};
			assert_int_equal(pthread_create(&threads[i], NULL, sleep_until_freed, &sleepers[i]), 0);
		}
		for (int i = 0; i < NPLACES; i++)
		{
			while (atomic_load(&sleepers[i].began) == 0)
				sched_yield();
			assert_true(wc_flight_free(f, sleepers[i].place, sleepers[i].xid));
		}
		for (int i = 0; i < NPLACES; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
	}

	/* not for a place that is another's, nor longer than it is to */
	assert_int_equal(wc_flight_take(f, 7000, 1, false, WC_FLIGHT_NONE), 0);
	wc_flight_sleep(f, 0, 6999, LONG_US);
	wc_flight_sleep(f, 1, 7000, LONG_US);
	wc_flight_sleep(f, 0, 7000, 1);
	free(f);
}

static void *
sleep_for_room(void *arg)
{
	Sleeper    *s = arg;

	atomic_store(&s->began, 1);
	while (!wc_flight_has_room(s->flight))
		wc_flight_sleep_for_room(s->flight);
	return NULL;
}

/* A process that sleeps for room goes on when places are freed. */
static void
room_comes_back(void **state)
{
	WcFlight   *f = make(NPLACES);
	Sleeper		sleeper = {.flight = f};
	pthread_t	thread;

	(void) state;
	for (uint64_t xid = 1; xid <= ROOM; xid++)
	{
		assert_true(wc_flight_has_room(f));
		assert_int_equal(wc_flight_take(f, xid, 1, false, WC_FLIGHT_NONE), xid - 1);
	}
	assert_false(wc_flight_has_room(f));
	assert_int_equal(pthread_create(&thread, NULL, sleep_for_room, &sleeper), 0);
	while (atomic_load(&sleeper.began) == 0)
		sched_yield();
	for (uint64_t xid = 1; xid <= ROOM; xid++)
		assert_true(wc_flight_free(f, (uint16_t) (xid - 1), xid));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(wc_flight_has_room(f));
	free(f);
}

/* While no place is freed, as during a large commit, all go on; when one is freed, room counts again. */
static void
no_process_waits_for_room_in_vain(void **state)
{
	WcFlight   *f = make(2 * ROOM);

	(void) state;
	for (uint64_t xid = 1; xid <= ROOM; xid++)
		(void) wc_flight_take(f, xid, 1, false, WC_FLIGHT_NONE);
	while (!wc_flight_has_room(f))
		wc_flight_sleep_for_room(f);
	assert_int_equal(wc_flight_count(f), ROOM);
	(void) wc_flight_take(f, ROOM + 1, 1, false, WC_FLIGHT_NONE);
	assert_true(wc_flight_has_room(f));
	assert_true(wc_flight_free(f, 0, 1));
	assert_false(wc_flight_has_room(f));
	free(f);
}

static void
the_last_notes_are_remembered(void **state)
{
	WcFlight   *f = make(NPLACES);
	const uint64_t n = 3 * WC_FLIGHT_NOTES + 5;

	(void) state;
	assert_int_equal(wc_flight_nnoted(f), 0);
	for (uint64_t i = 0; i < n; i++)
	{
		wc_flight_note(f, 1000 + i);
		assert_int_equal(wc_flight_nnoted(f), i + 1);
		assert_int_equal(wc_flight_noted(f, i), 1000 + i);
	}

	/* one place may be in the midst of being written */
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(wc_flight_noted(f, i), i + WC_FLIGHT_NOTES > n ? 1000 + i : 0);
	free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_goes_through_its_states),
		cmocka_unit_test(the_highest_id_has_room),
		cmocka_unit_test(a_change_that_comes_late_does_nothing),
		cmocka_unit_test(places_of_other_nodes_are_none),
		cmocka_unit_test(when_all_are_taken_there_is_none),
		cmocka_unit_test(changes_of_the_catalog_are_counted),
		cmocka_unit_test(the_place_that_is_freed_last_is_known),
		cmocka_unit_test(a_place_is_taken_once),
		cmocka_unit_test(generations_grow),
		cmocka_unit_test(far_places_are_found),
		cmocka_unit_test(what_was_written_is_known),
		cmocka_unit_test(no_reader_misses_a_commit),
		cmocka_unit_test(no_reader_misses_a_commit_in_a_far_place),
		cmocka_unit_test(who_sleeps_is_woken),
		cmocka_unit_test(room_comes_back),
		cmocka_unit_test(no_process_waits_for_room_in_vain),
		cmocka_unit_test(the_last_notes_are_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
