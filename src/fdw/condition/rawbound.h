/*
 * fdw/condition/rawbound.h: conditions on the whole key, as bytes.
 */
#ifndef WC_FDW_CONDITION_RAWBOUND_H
#define WC_FDW_CONDITION_RAWBOUND_H

#include "postgres.h"

#include "fdw/condition/keycond.h"
#include "fdw/condition/rangeset.h"
#include "fdw/relation/relation.h"

/* Removes from set the rows that do not satisfy the condition; false: some of these may remain.  New bytes are
 * in the arena. */
extern bool wc_rawbound_apply(const WcKeyCond *cond, Datum value, bool isnull, WcArena *arena, WcRangeSet *set);

#endif
