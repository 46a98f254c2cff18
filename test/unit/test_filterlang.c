/*
 * test/unit/test_filterlang.c: HBase's filter language: valid and invalid texts, their trees, and the results of scans
 * with such filters.
 *
 * test/conformance/filters.py replays the results of the real HBase for hundreds of filters.
 */
#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "filterlang/filterlang.h"
#include "filterlang/regex.h"

/* --- parsing ------------------------------------------------------------------------------- */

static void
print(WcBuf *out, const WcLangNode *node)
{
	const char *name = wc_filterlang_name(node->kind);

	wc_buf_append(out, name, strlen(name));
	if (node->kind > WC_LANG_WHILE)
		return;
	wc_buf_append(out, "[", 1);
	for (uint32_t i = 0; i < node->n; i++)
	{
		if (i > 0)
			wc_buf_append(out, " ", 1);
		print(out, node->children[i]);
	}
	wc_buf_append(out, "]", 1);
}

static void
assert_shape(const char *text, const char *shape)
{
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		out = WC_BUF_INIT;
	WcLangNode *node;
	WcError		err = {0};

	if (wc_filterlang_parse(wc_slice_cstr(text), &arena, &node, &err) != WC_OK)
		fail_msg("%s: %s", text, err.message);
	print(&out, node);
	wc_buf_append(&out, "", 1);
	assert_string_equal((const char *) out.data, shape);
	wc_buf_free(&out);
	wc_arena_free(&arena);
}

static void
test_precedence(void **state)
{
	assert_shape("KeyOnlyFilter()", "KeyOnlyFilter");
	assert_shape(" KeyOnlyFilter ( true )\n", "KeyOnlyFilter");
	assert_shape("PageFilter(1) AND KeyOnlyFilter() AND FirstKeyOnlyFilter()", "AND[PageFilter KeyOnlyFilter FirstKeyOnlyFilter]");
	assert_shape("PageFilter(1) OR KeyOnlyFilter() AND FirstKeyOnlyFilter()", "OR[PageFilter AND[KeyOnlyFilter FirstKeyOnlyFilter]]");
	assert_shape("PageFilter(1) AND KeyOnlyFilter() OR FirstKeyOnlyFilter()", "OR[AND[PageFilter KeyOnlyFilter] FirstKeyOnlyFilter]");
	assert_shape("(PageFilter(1) OR KeyOnlyFilter()) AND FirstKeyOnlyFilter()", "AND[OR[PageFilter KeyOnlyFilter] FirstKeyOnlyFilter]");
	assert_shape("SKIP PageFilter(1) AND KeyOnlyFilter()", "AND[SKIP[PageFilter] KeyOnlyFilter]");
	assert_shape("WHILE (PageFilter(1) AND SKIP KeyOnlyFilter())", "WHILE[AND[PageFilter SKIP[KeyOnlyFilter]]]");
	assert_shape("WHILE SKIP PageFilter(1)", "WHILE[SKIP[PageFilter]]");
	assert_shape("(((PageFilter(1))))", "PageFilter");
	assert_shape("(PageFilter(1)AND KeyOnlyFilter())OR(PageFilter(2))", "OR[AND[PageFilter KeyOnlyFilter] PageFilter]");
}

