/*
 * test/unit/test_pending.c: streams of transactions that have not ended (rpc/log/pending.h), and
 * the table by which they are found.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "mangle.h"
#include "model/batch.h"
#include "rpc/log/pending.h"
#include "rpc/log/xidtable.h"

#define DATABASE 5

/* --- the table ---------------------------------------------------------------------- */

static void
nodes_are_found(void **state)
{
	enum
	{
		N = 1000
	};
	WcXidTable	table = WC_XIDTABLE_INIT;
	static WcXidNode nodes[N];
	WcError		err;

	(void) state;
	assert_null(wc_xidtable_find(&table, 7));
	assert_null(wc_xidtable_remove(&table, 7));
	for (uint64_t i = 0; i < N; i++)
	{
		/* some share their lower bits */
		nodes[i].xid = 3 + i + (i % 3) * (UINT64_C(1) << 32);
		assert_int_equal(wc_xidtable_add(&table, &nodes[i], &err), WC_OK);
	}
	assert_int_equal(table.n, N);
	for (int i = 0; i < N; i++)
		assert_ptr_equal(wc_xidtable_find(&table, nodes[i].xid), &nodes[i]);
	assert_null(wc_xidtable_find(&table, 2));
	assert_null(wc_xidtable_find(&table, 3 + (UINT64_C(1) << 32)));
	assert_ptr_equal(wc_xidtable_remove(&table, nodes[500].xid), &nodes[500]);
	assert_null(wc_xidtable_remove(&table, nodes[500].xid));
	assert_null(wc_xidtable_find(&table, nodes[500].xid));

	/* taken out while they are gone through */
	for (WcXidNode *node = wc_xidtable_next(&table, NULL), *behind; node != NULL; node = behind)
	{
		behind = wc_xidtable_next(&table, node);
		if (node->xid < UINT64_C(1) << 32)
			assert_ptr_equal(wc_xidtable_remove(&table, node->xid), node);
	}
	assert_int_equal(table.n, N - 335);
	for (WcXidNode *node = wc_xidtable_next(&table, NULL), *behind; node != NULL; node = behind)
	{
		behind = wc_xidtable_next(&table, node);
		assert_ptr_equal(wc_xidtable_remove(&table, node->xid), node);
	}
	assert_int_equal(table.n, 0);
	wc_xidtable_free(&table);
}

/* --- streams ------------------------------------------------------------------------ */

/* The greatest id of a table that was told of. */
static uint32_t told;

static void
on_table(void *arg, uint32_t table_id)
{
	uint32_t   *greatest = arg;

	if (table_id > *greatest)
		*greatest = table_id;
}

static WcPending *
make(void)
{
	WcPendingTables tables = {on_table, &told};
	WcPending  *p;
	WcError		err;

	assert_int_equal(wc_pending_create(&tables, &p, &err), WC_OK);
	return p;
}

static WcStatus
append(WcPending *p, uint64_t xid, uint64_t at, const char *bytes)
{
	WcLogRecord batch = {
		.kind = WC_RECORD_BATCH,.store = 1,.place = WC_RECORD_NO_PLACE,.database = DATABASE,.xid = xid,.at = at,
			.bytes = wc_slice_cstr(bytes)
	};
	WcError		err;

	return wc_pending_append(p, &batch, &err);
}

static void
assert_stream(WcPending *p, uint64_t xid, const char *bytes)
{
	WcPendingBatch batch;

	assert_true(wc_pending_take(p, xid, &batch));
	assert_int_equal(batch.database, DATABASE);
	assert_true(wc_slice_eq(wc_buf_slice(&batch.bytes), wc_slice_cstr(bytes)));
	wc_pendingbatch_free(&batch);
	assert_false(wc_pending_take(p, xid, &batch));
}

static uint64_t
count_streams(const WcPending *p)
{
	const void *node = NULL;
	uint64_t	n = 0;

	while (wc_pending_next(p, &node) != NULL)
		n++;
	return n;
}

/* Of all streams, wherever they are. */
static uint64_t
count_bytes(const WcPending *p)
{
	const void *node = NULL;
	const WcPendingBatch *b;
	uint64_t	n = 0;

	while ((b = wc_pending_next(p, &node)) != NULL)
		n += wc_pendingbatch_length(b);
	return n;
}

