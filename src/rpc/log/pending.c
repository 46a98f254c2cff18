/*
 * rpc/log/pending.c: logged changes of transactions that have not ended yet.
 */
#include "rpc/log/pending.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "model/batch.h"
#include "rpc/log/xidtable.h"

typedef struct Stream
{
	WcXidNode	node;			/* first, so that a node is its stream */
	WcPendingBatch batch;
	uint64_t	looked;			/* offset of the next operation to check for tables, perhaps beyond the end;
								 * UINT64_MAX: not known */
	size_t		pieces_cap;
	bool		changed;		/* since the last mark; also when its flags have */
} Stream;

struct WcPending
{
	WcXidTable	streams;
	uint64_t	nprepared;
	uint64_t	memory;
	WcPendingTables tables;

	/* Pieces in the store that no stream has any more.  There is room for the pieces of all streams. */
	WcPendingKey *gone;
	size_t		ngone;
	size_t		gone_cap;
	size_t		npieces;		/* of all streams */
	WcPendingBytes *put;		/* pieces that the mark writes which is being made */
	size_t		nput;
	size_t		nremoved;		/* number of removed pieces */
};

static Stream *
stream_of(WcXidNode *node)
{
	return (Stream *) node;
}

WcStatus
wc_pending_create(const WcPendingTables *tables, WcPending **pending, WcError *err)
{
	WcPending  *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	p->tables = *tables;
	*pending = p;
	return WC_OK;
}

void
wc_pending_free(WcPending *p)
{
	if (p == NULL)
		return;
	(void) wc_pending_drop_others(p, UINT64_MAX, NULL, 0, NULL, NULL);
	wc_xidtable_free(&p->streams);
	free(p->gone);
	free(p->put);
	free(p);
}

static uint64_t
length_of(const Stream *s)
{
	return s->batch.at + s->batch.bytes.len;
}

static WcStatus
check(const Stream *stream, const WcLogRecord *b, WcError *err)
{
	uint64_t	have = stream != NULL ? length_of(stream) : 0;

	if (b->at > have)
		return wc_error(err, WC_CORRUPT, "log record BATCH begins at byte %" PRIu64 " of transaction %" PRIu64
						", of which %" PRIu64 " %s been read", b->at, b->xid, have, have == 1 ? "byte has" : "bytes have");
	if (stream != NULL && stream->batch.database != b->database)
		return wc_error(err, WC_CORRUPT, "log record BATCH of transaction %" PRIu64 " is of database %" PRIu32
						", not %" PRIu32, b->xid, b->database, stream->batch.database);
	return WC_OK;
}

