/*
 * model/logrecord.h: widecol's records in PostgreSQL's log.
 *
 * The bytes are specified in model/README.  A record is its head followed by r->bytes: the writer hands both
 * to PostgreSQL and need not copy the bytes.  The kind is not among the bytes:  PostgreSQL keeps it, as the
 * record's info.
 */
#ifndef WC_MODEL_LOGRECORD_H
#define WC_MODEL_LOGRECORD_H

#include "base/slice.h"
#include "base/status.h"

/* The numbers are those of XLogRecord.xl_info. */
typedef enum WcRecordKind
{
	WC_RECORD_BATCH = 0x00,		/* part of a transaction's stream of operations */
	WC_RECORD_STEP = 0x10,			/* part of what flush, compaction or expiry forgets */
	WC_RECORD_TICK = 0x20,			/* the log has passed a time */
	WC_RECORD_BARRIER = 0x30,		/* the store has an image that is as new as a redo pointer */
	WC_RECORD_GENESIS = 0x40		/* the store begins */
} WcRecordKind;

/* Flags of a BATCH. */
#define WC_RECORD_CATALOG		0x01	/* the transaction changes the catalog, in this BATCH or one before */

/* A BATCH's place: none has been taken. */
#define WC_RECORD_NO_PLACE		UINT16_MAX

typedef struct WcLogRecord
{
	uint8_t		kind;			/* WcRecordKind */
	uint32_t	store;			/* id of the store; not 0.  GENESIS: of the new one */

	/* BATCH */
	uint8_t		flags;
	uint16_t	place;			/* of the transaction among those in flight (wire/shared/flight.h), on the node that wrote this */
	uint32_t	database;		/* its oid; not 0 */
	uint64_t	xid;			/* full id of the top-level transaction */
	uint64_t	at;				/* offset of the bytes in the stream, which ends after them: later bytes of before were rolled back */

	int64_t		time_us;		/* TICK: microseconds since 1970 */
	uint64_t	redo;			/* BARRIER: redo pointer; not 0 */
	WcSlice		bytes;			/* BATCH: of the stream; STEP: all of it */
} WcLogRecord;

#define WC_RECORD_HEAD_MAX		32

/* Writes the record's head; *len: its length.  Fails for a record that wc_logrecord_decode would refuse. */
extern WcStatus wc_logrecord_encode(const WcLogRecord *r, uint8_t head[WC_RECORD_HEAD_MAX], size_t *len, WcError *err) WC_WARN_UNUSED;

/* Reads untrusted bytes; r->bytes points into them.  WC_UNSUPPORTED: a later version has
 * written them. */
extern WcStatus wc_logrecord_decode(uint8_t kind, WcSlice bytes, WcLogRecord *r, WcError *err) WC_WARN_UNUSED;

/* "BATCH" ...; NULL: there is no such kind. */
extern const char *wc_logrecord_kind_name(uint8_t kind);

#endif
