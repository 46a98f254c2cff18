/*
 * fdw/condition/match.h: one clause of a query as a condition on the key.
 */
#ifndef WC_FDW_CONDITION_MATCH_H
#define WC_FDW_CONDITION_MATCH_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "fdw/condition/keycond.h"
#include "fdw/relation/relation.h"

/*
 * The condition that a clause puts on a key part, on the raw key, on cells, or (an
 * OR) on several; NULL: none that could become ranges or columns.  Comparison values are whatever
 * is neither volatile nor from rel itself.  An OR's arms hold what was found in
 * them; it is `exact` when nothing else is in them.
 */
extern WcKeyCond *wc_match_clause(PlannerInfo *root, RelOptInfo *rel, WcRelation *wrel, RestrictInfo *rinfo);

/* text ^@ text has no symbol in PostgreSQL's headers. */
#define WC_STARTS_WITH_OPERATOR 3877

/* Base types: does wc_codec_encode_bound relate such values to a column of this type? */
extern bool wc_match_comparable(Oid column, Oid value);

/* Are values of a column of this base type equal where their bytes are, in order as
 * their bytes are, under an operator's collation?  Not where it needs one and has none
 * (two columns' collations are in conflict): that is PostgreSQL's to complain about. */
extern bool wc_match_bytes_equal(Oid column, Oid collation);
extern bool wc_match_bytes_ordered(Oid column, Oid collation);

/* The key part (or WC_COND_RAW_KEY) that this expression is; false: none. */
extern bool wc_match_key(RelOptInfo *rel, WcRelation *wrel, Node *expr, int *part);

/* The same for what a cell has besides: WC_COND_FAMILY, WC_COND_QUALIFIER or
 * WC_COND_TS. */
extern bool wc_match_cell(RelOptInfo *rel, WcRelation *wrel, Node *expr, int *part);

#endif
