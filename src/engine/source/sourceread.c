/*
 * engine/source/sourceread.c: what the cell sources and WcStoreIter share: RocksDB's options, its errors, cancelling.
 */
#include "engine/source/cellsource_store.h"

rocksdb_readoptions_t *
wc_source_read_options(const WcSourceOptions *options)
{
	rocksdb_readoptions_t *ro = rocksdb_readoptions_create();

	if (options->snapshot)
		rocksdb_readoptions_set_snapshot(ro, options->snapshot->rocks);
	if (!options->fill_cache)
		rocksdb_readoptions_set_fill_cache(ro, 0);
	if (options->brief)
		rocksdb_readoptions_set_max_skippable_internal_keys(ro, WC_CANCEL_CELLS);
	/* no store has any: looking for them costs a twentieth of a scan */
	rocksdb_readoptions_set_ignore_range_deletions(ro, 1);
	return ro;
}

WcStatus
wc_source_pass_over(uint32_t *npassed, const atomic_bool *cancel, WcError *err)
{
	if (++*npassed % WC_CANCEL_CELLS == 0 && cancel && atomic_load_explicit(cancel, memory_order_relaxed))
		return wc_error(err, WC_CANCELLED, "scan was cancelled");
	return WC_OK;
}

WcStatus
wc_source_iter_status(const WcStore *store, rocksdb_iterator_t *it, WcError *err)
{
	char	   *text = NULL;

	rocksdb_iter_get_error(it, &text);
	return wc_store_status(store, text, "read", err);
}
