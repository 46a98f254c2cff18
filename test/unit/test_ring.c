/*
 * test/unit/test_ring.c: bytes through a ring; sleeping and waking on both sides.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "wire/message/frame.h"
#include "wire/message/segment.h"

#define SIZE 64

typedef struct Pair
{
	WcRing		ring;
	uint8_t		data[SIZE];
	WcRingEnd	w;
	WcRingEnd	r;
} Pair;

static void
pair_init(Pair *p)
{
	wc_ring_init(&p->ring);
	p->w = wc_ring_end(&p->ring, p->data, SIZE);
	p->r = wc_ring_end(&p->ring, p->data, SIZE);
}

static void
bytes_are_seen_once_published(void **state)
{
	Pair		p;
	char		out[8] = "";

	pair_init(&p);
	assert_int_equal(wc_ring_write(&p.w, "abc", 3), 3);
	assert_int_equal(wc_ring_available(&p.r), 0);
	wc_ring_publish(&p.w);
	assert_int_equal(wc_ring_available(&p.r), 3);
	assert_int_equal(wc_ring_read(&p.r, out, 2), 2);
	assert_int_equal(wc_ring_read(&p.r, out + 2, 6), 1);
	assert_string_equal(out, "abc");
	assert_int_equal(wc_ring_read(&p.r, out, 1), 0);
}

static void
room_comes_back_once_released(void **state)
{
	Pair		p;
	uint8_t		full[SIZE + 10] = {0};

	pair_init(&p);
	assert_int_equal(wc_ring_write(&p.w, full, sizeof(full)), SIZE);
	assert_int_equal(wc_ring_room(&p.w), 0);
	wc_ring_publish(&p.w);
	assert_int_equal(wc_ring_read(&p.r, NULL, 20), 20);
	assert_int_equal(wc_ring_room(&p.w), 0);
	wc_ring_release(&p.r);
	assert_int_equal(wc_ring_room(&p.w), 20);
	assert_int_equal(wc_ring_write(&p.w, full, sizeof(full)), 20);
}

/* Pieces of every size at every place of the ring. */
static void
bytes_survive_the_wrap(void **state)
{
	Pair		p;
	uint8_t		in[SIZE],
				out[SIZE];
	uint8_t		next = 0;

	pair_init(&p);
	for (size_t offset = 0; offset < 3 * SIZE; offset++)
	{
		for (size_t n = 1; n <= SIZE; n++)
		{
			for (size_t i = 0; i < n; i++)
				in[i] = next++;
			assert_int_equal(wc_ring_write(&p.w, in, n), n);
			wc_ring_publish(&p.w);
			assert_int_equal(wc_ring_read(&p.r, out, n), n);
			wc_ring_release(&p.r);
			assert_memory_equal(in, out, n);
		}
		assert_int_equal(wc_ring_write(&p.w, in, 1), 1);
		wc_ring_publish(&p.w);
		assert_int_equal(wc_ring_read(&p.r, NULL, 1), 1);
		wc_ring_release(&p.r);
	}
}

/* Another process may write anything into the positions.  Nothing has been written
 * or read here: a tail may be up to SIZE, a head may not be ahead of the tail. */
static void
impossible_positions_break_the_ring(void **state)
{
	static const uint64_t tails[] = {SIZE + 1, UINT64_MAX, (uint64_t) 1 << 40};
	static const uint64_t heads[] = {1, SIZE + 1, (uint64_t) 1 << 40};
	uint8_t		bytes[4 * SIZE] = {0};

	for (size_t i = 0; i < 3; i++)
	{
		Pair		p;

		pair_init(&p);
		atomic_store(&p.ring.tail, tails[i]);
		assert_int_equal(wc_ring_available(&p.r), 0);
		assert_true(p.r.broken);
		assert_int_equal(wc_ring_read(&p.r, bytes, sizeof(bytes)), 0);

		/* and stays so, however much is to be written */
		pair_init(&p);
		atomic_store(&p.ring.head, heads[i]);
		assert_int_equal(wc_ring_room(&p.w), 0);
		assert_true(p.w.broken);
		assert_int_equal(wc_ring_write(&p.w, bytes, 1), 0);
		assert_int_equal(wc_ring_write(&p.w, bytes, sizeof(bytes)), 0);
	}
}

/* A reader that has found the ring broken stays away from it. */
static void
frames_of_a_broken_ring_are_an_error(void **state)
{
	Pair		p;
	WcFrameReader reader;
	WcError		err;

	pair_init(&p);
	wc_frame_reader_init(&reader);
	atomic_store(&p.ring.tail, SIZE + 1);
	assert_int_equal(wc_frame_read(&reader, &p.r, &err), WC_CORRUPT);
	wc_frame_reader_free(&reader);
}

/* --- two threads, one of which sleeps ---------------------------------------*/

#define STREAM_BYTES (4 * 1024 * 1024)

static uint8_t
stream_byte(size_t i)
{
	return (uint8_t) (i * 31 + (i >> 8));
}

/* The session thread's side: sleeps when there is nothing to read. */
static void *
stream_reader(void *arg)
{
	WcSegment  *s = arg;
	WcRingEnd	in = wc_segment_requests(s);
	static uint8_t piece[5000];
	size_t		got = 0;

	while (got < STREAM_BYTES)
	{
		size_t		n = wc_ring_read(&in, piece, sizeof(piece));

		for (size_t i = 0; i < n; i++)
		{
			if (piece[i] != stream_byte(got + i))
				return "a byte is wrong";
		}
		got += n;
		if (n > 0)
		{
			wc_ring_release(&in);
			continue;
		}
		atomic_store(&s->engine_sleeping, 1);
		if (wc_ring_available(&in) == 0)
			wc_segment_sleep(s, -1);
		else
			atomic_store(&s->engine_sleeping, 0);
	}
	return NULL;
}

