/*
 * fdw/scan/grouped.c: scans that return groups of rows.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
#include "utils/float.h"

#include "fdw/condition/filter.h"
#include "fdw/relation/keycontent.h"
#include "fdw/row/aggregatestate.h"
#include "fdw/scan/grouped.h"
#include "fdw/scan/scan.h"

/* A member of a map that is grouped, or an aggregate's argument. */
typedef struct MemberInput
{
	WcMember	member;
	WcCodec    *codec;
	ExprState  *value;			/* of a row that is in no group */
} MemberInput;

struct WcGrouped
{
	WcRelation *wrel;
	const WcScanPlan *plan;
	int			naggregates;
	WcAggregatePlan *aggregates;
	MemberInput **inputs;		/* [naggregates]; NULL: a column, or nothing */
	ExprState **filters;		/* [naggregates]; NULL: it has no FILTER */
	bool		any_filter;
	bool	   *overflow;		/* [naggregates]: of the group at hand, a sum of floats is too large */
	int			ngroups;
	int		   *groups;			/* places in the tuple: of a column attnum - 1 */
	MemberInput **members;		/* [ngroups]; NULL: a column */
	int			nplaces;		/* of the tuple: columns, aggregates, members that are grouped */
	ExprContext *econtext;		/* this and the next one: for values of members, of rows that are in no group; NULL: there are no members */
	TupleTableSlot *row;
	Bitmapset  *group_keys;		/* the groups' columns that are parts of the row key */
	WcSlice		keys;			/* the key check that the engine needs */
	WcCodecWhere where;
	Datum	   *key_values;		/* [natts]: of another row's key than the tuple's */
	bool	   *key_nulls;
};

/* --- making ---------------------------------------------------------------------- */

/* Is the n-th column of the groups a part of the row key? */
static bool
is_in_key(const WcGrouped *grouped, int n)
{
	return grouped->members[n] == NULL && wc_filter_in_key(grouped->wrel, grouped->groups[n]);
}

/* The key check by which the engine finds the used parts of the row key. */
static WcSlice
key_check(const WcGrouped *grouped, WcBuf *scratch)
{
	const WcRelation *wrel = grouped->wrel;
	Bitmapset  *parts = NULL;
	uint8	   *copy;

	for (int i = 0; i < grouped->ngroups; i++)
	{
		if (is_in_key(grouped, i))
			parts = bms_add_member(parts, wrel->columns[grouped->groups[i]].key_no);
	}
	for (int i = 0; i < grouped->naggregates; i++)
	{
		int			att = grouped->aggregates[i].att;

		if (att >= 0 && wc_filter_in_key(wrel, att))
			parts = bms_add_member(parts, wrel->columns[att].key_no);
	}
	if (parts == NULL)
		return wc_slice(NULL, 0);
	wc_buf_reset(scratch, WC_FILTER_BYTES_MAX);
	wc_keycontent_encode_parts(wrel, parts, scratch);
	copy = palloc(scratch->len);
	memcpy(copy, scratch->data, scratch->len);
	return wc_slice(copy, scratch->len);
}

/* In place of what PostgreSQL has replaced by places of the tuple behind the columns, members of maps: the expressions there. */
static Node *
spell_out(Node *node, void *scan_tlist)
{
	const Var  *var = (const Var *) node;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, spell_out, scan_tlist);
	if (var->varno == INDEX_VAR)
	{
		const TargetEntry *entry = list_nth_node(TargetEntry, scan_tlist, var->varattno - 1);

		if (IsA(entry->expr, Var))
			return copyObject(node);
		return spell_out((Node *) entry->expr, scan_tlist);
	}
	/* of an expression of the tuple */
	node = copyObject(node);
	((Var *) node)->varno = INDEX_VAR;
	return node;
}

List *
wc_grouped_spell_out(const ForeignScan *scan, List *exprs)
{
	return scan->fdw_scan_tlist == NIL ? exprs : (List *) spell_out((Node *) exprs, scan->fdw_scan_tlist);
}

/* The opposite: what stands at a place of the tuple behind the columns becomes that place. */
static Node *
fold(Node *node, void *scan_tlist)
{
	const TargetEntry *entry;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
		return spell_out(node, scan_tlist);
	entry = tlist_member((Expr *) node, scan_tlist);
	if (entry != NULL)
		return (Node *) makeVar(INDEX_VAR, entry->resno, exprType(node), exprTypmod(node), exprCollation(node), 0);
	return expression_tree_mutator(node, fold, scan_tlist);
}

