/*
 * engine/rocks/rocksplus.h: functions of RocksDB that its C API lacks.
 *
 * rocksplus.cc, rocksfiles.cc and rocksguard.cc are the only C++ files.  They take the C++ object out of a
 * handle of the C API, whose first member it is; wc_rocksplus_fits checks this.  No exception leaves them.  As in the C
 * API, an error is a text that the caller frees with rocksdb_free (wc_rocks_status does); NULL: no error.
 */
#ifndef WC_ENGINE_ROCKS_ROCKSPLUS_H
#define WC_ENGINE_ROCKS_ROCKSPLUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rocksdb/c.h>

#ifdef __cplusplus
extern "C"
{
#endif

/* Bytes of a column family's name, at most, with its end. */
#define WC_CF_NAME_MAX 64

/* The work of RocksDB during which an error stopped its writing. */
typedef enum WcRocksWork
{
	WC_ROCKS_LOG,				/* a write to its log, or a sync of it */
	WC_ROCKS_MEMTABLE,
	WC_ROCKS_FLUSH,
	WC_ROCKS_COMPACTION,
	WC_ROCKS_MANIFEST
} WcRocksWork;

typedef enum WcRocksHarm
{
	WC_ROCKS_STOPPED,			/* nothing can be written until wc_rocksplus_resume succeeds */
	WC_ROCKS_LOST,				/* nothing can be written until the database is opened again */
	WC_ROCKS_FAMILY				/* the family cannot be compacted, since a file of it is damaged */
} WcRocksHarm;

/* Called from any of RocksDB's threads, or from one of ours that is in a call of RocksDB;
 * must not call RocksDB.  family: name of the column family that was being worked on,
 * empty when that is not known; it and text are the caller's. */
typedef void (*WcRocksTrouble) (void *arg, WcRocksHarm harm, WcRocksWork work, const char *family, const char *text);

/* Do these options look the same through the C API and through C++? */
extern bool wc_rocksplus_fits(rocksdb_options_t *options);

/*
 * RocksDB's own messages go to the server's log (base/log.h), not to a file in the
 * database: a file that cannot be written, on a full disk, ends the process.  Those of
 * less than a warning are dropped.
 *
 * After a kill or a loss of power RocksDB's log mostly ends in an incomplete write.  RocksDB warns of that in the words that it
 * has for damage.  Here it is no warning: wc_identity_check_log reports an error if anything is missing that had been
 * synced, and PostgreSQL's log has the rest.  "salvage": a damaged log is read as far as possible, and each loss is a warning.
 */
extern void wc_rocksplus_log_to_server(rocksdb_options_t *options, bool salvage);

/*
 * After a loss of power a file of RocksDB's log may lack its last writes although the next file has some: RocksDB begins a file
 * before it syncs the one before.  RocksDB 7.8 reads both, if the first one ends behind a whole write.  With these options the
 * reading ends at the first gap in the sequence numbers, and behind a file that has lost all of its writes, if no file before
 * it is read (its first sequence number is not known).  Files that were taken in have used numbers, too: a write without
 * changes follows them (wc_rocksfiles_take_in), before which a gap is none.  Not for logs of builds of widecol that did not
 * write that.
 */
extern void wc_rocksplus_end_at_gaps(rocksdb_options_t *options);

/*
 * Three changes to how RocksDB uses files.  Whenever a column family is made, dropped or altered, RocksDB writes the options
 * of all column families to a file OPTIONS and reads the file again, while all writers wait.  Options come from the
 * catalog, and nothing reads the file; so this prevents RocksDB from writing it.  And RocksDB opens its directory once for
 * each column family: here all of them share one descriptor, or the system's limit of open files would limit the number of
 * families.  And what a failed write has left at the end of a log is cut off.
 */
extern void wc_rocksplus_set_files(rocksdb_options_t *options);

/* While quiet, RocksDB's messages are dropped: repeated attempts fail with the same messages. */
extern void wc_rocksplus_set_quiet(bool quiet);

/*
 * Reports trouble from now on.  Errors of the operating system never end writing for good:  RocksDB stops
 * writing to a file in which a write failed, and can be resumed when the cause is gone (by itself RocksDB
 * resumes only after a full disk).  Compactions that fail are tried again by RocksDB and are not reported.
 */
extern void wc_rocksplus_watch(rocksdb_options_t *options, WcRocksTrouble trouble, void *arg);

/* A flush or a compaction that one of RocksDB's threads begins, or has ended. */
typedef struct WcRocksJob
{
	bool		begins;
	bool		flush;
	uint64_t	thread;			/* RocksDB's number of the thread, not 0 */
	const char *family;			/* name of the column family */
	uint64_t	bytes;			/* of the input, if it begins (0: not known), else of the files that it has made */
} WcRocksJob;

/* Called from RocksDB's threads; must not call RocksDB.  stall: of a family; do writers have to
 * slow down, or to wait, for it: they had before, they have now. */
typedef void (*WcRocksCount) (void *arg, const WcRocksJob *job);
typedef void (*WcRocksStall) (void *arg, bool was, bool is);

/* From now on calls these functions for flushes, compactions and stalls.  A flush that fails has no end. */
extern void wc_rocksplus_count(rocksdb_options_t *options, WcRocksCount count, WcRocksStall stall, void *arg);

/* Blocks that this thread has read so far: from the cache, and from files.  RocksDB counts
 * them from the thread's first call on. */
extern void wc_rocksplus_blocks(uint64_t *hits, uint64_t *reads);

/* Tries to make a stopped database take writes again: flushes its memtables and begins a new log.  Takes as long as the
 * flush. */
extern char *wc_rocksplus_resume(rocksdb_t *db);

/* Does a database that was resumed take in files?  That of RocksDB 7.8 does not, until it is opened again. */
extern bool wc_rocksplus_takes_in_when_resumed(void);

/* Makes column families in one call.  *nmade: the number of families that were made, from the first on, also after an
 * error. */
extern char *wc_rocksplus_make_families(rocksdb_t *db, size_t n, const char *const *names, rocksdb_options_t *const *options,
										rocksdb_column_family_handle_t **handles, size_t *nmade);

/* Drops column families in one call.  gone[i]: that one is, also if it fails. */
extern char *wc_rocksplus_drop_families(rocksdb_t *db, size_t n, rocksdb_column_family_handle_t *const *handles, bool *gone);

/* Deletes files that nothing refers to.  RocksDB does that each 6 hours; they come of
 * compactions that ended because their column family was dropped. */
extern char *wc_rocksplus_delete_leftovers(rocksdb_t *db);

/* As rocksdb_compact_range_cf_opt, but returns errors. */
extern char *wc_rocksplus_compact_range(rocksdb_t *db, rocksdb_column_family_handle_t *cf, rocksdb_compactoptions_t *options,
										const char *start, size_t start_len, const char *stop, size_t stop_len);

/* --- rocksfiles.cc: files that RocksDB takes in ---------------------------------------------
 *
 * Key-values in table files, made with the options of their families, that become part of the database
 * all at once.  One thread.
 */
typedef struct WcRocksFiles WcRocksFiles;

/* Files will be made in the directory; of the same file system as the database, else they are copied.
 * NULL: out of memory. */
extern WcRocksFiles *wc_rocksfiles_begin(rocksdb_t *db, const char *directory);

/* Removes the files that were not taken in; NULL is allowed. */
extern void wc_rocksfiles_free(WcRocksFiles *files);

/* Keys of a family must ascend. */
extern char *wc_rocksfiles_put(WcRocksFiles *files, rocksdb_column_family_handle_t *cf, const char *key, size_t key_len,
							   const char *value, size_t value_len);
extern char *wc_rocksfiles_delete(WcRocksFiles *files, rocksdb_column_family_handle_t *cf, const char *key, size_t len);

/* Ends the files that are being written, which gives back their memory. */
extern char *wc_rocksfiles_finish(WcRocksFiles *files);

/*
 * Makes the files part of the database, together with the batch's puts and deletes in the default family, in any
 * order; after an error, none of it.  On disk when it returns, also if RocksDB's log is not.  Memtables with keys in the
 * same range are flushed before.
 */
extern char *wc_rocksfiles_take_in(WcRocksFiles *files, rocksdb_writebatch_t *batch);

/* --- rocksguard.cc: guards -----------------------------------------------------------------
 *
 * Functions of the C API from which std::bad_alloc may come, which C cannot catch and
 * which would end the process.  As those, but that it becomes an error.
 */

/* The iterator is then at its end, with an error. */
extern rocksdb_iterator_t *wc_rocks_create_iterator(rocksdb_t *db, const rocksdb_readoptions_t *options,
													rocksdb_column_family_handle_t *cf);
extern void wc_rocks_iter_seek(rocksdb_iterator_t *it, const char *key, size_t len);
extern void wc_rocks_iter_seek_for_prev(rocksdb_iterator_t *it, const char *key, size_t len);
extern void wc_rocks_iter_seek_to_first(rocksdb_iterator_t *it);
extern void wc_rocks_iter_seek_to_last(rocksdb_iterator_t *it);
extern void wc_rocks_iter_next(rocksdb_iterator_t *it);
extern void wc_rocks_iter_prev(rocksdb_iterator_t *it);

extern rocksdb_pinnableslice_t *wc_rocks_get_pinned(rocksdb_t *db, const rocksdb_readoptions_t *options,
													rocksdb_column_family_handle_t *cf, const char *key, size_t len, char **error);
extern void wc_rocks_multi_get(rocksdb_t *db, const rocksdb_readoptions_t *options, rocksdb_column_family_handle_t *cf, size_t n,
							   const char *const *keys, const size_t *lens, rocksdb_pinnableslice_t **values, char **errors,
							   bool sorted);

/* The batch is then empty, and remains so; wc_health_write refuses it. */
extern void wc_rocks_batch_put(rocksdb_writebatch_t *batch, rocksdb_column_family_handle_t *cf, const char *key, size_t key_len,
							   const char *value, size_t value_len);
extern void wc_rocks_batch_delete(rocksdb_writebatch_t *batch, rocksdb_column_family_handle_t *cf, const char *key, size_t len);

/* *thrown: it was left in the middle, and RocksDB waits for its end with every write to
 * come: there must be none. */
extern char *wc_rocks_write(rocksdb_t *db, const rocksdb_writeoptions_t *options, rocksdb_writebatch_t *batch, bool *thrown);

#ifdef __cplusplus
}
#endif

#endif
