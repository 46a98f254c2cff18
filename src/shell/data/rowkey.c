/*
 * shell/data/rowkey.c: row keys of foreign tables, from the values of key columns and back.
 *
 * These functions read no rows.  A foreign table's definition, which is in PostgreSQL's catalogs for every role, tells how
 * its keys are made; so no privilege is needed.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "parser/parse_coerce.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "client/foreign/foreign.h"
#include "fdw/relation/relation.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_row_key);
PG_FUNCTION_INFO_V1(widecol_row_key_parts);

/* Argument 0, a foreign table of layout row; to be closed. */
static WcRelation *
open_relation(FunctionCallInfo fcinfo)
{
	Oid			relid;
	Relation	rel;
	WcRelation *wrel;

	wc_arg_not_null(fcinfo, 0, "tab");
	relid = PG_GETARG_OID(0);
	LockRelationOid(relid, AccessShareLock);
	(void) wc_foreign_table_name(relid);	/* raises unless it is ours */
	if (wc_foreign_shows_cells(relid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("foreign table \"%s\" has layout cell: its row keys are not made of columns", get_rel_name(relid)),
				 errhint("Its column \"row\" is the key as it is.")));
	rel = relation_open(relid, NoLock);
	wrel = wc_relation_open(rel);
	relation_close(rel, NoLock);
	return wrel;
}

static int
count_parts(const WcRelation *wrel)
{
	return wrel->nkeys > 0 ? wrel->nkeys : 1;
}

/* The n-th column of the key: a part, or the raw key where there are no parts. */
static const WcRelColumn *
part_column(const WcRelation *wrel, int n)
{
	return &wrel->columns[wrel->nkeys > 0 ? wrel->keys[n] : wrel->raw_key];
}

static char *
part_names(const WcRelation *wrel)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < count_parts(wrel); i++)
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", NameStr(part_column(wrel, i)->name));
	return names.data;
}

/* A value as the column's type, as an INSERT would convert it.  Lives as long as estate. */
static Datum
convert(EState *estate, const WcRelation *wrel, const WcRelColumn *column, Oid type, Datum value)
{
	int16		length;
	bool		by_value;
	Node	   *expr;
	bool		isnull;

	if (type == column->type && column->typmod < 0)
		return value;
	get_typlenbyval(type, &length, &by_value);
	expr = (Node *) makeConst(type, -1, get_typcollation(type), length, value, false, by_value);
	expr = coerce_to_target_type(NULL, expr, type, column->type, column->typmod, COERCION_ASSIGNMENT,
								 COERCE_IMPLICIT_CAST, -1);
	if (expr == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("key column \"%s\" of foreign table \"%s\" is of type %s but the value is of type %s",
						NameStr(column->name), wrel->relname, format_type_be(column->type), format_type_be(type)),
				 errhint("You will need to cast the value.")));
	value = ExecEvalExprSwitchContext(ExecPrepareExpr((Expr *) expr, estate), GetPerTupleExprContext(estate), &isnull);
	if (isnull)
		elog(ERROR, "conversion of a value of key column \"%s\" of foreign table \"%s\" gave null", NameStr(column->name),
			 wrel->relname);
	return value;
}

/* The key of these values, one for each part. */
static Datum
make_key(WcRelation *wrel, const Datum *args, const Oid *types, const bool *nulls)
{
	EState	   *estate = CreateExecutorState();
	Datum	   *values = palloc0(sizeof(Datum) * wrel->natts);
	bool	   *isnull = palloc(sizeof(bool) * wrel->natts);
	WcBuf		key;
	Datum volatile result = (Datum) 0;

	memset(isnull, true, sizeof(bool) * wrel->natts);
	for (int i = 0; i < count_parts(wrel); i++)
	{
		const WcRelColumn *column = part_column(wrel, i);
		int			at = column->attnum - 1;

		isnull[at] = nulls[i];
		if (!nulls[i])
			values[at] = convert(estate, wrel, column, types[i], args[i]);
	}
	wc_buf_init(&key, WC_ROW_MAX);
	PG_TRY();
	{
		wc_relation_encode_key(wrel, values, isnull, &key);
		result = wc_bytea_datum(wc_buf_slice(&key));
	}
	PG_FINALLY();
	{
		wc_buf_free(&key);
	}
	PG_END_TRY();
	FreeExecutorState(estate);
	return result;
}

/* row_key(tab, VARIADIC key values): the bytes under which such a row is stored */
Datum
widecol_row_key(PG_FUNCTION_ARGS)
{
	WcRelation *wrel = open_relation(fcinfo);
	Datum	   *args;
	Oid		   *types;
	bool	   *nulls;
	int			n = extract_variadic_args(fcinfo, 1, false, &args, &types, &nulls);
	Datum		key;

	if (n != count_parts(wrel))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("wrong number of values for a row key of foreign table \"%s\": %d", wrel->relname, Max(n, 0)),
				 errdetail("Parts of the key: %s.", part_names(wrel))));
	key = make_key(wrel, args, types, nulls);
	wc_relation_close(wrel);
	return key;
}

/* row_key_parts(tab, row): a record of the key's columns; of a hashed part the original is not
 * in the key, and is NULL */
Datum
widecol_row_key_parts(PG_FUNCTION_ARGS)
{
	WcRelation *wrel = open_relation(fcinfo);
	WcCodecWhere where = {.table = wrel->relname,.row = wc_arg_row(fcinfo, 1)};
	int			n = count_parts(wrel);
	Datum	   *values = palloc0(sizeof(Datum) * wrel->natts);
	bool	   *isnull = palloc(sizeof(bool) * wrel->natts);
	Datum	   *parts = palloc(sizeof(Datum) * n);
	bool	   *nulls = palloc(sizeof(bool) * n);
	TupleDesc	desc = CreateTemplateTupleDesc(n);
	HeapTuple	tuple;

	memset(isnull, true, sizeof(bool) * wrel->natts);
	wc_relation_decode_key(wrel, &where, NULL, values, isnull);
	for (int i = 0; i < n; i++)
	{
		const WcRelColumn *column = part_column(wrel, i);

		TupleDescInitEntry(desc, (AttrNumber) (i + 1), NameStr(column->name), column->type, column->typmod, 0);
		TupleDescInitEntryCollation(desc, (AttrNumber) (i + 1), column->collation);
		parts[i] = values[column->attnum - 1];
		nulls[i] = isnull[column->attnum - 1];
	}
	tuple = heap_form_tuple(BlessTupleDesc(desc), parts, nulls);
	wc_relation_close(wrel);
	PG_RETURN_DATUM(HeapTupleGetDatum(tuple));
}
