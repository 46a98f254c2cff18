/*
 * rpc/lock/rangefill.c: stretches from an answer, and one scan for each other stretch.
 */
#include "rpc/lock/rangefill.h"

#include "base/hash.h"
#include "model/cellblock.h"

/* At most so many bytes, on the average, and so many rows are between two rows that begin stretches. */
#define SPACING_BYTES	(48 * 1024)
#define SPACING_MAX		128

/* A stretch ends at the latest before the row with which it would have so many bytes: keys and indexes need some more. */
#define BYTES_MAX		(WC_STRETCH_BYTES_MAX / 4 * 3)

/* So many rows are read at a time, or fewer, if a row that begins a stretch comes sooner: the stretch may end before the last of them. */
#define BLOCK_ROWS		8

/* At most so many stretches are read for one range. */
#define STRETCHES_MAX	16

/* A stretch that has not been read when so many further requests have come is given up, with its snapshot. */
#define REQUESTS_MAX	100

/* A stretch may take so many times WC_CANCEL_CELLS cells and rows to read: it has about half as many at most. */
#define PATIENCE		8

void
wc_rangefill_init(WcRangeFill *f, WcEngine *engine, WcRanges *ranges, const WcGetCache *cache)
{
	*f = (WcRangeFill) {.engine = engine,.ranges = ranges,.cache = cache};
}

static void
close_scan(WcRangeFill *f)
{
	if (f->scanner != NULL)
		wc_scanner_close(f->scanner);
	f->scanner = NULL;
}

void
wc_rangefill_end(WcRangeFill *f)
{
	close_scan(f);
	f->left = 0;
}

void
wc_rangefill_wait(WcRangeFill *f)
{
	if (f->scanner != NULL && ++f->requests > REQUESTS_MAX)
		wc_rangefill_end(f);
}

void
wc_rangefill_free(WcRangeFill *f)
{
	wc_rangefill_end(f);
	wc_buf_free(&f->shape);
	wc_buf_free(&f->from);
	wc_buf_free(&f->upto);
	wc_buf_free(&f->bytes);
	wc_buf_free(&f->rows);
	wc_buf_free(&f->end);
	wc_arena_free(&f->arena);
}

/* The number of rows of a whole block, and the last one. */
static uint64_t
count_rows(WcSlice block, WcSlice *last)
{
	WcBlockReader reader;
	WcBlockEntry entry;
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;
	uint64_t	n = 0;

	if (wc_block_open(&reader, block, NULL) != WC_OK)
		return 0;
	while ((entry = wc_block_next(&reader, &row, &cell, &colno)) == WC_BLOCK_ROW || entry == WC_BLOCK_CELL)
	{
		if (entry != WC_BLOCK_ROW)
			continue;
		*last = row;
		n++;
	}
	return n;
}

static void
set(WcBuf *buf, WcSlice s)
{
	wc_buf_reset(buf, WC_STRETCH_KEY_MAX);
	wc_buf_append_slice(buf, s);
}

/* Notes the answer's rows: later they need not be read again. */
static void
use_answer(WcRangeFill *f, const WcRangeAnswer *answer)
{
	f->epoch = answer->epoch;
	f->valid_from_us = answer->valid_from_us;
	f->valid_until_us = answer->valid_until_us;
	wc_buf_reset(&f->bytes, WC_STRETCH_BYTES_MAX);
	wc_buf_append_slice(&f->bytes, answer->block);
	f->given_at = f->bytes.failed ? 0 : 1;	/* behind the block's head */
}

void
wc_rangefill_asked(WcRangeFill *f, uint32_t database, const WcScan *scan, const WcRangeAnswer *answer)
{
	WcRange		range;
	WcSlice		last = {0};
	uint64_t	n;

	if (f->scanner != NULL && wc_ranges_is_unwritten(f->ranges, f->table_id, f->epoch))
		return;
	wc_rangefill_end(f);
	f->given_at = 0;
	if (f->ranges == NULL || !wc_scan_has_shape(scan))
		return;
	wc_buf_reset(&f->shape, WC_STRETCH_KEY_MAX);
	wc_scan_shape_encode(&f->shape, scan);
	if (f->shape.failed || !wc_ranges_wants(f->ranges, scan->table_id, wc_buf_slice(&f->shape)))
		return;
	n = count_rows(answer->block, &last);
	range = scan->ranges[0];
	if (n > 0 && n == scan->row_limit && scan->reversed)	/* nothing is known of the rest of the range */
	{
		range.start = last;
		range.start_inclusive = true;
	}
	else if (n > 0 && n == scan->row_limit)
		range.stop = last;
	f->spacing = SPACING_MAX;
	while (f->spacing > 1 && n > 0 && f->spacing * answer->block.len / n > SPACING_BYTES)
		f->spacing /= 2;
	set(&f->from, range.start);
	if (range.start.len > 0 && !range.start_inclusive)
		wc_buf_append_u8(&f->from, 0);	/* the next key */
	set(&f->upto, range.stop);
	if (n > 0 && !scan->reversed && answer->epoch != 0 && answer->valid_until_us > 0)
		use_answer(f, answer);
	f->database = database;
	f->table_id = scan->table_id;
	f->left = f->from.failed || f->upto.failed ? 0 : STRETCHES_MAX;
}

