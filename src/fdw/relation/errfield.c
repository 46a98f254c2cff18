/*
 * fdw/relation/errfield.c: fields of errors that name the foreign table and its column, for
 * programs that do not read messages.
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "fdw/relation/errfield.h"

int
wc_errfield_table(const WcRelation *wrel)
{
	err_generic_string(PG_DIAG_SCHEMA_NAME, get_namespace_name(get_rel_namespace(wrel->relid)));
	return err_generic_string(PG_DIAG_TABLE_NAME, wrel->relname);
}

int
wc_errfield_column(const WcRelation *wrel, const char *column)
{
	wc_errfield_table(wrel);
	return err_generic_string(PG_DIAG_COLUMN_NAME, column);
}
