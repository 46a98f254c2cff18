/*
 * fdw/write/rowwrite.h: one statement's writes to one row, collected and sent.
 *
 * Values are encoded into a buffer of the writer before the transaction's batch is changed, so that an error in a
 * conversion leaves no incomplete operation.  The buffers are reused from row to row.
 */
#ifndef WC_FDW_WRITE_ROWWRITE_H
#define WC_FDW_WRITE_ROWWRITE_H

#include "postgres.h"

#include "client/client.h"
#include "fdw/convert/convert.h"

typedef struct WcRowItem
{
	uint8		kind;			/* WcItemKind */
	uint32		family;
	WcSlice		qualifier;		/* of puts, deletes, CLEAR_COLUMN, CLEAR_PREFIX */
	size_t		value_start;	/* of puts, in the writer's bytes */
	size_t		value_len;
	int64		ts;
	int64		ttl_us;
} WcRowItem;

typedef struct WcRowWrite
{
	const WcTableDesc *desc;
	WcWriteMode mode;			/* at first WC_WRITE_AS_SERVER */
	WcBatchBuilder *aside;		/* operations go here, and not into the transaction's batch; NULL: they do not */
	WcBuf		key;			/* the row: for the caller to fill after wc_rowwrite_start */
	WcBuf		bytes;
	WcRowItem  *items;
	int			nitems;
	int			capacity;
	MemoryContext context;
} WcRowWrite;

/* The writer lives in CurrentMemoryContext, which frees its buffers. */
extern void wc_rowwrite_init(WcRowWrite *w, const WcTableDesc *desc);

/* Forgets the row before. */
extern void wc_rowwrite_start(WcRowWrite *w);

/* Qualifiers are not copied: they must stay valid until wc_rowwrite_send. */
extern void wc_rowwrite_put(WcRowWrite *w, uint32 family, WcSlice qualifier, WcCodec *codec, Datum value);
extern void wc_rowwrite_put_bytes(WcRowWrite *w, uint32 family, WcSlice qualifier, WcSlice value);

/* Gives the last put a timestamp of its own; WC_TS_LATEST: the commit's. */
extern void wc_rowwrite_set_ts(WcRowWrite *w, int64 ts);
extern void wc_rowwrite_put_cell(WcRowWrite *w, uint32 family, WcSlice qualifier, int64 ts, int64 ttl_us,
								 WcSlice value);

/* Adds an item that was taken from w->items; its value is in w->bytes. */
extern void wc_rowwrite_item(WcRowWrite *w, const WcRowItem *item);

/* kind: any but a put. */
extern void wc_rowwrite_delete(WcRowWrite *w, WcItemKind kind, uint32 family, WcSlice qualifier, int64 ts);
extern void wc_rowwrite_clear(WcRowWrite *w, WcItemKind kind, uint32 family, WcSlice qualifier);

/* Appends only the items, in the form of a batch (WcOp.items), to out. */
extern void wc_rowwrite_items(const WcRowWrite *w, WcBuf *out);

/* Appends the operation to the transaction's batch, or to w->aside; nothing if there is no item. must_be_absent: if one of
 * these families has a visible cell when the batch is applied, that is an error (nfamilies 0: no check). */
extern void wc_rowwrite_send(WcRowWrite *w, CommandId cid, const uint32 *must_be_absent, int nfamilies);

#endif
