/*
 * fdw/rawbound.h: conditions on the whole key, as bytes.
 */
#ifndef WC_FDW_RAWBOUND_H
#define WC_FDW_RAWBOUND_H

#include "postgres.h"

#include "fdw/private.h"
#include "fdw/rangeset.h"
#include "fdw/relation.h"

/* set becomes the rows that satisfy the condition as well; false: it may hold
 * more than these.  New bytes are in the arena. */
extern bool wc_rawbound_apply(const WcKeyCond *cond, Datum value, bool isnull, WcArena *arena, WcRangeSet *set);

#endif
