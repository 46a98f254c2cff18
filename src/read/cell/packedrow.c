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
	bool		simple = true;
	bool		one_ts = true;
	bool		one_seq = true;
	bool		seq_is_ts = true;
	size_t		votes = 0;

	common->room = 0;
	for (size_t i = 0; i < ncells; i++)
	{
		const WcCell *c = &cells[i];

		if (c->type != WC_PUT || c->ttl_us > 0 || (i > 0 && wc_slice_eq(c->qualifier, cells[i - 1].qualifier)))
			simple = false;
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
	if (simple)
		common->flags |= WC_PACKED_SIMPLE;
	if (one_seq && !seq_is_ts)
		common->flags |= WC_PACKED_WRITTEN_AT;
	if (simple && one_ts && one_seq)
		common->flags |= WC_PACKED_PLAIN;
}

static inline uint8_t *
store_bytes(uint8_t *p, WcSlice s)
{
	p = wc_store_varint(p, s.len);
	if (s.len > 0)
		memcpy(p, s.data, s.len);
	return p + s.len;
}

static uint8_t *
store_cell(uint8_t *p, const WcCell *c, const WcCell *before, const Common *common)
{
	uint8_t    *head = p++;

	*head = c->type;
	if (before != NULL && wc_slice_eq(before->qualifier, c->qualifier))
		*head |= WC_PACKED_CELL_SAME_COLUMN;
	else
		p = store_bytes(p, c->qualifier);
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
	return store_bytes(p, c->value);
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
			p = store_bytes(p, cells[i].qualifier);
			p = store_bytes(p, cells[i].value);
		}
		else
			p = store_cell(p, &cells[i], i > 0 ? &cells[i - 1] : NULL, &common);
	}
	out->len += (size_t) (p - start);
}

/* --- reading --------------------------------------------------------------*/

