/*
 * shell/admin.c: flush, compaction.
 */
#include "postgres.h"

#include "fmgr.h"

#include "client/owner.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_flush);
PG_FUNCTION_INFO_V1(widecol_compact);
PG_FUNCTION_INFO_V1(widecol_major_compact);

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
