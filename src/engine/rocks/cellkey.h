/*
 * engine/rocks/cellkey.h: packing "cell" as bytes: a key-value a row while it is small, else
 * a key-value a cell.
 *
 * The head of a row
 *
 * key    row (00 -> 00 FF), 00 01
 * value  the row's cells (read/cell/packedrow.h), or 02: they are apart
 *
 * A cell that is apart
 *
 * key    row (00 -> 00 FF), 00 01, qualifier (the same), 00 01, timestamp
 *        (8 bytes, big-endian, every bit inverted), type (inverted)
 * value  flags, [cell TTL in µs, varint], [written-at, 8 bytes], bytes
 *
 * memcmp of two keys is HBase's order of the cells (model/cell.h).  Pure
 * functions; bytes that are no key or value give WC_CORRUPT.
 */
#ifndef WC_ENGINE_ROCKS_CELLKEY_H
#define WC_ENGINE_ROCKS_CELLKEY_H

#include "base/buf.h"
#include "base/status.h"
#include "model/cell.h"

/* Flags of a value. */
#define WC_CELLVALUE_TTL		0x01	/* a cell TTL follows */
#define WC_CELLVALUE_WRITTEN_AT	0x02	/* the commit timestamp follows: it is not the cell's timestamp */

/* Bytes behind the qualifier's terminator. */
#define WC_CELLKEY_SUFFIX 9

/* The value of a row's head, if its cells are key-values of their own; else its cells are in
 * it, and it begins with WC_PACKED_VERSION. */
#define WC_ROWHEAD_APART 0x02

/* --- writing: a failed buffer is the only way to fail ---------------------- */

/* The whole key. */
extern void wc_cellkey_append(WcBuf *out, WcSlice row, WcSlice qualifier, int64_t ts, uint8_t type);
extern void wc_cellkey_append_cell(WcBuf *out, const WcCell *cell);

/* Row with its terminator: the key of the row's head, and the prefix of all keys of this row,
 * no other's. */
extern void wc_cellkey_append_row(WcBuf *out, WcSlice row);

/* Greater than every key of the row, smaller than any of a greater row. */
extern void wc_cellkey_append_row_end(WcBuf *out, WcSlice row);

/* Changes the prefix of a row's keys into the least key after all of them. */
extern void wc_cellkey_end_of_prefix(WcBuf *prefix);

/* Row and qualifier with their terminators: the prefix of the column's keys. */
extern void wc_cellkey_append_column(WcBuf *out, WcSlice row, WcSlice qualifier);

/* Greater than every key of the column, smaller than any of a greater column. */
extern void wc_cellkey_append_column_end(WcBuf *out, WcSlice row, WcSlice qualifier);

/* The value; written-at is stored when cell->seq is not cell->ts. */
extern void wc_cellvalue_append(WcBuf *out, const WcCell *cell);

/* --- reading --------------------------------------------------------------*/

/* Length of the row with its terminator; and of row and qualifier with their terminators (for a row's head: the
 * length of the key).  0: the key has no such prefix.  Bloom filters (row, rowcol) are made of these prefixes. */
extern size_t wc_cellkey_row_prefix(WcSlice key);
extern size_t wc_cellkey_column_prefix(WcSlice key);

/* The row of the key that was taken last.  Zeroed: of none. */
typedef struct WcTakenRow
{
	WcBuf		prefix;			/* the row with its terminator, as it is in the key */
	WcBuf		row;			/* the row itself */
	size_t		escapes_end;	/* of prefix: behind the last byte that was escaped */
} WcTakenRow;

/* Takes the row of a key, which may hold more.  The function is quickest if the key begins as the key before.  If the row is the
 * same as before, taken->row keeps its memory: slices of it stay valid. */
extern WcStatus wc_cellkey_take_row(WcTakenRow *taken, WcSlice key, WcError *err) WC_WARN_UNUSED;

/* Frees its memory; no row is taken then. */
extern void wc_cellkey_forget_row(WcTakenRow *taken);

/* Is this the key of a row's head?  Does the value of a head mean that the row is apart? */
extern bool wc_cellkey_is_head(WcSlice key);

static inline bool
wc_cellkey_is_apart(WcSlice value)
{
	return value.len == 1 && value.data[0] == WC_ROWHEAD_APART;
}

/*
 * Takes a key apart: row, qualifier, ts, type of cell.  Row and qualifier point
 * into key or, when they hold escaped bytes, into scratch, which is reset first
 * and must not be touched while they are used.
 */
extern WcStatus wc_cellkey_decode(WcSlice key, WcBuf *scratch, WcCell *cell, WcError *err) WC_WARN_UNUSED;

/* The same for what stands behind the row's terminator (rest): a source that
 * stays in one row knows the row.  Does not set cell->row. */
extern WcStatus wc_cellkey_decode_rest(WcSlice rest, WcBuf *scratch, WcCell *cell, WcError *err) WC_WARN_UNUSED;

/* Appends the row of a key, or of a result of wc_cellkey_end_of_prefix, to out. */
extern WcStatus wc_cellkey_row(WcSlice key, WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* Unescapes prefix (a row or qualifier with its terminator), appending to out. */
extern WcStatus wc_cellkey_unescape(WcSlice prefix, WcBuf *out, WcError *err) WC_WARN_UNUSED;

/* ttl_us, seq and value of cell, whose ts is already set; value points into
 * bytes. */
extern WcStatus wc_cellvalue_decode(WcSlice bytes, WcCell *cell, WcError *err) WC_WARN_UNUSED;

#endif
