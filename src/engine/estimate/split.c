/*
 * engine/estimate/split.c: row keys that part a range into about equal parts.
 *
 * For readers that share a range.  Each has a part, and takes another when it has read that: so
 * parts need not be equal, and sizes that are approximate do.  The range is cut in two, and the
 * parts that are wanted are shared out among the halves by their sizes, until a part is one, or
 * cannot be cut.
 */
#include "engine/estimate/parts.h"

typedef struct Splitter
{
	WcParts		parts;
	double		bytes_min;		/* of a part */
	WcBuf		points;
	uint64_t	npoints;
} Splitter;

/* Makes n parts of one: n - 1 points, or fewer, ascending. */
static WcStatus
split(Splitter *s, const WcPart *part, uint32_t n)
{
	WcHalves	halves;
	double		share = 0.5;
	uint32_t	nlow;
	WcStatus	status = wc_parts_check_cancel(&s->parts);

	if (status != WC_OK || n < 2 || wc_part_is_one(part) || part->bytes < 2 * s->bytes_min)
		return status;
	status = wc_parts_halve(&s->parts, part, &halves);
	if (status == WC_OK)
	{
		if (halves.low.bytes + halves.high.bytes > 0)
			share = halves.low.bytes / (halves.low.bytes + halves.high.bytes);
		nlow = (uint32_t) ((double) n * share + 0.5);
		status = split(s, &halves.low, nlow);
		if (status == WC_OK && nlow > 0 && nlow < n)
		{
			wc_buf_append_bytes(&s->points, wc_buf_slice(&halves.mid));
			s->npoints++;
		}
		if (status == WC_OK)
			status = split(s, &halves.high, n - nlow);
	}
	wc_halves_free(&halves);
	return status;
}

static WcStatus
split_table(Splitter *s, const WcTable *table, const WcSplitRequest *request, const atomic_bool *cancel, WcError *err)
{
	WcWholePart whole = {0};
	WcStatus	status = wc_parts_open(&s->parts, table, request->families, request->nfamilies, WC_PART_MEMORY_KEPT,
									   cancel, err);

	s->bytes_min = (double) request->bytes_min;
	if (status == WC_OK)
		status = wc_parts_whole(&s->parts, &request->range, &whole);
	if (status == WC_OK && whole.found)
		status = split(s, &whole.part, request->nparts);
	wc_whole_part_free(&whole);
	wc_parts_close(&s->parts);
	return status;
}

WcStatus
wc_engine_split(WcEngine *engine, const WcSplitRequest *request, const atomic_bool *cancel, WcBuf *out, WcError *err)
{
	Splitter	s = {0};
	WcTable    *table;
	WcStatus	status = WC_OK;

	if (request->nparts < 1 || request->nparts > WC_PARTS_MAX)
		return wc_error(err, WC_INVALID, "a range cannot be split into %u parts (limit %d)", request->nparts, WC_PARTS_MAX);
	table = wc_catalog_table(engine, request->table_id);
	if (table != NULL)
	{
		status = split_table(&s, table, request, cancel, err);
		wc_table_unref(table);
	}
	if (status == WC_OK && s.points.failed)
		status = wc_error(err, WC_NO_MEMORY, "out of memory for parts of a table");
	if (status == WC_OK)
	{
		wc_buf_append_varint(out, s.npoints);
		wc_buf_append_slice(out, wc_buf_slice(&s.points));
	}
	wc_buf_free(&s.points);
	return status;
}
