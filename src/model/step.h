/*
 * model/step.h: a step: cells that a family forgets, so that every store forgets the same ones.
 *
 * Which cells the engine forgets (superseded versions, deleted cells, delete markers) does not depend on when RocksDB
 * compacts: a flush, a compaction or a major compaction is a sequence of steps, each applied between two commits, at a
 * position in their order.  A step has a range of a family's storage and everything else on which its effect depends
 * (windows of time, the clock), so that the same step, at the same position, has the same effect on every store.
 *
 * A WcStep is plain data; the code that made it owns everything to which it points.  Bytes as in
 * model/README.
 */
#ifndef WC_MODEL_STEP_H
#define WC_MODEL_STEP_H

#include "base/buf.h"
#include "base/limits.h"
#include "base/status.h"

typedef enum WcStepKind
{
	WC_STEP_FLUSH = 1,			/* keeps the cells that a minor compaction keeps */
	WC_STEP_COMPACT = 2,		/* the same; only that its window is another */
	WC_STEP_MAJOR = 3,			/* keeps the cells that a major compaction keeps; whole rows */
	WC_STEP_MARKERS = 4,		/* of a row that compact steps went through: its delete markers go */
	WC_STEP_EXPIRE = 5			/* cells that had expired by then are gone */
} WcStepKind;

typedef struct WcStep
{
	uint8_t		kind;			/* WcStepKind */
	uint8_t		keep_deleted;	/* WcKeepDeleted of the family when the step was made; with another it is void */
	bool		last;			/* of its flush or compaction */
	uint32_t	table_id;
	uint32_t	family_id;
	uint32_t	generation;		/* of the family's storage; without it the step is void */

	/* WC_STEP_EXPIRE; the family's marks are raised to these, never lowered (engine/README, "Gone") */
	int64_t		expired_ts;		/* cells whose own TTL had ended by then are gone */
	int64_t		oldest_ts;		/* and so are stored cells with older timestamps; 0: none is.  With a TTL that is
								 * longer than expired_ts - oldest_ts the step is void */

	/* All others.  Times in microseconds. */
	int64_t		now_us;			/* the clock of TTLs */
	int64_t		from_ts;		/* cells written before, or under the same timestamp, neither go nor decide */
	int64_t		until_ts;		/* nor do cells written later */
	int64_t		dated_until_ts; /* markers whose timestamp was given stay when they were written later */
	int64_t		earliest_put_ts;	/* least timestamp of a put in the window; INT64_MIN: not known */
	uint64_t	superseded;		/* last: so much less the family is reckoned to hold of it then (engine/marks.h) */
	uint64_t	dated;
	WcSlice		start;			/* keys of the family's storage: inclusive ... */
	WcSlice		stop;			/* ... and exclusive; empty: to the end */
	WcSlice		state;			/* flush, compact: what the matcher knows of the row that start is in the
								 * midst of (wc_matcher_save); empty: nothing */
} WcStep;

/* Key of a storage: an escaped row, an escaped qualifier, timestamp and type, at most. */
#define WC_STEP_KEY_MAX (2 * WC_ROW_MAX + 2 * WC_QUALIFIER_MAX + 16)

extern void wc_step_encode(WcBuf *out, const WcStep *step);

/* The step points into bytes. */
extern WcStatus wc_step_decode(WcSlice bytes, WcStep *step, WcError *err) WC_WARN_UNUSED;

#endif
