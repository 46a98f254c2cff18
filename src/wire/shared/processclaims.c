/*
 * wire/shared/processclaims.c: the claims of processes, which statements make.
 */
#include "wire/shared/claimsstate.h"

/* In a row's mode: the process may still give the row up. */
#define BRIEF 0x100

static WcRowLockMode
mode_of(const WcClaimsRow *r)
{
	return (WcRowLockMode) (atomic_load_explicit(&r->mode, memory_order_relaxed) & ~(uint32_t) BRIEF);
}

static bool
is_brief(const WcClaimsRow *r)
{
	return (atomic_load_explicit(&r->mode, memory_order_relaxed) & BRIEF) != 0;
}

static bool
has_key(const WcClaimsRow *r, uint32_t table_id, WcSlice key)
{
	return atomic_load_explicit(&r->table_id, memory_order_relaxed) == table_id &&
		atomic_load_explicit(&r->len, memory_order_relaxed) == key.len && wc_words_are(r->key, key);
}

/* The process's claim of this row; NULL: it has none. */
static const WcClaimsRow *
find_row(const WcClaimsProcess *p, uint32_t table_id, WcSlice row)
{
	uint32_t	n = atomic_load(&p->nrows);

	for (uint32_t i = 0; i < n; i++)
	{
		if (has_key(&p->rows[i], table_id, row))
			return &p->rows[i];
	}
	return NULL;
}

/* The word of a process's claim. */
static uint64_t
held_claim(uint32_t table_id, uint32_t process, uint64_t xid, bool behind)
{
	return wc_claims_word(table_id, (uint16_t) process, xid) | wc_claims_follow_bits(behind ? WC_CLAIM_BEHIND : WC_CLAIM_HELD);
}

static uint32_t
slot_of(const WcClaimsRow *r)
{
	return atomic_load_explicit(&r->slot, memory_order_relaxed);
}

/* The claim that the row's claim is behind, and the word of the row's. */
static uint64_t
behind_of(const WcClaimsRow *r)
{
	return atomic_load_explicit(&r->behind, memory_order_relaxed);
}

static uint64_t
claim_of(const WcClaimsProcess *p, const WcClaimsRow *r, uint32_t process)
{
	return held_claim(atomic_load_explicit(&r->table_id, memory_order_relaxed), process,
					  atomic_load_explicit(&p->xid, memory_order_relaxed), behind_of(r) != 0);
}

/* The process has n rows, and had more. */
static void
count_rows(WcClaimsProcess *p, uint32_t n)
{
	if (n == 0)
		atomic_store(&p->xid, 0);
	atomic_store(&p->nrows, n);
}

/* Removes the last row.  Its slot is left to another row of the process that shares it, or to the claim that it is behind. */
void
wc_claims_drop_last(WcClaims *c, uint32_t process)
{
	WcClaimsProcess *p = &c->processes[process];
	uint32_t	n = atomic_load_explicit(&p->nrows, memory_order_relaxed) - 1;
	const WcClaimsRow *r = &p->rows[n];
	uint64_t	mine = claim_of(p, r, process);

	for (uint32_t i = 0; i < n; i++)
	{
		if (slot_of(&p->rows[i]) == slot_of(r))
			mine = 0;
	}
	if (mine != 0)
		(void) atomic_compare_exchange_strong(&c->slots[slot_of(r)], &mine, behind_of(r));
	count_rows(p, n);
}

void
wc_claims_keep_last(WcClaims *c, uint32_t process)
{
	WcClaimsProcess *p = &c->processes[process];
	WcClaimsRow *r = &p->rows[atomic_load_explicit(&p->nrows, memory_order_relaxed) - 1];

	atomic_store_explicit(&r->mode, (uint32_t) mode_of(r), memory_order_relaxed);
}

/* The slots of claims that are behind others are left to these, while the process's claims are valid: nobody finds the slots free. */
void
wc_claims_drop_all(WcClaims *c, uint32_t process)
{
	WcClaimsProcess *p;
	uint32_t	n;

	if (process >= c->nprocesses)
		return;
	p = &c->processes[process];
	n = atomic_load_explicit(&p->nrows, memory_order_relaxed);
	for (uint32_t i = 0; i < n; i++)
	{
		const WcClaimsRow *r = &p->rows[i];
		uint64_t	mine = claim_of(p, r, process);

		if (behind_of(r) != 0)
			(void) atomic_compare_exchange_strong(&c->slots[slot_of(r)], &mine, behind_of(r));
	}
	count_rows(p, 0);
}