static void
streams_are_kept_apart(void **state)
{
	WcPending  *p = make();

	(void) state;
	assert_int_equal(append(p, 10, 0, "one"), WC_OK);
	assert_int_equal(append(p, 11, 0, "two"), WC_OK);
	assert_int_equal(append(p, 10, 3, " and more"), WC_OK);
	assert_int_equal(append(p, UINT64_C(0x10000000a), 0, "far"), WC_OK);
	assert_int_equal(count_streams(p), 3);
	assert_int_equal(count_bytes(p), 18);
	assert_stream(p, 10, "one and more");
	assert_stream(p, UINT64_C(0x10000000a), "far");
	wc_pending_drop(p, 11);
	wc_pending_drop(p, 11);
	assert_int_equal(count_streams(p), 0);
	assert_int_equal(count_bytes(p), 0);
	wc_pending_free(p);
}

static void
a_batch_cuts(void **state)
{
	WcPending  *p = make();

	(void) state;
	assert_int_equal(append(p, 10, 0, "0123456789"), WC_OK);
	assert_int_equal(append(p, 10, 4, "abc"), WC_OK);
	assert_int_equal(count_bytes(p), 7);
	assert_int_equal(append(p, 10, 5, ""), WC_OK);
	assert_int_equal(append(p, 10, 5, "!"), WC_OK);
	assert_stream(p, 10, "0123a!");

	/* all of it: there is a stream, without bytes */
	assert_int_equal(append(p, 11, 0, "x"), WC_OK);
	assert_int_equal(append(p, 11, 0, ""), WC_OK);
	assert_stream(p, 11, "");
	wc_pending_free(p);
}

static void
what_does_not_follow_is_refused(void **state)
{
	WcPending  *p = make();
	WcLogRecord other = {.kind = WC_RECORD_BATCH,.store = 1,.database = DATABASE + 1,.xid = 10,.at = 3};
	WcError		err;

	(void) state;
	assert_int_equal(append(p, 10, 1, "x"), WC_CORRUPT);
	assert_int_equal(count_streams(p), 0);
	assert_int_equal(append(p, 10, 0, "abc"), WC_OK);
	assert_int_equal(append(p, 10, 4, "x"), WC_CORRUPT);
	assert_int_equal(wc_pending_append(p, &other, &err), WC_CORRUPT);
	assert_stream(p, 10, "abc");
	wc_pending_free(p);
}

static void
place_and_flags_are_remembered(void **state)
{
	WcPending  *p = make();
	WcLogRecord batch = {
		.kind = WC_RECORD_BATCH,.store = 1,.place = WC_RECORD_NO_PLACE,.database = DATABASE,.xid = 10,
			.bytes = wc_slice_cstr("a")
	};
	WcPendingBatch taken;
	WcError		err;

	(void) state;
	batch.flags = WC_RECORD_CATALOG;
	assert_int_equal(wc_pending_append(p, &batch, &err), WC_OK);
	batch.flags = 0;
	batch.at = 1;
	batch.place = 17;
	assert_int_equal(wc_pending_append(p, &batch, &err), WC_OK);
	assert_true(wc_pending_take(p, 10, &taken));
	assert_int_equal(taken.place, 17);
	assert_int_equal(taken.flags, WC_RECORD_CATALOG);
	wc_pendingbatch_free(&taken);
	assert_int_equal(append(p, 11, 0, "a"), WC_OK);
	assert_true(wc_pending_take(p, 11, &taken));
	assert_int_equal(taken.place, WC_RECORD_NO_PLACE);
	assert_int_equal(taken.flags, 0);
	wc_pendingbatch_free(&taken);
	wc_pending_free(p);
}

static void
count_one(void *arg, uint64_t xid)
{
	assert_in_range(xid, 100, 249);
	++*(uint64_t *) arg;
}

static void
what_a_crash_left_goes(void **state)
{
	static const uint64_t running[] = {7, 120, 130, 255};
	WcPending  *p = make();
	uint64_t	dropped = 0;

	(void) state;
	for (uint64_t xid = 100; xid < 300; xid++)
		assert_int_equal(append(p, xid, 0, "abc"), WC_OK);
	assert_int_equal(wc_pending_drop_others(p, 250, running, 4, count_one, &dropped), 148);
	assert_int_equal(dropped, 148);
	assert_int_equal(count_streams(p), 52);
	assert_int_equal(count_bytes(p), 156);
	assert_stream(p, 120, "abc");
	assert_stream(p, 250, "abc");
	assert_int_equal(wc_pending_drop_others(p, 250, NULL, 0, NULL, NULL), 1);
	assert_int_equal(wc_pending_drop_others(p, 250, NULL, 0, NULL, NULL), 0);
	wc_pending_free(p);
}

