/*
 * read/cell/packedrow.h: packing "row" as bytes, a key-value a row.
 *
 * The key is the row as it is.  The value is the row's cells of one family, in
 * cell order:
 *
 *   version (1 byte, 1)  flags  cell count (varint)
 *   [timestamp of all, 8 bytes]  [written-at of all, 8 bytes]
 *   cells
 *
 * A cell is, when WC_PACKED_PLAIN is set,
 *   qualifier length (varint), qualifier, value length (varint), value
 * and otherwise
 *   head (type in the low 4 bits, WC_PACKED_CELL_*)
 *   [qualifier length, qualifier]  [timestamp, 8]  [cell TTL in µs, varint]
 *   [written-at, 8]  value length (varint), value
 *
 * Numbers of 8 bytes are big-endian.  Written-at is the commit timestamp the
 * cell was written under; without one it is the cell's timestamp.
 */
#ifndef WC_READ_CELL_PACKEDROW_H
#define WC_READ_CELL_PACKEDROW_H

#include "base/buf.h"
#include "base/coding.h"
#include "model/cell.h"

#define WC_PACKED_VERSION		1

/* Flags of the row. */
#define WC_PACKED_SIMPLE		0x01	/* puts only, one version a column, no cell TTL: no cell decides about another */
#define WC_PACKED_PLAIN			0x02	/* SIMPLE, one timestamp, one written-at: cells without heads */
#define WC_PACKED_TS			0x04	/* the timestamp of every cell without one of its own follows */
#define WC_PACKED_WRITTEN_AT	0x08	/* the written-at of every cell follows */
#define WC_PACKED_PUTS			0x10	/* not SIMPLE, but puts only, and no cell TTL; rows of stores before format 7 do not say so */

/* With one of these flags the row has no delete marker. */
#define WC_PACKED_NO_MARKERS	(WC_PACKED_SIMPLE | WC_PACKED_PUTS)

/* Head of a cell. */
#define WC_PACKED_CELL_TYPE			0x0f
#define WC_PACKED_CELL_SAME_COLUMN	0x10	/* as the cell before: no qualifier */
#define WC_PACKED_CELL_TS			0x20	/* timestamp of its own */
#define WC_PACKED_CELL_TTL			0x40
#define WC_PACKED_CELL_WRITTEN_AT	0x80

/*
 * Appends the value of a row of ncells cells (at least one), in cell order, without duplicates; their row and family are
 * ignored.  Only the buffer can fail.
 */
extern void wc_packedrow_append(WcBuf *out, const WcCell *cells, size_t ncells);

/* --- reading: everything points into the value ---------------------------- */
typedef struct WcPackedRow
{
	WcDecoder	d;				/* failed: the bytes make no sense */
	uint8_t		flags;
	uint32_t	ncells;			/* in all */
	uint32_t	left;			/* not read yet */
	int64_t		ts;				/* of all, with WC_PACKED_TS */
	int64_t		seq;			/* of all, with WC_PACKED_WRITTEN_AT */
	WcSlice		qualifier;		/* of the last cell read */
} WcPackedRow;

/* Reads the head; WC_CORRUPT when it is none. */
extern WcStatus wc_packedrow_open(WcPackedRow *r, WcSlice value, WcError *err) WC_WARN_UNUSED;

/* The next cell, but for row and family, which the caller sets.  False: no more,
 * or corrupt: look at wc_packedrow_status once at the end. */
extern bool wc_packedrow_next(WcPackedRow *r, WcCell *cell);

/* Of a plain row: the next cell's qualifier and value, each with its length in front, as
 * they stand there.  False: as above. */
extern bool wc_packedrow_next_bytes(WcPackedRow *r, WcSlice *bytes);

/*
 * Are all cells that have not been read puts without cell TTL?  Then the first cell of each column is its newest, and the
 * only visible one for a reader of one version.  Also false when the row is corrupt.
 */
extern bool wc_packedrow_puts_only(const WcPackedRow *r);

/*
 * Are all cells that have not been read puts without cell TTL, with the timestamps of the commits that have written them?  Then a
 * put of a later commit, without a timestamp, is newer than all of them.  Also false when the row is corrupt.
 */
extern bool wc_packedrow_has_commit_times(const WcPackedRow *r);

/* As wc_packedrow_next, without cells of the column of the last one read. */
extern bool wc_packedrow_next_column(WcPackedRow *r, WcCell *cell);

/*
 * Skips cells whose qualifier is < qualifier (<= when after); the next call of
 * wc_packedrow_next returns the first cell after them.
 */
extern void wc_packedrow_seek(WcPackedRow *r, WcSlice qualifier, bool after);

/*
 * Skips cells whose qualifier is < qualifier.  True: the next cell is of that column, and is read into *cell.  False:
 * the reader is before the first greater one, or at the end, or the value is corrupt.  Never moves backward.
 *
 * *before: a guess of the number of cells to skip, which is tried first, and may be any number; set to the right number, if that is
 * not one more.  (Rows of a table mostly have the same columns: then only the found cell is compared.)
 */
extern bool wc_packedrow_find(WcPackedRow *r, WcSlice qualifier, uint32_t *before, WcCell *cell);

/* WC_CORRUPT when reading stopped for that reason; row is for the message. */
extern WcStatus wc_packedrow_status(const WcPackedRow *r, WcSlice row, WcError *err) WC_WARN_UNUSED;

#endif