/* A wake-up that is lost would make this hang: the reader sleeps without limit. */
static void
a_sleeper_misses_nothing(void **state)
{
	WcSegment  *s = aligned_alloc(64, (wc_segment_size() + 63) & ~(size_t) 63);
	WcRingEnd	out;
	pthread_t	thread;
	void	   *wrong;
	size_t		sent = 0;
	uint8_t		piece[777];

	assert_non_null(s);
	wc_segment_init(s);
	out = wc_segment_requests(s);
	assert_int_equal(pthread_create(&thread, NULL, stream_reader, s), 0);
	while (sent < STREAM_BYTES)
	{
		size_t		want = sizeof(piece) < STREAM_BYTES - sent ? sizeof(piece) : STREAM_BYTES - sent;
		size_t		n;

		for (size_t i = 0; i < want; i++)
			piece[i] = stream_byte(sent + i);
		n = wc_ring_write(&out, piece, want);
		sent += n;
		wc_ring_publish(&out);
		wc_segment_wake_engine(s);
		if (n == 0)
			sched_yield();
	}
	pthread_join(thread, &wrong);
	assert_null(wrong);
	free(s);
}

/* The session's thread learns whether it was woken, also before it slept; the flag is down afterwards. */
static void
a_sleeper_learns_whether_it_was_woken(void **state)
{
	WcSegment  *s = aligned_alloc(64, (wc_segment_size() + 63) & ~(size_t) 63);

	assert_non_null(s);
	wc_segment_init(s);
	atomic_store(&s->engine_sleeping, 1);
	wc_segment_wake_engine(s);
	assert_true(wc_segment_sleep(s, -1));
	atomic_store(&s->engine_sleeping, 1);
	assert_false(wc_segment_sleep(s, 1000));
	assert_int_equal(atomic_load(&s->engine_sleeping), 0);
	free(s);
}

/* --- cancelling -------------------------------------------------------------*/

static void
cancelling_reaches_what_it_names(void **state)
{
	WcSegment  *s = aligned_alloc(64, (wc_segment_size() + 63) & ~(size_t) 63);

	assert_non_null(s);
	wc_segment_init(s);
	assert_false(wc_segment_begin(s, 1));
	assert_false(atomic_load(&s->cancel));

	/* the newest request, on which no thread works yet: the current one continues */
	wc_segment_cancel_one(s, 2);
	assert_false(atomic_load(&s->cancel));
	assert_true(wc_segment_begin(s, 2));
	assert_false(wc_segment_begin(s, 3));

	/* the one that is worked on is stopped, the next is not */
	wc_segment_cancel_one(s, 3);
	assert_true(atomic_load(&s->cancel));
	assert_false(wc_segment_begin(s, 4));
	assert_false(atomic_load(&s->cancel));

	/* all so far */
	wc_segment_cancel_upto(s, 6);
	assert_true(atomic_load(&s->cancel));
	assert_true(wc_segment_begin(s, 5));
	assert_true(wc_segment_begin(s, 6));
	assert_false(wc_segment_begin(s, 7));
	assert_false(atomic_load(&s->cancel));

	/* an answer is not worth sending any more, or is, and either side can tell */
	assert_true(wc_segment_answer(s, 7));
	assert_true(atomic_load(&s->answering) == 7);
	wc_segment_cancel_upto(s, 8);
	assert_false(wc_segment_answer(s, 8));
	wc_segment_cancel_one(s, 9);
	assert_false(wc_segment_answer(s, 9));
	assert_true(wc_segment_answer(s, 10));
	free(s);
}

static void
foreign_memory_is_refused(void **state)
{
	WcSegment  *s = aligned_alloc(64, (wc_segment_size() + 63) & ~(size_t) 63);
	WcError		err;

	assert_non_null(s);
	wc_segment_init(s);
	assert_int_equal(wc_segment_check(s, wc_segment_size(), &err), WC_OK);
	assert_int_equal(wc_segment_check(s, wc_segment_size() - 1, &err), WC_CORRUPT);
	s->version++;
	assert_int_equal(wc_segment_check(s, wc_segment_size(), &err), WC_UNSUPPORTED);
	assert_string_not_equal(err.hint, "");
	s->version--;
	s->request_size *= 2;
	assert_int_equal(wc_segment_check(s, wc_segment_size(), &err), WC_UNSUPPORTED);
	s->magic = 0;
	assert_int_equal(wc_segment_check(s, wc_segment_size(), &err), WC_CORRUPT);
	free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_seen_once_published),
		cmocka_unit_test(room_comes_back_once_released),
		cmocka_unit_test(bytes_survive_the_wrap),
		cmocka_unit_test(impossible_positions_break_the_ring),
		cmocka_unit_test(frames_of_a_broken_ring_are_an_error),
		cmocka_unit_test(a_sleeper_misses_nothing),
		cmocka_unit_test(a_sleeper_learns_whether_it_was_woken),
		cmocka_unit_test(cancelling_reaches_what_it_names),
		cmocka_unit_test(foreign_memory_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
