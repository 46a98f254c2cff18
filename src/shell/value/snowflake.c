/*
 * shell/value/snowflake.c: ids that grow with time but are spread over partitions.
 *
 * An id is a bigint: 1 bit 0, 6 bits partition (the minute of the hour or the
 * second of the minute: 0 .. 59), 32 bits seconds since 1970, 9 bits worker, 16
 * bits sequence.  In the order of ids a time is a range in each partition:
 * snowflake_within is written out as these when it is asked of a key column.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "client/foreign/foreign.h"
#include "client/settings.h"
#include "shell/shell.h"

PG_FUNCTION_INFO_V1(widecol_snowflake_id);
PG_FUNCTION_INFO_V1(widecol_snowflake_time);
PG_FUNCTION_INFO_V1(widecol_snowflake_first);
PG_FUNCTION_INFO_V1(widecol_snowflake_within);
PG_FUNCTION_INFO_V1(widecol_snowflake_support);

#define PARTITIONS		60
#define PARTITION_SHIFT	57
#define SECONDS_SHIFT	25
#define SECONDS_MAX		((INT64CONST(1) << 32) - 1)
#define WORKER_SHIFT	16

#define EPOCH_SECONDS	((POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) SECS_PER_DAY)

/* --- ids ------------------------------------------------------------------------- */

static int64
partition_of(const char *name, int64 seconds)
{
	if (strcmp(name, "minute") == 0)
		return seconds / 60 % 60;
	if (strcmp(name, "second") == 0)
		return seconds % 60;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid partition \"%s\"", name),
			 errhint("Valid partitions are: minute, second.")));
	return 0;					/* not reached */
}

Datum
widecol_snowflake_id(PG_FUNCTION_ARGS)
{
	char	   *name = wc_arg_cstring(fcinfo, 0);
	uint64		moment;
	int64		seconds;

	(void) partition_of(name, 0);
	moment = wc_client_unique_moment();
	seconds = (int64) (moment >> WC_MOMENT_BITS);
	if (seconds > SECONDS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("the clock is behind the last second an id can have")));
	PG_RETURN_INT64((partition_of(name, seconds) << PARTITION_SHIFT) | (seconds << SECONDS_SHIFT) |
					((int64) wc_worker_id << WORKER_SHIFT) | (int64) (moment & ((1 << WC_MOMENT_BITS) - 1)));
}

Datum
widecol_snowflake_time(PG_FUNCTION_ARGS)
{
	int64		seconds = (PG_GETARG_INT64(0) >> SECONDS_SHIFT) & SECONDS_MAX;

	PG_RETURN_TIMESTAMPTZ((seconds - EPOCH_SECONDS) * USECS_PER_SEC);
}

/* The first second not before a time that ids can hold; SECONDS_MAX + 1: none. */
static int64
second_of(TimestampTz time)
{
	int64		seconds;

	if (TIMESTAMP_IS_NOBEGIN(time))
		return 0;
	if (TIMESTAMP_IS_NOEND(time))
		return SECONDS_MAX + 1;
	seconds = time / USECS_PER_SEC + (time % USECS_PER_SEC > 0) + EPOCH_SECONDS;
	return Min(Max(seconds, 0), SECONDS_MAX + 1);
}

static int64
first_id(int partition, TimestampTz time)
{
	return ((int64) partition << PARTITION_SHIFT) + (second_of(time) << SECONDS_SHIFT);
}

Datum
widecol_snowflake_first(PG_FUNCTION_ARGS)
{
	int32		partition = PG_GETARG_INT32(0);

	if (partition < 0 || partition >= PARTITIONS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid partition %d", partition),
				 errdetail("It must be between 0 and %d.", PARTITIONS - 1)));
	PG_RETURN_INT64(first_id(partition, PG_GETARG_TIMESTAMPTZ(1)));
}

Datum
widecol_snowflake_within(PG_FUNCTION_ARGS)
{
	int64		id = PG_GETARG_INT64(0);
	int64		seconds = (id >> SECONDS_SHIFT) & SECONDS_MAX;
	int64		partition = id >> PARTITION_SHIFT;

	PG_RETURN_BOOL(partition >= 0 && partition < PARTITIONS &&
				   seconds >= second_of(PG_GETARG_TIMESTAMPTZ(1)) && seconds < second_of(PG_GETARG_TIMESTAMPTZ(2)));
}

