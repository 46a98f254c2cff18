/*
 * fdw/condition/like.h: the prefix that a LIKE pattern starts with.
 */
#ifndef WC_FDW_CONDITION_LIKE_H
#define WC_FDW_CONDITION_LIKE_H

#include "postgres.h"

#include "nodes/nodes.h"

#include "rowkey/rowkey.h"

typedef enum WcLike
{
	WC_LIKE_EQUAL,				/* no wildcard: LIKE is = */
	WC_LIKE_PREFIX,				/* 'prefix%' */
	WC_LIKE_OTHER				/* starts with the prefix; the rest must be evaluated */
} WcLike;

/* The column of which the expression is a start, of any length: left(column, n), substr(column, 1, n); NULL: none. */
extern Node *wc_like_start_of(Node *expr);

/* The literal bytes that a LIKE pattern starts with; prefix has room for len bytes. */
extern WcLike wc_like_prefix(const char *pattern, size_t len, char *prefix, size_t *prefix_len);

/*
 * Converts LIKE with this pattern (text) to a comparison.  Returns its value, palloc'd text, and sets *op to = or
 * prefix.  Sets *exact to false if the pattern demands more than the comparison.
 */
extern Datum wc_like_value(Datum pattern, WcKeyOp *op, bool *exact);

#endif
