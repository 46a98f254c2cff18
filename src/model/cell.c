/*
 * model/cell.c: the order of cells and the names of their types.
 */
#include "model/cell.h"

static const struct
{
	WcCellType	type;
	const char *name;
}			type_names[] = {
	{WC_PUT, "Put"},
	{WC_DELETE, "Delete"},
	{WC_DELETE_FAMILY_VERSION, "DeleteFamilyVersion"},
	{WC_DELETE_COLUMN, "DeleteColumn"},
	{WC_DELETE_FAMILY, "DeleteFamily"},
};

#define TYPE_COUNT (sizeof(type_names) / sizeof(type_names[0]))

int
wc_cell_cmp(const WcCell *a, const WcCell *b)
{
	int			c = wc_slice_cmp(a->qualifier, b->qualifier);

	if (c != 0)
		return c;
	if (a->ts != b->ts)
		return a->ts > b->ts ? -1 : 1;
	if (a->type != b->type)
		return a->type > b->type ? -1 : 1;
	return (a->seq < b->seq) - (a->seq > b->seq);
}

const char *
wc_cell_type_name(uint8_t type)
{
	for (size_t i = 0; i < TYPE_COUNT; i++)
		if (type_names[i].type == type)
			return type_names[i].name;
	return NULL;
}

bool
wc_cell_type_parse(WcSlice name, uint8_t *type)
{
	for (size_t i = 0; i < TYPE_COUNT; i++)
	{
		if (wc_slice_eq(name, wc_slice_cstr(type_names[i].name)))
		{
			*type = (uint8_t) type_names[i].type;
			return true;
		}
	}
	return false;
}
