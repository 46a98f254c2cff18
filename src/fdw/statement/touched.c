/*
 * fdw/statement/touched.c: the rows that a statement has changed already.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "utils/memutils.h"

#include "compat.h"
#include "fdw/statement/touched.h"

typedef struct TouchedRow
{
	WcSlice		id;
	char		status;
} TouchedRow;

#define SH_PREFIX touchedrows
#define SH_ELEMENT_TYPE TouchedRow
#define SH_KEY_TYPE WcSlice
#define SH_KEY id
#define SH_HASH_KEY(table, k) hash_bytes((k).data, (int) (k).len)
#define SH_EQUAL(table, a, b) wc_slice_eq(a, b)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct WcTouched
{
	MemoryContextCallback callback;
	const EState *estate;
	MemoryContext context;
	touchedrows_hash *rows;
	StringInfoData id;			/* of the row that is being noted */
	WcTouched  *next;
};

/* The running statements: one may run another, by a trigger or a function. */
static WcTouched *statements;

static void
forget(void *arg)
{
	WcTouched **link = &statements;

	while (*link != NULL && *link != arg)
		link = &(*link)->next;
	if (*link != NULL)
		*link = (*link)->next;
}

/* Does the plan return a row of each table that it reads at most once? */
static bool
meets_rows_once(const Plan *plan)
{
	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_ForeignScan:
			return ((const ForeignScan *) plan)->scan.scanrelid > 0;
		case T_SeqScan:
		case T_IndexScan:
		case T_BitmapHeapScan:
			return true;
		case T_Result:
			return outerPlan(plan) == NULL || meets_rows_once(outerPlan(plan));
		case T_Append:
			{
				ListCell   *lc;

				foreach(lc, ((const Append *) plan)->appendplans)
				{
					if (!meets_rows_once(lfirst(lc)))
						return false;
				}
				return true;
			}
		default:
			return false;
	}
}

WcTouched *
wc_touched_open(ModifyTableState *mtstate)
{
	EState	   *estate = mtstate->ps.state;
	MemoryContext old;
	WcTouched  *touched;

	if ((mtstate->operation != CMD_UPDATE && mtstate->operation != CMD_DELETE) ||
		(!estate->es_plannedstmt->hasModifyingCTE && meets_rows_once(outerPlan(mtstate->ps.plan))))
		return NULL;
	for (touched = statements; touched != NULL; touched = touched->next)
		if (touched->estate == estate)
			return touched;

	old = MemoryContextSwitchTo(estate->es_query_cxt);
	touched = palloc0(sizeof(WcTouched));
	touched->estate = estate;
	touched->context = AllocSetContextCreate(CurrentMemoryContext, "widecol touched rows", ALLOCSET_DEFAULT_SIZES);
	touched->rows = touchedrows_create(touched->context, 64, NULL);
	initStringInfo(&touched->id);
	touched->callback.func = forget;
	touched->callback.arg = touched;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &touched->callback);
	touched->next = statements;
	statements = touched;
	MemoryContextSwitchTo(old);
	return touched;
}

static void
append_value(StringInfo id, Form_pg_attribute att, Datum value)
{
	Datum		stored;
	uint32		len;

	if (att->attbyval)
	{
		/* bytes beyond its length differ: those of an oid from a tuple may be all ones */
		store_att_byval(&stored, value, att->attlen);
		appendBinaryStringInfo(id, (const char *) &stored, att->attlen);
	}
	else if (att->attlen > 0)
		appendBinaryStringInfo(id, DatumGetPointer(value), att->attlen);
	else if (att->attlen == -1)
	{
		struct varlena *v = PG_DETOAST_DATUM_PACKED(value);

		len = VARSIZE_ANY_EXHDR(v);
		appendBinaryStringInfo(id, (const char *) &len, sizeof(len));
		appendBinaryStringInfo(id, VARDATA_ANY(v), len);
	}
	else
	{
		len = strlen(DatumGetCString(value)) + 1;
		appendBinaryStringInfo(id, DatumGetCString(value), len);
	}
}

bool
wc_touched_note(WcTouched *touched, const WcRelation *wrel, TupleDesc tupdesc,
				const Datum *values, const bool *isnull)
{
	uint32		table = wrel->desc->id;
	TouchedRow *entry;
	bool		found;

	resetStringInfo(&touched->id);
	appendBinaryStringInfo(&touched->id, (const char *) &table, sizeof(table));
	for (int i = 0; i < wrel->natts; i++)
	{
		if (!wc_relation_identifies(wrel, i))
			continue;
		appendStringInfoChar(&touched->id, isnull[i] ? 'n' : 'v');
		if (!isnull[i])
			append_value(&touched->id, TupleDescAttr(tupdesc, i), values[i]);
	}
	entry = touchedrows_insert(touched->rows, wc_slice(touched->id.data, touched->id.len), &found);
	if (!found)
	{
		char	   *copy = MemoryContextAlloc(touched->context, touched->id.len);

		memcpy(copy, touched->id.data, touched->id.len);
		entry->id = wc_slice(copy, touched->id.len);
	}
	return !found;
}
