/*
 * model/batch.h: a transaction's writes, serialised.
 *
 * A batch is a run of operations in the order they were made; the bytes are
 * specified in model/README.  A backend builds it, the engine applies it; any
 * run of whole operations is again a batch, so it may travel in chunks.  Every
 * operation carries the command id (PostgreSQL's cid) it belongs to: a reader
 * with command id c sees the operations whose cid is less than c.
 *
 * One ROW operation has all changes of one statement to one row.  Its items take effect together, markers and clears
 * before puts.  Items whose timestamp is WC_TS_LATEST get the commit timestamp.
 *
 * CLEAR items are conditional deletes for SQL's "the row is now exactly this":
 * when the batch is applied (or read by its own transaction) they become
 * DeleteColumn markers for those visible columns that they name and that the
 * same operation does not put, and nothing where nothing is visible.
 */
#ifndef WC_MODEL_BATCH_H
#define WC_MODEL_BATCH_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/coding.h"
#include "base/lockmode.h"
#include "model/cell.h"
#include "model/descriptor.h"

typedef enum WcOpKind
{
	WC_OP_ROW = 1,
	WC_OP_CREATE_TABLE = 2,		/* a descriptor with its new ids */
	WC_OP_ALTER_TABLE = 3,		/* the whole new descriptor */
	WC_OP_DROP_TABLE = 4,
	WC_OP_TRUNCATE_TABLE = 5,
	WC_OP_CREATE_NAMESPACE = 6,
	WC_OP_DROP_NAMESPACE = 7,
	WC_OP_DROP_DATABASE = 8,	/* every table and namespace of a database */
	WC_OP_LOCK = 9,				/* locks of a prepared transaction; applying does nothing */
	WC_OP_ALTER_NAMESPACE = 10	/* all properties, as they are from now on */
} WcOpKind;

/* Flags of a ROW operation. */
#define WC_ROW_MUST_BE_ABSENT	0x01	/* WC_DUPLICATE_ROW when a family below holds a visible cell */

typedef enum WcItemKind
{
	WC_ITEM_PUT = WC_PUT,
	WC_ITEM_DELETE = WC_DELETE,	/* ts WC_TS_LATEST: the newest visible version, found at apply */
	WC_ITEM_DELETE_FAMILY_VERSION = WC_DELETE_FAMILY_VERSION,
	WC_ITEM_DELETE_COLUMN = WC_DELETE_COLUMN,
	WC_ITEM_DELETE_FAMILY = WC_DELETE_FAMILY,
	WC_ITEM_CLEAR_COLUMN = 32,	/* one qualifier */
	WC_ITEM_CLEAR_FAMILY = 33,	/* every qualifier but those in `except` */
	WC_ITEM_CLEAR_PREFIX = 34	/* qualifiers that start with qualifier */
} WcItemKind;

typedef struct WcItem
{
	uint8_t		kind;			/* WcItemKind */
	uint32_t	family;			/* family id */
	WcSlice		qualifier;
	int64_t		ts;				/* WC_TS_LATEST: commit timestamp */
	int64_t		ttl_us;			/* puts; 0: none */
	WcSlice		value;			/* puts */
	uint32_t	nexcept;		/* CLEAR_FAMILY; read them with wc_decode_bytes from except */
	WcSlice		except;
} WcItem;

/* What the items are that all rows of a scan get. */
typedef enum WcModifyKind
{
	WC_MODIFY_ITEMS = 0,		/* anything */

	/*
	 * Members of a map that is a whole family: puts in one family, the n-th of the scan's n-th column.  A put of
	 * the value that the row has is left out.  A row without any of these columns gets the items if there is
	 * another cell in the family, else nothing.
	 */
	WC_MODIFY_MEMBERS = 1,
	WC_MODIFY_MEMBERS_MARKED = 2	/* the same; a cell without qualifier and value is no member, but marks the row */
} WcModifyKind;

typedef struct WcOp
{
	uint8_t		kind;			/* WcOpKind */
	uint32_t	cid;
	uint32_t	table_id;		/* ROW, DROP_TABLE, TRUNCATE_TABLE, LOCK */
	uint32_t	flags;			/* ROW */
	uint8_t		mode;			/* LOCK: WcRowLockMode */
	WcSlice		row;			/* ROW; LOCK: empty means the whole table */
	WcSlice		families;		/* ROW with MUST_BE_ABSENT: varints, the family ids to look at */
	WcSlice		items;			/* ROW: see wc_op_next_item */
	WcSlice		desc;			/* CREATE_TABLE, ALTER_TABLE: an encoded descriptor */
	uint32_t	database;		/* namespaces, DROP_DATABASE */
	WcSlice		name;			/* namespaces */
	WcSlice		properties;		/* ALTER_NAMESPACE */
	WcSlice		bytes;			/* the whole operation */
} WcOp;

