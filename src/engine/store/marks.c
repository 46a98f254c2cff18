/*
 * engine/store/marks.c: a family's marks: what the catalog stores about its cells.
 */
#include "engine/store/marks.h"

#include <assert.h>
#include <string.h>

#include "base/coding.h"
#include "engine/store/state.h"

#define KEY_SIZE		9
#define VALUE_SIZE		65

#define FLAG_SINGLE		0x01
#define FLAG_CELL_TTL	0x02

/* --- bytes ------------------------------------------------------------------ */

static void
make_key(uint8_t *key, const WcStore *store)
{
	key[0] = WC_MARKS_KEY;
	wc_store_u32(key + 1, store->table_id);
	wc_store_u32(key + 5, store->family_id);
}

static void
encode(uint8_t *value, const WcMarks *marks)
{
	wc_store_u64(value, (uint64_t) marks->history_from_us);
	value[8] = (uint8_t) ((marks->single ? FLAG_SINGLE : 0) | (marks->cell_ttl ? FLAG_CELL_TTL : 0));
	wc_store_u64(value + 9, (uint64_t) marks->flushed_ts);
	wc_store_u64(value + 17, (uint64_t) marks->gone.expired_ts);
	wc_store_u64(value + 25, (uint64_t) marks->gone.oldest_ts);
	wc_store_u64(value + 33, marks->superseded);
	wc_store_u64(value + 41, marks->dated);
	wc_store_u64(value + 49, (uint64_t) marks->gone.oldest_until_ts);
	wc_store_u64(value + 57, (uint64_t) marks->ahead_ts);
}

WcStatus
wc_marks_decode(WcSlice value, WcMarks *marks, WcError *err)
{
	WcDecoder	d = wc_decoder(value);
	uint8_t		flags;

	memset(marks, 0, sizeof(*marks));
	marks->history_from_us = (int64_t) wc_decode_u64(&d);
	flags = wc_decode_u8(&d);
	marks->single = (flags & FLAG_SINGLE) != 0;
	marks->cell_ttl = (flags & FLAG_CELL_TTL) != 0;
	if (!wc_decoder_done(&d))
	{
		marks->flushed_ts = (int64_t) wc_decode_u64(&d);
		marks->gone.expired_ts = (int64_t) wc_decode_u64(&d);
		marks->gone.oldest_ts = (int64_t) wc_decode_u64(&d);
		marks->superseded = wc_decode_u64(&d);
		marks->dated = wc_decode_u64(&d);
	}
	if (!wc_decoder_done(&d))
		marks->gone.oldest_until_ts = (int64_t) wc_decode_u64(&d);
	if (!wc_decoder_done(&d))
		marks->ahead_ts = (int64_t) wc_decode_u64(&d);
	if (!wc_decoder_done(&d) || marks->ahead_ts < 0 || marks->history_from_us < 0 || marks->flushed_ts < 0 ||
		marks->gone.expired_ts < 0 || marks->gone.oldest_ts < 0 || marks->gone.oldest_until_ts < 0 ||
		(flags & ~(FLAG_SINGLE | FLAG_CELL_TTL)) != 0)
		return wc_error(err, WC_CORRUPT, "what the catalog says of a family's history is damaged");
	return WC_OK;
}

static void
put(const WcStore *store, const WcMarks *marks, rocksdb_writebatch_t *batch)
{
	uint8_t		key[KEY_SIZE];
	uint8_t		value[VALUE_SIZE];

	make_key(key, store);
	encode(value, marks);
	wc_rocks_batch_put(batch, store->engine->meta, (const char *) key, sizeof(key), (const char *) value, sizeof(value));
}

void
wc_marks_delete(const WcStore *store, rocksdb_writebatch_t *batch)
{
	uint8_t		key[KEY_SIZE];

	make_key(key, store);
	wc_rocks_batch_delete(batch, store->engine->meta, (const char *) key, sizeof(key));
}

