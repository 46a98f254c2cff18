/*
 * fdw/write/direct.c: DELETE and UPDATE that the engine does by itself.
 *
 * The engine gets the Scan and the operations for each of its rows in one request.  A row that loses its last value
 * needs a marker cell, and a row that had none loses its marker; so an UPDATE has two forms, for rows with other values
 * and for rows without.
 *
 * Sometimes it turns out only now that the rows must be read: ranges that are not exact, a key that this foreign table
 * cannot read, values that the engine cannot decide, a trigger that has changed rows or must be told of changes.  Then
 * the rows are fetched and written one by one.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "fdw/fdw.h"
#include "fdw/plan/mapkeys.h"
#include "fdw/relation/keycontent.h"
#include "fdw/scan/scan.h"
#include "fdw/write/direct.h"
#include "fdw/write/modify.h"

typedef struct WcDirect
{
	MemoryContextCallback callback;
	WcDirectPlan plan;
	bool		evaluated;
	Datum	   *values;			/* [natts], of the columns in SET */
	bool	   *isnull;
	WcBuf		keys;			/* the memory of these three comes from malloc */
	WcBuf		items;
	WcBuf		items_bare;
	bool		done;
} WcDirect;

static void
free_buffers(void *arg)
{
	WcDirect   *d = arg;

	wc_buf_free(&d->keys);
	wc_buf_free(&d->items);
	wc_buf_free(&d->items_bare);
}

void
widecolBeginDirectModify(ForeignScanState *node, int eflags)
{
	ForeignScan *scan = castNode(ForeignScan, node->ss.ps.plan);
	WcModify   *m;
	WcDirect   *d;
	MemoryContext old;
	ListCell   *lc;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	m = wc_modify_open(node->ss.ps.state, node->resultRelInfo);
	wc_client_rouse(m->wrel->desc);
	widecolBeginForeignScan(node, eflags);

	old = MemoryContextSwitchTo(m->context);
	d = m->direct = palloc0(sizeof(WcDirect));
	d->callback.func = free_buffers;
	d->callback.arg = d;
	MemoryContextRegisterResetCallback(m->context, &d->callback);
	wc_direct_plan_decode(scan, &d->plan);
	d->values = palloc0(sizeof(Datum) * m->wrel->natts);
	d->isnull = palloc0(sizeof(bool) * m->wrel->natts);
	foreach(lc, d->plan.columns)
		m->assigned = bms_add_member(m->assigned, lfirst_int(lc));
	m->update_ready = true;
	m->nested = wc_nested_open(node->ss.ps.state, m->wrel->desc->id);
	MemoryContextSwitchTo(old);
}

void
widecolEndDirectModify(ForeignScanState *node)
{
	if (node->fdw_state == NULL)
		return;
	widecolEndForeignScan(node);
	wc_modify_close(node->resultRelInfo);
}

/* --- the SET clause ----------------------------------------------------------------- */

/* Types whose values can all be stored. */
static bool
always_stored(const WcCodec *codec)
{
	switch (codec->spec.type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case UUIDOID:
			return true;
		case TEXTOID:
		case VARCHAROID:
			return GetDatabaseEncoding() == PG_UTF8;
		case BYTEAOID:
			return codec->spec.encoding != WC_ENCODING_TEXT;
		default:
			return false;
	}
}

static bool
is_simple(const Node *expr)
{
	return IsA(expr, Const) || (IsA(expr, Param) && ((const Param *) expr)->paramkind == PARAM_EXTERN);
}

/* Is this jsonb, or that of a text? */
static bool
is_simple_jsonb(const Node *expr)
{
	const FuncExpr *call = (const FuncExpr *) expr;

	return is_simple(expr) || (IsA(expr, FuncExpr) && call->funcid == F_TO_JSONB && is_simple(linitial(call->args)) &&
							   exprType(linitial(call->args)) == TEXTOID);
}

/* Is this jsonb, or the object of texts that jsonb_build_object makes, or jsonb_set (of which directplan.c has seen to
 * the rest)? */