static void
test_arguments(void **state)
{
	WcArena		arena = WC_ARENA_INIT;
	WcLangNode *node;

	assert_int_equal(wc_filterlang_parse(wc_slice_cstr("PrefixFilter('it''s ''(AND)''')"), &arena, &node, NULL), WC_OK);
	assert_true(wc_slice_eq(node->value, wc_slice_cstr("it's '(AND)'")));
	assert_int_equal(wc_filterlang_parse(wc_slice_cstr("PrefixFilter(X'00fF' 'a' x'62')"), &arena, &node, NULL), WC_OK);
	assert_true(wc_slice_eq(node->value, wc_slice("\0\xFF" "ab", 4)));
	assert_int_equal(wc_filterlang_parse(wc_slice_cstr("PrefixFilter('')"), &arena, &node, NULL), WC_OK);
	assert_int_equal(node->value.len, 0);
	assert_int_equal(wc_filterlang_parse(wc_slice_cstr("SingleColumnValueFilter('f', 'q', >=, 'binary:a:b')"), &arena, &node, NULL), WC_OK);
	assert_true(wc_slice_eq(node->value, wc_slice_cstr("a:b")));
	assert_int_equal(node->op, WC_LANG_GREATER_OR_EQUAL);
	assert_false(node->flags[0]);
	assert_true(node->flags[1]);
	assert_int_equal(wc_filterlang_parse(wc_slice_cstr("SingleColumnValueFilter('f','q',!=,'long:-9223372036854775808',TRUE,false)"), &arena, &node, NULL), WC_OK);
	assert_true(node->number == INT64_MIN && node->flags[0] && !node->flags[1]);
	assert_int_equal(wc_filterlang_parse(wc_slice_cstr("TimestampsFilter(30, 9223372036854775807, 10)"), &arena, &node, NULL), WC_OK);
	assert_true(node->n == 3 && node->times[0] == 10 && node->times[2] == INT64_MAX);
	assert_int_equal(wc_filterlang_parse(wc_slice_cstr("MultipleColumnPrefixFilter('b', 'a', 'b')"), &arena, &node, NULL), WC_OK);
	assert_true(node->n == 2 && wc_slice_eq(node->texts[0], wc_slice_cstr("a")));
	wc_arena_free(&arena);
}

