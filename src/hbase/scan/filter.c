/*
 * hbase/scan/filter.c: a Scan's filter as one of HBase's.
 *
 * HBase compares bytes.  So HBase gets comparisons of columns whose bytes are the value (text and bytea).  Other
 * columns can have bytes that the Scan's filter cannot decide, and rows with such bytes must be returned.  A
 * condition that HBase cannot decide is left out of an AND; an OR with such a condition is left out completely.
 */
#include "hbase/scan/filter.h"

#include <stdlib.h>

#include "thrift/hbasefilter.h"

/* An IN with more values becomes the range from the least to the greatest. */
#define VALUES_MAX 100

/* A filter has at most so many bytes of values; else HBase gets no filter. */
#define BYTES_MAX (256 * 1024)

typedef struct Maker
{
	const WcHBaseReader *reader;
	const WcFilter *filter;
	uint32		at;				/* the next node */
} Maker;

static bool make(Maker *m, bool negated, WcBuf *out);

static uint32
nchildren(const WcFilterNode *node)
{
	switch (node->kind)
	{
		case WC_FILTER_AND:
		case WC_FILTER_OR:
			return node->n;
		case WC_FILTER_NOT:
		case WC_FILTER_IS_TRUE:
			return 1;
		default:
			return 0;
	}
}

/* Appends a list of the filters, which are freed. */
static void
put_list(WcBuf *out, bool one, WcBuf *filters, uint32 n)
{
	WcSlice    *slices = calloc(Max(n, 1), sizeof(WcSlice));

	out->failed |= slices == NULL;
	for (uint32 i = 0; i < n; i++)
	{
		out->failed |= filters[i].failed;
		if (slices != NULL)
			slices[i] = wc_buf_slice(&filters[i]);
	}
	if (slices != NULL)
		wc_hbasefilter_list(out, one, slices, n);
	for (uint32 i = 0; i < n; i++)
		wc_buf_free(&filters[i]);
	free(slices);
}

/* Makes a list of n children, of which all must hold, or (one) at least one. */
static bool
make_list(Maker *m, uint32 n, bool one, bool negated, WcBuf *out)
{
	WcBuf	   *filters = calloc(Max(n, 1), sizeof(WcBuf));
	uint32		made = 0;

	if (filters == NULL)
	{
		out->failed = true;
		return false;
	}
	for (uint32 i = 0; i < n; i++)
		made += make(m, negated, &filters[made]);
	if (made > 0 && (made == n || !one))
		put_list(out, one, filters, made);
	else
	{
		for (uint32 i = 0; i < made; i++)
			wc_buf_free(&filters[i]);
		made = 0;
	}
	free(filters);
	return made > 0;
}

/* The column's name; false: HBase cannot compare it. */
static bool
find_column(const Maker *m, const WcFilterNode *node, WcSlice *family, WcSlice *qualifier)
{
	const WcFilterColumn *column = &m->filter->columns[node->column];
	const WcColumn *named;
	const WcFamilyDesc *desc;

	if (column->in_key || column->form != WC_FORM_BYTES || column->width > 0 || column->most > 0)
		return false;
	named = &m->reader->scan->columns[column->column];
	desc = wc_table_desc_family_by_id(m->reader->desc, named->family);
	if (desc == NULL)
		return false;
	*family = desc->name;
	*qualifier = named->qualifier;
	return true;
}

static WcHBaseCompare
operator_of(uint8 kind, bool negated)
{
	switch (kind)
	{
		case WC_FILTER_LT:
			return negated ? WC_HBASE_GE : WC_HBASE_LT;
		case WC_FILTER_LE:
			return negated ? WC_HBASE_GT : WC_HBASE_LE;
		case WC_FILTER_GT:
			return negated ? WC_HBASE_LE : WC_HBASE_GT;
		case WC_FILTER_GE:
			return negated ? WC_HBASE_LT : WC_HBASE_GE;
		default:
			return negated ? WC_HBASE_NE : WC_HBASE_EQ;
	}
}

