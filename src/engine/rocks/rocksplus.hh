/*
 * engine/rocks/rocksplus.hh: shared by the C++ files: handles of the C API, and errors.
 */
#ifndef WC_ENGINE_ROCKS_ROCKSPLUS_HH
#define WC_ENGINE_ROCKS_ROCKSPLUS_HH

#include "engine/rocks/rocksplus.h"

#include <cstring>
#include <exception>
#include <new>

#include <rocksdb/db.h>
#include <rocksdb/options.h>

/* The first members of the C API's handles. */
static inline rocksdb::Options *
options_of(rocksdb_options_t *options)
{
	return reinterpret_cast<rocksdb::Options *>(options);
}

static inline rocksdb::DB *
db_of(rocksdb_t *db)
{
	return *reinterpret_cast<rocksdb::DB **>(db);
}

static inline rocksdb::ColumnFamilyHandle *
family_of(rocksdb_column_family_handle_t *cf)
{
	return *reinterpret_cast<rocksdb::ColumnFamilyHandle **>(cf);
}

/* Texts as RocksDB's Status has them (rocks.c reads them). */
static const char *const no_memory = "Operation aborted: Memory limit reached";

static inline char *
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

#endif
