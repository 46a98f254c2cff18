/*
 * fdw/row/reader.h: reads rows of a stored table as rows of a foreign table.
 *
 * A reader has the list of wanted columns: it describes the Scan that returns them (reader.c), and decodes the Scan's
 * cells into column values (decode.c).
 */
#ifndef WC_FDW_ROW_READER_H
#define WC_FDW_ROW_READER_H

#include "postgres.h"

#include "client/client.h"
#include "fdw/condition/member.h"
#include "fdw/relation/relation.h"

typedef struct WcReader WcReader;

/* A member of a map that has a place of its own among the values, behind the columns. */
typedef struct WcPlacedMember
{
	int			place;			/* natts or greater */
	WcMember	member;
} WcPlacedMember;

/*
 * attrs: wanted columns, bit attnum - 1 (NULL: none); filtered: columns that the Scan's filter uses.
 * Columns that are only in `filtered` are set in rows that the filter has not decided, and NULL in other rows.
 * members: List of WcWantedMembers * (fdw/plan/mapkeys.h); placed: List of WcPlacedMember *, whose places follow one
 * another from natts; filter_members: members of maps that the filter uses (fdw/condition/member.h).  The reader and its
 * memory are in CurrentMemoryContext; all arguments must live as long.
 */
extern WcReader *wc_reader_create(WcRelation *wrel, const Bitmapset *attrs, const Bitmapset *filtered,
								  const List *members, const List *placed, const List *filter_members);

/* From now on, a cell that does not decode becomes NULL, or is left out of a map, with a WARNING
 * (widecol.on_undecodable); in columns that a gate uses it is still an error. */
extern void wc_reader_be_lenient(WcReader *reader);

/* In these map columns, cells that a map cannot show are left out without an error. */
extern void wc_reader_leave_untouched(WcReader *reader, const Bitmapset *attrs);

/* In a filter from wc_filter_make, replaces attnum - 1 of each column by the column's index in this reader's Scan.
 * members: the filter_members of wc_reader_create. */
extern void wc_reader_place_filter(const WcReader *reader, WcFilter *filter, const List *members);

/* The index in this reader's Scan of a wanted column (attnum - 1) that is a cell. */
extern uint32 wc_reader_position(const WcReader *reader, int att);

/* Sets all fields of a Scan except ranges, order and limits; memory that the Scan points to belongs to the reader. */
extern void wc_reader_describe(const WcReader *reader, WcScan *scan);

/* The same of a wanted member of a map. */
extern uint32 wc_reader_member_position(const WcReader *reader, int att, WcSlice qualifier);

/* Layout 'cell': sets the columns to read (ncolumns 0: all); they must live until the scan is read. */
extern void wc_reader_select(WcReader *reader, WcColumn *columns, uint32 ncolumns);

/* Must wc_reader_next skip rows of other record types (recordtype.h)?  The default is true; false is right if the
 * ranges have no such rows. */
extern void wc_reader_check_types(WcReader *reader, bool check);

/*
 * Reads the next row of a scan that wc_reader_describe described; false at the end.  Sets all elements of values and
 * isnull: natts, columns that are not wanted to NULL, and the places of members.  Values are palloc'd in
 * CurrentMemoryContext.  Error 22P03 for cells that do not decode.
 */
extern bool wc_reader_next(WcReader *reader, WcClientScan *scan, Datum *values, bool *isnull);

/* As wc_reader_next, but short texts and byteas may be in the scan's memory instead, and maps in the reader's: they are
 * valid until the next call for this scan, and end with the scan. */
extern bool wc_reader_next_in_place(WcReader *reader, WcClientScan *scan, Datum *values, bool *isnull);

/*
 * A gate: conditions that hide rows from the user (of security policies, of views that are security barriers).  They
 * are evaluated one after another.  Before a condition, only the columns that it or an earlier condition uses are
 * decoded: so an undecodable cell of a hidden row is no error.  Messages about columns that the conditions use show
 * no bytes.
 */
typedef struct WcGateStep
{
	Bitmapset  *attrs;			/* columns, bit attnum - 1, that no earlier step decodes */
	Bitmapset  *done;			/* columns of all steps up to this one */
} WcGateStep;

typedef struct WcGate
{
	int			nsteps;
	int			nalways;		/* later steps are only for rows that the scan's filter has not decided */
	WcGateStep *steps;
	bool		(*passes) (void *arg, int step, const Datum *values, const bool *isnull);
	void	   *arg;
} WcGate;

/* Sets the gate of all later rows; the gate (NULL: none) must live as long as the reader.  Call in the memory context in
 * which the reader was made. */
extern void wc_reader_set_gate(WcReader *reader, const WcGate *gate);

/* Is a condition of the gate being evaluated, or has it raised an error? */
extern bool wc_reader_in_gate(const WcReader *reader);

/* Did the last row pass the gate?  In a row that did not pass, most columns are NULL. */
extern bool wc_reader_passed(const WcReader *reader);

/* Layout 'row': moves to the next row without decoding it; false at the end.  wc_reader_decode decodes the row, as
 * wc_reader_next does. */
extern bool wc_reader_skip(WcReader *reader, WcClientScan *scan);
extern void wc_reader_decode(WcReader *reader, WcClientScan *scan, Datum *values, bool *isnull);

/* The row key of the last row; valid until the next row is read. */
extern WcSlice wc_reader_row(const WcReader *reader);

/* Layout 'cell': the last cell, valid until the next cell is read.  NULL in layout 'row'. */
extern const WcCell *wc_reader_cell(const WcReader *reader);

/* Must be called before the first row of another scan. */
extern void wc_reader_restart(WcReader *reader);

/* Names of the columns to read, for EXPLAIN: List of char *, "family:qualifier",
 * "family:*", "family:prefix*". */
extern List *wc_reader_column_names(const WcReader *reader);

#endif
