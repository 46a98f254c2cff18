/*
 * base/status.h: how core reports failure.
 *
 * A core function that can fail returns WcStatus and fills a WcError that its caller owns.  Reporting cannot
 * fail: the error has a fixed size and text that does not fit is cut.  Texts follow PostgreSQL's style (lower
 * case, no full stop), since client/session/raise.c passes them on.  WC_END is not an error: it marks the end of an
 * iteration, and leaves the WcError alone.
 */
#ifndef WC_BASE_STATUS_H
#define WC_BASE_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include <stdarg.h>
#include <stdbool.h>

#define WC_WARN_UNUSED __attribute__((warn_unused_result))
#define WC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

typedef enum WcStatus
{
	WC_OK = 0,
	WC_END,						/* nothing more; not an error */
	WC_INVALID,					/* an argument no state of the store would allow */
	WC_TOO_LARGE,				/* a documented limit was exceeded */
	WC_NO_NAMESPACE,			/* no such namespace */
	WC_NO_TABLE,				/* no such stored table */
	WC_NO_FAMILY,				/* no such family in the table */
	WC_EXISTS,					/* table or namespace exists already */
	WC_DUPLICATE_ROW,			/* a row that must be absent exists */
	WC_IN_USE,					/* a namespace with tables, say */
	WC_BAD_DATA,				/* a value that is not what the operation needs (a counter of 3 bytes) */
	WC_CANCELLED,				/* the caller's cancel flag was raised */
	WC_CONFLICT,				/* lost against a concurrent transaction */
	WC_STALE,					/* descriptor is older than the catalog: look it up again */
	WC_CORRUPT,					/* bytes on disk or wire make no sense */
	WC_IO,						/* the operating system refused */
	WC_NO_SPACE,				/* disk full */
	WC_NO_FILES,				/* the process, or the system, has too many files open */
	WC_NO_MEMORY,
	WC_SHUTDOWN,				/* the engine is going away */
	WC_UNSUPPORTED,
	WC_INTERNAL,				/* a bug */
	WC_STATUS_COUNT
} WcStatus;

#define WC_ERROR_TEXT_MAX 512
#define WC_ERROR_ROW_MAX 512

typedef struct WcError
{
	WcStatus	status;
	char		message[WC_ERROR_TEXT_MAX];
	char		detail[WC_ERROR_TEXT_MAX];	/* may be empty */
	char		hint[WC_ERROR_TEXT_MAX];	/* may be empty */
	uint32_t	table;			/* id of the stored table, when row_len > 0 */
	uint32_t	row_len;		/* DUPLICATE_ROW, CONFLICT: of the row key, 0: no row, or a longer one than there is room for */
	uint8_t		row[WC_ERROR_ROW_MAX];
} WcError;

/* Sets status and message, clears detail and hint; returns the status so that
 * "return wc_error(err, ...)" reads well.  err may be NULL. */
extern WcStatus wc_error(WcError *err, WcStatus status, const char *fmt,...) WC_PRINTF(3, 4);

/* Add to an error already set; err may be NULL. */
extern void wc_error_detail(WcError *err, const char *fmt,...) WC_PRINTF(2, 3);
extern void wc_error_hint(WcError *err, const char *fmt,...) WC_PRINTF(2, 3);

/* Which row an error already set is about; err may be NULL. */
extern void wc_error_row(WcError *err, uint32_t table, const uint8_t *row, size_t len);

/* "byte" or "bytes", to stand behind n. */
static inline const char *
wc_bytes_word(size_t n)
{
	return n == 1 ? "byte" : "bytes";
}

#endif
