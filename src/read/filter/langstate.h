/*
 * read/filter/langstate.h: a filter in HBase's language and its state, for the files it is made
 * of: langfilter.c decides about rows, langlist.c and langcell.c about cells, the first for filters of filters.
 */
#ifndef WC_READ_FILTER_LANGSTATE_H
#define WC_READ_FILTER_LANGSTATE_H

#include "base/buf.h"
#include "filterlang/filterlang.h"
#include "filterlang/regex.h"
#include "read/filter/langfilter.h"

/* Where a scan may go on: before the first cell of a column. */
typedef struct WcLangHint
{
	uint32_t	place;
	WcSlice		qualifier;
} WcLangHint;

/* One filter of the tree.  The meaning of a field depends on the filter's kind. */
typedef struct WcLangState
{
	const WcLangNode *node;
	uint32_t	n;
	struct WcLangState *children;
	WcRegex    *regex;			/* of the comparator; or NULL */
	bool		reversed;		/* as the scan; HBase does not tell what SKIP and WHILE wrap */

	/* in a row */
	bool		filter_row;		/* the row is not to be returned */
	bool		found;			/* a cell, the column */
	bool		matched;		/* the column's value */
	uint64_t	count;			/* columns; PAGE: rows, of the whole scan */
	const WcSlice *hint;		/* COLUMN_PREFIXES: the next prefix; or NULL */
	WcBuf		stamps;			/* DEPENDENT: timestamps, int64_t, descending */

	/* in the whole scan */
	bool		done;			/* nothing more is returned */

	/* state that the list to which it belongs keeps for it */
	bool		hinted;			/* AND: its result for the last cell was SEEK */
	bool		included;		/* OR: it has included the last cell */
	bool		remembers;		/* OR: its result for the cell prev also decides the next ones */
	WcLangCode	code;
	uint32_t	place;
	WcBuf		qualifier;
} WcLangState;

struct WcLangFilter
{
	WcLangState root;
	bool		reversed;
	bool		decides_rows;
	bool		watches_cells;
	const atomic_bool *cancel;	/* or NULL */
	WcStatus	status;			/* why a comparison failed */
	WcError    *err;			/* the caller's */
};

/* --- langlist.c ------------------------------------------------------------------------------- */

/* Of any filter: its code for the cell, and its hint. */
extern WcLangCode wc_langstate_cell(WcLangFilter *f, WcLangState *s, const WcLangCell *cell);
extern bool wc_langstate_hint(WcLangFilter *f, WcLangState *s, const WcLangCell *cell, WcLangHint *hint);

/* Is it one that HBase asks for hints even when the row is rejected (HintingFilter)? */
extern bool wc_langlist_is_hinting(const WcLangState *s);

/* --- langcell.c ------------------------------------------------------------------------------- */

/* The same of filters that are not made of others.  The hint gets its qualifier; its place is set. */
extern WcLangCode wc_langcell_decide(WcLangFilter *f, WcLangState *s, const WcLangCell *cell);
extern bool wc_langcell_hint(const WcLangState *s, WcLangHint *hint);

/* Does its comparison reject these bytes? */
extern bool wc_langstate_rejects(WcLangFilter *f, WcLangState *s, WcSlice bytes);

/* Does the filter, any one, return nothing more? */
extern bool wc_langstate_all_remaining(const WcLangState *s);

static inline bool
wc_lang_includes(WcLangCode code)
{
	return code <= WC_LANG_INCLUDE_NEXT_ROW;
}

#endif