/* Where groups are decoded, or rows that are in no group. */
static void
make_row(WcGrouped *grouped, ForeignScanState *node)
{
	if (grouped->row != NULL)
		return;
	grouped->econtext = node->ss.ps.ps_ExprContext;
	grouped->row = MakeSingleTupleTableSlot(node->ss.ss_ScanTupleSlot->tts_tupleDescriptor, &TTSOpsVirtual);
}

static MemberInput *
make_member(WcGrouped *grouped, ForeignScanState *node, Expr *expr)
{
	const ForeignScan *scan = castNode(ForeignScan, node->ss.ps.plan);
	MemberInput *input = palloc0(sizeof(MemberInput));
	Node	   *spelled = spell_out((Node *) expr, scan->fdw_scan_tlist);
	Node	   *matched = spelled;

	while (IsA(matched, RelabelType))
		matched = (Node *) ((RelabelType *) matched)->arg;
	if (!wc_member_match(grouped->wrel, wc_scan_varno(scan), matched, &input->member))
		elog(ERROR, "foreign table \"%s\" has groups of an expression that is no member of a map", grouped->wrel->relname);
	input->codec = wc_member_codec(grouped->wrel, &input->member);
	input->value = ExecInitExpr((Expr *) spelled, &node->ss.ps);
	make_row(grouped, node);
	return input;
}

static ExprState *
make_filter(WcGrouped *grouped, ForeignScanState *node, Expr *condition)
{
	make_row(grouped, node);
	return ExecInitQual(list_make1(fold((Node *) condition, castNode(ForeignScan, node->ss.ps.plan)->fdw_scan_tlist)), &node->ss.ps);
}

/* The expression at a place of the scan's tuple, from 0. */
static Expr *
expr_at(const ForeignScanState *node, int place)
{
	return list_nth_node(TargetEntry, castNode(ForeignScan, node->ss.ps.plan)->fdw_scan_tlist, place)->expr;
}

/* Is the aggregate's argument a member of a map, and not a column? */
static bool
is_of_member(const WcRelation *wrel, const WcAggregatePlan *aggregate)
{
	return aggregate->att >= 0 &&
		(wrel->columns[aggregate->att].role == WC_ROLE_MAP || wrel->columns[aggregate->att].role == WC_ROLE_PREFIX_MAP);
}

WcGrouped *
wc_grouped_create(WcRelation *wrel, const WcScanPlan *plan, ForeignScanState *node, WcBuf *scratch)
{
	WcGrouped  *grouped;
	ListCell   *lc;

	if (!plan->grouped)
		return NULL;
	grouped = palloc0(sizeof(WcGrouped));
	grouped->wrel = wrel;
	grouped->plan = plan;
	grouped->where.table = wrel->relname;
	grouped->aggregates = palloc0(sizeof(WcAggregatePlan) * (list_length(plan->aggregates) + 1));
	grouped->inputs = palloc0(sizeof(MemberInput *) * (list_length(plan->aggregates) + 1));
	grouped->overflow = palloc0(sizeof(bool) * (list_length(plan->aggregates) + 1));
	grouped->filters = palloc0(sizeof(ExprState *) * (list_length(plan->aggregates) + 1));
	foreach(lc, plan->aggregates)
	{
		WcAggregatePlan *aggregate = &grouped->aggregates[grouped->naggregates];
		const Aggref *aggref = (const Aggref *) expr_at(node, wrel->natts + grouped->naggregates);

		*aggregate = wc_scan_plan_aggregate(lfirst(lc));
		if (aggref->aggfilter != NULL)
		{
			grouped->filters[grouped->naggregates] = make_filter(grouped, node, aggref->aggfilter);
			grouped->any_filter = true;
		}
		if (is_of_member(wrel, aggregate))
			grouped->inputs[grouped->naggregates] = make_member(grouped, node, linitial_node(TargetEntry, aggref->args)->expr);
		grouped->naggregates++;
	}
	grouped->nplaces = wrel->natts + grouped->naggregates;
	grouped->groups = palloc0(sizeof(int) * (list_length(plan->groups) + 1));
	grouped->members = palloc0(sizeof(MemberInput *) * (list_length(plan->groups) + 1));
	foreach(lc, plan->groups)
	{
		int			place = lfirst_int(lc);
		int			n = grouped->ngroups++;

		grouped->groups[n] = place;
		if (place >= wrel->natts)
		{
			grouped->members[n] = make_member(grouped, node, expr_at(node, place));
			grouped->nplaces++;
		}
		else if (is_in_key(grouped, n))
			grouped->group_keys = bms_add_member(grouped->group_keys, place);
	}
	grouped->keys = key_check(grouped, scratch);
	grouped->key_values = palloc(sizeof(Datum) * wrel->natts);
	grouped->key_nulls = palloc(sizeof(bool) * wrel->natts);
	return grouped;
}

