/*
 * engine/write/mark.c: marks: the position from which the server's log must be read again.
 *
 * A mark is written as a commit is, in order with commits.  Everything in the log before the mark's position is
 * applied, or is among the pieces of open transactions that the mark writes.  The timeline of the position goes with it: there may be no
 * commit since the server has left another one.
 */
#include <inttypes.h>
#include <string.h>

#include "base/coding.h"
#include "base/limits.h"
#include "engine/catalog/catalog.h"
#include "engine/store/state.h"
#include "engine/write/mark.h"

#define KEY_READ	WC_METAKEY_READ
#define KEY_PENDING	WC_METAKEY_PENDING

#define PENDING_KEY_SIZE 17		/* KEY_PENDING, xid, offset */

#define PIECE WC_PENDING_PIECE

#define HEAD_SIZE 7				/* database 4, place 2, flags 1; then come the bytes */

static void
pending_key(uint8_t *key, uint64_t xid, uint64_t at)
{
	key[0] = KEY_PENDING;
	wc_store_u64(key + 1, xid);
	wc_store_u64(key + 9, at);
}

/*
 * Deletes pieces that earlier marks have written, key by key: RocksDB 7.8 ends the process if it cannot begin a new log
 * (on a full disk) while a deleted range is in memory, and is asked for the range.
 */
static WcStatus
delete_pending(WcEngine *engine, rocksdb_writebatch_t *batch, WcError *err)
{
	rocksdb_iterator_t *it = wc_rocks_create_iterator(engine->db, engine->read_options, engine->meta);
	const char	first = KEY_PENDING;
	char	   *error = NULL;

	for (wc_rocks_iter_seek(it, &first, 1); rocksdb_iter_valid(it); wc_rocks_iter_next(it))
	{
		size_t		len;
		const char *key = rocksdb_iter_key(it, &len);

		if (len == 0 || key[0] != KEY_PENDING)
			break;
		wc_rocks_batch_delete(batch, engine->meta, key, len);
	}
	rocksdb_iter_get_error(it, &error);
	rocksdb_iter_destroy(it);
	return wc_rocks_status(error, "read the catalog", err);
}

static WcStatus
put_pending(WcEngine *engine, rocksdb_writebatch_t *batch, const WcPendingBytes *p, WcBuf *value, WcError *err)
{
	uint8_t		key[PENDING_KEY_SIZE];
	uint8_t		head[HEAD_SIZE];

	for (size_t at = 0; at == 0 || at < p->bytes.len; at += PIECE)
	{
		size_t		n = p->bytes.len - at < PIECE ? p->bytes.len - at : PIECE;

		wc_store_u32(head, p->database);
		wc_store_u16(head + 4, p->place);
		head[6] = p->flags;
		wc_buf_reset(value, HEAD_SIZE + PIECE);
		wc_buf_append(value, head, sizeof(head));
		if (n > 0)
			wc_buf_append(value, p->bytes.data + at, n);
		if (value->failed)
			return wc_error(err, WC_NO_MEMORY, "out of memory for the batches of transactions under way");
		pending_key(key, p->xid, p->at + at);
		wc_rocks_batch_put(batch, engine->meta, (const char *) key, sizeof(key), (const char *) value->data, value->len);
	}
	return WC_OK;
}

static WcStatus
write_mark(WcEngine *engine, uint64_t read_from, bool begin, const WcPendingMark *pending, WcError *err)
{
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	const char	read = KEY_READ;
	uint8_t		value[8];
	uint8_t		key[PENDING_KEY_SIZE];
	WcBuf		piece = WC_BUF_INIT;
	WcStatus	status = begin ? delete_pending(engine, batch, err) : WC_OK;

	for (size_t i = 0; i < pending->ngone; i++)
	{
		pending_key(key, pending->gone[i].xid, pending->gone[i].at);
		wc_rocks_batch_delete(batch, engine->meta, (const char *) key, sizeof(key));
	}
	for (size_t i = 0; status == WC_OK && i < pending->nput; i++)
		status = put_pending(engine, batch, &pending->put[i], &piece, err);
	wc_buf_free(&piece);
	if (status != WC_OK)
	{
		rocksdb_writebatch_destroy(batch);
		return status;
	}
	wc_store_u64(value, read_from);
	wc_rocks_batch_put(batch, engine->meta, &read, 1, (const char *) value, sizeof(value));

	pthread_mutex_lock(&engine->write_mutex);
	wc_engine_put_state(engine, batch, begin ? read_from : engine->applied, engine->last_ts);
	status = wc_health_write(&engine->health, engine->write_options, batch, "write a mark", err);
	if (status == WC_OK && begin)
		engine->applied = read_from;
	pthread_mutex_unlock(&engine->write_mutex);
	rocksdb_writebatch_destroy(batch);
	return status;
}

