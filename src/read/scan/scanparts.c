/*
 * read/scan/scanparts.c: the rest of a long scan, read by several threads.
 *
 * Each thread takes a part, reads one block of it, and looks for a part again.  The session's thread joins the blocks of
 * the first part that is not finished.  Blocks of later parts wait in memory, PARTS_AHEAD_MAX bytes at most, and a block
 * for each thread.
 */
#include "read/scan/scanparts.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/threads.h"

/* So many that the threads end at about the same time. */
#define PARTS 32

#define PARTS_AHEAD_MAX (1024 * 1024)

typedef struct Block
{
	struct Block *next;
	WcBuf		bytes;
} Block;

typedef struct Part
{
	WcRange		range;
	WcScanner  *scanner;		/* NULL: not begun, or finished */
	bool		taken;			/* a thread reads it */
	bool		finished;
	Block	   *first;			/* that are not joined yet */
	Block	  **last;
	size_t		bytes;			/* of these */
} Part;

struct WcScanParts
{
	WcStorage  *storage;
	WcScanHelpers helpers;
	WcArena		arena;
	WcScan		scan;
	WcReadPoint at;
	uint32_t	nparts;
	Part	   *parts;			/* in the order of the scan */

	WcMutex		mutex;
	uint32_t	current WC_GUARDED_BY(&mutex);	/* the first part whose blocks are not all joined */
	size_t		waiting WC_GUARDED_BY(&mutex);	/* bytes of all blocks */
	size_t		wanted WC_GUARDED_BY(&mutex);	/* bytes that end the call, from the current part on without gaps */
	size_t		target WC_GUARDED_BY(&mutex);	/* of a block */
	bool		failed WC_GUARDED_BY(&mutex);
	WcError		err WC_GUARDED_BY(&mutex);
	WcScanStats finished WC_GUARDED_BY(&mutex);	/* of scanners that are closed */
};

