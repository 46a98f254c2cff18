/*
 * test/unit/test_engine.c: the engine by its interface: commits, catalog, restarts.  (test_storage.c tests the content
 * of the store.)
 */
#include "enginekit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"

static const uint8_t packings[] = {WC_PACKING_ROW, WC_PACKING_CELL};

#define EACH_PACKING(p) for (const uint8_t *p = packings; p < packings + 2; p++)

/* --- writing and reading -------------------------------------------------- */

static void
test_put_and_scan(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_put(&kit, "r2", 1, "a", KIT_LATEST, "2");
		kit_put(&kit, "r1", 1, "b", KIT_LATEST, "1b");
		kit_put(&kit, "r1", 2, "x", KIT_LATEST, "1x");
		kit_put(&kit, "r1", 1, "a", KIT_LATEST, "1a");
		assert_string_equal(kit_scan(&kit, false), "error: no such table");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r1{f:a=1a f:b=1b g:x=1x} r2{f:a=2}");

		/* a second commit changes one column and leaves the rest */
		kit_put(&kit, "r1", 1, "a", KIT_LATEST, "new");
		kit_put(&kit, "r3", 1, "", KIT_LATEST, "");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r1{f:a=new f:b=1b g:x=1x} r2{f:a=2} r3{f:=}");
		kit_close(&kit);
	}
}

static void
test_commit_timestamps_increase(void **state)
{
	Kit			kit;
	WcScan		scan;
	WcReadPoint at;
	char		expected[100];
	int64_t		first;

	kit_open(&kit);
	at = kit_point(&kit, false);
	kit_create(&kit, "t", WC_PACKING_CELL, 3);
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
	kit_commit(&kit);
	first = kit.commit_ts;
	assert_true(first >= kit_now);
	kit_now -= 500;				/* the clock steps back */
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "2");
	kit_commit(&kit);
	assert_true(kit.commit_ts > first);

	/* also over a restart */
	kit_reopen(&kit);
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "3");
	kit_commit(&kit);
	assert_int_equal(kit.commit_ts, first + 2);
	wc_scan_init(&scan, kit.table);
	scan.versions = 3;
	scan.want_ts = true;
	snprintf(expected, sizeof(expected), "r{f:a@%d=3 f:a@%d=2 f:a@%d=1}", (int) first + 2, (int) first + 1, (int) first);
	assert_string_equal(kit_scan_with(&kit, &scan, &at), expected);
	kit_now += 500;
	kit_close(&kit);
}

static void
test_deletes(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 3);
		for (int ts = 10; ts <= 30; ts += 10)
		{
			char		value[8];

			snprintf(value, sizeof(value), "v%d", ts);
			kit_put(&kit, "r", 1, "a", ts, value);
			kit_put(&kit, "r", 1, "b", ts, value);
		}
		kit_commit(&kit);
		kit_delete(&kit, WC_DELETE, "r", 1, "a", KIT_LATEST);
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=v20 f:b=v30}");
		kit_delete(&kit, WC_DELETE_COLUMN, "r", 1, "a", 20);
		kit_delete(&kit, WC_DELETE, "r", 1, "b", 30);
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:b=v20}");

		/* masked although written later */
		kit_put(&kit, "r", 1, "a", 15, "late");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:b=v20}");
		kit_delete(&kit, WC_DELETE_FAMILY, "r", 1, "", KIT_LATEST);
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "");
		kit_put(&kit, "r", 1, "a", KIT_LATEST, "again");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=again}");
		kit_close(&kit);
	}
}

/* k deletes of "the newest" in one operation. */
static void
test_delete_newest_versions(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 5);
		for (int ts = 10; ts <= 40; ts += 10)
			kit_put(&kit, "r", 1, "a", ts, ts == 10 ? "ten" : "more");
		kit_commit(&kit);
		assert_ok(&kit, wc_batch_row_begin(&kit.builder, kit.table, 1, kit_s("r"), 0, NULL, 0, &kit.err));
		for (int i = 0; i < 3; i++)
			assert_ok(&kit, wc_batch_delete(&kit.builder, WC_DELETE, 1, kit_s("a"), KIT_LATEST, &kit.err));
		assert_ok(&kit, wc_batch_row_end(&kit.builder, &kit.err));
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=ten}");
		kit_close(&kit);
	}
}

