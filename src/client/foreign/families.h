/*
 * client/foreign/families.h: families as users write them, in JSON.
 *
 * {"cf": {"versions": 3, "ttl": "7 days"}, "d": {}, "old": null}: the argument of
 * widecol.create_table and alter_table, and the table option `families`.
 * Attributes are HBase's, spelled as in sql.md; an unknown one fails and lists
 * the valid ones.
 */
#ifndef WC_CLIENT_FOREIGN_FAMILIES_H
#define WC_CLIENT_FOREIGN_FAMILIES_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/jsonb.h"

#include "model/descriptor.h"

/* One member of the object.  given has a bit for each attribute that the member names. */
typedef struct WcFamilySpec
{
	char	   *name;			/* UTF-8 */
	bool		drop;			/* the member is null */
	uint32		given;
	WcFamilyAttrs attrs;		/* valid only where `given` has the bit */
} WcFamilySpec;

/*
 * List of WcFamilySpec *, in the object's order.  Raises 22023 (22P02 for text
 * that is no JSON) for anything else than an object of objects and nulls; null
 * members only with drop_allowed.  This function checks ranges of single attributes; the
 * caller merges the attributes and checks their combination (wc_family_attrs_check).
 */
extern List *wc_families_parse(Jsonb *families, bool drop_allowed);

/* The value of an option, as JSON; 22023 naming the option when the value is no JSON. */
extern Jsonb *wc_json_of_option(const char *option, const char *json);

extern List *wc_families_parse_text(const char *json, bool drop_allowed);

/* The spec (in a List of WcFamilySpec *) of the family with this name, or NULL. */
extern const WcFamilySpec *wc_family_spec_find(List *specs, WcSlice name);

extern bool wc_family_same_attributes(const WcFamilyAttrs *a, const WcFamilyAttrs *b);

/* Sets in attrs the attributes that the spec names. */
extern void wc_family_spec_apply(const WcFamilySpec *spec, WcFamilyAttrs *attrs);

/* All families of a stored table with all attributes, as JSON; an inherited TTL counts as none. */
extern char *wc_families_text(const WcTableDesc *desc);

/* Has the family the default attributes, apart from its packing? */
extern bool wc_family_is_plain(const WcFamilyDesc *family);

/* A foreign table's part in one family of its stored table. */
typedef struct WcFamilyTold
{
	bool		maps;			/* the foreign table maps the family, so its option `families` must name the attributes */
	bool		named;			/* the foreign table's columns alone would make the family, with default attributes ... */
	uint8		packing;		/* ... and this packing; WC_PACKING_AUTO: not known */
} WcFamilyTold;

/*
 * A new value of the option `families` of a foreign table, with which the foreign table's definition makes
 * its mapped families as they are in desc.  json: the option's present value, or NULL.  told has a member for
 * each family of desc.  Returns NULL when json makes the families so already.  The result leaves out families
 * that the stored table does not have.
 */
extern char *wc_families_tell(const char *json, const WcTableDesc *desc, const WcFamilyTold *told);

/* The names of the enumerations' values, for example for describe(). */
extern const char *wc_keep_deleted_name(uint8 keep_deleted);
extern const char *wc_bloomfilter_name(uint8 bloomfilter);
extern const char *wc_compression_name(uint8 compression);
extern const char *wc_packing_name(uint8 packing);

#endif
