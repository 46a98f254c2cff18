/*
 * fdw/scan/explainrange.h: the ranges of a scan, for EXPLAIN.
 *
 * Start and stop row are shown as the values of the conditions: most values are known only when the scan runs, and
 * encoded keys are hard to read.  For ranges that are not so simple (row comparisons over parts of mixed sort order,
 * conditions on parts and on the raw key together), the conditions are shown.
 */
#ifndef WC_FDW_SCAN_EXPLAINRANGE_H
#define WC_FDW_SCAN_EXPLAINRANGE_H

#include "postgres.h"

#include "fdw/condition/keycond.h"
#include "fdw/plan/private.h"
#include "fdw/relation/relation.h"

#define WC_UNKNOWN_COUNT (-1)

/* One end of the ranges. */
typedef struct WcExplainedEnd
{
	List	   *values;			/* char *, values for the first part that is not pinned */
	bool		exclusive;
} WcExplainedEnd;

/* The buckets of a salted key that a range behind the salt is read in. */
typedef enum WcSpread
{
	WC_UNSALTED,
	WC_ONE_BUCKET,
	WC_SOME_BUCKETS,			/* known when the scan runs */
	WC_ALL_BUCKETS
} WcSpread;

typedef struct WcExplained
{
	WcRelation *wrel;
	const WcScanPlan *plan;
	List	   *context;		/* for deparsing */
	bool		useprefix;

	List	   *prefix;			/* char *, values of the pinned parts */
	bool		raw;			/* the ends are raw keys */
	WcExplainedEnd start;
	WcExplainedEnd stop;
	bool		simple;			/* start and stop describe the ranges completely */
	bool		pinned;			/* all parts of the key are pinned */
	double		nranges;		/* or WC_UNKNOWN_COUNT */
	WcSpread	spread;
	bool		empty;			/* no row can satisfy the conditions */
	List	   *ranges;			/* char *; set if not simple and all values are known */
} WcExplained;

/* Fills in the struct.  The caller has set wrel, plan, context and useprefix; all other fields are 0.  Allocates
 * in CurrentMemoryContext, as do the functions below. */
extern void wc_explained_find(WcExplained *shown);

/* An expression of the plan as SQL text. */
extern char *wc_explained_deparse(const WcExplained *shown, Node *expr);

/* A condition as SQL text. */
extern char *wc_explained_cond(const WcExplained *shown, const WcKeyCond *cond);

/* "(1, 'a') inclusive"; combine: the function ("greatest") that joins several values. */
extern char *wc_explained_end(const WcExplained *shown, const WcExplainedEnd *end, const char *combine);

/* "RANGE SCAN REVERSE" */
extern char *wc_explained_scan(const WcExplained *shown);

#endif