/* One row is deleted and written again, several times, by one transaction. */
static void
test_delete_then_put(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_put(&kit, "r", 1, "a", KIT_LATEST, "old");
		kit_put(&kit, "r", 1, "b", KIT_LATEST, "old");
		kit_commit(&kit);
		for (int i = 0; i < 3; i++)
		{
			kit_delete(&kit, WC_DELETE_FAMILY, "r", 1, "", KIT_LATEST);
			kit_put(&kit, "r", 1, "a", KIT_LATEST, "new");
			kit.cid++;
		}
		kit_put(&kit, "r", 1, "a", KIT_LATEST, "newest");
		kit.cid++;
		assert_ok(&kit, kit_send(&kit));
		assert_string_equal(kit_scan(&kit, true), "r{f:a=newest}");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=newest}");

		/* and the next commit comes behind all of it */
		kit_delete(&kit, WC_DELETE_COLUMN, "r", 1, "a", KIT_LATEST);
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "");
		kit_close(&kit);
	}
}

static void
test_clear(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcSlice		except[] = {kit_s("keep")};

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_put(&kit, "r", 1, "keep", KIT_LATEST, "1");
		kit_put(&kit, "r", 1, "gone", KIT_LATEST, "2");
		kit_put(&kit, "r", 1, "put", KIT_LATEST, "3");
		kit_put(&kit, "r", 1, "later", kit_now + 1000000, "dated later");
		kit_put(&kit, "r", 2, "pre-1", KIT_LATEST, "4");
		kit_put(&kit, "r", 2, "pre-2", KIT_LATEST, "5");
		kit_put(&kit, "r", 2, "one", KIT_LATEST, "6");
		kit_put(&kit, "r", 2, "other", KIT_LATEST, "7");
		kit_commit(&kit);

		assert_ok(&kit, wc_batch_row_begin(&kit.builder, kit.table, 1, kit_s("r"), 0, NULL, 0, &kit.err));
		assert_ok(&kit, wc_batch_put(&kit.builder, 1, kit_s("put"), KIT_LATEST, 0, kit_s("33"), &kit.err));
		assert_ok(&kit, wc_batch_clear_family(&kit.builder, 1, except, 1, &kit.err));
		assert_ok(&kit, wc_batch_clear_prefix(&kit.builder, 2, kit_s("pre-"), &kit.err));
		assert_ok(&kit, wc_batch_clear_column(&kit.builder, 2, kit_s("one"), &kit.err));
		assert_ok(&kit, wc_batch_clear_column(&kit.builder, 2, kit_s("absent"), &kit.err));
		assert_ok(&kit, wc_batch_row_end(&kit.builder, &kit.err));
		kit.cid++;
		assert_ok(&kit, kit_send(&kit));
		assert_string_equal(kit_scan(&kit, true), "r{f:keep=1 f:put=33 g:other=7}");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:keep=1 f:put=33 g:other=7}");

		/* nothing was visible: no marker, so that an older put is not masked */
		kit_put(&kit, "r", 2, "absent", 5, "old");
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:keep=1 f:put=33 g:absent=old g:other=7}");
		kit_close(&kit);
	}
}

static void
must_be_absent(Kit *kit, const char *row, const char *value)
{
	const uint32_t families[] = {1, 2};

	assert_ok(kit, wc_batch_row_begin(&kit->builder, kit->table, kit->cid, kit_s(row), WC_ROW_MUST_BE_ABSENT,
									  families, 2, &kit->err));
	assert_ok(kit, wc_batch_put(&kit->builder, 1, kit_s("a"), KIT_LATEST, 0, kit_s(value), &kit->err));
	assert_ok(kit, wc_batch_row_end(&kit->builder, &kit->err));
}

