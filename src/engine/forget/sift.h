/*
 * engine/forget/sift.h: the key-values that a step deletes in its range.
 *
 * Goes through a range of a store and finds the key-values to delete (packing row: to rewrite), because the matcher of a
 * flush or a compaction does not keep their cells.  Writes nothing.  The same range with the same content gives the same
 * result.  Any thread, with no mutex locked or with the engine's write mutex locked.
 */
#ifndef WC_ENGINE_FORGET_SIFT_H
#define WC_ENGINE_FORGET_SIFT_H

#include <stdatomic.h>

#include "engine/store/internal.h"
#include "model/step.h"

/* When a step is planned, it reads so many key-values; in packing cell more, up to the end of a row that has at most so
 * many. */
#define WC_STEP_KEYS_MAX	16384
#define WC_STEP_KEYS_MIN	256

/* A step that has changed so much ends (behind the row, or the cell). */
#define WC_STEP_CHANGES_MAX	4096
#define WC_STEP_BYTES_MAX	(1024 * 1024)

typedef struct WcSift
{
	WcStore    *store;
	const WcStep *step;			/* the range, and what decides */
	size_t		keys_max;		/* planning: number of key-values to read; 0: to the end of the range */
	const atomic_bool *cancel;	/* may be NULL */
} WcSift;

typedef struct WcSifted
{
	rocksdb_writebatch_t *batch;	/* to be destroyed with wc_sifted_free */
	uint64_t	looked;			/* number of key-values that were read */
	uint64_t	changed;		/* number of key-values to delete or rewrite */
	WcBuf		rows;			/* their rows, each as its length (varint) and bytes; failed: not all of them */
	uint64_t	nrows;
	int64_t		forgotten;		/* reads of times before it need cells that go; 0: none does */

	/* Planning. */
	bool		cut;			/* the step ends before the range does, before stop ... */
	WcBuf		stop;
	WcBuf		state;			/* ... in the midst of a row, of which the matcher knows this (flush, compact) */
	bool		wide;			/* major: the first row, which stop is the prefix of, is too wide for a step;
								 * nothing was worked out */
} WcSifted;

#define WC_SIFTED_INIT {.rows = WC_BUF_INIT, .stop = WC_BUF_INIT, .state = WC_BUF_INIT}

/* Overwrites sifted. WC_CANCELLED, WC_CORRUPT, or an error of reading. */
extern WcStatus wc_sift(const WcSift *sift, WcSifted *sifted, WcError *err) WC_WARN_UNUSED;
extern void wc_sifted_free(WcSifted *sifted);

/* The row that a key of the storage, or where a step begins or ends, is of; an empty key: an
 * empty row. */
extern WcStatus wc_sift_row(const WcStore *store, WcSlice key, WcBuf *row, WcError *err) WC_WARN_UNUSED;

/* Least timestamp of a put that was written up to until_ts (INT64_MAX: none).  Reads the
 * whole store.  Packing cell. */
extern WcStatus wc_sift_earliest_put(WcStore *store, int64_t until_ts, const atomic_bool *cancel,
									 int64_t *ts, WcError *err) WC_WARN_UNUSED;

#endif