static uint32
position_of(const WcReader *reader, const MemberInput *input)
{
	return wc_reader_member_position(reader, input->member.att, input->member.qualifier);
}

/* Describes how the engine reads the bytes of the n-th aggregate's argument. */
static WcFilterColumn
describe_column(const WcGrouped *grouped, const WcReader *reader, int n)
{
	WcRelation *wrel = grouped->wrel;
	const WcAggregatePlan *aggregate = &grouped->aggregates[n];
	WcFilterColumn column;

	if (grouped->inputs[n] != NULL)
	{
		column = wc_form_of_cell(grouped->inputs[n]->codec).column;
		column.column = position_of(reader, grouped->inputs[n]);
		return column;
	}
	column = wc_form_of_column(wrel, aggregate->att).column;
	if (column.in_key)
		column.column = (uint32) wrel->columns[aggregate->att].key_no;
	else
		column.column = wc_reader_position(reader, aggregate->att);
	if (aggregate->kind == WC_AGGREGATE_SUM_ORDERED)
		column.width = (uint32) wc_filter_codec(wrel, aggregate->att)->width;
	return column;
}

const WcAggregation *
wc_grouped_describe(const WcGrouped *grouped, const WcReader *reader)
{
	WcAggregation *aggregation = palloc0(sizeof(WcAggregation));

	aggregation->ordered = grouped->plan->groups_ordered;
	aggregation->ngroups = (uint32) grouped->ngroups;
	aggregation->groups = palloc0(sizeof(WcGroupColumn) * (grouped->ngroups + 1));
	for (int i = 0; i < grouped->ngroups; i++)
	{
		WcGroupColumn *group = &aggregation->groups[i];

		group->in_key = is_in_key(grouped, i);
		if (grouped->members[i] != NULL)
			group->column = position_of(reader, grouped->members[i]);
		else
			group->column = group->in_key ? (uint32) grouped->wrel->columns[grouped->groups[i]].key_no :
				wc_reader_position(reader, grouped->groups[i]);
	}
	aggregation->naggregates = (uint32) grouped->naggregates;
	aggregation->aggregates = palloc0(sizeof(WcAggregate) * (grouped->naggregates + 1));
	for (int i = 0; i < grouped->naggregates; i++)
	{
		aggregation->aggregates[i].kind = (uint8) grouped->aggregates[i].kind;
		if (grouped->aggregates[i].att >= 0)
			aggregation->aggregates[i].column = describe_column(grouped, reader, i);
	}
	aggregation->keys = grouped->keys;
	return aggregation;
}

/* --- rows that are in no group ------------------------------------------------------ */

/* Expressions are evaluated on the first n places of this tuple. */
static void
begin_row(const WcGrouped *grouped, const Datum *values, const bool *isnull, int n)
{
	if (grouped->row == NULL)
		return;
	ExecClearTuple(grouped->row);
	memset(grouped->row->tts_isnull, true, sizeof(bool) * grouped->nplaces);
	memcpy(grouped->row->tts_values, values, sizeof(Datum) * n);
	memcpy(grouped->row->tts_isnull, isnull, sizeof(bool) * n);
	ExecStoreVirtualTuple(grouped->row);
}

/* Does the tuple, a row or a group, satisfy the FILTER of the n-th aggregate? */
static bool
passes_filter(const WcGrouped *grouped, int n)
{
	TupleTableSlot *scanned;
	bool		passes;

	if (grouped->filters[n] == NULL)
		return true;
	scanned = grouped->econtext->ecxt_scantuple;
	grouped->econtext->ecxt_scantuple = grouped->row;
	passes = ExecQual(grouped->filters[n], grouped->econtext);
	grouped->econtext->ecxt_scantuple = scanned;
	return passes;
}

