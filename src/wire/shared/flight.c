/*
 * wire/shared/flight.c: places of transactions in flight.
 *
 * A place is one word with the transaction's id and its state, so that both change together.  All accesses are
 * sequentially consistent: the order that wire/README relies on is the same in every process.  A commit needs only a
 * few of them.
 */
#include "wire/shared/flight.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"

/* A place's word: its state, flags, and the transaction's id. */
#define STATE_MASK	UINT64_C(3)
#define CATALOG_BIT	UINT64_C(4)	/* the transaction changes the catalog */
#define AWAITED_BIT	UINT64_C(8)	/* a process sleeps, or slept, until the place is freed */
#define XID_SHIFT	4

/* A search of so many places costs next to nothing. */
#define HIGH_KEPT	64

/* If no place is freed for so long while a process sleeps for room, all others need not sleep, until one is freed. */
#define ROOM_PATIENCE_US	INT64_C(10000)

typedef struct Place
{
	_Atomic uint64_t word;		/* 0: free; its lower half is a futex */
	_Atomic uint32_t database;	/* for a moment that of the place's last transaction */
	_Atomic uint32_t position;	/* in state ENDED: lower half of the position of the commit record */

	/* which rows a transaction has written; written by its backend */
	_Atomic uint64_t extent_of; /* its id; 0: the extent is being written */
	_Atomic uint64_t tables;
	_Atomic uint64_t least;
	_Atomic uint64_t greatest;
} Place;

struct WcFlight
{
	uint32_t	nplaces;
	uint32_t	room;			/* so many transactions may be in flight before others wait for room */
	_Atomic uint64_t use;		/* high << 32 | taken: see taken_of and high_of */
	_Atomic uint32_t ncatalog;	/* words with CATALOG_BIT; counted before the word is written */
	_Atomic uint64_t overflow;	/* greatest id that found no place; 0: none */
	_Atomic uint64_t generation;
	_Atomic uint64_t nfreed;	/* places that were freed */
	_Atomic uint64_t stuck_at;	/* nfreed, when a process had slept for room and none was freed meanwhile */
	_Atomic uint32_t crowd;		/* in wc_flight_sleep_for_room */
	_Atomic uint32_t called;	/* a futex: counts how often the crowd was woken */
	_Atomic uint64_t called_at; /* nfreed, when it was woken last */
	_Atomic uint64_t nnoted;	/* the n-th note is notes[n % WC_FLIGHT_NOTES] */
	_Atomic uint64_t notes[WC_FLIGHT_NOTES];
	Place		places[];
};

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2, "processes share them");
_Static_assert(WC_FLIGHT_MAX <= WC_FLIGHT_NONE, "a place is a u16");

static uint64_t
word_of(uint64_t xid, WcFlightState state)
{
	return xid << XID_SHIFT | state;
}

static uint64_t
xid_of(uint64_t word)
{
	return word >> XID_SHIFT;
}

static WcFlightState
state_of(uint64_t word)
{
	return (WcFlightState) (word & STATE_MASK);
}

/* Places that are taken: counted before a place is taken, until after it was freed. */
static uint32_t
taken_of(uint64_t use)
{
	return (uint32_t) use;
}

/* Places from here on are free.  It becomes 0 only together with a count of 0, so no place is missed. */
static uint32_t
high_of(uint64_t use)
{
	return (uint32_t) (use >> 32);
}

size_t
wc_flight_size(uint32_t nplaces)
{
	return sizeof(WcFlight) + nplaces * sizeof(Place);
}

WcFlight *
wc_flight_init(void *memory, uint32_t nplaces, uint32_t room)
{
	WcFlight   *f = memory;

	assert(nplaces > 0 && nplaces <= WC_FLIGHT_MAX);
	f->nplaces = nplaces;
	f->room = room;
	atomic_init(&f->stuck_at, UINT64_MAX);
	atomic_init(&f->generation, 1);
	return f;
}

uint32_t
wc_flight_nplaces(const WcFlight *f)
{
	return f->nplaces;
}

/* --- taking ------------------------------------------------------------------ */

static void
raise_high(WcFlight *f, uint32_t high)
{
	uint64_t	use = atomic_load(&f->use);

	while (high_of(use) < high && !atomic_compare_exchange_weak(&f->use, &use, (uint64_t) high << 32 | taken_of(use)))
		;
}

