/*
 * hbase/catalog/tablechange.c: changes of tables and namespaces, until they are sent.
 */
#include "hbase/catalog/tablechange.h"

#include "utils/memutils.h"

static WcHBaseTableChange *changes; /* in TopMemoryContext */
static int	nchanges;
static int	changes_cap;
static WcArena arena = WC_ARENA_INIT;	/* of their descriptors */

int
wc_hbase_ddl_count(void)
{
	return nchanges;
}

const WcHBaseTableChange *
wc_hbase_ddl_at(int i)
{
	return &changes[i];
}

const WcHBaseTableChange *
wc_hbase_ddl_of_table(const WcHBaseServer *server, WcSlice ns, WcSlice name)
{
	for (int i = nchanges - 1; i >= 0; i--)
	{
		const WcHBaseTableChange *c = &changes[i];

		if (c->server == server && c->what <= WC_CATALOG_DROP_TABLE && wc_slice_eq(c->desc.ns, ns) &&
			wc_slice_eq(c->desc.name, name))
			return c;
	}
	return NULL;
}

const WcHBaseTableChange *
wc_hbase_ddl_of_namespace(const WcHBaseServer *server, WcSlice ns)
{
	for (int i = nchanges - 1; i >= 0; i--)
	{
		const WcHBaseTableChange *c = &changes[i];

		if (c->server == server && c->table == NULL && wc_slice_eq(c->desc.ns, ns))
			return c;
	}
	return NULL;
}

WcHBaseTableState
wc_hbase_table_state(const WcHBaseTable *table)
{
	WcHBaseTableState state = WC_HBASE_AS_IT_IS;

	for (int i = 0; i < nchanges; i++)
	{
		if (changes[i].table != table)
			continue;
		if (changes[i].what == WC_CATALOG_CREATE_TABLE || changes[i].what == WC_CATALOG_TRUNCATE_TABLE)
			state = WC_HBASE_EMPTIED;
		else if (state != WC_HBASE_EMPTIED)
			state = WC_HBASE_ALTERED;
	}
	return state;
}

bool
wc_hbase_same_attributes(const WcFamilyAttrs *a, const WcFamilyAttrs *b)
{
	return a->versions == b->versions && a->min_versions == b->min_versions && a->ttl_us == b->ttl_us &&
		a->keep_deleted == b->keep_deleted && a->bloomfilter == b->bloomfilter && a->compression == b->compression &&
		a->blocksize == b->blocksize && a->blockcache == b->blockcache && a->in_memory == b->in_memory;
}

/* --- adding a change -------------------------------------------------------------*/

static void
out_of_memory(void)
{
	ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory for a change of a table of HBase")));
}

static WcSlice
keep(WcSlice s)
{
	WcSlice		copy = wc_arena_copy(&arena, s);

	if (copy.data == NULL && s.len > 0)
		out_of_memory();
	return copy;
}

/* Copies the table, with the session's ids of its families. */
static void
keep_desc(WcHBaseTable *table, const WcTableDesc *from, WcTableDesc *to)
{
	WcTableDesc desc = *from;

	desc.families = wc_arena_alloc(&arena, sizeof(WcFamilyDesc) * (from->nfamilies + 1));
	desc.splits = wc_arena_alloc(&arena, sizeof(WcSlice) * (from->nsplits + 1));
	if (desc.families == NULL || desc.splits == NULL)
		out_of_memory();
	desc.ns = keep(from->ns);
	desc.name = keep(from->name);
	for (uint32 i = 0; i < from->nfamilies; i++)
	{
		desc.families[i] = from->families[i];
		desc.families[i].name = keep(from->families[i].name);
	}
	for (uint32 i = 0; i < from->nsplits; i++)
		desc.splits[i] = keep(from->splits[i]);
	*to = desc;
}

static WcHBaseTableChange *
new_change(void)
{
	if (nchanges == changes_cap)
	{
		int			cap = Max(16, 2 * changes_cap);

		changes = changes != NULL ? repalloc(changes, cap * sizeof(WcHBaseTableChange)) :
			MemoryContextAlloc(TopMemoryContext, cap * sizeof(WcHBaseTableChange));
		changes_cap = cap;
	}
	memset(&changes[nchanges], 0, sizeof(WcHBaseTableChange));
	return &changes[nchanges];
}

WcArena *
wc_hbase_ddl_arena(void)
{
	return &arena;
}

void
wc_hbase_ddl_add(const WcHBaseTableChange *change)
{
	WcHBaseTableChange *c = new_change();

	*c = *change;
	if (change->what == WC_CATALOG_CREATE_TABLE || change->what == WC_CATALOG_ALTER_TABLE)
		keep_desc(change->table, &change->desc, &c->desc);
	else
		c->desc = (WcTableDesc) {.ns = keep(change->desc.ns),.name = keep(change->desc.name)};
	nchanges++;
	wc_hbase_doubt(c->server);
}

/* --- the end ------------------------------------------------------------------------*/

void
wc_hbase_ddl_forget(int n)
{
	while (nchanges > n)
		wc_hbase_doubt(changes[--nchanges].server);
	if (nchanges == 0)
		wc_arena_free(&arena);
}

void
wc_hbase_ddl_refresh_servers(void)
{
	for (int i = 0; i < nchanges; i++)
		(void) wc_hbase_server(changes[i].server->oid);
}
