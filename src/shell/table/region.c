/*
 * shell/table/region.c: regions, the parts of a stored table between its split points.
 *
 * There is one embedded engine, so its regions are notes: split points say where a user thinks of the
 * table as parted.  Those of HBase are on its servers.  They belong to the stored table's owner (client/catalog/owner.h), changes to the
 * transaction.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "base/printable.h"
#include "client/catalog/owner.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_regions);
PG_FUNCTION_INFO_V1(widecol_get_splits);
PG_FUNCTION_INFO_V1(widecol_split);
PG_FUNCTION_INFO_V1(widecol_merge_regions);

/* Of a row key in a message. */
#define SHOWN_MAX 128

/* name, server: the table with its split points. */
static WcTableDesc *
open_mine(FunctionCallInfo fcinfo, WcClientStore *store)
{
	WcTableDesc *desc;

	if (!wc_client_store_is_embedded(store))
		wc_owner_require_usage(store);
	desc = wc_client_store_table(store, wc_arg_cstring(fcinfo, 0), false);
	if (wc_client_store_is_embedded(store))
		wc_owner_require(desc, NULL);
	wc_client_store_read_splits(store, desc);
	return desc;
}

/* regions(name, server): start_row, end_row, rows, bytes; one more than there are split points.  HBase does not tell
 * sizes. */
Datum
widecol_regions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	WcClientStore *store = wc_arg_store(fcinfo, 1);
	WcTableDesc *desc;

	InitMaterializedSRF(fcinfo, 0);
	desc = open_mine(fcinfo, store);
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
		nulls[2] = nulls[3] = !wc_client_estimates(desc);
		values[0] = wc_bytea_datum(range.start);
		values[1] = wc_bytea_datum(range.stop);
		values[2] = Int64GetDatum((int64) rows);
		values[3] = Int64GetDatum((int64) bytes);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* get_splits(name, server): the split points, ascending */
Datum
widecol_get_splits(PG_FUNCTION_ARGS)
{
	WcTableDesc *desc = open_mine(fcinfo, wc_arg_store(fcinfo, 1));
	Datum	   *splits = palloc(sizeof(Datum) * Max(desc->nsplits, 1));

	for (uint32 i = 0; i < desc->nsplits; i++)
		splits[i] = wc_bytea_datum(desc->splits[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(splits, (int) desc->nsplits, BYTEAOID, -1, false, TYPALIGN_INT));
}

/* The place of a split point, or the one that it would have. */
static uint32
find_split(const WcTableDesc *desc, WcSlice key, bool *found)
{
	uint32		i = 0;

	while (i < desc->nsplits && wc_slice_cmp(desc->splits[i], key) < 0)
		i++;
	*found = i < desc->nsplits && wc_slice_eq(desc->splits[i], key);
	return i;
}

static WcSlice
split_point_arg(FunctionCallInfo fcinfo, int argno)
{
	wc_arg_not_null(fcinfo, argno, "split_point");
	return wc_row_check(wc_arg_bytes(fcinfo, argno));
}

/* split(name, split_point): a split point more */
Datum
widecol_split(PG_FUNCTION_ARGS)
{
	WcTableDesc *desc;
	WcSlice		key = split_point_arg(fcinfo, 1);
	WcSlice    *splits;
	char		shown[SHOWN_MAX];
	bool		found;
	uint32		at;

	desc = wc_owner_open_name(wc_client_embedded(), wc_arg_name(fcinfo, 0, "name"));
	at = find_split(desc, key, &found);
	if (found)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("stored table \"%s\" is split at \"%s\" already", wc_client_table_fullname(desc),
						wc_printable(shown, sizeof(shown), key))));
	if (desc->nsplits >= WC_SPLITS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many split points"),
				 errdetail("There are %u; the limit is %d.", desc->nsplits, WC_SPLITS_MAX)));
	splits = palloc(sizeof(WcSlice) * (desc->nsplits + 1));
	for (uint32 i = 0; i <= desc->nsplits; i++)
		splits[i] = i == at ? key : desc->splits[i - (i > at)];
	desc->splits = splits;
	desc->nsplits++;
	wc_client_alter_table(desc);
	PG_RETURN_VOID();
}

/* merge_regions(name, split_point): the two regions beside it become one */
Datum
widecol_merge_regions(PG_FUNCTION_ARGS)
{
	WcTableDesc *desc;
	WcSlice		key = split_point_arg(fcinfo, 1);
	char		shown[SHOWN_MAX];
	bool		found;
	uint32		at;

	desc = wc_owner_open_name(wc_client_embedded(), wc_arg_name(fcinfo, 0, "name"));
	at = find_split(desc, key, &found);
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("stored table \"%s\" is not split at \"%s\"", wc_client_table_fullname(desc),
						wc_printable(shown, sizeof(shown), key)),
				 errhint("widecol.get_splits lists its split points.")));
	memmove(&desc->splits[at], &desc->splits[at + 1], sizeof(WcSlice) * (desc->nsplits - at - 1));
	desc->nsplits--;
	wc_client_alter_table(desc);
	PG_RETURN_VOID();
}
