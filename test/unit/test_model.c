/*
 * test/unit/test_model.c: cells, descriptors, scans.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/coding.h"
#include "mangle.h"
#include "model/cell.h"
#include "model/descriptor.h"
#include "model/scan.h"
#include "random.h"

#define S(literal) wc_slice(literal, sizeof(literal) - 1)

/* --- cells ------------------------------------------------------------------ */

static void
cells_sort_as_in_hbase(void **state)
{
	/* In order; the qualifiers' order comes first, then the newest. */
	static const struct
	{
		const char *qualifier;
		int64_t		ts;
		uint8_t		type;
		int64_t		seq;
	}			sorted[] = {
		{"", 30, WC_PUT, 1},
		{"", 20, WC_DELETE_FAMILY, 1},
		{"", 20, WC_DELETE_COLUMN, 1},
		{"", 20, WC_DELETE_FAMILY_VERSION, 1},
		{"", 20, WC_DELETE, 1},
		{"", 20, WC_PUT, 9},
		{"", 20, WC_PUT, 8},
		{"a", 40, WC_PUT, 1},
		{"ab", 50, WC_PUT, 1},
		{"b", 10, WC_DELETE, 1},
		{"b", 0, WC_PUT, 1},
		{"\x80", 60, WC_PUT, 1},
	};
	const int	n = sizeof(sorted) / sizeof(sorted[0]);

	(void) state;
	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < n; j++)
		{
			WcCell		a = {.qualifier = wc_slice_cstr(sorted[i].qualifier), .ts = sorted[i].ts,
				.type = sorted[i].type, .seq = sorted[i].seq};
			WcCell		b = {.qualifier = wc_slice_cstr(sorted[j].qualifier), .ts = sorted[j].ts,
				.type = sorted[j].type, .seq = sorted[j].seq};
			int			c = wc_cell_cmp(&a, &b);

			assert_int_equal((c > 0) - (c < 0), (i > j) - (i < j));
		}
	}
}

static void
cell_types_have_hbase_names(void **state)
{
	static const char *const names[] = {"Put", "Delete", "DeleteFamilyVersion", "DeleteColumn", "DeleteFamily"};
	static const uint8_t codes[] = {4, 8, 10, 12, 14};
	int			known = 0;
	uint8_t		type = 0;

	(void) state;
	for (int i = 0; i < 5; i++)
	{
		assert_string_equal(wc_cell_type_name(codes[i]), names[i]);
		assert_true(wc_cell_type_parse(wc_slice_cstr(names[i]), &type));
		assert_int_equal(type, codes[i]);
		assert_true(wc_cell_type_valid(codes[i]));
	}
	for (int i = 0; i < 256; i++)
	{
		assert_int_equal(wc_cell_type_valid((uint8_t) i), wc_cell_type_name((uint8_t) i) != NULL);
		known += wc_cell_type_valid((uint8_t) i);
	}
	assert_int_equal(known, 5);
	assert_false(wc_cell_type_parse(S("put"), &type));
	assert_false(wc_cell_type_parse(S(""), &type));
	assert_false(wc_cell_type_parse(S("DeleteFamilyV"), &type));
}

/* --- descriptors: names ----------------------------------------------------- */

