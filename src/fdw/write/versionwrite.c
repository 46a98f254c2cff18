/*
 * fdw/write/versionwrite.c: writes through columns that show a cell's timestamp or its versions.
 *
 * A place is a family and a qualifier that a TIMESTAMP or VERSIONS column shows; a VALUE column, or the original of a
 * hashed key part, may show its newest value.  A cell that is written without a timestamp is newer than all versions
 * that exist, unless one has a timestamp in the future: this one stays the newest (doc/reference/statements.md).  A cell
 * that is written with a timestamp need not be newer, so newer versions must be found and deleted one by one.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "fdw/write/rowread.h"
#include "fdw/write/versionwrite.h"

/* Between PostgreSQL's epoch and 1970, in microseconds. */
#define UNIX_EPOCH_US ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

typedef struct WcVersion
{
	int64		ts;
	WcSlice		value;
	bool		there;			/* a version with this timestamp exists */
} WcVersion;

/* --- set-up ----------------------------------------------------------------- */

const WcPlace *
wc_versionwrite_place(const WcModify *m, uint32 family, WcSlice qualifier)
{
	for (int i = 0; i < m->nplaces; i++)
		if (m->places[i].family == family && wc_slice_eq(m->places[i].qualifier, qualifier))
			return &m->places[i];
	return NULL;
}

static WcPlace *
place_of(WcModify *m, const WcRelColumn *col)
{
	WcPlace    *place = unconstify(WcPlace *, wc_versionwrite_place(m, col->family, col->qualifier));

	if (place != NULL)
		return place;
	place = &m->places[m->nplaces++];
	place->family = col->family;
	place->qualifier = col->qualifier;
	for (int i = 0; i < m->nputs; i++)
	{
		if (m->puts[i].family != col->family || !wc_slice_eq(m->puts[i].qualifier, col->qualifier))
			continue;
		place->put = &m->puts[i];
		m->puts[i].versioned = true;
	}
	return place;
}

void
wc_versionwrite_init(WcModify *m)
{
	WcRelation *wrel = m->wrel;

	m->places = palloc0(sizeof(WcPlace) * Max(wrel->natts, 1));
	for (int i = 0; i < wrel->natts; i++)
	{
		WcRelColumn *col = &wrel->columns[i];

		if (col->role == WC_ROLE_TIMESTAMP)
		{
			WcPlace    *place = place_of(m, col);

			place->timestamps = lappend_int(place->timestamps, i);
		}
		else if (col->role == WC_ROLE_VERSIONS)
		{
			WcPlace    *place = place_of(m, col);

			place->versions = lappend_int(place->versions, i);
		}
	}
	for (int i = 0; i < m->nplaces; i++)
		m->places[i].in_map = wc_modify_in_map(m, m->places[i].family, m->places[i].qualifier);
}

/* --- the given values ------------------------------------------------------- */

static const char *
column_name(const WcModify *m, int i)
{
	return NameStr(m->wrel->columns[i].name);
}

static void pg_attribute_noreturn()
contradiction(const WcModify *m, int i, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("column \"%s\" of foreign table \"%s\" contradicts another column of the same cell",
					column_name(m, i), m->wrel->relname),
			 errdetail("%s", detail),
			 errhint("Give one of them, or the same in both.")));
}

static void
check_timestamp(const WcModify *m, int i, int64 ts)
{
	if (ts < 0 || ts >= WC_TS_LATEST)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp in column \"%s\" of foreign table \"%s\" is out of range",
						column_name(m, i), m->wrel->relname),
				 errdetail("Timestamps of cells are microseconds since 1970, from 0 to %lld.",
						   (long long) WC_TS_LATEST - 1)));
}

static bool
is_timestamptz(const WcModify *m, int i)
{
	return getBaseType(m->wrel->columns[i].type) == TIMESTAMPTZOID;
}

static int64
timestamp_of(const WcModify *m, int i, Datum value)
{
	int64		ts = DatumGetInt64(value);

	if (is_timestamptz(m, i))
	{
		if (TIMESTAMP_NOT_FINITE(ts))
			ts = -1;
		else
			ts += UNIX_EPOCH_US;
	}
	check_timestamp(m, i, ts);
	return ts;
}

