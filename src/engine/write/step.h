/*
 * engine/write/step.h: applies a step whose changes have been computed before.
 */
#ifndef WC_ENGINE_WRITE_STEP_H
#define WC_ENGINE_WRITE_STEP_H

#include "engine/forget/pass.h"

/*
 * Has a step applied that was made here: at once, or through the log (wc_engine_log_steps),
 * in which case it waits for that.  work (of a pass, wc_pass_work) spares it the reading if the
 * range has not been written to since; NULL: it has not been done.  work->sifted.changed is
 * how much it has changed, and work->applied_us how long that took.  WC_CANCELLED: it may still be applied.  cancel may be NULL.
 */
extern WcStatus wc_step_apply(WcEngine *engine, const WcStep *step, WcStepWork *work, const atomic_bool *cancel,
							  WcError *err) WC_WARN_UNUSED;

/* All steps of a pass, one after another. */
extern WcStatus wc_step_apply_all(WcEngine *engine, WcPass *pass, const atomic_bool *cancel, WcError *err) WC_WARN_UNUSED;

#endif
