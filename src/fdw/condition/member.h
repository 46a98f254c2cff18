/*
 * fdw/condition/member.h: members of maps as columns of a filter.
 *
 * The text of a member is the text of its cell.  If the map lacks the member, or there is no map, the member is NULL,
 * and there is no cell.
 */
#ifndef WC_FDW_CONDITION_MEMBER_H
#define WC_FDW_CONDITION_MEMBER_H

#include "postgres.h"

#include "nodes/primnodes.h"

#include "fdw/relation/relation.h"

typedef struct WcMember
{
	int			att;			/* the map's attnum - 1 */
	WcSlice		qualifier;		/* never empty; palloc'd */
	Oid			type;			/* text, or the type that the text is cast to */
} WcMember;

/*
 * Is the expression a member of a map of relid: map ->> 'name' (of an hstore: map -> 'name'), or a cast of that to a
 * type whose text the engine can read?  The name must be a constant.
 */
extern bool wc_member_match(const WcRelation *wrel, Index relid, Node *expr, WcMember *member);

/* The same of map ->> 'name' alone. */
extern bool wc_member_match_text(const WcRelation *wrel, Index relid, Node *expr, WcMember *member);

/* Does the expression cast the text of a member?  The cast fails if the text is none of the type. */
extern bool wc_member_has_cast(const WcRelation *wrel, Index relid, Node *expr);

/* The codec of the member's cell; in CurrentMemoryContext. */
extern WcCodec *wc_member_codec(const WcRelation *wrel, const WcMember *member);

/*
 * Converts map ? 'name', ?|, ?&, and map @> '{"name": "text"}' to conditions on members.  The result is true where the
 * clause is true.  Elsewhere it is false or NULL, and so is the clause, but not always the same of the two.  NULL: the
 * clause cannot be converted.
 */
extern Node *wc_member_expand(const WcRelation *wrel, Index relid, Node *clause);

#endif
