/*
 * engine/write/step.h: applying a step whose work has been done before.
 */
#ifndef WC_ENGINE_WRITE_STEP_H
#define WC_ENGINE_WRITE_STEP_H

#include "engine/forget/pass.h"

/* As wc_engine_step; work (of a pass, wc_pass_work) spares it the reading if the range has
 * not been written to since.  NULL: it has not been done. */
extern WcStatus wc_step_apply(WcEngine *engine, uint64_t position, const WcStep *step, WcStepWork *work, WcError *err) WC_WARN_UNUSED;

/* All steps of a pass, one after another.  *changed: key-values that they have deleted or
 * written anew. */
extern WcStatus wc_step_apply_all(WcEngine *engine, WcPass *pass, uint64_t *changed, WcError *err) WC_WARN_UNUSED;

#endif
