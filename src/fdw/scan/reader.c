/*
 * fdw/scan/reader.c: a stored table's rows as rows of a foreign table.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "base/printable.h"
#include "fdw/condition/filter.h"
#include "fdw/plan/mapkeys.h"
#include "fdw/relation/recordtype.h"
#include "fdw/scan/map.h"
#include "fdw/scan/reader.h"

/* The versions of one cell, as they come. */
typedef struct Versions
{
	Oid			element;		/* widecol.version */
	TupleDesc	tupdesc;
	int			n;
	int			max;			/* room in elems */
	Datum	   *elems;
} Versions;

/* One column of the foreign table that a cell, or family, goes to. */
typedef struct Target
{
	const WcRelColumn *column;
	int			att;			/* attnum - 1 */
	WcCodec    *codec;			/* VALUE, original of a hashed KEY */
	WcMap	   *map;			/* MAP, PREFIX_MAP */
	Versions   *versions;		/* VERSIONS */
	uint64		undecodable;	/* number of the last row of which the newest version did not decode */
	struct Target *next;		/* of the same cell */
} Target;

/* Which columns of a row are decoded. */
typedef enum Stage
{
	STAGE_ALL,
	STAGE_GATE,					/* those of a step of the gate */
	STAGE_REST					/* those of no step, when the row has passed */
} Stage;

typedef struct FoundCell
{
	WcCell		cell;
	uint32		colno;
} FoundCell;

struct WcReader
{
	WcRelation *wrel;
	Bitmapset  *keys;			/* wanted columns that come from the row key */
	Bitmapset  *filter_keys;	/* these and those that the filter looks at */
	WcCodecWhere where;
	uint64		rows;			/* number of the row at hand */

	int			ncolumns;
	int			nshown;			/* those behind are for the filter only */
	WcColumn   *columns;		/* for the Scan; [colno]; layout cell: those of wc_reader_select */
	Target	  **targets;		/* [colno]: who wants this cell; NULL where kind is not EXACT */
	bool	   *member;			/* [colno]: one that maps may want */
	Target	   *maps;			/* who takes the cells that no column names, and members */
	int			nversioned;
	Target	  **versioned;		/* the VERSIONS targets */
	uint32		max_versions;
	bool		want_ts;
	bool		want_value;
	bool		check_types;	/* the table has a record type, and others may come */

	const WcGate *gate;			/* NULL: rows are decoded at once */
	const Bitmapset *gated;		/* columns of the gate's step, or of all steps */
	bool		passed;

	/* layout cell */
	int			cell_att[WC_ROLE_CELL_TTL + 1]; /* [role]: attnum - 1, or -1 */
	bool		in_row;
	WcSlice		row;
	WcCell		cell;			/* the one given last */
};

/* --- making ------------------------------------------------------------------- */

static int
find_column(WcReader *reader, WcColumnKind kind, uint32 family, WcSlice qualifier)
{
	WcColumn   *column;

	for (int i = 0; i < reader->ncolumns; i++)
	{
		column = &reader->columns[i];
		if (column->kind == kind && column->family == family && wc_slice_eq(column->qualifier, qualifier))
			return i;
	}
	column = &reader->columns[reader->ncolumns];
	column->kind = kind;
	column->family = family;
	column->qualifier = qualifier;
	return reader->ncolumns++;
}

static Versions *
create_versions(Oid type)
{
	Versions   *versions = palloc0(sizeof(Versions));
	TupleDesc	tupdesc;

	versions->element = get_base_element_type(type);
	tupdesc = lookup_rowtype_tupdesc(versions->element, -1);
	versions->tupdesc = CreateTupleDescCopy(tupdesc);
	ReleaseTupleDesc(tupdesc);
	if (versions->tupdesc->natts != 2 || TupleDescAttr(versions->tupdesc, 0)->atttypid != INT8OID ||
		TupleDescAttr(versions->tupdesc, 1)->atttypid != BYTEAOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("type %s is not what extension widecol made", format_type_be(versions->element)),
				 errdetail("It was (ts bigint, value bytea).")));
	return versions;
}

