/*
 * filterlang/parse.c: parses HBase's filter language into a tree.
 *
 *     filter      any { OR any }
 *     any         one { AND one }
 *     one         SKIP one | WHILE one | ( filter ) | NAME ( [ argument { , argument } ] )
 *     argument    piece { piece } | a word: number, true, false, < <= = != >= >
 *     piece       'text', with '' for a quote | X'hexadecimal digits'
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "filterlang/filterlang.h"
#include "filterlang/regex.h"

typedef struct Parser
{
	WcSlice		text;
	size_t		at;				/* the next byte */
	uint32_t	nodes;
	uint32_t	arguments;		/* of all filters */
	WcArena    *arena;
	WcError    *err;
} Parser;

typedef struct Argument
{
	bool		quoted;
	WcSlice		text;
	size_t		at;
} Argument;

typedef struct Arguments
{
	uint32_t	n;
	Argument   *items;
	size_t		at;				/* of the filter's name */
} Arguments;

/* A filter's name, and the number of its arguments. */
typedef struct Spec
{
	const char *name;
	WcLangKind	kind;
	const char *wants;			/* for messages */
	uint32_t	counts[3];		/* the allowed numbers; 0 ends the list */
	uint32_t	step;			/* not 0: any multiple of step */
	bool		may_be_none;
} Spec;

static const Spec specs[] = {
	{"KeyOnlyFilter", WC_LANG_KEY_ONLY, "no argument or one", {1}, 0, true},
	{"FirstKeyOnlyFilter", WC_LANG_FIRST_KEY_ONLY, "no argument", {0}, 0, true},
	{"PrefixFilter", WC_LANG_PREFIX, "1 argument", {1}, 0, false},
	{"ColumnPrefixFilter", WC_LANG_COLUMN_PREFIX, "1 argument", {1}, 0, false},
	{"MultipleColumnPrefixFilter", WC_LANG_COLUMN_PREFIXES, "arguments", {0}, 1, true},
	{"ColumnCountGetFilter", WC_LANG_COLUMN_COUNT, "1 argument", {1}, 0, false},
	{"PageFilter", WC_LANG_PAGE, "1 argument", {1}, 0, false},
	{"ColumnPaginationFilter", WC_LANG_COLUMN_PAGE, "2 arguments", {2}, 0, false},
	{"InclusiveStopFilter", WC_LANG_INCLUSIVE_STOP, "1 argument", {1}, 0, false},
	{"TimestampsFilter", WC_LANG_TIMESTAMPS, "arguments", {0}, 1, true},
	{"RowFilter", WC_LANG_ROW, "2 arguments", {2}, 0, false},
	{"FamilyFilter", WC_LANG_FAMILY, "2 arguments", {2}, 0, false},
	{"QualifierFilter", WC_LANG_QUALIFIER, "2 arguments", {2}, 0, false},
	{"ValueFilter", WC_LANG_VALUE, "2 arguments", {2}, 0, false},
	{"ColumnRangeFilter", WC_LANG_COLUMN_RANGE, "4 arguments", {4}, 0, false},
	{"SingleColumnValueFilter", WC_LANG_SINGLE_VALUE, "4 or 6 arguments", {4, 6}, 0, false},
	{"SingleColumnValueExcludeFilter", WC_LANG_SINGLE_VALUE_EXCLUDE, "4 or 6 arguments", {4, 6}, 0, false},
	{"DependentColumnFilter", WC_LANG_DEPENDENT, "2, 3 or 5 arguments", {2, 3, 5}, 0, false},
	{"ColumnValueFilter", WC_LANG_COLUMN_VALUE, "4 arguments", {4}, 0, false},
	{"FuzzyRowFilter", WC_LANG_FUZZY_ROW, "pairs of arguments", {0}, 2, false},
	{"MultiRowRangeFilter", WC_LANG_ROW_RANGES, "groups of 4 arguments", {0}, 4, false}
};

#define NSPECS (sizeof(specs) / sizeof(specs[0]))

const char *
wc_filterlang_name(WcLangKind kind)
{
	static const char *const words[] = {"AND", "OR", "SKIP", "WHILE"};

	if (kind <= WC_LANG_WHILE)
		return words[kind];
	for (size_t i = 0; i < NSPECS; i++)
	{
		if (specs[i].kind == kind)
			return specs[i].name;
	}
	return "?";
}

