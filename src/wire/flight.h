/*
 * wire/flight.h: transactions whose log may be ahead of the store.
 *
 * A commit is made by PostgreSQL's log; what it wrote is in the store a moment later, when
 * the follower (the engine's main thread) has read the log that far.  Before the commit
 * record is written the transaction takes a place in this table, in memory that all
 * processes share, and the follower frees it when the commit has been applied.  So who sees
 * a transaction's heap rows finds its place, or finds it freed, and knows what to wait for.
 *
 * Everything is atomic and nobody waits here.  Any thread, any process; who may call what is
 * said below, and wire/README tells why it works.
 */
#ifndef WC_WIRE_FLIGHT_H
#define WC_WIRE_FLIGHT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct WcFlight WcFlight;

typedef enum WcFlightState
{
	WC_FLIGHT_FREE = 0,
	WC_FLIGHT_COMMITTING = 1,	/* its commit record may be written, or be about to be */
	WC_FLIGHT_ENDED = 2,		/* PostgreSQL has committed it, for everybody to see */
	WC_FLIGHT_PREPARED = 3		/* it waits for COMMIT PREPARED, or has just got it */
} WcFlightState;

/* The transaction changes the catalog. */
#define WC_FLIGHT_CATALOG		0x01

/* No place. */
#define WC_FLIGHT_NONE			UINT16_MAX

typedef struct WcFlightEntry
{
	uint16_t	place;
	uint8_t		state;			/* WcFlightState */
	uint8_t		flags;
	uint32_t	database;		/* its oid; 0: not known, or about to be */
	uint64_t	xid;			/* full id of the top-level transaction, below 2^62 */
} WcFlightEntry;

/* Bytes of memory for so many places, at most WC_FLIGHT_MAX. */
extern size_t wc_flight_size(uint32_t nplaces);

/* Lays out fresh, zeroed memory of that size, aligned to 64 bytes. */
extern WcFlight *wc_flight_init(void *memory, uint32_t nplaces);
extern uint32_t wc_flight_nplaces(const WcFlight *flight);

/* --- who writes: the transaction's backend; on a standby, the startup process ---- */

/*
 * Takes a place, COMMITTING.  hint: the place to try first, the one that the caller had
 * last.  WC_FLIGHT_NONE: all are taken.
 */
extern uint16_t wc_flight_take(WcFlight *flight, uint64_t xid, uint32_t database, uint8_t flags, uint16_t hint);

/*
 * Takes a place unless the transaction has one already; two processes may do so at once.  Which
 * one it has then, or WC_FLIGHT_NONE.
 */
extern uint16_t wc_flight_take_once(WcFlight *flight, uint64_t xid, uint32_t database, uint8_t flags);

/* Further flags of a transaction that has the place. */
extern void wc_flight_add_flags(WcFlight *flight, uint16_t place, uint8_t flags);

/* COMMITTING becomes ENDED, or PREPARED.  Nothing happens if the follower has freed the
 * place already, and another transaction has it perhaps. */
extern void wc_flight_ended(WcFlight *flight, uint16_t place, uint64_t xid);
extern void wc_flight_prepared(WcFlight *flight, uint16_t place, uint64_t xid);

/*
 * A transaction found no place: until the follower knows that it is over, nobody can tell
 * by the places what to wait for.
 */
extern void wc_flight_overflow(WcFlight *flight, uint64_t xid);

/* --- who frees: the follower; a backend whose transaction has failed -------------- */

/* The transaction has the place, which may be any number, no more; true: it had it until now. */
extern bool wc_flight_free(WcFlight *flight, uint16_t place, uint64_t xid);

/* Frees all places of transactions before this one, and forgets that one of them found
 * none; returns how many. */
extern uint32_t wc_flight_free_before(WcFlight *flight, uint64_t xid);

/* --- who reads --------------------------------------------------------------------- */

/* Is there nothing to look for?  One load; true for whom this is so of all transactions
 * that have ended before. */
extern bool wc_flight_idle(const WcFlight *flight);
extern bool wc_flight_overflowed(const WcFlight *flight);

/* The place of a transaction, or WC_FLIGHT_NONE. */
extern uint16_t wc_flight_find(const WcFlight *flight, uint64_t xid);

/* FREE also when another transaction has the place, or there is none of that number. */
extern WcFlightState wc_flight_state(const WcFlight *flight, uint16_t place, uint64_t xid);

/* The transaction that has this place, or 0. */
extern uint64_t wc_flight_holder(const WcFlight *flight, uint16_t place);

/* The next taken place at or behind *place, which moves behind it; false: no more. */
extern bool wc_flight_next(const WcFlight *flight, uint32_t *place, WcFlightEntry *entry);

/*
 * Sleeps until the transaction has the place no more, timeout_us have passed, or a signal was
 * handled; returns at once if it has not got it.  It may also return for nothing.
 */
extern void wc_flight_sleep(WcFlight *flight, uint16_t place, uint64_t xid, int64_t timeout_us);

/* How many places are taken, or just being taken or freed. */
extern uint32_t wc_flight_count(const WcFlight *flight);

/* --- row locks of an engine that is gone ------------------------------------------- */

/*
 * The engine, at its start: a new generation, returned.  Row locks of earlier ones are
 * lost; so it grants none before every place that was taken then (wc_flight_next) is free.
 * A committer takes its place and then looks whether the generation is still that under which
 * it locked its rows: either it sees the new one, or the engine sees its place.
 */
extern uint64_t wc_flight_new_generation(WcFlight *flight);
extern uint64_t wc_flight_generation(const WcFlight *flight);

#endif
