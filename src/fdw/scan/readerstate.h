/*
 * fdw/scan/readerstate.h: an open reader, for the two files it is made of (reader.c, decode.c).
 */
#ifndef WC_FDW_SCAN_READERSTATE_H
#define WC_FDW_SCAN_READERSTATE_H

#include "postgres.h"

#include "access/tupdesc.h"

#include "fdw/scan/map.h"
#include "fdw/scan/reader.h"

/* The versions of one cell, as they come. */
typedef struct WcReaderVersions
{
	Oid			element;		/* widecol.version */
	TupleDesc	tupdesc;
	int			n;
	int			max;			/* room in elems */
	Datum	   *elems;
} WcReaderVersions;

/* One column of the foreign table that a cell, or family, goes to. */
typedef struct WcReaderTarget
{
	const WcRelColumn *column;
	int			att;			/* attnum - 1 */
	WcCodec    *codec;			/* VALUE, original of a hashed KEY */
	WcMap	   *map;			/* MAP, PREFIX_MAP */
	WcReaderVersions *versions;	/* VERSIONS */
	uint64		undecodable;	/* number of the last row of which the newest version did not decode */
	struct WcReaderTarget *next; /* of the same cell */
} WcReaderTarget;

struct WcReader
{
	WcRelation *wrel;
	Bitmapset  *keys;			/* wanted columns that come from the row key */
	Bitmapset  *filter_keys;	/* these and those that the filter looks at */
	WcCodecWhere where;
	uint64		rows;			/* number of the row at hand */

	int			ncolumns;
	int			nshown;			/* those behind are for the filter only */
	WcColumn   *columns;		/* for the Scan; [colno]; layout cell: those of wc_reader_select */
	WcReaderTarget **targets;	/* [colno]: who wants this cell; NULL where kind is not EXACT */
	bool	   *member;			/* [colno]: one that maps may want */
	WcReaderTarget *maps;		/* who takes the cells that no column names, and members */
	int			nversioned;
	WcReaderTarget **versioned;	/* the VERSIONS targets */
	uint32		max_versions;
	bool		want_ts;
	bool		want_value;
	bool		check_types;	/* the table has a record type, and others may come */

	const WcGate *gate;			/* NULL: rows are decoded at once */
	const Bitmapset *gated;		/* columns of the gate's step, or of all steps */
	bool		passed;

	/* layout cell */
	int			cell_att[WC_ROLE_CELL_TTL + 1]; /* [role]: attnum - 1, or -1 */
	bool		in_row;
	WcSlice		row;
	WcCell		cell;			/* the one given last */
};

#endif
