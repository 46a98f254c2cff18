/*
 * fdw/write/modify.h: the state of INSERT, UPDATE, DELETE and COPY on one foreign table.
 *
 * modify.c has PostgreSQL's callbacks, rowmodify.c and cellmodify.c what they
 * mean in the two layouts.  The latter are called with a memory context that is
 * reset before the next row; slots are deformed.
 */
#ifndef WC_FDW_WRITE_MODIFY_H
#define WC_FDW_WRITE_MODIFY_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "nodes/execnodes.h"

#include "client/client.h"
#include "fdw/relation/relation.h"
#include "fdw/scan/rowlock.h"
#include "fdw/write/mapwrite.h"
#include "fdw/write/nested.h"
#include "fdw/write/rowwrite.h"
#include "fdw/write/touched.h"

/* A column whose value is a cell: VALUE, or the original of a hashed key part. */
typedef struct WcPutColumn
{
	int			index;			/* in wrel->columns */
	uint32		family;
	WcSlice		qualifier;
	WcCodec    *codec;
	bool		in_map;			/* inside of what a map column clears */
	bool		versioned;		/* other columns show its timestamp or versions: see WcPlace */
} WcPutColumn;

/* A cell of which TIMESTAMP or VERSIONS columns show more than its newest value. */
typedef struct WcPlace
{
	uint32		family;
	WcSlice		qualifier;
	const WcPutColumn *put;		/* the column of its value; NULL: none */
	List	   *timestamps;		/* indexes in wrel->columns */
	List	   *versions;		/* likewise */
	bool		in_map;			/* as in WcPutColumn */
} WcPlace;

struct movedkeys_hash;
struct WcDirect;

typedef struct WcModify
{
	WcRelation *wrel;
	int			uses;			/* callers of Begin... that have not called End... */
	MemoryContext context;		/* of the statement; this struct is in it */
	MemoryContext row_context;	/* of one row */
	CmdType		operation;		/* the statement's; direct modifications: not set */
	CommandId	cid;			/* likewise */
	const EState *estate;		/* likewise */
	Snapshot	pg_snapshot;	/* the statement's, NULL for COPY */
	WcClientSnapshot *snapshot; /* of pg_snapshot, once it was needed */
	bool		do_nothing;		/* ON CONFLICT DO NOTHING */

	bool		restoring;		/* a dump is being restored (write/restoring.h) ... */
	bool		shared;			/* ... and what is given may be there already */
	bool		cells_come;		/* ... and a foreign table brings every cell of the stored table */
	bool		names_cells;	/* wc_relation_names_cells */

	WcRowWrite	write;			/* the row being written */
	WcRowWrite	old;			/* the one it comes from, when its key changes */
	bool		key_moved;		/* of the row that was updated last */

	/* layout row: columns by what writing them means, each in order of cells */
	int			nputs;
	WcPutColumn *puts;
	int			nshown;			/* cells that are shown only, by TIMESTAMP and VERSIONS columns */
	WcPutColumn *shown;			/* without codec */
	int			nplaces;
	WcPlace    *places;
	int			nmaps;
	WcMapWriter *maps;
	bool		short_hash;		/* some key part is a hash under 8 bytes */
	struct movedkeys_hash *moved;	/* keys that this statement has moved rows to */

	ModifyTableState *mtstate;	/* NULL for COPY and rows that are routed here */
	bool		locks;			/* rows are locked when they are changed: no scan has locked them */
	WcRowLocker locker;			/* set at the first of them */

	WcTouched  *touched;		/* rows the statement has changed, NULL: not needed */
	WcNested   *nested;			/* rows that statements inside of it have changed, NULL: not needed */

	struct WcDirect *direct;	/* direct.c's own */

	/* UPDATE */
	bool		update_ready;	/* the next two are set */
	bool		triggers;		/* BEFORE ROW triggers may change any column */
	Bitmapset  *assigned;		/* bit attnum - 1: in SET, or generated */

	/* DELETE: where the subplan's row has the identifying columns */
	AttrNumber *junk;			/* [natts], InvalidAttrNumber: not there */
	AttrNumber	wholerow;
	Datum	   *values;			/* [natts], filled from junk */
	bool	   *isnull;
} WcModify;

/* Bytes of a hash from which on it is taken for the original. */
#define WC_HASH_TRUSTED 8

/* Does column i (attnum - 1) say which row, or cell, is meant? */
extern bool wc_modify_identifies(const WcRelation *wrel, int i);

/* Is column i (attnum - 1) to be written by this UPDATE? */
extern bool wc_modify_changes(const WcModify *m, int i, TupleTableSlot *old, TupleTableSlot *new);

/* Has column i another value? */
extern bool wc_modify_differs(int i, TupleTableSlot *old, TupleTableSlot *new);

/* The statement's snapshot in the engine, held to its end. */
extern WcClientSnapshot *wc_modify_snapshot(WcModify *m);

/* The state of a statement (or of rows routed) that writes to this table, in its
 * ri_FdwState; counted: what was opened must be closed. */
extern WcModify *wc_modify_open(EState *estate, ResultRelInfo *rinfo);
extern void wc_modify_close(ResultRelInfo *rinfo);

/*
 * relock.c: locks the row with these identifying values, unless the scan has.  Returns the
 * plan's row for it: the one given, or another if the row has changed since the snapshot;
 * NULL: it is not to be changed any more.
 */
extern TupleTableSlot *wc_modify_lock(WcModify *m, ResultRelInfo *rinfo, const Datum *values, const bool *isnull,
									  WcRowLockMode mode, TupleTableSlot *planSlot);

/* The new row of an UPDATE from another row of the plan, whose old one it puts into
 * ri_oldTupleSlot. */
extern TupleTableSlot *wc_modify_new_row(WcModify *m, EState *estate, ResultRelInfo *rinfo, TupleTableSlot *planSlot);

/* rowmodify.c.  insert is false when ON CONFLICT DO NOTHING does nothing. */
extern void wc_rowmodify_init(WcModify *m);
extern bool wc_rowmodify_insert(WcModify *m, TupleTableSlot *slot);
extern void wc_rowmodify_update(WcModify *m, TupleTableSlot *old, TupleTableSlot *new);
extern void wc_rowmodify_delete(WcModify *m);

/* keymove.c: the row goes from the key m->old.key to m->write.key. */
extern void wc_keymove(WcModify *m, TupleTableSlot *old, TupleTableSlot *new);

/* Parts of rowmodify.c that a move needs too. */
extern bool wc_rowmodify_look(WcModify *m, const Datum *values, const bool *isnull, bool locks);
extern void wc_rowmodify_put_marker(WcModify *m);
extern bool wc_rowmodify_in_map(const WcModify *m, uint32 family, WcSlice qualifier);
extern void wc_rowmodify_send(WcModify *m);

/* cellmodify.c */
extern void wc_cellmodify_insert(WcModify *m, TupleTableSlot *slot);
extern void wc_cellmodify_update(WcModify *m, TupleTableSlot *old, TupleTableSlot *new);
extern void wc_cellmodify_delete(WcModify *m);

/* The id of a cell that was read, good until the next row. */
extern void wc_cellmodify_id(WcModify *m, const Datum *values, const bool *isnull, WcRowId *id);

#endif
