/*
 * read/scan/groups.c: groups of rows, with the states of a Scan's aggregates.
 *
 * A group's key is the bytes of its columns, each after its length; a hash table finds the group.  Most rows belong to
 * the group of the row before, so this group is tried first.  If rows are ordered by groups, there is no hash table:
 * there is one group at a time.
 */
#include "read/scan/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "rowkey/keycheck.h"

#define BUCKETS 4096

/* 2^64 rows of 64-bit numbers do not overflow it.  Arenas align to 8 bytes. */
__extension__ typedef __int128 Sum __attribute__((aligned(8)));

/* A decimal sum beyond it, in either direction, ends the groups: they are sent, and begin anew.  A number is less than 10^36. */
#define SUM_MAX ((Sum) 1 << 124)

/* The state of one aggregate for one group. */
typedef struct State
{
	uint64_t	count;			/* rows, or values */
	Sum			sum;
	double		real;			/* the sum of floats */
	double		squares;		/* of their deviations from the mean */
	uint8_t		flags;			/* WcFloatSumFlags */
	uint8_t		scale;			/* of decimal numbers: the greatest */
	uint8_t    *best;			/* MIN, MAX: the key of the value, then the bytes to return */
	uint32_t	key_len;
	uint32_t	len;			/* length of the bytes to return */
	uint32_t	room;
} State;

typedef struct Group
{
	struct Group *next;			/* with the same hash */
	struct Group *later;		/* the one that began after it */
	WcSlice		key;
	WcSlice		row;			/* the row key of its first row */
	State	   *states;
} Group;

/* The value of the present row for an aggregate. */
typedef struct Input
{
	bool		present;
	uint8_t		scale;
	int64_t		number;
	Sum			decimal;		/* in units of the last of WC_SUM_SCALE places */
	double		real;
	WcSlice		value;
	WcSlice		key;			/* in value, or in scratch */
	uint8_t		scratch[WC_FILTER_KEY_MAX];
} Input;

struct WcGroups
{
	WcArena		arena;			/* memory that lives as long as the struct */
	WcAggregation aggregation;
	WcKeyCheck	keys;			/* without parts: keys are not checked */
	uint32_t	ncolumns;		/* of the scan */

	/* the row at hand */
	WcSlice		row;
	WcSlice    *cells;			/* [ncolumns]; data NULL: there is none */
	WcSlice    *parts;
	WcBuf		scratch;		/* of the parts */
	Input	   *inputs;			/* [naggregates] */
	WcBuf		key;			/* of its group */
	WcBuf		copy;			/* a copy of a row that must be added once more */

	/* the groups */
	WcArena		groups_arena;
	size_t		bytes;			/* beside the arena: states' values */
	Group	   *first;
	Group	   *last;			/* began last */
	Group	   *current;		/* of the row before */
	bool		heavy;			/* a sum has come near to its greatest value */
	Group	  **buckets;		/* NULL: not needed yet */
};

static WcStatus
out_of_memory(WcError *err)
{
	return wc_error(err, WC_NO_MEMORY, "out of memory for groups of rows");
}

/* --- making ------------------------------------------------------------------------ */

static bool
copy_aggregation(WcGroups *g, const WcAggregation *from)
{
	WcGroupColumn *groups = wc_arena_alloc(&g->arena, (from->ngroups + 1) * sizeof(WcGroupColumn));
	WcAggregate *aggregates = wc_arena_alloc(&g->arena, (from->naggregates + 1) * sizeof(WcAggregate));

	g->aggregation = *from;
	if (groups == NULL || aggregates == NULL)
		return false;
	for (uint32_t i = 0; i < from->ngroups; i++)
		groups[i] = from->groups[i];
	for (uint32_t i = 0; i < from->naggregates; i++)
		aggregates[i] = from->aggregates[i];
	g->aggregation.groups = groups;
	g->aggregation.aggregates = aggregates;
	g->aggregation.keys = wc_arena_copy(&g->arena, from->keys);
	return from->keys.len == 0 || g->aggregation.keys.data != NULL;
}

