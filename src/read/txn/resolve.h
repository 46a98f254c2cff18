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
 * Gives what is stored of a row: a source that stands at the start of it and
 * remains the giver's, or NULL when nothing is stored.  May be called several
 * times a row.
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

/* A new row; ts is its first timestamp.  What is pointed to, here and by the
 * items, must live until the next start. */
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

/* Did stored cells of the row decide anything?  Are there markers that later puts must not fall under? */
extern bool wc_resolver_is_based(const WcResolver *resolver);
extern bool wc_resolver_has_marks(const WcResolver *resolver);

/* As if the row had been started with the timestamp `to`, not `from`.  Of the items all had a
 * timestamp (dated), or none.  False: what is stored is dated in between, or may be. */
extern bool wc_resolver_retime(WcResolver *resolver, int64_t from, int64_t to, bool dated) WC_WARN_UNUSED;

/*
 * A put without a timestamp, when there are no marks, in place of item and end_op.  It can
 * be taken back (the last first): before is the cell whose place it has taken (existed), or
 * has its coordinates.
 */
extern WcStatus wc_resolver_put(WcResolver *resolver, const WcItem *item, WcCell *before, bool *existed,
								WcError *err) WC_WARN_UNUSED;
extern void wc_resolver_take_back(WcResolver *resolver, const WcCell *before, bool existed);

#endif
