/*
 * read/txn/ownrows.c: rows that an open transaction has written often, resolved so far.
 */
#include "read/txn/ownrows.h"

#include <stdlib.h>

#include "read/txn/txnstate.h"

/* At least so many puts can be undone, after a rollback to a savepoint; if there are more, the row is resolved again. */
#define UNDO_MIN 512

/* A put that can be taken back. */
typedef struct Undo
{
	uint64_t	offset;			/* of its operation */
	bool		existed;
	WcCell		before;
} Undo;

struct WcOwnRow
{
	uint32_t	table_id;
	uint32_t	family;
	WcFamilyAttrs attrs;
	WcBuf		row;
	WcResolver *resolver;
	uint64_t	cuts;			/* of the transaction, when it was taken */
	bool		any;			/* an operation was of this family */

	/* The operations that it holds. */
	uint64_t	next;			/* all that are seen and begin before this offset */
	uint64_t	upto;			/* the views that found them read up to this offset */
	uint32_t	cid;			/* their greatest command */
	uint32_t	passed_cid;		/* the least command of others before that offset; UINT32_MAX: none */
	uint64_t	void_before;
	bool		hidden;

	/* The result depends on these. */
	bool		dated;			/* items gave their timestamps */
	bool		undated;		/* and others */
	int64_t		ts;				/* the timestamp of the first item without one */
	uint64_t	moment;			/* the state of the store, if stored cells have decided */

	Undo	   *undo;			/* oldest first */
	size_t		nundo;
	size_t		undo_cap;
	uint64_t	floor;			/* puts that begin before this offset cannot be undone */
};

struct WcOwnRows
{
	WcOwnRow   *slots[WC_OWNROWS_MAX];
};

void
wc_ownrow_free(WcOwnRow *own)
{
	if (own == NULL)
		return;
	wc_resolver_free(own->resolver);
	wc_buf_free(&own->row);
	free(own->undo);
	free(own);
}

void
wc_ownrows_free(WcOwnRows *rows)
{
	for (int i = 0; rows != NULL && i < WC_OWNROWS_MAX; i++)
		wc_ownrow_free(rows->slots[i]);
	free(rows);
}

WcSlice
wc_ownrow_row(const WcOwnRow *own)
{
	return wc_buf_slice(&own->row);
}

uint64_t
wc_ownrow_next(const WcOwnRow *own)
{
	return own->next;
}

/* --- keeping --------------------------------------------------------------*/

/* FNV-1a. */
static uint32_t
slot_of(uint32_t table_id, uint32_t family, WcSlice row)
{
	uint32_t	hash = UINT32_C(2166136261) ^ table_id ^ family << 16;

	for (size_t i = 0; i < row.len; i++)
		hash = (hash ^ row.data[i]) * UINT32_C(16777619);
	return (hash ^ hash >> 16) % WC_OWNROWS_MAX;
}

/* Are the attributes equal on which the visible cells of a row depend? */
static bool
same_attrs(const WcFamilyAttrs *a, const WcFamilyAttrs *b)
{
	return a->versions == b->versions && a->min_versions == b->min_versions && a->ttl_us == b->ttl_us &&
		a->keep_deleted == b->keep_deleted;
}

/*
 * Does the reader's view have exactly the operations that the kept row has resolved, and would the result be the same now?
 * The kept row points into bytes that the reader's view must keep.  If stored cells have decided, nothing may have been
 * written since.  The timestamp of items without one grows with the clock: it must not pass a timestamp that an item
 * gave.
 */
static bool
can_go_on(const WcOwnRow *own, const WcOwnRowReader *reader)
{
	if (own->hidden != reader->hidden || own->void_before != reader->void_before || own->upto > reader->upto ||
		reader->cid <= own->cid || reader->cid > own->passed_cid || !same_attrs(&own->attrs, reader->attrs))
		return false;
	if (wc_resolver_is_based(own->resolver) && (own->moment == 0 || own->moment != reader->moment))
		return false;
	return own->ts == reader->ts || !own->dated || !own->undated;
}

