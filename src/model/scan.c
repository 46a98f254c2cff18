/*
 * model/scan.c: the Scan, its rules and its bytes.
 */
#include "model/scan.h"

#include "base/coding.h"

#define SCAN_EXISTENCE		0x01
#define SCAN_REVERSED		0x02
#define SCAN_RAW			0x04
#define SCAN_WANT_TS		0x08
#define SCAN_KEY_ONLY		0x10
#define SCAN_TIME_RANGE		0x20	/* ts_min and ts_max follow */
#define SCAN_LIMITS			0x40	/* row and column limits and offsets follow */
#define SCAN_MOMENTS		0x80	/* filter_ts_min, filter_ts_max and as_of_ts follow */
#define SCAN_MERGED			0x100
#define SCAN_FILTER			0x200	/* a filter follows, behind the families */
#define SCAN_MEASURED		0x400
#define SCAN_COUNT_CELLS	0x800
#define SCAN_AGGREGATION	0x1000	/* an aggregation follows, behind the filter */
#define SCAN_FILTER_TEXT	0x2000	/* a filter in HBase's language follows, behind the aggregation */
#define SCAN_DISTINCT		0x4000	/* distinct_parts and distinct_keys follow, at the end */
#define SCAN_UNCAPPED		0x8000
#define SCAN_FLAGS			0xFFFF

#define RANGE_START_INCLUSIVE	0x01
#define RANGE_STOP_INCLUSIVE	0x02
#define RANGE_ONE_ROW			0x04	/* stop is start and is not repeated */

/* Least bytes of one encoded element: limits the memory that a corrupt count can ask for. */
#define RANGE_BYTES_MIN		2
#define COLUMN_BYTES_MIN	2
#define FAMILY_BYTES_MIN	1

void
wc_scan_init(WcScan *scan, uint32_t table_id)
{
	memset(scan, 0, sizeof(*scan));
	scan->table_id = table_id;
	scan->versions = 1;
	scan->ts_max = WC_TS_LATEST;
	scan->filter_ts_max = WC_TS_LATEST;
	scan->as_of_ts = WC_TS_LATEST;
}

/* --- ranges ----------------------------------------------------------------- */

bool
wc_range_before_start(const WcRange *range, WcSlice row)
{
	int			c;

	if (range->start.len == 0)
		return false;
	c = wc_slice_cmp(row, range->start);
	return c < 0 || (c == 0 && !range->start_inclusive);
}

bool
wc_range_behind_stop(const WcRange *range, WcSlice row)
{
	int			c;

	if (range->stop.len == 0)
		return false;
	c = wc_slice_cmp(row, range->stop);
	return c > 0 || (c == 0 && !range->stop_inclusive);
}

bool
wc_range_contains(const WcRange *range, WcSlice row)
{
	return !wc_range_before_start(range, row) && !wc_range_behind_stop(range, row);
}

bool
wc_range_is_point(const WcRange *range)
{
	return range->start_inclusive && range->stop_inclusive && range->start.len > 0 &&
		wc_slice_eq(range->start, range->stop);
}

WcSlice
wc_range_common_prefix(const WcRange *range)
{
	WcSlice		start = range->start;
	WcSlice		stop = range->stop;
	size_t		n = 0;

	while (n < start.len && n < stop.len && start.data[n] == stop.data[n])
		n++;

	/* rows of [p, p + 1) start with p; and if they are not before p 0xFF, they start with p 0xFF */
	if (!range->stop_inclusive && n < start.len && stop.len == n + 1 && start.data[n] + 1 == stop.data[n])
	{
		n++;
		while (n < start.len && start.data[n] == 0xFF)
			n++;
	}
	return wc_slice(start.data, n);
}