void
wc_claims_settle(WcClaims *c, uint32_t process)
{
	WcClaimsProcess *p = &c->processes[process];
	uint32_t	n = atomic_load_explicit(&p->nrows, memory_order_relaxed);

	for (uint32_t i = 0; i < n; i++)
	{
		WcClaimsRow *r = &p->rows[i];
		uint64_t	mine = claim_of(p, r, process);

		if (behind_of(r) == 0)
			continue;
		atomic_store_explicit(&r->behind, 0, memory_order_relaxed);
		(void) atomic_compare_exchange_strong(&c->slots[slot_of(r)], &mine, claim_of(p, r, process));
	}
}

static void
write_row(WcClaimsRow *r, uint32_t slot, uint32_t table_id, WcSlice row, WcRowLockMode mode, uint64_t behind)
{
	atomic_store_explicit(&r->slot, slot, memory_order_relaxed);
	atomic_store_explicit(&r->behind, behind, memory_order_relaxed);
	atomic_store_explicit(&r->table_id, table_id, memory_order_relaxed);
	atomic_store_explicit(&r->len, (uint32_t) row.len, memory_order_relaxed);
	atomic_store_explicit(&r->mode, (uint32_t) mode | BRIEF, memory_order_relaxed);
	wc_words_put(r->key, row);
}

/*
 * Like a commit's claim, it is made before the counters are read.  The row is written before the slot: the engine, which reads
 * them in the other order, finds the row if it finds the claim.  If another row of the process has the slot already, nrows is
 * the word that the engine reads behind its counter.
 *
 * The commit that the claim is behind is looked at again when the claim is made: if it is not applied then, nobody has had the row
 * since.
 */
bool
wc_claims_hold(WcClaims *c, const WcFlight *flight, uint32_t process, uint64_t xid, uint32_t table_id, WcSlice row,
			   WcRowLockMode mode, uint64_t behind, bool *added)
{
	uint64_t	opening = atomic_load(&c->opening);
	uint64_t	mine = held_claim(table_id, process, xid, behind != 0);
	WcClaimsProcess *p = &c->processes[process];
	uint64_t	claimant;
	uint64_t	before;
	const WcClaimsRow *held;
	uint32_t	slot;
	uint32_t	n;
	bool		may_take;

	*added = false;
	if (process >= c->nprocesses || process > UINT16_MAX)
		return false;
	held = find_row(p, table_id, row);
	if (held != NULL)
		return mode_of(held) >= mode;
	n = atomic_load_explicit(&p->nrows, memory_order_relaxed);
	slot = wc_claims_row_slot(c, table_id, row);
	before = atomic_load(&c->slots[slot]);
	claimant = wc_claims_claimant(c, flight, before);
	may_take = behind == 0 ? before == mine || claimant == 0 : claimant == behind && !wc_claims_is_held(before);
	if (!may_take || opening == 0 || n == WC_CLAIMS_HELD_MAX || row.len > WC_CLAIMS_HELD_KEY_MAX ||
		!wc_claims_is_open(c, opening, table_id, slot))
		return false;

	write_row(&p->rows[n], slot, table_id, row, mode, behind != 0 ? before : 0);
	atomic_store(&p->nrows, n + 1);
	if (n == 0)
		atomic_store(&p->xid, xid);
	if (before != mine && !atomic_compare_exchange_strong(&c->slots[slot], &before, mine))
	{
		count_rows(p, n);
		return false;
	}
	*added = wc_claims_is_open(c, opening, table_id, slot) && (behind == 0 || wc_claims_claimant(c, flight, before) == behind);
	if (!*added)
		wc_claims_drop_last(c, process);
	return *added;
}

/* The entry is read between two reads of the claim, as in holder_of_slot. */
bool
wc_claims_has_process(const WcClaims *c, const WcFlight *flight, uint32_t table_id, WcSlice row)
{
	uint32_t	slot = wc_claims_row_slot(c, table_id, row);
	uint64_t	claim = atomic_load(&c->slots[slot]);
	uint64_t	xid = wc_claims_claimant(c, flight, claim);
	bool		found = xid != 0 && wc_claims_is_held(claim) && find_row(wc_claims_process(c, claim), table_id, row) != NULL;

	atomic_thread_fence(memory_order_acquire);
	return found && atomic_load(&c->slots[slot]) == claim && wc_claims_claimant(c, flight, claim) == xid;
}