static void
test_refusals(void **state)
{
	static const struct
	{
		const char *text;
		const char *message;
	}			bad[] = {
		{"", "filter is not valid at position 1: expected a filter"},
		{"()", "filter is not valid at position 2: expected a filter"},
		{"PageFilter", "filter is not valid at position 11: expected \"(\""},
		{"pageFilter(1)", "filter is not valid at position 1: there is no filter \"pageFilter\""},
		{"PageFilter(1", "filter is not valid at position 13: expected \",\" or \")\""},
		{"PageFilter(1,)", "filter is not valid at position 14: expected an argument"},
		{"PageFilter(1 2)", "filter is not valid at position 14: expected \",\" or \")\""},
		{"PageFilter()", "filter is not valid at position 1: PageFilter takes 1 argument, not 0"},
		{"PageFilter('1')", "filter is not valid at position 12: expected a number between 0 and 9223372036854775807"},
		{"PageFilter(-1)", "filter is not valid at position 12: expected a number between 0 and 9223372036854775807"},
		{"ColumnCountGetFilter(2147483648)", "filter is not valid at position 22: expected a number between 0 and 2147483647"},
		{"PageFilter(99999999999999999999)", "filter is not valid at position 12: expected a number between 0 and 9223372036854775807"},
		{"PageFilter(1) PageFilter(2)", "filter is not valid at position 15: expected AND, OR or the end"},
		{"PageFilter(1) and PageFilter(2)", "filter is not valid at position 15: expected AND, OR or the end"},
		{"PageFilter(1) AND", "filter is not valid at position 18: expected a filter"},
		{"AND PageFilter(1)", "filter is not valid at position 1: there is no filter \"AND\""},
		{"(PageFilter(1)", "filter is not valid at position 1: parenthesis is not closed"},
		{"(PageFilter(1) PageFilter(2))", "filter is not valid at position 16: expected AND, OR or \")\""},
		{"PageFilter(1))", "filter is not valid at position 14: expected AND, OR or the end"},
		{"PrefixFilter('\xC3\xA9', a)", "filter is not valid at position 1: PrefixFilter takes 1 argument, not 2"},
		{"PrefixFilter('\xC3\xA9') x", "filter is not valid at position 19: expected AND, OR or the end"},
		{"PrefixFilter('a", "filter is not valid at position 14: text in quotes has no end"},
		{"PrefixFilter('a'')", "filter is not valid at position 14: text in quotes has no end"},
		{"PrefixFilter(a)", "filter is not valid at position 14: expected a text in single quotes"},
		{"PrefixFilter(X'0')", "filter is not valid at position 16: expected two hexadecimal digits"},
		{"RowFilter(<>, 'binary:a')", "filter is not valid at position 11: expected one of < <= = != >= >"},
		{"RowFilter(=, 'a')", "filter is not valid at position 14: expected a comparator: binary:, binaryprefix:, regexstring:, regexstringnocase:, substring: or long:"},
		{"RowFilter(<, 'substring:a')", "filter is not valid at position 11: a regexstring or substring comparator takes = or != only"},
		{"RowFilter(=, 'regexstring:(')", "filter is not valid at position 14: regular expression: missing closing parenthesis after byte 1"},
		{"RowFilter(=, 'regexstring:(a)[\\1]')", "filter is not valid at position 14: \\1 in a class of characters is not supported in a regular expression"},
		{"RowFilter(=, 'regexstring:\\c')", "filter is not valid at position 14: \\c wants a character of ASCII"},
		{"RowFilter(=, 'regexstring:[a&&b]')", "filter is not valid at position 14: intersection of classes of characters is not supported"},
		{"RowFilter(=, 'regexstring:a{x')", "filter is not valid at position 14: repetition is not {n}, {n,} or {n,m}: write \\{ for a brace"},
		{"RowFilter(=, 'regexstring:(*UTF)')", "filter is not valid at position 14: nothing is in front of * in a regular expression"},
		{"RowFilter(=, 'regexstring:(a)(?1)')", "filter is not valid at position 14: this kind of group is not supported in a regular expression"},
		{"RowFilter(=, 'regexstring:(a)(?-1)')", "filter is not valid at position 14: this kind of group is not supported in a regular expression"},
		{"RowFilter(=, 'regexstring:(?R)')", "filter is not valid at position 14: this kind of group is not supported in a regular expression"},
		{"RowFilter(=, 'regexstring:(?U)a+')", "filter is not valid at position 14: this kind of group is not supported in a regular expression"},
		{"RowFilter(=, 'long:1.5')", "filter is not valid at position 14: expected a number between -9223372036854775808 and 9223372036854775807 behind \"long:\""},
		{"KeyOnlyFilter(yes)", "filter is not valid at position 15: expected true or false"},
		{"FuzzyRowFilter('ab', '0')", "filter is not valid at position 22: the mask is not as long as the key before it"},
		{"FuzzyRowFilter('ab', '02')", "filter is not valid at position 22: a mask is made of 0, the byte is as in the key, and 1, any byte"},
		{"MultiRowRangeFilter('b', true, 'a', true)", "filter is not valid at position 21: no row is in this range"},
		{"DependentColumnFilter('f', 'q', true, =)", "filter is not valid at position 1: DependentColumnFilter takes 2, 3 or 5 arguments, not 4"}
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		WcArena		arena = WC_ARENA_INIT;
		WcLangNode *node;
		WcError		err = {0};

		assert_int_equal(wc_filterlang_parse(wc_slice_cstr(bad[i].text), &arena, &node, &err), WC_INVALID);
		assert_string_equal(err.message, bad[i].message);
		wc_arena_free(&arena);
	}
}

/* n times `each` between the first and the last; to be freed. */
static char *
repeated(const char *first, const char *each, int n, const char *last)
{
	char	   *text = malloc(strlen(first) + strlen(each) * (size_t) n + strlen(last) + 1);
	char	   *p = text + sprintf(text, "%s", first);

	assert_non_null(text);
	for (int i = 0; i < n; i++)
		p += sprintf(p, "%s", each);
	strcpy(p, last);
	return text;
}

static void
assert_parses(char *text, WcStatus status)
{
	WcArena		arena = WC_ARENA_INIT;
	WcLangNode *node;

	assert_int_equal(wc_filterlang_parse(wc_slice_cstr(text), &arena, &node, NULL), status);
	wc_arena_free(&arena);
	free(text);
}

