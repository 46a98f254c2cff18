/*
 * engine/estimate/sample.c: ranges that a sample of a table's rows is read from.
 *
 * The table is cut in two between its first and its last row, in the middle of
 * the bytes between, and so on, until a part is no larger than a block.  Where the
 * cuts are depends on what is stored, not on chance.  Chance decides which parts
 * are entered: as many ranges as are wanted are dealt out among the two halves of
 * a part, by what sizes say about them.  Of a part that is not cut any more the
 * rows are counted, and ranges drawn that have so many of them that each row of the
 * table is as likely to be read.
 *
 * Sizes are approximate, so the chance that a range had is told with it (as the
 * weight, its inverse): with that nothing that is counted over the ranges is
 * biased, however wrong the sizes were.
 */
#include <stdlib.h>

#include "engine/rocks/cellkey.h"
#include "engine/store/memkeys.h"
#include "engine/store/state.h"

/* Parts are not cut more often than this one in another: keys that share so
 * much of what tells them apart stay together. */
#define DEPTH_MAX 200

/* Of such a part so many keys are looked at. */
#define PART_KEYS_MAX 16384

/* Memtables that have less than one part in this many of the files' bytes do
 * not change how the table is cut. */
#define MEMORY_MATTERS 8

/* Rows of a part that is not cut any more are told apart in so many groups. */
#define GROUPS_MAX 256

#define WEIGHT_ONE 65536.0

/* One family. */
typedef struct Source
{
	WcStore    *store;
	rocksdb_iterator_t *it;
	WcMemKeys	memory;			/* none noted: not looked at */
} Source;

/* A part that is not cut any more, into which ranges were dealt. */
typedef struct Leaf
{
	struct Leaf *next;
	WcSlice		start;
	WcSlice		stop;
	uint64_t	draws;			/* ranges dealt to it */
	double		expected;		/* how many could be expected */
	uint64_t	rows;
	uint64_t	group_rows;		/* its rows in groups of so many: */
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
	Source	   *sources;
	uint32_t	nsources;
	rocksdb_readoptions_t *options;
	const atomic_bool *cancel;
	double		part_bytes;		/* a part that has no more is not cut */
	double		doubt;			/* bytes that sizes may be wrong by */
	uint64_t	random;
	WcBuf		key;			/* scratch */
	WcBuf		stop_key;
	WcBuf		row;
	WcBuf		ranges;			/* what was drawn */
	uint64_t	nranges;
	WcError    *err;
} Sampler;

/* Rows from start (inclusive) to stop (exclusive). */
typedef struct Part
{
	WcSlice		start;
	WcSlice		stop;
	WcSlice		first;			/* rows that are there */
	WcSlice		last;
	double		bytes;
	int			depth;
} Part;

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

static WcStatus
out_of_memory(Sampler *s)
{
	return wc_error(s->err, WC_NO_MEMORY, "out of memory for a sample");
}

static bool
copy_row(WcBuf *to, WcSlice row)
{
	wc_buf_reset(to, SIZE_MAX);
	wc_buf_append_slice(to, row);
	return !to->failed;
}

/* The store's first possible key of a row; an empty row: none. */
static WcStatus
key_of_row(Sampler *s, const Source *source, WcSlice row, WcBuf *key)
{
	wc_buf_reset(key, SIZE_MAX);
	if (row.len == 0 || source->store->packing == WC_PACKING_ROW)
		wc_buf_append_slice(key, row);
	else
		wc_cellkey_append_row(key, row);
	return key->failed ? out_of_memory(s) : WC_OK;
}

/* The row the source's iterator stands in; valid until the next call. */
static WcStatus
current_row(Sampler *s, const Source *source, WcSlice *row)
{
	WcStatus	status;

	row->data = (const uint8_t *) rocksdb_iter_key(source->it, &row->len);
	if (source->store->packing == WC_PACKING_ROW)
		return WC_OK;
	row->len = wc_cellkey_row_prefix(*row);
	wc_buf_reset(&s->row, SIZE_MAX);
	status = wc_cellkey_unescape(*row, &s->row, s->err);
	*row = wc_buf_slice(&s->row);
	if (status == WC_OK && s->row.failed)
		return out_of_memory(s);
	return status;
}

