/*
 * shell/shell.h: what the SQL functions share.
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

/* A bytea argument, detoasted. */
extern WcSlice wc_arg_bytes(FunctionCallInfo fcinfo, int argno);

/* A row key: not empty (22023), not over WC_ROW_MAX (54000). */
extern WcSlice wc_arg_row(FunctionCallInfo fcinfo, int argno);

/* A timestamp: NULL is WC_TS_LATEST, negative is 22023. */
extern int64 wc_arg_ts(FunctionCallInfo fcinfo, int argno);

/* A cell TTL in microseconds: NULL is 0 (none); not above zero is 22023. */
extern int64 wc_arg_ttl(FunctionCallInfo fcinfo, int argno);

/* --- what they act on -------------------------------------------------------- */

/* The stored table behind the foreign table in argument argno; the caller needs
 * `privilege` on the foreign table. */
extern WcTableDesc *wc_arg_table(FunctionCallInfo fcinfo, int argno, AclMode privilege);

/* The caller needs USAGE on the server widecol. */
extern void wc_require_usage(void);

/* The caller must also own every foreign table of this database that maps the
 * stored table: what would be done shows through all of them. */
extern void wc_require_ownership(const char *fullname);

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

extern WcColumnName wc_column_parse(const WcTableDesc *table, const char *column, bool family_allowed);
extern const WcFamilyDesc *wc_family_lookup(const WcTableDesc *table, const char *family);

/* Names are UTF-8 in the store. */
extern WcSlice wc_name_to_utf8(const char *name);
extern char *wc_name_from_utf8(WcSlice name);

#endif