/* Pieces that marks have put into a store. */
typedef struct Piece
{
	WcPendingBytes head;
	char		bytes[4096];
} Piece;

static Piece stored[1000];
static int	nstored;

static Piece *
find_piece(uint64_t xid, uint64_t at)
{
	for (int i = 0; i < nstored; i++)
	{
		if (stored[i].head.xid == xid && stored[i].head.at == at)
			return &stored[i];
	}
	return NULL;
}

static void
write_mark(WcPending *p)
{
	WcPendingMark mark;
	WcError		err;

	assert_int_equal(wc_pending_mark(p, &mark, &err), WC_OK);
	for (size_t i = 0; i < mark.ngone; i++)
	{
		Piece	   *gone = find_piece(mark.gone[i].xid, mark.gone[i].at);

		assert_non_null(gone);
		*gone = stored[--nstored];
	}
	for (size_t i = 0; i < mark.nput; i++)
	{
		Piece	   *piece = &stored[nstored];

		assert_null(find_piece(mark.put[i].xid, mark.put[i].at));
		assert_true(++nstored < (int) (sizeof(stored) / sizeof(*stored)));
		piece->head = mark.put[i];
		if (mark.put[i].bytes.len > 0)
			memcpy(piece->bytes, mark.put[i].bytes.data, mark.put[i].bytes.len);
		piece->head.bytes.data = NULL;
	}
	wc_pending_marked(p);
}

static int
compare_pieces(const void *a, const void *b)
{
	const WcPendingBytes *x = &((const Piece *) a)->head;
	const WcPendingBytes *y = &((const Piece *) b)->head;

	return x->xid != y->xid ? (x->xid > y->xid) - (x->xid < y->xid) : (x->at > y->at) - (x->at < y->at);
}

/* As a start behind a mark does. */
static WcPending *
load_stored(void)
{
	WcPending  *p = make();

	qsort(stored, (size_t) nstored, sizeof(*stored), compare_pieces);
	for (int i = 0; i < nstored; i++)
	{
		WcPendingBytes piece = stored[i].head;
		WcError		err;

		piece.bytes.data = (const uint8_t *) stored[i].bytes;
		assert_int_equal(wc_pending_load(p, &piece, &err), WC_OK);
	}
	assert_true(wc_pending_memory(p) < 5 * count_streams(p)); /* too few bytes to tell the operation's length */
	return p;
}

/* From the store and from memory. */
static void
assert_batch(const WcPendingBatch *batch, const char *bytes, size_t len)
{
	assert_int_equal(wc_pendingbatch_length(batch), len);
	for (size_t i = 0; i < batch->npieces; i++)
	{
		uint64_t	at = batch->pieces[i];
		uint64_t	end = i + 1 < batch->npieces && batch->pieces[i + 1] < batch->at ? batch->pieces[i + 1] : batch->at;
		Piece	   *piece = find_piece(batch->xid, at);

		assert_non_null(piece);
		if (at >= batch->at)
			continue;
		assert_true(piece->head.bytes.len >= end - at);
		assert_memory_equal(piece->bytes, bytes + at, end - at);
	}
	assert_true(batch->npieces > 0 ? batch->pieces[0] == 0 : batch->at == 0);
	if (batch->bytes.len > 0)
		assert_memory_equal(batch->bytes.data, bytes + batch->at, batch->bytes.len);
}

static void
a_mark_gives_memory_back(void **state)
{
	WcPending  *p = make();
	WcPendingBatch batch;

	(void) state;
	nstored = 0;
	assert_int_equal(append(p, 10, 0, "abcdefgh"), WC_OK);
	assert_int_equal(append(p, 11, 0, "12345678"), WC_OK);
	assert_int_equal(wc_pending_memory(p), 16);
	write_mark(p);
	assert_int_equal(wc_pending_memory(p), 0);
	assert_int_equal(count_bytes(p), 16);
	assert_int_equal(nstored, 2);

	/* an unchanged stream is not put again */
	assert_int_equal(append(p, 10, 8, "ijklmn"), WC_OK);
	write_mark(p);
	assert_int_equal(nstored, 3);

	/* cut within the stored pieces, without new bytes */
	assert_int_equal(append(p, 10, 1, ""), WC_OK);
	write_mark(p);
	assert_int_equal(nstored, 3);
	assert_true(wc_pending_take(p, 10, &batch));
	assert_batch(&batch, "a", 1);
	wc_pendingbatch_free(&batch);
	wc_pending_drop(p, 11);
	assert_int_equal(nstored, 3);	/* the commit may still read it */
	write_mark(p);
	assert_int_equal(nstored, 0);
	wc_pending_free(p);
}

