/*
 * test/model/modelscan.h: random scans, their results, and the expected results.
 *
 * Models keep cells of a few fixed rows, families and columns, by number.  A
 * scan's result, the engine's and the model's, is text: row number, then each cell
 * as family:column=value, "r3{f:2=v17 g:0=v3}".
 */
#ifndef WC_TEST_MODELSCAN_H
#define WC_TEST_MODELSCAN_H

#include "../unit/enginekit.h"
#include "../unit/random.h"

#define MODEL_ROWS		12
#define MODEL_FAMILIES	2
#define MODEL_COLUMNS	6
#define MODEL_CELLS_MAX	512		/* of one row and family */

/* Ascending; nasty bytes among them. */
extern const WcSlice model_rows[MODEL_ROWS];
extern const WcSlice model_columns[MODEL_COLUMNS];

typedef struct ModelCell
{
	int			column;
	int64_t		ts;
	uint8_t		type;
	unsigned	value;			/* its text is v and the number; markers have none */
} ModelCell;

/* The cells of a row and family that a scan of every column shows, in order. */
typedef size_t (*ModelCells) (void *arg, const WcScan *scan, int row, int family, ModelCell *cells);

/* A scan and the memory that it points to. */
typedef struct ModelScan
{
	WcScan		scan;
	WcRange		ranges[MODEL_ROWS];
	WcColumn	columns[8];
	uint32_t	families[MODEL_FAMILIES];
} ModelScan;

/* Everything random but versions, time range, raw and want_ts. */
extern void model_random_scan(ModelScan *m, uint32_t table_id);

/* Runs it, in blocks of random sizes, and compares with the model. */
extern void model_check_scan(Kit *kit, const ModelScan *m, const WcReadPoint *at, ModelCells cells, void *arg);

/* Cells in the results that were compared so far: a test that compares nothing
 * must not pass. */
extern uint64_t model_cells_compared;

/* How many sequences to run: WC_MODEL_SEQUENCES; else n, or with WC_MODEL_PART one of so many. */
extern unsigned model_sequences(unsigned n);

/* Each sequence has a seed, which a failure names: with WC_SEED it is the first. */
extern uint64_t model_sequence_seed(unsigned i);

/* Every file has its own random numbers (random.h): this starts the caller's. */
static inline void
model_start_sequence(unsigned i)
{
	random_state = model_sequence_seed(i) | 1;
	for (int k = 0; k < 8; k++)
		(void) next_random();
}

#endif
