/*
 * fdw/condition/match.h: one clause of a query as a condition on the key, or on cells.
 */
#ifndef WC_FDW_CONDITION_MATCH_H
#define WC_FDW_CONDITION_MATCH_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/condition/keycond.h"
#include "fdw/relation/relation.h"

/*
 * The condition that a clause puts on a key part, on the raw key, on cells, or (an OR) on several of these; NULL: none
 * that can become ranges or columns.  A comparison value is any expression that is neither volatile nor a subplan nor
 * from rel itself.  The arms of an OR hold the conditions found in them; the OR is `exact` if they contain nothing
 * else.
 */
extern WcKeyCond *wc_match_clause(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, RestrictInfo *rinfo);

/* text ^@ text has no symbol in PostgreSQL's headers. */
#define WC_STARTS_WITH_OPERATOR 3877

/* Base types: does wc_codec_encode_bound relate values of type value to a column of type column? */
extern bool wc_match_comparable(Oid column, Oid value);

/* For a column of this base type, under an operator's collation: are values equal if and only if their bytes
 * are?  Are they in the order of their bytes?  False where the type needs a collation and the operator has none
 * (the collations of two columns conflict): PostgreSQL raises that error. */
extern bool wc_match_bytes_equal(Oid column, Oid collation);
extern bool wc_match_bytes_ordered(Oid column, Oid collation);

/* The key part (or WC_COND_RAW_KEY) that this expression is; false: none. */
extern bool wc_match_key(RelOptInfo *rel, WcRelation *wrel, Node *expr, int *part);

/* The same for the other columns of a cell: WC_COND_FAMILY, WC_COND_QUALIFIER or WC_COND_TS. */
extern bool wc_match_cell(RelOptInfo *rel, WcRelation *wrel, Node *expr, int *part);

#endif
