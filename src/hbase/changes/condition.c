/*
 * hbase/changes/condition.c: cells on which the transaction's changes depend.
 *
 * A check, or a counter that is changed in a transaction, reads a cell under a lock of this server.  Other clients of
 * HBase know nothing of the lock.  So the cell's value is kept, and HBase compares it at the commit.
 */
#include "hbase/changes/condition.h"

#include "common/hashfn.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "hbase/changes/changes.h"

typedef struct Condition
{
	WcHBaseCondition condition;
	uint32		table_id;
	WcSlice		row;
	size_t		bytes;
	bool		compared;		/* HBase has compared it, and has changed the row */
	bool		spent;			/* all changes that were sent with the row's are there: now the cell may be the transaction's own */
	int			next;			/* the next one whose row has the same hash; -1: none */
} Condition;

typedef struct Slot
{
	uint64		hash;			/* key: of table and row */
	int			first;
} Slot;

static Condition *conditions;	/* in the context */
static int	nconditions;
static int	conditions_cap;
static uint64 bytes;			/* of rows, qualifiers and values */
static HTAB *by_row;
static MemoryContext context;

static uint64
hash_of(uint32 table_id, WcSlice row)
{
	return hash_bytes_extended(row.data, (int) row.len, table_id);
}

static Condition *
find(uint32 table_id, WcSlice row)
{
	uint64		hash;
	Slot	   *slot;

	if (nconditions == 0)
		return NULL;
	hash = hash_of(table_id, row);
	slot = hash_search(by_row, &hash, HASH_FIND, NULL);
	for (int i = slot != NULL ? slot->first : -1; i >= 0; i = conditions[i].next)
	{
		if (!conditions[i].spent && conditions[i].table_id == table_id && wc_slice_eq(conditions[i].row, row))
			return &conditions[i];
	}
	return NULL;
}

const WcHBaseCondition *
wc_hbase_condition_of(uint32 table_id, WcSlice row)
{
	const Condition *c = find(table_id, row);

	return c != NULL ? &c->condition : NULL;
}

void
wc_hbase_condition_compared(uint32 table_id, WcSlice row)
{
	Condition  *c = find(table_id, row);

	if (c != NULL)
		c->compared = true;
}

void
wc_hbase_conditions_spend(void)
{
	for (int i = 0; i < nconditions; i++)
		conditions[i].spent |= conditions[i].compared;
}

int
wc_hbase_conditions(void)
{
	return nconditions;
}

static void
make_room(void)
{
	HASHCTL		ctl = {.keysize = sizeof(uint64),.entrysize = sizeof(Slot)};

	if (context == NULL)
		context = AllocSetContextCreate(TopMemoryContext, "widecol HBase conditions", ALLOCSET_DEFAULT_SIZES);
	if (by_row == NULL)
	{
		ctl.hcxt = context;
		by_row = hash_create("widecol HBase conditions", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	if (nconditions == conditions_cap)
	{
		int			cap = Max(64, 2 * conditions_cap);

		conditions = conditions != NULL ? repalloc_huge(conditions, cap * sizeof(Condition)) :
			MemoryContextAlloc(context, cap * sizeof(Condition));
		conditions_cap = cap;
	}
}

static WcSlice
copy(WcSlice s)
{
	uint8	   *data = MemoryContextAllocHuge(context, s.len + 1);

	wc_slice_copy(data, s);
	return wc_slice(data, s.len);
}

void
wc_hbase_expect(const WcTableDesc *desc, WcSlice row, uint32 family, WcSlice qualifier, WcSlice value, uint64 bytes_max)
{
	const WcHBaseTable *table = wc_hbase_table_by_id(desc->id);
	uint64		hash = hash_of(desc->id, row);
	Condition  *c;
	Slot	   *slot;
	bool		found;

	/* of a row that it has changed, the transaction may have read its own cells */
	if (wc_hbase_condition_of(desc->id, row) != NULL || wc_hbase_changes_row(desc->id, row))
		return;
	if (bytes + row.len + qualifier.len + value.len > bytes_max)
		wc_hbase_too_large(bytes + row.len + qualifier.len + value.len);
	make_room();
	c = &conditions[nconditions];
	*c = (Condition) {
		.condition = {.family = table->families[family - 1].name,.qualifier = copy(qualifier),.value = copy(value)},
		.table_id = desc->id,.row = copy(row),.bytes = row.len + qualifier.len + value.len
	};
	slot = hash_search(by_row, &hash, HASH_ENTER, &found);
	c->next = found ? slot->first : -1;
	slot->first = nconditions++;
	bytes += c->bytes;
}

/* The last condition of a hash is the first of its chain. */
void
wc_hbase_conditions_forget(int n)
{
	while (nconditions > n)
	{
		Condition  *c = &conditions[--nconditions];
		uint64		hash = hash_of(c->table_id, c->row);
		Slot	   *slot = hash_search(by_row, &hash, HASH_FIND, NULL);

		if (slot != NULL)
			slot->first = c->next;
		bytes -= c->bytes;
	}
	if (nconditions > 0 || context == NULL)
		return;
	MemoryContextReset(context);
	conditions = NULL;
	conditions_cap = 0;
	by_row = NULL;
	bytes = 0;
}
