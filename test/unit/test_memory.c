/*
 * test/unit/test_memory.c: RocksDB runs out of memory: the present request fails, and nothing else does.
 */
#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* C++'s operators new and delete are these, in all of the program: those of this thread
 * fail from so many bytes on. */
static _Thread_local size_t fail_from = SIZE_MAX;

extern void throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv") __attribute__((noreturn));
extern void *new_object(size_t size) __asm__("_Znwm");
extern void *new_array(size_t size) __asm__("_Znam");
extern void delete_object(void *p) __asm__("_ZdlPv");
extern void delete_sized(void *p, size_t size) __asm__("_ZdlPvm");
extern void delete_array(void *p) __asm__("_ZdaPv");
extern void delete_sized_array(void *p, size_t size) __asm__("_ZdaPvm");

void *
new_object(size_t size)
{
	void	   *p = size < fail_from ? malloc(size > 0 ? size : 1) : NULL;

	if (p == NULL)
		throw_bad_alloc();
	return p;
}

void *
new_array(size_t size)
{
	return new_object(size);
}

void
delete_object(void *p)
{
	free(p);
}

void
delete_sized(void *p, size_t size)
{
	free(p);
}

void
delete_array(void *p)
{
	free(p);
}

void
delete_sized_array(void *p, size_t size)
{
	free(p);
}

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

/* More than a page, and all the same. */
static void
put_large(Kit *kit, const char *row)
{
	static char value[50000];

	memset(value, 'v', sizeof(value) - 1);
	kit_put(kit, row, 1, "a", KIT_LATEST, value);
}

static void
test_commit(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcStatus	status;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
		kit_commit(&kit);
		put_large(&kit, "s");
		kit_put(&kit, "t", 1, "a", KIT_LATEST, "behind it");
		fail_from = 20000;
		status = kit_try_commit(&kit);
		fail_from = SIZE_MAX;
		assert_int_equal(status, WC_NO_MEMORY);
		assert_non_null(strstr(kit.err.message, "stored table \"t\""));
		assert_false(wc_engine_must_restart(kit.engine));
		assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");
		kit_put(&kit, "u", 1, "a", KIT_LATEST, "2");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=1} u{f:a=2}");
		kit_close(&kit);
	}
}

static void
test_scan(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcReadPoint at;
		WcScan		scan;
		const char *text;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		put_large(&kit, "r");
		kit_put(&kit, "s", 1, "a", KIT_LATEST, "1");
		kit_commit(&kit);
		kit_flush(&kit);
		kit_reopen(&kit);		/* nothing is in RocksDB's cache */
		at = kit_point(&kit, false);
		wc_scan_init(&scan, kit.table);
		fail_from = 20000;
		text = kit_scan_with(&kit, &scan, &at);
		fail_from = SIZE_MAX;
		assert_string_equal(text, "error: out of memory");
		assert_string_equal(kit.err.message, "storage engine could not read family \"f\" of stored table \"t\"");
		assert_non_null(strstr(kit_scan(&kit, false), "s{f:a=1}"));
		kit_close(&kit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commit),
		cmocka_unit_test(test_scan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