uint64_t
wc_claims_ended(const WcClaims *c, const WcFlight *flight, uint32_t table_id, WcSlice row)
{
	uint32_t	slot = wc_claims_row_slot(c, table_id, row);
	uint64_t	claim = atomic_load(&c->slots[slot]);
	uint64_t	xid = wc_claims_claimant(c, flight, claim);

	return xid != 0 && !wc_claims_is_held(claim) && atomic_load(&c->locks[slot]) == 0 &&
		wc_flight_state(flight, wc_claims_place(claim), xid) == WC_FLIGHT_ENDED ? xid : 0;
}

uint32_t
wc_claims_nheld(const WcClaims *c, uint32_t process)
{
	return process < c->nprocesses ? atomic_load_explicit(&c->processes[process].nrows, memory_order_relaxed) : 0;
}

void
wc_claims_held(const WcClaims *c, uint32_t process, uint32_t n, WcHeldRow *held)
{
	const WcClaimsRow *r = &c->processes[process].rows[n];

	held->table_id = atomic_load_explicit(&r->table_id, memory_order_relaxed);
	held->mode = mode_of(r);
	held->len = atomic_load_explicit(&r->len, memory_order_relaxed);
	wc_words_get(r->key, held->row, held->len);
}

/* May others lock the row's key when the claim of its slot is promoted? */
static bool
leaves_key(const WcClaimsProcess *p, const WcClaimsRow *r)
{
	uint32_t	n = atomic_load_explicit(&p->nrows, memory_order_relaxed);

	if (mode_of(r) > WC_LOCK_NO_KEY_UPDATE)
		return false;
	for (uint32_t i = 0; i < n; i++)
	{
		if (&p->rows[i] != r && slot_of(&p->rows[i]) == slot_of(r))
			return false;
	}
	return true;
}

/* The slot is the process's own: no counter need be read.  Another row of the process may have promoted the slot already. */
void
wc_claims_promote(WcClaims *c, uint32_t process, uint32_t n, uint16_t place, uint64_t xid, WcClaim *claim)
{
	const WcClaimsProcess *p = &c->processes[process];
	const WcClaimsRow *r = &p->rows[n];
	uint32_t	table_id = atomic_load_explicit(&r->table_id, memory_order_relaxed);
	uint64_t	before = claim_of(p, r, process);

	*claim = (WcClaim) {.mine = wc_claims_word(table_id, place, xid),.before = before,.slot = slot_of(r)};
	if (leaves_key(p, r))
		claim->mine |= wc_claims_follow_bits(WC_CLAIM_NO_KEY);
	if (!atomic_compare_exchange_strong(&c->slots[claim->slot], &before, claim->mine))
		claim->before = claim->mine;
}

/* --- the engine ---------------------------------------------------------------------- */

/* A row of the table that the process has claimed; NULL: there is none. */
static const WcClaimsRow *
find_in(const WcClaimsProcess *p, uint32_t table_id)
{
	uint32_t	n = atomic_load(&p->nrows);

	for (uint32_t i = 0; i < n; i++)
	{
		if (atomic_load_explicit(&p->rows[i].table_id, memory_order_relaxed) == table_id)
			return &p->rows[i];
	}
	return NULL;
}

bool
wc_claims_is_in_the_way(const WcClaimsProcess *p, uint32_t table_id, WcSlice row, WcRowLockMode mode, bool *brief)
{
	const WcClaimsRow *held = row.data == NULL ? find_in(p, table_id) : find_row(p, table_id, row);

	*brief = held != NULL && is_brief(held);
	return held != NULL && (row.data == NULL || wc_lockmode_conflicts(mode_of(held), mode));
}

uint64_t
wc_claims_behind(const WcClaimsProcess *p, uint32_t slot)
{
	uint32_t	n = atomic_load(&p->nrows);

	for (uint32_t i = 0; i < n; i++)
	{
		if (slot_of(&p->rows[i]) == slot && behind_of(&p->rows[i]) != 0)
			return behind_of(&p->rows[i]);
	}
	return 0;
}

bool
wc_claims_has_row(const WcClaims *c, const WcFlight *flight, uint64_t hash, uint32_t table_id, WcSlice row, uint64_t xid)
{
	uint64_t	claim = atomic_load(&c->slots[wc_claims_slot(hash)]);

	return wc_claims_is_held(claim) && wc_claims_claimant(c, flight, claim) == xid &&
		find_row(wc_claims_process(c, claim), table_id, row) != NULL;
}

bool
wc_claims_has_table(const WcClaims *c, uint32_t table_id, uint64_t xid)
{
	for (uint32_t i = 0; i < c->nprocesses; i++)
	{
		if (atomic_load(&c->processes[i].xid) == xid)
			return find_in(&c->processes[i], table_id) != NULL;
	}
	return false;
}
