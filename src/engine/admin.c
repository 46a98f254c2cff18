/*
 * engine/admin.c: flush, compact, major compact.
 */
#include "engine/catalog/catalog.h"
#include "engine/rocks/image.h"
#include "engine/store/files.h"
#include "engine/store/state.h"
#include "engine/write/step.h"

static WcStatus
check_cancel(const WcReadPoint *at, WcError *err)
{
	if (at->cancel != NULL && atomic_load(at->cancel))
		return wc_error(err, WC_CANCELLED, "compaction was cancelled");
	return WC_OK;
}

static int64_t
clock_of(const WcStore *store, const WcReadPoint *at)
{
	return wc_engine_now(store->engine) + at->clock_offset_us;
}

/* Does something with each store of a table that has a column family. */
static WcStatus
each_store(WcEngine *engine, uint32_t table_id, const WcReadPoint *at, bool major,
		   WcStatus (*act) (WcStore *store, bool major, const WcReadPoint *at, WcError *err), WcError *err)
{
	WcTable    *table;
	bool		hidden;
	WcStatus	status = wc_catalog_open_table(engine, at, table_id, &table, &hidden, err);

	if (status != WC_OK)
		return status;
	for (uint32_t i = 0; status == WC_OK && i < table->desc.nfamilies; i++)
	{
		status = check_cancel(at, err);
		if (status == WC_OK && table->stores[i]->cf != NULL)
			status = act(table->stores[i], major, at, err);
	}
	wc_table_unref(table);
	return status;
}

/* The steps of a flush or a compaction. */
static WcStatus
run_pass(WcStore *store, WcWork *work, WcPassOptions *options, WcError *err)
{
	WcPass	   *pass;
	WcStatus	status;

	wc_work_phase(work, WC_PHASE_FORGET, wc_rocks_property(store->engine->db, store->cf, "rocksdb.estimate-num-keys"));
	options->work = work;
	status = wc_pass_create(store, options, &pass, err);

	if (status == WC_OK)
		status = wc_step_apply_all(store->engine, pass, options->cancel, err);
	wc_pass_free(pass);
	return status;
}

/* As HBase's flush: what the memstore alone shows to be superseded is not
 * written.  A store of packing row did that when it was written to. */
static WcStatus
flush_store(WcStore *store, bool major, const WcReadPoint *at, WcError *err)
{
	WcPassOptions options = {
		.kind = WC_STEP_FLUSH,.from_ts = wc_marks(store).flushed_ts,.until_ts = store->engine->last_ts,
		.dated_until_ts = INT64_MAX,.now_us = clock_of(store, at),.cancel = at->cancel
	};
	WcWork		work;
	WcStatus	status = wc_files_check(store, "flush", err);

	wc_work_begin(&work, store, WC_WORK_FLUSH, at->pid);
	if (status == WC_OK && store->packing == WC_PACKING_CELL && options.from_ts < options.until_ts)
		status = run_pass(store, &work, &options, err);
	wc_work_phase(&work, WC_PHASE_FLUSH, 0);
	if (status == WC_OK)
		status = wc_files_flush(store, at->cancel, err);
	wc_work_end(&work);
	return status;
}

WcStatus
wc_engine_flush(WcEngine *engine, uint32_t table_id, const WcReadPoint *at, WcError *err)
{
	return each_store(engine, table_id, at, false, flush_store, err);
}

/* HBase's compactions see files, not the memstore: what has been in a flush. */
static WcStatus
compact_store(WcStore *store, bool major, const WcReadPoint *at, WcError *err)
{
	bool		cells = store->packing == WC_PACKING_CELL;
	WcMarks		marks = wc_marks(store);
	WcPassOptions options = {
		.kind = major ? WC_STEP_MAJOR : WC_STEP_COMPACT,.until_ts = cells ? marks.flushed_ts : INT64_MAX,
		.dated_until_ts = INT64_MAX,.now_us = clock_of(store, at),.cancel = at->cancel,.look_for_earliest_put = true
	};
	WcWork		work;
	WcStatus	status = wc_files_check(store, "compact", err);

	wc_work_begin(&work, store, major ? WC_WORK_MAJOR_COMPACTION : WC_WORK_COMPACTION, at->pid);
	if (major && !cells)
	{
		/* it goes through all that was counted */
		options.superseded = marks.superseded;
		options.dated = marks.dated;
	}
	if (status == WC_OK)
		status = run_pass(store, &work, &options, err);
	wc_work_phase(&work, WC_PHASE_FLUSH, 0);
	if (status == WC_OK)
		status = wc_files_flush(store, at->cancel, err);
	if (status == WC_OK)
		status = wc_files_compact(store, wc_slice(NULL, 0), wc_slice(NULL, 0), &work, at->cancel, err);
	wc_work_end(&work);
	return status;
}

WcStatus
wc_engine_compact(WcEngine *engine, uint32_t table_id, bool major, const WcReadPoint *at, WcError *err)
{
	return each_store(engine, table_id, at, major, compact_store, err);
}

/* --- images ----------------------------------------------------------------*/

WcStatus
wc_engine_image_build(WcEngine *engine, WcError *err)
{
	return wc_image_build(engine->images, engine->db, err);
}

WcStatus
wc_engine_image_install(WcEngine *engine, uint64_t position, WcError *err)
{
	return wc_image_install(engine->images, position, err);
}

WcStatus
wc_engine_images_prune(WcEngine *engine, unsigned keep, int64_t min_age, WcError *err)
{
	return wc_image_prune(engine->images, keep, min_age, err);
}
