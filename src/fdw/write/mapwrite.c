/*
 * fdw/write/mapwrite.c: jsonb and hstore maps as cells.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "fdw/relation/hstore.h"
#include "fdw/write/mapwrite.h"

void
wc_mapwrite_init(WcMapWriter *m, const WcRelation *wrel, const WcRelColumn *column)
{
	WcHstore	hstore;

	memset(m, 0, sizeof(*m));
	m->wrel = wrel;
	m->column = column;
	if (!column->hstore)
		return;
	wc_hstore_get(getBaseType(column->type), &hstore);
	fmgr_info(hstore.to_jsonb, &m->to_jsonb);
}

static WcSlice
value_bytes(const JsonbValue *v)
{
	char	   *text;

	switch (v->type)
	{
		case jbvString:
			return wc_text_to_utf8(v->val.string.val, v->val.string.len);
		case jbvNumeric:
			text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(v->val.numeric)));
			return wc_slice_cstr(text);
		case jbvBool:
			return wc_slice_cstr(v->val.boolean ? "true" : "false");
		case jbvBinary:
			text = JsonbToCString(NULL, v->val.binary.data, v->val.binary.len);
			return wc_text_to_utf8(text, strlen(text));
		default:
			elog(ERROR, "unexpected type of jsonb value: %d", (int) v->type);
	}
	return wc_slice(NULL, 0);	/* not reached */
}

static void
check_qualifier(const WcMapWriter *m, WcSlice qualifier, const JsonbValue *key)
{
	char	   *shown = pnstrdup(key->val.string.val, key->val.string.len);

	if (m->column->role == WC_ROLE_PREFIX_MAP && !wc_slice_starts_with(qualifier, m->column->qualifier))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("map column \"%s\" of foreign table \"%s\" cannot hold the qualifier \"%s\"", NameStr(m->column->name),
						m->wrel->relname, shown),
				 errdetail("Its qualifiers start with \"%s\".", wc_text_from_utf8(m->column->qualifier))));
	if (wc_relation_declares(m->wrel, m->column->family, qualifier))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("map column \"%s\" of foreign table \"%s\" cannot hold the qualifier \"%s\"", NameStr(m->column->name),
						m->wrel->relname, shown),
				 errdetail("Another column maps it.")));
	pfree(shown);
}

static int
compare_entries(const void *a, const void *b)
{
	return wc_slice_cmp(((const WcMapEntry *) a)->qualifier, ((const WcMapEntry *) b)->qualifier);
}

static Jsonb *
to_object(WcMapWriter *m, Datum map)
{
	Jsonb	   *jsonb;

	if (m->column->hstore)
		map = FunctionCall1(&m->to_jsonb, map);
	jsonb = DatumGetJsonbP(map);
	if (!JB_ROOT_IS_OBJECT(jsonb))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("map column \"%s\" of foreign table \"%s\" needs a JSON object", NameStr(m->column->name),
						m->wrel->relname),
				 errdetail("Its members are qualifiers and their values.")));
	return jsonb;
}

/* The entry of a member. */
static WcMapEntry
make_entry(const JsonbValue *key, const JsonbValue *value)
{
	WcMapEntry	entry;

	entry.qualifier = wc_text_to_utf8(key->val.string.val, key->val.string.len);
	entry.value = value_bytes(value);
	if (entry.qualifier.len == 0 && entry.value.len == 0)
		entry.value = wc_slice(WC_MAP_EMPTY_MEMBER, 1);
	return entry;
}