static void
family_names_are_checked(void **state)
{
	static const char *const good[] = {"f", "cf", "a.b", "-", "with space", "\xC3\xA9", "_"};
	static const char *const bad[] = {".f", "a:b", "a/b", "a\\b", "a\nb", "a\x7F", "\x01"};
	char		name[WC_NAME_MAX + 1];
	WcError		err;

	(void) state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(wc_family_name_check(wc_slice_cstr(good[i]), &err), WC_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(wc_family_name_check(wc_slice_cstr(bad[i]), &err), WC_INVALID);
	assert_int_equal(wc_family_name_check(S("a:b"), &err), WC_INVALID);
	assert_string_equal(err.message, "invalid family name \"a:b\"");
	assert_int_equal(wc_family_name_check(S("a\nb"), &err), WC_INVALID);
	assert_string_equal(err.message, "invalid family name \"a?b\"");
	assert_int_equal(wc_family_name_check(S("a\0b"), &err), WC_INVALID);
	assert_int_equal(wc_family_name_check(S(""), &err), WC_INVALID);
	assert_string_equal(err.message, "family name is empty");

	memset(name, 'f', sizeof(name));
	assert_int_equal(wc_family_name_check(wc_slice(name, WC_NAME_MAX), &err), WC_OK);
	assert_int_equal(wc_family_name_check(wc_slice(name, WC_NAME_MAX + 1), &err), WC_TOO_LARGE);
	assert_string_equal(err.message, "family name is too long: 201 bytes, the limit is 200");
}

static void
table_names_are_split_and_checked(void **state)
{
	static const char *const bad[] = {"", ":", "ns:", ":t", "a:b:c", ".t", "-t", "a b", "ns:.t", "-n:t", "a/b", "a\tb"};
	WcSlice		ns,
				name;
	WcError		err;

	(void) state;
	assert_int_equal(wc_table_name_split(S("t"), &ns, &name, &err), WC_OK);
	assert_true(wc_slice_eq(ns, S("default")));
	assert_true(wc_slice_eq(name, S("t")));
	assert_int_equal(wc_table_name_split(S("my.ns:T-1_\xC3\xA9"), &ns, &name, &err), WC_OK);
	assert_true(wc_slice_eq(ns, S("my.ns")));
	assert_true(wc_slice_eq(name, S("T-1_\xC3\xA9")));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(wc_table_name_split(wc_slice_cstr(bad[i]), &ns, &name, &err), WC_INVALID);
	assert_int_equal(wc_table_name_split(wc_slice(NULL, 0), &ns, &name, &err), WC_INVALID);
	assert_string_equal(err.message, "table name is empty");
	assert_int_equal(wc_namespace_name_check(S("a:b"), &err), WC_INVALID);
	assert_string_equal(err.message, "invalid namespace name \"a:b\"");
	assert_int_equal(wc_namespace_name_check(S("hbase"), &err), WC_OK);
}

/* --- descriptors: rules and bytes ------------------------------------------- */

enum
{
	NFAMILIES = 3,
	NSPLITS = 3
};

typedef struct Sample
{
	WcTableDesc desc;
	WcFamilyDesc families[NFAMILIES];
	WcSlice		splits[NSPLITS];
} Sample;

/* A descriptor that is right; tests spoil it. */
static void
make_sample(Sample *s)
{
	static const char *const names[NFAMILIES] = {"a", "b", "bb"};

	memset(s, 0, sizeof(*s));
	for (uint32_t i = 0; i < NFAMILIES; i++)
	{
		s->families[i].id = 10 - i;
		s->families[i].generation = i * 1000;
		s->families[i].name = wc_slice_cstr(names[i]);
		s->families[i].history_from_us = INT64_C(1700000000000000) * i;
		s->families[i].attrs = wc_family_attrs_default;
		s->families[i].attrs.packing = i == 0 ? WC_PACKING_ROW : WC_PACKING_CELL;
	}
	s->families[1].attrs.versions = WC_VERSIONS_MAX;
	s->families[1].attrs.min_versions = 2;
	s->families[1].attrs.ttl_us = INT64_MAX;
	s->families[1].attrs.keep_deleted = WC_KEEP_DELETED_TTL;
	s->families[1].attrs.bloomfilter = WC_BLOOM_ROWCOL;
	s->families[1].attrs.compression = WC_COMPRESSION_ZSTD;
	s->families[1].attrs.blocksize = WC_BLOCKSIZE_MAX;
	s->families[1].attrs.blockcache = false;
	s->families[1].attrs.in_memory = true;
	s->splits[0] = S("\0");
	s->splits[1] = S("m");
	s->splits[2] = S("m\0");
	s->desc.id = UINT32_MAX;
	s->desc.database = 16384;
	s->desc.owner = UINT32_MAX;
	s->desc.ns = S("ns");
	s->desc.name = S("table");
	s->desc.nfamilies = NFAMILIES;
	s->desc.families = s->families;
	s->desc.next_family_id = 11;
	s->desc.nsplits = NSPLITS;
	s->desc.splits = s->splits;
}

static void
default_attributes_are_the_documented_ones(void **state)
{
	const WcFamilyAttrs *a = &wc_family_attrs_default;

	(void) state;
	assert_int_equal(a->versions, 1);
	assert_int_equal(a->min_versions, 0);
	assert_int_equal(a->ttl_us, 0);
	assert_int_equal(a->keep_deleted, WC_KEEP_DELETED_FALSE);
	assert_int_equal(a->bloomfilter, WC_BLOOM_ROW);
	assert_int_equal(a->compression, WC_COMPRESSION_LZ4);
	assert_int_equal(a->packing, WC_PACKING_AUTO);
	assert_int_equal(a->blocksize, 16384);
	assert_true(a->blockcache);
	assert_false(a->in_memory);
	assert_int_equal(wc_family_attrs_check(S("f"), a, NULL), WC_OK);
}

static void
attributes_are_checked(void **state)
{
	WcFamilyAttrs a = wc_family_attrs_default;
	WcError		err;

	(void) state;
#define REFUSED(field, value, text) \
	do { \
		a = wc_family_attrs_default; \
		a.field = (value); \
		assert_int_equal(wc_family_attrs_check(S("f"), &a, &err), WC_INVALID); \
		assert_string_equal(err.message, text); \
	} while (0)

	REFUSED(versions, 0, "versions of family \"f\" is 0, must be between 1 and 2147483647");
	REFUSED(versions, 2147483648u, "versions of family \"f\" is 2147483648, must be between 1 and 2147483647");
	REFUSED(min_versions, 2, "min_versions of family \"f\" is 2, more than its versions 1");
	REFUSED(ttl_us, -1, "ttl of family \"f\" is negative");
	REFUSED(keep_deleted, 3, "family \"f\" has an unknown keep_deleted_cells 3");
	REFUSED(bloomfilter, 3, "family \"f\" has an unknown bloomfilter 3");
	REFUSED(compression, 4, "family \"f\" has an unknown compression 4");
	REFUSED(packing, 3, "family \"f\" has an unknown packing 3");
	REFUSED(blocksize, 1023, "blocksize of family \"f\" is 1023 bytes, must be between 1024 and 16777216");
	REFUSED(blocksize, 16777217, "blocksize of family \"f\" is 16777217 bytes, must be between 1024 and 16777216");
#undef REFUSED
}

static void
descriptors_are_checked(void **state)
{
	Sample		s;
	WcError		err;

	(void) state;
	make_sample(&s);
	assert_int_equal(wc_table_desc_check(&s.desc, &err), WC_OK);

#define REFUSED(spoil, code, text) \
	do { \
		make_sample(&s); \
		spoil; \
		assert_int_equal(wc_table_desc_check(&s.desc, &err), code); \
		assert_string_equal(err.message, text); \
	} while (0)

	REFUSED(s.desc.nfamilies = 0, WC_INVALID, "a table needs at least one family");
	REFUSED(s.desc.nfamilies = 257, WC_TOO_LARGE, "too many families: 257, the limit is 256");
	REFUSED(s.desc.name = S(""), WC_INVALID, "table name is empty");
	REFUSED(s.desc.ns = S("n:s"), WC_INVALID, "invalid namespace name \"n:s\"");
	REFUSED(s.families[1].name = S("a"), WC_INVALID, "family \"a\" is named twice");
	REFUSED(s.families[0].name = S("z"), WC_INVALID, "family \"b\" is not in the order of names");
	REFUSED(s.families[2].name = S("b/b"), WC_INVALID, "invalid family name \"b/b\"");
	REFUSED(s.families[2].id = 10, WC_INVALID, "id 10 of family \"bb\" is another family's too");
	REFUSED(s.desc.next_family_id = 10, WC_INVALID, "id 10 of family \"a\" is not below the table's next family id 10");
	REFUSED(s.families[0].attrs.packing = WC_PACKING_AUTO, WC_INVALID, "packing of family \"a\" has not been chosen");
	REFUSED(s.families[0].attrs.versions = 0, WC_INVALID,
			"versions of family \"a\" is 0, must be between 1 and 2147483647");
	REFUSED(s.families[0].history_from_us = -1, WC_INVALID, "history of family \"a\" begins before 1970");
	REFUSED(s.splits[0] = S(""), WC_INVALID, "split point 1 is empty");
	REFUSED(s.splits[2] = S("m"), WC_INVALID, "split point 3 is not behind the one before it");
	REFUSED(s.splits[2].len = WC_ROW_MAX + 1, WC_TOO_LARGE,
			"split point 3 is too long: 32769 bytes, the limit of a row key is 32768");
	REFUSED(s.desc.nsplits = 10001, WC_TOO_LARGE, "too many split points: 10001, the limit is 10000");
#undef REFUSED
}

static void
assert_same_desc(const WcTableDesc *a, const WcTableDesc *b)
{
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->database, b->database);
	assert_int_equal(a->owner, b->owner);
	assert_true(a->ttl_us == b->ttl_us);
	assert_int_equal(a->disabled, b->disabled);
	assert_true(wc_slice_eq(a->origin, b->origin));
	assert_true(a->taken_us == b->taken_us);
	assert_true(wc_slice_eq(a->ns, b->ns));
	assert_true(wc_slice_eq(a->name, b->name));
	assert_int_equal(a->nfamilies, b->nfamilies);
	assert_int_equal(a->next_family_id, b->next_family_id);
	assert_int_equal(a->nsplits, b->nsplits);
	for (uint32_t i = 0; i < a->nfamilies; i++)
	{
		const WcFamilyDesc *f = &a->families[i];
		const WcFamilyDesc *g = &b->families[i];

		assert_int_equal(f->id, g->id);
		assert_int_equal(f->generation, g->generation);
		assert_true(wc_slice_eq(f->name, g->name));
		assert_true(f->history_from_us == g->history_from_us);
		assert_int_equal(f->attrs.versions, g->attrs.versions);
		assert_int_equal(f->attrs.min_versions, g->attrs.min_versions);
		assert_true(f->attrs.ttl_us == g->attrs.ttl_us);
		assert_int_equal(f->attrs.ttl_inherited, g->attrs.ttl_inherited);
		assert_int_equal(f->attrs.keep_deleted, g->attrs.keep_deleted);
		assert_int_equal(f->attrs.bloomfilter, g->attrs.bloomfilter);
		assert_int_equal(f->attrs.compression, g->attrs.compression);
		assert_int_equal(f->attrs.packing, g->attrs.packing);
		assert_int_equal(f->attrs.blocksize, g->attrs.blocksize);
		assert_int_equal(f->attrs.blockcache, g->attrs.blockcache);
		assert_int_equal(f->attrs.in_memory, g->attrs.in_memory);
	}
	for (uint32_t i = 0; i < a->nsplits; i++)
		assert_true(wc_slice_eq(a->splits[i], b->splits[i]));
}