static void
add_members(WcReader *reader, const WcRelColumn *column, const WcWantedMembers *members)
{
	for (int i = 0; i < members->nqualifiers; i++)
	{
		WcSlice		qualifier = members->qualifiers[i];

		/* it has a column of its own, so none of the map's cells has this name */
		if (wc_relation_declares(reader->wrel, column->family, qualifier))
			continue;
		reader->member[find_column(reader, WC_COLUMN_EXACT, column->family, qualifier)] = true;
	}
}

static const WcWantedMembers *
find_members(const List *members, int att)
{
	ListCell   *lc;

	foreach(lc, members)
	{
		if (((WcWantedMembers *) lfirst(lc))->att == att)
			return lfirst(lc);
	}
	return NULL;
}

static void
add_target(WcReader *reader, WcRelColumn *column, const List *members)
{
	WcSlice		none = {NULL, 0};
	Target	   *target = palloc0(sizeof(Target));
	int			colno;

	target->column = column;
	target->att = column->attnum - 1;
	if (column->role == WC_ROLE_MAP || column->role == WC_ROLE_PREFIX_MAP)
	{
		const WcWantedMembers *wanted = find_members(members, target->att);

		if (wanted != NULL)
			add_members(reader, column, wanted);
		else if (column->role == WC_ROLE_MAP || column->qualifier.len == 0)
			find_column(reader, WC_COLUMN_FAMILY, column->family, none);
		else
			find_column(reader, WC_COLUMN_PREFIX, column->family, column->qualifier);
		target->map = wc_map_create(reader->wrel, column);
		target->next = reader->maps;
		reader->maps = target;
		reader->want_value = true;
		return;
	}
	colno = find_column(reader, WC_COLUMN_EXACT, column->family, column->qualifier);
	target->next = reader->targets[colno];
	reader->targets[colno] = target;
	switch (column->role)
	{
		case WC_ROLE_TIMESTAMP:
			reader->want_ts = true;
			break;
		case WC_ROLE_VERSIONS:
			target->versions = create_versions(column->type);
			reader->versioned[reader->nversioned++] = target;
			reader->max_versions = Max(reader->max_versions, (uint32) column->versions);
			reader->want_ts = true;
			reader->want_value = true;
			break;
		default:
			target->codec = column->role == WC_ROLE_KEY ? &column->original : &column->codec;
			reader->want_value = true;
			break;
	}
}

static void
add_filter_member(WcReader *reader, const WcMember *member)
{
	const WcRelColumn *map = &reader->wrel->columns[member->att];

	reader->member[find_column(reader, WC_COLUMN_EXACT, map->family, member->qualifier)] = true;
}

/* Is more of the family shown than single columns? */
static bool
shows_family(const WcReader *reader, uint32 family)
{
	for (int i = 0; i < reader->ncolumns; i++)
	{
		if (reader->columns[i].family == family && reader->columns[i].kind != WC_COLUMN_EXACT)
			return true;
	}
	return false;
}

/* Members that the filter looks at are members of maps that are shown, too. */
static void
add_shown_members(WcReader *reader, const List *filter_members)
{
	ListCell   *lc;

	foreach(lc, filter_members)
	{
		const WcMember *member = lfirst(lc);

		if (shows_family(reader, reader->wrel->columns[member->att].family))
			add_filter_member(reader, member);
	}
}

static void
add_hidden(WcReader *reader, const Bitmapset *attrs, const Bitmapset *filtered, const List *filter_members)
{
	int			att = -1;
	ListCell   *lc;

	add_shown_members(reader, filter_members);
	reader->nshown = reader->ncolumns;
	reader->filter_keys = bms_copy(reader->keys);
	while ((att = bms_next_member(filtered, att)) >= 0)
	{
		if (wc_filter_in_key(reader->wrel, att))
			reader->filter_keys = bms_add_member(reader->filter_keys, att);
		else if (!bms_is_member(att, attrs))
		{
			WcWantedMembers none = {.att = att};

			/* of a map no more than these members */
			add_target(reader, &reader->wrel->columns[att], list_make1(&none));
		}
	}
	foreach(lc, filter_members)
		add_filter_member(reader, lfirst(lc));
}

