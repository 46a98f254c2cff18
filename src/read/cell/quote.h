/*
 * read/cell/quote.h: bytes as messages show them.
 */
#ifndef WC_READ_CELL_QUOTE_H
#define WC_READ_CELL_QUOTE_H

#include "base/slice.h"

#define WC_QUOTE_MAX 200

/* Printable ASCII as it is, other bytes as \xNN, in double quotes; cut to size
 * with "..." behind the quotes.  size is at least 16.  Returns buf. */
extern char *wc_quote(char *buf, size_t size, WcSlice bytes);

#endif
