/*
 * test/model/test_engine_model.c: random transactions against a naive model.
 *
 * All writes get the commit timestamp, and all deletes are of whole columns or families.  Then a read of the newest
 * versions returns one value for each column, and no flush, compaction, packing, restart or attribute may change it:
 * for the newest state, for a snapshot, and for a transaction's own reads.
 */
#include <stdio.h>

#include "modelscan.h"

#define STEPS			80
#define OPS_MAX			16
#define ITEMS_MAX		6
#define SNAPSHOTS_MAX	3

/* The value of every column, 0: none. */
typedef struct State
{
	unsigned	value[MODEL_ROWS][MODEL_FAMILIES][MODEL_COLUMNS];
} State;

/* An operation: the columns that it clears, then its puts. */
typedef struct Op
{
	int			row;
	bool		clears[MODEL_FAMILIES][MODEL_COLUMNS];
	bool		family_cleared[MODEL_FAMILIES];	/* by CLEAR_FAMILY, which may be there once */
	unsigned	puts[MODEL_FAMILIES][MODEL_COLUMNS];
	uint64_t	end;			/* in the transaction's stream */
} Op;

typedef struct Sequence
{
	Kit			kit;
	State		committed;
	Op			ops[OPS_MAX];	/* of the open transaction; the i-th has cid i + 1 */
	uint32_t	nops;
	WcSnapshot *snapshots[SNAPSHOTS_MAX];
	State		held[SNAPSHOTS_MAX];
	unsigned	last_value;
} Sequence;

static Sequence seq;

static void
apply(State *state, const Op *ops, uint32_t nops)
{
	for (uint32_t i = 0; i < nops; i++)
	{
		for (int f = 0; f < MODEL_FAMILIES; f++)
		{
			for (int c = 0; c < MODEL_COLUMNS; c++)
			{
				if (ops[i].clears[f][c])
					state->value[ops[i].row][f][c] = 0;
				if (ops[i].puts[f][c])
					state->value[ops[i].row][f][c] = ops[i].puts[f][c];
			}
		}
	}
}

static size_t
state_cells(void *arg, const WcScan *scan, int row, int family, ModelCell *cells)
{
	const State *state = arg;
	size_t		n = 0;

	for (int c = 0; c < MODEL_COLUMNS; c++)
	{
		if (state->value[row][family][c] != 0)
			cells[n++] = (ModelCell) {.column = c, .type = WC_PUT, .value = state->value[row][family][c]};
	}
	return n;
}

/* --- operations -----------------------------------------------------------*/

static void
clear_columns(Op *op, int family, WcSlice prefix)
{
	for (int c = 0; c < MODEL_COLUMNS; c++)
	{
		if (wc_slice_starts_with(model_columns[c], prefix))
			op->clears[family][c] = true;
	}
}

/* One item that takes something away. */
static void
random_clear(Kit *kit, Op *op, int family)
{
	WcBatchBuilder *b = &kit->builder;
	int			column = (int) below(MODEL_COLUMNS);
	WcSlice		qualifier = model_columns[column];
	uint32_t	id = (uint32_t) family + 1;

	switch (below(op->family_cleared[family] ? 4 : 5))
	{
		case 0:
			assert_ok(kit, wc_batch_delete(b, WC_DELETE_COLUMN, id, qualifier, WC_TS_LATEST, &kit->err));
			op->clears[family][column] = true;
			break;
		case 1:
			assert_ok(kit, wc_batch_delete(b, WC_DELETE_FAMILY, id, wc_slice(NULL, 0), WC_TS_LATEST, &kit->err));
			clear_columns(op, family, wc_slice(NULL, 0));
			break;
		case 2:
			assert_ok(kit, wc_batch_clear_column(b, id, qualifier, &kit->err));
			op->clears[family][column] = true;
			break;
		case 3:
			assert_ok(kit, wc_batch_clear_prefix(b, id, qualifier, &kit->err));
			clear_columns(op, family, qualifier);
			break;
		default:
			{
				bool		before = op->clears[family][column];

				assert_ok(kit, wc_batch_clear_family(b, id, &qualifier, 1, &kit->err));
				clear_columns(op, family, wc_slice(NULL, 0));
				op->clears[family][column] = before;
				op->family_cleared[family] = true;
				break;
			}
	}
}

