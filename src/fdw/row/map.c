/*
 * fdw/row/map.c: a family's cells as jsonb or hstore.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/printable.h"
#include "fdw/relation/hstore.h"
#include "fdw/row/jsonobject.h"
#include "fdw/row/map.h"

struct WcMap
{
	const WcRelation *wrel;
	const WcRelColumn *column;
	FmgrInfo	to_hstore;		/* hstore(text[], text[]) */

	bool		leaves_out;		/* cells that are not text are left out without an error */
	bool		converts;		/* text is not stored in the server's encoding */
	bool		declares;		/* other columns declare cells of the family */

	/* the current row */
	bool		left_out;		/* cells have been left out */
	int			nentries;
	StringInfoData last;		/* qualifier of the last entry, unless json has the entry */
	WcJsonObject *json;			/* jsonb */
	int			max_entries;	/* hstore: room in keys and values */
	Datum	   *keys;
	Datum	   *values;
};

WcMap *
wc_map_create(const WcRelation *wrel, const WcRelColumn *column)
{
	WcMap	   *map = palloc0(sizeof(WcMap));

	map->wrel = wrel;
	map->column = column;
	map->converts = !wc_bytes_are_same();
	for (int i = 0; i < wrel->natts; i++)
		map->declares |= wc_relation_has_qualifier(&wrel->columns[i]) && wrel->columns[i].family == column->family;
	initStringInfo(&map->last);
	if (!column->hstore)
		map->json = wc_jsonobject_create();
	if (column->hstore)
	{
		WcHstore	hstore;

		wc_hstore_get(getBaseType(column->type), &hstore);
		fmgr_info(hstore.from_arrays, &map->to_hstore);
	}
	return map;
}

/* What an error's detail says of bytes that are no text: the end of a sentence. */
static const char *
problem(void)
{
	return GetDatabaseEncoding() == PG_SQL_ASCII ? "has a zero byte" : "is not text in UTF-8";
}

/* Raises error 22P03, or a WARNING if where->lenient. */
static void
not_text(const WcMap *map, const WcCell *cell, const WcCodecWhere *where, const char *what, WcSlice bytes)
{
	char		row[200];
	char		qualifier[200];
	char		found[200];

	wc_printable(row, sizeof(row), where->row);
	wc_printable(qualifier, sizeof(qualifier), cell->qualifier);
	wc_printable(found, sizeof(found), bytes);
	if (where->hidden)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("cannot show a cell in column \"%s\" of foreign table \"%s\"",
						NameStr(map->column->name), where->table),
				 errdetail("Its %s %s.", what, problem()),
				 errhint("A security policy or a view uses this column to hide rows.")));
	ereport(wc_undecodable_level(where),
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("cannot show cell \"%s:%s\" in column \"%s\" of foreign table \"%s\"",
					map->column->family_name, qualifier, NameStr(map->column->name), where->table),
			 errdetail("In row \"%s\" the %s \"%s\" %s.", row, what, found, problem()),
			 errhint("Give the qualifier a column of its own, of type bytea, or use layout \"cell\".")));
}

/* Are the bytes ASCII without zero bytes? */
static inline bool
is_plain_text(WcSlice bytes)
{
	const uint8_t *p = bytes.data;
	const uint8_t *end = p + bytes.len;

	for (; end - p >= 8; p += 8)
	{
		uint64		eight;

		memcpy(&eight, p, 8);
		/* a zero byte gets its high bit set; so may bytes beside it: the slow path checks them */
		if (((eight | (eight - UINT64CONST(0x0101010101010101))) & UINT64CONST(0x8080808080808080)) != 0)
			return false;
	}
	for (; p < end; p++)
	{
		if (*p == 0 || *p >= 0x80)
			return false;
	}
	return true;
}

static inline bool
is_text(WcSlice bytes)
{
	return bytes.len == 0 || is_plain_text(bytes) || wc_codec_is_text(bytes);
}

/* Returns the text in the server's encoding: the bytes themselves, or a copy.  False: not text; not_text was called. */
static bool
to_text(const WcMap *map, const WcCell *cell, const WcCodecWhere *where, const char *what, WcSlice bytes, WcSlice *text)
{
	*text = bytes.len > 0 ? bytes : wc_slice("", 0);
	if (!is_text(bytes))
	{
		not_text(map, cell, where, what, bytes);
		return false;
	}
	if (map->converts && bytes.len > 0)
	{
		char	   *converted = pg_any_to_server((const char *) bytes.data, (int) bytes.len, PG_UTF8);

		if (converted != (const char *) bytes.data)
			*text = wc_slice(converted, strlen(converted));
	}
	return true;
}

/* Is the last entry of this column? */
static bool
is_last(const WcMap *map, WcSlice qualifier)
{
	if (map->nentries == 0)
		return false;
	if (map->json != NULL && !map->converts)
		return wc_jsonobject_is_last(map->json, (const char *) qualifier.data, qualifier.len);
	return wc_slice_eq(wc_slice(map->last.data, (size_t) map->last.len), qualifier);
}

