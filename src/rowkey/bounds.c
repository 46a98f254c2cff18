/*
 * rowkey/bounds.c: conditions on key parts to start and stop rows.
 *
 * Two steps: an operator on a part becomes intervals of content; leading parts that are equal, and an interval
 * of the next part, become a range of rows.
 */
#include "rowkey/rowkey.h"

#include "base/limits.h"
#include "rowkey/lay.h"
#include "rowkey/ordered.h"

/* --- operators to intervals --------------------------------------------------- */

static const WcInterval everything = {false, false, false, false, false, {NULL, 0}, {NULL, 0}};

static WcInterval
interval_above(WcSlice lo, bool inclusive)
{
	WcInterval	i = everything;

	i.has_lo = true;
	i.lo = lo;
	i.lo_inclusive = inclusive;
	return i;
}

static WcInterval
interval_below(WcSlice hi, bool inclusive)
{
	WcInterval	i = everything;

	i.has_hi = true;
	i.hi = hi;
	i.hi_inclusive = inclusive;
	return i;
}

static WcInterval
interval_between(WcSlice lo, bool lo_inclusive, WcSlice hi, bool hi_inclusive)
{
	WcInterval	i = interval_above(lo, lo_inclusive);

	i.has_hi = true;
	i.hi = hi;
	i.hi_inclusive = hi_inclusive;
	return i;
}

/*
 * Two's complement and IEEE bytes put the negative values behind the others, at
 * "\x80": the negative ones ascend in two's complement and descend in IEEE.
 */
static int
signed_intervals(WcPartOrder order, bool greater, bool inclusive, WcSlice content, WcInterval *out)
{
	WcSlice		first_negative = wc_slice("\x80", 1);
	bool		negative = content.len > 0 && (content.data[0] & 0x80) != 0;

	if (order == WC_ORDER_SIGNED)
	{
		if (greater && !negative)
			out[0] = interval_between(content, inclusive, first_negative, false);
		else if (greater)
		{
			out[0] = interval_below(first_negative, false);
			out[1] = interval_above(content, inclusive);
			return 2;
		}
		else if (negative)
			out[0] = interval_between(first_negative, true, content, inclusive);
		else
		{
			out[0] = interval_below(content, inclusive);
			out[1] = interval_above(first_negative, true);
			return 2;
		}
		return 1;
	}

	if (greater && !negative)
		out[0] = interval_between(content, inclusive, first_negative, false);
	else if (greater)
		out[0] = interval_below(content, inclusive);
	else if (negative)
		out[0] = interval_above(content, inclusive);
	else
	{
		out[0] = interval_below(content, inclusive);
		out[1] = interval_above(first_negative, true);
		return 2;
	}
	return 1;
}

int
wc_interval_of_op(WcPartOrder order, WcKeyOp op, WcFit fit, WcSlice content, WcInterval out[WC_INTERVALS_MAX])
{
	bool		greater = op == WC_KEY_GT || op == WC_KEY_GE;
	bool		inclusive = op == WC_KEY_LE || op == WC_KEY_GE;

	if (fit == WC_FIT_UNKNOWN || (op == WC_KEY_PREFIX && fit != WC_FIT_EXACT))
		return -1;
	if (op == WC_KEY_PREFIX)
	{
		out[0] = interval_above(content, true);
		out[0].is_prefix = true;
		return 1;
	}
	if (op == WC_KEY_EQ)
	{
		if (fit != WC_FIT_EXACT)
			return 0;
		out[0] = interval_between(content, true, content, true);
		return 1;
	}
	if (fit == WC_FIT_NEVER || order == WC_ORDER_NONE)
		return -1;
	if (fit == WC_FIT_BEFORE_ALL || fit == WC_FIT_AFTER_ALL)
	{
		if (greater != (fit == WC_FIT_BEFORE_ALL))
			return 0;
		out[0] = everything;
		return 1;
	}
	if (fit == WC_FIT_ABOVE)
		inclusive = !greater;	/* the value lies between content and the next one */

	if (order != WC_ORDER_BYTES)
		return signed_intervals(order, greater, inclusive, content, out);
	out[0] = greater ? interval_above(content, inclusive) : interval_below(content, inclusive);
	return 1;
}

/* --- intervals to ranges ------------------------------------------------------ */