/* Equal to one of the values, or (negated) to none of them; the values ascend. */
static bool
make_in(const WcFilterNode *node, bool negated, WcSlice family, WcSlice qualifier, WcBuf *out)
{
	WcBuf		filters[VALUES_MAX];
	bool		exact = node->n <= VALUES_MAX;
	uint32		n = exact ? node->n : 2;

	if (n == 0 || (negated && !exact))
		return false;
	for (uint32 i = 0; i < n; i++)
	{
		WcSlice		value = node->values[exact || i == 0 ? i : node->n - 1];
		WcHBaseCompare op = exact ? operator_of(WC_FILTER_EQ, negated) : i == 0 ? WC_HBASE_GE : WC_HBASE_LE;

		wc_buf_init(&filters[i], 0);
		wc_hbasefilter_value(&filters[i], family, qualifier, &(WcHBaseComparison) {.op = op,.value = value}, true, true);
	}
	put_list(out, exact && !negated, filters, n);
	return true;
}

/* A comparison; a row without the column satisfies neither the comparison nor its negation. */
static bool
make_leaf(const Maker *m, const WcFilterNode *node, bool negated, WcBuf *out)
{
	WcHBaseComparison comparison = {0};
	WcSlice		family;
	WcSlice		qualifier;

	if (!find_column(m, node, &family, &qualifier))
		return false;
	switch (node->kind)
	{
		case WC_FILTER_IS_NULL:
			/* no value is less than an empty one */
			comparison.op = negated ? WC_HBASE_GE : WC_HBASE_LT;
			wc_hbasefilter_value(out, family, qualifier, &comparison, negated, true);
			return true;
		case WC_FILTER_PREFIX:
			if (negated)
				return false;
			comparison = (WcHBaseComparison) {.op = WC_HBASE_EQ,.comparator = WC_HBASE_PREFIX,.value = node->values[0]};
			break;
		case WC_FILTER_IN:
			return make_in(node, negated, family, qualifier, out);
		default:
			comparison = (WcHBaseComparison) {.op = operator_of(node->kind, negated),.value = node->values[0]};
	}
	wc_hbasefilter_value(out, family, qualifier, &comparison, true, true);
	return true;
}

/* Makes the filter of the rows that satisfy the next node, or (negated) of those for which the node is false. False:
 * HBase cannot decide the node. */
static bool
make(Maker *m, bool negated, WcBuf *out)
{
	const WcFilterNode *node = &m->filter->nodes[m->at++];
	uint32		n = nchildren(node);

	switch (node->kind)
	{
		case WC_FILTER_AND:
			return make_list(m, n, negated, negated, out);
		case WC_FILTER_OR:
			return make_list(m, n, !negated, negated, out);
		case WC_FILTER_NOT:
			return make(m, !negated, out);
		case WC_FILTER_IS_TRUE:
			{
				/* the negation holds for unknown, too */
				WcBuf		unused = WC_BUF_INIT;
				bool		made = make(m, false, negated ? &unused : out);

				wc_buf_free(&unused);
				return made && !negated;
			}
		case WC_FILTER_UNKNOWN:
			return false;
		default:
			return make_leaf(m, node, negated, out);
	}
}

void
wc_hbase_filter(const WcHBaseReader *reader, WcBuf *out)
{
	const WcFilter *filter = reader->scan->filter;
	Maker		m = {.reader = reader,.filter = filter};
	size_t		bytes = 0;

	if (filter == NULL || filter->nnodes == 0)
		return;
	for (uint32 i = 0; i < filter->nnodes; i++)
	{
		for (uint32 k = 0; k < wc_filter_nvalues(&filter->nodes[i]); k++)
			bytes += filter->nodes[i].values[k].len;
	}
	if (bytes <= BYTES_MAX)
		(void) make(&m, false, out);
}
