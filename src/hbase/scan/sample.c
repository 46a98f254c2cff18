/*
 * hbase/scan/sample.c: draws the ranges of a random sample of a table's rows.
 *
 * HBase tells the regions of a table, but no sizes.  So a region is cut in the middle between its first and its last
 * row key, and each half again, until a part has no more rows than a range of the sample should have.  One call makes a
 * cut: it reads the first row keys behind the cut.  The cuts depend on the stored rows, not on chance.
 *
 * Regions, and parts of them, are cut in this way until there are as many parts as wanted ranges, large parts of the key
 * space first.  Each part then gets a range.  If it has too many rows for one, the range is passed on to one of the halves,
 * by chance, and the other half is not looked at: the number of calls grows with the logarithm of the number of rows.
 * The weight of a range is the inverse of its probability, so sums over the ranges that use the weights are not biased,
 * however different the halves are.  A table with few rows is the sample as a whole, with weight 1.
 */
#include "hbase/scan/scan.h"

#include <math.h>

#include "access/xact.h"
#include "common/pg_prng.h"
#include "utils/memutils.h"

#include "base/coding.h"
#include "hbase/catalog/catalog.h"
#include "model/cellblock.h"

/* Bytes behind the common beginning of two row keys that decide where the middle between them is. */
#define MIDDLE_BYTES 16

/* A cut reads so many row keys.  If a part seems to have at most SEEMS_SMALL times the rows of a range, the others are read. */
#define FEW_ROWS 16
#define SEEMS_SMALL 1.5

/* A table is read completely if it has fewer rows than the wanted ranges at most have, divided by this. */
#define FEW_RANGES 2

#define PART_ROWS_MAX 10000

#define WEIGHT_ONE 65536.0
#define WEIGHT_MAX (WEIGHT_ONE * (INT64CONST(1) << 46))

/* Row keys that were read one behind another. */
typedef struct Keys
{
	uint32		n;
	WcSlice		first;
	WcSlice		last;
} Keys;

/* A part of the table, and estimates of its rows. */
typedef struct Part
{
	WcRange		range;
	Keys		known;			/* its first rows */
	bool		whole;			/* it has no other rows */
	bool		many;			/* part_rows of them were requested, not only FEW_ROWS */
	WcSlice		last;			/* its last row; empty: it has not been looked for */
} Part;

typedef struct Sampler
{
	WcHBaseTable *table;
	uint32		part_rows;		/* a part with fewer rows is not cut */
	pg_prng_state random;
	WcBuf		ranges;			/* the ranges drawn so far */
	uint64		nranges;
} Sampler;

/* The result; valid until the next call. */
static WcBuf result = WC_BUF_INIT;

/* A copy that ends with `zeros` zero bytes more: with one, the next possible key. */
static WcSlice
copy_key(WcSlice key, size_t zeros)
{
	uint8	   *bytes = palloc0(key.len + zeros + 1);

	wc_slice_copy(bytes, key);
	return wc_slice(bytes, key.len + zeros);
}

/* --- reading row keys -----------------------------------------------------------*/

static void
read_block(WcSlice bytes, Keys *keys)
{
	WcBlockReader r;
	WcBlockEntry entry;
	WcSlice		row;
	WcCell		cell;
	uint32		colno;
	WcError		err;

	if (wc_block_open(&r, bytes, &err) != WC_OK)
		wc_hbase_raise(&err);
	while ((entry = wc_block_next(&r, &row, &cell, &colno)) == WC_BLOCK_ROW)
	{
		if (keys->n++ == 0)
			keys->first = copy_key(row, 0);
		keys->last = row;
	}
	if (entry != WC_BLOCK_DONE)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("block of row keys is malformed")));
	keys->last = copy_key(keys->last, 0);
}

/* Reads up to n row keys of the range. */
static void
read_keys(const Sampler *s, WcRange range, bool reversed, uint32 n, Keys *keys)
{
	WcDriverOpen open = {.cid = GetCurrentCommandId(false),.rows_hint = n};
	WcDriverScan reading = {0};
	WcScan		scan;

	*keys = (Keys) {0};
	if (wc_range_is_empty(&range))
		return;
	wc_scan_init(&scan, s->table->id);
	scan.nranges = 1;
	scan.ranges = &range;
	scan.rows_by_existence = true;
	scan.key_only = true;
	scan.reversed = reversed;
	scan.row_limit = n;
	open.scan = &scan;
	PG_TRY();
	{
		wc_hbase_scan_open(&reading, &open);
		while (wc_hbase_scan_next(&reading))
			read_block(wc_slice(reading.block.data, reading.block_len), keys);
	}
	PG_FINALLY();
	{
		wc_hbase_scan_close(&reading);
	}
	PG_END_TRY();
}

