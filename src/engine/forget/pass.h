/*
 * engine/forget/pass.h: deleting what a store need not keep, by ordinary writes.
 *
 * A pass walks a store and deletes the cells (packing row: rewrites the rows)
 * that the matcher, as a flush or a compaction, does not keep.  It goes in small
 * steps, each under the engine's write mutex, so that commits come in between.
 * Open snapshots do not notice: RocksDB keeps for them what was deleted later.
 * It ends, with success, when a commit drops the store.
 */
#ifndef WC_ENGINE_FORGET_PASS_H
#define WC_ENGINE_FORGET_PASS_H

#include "engine/store/internal.h"
#include "read/cell/matcher.h"

typedef struct WcPass
{
	WcStore    *store;
	WcMatchMode mode;			/* WC_MATCH_MINOR or WC_MATCH_MAJOR */
	bool		memtables_only;	/* looks no further than RocksDB's memtables */
	int64_t		from_ts;		/* cells written under other timestamps neither go */
	int64_t		until_ts;		/* nor decide about others; both inclusive */
	int64_t		now_us;			/* for TTLs */
	const atomic_bool *cancel;	/* may be NULL */
} WcPass;

extern WcStatus wc_pass_run(const WcPass *pass, WcError *err) WC_WARN_UNUSED;

/* Least written-at timestamp of a cell in the memtables (INT64_MAX: none).
 * Packing cell. */
extern WcStatus wc_pass_memtable_start(WcStore *store, int64_t *ts, WcError *err) WC_WARN_UNUSED;

/* Least timestamp of a put that was written at or before until_ts (INT64_MAX:
 * none).  Reads the whole store.  Packing cell. */
extern WcStatus wc_pass_earliest_put(WcStore *store, int64_t until_ts, const atomic_bool *cancel,
									 int64_t *ts, WcError *err) WC_WARN_UNUSED;

#endif
