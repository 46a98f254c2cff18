/*
 * test/fuzz/fuzz_cellblock.c: cell blocks (model/cellblock.h).
 */
#include "fuzz.h"
#include "model/cellblock.h"

/* Bits of a cell's tag (model/README). */
#define TAG_TS			0x02
#define TAG_KEY_ONLY	0x08

static bool
recode(WcSlice in, WcBuf *out)
{
	WcBlockReader r;
	WcBlockWriter w;
	WcSlice		row;
	WcCell		cell = {.family = 0};
	uint32_t	colno;
	uint8_t		tag;
	WcBlockEntry entry;

	if (wc_block_open(&r, in, NULL) != WC_OK)
		return false;
	wc_block_begin(&w, out, r.continues);
	for (;;)
	{
		tag = r.d.p < r.d.end ? *r.d.p : 0;
		entry = wc_block_next(&r, &row, &cell, &colno);
		if (entry == WC_BLOCK_CELL)
		{
			HOLDS(colno == WC_NO_COLUMN || colno < WC_COLUMNS_MAX);
			wc_fuzz_touch(cell.value);
			w.provisional_after = r.provisional ? cell.ts - 1 : WC_TS_LATEST;
			wc_block_cell(&w, colno, &cell, (tag & TAG_TS) != 0, (tag & TAG_KEY_ONLY) != 0);
		}
		else if (entry == WC_BLOCK_ROW && r.owed > 0)
			wc_block_row_owing(&w, row, r.owed);
		else if (entry == WC_BLOCK_ROW)
			wc_block_row(&w, row, r.undecided);
		else
			break;
	}
	HOLDS(wc_block_next(&r, &row, &cell, &colno) == entry);
	wc_block_finish(&w, r.open, r.end);
	return entry == WC_BLOCK_DONE;
}

FUZZ_TARGET(cellblock)
{
	wc_fuzz_recode(in, recode, true);
}
