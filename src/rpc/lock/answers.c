/*
 * rpc/lock/answers.c: which Gets were asked for, and which rows were written since.
 */
#include "rpc/lock/answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "read/scan/scanner.h"

/* Tables share so many pairs of places, by their ids: a place has the table that was asked for last.  A table's Gets without values,
 * which only find out that a row exists, have a place of their own. */
#define TABLES 64

/* Each Get that the engine had to answer, and each answer in advance that a session has found, allows so many answers in
 * advance; a table has at most so many that are allowed. */
#define ALLOWED_BY_GET 8
#define ALLOWED_MAX 256

/* Rows that wait for their answers: further ones are not noted, nor are those with longer keys. */
#define ROWS_MAX 32
#define ROW_BYTES_MAX 256

typedef struct Asked
{
	uint32_t	table_id;		/* 0: none */
	uint32_t	database;
	uint32_t	allowed;		/* answers in advance */
	uint32_t	found;			/* of them, as last read (wc_getcache_found_ahead) */
	WcBuf		get;
} Asked;

typedef struct Written
{
	uint32_t	table_id;
	bool		key_only;
	uint32_t	len;
	uint8_t		row[ROW_BYTES_MAX];
} Written;

struct WcAnswers
{
	WcEngine   *engine;
	WcGetCache *cache;
	WcMutex		mutex;
	Asked		asked_for[TABLES][2] WC_GUARDED_BY(&mutex);	/* with values, without */
	Written		rows[ROWS_MAX] WC_GUARDED_BY(&mutex);
	uint32_t	nrows WC_GUARDED_BY(&mutex);

	/* only the applier's thread uses these */
	WcArena		arena;
	WcBuf		asked;
	WcBuf		get;
	WcBuf		answer;
};

WcAnswers *
wc_answers_create(WcEngine *engine, WcGetCache *cache) WC_UNCHECKED
{
	WcAnswers  *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return NULL;
	a->engine = engine;
	a->cache = cache;
	pthread_mutex_init(&a->mutex, NULL);
	return a;
}

void
wc_answers_free(WcAnswers *a) WC_UNCHECKED
{
	if (a == NULL)
		return;
	for (int i = 0; i < TABLES; i++)
	{
		wc_buf_free(&a->asked_for[i][0].get);
		wc_buf_free(&a->asked_for[i][1].get);
	}
	pthread_mutex_destroy(&a->mutex);
	wc_arena_free(&a->arena);
	wc_buf_free(&a->asked);
	wc_buf_free(&a->get);
	wc_buf_free(&a->answer);
	free(a);
}

static WcGetOrigin
origin_of(bool key_only)
{
	return key_only ? WC_GET_AHEAD_KEY_ONLY : WC_GET_AHEAD;
}

static void
allow(Asked *t, uint32_t ngets)
{
	if (ngets < ALLOWED_MAX / ALLOWED_BY_GET && t->allowed + ngets * ALLOWED_BY_GET < ALLOWED_MAX)
		t->allowed += ngets * ALLOWED_BY_GET;
	else
		t->allowed = ALLOWED_MAX;
}

/* Looks how many answers have been found when no further ones are allowed. */
static bool
is_allowed(WcAnswers *a, Asked *t, bool key_only) WC_REQUIRES(a->mutex)
{
	uint32_t	found;

	if (t->allowed > 0)
		return true;
	found = wc_getcache_found_ahead(a->cache, t->table_id, origin_of(key_only));
	allow(t, found - t->found);
	t->found = found;
	return t->allowed > 0;
}

/* With a filter, the next Get would probably have other values in it. */
bool
wc_answers_takes(const WcScan *scan, WcSlice get, size_t answer_len)
{
	return scan->filter == NULL && scan->filter_text.len == 0 && scan->aggregation == NULL && scan->nranges == 1 &&
		wc_range_is_point(&scan->ranges[0]) && get.len + answer_len <= WC_GETCACHE_ENTRY_MAX;
}

void
wc_answers_asked(WcAnswers *a, uint32_t database, const WcScan *scan, WcSlice get, size_t answer_len)
{
	Asked	   *t = &a->asked_for[scan->table_id % TABLES][scan->key_only];

	if (!wc_answers_takes(scan, get, answer_len))
		return;
	pthread_mutex_lock(&a->mutex);
	if (t->table_id != scan->table_id)
	{
		t->allowed = 0;
		t->found = wc_getcache_found_ahead(a->cache, scan->table_id, origin_of(scan->key_only));
	}
	t->table_id = scan->table_id;
	t->database = database;
	allow(t, 1);
	wc_buf_reset(&t->get, WC_GETCACHE_ENTRY_MAX);
	wc_buf_append_slice(&t->get, get);
	if (t->get.failed)
		t->table_id = 0;
	pthread_mutex_unlock(&a->mutex);
}