/* --- errors ------------------------------------------------------------------------- */

/* The position of the byte in characters, from 1. */
static size_t
position(const Parser *p, size_t at)
{
	size_t		n = 1;

	for (size_t i = 0; i < at && i < p->text.len; i++)
		n += (p->text.data[i] & 0xC0) != 0x80;
	return n;
}

static WcStatus
fail(Parser *p, size_t at, const char *what)
{
	return wc_error(p->err, WC_INVALID, "filter is not valid at position %zu: %s", position(p, at), what);
}

static WcStatus
no_memory(Parser *p)
{
	return wc_error(p->err, WC_NO_MEMORY, "out of memory for a filter");
}

/* --- words ----------------------------------------------------------------------------- */

static inline bool
is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline bool
is_name(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void
pass_blanks(Parser *p)
{
	while (p->at < p->text.len && is_blank(p->text.data[p->at]))
		p->at++;
}

/* The next byte that is not blank; -1: there is none. */
static int
peek(Parser *p)
{
	pass_blanks(p);
	return p->at < p->text.len ? p->text.data[p->at] : -1;
}

/* The name at the current position; empty: no name. */
static WcSlice
next_name(const Parser *p)
{
	size_t		end = p->at;

	while (end < p->text.len && is_name(p->text.data[end]))
		end++;
	return wc_slice(p->text.data + p->at, end - p->at);
}

static bool
is_word(WcSlice s, const char *word)
{
	return wc_slice_eq(s, wc_slice_cstr(word));
}

/* Is it the word, in upper or lower case? */
static bool
is_word_nocase(WcSlice s, const char *word)
{
	if (s.len != strlen(word))
		return false;
	for (size_t i = 0; i < s.len; i++)
	{
		uint8_t		c = s.data[i];

		if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != word[i])
			return false;
	}
	return true;
}

/* Takes the word, if the word comes next. */
static bool
take_word(Parser *p, const char *word)
{
	pass_blanks(p);
	if (!is_word(next_name(p), word))
		return false;
	p->at += strlen(word);
	return true;
}

/* --- arguments -------------------------------------------------------------------------- */

static int
hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Does a piece of a text come next?  *hex: in hexadecimal digits. */
static bool
at_piece(const Parser *p, bool *hex)
{
	const uint8_t *s = p->text.data + p->at;
	size_t		left = p->text.len - p->at;

	*hex = left > 1 && (s[0] == 'X' || s[0] == 'x') && s[1] == '\'';
	return *hex || (left > 0 && s[0] == '\'');
}

/* Decodes a piece of a text to bytes: '' is ' , or two digits are a byte.  p->at is on the opening quote. */
static WcStatus
piece(Parser *p, bool hex, WcBuf *out)
{
	size_t		begin = p->at;
	const uint8_t *s = p->text.data;
	size_t		i = begin + 1;

	while (i < p->text.len && (s[i] != '\'' || (!hex && i + 1 < p->text.len && s[i + 1] == '\'')))
	{
		if (hex && (i + 1 == p->text.len || hex_digit(s[i]) < 0 || hex_digit(s[i + 1]) < 0))
			return fail(p, i, "expected two hexadecimal digits");
		if (hex)
			wc_buf_append_u8(out, (uint8_t) (hex_digit(s[i]) * 16 + hex_digit(s[i + 1])));
		else
			wc_buf_append_u8(out, s[i]);
		i += hex || s[i] == '\'' ? 2 : 1;
	}
	if (i >= p->text.len)
		return fail(p, begin, "text in quotes has no end");
	p->at = i + 1;
	return WC_OK;
}

/* A text: one piece or several adjacent pieces. */
static WcStatus
quoted(Parser *p, Argument *a)
{
	WcBuf		bytes = WC_BUF_INIT;
	WcStatus	status = WC_OK;
	bool		hex;

	a->quoted = true;
	while (status == WC_OK && at_piece(p, &hex))
	{
		p->at += hex;
		status = piece(p, hex, &bytes);
		pass_blanks(p);
	}
	if (status == WC_OK && bytes.failed)
		status = no_memory(p);
	a->text = wc_arena_copy(p->arena, wc_buf_slice(&bytes));
	if (status == WC_OK && bytes.len > 0 && a->text.data == NULL)
		status = no_memory(p);
	wc_buf_free(&bytes);
	return status;
}

