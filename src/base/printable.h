/*
 * base/printable.h: bytes as printable text.
 *
 * As HBase prints them: printable ASCII as it is, every other byte and the
 * backslash as \xHH.  Any thread.
 */
#ifndef WC_BASE_PRINTABLE_H
#define WC_BASE_PRINTABLE_H

#include "base/slice.h"

/* Room that is enough for n bytes, the terminating zero included. */
#define WC_PRINTABLE_SIZE(n) ((n) * 4 + 1)

/* Writes s to buf (size bytes, at least 8), zero-terminated; a text that is too long is cut and ends in "...".
 * Returns buf. */
extern char *wc_printable(char *buf, size_t size, WcSlice s);

#endif
