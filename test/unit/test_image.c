/*
 * test/unit/test_image.c: images of a database: they have its content at their position, share table files, are refused
 * if they are incomplete, and are removed when they are old.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rocksdb/c.h>

#include "engine/rocks/image.h"

typedef struct Fixture
{
	char		path[64];
	char		live[96];
	rocksdb_options_t *options;
	rocksdb_t  *db;
	WcError		err;
} Fixture;

static WC_PRINTF(1, 2) void
sh(const char *format,...)
{
	char		command[512];
	va_list		args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command) != 0)
		fail_msg("failed: %s", command);
}

static void
open_live(Fixture *f)
{
	char	   *error = NULL;

	f->db = rocksdb_open(f->options, f->live, &error);
	if (error)
		fail_msg("%s", error);
}

static int
setup(void **state)
{
	Fixture    *f = calloc(1, sizeof(*f));

	snprintf(f->path, sizeof(f->path), "%s/wcimageXXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(f->path));
	snprintf(f->live, sizeof(f->live), "%s/%s", f->path, WC_LIVE_DIRECTORY);
	f->options = rocksdb_options_create();
	rocksdb_options_set_create_if_missing(f->options, 1);
	open_live(f);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	Fixture    *f = *state;

	if (f->db)
		rocksdb_close(f->db);
	rocksdb_options_destroy(f->options);
	sh("rm -rf %s", f->path);
	free(f);
	return 0;
}

static void
put(Fixture *f, const char *key, const char *value)
{
	rocksdb_writeoptions_t *w = rocksdb_writeoptions_create();
	char	   *error = NULL;

	rocksdb_writeoptions_disable_WAL(w, 1);
	rocksdb_put(f->db, w, key, strlen(key), value, strlen(value), &error);
	assert_null(error);
	rocksdb_writeoptions_destroy(w);
}

static void
flush(Fixture *f)
{
	rocksdb_flushoptions_t *o = rocksdb_flushoptions_create();
	char	   *error = NULL;

	rocksdb_flush(f->db, o, &error);
	assert_null(error);
	rocksdb_flushoptions_destroy(o);
}

static void
assert_value(Fixture *f, const char *key, const char *expected)
{
	rocksdb_readoptions_t *r = rocksdb_readoptions_create();
	char	   *error = NULL;
	size_t		len;
	char	   *value = rocksdb_get(f->db, r, key, strlen(key), &len, &error);

	assert_null(error);
	if (expected == NULL)
		assert_null(value);
	else
	{
		assert_non_null(value);
		assert_int_equal(len, strlen(expected));
		assert_memory_equal(value, expected, len);
	}
	rocksdb_free(value);
	rocksdb_readoptions_destroy(r);
}

static void
image(Fixture *f, uint64_t position)
{
	if (wc_image_build(f->path, f->db, &f->err) != WC_OK || wc_image_install(f->path, position, &f->err) != WC_OK)
		fail_msg("%s: %s", f->err.message, f->err.detail);
}

static void
assert_newest(Fixture *f, uint64_t expected)
{
	uint64_t	position = 0;
	WcStatus	status = wc_image_newest(f->path, &position, &f->err);

	if (expected == 0)
		assert_int_equal(status, WC_END);
	else
	{
		assert_int_equal(status, WC_OK);
		assert_int_equal(position, expected);
	}
}

static void
restore(Fixture *f, uint64_t position)
{
	rocksdb_close(f->db);
	if (wc_image_restore(f->path, position, &f->err) != WC_OK)
		fail_msg("%s", f->err.message);
	open_live(f);
}

static unsigned
count(const Fixture *f, const char *pattern)
{
	char		command[256];
	unsigned	n = 0;
	FILE	   *p;

	snprintf(command, sizeof(command), "ls -d %s/%s 2>/dev/null | wc -l", f->path, pattern);
	p = popen(command, "r");
	assert_non_null(p);
	assert_int_equal(fscanf(p, "%u", &n), 1);
	pclose(p);
	return n;
}

static void
test_there_is_none_at_first(void **state)
{
	assert_newest(*state, 0);
}

static void
test_an_image_holds_what_was_flushed(void **state)
{
	Fixture    *f = *state;

	put(f, "a", "1");
	flush(f);
	image(f, 0x10);
	put(f, "a", "2");
	put(f, "b", "2");
	flush(f);
	image(f, 0x20);
	put(f, "a", "3");			/* not in a file */
	assert_newest(f, 0x20);
	restore(f, 0x20);
	assert_value(f, "a", "2");
	assert_value(f, "b", "2");
	restore(f, 0x10);
	assert_value(f, "a", "1");
	assert_value(f, "b", NULL);
	assert_newest(f, 0x10);		/* images newer than the restored one are gone */
}

static void
test_of_one_position_the_last_image_counts(void **state)
{
	Fixture    *f = *state;

	put(f, "a", "1");
	flush(f);
	image(f, 0x10);
	put(f, "a", "2");
	flush(f);
	image(f, 0x10);
	restore(f, 0x10);
	assert_value(f, "a", "2");
}