/* --- writing --------------------------------------------------------------
 *
 * The builder appends to a buffer that the caller owns.  A ROW operation is
 * open between wc_batch_row_begin and wc_batch_row_end; wc_batch_row_abandon
 * removes an unfinished one.  Limits (row, qualifier, value, timestamps >= 0,
 * empty row, the operation's size) are checked when an item is added: the error
 * is returned, nothing is appended, and the buffer can still be used.
 *
 * families count with WC_ROW_MUST_BE_ABSENT only, which needs at least one.  A CREATE or ALTER checks the descriptor (wc_table_desc_check).
 */
typedef struct WcBatchBuilder
{
	WcBuf	   *buf;
	size_t		op_start;		/* of the open operation */
	bool		op_open;
	uint64_t	nops;			/* finished operations */
} WcBatchBuilder;

extern void wc_batch_init(WcBatchBuilder *b, WcBuf *buf);

extern WcStatus wc_batch_row_begin(WcBatchBuilder *b, uint32_t table_id, uint32_t cid, WcSlice row,
								   uint32_t flags, const uint32_t *families, uint32_t nfamilies,
								   WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_batch_put(WcBatchBuilder *b, uint32_t family, WcSlice qualifier, int64_t ts,
							 int64_t ttl_us, WcSlice value, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_batch_delete(WcBatchBuilder *b, WcCellType type, uint32_t family, WcSlice qualifier,
								int64_t ts, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_batch_clear_column(WcBatchBuilder *b, uint32_t family, WcSlice qualifier,
									  WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_batch_clear_family(WcBatchBuilder *b, uint32_t family, const WcSlice *except,
									  uint32_t nexcept, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_batch_clear_prefix(WcBatchBuilder *b, uint32_t family, WcSlice prefix,
									  WcError *err) WC_WARN_UNUSED;

/* Appends the items of another ROW operation (WcOp.items), unchecked. */
extern WcStatus wc_batch_items(WcBatchBuilder *b, WcSlice items, WcError *err) WC_WARN_UNUSED;

/* Appends a whole ROW operation of another batch (WcOp.bytes), unchecked. */
extern WcStatus wc_batch_row(WcBatchBuilder *b, WcSlice op, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_batch_row_end(WcBatchBuilder *b, WcError *err) WC_WARN_UNUSED;
extern void wc_batch_row_abandon(WcBatchBuilder *b);

extern WcStatus wc_batch_create_table(WcBatchBuilder *b, uint32_t cid, const WcTableDesc *desc, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_batch_alter_table(WcBatchBuilder *b, uint32_t cid, const WcTableDesc *desc, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_batch_drop_table(WcBatchBuilder *b, uint32_t cid, uint32_t table_id, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_batch_truncate_table(WcBatchBuilder *b, uint32_t cid, uint32_t table_id, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_batch_namespace(WcBatchBuilder *b, WcOpKind kind, uint32_t cid, uint32_t database,
								   WcSlice name, WcError *err) WC_WARN_UNUSED;

/* properties: bytes that mean nothing here, WC_NAMESPACE_PROPERTIES_MAX at most. */
extern WcStatus wc_batch_alter_namespace(WcBatchBuilder *b, uint32_t cid, uint32_t database, WcSlice name,
										 WcSlice properties, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_batch_drop_database(WcBatchBuilder *b, uint32_t cid, uint32_t database, WcError *err) WC_WARN_UNUSED;

/* A row of a table, or (row empty) the whole table. */
extern WcStatus wc_batch_lock(WcBatchBuilder *b, uint32_t table_id, WcRowLockMode mode, WcSlice row, WcError *err) WC_WARN_UNUSED;

/* --- reading --------------------------------------------------------------
 *
 * Reads untrusted bytes; everything points into them.  WC_END at the end,
 * WC_CORRUPT when they are no batch (and from then on).  wc_batch_next_op
 * checks an operation's own head; the items of a ROW are checked one by one as
 * they are read (wc_op_next_item with wc_decoder(op.items)), a descriptor when
 * it is decoded.
 */
/* The length of the operation that the bytes begin with; *size 0: too few bytes to know it. */
extern WcStatus wc_batch_op_size(WcSlice bytes, size_t *size, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_batch_next_op(WcDecoder *d, WcOp *op, WcError *err) WC_WARN_UNUSED;
extern WcStatus wc_op_next_item(WcDecoder *d, WcItem *item, WcError *err) WC_WARN_UNUSED;

#endif
