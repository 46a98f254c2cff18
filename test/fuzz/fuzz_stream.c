/*
 * test/fuzz/fuzz_stream.c: a transaction's stream as it comes in pieces (read/txn/txn.h).
 *
 * The input is a run of commands: a byte that says what, where a piece begins or what a view
 * sees, and the bytes of a piece.
 */
#include "fuzz.h"
#include "read/txn/txn.h"

#define BYTES_MAX 4096

#define APPEND			0		/* bytes behind the end */
#define APPEND_AT		1		/* at any place, even behind the end */
#define CUT				2
#define VIEW			3

/* All that it has are bytes of the stream at their places, in order. */
static void
check_entries(WcTxn *txn, const WcBuf *stream)
{
	WcTxnSorted sorted;
	WcError		err;
	const WcTxnEntry *entries;
	size_t		n;
	uint64_t	end = 0;

	entries = wc_txn_entries(txn, &n);
	HOLDS(n + wc_txn_ncatalog(txn) == wc_txn_count(txn));
	for (size_t i = 0; i < n; i++)
	{
		HOLDS(entries[i].offset >= end && entries[i].offset + entries[i].len <= stream->len);
		HOLDS(memcmp(entries[i].bytes, stream->data + entries[i].offset, entries[i].len) == 0);
		end = entries[i].offset + entries[i].len;
	}
	for (size_t i = 0; i < wc_txn_ncatalog(txn); i++)
	{
		WcOp		op;
		uint64_t	offset;

		HOLDS(wc_txn_catalog_op(txn, i, &op, &offset, &err) == WC_OK && offset < stream->len);
	}
	HOLDS(wc_txn_sorted(txn, &sorted, &err) == WC_OK && sorted.n == n);
	for (size_t i = 1; i < n; i++)
		HOLDS(wc_txnentry_cmp(wc_txnsorted_at(&sorted, i - 1), wc_txnsorted_at(&sorted, i)) < 0);
}

/* Rows come in order, each once, with what the view may see of them. */
static void
check_view(WcTxn *txn, uint32_t table_id, uint32_t cid, bool reversed)
{
	WcTxnView  *view;
	WcError		err;
	WcBuf		before = WC_BUF_INIT;
	WcSlice		row;
	bool		first = true;

	HOLDS(wc_txnview_open(txn, table_id, cid, NULL, reversed, &view, &err) == WC_OK);
	wc_txnview_seek(view, wc_slice(NULL, 0), true);
	while (wc_txnview_row(view, &row) == WC_OK)
	{
		const WcTxnEntry *const *entries;
		size_t		n;
		uint32_t	passed;
		int			c = wc_slice_cmp(row, wc_buf_slice(&before));

		HOLDS(first || (reversed ? c < 0 : c > 0));
		first = false;
		wc_buf_reset(&before, SIZE_MAX);
		wc_buf_append_slice(&before, row);
		HOLDS(wc_txnview_take(view, wc_buf_slice(&before), 0, &entries, &n, &passed, &err) == WC_OK);
		for (size_t i = 0; i < n; i++)
		{
			HOLDS(entries[i]->table_id == table_id && entries[i]->cid < cid);
			HOLDS(wc_slice_eq(wc_txnentry_row(entries[i]), wc_buf_slice(&before)));
			HOLDS(i == 0 || entries[i - 1]->offset < entries[i]->offset);
			HOLDS(entries[i]->offset >= wc_txnview_void_before(view));
		}
		HOLDS(passed >= cid);
	}
	wc_txnview_close(view);
	wc_buf_free(&before);
}

/* False: it was refused, and the stream ends where the piece would have begun. */
static bool
append(WcTxn *txn, WcBuf *stream, uint64_t at, WcSlice piece)
{
	WcSlice		copy = wc_fuzz_copy(piece);
	WcError		err;
	WcStatus	status = wc_txn_append(txn, at, copy, &err);

	wc_fuzz_free(copy);
	if (at > stream->len)
	{
		HOLDS(status == WC_CORRUPT && wc_txn_length(txn) == stream->len);
		return false;
	}
	HOLDS(status == WC_OK || status == WC_CORRUPT || (status == WC_TOO_LARGE && at + piece.len > BYTES_MAX));
	stream->len = (size_t) at;
	if (status == WC_OK)
		wc_buf_append_slice(stream, piece);
	HOLDS(wc_txn_length(txn) == stream->len);
	return status == WC_OK;
}

FUZZ_TARGET(stream)
{
	WcDecoder	d = wc_decoder(in);
	WcBuf		stream = WC_BUF_INIT;
	WcTxn	   *txn;
	WcError		err;
	bool		good = true;

	HOLDS(wc_txn_create(1, BYTES_MAX, &txn, &err) == WC_OK);
	while (good && wc_decoder_left(&d) > 0)
	{
		uint8_t		command = wc_decode_u8(&d);
		uint64_t	n = wc_decode_varint(&d);

		switch (command & 3)
		{
			case APPEND:
				good = append(txn, &stream, stream.len, wc_decode_bytes(&d));
				break;
			case APPEND_AT:
				good = append(txn, &stream, n, wc_decode_bytes(&d));
				break;
			case CUT:
				good = wc_txn_cut(txn, n, &err) == WC_OK;
				HOLDS(good == (n <= stream.len));
				if (good)
					stream.len = (size_t) n;
				break;
			default:
				check_view(txn, (uint32_t) n, command >> 3, (command & 4) != 0);
				break;
		}
		HOLDS(wc_txn_length(txn) == stream.len);
		check_entries(txn, &stream);
	}
	wc_txn_destroy(txn);
	wc_buf_free(&stream);
}
