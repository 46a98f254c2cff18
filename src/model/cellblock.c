/*
 * model/cellblock.c: cells on their way to a backend.
 *
 * Both halves run once per cell of every scan: one reservation a cell, and no
 * call for a number of one or two bytes.
 */
#include "model/cellblock.h"

#include <assert.h>

#define BLOCK_CONTINUES		0x01
#define BLOCK_OPEN			0x02
#define BLOCK_END			0x04
#define BLOCK_COMMIT_TIMES	0x08
#define BLOCK_FLAGS			0x0f

/* An entry's tag: a row, or a cell with these bits. */
#define TAG_ROW				0x80
#define TAG_UNDECIDED		0x01	/* of a row */
#define TAG_OWED			0x02	/* of such a row: how many are owed follows */
#define TAG_NAMED			0x01	/* family and qualifier instead of a position */
#define TAG_TS				0x02	/* timestamp and type */
#define TAG_TTL				0x04
#define TAG_KEY_ONLY		0x08	/* no value */
#define TAG_COLUMN_SHIFT	4		/* a position up to 6 is in the tag; 7: a varint follows */
#define TAG_COLUMN_FOLLOWS	7

/* Beside the type: the timestamp is not the one of the commit. */
#define TYPE_GIVEN_TS		0x80
#define TYPE_PROVISIONAL	0x40	/* it is provisional: the cell has not been committed */
#define TYPE_FLAGS			(TYPE_GIVEN_TS | TYPE_PROVISIONAL)

/* Most bytes a cell's numbers take: tag, timestamp, type, and as varints the
 * position or family, TTL, and the lengths of qualifier and value. */
#define CELL_HEAD_MAX (1 + 8 + 1 + 4 * WC_VARINT_MAX)

/* --- writing ---------------------------------------------------------------- */

void
wc_block_begin(WcBlockWriter *w, WcBuf *buf, bool continues)
{
	w->buf = buf;
	w->start = buf->len;
	w->continues = continues;
	w->nrows = 0;
	w->ncells = 0;
	w->provisional_after = WC_TS_LATEST;
	wc_buf_append_u8(buf, continues ? BLOCK_CONTINUES : 0);
}

void
wc_block_row(WcBlockWriter *w, WcSlice row, bool undecided)
{
	uint8_t    *p = wc_buf_reserve(w->buf, 1 + WC_VARINT_MAX + row.len);

	assert(row.len > 0 && row.len <= WC_ROW_MAX);
	if (!p)
		return;
	*p++ = TAG_ROW | (undecided ? TAG_UNDECIDED : 0);
	p = wc_store_bytes(p, row);
	w->buf->len = (size_t) (p - w->buf->data);
	w->nrows++;
}

void
wc_block_row_owing(WcBlockWriter *w, WcSlice row, uint64_t owed)
{
	WcBlockMark mark = wc_block_mark(w);

	wc_block_row(w, row, true);
	wc_buf_append_varint(w->buf, owed);
	if (!w->buf->failed)
		w->buf->data[mark.len] |= TAG_OWED;
}

static uint8_t
type_and_flags(const WcBlockWriter *w, const WcCell *cell)
{
	if (cell->ts != cell->seq)
		return cell->type | TYPE_GIVEN_TS;
	return cell->seq > w->provisional_after ? cell->type | TYPE_PROVISIONAL : cell->type;
}

/* The tag of a cell that has a position, and the position if that is not in the tag. */
static inline uint8_t *
store_tag(uint8_t *p, uint8_t flags, uint32_t colno)
{
	if (colno < TAG_COLUMN_FOLLOWS)
	{
		*p++ = (uint8_t) (flags | colno << TAG_COLUMN_SHIFT);
		return p;
	}
	*p++ = flags | TAG_COLUMN_FOLLOWS << TAG_COLUMN_SHIFT;
	return wc_store_varint(p, colno);
}

void
wc_block_value(WcBlockWriter *w, uint32_t colno, WcSlice value)
{
	uint8_t    *p = wc_buf_reserve(w->buf, CELL_HEAD_MAX + value.len);

	if (!p)
		return;
	p = wc_store_bytes(store_tag(p, 0, colno), value);
	w->buf->len = (size_t) (p - w->buf->data);
	w->ncells++;
}