static void
read_first(const Sampler *s, Part *part, bool many)
{
	uint32		n = many ? s->part_rows : Min(s->part_rows, FEW_ROWS);

	read_keys(s, part->range, false, n, &part->known);
	part->whole = part->known.n < n;
	part->many = n == s->part_rows;
}

static Part
open_part(const Sampler *s, WcRange range)
{
	Part		part = {.range = range};

	read_first(s, &part, false);
	return part;
}

/* Looks for the last row behind the known ones. */
static void
find_last(const Sampler *s, Part *part)
{
	Keys		keys;

	read_keys(s, wc_range_part(&part->range, copy_key(part->known.last, 1), wc_slice(NULL, 0)), true, 1, &keys);
	part->last = keys.first;
	part->whole = keys.n == 0;
}

/* --- cutting ----------------------------------------------------------------------*/

/* The number of bytes that two keys begin with. */
static size_t
common_bytes(WcSlice a, WcSlice b)
{
	size_t		n = 0;

	while (n < a.len && n < b.len && a.data[n] == b.data[n])
		n++;
	return n;
}

/* A key in the middle between two others, as if they were fractions; perhaps not between them if they differ late. */
static WcSlice
middle(WcSlice low, WcSlice high)
{
	size_t		common = common_bytes(low, high);
	size_t		len = common + MIDDLE_BYTES;
	uint8	   *key = palloc(len);
	uint32		sum = 0;

	memcpy(key, high.data, common);
	for (size_t i = len; i-- > common;)
	{
		sum += (uint32) (i < low.len ? low.data[i] : 0) + (i < high.len ? high.data[i] : 0);
		key[i] = (uint8) sum;
		sum >>= 8;
	}
	for (size_t i = common; i < len; i++)
	{
		sum = ((sum & 1) << 8) | key[i];
		key[i] = (uint8) (sum >> 1);
	}
	while (len > common && key[len - 1] == 0)
		len--;
	return wc_slice(key, len);
}

/* The bytes of a key behind the first `skipped` ones, as a number. */
static double
number_behind(WcSlice key, size_t skipped)
{
	double		number = 0;

	for (size_t i = skipped; i < skipped + sizeof(uint64); i++)
		number = number * 256 + (i < key.len ? key.data[i] : 0);
	return number;
}

/* Has a part few rows, if all of it is like its known rows?  high: behind all rows, or the last one. */
static bool
seems_small(const Sampler *s, const Part *part, WcSlice high)
{
	size_t		common = common_bytes(part->known.first, high);
	double		first = number_behind(part->known.first, common);
	double		known = number_behind(part->known.last, common);

	return part->known.n * (number_behind(high, common) - first) <= SEEMS_SMALL * s->part_rows * (known - first);
}

/* Cuts a part in two that have rows.  False: its rows are all known. */
static bool
cut_part(Sampler *s, Part *part, Part *before, Part *behind)
{
	const WcSlice none = {0};

	while (!part->whole)
	{
		WcSlice		high = part->last.len > 0 ? part->last : part->range.stop;
		WcSlice		cut;

		if (high.len == 0)
		{
			find_last(s, part);
			continue;
		}
		if (!part->many && seems_small(s, part, high))
		{
			read_first(s, part, true);
			continue;
		}
		cut = middle(part->known.first, high);
		if (wc_slice_cmp(cut, part->known.first) <= 0)
			cut = copy_key(part->known.last, 1);
		*behind = open_part(s, wc_range_part(&part->range, cut, none));
		behind->last = part->last;
		*before = *part;
		before->range = wc_range_part(&part->range, none, cut);
		before->last = none;
		before->whole = wc_slice_cmp(part->known.last, cut) >= 0;
		if (behind->known.n > 0)
			return true;
		/* the next cut is in the middle before the last row */
		*part = *before;
		if (!part->whole)
			find_last(s, part);
	}
	return false;
}

/* --- drawing ----------------------------------------------------------------------*/

static void
add_range(Sampler *s, const WcRange *range, double probability)
{
	wc_buf_append_bytes(&s->ranges, range->start);
	wc_buf_append_bytes(&s->ranges, range->stop);
	wc_buf_append_varint(&s->ranges, (uint64) Min(rint(WEIGHT_ONE / probability), WEIGHT_MAX));
	s->nranges++;
}