static void
test_limits(void **state)
{
	assert_parses(repeated("", "(", WC_FILTER_DEPTH_MAX - 1, "PageFilter(1)"), WC_INVALID); /* not closed */
	assert_parses(repeated("", "(", 100000, ""), WC_TOO_LARGE);
	assert_parses(repeated("", "SKIP ", WC_FILTER_DEPTH_MAX - 1, "PageFilter(1)"), WC_OK);
	assert_parses(repeated("", "SKIP ", WC_FILTER_DEPTH_MAX, "PageFilter(1)"), WC_TOO_LARGE);
	assert_parses(repeated("", "PageFilter(1) AND ", WC_FILTER_NODES_MAX - 2, "PageFilter(1)"), WC_OK);
	assert_parses(repeated("", "PageFilter(1) AND ", WC_FILTER_NODES_MAX - 1, "PageFilter(1)"), WC_TOO_LARGE);
	assert_parses(repeated("TimestampsFilter(", "1, ", WC_FILTER_VALUES_MAX - 1, "1)"), WC_OK);
	assert_parses(repeated("TimestampsFilter(", "1, ", WC_FILTER_VALUES_MAX, "1)"), WC_TOO_LARGE);
	assert_parses(repeated("PrefixFilter('", "a", WC_FILTER_BYTES_MAX - 16, "')"), WC_OK);
	assert_parses(repeated("PrefixFilter('", "a", WC_FILTER_BYTES_MAX - 15, "')"), WC_TOO_LARGE);
}

/* --- regular expressions --------------------------------------------------------------------- */

static bool
finds(const char *pattern, WcRegexKind kind, WcSlice bytes)
{
	WcRegex    *regex;
	WcError		err = {0};
	bool		found;

	if (wc_regex_create(wc_slice_cstr(pattern), kind, &regex, &err) != WC_OK)
		fail_msg("%s: %s", pattern, err.message);
	assert_int_equal(wc_regex_find(regex, bytes, NULL, &found, &err), WC_OK);
	wc_regex_free(regex);
	return found;
}

static void
test_regex(void **state)
{
	assert_true(finds("b", WC_REGEX_JAVA, wc_slice_cstr("abc")));
	assert_false(finds("^b", WC_REGEX_JAVA, wc_slice_cstr("abc")));
	assert_true(finds("a.b", WC_REGEX_JAVA, wc_slice_cstr("a\nb")));
	assert_true(finds("^$", WC_REGEX_JAVA, wc_slice(NULL, 0)));
	assert_true(finds("^.$", WC_REGEX_JAVA, wc_slice_cstr("\xC3\xA9")));
	assert_true(finds("^\\u00e9$", WC_REGEX_JAVA, wc_slice_cstr("\xC3\xA9")));
	assert_true(finds("a(?=b)(?<!c)\\Q[\\E?", WC_REGEX_JAVA, wc_slice_cstr("ab")));
	assert_true(finds("^\\p{Alpha}\\P{Alpha}[\\p{Digit}x]$", WC_REGEX_JAVA, wc_slice_cstr("a-1")));
	assert_false(finds("\\p{Alpha}", WC_REGEX_JAVA, wc_slice_cstr("\xC3\xA9")));
	assert_true(finds("\\p{L}\\x{62}{2}\\0101", WC_REGEX_JAVA, wc_slice_cstr("\xC3\xA9" "bbA")));
	assert_true(finds("^[]a]+$", WC_REGEX_JAVA, wc_slice_cstr("a]")));
	assert_true(finds("[\\[a]", WC_REGEX_JAVA, wc_slice_cstr("[")));
	assert_false(finds("B", WC_REGEX_JAVA, wc_slice_cstr("abc")));
	assert_true(finds("B", WC_REGEX_JAVA_NOCASE, wc_slice_cstr("abc")));
	assert_true(finds("B.", WC_REGEX_TEXT_NOCASE, wc_slice_cstr("ab.c")));
	assert_false(finds("B.", WC_REGEX_TEXT_NOCASE, wc_slice_cstr("abc")));
	assert_true(finds("", WC_REGEX_TEXT_NOCASE, wc_slice_cstr("abc")));
	assert_true(finds("\xC3\x89", WC_REGEX_TEXT_NOCASE, wc_slice_cstr("\xC3\xA9")));

	/* numbers of groups; \c */
	assert_true(finds("^(a)\\10$", WC_REGEX_JAVA, wc_slice_cstr("aa0")));
	assert_true(finds("^((((((((((a))))))))))\\10$", WC_REGEX_JAVA, wc_slice_cstr("aa")));
	assert_true(finds("^(?:x)(?<n>a)(?=a)(?<=a)\\10$", WC_REGEX_JAVA, wc_slice_cstr("xaa0")));
	assert_true(finds("^\\cA\\ca[\\c!]$", WC_REGEX_JAVA, wc_slice_cstr("\x01!a")));

	/* bytes that are no UTF-8 are U+FFFD */
	assert_true(finds("^a\\uFFFDb$", WC_REGEX_JAVA, wc_slice_cstr("a\xFF" "b")));
	assert_true(finds("^..$", WC_REGEX_JAVA, wc_slice_cstr("\xE2\x82" "a")));
	assert_true(finds("^...$", WC_REGEX_JAVA, wc_slice_cstr("\xED\xA0\x80")));
}