WcReader *
wc_reader_create(WcRelation *wrel, const Bitmapset *attrs, const Bitmapset *filtered, const List *members,
				 const List *filter_members)
{
	WcReader   *reader = palloc0(sizeof(WcReader));
	int			nwanted = bms_num_members(attrs) + bms_num_members(filtered) + list_length(filter_members);
	int			att = -1;
	ListCell   *lc;

	foreach(lc, members)
		nwanted += ((WcWantedMembers *) lfirst(lc))->nqualifiers;
	reader->wrel = wrel;
	reader->where.table = wrel->relname;
	reader->max_versions = 1;
	reader->check_types = wrel->constant_parts > 0;
	reader->passed = true;
	reader->columns = palloc0(sizeof(WcColumn) * (nwanted + 1));
	reader->targets = palloc0(sizeof(Target *) * (nwanted + 1));
	reader->member = palloc0(sizeof(bool) * (nwanted + 1));
	reader->versioned = palloc0(sizeof(Target *) * (nwanted + 1));
	for (int role = 0; role < lengthof(reader->cell_att); role++)
		reader->cell_att[role] = -1;
	while ((att = bms_next_member(attrs, att)) >= 0)
	{
		WcRelColumn *column = &wrel->columns[att];

		switch (column->role)
		{
			case WC_ROLE_NONE:
				break;
			case WC_ROLE_KEY:
				if (column->hashed)
				{
					add_target(reader, column, members);
					break;
				}
				/* FALLTHROUGH */
			case WC_ROLE_RAW_KEY:
				reader->keys = bms_add_member(reader->keys, att);
				break;
			case WC_ROLE_VALUE:
			case WC_ROLE_TIMESTAMP:
			case WC_ROLE_VERSIONS:
			case WC_ROLE_MAP:
			case WC_ROLE_PREFIX_MAP:
				add_target(reader, column, members);
				break;
			default:
				reader->cell_att[column->role] = att;
				if (column->role == WC_ROLE_CELL_VALUE)
					reader->want_value = true;
				break;
		}
	}
	add_hidden(reader, attrs, filtered, filter_members);
	return reader;
}

void
wc_reader_leave_untouched(WcReader *reader, const Bitmapset *attrs)
{
	for (Target *target = reader->maps; target != NULL; target = target->next)
	{
		if (bms_is_member(target->att, attrs))
			wc_map_leave_out(target->map);
	}
}

/* Where the column's cell is in the Scan. */
static uint32
find_position(const WcReader *reader, uint32 family, WcSlice qualifier)
{
	uint32		position = 0;

	while (reader->columns[position].kind != WC_COLUMN_EXACT || reader->columns[position].family != family ||
		   !wc_slice_eq(reader->columns[position].qualifier, qualifier))
		position++;
	Assert(position < reader->ncolumns);
	return position;
}

void
wc_reader_place_filter(const WcReader *reader, WcFilter *filter, const List *members)
{
	uint32		natts = (uint32) reader->wrel->natts;

	filter->shown = (uint32) reader->nshown;
	for (uint32 i = 0; i < filter->ncolumns; i++)
	{
		WcFilterColumn *filtered = &filter->columns[i];

		if (filtered->in_key)
			continue;
		if (filtered->column < natts)
			filtered->column = wc_reader_position(reader, (int) filtered->column);
		else
		{
			const WcMember *member = list_nth(members, (int) (filtered->column - natts));

			filtered->column = find_position(reader, reader->wrel->columns[member->att].family, member->qualifier);
		}
	}
}

uint32
wc_reader_position(const WcReader *reader, int att)
{
	return find_position(reader, reader->wrel->columns[att].family, reader->wrel->columns[att].qualifier);
}

