/*
 * engine/rocks/rocksplus.cc: what RocksDB can do and its C API has no words for.
 *
 * Compiled as librocksdb is, without run-time type information: its classes have none.
 */
#include "engine/rocks/rocksplus.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/iterator.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

extern "C"
{
#include "base/log.h"
}

/* The first members of the C API's handles. */
static rocksdb::Options *
options_of(rocksdb_options_t *options)
{
	return reinterpret_cast<rocksdb::Options *>(options);
}

static rocksdb::DB *
db_of(rocksdb_t *db)
{
	return *reinterpret_cast<rocksdb::DB **>(db);
}

static rocksdb::ColumnFamilyHandle *
family_of(rocksdb_column_family_handle_t *cf)
{
	return *reinterpret_cast<rocksdb::ColumnFamilyHandle **>(cf);
}

/* As the C API makes its handles of column families: it frees this one too. */
struct FamilyHandle
{
	rocksdb::ColumnFamilyHandle *rep;
#if ROCKSDB_MAJOR > 9 || (ROCKSDB_MAJOR == 9 && ROCKSDB_MINOR >= 4)
	bool		immortal;
#endif
};

static const rocksdb::CompactRangeOptions &
compact_options_of(const rocksdb_compactoptions_t *options)
{
	return *reinterpret_cast<const rocksdb::CompactRangeOptions *>(options);
}

/* --- errors ---------------------------------------------------------------*/

/* Texts as RocksDB's Status has them (rocks.c reads them). */
static const char *const no_memory = "Operation aborted: Memory limit reached";

static char *
status_text(const rocksdb::Status &status)
{
	return status.ok() ? nullptr : strdup(status.ToString().c_str());
}

/* Calls what gives a Status; an exception becomes an error. */
template <typename Call> static char *
guarded(Call call)
{
	try
	{
		return status_text(call());
	}
	catch (const std::bad_alloc &)
	{
		return strdup(no_memory);
	}
	catch (const std::exception &e)
	{
		return strdup(e.what());
	}
}

bool
wc_rocksplus_fits(rocksdb_options_t *options)
{
	int			before = rocksdb_options_get_max_open_files(options);
	bool		fits;

	rocksdb_options_set_max_open_files(options, 12345);
	fits = options_of(options)->max_open_files == 12345;
	rocksdb_options_set_max_open_files(options, before);
	return fits && options_of(options)->max_open_files == before;
}

/* --- messages -------------------------------------------------------------*/

static std::atomic<bool> quiet;

/* What RocksDB is told when it wants to write one. */
static const char *const no_options_file = "widecol keeps no file OPTIONS";

/*
 * Messages of no use.  A checkpoint disables the deletion of files, and in the midst of that does so
 * again, with a warning each time.  A file that was taken in has no id in the list of files that could be compared.
 */
static const char *const idle_messages[] = {
	no_options_file, "File Deletions Disabled, but already disabled", "File Deletions Enable, but not really enabled",
	"SST file opened without unique ID to verify"
};

static bool
is_idle(const char *text)
{
	return std::any_of(std::begin(idle_messages), std::end(idle_messages),
					   [=](const char *idle) { return strstr(text, idle) != nullptr; });
}

void
wc_rocksplus_set_quiet(bool on)
{
	quiet = on;
}

namespace
{

class ServerLogger : public rocksdb::Logger
{
public:
	ServerLogger() : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

	using rocksdb::Logger::Logv;

	void LogHeader(const char *, va_list) override {}

	void Logv(const rocksdb::InfoLogLevel level, const char *format, va_list args) override
	{
		char		text[900];	/* a line of the server's log has not many more */

		if (level < GetInfoLogLevel() || level >= rocksdb::InfoLogLevel::HEADER_LEVEL || quiet)
			return;
		vsnprintf(text, sizeof(text), format, args);
		if (is_idle(text))
			return;
		text[strcspn(text, "\n")] = '\0';
		wc_log(WC_LOG_WARNING, "RocksDB: %s", text);
	}
};

}

void
wc_rocksplus_log_to_server(rocksdb_options_t *options)
{
	options_of(options)->info_log = std::make_shared<ServerLogger>();
}

/* --- files ----------------------------------------------------------------*/

namespace
{

class Files : public rocksdb::FileSystemWrapper
{
public:
	using FileSystemWrapper::FileSystemWrapper;

	const char *Name() const override { return "widecol"; }