static Datum
member_value(const WcGrouped *grouped, const MemberInput *input, bool *isnull)
{
	TupleTableSlot *scanned = grouped->econtext->ecxt_scantuple;
	Datum		value;

	grouped->econtext->ecxt_scantuple = grouped->row;
	value = ExecEvalExpr(input->value, grouped->econtext, isnull);
	grouped->econtext->ecxt_scantuple = scanned;
	return value;
}

static WcCodec *
input_codec(const WcGrouped *grouped, int n)
{
	return grouped->inputs[n] != NULL ? grouped->inputs[n]->codec : wc_filter_codec(grouped->wrel, grouped->aggregates[n].att);
}

/* Sets the members that are grouped, and the transition states, of a tuple of one row. */
static void
set_row_states(const WcGrouped *grouped, Datum *values, bool *isnull)
{
	begin_row(grouped, values, isnull, grouped->wrel->natts);
	for (int i = 0; i < grouped->ngroups; i++)
	{
		int			at = grouped->groups[i];

		if (grouped->members[i] == NULL)
			continue;
		values[at] = grouped->row->tts_values[at] = member_value(grouped, grouped->members[i], &isnull[at]);
		grouped->row->tts_isnull[at] = isnull[at];
	}
	for (int i = 0; i < grouped->naggregates; i++)
	{
		const WcAggregatePlan *aggregate = &grouped->aggregates[i];
		int			at = grouped->wrel->natts + i;
		Datum		value = (Datum) 0;
		bool		null = false;
		bool		present;

		if (!passes_filter(grouped, i))
			null = true;
		else if (grouped->inputs[i] != NULL)
			value = member_value(grouped, grouped->inputs[i], &null);
		else if (aggregate->att >= 0)
		{
			value = values[aggregate->att];
			null = isnull[aggregate->att];
		}
		present = !null;

		isnull[at] = !present && aggregate->state != WC_STATE_COUNT;
		if (aggregate->state == WC_STATE_COUNT)
			values[at] = Int64GetDatum(present ? 1 : 0);
		else if (isnull[at])
			values[at] = (Datum) 0;
		else
			values[at] = wc_state_of_value(aggregate->state, input_codec(grouped, i)->spec.type, value);
	}
}

/* --- groups -------------------------------------------------------------------------- */

static void pg_attribute_noreturn()
bad_state(const WcGrouped *grouped)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("the engine's answer about groups of rows of foreign table \"%s\" cannot be read",
					grouped->wrel->relname)));
}

/* The value of a key part, decoded from the key of the row that has the value. */
static Datum
value_in_key(WcGrouped *grouped, int att, WcSlice row)
{
	WcCodecWhere where = {.table = grouped->where.table,.row = row};
	Bitmapset  *wanted = bms_make_singleton(att);

	wc_relation_decode_key(grouped->wrel, &where, wanted, grouped->key_values, grouped->key_nulls);
	bms_free(wanted);
	return grouped->key_values[att];
}

static double
decode_double(WcDecoder *d)
{
	uint64		bits = wc_decode_u64(d);
	double		real;

	memcpy(&real, &bits, sizeof(real));
	return real;
}

/* Would PostgreSQL's own transition function have raised an error? */
static bool
is_overflow(WcStateKind state, uint8 flags)
{
	return (flags & WC_SUM_OVERFLOW) != 0 || (state == WC_STATE_DOUBLES && (flags & WC_SQUARES_OVERFLOW) != 0);
}

/* Numbers are shown with the places of the column's type, if it says so. */
static int
shown_scale(const WcCodec *codec, int scale)
{
	int32		typmod = codec->spec.typmod - (int32) VARHDRSZ;

	return typmod < 0 ? scale : ((typmod & 0x7FF) ^ 1024) - 1024;
}

