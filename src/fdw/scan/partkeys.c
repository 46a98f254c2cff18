/*
 * fdw/scan/partkeys.c: keys that a partition cannot have.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"

#include "fdw/condition/keycond.h"
#include "fdw/scan/partkeys.h"

struct WcPartKeys
{
	ExprState  *bounds;			/* of the partition, with those of its parents */
	ExprContext *econtext;
	TupleTableSlot *slot;		/* a row with the known columns, and NULL in the others */
	int		   *values;			/* [natts] index of the column's value; -1: unknown */
};

/* Finds the values of columns that conditions compare by "=". */
static Bitmapset *
find_known(WcPartKeys *keys, const WcRelation *wrel, const List *conds)
{
	Bitmapset  *known = NULL;
	int			next = 0;
	ListCell   *lc;

	for (int i = 0; i < wrel->natts; i++)
		keys->values[i] = -1;
	foreach(lc, conds)
	{
		WcKeyCond  *cond = lfirst(lc);

		if (cond->kind == WC_COND_OP && cond->op == WC_KEY_EQ && cond->part >= 0)
		{
			int			i = wrel->keys[cond->part];

			if (getBaseType(wrel->columns[i].type) == linitial_oid(cond->types))
			{
				keys->values[i] = next;
				known = bms_add_member(known, wrel->columns[i].attnum - FirstLowInvalidHeapAttributeNumber);
			}
		}
		next += list_length(wc_key_conds_exprs(list_make1(cond)));
	}
	return known;
}

WcPartKeys *
wc_partkeys_create(ForeignScanState *node, const WcRelation *wrel, const List *conds)
{
	List	   *bounds = RelationGetPartitionQual(node->ss.ss_currentRelation);
	WcPartKeys *keys = palloc(sizeof(WcPartKeys));
	Bitmapset  *used = NULL;

	keys->values = palloc(sizeof(int) * wrel->natts);
	pull_varattnos((Node *) bounds, 1, &used);
	if (bounds == NIL || !bms_is_subset(used, find_known(keys, wrel, conds)))
		return NULL;
	keys->bounds = ExecPrepareCheck(bounds, node->ss.ps.state);
	keys->econtext = CreateExprContext(node->ss.ps.state);
	keys->slot = ExecInitExtraTupleSlot(node->ss.ps.state, RelationGetDescr(node->ss.ss_currentRelation), &TTSOpsVirtual);
	return keys;
}

bool
wc_partkeys_allow(WcPartKeys *keys, const Datum *values, const bool *nulls)
{
	TupleTableSlot *slot = keys->slot;

	ExecClearTuple(slot);
	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
	{
		int			from = keys->values[i];

		slot->tts_isnull[i] = from < 0 || nulls[from];
		slot->tts_values[i] = slot->tts_isnull[i] ? (Datum) 0 : values[from];
	}
	ExecStoreVirtualTuple(slot);
	ResetExprContext(keys->econtext);
	keys->econtext->ecxt_scantuple = slot;
	return ExecCheck(keys->bounds, keys->econtext);
}