static bool
try_place(WcFlight *f, uint32_t i, uint64_t word)
{
	uint64_t	none = 0;

	if (atomic_load_explicit(&f->places[i].word, memory_order_relaxed) != 0)
		return false;

	/* raised before the word is written: a reader that needs the word searches up to here */
	raise_high(f, i + 1);
	return atomic_compare_exchange_strong(&f->places[i].word, &none, word);
}

/* Counts the word before it is written, and so before the transaction's commit can be seen. */
static void
count_catalog(WcFlight *f, uint64_t word)
{
	if (word & CATALOG_BIT)
		atomic_fetch_add(&f->ncatalog, 1);
}

static void
uncount_catalog(WcFlight *f, uint64_t word)
{
	if (word & CATALOG_BIT)
		atomic_fetch_sub(&f->ncatalog, 1);
}

uint16_t
wc_flight_take(WcFlight *f, uint64_t xid, uint32_t database, bool catalog, uint16_t hint)
{
	uint64_t	word = word_of(xid, WC_FLIGHT_COMMITTING) | (catalog ? CATALOG_BIT : 0);
	uint32_t	place = hint;

	atomic_fetch_add(&f->use, 1);
	count_catalog(f, word);
	if (place >= f->nplaces || !try_place(f, place, word))
	{
		for (place = 0; place < f->nplaces && !try_place(f, place, word); place++)
			;
	}
	if (place == f->nplaces)
	{
		uncount_catalog(f, word);
		atomic_fetch_sub(&f->use, 1);
		return WC_FLIGHT_NONE;
	}
	atomic_store(&f->places[place].database, database);
	return (uint16_t) place;
}

/* Does nothing if another transaction has the place by now. */
static void
set_catalog(WcFlight *f, uint16_t place, uint64_t xid)
{
	uint64_t	word = atomic_load(&f->places[place].word);

	atomic_fetch_add(&f->ncatalog, 1);
	while (xid_of(word) == xid && (word & CATALOG_BIT) == 0)
	{
		if (atomic_compare_exchange_weak(&f->places[place].word, &word, word | CATALOG_BIT))
			return;
	}
	atomic_fetch_sub(&f->ncatalog, 1);
}

uint16_t
wc_flight_take_once(WcFlight *f, uint64_t xid, uint32_t database, bool catalog)
{
	uint16_t	place = wc_flight_find(f, xid);
	WcFlightEntry entry;

	if (place == WC_FLIGHT_NONE && wc_flight_take(f, xid, database, catalog, WC_FLIGHT_NONE) == WC_FLIGHT_NONE)
		return WC_FLIGHT_NONE;

	/* if two places were taken at the same time, the later process sees both: the first one stays */
	place = wc_flight_find(f, xid);
	for (uint32_t next = (uint32_t) place + 1; place != WC_FLIGHT_NONE && wc_flight_next(f, &next, &entry);)
	{
		if (entry.xid == xid)
			(void) wc_flight_free(f, entry.place, xid);
	}
	if (place != WC_FLIGHT_NONE && catalog)
		set_catalog(f, place, xid);
	return place;
}

void
wc_flight_set_extent(WcFlight *f, uint16_t place, uint64_t xid, const WcExtent *extent)
{
	Place	   *p = &f->places[place];

	atomic_store(&p->extent_of, 0);
	atomic_store(&p->tables, extent->tables);
	atomic_store(&p->least, extent->least);
	atomic_store(&p->greatest, extent->greatest);
	atomic_store(&p->extent_of, xid);
}

static void
leave_committing(WcFlight *f, uint16_t place, uint64_t xid, WcFlightState state)
{
	uint64_t	word = atomic_load(&f->places[place].word);

	while (xid_of(word) == xid && state_of(word) == WC_FLIGHT_COMMITTING &&
		   !atomic_compare_exchange_weak(&f->places[place].word, &word, (word & ~STATE_MASK) | state))
		;
}

void
wc_flight_ended(WcFlight *f, uint16_t place, uint64_t xid, uint64_t position)
{
	if (xid_of(atomic_load(&f->places[place].word)) == xid)
		atomic_store(&f->places[place].position, (uint32_t) position);
	leave_committing(f, place, xid, WC_FLIGHT_ENDED);
}

void
wc_flight_prepared(WcFlight *f, uint16_t place, uint64_t xid)
{
	leave_committing(f, place, xid, WC_FLIGHT_PREPARED);
}

void
wc_flight_overflow(WcFlight *f, uint64_t xid)
{
	uint64_t	now = atomic_load(&f->overflow);

	while (now < xid && !atomic_compare_exchange_weak(&f->overflow, &now, xid))
		;
}

/* --- freeing ----------------------------------------------------------------- */

