/*
 * rpc/logcheck.c: is what the log says of a transaction what the applier was given?
 */
#include "rpc/logcheck.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "read/txn/txn.h"
#include "rpc/pending.h"
#include "rpc/xidtable.h"

/* Commits that were applied and not read in the log yet; beyond, they are skipped. */
#define NOTES_MAX 1000000

typedef struct Digest
{
	uint64_t	len;
	uint64_t	hash;			/* FNV-1a */
} Digest;

#define DIGEST_INIT {0, UINT64_C(0xcbf29ce484222325)}

/* Of one transaction. */
typedef struct Note
{
	WcXidNode	node;			/* first */
	bool		skip;			/* its stream is not whole */
	Digest		applied;
} Note;

struct WcLogCheck
{
	bool		compare;
	WcPending  *pending;		/* the follower's, as counts */
	WcLogCheckCounts counts;

	pthread_mutex_t mutex;		/* for the notes */
	WcXidTable	notes;
};

static void
add_bytes(Digest *digest, WcSlice bytes)
{
	uint64_t	hash = digest->hash;

	for (size_t i = 0; i < bytes.len; i++)
		hash = (hash ^ bytes.data[i]) * UINT64_C(0x100000001b3);
	digest->hash = hash;
	digest->len += bytes.len;
}

/* Of its operations in the order in which they were made. */
static Digest
digest_txn(const WcTxn *txn)
{
	Digest		digest = DIGEST_INIT;
	size_t		nrows;
	const WcTxnEntry *rows = wc_txn_entries(txn, &nrows);
	size_t		ncatalog = wc_txn_ncatalog(txn);
	size_t		row = 0;

	for (size_t i = 0; i <= ncatalog; i++)
	{
		uint32_t	opno = UINT32_MAX;
		WcOp		op = {0};

		if (i < ncatalog && wc_txn_catalog_op(txn, i, &op, &opno, NULL) != WC_OK)
			return (Digest) DIGEST_INIT;	/* it has been read before: that it cannot be is a difference */
		for (; row < nrows && rows[row].opno < opno; row++)
			add_bytes(&digest, wc_slice(rows[row].bytes, rows[row].len));
		add_bytes(&digest, op.bytes);
	}
	return digest;
}

