/*
 * fdw/scan/jsonobject.h: a jsonb object whose values are all text, made member by member.
 *
 * PostgreSQL's own functions (pushJsonbValue) build a tree of any values first, and then go
 * through it.  Of texts the bytes can be written at once.
 */
#ifndef WC_FDW_SCAN_JSONOBJECT_H
#define WC_FDW_SCAN_JSONOBJECT_H

#include "postgres.h"

typedef struct WcJsonObject WcJsonObject;

/* Without members; in CurrentMemoryContext, as is what it needs later. */
extern WcJsonObject *wc_jsonobject_create(void);

/* Key and value, in the server's encoding, are copied; a key comes once.  Fastest when keys
 * ascend as bytes.  54000: the object becomes larger than a jsonb may be. */
extern void wc_jsonobject_add(WcJsonObject *object, const char *key, Size key_len, const char *value, Size value_len);

/* Is that the key of the member added last? */
extern bool wc_jsonobject_is_last(const WcJsonObject *object, const char *key, Size key_len);

/* Forgets its members. */
extern void wc_jsonobject_reset(WcJsonObject *object);

/* The object of the members added since the last time, palloc'd; then it has none. */
extern Datum wc_jsonobject_finish(WcJsonObject *object);

#endif
