/*
 * test/unit/test_base.c: status, buffers, arenas, coding, clock, log.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/coding.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/slice.h"
#include "base/status.h"
#include "base/threads.h"

/* --- status ----------------------------------------------------------------- */

static void
error_carries_its_texts(void **state)
{
	WcError		err;

	(void) state;
	assert_int_equal(wc_error(&err, WC_NO_TABLE, "table \"%s\" does not exist", "t"), WC_NO_TABLE);
	wc_error_detail(&err, "There are %d others.", 3);
	wc_error_hint(&err, "Create it.");
	assert_int_equal(err.status, WC_NO_TABLE);
	assert_string_equal(err.message, "table \"t\" does not exist");
	assert_string_equal(err.detail, "There are 3 others.");
	assert_string_equal(err.hint, "Create it.");

	/* A new error leaves nothing of the old one. */
	assert_int_equal(wc_error(&err, WC_IO, "gone"), WC_IO);
	assert_string_equal(err.detail, "");
	assert_string_equal(err.hint, "");

	/* It may be made of the old one's text. */
	wc_error(&err, WC_CORRUPT, "wrapped: %s", err.message);
	assert_string_equal(err.message, "wrapped: gone");

	/* Nobody has to want the text. */
	assert_int_equal(wc_error(NULL, WC_IO, "gone"), WC_IO);
	wc_error_detail(NULL, "x");
	wc_error_hint(NULL, "x");
}