	rocksdb::IOStatus NewWritableFile(const std::string &path, const rocksdb::FileOptions &options,
									  std::unique_ptr<rocksdb::FSWritableFile> *file, rocksdb::IODebugContext *debug) override
	{
		if (path.compare(path.find_last_of('/') + 1, 8, "OPTIONS-") == 0)
			return rocksdb::IOStatus::NotSupported(no_options_file);
		return FileSystemWrapper::NewWritableFile(path, options, file, debug);
	}
};

}

/* One for the process: threads of RocksDB's use it until the process ends. */
void
wc_rocksplus_no_options_file(rocksdb_options_t *options)
{
	static rocksdb::Env *const env = rocksdb::NewCompositeEnv(std::make_shared<Files>(rocksdb::FileSystem::Default())).release();

	options_of(options)->env = env;
	options_of(options)->fail_if_options_file_error = false;	/* the default of RocksDB 9 is true */
}

/* --- trouble --------------------------------------------------------------*/

namespace
{

/* The column family that this thread of RocksDB's flushes or compacts. */
thread_local char working_on[64];

void
works_on(const std::string &family)
{
	snprintf(working_on, sizeof(working_on), "%s", family.c_str());
}

WcRocksWork
work_of(rocksdb::BackgroundErrorReason reason)
{
	switch (reason)
	{
		case rocksdb::BackgroundErrorReason::kFlush:
		case rocksdb::BackgroundErrorReason::kFlushNoWAL:
			return WC_ROCKS_FLUSH;
		case rocksdb::BackgroundErrorReason::kCompaction:
			return WC_ROCKS_COMPACTION;
		case rocksdb::BackgroundErrorReason::kMemTable:
			return WC_ROCKS_MEMTABLE;
		case rocksdb::BackgroundErrorReason::kManifestWrite:
		case rocksdb::BackgroundErrorReason::kManifestWriteNoWAL:
			return WC_ROCKS_MANIFEST;
		default:
			return WC_ROCKS_LOG;
	}
}

class Watcher : public rocksdb::EventListener
{
public:
	Watcher(WcRocksTrouble trouble, void *arg) : trouble_(trouble), arg_(arg) {}

	const char *Name() const override { return "widecol"; }

	void OnFlushBegin(rocksdb::DB *, const rocksdb::FlushJobInfo &info) override { works_on(info.cf_name); }
	void OnFlushCompleted(rocksdb::DB *, const rocksdb::FlushJobInfo &) override { works_on(""); }
	void OnCompactionBegin(rocksdb::DB *, const rocksdb::CompactionJobInfo &info) override { works_on(info.cf_name); }
	void OnCompactionCompleted(rocksdb::DB *, const rocksdb::CompactionJobInfo &) override { works_on(""); }

	void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status *status) override
	{
		WcRocksWork work = work_of(reason);

		if (status->IsIOError() && work == WC_ROCKS_COMPACTION)
			*status = rocksdb::Status(*status, rocksdb::Status::Severity::kSoftError);
		else if (status->IsIOError())
		{
			*status = rocksdb::Status(*status, rocksdb::Status::Severity::kHardError);
			tell(WC_ROCKS_STOPPED, work, *status);
		}
		else if (status->IsCorruption() && work == WC_ROCKS_COMPACTION)
		{
			tell(WC_ROCKS_FAMILY, work, *status);
			*status = rocksdb::Status::OK();	/* other families are not to blame */
		}
		else
			tell(WC_ROCKS_LOST, work, *status);
	}

	/* Resuming is ours, whatever the error was. */
	void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool *automatic) override
	{
		*automatic = false;
	}

private:
	void tell(WcRocksHarm harm, WcRocksWork work, const rocksdb::Status &status)
	{
		bool		of_family = work == WC_ROCKS_FLUSH || work == WC_ROCKS_COMPACTION;

		trouble_(arg_, harm, work, of_family ? working_on : "", status.ToString().c_str());
	}

	WcRocksTrouble trouble_;
	void	   *arg_;
};

}

void
wc_rocksplus_watch(rocksdb_options_t *options, WcRocksTrouble trouble, void *arg)
{
	options_of(options)->listeners.push_back(std::make_shared<Watcher>(trouble, arg));
}

/* --- counting ---------------------------------------------------------------*/

namespace
{

class Counter : public rocksdb::EventListener
{
public:
	Counter(WcRocksCount count, WcRocksStall stall, void *arg) : count_(count), stall_(stall), arg_(arg) {}