int
wc_mapwrite_entries(WcMapWriter *m, Datum map, bool isnull, WcMapEntry **entries)
{
	Jsonb	   *jsonb;
	JsonbIterator *it;
	JsonbValue	key;
	JsonbValue	value;
	int			n = 0;

	*entries = NULL;
	if (isnull)
		return 0;
	jsonb = to_object(m, map);
	*entries = palloc(sizeof(WcMapEntry) * Max(JB_ROOT_COUNT(jsonb), 1));
	it = JsonbIteratorInit(&jsonb->root);
	(void) JsonbIteratorNext(&it, &value, false);	/* the object itself */
	while (JsonbIteratorNext(&it, &key, true) == WJB_KEY)
	{
		(void) JsonbIteratorNext(&it, &value, true);
		if (value.type == jbvNull)
			continue;
		(*entries)[n] = make_entry(&key, &value);
		check_qualifier(m, (*entries)[n].qualifier, &key);
		n++;
	}
	qsort(*entries, n, sizeof(WcMapEntry), compare_entries);
	return n;
}

void
wc_mapwrite_put(const WcMapWriter *m, WcRowWrite *w, const WcMapEntry *entries, int n)
{
	for (int i = 0; i < n; i++)
		wc_rowwrite_put_bytes(w, m->column->family, entries[i].qualifier, entries[i].value);
}

bool
wc_mapwrite_is_empty(WcMapWriter *m, Datum map, bool isnull)
{
	Jsonb	   *jsonb = isnull ? NULL : to_object(m, map);

	for (uint32 i = 0; !isnull && i < JB_ROOT_COUNT(jsonb); i++)
	{
		if (!JBE_ISNULL(jsonb->root.children[JB_ROOT_COUNT(jsonb) + i]))
			return false;
	}
	return true;
}

/* Walks the members of a map, in jsonb's order: shorter names first. */
typedef struct Walk
{
	JsonbIterator *it;
	bool		over;
	JsonbValue	key;
	JsonbValue	value;
} Walk;

static void
step(Walk *walk)
{
	do
	{
		walk->over = walk->over || JsonbIteratorNext(&walk->it, &walk->key, true) != WJB_KEY;
		if (!walk->over)
			(void) JsonbIteratorNext(&walk->it, &walk->value, true);
	} while (!walk->over && walk->value.type == jbvNull);
}

static Walk
start(WcMapWriter *m, Datum map, bool isnull)
{
	Walk		walk = {.over = isnull};

	if (isnull)
		return walk;
	walk.it = JsonbIteratorInit(&to_object(m, map)->root);
	(void) JsonbIteratorNext(&walk.it, &walk.value, false);	/* the object itself */
	step(&walk);
	return walk;
}

static int
compare_strings(const JsonbValue *a, const JsonbValue *b)
{
	if (a->val.string.len != b->val.string.len)
		return a->val.string.len < b->val.string.len ? -1 : 1;
	return memcmp(a->val.string.val, b->val.string.val, a->val.string.len);
}

/* Is the same stored of both values? */
static bool
same_value(const JsonbValue *a, const JsonbValue *b)
{
	if (a->type == jbvString && b->type == jbvString)
		return compare_strings(a, b) == 0;
	return wc_slice_eq(value_bytes(a), value_bytes(b));
}

void
wc_mapwrite_diff(WcMapWriter *m, WcRowWrite *w, Datum old, bool oldisnull, Datum new, bool newisnull)
{
	Walk		before = start(m, old, oldisnull);
	Walk		after = start(m, new, newisnull);

	while (!before.over || !after.over)
	{
		int			c = before.over ? 1 : after.over ? -1 : compare_strings(&before.key, &after.key);

		if (c < 0)
			wc_rowwrite_clear(w, WC_ITEM_CLEAR_COLUMN, m->column->family, make_entry(&before.key, &before.value).qualifier);
		else if (c > 0 || !same_value(&before.value, &after.value))
		{
			WcMapEntry	entry = make_entry(&after.key, &after.value);

			check_qualifier(m, entry.qualifier, &after.key);
			wc_rowwrite_put_bytes(w, m->column->family, entry.qualifier, entry.value);
		}
		if (c <= 0)
			step(&before);
		if (c >= 0)
			step(&after);
	}
}