static WcStatus
one_argument(Parser *p, Argument *a)
{
	size_t		end = p->at;
	bool		hex;

	a->at = p->at;
	if (at_piece(p, &hex))
		return quoted(p, a);
	while (end < p->text.len && !is_blank(p->text.data[end]) && strchr(",()'", p->text.data[end]) == NULL)
		end++;
	if (end == p->at)
		return fail(p, p->at, "expected an argument");
	a->text = wc_slice(p->text.data + p->at, end - p->at);
	p->at = end;
	return WC_OK;
}

/* Makes room for one more argument. */
static WcStatus
grow(Parser *p, Arguments *args)
{
	Argument   *items;

	if (++p->arguments > WC_FILTER_VALUES_MAX)
		return wc_error(p->err, WC_TOO_LARGE, "filter has too many arguments: the limit is %d", WC_FILTER_VALUES_MAX);
	if ((args->n & (args->n - 1)) != 0)
		return WC_OK;
	items = wc_arena_alloc_zero(p->arena, sizeof(Argument) * (args->n == 0 ? 1 : 2 * args->n));
	if (items == NULL)
		return no_memory(p);
	if (args->n > 0)
		memcpy(items, args->items, sizeof(Argument) * args->n);
	args->items = items;
	return WC_OK;
}

/* Parses from behind the opening parenthesis to behind the closing parenthesis. */
static WcStatus
all_arguments(Parser *p, Arguments *args)
{
	WcStatus	status;

	if (peek(p) == ')')
	{
		p->at++;
		return WC_OK;
	}
	for (;;)
	{
		int			c = peek(p);

		if (c < 0)
			return fail(p, p->at, "expected an argument");
		status = grow(p, args);
		if (status == WC_OK)
			status = one_argument(p, &args->items[args->n]);
		if (status != WC_OK)
			return status;
		args->n++;
		c = peek(p);
		if (c != ',' && c != ')')
			return fail(p, p->at, "expected \",\" or \")\"");
		p->at++;
		if (c == ')')
			return WC_OK;
	}
}

static WcStatus
get_text(Parser *p, const Argument *a, WcSlice *text)
{
	if (!a->quoted)
		return fail(p, a->at, "expected a text in single quotes");
	*text = a->text;
	return WC_OK;
}

static WcStatus
get_flag(Parser *p, const Argument *a, bool *flag)
{
	*flag = is_word_nocase(a->text, "true");
	if (a->quoted || !(*flag || is_word_nocase(a->text, "false")))
		return fail(p, a->at, "expected true or false");
	return WC_OK;
}

/* Parses a number in digits, with a sign if `sign`; false: no number, or greater than max. */
static bool
read_number(WcSlice text, bool sign, int64_t max, int64_t *number)
{
	bool		negative = sign && text.len > 0 && text.data[0] == '-';
	uint64_t	n = 0;

	if (text.len == negative)
		return false;
	for (size_t i = negative; i < text.len; i++)
	{
		uint8_t		c = text.data[i];

		if (c < '0' || c > '9' || n > (uint64_t) INT64_MAX / 10)
			return false;
		n = n * 10 + (uint64_t) (c - '0');
		if (n > (uint64_t) max + negative)
			return false;
	}
	*number = (int64_t) (negative ? 0 - n : n);
	return true;
}

static WcStatus
get_number(Parser *p, const Argument *a, int64_t max, int64_t *number)
{
	if (!a->quoted && read_number(a->text, false, max, number))
		return WC_OK;
	return fail(p, a->at, max == INT32_MAX ? "expected a number between 0 and 2147483647" :
				"expected a number between 0 and 9223372036854775807");
}

static WcStatus
get_op(Parser *p, const Argument *a, WcLangOp *op)
{
	static const struct
	{
		const char *word;
		WcLangOp	op;
	}			ops[] = {
		{"<", WC_LANG_LESS}, {"<=", WC_LANG_LESS_OR_EQUAL}, {"=", WC_LANG_EQUAL},
		{"!=", WC_LANG_NOT_EQUAL}, {">=", WC_LANG_GREATER_OR_EQUAL}, {">", WC_LANG_GREATER}
	};

	for (size_t i = 0; !a->quoted && i < sizeof(ops) / sizeof(ops[0]); i++)
	{
		if (is_word(a->text, ops[i].word))
		{
			*op = ops[i].op;
			return WC_OK;
		}
	}
	return fail(p, a->at, "expected one of < <= = != >= >");
}

