/*
 * fdw/write/modify.h: the state of INSERT, UPDATE, DELETE and COPY on one foreign table.
 *
 * modify.c has PostgreSQL's callbacks; rowmodify.c and cellmodify.c do the work of the two layouts.  The functions of
 * these two are called in a memory context that is reset before the next row, with deformed slots.
 */
#ifndef WC_FDW_WRITE_MODIFY_H
#define WC_FDW_WRITE_MODIFY_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/datum.h"

#include "client/client.h"
#include "fdw/relation/relation.h"
#include "fdw/scan/rowlock.h"
#include "fdw/statement/nested.h"
#include "fdw/statement/touched.h"
#include "fdw/write/mapwrite.h"
#include "fdw/write/rowwrite.h"

/* A column whose value is a cell: VALUE, or the original of a hashed key part. */
typedef struct WcPutColumn
{
	int			index;			/* in wrel->columns */
	uint32		family;
	WcSlice		qualifier;
	WcCodec    *codec;
	bool		in_map;			/* a map column clears this cell, too */
	bool		versioned;		/* other columns show its timestamp or versions: see WcPlace */
} WcPutColumn;

/* A cell of which TIMESTAMP or VERSIONS columns show more than its newest value. */
typedef struct WcPlace
{
	uint32		family;
	WcSlice		qualifier;
	const WcPutColumn *put;		/* the column of its value; NULL: there is none */
	List	   *timestamps;		/* indexes in wrel->columns */
	List	   *versions;		/* indexes in wrel->columns */
	bool		in_map;			/* as in WcPutColumn */
} WcPlace;

struct WcAsideRows;
struct movedkeys_hash;
struct WcDirect;
struct WcTtlReader;

typedef struct WcModify
{
	WcRelation *wrel;
	int			uses;			/* callers of Begin... that have not called End... */
	MemoryContext context;		/* of the statement; this struct is in it */
	MemoryContext row_context;	/* of one row */
	CmdType		operation;		/* the statement's; direct modifications: not set */
	CommandId	cid;			/* the statement's */
	EState	   *estate;			/* the statement's */
	Snapshot	pg_snapshot;	/* the statement's, NULL for COPY */
	WcClientSnapshot *snapshot; /* of pg_snapshot; set at its first use */
	bool		do_nothing;		/* ON CONFLICT DO NOTHING */
	bool		policies;		/* row security policies hold: the statement may not see a row that it would replace */

	bool		restoring;		/* a dump is being restored (write/restoring.h) ... */
	bool		shared;			/* ... and cells of the rows may exist already */
	bool		cells_come;		/* ... and a foreign table restores every cell of the stored table */
	bool		names_cells;	/* wc_relation_names_cells */

	WcRowWrite	write;			/* the row being written */
	WcRowWrite	old;			/* the row at the old key, when the key changes */
	bool		key_moved;		/* the UPDATE of the last row moved it to another key */

	/* layout row: columns by how they are written, each in order of cells */
	int			nputs;
	WcPutColumn *puts;
	int			nshown;			/* cells that only TIMESTAMP and VERSIONS columns show */
	WcPutColumn *shown;			/* without codec */
	int			nplaces;
	WcPlace    *places;
	int			nmaps;
	WcMapWriter *maps;
	bool		short_hash;		/* some key part is a hash under 8 bytes */
	struct movedkeys_hash *moved;	/* keys that this statement has moved rows to */

	uint64		ninserted;		/* calls to insert a row, so far */
	struct WcAsideRows *aside;	/* new rows that are to be locked together (write/absent.h); NULL: each is locked alone */

	ModifyTableState *mtstate;	/* NULL for COPY and for rows that are routed here */
	bool		locks;			/* rows are locked when they are changed, as no scan has locked them */
	WcRowLocker locker;			/* set when the first row is locked */
	uint64		nchanged;		/* rows of the plan to update or delete, so far */
	struct WcLaterRows *later;	/* such rows that are to be locked together (write/later.h); NULL: each is locked alone */

	WcTouched  *touched;		/* rows the statement has changed; NULL: not needed */
	WcNested   *nested;			/* rows that statements inside of it have changed; NULL: not needed */

	struct WcDirect *direct;	/* state of direct.c */
	struct WcTtlReader *ttls;	/* of cells, for an UPDATE in layout cell that does not know them; NULL: not used yet */

	/* UPDATE */
	bool		update_ready;	/* the next two are set */
	bool		triggers;		/* BEFORE ROW triggers may change any column */
	Bitmapset  *assigned;		/* bit attnum - 1: in SET, or generated */

	/* DELETE: places of the identifying columns in the subplan's row */
	AttrNumber *junk;			/* [natts]; InvalidAttrNumber: not in the row */
	AttrNumber	wholerow;
	Datum	   *values;			/* [natts], filled from junk */
	bool	   *isnull;
} WcModify;

