/*
 * engine/source/cellsource.c: chooses the cell source for a read of a store.
 */
#include "engine/source/cellsource_store.h"

WcStatus
wc_cellsource_store(WcStore *store, const WcSourceOptions *options, WcCellSource **src, WcError *err)
{
	/* A family that an open transaction has made has nothing stored. */
	if (store->cf == NULL)
		return wc_cellsource_memory(store->family_id, wc_slice(NULL, 0), NULL, 0, options->reversed, src, err);
	if (options->point)
		return wc_cellsource_get(store, options, src, err);
	if (store->packing == WC_PACKING_ROW)
		return wc_cellsource_packed(store, options, src, err);
	return wc_cellsource_cell(store, options, src, err);
}

WcStatus
wc_cellsource_apart(WcStore *store, const WcSourceOptions *options, WcCellSource **src, WcError *err)
{
	if (wc_cellsource_column_fits(store, options))
		return wc_cellsource_column(store, options, src, err);
	return wc_cellsource_cell(store, options, src, err);
}

rocksdb_readoptions_t *
wc_source_read_options(const WcSourceOptions *options)
{
	rocksdb_readoptions_t *ro = rocksdb_readoptions_create();

	if (options->snapshot)
		rocksdb_readoptions_set_snapshot(ro, options->snapshot->rocks);
	if (!options->fill_cache)
		rocksdb_readoptions_set_fill_cache(ro, 0);
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
