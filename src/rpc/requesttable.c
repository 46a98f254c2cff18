/*
 * rpc/requesttable.c: requests about tables as a whole, and about the engine.
 */
#include "rpc/request.h"

#include <inttypes.h>

WcStatus
wc_request_describe(WcDispatch *d, WcSlice body, WcError *err)
{
	WcSlice		ns,
				name;
	WcStatus	status = wc_message_name_decode(body, &ns, &name, err);

	if (status != WC_OK)
		return status;
	return wc_engine_describe(d->session.engine, d->session.database, wc_session_txn(&d->session),
							  ns, name, &d->out, err);
}

WcStatus
wc_request_new_table_id(WcDispatch *d)
{
	wc_buf_append_varint(&d->out, wc_engine_new_table_id(d->session.engine));
	return WC_OK;
}

WcStatus
wc_request_table_work(WcDispatch *d, uint8_t type, WcSlice body, WcError *err)
{
	WcTableMessage m;
	WcReadPoint at;
	WcWork		work;
	WcStatus	status = wc_message_table_decode(body, &m, err);

	if (status != WC_OK)
		return status;
	wc_activity_table(&d->session.activity, m.table_id);
	at = wc_request_read_point(d, NULL, m.cid, m.clock_offset_us);
	(void) wc_epochs_tidy(d->session.epochs);
	work.kind = type == WC_MSG_FLUSH ? WC_WORK_FLUSH : m.major ? WC_WORK_MAJOR : WC_WORK_COMPACT;
	work.table_id = m.table_id;
	work.family_id = m.family_id;
	if (m.later)
		return wc_engine_work_later(d->session.engine, &work, &at, err);
	return wc_engine_work(d->session.engine, &work, &at, err);
}

WcStatus
wc_request_compacting(WcDispatch *d, WcSlice body, WcError *err)
{
	uint64_t	table_id;
	uint64_t	numbers[2];
	bool		minor;
	bool		major;
	WcStatus	status = wc_message_numbers_decode(body, &table_id, 1, err);

	if (status != WC_OK)
		return status;
	wc_engine_compacting(d->session.engine, (uint32_t) table_id, &minor, &major);
	numbers[0] = minor;
	numbers[1] = major;
	wc_message_numbers_encode(&d->out, numbers, 2);
	return WC_OK;
}

WcStatus
wc_request_check_store(WcDispatch *d, WcSlice body, WcError *err)
{
	uint64_t	table_id;
	WcStatus	status = wc_message_numbers_decode(body, &table_id, 1, err);

	if (status != WC_OK)
		return status;
	return wc_engine_inspect(d->session.engine, d->session.database, (uint32_t) table_id, d->session.cancel, &d->out, err);
}

WcStatus
wc_request_estimate(WcDispatch *d, WcSlice body, WcError *err)
{
	WcEstimateMessage m;
	uint64_t	numbers[2];
	WcStatus	status = wc_message_estimate_decode(body, &d->arena, &m, err);

	if (status == WC_OK)
		wc_activity_table(&d->session.activity, m.table_id);
	if (status == WC_OK)
		status = wc_engine_estimate(d->session.engine, m.table_id, &m.range, m.families, m.nfamilies,
									&numbers[0], &numbers[1], err);
	if (status == WC_OK)
		wc_message_numbers_encode(&d->out, numbers, 2);
	return status;
}

WcStatus
wc_request_split(WcDispatch *d, WcSlice body, WcError *err)
{
	WcSplitMessage m;
	WcSplitRequest request = {0};
	WcStatus	status = wc_message_split_decode(body, &d->arena, &m, err);

	if (status != WC_OK)
		return status;
	wc_activity_table(&d->session.activity, m.range.table_id);
	request.table_id = m.range.table_id;
	request.range = m.range.range;
	request.nfamilies = m.range.nfamilies;
	request.families = m.range.families;
	request.nparts = m.nparts;
	return wc_engine_split(d->session.engine, &request, d->session.cancel, &d->out, err);
}

WcStatus
wc_request_sample(WcDispatch *d, WcSlice body, WcError *err)
{
	WcSampleMessage m;
	WcSampleRequest request;
	WcStatus	status = wc_message_sample_decode(body, &m, err);

	if (status != WC_OK)
		return status;
	wc_activity_table(&d->session.activity, m.table_id);
	request.table_id = m.table_id;
	request.range = m.range;
	request.nranges = m.nranges;
	request.range_rows = m.range_rows;
	request.seed = m.seed;
	return wc_engine_sample(d->session.engine, &request, d->session.cancel, &d->out, err);
}

WcStatus
wc_request_statistics(WcDispatch *d, WcSlice body, WcError *err)
{
	uint64_t	view;
	WcStatus	status = wc_message_numbers_decode(body, &view, 1, err);

	if (status == WC_OK && (view < WC_STATISTICS_ENGINE || view > WC_STATISTICS_RESET))
		status = wc_error(err, WC_CORRUPT, "unknown view of statistics %" PRIu64, view);
	if (status == WC_OK)
		status = d->statistics.rows(d->statistics.arg, (uint8_t) view, d->session.database, &d->out, err);
	return status;
}