static void
test_must_be_absent(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		char		row[16];

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < 100; i += 10)
		{
			snprintf(row, sizeof(row), "r%02d", i);
			kit_put(&kit, row, 2, "x", KIT_LATEST, "there");
		}
		kit_commit(&kit);

		/* in between, with stored rows near and far */
		for (int i = 1; i < 100; i++)
		{
			snprintf(row, sizeof(row), "r%02d", i);
			if (i % 10 != 0)
				must_be_absent(&kit, row, "new");
		}
		must_be_absent(&kit, "s", "new");
		kit_commit(&kit);

		for (int i = 0; i < 100; i += 7)
		{
			const char *before = kit_scan(&kit, false);
			char	   *copy = strdup(before);

			snprintf(row, sizeof(row), "r%02d", i);
			must_be_absent(&kit, "zz", "must not stay");
			must_be_absent(&kit, row, "twice");
			assert_int_equal(kit_try_commit(&kit), WC_DUPLICATE_ROW);
			assert_non_null(strstr(kit.err.message, row));
			assert_string_equal(kit_scan(&kit, false), copy);
			free(copy);
		}

		/* twice in one transaction, but not when deleted in between */
		must_be_absent(&kit, "u", "1");
		must_be_absent(&kit, "u", "2");
		assert_int_equal(kit_try_commit(&kit), WC_DUPLICATE_ROW);
		must_be_absent(&kit, "u", "1");
		kit_delete(&kit, WC_DELETE_FAMILY, "u", 1, "", KIT_LATEST);
		must_be_absent(&kit, "u", "2");
		kit_commit(&kit);
		assert_non_null(strstr(kit_scan(&kit, false), "u{f:a=2}"));
		kit_close(&kit);
	}
}

static void
test_bad_batches_leave_nothing(void **state)
{
	Kit			kit;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
	kit_commit(&kit);
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "2");
	kit.table += 100;
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "2");
	kit.table -= 100;
	assert_int_equal(kit_try_commit(&kit), WC_NO_TABLE);
	assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");

	/* half an operation */
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "2");
	kit.ops.len--;
	assert_int_equal(kit_try_commit(&kit), WC_CORRUPT);
	assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");
	kit_close(&kit);
}

/* --- catalog --------------------------------------------------------------*/

static void
test_create_in_transaction(void **state)
{
	Kit			kit;
	WcBuf		out = WC_BUF_INIT;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit.cid++;
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
	kit.cid++;
	assert_ok(&kit, kit_send(&kit));

	/* the transaction alone sees it */
	assert_string_equal(kit_scan(&kit, true), "r{f:a=1}");
	assert_string_equal(kit_scan(&kit, false), "error: no such table");
	assert_int_equal(wc_engine_describe(kit.engine, KIT_DATABASE, kit.txn, kit_s("default"), kit_s("t"), &out, &kit.err), WC_OK);
	assert_int_equal(wc_engine_describe(kit.engine, KIT_DATABASE, NULL, kit_s("default"), kit_s("t"), &out, &kit.err), WC_NO_TABLE);

	/* nor does an earlier command of its own */
	kit.cid = 1;
	assert_string_equal(kit_scan(&kit, true), "error: no such table");
	kit.cid = 3;

	/* rolled back to before */
	assert_ok(&kit, wc_txn_cut(kit.txn, 0, &kit.err));
	assert_string_equal(kit_scan(&kit, true), "error: no such table");
	kit_commit(&kit);
	assert_string_equal(kit_scan(&kit, false), "error: no such table");
	wc_buf_free(&out);
	kit_close(&kit);
}

static void
test_names_are_unique(void **state)
{
	Kit			kit;
	uint64_t	generation;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_commit(&kit);
	generation = wc_engine_catalog_generation(kit.engine);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	assert_int_equal(kit_try_commit(&kit), WC_EXISTS);
	assert_int_equal(wc_engine_catalog_generation(kit.engine), generation);

	/* dropping makes room in the same transaction */
	kit.table--;
	assert_ok(&kit, wc_batch_drop_table(&kit.builder, 1, kit.table, &kit.err));
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
	kit_commit(&kit);
	assert_true(wc_engine_catalog_generation(kit.engine) > generation);
	assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");
	kit_close(&kit);
}