static bool
is_simple_object(const Node *expr)
{
	const FuncExpr *call = (const FuncExpr *) expr;
	ListCell   *lc;

	if (IsA(expr, FuncExpr) && call->funcid == F_JSONB_SET)
		return is_simple(linitial(call->args)) && is_simple_jsonb(lthird(call->args));
	if (!IsA(expr, FuncExpr) || call->funcid != F_JSONB_BUILD_OBJECT_ANY || call->funcvariadic)
		return is_simple(expr);
	foreach(lc, call->args)
	{
		const Node *arg = lfirst(lc);
		bool		key = foreach_current_index(lc) % 2 == 0;

		if (!is_simple(arg) || (exprType(arg) != TEXTOID && exprType(arg) != UNKNOWNOID) ||
			(key && (!IsA(arg, Const) || ((const Const *) arg)->constisnull)))
			return false;
	}
	return list_length(call->args) % 2 == 0;
}

/* Can evaluating or encoding the values of SET fail?  It must not if there is no row.  (Members are encoded only if
 * that does not fail.) */
static bool
may_fail(const WcModify *m)
{
	const WcDirectPlan *plan = &m->direct->plan;
	ListCell   *lc;
	ListCell   *le;

	if (plan->members)
		return GetDatabaseEncoding() != PG_UTF8 || !is_simple_object(linitial(plan->exprs));
	forboth(lc, plan->columns, le, plan->exprs)
	{
		if (!is_simple(lfirst(le)) || !always_stored(&m->wrel->columns[lfirst_int(lc)].codec))
			return true;
	}
	return false;
}

static bool
has_exec_param(Node *node, void *context)
{
	if (node != NULL && IsA(node, Param))
		return ((const Param *) node)->paramkind == PARAM_EXEC;
	return expression_tree_walker(node, has_exec_param, context);
}

/* Does SET have a value from a subquery?  PostgreSQL runs the subquery (once) when the value is evaluated.  The subquery may
 * have effects, and its scans stay open until the statement ends: so it must not run in a subtransaction. */
static bool
has_subquery(const WcModify *m)
{
	return has_exec_param((Node *) m->direct->plan.exprs, NULL);
}

static void
evaluate(ForeignScanState *node, WcModify *m)
{
	WcDirect   *d = m->direct;
	MemoryContext old = MemoryContextSwitchTo(m->context);
	ListCell   *lc;
	ListCell   *le;

	if (!d->evaluated)
	{
		forboth(lc, d->plan.columns, le, d->plan.exprs)
		{
			int			i = lfirst_int(lc);
			ExprState  *expr = ExecInitExpr(lfirst(le), &node->ss.ps);

			d->values[i] = ExecEvalExpr(expr, node->ss.ps.ps_ExprContext, &d->isnull[i]);
		}
	}
	d->evaluated = true;
	MemoryContextSwitchTo(old);
}

/* --- in the engine ---------------------------------------------------------------- */

static void
add_column(WcScan *scan, const WcPutColumn *put)
{
	for (uint32_t i = 0; i < scan->ncolumns; i++)
		if (scan->columns[i].family == put->family && wc_slice_eq(scan->columns[i].qualifier, put->qualifier))
			return;
	scan->columns[scan->ncolumns].kind = WC_COLUMN_EXACT;
	scan->columns[scan->ncolumns].family = put->family;
	scan->columns[scan->ncolumns++].qualifier = put->qualifier;
}

/* Sets the scan's columns: those of which one is enough for a row to have a value after the change or, with_set,
 * before it. */
static void
choose_columns(WcModify *m, WcScan *scan, bool with_set)
{
	scan->columns = palloc0(sizeof(WcColumn) * (m->nputs + m->nshown + 1));
	for (int i = 0; i < m->nputs; i++)
		if (with_set || !bms_is_member(m->puts[i].index, m->assigned))
			add_column(scan, &m->puts[i]);
	for (int i = 0; i < m->nshown; i++)
		add_column(scan, &m->shown[i]);
}