/* --- a condition as ranges --------------------------------------------------------- */

/* Is it a column that is a part of a row key?  Elsewhere ranges are of no use. */
static bool
is_key_column(const PlannerInfo *root, const Node *expr)
{
	const Var  *var = (const Var *) expr;
	const RangeTblEntry *rte;
	ListCell   *lc;

	if (root == NULL || !IsA(expr, Var) || var->varlevelsup != 0 || IS_SPECIAL_VARNO(var->varno) || var->varattno <= 0)
		return false;
	rte = rt_fetch(var->varno, root->parse->rtable);
	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_FOREIGN_TABLE || !wc_foreign_is_widecol(rte->relid))
		return false;
	foreach(lc, GetForeignColumnOptions(rte->relid, var->varattno))
	{
		if (strcmp(lfirst_node(DefElem, lc)->defname, "rowkey") == 0)
			return true;
	}
	return false;
}

/* The first id of a partition that is not before a time, as an expression. */
static Expr *
first_id_expr(Oid function, int partition, Node *time)
{
	Const	   *number;

	if (IsA(time, Const))
		return (Expr *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
								  Int64GetDatum(first_id(partition, DatumGetTimestampTz(((Const *) time)->constvalue))),
								  false, FLOAT8PASSBYVAL);
	number = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(partition), false, true);
	return (Expr *) makeFuncExpr(function, INT8OID, list_make2(number, copyObject(time)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static Expr *
comparison(int16 strategy, Node *id, Expr *bound)
{
	TypeCacheEntry *type = lookup_type_cache(INT8OID, TYPECACHE_BTREE_OPFAMILY);
	Oid			opno = get_opfamily_member(type->btree_opf, INT8OID, INT8OID, strategy);
	Expr	   *op = make_opclause(opno, BOOLOID, false, (Expr *) copyObject(id), bound, InvalidOid, InvalidOid);

	set_opfuncid((OpExpr *) op);
	return op;
}

/*
 * snowflake_first beside this function.  InvalidOid when the two are not the
 * extension's: its support function may stand at another function, too.
 */
static Oid
find_first(Oid within)
{
	Oid			types[2] = {INT4OID, TIMESTAMPTZOID};
	Oid			extension = getExtensionOfObject(ProcedureRelationId, within);
	Oid			first = LookupFuncName(list_make2(makeString(get_namespace_name(get_func_namespace(within))),
												  makeString("snowflake_first")), 2, types, true);

	if (!OidIsValid(first) || !OidIsValid(extension) || get_func_rettype(first) != INT8OID ||
		getExtensionOfObject(ProcedureRelationId, first) != extension)
		return InvalidOid;
	return first;
}

/* snowflake_within(id, from, to) as an OR of ranges, or NULL. */
static Node *
write_ranges(const PlannerInfo *root, FuncExpr *call)
{
	Node	   *id = linitial(call->args);
	Node	   *from = lsecond(call->args);
	Node	   *to = lthird(call->args);
	Oid			first;
	List	   *ranges = NIL;

	if (!is_key_column(root, id) || contain_volatile_functions(from) || contain_volatile_functions(to) ||
		contain_subplans(from) || contain_subplans(to))
		return NULL;
	first = find_first(call->funcid);
	if (!OidIsValid(first))
		return NULL;
	for (int partition = 0; partition < PARTITIONS; partition++)
		ranges = lappend(ranges,
						 makeBoolExpr(AND_EXPR,
									  list_make2(comparison(BTGreaterEqualStrategyNumber, id,
															first_id_expr(first, partition, from)),
												 comparison(BTLessStrategyNumber, id,
															first_id_expr(first, partition, to))), -1));
	return (Node *) makeBoolExpr(OR_EXPR, ranges, -1);
}

Datum
widecol_snowflake_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *result = NULL;

	if (IsA(request, SupportRequestSimplify))
		result = write_ranges(((SupportRequestSimplify *) request)->root, ((SupportRequestSimplify *) request)->fcall);
	PG_RETURN_POINTER(result);
}