/* With so many bytes or more, equal hashes are taken as equal originals. */
#define WC_HASH_TRUSTED 8

/* Does the value of column i (attnum - 1) differ? */
static inline bool
wc_modify_differs(int i, TupleTableSlot *old, TupleTableSlot *new)
{
	Form_pg_attribute att = TupleDescAttr(new->tts_tupleDescriptor, i);

	if (att->attisdropped)
		return false;
	if (old->tts_isnull[i] || new->tts_isnull[i])
		return old->tts_isnull[i] != new->tts_isnull[i];
	return !datum_image_eq(old->tts_values[i], new->tts_values[i], att->attbyval, att->attlen);
}

/* Does this UPDATE write column i? */
static inline bool
wc_modify_changes(const WcModify *m, int i, TupleTableSlot *old, TupleTableSlot *new)
{
	return bms_is_member(i, m->assigned) || (m->triggers && wc_modify_differs(i, old, new));
}

/* Is the cell one of a map column's? */
static inline bool
wc_modify_in_map(const WcModify *m, uint32 family, WcSlice qualifier)
{
	for (int i = 0; i < m->nmaps; i++)
	{
		const WcRelColumn *map = m->maps[i].column;

		/* a map of the whole family has the empty prefix */
		if (map->family == family && wc_slice_starts_with(qualifier, map->qualifier))
			return true;
	}
	return false;
}

/* The statement's snapshot in the engine; the statement holds it to its end. */
static inline WcClientSnapshot *
wc_modify_snapshot(WcModify *m)
{
	if (m->snapshot == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(m->context);

		m->snapshot = wc_client_snapshot(m->pg_snapshot);
		MemoryContextSwitchTo(old);
	}
	return m->snapshot;
}

/* The state of a statement (or of rows routed) that writes to this table, in its ri_FdwState.  Uses are
 * counted: each open needs a close. */
extern WcModify *wc_modify_open(EState *estate, ResultRelInfo *rinfo);
extern void wc_modify_close(ResultRelInfo *rinfo);

/*
 * relock.c: locks the row with these identifying values, unless the scan has locked it.  Returns the plan's row for it:
 * the given one, or another if the row has changed since the snapshot; NULL: the row is not to be changed any more.
 */
extern TupleTableSlot *wc_modify_lock(WcModify *m, ResultRelInfo *rinfo, const Datum *values, const bool *isnull,
									  WcRowLockMode mode, TupleTableSlot *planSlot);

/* What wc_modify_lock locks with. */
extern WcRowLocker *wc_modify_locker(WcModify *m, WcRowLockMode mode);

/* The plan's row for the present state, values, of a changed row; NULL: the plan does not return it any more. */
extern TupleTableSlot *wc_modify_evaluate_again(WcModify *m, ResultRelInfo *rinfo, Datum *values, bool *isnull);

/* Makes the new row of an UPDATE from another row of the plan; puts that row's old row into ri_oldTupleSlot. */
extern TupleTableSlot *wc_modify_new_row(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *planSlot);

/* rowmodify.c. insert returns false if ON CONFLICT DO NOTHING skips the row. */
extern void wc_rowmodify_init(WcModify *m);
extern bool wc_rowmodify_insert(WcModify *m, TupleTableSlot *slot);
extern void wc_rowmodify_delete(WcModify *m);

/* rowupdate.c */
extern void wc_rowupdate(WcModify *m, TupleTableSlot *old, TupleTableSlot *new);

/* Functions of rowmodify.c that rowupdate.c uses. */
extern void wc_rowmodify_put_marker(WcModify *m);
extern void wc_rowmodify_send(WcModify *m);
extern void wc_rowmodify_check_old(const WcModify *m, const WcBuf *key, const Datum *values, const bool *isnull, const char *verb);

/* Is the column one that cannot be written?  Raises the error that says so. */
extern bool wc_rowmodify_shows_only(const WcRelation *wrel, const WcRelColumn *col);
extern void wc_rowmodify_read_only(const WcModify *m, const WcRelColumn *col) pg_attribute_noreturn();

/* cellmodify.c */
extern void wc_cellmodify_insert(WcModify *m, TupleTableSlot *slot);
extern void wc_cellmodify_update(WcModify *m, TupleTableSlot *old, TupleTableSlot *new);
extern void wc_cellmodify_delete(WcModify *m);

/* The id of a cell that was read; valid until the next row. */
extern void wc_cellmodify_id(WcModify *m, const Datum *values, const bool *isnull, WcRowId *id);

#endif