/* WC_TS_LATEST if no column gives a timestamp. */
static int64
given_timestamp(const WcModify *m, const WcPlace *place, const Datum *values, const bool *isnull)
{
	int64		given = WC_TS_LATEST;
	ListCell   *lc;

	foreach(lc, place->timestamps)
	{
		int			i = lfirst_int(lc);
		int64		ts;

		if (isnull[i])
			continue;
		ts = timestamp_of(m, i, values[i]);
		if (given != WC_TS_LATEST && ts != given)
			contradiction(m, i, "They give different timestamps.");
		given = ts;
	}
	return given;
}

static WcVersion
version_of(const WcModify *m, int i, Datum element, bool element_null)
{
	WcVersion	version = {0};
	HeapTupleHeader tuple;
	bool		ts_null = true;
	bool		value_null = true;
	bytea	   *bytes = NULL;

	if (!element_null)
	{
		tuple = DatumGetHeapTupleHeader(element);
		version.ts = DatumGetInt64(GetAttributeByNum(tuple, 1, &ts_null));
		bytes = (bytea *) DatumGetPointer(GetAttributeByNum(tuple, 2, &value_null));
	}
	if (element_null || ts_null || value_null)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a version in column \"%s\" of foreign table \"%s\" must not be null",
						column_name(m, i), m->wrel->relname),
				 errdetail("It has a timestamp and a value.")));
	check_timestamp(m, i, version.ts);
	bytes = pg_detoast_datum_packed(bytes);
	version.value = wc_slice(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	return version;
}

static int
newest_first(const void *a, const void *b)
{
	int64		x = ((const WcVersion *) a)->ts;
	int64		y = ((const WcVersion *) b)->ts;

	return x > y ? -1 : x < y;
}

/* The versions that the arrays give together, newest first, each once. */
static int
given_versions(const WcModify *m, const WcPlace *place, const Datum *values, const bool *isnull, WcVersion **versions)
{
	int			n = 0;
	int			distinct = 0;
	int			column = 0;
	ListCell   *lc;

	*versions = NULL;
	foreach(lc, place->versions)
	{
		int			i = lfirst_int(lc);
		Datum	   *elements;
		bool	   *nulls;
		int			more;

		if (isnull[i])
			continue;
		column = i;
		deconstruct_array(DatumGetArrayTypeP(values[i]), get_element_type(getBaseType(m->wrel->columns[i].type)),
						  -1, false, TYPALIGN_DOUBLE, &elements, &nulls, &more);
		*versions = *versions ? repalloc(*versions, sizeof(WcVersion) * (n + more + 1)) :
			palloc(sizeof(WcVersion) * (more + 1));
		for (int e = 0; e < more; e++)
			(*versions)[n++] = version_of(m, i, elements[e], nulls[e]);
	}
	if (n > 0)
		qsort(*versions, n, sizeof(WcVersion), newest_first);
	for (int v = 0; v < n; v++)
	{
		if (distinct == 0 || (*versions)[distinct - 1].ts != (*versions)[v].ts)
			(*versions)[distinct++] = (*versions)[v];
		else if (!wc_slice_eq((*versions)[distinct - 1].value, (*versions)[v].value))
			contradiction(m, column, "They give different values for one timestamp.");
	}
	return distinct;
}

/* --- writing ---------------------------------------------------------------- */

/* The versions are sorted, the newest first. */
static WcVersion *
find_version(WcVersion *versions, int n, int64 ts)
{
	WcVersion	key = {.ts = ts};

	return n == 0 ? NULL : bsearch(&key, versions, n, sizeof(WcVersion), newest_first);
}

/* So many versions of the cell are visible. */
static int
versions_kept(const WcModify *m, const WcPlace *place)
{
	return (int) wc_table_desc_family_by_id(m->wrel->desc, place->family)->attrs.versions;
}

static void pg_attribute_noreturn()
dated_later(const WcModify *m, const WcPlace *place)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
			 errmsg("the cell of column \"%s\" of foreign table \"%s\" cannot be written with a timestamp in this transaction",
					column_name(m, linitial_int(place->timestamps != NIL ? place->timestamps : place->versions)), m->wrel->relname),
			 errdetail("The transaction has written it without one, and it has a version that is dated later than now."),
			 errhint("Write it in a transaction of its own.")));
}

