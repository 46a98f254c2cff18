/*
 * fdw/relation/recordtype.h: foreign tables that show one of several types of records in
 * a stored table.
 *
 * The type is a part of the row key that has one value in all rows of the
 * foreign table: CHECK (part = constant), a column GENERATED ALWAYS AS
 * (constant), or a partition's bound say so (which may also list several values).  Rows of other types are not rows of
 * this foreign table, whether or not a query names the constant.
 */
#ifndef WC_FDW_RELATION_RECORDTYPE_H
#define WC_FDW_RELATION_RECORDTYPE_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/relation/relation.h"

/* Finds the constants, in CurrentMemoryContext: fills wrel->constants, wrel->constant_parts
 * and its columns' constants.  Columns and codecs must be known. */
extern void wc_recordtype_find(WcRelation *wrel, Relation rel);

/* May the column have this value, as the key stores it, in rows of the type? */
extern bool wc_recordtype_has(const WcRelColumn *column, WcSlice value);

/*
 * "part = constant" as RestrictInfos of rel, those left out that are among the
 * query's clauses anyway.
 */
extern List *wc_recordtype_clauses(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, List *clauses);

/* The rows that may be of the type, when leading parts have one value each and no
 * salt is before them; else all.  Start inclusive, stop exclusive; bytes in
 * CurrentMemoryContext. */
extern void wc_recordtype_range(const WcRelation *wrel, WcRange *range);

/*
 * The ranges of exactly the rows of the type, in any order, if the constants are those of leading parts, of which only the last
 * one may have several; *nranges is the number of ranges, 0 if no row can be of the type.  NULL: the rows of the type are no
 * ranges of their own.  Memory as above.
 */
extern WcRange *wc_recordtype_ranges(const WcRelation *wrel, int *nranges);

/*
 * Is this row of the type (always true without constants)?  One whose key has not
 * the shape of this table's up to its last constant is not.
 */
extern bool wc_recordtype_matches(WcRelation *wrel, WcSlice key);

#endif
