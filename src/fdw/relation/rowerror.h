/*
 * fdw/relation/rowerror.h: errors that name a row of a foreign table by its key: said alike at
 * the statement and at COMMIT.
 */
#ifndef WC_FDW_RELATION_ROWERROR_H
#define WC_FDW_RELATION_ROWERROR_H

#include "postgres.h"

#include "fdw/relation/relation.h"

/* "(a, b)=(1, x)": the key columns and their values.  NULL: the user may not read these columns, so no message shows them. */
extern char *wc_rowerror_key(const WcRelation *wrel, const Datum *values, const bool *isnull);

/* 23505: a row exists that must not.  Table and constraint (the table's name and "_rowkey")
 * are fields of the error.  values and isnull: of the key, if the user may read it. */
extern void wc_rowerror_duplicate(const WcRelation *wrel, const Datum *values, const bool *isnull) pg_attribute_noreturn();

/* 40001, as for a row of a heap table: another transaction has changed it since this one's
 * snapshot. */
extern void wc_rowerror_changed(WcRelation *wrel, WcSlice row) pg_attribute_noreturn();

/* The foreign table is written to (and refuses duplicates): of a row of its stored table that
 * is found to have changed (to be a duplicate) at COMMIT it is said in this one's words. */
extern void wc_rowerror_expect(const WcRelation *wrel);
extern void wc_rowerror_expect_duplicate(const WcRelation *wrel);

#endif