/* Deletes existing versions that are not given and are newer than oldest (-1: all of them). */
static void
delete_others(WcModify *m, const WcPlace *place, WcVersion *versions, int n, int64 oldest)
{
	int			nthere;
	int			nupto_own;
	int64	   *there = wc_rowread_versions(m->wrel, wc_buf_slice(&m->write.key), place->family, place->qualifier,
											&nthere, &nupto_own);

	if (nupto_own > 0 && there[nupto_own - 1] <= oldest)
		nupto_own = 0;			/* it stays */
	for (int i = 0; i < nthere; i++)
	{
		WcVersion  *version = find_version(versions, n, there[i]);

		if (version != NULL)
			version->there = true;
		if (i < nupto_own && (version != NULL || i >= versions_kept(m, place)))
			dated_later(m, place);
		if (version == NULL && there[i] > oldest)
			wc_rowwrite_delete(&m->write, WC_ITEM_DELETE, place->family, place->qualifier,
							   i < nupto_own ? WC_TS_LATEST : there[i]);
	}
}

/* A version that widecol.dump has restored keeps its time to live, so it is not put again. */
static bool
keeps(const WcModify *m, const WcVersion *version)
{
	return m->restoring && version->there;
}

static void
put_versions(WcModify *m, const WcPlace *place, WcVersion *versions, int n,
			 const Datum *values, const bool *isnull)
{
	int64		ts = given_timestamp(m, place, values, isnull);

	if (ts != WC_TS_LATEST && ts != versions[0].ts)
		contradiction(m, linitial_int(place->timestamps), "The newest version has another timestamp.");
	if (place->put && !isnull[place->put->index])
	{
		WcBuf	   *scratch = &m->old.bytes;

		wc_buf_reset(scratch, WC_ROW_MAX);
		wc_codec_encode(place->put->codec, values[place->put->index], scratch);
		if (!wc_slice_eq(wc_buf_slice(scratch), versions[0].value))
			contradiction(m, place->put->index, "The newest version has another value.");
	}
	delete_others(m, place, versions, n, -1);
	for (int i = 0; i < n; i++)
		if (!keeps(m, &versions[i]))
			wc_rowwrite_put_cell(&m->write, place->family, place->qualifier, versions[i].ts, 0, versions[i].value);
}

/* Makes the cell from its columns.  Returns false if it does not exist then; cleared: a map's column has
 * cleared it already. */
static bool
write_place(WcModify *m, const WcPlace *place, const Datum *values, const bool *isnull, bool cleared)
{
	const WcPutColumn *put = place->put;
	WcVersion  *versions;
	int			n = given_versions(m, place, values, isnull, &versions);
	int64		ts;

	if (n > 0)
	{
		put_versions(m, place, versions, n, values, isnull);
		return true;
	}
	ts = given_timestamp(m, place, values, isnull);
	if (put && !isnull[put->index])
	{
		WcVersion	version = {.ts = ts};

		if (ts != WC_TS_LATEST)
			delete_others(m, place, &version, 1, ts);
		if (keeps(m, &version))
			return true;
		wc_rowwrite_put(&m->write, put->family, put->qualifier, put->codec, values[put->index]);
		wc_rowwrite_set_ts(&m->write, ts);
		return true;
	}
	/* the dump has the value of the cell elsewhere */
	if (ts != WC_TS_LATEST && m->restoring)
		return true;
	if (ts != WC_TS_LATEST)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of foreign table \"%s\" cannot be written without a value",
						column_name(m, linitial_int(place->timestamps)), m->wrel->relname),
				 errdetail("It is the timestamp of a cell, and nothing says what the cell shall hold.")));
	if (!cleared)
		wc_rowwrite_clear(&m->write, WC_ITEM_CLEAR_COLUMN, place->family, place->qualifier);
	return false;
}

bool
wc_versionwrite_insert(WcModify *m, const WcPlace *place, const Datum *values, const bool *isnull)
{
	return write_place(m, place, values, isnull, place->in_map);
}

static bool
column_changes(const WcModify *m, int i, TupleTableSlot *old, TupleTableSlot *new)
{
	return wc_modify_changes(m, i, old, new) && wc_modify_differs(i, old, new);
}

