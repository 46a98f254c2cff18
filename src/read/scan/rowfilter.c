/*
 * read/scan/rowfilter.c: does a row satisfy a Scan's filter?
 *
 * A comparison is decided when its column's cell is passed in; comparisons of parts of the row key are decided when the
 * row begins.  The tree is evaluated once, when all comparisons are decided; but conditions that must hold and depend on
 * the key alone are evaluated first.
 */
#include "read/scan/rowfilter.h"

#include "rowkey/keycheck.h"

#define NONE UINT32_MAX

/* SQL's three values, so that AND is the least, OR the greatest. */
typedef enum Truth
{
	FALSE = 0,
	UNKNOWN = 1,
	TRUE = 2
} Truth;

typedef struct Column
{
	WcFilterColumn form;
	uint32_t	next_same;		/* another one on the same cell, or NONE */
	uint32_t	first_node;		/* the nodes on this column, or NONE */
	bool		seen;			/* in this row */
} Column;

typedef struct Node
{
	uint8_t		kind;
	uint8_t		truth;			/* of a node that has a column */
	uint32_t	n;
	uint32_t	next;			/* the node behind all of its own */
	uint32_t	next_same;		/* another one on the same column, or NONE */
	const WcSlice *values;
} Node;

struct WcRowFilter
{
	WcFilter   *filter;
	uint32_t	nscan;			/* columns of the scan */
	uint32_t   *of_scan;		/* [nscan]: the first of columns that is on it, or NONE */
	uint32_t	ncolumns;
	Column	   *columns;
	uint32_t	nnodes;
	Node	   *nodes;
	uint32_t	nkeynodes;		/* conditions that must hold and depend on the row key alone */
	uint32_t   *keynodes;

	WcKeyCheck	keys;			/* without parts: keys are not checked */
	WcSlice    *parts;			/* of the row's key; may point into scratch */
	WcBuf		scratch;

	uint32_t	left;			/* columns not seen in this row */
	bool		undecided;
	bool		settled;		/* there is a verdict: */
	WcFilterVerdict verdict;
};

static Truth decide(const WcRowFilter *f, uint32_t at);

/* --- making ------------------------------------------------------------------- */

/* NULL: memory is out. */
static WcFilter *
copy_filter(WcArena *arena, const WcFilter *from)
{
	WcFilter   *copy = wc_arena_alloc(arena, sizeof(WcFilter));
	WcFilterColumn *columns = wc_arena_alloc(arena, from->ncolumns * sizeof(WcFilterColumn));
	WcFilterNode *nodes = wc_arena_alloc(arena, from->nnodes * sizeof(WcFilterNode));

	if (copy == NULL || columns == NULL || nodes == NULL)
		return NULL;
	*copy = *from;
	copy->columns = memcpy(columns, from->columns, from->ncolumns * sizeof(WcFilterColumn));
	copy->nodes = memcpy(nodes, from->nodes, from->nnodes * sizeof(WcFilterNode));
	copy->keys = wc_arena_copy(arena, from->keys);
	for (uint32_t i = 0; i < from->nnodes; i++)
	{
		uint32_t	n = wc_filter_nvalues(&from->nodes[i]);

		nodes[i].values = wc_arena_alloc(arena, (n + 1) * sizeof(WcSlice));
		for (uint32_t k = 0; nodes[i].values != NULL && k < n; k++)
		{
			nodes[i].values[k] = wc_arena_copy(arena, from->nodes[i].values[k]);
			if (nodes[i].values[k].len > 0 && nodes[i].values[k].data == NULL)
				return NULL;
		}
		if (nodes[i].values == NULL)
			return NULL;
	}
	return from->keys.len == 0 || copy->keys.data != NULL ? copy : NULL;
}

/* Sets next of the node and all of its own; returns it. */
static uint32_t
find_next(WcRowFilter *f, uint32_t at)
{
	Node	   *node = &f->nodes[at];
	uint32_t	children = 0;

	if (node->kind == WC_FILTER_AND || node->kind == WC_FILTER_OR)
		children = node->n;
	else if (node->kind == WC_FILTER_NOT || node->kind == WC_FILTER_IS_TRUE)
		children = 1;
	at++;
	for (uint32_t i = 0; i < children; i++)
		at = find_next(f, at);
	node->next = at;
	return at;
}

static void
set_columns(WcRowFilter *f)
{
	for (uint32_t i = 0; i < f->nscan; i++)
		f->of_scan[i] = NONE;
	for (uint32_t i = 0; i < f->ncolumns; i++)
	{
		const WcFilterColumn *column = &f->filter->columns[i];

		f->columns[i].form = *column;
		f->columns[i].first_node = NONE;
		f->columns[i].next_same = NONE;
		if (column->in_key)
			continue;
		f->columns[i].next_same = f->of_scan[column->column];
		f->of_scan[column->column] = i;
	}
}