static void
random_put(Kit *kit, Op *op, int family)
{
	int			column = (int) below(MODEL_COLUMNS);
	char		value[32];

	op->puts[family][column] = ++seq.last_value;
	snprintf(value, sizeof(value), "v%u", seq.last_value);
	assert_ok(kit, wc_batch_put(&kit->builder, (uint32_t) family + 1, model_columns[column], WC_TS_LATEST, 0,
								wc_slice_cstr(value), &kit->err));
}

static void
random_op(void)
{
	Kit		   *kit = &seq.kit;
	Op		   *op = &seq.ops[seq.nops];
	uint32_t	items = 1 + below(ITEMS_MAX - 1);

	if (seq.nops == OPS_MAX)
		return;
	memset(op, 0, sizeof(*op));
	op->row = (int) below(MODEL_ROWS);
	assert_ok(kit, wc_batch_row_begin(&kit->builder, kit->table, seq.nops + 1, model_rows[op->row], 0, NULL, 0, &kit->err));
	while (items-- > 0)
	{
		int			family = (int) below(MODEL_FAMILIES);

		if (below(3) == 0)
			random_clear(kit, op, family);
		else
			random_put(kit, op, family);
	}
	assert_ok(kit, wc_batch_row_end(&kit->builder, &kit->err));
	op->end = wc_txn_length(kit->txn) + kit->ops.len;
	seq.nops++;
	if (below(2) == 0)
		assert_ok(kit, kit_send(kit));
}

static void
rollback(void)
{
	Kit		   *kit = &seq.kit;

	assert_ok(kit, kit_send(kit));
	if (below(2) == 0)
	{
		wc_txn_reset(kit->txn);
		seq.nops = 0;
		return;
	}
	seq.nops = below(seq.nops + 1);
	assert_ok(kit, wc_txn_cut(kit->txn, seq.nops > 0 ? seq.ops[seq.nops - 1].end : 0, &kit->err));
	assert_int_equal(wc_txn_count(kit->txn), seq.nops);
}

static void
commit(void)
{
	kit_commit(&seq.kit);
	apply(&seq.committed, seq.ops, seq.nops);
	seq.nops = 0;
	if (below(3) == 0)
		kit_now += below(100);
}

/* A row that must be absent and is not: the whole transaction is refused. */
static void
refused_commit(void)
{
	Kit		   *kit = &seq.kit;
	State		state = seq.committed;
	int			row = (int) below(MODEL_ROWS);
	uint32_t	families[1] = {1 + below(MODEL_FAMILIES)};
	bool		there = false;

	apply(&state, seq.ops, seq.nops);
	for (int c = 0; c < MODEL_COLUMNS; c++)
		there = there || state.value[row][families[0] - 1][c] != 0;
	if (!there)
		return;
	assert_ok(kit, wc_batch_row_begin(&kit->builder, kit->table, seq.nops + 1, model_rows[row],
									  WC_ROW_MUST_BE_ABSENT, families, 1, &kit->err));
	assert_ok(kit, wc_batch_put(&kit->builder, 1, model_columns[0], WC_TS_LATEST, 0, wc_slice_cstr("no"), &kit->err));
	assert_ok(kit, wc_batch_row_end(&kit->builder, &kit->err));
	assert_int_equal(kit_try_commit(kit), WC_DUPLICATE_ROW);
	seq.nops = 0;
}

/* --- snapshots and storage ------------------------------------------------*/

static void
change_snapshot(void)
{
	uint32_t	i = below(SNAPSHOTS_MAX);

	if (seq.snapshots[i])
	{
		wc_snapshot_release(seq.kit.engine, seq.snapshots[i]);
		seq.snapshots[i] = NULL;
		return;
	}
	seq.snapshots[i] = wc_snapshot_take(seq.kit.engine);
	assert_non_null(seq.snapshots[i]);
	seq.held[i] = seq.committed;
}

