/*
 * rpc/log/xidtable.h: a hash table by transaction id.
 *
 * Its nodes are embedded in structs of the caller, who owns them.  One thread at a time.
 */
#ifndef WC_RPC_LOG_XIDTABLE_H
#define WC_RPC_LOG_XIDTABLE_H

#include <stddef.h>

#include "base/status.h"

typedef struct WcXidNode
{
	struct WcXidNode *next;		/* in its bucket */
	uint64_t	xid;
} WcXidNode;

typedef struct WcXidTable
{
	WcXidNode **buckets;
	size_t		nbuckets;		/* a power of two; 0: no memory yet */
	size_t		n;
} WcXidTable;

#define WC_XIDTABLE_INIT {NULL, 0, 0}

/* The nodes are the caller's: it has taken them out. */
extern void wc_xidtable_free(WcXidTable *table);

/* NULL: there is none. */
extern WcXidNode *wc_xidtable_find(const WcXidTable *table, uint64_t xid);

/* node->xid is set, and not in the table.  WC_NO_MEMORY: nothing has happened. */
extern WcStatus wc_xidtable_add(WcXidTable *table, WcXidNode *node, WcError *err) WC_WARN_UNUSED;

/* The first node (node NULL), or the node after another, in no order; NULL: no more.  Between calls no node may be added;
 * a node may be removed when the next one is known. */
extern WcXidNode *wc_xidtable_next(const WcXidTable *table, const WcXidNode *node);

/* Takes one out; NULL: there was none. */
extern WcXidNode *wc_xidtable_remove(WcXidTable *table, uint64_t xid);

#endif