/* Searches n letters a. */
static WcStatus
search_letters(const char *pattern, size_t n, const atomic_bool *cancel, bool *found, WcError *err)
{
	uint8_t    *letters = malloc(n);
	WcRegex    *regex;
	WcStatus	status;

	assert_non_null(letters);
	memset(letters, 'a', n);
	assert_int_equal(wc_regex_create(wc_slice_cstr(pattern), WC_REGEX_JAVA, &regex, err), WC_OK);
	status = wc_regex_find(regex, wc_slice(letters, n), cancel, found, err);
	wc_regex_free(regex);
	free(letters);
	return status;
}

/* Steps are counted over the whole search, wherever they are taken; linear searches of large values have enough. */
static void
test_regex_steps(void **state)
{
	static const char *const endless[] = {"(a+)+[bd]", "a*a*[yz]", "[a-z]+[0-9@]", "(?:a|aa)+[bd]", "(a*)*\\1[bd]", "a*?a*?a*?[bd]"};
	WcError		err = {0};
	bool		found;

	for (size_t i = 0; i < sizeof(endless) / sizeof(endless[0]); i++)
	{
		assert_int_equal(search_letters(endless[i], 100000, NULL, &found, &err), WC_TOO_LARGE);
		assert_string_equal(err.message, "regular expression takes too many steps");
	}
	/* in few bytes, too */
	assert_int_equal(search_letters("(a+)+[bd]", 50, NULL, &found, &err), WC_TOO_LARGE);
	assert_int_equal(search_letters("^(a+)(a+)a$", 512, NULL, &found, &err), WC_OK);
	assert_true(found);
	assert_int_equal(search_letters("a*a*[yz]", 300, NULL, &found, &err), WC_OK);
	assert_false(found);
	assert_int_equal(search_letters("^.*a.*$", 20000000, NULL, &found, &err), WC_OK);
	assert_true(found);
}

static void
test_regex_cancel(void **state)
{
	const atomic_bool cancel = true;
	WcError		err = {0};
	bool		found;

	assert_int_equal(search_letters("a*a*[yz]", 100000, &cancel, &found, &err), WC_CANCELLED);
	assert_string_equal(err.message, "search for a regular expression was cancelled");
}

/* --- scans --------------------------------------------------------------------------------------- */

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

static void
fill(Kit *kit, uint8_t packing)
{
	kit_open(kit);
	kit_create(kit, "t", packing, 2);
	kit_put(kit, "r1", 1, "a", 10, "1");
	kit_put(kit, "r1", 1, "a", 20, "5");
	kit_put(kit, "r1", 1, "ab", 10, "2");
	kit_put(kit, "r1", 2, "c", 10, "3");
	kit_put(kit, "r2", 1, "a", 10, "7");
	kit_put(kit, "r3", 2, "c", 20, "4");
	kit_put(kit, "s1", 1, "b", 10, "8");
	kit_commit(kit);
}

typedef struct Expected
{
	const char *filter;
	const char *rows;
} Expected;

