/*
 * fdw/relation/hstore.h: the type hstore of PostgreSQL's extension hstore.
 */
#ifndef WC_FDW_RELATION_HSTORE_H
#define WC_FDW_RELATION_HSTORE_H

#include "postgres.h"

typedef struct WcHstore
{
	Oid			from_arrays;	/* hstore(text[], text[]) */
	Oid			to_jsonb;		/* the function of the cast to jsonb */
} WcHstore;

/*
 * Is this the extension's type?  Then its functions.  A type or function of the same
 * name that the extension did not bring, or that is not in C, is another one.
 */
extern bool wc_hstore_find(Oid type, WcHstore *hstore);

/* The same for a column that is known to be an hstore: 42883 when its functions are gone. */
extern void wc_hstore_get(Oid type, WcHstore *hstore);

/* Is it this C function (its name in the library) of the extension that the type is of? */
extern bool wc_hstore_is_function(Oid function, Oid type, const char *symbol);

/* type -> text, which gives a member's text; InvalidOid: there is none. */
extern Oid	wc_hstore_member_operator(Oid type);

#endif