void
wc_reader_select(WcReader *reader, WcColumn *columns, uint32 ncolumns)
{
	Assert(reader->wrel->layout == WC_LAYOUT_CELL);
	reader->columns = columns;
	reader->ncolumns = (int) ncolumns;
}

void
wc_reader_describe(const WcReader *reader, WcScan *scan)
{
	const WcRelation *wrel = reader->wrel;

	wc_scan_init(scan, wrel->desc->id);
	scan->key_only = !reader->want_value;
	scan->ncolumns = reader->ncolumns;
	scan->columns = reader->columns;
	if (wrel->layout == WC_LAYOUT_CELL)
	{
		scan->versions = wrel->cell_versions > 0 ? (uint32) wrel->cell_versions : WC_VERSIONS_MAX;
		scan->raw = wrel->raw;
		scan->want_ts = true;
		return;
	}
	scan->rows_by_existence = true;
	scan->nfamilies = wrel->nfamilies;
	scan->families = wrel->families;
	scan->versions = reader->max_versions;
	scan->want_ts = reader->want_ts;
}

static WcSlice
copy_slice(WcSlice s)
{
	uint8	   *copy = MemoryContextAllocHuge(CurrentMemoryContext, s.len + 1);

	if (s.len > 0)
		memcpy(copy, s.data, s.len);
	return wc_slice(copy, s.len);
}

void
wc_reader_be_lenient(WcReader *reader)
{
	reader->where.lenient = true;
}

/* --- layout row --------------------------------------------------------------- */

