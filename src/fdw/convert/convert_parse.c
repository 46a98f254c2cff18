/*
 * fdw/convert/convert_parse.c: text between the database's encoding and UTF-8, and values of their text forms.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "fdw/convert/convert_internal.h"

WcSlice
wc_text_to_utf8(const char *s, size_t len)
{
	char	   *utf8;

	if (wc_bytes_are_same())
		return wc_slice(s, len);
	utf8 = pg_server_to_any(s, (int) len, PG_UTF8);
	return wc_slice(utf8, utf8 == s ? len : strlen(utf8));
}

char *
wc_text_from_utf8(WcSlice s)
{
	char	   *copy;

	if (s.len > MaxAllocSize - 1 || !wc_is_utf8(s))
		ereport(ERROR,
				(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
				 errmsg("invalid byte sequence for encoding \"UTF8\"")));
	copy = pnstrdup(s.len > 0 ? (const char *) s.data : "", s.len);
	if (wc_bytes_are_same())
		return copy;
	return pg_any_to_server(copy, (int) s.len, PG_UTF8);
}

/* --- the type's input function ------------------------------------------------- */

/* Does the error say that the string is no value, of this type or of one inside it?  A
 * name that stands for nothing any more (regclass) is among them. */
static bool
is_about_value(int sqlerrcode)
{
	switch (ERRCODE_TO_CATEGORY(sqlerrcode))
	{
		case ERRCODE_DATA_EXCEPTION:
		case ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION:
		case ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION:
			return true;
		default:
			return false;
	}
}

bool
wc_codec_parse(WcCodec *codec, char *string, Datum *value)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool ok = true;
	volatile int level = 0;

	PG_TRY();
	{
		char	   *s = wc_text_from_utf8(wc_slice_cstr(string));

		if (codec->nested != NULL)
			codec->guards = wc_nested_guards(codec->nested);
		level = wc_form_guard(codec->guards);
		if (codec->nested != NULL)
			*value = wc_nested_in(codec->nested, s);
		else
			*value = wc_input_call(&codec->in, s);
		wc_form_unguard(level);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		/*
		 * The caller raises an error of its own, which says more, or goes on (widecol.on_undecodable, rows that are
		 * read ahead).  No function of a user's has run, so only the settings have to be set back.
		 */
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (!is_about_value(error->sqlerrcode))
			PG_RE_THROW();
		wc_form_unguard(level);
		FlushErrorState();
		codec->problem = error->message;
		ok = false;
	}
	PG_END_TRY();
	return ok;
}