bool
wc_range_is_empty(const WcRange *range)
{
	/* No row key is empty, so without a start the smallest is 00. */
	bool		inclusive = range->start_inclusive && range->start.len > 0;
	WcSlice		start = range->start;
	WcSlice		stop = range->stop;
	int			c;

	if (stop.len == 0)
		return false;
	c = wc_slice_cmp(start, stop);
	if (c > 0)
		return true;
	if (c == 0)
		return !(inclusive && range->stop_inclusive);
	if (inclusive)
		return false;

	/* The smallest key behind start is start and a 00: is stop just that? */
	return !range->stop_inclusive && stop.len == start.len + 1 &&
		stop.data[start.len] == 0 && wc_slice_starts_with(stop, start);
}

WcRange
wc_range_part(const WcRange *range, WcSlice from, WcSlice to)
{
	WcRange		part = *range;

	if (from.len > 0 && (range->start.len == 0 || wc_slice_cmp(range->start, from) < 0))
	{
		part.start = from;
		part.start_inclusive = true;
	}
	if (to.len > 0 && (range->stop.len == 0 || wc_slice_cmp(range->stop, to) >= 0))
	{
		part.stop = to;
		part.stop_inclusive = false;
	}
	return part;
}

void
wc_scan_shorten_bounds(WcScan *scan, size_t longest)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < scan->nranges; i++)
	{
		WcRange		range = scan->ranges[i];

		/* no other key is between a longer bound and its first bytes */
		if (range.start.len > longest)
		{
			range.start.len = longest;
			range.start_inclusive = false;
		}
		if (range.stop.len > longest)
		{
			range.stop.len = longest;
			range.stop_inclusive = true;
		}
		if (!wc_range_is_empty(&range) || (n == 0 && i + 1 == scan->nranges))
			scan->ranges[n++] = range;
	}
	scan->nranges = n;
}

bool
wc_range_of_prefix(WcArena *arena, WcSlice prefix, WcRange *range)
{
	size_t		n = prefix.len;
	uint8_t    *stop;

	range->start = prefix;
	range->start_inclusive = true;
	range->stop = wc_slice(NULL, 0);
	range->stop_inclusive = false;
	while (n > 0 && prefix.data[n - 1] == 0xFF)
		n--;
	if (n == 0)
		return true;
	stop = wc_arena_alloc(arena, n);
	if (!stop)
		return false;
	memcpy(stop, prefix.data, n);
	stop[n - 1]++;
	range->stop = wc_slice(stop, n);
	return true;
}

/* --- rules ------------------------------------------------------------------ */

static WcStatus
ranges_check(const WcScan *scan, WcError *err)
{
	if (scan->nranges > WC_RANGES_MAX)
		return wc_error(err, WC_TOO_LARGE, "too many row ranges in a scan: %u, the limit is %d",
						scan->nranges, WC_RANGES_MAX);
	for (uint32_t i = 0; i < scan->nranges; i++)
	{
		const WcRange *r = &scan->ranges[i];
		size_t		longest = r->start.len > r->stop.len ? r->start.len : r->stop.len;

		if (longest > WC_ROW_MAX)
			return wc_error(err, WC_TOO_LARGE, "start or stop row is too long: %zu bytes, the limit of a row key is %d",
							longest, WC_ROW_MAX);
		if (scan->nranges > 1 && wc_range_is_empty(r))
			return wc_error(err, WC_INVALID, "row range %u of %u is empty", i + 1, scan->nranges);
		if (i > 0)
		{
			const WcRange *before = &scan->ranges[i - 1];
			int			c;

			c = before->stop.len == 0 || r->start.len == 0 ? 1 : wc_slice_cmp(before->stop, r->start);
			if (c > 0 || (c == 0 && before->stop_inclusive && r->start_inclusive))
				return wc_error(err, WC_INVALID, "row range %u does not begin behind the one before it", i + 1);
		}
	}
	return WC_OK;
}

