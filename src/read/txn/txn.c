/*
 * read/txn/txn.c: the batch of one open transaction: appends and cuts its stream.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "read/txn/ownrows.h"
#include "read/txn/txnstate.h"

/* Of an operation that comes in parts, memory for so much is kept. */
#define PART_KEEP WC_BATCH_CHUNK

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
wc_txn_limit(WcTxn *txn, uint64_t bytes_max)
{
	txn->bytes_max = bytes_max;
}

void
wc_txn_destroy(WcTxn *txn)
{
	if (txn == NULL)
		return;
	wc_txn_reset(txn);
	wc_txnbytes_reset(&txn->bytes, false);
	wc_buf_free(&txn->part);
	free(txn->entries);
	free(txn->order);
	free(txn->catalog);
	free(txn->tables);
	free(txn->runs);
	free(txn->spills);
	wc_ownrows_free(txn->own_rows);
	free(txn);
}

void
wc_txn_reset(WcTxn *txn)
{
	wc_txn_drop_runs(txn, 0);
	wc_txn_drop_spilled(txn);
	txn->loaded = false;
	wc_txn_drop_catalog(txn, 0);
	wc_ownrows_free(txn->own_rows);
	txn->own_rows = NULL;
	txn->cuts++;
	wc_txnbytes_reset(&txn->bytes, true);
	wc_buf_reset(&txn->part, PART_KEEP);
	free(txn->order);
	txn->order = NULL;
	txn->whole = 0;
	txn->nentries = txn->ntables = txn->sorted_n = 0;
	txn->nindexed = 0;
}

uint64_t
wc_txn_count(const WcTxn *txn)
{
	return wc_txn_nrows(txn) + txn->ncatalog;
}

uint64_t
wc_txn_nrows(const WcTxn *txn)
{
	return txn->nspilled + txn->nentries;
}

uint64_t
wc_txn_length(const WcTxn *txn)
{
	return txn->whole + txn->part.len;
}

