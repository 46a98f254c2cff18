/*
 * test/unit/test_touch.c: memory that a thread touches (base/touch.h) keeps its bytes, also those that are written meanwhile.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/touch.h"

#define BYTES (8 << 20)

/* How many pages of shared memory the system has given to this process. */
static size_t
resident(void *memory, size_t len)
{
	size_t		page = (size_t) sysconf(_SC_PAGESIZE);
	size_t		n = 0;
	unsigned char *map = malloc(len / page);

	assert_non_null(map);
	assert_int_equal(mincore(memory, len, map), 0);
	for (size_t i = 0; i < len / page; i++)
		n += map[i] & 1;
	free(map);
	return n;
}

static void
all_pages_are_touched_and_no_byte_changes(void **state)
{
	size_t		npages = BYTES / (size_t) sysconf(_SC_PAGESIZE);
	_Atomic uint64_t *words = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t	n = 0;
	WcToucher  *toucher;
	WcError		err;

	(void) state;
	assert_ptr_not_equal(words, MAP_FAILED);
	assert_int_equal(wc_toucher_start(words, BYTES, &toucher, &err), WC_OK);
	while (resident(words, BYTES) < npages)
	{
		for (int i = 0; i < 1000; i++)
			atomic_fetch_add(&words[0], 1);
		n += 1000;
		usleep(100);
	}
	wc_toucher_stop(toucher);
	assert_int_equal(words[0], n);
	for (size_t i = 1; i < BYTES / sizeof(*words); i++)
		assert_int_equal(words[i], 0);
	munmap(words, BYTES);
}

static void
it_can_be_stopped_early(void **state)
{
	void	   *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	WcToucher  *toucher;
	WcError		err;

	(void) state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	for (int i = 0; i < 50; i++)
	{
		assert_int_equal(wc_toucher_start(memory, BYTES, &toucher, &err), WC_OK);
		wc_toucher_stop(toucher);
	}
	assert_int_equal(wc_toucher_start(memory, 0, &toucher, &err), WC_OK);
	wc_toucher_stop(toucher);
	wc_toucher_stop(NULL);
	munmap(memory, BYTES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_pages_are_touched_and_no_byte_changes),
		cmocka_unit_test(it_can_be_stopped_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
