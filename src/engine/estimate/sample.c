/*
 * engine/estimate/sample.c: draws the ranges of a random sample of a table's rows.
 *
 * The table is cut in the middle of the bytes between its first and its last row, and each half again, until a part is
 * not larger than a block.  The cuts depend on the stored data, not on chance.  Chance decides which parts are read: the
 * wanted ranges are distributed to the halves of a part by the halves' sizes.  In a part that is not cut further, the rows
 * are counted and ranges drawn, with so many rows that each row of the table has the same probability.
 *
 * Sizes are approximate, so each range is returned with its weight, the inverse of its probability: sums over the
 * ranges that use the weights are not biased, however wrong the sizes are.
 */
#include "engine/estimate/parts.h"

/* In a part that cannot be cut, at most so many keys are read. */
#define PART_KEYS_MAX 16384

/* The rows of a part that is not cut further are remembered as at most so many groups. */
#define GROUPS_MAX 256

#define WEIGHT_ONE 65536.0

/* A part that is not cut any more, into which ranges were dealt. */
typedef struct Leaf
{
	struct Leaf *next;
	WcSlice		start;
	WcSlice		stop;
	uint64_t	draws;			/* ranges dealt to it */
	double		expected;		/* how many could be expected */
	uint64_t	rows;
	uint64_t	group_rows;		/* rows of each group: */
	uint32_t	ngroups;
	WcSlice    *groups;			/* their first rows */
} Leaf;

typedef struct Sampler
{
	WcArena		arena;			/* of the leaves */
	Leaf	   *leaves;			/* in order */
	Leaf	  **tail;
	WcSlice		groups[GROUPS_MAX];
	double		rows;			/* that the leaves' rows stand for: the table's */
	WcParts		parts;
	double		part_bytes;		/* a part that has no more is not cut */
	double		doubt;			/* bytes that sizes may be wrong by */
	uint64_t	random;
	WcBuf		ranges;			/* the ranges drawn so far */
	uint64_t	nranges;
} Sampler;

/* 0 <= x < 1; splitmix64. */
static double
chance(Sampler *s)
{
	uint64_t	z = (s->random += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	z ^= z >> 31;
	return (double) (z >> 11) / (double) (UINT64_C(1) << 53);
}

/* --- parts that are small enough ---------------------------------------------*/

/* Keeps the first row of each group; when there are too many groups, of every second one. */
static WcStatus
note_group(Sampler *s, Leaf *leaf, WcSlice row)
{
	if (leaf->ngroups == GROUPS_MAX)
	{
		for (uint32_t i = 0; i < GROUPS_MAX / 2; i++)
			leaf->groups[i] = leaf->groups[2 * i];
		leaf->ngroups = GROUPS_MAX / 2;
		leaf->group_rows *= 2;
	}
	if (leaf->rows++ % leaf->group_rows != 0)
		return WC_OK;
	leaf->groups[leaf->ngroups] = wc_arena_copy(&s->arena, row);
	return leaf->groups[leaf->ngroups++].data == NULL ? wc_parts_out_of_memory(&s->parts) : WC_OK;
}

static WcStatus
count_rows(Sampler *s, Leaf *leaf, const WcPartSource *source)
{
	WcBuf		row = WC_BUF_INIT;
	WcStatus	status = wc_parts_seek(&s->parts, source, leaf->start);

	for (int n = 0; status == WC_OK && n < PART_KEYS_MAX && rocksdb_iter_valid(source->it); n++)
	{
		WcSlice		next;

		status = wc_parts_row(&s->parts, source, &next);
		if (status != WC_OK || wc_slice_cmp(next, leaf->stop) >= 0)
			break;
		if (!wc_slice_eq(next, wc_buf_slice(&row)))
		{
			status = note_group(s, leaf, next);
			wc_buf_reset(&row, SIZE_MAX);
			wc_buf_append_slice(&row, next);
			if (status == WC_OK && row.failed)
				status = wc_parts_out_of_memory(&s->parts);
		}
		wc_rocks_iter_next(source->it);
	}
	if (status == WC_OK)
		status = wc_parts_source_status(&s->parts, source);
	wc_buf_free(&row);
	return status;
}

/* The source that has most of a part. */
static WcStatus
main_source(Sampler *s, const WcPart *part, const WcPartSource **source)
{
	double		most = -1;
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; status == WC_OK && i < s->parts.nsources; i++)
	{
		double		bytes;

		status = wc_parts_source_bytes(&s->parts, &s->parts.sources[i], part->start, part->stop, &bytes);
		if (status == WC_OK && bytes > most)
		{
			most = bytes;
			*source = &s->parts.sources[i];
		}
	}
	return status;
}

