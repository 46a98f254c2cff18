/*
 * client/txn/held.c: whether the transaction has locked rows, and the rows that it locked last.
 */
#include "postgres.h"

#include "client/txn/txn.h"

/* Rows with longer keys are not remembered. */
#define HELD_KEY_MAX	256
#define HELD_FAMILIES	4

/* A row that the transaction has locked in a mode that excludes other writers. */
typedef struct Held
{
	uint32		table_id;
	bool		absent;			/* the row did not exist when it was locked, and no operation on it has been written since */
	bool		seen;			/* the row exists in these families at the snapshot `same_as` */
	WcRowLockMode mode;			/* the lock's */
	uint64		same_as;		/* the number of a snapshot: no other transaction has changed the row since; 0: of none it is known */
	uint32		nfamilies;		/* in these families, none: in all */
	uint32		families[HELD_FAMILIES];
	size_t		len;
	uint8		key[HELD_KEY_MAX];
} Held;

static bool locked;				/* this transaction has, or may have, row locks */
static Held held[WC_ROWS_HELD_MAX];
static int	nheld;
static int	next_held;			/* the oldest entry, once all are in use */

bool
wc_rows_locked(void)
{
	return locked;
}

void
wc_rows_note_locked(void)
{
	locked = true;
}

void
wc_rows_forget(void)
{
	locked = false;
	nheld = next_held = 0;
}

void
wc_rows_forget_held(void)
{
	nheld = next_held = 0;
}

static Held *
find_held(uint32 table_id, WcSlice row)
{
	for (int i = 0; i < nheld; i++)
	{
		if (held[i].table_id == table_id && wc_slice_eq(wc_slice(held[i].key, held[i].len), row))
			return &held[i];
	}
	return NULL;
}

/* If the subtransaction that locked the row is rolled back, later operations on the row are, too. */
void
wc_rows_note_held(uint32 table_id, WcSlice row, WcRowLockMode mode, bool absent)
{
	Held	   *h = find_held(table_id, row);

	if (h == NULL)
	{
		if (row.len > HELD_KEY_MAX)
			return;
		h = &held[nheld < WC_ROWS_HELD_MAX ? nheld++ : next_held++ % WC_ROWS_HELD_MAX];
		h->table_id = table_id;
		h->len = row.len;
		memcpy(h->key, row.data, row.len);
		h->mode = mode;
	}
	h->mode = Max(h->mode, mode);
	h->absent = absent;
	h->same_as = 0;
}

void
wc_rows_note_same(const WcRowLockRequest *request, WcSlice row)
{
	Held	   *h = find_held(request->table->id, row);

	if (h == NULL || request->snapshot == NULL || request->nfamilies > HELD_FAMILIES)
		return;
	h->seen = request->seen;
	h->same_as = wc_snapshot_number(request->snapshot);
	h->nfamilies = request->nfamilies;
	for (uint32 i = 0; i < request->nfamilies; i++)
		h->families[i] = request->families[i];
}

static bool
same_families(const Held *h, uint32 nfamilies, const uint32 *families)
{
	if (h->nfamilies != nfamilies)
		return false;
	for (uint32 i = 0; i < nfamilies; i++)
	{
		if (h->families[i] != families[i])
			return false;
	}
	return true;
}

bool
wc_rows_held_same(const WcRowLockRequest *request, WcSlice row)
{
	const Held *h;

	if (request->only_absent || request->snapshot == NULL)
		return false;
	h = find_held(request->table->id, row);
	return h != NULL && h->same_as != 0 && h->same_as == wc_snapshot_number(request->snapshot) && h->mode >= request->mode &&
		same_families(h, request->nfamilies, request->families);
}

bool
wc_rows_known(const WcScan *scan, uint64 snapshot)
{
	const Held *h;

	if (nheld == 0 || snapshot == 0 || scan->nranges != 1 || !wc_range_is_point(&scan->ranges[0]) ||
		!scan->rows_by_existence || scan->raw || scan->ncolumns != 0 || scan->filter != NULL || scan->aggregation != NULL ||
		scan->row_offset != 0 || scan->ts_min != 0 || scan->ts_max != WC_TS_LATEST || scan->as_of_ts != WC_TS_LATEST ||
		scan->measured)
		return false;
	h = find_held(scan->table_id, scan->ranges[0].start);
	return h != NULL && h->seen && h->same_as == snapshot && same_families(h, scan->nfamilies, scan->families);
}

bool
wc_rows_held(uint32 table_id, WcSlice row, WcRowLockMode mode)
{
	const Held *h = find_held(table_id, row);

	return h != NULL && h->mode >= mode;
}

bool
wc_client_holds_rows(void)
{
	return nheld > 0;
}

WcClientSnapshot *
wc_client_snapshot_of_held(const WcTableDesc *table, WcSlice row)
{
	return find_held(table->id, row) != NULL ? wc_snapshot_newest() : NULL;
}

bool
wc_rows_hold(const WcOp *op)
{
	Held	   *h = op->kind == WC_OP_ROW ? find_held(op->table_id, op->row) : NULL;
	bool		settled = h != NULL && (h->absent || (op->flags & WC_ROW_MUST_BE_ABSENT) == 0);

	if (h != NULL)
		h->absent = false;
	return settled;
}
