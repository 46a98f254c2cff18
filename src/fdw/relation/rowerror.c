/*
 * fdw/relation/rowerror.c: errors that name a row of a foreign table by its key: said alike at
 * the statement and at COMMIT.
 */
#include "postgres.h"

#include "access/relation.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "client/client.h"
#include "client/foreign/foreign.h"
#include "fdw/relation/errfield.h"
#include "fdw/relation/keycontent.h"
#include "fdw/relation/rowerror.h"
#include "rowkey/keycheck.h"

/* The foreign tables of this session that wrote last to a stored table. */
typedef struct Writer
{
	uint32		table;			/* hash key */
	Oid			any;
	Oid			strict;			/* one that refuses duplicates */
} Writer;

static HTAB *writers;

/* The n-th column of the key; -1: there is none. */
static int
key_column(const WcRelation *wrel, int n)
{
	return wrel->nkeys > 0 ? wrel->keys[n] : wrel->raw_key;
}

/* May the user read the key?  As PostgreSQL asks before it shows the key of an index. */
static bool
may_see_key(const WcRelation *wrel)
{
	if (pg_class_aclcheck(wrel->relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return true;
	for (int k = 0; k < Max(wrel->nkeys, 1); k++)
	{
		int			i = key_column(wrel, k);

		if (i < 0 || pg_attribute_aclcheck(wrel->relid, wrel->columns[i].attnum, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
			return false;
	}
	return true;
}

char *
wc_rowerror_key(const WcRelation *wrel, const Datum *values, const bool *isnull)
{
	StringInfoData names;
	StringInfoData shown;
	int			n = Max(wrel->nkeys, 1);

	if (!may_see_key(wrel))
		return NULL;
	initStringInfo(&names);
	initStringInfo(&shown);
	for (int k = 0; k < n; k++)
	{
		int			i = key_column(wrel, k);
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
wc_rowerror_duplicate(const WcRelation *wrel, const Datum *values, const bool *isnull)
{
	const char *key = wc_rowerror_key(wrel, values, isnull);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("duplicate key value violates row key of foreign table \"%s\"", wrel->relname),
			 key != NULL ? errdetail("Key %s already exists.", key) : 0,
			 wc_errfield_table(wrel),
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

/* Can the key be decoded without an error?  The row may have been written through another
 * foreign table. */
static bool
reads_key(const WcRelation *wrel, WcSlice row)
{
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		encoded = WC_BUF_INIT;
	WcBuf		scratch = WC_BUF_INIT;
	WcKeyCheck	check;
	WcError		err;
	bool		reads = false;

	if (wc_keycontent_encode(wrel, &encoded) &&
		wc_keycheck_decode(wc_buf_slice(&encoded), &arena, &check, &err) == WC_OK)
		reads = wc_keycheck_reads(&check, row, &scratch, palloc(sizeof(WcSlice) * (check.layout.nparts + 1)));
	wc_buf_free(&scratch);
	wc_buf_free(&encoded);
	wc_arena_free(&arena);
	return reads;
}

static bool
shows_keys(const WcRelation *wrel)
{
	return wrel->layout == WC_LAYOUT_ROW && !has_hash(wrel);
}

static void
decode_key(WcRelation *wrel, WcSlice row, Datum **values, bool **isnull)
{
	WcCodecWhere where = {.table = wrel->relname,.row = row};
	int			n = Max(wrel->natts, 1);

	*values = palloc0(sizeof(Datum) * n);
	*isnull = palloc(sizeof(bool) * n);
	memset(*isnull, true, sizeof(bool) * n);
	wc_relation_decode_key(wrel, &where, NULL, *values, *isnull);
}

/* Returns when the key cannot be said in the columns' values. */
static void
raise_changed(WcRelation *wrel, WcSlice row)
{
	Datum	   *values;
	bool	   *isnull;

	if (!may_see_key(wrel))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update")));
	if (!shows_keys(wrel) || !reads_key(wrel, row))
		return;
	decode_key(wrel, row, &values, &isnull);
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to concurrent update"),
			 errdetail("The row with key %s of foreign table \"%s\" was changed by another transaction after this one's snapshot.",
					   wc_rowerror_key(wrel, values, isnull), wrel->relname)));
}

void
wc_rowerror_changed(WcRelation *wrel, WcSlice row)
{
	raise_changed(wrel, row);
	wc_client_raise_changed_row(wrel->desc, row);
}

/* Returns when nothing better can be said than what the engine says. */
static void
raise_at_commit(WcStatus status, uint32 table, WcSlice row)
{
	Writer	   *writer = hash_search(writers, &table, HASH_FIND, NULL);
	Oid			relid = writer == NULL ? InvalidOid : status == WC_DUPLICATE_ROW ? writer->strict : writer->any;
	Relation	rel = OidIsValid(relid) ? try_relation_open(relid, AccessShareLock) : NULL;
	WcRelation *wrel;
	Datum	   *values;
	bool	   *isnull;

	if (rel == NULL || !wc_relation_is_widecol(relid))
		return;
	wrel = wc_relation_open(rel);
	if (wrel->desc->id != table)
		return;
	if (status == WC_CONFLICT)
		raise_changed(wrel, row);
	if (status != WC_DUPLICATE_ROW)
		return;
	if (!may_see_key(wrel))
		wc_rowerror_duplicate(wrel, NULL, NULL);
	if (!shows_keys(wrel))
		return;
	decode_key(wrel, row, &values, &isnull);
	wc_rowerror_duplicate(wrel, values, isnull);
}

static Writer *
writer_of(const WcRelation *wrel)
{
	HASHCTL		ctl = {.keysize = sizeof(uint32), .entrysize = sizeof(Writer)};
	Writer	   *writer;
	bool		found;

	if (writers == NULL)
	{
		writers = hash_create("widecol writers", 16, &ctl, HASH_ELEM | HASH_BLOBS);
		wc_raise_rows_by(raise_at_commit);
	}
	writer = hash_search(writers, &wrel->desc->id, HASH_ENTER, &found);
	if (!found)
		writer->any = writer->strict = InvalidOid;
	return writer;
}

void
wc_rowerror_expect(const WcRelation *wrel)
{
	writer_of(wrel)->any = wrel->relid;
}

void
wc_rowerror_expect_duplicate(const WcRelation *wrel)
{
	writer_of(wrel)->strict = wrel->relid;
}
