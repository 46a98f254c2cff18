/*
 * read/scan/scanparts.c: divides the rest of a long scan into parts, which several threads read (scanner.c).
 */
#include "read/scan/scanparts.h"

#include <stdlib.h>

#include "base/limits.h"

/* So many that the threads end at about the same time. */
#define PARTS 32

/* The range after the scanner's row. */
static WcRange
rest_of(const WcScanner *s)
{
	WcRange		rest = s->lane->ranges[0];

	if (s->scan.reversed)
	{
		rest.stop = s->lane->row;
		rest.stop_inclusive = false;
	}
	else
	{
		rest.start = s->lane->row;
		rest.start_inclusive = false;
	}
	return rest;
}

/* Does the scan read many more rows than it returns rows, or groups?  Otherwise the receiver is busy too, and needs a
 * processor; and each part has groups of its own, so that their number would grow. */
static bool
returns_little(const WcScanner *s)
{
	uint64_t	returned = s->stats.rows_returned + (s->groups != NULL ? wc_groups_number(s->groups) : 0);

	return returned * s->helpers.returned_part <= s->stats.rows_examined;
}

/* Makes the parts of a range that begin at these keys, and one before. */
static WcStatus
make_parts(WcScanParts *p, WcRange range, WcSlice points, WcError *err)
{
	WcDecoder	d = wc_decoder(points);
	uint32_t	n = (uint32_t) wc_decode_varint_max(&d, PARTS - 1) + 1;
	WcSlice		from = {NULL, 0};

	p->parts = wc_arena_alloc_zero(&p->arena, n * sizeof(WcScanPart));
	if (p->parts == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	for (uint32_t i = 0; i < n; i++)
	{
		WcSlice		to = i + 1 < n ? wc_decode_bytes(&d) : wc_slice(NULL, 0);
		WcScanPart *part = &p->parts[p->scan.reversed ? n - 1 - i : i];

		part->range = wc_range_part(&range, from, to);
		part->finished = wc_range_is_empty(&part->range);
		part->last = &part->first;
		from = to;
	}
	p->nparts = n;
	return d.failed ? wc_error(err, WC_INTERNAL, "the parts of a range cannot be read") : WC_OK;
}

static WcStatus
divide(WcScanParts *p, const WcScanner *s, WcBuf *points, WcError *err)
{
	WcRange		rest = rest_of(s);
	uint32_t	families[WC_FAMILIES_MAX];
	uint32_t	nfamilies = 0;
	WcStatus	status;

	for (uint32_t i = 0; i < s->nfamilies; i++)
		families[nfamilies++] = s->lane->families[i].family->id;
	status = p->helpers.split(p->helpers.arg, s->scan.table_id, &rest, families, nfamilies, PARTS, points, err);
	if (status != WC_OK)
		return status;
	if (points->failed)
		return wc_buf_status(points, "parts of a range", err);
	rest.start = wc_arena_copy(&p->arena, rest.start);
	rest.stop = wc_arena_copy(&p->arena, rest.stop);
	return make_parts(p, rest, wc_arena_copy(&p->arena, wc_buf_slice(points)), err);
}

WcStatus
wc_scanparts_begin(WcScanner *s, WcError *err)
{
	WcScanParts *p;
	WcBuf		points = WC_BUF_INIT;
	WcStatus	status;

	s->share_after = 0;
	if (!returns_little(s))
		return WC_OK;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	pthread_mutex_init(&p->mutex, NULL);
	p->storage = s->storage;
	p->helpers = s->helpers;
	p->at = s->at;
	p->at.now_us = s->now_us;
	status = wc_scan_decode(s->shared_scan, &p->arena, &p->scan, err);
	if (status == WC_OK)
		status = divide(p, s, &points, err);
	wc_buf_free(&points);
	if (status == WC_OK && p->nparts > 1)
		s->parts = p;
	else
		wc_scanparts_free(p);
	return status;
}
