/*
 * wire/claims.c: rows that a commit locks itself.
 */
#include "wire/claims.h"

#include "base/hash.h"

/* Many more than the rows that are claimed or locked at a time, so that two of these seldom share a slot. */
#define SLOTS		131072
#define TABLES		1024

/* A claim is a word: the place, the lower bits of the table's id, how many claims in turn it follows that may be valid, and
 * the lower bits of the transaction's id.  The place has the transaction's full id.  If its lower bits differ from the
 * claim's, another transaction has the place by now, and the claim is not valid. */
#define TABLE_BITS	8
#define FOLLOWS_BITS 6
#define XID_BITS	34
#define XID_MASK	((UINT64_C(1) << XID_BITS) - 1)
#define TABLE_SHIFT	(XID_BITS + FOLLOWS_BITS)
#define PLACE_SHIFT	(TABLE_SHIFT + TABLE_BITS)

/* The engine notices that a row becomes large when it applies a commit (engine/README, "Commits"): so many commits of
 * WC_CLAIMS_FOLLOW_BYTES that it has not applied are still small together. */
#define FOLLOWS_MAX ((1U << FOLLOWS_BITS) - 1)

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
	return (uint64_t) (table_id % (1U << TABLE_BITS)) << TABLE_SHIFT;
}

static uint64_t
table_bits_of(uint64_t claim)
{
	return claim & table_bits(UINT32_MAX);
}

static uint16_t
place_of(uint64_t claim)
{
	return (uint16_t) (claim >> PLACE_SHIFT);
}

static uint32_t
follows(uint64_t claim)
{
	return (claim >> XID_BITS) & FOLLOWS_MAX;
}

static uint64_t
claim_of(uint32_t table_id, uint16_t place, uint64_t xid)
{
	return (uint64_t) place << PLACE_SHIFT | table_bits(table_id) | (xid & XID_MASK);
}

/* The full id of the transaction that made the claim; 0: the claim is not valid. */
static uint64_t
claimant(const WcFlight *flight, uint64_t claim)
{
	uint64_t	xid = claim == 0 ? 0 : wc_flight_holder(flight, place_of(claim));

	return (xid & XID_MASK) == (claim & XID_MASK) ? xid : 0;
}

static uint64_t
claimant_but(const WcFlight *flight, uint64_t claim, uint64_t except)
{
	uint64_t	xid = claimant(flight, claim);

	return xid == except ? 0 : xid;
}

/*
 * Makes *claim the one that takes the slot from the claim `before`; false: it cannot.  Both claims have the same table bits,
 * so that wc_claims_holder_in finds the later claim in place of the earlier one.
 */
static bool
next_claim(const WcFlight *flight, uint64_t before, uint64_t bytes, uint64_t *claim)
{
	uint64_t	holder = claimant(flight, before);

	if (holder == 0)
		return true;
	if (bytes > WC_CLAIMS_FOLLOW_BYTES || follows(before) == FOLLOWS_MAX || table_bits_of(before) != table_bits_of(*claim) ||
		wc_flight_state(flight, place_of(before), holder) != WC_FLIGHT_ENDED)
		return false;
	*claim |= (uint64_t) (follows(before) + 1) << XID_BITS;
	return true;
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
wc_claims_is_free(const WcClaims *c, const WcFlight *flight, uint64_t opening, uint32_t table_id, WcSlice row, uint64_t bytes)
{
	uint32_t	slot = slot_of_row(c, table_id, row);
	uint64_t	claim = table_bits(table_id);

	return is_open(c, opening, table_id, slot) && next_claim(flight, atomic_load(&c->slots[slot]), bytes, &claim);
}

bool
wc_claims_take(WcClaims *c, const WcFlight *flight, uint64_t opening, uint32_t table_id, WcSlice row, uint64_t bytes,
			   uint16_t place, uint64_t xid, WcClaim *claim)
{
	uint32_t	slot = slot_of_row(c, table_id, row);
	uint64_t	mine = claim_of(table_id, place, xid);
	uint64_t	before = atomic_load(&c->slots[slot]);

	*claim = (WcClaim) {.mine = before,.before = before,.slot = slot};
	if (claimant(flight, before) != xid || table_bits_of(before) != table_bits_of(mine))
	{
		if (!next_claim(flight, before, bytes, &mine) || !atomic_compare_exchange_strong(&c->slots[slot], &before, mine))
			return false;
		claim->mine = mine;
	}
	if (is_open(c, opening, table_id, slot))
		return true;
	wc_claims_give_back(c, claim);
	return false;
}

void
wc_claims_give_back(WcClaims *c, const WcClaim *claim)
{
	uint64_t	mine = claim->mine;

	(void) atomic_compare_exchange_strong(&c->slots[claim->slot], &mine, claim->before);
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

		if (table_bits_of(claim) == table_bits(table_id) && (xid = claimant_but(flight, claim, except)) != 0)
			return xid;
	}
	return 0;
}
