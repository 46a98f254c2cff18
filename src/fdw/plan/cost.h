/*
 * fdw/plan/cost.h: the sizes of tables and the costs of scans.
 */
#ifndef WC_FDW_PLAN_COST_H
#define WC_FDW_PLAN_COST_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/condition/qual.h"
#include "fdw/relation/relation.h"

/*
 * The unit is PostgreSQL's: 1 is a page read in sequence.  The cost of a message to the engine and its answer; and of
 * one key of many that are sent at once, in order.
 */
#define WC_COST_ROUND_TRIP 3.0
#define WC_COST_LOOKUP 0.25

/* Factors for a cluster, which is reached over the network: for these costs; and for a row that comes from
 * there. */
#define WC_COST_DISTANCE 10.0
#define WC_COST_ROW_DISTANCE 4.0

/* The cost of groups that the engine makes, besides their rows: sending some two hundred rows costs as much. */
#define WC_COST_GROUPS 1.0

/* A backward walk costs a little more: of two equal plans, take the forward one. */
#define WC_COST_REVERSED 1.05

/* A whole stored table, as the planner sees it. */
typedef struct WcTableSize
{
	double		rows;
	double		bytes;
	bool		guessed;		/* the size is unknown */
	bool		analyzed;		/* ANALYZE counted the rows, so there are statistics of columns, too */
	double		cells;			/* layout cell: rows for each stored row, estimated by their bytes; else 1 */
	double		stored_rows;	/* including those of other record types (recordtype.h) */
	bool		remote;			/* the table is in a cluster */
} WcTableSize;

/* The factor for costs of messages to the table's store: 1, or WC_COST_DISTANCE in a cluster. */
extern double wc_cost_distance(const WcRelation *wrel);

/* The engine's estimate for the mapped families; for a record type, only in its range (recordtype.h).  It is
 * approximate and does not count the transaction's uncommitted rows.  An answer is used for a second, or for a
 * minute while hardly anything has been written; otherwise this costs a round trip. */
extern void wc_cost_table_size(const WcRelation *wrel, WcTableSize *size);

/* Makes the next caller of wc_cost_table_size ask the engine. */
extern void wc_cost_forget_size(const WcRelation *wrel);

/* The size from ANALYZE if the table has been analyzed and has not changed much in size since (which is not
 * checked for a point: a Get), else from the engine. */
extern void wc_cost_rel_size(const RelOptInfo *rel, const WcRelation *wrel, bool point, WcTableSize *size);

/*
 * Asks the engine how many rows are in the ranges of conditions whose values are known when planning, and sets
 * quals->rows, unless there is no estimate.  It serves tables without statistics, or with old ones: the planner could
 * only guess about their keys.  Costs a round trip for each range.
 */
extern void wc_cost_key_rows(PlannerInfo *root, WcRelation *wrel, const WcTableSize *size, WcQuals *quals);

/* Rows that a scan with these conditions returns, out of `rows` that satisfy all clauses by the planner's
 * estimate: a Get returns one (or its cells). */
extern double wc_cost_clamp_rows(const WcRelation *wrel, const WcQuals *quals, double rows);

/* Costs of a scan with these conditions that returns `rows`. */
extern void wc_cost_scan(PlannerInfo *root, RelOptInfo *rel, const WcQuals *quals, const WcTableSize *size,
						 double rows, Cost *startup, Cost *total);

/* How many workers may share such a scan: as many as PostgreSQL would use for a heap table with the rows that
 * are read. 0: none. */
extern int	wc_cost_workers(PlannerInfo *root, RelOptInfo *rel, const WcRelation *wrel, const WcQuals *quals,
							const WcTableSize *size);

/* For a scan that is shared by so many workers, and by the leader if it takes part: returns the rows that one
 * process returns.  *total is the cost of the whole scan before, and of one process after the call. */
extern double wc_cost_share(int workers, double rows, Cost startup, Cost *total);

/* Costs of a scan that returns groups instead of the rows of this path. ordered: the first group comes before
 * all rows have been read. */
extern void wc_cost_aggregate(const Path *rows, int ncolumns, double ngroups, bool ordered, Cost *startup, Cost *total);

/* Costs of a scan that returns one row for each of nprefixes prefixes, instead of the rows of this path. */
extern void wc_cost_distinct(const Path *rows, double nprefixes, Cost *startup, Cost *total);

/* Adds the costs of merging the buckets of a salted key. */
extern void wc_cost_merge(const WcRelation *wrel, const WcQuals *quals, double rows, Cost *startup, Cost *total);

#endif