static void
namespaces_text(Kit *kit, WcTxn *txn, char *text)
{
	WcBuf		out = WC_BUF_INIT;
	WcDecoder	d;
	uint64_t	n;

	assert_ok(kit, wc_engine_list_namespaces(kit->engine, KIT_DATABASE, txn, &out, &kit->err));
	d = wc_decoder(wc_buf_slice(&out));
	text[0] = '\0';
	n = wc_decode_varint(&d);
	for (uint64_t i = 0; i < n; i++)
	{
		WcSlice		name = wc_decode_bytes(&d);
		WcSlice		properties = wc_decode_bytes(&d);

		sprintf(text + strlen(text), "%s%.*s%s%.*s", i ? " " : "", (int) name.len, (const char *) name.data,
				properties.len > 0 ? "=" : "", (int) properties.len, (const char *) properties.data);
	}
	assert_true(wc_decoder_done(&d));
	wc_buf_free(&out);
}

static void
test_namespaces(void **state)
{
	Kit			kit;
	char		text[200];

	kit_open(&kit);
	assert_ok(&kit, wc_batch_namespace(&kit.builder, WC_OP_CREATE_NAMESPACE, 1, KIT_DATABASE, kit_s("n"), &kit.err));
	assert_ok(&kit, kit_send(&kit));
	namespaces_text(&kit, kit.txn, text);
	assert_string_equal(text, "default n");
	namespaces_text(&kit, NULL, text);
	assert_string_equal(text, "default");
	kit_commit(&kit);
	kit_reopen(&kit);
	namespaces_text(&kit, NULL, text);
	assert_string_equal(text, "default n");
	assert_ok(&kit, wc_batch_namespace(&kit.builder, WC_OP_CREATE_NAMESPACE, 1, KIT_DATABASE, kit_s("n"), &kit.err));
	assert_int_equal(kit_try_commit(&kit), WC_EXISTS);
	assert_ok(&kit, wc_batch_namespace(&kit.builder, WC_OP_DROP_NAMESPACE, 1, KIT_DATABASE, kit_s("m"), &kit.err));
	assert_int_equal(kit_try_commit(&kit), WC_NO_NAMESPACE);

	/* one with a table */
	{
		WcFamilyDesc family = {.id = 1,.name = kit_s("f"),.attrs = wc_family_attrs_default};
		WcTableDesc desc = {
			.id = wc_engine_new_table_id(kit.engine),.database = KIT_DATABASE,.ns = kit_s("n"),.name = kit_s("t"),
			.nfamilies = 1,.families = &family,.next_family_id = 2
		};

		family.attrs.packing = WC_PACKING_CELL;
		assert_ok(&kit, wc_batch_create_table(&kit.builder, 1, &desc, &kit.err));
		kit_commit(&kit);
		assert_ok(&kit, wc_batch_namespace(&kit.builder, WC_OP_DROP_NAMESPACE, 1, KIT_DATABASE, kit_s("n"), &kit.err));
		assert_int_equal(kit_try_commit(&kit), WC_IN_USE);
		assert_ok(&kit, wc_batch_drop_table(&kit.builder, 1, desc.id, &kit.err));
		assert_ok(&kit, wc_batch_namespace(&kit.builder, WC_OP_DROP_NAMESPACE, 1, KIT_DATABASE, kit_s("n"), &kit.err));
		kit_commit(&kit);
		desc.id = wc_engine_new_table_id(kit.engine);
		assert_ok(&kit, wc_batch_create_table(&kit.builder, 1, &desc, &kit.err));
		assert_int_equal(kit_try_commit(&kit), WC_NO_NAMESPACE);
	}
	namespaces_text(&kit, NULL, text);
	assert_string_equal(text, "default");

	/* properties: of "default" too; those of a namespace that is made anew are none */
	assert_ok(&kit, wc_batch_namespace(&kit.builder, WC_OP_CREATE_NAMESPACE, 1, KIT_DATABASE, kit_s("n"), &kit.err));
	assert_ok(&kit, wc_batch_alter_namespace(&kit.builder, 1, KIT_DATABASE, kit_s("n"), kit_s("{1}"), &kit.err));
	assert_ok(&kit, wc_batch_alter_namespace(&kit.builder, 1, KIT_DATABASE, kit_s("default"), kit_s("{2}"), &kit.err));
	kit_commit(&kit);
	assert_ok(&kit, wc_batch_alter_namespace(&kit.builder, 1, KIT_DATABASE, kit_s("n"), kit_s("{3}"), &kit.err));
	assert_ok(&kit, kit_send(&kit));
	namespaces_text(&kit, kit.txn, text);
	assert_string_equal(text, "default={2} n={3}");
	namespaces_text(&kit, NULL, text);
	assert_string_equal(text, "default={2} n={1}");
	kit_commit(&kit);
	kit_reopen(&kit);
	namespaces_text(&kit, NULL, text);
	assert_string_equal(text, "default={2} n={3}");
	assert_ok(&kit, wc_batch_namespace(&kit.builder, WC_OP_DROP_NAMESPACE, 1, KIT_DATABASE, kit_s("n"), &kit.err));
	assert_ok(&kit, wc_batch_namespace(&kit.builder, WC_OP_CREATE_NAMESPACE, 1, KIT_DATABASE, kit_s("n"), &kit.err));
	assert_ok(&kit, wc_batch_alter_namespace(&kit.builder, 1, KIT_DATABASE, kit_s("default"), kit_s(""), &kit.err));
	kit_commit(&kit);
	namespaces_text(&kit, NULL, text);
	assert_string_equal(text, "default n");
	assert_ok(&kit, wc_batch_alter_namespace(&kit.builder, 1, KIT_DATABASE, kit_s("m"), kit_s("{4}"), &kit.err));
	assert_int_equal(kit_try_commit(&kit), WC_NO_NAMESPACE);
	kit_close(&kit);
}