	const char *Name() const override { return "widecol counts"; }

	void OnFlushBegin(rocksdb::DB *, const rocksdb::FlushJobInfo &info) override { tell(true, true, info, 0); }

	void OnFlushCompleted(rocksdb::DB *, const rocksdb::FlushJobInfo &info) override
	{
		const rocksdb::TableProperties &p = info.table_properties;

		tell(false, true, info, p.data_size + p.index_size + p.filter_size);
	}

	void OnCompactionBegin(rocksdb::DB *, const rocksdb::CompactionJobInfo &info) override
	{
		tell(true, false, info, info.stats.total_input_bytes);
	}

	void OnCompactionCompleted(rocksdb::DB *, const rocksdb::CompactionJobInfo &info) override
	{
		tell(false, false, info, info.stats.total_output_bytes);
	}

	void OnStallConditionsChanged(const rocksdb::WriteStallInfo &info) override
	{
		stall_(arg_, info.condition.prev != rocksdb::WriteStallCondition::kNormal,
			   info.condition.cur != rocksdb::WriteStallCondition::kNormal);
	}

private:
	template <typename Info> void tell(bool begins, bool flush, const Info &info, uint64_t bytes)
	{
		WcRocksJob job = {begins, flush, info.thread_id, info.cf_name.c_str(), bytes};

		count_(arg_, &job);
	}

	WcRocksCount count_;
	WcRocksStall stall_;
	void	   *arg_;
};

}

void
wc_rocksplus_count(rocksdb_options_t *options, WcRocksCount count, WcRocksStall stall, void *arg)
{
	options_of(options)->listeners.push_back(std::make_shared<Counter>(count, stall, arg));
}

void
wc_rocksplus_blocks(uint64_t *hits, uint64_t *reads)
{
	thread_local bool counting;
	const rocksdb::PerfContext *context = rocksdb::get_perf_context();

	if (!counting)
		rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
	counting = true;
	*hits = context->block_cache_hit_count;
	*reads = context->block_read_count;
}

/* Then RocksDB looks through its directory for files to delete. */
static rocksdb::Status
enable_deletions(rocksdb::DB *db)
{
#if ROCKSDB_MAJOR >= 9
	return db->EnableFileDeletions();
#else
	return db->EnableFileDeletions(false);
#endif
}

/*
 * An error of the manifest that came from making or dropping a column family is not told
 * as one that stops RocksDB, and file deletions stay enabled; but resuming behind another
 * error expects that they are disabled then.
 */
char *
wc_rocksplus_resume(rocksdb_t *db)
{
	return guarded([=]()
	{
		rocksdb::DB *d = db_of(db);
		rocksdb::Status status = d->DisableFileDeletions();
		rocksdb::Status enabled;

		if (!status.ok())
			return status;
		status = d->Resume();
		enabled = enable_deletions(d);
		return status.ok() ? enabled : status;
	});
}

/* --- column families ------------------------------------------------------*/

char *
wc_rocksplus_make_families(rocksdb_t *db, size_t n, const char *const *names, rocksdb_options_t *const *options,
						   rocksdb_column_family_handle_t **handles, size_t *nmade)
{
	std::vector<rocksdb::ColumnFamilyHandle *> made;
	char	   *error = guarded([&]()
	{
		std::vector<rocksdb::ColumnFamilyDescriptor> wanted;

		for (size_t i = 0; i < n; i++)
		{
			handles[i] = reinterpret_cast<rocksdb_column_family_handle_t *>(new FamilyHandle());
			wanted.emplace_back(names[i], *options_of(options[i]));
		}
		made.reserve(n);
		return db_of(db)->CreateColumnFamilies(wanted, &made);
	});

	*nmade = made.size();
	for (size_t i = 0; i < n; i++)
	{
		FamilyHandle *handle = reinterpret_cast<FamilyHandle *>(handles[i]);

		if (i < *nmade)
			handle->rep = made[i];
		else
		{
			delete handle;
			handles[i] = nullptr;
		}
	}
	return error;
}

