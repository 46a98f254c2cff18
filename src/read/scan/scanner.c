/*
 * read/scan/scanner.c: the blocks of a scan, and the parts of a long one, which several threads read.
 *
 * Each thread takes a part, reads one block of it, and looks for a part again.  The session's thread joins the blocks of
 * the first part that is not finished.  Blocks of later parts wait in memory, PARTS_AHEAD_MAX bytes at most, and a block
 * for each thread.
 */
#include <stdlib.h>

#include "read/scan/scanblock.h"
#include "read/scan/scanparts.h"

#define PARTS_AHEAD_MAX (1024 * 1024)

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
static WcScanPart *
choose(WcScanParts *p) WC_REQUIRES(p->mutex)
{
	for (uint32_t i = p->current; i < p->nparts; i++)
	{
		WcScanPart *part = &p->parts[i];

		if (!part->taken && !part->finished && (i == p->current || p->waiting < PARTS_AHEAD_MAX))
			return part;
	}
	return NULL;
}

static WcScanPart *
take_part(WcScanParts *p, size_t *target)
{
	WcScanPart *part;

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
give_back(WcScanParts *p, WcScanPart *part, WcPartBlock *block, WcStatus status, const WcError *err)
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
	WcScanPart *part = take_part(p, &target);
	WcPartBlock *block;
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
		status = wc_scanblock_next(part->scanner, &block->bytes, target, &err);
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
		WcScanPart *part = &p->parts[p->current];
		WcPartBlock *block = part->first;

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

/* Writes rows, or groups, of the parts; sets s->in_row, and at the end of the last part s->done. */
static WcStatus
fill_from_parts(WcScanner *s, WcBlockWriter *w, size_t bytes_target, WcError *err)
{
	WcScanParts *p = s->parts;
	size_t		target = bytes_target > WC_SCANBLOCK_LEAST ? bytes_target : WC_SCANBLOCK_LEAST;
	size_t		enough = s->groups != NULL ? target : WC_SCANBLOCK_LEAST;
	WcStatus	status = WC_OK;

	/* rows that were found before are sent at once */
	while (status == WC_OK && !s->done && wc_block_size(w) < enough)
	{
		pthread_mutex_lock(&p->mutex);
		p->target = target;
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
			join(p, s, w, target);
		pthread_mutex_unlock(&p->mutex);
	}
	return status;
}

/* --- the next block -------------------------------------------------------------*/

WcStatus
wc_scanner_next(WcScanner *s, WcBuf *out, size_t bytes_target, uint64_t rows_max, WcError *err)
{
	WcBlockWriter w;
	bool		full;
	WcStatus	status = wc_scanblock_fill(s, &w, out, bytes_target, rows_max, &full, err);

	if (status == WC_OK && s->parts != NULL)
	{
		s->done = false;		/* unless the parts are */
		status = fill_from_parts(s, &w, bytes_target, err);
		full = s->in_row;
	}
	return wc_scanblock_end(s, &w, full, status, err);
}
