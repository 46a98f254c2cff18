/*
 * test/fuzz/test_corpus.c: every target's corpus, each file once; without libFuzzer.
 *
 * One test a target.  WC_FUZZ_CORPUS is the directory, else test/fuzz/corpus.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sanitizer/common_interface_defs.h>

#include "fuzz.h"

#define PATH_SIZE 1024

static const char *corpus = "test/fuzz/corpus";
static char current[PATH_SIZE];

/* The sanitizers say what is wrong, and abort() does not say anything: this is the input. */
static void
name_input(void)
{
	fprintf(stderr, "# the input was %s\n", current);
}

static void
on_abort(int signal_number)
{
	name_input();
	_exit(1);
}

static WcSlice
read_file(const char *path)
{
	static uint8_t room[1024 * 1024];
	FILE	   *f = fopen(path, "rb");
	size_t		n;

	assert_non_null(f);
	n = fread(room, 1, sizeof(room), f);
	assert_true(n < sizeof(room));
	fclose(f);
	return wc_fuzz_copy(wc_slice(room, n));
}

static void
replay(void **state)
{
	const WcFuzzTarget *target = *state;
	char		folder[PATH_SIZE / 2];
	DIR		   *dir;
	struct dirent *entry;
	size_t		n = 0;

	snprintf(folder, sizeof(folder), "%s/%s", corpus, target->name);
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
	{
		WcSlice		in;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(current, sizeof(current), "%s/%s", folder, entry->d_name);
		in = read_file(current);
		target->run(in);
		wc_fuzz_free(in);
		n++;
	}
	closedir(dir);
	current[0] = '\0';
	assert_true(n > 0);
}

/* A corpus that no target replays would be forgotten. */
static void
each_corpus_has_a_target(void **state)
{
	DIR		   *dir = opendir(corpus);
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
	{
		bool		known = entry->d_name[0] == '.';

		for (size_t i = 0; i < wc_fuzz_ntargets; i++)
			known = known || strcmp(entry->d_name, wc_fuzz_targets[i].name) == 0;
		if (!known)
			fail_msg("no target %s", entry->d_name);
	}
	closedir(dir);
}

int
main(void)
{
	struct CMUnitTest tests[WC_FUZZ_TARGETS_MAX + 1] = {cmocka_unit_test(each_corpus_has_a_target)};

	if (getenv("WC_FUZZ_CORPUS") != NULL)
		corpus = getenv("WC_FUZZ_CORPUS");
	for (size_t i = 0; i < wc_fuzz_ntargets; i++)
		tests[i + 1] = (struct CMUnitTest) {wc_fuzz_targets[i].name, replay, NULL, NULL, &wc_fuzz_targets[i]};
	__sanitizer_set_death_callback(name_input);
	signal(SIGABRT, on_abort);
	return _cmocka_run_group_tests("fuzz corpus", tests, wc_fuzz_ntargets + 1, NULL, NULL);
}
