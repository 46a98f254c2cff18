/*
 * filterlang/parse.c: parses HBase's filter language into a tree.
 *
 *     filter      any { OR any }
 *     any         one { AND one }
 *     one         SKIP one | WHILE one | ( filter ) | NAME ( [ argument { , argument } ] )
 *     argument    piece { piece } | a word: number, true, false, < <= = != >= >
 *     piece       'text', with '' for a quote | X'hexadecimal digits'
 */
#include "base/buf.h"
#include "base/limits.h"
#include "filterlang/parser.h"

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
pass_blanks(WcParser *p)
{
	while (p->at < p->text.len && is_blank(p->text.data[p->at]))
		p->at++;
}

/* The next byte that is not blank; -1: there is none. */
static int
peek(WcParser *p)
{
	pass_blanks(p);
	return p->at < p->text.len ? p->text.data[p->at] : -1;
}

/* The name at the current position; empty: no name. */
static WcSlice
next_name(const WcParser *p)
{
	size_t		end = p->at;

	while (end < p->text.len && is_name(p->text.data[end]))
		end++;
	return wc_slice(p->text.data + p->at, end - p->at);
}

/* Takes the word, if the word comes next. */
static bool
take_word(WcParser *p, const char *word)
{
	pass_blanks(p);
	if (!wc_slice_eq(next_name(p), wc_slice_cstr(word)))
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
at_piece(const WcParser *p, bool *hex)
{
	const uint8_t *s = p->text.data + p->at;
	size_t		left = p->text.len - p->at;

	*hex = left > 1 && (s[0] == 'X' || s[0] == 'x') && s[1] == '\'';
	return *hex || (left > 0 && s[0] == '\'');
}

/* Decodes a piece of a text to bytes: '' is ' , or two digits are a byte.  p->at is on the opening quote. */
static WcStatus
piece(WcParser *p, bool hex, WcBuf *out)
{
	size_t		begin = p->at;
	const uint8_t *s = p->text.data;
	size_t		i = begin + 1;

	while (i < p->text.len && (s[i] != '\'' || (!hex && i + 1 < p->text.len && s[i + 1] == '\'')))
	{
		if (hex && (i + 1 == p->text.len || hex_digit(s[i]) < 0 || hex_digit(s[i + 1]) < 0))
			return wc_parse_fail(p, i, "expected two hexadecimal digits");
		if (hex)
			wc_buf_append_u8(out, (uint8_t) (hex_digit(s[i]) * 16 + hex_digit(s[i + 1])));
		else
			wc_buf_append_u8(out, s[i]);
		i += hex || s[i] == '\'' ? 2 : 1;
	}
	if (i >= p->text.len)
		return wc_parse_fail(p, begin, "text in quotes has no end");
	p->at = i + 1;
	return WC_OK;
}

/* A text: one piece or several adjacent pieces. */
static WcStatus
quoted(WcParser *p, WcArgument *a)
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
		status = wc_parse_no_memory(p);
	a->text = wc_arena_copy(p->arena, wc_buf_slice(&bytes));
	if (status == WC_OK && bytes.len > 0 && a->text.data == NULL)
		status = wc_parse_no_memory(p);
	wc_buf_free(&bytes);
	return status;
}

static WcStatus
one_argument(WcParser *p, WcArgument *a)
{
	size_t		end = p->at;
	bool		hex;

	a->at = p->at;
	if (at_piece(p, &hex))
		return quoted(p, a);
	while (end < p->text.len && !is_blank(p->text.data[end]) && strchr(",()'", p->text.data[end]) == NULL)
		end++;
	if (end == p->at)
		return wc_parse_fail(p, p->at, "expected an argument");
	a->text = wc_slice(p->text.data + p->at, end - p->at);
	p->at = end;
	return WC_OK;
}

/* Makes room for one more argument. */
static WcStatus
grow(WcParser *p, WcArguments *args)
{
	WcArgument *items;

	if (++p->arguments > WC_FILTER_VALUES_MAX)
		return wc_error(p->err, WC_TOO_LARGE, "filter has too many arguments: the limit is %d", WC_FILTER_VALUES_MAX);
	if ((args->n & (args->n - 1)) != 0)
		return WC_OK;
	items = wc_arena_alloc_zero(p->arena, sizeof(WcArgument) * (args->n == 0 ? 1 : 2 * args->n));
	if (items == NULL)
		return wc_parse_no_memory(p);
	if (args->n > 0)
		memcpy(items, args->items, sizeof(WcArgument) * args->n);
	args->items = items;
	return WC_OK;
}

