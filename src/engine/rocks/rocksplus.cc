/*
 * engine/rocks/rocksplus.cc: functions of RocksDB that its C API lacks.
 *
 * Compiled as librocksdb is, without run-time type information: its classes have none.
 */
#include "engine/rocks/rocksplus.hh"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/version.h>
#include <rocksdb/wal_filter.h>
#include <rocksdb/write_batch.h>

extern "C"
{
#include "base/log.h"
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

/* The error that RocksDB gets when it tries to write one. */
static const char *const no_options_file = "widecol keeps no file OPTIONS";

/*
 * Messages of no use.  A checkpoint disables the deletion of files, and in the midst of that does so
 * again, with a warning each time.  A file that was taken in has no id in the list of files that could be compared.
 * RocksDB 9 warns when it has to guess two facts that the list lacks: how large the end of a file is (of files that were taken
 * in, and of all files that RocksDB 7 of Debian 12 wrote), and in which order files were written (of the latter).
 */
static const char *const idle_messages[] = {
	no_options_file, "File Deletions Disabled, but already disabled", "File Deletions Enable, but not really enabled",
	"SST file opened without unique ID to verify", "Tail prefetch size ", "epoch numbers are inferred"
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

/* RocksDB's log ends before the end of its last write; or, after a loss of power, pages of the last writes are missing. */
bool
ends_in_a_write(const char *text)
{
	static const char *const ends[] = {"truncated header", "truncated record body", "error reading trailing data",
		"checksum mismatch"};

	/* no reason in the message: reading has ended in an earlier file, or NoGaps has ended it, and RocksDB drops a whole file */
	return strstr(text, ".log: dropping ") != nullptr && (strchr(text, ';') == nullptr ||
		std::any_of(std::begin(ends), std::end(ends), [=](const char *end) { return strstr(text, end) != nullptr; }));
}

class ServerLogger : public rocksdb::Logger
{
public:
	explicit ServerLogger(bool salvage) : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL), salvage_(salvage) {}

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
		if (!salvage_ && ends_in_a_write(text))
			wc_log(WC_LOG_INFO, "the log of the stored tables ends in an incomplete write, as after a crash; the server's log has "
				   "the rest. RocksDB: %s", text);
		else
			wc_log(WC_LOG_WARNING, "RocksDB: %s", text);
	}

private:
	bool		salvage_;
};

}

namespace
{

/* wc_rocksplus_end_at_gaps */
class NoGaps : public rocksdb::WalFilter
{
public:
	void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t> &numbers, const std::map<std::string, uint32_t> &) override
	{
		needed = UINT64_MAX;
		for (const auto &each : numbers)
			needed = std::min(needed, each.second);
		next = 0;
	}

	WalProcessingOption LogRecordFound(unsigned long long file, const std::string &name, const rocksdb::WriteBatch &batch,
									   rocksdb::WriteBatch *, bool *) override
	{
		uint64_t	first = 0;
		bool		is_gap;

		/* a batch begins with its sequence number, the low byte first */
		for (int i = 0; i < 8; i++)
			first |= (uint64_t) (uint8_t) batch.Data()[i] << 8 * i;
		is_gap = next != 0 ? first > next && batch.Count() > 0 : is_after_empty(file, name);
		if (is_gap)
		{
			if (!quiet)
				wc_log(WC_LOG_INFO, "the log of the stored tables lacks writes before its file %06llu, as after a loss of power; the "
					   "server's log has the rest", file);
			return WalProcessingOption::kStopReplay;
		}
		next = first + batch.Count();
		return WalProcessingOption::kContinueProcessing;
	}

	const char *Name() const override { return "widecol"; }

private:
	/* Does the file begin without a write: is it empty, or all zeros? */
	static bool is_empty(const std::string &path)
	{
		char		header[7] = {0};	/* of a record */
		FILE	   *file = fopen(path.c_str(), "rb");

		if (file == nullptr)
			return false;
		if (fread(header, 1, sizeof(header), file) != sizeof(header))
			memset(header, 0, sizeof(header));
		(void) fclose(file);
		return std::all_of(std::begin(header), std::end(header), [](char c) { return c == 0; });
	}

