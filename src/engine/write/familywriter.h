/*
 * engine/write/familywriter.h: writes a commit's changes of one family of one table.
 *
 * Takes the items of the commit's operations row by row, in ascending order of rows, resolves them against the stored
 * cells, and puts key-values into the commit's sink.  The engine's write mutex is locked, so no other thread writes to
 * the store.  One thread.
 */
#ifndef WC_ENGINE_WRITE_FAMILYWRITER_H
#define WC_ENGINE_WRITE_FAMILYWRITER_H

#include "engine/store/internal.h"
#include "engine/write/scanrenewal.h"
#include "engine/write/sink.h"
#include "read/txn/resolve.h"

typedef struct WcFamilyWriter WcFamilyWriter;

typedef struct WcFamilyWriterOptions
{
	WcStore    *store;
	const WcTableDesc *desc;	/* for messages */
	const WcFamilyDesc *family;
	int64_t		ts;				/* the commit timestamp */
	int64_t		now_us;			/* for TTLs */
	bool		empty;			/* nothing is stored yet */
	WcSink	   *sink;			/* NULL: nothing is put, it is only looked whether it could be */
	bool		renews;			/* chunks of the scan cache; then no other commit is in the sink */
} WcFamilyWriterOptions;

extern WcStatus wc_familywriter_create(const WcFamilyWriterOptions *options, WcFamilyWriter **writer, WcError *err) WC_WARN_UNUSED;
extern void wc_familywriter_free(WcFamilyWriter *writer);

/* A new row (greater than the one before), then items and ends of operations;
 * row and items must live until finish. */
extern void wc_familywriter_start(WcFamilyWriter *writer, WcSlice row);
extern WcResolver *wc_familywriter_resolver(WcFamilyWriter *writer);

/* Facts about the writes in the batch so far, which the catalog notes for the family. */
typedef struct WcFamilyNotes
{
	const WcMarks *marks;		/* the family's marks after these writes, in the writer's memory; NULL: unchanged */
	bool		large_rows;		/* it has rows beyond WC_PACKED_ROW_LARGE */
	WcWriteCounts written;
} WcFamilyNotes;

extern WcFamilyNotes wc_familywriter_notes(const WcFamilyWriter *writer);

/* The chunks of the scan cache that are to be added when the commit is written; the caller frees it.  NULL: none. */
extern WcScanRenewal *wc_familywriter_take_renewal(WcFamilyWriter *writer);

/* Puts the row into the batch; raises *last_ts to the greatest timestamp used.
 * WC_TOO_LARGE: the row would become too large, and nothing was put.  Without finish, a new
 * start gives the row up. */
extern WcStatus wc_familywriter_finish(WcFamilyWriter *writer, int64_t *last_ts, WcError *err) WC_WARN_UNUSED;

#endif
