/*
 * read/txn/txnload.c: reads the row operations that are in a file back into memory, for views.
 */
#include <stdlib.h>

#include "read/txn/txnstate.h"

/* The part of the stream as it was, into place, which has room for it. */
static WcStatus
restore_part(const WcTxn *txn, const WcTxnSpilled *part, uint8_t *place, WcError *err)
{
	WcSpillReader reader = {.txn = txn,.spill = part};
	WcTxnEntry	entry;
	WcStatus	status;

	while ((status = wc_spillreader_next(&reader, &entry, err)) == WC_OK)
		memcpy(place + (entry.offset - part->from), entry.bytes, entry.len);
	for (size_t i = 0; i < txn->ncatalog; i++)
	{
		const WcTxnCatalogOp *c = &txn->catalog[i];

		if (c->offset >= part->from && c->offset < part->to)
			memcpy(place + (c->offset - part->from), c->bytes.data, c->bytes.len);
	}
	wc_spillreader_free(&reader);
	return status == WC_END ? WC_OK : status;
}

static WcStatus
load_part(const WcTxn *txn, const WcTxnSpilled *part, WcTxn *to, WcError *err)
{
	size_t		len = (size_t) (part->to - part->from);
	uint8_t    *bytes = malloc(len > 0 ? len : 1);
	WcStatus	status;

	if (bytes == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a transaction's changes in a file");
	status = restore_part(txn, part, bytes, err);
	if (status == WC_OK)
		status = wc_txn_append(to, part->from, wc_slice(bytes, len), err);
	free(bytes);
	return status;
}

/* The chunks are linked from the last one on. */
static WcStatus
load_chunks(const WcTxnChunk *chunk, WcTxn *to, WcError *err)
{
	WcStatus	status = WC_OK;

	if (chunk != NULL)
		status = load_chunks(chunk->before, to, err);
	if (status == WC_OK && chunk != NULL)
		status = wc_txn_append(to, chunk->offset, wc_slice(chunk->data, chunk->len), err);
	return status;
}

WcStatus
wc_txn_load(WcTxn *txn, WcError *err)
{
	WcTxn	   *all;
	WcTxn		swap;
	WcStatus	status;

	if (txn->nspills == 0)
		return WC_OK;
	status = wc_txn_create(txn->database, UINT64_MAX, &all, err);
	if (status != WC_OK)
		return status;
	for (size_t i = 0; status == WC_OK && i < txn->nspills; i++)
		status = load_part(txn, &txn->spills[i], all, err);
	if (status == WC_OK)
		status = load_chunks(txn->bytes.last, all, err);
	if (status == WC_OK)
		status = wc_txn_append(all, txn->whole, wc_buf_slice(&txn->part), err);
	if (status == WC_OK)
	{
		all->bytes_max = txn->bytes_max;
		all->spill = txn->spill;
		all->loaded = true;
		all->nresolved = txn->nresolved;
		all->cuts = txn->cuts + 1;
		swap = *txn;
		*txn = *all;
		*all = swap;
	}
	wc_txn_destroy(all);
	return status;
}
