/*
 * read/txn/txn.c: the batch of one open transaction: what was appended.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "read/txn/ownrows.h"
#include "read/txn/txnstate.h"

#define CHUNK_FIRST (8 * 1024)

WcStatus
wc_txn_create(uint32_t database, uint64_t bytes_max, WcTxn **txn, WcError *err)
{
	*txn = calloc(1, sizeof(WcTxn));
	if (*txn == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a transaction");
	(*txn)->database = database;
	(*txn)->bytes_max = bytes_max;
	return WC_OK;
}

void
wc_txn_destroy(WcTxn *txn)
{
	if (txn == NULL)
		return;
	wc_txn_reset(txn);
	for (size_t i = 0; i < txn->nchunks; i++)
		free(txn->chunks[i].data);
	free(txn->chunks);
	free(txn->entries);
	free(txn->order);
	free(txn->catalog);
	free(txn->tables);
	free(txn->runs);
	wc_ownrows_free(txn->own_rows);
	free(txn);
}

/* Frees chunks behind the first n. */
static void
keep_chunks(WcTxn *txn, size_t n)
{
	while (txn->nchunks > n)
		free(txn->chunks[--txn->nchunks].data);
}

void
wc_txn_reset(WcTxn *txn)
{
	wc_txn_drop_runs(txn, 0);
	wc_ownrows_free(txn->own_rows);
	txn->own_rows = NULL;
	txn->cuts++;
	keep_chunks(txn, txn->nchunks > 0 && txn->chunks[0].cap <= WC_BATCH_CHUNK ? 1 : 0);
	if (txn->nchunks > 0)
		txn->chunks[0].len = 0;
	free(txn->order);
	txn->order = NULL;
	txn->nentries = txn->ncatalog = txn->ntables = txn->sorted_n = 0;
	txn->nops = 0;
	txn->nindexed = 0;
	txn->bytes = 0;
}

uint64_t
wc_txn_count(const WcTxn *txn)
{
	return txn->nops;
}

uint64_t
wc_txn_resolved(const WcTxn *txn)
{
	return txn->nresolved;
}

void
wc_txn_note_resolved(WcTxn *txn, uint64_t n)
{
	txn->nresolved += n;
}

uint32_t
wc_txn_database(const WcTxn *txn)
{
	return txn->database;
}

/* --- appending ------------------------------------------------------------*/

static WcStatus
txn_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for a transaction's changes");
}

/* The array, moved if need be, with room for one more than its n elements; NULL
 * (and the array as it was): out of memory. */
static void *
grown(void *array, size_t *cap, size_t n, size_t size)
{
	size_t		new_cap = *cap ? 2 * *cap : 16;
	void	   *p;

	if (n < *cap)
		return array;
	p = realloc(array, new_cap * size);
	if (p != NULL)
		*cap = new_cap;
	return p;
}

/* A place for n bytes that stays where it is. */
static uint8_t *
chunk_place(WcTxn *txn, size_t n)
{
	WcTxnChunk *last = txn->nchunks > 0 ? &txn->chunks[txn->nchunks - 1] : NULL;
	WcTxnChunk *chunks;
	size_t		cap;

	if (last != NULL && last->cap - last->len >= n)
		return last->data + last->len;
	chunks = grown(txn->chunks, &txn->chunks_cap, txn->nchunks, sizeof(WcTxnChunk));
	if (chunks == NULL)
		return NULL;
	txn->chunks = chunks;
	cap = txn->nchunks == 0 ? CHUNK_FIRST : WC_BATCH_CHUNK;
	if (cap < n)
		cap = n;
	last = &txn->chunks[txn->nchunks];
	last->data = malloc(cap);
	if (last->data == NULL)
		return NULL;
	last->len = 0;
	last->cap = cap;
	txn->nchunks++;
	return last->data;
}

static WcTxnTable *
table_counter(WcTxn *txn, uint32_t table_id)
{
	WcTxnTable *tables;

	for (size_t i = txn->ntables; i-- > 0;)
	{
		if (txn->tables[i].id == table_id)
			return &txn->tables[i];
	}
	tables = grown(txn->tables, &txn->tables_cap, txn->ntables, sizeof(WcTxnTable));
	if (tables == NULL)
		return NULL;
	txn->tables = tables;
	txn->tables[txn->ntables] = (WcTxnTable) {.id = table_id,.min_cid = UINT32_MAX};
	return &txn->tables[txn->ntables++];
}

static uint64_t
row_prefix(WcSlice row)
{
	uint8_t		bytes[8] = {0};

	if (row.len >= 8)
		return wc_load_u64(row.data);
	memcpy(bytes, row.data, row.len);
	return wc_load_u64(bytes);
}

static bool
add_row(WcTxn *txn, const WcOp *op)
{
	WcTxnTable *table = table_counter(txn, op->table_id);
	WcTxnEntry *entry = grown(txn->entries, &txn->entries_cap, txn->nentries, sizeof(WcTxnEntry));

	if (entry != NULL)
		txn->entries = entry;
	if (entry == NULL || table == NULL)
		return false;
	entry = &txn->entries[txn->nentries++];
	entry->prefix = row_prefix(op->row);
	entry->row = op->row.data;
	entry->row_len = (uint32_t) op->row.len;
	entry->bytes = op->bytes.data;
	entry->len = (uint32_t) op->bytes.len;
	entry->table_id = op->table_id;
	entry->cid = op->cid;
	entry->opno = (uint32_t) txn->nops++;
	table->nops++;
	table->bytes += entry->len;
	table->absent |= (op->flags & WC_ROW_MUST_BE_ABSENT) != 0;
	if (op->cid < table->min_cid)
		table->min_cid = op->cid;
	return true;
}

