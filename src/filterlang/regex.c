/*
 * filterlang/regex.c: searches of the comparators regexstring, regexstringnocase and substring.
 */
#include "filterlang/regex.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/buf.h"
#include "base/limits.h"

/*
 * Counting steps makes a search of a short value half as long again.  So values of up to QUICK_BYTES are searched first
 * without.  From each character PCRE2 then takes at most QUICK_STEPS steps, and a step looks at each character once at most:
 * 512 * 1000 * 512 characters, a tenth of a second.
 */
#define QUICK_BYTES	512
#define QUICK_STEPS	1000

struct WcRegex
{
	pcre2_code *code;			/* counts its steps */
	pcre2_code *quick;			/* does not: for few bytes */
	pcre2_match_data *match;
	pcre2_match_context *context;
	pcre2_match_context *quick_context;
	WcBuf		repaired;		/* the searched bytes, if they were not UTF-8, as UTF-8 */

	/* of a search */
	const atomic_bool *cancel;
	size_t		steps_left;
	size_t		at;				/* offset of the last step */
};

/* --- UTF-8 ----------------------------------------------------------------------------- */

/*
 * The number of bytes of the first character at s (n > 0 bytes; *good), or, of invalid UTF-8, the number of
 * bytes that one U+FFFD replaces: the valid beginning of a character, at least one byte.
 */
static size_t
character(const uint8_t *s, size_t n, bool *good)
{
	uint8_t		lead = s[0];
	size_t		len = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
	uint8_t		low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
	uint8_t		high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;

	*good = false;
	if (len == 0)
		return 1;
	for (size_t i = 1; i < len; i++)
	{
		if (i == n || s[i] < low || s[i] > high)
			return i;
		low = 0x80;
		high = 0xBF;
	}
	*good = true;
	return len;
}

/* Appends the bytes to out, with U+FFFD for invalid UTF-8. */
static void
repair(WcSlice bytes, WcBuf *out)
{
	for (size_t i = 0; i < bytes.len;)
	{
		bool		good;
		size_t		n = character(bytes.data + i, bytes.len - i, &good);

		if (good)
			wc_buf_append(out, bytes.data + i, n);
		else
			wc_buf_append(out, "\xEF\xBF\xBD", 3);
		i += n;
	}
}

/* --- from Java's syntax to PCRE2's ----------------------------------------------------------- */

typedef struct Translation
{
	WcSlice		in;
	size_t		at;
	size_t		ngroups;		/* that capture, up to at */
	WcBuf	   *out;
	WcError    *err;
} Translation;

static bool
comes(const Translation *t, const char *what)
{
	return wc_slice_starts_with(wc_slice(t->in.data + t->at, t->in.len - t->at), wc_slice_cstr(what));
}

static void
copy(Translation *t, size_t n)
{
	if (n > t->in.len - t->at)
		n = t->in.len - t->at;
	wc_buf_append(t->out, t->in.data + t->at, n);
	t->at += n;
}

