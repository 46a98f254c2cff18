/*
 * engine/forget/pass.h: a flush or a compaction of a store, as steps.
 *
 * A pass goes through a store once and returns the steps (model/step.h) that have the effect of a flush, a compaction
 * or a major compaction: enough steps that each is small, also within one very wide row.  A range in which nothing
 * changes gets no step.  The pass writes nothing: the caller applies each step (wc_step_apply, wc_engine_step) before it
 * asks for the next.  The changes of a step are computed with no mutex locked, and kept as long as the range is not
 * written to.  One thread.
 */
#ifndef WC_ENGINE_FORGET_PASS_H
#define WC_ENGINE_FORGET_PASS_H

#include "engine/forget/sift.h"
#include "engine/store/rangewatch.h"

typedef struct WcPassOptions
{
	uint8_t		kind;			/* WC_STEP_FLUSH, WC_STEP_COMPACT or WC_STEP_MAJOR */
	int64_t		from_ts;		/* as in a step */
	int64_t		until_ts;
	int64_t		dated_until_ts;
	int64_t		now_us;
	uint64_t	superseded;		/* for the last step */
	uint64_t	dated;
	bool		look_for_earliest_put;	/* major, with KEEP_DELETED_CELLS: reads all of the store before */
	size_t		keys_max;		/* key-values that a step looks at, about; 0: WC_STEP_KEYS_MAX */
	const atomic_bool *cancel;	/* may be NULL */
	WcRunning  *running;		/* gets the number of key-values examined; may be NULL */
} WcPassOptions;

/* The result of a step worked out in advance; valid while the watch reports no write to its range. */
typedef struct WcStepWork
{
	WcSifted	sifted;
	WcRangeWatch watch;
	WcBuf		first_row;		/* of the range */
	WcBuf		last_row;		/* empty: to the end */
	bool		worked_out;		/* else the step is worked out when it is applied */
	int64_t		applied_us;		/* how long applying the step took, without waiting for the log */
} WcStepWork;

/* Its memory; it must be on watch no more. */
extern void wc_stepwork_free(WcStepWork *work);

typedef struct WcPass WcPass;

/* Keeps a reference to the store, which has a column family. */
extern WcStatus wc_pass_create(WcStore *store, const WcPassOptions *options, WcPass **pass, WcError *err) WC_WARN_UNUSED;
extern void wc_pass_free(WcPass *pass);

/* The next step, valid until the next call; WC_END: that was all. */
extern WcStatus wc_pass_next(WcPass *pass, const WcStep **step, WcError *err) WC_WARN_UNUSED;

/* Reads one range at most, of about keys_max key-values; *step is NULL if nothing in it changes. */
extern WcStatus wc_pass_try(WcPass *pass, const WcStep **step, WcError *err) WC_WARN_UNUSED;

/* Of the step that was given last. */
extern WcStepWork *wc_pass_work(WcPass *pass);

#endif
