/*
 * filterlang/argument.c: the arguments of a filter as values: texts, flags, numbers, comparisons, ranges.
 */
#include <stdlib.h>

#include "filterlang/parser.h"
#include "filterlang/regex.h"

/* --- single values -------------------------------------------------------------------- */

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

static WcStatus
get_text(WcParser *p, const WcArgument *a, WcSlice *text)
{
	if (!a->quoted)
		return wc_parse_fail(p, a->at, "expected a text in single quotes");
	*text = a->text;
	return WC_OK;
}

static WcStatus
get_flag(WcParser *p, const WcArgument *a, bool *flag)
{
	*flag = is_word_nocase(a->text, "true");
	if (a->quoted || !(*flag || is_word_nocase(a->text, "false")))
		return wc_parse_fail(p, a->at, "expected true or false");
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
get_number(WcParser *p, const WcArgument *a, int64_t max, int64_t *number)
{
	if (!a->quoted && read_number(a->text, false, max, number))
		return WC_OK;
	return wc_parse_fail(p, a->at, max == INT32_MAX ? "expected a number between 0 and 2147483647" :
				"expected a number between 0 and 9223372036854775807");
}

static WcStatus
get_op(WcParser *p, const WcArgument *a, WcLangOp *op)
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
		if (wc_slice_eq(a->text, wc_slice_cstr(ops[i].word)))
		{
			*op = ops[i].op;
			return WC_OK;
		}
	}
	return wc_parse_fail(p, a->at, "expected one of < <= = != >= >");
}

/* Is the argument a valid regular expression?  read/filter compiles the expression again. */
static WcStatus
check_regex(WcParser *p, const WcArgument *a, const WcLangNode *node)
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
	return wc_parse_fail(p, a->at, why.message);
}

static WcStatus
get_comparator(WcParser *p, const WcArgument *a, WcLangNode *node)
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
		return wc_parse_fail(p, a->at, "expected a comparator in single quotes");
	while (i < n && !wc_slice_starts_with(a->text, wc_slice_cstr(comparators[i].word)))
		i++;
	if (i == n)
		return wc_parse_fail(p, a->at, "expected a comparator: binary:, binaryprefix:, regexstring:, regexstringnocase:, substring: or long:");
	skip = strlen(comparators[i].word);
	node->comparator = comparators[i].comparator;
	node->value = wc_slice(a->text.data + skip, a->text.len - skip);
	if (node->comparator == WC_LANG_REGEX || node->comparator == WC_LANG_REGEX_NOCASE)
		return check_regex(p, a, node);
	if (node->comparator == WC_LANG_LONG && !read_number(node->value, true, INT64_MAX, &node->number))
		return wc_parse_fail(p, a->at, "expected a number between -9223372036854775808 and 9223372036854775807 behind \"long:\"");
	return WC_OK;
}

/* Parses an operator and a comparator, the arguments a[0] and a[1]. */
static WcStatus
get_comparison(WcParser *p, const WcArgument *a, WcLangNode *node)
{
	WcStatus	status = get_op(p, a, &node->op);

	if (status == WC_OK)
		status = get_comparator(p, a + 1, node);
	if (status != WC_OK || node->kind == WC_LANG_DEPENDENT || node->op == WC_LANG_EQUAL || node->op == WC_LANG_NOT_EQUAL ||
		!(node->comparator == WC_LANG_REGEX || node->comparator == WC_LANG_REGEX_NOCASE ||
		  node->comparator == WC_LANG_SUBSTRING))
		return status;
	return wc_parse_fail(p, a->at, "a regexstring or substring comparator takes = or != only");
}

static WcStatus
get_column(WcParser *p, const WcArgument *a, WcLangNode *node)
{
	WcStatus	status = get_text(p, a, &node->family);

	return status == WC_OK ? get_text(p, a + 1, &node->qualifier) : status;
}

/* --- filters with many arguments ------------------------------------------------------------ */