static void
descriptors_round_trip(void **state)
{
	Sample		s;
	WcBuf		buf = WC_BUF_INIT;
	WcArena		arena = WC_ARENA_INIT;
	WcTableDesc back;
	char		name[32];

	(void) state;
	make_sample(&s);
	wc_table_desc_encode(&buf, &s.desc);
	assert_int_equal(wc_table_desc_decode(wc_buf_slice(&buf), &arena, &back, NULL), WC_OK);

	/* The descriptor needs the bytes no longer. */
	memset(buf.data, 0xEE, buf.len);
	wc_buf_free(&buf);
	assert_same_desc(&s.desc, &back);

	assert_ptr_equal(wc_table_desc_family(&back, S("bb")), &back.families[2]);
	assert_null(wc_table_desc_family(&back, S("c")));
	assert_ptr_equal(wc_table_desc_family_by_id(&back, 9), &back.families[1]);
	assert_null(wc_table_desc_family_by_id(&back, 1));
	assert_string_equal(wc_table_desc_fullname(&back, name, sizeof(name)), "ns:table");
	assert_string_equal(wc_table_desc_fullname(&back, name, 5), "ns:t");
	back.ns = S("default");
	assert_string_equal(wc_table_desc_fullname(&back, name, sizeof(name)), "table");
	wc_arena_free(&arena);
}

static void
descriptor_bytes_are_the_documented_ones(void **state)
{
	static const uint8_t expected[] =
		"\x03\x07\x05\x0a\x07" "default\x01t\x02"
		"\x01\x01\x00\x01" "f\x00\x01\x00\x00\x00\x01\x02\x01\x80\x80\x01\x01"
		"\x00"
		"\x00\x00";
	WcFamilyDesc family = {.id = 1, .name = S("f"), .attrs = wc_family_attrs_default};
	WcTableDesc desc = {.id = 7, .database = 5, .owner = 10, .ns = S("default"), .name = S("t"),
	.nfamilies = 1, .families = &family, .next_family_id = 2};
	WcBuf		buf = WC_BUF_INIT;

	(void) state;
	family.attrs.packing = WC_PACKING_ROW;
	wc_table_desc_encode(&buf, &desc);
	assert_int_equal(buf.len, sizeof(expected) - 1);
	assert_memory_equal(buf.data, expected, buf.len);
	wc_buf_free(&buf);
}

