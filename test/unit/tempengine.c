/*
 * test/unit/tempengine.c: an engine in a directory of its own, for tests.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "tempengine.h"

int64_t		wc_tempengine_now = INT64_C(1000000000000);

static char directory[4096];

static int64_t
test_clock(void)
{
	return wc_tempengine_now;
}

static WcEngine *
open_directory(void)
{
	WcEngineOptions options = {
		.path = directory,
		.block_cache_bytes = 8 << 20,
		.write_buffer_bytes = 8 << 20,
		.max_open_files = -1,
		.max_background_jobs = 2,
		.clock_us = test_clock
	};
	WcEngine   *engine;
	WcError		err;

	if (wc_engine_open(&options, &engine, &err) != WC_OK)
		fail_msg("%s (%s)", err.message, err.detail);
	return engine;
}

WcEngine *
wc_tempengine_open(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(directory, sizeof(directory), "%s/widecol-test-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(directory));
	return open_directory();
}

WcEngine *
wc_tempengine_reopen(WcEngine *engine)
{
	wc_engine_close(engine);
	return open_directory();
}

void
wc_tempengine_remove(WcEngine *engine)
{
	DIR		   *dir;
	struct dirent *entry;

	wc_engine_close(engine);
	dir = opendir(directory);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
	{
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	closedir(dir);
	assert_int_equal(rmdir(directory), 0);
}