static void
long_error_text_is_cut_between_characters(void **state)
{
	static const char *const characters[] = {"x", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x90\x98"};

	(void) state;
	for (size_t c = 0; c < 4; c++)
	{
		size_t		width = strlen(characters[c]);

		for (size_t lead = 0; lead < 5; lead++)
		{
			char		text[2 * WC_ERROR_TEXT_MAX] = "";
			WcError		err;
			size_t		len;

			for (size_t i = 0; i < lead; i++)
				strcat(text, "-");
			while (strlen(text) < WC_ERROR_TEXT_MAX + 20)
				strcat(text, characters[c]);
			wc_error(&err, WC_IO, "%s", text);
			len = strlen(err.message);
			assert_true(len < WC_ERROR_TEXT_MAX && len + width >= WC_ERROR_TEXT_MAX);
			assert_int_equal((len - lead) % width, 0);
			assert_memory_equal(err.message, text, len);
		}
	}
}

/* --- slices ----------------------------------------------------------------- */

static void
slices_compare_as_unsigned_bytes(void **state)
{
	(void) state;
	assert_true(wc_slice_cmp(wc_slice("\x7F", 1), wc_slice("\x80", 1)) < 0);
	assert_true(wc_slice_cmp(wc_slice_cstr("a"), wc_slice("a\0", 2)) < 0);
	assert_true(wc_slice_cmp(wc_slice_cstr("b"), wc_slice_cstr("aa")) > 0);
	assert_int_equal(wc_slice_cmp(wc_slice(NULL, 0), wc_slice_cstr("")), 0);
	assert_true(wc_slice_eq(wc_slice(NULL, 0), wc_slice_cstr("")));
	assert_false(wc_slice_eq(wc_slice_cstr("ab"), wc_slice_cstr("ac")));
	assert_false(wc_slice_eq(wc_slice_cstr("ab"), wc_slice_cstr("abc")));
	for (size_t len = 0; len <= 40; len++)
	{
		/* no bytes but its own: the sanitizer sees an access beyond them */
		uint8_t    *a = malloc(len + 1);
		uint8_t    *b = malloc(len + 1);
		const uint8_t *one = len % 2 == 0 ? a : a + 1;
		const uint8_t *two = b + 1;

		memset(a, 'x', len + 1);
		memset(b, 'x', len + 1);
		assert_true(wc_slice_eq(wc_slice(one, len), wc_slice(two, len)));
		for (size_t i = 0; i < len; i++)
		{
			b[i + 1] = 'y';
			assert_false(wc_slice_eq(wc_slice(one, len), wc_slice(two, len)));
			b[i + 1] = 'x';
		}
		free(a);
		free(b);
	}
	assert_true(wc_slice_starts_with(wc_slice_cstr("abc"), wc_slice_cstr("ab")));
	assert_true(wc_slice_starts_with(wc_slice_cstr("abc"), wc_slice(NULL, 0)));
	assert_false(wc_slice_starts_with(wc_slice_cstr("a"), wc_slice_cstr("ab")));
}

/* --- buffers ---------------------------------------------------------------- */

static void
buffer_grows_and_keeps_contents(void **state)
{
	WcBuf		buf;

	(void) state;
	wc_buf_init(&buf, 0);
	for (int i = 0; i < 100000; i++)
		wc_buf_append_u8(&buf, (uint8_t) i);
	assert_int_equal(buf.len, 100000);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(buf.data[i], (uint8_t) i);
	assert_int_equal(wc_buf_status(&buf, "test", NULL), WC_OK);
	wc_buf_append(&buf, NULL, 0);
	assert_int_equal(buf.len, 100000);

	wc_buf_reset(&buf, 1000);
	assert_int_equal(buf.len, 0);
	assert_true(buf.cap <= 1000);
	wc_buf_append_slice(&buf, wc_slice_cstr("again"));
	assert_true(wc_slice_eq(wc_buf_slice(&buf), wc_slice_cstr("again")));
	wc_buf_reset(&buf, 0);
	assert_int_equal(buf.cap, 0);
	assert_non_null(wc_buf_reserve(&buf, 0));
	wc_buf_free(&buf);
	assert_null(buf.data);
}

static void
buffer_refuses_more_than_its_limit(void **state)
{
	WcBuf		buf;
	WcError		err;

	(void) state;
	wc_buf_init(&buf, 10);
	wc_buf_append_slice(&buf, wc_slice_cstr("12345"));
	wc_buf_append_slice(&buf, wc_slice_cstr("678901"));
	wc_buf_append_slice(&buf, wc_slice_cstr("6"));
	assert_true(buf.failed);
	assert_true(wc_slice_eq(wc_buf_slice(&buf), wc_slice_cstr("12345")));
	assert_null(wc_buf_reserve(&buf, 1));
	assert_int_equal(wc_buf_status(&buf, "message", &err), WC_TOO_LARGE);
	assert_string_equal(err.message, "message is too large: 11 bytes, the limit is 10");

	wc_buf_reset(&buf, SIZE_MAX);
	assert_int_equal(wc_buf_status(&buf, "message", &err), WC_OK);
	wc_buf_append_slice(&buf, wc_slice_cstr("1234567890"));
	assert_int_equal(wc_buf_status(&buf, "message", &err), WC_OK);
	assert_int_equal(buf.len, 10);
	wc_buf_free(&buf);
	assert_int_equal(buf.limit, 10);
}

static void
impossible_length_is_out_of_memory(void **state)
{
	WcBuf		buf;

	(void) state;
	wc_buf_init(&buf, 0);
	wc_buf_append_u8(&buf, 1);
	assert_null(wc_buf_reserve(&buf, SIZE_MAX));
	assert_int_equal(wc_buf_status(&buf, "test", NULL), WC_NO_MEMORY);
	assert_int_equal(buf.len, 1);
	wc_buf_free(&buf);
}

/* --- arenas ----------------------------------------------------------------- */

static void
arena_memory_is_aligned_and_apart(void **state)
{
	enum
	{
		COUNT = 3000
	};
	WcArena		arena = WC_ARENA_INIT;
	uint8_t    *p[COUNT];
	size_t		n[COUNT];
	size_t		sum = 0;

	(void) state;
	for (int round = 0; round < 3; round++)
	{
		for (int i = 0; i < COUNT; i++)
		{
			n[i] = i % 500 == 499 ? 2000000 : (size_t) (i * 7 % 6000);
			p[i] = wc_arena_alloc(&arena, n[i]);
			assert_non_null(p[i]);
			assert_int_equal((uintptr_t) p[i] % 8, 0);
			memset(p[i], i & 0xFF, n[i]);
			sum += n[i];
		}
		for (int i = 0; i < COUNT; i++)
			for (size_t k = 0; k < n[i]; k += n[i] > 100 ? n[i] / 50 : 1)
				assert_int_equal(p[i][k], i & 0xFF);
		assert_true(arena.total >= sum);
		wc_arena_reset(&arena);
		assert_true(arena.total > 0 && arena.total <= 64 * 1024);
		sum = 0;
	}
	wc_arena_free(&arena);
	assert_int_equal(arena.total, 0);
}

static void
arena_copies_zeroes_and_refuses(void **state)
{
	WcArena		arena = WC_ARENA_INIT;
	char		text[] = "text";
	WcSlice		copy = wc_arena_copy(&arena, wc_slice_cstr(text));
	uint8_t    *zero;

	(void) state;
	text[0] = 'T';
	assert_true(wc_slice_eq(copy, wc_slice_cstr("text")));
	assert_int_equal(wc_arena_copy(&arena, wc_slice(NULL, 0)).len, 0);
	assert_non_null(wc_arena_alloc(&arena, 0));

	memset(wc_arena_alloc(&arena, 1000), 0xFF, 1000);
	wc_arena_reset(&arena);
	zero = wc_arena_alloc_zero(&arena, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(zero[i], 0);

	assert_null(wc_arena_alloc(&arena, SIZE_MAX));
	assert_null(wc_arena_alloc(&arena, SIZE_MAX - 8));
	assert_non_null(wc_arena_alloc(&arena, 1));
	wc_arena_free(&arena);

	/* Also when the first thing is a large one. */
	assert_non_null(wc_arena_alloc(&arena, 100000));
	assert_non_null(wc_arena_alloc(&arena, 8));
	wc_arena_reset(&arena);
	assert_non_null(wc_arena_alloc(&arena, 8));
	wc_arena_free(&arena);
}

/* --- coding ----------------------------------------------------------------- */

static void
fixed_numbers_are_big_endian(void **state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcDecoder	d;

	(void) state;
	wc_buf_append_u8(&buf, 0xFE);
	wc_buf_append_u16(&buf, 0x0102);
	wc_buf_append_u32(&buf, 0x03040506);
	wc_buf_append_u64(&buf, UINT64_C(0x0708090A0B0C0D0E));
	assert_int_equal(buf.len, 15);
	assert_memory_equal(buf.data, "\xFE\1\2\3\4\5\6\7\10\11\12\13\14\15\16", 15);
	d = wc_decoder(wc_buf_slice(&buf));
	assert_int_equal(wc_decode_u8(&d), 0xFE);
	assert_int_equal(wc_decode_u16(&d), 0x0102);
	assert_int_equal(wc_decode_u32(&d), 0x03040506);
	assert_false(wc_decoder_done(&d));
	assert_true(wc_decode_u64(&d) == UINT64_C(0x0708090A0B0C0D0E));
	assert_true(wc_decoder_done(&d));
	wc_buf_free(&buf);
}

static void
a_bool_is_0_or_1(void **state)
{
	WcDecoder	d = wc_decoder(wc_slice("\0\1\2\1", 4));

	assert_false(wc_decode_bool(&d));
	assert_true(wc_decode_bool(&d));
	assert_false(d.failed);
	assert_false(wc_decode_bool(&d));
	assert_true(d.failed);
}

static void
varints_round_trip(void **state)
{
	(void) state;
	for (unsigned shift = 0; shift < 64; shift++)
	{
		for (int delta = -1; delta <= 1; delta++)
		{
			uint64_t	v = (UINT64_C(1) << shift) + (uint64_t) delta;
			uint8_t		bytes[WC_VARINT_MAX];
			size_t		n = (size_t) (wc_store_varint(bytes, v) - bytes);
			WcDecoder	d = wc_decoder(wc_slice(bytes, n));

			assert_true(n >= 1 && n <= WC_VARINT_MAX);
			assert_true(wc_decode_varint(&d) == v);
			assert_true(wc_decoder_done(&d));

			/* Cut anywhere it is no number. */
			for (size_t cut = 0; cut < n; cut++)
			{
				uint8_t    *exact = malloc(cut > 0 ? cut : 1);

				memcpy(exact, bytes, cut);
				d = wc_decoder(wc_slice(exact, cut));
				assert_int_equal(wc_decode_varint(&d), 0);
				assert_true(d.failed);
				free(exact);
			}
		}
	}
}

static void
varints_beyond_64_bits_fail(void **state)
{
	static const uint8_t largest[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01};
	static const uint8_t larger[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02};
	static const uint8_t longer[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01};
	WcDecoder	d = wc_decoder(wc_slice(largest, sizeof(largest)));

	(void) state;
	assert_true(wc_decode_varint(&d) == UINT64_MAX);
	assert_true(wc_decoder_done(&d));
	d = wc_decoder(wc_slice(larger, sizeof(larger)));
	(void) wc_decode_varint(&d);
	assert_true(d.failed);
	d = wc_decoder(wc_slice(longer, sizeof(longer)));
	(void) wc_decode_varint(&d);
	assert_true(d.failed);
}

static void
a_failed_decoder_gives_nothing_more(void **state)
{
	static const uint8_t bytes[] = {5, 'a', 'b', 'c', 1, 2, 3, 4, 5, 6};
	WcDecoder	d = wc_decoder(wc_slice(bytes, 4));

	(void) state;
	assert_int_equal(wc_decode_bytes(&d).len, 0);	/* 5 were promised, 3 are there */
	assert_true(d.failed);
	assert_int_equal(wc_decode_u8(&d), 0);
	assert_int_equal(wc_decode_u16(&d), 0);
	assert_int_equal(wc_decode_u32(&d), 0);
	assert_int_equal(wc_decode_u64(&d), 0);
	assert_int_equal(wc_decode_varint(&d), 0);
	assert_int_equal(wc_decode_raw(&d, 1).len, 0);
	assert_int_equal(wc_decode_count(&d, 10, 1), 0);
	assert_false(wc_decoder_done(&d));

	/* A number beyond its maximum fails it too. */
	d = wc_decoder(wc_slice(bytes, sizeof(bytes)));
	assert_int_equal(wc_decode_varint_max(&d, 4), 0);
	assert_int_equal(wc_decode_u8(&d), 0);
	assert_true(d.failed);
	d = wc_decoder(wc_slice(bytes, sizeof(bytes)));
	assert_int_equal(wc_decode_varint_max(&d, 5), 5);

	/* And a count of what cannot all be there: 5 things in 9 bytes. */
	d = wc_decoder(wc_slice(bytes, sizeof(bytes)));
	assert_int_equal(wc_decode_count(&d, 100, 1), 5);
	d = wc_decoder(wc_slice(bytes, sizeof(bytes)));
	assert_int_equal(wc_decode_count(&d, 100, 2), 0);
	assert_true(d.failed);

	/* Nothing is a good input when nothing is expected. */
	d = wc_decoder(wc_slice(NULL, 0));
	assert_true(wc_decoder_done(&d));
	assert_int_equal(wc_decode_raw(&d, 0).len, 0);
	assert_true(wc_decoder_done(&d));
	assert_int_equal(wc_decode_u8(&d), 0);
	assert_true(d.failed);
}

static void
bytes_carry_their_length(void **state)
{
	WcBuf		buf = WC_BUF_INIT;
	uint8_t		large[300];
	WcDecoder	d;

	(void) state;
	memset(large, 'x', sizeof(large));
	wc_buf_append_bytes(&buf, wc_slice_cstr("abc"));
	wc_buf_append_bytes(&buf, wc_slice(NULL, 0));
	wc_buf_append_bytes(&buf, wc_slice(large, sizeof(large)));
	d = wc_decoder(wc_buf_slice(&buf));
	assert_true(wc_slice_eq(wc_decode_bytes(&d), wc_slice_cstr("abc")));
	assert_int_equal(wc_decode_bytes(&d).len, 0);
	assert_true(wc_slice_eq(wc_decode_bytes(&d), wc_slice(large, sizeof(large))));
	assert_true(wc_decoder_done(&d));
	wc_buf_free(&buf);
}

/* --- clock and log ---------------------------------------------------------- */

static void
clocks_tell_time(void **state)
{
	int64_t		before = wc_clock_monotonic_us();
	int64_t		wall = wc_clock_wall_us();

	(void) state;
	assert_true(wall > INT64_C(1577836800000000));	/* 2020 */
	assert_true(wall < INT64_C(7258118400000000));	/* 2200 */
	assert_true(wc_clock_monotonic_us() >= before);
}

/* What one call writes to standard error. */
static size_t
logged(char *line, size_t size, WcLogLevel level, const char *text)
{
	int			fds[2];
	int			saved;
	ssize_t		n;

	assert_int_equal(pipe(fds), 0);
	saved = dup(STDERR_FILENO);
	assert_true(saved >= 0);
	assert_true(dup2(fds[1], STDERR_FILENO) >= 0);
	errno = EDOM;
	wc_log(level, "%s", text);
	assert_int_equal(errno, EDOM);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	close(fds[1]);
	n = read(fds[0], line, size - 1);
	close(fds[0]);
	assert_true(n > 0);
	line[n] = '\0';
	return (size_t) n;
}

static void
log_writes_one_line(void **state)
{
	char		line[4096];
	char		text[3000];
	size_t		n;

	(void) state;
	n = logged(line, sizeof(line), WC_LOG_WARNING, "two\nlines\tof \"text\"");
	assert_non_null(strstr(line, "widecol WARNING:  two lines of \"text\"\n"));
	assert_ptr_equal(strchr(line, '\n'), line + n - 1);

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	n = logged(line, sizeof(line), WC_LOG_ERROR, text);
	assert_int_equal(n, 1024);
	assert_ptr_equal(strchr(line, '\n'), line + n - 1);
	assert_non_null(strstr(line, "widecol ERROR:  xxx"));
}

/* A thread stays where it is told to, and goes where the process may again. */
static void
a_thread_stays_on_its_processor(void **state)
{
	cpu_set_t	before,
				now;
	int			cpu;

	(void) state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(wc_cpu_count(), CPU_COUNT(&before));
	cpu = wc_cpu_here();
	assert_true(CPU_ISSET(cpu, &before));
	wc_cpu_stay(cpu);
	assert_int_equal(wc_cpu_here(), cpu);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_int_equal(CPU_COUNT(&now), 1);

	/* there is none like that: nothing happens */
	wc_cpu_stay(CPU_SETSIZE);
	assert_int_equal(wc_cpu_here(), cpu);
	wc_cpu_stay(WC_CPU_ANY);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_EQUAL(&now, &before));

	/* on any but this one, if there is another */
	wc_cpu_stay(WC_CPU_BUT(cpu));
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_int_equal(CPU_COUNT(&now), CPU_COUNT(&before) > 1 ? CPU_COUNT(&before) - 1 : 1);
	assert_int_equal(CPU_ISSET(cpu, &now), CPU_COUNT(&before) == 1);
	wc_cpu_stay(WC_CPU_BUT(CPU_SETSIZE));
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_EQUAL(&now, &before));
}