/* What versions before the table's ttl and the flags have stored. */
static void
descriptors_of_format_2_are_read(void **state)
{
	static const uint8_t stored[] =
		"\x02\x07\x05\x0a\x07" "default\x01t\x02"
		"\x01\x01\x00\x01" "f\x00\x01\x00\x00\x00\x01\x02\x01\x80\x80\x01\x01"
		"\x00";
	WcArena		arena = WC_ARENA_INIT;
	WcTableDesc desc;
	WcError		err;

	(void) state;
	assert_int_equal(wc_table_desc_decode(wc_slice(stored, sizeof(stored) - 1), &arena, &desc, &err), WC_OK);
	assert_int_equal(desc.owner, 10);
	assert_true(desc.ttl_us == 0);
	assert_false(desc.disabled);
	wc_arena_free(&arena);
}

/* Families without a ttl have the table's, also when they are read back. */
static void
families_inherit_the_ttl(void **state)
{
	WcFamilyDesc families[2] = {
		{.id = 1, .name = S("a"), .attrs = wc_family_attrs_default},
		{.id = 2, .name = S("b"), .attrs = wc_family_attrs_default}
	};
	WcTableDesc desc = {.id = 7, .database = 5, .ns = S("default"), .name = S("t"), .ttl_us = 60,
	.disabled = true, .origin = S("shop:t"), .taken_us = 77, .nfamilies = 2, .families = families, .next_family_id = 3};
	WcBuf		buf = WC_BUF_INIT;
	WcArena		arena = WC_ARENA_INIT;
	WcTableDesc back;

	(void) state;
	families[0].attrs.packing = families[1].attrs.packing = WC_PACKING_CELL;
	families[1].attrs.ttl_us = 5;
	wc_table_desc_inherit(&desc);
	assert_true(families[0].attrs.ttl_us == 60 && families[0].attrs.ttl_inherited);
	assert_true(families[1].attrs.ttl_us == 5 && !families[1].attrs.ttl_inherited);

	wc_table_desc_encode(&buf, &desc);
	assert_int_equal(wc_table_desc_decode(wc_buf_slice(&buf), &arena, &back, NULL), WC_OK);
	assert_same_desc(&desc, &back);
	wc_buf_free(&buf);

	/* another one is handed on, and none any more */
	back.ttl_us = 90;
	wc_table_desc_inherit(&back);
	assert_true(back.families[0].attrs.ttl_us == 90 && back.families[1].attrs.ttl_us == 5);
	back.ttl_us = 0;
	wc_table_desc_inherit(&back);
	assert_true(back.families[0].attrs.ttl_us == 0 && !back.families[0].attrs.ttl_inherited);
	assert_true(back.families[1].attrs.ttl_us == 5);
	wc_arena_free(&arena);
}

/* What versions before owners have stored. */
static void
descriptors_without_owner_are_read(void **state)
{
	static const uint8_t stored[] =
		"\x01\x07\x05\x07" "default\x01t\x02"
		"\x01\x01\x00\x01" "f\x00\x01\x00\x00\x00\x01\x02\x01\x80\x80\x01\x01"
		"\x00";
	WcArena		arena = WC_ARENA_INIT;
	WcTableDesc desc;
	WcError		err;

	(void) state;
	assert_int_equal(wc_table_desc_decode(wc_slice(stored, sizeof(stored) - 1), &arena, &desc, &err), WC_OK);
	assert_int_equal(desc.id, 7);
	assert_int_equal(desc.database, 5);
	assert_int_equal(desc.owner, 0);
	assert_true(wc_slice_eq(desc.name, S("t")));
	assert_int_equal(desc.nfamilies, 1);
	assert_int_equal(desc.next_family_id, 2);
	wc_arena_free(&arena);
}

/* What decodes must hold together and be encoded to something that decodes to
 * the same; arg counts what does. */
static void
read_descriptor(WcSlice bytes, void *arg)
{
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		buf = WC_BUF_INIT;
	WcTableDesc desc,
				again;
	WcError		err;
	WcStatus	status = wc_table_desc_decode(bytes, &arena, &desc, &err);

	if (status == WC_OK)
	{
		assert_int_equal(wc_table_desc_check(&desc, &err), WC_OK);
		wc_table_desc_encode(&buf, &desc);
		assert_int_equal(wc_table_desc_decode(wc_buf_slice(&buf), &arena, &again, &err), WC_OK);
		assert_same_desc(&desc, &again);
		(*(int *) arg)++;
	}
	else
	{
		assert_int_equal(status, WC_CORRUPT);
		assert_int_equal(err.status, WC_CORRUPT);
		for (const char *c = err.message; *c; c++)
			assert_true(*c >= ' ' && *c < 0x7F);
	}
	wc_buf_free(&buf);
	wc_arena_free(&arena);
}

static void
descriptors_survive_any_bytes(void **state)
{
	Sample		s;
	WcBuf		buf = WC_BUF_INIT;
	int			good = 0;

	(void) state;
	make_sample(&s);
	wc_table_desc_encode(&buf, &s.desc);
	wc_mangle_prefixes(wc_buf_slice(&buf), read_descriptor, &good);
	assert_int_equal(good, 1);
	wc_mangle_randomly(wc_buf_slice(&buf), 20000, read_descriptor, &good);
	wc_buf_append_u8(&buf, 0);
	good = 0;
	read_descriptor(wc_buf_slice(&buf), &good);
	assert_int_equal(good, 0);	/* a byte too many */
	wc_buf_free(&buf);
}

