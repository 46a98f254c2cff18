/*
 * fdw/relation/option.h: the options of a foreign table and of its columns, one by one.
 *
 * Parsing looks at one list of options alone: names, values, and what
 * contradicts itself within the list.  How the options of a table and its
 * columns go together is relation.c's business.
 */
#ifndef WC_FDW_RELATION_OPTION_H
#define WC_FDW_RELATION_OPTION_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "fdw/relation/relation.h"
#include "fdw/relation/salt.h"

/* Strings are as the user wrote them (server encoding), NULL when not given. */
typedef struct WcTableOptions
{
	char	   *table;
	WcLayout	layout;
	bool		dump;			/* layout 'dump': widecol.dump, which the extension makes */
	char	   *family;
	char	   *families;		/* JSON, checked */
	char	   *delimiter;
	int			salt_buckets;	/* 0: not given */
	WcSaltBy	salt_by;
	bool		duplicates_fail;
	int			versions;		/* 0: not given */
	bool		raw;
	int			fetch_size;		/* 0: not given */
	int			parallel_workers;	/* -1: not given */
	WcWriteMode write_mode;
} WcTableOptions;

#define WC_ROWKEY_NONE	0
#define WC_ROWKEY_RAW	(-1)

typedef struct WcColumnOptions
{
	bool		any;			/* some option was given */
	int			rowkey;			/* 1 .. n, WC_ROWKEY_NONE or WC_ROWKEY_RAW */
	bool		desc;
	WcEncoding	encoding;		/* DEFAULT: not given */
	int			length;			/* 0: not given */
	char	   *family;
	char	   *qualifier;		/* may be empty */
	char	   *qualifier_prefix;
	bool		timestamp;		/* attribute 'timestamp' */
	int			versions;		/* 0: not given */
	char	   *labels;			/* JSON, checked (enumlabel.h) */
} WcColumnOptions;

/* Of IMPORT FOREIGN SCHEMA. */
typedef struct WcImportOptions
{
	WcLayout	layout;
	bool		text_key;		/* the row key as text, else as bytea */
} WcImportOptions;

/* Lists of DefElem.  Unknown option: HV00D and a hint that lists the valid
 * ones; bad value or contradiction: 22023. */
extern void wc_options_parse_table(List *options, WcTableOptions *out);
extern void wc_options_parse_column(List *options, WcColumnOptions *out);
extern void wc_options_parse_import(List *options, WcImportOptions *out);

/* The value of a column's option `labels`, a JSON object of labels and their stored labels: List of WcLabel *. */
extern List *wc_options_parse_labels(const char *json);

#endif
