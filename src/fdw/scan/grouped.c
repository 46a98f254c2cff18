/*
 * fdw/scan/grouped.c: scans that return groups of rows.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "fdw/condition/filter.h"
#include "fdw/relation/keycontent.h"
#include "fdw/scan/grouped.h"

__extension__ typedef __int128 Sum;

struct WcGrouped
{
	WcRelation *wrel;
	const WcScanPlan *plan;
	int			naggregates;
	WcAggregatePlan *aggregates;
	int			ngroups;
	int		   *groups;			/* attnum - 1 */
	Bitmapset  *group_keys;		/* the groups' columns that are parts of the row key */
	WcSlice		keys;			/* the key check that the engine needs */
	WcCodecWhere where;
	Datum	   *key_values;		/* [natts]: of another row's key than the tuple's */
	bool	   *key_nulls;
};

/* --- making ---------------------------------------------------------------------- */

/* The key check by which the engine finds the used parts of the row key. */
static WcSlice
key_check(const WcGrouped *grouped, WcBuf *scratch)
{
	const WcRelation *wrel = grouped->wrel;
	Bitmapset  *parts = NULL;
	uint8	   *copy;

	for (int i = 0; i < grouped->ngroups; i++)
	{
		if (wc_filter_in_key(wrel, grouped->groups[i]))
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

WcGrouped *
wc_grouped_create(WcRelation *wrel, const WcScanPlan *plan, WcBuf *scratch)
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
	foreach(lc, plan->aggregates)
		grouped->aggregates[grouped->naggregates++] = wc_scan_plan_aggregate(lfirst(lc));
	grouped->groups = palloc0(sizeof(int) * (list_length(plan->groups) + 1));
	foreach(lc, plan->groups)
	{
		grouped->groups[grouped->ngroups++] = lfirst_int(lc);
		if (wc_filter_in_key(wrel, lfirst_int(lc)))
			grouped->group_keys = bms_add_member(grouped->group_keys, lfirst_int(lc));
	}
	grouped->keys = key_check(grouped, scratch);
	grouped->key_values = palloc(sizeof(Datum) * wrel->natts);
	grouped->key_nulls = palloc(sizeof(bool) * wrel->natts);
	return grouped;
}

/* Describes how the engine reads the column's bytes. */
static WcFilterColumn
describe_column(const WcGrouped *grouped, const WcReader *reader, const WcAggregatePlan *aggregate)
{
	WcRelation *wrel = grouped->wrel;
	WcFilterColumn column = wc_form_of_column(wrel, aggregate->att).column;

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

		group->in_key = wc_filter_in_key(grouped->wrel, grouped->groups[i]);
		group->column = group->in_key ? (uint32) grouped->wrel->columns[grouped->groups[i]].key_no :
			wc_reader_position(reader, grouped->groups[i]);
	}
	aggregation->naggregates = (uint32) grouped->naggregates;
	aggregation->aggregates = palloc0(sizeof(WcAggregate) * (grouped->naggregates + 1));
	for (int i = 0; i < grouped->naggregates; i++)
	{
		aggregation->aggregates[i].kind = (uint8) grouped->aggregates[i].kind;
		if (grouped->aggregates[i].att >= 0)
			aggregation->aggregates[i].column = describe_column(grouped, reader, &grouped->aggregates[i]);
	}
	aggregation->keys = grouped->keys;
	return aggregation;
}

/* --- states ------------------------------------------------------------------------ */

#define NUMERIC_BASE 10000

/* As numericvar_serialize of PostgreSQL: counts and places of 4 bytes, digits to the base of 10,000. */
static void
append_numeric(StringInfo out, Sum sum)
{
	bool		negative = sum < 0;
	int16		digits[12];
	int			ndigits = 0;
	int			zeros = 0;

	while (sum != 0)
	{
		int			digit = (int) (sum % NUMERIC_BASE);

		digits[ndigits++] = (int16) abs(digit);
		sum /= NUMERIC_BASE;
	}
	while (zeros < ndigits && digits[zeros] == 0)
		zeros++;
	pq_sendint32(out, ndigits - zeros);
	pq_sendint32(out, Max(ndigits - 1, 0));
	pq_sendint32(out, negative ? 0x4000 : 0);
	pq_sendint32(out, 0);
	for (int i = ndigits - 1; i >= zeros; i--)
		pq_sendint16(out, digits[i]);
}

