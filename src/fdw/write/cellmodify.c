/*
 * fdw/write/cellmodify.c: INSERT, UPDATE and DELETE in layout 'cell'.
 *
 * A row of the foreign table is one version of a cell.  INSERT writes a version (or, with a type other than Put, a
 * delete marker).  DELETE deletes exactly that version.  UPDATE of value or ttl puts the version again at its own
 * timestamp.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "client/foreign/ttl.h"
#include "fdw/relation/errfield.h"
#include "fdw/relation/mapping.h"
#include "fdw/write/modify.h"
#include "fdw/write/restoring.h"
#include "fdw/write/rowread.h"

static int
find_column(const WcRelation *wrel, WcRole role)
{
	for (int i = 0; i < wrel->natts; i++)
		if (wrel->columns[i].role == role)
			return i;
	return -1;
}

/* The index of the column with this role if it exists and is not NULL, else -1. */
static int
given(const WcRelation *wrel, WcRole role, const bool *isnull)
{
	int			i = find_column(wrel, role);

	return i >= 0 && !isnull[i] ? i : -1;
}

static int
required(const WcRelation *wrel, WcRole role, const bool *isnull, const char *name)
{
	int			i = given(wrel, role, isnull);

	if (i < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NOT_NULL_VIOLATION),
				 errmsg("null value in column \"%s\" of foreign table \"%s\"", name, wrel->relname),
				 errdetail("A cell is known by row, family, qualifier and timestamp."),
				 wc_errfield_column(wrel, name)));
	return i;
}

static void
encode_row(WcModify *m, const Datum *values, const bool *isnull)
{
	WcRelation *wrel = m->wrel;
	int			row = required(wrel, WC_ROLE_CELL_ROW, isnull, "row");

	wc_rowwrite_start(&m->write);
	wc_codec_encode(&wrel->columns[row].codec, values[row], &m->write.key);
}

/* The bytes of a column, in the row's memory; empty if the column is not given. */
static WcSlice
bytes_of(WcModify *m, WcRole role, const Datum *values, const bool *isnull)
{
	int			i = given(m->wrel, role, isnull);
	WcBuf	   *scratch = &m->old.bytes;
	char	   *copy;

	if (i < 0)
		return wc_slice(NULL, 0);
	wc_buf_reset(scratch, WC_ROW_MAX);
	wc_codec_encode(&m->wrel->columns[i].codec, values[i], scratch);
	copy = MemoryContextAllocHuge(CurrentMemoryContext, Max(scratch->len, 1));
	if (scratch->len > 0)
		memcpy(copy, scratch->data, scratch->len);
	return wc_slice(copy, scratch->len);
}

static uint32
family_of(const WcModify *m, const Datum *values, const bool *isnull)
{
	const WcRelation *wrel = m->wrel;
	int			i = given(wrel, WC_ROLE_CELL_FAMILY, isnull);
	const WcFamilyDesc *family;
	char	   *name;

	if (i < 0)
		return wrel->default_family;
	name = TextDatumGetCString(values[i]);
	family = wc_table_desc_family(wrel->desc, wc_text_to_utf8(name, strlen(name)));
	if (family == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("family \"%s\" does not exist in stored table \"%s\"", name, wrel->table_name),
				 errdetail("Its families are: %s.", wc_mapping_list_families(wrel->desc))));
	return family->id;
}

static uint8
type_of(const WcModify *m, const Datum *values, const bool *isnull)
{
	int			i = given(m->wrel, WC_ROLE_CELL_TYPE, isnull);
	uint8_t		type = WC_PUT;
	char	   *name;

	if (i < 0)
		return WC_PUT;
	name = TextDatumGetCString(values[i]);
	if (!wc_cell_type_parse(wc_slice_cstr(name), &type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid type of cell: \"%s\"", name),
				 errhint("Valid types are: Put, Delete, DeleteColumn, DeleteFamily, DeleteFamilyVersion.")));
	return type;
}

static int64
ttl_of(const WcModify *m, const Datum *values, const bool *isnull)
{
	int			i = given(m->wrel, WC_ROLE_CELL_TTL, isnull);

	return i < 0 ? 0 : wc_ttl_of_interval(values[i]);
}

void
wc_cellmodify_insert(WcModify *m, TupleTableSlot *slot)
{
	const WcRelation *wrel = m->wrel;
	const Datum *values = slot->tts_values;
	const bool *isnull = slot->tts_isnull;
	int			ts_column = given(wrel, WC_ROLE_CELL_TS, isnull);
	int64		ts = ts_column >= 0 ? DatumGetInt64(values[ts_column]) : WC_TS_LATEST;
	uint32		family;
	uint8		type;
	WcSlice		qualifier;
	WcSlice		cell;

	encode_row(m, values, isnull);
	family = family_of(m, values, isnull);
	type = type_of(m, values, isnull);
	qualifier = bytes_of(m, WC_ROLE_CELL_QUALIFIER, values, isnull);
	if (type != WC_PUT)
	{
		if (given(wrel, WC_ROLE_CELL_TTL, isnull) >= 0 ||
			bytes_of(m, WC_ROLE_CELL_VALUE, values, isnull).len > 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a cell of type %s has no value and no time to live", wc_cell_type_name(type))));
		wc_rowwrite_delete(&m->write, (WcItemKind) type, family, qualifier, ts);
	}
	else
	{
		int			value = find_column(wrel, WC_ROLE_CELL_VALUE);

		if (value >= 0 && isnull[value])
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("null value in column \"value\" of foreign table \"%s\"", wrel->relname),
					 errdetail("NULL is the absence of a cell."),
					 wc_errfield_column(wrel, "value")));
		cell = bytes_of(m, WC_ROLE_CELL_VALUE, values, isnull);
		if (m->restoring && !wc_restoring_cell(m, family, qualifier, ts, cell))
			return;
		wc_rowwrite_put_cell(&m->write, family, qualifier, ts, ttl_of(m, values, isnull), cell);
	}
	wc_rowwrite_send(&m->write, m->cid, NULL, 0);
}