static Datum
timestamp_datum(const WcRelColumn *column, int64 ts)
{
	if (column->type == TIMESTAMPTZOID)
		ts -= (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;
	return Int64GetDatum(ts);
}

static void
add_version(Target *target, const WcCell *cell)
{
	Versions   *versions = target->versions;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	if (versions->n >= target->column->versions)
		return;
	if (versions->n == versions->max)
	{
		bool		fresh = versions->max == 0;

		versions->max = Max(versions->max * 2, 8);
		versions->elems = fresh ? palloc(sizeof(Datum) * versions->max) :
			repalloc(versions->elems, sizeof(Datum) * versions->max);
	}
	values[0] = Int64GetDatum(cell->ts);
	values[1] = PointerGetDatum(cstring_to_text_with_len((const char *) cell->value.data, (int) cell->value.len));
	versions->elems[versions->n++] = HeapTupleGetDatum(heap_form_tuple(versions->tupdesc, values, nulls));
}

static void
reset_versions(Versions *versions)
{
	versions->n = versions->max = 0;
	versions->elems = NULL;
}

static void
finish_versions(Target *target, Datum *values, bool *isnull)
{
	Versions   *versions = target->versions;

	if (versions->n > 0)
	{
		values[target->att] = PointerGetDatum(construct_array(versions->elems, versions->n, versions->element,
															  -1, false, TYPALIGN_DOUBLE));
		isnull[target->att] = false;
	}
	reset_versions(versions);
}

static inline bool
in_stage(const WcReader *reader, Stage stage, int att)
{
	return stage == STAGE_ALL || bms_is_member(att, reader->gated) == (stage == STAGE_GATE);
}

static inline void
store_cell(WcReader *reader, Stage stage, Target *target, const WcCell *cell, Datum *values, bool *isnull)
{
	for (; target != NULL; target = target->next)
	{
		if (!in_stage(reader, stage, target->att))
			continue;
		if (target->versions != NULL)
		{
			add_version(target, cell);
			continue;
		}
		/* the newest version comes first */
		if (!isnull[target->att] || target->undecodable == reader->rows)
			continue;
		if (target->codec != NULL)
		{
			if (!wc_codec_try_decode(target->codec, cell->value, &reader->where, &values[target->att]))
			{
				target->undecodable = reader->rows;
				continue;
			}
		}
		else
			values[target->att] = timestamp_datum(target->column, cell->ts);
		isnull[target->att] = false;
	}
}

static void
add_to_maps(WcReader *reader, Stage stage, const WcCell *cell)
{
	for (Target *target = reader->maps; target != NULL; target = target->next)
	{
		if (in_stage(reader, stage, target->att))
			wc_map_add(target->map, cell, &reader->where);
	}
}

static inline void
take_cell(WcReader *reader, Stage stage, const WcCell *cell, uint32 colno, Datum *values, bool *isnull)
{
	if (colno >= (uint32) reader->ncolumns)
	{
		add_to_maps(reader, stage, cell);
		return;
	}
	store_cell(reader, stage, reader->targets[colno], cell, values, isnull);
	if (reader->member[colno])
	{
		WcCell		member = *cell;

		member.family = reader->columns[colno].family;
		member.qualifier = reader->columns[colno].qualifier;
		add_to_maps(reader, stage, &member);
	}
}

/* After the last cell. */
static inline void
finish_row(WcReader *reader, Stage stage, Datum *values, bool *isnull)
{
	for (Target *target = reader->maps; target != NULL; target = target->next)
	{
		if (in_stage(reader, stage, target->att))
			isnull[target->att] = !wc_map_finish(target->map, &values[target->att]);
	}
	for (int i = 0; i < reader->nversioned; i++)
	{
		if (in_stage(reader, stage, reader->versioned[i]->att))
			finish_versions(reader->versioned[i], values, isnull);
	}
}

/* All cells of the row at hand. */
static FoundCell *
find_cells(WcClientScan *scan, int *ncells)
{
	bool		stay = wc_client_cells_stay(scan);
	int			room = 16;
	FoundCell  *cells = palloc(sizeof(FoundCell) * room);
	FoundCell	found;

	*ncells = 0;
	while (wc_client_next_cell(scan, &found.cell, &found.colno))
	{
		if (*ncells == room)
		{
			room *= 2;
			cells = repalloc_huge(cells, sizeof(FoundCell) * room);
		}
		if (!stay)
		{
			found.cell.qualifier = copy_slice(found.cell.qualifier);
			found.cell.value = copy_slice(found.cell.value);
		}
		cells[(*ncells)++] = found;
	}
	return cells;
}

static void
decode_stage(WcReader *reader, Stage stage, const Bitmapset *keys, const FoundCell *cells, int ncells,
			 Datum *values, bool *isnull)
{
	Bitmapset  *wanted = stage == STAGE_GATE ? bms_intersect(keys, reader->gated) : bms_difference(keys, reader->gated);

	reader->where.hidden = stage == STAGE_GATE;
	if (wanted != NULL)
		wc_relation_decode_key(reader->wrel, &reader->where, wanted, values, isnull);
	for (int i = 0; i < ncells; i++)
		take_cell(reader, stage, &cells[i].cell, cells[i].colno, values, isnull);
	finish_row(reader, stage, values, isnull);
	reader->where.hidden = false;
}

/* Decodes a row step by step. */
static void
decode_behind_gate(WcReader *reader, WcClientScan *scan, const Bitmapset *keys, Datum *values, bool *isnull)
{
	const WcGate *gate = reader->gate;
	int			nsteps = wc_client_row_undecided(scan) ? gate->nsteps : gate->nalways;
	int			ncells;
	FoundCell  *cells = find_cells(scan, &ncells);

	reader->gated = NULL;
	reader->passed = true;
	for (int i = 0; i < nsteps; i++)
	{
		reader->gated = gate->steps[i].attrs;
		decode_stage(reader, STAGE_GATE, keys, cells, ncells, values, isnull);
		reader->passed = gate->passes(gate->arg, i, values, isnull);
		if (!reader->passed)
			return;
		reader->gated = gate->steps[i].done;
	}
	decode_stage(reader, STAGE_REST, keys, cells, ncells, values, isnull);
}

/* The next stored row that is of the table's record type. */
static inline bool
next_stored_row(WcReader *reader, WcClientScan *scan, WcSlice *row)
{
	do
	{
		if (!wc_client_next_row(scan, row))
			return false;
	} while (reader->check_types && !wc_recordtype_matches(reader->wrel, *row));
	return true;
}

void
wc_reader_decode(WcReader *reader, WcClientScan *scan, Datum *values, bool *isnull)
{
	WcRelation *wrel = reader->wrel;
	Bitmapset  *keys;
	WcCell		cell;
	uint32_t	colno;

	memset(isnull, true, wrel->natts * sizeof(bool));
	reader->rows++;
	keys = wc_client_row_undecided(scan) ? reader->filter_keys : reader->keys;
	if (reader->gate != NULL)
	{
		decode_behind_gate(reader, scan, keys, values, isnull);
		return;
	}
	if (keys != NULL)
		wc_relation_decode_key(wrel, &reader->where, keys, values, isnull);
	while (wc_client_next_cell(scan, &cell, &colno))
		take_cell(reader, STAGE_ALL, &cell, colno, values, isnull);
	finish_row(reader, STAGE_ALL, values, isnull);
}

static bool
next_row(WcReader *reader, WcClientScan *scan, Datum *values, bool *isnull)
{
	if (!next_stored_row(reader, scan, &reader->where.row))
		return false;
	wc_reader_decode(reader, scan, values, isnull);
	return true;
}

/* --- layout cell -------------------------------------------------------------- */

static Datum
type_datum(const WcReader *reader, const WcCell *cell)
{
	const char *name = wc_cell_type_name(cell->type);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("cell of stored table \"%s\" has unknown type %d", reader->wrel->table_name, cell->type)));
	return CStringGetTextDatum(name);
}