static WcStatus
get_prefixes(WcParser *p, const WcArguments *args, WcLangNode *node)
{
	node->texts = wc_arena_alloc_zero(p->arena, sizeof(WcSlice) * (args->n + 1));
	if (node->texts == NULL)
		return wc_parse_no_memory(p);
	for (uint32_t i = 0; i < args->n; i++)
	{
		WcStatus	status = get_text(p, &args->items[i], &node->texts[i]);

		if (status != WC_OK)
			return status;
	}
	if (args->n > 0)
		qsort(node->texts, args->n, sizeof(WcSlice), wc_slice_compare);
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
get_times(WcParser *p, const WcArguments *args, WcLangNode *node)
{
	node->times = wc_arena_alloc_zero(p->arena, sizeof(int64_t) * (args->n + 1));
	if (node->times == NULL)
		return wc_parse_no_memory(p);
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
get_fuzzy(WcParser *p, const WcArguments *args, WcLangNode *node)
{
	node->texts = wc_arena_alloc_zero(p->arena, sizeof(WcSlice) * args->n);
	if (node->texts == NULL)
		return wc_parse_no_memory(p);
	for (; node->n < args->n; node->n++)
	{
		const WcArgument *a = &args->items[node->n];
		WcSlice    *text = &node->texts[node->n];
		WcStatus	status = get_text(p, a, text);

		if (status != WC_OK)
			return status;
		if (node->n % 2 == 0)
			continue;
		if (text->len != text[-1].len)
			return wc_parse_fail(p, a->at, "the mask is not as long as the key before it");
		for (size_t i = 0; i < text->len; i++)
		{
			if (text->data[i] != '0' && text->data[i] != '1')
				return wc_parse_fail(p, a->at, "a mask is made of 0, the byte is as in the key, and 1, any byte");
		}
	}
	return WC_OK;
}

static WcStatus
get_ranges(WcParser *p, const WcArguments *args, WcLangNode *node)
{
	node->texts = wc_arena_alloc_zero(p->arena, sizeof(WcSlice) * args->n);
	node->inclusive = wc_arena_alloc_zero(p->arena, sizeof(bool) * args->n);
	if (node->texts == NULL || node->inclusive == NULL)
		return wc_parse_no_memory(p);
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
			return wc_parse_fail(p, args->items[2 * i].at, "no row is in this range");
	}
	return WC_OK;
}

static WcStatus
get_column_page(WcParser *p, const WcArgument *a, WcLangNode *node)
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
get_range(WcParser *p, const WcArgument *a, WcLangNode *node)
{
	WcStatus	status = WC_OK;

	node->texts = wc_arena_alloc_zero(p->arena, sizeof(WcSlice) * 2);
	if (node->texts == NULL)
		return wc_parse_no_memory(p);
	for (node->n = 0; node->n < 2 && status == WC_OK; node->n++)
	{
		status = get_text(p, &a[2 * node->n], &node->texts[node->n]);
		if (status == WC_OK)
			status = get_flag(p, &a[2 * node->n + 1], &node->flags[node->n]);
	}
	return status;
}

static WcStatus
get_single_value(WcParser *p, const WcArguments *args, WcLangNode *node)
{
	const WcArgument *a = args->items;
	WcStatus	status = get_column(p, a, node);

	node->flags[1] = true;
	if (status == WC_OK)
		status = get_comparison(p, a + 2, node);
	for (uint32_t i = 4; i < args->n && status == WC_OK; i++)
		status = get_flag(p, &a[i], &node->flags[i - 4]);
	return status;
}

static WcStatus
get_dependent(WcParser *p, const WcArguments *args, WcLangNode *node)
{
	const WcArgument *a = args->items;
	WcStatus	status = get_column(p, a, node);

	if (status == WC_OK && args->n > 2)
		status = get_flag(p, a + 2, &node->flags[0]);
	if (status == WC_OK && args->n > 3)
		status = get_comparison(p, a + 3, node);
	return status;
}

WcStatus
wc_parse_understand(WcParser *p, const WcArguments *args, WcLangNode *node)
{
	const WcArgument *a = args->items;
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