/* A row of the stretch: where it is in `bytes`. */
typedef struct Row
{
	size_t		at;
	size_t		len;
	size_t		key_at;
	size_t		key_len;
} Row;

typedef enum Progress
{
	MORE,						/* the stretch has not ended */
	ENDED,						/* before the row in `end` */
	FAILED
} Progress;

/* The last row of the stretch ends at this place of `bytes`, unless its end is known.  A large row begins the next stretch. */
static Progress
end_row(WcRangeFill *f, size_t at)
{
	size_t		n = f->rows.len / sizeof(Row);
	Row		   *row = n > 0 ? (Row *) f->rows.data + n - 1 : NULL;

	if (row == NULL || row->len > 0)
		return MORE;
	row->len = at - row->at;
	if (n == 1 || at - ((Row *) f->rows.data)->at <= BYTES_MAX)
		return MORE;
	f->given_at = row->at;
	set(&f->end, wc_slice(f->bytes.data + row->key_at, row->key_len));
	f->rows.len -= sizeof(Row);
	return f->end.failed ? FAILED : ENDED;
}

/* A row begins at this place. */
static Progress
begin_row(WcRangeFill *f, size_t at, WcSlice key)
{
	Row			row = {.at = at,.key_at = (size_t) (key.data - f->bytes.data),.key_len = key.len};

	if (f->rows.len > 0 && wc_hash_bytes(0, key) % f->spacing == 0)
	{
		f->given_at = at;
		set(&f->end, key);
		return f->end.failed ? FAILED : ENDED;
	}
	wc_buf_append(&f->rows, &row, sizeof(row));
	return f->rows.failed ? FAILED : MORE;
}

/* Notes the rows of the block at this place of `bytes`, from `from` on, up to the one before which the stretch ends: given_at is then
 * this one. */
static Progress
note_rows(WcRangeFill *f, size_t block_at, size_t from)
{
	WcBlockReader reader;
	WcBlockEntry entry;
	WcSlice		key;
	WcCell		cell;
	uint32_t	colno;
	Progress	progress = MORE;

	if (wc_block_open(&reader, wc_slice(f->bytes.data + block_at, f->bytes.len - block_at), NULL) != WC_OK || reader.open)
		return FAILED;
	reader.d.p = f->bytes.data + from;
	while (progress == MORE)
	{
		size_t		at = (size_t) (reader.d.p - f->bytes.data);

		entry = wc_block_next(&reader, &key, &cell, &colno);
		if (entry == WC_BLOCK_CELL)
			continue;
		progress = end_row(f, at);
		if (progress == MORE && entry == WC_BLOCK_ROW)
			progress = begin_row(f, at, key);
		else if (progress == MORE)
			return entry == WC_BLOCK_DONE ? MORE : FAILED;
	}
	return progress;
}

/* Makes the rows, once they do not move any more, those of a stretch. */
static bool
keep(WcRangeFill *f)
{
	const Row  *rows = (const Row *) f->rows.data;
	uint32_t	n = (uint32_t) (f->rows.len / sizeof(Row));
	WcStretchRow *its = n > 0 ? wc_arena_alloc(&f->arena, n * sizeof(*its)) : NULL;
	WcStretch	stretch = {
		.start = wc_buf_slice(&f->from),.end = wc_buf_slice(&f->end),.rows = its,.nrows = n,.epoch = f->epoch,
		.valid_from_us = f->valid_from_us,.valid_until_us = f->valid_until_us
	};

	if ((n > 0 && its == NULL) || stretch.valid_until_us <= 0)
		return false;
	for (uint32_t i = 0; i < n; i++)
		its[i] = (WcStretchRow) {wc_slice(f->bytes.data + rows[i].key_at, rows[i].key_len), wc_slice(f->bytes.data + rows[i].at, rows[i].len)};
	return wc_ranges_add(f->ranges, f->table_id, wc_buf_slice(&f->shape), &stretch, wc_getcache_epoch(f->cache));
}

/* Opens the scan of the rows behind those that were given, or from `from` on.  If nothing is written to the table until the stretch is
 * kept, which wc_ranges_add finds out, all of its rows are of one state. */
