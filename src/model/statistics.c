/*
 * model/statistics.c: rows of the views of statistics, as bytes.
 */
#include "model/statistics.h"

void
wc_statistics_append(WcBuf *out, const WcSlice *texts, size_t ntexts, const uint64_t *numbers, size_t nnumbers)
{
	for (size_t i = 0; i < ntexts; i++)
		wc_buf_append_bytes(out, texts[i]);
	for (size_t i = 0; i < nnumbers; i++)
		wc_buf_append_varint(out, numbers[i]);
}

bool
wc_statistics_next(WcDecoder *d, WcSlice *texts, size_t ntexts, uint64_t *numbers, size_t nnumbers)
{
	if (d->p == d->end)
		return false;
	for (size_t i = 0; i < ntexts; i++)
		texts[i] = wc_decode_bytes(d);
	for (size_t i = 0; i < nnumbers; i++)
		numbers[i] = wc_decode_varint(d);
	return !d->failed;
}
