/*
 * fdw/relation/relation.h: a foreign table, understood.
 *
 * The options of a foreign table and its columns, checked, resolved against the
 * stored table, and with codecs set up: everything a scan or a write looks at
 * per row.  Cached per backend; a WcRelation stays valid until it is closed, at the
 * latest until the end of the transaction.
 */
#ifndef WC_FDW_RELATION_RELATION_H
#define WC_FDW_RELATION_RELATION_H

#include "postgres.h"

#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "client/client.h"
#include "fdw/convert/convert.h"
#include "model/descriptor.h"
#include "rowkey/rowkey.h"

typedef enum WcLayout
{
	WC_LAYOUT_ROW,				/* one SQL row a stored row */
	WC_LAYOUT_CELL				/* one SQL row a cell version */
} WcLayout;

typedef enum WcRole
{
	WC_ROLE_NONE,				/* dropped column */
	WC_ROLE_KEY,				/* a part of the row key */
	WC_ROLE_RAW_KEY,			/* the whole row key, bytea; writable only when there are no parts */
	WC_ROLE_VALUE,				/* one column's newest value */
	WC_ROLE_TIMESTAMP,			/* one column's newest timestamp (bigint us or timestamptz) */
	WC_ROLE_VERSIONS,			/* one column's versions, widecol.version[] */
	WC_ROLE_MAP,				/* a family as jsonb or hstore */
	WC_ROLE_PREFIX_MAP,			/* the qualifiers of a family with a prefix, likewise (keys are whole qualifiers) */
	/* layout cell; ROW, QUALIFIER and VALUE may be bytea or text */
	WC_ROLE_CELL_ROW,
	WC_ROLE_CELL_FAMILY,
	WC_ROLE_CELL_QUALIFIER,
	WC_ROLE_CELL_TS,
	WC_ROLE_CELL_TYPE,
	WC_ROLE_CELL_VALUE,
	WC_ROLE_CELL_TTL
} WcRole;

typedef struct WcRelColumn
{
	AttrNumber	attnum;
	NameData	name;
	Oid			type;
	int32		typmod;
	Oid			collation;
	WcRole		role;
	int			key_no;			/* KEY: 0-based position in the key, else -1 */
	bool		desc;			/* KEY */
	WcCodec		codec;			/* KEY: of the part; VALUE: of the cell; CELL_ROW, CELL_FAMILY,
								 * CELL_QUALIFIER, CELL_VALUE: of those bytes */
	int			nconstants;		/* KEY: all rows of this table have one of so many contents; 0: any (recordtype.h) */
	WcSlice    *constants;
	bool		hashed;			/* KEY: the part is a hash, the original is at family:qualifier */
	WcCodec		original;		/* hashed KEY: codec of the cell that holds the original */
	uint32		family;			/* family id; VALUE, TIMESTAMP, VERSIONS, MAPs, hashed KEY */
	const char *family_name;
	WcSlice		qualifier;		/* or the prefix */
	int			versions;		/* VERSIONS */
	bool		hstore;			/* MAP, PREFIX_MAP: hstore, else jsonb */
} WcRelColumn;

/* The value of a map's member of which name and value are empty: an empty cell without qualifier
 * would be the marker.  One zero byte, which is in no text. */
#define WC_MAP_EMPTY_MEMBER "\0"

/* Is the cell such a member? */
static inline bool
wc_map_is_empty_member(const WcCell *cell)
{
	return cell->qualifier.len == 0 && wc_slice_eq(cell->value, wc_slice(WC_MAP_EMPTY_MEMBER, 1));
}