typedef struct Begun
{
	cpu_set_t	cpus;
	sigset_t	blocked;
} Begun;

static void *
note_begin(void *arg)
{
	Begun	   *begun = arg;

	sched_getaffinity(0, sizeof(begun->cpus), &begun->cpus);
	pthread_sigmask(SIG_SETMASK, NULL, &begun->blocked);
	return NULL;
}

/* A new thread runs where the process may, wherever its maker has to stay, and takes no signals; its maker takes them. */
static void
a_new_thread_is_free_of_its_makers_place(void **state)
{
	cpu_set_t	all;
	sigset_t	mine;
	Begun		begun;
	pthread_t	thread;

	(void) state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	(void) wc_cpu_count();
	wc_cpu_stay(wc_cpu_here());
	assert_int_equal(wc_thread_start(&thread, 0, note_begin, &begun), 0);
	pthread_join(thread, NULL);
	assert_true(CPU_EQUAL(&begun.cpus, &all));
	assert_true(sigismember(&begun.blocked, SIGTERM));
	assert_true(sigismember(&begun.blocked, SIGUSR1));
	pthread_sigmask(SIG_SETMASK, NULL, &mine);
	assert_false(sigismember(&mine, SIGTERM));
	wc_cpu_stay(WC_CPU_ANY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_stays_on_its_processor),
		cmocka_unit_test(a_new_thread_is_free_of_its_makers_place),
		cmocka_unit_test(error_carries_its_texts),
		cmocka_unit_test(long_error_text_is_cut_between_characters),
		cmocka_unit_test(slices_compare_as_unsigned_bytes),
		cmocka_unit_test(buffer_grows_and_keeps_contents),
		cmocka_unit_test(buffer_refuses_more_than_its_limit),
		cmocka_unit_test(impossible_length_is_out_of_memory),
		cmocka_unit_test(arena_memory_is_aligned_and_apart),
		cmocka_unit_test(arena_copies_zeroes_and_refuses),
		cmocka_unit_test(fixed_numbers_are_big_endian),
		cmocka_unit_test(a_bool_is_0_or_1),
		cmocka_unit_test(varints_round_trip),
		cmocka_unit_test(varints_beyond_64_bits_fail),
		cmocka_unit_test(a_failed_decoder_gives_nothing_more),
		cmocka_unit_test(bytes_carry_their_length),
		cmocka_unit_test(clocks_tell_time),
		cmocka_unit_test(log_writes_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
