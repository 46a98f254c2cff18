/*
 * fdw/plan/cost.h: how much there is to read and what that costs.
 */
#ifndef WC_FDW_PLAN_COST_H
#define WC_FDW_PLAN_COST_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/condition/qual.h"
#include "fdw/relation/relation.h"

/*
 * The unit is PostgreSQL's: 1 is a page read in sequence.  A message to the engine
 * and its answer; and one of many keys that are sent at once, in order.
 */
#define WC_COST_ROUND_TRIP 3.0
#define WC_COST_LOOKUP 0.25

/* What groups that the engine makes cost besides their rows: some two hundred rows are as
 * well sent. */
#define WC_COST_GROUPS 1.0

/* A whole stored table, as the planner sees it. */
typedef struct WcTableSize
{
	double		rows;
	double		bytes;
	bool		guessed;		/* nothing is known */
	bool		analyzed;		/* ANALYZE has told, so that there are statistics of columns, too */
	double		cells;			/* layout cell: rows a stored row, as far as bytes tell; else 1 */
	double		stored_rows;	/* with those of other record types (recordtype.h) */
} WcTableSize;

/* What the engine says, of the families that are mapped, of
 * one record type only the range of that (recordtype.h):
 * approximate, own uncommitted rows not counted.  What
 * was learnt is good for a second; for a minute while hardly
 * anything has been written.  Then a round trip. */
extern void wc_cost_table_size(const WcRelation *wrel, WcTableSize *size);

/* The next to ask asks the engine. */
extern void wc_cost_forget_size(const WcRelation *wrel);

/* From ANALYZE when that has been done and the table has not changed much in size
 * since (which is not looked at for a point: a Get), else from the engine. */
extern void wc_cost_rel_size(const RelOptInfo *rel, const WcRelation *wrel, bool point, WcTableSize *size);

/*
 * Asks the engine how many rows are in the ranges of conditions whose values are
 * known when planning; fills quals->rows, unless that tells nothing.  For tables
 * without statistics, or old ones: the planner would guess about their keys.  A round
 * trip a range.
 */
extern void wc_cost_key_rows(PlannerInfo *root, WcRelation *wrel, const WcTableSize *size, WcQuals *quals);

/* Rows that a scan with these conditions gives out of `rows` that satisfy all
 * clauses by the planner's estimate: a Get gives one (or its cells). */
extern double wc_cost_clamp_rows(const WcRelation *wrel, const WcQuals *quals, double rows);

/* Costs of a scan with these conditions that gives `rows`. */
extern void wc_cost_scan(PlannerInfo *root, RelOptInfo *rel, const WcQuals *quals, const WcTableSize *size,
						 double rows, Cost *startup, Cost *total);

/* How many workers may share such a scan: by the rows that are read, as PostgreSQL would decide of a
 * heap table of these.  0: none. */
extern int	wc_cost_workers(PlannerInfo *root, RelOptInfo *rel, const WcRelation *wrel, const WcQuals *quals,
							const WcTableSize *size);

/* Of a scan that is shared by so many workers, and the leader if that takes part: the rows that a
 * process gives; *total is that of the scan before, and then a process's. */
extern double wc_cost_share(int workers, double rows, Cost startup, Cost *total);

/* Costs of a scan of groups in the place of the rows of this path.  ordered: the first group comes
 * before all rows have been read. */
extern void wc_cost_aggregate(const Path *rows, int ncolumns, double ngroups, bool ordered, Cost *startup, Cost *total);

/* What merging the buckets of a salted key adds to that. */
extern void wc_cost_merge(const WcRelation *wrel, const WcQuals *quals, double rows, Cost *startup, Cost *total);

#endif