static WcStatus
columns_check(const WcScan *scan, WcError *err)
{
	if (scan->ncolumns > WC_COLUMNS_MAX)
		return wc_error(err, WC_TOO_LARGE, "too many columns in a scan: %u, the limit is %d",
						scan->ncolumns, WC_COLUMNS_MAX);
	for (uint32_t i = 0; i < scan->ncolumns; i++)
	{
		const WcColumn *c = &scan->columns[i];
		size_t		longest = c->qualifier.len;

		if (c->kind > WC_COLUMN_RANGE)
			return wc_error(err, WC_INVALID, "column %u of a scan is of the unknown kind %u", i + 1, c->kind);
		if (c->kind == WC_COLUMN_FAMILY)
			continue;
		if (scan->raw)
			return wc_error(err, WC_INVALID, "a raw scan cannot select qualifiers");
		if (c->kind == WC_COLUMN_RANGE && c->stop.len > longest)
			longest = c->stop.len;
		if (longest > WC_QUALIFIER_MAX)
			return wc_error(err, WC_TOO_LARGE, "qualifier is too long: %zu bytes, the limit is %d",
							longest, WC_QUALIFIER_MAX);
	}
	return WC_OK;
}

static bool
filters_ts(const WcScan *scan)
{
	return scan->filter_ts_min != 0 || scan->filter_ts_max != WC_TS_LATEST;
}

static WcStatus
times_check(const char *what, int64_t min, int64_t max, WcError *err)
{
	if (min < 0 || max < 0)
		return wc_error(err, WC_INVALID, "%s [%lld, %lld) has a negative bound",
						what, (long long) min, (long long) max);
	if (min > max)
		return wc_error(err, WC_INVALID, "%s [%lld, %lld) ends before it begins",
						what, (long long) min, (long long) max);
	return WC_OK;
}

static WcStatus
filter_check(const WcScan *scan, WcError *err)
{
	const WcFilter *filter = scan->filter;
	WcStatus	status;

	if (filter == NULL)
		return WC_OK;
	if (!scan->rows_by_existence || scan->raw || scan->column_limit != 0 || scan->column_offset != 0)
		return wc_error(err, WC_INVALID, "this scan cannot have a filter");
	status = wc_filter_check(filter, scan->ncolumns, err);
	for (uint32_t i = 0; i < filter->ncolumns && status == WC_OK; i++)
	{
		if (!filter->columns[i].in_key && scan->columns[filter->columns[i].column].kind != WC_COLUMN_EXACT)
			status = wc_error(err, WC_INVALID, "a filter looks at column %u of a scan, which is not a single one",
							  filter->columns[i].column + 1);
	}
	return status;
}

static WcStatus
filter_text_check(const WcScan *scan, WcError *err)
{
	bool		points = true;

	if (scan->filter_text.len == 0)
		return WC_OK;
	if (scan->filter_text.len > WC_FILTER_BYTES_MAX)
		return wc_error(err, WC_TOO_LARGE, "filter is too long: %zu bytes, the limit is %d", scan->filter_text.len,
						WC_FILTER_BYTES_MAX);
	for (uint32_t i = 0; i < scan->nranges; i++)
		points &= wc_range_is_point(&scan->ranges[i]);
	if (scan->rows_by_existence || scan->row_offset != 0 || scan->count_cells || scan->merged ||
		filters_ts(scan) || (scan->nranges > 1 && !points))
		return wc_error(err, WC_INVALID, "this scan cannot have a filter in HBase's language");
	return WC_OK;
}

/* Is the column at this position a single one? */
static WcStatus
aggregated_check(const WcScan *scan, bool in_key, uint32_t column, WcError *err)
{
	if (!in_key && scan->columns[column].kind != WC_COLUMN_EXACT)
		return wc_error(err, WC_INVALID, "an aggregation looks at column %u of a scan, which is not a single one",
						column + 1);
	return WC_OK;
}