/* --- ranges ----------------------------------------------------------------- */

static WcRange
range(const char *start, bool start_inclusive, const char *stop, bool stop_inclusive)
{
	WcRange		r = {wc_slice_cstr(start), wc_slice_cstr(stop), start_inclusive, stop_inclusive};

	return r;
}

static void
ranges_know_what_is_inside(void **state)
{
	WcRange		r = range("b", true, "d", false);

	(void) state;
	assert_true(wc_range_before_start(&r, S("azzz")));
	assert_false(wc_range_before_start(&r, S("b")));
	assert_true(wc_range_contains(&r, S("b")));
	assert_true(wc_range_contains(&r, S("czzz")));
	assert_false(wc_range_contains(&r, S("d")));
	assert_true(wc_range_behind_stop(&r, S("d")));
	r = range("b", false, "d", true);
	assert_false(wc_range_contains(&r, S("b")));
	assert_true(wc_range_contains(&r, S("b\0")));
	assert_true(wc_range_contains(&r, S("d")));
	assert_false(wc_range_contains(&r, S("d\0")));
	r = range("", false, "", false);
	assert_true(wc_range_contains(&r, S("\0")));
	assert_true(wc_range_contains(&r, S("\xFF\xFF")));
	r = range("b", true, "b", true);
	assert_true(wc_range_contains(&r, S("b")));
	assert_false(wc_range_contains(&r, S("b\0")));
}

/* The common prefix against random keys over {00, 01, FE, FF}. */
static void
common_prefixes_are_those_of_all_rows(void **state)
{
	WcRange		user = {S("\x01\x02"), S("\x01\x03"), true, false};
	WcRange		last = {S("a\xFF\xFF"), S("b"), true, false};
	uint8_t		bytes[3][5];
	WcSlice		keys[3];

	assert_true(wc_slice_eq(wc_range_common_prefix(&user), S("\x01\x02")));
	assert_true(wc_slice_eq(wc_range_common_prefix(&last), S("a\xFF\xFF")));
	user.stop_inclusive = true;
	assert_true(wc_slice_eq(wc_range_common_prefix(&user), S("\x01")));
	user.stop = wc_slice(NULL, 0);
	assert_int_equal(wc_range_common_prefix(&user).len, 0);
	(void) seed(state);
	for (int i = 0; i < 300000; i++)
	{
		WcRange		r;
		WcSlice		prefix;

		for (int k = 0; k < 3; k++)
		{
			keys[k] = wc_slice(bytes[k], below(6));
			for (size_t b = 0; b < keys[k].len; b++)
				bytes[k][b] = "\x00\x01\xFE\xFF"[below(4)];
		}
		r = (WcRange) {keys[0], keys[1], below(2) == 0, below(2) == 0};
		prefix = wc_range_common_prefix(&r);
		if (wc_range_contains(&r, keys[2]))
			assert_true(keys[2].len >= prefix.len && memcmp(bytes[2], prefix.data, prefix.len) == 0);
	}
}

/* is_empty against trying every short key over {00, 01, FF}. */
static void
empty_ranges_are_those_without_a_key(void **state)
{
	static const uint8_t letters[] = {0x00, 0x01, 0xFF};
	uint8_t		keys[1 + 3 + 9 + 27 + 81][4];
	size_t		lens[1 + 3 + 9 + 27 + 81];
	const int	nbounds = 1 + 3 + 9;
	int			n = 0;
	int			from = 0;

	(void) state;
	lens[n++] = 0;
	for (size_t len = 1; len <= 4; len++)
	{
		int			until = n;

		for (int k = from; k < until; k++)
		{
			for (int c = 0; c < 3; c++)
			{
				memcpy(keys[n], keys[k], len - 1);
				keys[n][len - 1] = letters[c];
				lens[n++] = len;
			}
		}
		from = until;
	}
	for (int i = 0; i < nbounds * nbounds * 4; i++)
	{
		int			start = i / 4 % nbounds;
		int			stop = i / 4 / nbounds;
		WcRange		r = {wc_slice(keys[start], lens[start]), wc_slice(keys[stop], lens[stop]),
		(i & 1) != 0, (i & 2) != 0};
		bool		empty = true;

		for (int k = 1; k < n; k++)
			empty = empty && !wc_range_contains(&r, wc_slice(keys[k], lens[k]));
		assert_int_equal(wc_range_is_empty(&r), empty);
	}
}

/* A range of letters, cut at every letter, has each of its keys in one part. */
static void
parts_of_a_range_are_all_of_it(void **state)
{
	static const char *const bounds[] = {"", "b", "c", "d"};
	static const char *const keys[] = {"a", "b", "b1", "c", "c1", "d", "d1"};
	const WcSlice points[] = {wc_slice_cstr(""), wc_slice_cstr("b"), wc_slice_cstr("c"), wc_slice_cstr("d"), wc_slice_cstr("")};

	(void) state;
	for (int i = 0; i < 4 * 4 * 4; i++)
	{
		WcRange		r = range(bounds[i / 4 % 4], (i & 1) != 0, bounds[i / 16], (i & 2) != 0);

		for (int k = 0; k < 7; k++)
		{
			WcSlice		key = wc_slice_cstr(keys[k]);
			int			found = 0;

			for (int p = 0; p < 4; p++)
			{
				WcRange		part = wc_range_part(&r, points[p], points[p + 1]);

				found += !wc_range_is_empty(&part) && wc_range_contains(&part, key);
			}
			assert_int_equal(found, !wc_range_is_empty(&r) && wc_range_contains(&r, key));
		}
	}
}

