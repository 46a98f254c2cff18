/*
 * fdw/relation/mapping.c: what the options of a foreign table and its columns say together.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "client/client.h"
#include "client/foreign/foreign.h"
#include "fdw/relation/enumlabel.h"
#include "fdw/relation/hstore.h"
#include "fdw/relation/key.h"
#include "fdw/relation/mapping.h"
#include "fdw/relation/recordtype.h"

static void pg_attribute_noreturn()
column_error(const WcRelation *wrel, const WcRelColumn *col, const char *message, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("column \"%s\" of foreign table \"%s\" %s", NameStr(col->name), wrel->relname, message),
			 hint ? errhint("%s", hint) : 0));
}

Oid
wc_mapping_version_array(void)
{
	Oid			ns = get_namespace_oid("widecol", true);
	Oid			type = InvalidOid;

	if (OidIsValid(ns))
		type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
							   CStringGetDatum("version"), ObjectIdGetDatum(ns));
	return OidIsValid(type) ? get_array_type(type) : InvalidOid;
}

/* --- layout row -------------------------------------------------------------*/

static void
init_value_codec(WcCodec *codec, const WcRelation *wrel, const WcRelColumn *col, const WcColumnOptions *o, WcEncoding encoding)
{
	WcCodecSpec spec = {
		.table = wrel->relname,
		.column = NameStr(col->name),
		.type = col->type,
		.typmod = col->typmod,
		.collation = col->collation,
		.encoding = encoding,
		.labels = o->labels ? wc_options_parse_labels(o->labels) : NIL
	};

	wc_codec_init(codec, &spec);
}

static void
set_place(WcRelColumn *col, const WcColumnOptions *o, const char *default_family)
{
	const char *qualifier = o->qualifier ? o->qualifier :
		o->qualifier_prefix ? o->qualifier_prefix : NameStr(col->name);

	col->family_name = o->family ? o->family : default_family;
	col->qualifier = wc_text_to_utf8(qualifier, strlen(qualifier));
}

static void
set_row_role(WcRelation *wrel, WcRelColumn *col, const WcColumnOptions *o, const char *default_family)
{
	Oid			base = getBaseType(col->type);
	WcHstore	hstore;
	bool		map_type;

	if (o->labels)
		wc_enum_labels_check(wrel, col, wc_options_parse_labels(o->labels));
	if (o->rowkey == WC_ROWKEY_RAW)
	{
		col->role = WC_ROLE_RAW_KEY;
		if (base != BYTEAOID)
			column_error(wrel, col, "must be of type bytea", "rowkey 'raw' is the whole row key as it is stored.");
		return;
	}
	if (o->rowkey > 0)
	{
		col->role = WC_ROLE_KEY;
		col->key_no = o->rowkey - 1;
		col->desc = o->desc;
		col->hashed = wc_encoding_is_hash(o->encoding);
		if (col->hashed)
		{
			set_place(col, o, default_family);
			init_value_codec(&col->original, wrel, col, o, WC_ENCODING_DEFAULT);
		}
		return;
	}

	set_place(col, o, default_family);
	col->hstore = wc_hstore_find(base, &hstore);
	map_type = base == JSONBOID || col->hstore;
	if (o->qualifier_prefix)
	{
		col->role = WC_ROLE_PREFIX_MAP;
		if (!map_type)
			column_error(wrel, col, "must be of type jsonb or hstore", "Option qualifier_prefix makes it a map.");
	}
	else if (o->timestamp)
	{
		col->role = WC_ROLE_TIMESTAMP;
		if (base != INT8OID && base != TIMESTAMPTZOID)
			column_error(wrel, col, "must be of type bigint or timestamp with time zone",
						 "It shows a cell's timestamp; bigint is microseconds since 1970.");
	}
	else if (OidIsValid(col->type) && base == wc_mapping_version_array())
	{
		col->role = WC_ROLE_VERSIONS;
		col->versions = o->versions > 0 ? o->versions : WC_VERSIONS_MAX;
		if (o->encoding != WC_ENCODING_DEFAULT)
			column_error(wrel, col, "shows versions as bytes and takes no encoding", NULL);
	}
	else if (o->versions > 0)
		column_error(wrel, col, "must be of type widecol.version[]", "Option versions shows several versions of a cell.");
	else if (map_type && o->family && !o->qualifier)
	{
		col->role = WC_ROLE_MAP;
		col->qualifier = wc_slice(NULL, 0);
		if (o->encoding != WC_ENCODING_DEFAULT)
			column_error(wrel, col, "is a map of the whole family and takes no encoding",
						 "Add option qualifier to keep the document in one cell.");
	}
	else
	{
		col->role = WC_ROLE_VALUE;
		init_value_codec(&col->codec, wrel, col, o, o->encoding);
	}
	if (col->role == WC_ROLE_MAP || col->role == WC_ROLE_PREFIX_MAP)
		wrel->has_map = true;
}

