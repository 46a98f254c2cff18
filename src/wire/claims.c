/*
 * wire/claims.c: rows that backends lock themselves.
 */
#include "wire/claims.h"

#include <string.h>

#include "base/hash.h"

/* Many more than the rows that are claimed or locked at a time, so that two of these seldom share a slot. */
#define SLOTS		131072
#define TABLES		1024

/*
 * A claim is a word: the place, the lower bits of the table's id, how many claims in turn it follows that may be valid, and
 * the lower bits of the transaction's id.  The place has the transaction's full id.  If its lower bits differ from the
 * claim's, another transaction has the place by now, and the claim is not valid.
 *
 * Two numbers of claims that are followed have another meaning, and such claims follow none.  HELD: a process's claim, which
 * has the process's number where a commit's claim has the place.  NO_KEY: a commit's claim that was a process's, and leaves the
 * row's key to others.
 */
#define TABLE_BITS	8
#define FOLLOWS_BITS 6
#define XID_BITS	34
#define XID_MASK	((UINT64_C(1) << XID_BITS) - 1)
#define TABLE_SHIFT	(XID_BITS + FOLLOWS_BITS)
#define PLACE_SHIFT	(TABLE_SHIFT + TABLE_BITS)
#define HELD		((1U << FOLLOWS_BITS) - 1)
#define NO_KEY		(HELD - 1)

/* The engine notices that a row becomes large when it applies a commit (engine/README, "Commits"): so many commits of
 * WC_CLAIMS_FOLLOW_BYTES that it has not applied are still small together. */
#define FOLLOWS_MAX (NO_KEY - 1)

#define KEY_WORDS	(WC_CLAIMS_HELD_KEY_MAX / 8)

/* A row that a process has claimed. */
typedef struct Row
{
	_Atomic uint32_t table_id;
	_Atomic uint32_t len;
	_Atomic uint32_t mode;
	uint32_t	slot;			/* only the process uses it */
	_Atomic uint64_t key[KEY_WORDS];
} Row;

/* The claims of a process, which alone writes here.  Rows are written before `nrows` counts them, and are valid while xid is
 * their transaction. */
typedef struct Process
{
	_Alignas(64) _Atomic uint64_t xid;	/* 0: the process has no claims */
	_Atomic uint32_t nrows;
	Row			rows[WC_CLAIMS_HELD_MAX];
} Process;

struct WcClaims
{
	uint64_t	seed;
	uint32_t	nprocesses;
	_Atomic uint64_t opening;	/* 0: shut */
	_Atomic uint32_t closed[TABLES];	/* how often the tables of a counter have been closed */
	_Atomic uint32_t locks[SLOTS];	/* how many locks the engine has in this slot */
	_Atomic uint64_t slots[SLOTS];	/* claims; 0: none has been made */
	Process		processes[];
};

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2, "processes share them");

size_t
wc_claims_size(uint32_t nprocesses)
{
	return sizeof(WcClaims) + nprocesses * sizeof(Process);
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
	return (claim >> XID_BITS) & HELD;
}

static bool
is_held(uint64_t claim)
{
	return follows(claim) == HELD;
}

static uint64_t
claim_of(uint32_t table_id, uint16_t place, uint64_t xid)
{
	return (uint64_t) place << PLACE_SHIFT | table_bits(table_id) | (xid & XID_MASK);
}

static const Process *
process_of(const WcClaims *c, uint64_t claim)
{
	return &c->processes[place_of(claim)];
}

/* The full id of the transaction that made the claim; 0: the claim is not valid. */
static uint64_t
claimant(const WcClaims *c, const WcFlight *flight, uint64_t claim)
{
	uint64_t	xid = 0;

	if (is_held(claim))
		xid = atomic_load(&process_of(c, claim)->xid);
	else if (claim != 0)
		xid = wc_flight_holder(flight, place_of(claim));
	return (xid & XID_MASK) == (claim & XID_MASK) ? xid : 0;
}

/*
 * Makes *claim the one that takes the slot from the claim `before`; false: it cannot.  Both claims have the same table bits,
 * so that wc_claims_holder_in finds the later claim in place of the earlier one.
 */