	/*
	 * Is there an empty file before the one with the first write?  RocksDB begins no file behind one without writes
	 * (log_empty_ of DBImpl::SwitchMemtable), and a recovery leaves none that is still needed: so the file had some, and has
	 * lost all of them.
	 */
	static bool is_after_empty(uint64_t file, const std::string &name)
	{
		std::string directory = name.substr(0, name.find_last_of('/') + 1);
		std::vector<std::string> names;

		if (!rocksdb::Env::Default()->GetChildren(directory, &names).ok())
			return false;
		return std::any_of(names.begin(), names.end(), [&](const std::string &each)
		{
			char	   *end;
			uint64_t	number = std::strtoull(each.c_str(), &end, 10);

			return end != each.c_str() && strcmp(end, ".log") == 0 && number >= needed && number < file && is_empty(directory + each);
		});
	}

	/* One thread opens a database. */
	static thread_local uint64_t needed;	/* number of the first file that RocksDB may have to read */
	static thread_local uint64_t next;	/* sequence number; 0: none was read yet */
};

thread_local uint64_t NoGaps::needed;
thread_local uint64_t NoGaps::next;
NoGaps		no_gaps;

}

void
wc_rocksplus_log_to_server(rocksdb_options_t *options, bool salvage)
{
	options_of(options)->info_log = std::make_shared<ServerLogger>(salvage);
	if (salvage)
		options_of(options)->wal_filter = nullptr;
}

void
wc_rocksplus_end_at_gaps(rocksdb_options_t *options)
{
	options_of(options)->wal_filter = &no_gaps;
}

/* --- files ----------------------------------------------------------------*/

namespace
{

/* A directory whose descriptor others share. */
class SharedDirectory : public rocksdb::FSDirectoryWrapper
{
public:
	explicit SharedDirectory(std::shared_ptr<rocksdb::FSDirectory> directory)
		: FSDirectoryWrapper(directory.get()), shared(std::move(directory)) {}

	/* The last one that lets go of the descriptor closes it. */
	rocksdb::IOStatus Close(const rocksdb::IOOptions &, rocksdb::IODebugContext *) override { return rocksdb::IOStatus::OK(); }

private:
	std::shared_ptr<rocksdb::FSDirectory> shared;
};

/*
 * A file of RocksDB's log.  Of a write that fails in the middle nothing stays: RocksDB goes on with another file, and takes an
 * incomplete record before that for lost writes.  It would refuse to open the database after a crash when some families
 * had been flushed since, and others had not ("SST file is ahead of WALs").
 */
class LogFile : public rocksdb::FSWritableFileOwnerWrapper
{
public:
	LogFile(std::string path, std::unique_ptr<rocksdb::FSWritableFile> file)
		: FSWritableFileOwnerWrapper(std::move(file)), path_(std::move(path)) {}

	using FSWritableFileOwnerWrapper::Append;

