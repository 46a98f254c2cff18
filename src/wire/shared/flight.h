/*
 * wire/shared/flight.h: transactions whose log may be ahead of the store.
 *
 * PostgreSQL's commit record commits a transaction; its writes are in the store a moment later, when the follower (the
 * engine's main thread) has read the log up to the record.  Before the commit record is written, the transaction takes a
 * place in this table, in memory that all processes share; the follower frees the place when the commit has been
 * applied.  So a reader that sees the transaction's heap rows either finds its place and waits for it, or the place has
 * been freed.
 *
 * All accesses are atomic.  Only wc_flight_sleep and wc_flight_sleep_for_room wait.  Any thread, any process; the sections below name the callers, and
 * wire/README has the protocol.
 */
#ifndef WC_WIRE_SHARED_FLIGHT_H
#define WC_WIRE_SHARED_FLIGHT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/extent.h"

typedef struct WcFlight WcFlight;

typedef enum WcFlightState
{
	WC_FLIGHT_FREE = 0,
	WC_FLIGHT_COMMITTING = 1,	/* the backend has written the commit record, or is about to */
	WC_FLIGHT_ENDED = 2,		/* PostgreSQL has committed the transaction, visibly */
	WC_FLIGHT_PREPARED = 3		/* prepared; perhaps COMMIT PREPARED is in the log, but not applied yet */
} WcFlightState;

/* No place. */
#define WC_FLIGHT_NONE			UINT16_MAX

typedef struct WcFlightEntry
{
	uint16_t	place;
	uint8_t		state;			/* WcFlightState */
	bool		catalog;		/* it changes the catalog */
	uint32_t	database;		/* its oid; 0: unknown, or not written yet */
	uint32_t	position;		/* in state ENDED: for wc_flight_is_later */
	uint64_t	xid;			/* full id of the top-level transaction, below 2^60 */
} WcFlightEntry;

/* Bytes of memory for nplaces places, at most WC_FLIGHT_MAX. */
extern size_t wc_flight_size(uint32_t nplaces);

/* Lays out fresh, zeroed memory of that size, aligned to 64 bytes.  room: see wc_flight_has_room. */
extern WcFlight *wc_flight_init(void *memory, uint32_t nplaces, uint32_t room);
extern uint32_t wc_flight_nplaces(const WcFlight *flight);

/* --- for the transaction's backend; on a standby, for the startup process ---- */

/*
 * Sessions that commit faster than the applier's thread applies would take its processor time, which makes it slower still.  So a
 * transaction that finds no room, since `room` places are taken, sleeps once before it takes its place: until two places have
 * been freed for each process that sleeps, a few milliseconds have passed, or a signal was handled.  If the applier frees no place
 * for a while, since it applies a large commit or no engine runs, there is room until it frees one.
 *
 * wc_flight_sleep_for_room returns at once if there is room, and may also return without any of these reasons.
 */
extern bool wc_flight_has_room(const WcFlight *flight);
extern void wc_flight_sleep_for_room(WcFlight *flight);

/*
 * Takes a place, in state COMMITTING, whether or not there is room.  catalog: the transaction changes the catalog.  hint: the
 * place to try first, best the one that the caller had last.  WC_FLIGHT_NONE: all places are taken.
 */
extern uint16_t wc_flight_take(WcFlight *flight, uint64_t xid, uint32_t database, bool catalog, uint16_t hint);

/*
 * Takes a place unless the transaction has one already; two processes may do so at once.  Returns the transaction's
 * place, or WC_FLIGHT_NONE if it has none.  catalog may become true with a later call.
 */
extern uint16_t wc_flight_take_once(WcFlight *flight, uint64_t xid, uint32_t database, bool catalog);

/* Says which rows the transaction has written; before its commit record is written.  Until then it may have written any row. */
extern void wc_flight_set_extent(WcFlight *flight, uint16_t place, uint64_t xid, const WcExtent *extent);

/* Changes COMMITTING to ENDED, or to PREPARED.  Does nothing if the follower has freed the place already, also if
 * another transaction has it now.  position: of the commit record. */
