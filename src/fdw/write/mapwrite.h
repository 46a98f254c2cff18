/*
 * fdw/write/mapwrite.h: jsonb and hstore maps as cells.
 *
 * A member is a qualifier and its value: strings as they are, numbers and
 * booleans as their text, arrays and objects as JSON text; null members are
 * left out.  All text is UTF-8.
 */
#ifndef WC_FDW_WRITE_MAPWRITE_H
#define WC_FDW_WRITE_MAPWRITE_H

#include "postgres.h"

#include "fmgr.h"

#include "fdw/relation/relation.h"
#include "fdw/write/rowwrite.h"

typedef struct WcMapWriter
{
	const WcRelation *wrel;
	const WcRelColumn *column;	/* of wrel */
	FmgrInfo	to_jsonb;		/* of an hstore */
} WcMapWriter;

typedef struct WcMapEntry
{
	WcSlice		qualifier;
	WcSlice		value;
} WcMapEntry;

/* Needs CurrentMemoryContext to live as long as the writer. */
extern void wc_mapwrite_init(WcMapWriter *m, const WcRelation *wrel, const WcRelColumn *column);

/*
 * The entries in order of their qualifiers, distinct; palloc'd.  NULL is the empty map. 22023 for a value that cannot
 * be stored: one that is no object, or with a qualifier that another column maps or that lacks the prefix.
 */
extern int	wc_mapwrite_entries(WcMapWriter *m, Datum map, bool isnull, WcMapEntry **entries);

/* Puts all entries. */
extern void wc_mapwrite_put(const WcMapWriter *m, WcRowWrite *w, const WcMapEntry *entries, int n);

/* Has the map no member that is stored?  Errors as above, but for qualifiers. */
extern bool wc_mapwrite_is_empty(WcMapWriter *m, Datum map, bool isnull);

/* Puts and deletes the members that differ between the row's map and another value.  Errors as above. */
extern void wc_mapwrite_diff(WcMapWriter *m, WcRowWrite *w, Datum old, bool oldisnull, Datum new, bool newisnull);

#endif
