/*
 * fdw/scan/tidlog.c: row ids as ctids of six bytes.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "fdw/scan/tidlog.h"

/* An ItemPointer's offset must not be 0, so 15 of its 16 bits are used. */
#define OFFSET_BITS 15
#define OFFSET_MASK ((1 << OFFSET_BITS) - 1)
#define LOG_MAX (INT64CONST(1) << (32 + OFFSET_BITS))

#define MEMORY_FIRST 1024

/* An entry of the log: the length, 4 bytes in the machine's byte order, then the bytes. */
struct WcTidLog
{
	MemoryContext context;
	int64		size;			/* of the log, in bytes */
	char	   *memory;			/* the whole log, until there is a file */
	size_t		capacity;
	BufFile    *file;			/* the whole log, or NULL */
};

WcTidLog *
wc_tidlog_create(void)
{
	WcTidLog   *log = palloc0(sizeof(WcTidLog));

	log->context = CurrentMemoryContext;
	return log;
}

static void
move_to_file(WcTidLog *log)
{
	MemoryContext old = MemoryContextSwitchTo(log->context);

	log->file = BufFileCreateTemp(false);
	if (log->size > 0)
		BufFileWrite(log->file, log->memory, log->size);
	if (log->memory != NULL)
		pfree(log->memory);
	log->memory = NULL;
	MemoryContextSwitchTo(old);
}

/* Makes room for n more bytes in memory, or moves the log to a file. */
static void
reserve(WcTidLog *log, size_t n)
{
	size_t		needed = log->size + n;

	if (needed <= log->capacity)
		return;
	if (needed > (size_t) work_mem * 1024)
	{
		move_to_file(log);
		return;
	}
	log->capacity = Max(Max(2 * log->capacity, needed), MEMORY_FIRST);
	log->memory = log->memory == NULL ? MemoryContextAllocHuge(log->context, log->capacity)
		: repalloc_huge(log->memory, log->capacity);
}

static void
seek(WcTidLog *log, int64 at)
{
	if (BufFileSeek(log->file, 0, (off_t) at, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in the temporary file of row keys: %m")));
}

static void
append(WcTidLog *log, const void *bytes, size_t n)
{
	if (log->file != NULL)
		BufFileWrite(log->file, unconstify(void *, bytes), n);
	else if (n > 0)
		memcpy(log->memory + log->size, bytes, n);
	log->size += n;
}

void
wc_tidlog_add(WcTidLog *log, WcSlice bytes, ItemPointer tid)
{
	uint32		len = (uint32) bytes.len;
	int64		at = log->size;

	if (at + (int64) sizeof(len) + len >= LOG_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many rows of a foreign table to be locked in one scan"),
				 errdetail("Their row keys take more than " INT64_FORMAT " bytes.", LOG_MAX)));
	if (log->file == NULL)
		reserve(log, sizeof(len) + len);
	if (log->file != NULL)
		seek(log, at);
	append(log, &len, sizeof(len));
	append(log, bytes.data, len);
	ItemPointerSet(tid, (BlockNumber) (at >> OFFSET_BITS), (OffsetNumber) ((at & OFFSET_MASK) + 1));
}

static void
read_file(WcTidLog *log, void *to, size_t n)
{
	size_t		got = BufFileRead(log->file, to, n);

	if (got != n)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read the temporary file of row keys: read only %zu of %zu bytes", got, n)));
}

WcSlice
wc_tidlog_get(WcTidLog *log, ItemPointer tid)
{
	int64		at = ((int64) ItemPointerGetBlockNumberNoCheck(tid) << OFFSET_BITS) +
		ItemPointerGetOffsetNumberNoCheck(tid) - 1;
	uint32		len;
	char	   *bytes;

	if (at < 0 || at + (int64) sizeof(len) > log->size)
		elog(ERROR, "ctid of a foreign table's row is not one of its scan");
	if (log->file != NULL)
	{
		seek(log, at);
		read_file(log, &len, sizeof(len));
	}
	else
		memcpy(&len, log->memory + at, sizeof(len));
	bytes = MemoryContextAllocHuge(CurrentMemoryContext, Max(len, 1));
	if (log->file != NULL)
		read_file(log, bytes, len);
	else
		memcpy(bytes, log->memory + at + sizeof(len), len);
	return wc_slice(bytes, len);
}

void
wc_tidlog_close(WcTidLog *log)
{
	if (log->file != NULL)
		BufFileClose(log->file);
	log->file = NULL;
}
