/*
 * fdw/relation/key.c: key columns to a row key, and back.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "client/client.h"
#include "fdw/relation/errfield.h"
#include "fdw/relation/key.h"

struct WcKeyWork
{
	WcBuf		contents;		/* of all parts, one behind the other */
	size_t	   *ends;			/* [nkeys] in contents */
	WcSlice    *parts;			/* [nkeys] */
};

static void
free_work(void *arg)
{
	struct WcKeyWork *work = arg;

	wc_buf_free(&work->contents);
}

void
wc_key_init(WcRelation *wrel)
{
	struct WcKeyWork *work = palloc0(sizeof(*work));
	MemoryContextCallback *callback = palloc0(sizeof(*callback));

	wc_buf_init(&work->contents, 0);
	work->ends = palloc0(sizeof(size_t) * Max(wrel->nkeys, 1));
	work->parts = palloc0(sizeof(WcSlice) * Max(wrel->nkeys, 1));
	callback->func = free_work;
	callback->arg = work;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
	wrel->work = work;
}

static void pg_attribute_noreturn()
null_key(const WcRelation *wrel, const WcRelColumn *col)
{
	ereport(ERROR,
			(errcode(ERRCODE_NOT_NULL_VIOLATION),
			 errmsg("null value in key column \"%s\" of foreign table \"%s\"", NameStr(col->name), wrel->relname),
			 errdetail("A row key has all its parts."),
			 wc_errfield_column(wrel, NameStr(col->name))));
}

static void pg_attribute_noreturn()
key_too_long(const WcRelation *wrel, size_t len)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("row key of foreign table \"%s\" has %zu bytes, more than the limit of %d",
					wrel->relname, len, WC_ROW_MAX)));
}

static void
encode_raw_key(WcRelation *wrel, const Datum *values, const bool *isnull, WcBuf *out)
{
	const WcRelColumn *col = &wrel->columns[wrel->raw_key];
	bytea	   *raw;
	size_t		len;

	if (isnull[wrel->raw_key])
		null_key(wrel, col);
	raw = DatumGetByteaPP(values[wrel->raw_key]);
	len = VARSIZE_ANY_EXHDR(raw);
	if (len == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("row key of foreign table \"%s\" is empty", wrel->relname)));
	if (len > WC_ROW_MAX)
		key_too_long(wrel, len);
	wc_buf_append(out, VARDATA_ANY(raw), len);
}

/* An infinite timestamp has no minute: said here, where the column is known. */
static void
check_minute(WcRelation *wrel, int part, Datum value)
{
	const WcSalt *salt = &wrel->key_layout.salt;
	const WcRelColumn *col = &wrel->columns[wrel->keys[part]];

	if (salt->buckets == 0 || salt->kind != WC_SALT_MINUTE || !salt->parts[part] ||
		!TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
			 errmsg("infinite timestamp in key column \"%s\" of foreign table \"%s\"",
					NameStr(col->name), wrel->relname),
			 errdetail("The salt of the row key is the column's minute.")));
}

void
wc_relation_encode_key(WcRelation *wrel, const Datum *values, const bool *isnull, WcBuf *out)
{
	struct WcKeyWork *work = wrel->work;
	WcError		err;
	uint32_t	bad;

	if (wrel->nkeys == 0)
		encode_raw_key(wrel, values, isnull, out);
	else
	{
		size_t		start = 0;

		wc_buf_reset(&work->contents, WC_ROW_MAX);
		for (int k = 0; k < wrel->nkeys; k++)
		{
			WcRelColumn *col = &wrel->columns[wrel->keys[k]];

			if (isnull[wrel->keys[k]])
				null_key(wrel, col);
			check_minute(wrel, k, values[wrel->keys[k]]);
			wc_codec_encode(&col->codec, values[wrel->keys[k]], &work->contents);
			work->ends[k] = work->contents.len;
		}
		for (int k = 0; k < wrel->nkeys; k++)
		{
			work->parts[k] = wc_slice(work->contents.data + start, work->ends[k] - start);
			start = work->ends[k];
		}
		if (wc_rowkey_compose(&wrel->key_layout, work->parts, out, &bad, &err) != WC_OK)
			wc_codec_compose_error(wrel->relname,
								   bad < (uint32_t) wrel->nkeys ?
								   NameStr(wrel->columns[wrel->keys[bad]].name) : NULL, &err);
	}
	if (out->failed)
	{
		(void) wc_buf_status(out, "row key", &err);
		wc_raise(&err);
	}
}

void
wc_relation_decode_key(WcRelation *wrel, const WcCodecWhere *where, const Bitmapset *wanted,
					   Datum *values, bool *isnull)
{
	struct WcKeyWork *work = wrel->work;
	WcSlice		key = where->row;
	WcError		err;
	bool		split = false;

	if (wrel->raw_key >= 0 && (wanted == NULL || bms_is_member(wrel->raw_key, wanted)))
	{
		values[wrel->raw_key] =
			PointerGetDatum(cstring_to_text_with_len((const char *) key.data, (int) key.len));
		isnull[wrel->raw_key] = false;
	}
	for (int k = 0; k < wrel->nkeys; k++)
	{
		int			i = wrel->keys[k];
		WcRelColumn *col = &wrel->columns[i];

		if (col->hashed || (wanted && !bms_is_member(i, wanted)))
			continue;
		if (!split)
		{
			if (wc_rowkey_split(&wrel->key_layout, key, &work->contents, work->parts, &err) != WC_OK)
				wc_codec_split_error(where, &err);
			split = true;
		}
		values[i] = wc_codec_decode(&col->codec, work->parts[k], where);
		isnull[i] = false;
	}
}

const WcSlice *
wc_key_leading(WcRelation *wrel, WcSlice key, int n)
{
	struct WcKeyWork *work = wrel->work;
	WcError		err;

	switch (wc_rowkey_split_leading(&wrel->key_layout, key, (uint32) n, &work->contents, work->parts, &err))
	{
		case WC_OK:
			return work->parts;
		case WC_BAD_DATA:
			return NULL;
		default:
			wc_raise(&err);
	}
}