/* How many streams a mark that is made now puts; xid: is it among them? */
static size_t
put_by_mark(WcPending *p, uint64_t xid, bool *found)
{
	WcPendingMark mark;
	WcError		err;

	*found = false;
	assert_int_equal(wc_pending_mark(p, &mark, &err), WC_OK);
	for (size_t i = 0; i < mark.nput; i++)
		*found |= mark.put[i].xid == xid;
	return mark.nput;
}

static void
what_is_marked_is_not_put_again(void **state)
{
	WcPending  *p = make();
	uint16_t	place;
	bool		found;

	(void) state;
	nstored = 0;
	assert_int_equal(append(p, 10, 0, "abc"), WC_OK);
	assert_int_equal(append(p, 11, 0, "abc"), WC_OK);
	write_mark(p);
	assert_int_equal(put_by_mark(p, 0, &found), 0);
	assert_int_equal(append(p, 12, 0, "abc"), WC_OK);
	assert_int_equal(put_by_mark(p, 12, &found), 1);
	assert_true(found);
	assert_int_equal(append(p, 10, 3, ""), WC_OK);
	assert_true(wc_pending_prepare(p, 11, &place));
	assert_int_equal(put_by_mark(p, 11, &found), 3);
	assert_true(found);
	write_mark(p);
	assert_int_equal(put_by_mark(p, 0, &found), 0);
	wc_pending_free(p);
}

/* Prepared behind a mark that has all its bytes: the next one tells of it, and so does each start. */
static void
prepared_ones_are_counted_and_marked(void **state)
{
	WcPending  *p = make();
	WcPendingBatch batch;
	uint16_t	place;

	(void) state;
	nstored = 0;
	assert_false(wc_pending_prepare(p, 10, &place));
	assert_int_equal(append(p, 10, 0, "abc"), WC_OK);
	assert_int_equal(append(p, 11, 0, "def"), WC_OK);
	assert_int_equal(wc_pending_nprepared(p), 0);
	write_mark(p);
	assert_true(wc_pending_prepare(p, 10, &place));
	assert_int_equal(place, WC_RECORD_NO_PLACE);
	assert_true(wc_pending_prepare(p, 10, &place));
	assert_int_equal(wc_pending_nprepared(p), 1);
	write_mark(p);
	for (int round = 0; round < 2; round++)
	{
		const void *node = NULL;
		const WcPendingBatch *b;
		int			n = 0;

		wc_pending_free(p);
		p = load_stored();
		assert_int_equal(wc_pending_nprepared(p), 1);
		for (; (b = wc_pending_next(p, &node)) != NULL; n++)
			assert_int_equal(b->flags, b->xid == 10 ? WC_PENDING_PREPARED : 0);
		assert_int_equal(n, 2);
		assert_int_equal(append(p, 11, 3, "ghi"), WC_OK);
		write_mark(p);
	}
	wc_pending_drop(p, 11);
	assert_int_equal(wc_pending_nprepared(p), 1);
	assert_true(wc_pending_take(p, 10, &batch));
	assert_batch(&batch, "abc", 3);
	wc_pendingbatch_free(&batch);
	assert_int_equal(wc_pending_nprepared(p), 0);
	write_mark(p);
	assert_int_equal(nstored, 0);
	wc_pending_free(p);
}

