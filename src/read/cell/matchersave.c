/*
 * read/cell/matchersave.c: the state of a compaction's matcher in the middle of a row, as bytes (read/README),
 * so that a row of any width can be processed in pieces.
 */
#include "read/cell/matcherimpl.h"

#include "base/coding.h"

#define FORMAT			1

#define FLAG_COLUMN		0x01	/* a column has begun */
#define FLAG_OVER		0x02
#define FLAG_LAST		0x04
#define FLAG_FAMILY		0x08	/* markers that mask: these four */
#define FLAG_COLUMN_TS	0x10
#define FLAG_VERSION	0x20
#define FLAG_STAMPS		0x40

static uint64_t
puts_remembered(uint64_t nputs)
{
	return nputs < WC_PUTS_REMEMBERED ? nputs : WC_PUTS_REMEMBERED;
}

static void
save_column(const WcMatcher *m, WcBuf *out)
{
	wc_buf_append_bytes(out, wc_buf_slice(&m->qualifier));
	wc_buf_append_varint(out, m->count);
	wc_buf_append_u64(out, (uint64_t) m->column_marker);
	wc_buf_append_varint(out, m->nputs);
	if (m->nputs > 0)
		wc_buf_append_u64(out, (uint64_t) m->newest_put);
	for (uint64_t i = 0; i < puts_remembered(m->nputs); i++)
		wc_buf_append_u64(out, (uint64_t) m->puts[i]);
	if (m->has_last)
	{
		wc_buf_append_u64(out, (uint64_t) m->last_ts);
		wc_buf_append_u8(out, m->last_type);
	}
	if (m->deletes.has_column)
		wc_buf_append_u64(out, (uint64_t) m->deletes.column_ts);
	if (m->deletes.has_version)
		wc_buf_append_u64(out, (uint64_t) m->deletes.version_ts);
}

void
wc_matcher_save(const WcMatcher *m, WcBuf *out)
{
	const WcDeleteTracker *t = &m->deletes;
	uint8_t		flags = 0;

	if (m->in_column)
		flags |= FLAG_COLUMN | (m->over ? FLAG_OVER : 0) | (m->has_last ? FLAG_LAST : 0) |
			(t->has_column ? FLAG_COLUMN_TS : 0) | (t->has_version ? FLAG_VERSION : 0);
	flags |= (t->has_family ? FLAG_FAMILY : 0) | (t->nstamps > 0 ? FLAG_STAMPS : 0);
	wc_buf_append_u8(out, FORMAT);
	wc_buf_append_u8(out, flags);
	wc_buf_append_u64(out, (uint64_t) m->family_marker);
	if (t->has_family)
		wc_buf_append_u64(out, (uint64_t) t->family_ts);
	if (t->nstamps > 0)
		wc_buf_append_varint(out, t->nstamps);
	for (size_t i = 0; i < t->nstamps; i++)
		wc_buf_append_u64(out, (uint64_t) t->stamps[i]);
	if (m->in_column)
		save_column(m, out);
}

/* A timestamp; the decoder fails when it is none. */
static int64_t
take_ts(WcDecoder *d)
{
	int64_t		ts = (int64_t) wc_decode_u64(d);

	if (ts < 0)
		wc_decoder_fail(d);
	return ts;
}

static bool
mark(WcDeleteTracker *t, uint8_t type, int64_t ts)
{
	WcCell		marker = {.type = type,.ts = ts};

	return wc_deletetracker_add(t, &marker);
}

/* False: memory is out. */
static bool
restore_family(WcMatcher *m, uint8_t flags, WcDecoder *d)
{
	bool		ok = true;
	int64_t		before = INT64_MAX;
	size_t		n;

	m->family_marker = take_ts(d);
	if (flags & FLAG_FAMILY)
		ok = mark(&m->deletes, WC_DELETE_FAMILY, take_ts(d));
	n = (flags & FLAG_STAMPS) ? wc_decode_count(d, SIZE_MAX, 8) : 0;
	for (size_t i = 0; i < n && ok && !d->failed; i++)
	{
		int64_t		ts = take_ts(d);

		if (ts > before)
			wc_decoder_fail(d);
		before = ts;
		ok = mark(&m->deletes, WC_DELETE_FAMILY_VERSION, ts);
	}
	return ok;
}

/* False: memory is out. */
static bool
restore_column(WcMatcher *m, uint8_t flags, WcDecoder *d)
{
	WcSlice		qualifier = wc_decode_bytes(d);
	bool		ok = true;

	if (qualifier.len > WC_QUALIFIER_MAX)
		wc_decoder_fail(d);
	if (d->failed || !wc_matcher_start_column(m, qualifier))
		return d->failed;
	m->over = (flags & FLAG_OVER) != 0;
	m->count = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	m->column_marker = take_ts(d);
	m->nputs = wc_decode_varint(d);
	if (m->nputs > 0)
		m->newest_put = take_ts(d);
	for (uint64_t i = 0; i < puts_remembered(m->nputs); i++)
		m->puts[i] = take_ts(d);
	m->has_last = (flags & FLAG_LAST) != 0;
	if (m->has_last)
	{
		m->last_ts = take_ts(d);
		m->last_type = wc_decode_u8(d);
	}
	if (flags & FLAG_COLUMN_TS)
		ok = mark(&m->deletes, WC_DELETE_COLUMN, take_ts(d));
	if (ok && (flags & FLAG_VERSION))
		ok = mark(&m->deletes, WC_DELETE, take_ts(d));
	return ok;
}

WcStatus
wc_matcher_restore(WcMatcher *m, WcSlice state, WcError *err)
{
	WcDecoder	d = wc_decoder(state);
	uint8_t		format = wc_decode_u8(&d);
	uint8_t		flags = wc_decode_u8(&d);
	uint8_t		known = FLAG_FAMILY | FLAG_STAMPS;
	bool		ok;

	if (flags & FLAG_COLUMN)
		known |= FLAG_COLUMN | FLAG_OVER | FLAG_LAST | FLAG_COLUMN_TS | FLAG_VERSION;
	if (format != FORMAT || (flags & ~known) != 0)
		wc_decoder_fail(&d);
	wc_matcher_start_row(m);
	ok = restore_family(m, flags, &d);
	if (ok && (flags & FLAG_COLUMN))
		ok = restore_column(m, flags, &d);
	if (!ok)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a compaction");
	if (!wc_decoder_done(&d))
	{
		wc_matcher_start_row(m);
		return wc_error(err, WC_CORRUPT, "what a step of a compaction says of the row it goes on in is damaged");
	}
	return WC_OK;
}
