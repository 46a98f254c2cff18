/*
 * test/unit/test_identity.c: stores of other clusters, and incomplete stores, are refused without a change; and the
 * settings that accept or replace them.
 */
#include "enginekit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Names, modes and bytes of the store's files, and of the record. */
static void
fingerprint(const Kit *kit, char *text, size_t size)
{
	char		command[512];
	FILE	   *f;
	size_t		n;

	/* RocksDB's own diary is no part of the store */
	snprintf(command, sizeof(command),
			 "{ stat -c '%%a %%n' %s; find %s %s -type f ! -name 'LOG*' -exec sha1sum {} + ; } 2>&1 | sort", kit->dir, kit->dir, kit->record);
	f = popen(command, "r");
	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	pclose(f);
}

static uint32_t
store_id(const Kit *kit)
{
	FILE	   *f = fopen(kit->record, "r");
	uint32_t	id = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "widecol store %8" SCNx32, &id), 1);
	fclose(f);
	return id;
}

static void
close_store(Kit *kit)
{
	wc_txn_destroy(kit->txn);
	wc_engine_close(kit->engine);
}

/* A store with 300 synced rows, of which the first hundred are in files; closed. */
static void
make_store(Kit *kit)
{
	char		row[16];

	kit_open(kit);
	kit_create(kit, "t", WC_PACKING_ROW, 1);
	kit_commit(kit);
	for (int i = 0; i < 300; i++)
	{
		snprintf(row, sizeof(row), "r%03d", i);
		kit_put(kit, row, 1, "a", KIT_LATEST, "v");
		kit_commit(kit);
		if (i == 100)
			kit_flush(kit);
	}
	assert_ok(kit, wc_engine_sync(kit->engine, &kit->err));
}

static uint64_t
count_rows(Kit *kit)
{
	const char *p = kit_scan(kit, false);
	uint64_t	n = 0;

	for (; (p = strchr(p, '{')) != NULL; p++)
		n++;
	return n;
}

/* Refused, with these words, and with everything as it was. */
static void
assert_refused(Kit *kit, const WcEngineOptions *options, const char *message)
{
	static char before[1 << 16];
	static char after[1 << 16];
	WcEngine   *engine;

	fingerprint(kit, before, sizeof(before));
	for (int i = 0; i < 2; i++)
	{
		if (wc_engine_open(options, &engine, &kit->err) == WC_OK)
			fail_msg("opened, though: %s", message);
		if (strstr(kit->err.message, message) == NULL && strstr(kit->err.detail, message) == NULL)
			fail_msg("\"%s\" is not in \"%s\", \"%s\"", message, kit->err.message, kit->err.detail);
		assert_null(engine);
	}
	fingerprint(kit, after, sizeof(after));
	assert_string_equal(before, after);
}

static void
assert_opens(Kit *kit, const WcEngineOptions *options, uint64_t rows)
{
	assert_ok(kit, wc_engine_open(options, &kit->engine, &kit->err));
	assert_ok(kit, wc_txn_create(KIT_DATABASE, 1 << 30, &kit->txn, &kit->err));
	assert_int_equal(count_rows(kit), rows);
}

/* --- files that are missing --------------------------------------------------*/

static void
test_missing(void **state)
{
	static const struct
	{
		const char *gone;
		const char *says;
	}			cases[] = {
		{"CURRENT", "file \"CURRENT\" is missing"},
		{"ID", "file \"ID\" is missing"},
		{"OWNER", "file \"OWNER\" is missing"},
		{"MANIFEST*", "MANIFEST"},
		{"*.sst", ".sst"},
		{"*", "is empty"},
		{NULL, "does not exist"},
	};
	static Kit	kit;
	char		saved[80];

	make_store(&kit);
	close_store(&kit);
	snprintf(saved, sizeof(saved), "%s.saved", kit.dir);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		WcEngineOptions options = kit_options(&kit);

		if (cases[i].gone != NULL)
			sh("rm -rf %s && mkdir %s && mv %s/%s %s", saved, saved, kit.dir, cases[i].gone, saved);
		else
			sh("rm -rf %s && mv %s %s", saved, kit.dir, saved);
		assert_refused(&kit, &options, cases[i].says);
		options.accept_store = "00000000";
		options.new_store = "";
		assert_refused(&kit, &options, cases[i].says);

		/* what came back is the same file */
		sh("mkdir -p -m 700 %s && mv %s/* %s", kit.dir, saved, kit.dir);
		assert_opens(&kit, &options, 300);
		close_store(&kit);
	}
	sh("rm -rf %s", saved);

	/* and without the record */
	sh("rm %s", kit.record);
	{
		WcEngineOptions options = kit_options(&kit);

		assert_refused(&kit, &options, "that this data directory does not know");
	}
	sh("rm -rf %s", kit.dir);
	wc_buf_free(&kit.ops);
}

/* --- a log that has lost synced records ----------------------------------------*/