/* Forwards. */
static const Expected expected[] = {
	{"PrefixFilter('r')", "r1{f:a=5 f:ab=2 g:c=3} r2{f:a=7} r3{g:c=4}"},
	{"InclusiveStopFilter('r2')", "r1{f:a=5 f:ab=2 g:c=3} r2{f:a=7}"},
	{"PageFilter(2)", "r1{f:a=5 f:ab=2 g:c=3} r2{f:a=7}"},
	{"PageFilter(0)", ""},
	{"RowFilter(>, 'binary:r2')", "r3{g:c=4} s1{f:b=8}"},
	{"RowFilter(=, 'substring:R')", "r1{f:a=5 f:ab=2 g:c=3} r2{f:a=7} r3{g:c=4}"},
	{"FamilyFilter(=, 'binary:g')", "r1{g:c=3} r3{g:c=4}"},
	{"QualifierFilter(=, 'binaryprefix:a')", "r1{f:a=5 f:ab=2} r2{f:a=7}"},
	{"ColumnPrefixFilter('ab')", "r1{f:ab=2}"},
	{"MultipleColumnPrefixFilter('b', 'c')", "r1{g:c=3} r3{g:c=4} s1{f:b=8}"},
	{"ColumnRangeFilter('ab', true, 'c', false)", "r1{f:ab=2} s1{f:b=8}"},
	{"ColumnRangeFilter('', true, 'ab', false)", "r1{f:a=5} r2{f:a=7}"},
	{"ColumnPaginationFilter(1, 1)", "r1{f:ab=2}"},
	{"ColumnPaginationFilter(1, 'ab')", "r1{f:ab=2} r3{g:c=4} s1{f:b=8}"},
	{"FirstKeyOnlyFilter()", "r1{f:a=5} r2{f:a=7} r3{g:c=4} s1{f:b=8}"},
	{"KeyOnlyFilter() AND PrefixFilter('r1')", "r1{f:a= f:ab= g:c=}"},
	{"TimestampsFilter(10)", "r1{f:a=1 f:ab=2 g:c=3} r2{f:a=7} s1{f:b=8}"},
	{"ValueFilter(>, 'binary:4')", "r1{f:a=5} r2{f:a=7} s1{f:b=8}"},
	{"ValueFilter(<, 'binary:2')", "r1{f:a=1}"},
	{"SingleColumnValueFilter('f', 'a', >=, 'binary:6')", "r2{f:a=7} r3{g:c=4} s1{f:b=8}"},
	{"SingleColumnValueFilter('f', 'a', >=, 'binary:5', true, true)", "r1{f:a=5 f:ab=2 g:c=3} r2{f:a=7}"},
	{"SingleColumnValueFilter('f', 'a', =, 'binary:1', true, false)", "r1{f:a=5 f:ab=2 g:c=3}"},
	{"SingleColumnValueExcludeFilter('f', 'a', >=, 'binary:5', true, true)", "r1{f:ab=2 g:c=3}"},
	{"ColumnValueFilter('g', 'c', !=, 'binary:3')", "r3{g:c=4}"},
	{"DependentColumnFilter('f', 'ab')", "r1{f:ab=2 g:c=3}"},
	{"DependentColumnFilter('f', 'ab', true, =, 'binary:2')", "r1{g:c=3}"},
	{"SKIP ValueFilter(!=, 'binary:2')", "r2{f:a=7} r3{g:c=4} s1{f:b=8}"},
	{"WHILE RowFilter(!=, 'binary:r3')", "r1{f:a=5 f:ab=2 g:c=3} r2{f:a=7}"},
	{"WHILE ValueFilter(!=, 'binary:2')", "r1{f:a=5}"},
	{"FuzzyRowFilter('?1', '10')", "r1{f:a=5 f:ab=2 g:c=3} s1{f:b=8}"},
	{"MultiRowRangeFilter('r1', false, 'r2', true, 's', true, '', false)", "r2{f:a=7} s1{f:b=8}"},
	/* behind the last range the AND is not asked any more, so its DependentColumnFilter knows no timestamp */
	{"ColumnPrefixFilter('c') OR (DependentColumnFilter('g', 'c') AND MultiRowRangeFilter('r1', true, 'r2', true))",
	"r1{f:ab=2 g:c=3}"},
	{"RowFilter(=, 'binary:r2') OR QualifierFilter(=, 'binary:c')", "r1{g:c=3} r2{f:a=7} r3{g:c=4}"},
	{"PrefixFilter('r') AND PageFilter(1) AND ColumnPrefixFilter('c')", "r1{g:c=3}"}
};

