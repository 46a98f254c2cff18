/*
 * fdw/row/rowid.c: ids of rows of a foreign table; reads a row by its id.
 */
#include "postgres.h"

#include "base/coding.h"
#include "fdw/row/rowid.h"

void
wc_rowid_of(const WcReader *reader, WcRowId *id)
{
	const WcCell *cell = wc_reader_cell(reader);

	memset(id, 0, sizeof(*id));
	id->row = wc_reader_row(reader);
	if (cell == NULL)
		return;
	id->family = cell->family;
	id->qualifier = cell->qualifier;
	id->ts = cell->ts;
}

void
wc_rowid_encode(const WcRelation *wrel, const WcRowId *id, WcBuf *out)
{
	wc_buf_append_bytes(out, id->row);
	if (wrel->layout == WC_LAYOUT_CELL)
	{
		wc_buf_append_u32(out, id->family);
		wc_buf_append_u64(out, (uint64) id->ts);
		wc_buf_append_bytes(out, id->qualifier);
	}
	if (out->failed)
		wc_raise_no_memory();
}

void
wc_rowid_decode(const WcRelation *wrel, WcSlice bytes, WcRowId *id)
{
	WcDecoder	d = wc_decoder(bytes);

	memset(id, 0, sizeof(*id));
	id->row = wc_decode_bytes(&d);
	if (wrel->layout == WC_LAYOUT_CELL)
	{
		id->family = wc_decode_u32(&d);
		id->ts = (int64) wc_decode_u64(&d);
		id->qualifier = wc_decode_bytes(&d);
	}
	if (!wc_decoder_done(&d))
		elog(ERROR, "malformed name of a row of foreign table \"%s\"", wrel->relname);
}

WcReader *
wc_rowid_reader(WcRelation *wrel)
{
	return wc_reader_create(wrel, bms_add_range(NULL, 0, Max(wrel->natts - 1, 0)), NULL, NIL, NIL, NIL);
}

bool
wc_rowid_read(WcRelation *wrel, WcReader *reader, const WcRowId *id, WcClientSnapshot *snapshot,
			  CommandId cid, Datum *values, bool *isnull)
{
	WcColumn	column = {.family = id->family,.kind = WC_COLUMN_EXACT,.qualifier = id->qualifier};
	WcRange		range = {.start = id->row,.stop = id->row,.start_inclusive = true,.stop_inclusive = true};
	WcClientScan *client_scan;
	WcScan		scan;
	bool		found;

	wc_reader_restart(reader);
	if (wrel->layout == WC_LAYOUT_CELL)
		wc_reader_select(reader, &column, 1);
	wc_reader_describe(reader, &scan);
	scan.nranges = 1;
	scan.ranges = &range;
	if (wrel->layout == WC_LAYOUT_CELL)
	{
		scan.filter_ts_min = id->ts;
		scan.filter_ts_max = id->ts + 1;
	}
	client_scan = wc_client_scan_open(&scan, snapshot, cid, 1, CurrentMemoryContext);
	found = wc_reader_next(reader, client_scan, values, isnull);
	wc_client_scan_close(client_scan);
	return found;
}
