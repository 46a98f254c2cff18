/*
 * read/txn/resolve.h: from operations to cells.
 *
 * A resolver takes what a transaction's operations say about one family of one
 * row, in order, and gives the cells they come to: timestamps filled in, clears
 * and deletes of "the newest version" replaced by markers.  The same code
 * serves the commit (with the commit timestamp, over the newest state) and a
 * transaction's own reads (with a provisional one, over its snapshot).
 *
 * All cells of a row without a timestamp of their own get the same one, unless
 * a put would be masked by a marker that the same transaction wrote for an
 * earlier command, or the same one: then it, and what follows, gets one more.
 *
 * One thread; its memory is used again from row to row.
 */
#ifndef WC_READ_TXN_RESOLVE_H
#define WC_READ_TXN_RESOLVE_H

#include "model/batch.h"
#include "read/cell/cellsource.h"

typedef struct WcResolver WcResolver;

/*
 * Returns the stored cells of a row: a source that is at the row's start, and that the function keeps; NULL: nothing is
 * stored.  May be called several times for a row.
 */
typedef WcStatus (*WcResolverBase) (void *arg, WcSlice row, WcCellSource **src, WcError *err);

typedef struct WcResolverOptions
{
	uint32_t	family;
	WcFamilyAttrs attrs;
	int64_t		now_us;			/* for TTLs */
	WcResolverBase base;
	void	   *arg;
} WcResolverOptions;

extern WcStatus wc_resolver_create(const WcResolverOptions *options, WcResolver **resolver, WcError *err) WC_WARN_UNUSED;
extern void wc_resolver_free(WcResolver *resolver);

/* Begins a row; ts is its first timestamp.  All bytes to which the arguments and the items point must stay until the next
 * start. */
extern void wc_resolver_start(WcResolver *resolver, WcSlice row, int64_t ts);

/* Between operations: does the row hold a visible cell? */
extern WcStatus wc_resolver_exists(WcResolver *resolver, bool *exists, WcError *err) WC_WARN_UNUSED;

/* The items of an operation, then its end. */
extern WcStatus wc_resolver_item(WcResolver *resolver, const WcItem *item, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_resolver_end_op(WcResolver *resolver, WcError *err) WC_WARN_UNUSED;

typedef struct WcResolved
{
	const WcCell *cells;		/* in cell order, none twice; valid until the next start */
	size_t		n;
	int64_t		last_ts;		/* greatest timestamp that was taken */
} WcResolved;

/* Has it puts without TTL only, one a column? */
extern bool wc_resolved_is_simple(const WcResolved *resolved);

extern WcStatus wc_resolver_finish(WcResolver *resolver, WcResolved *resolved, WcError *err) WC_WARN_UNUSED;

/* --- going on with a resolved row (ownrows.c) -------------------------------
 *
 * After a finish more operations may follow, and another finish.
 */

/* now_us and arg as in the options. */
extern void wc_resolver_go_on(WcResolver *resolver, int64_t now_us, void *arg);

/* Does the result depend on stored cells of the row?  Are there markers that must not mask later puts? */
extern bool wc_resolver_is_based(const WcResolver *resolver);
extern bool wc_resolver_has_marks(const WcResolver *resolver);

/* Changes the result to that of a row that was started with the timestamp `to` instead of `from`.  Either all items gave a
 * timestamp (dated), or none did.  False: stored cells have, or may have, timestamps in between. */
extern bool wc_resolver_retime(WcResolver *resolver, int64_t from, int64_t to, bool dated) WC_WARN_UNUSED;

/*
 * Adds a put without a timestamp, when there are no markers; replaces the calls of item and end_op.  The put can be undone
 * (the last one first): *before is the cell that it has replaced (existed), or has the put's coordinates.
 */
extern WcStatus wc_resolver_put(WcResolver *resolver, const WcItem *item, WcCell *before, bool *existed,
								WcError *err) WC_WARN_UNUSED;
extern void wc_resolver_take_back(WcResolver *resolver, const WcCell *before, bool existed);

#endif