/* The half of the word that changes with its state. */
static uint32_t *
futex_of(Place *place)
{
	return (uint32_t *) &place->word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static void
wake_sleepers(Place *place, uint64_t word)
{
	if (word & AWAITED_BIT)
		syscall(SYS_futex, futex_of(place), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Returns 0 or -1, as the system call does. */
static long
sleep_on(void *futex, uint32_t value, int64_t timeout_us)
{
	struct timespec ts = {(time_t) (timeout_us / 1000000), (long) (timeout_us % 1000000) * 1000};

	return syscall(SYS_futex, futex, FUTEX_WAIT, value, &ts, NULL, 0);
}

void
wc_flight_sleep(WcFlight *f, uint16_t place, uint64_t xid, int64_t timeout_us)
{
	Place	   *p = &f->places[place];
	uint64_t	word = place < f->nplaces ? atomic_load(&p->word) : 0;

	while (word != 0 && xid_of(word) == xid)
	{
		if (word & AWAITED_BIT || atomic_compare_exchange_weak(&p->word, &word, word | AWAITED_BIT))
		{
			(void) sleep_on(futex_of(p), (uint32_t) (word | AWAITED_BIT), timeout_us);
			return;
		}
	}
}

/* --- room ---------------------------------------------------------------------- */

bool
wc_flight_has_room(const WcFlight *f)
{
	return taken_of(atomic_load(&f->use)) < f->room || atomic_load(&f->stuck_at) == atomic_load(&f->nfreed);
}

/* A process counts itself and then reads `called` and `use`; count_freed changes `use` and then reads `crowd`: so one of the two
 * sees the other. */
void
wc_flight_sleep_for_room(WcFlight *f)
{
	uint64_t	nfreed = atomic_load(&f->nfreed);
	uint32_t	called;

	atomic_fetch_add(&f->crowd, 1);
	called = atomic_load(&f->called);
	if (!wc_flight_has_room(f) && sleep_on(&f->called, called, ROOM_PATIENCE_US) != 0 && errno == ETIMEDOUT &&
		atomic_load(&f->nfreed) == nfreed)
		atomic_store(&f->stuck_at, nfreed);
	atomic_fetch_sub(&f->crowd, 1);
}

/* All sleepers are woken when so many places are freed as they can fill twice: so they cannot leave the applier behind, and a
 * wake-up for each freed place would cost the applier more than applying. */
static void
call_crowd(WcFlight *f, uint64_t nfreed)
{
	uint32_t	crowd = atomic_load(&f->crowd);

	if (crowd == 0 || nfreed - atomic_load(&f->called_at) < 2 * (uint64_t) crowd)
		return;
	atomic_store(&f->called_at, nfreed);
	atomic_fetch_add(&f->called, 1);
	syscall(SYS_futex, &f->called, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* After many places were taken at once, searches become short again as soon as no place is taken. */
static void
count_freed(WcFlight *f)
{
	uint64_t	use = atomic_fetch_sub(&f->use, 1) - 1;

	call_crowd(f, atomic_fetch_add(&f->nfreed, 1) + 1);
	if (taken_of(use) == 0 && high_of(use) > HIGH_KEPT)
		(void) atomic_compare_exchange_strong(&f->use, &use, 0);
}

bool
wc_flight_free(WcFlight *f, uint16_t place, uint64_t xid)
{
	uint64_t	word = place < f->nplaces ? atomic_load(&f->places[place].word) : 0;

	while (word != 0 && xid_of(word) == xid)
	{
		if (!atomic_compare_exchange_weak(&f->places[place].word, &word, 0))
			continue;			/* its backend has changed the state */
		uncount_catalog(f, word);
		count_freed(f);
		wake_sleepers(&f->places[place], word);
		return true;
	}
	return false;
}

uint32_t
wc_flight_free_before(WcFlight *f, uint64_t xid)
{
	uint64_t	overflow = atomic_load(&f->overflow);
	WcFlightEntry entry;
	uint32_t	next = 0;
	uint32_t	n = 0;

	while (wc_flight_next(f, &next, &entry))
	{
		if (entry.xid < xid && wc_flight_free(f, entry.place, entry.xid))
			n++;
	}
	if (overflow != 0 && overflow < xid)
		(void) atomic_compare_exchange_strong(&f->overflow, &overflow, 0);
	return n;
}

/* --- looking ----------------------------------------------------------------- */

bool
wc_flight_idle(const WcFlight *f)
{
	return taken_of(atomic_load(&f->use)) == 0;
}

bool
wc_flight_changes_catalog(const WcFlight *f)
{
	return atomic_load(&f->ncatalog) != 0;
}

bool
wc_flight_overflowed(const WcFlight *f)
{
	return atomic_load(&f->overflow) != 0;
}

/* Ids are not used twice, so the extent is whole if extent_of is the same before and after. */
static WcExtent
extent_of(const Place *p, uint64_t xid)
{
	bool		known = atomic_load(&p->extent_of) == xid;
	WcExtent	extent = {atomic_load(&p->tables), atomic_load(&p->least), atomic_load(&p->greatest)};

	return known && atomic_load(&p->extent_of) == xid ? extent : WC_EXTENT_ALL;
}

WcExtent
wc_flight_written(const WcFlight *f, uint32_t database, const WcExtent *extent)
{
	WcExtent	all = WC_EXTENT_NONE;
	WcFlightEntry entry;
	uint32_t	next = 0;

	if (wc_flight_overflowed(f))
		return WC_EXTENT_ALL;
	while (wc_flight_next(f, &next, &entry))
	{
		WcExtent	written = extent_of(&f->places[entry.place], entry.xid);

		if ((entry.database == 0 || entry.database == database) && wc_extents_overlap(&written, extent))
			wc_extent_add(&all, &written);
	}
	return all;
}

uint16_t
wc_flight_find(const WcFlight *f, uint64_t xid)
{
	WcFlightEntry entry;
	uint32_t	next = 0;

	while (wc_flight_next(f, &next, &entry))
	{
		if (entry.xid == xid)
			return entry.place;
	}
	return WC_FLIGHT_NONE;
}

WcFlightState
wc_flight_state(const WcFlight *f, uint16_t place, uint64_t xid)
{
	uint64_t	word = place < f->nplaces ? atomic_load(&f->places[place].word) : 0;

	return xid_of(word) == xid ? state_of(word) : WC_FLIGHT_FREE;
}

uint64_t
wc_flight_holder(const WcFlight *f, uint16_t place)
{
	return place < f->nplaces ? xid_of(atomic_load(&f->places[place].word)) : 0;
}

bool
wc_flight_is_later(const WcFlightEntry *a, const WcFlightEntry *b)
{
	if (a->state == WC_FLIGHT_ENDED && b->state == WC_FLIGHT_ENDED)
		return (int32_t) (a->position - b->position) > 0;
	if (a->state == WC_FLIGHT_ENDED || b->state == WC_FLIGHT_ENDED)
		return b->state == WC_FLIGHT_ENDED;
	return a->xid > b->xid;
}

bool
wc_flight_next(const WcFlight *f, uint32_t *place, WcFlightEntry *entry)
{
	uint32_t	high = high_of(atomic_load(&f->use));

	while (*place < high)
	{
		const Place *p = &f->places[*place];
		uint64_t	word = atomic_load(&p->word);
		(*place)++;
		if (word == 0)
			continue;
		*entry = (WcFlightEntry) {
			.place = (uint16_t) (*place - 1),.state = (uint8_t) state_of(word),.catalog = (word & CATALOG_BIT) != 0,
				.database = atomic_load(&p->database),.position = atomic_load(&p->position),.xid = xid_of(word)
		};
		return true;
	}
	return false;
}

uint32_t
wc_flight_count(const WcFlight *f)
{
	return taken_of(atomic_load(&f->use));
}

/* --- notes ------------------------------------------------------------------- */

void
wc_flight_note(WcFlight *f, uint64_t xid)
{
	uint64_t	n = atomic_load(&f->nnoted);

	atomic_store(&f->notes[n % WC_FLIGHT_NOTES], xid);
	atomic_store(&f->nnoted, n + 1);
}

uint64_t
wc_flight_nnoted(const WcFlight *f)
{
	return atomic_load(&f->nnoted);
}

/* The note n + WC_FLIGHT_NOTES may be overwriting this one as soon as that many are counted. */
uint64_t
wc_flight_noted(const WcFlight *f, uint64_t n)
{
	uint64_t	xid = atomic_load(&f->notes[n % WC_FLIGHT_NOTES]);

	return atomic_load(&f->nnoted) - n < WC_FLIGHT_NOTES ? xid : 0;
}

/* --- generations ------------------------------------------------------------- */

uint64_t
wc_flight_new_generation(WcFlight *f)
{
	return atomic_fetch_add(&f->generation, 1) + 1;
}

uint64_t
wc_flight_generation(const WcFlight *f)
{
	return atomic_load(&f->generation);
}
