/*
 * model/cellblock.h: cells on their way to a backend.
 *
 * A cell block holds rows in scan order, each with its cells (bytes: see
 * model/README).  A row may go on in the next block, a cell may not.  A cell
 * of a column that the Scan named exactly is identified by that column's
 * position in WcScan.columns; any other by family id and qualifier.
 */
#ifndef WC_MODEL_CELLBLOCK_H
#define WC_MODEL_CELLBLOCK_H

#include <assert.h>

#include "base/buf.h"
#include "base/coding.h"
#include "model/cell.h"

#define WC_NO_COLUMN UINT32_MAX

/* The seq of a cell whose timestamp was given by its writer (wc_block_next). */
#define WC_SEQ_UNKNOWN INT64_C(-1)

/* --- writing: appends to a buffer that the caller owns ---------------------
 * Whether everything fitted is looked up in the buffer at the end
 * (wc_buf_status); nothing is counted that did not. */
typedef struct WcBlockWriter
{
	WcBuf	   *buf;
	size_t		start;			/* where this block begins in buf */
	bool		continues;		/* it begins with cells of the last row of the block before */
	uint64_t	nrows;			/* rows begun in this block */
	uint64_t	ncells;

	/* Cells that were written without a timestamp have the one of their commit; or a later one than this, which is
	 * provisional, since their transaction is open.  wc_block_begin sets it to WC_TS_LATEST. */
	int64_t		provisional_after;
} WcBlockWriter;

/* continues: the first cells belong to the last row of the block before. */
extern void wc_block_begin(WcBlockWriter *w, WcBuf *buf, bool continues);
/* undecided: the Scan's filter could not tell whether the row satisfies it. */
extern void wc_block_row(WcBlockWriter *w, WcSlice row, bool undecided);

/* An undecided row at which the scan stops skipping, although `owed` more rows that satisfy the filter, from this one on,
 * must be skipped. */
extern void wc_block_row_owing(WcBlockWriter *w, WcSlice row, uint64_t owed);

/* colno: position in WcScan.columns, or WC_NO_COLUMN. */
extern void wc_block_cell(WcBlockWriter *w, uint32_t colno, const WcCell *cell, bool want_ts, bool key_only);

/* wc_block_cell of a cell of which the value alone is wanted. */
extern void wc_block_value(WcBlockWriter *w, uint32_t colno, WcSlice value);

/* Without number, timestamp and type; bytes: qualifier and value, each with its length in front. */
extern void wc_block_named(WcBlockWriter *w, uint32_t family, WcSlice bytes);

/* open: the last row continues in the next block.  end: the scan has no more blocks. */
extern void wc_block_finish(WcBlockWriter *w, bool open, bool end);

/* Marks a finished block, of one row: in the families that the scan reads, all cells of the row are puts without TTL and have the
 * timestamps of the commits that have written them. */
extern void wc_block_note_commit_times(WcBlockWriter *w);

/* Marks a finished block as the scan's last block, although the scan may have more rows.  The block's last row is complete. */
extern void wc_block_end(WcBuf *block);

/* Appends the rows of another block, which is the next one of the scan, behind those of w.  True: its last row continues
 * in the block after it.  The bytes were made by this process. */
extern bool wc_block_join(WcBlockWriter *w, WcSlice block);

/* The end of a block so far; and back to that end: bytes written since are removed. */
typedef struct WcBlockMark
{
	size_t		len;
	uint64_t	nrows;
	uint64_t	ncells;
} WcBlockMark;

static inline WcBlockMark
wc_block_mark(const WcBlockWriter *w)
{
	WcBlockMark mark = {w->buf->len, w->nrows, w->ncells};

	return mark;
}

static inline void
wc_block_rewind(WcBlockWriter *w, const WcBlockMark *mark)
{
	assert(mark->len >= w->start && mark->len <= w->buf->len);
	w->buf->len = mark->len;
	w->nrows = mark->nrows;
	w->ncells = mark->ncells;
}

static inline size_t
wc_block_size(const WcBlockWriter *w)
{
	return w->buf->len - w->start;
}

/* --- reading: everything points into the block ---------------------------- */
typedef struct WcBlockReader
{
	WcDecoder	d;
	bool		continues;
	bool		open;
	bool		end;
	bool		commit_times;	/* wc_block_note_commit_times */
	bool		in_row;			/* cells may come: a row has begun */
	bool		undecided;		/* the row given last: the Scan's filter could not decide it */
	uint64_t	owed;			/* ... from this row on the reader must skip so many rows that satisfy the filter */
	bool		provisional;	/* the cell given last: its timestamp is (WcBlockWriter); only with timestamps */
} WcBlockReader;

typedef enum WcBlockEntry
{
	WC_BLOCK_ROW,				/* row is set */
	WC_BLOCK_CELL,				/* cell is set, but for its row; colno too */
	WC_BLOCK_DONE,				/* no more in this block */
	WC_BLOCK_CORRUPT
} WcBlockEntry;

/* The bytes of a block's rows.  False: its first row has begun in the block before, or its last row goes on in the next one. */
extern bool wc_block_whole_rows(WcSlice block, WcSlice *rows) WC_WARN_UNUSED;

extern WcStatus wc_block_open(WcBlockReader *r, WcSlice block, WcError *err) WC_WARN_UNUSED;

/* For a cell by position, cell->family and qualifier are not set (left alone);
 * colno is below WC_COLUMNS_MAX, whether the scan has so many columns is for the
 * caller to check.  Without want_ts, ts is 0 and type WC_PUT.  cell->row is left
 * alone.  seq is ts when that is the commit's, else (and without want_ts)
 * WC_SEQ_UNKNOWN.  Once corrupt, always corrupt. */
extern WcBlockEntry wc_block_next(WcBlockReader *r, WcSlice *row, WcCell *cell, uint32_t *colno);

#endif