/* Is the argument a valid regular expression?  read/filter compiles the expression again. */
static WcStatus
check_regex(Parser *p, const Argument *a, const WcLangNode *node)
{
	WcRegexKind kind = node->comparator == WC_LANG_REGEX ? WC_REGEX_JAVA : WC_REGEX_JAVA_NOCASE;
	WcError		why;
	WcRegex    *regex;
	WcStatus	status = wc_regex_create(node->value, kind, &regex, &why);

	wc_regex_free(regex);
	if (status != WC_INVALID)
	{
		if (status != WC_OK && p->err != NULL)
			*p->err = why;
		return status;
	}
	return fail(p, a->at, why.message);
}

static WcStatus
get_comparator(Parser *p, const Argument *a, WcLangNode *node)
{
	static const struct
	{
		const char *word;
		WcLangComparator comparator;
	}			comparators[] = {
		{"binary:", WC_LANG_BINARY}, {"binaryprefix:", WC_LANG_BINARY_PREFIX}, {"regexstring:", WC_LANG_REGEX},
		{"regexstringnocase:", WC_LANG_REGEX_NOCASE}, {"substring:", WC_LANG_SUBSTRING}, {"long:", WC_LANG_LONG}
	};
	size_t		n = sizeof(comparators) / sizeof(comparators[0]);
	size_t		i = 0;
	size_t		skip;

	if (!a->quoted)
		return fail(p, a->at, "expected a comparator in single quotes");
	while (i < n && !wc_slice_starts_with(a->text, wc_slice_cstr(comparators[i].word)))
		i++;
	if (i == n)
		return fail(p, a->at, "expected a comparator: binary:, binaryprefix:, regexstring:, regexstringnocase:, substring: or long:");
	skip = strlen(comparators[i].word);
	node->comparator = comparators[i].comparator;
	node->value = wc_slice(a->text.data + skip, a->text.len - skip);
	if (node->comparator == WC_LANG_REGEX || node->comparator == WC_LANG_REGEX_NOCASE)
		return check_regex(p, a, node);
	if (node->comparator == WC_LANG_LONG && !read_number(node->value, true, INT64_MAX, &node->number))
		return fail(p, a->at, "expected a number between -9223372036854775808 and 9223372036854775807 behind \"long:\"");
	return WC_OK;
}

/* Parses an operator and a comparator, the arguments a[0] and a[1]. */
static WcStatus
get_comparison(Parser *p, const Argument *a, WcLangNode *node)
{
	WcStatus	status = get_op(p, a, &node->op);

	if (status == WC_OK)
		status = get_comparator(p, a + 1, node);
	if (status != WC_OK || node->kind == WC_LANG_DEPENDENT || node->op == WC_LANG_EQUAL || node->op == WC_LANG_NOT_EQUAL ||
		!(node->comparator == WC_LANG_REGEX || node->comparator == WC_LANG_REGEX_NOCASE ||
		  node->comparator == WC_LANG_SUBSTRING))
		return status;
	return fail(p, a->at, "a regexstring or substring comparator takes = or != only");
}

static WcStatus
get_column(Parser *p, const Argument *a, WcLangNode *node)
{
	WcStatus	status = get_text(p, a, &node->family);

	return status == WC_OK ? get_text(p, a + 1, &node->qualifier) : status;
}

/* --- filters with many arguments ------------------------------------------------------------ */

static int
compare_texts(const void *a, const void *b)
{
	return wc_slice_cmp(*(const WcSlice *) a, *(const WcSlice *) b);
}

static WcStatus
get_prefixes(Parser *p, const Arguments *args, WcLangNode *node)
{
	node->texts = wc_arena_alloc_zero(p->arena, sizeof(WcSlice) * (args->n + 1));
	if (node->texts == NULL)
		return no_memory(p);
	for (uint32_t i = 0; i < args->n; i++)
	{
		WcStatus	status = get_text(p, &args->items[i], &node->texts[i]);

		if (status != WC_OK)
			return status;
	}
	if (args->n > 0)
		qsort(node->texts, args->n, sizeof(WcSlice), compare_texts);
	for (uint32_t i = 0; i < args->n; i++)
	{
		if (node->n == 0 || !wc_slice_eq(node->texts[node->n - 1], node->texts[i]))
			node->texts[node->n++] = node->texts[i];
	}
	return WC_OK;
}