static WcStatus
add_leaf(Sampler *s, const WcPart *part, uint64_t n, double expected)
{
	const WcPartSource *source = &s->parts.sources[0];
	Leaf	   *leaf = wc_arena_alloc_zero(&s->arena, sizeof(Leaf));
	WcSlice	   *groups;
	WcStatus	status = WC_OK;

	if (leaf == NULL)
		return wc_parts_out_of_memory(&s->parts);
	leaf->start = wc_arena_copy(&s->arena, part->start);
	leaf->stop = wc_arena_copy(&s->arena, part->stop);
	if (leaf->start.data == NULL || leaf->stop.data == NULL)
		return wc_parts_out_of_memory(&s->parts);
	leaf->draws = n;
	leaf->expected = expected;
	leaf->group_rows = 1;
	leaf->groups = s->groups;
	if (s->parts.nsources > 1)
		status = main_source(s, part, &source);
	if (status == WC_OK)
		status = count_rows(s, leaf, source);
	if (status != WC_OK)
		return status;
	groups = wc_arena_alloc(&s->arena, (leaf->ngroups + 1) * sizeof(WcSlice));
	if (groups == NULL)
		return wc_parts_out_of_memory(&s->parts);
	memcpy(groups, s->groups, leaf->ngroups * sizeof(WcSlice));
	leaf->groups = groups;
	s->rows += (double) n / expected * (double) leaf->rows;
	*s->tail = leaf;
	s->tail = &leaf->next;
	return WC_OK;
}

/* --- ranges -------------------------------------------------------------------*/

static void
add_range(Sampler *s, WcSlice start, WcSlice stop, double weight)
{
	double		units = weight * WEIGHT_ONE + 0.5;

	if (stop.len > 0 && wc_slice_cmp(start, stop) >= 0)
		return;
	wc_buf_append_bytes(&s->ranges, start);
	wc_buf_append_bytes(&s->ranges, stop);
	wc_buf_append_varint(&s->ranges, units < 1 ? 1 : units < 9e18 ? (uint64_t) units : INT64_MAX);
	s->nranges++;
}

/* Draws the leaf's number of chunks, or all, each with the same probability.  A chunk has so many of the leaf's rows that
 * the rows of all leaves have the same probability. */
static void
draw_chunks(Sampler *s, const Leaf *leaf, double wanted_rows)
{
	double		chunk_rows = wanted_rows * (double) leaf->rows / leaf->expected / s->rows;
	double		groups = chunk_rows / (double) leaf->group_rows + 0.5;
	uint64_t	chunk = groups < 1 ? 1 : groups < GROUPS_MAX ? (uint64_t) groups : GROUPS_MAX;
	uint64_t	nchunks = leaf->ngroups > 0 ? (leaf->ngroups + chunk - 1) / chunk : 1;
	uint64_t	draws = leaf->draws < nchunks ? leaf->draws : nchunks;
	double		offset = chance(s);
	double		weight = (double) leaf->draws / leaf->expected * (double) nchunks / (double) draws;

	for (uint64_t drawn = 0; drawn < draws; drawn++)
	{
		uint64_t	i = (uint64_t) (((double) drawn + offset) * (double) nchunks / (double) draws);

		if (i >= nchunks)
			i = nchunks - 1;
		add_range(s, i == 0 ? leaf->start : leaf->groups[i * chunk],
				  i + 1 == nchunks ? leaf->stop : leaf->groups[(i + 1) * chunk], weight);
	}
}

/* --- cutting ----------------------------------------------------------------*/

/* Deals n ranges to the part, of which `expected` could be expected before
 * anything was dealt. */
