/*
 * wire/shared/written.c: a ring of notes.
 */
#include "wire/shared/written.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"

/* Bytes of a row's key that a note has. */
#define KEPT_MAX 24

/* A search with more ranges looks at all rows between the first and the last. */
#define RANGES_MAX 16

typedef struct Note
{
	uint64_t	xid;
	uint64_t	greatest;		/* of all ids so far */
	uint32_t	table_id;
	uint32_t	hash;			/* of the key */
	uint8_t		kept_len;
	bool		cut;			/* the key is longer than the bytes that are kept */
	bool		all;			/* any row of the table; there is no key */
	uint8_t		kept[KEPT_MAX];
} Note;

/* A prepared transaction that has made notes. */
typedef struct Prepared
{
	uint64_t	xid;			/* 0: none */
	uint64_t	first;			/* its first note */
} Prepared;

struct WcWritten
{
	uint64_t	n;				/* notes that were made; note i is at i % WC_WRITTEN_MAX until it is overwritten */
	_Atomic uint64_t first;		/* see wc_written_first; UINT64_MAX: neither called, nor has a note been made */
	uint32_t	nprocesses;
	uint32_t	nprepared;
	Note		notes[WC_WRITTEN_MAX];
	_Atomic uint64_t making[];	/* [nprocesses], 1 + the first note of the process's transaction, 0: it has made none; then the
								 * prepared transactions */
};

static Prepared *
prepared_of(const WcWritten *w)
{
	return (Prepared *) (w->making + w->nprocesses);
}

size_t
wc_written_size(uint32_t nprocesses, uint32_t nprepared)
{
	return sizeof(WcWritten) + nprocesses * sizeof(uint64_t) + nprepared * sizeof(Prepared);
}

WcWritten *
wc_written_init(void *memory, uint32_t nprocesses, uint32_t nprepared)
{
	WcWritten  *w = memory;

	atomic_init(&w->first, UINT64_MAX);
	w->nprocesses = nprocesses;
	w->nprepared = nprepared;
	return w;
}

/* --- transactions that run ------------------------------------------------------------ */

void
wc_written_begin(WcWritten *w, uint32_t process)
{
	if (atomic_load(&w->making[process]) == 0)
		atomic_store(&w->making[process], w->n + 1);
}

void
wc_written_end(WcWritten *w, uint32_t process)
{
	atomic_store(&w->making[process], 0);
}

void
wc_written_prepare(WcWritten *w, uint32_t process, uint64_t xid, WcWrittenRuns runs)
{
	uint64_t	making = atomic_load(&w->making[process]);
	Prepared   *prepared = prepared_of(w);

	if (making == 0)
		return;
	for (uint32_t i = 0; i < w->nprepared; i++)
	{
		if (prepared[i].xid != 0 && runs(prepared[i].xid))
			continue;
		prepared[i] = (Prepared) {xid, making - 1};
		return;
	}
}

uint64_t
wc_written_floor(const WcWritten *w, WcWrittenRuns runs)
{
	const Prepared *prepared = prepared_of(w);
	uint64_t	floor = w->n;

	for (uint32_t i = 0; i < w->nprocesses; i++)
	{
		uint64_t	making = atomic_load(&w->making[i]);

		if (making != 0 && making - 1 < floor)
			floor = making - 1;
	}
	for (uint32_t i = 0; i < w->nprepared; i++)
	{
		if (prepared[i].xid != 0 && prepared[i].first < floor && runs(prepared[i].xid))
			floor = prepared[i].first;
	}
	return floor;
}

/* --- notes ---------------------------------------------------------------------------- */

static const Note *
note_at(const WcWritten *w, uint64_t i)
{
	return &w->notes[i % WC_WRITTEN_MAX];
}

static Note *
add(WcWritten *w, uint64_t xid, uint32_t table_id)
{
	uint64_t	greatest = w->n > 0 ? note_at(w, w->n - 1)->greatest : 0;
	Note	   *note = &w->notes[w->n % WC_WRITTEN_MAX];

	if (w->n == 0 && xid < atomic_load(&w->first))
		atomic_store(&w->first, xid);
	memset(note, 0, sizeof(*note));
	note->xid = xid;
	note->greatest = greatest > xid ? greatest : xid;
	note->table_id = table_id;
	w->n++;
	return note;
}

