/*
 * read/cell/quote.c: bytes as messages show them.
 */
#include <stdio.h>

#include "read/cell/quote.h"

char *
wc_quote(char *buf, size_t size, WcSlice bytes)
{
	/* room for one escaped byte, the closing quote, "..." and the end */
	size_t		last = size - 9;
	size_t		n = 0;
	bool		cut = false;

	buf[n++] = '"';
	for (size_t i = 0; i < bytes.len; i++)
	{
		uint8_t		b = bytes.data[i];

		if (n > last)
		{
			cut = true;
			break;
		}
		if (b >= 0x20 && b < 0x7f && b != '\\' && b != '"')
			buf[n++] = (char) b;
		else
			n += (size_t) snprintf(buf + n, size - n, "\\x%02x", b);
	}
	snprintf(buf + n, size - n, cut ? "\"..." : "\"");
	return buf;
}