static WcStatus
add_stream(WcPending *p, const WcLogRecord *b, Stream **stream, WcError *err)
{
	Stream	   *s = calloc(1, sizeof(*s));
	WcStatus	status;

	if (s == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a transaction");
	s->node.xid = s->batch.xid = b->xid;
	s->batch.database = b->database;
	s->batch.place = WC_RECORD_NO_PLACE;
	status = wc_xidtable_add(&p->streams, &s->node, err);
	if (status != WC_OK)
		free(s);
	else
		*stream = s;
	return status;
}

/* Reports each table that the new bytes of the stream make.  Streams are cut only between operations.  Malformed
 * operations are reported at the commit. */
static void
tell_tables(WcPending *p, Stream *s)
{
	uint64_t	length = length_of(s);

	while (s->looked < length)
	{
		WcSlice		rest = wc_slice(s->batch.bytes.data + (s->looked - s->batch.at), (size_t) (length - s->looked));
		WcDecoder	d = wc_decoder(rest);
		uint32_t	table_id;
		size_t		size;
		WcOp		op;

		if (wc_batch_op_size(rest, &size, NULL) != WC_OK)
			s->looked = UINT64_MAX;
		else if (size == 0 || (size > rest.len && rest.data[0] == WC_OP_CREATE_TABLE))
			return;				/* the operation is not complete yet */
		else
		{
			if (rest.data[0] == WC_OP_CREATE_TABLE && wc_batch_next_op(&d, &op, NULL) == WC_OK &&
				wc_table_desc_peek_id(op.desc, &table_id))
				p->tables.made(p->tables.arg, table_id);
			s->looked += size;
		}
	}
}

/* Moves the pieces from this offset on from the stream to p->gone, which has room for them. */
static void
drop_pieces(WcPending *p, Stream *s, uint64_t at)
{
	while (s->batch.npieces > 0 && s->batch.pieces[s->batch.npieces - 1] >= at)
	{
		assert(p->ngone < p->gone_cap && p->npieces > 0);
		p->gone[p->ngone++] = (WcPendingKey) {s->node.xid, s->batch.pieces[--s->batch.npieces]};
		p->npieces--;
	}
}

static bool
is_prepared(const Stream *s)
{
	return (s->batch.flags & WC_PENDING_PREPARED) != 0;
}

static void
note_flags(WcPending *p, Stream *s, uint8_t flags)
{
	bool		was_prepared = is_prepared(s);

	s->batch.flags |= flags;
	s->changed = true;
	p->nprepared += !was_prepared && is_prepared(s);
}

WcStatus
wc_pending_append(WcPending *p, const WcLogRecord *b, WcError *err)
{
	Stream	   *s = stream_of(wc_xidtable_find(&p->streams, b->xid));
	bool		is_new = s == NULL;
	uint64_t	before;
	size_t		before_here;
	WcStatus	status = check(s, b, err);

	if (status == WC_OK && is_new)
		status = add_stream(p, b, &s, err);
	if (status != WC_OK)
		return status;

	before = length_of(s);
	before_here = s->batch.bytes.len;
	s->batch.bytes.len = b->at > s->batch.at ? (size_t) (b->at - s->batch.at) : 0;
	wc_buf_append_slice(&s->batch.bytes, b->bytes);
	if (s->batch.bytes.failed)
	{
		s->batch.bytes.failed = false;
		s->batch.bytes.len = before_here;
		if (is_new)
			wc_pending_drop(p, b->xid);
		return wc_error(err, WC_NO_MEMORY, "out of memory for a transaction's changes");
	}
	if (b->at < s->batch.at)
	{
		drop_pieces(p, s, b->at);
		s->batch.at = b->at;
	}
	p->memory += s->batch.bytes.len - before_here;
	note_flags(p, s, b->flags);
	if (b->place != WC_RECORD_NO_PLACE)
		s->batch.place = b->place;
	if (b->at < before && s->looked > b->at)
		s->looked = b->at;
	tell_tables(p, s);
	return WC_OK;
}

static void
taken_out(WcPending *p, const Stream *s)
{
	assert(p->memory >= s->batch.bytes.len && p->npieces >= s->batch.npieces);
	assert(p->ngone + s->batch.npieces <= p->gone_cap);
	p->nprepared -= is_prepared(s);
	p->memory -= s->batch.bytes.len;
	for (size_t i = 0; i < s->batch.npieces; i++)
		p->gone[p->ngone++] = (WcPendingKey) {s->node.xid, s->batch.pieces[i]};
	p->npieces -= s->batch.npieces;
}

bool
wc_pending_has(const WcPending *p, uint64_t xid)
{
	return wc_xidtable_find(&p->streams, xid) != NULL;
}

bool
wc_pending_prepare(WcPending *p, uint64_t xid, uint16_t *place)
{
	Stream	   *s = stream_of(wc_xidtable_find(&p->streams, xid));

	if (s == NULL)
		return false;
	note_flags(p, s, WC_PENDING_PREPARED);
	*place = s->batch.place;
	return true;
}

bool
wc_pending_take(WcPending *p, uint64_t xid, WcPendingBatch *batch)
{
	Stream	   *s = stream_of(wc_xidtable_remove(&p->streams, xid));

	if (s == NULL)
		return false;
	taken_out(p, s);
	*batch = s->batch;
	free(s);
	return true;
}

void
wc_pending_drop(WcPending *p, uint64_t xid)
{
	WcPendingBatch batch;

	if (wc_pending_take(p, xid, &batch))
		wc_pendingbatch_free(&batch);
}

static int
compare_xids(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

uint64_t
wc_pending_drop_others(WcPending *p, uint64_t next, const uint64_t *xids, size_t n,
					   void (*dropped) (void *arg, uint64_t xid), void *arg)
{
	WcXidNode  *node = wc_xidtable_next(&p->streams, NULL);
	uint64_t	ndropped = 0;

	while (node != NULL)
	{
		WcXidNode  *behind = wc_xidtable_next(&p->streams, node);
		uint64_t	xid = node->xid;

		node = behind;
		if (xid >= next || (n > 0 && bsearch(&xid, xids, n, sizeof(*xids), compare_xids) != NULL))
			continue;
		wc_pending_drop(p, xid);
		if (dropped != NULL)
			dropped(arg, xid);
		ndropped++;
	}
	return ndropped;
}

/* --- marks ----------------------------------------------------------------------*/

/* The number of pieces that a mark makes of n bytes.  No bytes make one piece, which tells that the stream ends there. */
static size_t
pieces_of(size_t bytes)
{
	return bytes > 0 ? (bytes + WC_PENDING_PIECE - 1) / WC_PENDING_PIECE : 1;
}

static WcStatus
marks_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for the list of transactions under way");
}

/* Room for n more pieces of the stream, in its list, and in that of pieces that are gone. */
static WcStatus
pieces_room(WcPending *p, Stream *s, size_t n, size_t all, WcError *err)
{
	if (s->batch.npieces + n > s->pieces_cap)
	{
		size_t		cap = 2 * s->pieces_cap + n;
		uint64_t   *pieces = realloc(s->batch.pieces, cap * sizeof(*pieces));

		if (pieces == NULL)
			return marks_memory(err);
		s->batch.pieces = pieces;
		s->pieces_cap = cap;
	}
	if (p->ngone + p->npieces + all > p->gone_cap)
	{
		size_t		cap = 2 * p->gone_cap + p->npieces + all;
		WcPendingKey *gone = realloc(p->gone, cap * sizeof(*gone));

		if (gone == NULL)
			return marks_memory(err);
		p->gone = gone;
		p->gone_cap = cap;
	}
	return WC_OK;
}

WcStatus
wc_pending_mark(WcPending *p, WcPendingMark *mark, WcError *err)
{
	WcXidNode  *node = NULL;
	WcPendingBytes *put = realloc(p->put, (p->streams.n + 1) * sizeof(*put));
	size_t		all = 0;

	if (put == NULL)
		return marks_memory(err);
	p->put = put;
	p->nput = 0;
	while ((node = wc_xidtable_next(&p->streams, node)) != NULL)
	{
		Stream	   *s = stream_of(node);
		WcStatus	status;

		if (!s->changed)
			continue;
		all += pieces_of(s->batch.bytes.len);
		status = pieces_room(p, s, pieces_of(s->batch.bytes.len), all, err);
		if (status != WC_OK)
			return status;
		drop_pieces(p, s, s->batch.at); /* they end in the midst of an operation, and are written anew */
		p->put[p->nput++] = (WcPendingBytes) {
			node->xid, s->batch.database, s->batch.place, s->batch.flags, s->batch.at, wc_buf_slice(&s->batch.bytes)
		};
	}
	p->nremoved = p->ngone;
	*mark = (WcPendingMark) {p->put, p->nput, p->gone, p->ngone};
	return WC_OK;
}

/* Frees the bytes that are in the store now, except those of an incomplete operation that makes a table. */
static void
give_memory_back(WcPending *p, Stream *s)
{
	size_t		n = s->batch.bytes.len;

	if (s->looked < length_of(s))
		n = (size_t) (s->looked - s->batch.at);
	s->batch.at += n;
	s->batch.bytes.len -= n;
	p->memory -= n;
	if (s->batch.bytes.len > 0)
		memmove(s->batch.bytes.data, s->batch.bytes.data + n, s->batch.bytes.len);
	else
		wc_buf_reset(&s->batch.bytes, 0);
	s->changed = false;
}

static void
add_pieces(WcPending *p, Stream *s)
{
	size_t		n = pieces_of(s->batch.bytes.len);

	for (size_t i = 0; i < n; i++)
		s->batch.pieces[s->batch.npieces++] = s->batch.at + i * WC_PENDING_PIECE;
	p->npieces += n;
}

void
wc_pending_marked(WcPending *p)
{
	for (size_t i = 0; i < p->nput; i++)
	{
		Stream	   *s = stream_of(wc_xidtable_find(&p->streams, p->put[i].xid));

		add_pieces(p, s);
		give_memory_back(p, s);
	}
	p->nput = 0;
	p->ngone -= p->nremoved;
	if (p->ngone > 0)
		memmove(p->gone, p->gone + p->nremoved, p->ngone * sizeof(*p->gone));
	p->nremoved = 0;
}

WcStatus
wc_pending_load(WcPending *p, const WcPendingBytes *piece, WcError *err)
{
	WcLogRecord batch = {
		.kind = WC_RECORD_BATCH,.flags = piece->flags,.place = piece->place,
		.database = piece->database,.xid = piece->xid,.at = piece->at,.bytes = piece->bytes
	};
	WcStatus	status = wc_pending_append(p, &batch, err);
	Stream	   *s;

	if (status != WC_OK)
		return status;
	s = stream_of(wc_xidtable_find(&p->streams, piece->xid));
	status = pieces_room(p, s, 1, 1, err);
	if (status != WC_OK)
		return status;
	s->batch.pieces[s->batch.npieces++] = piece->at;
	p->npieces++;
	give_memory_back(p, s);
	return WC_OK;
}

/* --- the whole stream -----------------------------------------------------------------*/

const WcPendingBatch *
wc_pending_next(const WcPending *p, const void **node)
{
	WcXidNode  *next = wc_xidtable_next(&p->streams, *node);

	*node = next;
	return next != NULL ? &stream_of(next)->batch : NULL;
}

void
wc_pendingbatch_free(WcPendingBatch *batch)
{
	free(batch->pieces);
	wc_buf_free(&batch->bytes);
}

uint64_t
wc_pendingbatch_length(const WcPendingBatch *batch)
{
	return batch->at + batch->bytes.len;
}

/* In parts of WC_BATCH_CHUNK bytes at most. */
static WcStatus
take_parts(WcPendingReader take, void *arg, uint64_t at, WcSlice bytes, WcError *err)
{
	WcStatus	status = WC_OK;

	while (status == WC_OK && bytes.len > 0)
	{
		size_t		n = bytes.len < WC_BATCH_CHUNK ? bytes.len : WC_BATCH_CHUNK;

		status = take(arg, at, wc_slice(bytes.data, n), err);
		at += n;
		bytes = wc_slice(bytes.data + n, bytes.len - n);
	}
	return status;
}

WcStatus
wc_pendingbatch_read(const WcPendingBatch *batch, WcEngine *engine, WcPendingReader take, void *arg, WcError *err)
{
	WcBuf		piece = WC_BUF_INIT;
	WcStatus	status = WC_OK;

	for (size_t i = 0; status == WC_OK && i < batch->npieces; i++)
	{
		uint64_t	at = batch->pieces[i];
		uint64_t	end = i + 1 < batch->npieces && batch->pieces[i + 1] < batch->at ? batch->pieces[i + 1] : batch->at;

		if (at >= batch->at)
			break;				/* `bytes` has the whole stream */
		status = wc_engine_pending_piece(engine, batch->xid, at, &piece, err);
		if (status == WC_OK)
			status = take_parts(take, arg, at, wc_slice(piece.data, piece.len < end - at ? piece.len : (size_t) (end - at)), err);
	}
	if (status == WC_OK)
		status = take_parts(take, arg, batch->at, wc_buf_slice(&batch->bytes), err);
	wc_buf_free(&piece);
	return status;
}

static WcStatus
append_to(void *txn, uint64_t at, WcSlice bytes, WcError *err)
{
	return wc_txn_append(txn, at, bytes, err);
}

WcStatus
wc_pendingbatch_txn(const WcPendingBatch *batch, WcEngine *engine, WcTxn **txn, WcError *err)
{
	WcStatus	status = wc_txn_create(batch->database, UINT64_MAX, txn, err);

	if (status != WC_OK)
		return status;
	wc_txn_spill_into(*txn, wc_engine_spill(engine));
	status = wc_pendingbatch_read(batch, engine, append_to, *txn, err);
	if (status != WC_OK)
	{
		wc_txn_destroy(*txn);
		*txn = NULL;
	}
	return status;
}

/* --- counters -----------------------------------------------------------------------*/

uint64_t
wc_pending_nprepared(const WcPending *p)
{
	return p->nprepared;
}

uint64_t
wc_pending_memory(const WcPending *p)
{
	return p->memory;
}