static int
compare_times(const void *a, const void *b)
{
	int64_t		x = *(const int64_t *) a;
	int64_t		y = *(const int64_t *) b;

	return (x > y) - (x < y);
}

static WcStatus
get_times(Parser *p, const Arguments *args, WcLangNode *node)
{
	node->times = wc_arena_alloc_zero(p->arena, sizeof(int64_t) * (args->n + 1));
	if (node->times == NULL)
		return no_memory(p);
	for (; node->n < args->n; node->n++)
	{
		WcStatus	status = get_number(p, &args->items[node->n], INT64_MAX, &node->times[node->n]);

		if (status != WC_OK)
			return status;
	}
	if (args->n > 0)
		qsort(node->times, args->n, sizeof(int64_t), compare_times);
	return WC_OK;
}

static WcStatus
get_fuzzy(Parser *p, const Arguments *args, WcLangNode *node)
{
	node->texts = wc_arena_alloc_zero(p->arena, sizeof(WcSlice) * args->n);
	if (node->texts == NULL)
		return no_memory(p);
	for (; node->n < args->n; node->n++)
	{
		const Argument *a = &args->items[node->n];
		WcSlice    *text = &node->texts[node->n];
		WcStatus	status = get_text(p, a, text);

		if (status != WC_OK)
			return status;
		if (node->n % 2 == 0)
			continue;
		if (text->len != text[-1].len)
			return fail(p, a->at, "the mask is not as long as the key before it");
		for (size_t i = 0; i < text->len; i++)
		{
			if (text->data[i] != '0' && text->data[i] != '1')
				return fail(p, a->at, "a mask is made of 0, the byte is as in the key, and 1, any byte");
		}
	}
	return WC_OK;
}

static WcStatus
get_ranges(Parser *p, const Arguments *args, WcLangNode *node)
{
	node->texts = wc_arena_alloc_zero(p->arena, sizeof(WcSlice) * args->n);
	node->inclusive = wc_arena_alloc_zero(p->arena, sizeof(bool) * args->n);
	if (node->texts == NULL || node->inclusive == NULL)
		return no_memory(p);
	for (uint32_t i = 0; i < args->n; i += 2, node->n++)
	{
		WcStatus	status = get_text(p, &args->items[i], &node->texts[node->n]);

		if (status == WC_OK)
			status = get_flag(p, &args->items[i + 1], &node->inclusive[node->n]);
		if (status != WC_OK)
			return status;
	}
	for (uint32_t i = 0; i < node->n; i += 2)
	{
		int			c = wc_slice_cmp(node->texts[i], node->texts[i + 1]);

		if (node->texts[i].len > 0 && node->texts[i + 1].len > 0 && (c > 0 || (c == 0 && !node->inclusive[i + 1])))
			return fail(p, args->items[2 * i].at, "no row is in this range");
	}
	return WC_OK;
}

static WcStatus
get_column_page(Parser *p, const Argument *a, WcLangNode *node)
{
	WcStatus	status = get_number(p, a, INT32_MAX, &node->limit);

	node->by_qualifier = a[1].quoted;
	if (status == WC_OK && !node->by_qualifier)
		return get_number(p, a + 1, INT32_MAX, &node->offset);
	node->qualifier = a[1].text;
	return status;
}

/* --- one filter -------------------------------------------------------------------------- */

/* Texts and flags in turn. */
static WcStatus
get_range(Parser *p, const Argument *a, WcLangNode *node)
{
	WcStatus	status = WC_OK;

	node->texts = wc_arena_alloc_zero(p->arena, sizeof(WcSlice) * 2);
	if (node->texts == NULL)
		return no_memory(p);
	for (node->n = 0; node->n < 2 && status == WC_OK; node->n++)
	{
		status = get_text(p, &a[2 * node->n], &node->texts[node->n]);
		if (status == WC_OK)
			status = get_flag(p, &a[2 * node->n + 1], &node->flags[node->n]);
	}
	return status;
}