/* A cell that the transaction has written without a timestamp has none before the commit: it is not known by ts.  (A
 * driver of another store refuses by itself.) */
static void
refuse_provisional(const WcModify *m, int64 ts)
{
	if (!wc_client_store_is_embedded(m->wrel->store) || !wc_client_is_provisional(ts))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
			 errmsg("a cell that this transaction has written cannot be changed in foreign table \"%s\"", m->wrel->relname),
			 errdetail("It was written without a timestamp, and gets the one of the commit: it is not known by \"ts\" yet."),
			 errhint("Insert the cell again, change it through a foreign table of layout 'row', or write it with a timestamp.")));
}

/* Row, family, qualifier and timestamp of a cell that was read. */
static void
locate(WcModify *m, const Datum *values, const bool *isnull, uint32 *family, WcSlice *qualifier, int64 *ts)
{
	(void) required(m->wrel, WC_ROLE_CELL_FAMILY, isnull, "family");
	(void) required(m->wrel, WC_ROLE_CELL_QUALIFIER, isnull, "qualifier");
	*ts = DatumGetInt64(values[required(m->wrel, WC_ROLE_CELL_TS, isnull, "ts")]);
	refuse_provisional(m, *ts);
	encode_row(m, values, isnull);
	*family = family_of(m, values, isnull);
	*qualifier = bytes_of(m, WC_ROLE_CELL_QUALIFIER, values, isnull);
}

void
wc_cellmodify_id(WcModify *m, const Datum *values, const bool *isnull, WcRowId *id)
{
	locate(m, values, isnull, &id->family, &id->qualifier, &id->ts);
	id->row = wc_buf_slice(&m->write.key);
}

static bool
read_ttl(WcModify *m, uint32 family, WcSlice qualifier, int64 ts, int64 *ttl_us)
{
	if (m->ttls == NULL)
		m->ttls = wc_ttlreader_create(m->wrel, m->pg_snapshot->curcid, m->context);
	return wc_ttlreader_find(m->ttls, wc_buf_slice(&m->write.key), family, qualifier, ts, ttl_us);
}

void
wc_cellmodify_update(WcModify *m, TupleTableSlot *old, TupleTableSlot *new)
{
	const WcRelation *wrel = m->wrel;
	uint32		family;
	WcSlice		qualifier;
	int64		ts;
	int64		ttl_us;

	for (int i = 0; i < wrel->natts; i++)
	{
		const WcRelColumn *col = &wrel->columns[i];

		if (col->role == WC_ROLE_CELL_VALUE || col->role == WC_ROLE_CELL_TTL ||
			!wc_modify_changes(m, i, old, new) || !wc_modify_differs(i, old, new))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of foreign table \"%s\" cannot be updated", NameStr(col->name), wrel->relname),
				 errdetail("In layout 'cell', UPDATE changes value and ttl."),
				 errhint("Insert a new cell and delete the old one.")));
	}
	if (given(wrel, WC_ROLE_CELL_VALUE, new->tts_isnull) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NOT_NULL_VIOLATION),
				 errmsg("null value in column \"value\" of foreign table \"%s\"", wrel->relname),
				 errdetail("NULL is the absence of a cell."),
				 errhint("DELETE deletes the cell."),
				 wc_errfield_column(wrel, "value")));
	locate(m, old->tts_values, old->tts_isnull, &family, &qualifier, &ts);
	if (find_column(wrel, WC_ROLE_CELL_TTL) >= 0)
		ttl_us = ttl_of(m, new->tts_values, new->tts_isnull);
	else if (!read_ttl(m, family, qualifier, ts, &ttl_us))
		return;					/* its time to live has ended since it was read */
	wc_rowwrite_put_cell(&m->write, family, qualifier, ts, ttl_us,
						 bytes_of(m, WC_ROLE_CELL_VALUE, new->tts_values, new->tts_isnull));
	wc_rowwrite_send(&m->write, m->cid, NULL, 0);
}

void
wc_cellmodify_delete(WcModify *m)
{
	uint32		family;
	WcSlice		qualifier;
	int64		ts;

	locate(m, m->values, m->isnull, &family, &qualifier, &ts);
	wc_rowwrite_delete(&m->write, WC_ITEM_DELETE, family, qualifier, ts);
	wc_rowwrite_send(&m->write, m->cid, NULL, 0);
}
