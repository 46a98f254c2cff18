/*
 * hbase/changes/changes.c: the changes of rows that the transaction has made, until they are sent.
 */
#include "hbase/changes/changes.h"

#include <sys/stat.h>

#include "common/file_perm.h"
#include "common/file_utils.h"	/* PG_TEMP_FILES_DIR, since 17 */
#include "storage/fd.h"

#include "base/clock.h"
#include "read/txn/txn.h"

/* In the data directory, which is a backend's current directory. */
static const WcTxnSpill spill = {.directory = "base/" PG_TEMP_FILES_DIR,.memory = WC_TXN_MEMORY};

/* A stream of changes. */
typedef struct Changes
{
	WcTxn	   *txn;			/* its bytes that have not been sent; NULL until the session's first change */
	uint64		sent;			/* bytes that have been sent, and are not in txn */
	uint64		length;			/* with those; what txn has behind it has been rolled back */
} Changes;

static Changes streams[WC_HBASE_STREAMS];
static bool dated;				/* see wc_hbase_changes_note_dated */
static int64 provisional_from;	/* provisional timestamps that were shown are from this on ... */
static int64 provisional_to;	/* ... to about this; 0: none was shown */

/* --- the streams --------------------------------------------------------------*/

static void
make_txn(Changes *changes, uint64 bytes_max)
{
	WcError		err;

	if (changes->txn != NULL)
	{
		wc_txn_limit(changes->txn, bytes_max);
		return;
	}
	if (MakePGDirectory(spill.directory) < 0 && errno != EEXIST)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create directory \"%s\": %m", spill.directory)));
	if (wc_txn_create(InvalidOid, bytes_max, &changes->txn, &err) != WC_OK)
		wc_hbase_raise(&err);
	wc_txn_spill_into(changes->txn, &spill);
}

/* The changes that have not been sent; NULL: there are none. */
static WcTxn *
unsent(Changes *changes)
{
	uint64		bytes = changes->length - changes->sent;
	WcError		err;

	if (bytes == 0)
		return NULL;
	if (wc_txn_length(changes->txn) > bytes && wc_txn_cut(changes->txn, bytes, &err) != WC_OK)
		wc_hbase_raise(&err);
	return changes->txn;
}

bool
wc_hbase_changes_touch(WcHBaseStream stream, uint32 table_id, CommandId cid)
{
	WcTxn	   *txn = unsent(&streams[stream]);

	return txn != NULL && wc_txn_touches(txn, table_id, cid);
}

void
wc_hbase_changes_append(WcHBaseStream stream, WcSlice operation, uint64 bytes_max)
{
	Changes    *changes = &streams[stream];
	uint64		bytes = changes->length - changes->sent;
	WcError		err;

	if (bytes + operation.len > bytes_max)
		wc_hbase_too_large(bytes + operation.len);
	make_txn(changes, bytes_max);
	if (wc_txn_append(changes->txn, bytes, operation, &err) != WC_OK)
		wc_hbase_raise(&err);
	changes->length += operation.len;
}

WcTxn *
wc_hbase_changes_unsent(WcHBaseStream stream)
{
	return unsent(&streams[stream]);
}

WcTxn *
wc_hbase_changes_of(uint32 table_id, CommandId cid)
{
	/* all of a table are in one stream */
	for (int i = 0; i < WC_HBASE_STREAMS; i++)
	{
		if (wc_hbase_changes_touch(i, table_id, cid))
			return streams[i].txn;
	}
	return NULL;
}

void
wc_hbase_changes_note_dated(void)
{
	dated = true;
}

bool
wc_hbase_changes_are_dated(void)
{
	return dated;
}

bool
wc_hbase_changes_row(uint32 table_id, WcSlice row)
{
	WcTxn	   *txn = wc_hbase_changes_of(table_id, InvalidCommandId);
	WcTxnSorted sorted;
	WcError		err;
	size_t		lo = 0;
	size_t		hi;

	if (txn == NULL)
		return false;
	if (wc_txn_sorted(txn, &sorted, &err) != WC_OK)
		wc_hbase_raise(&err);
	hi = sorted.n;
	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;
		const WcTxnEntry *entry = wc_txnsorted_at(&sorted, mid);

		if (entry->table_id < table_id || (entry->table_id == table_id && wc_slice_cmp(wc_txnentry_row(entry), row) < 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < sorted.n && wc_txnsorted_at(&sorted, lo)->table_id == table_id &&
		wc_slice_eq(wc_txnentry_row(wc_txnsorted_at(&sorted, lo)), row);
}

/* --- their ends -----------------------------------------------------------------*/

uint64
wc_hbase_changes_length(WcHBaseStream stream)
{
	return streams[stream].length;
}

/* A txn is cut by what comes next: a subtransaction's abort must not fail. */
bool
wc_hbase_changes_cut(WcHBaseStream stream, uint64 length)
{
	Changes    *changes = &streams[stream];

	changes->length = Max(changes->sent, Min(changes->length, length));
	return changes->length <= length;
}

void
wc_hbase_changes_sent(WcHBaseStream stream)
{
	Changes    *changes = &streams[stream];

	changes->sent = changes->length;
	wc_txn_reset(changes->txn);
}

static void
forget(Changes *changes)
{
	if (changes->txn != NULL && wc_txn_length(changes->txn) > WC_TXN_MEMORY)
	{
		/* its lists of operations are large, too */
		wc_txn_destroy(changes->txn);
		changes->txn = NULL;
	}
	else if (changes->txn != NULL)
		wc_txn_reset(changes->txn);
	changes->sent = changes->length = 0;
}

void
wc_hbase_changes_forget(void)
{
	for (int i = 0; i < WC_HBASE_STREAMS; i++)
		forget(&streams[i]);
	provisional_to = 0;
	dated = false;
}

/* --- timestamps -------------------------------------------------------------------*/

int64
wc_hbase_latest(const WcHBaseServer *server)
{
	int64		ms = wc_clock_wall_us() / WC_HBASE_US_PER_MS + WC_HBASE_CLOCKS_MS;

	return server->options.raw_timestamps ? ms : ms * WC_HBASE_US_PER_MS;
}

int64
wc_hbase_provisional_ts(const WcHBaseServer *server)
{
	/* not a whole millisecond */
	int64		ts = wc_hbase_latest(server) + (server->options.raw_timestamps ? 0 : 1);

	if (provisional_to == 0)
		provisional_from = ts;
	provisional_to = ts + WC_HBASE_CLOCKS_MS;
	return ts;
}

bool
wc_hbase_ts_was_shown(int64 ts)
{
	return provisional_to != 0 && ts >= provisional_from && ts <= provisional_to;
}