static WcStatus
get_single_value(Parser *p, const Arguments *args, WcLangNode *node)
{
	const Argument *a = args->items;
	WcStatus	status = get_column(p, a, node);

	node->flags[1] = true;
	if (status == WC_OK)
		status = get_comparison(p, a + 2, node);
	for (uint32_t i = 4; i < args->n && status == WC_OK; i++)
		status = get_flag(p, &a[i], &node->flags[i - 4]);
	return status;
}

static WcStatus
get_dependent(Parser *p, const Arguments *args, WcLangNode *node)
{
	const Argument *a = args->items;
	WcStatus	status = get_column(p, a, node);

	if (status == WC_OK && args->n > 2)
		status = get_flag(p, a + 2, &node->flags[0]);
	if (status == WC_OK && args->n > 3)
		status = get_comparison(p, a + 3, node);
	return status;
}

static WcStatus
understand(Parser *p, const Arguments *args, WcLangNode *node)
{
	const Argument *a = args->items;
	WcStatus	status;

	switch (node->kind)
	{
		case WC_LANG_KEY_ONLY:
			return args->n == 0 ? WC_OK : get_flag(p, a, &node->flags[0]);
		case WC_LANG_PREFIX:
		case WC_LANG_COLUMN_PREFIX:
		case WC_LANG_INCLUSIVE_STOP:
			return get_text(p, a, &node->value);
		case WC_LANG_COLUMN_PREFIXES:
			return get_prefixes(p, args, node);
		case WC_LANG_COLUMN_COUNT:
			return get_number(p, a, INT32_MAX, &node->limit);
		case WC_LANG_PAGE:
			return get_number(p, a, INT64_MAX, &node->limit);
		case WC_LANG_COLUMN_PAGE:
			return get_column_page(p, a, node);
		case WC_LANG_TIMESTAMPS:
			return get_times(p, args, node);
		case WC_LANG_ROW:
		case WC_LANG_FAMILY:
		case WC_LANG_QUALIFIER:
		case WC_LANG_VALUE:
			return get_comparison(p, a, node);
		case WC_LANG_COLUMN_RANGE:
			return get_range(p, a, node);
		case WC_LANG_SINGLE_VALUE:
		case WC_LANG_SINGLE_VALUE_EXCLUDE:
			return get_single_value(p, args, node);
		case WC_LANG_DEPENDENT:
			return get_dependent(p, args, node);
		case WC_LANG_COLUMN_VALUE:
			status = get_column(p, a, node);
			return status == WC_OK ? get_comparison(p, a + 2, node) : status;
		case WC_LANG_FUZZY_ROW:
			return get_fuzzy(p, args, node);
		case WC_LANG_ROW_RANGES:
			return get_ranges(p, args, node);
		default:
			return WC_OK;
	}
}

static bool
takes(const Spec *spec, uint32_t n)
{
	if (n == 0)
		return spec->may_be_none;
	if (spec->step > 0)
		return n % spec->step == 0;
	return n == spec->counts[0] || n == spec->counts[1] || n == spec->counts[2];
}

static WcStatus
new_node(Parser *p, WcLangKind kind, WcLangNode **node)
{
	if (++p->nodes > WC_FILTER_NODES_MAX)
		return wc_error(p->err, WC_TOO_LARGE, "filter is made of too many filters: the limit is %d", WC_FILTER_NODES_MAX);
	*node = wc_arena_alloc_zero(p->arena, sizeof(WcLangNode));
	if (*node == NULL)
		return no_memory(p);
	(*node)->kind = kind;
	return WC_OK;
}

/* NAME ( arguments ) */
static WcStatus
simple(Parser *p, WcLangNode **node)
{
	Arguments	args = {.at = p->at};
	WcSlice		name = next_name(p);
	const Spec *spec = NULL;
	WcStatus	status;

	if (name.len == 0)
		return fail(p, p->at, "expected a filter");
	for (size_t i = 0; i < NSPECS && spec == NULL; i++)
	{
		if (is_word(name, specs[i].name))
			spec = &specs[i];
	}
	if (spec == NULL)
	{
		status = wc_error(p->err, WC_INVALID, "filter is not valid at position %zu: there is no filter \"%.*s\"",
						  position(p, p->at), (int) (name.len < 64 ? name.len : 64), (const char *) name.data);
		wc_error_hint(p->err, "Names of filters are spelled as in HBase, for example PrefixFilter.");
		return status;
	}
	p->at += name.len;
	if (peek(p) != '(')
		return fail(p, p->at, "expected \"(\"");
	p->at++;
	status = all_arguments(p, &args);
	if (status != WC_OK)
		return status;
	if (!takes(spec, args.n))
		return wc_error(p->err, WC_INVALID, "filter is not valid at position %zu: %s takes %s, not %u",
						position(p, args.at), spec->name, spec->wants, args.n);
	status = new_node(p, spec->kind, node);
	return status == WC_OK ? understand(p, &args, *node) : status;
}