WcStatus
wc_marks_read(const WcStore *store, const WcSnapshot *snapshot, WcMarks *marks, WcError *err)
{
	rocksdb_readoptions_t *options = rocksdb_readoptions_create();
	uint8_t		key[KEY_SIZE];
	char	   *value;
	char	   *error = NULL;
	size_t		len = 0;
	WcStatus	status;

	memset(marks, 0, sizeof(*marks));
	make_key(key, store);
	rocksdb_readoptions_set_snapshot(options, snapshot->rocks);
	value = rocksdb_get_cf(store->engine->db, options, store->engine->meta, (const char *) key, sizeof(key), &len, &error);
	rocksdb_readoptions_destroy(options);
	status = wc_rocks_status(error, "read the catalog", err);
	if (status == WC_OK && value)
		status = wc_marks_decode(wc_slice(value, len), marks, err);
	rocksdb_free(value);
	return status;
}

/* --- in memory ---------------------------------------------------------------- */

void
wc_marks_init(WcStoreMarks *m)
{
	memset(m, 0, sizeof(*m));
	pthread_mutex_init(&m->mutex, NULL);
}

void
wc_marks_free(WcStoreMarks *m)
{
	pthread_mutex_destroy(&m->mutex);
}

WcMarks
wc_marks(WcStore *store)
{
	WcMarks		marks;

	pthread_mutex_lock(&store->marks.mutex);
	marks = store->marks.marks;
	pthread_mutex_unlock(&store->marks.mutex);
	return marks;
}

int64_t
wc_marks_history_from_us(WcStore *store)
{
	int64_t		from;

	pthread_mutex_lock(&store->marks.mutex);
	from = store->marks.history_from_us;
	pthread_mutex_unlock(&store->marks.mutex);
	return from;
}

WcGone
wc_store_gone(const WcStore *store)
{
	WcGone		gone = {
		.oldest_ts = atomic_load_explicit(&store->oldest_ts, memory_order_relaxed),
		.oldest_until_ts = atomic_load_explicit(&store->oldest_until_ts, memory_order_relaxed),
		.expired_ts = atomic_load_explicit(&store->expired_ts, memory_order_relaxed)
	};

	return gone;
}

static void
set_gone(WcStore *store, const WcGone *gone)
{
	atomic_store(&store->oldest_ts, gone->oldest_ts);
	atomic_store(&store->oldest_until_ts, gone->oldest_until_ts);
	atomic_store(&store->expired_ts, gone->expired_ts);
}

void
wc_store_settle_gone(WcStore *store)
{
	WcGone		gone = wc_store_gone(store);

	wc_gonefilter_set(store->filter, &gone);
}

static bool
equal(const WcMarks *a, const WcMarks *b)
{
	uint8_t		x[VALUE_SIZE];
	uint8_t		y[VALUE_SIZE];

	encode(x, a);
	encode(y, b);
	return memcmp(x, y, VALUE_SIZE) == 0;
}

void
wc_marks_put(WcStore *store, const WcMarks *marks, rocksdb_writebatch_t *batch)
{
	WcStoreMarks *m = &store->marks;
	bool		changed;

	pthread_mutex_lock(&m->mutex);
	changed = !equal(&m->marks, marks);
	if (m->history_from_us < marks->history_from_us)
		m->history_from_us = marks->history_from_us;
	pthread_mutex_unlock(&m->mutex);
	if (changed)
		put(store, marks, batch);
}

static bool
all_grow(const WcMarks *from, const WcMarks *to)
{
	return to->gone.oldest_ts >= from->gone.oldest_ts && to->gone.expired_ts >= from->gone.expired_ts &&
		to->gone.oldest_until_ts >= from->gone.oldest_until_ts && to->history_from_us >= from->history_from_us;
}

static void
set(WcStore *store, const WcMarks *marks, bool undo)
{
	WcStoreMarks *m = &store->marks;
	bool		gone_changed;

	pthread_mutex_lock(&m->mutex);
	assert(undo ? all_grow(marks, &m->marks) : all_grow(&m->marks, marks));
	gone_changed = memcmp(&m->marks.gone, &marks->gone, sizeof(WcGone)) != 0;
	m->marks = *marks;
	m->history_from_us = marks->history_from_us;
	pthread_mutex_unlock(&m->mutex);
	if (!gone_changed)
		return;
	set_gone(store, &marks->gone);
	atomic_store(&store->engine->gone_changed, true);
}

void
wc_marks_done(WcStore *store, const WcMarks *marks)
{
	set(store, marks, false);
}

void
wc_marks_undo(WcStore *store, const WcMarks *before)
{
	set(store, before, true);
}