static WcStatus
check_part(const WcGroups *g, bool in_key, uint32_t part, WcError *err)
{
	if (in_key && part >= g->keys.layout.nparts)
		return wc_error(err, WC_INVALID, "an aggregation looks at part %u of a row key of %u",
						part + 1, g->keys.layout.nparts);
	return WC_OK;
}

static WcStatus
set_keys(WcGroups *g, WcError *err)
{
	const WcAggregation *a = &g->aggregation;
	WcStatus	status = WC_OK;

	if (a->keys.len == 0)
		return WC_OK;
	status = wc_keycheck_decode(a->keys, &g->arena, &g->keys, err);
	for (uint32_t i = 0; i < a->ngroups && status == WC_OK; i++)
		status = check_part(g, a->groups[i].in_key, a->groups[i].column, err);
	for (uint32_t i = 0; i < a->naggregates && status == WC_OK; i++)
		status = check_part(g, a->aggregates[i].kind != WC_AGGREGATE_ROWS && a->aggregates[i].column.in_key,
							a->aggregates[i].column.column, err);
	return status;
}

WcStatus
wc_groups_create(const WcScan *scan, WcGroups **groups, WcError *err)
{
	WcGroups   *g = calloc(1, sizeof(WcGroups));
	WcStatus	status;

	*groups = NULL;
	if (g == NULL)
		return out_of_memory(err);
	g->ncolumns = scan->ncolumns;
	g->cells = wc_arena_alloc(&g->arena, (g->ncolumns + 1) * sizeof(WcSlice));
	g->inputs = wc_arena_alloc_zero(&g->arena, (scan->aggregation->naggregates + 1) * sizeof(Input));
	if (!copy_aggregation(g, scan->aggregation) || g->cells == NULL || g->inputs == NULL)
		status = out_of_memory(err);
	else
		status = set_keys(g, err);
	if (status == WC_OK)
	{
		g->parts = wc_arena_alloc(&g->arena, (g->keys.layout.nparts + 1) * sizeof(WcSlice));
		if (g->parts == NULL)
			status = out_of_memory(err);
	}
	if (status != WC_OK)
		wc_groups_free(g);
	else
		*groups = g;
	return status;
}

/* Lets the groups go. */
static void
forget(WcGroups *g)
{
	for (Group *group = g->first; group != NULL; group = group->later)
	{
		for (uint32_t i = 0; i < g->aggregation.naggregates; i++)
			free(group->states[i].best);
	}
	if (g->buckets != NULL && g->first != NULL)
		memset(g->buckets, 0, BUCKETS * sizeof(Group *));
	wc_arena_reset(&g->groups_arena);
	g->bytes = 0;
	g->first = g->last = g->current = NULL;
	g->heavy = false;
}

void
wc_groups_free(WcGroups *g)
{
	if (g == NULL)
		return;
	forget(g);
	free(g->buckets);
	wc_buf_free(&g->scratch);
	wc_buf_free(&g->key);
	wc_buf_free(&g->copy);
	wc_arena_free(&g->groups_arena);
	wc_arena_free(&g->arena);
	free(g);
}

bool
wc_groups_need_order(const WcGroups *g)
{
	return wc_aggregation_needs_order(&g->aggregation);
}

bool
wc_groups_ordered(const WcGroups *g)
{
	return g->aggregation.ordered;
}

uint64_t
wc_groups_number(const WcGroups *g)
{
	uint64_t	n = 0;

	for (const Group *group = g->first; group != NULL; group = group->later)
		n++;
	return n;
}

bool
wc_groups_only_count(const WcGroups *g)
{
	for (uint32_t i = 0; i < g->aggregation.naggregates; i++)
	{
		if (g->aggregation.aggregates[i].kind != WC_AGGREGATE_ROWS)
			return false;
	}
	return g->aggregation.ngroups == 0;
}

/* --- the row at hand --------------------------------------------------------------- */

void
wc_groups_start_row(WcGroups *g, WcSlice row)
{
	g->row = row;
	memset(g->cells, 0, g->ncolumns * sizeof(WcSlice));
}

/* Of a column's versions the first counts. */
void
wc_groups_cell(WcGroups *g, uint32_t colno, WcSlice value)
{
	if (colno < g->ncolumns && g->cells[colno].data == NULL)
		g->cells[colno] = value.data != NULL ? value : wc_slice("", 0);
}

