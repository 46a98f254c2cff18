/*
 * shell/table/work.c: flush, compaction, checking.  They take the stored table's owner
 * (client/catalog/owner.h); checking all of them takes a superuser.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "client/catalog/owner.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_flush);
PG_FUNCTION_INFO_V1(widecol_compact);
PG_FUNCTION_INFO_V1(widecol_major_compact);
PG_FUNCTION_INFO_V1(widecol_compaction_state);
PG_FUNCTION_INFO_V1(widecol_check_store);

static WcTableDesc *
open_administered(FunctionCallInfo fcinfo)
{
	WcTableDesc *desc;

	wc_arg_not_null(fcinfo, 0, "name");
	desc = wc_client_table(wc_arg_cstring(fcinfo, 0), false);
	wc_owner_require(desc, NULL);
	return desc;
}

/* name, family, wait */
static Datum
work(FunctionCallInfo fcinfo, WcClientWork kind)
{
	WcTableDesc *desc = open_administered(fcinfo);
	const WcFamilyDesc *family = PG_ARGISNULL(1) ? NULL : wc_family_lookup(desc, wc_arg_cstring(fcinfo, 1));

	wc_client_work(kind, desc, family, PG_ARGISNULL(2) || PG_GETARG_BOOL(2));
	PG_RETURN_VOID();
}

/* flush(name, family, wait) */
Datum
widecol_flush(PG_FUNCTION_ARGS)
{
	return work(fcinfo, WC_CLIENT_FLUSH);
}

/* compact(name, family, wait) */
Datum
widecol_compact(PG_FUNCTION_ARGS)
{
	return work(fcinfo, WC_CLIENT_COMPACT);
}

/* major_compact(name, family, wait) */
Datum
widecol_major_compact(PG_FUNCTION_ARGS)
{
	return work(fcinfo, WC_CLIENT_MAJOR_COMPACT);
}

/* compaction_state(name): HBase's names */
Datum
widecol_compaction_state(PG_FUNCTION_ARGS)
{
	bool		minor;
	bool		major;

	wc_client_compacting(open_administered(fcinfo), &minor, &major);
	PG_RETURN_TEXT_P(cstring_to_text(minor && major ? "MAJOR_AND_MINOR" : major ? "MAJOR" : minor ? "MINOR" : "NONE"));
}

/* Problems of a table, or (NULL) of the catalog. */
static void
return_problems(ReturnSetInfo *rsinfo, const WcTableDesc *desc)
{
	ListCell   *lc;

	foreach(lc, wc_client_check_store(desc))
	{
		const WcProblem *problem = lfirst(lc);
		const WcFamilyDesc *family = desc ? wc_table_desc_family_by_id(desc, problem->family) : NULL;
		Datum		values[3] = {0};
		bool		nulls[3] = {desc == NULL, family == NULL, false};

		if (desc != NULL)
			values[0] = CStringGetTextDatum(wc_client_table_fullname(desc));
		if (family != NULL)
			values[1] = CStringGetTextDatum(wc_name_from_utf8(family->name));
		values[2] = CStringGetTextDatum(problem->text);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

/* check_store(name): a row a problem; NULL: of the catalog and all tables of this database */
Datum
widecol_check_store(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	if (!PG_ARGISNULL(0))
	{
		return_problems(rsinfo, open_administered(fcinfo));
		return (Datum) 0;
	}
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to check all stored tables"),
				 errhint("The owner of a stored table can check that by its name.")));
	return_problems(rsinfo, NULL);
	foreach(lc, wc_client_list_tables())
		return_problems(rsinfo, lfirst(lc));
	return (Datum) 0;
}
