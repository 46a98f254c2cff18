/*
 * fdw/scan/map.c: a family's cells as jsonb or hstore.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "base/printable.h"
#include "fdw/relation/hstore.h"
#include "fdw/scan/map.h"

struct WcMap
{
	const WcRelation *wrel;
	const WcRelColumn *column;
	FmgrInfo	to_hstore;		/* hstore(text[], text[]) */

	bool		leaves_out;		/* cells that are not text */

	/* the row at hand */
	bool		left_out;		/* some have been */
	int			nentries;
	WcSlice		last;			/* qualifier of the last entry */
	JsonbParseState *json;
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
	if (column->hstore)
	{
		WcHstore	hstore;

		wc_hstore_get(getBaseType(column->type), &hstore);
		fmgr_info(hstore.from_arrays, &map->to_hstore);
	}
	return map;
}

/* 22P03, or a WARNING. */
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
				 errdetail("Its %s is not text in UTF-8.", what),
				 errhint("A security policy or view decides on this column who may see the row.")));
	ereport(wc_undecodable_level(where),
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("cannot show cell \"%s:%s\" in column \"%s\" of foreign table \"%s\"",
					map->column->family_name, qualifier, NameStr(map->column->name), where->table),
			 errdetail("In row \"%s\" the %s \"%s\" is not text in UTF-8.", row, what, found),
			 errhint("Give the qualifier a column of its own, of type bytea, or use layout \"cell\".")));
}

static bool
is_text(WcSlice bytes)
{
	return bytes.len == 0 || pg_verify_mbstr(PG_UTF8, (const char *) bytes.data, (int) bytes.len, true);
}

/* A copy in the server's encoding; NULL: it is not text, which has been told. */
static char *
to_text(const WcMap *map, const WcCell *cell, const WcCodecWhere *where, const char *what, WcSlice bytes, int *len)
{
	const char *s = (const char *) bytes.data;
	char	   *converted;
	char	   *copy;

	if (bytes.len == 0)
	{
		*len = 0;
		return pstrdup("");
	}
	if (!is_text(bytes))
	{
		not_text(map, cell, where, what, bytes);
		return NULL;
	}
	converted = pg_any_to_server(s, (int) bytes.len, PG_UTF8);
	if (converted != s)
	{
		*len = (int) strlen(converted);
		return converted;
	}
	copy = palloc(bytes.len);
	memcpy(copy, s, bytes.len);
	*len = (int) bytes.len;
	return copy;
}

static bool
is_empty_member(const WcCell *cell)
{
	return cell->qualifier.len == 0 && wc_slice_eq(cell->value, wc_slice(WC_MAP_EMPTY_MEMBER, 1));
}

static bool
belongs(const WcMap *map, const WcCell *cell)
{
	const WcRelColumn *column = map->column;

	if (map->nentries > 0 && wc_slice_eq(map->last, cell->qualifier))
		return false;
	if (cell->qualifier.len == 0 && cell->value.len == 0 && cell->family == map->wrel->default_family)
		return false;
	if (column->role == WC_ROLE_PREFIX_MAP && !wc_slice_starts_with(cell->qualifier, column->qualifier))
		return false;
	return !wc_relation_declares(map->wrel, cell->family, cell->qualifier);
}

static void
add_to_jsonb(WcMap *map, char *key, int key_len, char *value, int value_len)
{
	JsonbValue	v;

	if (map->nentries == 0)
		pushJsonbValue(&map->json, WJB_BEGIN_OBJECT, NULL);
	v.type = jbvString;
	v.val.string.val = key;
	v.val.string.len = key_len;
	pushJsonbValue(&map->json, WJB_KEY, &v);
	v.val.string.val = value;
	v.val.string.len = value_len;
	pushJsonbValue(&map->json, WJB_VALUE, &v);
}

static void
add_to_hstore(WcMap *map, char *key, int key_len, char *value, int value_len)
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
	map->keys[map->nentries] = PointerGetDatum(cstring_to_text_with_len(key, key_len));
	map->values[map->nentries] = PointerGetDatum(cstring_to_text_with_len(value, value_len));
}

void
wc_map_leave_out(WcMap *map)
{
	map->leaves_out = true;
}

void
wc_map_add(WcMap *map, const WcCell *cell, const WcCodecWhere *where)
{
	char	   *key;
	char	   *value;
	int			key_len;
	int			value_len;
	uint8	   *last;

	if (cell->family != map->column->family || !belongs(map, cell))
		return;
	if (map->leaves_out && !(is_text(cell->qualifier) && (is_empty_member(cell) || is_text(cell->value))))
	{
		map->left_out = true;
		return;
	}
	key = to_text(map, cell, where, "qualifier", cell->qualifier, &key_len);
	value = key == NULL ? NULL :
		to_text(map, cell, where, "value", is_empty_member(cell) ? wc_slice(NULL, 0) : cell->value, &value_len);
	if (value == NULL)
	{
		map->left_out = true;
		return;
	}
	if (map->column->hstore)
		add_to_hstore(map, key, key_len, value, value_len);
	else
		add_to_jsonb(map, key, key_len, value, value_len);
	map->nentries++;
	last = palloc(cell->qualifier.len + 1);
	memcpy(last, cell->qualifier.data, cell->qualifier.len);
	map->last = wc_slice(last, cell->qualifier.len);
}

void
wc_map_reset(WcMap *map)
{
	map->left_out = false;
	map->nentries = 0;
	map->json = NULL;
	map->max_entries = 0;
	map->keys = map->values = NULL;
}

bool
wc_map_finish(WcMap *map, Datum *value)
{
	bool		any = map->nentries > 0 || map->left_out;

	if (map->left_out && map->nentries == 0 && !map->column->hstore)
		pushJsonbValue(&map->json, WJB_BEGIN_OBJECT, NULL);
	if (any && map->column->hstore)
	{
		ArrayType  *keys = construct_array(map->keys, map->nentries, TEXTOID, -1, false, TYPALIGN_INT);
		ArrayType  *values = construct_array(map->values, map->nentries, TEXTOID, -1, false, TYPALIGN_INT);

		*value = FunctionCall2(&map->to_hstore, PointerGetDatum(keys), PointerGetDatum(values));
	}
	else if (any)
		*value = JsonbPGetDatum(JsonbValueToJsonb(pushJsonbValue(&map->json, WJB_END_OBJECT, NULL)));
	wc_map_reset(map);
	return any;
}
