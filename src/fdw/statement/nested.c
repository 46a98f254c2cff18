/*
 * fdw/statement/nested.c: rows that a statement inside of another one changes.
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "utils/memutils.h"

#include "fdw/statement/nested.h"

typedef struct NestedRow
{
	WcSlice		key;
	SubTransactionId subid;		/* the first subtransaction that wrote the row; invalid: all have aborted */
	char		status;
} NestedRow;

#define SH_PREFIX nestedrows
#define SH_ELEMENT_TYPE NestedRow
#define SH_KEY_TYPE WcSlice
#define SH_KEY key
#define SH_HASH_KEY(table, k) hash_bytes((k).data, (int) (k).len)
#define SH_EQUAL(table, a, b) wc_slice_eq(a, b)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct WcNested
{
	MemoryContextCallback callback;
	const EState *estate;
	uint32		table;
	MemoryContext context;		/* memory of the rows; NULL: there are none */
	nestedrows_hash *rows;
	WcNested   *outer;
};

/* The running statements, the innermost first. */
static WcNested *innermost;

static void
forget(void *arg)
{
	WcNested  **link = &innermost;

	while (*link != NULL && *link != arg)
		link = &(*link)->outer;
	if (*link != NULL)
		*link = (*link)->outer;
}

/* Undoes the notes of an aborted subtransaction and of those inside of it, which have higher ids. */
static void
on_subxact(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	if (event != SUBXACT_EVENT_ABORT_SUB)
		return;
	for (WcNested *nested = innermost; nested != NULL; nested = nested->outer)
	{
		nestedrows_iterator it;
		NestedRow  *row;

		if (nested->rows == NULL)
			continue;
		nestedrows_start_iterate(nested->rows, &it);
		while ((row = nestedrows_iterate(nested->rows, &it)) != NULL)
			if (row->subid >= subid)
				row->subid = InvalidSubTransactionId;
	}
}

WcNested *
wc_nested_open(EState *estate, uint32 table)
{
	static bool registered = false;
	WcNested   *nested = MemoryContextAllocZero(estate->es_query_cxt, sizeof(WcNested));

	if (!registered)
		RegisterSubXactCallback(on_subxact, NULL);
	registered = true;

	nested->estate = estate;
	nested->table = table;
	nested->callback.func = forget;
	nested->callback.arg = nested;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &nested->callback);
	nested->outer = innermost;
	innermost = nested;
	return nested;
}

static void
note(WcNested *nested, WcSlice key)
{
	NestedRow  *row;
	bool		found;

	if (nested->rows == NULL)
	{
		nested->context = AllocSetContextCreate(nested->estate->es_query_cxt, "widecol nested rows",
												ALLOCSET_DEFAULT_SIZES);
		nested->rows = nestedrows_create(nested->context, 64, NULL);
	}
	row = nestedrows_insert(nested->rows, key, &found);
	if (!found)
	{
		char	   *copy = MemoryContextAlloc(nested->context, Max(key.len, 1));

		memcpy(copy, key.data, key.len);
		row->key = wc_slice(copy, key.len);
	}
	if (!found || row->subid == InvalidSubTransactionId)
		row->subid = GetCurrentSubTransactionId();
}

void
wc_nested_note(const EState *estate, uint32 table, WcSlice key)
{
	for (WcNested *nested = innermost; nested != NULL; nested = nested->outer)
		if (nested->estate != estate && nested->table == table)
			note(nested, key);
}

bool
wc_nested_wrote(const WcNested *nested, WcSlice key)
{
	NestedRow  *row = nested->rows ? nestedrows_lookup(nested->rows, key) : NULL;

	return row != NULL && row->subid != InvalidSubTransactionId;
}

bool
wc_nested_wrote_any(const WcNested *nested)
{
	return nested->rows != NULL;
}

bool
wc_nested_is_watched(const EState *estate, uint32 table)
{
	for (WcNested *nested = innermost; nested != NULL; nested = nested->outer)
		if (nested->estate != estate && nested->table == table)
			return true;
	return false;
}
