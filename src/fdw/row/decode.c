/*
 * fdw/row/decode.c: decodes the cells of a scan into column values (see reader.h).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "client/foreign/ttl.h"
#include "fdw/condition/filter.h"
#include "fdw/relation/recordtype.h"
#include "fdw/row/readerstate.h"

/* The columns of a row that are decoded. */
typedef enum Stage
{
	STAGE_ALL,
	STAGE_GATE,					/* columns of one step of the gate */
	STAGE_REST					/* columns of no step, after the row has passed */
} Stage;

typedef struct FoundCell
{
	WcCell		cell;
	uint32		colno;
} FoundCell;

static WcSlice
copy_slice(WcSlice s)
{
	uint8	   *copy = MemoryContextAllocHuge(CurrentMemoryContext, s.len + 1);

	if (s.len > 0)
		memcpy(copy, s.data, s.len);
	return wc_slice(copy, s.len);
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
add_version(WcReaderTarget *target, const WcCell *cell)
{
	WcReaderVersions *versions = target->versions;
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
reset_versions(WcReaderVersions *versions)
{
	versions->n = versions->max = 0;
	versions->elems = NULL;
}

static void
finish_versions(WcReaderTarget *target, Datum *values, bool *isnull)
{
	WcReaderVersions *versions = target->versions;

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

/*
 * Makes a short value of a cell a varlena where it is, in the block: the byte before it, its length, becomes the header.
 * False: it has to be decoded.
 */
static inline bool
stays(const WcReaderTarget *target, const WcCell *cell, Datum *value)
{
	uint8	   *header;

	if (target->stays == WC_BYTES_NO || cell->value.data == NULL || cell->value.len > WC_SHORT_VALUE_MAX ||
		(target->stays == WC_BYTES_IF_TEXT && !wc_codec_is_text(cell->value)))
		return false;
	header = unconstify(uint8 *, cell->value.data) - 1;
	SET_VARSIZE_SHORT(header, cell->value.len + VARHDRSZ_SHORT);
	*value = PointerGetDatum(header);
	return true;
}

static bool
decode_member(WcReader *reader, const WcReaderTarget *target, const WcCell *cell, Datum *value)
{
	WcCell		named = *cell;

	named.family = target->column->family;
	named.qualifier = target->member;
	return wc_map_member(target->column, &named, &reader->where, value);
}

static inline bool
decode_value(WcReader *reader, WcReaderTarget *target, const WcCell *cell, Datum *value)
{
	if (reader->stay && stays(target, cell, value))
		return true;
	if (target->member.data != NULL)
		return decode_member(reader, target, cell, value);
	return wc_codec_try_decode(target->codec, cell->value, &reader->where, value);
}

static inline void
store_cell(WcReader *reader, Stage stage, WcReaderTarget *target, const WcCell *cell, Datum *values, bool *isnull)
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
		if (target->codec != NULL || target->member.data != NULL)
		{
			if (!decode_value(reader, target, cell, &values[target->att]))
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
	for (WcReaderTarget *target = reader->row_maps; target != NULL; target = target->next)
	{
		if (in_stage(reader, stage, target->att))
			wc_map_add(target->map, cell, &reader->where);
	}
}

/* May set the family and the qualifier of a cell of a column. */
static inline void
take_cell(WcReader *reader, Stage stage, WcCell *cell, uint32 colno, Datum *values, bool *isnull)
{
	if (colno >= (uint32) reader->ncolumns)
	{
		add_to_maps(reader, stage, cell);
		return;
	}
	store_cell(reader, stage, reader->targets[colno], cell, values, isnull);
	if (reader->member[colno])
	{
		cell->family = reader->columns[colno].family;
		cell->qualifier = reader->columns[colno].qualifier;
		add_to_maps(reader, stage, cell);
	}
}

/* Called after the row's last cell. */
static inline void
finish_row(WcReader *reader, Stage stage, Datum *values, bool *isnull)
{
	for (WcReaderTarget *target = reader->row_maps; target != NULL; target = target->next)
	{
		if (in_stage(reader, stage, target->att))
			isnull[target->att] = !wc_map_finish(target->map, reader->stay, &values[target->att]);
	}
	for (int i = 0; i < reader->nversioned; i++)
	{
		if (in_stage(reader, stage, reader->versioned[i]->att))
			finish_versions(reader->versioned[i], values, isnull);
	}
}

/* Collects all cells of the current row. */
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
		/* the scan does not set the family and the qualifier of a cell of a column */
		if (found.colno != WC_NO_COLUMN)
			found.cell.qualifier = wc_slice(NULL, 0);
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
decode_stage(WcReader *reader, Stage stage, const Bitmapset *keys, FoundCell *cells, int ncells,
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

/* An error leaves in_gate set. */
static bool
passes(WcReader *reader, int step, const Datum *values, const bool *isnull)
{
	const WcGate *gate = reader->gate;

	reader->in_gate = true;
	reader->passed = gate->passes(gate->arg, step, values, isnull);
	reader->in_gate = false;
	return reader->passed;
}

/* Decodes a row step by step, until a step of the gate hides the row. */
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
		if (!passes(reader, i, values, isnull))
			return;
		reader->gated = gate->steps[i].done;
	}
	decode_stage(reader, STAGE_REST, keys, cells, ncells, values, isnull);
}

/* Moves to the next stored row of the table's record type; false: no more rows. */
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

static void
decode_row(WcReader *reader, WcClientScan *scan, bool stay, Datum *values, bool *isnull)
{
	bool		undecided = wc_client_row_undecided(scan);
	Bitmapset  *keys;
	WcCell		cell;
	uint32_t	colno;

	memset(isnull, true, reader->nvalues * sizeof(bool));
	reader->rows++;
	reader->stay = false;
	reader->row_maps = undecided || reader->gate != NULL ? reader->maps : reader->shown_maps;
	keys = undecided ? reader->filter_keys : reader->keys;
	if (reader->gate != NULL)
	{
		decode_behind_gate(reader, scan, keys, values, isnull);
		return;
	}
	if (keys != NULL)
		wc_relation_decode_key(reader->wrel, &reader->where, keys, values, isnull);
	reader->stay = stay && wc_client_cells_stay(scan);
	while (wc_client_next_cell(scan, &cell, &colno))
		take_cell(reader, STAGE_ALL, &cell, colno, values, isnull);
	finish_row(reader, STAGE_ALL, values, isnull);
	reader->stay = false;
}

void
wc_reader_decode(WcReader *reader, WcClientScan *scan, Datum *values, bool *isnull)
{
	decode_row(reader, scan, false, values, isnull);
}

static bool
next_row(WcReader *reader, WcClientScan *scan, bool stay, Datum *values, bool *isnull)
{
	if (!next_stored_row(reader, scan, &reader->where.row))
		return false;
	decode_row(reader, scan, stay, values, isnull);
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
			return *isnull ? (Datum) 0 : wc_ttl_to_interval(cell->ttl_us);
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
		if (!passes(reader, i, values, isnull))
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
		/* a cell of a requested column arrives without its family and qualifier */
		cell.family = reader->columns[colno].family;
		cell.qualifier = reader->columns[colno].qualifier;
	}
	reader->cell = cell;
	if (wc_client_cell_provisional(scan) && wc_client_store_is_embedded(reader->wrel->store))
		wc_client_note_provisional(cell.ts);
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
	return next_row(reader, scan, false, values, isnull);
}

bool
wc_reader_next_in_place(WcReader *reader, WcClientScan *scan, Datum *values, bool *isnull)
{
	if (reader->wrel->layout == WC_LAYOUT_CELL)
		return next_cell(reader, scan, values, isnull);
	return next_row(reader, scan, true, values, isnull);
}

bool
wc_reader_skip(WcReader *reader, WcClientScan *scan)
{
	return next_stored_row(reader, scan, &reader->where.row);
}

void
wc_reader_set_gate(WcReader *reader, const WcGate *gate)
{
	int			att = -1;

	reader->gate = gate;
	reader->passed = true;
	if (gate == NULL)
		return;
	/* a row that the filter has not decided goes through all steps, also those that the ranges have decided */
	while ((att = bms_next_member(gate->steps[gate->nsteps - 1].done, att)) >= 0)
	{
		if (wc_filter_in_key(reader->wrel, att) || reader->wrel->columns[att].role == WC_ROLE_RAW_KEY)
			reader->filter_keys = bms_add_member(reader->filter_keys, att);
	}
}

bool
wc_reader_in_gate(const WcReader *reader)
{
	return reader->in_gate;
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
	for (WcReaderTarget *target = reader->maps; target != NULL; target = target->next)
		wc_map_reset(target->map);
	for (int i = 0; i < reader->nversioned; i++)
		reset_versions(reader->versioned[i]->versions);
}