static WcStatus
aggregation_check(const WcScan *scan, WcError *err)
{
	const WcAggregation *aggregation = scan->aggregation;
	WcStatus	status;

	if (aggregation == NULL)
		return WC_OK;
	if (!scan->rows_by_existence || scan->raw || scan->versions != 1 || scan->row_limit != 0 ||
		scan->row_offset != 0 || scan->column_limit != 0 || scan->column_offset != 0)
		return wc_error(err, WC_INVALID, "this scan cannot have an aggregation");
	status = wc_aggregation_check(aggregation, scan->ncolumns, err);
	for (uint32_t i = 0; i < aggregation->ngroups && status == WC_OK; i++)
		status = aggregated_check(scan, aggregation->groups[i].in_key, aggregation->groups[i].column, err);
	for (uint32_t i = 0; i < aggregation->naggregates && status == WC_OK; i++)
	{
		const WcAggregate *a = &aggregation->aggregates[i];

		if (a->kind != WC_AGGREGATE_ROWS)
			status = aggregated_check(scan, a->column.in_key, a->column.column, err);
	}
	return status;
}

static WcStatus
distinct_check(const WcScan *scan, WcError *err)
{
	if (scan->distinct_parts == 0)
		return WC_OK;
	if (!scan->rows_by_existence || scan->raw || scan->aggregation != NULL || scan->filter_text.len > 0 ||
		scan->distinct_parts > WC_COLUMNS_MAX || scan->distinct_keys.len == 0)
		return wc_error(err, WC_INVALID, "this scan cannot return the first rows of prefixes");
	return WC_OK;
}

WcStatus
wc_scan_check(const WcScan *scan, WcError *err)
{
	WcStatus	status = ranges_check(scan, err);

	if (status == WC_OK)
		status = columns_check(scan, err);
	if (status == WC_OK)
		status = times_check("time range", scan->ts_min, scan->ts_max, err);
	if (status == WC_OK)
		status = times_check("filter on timestamps", scan->filter_ts_min, scan->filter_ts_max, err);
	if (status == WC_OK)
		status = filter_check(scan, err);
	if (status == WC_OK)
		status = filter_text_check(scan, err);
	if (status == WC_OK)
		status = aggregation_check(scan, err);
	if (status == WC_OK)
		status = distinct_check(scan, err);
	if (status != WC_OK)
		return status;
	if (scan->rows_by_existence && filters_ts(scan))
		return wc_error(err, WC_INVALID, "a filter on timestamps does not decide which rows exist");
	if (scan->rows_by_existence && scan->count_cells)
		return wc_error(err, WC_INVALID, "a scan of rows that exist cannot count cells");
	if (scan->as_of_ts < 0)
		return wc_error(err, WC_INVALID, "a table cannot be seen as of the time %lld, before 1970",
						(long long) scan->as_of_ts);
	if (scan->rows_by_existence && scan->nfamilies > WC_FAMILIES_MAX)
		return wc_error(err, WC_TOO_LARGE, "too many families in a scan: %u, the limit is %d",
						scan->nfamilies, WC_FAMILIES_MAX);
	if (scan->versions < 1 || scan->versions > WC_VERSIONS_MAX)
		return wc_error(err, WC_INVALID, "versions of a scan is %u, must be between 1 and %d",
						scan->versions, WC_VERSIONS_MAX);
	return WC_OK;
}

/* --- bytes ------------------------------------------------------------------ */

static void
ranges_encode(WcBuf *out, const WcScan *scan)
{
	wc_buf_append_varint(out, scan->nranges);
	for (uint32_t i = 0; i < scan->nranges; i++)
	{
		const WcRange *r = &scan->ranges[i];
		bool		one_row = wc_range_is_point(r);

		if (one_row)
		{
			wc_buf_append_u8(out, RANGE_ONE_ROW);
			wc_buf_append_bytes(out, r->start);
			continue;
		}
		wc_buf_append_u8(out, (uint8_t) ((r->start_inclusive ? RANGE_START_INCLUSIVE : 0) |
										 (r->stop_inclusive ? RANGE_STOP_INCLUSIVE : 0)));
		wc_buf_append_bytes(out, r->start);
		wc_buf_append_bytes(out, r->stop);
	}
}

