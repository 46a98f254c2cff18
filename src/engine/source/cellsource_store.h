/*
 * engine/source/cellsource_store.h: functions that the cell sources over RocksDB share.
 */
#ifndef WC_ENGINE_SOURCE_CELLSOURCE_STORE_H
#define WC_ENGINE_SOURCE_CELLSOURCE_STORE_H

#include "engine/rocks/cellkey.h"
#include "engine/rocks/rocks.h"
#include "engine/store/internal.h"
#include "read/cell/packedrow.h"

/* The kinds wc_cellsource_store chooses from; store->cf is not NULL. */
extern WcStatus wc_cellsource_cell(WcStore *store, const WcSourceOptions *options,
								   WcCellSource **src, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_cellsource_packed(WcStore *store, const WcSourceOptions *options,
									 WcCellSource **src, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_cellsource_get(WcStore *store, const WcSourceOptions *options,
								  WcCellSource **src, WcError *err) WC_WARN_UNUSED;

/* How the row is stored that wc_cellsource_get's source stands in. */
typedef enum WcRowForm
{
	WC_FORM_NONE,				/* it is not */
	WC_FORM_TOGETHER,			/* its cells are one key-value */
	WC_FORM_APART,				/* packing cell: a key-value a cell, and a head that says so */
	WC_FORM_HEADLESS			/* ... and no head */
} WcRowForm;

extern WcRowForm wc_cellsource_get_form(const WcCellSource *src);

/* For single rows of a family with rowcol filters, if only a few exact columns are wanted: the source returns the
 * cells of these columns, and the family's markers. */
#define WC_COLUMN_SEEKS_MAX 16
extern bool wc_cellsource_column_fits(const WcStore *store, const WcSourceOptions *options);
extern WcStatus wc_cellsource_column(WcStore *store, const WcSourceOptions *options,
									 WcCellSource **src, WcError *err) WC_WARN_UNUSED;

/* sourceread.c: snapshot and caching as asked for; the caller destroys it. */
extern rocksdb_readoptions_t *wc_source_read_options(const WcSourceOptions *options);

/* Called for each cell that is skipped because it is gone (gone.h): counts it in *npassed, and from time to time checks
 * whether the scan was cancelled. */
extern WcStatus wc_source_pass_over(uint32_t *npassed, const atomic_bool *cancel, WcError *err) WC_WARN_UNUSED;

/* Why is an iterator not valid: WC_OK when it is simply at an end. */
extern WcStatus wc_source_iter_status(const WcStore *store, rocksdb_iterator_t *it, WcError *err) WC_WARN_UNUSED;

/* The key an iterator stands on; it is valid. */
static inline WcSlice
wc_source_key(const rocksdb_iterator_t *it)
{
	size_t		len;
	const char *key = rocksdb_iter_key(it, &len);

	return wc_slice(key, len);
}

static inline WcSlice
wc_source_value(const rocksdb_iterator_t *it)
{
	size_t		len;
	const char *value = rocksdb_iter_value(it, &len);

	return wc_slice(value, len);
}

/* Packing cell: decodes a cell of src's row from its key-value; the row's prefix has this length.  The cell points into
 * the key-value's memory and into scratch. */
static inline WcStatus
wc_source_take_cell(WcCellSource *src, WcSlice key, WcSlice value, size_t prefix, WcBuf *scratch, WcCell *cell, WcError *err)
{
	WcStatus	status = wc_cellkey_decode_rest(wc_slice(key.data + prefix, key.len - prefix), scratch, cell, err);

	if (status != WC_OK)
		return status;
	status = wc_cellvalue_decode(value, cell, err);
	cell->row = src->row;
	cell->family = src->family;
	src->cells++;
	return status;
}

#endif
