/*
 * engine/copies/recentrows.c: an array of key-values; a key's hash is its place.
 */
#include "engine/copies/recentrows.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

typedef struct WcRecentRow
{
	uint64_t	generation;		/* 0: nothing */
	rocksdb_column_family_handle_t *cf;
	uint32_t	key_len;
	uint32_t	value_len;
	uint8_t		bytes[WC_RECENTROWS_BYTES];	/* key and value */
} Row;

/* In front of each staged change. */
typedef struct Staged
{
	rocksdb_column_family_handle_t *cf;
	uint32_t	key_len;
	uint32_t	value_len;		/* DELETED */
} Staged;

#define DELETED UINT32_MAX

void
wc_recentrows_init(WcRecentRows *recent) WC_UNCHECKED
{
	*recent = (WcRecentRows) {.generation = 1};
	pthread_mutex_init(&recent->mutex, NULL);
	recent->rows = calloc(WC_RECENTROWS_SLOTS, sizeof(Row));
	wc_buf_init(&recent->staged, WC_RECENTROWS_STAGED_MAX);
}

void
wc_recentrows_free(WcRecentRows *recent) WC_UNCHECKED
{
	pthread_mutex_destroy(&recent->mutex);
	free(recent->rows);
	wc_buf_free(&recent->staged);
}

static Row *
row_of(const WcRecentRows *recent, rocksdb_column_family_handle_t *cf, WcSlice key) WC_REQUIRES(recent->mutex)
{
	return &recent->rows[wc_hash_bytes(wc_hash_mix((uintptr_t) cf), key) % WC_RECENTROWS_SLOTS];
}

bool
wc_recentrows_find(WcRecentRows *recent, rocksdb_column_family_handle_t *cf, WcSlice key, uint64_t seq, WcBuf *value)
{
	bool		found = false;

	/* a reader does not wait for the mutex: RocksDB has the key's value, too */
	if (pthread_mutex_trylock(&recent->mutex) != 0)
		return false;
	if (recent->rows != NULL && !recent->writing && seq >= recent->seq)
	{
		const Row  *row = row_of(recent, cf, key);

		if (row->generation == recent->generation && row->cf == cf && wc_slice_eq(wc_slice(row->bytes, row->key_len), key))
		{
			wc_buf_append_slice(value, wc_slice(row->bytes + row->key_len, row->value_len));
			found = !value->failed;
		}
	}
	pthread_mutex_unlock(&recent->mutex);
	return found;
}

void
wc_recentrows_stage(WcRecentRows *recent, rocksdb_column_family_handle_t *cf, WcSlice key, const WcSlice *value)
{
	Staged		head = {cf, (uint32_t) key.len, DELETED};

	/* a value that is too large takes the old value of its key away, as a delete does */
	if (value != NULL && key.len + value->len <= WC_RECENTROWS_BYTES)
		head.value_len = (uint32_t) value->len;
	wc_buf_append(&recent->staged, &head, sizeof(head));
	wc_buf_append_slice(&recent->staged, key);
	if (head.value_len != DELETED)
		wc_buf_append_slice(&recent->staged, *value);
}

void
wc_recentrows_unstage(WcRecentRows *recent)
{
	wc_buf_reset(&recent->staged, WC_RECENTROWS_STAGED_MAX);
}

void
wc_recentrows_begin(WcRecentRows *recent)
{
	pthread_mutex_lock(&recent->mutex);
	recent->writing = true;
	pthread_mutex_unlock(&recent->mutex);
}

/* Reads a staged change, and moves p behind it. */
static const uint8_t *
take_staged(const uint8_t *p, Staged *head, WcSlice *key, WcSlice *value)
{
	memcpy(head, p, sizeof(*head));
	p += sizeof(*head);
	*key = wc_slice(p, head->key_len);
	p += head->key_len;
	*value = wc_slice(p, head->value_len == DELETED ? 0 : head->value_len);
	return p + value->len;
}

static void
publish(WcRecentRows *recent) WC_REQUIRES(recent->mutex)
{
	const uint8_t *end = recent->staged.data + recent->staged.len;

	for (const uint8_t *p = recent->staged.data; p < end;)
	{
		Staged		head;
		WcSlice		key;
		WcSlice		value;
		Row		   *row;

		p = take_staged(p, &head, &key, &value);
		row = row_of(recent, head.cf, key);
		row->generation = head.value_len == DELETED ? 0 : recent->generation;
		if (head.value_len == DELETED)
			continue;
		row->cf = head.cf;
		row->key_len = head.key_len;
		row->value_len = head.value_len;
		memcpy(row->bytes, key.data, key.len);
		if (value.len > 0)
			memcpy(row->bytes + key.len, value.data, value.len);
	}
}

void
wc_recentrows_end(WcRecentRows *recent, bool written, uint64_t seq)
{
	pthread_mutex_lock(&recent->mutex);
	if (!written || recent->staged.failed)
		recent->generation++;
	else if (recent->rows != NULL && recent->staged.len > 0)
		publish(recent);
	recent->seq = seq;
	recent->writing = false;
	pthread_mutex_unlock(&recent->mutex);
	wc_recentrows_unstage(recent);
}

void
wc_recentrows_forget(WcRecentRows *recent)
{
	pthread_mutex_lock(&recent->mutex);
	recent->generation++;
	pthread_mutex_unlock(&recent->mutex);
}