static void
columns_encode(WcBuf *out, const WcScan *scan)
{
	wc_buf_append_varint(out, scan->ncolumns);
	for (uint32_t i = 0; i < scan->ncolumns; i++)
	{
		const WcColumn *c = &scan->columns[i];
		WcSlice		qualifier = c->kind != WC_COLUMN_FAMILY ? c->qualifier : wc_slice(NULL, 0);
		uint8_t    *start = wc_buf_reserve(out, 1 + 2 * WC_VARINT_MAX + qualifier.len);
		uint8_t    *p = start;

		if (p == NULL)
			return;
		*p++ = (uint8_t) c->kind;
		p = wc_store_varint(p, c->family);
		if (c->kind != WC_COLUMN_FAMILY)
			p = wc_store_bytes(p, qualifier);
		out->len += (size_t) (p - start);
		if (c->kind == WC_COLUMN_RANGE)
			wc_buf_append_bytes(out, c->stop);
	}
}

void
wc_scan_encode(WcBuf *out, const WcScan *scan)
{
	bool		time_range = scan->ts_min != 0 || scan->ts_max != WC_TS_LATEST;
	bool		limits = scan->row_limit != 0 || scan->row_offset != 0 || scan->batch_rows != 0 ||
		scan->column_limit != 0 || scan->column_offset != 0;
	bool		moments = filters_ts(scan) || scan->as_of_ts != WC_TS_LATEST;

	wc_buf_append_varint(out, scan->table_id);
	wc_buf_append_varint(out, (scan->rows_by_existence ? SCAN_EXISTENCE : 0u) |
						 (scan->reversed ? SCAN_REVERSED : 0) |
						 (scan->raw ? SCAN_RAW : 0) |
						 (scan->want_ts ? SCAN_WANT_TS : 0) |
						 (scan->key_only ? SCAN_KEY_ONLY : 0) |
						 (time_range ? SCAN_TIME_RANGE : 0) |
						 (limits ? SCAN_LIMITS : 0) |
						 (moments ? SCAN_MOMENTS : 0) |
						 (scan->merged ? SCAN_MERGED : 0) |
						 (scan->filter != NULL ? SCAN_FILTER : 0) |
						 (scan->measured ? SCAN_MEASURED : 0) |
						 (scan->count_cells ? SCAN_COUNT_CELLS : 0) |
						 (scan->aggregation != NULL ? SCAN_AGGREGATION : 0) |
						 (scan->filter_text.len > 0 ? SCAN_FILTER_TEXT : 0) |
						 (scan->distinct_parts > 0 ? SCAN_DISTINCT : 0) |
						 (scan->uncapped ? SCAN_UNCAPPED : 0));
	wc_buf_append_varint(out, scan->versions);
	if (time_range)
	{
		wc_buf_append_varint(out, (uint64_t) scan->ts_min);
		wc_buf_append_varint(out, (uint64_t) scan->ts_max);
	}
	if (limits)
	{
		wc_buf_append_varint(out, scan->row_limit);
		wc_buf_append_varint(out, scan->row_offset);
		wc_buf_append_varint(out, scan->column_limit);
		wc_buf_append_varint(out, scan->column_offset);
		wc_buf_append_varint(out, scan->batch_rows);
	}
	if (moments)
	{
		wc_buf_append_varint(out, (uint64_t) scan->filter_ts_min);
		wc_buf_append_varint(out, (uint64_t) scan->filter_ts_max);
		wc_buf_append_varint(out, (uint64_t) scan->as_of_ts);
	}
	ranges_encode(out, scan);
	columns_encode(out, scan);
	if (scan->rows_by_existence)
	{
		wc_buf_append_varint(out, scan->nfamilies);
		for (uint32_t i = 0; i < scan->nfamilies; i++)
			wc_buf_append_varint(out, scan->families[i]);
	}
	if (scan->filter != NULL)
		wc_filter_encode(out, scan->filter);
	if (scan->aggregation != NULL)
		wc_aggregation_encode(out, scan->aggregation);
	if (scan->filter_text.len > 0)
		wc_buf_append_bytes(out, scan->filter_text);
	if (scan->distinct_parts > 0)
	{
		wc_buf_append_varint(out, scan->distinct_parts);
		wc_buf_append_bytes(out, scan->distinct_keys);
	}
}