/* Random appends, cuts, ends, marks and starts, beside plain copies. */
static void
streams_are_as_their_copies(void **state)
{
	enum
	{
		N = 8,
		ROOM = 4096
	};
	WcPending  *p = make();
	static char copies[N][ROOM];
	size_t		len[N];
	bool		open[N] = {false};

	(void) state;
	nstored = 0;
	for (int round = 0; round < 50000; round++)
	{
		int			i = (int) wc_mangle_random(N);
		size_t		at = open[i] ? wc_mangle_random((uint32_t) len[i] + 1) : 0;
		size_t		n = wc_mangle_random(40);
		char		bytes[41];

		if (wc_mangle_random(40) == 0)
			write_mark(p);
		if (wc_mangle_random(500) == 0)
		{
			write_mark(p);
			wc_pending_free(p);
			p = load_stored();
		}
		if (wc_mangle_random(50) == 0)
		{
			WcPendingBatch batch;

			assert_int_equal(wc_pending_take(p, 3 + i, &batch), open[i]);
			if (!open[i])
				continue;
			assert_batch(&batch, copies[i], len[i]);
			wc_pendingbatch_free(&batch);
			open[i] = false;
			continue;
		}
		if (open[i] && wc_mangle_random(4) != 0)
			at = len[i];
		if (at + n > ROOM)
			continue;
		for (size_t j = 0; j < n; j++)
			bytes[j] = (char) ('a' + wc_mangle_random(26));
		bytes[n] = '\0';
		assert_int_equal(append(p, 3 + i, at, bytes), WC_OK);
		memcpy(copies[i] + at, bytes, n);
		len[i] = at + n;
		open[i] = true;
	}
	wc_pending_free(p);
}

static void
add_create(WcBatchBuilder *b, uint32_t table_id)
{
	WcFamilyDesc family = {.id = 1,.name = wc_slice_cstr("f"),.attrs = wc_family_attrs_default};
	WcTableDesc desc = {
		.id = table_id,.database = DATABASE,.ns = wc_slice_cstr("default"),.name = wc_slice_cstr("t"),
		.nfamilies = 1,.families = &family,.next_family_id = 2
	};
	WcError		err;

	family.attrs.packing = WC_PACKING_CELL;
	assert_int_equal(wc_batch_create_table(b, 1, &desc, &err), WC_OK);
}

static void
add_row(WcBatchBuilder *b)
{
	WcError		err;

	assert_int_equal(wc_batch_row_begin(b, 7, 1, wc_slice_cstr("r"), 0, NULL, 0, &err), WC_OK);
	assert_int_equal(wc_batch_put(b, 1, wc_slice_cstr("q"), WC_TS_LATEST, 0, wc_slice_cstr("v"), &err), WC_OK);
	assert_int_equal(wc_batch_row_end(b, &err), WC_OK);
}

static void
append_ops(WcPending *p, uint64_t at, const uint8_t *data, size_t n, uint8_t flags)
{
	WcLogRecord batch = {
		.kind = WC_RECORD_BATCH,.store = 1,.place = WC_RECORD_NO_PLACE,.database = DATABASE,.xid = 9,.flags = flags,
			.at = at,.bytes = wc_slice(data, n)
	};
	WcError		err;

	assert_int_equal(wc_pending_append(p, &batch, &err), WC_OK);
}

/* In pieces of any size, and also if the transaction takes it back. */
static void
tables_that_are_made_are_told_of(void **state)
{
	WcBuf		ops = WC_BUF_INIT;
	WcBatchBuilder b;
	size_t		first;
	size_t		create;

	(void) state;
	wc_batch_init(&b, &ops);
	add_row(&b);
	first = ops.len;
	add_create(&b, 300);
	create = ops.len;
	add_row(&b);
	for (size_t piece = 1; piece <= ops.len; piece++)
	{
		WcPending  *p = make();
		WcBatchBuilder again;
		WcBuf		other = WC_BUF_INIT;

		told = 0;
		for (size_t at = 0; at < ops.len; at += piece)
		{
			size_t		n = ops.len - at < piece ? ops.len - at : piece;

			append_ops(p, at, ops.data + at, n, at + n > first ? WC_RECORD_CATALOG : 0);
			assert_int_equal(told, at + n >= create ? 300 : 0);
		}

		/* cut back, and another one in its place */
		wc_batch_init(&again, &other);
		add_create(&again, 400);
		append_ops(p, first, other.data, other.len, WC_RECORD_CATALOG);
		assert_int_equal(told, 400);
		wc_buf_free(&other);
		wc_pending_free(p);
	}
	wc_buf_free(&ops);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_found),
		cmocka_unit_test(streams_are_kept_apart),
		cmocka_unit_test(a_batch_cuts),
		cmocka_unit_test(what_does_not_follow_is_refused),
		cmocka_unit_test(place_and_flags_are_remembered),
		cmocka_unit_test(what_a_crash_left_goes),
		cmocka_unit_test(a_mark_gives_memory_back),
		cmocka_unit_test(what_is_marked_is_not_put_again),
		cmocka_unit_test(prepared_ones_are_counted_and_marked),
		cmocka_unit_test(streams_are_as_their_copies),
		cmocka_unit_test(tables_that_are_made_are_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
