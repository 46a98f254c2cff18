/*
 * engine/storage.c: the engine as reads know it (read/storage.h).
 */
#include "engine/storage.h"

#include "engine/catalog/catalog.h"
#include "engine/forget/history.h"
#include "engine/store/state.h"

static WcEngine *
engine_of(WcStorage *storage)
{
	return (WcEngine *) storage;	/* its first member */
}

WcStorage *
wc_engine_storage(WcEngine *engine)
{
	return &engine->storage;
}

static WcStatus
open_table(WcStorage *storage, const WcReadPoint *at, uint32_t table_id, WcTable **table, bool *base_hidden, WcError *err)
{
	return wc_catalog_open_table(engine_of(storage), at, table_id, table, base_hidden, err);
}

static bool
is_committed(WcStorage *storage, uint32_t table_id)
{
	WcTable    *table = wc_catalog_table(engine_of(storage), table_id);

	wc_table_unref(table);
	return table != NULL;
}

static WcSnapshot *
take_snapshot(WcStorage *storage)
{
	return wc_snapshot_take(engine_of(storage));
}

static void
release_snapshot(WcStorage *storage, WcSnapshot *snapshot)
{
	wc_snapshot_release(engine_of(storage), snapshot);
}

/* Each write raises the sequence number. */
static uint64_t
moment(const WcSnapshot *snapshot)
{
	return snapshot->seq == WC_SNAPSHOT_SEQ_UNKNOWN ? 0 : snapshot->seq + 1;
}

static int64_t
now(WcStorage *storage)
{
	return wc_engine_now_us(engine_of(storage));
}

static int64_t
provisional_ts(WcStorage *storage)
{
	return wc_engine_provisional_ts(engine_of(storage));
}

static WcStatus
check_history(const WcTable *table, uint32_t family, const WcSnapshot *snapshot, int64_t as_of_ts, WcError *err)
{
	return wc_history_check(table->stores[family], &table->desc, &table->desc.families[family], snapshot, as_of_ts, err);
}

static WcStatus
recheck_history(const WcTable *table, uint32_t family, int64_t as_of_ts, WcError *err)
{
	return wc_history_recheck(table->stores[family], &table->desc, &table->desc.families[family], as_of_ts, err);
}

static WcReadMeter
meter(void)
{
	WcReadMeter m;

	wc_rocksplus_blocks(&m.cache_hits, &m.blocks_read);
	m.cache_hits += wc_scancache_hits();
	return m;
}

static void
count(const WcTable *table, uint32_t family, const WcReadCounts *counts)
{
	wc_storecounts_read(&table->stores[family]->counts, counts);
}

const WcStorageOps wc_engine_storage_ops = {
	.open_table = open_table,
	.close_table = wc_table_unref,
	.is_committed = is_committed,
	.take_snapshot = take_snapshot,
	.release_snapshot = release_snapshot,
	.moment = moment,
	.now = now,
	.provisional_ts = provisional_ts,
	.open_source = wc_cellsource_store,
	.check_history = check_history,
	.recheck_history = recheck_history,
	.meter = meter,
	.count = count
};