extern void wc_flight_ended(WcFlight *flight, uint16_t place, uint64_t xid, uint64_t position);
extern void wc_flight_prepared(WcFlight *flight, uint16_t place, uint64_t xid);

/*
 * A transaction found no free place: until the follower knows that it has ended, readers cannot rely on the places.
 */
extern void wc_flight_overflow(WcFlight *flight, uint64_t xid);

/* --- for the follower, and for a backend whose transaction has failed ------------- */

/* Frees the place if the transaction has it: then true.  place may be any number. */
extern bool wc_flight_free(WcFlight *flight, uint16_t place, uint64_t xid);

/* Frees all places of transactions with smaller ids, and forgets that one of these found no place; returns the number
 * of freed places. */
extern uint32_t wc_flight_free_before(WcFlight *flight, uint64_t xid);

/* --- for readers --------------------------------------------------------------------- */

/* Is no place taken?  One load.  True: all transactions that had ended before the call are applied. */
extern bool wc_flight_idle(const WcFlight *flight);

/* Has a transaction a place that changes the catalog?  One load.  False: the changes of all transactions that had ended before
 * the call are applied. */
extern bool wc_flight_changes_catalog(const WcFlight *flight);
extern bool wc_flight_overflowed(const WcFlight *flight);

/*
 * What those transactions of this database in flight have written, perhaps with other rows, that may have written rows of `extent`.
 * All transactions that had ended before the call, and have written rows of `extent` outside of it, are applied.
 */
extern WcExtent wc_flight_written(const WcFlight *flight, uint32_t database, const WcExtent *extent);

/* The place of a transaction, or WC_FLIGHT_NONE. */
extern uint16_t wc_flight_find(const WcFlight *flight, uint64_t xid);

/* The state of the transaction's place; FREE also if another transaction has the place, or no place has this number. */
extern WcFlightState wc_flight_state(const WcFlight *flight, uint16_t place, uint64_t xid);

/* The transaction that has this place, or 0. */
extern uint64_t wc_flight_holder(const WcFlight *flight, uint16_t place);

/* The first taken place at or after *place; sets *place to the one after it.  False: no more. */
extern bool wc_flight_next(const WcFlight *flight, uint32_t *place, WcFlightEntry *entry);

/*
 * Will the place of a be freed after that of b, most likely?  The store applies commits in the order of the log; of a transaction that
 * has not ended yet only the id is known.
 */
extern bool wc_flight_is_later(const WcFlightEntry *a, const WcFlightEntry *b);

/*
 * Sleeps until the transaction's place is freed, timeout_us have passed, or a signal was handled; returns at once if the
 * transaction does not have the place.  It may also return without any of these reasons.
 */
extern void wc_flight_sleep(WcFlight *flight, uint16_t place, uint64_t xid, int64_t timeout_us);

/* The number of places that are taken, being taken or being freed. */
extern uint32_t wc_flight_count(const WcFlight *flight);

/* --- transactions that the store may show ------------------------------------------ */

/* So many transactions are remembered. */
#define WC_FLIGHT_NOTES	256

/* The applier's thread: the transaction is about to be applied; called before a reader can see it in the store. */
extern void wc_flight_note(WcFlight *flight, uint64_t xid);

/* How many have been noted; and the n-th of them, from 0.  0: it is not remembered any more. */
extern uint64_t wc_flight_nnoted(const WcFlight *flight);
extern uint64_t wc_flight_noted(const WcFlight *flight, uint64_t n);

/* --- row locks of an engine that is gone ------------------------------------------- */

/*
 * wc_flight_new_generation: the engine calls it at its start, and gets the new generation.  Row locks of earlier
 * generations are lost; so the engine grants none before every place that was taken at that moment (wc_flight_next) is
 * free.  A committing backend takes its place, and then compares the generation with the one under which it has locked
 * its rows: so either the backend sees the new generation, or the engine sees its place.
 */
extern uint64_t wc_flight_new_generation(WcFlight *flight);
extern uint64_t wc_flight_generation(const WcFlight *flight);

#endif
