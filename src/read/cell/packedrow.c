/*
 * read/cell/packedrow.c: packing "row" as bytes.
 */
#include "read/cell/packedrow.h"

#include <assert.h>

#include "read/cell/quote.h"

/* --- writing --------------------------------------------------------------*/

/* Facts that are the same for all cells of a row. */
typedef struct Common
{
	uint8_t		flags;			/* of the row */
	int64_t		ts;
	int64_t		seq;
	size_t		room;			/* most bytes the cells can take */
} Common;

static void
find_common(const WcCell *cells, size_t ncells, Common *common)
{
	bool		puts = true;
	bool		one_a_column = true;
	bool		one_ts = true;
	bool		one_seq = true;
	bool		seq_is_ts = true;
	size_t		votes = 0;

	common->room = 0;
	for (size_t i = 0; i < ncells; i++)
	{
		const WcCell *c = &cells[i];

		if (c->type != WC_PUT || c->ttl_us > 0)
			puts = false;
		if (i > 0 && wc_slice_eq(c->qualifier, cells[i - 1].qualifier))
			one_a_column = false;
		if (c->ts != cells[0].ts)
			one_ts = false;
		if (c->seq != cells[0].seq)
			one_seq = false;
		if (c->seq != c->ts)
			seq_is_ts = false;

		/* the timestamp of most cells, if there is such a one */
		if (votes == 0)
			common->ts = c->ts;
		if (c->ts == common->ts)
			votes++;
		else
			votes--;
		common->room += 1 + c->qualifier.len + c->value.len + 3 * WC_VARINT_MAX + 16;
	}
	common->seq = cells[0].seq;
	common->flags = WC_PACKED_TS;
	if (puts)
		common->flags |= one_a_column ? WC_PACKED_SIMPLE : WC_PACKED_PUTS;
	if (one_seq && !seq_is_ts)
		common->flags |= WC_PACKED_WRITTEN_AT;
	if ((common->flags & WC_PACKED_SIMPLE) && one_ts && one_seq)
		common->flags |= WC_PACKED_PLAIN;
}

static uint8_t *
store_cell(uint8_t *p, const WcCell *c, const WcCell *before, const Common *common)
{
	uint8_t    *head = p++;

	*head = c->type;
	if (before != NULL && wc_slice_eq(before->qualifier, c->qualifier))
		*head |= WC_PACKED_CELL_SAME_COLUMN;
	else
		p = wc_store_bytes(p, c->qualifier);
	if (c->ts != common->ts)
	{
		*head |= WC_PACKED_CELL_TS;
		wc_store_u64(p, (uint64_t) c->ts);
		p += 8;
	}
	if (c->ttl_us > 0)
	{
		*head |= WC_PACKED_CELL_TTL;
		p = wc_store_varint(p, (uint64_t) c->ttl_us);
	}
	if (c->seq != c->ts && !(common->flags & WC_PACKED_WRITTEN_AT))
	{
		*head |= WC_PACKED_CELL_WRITTEN_AT;
		wc_store_u64(p, (uint64_t) c->seq);
		p += 8;
	}
	return wc_store_bytes(p, c->value);
}

void
wc_packedrow_append(WcBuf *out, const WcCell *cells, size_t ncells)
{
	Common		common;
	uint8_t    *start;
	uint8_t    *p;

	assert(ncells > 0);
	find_common(cells, ncells, &common);
	start = p = wc_buf_reserve(out, common.room + 2 + WC_VARINT_MAX + 16);
	if (p == NULL)
		return;
	*p++ = WC_PACKED_VERSION;
	*p++ = common.flags;
	p = wc_store_varint(p, ncells);
	wc_store_u64(p, (uint64_t) common.ts);
	p += 8;
	if (common.flags & WC_PACKED_WRITTEN_AT)
	{
		wc_store_u64(p, (uint64_t) common.seq);
		p += 8;
	}
	for (size_t i = 0; i < ncells; i++)
	{
		if (common.flags & WC_PACKED_PLAIN)
		{
			p = wc_store_bytes(p, cells[i].qualifier);
			p = wc_store_bytes(p, cells[i].value);
		}
		else
			p = store_cell(p, &cells[i], i > 0 ? &cells[i - 1] : NULL, &common);
	}
	out->len += (size_t) (p - start);
}

/* --- reading --------------------------------------------------------------*/

