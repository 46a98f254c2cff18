/*
 * hbase/hbase.c: the driver's table of functions.
 */
#include "hbase/catalog/catalog.h"
#include "hbase/changes/condition.h"
#include "hbase/commit/commit.h"
#include "hbase/scan/scan.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

static const WcDriverKept kept = {
	.begin = wc_hbase_kept_begin,
	.done = wc_hbase_kept_done,
	.mark = wc_hbase_kept_mark,
	.cut = wc_hbase_kept_cut,
	.send = wc_hbase_kept_send,
	.lock_id = wc_hbase_lock_id,
	.expect = wc_hbase_expect,
	.ts_ahead = wc_hbase_ts_ahead,
	.finish = wc_hbase_kept_finish
};

/* HBase's own; a compression needs a codec on its servers. */
static const WcFamilyAttrs family_defaults = {
	.versions = 1,.bloomfilter = WC_BLOOM_ROW,.compression = WC_COMPRESSION_NONE,.packing = WC_PACKING_CELL,
	.blocksize = 65536,.blockcache = true
};

static const WcDriver driver = {
	.version = WC_DRIVER_VERSION,
	.features = WC_FEATURE_OFFSET | WC_FEATURE_SAMPLE | WC_FEATURE_CATALOG | WC_FEATURE_ATOMIC,
	.family_defaults = &family_defaults,
	.kept = &kept,
	.catalog_generation = wc_hbase_catalog_generation,
	.describe = wc_hbase_describe,
	.list_tables = wc_hbase_list_tables,
	.list_namespaces = wc_hbase_list_namespaces,
	.change_catalog = wc_hbase_change_catalog,
	.is_enabled = wc_hbase_is_enabled,
	.regions = wc_hbase_regions,
	.acts_at_once = wc_hbase_acts_at_once,
	.increment = wc_hbase_increment,
	.append = wc_hbase_append,
	.scan_open = wc_hbase_scan_open,
	.scan_next = wc_hbase_scan_next,
	.scan_ready = wc_hbase_scan_ready,
	.scan_stats = wc_hbase_scan_stats,
	.scan_close = wc_hbase_scan_close,
	.sample = wc_hbase_sample
};

extern PGDLLEXPORT const WcDriver *wc_hbase_driver(const WcDriverHost *of_host);

const WcDriver *
wc_hbase_driver(const WcDriverHost *of_host)
{
	if (of_host->version != WC_DRIVER_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("library widecol_hbase is of another version than library widecol"),
				 errhint("Restart the server.")));
	wc_hbase_host = of_host;
	wc_hbase_servers_init();
	return &driver;
}