char *
wc_rocksplus_drop_families(rocksdb_t *db, size_t n, rocksdb_column_family_handle_t *const *handles, bool *gone)
{
	return guarded([=]()
	{
		std::vector<rocksdb::ColumnFamilyHandle *> all;
		rocksdb::Status status;

		for (size_t i = 0; i < n; i++)
			all.push_back(family_of(handles[i]));
		status = db_of(db)->DropColumnFamilies(all);
		std::fill(gone, gone + n, status.ok());
		if (status.ok())
			return status;

		/* it ended with the first that failed: those before it are dropped already */
		status = rocksdb::Status::OK();
		for (size_t i = 0; i < n; i++)
		{
			rocksdb::Status one = db_of(db)->DropColumnFamily(all[i]);

			gone[i] = one.ok() || one.IsInvalidArgument();
			if (!gone[i])
				status = one;
		}
		return status;
	});
}

char *
wc_rocksplus_delete_leftovers(rocksdb_t *db)
{
	return guarded([=]()
	{
		rocksdb::Status status = db_of(db)->DisableFileDeletions();

		return status.ok() ? enable_deletions(db_of(db)) : status;
	});
}

char *
wc_rocksplus_compact_range(rocksdb_t *db, rocksdb_column_family_handle_t *cf, rocksdb_compactoptions_t *options,
						   const char *start, size_t start_len, const char *stop, size_t stop_len)
{
	return guarded([=]()
	{
		rocksdb::Slice from(start, start_len);
		rocksdb::Slice to(stop, stop_len);

		return db_of(db)->CompactRange(compact_options_of(options), family_of(cf), start ? &from : nullptr, stop ? &to : nullptr);
	});
}

/* --- files that RocksDB takes in --------------------------------------------*/

namespace
{

/* A file that has become so large is followed by another one. */
const uint64_t file_bytes_max = UINT64_C(256) << 20;

/* What a file being written keeps in memory of what it has not written yet. */
const size_t file_buffer = 256 << 10;

struct FamilyFiles
{
	rocksdb::ColumnFamilyHandle *family = nullptr;
	std::unique_ptr<rocksdb::SstFileWriter> writer;	/* of the last of: */
	std::vector<std::string> paths;
};

/* The changes of a batch in the default family, by key; the last of each counts. */
class Changes : public rocksdb::WriteBatch::Handler
{
public:
	std::map<std::string, std::pair<bool, std::string>> by_key;	/* is it put? what? */

	rocksdb::Status PutCF(uint32_t family, const rocksdb::Slice &key, const rocksdb::Slice &value) override
	{
		if (family != 0)
			return rocksdb::Status::InvalidArgument("a key-value of another family");
		by_key[key.ToString()] = {true, value.ToString()};
		return rocksdb::Status::OK();
	}

	rocksdb::Status DeleteCF(uint32_t family, const rocksdb::Slice &key) override
	{
		if (family != 0)
			return rocksdb::Status::InvalidArgument("a key-value of another family");
		by_key[key.ToString()] = {false, std::string()};
		return rocksdb::Status::OK();
	}
};

/* The next file number of this process. */
std::atomic<uint64_t> file_number;

}

struct WcRocksFiles
{
	rocksdb::DB *db;
	std::string directory;
	std::map<uint32_t, FamilyFiles> families;	/* by RocksDB's number of them */
	FamilyFiles *last = nullptr;	/* that was put into */

	FamilyFiles &of(rocksdb::ColumnFamilyHandle *family)
	{
		if (last == nullptr || last->family != family)
		{
			last = &families[family->GetID()];
			last->family = family;
		}
		return *last;
	}