static void
test_truncate(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
		kit_commit(&kit);
		kit_put(&kit, "s", 1, "a", KIT_LATEST, "void");
		kit.cid++;
		assert_ok(&kit, wc_batch_truncate_table(&kit.builder, kit.cid, kit.table, &kit.err));
		kit.cid++;
		kit_put(&kit, "t", 1, "a", KIT_LATEST, "2");
		kit.cid++;
		assert_ok(&kit, kit_send(&kit));
		assert_string_equal(kit_scan(&kit, true), "t{f:a=2}");
		assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");
		kit.cid = 2;
		assert_string_equal(kit_scan(&kit, true), "r{f:a=1} s{f:a=void}");
		kit.cid = 4;
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "t{f:a=2}");
		kit_crash(&kit);
		assert_string_equal(kit_scan(&kit, false), "t{f:a=2}");
		kit_close(&kit);
	}
}

static void
test_alter(void **state)
{
	Kit			kit;
	WcBuf		out = WC_BUF_INIT;
	WcArena		arena = WC_ARENA_INIT;
	WcTableDesc desc;
	WcFamilyDesc families[2];

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	kit_put(&kit, "r", 1, "a", 10, "old");
	kit_put(&kit, "r", 2, "b", KIT_LATEST, "g");
	kit_commit(&kit);
	assert_ok(&kit, wc_engine_describe(kit.engine, KIT_DATABASE, NULL, kit_s("default"), kit_s("t"), &out, &kit.err));
	assert_ok(&kit, wc_table_desc_decode(wc_buf_slice(&out), &arena, &desc, &kit.err));

	/* g goes, h comes, f keeps more versions; rows written for g before are void */
	families[0] = desc.families[0];
	families[0].attrs.versions = 2;
	families[1] = desc.families[1];
	families[1].id = desc.next_family_id++;
	families[1].name = kit_s("h");
	desc.families = families;
	kit_put(&kit, "r", 2, "b", KIT_LATEST, "void");
	kit.cid++;
	assert_ok(&kit, wc_batch_alter_table(&kit.builder, kit.cid, &desc, &kit.err));
	kit.cid++;
	kit_put(&kit, "r", 1, "a", 20, "new");
	kit_put(&kit, "r", 3, "c", KIT_LATEST, "h");
	kit.cid++;
	assert_ok(&kit, kit_send(&kit));
	assert_string_equal(kit_scan(&kit, true), "r{f:a=new g:c=h}");
	assert_string_equal(kit_scan(&kit, false), "r{f:a=old g:b=g}");
	kit_commit(&kit);
	assert_string_equal(kit_scan(&kit, false), "r{f:a=new g:c=h}");
	kit_reopen(&kit);
	{
		WcReadPoint at = kit_point(&kit, false);
		WcScan		scan;

		wc_scan_init(&scan, kit.table);
		scan.versions = 5;
		assert_string_equal(kit_scan_with(&kit, &scan, &at), "r{f:a=new f:a=old g:c=h}");
	}
	/* packing cannot change; an older picture of the table is refused */
	families[0].attrs.packing = WC_PACKING_ROW;
	assert_ok(&kit, wc_batch_alter_table(&kit.builder, kit.cid, &desc, &kit.err));
	assert_int_equal(kit_try_commit(&kit), WC_INVALID);
	families[0].attrs.packing = WC_PACKING_CELL;
	families[1].id = 2;
	desc.next_family_id = 3;
	assert_ok(&kit, wc_batch_alter_table(&kit.builder, kit.cid, &desc, &kit.err));
	assert_int_equal(kit_try_commit(&kit), WC_STALE);
	wc_arena_free(&arena);
	wc_buf_free(&out);
	kit_close(&kit);
}