static void
prefixes_become_ranges(void **state)
{
	WcArena		arena = WC_ARENA_INIT;
	WcRange		r;

	(void) state;
	assert_true(wc_range_of_prefix(&arena, S("ab"), &r));
	assert_true(wc_slice_eq(r.start, S("ab")) && r.start_inclusive);
	assert_true(wc_slice_eq(r.stop, S("ac")) && !r.stop_inclusive);
	assert_true(wc_range_of_prefix(&arena, S("a\xFF\xFF"), &r));
	assert_true(wc_slice_eq(r.start, S("a\xFF\xFF")));
	assert_true(wc_slice_eq(r.stop, S("b")));
	assert_true(wc_range_of_prefix(&arena, S("\xFF\xFF"), &r));
	assert_true(wc_slice_eq(r.start, S("\xFF\xFF")));
	assert_int_equal(r.stop.len, 0);
	assert_true(wc_range_of_prefix(&arena, S(""), &r));
	assert_int_equal(r.start.len + r.stop.len, 0);
	wc_arena_free(&arena);
}

/* --- scans ------------------------------------------------------------------ */

static void
new_scan_is_hbase_default(void **state)
{
	WcScan		scan;

	(void) state;
	memset(&scan, 0xFF, sizeof(scan));
	wc_scan_init(&scan, 5);
	assert_int_equal(scan.table_id, 5);
	assert_int_equal(scan.versions, 1);
	assert_int_equal(scan.ts_min, 0);
	assert_true(scan.ts_max == INT64_MAX);
	assert_int_equal(scan.filter_ts_min, 0);
	assert_true(scan.filter_ts_max == INT64_MAX && scan.as_of_ts == INT64_MAX);
	assert_int_equal(scan.nranges + scan.ncolumns + scan.nfamilies, 0);
	assert_false(scan.raw || scan.reversed || scan.want_ts || scan.key_only || scan.rows_by_existence);
	assert_int_equal(wc_scan_check(&scan, NULL), WC_OK);
}

static void
scans_are_checked(void **state)
{
	static uint8_t long_bytes[WC_QUALIFIER_MAX + 1];
	WcRange		ranges[2];
	WcColumn	columns[1];
	WcScan		scan;
	WcError		err;

	(void) state;
#define CHECK(spoil, code) \
	do { \
		wc_scan_init(&scan, 1); \
		memset(columns, 0, sizeof(columns)); \
		scan.ranges = ranges; \
		scan.columns = columns; \
		spoil; \
		assert_int_equal(wc_scan_check(&scan, &err), code); \
	} while (0)
#define RANGES(a, b) (ranges[0] = (a), ranges[1] = (b), scan.nranges = 2)

	CHECK(scan.versions = 0, WC_INVALID);
	CHECK(scan.versions = 2147483648u, WC_INVALID);
	CHECK(scan.ts_min = -1, WC_INVALID);
	CHECK((scan.ts_min = 10, scan.ts_max = 9), WC_INVALID);
	assert_string_equal(err.message, "time range [10, 9) ends before it begins");
	CHECK((scan.ts_min = 10, scan.ts_max = 10), WC_OK);
	CHECK(scan.filter_ts_max = -1, WC_INVALID);
	CHECK((scan.filter_ts_min = 10, scan.filter_ts_max = 9), WC_INVALID);
	assert_string_equal(err.message, "filter on timestamps [10, 9) ends before it begins");
	CHECK((scan.filter_ts_min = 10, scan.rows_by_existence = true), WC_INVALID);
	CHECK((scan.filter_ts_min = 10, scan.raw = true), WC_OK);
	CHECK((scan.count_cells = true, scan.rows_by_existence = true), WC_INVALID);
	CHECK((scan.filter_text = wc_slice_cstr("x"), scan.raw = true), WC_OK);
	CHECK((scan.filter_text = wc_slice_cstr("x"), scan.rows_by_existence = true), WC_INVALID);
	CHECK((scan.filter_text = wc_slice_cstr("x"), scan.row_offset = 1), WC_INVALID);
	CHECK((scan.filter_text = wc_slice_cstr("x"), scan.merged = true), WC_INVALID);
	CHECK((scan.count_cells = true, scan.raw = true), WC_OK);
	CHECK(scan.as_of_ts = -1, WC_INVALID);
	CHECK((scan.as_of_ts = 0, scan.rows_by_existence = true), WC_OK);
	CHECK((scan.distinct_parts = 1, scan.distinct_keys = wc_slice_cstr("x"), scan.rows_by_existence = true), WC_OK);
	CHECK((scan.distinct_parts = 1, scan.distinct_keys = wc_slice_cstr("x")), WC_INVALID);
	CHECK((scan.distinct_parts = 1, scan.rows_by_existence = true), WC_INVALID);
	CHECK((scan.distinct_parts = WC_COLUMNS_MAX + 1, scan.distinct_keys = wc_slice_cstr("x"), scan.rows_by_existence = true), WC_INVALID);
	CHECK(scan.nranges = WC_RANGES_MAX + 1, WC_TOO_LARGE);
	CHECK(scan.ncolumns = WC_COLUMNS_MAX + 1, WC_TOO_LARGE);
	CHECK((scan.rows_by_existence = true, scan.nfamilies = WC_FAMILIES_MAX + 1), WC_TOO_LARGE);

	CHECK(RANGES(range("a", true, "b", false), range("b", true, "c", false)), WC_OK);
	CHECK(RANGES(range("", true, "b", true), range("b", false, "", false)), WC_OK);
	CHECK(RANGES(range("a", true, "b", true), range("b", true, "c", false)), WC_INVALID);
	assert_string_equal(err.message, "row range 2 does not begin behind the one before it");
	CHECK(RANGES(range("a", true, "c", false), range("b", true, "d", false)), WC_INVALID);
	CHECK(RANGES(range("c", true, "d", false), range("a", true, "b", false)), WC_INVALID);
	CHECK(RANGES(range("a", true, "", false), range("b", true, "c", false)), WC_INVALID);
	CHECK(RANGES(range("a", true, "b", false), range("", true, "c", false)), WC_INVALID);
	CHECK(RANGES(range("a", true, "a", false), range("b", true, "c", false)), WC_INVALID);
	CHECK((ranges[0] = range("b", true, "a", false), scan.nranges = 1), WC_OK);
	memset(long_bytes, 'x', sizeof(long_bytes));
	CHECK((ranges[0] = range("", true, "", false), ranges[0].stop = wc_slice(long_bytes, WC_ROW_MAX), scan.nranges = 1), WC_OK);
	CHECK((ranges[0].stop.len = WC_ROW_MAX + 1, scan.nranges = 1), WC_TOO_LARGE);

	CHECK((scan.ncolumns = 1, columns[0].kind = 4), WC_INVALID);
	CHECK((scan.ncolumns = 1, scan.raw = true), WC_INVALID);
	assert_string_equal(err.message, "a raw scan cannot select qualifiers");
	CHECK((scan.ncolumns = 1, scan.raw = true, columns[0].kind = WC_COLUMN_FAMILY), WC_OK);
	CHECK((scan.ncolumns = 1, columns[0].qualifier = wc_slice(long_bytes, WC_QUALIFIER_MAX)), WC_OK);
	CHECK((scan.ncolumns = 1, columns[0].qualifier = wc_slice(long_bytes, WC_QUALIFIER_MAX + 1)), WC_TOO_LARGE);
	CHECK((scan.ncolumns = 1, columns[0].kind = WC_COLUMN_RANGE,
		   columns[0].stop = wc_slice(long_bytes, WC_QUALIFIER_MAX + 1)), WC_TOO_LARGE);
#undef RANGES
#undef CHECK
}