WcOwnRow *
wc_ownrows_take(WcTxn *txn, const WcOwnRowReader *reader, WcSlice row)
{
	WcOwnRow  **slot;
	WcOwnRow   *own;

	if (txn->own_rows == NULL)
		return NULL;
	slot = &txn->own_rows->slots[slot_of(reader->table_id, reader->family, row)];
	own = *slot;
	if (own == NULL || own->table_id != reader->table_id || own->family != reader->family || !wc_slice_eq(wc_ownrow_row(own), row))
		return NULL;
	if (!can_go_on(own, reader))
		return NULL;
	if (own->ts != reader->ts && !wc_resolver_retime(own->resolver, own->ts, reader->ts, own->dated))
		return NULL;
	*slot = NULL;
	own->cuts = txn->cuts;
	own->ts = reader->ts;
	own->moment = reader->moment;
	own->upto = reader->upto;
	wc_resolver_go_on(own->resolver, reader->now_us, reader->arg);
	return own;
}

WcStatus
wc_ownrow_create(WcTxn *txn, const WcOwnRowReader *reader, const WcResolverOptions *options, WcSlice row,
				 WcOwnRow **own, WcError *err)
{
	WcOwnRow   *o = calloc(1, sizeof(WcOwnRow));
	WcStatus	status;

	*own = NULL;
	if (o == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for reading a transaction's changes");
	wc_buf_append_slice(&o->row, row);
	status = wc_buf_status(&o->row, "row key", err);
	if (status == WC_OK)
		status = wc_resolver_create(options, &o->resolver, err);
	if (status != WC_OK)
	{
		wc_ownrow_free(o);
		return status;
	}
	o->table_id = reader->table_id;
	o->family = reader->family;
	o->attrs = *reader->attrs;
	o->cuts = txn->cuts;
	o->passed_cid = UINT32_MAX;
	o->void_before = reader->void_before;
	o->upto = reader->upto;
	o->hidden = reader->hidden;
	o->ts = reader->ts;
	o->moment = reader->moment;
	wc_resolver_start(o->resolver, wc_ownrow_row(o), o->ts);
	*own = o;
	return WC_OK;
}

void
wc_ownrows_give(WcTxn *txn, WcOwnRow *own)
{
	WcOwnRow  **slot;

	if (own == NULL)
		return;
	if (txn->own_rows == NULL)
		txn->own_rows = calloc(1, sizeof(WcOwnRows));
	if (txn->own_rows == NULL || own->cuts != txn->cuts)
	{
		wc_ownrow_free(own);
		return;
	}
	slot = &txn->own_rows->slots[slot_of(own->table_id, own->family, wc_ownrow_row(own))];
	wc_ownrow_free(*slot);
	*slot = own;
}

/* --- resolving ------------------------------------------------------------*/

/* Half of the puts that could be taken back cannot be any more. */
static void
forget_undo(WcOwnRow *own)
{
	size_t		n = own->nundo / 2;

	/* an operation as a whole, or not */
	while (n < own->nundo && own->undo[n].offset == own->undo[n - 1].offset)
		n++;
	own->floor = own->undo[n - 1].offset + 1;
	own->nundo -= n;
	memmove(own->undo, own->undo + n, own->nundo * sizeof(Undo));
}

static WcStatus
resolve_put(WcOwnRow *own, uint64_t offset, const WcItem *item, WcError *err)
{
	Undo	   *undo;

	if (own->nundo == own->undo_cap)
	{
		size_t		cap = own->undo_cap ? 2 * own->undo_cap : 16;

		undo = realloc(own->undo, cap * sizeof(Undo));
		if (undo == NULL)
			return wc_error(err, WC_NO_MEMORY, "out of memory for reading a transaction's changes");
		own->undo = undo;
		own->undo_cap = cap;
	}
	undo = &own->undo[own->nundo++];
	undo->offset = offset;
	return wc_resolver_put(own->resolver, item, &undo->before, &undo->existed, err);
}

/* Clears have no timestamp. */
static bool
has_timestamp(const WcItem *item)
{
	return item->kind < WC_ITEM_CLEAR_COLUMN && item->ts != WC_TS_LATEST;
}

/* Goes through the items of an operation for this family: are there any, and are all of them puts without a timestamp? */
static WcStatus
look_at_op(WcOwnRow *own, const WcTxnEntry *entry, WcSlice *items, bool *any, bool *plain, WcError *err)
{
	WcDecoder	d = wc_decoder(wc_slice(entry->bytes, entry->len));
	WcItem		item;
	WcOp		op;
	WcStatus	status = wc_batch_next_op(&d, &op, err);

	*any = false;
	*plain = true;
	if (status != WC_OK)
		return status;
	*items = op.items;
	d = wc_decoder(op.items);
	while ((status = wc_op_next_item(&d, &item, err)) == WC_OK)
	{
		if (item.family != own->family)
			continue;
		*any = true;
		*plain &= item.kind == WC_ITEM_PUT && !has_timestamp(&item);
		own->dated |= has_timestamp(&item);
		own->undated |= !has_timestamp(&item);
	}
	return status == WC_END ? WC_OK : status;
}

static WcStatus
resolve_op(WcOwnRow *own, const WcTxnEntry *entry, WcError *err)
{
	WcResolved	unused;
	WcSlice		items;
	WcDecoder	d;
	WcItem		item;
	bool		any;
	bool		plain;
	bool		alone;
	WcStatus	status = look_at_op(own, entry, &items, &any, &plain, err);

	if (status != WC_OK || !any)
		return status;
	own->any = true;
	alone = plain && !wc_resolver_has_marks(own->resolver);
	d = wc_decoder(items);
	while ((status = wc_op_next_item(&d, &item, err)) == WC_OK)
	{
		if (item.family != own->family)
			continue;
		status = alone ? resolve_put(own, entry->offset, &item, err) : wc_resolver_item(own->resolver, &item, err);
		if (status != WC_OK)
			return status;
	}
	if (status != WC_END)
		return status;
	if (alone)
	{
		while (own->nundo > 2 * UNDO_MIN && own->undo[0].offset != entry->offset)
			forget_undo(own);
		return WC_OK;
	}
	own->nundo = 0;
	own->floor = entry->offset + 1;
	status = wc_resolver_end_op(own->resolver, err);

	/* a later put needs the cells in order */
	return status == WC_OK ? wc_resolver_finish(own->resolver, &unused, err) : status;
}

WcStatus
wc_ownrow_resolve(WcOwnRow *own, const WcTxnEntry *const *entries, size_t n,
				  uint32_t passed_cid, WcResolved *resolved, WcError *err)
{
	WcStatus	status = WC_OK;

	for (size_t i = 0; status == WC_OK && i < n; i++)
	{
		status = resolve_op(own, entries[i], err);
		if (entries[i]->cid > own->cid)
			own->cid = entries[i]->cid;
		own->next = entries[i]->offset + 1;
	}
	if (passed_cid < own->passed_cid)
		own->passed_cid = passed_cid;
	if (status == WC_OK)
		status = wc_resolver_finish(own->resolver, resolved, err);
	if (status == WC_OK && !own->any)
		resolved->n = 0;
	return status;
}

/* --- rolling back ---------------------------------------------------------*/

/* False: it cannot. */
static bool
cut(WcOwnRow *own, uint64_t offset)
{
	if (offset >= own->next)
		return true;
	if (offset < own->floor)
		return false;
	while (own->nundo > 0 && own->undo[own->nundo - 1].offset >= offset)
	{
		const Undo *undo = &own->undo[--own->nundo];

		wc_resolver_take_back(own->resolver, &undo->before, undo->existed);
	}
	own->next = offset;
	return true;
}

void
wc_ownrows_cut(WcTxn *txn, uint64_t offset)
{
	txn->cuts++;
	for (int i = 0; txn->own_rows != NULL && i < WC_OWNROWS_MAX; i++)
	{
		WcOwnRow  **slot = &txn->own_rows->slots[i];

		if (*slot != NULL && !cut(*slot, offset))
		{
			wc_ownrow_free(*slot);
			*slot = NULL;
		}
	}
}
