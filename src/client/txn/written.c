/*
 * client/txn/written.c: the rows that the transaction's operations write, as a set of hashes.
 *
 * A transaction that reads or changes rows one after the other looks here to know that it has not written the next one: then
 * shared memory may have the row's answer.
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "client/txn/txn.h"

typedef struct Written
{
	uint64		hash;			/* of table and row */
	char		status;
} Written;

#define SH_PREFIX written
#define SH_ELEMENT_TYPE Written
#define SH_KEY_TYPE uint64
#define SH_KEY hash
#define SH_HASH_KEY(tb, key) ((uint32) (key))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* The set has as much memory as so many rows need, as long as the session lasts. */
#define KEPT_ROWS 1024

static written_hash *set;		/* in TopMemoryContext */
static bool any;				/* rows that are not in the set may have been written */

static uint64
hash_of(uint32 table_id, WcSlice row)
{
	return hash_bytes_extended(row.data, (int) row.len, table_id);
}

void
wc_written_add(uint32 table_id, WcSlice row)
{
	bool		found;

	if (any)
		return;
	if (set == NULL)
		set = written_create(TopMemoryContext, 16, NULL);
	if (set->members >= WC_WRITTEN_ROWS_MAX)
		any = true;
	else
		(void) written_insert(set, hash_of(table_id, row), &found);
}

void
wc_written_add_any(void)
{
	any = true;
}

bool
wc_written_has_any(void)
{
	return any;
}

bool
wc_written_may_have(uint32 table_id, WcSlice row)
{
	return any || (set != NULL && set->members > 0 && written_lookup(set, hash_of(table_id, row)) != NULL);
}

void
wc_written_forget(void)
{
	any = false;
	if (set == NULL || set->members == 0)
		return;
	if (set->size <= 2 * KEPT_ROWS)
		written_reset(set);
	else
	{
		written_destroy(set);
		set = NULL;
	}
}
