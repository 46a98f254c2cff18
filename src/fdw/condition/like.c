/*
 * fdw/condition/like.c: the prefix that a LIKE pattern starts with.
 */
#include "postgres.h"

#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "fdw/condition/like.h"

Node *
wc_like_start_of(Node *expr)
{
	const FuncExpr *func = (const FuncExpr *) expr;
	Node	   *column;

	if (expr == NULL || !IsA(expr, FuncExpr) ||
		(func->funcid != F_LEFT && func->funcid != F_SUBSTR_TEXT_INT4_INT4 && func->funcid != F_SUBSTRING_TEXT_INT4_INT4))
		return NULL;
	if (func->funcid != F_LEFT)
	{
		const Const *from = lsecond(func->args);

		if (!IsA(from, Const) || from->constisnull || DatumGetInt32(from->constvalue) > 1)
			return NULL;
	}
	column = linitial(func->args);
	/* type char without the blanks at the end, as in keys */
	if (IsA(column, FuncExpr) && ((FuncExpr *) column)->funcid == F_TEXT_BPCHAR)
		column = linitial(((FuncExpr *) column)->args);
	return column;
}

WcLike
wc_like_prefix(const char *pattern, size_t len, char *prefix, size_t *prefix_len)
{
	size_t		n = 0;

	for (size_t i = 0; i < len; i++)
	{
		if (pattern[i] == '%' || pattern[i] == '_')
		{
			*prefix_len = n;
			return pattern[i] == '%' && i + 1 == len ? WC_LIKE_PREFIX : WC_LIKE_OTHER;
		}
		if (pattern[i] == '\\')
		{
			if (++i == len)
			{
				/* LIKE itself will raise the error */
				*prefix_len = n;
				return WC_LIKE_OTHER;
			}
		}
		prefix[n++] = pattern[i];
	}
	*prefix_len = n;
	return WC_LIKE_EQUAL;
}

Datum
wc_like_value(Datum value, WcKeyOp *op, bool *exact)
{
	text	   *pattern = DatumGetTextPP(value);
	size_t		len = VARSIZE_ANY_EXHDR(pattern);
	char	   *prefix = palloc(len + 1);
	size_t		prefix_len;
	WcLike		like = wc_like_prefix(VARDATA_ANY(pattern), len, prefix, &prefix_len);

	if (like == WC_LIKE_OTHER)
		*exact = false;
	*op = like == WC_LIKE_EQUAL ? WC_KEY_EQ : WC_KEY_PREFIX;
	return PointerGetDatum(cstring_to_text_with_len(prefix, prefix_len));
}