/* The bytes to read have just been written by this process. */
static WcStatus
read_entries(WcGroups *g, WcSlice entries, WcError *err)
{
	WcBlockReader r = {.d = wc_decoder(entries)};
	WcCell		cell;
	WcSlice		row;
	uint32_t	colno;
	WcBlockEntry entry;

	for (entry = wc_block_next(&r, &row, &cell, &colno); entry == WC_BLOCK_ROW || entry == WC_BLOCK_CELL;
		 entry = wc_block_next(&r, &row, &cell, &colno))
	{
		if (entry == WC_BLOCK_ROW)
			wc_groups_start_row(g, row);
		else
			wc_groups_cell(g, colno, cell.value);
	}
	if (entry == WC_BLOCK_CORRUPT)
		return wc_error(err, WC_INTERNAL, "a row that was written for its group cannot be read");
	return WC_OK;
}

static int64_t
read_signed(WcSlice value, uint64_t invert)
{
	switch (value.len)
	{
		case 2:
			return (int16_t) (wc_load_u16(value.data) ^ (uint16_t) (invert >> 48));
		case 4:
			return (int32_t) (wc_load_u32(value.data) ^ (uint32_t) (invert >> 32));
		default:
			return (int64_t) (wc_load_u64(value.data) ^ invert);
	}
}

/* "[-]digits", as wc_filter_key has found. */
static int64_t
read_digits(WcSlice value)
{
	bool		negative = value.len > 0 && value.data[0] == '-';
	int64_t		number = 0;

	for (size_t i = negative; i < value.len; i++)
		number = number * 10 + (value.data[i] - '0');
	return negative ? -number : number;
}

/* Appends digits to the number, at most `most`; returns where they end. */
static const uint8_t *
read_places(const uint8_t *p, const uint8_t *end, uint32_t most, Sum *number)
{
	for (; p < end && *p >= '0' && *p <= '9' && most > 0; p++, most--)
		*number = *number * 10 + (*p - '0');
	return p;
}

/* "[-]digits[.digits]"; zeros at the beginning do not count. */
static bool
read_decimal(const WcFilterColumn *column, WcSlice value, Input *input)
{
	static const uint64_t powers[] = {
		1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, UINT64_C(10000000000)
	};
	const uint8_t *p = value.data;
	const uint8_t *end = p + value.len;
	bool		negative = p < end && *p == '-';
	uint32_t	places;
	const uint8_t *digits;

	_Static_assert(WC_SUM_SCALE == 20, "two powers of ten make it");
	input->decimal = 0;
	input->scale = 0;
	digits = p += negative;
	while (p < end && *p == '0')
		p++;
	places = column->most > 0 && column->most < WC_SUM_WHOLE_MAX ? column->most : WC_SUM_WHOLE_MAX;
	p = read_places(p, end, places, &input->decimal);
	if (p == digits)
		return false;
	if (p < end && *p == '.')
	{
		digits = ++p;
		p = read_places(p, end, column->scale < WC_SUM_SCALE ? column->scale : WC_SUM_SCALE, &input->decimal);
		if (p == digits)
			return false;
		input->scale = (uint8_t) (p - digits);
	}
	places = WC_SUM_SCALE - input->scale;
	if (places > 10)
		input->decimal *= powers[10];
	input->decimal *= powers[places > 10 ? places - 10 : places];
	if (negative)
		input->decimal = -input->decimal;
	return p == end;
}

