/*
 * fdw/keycontent.h: which row keys a foreign table can read, for the engine.
 */
#ifndef WC_FDW_KEYCONTENT_H
#define WC_FDW_KEYCONTENT_H

#include "postgres.h"

#include "fdw/relation.h"

/*
 * Appends an encoded WcKeyCheck (rowkey/keycheck.h): the keys that it lets pass
 * are decoded by wc_relation_decode_key without an error.  False, and nothing is
 * appended, when only decoding can tell (numeric, times as text, ...), or when a
 * key part is a hash, whose original is a cell.
 */
extern bool wc_keycontent_encode(const WcRelation *wrel, WcBuf *out);

#endif
