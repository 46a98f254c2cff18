/*
 * test/unit/enginekit.h: an engine in a directory of its own, for tests.
 *
 * The store has a table with the families "f" (id 1) and "g" (id 2).  kit_put and similar functions collect writes, one
 * operation each, and kit_commit applies them.  Results of reads are text: "r1{f:a=1 g:b=2} r2{f:a=3}"; in "r2+5"
 * the scan has left five rows for its reader to skip.
 */
#ifndef WC_TEST_ENGINEKIT_H
#define WC_TEST_ENGINEKIT_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "read/scan/scanner.h"
#include "read/txn/txn.h"
#include "wire/shared/getcache.h"

#define KIT_DATABASE 5
#define KIT_LATEST WC_TS_LATEST

typedef struct Kit
{
	char		dir[64];
	char		record[72];		/* file that names the store */
	int64_t		(*clock_us) (void);	/* kit_now, or what kit_open_at was given */
	uint64_t	txn_memory;		/* kit_txn_memory and kit_row_together_max, as they were when the kit was opened */
	size_t		row_together_max;
	WcEngine   *engine;
	WcTxn	   *txn;
	WcBuf		ops;
	WcBatchBuilder builder;
	uint32_t	cid;			/* of the operations to come */
	uint32_t	table;			/* id of the table that kit_create made last */
	int64_t		commit_ts;		/* of the last commit */
	bool		scans_once;		/* else kit_scan and its like read everything once more, with two threads */
	atomic_uint nshared;		/* scans that two threads have read */
	char		text[1 << 16];	/* what kit_scan gave last */
	WcError		err;
} Kit;

/* Microseconds the engine takes for now. */
extern _Atomic int64_t kit_now; /* read by threads of the engine as well */

/* Of the engine's options, for kits that are opened from now on (0: its own). */
extern uint64_t kit_txn_memory;
extern size_t kit_row_together_max;

/* As the kit opens its engine. */
extern WcEngineOptions kit_options(const Kit *kit);

extern void kit_open(Kit *kit);
extern void kit_open_at(Kit *kit, int64_t (*clock_us) (void));	/* with a clock of its own */
extern void kit_close(Kit *kit);	/* and removes the directory */
extern void kit_reopen(Kit *kit);
extern void kit_crash(Kit *kit);	/* goes on with a copy of the files as they are */
extern void kit_crash_with(Kit *kit, void (*change) (const char *dir));	/* likewise, after a change of the copies */

/* Collects the creation of a table. */
extern void kit_create(Kit *kit, const char *name, uint8_t packing, uint32_t versions);
extern void kit_create_attrs(Kit *kit, const char *name, const WcFamilyAttrs *attrs);

extern void kit_put(Kit *kit, const char *row, uint32_t family, const char *qualifier, int64_t ts, const char *value);
extern void kit_delete(Kit *kit, WcCellType type, const char *row, uint32_t family, const char *qualifier, int64_t ts);

/* Appends the collected operations to the transaction; returns the result. */
extern WcStatus kit_send(Kit *kit);
extern WcStatus kit_try_commit(Kit *kit);	/* checks and applies */
extern WcStatus kit_apply(Kit *kit);	/* without a check, as if other commits had come since */
extern void kit_commit(Kit *kit);	/* must succeed */

/* Sends the collected operations, and applies them while no write to a file succeeds, which must fail; and then once more, until
 * writing goes on. */
extern void kit_fail_to_commit(Kit *kit);
extern void kit_commit_after_failure(Kit *kit);

/* What a scan gives, committed only or (own) with the transaction's operations
 * of commands before kit->cid. */
extern const char *kit_scan(Kit *kit, bool own);
extern const char *kit_scan_with(Kit *kit, const WcScan *scan, const WcReadPoint *at);
extern const char *kit_scan_as(Kit *kit, bool own, const WcScan *scan);
extern WcReadPoint kit_point(Kit *kit, bool own);

/* Opens a scanner and takes its first block, about so many bytes and at most so many rows (0: no limit); the status as of that. */
extern WcStatus kit_first_block(Kit *kit, const WcScan *s, size_t bytes, uint64_t rows_max, WcBlockReader *reader, WcBuf *block,
								WcScanner **scanner);

/* The same in blocks of so many bytes (a cell more at most). */
extern const char *kit_scan_in_blocks(Kit *kit, const WcScan *scan, const WcReadPoint *at, size_t bytes);

/* After so many rows two threads read the scan (wc_scanner_share). */
extern void kit_share(Kit *kit, WcScanner *scanner, const WcScan *scan, uint64_t rows_alone);

/* Of the table made last; they must succeed. */
extern void kit_flush(Kit *kit);
extern void kit_compact(Kit *kit, bool major);

/* The store of a family of the table made last; valid until the table or the family is dropped. */
extern struct WcStore *kit_store(Kit *kit, uint32_t family);

/* The number of key-values that RocksDB has of this family. */
extern unsigned kit_nstored(Kit *kit, uint32_t family);

/* For so many bytes of answers and so many readers; to be freed. */
extern WcGetCache *kit_getcache(uint64_t bytes, int readers);

/* kit_open with a cache of answers, and a table "t" of packing row with one version.  The epochs are freed before the kit. */
extern struct WcEpochs *kit_open_with_epochs(Kit *kit, WcGetCache *cache);

/* A Get, with the range that its Scan points to. */
typedef struct KitGet
{
	WcRange		range;
	WcScan		scan;
} KitGet;

/* Makes a Get of a row of the table, with all columns. */
extern void kit_get(KitGet *get, uint32_t table, WcSlice row);

/* Looks for the kept answer to the Get, whose encoded Scan is `bytes`, as it is now; it is then in found. */
extern bool kit_find_kept(WcGetCache *cache, const KitGet *get, WcSlice bytes, WcBuf *found);

extern WcSlice kit_s(const char *s);

/* The key of a numbered row: "r007".  Valid until the call after the next one; one thread. */
extern const char *kit_key(int i);

#define assert_ok(kit, call) \
	do { \
		if ((call) != WC_OK) \
			fail_msg("%s: %s", #call, (kit)->err.message); \
	} while (0)

#endif