static void
test_drop_while_scanning(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		WcScanner  *scanner;
		WcScan		scan;
		WcReadPoint at;
		WcBuf		block = WC_BUF_INIT;
		size_t		bytes = 0;
		WcStatus	status;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		for (int i = 0; i < 1000; i++)
		{
			char		row[16];

			snprintf(row, sizeof(row), "r%03d", i);
			kit_put(&kit, row, 1, "a", KIT_LATEST, "value");
		}
		kit_commit(&kit);
		at = kit_point(&kit, false);
		wc_scan_init(&scan, kit.table);
		assert_ok(&kit, wc_scanner_open(wc_engine_storage(kit.engine), &scan, &at, &scanner, &kit.err));
		assert_ok(&kit, wc_scanner_next(scanner, &block, 1000, 0, &kit.err));
		assert_ok(&kit, wc_batch_drop_table(&kit.builder, 1, kit.table, &kit.err));
		kit_commit(&kit);
		assert_string_equal(kit_scan(&kit, false), "error: no such table");
		do
		{
			bytes += block.len;
			wc_buf_reset(&block, SIZE_MAX);
			status = wc_scanner_next(scanner, &block, 1000, 0, &kit.err);
		} while (status == WC_OK);
		assert_int_equal(status, WC_END);
		assert_true(bytes > 10000);
		wc_scanner_close(scanner);
		wc_buf_free(&block);
		kit_close(&kit);
	}
}

/* Nobody reads a table of another database, and the table does not suffer from it. */
static void
test_scan_of_another_database(void **state)
{
	Kit			kit;
	WcScan		scan;
	WcReadPoint at;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "value");
	kit_commit(&kit);
	wc_scan_init(&scan, kit.table);
	for (int i = 0; i < 3; i++)
	{
		at = kit_point(&kit, false);
		at.database = KIT_DATABASE + 1;
		assert_string_equal(kit_scan_with(&kit, &scan, &at), "error: no such table");
		assert_int_equal(wc_engine_flush(kit.engine, kit.table, &at, &kit.err), WC_NO_TABLE);
	}
	assert_string_equal(kit_scan(&kit, false), "r{f:a=value}");
	kit_close(&kit);
}

