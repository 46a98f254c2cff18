/*
 * base/log.c: core's messages for the server's log.
 */
#include "base/log.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WC_LOG_LINE_MAX 1024

static const char *
level_name(WcLogLevel level)
{
	switch (level)
	{
		case WC_LOG_INFO:
			return "LOG";
		case WC_LOG_WARNING:
			return "WARNING";
		case WC_LOG_ERROR:
			return "ERROR";
	}
	return "LOG";
}

void
wc_log(WcLogLevel level, const char *fmt,...)
{
	char		line[WC_LOG_LINE_MAX];
	int			saved_errno = errno;
	struct timespec now;
	struct tm	utc;
	size_t		start;
	size_t		len;
	int			n;
	va_list		args;

	(void) clock_gettime(CLOCK_REALTIME, &now);
	(void) gmtime_r(&now.tv_sec, &utc);
	len = strftime(line, sizeof(line), "%Y-%m-%d %H:%M:%S", &utc);
	n = snprintf(line + len, sizeof(line) - len, ".%03ld UTC [%ld] widecol %s:  ",
				 now.tv_nsec / 1000000, (long) getpid(), level_name(level));
	len += n > 0 ? (size_t) n : 0;
	start = len;

	/* The last byte is the newline's. */
	va_start(args, fmt);
	n = vsnprintf(line + start, sizeof(line) - start, fmt, args);
	va_end(args);
	len += n > 0 ? (size_t) n : 0;
	if (len > sizeof(line) - 1)
		len = sizeof(line) - 1;

	/* one line for each call, also if the text has line breaks */
	for (size_t i = start; i < len; i++)
		if ((unsigned char) line[i] < ' ' || line[i] == 0x7F)
			line[i] = ' ';
	line[len++] = '\n';

	/* an error here cannot be reported */
	while (write(STDERR_FILENO, line, len) < 0 && errno == EINTR)
		;
	errno = saved_errno;
}
