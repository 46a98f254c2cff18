/*
 * engine/statsfile.c: counters over a restart.
 *
 * A text: a head, "widecol statistics", the store's id and how many numbers the two structs have
 * (model/statistics.h); then "engine" and its numbers; then a line a family: "family", the ids of
 * table and family, the generation, its numbers.
 */
#include "engine/statsfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "engine/store/state.h"

#define HEAD "widecol statistics %08" PRIx32 " %zu %zu\n"
#define HEAD_MAX 80

static void
make_head(const WcEngine *engine, char *head)
{
	snprintf(head, HEAD_MAX, HEAD, engine->identity.store, WC_STATISTICS_NUMBERS(WcEngineStatistics),
			 WC_STATISTICS_NUMBERS(WcFamilyStatistics));
}

/* --- writing --------------------------------------------------------------------*/

static void
append_text(WcBuf *buf, const char *text)
{
	wc_buf_append(buf, text, strlen(text));
}

static void
append_numbers(WcBuf *buf, const uint64_t *numbers, size_t n)
{
	char		text[32];

	for (size_t i = 0; i < n; i++)
	{
		snprintf(text, sizeof(text), " %" PRIu64, numbers[i]);
		append_text(buf, text);
	}
	append_text(buf, "\n");
}

static void
append_family(WcBuf *buf, const WcStore *store)
{
	WcFamilyStatistics s = {0};
	char		text[64];

	wc_storecounts_get(&store->counts, &s);
	snprintf(text, sizeof(text), "family %" PRIu32 " %" PRIu32 " %" PRIu32, store->table_id, store->family_id, store->generation);
	append_text(buf, text);
	append_numbers(buf, (const uint64_t *) &s, WC_STATISTICS_NUMBERS(s));
}

void
wc_statsfile_leave(WcEngine *engine, const char *path) WC_UNCHECKED
{
	const WcCatalog *catalog = &engine->catalog;
	WcEngineStatistics s = {0};
	WcBuf		buf = WC_BUF_INIT;
	char		head[HEAD_MAX];
	WcError		err;
	WcStatus	status;

	make_head(engine, head);
	append_text(&buf, head);
	wc_counts_get(&engine->counts, &s);
	append_text(&buf, "engine");
	append_numbers(&buf, (const uint64_t *) &s, WC_STATISTICS_NUMBERS(s));
	for (size_t t = 0; t < catalog->ntables; t++)
	{
		for (uint32_t i = 0; i < catalog->tables[t]->desc.nfamilies; i++)
			append_family(&buf, catalog->tables[t]->stores[i]);
	}
	wc_buf_append_u8(&buf, 0);
	status = wc_buf_status(&buf, "statistics", &err);
	if (status == WC_OK)
		status = wc_file_replace_text(path, (const char *) buf.data, &err);
	if (status != WC_OK)
		wc_log(WC_LOG_WARNING, "statistics are not kept: %s", err.message);
	wc_buf_free(&buf);
}

/* --- reading --------------------------------------------------------------------*/

/* The next n numbers of a line; false: it has others. */
static bool
take_numbers(char **at, uint64_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		char	   *end;

		if (**at != ' ')
			return false;
		errno = 0;
		numbers[i] = strtoull(*at, &end, 10);
		if (end == *at || errno != 0)
			return false;
		*at = end;
	}
	return true;
}

static bool
take_word(char **at, const char *word)
{
	size_t		len = strlen(word);

	if (strncmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

/* A family that does not exist any more is skipped. */
static bool
take_family(WcEngine *engine, char **at)
{
	uint64_t	ids[3];
	WcFamilyStatistics s;
	WcTable    *table;
	WcStore    *store;

	if (!take_numbers(at, ids, 3) || !take_numbers(at, (uint64_t *) &s, WC_STATISTICS_NUMBERS(s)))
		return false;
	table = wc_catalog_table(engine, (uint32_t) ids[0]);
	store = table != NULL ? wc_table_store(table, (uint32_t) ids[1]) : NULL;
	if (store != NULL && store->generation == ids[2])
		wc_storecounts_set(&store->counts, &s);
	wc_table_unref(table);
	return take_word(at, "\n");
}

/* False: the text has a wrong line; the lines before it have been taken. */
static bool
take_text(WcEngine *engine, char *at)
{
	WcEngineStatistics s;
	char		head[HEAD_MAX];

	make_head(engine, head);
	if (!take_word(&at, head) || !take_word(&at, "engine") ||
		!take_numbers(&at, (uint64_t *) &s, WC_STATISTICS_NUMBERS(s)) || !take_word(&at, "\n"))
		return false;
	wc_counts_set(&engine->counts, &s);
	while (*at != '\0')
	{
		if (!take_word(&at, "family") || !take_family(engine, &at))
			return false;
	}
	return true;
}

void
wc_statsfile_take(WcEngine *engine, const char *path)
{
	struct stat info;
	char	   *text;
	WcError		err;
	WcStatus	status;

	if (stat(path, &info) != 0)
		return;					/* there is none, mostly */
	text = malloc((size_t) info.st_size + 2);
	if (text == NULL)
		status = wc_error(&err, WC_NO_MEMORY, "out of memory");
	else
		status = wc_file_read_text(path, text, (size_t) info.st_size + 2, &err);
	if (status == WC_OK && !take_text(engine, text))
		status = wc_error(&err, WC_CORRUPT, "file \"%s\" is of another store or build, or damaged", path);
	if (status != WC_OK)
		wc_log(WC_LOG_INFO, "statistics begin anew: %s", err.message);
	if (unlink(path) != 0)
		wc_log(WC_LOG_WARNING, "could not remove file \"%s\": %s", path, strerror(errno));
	free(text);
}