static bool
is_hex(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Copies a backslash, a letter, and the braces behind them with their content. */
static void
copy_braced(Translation *t)
{
	size_t		n = 2;

	if (t->in.len - t->at > 2 && t->in.data[t->at + 2] == '{')
	{
		while (t->at + n < t->in.len && t->in.data[t->at + n] != '}')
			n++;
		n++;
	}
	copy(t, n);
}

/*
 * Writes \p{Alpha} and its like, which in Java are classes of ASCII characters, with PCRE2's names; other
 * properties are copied unchanged.
 */
static void
property(Translation *t, bool in_class)
{
	static const char *const names[] = {
		"{Lower}", "{Upper}", "{ASCII}", "{Alpha}", "{Digit}", "{Alnum}", "{Punct}", "{Graph}", "{Print}", "{Blank}",
		"{Cntrl}", "{XDigit}", "{Space}"
	};
	WcSlice		rest = wc_slice(t->in.data + t->at + 2, t->in.len - t->at - 2);
	bool		negated = t->in.data[t->at + 1] == 'P';

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
	{
		size_t		n = strlen(names[i]);

		if (!wc_slice_starts_with(rest, wc_slice_cstr(names[i])))
			continue;
		wc_buf_append(t->out, &"[[:"[in_class], 3 - (size_t) in_class);
		wc_buf_append(t->out, "^", negated);
		for (size_t k = 1; k < n - 1; k++)
			wc_buf_append_u8(t->out, (uint8_t) (names[i][k] | 0x20));
		wc_buf_append(t->out, ":]]", 3 - (size_t) in_class);
		t->at += 2 + n;
		return;
	}
	copy_braced(t);
}

/* \0 and up to three octal digits; the first of three digits is at most 3. */
static WcStatus
octal(Translation *t)
{
	const uint8_t *s = t->in.data + t->at + 2;
	size_t		left = t->in.len - t->at - 2;
	size_t		n = 0;
	unsigned int value = 0;
	char		hex[16];

	while (n < 3 && n < left && s[n] >= '0' && s[n] <= '7' && value * 8 + (s[n] - '0') < 256)
		value = value * 8 + (s[n++] - '0');
	if (n == 0)
		return wc_error(t->err, WC_INVALID, "\\0 wants octal digits");
	wc_buf_append(t->out, hex, (size_t) snprintf(hex, sizeof(hex), "\\x{%x}", value));
	t->at += 2 + n;
	return WC_OK;
}

/* \ and a number.  As in Java, only the first digit need be the number of a group: others are part of it if there is one. */
static WcStatus
back_reference(Translation *t, bool in_class)
{
	size_t		number = t->in.data[t->at + 1] - '0';
	char		text[32];

	if (in_class)
		return wc_error(t->err, WC_INVALID, "\\%zu in a class of characters is not supported in a regular expression", number);
	for (t->at += 2; t->at < t->in.len && t->in.data[t->at] >= '0' && t->in.data[t->at] <= '9'; t->at++)
	{
		size_t		longer = number * 10 + (t->in.data[t->at] - '0');

		if (longer > t->ngroups)
			break;
		number = longer;
	}
	wc_buf_append(t->out, text, (size_t) snprintf(text, sizeof(text), "\\g{%zu}", number));
	return WC_OK;
}

/* \c and a character of ASCII: Java, unlike PCRE2, takes a letter as it is, small or capital. */
static WcStatus
control(Translation *t)
{
	uint8_t		c = t->in.len - t->at > 2 ? t->in.data[t->at + 2] : 0x80;
	char		hex[16];

	if (c >= 0x80)
		return wc_error(t->err, WC_INVALID, "\\c wants a character of ASCII");
	wc_buf_append(t->out, hex, (size_t) snprintf(hex, sizeof(hex), "\\x{%x}", c ^ 64U));
	t->at += 3;
	return WC_OK;
}

/* Translates an escape sequence. */
static WcStatus
escape(Translation *t, bool in_class)
{
	uint8_t		c = t->in.len - t->at > 1 ? t->in.data[t->at + 1] : 0;

	if (c == 'Q')
	{
		size_t		begin = t->at;

		while (t->at < t->in.len && !comes(t, "\\E"))
			t->at++;
		wc_buf_append(t->out, t->in.data + begin, t->at - begin);
		copy(t, 2);
		return WC_OK;
	}
	if (c == 'u')
	{
		size_t		n = 0;

		while (n < 4 && t->at + 2 + n < t->in.len && is_hex(t->in.data[t->at + 2 + n]))
			n++;
		if (n < 4)
			return wc_error(t->err, WC_INVALID, "\\u wants four hexadecimal digits");
		wc_buf_append(t->out, "\\x{", 3);
		wc_buf_append(t->out, t->in.data + t->at + 2, 4);
		wc_buf_append(t->out, "}", 1);
		t->at += 6;
		return WC_OK;
	}
	if (c == '0')
		return octal(t);
	if (c >= '1' && c <= '9')
		return back_reference(t, in_class);
	if (c == 'c')
		return control(t);
	if (c == 'K' || c == 'C' || c == 'g' || c == 'N' || c == 'o' || c == 'E')
		return wc_error(t->err, WC_INVALID, "\\%c is not supported in a regular expression", c);
	if (c == 'p' || c == 'P')
		property(t, in_class);
	else if (c == 'x')
		copy_braced(t);
	else
		copy(t, 2);
	return WC_OK;
}

/* Translates a class, from [ to ]; refuses Java's classes within classes. */
static WcStatus
class(Translation *t)
{
	WcStatus	status = WC_OK;

	copy(t, comes(t, "[^") ? 2 : 1);
	copy(t, comes(t, "]"));
	while (status == WC_OK && t->at < t->in.len && !comes(t, "]"))
	{
		if (comes(t, "["))
			return wc_error(t->err, WC_INVALID, "class of characters within a class is not supported: write \\[ for a bracket");
		if (comes(t, "&&"))
			return wc_error(t->err, WC_INVALID, "intersection of classes of characters is not supported");
		if (comes(t, "\\"))
			status = escape(t, true);
		else
			copy(t, 1);
	}
	copy(t, 1);
	return status;
}

/* Is it {n}, {n,} or {n,m}?  PCRE2 takes other braces as characters. */
static bool
is_repetition(const Translation *t)
{
	const uint8_t *s = t->in.data + t->at;
	size_t		left = t->in.len - t->at;
	size_t		n = 1;

	while (n < left && s[n] >= '0' && s[n] <= '9')
		n++;
	if (n == 1)
		return false;
	n += n < left && s[n] == ',';
	while (n < left && s[n] >= '0' && s[n] <= '9')
		n++;
	return n < left && s[n] == '}';
}

/* Does a group of PCRE2's begin that Java does not have, or that means another thing there? */
static bool
is_foreign_group(const Translation *t)
{
	const uint8_t *s = t->in.data + t->at;
	size_t		left = t->in.len - t->at;
	size_t		n = 2;

	if (left < 3 || s[0] != '(' || s[1] != '?')
		return false;
	if (strchr("RP&C|(+'#^0123456789", s[2]) != NULL)
		return true;
	/* flags, of which the two have these in common; Java's d, u and U are not supported */
	while (n < left && strchr("imsx-", s[n]) != NULL)
		n++;
	return (n < left && s[n] >= '0' && s[n] <= '9') || (n < left && strchr(":=!<>)", s[n]) == NULL);
}

/* Does a group begin that captures what it matches? */
static bool
captures(const Translation *t)
{
	return comes(t, "(") && (!comes(t, "(?") || (comes(t, "(?<") && !comes(t, "(?<=") && !comes(t, "(?<!")));
}

static WcStatus
translate(Translation *t)
{
	WcStatus	status = WC_OK;

	while (t->at < t->in.len && status == WC_OK)
	{
		if (comes(t, "\\"))
			status = escape(t, false);
		else if (comes(t, "{") && !is_repetition(t))
			return wc_error(t->err, WC_INVALID, "repetition is not {n}, {n,} or {n,m}: write \\{ for a brace");
		else if (comes(t, "["))
			status = class(t);
		else if (comes(t, "(*"))
			return wc_error(t->err, WC_INVALID, "nothing is in front of * in a regular expression");
		else if (is_foreign_group(t))
			return wc_error(t->err, WC_INVALID, "this kind of group is not supported in a regular expression");
		else
		{
			t->ngroups += captures(t);
			copy(t, 1);
		}
	}
	if (status == WC_OK && t->out->failed)
		status = wc_buf_status(t->out, "regular expression", t->err);
	return status;
}

/* --- the regular expression -------------------------------------------------------------- */

/*
 * PCRE2 calls this before each item of the pattern, wherever it tries the item: counts the item, and the characters by which
 * the search has moved since the call before; ends a search that is cancelled or too long (filterlang/README).
 */
static int
take_step(pcre2_callout_block *block, void *arg)
{
	WcRegex    *r = arg;
	size_t		at = block->current_position;
	size_t		steps = 1 + (at > r->at ? at - r->at : r->at - at);

	r->at = at;
	if (steps > r->steps_left || (r->cancel != NULL && atomic_load_explicit(r->cancel, memory_order_relaxed)))
		return PCRE2_ERROR_CALLOUT;
	r->steps_left -= steps;
	return 0;
}

static WcStatus
compile(WcRegex *r, WcSlice pattern, WcRegexKind kind, WcError *err)
{
	uint32_t	options = PCRE2_UTF | PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C;
	pcre2_compile_context *context;
	PCRE2_SIZE	offset;
	int			code;
	PCRE2_UCHAR message[128];

	if (kind != WC_REGEX_JAVA)
		options |= PCRE2_CASELESS;
	options |= kind == WC_REGEX_TEXT_NOCASE ? PCRE2_LITERAL : PCRE2_DOTALL;
	if (kind == WC_REGEX_TEXT_NOCASE)
		options &= ~(uint32_t) (PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C);
	context = pcre2_compile_context_create(NULL);
	if (context == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a regular expression");
	pcre2_set_newline(context, PCRE2_NEWLINE_ANY);
	pcre2_set_parens_nest_limit(context, 100);
	r->quick = pcre2_compile(pattern.data == NULL ? (PCRE2_SPTR) "" : pattern.data, pattern.len, options, &code, &offset, context);
	if (r->quick != NULL)
		r->code = pcre2_compile(pattern.data == NULL ? (PCRE2_SPTR) "" : pattern.data, pattern.len, options | PCRE2_AUTO_CALLOUT,
								&code, &offset, context);
	pcre2_compile_context_free(context);
	if (r->code != NULL)
		return WC_OK;
	pcre2_get_error_message(code, message, sizeof(message));
	return wc_error(err, WC_INVALID, "regular expression: %s after byte %zu", (const char *) message, (size_t) offset);
}

WcStatus
wc_regex_create(WcSlice pattern, WcRegexKind kind, WcRegex **regex, WcError *err)
{
	WcRegex    *r = calloc(1, sizeof(*r));
	WcBuf		good = WC_BUF_INIT;
	WcBuf		java = WC_BUF_INIT;
	Translation t = {.out = &java,.err = err};
	WcStatus	status = WC_OK;

	*regex = NULL;
	if (r == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a regular expression");
	repair(pattern, &good);
	t.in = wc_buf_slice(&good);
	if (good.failed)
		status = wc_buf_status(&good, "regular expression", err);
	else if (kind == WC_REGEX_TEXT_NOCASE)
		status = compile(r, t.in, kind, err);
	else
	{
		status = translate(&t);
		if (status == WC_OK)
			status = compile(r, wc_buf_slice(&java), kind, err);
	}
	wc_buf_free(&good);
	wc_buf_free(&java);
	if (status == WC_OK)
	{
		r->match = pcre2_match_data_create(1, NULL);
		r->context = pcre2_match_context_create(NULL);
		r->quick_context = pcre2_match_context_create(NULL);
		if (r->match == NULL || r->context == NULL || r->quick_context == NULL)
			status = wc_error(err, WC_NO_MEMORY, "out of memory for a regular expression");
	}
	if (status != WC_OK)
	{
		wc_regex_free(r);
		return status;
	}
	pcre2_set_match_limit(r->context, UINT32_MAX);
	pcre2_set_heap_limit(r->context, WC_REGEX_MEMORY_MAX);
	pcre2_set_callout(r->context, take_step, r);
	pcre2_set_match_limit(r->quick_context, QUICK_STEPS);
	pcre2_set_heap_limit(r->quick_context, WC_REGEX_MEMORY_MAX);
	*regex = r;
	return WC_OK;
}

void
wc_regex_free(WcRegex *r)
{
	if (r == NULL)
		return;
	pcre2_code_free(r->code);
	pcre2_code_free(r->quick);
	pcre2_match_data_free(r->match);
	pcre2_match_context_free(r->context);
	pcre2_match_context_free(r->quick_context);
	wc_buf_free(&r->repaired);
	free(r);
}

static int
find(WcRegex *r, WcSlice bytes)
{
	PCRE2_SPTR	subject = bytes.data == NULL ? (PCRE2_SPTR) "" : bytes.data;
	int			n = PCRE2_ERROR_MATCHLIMIT;

	if (bytes.len <= QUICK_BYTES)
		n = pcre2_match(r->quick, subject, bytes.len, 0, 0, r->match, r->quick_context);
	if (n != PCRE2_ERROR_MATCHLIMIT)
		return n;
	r->steps_left = WC_REGEX_STEPS_MAX + WC_REGEX_BYTE_STEPS * bytes.len;
	r->at = 0;
	return pcre2_match(r->code, subject, bytes.len, 0, 0, r->match, r->context);
}

WcStatus
wc_regex_find(WcRegex *r, WcSlice bytes, const atomic_bool *cancel, bool *found, WcError *err)
{
	int			n;

	r->cancel = cancel;
	n = find(r, bytes);
	if (n <= PCRE2_ERROR_UTF8_ERR1 && n >= PCRE2_ERROR_UTF8_ERR21)
	{
		wc_buf_reset(&r->repaired, 64 * 1024);
		repair(bytes, &r->repaired);
		if (r->repaired.failed)
			return wc_buf_status(&r->repaired, "value", err);
		n = find(r, wc_buf_slice(&r->repaired));
	}
	*found = n >= 0;
	if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
		return WC_OK;
	if (n == PCRE2_ERROR_NOMEMORY)
		return wc_error(err, WC_NO_MEMORY, "out of memory for a regular expression");
	if (n == PCRE2_ERROR_CALLOUT && cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed))
		return wc_error(err, WC_CANCELLED, "search for a regular expression was cancelled");
	if (n != PCRE2_ERROR_CALLOUT && n != PCRE2_ERROR_MATCHLIMIT && n != PCRE2_ERROR_HEAPLIMIT && n != PCRE2_ERROR_DEPTHLIMIT)
		return wc_error(err, WC_INTERNAL, "regular expression cannot be searched: error %d of PCRE2", n);
	wc_error(err, WC_TOO_LARGE, "regular expression takes too many steps");
	wc_error_detail(err, "It was searched in %zu %s; the limits are %d steps, %d more for each byte, and %d kB of memory.", bytes.len,
					wc_bytes_word(bytes.len), WC_REGEX_STEPS_MAX, WC_REGEX_BYTE_STEPS, WC_REGEX_MEMORY_MAX);
	return WC_TOO_LARGE;
}