/* Most heads by far: plain, one timestamp, and fewer than 128 cells. */
static inline bool
open_short(WcPackedRow *r, WcSlice value)
{
	const uint8_t *p = value.data;

	if (value.len < 11 || p[0] != WC_PACKED_VERSION ||
		p[1] != (WC_PACKED_SIMPLE | WC_PACKED_PLAIN | WC_PACKED_TS) || p[2] > 0x7f || p[2] > value.len / 2)
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
	const uint8_t known = WC_PACKED_SIMPLE | WC_PACKED_PLAIN | WC_PACKED_TS | WC_PACKED_WRITTEN_AT;

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

bool
wc_packedrow_next(WcPackedRow *r, WcCell *cell)
{
	uint8_t		head;

	if (r->left == 0)
		return false;
	if (r->flags & WC_PACKED_PLAIN)
	{
		r->qualifier = take_bytes(&r->d);
		set_plain(r, cell);
		return take_value(r, cell);
	}
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

bool
wc_packedrow_puts_only(const WcPackedRow *r)
{
	WcDecoder	d = r->d;

	for (uint32_t i = 0; i < r->left && !(r->flags & WC_PACKED_SIMPLE); i++)
	{
		uint8_t		head = take_head(&d);

		if ((head & (WC_PACKED_CELL_TYPE | WC_PACKED_CELL_TTL)) != WC_PUT)
			return false;
		if (!(head & WC_PACKED_CELL_SAME_COLUMN))
			(void) take_bytes(&d);
		skip_rest(&d, head);
		if (d.failed)
			return false;
	}
	return true;
}

/* Skips a length below 128 and the bytes; NULL: the length is greater, or the bytes are damaged. */
static inline const uint8_t *
skip_short(const uint8_t *p, const uint8_t *end)
{
	if (p == NULL || p >= end || *p >= 0x80 || (size_t) (end - p) <= *p)
		return NULL;
	return p + 1 + *p;
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

/* For cells without heads: reads only lengths and qualifiers. */
static bool
find_plain(WcPackedRow *r, WcSlice qualifier, uint32_t *before, WcCell *cell)
{
	WcDecoder	d = r->d;

	for (*before = 0; r->left > 0; ++*before)
	{
		WcSlice		q = take_bytes(&d);
		int			c = wc_slice_cmp(q, qualifier);

		if (c > 0 && !d.failed)
			return false;
		if (c == 0 && !d.failed)
			return wc_packedrow_next(r, cell);
		(void) take_bytes(&d);
		r->d = d;
		r->left = d.failed ? 0 : r->left - 1;
	}
	return false;
}

/*
 * Is the column, or the gap where it would be, after `before` cells?  *found: it is the column.  False: neither, or not
 * known; the reader has not moved.
 */
static inline bool
find_expected(WcPackedRow *r, WcSlice qualifier, uint32_t before, WcCell *cell, bool *found)
{
	const uint8_t *end = r->d.end;
	const uint8_t *p = r->d.p;
	const uint8_t *last = NULL; /* qualifier of the cell before */
	const uint8_t *value;
	const uint8_t *behind;
	WcSlice		here;

	if (before >= r->left)
		return false;
	for (uint32_t i = 0; i < before; i++)
	{
		last = p;
		p = skip_short(skip_short(p, end), end);
	}
	value = skip_short(p, end);
	behind = skip_short(value, end);
	if (behind == NULL)
		return false;
	here = wc_slice(p + 1, *p);
	*found = wc_slice_eq(here, qualifier);
	if (!*found && (wc_slice_cmp(here, qualifier) < 0 ||
					(last != NULL && wc_slice_cmp(wc_slice(last + 1, *last), qualifier) >= 0)))
		return false;
	r->d.p = p;
	r->left -= before;
	if (*found)
	{
		set_plain(r, cell);
		/* assign both from `here`: a copy of the field that was just written in two halves would wait for these stores */
		cell->qualifier = here;
		r->qualifier = here;
		cell->value = wc_slice(value + 1, *value);
		r->d.p = behind;
		r->left--;
	}
	return true;
}

/* Most cells with heads: puts of the column that is looked for, with lengths below 128 and no time but ts.  False: the next
 * cell is another one, or is damaged; the reader has not moved. */
static inline bool
take_short_headed(WcPackedRow *r, WcSlice qualifier, WcCell *cell)
{
	const uint8_t *end = r->d.end;
	const uint8_t *p = r->d.p;
	const uint8_t *value;
	const uint8_t *behind;
	uint8_t		head;
	int64_t		ts = r->ts;

	if (r->left == 0 || p == end)
		return false;
	head = *p++;
	if ((head & ~WC_PACKED_CELL_TS) != WC_PUT)
		return false;
	value = skip_short(p, end);
	if (value == NULL || !wc_slice_eq(wc_slice(p + 1, *p), qualifier))
		return false;
	if (head & WC_PACKED_CELL_TS)
	{
		if (end - value < 8)
			return false;
		ts = (int64_t) wc_load_u64(value);
		value += 8;
	}
	behind = skip_short(value, end);
	if (behind == NULL || ts < 0)
		return false;
	cell->type = WC_PUT;
	cell->ts = ts;
	cell->ttl_us = 0;
	cell->seq = (r->flags & WC_PACKED_WRITTEN_AT) ? r->seq : ts;
	cell->qualifier = r->qualifier = wc_slice(p + 1, *p);
	cell->value = wc_slice(value + 1, *value);
	r->d.p = behind;
	r->left--;
	return true;
}

/* Cells with heads: those before the column are not taken apart. */
static bool
find_headed(WcPackedRow *r, WcSlice qualifier, WcCell *cell)
{
	WcDecoder	d = r->d;
	/* before the first cell the qualifier is empty: a first cell may be of the column without a name, and say so */
	int			c = wc_slice_cmp(r->qualifier, qualifier);

	while (r->left > 0)
	{
		uint8_t		head = take_head(&d);

		if (!(head & WC_PACKED_CELL_SAME_COLUMN))
		{
			WcSlice		q = take_bytes(&d);

			c = wc_slice_eq(q, qualifier) ? 0 : wc_slice_cmp(q, qualifier);
			if (c > 0 && !d.failed)
				return false;
			if (c <= 0)
				r->qualifier = q;
		}
		if (c == 0 && !d.failed)
		{
			r->d = d;
			return take_rest(r, head, cell);
		}
		skip_rest(&d, head);
		if (!wc_cell_type_valid(head & WC_PACKED_CELL_TYPE))
			wc_decoder_fail(&d);
		r->d = d;
		r->left = d.failed ? 0 : r->left - 1;
	}
	return false;
}

bool
wc_packedrow_find(WcPackedRow *r, WcSlice qualifier, uint32_t *before, WcCell *cell)
{
	bool		found;

	if (!(r->flags & WC_PACKED_PLAIN))
		return take_short_headed(r, qualifier, cell) || find_headed(r, qualifier, cell);
	if (find_expected(r, qualifier, *before, cell, &found))
		return found;
	return find_plain(r, qualifier, before, cell);
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