WcStatus
wc_engine_mark(WcEngine *engine, uint64_t read_from, const WcPendingMark *pending, WcError *err)
{
	return write_mark(engine, read_from, false, pending, err);
}

WcStatus
wc_mark_begin(WcEngine *engine, uint64_t read_from, WcError *err)
{
	const WcPendingMark none = {0};

	return write_mark(engine, read_from, true, &none, err);
}

/* --- reading it back ---------------------------------------------------------*/

WcStatus
wc_engine_pending_piece(WcEngine *engine, uint64_t xid, uint64_t at, WcBuf *bytes, WcError *err)
{
	uint8_t		key[PENDING_KEY_SIZE];
	char	   *error = NULL;
	rocksdb_readoptions_t *once = rocksdb_readoptions_create();
	rocksdb_pinnableslice_t *found;
	WcSlice		value = wc_slice(NULL, 0);
	WcStatus	status;

	/* it would push blocks that are read often out of the block cache */
	rocksdb_readoptions_set_fill_cache(once, 0);
	pending_key(key, xid, at);
	found = wc_rocks_get_pinned(engine->db, once, engine->meta, (const char *) key, sizeof(key), &error);
	rocksdb_readoptions_destroy(once);
	status = wc_rocks_status(error, "read the catalog", err);
	if (found != NULL)
		value.data = (const uint8_t *) rocksdb_pinnableslice_value(found, &value.len);
	if (status == WC_OK && value.len < HEAD_SIZE)
		status = wc_error(err, WC_CORRUPT, "the catalog's bytes of transaction %" PRIu64 " from byte %" PRIu64 " on are missing",
						  xid, at);
	wc_buf_reset(bytes, HEAD_SIZE + PIECE);
	if (status == WC_OK)
	{
		wc_buf_append(bytes, value.data + HEAD_SIZE, value.len - HEAD_SIZE);
		status = wc_buf_status(bytes, "transaction under way", err);
	}
	if (found != NULL)
		rocksdb_pinnableslice_destroy(found);
	return status;
}

static WcStatus
read_from(WcEngine *engine, uint64_t *position, WcError *err)
{
	const char	key = KEY_READ;
	char	   *error = NULL;
	size_t		len = 0;
	char	   *value = rocksdb_get_cf(engine->db, engine->read_options, engine->meta, &key, 1, &len, &error);
	WcStatus	status = wc_rocks_status(error, "read the catalog", err);

	*position = 0;
	if (status == WC_OK && value != NULL && len != 8)
		status = wc_error(err, WC_CORRUPT, "the catalog's place in the log is damaged");
	if (status == WC_OK && value != NULL)
		*position = wc_load_u64((const uint8_t *) value);
	rocksdb_free(value);
	return status;
}

WcStatus
wc_engine_marked(WcEngine *engine, uint64_t *position, WcPendingTaker take, void *arg, WcError *err)
{
	rocksdb_iterator_t *it;
	const char	first = KEY_PENDING;
	char	   *error = NULL;
	WcStatus	status = read_from(engine, position, err);

	if (status != WC_OK)
		return status;
	it = wc_rocks_create_iterator(engine->db, engine->read_options, engine->meta);
	for (wc_rocks_iter_seek(it, &first, 1); status == WC_OK && rocksdb_iter_valid(it); wc_rocks_iter_next(it))
	{
		size_t		klen,
					vlen;
		const uint8_t *key = (const uint8_t *) rocksdb_iter_key(it, &klen);
		const uint8_t *value = (const uint8_t *) rocksdb_iter_value(it, &vlen);

		if (klen == 0 || key[0] != KEY_PENDING)
			break;
		if (klen != PENDING_KEY_SIZE || vlen < HEAD_SIZE)
			status = wc_error(err, WC_CORRUPT, "the catalog's bytes of a transaction under way are damaged");
		else
		{
			WcPendingBytes piece = {
				.xid = wc_load_u64(key + 1),.database = wc_load_u32(value),
				.place = wc_load_u16(value + 4),.flags = value[6],.at = wc_load_u64(key + 9),
				.bytes = wc_slice(value + HEAD_SIZE, vlen - HEAD_SIZE)
			};

			status = take(arg, &piece, err);
		}
	}
	if (status == WC_OK)
	{
		rocksdb_iter_get_error(it, &error);
		status = wc_rocks_status(error, "read the catalog", err);
	}
	rocksdb_iter_destroy(it);
	return status;
}