static void
set_nodes(WcRowFilter *f)
{
	for (uint32_t i = 0; i < f->nnodes; i++)
	{
		const WcFilterNode *node = &f->filter->nodes[i];

		f->nodes[i].kind = node->kind;
		f->nodes[i].n = node->n;
		f->nodes[i].values = node->values;
		f->nodes[i].next_same = NONE;
		if (!wc_filter_kind_has_column(node->kind))
			continue;
		f->nodes[i].next_same = f->columns[node->column].first_node;
		f->columns[node->column].first_node = i;
	}
	(void) find_next(f, 0);
}

/* --- making: the row key --------------------------------------------------------- */

static WcStatus
set_keys(WcRowFilter *f, WcArena *arena, WcError *err)
{
	WcStatus	status = wc_keycheck_decode(f->filter->keys, arena, &f->keys, err);

	if (status != WC_OK)
		return status;
	for (uint32_t i = 0; i < f->ncolumns; i++)
	{
		if (f->columns[i].form.in_key && f->columns[i].form.column >= f->keys.layout.nparts)
			return wc_error(err, WC_INVALID, "a filter looks at part %u of a row key of %u",
							f->columns[i].form.column + 1, f->keys.layout.nparts);
	}
	f->parts = wc_arena_alloc(arena, f->keys.layout.nparts * sizeof(WcSlice));
	return f->parts != NULL ? WC_OK : wc_error(err, WC_NO_MEMORY, "out of memory for a filter");
}

/* Does the node depend on the row key alone? */
static bool
is_of_key(const WcRowFilter *f, uint32_t at)
{
	for (uint32_t i = at; i < f->nodes[at].next; i++)
	{
		if (wc_filter_kind_has_column(f->nodes[i].kind) && !f->columns[f->filter->nodes[i].column].form.in_key)
			return false;
	}
	return true;
}

/* The arms of the AND at the top, or the whole. */
static void
find_keynodes(WcRowFilter *f)
{
	bool		and = f->nodes[0].kind == WC_FILTER_AND;

	for (uint32_t at = and ? 1 : 0; at < f->nnodes; at = f->nodes[at].next)
	{
		if (is_of_key(f, at))
			f->keynodes[f->nkeynodes++] = at;
	}
}

