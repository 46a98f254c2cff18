/*
 * fdw/relation/keycontent.h: which row keys a foreign table can read, for the engine.
 */
#ifndef WC_FDW_RELATION_KEYCONTENT_H
#define WC_FDW_RELATION_KEYCONTENT_H

#include "postgres.h"

#include "fdw/relation/relation.h"

/*
 * Appends an encoded WcKeyCheck (rowkey/keycheck.h): the keys that it lets pass
 * are decoded by wc_relation_decode_key without an error.  False, and nothing is
 * appended, when only decoding can tell (times as text, ...), or when a
 * key part is a hash, whose original is a cell.
 */
extern bool wc_keycontent_encode(const WcRelation *wrel, WcBuf *out);

/*
 * The same for some key parts only (bits, 0-based): keys that pass can be split, and of
 * these parts the values be decoded.  For which parts can it be told at all?
 */
extern bool wc_keycontent_tells(const WcRelColumn *column);
extern void wc_keycontent_encode_parts(const WcRelation *wrel, const Bitmapset *parts, WcBuf *out);

#endif
