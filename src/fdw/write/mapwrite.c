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
wc_mapwrite_init(WcMapWriter *m, const WcRelColumn *column)
{
	WcHstore	hstore;

	memset(m, 0, sizeof(*m));
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
check_qualifier(const WcMapWriter *m, const WcRelation *wrel, WcSlice qualifier, const JsonbValue *key)
{
	char	   *shown = pnstrdup(key->val.string.val, key->val.string.len);

	if (m->column->role == WC_ROLE_PREFIX_MAP && !wc_slice_starts_with(qualifier, m->column->qualifier))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("map column \"%s\" cannot hold the qualifier \"%s\"", NameStr(m->column->name), shown),
				 errdetail("Its qualifiers start with \"%s\".", wc_text_from_utf8(m->column->qualifier))));
	if (wc_relation_declares(wrel, m->column->family, qualifier))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("map column \"%s\" cannot hold the qualifier \"%s\"", NameStr(m->column->name), shown),
				 errdetail("Another column of foreign table \"%s\" maps it.", wrel->relname)));
	pfree(shown);
}

static int
compare_entries(const void *a, const void *b)
{
	return wc_slice_cmp(((const WcMapEntry *) a)->qualifier, ((const WcMapEntry *) b)->qualifier);
}

int
wc_mapwrite_entries(WcMapWriter *m, const WcRelation *wrel, Datum map, bool isnull, WcMapEntry **entries)
{
	Jsonb	   *jsonb;
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	key;
	JsonbValue	value;
	int			n = 0;

	*entries = NULL;
	if (isnull)
		return 0;
	if (m->column->hstore)
		map = FunctionCall1(&m->to_jsonb, map);
	jsonb = DatumGetJsonbP(map);
	if (!JB_ROOT_IS_OBJECT(jsonb))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("map column \"%s\" needs a JSON object", NameStr(m->column->name)),
				 errdetail("Its members are qualifiers and their values.")));

	*entries = palloc(sizeof(WcMapEntry) * Max(JB_ROOT_COUNT(jsonb), 1));
	it = JsonbIteratorInit(&jsonb->root);
	(void) JsonbIteratorNext(&it, &value, false);	/* the object itself */
	while ((token = JsonbIteratorNext(&it, &key, true)) == WJB_KEY)
	{
		WcSlice		qualifier;

		(void) JsonbIteratorNext(&it, &value, true);
		if (value.type == jbvNull)
			continue;
		qualifier = wc_text_to_utf8(key.val.string.val, key.val.string.len);
		check_qualifier(m, wrel, qualifier, &key);
		(*entries)[n].qualifier = qualifier;
		(*entries)[n].value = value_bytes(&value);
		if (qualifier.len == 0 && (*entries)[n].value.len == 0)
			(*entries)[n].value = wc_slice(WC_MAP_EMPTY_MEMBER, 1);
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

void
wc_mapwrite_diff(const WcMapWriter *m, WcRowWrite *w, const WcMapEntry *old, int nold,
				 const WcMapEntry *new, int nnew)
{
	int			o = 0;
	int			n = 0;

	while (o < nold || n < nnew)
	{
		int			c = o == nold ? 1 : n == nnew ? -1 : compare_entries(&old[o], &new[n]);

		if (c < 0)
			wc_rowwrite_clear(w, WC_ITEM_CLEAR_COLUMN, m->column->family, old[o].qualifier);
		else if (c > 0 || !wc_slice_eq(old[o].value, new[n].value))
			wc_rowwrite_put_bytes(w, m->column->family, new[n].qualifier, new[n].value);
		o += c <= 0;
		n += c >= 0;
	}
}