/* Draws a range of a part that was chosen with this probability. */
static void
draw(Sampler *s, Part part, double probability)
{
	Part		before;
	Part		behind;

	for (; cut_part(s, &part, &before, &behind); probability /= 2)
		part = pg_prng_bool(&s->random) ? before : behind;
	add_range(s, &part.range, probability);
}

/* Cuts each part once, again and again, until there are n parts, or none has unknown rows.  Returns their number. */
static uint32
cut_all(Sampler *s, Part *parts, uint32 nparts, uint32 n)
{
	uint32		old;

	do
	{
		old = nparts;
		for (uint32 i = 0; i < old && nparts < n; i++)
		{
			Part		before;

			if (cut_part(s, &parts[i], &before, &parts[nparts]))
			{
				parts[i] = before;
				nparts++;
			}
		}
	} while (nparts > old);
	return nparts;
}

static int
compare_parts(const void *a, const void *b)
{
	return wc_slice_cmp(((const Part *) a)->range.start, ((const Part *) b)->range.start);
}

/* Sets *regions to the regions' parts of the range; returns their number. */
static uint32
find_regions(WcHBaseTable *table, const WcRange *range, WcRange **regions)
{
	WcSlice		name = wc_slice_cstr(table->name);
	const uint8 *colon = memchr(name.data, ':', name.len);
	WcTableDesc desc = {
		.id = table->id,.ns = wc_slice(name.data, colon - name.data),.name = wc_slice_cstr((const char *) colon + 1)
	};
	WcSlice		points;
	WcSlice		start = {0};
	WcDecoder	d;
	uint64		npoints;
	uint32		n = 0;

	wc_hbase_regions(table->server->oid, &desc, &points);
	d = wc_decoder(points);
	npoints = wc_decode_varint(&d);
	*regions = palloc_extended(sizeof(WcRange) * (npoints + 1), MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i <= npoints; i++)
	{
		WcSlice		stop = i < npoints ? copy_key(wc_decode_bytes(&d), 0) : wc_slice(NULL, 0);

		(*regions)[n] = wc_range_part(range, start, stop);
		n += !wc_range_is_empty(&(*regions)[n]);
		start = stop;
	}
	return n;
}

/* Draws a range in each of n regions, at equal distances; or, of fewer regions, in each of n parts. */
static void
draw_all(Sampler *s, const WcRange *range, uint32 n)
{
	uint32		few = n * s->part_rows / FEW_RANGES;
	uint32		nregions;
	uint32		nparts = 0;
	WcRange    *regions;
	Part	   *parts;
	Keys		keys;

	read_keys(s, *range, false, few, &keys);
	if (keys.n < few)
	{
		add_range(s, range, 1);
		return;
	}
	nregions = find_regions(s->table, range, &regions);
	if (nregions >= n)
	{
		double		distance = (double) nregions / n;

		for (double at = pg_prng_double(&s->random) * distance; at < nregions; at += distance)
			draw(s, open_part(s, regions[(uint32) at]), 1 / distance);
		return;
	}
	parts = palloc_extended(sizeof(Part) * n, MCXT_ALLOC_HUGE);
	for (; nparts < nregions; nparts++)
		parts[nparts] = open_part(s, regions[nparts]);
	nparts = cut_all(s, parts, nparts, n);
	qsort(parts, nparts, sizeof(Part), compare_parts);
	for (uint32 i = 0; i < nparts; i++)
		draw(s, parts[i], 1);
}

void
wc_hbase_sample(uint32 table_id, const WcRange *range, uint32 nranges, uint64 range_rows, uint64 seed, WcSlice *ranges)
{
	Sampler		s = {.table = wc_hbase_table_by_id(table_id),.part_rows = (uint32) Max(Min(range_rows, PART_ROWS_MAX), 2)};
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "widecol HBase sample", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	WcError		err;

	wc_buf_reset(&result, 0);
	pg_prng_seed(&s.random, seed);
	PG_TRY();
	{
		draw_all(&s, range, Max(nranges, 1));
		wc_buf_append_varint(&result, s.nranges);
		wc_buf_append_slice(&result, wc_buf_slice(&s.ranges));
		result.failed |= s.ranges.failed;
	}
	PG_FINALLY();
	{
		wc_buf_free(&s.ranges);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	if (wc_buf_status(&result, "ranges of a sample", &err) != WC_OK)
		wc_hbase_raise(&err);
	*ranges = wc_buf_slice(&result);
}