/*
 * A range under construction: the bytes of all equal parts are in `prefix`,
 * which start and stop are built on.
 */
typedef struct Builder
{
	const WcKeyLayout *layout;
	WcBuf		prefix;
	WcBuf		key;			/* room to build one bound */
	WcArena    *arena;
	WcKeyRange *out;
	bool		no_memory;
} Builder;

static WcSlice
keep(Builder *b, WcSlice s)
{
	WcSlice		copy = {NULL, 0};

	if (s.len == 0)
		return copy;
	copy = wc_arena_copy(b->arena, s);
	if (copy.data == NULL)
		b->no_memory = true;
	return copy;
}

/* The smallest key greater than all keys that start with s: s without trailing 0xFF, its last byte one higher.
 * Empty when there is none. */
static WcSlice
behind_prefix(Builder *b, WcSlice s)
{
	WcSlice		copy;

	while (s.len > 0 && s.data[s.len - 1] == 0xFF)
		s.len--;
	copy = keep(b, s);
	if (copy.len > 0 && copy.data != NULL)
		((uint8_t *) (uintptr_t) copy.data)[copy.len - 1]++;
	return copy;
}

static void
set_start(Builder *b, WcSlice start, bool inclusive)
{
	b->out->range.start = start;
	b->out->range.start_inclusive = inclusive;
}

static void
set_stop(Builder *b, WcSlice stop, bool inclusive)
{
	b->out->range.stop = stop;
	b->out->range.stop_inclusive = inclusive;
}

/* All rows that start with the prefix. */
static void
set_prefix_range(Builder *b, WcSlice prefix)
{
	set_start(b, keep(b, prefix), true);
	set_stop(b, behind_prefix(b, prefix), false);
}

/* b->key = prefix + content as it is laid. */
static WcSlice
lay_behind_prefix(Builder *b, const WcPartShape *part, WcSlice content)
{
	wc_buf_reset(&b->key, WC_ROW_MAX);
	wc_buf_append_slice(&b->key, wc_buf_slice(&b->prefix));
	wc_lay_content(part, content, &b->key);
	if (b->key.failed)
		b->no_memory = true;
	return wc_buf_slice(&b->key);
}

static WcSlice
raw_behind_prefix(Builder *b, WcSlice content)
{
	static const WcPartShape rest = {WC_PART_REST, WC_ORDER_BYTES, false, false, 0};

	return lay_behind_prefix(b, &rest, content);
}

/* LIKE 'x%' on the part. */
static void
build_prefix(Builder *b, const WcPartShape *part, WcSlice content)
{
	size_t		before = b->prefix.len;

	switch (part->kind)
	{
		case WC_PART_FIXED:
			if (content.len > part->length)
			{
				b->out->empty = true;
				return;
			}
			wc_buf_append_slice(&b->prefix, content);
			if (!b->prefix.failed && part->desc)
				wc_ordered_invert(b->prefix.data + before, content.len);
			/* a zero at the end could be padding */
			if (part->padded && content.len > 0 && content.data[content.len - 1] == 0)
				b->out->exact = false;
			break;
		case WC_PART_ESCAPED:
			wc_ordered_append_escaped(&b->prefix, content, part->desc, false);
			break;
		case WC_PART_DELIMITED:
			if (wc_lay_find(content, b->layout->delimiter) < content.len)
			{
				b->out->empty = true;
				return;
			}
			wc_buf_append_slice(&b->prefix, content);
			/* the delimiter may begin within the prefix, and the content end there */
			if (b->layout->delimiter.len > 1)
				b->out->exact = false;
			break;
		default:
			wc_buf_append_slice(&b->prefix, content);
			break;
	}
	if (b->prefix.failed)
		b->no_memory = true;
	else
		set_prefix_range(b, wc_buf_slice(&b->prefix));
}

/* A bound of a fixed-width part that is shorter or longer than the part. */
static void
fit_bound(Builder *b, const WcPartShape *part, WcSlice *bound, bool *inclusive, bool is_lo)
{
	if (bound->len > part->length)
	{
		/* what equals its start is shorter than it, so before it */
		bound->len = part->length;
		*inclusive = !is_lo;
	}
	else if (!part->padded && bound->len < part->length)
	{
		/* whatever starts with it is longer, so behind it */
		*inclusive = is_lo;
	}
	else if (part->padded && bound->len > 0 && bound->data[bound->len - 1] == 0)
	{
		*inclusive = true;
		b->out->exact = false;
	}
}