static void
test_log(void **state)
{
	static const struct
	{
		const char *command;	/* $f: the newest file of the log that is not empty */
		bool		in_use;		/* the engine did not close it in order */
		const char *says;		/* NULL: it is good */
		int			least;		/* rows that are there if it is accepted */
	}			cases[] = {
		{"true", true, NULL, 300},
		{"rm $f", true, "lost commits", 101},
		{"rm $f", false, "lost commits", 101},
		{"truncate -s -40 $f", false, "lost commits", 290},
		{"truncate -s -40 $f", true, "lost commits", 290},
		{"printf U | dd of=$f bs=1 seek=3000 conv=notrunc status=none", false, "lost commits", 101},
		{"truncate -s 0 $f", false, "lost commits", 101},

		/* what a crash amid a write leaves */
		{"printf '\\1\\2\\3\\4\\5\\6\\1rest' >>$f", true, NULL, 300},
		{"head -c 5000 /dev/zero >>$f", true, NULL, 300},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		static Kit	kit;
		WcEngineOptions options;
		char		id[16];

		make_store(&kit);
		close_store(&kit);
		if (cases[i].in_use)
			sh("sed -i.bak s/closed/open\\ \\ / %s/OWNER && cat %s/OWNER >%s/OWNER.bak && mv %s/OWNER.bak %s/OWNER", kit.dir, kit.dir,
			   kit.dir, kit.dir, kit.dir);
		sh("f=$(find %s -name '*.log' -size +0 | sort | tail -n 1); %s", kit.dir, cases[i].command);
		options = kit_options(&kit);
		if (cases[i].says != NULL)
		{
			assert_refused(&kit, &options, cases[i].says);
			snprintf(id, sizeof(id), "%08" PRIx32, store_id(&kit));
			options.accept_store = id;
		}
		assert_ok(&kit, wc_engine_open(&options, &kit.engine, &kit.err));
		assert_ok(&kit, wc_txn_create(KIT_DATABASE, 1 << 30, &kit.txn, &kit.err));
		assert_in_range(count_rows(&kit), cases[i].least, 300);

		/* the setting is valid once: it does not accept the next loss */
		if (cases[i].says != NULL)
		{
			kit_put(&kit, "new", 1, "a", KIT_LATEST, "v");
			kit_commit(&kit);
			close_store(&kit);
			sh("rm %s/CURRENT", kit.dir);
			assert_refused(&kit, &options, "CURRENT");
		}
		else
			close_store(&kit);
		sh("rm -rf %s %s", kit.dir, kit.record);
		wc_buf_free(&kit.ops);
	}
}

/* Older files of the log, which other families still need. */
static void
test_old_log(void **state)
{
	static const char *const commands[] = {
		"rm $f", "truncate -s -40 $f", "printf U | dd of=$f bs=1 seek=3000 conv=notrunc status=none"
	};

	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
	{
		static Kit	kit;
		WcEngineOptions options;
		char		id[16];
		uint32_t	other;

		kit_open(&kit);
		kit_create(&kit, "other", WC_PACKING_ROW, 1);
		kit_commit(&kit);
		other = kit.table;
		kit_create(&kit, "t", WC_PACKING_ROW, 1);
		kit_commit(&kit);
		for (int j = 0; j < 300; j++)
		{
			char		row[16];
			uint32_t	table = kit.table;

			snprintf(row, sizeof(row), "r%03d", j);
			kit_put(&kit, row, 1, "a", KIT_LATEST, "v");
			kit.table = other;
			kit_put(&kit, row, 1, "a", KIT_LATEST, "v");
			kit.table = table;
			kit_commit(&kit);
			if (j % 100 == 99)
			{
				assert_ok(&kit, wc_engine_sync(kit.engine, &kit.err));
				kit.table = other;
				kit_flush(&kit);
				kit.table = table;
			}
		}
		close_store(&kit);
		sh("f=$(find %s -name '*.log' -size +0 | sort | head -n 1); %s", kit.dir, commands[i]);
		options = kit_options(&kit);
		assert_refused(&kit, &options, i == 0 ? "Missing WAL" : i == 1 ? "Size mismatch: WAL" : "lost commits");
		snprintf(id, sizeof(id), "%08" PRIx32, store_id(&kit));
		options.accept_store = id;
		assert_ok(&kit, wc_engine_open(&options, &kit.engine, &kit.err));
		assert_ok(&kit, wc_txn_create(KIT_DATABASE, 1 << 30, &kit.txn, &kit.err));
		assert_in_range(count_rows(&kit), 0, 299);	/* none: the table's creation was there */
		close_store(&kit);
		options = kit_options(&kit);
		assert_ok(&kit, wc_engine_open(&options, &kit.engine, &kit.err));
		wc_engine_close(kit.engine);
		sh("rm -rf %s %s", kit.dir, kit.record);
		wc_buf_free(&kit.ops);
	}
}

/* --- whose it is ---------------------------------------------------------------*/

