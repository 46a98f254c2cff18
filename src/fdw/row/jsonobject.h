/*
 * fdw/row/jsonobject.h: a jsonb object whose values are all text, made member by member.
 *
 * PostgreSQL's functions (pushJsonbValue) build a tree of values of any type, and then convert the tree.  An object
 * of texts only can be written directly.
 */
#ifndef WC_FDW_ROW_JSONOBJECT_H
#define WC_FDW_ROW_JSONOBJECT_H

#include "postgres.h"

typedef struct WcJsonObject WcJsonObject;

/* Creates an object without members; the object and its later allocations are in CurrentMemoryContext. */
extern WcJsonObject *wc_jsonobject_create(void);

/* Adds a member.  Key and value, in the server's encoding, are copied; each key may be added once.  Fastest when the keys are
 * those of the last object, in the same order; otherwise when they ascend as bytes.  Error 54000: the object is larger than a jsonb may be. */
extern void wc_jsonobject_add(WcJsonObject *object, const char *key, Size key_len, const char *value, Size value_len);

/* Adds the member if the last object had the same key at this place; false: it had not. */
extern bool wc_jsonobject_add_expected(WcJsonObject *object, const char *key, Size key_len, const char *value, Size value_len);

/* Is it the key of the member added last? */
extern bool wc_jsonobject_is_last(const WcJsonObject *object, const char *key, Size key_len);

/* Removes all members. */
extern void wc_jsonobject_reset(WcJsonObject *object);

/* Returns the jsonb of the members, and removes them.  passing: the jsonb may be in memory of the object, until the next call;
 * otherwise it is palloc'd. */
extern Datum wc_jsonobject_finish(WcJsonObject *object, bool passing);

#endif