/* FIXED and ESCAPED: laid contents keep their order whatever follows them. */
static void
build_self_delimiting(Builder *b, const WcPartShape *part, const WcInterval *next)
{
	WcInterval	i = *next;
	bool		has_lo;
	bool		has_hi;

	if (part->kind == WC_PART_FIXED)
	{
		if (i.has_lo)
			fit_bound(b, part, &i.lo, &i.lo_inclusive, true);
		if (i.has_hi)
			fit_bound(b, part, &i.hi, &i.hi_inclusive, false);
	}
	if (part->desc)
	{
		WcInterval	turned = {false, i.has_hi, i.has_lo, i.hi_inclusive, i.lo_inclusive, i.hi, i.lo};

		i = turned;
	}
	has_lo = i.has_lo;
	has_hi = i.has_hi;

	if (has_lo)
	{
		WcSlice		lo = lay_behind_prefix(b, part, i.lo);

		if (i.lo_inclusive)
			set_start(b, keep(b, lo), true);
		else
		{
			WcSlice		behind = behind_prefix(b, lo);

			if (behind.len == 0)
				b->out->empty = true;
			set_start(b, behind, true);
		}
	}
	if (has_hi)
	{
		WcSlice		hi = lay_behind_prefix(b, part, i.hi);

		set_stop(b, i.hi_inclusive ? behind_prefix(b, hi) : keep(b, hi), false);
	}
}

/*
 * The rest of the key: the bounds are row keys themselves.
 */
static void
build_rest(Builder *b, const WcInterval *next)
{
	if (next->has_lo)
	{
		WcSlice		lo = raw_behind_prefix(b, next->lo);

		set_start(b, keep(b, lo), next->lo_inclusive || lo.len == 0);
	}
	if (next->has_hi)
	{
		WcSlice		hi = raw_behind_prefix(b, next->hi);

		/* an empty stop would mean no stop; and no row is empty */
		if (hi.len == 0)
			b->out->empty = true;
		set_stop(b, keep(b, hi), next->hi_inclusive);
	}
}

/* Is every key that starts with a before, within or behind those that start
 * with b, looking at the ends of both sets? */
static bool
ends_behind(WcSlice a, WcSlice b)
{
	size_t		n = a.len < b.len ? a.len : b.len;
	int			c = n > 0 ? memcmp(a.data, b.data, n) : 0;

	return c > 0 || (c == 0 && a.len < b.len);
}

/*
 * The stop row for "content < hi" in a delimited part.  A content that is a
 * proper start of hi is smaller than hi, but its key goes on with the delimiter,
 * which may be greater than what hi goes on with.  So the stop is hi or the end
 * of the keys that start with (start of hi) + delimiter, the greatest of them.
 */
static void
stop_delimited(Builder *b, WcSlice hi, bool inclusive)
{
	WcSlice		d = b->layout->delimiter;
	WcBuf		best = WC_BUF_INIT;
	size_t		end = hi.len + (inclusive ? 1 : 0);
	bool		found = false;

	for (size_t k = 0; k < end; k++)
	{
		size_t		left = hi.len - k;
		size_t		n = left < d.len ? left : d.len;
		int			c = n > 0 ? memcmp(d.data, hi.data + k, n) : 0;
		WcSlice		candidate;

		if (c < 0)
			continue;
		candidate = raw_behind_prefix(b, wc_slice(hi.data, k));
		wc_buf_append_slice(&b->key, d);
		candidate = wc_buf_slice(&b->key);
		if (!found || ends_behind(candidate, wc_buf_slice(&best)))
		{
			wc_buf_reset(&best, WC_ROW_MAX);
			wc_buf_append_slice(&best, candidate);
			found = true;
		}
		/* candidates from k + d.len on start with bytes of hi that this one is not behind */
		if ((c > 0 || left >= d.len) && k + d.len < end)
			end = k + d.len;
	}
	if (best.failed || b->key.failed)
		b->no_memory = true;
	else if (found)
		set_stop(b, behind_prefix(b, wc_buf_slice(&best)), false);
	else
	{
		WcSlice		stop = raw_behind_prefix(b, hi);

		if (stop.len == 0)
			b->out->empty = true;
		set_stop(b, keep(b, stop), false);
	}
	wc_buf_free(&best);
}

