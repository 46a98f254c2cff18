/*
 * fdw/scan/knownranges.h: the ranges of a scan whose conditions have known values, for EXPLAIN.
 */
#ifndef WC_FDW_SCAN_KNOWNRANGES_H
#define WC_FDW_SCAN_KNOWNRANGES_H

#include "postgres.h"

#include "fdw/plan/private.h"
#include "fdw/relation/relation.h"

typedef struct WcKnownRanges
{
	bool		empty;			/* no row can satisfy the conditions */
	uint32		nranges;
	List	   *texts;			/* char *, with row keys as functions take them; some of many are left out */
} WcKnownRanges;

/* False: some value is known only when the scan runs. */
extern bool wc_known_ranges(WcRelation *wrel, const WcScanPlan *plan, WcKnownRanges *out);

#endif
