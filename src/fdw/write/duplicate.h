/*
 * fdw/write/duplicate.h: a row that must not be there is: said alike at the statement and at COMMIT.
 */
#ifndef WC_FDW_WRITE_DUPLICATE_H
#define WC_FDW_WRITE_DUPLICATE_H

#include "postgres.h"

#include "fdw/relation/relation.h"

/* "(a, b)=(1, x)": the key columns and their values. */
extern char *wc_duplicate_key(const WcRelation *wrel, const Datum *values, const bool *isnull);

/* 23505; table and constraint (the table's name and "_rowkey") are fields of the error. */
extern void wc_duplicate_raise(const WcRelation *wrel, const Datum *values, const bool *isnull) pg_attribute_noreturn();

/* The foreign table is written to, and refuses duplicates: if one is found at COMMIT, in its
 * stored table, it is said of this one. */
extern void wc_duplicate_expect(const WcRelation *wrel);

#endif
