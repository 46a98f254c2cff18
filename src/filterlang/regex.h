/*
 * filterlang/regex.h: what the comparators regexstring, regexstringnocase and substring find.
 *
 * Java's regular expressions, by PCRE2, whose syntax is near to Java's; what the two
 * understand differently is translated or refused (filterlang/README).  Bytes are read as UTF-8
 * with U+FFFD for what is not, as Java does.  A WcRegex belongs to one thread at a time.
 */
#ifndef WC_FILTERLANG_REGEX_H
#define WC_FILTERLANG_REGEX_H

#include "base/slice.h"
#include "base/status.h"

typedef struct WcRegex WcRegex;

typedef enum WcRegexKind
{
	WC_REGEX_JAVA,				/* a regular expression; a dot is any character */
	WC_REGEX_JAVA_NOCASE,		/* the same, upper and lower case alike */
	WC_REGEX_TEXT_NOCASE		/* the characters themselves, upper and lower case alike */
} WcRegexKind;

/* WC_INVALID: it is no regular expression, or none that is supported. */
extern WcStatus wc_regex_create(WcSlice pattern, WcRegexKind kind, WcRegex **regex, WcError *err) WC_WARN_UNUSED;
extern void wc_regex_free(WcRegex *regex);	/* NULL is none */

/* Is it anywhere in the bytes?  WC_TOO_LARGE: that takes more than WC_REGEX_STEPS_MAX steps. */
extern WcStatus wc_regex_find(WcRegex *regex, WcSlice bytes, bool *found, WcError *err) WC_WARN_UNUSED;

#endif
