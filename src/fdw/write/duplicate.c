/*
 * fdw/write/duplicate.c: a row that must not be there is: said alike at the statement and at COMMIT.
 */
#include "postgres.h"

#include "access/relation.h"
#include "lib/stringinfo.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "client/client.h"
#include "client/foreign.h"
#include "fdw/write/duplicate.h"

/* The foreign table of this session that wrote last to a stored table. */
typedef struct Writer
{
	uint32		table;			/* hash key */
	Oid			relid;
} Writer;

static HTAB *writers;

char *
wc_duplicate_key(const WcRelation *wrel, const Datum *values, const bool *isnull)
{
	StringInfoData names;
	StringInfoData shown;
	int			n = Max(wrel->nkeys, 1);

	initStringInfo(&names);
	initStringInfo(&shown);
	for (int k = 0; k < n; k++)
	{
		int			i = wrel->nkeys > 0 ? wrel->keys[k] : wrel->raw_key;
		Oid			out;
		bool		varlena;

		getTypeOutputInfo(wrel->columns[i].type, &out, &varlena);
		appendStringInfo(&names, "%s%s", k > 0 ? ", " : "", NameStr(wrel->columns[i].name));
		appendStringInfo(&shown, "%s%s", k > 0 ? ", " : "",
						 isnull[i] ? "null" : OidOutputFunctionCall(out, values[i]));
	}
	return psprintf("(%s)=(%s)", names.data, shown.data);
}

void
wc_duplicate_raise(const WcRelation *wrel, const Datum *values, const bool *isnull)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("duplicate key value violates row key of foreign table \"%s\"", wrel->relname),
			 errdetail("Key %s already exists.", wc_duplicate_key(wrel, values, isnull)),
			 err_generic_string(PG_DIAG_SCHEMA_NAME, get_namespace_name(get_rel_namespace(wrel->relid))),
			 err_generic_string(PG_DIAG_TABLE_NAME, wrel->relname),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, psprintf("%s_rowkey", wrel->relname))));
}

/* The original of a hash is not in the key. */
static bool
has_hash(const WcRelation *wrel)
{
	for (int k = 0; k < wrel->nkeys; k++)
	{
		if (wrel->columns[wrel->keys[k]].hashed)
			return true;
	}
	return false;
}

/* Returns when nothing better can be said than what the engine says. */
static void
raise_at_commit(uint32 table, WcSlice row)
{
	Writer	   *writer = hash_search(writers, &table, HASH_FIND, NULL);
	Relation	rel = writer != NULL ? try_relation_open(writer->relid, AccessShareLock) : NULL;
	WcRelation *wrel;
	Datum	   *values;
	bool	   *isnull;
	WcCodecWhere where = {.row = row};

	if (rel == NULL || !wc_foreign_is_widecol(writer->relid))
		return;
	wrel = wc_relation_open(rel);
	if (wrel->desc->id != table || wrel->layout != WC_LAYOUT_ROW || has_hash(wrel))
		return;
	values = palloc0(sizeof(Datum) * Max(wrel->natts, 1));
	isnull = palloc(sizeof(bool) * Max(wrel->natts, 1));
	memset(isnull, true, sizeof(bool) * Max(wrel->natts, 1));
	where.table = wrel->relname;
	wc_relation_decode_key(wrel, &where, NULL, values, isnull);
	wc_duplicate_raise(wrel, values, isnull);
}

void
wc_duplicate_expect(const WcRelation *wrel)
{
	HASHCTL		ctl = {.keysize = sizeof(uint32), .entrysize = sizeof(Writer)};
	Writer	   *writer;

	if (writers == NULL)
	{
		writers = hash_create("widecol writers", 16, &ctl, HASH_ELEM | HASH_BLOBS);
		wc_raise_duplicates_by(raise_at_commit);
	}
	writer = hash_search(writers, &wrel->desc->id, HASH_ENTER, NULL);
	writer->relid = wrel->relid;
}