/* Most heads by far: a timestamp, no number of the write, and fewer than 128 cells. */
static inline bool
open_short(WcPackedRow *r, WcSlice value)
{
	const uint8_t *p = value.data;
	uint8_t		flags;

	if (value.len < 11 || p[0] != WC_PACKED_VERSION || p[2] > 0x7f || p[2] > value.len / 2)
		return false;
	flags = p[1] & (uint8_t) ~WC_PACKED_NO_MARKERS;
	if (flags != WC_PACKED_TS && p[1] != (WC_PACKED_SIMPLE | WC_PACKED_PLAIN | WC_PACKED_TS))
		return false;
	r->d = wc_decoder(wc_slice(p + 11, value.len - 11));
	r->flags = p[1];
	r->left = r->ncells = p[2];
	r->ts = (int64_t) wc_load_u64(p + 3);
	r->seq = 0;
	r->qualifier = wc_slice(NULL, 0);
	return r->ts >= 0;
}

WcStatus
wc_packedrow_open(WcPackedRow *r, WcSlice value, WcError *err)
{
	uint8_t		version;
	const uint8_t known = WC_PACKED_NO_MARKERS | WC_PACKED_PLAIN | WC_PACKED_TS | WC_PACKED_WRITTEN_AT;

	if (open_short(r, value))
		return WC_OK;
	r->d = wc_decoder(value);
	version = wc_decode_u8(&r->d);
	r->flags = wc_decode_u8(&r->d);

	/* every cell takes two bytes at least, so a count is never absurd */
	r->ncells = (uint32_t) wc_decode_varint_max(&r->d, value.len / 2);
	r->left = r->ncells;
	r->ts = 0;
	r->seq = 0;
	if (r->flags & WC_PACKED_TS)
		r->ts = (int64_t) wc_decode_u64(&r->d);
	if (r->flags & WC_PACKED_WRITTEN_AT)
		r->seq = (int64_t) wc_decode_u64(&r->d);
	r->qualifier = wc_slice(NULL, 0);
	if (r->d.failed || version != WC_PACKED_VERSION || (r->flags & ~known) != 0 || r->ts < 0 || r->seq < 0 ||
		((r->flags & WC_PACKED_PLAIN) && (r->flags & (WC_PACKED_SIMPLE | WC_PACKED_TS)) != (WC_PACKED_SIMPLE | WC_PACKED_TS)))
	{
		r->left = 0;
		return wc_error(err, WC_CORRUPT, "the value of a packed row is damaged");
	}
	return WC_OK;
}

/* Reads a length and the bytes; fast for short ones. */
static inline WcSlice
take_bytes(WcDecoder *d)
{
	if (d->p < d->end && *d->p < 0x80)
	{
		size_t		len = *d->p;

		if ((size_t) (d->end - d->p) > len)
		{
			WcSlice		s = wc_slice(d->p + 1, len);

			d->p += len + 1;
			return s;
		}
	}
	return wc_decode_bytes(d);
}

/* Reads the parts between the qualifier and the value of a cell with a head. */
static void
take_numbers(WcPackedRow *r, uint8_t head, WcCell *cell)
{
	cell->ts = (head & WC_PACKED_CELL_TS) ? (int64_t) wc_decode_u64(&r->d) : r->ts;
	cell->ttl_us = (head & WC_PACKED_CELL_TTL) ? (int64_t) wc_decode_varint_max(&r->d, INT64_MAX) : 0;
	if (head & WC_PACKED_CELL_WRITTEN_AT)
		cell->seq = (int64_t) wc_decode_u64(&r->d);
	else
		cell->seq = (r->flags & WC_PACKED_WRITTEN_AT) ? r->seq : cell->ts;
	if (cell->ts < 0 || cell->seq < 0)
		wc_decoder_fail(&r->d);
}

/* Sets the fields that are the same for all cells without heads. */
static inline void
set_plain(const WcPackedRow *r, WcCell *cell)
{
	cell->type = WC_PUT;
	cell->ts = r->ts;
	cell->ttl_us = 0;
	cell->seq = (r->flags & WC_PACKED_WRITTEN_AT) ? r->seq : r->ts;
}

/* Reads the value of a cell whose other parts have been read. */
static inline bool
take_value(WcPackedRow *r, WcCell *cell)
{
	cell->qualifier = r->qualifier;
	cell->value = take_bytes(&r->d);
	if (r->d.failed)
	{
		r->left = 0;
		return false;
	}
	r->left--;
	return true;
}

/* Reads the rest of a cell with a head, after its qualifier. */
static inline bool
take_rest(WcPackedRow *r, uint8_t head, WcCell *cell)
{
	cell->type = head & WC_PACKED_CELL_TYPE;
	if (!wc_cell_type_valid(cell->type))
		wc_decoder_fail(&r->d);
	take_numbers(r, head, cell);
	return take_value(r, cell);
}

