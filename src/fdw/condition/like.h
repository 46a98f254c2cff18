/*
 * fdw/condition/like.h: what a LIKE pattern starts with.
 */
#ifndef WC_FDW_CONDITION_LIKE_H
#define WC_FDW_CONDITION_LIKE_H

#include "postgres.h"

#include "rowkey/rowkey.h"

typedef enum WcLike
{
	WC_LIKE_EQUAL,				/* no wildcard: LIKE is = */
	WC_LIKE_PREFIX,				/* 'prefix%' */
	WC_LIKE_OTHER				/* starts with the prefix, and more has to be looked at */
} WcLike;

/* The literal bytes a LIKE pattern starts with; prefix has room for len bytes. */
extern WcLike wc_like_prefix(const char *pattern, size_t len, char *prefix, size_t *prefix_len);

/*
 * What LIKE means for this pattern (text): the value, palloc'd text, and *op, = or
 * a prefix.  *exact becomes false when there is more to the pattern.
 */
extern Datum wc_like_value(Datum pattern, WcKeyOp *op, bool *exact);

#endif
