/*
 * model/cell.h: the cell, HBase's unit of data, and its order.
 *
 * Coordinates: row, family, qualifier, timestamp, type.  In a row of a family
 * cells are ordered by qualifier ascending, timestamp descending, type code
 * descending (so at one timestamp the delete markers come before the puts),
 * sequence descending (of equal coordinates the later write comes first).
 * DeleteFamily and DeleteFamilyVersion carry the empty qualifier.
 */
#ifndef WC_MODEL_CELL_H
#define WC_MODEL_CELL_H

#include "base/limits.h"
#include "base/slice.h"

/* HBase's codes, on disk and in messages too. */
typedef enum WcCellType
{
	WC_PUT = 4,
	WC_DELETE = 8,					/* exactly one version of a column */
	WC_DELETE_FAMILY_VERSION = 10,	/* exactly one timestamp, every column */
	WC_DELETE_COLUMN = 12,			/* a column's versions up to a timestamp */
	WC_DELETE_FAMILY = 14			/* every column's versions up to a timestamp */
} WcCellType;

/* "No timestamp given": the commit timestamp is taken when the batch is applied. */
#define WC_TS_LATEST INT64_MAX

typedef struct WcCell
{
	WcSlice		row;
	uint32_t	family;			/* family id, unique in the table */
	uint8_t		type;			/* WcCellType */
	WcSlice		qualifier;
	int64_t		ts;				/* microseconds since 1970 UTC, >= 0 */
	int64_t		ttl_us;			/* cell TTL; 0: none */
	int64_t		seq;			/* commit timestamp it was written under (its ts unless that was given
								 * explicitly): of equal coordinates the greater is the later write */
	WcSlice		value;
} WcCell;

static inline bool
wc_cell_is_marker(const WcCell *c)
{
	return c->type != WC_PUT;
}

/* Is it one of HBase's codes? */
static inline bool
wc_cell_type_valid(uint8_t type)
{
	const uint32_t codes = 1u << WC_PUT | 1u << WC_DELETE | 1u << WC_DELETE_FAMILY_VERSION |
		1u << WC_DELETE_COLUMN | 1u << WC_DELETE_FAMILY;

	return type < 32 && (codes >> type & 1) != 0;
}

/* Compares within one row and family: qualifier, ts desc, type desc, seq desc. */
extern int	wc_cell_cmp(const WcCell *a, const WcCell *b);

/* "Put", "Delete", "DeleteColumn", "DeleteFamily", "DeleteFamilyVersion", or
 * NULL for another code; and the way back (false: no such name). */
extern const char *wc_cell_type_name(uint8_t type);
extern bool wc_cell_type_parse(WcSlice name, uint8_t *type);

#endif