static double
read_real(WcSlice value)
{
	uint32_t	single;
	uint64_t	bits;
	float		f;
	double		d;

	if (value.len == sizeof(single))
	{
		single = wc_load_u32(value.data);
		memcpy(&f, &single, sizeof(f));
		return (double) f;
	}
	bits = wc_load_u64(value.data);
	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* Are the bytes a number of the column's width, for a sum? */
static bool
is_binary_sum(const WcAggregate *a)
{
	return a->kind == WC_AGGREGATE_SUM_ORDERED || (a->kind == WC_AGGREGATE_SUM && a->column.form == WC_FORM_SIGNED);
}

/* False: the bytes are not understood. */
static bool
read_input(const WcGroups *g, const WcAggregate *a, Input *input)
{
	const WcSlice *value;

	if (a->kind == WC_AGGREGATE_ROWS)
		return true;
	value = a->column.in_key ? &g->parts[a->column.column] : &g->cells[a->column.column];
	input->present = a->column.in_key || value->data != NULL;
	if (!input->present)
		return true;
	if (is_binary_sum(a))
	{
		if (value->len != a->column.width)
			return false;
		input->number = read_signed(*value, a->kind == WC_AGGREGATE_SUM_ORDERED ? UINT64_C(1) << 63 : 0);
		return true;
	}
	if (wc_aggregate_sums_floats(a->kind))
	{
		if (value->len != a->column.width)
			return false;
		input->real = read_real(*value);
		return true;
	}
	if (a->kind == WC_AGGREGATE_SUM_DECIMAL)
		return read_decimal(&a->column, *value, input);
	input->value = *value;
	if (!wc_filter_key(&a->column, input->value, input->scratch, &input->key))
		return false;
	if (a->kind == WC_AGGREGATE_SUM)
		input->number = read_digits(input->value);
	return true;
}

static bool
read_inputs(WcGroups *g)
{
	if (g->keys.layout.nparts > 0 && !wc_keycheck_reads(&g->keys, g->row, &g->scratch, g->parts))
		return false;
	for (uint32_t i = 0; i < g->aggregation.naggregates; i++)
	{
		if (!read_input(g, &g->aggregation.aggregates[i], &g->inputs[i]))
			return false;
	}
	return true;
}

/* Appends the bytes of the group's columns; a length is one too great, so that 0 means NULL. */
static WcStatus
make_key(WcGroups *g, WcError *err)
{
	g->key.len = 0;
	for (uint32_t i = 0; i < g->aggregation.ngroups; i++)
	{
		const WcGroupColumn *column = &g->aggregation.groups[i];
		WcSlice		value = column->in_key ? g->parts[column->column] : g->cells[column->column];
		bool		present = column->in_key || value.data != NULL;

		wc_buf_append_varint(&g->key, present ? value.len + 1 : 0);
		if (present)
			wc_buf_append_slice(&g->key, value);
	}
	return g->key.failed ? wc_buf_status(&g->key, "group of rows", err) : WC_OK;
}

/* --- groups ------------------------------------------------------------------------- */

static uint32_t
bucket_of(WcSlice key)
{
	uint64_t	hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < key.len; i++)
		hash = (hash ^ key.data[i]) * UINT64_C(1099511628211);
	return (uint32_t) (hash >> 32) % BUCKETS;
}

/* The group with the row's key; NULL: there is none yet. */
static Group *
find_group(const WcGroups *g, WcSlice key)
{
	Group	   *group;

	if (g->current == NULL || wc_slice_eq(g->current->key, key))
		return g->current;
	if (g->buckets == NULL)
		return NULL;
	group = g->buckets[bucket_of(key)];
	while (group != NULL && !wc_slice_eq(group->key, key))
		group = group->next;
	return group;
}

static WcStatus
begin_group(WcGroups *g, WcSlice key, WcSlice row, Group **begun, WcError *err)
{
	Group	   *group = wc_arena_alloc_zero(&g->groups_arena, sizeof(Group));
	bool		table = g->aggregation.ngroups > 0 && !g->aggregation.ordered;

	if (group == NULL)
		return out_of_memory(err);
	group->key = wc_arena_copy(&g->groups_arena, key);
	group->row = wc_arena_copy(&g->groups_arena, row);
	group->states = wc_arena_alloc_zero(&g->groups_arena, (g->aggregation.naggregates + 1) * sizeof(State));
	if ((key.len > 0 && group->key.data == NULL) || group->row.data == NULL || group->states == NULL)
		return out_of_memory(err);
	if (table && g->buckets == NULL)
	{
		g->buckets = calloc(BUCKETS, sizeof(Group *));
		if (g->buckets == NULL)
			return out_of_memory(err);
	}
	if (table)
	{
		Group	  **bucket = &g->buckets[bucket_of(key)];

		group->next = *bucket;
		*bucket = group;
	}
	if (g->last != NULL)
		g->last->later = group;
	else
		g->first = group;
	g->last = group;
	*begun = group;
	return WC_OK;
}