/* By a transaction of another one. */
static void
drop_database(Kit *kit, uint32_t by, uint32_t database)
{
	wc_txn_destroy(kit->txn);
	assert_ok(kit, wc_txn_create(by, 1 << 30, &kit->txn, &kit->err));
	assert_ok(kit, wc_batch_drop_database(&kit->builder, kit->cid, database, &kit->err));
	kit_commit(kit);
}

static void
test_drop_database(void **state)
{
	Kit			kit;
	char		text[200];

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_CELL, 1);
	assert_ok(&kit, wc_batch_namespace(&kit.builder, WC_OP_CREATE_NAMESPACE, 1, KIT_DATABASE, kit_s("n"), &kit.err));
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
	kit_commit(&kit);
	drop_database(&kit, KIT_DATABASE + 2, KIT_DATABASE + 1);
	assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");
	drop_database(&kit, KIT_DATABASE + 1, KIT_DATABASE);
	assert_string_equal(kit_scan(&kit, false), "error: no such table");
	namespaces_text(&kit, NULL, text);
	assert_string_equal(text, "default");
	kit_reopen(&kit);
	assert_string_equal(kit_scan(&kit, false), "error: no such table");
	kit_close(&kit);
}

/* --- restarts -------------------------------------------------------------*/

static void
test_reopen_and_crash(void **state)
{
	EACH_PACKING(p)
	{
		Kit			kit;
		uint32_t	table;
		uint64_t	position;

		kit_open(&kit);
		kit_create(&kit, "t", *p, 1);
		kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
		kit_commit(&kit);
		position = wc_engine_applied_position(kit.engine);
		assert_int_equal(position, 1);
		kit_reopen(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=1}");
		assert_int_equal(wc_engine_applied_position(kit.engine), position);
		table = kit.table;
		assert_true(wc_engine_new_table_id(kit.engine) > table);

		kit_put(&kit, "r", 2, "b", KIT_LATEST, "2");
		kit_commit(&kit);
		kit_crash(&kit);
		assert_string_equal(kit_scan(&kit, false), "r{f:a=1 g:b=2}");
		assert_int_equal(wc_engine_applied_position(kit.engine), position + 1);

		/* ids of dropped tables do not come back */
		assert_ok(&kit, wc_batch_drop_table(&kit.builder, 1, table, &kit.err));
		kit_commit(&kit);
		kit_crash(&kit);
		assert_true(wc_engine_new_table_id(kit.engine) > table);
		kit_close(&kit);
	}
}

static void
create_with_id(Kit *kit, uint32_t id)
{
	WcFamilyDesc family = {.id = 1,.name = kit_s("f"),.attrs = wc_family_attrs_default};
	WcTableDesc desc = {
		.id = id,.database = KIT_DATABASE,.ns = kit_s("default"),.name = kit_s("given"),
		.nfamilies = 1,.families = &family,.next_family_id = 2
	};

	family.attrs.packing = WC_PACKING_CELL;
	assert_ok(kit, wc_batch_create_table(&kit->builder, kit->cid, &desc, &kit->err));
}

/* The id of a table in a commit is given to no other table, also if another engine gave it. */
static void
test_ids_of_commits(void **state)
{
	Kit			kit;

	kit_open(&kit);
	create_with_id(&kit, 1000);
	kit_commit(&kit);
	assert_int_equal(wc_engine_new_table_id(kit.engine), 1001);

	/* nor if the table is gone at once */
	assert_ok(&kit, wc_batch_drop_table(&kit.builder, 1, 1000, &kit.err));
	create_with_id(&kit, 2000);
	assert_ok(&kit, wc_batch_drop_table(&kit.builder, 1, 2000, &kit.err));
	kit_commit(&kit);
	assert_int_equal(wc_engine_new_table_id(kit.engine), 2001);
	kit_reopen(&kit);
	assert_int_equal(wc_engine_new_table_id(kit.engine), 2001);
	kit_close(&kit);
}

