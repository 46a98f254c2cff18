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