/* Counts the parts and puts them in order: 1 .. n, each once. */
static void
number_keys(WcRelation *wrel, bool partition)
{
	int			highest = 0;

	for (int i = 0; i < wrel->natts; i++)
	{
		WcRelColumn *col = &wrel->columns[i];

		if (col->role == WC_ROLE_RAW_KEY)
		{
			if (wrel->raw_key >= 0)
				column_error(wrel, col, "repeats rowkey 'raw'", "One column can be the whole row key.");
			wrel->raw_key = i;
		}
		else if (col->role == WC_ROLE_KEY)
		{
			wrel->nkeys++;
			highest = Max(highest, col->key_no + 1);
		}
	}
	if (wrel->nkeys == 0 && wrel->raw_key < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("foreign table \"%s\" has no key column", wrel->relname),
				 partition ?
				 errhint("Columns of a PARTITION OF take no options: create the foreign table by itself, "
						 "with key columns, and attach it.") :
				 errhint("Mark the columns that make the row key with OPTIONS (rowkey '1'), (rowkey '2') and so on, "
						 "or a bytea column with OPTIONS (rowkey 'raw').")));

	wrel->keys = palloc(sizeof(int) * Max(wrel->nkeys, 1));
	memset(wrel->keys, -1, sizeof(int) * Max(wrel->nkeys, 1));
	for (int i = 0; i < wrel->natts; i++)
	{
		WcRelColumn *col = &wrel->columns[i];

		if (col->role != WC_ROLE_KEY || col->key_no >= wrel->nkeys)
			continue;
		if (wrel->keys[col->key_no] >= 0)
			column_error(wrel, col,
						 psprintf("repeats rowkey '%d' of column \"%s\"", col->key_no + 1,
								  NameStr(wrel->columns[wrel->keys[col->key_no]].name)),
						 "Number the parts of the row key 1, 2, 3 and so on.");
		wrel->keys[col->key_no] = i;
	}
	for (int k = 0; k < wrel->nkeys; k++)
		if (wrel->keys[k] < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("foreign table \"%s\" has no column with rowkey '%d', but one with rowkey '%d'",
							wrel->relname, k + 1, highest),
					 errhint("Number the parts of the row key 1, 2, 3 and so on.")));
}

/* Codecs of the parts need to know which part is the last, so they come second. */
static void
init_keys(WcRelation *wrel, const WcColumnOptions *options, const WcTableOptions *table)
{
	const char *delimiter = table->delimiter;
	WcPartShape *shapes = palloc0(sizeof(WcPartShape) * Max(wrel->nkeys, 1));
	WcError		err;

	for (int k = 0; k < wrel->nkeys; k++)
	{
		WcRelColumn *col = &wrel->columns[wrel->keys[k]];
		const WcColumnOptions *o = &options[wrel->keys[k]];
		WcCodecSpec spec = {
			.table = wrel->relname,
			.column = NameStr(col->name),
			.type = col->type,
			.typmod = col->typmod,
			.collation = col->collation,
			.encoding = o->encoding,
			.labels = o->labels ? wc_options_parse_labels(o->labels) : NIL,
			.as_key = true,
			.desc = o->desc,
			.is_last = k == wrel->nkeys - 1,
			.delimited = delimiter != NULL,
			.length = o->length
		};

		wc_codec_init(&col->codec, &spec);
		shapes[k] = col->codec.shape;
	}
	if (delimiter && wrel->nkeys < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"delimiter\" needs a row key of several parts"),
				 errhint("Foreign table \"%s\" has one part only.", wrel->relname)));

	wrel->key_layout.nparts = wrel->nkeys;
	wrel->key_layout.parts = shapes;
	if (delimiter)
		wrel->key_layout.delimiter = wc_text_to_utf8(delimiter, strlen(delimiter));
	if (table->salt_buckets > 0)
		wc_salt_init(wrel, table->salt_buckets, &table->salt_by);
	if (wrel->nkeys > 0 && wc_rowkey_layout_check(&wrel->key_layout, &err) != WC_OK)
		wc_raise(&err);
	wc_key_init(wrel);
}

