/*
 * filterlang/parseerror.c: the errors of a parse, with their positions in the text.
 */
#include "filterlang/parser.h"

size_t
wc_parse_position(const WcParser *p, size_t at)
{
	size_t		n = 1;

	for (size_t i = 0; i < at && i < p->text.len; i++)
		n += (p->text.data[i] & 0xC0) != 0x80;
	return n;
}

WcStatus
wc_parse_fail(WcParser *p, size_t at, const char *what)
{
	return wc_error(p->err, WC_INVALID, "filter is not valid at position %zu: %s", wc_parse_position(p, at), what);
}

WcStatus
wc_parse_no_memory(WcParser *p)
{
	return wc_error(p->err, WC_NO_MEMORY, "out of memory for a filter");
}