bool
wc_scan_has_shape(const WcScan *scan)
{
	return scan->row_offset == 0 && !(scan->count_cells && scan->row_limit > 0) && !scan->merged && !scan->raw && !scan->measured &&
		scan->filter == NULL && scan->filter_text.len == 0 && scan->aggregation == NULL && scan->distinct_parts == 0 &&
		scan->as_of_ts == WC_TS_LATEST;
}

void
wc_scan_shape_encode(WcBuf *out, const WcScan *scan)
{
	WcScan		shape = *scan;

	shape.nranges = 0;
	shape.ranges = NULL;
	shape.reversed = false;
	shape.row_limit = 0;
	shape.count_cells = scan->count_cells && scan->ncolumns > 0;
	shape.batch_rows = 0;
	wc_scan_encode(out, &shape);
}

/*
 * Reads a count and allocates that many; NULL when memory is out.
 */
static void *
array_decode(WcDecoder *d, WcArena *arena, uint32_t max, size_t bytes_min, size_t size, uint32_t *n)
{
	size_t		count = wc_decode_count(d, max, bytes_min);

	*n = (uint32_t) count;
	return wc_arena_alloc_zero(arena, count * size);
}

static bool
ranges_decode(WcDecoder *d, WcArena *arena, WcScan *scan)
{
	scan->ranges = array_decode(d, arena, WC_RANGES_MAX, RANGE_BYTES_MIN, sizeof(WcRange), &scan->nranges);
	if (!scan->ranges)
		return false;
	for (uint32_t i = 0; i < scan->nranges; i++)
	{
		WcRange    *r = &scan->ranges[i];
		uint8_t		flags = wc_decode_u8(d);

		r->start = wc_decode_bytes(d);
		if (flags == RANGE_ONE_ROW)
		{
			r->stop = r->start;
			r->start_inclusive = r->stop_inclusive = true;
			if (r->start.len == 0)
				wc_decoder_fail(d);
			continue;
		}
		if ((flags & ~(RANGE_START_INCLUSIVE | RANGE_STOP_INCLUSIVE)) != 0)
			wc_decoder_fail(d);
		r->stop = wc_decode_bytes(d);
		r->start_inclusive = (flags & RANGE_START_INCLUSIVE) != 0;
		r->stop_inclusive = (flags & RANGE_STOP_INCLUSIVE) != 0;
	}
	return true;
}

static bool
columns_decode(WcDecoder *d, WcArena *arena, WcScan *scan)
{
	scan->columns = array_decode(d, arena, WC_COLUMNS_MAX, COLUMN_BYTES_MIN, sizeof(WcColumn), &scan->ncolumns);
	if (!scan->columns)
		return false;
	for (uint32_t i = 0; i < scan->ncolumns; i++)
	{
		WcColumn   *c = &scan->columns[i];

		c->kind = wc_decode_u8(d);
		c->family = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
		if (c->kind != WC_COLUMN_FAMILY)
			c->qualifier = wc_decode_bytes(d);
		if (c->kind == WC_COLUMN_RANGE)
			c->stop = wc_decode_bytes(d);
	}
	return true;
}

static bool
families_decode(WcDecoder *d, WcArena *arena, WcScan *scan)
{
	scan->families = array_decode(d, arena, WC_FAMILIES_MAX, FAMILY_BYTES_MIN, sizeof(uint32_t), &scan->nfamilies);
	if (!scan->families)
		return false;
	for (uint32_t i = 0; i < scan->nfamilies; i++)
		scan->families[i] = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	return true;
}