/* Makes the operations that update_in_place (rowupdate.c) makes for each row. */
static void
make_update(WcModify *m, WcScan *scan)
{
	WcDirect   *d = m->direct;
	WcRowWrite *w = &m->write;
	bool		any_value = false;

	wc_rowwrite_start(w);
	for (int i = 0; i < m->nputs; i++)
	{
		const WcPutColumn *put = &m->puts[i];

		if (!bms_is_member(put->index, m->assigned))
			continue;
		if (d->isnull[put->index])
			wc_rowwrite_clear(w, WC_ITEM_CLEAR_COLUMN, put->family, put->qualifier);
		else
			wc_rowwrite_put(w, put->family, put->qualifier, put->codec, d->values[put->index]);
		any_value |= !d->isnull[put->index];
	}
	wc_rowwrite_items(w, &d->items);
	if (!any_value)
		wc_rowmodify_put_marker(m);
	else if (m->wrel->marker_column < 0)
		wc_rowwrite_clear(w, WC_ITEM_CLEAR_COLUMN, m->wrel->default_family, wc_slice(NULL, 0));
	wc_rowwrite_items(w, &d->items_bare);
	if (!any_value || m->wrel->marker_column < 0)
		choose_columns(m, scan, any_value);
}

/*
 * Evaluates and encodes the values of SET, which may fail, in a subtransaction.  Returns the error, or NULL.  The caller
 * raises the error only if there is a row.  Members of a map are only evaluated.
 */
static ErrorData *
try_values(ForeignScanState *node, WcModify *m, WcScan *scan)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		evaluate(node, m);
		if (!m->direct->plan.members)
			make_update(m, scan);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		m->direct->evaluated = false;
		scan->ncolumns = 0;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (error != NULL && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	return error;
}

/* The members of a larger value (as jsonb) are not put without reading the rows. */
#define MEMBERS_BYTES_MAX	(1024 * 1024)

/*
 * Makes the operations that put the members of the value beside those of the map, and has the scan look for them.
 * False: the rows must be read, since the value is no object, has null members (which delete others), or a member that
 * is large or has no name.
 */
static bool
make_members(WcModify *m, WcScan *scan)
{
	WcDirect   *d = m->direct;
	WcRowWrite *w = &m->write;
	int			i = linitial_int(d->plan.columns);
	const WcRelColumn *map = &m->wrel->columns[i];
	WcMapWriter writer;
	WcMapEntry *entries;
	Jsonb	   *value;
	int			n;

	if (d->isnull[i])
		return false;
	value = DatumGetJsonbP(d->values[i]);
	if (!JB_ROOT_IS_OBJECT(value) || JB_ROOT_COUNT(value) == 0 || JB_ROOT_COUNT(value) > WC_MAP_KEYS_MAX ||
		VARSIZE_ANY(value) > MEMBERS_BYTES_MAX)
		return false;
	wc_mapwrite_init(&writer, m->wrel, map);
	n = wc_mapwrite_entries(&writer, d->values[i], false, &entries);
	if (n < (int) JB_ROOT_COUNT(value) || entries[0].qualifier.len == 0)
		return false;
	wc_rowwrite_start(w);
	scan->columns = palloc0(sizeof(WcColumn) * n);
	for (int k = 0; k < n; k++)
	{
		if (entries[k].qualifier.len > WC_QUALIFIER_MAX)
			return false;
		scan->columns[k] = (WcColumn) {.kind = WC_COLUMN_EXACT,.family = map->family,.qualifier = entries[k].qualifier};
	}
	wc_mapwrite_put(&writer, w, entries, n);
	wc_rowwrite_items(w, &d->items);
	scan->ncolumns = (uint32) n;
	scan->key_only = false;
	return true;
}

static void
make_delete(WcModify *m)
{
	wc_rowwrite_start(&m->write);
	for (int i = 0; i < m->wrel->nfamilies; i++)
		wc_rowwrite_delete(&m->write, WC_ITEM_DELETE_FAMILY, m->wrel->families[i], wc_slice(NULL, 0), WC_TS_LATEST);
	wc_rowwrite_items(&m->write, &m->direct->items);
	wc_rowwrite_items(&m->write, &m->direct->items_bare);
}