static bool
belongs(const WcMap *map, const WcCell *cell)
{
	const WcRelColumn *column = map->column;

	if (is_last(map, cell->qualifier))
		return false;
	if (cell->qualifier.len == 0 && cell->value.len == 0 && cell->family == map->wrel->default_family)
		return false;
	if (column->role == WC_ROLE_PREFIX_MAP && !wc_slice_starts_with(cell->qualifier, column->qualifier))
		return false;
	return !map->declares || !wc_relation_declares(map->wrel, cell->family, cell->qualifier);
}

static void
add_to_hstore(WcMap *map, WcSlice key, WcSlice value)
{
	if (map->nentries == map->max_entries)
	{
		bool		fresh = map->max_entries == 0;

		map->max_entries = Max(map->max_entries * 2, 16);
		map->keys = fresh ? palloc(sizeof(Datum) * map->max_entries) :
			repalloc(map->keys, sizeof(Datum) * map->max_entries);
		map->values = fresh ? palloc(sizeof(Datum) * map->max_entries) :
			repalloc(map->values, sizeof(Datum) * map->max_entries);
	}
	map->keys[map->nentries] = PointerGetDatum(cstring_to_text_with_len((const char *) key.data, (int) key.len));
	map->values[map->nentries] = PointerGetDatum(cstring_to_text_with_len((const char *) value.data, (int) value.len));
}

/* Adds the cell if the last row had a member of its name at the same place: then it belongs to the map, and the name is text.  False: not
 * added.  The cell without a qualifier may be the row marker, whatever it was in the last row. */
static inline bool
add_as_in_last_row(WcMap *map, const WcCell *cell)
{
	if (map->json == NULL || map->converts || cell->qualifier.len == 0 || !is_text(cell->value) ||
		!wc_jsonobject_add_expected(map->json, (const char *) cell->qualifier.data, cell->qualifier.len,
									(const char *) cell->value.data, cell->value.len))
		return false;
	map->nentries++;
	return true;
}

void
wc_map_leave_out(WcMap *map)
{
	map->leaves_out = true;
}

void
wc_map_add(WcMap *map, const WcCell *cell, const WcCodecWhere *where)
{
	WcSlice		key;
	WcSlice		value;

	if (cell->family != map->column->family || add_as_in_last_row(map, cell) || !belongs(map, cell))
		return;
	if (map->leaves_out && !(is_text(cell->qualifier) && (wc_map_is_empty_member(cell) || is_text(cell->value))))
	{
		map->left_out = true;
		return;
	}
	if (!to_text(map, cell, where, "qualifier", cell->qualifier, &key) ||
		!to_text(map, cell, where, "value", wc_map_is_empty_member(cell) ? wc_slice(NULL, 0) : cell->value, &value))
	{
		map->left_out = true;
		return;
	}
	if (map->column->hstore)
		add_to_hstore(map, key, value);
	else
		wc_jsonobject_add(map->json, (const char *) key.data, key.len, (const char *) value.data, value.len);
	map->nentries++;
	if (map->json != NULL && !map->converts)
		return;
	resetStringInfo(&map->last);
	if (cell->qualifier.len > 0)
		appendBinaryStringInfo(&map->last, (const char *) cell->qualifier.data, (int) cell->qualifier.len);
}

bool
wc_map_member(const WcRelColumn *column, const WcCell *cell, const WcCodecWhere *where, Datum *value)
{
	WcMap		map = {.column = column,.converts = !wc_bytes_are_same()};
	WcSlice		text;

	if (!to_text(&map, cell, where, "value", cell->value, &text))
		return false;
	*value = PointerGetDatum(cstring_to_text_with_len((const char *) text.data, (int) text.len));
	return true;
}

static void
start_row(WcMap *map)
{
	map->left_out = false;
	map->nentries = 0;
	map->max_entries = 0;
	map->keys = map->values = NULL;
}

void
wc_map_reset(WcMap *map)
{
	if (map->json != NULL)
		wc_jsonobject_reset(map->json);
	start_row(map);
}

bool
wc_map_finish(WcMap *map, bool passing, Datum *value)
{
	bool		any = map->nentries > 0 || map->left_out;

	if (any && map->column->hstore)
	{
		ArrayType  *keys = construct_array(map->keys, map->nentries, TEXTOID, -1, false, TYPALIGN_INT);
		ArrayType  *values = construct_array(map->values, map->nentries, TEXTOID, -1, false, TYPALIGN_INT);

		*value = FunctionCall2(&map->to_hstore, PointerGetDatum(keys), PointerGetDatum(values));
	}
	else if (any)
		*value = wc_jsonobject_finish(map->json, passing);
	start_row(map);
	return any;
}