static void
note_written(WcAnswers *a, Asked *t, uint32_t table_id, bool key_only, WcSlice row) WC_REQUIRES(a->mutex)
{
	Written    *w;

	if (t->table_id != table_id || row.len > ROW_BYTES_MAX || a->nrows == ROWS_MAX || !is_allowed(a, t, key_only))
		return;
	w = &a->rows[a->nrows++];
	t->allowed--;
	w->table_id = table_id;
	w->key_only = key_only;
	w->len = (uint32_t) row.len;
	memcpy(w->row, row.data, row.len);
}

void
wc_answers_written(WcAnswers *a, uint32_t table_id, WcSlice row)
{
	Asked	   *pair = a->asked_for[table_id % TABLES];

	pthread_mutex_lock(&a->mutex);
	note_written(a, &pair[0], table_id, false, row);
	note_written(a, &pair[1], table_id, true, row);
	pthread_mutex_unlock(&a->mutex);
}

/* Takes one of the written rows, the last one first, and the Get of its table.  False: there is none. */
static bool
take(WcAnswers *a, Written *w, uint32_t *database)
{
	bool		taken = false;

	*database = 0;
	pthread_mutex_lock(&a->mutex);
	while (!taken && a->nrows > 0)
	{
		const Asked *t;

		*w = a->rows[--a->nrows];
		t = &a->asked_for[w->table_id % TABLES][w->key_only];
		if (t->table_id != w->table_id)
			continue;
		*database = t->database;
		wc_buf_reset(&a->asked, WC_GETCACHE_ENTRY_MAX);
		wc_buf_append_slice(&a->asked, wc_buf_slice(&t->get));
		taken = !a->asked.failed;
	}
	pthread_mutex_unlock(&a->mutex);
	return taken;
}

/* Reads the row, and keeps the answer if it is one block.  After an error there is no answer: a session that asks for the row
 * gets the error. */
static void
answer(WcAnswers *a, const WcScan *scan, uint32_t database)
{
	const WcReadPoint at = {.database = database};
	uint64_t	epoch = wc_getcache_epoch(a->cache);
	WcScanner  *scanner;
	WcError		err;

	if (wc_scanner_open(wc_engine_storage(a->engine), scan, &at, &scanner, &err) != WC_OK)
		return;
	wc_buf_reset(&a->answer, WC_BLOCK_FIRST);
	if (wc_scanner_next(scanner, &a->answer, WC_BLOCK_FIRST, 0, &err) == WC_END)
		wc_getcache_add(a->cache, origin_of(scan->key_only), epoch, scan->table_id, scan->ranges[0].start,
						wc_buf_slice(&a->get), wc_buf_slice(&a->answer), wc_scanner_valid_from_us(scanner),
						wc_scanner_valid_until_us(scanner));
	wc_scanner_close(scanner);
}

/* The answer need not be made. */
static void
give_back(WcAnswers *a, const Written *w)
{
	Asked	   *t = &a->asked_for[w->table_id % TABLES][w->key_only];

	pthread_mutex_lock(&a->mutex);
	if (t->table_id == w->table_id && t->allowed < ALLOWED_MAX)
		t->allowed++;
	pthread_mutex_unlock(&a->mutex);
}

bool
wc_answers_make(WcAnswers *a)
{
	Written		w;
	uint32_t	database;
	WcScan		scan;
	WcError		err;

	if (!take(a, &w, &database))
		return false;
	wc_arena_reset(&a->arena);
	if (wc_scan_decode(wc_buf_slice(&a->asked), &a->arena, &scan, &err) != WC_OK)
		return true;
	scan.ranges[0].start = scan.ranges[0].stop = wc_slice(w.row, w.len);
	wc_buf_reset(&a->get, WC_GETCACHE_ENTRY_MAX);
	wc_scan_encode(&a->get, &scan);
	if (a->get.failed)
		return true;
	if (wc_getcache_has(a->cache, wc_getcache_epoch(a->cache), scan.table_id, scan.ranges[0].start, wc_buf_slice(&a->get)))
		give_back(a, &w);		/* the commit has left it */
	else
		answer(a, &scan, database);
	return true;
}
