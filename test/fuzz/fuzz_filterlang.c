/*
 * test/fuzz/fuzz_filterlang.c: HBase's filter language (filterlang/filterlang.h), and what its
 * filters say of some rows (read/filter/langfilter.h).
 *
 * The first byte says whether the scan is reversed; the rest is the text.
 */
#include "base/limits.h"
#include "filterlang/filterlang.h"
#include "fuzz.h"
#include "read/filter/langfilter.h"

static void
check_tree(const WcLangNode *node, uint32_t depth)
{
	bool		wraps = node->kind <= WC_LANG_WHILE;

	HOLDS(depth <= 2 * (WC_FILTER_DEPTH_MAX + 1));
	HOLDS(strlen(wc_filterlang_name(node->kind)) > 1);
	HOLDS(!wraps || node->n >= (node->kind <= WC_LANG_OR ? 2u : 1u));
	for (uint32_t i = 0; wraps && i < node->n; i++)
		check_tree(node->children[i], depth + 1);
	wc_fuzz_touch(node->family);
	wc_fuzz_touch(node->qualifier);
	wc_fuzz_touch(node->value);
	for (uint32_t i = 0; node->texts != NULL && i < node->n; i++)
		wc_fuzz_touch(node->texts[i]);
	for (uint32_t i = 1; node->times != NULL && i < node->n; i++)
		HOLDS(node->times[i - 1] <= node->times[i]);
}

/* Three rows as a scan shows them. */
static void
show_rows(WcLangFilter *filter)
{
	static const char *const rows[] = {"a", "ab", "b"};
	static const char *const qualifiers[] = {"", "a", "ab", "b"};
	static const char *const values[] = {"", "1", "abc", "12345678"};
	uint8_t		scratch[4];

	for (int r = 0; r < 3; r++)
	{
		bool		rejects;

		wc_langfilter_reset(filter);
		if (wc_langfilter_all_remaining(filter) ||
			wc_langfilter_row_key(filter, wc_slice_cstr(rows[r]), &rejects, NULL) != WC_OK || rejects)
			continue;
		for (int i = 0; i < 16; i++)
		{
			WcLangCell	cell = {
				.row = wc_slice_cstr(rows[r]),.place = (uint32_t) i / 8,.family = wc_slice_cstr(i < 8 ? "f" : "g"),
				.qualifier = wc_slice_cstr(qualifiers[i % 8 / 2]),.value = wc_slice_cstr(values[(i + r) % 4]),.ts = 2 - i % 2
			};
			WcLangCode	code;
			WcSlice		hint;

			if (wc_langfilter_cell(filter, &cell, &code, NULL) != WC_OK)
				return;
			if (code == WC_LANG_SEEK && wc_langfilter_hint(filter, &cell, &hint))
				HOLDS(wc_slice_cmp(hint, cell.qualifier) > 0);
			wc_fuzz_touch(wc_langfilter_transform(filter, cell.value, scratch));
			(void) wc_langfilter_keeps(filter, &cell);
		}
		(void) wc_langfilter_row(filter);
	}
}

FUZZ_TARGET(filterlang)
{
	WcArena		arena = WC_ARENA_INIT;
	WcLangNode *node;
	WcLangFilter *filter;

	if (in.len > 0)
	{
		WcSlice		text = wc_slice(in.data + 1, in.len - 1);
		WcStatus	status = wc_filterlang_parse(text, &arena, &node, NULL);

		HOLDS((wc_langfilter_create(&arena, text, in.data[0] & 1, NULL, &filter, NULL) == WC_OK) == (status == WC_OK));
		if (status == WC_OK)
		{
			check_tree(node, 0);
			show_rows(filter);
		}
		wc_langfilter_free(filter);
	}
	wc_arena_free(&arena);
}
