/*
 * base/log.h: core's messages for the server's log.
 *
 * One line a call, at most 1 KiB, written to standard error with one write(2):  PostgreSQL's logging collector
 * (or the reader of the server's standard error) takes it from there.  Any thread.  For events an
 * administrator should know of (recovery, corruption, a background error), never for tracing.
 */
#ifndef WC_BASE_LOG_H
#define WC_BASE_LOG_H

#include "base/status.h"

/* A line: time (UTC), process id, "widecol", level, text; control characters
 * become spaces. */
typedef enum WcLogLevel
{
	WC_LOG_INFO,
	WC_LOG_WARNING,
	WC_LOG_ERROR
} WcLogLevel;

extern void wc_log(WcLogLevel level, const char *fmt,...) WC_PRINTF(2, 3);

#endif
