/*
 * fdw/condition/member.h: members of maps, as columns that a filter looks at.
 *
 * The text of a member is its cell's; a map without the member, and no map at all, have NULL for
 * it, as without the cell.
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
	Oid			type;			/* text, or what its text is cast to */
} WcMember;

/*
 * Is the expression a member of a map of relid: map ->> 'name', of an hstore map -> 'name', or a cast of
 * that to a type of which the engine knows the text?  With a name that is a constant.
 */
extern bool wc_member_match(const WcRelation *wrel, Index relid, Node *expr, WcMember *member);

/* How the member's cell is understood; in CurrentMemoryContext. */
extern WcCodec *wc_member_codec(const WcRelation *wrel, const WcMember *member);

/*
 * map ? 'name', ?|, ?&, and map @> '{"name": "text"}', as conditions on members.  What they give is
 * true where the clause is, and false or NULL elsewhere, not always the same of these.  NULL: the clause
 * is none that can be said so.
 */
extern Node *wc_member_expand(const WcRelation *wrel, Index relid, Node *clause);

#endif
