/*
 * fdw/dump/dump.h: widecol.dump, the part of a database's dump that its foreign tables do not have.
 *
 * Its rows are namespaces, stored tables, and the cells that no foreign table shows. pg_dump dumps it as the
 * extension's configuration, where the server's foreign data is asked for; inserting the rows makes all of
 * that again.
 */
#ifndef WC_FDW_DUMP_DUMP_H
#define WC_FDW_DUMP_DUMP_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "fdw/relation/relation.h"
#include "model/cell.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* The columns, as widecol--1.0.sql has them. */
enum
{
	WC_DUMP_KIND,				/* text: namespace, table, cell, newest (a cell that no newer version hides) */
	WC_DUMP_NAME,				/* text: of the namespace; of the stored table, "[namespace:]name" */
	WC_DUMP_OWNER,				/* name, of a table; null: the superusers */
	WC_DUMP_FAMILIES,			/* jsonb, of a table: all attributes of all families; of a namespace: its
								 * properties, if it has any */
	WC_DUMP_SPLITS,				/* bytea[], of a table that has any */
	WC_DUMP_ROW,				/* bytea; this and the rest of a cell */
	WC_DUMP_FAMILY,				/* text */
	WC_DUMP_QUALIFIER,			/* bytea */
	WC_DUMP_TS,					/* bigint */
	WC_DUMP_TYPE,				/* text */
	WC_DUMP_VALUE,				/* bytea */
	WC_DUMP_TTL,				/* interval; also of a table that has one */
	WC_DUMP_COLUMNS
};

/* --- shown.c: which cells foreign tables show --------------------------------- */

typedef struct WcShown WcShown;

/*
 * Of all foreign tables that map the stored table, and are visible in the snapshot: pg_dump dumps no others.  They
 * are locked (AccessShare) and open until wc_shown_close.  Only those of the server show cells: pg_dump dumps the
 * rows of this server.  The rows of the others may be in the dump, too, if the user has named their servers.
 */
extern WcShown *wc_shown_open(const WcTableDesc *desc, Oid server, Snapshot snapshot);
extern void wc_shown_close(WcShown *shown);

typedef enum WcShownFamily
{
	WC_SHOWN_NOT,				/* no foreign table has to do with the family */
	WC_SHOWN_PARTLY,			/* or not at all, but a foreign table of another server may restore its cells */
	WC_SHOWN_WHOLLY				/* all its cells, by a foreign table of layout cell */
} WcShownFamily;
extern WcShownFamily wc_shown_family(const WcShown *shown, uint32 family);

/* How many versions of a column of this row, from the newest on, foreign tables show. */
extern int	wc_shown_versions(const WcShown *shown, WcSlice row, uint32 family, WcSlice qualifier, WcSlice value);

/* --- restore.c ----------------------------------------------------------------- */

typedef struct WcRestore WcRestore;
extern WcRestore *wc_restore_begin(CommandId cid);
extern void wc_restore_row(WcRestore *restore, TupleTableSlot *slot);

#endif
