/*
 * test/fuzz/fuzz_text.c: names, and bytes as people read them.
 */
#include "base/printable.h"
#include "fuzz.h"
#include "model/cell.h"
#include "model/descriptor.h"
#include "read/cell/quote.h"

#include <stdlib.h>

/* "[namespace:]table" is split into the parts that it was made of. */
static void
check_name(WcSlice full)
{
	WcTableDesc desc = {.id = 1};
	char		text[2 * WC_NAME_MAX + 2];
	WcSlice		ns;
	WcSlice		name;

	if (wc_table_name_split(full, &ns, &name, NULL) != WC_OK)
		return;
	wc_table_desc_fullname(&(WcTableDesc) {.ns = ns,.name = name}, text, sizeof(text));
	HOLDS(wc_table_name_split(wc_slice_cstr(text), &desc.ns, &desc.name, NULL) == WC_OK);
	HOLDS(wc_slice_eq(desc.ns, ns) && wc_slice_eq(desc.name, name));
}

/* Printed text can be read again: there is a byte for each character and each \xHH. */
static void
check_printable(WcSlice s)
{
	char	   *text = malloc(WC_PRINTABLE_SIZE(s.len) + 8);
	char	   *p = text;

	HOLDS(text != NULL);
	wc_printable(text, WC_PRINTABLE_SIZE(s.len) + 8, s);
	for (size_t i = 0; i < s.len; i++)
	{
		uint8_t		c = (uint8_t) *p;

		if (c == '\\')
		{
			char		hex[3] = {p[2], p[3], '\0'};

			HOLDS(p[1] == 'x');
			c = (uint8_t) strtoul(hex, NULL, 16);
			p += 3;
		}
		p++;
		HOLDS(c == s.data[i]);
	}
	HOLDS(*p == '\0');
	free(text);
}

/* In any room there is a text, and its end. */
static void
check_room(WcSlice s, size_t size)
{
	char	   *text = malloc(size);

	HOLDS(text != NULL);
	HOLDS(strlen(wc_printable(text, size, s)) < size);
	if (size >= 16)
		HOLDS(strlen(wc_quote(text, size, s)) < size);
	free(text);
}

FUZZ_TARGET(text)
{
	uint8_t		type;

	if (in.len == 0)
		return;
	check_room(wc_slice(in.data + 1, in.len - 1), 8 + in.data[0] % 64);
	check_printable(in);
	check_name(in);
	if (wc_cell_type_parse(in, &type))
		HOLDS(wc_slice_eq(in, wc_slice_cstr(wc_cell_type_name(type))));
	if (wc_family_name_check(in, NULL) == WC_OK)
		HOLDS(in.len <= WC_NAME_MAX && in.data[0] != '.' && memchr(in.data, ':', in.len) == NULL);
}