/* The end of a source is an end, or an error. */
static WcStatus
iterator_status(Sampler *s, const Source *source)
{
	char	   *error = NULL;

	rocksdb_iter_get_error(source->it, &error);
	return wc_store_status(source->store, error, "read", s->err);
}

/* --- sizes ------------------------------------------------------------------*/

static WcStatus
source_bytes(Sampler *s, const Source *source, WcSlice start, WcSlice stop, double *bytes)
{
	uint64_t	size = 0;
	WcStatus	status = key_of_row(s, source, start, &s->key);

	if (status == WC_OK)
		status = key_of_row(s, source, stop, &s->stop_key);
	if (status == WC_OK)
		status = wc_rocks_bytes_between(source->store->engine->db, source->store->cf, wc_buf_slice(&s->key),
										wc_buf_slice(&s->stop_key), &size, s->err);
	if (status != WC_OK)
		return status;
	*bytes = (double) size;
	if (source->memory.total > 0)
		*bytes += (double) wc_memkeys_between(&source->memory, wc_buf_slice(&s->key), wc_buf_slice(&s->stop_key)) *
			(double) source->memory.bytes / (double) source->memory.total;
	return WC_OK;
}

static WcStatus
rows_bytes(Sampler *s, WcSlice start, WcSlice stop, double *bytes)
{
	WcStatus	status = WC_OK;

	*bytes = 0;
	for (uint32_t i = 0; status == WC_OK && i < s->nsources; i++)
	{
		double		more = 0;

		status = source_bytes(s, &s->sources[i], start, stop, &more);
		*bytes += more;
	}
	return status;
}

/* --- parts that are small enough ---------------------------------------------*/

/* Keeps the first row of every so many; when there are too many of them, of every
 * other group of rows. */
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
	return leaf->groups[leaf->ngroups++].data == NULL ? out_of_memory(s) : WC_OK;
}

static WcStatus
count_rows(Sampler *s, Leaf *leaf, const Source *source)
{
	WcBuf		row = WC_BUF_INIT;
	WcStatus	status = key_of_row(s, source, leaf->start, &s->key);

	if (status == WC_OK)
		wc_rocks_iter_seek(source->it, (const char *) s->key.data, s->key.len);
	for (int n = 0; status == WC_OK && n < PART_KEYS_MAX && rocksdb_iter_valid(source->it); n++)
	{
		WcSlice		next;

		status = current_row(s, source, &next);
		if (status != WC_OK || wc_slice_cmp(next, leaf->stop) >= 0)
			break;
		if (!wc_slice_eq(next, wc_buf_slice(&row)))
		{
			status = note_group(s, leaf, next);
			if (status == WC_OK && !copy_row(&row, next))
				status = out_of_memory(s);
		}
		wc_rocks_iter_next(source->it);
	}
	if (status == WC_OK)
		status = iterator_status(s, source);
	wc_buf_free(&row);
	return status;
}

/* The source that has most of a part. */
static WcStatus
main_source(Sampler *s, const Part *part, const Source **source)
{
	double		most = -1;
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; status == WC_OK && i < s->nsources; i++)
	{
		double		bytes;

		status = source_bytes(s, &s->sources[i], part->start, part->stop, &bytes);
		if (status == WC_OK && bytes > most)
		{
			most = bytes;
			*source = &s->sources[i];
		}
	}
	return status;
}

