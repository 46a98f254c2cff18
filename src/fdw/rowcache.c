/*
 * fdw/rowcache.c: the rows of a scan that starts over and over.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "fdw/rowcache.h"

#define BLOCK_MIN (8 * 1024)
#define BLOCK_MAX (64 * 1024)

struct WcRowCache
{
	MemoryContext context;
	TupleDesc	tupdesc;
	int			nkept;
	int		   *kept;			/* attnum - 1 */
	uint64		nrows;
	uint64		capacity;
	Datum	  **rows;			/* each: values, and behind them the nulls */
};

WcRowCache *
wc_rowcache_create(MemoryContext parent, TupleDesc tupdesc, const Bitmapset *attrs)
{
	MemoryContext context = AllocSetContextCreate(parent, "widecol kept rows", 0, BLOCK_MIN, BLOCK_MAX);
	WcRowCache *cache = MemoryContextAllocZero(context, sizeof(WcRowCache));
	int			i = -1;

	cache->context = context;
	cache->tupdesc = tupdesc;
	cache->kept = MemoryContextAlloc(context, sizeof(int) * Max(bms_num_members(attrs), 1));
	while ((i = bms_next_member(attrs, i)) >= 0)
		cache->kept[cache->nkept++] = i;
	cache->capacity = 64;
	cache->rows = MemoryContextAlloc(context, cache->capacity * sizeof(Datum *));
	return cache;
}

void
wc_rowcache_free(WcRowCache *cache)
{
	MemoryContextDelete(cache->context);
}

bool
wc_rowcache_add(WcRowCache *cache, const Datum *values, const bool *isnull)
{
	MemoryContext old;
	Datum	   *row;
	bool	   *nulls;

	if (MemoryContextMemAllocated(cache->context, false) > (Size) work_mem * 1024)
		return false;
	old = MemoryContextSwitchTo(cache->context);
	if (cache->nrows == cache->capacity)
	{
		cache->capacity *= 2;
		cache->rows = repalloc_huge(cache->rows, cache->capacity * sizeof(Datum *));
	}
	row = palloc(Max(cache->nkept, 1) * (sizeof(Datum) + sizeof(bool)));
	nulls = (bool *) (row + cache->nkept);
	for (int k = 0; k < cache->nkept; k++)
	{
		int			i = cache->kept[k];
		Form_pg_attribute att = TupleDescAttr(cache->tupdesc, i);

		nulls[k] = isnull[i];
		row[k] = isnull[i] ? (Datum) 0 : datumCopy(values[i], att->attbyval, att->attlen);
	}
	cache->rows[cache->nrows++] = row;
	MemoryContextSwitchTo(old);
	return true;
}

bool
wc_rowcache_get(const WcRowCache *cache, uint64 n, Datum *values, bool *isnull)
{
	const Datum *row;
	const bool *nulls;

	if (n >= cache->nrows)
		return false;
	row = cache->rows[n];
	nulls = (const bool *) (row + cache->nkept);
	memset(isnull, true, cache->tupdesc->natts * sizeof(bool));
	for (int k = 0; k < cache->nkept; k++)
	{
		values[cache->kept[k]] = row[k];
		isnull[cache->kept[k]] = nulls[k];
	}
	return true;
}