static void
release_snapshots(void)
{
	for (int i = 0; i < SNAPSHOTS_MAX; i++)
	{
		if (seq.snapshots[i])
			wc_snapshot_release(seq.kit.engine, seq.snapshots[i]);
		seq.snapshots[i] = NULL;
	}
}

static void
work_storage(void)
{
	Kit		   *kit = &seq.kit;
	WcReadPoint at = kit_point(kit, false);

	switch (below(4))
	{
		case 0:
			assert_ok(kit, wc_engine_compact(kit->engine, kit->table, false, &at, &kit->err));
			break;
		case 1:
			assert_ok(kit, wc_engine_compact(kit->engine, kit->table, true, &at, &kit->err));
			break;
		default:
			assert_ok(kit, wc_engine_flush(kit->engine, kit->table, &at, &kit->err));
			break;
	}
}

static void
restart(void)
{
	wc_buf_reset(&seq.kit.ops, SIZE_MAX);
	seq.nops = 0;
	release_snapshots();
	if (below(2) == 0)
		kit_reopen(&seq.kit);
	else
		kit_crash(&seq.kit);
}

/* --- reads ----------------------------------------------------------------*/

static void
read_something(void)
{
	Kit		   *kit = &seq.kit;
	uint32_t	i = below(SNAPSHOTS_MAX);
	State		state = seq.committed;
	WcReadPoint at = kit_point(kit, false);
	ModelScan	m;

	if (seq.snapshots[i] && below(2) == 0)
	{
		at.snapshot = seq.snapshots[i];
		state = seq.held[i];
	}
	if (below(2) == 0)
	{
		uint32_t	seen = below(seq.nops + 1);

		assert_ok(kit, kit_send(kit));
		at.txn = kit->txn;
		at.cid = seen + 1;
		apply(&state, seq.ops, seen);
	}
	model_random_scan(&m, kit->table);
	model_check_scan(kit, &m, &at, state_cells, &state);
}

/* --- sequences ------------------------------------------------------------*/

static void
create_table(unsigned i)
{
	WcFamilyAttrs attrs = wc_family_attrs_default;
	char		name[32];

	attrs.packing = below(2) == 0 ? WC_PACKING_ROW : WC_PACKING_CELL;
	attrs.versions = 1 + below(3);
	attrs.keep_deleted = below(4) == 0 ? WC_KEEP_DELETED_TRUE : WC_KEEP_DELETED_FALSE;
	attrs.bloomfilter = (uint8_t) below(3);
	snprintf(name, sizeof(name), "t%u", i);
	kit_create_attrs(&seq.kit, name, &attrs);
	kit_commit(&seq.kit);
	memset(&seq.committed, 0, sizeof(seq.committed));
	seq.nops = 0;
}

static void
drop_table(void)
{
	Kit		   *kit = &seq.kit;

	wc_buf_reset(&kit->ops, SIZE_MAX);
	wc_txn_reset(kit->txn);
	release_snapshots();
	assert_ok(kit, wc_batch_drop_table(&kit->builder, 1, kit->table, &kit->err));
	kit_commit(kit);
}

static void
step(void)
{
	uint32_t	what = below(100);

	if (what < 35)
		random_op();
	else if (what < 70)
		read_something();
	else if (what < 82)
		commit();
	else if (what < 86)
		rollback();
	else if (what < 88)
		refused_commit();
	else if (what < 94)
		change_snapshot();
	else
		work_storage();
}

static void
test_random_transactions(void **state)
{
	unsigned	n = model_sequences(600);

	kit_open(&seq.kit);
	for (unsigned i = 0; i < n; i++)
	{
		model_start_sequence(i);
		create_table(i);
		for (int k = 0; k < STEPS; k++)
			step();
		if (i % 10 == 9)
			restart();
		for (int k = 0; k < 5; k++)
			read_something();
		drop_table();
	}
	assert_true(model_cells_compared > n);
	kit_close(&seq.kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_transactions)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