bool
wc_txn_is_whole(const WcTxn *txn)
{
	return txn->part.len == 0;
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

/* Adds the whole operations that the bytes begin with, in a place that stays.  *taken: how
 * many bytes these are. */
static WcStatus
add_ops(WcTxn *txn, WcSlice bytes, size_t *taken, WcError *err)
{
	uint8_t    *place = wc_txnbytes_place(&txn->bytes, txn->whole, bytes.len);
	WcDecoder	d = wc_decoder(wc_slice(place, bytes.len));
	WcStatus	status = WC_OK;

	*taken = 0;
	if (place == NULL)
		return txn_memory(err);
	memcpy(place, bytes.data, bytes.len);
	while (status == WC_OK && *taken < bytes.len)
	{
		WcSlice		rest = wc_slice(place + *taken, bytes.len - *taken);
		size_t		size;
		WcOp		op;

		status = wc_batch_op_size(rest, &size, err);
		if (status != WC_OK || size == 0 || size > rest.len)
			break;
		status = wc_batch_next_op(&d, &op, err);
		if (status == WC_OK && wc_txn_count(txn) >= UINT32_MAX)
			status = wc_error(err, WC_TOO_LARGE, "transaction has too many changes: the limit is %" PRIu32, UINT32_MAX);
		if (status == WC_OK && !wc_txn_add_op(txn, &op))
			status = txn_memory(err);
		if (status != WC_OK)
			break;
		*taken += size;
		txn->whole += size;
		wc_txnbytes_add(&txn->bytes, size);
	}
	return status;
}

static WcStatus
add_part(WcTxn *txn, WcSlice bytes, WcError *err)
{
	wc_buf_append_slice(&txn->part, bytes);
	if (!txn->part.failed)
		return WC_OK;
	txn->part.failed = false;
	return txn_memory(err);
}

/* Takes the missing bytes of an incomplete operation. */
static WcStatus
finish_part(WcTxn *txn, WcSlice *bytes, WcError *err)
{
	WcStatus	status = WC_OK;
	size_t		size = 0;
	size_t		taken;

	while (status == WC_OK && bytes->len > 0 && (size == 0 || txn->part.len < size))
	{
		size_t		n = size > 0 ? size - txn->part.len : 1;

		if (n > bytes->len)
			n = bytes->len;
		status = add_part(txn, wc_slice(bytes->data, n), err);
		*bytes = wc_slice(bytes->data + n, bytes->len - n);
		if (status == WC_OK && size == 0)
			status = wc_batch_op_size(wc_buf_slice(&txn->part), &size, err);
	}
	if (status == WC_OK && size > 0 && txn->part.len == size)
	{
		status = add_ops(txn, wc_buf_slice(&txn->part), &taken, err);
		if (status == WC_OK)
			wc_buf_reset(&txn->part, PART_KEEP);
	}
	return status;
}

static WcStatus
check_size(const WcTxn *txn, uint64_t at, size_t n, WcError *err)
{
	uint64_t	left = txn->bytes_max;

	left -= at < left ? at : left;
	left -= txn->bytes.kept < left ? txn->bytes.kept : left;
	if (n <= left)
		return WC_OK;
	wc_error(err, WC_TOO_LARGE, "transaction changes too much: %" PRIu64 " bytes, the limit is %" PRIu64,
			 at + n + txn->bytes.kept, txn->bytes_max);
	if (txn->bytes.kept > 0)
		wc_error_detail(err, "%" PRIu64 " bytes of them have been rolled back; open cursors hold them.", txn->bytes.kept);
	wc_error_hint(err, "Commit more often.");
	return WC_TOO_LARGE;
}

WcStatus
wc_txn_append(WcTxn *txn, uint64_t at, WcSlice bytes, WcError *err)
{
	size_t		taken = 0;
	uint64_t	end = at + bytes.len;
	WcError		cut_error;
	WcStatus	status = wc_txn_cut(txn, at, err);

	if (status == WC_OK)
		status = check_size(txn, at, bytes.len, err);
	if (status != WC_OK)
		return status;
	if (txn->part.len > 0)
		status = finish_part(txn, &bytes, err);
	if (status == WC_OK && bytes.len > 0)
		status = add_ops(txn, bytes, &taken, err);
	if (status == WC_OK && taken < bytes.len)
		status = add_part(txn, wc_slice(bytes.data + taken, bytes.len - taken), err);
	if (status == WC_OK)
		status = wc_txn_spill_if_large(txn, err);

	assert(status != WC_OK || wc_txn_length(txn) == end);
	if (status != WC_OK && wc_txn_cut(txn, at, &cut_error) != WC_OK)
		*err = cut_error;
	return status != WC_OK ? err->status : WC_OK;
}

/* --- cutting --------------------------------------------------------------*/

/* The last operation that begins before the offset; an empty slice: none does. */
static WcSlice
op_before(const WcTxn *txn, uint64_t offset, uint64_t *begins)
{
	const WcTxnEntry *entry = NULL;
	size_t		lo = 0,
				hi = txn->nentries;
	size_t		i = txn->ncatalog;

	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;

		if (txn->entries[mid].offset < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo > 0)
		entry = &txn->entries[lo - 1];
	while (i > 0 && txn->catalog[i - 1].offset >= offset)
		i--;
	if (i > 0 && (entry == NULL || txn->catalog[i - 1].offset > entry->offset))
	{
		*begins = txn->catalog[i - 1].offset;
		return txn->catalog[i - 1].bytes;
	}
	*begins = entry ? entry->offset : 0;
	return entry ? wc_slice(entry->bytes, entry->len) : wc_slice(NULL, 0);
}

/* Keeps the whole operations before the offset, and of one that it is amid, a part. */
static WcStatus
cut_ops(WcTxn *txn, uint64_t offset, WcError *err)
{
	uint64_t	begins;
	WcSlice		op = op_before(txn, offset, &begins);
	bool		amid = begins + op.len > offset;
	WcStatus	status = wc_txn_cut_runs(txn, amid ? begins : offset, err);

	if (status != WC_OK)
		return status;
	wc_buf_reset(&txn->part, PART_KEEP);
	if (amid)
	{
		status = add_part(txn, wc_slice(op.data, (size_t) (offset - begins)), err);
		offset = begins;
	}
	wc_ownrows_cut(txn, offset);
	wc_txn_drop_entries(txn, offset);
	wc_txnbytes_cut(&txn->bytes, offset);
	txn->whole = offset;
	return status;
}

WcStatus
wc_txn_cut(WcTxn *txn, uint64_t offset, WcError *err)
{
	if (offset > wc_txn_length(txn))
		return wc_error(err, WC_CORRUPT, "changes of a transaction from byte %" PRIu64 " to byte %" PRIu64 " are missing",
						wc_txn_length(txn), offset);
	if (offset < wc_txn_spilled_upto(txn))
		return wc_txn_cut_spilled(txn, offset, err);
	if (offset < txn->whole)
		return cut_ops(txn, offset, err);
	txn->part.len = (size_t) (offset - txn->whole);
	return WC_OK;
}
