/*
 * wire/flight.c: places of transactions in flight.
 *
 * A place is one word with the transaction's id and its state, so that both change together.  All accesses are
 * sequentially consistent: the order that wire/README relies on is the same in every process.  A commit needs only a
 * few of them.
 */
#include "wire/flight.h"

#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"

#define STATE_BITS	2
#define STATE_MASK	((UINT64_C(1) << STATE_BITS) - 1)

/* A search of so many places costs next to nothing. */
#define HIGH_KEPT	64

/* The first sleep is at most so long; each of the next ones twice as long, up to 64 ms. */
#define PATIENCE_FIRST_US	INT64_C(2000)
#define PATIENCE_DOUBLINGS	5

typedef struct Place
{
	_Atomic uint64_t word;		/* 0: free */
	_Atomic uint64_t about;		/* database << 32 | flags; for a moment those of the place's last transaction */
} Place;

struct WcFlight
{
	uint32_t	nplaces;
	_Atomic uint64_t use;		/* high << 32 | taken: see taken_of and high_of */
	_Atomic uint64_t overflow;	/* greatest id that found no place; 0: none */
	_Atomic uint64_t generation;
	_Atomic uint32_t sleepers;	/* in wc_flight_sleep */
	_Atomic uint32_t freed;		/* a futex: counts places that were freed while a process slept */
	_Atomic uint64_t nnoted;	/* the n-th note is notes[n % WC_FLIGHT_NOTES] */
	_Atomic uint64_t notes[WC_FLIGHT_NOTES];
	Place		places[];
};

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2, "processes share them");
_Static_assert(WC_FLIGHT_MAX <= WC_FLIGHT_NONE, "a place is a u16");

static uint64_t
word_of(uint64_t xid, WcFlightState state)
{
	return xid << STATE_BITS | state;
}

static uint64_t
xid_of(uint64_t word)
{
	return word >> STATE_BITS;
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
wc_flight_init(void *memory, uint32_t nplaces)
{
	WcFlight   *f = memory;

	assert(nplaces > 0 && nplaces <= WC_FLIGHT_MAX);
	f->nplaces = nplaces;
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

uint16_t
wc_flight_take(WcFlight *f, uint64_t xid, uint32_t database, uint8_t flags, uint16_t hint)
{
	uint64_t	word = word_of(xid, WC_FLIGHT_COMMITTING);
	uint32_t	place = hint;

	atomic_fetch_add(&f->use, 1);
	if (place >= f->nplaces || !try_place(f, place, word))
	{
		for (place = 0; place < f->nplaces && !try_place(f, place, word); place++)
			;
	}
	if (place == f->nplaces)
	{
		atomic_fetch_sub(&f->use, 1);
		return WC_FLIGHT_NONE;
	}
	atomic_store(&f->places[place].about, (uint64_t) database << 32 | flags);
	return (uint16_t) place;
}

uint16_t
wc_flight_take_once(WcFlight *f, uint64_t xid, uint32_t database, uint8_t flags)
{
	uint16_t	place = wc_flight_find(f, xid);
	WcFlightEntry entry;

	if (place == WC_FLIGHT_NONE && wc_flight_take(f, xid, database, flags, WC_FLIGHT_NONE) == WC_FLIGHT_NONE)
		return WC_FLIGHT_NONE;

	/* if two places were taken at the same time, the later process sees both: the first one stays */
	place = wc_flight_find(f, xid);
	for (uint32_t next = (uint32_t) place + 1; place != WC_FLIGHT_NONE && wc_flight_next(f, &next, &entry);)
	{
		if (entry.xid == xid)
			(void) wc_flight_free(f, entry.place, xid);
	}
	if (place != WC_FLIGHT_NONE)
		wc_flight_add_flags(f, place, flags);
	return place;
}

void
wc_flight_add_flags(WcFlight *f, uint16_t place, uint8_t flags)
{
	atomic_fetch_or(&f->places[place].about, flags);
}

static void
leave_committing(WcFlight *f, uint16_t place, uint64_t xid, WcFlightState state)
{
	uint64_t	word = word_of(xid, WC_FLIGHT_COMMITTING);

	(void) atomic_compare_exchange_strong(&f->places[place].word, &word, word_of(xid, state));
}

void
wc_flight_ended(WcFlight *f, uint16_t place, uint64_t xid)
{
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

/* The futex bit of a place; a wake-up of this bit reaches its sleepers and few others. */
static uint32_t
futex_bits(uint16_t place)
{
	return UINT32_C(1) << place % 32;
}

/* A sleeper counts itself and then reads the place; the caller of this function frees the place and then checks for
 * sleepers: so one of the two sees the other. */
static void
wake_sleepers(WcFlight *f, uint16_t place)
{
	if (atomic_load(&f->sleepers) == 0)
		return;
	atomic_fetch_add(&f->freed, 1);
	syscall(SYS_futex, &f->freed, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, futex_bits(place));
}

/* The deadline of a futex that is waited for by bits is a time of the monotonic clock. */
static struct timespec
deadline(int64_t timeout_us)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += (time_t) (timeout_us / 1000000);
	ts.tv_nsec += (long) (timeout_us % 1000000) * 1000;
	if (ts.tv_nsec >= 1000000000)
	{
		ts.tv_nsec -= 1000000000;
		ts.tv_sec++;
	}
	return ts;
}

void
wc_flight_sleep(WcFlight *f, uint16_t place, uint64_t xid, int64_t timeout_us)
{
	struct timespec until = deadline(timeout_us);
	uint32_t	freed;

	atomic_fetch_add(&f->sleepers, 1);
	freed = atomic_load(&f->freed);
	if (wc_flight_state(f, place, xid) != WC_FLIGHT_FREE)
		syscall(SYS_futex, &f->freed, FUTEX_WAIT_BITSET, freed, &until, NULL, futex_bits(place));
	atomic_fetch_sub(&f->sleepers, 1);
}

int64_t
wc_flight_patience_us(uint32_t sleeps)
{
	return PATIENCE_FIRST_US << (sleeps < PATIENCE_DOUBLINGS ? sleeps : PATIENCE_DOUBLINGS);
}

/* After many places were taken at once, searches become short again as soon as no place is taken. */
static void
count_freed(WcFlight *f)
{
	uint64_t	use = atomic_fetch_sub(&f->use, 1) - 1;

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
		count_freed(f);
		wake_sleepers(f, place);
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
wc_flight_overflowed(const WcFlight *f)
{
	return atomic_load(&f->overflow) != 0;
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
wc_flight_next(const WcFlight *f, uint32_t *place, WcFlightEntry *entry)
{
	uint32_t	high = high_of(atomic_load(&f->use));

	while (*place < high)
	{
		const Place *p = &f->places[*place];
		uint64_t	word = atomic_load(&p->word);
		uint64_t	about;

		(*place)++;
		if (word == 0)
			continue;
		about = atomic_load(&p->about);
		*entry = (WcFlightEntry) {
			.place = (uint16_t) (*place - 1),.state = (uint8_t) state_of(word),.flags = (uint8_t) about,
				.database = (uint32_t) (about >> 32),.xid = xid_of(word)
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
