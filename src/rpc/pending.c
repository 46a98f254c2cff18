/*
 * rpc/pending.c: what transactions have logged that have not ended yet.
 */
#include "rpc/pending.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "model/batch.h"
#include "rpc/xidtable.h"

typedef struct Stream
{
	WcXidNode	node;			/* first, so that a node is its stream */
	WcPendingBatch batch;
	size_t		looked;			/* the operations before it have been looked at for tables */
	bool		marked;			/* the last mark has all of it */
} Stream;

struct WcPending
{
	WcXidTable	streams;
	uint64_t	nprepared;
	uint64_t	bytes;
	uint64_t	bytes_max;
	WcPendingTables tables;
};

static Stream *
stream_of(WcXidNode *node)
{
	return (Stream *) node;
}

WcStatus
wc_pending_create(uint64_t bytes_max, const WcPendingTables *tables, WcPending **pending, WcError *err)
{
	WcPending  *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	p->bytes_max = bytes_max;
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
	free(p);
}

static WcStatus
check(const WcPending *p, const Stream *stream, const WcLogRecord *b, WcError *err)
{
	uint64_t	have = stream != NULL ? stream->batch.bytes.len : 0;
	uint64_t	others = p->bytes - have;
	uint64_t	want = b->at + b->bytes.len;

	if (b->at > have)
		return wc_error(err, WC_CORRUPT, "log record BATCH begins at byte %" PRIu64 " of transaction %" PRIu64
						", of which %" PRIu64 " %s been read", b->at, b->xid, have, have == 1 ? "byte has" : "bytes have");
	if (stream != NULL && stream->batch.database != b->database)
		return wc_error(err, WC_CORRUPT, "log record BATCH of transaction %" PRIu64 " is of database %" PRIu32
						", not %" PRIu32, b->xid, b->database, stream->batch.database);
	if (want > p->bytes_max || others > p->bytes_max - want)
	{
		(void) wc_error(err, WC_TOO_LARGE, "open transactions have written too much to stored tables");
		wc_error_detail(err, "Transaction %" PRIu64 " has %" PRIu64 " bytes, others have %" PRIu64 ", and the limit is %"
						PRIu64 " together.", b->xid, want, others, p->bytes_max);
		return WC_TOO_LARGE;
	}
	return WC_OK;
}

static WcStatus
add_stream(WcPending *p, const WcLogRecord *b, Stream **stream, WcError *err)
{
	Stream	   *s = calloc(1, sizeof(*s));
	WcStatus	status;

	if (s == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a transaction");
	s->node.xid = b->xid;
	s->batch.database = b->database;
	s->batch.place = WC_RECORD_NO_PLACE;
	status = wc_xidtable_add(&p->streams, &s->node, err);
	if (status != WC_OK)
		free(s);
	else
		*stream = s;
	return status;
}

/* Who cuts a stream cuts it between operations.  What makes no sense the commit tells of. */
static void
tell_tables(WcPending *p, Stream *s)
{
	WcSlice		all = wc_buf_slice(&s->batch.bytes);

	while (s->looked < all.len)
	{
		WcDecoder	d = wc_decoder(wc_slice(all.data + s->looked, all.len - s->looked));
		uint32_t	table_id;
		WcOp		op;

		if (wc_batch_next_op(&d, &op, NULL) != WC_OK)
			return;				/* the rest of it has not come yet */
		s->looked += op.bytes.len;
		if (op.kind == WC_OP_CREATE_TABLE && wc_table_desc_peek_id(op.desc, &table_id))
			p->tables.made(p->tables.arg, table_id);
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
	s->marked = false;
	p->nprepared += !was_prepared && is_prepared(s);
}

WcStatus
wc_pending_append(WcPending *p, const WcLogRecord *b, WcError *err)
{
	Stream	   *s = stream_of(wc_xidtable_find(&p->streams, b->xid));
	bool		is_new = s == NULL;
	size_t		before;
	WcStatus	status = check(p, s, b, err);

	if (status == WC_OK && is_new)
		status = add_stream(p, b, &s, err);
	if (status != WC_OK)
		return status;

	before = s->batch.bytes.len;
	s->batch.bytes.len = (size_t) b->at;
	wc_buf_append_slice(&s->batch.bytes, b->bytes);
	if (s->batch.bytes.failed)
	{
		s->batch.bytes.failed = false;
		s->batch.bytes.len = before;
		if (is_new)
			wc_pending_drop(p, b->xid);
		return wc_error(err, WC_NO_MEMORY, "out of memory for a transaction's changes");
	}
	p->bytes += s->batch.bytes.len;
	assert(p->bytes >= before && p->bytes - before <= p->bytes_max);
	p->bytes -= before;
	note_flags(p, s, b->flags);
	if (b->place != WC_RECORD_NO_PLACE)
		s->batch.place = b->place;
	if (s->looked > b->at)
		s->looked = (size_t) b->at;
	if ((s->batch.flags & WC_RECORD_CATALOG) != 0)
		tell_tables(p, s);
	return WC_OK;
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
	assert(p->bytes >= s->batch.bytes.len);
	p->nprepared -= is_prepared(s);
	p->bytes -= s->batch.bytes.len;
	*batch = s->batch;
	free(s);
	return true;
}

void
wc_pending_drop(WcPending *p, uint64_t xid)
{
	WcPendingBatch batch;

	if (wc_pending_take(p, xid, &batch))
		wc_buf_free(&batch.bytes);
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

uint64_t
wc_pending_count(const WcPending *p)
{
	return p->streams.n;
}

uint64_t
wc_pending_nprepared(const WcPending *p)
{
	return p->nprepared;
}

uint64_t
wc_pending_bytes(const WcPending *p)
{
	return p->bytes;
}

bool
wc_pending_next(const WcPending *p, const void **node, WcPendingBytes *stream)
{
	WcXidNode  *next = wc_xidtable_next(&p->streams, *node);

	*node = next;
	if (next != NULL)
	{
		const Stream *s = stream_of(next);
		const WcPendingBatch *b = &s->batch;

		*stream = (WcPendingBytes) {
			.xid = next->xid,.database = b->database,.place = b->place,.flags = b->flags,.kept = s->marked,
				.bytes = wc_buf_slice(&b->bytes)
		};
	}
	return next != NULL;
}

void
wc_pending_marked(WcPending *p)
{
	for (WcXidNode *node = NULL; (node = wc_xidtable_next(&p->streams, node)) != NULL;)
		stream_of(node)->marked = true;
}

WcStatus
wc_pending_list(const WcPending *p, WcPendingBytes **list, size_t *n, WcError *err)
{
	const void *node = NULL;

	*n = 0;
	*list = malloc((p->streams.n + 1) * sizeof(**list));
	if (*list == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for the list of transactions under way");
	while (wc_pending_next(p, &node, &(*list)[*n]))
		(*n)++;
	return WC_OK;
}
