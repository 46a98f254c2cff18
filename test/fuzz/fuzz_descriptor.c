/*
 * test/fuzz/fuzz_descriptor.c: table descriptors (model/descriptor.h).
 */
#include "fuzz.h"
#include "model/descriptor.h"

#define FORMAT_NOW 3

static bool
recode(WcSlice in, WcBuf *out)
{
	WcArena		arena = WC_ARENA_INIT;
	WcTableDesc desc;
	WcError		err;
	uint32_t	id;
	char		name[2 * WC_NAME_MAX + 2];
	bool		good = wc_table_desc_decode(in, &arena, &desc, &err) == WC_OK;

	if (good)
	{
		HOLDS(wc_table_desc_peek_id(in, &id) && id == desc.id);
		for (uint32_t i = 0; i < desc.nfamilies; i++)
		{
			HOLDS(wc_table_desc_family(&desc, desc.families[i].name) == &desc.families[i]);
			HOLDS(wc_table_desc_family_by_id(&desc, desc.families[i].id) == &desc.families[i]);
		}
		wc_table_desc_fullname(&desc, name, sizeof(name));
		wc_table_desc_encode(out, &desc);
	}
	else
		HOLDS(err.status == WC_CORRUPT);
	wc_arena_free(&arena);
	return good;
}

FUZZ_TARGET(descriptor)
{
	/* older formats get longer */
	wc_fuzz_recode(in, recode, in.len > 0 && in.data[0] == FORMAT_NOW);
}
