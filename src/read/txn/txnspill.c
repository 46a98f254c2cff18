/*
 * read/txn/txnspill.c: row operations of a large transaction that are in a file.
 *
 * Each time much is in memory, it goes to the file as one part: the operations in order of table,
 * row and offset, each with its offset in the stream and its length in front.  The file has no name,
 * so that it goes with the process.  Operations on the catalog stay in memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/coding.h"
#include "base/file.h"
#include "read/txn/txnstate.h"

#define HEAD_SIZE 12			/* offset 8, length 4 */
#define BUFFER_BYTES (64 * 1024)

static WcStatus
spill_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for a transaction's changes in a file");
}

void
wc_txn_spill_into(WcTxn *txn, const WcTxnSpill *where)
{
	txn->spill = where;
}

/* --- the file -----------------------------------------------------------------*/

static WcStatus
file_error(const WcTxn *txn, const char *what, WcError *err)
{
	WcStatus	status = wc_file_error(err, what, txn->spill->directory);

	wc_error_detail(err, "What a transaction has written to stored tables beyond %" PRIu64 " bytes is kept there.",
					txn->spill->memory);
	return status;
}

static WcStatus
make_file(WcTxn *txn, WcError *err)
{
	char		path[WC_PATH_MAX];
	WcStatus	status = wc_file_join(path, txn->spill->directory, "XXXXXX", err);

	if (status != WC_OK)
		return status;
	txn->spill_fd = mkostemp(path, O_CLOEXEC);
	if (txn->spill_fd < 0)
		return file_error(txn, "make a file in directory", err);
	if (unlink(path) == 0)
		return WC_OK;
	status = file_error(txn, "remove a file from directory", err);
	close(txn->spill_fd);
	return status;
}