/* The column's index in the scan, which has room for it; adds the column if it is missing. */
static uint32_t
place_column(WcScan *scan, const WcColumn *column)
{
	uint32_t	at = 0;

	while (at < scan->ncolumns && (scan->columns[at].family != column->family ||
								   !wc_slice_eq(scan->columns[at].qualifier, column->qualifier)))
		at++;
	if (at == scan->ncolumns)
		scan->columns[scan->ncolumns++] = *column;
	return at;
}

/* Adds the filter's columns, out of the scan's former columns, after its present ones. */
static void
add_filter(WcScan *scan, const WcColumn *columns)
{
	WcFilter   *filter;
	WcColumn   *all;

	if (scan->filter == NULL)
		return;
	filter = palloc(sizeof(WcFilter));
	*filter = *scan->filter;
	filter->shown = scan->ncolumns;
	filter->columns = palloc(sizeof(WcFilterColumn) * filter->ncolumns);
	all = palloc(sizeof(WcColumn) * (scan->ncolumns + filter->ncolumns));
	memcpy(filter->columns, scan->filter->columns, sizeof(WcFilterColumn) * filter->ncolumns);
	if (scan->ncolumns > 0)
		memcpy(all, scan->columns, sizeof(WcColumn) * scan->ncolumns);
	scan->columns = all;
	for (uint32_t i = 0; i < filter->ncolumns; i++)
	{
		if (!filter->columns[i].in_key)
			filter->columns[i].column = place_column(scan, &columns[filter->columns[i].column]);
	}
	scan->filter = filter;
}

/* Is there a row?  *undecided: the engine has found one that it cannot decide. */
static bool
any_row(WcModify *m, const WcScan *scan, const WcColumn *columns, WcClientSnapshot *snapshot, bool *undecided)
{
	WcScan		first = *scan;
	WcClientScan *client_scan;
	WcSlice		row;
	bool		found;

	first.row_limit = 1;
	add_filter(&first, columns);
	client_scan = wc_client_scan_open(&first, snapshot, m->pg_snapshot->curcid, 1, CurrentMemoryContext);
	found = wc_client_next_row(client_scan, &row);
	*undecided = found && wc_client_row_undecided(client_scan);
	wc_client_scan_close(client_scan);
	return found;
}

/* Have functions in the query written, or may they write, rows of the table? */
static bool
is_touched(const WcModify *m)
{
	return wc_nested_wrote_any(m->nested) || wc_nested_is_watched(m->estate, m->wrel->desc->id);
}

/* False: the rows must be read, and nothing has been changed. */
static bool
change_in_engine(ForeignScanState *node, WcModify *m, uint64 *rows)
{
	WcDirect   *d = m->direct;
	bool		update = castNode(ForeignScan, node->ss.ps.plan)->operation == CMD_UPDATE;
	WcClientModify modify = {.cid = m->pg_snapshot->curcid,.write_cid = m->cid};
	WcClientScanStats stats;
	const WcColumn *columns;
	WcScan		scan;
	bool		recheck;
	bool		undecided;
	bool		done;

	*rows = 0;
	if (!wc_scan_state_describe(node, &scan, &recheck))
		return true;
	if (recheck || is_touched(m) ||
		!wc_client_modifies(m->wrel->desc) || !wc_keycontent_encode(m->wrel, &d->keys))
		return false;

	/* the scan needs no columns to find rows; make_update adds those that it needs */
	columns = scan.columns;
	scan.ncolumns = 0;
	scan.columns = NULL;
	scan.versions = 1;
	scan.want_ts = false;
	scan.key_only = true;
	scan.reversed = scan.merged = false;
	modify.mode = update ? WC_LOCK_NO_KEY_UPDATE : WC_LOCK_EXCLUSIVE;
	if (update)
	{
		bool		subquery = has_subquery(m);
		bool		tried = !subquery && may_fail(m);
		ErrorData  *error = tried ? try_values(node, m, &scan) : NULL;

		if (error != NULL || subquery)
		{
			if (!any_row(m, &scan, columns, wc_scan_state_snapshot(node), &undecided))
				return true;
			if (undecided)
				return false;
			if (error != NULL)
				ReThrowError(error);
		}
		evaluate(node, m);
		if (subquery && is_touched(m))
			return false;
		if (d->plan.members)
		{
			if (!make_members(m, &scan))
				return false;
			modify.kind = scan.columns[0].family == m->wrel->default_family ? WC_MODIFY_MEMBERS_MARKED : WC_MODIFY_MEMBERS;
		}
		else if (!tried)
			make_update(m, &scan);
	}
	else
		make_delete(m);
	add_filter(&scan, columns);
	modify.scan = &scan;
	modify.keys = wc_buf_slice(&d->keys);
	modify.items = wc_buf_slice(&d->items);
	modify.items_bare = wc_buf_slice(&d->items_bare);
	done = wc_scan_state_needs_no_snapshot(node, &scan) && wc_client_modify_row(m->wrel->desc, &modify, rows, &stats);
	if (!done)
	{
		modify.snapshot = wc_scan_state_snapshot(node);
		done = wc_client_modify(m->wrel->desc, &modify, rows, &stats);
	}
	wc_scan_state_count(node, &stats);
	return done;
}

