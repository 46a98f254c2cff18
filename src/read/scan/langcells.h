/*
 * read/scan/langcells.h: the cells of a scan that has a filter in HBase's language.
 *
 * The result of such a scan depends on the order of calls of its filter.  These functions, and those of langrows.h, have the
 * order of HBase's RegionScanner and StoreScanner (read/README).  They are called for scans with such a filter only.  One
 * thread.
 */
#ifndef WC_READ_SCAN_LANGCELLS_H
#define WC_READ_SCAN_LANGCELLS_H

#include "base/limits.h"
#include "read/filter/langfilter.h"
#include "read/scan/scannerstate.h"

/* Additional state of a family. */
struct WcLangFamily
{
	bool		closed;			/* the family is not read any more */
	bool		needed;			/* the filter needs it to decide on a row */
	bool		whole;			/* all its columns are wanted */

	/* in the row */
	bool		leaves;			/* no more cells of the family are wanted in this row */
	bool		in_column;		/* column is the one of the last visible cell */
	bool		skips;			/* nothing more is wanted of that */
	bool		seeks;			/* nothing is wanted before target */
	uint32_t	included;		/* cells of the column, for versions */
	WcBuf		column;
	WcSlice		target;			/* the filter's bytes */
	uint8_t		scratch[4];		/* of a transformed value */
};

/* A cell that the filter has let through, its bytes in WcLangRows.bytes. */
typedef struct WcLangGathered
{
	uint32_t	family;			/* place in the lane's families */
	uint32_t	colno;
	WcCell		cell;
	size_t		at;				/* offset of the qualifier, after which is the value */
} WcLangGathered;

struct WcLangRows
{
	WcLangFilter *filter;
	bool		gathers;
	WcBuf		bytes;
	WcBuf		cells;			/* WcLangGathered */
	uint32_t	next;			/* to give */
};

/* As the filter gets the cell. */
static inline WcLangCell
wc_lang_cell(const WcScanner *s, const WcFamilyScan *f, const WcCell *cell)
{
	return (WcLangCell) {
		.row = s->lane->row,.place = f->place,.family = f->family->name,.qualifier = cell->qualifier,
		.value = cell->value,.ts = cell->ts
	};
}

/* How many there are. */
static inline uint32_t
wc_langcells_gathered(const WcScanner *s)
{
	return (uint32_t) (s->lang->cells.len / sizeof(WcLangGathered));
}

/* A gathered cell with its bytes where they are now. */
static inline WcCell
wc_lang_gathered_cell(const WcScanner *s, const WcLangGathered *g)
{
	WcCell		cell = g->cell;
	const uint8_t *bytes = s->lang->bytes.data + g->at;

	cell.row = s->lane->row;
	cell.qualifier = wc_slice(bytes, g->cell.qualifier.len);
	cell.value = wc_slice(bytes + g->cell.qualifier.len, g->cell.value.len);
	return cell;
}

/* The filter of s->scan, when there is one, becomes s->lang, and may narrow the range of rows.  Before lanes
 * are made of that. */
extern WcStatus wc_langcells_create(WcScanner *s, WcError *err) WC_WARN_UNUSED;

/* A family that has been opened. */
extern WcStatus wc_langcells_family(WcScanner *s, WcFamilyScan *f, WcError *err) WC_WARN_UNUSED;
extern void wc_langcells_free(WcScanner *s);

/* The family's next cell that the filter lets through, in f->cell and f->colno, as it is returned; WC_END:
 * no more. */
extern WcStatus wc_langcells_next(WcScanner *s, WcFamilyScan *f, WcError *err) WC_WARN_UNUSED;

/* A comparison has failed with this status: sets the error's place; f NULL: the row's key. */
extern WcStatus wc_langcells_name_place(const WcScanner *s, const WcFamilyScan *f, WcStatus status, WcError *err);

/* Are the row's cells at hand, since they all had to be known?  Then the next one, unless it was the last. */
extern bool wc_langcells_gathers(const WcScanner *s);
extern bool wc_langcells_peek(WcScanner *s, WcCell *cell, uint32_t *colno, WcFamilyScan **f);
extern void wc_langcells_take(WcScanner *s);

#endif