/* Keeps the input's value as the best one; for a part of the key the row key is returned. */
static WcStatus
keep_best(WcGroups *g, State *state, const Input *input, WcSlice value, WcError *err)
{
	size_t		len = input->key.len + value.len;

	if (len > state->room || state->best == NULL)
	{
		size_t		room = len + len / 2 + 8;
		uint8_t    *best = realloc(state->best, room);

		if (best == NULL)
			return out_of_memory(err);
		g->bytes += room - state->room;
		state->best = best;
		state->room = (uint32_t) room;
	}
	wc_slice_copy(state->best, input->key);
	wc_slice_copy(state->best + input->key.len, value);
	state->key_len = (uint32_t) input->key.len;
	state->len = (uint32_t) value.len;
	return WC_OK;
}

static WcStatus
compare_value(WcGroups *g, const WcAggregate *a, State *state, const Input *input, WcError *err)
{
	int			c = state->count == 0 ? 0 : wc_slice_cmp(input->key, wc_slice(state->best, state->key_len));

	state->count++;
	if (a->kind == WC_AGGREGATE_MIN ? c > 0 : c < 0)
		return WC_OK;
	return keep_best(g, state, input, a->column.in_key ? g->row : input->value, err);
}

static void
add_decimal(WcGroups *g, State *state, const Input *input)
{
	state->sum += input->decimal;
	if (input->scale > state->scale)
		state->scale = input->scale;
	g->heavy |= state->sum > SUM_MAX || state->sum < -SUM_MAX;
}

/* As PostgreSQL's float8_accum does, and float4pl. */
static void
add_real(State *state, uint8_t kind, double value)
{
	double		before = state->real;
	double		n = (double) state->count;
	double		deviation;

	if (state->count == 0)
	{
		state->real = value;
		state->squares = isfinite(value) ? 0 : NAN;
		return;
	}
	state->real = kind == WC_AGGREGATE_SUM_SINGLE ? (double) ((float) before + (float) value) : before + value;
	deviation = value * (n + 1) - state->real;
	state->squares += deviation * deviation / (n * (n + 1));
	if (!isinf(state->real) && !isinf(state->squares))
		return;
	if (!isinf(before) && !isinf(value))
		state->flags |= isinf(state->real) ? WC_SUM_OVERFLOW : WC_SQUARES_OVERFLOW;
	state->squares = NAN;
}

static WcStatus
add_inputs(WcGroups *g, Group *group, WcError *err)
{
	WcStatus	status = WC_OK;

	for (uint32_t i = 0; i < g->aggregation.naggregates && status == WC_OK; i++)
	{
		const WcAggregate *a = &g->aggregation.aggregates[i];
		const Input *input = &g->inputs[i];
		State	   *state = &group->states[i];

		if (a->kind == WC_AGGREGATE_ROWS)
			state->count++;
		else if (!input->present)
			continue;
		else if (a->kind == WC_AGGREGATE_MIN || a->kind == WC_AGGREGATE_MAX)
			status = compare_value(g, a, state, input, err);
		else
		{
			if (wc_aggregate_sums_integers(a->kind))
				state->sum += input->number;
			else if (a->kind == WC_AGGREGATE_SUM_DECIMAL)
				add_decimal(g, state, input);
			else if (wc_aggregate_sums_floats(a->kind))
				add_real(state, a->kind, input->real);
			state->count++;
		}
	}
	return status;
}

WcStatus
wc_groups_add(WcGroups *g, WcGroupsAdded *added, WcError *err)
{
	Group	   *group;
	WcStatus	status = WC_OK;

	*added = WC_GROUPS_UNDECIDED;
	if (!read_inputs(g))
		return WC_OK;
	if (g->aggregation.ngroups > 0)
		status = make_key(g, err);
	if (status != WC_OK)
		return status;
	*added = WC_GROUPS_FULL;
	group = find_group(g, wc_buf_slice(&g->key));
	if (g->first != NULL &&
		(g->heavy || g->groups_arena.total + g->bytes > WC_GROUPS_BYTES_MAX || (group == NULL && g->aggregation.ordered)))
		return WC_OK;
	*added = WC_GROUPS_ADDED;
	if (group == NULL)
		status = begin_group(g, wc_buf_slice(&g->key), g->row, &group, err);
	if (status != WC_OK)
		return status;
	g->current = group;
	return add_inputs(g, group, err);
}

