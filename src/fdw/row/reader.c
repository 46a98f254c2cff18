/*
 * fdw/row/reader.c: the columns that a Scan must return for a foreign table (decode.c decodes them).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "base/printable.h"
#include "fdw/condition/filter.h"
#include "fdw/plan/mapkeys.h"
#include "fdw/row/readerstate.h"

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

static WcReaderVersions *
create_versions(Oid type)
{
	WcReaderVersions *versions = palloc0(sizeof(WcReaderVersions));
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

		/* another column declares the cell, so the map has no member of this name */
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
	WcReaderTarget *target = reader->room++;
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
			if (column->role == WC_ROLE_VALUE)
				target->stays = wc_codec_bytes_are_value(target->codec, WC_SHORT_VALUE_MAX);
			reader->want_value = true;
			break;
	}
}

static void
add_placed(WcReader *reader, const WcPlacedMember *placed)
{
	const WcRelColumn *map = &reader->wrel->columns[placed->member.att];
	int			colno = find_column(reader, WC_COLUMN_EXACT, map->family, placed->member.qualifier);
	WcReaderTarget *target = reader->room++;

	target->column = map;
	target->att = placed->place;
	target->member = placed->member.qualifier;
	target->stays = wc_bytes_are_same() ? WC_BYTES_IF_TEXT : WC_BYTES_NO;
	target->next = reader->targets[colno];
	reader->targets[colno] = target;
	reader->want_value = true;
}

static void
add_filter_member(WcReader *reader, const WcMember *member)
{
	const WcRelColumn *map = &reader->wrel->columns[member->att];

	reader->member[find_column(reader, WC_COLUMN_EXACT, map->family, member->qualifier)] = true;
}

/* Are the whole family or prefixes of it read, not only single columns? */
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

/* Members used by the filter are members of shown maps, too. */
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

			/* of this map only the filter's members are read */
			add_target(reader, &reader->wrel->columns[att], list_make1(&none));
		}
	}
	foreach(lc, filter_members)
		add_filter_member(reader, lfirst(lc));
}

WcReader *
wc_reader_create(WcRelation *wrel, const Bitmapset *attrs, const Bitmapset *filtered, const List *members,
				 const List *placed, const List *filter_members)
{
	WcReader   *reader = palloc0(sizeof(WcReader));
	int			nwanted = bms_num_members(attrs) + bms_num_members(filtered) + list_length(placed) + list_length(filter_members);
	int			att = -1;
	ListCell   *lc;

	foreach(lc, members)
		nwanted += ((WcWantedMembers *) lfirst(lc))->nqualifiers;
	reader->wrel = wrel;
	reader->nvalues = wrel->natts + list_length(placed);
	reader->where.table = wrel->relname;
	reader->max_versions = 1;
	reader->check_types = wrel->constant_parts > 0;
	reader->passed = true;
	reader->columns = palloc0(sizeof(WcColumn) * (nwanted + 1));
	reader->targets = palloc0(sizeof(WcReaderTarget *) * (nwanted + 1));
	reader->room = palloc0(sizeof(WcReaderTarget) * (nwanted + 1));
	reader->member = palloc0(sizeof(bool) * (nwanted + 1));
	reader->versioned = palloc0(sizeof(WcReaderTarget *) * (nwanted + 1));
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
	foreach(lc, placed)
		add_placed(reader, lfirst(lc));
	reader->shown_maps = reader->maps;
	add_hidden(reader, attrs, filtered, filter_members);
	return reader;
}

void
wc_reader_leave_untouched(WcReader *reader, const Bitmapset *attrs)
{
	for (WcReaderTarget *target = reader->maps; target != NULL; target = target->next)
	{
		if (bms_is_member(target->att, attrs))
			wc_map_leave_out(target->map);
	}
}

/* The index of the column in the Scan's columns. */
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

			filtered->column = wc_reader_member_position(reader, member->att, member->qualifier);
		}
	}
}

uint32
wc_reader_position(const WcReader *reader, int att)
{
	return find_position(reader, reader->wrel->columns[att].family, reader->wrel->columns[att].qualifier);
}

uint32
wc_reader_member_position(const WcReader *reader, int att, WcSlice qualifier)
{
	return find_position(reader, reader->wrel->columns[att].family, qualifier);
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

void
wc_reader_be_lenient(WcReader *reader)
{
	reader->where.lenient = true;
}

/* --- for EXPLAIN -------------------------------------------------------------- */

static char *
column_name(const WcReader *reader, const WcColumn *column)
{
	const WcFamilyDesc *family = wc_table_desc_family_by_id(reader->wrel->desc, column->family);
	size_t		size = WC_PRINTABLE_SIZE(column->qualifier.len) + 8;
	char	   *qualifier = palloc(size);

	/* in the format of widecol's functions: a qualifier may have \xHH, a family is a name */
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