/* --- row by row ------------------------------------------------------------------- */

/* SET map = map || value. */
static void
set_members(const WcModify *m, TupleTableSlot *new)
{
	int			i = linitial_int(m->direct->plan.columns);

	new->tts_isnull[i] |= m->direct->isnull[i];
	if (!new->tts_isnull[i])
		new->tts_values[i] = DirectFunctionCall2(jsonb_concat, new->tts_values[i], m->direct->values[i]);
}

static void
change_row(ForeignScanState *node, WcModify *m, TupleTableSlot *old, TupleTableSlot *new)
{
	int			x = -1;

	slot_getallattrs(old);
	if (new == NULL)
	{
		m->values = old->tts_values;
		m->isnull = old->tts_isnull;
		wc_rowmodify_delete(m);
		return;
	}
	evaluate(node, m);
	ExecClearTuple(new);
	memcpy(new->tts_values, old->tts_values, sizeof(Datum) * m->wrel->natts);
	memcpy(new->tts_isnull, old->tts_isnull, sizeof(bool) * m->wrel->natts);
	if (m->direct->plan.members)
		set_members(m, new);
	while (!m->direct->plan.members && (x = bms_next_member(m->assigned, x)) >= 0)
	{
		new->tts_values[x] = m->direct->values[x];
		new->tts_isnull[x] = m->direct->isnull[x];
	}
	ExecStoreVirtualTuple(new);
	wc_rowupdate(m, old, new);
}

static uint64
change_rows(ForeignScanState *node, WcModify *m)
{
	TupleTableSlot *new = NULL;
	TupleTableSlot *old;
	uint64		rows = 0;

	wc_scan_state_lock_rows(node);

	/* the current memory context is reset with each row */
	if (castNode(ForeignScan, node->ss.ps.plan)->operation == CMD_UPDATE)
	{
		MemoryContext context = MemoryContextSwitchTo(m->context);

		new = MakeSingleTupleTableSlot(RelationGetDescr(node->ss.ss_currentRelation), &TTSOpsVirtual);
		MemoryContextSwitchTo(context);
	}
	for (;;)
	{
		ResetExprContext(node->ss.ps.ps_ExprContext);
		CHECK_FOR_INTERRUPTS();
		old = widecolIterateForeignScan(node);
		if (TupIsNull(old))
			break;
		change_row(node, m, old, new);
		rows++;
	}
	if (new != NULL)
		ExecDropSingleTupleTableSlot(new);
	return rows;
}

/* --- the callback ----------------------------------------------------------------- */

/* Changes all rows at once; returns no row. */
TupleTableSlot *
widecolIterateDirectModify(ForeignScanState *node)
{
	WcModify   *m = node->resultRelInfo->ri_FdwState;
	WcDirect   *d = m->direct;
	uint64		rows;

	if (!d->done)
	{
		d->done = true;
		if (!change_in_engine(node, m, &rows))
			rows = change_rows(node, m);
		if (d->plan.set_processed)
			node->ss.ps.state->es_processed += rows;
		if (node->ss.ps.instrument != NULL)
			node->ss.ps.instrument->tuplecount += rows;
	}
	return ExecClearTuple(node->ss.ss_ScanTupleSlot);
}
