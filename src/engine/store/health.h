/*
 * engine/store/health.h: whether the store takes writes, and resuming it after errors.
 *
 * After an error while RocksDB writes its log, flushes a memtable or writes its manifest, RocksDB stops all writing,
 * since earlier writes might not be on disk.  Reading continues.  A thread of the engine tries to resume RocksDB until
 * the cause has ended (a full disk, for example).  Until then each write fails with the first error, which names the
 * file, the table, and what to do.
 */
#ifndef WC_ENGINE_STORE_HEALTH_H
#define WC_ENGINE_STORE_HEALTH_H

#include "base/threads.h"
#include "engine/rocks/rocksplus.h"
#include "engine/store/internal.h"

typedef struct WcHealth
{
	WcEngine   *engine;
	WcMutex		mutex;			/* guards the rest; nothing else is locked while it is held */
	pthread_cond_t changed;
	pthread_t	mender;
	bool		mending;		/* the thread runs */
	bool		stop WC_GUARDED_BY(&mutex); /* it is to end */
	bool		resumed WC_GUARDED_BY(&mutex); /* RocksDB was resumed since it was opened, or is being resumed */
	unsigned	changes WC_GUARDED_BY(&mutex); /* under way (wc_health_begin_change) */
	uint64_t	count WC_GUARDED_BY(&mutex); /* of errors that stopped writing */
	bool		stopped WC_GUARDED_BY(&mutex); /* nothing can be written */
	bool		lost WC_GUARDED_BY(&mutex); /* until the store is opened again */
	WcRocksWork work WC_GUARDED_BY(&mutex); /* when the first of them came ... */
	char		family[WC_CF_NAME_MAX] WC_GUARDED_BY(&mutex); /* ... at work on this column family; empty: not known */
	char		text[WC_ERROR_TEXT_MAX] WC_GUARDED_BY(&mutex); /* RocksDB's message */
	char		damaged[WC_CF_NAME_MAX] WC_GUARDED_BY(&mutex); /* a column family that must not be compacted any more; empty: none */
} WcHealth;

extern void wc_health_init(WcHealth *health, WcEngine *engine);
extern void wc_health_free(WcHealth *health);

/* Adds a listener to the options with which the database is going to be opened: it reports RocksDB's errors here. */
extern void wc_health_watch(WcHealth *health, rocksdb_options_t *options);

/* When the database is open: makes the thread; and ends it before the database is closed. */
extern WcStatus wc_health_start(WcHealth *health, WcError *err) WC_WARN_UNUSED;
extern void wc_health_end(WcHealth *health);

/*
 * Can the store be written to?  If not, err has the reason; what: the intended action ("write a commit").
 * With the engine's write mutex held, that is the answer until the next write.
 */
extern WcStatus wc_health_check(WcHealth *health, const char *what, WcError *err) WC_WARN_UNUSED;

/*
 * Before and after a call by which RocksDB may write its list of files, other than a flush or a compaction: RocksDB 7.8 is not
 * resumed meanwhile, since its assertions end the process if it finds another thread at work on the list.  what as above.
 */
extern WcStatus wc_health_begin_change(WcHealth *health, const char *what, WcError *err) WC_WARN_UNUSED;
extern void wc_health_end_change(WcHealth *health);

/* Writes a batch, which must not be empty: an empty batch means that memory ran out for it.  The engine's
 * write mutex is held. what as above. */
extern WcStatus wc_health_write(WcHealth *health, const rocksdb_writeoptions_t *options, rocksdb_writebatch_t *batch,
								const char *what, WcError *err) WC_WARN_UNUSED;

/*
 * Likewise, for files that RocksDB is to take in (wc_rocksfiles_take_in).  RocksDB 7.8 cannot do so once it was resumed.  Then
 * wc_health_may_take_in, to be called before the files are written, fails, and the store must be opened again.
 */
extern WcStatus wc_health_may_take_in(WcHealth *health, const char *what, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_health_take_in(WcHealth *health, WcRocksFiles *files, rocksdb_writebatch_t *batch, const char *what,
								  WcError *err) WC_WARN_UNUSED;

/* Has RocksDB been resumed?  From then on a flush of RocksDB 7.8 returns before its end. */
extern bool wc_health_was_resumed(WcHealth *health);

#endif
