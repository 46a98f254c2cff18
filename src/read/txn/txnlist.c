/*
 * read/txn/txnlist.c: an open transaction's operations in the order in which they were made, and its tables.
 */
#include <assert.h>
#include <stdlib.h>

#include "read/txn/txnstate.h"

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

WcTxnTable *
wc_txn_table(WcTxn *txn, uint32_t table_id)
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

uint64_t
wc_txnentry_prefix(WcSlice row)
{
	uint8_t		bytes[8] = {0};

	if (row.len >= 8)
		return wc_load_u64(row.data);
	if (row.len > 0)
		memcpy(bytes, row.data, row.len);
	return wc_load_u64(bytes);
}

WcTxnEntry
wc_txnentry_of(const WcOp *op, uint64_t offset)
{
	return (WcTxnEntry) {
		.prefix = wc_txnentry_prefix(op->row),.row = op->row.data,.row_len = (uint32_t) op->row.len,
		.bytes = op->bytes.data,.len = (uint32_t) op->bytes.len,.table_id = op->table_id,.cid = op->cid,.offset = offset
	};
}

static bool
add_row(WcTxn *txn, const WcOp *op)
{
	WcTxnTable *table = wc_txn_table(txn, op->table_id);
	WcTxnEntry *entry = grown(txn->entries, &txn->entries_cap, txn->nentries, sizeof(WcTxnEntry));

	if (entry != NULL)
		txn->entries = entry;
	if (entry == NULL || table == NULL)
		return false;
	entry = &txn->entries[txn->nentries++];
	*entry = wc_txnentry_of(op, txn->whole);
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
	c->offset = txn->whole;
	c->own = false;
	return true;
}

bool
wc_txn_add_op(WcTxn *txn, const WcOp *op)
{
	if (op->kind == WC_OP_LOCK)
		return true;
	return op->kind == WC_OP_ROW ? add_row(txn, op) : add_catalog(txn, op);
}

void
wc_txn_drop_catalog(WcTxn *txn, uint64_t offset)
{
	while (txn->ncatalog > 0 && txn->catalog[txn->ncatalog - 1].offset >= offset)
	{
		WcTxnCatalogOp *c = &txn->catalog[--txn->ncatalog];

		if (c->own)
			free((void *) c->bytes.data);
	}
}

void
wc_txn_drop_entries(WcTxn *txn, uint64_t offset)
{
	while (txn->nentries > 0 && txn->entries[txn->nentries - 1].offset >= offset)
	{
		const WcTxnEntry *entry = &txn->entries[--txn->nentries];
		WcTxnTable *table = wc_txn_table(txn, entry->table_id);

		assert(table != NULL && table->nops > 0 && table->bytes >= entry->len);
		table->nops--;
		table->bytes -= entry->len;
	}
	wc_txn_drop_catalog(txn, offset);
}

/* --- looking --------------------------------------------------------------*/

size_t
wc_txn_ncatalog(const WcTxn *txn)
{
	return txn->ncatalog;
}

WcStatus
wc_txn_catalog_op(const WcTxn *txn, size_t i, WcOp *op, uint64_t *offset, WcError *err)
{
	WcDecoder	d = wc_decoder(txn->catalog[i].bytes);

	*offset = txn->catalog[i].offset;
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