static uint32_t
hash_of(WcSlice row)
{
	return (uint32_t) wc_hash_bytes(0, row);
}

void
wc_written_row(WcWritten *w, uint64_t xid, uint32_t table_id, WcSlice row)
{
	Note	   *note = add(w, xid, table_id);

	note->cut = row.len > KEPT_MAX;
	note->kept_len = (uint8_t) (note->cut ? KEPT_MAX : row.len);
	memcpy(note->kept, row.data, note->kept_len);
	note->hash = hash_of(row);
}

void
wc_written_table(WcWritten *w, uint64_t xid, uint32_t table_id)
{
	add(w, xid, table_id)->all = true;
}

/* Can the row be in the range?  Of a row that was cut only the first bytes are known, and the hash. */
static bool
may_contain(const WcRange *range, const Note *note)
{
	WcSlice		kept = wc_slice(note->kept, note->kept_len);
	int			c;

	if (note->all)
		return true;
	if (!note->cut)
		return wc_range_contains(range, kept);
	if (wc_range_is_point(range))
		return range->start.len > KEPT_MAX && memcmp(range->start.data, kept.data, KEPT_MAX) == 0 &&
			hash_of(range->start) == note->hash;
	if (range->start.len > 0 && memcmp(kept.data, range->start.data, range->start.len < KEPT_MAX ? range->start.len : KEPT_MAX) < 0)
		return false;
	if (range->stop.len == 0)
		return true;
	c = memcmp(kept.data, range->stop.data, range->stop.len < KEPT_MAX ? range->stop.len : KEPT_MAX);
	return c < 0 || (c == 0 && range->stop.len > KEPT_MAX);
}

static bool
is_wanted(const WcWrittenSearch *s, const Note *note)
{
	if (note->table_id != s->table_id || note->xid < s->since || note->xid == s->own)
		return false;
	if (s->nranges == 0)
		return true;
	if (s->nranges > RANGES_MAX)
	{
		WcRange		hull = s->ranges[0];

		hull.stop = s->ranges[s->nranges - 1].stop;
		hull.stop_inclusive = s->ranges[s->nranges - 1].stop_inclusive;
		return may_contain(&hull, note);
	}
	for (uint32_t i = 0; i < s->nranges; i++)
	{
		if (may_contain(&s->ranges[i], note))
			return true;
	}
	return false;
}

static bool
is_among(const uint64_t *xids, uint32_t n, uint64_t xid)
{
	for (uint32_t i = n; i > 0; i--)
	{
		if (xids[i - 1] == xid)
			return true;
	}
	return false;
}

/* The number of notes that are overwritten: those before the oldest that is kept. */
static uint64_t
overwritten(const WcWritten *w)
{
	return w->n > WC_WRITTEN_MAX ? w->n - WC_WRITTEN_MAX : 0;
}

uint32_t
wc_written_find(const WcWritten *w, WcWrittenSearch *s, uint64_t writers[WC_WRITERS_MAX])
{
	uint64_t	end = overwritten(w) > s->floor ? overwritten(w) : s->floor;
	uint64_t	i = s->at < w->n ? s->at : w->n;
	uint32_t	n = 0;

	for (; i > end && n < WC_WRITERS_MAX && note_at(w, i - 1)->greatest >= s->since; i--)
	{
		const Note *note = note_at(w, i - 1);

		if (is_wanted(s, note) && !is_among(writers, n, note->xid))
			writers[n++] = note->xid;
	}
	s->at = i;
	return n;
}

uint64_t
wc_written_first(WcWritten *w, uint64_t next_xid)
{
	uint64_t	none = UINT64_MAX;

	(void) atomic_compare_exchange_strong(&w->first, &none, next_xid);
	return atomic_load(&w->first);
}

bool
wc_written_forgotten(const WcWritten *w, const WcWrittenSearch *s)
{
	if (s->since == 0)
		return overwritten(w) > s->floor;
	/* the greatest id of the notes that were overwritten is not kept: that of the oldest note kept is not smaller */
	return overwritten(w) > 0 && note_at(w, overwritten(w))->greatest >= s->since;
}
