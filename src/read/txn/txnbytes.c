/*
 * read/txn/txnbytes.c: the bytes of an open transaction's operations.
 *
 * They lie in chunks that never move, for entries and views point into them.  What a
 * savepoint cuts off is given back at once, but for what an open view may look at: that is
 * kept, counted, and not written over.
 */
#include <assert.h>
#include <stdlib.h>

#include "read/txn/txnstate.h"

#define CHUNK_FIRST (8 * 1024)

static WcTxnChunk *
add_chunk(WcTxnBytes *b, uint64_t offset, size_t cap)
{
	WcTxnChunk *chunk = malloc(sizeof(WcTxnChunk) + cap);

	if (chunk == NULL)
		return NULL;
	*chunk = (WcTxnChunk) {.before = b->last,.offset = offset,.number = ++b->last_number,.cap = cap};
	b->last = chunk;
	return chunk;
}

uint8_t *
wc_txnbytes_place(WcTxnBytes *b, uint64_t offset, size_t n)
{
	WcTxnChunk *last = b->last;
	size_t		cap = last == NULL ? CHUNK_FIRST : WC_BATCH_CHUNK;

	if (last == NULL || last->kept > 0 || last->cap - last->len < n)
		last = add_chunk(b, offset, cap > n ? cap : n);
	return last ? last->data + last->len : NULL;
}

void
wc_txnbytes_add(WcTxnBytes *b, size_t n)
{
	assert(b->last != NULL && b->last->cap - b->last->len >= n);
	b->last->len += n;
}

/* --- cutting --------------------------------------------------------------*/

/* May an open view look at it?  The youngest sees most. */
static bool
is_viewed(const WcTxnBytes *b, const WcTxnChunk *chunk)
{
	return b->views != NULL && chunk->number <= b->views->upto;
}

static void
drop_last(WcTxnBytes *b)
{
	WcTxnChunk *chunk = b->last;

	b->last = chunk->before;
	if (is_viewed(b, chunk))
	{
		b->kept += chunk->len;
		chunk->before = b->cut;
		b->cut = chunk;
		return;
	}
	assert(b->kept >= chunk->kept);
	b->kept -= chunk->kept;
	free(chunk);
}

/* The bytes that were cut off the last chunk are room for new operations, if no view can read them. */
static void
use_room(WcTxnBytes *b)
{
	if (b->last == NULL || is_viewed(b, b->last))
		return;
	b->kept -= b->last->kept;
	b->last->kept = 0;
}

void
wc_txnbytes_cut(WcTxnBytes *b, uint64_t offset)
{
	WcTxnChunk *last;

	while (b->last != NULL && b->last->offset >= offset)
		drop_last(b);
	last = b->last;
	if (last != NULL && last->offset + last->len > offset)
	{
		size_t		n = (size_t) (last->offset + last->len - offset);

		last->len -= n;
		last->kept += n;
		b->kept += n;
	}
	use_room(b);
}

void
wc_txnbytes_reset(WcTxnBytes *b, bool memory)
{
	assert(b->views == NULL && b->cut == NULL);
	while (b->last != NULL && (b->last->before != NULL || !memory || b->last->cap > WC_BATCH_CHUNK))
		drop_last(b);
	if (b->last != NULL)
		b->last->len = b->last->kept = b->last->offset = 0;
	b->kept = 0;
}

/* --- views ----------------------------------------------------------------*/

void
wc_txnbytes_view_opened(WcTxnBytes *b, WcTxnViewLink *view)
{
	view->upto = b->last_number;
	view->younger = NULL;
	view->older = b->views;
	if (view->older != NULL)
		view->older->younger = view;
	b->views = view;
}

/* Frees the cut-off chunks that no view can read any more.  Cut-off bytes in a chunk that others follow stay: their room
 * is lost. */
static void
free_cut(WcTxnBytes *b)
{
	WcTxnChunk **link = &b->cut;

	while (*link != NULL)
	{
		WcTxnChunk *chunk = *link;

		if (is_viewed(b, chunk))
			link = &chunk->before;
		else
		{
			*link = chunk->before;
			assert(b->kept >= chunk->len + chunk->kept);
			b->kept -= chunk->len + chunk->kept;
			free(chunk);
		}
	}
	use_room(b);
}

void
wc_txnbytes_view_closed(WcTxnBytes *b, WcTxnViewLink *view)
{
	if (view->older != NULL)
		view->older->younger = view->younger;
	if (view->younger != NULL)
		view->younger->older = view->older;
	else
		b->views = view->older;
	if (b->kept > 0)
		free_cut(b);
}
