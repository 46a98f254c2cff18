/*
 * client/ask.c: requests with one answer: administration, estimates, parts and samples of a range.
 */
#include "postgres.h"

#include "access/xact.h"

#include "client/catalog/catalog.h"

void
wc_client_work(WcClientWork work, const WcTableDesc *table, const WcFamilyDesc *family, bool wait)
{
	wc_xact_join();
	wc_driver()->work(work, table->id, family ? family->id : 0, wait, GetCurrentCommandId(false),
					  wc_client_clock_offset_us());
}

void
wc_client_compacting(const WcTableDesc *table, bool *minor, bool *major)
{
	wc_xact_join();
	wc_driver()->compacting(table->id, minor, major);
}

List *
wc_client_check_store(const WcTableDesc *table)
{
	List	   *problems = NIL;
	WcSlice		list;
	WcDecoder	d;

	wc_xact_join();
	wc_driver()->check_store(table ? table->id : 0, &list);
	d = wc_decoder(list);
	for (uint64 n = wc_decode_varint(&d); n > 0 && !d.failed; n--)
	{
		WcProblem  *problem = palloc(sizeof(WcProblem));
		WcSlice		text;

		problem->family = (uint32) wc_decode_varint(&d);
		text = wc_decode_bytes(&d);
		problem->text = wc_name_from_utf8(text);
		problems = lappend(problems, problem);
	}
	if (!wc_decoder_done(&d))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("list of problems of the store is malformed")));
	return problems;
}

bool
wc_client_estimates(const WcTableDesc *table)
{
	return (wc_driver_of(table->id)->features & WC_FEATURE_ESTIMATE) != 0;
}

void
wc_client_estimate(const WcTableDesc *table, const WcRange *range, const uint32 *families, uint32 nfamilies,
				   uint64 *bytes, uint64 *rows)
{
	*bytes = *rows = 0;
	if (!wc_client_estimates(table))
		return;
	wc_xact_join();
	wc_driver()->estimate(table->id, range, families, nfamilies, bytes, rows);
}

bool
wc_client_workers_may_read(void)
{
	return (wc_driver()->features & WC_FEATURE_SPLIT) != 0 && wc_batch_empty();
}

WcSlice *
wc_client_split(const WcTableDesc *table, const WcRange *range, const uint32 *families, uint32 nfamilies, int nparts,
				int *npoints)
{
	WcSlice    *points;
	WcSlice		list;
	WcDecoder	d;
	uint8	   *copy;

	wc_xact_join();
	wc_driver()->split(table->id, range, families, nfamilies, (uint32) nparts, &list);
	copy = palloc(list.len + 1);
	wc_slice_copy(copy, list);
	d = wc_decoder(wc_slice(copy, list.len));
	*npoints = (int) wc_decode_count(&d, WC_PARTS_MAX, 1);
	points = palloc(sizeof(WcSlice) * (*npoints + 1));
	for (int i = 0; i < *npoints; i++)
		points[i] = wc_decode_bytes(&d);
	if (!wc_decoder_done(&d))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("list of parts of a range is malformed")));
	return points;
}

WcSampleRange *
wc_client_sample(const WcTableDesc *table, const WcRange *range, int nranges, uint64 range_rows, uint64 seed,
				 int *nfound)
{
	WcSampleRange *ranges;
	WcSlice		list;
	WcDecoder	d;
	uint8	   *copy;

	if ((wc_driver_of(table->id)->features & WC_FEATURE_SAMPLE) == 0)
	{
		ranges = palloc0(sizeof(WcSampleRange));
		ranges->range = *range;
		ranges->weight = 1;
		*nfound = 1;
		return ranges;
	}
	if (table->id < WC_REMOTE_TABLE)
		wc_xact_join();
	wc_driver_of(table->id)->sample(table->id, range, (uint32) nranges, range_rows, seed, &list);
	copy = palloc(list.len + 1);
	wc_slice_copy(copy, list);
	d = wc_decoder(wc_slice(copy, list.len));
	*nfound = (int) wc_decode_count(&d, WC_RANGES_MAX, 3);
	ranges = palloc0(sizeof(WcSampleRange) * (*nfound + 1));
	for (int i = 0; i < *nfound; i++)
	{
		ranges[i].range.start = wc_decode_bytes(&d);
		ranges[i].range.stop = wc_decode_bytes(&d);
		ranges[i].range.start_inclusive = true;
		ranges[i].weight = (double) wc_decode_varint(&d) / 65536.0;
	}
	if (!wc_decoder_done(&d))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("list of ranges to sample is malformed")));
	return ranges;
}
