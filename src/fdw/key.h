/*
 * fdw/key.h: what key.c keeps in a WcRelation; for mapping.c.
 */
#ifndef WC_FDW_KEY_H
#define WC_FDW_KEY_H

#include "postgres.h"

#include "fdw/relation.h"

/* Buffers for the parts of a key, freed with CurrentMemoryContext. */
extern void wc_key_init(WcRelation *wrel);

#endif
