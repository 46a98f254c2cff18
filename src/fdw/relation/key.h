/*
 * fdw/relation/key.h: what key.c keeps in a WcRelation, and keys as bytes.
 */
#ifndef WC_FDW_RELATION_KEY_H
#define WC_FDW_RELATION_KEY_H

#include "postgres.h"

#include "fdw/relation/relation.h"

/* Buffers for the parts of a key, freed with CurrentMemoryContext. */
extern void wc_key_init(WcRelation *wrel);

/*
 * The contents of the first n parts of a stored key; NULL when it has not the
 * shape of this table's up to there.  Valid until the next key is encoded or
 * decoded.
 */
extern const WcSlice *wc_key_leading(WcRelation *wrel, WcSlice key, int n);

#endif
