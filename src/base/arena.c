/*
 * base/arena.c: memory that is freed all at once.
 */
#include "base/arena.h"

#include <stdlib.h>

#define WC_ARENA_ALIGN		8
#define WC_ARENA_BLOCK_MIN	((size_t) 4 * 1024)
#define WC_ARENA_BLOCK_MAX	((size_t) 1024 * 1024)
#define WC_ARENA_KEEP_MAX	((size_t) 64 * 1024)

struct WcArenaBlock
{
	WcArenaBlock *next;
	size_t		size;			/* with this header */
	uint8_t		data[];
};

_Static_assert(sizeof(WcArenaBlock) % WC_ARENA_ALIGN == 0, "block contents must be aligned");

static void
use_block(WcArena *arena, WcArenaBlock *block)
{
	arena->next = block->data;
	arena->end = (uint8_t *) block + block->size;
}

static WcArenaBlock *
new_block(WcArena *arena, size_t size)
{
	WcArenaBlock *block = malloc(size);

	if (!block)
		return NULL;
	block->size = size;
	arena->total += size;
	if (arena->block_size < WC_ARENA_BLOCK_MAX)
		arena->block_size *= 2;
	return block;
}

/* The newest block is full: makes another one. size is aligned. */
static void *
alloc_slow(WcArena *arena, size_t size)
{
	WcArenaBlock *block;
	size_t		block_size;

	if (arena->block_size == 0)
		arena->block_size = WC_ARENA_BLOCK_MIN;
	block_size = arena->block_size;
	if (size > block_size - sizeof(WcArenaBlock))
	{
		/* A block for one large allocation is linked behind the newest block, whose free room stays in use. */
		if (size > SIZE_MAX - sizeof(WcArenaBlock))
			return NULL;
		block = new_block(arena, sizeof(WcArenaBlock) + size);
		if (!block)
			return NULL;
		if (arena->blocks)
		{
			block->next = arena->blocks->next;
			arena->blocks->next = block;
		}
		else
		{
			block->next = NULL;
			arena->blocks = block;
		}
		return block->data;
	}
	block = new_block(arena, block_size);
	if (!block)
		return NULL;
	block->next = arena->blocks;
	arena->blocks = block;
	use_block(arena, block);
	arena->next += size;
	return block->data;
}

void *
wc_arena_alloc(WcArena *arena, size_t size)
{
	void	   *p;

	if (size > SIZE_MAX - WC_ARENA_ALIGN)
		return NULL;
	if (size == 0)
		size = 1;				/* NULL must mean that memory is out */
	size = (size + WC_ARENA_ALIGN - 1) & ~(size_t) (WC_ARENA_ALIGN - 1);
	if (size > (size_t) (arena->end - arena->next))
		return alloc_slow(arena, size);
	p = arena->next;
	arena->next += size;
	return p;
}

void *
wc_arena_alloc_zero(WcArena *arena, size_t size)
{
	void	   *p = wc_arena_alloc(arena, size);

	if (p)
		memset(p, 0, size);
	return p;
}

WcSlice
wc_arena_copy(WcArena *arena, WcSlice s)
{
	void	   *p;

	if (s.len == 0)
		return wc_slice(NULL, 0);
	p = wc_arena_alloc(arena, s.len);
	if (!p)
		return wc_slice(NULL, 0);
	memcpy(p, s.data, s.len);
	return wc_slice(p, s.len);
}

void
wc_arena_reset(WcArena *arena)
{
	WcArenaBlock *keep = NULL;
	WcArenaBlock *block = arena->blocks;

	while (block)
	{
		WcArenaBlock *next = block->next;

		if (!keep && block->size <= WC_ARENA_KEEP_MAX)
			keep = block;
		else
			free(block);
		block = next;
	}
	*arena = (WcArena) WC_ARENA_INIT;
	if (keep)
	{
		keep->next = NULL;
		arena->blocks = keep;
		arena->block_size = WC_ARENA_BLOCK_MIN;
		arena->total = keep->size;
		use_block(arena, keep);
	}
}

void
wc_arena_free(WcArena *arena)
{
	WcArenaBlock *block = arena->blocks;

	while (block)
	{
		WcArenaBlock *next = block->next;

		free(block);
		block = next;
	}
	*arena = (WcArena) WC_ARENA_INIT;
}
