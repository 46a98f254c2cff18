/*
 * read/txn/resolver.h: the resolver, for resolve.c and resolvestate.c.
 */
#ifndef WC_READ_TXN_RESOLVER_H
#define WC_READ_TXN_RESOLVER_H

#include <stdlib.h>

#include "read/cell/matcher.h"
#include "read/txn/resolve.h"

/* A marker without a timestamp of its own: later puts must not fall under it. */
typedef struct WcMark
{
	bool		family;			/* every column; else qualifier */
	bool		exact;			/* ts alone; else up to ts */
	WcSlice		qualifier;
	int64_t		ts;
} WcMark;

/* A column on whose state an operation depends. */
typedef struct WcTarget
{
	WcSlice		qualifier;
	bool		prefix;			/* all that start with it */
	uint32_t	ndeletes;		/* newest versions to delete */
	uint32_t	nfound;			/* of them, so far */
} WcTarget;

#define WC_ARRAY(type) struct { type *data; size_t n; size_t cap; }

struct WcResolver
{
	WcResolverOptions options;
	WcMatcher  *matcher;		/* finds visible cells; made when first needed */

	WcSlice		row;
	int64_t		ts;				/* for cells without one */
	bool		sorted;			/* the cells before op_start are in order, none twice */
	size_t		nsorted;		/* at least the first nsorted cells are sorted */
	bool		based;			/* stored cells of the row were read ... */
	int64_t		stored_ts;		/* ... and this is the newest timestamp met there */
	size_t		op_start;		/* cells from here on are the current operation's puts */
	WC_ARRAY(WcCell) cells;
	WC_ARRAY(WcCell) room;			/* for sorting */
	WC_ARRAY(WcMark) marks;

	/* Of the current operation. */
	WC_ARRAY(WcItem) deletes;		/* items that are not puts */
	WC_ARRAY(WcCell) markers;		/* their markers */
	WC_ARRAY(WcTarget) targets;
	WC_ARRAY(WcSlice) puts;		/* qualifiers put, sorted */
	WC_ARRAY(WcSlice) excepts;		/* qualifiers a CLEAR_FAMILY leaves, sorted */
	bool		clear_family;
	WC_ARRAY(int64_t) versions;	/* of the current column: timestamps not masked, newest first */
	WcArena		names;			/* qualifiers of markers that no item names; goes with the row */
};

static inline WcStatus
wc_resolver_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for the changes of a row");
}

/* Room for one more; false: out of memory. */
static inline bool
wc_array_room(void **data, size_t n, size_t *cap, size_t size)
{
	size_t		new_cap = *cap ? 2 * *cap : 16;
	void	   *p;

	if (n < *cap)
		return true;
	p = realloc(*data, new_cap * size);
	if (p == NULL)
		return false;
	*data = p;
	*cap = new_cap;
	return true;
}

/* Appends value to an array of a resolver, or returns WC_NO_MEMORY from the function. */
#define WC_PUSH(array, value) \
	do { \
		void	   *data_ = (array).data; \
		bool		good_ = wc_array_room(&data_, (array).n, &(array).cap, sizeof(*(array).data)); \
		(array).data = data_; \
		if (!good_) \
			return wc_resolver_memory(err); \
		(array).data[(array).n++] = (value); \
	} while (0)

/* By coordinates; cells of equal ones by the order in which they were written. */
static inline int
wc_coordinates_cmp(const WcCell *a, const WcCell *b)
{
	int			c = wc_slice_cmp(a->qualifier, b->qualifier);

	if (c != 0)
		return c;
	if (a->ts != b->ts)
		return a->ts > b->ts ? -1 : 1;
	return (a->type < b->type) - (a->type > b->type);
}

/* --- resolvestate.c ------------------------------------------------------- */

/* Adds a marker to those of the current operation; timeless: its item had no
 * timestamp. */
extern WcStatus wc_resolver_add_marker(WcResolver *resolver, uint8_t type, WcSlice qualifier, int64_t ts,
									   bool timeless, WcError *err) WC_WARN_UNUSED;

/* Between operations, with all cells in order: does the row hold a visible cell? */
extern WcStatus wc_resolver_find_visible(WcResolver *resolver, bool *found, WcError *err) WC_WARN_UNUSED;

/* Makes markers of the operation's targets and clears, by the state before it (the cells before op_start are in
 * order). */
extern WcStatus wc_resolver_decide(WcResolver *resolver, WcError *err) WC_WARN_UNUSED;

#endif