static WcStatus
add_leaf(Sampler *s, const Part *part, uint64_t n, double expected)
{
	const Source *source = &s->sources[0];
	Leaf	   *leaf = wc_arena_alloc_zero(&s->arena, sizeof(Leaf));
	WcSlice	   *groups;
	WcStatus	status = WC_OK;

	if (leaf == NULL)
		return out_of_memory(s);
	leaf->start = wc_arena_copy(&s->arena, part->start);
	leaf->stop = wc_arena_copy(&s->arena, part->stop);
	if (leaf->start.data == NULL || leaf->stop.data == NULL)
		return out_of_memory(s);
	leaf->draws = n;
	leaf->expected = expected;
	leaf->group_rows = 1;
	leaf->groups = s->groups;
	if (s->nsources > 1)
		status = main_source(s, part, &source);
	if (status == WC_OK)
		status = count_rows(s, leaf, source);
	if (status != WC_OK)
		return status;
	groups = wc_arena_alloc(&s->arena, (leaf->ngroups + 1) * sizeof(WcSlice));
	if (groups == NULL)
		return out_of_memory(s);
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

/* Draws as many chunks as were dealt to the leaf, or as there are, each as likely.
 * One has so many of the leaf's rows that a row of any leaf is as likely to be drawn. */
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

/* width bytes of a row from an offset on as a number; zeros where it has ended. */
static uint64_t
row_number(WcSlice row, size_t from, size_t width)
{
	uint64_t	number = 0;

	for (size_t i = from; i < from + width; i++)
		number = number << 8 | (i < row.len ? row.data[i] : 0);
	return number;
}

/* A key behind `first` and not behind `last` (first < last), in the middle of what
 * is between as far as the bytes tell that follow what they share. */
static void
middle(WcSlice first, WcSlice last, WcBuf *mid)
{
	size_t		same = 0;
	size_t		width;
	uint64_t	low;
	uint64_t	high;

	while (same < first.len && first.data[same] == last.data[same])
		same++;
	width = WC_ROW_MAX - same < 8 ? WC_ROW_MAX - same : 8;
	low = row_number(first, same, width);
	high = row_number(last, same, width);
	wc_buf_reset(mid, SIZE_MAX);
	if (low == high)
	{
		wc_buf_append_slice(mid, last);
		return;
	}
	wc_buf_append(mid, last.data, same);
	low += (high - low) / 2 + (high - low) % 2;
	for (size_t i = width; i > 0 && low << (8 * (8 - i)) != 0; i--)
	{
		/* zeros at the end would put it behind a shorter `last` */
		wc_buf_append_u8(mid, (uint8_t) (low >> (8 * (i - 1))));
	}
}

/* The last row before mid, and the first that is not. */
static WcStatus
find_neighbours(Sampler *s, WcSlice mid, WcBuf *before, WcBuf *behind)
{
	bool		found_before = false;
	bool		found_behind = false;
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; status == WC_OK && i < s->nsources; i++)
	{
		const Source *source = &s->sources[i];
		WcSlice		row;
		bool		valid;

		status = key_of_row(s, source, mid, &s->key);
		if (status != WC_OK)
			break;
		wc_rocks_iter_seek(source->it, (const char *) s->key.data, s->key.len);
		valid = rocksdb_iter_valid(source->it);
		if (valid)
		{
			status = current_row(s, source, &row);
			if (status == WC_OK && (!found_behind || wc_slice_cmp(row, wc_buf_slice(behind)) < 0))
				found_behind = copy_row(behind, row);
			wc_rocks_iter_prev(source->it);
		}
		else if ((status = iterator_status(s, source)) == WC_OK)
			wc_rocks_iter_seek_to_last(source->it);
		if (status == WC_OK && rocksdb_iter_valid(source->it))
		{
			status = current_row(s, source, &row);
			if (status == WC_OK && (!found_before || wc_slice_cmp(row, wc_buf_slice(before)) > 0))
				found_before = copy_row(before, row);
		}
		else if (status == WC_OK)
			status = iterator_status(s, source);
	}
	if (status == WC_OK && !(found_before && found_behind))
		return out_of_memory(s);
	return status;
}

static WcStatus deal(Sampler *s, const Part *part, uint64_t n, double expected);

static WcStatus
deal_halves(Sampler *s, const Part *part, uint64_t n, double expected, const WcBuf *mid, const WcBuf *before,
			const WcBuf *behind)
{
	Part		low = {part->start, wc_buf_slice(mid), part->first, wc_buf_slice(before), 0, part->depth + 1};
	Part		high = {wc_buf_slice(mid), part->stop, wc_buf_slice(behind), part->last, 0, part->depth + 1};
	WcStatus	status = rows_bytes(s, low.start, low.stop, &low.bytes);
	double		share;
	uint64_t	nlow;

	if (status == WC_OK)
		status = rows_bytes(s, high.start, high.stop, &high.bytes);
	if (status != WC_OK)
		return status;
	share = (low.bytes + s->doubt) / (low.bytes + high.bytes + 2 * s->doubt);
	nlow = (uint64_t) ((double) n * share + chance(s));
	if (nlow > n)
		nlow = n;
	status = deal(s, &low, nlow, expected * share);
	if (status == WC_OK)
		status = deal(s, &high, n - nlow, expected * (1 - share));
	return status;
}