/* --- division ---------------------------------------------------------------*/

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

	p->parts = wc_arena_alloc_zero(&p->arena, n * sizeof(Part));
	if (p->parts == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a scan");
	for (uint32_t i = 0; i < n; i++)
	{
		WcSlice		to = i + 1 < n ? wc_decode_bytes(&d) : wc_slice(NULL, 0);
		Part	   *part = &p->parts[p->scan.reversed ? n - 1 - i : i];

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

void
wc_scanparts_free(WcScanParts *p) WC_UNCHECKED
{
	if (p == NULL)
		return;
	for (uint32_t i = 0; i < p->nparts; i++)
	{
		Part	   *part = &p->parts[i];

		wc_scanner_close(part->scanner);
		for (Block *b = part->first, *next; b != NULL; b = next)
		{
			next = b->next;
			wc_buf_free(&b->bytes);
			free(b);
		}
	}
	pthread_mutex_destroy(&p->mutex);
	wc_arena_free(&p->arena);
	free(p);
}

/* --- reading: any thread ------------------------------------------------------*/

/* Are there enough blocks, from the current part on without gaps? */
static bool
is_enough(const WcScanParts *p) WC_REQUIRES(p->mutex)
{
	size_t		bytes = 0;

	for (uint32_t i = p->current; i < p->nparts && bytes < p->wanted; i++)
	{
		bytes += p->parts[i].bytes;
		if (!p->parts[i].finished)
			break;
	}
	return p->failed || bytes >= p->wanted;
}

/* The first part of which a thread may read a block; NULL: none. */
static Part *
choose(WcScanParts *p) WC_REQUIRES(p->mutex)
{
	for (uint32_t i = p->current; i < p->nparts; i++)
	{
		Part	   *part = &p->parts[i];

		if (!part->taken && !part->finished && (i == p->current || p->waiting < PARTS_AHEAD_MAX))
			return part;
	}
	return NULL;
}

static Part *
take_part(WcScanParts *p, size_t *target)
{
	Part	   *part;

	pthread_mutex_lock(&p->mutex);
	part = is_enough(p) ? NULL : choose(p);
	if (part != NULL)
		part->taken = true;
	*target = p->target;
	pthread_mutex_unlock(&p->mutex);
	return part;
}

/* Gives the part back, with the block (or NULL). */
static void
give_back(WcScanParts *p, Part *part, Block *block, WcStatus status, const WcError *err)
{
	WcScanStats stats = {0};

	if (status != WC_OK)
	{
		if (part->scanner != NULL)
			wc_scanner_stats(part->scanner, &stats);
		wc_scanner_close(part->scanner);
		part->scanner = NULL;
	}
	pthread_mutex_lock(&p->mutex);
	wc_scan_stats_sum(&p->finished, &stats);
	part->taken = false;
	part->finished = status != WC_OK;
	if (block != NULL)
	{
		*part->last = block;
		part->last = &block->next;
		/* without its head */
		part->bytes += block->bytes.len - 1;
		p->waiting += block->bytes.len - 1;
	}
	if (status != WC_OK && status != WC_END && !p->failed)
	{
		p->failed = true;
		p->err = *err;
	}
	pthread_mutex_unlock(&p->mutex);
}

/* Reads a block of a part; false: there is nothing to do at present.  arg: the WcScanParts. */
static bool
read_block(void *arg)
{
	WcScanParts *p = arg;
	size_t		target;
	Part	   *part = take_part(p, &target);
	Block	   *block;
	WcStatus	status = WC_OK;
	WcError		err;

	if (part == NULL)
		return false;
	block = calloc(1, sizeof(*block));
	if (block == NULL)
		status = wc_error(&err, WC_NO_MEMORY, "out of memory for a scan");
	/* a scanner of a small part may end before it looks */
	if (status == WC_OK && p->at.cancel != NULL && atomic_load_explicit(p->at.cancel, memory_order_relaxed))
		status = wc_error(&err, WC_CANCELLED, "scan was cancelled");
	if (status == WC_OK && part->scanner == NULL)
	{
		WcScan		scan = p->scan;

		scan.nranges = 1;
		scan.ranges = &part->range;
		status = wc_scanner_open(p->storage, &scan, &p->at, &part->scanner, &err);
	}
	if (status == WC_OK)
		status = wc_scanner_next(part->scanner, &block->bytes, target, 0, &err);
	if (status != WC_OK && status != WC_END && block != NULL)
	{
		wc_buf_free(&block->bytes);
		free(block);
		block = NULL;
	}
	give_back(p, part, block, status, &err);
	return true;
}

/* --- joining: the session's thread, while no other reads -----------------------*/

/* Moves blocks of the current part, and of later ones if it is finished. */
static void
join(WcScanParts *p, WcScanner *s, WcBlockWriter *w, size_t bytes_target) WC_REQUIRES(p->mutex)
{
	while (p->current < p->nparts && wc_block_size(w) < bytes_target)
	{
		Part	   *part = &p->parts[p->current];
		Block	   *block = part->first;

		if (block != NULL)
		{
			s->in_row = wc_block_join(w, wc_buf_slice(&block->bytes));
			part->first = block->next;
			if (part->first == NULL)
				part->last = &part->first;
			part->bytes -= block->bytes.len - 1;
			p->waiting -= block->bytes.len - 1;
			wc_buf_free(&block->bytes);
			free(block);
		}
		else if (part->finished)
			p->current++;
		else
			break;
	}
	s->done = p->current == p->nparts;
}

WcStatus
wc_scanparts_fill(WcScanner *s, WcBlockWriter *w, size_t bytes_target, WcError *err)
{
	WcScanParts *p = s->parts;
	size_t		enough = s->groups != NULL ? bytes_target : 2;
	WcStatus	status = WC_OK;

	/* rows that were found before are sent at once */
	while (status == WC_OK && !s->done && wc_block_size(w) < enough)
	{
		pthread_mutex_lock(&p->mutex);
		p->target = bytes_target;
		p->wanted = enough;
		pthread_mutex_unlock(&p->mutex);
		p->helpers.run(p->helpers.arg, read_block, p);
		pthread_mutex_lock(&p->mutex);
		if (p->failed)
		{
			*err = p->err;
			status = err->status;
		}
		else
			join(p, s, w, bytes_target);
		pthread_mutex_unlock(&p->mutex);
	}
	return status;
}

void
wc_scanparts_add_stats(const WcScanParts *p, WcScanStats *stats) WC_UNCHECKED
{
	wc_scan_stats_sum(stats, &p->finished);
	for (uint32_t i = 0; i < p->nparts; i++)
	{
		WcScanStats one;

		if (p->parts[i].scanner == NULL)
			continue;
		wc_scanner_stats(p->parts[i].scanner, &one);
		wc_scan_stats_sum(stats, &one);
	}
}
