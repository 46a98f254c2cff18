/*
 * client/mutator.c: operations on rows, which go into the transaction's batch (txn/batch.c), or to the driver of another store.
 */
#include "postgres.h"

#include "base/clock.h"
#include "client/state.h"
#include "client/txn/txn.h"

static bool elsewhere;			/* the operation that was begun last is on a table outside the embedded engine */

WcBatchBuilder *
wc_client_write(const WcTableDesc *table)
{
	return wc_client_write_in_mode(table, WC_WRITE_AS_SERVER);
}

WcBatchBuilder *
wc_client_write_in_mode(const WcTableDesc *table, WcWriteMode mode)
{
	wc_client_require_writable();
	elsewhere = table->id >= WC_REMOTE_TABLE;
	if (unlikely(elsewhere))
		return wc_kept()->begin(table, mode);
	wc_lock_for_writing(table);
	return wc_batch_begin_rows(table->id);
}

void
wc_client_write_done(void)
{
	if (unlikely(elsewhere))
	{
		wc_kept()->done(wc_batch_bytes_max());
		return;
	}
	wc_batch_done();
}

void
wc_client_note_whole_row(const WcTableDesc *table, const WcScan *get)
{
	if (table->id < WC_REMOTE_TABLE)
		wc_own_note_whole_row(table, get);
}

bool
wc_client_acts_at_once(const WcTableDesc *table)
{
	const WcDriver *driver = wc_driver_of(table->id);

	return (driver->features & WC_FEATURE_ATOMIC) != 0 && driver->acts_at_once(table);
}

int64
wc_client_increment(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, int64 amount)
{
	wc_client_lock_row(table, row);
	return wc_driver_of(table->id)->increment(table, row, family, qualifier, amount);
}

WcSlice
wc_client_append(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, WcSlice more)
{
	WcSlice		value;
	uint8	   *copy;

	wc_client_lock_row(table, row);
	value = wc_driver_of(table->id)->append(table, row, family, qualifier, more);
	copy = palloc(value.len + 1);
	wc_slice_copy(copy, value);
	return wc_slice(copy, value.len);
}

void
wc_client_expect(const WcTableDesc *table, WcSlice row, uint32 family, WcSlice qualifier, WcSlice value)
{
	if (table->id >= WC_REMOTE_TABLE)
		wc_kept()->expect(table, row, family, qualifier, value, wc_batch_bytes_max());
}

bool
wc_client_ts_ahead(const WcTableDesc *table, int64 ts, int64 *after)
{
	if (table->id >= WC_REMOTE_TABLE)
		return wc_kept()->ts_ahead(table, ts, after);
	*after = ts < WC_TS_LATEST ? ts + 1 : ts;
	return ts >= wc_clock_wall_us();
}

void
wc_client_rouse(const WcTableDesc *table)
{
	const WcDriver *driver = wc_driver_of(table->id);

	if (driver->rouse != NULL)
		driver->rouse();
}