static bool
filter_decode(WcDecoder *d, WcArena *arena, WcScan *scan)
{
	WcFilter   *filter;

	wc_filter_decode(d, arena, &filter);
	scan->filter = filter;
	return filter != NULL;
}

static bool
aggregation_decode(WcDecoder *d, WcArena *arena, WcScan *scan)
{
	WcAggregation *aggregation;

	wc_aggregation_decode(d, arena, &aggregation);
	scan->aggregation = aggregation;
	return aggregation != NULL;
}

/* Returns the flags. */
static uint64_t
header_decode(WcDecoder *d, WcScan *scan)
{
	uint64_t	flags;

	wc_scan_init(scan, (uint32_t) wc_decode_varint_max(d, UINT32_MAX));
	flags = wc_decode_varint_max(d, SCAN_FLAGS);
	scan->rows_by_existence = (flags & SCAN_EXISTENCE) != 0;
	scan->reversed = (flags & SCAN_REVERSED) != 0;
	scan->raw = (flags & SCAN_RAW) != 0;
	scan->want_ts = (flags & SCAN_WANT_TS) != 0;
	scan->key_only = (flags & SCAN_KEY_ONLY) != 0;
	scan->merged = (flags & SCAN_MERGED) != 0;
	scan->measured = (flags & SCAN_MEASURED) != 0;
	scan->count_cells = (flags & SCAN_COUNT_CELLS) != 0;
	scan->uncapped = (flags & SCAN_UNCAPPED) != 0;
	scan->versions = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	if ((flags & SCAN_TIME_RANGE) != 0)
	{
		scan->ts_min = (int64_t) wc_decode_varint_max(d, INT64_MAX);
		scan->ts_max = (int64_t) wc_decode_varint_max(d, INT64_MAX);
	}
	if ((flags & SCAN_LIMITS) != 0)
	{
		scan->row_limit = wc_decode_varint(d);
		scan->row_offset = wc_decode_varint(d);
		scan->column_limit = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
		scan->column_offset = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
		scan->batch_rows = (uint32_t) wc_decode_varint_max(d, UINT32_MAX);
	}
	if ((flags & SCAN_MOMENTS) != 0)
	{
		scan->filter_ts_min = (int64_t) wc_decode_varint_max(d, INT64_MAX);
		scan->filter_ts_max = (int64_t) wc_decode_varint_max(d, INT64_MAX);
		scan->as_of_ts = (int64_t) wc_decode_varint_max(d, INT64_MAX);
	}
	return flags;
}

WcStatus
wc_scan_decode(WcSlice bytes, WcArena *arena, WcScan *scan, WcError *err)
{
	WcDecoder	d = wc_decoder(bytes);
	uint64_t	flags = header_decode(&d, scan);

	if (!ranges_decode(&d, arena, scan) || !columns_decode(&d, arena, scan) ||
		(scan->rows_by_existence && !families_decode(&d, arena, scan)) ||
		((flags & SCAN_FILTER) != 0 && !filter_decode(&d, arena, scan)) ||
		((flags & SCAN_AGGREGATION) != 0 && !aggregation_decode(&d, arena, scan)))
		return wc_error(err, WC_NO_MEMORY, "out of memory: scan of %zu bytes", bytes.len);
	if ((flags & SCAN_FILTER_TEXT) != 0)
	{
		scan->filter_text = wc_decode_bytes(&d);
		if (scan->filter_text.len == 0)
			wc_decoder_fail(&d);
	}
	if ((flags & SCAN_DISTINCT) != 0)
	{
		scan->distinct_parts = (uint32_t) wc_decode_varint_max(&d, WC_COLUMNS_MAX);
		scan->distinct_keys = wc_decode_bytes(&d);
		if (scan->distinct_parts == 0)
			wc_decoder_fail(&d);
	}
	if (!wc_decoder_done(&d))
		return wc_error(err, WC_CORRUPT, "scan of %zu bytes cannot be decoded", bytes.len);
	return wc_scan_check(scan, err);
}