	rocksdb::Status open(FamilyFiles &f)
	{
		rocksdb::Options options = db->GetOptions(f.family);
		std::string path = directory + "/" + std::to_string(++file_number) + ".sst";
		rocksdb::Status status;

		/* as what is written often: what sinks to the bottom is compressed again */
		options.bottommost_compression = rocksdb::kDisableCompressionOption;
		options.writable_file_max_buffer_size = file_buffer;
		f.writer = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(options), options, f.family, false);
		f.paths.push_back(path);
		status = f.writer->Open(path);
		if (!status.ok())
			f.writer.reset();
		return status;
	}

	rocksdb::Status finish(FamilyFiles &f)
	{
		rocksdb::Status status;

		if (f.writer)
			status = f.writer->Finish();
		f.writer.reset();
		return status;
	}

	/* Ready for another key. */
	rocksdb::Status prepare(FamilyFiles &f)
	{
		rocksdb::Status status;

		if (f.writer && f.writer->FileSize() >= file_bytes_max)
			status = finish(f);
		return status.ok() && !f.writer ? open(f) : status;
	}

	rocksdb::Status put(rocksdb::ColumnFamilyHandle *family, const rocksdb::Slice &key, const rocksdb::Slice &value)
	{
		FamilyFiles &f = of(family);
		rocksdb::Status status = prepare(f);

		return status.ok() ? f.writer->Put(key, value) : status;
	}

	rocksdb::Status remove(rocksdb::ColumnFamilyHandle *family, const rocksdb::Slice &key)
	{
		FamilyFiles &f = of(family);
		rocksdb::Status status = prepare(f);

		return status.ok() ? f.writer->Delete(key) : status;
	}

	rocksdb::Status finish_all()
	{
		rocksdb::Status first;

		for (auto &each : families)
		{
			rocksdb::Status status = finish(each.second);

			if (first.ok())
				first = status;
		}
		return first;
	}

	rocksdb::Status take_in(const rocksdb::WriteBatch *batch)
	{
		Changes		changes;
		std::vector<rocksdb::IngestExternalFileArg> args;
		rocksdb::Status status = batch->Iterate(&changes);

		for (const auto &each : changes.by_key)
		{
			if (status.ok())
				status = each.second.first ? put(db->DefaultColumnFamily(), each.first, each.second.second) :
					remove(db->DefaultColumnFamily(), each.first);
		}
		if (status.ok())
			status = finish_all();
		if (!status.ok())
			return status;
		for (const auto &each : families)
		{
			rocksdb::IngestExternalFileArg arg;

			arg.column_family = each.second.family;
			arg.external_files = each.second.paths;
			arg.options.move_files = true;
			arg.options.write_global_seqno = false;
			args.push_back(arg);
		}
		return db->IngestExternalFiles(args);
	}

	~WcRocksFiles()
	{
		for (auto &each : families)
		{
			each.second.writer.reset();
			for (const std::string &path : each.second.paths)
				(void) std::remove(path.c_str());
		}
	}
};

WcRocksFiles *
wc_rocksfiles_begin(rocksdb_t *db, const char *directory)
{
	try
	{
		WcRocksFiles *files = new WcRocksFiles();

		files->db = db_of(db);
		files->directory = directory;
		return files;
	}
	catch (const std::exception &)
	{
		return nullptr;
	}
}

void
wc_rocksfiles_free(WcRocksFiles *files)
{
	delete files;
}

char *
wc_rocksfiles_put(WcRocksFiles *files, rocksdb_column_family_handle_t *cf, const char *key, size_t key_len,
				  const char *value, size_t value_len)
{
	return guarded([=]() { return files->put(family_of(cf), rocksdb::Slice(key, key_len), rocksdb::Slice(value, value_len)); });
}

char *
wc_rocksfiles_delete(WcRocksFiles *files, rocksdb_column_family_handle_t *cf, const char *key, size_t len)
{
	return guarded([=]() { return files->remove(family_of(cf), rocksdb::Slice(key, len)); });
}

char *
wc_rocksfiles_finish(WcRocksFiles *files)
{
	return guarded([=]() { return files->finish_all(); });
}

char *
wc_rocksfiles_take_in(WcRocksFiles *files, rocksdb_writebatch_t *batch)
{
	return guarded([=]() { return files->take_in(reinterpret_cast<const rocksdb::WriteBatch *>(batch)); });
}

/* --- guards ---------------------------------------------------------------*/

static rocksdb::Iterator *&
iterator_of(rocksdb_iterator_t *it)
{
	return *reinterpret_cast<rocksdb::Iterator **>(it);
}

/* Moves an iterator. */
template <typename Move> static void
guarded_move(rocksdb_iterator_t *it, Move move)
{
	try
	{
		move();
	}
	catch (const std::exception &)
	{
		rocksdb::Iterator *failed = rocksdb::NewErrorIterator(rocksdb::Status::MemoryLimit());

		delete iterator_of(it);
		iterator_of(it) = failed;
	}
}

rocksdb_iterator_t *
wc_rocks_create_iterator(rocksdb_t *db, const rocksdb_readoptions_t *options, rocksdb_column_family_handle_t *cf)
{
	try
	{
		return rocksdb_create_iterator_cf(db, options, cf);
	}
	catch (const std::exception &)
	{
		/* what rocksdb_iter_destroy deletes: a pointer to the iterator */
		return reinterpret_cast<rocksdb_iterator_t *>
			(new rocksdb::Iterator *(rocksdb::NewErrorIterator(rocksdb::Status::MemoryLimit())));
	}
}

