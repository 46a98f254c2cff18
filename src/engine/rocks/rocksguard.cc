/*
 * engine/rocks/rocksguard.cc: functions of the C API from which an exception may come.
 *
 * Compiled as rocksplus.cc.
 */
#include "engine/rocks/rocksplus.hh"

#include <algorithm>
#include <string>

#include <rocksdb/iterator.h>
#include <rocksdb/write_batch.h>

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
 * RocksDB's assertions end the process when memory runs out while it appends to a batch.  So the memory that
 * the batch will allocate when it grows is allocated and freed before.
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

/* Makes RocksDB refuse all further changes of the batch: they would exceed one byte. */
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

#ifdef WC_TSAN
extern "C" void AnnotateIgnoreWritesBegin(const char *file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char *file, int line);
#else
#define AnnotateIgnoreWritesBegin(file, line)
#define AnnotateIgnoreWritesEnd(file, line)
#endif

/*
 * RocksDB orders its write of a memtable and our reads of the memtable by atomics, which ThreadSanitizer does not see
 * in RocksDB.  test/tsan.supp names RocksDB, but not for a write whose stack ThreadSanitizer has forgotten.
 */
class MemtableWrite
{
public:
	MemtableWrite() { AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
	~MemtableWrite() { AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }
	MemtableWrite(const MemtableWrite &) = delete;
	MemtableWrite &operator=(const MemtableWrite &) = delete;
};

char *
wc_rocks_write(rocksdb_t *db, const rocksdb_writeoptions_t *options, rocksdb_writebatch_t *batch, bool *thrown)
{
	char	   *error = nullptr;

	*thrown = false;
	try
	{
		MemtableWrite ignored;

		rocksdb_write(db, options, batch, &error);
	}
	catch (const std::exception &)
	{
		*thrown = true;
		error = strdup(no_memory);
	}
	return error;
}
