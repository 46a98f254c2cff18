/*
 * engine/estimate/parts.c: a table's rows as parts, which are cut in two.
 */
#include "engine/estimate/parts.h"

#include <stdlib.h>

#include "engine/estimate/memory.h"
#include "engine/rocks/cellkey.h"

/* Memtables that have less than one part in this many of the files' bytes do
 * not change how the table is cut. */
#define MEMORY_MATTERS 8

/* --- rows -------------------------------------------------------------------*/

WcStatus
wc_parts_out_of_memory(WcParts *p)
{
	return wc_error(p->err, WC_NO_MEMORY, "out of memory for parts of a table");
}

WcStatus
wc_parts_check_cancel(WcParts *p)
{
	if (p->cancel != NULL && atomic_load(p->cancel))
		return wc_error(p->err, WC_CANCELLED, "looking for parts of a table was cancelled");
	return WC_OK;
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
key_of_row(WcParts *p, const WcPartSource *source, WcSlice row, WcBuf *key)
{
	wc_buf_reset(key, SIZE_MAX);
	if (row.len == 0 || source->store->packing == WC_PACKING_ROW)
		wc_buf_append_slice(key, row);
	else
		wc_cellkey_append_row(key, row);
	return key->failed ? wc_parts_out_of_memory(p) : WC_OK;
}

WcStatus
wc_parts_seek(WcParts *p, const WcPartSource *source, WcSlice row)
{
	WcStatus	status = key_of_row(p, source, row, &p->key);

	if (status == WC_OK)
		wc_rocks_iter_seek(source->it, p->key.len > 0 ? (const char *) p->key.data : "", p->key.len);
	return status;
}

WcStatus
wc_parts_row(WcParts *p, const WcPartSource *source, WcSlice *row)
{
	WcStatus	status;

	row->data = (const uint8_t *) rocksdb_iter_key(source->it, &row->len);
	if (source->store->packing == WC_PACKING_ROW)
		return WC_OK;
	row->len = wc_cellkey_row_prefix(*row);
	wc_buf_reset(&p->row, SIZE_MAX);
	status = wc_cellkey_unescape(*row, &p->row, p->err);
	*row = wc_buf_slice(&p->row);
	if (status == WC_OK && p->row.failed)
		return wc_parts_out_of_memory(p);
	return status;
}

WcStatus
wc_parts_source_status(WcParts *p, const WcPartSource *source)
{
	char	   *error = NULL;

	rocksdb_iter_get_error(source->it, &error);
	return wc_store_status(source->store, error, "read", p->err);
}

/* --- sizes ------------------------------------------------------------------*/

/* Of the memtables, between the keys in p->key and p->stop_key. */
static WcStatus
memory_bytes(WcParts *p, const WcPartSource *source, double *bytes)
{
	uint64_t	between;
	uint64_t	all;
	uint64_t	kept = 0;
	WcStatus	status = WC_OK;

	*bytes = 0;
	if (source->kept_memory)
	{
		status = wc_estimate_memory(source->store, wc_buf_slice(&p->key), wc_buf_slice(&p->stop_key), &between, &all,
									&kept, p->err);
		*bytes = (double) kept;
	}
	else if (source->memory.total > 0)
		*bytes = (double) wc_memkeys_between(&source->memory, wc_buf_slice(&p->key), wc_buf_slice(&p->stop_key)) *
			(double) source->memory.bytes / (double) source->memory.total;
	return status;
}

WcStatus
wc_parts_source_bytes(WcParts *p, const WcPartSource *source, WcSlice start, WcSlice stop, double *bytes)
{
	uint64_t	size = 0;
	WcStatus	status = key_of_row(p, source, start, &p->key);

	if (status == WC_OK)
		status = key_of_row(p, source, stop, &p->stop_key);
	if (status == WC_OK)
		status = wc_rocks_bytes_between(source->store->engine->db, source->store->cf, wc_buf_slice(&p->key),
										wc_buf_slice(&p->stop_key), &size, p->err);
	if (status == WC_OK)
		status = memory_bytes(p, source, bytes);
	if (status == WC_OK)
		*bytes += (double) size;
	return status;
}

static WcStatus
rows_bytes(WcParts *p, WcSlice start, WcSlice stop, double *bytes)
{
	WcStatus	status = WC_OK;

	*bytes = 0;
	for (uint32_t i = 0; status == WC_OK && i < p->nsources; i++)
	{
		double		more = 0;

		status = wc_parts_source_bytes(p, &p->sources[i], start, stop, &more);
		*bytes += more;
	}
	return status;
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

/* A key greater than `first` and not greater than `last` (first < last): about the middle, by the bytes that follow
 * their common prefix. */
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
find_neighbours(WcParts *p, WcSlice mid, WcBuf *before, WcBuf *behind)
{
	bool		found_before = false;
	bool		found_behind = false;
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; status == WC_OK && i < p->nsources; i++)
	{
		const WcPartSource *source = &p->sources[i];
		WcSlice		row;
		bool		valid;

		status = key_of_row(p, source, mid, &p->key);
		if (status != WC_OK)
			break;
		wc_rocks_iter_seek(source->it, (const char *) p->key.data, p->key.len);
		valid = rocksdb_iter_valid(source->it);
		if (valid)
		{
			status = wc_parts_row(p, source, &row);
			if (status == WC_OK && (!found_behind || wc_slice_cmp(row, wc_buf_slice(behind)) < 0))
				found_behind = copy_row(behind, row);
			wc_rocks_iter_prev(source->it);
		}
		else if ((status = wc_parts_source_status(p, source)) == WC_OK)
			wc_rocks_iter_seek_to_last(source->it);
		if (status == WC_OK && rocksdb_iter_valid(source->it))
		{
			status = wc_parts_row(p, source, &row);
			if (status == WC_OK && (!found_before || wc_slice_cmp(row, wc_buf_slice(before)) > 0))
				found_before = copy_row(before, row);
		}
		else if (status == WC_OK)
			status = wc_parts_source_status(p, source);
	}
	if (status == WC_OK && !(found_before && found_behind))
		return wc_parts_out_of_memory(p);
	return status;
}

bool
wc_part_is_one(const WcPart *part)
{
	return part->depth >= WC_PART_DEPTH_MAX || wc_slice_eq(part->first, part->last);
}

WcStatus
wc_parts_halve(WcParts *p, const WcPart *part, WcHalves *halves)
{
	WcStatus	status;

	memset(halves, 0, sizeof(*halves));
	middle(part->first, part->last, &halves->mid);
	if (halves->mid.failed)
		return wc_parts_out_of_memory(p);
	status = find_neighbours(p, wc_buf_slice(&halves->mid), &halves->before, &halves->behind);
	if (status != WC_OK)
		return status;
	halves->low = (WcPart) {part->start, wc_buf_slice(&halves->mid), part->first, wc_buf_slice(&halves->before), 0, part->depth + 1};
	halves->high = (WcPart) {wc_buf_slice(&halves->mid), part->stop, wc_buf_slice(&halves->behind), part->last, 0, part->depth + 1};
	status = rows_bytes(p, halves->low.start, halves->low.stop, &halves->low.bytes);
	if (status == WC_OK)
		status = rows_bytes(p, halves->high.start, halves->high.stop, &halves->high.bytes);
	return status;
}

void
wc_halves_free(WcHalves *halves)
{
	wc_buf_free(&halves->mid);
	wc_buf_free(&halves->before);
	wc_buf_free(&halves->behind);
}

/* --- the rows of a range ------------------------------------------------------*/

/* To the source's last key before stop (empty: of all).  There is one. */
static WcStatus
seek_last(WcParts *p, const WcPartSource *source, WcSlice stop)
{
	WcStatus	status = key_of_row(p, source, stop, &p->key);

	if (status != WC_OK)
		return status;
	if (p->key.len > 0)
		wc_rocks_iter_seek(source->it, (const char *) p->key.data, p->key.len);
	if (p->key.len > 0 && rocksdb_iter_valid(source->it))
		wc_rocks_iter_prev(source->it);
	else
	{
		status = wc_parts_source_status(p, source);
		wc_rocks_iter_seek_to_last(source->it);
	}
	if (status == WC_OK && !rocksdb_iter_valid(source->it))
	{
		status = wc_parts_source_status(p, source);
		if (status == WC_OK)
			status = wc_error(p->err, WC_INTERNAL, "a family has no row where it had one");
	}
	return status;
}

/* The first and the last row of the range; not found: there is none. */
static WcStatus
find_ends(WcParts *p, const WcRange *range, WcBuf *first, WcBuf *last, bool *found)
{
	WcStatus	status = WC_OK;

	*found = false;
	for (uint32_t i = 0; status == WC_OK && i < p->nsources; i++)
	{
		const WcPartSource *source = &p->sources[i];
		WcSlice		row;

		status = key_of_row(p, source, range->start, &p->key);
		if (status != WC_OK)
			break;
		wc_rocks_iter_seek(source->it, p->key.len > 0 ? (const char *) p->key.data : "", p->key.len);
		if (!rocksdb_iter_valid(source->it))
		{
			status = wc_parts_source_status(p, source);
			continue;
		}
		status = wc_parts_row(p, source, &row);
		if (status == WC_OK && range->stop.len > 0 && wc_slice_cmp(row, range->stop) >= 0)
			continue;
		if (status == WC_OK && (!*found || wc_slice_cmp(row, wc_buf_slice(first)) < 0) && !copy_row(first, row))
			status = wc_parts_out_of_memory(p);
		if (status == WC_OK)
			status = seek_last(p, source, range->stop);
		if (status == WC_OK)
			status = wc_parts_row(p, source, &row);
		if (status == WC_OK && (!*found || wc_slice_cmp(row, wc_buf_slice(last)) > 0) && !copy_row(last, row))
			status = wc_parts_out_of_memory(p);
		*found = true;
	}
	return status;
}

WcStatus
wc_parts_whole(WcParts *p, const WcRange *range, WcWholePart *whole)
{
	WcStatus	status;

	memset(whole, 0, sizeof(*whole));
	status = find_ends(p, range, &whole->first, &whole->last, &whole->found);
	if (status != WC_OK || !whole->found)
		return status;
	wc_buf_append_slice(&whole->behind, wc_buf_slice(&whole->last));
	wc_buf_append_u8(&whole->behind, 0);
	if (whole->behind.failed)
		return wc_parts_out_of_memory(p);
	whole->part.start = whole->part.first = wc_buf_slice(&whole->first);
	whole->part.last = wc_buf_slice(&whole->last);
	whole->part.stop = wc_buf_slice(&whole->behind);
	return rows_bytes(p, whole->part.start, whole->part.stop, &whole->part.bytes);
}

void
wc_whole_part_free(WcWholePart *whole)
{
	wc_buf_free(&whole->first);
	wc_buf_free(&whole->last);
	wc_buf_free(&whole->behind);
}

/* --- opening ------------------------------------------------------------------*/

bool
wc_parts_has_family(uint32_t family, const uint32_t *families, uint32_t nfamilies)
{
	for (uint32_t i = 0; i < nfamilies; i++)
	{
		if (families[i] == family)
			return true;
	}
	return nfamilies == 0;
}

static WcStatus
open_source(WcParts *p, WcStore *store, WcPartMemory how)
{
	WcPartSource *source = &p->sources[p->nsources];
	rocksdb_t  *db = store->engine->db;
	uint64_t	memory = wc_rocks_property(db, store->cf, "rocksdb.cur-size-all-mem-tables");
	uint64_t	files = wc_rocks_property(db, store->cf, "rocksdb.live-sst-files-size");
	double		block = wc_store_attrs(store).blocksize;

	source->store = store;
	source->it = wc_rocks_create_iterator(db, p->options, store->cf);
	p->nsources++;
	if (p->block < block)
		p->block = block;
	if (memory * MEMORY_MATTERS < files)
		return WC_OK;
	source->kept_memory = how == WC_PART_MEMORY_KEPT;
	return source->kept_memory ? WC_OK : wc_memkeys_read(store, p->cancel, &source->memory, p->err);
}

WcStatus
wc_parts_open(WcParts *p, const WcTable *table, const uint32_t *families, uint32_t nfamilies, WcPartMemory memory,
			  const atomic_bool *cancel, WcError *err)
{
	WcStatus	status = WC_OK;

	memset(p, 0, sizeof(*p));
	p->cancel = cancel;
	p->err = err;
	p->sources = calloc(table->desc.nfamilies + 1, sizeof(WcPartSource));
	if (p->sources == NULL)
		return wc_parts_out_of_memory(p);
	p->options = rocksdb_readoptions_create();
	rocksdb_readoptions_set_total_order_seek(p->options, 1);
	for (uint32_t i = 0; status == WC_OK && i < table->desc.nfamilies; i++)
	{
		if (wc_parts_has_family(table->stores[i]->family_id, families, nfamilies))
			status = open_source(p, table->stores[i], memory);
	}
	return status;
}

void
wc_parts_close(WcParts *p)
{
	for (uint32_t i = 0; i < p->nsources; i++)
	{
		rocksdb_iter_destroy(p->sources[i].it);
		wc_memkeys_free(&p->sources[i].memory);
	}
	if (p->options != NULL)
		rocksdb_readoptions_destroy(p->options);
	free(p->sources);
	wc_buf_free(&p->key);
	wc_buf_free(&p->stop_key);
	wc_buf_free(&p->row);
}
