/*
 * engine/rocks/rocksfiles.cc: table files that RocksDB takes in.
 *
 * Compiled as rocksplus.cc.
 */
#include "engine/rocks/rocksplus.hh"

#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rocksdb/sst_file_writer.h>
#include <rocksdb/write_batch.h>

namespace
{

/* A file that has become so large is followed by another one. */
const uint64_t file_bytes_max = UINT64_C(256) << 20;

/* Write buffer of a file. */
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

		/* compressed like levels that are written often: compactions to the bottommost level compress it again */
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

	/* The files have used sequence numbers that the log does not have (wc_rocksplus_end_at_gaps).  If the note's
	 * write fails, so do all writes until RocksDB begins a new log, and the logs before are not read again. */
	rocksdb::Status take_in_and_note(const std::vector<rocksdb::IngestExternalFileArg> &args)
	{
		rocksdb::WriteBatch note;
		rocksdb::Status status = note.PutLogData("taken in");

		if (status.ok())
			status = db->IngestExternalFiles(args);
		if (status.ok())
			(void) db->Write(rocksdb::WriteOptions(), &note);
		return status;
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
		return take_in_and_note(args);
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
