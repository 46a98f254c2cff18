/*
 * fdw/scan/partkeys.h: keys that a partition cannot have.
 *
 * Below a nested loop over partitions each partition looks up the next keys.  It asks only for those that its bounds allow.
 */
#ifndef WC_FDW_SCAN_PARTKEYS_H
#define WC_FDW_SCAN_PARTKEYS_H

#include "postgres.h"

#include "nodes/execnodes.h"

#include "fdw/relation/relation.h"

typedef struct WcPartKeys WcPartKeys;

/* For keys from these conditions (WcKeyCond).  NULL: the table is no partition, or the conditions do not decide.  Allocates
 * in CurrentMemoryContext. */
extern WcPartKeys *wc_partkeys_create(ForeignScanState *node, const WcRelation *wrel, const List *conds);

/* May the partition have the key of these values of the conditions? */
extern bool wc_partkeys_allow(WcPartKeys *keys, const Datum *values, const bool *nulls);

#endif
