/*
 * fdw/relation/salt.c: the options salt_buckets and salt_by.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

#include "fdw/relation/salt.h"

static void pg_attribute_noreturn()
salt_error(const char *message, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"salt_by\": %s", message),
			 errhint("%s", hint)));
}

/* --- the option alone ----------------------------------------------------------- */

/* The text between the parentheses of minute(...), or NULL. */
static char *
minute_argument(const char *value)
{
	const char *p = value + strspn(value, " \t\r\n");
	size_t		len;

	if (pg_strncasecmp(p, "minute", 6) != 0)
		return NULL;
	p += 6;
	p += strspn(p, " \t\r\n");
	if (*p++ != '(')
		return NULL;
	len = strlen(p);
	while (len > 0 && strchr(" \t\r\n", p[len - 1]) != NULL)
		len--;
	return len > 0 && p[len - 1] == ')' ? pnstrdup(p, len - 1) : NULL;
}

void
wc_salt_by_parse(const char *value, WcSaltBy *by)
{
	char	   *argument = minute_argument(value);
	char	   *names = argument ? argument : pstrdup(value);

	by->minute = argument != NULL;
	if (!SplitIdentifierString(names, ',', &by->columns) || by->columns == NIL ||
		(by->minute && list_length(by->columns) != 1))
		salt_error(psprintf("\"%s\"", value),
				   "It is a list of key columns, quoted as in SQL where that is needed, or minute(column).");
}

char *
wc_salt_by_renamed(const WcSaltBy *by, const char *old_name, const char *new_name)
{
	StringInfoData s;
	bool		found = false;
	ListCell   *lc;

	initStringInfo(&s);
	foreach(lc, by->columns)
	{
		const char *name = lfirst(lc);
		bool		this = strcmp(name, old_name) == 0;

		found |= this;
		appendStringInfo(&s, "%s%s", s.len > 0 ? ", " : "", quote_identifier(this ? new_name : name));
	}
	if (!found)
		return NULL;
	return by->minute ? psprintf("minute(%s)", s.data) : s.data;
}

/* --- together with the columns --------------------------------------------------- */

static int
key_part(const WcRelation *wrel, const char *name)
{
	for (int i = 0; i < wrel->natts; i++)
	{
		const WcRelColumn *col = &wrel->columns[i];

		if (col->role == WC_ROLE_NONE || strcmp(NameStr(col->name), name) != 0)
			continue;
		if (col->role == WC_ROLE_KEY)
			return col->key_no;
		salt_error(psprintf("column \"%s\" of foreign table \"%s\" is no part of the row key", name, wrel->relname),
				   "The salt follows from the row key alone.");
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of foreign table \"%s\" does not exist", name, wrel->relname),
			 errdetail("The option salt_by names it.")));
	return -1;					/* not reached */
}

/* The salt is the minute of this part. */
static void
init_minute(WcRelation *wrel, int part)
{
	const WcCodec *codec = &wrel->columns[wrel->keys[part]].codec;
	WcSalt	   *salt = &wrel->key_layout.salt;
	bool		ordered = codec->spec.encoding == WC_ENCODING_ORDERED;

	if (codec->spec.type != TIMESTAMPOID && codec->spec.type != TIMESTAMPTZOID)
		salt_error(psprintf("column \"%s\" of foreign table \"%s\" is of type %s", codec->spec.column, wrel->relname,
							format_type_be(codec->spec.type)),
				   "minute(column) takes a timestamp, with or without time zone.");
	if (!ordered && codec->spec.encoding != WC_ENCODING_BINARY)
		salt_error(psprintf("column \"%s\" of foreign table \"%s\" has encoding \"%s\"", codec->spec.column,
							wrel->relname, wc_encoding_name(codec->spec.encoding)),
				   "minute(column) takes a timestamp with encoding ordered or binary.");
	if (salt->buckets > WC_MINUTES_OF_HOUR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"salt_buckets\": \"%u\"", salt->buckets),
				 errhint("An hour has %d minutes: with minute(column) there can be no more buckets.",
						 WC_MINUTES_OF_HOUR)));
	salt->kind = WC_SALT_MINUTE;
	salt->twos_complement = codec->order == WC_ORDER_SIGNED;
	salt->per_minute = ordered ? USECS_PER_MINUTE : USECS_PER_MINUTE / 1000;
}

void
wc_salt_init(WcRelation *wrel, int buckets, const WcSaltBy *by)
{
	WcSalt	   *salt = &wrel->key_layout.salt;
	bool	   *parts;
	ListCell   *lc;

	if (wrel->nkeys == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"salt_buckets\" needs a row key of parts"),
				 errhint("Foreign table \"%s\" has its row key as it is stored only, which begins with the salt.",
						 wrel->relname)));
	parts = palloc0(sizeof(bool) * wrel->nkeys);
	salt->buckets = (uint32) buckets;
	salt->kind = WC_SALT_HASH;
	salt->parts = parts;
	foreach(lc, by->columns)
	{
		const char *name = lfirst(lc);
		int			part = key_part(wrel, name);

		if (parts[part])
			salt_error(psprintf("column \"%s\" is named twice", name), "Each counts once, in the order of the row key.");
		parts[part] = true;
		if (by->minute)
			init_minute(wrel, part);
	}
	if (by->columns == NIL)
		memset(parts, true, sizeof(bool) * wrel->nkeys);
}
