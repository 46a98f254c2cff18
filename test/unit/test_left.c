/*
 * test/unit/test_left.c: rows as commits have left them are found when the commits are applied (rpc/lock/left.h); what has been written
 * since, or not at all, is not.
 */
#include "enginekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claimsite.h"
#include "rpc/lock/left.h"

#define TABLE	5
#define XID		700

typedef struct LeftSite
{
	WcGetCache *cache;
	WcClaims   *claims;
	WcUnapplied *unapplied;
	WcLeft	   *left;
	WcBuf		get;
	WcBuf		found;
} LeftSite;

static int
set_up(void **state)
{
	LeftSite   *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->cache = kit_getcache(1 << 20, 1);
	s->claims = wc_claims_init(claimsite_zeroed(wc_claims_size(1)), 42, 1);
	s->unapplied = claimsite_zeroed(wc_unapplied_size());
	s->left = wc_left_create(s->cache, s->claims, s->unapplied);
	assert_non_null(s->left);
	*state = s;
	return 0;
}

static int
tear_down(void **state)
{
	LeftSite   *s = *state;

	wc_left_free(s->left);
	free(s->cache);
	free(s->claims);
	free(s->unapplied);
	wc_buf_free(&s->get);
	wc_buf_free(&s->found);
	free(s);
	return 0;
}

static void
encode_get(LeftSite *s, KitGet *get, uint32_t table, const char *row)
{
	kit_get(get, table, kit_s(row));
	wc_buf_reset(&s->get, SIZE_MAX);
	wc_scan_encode(&s->get, &get->scan);
}

/* A session commits a change of the row, and leaves the answer. */
static void
leave(LeftSite *s, uint64_t xid, const char *row, const char *answer)
{
	KitGet		get;

	encode_get(s, &get, TABLE, row);
	wc_unapplied_put(s->unapplied, wc_claims_hash_row(wc_claims_hash_table(s->claims, TABLE), kit_s(row)), xid, 1,
					 wc_buf_slice(&s->get), kit_s(answer));
}

/* A commit, or a step, is about to write the row. */
static void
about_to_write(LeftSite *s, uint64_t xid, const char *row)
{
	wc_getcache_touch_row(s->cache, TABLE, kit_s(row));
	wc_left_row(s->left, TABLE, kit_s(row), xid);
}

static void
write_it(LeftSite *s)
{
	wc_getcache_begin(s->cache);
	wc_getcache_end(s->cache);
}

static void
apply(LeftSite *s, uint64_t xid, const char *row)
{
	about_to_write(s, xid, row);
	write_it(s);
	wc_left_keep(s->left);
}

/* What a session finds in an epoch; NULL: nothing. */
static const char *
found_in(LeftSite *s, uint64_t epoch, const char *row)
{
	KitGet		get;

	encode_get(s, &get, TABLE, row);
	wc_buf_reset(&s->found, SIZE_MAX);
	if (wc_getcache_find(s->cache, epoch, TABLE, kit_s(row), wc_buf_slice(&s->get), INT64_MAX - 1, &s->found) != WC_GET_FOUND)
		return NULL;
	wc_buf_append_u8(&s->found, '\0');
	return (const char *) s->found.data;
}

static const char *
found(LeftSite *s, const char *row)
{
	return found_in(s, wc_getcache_epoch(s->cache), row);
}

static void
what_a_commit_leaves_is_found_when_it_is_applied(void **state)
{
	LeftSite   *s = *state;
	uint64_t	before = wc_getcache_epoch(s->cache);

	leave(s, XID, "row", "new");
	about_to_write(s, XID, "row");
	assert_null(found(s, "row"));
	write_it(s);
	assert_null(found(s, "row"));
	wc_left_keep(s->left);
	assert_string_equal(found(s, "row"), "new");
	assert_null(found_in(s, before, "row"));

	leave(s, XID + 1, "row", "newer");
	assert_string_equal(found(s, "row"), "new");
	apply(s, XID + 1, "row");
	assert_string_equal(found(s, "row"), "newer");
}