static void
test_positions(void **state)
{
	Kit			kit;
	WcCommit	commit = {.position = 100,.time_us = kit_now};
	int64_t		ts;

	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	assert_ok(&kit, kit_send(&kit));
	assert_ok(&kit, wc_engine_apply(kit.engine, &commit, kit.txn, &ts, &kit.err));
	wc_txn_reset(kit.txn);
	assert_int_equal(wc_engine_applied_position(kit.engine), 100);

	/* applied commits are not applied again */
	kit_put(&kit, "r", 1, "a", KIT_LATEST, "1");
	assert_ok(&kit, kit_send(&kit));
	assert_int_equal(wc_engine_apply(kit.engine, &commit, kit.txn, &ts, &kit.err), WC_INVALID);
	assert_string_equal(kit_scan(&kit, false), "");

	/* any time will do */
	commit = (WcCommit) {.position = 101,.time_us = INT64_MAX};
	assert_ok(&kit, wc_engine_apply(kit.engine, &commit, kit.txn, &ts, &kit.err));
	assert_int_equal(ts, WC_COMMIT_TIME_MAX);
	commit = (WcCommit) {.position = 102,.time_us = INT64_MIN};
	assert_ok(&kit, wc_engine_apply(kit.engine, &commit, kit.txn, &ts, &kit.err));
	assert_int_equal(ts, WC_COMMIT_TIME_MAX + 1);
	kit_close(&kit);
}

/* A flush that gets no descriptor names the limit, and so does what cannot be written after it, until there are descriptors. */
static void
test_too_many_open_files(void **state)
{
	Kit			kit;
	struct rlimit limit;
	struct rlimit few;
	WcReadPoint at;
	WcError		err;
	WcStatus	status;

	(void) state;
	kit_open(&kit);
	kit_create(&kit, "t", WC_PACKING_ROW, 1);
	at = kit_point(&kit, false);
	kit_put(&kit, "r", 1, "q", KIT_LATEST, "v");
	kit_commit(&kit);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit) {.rlim_cur = 3,.rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	status = wc_engine_flush(kit.engine, kit.table, &at, &err);
	kit_put(&kit, "r2", 1, "q", KIT_LATEST, "v");
	assert_int_equal(kit_apply(&kit), WC_NO_FILES);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(status, WC_NO_FILES);
	assert_string_equal(err.hint, wc_file_limit_hint());
	assert_string_equal(kit.err.hint, wc_file_limit_hint());
	assert_non_null(strstr(kit.err.detail, "Too many open files"));
	do
	{
		usleep(1000);
		kit_put(&kit, "r2", 1, "q", KIT_LATEST, "v");
	}
	while (kit_apply(&kit) == WC_NO_FILES);
	assert_string_equal(kit_scan(&kit, false), "r{f:q=v} r2{f:q=v}");
	kit_close(&kit);

	errno = EMFILE;
	assert_int_equal(wc_file_error(&err, "open file", "x"), WC_NO_FILES);
	assert_string_equal(err.message, "could not open file \"x\": Too many open files");
	assert_string_equal(err.hint, wc_file_limit_hint());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_and_scan),
		cmocka_unit_test(test_scan_of_another_database),
		cmocka_unit_test(test_commit_timestamps_increase),
		cmocka_unit_test(test_deletes),
		cmocka_unit_test(test_delete_newest_versions),
		cmocka_unit_test(test_delete_then_put),
		cmocka_unit_test(test_clear),
		cmocka_unit_test(test_must_be_absent),
		cmocka_unit_test(test_bad_batches_leave_nothing),
		cmocka_unit_test(test_create_in_transaction),
		cmocka_unit_test(test_names_are_unique),
		cmocka_unit_test(test_namespaces),
		cmocka_unit_test(test_truncate),
		cmocka_unit_test(test_alter),
		cmocka_unit_test(test_drop_while_scanning),
		cmocka_unit_test(test_drop_database),
		cmocka_unit_test(test_reopen_and_crash),
		cmocka_unit_test(test_ids_of_commits),
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_too_many_open_files)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
