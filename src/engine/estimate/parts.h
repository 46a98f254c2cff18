/*
 * engine/estimate/parts.h: a table's rows as parts, which are cut in two.
 *
 * A part is cut in the middle of the bytes between its first and its last row key.  Where
 * that is depends on what is stored, not on chance.  Sizes are approximate: those of files
 * are told by RocksDB to a block, those of memtables by where keys are in them.
 */
#ifndef WC_ENGINE_ESTIMATE_PARTS_H
#define WC_ENGINE_ESTIMATE_PARTS_H

#include "engine/store/memkeys.h"
#include "engine/store/state.h"

/* Parts are not cut more often than this one in another: keys that share so
 * much of what tells them apart stay together. */
#define WC_PART_DEPTH_MAX 200

/* Where the keys of memtables are, for sizes. */
typedef enum WcPartMemory
{
	WC_PART_MEMORY_NOW,			/* looked at for this: a walk over the memtables */
	WC_PART_MEMORY_KEPT			/* as estimates know it, which may have grown by a part since */
} WcPartMemory;

/* One family. */
typedef struct WcPartSource
{
	WcStore    *store;
	rocksdb_iterator_t *it;
	bool		kept_memory;	/* WC_PART_MEMORY_KEPT, and it matters */
	WcMemKeys	memory;			/* else; none noted: not looked at */
} WcPartSource;

typedef struct WcParts
{
	WcPartSource *sources;
	uint32_t	nsources;
	rocksdb_readoptions_t *options;
	const atomic_bool *cancel;	/* NULL: nobody cancels */
	double		block;			/* bytes of the largest block of these families */
	WcBuf		key;			/* scratch */
	WcBuf		stop_key;
	WcBuf		row;
	WcError    *err;
} WcParts;

/* Rows from start (inclusive) to stop (exclusive). */
typedef struct WcPart
{
	WcSlice		start;
	WcSlice		stop;
	WcSlice		first;			/* rows that are there */
	WcSlice		last;
	double		bytes;
	int			depth;
} WcPart;

/* The rows of a range that are there. */
typedef struct WcWholePart
{
	bool		found;			/* there is one */
	WcPart		part;			/* its bytes are below; from the first row to the first key behind the last */
	WcBuf		first;
	WcBuf		last;
	WcBuf		behind;
} WcWholePart;

/* What a cut makes of a part. */
typedef struct WcHalves
{
	WcPart		low;			/* their bytes are below, and where the part's are */
	WcPart		high;
	WcBuf		mid;
	WcBuf		before;
	WcBuf		behind;
} WcHalves;

/* Is the family among these?  nfamilies 0: they are all. */
extern bool wc_parts_has_family(uint32_t family, const uint32_t *families, uint32_t nfamilies);

/* Of these families of the table (nfamilies 0: of all).  Close it in any case; the table must live as long. */
extern WcStatus wc_parts_open(WcParts *p, const WcTable *table, const uint32_t *families, uint32_t nfamilies,
							  WcPartMemory memory, const atomic_bool *cancel, WcError *err) WC_WARN_UNUSED;
extern void wc_parts_close(WcParts *p);

/* WC_NO_MEMORY, or WC_CANCELLED when somebody has cancelled. */
extern WcStatus wc_parts_out_of_memory(WcParts *p);
extern WcStatus wc_parts_check_cancel(WcParts *p) WC_WARN_UNUSED;

/* The rows of a range, whose start is taken as inclusive and whose stop as exclusive.  Free it in any case. */
extern WcStatus wc_parts_whole(WcParts *p, const WcRange *range, WcWholePart *whole) WC_WARN_UNUSED;
extern void wc_whole_part_free(WcWholePart *whole);

/* Is it one that cannot be cut? */
extern bool wc_part_is_one(const WcPart *part);

/* Cuts a part that can be.  Free the halves in any case. */
extern WcStatus wc_parts_halve(WcParts *p, const WcPart *part, WcHalves *halves) WC_WARN_UNUSED;
extern void wc_halves_free(WcHalves *halves);

/* --- one family ---------------------------------------------------------------*/

/* About how many bytes it has between two rows. */
extern WcStatus wc_parts_source_bytes(WcParts *p, const WcPartSource *source, WcSlice start, WcSlice stop,
									  double *bytes) WC_WARN_UNUSED;

/* To its first key that is not before the row. */
extern WcStatus wc_parts_seek(WcParts *p, const WcPartSource *source, WcSlice row) WC_WARN_UNUSED;

/* The row its iterator stands in; valid until the next call. */
extern WcStatus wc_parts_row(WcParts *p, const WcPartSource *source, WcSlice *row) WC_WARN_UNUSED;

/* The end of its iterator is an end, or an error. */
extern WcStatus wc_parts_source_status(WcParts *p, const WcPartSource *source) WC_WARN_UNUSED;

#endif
