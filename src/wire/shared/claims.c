/*
 * wire/shared/claims.c: the slots, and the claims of commits.
 */
#include "wire/shared/claimsstate.h"

/* The engine notices that a row becomes large when it applies a commit (engine/README, "Commits"): so many commits of
 * WC_CLAIMS_FOLLOW_BYTES that it has not applied are still small together. */
#define FOLLOWS_MAX (WC_CLAIM_NO_KEY - 1)

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2, "processes share them");

size_t
wc_claims_size(uint32_t nprocesses)
{
	return sizeof(WcClaims) + nprocesses * sizeof(WcClaimsProcess);
}

WcClaims *
wc_claims_init(void *memory, uint64_t seed, uint32_t nprocesses)
{
	WcClaims   *c = memory;

	c->seed = wc_hash_mix(seed);
	c->nprocesses = nprocesses;
	return c;
}

uint64_t
wc_claims_hash_table(const WcClaims *c, uint32_t table_id)
{
	return wc_claims_table_seed(c, table_id);
}

uint64_t
wc_claims_hash_row(uint64_t table_hash, WcSlice row)
{
	return wc_hash_bytes(table_hash, row);
}

static uint64_t
table_bits_of(uint64_t claim)
{
	return claim & wc_claims_table_bits(UINT32_MAX);
}

/*
 * Makes *claim the one that takes the slot from the claim `before`; false: it cannot.  Both claims have the same table bits,
 * so that wc_claims_holder_in finds the later claim in place of the earlier one.
 */
static bool
next_claim(const WcClaims *c, const WcFlight *flight, uint64_t before, uint64_t bytes, uint64_t *claim)
{
	uint64_t	holder = wc_claims_claimant(c, flight, before);

	if (holder == 0)
		return true;
	if (wc_claims_is_held(before) || bytes > WC_CLAIMS_FOLLOW_BYTES || wc_claims_follows(before) == FOLLOWS_MAX ||
		table_bits_of(before) != table_bits_of(*claim) ||
		wc_flight_state(flight, wc_claims_place(before), holder) != WC_FLIGHT_ENDED)
		return false;
	*claim |= wc_claims_follow_bits(wc_claims_follows(before) == WC_CLAIM_NO_KEY ? 1 : wc_claims_follows(before) + 1);
	return true;
}

/* --- backends ---------------------------------------------------------------------- */

uint64_t
wc_claims_opening(const WcClaims *c)
{
	return atomic_load(&c->opening);
}

bool
wc_claims_is_free(const WcClaims *c, const WcFlight *flight, uint64_t opening, uint32_t table_id, WcSlice row, uint64_t bytes)
{
	uint32_t	slot = wc_claims_row_slot(c, table_id, row);
	uint64_t	claim = wc_claims_table_bits(table_id);

	return wc_claims_is_open(c, opening, table_id, slot) && next_claim(c, flight, atomic_load(&c->slots[slot]), bytes, &claim);
}

