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
	bool		simple;			/* puts without TTL, one a column */
	int64_t		last_ts;		/* greatest timestamp that was taken */
} WcResolved;

extern WcStatus wc_resolver_finish(WcResolver *resolver, WcResolved *resolved, WcError *err) WC_WARN_UNUSED;

#endif