static void
test_a_table_file_is_there_once(void **state)
{
	Fixture    *f = *state;

	put(f, "a", "1");
	flush(f);
	image(f, 0x10);
	image(f, 0x20);
	image(f, 0x30);
	assert_int_equal(count(f, "image-*"), 3);
	assert_int_equal(count(f, "sst/*"), 1);
	assert_int_equal(count(f, "image-*/*.sst"), 0);
}

static void
test_an_image_that_is_not_complete_is_passed_over(void **state)
{
	static const char *const harm[] = {
		"rm %s/image-0000000000000020/FILES",
		"truncate -s -4 %s/image-0000000000000020/FILES",
		"rm %s/image-0000000000000020/CURRENT",
		"truncate -s +1 %s/image-0000000000000020/MANIFEST-*",
		"rm $(ls %s/sst/*.sst | tail -n 1)",
		"truncate -s -1 $(ls %s/sst/*.sst | tail -n 1)",
	};

	for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++)
	{
		void	   *one;
		Fixture    *f;

		setup(&one);
		f = one;
		put(f, "a", "1");
		flush(f);
		image(f, 0x10);
		put(f, "a", "2");
		flush(f);
		image(f, 0x20);
		sh(harm[i], f->path);
		assert_newest(f, 0x10);
		restore(f, 0x10);
		assert_value(f, "a", "1");
		teardown(&one);
	}
	(void) state;
}

/* The restored database gives numbers once more that files of a lost image had. */
static void
test_a_number_given_twice_is_two_files(void **state)
{
	Fixture    *f = *state;

	put(f, "a", "1");
	flush(f);
	image(f, 0x10);
	put(f, "a", "lost");
	flush(f);
	image(f, 0x20);
	restore(f, 0x10);
	put(f, "a", "2");
	flush(f);
	image(f, 0x15);
	restore(f, 0x15);
	assert_value(f, "a", "2");
}

static void
test_old_images_go_and_what_only_they_name(void **state)
{
	Fixture    *f = *state;

	for (unsigned i = 1; i <= 4; i++)
	{
		char	   *error = NULL;

		put(f, "a", "x");
		flush(f);
		rocksdb_compact_range(f->db, NULL, 0, NULL, 0);	/* a new file each time */
		assert_null(error);
		image(f, i * 16);
	}
	assert_int_equal(wc_image_prune(f->path, 2, 3600, &f->err), WC_OK);
	assert_int_equal(count(f, "image-*"), 4);	/* all are young */
	assert_int_equal(wc_image_prune(f->path, 2, -10, &f->err), WC_OK);
	assert_int_equal(count(f, "image-*"), 2);
	assert_newest(f, 0x40);
	restore(f, 0x30);
	assert_value(f, "a", "x");
	assert_int_equal(wc_image_prune(f->path, 1, -10, &f->err), WC_OK);
	assert_int_equal(count(f, "sst/*"), 1);
}

/* The engine was killed while it removed an image. */
static void
test_the_rest_of_an_image_goes(void **state)
{
	Fixture    *f = *state;
	char		files[1024];

	for (unsigned i = 1; i <= 2; i++)
	{
		put(f, "a", "x");
		flush(f);
		image(f, i * 16);
	}
	(void) snprintf(files, sizeof(files), "%s/image-0000000000000020/FILES", f->path);
	assert_int_equal(unlink(files), 0);
	assert_int_equal(wc_image_prune(f->path, 1, 3600, &f->err), WC_OK);
	assert_int_equal(count(f, "image-*"), 1);
	assert_int_equal(count(f, "sst/*"), 1);
	assert_newest(f, 0x10);
}

/* The live database cannot be removed: here because of a directory in it, else because of a crash in between.  No half of it
 * stays, which would be refused. */
static void
test_a_live_database_is_replaced_as_a_whole(void **state)
{
	Fixture    *f = *state;

	put(f, "a", "1");
	flush(f);
	image(f, 0x10);
	put(f, "a", "2");
	rocksdb_close(f->db);
	f->db = NULL;
	sh("mkdir %s/kept", f->live);
	assert_int_not_equal(wc_image_restore(f->path, 0x10, &f->err), WC_OK);
	assert_int_equal(count(f, WC_LIVE_DIRECTORY "/kept"), 0);
	open_live(f);
	assert_value(f, "a", "1");

	/* the next image removes the rest */
	assert_int_equal(count(f, "pgsql_tmp.replaced"), 1);
	sh("rmdir %s/pgsql_tmp.replaced/kept", f->path);
	image(f, 0x20);
	assert_int_equal(count(f, "pgsql_tmp.replaced"), 0);
	restore(f, 0x20);
	assert_int_equal(count(f, "pgsql_tmp.*"), 1);
	assert_value(f, "a", "1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_there_is_none_at_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_image_holds_what_was_flushed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_one_position_the_last_image_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_table_file_is_there_once, setup, teardown),
		cmocka_unit_test(test_an_image_that_is_not_complete_is_passed_over),
		cmocka_unit_test_setup_teardown(test_a_number_given_twice_is_two_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_old_images_go_and_what_only_they_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_rest_of_an_image_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_live_database_is_replaced_as_a_whole, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