bool
wc_claims_take(WcClaims *c, const WcFlight *flight, uint64_t opening, uint32_t table_id, WcSlice row, uint64_t bytes,
			   uint16_t place, uint64_t xid, WcClaim *claim)
{
	uint32_t	slot = wc_claims_row_slot(c, table_id, row);
	uint64_t	mine = wc_claims_word(table_id, place, xid);
	uint64_t	before = atomic_load(&c->slots[slot]);

	*claim = (WcClaim) {.mine = before,.before = before,.slot = slot};
	if (wc_claims_claimant(c, flight, before) != xid || wc_claims_follows(before) >= WC_CLAIM_NO_KEY ||
		table_bits_of(before) != table_bits_of(mine))
	{
		/* its own claim that does not lock the key becomes one that does */
		bool		own = before == (mine | wc_claims_follow_bits(WC_CLAIM_NO_KEY));

		if ((!own && !next_claim(c, flight, before, bytes, &mine)) || !atomic_compare_exchange_strong(&c->slots[slot], &before, mine))
			return false;
		claim->mine = mine;
	}
	if (wc_claims_is_open(c, opening, table_id, slot))
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

/*
 * Is `claim`, which was read from the slot, a claim of no transaction, and still in the slot?  A transaction that rolls back first writes the
 * claim of the commit before it into the slot, and then ends.  So if `claim` has ended and the slot has another claim, that one may be
 * the claim of a commit that is not applied.
 */
static bool
has_ended(const WcClaims *c, const WcFlight *flight, uint32_t slot, uint64_t claim)
{
	return wc_claims_claimant(c, flight, claim) == 0 && atomic_load(&c->slots[slot]) == claim;
}

/* A process's claim is one of a transaction that runs: before it ends, the claim becomes a commit's.  But the commit that it is
 * behind may not be applied. */
bool
wc_claims_is_quiet(const WcClaims *c, const WcFlight *flight, uint32_t table_id, WcSlice row)
{
	uint64_t	opening = atomic_load(&c->opening);
	uint32_t	slot = wc_claims_row_slot(c, table_id, row);
	uint64_t	claim = atomic_load(&c->slots[slot]);

	return opening != 0 && (wc_claims_follows(claim) == WC_CLAIM_HELD || has_ended(c, flight, slot, claim)) &&
		wc_claims_is_open(c, opening, table_id, slot);
}

/* The engine notes a table before it frees the place of the commit.  An engine that starts forgets all tables, while the opening is
 * another one. */
static bool
is_ahead(const WcClaims *c, uint64_t opening, uint32_t table_id)
{
	return atomic_load(&c->ahead[table_id % WC_CLAIMS_TABLES]) != 0 || atomic_load(&c->opening) != opening;
}

bool
wc_claims_is_timely(const WcClaims *c, const WcFlight *flight, uint32_t table_id, WcSlice row)
{
	uint64_t	opening = atomic_load(&c->opening);

	return wc_claims_is_quiet(c, flight, table_id, row) && !is_ahead(c, opening, table_id);
}

static bool
is_of_same(uint64_t claim, uint64_t other)
{
	return ((claim ^ other) & WC_CLAIM_XID_MASK) == 0;
}

bool
wc_claims_is_first(const WcClaims *c, uint64_t opening, uint32_t table_id, WcSlice row, const WcClaim *taken, int ntaken)
{
	uint32_t	slot = wc_claims_row_slot(c, table_id, row);
	bool		first = false;

	for (int i = 0; i < ntaken; i++)
	{
		if (taken[i].slot != slot || taken[i].mine == taken[i].before)
			continue;
		if (wc_claims_follows(taken[i].mine) != 0 || is_of_same(taken[i].mine, taken[i].before))
			return false;
		first = true;
	}
	return first && !is_ahead(c, opening, table_id);
}

/* --- the engine ---------------------------------------------------------------------- */

void
wc_claims_reset(WcClaims *c)
{
	wc_claims_shut(c);
	for (int i = 0; i < WC_CLAIMS_SLOTS; i++)
		atomic_store(&c->locks[i], 0);
	for (int i = 0; i < WC_CLAIMS_TABLES; i++)
	{
		atomic_store(&c->closed[i], 0);
		atomic_store(&c->ahead[i], 0);
	}
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
	atomic_fetch_add(&c->locks[wc_claims_slot(hash)], 1);
}

void
wc_claims_uncount(WcClaims *c, uint64_t hash)
{
	atomic_fetch_sub(&c->locks[wc_claims_slot(hash)], 1);
}

void
wc_claims_prefetch(const WcClaims *c, uint64_t hash)
{
	__builtin_prefetch((const void *) &c->locks[wc_claims_slot(hash)], 1);
	__builtin_prefetch((const void *) &c->slots[wc_claims_slot(hash)]);
}

/*
 * The rows of a process are those of its claim only as long as its transaction is the same.  If the transaction commits
 * meanwhile, it promotes the claim before it drops its rows: then the slot has another word.  A claim that has taken the slot from a
 * commit's does so for one row; for others the commit's claim is still in force.
 */
static uint64_t
holder_of_slot(const WcClaims *c, const WcFlight *flight, uint32_t slot, uint32_t table_id, WcSlice row, WcRowLockMode mode,
			   uint64_t except)
{
	for (;;)
	{
		uint64_t	claim = atomic_load(&c->slots[slot]);
		uint64_t	xid = wc_claims_claimant(c, flight, claim);
		bool		in_the_way;
		bool		brief = false;
		uint64_t	before = 0;

		if (xid == 0 && atomic_load(&c->slots[slot]) != claim)
			continue;			/* as in has_ended */
		if (xid == except || (row.data == NULL && table_bits_of(claim) != wc_claims_table_bits(table_id)))
			return 0;
		if (!wc_claims_is_held(claim))
			return row.data != NULL && mode == WC_LOCK_KEY_SHARE && wc_claims_follows(claim) == WC_CLAIM_NO_KEY ? 0 : xid;
		in_the_way = xid != 0 && wc_claims_is_in_the_way(wc_claims_process(c, claim), table_id, row, mode, &brief);
		if (xid != 0 && !in_the_way && wc_claims_follows(claim) == WC_CLAIM_BEHIND)
			before = wc_claims_claimant(c, flight, wc_claims_behind(wc_claims_process(c, claim), slot));
		atomic_thread_fence(memory_order_acquire);	/* the entry is read before the claim is looked at again */
		if (atomic_load(&c->slots[slot]) == claim && wc_claims_claimant(c, flight, claim) == xid)
			return in_the_way ? xid | (brief ? WC_HOLDER_BRIEF : 0) : before;
	}
}

uint64_t
wc_claims_holder(const WcClaims *c, const WcFlight *flight, uint64_t hash, uint32_t table_id, WcSlice row, WcRowLockMode mode,
				 uint64_t except)
{
	return holder_of_slot(c, flight, wc_claims_slot(hash), table_id, row, mode, except);
}

uint64_t
wc_claims_locked_by(const WcClaims *c, const WcFlight *flight, uint32_t table_id, WcSlice row, WcRowLockMode mode, uint64_t except)
{
	uint32_t	slot = wc_claims_row_slot(c, table_id, row);

	if (atomic_load(&c->opening) == 0 || atomic_load(&c->locks[slot]) != 0)
		return 0;
	return holder_of_slot(c, flight, slot, table_id, row, mode, except);
}

void
wc_claims_close_table(WcClaims *c, uint32_t table_id)
{
	atomic_fetch_add(&c->closed[table_id % WC_CLAIMS_TABLES], 1);
}

void
wc_claims_open_table(WcClaims *c, uint32_t table_id)
{
	atomic_fetch_sub(&c->closed[table_id % WC_CLAIMS_TABLES], 1);
}

void
wc_claims_note_ahead(WcClaims *c, uint32_t table_id)
{
	atomic_store(&c->ahead[table_id % WC_CLAIMS_TABLES], 1);
}

uint64_t
wc_claims_holder_in(const WcClaims *c, const WcFlight *flight, uint32_t table_id, uint64_t except)
{
	for (uint32_t i = 0; i < WC_CLAIMS_SLOTS; i++)
	{
		uint64_t	xid;

		if (table_bits_of(atomic_load(&c->slots[i])) == wc_claims_table_bits(table_id) &&
			(xid = holder_of_slot(c, flight, i, table_id, wc_slice(NULL, 0), WC_LOCK_EXCLUSIVE, except)) != 0)
			return xid;
	}
	return 0;
}
