/*
 * client/local/localask.c: requests to the embedded engine that need one answer: the catalog,
 * administration, estimates.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "channel/flight.h"
#include "client/local/local.h"

bool
wc_local_describe(Oid server, WcSlice ns, WcSlice name, WcSlice *desc)
{
	WcFrameReader *frame;
	WcError		err;

	wc_following_await_all(MyDatabaseId);
	wc_message_name_encode(wc_local_begin(), ns, name);
	frame = wc_local_await(wc_connection_send(WC_MSG_DESCRIBE, 0, WC_SEND_NOW));
	if (frame->header.type == WC_MSG_ERROR && !frame->dropped)
	{
		wc_message_error_decode(wc_buf_slice(&frame->body), &err);
		if (err.status == WC_NO_TABLE)
			return false;
	}
	*desc = wc_local_payload(frame);
	return true;
}

void
wc_local_list_tables(Oid server, bool all_databases, WcSlice *list)
{
	wc_following_await_all(all_databases ? InvalidOid : MyDatabaseId);
	(void) wc_local_begin();
	*list = wc_local_payload(wc_local_await(wc_connection_send(WC_MSG_LIST_TABLES, all_databases ? WC_FLAG_ALL : 0,
															   WC_SEND_NOW)));
}

void
wc_local_list_namespaces(Oid server, WcSlice *list)
{
	wc_following_await_all(MyDatabaseId);
	(void) wc_local_begin();
	*list = wc_local_ask(WC_MSG_LIST_NAMESPACES, WC_SEND_NOW);
}

uint32
wc_local_new_table_id(void)
{
	WcError		err;
	uint64		id;

	(void) wc_local_begin();
	wc_local_txn.in_use = wc_local_txn.has_ids = true;
	if (wc_message_numbers_decode(wc_local_ask(WC_MSG_NEW_TABLE_ID, WC_SEND_NOW), &id, 1, &err) != WC_OK)
		wc_raise(&err);
	return (uint32) id;
}

void
wc_local_work(WcClientWork work, uint32 table_id, uint32 family, bool wait, CommandId cid, int64 clock_offset_us)
{
	WcTableMessage m = {table_id, family, work == WC_CLIENT_MAJOR_COMPACT, !wait, cid, clock_offset_us};

	wc_following_await_all(MyDatabaseId);
	wc_message_table_encode(wc_local_begin(), &m);
	(void) wc_local_ask(work == WC_CLIENT_FLUSH ? WC_MSG_FLUSH : WC_MSG_COMPACT, WC_SEND_NOW);
}

void
wc_local_compacting(uint32 table_id, bool *minor, bool *major)
{
	uint64		number = table_id;
	uint64_t	numbers[2];
	WcError		err;

	wc_message_numbers_encode(wc_local_begin(), &number, 1);
	if (wc_message_numbers_decode(wc_local_ask(WC_MSG_COMPACTING, WC_SEND_NOW), numbers, 2, &err) != WC_OK)
		wc_raise(&err);
	*minor = numbers[0] != 0;
	*major = numbers[1] != 0;
}

void
wc_local_check_store(uint32 table_id, WcSlice *problems)
{
	uint64		number = table_id;

	wc_following_await_all(MyDatabaseId);
	wc_message_numbers_encode(wc_local_begin(), &number, 1);
	*problems = wc_local_ask(WC_MSG_CHECK_STORE, WC_SEND_NOW);
}

void
wc_local_estimate(uint32 table_id, const WcRange *range, const uint32 *families, uint32 nfamilies,
				  uint64 *bytes, uint64 *rows)
{
	WcEstimateMessage m = {table_id, *range, nfamilies, families};
	uint64_t	numbers[2];
	WcError		err;

	wc_following_await_all(MyDatabaseId);
	wc_message_estimate_encode(wc_local_begin(), &m);
	if (wc_message_numbers_decode(wc_local_ask(WC_MSG_ESTIMATE, WC_SEND_NOW), numbers, 2, &err) != WC_OK)
		wc_raise(&err);
	*bytes = numbers[0];
	*rows = numbers[1];
}

void
wc_local_split(uint32 table_id, const WcRange *range, const uint32 *families, uint32 nfamilies, uint32 nparts,
			   WcSlice *points)
{
	WcSplitMessage m = {{table_id, *range, nfamilies, families}, nparts};

	wc_message_split_encode(wc_local_begin(), &m);
	*points = wc_local_ask(WC_MSG_SPLIT, WC_SEND_NOW);
}

void
wc_local_sample(uint32 table_id, const WcRange *range, uint32 nranges, uint64 range_rows, uint64 seed, WcSlice *ranges)
{
	WcSampleMessage m = {table_id, *range, nranges, range_rows, seed};

	wc_following_await_all(MyDatabaseId);
	wc_message_sample_encode(wc_local_begin(), &m);
	*ranges = wc_local_ask(WC_MSG_SAMPLE, WC_SEND_NOW);
}

/* Does not wait for commits in flight: statistics are needed most when the engine applies too slowly. */
void
wc_local_statistics(uint8 view, WcSlice *rows)
{
	uint64_t	number = view;

	wc_message_numbers_encode(wc_local_begin(), &number, 1);
	*rows = wc_local_ask(WC_MSG_STATISTICS, WC_SEND_NOW);
}