/* Deals n ranges to the part, of which `expected` could be expected before
 * anything was dealt. */
static WcStatus
deal(Sampler *s, const Part *part, uint64_t n, double expected)
{
	WcBuf		mid = WC_BUF_INIT;
	WcBuf		before = WC_BUF_INIT;
	WcBuf		behind = WC_BUF_INIT;
	WcStatus	status;

	if (n == 0)
		return WC_OK;
	if (s->cancel != NULL && atomic_load(s->cancel))
		return wc_error(s->err, WC_CANCELLED, "sampling was cancelled");
	if (part->bytes <= s->part_bytes || part->depth >= DEPTH_MAX || wc_slice_eq(part->first, part->last))
		return add_leaf(s, part, n, expected);

	middle(part->first, part->last, &mid);
	status = mid.failed ? out_of_memory(s) : find_neighbours(s, wc_buf_slice(&mid), &before, &behind);
	if (status == WC_OK)
		status = deal_halves(s, part, n, expected, &mid, &before, &behind);
	wc_buf_free(&mid);
	wc_buf_free(&before);
	wc_buf_free(&behind);
	return status;
}

/* --- the table --------------------------------------------------------------*/

/* To the source's last key before stop (empty: of all).  There is one. */
static WcStatus
seek_last(Sampler *s, const Source *source, WcSlice stop)
{
	WcStatus	status = key_of_row(s, source, stop, &s->key);

	if (status != WC_OK)
		return status;
	if (s->key.len > 0)
		wc_rocks_iter_seek(source->it, (const char *) s->key.data, s->key.len);
	if (s->key.len > 0 && rocksdb_iter_valid(source->it))
		wc_rocks_iter_prev(source->it);
	else
	{
		status = iterator_status(s, source);
		wc_rocks_iter_seek_to_last(source->it);
	}
	if (status == WC_OK && !rocksdb_iter_valid(source->it))
	{
		status = iterator_status(s, source);
		if (status == WC_OK)
			status = wc_error(s->err, WC_INTERNAL, "a family has no row where it had one");
	}
	return status;
}

/* The first and the last row of the range; not found: there is none. */
static WcStatus
find_ends(Sampler *s, const WcRange *range, WcBuf *first, WcBuf *last, bool *found)
{
	WcStatus	status = WC_OK;

	*found = false;
	for (uint32_t i = 0; status == WC_OK && i < s->nsources; i++)
	{
		const Source *source = &s->sources[i];
		WcSlice		row;

		status = key_of_row(s, source, range->start, &s->key);
		if (status != WC_OK)
			break;
		wc_rocks_iter_seek(source->it, s->key.len > 0 ? (const char *) s->key.data : "", s->key.len);
		if (!rocksdb_iter_valid(source->it))
		{
			status = iterator_status(s, source);
			continue;
		}
		status = current_row(s, source, &row);
		if (status == WC_OK && range->stop.len > 0 && wc_slice_cmp(row, range->stop) >= 0)
			continue;
		if (status == WC_OK && (!*found || wc_slice_cmp(row, wc_buf_slice(first)) < 0) && !copy_row(first, row))
			status = out_of_memory(s);
		if (status == WC_OK)
			status = seek_last(s, source, range->stop);
		if (status == WC_OK)
			status = current_row(s, source, &row);
		if (status == WC_OK && (!*found || wc_slice_cmp(row, wc_buf_slice(last)) > 0) && !copy_row(last, row))
			status = out_of_memory(s);
		*found = true;
	}
	return status;
}