static bool
any_changes(const WcModify *m, const List *columns, TupleTableSlot *old, TupleTableSlot *new)
{
	ListCell   *lc;

	foreach(lc, columns)
		if (column_changes(m, lfirst_int(lc), old, new))
			return true;
	return false;
}

static bool
value_changes(const WcModify *m, const WcPlace *place, TupleTableSlot *old, TupleTableSlot *new)
{
	return place->put && m->wrel->columns[place->put->index].role == WC_ROLE_VALUE &&
		wc_modify_changes(m, place->put->index, old, new);
}

/* A timestamp counts as given if it is assigned, also if it is the one that the cell has. */
static bool
gives_timestamp(const WcModify *m, const WcPlace *place, TupleTableSlot *old, TupleTableSlot *new)
{
	ListCell   *lc;

	foreach(lc, place->timestamps)
		if (!new->tts_isnull[lfirst_int(lc)] && wc_modify_changes(m, lfirst_int(lc), old, new))
			return true;
	return false;
}

bool
wc_versionwrite_changes(const WcModify *m, const WcPlace *place, TupleTableSlot *old, TupleTableSlot *new)
{
	/* a row that is moved is written anew */
	if (m->key_moved && place->put && !new->tts_isnull[place->put->index] && gives_timestamp(m, place, old, new))
		return true;
	return value_changes(m, place, old, new) || any_changes(m, place->timestamps, old, new) ||
		any_changes(m, place->versions, old, new);
}

bool
wc_versionwrite_update(WcModify *m, const WcPlace *place, TupleTableSlot *old, TupleTableSlot *new)
{
	bool	   *isnull = palloc(sizeof(bool) * m->wrel->natts);
	ListCell   *lc;

	memcpy(isnull, new->tts_isnull, sizeof(bool) * m->wrel->natts);
	foreach(lc, place->timestamps)
		isnull[lfirst_int(lc)] |= !wc_modify_changes(m, lfirst_int(lc), old, new);
	foreach(lc, place->versions)
		isnull[lfirst_int(lc)] |= !column_changes(m, lfirst_int(lc), old, new);
	if (place->put && any_changes(m, place->versions, old, new) && !value_changes(m, place, old, new))
		isnull[place->put->index] = true;
	return write_place(m, place, new->tts_values, isnull, false);
}

void
wc_versionwrite_show(const WcModify *m, const WcPlace *place, TupleTableSlot *old, TupleTableSlot *new, Datum *values, bool *isnull)
{
	const WcPutColumn *put = place->put;
	bool	   *left_out = palloc(sizeof(bool) * m->wrel->natts);
	WcVersion  *versions;
	bool		emptied;
	ListCell   *lc;
	int64		ts;
	int			n;

	memcpy(left_out, new->tts_isnull, sizeof(bool) * m->wrel->natts);
	foreach(lc, place->versions)
		left_out[lfirst_int(lc)] |= old != NULL && !column_changes(m, lfirst_int(lc), old, new);
	foreach(lc, place->timestamps)
		left_out[lfirst_int(lc)] |= old != NULL && !wc_modify_changes(m, lfirst_int(lc), old, new);
	n = given_versions(m, place, new->tts_values, left_out, &versions);
	ts = n > 0 ? versions[0].ts : given_timestamp(m, place, new->tts_values, left_out);
	emptied = ts == WC_TS_LATEST && old != NULL && any_changes(m, place->versions, old, new) &&
		!(value_changes(m, place, old, new) && !new->tts_isnull[put->index]);
	if (ts == WC_TS_LATEST && !emptied)
		return;
	if ((n > 0 || emptied) && put != NULL && m->wrel->columns[put->index].role == WC_ROLE_VALUE)
	{
		WcCodecWhere where = {.table = m->wrel->relname,.row = wc_buf_slice(&m->write.key)};

		isnull[put->index] = emptied;
		if (n > 0)
			values[put->index] = wc_codec_decode(put->codec, versions[0].value, &where);
	}
	foreach(lc, place->timestamps)
	{
		isnull[lfirst_int(lc)] = emptied;
		values[lfirst_int(lc)] = Int64GetDatum(ts - (is_timestamptz(m, lfirst_int(lc)) ? UNIX_EPOCH_US : 0));
	}
}