void
wc_block_cell(WcBlockWriter *w, uint32_t colno, const WcCell *cell, bool want_ts, bool key_only)
{
	bool		named = colno == WC_NO_COLUMN;
	bool		ttl = want_ts && cell->ttl_us > 0;
	size_t		n = CELL_HEAD_MAX + (named ? cell->qualifier.len : 0) + (key_only ? 0 : cell->value.len);
	uint8_t		flags = (uint8_t) ((want_ts ? TAG_TS : 0) | (ttl ? TAG_TTL : 0) | (key_only ? TAG_KEY_ONLY : 0));
	uint8_t    *p = wc_buf_reserve(w->buf, n);

	if (!p)
		return;
	if (named)
	{
		*p++ = flags | TAG_NAMED;
		p = wc_store_varint(p, cell->family);
		p = wc_store_bytes(p, cell->qualifier);
	}
	else
		p = store_tag(p, flags, colno);
	if (want_ts)
	{
		wc_store_u64(p, (uint64_t) cell->ts);
		p[8] = type_and_flags(w, cell);
		p += 9;
	}
	if (ttl)
		p = wc_store_varint(p, (uint64_t) cell->ttl_us);
	if (!key_only)
		p = wc_store_bytes(p, cell->value);
	w->buf->len = (size_t) (p - w->buf->data);
	w->ncells++;
}

void
wc_block_named(WcBlockWriter *w, uint32_t family, WcSlice bytes)
{
	uint8_t    *p = wc_buf_reserve(w->buf, 1 + WC_VARINT_MAX + bytes.len);

	if (!p)
		return;
	*p++ = TAG_NAMED;
	p = wc_store_varint(p, family);
	memcpy(p, bytes.data, bytes.len);
	w->buf->len = (size_t) (p + bytes.len - w->buf->data);
	w->ncells++;
}

void
wc_block_finish(WcBlockWriter *w, bool open, bool end)
{
	assert(!(open && end));
	if (w->buf->failed)
		return;
	w->buf->data[w->start] |= (uint8_t) ((open ? BLOCK_OPEN : 0) | (end ? BLOCK_END : 0));
}

void
wc_block_note_commit_times(WcBlockWriter *w)
{
	if (!w->buf->failed)
		w->buf->data[w->start] |= BLOCK_COMMIT_TIMES;
}

void
wc_block_end(WcBuf *block)
{
	assert(block->len > 0 && (block->data[0] & BLOCK_OPEN) == 0);
	block->data[0] |= BLOCK_END;
}

bool
wc_block_join(WcBlockWriter *w, WcSlice block)
{
	assert(block.len > 0);
	wc_buf_append_slice(w->buf, wc_slice(block.data + 1, block.len - 1));
	return (block.data[0] & BLOCK_OPEN) != 0;
}

/* --- reading ---------------------------------------------------------------- */

WcStatus
wc_block_open(WcBlockReader *r, WcSlice block, WcError *err)
{
	uint8_t		flags;

	r->d = wc_decoder(block);
	flags = wc_decode_u8(&r->d);
	if (r->d.failed || (flags & ~BLOCK_FLAGS) != 0 ||
		(flags & (BLOCK_OPEN | BLOCK_END)) == (BLOCK_OPEN | BLOCK_END) ||
		((flags & BLOCK_COMMIT_TIMES) != 0 && (flags & (BLOCK_OPEN | BLOCK_CONTINUES)) != 0))
	{
		wc_decoder_fail(&r->d);
		return wc_error(err, WC_CORRUPT, "cell block of %zu bytes has no valid head", block.len);
	}
	r->continues = (flags & BLOCK_CONTINUES) != 0;
	r->open = (flags & BLOCK_OPEN) != 0;
	r->end = (flags & BLOCK_END) != 0;
	r->commit_times = (flags & BLOCK_COMMIT_TIMES) != 0;
	r->in_row = r->continues;
	r->undecided = false;
	r->owed = 0;
	r->provisional = false;
	return WC_OK;
}

bool
wc_block_whole_rows(WcSlice block, WcSlice *rows)
{
	WcBlockReader r;

	if (wc_block_open(&r, block, NULL) != WC_OK || r.continues || r.open)
		return false;
	*rows = wc_slice(r.d.p, wc_decoder_left(&r.d));
	return true;
}

/*
 * As wc_decode_varint, with numbers of two bytes (lengths of most values, small
 * ids) read without a call either.
 */
static inline uint64_t
take_varint(WcDecoder *d)
{
	const uint8_t *p = d->p;

	if (d->end - p >= 2)
	{
		if (p[0] < 0x80)
		{
			d->p = p + 1;
			return p[0];
		}
		if (p[1] < 0x80)
		{
			d->p = p + 2;
			return (uint64_t) (p[0] & 0x7F) | (uint64_t) p[1] << 7;
		}
	}
	return wc_decode_varint(d);
}

static inline WcSlice
take_bytes(WcDecoder *d)
{
	uint64_t	n = take_varint(d);
	WcSlice		s;

	if (n > wc_decoder_left(d))
	{
		wc_decoder_fail(d);
		return wc_slice(NULL, 0);
	}
	s = wc_slice(d->p, (size_t) n);
	d->p += n;
	return s;
}