/* The n-th aggregate's state. */
static Datum
group_state(WcGrouped *grouped, int n, WcSlice bytes)
{
	const WcAggregatePlan *aggregate = &grouped->aggregates[n];
	WcDecoder	d = wc_decoder(bytes);
	uint64		count;
	WcSum		sum = 0;
	int			scale = 0;
	double		real = 0;
	double		squares = 0;
	uint8		flags = 0;

	if (aggregate->state == WC_STATE_VALUE)
	{
		if (grouped->inputs[n] == NULL && wc_filter_in_key(grouped->wrel, aggregate->att))
			return value_in_key(grouped, aggregate->att, bytes);
		return wc_codec_decode(input_codec(grouped, n), bytes, &grouped->where);
	}
	count = wc_decode_varint(&d);
	if (wc_aggregate_sums_integers((uint8) aggregate->kind) || aggregate->kind == WC_AGGREGATE_SUM_DECIMAL)
	{
		uint64		high = wc_decode_u64(&d);

		sum = (WcSum) (((unsigned __int128) high << 64) | wc_decode_u64(&d));
	}
	if (aggregate->kind == WC_AGGREGATE_SUM_DECIMAL)
		scale = wc_decode_u8(&d);
	if (wc_aggregate_sums_floats((uint8) aggregate->kind))
	{
		real = decode_double(&d);
		squares = decode_double(&d);
		flags = wc_decode_u8(&d);
	}
	if (!wc_decoder_done(&d) || count > PG_INT64_MAX || scale > WC_SUM_SCALE)
		bad_state(grouped);
	if (aggregate->state == WC_STATE_COUNT)
		return Int64GetDatum((int64) count);
	if (aggregate->state == WC_STATE_DECIMAL)
		return wc_state_of_decimals((int64) count, sum, shown_scale(input_codec(grouped, n), scale));
	if (!wc_aggregate_sums_floats((uint8) aggregate->kind))
		return wc_state_of_sum(aggregate->state, (int64) count, sum);
	grouped->overflow[n] = is_overflow(aggregate->state, flags);
	return wc_state_of_floats(aggregate->state, (int64) count, real, squares);
}

/* When all of a group's columns are known. */
static void
finish_states(WcGrouped *grouped, Datum *values, bool *isnull)
{
	if (grouped->any_filter)
		begin_row(grouped, values, isnull, grouped->nplaces);
	for (int i = 0; i < grouped->naggregates; i++)
	{
		int			at = grouped->wrel->natts + i;

		if (!passes_filter(grouped, i))
		{
			values[at] = Int64GetDatum(0);
			isnull[at] = grouped->aggregates[i].state != WC_STATE_COUNT;
		}
		else if (grouped->overflow[i])
			float_overflow_error();
	}
}

static void
set_group(WcGrouped *grouped, WcClientScan *scan, WcSlice row, Datum *values, bool *isnull)
{
	int			natts = grouped->wrel->natts;
	WcCell		cell;
	uint32		colno;

	memset(isnull, true, sizeof(bool) * grouped->nplaces);
	grouped->where.row = row;
	if (grouped->group_keys != NULL)
		wc_relation_decode_key(grouped->wrel, &grouped->where, grouped->group_keys, values, isnull);
	for (int i = 0; i < grouped->naggregates; i++)
	{
		/* count() has a state even without rows */
		isnull[natts + i] = grouped->aggregates[i].state != WC_STATE_COUNT;
		values[natts + i] = Int64GetDatum(0);
		grouped->overflow[i] = false;
	}
	while (wc_client_next_cell(scan, &cell, &colno))
	{
		if (colno < (uint32) grouped->naggregates)
		{
			values[natts + colno] = group_state(grouped, (int) colno, cell.value);
			isnull[natts + colno] = false;
		}
		else if (colno < (uint32) (grouped->naggregates + grouped->ngroups))
		{
			uint32		n = colno - (uint32) grouped->naggregates;
			int			at = grouped->groups[n];
					WcCodec    *codec = grouped->members[n] != NULL ? grouped->members[n]->codec : wc_filter_codec(grouped->wrel, at);

			values[at] = wc_codec_decode(codec, cell.value, &grouped->where);
			isnull[at] = false;
		}
		else
			bad_state(grouped);
	}
	finish_states(grouped, values, isnull);
}

bool
wc_grouped_next(WcGrouped *grouped, WcReader *reader, WcClientScan *scan, bool aggregated, Datum *values, bool *isnull)
{
	if (!wc_reader_skip(reader, scan))
		return false;
	if (aggregated && !wc_client_row_undecided(scan))
	{
		set_group(grouped, scan, wc_reader_row(reader), values, isnull);
		return true;
	}
	wc_reader_decode(reader, scan, values, isnull);
	if (wc_reader_passed(reader))
		set_row_states(grouped, values, isnull);
	return true;
}