static Datum
ttl_datum(int64 ttl_us)
{
	Interval   *ttl = palloc0(sizeof(Interval));

	ttl->day = (int32) (ttl_us / USECS_PER_DAY);
	ttl->time = ttl_us % USECS_PER_DAY;
	return IntervalPGetDatum(ttl);
}

static Datum
cell_datum(WcReader *reader, WcRole role, int att, const WcCell *cell, bool *isnull)
{
	WcCodec    *codec = &reader->wrel->columns[att].codec;
	const WcFamilyDesc *family;
	Datum		value = (Datum) 0;

	*isnull = false;
	switch (role)
	{
		case WC_ROLE_CELL_ROW:
			return wc_codec_decode(codec, reader->row, &reader->where);
		case WC_ROLE_CELL_FAMILY:
			family = wc_table_desc_family_by_id(reader->wrel->desc, cell->family);
			if (family == NULL)
				ereport(ERROR,
						(errcode(ERRCODE_DATA_CORRUPTED),
						 errmsg("cell of stored table \"%s\" is of unknown family %u",
								reader->wrel->table_name, cell->family)));
			return wc_codec_decode(codec, family->name, &reader->where);
		case WC_ROLE_CELL_QUALIFIER:
			*isnull = !wc_codec_try_decode(codec, cell->qualifier, &reader->where, &value);
			return value;
		case WC_ROLE_CELL_TS:
			return Int64GetDatum(cell->ts);
		case WC_ROLE_CELL_TYPE:
			return type_datum(reader, cell);
		case WC_ROLE_CELL_VALUE:
			*isnull = !wc_codec_try_decode(codec, cell->value, &reader->where, &value);
			return value;
		default:
			*isnull = cell->ttl_us == 0;
			return *isnull ? (Datum) 0 : ttl_datum(cell->ttl_us);
	}
}

static void
decode_cell(WcReader *reader, Stage stage, const WcCell *cell, Datum *values, bool *isnull)
{
	reader->where.hidden = stage == STAGE_GATE;
	for (int role = WC_ROLE_CELL_ROW; role <= WC_ROLE_CELL_TTL; role++)
	{
		int			att = reader->cell_att[role];

		if (att >= 0 && in_stage(reader, stage, att))
			values[att] = cell_datum(reader, role, att, cell, &isnull[att]);
	}
	reader->where.hidden = false;
}