static WcStatus
deal(Sampler *s, const WcPart *part, uint64_t n, double expected)
{
	WcHalves	halves;
	double		share;
	uint64_t	nlow;
	WcStatus	status;

	if (n == 0)
		return WC_OK;
	status = wc_parts_check_cancel(&s->parts);
	if (status != WC_OK)
		return status;
	if (part->bytes <= s->part_bytes || wc_part_is_one(part))
		return add_leaf(s, part, n, expected);

	status = wc_parts_halve(&s->parts, part, &halves);
	if (status == WC_OK)
	{
		share = (halves.low.bytes + s->doubt) / (halves.low.bytes + halves.high.bytes + 2 * s->doubt);
		nlow = (uint64_t) ((double) n * share + chance(s));
		if (nlow > n)
			nlow = n;
		status = deal(s, &halves.low, nlow, expected * share);
		if (status == WC_OK)
			status = deal(s, &halves.high, n - nlow, expected * (1 - share));
	}
	wc_halves_free(&halves);
	return status;
}

/* --- the table --------------------------------------------------------------*/

/* The ranges before the first committed row and after the last are always read: if the transaction has written many
 * rows, they may be there. */
static WcStatus
draw_table(Sampler *s, const WcSampleRequest *request)
{
	WcWholePart whole;
	WcStatus	status = wc_parts_whole(&s->parts, &request->range, &whole);

	if (status == WC_OK && whole.found)
		status = deal(s, &whole.part, request->nranges, request->nranges);
	if (status == WC_OK)
		add_range(s, request->range.start, whole.found ? whole.part.start : request->range.stop, 1);
	if (status == WC_OK && whole.found)
	{
		for (const Leaf *leaf = s->leaves; leaf != NULL; leaf = leaf->next)
			draw_chunks(s, leaf, (double) request->nranges * (double) request->range_rows);
		add_range(s, whole.part.stop, request->range.stop, 1);
	}
	wc_whole_part_free(&whole);
	return status;
}

/* Everything for a table that has stores. */
static WcStatus
sample_table(Sampler *s, const WcTable *table, const WcSampleRequest *request, const atomic_bool *cancel, WcError *err)
{
	WcStatus	status = wc_parts_open(&s->parts, table, NULL, 0, WC_PART_MEMORY_NOW, cancel, err);

	if (s->part_bytes < s->parts.block)
		s->part_bytes = s->parts.block;
	s->doubt = s->part_bytes / 8;
	s->tail = &s->leaves;
	if (status == WC_OK)
		status = draw_table(s, request);
	wc_parts_close(&s->parts);
	wc_arena_free(&s->arena);
	return status;
}

WcStatus
wc_engine_sample(WcEngine *engine, const WcSampleRequest *request, const atomic_bool *cancel, WcBuf *out, WcError *err)
{
	Sampler		s = {.random = request->seed};
	WcTable    *table;
	uint64_t	bytes;
	uint64_t	rows;
	WcStatus	status = wc_engine_estimate(engine, request->table_id, &request->range, NULL, 0, &bytes, &rows, err);

	if (status != WC_OK)
		return status;
	if (request->nranges < 1 || request->nranges > WC_RANGES_MAX - 2 || request->range_rows < 1)
		return wc_error(err, WC_INVALID, "a sample of %u ranges of %llu rows makes no sense", request->nranges,
						(unsigned long long) request->range_rows);
	if (rows > 0)
		s.part_bytes = (double) request->range_rows * (double) bytes / (double) rows;
	table = wc_catalog_table(engine, request->table_id);
	if (table != NULL && table->desc.nfamilies > 0)
		status = sample_table(&s, table, request, cancel, err);
	else
		add_range(&s, request->range.start, request->range.stop, 1); /* of a transaction that is still open */
	if (table != NULL)
		wc_table_unref(table);
	if (status == WC_OK && s.ranges.failed)
		status = wc_error(err, WC_NO_MEMORY, "out of memory for a sample");
	if (status == WC_OK)
	{
		wc_buf_append_varint(out, s.nranges);
		wc_buf_append_slice(out, wc_buf_slice(&s.ranges));
	}
	wc_buf_free(&s.ranges);
	return status;
}
