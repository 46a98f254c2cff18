/*
 * wire/message/ring.h: a ring of bytes between one writer and one reader.
 *
 * The ring (two positions) and its data are in memory that both sides map; a WcRingEnd is one side's private
 * view.  Positions only grow; position modulo size is the place.  Written bytes are visible to the reader once
 * published; read bytes are free for the writer once released.  Publishing and releasing are sequentially
 * consistent stores: the other side's flag that it is about to sleep is read after them (wire/message/segment.h).
 * One thread an end.
 *
 * The other side's position is checked: one that no honest peer could have set
 * makes the ring look empty (or full) for ever and raises `broken`.
 */
#ifndef WC_WIRE_MESSAGE_RING_H
#define WC_WIRE_MESSAGE_RING_H

#include <stdatomic.h>

#include "base/slice.h"

typedef struct WcRing
{
	_Alignas(64) _Atomic uint64_t tail; /* written so far; the writer sets it */
	_Alignas(64) _Atomic uint64_t head; /* read so far; the reader sets it */
} WcRing;

typedef struct WcRingEnd
{
	WcRing	   *ring;
	uint8_t    *data;
	uint32_t	size;			/* a power of two */
	bool		broken;
	uint64_t	pos;			/* own position, not published yet */
	uint64_t	seen;			/* the other side's position, when it was read last */
} WcRingEnd;

static inline void
wc_ring_init(WcRing *ring)
{
	atomic_init(&ring->tail, 0);
	atomic_init(&ring->head, 0);
}

static inline WcRingEnd
wc_ring_end(WcRing *ring, uint8_t *data, uint32_t size)
{
	WcRingEnd	end = {ring, data, size, false, 0, 0};

	return end;
}

/* --- the writer's end ----------------------------------------------------- */

/* Bytes that may be written now. */
static inline size_t
wc_ring_room(WcRingEnd *w)
{
	uint64_t	used;

	w->seen = atomic_load_explicit(&w->ring->head, memory_order_seq_cst);
	used = w->pos - w->seen;
	if (used > w->size)
	{
		w->broken = true;
		return 0;
	}
	return w->size - used;
}

/* Copies as much of data as there is room for; returns how much that was. */
static inline size_t
wc_ring_write(WcRingEnd *w, const void *data, size_t len)
{
	size_t		n = w->size - (size_t) (w->pos - w->seen);
	size_t		at,
				first;

	if (w->broken)
		return 0;
	if (n < len)
		n = wc_ring_room(w);
	if (n > len)
		n = len;
	if (n == 0)
		return 0;
	at = (size_t) (w->pos & (w->size - 1));
	first = w->size - at < n ? w->size - at : n;
	memcpy(w->data + at, data, first);
	if (n > first)
		memcpy(w->data, (const uint8_t *) data + first, n - first);
	w->pos += n;
	return n;
}

static inline void
wc_ring_publish(WcRingEnd *w)
{
	atomic_store_explicit(&w->ring->tail, w->pos, memory_order_seq_cst);
}

/* --- the reader's end ----------------------------------------------------- */

/* Bytes that may be read now. */
static inline size_t
wc_ring_available(WcRingEnd *r)
{
	uint64_t	filled;

	r->seen = atomic_load_explicit(&r->ring->tail, memory_order_seq_cst);
	filled = r->seen - r->pos;
	if (filled > r->size)
	{
		r->broken = true;
		return 0;
	}
	return filled;
}

/* Copies up to len bytes out (out NULL: drops them); returns how many. */
static inline size_t
wc_ring_read(WcRingEnd *r, void *out, size_t len)
{
	size_t		n = (size_t) (r->seen - r->pos);
	size_t		at,
				first;

	if (r->broken)
		return 0;
	if (n < len)
		n = wc_ring_available(r);
	if (n > len)
		n = len;
	if (n == 0)
		return 0;
	if (out != NULL)
	{
		at = (size_t) (r->pos & (r->size - 1));
		first = r->size - at < n ? r->size - at : n;
		memcpy(out, r->data + at, first);
		if (n > first)
			memcpy((uint8_t *) out + first, r->data, n - first);
	}
	r->pos += n;
	return n;
}

static inline void
wc_ring_release(WcRingEnd *r)
{
	atomic_store_explicit(&r->ring->head, r->pos, memory_order_seq_cst);
}

#endif
