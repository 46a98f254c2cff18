/*
 * widecol.c: what happens when the library is loaded: the engine's settings, shared memory, the engine's registration,
 * the hooks; nothing else.
 */
#include "postgres.h"

#include <limits.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/guc.h"

#include "channel/flight.h"
#include "channel/hold.h"
#include "channel/nobackup.h"
#include "channel/rmgr.h"
#include "channel/shmem.h"
#include "client/client.h"
#include "client/settings.h"
#include "fdw/plan/lookahead.h"
#include "fdw/plan/unique.h"
#include "fdw/statement/runend.h"
#include "fdw/ddl/ddl.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

/* The engine reads these settings by name; the variables only hold the values. */
static char *data_directory;
static char *new_store;
static char *accept_store;
static int	accept_damage;
static int	block_cache_kb;
static int	get_cache_kb;
static int	range_cache_kb;
static int	write_buffer_kb;
static int	max_open_files;
static int	max_background_jobs;
static int	log_min_duration;
static int	scan_helpers;
static int	upkeep;
static int	upkeep_threshold;
static int	upkeep_delay_ms;
static int	history_s;

static shmem_request_hook_type prev_shmem_request_hook;
static shmem_startup_hook_type prev_shmem_startup_hook;

/* Settings of upkeep. */
static void
define_upkeep_settings(void)
{
	DefineCustomIntVariable("widecol.upkeep",
							"Sets how much of a processor's time, in percent, the engine may spend on forgetting by itself.",
							"It takes superseded versions, deleted cells and delete markers out of stored tables. 0 turns it off.",
							&upkeep, 10, 0, 100,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("widecol.upkeep_threshold",
							"Sets how much of a family, in percent, could be forgotten before that is done.",
							NULL,
							&upkeep_threshold, 20, 1, 100,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("widecol.upkeep_delay",
							"Sets the time after a write or a delete in which upkeep leaves the cell alone.",
							NULL,
							&upkeep_delay_ms, 10 * 1000, 1, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("widecol.history",
							"Sets how long upkeep keeps delete markers whose timestamps were given, "
							"and at most keeps cells that have outlived their time to live.",
							NULL,
							&history_s, 24 * 3600, 1, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_S, NULL, NULL, NULL);
}

/* An empty name would be the root directory. */
static bool
check_data_directory(char **newval, void **extra, GucSource source)
{
	if (**newval == '\0')
	{
		GUC_check_errdetail("The directory of the stored tables needs a name.");
		return false;
	}
	return true;
}

/* Settings of the engine: they exist only if the library is in shared_preload_libraries. */
static void
define_engine_settings(void)
{
	DefineCustomStringVariable("widecol.data_directory",
							   "Sets the directory in which the engine keeps stored tables.",
							   "A relative path is taken from the cluster's data directory.",
							   &data_directory, "widecol",
							   PGC_POSTMASTER, GUC_SUPERUSER_ONLY, check_data_directory, NULL, NULL);
	DefineCustomStringVariable("widecol.new_store",
							   "Gives up the cluster's stored tables, which are lost, and begins with an empty store.",
							   "The id of the store that is lost. A new one gets another id, so that it is done once.",
							   &new_store, "",
							   PGC_SIGHUP, GUC_SUPERUSER_ONLY | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomStringVariable("widecol.accept_store",
							   "Takes the store in widecol.data_directory for the cluster's though it does not fit.",
							   "The id of that store. It gets another id, so that it is done once.",
							   &accept_store, "",
							   PGC_SIGHUP, GUC_SUPERUSER_ONLY | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("widecol.accept_damage",
							"Gives up changes of rows of a stored table that are damaged, so that the engine can go on.",
							"The number of that table, from the error's hint. 0: of none.",
							&accept_damage, 0, 0, INT_MAX,
							PGC_SIGHUP, GUC_SUPERUSER_ONLY | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("widecol.block_cache_size",
							"Sets the memory in which the engine caches blocks of stored tables.",
							"It is shared by all sessions and all tables.",
							&block_cache_kb, 256 * 1024, 1024, INT_MAX,
							PGC_POSTMASTER, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("widecol.get_cache_size",
							"Sets the shared memory that keeps answers to reads of one row by its key.",
							"A row read again is then not asked for from the engine. 0 means that nothing is kept.",
							&get_cache_kb, 128 * 1024, 0, INT_MAX,
							PGC_POSTMASTER, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("widecol.range_cache_size",
							"Sets the shared memory that keeps rows of short ranges, such as pages.",
							"A range read again is then not asked for from the engine. Below 1 MB nothing is kept.",
							&range_cache_kb, 128 * 1024, 0, INT_MAX,
							PGC_POSTMASTER, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("widecol.write_buffer_size",
							"Sets how much the engine gathers in memory before it writes a file.",
							"It is a budget for all families of all tables together.",
							&write_buffer_kb, 64 * 1024, 1024, INT_MAX,
							PGC_POSTMASTER, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("widecol.max_open_files",
							"Sets how many files the engine keeps open.",
							"-1 means all of them.",
							&max_open_files, 512, -1, INT_MAX,
							PGC_POSTMASTER, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("widecol.log_min_duration",
							"Sets the time from which on the engine logs a request of a session.",
							"A line has the request, the stored table, the time that it took and the number of rows examined. "
							"0 logs all; -1 logs none.",
							&log_min_duration, -1, -1, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("widecol.scan_helpers",
							"Sets how many threads of the engine help sessions with long scans.",
							"They work only while there are processors that no session needs. 0 means none.",
							&scan_helpers, 2, 0, 64,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("widecol.max_background_jobs",
							"Sets how many flushes and compactions may run at once.",
							NULL,
							&max_background_jobs, 2, 1, 64,
							PGC_POSTMASTER, 0, NULL, NULL, NULL);
}

static void
request_shmem(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	wc_shmem_request((uint64) get_cache_kb * 1024, (uint64) range_cache_kb * 1024);
	wc_following_request();
}

static void
startup_shmem(void)
{
	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();
	wc_shmem_startup((uint64) get_cache_kb * 1024, (uint64) range_cache_kb * 1024);
	wc_following_find();
}

/*
 * In a session that loads the library by itself there is no engine: the engine's settings do not exist, and every
 * statement that needs the engine fails with a hint about shared_preload_libraries.
 */
void
_PG_init(void)
{
	wc_settings_define();
	if (process_shared_preload_libraries_in_progress)
	{
		define_engine_settings();
		define_upkeep_settings();
		MarkGUCPrefixReserved("widecol");

		prev_shmem_request_hook = shmem_request_hook;
		shmem_request_hook = request_shmem;
		prev_shmem_startup_hook = shmem_startup_hook;
		shmem_startup_hook = startup_shmem;
		wc_rmgr_register();
		/* pg_upgrade replaces the log between two starts of the server: no engine may depend on it */
		if (!IsBinaryUpgrade)
			wc_worker_register();
		wc_nobackup_follow_postmaster();
		wc_client_follow_transactions();
		wc_client_follow_statements();
		wc_hold_follow();
	}
	wc_ddl_hook_install();
	wc_unique_hook_install();
	wc_runend_hook_install();
	wc_lookahead_install();
}
