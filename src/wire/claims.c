/*
 * wire/claims.c: rows that a commit locks itself.
 */
#include "wire/claims.h"

#include "base/hash.h"

/* Many more than the rows that are claimed or locked at a time, so that two of these seldom share a slot. */
#define SLOTS		131072
#define TABLES		1024

/* A claim is a word: the place, the lower bits of the table's id, and the lower bits of the transaction's id.  The place
 * has the transaction's full id.  If its lower bits differ from the claim's, another transaction has the place by now,
 * and the claim is not valid. */
#define TABLE_BITS	8
#define XID_BITS	40
#define XID_MASK	((UINT64_C(1) << XID_BITS) - 1)

struct WcClaims
{
	uint64_t	seed;
	_Atomic uint64_t opening;	/* 0: shut */
	_Atomic uint32_t closed[TABLES];	/* how often the tables of a counter have been closed */
	_Atomic uint32_t locks[SLOTS];	/* how many locks the engine has in this slot */
	_Atomic uint64_t slots[SLOTS];	/* claims; 0: none has been made */
};

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2, "processes share them");

size_t
wc_claims_size(void)
{
	return sizeof(WcClaims);
}

WcClaims *
wc_claims_init(void *memory, uint64_t seed)
{
	WcClaims   *c = memory;

	c->seed = wc_hash_mix(seed);
	return c;
}

uint64_t
wc_claims_hash_table(const WcClaims *c, uint32_t table_id)
{
	return wc_hash_mix(c->seed ^ table_id);
}

uint64_t
wc_claims_hash_row(uint64_t table_hash, WcSlice row)
{
	return wc_hash_bytes(table_hash, row);
}

static uint32_t
slot_of(uint64_t hash)
{
	return (uint32_t) (hash >> 20) % SLOTS;
}

static uint64_t
table_bits(uint32_t table_id)
{
	return (uint64_t) (table_id % (1U << TABLE_BITS)) << XID_BITS;
}

static uint64_t
claim_of(uint32_t table_id, uint16_t place, uint64_t xid)
{
	return (uint64_t) place << (XID_BITS + TABLE_BITS) | table_bits(table_id) | (xid & XID_MASK);
}

/* The full id of the transaction that made the claim; 0: the claim is not valid. */
static uint64_t
claimant(const WcFlight *flight, uint64_t claim)
{
	uint64_t	xid = claim == 0 ? 0 : wc_flight_holder(flight, (uint16_t) (claim >> (XID_BITS + TABLE_BITS)));

	return (xid & XID_MASK) == (claim & XID_MASK) ? xid : 0;
}

static uint64_t
claimant_but(const WcFlight *flight, uint64_t claim, uint64_t except)
{
	uint64_t	xid = claimant(flight, claim);

	return xid == except ? 0 : xid;
}

/* --- backends ---------------------------------------------------------------------- */

uint64_t
wc_claims_opening(const WcClaims *c)
{
	return atomic_load(&c->opening);
}

static uint32_t
slot_of_row(const WcClaims *c, uint32_t table_id, WcSlice row)
{
	return slot_of(wc_claims_hash_row(wc_claims_hash_table(c, table_id), row));
}

/* Does the engine let backends claim rows of this slot? */
static bool
is_open(const WcClaims *c, uint64_t opening, uint32_t table_id, uint32_t slot)
{
	return atomic_load(&c->locks[slot]) == 0 && atomic_load(&c->closed[table_id % TABLES]) == 0 &&
		atomic_load(&c->opening) == opening;
}

bool
wc_claims_is_free(const WcClaims *c, const WcFlight *flight, uint64_t opening, uint32_t table_id, WcSlice row)
{
	uint32_t	slot = slot_of_row(c, table_id, row);

	return is_open(c, opening, table_id, slot) && claimant(flight, atomic_load(&c->slots[slot])) == 0;
}

bool
wc_claims_take(WcClaims *c, const WcFlight *flight, uint64_t opening, uint32_t table_id, WcSlice row, uint16_t place,
			   uint64_t xid)
{
	uint32_t	slot = slot_of_row(c, table_id, row);
	uint64_t	mine = claim_of(table_id, place, xid);
	uint64_t	before = atomic_load(&c->slots[slot]);

	if (before != mine &&
		(claimant_but(flight, before, xid) != 0 || !atomic_compare_exchange_strong(&c->slots[slot], &before, mine)))
		return false;
	if (is_open(c, opening, table_id, slot))
		return true;
	wc_claims_give_back(c, table_id, row, place, xid);
	return false;
}

void
wc_claims_give_back(WcClaims *c, uint32_t table_id, WcSlice row, uint16_t place, uint64_t xid)
{
	uint32_t	slot = slot_of_row(c, table_id, row);
	uint64_t	mine = claim_of(table_id, place, xid);

	(void) atomic_compare_exchange_strong(&c->slots[slot], &mine, 0);
}

/* --- the engine ---------------------------------------------------------------------- */

void
wc_claims_reset(WcClaims *c)
{
	wc_claims_shut(c);
	for (int i = 0; i < SLOTS; i++)
		atomic_store(&c->locks[i], 0);
	for (int i = 0; i < TABLES; i++)
		atomic_store(&c->closed[i], 0);
}

void
wc_claims_open(WcClaims *c, uint64_t opening)
{
	atomic_store(&c->opening, opening);
}

void
wc_claims_shut(WcClaims *c)
{
	atomic_store(&c->opening, 0);
}

void
wc_claims_count(WcClaims *c, uint64_t hash)
{
	atomic_fetch_add(&c->locks[slot_of(hash)], 1);
}

void
wc_claims_uncount(WcClaims *c, uint64_t hash)
{
	atomic_fetch_sub(&c->locks[slot_of(hash)], 1);
}

void
wc_claims_prefetch(const WcClaims *c, uint64_t hash)
{
	__builtin_prefetch((const void *) &c->locks[slot_of(hash)], 1);
	__builtin_prefetch((const void *) &c->slots[slot_of(hash)]);
}

uint64_t
wc_claims_holder(const WcClaims *c, const WcFlight *flight, uint64_t hash, uint64_t except)
{
	return claimant_but(flight, atomic_load(&c->slots[slot_of(hash)]), except);
}

void
wc_claims_close_table(WcClaims *c, uint32_t table_id)
{
	atomic_fetch_add(&c->closed[table_id % TABLES], 1);
}

void
wc_claims_open_table(WcClaims *c, uint32_t table_id)
{
	atomic_fetch_sub(&c->closed[table_id % TABLES], 1);
}

uint64_t
wc_claims_holder_in(const WcClaims *c, const WcFlight *flight, uint32_t table_id, uint64_t except)
{
	for (int i = 0; i < SLOTS; i++)
	{
		uint64_t	claim = atomic_load(&c->slots[i]);
		uint64_t	xid;

		if ((claim & table_bits(UINT32_MAX)) == table_bits(table_id) && (xid = claimant_but(flight, claim, except)) != 0)
			return xid;
	}
	return 0;
}