static void
assert_same_scan(const WcScan *a, const WcScan *b)
{
	assert_int_equal(a->table_id, b->table_id);
	assert_int_equal(a->nranges, b->nranges);
	for (uint32_t i = 0; i < a->nranges; i++)
	{
		assert_true(wc_slice_eq(a->ranges[i].start, b->ranges[i].start));
		assert_true(wc_slice_eq(a->ranges[i].stop, b->ranges[i].stop));
		assert_int_equal(a->ranges[i].start_inclusive, b->ranges[i].start_inclusive);
		assert_int_equal(a->ranges[i].stop_inclusive, b->ranges[i].stop_inclusive);
	}
	assert_int_equal(a->ncolumns, b->ncolumns);
	for (uint32_t i = 0; i < a->ncolumns; i++)
	{
		assert_int_equal(a->columns[i].family, b->columns[i].family);
		assert_int_equal(a->columns[i].kind, b->columns[i].kind);
		assert_true(wc_slice_eq(a->columns[i].qualifier, b->columns[i].qualifier));
		assert_true(wc_slice_eq(a->columns[i].stop, b->columns[i].stop));
	}
	assert_int_equal(a->rows_by_existence, b->rows_by_existence);
	assert_int_equal(a->nfamilies, b->nfamilies);
	for (uint32_t i = 0; i < a->nfamilies; i++)
		assert_int_equal(a->families[i], b->families[i]);
	assert_int_equal(a->versions, b->versions);
	assert_true(a->ts_min == b->ts_min && a->ts_max == b->ts_max);
	assert_true(a->filter_ts_min == b->filter_ts_min && a->filter_ts_max == b->filter_ts_max);
	assert_true(a->as_of_ts == b->as_of_ts);
	assert_true(wc_slice_eq(a->filter_text, b->filter_text));
	assert_int_equal(a->distinct_parts, b->distinct_parts);
	assert_true(wc_slice_eq(a->distinct_keys, b->distinct_keys));
	assert_int_equal(a->reversed, b->reversed);
	assert_int_equal(a->merged, b->merged);
	assert_int_equal(a->measured, b->measured);
	assert_int_equal(a->raw, b->raw);
	assert_int_equal(a->want_ts, b->want_ts);
	assert_int_equal(a->key_only, b->key_only);
	assert_true(a->row_limit == b->row_limit && a->row_offset == b->row_offset && a->batch_rows == b->batch_rows);
	assert_int_equal(a->count_cells, b->count_cells);
	assert_int_equal(a->uncapped, b->uncapped);
	assert_int_equal(a->column_limit, b->column_limit);
	assert_int_equal(a->column_offset, b->column_offset);
}

