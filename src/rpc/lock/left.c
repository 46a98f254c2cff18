/*
 * rpc/lock/left.c: the answers are copied before the write, because the next commit that changes the row leaves its answer in the same
 * place.
 */
#include "rpc/lock/left.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/threads.h"
#include "model/scan.h"

/* So many are kept of one group of commits. */
#define ANSWERS_MAX 32

typedef struct Answer
{
	uint32_t	table_id;		/* 0: the row has been written since */
	uint64_t	hash;			/* of table and row */
	uint64_t	epoch;			/* that the write begins */
	WcBuf		get;
	WcBuf		answer;
} Answer;

struct WcLeft
{
	WcGetCache *cache;
	const WcClaims *claims;
	const WcUnapplied *unapplied;
	Answer		answers[ANSWERS_MAX];
	uint32_t	n;
	WcArena		arena;
};

WcLeft *
wc_left_create(WcGetCache *cache, const WcClaims *claims, const WcUnapplied *unapplied) WC_UNCHECKED
{
	WcLeft	   *left = calloc(1, sizeof(*left));

	if (left != NULL)
		*left = (WcLeft) {.cache = cache,.claims = claims,.unapplied = unapplied};
	return left;
}

void
wc_left_free(WcLeft *left) WC_UNCHECKED
{
	if (left == NULL)
		return;
	for (int i = 0; i < ANSWERS_MAX; i++)
	{
		wc_buf_free(&left->answers[i].get);
		wc_buf_free(&left->answers[i].answer);
	}
	wc_arena_free(&left->arena);
	free(left);
}

void
wc_left_row(WcLeft *left, uint32_t table_id, WcSlice row, uint64_t xid)
{
	uint32_t	follows;
	uint64_t	hash;
	Answer	   *a;

	if (xid == 0 && left->n == 0)
		return;
	hash = wc_claims_hash_row(wc_claims_hash_table(left->claims, table_id), row);
	for (uint32_t i = 0; i < left->n; i++)
	{
		if (left->answers[i].hash == hash)
			left->answers[i].table_id = 0;
	}
	if (xid == 0 || left->n == ANSWERS_MAX)
		return;
	a = &left->answers[left->n];
	wc_buf_reset(&a->get, WC_UNAPPLIED_BYTES_MAX);
	wc_buf_reset(&a->answer, WC_UNAPPLIED_BYTES_MAX);
	if (!wc_unapplied_find(left->unapplied, hash, xid, &follows, &a->get, &a->answer) || a->get.failed || a->answer.failed)
		return;
	a->table_id = table_id;
	a->hash = hash;
	a->epoch = wc_getcache_epoch(left->cache) + 1;
	left->n++;
}

void
wc_left_table(WcLeft *left, uint32_t table_id)
{
	for (uint32_t i = 0; i < left->n; i++)
	{
		if (left->answers[i].table_id == table_id)
			left->answers[i].table_id = 0;
	}
}

void
wc_left_keep(WcLeft *left)
{
	int64_t		now_us = left->n > 0 ? wc_clock_wall_us() : 0;

	for (uint32_t i = 0; i < left->n; i++)
	{
		const Answer *a = &left->answers[i];
		WcScan		get;
		WcError		err;

		wc_arena_reset(&left->arena);
		if (a->table_id != 0 && wc_scan_decode(wc_buf_slice(&a->get), &left->arena, &get, &err) == WC_OK &&
			get.table_id == a->table_id && get.nranges == 1 && wc_range_is_point(&get.ranges[0]) &&
			wc_claims_hash_row(wc_claims_hash_table(left->claims, get.table_id), get.ranges[0].start) == a->hash)
			wc_getcache_add(left->cache, WC_GET_LEFT, a->epoch, get.table_id, get.ranges[0].start, wc_buf_slice(&a->get),
							wc_buf_slice(&a->answer), now_us, INT64_MAX);
	}
	left->n = 0;
}

void
wc_left_forget(WcLeft *left)
{
	left->n = 0;
}
