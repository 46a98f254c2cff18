/*
 * rpc/log/xidtable.h: a hash table by transaction id.
 *
 * Its nodes are embedded in structs that the caller owns.  One thread at a time.
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

/* Frees the table; the caller has taken the nodes out, or frees them itself. */
extern void wc_xidtable_free(WcXidTable *table);

/* The node with this id; NULL: there is none. */
extern WcXidNode *wc_xidtable_find(const WcXidTable *table, uint64_t xid);

/* Adds a node; the caller has set node->xid, which is not in the table yet.  WC_NO_MEMORY: nothing was added. */
extern WcStatus wc_xidtable_add(WcXidTable *table, WcXidNode *node, WcError *err) WC_WARN_UNUSED;

/* The first node (node NULL), or the node after another, in no order; NULL: no more.  Between calls no node may be added;
 * a node may be removed when the next one is known. */
extern WcXidNode *wc_xidtable_next(const WcXidTable *table, const WcXidNode *node);

/* Takes out the node with this id; NULL: there is none. */
extern WcXidNode *wc_xidtable_remove(WcXidTable *table, uint64_t xid);

#endif
