/*
 * shell/shell.h: helpers that the SQL functions share.
 */
#ifndef WC_SHELL_SHELL_H
#define WC_SHELL_SHELL_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"

#include "client/client.h"

/* --- arguments -------------------------------------------------------------- */

/* 22004 naming the argument when it is NULL. */
extern void wc_arg_not_null(FunctionCallInfo fcinfo, int argno, const char *name);

/* A text argument as a C string in the database's encoding. */
extern char *wc_arg_cstring(FunctionCallInfo fcinfo, int argno);

/* The same of an argument that must not be NULL (22004, which names it). */
extern char *wc_arg_name(FunctionCallInfo fcinfo, int argno, const char *name);

/* A bytea argument, detoasted. */
extern WcSlice wc_arg_bytes(FunctionCallInfo fcinfo, int argno);

/* A row key: not empty (22023), not over WC_ROW_MAX (54000). */
extern WcSlice wc_arg_row(FunctionCallInfo fcinfo, int argno);
extern WcSlice wc_row_check(WcSlice row);

/* A timestamp: NULL is WC_TS_LATEST, negative is 22023. */
extern int64 wc_arg_ts(FunctionCallInfo fcinfo, int argno);

/* A cell TTL in microseconds: NULL is 0 (none); not above zero is 22023. */
extern int64 wc_arg_ttl_us(FunctionCallInfo fcinfo, int argno);

/* An int8range becomes the scan's time range: NULL leaves it; a negative one
 * is 22023. */
extern void wc_arg_time_range(FunctionCallInfo fcinfo, int argno, WcScan *scan);

/* Bytes as a palloc'd bytea. */
extern Datum wc_bytea_datum(WcSlice s);

/* --- columns, rows and tables in arguments ----------------------------------- */

/*
 * "family:qualifier", the qualifier being everything behind the first colon, with
 * \xHH for a byte.  Without a colon the whole family, where that is allowed.
 * Unknown family: 42703, listing those there are.
 */
typedef struct WcColumnName
{
	uint32		family;
	bool		whole_family;
	WcSlice		qualifier;
} WcColumnName;

/*
 * Argument `server`, the name of a foreign server of the wrapper widecol: the store of its tables.  "widecol" is
 * always the embedded engine.  42704 if there is no such server.
 */
extern WcClientStore *wc_arg_store(FunctionCallInfo fcinfo, int argno);

extern WcColumnName wc_column_parse(const WcTableDesc *table, const char *column, bool family_allowed);
extern const WcFamilyDesc *wc_family_lookup(const WcTableDesc *table, const char *family);

/* A column argument named `name`, which must have a colon and not be NULL. */
extern WcColumnName wc_arg_column(FunctionCallInfo fcinfo, int argno, const char *name, const WcTableDesc *table);

/* The bytes of a text in UTF-8, where \xHH is one byte; palloc'd. 22023 for another escape: `what` names the
 * text in the message, as in "invalid escape in column name ...". */
extern WcSlice wc_unescape(const char *text, const char *what);

/* 55000 for a snapshot, which stays as it is (table/altertable.c). */
extern void wc_require_no_snapshot(const WcTableDesc *desc);

/* 2BP01 when columns of a foreign table live in the family (UTF-8), which is to go (table/table.c). */
extern void wc_family_require_unused(const WcClientStore *store, const char *fullname, const char *family);

/* --- single cells (data/data.c): one operation of the transaction's batch ----------- */

/* ts WC_TS_LATEST: the commit's; ttl_us 0: none. */
extern void wc_put_one(const WcTableDesc *table, WcSlice row, const WcColumnName *column, int64 ts,
					   int64 ttl_us, WcSlice value);
extern void wc_delete_one(const WcTableDesc *table, WcSlice row, WcCellType type, uint32 family,
						  WcSlice qualifier, int64 ts);

/* --- a cell as it is now (data/current.c) ---------------------------------------- */
typedef struct WcCurrentCell
{
	bool		found;
	bool		ahead;			/* dated in the future: the commit's timestamp will not be later */
	int64		ts;
	int64		after;			/* the first timestamp behind ts; WC_TS_LATEST: there is none */
	int64		ttl_us;			/* as it was given; 0: none */
	WcSlice		value;			/* palloc'd */
} WcCurrentCell;

/*
 * Locks the row to the end of the (sub)transaction, waiting for others, then reads the
 * newest visible version of the column (in the time range of `scan`, a scan of
 * this table with nothing else set), with all that this transaction has written
 * so far.  Under REPEATABLE READ and above, 40001 when another transaction has
 * changed the row since this one began.
 */
extern void wc_current_cell(const WcTableDesc *table, WcSlice row, const WcColumnName *column,
							const WcScan *scan, WcCurrentCell *current);

#endif
