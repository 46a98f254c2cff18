/*
 * fdw/relation/mapping.h: from options to a WcRelation; for relation.c and ddl.c.
 */
#ifndef WC_FDW_RELATION_MAPPING_H
#define WC_FDW_RELATION_MAPPING_H

#include "postgres.h"

#include "fdw/relation/option.h"
#include "fdw/relation/relation.h"

/* Everything that needs no stored table, checked; in CurrentMemoryContext. */
extern WcRelation *wc_mapping_build(Relation rel, WcTableOptions *options);

/*
 * Names of the mapped families as the options give them, UTF-8, distinct, the
 * default family's included (so never NIL): List of char *.
 */
extern List *wc_mapping_family_names(const WcRelation *wrel);

/* Looks the families up in desc, which has to live as long as wrel.  A missing one: 42704
 * with those that exist. */
extern void wc_mapping_resolve(WcRelation *wrel, WcTableDesc *desc);

/* widecol.version[], or InvalidOid: the extension is not there (any more). */
extern Oid	wc_mapping_version_array(void);

/* "a, b, c": the families of desc, in the server's encoding. */
extern char *wc_mapping_list_families(const WcTableDesc *desc);

#endif