WcStatus
wc_groups_add_entries(WcGroups *g, WcSlice entries, WcGroupsAdded *added, WcError *err)
{
	WcStatus	status = read_entries(g, entries, err);

	if (status == WC_OK)
		status = wc_groups_add(g, added, err);
	if (status != WC_OK || *added != WC_GROUPS_FULL)
		return status;
	g->copy.len = 0;
	wc_buf_append_slice(&g->copy, entries);
	if (g->copy.failed)
		return wc_buf_status(&g->copy, "row", err);
	return read_entries(g, wc_buf_slice(&g->copy), err);
}

WcStatus
wc_groups_count_row(WcGroups *g, WcSlice row, WcError *err)
{
	if (g->current == NULL)
	{
		WcStatus	status = begin_group(g, wc_slice(NULL, 0), row, &g->current, err);

		if (status != WC_OK)
			return status;
	}
	return add_inputs(g, g->current, err);
}

/* --- results ---------------------------------------------------------------- */

static uint8_t *
store_real(uint8_t *to, double real)
{
	uint64_t	bits;

	memcpy(&bits, &real, sizeof(bits));
	wc_store_u64(to, bits);
	return to + sizeof(bits);
}

static void
write_state(WcBlockWriter *w, uint32_t position, const WcAggregate *a, const State *state)
{
	uint8_t		bytes[WC_VARINT_MAX + WC_SUM_BYTES + 1];
	uint8_t    *end = bytes;
	WcCell		cell = {.type = WC_PUT};

	if (a->kind == WC_AGGREGATE_MIN || a->kind == WC_AGGREGATE_MAX)
		cell.value = wc_slice(state->best + state->key_len, state->len);
	else
	{
		end = wc_store_varint(end, state->count);
		if (wc_aggregate_sums_integers(a->kind) || a->kind == WC_AGGREGATE_SUM_DECIMAL)
		{
			wc_store_u64(end, (uint64_t) (state->sum >> 64));
			wc_store_u64(end + 8, (uint64_t) state->sum);
			end += WC_SUM_BYTES;
		}
		if (a->kind == WC_AGGREGATE_SUM_DECIMAL)
			*end++ = state->scale;
		if (wc_aggregate_sums_floats(a->kind))
		{
			end = store_real(store_real(end, state->real), state->squares);
			*end++ = state->flags;
		}
		cell.value = wc_slice(bytes, (size_t) (end - bytes));
	}
	wc_block_cell(w, position, &cell, false, false);
}

static void
write_group(WcGroups *g, WcBlockWriter *w, const Group *group)
{
	const WcAggregation *a = &g->aggregation;
	WcDecoder	key = wc_decoder(group->key);

	wc_block_row(w, group->row, false);
	for (uint32_t i = 0; i < a->naggregates; i++)
	{
		if (a->aggregates[i].kind == WC_AGGREGATE_ROWS || group->states[i].count > 0)
			write_state(w, i, &a->aggregates[i], &group->states[i]);
	}
	for (uint32_t i = 0; i < a->ngroups; i++)
	{
		uint64_t	len = wc_decode_varint(&key);
		WcCell		cell = {.type = WC_PUT};

		if (len == 0)
			continue;
		cell.value = wc_decode_raw(&key, len - 1);
		if (!a->groups[i].in_key)
			wc_block_cell(w, a->naggregates + i, &cell, false, false);
	}
}

uint64_t
wc_groups_write(WcGroups *g, WcBlockWriter *w)
{
	uint64_t	n = 0;

	for (const Group *group = g->first; group != NULL; group = group->later)
	{
		write_group(g, w, group);
		n++;
	}
	forget(g);
	return n;
}