bool
wc_relation_has_qualifier(const WcRelColumn *col)
{
	return col->role == WC_ROLE_VALUE || col->role == WC_ROLE_TIMESTAMP ||
		col->role == WC_ROLE_VERSIONS || (col->role == WC_ROLE_KEY && col->hashed);
}

static bool
is_map(const WcRelColumn *col)
{
	return col->role == WC_ROLE_MAP || col->role == WC_ROLE_PREFIX_MAP;
}

/* Would a write to one change what the other shows? */
static bool
columns_overlap(const WcRelColumn *a, const WcRelColumn *b)
{
	if (a->family_name == NULL || b->family_name == NULL || strcmp(a->family_name, b->family_name) != 0)
		return false;
	if (is_map(a) && is_map(b))
		return wc_slice_starts_with(a->qualifier, b->qualifier) ||
			wc_slice_starts_with(b->qualifier, a->qualifier);
	if ((a->role == WC_ROLE_VALUE || a->role == WC_ROLE_KEY) &&
		(b->role == WC_ROLE_VALUE || b->role == WC_ROLE_KEY))
		return wc_slice_eq(a->qualifier, b->qualifier);
	return false;
}

static void
check_overlaps(const WcRelation *wrel)
{
	for (int i = 0; i < wrel->natts; i++)
		for (int j = 0; j < i; j++)
			if (columns_overlap(&wrel->columns[i], &wrel->columns[j]))
				column_error(wrel, &wrel->columns[i],
							 psprintf("maps what column \"%s\" maps", NameStr(wrel->columns[j].name)),
							 "Each needs another family, qualifier or qualifier_prefix.");
}

static void
choose_default_family(WcRelation *wrel, const WcTableOptions *options)
{
	const char *first = NULL;

	wrel->default_family_name = options->family ? options->family : WC_FAMILY_DEFAULT;
	wrel->family_given = options->family != NULL;
	for (int i = 0; i < wrel->natts && !wrel->family_given; i++)
	{
		const char *name = wrel->columns[i].family_name;

		if (name && strcmp(name, wrel->default_family_name) == 0)
			wrel->family_given = true;
		if (name && first == NULL)
			first = name;
	}
	if (!wrel->family_given && first)
	{
		wrel->default_family_name = first;
		wrel->family_given = true;
	}

	wrel->marker_column = -1;
	for (int i = 0; i < wrel->natts; i++)
	{
		const WcRelColumn *col = &wrel->columns[i];

		if (wc_relation_has_qualifier(col) && col->qualifier.len == 0 &&
			strcmp(col->family_name, wrel->default_family_name) == 0)
			wrel->marker_column = i;
	}
}

/* --- layout cell ------------------------------------------------------------*/

