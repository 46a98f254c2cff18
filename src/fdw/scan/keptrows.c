/*
 * fdw/scan/keptrows.c: rows kept for the rescans of a scan.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "fdw/scan/keptrows.h"

#define BLOCK_MIN (8 * 1024)
#define BLOCK_MAX (64 * 1024)

struct WcKeptRows
{
	MemoryContext context;
	TupleDesc	tupdesc;
	int			nkept;
	int		   *kept;			/* attnum - 1 */
	uint64		nrows;
	uint64		capacity;
	Datum	  **rows;			/* each row: values, then nulls */
};

WcKeptRows *
wc_keptrows_create(MemoryContext parent, TupleDesc tupdesc, const Bitmapset *attrs)
{
	MemoryContext context = AllocSetContextCreate(parent, "widecol kept rows", 0, BLOCK_MIN, BLOCK_MAX);
	WcKeptRows *rows = MemoryContextAllocZero(context, sizeof(WcKeptRows));
	int			i = -1;

	rows->context = context;
	rows->tupdesc = tupdesc;
	rows->kept = MemoryContextAlloc(context, sizeof(int) * Max(bms_num_members(attrs), 1));
	while ((i = bms_next_member(attrs, i)) >= 0)
		rows->kept[rows->nkept++] = i;
	rows->capacity = 64;
	rows->rows = MemoryContextAlloc(context, rows->capacity * sizeof(Datum *));
	return rows;
}

void
wc_keptrows_free(WcKeptRows *rows)
{
	MemoryContextDelete(rows->context);
}

bool
wc_keptrows_add(WcKeptRows *rows, const Datum *values, const bool *isnull)
{
	MemoryContext old;
	Datum	   *row;
	bool	   *nulls;

	if (MemoryContextMemAllocated(rows->context, false) > (Size) work_mem * 1024)
		return false;
	old = MemoryContextSwitchTo(rows->context);
	if (rows->nrows == rows->capacity)
	{
		rows->capacity *= 2;
		rows->rows = repalloc_huge(rows->rows, rows->capacity * sizeof(Datum *));
	}
	row = palloc(Max(rows->nkept, 1) * (sizeof(Datum) + sizeof(bool)));
	nulls = (bool *) (row + rows->nkept);
	for (int k = 0; k < rows->nkept; k++)
	{
		int			i = rows->kept[k];
		Form_pg_attribute att = TupleDescAttr(rows->tupdesc, i);

		nulls[k] = isnull[i];
		row[k] = isnull[i] ? (Datum) 0 : datumCopy(values[i], att->attbyval, att->attlen);
	}
	rows->rows[rows->nrows++] = row;
	MemoryContextSwitchTo(old);
	return true;
}

bool
wc_keptrows_get(const WcKeptRows *rows, uint64 n, Datum *values, bool *isnull)
{
	const Datum *row;
	const bool *nulls;

	if (n >= rows->nrows)
		return false;
	row = rows->rows[n];
	nulls = (const bool *) (row + rows->nkept);
	memset(isnull, true, rows->tupdesc->natts * sizeof(bool));
	for (int k = 0; k < rows->nkept; k++)
	{
		values[rows->kept[k]] = row[k];
		isnull[rows->kept[k]] = nulls[k];
	}
	return true;
}