/* Which column: false when the bytes cannot be right. */
static inline bool
take_column(WcDecoder *d, uint8_t tag, WcCell *cell, uint32_t *colno)
{
	uint64_t	n = tag >> TAG_COLUMN_SHIFT;

	if ((tag & TAG_NAMED) != 0)
	{
		uint64_t	family = take_varint(d);

		cell->qualifier = take_bytes(d);
		cell->family = (uint32_t) family;
		*colno = WC_NO_COLUMN;
		return n == 0 && family <= UINT32_MAX && cell->qualifier.len <= WC_QUALIFIER_MAX;
	}
	if (n == TAG_COLUMN_FOLLOWS)
	{
		n = take_varint(d);
		if (n >= WC_COLUMNS_MAX)
			return false;
	}
	*colno = (uint32_t) n;
	return true;
}

/* Timestamp and type, and the TTL when there is one. */
static inline bool
take_time(WcDecoder *d, uint8_t tag, WcCell *cell, bool *provisional)
{
	uint64_t	n;
	uint8_t		flags;

	if (wc_decoder_left(d) < 9)
		return false;
	n = wc_load_u64(d->p);
	cell->ts = (int64_t) n;
	cell->type = d->p[8] & (uint8_t) ~TYPE_FLAGS;
	flags = d->p[8] & TYPE_FLAGS;
	cell->seq = (flags & TYPE_GIVEN_TS) != 0 ? WC_SEQ_UNKNOWN : cell->ts;
	*provisional = (flags & TYPE_PROVISIONAL) != 0;
	d->p += 9;
	if (n > INT64_MAX || flags == TYPE_FLAGS || !wc_cell_type_valid(cell->type))
		return false;
	if ((tag & TAG_TTL) == 0)
		return true;
	n = take_varint(d);
	cell->ttl_us = (int64_t) n;
	return n > 0 && n <= INT64_MAX;
}

/*
 * Most cells of maps: named, without numbers, and with lengths below 128.  p is behind the tag.  False: the cell has
 * another form, or is damaged; nothing has been read.
 */
static inline bool
take_short_named(WcBlockReader *r, const uint8_t *p, WcCell *cell, uint32_t *colno)
{
	const uint8_t *end = r->d.end;
	const uint8_t *value;

	if (end - p < 3 || p[0] >= 0x80 || p[1] >= 0x80 || end - p - 2 <= p[1])
		return false;
	value = p + 2 + p[1];
	if (*value >= 0x80 || end - value <= *value)
		return false;
	*colno = WC_NO_COLUMN;
	cell->family = p[0];
	cell->qualifier = wc_slice(p + 2, p[1]);
	cell->type = WC_PUT;
	cell->ts = 0;
	cell->ttl_us = 0;
	cell->seq = WC_SEQ_UNKNOWN;
	r->provisional = false;
	cell->value = wc_slice(value + 1, *value);
	r->d.p = value + 1 + *value;
	return true;
}

static WcBlockEntry
corrupt(WcBlockReader *r)
{
	wc_decoder_fail(&r->d);
	return WC_BLOCK_CORRUPT;
}

WcBlockEntry
wc_block_next(WcBlockReader *r, WcSlice *row, WcCell *cell, uint32_t *colno)
{
	WcDecoder  *d = &r->d;		/* no copy: it would wait for the stores of its halves */
	uint8_t		tag;

	if (d->p == d->end)
		return d->failed ? WC_BLOCK_CORRUPT : WC_BLOCK_DONE;
	tag = *d->p++;
	if (tag < TAG_ROW)
	{
		if (tag == TAG_NAMED && r->in_row && take_short_named(r, d->p, cell, colno))
			return WC_BLOCK_CELL;
		if (!r->in_row || !take_column(d, tag, cell, colno))
			return corrupt(r);
		cell->ts = 0;
		cell->type = WC_PUT;
		cell->ttl_us = 0;
		cell->seq = WC_SEQ_UNKNOWN;
		r->provisional = false;
		if ((tag & TAG_TS) != 0)
		{
			if (!take_time(d, tag, cell, &r->provisional))
				return corrupt(r);
		}
		else if ((tag & TAG_TTL) != 0)
			return corrupt(r);
		if ((tag & TAG_KEY_ONLY) != 0)
			cell->value = wc_slice(NULL, 0);
		else
			cell->value = take_bytes(d);
		if (d->failed)
			return corrupt(r);
		return WC_BLOCK_CELL;
	}

	if (tag > (TAG_ROW | TAG_UNDECIDED) && tag != (TAG_ROW | TAG_UNDECIDED | TAG_OWED))
		return corrupt(r);
	*row = take_bytes(d);
	r->owed = (tag & TAG_OWED) != 0 ? take_varint(d) : 0;
	if (d->failed || row->len == 0 || row->len > WC_ROW_MAX)
		return corrupt(r);
	r->in_row = true;
	r->undecided = (tag & TAG_UNDECIDED) != 0;
	return WC_BLOCK_ROW;
}