/* Backwards. */
static const Expected backwards[] = {
	{"PrefixFilter('r')", "r3{g:c=4} r2{f:a=7} r1{f:a=5 f:ab=2 g:c=3}"},
	{"InclusiveStopFilter('r3')", "s1{f:b=8} r3{g:c=4}"},
	{"PageFilter(2)", "s1{f:b=8} r3{g:c=4}"},
	{"MultiRowRangeFilter('r1', false, 'r2', true, 's', true, '', false)", "s1{f:b=8} r2{f:a=7}"},
	{"ColumnRangeFilter('ab', true, 'c', false)", "s1{f:b=8} r1{f:ab=2}"},
	{"SingleColumnValueFilter('f', 'a', >=, 'binary:5', true, true)", "r2{f:a=7} r1{f:a=5 f:ab=2 g:c=3}"},
	/* HBase does not say to what WHILE wraps that the scan is reversed */
	{"WHILE InclusiveStopFilter('r3')", ""}
};

static void
assert_scans(Kit *kit, WcScan *s, const Expected *e, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		WcReadPoint at = kit_point(kit, false);
		const char *rows;

		s->filter_text = wc_slice_cstr(e[i].filter);
		rows = kit_scan_as(kit, false, s);
		if (strcmp(rows, e[i].rows) != 0)
			fail_msg("%s\ngives    %s\nexpected %s", e[i].filter, rows, e[i].rows);
		rows = kit_scan_in_blocks(kit, s, &at, 1);
		if (strcmp(rows, e[i].rows) != 0)
			fail_msg("%s\nin blocks gives %s\nexpected        %s", e[i].filter, rows, e[i].rows);
	}
}

static void
test_each_filter(void **state)
{
	for (size_t p = 0; p < 2; p++)
	{
		Kit			kit;
		WcScan		s;

		fill(&kit, packings[p]);
		wc_scan_init(&s, kit.table);
		assert_scans(&kit, &s, expected, sizeof(expected) / sizeof(expected[0]));
		s.reversed = true;
		assert_scans(&kit, &s, backwards, sizeof(backwards) / sizeof(backwards[0]));
		kit_flush(&kit);
		s.reversed = false;
		assert_scans(&kit, &s, expected, sizeof(expected) / sizeof(expected[0]));
		kit_close(&kit);
	}
}

/* The scan's versions and limits count what the filter lets through. */
static void
test_limits_of_scans(void **state)
{
	Kit			kit;
	WcScan		s;
	WcColumn	column = {.family = 2,.kind = WC_COLUMN_FAMILY};

	fill(&kit, WC_PACKING_CELL);
	wc_scan_init(&s, kit.table);
	s.filter_text = wc_slice_cstr("ValueFilter(<, 'binary:5')");
	assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:a=1 f:ab=2 g:c=3} r3{g:c=4}");
	s.row_limit = 1;
	assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:a=1 f:ab=2 g:c=3}");
	s.row_limit = 0;
	s.column_limit = 1;
	assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:a=1 g:c=3} r3{g:c=4}");
	s.column_offset = 1;
	assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:ab=2}");
	s.column_limit = s.column_offset = 0;
	s.versions = 2;
	s.filter_text = wc_slice_cstr("ColumnPrefixFilter('a')");
	assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:a=5 f:a=1 f:ab=2} r2{f:a=7}");

	/* a column that is not read is missing */
	s.versions = 1;
	s.ncolumns = 1;
	s.columns = &column;
	s.filter_text = wc_slice_cstr("SingleColumnValueFilter('f', 'a', =, 'binary:5', true, true)");
	assert_string_equal(kit_scan_as(&kit, false, &s), "");
	kit_close(&kit);
}

