/*
 * fdw/row/map.h: a family's cells as jsonb or hstore.
 */
#ifndef WC_FDW_ROW_MAP_H
#define WC_FDW_ROW_MAP_H

#include "postgres.h"

#include "fdw/relation/relation.h"

typedef struct WcMap WcMap;

/* Creates the map of a MAP or PREFIX_MAP column; column must live as long. */
extern WcMap *wc_map_create(const WcRelation *wrel, const WcRelColumn *column);

/* Cells that are not text are left out without an error: the query does not use the map's content.  A map whose
 * cells are all left out is empty, not NULL. */
extern void wc_map_leave_out(WcMap *map);

/*
 * Adds a cell of the map's family, if the cell belongs to the map.  The map does not have the row marker, cells that
 * another column declares, cells without the map's prefix, and older versions of the cell before.  Allocates in
 * CurrentMemoryContext, which must live until wc_map_finish.  A qualifier or value that is not UTF-8 text is error
 * 22P03; with where->lenient a WARNING, and the cell is left out.
 */
extern void wc_map_add(WcMap *map, const WcCell *cell, const WcCodecWhere *where);

/* Sets *value to the text of a member of such a map, palloc'd; false: the value is no text, and where->lenient. */
extern bool wc_map_member(const WcRelColumn *column, const WcCell *cell, const WcCodecWhere *where, Datum *value);

/* Removes the cells added since the last wc_map_finish. */
extern void wc_map_reset(WcMap *map);

/* Sets *value to the map of the cells added since the last wc_map_finish; false: no cells, NULL in SQL.  passing: the value may be in
 * memory of the map, until the next wc_map_finish; otherwise it is palloc'd. */
extern bool wc_map_finish(WcMap *map, bool passing, Datum *value);

#endif