/* Skips a length below 128 and the bytes; NULL: the length is greater, or the bytes are damaged. */
static inline const uint8_t *
skip_short(const uint8_t *p, const uint8_t *end)
{
	if (p == NULL || p >= end || *p >= 0x80 || (size_t) (end - p) <= *p)
		return NULL;
	return p + 1 + *p;
}

/* A cell whose lengths are below 128 and that, if it has a head, is a put without a TTL and a written-at. */
typedef struct ShortCell
{
	const uint8_t *start;
	const uint8_t *qualifier;	/* its length, then its bytes; so has the value.  NULL: not known */
	const uint8_t *ts;			/* NULL: the row's */
	const uint8_t *value;
	const uint8_t *behind;
} ShortCell;

/* Takes the cell at p apart; *cell is the one before it, or its qualifier is NULL.  False: it is no such cell, its column is not
 * known, or it is damaged. */
static inline bool
take_short(ShortCell *cell, const uint8_t *p, const uint8_t *end, bool headed)
{
	uint8_t		head = WC_PUT;

	cell->start = p;
	if (headed)
	{
		if (p >= end)
			return false;
		head = *p++;
		if ((head & ~(WC_PACKED_CELL_TS | WC_PACKED_CELL_SAME_COLUMN)) != WC_PUT)
			return false;
	}
	if ((head & WC_PACKED_CELL_SAME_COLUMN) == 0)
	{
		cell->qualifier = p;
		p = skip_short(p, end);
	}
	else if (cell->qualifier == NULL)
		return false;
	cell->ts = NULL;
	if (p != NULL && (head & WC_PACKED_CELL_TS) != 0)
	{
		cell->ts = p;
		p = end - p >= 8 ? p + 8 : NULL;
	}
	cell->value = p;
	cell->behind = skip_short(p, end);
	return cell->behind != NULL;
}

static inline WcSlice
short_bytes(const uint8_t *p)
{
	return wc_slice(p + 1, *p);
}

/* Gives a cell and moves behind it. */
static inline bool
give_short(WcPackedRow *r, const ShortCell *found, WcCell *cell)
{
	int64_t		ts = found->ts != NULL ? (int64_t) wc_load_u64(found->ts) : r->ts;

	if (ts < 0)
	{
		wc_decoder_fail(&r->d);
		r->left = 0;
		return false;
	}
	cell->type = WC_PUT;
	cell->ts = ts;
	cell->ttl_us = 0;
	cell->seq = (r->flags & WC_PACKED_WRITTEN_AT) ? r->seq : ts;
	/* each from its bytes: a copy of a field that was just written in two halves would wait for these stores */
	r->qualifier = short_bytes(found->qualifier);
	cell->qualifier = short_bytes(found->qualifier);
	cell->value = short_bytes(found->value);
	r->d.p = found->behind;
	r->left--;
	return true;
}

/* Moves to `next`, behind n cells of which `last` is the last (NULL: none). */
static inline void
move_short(WcPackedRow *r, const uint8_t *next, uint32_t n, const uint8_t *last)
{
	r->d.p = next;
	r->left -= n;
	if (last != NULL)
		r->qualifier = short_bytes(last);
}

bool
wc_packedrow_next(WcPackedRow *r, WcCell *cell)
{
	ShortCell	here = {.qualifier = NULL};
	uint8_t		head;

	if (r->left == 0)
		return false;
	if (r->flags & WC_PACKED_PLAIN)
	{
		if (take_short(&here, r->d.p, r->d.end, false))
			return give_short(r, &here, cell);
		r->qualifier = take_bytes(&r->d);
		set_plain(r, cell);
		return take_value(r, cell);
	}
	if (take_short(&here, r->d.p, r->d.end, true))
		return give_short(r, &here, cell);
	head = wc_decode_u8(&r->d);
	if (!(head & WC_PACKED_CELL_SAME_COLUMN))
		r->qualifier = take_bytes(&r->d);
	return take_rest(r, head, cell);
}

bool
wc_packedrow_next_column(WcPackedRow *r, WcCell *cell)
{
	const uint8_t *last = r->qualifier.data;

	do
	{
		if (!wc_packedrow_next(r, cell))
			return false;
	} while (last != NULL && r->qualifier.data == last);
	return true;
}

static inline uint8_t
take_head(WcDecoder *d)
{
	if (d->p < d->end)
		return *d->p++;
	wc_decoder_fail(d);
	return 0;
}