/* Everything a scan can hold, in one that is right. */
static void
make_scan(WcScan *scan)
{
	static WcRange ranges[5];
	static WcColumn columns[4];
	static uint32_t families[3] = {1, 300, UINT32_MAX};

	ranges[0] = range("", false, "a", false);
	ranges[1] = range("a", true, "b", true);
	ranges[2] = range("b", false, "c", true);
	ranges[3] = range("row", true, "row", true);
	ranges[4] = range("s", false, "", false);
	columns[0] = (WcColumn) {.family = 1, .kind = WC_COLUMN_EXACT, .qualifier = S("q\0q")};
	columns[1] = (WcColumn) {.family = 300, .kind = WC_COLUMN_FAMILY};
	columns[2] = (WcColumn) {.family = 1, .kind = WC_COLUMN_PREFIX, .qualifier = S("p")};
	columns[3] = (WcColumn) {.family = 1, .kind = WC_COLUMN_RANGE, .qualifier = S(""), .stop = S("z")};
	wc_scan_init(scan, 70000);
	scan->nranges = 5;
	scan->ranges = ranges;
	scan->ncolumns = 4;
	scan->columns = columns;
	scan->rows_by_existence = true;
	scan->nfamilies = 3;
	scan->families = families;
	scan->versions = WC_VERSIONS_MAX;
	scan->ts_min = 1;
	scan->ts_max = INT64_MAX - 1;
	scan->row_limit = UINT64_MAX;
	scan->row_offset = 7;
	scan->batch_rows = 100;
	scan->column_limit = UINT32_MAX;
	scan->column_offset = 3;
	scan->as_of_ts = 1700000000000000;
	scan->merged = true;
	scan->distinct_parts = 300;
	scan->distinct_keys = S("keys");
}

static void
round_trip_scan(const WcScan *scan)
{
	WcArena		arena = WC_ARENA_INIT;
	WcBuf		buf = WC_BUF_INIT;
	WcScan		back;

	wc_scan_encode(&buf, scan);
	assert_int_equal(wc_scan_decode(wc_buf_slice(&buf), &arena, &back, NULL), WC_OK);
	assert_same_scan(scan, &back);
	wc_buf_free(&buf);
	wc_arena_free(&arena);
}

static void
scans_round_trip(void **state)
{
	WcScan		scan;

	(void) state;
	make_scan(&scan);
	round_trip_scan(&scan);
	wc_scan_init(&scan, 1);
	round_trip_scan(&scan);
	for (int flag = 0; flag < 9; flag++)
	{
		wc_scan_init(&scan, 1);
		scan.uncapped = flag == 8;
		scan.merged = flag == 5;
		scan.measured = flag == 6;
		scan.count_cells = flag == 7;
		scan.rows_by_existence = flag == 0;
		scan.reversed = flag == 1;
		scan.raw = flag == 2;
		scan.want_ts = flag == 3;
		scan.key_only = flag == 4;
		round_trip_scan(&scan);
	}
	wc_scan_init(&scan, 1);
	scan.filter_text = wc_slice_cstr("PageFilter(1)");
	round_trip_scan(&scan);
	wc_scan_init(&scan, 1);
	scan.filter_ts_min = 5;
	round_trip_scan(&scan);
	scan.filter_ts_max = INT64_MAX - 1;
	round_trip_scan(&scan);
}

static void
read_scan(WcSlice bytes, void *arg)
{
	WcArena		arena = WC_ARENA_INIT;
	WcScan		scan;
	WcError		err;
	WcStatus	status = wc_scan_decode(bytes, &arena, &scan, &err);

	if (status == WC_OK)
	{
		(*(int *) arg)++;
		for (uint32_t i = 0; i < scan.nranges; i++)
		{
			wc_mangle_touch(scan.ranges[i].start);
			wc_mangle_touch(scan.ranges[i].stop);
		}
		for (uint32_t i = 0; i < scan.ncolumns; i++)
		{
			wc_mangle_touch(scan.columns[i].qualifier);
			wc_mangle_touch(scan.columns[i].stop);
		}
		assert_int_equal(wc_scan_check(&scan, &err), WC_OK);
		round_trip_scan(&scan);
	}
	else
		assert_true(status == WC_CORRUPT || status == WC_INVALID || status == WC_TOO_LARGE);
	wc_arena_free(&arena);
}

static void
scans_survive_any_bytes(void **state)
{
	WcBuf		buf = WC_BUF_INIT;
	WcScan		scan;
	int			good = 0;

	(void) state;
	make_scan(&scan);
	wc_scan_encode(&buf, &scan);
	wc_mangle_prefixes(wc_buf_slice(&buf), read_scan, &good);
	assert_int_equal(good, 1);
	wc_mangle_randomly(wc_buf_slice(&buf), 20000, read_scan, &good);
	wc_buf_append_u8(&buf, 0);
	good = 0;
	read_scan(wc_buf_slice(&buf), &good);
	assert_int_equal(good, 0);	/* a byte too many */
	wc_buf_free(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_sort_as_in_hbase),
		cmocka_unit_test(cell_types_have_hbase_names),
		cmocka_unit_test(family_names_are_checked),
		cmocka_unit_test(table_names_are_split_and_checked),
		cmocka_unit_test(default_attributes_are_the_documented_ones),
		cmocka_unit_test(attributes_are_checked),
		cmocka_unit_test(descriptors_are_checked),
		cmocka_unit_test(descriptors_round_trip),
		cmocka_unit_test(descriptor_bytes_are_the_documented_ones),
		cmocka_unit_test(descriptors_of_format_2_are_read),
		cmocka_unit_test(families_inherit_the_ttl),
		cmocka_unit_test(descriptors_without_owner_are_read),
		cmocka_unit_test(descriptors_survive_any_bytes),
		cmocka_unit_test(ranges_know_what_is_inside),
		cmocka_unit_test(common_prefixes_are_those_of_all_rows),
		cmocka_unit_test(empty_ranges_are_those_without_a_key),
		cmocka_unit_test(parts_of_a_range_are_all_of_it),
		cmocka_unit_test(prefixes_become_ranges),
		cmocka_unit_test(new_scan_is_hbase_default),
		cmocka_unit_test(scans_are_checked),
		cmocka_unit_test(scans_round_trip),
		cmocka_unit_test(scans_survive_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
