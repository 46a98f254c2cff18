/*
 * wire/shared/claimsstate.h: the memory of claims, and the word that is a claim, for claims.c and processclaims.c.
 */
#ifndef WC_WIRE_SHARED_CLAIMSSTATE_H
#define WC_WIRE_SHARED_CLAIMSSTATE_H

#include "base/hash.h"
#include "wire/shared/claims.h"
#include "wire/shared/words.h"

/* Many more than the rows that are claimed or locked at a time, so that two of these seldom share a slot. */
#define WC_CLAIMS_SLOTS		131072
#define WC_CLAIMS_TABLES	1024

/* A row that a process has claimed. */
typedef struct WcClaimsRow
{
	_Atomic uint32_t table_id;
	_Atomic uint32_t len;
	_Atomic uint32_t mode;
	_Atomic uint32_t slot;
	_Atomic uint64_t behind;	/* the claim of a commit that this one has taken the slot from; 0: none */
	WcWord		key[WC_WORDS(WC_CLAIMS_HELD_KEY_MAX)];
} WcClaimsRow;

/* The claims of a process, which alone writes here.  Rows are written before `nrows` counts them, and are valid while xid is
 * their transaction. */
typedef struct WcClaimsProcess
{
	_Alignas(64) _Atomic uint64_t xid;	/* 0: the process has no claims */
	_Atomic uint32_t nrows;
	WcClaimsRow rows[WC_CLAIMS_HELD_MAX];
} WcClaimsProcess;

struct WcClaims
{
	uint64_t	seed;
	uint32_t	nprocesses;
	_Atomic uint64_t opening;	/* 0: shut */
	_Atomic uint32_t closed[WC_CLAIMS_TABLES];	/* how often the tables of a counter have been closed */
	_Atomic uint32_t ahead[WC_CLAIMS_TABLES];	/* 1: a table of this number may have cells that are ahead of commits */
	_Atomic uint32_t locks[WC_CLAIMS_SLOTS];	/* how many locks the engine has in this slot */
	_Atomic uint64_t slots[WC_CLAIMS_SLOTS];	/* claims; 0: none has been made */
	WcClaimsProcess processes[];
};

/* The slot of a row with this hash. */
static inline uint32_t
wc_claims_slot(uint64_t hash)
{
	return (uint32_t) (hash >> 20) % WC_CLAIMS_SLOTS;
}

/* The hash of a row begins with this (wc_claims_hash_table). */
static inline uint64_t
wc_claims_table_seed(const WcClaims *c, uint32_t table_id)
{
	return wc_hash_mix(c->seed ^ table_id);
}

static inline uint32_t
wc_claims_row_slot(const WcClaims *c, uint32_t table_id, WcSlice row)
{
	return wc_claims_slot(wc_hash_bytes(wc_claims_table_seed(c, table_id), row));
}

/* Does the engine let backends claim rows of this slot? */
static inline bool
wc_claims_is_open(const WcClaims *c, uint64_t opening, uint32_t table_id, uint32_t slot)
{
	return atomic_load(&c->locks[slot]) == 0 && atomic_load(&c->closed[table_id % WC_CLAIMS_TABLES]) == 0 &&
		atomic_load(&c->opening) == opening;
}

/* --- the word -------------------------------------------------------------------------- */

/*
 * A claim is a word: the place, the lower bits of the table's id, how many claims in turn it follows that may be valid, and
 * the lower bits of the transaction's id.  The place has the transaction's full id.  If its lower bits differ from the
 * claim's, another transaction has the place by now, and the claim is not valid.
 *
 * Three numbers of claims that are followed have another meaning.  WC_CLAIM_HELD: a process's claim, which has the process's number
 * where a commit's claim has the place.  WC_CLAIM_BEHIND: a process's claim that has taken the slot from a commit's, which may not be
 * applied yet.  WC_CLAIM_NO_KEY: a commit's claim that was a process's, and leaves the row's key to others.
 */
#define WC_CLAIM_TABLE_BITS		8
#define WC_CLAIM_FOLLOWS_BITS	6
#define WC_CLAIM_XID_BITS		34
#define WC_CLAIM_XID_MASK		((UINT64_C(1) << WC_CLAIM_XID_BITS) - 1)
#define WC_CLAIM_TABLE_SHIFT	(WC_CLAIM_XID_BITS + WC_CLAIM_FOLLOWS_BITS)
#define WC_CLAIM_PLACE_SHIFT	(WC_CLAIM_TABLE_SHIFT + WC_CLAIM_TABLE_BITS)
#define WC_CLAIM_HELD			((1U << WC_CLAIM_FOLLOWS_BITS) - 1)
#define WC_CLAIM_BEHIND			(WC_CLAIM_HELD - 1)
#define WC_CLAIM_NO_KEY			(WC_CLAIM_HELD - 2)

static inline uint64_t
wc_claims_table_bits(uint32_t table_id)
{
	return (uint64_t) (table_id % (1U << WC_CLAIM_TABLE_BITS)) << WC_CLAIM_TABLE_SHIFT;
}

static inline uint16_t
wc_claims_place(uint64_t claim)
{
	return (uint16_t) (claim >> WC_CLAIM_PLACE_SHIFT);
}

static inline uint32_t
wc_claims_follows(uint64_t claim)
{
	return (claim >> WC_CLAIM_XID_BITS) & WC_CLAIM_HELD;
}

static inline uint64_t
wc_claims_follow_bits(uint32_t n)
{
	return (uint64_t) n << WC_CLAIM_XID_BITS;
}

static inline bool
wc_claims_is_held(uint64_t claim)
{
	return wc_claims_follows(claim) >= WC_CLAIM_BEHIND;
}

/* A commit's claim that follows none. */
static inline uint64_t
wc_claims_word(uint32_t table_id, uint16_t place, uint64_t xid)
{
	return (uint64_t) place << WC_CLAIM_PLACE_SHIFT | wc_claims_table_bits(table_id) | (xid & WC_CLAIM_XID_MASK);
}

/* Whose claim is it?  Only of a process's claim. */
static inline const WcClaimsProcess *
wc_claims_process(const WcClaims *c, uint64_t claim)
{
	return &c->processes[wc_claims_place(claim)];
}

/* The full id of the transaction that made the claim; 0: the claim is not valid. */
static inline uint64_t
wc_claims_claimant(const WcClaims *c, const WcFlight *flight, uint64_t claim)
{
	uint64_t	xid = 0;

	if (wc_claims_is_held(claim))
		xid = atomic_load(&wc_claims_process(c, claim)->xid);
	else if (claim != 0)
		xid = wc_flight_holder(flight, wc_claims_place(claim));
	return (xid & WC_CLAIM_XID_MASK) == (claim & WC_CLAIM_XID_MASK) ? xid : 0;
}

/* --- processclaims.c --------------------------------------------------------------------- */

/* Do the claims of a process keep others from locking the row (row.data NULL: all of the table) in this mode?  *brief: it may
 * still give the row up (WC_HOLDER_BRIEF). */
extern bool wc_claims_is_in_the_way(const WcClaimsProcess *p, uint32_t table_id, WcSlice row, WcRowLockMode mode, bool *brief);

/* The claim from which a process's claim has taken this slot; 0: from none. */
extern uint64_t wc_claims_behind(const WcClaimsProcess *p, uint32_t slot);

#endif
