/*
 * base/arena.h: memory that is freed all at once.
 *
 * One arena a request (or a transaction); one thread at a time.  Blocks grow
 * from 4 KiB to 1 MiB; anything larger gets a block of its own.  Results are
 * aligned to 8 bytes.  Pointers stay valid until reset or free.
 */
#ifndef WC_BASE_ARENA_H
#define WC_BASE_ARENA_H

#include "base/slice.h"

typedef struct WcArenaBlock WcArenaBlock;

typedef struct WcArena
{
	WcArenaBlock *blocks;		/* newest first */
	uint8_t    *next;			/* free room in the newest block */
	uint8_t    *end;
	size_t		block_size;		/* of the block to come */
	size_t		total;			/* bytes held, for accounting */
} WcArena;

#define WC_ARENA_INIT {NULL, NULL, NULL, 0, 0}

/* NULL when memory is out. */
extern void *wc_arena_alloc(WcArena *arena, size_t size);
extern void *wc_arena_alloc_zero(WcArena *arena, size_t size);

/* A copy in the arena; data is NULL when memory is out and s is not empty. */
extern WcSlice wc_arena_copy(WcArena *arena, WcSlice s);

/* Forgets everything, keeps one block of at most 64 KiB. */
extern void wc_arena_reset(WcArena *arena);
extern void wc_arena_free(WcArena *arena);

#endif