/* The transition state of a sum of `count` values. */
static Datum
sum_state(WcStateKind kind, int64 count, Sum sum)
{
	Datum		pair[2] = {Int64GetDatum(count), Int64GetDatum((int64) sum)};
	StringInfoData bytes;

	switch (kind)
	{
		case WC_STATE_COUNT_AND_SUM:
			return PointerGetDatum(construct_array(pair, 2, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
		case WC_STATE_NUMERIC:
			pq_begintypsend(&bytes);
			pq_sendint64(&bytes, count);
			append_numeric(&bytes, sum);
			return PointerGetDatum(pq_endtypsend(&bytes));
		default:
			return Int64GetDatum((int64) sum);
	}
}

/* --- rows that are in no group ------------------------------------------------------ */

/* Sets the transition states of a tuple of one row. */
static void
set_row_states(const WcGrouped *grouped, Datum *values, bool *isnull)
{
	for (int i = 0; i < grouped->naggregates; i++)
	{
		const WcAggregatePlan *aggregate = &grouped->aggregates[i];
		int			at = grouped->wrel->natts + i;
		bool		present = aggregate->att < 0 || !isnull[aggregate->att];

		isnull[at] = !present && aggregate->state != WC_STATE_COUNT;
		if (aggregate->state == WC_STATE_COUNT)
			values[at] = Int64GetDatum(present ? 1 : 0);
		else if (isnull[at])
			values[at] = (Datum) 0;
		else if (aggregate->state == WC_STATE_VALUE)
			values[at] = values[aggregate->att];
		else
			values[at] = sum_state(aggregate->state, 1,
								   wc_integer_of(wc_filter_codec(grouped->wrel, aggregate->att)->spec.type,
											  values[aggregate->att]));
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

static Datum
group_state(WcGrouped *grouped, const WcAggregatePlan *aggregate, WcSlice bytes)
{
	WcDecoder	d = wc_decoder(bytes);
	uint64		count;
	Sum			sum = 0;

	if (aggregate->state == WC_STATE_VALUE)
	{
		if (wc_filter_in_key(grouped->wrel, aggregate->att))
			return value_in_key(grouped, aggregate->att, bytes);
		return wc_codec_decode(wc_filter_codec(grouped->wrel, aggregate->att), bytes, &grouped->where);
	}
	count = wc_decode_varint(&d);
	if (wc_aggregate_sums((uint8) aggregate->kind))
	{
		uint64		high = wc_decode_u64(&d);

		sum = (Sum) (((unsigned __int128) high << 64) | wc_decode_u64(&d));
	}
	if (!wc_decoder_done(&d) || count > PG_INT64_MAX)
		bad_state(grouped);
	if (aggregate->state == WC_STATE_COUNT)
		return Int64GetDatum((int64) count);
	return sum_state(aggregate->state, (int64) count, sum);
}

static void
set_group(WcGrouped *grouped, WcClientScan *scan, WcSlice row, Datum *values, bool *isnull)
{
	int			natts = grouped->wrel->natts;
	WcCell		cell;
	uint32		colno;

	memset(isnull, true, sizeof(bool) * (natts + grouped->naggregates));
	grouped->where.row = row;
	if (grouped->group_keys != NULL)
		wc_relation_decode_key(grouped->wrel, &grouped->where, grouped->group_keys, values, isnull);
	for (int i = 0; i < grouped->naggregates; i++)
	{
		/* count() has a state even without rows */
		isnull[natts + i] = grouped->aggregates[i].state != WC_STATE_COUNT;
		values[natts + i] = Int64GetDatum(0);
	}
	while (wc_client_next_cell(scan, &cell, &colno))
	{
		if (colno < (uint32) grouped->naggregates)
		{
			values[natts + colno] = group_state(grouped, &grouped->aggregates[colno], cell.value);
			isnull[natts + colno] = false;
		}
		else if (colno < (uint32) (grouped->naggregates + grouped->ngroups))
		{
			int			att = grouped->groups[colno - (uint32) grouped->naggregates];

			values[att] = wc_codec_decode(wc_filter_codec(grouped->wrel, att), cell.value, &grouped->where);
			isnull[att] = false;
		}
		else
			bad_state(grouped);
	}
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