/* Parses from behind the opening parenthesis to behind the closing parenthesis. */
static WcStatus
all_arguments(WcParser *p, WcArguments *args)
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
			return wc_parse_fail(p, p->at, "expected an argument");
		status = grow(p, args);
		if (status == WC_OK)
			status = one_argument(p, &args->items[args->n]);
		if (status != WC_OK)
			return status;
		args->n++;
		c = peek(p);
		if (c != ',' && c != ')')
			return wc_parse_fail(p, p->at, "expected \",\" or \")\"");
		p->at++;
		if (c == ')')
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
new_node(WcParser *p, WcLangKind kind, WcLangNode **node)
{
	if (++p->nodes > WC_FILTER_NODES_MAX)
		return wc_error(p->err, WC_TOO_LARGE, "filter is made of too many filters: the limit is %d", WC_FILTER_NODES_MAX);
	*node = wc_arena_alloc_zero(p->arena, sizeof(WcLangNode));
	if (*node == NULL)
		return wc_parse_no_memory(p);
	(*node)->kind = kind;
	return WC_OK;
}

/* NAME ( arguments ) */
static WcStatus
simple(WcParser *p, WcLangNode **node)
{
	WcArguments args = {.at = p->at};
	WcSlice		name = next_name(p);
	const Spec *spec = NULL;
	WcStatus	status;

	if (name.len == 0)
		return wc_parse_fail(p, p->at, "expected a filter");
	for (size_t i = 0; i < NSPECS && spec == NULL; i++)
	{
		if (wc_slice_eq(name, wc_slice_cstr(specs[i].name)))
			spec = &specs[i];
	}
	if (spec == NULL)
	{
		status = wc_error(p->err, WC_INVALID, "filter is not valid at position %zu: there is no filter \"%.*s\"",
						  wc_parse_position(p, p->at), (int) (name.len < 64 ? name.len : 64), (const char *) name.data);
		wc_error_hint(p->err, "Names of filters are spelled as in HBase, for example PrefixFilter.");
		return status;
	}
	p->at += name.len;
	if (peek(p) != '(')
		return wc_parse_fail(p, p->at, "expected \"(\"");
	p->at++;
	status = all_arguments(p, &args);
	if (status != WC_OK)
		return status;
	if (!takes(spec, args.n))
		return wc_error(p->err, WC_INVALID, "filter is not valid at position %zu: %s takes %s, not %u",
						wc_parse_position(p, args.at), spec->name, spec->wants, args.n);
	status = new_node(p, spec->kind, node);
	return status == WC_OK ? wc_parse_understand(p, &args, *node) : status;
}

/* --- filters of filters --------------------------------------------------------------------- */

static WcStatus any_of(WcParser *p, WcLangKind kind, uint32_t depth, WcLangNode **node);

static WcStatus
one(WcParser *p, uint32_t depth, WcLangNode **node)
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
			return p->at < p->text.len ? wc_parse_fail(p, p->at, "expected AND, OR or \")\"") :
				wc_parse_fail(p, at, "parenthesis is not closed");
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
		return wc_parse_no_memory(p);
	return one(p, depth + 1, &(*node)->children[0]);
}

/* Appends a child to the list. */
static WcStatus
adopt(WcParser *p, WcLangNode *list, WcLangNode *child)
{
	if ((list->n & (list->n - 1)) == 0)
	{
		WcLangNode **children = wc_arena_alloc_zero(p->arena, sizeof(WcLangNode *) * (list->n == 0 ? 1 : 2 * list->n));

		if (children == NULL)
			return wc_parse_no_memory(p);
		if (list->n > 0)
			memcpy(children, list->children, sizeof(WcLangNode *) * list->n);
		list->children = children;
	}
	list->children[list->n++] = child;
	return WC_OK;
}

/* Parses filters with AND or OR (kind) between them; AND binds more tightly. */
static WcStatus
any_of(WcParser *p, WcLangKind kind, uint32_t depth, WcLangNode **node)
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

static WcStatus
check_length(size_t len, WcError *err)
{
	if (len > WC_FILTER_BYTES_MAX)
		return wc_error(err, WC_TOO_LARGE, "filter is too long: %zu bytes, the limit is %d", len, WC_FILTER_BYTES_MAX);
	return WC_OK;
}

WcStatus
wc_filterlang_parse(WcSlice text, WcArena *arena, WcLangNode **filter, WcError *err)
{
	WcParser	p = {.text = text,.arena = arena,.err = err};
	WcStatus	status = check_length(text.len, err);

	*filter = NULL;
	if (status == WC_OK)
		status = any_of(&p, WC_LANG_OR, 1, filter);
	if (status == WC_OK && peek(&p) >= 0)
		status = wc_parse_fail(&p, p.at, "expected AND, OR or the end");
	return status;
}
