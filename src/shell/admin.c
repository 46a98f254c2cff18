/*
 * shell/admin.c: flush, compaction, regions.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "client/owner.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_flush);
PG_FUNCTION_INFO_V1(widecol_compact);
PG_FUNCTION_INFO_V1(widecol_major_compact);
PG_FUNCTION_INFO_V1(widecol_regions);

static WcTableDesc *
open_administered(FunctionCallInfo fcinfo)
{
	WcTableDesc *desc = wc_client_table(wc_arg_cstring(fcinfo, 0), false);

	wc_owner_require(desc, NULL);
	return desc;
}

Datum
widecol_flush(PG_FUNCTION_ARGS)
{
	wc_client_flush(open_administered(fcinfo));
	PG_RETURN_VOID();
}

Datum
widecol_compact(PG_FUNCTION_ARGS)
{
	wc_client_compact(open_administered(fcinfo), false);
	PG_RETURN_VOID();
}

Datum
widecol_major_compact(PG_FUNCTION_ARGS)
{
	wc_client_compact(open_administered(fcinfo), true);
	PG_RETURN_VOID();
}

static Datum
bytea_of(WcSlice s)
{
	bytea	   *result = palloc(VARHDRSZ + s.len);

	SET_VARSIZE(result, VARHDRSZ + s.len);
	wc_slice_copy(VARDATA(result), s);
	return PointerGetDatum(result);
}

/* start_row, end_row, rows, bytes; one more than there are split points. */
Datum
widecol_regions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	WcTableDesc *desc;

	InitMaterializedSRF(fcinfo, 0);
	desc = open_administered(fcinfo);
	for (uint32 i = 0; i <= desc->nsplits; i++)
	{
		WcRange		range = {.start_inclusive = true};
		uint64		bytes;
		uint64		rows;
		Datum		values[4];
		bool		nulls[4] = {false};

		if (i > 0)
			range.start = desc->splits[i - 1];
		if (i < desc->nsplits)
			range.stop = desc->splits[i];
		wc_client_estimate(desc, &range, NULL, 0, &bytes, &rows);
		values[0] = bytea_of(range.start);
		values[1] = bytea_of(range.stop);
		values[2] = Int64GetDatum((int64) rows);
		values[3] = Int64GetDatum((int64) bytes);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
