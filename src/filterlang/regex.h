/*
 * filterlang/regex.h: searches of the comparators regexstring, regexstringnocase and substring.
 *
 * Java's regular expressions, run by PCRE2.  Syntax that Java and PCRE2 define differently is translated or
 * refused (filterlang/README).  Bytes are decoded as UTF-8, with U+FFFD for invalid bytes, as Java does.  A
 * WcRegex belongs to one thread at a time.
 */
#ifndef WC_FILTERLANG_REGEX_H
#define WC_FILTERLANG_REGEX_H

#include <stdatomic.h>

#include "base/slice.h"
#include "base/status.h"

typedef struct WcRegex WcRegex;

typedef enum WcRegexKind
{
	WC_REGEX_JAVA,				/* a regular expression; a dot matches any character */
	WC_REGEX_JAVA_NOCASE,		/* the same, upper and lower case alike */
	WC_REGEX_TEXT_NOCASE		/* the characters themselves, upper and lower case alike */
} WcRegexKind;

/* WC_INVALID: the pattern is not a regular expression, or uses unsupported syntax. */
extern WcStatus wc_regex_create(WcSlice pattern, WcRegexKind kind, WcRegex **regex, WcError *err) WC_WARN_UNUSED;
extern void wc_regex_free(WcRegex *regex);	/* NULL is allowed */

/*
 * Does the pattern match anywhere in the bytes?  WC_TOO_LARGE: the search exceeds WC_REGEX_STEPS_MAX or WC_REGEX_MEMORY_MAX.
 * WC_CANCELLED: cancel, which may be NULL, was raised; the search looks at the flag at each step.
 */
extern WcStatus wc_regex_find(WcRegex *regex, WcSlice bytes, const atomic_bool *cancel, bool *found, WcError *err) WC_WARN_UNUSED;

#endif
