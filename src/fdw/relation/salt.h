/*
 * fdw/relation/salt.h: the options salt_buckets and salt_by.
 */
#ifndef WC_FDW_RELATION_SALT_H
#define WC_FDW_RELATION_SALT_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "fdw/relation/relation.h"

/* The option salt_by, as it is written. */
typedef struct WcSaltBy
{
	List	   *columns;		/* char *, folded as in SQL; NIL: the option is not given */
	bool		minute;			/* minute(column): there is one */
} WcSaltBy;

/* Splits it; 22023 when it is neither a list of names nor minute(name).  Whether
 * there are such columns is another matter. */
extern void wc_salt_by_parse(const char *value, WcSaltBy *by);

/* The option's value when a column gets another name; NULL: it does not name it. */
extern char *wc_salt_by_renamed(const WcSaltBy *by, const char *old_name, const char *new_name);

/* Sets the salt in the layout of wrel's key, whose columns and codecs are known. */
extern void wc_salt_init(WcRelation *wrel, int buckets, const WcSaltBy *by);

#endif