WcStatus
wc_rowfilter_create(WcArena *arena, const WcScan *scan, WcRowFilter **filter, WcError *err)
{
	const WcFilter *from = scan->filter;
	WcRowFilter *f = wc_arena_alloc_zero(arena, sizeof(WcRowFilter));
	WcStatus	status = WC_OK;

	*filter = NULL;
	if (f == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a filter");
	f->nscan = scan->ncolumns;
	f->ncolumns = from->ncolumns;
	f->nnodes = from->nnodes;
	f->filter = copy_filter(arena, from);
	f->of_scan = wc_arena_alloc(arena, (f->nscan + 1) * sizeof(uint32_t));
	f->columns = wc_arena_alloc_zero(arena, f->ncolumns * sizeof(Column));
	f->nodes = wc_arena_alloc_zero(arena, f->nnodes * sizeof(Node));
	f->keynodes = wc_arena_alloc(arena, f->nnodes * sizeof(uint32_t));
	if (f->filter == NULL || f->of_scan == NULL || f->columns == NULL || f->nodes == NULL || f->keynodes == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a filter");
	set_columns(f);
	set_nodes(f);
	if (from->keys.len > 0)
	{
		status = set_keys(f, arena, err);
		find_keynodes(f);
	}
	*filter = status == WC_OK ? f : NULL;
	return status;
}

void
wc_rowfilter_free(WcRowFilter *f)
{
	if (f != NULL)
		wc_buf_free(&f->scratch);
}

bool
wc_rowfilter_wants(const WcRowFilter *f, uint32_t colno)
{
	return colno < f->nscan && f->of_scan[colno] != NONE;
}

const WcFilter *
wc_rowfilter_filter(const WcRowFilter *f)
{
	return f->filter;
}

const WcKeyLayout *
wc_rowfilter_layout(const WcRowFilter *f)
{
	return f->keys.layout.nparts > 0 ? &f->keys.layout : NULL;
}

const WcSlice *
wc_rowfilter_parts(const WcRowFilter *f)
{
	return f->parts;
}

/* --- a row ---------------------------------------------------------------------- */

static bool
is_one_of(WcSlice key, const WcSlice *values, uint32_t n)
{
	uint32_t	lo = 0;
	uint32_t	hi = n;

	while (lo < hi)
	{
		uint32_t	mid = lo + (hi - lo) / 2;
		int			c = wc_slice_cmp(key, values[mid]);

		if (c == 0)
			return true;
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return false;
}

static bool
holds(const Node *node, WcSlice key)
{
	switch (node->kind)
	{
		case WC_FILTER_EQ:
			return wc_slice_eq(key, node->values[0]);
		case WC_FILTER_LT:
			return wc_slice_cmp(key, node->values[0]) < 0;
		case WC_FILTER_LE:
			return wc_slice_cmp(key, node->values[0]) <= 0;
		case WC_FILTER_GT:
			return wc_slice_cmp(key, node->values[0]) > 0;
		case WC_FILTER_GE:
			return wc_slice_cmp(key, node->values[0]) >= 0;
		case WC_FILTER_PREFIX:
			return wc_slice_starts_with(key, node->values[0]);
		case WC_FILTER_IN:
			return is_one_of(key, node->values, node->n);
		default:
			return false;		/* IS_NULL */
	}
}

static void
show_column(WcRowFilter *f, Column *column, WcSlice value, int64_t ts)
{
	uint8_t		scratch[WC_FILTER_KEY_MAX];
	uint8_t		written[8];
	WcSlice		key;

	if (column->form.form == WC_FORM_WRITTEN)
	{
		wc_store_u64(written, (uint64_t) ts);
		value = wc_slice(written, sizeof(written));
	}

	column->seen = true;
	f->left--;
	if (!wc_filter_key(&column->form, value, scratch, &key))
	{
		f->undecided = true;
		return;
	}
	for (uint32_t i = column->first_node; i != NONE; i = f->nodes[i].next_same)
		f->nodes[i].truth = holds(&f->nodes[i], key) ? TRUE : FALSE;
}

static void
settle(WcRowFilter *f, WcFilterVerdict verdict)
{
	f->settled = true;
	f->verdict = verdict;
}

/* Shows the filter the parts of the key, and checks whether they decide the row. */
static void
show_key(WcRowFilter *f, WcSlice row)
{
	if (!wc_keycheck_reads(&f->keys, row, &f->scratch, f->parts))
	{
		f->undecided = true;
		return;
	}
	for (uint32_t i = 0; i < f->ncolumns; i++)
	{
		if (f->columns[i].form.in_key)
			show_column(f, &f->columns[i], f->parts[f->columns[i].form.column], 0);
	}
	for (uint32_t i = 0; i < f->nkeynodes && !f->undecided && !f->settled; i++)
	{
		if (decide(f, f->keynodes[i]) != TRUE)
			settle(f, WC_FILTER_REJECTS);
	}
}

bool
wc_rowfilter_start_row(WcRowFilter *f, WcSlice row)
{
	for (uint32_t i = 0; i < f->ncolumns; i++)
		f->columns[i].seen = false;
	f->left = f->ncolumns;
	f->undecided = false;
	f->settled = false;
	if (f->keys.layout.nparts > 0)
		show_key(f, row);
	return f->settled || f->undecided || f->left == 0;
}

bool
wc_rowfilter_cell(WcRowFilter *f, uint32_t colno, WcSlice value, int64_t ts)
{
	if (f->settled)
		return true;
	if (colno >= f->nscan)
		return false;
	for (uint32_t i = f->of_scan[colno]; i != NONE; i = f->columns[i].next_same)
	{
		if (!f->columns[i].seen)
			show_column(f, &f->columns[i], value, ts);
	}
	return f->undecided || f->left == 0;
}

/* --- the verdict ------------------------------------------------------------------ */

static Truth
decide(const WcRowFilter *f, uint32_t at)
{
	const Node *node = &f->nodes[at];
	Truth		truth = node->kind == WC_FILTER_AND ? TRUE : FALSE;

	switch (node->kind)
	{
		case WC_FILTER_AND:
		case WC_FILTER_OR:
			for (at++; at < node->next; at = f->nodes[at].next)
			{
				Truth		child = decide(f, at);

				if (node->kind == WC_FILTER_AND ? child < truth : child > truth)
					truth = child;
				if (truth == (node->kind == WC_FILTER_AND ? FALSE : TRUE))
					break;
			}
			return truth;
		case WC_FILTER_NOT:
			return (Truth) (TRUE - decide(f, at + 1));
		case WC_FILTER_IS_TRUE:
			return decide(f, at + 1) == TRUE ? TRUE : FALSE;
		case WC_FILTER_UNKNOWN:
			return UNKNOWN;
		default:
			return (Truth) node->truth;
	}
}

/* Decides the comparisons of columns without a cell. */
static void
show_missing(WcRowFilter *f)
{
	for (uint32_t i = 0; i < f->ncolumns; i++)
	{
		if (f->columns[i].seen)
			continue;
		for (uint32_t k = f->columns[i].first_node; k != NONE; k = f->nodes[k].next_same)
			f->nodes[k].truth = f->nodes[k].kind == WC_FILTER_IS_NULL ? TRUE : UNKNOWN;
	}
}

WcFilterVerdict
wc_rowfilter_verdict(WcRowFilter *f)
{
	if (f->undecided)
		return WC_FILTER_UNDECIDED;
	if (!f->settled)
	{
		if (f->left > 0)
			show_missing(f);
		settle(f, decide(f, 0) == TRUE ? WC_FILTER_PASSES : WC_FILTER_REJECTS);
	}
	return f->verdict;
}