static void
test_owner(void **state)
{
	static Kit	kit;
	WcEngineOptions options;
	char		id[16];

	make_store(&kit);
	close_store(&kit);
	options = kit_options(&kit);

	/* permissions, as PostgreSQL's data directory */
	sh("chmod 777 %s", kit.dir);
	assert_refused(&kit, &options, "invalid permissions");
	sh("chmod 770 %s", kit.dir);
	assert_refused(&kit, &options, "invalid permissions");
	sh("chmod 750 %s", kit.dir);
	assert_opens(&kit, &options, 300);
	close_store(&kit);
	sh("chmod 700 %s", kit.dir);

	/* another cluster's */
	options.cluster = 8;
	assert_refused(&kit, &options, "of another cluster");
	options.cluster = 7;

	/* another store of this cluster */
	sh("cp -a %s %s.kept", kit.record, kit.record);
	sh("echo 'widecol store 0badcafe' >%s", kit.record);
	assert_refused(&kit, &options, "another store");
	sh("mv %s.kept %s", kit.record, kit.record);

	/* a copy of a store in order is as good; of one in use it is not */
	sh("cp -a %s %s.copy && rm -r %s && mv %s.copy %s", kit.dir, kit.dir, kit.dir, kit.dir, kit.dir);
	sh("cp -a %s %s.copy && mv %s.copy %s", kit.record, kit.record, kit.record, kit.record);
	assert_opens(&kit, &options, 300);
	sh("cp -a %s %s.copy", kit.dir, kit.dir);
	close_store(&kit);
	sh("rm -r %s && mv %s.copy %s", kit.dir, kit.dir, kit.dir);
	assert_refused(&kit, &options, "copy of stored tables that were in use");
	snprintf(id, sizeof(id), "%08" PRIx32, store_id(&kit));
	options.accept_store = id;
	assert_opens(&kit, &options, 300);
	close_store(&kit);

	/* the store of a cluster of which this one is a copy */
	options.accept_store = NULL;
	sh("cp %s %s.copy && mv %s.copy %s", kit.record, kit.record, kit.record, kit.record);
	assert_refused(&kit, &options, "of which this data directory is a copy");
	snprintf(id, sizeof(id), "%08" PRIx32, store_id(&kit));
	options.accept_store = id;
	assert_opens(&kit, &options, 300);
	close_store(&kit);

	/* damaged files of the identity */
	options.accept_store = NULL;
	sh("cp %s/ID %s.id && echo nonsense >%s/ID", kit.dir, kit.dir, kit.dir);
	assert_refused(&kit, &options, "is damaged");
	sh("mv %s.id %s/ID && : >%s/OWNER", kit.dir, kit.dir, kit.dir);
	assert_refused(&kit, &options, "is damaged");
	sh("rm -rf %s %s", kit.dir, kit.record);
	wc_buf_free(&kit.ops);
}

/* --- the first store, and a new one --------------------------------------------*/

static void
test_new(void **state)
{
	static Kit	kit;
	WcEngineOptions options;
	char		id[16];

	/* no files but ours are taken for a place for a store */
	memset(&kit, 0, sizeof(kit));
	snprintf(kit.dir, sizeof(kit.dir), "/tmp/wc_test_XXXXXX");
	assert_non_null(mkdtemp(kit.dir));
	snprintf(kit.record, sizeof(kit.record), "%s.store", kit.dir);
	options = kit_options(&kit);
	sh("mkdir %s/lost+found", kit.dir);
	assert_refused(&kit, &options, "is not empty");
	sh("rm -rf %s", kit.dir);
	options.may_create = false;
	assert_refused(&kit, &options, "standby");
	options.may_create = true;

	/* begun, but no further than the first file; then all but ready */
	sh("mkdir -m 700 %s && : >%s/OWNER", kit.dir, kit.dir);
	assert_opens(&kit, &options, 0);
	close_store(&kit);
	sh("sed s/closed/new\\ \\ \\ / %s/OWNER >%s/x && cat %s/x >%s/OWNER && rm %s/x", kit.dir, kit.dir, kit.dir, kit.dir, kit.dir);
	assert_opens(&kit, &options, 0);
	close_store(&kit);

	/* lost, and given up */
	snprintf(id, sizeof(id), "%08" PRIx32, store_id(&kit));
	sh("rm -rf %s", kit.dir);
	options.new_store = "12345678";
	assert_refused(&kit, &options, "does not exist");
	options.new_store = id;
	assert_opens(&kit, &options, 0);
	close_store(&kit);
	assert_opens(&kit, &options, 0);
	close_store(&kit);

	/* the same word does not do it twice */
	sh("rm -rf %s", kit.dir);
	assert_refused(&kit, &options, "does not exist");

	/* and never where something is */
	snprintf(id, sizeof(id), "%08" PRIx32, store_id(&kit));
	sh("mkdir -m 700 %s && touch %s/000012.sst", kit.dir, kit.dir);
	assert_refused(&kit, &options, "no files \"ID\" and \"CURRENT\"");
	sh("rm -rf %s %s", kit.dir, kit.record);

	/* one from before there were identities */
	make_store(&kit);
	close_store(&kit);
	sh("rm %s/ID %s/OWNER %s", kit.dir, kit.dir, kit.record);
	options = kit_options(&kit);
	assert_opens(&kit, &options, 300);
	close_store(&kit);
	assert_opens(&kit, &options, 300);
	kit_close(&kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_old_log),
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
