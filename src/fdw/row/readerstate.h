/*
 * fdw/row/readerstate.h: the struct of a reader, for reader.c and decode.c.
 */
#ifndef WC_FDW_ROW_READERSTATE_H
#define WC_FDW_ROW_READERSTATE_H

#include "postgres.h"

#include "access/tupdesc.h"

#include "fdw/row/map.h"
#include "fdw/row/reader.h"

/* The versions of one cell, collected in their order. */
typedef struct WcReaderVersions
{
	Oid			element;		/* widecol.version */
	TupleDesc	tupdesc;
	int			n;
	int			max;			/* room in elems */
	Datum	   *elems;
} WcReaderVersions;

/* A varlena of at most so many bytes has a header of one byte, and may be at any address. */
#define WC_SHORT_VALUE_MAX (VARATT_SHORT_MAX - VARHDRSZ_SHORT)

/* A column of the foreign table that gets the values of a cell, or of a family. */
typedef struct WcReaderTarget
{
	const WcRelColumn *column;
	int			att;			/* attnum - 1, or the place of a member */
	WcCodec    *codec;			/* VALUE, original of a hashed KEY */
	WcSlice		member;			/* the qualifier of a placed member; data NULL: none */
	WcBytesAreValue stays;		/* VALUE, member: may short values stay in the block? */
	WcMap	   *map;			/* MAP, PREFIX_MAP */
	WcReaderVersions *versions;	/* VERSIONS */
	uint64		undecodable;	/* number of the last row whose newest version did not decode */
	struct WcReaderTarget *next; /* of the same cell */
} WcReaderTarget;

struct WcReader
{
	WcRelation *wrel;
	int			nvalues;		/* natts and placed members */
	Bitmapset  *keys;			/* wanted columns that come from the row key */
	Bitmapset  *filter_keys;	/* these, and columns that the filter or the gate uses */
	WcCodecWhere where;
	uint64		rows;			/* number of the current row */

	int			ncolumns;
	int			nshown;			/* later columns are only for the filter */
	WcColumn   *columns;		/* for the Scan; [colno]; layout cell: those of wc_reader_select */
	WcReaderTarget **targets;	/* [colno]: targets of this cell; NULL where kind is not EXACT */
	WcReaderTarget *room;		/* for the next target */
	bool	   *member;			/* [colno]: the cell may be a member of maps */
	WcReaderTarget *maps;		/* targets of members, and of cells that no column names */
	WcReaderTarget *shown_maps; /* these without the first ones, which only the filter uses */
	WcReaderTarget *row_maps;	/* maps or shown_maps: the maps that are made of the current row */
	int			nversioned;
	WcReaderTarget **versioned;	/* the VERSIONS targets */
	uint32		max_versions;
	bool		want_ts;
	bool		want_value;
	bool		check_types;	/* rows of other record types must be skipped */

	const WcGate *gate;			/* NULL: rows are decoded at once */
	const Bitmapset *gated;		/* columns of the current step of the gate, or of all steps */
	bool		passed;
	bool		in_gate;		/* a condition of the gate is being evaluated */
	bool		stay;			/* short values of the current row stay in its block */

	/* layout cell */
	int			cell_att[WC_ROLE_CELL_TTL + 1]; /* [role]: attnum - 1, or -1 */
	bool		in_row;
	WcSlice		row;
	WcCell		cell;			/* the last cell */
};

#endif