static Progress
open_scan(WcRangeFill *f)
{
	const WcReadPoint at = {.database = f->database,.ahead = PATIENCE};
	const Row  *last = f->rows.len > 0 ? (const Row *) (f->rows.data + f->rows.len) - 1 : NULL;
	WcRange		range = {.start = wc_buf_slice(&f->from),.start_inclusive = true};
	WcScan		scan;
	WcError		err;

	f->given_at = 0;
	if (last != NULL)
		range = (WcRange) {.start = wc_slice(f->bytes.data + last->key_at, last->key_len)};
	else
	{
		f->epoch = wc_getcache_epoch(f->cache);	/* before the newest state is read */
		f->valid_from_us = 0;
		f->valid_until_us = INT64_MAX;
	}
	if (wc_scan_decode(wc_buf_slice(&f->shape), &f->arena, &scan, &err) != WC_OK)
		return FAILED;
	scan.nranges = 1;
	scan.ranges = &range;		/* it is copied */
	f->requests = 0;
	return wc_scanner_open(wc_engine_storage(f->engine), &scan, &at, &f->scanner, &err) == WC_OK ? MORE : FAILED;
}

/* Reads rows into `bytes` and `rows`, up to the stretch's end. */
static Progress
read_rows(WcRangeFill *f)
{
	size_t		at = f->bytes.len;
	WcError		err;
	WcStatus	status = wc_scanner_next(f->scanner, &f->bytes, WC_STRETCH_BYTES_MAX,
										 f->spacing < BLOCK_ROWS ? f->spacing : BLOCK_ROWS, &err);
	Progress	progress = (status == WC_OK || status == WC_END) && !f->bytes.failed ? note_rows(f, at, at + 1) : FAILED;

	if (progress == MORE && status == WC_END)
	{
		wc_buf_reset(&f->end, WC_STRETCH_KEY_MAX);
		progress = ENDED;
	}
	if (progress != ENDED)
		return progress;
	if (f->valid_from_us < wc_scanner_valid_from_us(f->scanner))
		f->valid_from_us = wc_scanner_valid_from_us(f->scanner);
	if (f->valid_until_us > wc_scanner_valid_until_us(f->scanner))
		f->valid_until_us = wc_scanner_valid_until_us(f->scanner);
	return ENDED;
}

/* Begins the stretch from `from` on with the rows that were given. */
static Progress
begin_stretch(WcRangeFill *f)
{
	Progress	progress = MORE;

	wc_arena_reset(&f->arena);
	wc_buf_reset(&f->rows, WC_STRETCH_BYTES_MAX);
	if (f->given_at > 0 && !wc_ranges_is_unwritten(f->ranges, f->table_id, f->epoch))
		f->given_at = 0;
	if (f->given_at > 0)
		progress = note_rows(f, 0, f->given_at);
	else
		wc_buf_reset(&f->bytes, WC_STRETCH_BYTES_MAX);
	return progress == MORE ? open_scan(f) : progress;
}

/* The next stretch begins at the key: those of the given rows that are before it are not used. */
static void
pass_given(WcRangeFill *f, WcSlice key)
{
	WcBlockReader reader;
	WcSlice		row;
	WcCell		cell;
	uint32_t	colno;
	WcBlockEntry entry = WC_BLOCK_DONE;

	if (f->given_at == 0 || wc_block_open(&reader, wc_buf_slice(&f->bytes), NULL) != WC_OK)
		return;
	reader.d.p = f->bytes.data + f->given_at;
	do
	{
		f->given_at = (size_t) (reader.d.p - f->bytes.data);
		entry = wc_block_next(&reader, &row, &cell, &colno);
	} while (entry == WC_BLOCK_CELL || (entry == WC_BLOCK_ROW && wc_slice_cmp(row, key) < 0));
	if (entry != WC_BLOCK_ROW)
		f->given_at = 0;
}

/* Are all wanted rows before this key?  Of a stretch's end: empty means that nothing is behind it. */
static bool
is_behind(const WcRangeFill *f, WcSlice end)
{
	return end.len == 0 || (f->upto.len > 0 && wc_slice_cmp(end, wc_buf_slice(&f->upto)) > 0);
}

void
wc_rangefill_next(WcRangeFill *f)
{
	WcStorage  *storage = wc_engine_storage(f->engine);
	bool		covered = f->scanner == NULL && wc_ranges_covers(f->ranges, f->table_id, wc_buf_slice(&f->shape),
																 wc_buf_slice(&f->from), storage->ops->now(storage), &f->end);
	Progress	progress = ENDED;

	if (f->scanner != NULL)
		progress = read_rows(f);
	else if (!covered)
		progress = begin_stretch(f);
	if (progress == MORE)
		return;
	if (f->scanner != NULL)
		f->given_at = 0;		/* rows behind the stretch are read again: with those that follow, in a newer state */
	close_scan(f);
	if (progress == FAILED || !(covered || keep(f)) || is_behind(f, wc_buf_slice(&f->end)))
	{
		f->left = 0;
		return;
	}
	set(&f->from, wc_buf_slice(&f->end));
	pass_given(f, wc_buf_slice(&f->end));
	f->left = f->from.failed ? 0 : f->left - 1;
}