	rocksdb::IOStatus Append(const rocksdb::Slice &bytes, const rocksdb::IOOptions &options, rocksdb::IODebugContext *debug) override
	{
		rocksdb::IOStatus status = FSWritableFileOwnerWrapper::Append(bytes, options, debug);
		uint64_t	size;
		uint64_t	end;

		if (status.ok() || !find_end(&end))
			return status;

		/* RocksDB may note the size of all calls before this one in its list of files: zeros take the place of a record that began
		 * in one of them, and are read as nothing. */
		size = GetFileSize(options, debug);
		if (Truncate(end, options, debug).ok() && size > end)
			(void) Truncate(size, options, debug);
		return status;
	}

private:
	/* Where the last whole record ends.  The file has blocks of 32 KiB.  A record has one or several parts, each in one block, with
	 * a header: checksum, 4 bytes; length, 2, the low byte first; type, 1.  Other parts follow FIRST and MIDDLE. */
	bool find_end(uint64_t *end) const
	{
		enum { BLOCK = 32 * 1024, HEADER = 7, FIRST = 2, MIDDLE = 3 };
		std::vector<unsigned char> block(BLOCK);
		FILE	   *file = fopen(path_.c_str(), "rb");
		uint64_t	start = 0;
		size_t		n;
		bool		read;

		if (file == nullptr)
			return false;
		*end = 0;
		while ((n = fread(block.data(), 1, BLOCK, file)) > 0)
		{
			for (size_t at = 0; at + HEADER <= n;)
			{
				unsigned	type = block[at + 6];

				at += HEADER + (block[at + 4] | (size_t) block[at + 5] << 8);
				if (at <= n && type != FIRST && type != MIDDLE)
					*end = start + at;
			}
			start += n;
		}
		read = ferror(file) == 0;
		(void) fclose(file);
		return read;
	}

	std::string path_;
};

class Files : public rocksdb::FileSystemWrapper
{
public:
	using FileSystemWrapper::FileSystemWrapper;

	const char *Name() const override { return "widecol"; }

	rocksdb::IOStatus NewWritableFile(const std::string &path, const rocksdb::FileOptions &options,
									  std::unique_ptr<rocksdb::FSWritableFile> *file, rocksdb::IODebugContext *debug) override
	{
		rocksdb::IOStatus status;

		if (path.compare(path.find_last_of('/') + 1, 8, "OPTIONS-") == 0)
			return rocksdb::IOStatus::NotSupported(no_options_file);
		status = FileSystemWrapper::NewWritableFile(path, options, file, debug);
		if (status.ok() && path.size() > 4 && path.compare(path.size() - 4, 4, ".log") == 0)
			*file = std::make_unique<LogFile>(path, std::move(*file));
		return status;
	}

	rocksdb::IOStatus NewDirectory(const std::string &path, const rocksdb::IOOptions &options,
								   std::unique_ptr<rocksdb::FSDirectory> *result, rocksdb::IODebugContext *debug) override
	{
		std::lock_guard<std::mutex> guard(lock);
		std::shared_ptr<rocksdb::FSDirectory> directory = directories[path].lock();

		if (directory == nullptr)
		{
			std::unique_ptr<rocksdb::FSDirectory> opened;
			rocksdb::IOStatus status = FileSystemWrapper::NewDirectory(path, options, &opened, debug);

			forget_closed();
			if (!status.ok())
				return status;
			directory = std::move(opened);
			directories[path] = directory;
		}
		result->reset(new SharedDirectory(std::move(directory)));
		return rocksdb::IOStatus::OK();
	}

private:
	void forget_closed()
	{
		for (auto each = directories.begin(); each != directories.end();)
			each = each->second.expired() ? directories.erase(each) : std::next(each);
	}

	std::mutex	lock;
	std::map<std::string, std::weak_ptr<rocksdb::FSDirectory>> directories;	/* those that are open */
};

}

/* One for the process: threads of RocksDB's use it until the process ends. */
void
wc_rocksplus_set_files(rocksdb_options_t *options)
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
	/* RocksDB calls it before OnBackgroundError, which names the family */
	void OnCompactionCompleted(rocksdb::DB *, const rocksdb::CompactionJobInfo &info) override
	{
		if (info.status.ok())
			works_on("");
	}

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

	/* The engine resumes RocksDB itself (store/health.c), after every error. */
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
 * After an error of the manifest while a column family is made or dropped, RocksDB does not report that it stops
 * writing, and file deletions stay enabled; but resuming after another error expects that they are disabled.
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

bool
wc_rocksplus_takes_in_when_resumed()
{
	return ROCKSDB_MAJOR > 9 || (ROCKSDB_MAJOR == 9 && ROCKSDB_MINOR >= 10);
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