void
wc_rocks_iter_seek(rocksdb_iterator_t *it, const char *key, size_t len)
{
	guarded_move(it, [=]() { rocksdb_iter_seek(it, key, len); });
}

void
wc_rocks_iter_seek_for_prev(rocksdb_iterator_t *it, const char *key, size_t len)
{
	guarded_move(it, [=]() { rocksdb_iter_seek_for_prev(it, key, len); });
}

void
wc_rocks_iter_seek_to_first(rocksdb_iterator_t *it)
{
	guarded_move(it, [=]() { rocksdb_iter_seek_to_first(it); });
}

void
wc_rocks_iter_seek_to_last(rocksdb_iterator_t *it)
{
	guarded_move(it, [=]() { rocksdb_iter_seek_to_last(it); });
}

void
wc_rocks_iter_next(rocksdb_iterator_t *it)
{
	guarded_move(it, [=]() { rocksdb_iter_next(it); });
}

void
wc_rocks_iter_prev(rocksdb_iterator_t *it)
{
	guarded_move(it, [=]() { rocksdb_iter_prev(it); });
}

rocksdb_pinnableslice_t *
wc_rocks_get_pinned(rocksdb_t *db, const rocksdb_readoptions_t *options, rocksdb_column_family_handle_t *cf,
					const char *key, size_t len, char **error)
{
	try
	{
		return rocksdb_get_pinned_cf(db, options, cf, key, len, error);
	}
	catch (const std::exception &)
	{
		*error = strdup(no_memory);
		return nullptr;
	}
}

void
wc_rocks_multi_get(rocksdb_t *db, const rocksdb_readoptions_t *options, rocksdb_column_family_handle_t *cf, size_t n,
				   const char *const *keys, const size_t *lens, rocksdb_pinnableslice_t **values, char **errors, bool sorted)
{
	for (size_t i = 0; i < n; i++)
	{
		values[i] = nullptr;
		errors[i] = nullptr;
	}
	try
	{
		rocksdb_batched_multi_get_cf(db, options, cf, n, keys, lens, values, errors, sorted);
	}
	catch (const std::exception &)
	{
		for (size_t i = 0; i < n; i++)
		{
			if (values[i] == nullptr && errors[i] == nullptr)
				errors[i] = strdup(no_memory);
		}
	}
}

/*
 * RocksDB's assertions end the process when memory runs out while it appends to a batch.  So
 * what the batch will allocate when it grows is asked for before.
 */
static void
ask_for_growth(const rocksdb_writebatch_t *batch, size_t more)
{
	const std::string &bytes = reinterpret_cast<const rocksdb::WriteBatch *>(batch)->Data();
	size_t		need = bytes.size() + more + 32;	/* lengths, kind, family */

	if (need > bytes.capacity())
	{
		void *volatile p = ::operator new(std::max(need, 2 * bytes.capacity()) + 1);

		::operator delete(p);
	}
}

/* RocksDB refuses what would make a batch larger than a byte. */
static void
spoil_batch(rocksdb_writebatch_t *batch)
{
	rocksdb::WriteBatch *b = reinterpret_cast<rocksdb::WriteBatch *>(batch);

	b->Clear();
	b->SetMaxBytes(1);
}

void
wc_rocks_batch_put(rocksdb_writebatch_t *batch, rocksdb_column_family_handle_t *cf, const char *key, size_t key_len,
				   const char *value, size_t value_len)
{
	try
	{
		ask_for_growth(batch, key_len + value_len);
		rocksdb_writebatch_put_cf(batch, cf, key, key_len, value, value_len);
	}
	catch (const std::exception &)
	{
		spoil_batch(batch);
	}
}

void
wc_rocks_batch_delete(rocksdb_writebatch_t *batch, rocksdb_column_family_handle_t *cf, const char *key, size_t len)
{
	try
	{
		ask_for_growth(batch, len);
		rocksdb_writebatch_delete_cf(batch, cf, key, len);
	}
	catch (const std::exception &)
	{
		spoil_batch(batch);
	}
}

char *
wc_rocks_write(rocksdb_t *db, const rocksdb_writeoptions_t *options, rocksdb_writebatch_t *batch, bool *thrown)
{
	char	   *error = nullptr;

	*thrown = false;
	try
	{
		rocksdb_write(db, options, batch, &error);
	}
	catch (const std::exception &)
	{
		*thrown = true;
		error = strdup(no_memory);
	}
	return error;
}
