/*
 * rpc/lock/neighbours.c: one scan behind the row of a Get, a row at a time.
 */
#include "rpc/lock/neighbours.h"

#include "model/cellblock.h"
#include "rpc/lock/answers.h"

/* At most so many rows are read behind one row: about as many as a block of RocksDB's has. */
#define ROWS_MAX 64

/* So many useless rows end the reading. */
#define USELESS_MAX 4

/* So many Gets in turn, each of a row behind the last, are taken for an order, and so many rows are read at first.  If less than half of
 * the answers are found, twice as many Gets are wanted the next time. */
#define ASCENDING_MIN 4
#define ASCENDING_MAX 1024
#define EAGER_MIN 8

/* In so many times WC_CANCEL_CELLS cells and rows. */
#define PATIENCE 1

void
wc_neighbours_init(WcNeighbours *n, WcEngine *engine, WcGetCache *cache)
{
	*n = (WcNeighbours) {.engine = engine,.cache = cache,.enough = ASCENDING_MIN};
}

void
wc_neighbours_free(WcNeighbours *n)
{
	wc_neighbours_pause(n);
	wc_buf_free(&n->asked);
	wc_buf_free(&n->row);
	wc_buf_free(&n->last);
	wc_buf_free(&n->get);
	wc_buf_free(&n->block);
	wc_arena_free(&n->arena);
}

/* Is each row's answer the same, whether the scan returns others before it or not? */
static bool
is_of_single_rows(const WcScan *scan)
{
	return scan->row_limit == 0 && scan->row_offset == 0 && !scan->count_cells && !scan->reversed && scan->distinct_parts == 0;
}

/* Notes the Get's row, and how many rows are worth reading, whatever comes next. */
static void
note_order(WcNeighbours *n, const WcScan *scan)
{
	WcSlice		row = scan->ranges[0].start;
	uint32_t	found = wc_getcache_found_ahead(n->cache, scan->table_id, scan->key_only ? WC_GET_AHEAD_KEY_ONLY : WC_GET_AHEAD);
	uint32_t	run = n->run;

	if (n->table_id != scan->table_id || wc_slice_cmp(row, wc_buf_slice(&n->last)) <= 0)
		n->ascending = n->run = 0;
	else if (run > 0 && found - n->found < run / 2)
	{
		n->ascending = n->run = 0;
		n->enough = n->enough < ASCENDING_MAX ? 2 * n->enough : n->enough;
	}
	else if (++n->ascending >= n->enough)
	{
		n->run = run == 0 ? EAGER_MIN : run < ROWS_MAX ? 2 * run : run;
		if (run > 0)
			n->enough = ASCENDING_MIN;
	}
	n->table_id = scan->table_id;
	n->found = found;
	n->eager = n->run;
	wc_buf_reset(&n->last, WC_GETCACHE_ENTRY_MAX);
	wc_buf_append_slice(&n->last, row);
	if (n->last.failed)
		n->table_id = 0;
}

void
wc_neighbours_asked(WcNeighbours *n, uint32_t database, const WcScan *scan, WcSlice get, size_t answer_len)
{
	if (!wc_answers_takes(scan, get, answer_len) || !is_of_single_rows(scan) ||
		!wc_getcache_has_room(n->cache, scan->table_id, scan->ranges[0].start))
		return;
	/* the session has asked while the row was read */
	if (n->run > 0 && n->table_id == scan->table_id && wc_slice_cmp(scan->ranges[0].start, wc_buf_slice(&n->row)) <= 0 &&
		wc_slice_cmp(scan->ranges[0].start, wc_buf_slice(&n->last)) > 0)
		return;
	note_order(n, scan);
	wc_buf_reset(&n->asked, WC_GETCACHE_ENTRY_MAX);
	wc_buf_append_slice(&n->asked, get);
	wc_buf_reset(&n->row, WC_GETCACHE_ENTRY_MAX);
	wc_buf_append_slice(&n->row, scan->ranges[0].start);
	n->database = database;
	n->left = n->asked.failed || n->row.failed ? 0 : ROWS_MAX;
	n->useless = 0;
}

/* Opens the scan of the rows behind n->row. */
static bool
begin(WcNeighbours *n)
{
	const WcReadPoint at = {.database = n->database,.ahead = PATIENCE};
	WcRange		behind = {.start = wc_buf_slice(&n->row)};
	WcScan		scan;
	WcError		err;

	wc_arena_reset(&n->arena);
	if (wc_scan_decode(wc_buf_slice(&n->asked), &n->arena, &n->scan, &err) != WC_OK)
		return false;
	scan = n->scan;
	scan.ranges = &behind;		/* it is copied */
	scan.merged = false;		/* in the order of the whole keys, whatever they begin with */
	n->epoch = wc_getcache_epoch(n->cache);
	return wc_scanner_open(wc_engine_storage(n->engine), &scan, &at, &n->scanner, &err) == WC_OK;
}

/* The row of the block, if the block is a whole answer. */
static bool
whole_row(const WcNeighbours *n, WcSlice *row)
{
	WcBlockReader reader;
	WcCell		cell;
	uint32_t	colno;

	return wc_block_open(&reader, wc_buf_slice(&n->block), NULL) == WC_OK && !reader.open &&
		wc_block_next(&reader, row, &cell, &colno) == WC_BLOCK_ROW;
}

/* Keeps the block as the answer to the Get of its row. */
static void
keep(WcNeighbours *n, WcSlice row)
{
	WcScan		get = n->scan;
	WcRange		point = {row, row, true, true};

	get.ranges = &point;
	wc_buf_reset(&n->get, WC_GETCACHE_ENTRY_MAX);
	wc_scan_encode(&n->get, &get);
	wc_buf_reset(&n->row, WC_GETCACHE_ENTRY_MAX);
	wc_buf_append_slice(&n->row, row);
	n->useless++;
	if (n->get.failed || n->get.len + n->block.len > WC_GETCACHE_ENTRY_MAX || !wc_getcache_has_room(n->cache, get.table_id, row) ||
		wc_getcache_has(n->cache, n->epoch, get.table_id, row, wc_buf_slice(&n->get)))
		return;
	n->useless = 0;
	wc_block_end(&n->block);
	wc_getcache_add(n->cache, get.key_only ? WC_GET_AHEAD_KEY_ONLY : WC_GET_AHEAD, n->epoch, get.table_id, row,
					wc_buf_slice(&n->get), wc_buf_slice(&n->block), wc_scanner_valid_from_us(n->scanner),
					wc_scanner_valid_until_us(n->scanner));
}

/* False: it was the last one. */
static bool
read_row(WcNeighbours *n)
{
	WcSlice		row;
	WcStatus	status;
	WcError		err;

	if (n->scanner == NULL && !begin(n))
		return false;
	wc_buf_reset(&n->block, WC_BLOCK_FIRST);
	status = wc_scanner_next(n->scanner, &n->block, WC_GETCACHE_ENTRY_MAX, 1, &err);
	if ((status != WC_OK && status != WC_END) || !whole_row(n, &row))
		return false;
	keep(n, row);
	return status == WC_OK && n->useless < USELESS_MAX && !n->row.failed;
}

void
wc_neighbours_next(WcNeighbours *n)
{
	n->left = read_row(n) ? n->left - 1 : 0;
	n->eager = n->eager > 0 ? n->eager - 1 : 0;
	if (n->left == 0)
		wc_neighbours_pause(n);
}

void
wc_neighbours_pause(WcNeighbours *n)
{
	if (n->scanner == NULL)
		return;
	wc_scanner_close(n->scanner);
	n->scanner = NULL;
}