static void
set_cell_role(WcRelation *wrel, WcRelColumn *col, const WcColumnOptions *o)
{
	static const struct
	{
		const char *name;
		WcRole		role;
		Oid			type;
		Oid			other_type;
		const char *types;
	}			known[] = {
		{"row", WC_ROLE_CELL_ROW, BYTEAOID, TEXTOID, "must be of type bytea or text"},
		{"family", WC_ROLE_CELL_FAMILY, TEXTOID, TEXTOID, "must be of type text"},
		{"qualifier", WC_ROLE_CELL_QUALIFIER, BYTEAOID, TEXTOID, "must be of type bytea or text"},
		{"ts", WC_ROLE_CELL_TS, INT8OID, INT8OID, "must be of type bigint"},
		{"type", WC_ROLE_CELL_TYPE, TEXTOID, TEXTOID, "must be of type text"},
		{"value", WC_ROLE_CELL_VALUE, BYTEAOID, TEXTOID, "must be of type bytea or text"},
		{"ttl", WC_ROLE_CELL_TTL, INTERVALOID, INTERVALOID, "must be of type interval"}
	};
	Oid			base = getBaseType(col->type);

	for (int i = 0; i < lengthof(known); i++)
	{
		if (strcmp(NameStr(col->name), known[i].name) != 0)
			continue;
		if (o->any)
			column_error(wrel, col, "takes no options in layout 'cell'", "Columns of this layout are known by their names.");
		if (base != known[i].type && base != known[i].other_type)
			column_error(wrel, col, known[i].types, NULL);
		col->role = known[i].role;
		if (col->role == WC_ROLE_CELL_ROW || col->role == WC_ROLE_CELL_FAMILY ||
			col->role == WC_ROLE_CELL_QUALIFIER || col->role == WC_ROLE_CELL_VALUE)
			init_value_codec(&col->codec, wrel, col, o, base == TEXTOID ? WC_ENCODING_TEXT : WC_ENCODING_BINARY);
		return;
	}
	column_error(wrel, col, "is unknown to layout 'cell'",
				 "Its columns are: row, family, qualifier, ts, type, value, ttl; any subset of them.");
}

/* --- all --------------------------------------------------------------------*/

static void
check_stored_name(const WcRelation *wrel)
{
	WcSlice		ns;
	WcSlice		name;
	WcError		err;

	if (wc_table_name_split(wc_text_to_utf8(wrel->table_name, strlen(wrel->table_name)), &ns, &name, &err) == WC_OK)
		return;
	wc_error_hint(&err, "Name the stored table with the table option \"table\".");
	wc_raise_as(&err, ERRCODE_INVALID_NAME);
}

static void
check_write_mode(const WcRelation *wrel)
{
	if (wrel->write_mode != WC_WRITE_AS_SERVER && wc_client_store_is_embedded(wrel->store))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"write_mode\" of foreign table \"%s\" needs a server with engine 'hbase'", wrel->relname),
				 errhint("The embedded engine commits changes with the transaction.")));
}

WcRelation *
wc_mapping_build(Relation rel, WcTableOptions *options)
{
	TupleDesc	tupdesc = RelationGetDescr(rel);
	WcRelation *wrel = palloc0(sizeof(WcRelation));
	WcColumnOptions *column_options = palloc0(sizeof(WcColumnOptions) * Max(tupdesc->natts, 1));
	ForeignTable *foreign = GetForeignTable(RelationGetRelid(rel));
	const char *default_family;

	wc_options_parse_table(foreign->options, options);
	default_family = options->family ? options->family : WC_FAMILY_DEFAULT;
	wrel->relid = RelationGetRelid(rel);
	wrel->relname = pstrdup(RelationGetRelationName(rel));
	wrel->table_name = options->table ? options->table : pstrdup(wrel->relname);
	wrel->store = wc_client_store(foreign->serverid);
	wrel->layout = options->layout;
	wrel->duplicates_fail = options->duplicates_fail;
	wrel->cell_versions = options->versions;
	wrel->raw = options->raw;
	wrel->fetch_size = options->fetch_size;
	wrel->parallel_workers = options->parallel_workers;
	wrel->write_mode = options->write_mode;
	check_write_mode(wrel);
	wrel->raw_key = -1;
	wrel->natts = tupdesc->natts;
	wrel->columns = palloc0(sizeof(WcRelColumn) * Max(tupdesc->natts, 1));
	check_stored_name(wrel);

	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(tupdesc, i);
		WcRelColumn *col = &wrel->columns[i];

		col->attnum = att->attnum;
		col->key_no = -1;
		if (att->attisdropped)
			continue;
		col->name = att->attname;
		col->type = att->atttypid;
		col->typmod = att->atttypmod;
		col->collation = att->attcollation;
		wc_options_parse_column(GetForeignColumnOptions(wrel->relid, att->attnum), &column_options[i]);
		if (wrel->layout == WC_LAYOUT_ROW)
			set_row_role(wrel, col, &column_options[i], default_family);
		else
			set_cell_role(wrel, col, &column_options[i]);
	}
	if (wrel->layout == WC_LAYOUT_ROW)
	{
		number_keys(wrel, rel->rd_rel->relispartition);
		init_keys(wrel, column_options, options);
		check_overlaps(wrel);
		wc_recordtype_find(wrel, rel);
	}
	choose_default_family(wrel, options);
	return wrel;
}

