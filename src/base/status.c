/*
 * base/status.c: error text of fixed size.
 */
#include "base/status.h"

#include <stdio.h>
#include <string.h>

/*
 * Formats into text, cutting what does not fit, at a character's boundary when
 * it is UTF-8.  The arguments may point into the error that is being replaced
 * ("%s" of its own message), hence the detour.
 */
static void
format_text(char *text, const char *fmt, va_list args)
{
	char		tmp[WC_ERROR_TEXT_MAX];
	int			n = vsnprintf(tmp, sizeof(tmp), fmt, args);

	if (n < 0)
		tmp[0] = '\0';
	else if ((size_t) n >= sizeof(tmp))
	{
		size_t		end = sizeof(tmp) - 1;
		size_t		lead = end - 1;

		while (lead > end - 4 && ((unsigned char) tmp[lead] & 0xC0) == 0x80)
			lead--;
		if (((unsigned char) tmp[lead] & 0xC0) == 0xC0)
		{
			unsigned char c = (unsigned char) tmp[lead];
			size_t		need = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;

			if (lead + need > end)
				tmp[lead] = '\0';
		}
	}
	memcpy(text, tmp, strlen(tmp) + 1);
}

WcStatus
wc_error(WcError *err, WcStatus status, const char *fmt,...)
{
	va_list		args;

	if (!err)
		return status;
	va_start(args, fmt);
	format_text(err->message, fmt, args);
	va_end(args);
	err->status = status;
	err->detail[0] = '\0';
	err->hint[0] = '\0';
	err->table = 0;
	err->row_len = 0;
	return status;
}

void
wc_error_row(WcError *err, uint32_t table, const uint8_t *row, size_t len)
{
	if (!err || len == 0 || len > WC_ERROR_ROW_MAX)
		return;
	err->table = table;
	err->row_len = (uint32_t) len;
	memcpy(err->row, row, len);
}

void
wc_error_detail(WcError *err, const char *fmt,...)
{
	va_list		args;

	if (!err)
		return;
	va_start(args, fmt);
	format_text(err->detail, fmt, args);
	va_end(args);
}

void
wc_error_hint(WcError *err, const char *fmt,...)
{
	va_list		args;

	if (!err)
		return;
	va_start(args, fmt);
	format_text(err->hint, fmt, args);
	va_end(args);
}