static inline void
skip_number(WcDecoder *d)
{
	if (wc_decoder_left(d) >= 8)
		d->p += 8;
	else
		wc_decoder_fail(d);
}

/* Skips the rest of a cell with a head, after its qualifier. */
static inline void
skip_rest(WcDecoder *d, uint8_t head)
{
	if (head & WC_PACKED_CELL_TS)
		skip_number(d);
	if (head & WC_PACKED_CELL_TTL)
		(void) wc_decode_varint(d);
	if (head & WC_PACKED_CELL_WRITTEN_AT)
		skip_number(d);
	(void) take_bytes(d);
}

/* Are all cells that have not been read puts, without these flags in their heads?  Not of a plain row. */
static bool
are_puts_without(const WcPackedRow *r, uint8_t flags)
{
	WcDecoder	d = r->d;

	for (uint32_t left = r->left; left > 0; left--)
	{
		uint8_t		head = take_head(&d);

		if ((head & (WC_PACKED_CELL_TYPE | flags)) != WC_PUT)
			return false;
		if (!(head & WC_PACKED_CELL_SAME_COLUMN))
			(void) take_bytes(&d);
		skip_rest(&d, head);
		if (d.failed)
			return false;
	}
	return true;
}

bool
wc_packedrow_puts_only(const WcPackedRow *r)
{
	ShortCell	here = {.start = r->d.p, .behind = r->d.p};
	WcPackedRow rest = *r;

	if (r->flags & WC_PACKED_NO_MARKERS)
		return true;
	while (rest.left > 0 && take_short(&here, here.behind, r->d.end, true))
		rest.left--;
	rest.d = wc_decoder(wc_slice(here.start, (size_t) (r->d.end - here.start)));
	return are_puts_without(&rest, WC_PACKED_CELL_TTL);
}

bool
wc_packedrow_has_commit_times(const WcPackedRow *r)
{
	if (r->flags & WC_PACKED_WRITTEN_AT)
		return false;
	return (r->flags & WC_PACKED_PLAIN) != 0 || are_puts_without(r, WC_PACKED_CELL_TTL | WC_PACKED_CELL_WRITTEN_AT);
}

bool
wc_packedrow_next_bytes(WcPackedRow *r, WcSlice *bytes)
{
	const uint8_t *start = r->d.p;
	const uint8_t *behind;

	if (r->left == 0)
		return false;
	behind = skip_short(skip_short(start, r->d.end), r->d.end);
	if (behind != NULL)
		r->d.p = behind;
	else
	{
		(void) take_bytes(&r->d);
		(void) take_bytes(&r->d);
	}
	r->left = r->d.failed ? 0 : r->left - 1;
	*bytes = wc_slice(start, (size_t) (r->d.p - start));
	return !r->d.failed;
}

void
wc_packedrow_seek(WcPackedRow *r, WcSlice qualifier, bool after)
{
	while (r->left > 0)
	{
		WcPackedRow here = *r;
		WcCell		cell;
		int			c;

		if (!wc_packedrow_next(r, &cell))
			return;
		c = wc_slice_cmp(cell.qualifier, qualifier);
		if (c > 0 || (c == 0 && !after))
		{
			*r = here;
			return;
		}
	}
}

typedef enum Found
{
	FOUND_COLUMN,				/* it has been read */
	FOUND_GAP,					/* the column is not there; the reader is before the next one */
	FOUND_NOTHING				/* not known */
} Found;

/* Gives the cell, which is the column's first, with `before` cells in front of it. */
static inline Found
found_short(WcPackedRow *r, const ShortCell *found, uint32_t before, WcCell *cell)
{
	r->left -= before;
	return give_short(r, found, cell) ? FOUND_COLUMN : FOUND_GAP;
}

/*
 * Is the column after `before` cells, or one more, where another column has an old version in front of it?  Or is the gap there where
 * the column would be?  If that is not known, the reader has not moved.
 */
