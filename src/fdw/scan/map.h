/*
 * fdw/scan/map.h: a family's cells as jsonb or hstore.
 */
#ifndef WC_FDW_SCAN_MAP_H
#define WC_FDW_SCAN_MAP_H

#include "postgres.h"

#include "fdw/relation/relation.h"

typedef struct WcMap WcMap;

/* For a MAP or PREFIX_MAP column; column has to live as long. */
extern WcMap *wc_map_create(const WcRelation *wrel, const WcRelColumn *column);

/* Cells that are not text are left out, and are no error: what the map shows is not looked at.  A
 * map of which all are left out is empty, and not NULL. */
extern void wc_map_leave_out(WcMap *map);

/*
 * Adds a cell of the map's family when it belongs to the map: not when it is the
 * marker, has a column of its own, has not the prefix, or is an older version of
 * the cell before.  Allocates in CurrentMemoryContext, which must live until
 * wc_map_finish.  A qualifier or value that is not UTF-8 text is 22P03, with where->lenient a
 * WARNING, and left out.
 */
extern void wc_map_add(WcMap *map, const WcCell *cell, const WcCodecWhere *where);

/* Forgets the cells added since the last time. */
extern void wc_map_reset(WcMap *map);

/* The map of the cells added since the last time; false: none, NULL in SQL. */
extern bool wc_map_finish(WcMap *map, Datum *value);

#endif