static WcStatus
write_all(const WcTxn *txn, WcSlice bytes, uint64_t at, WcError *err)
{
	while (bytes.len > 0)
	{
		ssize_t		n = pwrite(txn->spill_fd, bytes.data, bytes.len, (off_t) at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return file_error(txn, "write a file in directory", err);
		bytes = wc_slice(bytes.data + n, bytes.len - (size_t) n);
		at += (uint64_t) n;
	}
	return WC_OK;
}

static WcStatus
read_all(const WcTxn *txn, uint8_t *to, size_t len, uint64_t at, WcError *err)
{
	while (len > 0)
	{
		ssize_t		n = pread(txn->spill_fd, to, len, (off_t) at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return file_error(txn, "read a file in directory", err);
		if (n == 0)
			return wc_error(err, WC_CORRUPT, "a file of a transaction's changes is shorter than it was");
		to += n;
		len -= (size_t) n;
		at += (uint64_t) n;
	}
	return WC_OK;
}

void
wc_txn_drop_spilled(WcTxn *txn)
{
	if (txn->nspills > 0)
		close(txn->spill_fd);
	txn->nspills = txn->nspilled = 0;
}

/* --- writing ------------------------------------------------------------------*/

/* Of operations on the catalog the bytes get memory of their own. */
static WcStatus
keep_catalog(WcTxn *txn, WcError *err)
{
	for (size_t i = 0; i < txn->ncatalog; i++)
	{
		WcTxnCatalogOp *c = &txn->catalog[i];
		uint8_t    *bytes;

		if (c->own)
			continue;
		bytes = malloc(c->bytes.len > 0 ? c->bytes.len : 1);
		if (bytes == NULL)
			return spill_memory(err);
		memcpy(bytes, c->bytes.data, c->bytes.len);
		c->bytes.data = bytes;
		c->own = true;
	}
	return WC_OK;
}

static WcStatus
write_part(WcTxn *txn, WcTxnSpilled *part, WcError *err)
{
	WcBuf		buf = WC_BUF_INIT;
	uint8_t		head[HEAD_SIZE];
	WcTxnSorted sorted;
	WcStatus	status = wc_txn_sorted(txn, &sorted, err);

	part->bytes = 0;
	for (size_t i = 0; status == WC_OK && i < sorted.n; i++)
	{
		const WcTxnEntry *entry = wc_txnsorted_at(&sorted, i);

		wc_store_u64(head, entry->offset);
		wc_store_u32(head + 8, entry->len);
		wc_buf_append(&buf, head, sizeof(head));
		wc_buf_append(&buf, entry->bytes, entry->len);
		if (buf.failed)
			status = spill_memory(err);
		else if (buf.len >= BUFFER_BYTES || i + 1 == sorted.n)
		{
			status = write_all(txn, wc_buf_slice(&buf), part->at + part->bytes, err);
			part->bytes += buf.len;
			wc_buf_reset(&buf, 2 * BUFFER_BYTES);
		}
	}
	wc_buf_free(&buf);
	return status;
}

static WcStatus
spill_part(WcTxn *txn, WcError *err)
{
	WcTxnSpilled *part;
	WcStatus	status = keep_catalog(txn, err);

	if (status == WC_OK && txn->nspills == txn->spills_cap)
	{
		size_t		cap = txn->spills_cap > 0 ? 2 * txn->spills_cap : 16;

		part = realloc(txn->spills, cap * sizeof(*part));
		if (part == NULL)
			return spill_memory(err);
		txn->spills = part;
		txn->spills_cap = cap;
	}
	if (status == WC_OK && txn->nspills == 0)
		status = make_file(txn, err);
	if (status != WC_OK)
		return status;
	part = &txn->spills[txn->nspills];
	*part = (WcTxnSpilled) {.from = wc_txn_spilled_upto(txn),.to = txn->whole,.n = txn->nentries};
	if (txn->nspills > 0)
		part->at = part[-1].at + part[-1].bytes;
	status = write_part(txn, part, err);
	if (status != WC_OK)
	{
		if (txn->nspills == 0)
			close(txn->spill_fd);
		return status;
	}
	txn->nspills++;
	txn->nspilled += txn->nentries;
	wc_txn_drop_runs(txn, 0);
	txn->nindexed = 0;
	wc_txnbytes_reset(&txn->bytes, false);
	txn->nentries = 0;
	txn->cuts++;				/* the sorted operations are not in memory any more */
	return WC_OK;
}

WcStatus
wc_txn_spill_if_large(WcTxn *txn, WcError *err)
{
	if (txn->spill == NULL || txn->loaded || txn->bytes.views != NULL || txn->own_rows != NULL ||
		txn->nentries == 0 || txn->whole - wc_txn_spilled_upto(txn) < txn->spill->memory)
		return WC_OK;
	return spill_part(txn, err);
}

/* --- reading ------------------------------------------------------------------*/

/* Room for n bytes, and as many of the part as there are, from reader->at on. */
static WcStatus
fill(WcSpillReader *r, size_t n, WcError *err)
{
	size_t		left = r->len - r->at;
	uint64_t	rest = r->spill->bytes - r->read;
	WcStatus	status;

	if (left >= n)
		return WC_OK;
	if (r->cap < n || r->buf == NULL)
	{
		size_t		cap = n > BUFFER_BYTES ? n : BUFFER_BYTES;
		uint8_t    *buf = malloc(cap);

		if (buf == NULL)
			return spill_memory(err);
		if (left > 0)
			memcpy(buf, r->buf + r->at, left);
		free(r->buf);
		r->buf = buf;
		r->cap = cap;
	}
	else if (left > 0)
		memmove(r->buf, r->buf + r->at, left);
	r->at = 0;
	r->len = left;
	if (rest > r->cap - left)
		rest = r->cap - left;
	status = read_all(r->txn, r->buf + left, (size_t) rest, r->spill->at + r->read, err);
	if (status != WC_OK)
		return status;
	r->read += rest;
	r->len += (size_t) rest;
	if (r->len < n)
		return wc_error(err, WC_CORRUPT, "a file of a transaction's changes ends amid an operation");
	return WC_OK;
}

WcStatus
wc_spillreader_next(WcSpillReader *r, WcTxnEntry *entry, WcError *err)
{
	uint64_t	offset;
	uint32_t	len;
	WcDecoder	d;
	WcOp		op;
	WcStatus	status;

	do
	{
		if (r->at == r->len && r->read == r->spill->bytes)
			return WC_END;
		status = fill(r, HEAD_SIZE, err);
		if (status != WC_OK)
			return status;
		offset = wc_load_u64(r->buf + r->at);
		len = wc_load_u32(r->buf + r->at + 8);
		status = fill(r, HEAD_SIZE + (size_t) len, err);
		if (status != WC_OK)
			return status;
		d = wc_decoder(wc_slice(r->buf + r->at + HEAD_SIZE, len));
		r->at += HEAD_SIZE + (size_t) len;
	} while (offset >= r->spill->to);
	status = wc_batch_next_op(&d, &op, err);
	if (status == WC_OK)
		*entry = wc_txnentry_of(&op, offset);
	return status == WC_END ? wc_error(err, WC_CORRUPT, "a file of a transaction's changes is damaged") : status;
}

void
wc_spillreader_free(WcSpillReader *r)
{
	free(r->buf);
	r->buf = NULL;
}

/* --- cutting --------------------------------------------------------------------*/

/* Takes operations from the offset on out of the part's counters.  *amid: the bytes before the offset of
 * the one that it is amid, and where that begins. */
static WcStatus
uncount(WcTxn *txn, WcTxnSpilled *part, uint64_t offset, WcBuf *amid, uint64_t *begins, WcError *err)
{
	WcSpillReader reader = {.txn = txn,.spill = part};
	WcTxnEntry	entry;
	WcStatus	status;

	while ((status = wc_spillreader_next(&reader, &entry, err)) == WC_OK)
	{
		WcTxnTable *table;

		if (entry.offset + entry.len <= offset)
			continue;
		if (entry.offset < offset)
		{
			wc_buf_append(amid, entry.bytes, (size_t) (offset - entry.offset));
			*begins = entry.offset;
		}
		table = wc_txn_table(txn, entry.table_id);
		if (table == NULL || amid->failed)
		{
			status = spill_memory(err);
			break;
		}
		table->nops--;
		table->bytes -= entry.len;
		part->n--;
		txn->nspilled--;
	}
	wc_spillreader_free(&reader);
	return status == WC_END ? WC_OK : status;
}

/*
 * An error in the middle (the file cannot be read) leaves the counters wrong: the transaction
 * cannot be committed then, since bytes of it are missing.
 */
WcStatus
wc_txn_cut_spilled(WcTxn *txn, uint64_t offset, WcError *err)
{
	uint64_t	begins = offset;
	WcBuf		amid = WC_BUF_INIT;
	WcStatus	status = WC_OK;

	wc_txn_drop_entries(txn, wc_txn_spilled_upto(txn));
	if (offset == 0)
	{
		wc_txn_drop_spilled(txn);
		for (size_t i = 0; i < txn->ntables; i++)
			txn->tables[i].nops = txn->tables[i].bytes = 0;
	}
	while (status == WC_OK && wc_txn_spilled_upto(txn) > offset)
	{
		WcTxnSpilled *last = &txn->spills[txn->nspills - 1];

		status = uncount(txn, last, offset, &amid, &begins, err);
		last->to = last->from < begins ? begins : last->from;
		if (last->to > last->from)
			break;
		if (txn->nspills == 1)
			wc_txn_drop_spilled(txn);
		else
			txn->nspills--;
	}
	while (status == WC_OK && txn->ncatalog > 0)
	{
		WcTxnCatalogOp *c = &txn->catalog[txn->ncatalog - 1];

		if (c->offset + c->bytes.len <= offset)
			break;
		if (c->offset < offset)
		{
			wc_buf_append(&amid, c->bytes.data, (size_t) (offset - c->offset));
			begins = c->offset;
		}
		if (c->own)
			free((void *) c->bytes.data);
		txn->ncatalog--;
	}
	if (wc_txn_spilled_upto(txn) > begins)
		txn->spills[txn->nspills - 1].to = begins;
	wc_txnbytes_reset(&txn->bytes, false);
	wc_txn_drop_runs(txn, 0);
	txn->nindexed = 0;
	txn->cuts++;
	txn->whole = begins;
	wc_buf_reset(&txn->part, WC_BATCH_CHUNK);
	wc_buf_append_slice(&txn->part, wc_buf_slice(&amid));
	if (status == WC_OK && (amid.failed || txn->part.failed))
		status = spill_memory(err);
	wc_buf_free(&amid);
	return status;
}