static bool
add_catalog(WcTxn *txn, const WcOp *op)
{
	WcTxnCatalogOp *c = grown(txn->catalog, &txn->catalog_cap, txn->ncatalog, sizeof(WcTxnCatalogOp));

	if (c == NULL)
		return false;
	txn->catalog = c;
	c = &txn->catalog[txn->ncatalog++];
	c->bytes = op->bytes;
	c->cid = op->cid;
	c->opno = (uint32_t) txn->nops++;
	return true;
}

WcStatus
wc_txn_append(WcTxn *txn, WcSlice ops, WcError *err)
{
	uint64_t	before = txn->nops;
	uint8_t    *place;
	WcDecoder	d;
	WcOp		op;
	WcStatus	status;

	if (ops.len == 0)
		return WC_OK;
	if (ops.len > txn->bytes_max || txn->bytes > txn->bytes_max - ops.len)
	{
		wc_error(err, WC_TOO_LARGE, "transaction changes too much: %" PRIu64 " bytes, the limit is %" PRIu64,
				 txn->bytes + ops.len, txn->bytes_max);
		wc_error_hint(err, "Commit more often.");
		return WC_TOO_LARGE;
	}
	place = chunk_place(txn, ops.len);
	if (place == NULL)
		return txn_memory(err);
	memcpy(place, ops.data, ops.len);
	txn->chunks[txn->nchunks - 1].len += ops.len;
	txn->bytes += ops.len;

	d = wc_decoder(wc_slice(place, ops.len));
	while ((status = wc_batch_next_op(&d, &op, err)) == WC_OK)
	{
		if (txn->nops >= UINT32_MAX)
			status = wc_error(err, WC_TOO_LARGE, "transaction has too many changes: the limit is %" PRIu32, UINT32_MAX);
		else if (!(op.kind == WC_OP_ROW ? add_row(txn, &op) : add_catalog(txn, &op)))
			status = txn_memory(err);
		if (status != WC_OK)
			break;
	}
	if (status == WC_END)
		return WC_OK;

	/* All or nothing.  What is not yet an operation goes with its bytes. */
	if (txn->nops == before)
	{
		txn->chunks[txn->nchunks - 1].len -= ops.len;
		txn->bytes -= ops.len;
	}
	else
	{
		uint64_t	done = 0;

		for (size_t i = txn->nentries; i-- > 0 && txn->entries[i].opno >= before;)
			done += txn->entries[i].len;
		for (size_t i = txn->ncatalog; i-- > 0 && txn->catalog[i].opno >= before;)
			done += txn->catalog[i].bytes.len;
		txn->bytes -= ops.len - done;
		if (wc_txn_rollback_to(txn, before, NULL) != WC_OK)
			return txn_memory(err);
	}
	return status;
}

/* --- rolling back ---------------------------------------------------------*/

/* Forgets entries from place n on; returns where the bytes of the first began. */
static const uint8_t *
drop_entries(WcTxn *txn, uint64_t n)
{
	const uint8_t *first = NULL;
	uint64_t	first_opno = UINT64_MAX;

	while (txn->nentries > 0 && txn->entries[txn->nentries - 1].opno >= n)
	{
		const WcTxnEntry *entry = &txn->entries[--txn->nentries];
		WcTxnTable *table = table_counter(txn, entry->table_id);

		txn->bytes -= entry->len;
		table->bytes -= entry->len;
		table->nops--;
		first = entry->bytes;
		first_opno = entry->opno;
	}
	while (txn->ncatalog > 0 && txn->catalog[txn->ncatalog - 1].opno >= n)
	{
		const WcTxnCatalogOp *c = &txn->catalog[--txn->ncatalog];

		txn->bytes -= c->bytes.len;
		if (c->opno < first_opno)
		{
			first = c->bytes.data;
			first_opno = c->opno;
		}
	}
	return first;
}

WcStatus
wc_txn_rollback_to(WcTxn *txn, uint64_t nops, WcError *err)
{
	const uint8_t *first;
	WcStatus	status;

	if (nops >= txn->nops)
		return WC_OK;
	status = wc_txn_cut_runs(txn, nops, err);
	if (status != WC_OK)
		return status;
	wc_ownrows_cut(txn, nops);
	first = drop_entries(txn, nops);
	txn->nops = nops;

	/* An open view may still look at the bytes. */
	while (txn->nviews == 0 && first != NULL && txn->nchunks > 0)
	{
		WcTxnChunk *last = &txn->chunks[txn->nchunks - 1];

		if (first >= last->data && first < last->data + last->len)
		{
			last->len = (size_t) (first - last->data);
			break;
		}
		keep_chunks(txn, txn->nchunks - 1);
	}
	return WC_OK;
}

/* --- looking --------------------------------------------------------------*/

size_t
wc_txn_ncatalog(const WcTxn *txn)
{
	return txn->ncatalog;
}

WcStatus
wc_txn_catalog_op(const WcTxn *txn, size_t i, WcOp *op, uint32_t *opno, WcError *err)
{
	WcDecoder	d = wc_decoder(txn->catalog[i].bytes);

	*opno = txn->catalog[i].opno;
	return wc_batch_next_op(&d, op, err);
}

const WcTxnEntry *
wc_txn_entries(const WcTxn *txn, size_t *n)
{
	*n = txn->nentries;
	return txn->entries;
}

const WcTxnTable *
wc_txn_tables(const WcTxn *txn, size_t *n)
{
	*n = txn->ntables;
	return txn->tables;
}

bool
wc_txn_touches(WcTxn *txn, uint32_t table_id, uint32_t cid)
{
	for (size_t i = 0; i < txn->ntables; i++)
	{
		if (txn->tables[i].id == table_id)
			return txn->tables[i].nops > 0 && txn->tables[i].min_cid < cid;
	}
	return false;
}