static char *
utf8_name(const char *name)
{
	WcSlice		s = wc_text_to_utf8(name, strlen(name));

	return pnstrdup((const char *) s.data, s.len);
}

List *
wc_mapping_family_names(const WcRelation *wrel)
{
	List	   *names = list_make1(utf8_name(wrel->default_family_name));

	for (int i = 0; i < wrel->natts; i++)
	{
		const char *name = wrel->columns[i].family_name;
		char	   *utf8;
		bool		known = false;
		ListCell   *lc;

		if (name == NULL)
			continue;
		utf8 = utf8_name(name);
		foreach(lc, names)
			known = known || strcmp(lfirst(lc), utf8) == 0;
		if (!known)
			names = lappend(names, utf8);
	}
	return names;
}

char *
wc_mapping_list_families(const WcTableDesc *desc)
{
	StringInfoData list;

	initStringInfo(&list);
	for (uint32 i = 0; i < desc->nfamilies; i++)
		appendStringInfo(&list, "%s%s", i > 0 ? ", " : "", wc_text_from_utf8(desc->families[i].name));
	return list.data;
}

static uint32
family_id(const WcRelation *wrel, const WcTableDesc *desc, const char *name)
{
	const WcFamilyDesc *family = wc_table_desc_family(desc, wc_text_to_utf8(name, strlen(name)));

	if (family == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("family \"%s\" does not exist in stored table \"%s\"", name, wrel->table_name),
				 errdetail("Its families are: %s.", wc_mapping_list_families(desc)),
				 wc_client_store_is_embedded(wrel->store) ? errhint("ALTER FOREIGN TABLE or widecol.alter_table adds a family.") :
				 errhint("widecol.alter_table adds a family.")));
	return family->id;
}

static void
add_family(WcRelation *wrel, uint32 id)
{
	int			at = 0;

	while (at < wrel->nfamilies && wrel->families[at] < id)
		at++;
	if (at < wrel->nfamilies && wrel->families[at] == id)
		return;
	memmove(&wrel->families[at + 1], &wrel->families[at], sizeof(uint32) * (wrel->nfamilies - at));
	wrel->families[at] = id;
	wrel->nfamilies++;
}

void
wc_mapping_resolve(WcRelation *wrel, WcTableDesc *desc)
{
	bool		columns_have_families = false;

	wrel->desc = desc;
	wrel->families = palloc(sizeof(uint32) * (desc->nfamilies + 1));
	wrel->nfamilies = 0;
	for (int i = 0; i < wrel->natts; i++)
	{
		WcRelColumn *col = &wrel->columns[i];

		if (col->family_name == NULL)
			continue;
		col->family = family_id(wrel, desc, col->family_name);
		add_family(wrel, col->family);
		columns_have_families = true;
	}

	if (!wrel->family_given &&
		wc_table_desc_family(desc, wc_slice_cstr(wrel->default_family_name)) == NULL)
		wrel->default_family_name = wc_text_from_utf8(desc->families[0].name);
	wrel->default_family = family_id(wrel, desc, wrel->default_family_name);
	if (columns_have_families)
		add_family(wrel, wrel->default_family);
	else
		for (uint32 i = 0; i < desc->nfamilies; i++)
			add_family(wrel, desc->families[i].id);
}

bool
wc_relation_declares(const WcRelation *wrel, uint32 family, WcSlice qualifier)
{
	for (int i = 0; i < wrel->natts; i++)
	{
		const WcRelColumn *col = &wrel->columns[i];

		if (wc_relation_has_qualifier(col) && col->family == family && wc_slice_eq(col->qualifier, qualifier))
			return true;
	}
	return false;
}
