/*
 * fdw/scan/explainrange.h: the rows that a scan reads, in words.
 *
 * Start and stop row are shown as the conditions' values: most are known only
 * when the scan runs, and encoded keys are not for people.  Where the ranges are
 * not that simple (row comparisons over parts of mixed order, conditions on
 * parts and on the raw key at once), the conditions themselves are shown.
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
	List	   *values;			/* char *, on the first part that is not pinned */
	bool		exclusive;
} WcExplainedEnd;

/* Over which buckets of a salted key one range behind the salt goes. */
typedef enum WcSpread
{
	WC_UNSALTED,
	WC_ONE_BUCKET,
	WC_SOME_BUCKETS,			/* known when it runs */
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
	bool		simple;			/* start and stop say it all */
	bool		pinned;			/* the whole key is */
	double		nranges;		/* or WC_UNKNOWN_COUNT */
	WcSpread	spread;
	bool		empty;			/* no row can satisfy the conditions */
	List	   *ranges;			/* char *, when simple is not and the values are known */
} WcExplained;

/* Finds what is to be shown.  The caller has set wrel, plan, context and useprefix; all else is 0.
 * In CurrentMemoryContext, as all texts here. */
extern void wc_explained_find(WcExplained *shown);

/* An expression of the plan as in SQL. */
extern char *wc_explained_deparse(const WcExplained *shown, Node *expr);

/* A condition as in SQL. */
extern char *wc_explained_cond(const WcExplained *shown, const WcKeyCond *cond);

/* "(1, 'a') inclusive"; combine: the function ("greatest") that joins several values. */
extern char *wc_explained_end(const WcExplained *shown, const WcExplainedEnd *end, const char *combine);

/* "RANGE SCAN REVERSE" */
extern char *wc_explained_scan(const WcExplained *shown);

#endif