static WcStatus
open_source(Sampler *s, WcStore *store)
{
	Source	   *source = &s->sources[s->nsources];
	rocksdb_t  *db = store->engine->db;
	uint64_t	memory = wc_rocks_property(db, store->cf, "rocksdb.cur-size-all-mem-tables");
	uint64_t	files = wc_rocks_property(db, store->cf, "rocksdb.live-sst-files-size");
	double		block = wc_store_attrs(store).blocksize;

	source->store = store;
	source->it = wc_rocks_create_iterator(db, s->options, store->cf);
	s->nsources++;
	if (s->part_bytes < block)
		s->part_bytes = block;
	if (memory * MEMORY_MATTERS < files)
		return WC_OK;
	return wc_memkeys_read(store, s->cancel, &source->memory, s->err);
}

/* What is before the first row or behind the last, of those that are committed, is
 * read in any case: that is where a transaction's own are, if there are many. */
static WcStatus
draw_table(Sampler *s, const WcSampleRequest *request)
{
	WcBuf		first = WC_BUF_INIT;
	WcBuf		last = WC_BUF_INIT;
	WcBuf		behind = WC_BUF_INIT;
	Part		whole = {0};
	bool		found;
	WcStatus	status = find_ends(s, &request->range, &first, &last, &found);

	if (status == WC_OK && found)
	{
		wc_buf_append_slice(&behind, wc_buf_slice(&last));
		wc_buf_append_u8(&behind, 0);
		whole.start = whole.first = wc_buf_slice(&first);
		whole.last = wc_buf_slice(&last);
		whole.stop = wc_buf_slice(&behind);
		status = behind.failed ? out_of_memory(s) : rows_bytes(s, whole.start, whole.stop, &whole.bytes);
		if (status == WC_OK)
			status = deal(s, &whole, request->nranges, request->nranges);
	}
	if (status == WC_OK)
		add_range(s, request->range.start, found ? whole.start : request->range.stop, 1);
	if (status == WC_OK && found)
	{
		for (const Leaf *leaf = s->leaves; leaf != NULL; leaf = leaf->next)
			draw_chunks(s, leaf, (double) request->nranges * (double) request->range_rows);
		add_range(s, whole.stop, request->range.stop, 1);
	}
	wc_buf_free(&first);
	wc_buf_free(&last);
	wc_buf_free(&behind);
	return status;
}

/* Everything for a table that has stores. */
static WcStatus
sample_table(Sampler *s, const WcTable *table, const WcSampleRequest *request)
{
	WcStatus	status = WC_OK;

	s->sources = calloc(table->desc.nfamilies, sizeof(Source));
	if (s->sources == NULL)
		return out_of_memory(s);
	s->options = rocksdb_readoptions_create();
	rocksdb_readoptions_set_total_order_seek(s->options, 1);
	for (uint32_t i = 0; status == WC_OK && i < table->desc.nfamilies; i++)
		status = open_source(s, table->stores[i]);
	s->doubt = s->part_bytes / 8;
	s->tail = &s->leaves;
	if (status == WC_OK)
		status = draw_table(s, request);
	for (uint32_t i = 0; i < s->nsources; i++)
	{
		rocksdb_iter_destroy(s->sources[i].it);
		wc_memkeys_free(&s->sources[i].memory);
	}
	rocksdb_readoptions_destroy(s->options);
	free(s->sources);
	wc_arena_free(&s->arena);
	wc_buf_free(&s->key);
	wc_buf_free(&s->stop_key);
	wc_buf_free(&s->row);
	return status;
}

WcStatus
wc_engine_sample(WcEngine *engine, const WcSampleRequest *request, const atomic_bool *cancel, WcBuf *out, WcError *err)
{
	Sampler		s = {.cancel = cancel,.random = request->seed,.err = err};
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
		status = sample_table(&s, table, request);
	else
		add_range(&s, request->range.start, request->range.stop, 1); /* of a transaction that is still open */
	if (table != NULL)
		wc_table_unref(table);
	if (status == WC_OK && s.ranges.failed)
		status = out_of_memory(&s);
	if (status == WC_OK)
	{
		wc_buf_append_varint(out, s.nranges);
		wc_buf_append_slice(out, wc_buf_slice(&s.ranges));
	}
	wc_buf_free(&s.ranges);
	return status;
}
