/*
 * rpc/log/xidtable.c: a hash table by transaction id.
 */
#include "rpc/log/xidtable.h"

#include <assert.h>
#include <stdlib.h>

#define BUCKETS_FIRST 64

/* PostgreSQL gives ids one after another: their lowest bits are spread best. */
static WcXidNode **
bucket_of(const WcXidTable *t, uint64_t xid)
{
	return &t->buckets[xid & (t->nbuckets - 1)];
}

void
wc_xidtable_free(WcXidTable *t)
{
	free(t->buckets);
	*t = (WcXidTable) WC_XIDTABLE_INIT;
}

WcXidNode *
wc_xidtable_find(const WcXidTable *t, uint64_t xid)
{
	if (t->n == 0)
		return NULL;
	for (WcXidNode *node = *bucket_of(t, xid); node != NULL; node = node->next)
	{
		if (node->xid == xid)
			return node;
	}
	return NULL;
}

static bool
grow(WcXidTable *t)
{
	WcXidTable	bigger = {.nbuckets = t->nbuckets == 0 ? BUCKETS_FIRST : 2 * t->nbuckets,.n = t->n};

	bigger.buckets = calloc(bigger.nbuckets, sizeof(WcXidNode *));
	if (bigger.buckets == NULL)
		return false;
	for (size_t i = 0; i < t->nbuckets; i++)
	{
		WcXidNode  *node;

		while ((node = t->buckets[i]) != NULL)
		{
			WcXidNode **bucket = bucket_of(&bigger, node->xid);

			t->buckets[i] = node->next;
			node->next = *bucket;
			*bucket = node;
		}
	}
	free(t->buckets);
	*t = bigger;
	return true;
}

WcStatus
wc_xidtable_add(WcXidTable *t, WcXidNode *node, WcError *err)
{
	WcXidNode **bucket;

	assert(node->xid != 0 && wc_xidtable_find(t, node->xid) == NULL);
	/* an existing table works without growing */
	if (t->n >= t->nbuckets && !grow(t) && t->nbuckets == 0)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a transaction");
	bucket = bucket_of(t, node->xid);
	node->next = *bucket;
	*bucket = node;
	t->n++;
	return WC_OK;
}

static WcXidNode *
unlink_node(WcXidTable *t, WcXidNode **link)
{
	WcXidNode  *node = *link;

	assert(t->n > 0);
	*link = node->next;
	t->n--;
	return node;
}

WcXidNode *
wc_xidtable_remove(WcXidTable *t, uint64_t xid)
{
	if (t->n == 0)
		return NULL;
	for (WcXidNode **link = bucket_of(t, xid); *link != NULL; link = &(*link)->next)
	{
		if ((*link)->xid == xid)
			return unlink_node(t, link);
	}
	return NULL;
}

WcXidNode *
wc_xidtable_next(const WcXidTable *t, const WcXidNode *node)
{
	size_t		bucket = 0;

	if (node != NULL && node->next != NULL)
		return node->next;
	if (node != NULL)
		bucket = (node->xid & (t->nbuckets - 1)) + 1;
	for (; bucket < t->nbuckets; bucket++)
	{
		if (t->buckets[bucket] != NULL)
			return t->buckets[bucket];
	}
	return NULL;
}