/*
 * A part up to a delimiter: bytes below the delimiter break the order of whole
 * keys, so the range holds more than the interval.  It starts at lo, since what
 * is greater than lo either starts with it or is greater at some byte.
 */
static void
build_delimited(Builder *b, const WcInterval *next)
{
	if (next->has_lo)
	{
		set_start(b, keep(b, raw_behind_prefix(b, next->lo)), true);
		b->out->exact = false;
	}
	if (next->has_hi)
	{
		stop_delimited(b, next->hi, next->hi_inclusive);
		b->out->exact = false;
	}
}

/* No row is longer than WC_ROW_MAX.  A longer bound is cut to that length; it sorts directly after the row
 * that it was cut to. */
static void
cut_bounds(WcRange *range)
{
	if (range->start.len > WC_ROW_MAX)
	{
		range->start.len = WC_ROW_MAX;
		range->start_inclusive = false;
	}
	if (range->stop.len > WC_ROW_MAX)
	{
		range->stop.len = WC_ROW_MAX;
		range->stop_inclusive = true;
	}
}

static bool
is_point(const WcInterval *i)
{
	return !i->is_prefix && i->has_lo && i->has_hi && i->lo_inclusive && i->hi_inclusive &&
		wc_slice_eq(i->lo, i->hi);
}

/* Appends an equal part to the prefix; false when no row can have it. */
static bool
add_equal(Builder *b, uint32_t part, WcSlice content)
{
	const WcPartShape *shape = &b->layout->parts[part];

	if (!wc_lay_fits(shape, b->layout->delimiter, content))
		return false;
	wc_lay_content(shape, content, &b->prefix);
	if (part + 1 < b->layout->nparts)
		wc_buf_append_slice(&b->prefix, b->layout->delimiter);
	if (b->prefix.failed)
		b->no_memory = true;
	return true;
}

static void
build_range(Builder *b, const WcSlice *equal, uint32_t nequal, const WcInterval *next)
{
	const WcPartShape *part;
	WcSlice		prefix;

	for (uint32_t i = 0; i < nequal; i++)
	{
		if (!add_equal(b, i, equal[i]))
		{
			b->out->empty = true;
			return;
		}
	}
	if (next != NULL && is_point(next))
	{
		if (!add_equal(b, nequal, next->lo))
		{
			b->out->empty = true;
			return;
		}
		nequal++;
		next = NULL;
	}
	if (b->no_memory)
		return;
	prefix = wc_buf_slice(&b->prefix);
	if (nequal == b->layout->nparts)
	{
		WcSlice		row = keep(b, prefix);

		b->out->empty = row.len == 0 || row.len > WC_ROW_MAX;
		set_start(b, row, true);
		set_stop(b, row, true);
		return;
	}
	set_prefix_range(b, prefix);
	if (next == NULL)
		return;
	part = &b->layout->parts[nequal];
	if (next->is_prefix)
		build_prefix(b, part, next->lo);
	else if (part->kind == WC_PART_DELIMITED)
		build_delimited(b, next);
	else if (part->kind == WC_PART_REST)
		build_rest(b, next);
	else
		build_self_delimiting(b, part, next);
}

WcStatus
wc_rowkey_range(const WcKeyLayout *layout, const WcSlice *equal, uint32_t nequal,
				const WcInterval *next, WcArena *arena, WcKeyRange *out, WcError *err)
{
	Builder		b = {layout, WC_BUF_INIT, WC_BUF_INIT, arena, out, false};

	memset(out, 0, sizeof(*out));
	out->exact = true;
	build_range(&b, equal, nequal, next);
	wc_buf_free(&b.prefix);
	wc_buf_free(&b.key);
	if (b.no_memory)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a row range");
	cut_bounds(&out->range);
	if (wc_range_is_empty(&out->range))
		out->empty = true;
	return WC_OK;
}

bool
wc_rowkey_part_sorts(const WcKeyLayout *layout, uint32_t part, bool *reversed)
{
	const WcPartShape *shape = &layout->parts[part];

	*reversed = shape->desc;
	return shape->order == WC_ORDER_BYTES && shape->kind != WC_PART_DELIMITED;
}
