/*
 * model/aggregation.c: aggregates of a Scan: their rules and their encoding.
 */
#include "model/aggregation.h"

#include "base/limits.h"

#define AGGREGATION_ORDERED	0x01

/* Least bytes of one encoded aggregate: limits the memory that a corrupt count can ask for. */
#define GROUP_BYTES_MIN		2
#define AGGREGATE_BYTES_MIN	1

/* --- rules ----------------------------------------------------------------------- */

static WcStatus
aggregate_check(const WcAggregate *a, uint32_t ncolumns, bool has_keys, WcError *err)
{
	const WcFilterColumn *c = &a->column;
	WcStatus	status;

	if (a->kind > WC_AGGREGATE_KIND_LAST)
		return wc_error(err, WC_INVALID, "an aggregate is of the unknown kind %u", a->kind);
	if (a->kind == WC_AGGREGATE_ROWS)
		return WC_OK;
	status = wc_filter_column_check(c, ncolumns, has_keys, err);
	if (status != WC_OK)
		return status;
	if ((wc_aggregate_sums_floats(a->kind) && (c->form != WC_FORM_FLOAT || (c->width != 4 && c->width != 8))) ||
		(a->kind == WC_AGGREGATE_SUM_SINGLE && c->width != 4) ||
		(a->kind == WC_AGGREGATE_SUM_DECIMAL && c->form != WC_FORM_DECIMAL) ||
		(a->kind == WC_AGGREGATE_SUM && c->form != WC_FORM_SIGNED &&
		 (c->form != WC_FORM_DECIMAL || c->scale != 0 || c->most == 0 || c->most > WC_SUM_DIGITS_MAX)) ||
		(a->kind == WC_AGGREGATE_SUM_ORDERED &&
		 (c->form != WC_FORM_BYTES || (c->width != 2 && c->width != 4 && c->width != 8))))
		return wc_error(err, WC_INVALID, "values of form %u cannot be added up", c->form);
	return WC_OK;
}

WcStatus
wc_aggregation_check(const WcAggregation *aggregation, uint32_t ncolumns, WcError *err)
{
	bool		has_keys = aggregation->keys.len > 0;
	WcStatus	status = WC_OK;

	if (aggregation->ngroups > WC_AGGREGATES_MAX || aggregation->naggregates > WC_AGGREGATES_MAX)
		return wc_error(err, WC_TOO_LARGE, "too many aggregates or group columns in a scan: %u and %u, the limit is %d",
						aggregation->naggregates, aggregation->ngroups, WC_AGGREGATES_MAX);
	if (aggregation->ngroups == 0 && aggregation->naggregates == 0)
		return wc_error(err, WC_INVALID, "an aggregation is empty");
	for (uint32_t i = 0; i < aggregation->ngroups; i++)
	{
		const WcGroupColumn *g = &aggregation->groups[i];

		if (g->in_key ? !has_keys : g->column >= ncolumns)
			return wc_error(err, WC_INVALID, "groups are made of column %u, which the scan does not have", g->column + 1);
	}
	for (uint32_t i = 0; i < aggregation->naggregates && status == WC_OK; i++)
		status = aggregate_check(&aggregation->aggregates[i], ncolumns, has_keys, err);
	return status;
}

bool
wc_aggregation_needs_order(const WcAggregation *aggregation)
{
	for (uint32_t i = 0; i < aggregation->naggregates; i++)
	{
		if (wc_aggregate_sums_floats(aggregation->aggregates[i].kind))
			return true;
	}
	return false;
}

/* --- bytes ------------------------------------------------------------------------ */

void
wc_aggregation_encode(WcBuf *out, const WcAggregation *aggregation)
{
	wc_buf_append_u8(out, aggregation->ordered ? AGGREGATION_ORDERED : 0);
	wc_buf_append_varint(out, aggregation->ngroups);
	for (uint32_t i = 0; i < aggregation->ngroups; i++)
	{
		wc_buf_append_u8(out, aggregation->groups[i].in_key ? 1 : 0);
		wc_buf_append_varint(out, aggregation->groups[i].column);
	}
	wc_buf_append_varint(out, aggregation->naggregates);
	for (uint32_t i = 0; i < aggregation->naggregates; i++)
	{
		wc_buf_append_u8(out, aggregation->aggregates[i].kind);
		if (aggregation->aggregates[i].kind != WC_AGGREGATE_ROWS)
			wc_filter_column_encode(out, &aggregation->aggregates[i].column);
	}
	wc_buf_append_bytes(out, aggregation->keys);
}

void
wc_aggregation_decode(WcDecoder *d, WcArena *arena, WcAggregation **aggregation)
{
	WcAggregation *a = wc_arena_alloc_zero(arena, sizeof(WcAggregation));
	uint8_t		flags;

	*aggregation = NULL;
	if (a == NULL)
		return;
	flags = wc_decode_u8(d);
	if ((flags & ~AGGREGATION_ORDERED) != 0)
		wc_decoder_fail(d);
	a->ordered = (flags & AGGREGATION_ORDERED) != 0;
	a->ngroups = (uint32_t) wc_decode_count(d, WC_AGGREGATES_MAX, GROUP_BYTES_MIN);
	a->groups = wc_arena_alloc_zero(arena, (a->ngroups + 1) * sizeof(WcGroupColumn));
	if (a->groups == NULL)
		return;
	for (uint32_t i = 0; i < a->ngroups; i++)
	{
		a->groups[i].in_key = wc_decode_bool(d);
		a->groups[i].column = (uint32_t) wc_decode_varint_max(d, WC_COLUMNS_MAX);
	}
	a->naggregates = (uint32_t) wc_decode_count(d, WC_AGGREGATES_MAX, AGGREGATE_BYTES_MIN);
	a->aggregates = wc_arena_alloc_zero(arena, (a->naggregates + 1) * sizeof(WcAggregate));
	if (a->aggregates == NULL)
		return;
	for (uint32_t i = 0; i < a->naggregates; i++)
	{
		a->aggregates[i].kind = wc_decode_u8(d);
		if (a->aggregates[i].kind != WC_AGGREGATE_ROWS)
			wc_filter_column_decode(d, &a->aggregates[i].column);
	}
	a->keys = wc_decode_bytes(d);
	*aggregation = a;
}
