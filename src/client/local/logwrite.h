/*
 * client/local/logwrite.h: writes the transaction's operations on stored tables into PostgreSQL's log.
 *
 * A transaction's operations are one stream of bytes (model/batch.h), which goes into the log
 * as BATCH records (model/README, "Log record").  Not during recovery.
 */
#ifndef WC_CLIENT_LOCAL_LOGWRITE_H
#define WC_CLIENT_LOCAL_LOGWRITE_H

#include "postgres.h"

#include "model/extent.h"

/*
 * Writes the bytes, which begin at offset `at` of the stream, in records of at most
 * WC_BATCH_CHUNK bytes; without bytes, one record.  Bytes that were written earlier at or after `at`
 * are no longer part of the stream: so the next write tells the log of a ROLLBACK TO.  Gives the
 * transaction an id.  Interruptible between records: then the log has the first of the bytes, and the
 * caller has to cut the stream, as after any error.
 */
extern void wc_stream_write(uint64 at, WcSlice bytes);

/* Notes that the transaction changes the catalog: BATCHes from here on have a flag for this. */
extern void wc_stream_note_catalog(void);
extern bool wc_stream_changes_catalog(void);	/* was that noted? */

/* Has a record of the transaction been written? */
extern bool wc_stream_is_written(void);

/*
 * At PRE_COMMIT or PRE_PREPARE, before the end of the stream is written: takes a place among
 * the transactions in flight (channel/flight.h), which BATCHes from here on name.  May have
 * to wait for a place, interruptibly.  extent: of all operations of the stream.
 */
extern void wc_stream_take_place(const WcExtent *extent);

/* The place; WC_FLIGHT_NONE: it has none. */
extern uint16 wc_stream_place(void);

/* Frees the place until the next wc_stream_take_place: an engine that starts waits for transactions that have
 * a place.  Must not be called after the end of the stream has been written. */
extern void wc_stream_leave_place(void);

/* After the end of the stream, which may have LOCK operations after the batch (PREPARE TRANSACTION).  Writes a
 * last record if the log does not yet tell this length of the stream, or does not name the place. */
extern void wc_stream_finish(uint64 length);

/* At the end of the transaction; never fail, and do nothing if no record was written. */
extern void wc_stream_committed(void);
extern void wc_stream_prepared(void);
extern void wc_stream_aborted(void);

#endif
