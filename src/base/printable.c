/*
 * base/printable.c: bytes as people read them.
 */
#include "base/printable.h"

#include <assert.h>

char *
wc_printable(char *buf, size_t size, WcSlice s)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t		pos = 0;
	size_t		cut = 0;		/* the last place where "..." would still fit */

	assert(size >= 8);
	for (size_t i = 0; i < s.len; i++)
	{
		uint8_t		c = s.data[i];
		bool		plain = c >= 0x20 && c < 0x7F && c != '\\';
		size_t		need = plain ? 1 : 4;

		if (pos + 4 <= size)
			cut = pos;
		if (pos + need + 1 > size)
		{
			memcpy(buf + cut, "...", 4);
			return buf;
		}
		if (plain)
			buf[pos++] = (char) c;
		else
		{
			buf[pos++] = '\\';
			buf[pos++] = 'x';
			buf[pos++] = hex[c >> 4];
			buf[pos++] = hex[c & 15];
		}
	}
	buf[pos] = '\0';
	return buf;
}
