/*
 * client/families.h: families written as JSON, as users write them.
 *
 * {"cf": {"versions": 3, "ttl": "7 days"}, "d": {}, "old": null}: the argument of
 * widecol.create_table and alter_table, and the table option `families`.
 * Attributes are HBase's, spelled as in sql.md; an unknown one fails and lists
 * the valid ones.
 */
#ifndef WC_CLIENT_FAMILIES_H
#define WC_CLIENT_FAMILIES_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/jsonb.h"

#include "model/descriptor.h"

/* One member of the object.  given has a bit for each attribute that was named. */
typedef struct WcFamilySpec
{
	char	   *name;			/* UTF-8 */
	bool		drop;			/* the member is null */
	uint32		given;
	WcFamilyAttrs attrs;		/* only what `given` says is meaningful */
} WcFamilySpec;

/*
 * List of WcFamilySpec *, in the object's order.  Raises 22023 (22P02 for text
 * that is no JSON) for anything else than an object of objects and nulls; null
 * members only where drop_allowed.  Ranges of single attributes are checked
 * here, their combination (wc_family_attrs_check) by whoever has merged them.
 */
extern List *wc_families_parse(Jsonb *families, bool drop_allowed);

/* The value of an option that is JSON; 22023 naming the option when it is not. */
extern Jsonb *wc_json_of_option(const char *option, const char *json);

extern List *wc_families_parse_text(const char *json, bool drop_allowed);

/* Lays what a spec names over attrs. */
extern void wc_family_spec_apply(const WcFamilySpec *spec, WcFamilyAttrs *attrs);

/* All families of a stored table with all attributes of their own, as JSON. */
extern char *wc_families_text(const WcTableDesc *desc);

/* Has it the default attributes, its packing aside? */
extern bool wc_family_is_plain(const WcFamilyDesc *family);

/* What a foreign table says about one family of its stored table. */
typedef struct WcFamilyTold
{
	bool		maps;			/* the foreign table shows the family, so its option has to tell the attributes */
	bool		named;			/* its columns would make the family, with default attributes ... */
	uint8		packing;		/* ... and this packing; WC_PACKING_AUTO: not known */
} WcFamilyTold;

/*
 * The option `families` of a foreign table, so that it makes the families that it maps
 * as they are in desc; json: as it is now, or NULL.  told has a member for each family of desc.
 * NULL: json does so already.  Families that the stored table does not have are left out.
 */
extern char *wc_families_tell(const char *json, const WcTableDesc *desc, const WcFamilyTold *told);

/* The names of the enumerations' values, e.g. for describe(). */
extern const char *wc_keep_deleted_name(uint8 keep_deleted);
extern const char *wc_bloomfilter_name(uint8 bloomfilter);
extern const char *wc_compression_name(uint8 compression);
extern const char *wc_packing_name(uint8 packing);

#endif
