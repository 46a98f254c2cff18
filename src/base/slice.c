/*
 * base/slice.c: slices in arrays.
 */
#include "base/slice.h"

int
wc_slice_compare(const void *a, const void *b)
{
	return wc_slice_cmp(*(const WcSlice *) a, *(const WcSlice *) b);
}
