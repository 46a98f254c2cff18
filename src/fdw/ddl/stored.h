/*
 * fdw/ddl/stored.h: the stored table of a foreign table that is made or changed.
 *
 * wrel is the foreign table's mapping, which need not be resolved (fdw/relation/mapping.h); names
 * (char *) are the families that the definition names, specs (WcFamilySpec *) those of its option
 * `families`, with attributes.  Names of families are in UTF-8.  All of it happens in the user's
 * transaction, and raises errors.
 */
#ifndef WC_FDW_DDL_STORED_H
#define WC_FDW_DDL_STORED_H

#include "postgres.h"

#include "client/client.h"
#include "fdw/relation/relation.h"

/* Those of names that desc lacks. */
extern List *wc_stored_missing_families(const WcTableDesc *desc, List *names);

/* Makes it, in the foreign table's store.  The caller holds a stored table's name locked in AccessExclusiveLock. */
extern void wc_stored_create(const WcRelation *wrel, Oid owner, List *names, List *specs);

/* Adds the families of names that it lacks; returns the new descriptor. */
extern WcTableDesc *wc_stored_add_families(const WcRelation *wrel, List *names, List *specs);

/*
 * The stored table as it stays until the foreign table can be seen by others: drop_table
 * and the like lock the name, and then look for foreign tables that map it.  NULL: there is none, and
 * the name is locked in AccessExclusiveLock.
 */
extern WcTableDesc *wc_stored_hold(const char *name);

/* Sets the foreign table's option `families` so that it makes the families as they are, should the
 * foreign table be made somewhere else. */
extern void wc_stored_tell_families(const WcRelation *wrel, const WcTableDesc *desc, List *names, List *specs);

/* While a dump is restored: makes the namespace that the table's name has, if it is not there. */
extern void wc_stored_require_namespace(const WcRelation *wrel);

/* While a dump is restored: gives the stored table the families of the present definition; returns the new
 * descriptor. */
extern WcTableDesc *wc_stored_fit(const WcRelation *wrel, List *names, List *specs);

#endif
