/*
 * filterlang/filterlang.h: parses HBase's filter language into a tree.
 *
 * The language is that of HBase 2.6 (org.apache.hadoop.hbase.filter.ParseFilter) with
 * additions (filterlang/README).  A text is bytes; outside quotes it is ASCII.  read/filter evaluates the
 * tree on rows and cells.
 */
#ifndef WC_FILTERLANG_FILTERLANG_H
#define WC_FILTERLANG_FILTERLANG_H

#include "base/arena.h"
#include "base/status.h"

typedef enum WcLangKind
{
	/* of other filters */
	WC_LANG_AND,				/* of n, at least 2 */
	WC_LANG_OR,					/* of n, at least 2 */
	WC_LANG_SKIP,				/* of one */
	WC_LANG_WHILE,				/* of one */

	WC_LANG_KEY_ONLY,			/* first flag: the value is replaced by its length */
	WC_LANG_FIRST_KEY_ONLY,
	WC_LANG_PREFIX,				/* one text */
	WC_LANG_COLUMN_PREFIX,		/* one text */
	WC_LANG_COLUMN_PREFIXES,	/* texts, ascending, distinct */
	WC_LANG_COLUMN_COUNT,		/* limit */
	WC_LANG_PAGE,				/* limit */
	WC_LANG_COLUMN_PAGE,		/* limit, and offset or one text: the first qualifier */
	WC_LANG_INCLUSIVE_STOP,		/* one text */
	WC_LANG_TIMESTAMPS,			/* times, ascending */
	WC_LANG_ROW,				/* a comparison */
	WC_LANG_FAMILY,				/* a comparison */
	WC_LANG_QUALIFIER,			/* a comparison */
	WC_LANG_VALUE,				/* a comparison */
	WC_LANG_COLUMN_RANGE,		/* two texts, empty: open; flags: each is part of the range */
	WC_LANG_SINGLE_VALUE,		/* column, comparison; flags: drops rows without the column, newest version only */
	WC_LANG_SINGLE_VALUE_EXCLUDE,	/* the same */
	WC_LANG_DEPENDENT,			/* column, perhaps a comparison; first flag: the column is dropped */
	WC_LANG_COLUMN_VALUE,		/* column, comparison */
	WC_LANG_FUZZY_ROW,			/* texts: key, mask, key, mask ...; a mask is of '0' (fixed) and '1' (any) */
	WC_LANG_ROW_RANGES			/* texts: start, stop, start, stop ...; inclusive: a flag each */
} WcLangKind;

typedef enum WcLangOp
{
	WC_LANG_NO_OP,				/* no comparison */
	WC_LANG_LESS,
	WC_LANG_LESS_OR_EQUAL,
	WC_LANG_EQUAL,
	WC_LANG_NOT_EQUAL,
	WC_LANG_GREATER_OR_EQUAL,
	WC_LANG_GREATER
} WcLangOp;

typedef enum WcLangComparator
{
	WC_LANG_BINARY,
	WC_LANG_BINARY_PREFIX,
	WC_LANG_REGEX,
	WC_LANG_REGEX_NOCASE,
	WC_LANG_SUBSTRING,
	WC_LANG_LONG				/* number */
} WcLangComparator;

typedef struct WcLangNode
{
	WcLangKind	kind;
	uint32_t	n;				/* children, texts or times */
	struct WcLangNode **children;
	WcSlice    *texts;
	bool	   *inclusive;		/* ROW_RANGES: n flags */
	int64_t    *times;
	WcSlice		family;			/* the column's */
	WcSlice		qualifier;
	bool		flags[2];
	int64_t		limit;
	int64_t		offset;
	bool		by_qualifier;	/* COLUMN_PAGE: a text is given instead of the offset */
	WcLangOp	op;
	WcLangComparator comparator;
	WcSlice		value;			/* the value to compare with */
	int64_t		number;			/* LONG: the number to compare with */
} WcLangNode;

/*
 * Parses a text.  The tree and all its bytes are in the arena.  WC_INVALID: the text is not valid;
 * the message names the position, counted in characters from 1.
 * WC_TOO_LARGE: a limit (base/limits.h, WC_FILTER_...).
 */
extern WcStatus wc_filterlang_parse(WcSlice text, WcArena *arena, WcLangNode **filter, WcError *err) WC_WARN_UNUSED;

/* The name of a filter in the language; for AND, OR, SKIP and WHILE the keyword. */
extern const char *wc_filterlang_name(WcLangKind kind);

#endif