WcStatus
wc_logcheck_create(bool compare, uint64_t bytes_max, WcLogCheck **check, WcError *err)
{
	WcLogCheck *c = calloc(1, sizeof(*c));
	WcStatus	status;

	if (c == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory");
	status = wc_pending_create(bytes_max, &c->pending, err);
	if (status != WC_OK)
	{
		free(c);
		return status;
	}
	c->compare = compare;
	pthread_mutex_init(&c->mutex, NULL);
	*check = c;
	return WC_OK;
}

void
wc_logcheck_free(WcLogCheck *c)
{
	WcXidNode  *node;

	if (c == NULL)
		return;
	while ((node = wc_xidtable_remove_before(&c->notes, UINT64_MAX)) != NULL)
		free(node);
	wc_xidtable_free(&c->notes);
	wc_pending_free(c->pending);
	pthread_mutex_destroy(&c->mutex);
	free(c);
}

/* With the mutex held; NULL: no memory, or too many. */
static Note *
make_note(WcLogCheck *c, uint64_t xid)
{
	Note	   *note = (Note *) wc_xidtable_find(&c->notes, xid);

	if (note != NULL || c->notes.n >= NOTES_MAX)
		return note;
	note = calloc(1, sizeof(*note));
	if (note == NULL)
		return NULL;
	note->node.xid = xid;
	note->applied = (Digest) DIGEST_INIT;
	if (wc_xidtable_add(&c->notes, &note->node, NULL) == WC_OK)
		return note;
	free(note);
	return NULL;
}

/* The transaction's note, for the caller to free; NULL: there is none. */
static Note *
take_note(WcLogCheck *c, uint64_t xid)
{
	Note	   *note;

	pthread_mutex_lock(&c->mutex);
	note = (Note *) wc_xidtable_remove(&c->notes, xid);
	pthread_mutex_unlock(&c->mutex);
	return note;
}

void
wc_logcheck_applied(WcLogCheck *c, uint64_t xid, const WcTxn *txn)
{
	Digest		digest;
	Note	   *note;

	if (!c->compare)
		return;
	digest = digest_txn(txn);
	pthread_mutex_lock(&c->mutex);
	note = make_note(c, xid);
	if (note != NULL)
		note->applied = digest;
	pthread_mutex_unlock(&c->mutex);
	if (note == NULL)
		wc_log(WC_LOG_ERROR, "could not note what was applied of transaction %" PRIu64 ": it will seem to differ from the log",
			   xid);
}

/* --- what is read ------------------------------------------------------------ */

static bool
is_skipped(WcLogCheck *c, uint64_t xid)
{
	Note	   *note;
	bool		skip;

	pthread_mutex_lock(&c->mutex);
	note = (Note *) wc_xidtable_find(&c->notes, xid);
	skip = note != NULL && note->skip;
	pthread_mutex_unlock(&c->mutex);
	return skip;
}

static void
skip(WcLogCheck *c, uint64_t xid)
{
	Note	   *note;

	wc_pending_drop(c->pending, xid);
	pthread_mutex_lock(&c->mutex);
	note = make_note(c, xid);
	if (note != NULL)
		note->skip = true;
	pthread_mutex_unlock(&c->mutex);
}

void
wc_logcheck_batch(WcLogCheck *c, const WcLogRecord *batch)
{
	WcError		err;

	c->counts.batches++;
	c->counts.batch_bytes += batch->bytes.len;
	if (is_skipped(c, batch->xid))
		return;
	switch (wc_pending_append(c->pending, batch, &err))
	{
		case WC_OK:
			return;
		case WC_CORRUPT:
			wc_log(WC_LOG_ERROR, "%s", err.message);
			c->counts.differ++;
			return;
		default:
			wc_log(WC_LOG_ERROR, "transaction %" PRIu64 " is not compared with the log: %s  %s", batch->xid, err.message,
				   err.detail);
			skip(c, batch->xid);
			return;
	}
}

static void
compare(WcLogCheck *c, uint64_t xid, const Note *note, const WcPendingBatch *batch)
{
	const Digest none = DIGEST_INIT;
	const Digest *applied = note != NULL ? &note->applied : &none;
	Digest		read = DIGEST_INIT;

	add_bytes(&read, wc_buf_slice(&batch->bytes));
	c->counts.compared++;
	if (read.len == applied->len && read.hash == applied->hash)
		return;
	c->counts.differ++;
	wc_log(WC_LOG_ERROR, "transaction %" PRIu64 " differs: the log has %" PRIu64 " bytes (digest %016" PRIx64
		   "), applied were %" PRIu64 " (%016" PRIx64 ")", xid, read.len, read.hash, applied->len, applied->hash);
}

bool
wc_logcheck_commit(WcLogCheck *c, uint64_t xid, uint16_t *place)
{
	Note	   *note = take_note(c, xid);
	WcPendingBatch batch = {.place = WC_RECORD_NO_PLACE,.bytes = WC_BUF_INIT};
	bool		logged = wc_pending_take(c->pending, xid, &batch);

	if (logged || note != NULL)
	{
		c->counts.commits++;
		if (note != NULL && note->skip)
			c->counts.skipped++;
		else if (c->compare)
			compare(c, xid, note, &batch);
	}
	*place = batch.place;
	wc_buf_free(&batch.bytes);
	free(note);
	return logged;
}

void
wc_logcheck_abort(WcLogCheck *c, uint64_t xid)
{
	Note	   *note = take_note(c, xid);
	WcPendingBatch batch = {.bytes = WC_BUF_INIT};

	if (wc_pending_take(c->pending, xid, &batch) || note != NULL)
		c->counts.aborts++;
	wc_buf_free(&batch.bytes);
	free(note);
}

void
wc_logcheck_running(WcLogCheck *c, uint64_t oldest_xid)
{
	WcXidNode  *note;

	c->counts.aborts += wc_pending_drop_before(c->pending, oldest_xid);
	pthread_mutex_lock(&c->mutex);
	while ((note = wc_xidtable_remove_before(&c->notes, oldest_xid)) != NULL)
		free(note);
	pthread_mutex_unlock(&c->mutex);
}

void
wc_logcheck_counts(const WcLogCheck *c, WcLogCheckCounts *counts)
{
	*counts = c->counts;
	counts->pending = wc_pending_count(c->pending);
	counts->pending_bytes = wc_pending_bytes(c->pending);
}