static inline __attribute__((always_inline)) Found
find_expected(WcPackedRow *r, WcSlice qualifier, uint32_t before, bool headed, WcCell *cell)
{
	const uint8_t *end = r->d.end;
	const uint8_t *last = NULL; /* qualifier of the cell before */
	ShortCell	here = {.behind = r->d.p};

	if (before >= r->left)
		return FOUND_NOTHING;
	for (uint32_t i = 0; i < before; i++)
	{
		if (!take_short(&here, here.behind, end, headed))
			return FOUND_NOTHING;
		last = here.qualifier;
	}
	if (!take_short(&here, here.behind, end, headed))
		return FOUND_NOTHING;
	if (wc_slice_eq(short_bytes(here.qualifier), qualifier))
	{
		/* the column's first cell is the one that is looked for */
		if (headed && last != NULL && wc_slice_eq(short_bytes(last), qualifier))
			return FOUND_NOTHING;
		return found_short(r, &here, before, cell);
	}
	if (wc_slice_cmp(short_bytes(here.qualifier), qualifier) < 0)
	{
		if (before + 1 == r->left || !take_short(&here, here.behind, end, headed) || !wc_slice_eq(short_bytes(here.qualifier), qualifier))
			return FOUND_NOTHING;
		return found_short(r, &here, before + 1, cell);
	}
	if (last != NULL && wc_slice_cmp(short_bytes(last), qualifier) >= 0)
		return FOUND_NOTHING;
	move_short(r, here.start, before, last);
	return FOUND_GAP;
}

/* Goes through cells until the column, a later one, or a cell that is not short (FOUND_NOTHING). */
static Found
find_short(WcPackedRow *r, WcSlice qualifier, bool headed, uint32_t *before, WcCell *cell)
{
	const uint8_t *end = r->d.end;
	const uint8_t *last = NULL;
	uint32_t	n = 0;
	ShortCell	here = {.start = r->d.p, .behind = r->d.p};

	for (; n < r->left && take_short(&here, here.behind, end, headed); n++)
	{
		int			c = wc_slice_eq(short_bytes(here.qualifier), qualifier) ? 0 :
			wc_slice_cmp(short_bytes(here.qualifier), qualifier);

		if (c >= 0)
		{
			*before = n;
			move_short(r, here.start, n, last);
			return c == 0 && give_short(r, &here, cell) ? FOUND_COLUMN : FOUND_GAP;
		}
		last = here.qualifier;
	}
	*before = n;
	move_short(r, n < r->left ? here.start : here.behind, n, last);
	return r->left == 0 ? FOUND_GAP : FOUND_NOTHING;
}

/* As find_short, for cells of every kind. */
static bool
find_long(WcPackedRow *r, WcSlice qualifier, bool headed, uint32_t *before, WcCell *cell)
{
	/* before the first cell the qualifier is empty: a first cell may be of the column without a name, and say so */
	int			c = wc_slice_cmp(r->qualifier, qualifier);

	for (; r->left > 0; ++*before)
	{
		const uint8_t *start = r->d.p;
		uint8_t		head = headed ? take_head(&r->d) : WC_PUT;

		if (!(head & WC_PACKED_CELL_SAME_COLUMN))
		{
			WcSlice		q = take_bytes(&r->d);

			c = wc_slice_eq(q, qualifier) ? 0 : wc_slice_cmp(q, qualifier);
			if (c > 0 && !r->d.failed)
			{
				r->d.p = start;
				return false;
			}
			r->qualifier = q;
		}
		if (c == 0 && !r->d.failed)
		{
			if (headed)
				return take_rest(r, head, cell);
			set_plain(r, cell);
			return take_value(r, cell);
		}
		skip_rest(&r->d, head);
		if (!wc_cell_type_valid(head & WC_PACKED_CELL_TYPE))
			wc_decoder_fail(&r->d);
		r->left = r->d.failed ? 0 : r->left - 1;
	}
	return false;
}

/* Where the guess is wrong. */
static bool
find_anywhere(WcPackedRow *r, WcSlice qualifier, bool headed, uint32_t *before, WcCell *cell)
{
	Found		found = find_short(r, qualifier, headed, before, cell);

	return found == FOUND_NOTHING ? find_long(r, qualifier, headed, before, cell) : found == FOUND_COLUMN;
}

bool
wc_packedrow_find(WcPackedRow *r, WcSlice qualifier, uint32_t *before, WcCell *cell)
{
	bool		headed = (r->flags & WC_PACKED_PLAIN) == 0;
	Found		found = headed ? find_expected(r, qualifier, *before, true, cell) :
		find_expected(r, qualifier, *before, false, cell);

	return found == FOUND_NOTHING ? find_anywhere(r, qualifier, headed, before, cell) : found == FOUND_COLUMN;
}

WcStatus
wc_packedrow_status(const WcPackedRow *r, WcSlice row, WcError *err)
{
	char		quoted[WC_QUOTE_MAX];

	if (!r->d.failed)
		return WC_OK;
	wc_error(err, WC_CORRUPT, "the value of a packed row is damaged");
	wc_error_detail(err, "The row is %s.", wc_quote(quoted, sizeof(quoted), row));
	return WC_CORRUPT;
}