static bool
next_claim(const WcClaims *c, const WcFlight *flight, uint64_t before, uint64_t bytes, uint64_t *claim)
{
	uint64_t	holder = claimant(c, flight, before);

	if (holder == 0)
		return true;
	if (is_held(before) || bytes > WC_CLAIMS_FOLLOW_BYTES || follows(before) == FOLLOWS_MAX || table_bits_of(before) != table_bits_of(*claim) ||
		wc_flight_state(flight, place_of(before), holder) != WC_FLIGHT_ENDED)
		return false;
	*claim |= (uint64_t) (follows(before) == NO_KEY ? 1 : follows(before) + 1) << XID_BITS;
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

	return is_open(c, opening, table_id, slot) && next_claim(c, flight, atomic_load(&c->slots[slot]), bytes, &claim);
}

bool
wc_claims_take(WcClaims *c, const WcFlight *flight, uint64_t opening, uint32_t table_id, WcSlice row, uint64_t bytes,
			   uint16_t place, uint64_t xid, WcClaim *claim)
{
	uint32_t	slot = slot_of_row(c, table_id, row);
	uint64_t	mine = claim_of(table_id, place, xid);
	uint64_t	before = atomic_load(&c->slots[slot]);

	*claim = (WcClaim) {.mine = before,.before = before,.slot = slot};
	if (claimant(c, flight, before) != xid || follows(before) >= NO_KEY || table_bits_of(before) != table_bits_of(mine))
	{
		/* its own claim that does not lock the key becomes one that does */
		bool		own = before == (mine | (uint64_t) NO_KEY << XID_BITS);

		if ((!own && !next_claim(c, flight, before, bytes, &mine)) || !atomic_compare_exchange_strong(&c->slots[slot], &before, mine))
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

/* --- a process ------------------------------------------------------------------------ */

/* A process's claim is one of a transaction that runs: before it ends, the claim becomes a commit's. */
bool
wc_claims_is_quiet(const WcClaims *c, const WcFlight *flight, uint32_t table_id, WcSlice row)
{
	uint64_t	opening = atomic_load(&c->opening);
	uint32_t	slot = slot_of_row(c, table_id, row);
	uint64_t	claim = atomic_load(&c->slots[slot]);

	return opening != 0 && (is_held(claim) || claimant(c, flight, claim) == 0) && is_open(c, opening, table_id, slot);
}

static void
put_key(Row *r, WcSlice key)
{
	for (size_t i = 0; i * 8 < key.len; i++)
	{
		uint64_t	word = 0;

		memcpy(&word, key.data + i * 8, key.len - i * 8 < 8 ? key.len - i * 8 : 8);
		atomic_store_explicit(&r->key[i], word, memory_order_relaxed);
	}
}

static bool
has_key(const Row *r, uint32_t table_id, WcSlice key)
{
	if (atomic_load_explicit(&r->table_id, memory_order_relaxed) != table_id ||
		atomic_load_explicit(&r->len, memory_order_relaxed) != key.len)
		return false;
	for (size_t i = 0; i * 8 < key.len; i++)
	{
		uint64_t	word = 0;

		memcpy(&word, key.data + i * 8, key.len - i * 8 < 8 ? key.len - i * 8 : 8);
		if (atomic_load_explicit(&r->key[i], memory_order_relaxed) != word)
			return false;
	}
	return true;
}

/* The process's claim of this row; NULL: it has none. */
static const Row *
find_row(const Process *p, uint32_t table_id, WcSlice row)
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
held_claim(uint32_t table_id, uint32_t process, uint64_t xid)
{
	return claim_of(table_id, (uint16_t) process, xid) | (uint64_t) HELD << XID_BITS;
}

/* The process has n rows, and had more. */
static void
count_rows(Process *p, uint32_t n)
{
	if (n == 0)
		atomic_store(&p->xid, 0);
	atomic_store(&p->nrows, n);
}

/* Removes the last row.  Its slot is left to another row of the process that shares it. */
void
wc_claims_drop_last(WcClaims *c, uint32_t process)
{
	Process    *p = &c->processes[process];
	uint32_t	n = atomic_load_explicit(&p->nrows, memory_order_relaxed) - 1;
	const Row  *r = &p->rows[n];
	uint64_t	mine = held_claim(atomic_load_explicit(&r->table_id, memory_order_relaxed), process,
								  atomic_load_explicit(&p->xid, memory_order_relaxed));

	count_rows(p, n);
	for (uint32_t i = 0; i < n; i++)
	{
		if (p->rows[i].slot == r->slot)
			return;
	}
	(void) atomic_compare_exchange_strong(&c->slots[r->slot], &mine, 0);
}

void
wc_claims_drop_all(WcClaims *c, uint32_t process)
{
	if (process >= c->nprocesses || atomic_load_explicit(&c->processes[process].xid, memory_order_relaxed) == 0)
		return;
	count_rows(&c->processes[process], 0);
}

/*
 * Like a commit's claim, it is made before the counters are read.  The row is written before the slot: the engine, which reads
 * them in the other order, finds the row if it finds the claim.  If another row of the process has the slot already, nrows is
 * the word that the engine reads behind its counter.
 */
bool
wc_claims_hold(WcClaims *c, const WcFlight *flight, uint32_t process, uint64_t xid, uint32_t table_id, WcSlice row,
			   WcRowLockMode mode, bool *added)
{
	uint64_t	opening = atomic_load(&c->opening);
	Process    *p = &c->processes[process];
	uint64_t	mine;
	uint64_t	before;
	const Row  *held;
	uint32_t	slot;
	uint32_t	n;
	Row		   *r;

	*added = false;
	if (process >= c->nprocesses || process > UINT16_MAX)
		return false;
	held = find_row(p, table_id, row);
	if (held != NULL)
		return atomic_load_explicit(&held->mode, memory_order_relaxed) >= (uint32_t) mode;
	n = atomic_load_explicit(&p->nrows, memory_order_relaxed);
	slot = slot_of_row(c, table_id, row);
	mine = held_claim(table_id, process, xid);
	before = atomic_load(&c->slots[slot]);
	if (opening == 0 || n == WC_CLAIMS_HELD_MAX || row.len > WC_CLAIMS_HELD_KEY_MAX ||
		!is_open(c, opening, table_id, slot) || (before != mine && claimant(c, flight, before) != 0))
		return false;

	r = &p->rows[n];
	r->slot = slot;
	atomic_store_explicit(&r->table_id, table_id, memory_order_relaxed);
	atomic_store_explicit(&r->len, (uint32_t) row.len, memory_order_relaxed);
	atomic_store_explicit(&r->mode, (uint32_t) mode, memory_order_relaxed);
	put_key(r, row);
	atomic_store(&p->nrows, n + 1);
	if (n == 0)
		atomic_store(&p->xid, xid);
	if (before != mine && !atomic_compare_exchange_strong(&c->slots[slot], &before, mine))
	{
		count_rows(p, n);
		return false;
	}
	*added = is_open(c, opening, table_id, slot);
	if (!*added)
		wc_claims_drop_last(c, process);
	return *added;
}

uint32_t
wc_claims_nheld(const WcClaims *c, uint32_t process)
{
	return process < c->nprocesses ? atomic_load_explicit(&c->processes[process].nrows, memory_order_relaxed) : 0;
}

void
wc_claims_held(const WcClaims *c, uint32_t process, uint32_t n, WcHeldRow *held)
{
	const Row  *r = &c->processes[process].rows[n];

	held->table_id = atomic_load_explicit(&r->table_id, memory_order_relaxed);
	held->mode = (WcRowLockMode) atomic_load_explicit(&r->mode, memory_order_relaxed);
	held->len = atomic_load_explicit(&r->len, memory_order_relaxed);
	for (size_t i = 0; i < KEY_WORDS; i++)
	{
		uint64_t	word = atomic_load_explicit(&r->key[i], memory_order_relaxed);

		memcpy(held->row + i * 8, &word, 8);
	}
}

/* May others lock the row's key when the claim of its slot is promoted? */
static bool
leaves_key(const Process *p, const Row *r)
{
	uint32_t	n = atomic_load_explicit(&p->nrows, memory_order_relaxed);

	if (atomic_load_explicit(&r->mode, memory_order_relaxed) > WC_LOCK_NO_KEY_UPDATE)
		return false;
	for (uint32_t i = 0; i < n; i++)
	{
		if (&p->rows[i] != r && p->rows[i].slot == r->slot)
			return false;
	}
	return true;
}

/* The slot is the process's own: no counter need be read.  Another row of the process may have promoted the slot already. */
void
wc_claims_promote(WcClaims *c, uint32_t process, uint32_t n, uint16_t place, uint64_t xid, WcClaim *claim)
{
	const Process *p = &c->processes[process];
	const Row  *r = &p->rows[n];
	uint32_t	table_id = atomic_load_explicit(&r->table_id, memory_order_relaxed);
	uint64_t	before = held_claim(table_id, process, xid);

	*claim = (WcClaim) {.mine = claim_of(table_id, place, xid),.before = before,.slot = r->slot};
	if (leaves_key(p, r))
		claim->mine |= (uint64_t) NO_KEY << XID_BITS;
	if (!atomic_compare_exchange_strong(&c->slots[r->slot], &before, claim->mine))
		claim->before = claim->mine;
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

/* Has the process claimed a row of the table? */
static bool
holds_in(const Process *p, uint32_t table_id)
{
	uint32_t	n = atomic_load(&p->nrows);

	for (uint32_t i = 0; i < n; i++)
	{
		if (atomic_load_explicit(&p->rows[i].table_id, memory_order_relaxed) == table_id)
			return true;
	}
	return false;
}

/* Do the claims of a process keep others from locking the row (row.data NULL: all of the table) in this mode? */
static bool
is_in_the_way(const Process *p, uint32_t table_id, WcSlice row, WcRowLockMode mode)
{
	const Row  *held;

	if (row.data == NULL)
		return holds_in(p, table_id);
	held = find_row(p, table_id, row);
	return held != NULL && wc_lockmode_conflicts((WcRowLockMode) atomic_load_explicit(&held->mode, memory_order_relaxed), mode);
}

/*
 * The rows of a process are those of its claim only as long as its transaction is the same.  If the transaction commits
 * meanwhile, it promotes the claim before it drops its rows: then the slot has another word.
 */
static uint64_t
holder_of_slot(const WcClaims *c, const WcFlight *flight, uint32_t slot, uint32_t table_id, WcSlice row, WcRowLockMode mode,
			   uint64_t except)
{
	for (;;)
	{
		uint64_t	claim = atomic_load(&c->slots[slot]);
		uint64_t	xid = claimant(c, flight, claim);
		bool		in_the_way;

		if (xid == except || (row.data == NULL && table_bits_of(claim) != table_bits(table_id)))
			return 0;
		if (!is_held(claim))
			return row.data != NULL && mode == WC_LOCK_KEY_SHARE && follows(claim) == NO_KEY ? 0 : xid;
		in_the_way = xid != 0 && is_in_the_way(process_of(c, claim), table_id, row, mode);
		if (atomic_load(&c->slots[slot]) == claim && claimant(c, flight, claim) == xid)
			return in_the_way ? xid : 0;
	}
}

uint64_t
wc_claims_holder(const WcClaims *c, const WcFlight *flight, uint64_t hash, uint32_t table_id, WcSlice row, WcRowLockMode mode,
				 uint64_t except)
{
	return holder_of_slot(c, flight, slot_of(hash), table_id, row, mode, except);
}

bool
wc_claims_has_row(const WcClaims *c, const WcFlight *flight, uint64_t hash, uint32_t table_id, WcSlice row, uint64_t xid)
{
	uint64_t	claim = atomic_load(&c->slots[slot_of(hash)]);

	return is_held(claim) && claimant(c, flight, claim) == xid && find_row(process_of(c, claim), table_id, row) != NULL;
}

bool
wc_claims_has_table(const WcClaims *c, uint32_t table_id, uint64_t xid)
{
	for (uint32_t i = 0; i < c->nprocesses; i++)
	{
		if (atomic_load(&c->processes[i].xid) == xid)
			return holds_in(&c->processes[i], table_id);
	}
	return false;
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
	for (uint32_t i = 0; i < SLOTS; i++)
	{
		uint64_t	xid;

		if (table_bits_of(atomic_load(&c->slots[i])) == table_bits(table_id) &&
			(xid = holder_of_slot(c, flight, i, table_id, wc_slice(NULL, 0), WC_LOCK_EXCLUSIVE, except)) != 0)
			return xid;
	}
	return 0;
}
