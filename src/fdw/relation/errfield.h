/*
 * fdw/relation/errfield.h: fields of errors that name the foreign table and its column, for
 * programs that do not read messages.
 */
#ifndef WC_FDW_RELATION_ERRFIELD_H
#define WC_FDW_RELATION_ERRFIELD_H

#include "postgres.h"

#include "fdw/relation/relation.h"

/* In an ereport, as errtable and errtablecol, which need the open relation. */
extern int	wc_errfield_table(const WcRelation *wrel);
extern int	wc_errfield_column(const WcRelation *wrel, const char *column);

#endif