static void
rows_that_others_have_left_are_not_those_of_the_commit(void **state)
{
	LeftSite   *s = *state;

	leave(s, XID, "row", "of another transaction");
	apply(s, XID + 1, "row");
	assert_null(found(s, "row"));
	apply(s, 0, "row");
	assert_null(found(s, "row"));
}

/* The next commit may have left the row before this one is applied. */
static void
the_next_commit_takes_nothing_away(void **state)
{
	LeftSite   *s = *state;

	leave(s, XID, "row", "first");
	about_to_write(s, XID, "row");
	leave(s, XID + 1, "row", "second");
	write_it(s);
	wc_left_keep(s->left);
	assert_string_equal(found(s, "row"), "first");
	apply(s, XID + 1, "row");
	assert_string_equal(found(s, "row"), "second");
}

/* In the same write, or in one of its own. */
static void
what_is_written_again_is_not_kept(void **state)
{
	LeftSite   *s = *state;

	leave(s, XID, "row", "first");
	about_to_write(s, XID, "row");
	about_to_write(s, XID + 1, "row");
	write_it(s);
	wc_left_keep(s->left);
	assert_null(found(s, "row"));

	leave(s, XID + 2, "row", "second");
	about_to_write(s, XID + 2, "row");
	wc_getcache_touch_table(s->cache, TABLE);
	wc_left_table(s->left, TABLE);
	write_it(s);
	wc_left_keep(s->left);
	assert_null(found(s, "row"));

	leave(s, XID + 3, "row", "third");
	about_to_write(s, XID + 3, "row");
	write_it(s);
	about_to_write(s, 0, "row");
	write_it(s);
	wc_left_keep(s->left);
	assert_null(found(s, "row"));
}

/* After a failure the commits of a group are applied one by one: until then the others have written nothing. */
static void
what_was_not_written_is_not_kept(void **state)
{
	LeftSite   *s = *state;

	leave(s, XID, "row", "first");
	leave(s, XID + 1, "another", "second");
	about_to_write(s, XID, "row");
	about_to_write(s, XID + 1, "another");
	write_it(s);
	wc_left_forget(s->left);
	apply(s, XID, "row");
	assert_string_equal(found(s, "row"), "first");
	assert_null(found(s, "another"));
	apply(s, XID + 1, "another");
	assert_string_equal(found(s, "another"), "second");
}

static void
bytes_that_are_no_get_of_the_row_are_passed_over(void **state)
{
	LeftSite   *s = *state;
	uint64_t	hash = wc_claims_hash_row(wc_claims_hash_table(s->claims, TABLE), kit_s("row"));
	KitGet		get;

	wc_unapplied_put(s->unapplied, hash, XID, 1, kit_s("nonsense"), kit_s("answer"));
	apply(s, XID, "row");
	encode_get(s, &get, TABLE, "other");
	wc_unapplied_put(s->unapplied, hash, XID + 1, 1, wc_buf_slice(&s->get), kit_s("answer"));
	apply(s, XID + 1, "row");
	encode_get(s, &get, TABLE + 1, "row");
	wc_unapplied_put(s->unapplied, hash, XID + 2, 1, wc_buf_slice(&s->get), kit_s("answer"));
	apply(s, XID + 2, "row");
	assert_null(found(s, "row"));
	assert_null(found(s, "other"));
}

/* More rows than are kept at a time: those that are found are right. */
static void
many_rows_in_one_write(void **state)
{
	LeftSite   *s = *state;
	char		row[100][8];
	int			n = 0;

	for (int i = 0; i < 100; i++)
	{
		snprintf(row[i], sizeof(row[i]), "row %d", i);
		leave(s, XID, row[i], row[i]);
		about_to_write(s, XID, row[i]);
	}
	write_it(s);
	wc_left_keep(s->left);
	for (int i = 0; i < 100; i++)
	{
		const char *answer = found(s, row[i]);

		n += answer != NULL;
		if (answer != NULL)
			assert_string_equal(answer, row[i]);
	}
	assert_true(n >= 16);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_commit_leaves_is_found_when_it_is_applied, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rows_that_others_have_left_are_not_those_of_the_commit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_next_commit_takes_nothing_away, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_written_again_is_not_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_not_written_is_not_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bytes_that_are_no_get_of_the_row_are_passed_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_rows_in_one_write, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