/* Several Gets are filtered one by one. */
static void
test_gets(void **state)
{
	Kit			kit;
	WcScan		s;
	WcRange		ranges[3];
	static const char *const rows[] = {"r1", "r2", "s1"};

	fill(&kit, WC_PACKING_ROW);
	wc_scan_init(&s, kit.table);
	for (int i = 0; i < 3; i++)
		ranges[i] = (WcRange) {wc_slice_cstr(rows[i]), wc_slice_cstr(rows[i]), true, true};
	s.nranges = 3;
	s.ranges = ranges;
	s.filter_text = wc_slice_cstr("WHILE QualifierFilter(=, 'binary:a')");
	assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:a=5} r2{f:a=7}");
	s.filter_text = wc_slice_cstr("ColumnCountGetFilter(1)");
	assert_string_equal(kit_scan_as(&kit, false, &s), "r1{f:a=5} r2{f:a=7} s1{f:b=8}");
	kit_close(&kit);
}

/* A block with the rows found is sent before thousands of rows more are rejected. */
static void
test_pauses(void **state)
{
	Kit			kit;
	WcScan		s;
	WcScanner  *scanner;
	WcReadPoint at;
	WcBuf		block = WC_BUF_INIT;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_put(&kit, "a", 1, "q", 10, "1");
	for (int i = 0; i < 5000; i++)
	{
		char		row[16];

		snprintf(row, sizeof(row), "b%04d", i);
		kit_put(&kit, row, 1, "q", 10, "2");
	}
	kit_commit(&kit);
	wc_scan_init(&s, kit.table);
	s.filter_text = wc_slice_cstr("ValueFilter(=, 'binary:1')");
	at = kit_point(&kit, false);
	assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &s, &at, &scanner, &kit.err));
	assert_int_equal(wc_scanner_next(scanner, &block, WC_BLOCK_MAX, 0, &kit.err), WC_OK);
	assert_int_equal(wc_scanner_rows(scanner).rows_returned, 1);
	assert_true(wc_scanner_rows(scanner).rows_examined < 5000);
	assert_int_equal(wc_scanner_next(scanner, &block, WC_BLOCK_MAX, 0, &kit.err), WC_END);
	assert_int_equal(wc_scanner_rows(scanner).rows_returned, 1);
	assert_int_equal(wc_scanner_rows(scanner).rows_examined, 5001);
	wc_scanner_close(scanner);
	wc_buf_free(&block);

	/* a range that the filter makes smaller */
	s.filter_text = wc_slice_cstr("PrefixFilter('b001') AND KeyOnlyFilter()");
	assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &s, &at, &scanner, &kit.err));
	assert_int_equal(wc_scanner_next(scanner, &block, WC_BLOCK_MAX, 0, &kit.err), WC_END);
	assert_int_equal(wc_scanner_rows(scanner).rows_returned, 10);
	assert_int_equal(wc_scanner_rows(scanner).rows_examined, 10);
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	kit_close(&kit);
}

static void
test_failures(void **state)
{
	Kit			kit;
	WcScan		s;
	WcScanner  *scanner;
	WcReadPoint at;
	WcBuf		block = WC_BUF_INIT;

	fill(&kit, WC_PACKING_ROW);
	wc_scan_init(&s, kit.table);
	at = kit_point(&kit, false);
	s.filter_text = wc_slice_cstr("PageFilter(x)");
	assert_int_equal(wc_scanner_open(wc_engine_storage(kit.engine), &s, &at, &scanner, &kit.err), WC_INVALID);
	s.filter_text = wc_slice_cstr("ValueFilter(=, 'long:1')");
	assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &s, &at, &scanner, &kit.err));
	assert_int_equal(wc_scanner_next(scanner, &block, 1000, 0, &kit.err), WC_BAD_DATA);
	assert_string_equal(kit.err.message, "comparator \"long:\" of a filter cannot compare 1 byte");
	wc_scanner_close(scanner);
	wc_buf_free(&block);
	kit_close(&kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_regex),
		cmocka_unit_test(test_regex_steps),
		cmocka_unit_test(test_regex_cancel),
		cmocka_unit_test(test_each_filter),
		cmocka_unit_test(test_limits_of_scans),
		cmocka_unit_test(test_gets),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_failures)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