static void
decode_cell_behind_gate(WcReader *reader, const WcCell *cell, Datum *values, bool *isnull)
{
	const WcGate *gate = reader->gate;

	reader->gated = NULL;
	reader->passed = true;
	for (int i = 0; i < gate->nalways; i++)
	{
		reader->gated = gate->steps[i].attrs;
		decode_cell(reader, STAGE_GATE, cell, values, isnull);
		reader->passed = gate->passes(gate->arg, i, values, isnull);
		if (!reader->passed)
			return;
		reader->gated = gate->steps[i].done;
	}
	decode_cell(reader, STAGE_REST, cell, values, isnull);
}

static bool
next_cell(WcReader *reader, WcClientScan *scan, Datum *values, bool *isnull)
{
	WcCell		cell;
	uint32_t	colno;

	while (!reader->in_row || !wc_client_next_cell(scan, &cell, &colno))
	{
		reader->in_row = wc_client_next_row(scan, &reader->row);
		if (!reader->in_row)
			return false;
		reader->where.row = reader->row;
	}
	if (colno < (uint32) reader->ncolumns)
	{
		/* of a column that was named, the cell does not say it again */
		cell.family = reader->columns[colno].family;
		cell.qualifier = reader->columns[colno].qualifier;
	}
	reader->cell = cell;
	memset(isnull, true, reader->wrel->natts * sizeof(bool));
	if (reader->gate == NULL)
	{
		decode_cell(reader, STAGE_ALL, &cell, values, isnull);
		return true;
	}
	decode_cell_behind_gate(reader, &cell, values, isnull);
	return true;
}

bool
wc_reader_next(WcReader *reader, WcClientScan *scan, Datum *values, bool *isnull)
{
	if (reader->wrel->layout == WC_LAYOUT_CELL)
		return next_cell(reader, scan, values, isnull);
	return next_row(reader, scan, values, isnull);
}

bool
wc_reader_skip(WcReader *reader, WcClientScan *scan)
{
	return next_stored_row(reader, scan, &reader->where.row);
}

void
wc_reader_set_gate(WcReader *reader, const WcGate *gate)
{
	reader->gate = gate;
	reader->passed = true;
}

bool
wc_reader_passed(const WcReader *reader)
{
	return reader->passed;
}

void
wc_reader_check_types(WcReader *reader, bool check)
{
	reader->check_types = check && reader->wrel->constant_parts > 0;
}

WcSlice
wc_reader_row(const WcReader *reader)
{
	return reader->where.row;
}

const WcCell *
wc_reader_cell(const WcReader *reader)
{
	return reader->wrel->layout == WC_LAYOUT_CELL ? &reader->cell : NULL;
}

void
wc_reader_restart(WcReader *reader)
{
	reader->in_row = false;
	/* an error may have left a row half read */
	for (Target *target = reader->maps; target != NULL; target = target->next)
		wc_map_reset(target->map);
	for (int i = 0; i < reader->nversioned; i++)
		reset_versions(reader->versioned[i]->versions);
}

/* --- for EXPLAIN -------------------------------------------------------------- */

static char *
column_name(const WcReader *reader, const WcColumn *column)
{
	const WcFamilyDesc *family = wc_table_desc_family_by_id(reader->wrel->desc, column->family);
	size_t		size = WC_PRINTABLE_SIZE(column->qualifier.len) + 8;
	char	   *qualifier = palloc(size);

	/* as the functions take it: a qualifier may have \xHH, a family is a name */
	wc_printable(qualifier, size, column->qualifier);
	return psprintf("%s:%s%s", family != NULL ? wc_text_from_utf8(family->name) : "?",
					qualifier, column->kind == WC_COLUMN_EXACT ? "" : "*");
}

List *
wc_reader_column_names(const WcReader *reader)
{
	List	   *names = NIL;

	for (int i = 0; i < reader->nshown; i++)
		names = lappend(names, column_name(reader, &reader->columns[i]));
	return names;
}