typedef struct WcRelation
{
	Oid			relid;
	char	   *relname;
	char	   *table_name;		/* "[namespace:]name" as in the options */
	WcClientStore *store;		/* where that is */
	WcTableDesc *desc;
	WcLayout	layout;
	int			natts;
	WcRelColumn *columns;		/* natts of them, [attnum - 1] */
	int			nkeys;			/* key parts, 0 when the key is only `raw` */
	int		   *keys;			/* [key_no] -> index in columns */
	int			raw_key;		/* index in columns of the raw key column, or -1 */
	WcKeyLayout key_layout;		/* of the parts, delimiter and salt included (rowkey/rowkey.h) */

	/*
	 * Marker cells (empty qualifier, empty value) go to default_family: the table
	 * option `family`; when neither the option nor a column names it, the family
	 * of the first column that has one.  It is always one of families.  Maps do
	 * not show the marker: a cell of this family with empty qualifier and empty value.
	 */
	uint32		default_family;
	const char *default_family_name;
	int			marker_column;	/* index of a column that has the marker's place, or -1 */

	int			nfamilies;		/* mapped families: a row exists when one holds a visible cell */
	uint32	   *families;		/* ascending */
	bool		duplicates_fail;	/* on_duplicate 'error' */
	int			cell_versions;	/* layout cell: option versions, 0: all */
	bool		raw;			/* layout cell: option raw */
	int			fetch_size;		/* 0: adaptive */
	int			parallel_workers;	/* that share a scan; -1: as the size says */
	WcWriteMode write_mode;
	List	   *constants;		/* Expr *, conditions that all rows satisfy, Vars of relation 1 (recordtype.h) */
	int			constant_parts;	/* leading parts up to the last that has a constant; 0: none has */
	bool		has_map;		/* some column is a MAP or PREFIX_MAP */

	bool		family_given;	/* default_family was named by an option */
	struct WcKeyWork *work;		/* key.c's own */
} WcRelation;

/* Requires the engine; raises undefined_table when the stored table is gone,
 * with the hint how to make it. */
extern WcRelation *wc_relation_open(Relation rel);

/* In the transaction that has opened it. */
extern void wc_relation_close(WcRelation *wrel);

/* Opens it until CurrentMemoryContext is reset; that may be after the transaction. */
extern WcRelation *wc_relation_hold(Relation rel);

/*
 * The same from the options alone: every check that needs no stored table, with
 * desc NULL and all family ids 0.  In CurrentMemoryContext, not counted.  For
 * DDL, which makes the stored table from it.
 */
extern WcRelation *wc_relation_check(Relation rel);

/* Is this foreign table ours (its server's wrapper is widecol)? */
extern bool wc_relation_is_widecol(Oid relid);

/* Has the column one cell's place for its own: a qualifier, or that of a hash's original? */
extern bool wc_relation_has_qualifier(const WcRelColumn *col);

/* Has a column this role? */
extern bool wc_relation_has_role(const WcRelation *wrel, WcRole role);

/* Layout cell, with all columns that are needed to write a shown cell again: with a new timestamp; as it was, except for its
 * time to live; with its time to live, too. */
extern bool wc_relation_names_cells(const WcRelation *wrel);
extern bool wc_relation_shows_cells(const WcRelation *wrel);
extern bool wc_relation_shows_whole_cells(const WcRelation *wrel);

/* Does column i (attnum - 1) identify the row, or the cell? */
extern bool wc_relation_identifies(const WcRelation *wrel, int i);

/* Does a column have this qualifier for its own?  Then it is in no map. */
extern bool wc_relation_declares(const WcRelation *wrel, uint32 family, WcSlice qualifier);

/* --- row keys ---------------------------------------------------------------
 * Appends the whole encoded key of the row with these column values (indexed by
 * attnum - 1) to out.  NULL in a key part: 23502 naming the column; empty key
 * 22023; over WC_ROW_MAX 54000; delimiter in a part before the last 22023; infinity
 * in a part whose minute is the salt 22008.
 */
extern void wc_relation_encode_key(WcRelation *wrel, const Datum *values, const bool *isnull, WcBuf *out);

/* Fills the key columns in `wanted` (bit attnum - 1; NULL: all), the raw one
 * included, from the stored key where->row; palloc'd in CurrentMemoryContext.  A key that does
 * not decode is 22P03 naming table and row.  Hashed parts are left NULL: their
 * originals come as cells. */
extern void wc_relation_decode_key(WcRelation *wrel, const WcCodecWhere *where, const Bitmapset *wanted,
								   Datum *values, bool *isnull);

#endif
