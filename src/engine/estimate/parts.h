/*
 * engine/estimate/parts.h: ranges of a table's rows, which are cut into halves.
 *
 * A part is cut in the middle of the bytes between its first and its last row key.  So the cuts depend on the stored
 * data, not on chance.  Sizes are approximate: RocksDB estimates those of files to a block; those of memtables come from
 * a sample of their keys.
 */
#ifndef WC_ENGINE_ESTIMATE_PARTS_H
#define WC_ENGINE_ESTIMATE_PARTS_H

#include "engine/copies/memkeys.h"
#include "engine/store/state.h"

/* A part is not cut more than so many times: keys with so long common prefixes stay together. */
#define WC_PART_DEPTH_MAX 200

/* Where the keys of memtables are, for sizes. */
typedef enum WcPartMemory
{
	WC_PART_MEMORY_NOW,			/* by a walk over the memtables, for this request */
	WC_PART_MEMORY_KEPT			/* as estimates know it, which may have grown by a part since */
} WcPartMemory;

/* One family. */
typedef struct WcPartSource
{
	WcStore    *store;
	rocksdb_iterator_t *it;
	bool		kept_memory;	/* WC_PART_MEMORY_KEPT, and it matters */
	WcMemKeys	memory;			/* otherwise; empty: not read yet */
} WcPartSource;

typedef struct WcParts
{
	WcPartSource *sources;
	uint32_t	nsources;
	rocksdb_readoptions_t *options;
	const atomic_bool *cancel;	/* NULL: the work cannot be cancelled */
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
	WcSlice		first;			/* stored rows */
	WcSlice		last;
	double		bytes;
	int			depth;
} WcPart;

/* The stored rows of a range. */
typedef struct WcWholePart
{
	bool		found;			/* there is one */
	WcPart		part;			/* its bytes are below; from the first row to the first key behind the last */
	WcBuf		first;
	WcBuf		last;
	WcBuf		behind;
} WcWholePart;

/* The two halves of a part. */
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

/* WC_NO_MEMORY, or WC_CANCELLED if the work was cancelled. */
extern WcStatus wc_parts_out_of_memory(WcParts *p);
extern WcStatus wc_parts_check_cancel(WcParts *p) WC_WARN_UNUSED;

/* Finds the rows of a range; start counts as inclusive, stop as exclusive.  The caller frees *whole, also after an error. */
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