/* --- filters of filters --------------------------------------------------------------------- */

static WcStatus any_of(Parser *p, WcLangKind kind, uint32_t depth, WcLangNode **node);

static WcStatus
one(Parser *p, uint32_t depth, WcLangNode **node)
{
	size_t		at;
	bool		skip;
	WcStatus	status;

	if (depth > WC_FILTER_DEPTH_MAX)
		return wc_error(p->err, WC_TOO_LARGE, "filter is nested too deep: the limit is %d", WC_FILTER_DEPTH_MAX);
	if (peek(p) == '(')
	{
		at = p->at++;
		status = any_of(p, WC_LANG_OR, depth + 1, node);
		if (status != WC_OK)
			return status;
		if (peek(p) != ')')
			return p->at < p->text.len ? fail(p, p->at, "expected AND, OR or \")\"") :
				fail(p, at, "parenthesis is not closed");
		p->at++;
		return WC_OK;
	}
	skip = take_word(p, "SKIP");
	if (!skip && !take_word(p, "WHILE"))
		return simple(p, node);
	status = new_node(p, skip ? WC_LANG_SKIP : WC_LANG_WHILE, node);
	if (status != WC_OK)
		return status;
	(*node)->n = 1;
	(*node)->children = wc_arena_alloc_zero(p->arena, sizeof(WcLangNode *));
	if ((*node)->children == NULL)
		return no_memory(p);
	return one(p, depth + 1, &(*node)->children[0]);
}

/* Appends a child to the list. */
static WcStatus
adopt(Parser *p, WcLangNode *list, WcLangNode *child)
{
	if ((list->n & (list->n - 1)) == 0)
	{
		WcLangNode **children = wc_arena_alloc_zero(p->arena, sizeof(WcLangNode *) * (list->n == 0 ? 1 : 2 * list->n));

		if (children == NULL)
			return no_memory(p);
		if (list->n > 0)
			memcpy(children, list->children, sizeof(WcLangNode *) * list->n);
		list->children = children;
	}
	list->children[list->n++] = child;
	return WC_OK;
}

/* Parses filters with AND or OR (kind) between them; AND binds more tightly. */
static WcStatus
any_of(Parser *p, WcLangKind kind, uint32_t depth, WcLangNode **node)
{
	WcLangNode *list = NULL;

	for (;;)
	{
		WcLangNode *child = NULL;
		WcStatus	status = kind == WC_LANG_OR ? any_of(p, WC_LANG_AND, depth, &child) : one(p, depth, &child);
		bool		more;

		if (status != WC_OK)
			return status;
		more = take_word(p, kind == WC_LANG_OR ? "OR" : "AND");
		if (list == NULL && !more)
		{
			*node = child;
			return WC_OK;
		}
		if (list == NULL)
			status = new_node(p, kind, &list);
		if (status == WC_OK)
			status = adopt(p, list, child);
		if (status != WC_OK)
			return status;
		if (!more)
		{
			*node = list;
			return WC_OK;
		}
	}
}

WcStatus
wc_filterlang_check_length(size_t len, WcError *err)
{
	if (len > WC_FILTER_BYTES_MAX)
		return wc_error(err, WC_TOO_LARGE, "filter is too long: %zu bytes, the limit is %d", len, WC_FILTER_BYTES_MAX);
	return WC_OK;
}

WcStatus
wc_filterlang_parse(WcSlice text, WcArena *arena, WcLangNode **filter, WcError *err)
{
	Parser		p = {.text = text,.arena = arena,.err = err};
	WcStatus	status = wc_filterlang_check_length(text.len, err);

	*filter = NULL;
	if (status == WC_OK)
		status = any_of(&p, WC_LANG_OR, 1, filter);
	if (status == WC_OK && peek(&p) >= 0)
		status = fail(&p, p.at, "expected AND, OR or the end");
	return status;
}
