/*
 * fdw/scan/reader.h: a stored table's rows as rows of a foreign table.
 *
 * A reader knows which columns are wanted: it says what a Scan has to bring,
 * and turns the cells that come into column values.
 */
#ifndef WC_FDW_SCAN_READER_H
#define WC_FDW_SCAN_READER_H

#include "postgres.h"

#include "client/client.h"
#include "fdw/relation/relation.h"

typedef struct WcReader WcReader;

/*
 * attrs: wanted columns, bit attnum - 1 (NULL: none); filtered: those that a Scan's filter
 * looks at.  Columns that are only there are set in rows that the filter has not decided,
 * and NULL in others.  members: List of WcWantedMembers * (fdw/plan/mapkeys.h); filter_members:
 * of maps that the filter looks at (fdw/condition/member.h).  Lives,
 * with all it keeps, in CurrentMemoryContext; wrel and the others must live as long.
 */
extern WcReader *wc_reader_create(WcRelation *wrel, const Bitmapset *attrs, const Bitmapset *filtered,
								  const List *members, const List *filter_members);

/* Cells that do not decode become NULL, maps leave them out, with a WARNING for each
 * (widecol.on_undecodable); what a gate looks at is an error as before. */
extern void wc_reader_be_lenient(WcReader *reader);

/* Of these map columns cells that a map cannot show are left out, and are no error. */
extern void wc_reader_leave_untouched(WcReader *reader, const Bitmapset *attrs);

/* The filter as wc_filter_make gives it (attnum - 1 for the position of a column's cell) gets
 * the positions in this reader's Scan; members are those that the reader was made with. */
extern void wc_reader_place_filter(const WcReader *reader, WcFilter *filter, const List *members);

/* Where the cell of a wanted column that has one (attnum - 1) is in this reader's Scan. */
extern uint32 wc_reader_position(const WcReader *reader, int att);

/* Sets all of a Scan but its ranges, order and limits; what it points to belongs
 * to the reader. */
extern void wc_reader_describe(const WcReader *reader, WcScan *scan);

/* Layout 'cell': which columns to read (ncolumns 0: all); they must live as long as
 * the scan is read. */
extern void wc_reader_select(WcReader *reader, WcColumn *columns, uint32 ncolumns);

/* Has wc_reader_next to pass over rows of other record types (recordtype.h)?  Yes,
 * unless it is told that there are none in the ranges. */
extern void wc_reader_check_types(WcReader *reader, bool check);

/*
 * The next row of a scan that was described so: false at the end.  Sets all of
 * values and isnull (natts of them), columns that are not wanted to NULL; values
 * are palloc'd in CurrentMemoryContext.  22P03 for cells that do not decode.
 */
extern bool wc_reader_next(WcReader *reader, WcClientScan *scan, Datum *values, bool *isnull);

/*
 * Conditions that hide rows from the user (of security policies, of views that are security
 * barriers), evaluated one after another, each before columns are decoded that neither it
 * nor one before it looks at: an undecodable cell of a hidden row is no error.  Messages about
 * columns that they look at show no bytes.
 */
typedef struct WcGateStep
{
	Bitmapset  *attrs;			/* columns, bit attnum - 1, that no step before has had decoded */
	Bitmapset  *done;			/* those of all steps up to this one */
} WcGateStep;

typedef struct WcGate
{
	int			nsteps;
	int			nalways;		/* those behind are for rows that the scan's filter has not decided */
	WcGateStep *steps;
	bool		(*passes) (void *arg, int step, const Datum *values, const bool *isnull);
	void	   *arg;
} WcGate;

/* For all rows to come; the gate, or NULL, must live as long as the reader. */
extern void wc_reader_set_gate(WcReader *reader, const WcGate *gate);

/* Did the row that was given last pass the gate?  Of one that did not, most columns are NULL. */
extern bool wc_reader_passed(const WcReader *reader);

/* Layout 'row': passes over the next row without decoding it; false at the end.  The row can be
 * decoded afterwards, as wc_reader_next does. */
extern bool wc_reader_skip(WcReader *reader, WcClientScan *scan);
extern void wc_reader_decode(WcReader *reader, WcClientScan *scan, Datum *values, bool *isnull);

/* The row key of the row that was given last; valid until the next is asked for. */
extern WcSlice wc_reader_row(const WcReader *reader);

/* Layout 'cell': the cell that was given last, valid until the next is asked for.  NULL in
 * layout 'row'. */
extern const WcCell *wc_reader_cell(const WcReader *reader);

/* Before the first row of another scan. */
extern void wc_reader_restart(WcReader *reader);

/* Names of what is read, for EXPLAIN: List of char *, "family:qualifier",
 * "family:*", "family:prefix*". */
extern List *wc_reader_column_names(const WcReader *reader);

#endif
